"""What is forced: closed form and search against brute force over tables, grids and windows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenhand.audits import least_gaps
from evenhand.audits.least_gaps import BaseRates, frontier, implied_rates, smallest_gap
from support.profiles import examples

TIGHT = ((70, 30, 55, 45), (220, 55, 45, 55))  # all gaps are .1, and cannot be less: see test_theorems


def held(*groups: tuple[float, float, float, float]) -> BaseRates:
    return BaseRates.of(np.array(groups, dtype=float))


# --- brute force


def test_every_small_table_with_equal_ppv_and_fnr_has_the_implied_gap():
    cells = np.array(list(itertools.product(range(4), repeat=4)), dtype=float)
    cells = cells[(cells[:, 0] + cells[:, 1] > 0) & (cells[:, 3] > 0)]
    tn, fp, fn, tp = cells.T
    ppv, fnr, fpr = tp / (tp + fp), fn / (tp + fn), fp / (tn + fp)
    same = (np.abs(ppv[:, None] - ppv) < 1e-9) & (np.abs(fnr[:, None] - fnr) < 1e-9)
    pairs = np.argwhere(np.triu(same))
    assert len(pairs) > 300
    for i, j in pairs:
        both = BaseRates.of(cells[[i, j]])
        assert np.ptp(implied_rates(both)) == pytest.approx(abs(fpr[i] - fpr[j]), abs=1e-12)


def attained(both: BaseRates, tpr: np.ndarray, fpr: np.ndarray) -> np.ndarray:
    """The largest gap of rates [groups, ...]; infinite where rates are none."""
    right = both.positives.reshape(-1, *[1] * (tpr.ndim - 1)) * tpr
    wrong = both.negatives.reshape(-1, *[1] * (fpr.ndim - 1)) * fpr
    with np.errstate(invalid="ignore", divide="ignore"):
        ppv = right / (right + wrong)
    gaps = [np.nanmax(part, axis=0) - np.nanmin(part, axis=0) for part in (tpr, fpr)]
    with np.errstate(invalid="ignore"):
        gaps.append(np.nan_to_num(ppv.max(axis=0) - ppv.min(axis=0), nan=np.inf))
    inside = ((tpr >= -1e-9) & (tpr <= 1 + 1e-9) & (fpr >= -1e-9) & (fpr <= 1 + 1e-9)).all(axis=0)
    return np.where(inside, np.max(gaps, axis=0), np.inf)


def test_no_small_table_beats_the_smallest_gap():
    for p1, n1, p2, n2 in itertools.product((1, 4), (1, 3), (1, 3), (2, 5)):
        for tp, fp in itertools.product(range(1, p1 + p2 + 1), range(1, n1 + n2 + 1)):
            both = BaseRates(np.array([p1, p2], float), np.array([n1, n2], float), tp / (p1 + p2), fp / (n1 + n2))
            tp1, fp1 = np.meshgrid(np.arange(p1 + 1), np.arange(n1 + 1))
            tpr, fpr = np.array([tp1 / p1, (tp - tp1) / p2]), np.array([fp1 / n1, (fp - fp1) / n2])
            assert attained(both, tpr, fpr).min() >= smallest_gap(both) - 1e-12


@pytest.mark.parametrize("seed", range(30))
def test_the_smallest_gap_of_two_groups_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    both = BaseRates(*rng.integers(1, 50, (2, 2)).astype(float), *rng.choice([0.05, 0.3, 0.5, 0.8, 0.97, 1.0], 2))
    less, more = np.meshgrid(np.linspace(-1, 1, 801), np.linspace(-1, 1, 801))
    of_positives, of_negatives = both.positives / both.positives.sum(), both.negatives / both.negatives.sum()
    tpr = both.tpr + np.array([of_positives[1] * less, -of_positives[0] * less])
    fpr = both.fpr + np.array([of_negatives[1] * more, -of_negatives[0] * more])
    least = attained(both, tpr, fpr).min()
    assert smallest_gap(both) - 1e-12 <= least
    # A step of the grid moves a rate by 1/400, and a PPV by more where few are selected.
    assert least <= smallest_gap(both) + 0.02


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_gap_of_three_groups_is_that_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    all_three = BaseRates(rng.integers(20, 60, 3).astype(float), rng.integers(20, 60, 3).astype(float), 0.6, 0.4)
    epsilon = smallest_gap(all_three)
    # Nothing farther than this from the pooled rates can be better.
    away = np.linspace(-1.2 * epsilon, 1.2 * epsilon, 21)
    t1, t2, f1, f2 = np.meshgrid(away, away, away, away, indexing="ij")
    (p1, p2, p3), (n1, n2, n3) = all_three.positives, all_three.negatives
    tpr = 0.6 + np.array([t1, t2, -(p1 * t1 + p2 * t2) / p3])
    fpr = 0.4 + np.array([f1, f2, -(n1 * f1 + n2 * f2) / n3])
    least = attained(all_three, tpr, fpr).min()
    assert epsilon * (1 - least_gaps.PROOF) <= least <= epsilon + 0.3 * epsilon


def can_be(problem: BaseRates, low: float, high: float, gap: float) -> bool:
    """Are there rates with all PPVs in [low, high] and error rates at most `gap` apart? As plainly as it can be put."""
    many = len(problem.odds)
    eye, none = np.eye(many), np.zeros((many, many))
    pairs = np.array([eye[i] - eye[j] for i, j in itertools.permutations(range(many), 2)])
    base = problem.positives / (problem.positives + problem.negatives)
    right, wrong = np.diag(base), np.diag(1 - base)
    rows = np.block(
        [
            [pairs, 0 * pairs],
            [0 * pairs, pairs],
            [-(1 - low) * right, low * wrong],
            [(1 - high) * right, -high * wrong],
        ]
    )
    limits = np.concatenate([np.full(2 * len(pairs), gap), np.zeros(2 * many)])
    pooled = np.block([[problem.positives, none[0]], [none[0], problem.negatives]])
    totals = [problem.tpr * problem.positives.sum(), problem.fpr * problem.negatives.sum()]
    return linprog(np.zeros(2 * many), rows, limits, pooled, totals, bounds=(0, 1)).status == 0


def beaten(problem: BaseRates, epsilon: float) -> bool:
    """Can all gaps be held within less than ε? Scans where the lowest PPV may lie, range by range."""
    ranges = [(max(problem.ppv - epsilon, 0.0), problem.ppv)]
    while ranges:
        low, high = ranges.pop()
        if can_be(problem, low, min(high + epsilon, 1.0), epsilon):
            if high - low < epsilon / 1000:
                return True
            ranges += [(low, (low + high) / 2), ((low + high) / 2, high)]
    return False


@pytest.mark.parametrize("seed", range(12))
def test_no_rates_of_many_groups_beat_the_smallest_gap(seed):
    rng = np.random.default_rng(seed)
    cells = np.round(np.exp(rng.uniform(0, 6, (rng.integers(3, 6), 4))))
    problem = BaseRates.of(cells)
    epsilon = smallest_gap(problem)
    assert not beaten(problem, epsilon * (1 - 1.5 * least_gaps.PROOF))
    assert can_be_held(problem, epsilon * (1 + 1e-6))


def can_be_held(problem: BaseRates, epsilon: float) -> bool:
    """Is there a window for which the plain program finds rates? On a fine scan."""
    windows = np.linspace(problem.ppv - epsilon, problem.ppv, 400)
    return any(can_be(problem, max(low, 0.0), min(low + epsilon * 1.01, 1.0), epsilon * 1.01) for low in windows)


def test_two_groups_by_search_and_in_closed_form():
    for seed in range(8):
        both = BaseRates.of(np.random.default_rng(seed).integers(1, 40, (2, 4)).astype(float))
        searched = least_gaps._Search(both, 1.0, 1.0).least(least_gaps.PROOF)[0]
        assert searched == pytest.approx(smallest_gap(both), rel=1e-9)


def least_error_gap(problem: BaseRates, low: float, high: float) -> float:
    """The least gap in error rates with all PPVs in [low, high], by a linear program of all rates."""
    many = len(problem.odds)
    eye, none, one = np.eye(many), np.zeros((many, many)), np.ones((many, 1))
    right, wrong = np.diag(problem.positives), np.diag(problem.negatives)
    scale = (problem.positives + problem.negatives)[:, None]
    ppvs = np.block([[-(1 - low) * right, low * wrong], [(1 - high) * right, -high * wrong]]) / np.tile(scale, (2, 1))
    rows = np.block(  # rates, the least TPR, the least FPR, the gap
        [
            [-eye, none, one, 0 * one, 0 * one],
            [eye, none, -one, 0 * one, -one],
            [none, -eye, 0 * one, one, 0 * one],
            [none, eye, 0 * one, -one, -one],
            [ppvs, np.zeros((2 * many, 3))],
        ]
    )
    pooled = np.zeros((2, 2 * many + 3))
    pooled[0, :many], pooled[1, many:-3] = (part / part.sum() for part in (problem.positives, problem.negatives))
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        np.eye(1, 2 * many + 3, 2 * many + 2)[0],
        rows,
        np.zeros(len(rows)),
        pooled,
        [problem.tpr, problem.fpr],
        bounds=(0, 1),
        options=tight,
    )
    return float(found.fun) if found.status == 0 else np.inf


def random_table(rng: np.random.Generator) -> BaseRates:
    """Two to six groups: of tens of people, of a few, of very different sizes, or some with one base rate."""
    kind, many = rng.integers(4), rng.integers(2, 7)
    cells = rng.integers(1, 100, (many, 4)).astype(float)
    if kind == 1:
        cells = rng.integers(0, 4, (many, 4)) + np.array([0.0, 1.0, 0.0, 1.0])
    elif kind == 2:
        cells = np.round(np.exp(rng.uniform(0, 7, (many, 4))))
    elif kind == 3:
        cells[-1] = 3 * cells[0]
    return BaseRates.of(cells)


@pytest.mark.parametrize("seed", range(60))
def test_the_smallest_gap_is_that_of_a_linear_program(seed):
    problem = random_table(np.random.default_rng(seed))
    if problem.free:
        return
    search = least_gaps._Search(problem, 1.0, 1.0)
    epsilon, reach = search.least(least_gaps.PROOF)
    low, high = map(float, search.ends(reach))
    assert epsilon == pytest.approx(smallest_gap(problem), abs=1e-9)
    assert high - low <= epsilon + 1e-9
    assert least_error_gap(problem, low, low + epsilon) <= epsilon + 1e-9
    goal = epsilon - 1e-8
    for shift in (-0.1, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 0.1):
        start = min(max(low + shift * epsilon, 0.0), 1 - goal)
        assert least_error_gap(problem, start, start + goal) > goal


@pytest.mark.parametrize("seed", range(20))
def test_the_ends_of_ppvs_are_those_of_a_linear_program(seed):
    """Any reach, not only the best: rates exist just when both ends lie outside those that are computed."""
    rng = np.random.default_rng(seed)
    problem = random_table(rng)
    gap, of_tpr, of_fpr = rng.uniform(0, [0.4, 1, 1])
    reach = np.array([gap * (1 - of_tpr), gap * of_tpr, gap * of_fpr, gap * (1 - of_fpr)])
    reach /= np.array([problem.tpr, problem.tpr, problem.fpr, problem.fpr])
    search = least_gaps._Search(problem, 1.0, 1.0)
    low, high = map(float, search.ends(np.minimum(reach, search.most)))
    assert least_error_gap(problem, low, high) <= gap + 1e-9


def test_groups_with_one_base_rate_count_as_one():
    three = held((30, 20, 10, 40), (60, 40, 20, 80), (70, 10, 12, 8))
    two = held((90, 60, 30, 120), (70, 10, 12, 8))
    assert smallest_gap(three) == pytest.approx(smallest_gap(two), rel=1e-5)


def test_rare_outcomes_lose_no_precision():
    """A thousand times as rare in labels and decisions: the programs are relative."""
    three = np.array([[9e6, 2e3, 3e2, 7e2], [8e6, 9e2, 1e3, 8e2], [5e6, 3e3, 6e2, 2e2]])
    problem = BaseRates.of(three)
    epsilon = smallest_gap(problem)
    assert 0 < epsilon < 0.2
    assert not beaten(problem, epsilon * 0.985)


# --- the curve


def test_the_curve_of_two_groups():
    both = BaseRates.of(np.array(TIGHT, dtype=float))
    curve = np.array(frontier(both))
    assert curve[0] == pytest.approx([np.ptp(both.ppvs(both.everywhere)), 0])
    assert curve[-1][0] == 0
    assert (np.diff(curve[:, 0]) < 0).all()
    assert (np.diff(curve[:, 1]) > 0).all()
    assert np.interp(0.1, curve[:, 1], curve[:, 0]) == pytest.approx(0.1, abs=1e-3)


def test_the_curve_of_more_groups_passes_through_the_smallest_gap():
    three = held((30, 20, 10, 40), (60, 40, 25, 60), (70, 10, 12, 8))
    curve = np.array(frontier(three))
    assert curve[0] == pytest.approx([np.ptp(three.ppvs(three.everywhere)), 0])
    assert (np.diff(curve[:, 0]) < 0).all()
    assert (np.diff(curve[:, 1]) > 0).all()
    assert curve[4] == pytest.approx([smallest_gap(three)] * 2, rel=1e-4)


# --- properties


counts = st.integers(1, 200)
cells = st.tuples(counts, counts, counts, counts)


@examples(12)
@given(st.lists(st.tuples(*[st.integers(0, 60)] * 4), min_size=3, max_size=5))
def test_the_smallest_gap_of_many_is_never_more_than_what_was_observed(groups):
    cells = np.array(groups) + np.array([0, 0.5, 0, 0.5])  # PPVs are defined, and both labels are there
    tn, fp, fn, tp = cells.T
    rates = tp / (fn + tp), fp / (tn + fp)
    largest = max(np.ptp(tp / (tp + fp)), *(np.ptp(part) for part in rates))
    assert 0 <= smallest_gap(BaseRates.of(cells)) <= largest + 1e-9


@examples(6)
@given(st.lists(cells, min_size=3, max_size=4), st.integers(2, 50))
def test_neither_order_nor_scale_matters_for_many(groups, factor):
    problem = BaseRates.of(np.array(groups, dtype=float))
    epsilon = smallest_gap(problem)
    for other in (groups[::-1], [[factor * n for n in part] for part in groups]):
        assert smallest_gap(BaseRates.of(np.array(other, dtype=float))) == pytest.approx(
            epsilon, rel=2 * least_gaps.PROOF, abs=1e-9
        )


@examples(40)
@given(cells, cells)
def test_more_unequal_base_rates_force_more(first, second):
    problem = BaseRates.of(np.array([first, second], dtype=float))
    gap = float(np.ptp(problem.odds))
    if problem.free:
        return
    steps = [smallest_gap(problem.stretched(share * gap)) for share in (0.25, 0.5, 1.0)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(smallest_gap(problem), abs=1e-9)
