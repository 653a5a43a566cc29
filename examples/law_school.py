"""Law school (LSAC's study of bar passage) as CSV with predictions: python law_school.py law_school.csv"""

import sys

import evenhand as eh

roles = {"label": "pass_bar", "prediction": "pred_pass", "sensitive": ["race", "male"]}
found = eh.audit(
    sys.argv[1],
    labels={"male": {0: "women", 1: "men"}},
    reference={"race": "White", "male": "men"},
    **roles,
)
print(found)
found.save("law_school.html")
