"""Groups that are too small for chi-square, and permutations that stop when the p-value is settled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.inference import contingency
from support.profiles import examples


def drawn_from(values: np.ndarray):
    """Draws in order, as many as are asked for."""
    left = list(values)

    def draw(size: int) -> np.ndarray:
        taken = left[:size]
        del left[:size]
        return np.array(taken)

    return draw


def test_the_twentieth_table_as_far_settles_it():
    far = np.zeros(5000)
    far[99::100] = 1.0  # the 100th, the 200th, ...
    assert contingency.permutation_p(drawn_from(far), 1.0, 1, least=500, most=5000) == 20 / 2000


def test_the_first_draws_are_all_counted():
    far = np.zeros(1000)
    far[::10] = 1.0
    assert contingency.permutation_p(drawn_from(far), 1.0, 1, least=1000, most=5000) == 101 / 1001


def test_at_most_so_many_draws():
    assert contingency.permutation_p(drawn_from(np.zeros(5000)), 1.0, 1, least=500, most=5000) == 1 / 5001
    wide = 10**6
    assert contingency.permutation_p(drawn_from(np.zeros(500)), 1.0, wide, least=300, most=5000) == 1 / 301


def test_what_is_beaten_already_is_not_drawn():
    def draw(size: int) -> np.ndarray:
        raise AssertionError

    assert contingency.permutation_p(draw, 1.0, 1, enough=1e-9) >= 1e-9


@pytest.mark.parametrize("enough", [0.0, 0.03])
def test_p_values_keep_their_size_at_every_level(enough):
    """Under independence the table that was seen is one more draw."""
    random = np.random.default_rng(3)
    p = np.array(
        [
            contingency.permutation_p(random.random, random.random(), 1, least=40, most=2000, enough=enough)
            for _ in range(3000)
        ]
    )
    levels = [level for level in (0.005, 0.02, 0.05, 0.2, 0.6) if not enough or level < enough]
    assert all(np.mean(p <= level) <= level + 3.1 * np.sqrt(level / 3000) for level in levels)


@given(st.data())
def test_small_groups_follow_from_the_margins(data):
    """Whatever their outcomes are, the same groups are taken as one or left out, and nobody is made up."""
    n = np.array(data.draw(st.lists(st.integers(1, 300), min_size=2, max_size=6)))
    positives = data.draw(st.integers(1, int(n.sum()) - 1)) if n.sum() > 1 else 1
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = []
    for _ in range(2):
        k = random.multivariate_hypergeometric(n, positives)
        merged = contingency.merge_small(np.stack([k, n - k], axis=1).astype(float))
        rows.append(merged.sum(axis=1).tolist() if len(merged) > 1 else None)
        assert merged.sum() <= n.sum()
    assert rows[0] == rows[1] or None in rows


@examples(20)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), st.integers(2, 4), st.integers(0, 50))
def test_drawn_tables_have_the_margins(rows, classes, seed):
    random = np.random.default_rng(seed)
    columns = random.multinomial(sum(rows), np.full(classes, 1 / classes))
    tables = contingency.draw_tables(np.array(rows), columns, 5, random)
    assert (tables.sum(axis=2) == rows).all()
    assert (tables.sum(axis=1) == columns).all()
    assert (tables >= 0).all()
