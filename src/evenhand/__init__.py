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
    "audit": "audits.audit",
    "consistency": "individual.consistency",
    "contest": "audits.contest",
    "correspondence": "counterfactual.correspondence",
    "counterfactual_fairness": "counterfactual.fairness",
    "decompose": "counterfactual.fairness",
    "diff": "audits.diff",
    "flip_test": "counterfactual.fairness",
    "impossibility": "audits.impossibility",
    "lipschitz": "individual.consistency",
    "measure": "measures.cells",
    "metric": "audits.functions",
    "recommend": "audits.guide",
    "replicate": "replicas.fit",
    "scorer": "audits.scorer",
    "show_versions": "core.version",
    "stability": "replicas.stability",
    "sweep": "audits.sweep",
    "trend": "audits.trend",
    "worst_pairs": "individual.consistency",
}


def __getattr__(name: str) -> Any:
    """A public name, the function of a metric, or a module of the package."""
    if name == "__all__":
        return sorted(__dir__())
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
    from evenhand.catalogue import ALIASES, METRICS

    entry = METRICS.get(ALIASES.get(name, name))
    if entry is None:
        from evenhand.errors import nearest

        raise AttributeError(f"module 'evenhand' has no attribute {name!r}; {nearest(name, __dir__())}")
    home = "evenhand.replicas.functions" if entry.family == "stability" else "evenhand.audits.functions"
    return import_module(home).FUNCTIONS[name]


def __dir__() -> list[str]:
    from evenhand.catalogue import ALIASES, METRICS

    return [*dict.fromkeys([*_HOMES, *METRICS, *ALIASES, "datasets", "__version__"])]
