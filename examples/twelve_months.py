"""Twelve months in one table: has evidence of a gap accumulated, and since when?"""

import numpy as np

import evenhand as eh

rng = np.random.default_rng(0)
size = 24000
date = np.datetime64("2025-01-01") + rng.integers(0, 365, size)
sex = rng.choice(["f", "m"], size)
later = (date >= np.datetime64("2025-05-01")) & (sex == "f")
table = {"date": date.astype(str), "sex": sex, "approved": (rng.random(size) < np.where(later, 0.3, 0.5)).astype(int)}
months = eh.Cube.series(table, by="date", every="month", prediction="approved", sensitive="sex")
print(eh.trend(months, metrics=["demographic_parity"]))
