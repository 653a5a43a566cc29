"""Frames that an engine holds: one query, no rows fetched, the same cube; here with Polars and DuckDB alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from narwhals.group_by import LazyGroupBy
from polars.io.plugins import register_io_source

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.sources import engines, groupby
from evenhand.sources.engines import fetch, quantiles
from evenhand.sources.engines.table import ENGINES, Engine, engine_of, is_lazy
from evenhand.sources.levels import QUANTILE_BANDS, quantile_edges
from evenhand.sources.scores import OUTCOME_BANDS
from support.backends import LAZY
from support.profiles import examples

every_kind = pytest.mark.parametrize("kind", LAZY)


def people(size: int = 6_000, seed: int = 5) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    score = rng.random(size)
    outcome = rng.normal(10, 4, size)

    def with_gaps(values: Any) -> list[Any]:
        return [None if gone else value for value, gone in zip(values.tolist(), rng.random(size) < 0.05, strict=True)]

    return {
        "g": with_gaps(rng.choice(["a", "b", "ć"], size)),
        "h": (rng.random(size) < 0.3).tolist(),
        "income": with_gaps(rng.lognormal(10, 1, size)),
        "y": with_gaps((rng.random(size) < score).astype(int)),
        "p": (rng.random(size) < 0.4).tolist(),
        "s": with_gaps(score),
        "few": rng.integers(1, 11, size).tolist(),
        "w": rng.exponential(1, size).tolist(),
        "c": rng.integers(0, 3, size).tolist(),
        "outcome": with_gaps(outcome),
        "predicted": (outcome + rng.normal(0, 1, size)).tolist(),
    }


PEOPLE = people()
RANGED = {"label": "y", "score": "s", "score_range": (0, 1), "sensitive": ["g", "h"], "weight": "w"}
CALLS: dict[str, dict[str, Any]] = {
    "decisions": {"label": "y", "prediction": "p", "sensitive": ["g", "h"], "count": "c", "weight": "w"},
    "range": RANGED,
    "range and cutoff": {**RANGED, "prediction": "p", "cutoff": 0.30000000000000004, "higher_is": "negative"},
    "no range": {"label": "y", "score": "s", "sensitive": "g", "count": "c"},
    "few values": {"label": "y", "score": "few", "sensitive": "g", "control": "h"},
    "quantile bins": {"label": "y", "score": "s", "sensitive": "g", "strategy": "quantile", "bins": 7},
    "wide attribute": {"prediction": "p", "sensitive": ["g", "income"], "count": "c"},
    "bands": {"prediction": "p", "sensitive": "income", "bands": {"income": [-np.inf, 10_000, 30_000, np.inf]}},
    "regression": {"label": "outcome", "prediction": "predicted", "sensitive": "g", "count": "c", "weight": "w"},
    "regression without labels": {"prediction": "predicted", "sensitive": "g", "task": "regression"},
    "missing by name": {"label": "y", "score": "few", "sensitive": "g", "na": ["3", "a"]},
}


@pytest.fixture
def queries(monkeypatch) -> list[nw.LazyFrame]:
    """Every plan that an engine was given to run."""
    seen: list[nw.LazyFrame] = []

    def watched(native: object) -> Engine:
        engine = engine_of(native)
        return replace(engine, run=lambda plan: (seen.append(plan), engine.run(plan))[1])

    monkeypatch.setattr(fetch, "engine_of", watched)
    return seen


def close(found: eh.Cube, expected: eh.Cube) -> None:
    assert found.meaning == expected.meaning
    assert found.pairs == expected.pairs
    assert found.facts == expected.facts
    assert found.cut_by_us == expected.cut_by_us
    assert (found.n == expected.n).all()
    if expected.w is not None:
        np.testing.assert_allclose(found.w, expected.w, rtol=1e-9)
    if expected.scores is not None:
        assert found.scores.reading == expected.scores.reading
        assert (found.scores.n == expected.scores.n).all()
        for name, sums in expected.scores.sums.items():
            np.testing.assert_allclose(found.scores.sums[name], sums, rtol=1e-9, atol=1e-9 * np.abs(sums).max())


@pytest.mark.parametrize("call", CALLS)
@every_kind
def test_the_same_cube_as_in_memory(kind, call, tmp_path):
    close(eh.Cube.count(LAZY[kind](PEOPLE, tmp_path), **CALLS[call]), eh.Cube.count(PEOPLE, **CALLS[call]))


def test_the_caller_may_hand_over_a_narwhals_frame():
    frame = nw.from_native(pl.LazyFrame(PEOPLE))
    close(eh.Cube.count(frame, **RANGED), eh.Cube.count(PEOPLE, **RANGED))


def test_an_audit_of_a_lazy_frame_is_the_audit_of_the_rows():
    asked = {**RANGED, "prediction": "p", "weight": None}
    found, expected = (eh.audit(data, **asked) for data in (pl.LazyFrame(PEOPLE), pl.DataFrame(PEOPLE)))
    assert found.verdict == expected.verdict
    assert [str(finding) for finding in found.findings] == [str(finding) for finding in expected.findings]


# ------------------------------------------------------------------------------------------------ how often it is read


def counted_frame() -> tuple[pl.LazyFrame, list[int]]:
    """A lazy frame that tells how often it was read, and how many rows were asked for."""
    frame, reads = pl.DataFrame(PEOPLE), []

    def read(with_columns, predicate, n_rows, _batch_size):
        reads.append(n_rows)
        part = frame if with_columns is None else frame.select(with_columns)
        part = part if n_rows is None else part.head(n_rows)
        yield part if predicate is None else part.filter(predicate)

    return register_io_source(read, schema=frame.schema), reads


@pytest.mark.parametrize(
    ("call", "scans"),
    [("decisions", 1), ("range", 1), ("range and cutoff", 1), ("few values", 2), ("no range", 2), ("bands", 1)],
)
def test_polars_reads_the_rows_as_often_as_it_must(call, scans):
    frame, reads = counted_frame()
    eh.Cube.count(frame, **CALLS[call])
    whole = [rows for rows in reads if rows is None]
    assert len(whole) == scans
    assert len(reads) - len(whole) <= 1  # the beginning, which tells whether a score has few values


@every_kind
@pytest.mark.parametrize(("call", "asked"), [("decisions", 1), ("range", 1), ("no range", 3), ("few values", 3)])
def test_only_one_query_where_nothing_has_to_be_known_first(kind, call, asked, tmp_path, queries):
    cube = eh.Cube.count(LAZY[kind](PEOPLE, tmp_path), **CALLS[call])
    assert len(queries) == asked
    assert eh.Cube.count(LAZY[kind](PEOPLE, tmp_path), **CALLS[call], like=cube) == cube


def test_a_cube_to_count_like_spares_the_look(queries):
    first = eh.Cube.count(pl.LazyFrame(PEOPLE), **CALLS["no range"])
    queries.clear()
    assert eh.Cube.count(pl.LazyFrame(PEOPLE), **CALLS["no range"], like=first) == first
    assert len(queries) == 1


def test_duckdb_gets_one_statement_with_one_scan_and_one_group_by(queries):
    connection = duckdb.connect()
    connection.register("given", pa.table(PEOPLE))
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    eh.Cube.count(connection.table("people"), **RANGED)
    (plan,) = queries
    statement = nw.to_native(plan).sql_query()
    shown = str(connection.execute(f"EXPLAIN {statement}").fetchall()).casefold().replace("_", " ")
    assert len(re.findall("table: ", shown)) == 1
    assert len(re.findall("group by", shown)) == 1
    assert "window" not in shown
    assert "join" not in shown


def test_only_bare_columns_are_aggregated(monkeypatch):
    """A condition inside an aggregate is ignored by some engines, without a word."""
    seen: list[str] = []
    agg = LazyGroupBy.agg
    monkeypatch.setattr(LazyGroupBy, "agg", lambda self, *each: (seen.extend(map(repr, each)), agg(self, *each))[1])
    for call in CALLS.values():
        eh.Cube.count(pl.LazyFrame(PEOPLE), **call)
    assert len(seen) > 50
    bare = re.compile(r"(len\(\)|col\(\w+\)\.(sum|min|max)\(\))(\.alias\(name=\w+\))?")
    assert not [text for text in seen if not bare.fullmatch(text)]


def test_a_lazy_frame_loads_no_library_but_its_own():
    import subprocess
    import sys

    code = (
        "import sys, duckdb, evenhand\n"
        "frame = duckdb.sql(\"SELECT i % 2 AS y, i % 3 = 0 AS p, 'g' || i % 2 AS g, i / 50 AS s FROM range(50) r(i)\")"
        "\n"
        "evenhand.audit(frame, label='y', prediction='p', sensitive='g', score='s')\n"
        "print({'pandas', 'polars', 'pyarrow', 'ibis'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "set()"


# ------------------------------------------------------------------------------------------------ values


UNUSUAL = {
    "decimal": "CAST(i % 2 AS DECIMAL(30, 2)) + 0.5",
    "day": "DATE '2024-01-31' + CAST(i % 2 AS INTEGER)",
    "time": "TIMESTAMP '2024-01-31 01:02:03' + INTERVAL (i % 2) DAY",
    "zone": "TIMESTAMPTZ '2024-01-31 01:02:03+03' + INTERVAL (i % 2) DAY",
    "enum": "CAST(CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' END AS ENUM ('x', 'y'))",
    "past 2^53": "9007199254740993 + i % 2",
    "float": "CAST(0.5 + i % 2 AS FLOAT)",
    "nan": "CASE WHEN i % 2 = 0 THEN CAST('nan' AS DOUBLE) ELSE 1 END",
    "nothing": "NULL",
    "uuid": "CAST('00000000-0000-0000-0000-00000000000' || i % 2 AS UUID)",
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_values_of_duckdb_are_spelled_as_in_a_file(kind, tmp_path):
    connection = duckdb.connect()
    query = f"SELECT {UNUSUAL[kind]} AS g, CAST(i % 3 = 0 AS INTEGER) AS p FROM range(12) t(i)"
    connection.execute(f"COPY ({query}) TO '{tmp_path / 'g.parquet'}'")
    found = eh.Cube.count(connection.sql(query), prediction="p", sensitive="g")
    expected = eh.Cube.count(tmp_path / "g.parquet", prediction="p", sensitive="g")
    assert found == expected
    assert found.groups == expected.groups


def test_whole_numbers_are_spelled_in_full_however_large():
    frame = duckdb.sql("SELECT CAST(i AS HUGEINT) + 100000000000000000000 AS g, 1 AS p FROM range(2) t(i)")
    groups = eh.Cube.count(frame, prediction="p", sensitive="g").groups
    assert groups == (("100000000000000000000",), ("100000000000000000001",))


@examples(40)
@given(edge=st.floats(1e-6, 1, exclude_max=True), near=st.integers(-1, 1))
@every_kind
def test_a_cutoff_parts_scores_exactly(kind, edge, near, tmp_path_factory):
    above = float(np.nextafter(edge, 2.0))
    data = {"s": [edge, float(np.nextafter(edge, -1.0)), above, 0.0, 1.0] * 2, "g": list("aaaaabbbbb")}
    cutoff = [edge, above, edge * 0.999][near]
    roles = {"score": "s", "cutoff": cutoff, "score_range": (0, 1), "sensitive": "g"}
    found = eh.Cube.count(LAZY[kind](data, tmp_path_factory.mktemp("data")), **roles)
    assert found.counts.tolist() == eh.Cube.count(data, **roles).counts.tolist()


# ------------------------------------------------------------------------------------------------ ranks


def ranked(numbers: np.ndarray) -> nw.LazyFrame:
    return nw.from_native(pl.LazyFrame({"v": numbers.astype(float), "c": np.ones(len(numbers))}))


NUMBERS = st.lists(
    st.one_of(st.integers(-5, 5).map(float), st.floats(-1e9, 1e9, allow_subnormal=False)), min_size=1, max_size=60
).map(np.array)


@examples(60)
@given(numbers=NUMBERS, parts=st.integers(1, 12), enough=st.sampled_from([0, 5, 10**6]))
def test_ranks_are_those_of_numpy(numbers, parts, enough):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "_ENOUGH", enough)
        patch.setattr(quantiles, "_CELLS", 16)
        found = quantiles.edges(ranked(numbers), nw.lit, parts)
    inner = np.quantile(numbers, np.arange(1, parts) / parts, method="inverted_cdf")
    assert found.tolist() == [numbers.min(), *inner.tolist(), numbers.max()]


@examples(60)
@given(numbers=NUMBERS, seed=st.integers(0, 99))
def test_edges_are_those_of_memory(numbers, seed):
    people = np.random.default_rng(seed).integers(0, 5, len(numbers))
    frame = nw.from_native(pl.LazyFrame({"v": numbers.astype(float), "c": people}))
    values, where = np.unique(numbers, return_inverse=True)
    total = np.bincount(where, weights=people)
    expected = quantile_edges(values[total > 0], total[total > 0]) if total.any() else ()
    found = quantiles.edges(frame.filter(nw.col("c") > 0), nw.lit, QUANTILE_BANDS)
    assert tuple(dict.fromkeys(found.tolist())) == expected


def test_ranks_of_numbers_on_many_scales():
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.random(3_000), 1e12 * rng.random(10), rng.lognormal(0, 8, 3_000)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "_ENOUGH", 10)
        found = quantiles.edges(ranked(numbers), nw.lit, OUTCOME_BANDS)
    inner = np.quantile(numbers, np.arange(1, OUTCOME_BANDS) / OUTCOME_BANDS, method="inverted_cdf")
    assert found.tolist() == [numbers.min(), *inner, numbers.max()]


# ------------------------------------------------------------------------------------------------ errors


@every_kind
@pytest.mark.parametrize(
    ("change", "call", "message"),
    [
        ({"s": ["0.1", "x"] * 3}, {"score": "s"}, "score column 's' is held as .*, not as numbers: cast it"),
        (
            {"w": [-1.0, 1.0] * 3},
            {"prediction": "p", "weight": "w"},
            r"negative, missing or infinite, or outside 1e-60 to 1e\+60, in 3 rows",
        ),
        (
            {"w": [None, 1.0] * 3},
            {"prediction": "p", "weight": "w"},
            r"negative, missing or infinite, or outside 1e-60 to 1e\+60, in 3 rows",
        ),
        ({"c": [0.5, 1.0] * 3}, {"prediction": "p", "count": "c"}, "not whole, or above .* in 3 rows"),
        ({"s": [0.5, 2.0] * 3}, {"score": "s", "score_range": (0, 1)}, "holds 2, outside score_range"),
        ({"s": [0.5, float("inf")] * 3}, {"score": "s"}, "holds an infinite value"),
        ({"s": [None, float("nan")] * 3}, {"score": "s"}, "has no number at all"),
        ({"s": [0.5, None] * 3}, {"score": "s", "cutoff": 0.5}, "missing in 3 rows, and the cutoff has to decide"),
        ({}, {"prediction": "p", "resolution": "exact", "score": "w"}, "is for data in memory"),
        ({}, {"prediction": [1, 0] * 3}, "is an array, but .* holds the data: name a column"),
        ({}, {"prediction": "q"}, "prediction='q' is not a column"),
    ],
)
def test_what_is_wrong_is_said(kind, change, call, message, tmp_path):
    columns = {"g": list("ababab"), "p": [1, 0] * 3, "s": [0.1] * 6, "w": [1.0] * 6, "c": [1] * 6, **change}
    with pytest.raises((CallError, DataError), match=message):
        eh.Cube.count(LAZY[kind](columns, tmp_path), sensitive="g", **call)


@every_kind
def test_an_id_is_refused_before_all_of_it_comes_back(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "MOST_LINES", 100)
    columns = {"id": [f"person {i}" for i in range(500)], "p": [0, 1] * 250}
    with pytest.raises(DataError, match="'id' has 500 different values: an id"):
        eh.Cube.count(LAZY[kind](columns, tmp_path), prediction="p", sensitive="id")


@every_kind
def test_whole_numbers_of_many_values_are_cut_when_they_turn_out_too_many(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "MOST_LINES", 100)
    monkeypatch.setattr(engines, "MOST_LEVELS", 50)
    columns = {"zip": [i * 7 % 500 for i in range(1_000)], "p": [0, 1] * 500}
    found = eh.Cube.count(LAZY[kind](columns, tmp_path), prediction="p", sensitive="zip")
    assert found == eh.Cube.count(columns, prediction="p", sensitive="zip")
    assert found.cut_by_us == ("zip",)


def test_no_rows_and_no_table():
    empty = pl.LazyFrame({"g": ["a"], "p": [1]}).filter(pl.col("p") == 2)
    with pytest.raises(DataError, match="there are no rows to count"):
        eh.Cube.count(empty, prediction="p", sensitive="g")
    with pytest.raises(DataError, match="is not a table: pass the frame, table or relation itself"):
        eh.Cube.count(duckdb.connect(), prediction="p", sensitive="g")


def test_what_needs_the_rows_says_so():
    frame = pl.LazyFrame({"x": [1.0, 2.0], "y": [0, 1], "p": [0, 1], "g": ["a", "b"]})
    with pytest.raises(
        CallError, match="needs the rows in memory, and those of a polars LazyFrame are with its engine"
    ):
        eh.consistency(frame, prediction="p")
    agreement = eh.metric("agreement_parity", measures=eh.measure("agreement", lambda y, p: (y == p).mean()))
    with pytest.raises(CallError, match="needs one row for each person, in memory"):
        agreement(frame, label="y", prediction="p", sensitive="g")


def test_an_engine_that_fails_says_so_in_one_line():
    def fail(_frame):
        raise ValueError("disk on fire")

    broken = pl.LazyFrame({"g": ["a"], "p": [1]}).map_batches(fail, schema={"g": pl.String, "p": pl.Int64})
    with pytest.raises(DataError, match=r"Polars could not run the query: .*disk on fire"):
        eh.Cube.count(broken, prediction="p", sensitive="g")


def test_the_limit_is_the_one_of_files():
    assert groupby.MOST_LINES == engines.MOST_LINES == 2_000_000


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.library)
def test_an_engine_is_known_by_its_library(engine):
    frame, lazy = (type(name, (), {"__module__": f"{engine.library}.frames"})() for name in ("Frame", "LazyFrame"))
    assert engine_of(frame) is engine
    assert is_lazy(frame) is not engine.also_in_memory
    assert is_lazy(lazy)


def test_an_engine_without_a_row_has_a_name_too():
    frame = type("LazyFrame", (), {"__module__": "strange.frames"})()
    assert is_lazy(frame)
    assert engine_of(frame).title == "Strange"
