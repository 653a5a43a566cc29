"""Mending what an audit found: weights, samples, labels and thresholds that even out groups.

They are scikit-learn estimators (pip install 'evenhand[ml]'). Each changes one thing and says what it changed; the
audit before and after says what that did.
"""

from evenhand.mitigate import base as base  # first: it says what to install where scikit-learn is missing
from evenhand.mitigate.comparing import Comparison, Contender, compare
from evenhand.mitigate.cutoffs import find_thresholds
from evenhand.mitigate.massage import Flip, Massager
from evenhand.mitigate.resample import PreferentialResampler, UniformResampler
from evenhand.mitigate.resampled import Resampled
from evenhand.mitigate.reweigh import Reweigher
from evenhand.mitigate.reweighed import Reweighed
from evenhand.mitigate.rules import Rule, Thresholds
from evenhand.mitigate.thresholds import GroupThresholds

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
