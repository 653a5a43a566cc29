"""A model that chooses one of several classes: is each of them recognised alike in every group?"""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
size = 6000
classes = np.array(["call", "letter", "visit"])
group, truth = rng.choice(["north", "south"], size), rng.choice(classes, size)
wrong = rng.random(size) < np.where(group == "south", 0.3, 0.15)
chosen = np.where(wrong, rng.choice(classes, size), truth)
print(eh.audit(label=truth, prediction=chosen, sensitive={"region": group}, task="multiclass"))
