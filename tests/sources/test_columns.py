"""One rule for each strange value or name, whatever holds it: empty text, null bytes, names that look like patterns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand import Cube
from evenhand.core import frames
from evenhand.errors import CallError, DataError
from evenhand.sources.columns import encode, numbers
from evenhand.sources.rows import load_files
from support.backends import BACKENDS, FILES, IN_MEMORY, Columns, csv_text
from support.profiles import each_of


def _ibis(columns: Columns, folder: Path) -> Any:
    return ibis.memtable(IN_MEMORY["arrow"](columns, folder))


EVERY = BACKENDS | {"ibis": _ibis}
TEXTS = ("csv", "csv-gz", "csv-semicolon", "csv-quoted", "tsv", "csv-glob", "csv-pipe", "tsv-gz")
pytestmark = pytest.mark.filterwarnings("default")  # of Ibis

# --- empty text is missing

EMPTY: Columns = {
    "race": ["a", "", "b", None, "a", "b"] * 10,
    "area": ["", "north"] * 30,
    "y": ["yes", "no", "", None, "yes", "no"] * 10,
    "p": ["yes", "no", "no", "yes", "no", "yes"] * 10,
}
MISSING: Columns = {name: [value or None for value in values] for name, values in EMPTY.items()}


@pytest.mark.parametrize("backend", EVERY)
def test_empty_text_is_missing(backend, tmp_path):
    roles: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["race", "area"], "positive": "yes"}
    data = EVERY[backend](EMPTY, tmp_path)
    assert Cube.count(data, **roles) == Cube.count(MISSING, **roles)
    assert {group for (group,) in Cube.count(data, prediction="p", sensitive="race", positive="yes").groups} == {
        "a",
        "b",
        None,
    }
    dropped = Cube.count(data, prediction="p", sensitive="race", positive="yes", missing="drop")
    assert dropped.size == 40
    with pytest.raises(DataError, match="race"):
        Cube.count(data, prediction="p", sensitive="race", positive="yes", missing="error")
    with pytest.raises(DataError, match="prediction column 'y' is missing in 20 rows"):
        Cube.count(data, prediction="y", sensitive="race", positive="yes")


@pytest.mark.parametrize("backend", [*IN_MEMORY, "csv", "parquet", "jsonl"])
def test_empty_text_is_missing_where_rows_are_read(backend, tmp_path):
    data = EVERY[backend]({**EMPTY, "x": ["u", "", "v", "v"] * 15}, tmp_path)
    found, expected = (
        eh.consistency(table, prediction="p", sensitive="race", features="x", positive="yes", missing_features="drop")
        for table in (data, {**MISSING, "x": ["u", None, "v", "v"] * 15})
    )
    assert found.value == expected.value
    assert [row.group for row in found.groups] == [row.group for row in expected.groups]


def test_no_class_and_no_reference_is_empty_text():
    with pytest.raises(DataError, match="never holds the positive value ''"):
        eh.audit(MISSING, prediction="p", sensitive="race", positive="")
    with pytest.raises(CallError, match="reference='' is not a group"):
        eh.audit(EMPTY, prediction="p", sensitive="race", positive="yes", reference="")


# --- a null byte is an error

NULLS = ("a\0b", "\0a", "a\0", "\0")


@each_of("backend", list(EVERY), handful=12)
@pytest.mark.parametrize("role", ["sensitive", "control", "label", "prediction"])
def test_a_null_byte_is_an_error(backend, role, tmp_path):
    rows = 40_000 if backend in TEXTS else 20
    whole: Columns = {"race": ["a", "b"] * rows, "d": ["n", "m"] * rows, "y": ["1", "0"] * rows, "p": ["1", "0"] * rows}
    roles: dict[str, Any] = {"sensitive": "race", "control": "d", "label": "y", "prediction": "p"}
    # An array of fixed width drops them at the end, before anybody could see them.
    for text in NULLS if backend != "numpy-masked" else NULLS[:2]:
        columns = {**whole, roles[role]: [*whole[roles[role]][:-1], text]}
        with pytest.raises(DataError, match="null byte"):
            Cube.count(EVERY[backend](columns, tmp_path), **roles)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "jsonl.gz"])
@pytest.mark.parametrize("place", [70_000, 1_200_000, -3])
def test_a_file_of_text_with_a_null_byte_anywhere_is_refused(suffix, place, tmp_path, capsys):
    """Also in a column that nobody asked for: a hole in a file swallows rows."""
    import gzip

    from evenhand.cli import run

    columns = {"race": ["a", "b"] * 50_000, "p": [1, 0] * 50_000, "note": ["some words"] * 100_000}
    name = {"csv": "csv", "csv.gz": "csv", "jsonl": "jsonl", "jsonl.gz": "jsonl"}[suffix]
    content = bytearray(FILES[name](columns, tmp_path).read_bytes())
    content[place] = 0
    path = tmp_path / f"holed.{suffix}"
    path.write_bytes(gzip.compress(content, 1) if suffix.endswith("gz") else content)
    with pytest.raises(DataError, match="holds null bytes, so it is damaged or not text"):
        eh.audit(path, prediction="p", sensitive="race")
    with pytest.raises(DataError, match="holds null bytes"):
        load_files(path)
    assert run(["audit", str(path), "--prediction=p", "--sensitive=race"]) == 2
    assert "null bytes" in capsys.readouterr().err


def test_a_gzipped_file_with_a_flipped_bit_is_refused(tmp_path):
    """DuckDB does not compare the checksum: most such files would be read as other data."""
    import gzip
    import random

    random_bits = random.Random(0)
    columns = {"race": random_bits.choices("ab", k=400_000), "p": random_bits.choices((0, 1), k=400_000)}
    content = gzip.compress(csv_text(columns).encode(), 1)
    path = tmp_path / "flipped.csv.gz"
    path.write_bytes(content)
    assert Cube.count(path, prediction="p", sensitive="race").size == 400_000
    for _ in range(8):
        damaged = bytearray(content)
        damaged[random_bits.randrange(20, len(content))] ^= 1 << random_bits.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="cannot be read"):
            Cube.count(path, prediction="p", sensitive="race")


# --- a column is what it is called

PATTERNS = ("^p$", "*", "^.*$", "^r.*$", "^(p|q)$", "p.", "?", "[p]", "$p", "#1", "c0", "COLUMNS(*)")


@pytest.mark.parametrize("backend", EVERY)
def test_a_name_is_not_a_pattern(backend, tmp_path):
    columns: Columns = {name: [f"{i} {row % (2 + i)}" for row in range(60)] for i, name in enumerate(PATTERNS)}
    columns |= {"p": [1, 0] * 30, "r": [0, 1, 1] * 20, "s": [row / 60 for row in range(60)]}
    data = EVERY[backend](columns, tmp_path)
    for name in PATTERNS:
        cube = Cube.count(data, prediction="p", sensitive=name)
        assert cube == Cube.count(columns, prediction="p", sensitive=name), name
        assert {group for (group,) in cube.groups} == set(columns[name])


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("name", ["^p$", "*", "^.*$"])
def test_no_role_is_found_by_a_pattern(backend, name, tmp_path):
    """The column of the pattern and the column that it would find differ in every row."""
    columns: Columns = {
        name: [row % 2 for row in range(60)],
        "p": [1 - row % 2 for row in range(60)],
        "race": ["a", "b", "c"] * 20,
    }
    data = EVERY[backend](columns, tmp_path)
    for role in ("prediction", "label", "score", "count", "weight"):
        roles = {"prediction": "p", "sensitive": "race", role: name}
        assert Cube.count(data, **roles) == Cube.count(columns, **roles), role


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", ["^p$", "*", "^.*$"])
def test_tables_are_cut_by_exact_names(library, name):
    table = library.DataFrame({name: [1, 2, None], "p": [3, 4, 5], "q": ["x", "y", "z"]})
    assert list(frames.drop(table, [name]).columns) == ["p", "q"]
    assert list(frames.select(table, ["q", name]).columns) == ["q", name]
    assert list(frames.drop(table, [name, "p", "q"]).columns) == []
    levels, codes = encode(table[name])
    assert [levels[code] if code >= 0 else None for code in codes] == [1, 2, None]
    assert np.array_equal(numbers(table[name], "score", name)[0], [1, 2, np.nan], equal_nan=True)
