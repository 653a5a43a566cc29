"""COMPAS, ProPublica's file as it is: python compas_raw_file.py compas-scores-two-years.csv"""

import sys

import evenhand as eh

roles = {"label": "two_year_recid", "score": "decile_score", "sensitive": "race"}
found = eh.audit(
    sys.argv[1],
    **roles,
    cutoff=5,
    where=["days_b_screening_arrest >= -30", "days_b_screening_arrest <= 30"],
    metrics=["predictive_equality", "equal_opportunity", "predictive_parity"],
)
print(found)
