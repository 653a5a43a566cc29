"""Quantiles are those of people: a count of k is k rows, and a weight of k is too, wherever something is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import Cube, DataError
from evenhand.sources import files
from evenhand.sources.quantiles import inner_edges
from support.backends import BACKENDS, Columns
from support.profiles import each_of, examples


def table(size: int = 400, most: int = 5, seed: int = 4) -> Columns:
    random = np.random.default_rng(seed)
    score = random.random(size).round(3)
    outcome = random.normal(10, 3, size).round(3)
    return {
        "g": random.choice(["a", "b"], size).tolist(),
        "income": random.lognormal(10, 1, size).round(2).tolist(),
        "s": score.tolist(),
        "y": (random.random(size) < score).astype(int).tolist(),
        "outcome": outcome.tolist(),
        "offer": (outcome + random.normal(0, 1, size)).round(3).tolist(),
        "k": np.where(score > 0.7, most, random.integers(0, most, size)).tolist(),
    }


def written_out(columns: Columns) -> Columns:
    return {name: np.repeat(np.array(values), columns["k"]).tolist() for name, values in columns.items()}


CALLS: dict[str, dict[str, Any]] = {
    "bands of an attribute": {"prediction": "y", "sensitive": ["income", "g"]},
    "bins of a score": {"label": "y", "score": "s", "sensitive": "g", "strategy": "quantile"},
    "bins of a score turned round": {
        "label": "y",
        "score": "s",
        "sensitive": "g",
        "strategy": "quantile",
        "higher_is": "negative",
    },
    "bands of an outcome": {"label": "outcome", "prediction": "offer", "sensitive": "g", "task": "regression"},
}


UNCUT = [name for name in BACKENDS if name.startswith(("csv", "tsv"))] + ["arrow-dictionary", "arrow-file"]
"""Kinds of data in which numbers are text, or are said to be categories: their attributes need bands of the caller."""


def cuts(cube: Cube) -> tuple[Any, ...]:
    """All that was cut: bands of attributes, bins of calibration, bands of the outcome."""
    reading = None if cube.scores is None else cube.scores.reading
    return dict(cube.meaning.bands), None if reading is None else (reading.edges, reading.outcome)


def inner(cube: Cube) -> list[tuple[float, ...]]:
    """The inner edges of whatever is cut at quantiles."""
    found = list(cube.meaning.bands.values())
    if cube.scores is not None:
        found.append(cube.scores.reading.outcome or cube.scores.reading.edges)
    return [edges[1:-1] for edges in found]


@pytest.mark.parametrize("call", CALLS)
@each_of("backend", list(BACKENDS), handful=12)
def test_counts_and_weights_cut_as_rows_that_are_written_out(backend, call, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_LEVELS", 100)  # so that an engine cuts the attribute itself
    columns, roles = table(), CALLS[call]
    if call == "bands of an attribute" and backend in UNCUT:
        roles = {**roles, "bands": {"income": [0, 20_000, 1e7]}}
    data = BACKENDS[backend](columns, tmp_path)
    expected = Cube.count(written_out(columns), **roles)
    counted, weighted = Cube.count(data, **roles, count="k"), Cube.count(data, **roles, weight="k")
    assert counted == expected
    assert cuts(counted) == cuts(expected)
    present = {name: [v for v, k in zip(values, columns["k"], strict=True) if k] for name, values in columns.items()}
    assert cuts(Cube.count(BACKENDS[backend](present, tmp_path), **roles, weight="k")) == cuts(expected)
    # Who has no weight still has a value, which the outermost bands must hold: they may be wider.
    assert inner(weighted) == inner(expected)


@pytest.mark.parametrize("metric", ["calibration", "regression_separation"])
def test_the_metrics_agree(metric):
    columns = table(3_000)
    call = CALLS["bins of a score" if metric == "calibration" else "bands of an outcome"]
    function = getattr(eh, metric)
    rows, counted = function(written_out(columns), **call), function(columns, **call, count="k")
    assert (counted.value, counted.verdict) == (rows.value, rows.verdict)
    assert function(columns, **call, weight="k").value.value == pytest.approx(rows.value.value, rel=1e-9)


@pytest.mark.parametrize("backend", ["pandas", "csv", "parquet", "polars-lazy", "relation-duckdb"])
def test_a_row_that_stands_for_nobody_changes_nothing(backend, tmp_path):
    """Not the range of a score, nor its values, nor the ends of bands."""
    columns = table()
    columns["k"][0], columns["s"][0], columns["outcome"][0], columns["income"][0] = 0, 70.5, 1e6, -1.0
    rest = {name: values[1:] for name, values in columns.items()}
    for call in CALLS.values() if backend != "csv" else [*CALLS.values()][1:]:  # text is not cut
        found, expected = (Cube.count(BACKENDS[backend](each, tmp_path), **call, count="k") for each in (columns, rest))
        assert found == expected
        assert cuts(found) == cuts(expected)


@pytest.mark.parametrize("backend", ["pandas", "parquet", "polars-lazy", "relation-duckdb"])
def test_without_any_weight_that_is_what_the_error_says(backend, tmp_path):
    """And not that nothing could be cut."""
    columns = {**table(), "none": [0.0] * 400}
    for call in CALLS.values():
        with pytest.raises(DataError, match="every weight in column 'none' is 0"):
            Cube.count(BACKENDS[backend](columns, tmp_path), **call, weight="none")


@examples(200)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 6)), min_size=1, max_size=60), st.integers(1, 12))
def test_a_mass_of_k_is_k_numbers(rows, parts):
    numbers, mass = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if not mass.any():
        return
    repeated = np.repeat(numbers, mass.astype(int))
    expected = np.sort(repeated)[[-(-k * len(repeated) // parts) - 1 for k in range(1, parts)]]
    assert inner_edges(repeated, parts).tolist() == expected.tolist()
    for unit in (1.0, 0.1, 1e6, 1 / 3):
        assert inner_edges(numbers, parts, unit * mass).tolist() == expected.tolist()
