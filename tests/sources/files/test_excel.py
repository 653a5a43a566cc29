"""Excel sheets are read as a CSV of the first sheet would be, and nothing of a formula is guessed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import openpyxl
import pytest

import evenhand as eh
from evenhand.errors import DataError, MissingDependencyError

ROWS = [
    ["p", "sex", "day", "code"],
    *([i % 2, "fm"[i % 3 % 2], datetime(2026, 1 + i % 3, 5), float(i % 2)] for i in range(90)),
]


def saved(path: Path, rows: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("another").append(["not", "read"])
    book.save(path)
    return path


def test_a_sheet_is_the_table_that_it_holds(tmp_path: Path):
    path = saved(tmp_path / "x.xlsx", [*ROWS, [], [None] * 4])
    columns = {name: [row[i] for row in ROWS[1:]] for i, name in enumerate(ROWS[0])}
    for attribute in ("sex", "code"):
        expected = eh.Cube.count(columns, prediction="p", sensitive=attribute)
        assert eh.Cube.count(path, prediction="p", sensitive=attribute) == expected
    assert next(iter(eh.Cube.series(path, by="day", every="month", prediction="p", sensitive="sex"))) == "2026-01"
    assert eh.Cube.count(path, prediction="p", sensitive="sex", where="day >= 2026-02").size == 60


def test_a_formula_without_its_value_is_an_error(tmp_path: Path):
    with pytest.raises(DataError, match="row 92 holds a formula without a saved value"):
        eh.Cube.count(saved(tmp_path / "x.xlsx", [*ROWS, ["=1+1", "f", None, 1]]), prediction="p", sensitive="sex")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["p", None, "sex"], [1, 2, "f"]], "has no name"),
        ([[], ["p", "sex"], [1, "f"]], "begins with an empty row|has no name"),
        ([["p", "sex"], [1, "f", "beside"]], "row 2 has cells to the right"),
        ([["p", "sex", "sex"], [1, "f", "m"]], "'sex'"),
    ],
)
def test_a_sheet_that_is_not_a_table_is_refused(rows: list[list[object]], says: str, tmp_path: Path):
    with pytest.raises(DataError, match=says):
        eh.Cube.count(saved(tmp_path / "x.xlsx", rows), prediction="p", sensitive="sex")


def test_without_openpyxl_the_error_is_the_line_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = saved(tmp_path / "x.xlsx", ROWS)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evenhand\[excel\]'; or save the sheet as CSV"):
        eh.Cube.count(path, prediction="p", sensitive="sex")


def test_an_old_workbook_is_told_from_a_new_one(tmp_path: Path):
    (tmp_path / "x.xlsx").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(64))
    with pytest.raises(DataError, match="an old Excel sheet"):
        eh.Cube.count(tmp_path / "x.xlsx", prediction="p", sensitive="sex")


def test_latin1_is_converted_by_a_line_to_copy(tmp_path: Path):
    path = tmp_path / "it's.csv"
    path.write_bytes("race,p\nGröße,1\nx,0\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"iconv -f latin1 -t utf-8 '.*' > '.*-utf8.csv'"):
        eh.Cube.count(path, prediction="p", sensitive="race")


def test_an_empty_sheet_is_an_error_that_names_the_file(tmp_path):
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(eh.DataError, match=r"empty\.xlsx' is empty: its first sheet has no row"):
        eh.audit(tmp_path / "empty.xlsx", prediction="p", sensitive="g")
