"""How often does the default interval hold the true gap?

    python benchmarks/coverage.py            all of it, about ten minutes on two cores
    python benchmarks/coverage.py --quick    a tenth of the simulations
    python benchmarks/coverage.py --all      a line for every setting, before the table

Two groups are enumerated: every count with its binomial probability, no chance involved. Two and more groups are
simulated. Selection rates have fixed denominators; those of the true positive rate are random, because a share of each
group is positive; equalized odds takes the true and the false positive rate together.

The bars, at 95 % confidence:
- The interval holds the truth in at least 94 % of samples everywhere, 92 % with unequal weights. Against a reference
  the intervals of all groups must hold together.
- Where there is no gap, the verdict at threshold 0 is "fail" in at most 5.5 % of samples (8 % with unequal weights).
- A gap exactly at the threshold passes in at most 6 % (8 % with unequal weights).

Groups of fewer than 30 are enumerated too, and shown without a bar: the interval of two groups of 5 or 10 with rates
near 0 and near 1 is too short above. No pass rests on them (`min_group_size`).

Intervals are computed for all samples at once. That these are the library's own is checked first, on random tables.
Beside it stand the percentile bootstrap, Newcombe's interval of the two extreme groups, and fairlearn's. Exits 1 when
a bar is missed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from batched import CONFIDENCE, TABLES, Floats, Part, check, extremes, reference

from evenhand.inference import draws, intervals
from evenhand.inference.spread import effective

SEED = 20240229
SIMULATIONS, SLOW, RIVAL, DRAWS = 10_000, 2_000, 1_000, 500
BOOT, BOOT_SAMPLES = 50, 40  # fairlearn
COVERAGE, WEIGHTED_COVERAGE, FALSE_ALARM = 0.94, 0.92, 0.055
POSITIVE = 0.3  # the share of each group with a positive label
KISH = 2.0  # people for each effective one, with unequal weights

EXACT_SIZES = ((30, 30), (30, 200), (30, 2000), (100, 100), (200, 2000))
SMALL_SIZES = ((5, 5), (10, 10), (10, 200))
EXACT_RATES = (0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.33, 0.42, 0.5, 0.75, 0.95)


# --- settings


@dataclass(frozen=True)
class Setting:
    """Groups and their true rates. `rates` has a row for each measure; weights are of people."""

    measure: str
    sizes: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]
    name: str
    against: str = "extremes"  # or "the first", "the last" group, which are the smallest and the largest
    weights: str = ""  # or "unequal", or "related" to what is decided
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
        return self.against != "extremes" and (self.measure != "selection rate" or bool(self.weights))

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


def weighted_settings(
    sizes: dict[str, tuple[int, ...]], rates: dict[str, tuple[float, ...]], uneven: list[str]
) -> Iterator[Setting]:
    chosen = ("all 0.02", "all 0.1", "all 0.3", "rising .02 to .5", "falling .5 to .02", "first .1, others .02")
    for where, how, weights in itertools.product(uneven, chosen, ("unequal", "related")):
        yield Setting("selection rate", sizes[where], (rates[how],), f"{where}, {how}", weights=weights)
    for how in ("all 0.1", "all 0.3", "falling .5 to .02"):
        yield Setting("TPR", sizes[uneven[0]], (rates[how],), f"{uneven[0]}, {how}", weights="unequal")
        two = (rates[how], rates["all 0.3"])
        yield Setting("equalized odds", sizes[uneven[0]], two, f"{uneven[0]}, {how}; FPR .3", weights="unequal")
        yield Setting("selection rate", sizes[uneven[1]], (rates[how],), f"{uneven[1]}, {how}", "the last", "unequal")


# --- samples


def sample(setting: Setting, many: int, random: np.random.Generator) -> list[Part]:
    """k and n of each measure, [samples, groups]; effective ones where there are weights."""
    sizes = np.array(setting.sizes)
    if setting.weights:
        return _weighted_sample(setting, many, random)
    positive = random.binomial(sizes, POSITIVE, (many, len(sizes)))
    everyone = np.broadcast_to(sizes, positive.shape)
    of = {"selection rate": [everyone], "TPR": [positive], "equalized odds": [positive, sizes - positive]}
    return [
        (random.binomial(n, p).astype(float), n.astype(float))
        for n, p in zip(of[setting.measure], setting.rates, strict=True)
    ]


def _weighted_sample(setting: Setting, many: int, random: np.random.Generator) -> list[Part]:
    """Weights are log-normal; "related" ones are doubled for those who are selected."""
    starts = np.concatenate([[0], np.cumsum(setting.sizes)[:-1]])
    group = np.repeat(np.arange(len(setting.sizes)), setting.sizes)
    sigma = np.sqrt(np.log(KISH))
    blocks: list[list[Part]] = []
    step = max(1, 2_000_000 // len(group))
    for first in range(0, many, step):
        shape = (min(step, many - first), len(group))
        weight = random.lognormal(0.0, sigma, shape)
        positive = random.random(shape) < POSITIVE
        chance = random.random(shape)
        within = {"selection rate": [True], "TPR": [positive], "equalized odds": [positive, ~positive]}
        parts = []
        for inside, p in zip(within[setting.measure], setting.rates, strict=True):
            chosen = chance < np.array(p)[group]
            w = np.where(inside, weight * np.where(chosen & (setting.weights == "related"), 2.0, 1.0), 0.0)
            sums = [np.add.reduceat(w**j * side, starts, axis=1) for j in (1, 2) for side in (chosen, ~chosen)]
            parts.append(effective(*sums))
        blocks.append(parts)
    return [tuple(np.concatenate(side) for side in zip(*part, strict=True)) for part in zip(*blocks, strict=True)]


# --- what is measured


@dataclass(frozen=True)
class Found:
    """Shares of samples. `covers` and `alarm` are for (difference, ratio); `wrong` is a pass at the threshold."""

    setting: Setting
    samples: int
    covers: tuple[float, float]
    alarm: tuple[float, float] = (np.nan, np.nan)
    wrong: tuple[float, float] = (np.nan, np.nan)
    farthest: float = np.nan
    width: float = np.nan
    rivals: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """By name: coverage of the difference, false alarms, mean width."""


def measure(job: tuple[Setting, float]) -> Found:
    setting, scale = job
    random = np.random.default_rng([SEED, zlib.crc32(str(setting).encode())])
    many = round(scale * (SLOW if setting.slow or setting.weights else SIMULATIONS))
    parts = sample(setting, many, random)
    even = np.full(many, 1 / many)
    if setting.against == "extremes":
        found = score_extremes(setting, extremes(parts), parts, even)
    else:
        found = score_reference(setting, reference(parts, setting.place), parts, even)
    if not setting.rivals:
        return found
    k, n = parts[0]
    few = round(scale * RIVAL)
    rivals = {
        "percentile bootstrap": _score(setting, percentile(k[:few], n[:few])),
        "Newcombe, extreme pair": _score(setting, newcombe(k, n)),
    }
    return Found(**{**vars(found), "rivals": rivals})


def score_extremes(setting: Setting, ends: Sequence[Floats], parts: Sequence[Part], chance: Floats) -> Found:
    """The truth is that of the groups that have a value in the sample."""
    gaps, quotients = [], []
    for (_, n), p in zip(parts, setting.truths, strict=True):
        truth = np.where(n > 0, p, np.nan)
        enough = (n > 0).sum(axis=1) >= 2
        high, low = np.fmax.reduce(truth, axis=1), np.fmin.reduce(truth, axis=1)
        gaps.append(np.where(enough, high - low, np.nan))
        quotients.append(np.where(enough, low / high, np.nan))
    gap, quotient = np.fmax.reduce(gaps), np.fmin.reduce(quotients)
    known = ~np.isnan(gap)
    lower, upper, least, most = ends
    below, above = (lower > gap + 1e-12) & known, (upper < gap - 1e-12) & known
    under, over = (least > quotient + 1e-12) & known, (most < quotient - 1e-12) & known
    share = lambda event: float((event * chance).sum())  # noqa: E731
    return Found(
        setting,
        len(chance),
        (1 - share(below | above), 1 - share(under | over)),
        (share(lower > 1e-9), share(most < 1 - 1e-9)) if setting.null else (np.nan, np.nan),
        (share(above), share(under)),
        width=share(upper - lower),
    )


def score_reference(setting: Setting, ends: Sequence[Floats], parts: Sequence[Part], chance: Floats) -> Found:
    truth = np.array(setting.truths)
    place = setting.place
    gap, quotient = truth - truth[:, [place]], truth / truth[:, [place]]
    low, high, least, most = ends[:4]
    with np.errstate(invalid="ignore"):  # NaN is what is not compared: it misses nothing
        missed = (low > gap + 1e-12) | (high < gap - 1e-12)
        lost = (least > quotient + 1e-12) | (most < quotient - 1e-12)
        limit, bound = np.delete(np.abs(gap), place, axis=1).max(), np.delete(quotient, place, axis=1)
        bound = np.minimum(bound, 1 / bound).min()
        inside = (ends[4] >= -limit - 1e-9) & (ends[5] <= limit + 1e-9) | np.isnan(ends[4])
        within = (ends[6] >= bound - 1e-9) & (ends[7] <= 1 / bound + 1e-9) | np.isnan(ends[6])
        values = np.stack([k / np.where(n > 0, n, np.nan) for k, n in parts], axis=1)
        away = np.abs(values - values[:, :, [place]])
    away[:, :, place] = -1
    flat = np.nan_to_num(away, nan=-1).reshape(len(chance), -1)
    far = flat.argmax(axis=1)
    of_farthest = np.take_along_axis(missed.reshape(flat.shape), far[:, None], 1)[:, 0]
    wide = np.take_along_axis((high - low).reshape(flat.shape), far[:, None], 1)[:, 0]
    share = lambda event: float((event * chance).sum())  # noqa: E731
    either = [event.any(axis=(1, 2)) for event in (missed, lost)]
    return Found(
        setting,
        len(chance),
        (1 - share(either[0]), 1 - share(either[1])),
        (share(either[0]), share(either[1])) if setting.null else (np.nan, np.nan),
        (share(inside.all(axis=(1, 2))), share(within.all(axis=(1, 2)))),
        1 - share(of_farthest),
        share(np.nan_to_num(wide)),
    )


def enumerate_two(sizes: tuple[int, int]) -> list[Found]:
    """Every table of two groups, with its probability under each pair of rates."""
    counts = [np.arange(n + 1.0) for n in sizes]
    grid = np.stack([part.ravel() for part in np.meshgrid(*counts, indexing="ij")], axis=1)
    part = (grid, np.broadcast_to(np.array(sizes, dtype=float), grid.shape))
    between, beside = extremes([part]), reference([part], 1)
    found = []
    for rates in itertools.product(EXACT_RATES, repeat=2):
        ranges, chances = zip(*(_likely(n, p) for n, p in zip(sizes, rates, strict=True)), strict=True)
        chance = np.outer(*chances).ravel()
        rows = (ranges[0][:, None] * (sizes[1] + 1) + ranges[1]).ravel()
        likely = [(part[0][rows], part[1][rows])]
        name = f"{sizes[0]} and {sizes[1]:,}, rates {rates[0]} and {rates[1]}"
        setting = Setting("selection rate", sizes, (rates,), name)
        found.append(score_extremes(setting, [end[rows] for end in between], likely, chance))
        setting = Setting("selection rate", sizes, (rates,), name, "the last")
        found.append(score_reference(setting, [end[rows] for end in beside], likely, chance))
    return found


def _likely(n: int, p: float) -> tuple[npt.NDArray[np.intp], Floats]:
    from scipy.special import gammaln

    k = np.arange(n + 1)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * np.log(p) + (n - k) * np.log1p(-p)
    kept = np.flatnonzero(log > np.log(1e-12))
    return kept, np.exp(log[kept])


# --- the others


def percentile(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Of the gap between the highest and the lowest group, everyone drawn anew."""
    ends = []
    for i, (some, of) in enumerate(zip(k.astype(int), n.astype(int), strict=True)):
        cells = np.stack([some, of - some], axis=1)
        block = np.concatenate(list(draws.multinomial(cells, DRAWS, random_state=i)))
        with np.errstate(invalid="ignore"):
            rates = block[..., 0] / block.sum(axis=-1)
        gap = np.fmax.reduce(rates, axis=1) - np.fmin.reduce(rates, axis=1)
        ends.append(intervals.percentile(gap, CONFIDENCE)[:2])
    low, high = np.array(ends).T
    return low, high


def newcombe(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    every = np.arange(len(k))
    high, low = np.argmax(k / n, axis=1), np.argmin(k / n, axis=1)
    return intervals.newcombe(k[every, high], n[every, high], k[every, low], n[every, low], CONFIDENCE)


def _score(setting: Setting, ends: tuple[Floats, Floats]) -> tuple[float, float, float]:
    low, high = ends
    truth = max(setting.truths[0]) - min(setting.truths[0])
    covers = float(((low <= truth + 1e-12) & (high >= truth - 1e-12)).mean())
    return covers, float((low > 1e-9).mean()) if setting.null else np.nan, float((high - low).mean())


FAIRLEARN = """
import json, sys
import fairlearn, numpy as np, pandas as pd
from fairlearn.metrics import MetricFrame, selection_rate
given = json.load(sys.stdin)
ends = []
for i, (k, n) in enumerate(given["tables"]):
    group = np.repeat(np.arange(len(n)), n)
    chosen = np.concatenate([np.arange(m) < s for s, m in zip(k, n)]).astype(int)
    frame = MetricFrame(metrics=selection_rate, y_true=chosen, y_pred=chosen, sensitive_features=group,
                        n_boot=given["boot"], ci_quantiles=[0.025, 0.975], random_state=i)
    ends.append([float(end) for end in frame.difference_ci(method="between_groups")])
print(json.dumps({"ends": ends, "version": fairlearn.__version__}))
"""


def fairlearn(setting: Setting, many: int) -> tuple[str, tuple[float, float, float]]:
    import peers

    k, n = sample(setting, many, np.random.default_rng(SEED))[0]
    tables = [[some.astype(int).tolist(), of.astype(int).tolist()] for some, of in zip(k, n, strict=True)]
    done = subprocess.run(
        [str(peers.python("fairlearn")), "-c", FAIRLEARN],
        input=json.dumps({"tables": tables, "boot": BOOT}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"fairlearn failed:\n{done.stderr}")
    answer = json.loads(done.stdout)
    low, high = np.array(answer["ends"]).T
    name = f"fairlearn {answer['version']}, n_boot={BOOT}"
    return name, _score(setting, (low, high))


# --- the table

COLUMNS = {
    "interval": "<27",
    "measure": "<14",
    "against": "<9",
    "groups": ">6",
    "settings": ">8",
    "samples": ">7",
    "difference": ">10",
    "ratio": ">6",
    "farthest": ">8",
    "alarm": ">6",
    "passes": ">6",
    "width": ">6",
    "": "",
}
LAYOUT = "  ".join(f"{{:{width}}}" for width in COLUMNS.values())
LEGEND = """
The worst setting of each row, in percent of samples, and which it is. difference, ratio: the interval holds the truth.
farthest: that of the farthest group does. alarm: no gap, and yet a fail at 0. passes: the gap is at the threshold, and
yet a pass. width: of the difference, a mean over the settings.
"""


def percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.2f}"


def line(title: str, found: Sequence[Found], quick: bool, barred: bool = True) -> bool:
    """One row of the table: the worst of its settings. Is every bar met, if there is one?"""
    setting, enumerated = found[0].setting, "exact" in title
    bar = WEIGHTED_COVERAGE if setting.weights else COVERAGE
    limit = 1 - WEIGHTED_COVERAGE if setting.weights else FALSE_ALARM
    samples = max(each.samples for each in found)
    slack = 3 * np.sqrt((1 - bar) * bar / samples) if quick and not enumerated else 0.0
    covers = [min(each.covers[i] for each in found) for i in (0, 1)]
    farthest = min(each.farthest for each in found)
    alarm = max((a for each in found for a in each.alarm if not np.isnan(a)), default=np.nan)
    wrong = max(a for each in found for a in each.wrong)
    lost = min(covers) < bar - slack or farthest < bar - slack or alarm > limit + slack or wrong > 1 - bar + slack
    worst = min(found, key=lambda each: min(each.covers))
    print(
        LAYOUT.format(
            title,
            setting.measure,
            "extremes" if setting.against == "extremes" else "reference",
            len(setting.sizes),
            len(found),
            "all" if enumerated else f"{samples:,}",
            *map(percent, (*covers, farthest, alarm, wrong)),
            f"{np.mean([each.width for each in found]):.3f}",
            f"{'MISSED: ' if lost and barred else '' if barred else 'no bar: '}{worst.setting.name}",
        ),
        flush=True,
    )
    return not (lost and barred)


def rival_line(title: str, scores: Sequence[tuple[float, float, float]], groups: int, samples: int, where: str) -> None:
    covers, width = min(score[0] for score in scores), np.mean([score[2] for score in scores])
    alarm = max((score[1] for score in scores if not np.isnan(score[1])), default=np.nan)
    shown = (percent(covers), "", "", percent(alarm), "", f"{width:.3f}", where)
    print(LAYOUT.format(title, "selection rate", "extremes", groups, len(scores), f"{samples:,}", *shown), flush=True)


def every_line(found: Iterable[Found]) -> None:
    for each in found:
        numbers = " ".join(f"{percent(v):>6}" for v in (*each.covers, *each.alarm, *each.wrong, each.farthest))
        print(f"{numbers} {each.width:.3f}  {len(each.setting.sizes):>2} groups, {each.setting}")


def main() -> int:
    parser = argparse.ArgumentParser(description="How often does the default interval hold the true gap?")
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    parser.add_argument("--all", action="store_true", help="a line for every setting")
    options = parser.parse_args()
    start = time.perf_counter()
    scale = 0.1 if options.quick else 1.0
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, seed {SEED}")
    distance = check(SEED)
    print(f"on {TABLES} random tables the intervals measured here are within {distance:.1e} of the library's")
    if distance > 1e-12:
        print("these are not the library's intervals")
        return 1
    jobs = sorted(((each, scale) for each in settings()), key=lambda job: -job[0].slow * len(job[0].sizes))
    with ProcessPoolExecutor() as pool:
        simulated = list(pool.map(measure, jobs))
        exact = [each for found in pool.map(enumerate_two, EXACT_SIZES + SMALL_SIZES) for each in found]
    if options.all:
        print("covers: difference, ratio; alarm: difference, ratio; wrong pass: difference, ratio; farthest; width")
        every_line(exact)
        every_line(simulated)
    print(LEGEND)
    print(LAYOUT.format(*COLUMNS))
    met = []
    for against, small in itertools.product(("extremes", "the last"), (False, True)):
        rows = [e for e in exact if e.setting.against == against and (e.setting.sizes in SMALL_SIZES) == small]
        title = "default, exact, below 30" if small else "default, exact"
        met.append(line(title, rows, options.quick, barred=not small))

    def key(each: Found) -> tuple[object, ...]:
        setting = each.setting
        return bool(setting.weights), setting.against != "extremes", setting.measure, len(setting.sizes)

    for (weighted, *_), rows in itertools.groupby(sorted(simulated, key=key), key=key):
        met.append(line("default, unequal weights" if weighted else "default", list(rows), options.quick))
    compared = [each for each in simulated if each.rivals]
    for name in compared[0].rivals:
        many = round(scale * (RIVAL if "bootstrap" in name else SIMULATIONS))
        scores = [each.rivals[name] for each in compared]
        worst = min(compared, key=lambda each: each.rivals[name][0]).setting.name
        rival_line(name, scores, 8, many, worst)
    for rates, how in (((0.3,) * 8, "all .3"), ((0.2,) * 4 + (0.4,) * 4, "half .2, half .4")):
        setting = Setting("selection rate", (50,) * 8, (rates,), f"8 × 50, {how}")
        many = round(max(scale, 0.25) * BOOT_SAMPLES)
        name, score = fairlearn(setting, many)
        rival_line(name, [score], 8, many, setting.name)
        row = measure((setting, scale))
        met.append(line("default, beside it", [row], options.quick))
    print(f"\n{'every bar is met' if all(met) else 'a bar is missed'}; {time.perf_counter() - start:.0f} s")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
