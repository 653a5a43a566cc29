"""German credit (archive.ics.uci.edu/dataset/144) as CSV, whose values are codes: python german_credit.py german.csv"""

import sys

import evenhand as eh

found = eh.audit(
    sys.argv[1],
    prediction="credit",  # 1 is a good credit, 2 a bad one
    positive=[1],
    sensitive=["sex", "foreign_worker", "age"],
    bands={"age": [0, 25, 100]},
    labels={"foreign_worker": {"A201": "foreign worker", "A202": "resident"}},
)
print(found)
