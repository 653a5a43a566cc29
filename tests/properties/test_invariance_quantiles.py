"""Bands that the data chooses itself: the same whether rows are written out, counted or weighted.

Five bands of the outcome of a regressor, and five bands of an attribute that is a quantity, each hold equally many
people. A row that stands for several people counts as several, and a weight by what it weighs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from support.agreement import differences
from support.profiles import examples

FEW = examples(24)
HOW = ("repeated", "count", "weight")


@st.composite
def tables(draw: st.DrawFn) -> dict[str, np.ndarray]:
    """Rows with whole counts, and numbers of which more than five differ."""
    n = draw(st.integers(20, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return {
        "label": random.integers(-20, 20, n) / 4,
        "prediction": random.integers(-20, 20, n) / 4,
        "group": np.where(np.arange(n) < 2, ["a", "b"] * (n // 2) + ["a"] * (n % 2), random.choice(["a", "b"], n)),
        "age": random.integers(18 * 8, 70 * 8, n) / 8,
        "many": np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))),
    }


def handed_over(table: dict[str, np.ndarray], how: str) -> dict[str, Any]:
    if how == "repeated":
        return {name: np.repeat(column, table["many"]) for name, column in table.items() if name != "many"}
    columns = {name: column for name, column in table.items() if name != "many"}
    return {**columns, how: table["many"]}


def separation(table: dict[str, np.ndarray], how: str) -> eh.Finding:
    columns = handed_over(table, how)
    roles = {name: columns[name] for name in ("label", "prediction", "count", "weight") if name in columns}
    return eh.regression_separation(**roles, sensitive=columns["group"], task="regression", min_bin=1)


def by_age(table: dict[str, np.ndarray], how: str) -> eh.Finding:
    columns = handed_over(table, how)
    roles = {name: columns[name] for name in ("count", "weight") if name in columns}
    return eh.demographic_parity(
        prediction=columns["label"] > 0, sensitive={"age": columns["age"]}, positive=True, **roles
    )


@pytest.mark.parametrize("metric", [separation, by_age])
@FEW
@given(table=tables())
def test_bands_that_the_data_chooses_count_people(metric, table):
    written, counted, weighted = (metric(table, how) for how in HOW)
    assert differences(counted, written, ends=True) == []
    assert differences(weighted, written, ends=False) == []
