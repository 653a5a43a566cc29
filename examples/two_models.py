"""Two models on the same people: what changed for each group, with paired intervals."""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
sex, repaid = rng.choice(["f", "m"], 5000), rng.integers(0, 2, 5000)
old = np.where(rng.random(5000) < np.where(sex == "f", 0.7, 0.85), repaid, 1 - repaid)
new = np.where(rng.random(5000) < 0.6, repaid, old)
print(eh.contest(label=repaid, predictions={"old": old, "new": new}, sensitive={"sex": sex}))
