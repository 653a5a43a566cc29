"""Admissions at Berkeley, 1973: a gap over everyone that is not there within departments."""

import evenhand as eh

table = eh.datasets.berkeley()
roles = {"prediction": "admitted", "sensitive": "gender", "count": "count"}
everyone = eh.demographic_parity(table, **roles)
within = eh.demographic_parity(table, **roles, control="department")
print("Over everyone:", everyone.interpretation)
print("Within departments:", within.interpretation)
