"""scikit-learn's own checks of an estimator, run on every estimator of `mitigate`; what is left out says why."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from evenhand.mitigate import (
    GroupThresholds,
    Massager,
    PreferentialResampler,
    Resampled,
    Reweighed,
    Reweigher,
    UniformResampler,
)

# The checks know of no groups: everyone is one, which is said in a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*has no sensitive=")

ESTIMATORS = [
    Reweigher(),
    Reweighed(LogisticRegression(max_iter=2000)),
    Resampled(LogisticRegression(max_iter=2000), UniformResampler(random_state=0)),
    GroupThresholds(LogisticRegression(max_iter=2000)),
    UniformResampler(random_state=0),
    PreferentialResampler(),
    Massager(),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimators_keep_the_conventions(estimator, check):
    check(estimator)
