"""evenhand: measure whether a model, or a human process, treats groups of people even-handedly.

>>> import evenhand as eh
>>> finding = eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive=["a", "a", "b", "b"], threshold=0.5)
>>> finding.passes, finding.highest, finding.lowest
(True, 'b', 'a')

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from evenhand.core.version import __version__ as __version__

logging.getLogger("evenhand").addHandler(logging.NullHandler())

# The module of each public name that is written by hand; the function of a metric is made from its entry.
_HOMES = {
    "Abstention": "replicas.abstention",
    "Audit": "audits.audit",
    "CallError": "errors",
    "CausalModel": "counterfactual.fairness",
    "Change": "audits.diff",
    "Changes": "audits.diff",
    "Contest": "audits.contest",
    "Cover": "core.cover",
    "Cube": "cube.cube",
    "DataError": "errors",
    "Equation": "counterfactual.fairness",
    "Estimate": "core.results",
    "EvenhandError": "errors",
    "Finding": "core.results",
    "GapSplit": "counterfactual.fairness",
    "Impossibility": "audits.impossibility",
    "InvariantPredictor": "counterfactual.fairness",
    "MissingDependencyError": "errors",
    "Panel": "core.results",
    "Policy": "verdicts.policy",
    "Recommendation": "audits.guide",
    "Replicas": "replicas.fit",
    "Row": "core.results",
    "Sample": "core.results",
    "Stability": "replicas.stability",
    "Sweep": "audits.sweep",
    "Trend": "audits.trend",
    "adverse_impact": "audits.adverse_impact",
    "audit": "audits.audit",
    "consistency": "individual.consistency",
    "contest": "audits.contest",
    "correspondence": "counterfactual.correspondence",
    "counterfactual_fairness": "counterfactual.fairness",
    "decompose": "counterfactual.fairness",
    "diff": "audits.diff",
    "explain": "audits.composition",
    "flip_test": "counterfactual.fairness",
    "impossibility": "audits.impossibility",
    "lipschitz": "individual.consistency",
    "log": "report.tracking",
    "measure": "measures.cells",
    "metric": "audits.functions",
    "proxies": "audits.proxy_columns",
    "recommend": "audits.guide",
    "replicate": "replicas.fit",
    "representation": "audits.representation",
    "scorer": "audits.scorer",
    "search": "subgroups.search",
    "show_versions": "core.version",
    "stability": "replicas.stability",
    "sweep": "audits.sweep",
    "trend": "audits.trend",
    "worst_pairs": "individual.consistency",
}

# What people call first: an editor proposes these. All other names are there, too; metrics are listed in `metrics`.
_FIRST = (
    *("Audit", "CausalModel", "Cube", "Estimate", "EvenhandError", "Finding", "Policy"),
    *("audit", "consistency", "contest", "correspondence", "counterfactual_fairness", "diff", "explain"),
    *("flip_test", "impossibility", "lipschitz", "measure", "metric", "recommend", "replicate", "scorer", "search"),
    *("show_versions", "stability", "sweep", "trend"),
    *("demographic_parity", "disparate_impact", "equal_opportunity", "equalized_odds", "predictive_parity"),
    *("datasets", "fairlearn", "metrics", "mitigate", "plots", "testing"),
    "__version__",
)


def __getattr__(name: str) -> Any:
    """A public name, the function of a metric, or a module of the package."""
    if name == "__all__":
        return sorted(_public())
    if name.startswith("_"):
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    if name in _HOMES:
        value = getattr(import_module(f"evenhand.{_HOMES[name]}"), name)
    elif find_spec(f"evenhand.{name}") is not None:
        # Before the metrics, because the modules that make their functions import each other through here.
        value = import_module(f"evenhand.{name}")
    else:
        value = _metric_function(name)
    globals()[name] = value
    return value


def _metric_function(name: str) -> Any:
    """The function of a metric or alias of the catalogue."""
    from evenhand import metrics

    if name not in metrics.names() and metrics.find_extreme(name) is None:
        from evenhand.core.familiar import missing_name

        remedy = missing_name(name, metrics.ABBREVIATIONS, _public())
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}; {remedy}")
    return getattr(metrics, name)


def _public() -> list[str]:
    """Every public name."""
    from evenhand import metrics

    return [*dict.fromkeys([*_HOMES, *metrics.names(), "datasets", "metrics", "__version__"])]


def __dir__() -> list[str]:
    return list(_FIRST)
