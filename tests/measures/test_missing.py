"""Bounds over missing labels and missing groups contain what is true, and no more than that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.results import Pair
from evenhand.cube.cube import Cube
from evenhand.measures.cells import CELLS, MEASURES, evaluate, measure
from evenhand.measures.group_data import GroupData
from evenhand.measures.missing import bounded, bounds, completions, gap_bounds, open_cells, without_group

PLACE = {(0, 0): 0, (0, 1): 1, (1, 0): 2, (1, 1): 3, (2, 0): 4, (2, 1): 5}
HARD = measure("twice", numerator="2TP FP", denominator="TP FP FN")
"""A ratio of which a cell may raise or lower the value."""
ROWS = [*MEASURES.values(), HARD]


def tabulate(groups: np.ndarray, label: np.ndarray, decision: np.ndarray, weight: np.ndarray, many: int) -> np.ndarray:
    """Weights by cell; label 2 is missing, and so is the last group."""
    cells = np.zeros((many, len(CELLS)))
    places = np.array([[PLACE[y, d] for d in (0, 1)] for y in (0, 1, 2)])
    np.add.at(cells, (groups, places[label, decision]), weight)
    return cells


def remove(rng: np.random.Generator, how: str, groups: np.ndarray, label: np.ndarray, decision: np.ndarray) -> None:
    """Take labels and groups away, in place: at random, by decision, by group or by the label itself."""
    chance = {
        "random": np.full(len(label), rng.random()),
        "decision": rng.random(2)[decision],
        "group": rng.random(4)[groups],
        "label": rng.random(2)[label],
        "all": np.ones(len(label)),
    }[how]
    lost = rng.random(len(label)) < rng.random() * chance
    label[rng.random(len(label)) < chance] = 2
    groups[lost] = 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["random", "decision", "group", "label", "all"])
def test_bounds_contain_the_value_with_everything_put_back(how: str, weighted: bool) -> None:
    rng = np.random.default_rng([len(how), weighted])
    pairs: list[Pair] = [((), (name,)) for name in ("a", "b", "1.0", None)]
    tight = 0
    for _ in range(100):  # × 10 settings
        size = int(rng.integers(1, 60))
        groups, label, decision = (rng.integers(0, most, size) for most in (3, 2, 2))
        weight = rng.choice([0.0, 1e-3, 1.0, 1e6], size) if weighted else np.ones(size)
        true = tabulate(groups, label, decision, weight, 4)
        remove(rng, how, groups, label, decision)
        seen = tabulate(groups, label, decision, weight, 4)
        joining = without_group(pairs, seen)
        low, high = {}, {}
        for row in ROWS:
            value = evaluate(true, [row])[row.name][:3]
            low[row.name], high[row.name] = bounds(row, seen, joining)
            there = ~np.isnan(value)
            assert (low[row.name][:3] <= value * (1 + 1e-9) + 1e-9)[there].all(), row.name
            assert (high[row.name][:3] >= value * (1 - 1e-9) - 1e-9)[there].all(), row.name
            tight += int((high[row.name][:3] < 1)[there].sum())
            if there.sum() > 1:
                gaps = gap_bounds(low[row.name], high[row.name], np.array([*there, False]))
                gap = value[there].max() - value[there].min()
                slack = 1e-9 * max(1.0, gap)
                assert gaps[0][0] - slack <= gap <= gaps[0][1] + slack
                if value[there].max() > 0:
                    assert gaps[1][0] - 1e-9 <= value[there].min() / value[there].max() <= gaps[1][1] + 1e-9
    assert tight > 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_bound_is_reached(row: object) -> None:
    """Of all ways to label and to place these people, the extreme ones are the bounds: nothing wider is said."""
    seen = np.array([[2.0, 1, 1, 3, 2, 1, 0, 0], [1, 0, 1, 0, 1, 0, 0, 1]])
    pairs: list[Pair] = [((), ("a",)), ((), (None,))]
    values = []
    for u0 in range(3):
        for u1 in range(2):
            own = np.array([2 + u0, 1 + u1, 1 + 2 - u0, 3 + 1 - u1, 0, 0, 0, 0], dtype=float)
            for tn, fn, u, d1 in np.ndindex(2, 2, 3, 2):  # the unlabelled one joins as negative or positive, or not
                joined = own + np.array([tn + (u == 1), 0, fn + (u == 2), 0, 0, 0, 0, d1])
                values.append(evaluate(joined[None], [row], seen.sum(axis=0))[row.name][0])  # type: ignore[list-item, attr-defined]
    low, high = bounds(row, seen, without_group(pairs, seen), seen.sum(axis=0))  # type: ignore[arg-type]
    assert low[0] == pytest.approx(np.nanmin(values))
    assert high[0] == pytest.approx(np.nanmax(values))


def test_formulas_of_the_brief() -> None:
    tn, fp, fn, tp, u0, u1 = 30.0, 10, 20, 25, 7, 3
    cells = np.array([[tn, fp, fn, tp, u0, u1, 0, 0]])
    n = cells.sum()
    expected = {
        "true_positive_rate": (tp / (tp + fn + u0), (tp + u1) / (tp + u1 + fn)),
        "false_positive_rate": (fp / (fp + tn + u0), (fp + u1) / (fp + u1 + tn)),
        "positive_predictive_value": (tp / (tp + fp + u1), (tp + u1) / (tp + fp + u1)),
        "negative_predictive_value": (tn / (tn + fn + u0), (tn + u0) / (tn + fn + u0)),
        "accuracy": ((tp + tn) / n, (tp + tn + u0 + u1) / n),
        "base_rate": ((tp + fn) / n, (tp + fn + u0 + u1) / n),
        "selection_rate": ((tp + fp + u1) / n,) * 2,
    }
    for name, (low, high) in expected.items():
        assert [float(end[0]) for end in bounds(MEASURES[name], cells)] == pytest.approx([low, high]), name


def test_odds_without_a_denominator_have_no_upper_bound() -> None:
    low, high = bounds(MEASURES["error_balance"], np.array([[5.0, 0, 4, 5, 0, 3, 0, 0]]))
    assert (low[0], high[0]) == (pytest.approx(4 / 3), np.inf)


def test_a_woman_without_a_race_may_belong_to_groups_of_women_only() -> None:
    pairs: list[Pair] = [((), ("x", "f")), ((), ("x", "m")), ((), (None, "f")), ((), (None, None))]
    cells = np.eye(4, 9)
    assert without_group(pairs, cells).tolist() == [
        [0, 0, 1, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0],
        *[[0] * 9] * 2,
    ]
    strata: list[Pair] = [(("s",), ("x",)), (("t",), ("x",)), (("s",), (None,))]
    assert without_group(strata, np.eye(3))[:, 2].tolist() == [1, 0, 0]


def test_labels_alone_have_bounds_too() -> None:
    cube = Cube.count(label=[1, 0, None, None] * 3 + [1, 1, 1, 1], sensitive=["a"] * 12 + ["b"] * 4)
    low, high = bounds(MEASURES["base_rate"], open_cells(cube.n).astype(float))
    assert (low.tolist(), high.tolist()) == ([0.25, 1.0], [0.75, 1.0])


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    counts = st.integers(0, 40)
    return np.array([[draw(counts) for _ in range(8)] for _ in range(draw(st.integers(1, 4)))], dtype=float)


@given(tables(), st.integers(0, 1), st.integers(0, 1))
def test_bounds_are_nested_when_more_is_missing(cells: np.ndarray, decision: int, label: int) -> None:
    fewer = cells.copy()
    source = PLACE[label, decision]
    fewer[:, source] -= np.minimum(fewer[:, source], 3)
    fewer[:, 4 + decision] += cells[:, source] - fewer[:, source]
    for row in MEASURES.values():
        (low, high), (least, most) = bounds(row, cells), bounds(row, fewer)
        there = ~np.isnan(low)
        assert (least <= low + 1e-12)[there].all()
        assert (most >= high - 1e-12)[there].all()


@given(tables())
def test_bounds_are_the_value_where_nothing_is_missing(cells: np.ndarray) -> None:
    cells[:, 4:6] = 0
    for row in MEASURES.values():
        low, high = bounds(row, cells)
        value = evaluate(cells, [row])[row.name]
        there = ~np.isnan(value)
        np.testing.assert_allclose(low[there], value[there])
        np.testing.assert_allclose(high[there], value[there])


def test_spreads_at_the_bounds_hold_the_bounds() -> None:
    cube = Cube.count(
        label=[1, 0, None, 1, None, 0] * 10, prediction=[1, 1, 1, 0, 0, 0] * 10, sensitive=["a", "b", "b"] * 20
    )
    data = GroupData(cube)
    cells = data.cells
    for row in MEASURES.values():
        found = bounded(row, data)
        if found is None:
            assert row.name == "count"
            continue
        low, high = bounds(row, cells.mass)
        np.testing.assert_allclose(found.low.values, low)
        np.testing.assert_allclose(found.high.values, high)


def test_of_equal_bounds_the_one_with_fewer_people_counts() -> None:
    """5 of 5 positives are selected; were 100 more without a label positive as well, that would be surer."""
    cube = Cube.count(label=[1, None, 0], prediction=[1, 1, 0], count=[5, 100, 9], sensitive=["a", "a", "a"])
    found = bounded(MEASURES["true_positive_rate"], GroupData(cube))
    assert found is not None
    assert (found.low.values[0], found.low.sizes[0]) == (1.0, 5)


def test_completions_keep_everyone() -> None:
    cells = np.random.default_rng(0).random((3, 9))
    assert completions(cells).shape == (8, 3, 8)
    np.testing.assert_allclose(completions(cells).sum(axis=-1), np.broadcast_to(cells.sum(axis=-1), (8, 3)))
