"""Intervals of functions of rows: how often they hold the true gap, by method.

    python benchmarks/coverage_rows.py          200 samples a setting
    python benchmarks/coverage_rows.py 1000 f1  as many, and of one function only

Two functions: the mean of a skewed amount, and F1. Two and five groups of 50 and of 500 people, without a gap and with
one. "extremes" is the gap between the highest and the lowest group, "reference" that of one group from another which
was named beforehand. All methods see the same draws. The bar is for the default interval; the others are printed. Exits
1 when a bar is missed.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np
from running import at_least, conclude

import evenhand as eh
from evenhand.verdicts import row_draws, row_measures

METHODS = ("simultaneous", "percentile", "bca", "jackknife")
DRAWS = 200
BARS = {50: 0.90, 500: 0.93}
"""Of the default interval, by the size of the groups. Fifty skewed amounts, or fifty decisions of which F1 is made, are
too few for a standard error to be exact."""


def amount(loan: Any) -> float:
    return float(np.mean(loan))


def f1(label: Any, prediction: Any) -> float:
    hits = np.sum((label == 1) & (prediction == 1))
    return float(2 * hits / (np.sum(label == 1) + np.sum(prediction == 1)))


class Kept(row_draws.Functions):
    """Functions whose draws of one sample are computed once, for all methods."""

    known: ClassVar[dict[str, Any]] = {}

    def sample(self, draws: int, random_state: int) -> Any:
        key = f"{draws} draws"
        if key not in self.known:
            self.known[key] = super().sample(draws, random_state)
        return self.known[key]

    def one_less(self, interval: str) -> Any:
        if "less" not in self.known:
            self.known["less"] = super().one_less(interval)
        return self.known["less"]


RIGHT = (0.8, 0.65)  # share of right decisions in all groups, and in the last one where there is a gap
TRUE_F1 = tuple(2 * 0.5 * right / (0.5 + 0.5) for right in RIGHT)  # half of the people are positive
TRUE_MEAN = (2.0, 2.8)


def sample(random: np.random.Generator, kind: str, groups: int, people: int, *, gap: bool) -> dict[str, Any]:
    """Rows of some groups, the last of which differs from the others where there is a gap."""
    group = np.repeat(np.arange(groups), people)
    last = (group == groups - 1) & gap
    label = random.integers(0, 2, len(group))
    right = random.random(len(group)) < np.where(last, RIGHT[1], RIGHT[0])
    loan = random.gamma(2, 1, len(group)) * np.where(last, TRUE_MEAN[1] / TRUE_MEAN[0], 1.0)
    named = {"columns": {"loan": loan}} if kind == "mean" else {}
    metric = eh.metric("own", measures=amount if kind == "mean" else f1, unit="ratio", **named)
    return {
        "metric": metric,
        "label": label,
        "prediction": np.where(right, label, 1 - label),
        "sensitive": [f"g{i}" for i in group],
    }


def holds(kind: str, groups: int, people: int, samples: int, *, gap: bool) -> dict[tuple[str, str], float]:
    """The share of samples whose interval holds the true gap, by method and comparison."""
    truth = TRUE_MEAN if kind == "mean" else TRUE_F1
    true = truth[1] - truth[0] if gap else 0.0
    random = np.random.default_rng([groups, people, gap, kind == "mean"])
    held: dict[tuple[str, str], list[bool]] = {}
    for _ in range(samples):
        data = sample(random, kind, groups, people, gap=gap)
        metric = data.pop("metric")
        Kept.known.clear()
        for method in METHODS:
            found = metric(**data, interval=method, draws=DRAWS, confidence=0.95)
            held.setdefault((method, "extremes"), []).append(_inside(found.difference, abs(true)))
            found = metric(**data, interval=method, draws=DRAWS, confidence=0.95, reference="g0")
            row = next(row for row in found.groups if row.group == (f"g{groups - 1}",))
            held.setdefault((method, "reference"), []).append(_inside(row.difference, true))
    return {key: float(np.mean(each)) for key, each in held.items()}


def _inside(value: Any, true: float) -> bool:
    """No interval at all claims nothing, and so misses nothing."""
    return value.low is None or value.low - 1e-12 <= true <= value.high + 1e-12


def main(samples: int, kinds: list[str]) -> int:
    row_measures.Functions = Kept  # type: ignore[misc]
    bars = []
    print(f"{samples} samples a setting, {DRAWS} draws; share of 95 % intervals that hold the true gap\n")
    print(f"{'':34}" + "".join(f"{method:>14}" for method in METHODS))
    for kind in kinds:
        for groups in (2, 5):
            for people in (50, 500):
                for gap in (False, True):
                    shares = holds(kind, groups, people, samples, gap=gap)
                    for against in ("extremes", "reference"):
                        title = f"{kind:<5}{groups} × {people:<5}{'gap' if gap else 'none':<5}{against}"
                        figures = "".join(f"{100 * shares[method, against]:>13.1f}%" for method in METHODS)
                        print(f"{title:<34}{figures}", flush=True)
                        bars.append((people, title, shares["simultaneous", against]))
    print()
    slack = 2 * np.sqrt(0.05 * 0.95 / samples)  # what chance alone may take away in so many samples
    return conclude([at_least(BARS[people] - slack, f"{title}, default", share, "") for people, title, share in bars])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2:] or ["mean", "f1"]))
