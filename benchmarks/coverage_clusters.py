"""How often does the interval hold the true gap where rows belong together?

    python benchmarks/coverage_clusters.py            a design that covers all pairs of factors, at most 40 minutes
    python benchmarks/coverage_clusters.py --quick    the same with a quarter of the samples
    python benchmarks/coverage_clusters.py --full     every combination of the factors
    python benchmarks/coverage_clusters.py --all      a line for every setting, before the table

Rows of one cluster are alike: a row is decided as its cluster is with probability √ρ, which makes ρ the correlation of
two rows (Lunn and Davies 1998). Clusters lie within groups, or reach over them; sizes are even, or vary from one row to
nearly twice the mean. 30 clusters are 30 in all, so that of two groups each has 15.

The bars, at 95 % confidence:
- The interval holds the true difference, and the true ratio, in at least 94 % of samples; against a reference, the rest
  or everyone those of all groups together.
- Where there is no gap, the verdict at threshold 0 is "fail" in at most 5.5 %.
- A gap at the threshold passes in at most 5 %, where groups have 30 clusters.

A setting misses its bar only where the one-sided 99.9 % binomial limit lies beyond it; one within a point of its bar is
run again with another seed and ten times the samples. Beside it stands the interval that takes rows for strangers, and
the width of an oracle, which knows the true variance. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import beta, norm

import evenhand as eh
from evenhand.cube.clusters import Clusters
from evenhand.inference import simultaneous
from evenhand.inference.spread import Proportions, Spread
from evenhand.measures.cells import MEASURES
from evenhand.measures.clustered import CellClusters, Whose

SEED, SAMPLES, SURE = 20261117, 1000, 0.999
COVERAGE, FALSE_FAIL, WRONG_PASS = 0.94, 0.055, 0.05
ENOUGH = 30  # clusters of a group on which a pass may rest
FORM = MEASURES["true_positive_rate"].form
assert FORM is not None

RATES = {
    "equal .05": (0.05, 0.05),
    "equal .3": (0.3, 0.3),
    "equal .5": (0.5, 0.5),
    ".05 and .15": (0.05, 0.15),
    ".4 and .5": (0.4, 0.5),
    "4 equal .1": (0.1,) * 4,
    "4, one apart": (0.1, 0.1, 0.1, 0.3),
    "8 equal .3": (0.3,) * 8,
}
FACTORS: dict[str, tuple[Any, ...]] = {
    "rates": tuple(RATES),
    "clusters": (30, 60, 200, 1000, 5000),
    "rows": (2, 5, 20),
    "alike": (0.0, 0.05, 0.3, 0.8),
    "across": (False, True),
    "uneven": (False, True),
    "of": ("everyone", "positives"),
    "against": ("extremes", "reference", "rest", "overall"),
}


@dataclass(frozen=True)
class Setting:
    rates: str
    clusters: int
    rows: int
    alike: float
    across: bool
    uneven: bool
    of: str
    against: str

    def __str__(self) -> str:
        where = "across" if self.across else "within"
        sizes = f"{self.rows}{' uneven' if self.uneven else ''}"
        drawn = f"{self.rates:<13} {self.clusters:>5} clusters of {sizes:<9} {where}"
        return f"{drawn}, rho {self.alike:<4}, of {self.of:<9}, {self.against}"

    @property
    def chances(self) -> Any:
        return np.array(RATES[self.rates])

    @property
    def in_a_group(self) -> int:
        """Clusters with rows in each group."""
        return self.clusters if self.across else self.clusters // len(self.chances)


def settings(full: bool) -> list[Setting]:
    """Every combination, or as few as hold every pair of values of two factors; at least seven clusters in a group."""
    every = [Setting(*values) for values in itertools.product(*FACTORS.values())]
    possible = [each for each in every if each.in_a_group >= 7]
    if full:
        return possible
    left = {pair for each in possible for pair in _pairs(each)}
    random, chosen = np.random.default_rng(SEED), []
    while left:
        tried = [possible[i] for i in random.choice(len(possible), 300, replace=False)]
        best = max(tried, key=lambda each: len(left.intersection(_pairs(each))))
        left.difference_update(_pairs(best))
        chosen.append(best)
    return chosen


def _pairs(setting: Setting) -> list[tuple[Any, Any]]:
    return list(itertools.combinations(enumerate(vars(setting).values()), 2))


# --- samples


def draw(setting: Setting, random: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """Cluster, group, label and decision of each row."""
    rows, clusters, chances = setting.rows, setting.clusters, setting.chances
    sizes = random.integers(1, 2 * rows, clusters) if setting.uneven else np.full(clusters, rows)
    cluster = np.repeat(np.arange(clusters), sizes)
    many = len(cluster)
    group = random.integers(0, len(chances), many) if setting.across else cluster % len(chances)
    label = random.random(many) < (0.5 if setting.of == "positives" else 1.0)
    same = random.random(many) < np.sqrt(setting.alike)
    chance = np.where(same, random.random(clusters)[cluster], random.random(many))
    return cluster, group, label.astype(int), (chance < chances[group]).astype(int)


def spread_of(cluster: Any, group: Any, label: Any, decision: Any, groups: int, whose: Whose) -> tuple[Spread, Spread]:
    """The true positive rates over clusters, and as if rows were strangers."""
    place = group * 9 + label * 3 + decision
    many = int(cluster.max()) + 1
    sums = Clusters.from_lines(9, ("",), np.zeros(many, dtype=np.intp), cluster, place, np.ones(len(place)))
    cells = np.bincount(place, minlength=9 * groups).reshape(groups, 9).astype(float)
    bottom, top = cells[:, 3] + cells[:, 4], cells[:, 4]
    if whose == "rest":
        bottom, top = bottom.sum() - bottom, top.sum() - top
    return CellClusters(sums, groups, whose).spread(FORM, top, bottom, bottom), Proportions(top, bottom, FORM)


# --- what is measured


@dataclass(frozen=True)
class Found:
    setting: Setting
    samples: int
    covers: int = 0
    covers_ratio: int = 0
    fails: int = 0
    passes: int = 0
    strangers: int = 0
    """How often the interval of strangers holds the difference."""
    width: float = 0.0
    oracle: float = np.nan

    @property
    def equal(self) -> bool:
        return len(set(self.setting.chances)) == 1

    def shares(self) -> Iterator[tuple[float, float]]:
        """Each share that has a bar, as a share of errors, with the bar."""
        yield 1 - self.covers / self.samples, 1 - COVERAGE
        yield 1 - self.covers_ratio / self.samples, 1 - COVERAGE
        if self.equal:
            yield self.fails / self.samples, FALSE_FAIL
        elif self.setting.against == "extremes" and self.setting.in_a_group >= ENOUGH:
            yield self.passes / self.samples, WRONG_PASS

    @property
    def missed(self) -> bool:
        return any(_least(share, self.samples) > bar for share, bar in self.shares())

    @property
    def near(self) -> bool:
        return any(share > bar - 0.01 for share, bar in self.shares())


def _least(share: float, samples: int) -> float:
    wrong = round(share * samples)
    return float(beta.ppf(1 - SURE, wrong, samples - wrong + 1)) if wrong else 0.0


def measure(job: tuple[Setting, int, int]) -> Found:
    setting, samples, seed = job
    random = np.random.default_rng([SEED, seed, zlib.crc32(str(setting).encode())])
    one = extremes if setting.against == "extremes" else one_by_one
    counts, widths, gaps = np.zeros(5, dtype=int), [], []
    for _ in range(samples):
        rows = draw(setting, random)
        hits, width, gap = one(setting, rows)
        counts += hits
        widths.append(width)
        gaps.append(gap)
    oracle = 2 * float(norm.ppf(0.975)) * float(np.std(gaps)) if len(setting.chances) == 2 else np.nan
    return Found(setting, samples, *counts.tolist(), width=float(np.mean(widths)), oracle=oracle)


def extremes(setting: Setting, rows: tuple[Any, ...]) -> tuple[list[bool], float, float]:
    chances = setting.chances
    spread, plain = spread_of(*rows, len(chances), "groups")
    usable = np.ones((1, len(chances)), dtype=bool)
    (low, high), (least, most) = _both(simultaneous.between_extremes([spread], usable, 0.95))
    other = simultaneous.between_extremes([plain], usable, 0.95).difference
    gap, ratio = float(np.ptp(chances)), float(chances.min() / chances.max())
    hits = [low <= gap <= high, least <= ratio <= most, low > 0, high <= gap, other[0] <= gap <= other[1]]
    return hits, high - low, float(spread.values[0] - spread.values[-1])


def _both(ends: simultaneous.Ends) -> tuple[tuple[float, float], tuple[float, float]]:
    return ends.difference, ends.ratio


def one_by_one(setting: Setting, rows: tuple[Any, ...]) -> tuple[list[bool], float, float]:
    """Each group against the first, the rest or everyone: ends that decide, which must hold for all groups."""
    chances, many = setting.chances, len(setting.chances)
    spread, plain = spread_of(*rows, many, "groups")
    compared, shares = np.ones((1, many), dtype=bool), None
    if setting.against == "reference":
        bases, truth = [each.scaled(1.0, [0] * many) for each in (spread, plain)], np.full(many, chances[0])
        compared[0, 0] = False
    else:
        bases = list(spread_of(*rows, many, "rest"))
        truth = (chances.sum() - chances) / (many - 1)  # groups are equally large
        if setting.against == "overall":
            inside = np.bincount(rows[1], rows[2], many)
            shares = (inside / inside.sum())[None]
            truth = np.full(many, float(inside @ chances / inside.sum()))
    hits, width = [], 0.0
    for each, base in zip((spread, plain), bases, strict=True):
        ends = simultaneous.against([each], [base], compared, 0.95, shares=shares)
        inside = compared[0]
        near = (ends.difference_near[0][0] <= chances - truth) & (chances - truth <= ends.difference_near[1][0])
        ratios = (ends.ratio_near[0][0] <= chances / truth) & (chances / truth <= ends.ratio_near[1][0])
        fails = (ends.difference_near[0][0] > 0) | (ends.difference_near[1][0] < 0)
        hits.append([bool(near[inside].all()), bool(ratios[inside].all()), bool(fails[inside].any())])
        if each is spread:
            width = float((ends.difference_near[1] - ends.difference_near[0])[0][inside].mean())
    return [*hits[0], False, hits[1][0]], width, float(spread.values[0] - spread.values[-1])


def check_library() -> None:
    """The intervals above are those of a finding."""
    random = np.random.default_rng(SEED)
    for across in (False, True):
        setting = Setting("4, one apart", 60, 5, 0.3, across, True, "positives", "extremes")
        rows = draw(setting, random)
        spread, _ = spread_of(*rows, 4, "groups")
        mine = simultaneous.between_extremes([spread], np.ones((1, 4), dtype=bool), 0.95).difference
        found = eh.equal_opportunity(cluster=rows[0], sensitive=rows[1], label=rows[2], prediction=rows[3]).difference
        assert np.allclose(mine, (found.low, found.high)), (mine, found)


# --- the table


def show(title: str, found: Sequence[Found]) -> None:
    if not found:
        return
    covers = min(min(each.covers, each.covers_ratio) / each.samples for each in found)
    fails = [each.fails / each.samples for each in found if each.equal]
    passes = [each.passes / each.samples for each in found if not each.equal and each.setting.against == "extremes"]
    strangers = min(each.strangers / each.samples for each in found)
    wider = [each.width / each.oracle for each in found if each.oracle > 0 and each.setting.against == "extremes"]
    columns = [
        f"{covers:9.1%}",
        f"{max(fails):9.1%}" if fails else f"{'-':>9}",
        f"{max(passes):9.1%}" if passes else f"{'-':>9}",
        f"{np.median(wider):9.2f}" if wider else f"{'-':>9}",
        f"{strangers:9.1%}",
    ]
    missed = sum(each.missed for each in found)
    print(f"{title:<26}{len(found):>5}{''.join(columns)}  {'met' if not missed else f'MISSED in {missed}'}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--quick", "--full", "--all"):
        parser.add_argument(name, action="store_true")
    chosen = parser.parse_args(arguments)
    begun = time.perf_counter()
    check_library()
    samples = SAMPLES // 4 if chosen.quick else SAMPLES
    every = settings(chosen.full)
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(measure, [(each, _fewer(each, samples), 0) for each in every]))
        again = [i for i, each in enumerate(found) if each.near]
        more = pool.map(measure, [(found[i].setting, 10 * found[i].samples, 1) for i in again])
        for i, each in zip(again, more, strict=True):
            found[i] = each
    if chosen.all:
        for each in found:
            counts = (each.covers, each.covers_ratio, each.fails, each.passes)
            shares = " ".join(f"{count / each.samples:.3f}" for count in counts)
            print(f"{each.setting}  {shares} n {each.samples}{'  MISSED' * each.missed}")
    heading = ("settings", "covers", "fails", "passes", "width", "strangers")
    print(f"{'':<23}{heading[0]:>8}{''.join(f'{name:>9}' for name in heading[1:])}")
    for factor, values in FACTORS.items():
        for value in values:
            show(f"{factor} {value}", [each for each in found if getattr(each.setting, factor) == value])
    show("all", found)
    for each in found:
        if each.missed:
            print(f"missed: {each.setting}  {replace(each, setting=None)}")
    print(f"{len(again)} settings near a bar were run again with ten times the samples; ", end="")
    print(f"{time.perf_counter() - begun:.0f} s")
    return int(any(each.missed for each in found))


def _fewer(setting: Setting, samples: int) -> int:
    """Large samples are slow, and hold no surprise."""
    return samples if setting.clusters * setting.rows <= 10_000 else max(samples // 4, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
