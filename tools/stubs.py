"""Write src/evenhand/__init__.pyi from the catalogue, so that editors and mypy see the metric functions.

Run it as `make stubs`; a test fails when the file has drifted.
"""

from __future__ import annotations

from pathlib import Path

from evenhand.functions import FUNCTIONS, parameters

TARGET = Path(__file__).resolve().parent.parent / "src" / "evenhand" / "__init__.pyi"

TYPES = {
    "positive": "Any",
    "cutoff": "float | None",
    "score_range": "Sequence[float] | None",
    "higher_is": 'Literal["positive", "negative"]',
    "bins": "int",
    "strategy": 'Literal["uniform", "quantile"]',
    "resolution": 'Literal["grid", "exact"]',
    "min_bin": "int",
    "bands": "Mapping[str, Sequence[float]] | None",
    "missing": 'Literal["group", "drop", "error"]',
    "na": "Iterable[str]",
    "threshold": "float | None",
    "convention": 'Literal["fairlearn", "aif360", "aequitas", "virny", "exfairness"] | None',
    "judged_on": 'Literal["difference", "ratio"] | None',
    "aggregate": 'Literal["worst", "mean", "mean_abs"] | None',
    "min_group_size": "int | None",
    "confidence": "float | None",
    "interval": "str | None",
    "draws": "int | None",
    "random_state": "int | None",
    "alpha": "float",
    "concentration": "float",
}

HEAD = """# Made by tools/stubs.py from the catalogue; do not edit.
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from evenhand import datasets as datasets
from evenhand import mitigate as mitigate
from evenhand.abstaining import Abstention as Abstention
from evenhand.auditing import Audit as Audit
from evenhand.auditing import audit as audit
from evenhand.counterfactual import CausalModel as CausalModel
from evenhand.counterfactual import Equation as Equation
from evenhand.counterfactual import GapSplit as GapSplit
from evenhand.counterfactual import InvariantPredictor as InvariantPredictor
from evenhand.counterfactual import counterfactual_fairness as counterfactual_fairness
from evenhand.counterfactual import decompose as decompose
from evenhand.counterfactual import flip_test as flip_test
from evenhand.cube import Cube as Cube
from evenhand.differences import Change as Change
from evenhand.differences import Changes as Changes
from evenhand.differences import diff as diff
from evenhand.errors import CallError as CallError
from evenhand.errors import DataError as DataError
from evenhand.errors import EvenhandError as EvenhandError
from evenhand.errors import MissingDependencyError as MissingDependencyError
from evenhand.findings import Estimate as Estimate
from evenhand.findings import Finding as Finding
from evenhand.findings import Panel as Panel
from evenhand.findings import Row as Row
from evenhand.findings import Sample as Sample
from evenhand.functions import metric as metric
from evenhand.guide import Recommendation as Recommendation
from evenhand.guide import recommend as recommend
from evenhand.individual import consistency as consistency
from evenhand.individual import lipschitz as lipschitz
from evenhand.individual import worst_pairs as worst_pairs
from evenhand.measures import measure as measure
from evenhand.monitoring import Trend as Trend
from evenhand.monitoring import trend as trend
from evenhand.policy import Policy as Policy
from evenhand.replicas import Stability as Stability
from evenhand.replicas import stability as stability
from evenhand.replicating import Replicas as Replicas
from evenhand.replicating import replicate as replicate
from evenhand.scoring import scorer as scorer
from evenhand.sweeps import Sweep as Sweep
from evenhand.sweeps import sweep as sweep
from evenhand.theorems import Impossibility as Impossibility
from evenhand.theorems import impossibility as impossibility
from evenhand.versions import __version__ as __version__
from evenhand.versions import show_versions as show_versions
from evenhand.wavering import aleatoric_uncertainty_difference as aleatoric_uncertainty_difference
from evenhand.wavering import aleatoric_uncertainty_ratio as aleatoric_uncertainty_ratio
from evenhand.wavering import epistemic_uncertainty_difference as epistemic_uncertainty_difference
from evenhand.wavering import epistemic_uncertainty_ratio as epistemic_uncertainty_ratio
from evenhand.wavering import epistemic_variance_difference as epistemic_variance_difference
from evenhand.wavering import epistemic_variance_ratio as epistemic_variance_ratio
from evenhand.wavering import iqr_difference as iqr_difference
from evenhand.wavering import iqr_ratio as iqr_ratio
from evenhand.wavering import jitter_difference as jitter_difference
from evenhand.wavering import jitter_ratio as jitter_ratio
from evenhand.wavering import label_stability_difference as label_stability_difference
from evenhand.wavering import label_stability_ratio as label_stability_ratio
from evenhand.wavering import mean_probability_difference as mean_probability_difference
from evenhand.wavering import mean_probability_ratio as mean_probability_ratio
from evenhand.wavering import overall_uncertainty_difference as overall_uncertainty_difference
from evenhand.wavering import overall_uncertainty_ratio as overall_uncertainty_ratio
from evenhand.wavering import statistical_bias_difference as statistical_bias_difference
from evenhand.wavering import statistical_bias_ratio as statistical_bias_ratio
from evenhand.wavering import std_difference as std_difference
from evenhand.wavering import std_ratio as std_ratio

__all__: list[str]
"""


def stubs() -> str:
    """The text of the file."""
    lines = [HEAD]
    for name, function in FUNCTIONS.items():
        keywords = parameters(function.metric)  # type: ignore[attr-defined]
        typed = [f"    {key}: {TYPES.get(key, 'Any')} = {_shown(default)}," for key, default in keywords.items()]
        lines += [f"def {name}(", "    data: Any = None,", "    *,", *typed, ") -> Finding: ..."]
    return "\n".join(lines) + "\n"


def _shown(default: object) -> str:
    return '"' + default + '"' if isinstance(default, str) else repr(default)


if __name__ == "__main__":
    TARGET.write_text(stubs(), encoding="utf-8")
    print(f"wrote {TARGET.name} with {len(FUNCTIONS)} functions")
