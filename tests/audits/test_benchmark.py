"""A benchmark by itself: what it names, and the groups that it and the data have."""

from __future__ import annotations

import pytest

import evenhand as eh
from evenhand.audits.benchmark import Benchmark, attribute_of, matched, read_benchmark


def test_which_attribute_it_names(tmp_path):
    assert attribute_of({"race": {"a": 0.5, "b": 0.5}}) == "race"
    assert attribute_of({"race": "census.csv"}) == "race"
    assert attribute_of({"a": 0.5, "b": 0.5}) is None
    assert attribute_of("census.csv") is None


def test_other_kinds_of_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "census.parquet"
    pandas.DataFrame({"value": ["a", "b"], "share": [0.25, 0.75], "year": [2020, 2020]}).to_parquet(path)
    assert read_benchmark(path, "race") == Benchmark("race", {"a": 0.25, "b": 0.75})


def test_groups_of_both():
    benchmark = Benchmark("race", {"b": 0.5, "a": 0.3, "c": 0.2})
    assert matched(benchmark, ["a", "b"]) == ["a", "b", "c"]
    with pytest.raises(eh.CallError, match=r"no share for 'x' of 'race'; .*Spell both alike"):
        matched(benchmark, ["x", "b"])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(eh.EvenhandError, match=r"none.csv"):
        read_benchmark(tmp_path / "none.csv", "race")
