"""A score and a cutoff instead of decisions, and what other cutoffs would give."""

import evenhand as eh

roles = {"label": "recidivated", "score": "decile", "sensitive": "race", "count": "count"}
cube = eh.Cube.count(eh.datasets.compas(), cutoff=5, **roles)
found = cube.audit()
print(found.verdict, "-", found.findings[0].interpretation)
for cutoff in (3, 5, 8):
    finding = eh.equal_opportunity(eh.datasets.compas(), cutoff=cutoff, **roles)
    print(f"cutoff {cutoff}: a gap of {100 * finding.value.value:.1f} points in the true positive rate")
