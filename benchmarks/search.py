"""Subgroup search: false alarms, wrong certificates, planted groups beside slice search by tree and by beam, and cost.

    python benchmarks/search.py               everything: about 45 minutes
    python benchmarks/search.py null          one part: null, certified, planted, calibration, means or cost
    python benchmarks/search.py null 20       a share of the samples, in percent, and nothing is run again

Null: nobody differs, and the threshold is 0, so that any flag is a false alarm. Certified: effects of values and of
pairs, and a threshold that half of the true gaps exceed; a certificate is wrong where the true gap lies beyond it, a
flag where it lies within. Planted: one group of one, two or three columns is selected more often, all others are alike.
A bar is missed only where the one-sided 99.9 % binomial limit excludes it; a setting within a point of its bar is run
again with new seeds and ten times the samples (with 10^4 groups three times). Exits 1 when a bar is missed.
"""

from __future__ import annotations

import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from running import at_most, call, check, conclude, machine, start
from scipy import stats

import evenhand as eh
from evenhand.subgroups.asked import questions, settle
from evenhand.subgroups.conjunctions import Conjunctions, Profiles, conjunctions
from evenhand.subgroups.gaps import Gaps, Judged, common_deviate

Floats = npt.NDArray[np.float64]
DRAWS = 199
KEPT: list[eh.Cube] = []  # so that no other object takes their place in memory
BAR, CERTIFIED = 0.055, 0.05


# --- samples


@dataclass(frozen=True)
class Population:
    """Profiles of people with a share and a rate each."""

    values: tuple[int, ...]
    shares: Floats
    rates: Floats

    @classmethod
    def of(cls, values: Sequence[int], rate: float, seed: int, *, spread: float = 0.0) -> Population:
        """Columns of uneven values; with `spread`, effects of values and of pairs of values on the rate."""
        random = np.random.default_rng(seed)
        columns = [random.dirichlet(np.full(count, 4.0)) for count in values]
        shares = np.ones(1)
        for column in columns:
            shares = np.multiply.outer(shares, column)
        shares = shares.reshape(values)
        effect = np.zeros(values)
        for size in (1, 2):
            for chosen in itertools.combinations(range(len(values)), size):
                shape = [count if j in chosen else 1 for j, count in enumerate(values)]
                effect = effect + spread * random.normal(size=shape)
        return cls(tuple(values), shares.ravel() / shares.sum(), np.clip(rate + effect, 0.01, 0.99).ravel())

    @property
    def codes(self) -> npt.NDArray[np.intp]:
        return np.stack(np.unravel_index(np.arange(len(self.shares)), self.values), axis=1)

    def planted(self, depth: int, gap: float) -> Population:
        """The same with a gap for the people of one conjunction: the most frequent value of each of some columns."""
        return replace(self, rates=np.where(self.inside(depth), self.rates + gap, self.rates))

    def inside(self, depth: int) -> npt.NDArray[np.bool_]:
        codes = self.codes
        chosen = np.ones(len(codes), dtype=bool)
        for j in range(depth):
            most = np.bincount(codes[:, j], weights=self.shares).argmax()
            chosen &= codes[:, j] == most
        return chosen

    def cube(self) -> eh.Cube:
        """A cube with every profile, whose counts samples replace."""
        codes = self.codes
        columns = {f"c{j}": [f"{value:03d}" for value in codes[:, j]] for j in range(len(self.values))}
        both = {name: values * 2 for name, values in columns.items()}
        selected = [0] * len(codes) + [1] * len(codes)
        cube = eh.Cube.count({**both, "selected": selected}, prediction="selected", sensitive=list(columns))
        KEPT.append(cube)
        PROFILES[id(cube.pairs)] = Profiles.of(cube)
        return cube

    def sample(self, cube: eh.Cube, people: int, random: np.random.Generator) -> eh.Cube:
        """The cube of so many people."""
        n = random.multinomial(people, self.shares)
        k = random.binomial(n, self.rates)
        counts = np.zeros_like(cube.n)
        counts[:, 2, 1], counts[:, 2, 0] = k, n - k
        return replace(cube, n=counts)


PROFILES: dict[int, Profiles] = {}
"""Those of a population, which are read once for all its samples; by the place of the pairs in memory."""


def judged(cube: eh.Cube, metric: str, threshold: float, least: int, seed: int, depth: int = 3) -> list[Judged]:
    """What eh.search() judges, for every group."""
    profiles = PROFILES.get(id(cube.pairs)) or Profiles.of(cube)
    people = cube.n.reshape(len(cube.pairs), -1).sum(axis=1)
    groups = conjunctions(replace(profiles, people=people), depth, least)
    asked = settle(metric, cube, eh.Policy())
    against: Any = "score" if asked.binned else "rest"
    every = [Gaps.of(groups, question, against, least) for question in questions(asked, cube)]
    deviate, _ = common_deviate(every, 0.95, DRAWS, seed)
    return [Judged(gaps, *gaps.ends(deviate), threshold) for gaps in every]


def flags(every: Sequence[Judged]) -> int:
    return sum(int(each.flagged.sum()) for each in every)


def gaps_of(every: Sequence[Judged]) -> int:
    return sum(len(each.gaps.which) for each in every)


QUICK = any(word.isdecimal() for word in sys.argv[1:])


def within_bar(name: str, bar: float, share_of: Callable[[int, int], int], runs: int, again: int = 10) -> bool:
    """Whether a share of samples stays within a bar; `share_of` counts bad samples of so many, from a first seed."""
    bad = share_of(runs, 0)
    if bad / runs > bar - 0.01 and not QUICK:
        runs *= again
        bad = share_of(runs, 10**6)
    least = stats.beta.ppf(0.001, bad, runs - bad + 1) if bad else 0.0
    return check(f"{name}: {bad} of {runs:,} = {bad / runs:.1%}, bar {bar:.1%}", least <= bar)


# --- false alarms

NULL = (
    # values of the columns, people, rate, least
    ((15, 15, 15, 15), 600_000, 0.3, 100, 200),
    ((4, 4, 4, 4), 5_000, 0.3, 100, 1000),
    ((3, 5, 2, 6), 3_000, 0.03, 50, 1000),
    ((10, 10, 8), 50_000, 0.5, 30, 1000),
    ((2, 2, 2, 2, 2, 2, 2), 4_000, 0.1, 100, 1000),
)


def null(share: float) -> list[bool]:
    print("False alarms where nobody differs, threshold 0\n")
    met = []
    for values, people, rate, least, runs in NULL:
        population = Population.of(values, rate, 1)
        cube = population.cube()
        seen = {}

        def alarms(runs: int, first: int, population=population, cube=cube, people=people, least=least, seen=seen):
            bad = 0
            for seed in range(first, first + runs):
                sample = population.sample(cube, people, np.random.default_rng([7, seed]))
                every = judged(sample, "selection_rate", 0.0, least, seed)
                seen["groups"] = gaps_of(every)
                bad += flags(every) > 0
            return bad

        begun = time.process_time()
        large = len(cube.pairs) > 10_000
        count = max(20, int(runs * share))
        name = f"{values}, {people:,} people, rate {rate}"
        met.append(within_bar(name, BAR, alarms, count, again=3 if large else 10))
        print(f"      {seen['groups']:,} groups in the last sample, {time.process_time() - begun:.0f} s\n", flush=True)
    return met


# --- wrong certificates and wrong flags


def true_gaps(groups: Conjunctions, population: Population) -> Floats:
    """The gap of each conjunction from everyone else in the population itself."""
    mass = np.stack([population.shares, population.shares * population.rates], axis=1)
    mine = groups.rolled_up(mass)
    rest = mass.sum(axis=0) - mine
    return np.asarray(mine[:, 1] / mine[:, 0] - rest[:, 1] / rest[:, 0])


def effects(count: int, gap: float, rate: float) -> Population:
    """Columns of two values, independent of each other, between which the rate differs by the same gap."""
    shares = np.full(2**count, 0.5**count)
    codes = np.stack(np.unravel_index(np.arange(2**count), (2,) * count), axis=1)
    signs = np.where(np.arange(count) % 2, 1, -1)
    return Population((2,) * count, shares, rate + gap * ((codes - 0.5) * signs).sum(axis=1))


def certified(share: float) -> list[bool]:
    print("Certificates where the true gap lies beyond the threshold, and flags where it lies within\n")
    met = []
    settings = [
        (Population.of((4, 4, 4), 0.3, 2, spread=0.02), 60_000, 100, 3, None),
        (Population.of((6, 5, 4, 3), 0.1, 2, spread=0.02), 40_000, 100, 3, None),
        (Population.of((2, 3, 8), 0.04, 2, spread=0.02), 20_000, 50, 3, None),
        (Population.of((5, 5, 5, 5), 0.5, 2, spread=0.02), 200_000, 100, 3, None),
        (effects(8, 0.05, 0.5), 50_000, 100, 1, 0.05),  # every true gap is at the threshold itself
        (effects(6, 0.05, 0.3), 20_000, 100, 1, 0.05),
    ]
    for population, people, least, depth, at in settings:
        cube = population.cube()
        every = np.abs(true_gaps(conjunctions(Profiles.of(cube), depth, 0), population))
        limit = float(np.median(every)) if at is None else at
        sides = ("certified",) if at is not None else ("certified", "flagged")
        seen: dict[str, int] = {}

        def wrong(
            runs: int, first: int, which: str, limit=limit, population=population, cube=cube, people=people,
            least=least, depth=depth, seen=seen,
        ) -> int:  # fmt: skip
            bad = 0
            for seed in range(first, first + runs):
                sample = population.sample(cube, people, np.random.default_rng([8, seed]))
                (found,) = judged(sample, "selection_rate", limit, least, seed, depth)
                truth = np.abs(true_gaps(found.gaps.groups, population))[found.gaps.which]
                seen |= {"certified": int(found.certified.sum()), "flagged": int(found.flagged.sum())}
                seen["groups"] = len(truth)
                beyond = truth > limit - 1e-9
                bad += bool((found.certified & beyond if which == "certified" else found.flagged & ~beyond).any())
            return bad

        runs = max(20, int((400 if at is None else 2000) * share))
        for which in sides:
            name = f"{population.values}, {people:,} people, threshold {limit:.3f}: a group wrongly {which}"
            met.append(within_bar(name, CERTIFIED, lambda n, first, w=which, f=wrong: f(n, first, w), runs))
        print(f"      of {seen['groups']} groups {seen['certified']} certified, {seen['flagged']} flagged\n")
    return met


# --- planted groups, beside slice search by tree and by beam


def listed(cube: eh.Cube, seed: int) -> list[npt.NDArray[np.bool_]]:
    """The groups that a search lists, as the profiles of each."""
    (found,) = judged(cube, "selection_rate", 0.0, 100, seed)
    groups, chosen = found.gaps.groups, np.flatnonzero(found.flagged & found.says_more)
    order = chosen[np.argsort(-found.near[chosen], kind="stable")]
    return [members(groups, int(found.gaps.which[at])) for at in order]


def members(groups: Conjunctions, which: int) -> npt.NDArray[np.bool_]:
    at = int(groups.set_of[which])
    return np.asarray(groups.place(at) == which - groups.starts[at])


def welch(mine: Floats, others: Floats) -> float:
    """p of no difference between a slice and its counterpart, as slice finders test it; of people, Σx and Σx²."""
    if min(mine[0], others[0]) < 2:
        return 1.0
    error = sum(max(squares / n - (total / n) ** 2, 1e-12) / n for n, total, squares in (mine, others))
    return float(2 * stats.norm.sf(abs(mine[1] / mine[0] - others[1] / others[0]) / np.sqrt(error)))


def by_value(codes: Any, sums: Floats, inside: npt.NDArray[np.bool_], j: int) -> Floats:
    """The sums of the people inside by their value of one column."""
    return np.stack([np.bincount(codes[inside, j], weights=part[inside]) for part in sums.T], axis=1)


def by_tree(codes: Any, sums: Floats, depth: int = 3, least: int = 100) -> list[npt.NDArray[np.bool_]]:
    """Slice search by a tree: split on the value that lowers the squared deviations most (of a rate the Gini impurity);
    nodes that differ are slices. `sums` holds the people, Σx and Σx² of each profile."""
    whole = sums.sum(axis=0)
    found = []

    def impurity(sums: Floats) -> float:
        return float(sums[2] - sums[1] ** 2 / sums[0]) if sums[0] > 0 else 0.0

    def grow(inside: npt.NDArray[np.bool_], left: int) -> None:
        mine = sums[inside].sum(axis=0)
        best: tuple[float, npt.NDArray[np.bool_]] | None = None
        for j in range(codes.shape[1]) if left else ():
            parts = by_value(codes, sums, inside, j)
            for value in np.flatnonzero((parts[:, 0] >= least) & (mine[0] - parts[:, 0] >= least)):
                gain = impurity(mine) - impurity(parts[value]) - impurity(mine - parts[value])
                if best is None or gain > best[0]:
                    best = gain, inside & (codes[:, j] == value)
        if not inside.all() and welch(mine, whole - mine) < 0.05:
            found.append(inside)
        if best is None:
            return
        grow(best[1], left - 1)
        grow(inside & ~best[1], left - 1)

    grow(np.ones(len(sums), dtype=bool), depth)
    return found


def by_beam(codes: Any, sums: Floats, depth: int = 3, least: int = 100, width: int = 20) -> list[npt.NDArray[np.bool_]]:
    """Slice search by beam: conjunctions that differ most are combined further; those with p below 5 % are slices."""
    whole = sums.sum(axis=0)
    beam: list[tuple[float, tuple[tuple[int, int], ...], npt.NDArray[np.bool_]]] = [
        (0.0, (), np.ones(len(sums), dtype=bool))
    ]
    found: dict[tuple[tuple[int, int], ...], tuple[float, npt.NDArray[np.bool_]]] = {}
    for _ in range(depth):
        further: dict[tuple[tuple[int, int], ...], tuple[float, npt.NDArray[np.bool_]]] = {}
        for _, fixed, inside in beam:
            for j in range(codes.shape[1]):
                if j in dict(fixed):
                    continue
                parts = by_value(codes, sums, inside, j)
                for value in np.flatnonzero((parts[:, 0] >= least) & (whole[0] - parts[:, 0] >= least)):
                    key = tuple(sorted([*fixed, (j, int(value))]))
                    mine, others = parts[value], whole - parts[value]
                    size = abs(mine[1] / mine[0] - others[1] / others[0])
                    further.setdefault(key, (size, inside & (codes[:, j] == value)))
                    if welch(mine, others) < 0.05:
                        found.setdefault(key, further[key])
        ranked = sorted(further.items(), key=lambda item: -item[1][0])[:width]
        beam = [(size, key, inside) for key, (size, inside) in ranked]
    return [inside for _, inside in sorted(found.values(), key=lambda item: -item[0])]


def planted(share: float) -> list[bool]:
    print("Planted groups: 6 columns of 4 values, rate 0.3; found, found first, and slices reported\n")
    population = Population.of((4,) * 6, 0.3, 3)
    cube, codes = population.cube(), population.codes
    runs = max(10, int(100 * share))
    met = []
    print("      people  depth  in it   gap      search             tree               beam")
    rates: dict[tuple[int, float, int], float] = {}
    for people, (depth, gap) in itertools.product(
        (5_000, 20_000), [(0, 0.0), *itertools.product((1, 2, 3), (0.1, 0.15, 0.2))]
    ):
        whole = population.planted(depth, gap) if depth else population
        target = population.inside(depth)
        hits = {name: np.zeros(3) for name in ("search", "tree", "beam")}
        for seed in range(runs):
            sample = whole.sample(cube, people, np.random.default_rng([9, depth, int(100 * gap), people, seed]))
            k, n = sample.n[:, 2, 1].astype(float), sample.n[:, 2].sum(axis=1).astype(float)
            sums = np.stack([n, k, k], axis=1)
            every = {"search": listed(sample, seed), "tree": by_tree(codes, sums), "beam": by_beam(codes, sums)}
            for name, slices in every.items():
                same = [bool((each[n > 0] == target[n > 0]).all()) for each in slices]
                some = [any(same), bool(same and same[0])] if depth else [bool(slices), False]
                hits[name] += [*some, len(slices)]
        shown = [f"{a / runs:5.0%} {b / runs:5.0%} {c / runs:5.1f}" for a, b, c in hits.values()]
        size = int(people * population.shares[target].sum()) if depth else 0
        print(f"      {people:6,}  {depth:5}  {size:5,}  {gap:4}  {'  '.join(shown)}", flush=True)
        rates[depth, gap, people] = hits["search"][0] / runs
    print("\n      without a planted group, the first column is the share of samples with any slice at all\n")
    least = {(1, 0.1, 20_000): 0.95, (2, 0.1, 20_000): 0.95, (3, 0.1, 20_000): 0.9, (2, 0.15, 5_000): 0.8}
    for place, bar in least.items():
        said = f"depth {place[0]}, gap {place[1]}, {place[2]:,} people: found in {rates[place]:.0%}, at least {bar:.0%}"
        met.append(check(said, rates[place] >= bar - 0.1 * (share < 1)))
    return met


# --- calibration and means


def rows(people: int, random: np.random.Generator, values: Sequence[int]) -> dict[str, Any]:
    """People with a calibrated probability that depends on their values."""
    columns = {}
    for j, count in enumerate(values):
        columns[f"c{j}"] = random.choice(count, people, p=random.dirichlet(np.full(count, 4.0)))
    shift = 0.5 * (columns["c0"] - np.mean(columns["c0"])) / len(values)
    score = 1 / (1 + np.exp(-(random.normal(-0.8, 1.0, people) + shift)))
    found = {name: [f"v{value}" for value in column] for name, column in columns.items()}
    return {**found, "score": score, "label": (random.random(people) < score).astype(int)}


def calibration(share: float) -> list[bool]:
    print("Calibration: alarms where the score is calibrated (threshold 0), and a planted group that is not\n")
    met = [*_off_by_the_threshold(share)]
    for values, people, bins in (((4, 3, 5), 10_000, 10), ((3, 3), 2_000, 5), ((6, 6, 4), 40_000, 10)):
        seen = {}

        def alarms(runs: int, first: int, values=values, people=people, bins=bins, seen=seen) -> int:
            bad = 0
            for seed in range(first, first + runs):
                data = rows(people, np.random.default_rng([10, seed]), values)
                names = [name for name in data if name.startswith("c")]
                cube = eh.Cube.count(data, label="label", score="score", score_range=(0, 1), bins=bins, sensitive=names)
                every = judged(cube, "calibration", 0.0, 100, seed)
                seen["gaps"] = gaps_of(every)
                bad += flags(every) > 0
            return bad

        name = f"{values}, {people:,} people, {bins} bins"
        met.append(within_bar(name, BAR, alarms, max(20, int(200 * share)), again=5))
        print(f"      {seen['gaps']} groups and bins in the last sample\n", flush=True)
    runs = max(10, int(50 * share))
    for gap in (0.0, 0.1, 0.2):
        found = 0
        others = {"tree": np.zeros(2), "beam": np.zeros(2)}
        for seed in range(runs):
            random = np.random.default_rng([11, seed])
            data = rows(20_000, random, (4, 3, 5))
            inside = (np.array(data["c0"]) == "v1") & (np.array(data["c1"]) == "v1")
            data["label"] = (random.random(20_000) < np.clip(data["score"] + gap * inside, 0, 1)).astype(int)
            finding = eh.search(
                data, within=["c0", "c1", "c2"], label="label", score="score", metric="calibration", threshold=0.02,
                draws=DRAWS, bins=5, score_range=(0, 1),
            )  # fmt: skip
            names = [row.group for row in finding.rows]
            found += finding.verdict == "fail" and (not gap or ("c0 = v1, c1 = v1",) in names)
            codes, sums, target = residuals(data, inside)
            for name, slices in (("tree", by_tree(codes, sums)), ("beam", by_beam(codes, sums))):
                same = any(bool((each == target).all()) for each in slices)
                others[name] += [same if gap else bool(slices), len(slices)]
        told = f"a group of two columns {gap:g} off at every score: found in" if gap else "calibrated: any group in"
        shown = ", ".join(f"by {name} {a / runs:.0%} ({b / runs:.1f} slices)" for name, (a, b) in others.items())
        print(f"      {told} {found / runs:.0%}; of residuals {shown}\n", flush=True)
        if gap == 0.2:
            met.append(check(f"calibration off by {gap:g}: {found / runs:.0%}, at least 90 %", found / runs >= 0.9))
    return met


def residuals(data: dict[str, Any], inside: npt.NDArray[np.bool_]) -> tuple[Any, Floats, npt.NDArray[np.bool_]]:
    """The profiles of people, the people, Σx and Σx² of each, of residuals x, and which profiles are inside."""
    columns = np.stack([[int(value[1:]) for value in data[name]] for name in data if name.startswith("c")], axis=1)
    codes, place = np.unique(columns, axis=0, return_inverse=True)
    place, away = place.reshape(-1), np.asarray(data["label"]) - data["score"]
    sums = np.stack([np.bincount(place, weights=x, minlength=len(codes)) for x in (away**0, away, away**2)], axis=1)
    return codes, sums, np.bincount(place, weights=inside, minlength=len(codes)) > 0


def _off_by_the_threshold(share: float) -> list[bool]:
    """Every group is off by the threshold itself in every bin: each certificate is wrong, and so is each flag."""
    met = []
    for values, people, bins in (((4, 3), 20_000, 5), ((3, 3), 3_000, 4)):

        def wrong(runs: int, first: int, which: str, values=values, people=people, bins=bins) -> int:
            bad = 0
            for seed in range(first, first + runs):
                random = np.random.default_rng([13, seed])
                data = rows(people, random, values)
                data["score"] = np.clip(data["score"], 0.01, 0.94)
                data["label"] = (random.random(people) < data["score"] + 0.05).astype(int)
                names = [name for name in data if name.startswith("c")]
                cube = eh.Cube.count(data, label="label", score="score", score_range=(0, 1), bins=bins, sensitive=names)
                every = judged(cube, "calibration", 0.05, 100, seed)
                bad += any(bool(getattr(each, which).any()) for each in every)
            return bad

        for which in ("certified", "flagged"):
            name = f"{values}, {people:,} people, {bins} bins, all .05 off: a group wrongly {which}"
            met.append(
                within_bar(name, CERTIFIED, lambda n, at, w=which, f=wrong: f(n, at, w), max(20, int(200 * share)), 5)
            )
    return met


def means(share: float) -> list[bool]:
    print("Means: alarms where nobody differs, threshold 0\n")
    met = []
    for metric in ("mean_score", "brier_score", "log_loss", "mean_residual"):
        for people, least in ((3_000, 50), (20_000, 100)):

            def alarms(runs: int, first: int, metric=metric, people=people, least=least) -> int:
                bad = 0
                for seed in range(first, first + runs):
                    random = np.random.default_rng([12, seed])
                    data = {f"c{j}": random.choice(list("abcd"), people) for j in range(3)}
                    score = random.beta(1, 12, people)  # rare events
                    label = (random.random(people) < score).astype(int)
                    data |= {"score": score, "label": label}
                    cube = eh.Cube.count(
                        data, label="label", score="score", score_range=(0, 1), sensitive=["c0", "c1", "c2"]
                    )
                    bad += flags(judged(cube, metric, 0.0, least, seed)) > 0
                return bad

            name = f"{metric}, {people:,} people, groups of at least {least}"
            met.append(within_bar(name, BAR, alarms, max(20, int(200 * share)), again=5))
    return met


# --- cost


def count_file(path: str) -> dict[str, float]:
    """Count a file and search it: processor seconds, peak memory, and how often the file was read."""
    import duckdb

    asked: list[str] = []
    connect = duckdb.connect

    class Listening:
        """A connection that keeps what it is asked."""

        def __init__(self, connection: Any) -> None:
            self.connection = connection

        def execute(self, sql: str, *rest: Any) -> Any:
            asked.append(sql)
            return self.connection.execute(sql, *rest)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.connection, name)

    duckdb.connect = lambda *given, **named: Listening(connect(*given, **named))  # type: ignore[assignment]
    begun, clock = time.process_time(), time.perf_counter()
    bands = {"c7": [0, 20, 40, 60, 80, 100]}
    cube = eh.Cube.count(path, sensitive=[f"c{j}" for j in range(8)], prediction="y", bands=bands)
    counted = time.process_time()
    finding = eh.search(cube, draws=500)
    scans = [sql for sql in asked if "FROM read_parquet(" in sql and "DESCRIBE" not in sql]
    return {
        "seconds": time.process_time() - begun,
        "after": time.process_time() - counted,
        "clock": time.perf_counter() - clock,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scans": len(scans),
        **{name: float(finding.settings[name]) for name in ("groups", "profiles", "draws")},  # type: ignore[arg-type]
    }


def many_groups(profiles: str) -> dict[str, float]:
    """10^5 groups with 500 draws: processor seconds and peak memory, after the data was counted."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 12, (int(profiles), 8))
    n = random.poisson(30, len(codes)) + 1
    k = random.binomial(n, 0.3)
    columns = {f"c{j}": [f"v{value}" for value in codes[:, j]] * 2 for j in range(8)}
    data = {**columns, "y": [1] * len(codes) + [0] * len(codes), "n": np.r_[k, n - k]}
    cube = eh.Cube.count(data, prediction="y", count="n", sensitive=list(columns))
    begun = time.process_time()
    finding = eh.search(cube, draws=500)
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "megabytes": peak, "groups": float(finding.settings["groups"])}  # type: ignore[arg-type]


def cost(share: float) -> list[bool]:
    import duckdb

    met = []
    times = {profiles: call("many_groups", profiles) for profiles in (25_000, 100_000)}
    found = times[100_000]
    print(f"      {found['groups']:,.0f} groups, 500 draws: {found['seconds']:.1f} s, {found['megabytes']:,.0f} MB")
    met.append(at_most(90, "10^5 groups with 500 draws", found["seconds"], " s"))
    met.append(at_most(1000, "peak memory", found["megabytes"], " MB"))
    with tempfile.TemporaryDirectory() as folder:
        every = {}
        for people in (1_000_000, 10_000_000) if share >= 1 else (100_000, 1_000_000):
            path = f"{folder}/{people}.parquet"
            columns = ", ".join(f"'v' || (hash(i * 31 + {j}) % {3 + j % 3})::INT AS c{j}" for j in range(7))
            query = f"SELECT {columns}, (hash(i * 7) % 1000) / 10.0 AS c7, (hash(i * 3) % 10 < 3)::INT AS y"
            duckdb.execute(f"COPY ({query} FROM range({people}) AS t(i)) TO '{path}'")
            every[people] = call("count_file", path)
            print(f"      {people:,} rows: {every[people]}", flush=True)
        few, many = every.values()
        met.append(
            at_most(1.5, "after the scan, ten times the rows take", many["after"] / few["after"], " times as long")
        )
        met.append(at_most(2, "scans of the file", max(each["scans"] for each in every.values()), ""))
    return met


PARTS = {
    "null": null,
    "certified": certified,
    "planted": planted,
    "calibration": calibration,
    "means": means,
    "cost": cost,
}


def main(arguments: list[str]) -> int:
    machine()
    names = [name for name in arguments if name in PARTS] or list(PARTS)
    share = next((int(word) / 100 for word in arguments if word.isdecimal()), 1.0)
    return conclude([met for name in names for met in PARTS[name](share)])


if __name__ == "__main__":
    start(main, {"count_file": count_file, "many_groups": many_groups})
