"""A drop-in for `fairlearn.metrics`: change the import and nothing else.

    from evenhand.fairlearn import MetricFrame, demographic_parity_difference   # was: from fairlearn.metrics import ...

The names, arguments, results and exceptions are those of fairlearn, and so are the numbers: bare floats and pandas
objects, without intervals or verdicts, and 0 where a rate is 0/0. That last habit is announced by one
`UndefinedRateWarning` for each call; `evenhand.audit` calls such a rate undefined.

Metrics of fairlearn and many of scikit-learn are counted once for all groups, which is a few hundred times faster than
calling them for each group; other functions are called with the rows of each group, as fairlearn does.
fairlearn itself is never imported, and its plots are not here.
"""

from __future__ import annotations

from typing import Any

from evenhand.errors import MissingDependencyError, nearest

try:
    import pandas  # noqa: F401 - the modules below need it
except ImportError:
    raise MissingDependencyError("evenhand.fairlearn returns pandas objects: pip install pandas.") from None

from evenhand.fairlearn.base_metrics import (
    UndefinedRateWarning,
    count,
    false_negative_rate,
    false_positive_rate,
    mean_prediction,
    selection_rate,
    true_negative_rate,
    true_positive_rate,
)
from evenhand.fairlearn.derived import GENERATED as _generated_metric_dict  # noqa: N811 - its name in fairlearn
from evenhand.fairlearn.derived import generate as _generate
from evenhand.fairlearn.derived import make_derived_metric
from evenhand.fairlearn.frame import MetricFrame
from evenhand.fairlearn.parity import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
)

_PLOTS = {
    "plot_model_comparison": "evenhand.contest(...) compares two models, with intervals",
    "plot_roc_curve_by_group": "evenhand.plots has displays of an audit, by group",
}

__all__ = [
    "MetricFrame",
    "UndefinedRateWarning",
    "count",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "false_negative_rate",
    "false_positive_rate",
    "make_derived_metric",
    "mean_prediction",
    "selection_rate",
    "true_negative_rate",
    "true_positive_rate",
]
__all__.extend(_generated_metric_dict)


def __getattr__(name: str) -> Any:
    """A metric that is generated from another one, such as accuracy_score_difference, on its first use."""
    if name in _generated_metric_dict:
        value = globals()[name] = _generate(name)
        return value
    message = f"module 'evenhand.fairlearn' has no attribute {name!r}"
    if name in _PLOTS:
        raise AttributeError(f"{message}: plots stay in fairlearn.metrics; {_PLOTS[name]}.")
    if name.startswith("_"):
        raise AttributeError(message)
    raise AttributeError(f"{message}; {nearest(name, __all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
