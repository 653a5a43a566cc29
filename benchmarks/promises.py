"""Does what a finding says beside its interval come true?

    python benchmarks/promises.py            all of it
    python benchmarks/promises.py --quick    a tenth of the samples

Every line simulates samples whose truth is known and counts how often something was said or found:
- "Simpson's paradox" where the gap within strata is 0: at most 5 %.
- "rows to settle", started from the true rates: that many rows settle the finding in 75 to 90 %. From the estimates of
  a first sample the share is printed without a bar: no forecast from a few people can know the true rates.
- the detectable gap is found in 75 to 90 %.
- every kind of p-value is at most .05 in at most 6 % of samples without a gap.
- the interval over strata holds the largest true gap in at least 94 %. Where no stratum has a gap, it excludes 0 in at
  most 5.5 %; where the largest true gap is the threshold, it passes in at most 5 %.
- calibration with a gap exactly at the threshold in one bin, of any size from 10 people on, passes in at most 5 %.

A bar is missed only where chance alone does not explain it: one-sided, with 99.9 % confidence. A line within one point
of a bar, on either side, is run again with another seed and ten times the samples. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from batched import CONFIDENCE, FORM, NEAR, Reach, extremes

import evenhand as eh
from evenhand.inference import critical, hypotheses, power, stratified
from evenhand.inference.spread import Proportions, effective

Floats = npt.NDArray[np.float64]
Sample = Callable[[np.random.Generator, int], int]
"""How many of so many samples show what is counted."""

SEED = 20261117
MANY, SLOW, PILOTS = 4_000, 600, 40
ALPHA = 0.05
NEAR_A_BAR = 0.01


@dataclass(frozen=True)
class Promise:
    """One line of the table. `least` and `most` are the bars, None where there is none."""

    kind: str
    setting: str
    count: Sample
    samples: int
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Outcome:
    promise: Promise
    hits: int
    samples: int

    @property
    def share(self) -> float:
        return self.hits / self.samples

    @property
    def near(self) -> bool:
        """Within one point of a bar, or beyond it."""
        low, high = self.promise.least, self.promise.most
        short = low is not None and self.share < low + NEAR_A_BAR
        return short or (high is not None and self.share > high - NEAR_A_BAR)

    @property
    def missed(self) -> bool:
        """Beyond a bar by more than chance explains."""
        from scipy.stats import binom

        low, high = self.promise.least, self.promise.most
        under = low is not None and binom.cdf(self.hits, self.samples, low) < 0.001
        over = high is not None and binom.sf(self.hits - 1, self.samples, high) < 0.001
        return bool(under or over)


# --- what is simulated


def table(k: npt.NDArray[Any], n: npt.NDArray[Any]) -> dict[str, list[Any]]:
    """Columns with counts from selected and people, [strata, groups]."""
    strata, groups = k.shape
    rows = [(s, g) for s in range(strata) for g in range(groups)]
    return {
        "stratum": [f"s{s}" for s, _ in rows for _ in range(2)],
        "group": [f"g{g}" for _, g in rows for _ in range(2)],
        "selected": [1, 0] * len(rows),
        "count": [int(each) for at in rows for each in (k[at], n[at] - k[at])],
    }


ROLES = {"prediction": "selected", "sensitive": "group", "control": "stratum", "count": "count"}


def simpson(random: np.random.Generator, many: int, rates: Floats, n: npt.NDArray[np.int64]) -> int:
    """Samples in which the paradox is said; the rates are those of the strata, the same for all groups."""
    said = 0
    for _ in range(many):
        finding = eh.demographic_parity(table(random.binomial(n, rates[:, None]), n), **ROLES)
        said += any("Simpson" in note for note in finding.notes)
    return said


def over_strata(
    random: np.random.Generator, many: int, rates: Floats, n: npt.NDArray[np.int64], on: str, what: str
) -> int:
    """Samples whose interval "holds" the largest gap over strata (or the smallest ratio), or that have it beyond the
    end "near" to no gap, or beyond the "far" end."""
    truth = float(np.ptp(rates, axis=1).max() if on == "difference" else (rates.min(axis=1) / rates.max(axis=1)).min())
    found = 0
    for _ in range(many):
        value = eh.demographic_parity(table(random.binomial(n, rates), n), **ROLES, judged_on=on).extremes
        below, above = value.low > truth + 1e-12, value.high < truth - 1e-12
        near, far = (below, above) if on == "difference" else (above, below)
        found += {"holds": not (near or far), "near": near, "far": far}[what]
    return found


def settled(random: np.random.Generator, many: int, rates: Floats, sizes: Floats, on: str, threshold: float) -> int:
    n = np.maximum(np.round(sizes), 1).astype(np.int64)
    k = random.binomial(n, rates, (many, len(n))).astype(float)
    ends = extremes([(k, np.broadcast_to(n.astype(float), k.shape))])
    low, high = (ends[2], ends[3]) if on == "ratio" else (ends[0], ends[1])
    return int(np.sum((low > threshold) | (high < threshold)))


def rows_needed(rates: Floats, n: Floats, on: str, threshold: float, shrink: bool) -> float | None:
    usable = np.ones((1, len(n)), dtype=bool)
    spread: Any = Proportions(rates * n, n, FORM)
    if shrink:
        spread = power.shrunken(spread, usable[0])
    found = power.rows_to_settle([spread], usable, power.Forecast(on, threshold, CONFIDENCE), int(n.sum()))
    return None if found is None else found.multiplier


def from_truth(random: np.random.Generator, many: int, rates: Floats, n: Floats, on: str, threshold: float) -> int:
    multiplier = rows_needed(rates, n, on, threshold, shrink=False)
    return 0 if multiplier is None else settled(random, many, rates, multiplier * n, on, threshold)


def from_pilot(random: np.random.Generator, many: int, rates: Floats, n: Floats, on: str, threshold: float) -> int:
    """Each of some first samples forecasts; what it could not settle below a billion rows counts as not settled."""
    each, hits = max(1, many // PILOTS), 0
    for _ in range(many // each):
        multiplier = rows_needed(random.binomial(n.astype(int), rates) / n, n, on, threshold, shrink=True)
        hits += 0 if multiplier is None else settled(random, each, rates, multiplier * n, on, threshold)
    return hits


def detected(random: np.random.Generator, many: int, rate: float, sizes: tuple[int, int], groups: int) -> int:
    """Samples in which the near end of the two groups lies above 0, with the gap that is promised to be found."""
    n = np.array(sizes, dtype=float)
    gap = power.detectable_gap(Proportions(rate * n, n, FORM), (0, 1), groups, CONFIDENCE)
    bottom = min(max(rate - gap / 2, 0.0), 1 - gap)
    q, found = critical.tukey(groups, CONFIDENCE), 0
    for high, part in ((0, many // 2), (1, many - many // 2)):
        rates = np.where(np.arange(2) == high, bottom + gap, bottom)
        reach = Reach(
            random.binomial(n.astype(int), rates, (part, 2)).astype(float), np.broadcast_to(n, (part, 2)), q, NEAR
        )
        apart = reach.value[:, high] - reach.value[:, 1 - high]
        found += int(np.sum(apart > np.hypot(reach.down[:, high], reach.up[:, 1 - high])))
    return found


def equal_rates(random: np.random.Generator, many: int, rate: float, sizes: tuple[int, ...]) -> int:
    k = random.binomial(sizes, rate, (many, len(sizes)))
    return sum(hypotheses.independence(each, sizes, 1000, i).p_value <= ALPHA for i, each in enumerate(k))


def weighted_rates(random: np.random.Generator, many: int, rate: float, sizes: tuple[int, ...]) -> int:
    """Log-normal weights of which two are worth one person, as effective counts."""
    parts = []
    for n in sizes:
        blocks = []
        for start in range(0, many, 500):
            shape = (min(500, many - start), n)
            weight, chosen = random.lognormal(0, np.sqrt(np.log(2)), shape), random.random(shape) < rate
            sums = [(weight**j * side).sum(axis=1) for j in (1, 2) for side in (chosen, ~chosen)]
            blocks.append(effective(*sums))
        parts.append([np.concatenate(side) for side in zip(*blocks, strict=True)])
    k, n_eff = (np.stack(side, axis=1) for side in zip(*parts, strict=True))
    return sum(hypotheses.independence(*each).p_value <= ALPHA for each in zip(k, n_eff, strict=True))


def equal_classes(random: np.random.Generator, many: int, shares: tuple[float, ...], sizes: tuple[int, ...]) -> int:
    tables = np.stack([random.multinomial(n, shares, many) for n in sizes], axis=1)
    return sum(hypotheses.class_independence(each, 1000, i).p_value <= ALPHA for i, each in enumerate(tables))


def two_rates(random: np.random.Generator, many: int, rates: tuple[float, float], sizes: tuple[int, ...]) -> int:
    """Equalized odds: the tables of both labels together."""
    hits = 0
    for i in range(many):
        positive = random.binomial(sizes, 0.4)
        people = positive, np.array(sizes) - positive
        tests = [
            hypotheses.independence(random.binomial(n, rate), n, 1000, i) for n, rate in zip(people, rates, strict=True)
        ]
        hits += hypotheses.combined(tests).p_value <= ALPHA
    return hits


def in_strata(random: np.random.Generator, many: int, rates: Floats, n: npt.NDArray[np.int64]) -> int:
    k = random.binomial(n, rates[:, None], (many, *n.shape))
    return sum(stratified.cochran_mantel_haenszel(each, n).p_value <= ALPHA for each in k)


def one_odds_ratio(random: np.random.Generator, many: int, rate: float, odds: float, n: npt.NDArray[np.int64]) -> int:
    other = rate / (1 - rate) * odds
    k = random.binomial(n, [other / (1 + other), rate], (many, *n.shape))
    return sum(stratified.breslow_day(each, n).p_value <= ALPHA for each in k)


def equal_scores(random: np.random.Generator, many: int, metric: str, sizes: tuple[int, ...], law: str) -> int:
    """Means, AUC and errors of numbers from one law in all groups: p-values that agree with the intervals."""
    group, hits = np.repeat([f"g{i}" for i in range(len(sizes))], sizes), 0
    for _ in range(many):
        if law == "lognormal":
            numbers = random.lognormal(0, 1, len(group))
            roles: dict[str, Any] = {"label": numbers, "prediction": np.ones(len(group)), "task": "regression"}
        else:
            score = random.beta(0.2, 9.8, len(group)) if law == "skewed" else random.random(len(group))
            roles = {"score": score, "label": (random.random(len(group)) < score).astype(int), "score_range": (0, 1)}
        p = getattr(eh, metric)(**roles, sensitive=group).p_value
        hits += p is not None and p <= ALPHA
    return hits


def wrong_pass(random: np.random.Generator, many: int, people: int, groups: int) -> int:
    """Calibration where the last group is off by the threshold in one bin, in which it has so many people."""
    score = (np.arange(5) + 0.5) / 5
    n = np.full((groups, 5), 20_000)
    n[-1, 1] = people
    rates = np.repeat(score[None, :], groups, axis=0)
    rates[-1, 1] += 0.1
    passed = 0
    for _ in range(many):
        k = random.binomial(n, rates)
        columns = {
            "score": np.tile(score, 2 * groups),
            "label": np.repeat([1, 0], 5 * groups),
            "group": np.tile(np.repeat([f"g{i}" for i in range(groups)], 5), 2),
            "count": np.concatenate([k.ravel(), (n - k).ravel()]),
        }
        roles = {"score": "score", "label": "label", "sensitive": "group", "count": "count"}
        passed += eh.calibration(columns, **roles, bins=5, score_range=(0, 1)).verdict == "pass"
    return passed


# --- the settings


def promises() -> Iterator[Promise]:
    yield from of_strata()
    yield from of_sample_sizes()
    yield from of_p_values()
    for people, groups in ((10, 2), (20, 2), (29, 4), (30, 2), (200, 2)):
        name = f"{groups} groups, {people} people in the bin"
        yield Promise(
            "calibration passes", name, partial(wrong_pass, people=people, groups=groups), SLOW // 2, most=0.05
        )


def of_strata() -> Iterator[Promise]:
    two, six = np.array([0.2, 0.6]), np.linspace(0.1, 0.7, 6)
    crossed = np.array([[450, 50], [50, 450]])
    uneven = np.linspace(400, 40, 6).round().astype(int)
    layouts = {
        "2 strata, 2 groups": (two, crossed),
        "6 strata, 2 groups": (six, np.stack([uneven, uneven[::-1]], axis=1)),
        "2 strata, 4 groups": (two, np.array([[300, 200, 100, 40], [40, 100, 200, 300]])),
        "2 strata, few people": (two, crossed // 5),
    }
    for name, (rates, n) in layouts.items():
        yield Promise("Simpson said", name, partial(simpson, rates=rates, n=n), SLOW, most=0.05)
    gaps = {
        "3 strata, the smallest differs most": (np.array([[0.7, 0.5], [0.62, 0.5], [0.62, 0.5]]), [60, 5000, 5000]),
        "5 strata of 200, no gap": (np.full((5, 2), 0.4), [200] * 5),
        "6 strata of 1 to 3,000, no gap": (np.repeat(six[:, None], 3, axis=1), [1, 5, 12, 29, 300, 3000]),
        "8 strata of 100, gaps of .1": (np.array([[0.5, 0.4, 0.4]] * 8), [100] * 8),
        "4 strata of 30 to 3,000, rates of .05": (np.array([[0.05, 0.1]] * 4), [30, 100, 1000, 3000]),
    }
    for name, (rates, sizes) in gaps.items():
        n = np.repeat(np.array(sizes)[:, None], rates.shape[1], axis=1)
        for on in ("difference", "ratio"):
            ends: dict[str, dict[str, Any]] = {"strata hold the largest": {"what": "holds", "least": 0.94}}
            if np.ptp(rates, axis=1).any():
                ends["strata pass"] = {"what": "far", "most": 0.05}
            else:
                ends["strata fail"] = {"what": "near", "most": 0.055}
            for kind, bars in ends.items():
                count = partial(over_strata, rates=rates, n=n, on=on, what=bars.pop("what"))
                yield Promise(kind, f"{name}, {on}", count, SLOW // 2, **bars)


def of_sample_sizes() -> Iterator[Promise]:
    for groups in (2, 5, 10, 20):
        flat = np.full(groups, 0.3)
        settings: dict[str, tuple[Floats, Floats, str, float]] = {
            "no gap, 60 each": (flat, np.full(groups, 60.0), "difference", 0.1),
            "no gap, 30 to 1,000": (flat, np.geomspace(30, 1000, groups), "difference", 0.1),
            "no gap, one of 30 beside 2,000": (flat, np.r_[30.0, np.full(groups - 1, 2000.0)], "difference", 0.1),
            "no gap, rates of .03": (np.full(groups, 0.03), np.full(groups, 60.0), "difference", 0.05),
            "rising .30 to .35": (np.linspace(0.3, 0.35, groups), np.full(groups, 60.0), "difference", 0.1),
            "rising .2 to .5": (np.linspace(0.2, 0.5, groups), np.full(groups, 40.0), "difference", 0.1),
            "half .2, half .35": (np.where(np.arange(groups) % 2, 0.2, 0.35), np.full(groups, 60.0), "difference", 0.1),
            "no gap, ratio": (np.full(groups, 0.5), np.full(groups, 60.0), "ratio", 0.8),
            "rising .3 to .5, ratio": (np.linspace(0.3, 0.5, groups), np.full(groups, 60.0), "ratio", 0.8),
        }
        for name, (rates, n, on, threshold) in settings.items():
            how = {"rates": rates, "n": n, "on": on, "threshold": threshold}
            count, first = partial(from_truth, **how), partial(from_pilot, **how)
            yield Promise("rows to settle", f"{groups} groups, {name}", count, MANY, least=0.75, most=0.9)
            yield Promise("  from a first sample", f"{groups} groups, {name}", first, MANY)
    for rate in (0.02, 0.05, 0.1, 0.3, 0.5):
        for sizes in ((50, 50), (400, 400), (5000, 5000), (2000, 60)):
            for groups in (2, 10):
                name = f"rate {rate:g}, {sizes[0]:,} and {sizes[1]:,} people, {groups} groups"
                count = partial(detected, rate=rate, sizes=sizes, groups=groups)
                yield Promise("detectable gap found", name, count, MANY, least=0.75, most=0.9)


def of_p_values() -> Iterator[Promise]:
    def promise(test: str, setting: str, count: Sample, samples: int = MANY) -> Promise:
        return Promise("p-value at most .05", f"{test}: {setting}", count, samples, most=0.06)

    layouts = (
        (30, 30),
        (100, 100),
        (30, 2000),
        (28, 100_000),
        (2000, 30, 30, 30, 30),
        (10,) * 20,
        (500, 500, 8),
        (200,) * 8,
    )
    for sizes in layouts:
        for rate in (0.02, 0.18, 0.45):
            yield promise("rates", f"{sizes}, {rate:g}", partial(equal_rates, rate=rate, sizes=sizes), MANY // 2)
    for sizes in ((30, 30), (1000, 20), (2000, 30, 30, 30, 30), (300, 300, 300)):
        for rate in (0.03, 0.3):
            yield promise("weighted", f"{sizes}, {rate:g}", partial(weighted_rates, rate=rate, sizes=sizes), MANY // 2)
    for sizes in ((100, 60, 40), (300, 10, 8), (500, 500, 200)):
        for shares in ((0.6, 0.25, 0.15), (0.5, 0.3, 0.1, 0.05, 0.05)):
            count = partial(equal_classes, shares=shares, sizes=sizes)
            yield promise("classes", f"{sizes}, {len(shares)} classes", count, MANY // 2)
    for metric, law in (("mean_score_parity", "skewed"), ("auc_parity", "even"), ("brier_score_parity", "even"),
                        ("brier_score_parity", "skewed"), ("root_mean_squared_error_parity", "lognormal")):  # fmt: skip
        for sizes in ((10,) * 20, (500, 500, 1), (40,) * 8, (2000, 30)):
            count = partial(equal_scores, metric=metric, sizes=sizes, law=law)
            yield promise(f"{metric}, {law}", f"{sizes}", count, SLOW // 2)
    for sizes in ((200, 200), (1000, 30, 30, 20)):
        yield promise("equalized odds", f"{sizes}", partial(two_rates, rates=(0.6, 0.1), sizes=sizes), MANY // 4)
    for strata, sizes in ((5, (100, 100)), (30, (5, 5)), (8, (200, 10)), (6, (50, 40, 30, 10))):
        n = np.repeat(np.array([sizes]), strata, axis=0)
        rates = np.linspace(0.1, 0.5, strata)
        yield promise("Mantel-Haenszel", f"{strata} strata of {sizes}", partial(in_strata, rates=rates, n=n))
    for strata, sizes, rate, odds in ((50, (4, 4), 0.4, 1.0), (10, (10, 10), 0.3, 3.0), (6, (200, 10), 0.1, 1.0),
                                      (5, (100, 100), 0.3, 2.0), (3, (6, 40), 0.4, 2.0)):  # fmt: skip
        n = np.repeat(np.array([sizes]), strata, axis=0)
        count = partial(one_odds_ratio, rate=rate, odds=odds, n=n)
        yield promise("Breslow-Day", f"{strata} strata of {sizes}, odds ratio {odds:g}", count, MANY // 2)


# --- the table


def run(promise: Promise, again: int = 0) -> Outcome:
    random = np.random.default_rng([SEED, zlib.crc32(f"{promise.kind} {promise.setting}".encode()), again])
    outcome = Outcome(promise, promise.count(random, promise.samples), promise.samples)
    if not again and outcome.near:
        return run(replace(promise, samples=10 * promise.samples), again=1)
    return outcome


def bar(promise: Promise) -> str:
    low, high = (None if each is None else f"{100 * each:g} %" for each in (promise.least, promise.most))
    if low and high:
        return f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("kinds", nargs="*", help="only lines whose kind contains one of these words")
    chosen = parser.parse_args()
    part = 10 if chosen.quick else 1
    every = [replace(each, samples=max(each.samples // part, 40)) for each in promises()]
    every = [each for each in every if not chosen.kinds or any(word in each.kind for word in chosen.kinds)]
    start, missed = time.perf_counter(), 0
    print(f"{'what':24} {'setting':66} {'share':>7}  {'samples':>7}  bar")
    with ProcessPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for outcome in pool.map(run, every):
            missed += outcome.missed
            promise, mark = outcome.promise, "  MISS" if outcome.missed else ""
            figures = f"{outcome.share:7.1%}  {outcome.samples:7,}"
            print(f"{promise.kind:24} {promise.setting:66} {figures}  {bar(promise)}{mark}")
    judged = sum(each.least is not None or each.most is not None for each in every)
    print(f"{judged} bars, {missed} missed; {time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
