"""evenhand: measure whether a model, or a human process, treats groups of people even-handedly.

>>> import evenhand as eh
>>> found = eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive=["a", "a", "b", "b"], threshold=0.5)
>>> found.passes, found.highest, found.lowest
(True, 'b', 'a')

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from evenhand.versions import __version__ as __version__

logging.getLogger("evenhand").addHandler(logging.NullHandler())

_HOMES = {
    "Abstention": "abstaining",
    "Audit": "auditing",
    "CallError": "errors",
    "CausalModel": "counterfactual",
    "Change": "differences",
    "Changes": "differences",
    "Cube": "cube",
    "DataError": "errors",
    "Equation": "counterfactual",
    "Estimate": "findings",
    "EvenhandError": "errors",
    "Finding": "findings",
    "GapSplit": "counterfactual",
    "Impossibility": "theorems",
    "InvariantPredictor": "counterfactual",
    "MissingDependencyError": "errors",
    "Panel": "findings",
    "Policy": "policy",
    "Recommendation": "guide",
    "Replicas": "replicating",
    "Row": "findings",
    "Sample": "findings",
    "Stability": "replicas",
    "Sweep": "sweeps",
    "Trend": "monitoring",
    "audit": "auditing",
    "consistency": "individual",
    "counterfactual_fairness": "counterfactual",
    "decompose": "counterfactual",
    "diff": "differences",
    "flip_test": "counterfactual",
    "impossibility": "theorems",
    "lipschitz": "individual",
    "measure": "measures",
    "metric": "functions",
    "recommend": "guide",
    "replicate": "replicating",
    "scorer": "scoring",
    "show_versions": "versions",
    "stability": "replicas",
    "sweep": "sweeps",
    "trend": "monitoring",
    "worst_pairs": "individual",
}
_DIMENSIONS = (
    "aleatoric_uncertainty",
    "epistemic_uncertainty",
    "epistemic_variance",
    "iqr",
    "jitter",
    "label_stability",
    "mean_probability",
    "overall_uncertainty",
    "statistical_bias",
    "std",
)
_HOMES |= {f"{name}_{kind}": "wavering" for name in _DIMENSIONS for kind in ("difference", "ratio")}


def __getattr__(name: str) -> Any:
    """A public name, a metric of the catalogue, or a module of the package."""
    if name == "__all__":
        return sorted(__dir__())
    if name.startswith("_"):
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    if name in _HOMES:
        value = getattr(import_module(f"evenhand.{_HOMES[name]}"), name)
    elif find_spec(f"evenhand.{name}") is not None:
        # Before the metrics: the modules that make them import each other through here.
        value = import_module(f"evenhand.{name}")
    else:
        functions = import_module("evenhand.functions").FUNCTIONS
        if name not in functions:
            from evenhand.errors import nearest

            hint = nearest(name, [*_HOMES, *functions])
            raise AttributeError(f"module 'evenhand' has no attribute {name!r}; {hint}")
        value = functions[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*_HOMES, *import_module("evenhand.functions").FUNCTIONS, "datasets", "__version__"]
