"""Loans from a sample in which each row stands for a number of people: weights make the sample the population."""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
size = 4000
race = rng.choice(["Black", "White"], size)
loans = {
    "race": race,
    "approved": (rng.random(size) < np.where(race == "White", 0.7, 0.55)).astype(int),
    "weight": np.where(race == "White", 7.5, 1.5),  # White applicants were sampled less often
}
print(eh.audit(loans, prediction="approved", sensitive="race", weight="weight", policy="four-fifths"))
