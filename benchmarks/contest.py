"""How often does the paired interval of a change hold the true one, and how wide is it?

    python benchmarks/contest.py            all of it, about six minutes on two cores
    python benchmarks/contest.py --quick    a tenth of the simulations

Two models decide about the same people: they agree in 50 to 99 %, or err on opposite people as far as their rates
allow. Everybody has a label; the groups have fixed sizes, so that the denominators of true positive rates and of
precisions are random.

The bars, at 95 % confidence:
- The interval of the change of a gap, and of the change of a measure of a group, holds the truth in at least 94 %.
- Where at least 50 people of a group flip on average among those that a rate counts, the mean width of the interval of
  its change is at most 1.05 × that of ± 1.96 standard errors from the true paired variance. With fewer flips it is
  shown without a bar: Tango's interval never has width 0.

A setting misses its bar only where the one-sided 99.9 % binomial limit lies beyond it; one whose limits leave its bar
open is run again with another seed and ten times the samples. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from coverage import limits

from evenhand.cube.joint import Joint
from evenhand.inference.paired_gap import Gaps, change_of_gap
from evenhand.measures.cells import MEASURES, evaluate, spread
from evenhand.measures.paired import cells_of, paired_rates

SEED, SAMPLES, MOVES = 20261117, 300, 4000
COVERAGE, WIDTH, FLIPS, Z = 0.94, 1.05, 50, 1.959963985
AGREEMENTS = (0.0, 0.5, 0.7, 0.9, 0.99)  # 0: as little as the rates allow, so that models err on opposite people

Rates = tuple[float, float]
"""The true and the false positive rate of a model in a group."""


@dataclass(frozen=True)
class Setting:
    """Groups with their sizes and shares of positive labels, what both models do to them, and what is measured."""

    title: str
    sizes: tuple[int, ...]
    positive: tuple[float, ...]
    before: tuple[Rates, ...]
    after: tuple[Rates, ...]
    measures: tuple[str, ...]
    agreement: float
    ratio: bool = False

    @property
    def shares(self) -> np.ndarray:
        """The probability of each cell, [groups, label, before, after]."""
        cells = np.zeros((len(self.sizes), 3, 2, 2))
        for g, share in enumerate(self.positive):
            for label, mass in ((0, 1 - share), (1, share)):
                old, new = self.before[g][1 - label], self.after[g][1 - label]
                both = np.clip((self.agreement - 1 + old + new) / 2, max(0.0, old + new - 1), min(old, new))
                found = np.array([[1 - old - new + both, new - both], [old - both, both]])
                cells[g, label] = mass * np.maximum(found, 0.0)  # which rounding may have made less than 0
        return cells

    @property
    def rows(self) -> list:
        return [MEASURES[name] for name in self.measures]

    def joint(self, cells: np.ndarray) -> Joint:
        return Joint(("g",), tuple((str(g),) for g in range(len(cells))), cells)


def settings() -> Iterator[Setting]:
    """Two groups in a sure order, a gap that closes, no gap, and up to six groups; then one group for its moves."""
    half, even = (0.5, 0.5), ((0.8, 0.2),) * 2
    tpr, fpr = ("true_positive_rate",), ("true_positive_rate", "false_positive_rate")
    select, precise = ("selection_rate",), ("positive_predictive_value",)
    apart, closer = ((0.8, 0.4), (0.6, 0.1)), ((0.78, 0.35), (0.7, 0.15))
    six = ((0.8, 0.2), (0.7, 0.2), (0.75, 0.3), (0.6, 0.1), (0.7, 0.2), (0.7, 0.2))
    later = ((0.75, 0.2), (0.7, 0.25), (0.75, 0.25), (0.7, 0.2), (0.65, 0.2), (0.75, 0.2))
    share = (0.4, 0.5, 0.3, 0.5, 0.4, 0.4)
    for agreement in AGREEMENTS:
        yield Setting("sure order", (800, 800), half, apart, apart, select, agreement)
        yield Setting("gap closes", (400, 1200), half, apart, closer, select, agreement)
        yield Setting("no gap", (300, 300), half, even, even, tpr, agreement)
        yield Setting("equalized odds", (500, 300), (0.4, 0.5), apart, closer, fpr, agreement)
        yield Setting("precision", (500, 500), (0.3, 0.5), apart, closer, precise, agreement)
        yield Setting("ratio", (600, 400), half, apart, closer, select, agreement, ratio=True)
        yield Setting("six groups", (300, 200, 150, 400, 250, 300), share, six, later, select, agreement)


def true_gap(setting: Setting, after: bool) -> float:
    """The gap of one model in everybody, of whom the samples are."""
    cells = cells_of(setting.joint(setting.shares * 1e12), after)
    values = np.stack(list(evaluate(cells, setting.rows).values()))
    low, high = values.min(axis=1), values.max(axis=1)
    return float((low / high).min() if setting.ratio else (high - low).max())


def sampled_gap(setting: Setting, cells: np.ndarray) -> tuple[float, float]:
    joint = setting.joint(cells)
    sides = [cells_of(joint, after) for after in (False, True)]
    old, new = ([spread(row, side) for row in setting.rows] for side in sides)
    pairs = np.broadcast_to(~np.eye(len(cells), dtype=bool), (len(setting.rows), len(cells), len(cells)))
    return change_of_gap(Gaps(paired_rates(setting.rows, joint), old, new, pairs, setting.ratio), 0.95)


def gap_errors(job: tuple[Setting, int, int]) -> tuple[int, float]:
    """How many of so many samples miss the change of the gap, and the mean width."""
    setting, samples, again = job
    random = np.random.default_rng([SEED, again, zlib.crc32(repr(setting).encode())])
    truth = true_gap(setting, True) - true_gap(setting, False)
    shares = setting.shares
    wrong, widths = 0, []
    for _ in range(samples):
        cells = np.stack(
            [random.multinomial(n, p.ravel()).reshape(p.shape) for n, p in zip(setting.sizes, shares, strict=True)]
        )
        low, high = sampled_gap(setting, cells)
        wrong += not low - 1e-12 <= truth <= high + 1e-12
        widths.append(min(high, 1) - max(low, -1))
    return wrong, float(np.mean(widths))


def moves(people: int, agreement: float, again: int, samples: int) -> Iterator[tuple[str, int, float, float]]:
    """Of each measure of one group: how many samples miss its change, width against the oracle, flips on average."""
    rows = [row for row in MEASURES.values() if row.name in MOVED]
    setting = Setting("one group", (people,), (0.4,), ((0.7, 0.2),), ((0.75, 0.25),), MOVED, agreement)
    random = np.random.default_rng([SEED, again, people, int(1000 * agreement)])
    cells = random.multinomial(people, setting.shares[0].ravel(), samples).reshape(samples, 3, 2, 2)
    rates = paired_rates(rows, setting.joint(cells))  # each sample is a group of its own
    places = np.indices(rates.before.shape).reshape(2, -1)
    down, up = (part.reshape(rates.before.shape) for part in rates.reach(*places, Z))
    change = rates.after - rates.before
    whole = paired_rates(rows, setting.joint(setting.shares * 1e9)).moves
    flips = people * setting.shares[0][:, [0, 1], [1, 0]].sum(axis=1)
    for i, row in enumerate(rows):
        truth, error = float(whole.change[i, 0]), float(np.sqrt(whole.variance()[i, 0] * 1e9 / people))
        inside = (change[i] - down[i] <= truth + 1e-12) & (truth - 1e-12 <= change[i] + up[i])
        seen = flips[1] if row.name == "true_positive_rate" else flips[0] if "false" in row.name else flips.sum()
        yield row.name, int((~inside).sum()), float(np.nanmean(down[i] + up[i]) / (2 * Z * error)), float(seen)


MOVED = ("selection_rate", "accuracy", "true_positive_rate", "false_positive_rate", "positive_predictive_value", "f1",
         "balanced_accuracy")  # fmt: skip


def is_missed(wrong: int, samples: int) -> bool:
    return limits(wrong / samples, samples, exact=False)[0] > 1 - COVERAGE


def is_open(wrong: int, samples: int) -> bool:
    low, high = limits(wrong / samples, samples, exact=False)
    return low <= 1 - COVERAGE < high


def report_gaps(scale: float) -> bool:
    """Measure and print the changes of gaps; whether a bar is missed."""
    samples = int(SAMPLES * scale)
    every = list(settings())
    with ProcessPoolExecutor() as pool:
        found = dict(zip(every, pool.map(gap_errors, [(each, samples, 0) for each in every]), strict=True))
        again = [each for each in every if is_open(found[each][0], samples)]
        more = dict(zip(again, pool.map(gap_errors, [(each, 10 * samples, 1) for each in again]), strict=True))
    print(f"{len(again)} of {len(every)} settings were run again, with another seed and ten times the samples")
    print(f"{'change of a gap':<16} {'agreement':>9} {'samples':>8} {'covers, %':>9} {'width':>7}")
    missed = False
    for each in every:
        (wrong, width), many = (more[each], 10 * samples) if each in more else (found[each], samples)
        bad = is_missed(wrong, many)
        missed |= bad
        agreed = "opposite" if each.agreement == 0 else f"{each.agreement:.0%}"
        print(f"{each.title:<16} {agreed:>9} {many:>8,} {100 * (1 - wrong / many):>9.1f} {width:>7.3f}{' MISS' * bad}")
    return missed


def report_moves(scale: float) -> bool:
    """Measure and print the changes of measures of one group; whether a bar is missed."""
    titles = ("people", "agreement", "flips", "covers, %", "width/oracle")
    print(f"\n{'change of a measure':<26} {titles[0]:>6} {titles[1]:>9} {titles[2]:>6} {titles[3]:>9} {titles[4]:>12}")
    missed = False
    for people in (100, 400, 2000):
        for agreement in AGREEMENTS:
            samples = int(MOVES * scale)
            lines = list(moves(people, agreement, 0, samples))
            if any(is_open(wrong, samples) for _, wrong, _, _ in lines):
                samples *= 10
                lines = list(moves(people, agreement, 1, samples))
            for name, wrong, width, flips in lines:
                bad = is_missed(wrong, samples) or (flips >= FLIPS and width > WIDTH)
                missed |= bad
                agreed = "opposite" if agreement == 0 else f"{agreement:.0%}"
                share = 100 * (1 - wrong / samples)
                print(f"{name:<26} {people:>6} {agreed:>9} {flips:>6.0f} {share:>9.1f} {width:>12.3f}{' MISS' * bad}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    scale = 0.1 if parser.parse_args().quick else 1.0
    begun = time.perf_counter()
    missed = report_moves(scale) | report_gaps(scale)
    print(f"{'MISS' if missed else 'PASS'}: {time.perf_counter() - begun:.0f} seconds")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
