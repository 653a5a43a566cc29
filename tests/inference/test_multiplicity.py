"""Adjusted p-values agree with statsmodels; NaN and duplicates cost nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evenhand.errors import CallError
from evenhand.inference.multiplicity import (
    METHODS,
    adjust,
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    distinct,
    holm,
)
from support.profiles import examples

THEIRS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by"}

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize("method", METHODS)
@examples(12)  # their Holm takes a sixth of a second
@given(p=p_values)
def test_agrees_with_statsmodels(method, p):
    expected = multipletests(p, method=THEIRS[method])[1]
    np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(p=p_values, places=st.sets(st.integers(0, 19)))
def test_nan_is_passed_through(method, p, places):
    places = sorted(place for place in places if place <= len(p))
    padded = np.insert(np.array(p), places, np.nan)
    found = adjust(padded, method)
    assert np.array_equal(np.isnan(found), np.isnan(padded))
    np.testing.assert_array_equal(found[~np.isnan(found)], adjust(p, method))


@given(p=p_values)
def test_never_smaller_and_in_order(p):
    p = np.array(p)
    for function in (holm, bonferroni, benjamini_hochberg, benjamini_yekutieli):
        found = function(p)
        assert np.all((found >= p) & (found <= 1))
        assert np.all(np.diff(found[np.argsort(p, kind="stable")]) >= 0)
    assert np.all(holm(p) <= bonferroni(p))
    assert np.all(benjamini_hochberg(p) <= holm(p) * (1 + 1e-12))


@pytest.mark.parametrize("method", [*METHODS, None])
def test_edges(method):
    assert adjust([], method).tolist() == []
    assert np.isnan(adjust([np.nan, np.nan], method)).all()
    assert adjust([[0.01, np.nan], [0.2, 0.5]], method).shape == (2, 2)
    assert adjust([0.04], method).tolist() == [0.04]


def test_the_argument_is_left_alone():
    p = np.array([0.01, 0.02])
    for method in [*METHODS, None]:
        assert adjust(p, method) is not p
    assert p.tolist() == [0.01, 0.02]


def test_none_leaves_them():
    assert adjust([0.3, 0.01], None).tolist() == [0.3, 0.01]


def test_unknown_method():
    with pytest.raises(CallError, match=r"did you mean 'bonferroni'\?"):
        adjust([0.1], "bonferonni")
    with pytest.raises(CallError, match="'holm', 'bonferroni', 'bh', 'by'"):
        adjust([0.1], "sidak!")


def test_no_p_value():
    with pytest.raises(CallError, match="between 0 and 1"):
        holm([0.1, 1.2])


def test_duplicates_are_adjusted_once():
    tpr, fpr, fnr = ([8, 5], [10, 10]), ([1, 1], [20, 30]), ([2, 5], [10, 10])
    first = distinct([tpr, fpr, fnr])
    assert first.tolist() == [0, 1, 0]
    assert adjust([0.01, 0.5, 0.01], "holm", first).tolist() == [0.02, 0.5, 0.02]
    assert adjust([0.01, 0.5, 0.01], None, first).tolist() == [0.01, 0.5, 0.01]


def test_distinct_tells_tables_apart():
    one = ([10**12, 3], [2 * 10**12, 9])
    assert distinct([one, ([10**12 + 1, 3], one[1]), ([10**12, 3], [2 * 10**12 + 1, 9])]).tolist() == [0, 1, 2]
    assert distinct([([1, 2], [3, 4]), ([2, 1], [4, 3])]).tolist() == [0, 1], "groups keep their places"
    assert distinct([([1, 2], [3, 4]), ([2, 2], [3, 4])]).tolist() == [0, 0], "2 of 4 is its own complement"
    assert distinct([([1, 2], [3, 4]), ([2, 1], [3, 4])]).tolist() == [0, 1], "all groups are turned over or none"
    assert distinct([([1, 2], [3, 4]), ([[1, 2]], [[3, 4]])]).tolist() == [0, 1]
    assert distinct([None, None, ([1], [2]), None]).tolist() == [0, 1, 2, 3]
    assert distinct([]).tolist() == []


def test_distinct_takes_arrays_and_tuples():
    assert distinct([(np.array([1, 2]), np.array([3, 4])), ((1, 2), (3, 4)), ([1.0, 2.0], [3.0, 4.0])]).tolist() == [
        0,
        0,
        0,
    ]


def test_distinct_forgives_the_rounding_of_weights():
    n = np.array([0.1 + 0.2 + 0.3, 7.3, 5.5, 0.0])
    k = np.array([0.6, 2.1, 5.5, 0.0])
    assert k[0] != n[0]
    assert distinct([(k, n), (n - k, n * (1 + 1e-15)), (k * (1 + 1e-14), n), (k * 0.999, n)]).tolist() == [0, 0, 0, 3]


def test_distinct_names_the_table_that_is_wrong():
    with pytest.raises(CallError, match="table 1"):
        distinct([([1], [2]), ([1, 2], [3])])
