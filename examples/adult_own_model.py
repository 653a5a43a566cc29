"""Adult (archive.ics.uci.edu/dataset/2/adult) as CSV, with a model of one's own: python adult_own_model.py adult.csv"""

import sys

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import evenhand as eh

data = pd.read_csv(sys.argv[1])
features = ["age", "education_num", "hours_per_week"]
train, test = train_test_split(data, random_state=0)
model = LogisticRegression(max_iter=1000).fit(train[features], train["income_gt50k"])
print(eh.audit(test, label="income_gt50k", prediction=model.predict(test[features]), sensitive=["sex", "race"]))
