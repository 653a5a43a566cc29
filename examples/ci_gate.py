"""A gate for CI: pytest ci_gate.py fails where a group is treated otherwise, or where the data cannot tell."""

import numpy as np

from evenhand.testing import assert_fair

rng = np.random.default_rng(0)
sex = np.repeat(["f", "m"], 6000)
repaid = rng.integers(0, 2, 12000)
approved = np.where(rng.random(12000) < 0.8, repaid, 1 - repaid)  # in the place of a model


def test_approvals():
    assert_fair(label=repaid, prediction=approved, sensitive={"sex": sex}, metrics=["equalized_odds"])
