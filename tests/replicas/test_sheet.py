"""Cells of a file of replicas: no spreadsheet runs them, and they are read as they were."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.cli import replicate
from evenhand.replicas.fit import Replicas
from evenhand.replicas.sheet import guarded, unguarded
from support import hostile

FORMULAS = [
    "=1+1",
    "+cmd",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''@x",
    "=cmd|' /C calc'!A0",
    "-1",
    "+5",
    "'x'",
    "-",
]


@given(st.text() | st.sampled_from(FORMULAS) | st.sampled_from([*hostile.NAMES.values()]))
def test_a_cell_is_safe_and_is_read_back(text):
    cell = guarded(text)
    assert unguarded(cell) == text
    if cell[:1] in tuple("=+-@\t\r"):
        float(cell)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_of_replicas_guards_formulas_and_is_read_as_it_was(suffix, tmp_path):
    names = [name for name in FORMULAS if name.strip() == name] + ["north"]
    people = {"=label": ["1", "0"] * len(names) * 20, "@group": [name for name in names for _ in range(40)]}
    values = np.random.default_rng(0).random((3, len(people["=label"]))).astype(np.float32)
    path = tmp_path / f"replicas{suffix}"
    replicate.save(Replicas(values, "probability", (0, 1, 2), 0.8, 10), people, path)
    if suffix == ".csv":
        with Path(path).open(newline="", encoding="utf-8") as file:
            cells = {cell for row in csv.reader(file) for cell in row[:2]}
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r") and cell not in ("-1", "+5")]
    found = eh.stability("p_*", data=str(path), label="=label", sensitive="@group", min_group_size=1)
    here = eh.stability(values, data=people, label="=label", sensitive="@group", min_group_size=1)
    finding, same = found.audit().findings[0], here.audit().findings[0]
    assert {row.group for row in finding.rows} == {row.group for row in same.rows}
    assert finding.value.value == pytest.approx(same.value.value, abs=1e-6)


def test_other_files_are_read_as_they_stand(tmp_path):
    path = tmp_path / "other.csv"
    names = ["'=a", "=a"]
    rows = [f"{names[i % 2]},{i // 2 % 2},0.{i % 9},0.{i % 7}" for i in range(120)]
    path.write_text("g,y,r0,r1\n" + "\n".join(rows) + "\n")
    found = eh.stability("r*", data=str(path), label="y", sensitive="g", min_group_size=1)
    assert {group for row in found.audit().findings[0].rows for group in row.group} == {"'=a", "=a"}
