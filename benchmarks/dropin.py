"""evenhand.fairlearn.MetricFrame against fairlearn's own: 100,000 rows, 40 groups, ten metrics.

    python benchmarks/dropin.py            every bar
    python benchmarks/dropin.py counted    only this

(counted) Ten functions of scikit-learn and fairlearn: at least 200 x faster, whether groups are a column of pandas, an
    array of text or a list.
(called) Ten lambdas and partial functions, which nobody can count: not slower. Half of them do next to nothing, so that
    what is measured is how they are called.

The frame is made and asked for everything: by_group, overall, extremes, differences and ratios. Both run in this
process, one after the other in every round, and medians are compared; so are the numbers. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import functools
from typing import Any

import fairlearn.metrics as theirs
import numpy as np
import pandas as pd
import sklearn.metrics as skm
from running import alternate, at_least, at_most, check, conclude, machine, show, start

import evenhand.fairlearn as ours

SEED = 20240229
ROWS, GROUPS = 100_000, 40
ROUNDS = {"counted": 3, "called": 3}
BARS = {"counted": 200.0, "called": 1.0}

COUNTED = {
    "accuracy": skm.accuracy_score,
    "balanced accuracy": skm.balanced_accuracy_score,
    "precision": skm.precision_score,
    "recall": skm.recall_score,
    "F1": skm.f1_score,
    "squared error": skm.mean_squared_error,
    "selection rate": theirs.selection_rate,
    "false positive rate": theirs.false_positive_rate,
    "false negative rate": theirs.false_negative_rate,
    "count": theirs.count,
}
CALLED = {
    "rows": lambda y_true, y_pred: len(y_true) + 0 * len(y_pred),
    "sum": lambda y_true, y_pred: (y_true + y_pred).sum(),
    "difference": lambda y_true, y_pred: y_pred.mean() - y_true.mean(),
    "agreement": lambda y_true, y_pred: (y_true == y_pred).mean(),
    "product": lambda y_true, y_pred: float(np.dot(y_true, y_pred)),
    "accuracy": functools.partial(skm.accuracy_score, normalize=False),
    "F2": functools.partial(skm.fbeta_score, beta=2),
    "precision": functools.partial(skm.precision_score, pos_label=0),
    "recall": functools.partial(skm.recall_score, average="macro"),
    "matthews": skm.matthews_corrcoef,
}


def ask(frame: Any) -> list[Any]:
    """Everything that a frame answers without draws."""
    return [
        frame.by_group,
        frame.overall,
        frame.group_min(),
        frame.group_max(),
        *(ask(method=method) for ask in (frame.difference, frame.ratio) for method in ("between_groups", "to_overall")),
    ]


def same(one: list[Any], other: list[Any]) -> bool:
    return all(np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True) for a, b in zip(one, other, strict=True))


def compare(metrics: dict[str, Any], rounds: int, groups: Any, y_true: Any, y_pred: Any) -> tuple[float, float, bool]:
    """The median seconds of fairlearn and of evenhand, and whether their numbers are the same."""

    def run(module: Any) -> list[Any]:
        return ask(module.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=groups))

    seconds = alternate(rounds, fairlearn=lambda: run(theirs), evenhand=lambda: run(ours))
    return show("fairlearn", seconds["fairlearn"]), show("evenhand", seconds["evenhand"]), same(run(theirs), run(ours))


def main(chosen: list[str]) -> int:
    machine("fairlearn", "sklearn", "pandas")
    random = np.random.default_rng(SEED)
    names = np.array([f"group {i:02d}" for i in range(GROUPS)])[random.integers(0, GROUPS, ROWS)]
    y_true, y_pred = (random.integers(0, 2, ROWS) for _ in range(2))
    kinds = {"a column of pandas": pd.Series(names, name="group"), "an array of text": names, "a list": names.tolist()}
    passed = []
    for name in [] if chosen and "counted" not in chosen else kinds:
        print(f"ten metrics that are counted, groups in {name}")
        fairlearn, evenhand, equal = compare(COUNTED, ROUNDS["counted"], kinds[name], y_true, y_pred)
        passed += [check("the numbers are the same", equal), at_least(BARS["counted"], "faster", fairlearn / evenhand)]
    if not chosen or "called" in chosen:
        print("ten functions that are called with the rows of each group, groups in a column of pandas")
        fairlearn, evenhand, equal = compare(CALLED, ROUNDS["called"], kinds["a column of pandas"], y_true, y_pred)
        passed += [check("the numbers are the same", equal), at_most(BARS["called"], "time", evenhand / fairlearn)]
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
