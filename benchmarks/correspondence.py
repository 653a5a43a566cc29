"""Correspondence audits: false alarms where only noise differs, and how often a gap of three points is found.

    python benchmarks/correspondence.py [--samples 1000]

A unit has a quality, an answer adds noise of its own, and whoever is above a bar is decided positively; scores are the
sum itself, or that sum with rare jumps. Without an effect of the group an alarm is false: the p-value below 5 %, an
interval of a gap without 0 (all pairs of groups together), or an interval of flips beyond noise above 0. At most 5 %
are allowed. A setting misses that bar where the one-sided 99.9 % binomial limit of its share lies above 5 %; one within
a point of the bar is run again with another seed and ten times the samples.

Power: one group is moved by three points in 2,000 units. What docs/correspondence.md states must be within two points
of what is found. The arithmetic is that of the library, over many samples at once; some are checked by the public
function. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from running import check, conclude, machine
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom, multivariate_normal

import evenhand as eh
from evenhand.inference import critical
from evenhand.inference.multiplicity import holm
from evenhand.inference.paired import Differences, cochran, mcnemar, sign_flips

BAR, STATED_WITHIN = 0.05, 0.02
ALARMS = ("p-value", "interval", "beyond noise")
PAGE = Path(__file__).parent.parent / "docs" / "correspondence.md"
_AT_ONCE = 4_000_000
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """`flips` is the share of units that differ between two runs; `runs` has one number a group if they are uneven."""

    kind: str
    units: int
    groups: int
    runs: tuple[int, ...]
    rate: float = 0.5
    flips: float = 0.1
    effect: float = 0.0

    def __str__(self) -> str:
        runs = "/".join(map(str, dict.fromkeys(self.runs)))
        return f"| {self.kind} | {self.units:,} | {self.groups} | {runs} | {self.rate:g} | {self.flips:.0%} |"


def without_effect() -> Iterator[Setting]:
    often, seldom, rare = (0.5, 0.3), (0.2, 0.1), (0.05, 0.01)  # rates, and flips between two runs
    decisions = [
        (8, 2, 1, often), (40, 2, 1, often), (40, 2, 1, seldom), (40, 2, 3, often), (40, 5, 1, seldom),
        (40, 5, 3, often), (300, 2, 1, often), (300, 2, 1, seldom), (300, 2, 1, rare), (300, 2, 3, often),
        (300, 2, 3, rare), (300, 5, 1, seldom), (300, 5, 1, rare), (300, 5, 3, often), (300, 5, 3, seldom),
        (2000, 2, 1, seldom), (2000, 2, 3, rare), (2000, 5, 1, often), (100, 10, 1, seldom), (100, 10, 2, seldom),
    ]  # fmt: skip
    for units, groups, runs, level in decisions:
        yield Setting("decisions", units, groups, (runs,), *level)
    yield Setting("decisions", 300, 2, (1, 6), *seldom)
    yield Setting("decisions", 300, 5, (1, 2, 2, 3, 6), *seldom)
    for units, groups in ((40, 2), (300, 2), (40, 5), (300, 5), (2000, 2)):
        yield Setting("scores", units, groups, (1,))
        yield Setting("scores with jumps", units, groups, (2,))


def with_effect() -> Iterator[Setting]:
    for flips in (0.05, 0.1, 0.2, 0.3):
        for groups, runs in ((2, 1), (2, 3), (5, 1)):
            yield Setting("decisions", 2000, groups, (runs,), 0.3, flips, 0.03)


@cache
def noise(rate: float, flips: float) -> float:
    """The standard deviation of an answer's own noise, beside a quality of 1, with which two runs differ so often."""

    def share(spread: float) -> float:
        low = ndtri(1 - rate)  # on the scale on which quality and noise together have a deviation of 1
        both = multivariate_normal([0, 0], [[1, 1 / (1 + spread**2)], [1 / (1 + spread**2), 1]]).cdf([low, low])
        return float(2 * (1 - rate - both))

    return float(brentq(lambda spread: share(spread) - flips, 1e-4, 50))


def answers(setting: Setting, samples: int, random: np.random.Generator) -> list[Floats]:
    """For each group [samples, units, runs]."""
    quality = random.normal(size=(samples, setting.units, 1))
    runs = setting.runs * setting.groups if len(setting.runs) == 1 else setting.runs
    found = []
    for group, count in enumerate(runs[: setting.groups]):
        own = random.normal(size=(samples, setting.units, count))
        if setting.kind == "decisions":
            spread = noise(setting.rate, setting.flips)
            rate = setting.rate + setting.effect * (group == 0)
            found.append((quality + spread * own > ndtri(1 - rate) * np.hypot(1, spread)).astype(np.float64))
        else:
            jumps = 5 * (random.random(own.shape) < 0.01) if "jumps" in setting.kind else 0.0
            found.append(quality + 0.2 * own + jumps)
    return found


@dataclass(frozen=True)
class Result:
    setting: Setting
    samples: int
    alarms: tuple[int, ...]
    """How often each of ALARMS was raised; −1 where there is no such number."""
    failed: int = 0
    """How often the whole interval lay beyond the default threshold of one point."""


def measure(setting: Setting, samples: int, seed: int) -> Result:
    random = np.random.default_rng([seed, *map(ord, str(setting))])
    size = max(1, min(samples, _AT_ONCE // (setting.units * setting.groups * max(setting.runs))))
    parts = [
        _alarms(setting, answers(setting, min(size, samples - start), random)) for start in range(0, samples, size)
    ]
    total = np.concatenate(parts, axis=1).sum(axis=1)
    counted = tuple(
        int(each) if made else -1 for each, made in zip(total[:3], (True, True, max(setting.runs) > 1), strict=True)
    )
    return Result(setting, samples, counted, int(total[3]))


def _alarms(setting: Setting, drawn: list[Floats]) -> npt.NDArray[np.bool_]:
    """Whether each alarm is raised in each sample, [alarms and fail, samples]; as `counterfactual.unit_gaps` has it."""
    span = 1.0 if setting.kind == "decisions" else float(np.median(_ranges(drawn)))
    means = np.stack([each.mean(axis=2).T for each in drawn], axis=2)  # [units, samples, groups]
    pairs = list(combinations(range(setting.groups), 2))
    gaps = [Differences.of(means[:, :, i] - means[:, :, j], span) for i, j in pairs]
    deviate = critical.sidak(len(pairs), 0.95)
    ends = np.array([gap.limits(deviate, deviate) for gap in gaps])  # [pairs, ends, samples]
    sure = (ends[:, 0] > 0) | (ends[:, 1] < 0)
    by_pair = pair_values(setting, drawn, means, gaps, pairs, sure | ~has_q(setting))
    tested = by_pair < 2 * ndtr(-deviate)  # an interval excludes 0 only where the test of its pair does
    sure &= tested
    failed = ((ends[:, 0] > 0.01) | (ends[:, 1] < -0.01)) & tested
    p = p_values(setting, means, by_pair)
    return np.stack([p < BAR, sure.any(axis=0), beyond_noise(setting, drawn, span), failed.any(axis=0)])


def _ranges(drawn: list[Floats]) -> Floats:
    """The range of all scores of each sample."""
    ends = [(each.max(axis=(1, 2)), each.min(axis=(1, 2))) for each in drawn]
    return np.asarray(np.max([high for high, _ in ends], axis=0) - np.min([low for _, low in ends], axis=0))


def has_q(setting: Setting) -> bool:
    """Is Cochran's Q the test over all groups?"""
    return setting.kind == "decisions" and setting.groups > 2 and len(set(setting.runs)) == 1


def p_values(setting: Setting, means: Floats, by_pair: Floats) -> Floats:
    """The p-value over all pairs, of each sample."""
    if has_q(setting):
        return np.array([cochran(np.ascontiguousarray(means[:, s])).p_value for s in range(means.shape[1])])
    return np.array([np.min(holm(column)) for column in by_pair.T])


def pair_values(
    setting: Setting,
    drawn: list[Floats],
    means: Floats,
    gaps: list[Differences],
    pairs: list[tuple[int, int]],
    needed: npt.NDArray[np.bool_],
) -> Floats:
    """The p-value of each pair, [pairs, samples]; 1 where it is not needed and takes long."""
    if setting.kind != "decisions":
        return np.array([gap.student for gap in gaps])
    if max(setting.runs) == 1:
        return np.array([mcnemar(np.rint(gap.up), np.rint(gap.down)) for gap in gaps])
    steps = int(np.lcm.reduce([each.shape[2] for each in drawn]))
    found = np.ones(needed.shape)
    for pair, sample in np.argwhere(needed):
        i, j = pairs[pair]
        apart = np.rint(steps * (means[:, sample, i] - means[:, sample, j])).astype(np.int64)
        found[pair, sample] = sign_flips(apart)
    return found


def beyond_noise(setting: Setting, drawn: list[Floats], span: float) -> npt.NDArray[np.bool_]:
    if max(setting.runs) == 1:
        return np.zeros(len(drawn[0]), dtype=np.bool_)
    mean = np.stack([each.mean(axis=2).T for each in drawn], axis=2)
    scatter = np.stack([each.var(axis=2).T for each in drawn], axis=2)
    runs = np.array([each.shape[2] for each in drawn])
    own = np.nanmean(np.where(runs > 1, 2 * scatter * runs / np.maximum(runs - 1, 1), np.nan), axis=2)
    pairs = list(combinations(range(len(drawn)), 2))
    flips = sum((mean[..., i] - mean[..., j]) ** 2 + scatter[..., i] + scatter[..., j] for i, j in pairs) / len(pairs)
    low, _ = Differences.of(np.asarray(flips - own), span**2).limits(critical.upper(0.025), critical.upper(0.025))
    return np.asarray(low > 0)


def misses(found: int, samples: int) -> bool:
    return bool(binom.sf(found - 1, samples, BAR) < 0.001)


def is_open(result: Result) -> bool:
    """Does an alarm come within a point of the bar, or above it, without missing it?"""
    return any(each / result.samples >= BAR - 0.01 and not misses(each, result.samples) for each in result.alarms)


def same_as_public() -> bool:
    """Does the public function raise the alarms that are counted here?"""
    agree = []
    for setting in (Setting("decisions", 300, 2, (1,)), Setting("decisions", 300, 5, (3,), 0.3, 0.1, 0.03)):
        random = np.random.default_rng(7)
        for _ in range(20):
            drawn = answers(setting, 1, random)
            rows = [
                (unit, group, run, int(each[0, unit, run]))
                for group, each in enumerate(drawn)
                for unit in range(setting.units)
                for run in range(each.shape[2])
            ]
            table = dict(zip(("unit", "group", "run", "answer"), zip(*rows, strict=True), strict=True))
            finding = eh.correspondence(
                {name: list(column) for name, column in table.items()},
                unit="unit", sensitive="group", prediction="answer", run="run",
            )  # fmt: skip
            p, sure, beyond, failed = _alarms(setting, drawn)[:, 0]
            excess = next(row.estimate for row in finding.rows if row.measure == "excess_flip_share")
            seen = (finding.p_value or 0) < BAR, (finding.value.low or 0) > 0, (excess.low or 0) > 0
            agree.append((*seen, finding.verdict == "fail") == (p, sure, beyond, failed))
    return check(f"the public function raises the same alarms in {len(agree)} samples", all(agree))


def stated() -> dict[tuple[float, int, int], tuple[float, float]]:
    """Found and failed, as docs/correspondence.md states them, by flips, groups and runs."""
    lines = re.findall(
        r"^\| (\d+) % \| (\d+) \| (\d+) \| (\d+) % \| (\d+) % \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {
        (int(flips) / 100, int(groups), int(runs)): (int(found) / 100, int(failed) / 100)
        for flips, groups, runs, found, failed in lines
    }


def false_alarms(samples: int) -> bool:
    print(f"| kind | units | groups | runs | rate | flips | {' | '.join(ALARMS)} |\n|{' --- |' * 9}")
    missed = 0
    for setting in without_effect():
        result = measure(setting, samples, 1)
        if is_open(result):
            result = measure(setting, 10 * samples, 2)
        shown = []
        for found in result.alarms:
            miss = found >= 0 and misses(found, result.samples)
            missed += miss
            shown.append("–" if found < 0 else f"{found / result.samples:.1%}{' MISSED' if miss else ''}")
        print(f"{setting} {' | '.join(shown)} |", flush=True)
    return check(f"false alarms: {missed} settings above {BAR:.0%}", not missed)


def power(samples: int) -> bool:
    page, wrong = stated(), []
    print("| flips | groups | runs | found | fails |\n| --- | --- | --- | --- | --- |")
    for setting in with_effect():
        result = measure(setting, samples, 3)
        found, failed = result.alarms[0] / samples, result.failed / samples
        key = setting.flips, setting.groups, setting.runs[0]
        said = page.get(key)
        if said is None or max(abs(found - said[0]), abs(failed - said[1])) > STATED_WITHIN:
            wrong.append(key)
        print(
            f"| {setting.flips:.0%} | {setting.groups} | {setting.runs[0]} | {found:.1%} | {failed:.1%} |", flush=True
        )
    return check(f"the power that {PAGE.name} states: {len(wrong)} figures are off by more than two points", not wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    machine()
    return conclude([same_as_public(), false_alarms(samples), power(4 * samples)])


if __name__ == "__main__":
    sys.exit(main())
