"""How often does the default interval of a score metric hold the true gap?

    python benchmarks/coverage_scores.py            every two options together, at most 40 minutes on two cores
    python benchmarks/coverage_scores.py --quick    a tenth of the samples
    python benchmarks/coverage_scores.py --full     every combination of options
    python benchmarks/coverage_scores.py --all      a line for every setting, before the table
    python benchmarks/coverage_scores.py --only KS  the measures whose name holds this

Samples are drawn from groups whose truth is known (`score_samples.py`): means of scores, losses and residuals with all
their skew, AUC from .5 to 1, distances between distributions, the calibration of scores, and figures of lenders and
insurers (`score_lending.py`). The library's own
functions make the interval of each sample. Groups of 1 to 30 people stand beside thousands, 10 beside 100,000, and 2 to
30 groups beside each other; between extremes, against the largest group, the rest and everyone; as difference and as
ratio; with and without weights. A pairwise covering design takes every two of these options together at least once.

The bars, at 95 % confidence:
- The interval holds the truth in at least 94 % of samples (92 % with weights, of an AUC, of calibration, of slopes and
  of a Gini).
- Where there is no gap, it excludes 0 in at most 5.5 %.
- Where the true gap is the threshold, it passes in at most 5 %: the far end is on the near side of the truth. In 20
  groups of 10 people this is printed and has no bar: no pass rests on groups below `min_group_size`.
- With groups of at least 100 it is at most 1.15 times as wide as before variances were moderated, the median at most
  1.05 times, where that covered. A method does not know whether there is a gap, so it covered where it did so with
  and without one.

The squared error of t3 residuals has no finite variance, so nothing that rests on a variance can promise to cover their
RMSE and R²: these are printed in a part of their own, without a bar.

A bar is missed where the one-sided 99.9 % binomial limit excludes it. What comes within one point of a bar, or within
.05 of that of widths, is drawn again, with other seeds and ten times the samples. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import platform
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from score_calibration import CALIBRATION, calibration_settings, sample_calibration
from score_lending import LENDING, is_loose, lending_settings, sample_lending
from score_orders import AUCS, CLASSES, DISTANCES, SHAPES, auc_spreads, auc_truths, sample_distances
from score_samples import WHAT, span, sums, truth

from evenhand import Policy
from evenhand.inference import simultaneous
from evenhand.inference.spread import Spread
from evenhand.verdicts.bounds.bounds import deciding_ends

Floats = npt.NDArray[np.float64]
Triple = tuple[float, float, float]  # near end, far end, truth; a ratio as its negative, so that the near end is below

SEED = 20261117
CONFIDENCE = 0.95
SURE = 0.999
MORE = 10  # times the samples, where a bar is near
COVERAGE, LOOSE_COVERAGE, ALARM, WRONG_PASS = 0.94, 0.92, 0.055, 0.05
WIDEST, MEDIAN_WIDTH, LARGE = 1.15, 1.05, 100
LEAST_JUDGED = Policy().min_group_size

LAYOUTS: dict[str, tuple[int, ...]] = {
    "1, 500, 500": (1, 500, 500),
    "1, 1, 1, 1,000": (1, 1, 1, 1000),
    "2, 1,000": (2, 1000),
    "5, 1,000": (5, 1000),
    "12, 2,000": (12, 2000),
    "29, 2,000": (29, 2000),
    "30, 3,000": (30, 3000),
    "10, 100,000": (10, 100_000),
    "100, 3,000": (100, 3000),
    "300, 3,000": (300, 3000),
    "2 × 30": (30, 30),
    "2 × 200": (200, 200),
    "8 × 40": (40,) * 8,
    "5 from 30 to 3,000": (30, 95, 300, 950, 3000),
    "20 × 10": (10,) * 20,
    "30 × 100": (100,) * 30,
}
COMPARISONS = ("extremes, difference", "extremes, ratio", "largest, difference", "largest, ratio", "rest, difference",
               "rest, ratio", "overall, difference", "overall, ratio")  # fmt: skip
SIGNED = ("mean residual", "R²")  # which have no ratio; the mean of t3 has none either
NO_VARIANCE = (("RMSE", "t3"), ("R²", "t3"))  # of what is averaged: squares of numbers without a fourth moment
NOT_LINEAR = ("RMSE", "R²")  # which are set against each other or against one group


@dataclass(frozen=True)
class Setting:
    """One line of the benchmark: what is measured, how the groups are made, and how they are compared."""

    measure: str
    law: str
    layout: str
    gap: bool = False
    comparison: str = COMPARISONS[0]
    weighted: bool = False
    samples: int = 1000

    def __str__(self) -> str:
        options = "gap" if self.gap else "no gap", self.comparison, *(("weighted",) if self.weighted else ())
        return f"{self.measure} of {self.law}, {self.layout}: {', '.join(options)}"

    @property
    def can_pass(self) -> bool:
        return self.layout not in LAYOUTS or max(LAYOUTS[self.layout]) >= LEAST_JUDGED

    @property
    def loose(self) -> bool:
        return self.weighted or self.measure in ("AUC", *CALIBRATION) or is_loose(self.measure)


# --- means


def possible(setting: Setting) -> bool:
    """A ratio needs values above 0, the rest and everyone a mean."""
    against, kind = setting.comparison.split(", ")
    if kind == "ratio" and (
        setting.measure in SIGNED or (setting.measure == "mean prediction" and setting.law == "t3")
    ):
        return False
    return not (against in ("rest", "overall") and setting.measure in NOT_LINEAR)


def mean_settings(full: bool) -> Iterator[Setting]:
    """All combinations, or so many that every two options occur together."""
    options: list[list[object]] = [list(WHAT), list(LAYOUTS), [False, True], list(COMPARISONS), [False, True]]
    every = [
        Setting(what[0], what[1], layout, gap, comparison, weighted)
        for what, layout, gap, comparison, weighted in itertools.product(*options)  # type: ignore[misc]
    ]
    allowed = [_resized(setting) for setting in every if possible(setting)]
    yield from allowed if full else covering(allowed)
    if not full:  # for the widths, which are compared between extremes
        large = [name for name, sizes in LAYOUTS.items() if min(sizes) >= LARGE]
        yield from (
            Setting(*what, layout, gap) for what, layout in itertools.product(WHAT, large) for gap in (False, True)
        )


def _resized(setting: Setting) -> Setting:
    people = sum(LAYOUTS[setting.layout])
    return replace(setting, samples=200 if people > 10_000 else 1000)


def covering(allowed: list[Setting]) -> list[Setting]:
    """A greedy choice in which every two options that can stand together do."""

    def pairs(setting: Setting) -> set[tuple[object, object]]:
        parts = [(setting.measure, setting.law), setting.layout, ("gap", setting.gap), setting.comparison,
                 ("weighted", setting.weighted)]  # fmt: skip
        return set(itertools.combinations(parts, 2))

    random = np.random.default_rng(SEED)
    left = set().union(*map(pairs, allowed))
    order, chosen = [allowed[i] for i in random.permutation(len(allowed))], []
    while left:
        some = [order[i] for i in random.integers(0, len(order), 200)]
        best = max(some, key=lambda setting: len(pairs(setting) & left))
        if not pairs(best) & left:
            best = next(setting for setting in order if pairs(setting) & left)
        chosen.append(best)
        left -= pairs(best)
    return chosen


def sample_means(setting: Setting, random: np.random.Generator) -> tuple[list[Triple], list[Triple]]:
    """The ends of each sample, and those of the method before; a sample without two values has none."""
    what, sizes = (setting.measure, setting.law), LAYOUTS[setting.layout]
    made = sums(what, setting.gap, sizes, setting.weighted, setting.samples, random)
    against, kind = setting.comparison.split(", ")
    rest = made.rest() if against in ("rest", "overall") else None
    truths = np.array([truth(what, setting.gap and i == 0) for i in range(len(sizes))])
    new, old = [], []
    for i in range(setting.samples):
        ends = span(what, float(np.nanmin(made.least[i])), float(np.nanmax(made.most[i])))
        if ends[0] == ends[1]:
            continue  # nobody differs from anybody
        spread = made.spread(what, i, *ends)
        if np.isfinite(spread.values).sum() < 2 or not np.isfinite(spread.values[0]):
            continue
        if against != "extremes" and kind == "ratio" and not spread.values[-1] > 0:
            continue  # nothing is a multiple of 0
        if against == "extremes":
            new.append(between(spread, truths, kind))
            if min(sizes) >= LARGE and not setting.weighted:
                old.append(between(made.old(i, what[0] == "RMSE"), truths, kind))
            continue
        mass = made.mass[i]
        base = spread.scaled(1.0, [len(sizes) - 1] * len(sizes)) if rest is None else rest.spread(what, i, *ends)
        shares = mass / mass.sum() if against == "overall" else None
        new.append(one_by_one(spread, base, truths, kind, mass, against, shares))
    return new, old


def between(spread: Spread, truths: Floats, kind: str) -> Triple:
    there = np.isfinite(spread.values)
    ends = simultaneous.between_extremes([spread], there[None, :], CONFIDENCE)
    if kind == "difference":
        return ends.difference[0], ends.difference[1], float(np.ptp(truths[there]))
    return -ends.ratio[1], -ends.ratio[0], -float(truths[there].min() / truths[there].max())


def one_by_one(spread: Spread, base: Spread, truths: Floats, kind: str, mass: Floats, against: str,
               shares: Floats | None) -> Triple:  # fmt: skip
    """The ends of the first group, as they decide; where it has no gap, the strongest near end of any group."""
    compared = np.ones((1, len(truths)), bool)
    if against == "largest":
        compared[0, -1] = False
    ends = simultaneous.against([spread], [base], compared, CONFIDENCE, shares=None if shares is None else shares[None])
    near, far = (
        (ends.difference_near, ends.difference_far) if kind == "difference" else (ends.ratio_near, ends.ratio_far)
    )
    middle = 0.0 if kind == "difference" else 1.0
    values = spread.values - base.values if kind == "difference" else spread.values / base.values
    if shares is not None:
        values = (1 - shares) * values if kind == "difference" else 1 / (shares + (1 - shares) / values)
    low, high = deciding_ends((near[0][0], near[1][0]), (far[0][0], far[1][0]), values, middle)
    other = {"largest": truths[-1], "rest": (mass[1:] * truths[1:]).sum() / mass[1:].sum(),
             "overall": (mass * truths).sum() / mass.sum()}[against]  # fmt: skip
    true = float(truths[0] - other if kind == "difference" else truths[0] / other)
    if math.isclose(true, middle, abs_tol=1e-12):
        strongest = np.fmax.reduce(np.maximum(low - middle, middle - high))
        return max(float(strongest), 0.0), max(abs(float(low[0]) - middle), abs(float(high[0]) - middle)), 0.0
    # A gap may have either sign: near is towards no gap.
    if true > middle:
        return float(low[0]), float(high[0]), true
    return -float(high[0]), -float(low[0]), -true


# --- AUC and distances

AUC_COMPARISONS = (("extremes, ratio", False), ("largest, difference", False), ("rest, difference", False),
                   ("largest, ratio", False), (COMPARISONS[0], True), ("rest, ratio", False))  # fmt: skip
OF_DRAWS = ("1, 500, 500", "1, 1, 1, 1,000", "2, 1,000", "5, 1,000", "12, 2,000", "29, 2,000", "30, 3,000",
            "100, 3,000", "2 × 30", "2 × 200", "8 × 40", "20 × 10")  # fmt: skip
WITH_WEIGHTS = ("1, 500, 500", "5, 1,000", "29, 2,000", "30, 3,000", "2 × 200", "8 × 40")


def auc_settings() -> Iterator[Setting]:
    """Every law with every layout, and one more comparison or weights: over the layouts each law meets all of these."""
    for (i, law), (j, layout) in itertools.product(enumerate(AUCS), enumerate(CLASSES)):
        gap = len(set(AUCS[law])) > 1
        yield Setting("AUC", law, layout, gap, samples=500)
        comparison, weighted = AUC_COMPARISONS[(i + j) % len(AUC_COMPARISONS)]
        yield Setting("AUC", law, layout, gap, comparison, weighted, samples=500)


def sample_auc(setting: Setting, random: np.random.Generator) -> list[Triple]:
    truths, (against, kind) = auc_truths(setting.law, setting.layout), setting.comparison.split(", ")
    ends = []
    rest = against == "rest"
    for spread, others in auc_spreads(
        setting.law, setting.layout, setting.weighted, setting.samples, random, rest=rest
    ):
        if against == "extremes":
            ends.append(between(spread, truths, kind))
            continue
        base = others or spread.scaled(1.0, [len(truths) - 1] * len(truths))
        ends.append(one_by_one(spread, base, truths, kind, np.ones(len(truths)), against, None))
    return ends


def distance_settings() -> Iterator[Setting]:
    for measure, law in itertools.product(DISTANCES, SHAPES):
        gap, samples = " and " in law, DISTANCES[measure][1]
        for layout in OF_DRAWS if measure == "ABROCA" else LAYOUTS:
            if measure != "ABROCA" or layout not in ("20 × 10", "1, 1, 1, 1,000"):
                many = samples // 5 if sum(LAYOUTS[layout]) > 10_000 else samples
                yield Setting(measure, law, layout, gap, samples=many)
        for layout in WITH_WEIGHTS:
            yield Setting(measure, law, layout, gap, weighted=True, samples=samples)


# --- what is counted


@dataclass(frozen=True)
class Found:
    """Of one setting, in how many samples the near and the far end missed the truth, and how wide intervals were."""

    setting: Setting
    samples: int
    near: int
    far: int
    none: int
    width: float
    old_width: float = math.nan
    """Of the method before, where it covered."""

    @property
    def coverage(self) -> float:
        return 1 - (self.near + self.far + self.none) / max(self.samples, 1)

    @property
    def alarm(self) -> float:
        return math.nan if self.setting.gap else self.near / max(self.samples, 1)

    @property
    def wrong_pass(self) -> float:
        return self.far / max(self.samples, 1)

    @property
    def wider(self) -> float:
        return self.width / self.old_width

    def missed(self) -> list[str]:
        """The bars that this setting misses, beyond chance."""
        bar = LOOSE_COVERAGE if self.setting.loose else COVERAGE
        bars = {"coverage": (self.near + self.far + self.none, 1 - bar)}
        if self.setting.can_pass:
            bars["wrong pass"] = (self.far, WRONG_PASS)
        if not self.setting.gap:
            bars["alarm"] = (self.near, ALARM)
        bad = [name for name, (count, most) in bars.items() if _least(count, self.samples) > most]
        return bad + (["width"] if self.wider > WIDEST else [])

    def near_a_bar(self) -> bool:
        bar = LOOSE_COVERAGE if self.setting.loose else COVERAGE
        shares = self.coverage < bar + 0.01 or self.alarm > ALARM - 0.01 or self.wrong_pass > WRONG_PASS - 0.01
        return shares or self.wider > WIDEST - 0.05


def _least(count: int, samples: int) -> float:
    """The lower one-sided limit of a share."""
    from scipy.special import betaincinv

    return float(betaincinv(count, samples - count + 1, 1 - SURE)) if count else 0.0


def measure(setting: Setting) -> Found:
    found = _measured(setting, SEED)
    if found.near_a_bar():
        found = _measured(replace(setting, samples=MORE * setting.samples), SEED + 1)
    return found


def _measured(setting: Setting, seed: int) -> Found:
    random = np.random.default_rng([seed, zlib.crc32(str(setting).encode())])
    if setting.measure == "AUC":
        new, old = sample_auc(setting, random), []
    elif setting.measure in DISTANCES:
        sizes = LAYOUTS[setting.layout]
        new, old = sample_distances(setting.measure, setting.law, sizes, setting.weighted, setting.samples, random), []
    elif setting.measure in LENDING:
        new, old = sample_lending(setting.measure, setting.law, setting.layout, setting.samples, random), []
    elif setting.measure in CALIBRATION:
        new, old = sample_calibration(setting.measure, setting.layout, setting.samples, random), []
    else:
        new, old = sample_means(setting, random)
    found = _counted(setting, new)
    before = _counted(setting, old)
    if old and before.coverage >= COVERAGE and not (before.alarm > ALARM):
        return replace(found, old_width=before.width)
    return found


def _counted(setting: Setting, ends: list[Triple]) -> Found:
    if not ends:
        return Found(setting, 0, 0, 0, 0, math.nan)
    near, far, true = np.array(ends).T
    slack = 1e-9 * np.maximum(np.abs(true), 1e-3)
    none = np.isnan(near) | np.isnan(far)
    below, above = ~none & (near > true + slack), ~none & (far < true - slack)
    # Where nothing bounds a gap, as of R² of a few people, the interval has no width to speak of.
    width = float(np.median((far - near)[~none])) if (~none).any() else math.nan
    return Found(setting, len(near), int(below.sum()), int(above.sum()), int(none.sum()), width)


# --- the table


def table(found: list[Found]) -> bool:
    """Print a line for each measure; were all bars met?"""
    layout = "{:<16} {:>8} {:>8} {:>7} {:>7} {:>10} {:>12}"
    print(
        "\nThe worst setting of each measure, in percent of samples; width against the method before, groups of 100 on."
    )
    print(layout.format("measure", "settings", "samples", "covers", "alarm", "wrong pass", "width"))
    found = compared_alike(found)
    beyond = [each for each in found if (each.setting.measure, each.setting.law) in NO_VARIANCE]
    found = [each for each in found if each not in beyond]
    missed = [(each, bars) for each in found if (bars := each.missed())]
    medians = []
    for name in dict.fromkeys(each.setting.measure for each in found):
        rows = [each for each in found if each.setting.measure == name and each.samples]
        wider = [each.wider for each in rows if math.isfinite(each.wider)]
        medians += wider
        worst = min(each.coverage for each in rows), *(_most(map(part, rows)) for part in (_alarm, _wrong_pass))
        width = f"{np.median(wider):.2f} to {max(wider):.2f}" if wider else ""
        samples = sum(each.samples for each in rows)
        print(layout.format(name, len(rows), samples, *(f"{100 * value:.2f}" for value in worst), width))
    if beyond:
        print("laws without a finite variance of what is averaged, printed without a bar:")
    for what in dict.fromkeys((each.setting.measure, each.setting.law) for each in beyond):
        rows = [each for each in beyond if (each.setting.measure, each.setting.law) == what and each.samples]
        worst = min(each.coverage for each in rows), *(_most(map(part, rows)) for part in (_alarm, _wrong_pass))
        samples = sum(each.samples for each in rows)
        print(layout.format(" of ".join(what), len(rows), samples, *(f"{100 * value:.2f}" for value in worst), ""))
    for each, bars in missed:
        print(f"MISSED ({', '.join(bars)}): {each.setting}: covers {100 * each.coverage:.2f}, alarm "
              f"{100 * each.alarm:.2f}, wrong pass {100 * each.wrong_pass:.2f}, width {each.wider:.2f}")  # fmt: skip
    middle = float(np.median(medians)) if medians else math.nan
    print(f"median width against the method before: {middle:.3f}")
    return not missed and not middle > MEDIAN_WIDTH


def compared_alike(found: list[Found]) -> list[Found]:
    """The same, with widths compared only where the method before covered with and without a gap."""
    by_setting = {replace(each.setting, samples=0): each for each in found}

    def partner(each: Found) -> Found:
        return by_setting.get(replace(each.setting, samples=0, gap=not each.setting.gap), each)

    return [each if partner(each).old_width > 0 else replace(each, old_width=math.nan) for each in found]


def _alarm(found: Found) -> float:
    return found.alarm


def _wrong_pass(found: Found) -> float:
    return found.wrong_pass


def _most(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def main() -> int:
    parser = argparse.ArgumentParser(description="How often does the interval of a score metric hold the true gap?")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--full", action="store_true", help="every combination of options")
    parser.add_argument("--all", action="store_true", help="a line for every setting")
    parser.add_argument("--only", default="", help="measures whose name holds this")
    options = parser.parse_args()
    start = time.perf_counter()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, seed {SEED}")
    calibrated = (
        Setting(name, "beta scores", layout, gap, samples=250) for name, layout, gap in calibration_settings()
    )
    lending = (Setting(*each, samples=400) for each in lending_settings())
    every = [*mean_settings(options.full), *auc_settings(), *distance_settings(), *calibrated, *lending]
    jobs = [each for each in dict.fromkeys(every) if options.only.lower() in each.measure.lower()]
    if options.quick:
        jobs = [replace(each, samples=max(each.samples // 10, 10)) for each in jobs]
    np.seterr(all="ignore")
    with ProcessPoolExecutor(initializer=np.seterr, initargs=("ignore",)) as pool:
        found = list(pool.map(measure, jobs, chunksize=4))
    for each in found if options.all else ():
        print(f"   {100 * each.coverage:6.2f} {100 * each.alarm:6.2f} {100 * each.wrong_pass:6.2f} {each.wider:5.2f} "
              f"{each.samples:6} {each.setting}")  # fmt: skip
    met = table(found)
    print(f"\n{'every bar is met' if met else 'a bar is missed'}; {time.perf_counter() - start:.0f} s")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
