"""How often the robust outcome test raises a false alarm, and how often it finds unequal thresholds.

    python benchmarks/outcome_test.py [--samples 1000]

Everyone has a risk, the chance of a positive outcome, from a Beta distribution of their group. Whoever's risk reaches
the threshold is selected, and outcomes are known of the selected only. With one threshold for both groups and risks
whose likelihood ratio is monotone (Beta(a, b) and Beta(a', b') with a' >= a and b' <= b), an alarm is false: at most
5 % are allowed. A setting within one point of that bar, or above it, is run again with ten times the samples. It misses
the bar where the one-sided 99.9 % binomial limit of its share lies above 5 %; then the exit code is 1. Risks that break
the assumption, and unequal thresholds, are printed without a bar.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import beta as beta_law
from scipy.stats import binom

from evenhand.inference.outcome_test import Rates, outcome_test

BAR, NEAR = 0.05, 0.04
Law = tuple[tuple[float, float, float], ...]
"""A mixture of Beta distributions: the share, a and b of each."""


def beta(a: float, b: float) -> Law:
    return ((1.0, a, b),)


def chances(law: Law, threshold: float) -> tuple[float, float]:
    """The chance of being selected, and of a positive outcome once selected."""
    above = sum(share * beta_law.sf(threshold, a, b) for share, a, b in law)
    # E[p; p >= t] of Beta(a, b) is its mean times P(Beta(a + 1, b) >= t).
    positive = sum(share * a / (a + b) * beta_law.sf(threshold, a + 1, b) for share, a, b in law)
    return float(above), float(positive / above)


Setting = tuple[str, list[Law], list[float], list[int]]
"""Name, risks, thresholds and people of each group."""


def one_threshold() -> list[Setting]:
    pairs = [((2, 2), (2, 2)), ((2, 2), (4, 2)), ((1, 3), (3, 1)), ((0.5, 0.5), (1, 0.5)), ((2, 6), (3, 6)),
             ((5, 1), (6, 1)), ((2, 3), (2, 2.8)), ((1, 9), (1.2, 9))]  # fmt: skip
    sizes = [[60, 60], [300, 300], [5000, 5000], [40, 4000], [4000, 40]]
    found: list[Setting] = []
    for (lower, higher), people in ((pair, size) for pair in pairs for size in sizes):
        for threshold in (0.2, 0.5, 0.8):
            risks = [beta(*lower), beta(*higher)]
            if min(chances(law, threshold)[0] * n for law, n in zip(risks, people, strict=True)) >= 0.5:
                found.append((f"Beta{lower} Beta{higher}", risks, [threshold] * 2, people))
    for count in (5, 12):
        risks = [beta(2 + i / 4, 3 - i / 8) for i in range(count)]
        found.append((f"{count} groups, rising", risks, [0.5] * count, [400] * count))
        found.append((f"{count} groups, alike", [beta(2, 2)] * count, [0.5] * count, [100] * count))
    return found


def broken() -> list[Setting]:
    """One threshold, and risks whose likelihood ratio is not monotone."""
    narrow, wide = beta(20, 20), beta(1, 1)
    mixed: Law = ((0.5, 1, 20), (0.5, 20, 1))
    return [
        ("narrow and wide, bar at .4", [narrow, wide], [0.4, 0.4], [2000, 2000]),
        ("narrow and wide, bar at .6", [narrow, wide], [0.6, 0.6], [2000, 2000]),
        ("two camps and wide", [mixed, wide], [0.4, 0.4], [2000, 2000]),
    ]


def unequal() -> list[Setting]:
    return [
        (f"Beta(2, 3) twice, bars .5 and {bar}", [beta(2, 3)] * 2, [0.5, bar], [people, people])
        for bar in (0.55, 0.6, 0.7)
        for people in (500, 2000, 10_000)
    ] + [("Beta(2, 3) bar .6, Beta(3, 3) bar .5", [beta(2, 3), beta(3, 3)], [0.6, 0.5], [5000, 5000])]


def alarms(setting: Setting, samples: int, random: np.random.Generator) -> int:
    _, risks, thresholds, people = setting
    odds = np.array([chances(law, bar) for law, bar in zip(risks, thresholds, strict=True)]).T
    n = np.array(people)
    found = 0
    for _ in range(samples):
        selected = random.binomial(n, odds[0])
        positive = random.binomial(selected, odds[1])
        test = outcome_test(
            *(Rates(k[None].astype(float), m[None].astype(float)) for k, m in ((selected, n), (positive, selected))),
            0.95,
        )
        found += bool((test.low > 0).any())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    random = np.random.default_rng(2025)
    missed = 0
    kinds: list[tuple[str, Callable[[], list[Setting]], bool]] = [
        ("one threshold", one_threshold, True),
        ("assumption broken", broken, False),
        ("unequal thresholds", unequal, False),
    ]
    print(f"| kind | risks | people | threshold | alarms of {samples:,} |\n| --- | --- | --- | --- | ---: |")
    for kind, make, judged in kinds:
        for setting in make():
            many, found = samples, alarms(setting, samples, random)
            if judged and found > NEAR * many:
                many, found = 10 * samples, alarms(setting, 10 * samples, random)
            miss = judged and binom.sf(found - 1, many, BAR) < 0.001
            missed += miss
            name, _, bars, people = setting
            shown = "/".join(map(str, dict.fromkeys(people))), "/".join(map(str, dict.fromkeys(bars)))
            print(f"| {kind} | {name} | {shown[0]} | {shown[1]} | {found / many:.1%}{' MISSED' if miss else ''} |")
    print(f"{missed} settings above the bar of {BAR:.0%}.")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
