"""The settings of `coverage.py`: groups, their sizes and true rates, and what they are compared with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

COVERAGE, EXTREME_COVERAGE, WEIGHTED_COVERAGE = 0.94, 0.925, 0.92


@dataclass(frozen=True)
class Setting:
    """Groups and their true rates. `rates` has a row for each measure; weights are of people."""

    measure: str
    sizes: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]
    name: str
    against: str = "extremes"  # or "the first", "the last" group, the smallest and the largest; "rest"; "overall"
    weights: str = ""  # or "unequal", "heavy", or "related" to what is decided
    rivals: bool = False

    @property
    def null(self) -> bool:
        return all(len(set(row)) == 1 for row in self.truths)

    @property
    def place(self) -> int:
        return len(self.sizes) - 1 if self.against == "the last" else 0

    @property
    def truths(self) -> tuple[tuple[float, ...], ...]:
        if self.weights != "related":
            return self.rates
        return tuple(tuple(2 * p / (1 + p) for p in row) for row in self.rates)

    @property
    def slow(self) -> bool:
        """Is the library called for each sample?"""
        plain = self.measure == "selection rate" and not self.weights
        return self.against in ("rest", "overall") or (self.against != "extremes" and not plain)

    @property
    def extreme(self) -> bool:
        return any(p < 0.01 or p > 0.99 for row in self.rates for p in row)

    @property
    def bar(self) -> float:
        return WEIGHTED_COVERAGE if self.weights else EXTREME_COVERAGE if self.extreme else COVERAGE

    @property
    def gap(self) -> float:
        """The largest difference, in truth."""
        truth = np.array(self.truths)
        if self.against == "extremes":
            return float(np.ptp(truth, axis=1).max())
        return float(np.abs(truth - self.baseline).max())

    @property
    def baseline(self) -> Floats:
        """What each group is compared with, in truth; [measures, groups]. Sizes are shares of people."""
        truth, n = np.array(self.truths), np.array(self.sizes, dtype=float)
        if self.against == "overall":
            return np.repeat((truth * n).sum(axis=1, keepdims=True) / n.sum(), len(n), axis=1)
        if self.against == "rest":
            return ((truth * n).sum(axis=1, keepdims=True) - truth * n) / (n.sum() - n)
        return np.repeat(truth[:, [self.place]], len(n), axis=1)

    def __str__(self) -> str:
        weights = f", weights {self.weights}" if self.weights else ""
        return f"{self.measure}, {self.name}, against {self.against}{weights}"


def layouts(groups: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{groups} × 30": (30,) * groups,
        f"{groups} × 200": (200,) * groups,
        f"{groups} from 30 to 2,000": tuple(np.geomspace(30, 2000, groups).round().astype(int).tolist()),
        f"{groups - 1} × 2,000 and one of 30": (30,) + (2000,) * (groups - 1),
        f"{groups - 1} × 30 and one of 2,000": (30,) * (groups - 1) + (2000,),
    }


def patterns(groups: int) -> dict[str, tuple[float, ...]]:
    rising = tuple(np.linspace(0.02, 0.5, groups).round(4).tolist())
    return {
        **{f"all {p}": (p,) * groups for p in (0.02, 0.05, 0.1, 0.3, 0.5)},
        "rising .02 to .5": rising,
        "falling .5 to .02": rising[::-1],
        "first .02, others .1": (0.02,) + (0.1,) * (groups - 1),
        "first .1, others .02": (0.1,) + (0.02,) * (groups - 1),
        "first .5, others .3": (0.5,) + (0.3,) * (groups - 1),
        "half .1, half .2": (0.1,) * (groups // 2) + (0.2,) * (groups - groups // 2),
    }


def settings() -> Iterator[Setting]:
    for groups in (2, 5, 8, 20):
        sizes, rates = layouts(groups), patterns(groups)
        if groups > 2:
            for (where, n), (how, p) in itertools.product(sizes.items(), rates.items()):
                for against in ("extremes", "the last", "the first"):
                    rivals = groups == 8 and against == "extremes"
                    yield Setting("selection rate", n, (p,), f"{where}, {how}", against, rivals=rivals)
        uneven = [where for where in sizes if "×" not in where or "200" in where][:2]
        few = [how for how in rates if how not in ("all 0.05", "first .5, others .3")]
        for where, how in itertools.product(uneven, few):
            name = f"{where}, {how}"
            yield Setting("TPR", sizes[where], (rates[how],), name)
            yield Setting("equalized odds", sizes[where], (rates[how], rates[how][::-1]), f"{name}; FPR reversed")
        flat = (0.1,) * groups
        yield Setting("equalized odds", sizes[uneven[1]], (rates["all 0.5"], flat), f"{uneven[1]}, TPR .5, FPR .1")
        yield Setting(
            "equalized odds", sizes[uneven[1]], (rates["rising .02 to .5"], flat), f"{uneven[1]}, TPR rising, FPR .1"
        )
        for how, against in (("all 0.1", "the last"), ("falling .5 to .02", "the first")):
            name = f"{uneven[1]}, {how}"
            yield Setting("TPR", sizes[uneven[1]], (rates[how],), name, against)
            if groups != 20:
                two = (rates[how], rates["all 0.3"])
                yield Setting("equalized odds", sizes[uneven[1]], two, f"{name}; FPR .3", against)
        if groups != 20:
            yield from weighted_settings(sizes, rates, uneven)
        for how, against in itertools.product(
            ("all 0.1", "rising .02 to .5", "falling .5 to .02"), ("rest", "overall")
        ):
            yield Setting("selection rate", sizes[uneven[1]], (rates[how],), f"{uneven[1]}, {how}", against)
    yield from odd_settings()


def full_settings() -> Iterator[Setting]:
    """Every combination of layout, pattern, measure, what is compared with, and weights; and the odd settings."""
    for groups in (2, 5, 8, 20):
        options = itertools.product(
            layouts(groups).items(),
            patterns(groups).items(),
            ("selection rate", "TPR", "equalized odds"),
            ("extremes", "the last", "the first", "rest", "overall"),
            ("", "unequal", "related", "heavy"),
        )
        for (where, n), (how, p), measure, against, weights in options:
            rates = (p, p[::-1]) if measure == "equalized odds" else (p,)
            rivals = groups == 8 and (measure, against, weights) == ("selection rate", "extremes", "")
            yield Setting(measure, n, rates, f"{where}, {how}", against, weights, rivals)
    yield from odd_settings()


PLACES = {
    "1, 2, 5, 12, 29, 30 beside 3,000": (1, 2, 5, 12, 29, 30, 3000),
    "one, one, one beside 2 × 500": (1, 1, 1, 500, 500),
    "10 and 100,000": (10, 100_000),
    "30 from 10 to 3,000": tuple(np.geomspace(10, 3000, 30).round().astype(int).tolist()),
}


def odd_patterns(groups: int) -> dict[str, tuple[float, ...]]:
    rest = groups - 1
    return {
        **{f"all {rate}": (rate,) * groups for rate in (0.001, 0.01, 0.3, 0.8, 0.99, 0.999)},
        "first always, others .8": (1.0,) + (0.8,) * rest,
        "last always, others .8": (0.8,) * rest + (1.0,),
        "first .001, others .1": (0.001,) + (0.1,) * rest,
        "first .1, others .001": (0.1,) + (0.001,) * rest,
        "first .999, others .5": (0.999,) + (0.5,) * rest,
        "half .4, half .5": (0.4,) * (rest // 2) + (0.5,) * (groups - rest // 2),
    }


def odd_settings() -> Iterator[Setting]:
    """Off the beaten track: every layout with every pattern between extremes, with one more thing to be compared with,
    as one more measure, and with weights; over the layouts each pattern meets all of these."""
    against = ("the last", "the first", "rest", "overall")
    for i, (where, n) in enumerate(PLACES.items()):
        patterns = odd_patterns(len(n))
        for j, (how, p) in enumerate(patterns.items()):
            name = f"{where}, {how}"
            yield Setting("selection rate", n, (p,), name)
            yield Setting("selection rate", n, (p,), name, against[(i + j) % 4])
            if (i + j) % 2:
                yield Setting("TPR", n, (p,), name)
            else:
                yield Setting("equalized odds", n, (p, p[::-1]), f"{name}; FPR reversed")
            if sum(n) < 20_000 or j % 4 == 0:  # weights are drawn for each person
                yield Setting("selection rate", n, (p,), name, weights="heavy")


def weighted_settings(
    sizes: dict[str, tuple[int, ...]], rates: dict[str, tuple[float, ...]], uneven: list[str]
) -> Iterator[Setting]:
    chosen = ("all 0.02", "all 0.1", "all 0.3", "rising .02 to .5", "falling .5 to .02", "first .1, others .02")
    for where, how, weights in itertools.product(uneven, chosen, ("unequal", "related", "heavy")):
        yield Setting("selection rate", sizes[where], (rates[how],), f"{where}, {how}", weights=weights)
    for how in ("all 0.1", "all 0.3", "falling .5 to .02"):
        yield Setting("TPR", sizes[uneven[0]], (rates[how],), f"{uneven[0]}, {how}", weights="unequal")
        two = (rates[how], rates["all 0.3"])
        yield Setting("equalized odds", sizes[uneven[0]], two, f"{uneven[0]}, {how}; FPR .3", weights="unequal")
        yield Setting("selection rate", sizes[uneven[1]], (rates[how],), f"{uneven[1]}, {how}", "the last", "unequal")
