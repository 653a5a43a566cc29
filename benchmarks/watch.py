"""How often watching a metric every day cries wolf, how soon it notices a gap, and what adding a year of days costs.

    python benchmarks/watch.py          all bars
    python benchmarks/watch.py a c      only these

(a) Under the null, at most 5 % of 1,000 simulated years of 365 days ever raise an alarm: with no gap, and with a gap of
    exactly the threshold, in several rates, sizes of groups and numbers of groups, as a difference and as a ratio.
(b) With a gap of .2 against a threshold of .1 and 1,000 decisions a day, the median alarm comes within 10 days.
(c) Adding 365 daily cubes of 200 groups, with bins of a score, from their files: under 2 s.

Counts of each day are drawn and given to the mathematics that `eh.trend` uses; one year is also given to `eh.trend`
itself, which must find the same e-values. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import itertools
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import evenhand as eh
from evenhand.inference.betting import Pool, wagers

SEED = 20230529
YEARS, DAYS = 1000, 365
LEVEL = 0.05
BARS = {"a": 0.05, "b": 10.0, "c": 2.0}

# Rates of the groups, decisions a day by group, what is judged, the threshold.
NULLS = {
    "no gap": ((0.4, 0.4), (500, 500), "difference", 0.1),
    "no gap, threshold 0": ((0.4, 0.4), (500, 500), "difference", 0.0),
    "gap at the threshold": ((0.5, 0.4), (500, 500), "difference", 0.1),
    "at the threshold, unequal groups": ((0.2, 0.1), (950, 50), "difference", 0.1),
    "at the threshold, extreme rates": ((1.0, 0.9), (300, 700), "difference", 0.1),
    "at the threshold, five people a day": ((0.5, 0.4), (3, 2), "difference", 0.1),
    "five groups at the threshold": ((0.5, 0.4, 0.5, 0.4, 0.45), (200,) * 5, "difference", 0.1),
    "ratio at the threshold": ((0.4, 0.32), (500, 500), "ratio", 0.8),
    "rare, ratio at the threshold": ((0.01, 0.008), (5000, 5000), "ratio", 0.8),
}
GAPS = {
    "rates .5 and .3, 500 each": ((0.5, 0.3), (500, 500)),
    "rates .5 and .3, 800 and 200": ((0.5, 0.3), (800, 200)),
    "rates .3 and .1, 950 and 50": ((0.3, 0.1), (950, 50)),
    "the gap opens on day 200": ((0.5, 0.3), (500, 500)),
}


def counts(rates: tuple[float, ...], sizes: tuple[int, ...], opens: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """k of n by [day, year, group]; before the day on which a gap opens everybody has the first rate."""
    random = np.random.default_rng(SEED)
    n = random.poisson(sizes, (DAYS, YEARS, len(sizes)))
    k = random.binomial(n, rates)
    if opens:
        k[:opens] = random.binomial(n[:opens], rates[0])
    return k, n


def alarms(k: np.ndarray, n: np.ndarray, judged_on: str, limit: float) -> np.ndarray:
    """The day of the first alarm in each year; infinite where there is none."""
    groups = k.shape[2]
    pairs = np.array(list(itertools.permutations(range(groups), 2)))
    first, second = ((np.arange(YEARS)[:, None] * groups + pairs[:, i]).reshape(-1) for i in (0, 1))
    share, shift = (limit, 0.0) if judged_on == "ratio" else (1.0, limit)
    found = np.full(YEARS, np.inf)
    flat_k, flat_n = k.reshape(DAYS, -1), n.reshape(DAYS, -1)
    for day, money in enumerate(wagers(flat_k, flat_n, first, second, share, shift), 1):
        mean = np.logaddexp.reduce(money.reshape(YEARS, -1), axis=1) - np.log(len(pairs))
        found[(mean >= -np.log(LEVEL)) & np.isinf(found)] = day
    return found


def same_as_trend() -> bool:
    """Does `eh.trend` find the e-values of one simulated month?"""
    k, n = counts((0.5, 0.35, 0.45), (100, 60, 30))
    k, n = k[:30, 0], n[:30, 0]
    cubes = {}
    for day in range(30):
        rows = [(group, made) for group in range(3) for made in (0, 1)]
        people = [int(k[day, group] if made else n[day, group] - k[day, group]) for group, made in rows]
        table = {"group": [f"g{group}" for group, _ in rows], "made": [made for _, made in rows], "people": people}
        cubes[f"day {day}"] = eh.Cube.count(table, prediction="made", sensitive="group", count="people")
    told = [point.e_value for point in eh.trend(cubes).series[0].points]
    pairs = np.array(list(itertools.permutations(range(3), 2)))
    pool, expected = Pool(len(pairs)), []
    known = np.ones(len(pairs), dtype=bool)
    for money in wagers(k, n, pairs[:, 0], pairs[:, 1], 1.0, 0.1):
        expected.append(np.exp(pool.after(money, known)))
    return np.allclose(told, expected, rtol=1e-9)


def adding(folder: Path, bins: int) -> float:
    """Seconds to add a year of days from their files; the median of three."""
    random = np.random.default_rng(SEED)
    names = np.array([f"group {i}" for i in range(200)])
    for day in range(DAYS):
        table = {
            "group": names[random.integers(0, 200, 5000)],
            "made": random.integers(0, 2, 5000),
            "happened": random.integers(0, 2, 5000),
            "score": random.integers(0, bins, 5000) / bins,
        }
        cube = eh.Cube.count(table, label="happened", prediction="made", score="score", sensitive="group")
        cube.save(folder / f"day-{day:03}.cube")
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        total = eh.Cube.merge(str(folder / "day-*.cube"))
        seconds.append(time.perf_counter() - start)
        if total.size != 5000 * DAYS:
            raise SystemExit("people were lost")
    return statistics.median(seconds)


def told(bar: str, passed: bool, text: str) -> bool:
    print(f"({bar}) {'PASS' if passed else 'MISS'}  {text}", flush=True)
    return passed


def main(wanted: list[str]) -> int:
    chosen = wanted or list(BARS)
    print(f"evenhand {eh.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    passed = []
    if "a" in chosen:
        for name, (rates, sizes, judged_on, limit) in NULLS.items():
            share = float(np.isfinite(alarms(*counts(rates, sizes), judged_on, limit)).mean())
            text = f"{name}: {share:.1%} of {YEARS:,} years ever raise an alarm (bar {BARS['a']:.0%})"
            passed.append(told("a", share <= BARS["a"], text))
        passed.append(told("a", same_as_trend(), "eh.trend finds the same e-values"))
    if "b" in chosen:
        for name, (rates, sizes) in GAPS.items():
            opens = 200 if "opens" in name else 0
            days = alarms(*counts(rates, sizes, opens), "difference", 0.1) - opens
            early = f", {(days <= 0).mean():.1%} before" if opens else ""
            median, late = (float(np.quantile(days, share, method="higher")) for share in (0.5, 0.9))
            text = f"{name}: alarm after {median:g} days in the median, {late:g} in nine of ten years{early}"
            passed.append(told("b", median <= BARS["b"], f"{text} (bar {BARS['b']:g})"))
    if "c" in chosen:
        for bins in (10, 100):
            with tempfile.TemporaryDirectory() as folder:
                seconds = adding(Path(folder), bins)
            text = f"365 cubes of 200 groups and {bins} values of a score: {seconds:.2f} s (bar {BARS['c']:g} s)"
            passed.append(told("c", seconds < BARS["c"], text))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
