"""A model that predicts a number, such as a salary: errors and their sign by group."""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
sex = rng.choice(["female", "male"], 3000)
salary = rng.normal(50, 10, 3000)
predicted = salary + rng.normal(0, 4, 3000) - np.where(sex == "female", 2.5, 0)
found = eh.audit(label=salary, prediction=predicted, sensitive={"sex": sex}, task="regression")
print(found)
