"""Mitigation: weights, samples, labels and thresholds that even out groups.

The classes are scikit-learn estimators (pip install 'evenhand[ml]'). Each changes one thing and reports what it
changed; an audit before and after shows the effect.
"""

from evenhand.mitigate import estimators as _estimators  # noqa: F401 - first, because its error says what to install where scikit-learn is missing
from evenhand.mitigate.comparison import Comparison, Contender, compare
from evenhand.mitigate.massaging import Flip, Massager
from evenhand.mitigate.resampling import PreferentialResampler, Resampled, UniformResampler
from evenhand.mitigate.reweighing import Reweighed, Reweigher
from evenhand.mitigate.thresholds import GroupThresholds
from evenhand.mitigate.thresholds.rules import Rule, Thresholds
from evenhand.mitigate.thresholds.search import find_thresholds

__all__ = [
    "Comparison",
    "Contender",
    "Flip",
    "GroupThresholds",
    "Massager",
    "PreferentialResampler",
    "Resampled",
    "Reweighed",
    "Reweigher",
    "Rule",
    "Thresholds",
    "UniformResampler",
    "compare",
    "find_thresholds",
]


def __dir__() -> list[str]:
    return __all__
