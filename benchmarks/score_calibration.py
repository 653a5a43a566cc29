"""Samples of calibrated and miscalibrated scores whose truth is known, for `coverage_scores.py`.

Scores come from a beta distribution, labels by a chance that is a function of the score. Each sample goes through the
library as a user's data would, `Cube.count` and then `audit`, and the true gap is integrated:

- calibration: the largest gap in the observed rate of any of ten bins, among the bins that are judged, those with at
  least `min_bin` people of a group;
- ECE and MCE: the expected and the maximum calibration error, between the highest and the lowest group. The MCE is
  that of the bins with at least `min_bin` people of the group.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import evenhand as eh
from evenhand.measures.scores import MIN_BIN

Floats = npt.NDArray[np.float64]

BINS = 10
CALIBRATION = {
    "calibration": "calibration",
    "ECE": "calibration_error_parity",
    "MCE": "maximum_calibration_error_parity",
}
POLICY = eh.Policy(thresholds=dict.fromkeys(CALIBRATION.values()))  # what is not judged needs no forecast of rows
FINE = np.arange(0.5, 20_000) / 20_000  # where truths are integrated


# --- settings


@dataclass(frozen=True)
class Group:
    """Scores from a beta distribution; the chance of a positive label is `bend` × score + `lift`, within 0 and 1."""

    people: int
    a: float = 2.0
    b: float = 2.0
    bend: float = 1.0
    lift: float = 0.0

    def chance(self, score: Floats) -> Floats:
        return np.clip(self.bend * score + self.lift, 0.0, 1.0)

    def sample(self, random: np.random.Generator) -> tuple[Floats, npt.NDArray[np.int64]]:
        score = random.beta(self.a, self.b, self.people)
        return score, (random.random(self.people) < self.chance(score)).astype(np.int64)

    def truth(self) -> Truth:
        density = FINE ** (self.a - 1) * (1 - FINE) ** (self.b - 1)
        density /= density.sum()
        positive = density * self.chance(FINE)
        place = np.minimum((FINE * BINS).astype(int), BINS - 1)
        share, rate, score = (
            np.bincount(place, weights=values, minlength=BINS) for values in (density, positive, density * FINE)
        )
        return Truth(
            rate / share,
            np.abs(rate - score) / share,
            share,
        )


@dataclass(frozen=True)
class Truth:
    """Of one group, by bin: the rate, how far it is off the score, the share."""

    rate: Floats
    away: Floats
    share: Floats


SIZES: dict[str, Callable[[int], list[int]]] = {
    "200 each": lambda groups: [200] * groups,
    "1,000 each": lambda groups: [1000] * groups,
    "200 to 5,000": lambda groups: np.geomspace(200, 5000, groups).round().astype(int).tolist(),
}
SHAPES: dict[str, Callable[[int, int], dict[str, float]]] = {
    "no gap, calibrated": lambda _i, _groups: {},
    "no gap, not calibrated": lambda _i, _groups: {"bend": 0.6, "lift": 0.3},
    "no gap, few positives": lambda _i, _groups: {"a": 1.0, "b": 8.0},
    "the first too low by .2": lambda i, _groups: {"lift": 0.2 if i == 0 else 0.0},
    "the last too high, skewed": lambda i, groups: {"a": 1.2, "b": 2.5, "bend": 0.7} if i == groups - 1 else {},
    "all different": lambda i, groups: {
        "a": 1.5 + i / groups,
        "b": 2.5 - i / groups,
        "bend": 1 - 0.4 * i / groups,
        "lift": 0.1 * i / groups,
    },
}
LEFT_OUT = {  # to keep the time within bounds
    ("200 each", "no gap, few positives"),
    ("1,000 each", "no gap, few positives"),
    ("200 to 5,000", "the first too low by .2"),
    ("200 each", "the last too high, skewed"),
    ("1,000 each", "no gap, not calibrated"),
    ("1,000 each", "all different"),
    ("200 to 5,000", "no gap, calibrated"),
    ("200 to 5,000", "no gap, not calibrated"),
}


def calibration_settings() -> Iterator[tuple[str, str, bool]]:
    """Each metric with the name of a layout, and whether the groups differ."""
    for metric, count, sizes, shape in itertools.product(CALIBRATION, (2, 5, 8), SIZES, SHAPES):
        if (sizes, shape) not in LEFT_OUT:
            yield metric, f"{count} groups of {sizes}; {shape}", not shape.startswith("no gap")


def sample_calibration(
    metric: str, layout: str, samples: int, random: np.random.Generator
) -> list[tuple[float, float, float]]:
    """Both ends of the interval and the true gap, of each sample that has an interval."""
    count, sizes, shape = (
        layout.split(" ", maxsplit=1)[0],
        layout.split("; ", maxsplit=1)[0].split(" of ")[1],
        layout.split("; ")[1],
    )
    people = SIZES[sizes](int(count))
    groups = [Group(n, **SHAPES[shape](i, int(count))) for i, n in enumerate(people)]
    truths = [group.truth() for group in groups]
    found = (_sample(metric, groups, truths, random) for _ in range(samples))
    return [ends for ends in found if ends is not None]


def _sample(
    metric: str, groups: list[Group], truths: list[Truth], random: np.random.Generator
) -> tuple[float, float, float] | None:
    names = np.repeat([f"g{i}" for i in range(len(truths))], [group.people for group in groups])
    score, label = (np.concatenate(side) for side in zip(*(group.sample(random) for group in groups), strict=True))
    cube = eh.Cube.count(score=score, label=label, sensitive=names, score_range=(0, 1), bins=BINS)
    wanted = dict.fromkeys(("calibration", CALIBRATION[metric]))
    findings = {each.metric: each for each in cube.audit(metrics=list(wanted), policy=POLICY).findings}
    people = np.zeros((len(truths), BINS))
    for row in findings["calibration"].groups:
        people[int(row.group[0][1:]), round(row.bin[0] * BINS)] = row.n
    value = findings[CALIBRATION[metric]].value
    if value.low is None or value.high is None:
        return None
    return value.low, value.high, gap(metric, truths, people >= MIN_BIN)


def gap(metric: str, truths: list[Truth], judged: npt.NDArray[np.bool_]) -> float:
    """The true gap that a finding is about; `judged` are the calibration bins with enough people, [groups, bins]."""
    if metric == "calibration":
        rates = np.stack([truth.rate for truth in truths])
        above, below = np.where(judged, rates, -np.inf).max(axis=0), np.where(judged, rates, np.inf).min(axis=0)
        return float((above - below)[judged.sum(axis=0) > 1].max())
    values = [
        {
            "ECE": (truth.share * truth.away).sum(),
            "MCE": np.where(inside, truth.away, 0.0).max(),
        }[metric]
        for truth, inside in zip(truths, judged, strict=True)
    ]
    return float(max(values) - min(values))
