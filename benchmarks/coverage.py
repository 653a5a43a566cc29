"""How often does the default interval hold the true gap?

    python benchmarks/coverage.py            all of it, about twenty minutes on two cores
    python benchmarks/coverage.py --quick    a tenth of the simulations
    python benchmarks/coverage.py --full     every combination of settings, many hours
    python benchmarks/coverage.py --all      a line for every setting, before the table

Two groups are enumerated: every count with its binomial probability, no chance involved. Two and more groups are
simulated. Selection rates have fixed denominators; those of the true positive rate are random, because a share of each
group is positive; equalized odds takes the true and the false positive rate together. Some settings are off the beaten
track: one to thirty people beside thousands, ten beside 100,000, rates from .001 to .999, groups that are always
selected, thirty groups, weights that vary by a factor of twenty.

The bars, at 95 % confidence:
- The interval holds the truth in at least 94 % of samples, 92 % with weights and 92.5 % where a rate is below .01 or
  above .99. Against a reference, the rest or everyone the intervals of all groups must hold together.
- Where there is no gap, the verdict at threshold 0 is "fail" in at most 5.5 % of samples; in 8 % where weights are
  related to the decision itself.
- A gap exactly at the threshold passes in at most 5 %, on groups that are large enough to support a pass; a difference
  of more than 50 points, which nobody tolerates, is shown without this bar.
- Any of 1, 3 or 6 findings whose gaps lie exactly at the threshold fails in at most 5.5 %.
- The median width of a ratio, on logarithms, is at most 1.05 of what it was with Jeffreys' medians as centres where
  those covered, and nowhere above 1.15.

A simulated setting misses its bar only where the one-sided 99.9 % binomial limit lies beyond it; one whose limits leave
its bar open is run again with another seed and ten times the samples.

Two small groups side by side are enumerated too, and shown without a bar: the interval of two groups of 5 or 10 with
rates near 0 and near 1 is too short above. No pass rests on them (`min_group_size`).

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
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from batched import CONFIDENCE, TABLES, Floats, Part, Reach, check, extremes, others, reference
from coverage_settings import COVERAGE, Setting, full_settings, settings
from scipy.special import betaincinv

from evenhand.inference import critical, draws, intervals
from evenhand.inference.limits import FAR, NEAR
from evenhand.inference.spread import effective

SEED = 20240229
SIMULATIONS, SLOW, RIVAL, DRAWS = 10_000, 2_000, 1_000, 500
BOOT, BOOT_SAMPLES = 50, 40  # fairlearn
FALSE_ALARM, RELATED_ALARM, WRONG_PASS = 0.055, 0.08, 0.05
MOST_TOLERATED = 0.5  # of a difference
LARGE = 30  # people in a group on which a pass may rest
POSITIVE = 0.3  # the share of each group with a positive label
KISH = {"unequal": 2.0, "related": 2.0, "heavy": float(np.exp(1.5**2))}  # people for each effective one, by weights

EXACT_SIZES = ((30, 30), (30, 200), (30, 2000), (100, 100), (200, 2000))
SMALL_SIZES = ((5, 5), (10, 10), (10, 200))
EXACT_RATES = (0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.33, 0.42, 0.5, 0.75, 0.95)
ODD_RATES = (0.001, 0.005, 0.01, 0.1, 0.4, 0.5, 0.8, 0.95, 0.99, 0.999, 1.0)
ODD_SIZES = ((1, 3000), (2, 3000), (5, 3000), (12, 3000), (29, 3000), (30, 3000), (200, 200))
FAMILIES = (1, 3, 6)


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
    sigma = np.sqrt(np.log(KISH[setting.weights]))
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
    wider: float = np.nan
    """The width of the ratio, on logarithms, over what it was before, where that covered."""
    rivals: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """By name: coverage of the difference, false alarms, mean width."""


def measure(job: tuple[Setting, float, int]) -> Found:
    setting, scale, seed = job
    random = np.random.default_rng([SEED, seed, zlib.crc32(str(setting).encode())])
    many = round(scale * (SLOW if setting.slow or setting.weights else SIMULATIONS))
    parts = sample(setting, many, random)
    even = np.full(many, 1 / many)
    if setting.against == "extremes":
        found = score_extremes(setting, extremes(parts), parts, even)
    elif setting.against in ("rest", "overall"):
        found = score_reference(setting, others(parts, setting.against == "overall"), parts, even)
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
    wrong = _passes_of_large(setting, parts)
    under, over = (least > quotient + 1e-12) & known, (most < quotient - 1e-12) & known
    share = lambda event: float((event * chance).sum())  # noqa: E731
    return Found(
        setting,
        len(chance),
        (1 - share(below | above), 1 - share(under | over)),
        (share(lower > 1e-9), share(most < 1 - 1e-9)) if setting.null else (np.nan, np.nan),
        (share(above), share(under)) if wrong is None else (share(wrong[0]), share(wrong[1])),
        width=share(upper - lower),
    )


def _passes_of_large(setting: Setting, parts: Sequence[Part]) -> tuple[Floats, Floats] | None:
    """Which samples pass at the true gap of the groups that a pass may rest on; None where all groups are such."""
    large = np.array(setting.sizes) >= LARGE
    if large.all():
        return None
    nobody = np.zeros(len(parts[0][0]))
    if large.sum() < 2:
        return nobody, nobody
    truth = np.array(setting.truths)[:, large]
    _, upper, least, _ = extremes([(k[:, large], n[:, large]) for k, n in parts])
    gap, quotient = np.ptp(truth, axis=1).max(), (truth.min(axis=1) / truth.max(axis=1)).min()
    return 1.0 * (upper < gap - 1e-12), 1.0 * (least > quotient + 1e-12)


def score_reference(setting: Setting, ends: Sequence[Floats], parts: Sequence[Part], chance: Floats) -> Found:
    truth, base = np.array(setting.truths), setting.baseline
    alone = setting.against in ("rest", "overall")  # nobody is the reference
    place = None if alone else setting.place
    gap, quotient = truth - base, truth / base
    small = np.array(setting.sizes) < LARGE
    able = alone or not small[setting.place]
    low, high, least, most = ends[:4]
    with np.errstate(invalid="ignore"):  # NaN is what is not compared: it misses nothing
        missed = (low > gap + 1e-12) | (high < gap - 1e-12)
        lost = (least > quotient + 1e-12) | (most < quotient - 1e-12)
        judged = ~small if place is None else ~small & (np.arange(len(small)) != place)
        limit, bound = np.abs(gap[:, judged]).max(initial=0.0), quotient[:, judged]
        bound = np.minimum(bound, 1 / bound).min(initial=1.0)
        inside = (ends[4] >= -limit - 1e-9) & (ends[5] <= limit + 1e-9) | np.isnan(ends[4]) | small
        within = (ends[6] >= bound - 1e-9) & (ends[7] <= 1 / bound + 1e-9) | np.isnan(ends[6]) | small
        inside, within = inside & (able and judged.any()), within & (able and judged.any())
        values = np.stack([k / np.where(n > 0, n, np.nan) for k, n in parts], axis=1)
        sums = [np.stack([part[i].sum(axis=1) for part in parts], axis=1)[:, :, None] for i in (0, 1)]
        own = [np.stack([part[i] for part in parts], axis=1) * (setting.against == "rest") for i in (0, 1)]
        away = np.abs(
            values - (values[:, :, [place]] if place is not None else (sums[0] - own[0]) / (sums[1] - own[1]))
        )
    if place is not None:
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


def enumerate_two(job: tuple[tuple[int, int], Sequence[float]]) -> list[Found]:
    """Every table of two groups, with its probability under each pair of rates."""
    sizes, chosen = job
    counts = [np.arange(n + 1.0) for n in sizes]
    grid = np.stack([part.ravel() for part in np.meshgrid(*counts, indexing="ij")], axis=1)
    part = (grid, np.broadcast_to(np.array(sizes, dtype=float), grid.shape))
    between, beside, before = extremes([part]), reference([part], 1), extremes([part], jeffreys=True)
    found = []
    for rates in itertools.product(chosen, repeat=2):
        ranges, chances = zip(*(_likely(n, p) for n, p in zip(sizes, rates, strict=True)), strict=True)
        chance = np.outer(*chances).ravel()
        rows = (ranges[0][:, None] * (sizes[1] + 1) + ranges[1]).ravel()
        likely = [(part[0][rows], part[1][rows])]
        name = f"{sizes[0]} and {sizes[1]:,}, rates {rates[0]} and {rates[1]}"
        setting = Setting("selection rate", sizes, (rates,), name)
        now = score_extremes(setting, [end[rows] for end in between], likely, chance)
        old = score_extremes(setting, [end[rows] for end in before], likely, chance)
        wide = [_logs(ends[2][rows], ends[3][rows], chance) for ends in (between, before)]
        kept = old.covers[1] >= setting.bar and old.wrong[1] <= WRONG_PASS and wide[1] > 0
        found.append(replace(now, wider=wide[0] / wide[1] if kept else np.nan))
        setting = Setting("selection rate", sizes, (rates,), name, "the last")
        found.append(score_reference(setting, [end[rows] for end in beside], likely, chance))
    return found


def _logs(low: Floats, high: Floats, chance: Floats) -> float:
    """The mean width of a ratio on logarithms, where both ends are above 0."""
    there = low > 0
    return float((np.log(high[there] / low[there]) * chance[there]).sum())


def _likely(n: int, p: float) -> tuple[npt.NDArray[np.intp], Floats]:
    from scipy.special import gammaln

    if p == 1.0:
        return np.array([n]), np.ones(1)
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
    "median": ">6",
    "most": ">6",
    "": "",
}
LAYOUT = "  ".join(f"{{:{width}}}" for width in COLUMNS.values())
LEGEND = """
The worst setting of each row, in percent of samples, and which it is. difference, ratio: the interval holds the truth.
farthest: that of the farthest group does. alarm: no gap, and yet a fail at 0. passes: the gap is at the threshold, and
yet a pass. width: of the difference, a mean over the settings. median, most: the width of the ratio, on logarithms,
over what it was with Jeffreys' medians as centres.
"""


def percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.2f}"


def errors(found: Found) -> Iterator[tuple[float, float]]:
    """The share of samples that went wrong in each way, and the bar that it must not exceed."""
    yield from ((1 - covered, 1 - found.setting.bar) for covered in (*found.covers, found.farthest))
    most = RELATED_ALARM if found.setting.weights == "related" else FALSE_ALARM
    yield from ((alarm, most) for alarm in found.alarm)
    if found.setting.gap <= MOST_TOLERATED:
        yield found.wrong[0], WRONG_PASS
    yield found.wrong[1], WRONG_PASS


def misses(found: Found, *, exact: bool = False) -> bool:
    """Is a bar missed, beyond the one-sided 99.9 % binomial limit?"""
    return any(limits(share, found.samples, exact)[0] > bar + 1e-9 for share, bar in errors(found))


def is_open(found: Found) -> bool:
    """Do the limits of some share lie on both sides of its bar?"""
    ends = [(*limits(share, found.samples, exact=False), bar) for share, bar in errors(found)]
    return any(low <= bar < high and high - low > 1e-9 for low, high, bar in ends)


def limits(share: float, samples: int, exact: bool) -> tuple[float, float]:
    """One-sided 99.9 % limits of a share that was simulated."""
    if exact or np.isnan(share):
        return share, share
    wrong = round(share * samples)
    low = betaincinv(wrong, samples - wrong + 1, 0.001) if wrong else 0.0
    high = betaincinv(wrong + 1, samples - wrong, 0.999) if wrong < samples else 1.0
    return float(low), float(high)


def families() -> bool:
    """Any of several findings, each with its gap at the threshold, of two groups of 500: how often does one fail?"""
    size, rates, met = 500, (0.5, 0.4), True
    (first, second), chances = zip(*(_likely(size, p) for p in rates), strict=True)
    chance = np.outer(*chances).ravel()
    k = np.stack([np.repeat(first, len(second)), np.tile(second, len(first))], axis=1).astype(float)
    part = (k, np.full(k.shape, float(size)))
    for many in FAMILIES:
        q = critical.tukey(2, critical.shared(CONFIDENCE, many))
        c = critical.one_sided(q, CONFIDENCE)
        near, far = Reach(*part, q, NEAR), Reach(*part, c, FAR)
        apart = near.value[:, 0] - near.value[:, 1]
        low = apart - np.hypot(near.down[:, 0], near.up[:, 1])
        high = apart + np.hypot(far.up[:, 0], far.down[:, 1])
        fails = float((chance * (low > 0.1 + 1e-9)).sum())
        covers = float((chance * ((low <= 0.1) & (high >= 0.1))).sum())
        any_fails = 1 - (1 - fails) ** many
        met &= any_fails <= FALSE_ALARM and covers >= COVERAGE
        print(
            f"family of {many}: a fail of any, with gaps at the threshold, {percent(any_fails)} %; "
            f"each interval holds the truth in {percent(covers)} %"
        )
    return met


def line(title: str, found: Sequence[Found], barred: bool = True) -> bool:
    """One row of the table: the worst of its settings. Is every bar met, if there is one?"""
    setting, enumerated = found[0].setting, "exact" in title
    samples = max(each.samples for each in found)
    covers = [min(each.covers[i] for each in found) for i in (0, 1)]
    farthest = min(each.farthest for each in found)
    alarm = max((a for each in found for a in each.alarm if not np.isnan(a)), default=np.nan)
    wrong = max(share for each in found for share, bar in errors(each) if bar == WRONG_PASS)
    wider = [each.wider for each in found if not np.isnan(each.wider)] or [np.nan]
    missed = [each for each in found if misses(each, exact=enumerated)]
    lost = bool(missed) or np.median(wider) > 1.05 or max(wider) > 1.15
    worst = min(missed or found, key=lambda each: min(each.covers))
    print(
        LAYOUT.format(
            title,
            setting.measure,
            "reference" if "the" in setting.against else setting.against,
            len(setting.sizes),
            len(found),
            "all" if enumerated else f"{samples:,}",
            *map(percent, (*covers, farthest, alarm, wrong)),
            f"{np.mean([each.width for each in found]):.3f}",
            *("" if np.isnan(value) else f"{value:.2f}" for value in (np.median(wider), max(wider))),
            f"{'MISSED: ' if lost and barred else '' if barred else 'no bar: '}{worst.setting.name}",
        ),
        flush=True,
    )
    return not (lost and barred)


def rival_line(title: str, scores: Sequence[tuple[float, float, float]], groups: int, samples: int, where: str) -> None:
    covers, width = min(score[0] for score in scores), np.mean([score[2] for score in scores])
    alarm = max((score[1] for score in scores if not np.isnan(score[1])), default=np.nan)
    shown = (percent(covers), "", "", percent(alarm), "", f"{width:.3f}", "", "", where)
    print(LAYOUT.format(title, "selection rate", "extremes", groups, len(scores), f"{samples:,}", *shown), flush=True)


def every_line(found: Iterable[Found]) -> None:
    for each in found:
        numbers = " ".join(f"{percent(v):>6}" for v in (*each.covers, *each.alarm, *each.wrong, each.farthest))
        print(f"{numbers} {each.width:.3f}  {len(each.setting.sizes):>2} groups, {each.setting}")


def main() -> int:
    parser = argparse.ArgumentParser(description="How often does the default interval hold the true gap?")
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    parser.add_argument("--full", action="store_true", help="every combination of settings")
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
    chosen = full_settings() if options.full else settings()
    jobs = sorted(((each, scale, 0) for each in chosen), key=lambda job: -job[0].slow * len(job[0].sizes))
    two = [(n, EXACT_RATES) for n in EXACT_SIZES + SMALL_SIZES] + [(n, ODD_RATES) for n in ODD_SIZES]
    with ProcessPoolExecutor() as pool:
        simulated = list(pool.map(measure, jobs, chunksize=4))
        again = [(each.setting, 10 * scale, 1) for each in simulated if is_open(each)]
        settled = {found.setting: found for found in pool.map(measure, again)}
        simulated = [settled.get(each.setting, each) for each in simulated]
        exact = [each for found in pool.map(enumerate_two, two) for each in found]
    print(f"{len(again)} of {len(jobs)} settings were run again, with another seed and ten times the samples")
    if options.all:
        print("covers: difference, ratio; alarm: difference, ratio; wrong pass: difference, ratio; farthest; width")
        every_line(exact)
        every_line(simulated)
    print(LEGEND)
    print(LAYOUT.format(*COLUMNS))
    met = [families()]
    titles = {"default, exact": EXACT_SIZES, "default, exact, small": SMALL_SIZES, "default, exact, odd": ODD_SIZES}
    for against, (title, sizes) in itertools.product(("extremes", "the last"), titles.items()):
        rows = [each for each in exact if each.setting.against == against and each.setting.sizes in sizes]
        met.append(line(title, rows, barred=sizes is not SMALL_SIZES))

    def key(each: Found) -> tuple[object, ...]:
        setting = each.setting
        place = ("extremes", "rest", "overall").index(setting.against) if "the" not in setting.against else 3
        return bool(setting.weights), place, setting.measure, len(setting.sizes)

    for (weighted, *_), rows in itertools.groupby(sorted(simulated, key=key), key=key):
        met.append(line("default, unequal weights" if weighted else "default", list(rows)))
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
        met.append(line("default, beside it", [measure((setting, scale, 0))]))
    print(f"\n{'every bar is met' if all(met) else 'a bar is missed'}; {time.perf_counter() - start:.0f} s")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
