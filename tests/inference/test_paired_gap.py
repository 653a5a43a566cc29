"""The change of the largest gap of the same people: by hand where it is one pair, and that it covers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evenhand.inference import critical
from evenhand.inference.paired_gap import RULED_OUT, Gaps, PairedRates, change_of_gap
from evenhand.inference.spread import PLAIN, Proportions

BEFORE, AFTER = np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 0, 1])  # of the cells 00, 01, 10, 11


def gaps(cells: np.ndarray, ratio: bool = False, pairs: np.ndarray | None = None) -> Gaps:
    """Selection rates of groups from how many got which decisions, [groups, 4]."""
    cells = np.asarray(cells, dtype=float)
    n = cells.sum(axis=1)
    old, new = cells @ BEFORE, cells @ AFTER
    influences = [(side - (k / n)[:, None]) / n[:, None] for side, k in ((BEFORE, old), (AFTER, new))]
    rates = PairedRates(old[None] / n, new[None] / n, influences[0][None], influences[1][None], cells, n[None])
    every = ~np.eye(len(n), dtype=bool)[None] if pairs is None else pairs
    return Gaps(rates, [Proportions(old, n, PLAIN)], [Proportions(new, n, PLAIN)], every, ratio)


def joint(before: float, after: float, agreement: float) -> np.ndarray:
    """The shares of the four cells; agreement as near to the wanted one as the two rates allow."""
    both = np.clip((agreement - 1 + before + after) / 2, max(0.0, before + after - 1), min(before, after))
    return np.array([1 - before - after + both, after - both, before - both, both])


def test_two_groups_in_a_sure_order_have_the_interval_of_their_own_change():
    cells = np.array([[400, 60, 40, 500], [800, 40, 60, 100]])
    found = gaps(cells)
    moves = found.rates.moves
    down, up = moves.reach(critical.upper(0.025 - 0.05 * RULED_OUT))
    change = moves.change[0, 0] - moves.change[0, 1]
    expected = change - np.hypot(down[0, 0], up[0, 1]), change + np.hypot(up[0, 0], down[0, 1])
    assert change_of_gap(found, 0.95) == pytest.approx(expected)


@pytest.mark.parametrize("ratio", [False, True])
def test_more_confidence_is_wider_however_much(ratio):
    cells = np.array([[400, 60, 40, 500], [800, 40, 60, 100]])
    ends = [change_of_gap(gaps(cells, ratio), confidence) for confidence in (0.5, 0.95, 0.995, 0.9999)]
    for (low, high), (lower, higher) in itertools.pairwise(ends):
        assert lower < low < high < higher


def test_the_order_of_models_turns_the_sign():
    cells = np.array([[40, 6, 4, 50], [80, 4, 6, 10], [60, 8, 2, 30]])
    low, high = change_of_gap(gaps(cells), 0.95)
    back = change_of_gap(gaps(cells[:, [0, 2, 1, 3]]), 0.95)
    assert back == pytest.approx((-high, -low))


@pytest.mark.parametrize("ratio", [False, True])
def test_no_flip_is_not_no_interval(ratio):
    low, high = change_of_gap(gaps(np.array([[50, 0, 0, 50], [90, 0, 0, 10]]), ratio), 0.95)
    assert low < -0.01
    assert high > 0.01


def test_a_gap_that_closed_is_settled_although_it_may_have_turned():
    # .45 against .30 before, .37 against .36 after: which group is higher now is open, but the gap is smaller.
    cells = np.array([1000 * joint(0.45, 0.37, 0.9), 1000 * joint(0.30, 0.36, 0.9)]).round()
    low, high = change_of_gap(gaps(cells), 0.95)
    assert low < high < 0


def test_only_the_pairs_that_are_compared_count():
    cells = np.array([[40, 6, 4, 50], [80, 4, 6, 10], [5, 40, 5, 50]])
    pairs = np.zeros((1, 3, 3), dtype=bool)
    pairs[0, 0, 1] = pairs[0, 1, 0] = True
    assert change_of_gap(gaps(cells, pairs=pairs), 0.95) == pytest.approx(change_of_gap(gaps(cells[:2]), 0.95), rel=0.2)


@pytest.mark.parametrize("agreement", [0.5, 0.99])
@pytest.mark.parametrize(
    ("sizes", "before", "after", "ratio"),
    [
        ((500, 500), (0.5, 0.3), (0.5, 0.3), False),
        ((300, 900), (0.45, 0.3), (0.36, 0.33), False),
        ((200, 200, 200, 200), (0.3, 0.3, 0.4, 0.2), (0.35, 0.25, 0.3, 0.3), False),
        ((500, 500), (0.5, 0.3), (0.45, 0.35), True),
    ],
)
def test_the_change_is_covered(sizes, before, after, ratio, agreement):
    shares = [joint(*rates, agreement) for rates in zip(before, after, strict=True)]

    def gap(side):
        rates = [float(share @ side) for share in shares]
        return min(rates) / max(rates) if ratio else max(rates) - min(rates)

    truth, random = gap(AFTER) - gap(BEFORE), np.random.default_rng(11)
    inside = 0
    for _ in range(150):
        cells = np.array([random.multinomial(n, share) for n, share in zip(sizes, shares, strict=True)])
        low, high = change_of_gap(gaps(cells, ratio), 0.95)
        inside += low <= truth + 1e-12 and truth - 1e-12 <= high
    assert inside >= 133  # of a true 95 %, fewer are seen in one of a thousand runs
