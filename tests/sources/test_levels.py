"""How attributes become groups: bands that are given, bands that we cut, and what is missing."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import Cube, audit, cli
from evenhand.errors import CallError, DataError
from evenhand.sources import files, levels
from evenhand.sources.levels import band_names, quantile_edges
from support.backends import BACKENDS, FILES, Columns
from support.profiles import each_of

every_backend = pytest.mark.parametrize("backend", BACKENDS)
some_backends = pytest.mark.parametrize("backend", ["lists", "pandas", "polars", "csv", "jsonl", "parquet", "feather"])


def incomes(size: int, digits: int = 2) -> Columns:
    draw = random.Random(3)
    return {
        "income": [None if draw.random() < 0.02 else round(draw.gauss(50, 20), digits) for _ in range(size)],
        "years": [draw.choice([None, *range(43)]) for _ in range(size)],
        "g": [draw.choice("ab") for _ in range(size)],
        "p": [draw.randint(0, 1) for _ in range(size)],
        "c": [draw.choice([0, 1, 5]) for _ in range(size)],
    }


UNCUT = [name for name in BACKENDS if name.startswith(("csv", "tsv"))] + ["arrow-dictionary", "arrow-file"]
"""Kinds of data in which numbers are text, or are said to be categories."""


@pytest.mark.parametrize("count", [None, "c"])
@pytest.mark.parametrize("attribute", ["income", "years"])
@each_of("backend", [name for name in BACKENDS if name not in UNCUT], handful=12)
def test_quantile_bands_agree_between_engines(backend, attribute, count, tmp_path):
    columns = incomes(300)
    roles = {"prediction": "p", "sensitive": attribute, "count": count}
    expected = Cube.count(columns, **roles)
    found = Cube.count(BACKENDS[backend](columns, tmp_path), **roles)
    assert found == expected
    assert found.cut_by_us == (attribute,)
    assert len([group for group in found.groups if group != (None,)]) == 5


@pytest.mark.parametrize("count", [None, "c"])
@pytest.mark.parametrize("backend", ["jsonl", "parquet", "feather", "parquet-glob"])
def test_quantile_bands_agree_where_the_engine_cuts(backend, count, tmp_path, monkeypatch):
    """With very many values the bands are cut by the engine, before anything is fetched."""
    columns = incomes(6000, digits=9)
    monkeypatch.setattr(files, "MOST_LINES", 500)
    roles = {"prediction": "p", "sensitive": ["g", "income"], "count": count}
    assert Cube.count(FILES[backend](columns, tmp_path), **roles) == Cube.count(columns, **roles)


@pytest.mark.parametrize("backend", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("role", ["sensitive", "prediction"])
def test_very_many_values_that_are_no_numbers_name_the_column(backend, role, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_LINES", 500)
    ids = [f"id-{i}" for i in range(3000)]
    columns = {"who": ids, "g": ["a", "b"] * 1500, "p": [0, 1] * 1500}
    roles = {"prediction": "p", "sensitive": "g", role: "who"}
    with pytest.raises(DataError, match=r"'who' has about [23],\d{3} different values: an id\?"):
        Cube.count(FILES[backend](columns, tmp_path), **roles)


@pytest.mark.parametrize("attribute", ["years", "income"])
def test_a_note_says_that_we_cut(attribute):
    """On the audit, on each finding that rests on it, and on what a function of a metric finds."""
    columns = incomes(600)
    columns["y"] = columns["p"][::-1]
    note = f"{attribute} is numeric and was cut into quantile bands; bands={{{attribute!r}: [...]}} sets your own"
    found = audit(columns, prediction="p", sensitive=[attribute, "g"])
    assert any(note in each for each in found.notes)
    for finding in found.findings:
        assert any(note in each for each in finding.notes) == (attribute in finding.attributes), finding
    for metric in (eh.demographic_parity, eh.theil_index, eh.differential_fairness, eh.mutual_information):
        assert sum(note in each for each in metric(columns, prediction="p", label="y", sensitive=attribute).notes) == 1
    own = eh.metric("agreement", measures=eh.measure("agreement", lambda y, p: (y == p).mean()))
    assert any(note in each for each in own(columns, prediction="p", label="y", sensitive=attribute).notes)
    strata = eh.demographic_parity(columns, prediction="p", sensitive="g", control=attribute)
    assert any(note in each for each in strata.notes)


def test_a_note_on_the_command_line_names_its_option(tmp_path, capsys):
    path = FILES["parquet"](incomes(300), tmp_path)
    cli.run(["audit", str(path), "--prediction", "p", "--sensitive", "years"])
    said = " ".join(capsys.readouterr().out.split())
    assert "--bands years=0,25,45 sets your own, --bands years=none keeps each value as a group" in said
    assert "bands={" not in said
    cli.run(["audit", str(path), "--prediction", "p", "--sensitive", "years", "--bands", "years=none"])
    assert "cut into quantile bands" not in capsys.readouterr().out


def test_a_note_says_that_numbers_are_held_as_text(tmp_path):
    data = FILES["csv"](incomes(600), tmp_path)
    found = audit(data, prediction="p", sensitive=["years", "g"])
    assert sum("years holds 43 numbers as text, each of which is a group" in note for note in found.notes) == 1
    assert not any("as text" in note for note in audit(incomes(600), prediction="p", sensitive="years").notes)


@pytest.mark.parametrize("backend", UNCUT)
def test_text_and_categories_are_never_cut(backend, tmp_path):
    columns = incomes(900)
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), prediction="p", sensitive="years")
    assert cube.cut_by_us == ()
    assert [group[0] for group in cube.groups] == [*map(str, range(43)), None]
    given = {"prediction": "p", "sensitive": "years", "bands": {"years": [0, 20, 50]}}
    assert Cube.count(BACKENDS[backend](columns, tmp_path), **given) == Cube.count(columns, **given)


@every_backend
def test_codes_of_text_are_never_cut(backend, tmp_path):
    """Codes that look like numbers are the names of groups, whatever holds them."""
    columns = {
        "zip": [str(10_000 + 7 * k) for k in range(40)] * 3,
        "grade": [f"{k}.5" for k in range(30)] * 4,
        "p": [0, 1, 1] * 40,
    }
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), prediction="p", sensitive=["zip", "grade"])
    assert (cube.cut_by_us, dict(cube.meaning.bands)) == ((), {})
    assert set(cube.kinds.values()) == {"text"}
    assert len(cube.marginal(["zip"]).groups) == 40


@each_of("backend", [name for name in BACKENDS if name not in UNCUT], handful=12)
@pytest.mark.parametrize("attribute", ["years", "income"])
def test_none_says_that_numbers_are_categories(backend, attribute, tmp_path):
    columns = incomes(900, digits=-1)
    roles = {"prediction": "p", "sensitive": attribute, "bands": {attribute: None}}
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), **roles)
    assert (cube.cut_by_us, dict(cube.meaning.bands)) == ((), {})
    assert cube == Cube.count(columns, **roles)
    assert cube.kinds[attribute].endswith(" category")
    assert len(cube.groups) == len(set(columns[attribute]))


def test_a_category_of_pandas_is_never_cut():
    columns = incomes(900)
    frame = pd.DataFrame(columns).assign(years=pd.Categorical(columns["years"]))
    cube = Cube.count(frame, prediction="p", sensitive="years")
    assert cube.cut_by_us == ()
    assert cube.kinds == {"years": "integer category"}
    assert not any("cut" in note for note in audit(frame, prediction="p", sensitive="years").notes)


def test_no_bands_at_all_cut_as_if_nothing_were_said():
    assert Cube.count(incomes(300), prediction="p", sensitive="years", bands={}).cut_by_us == ("years",)


@pytest.mark.parametrize("backend", ["csv", "pandas-object"])
def test_too_many_numbers_held_as_text_name_the_remedy(backend, tmp_path):
    columns = {"income": [str(k) for k in range(3000)], "p": [0, 1, 1] * 1000}
    data = BACKENDS[backend](columns, tmp_path)
    with pytest.raises(
        DataError, match=r"'income' has 3,000 different values: an id\?.*with bands=\{'income': \[...\]\}"
    ):
        Cube.count(data, prediction="p", sensitive="income")
    cube = Cube.count(data, prediction="p", sensitive="income", bands={"income": [0, 1000, 3000]})
    assert cube.n.sum(axis=(1, 2)).tolist() == [1000, 2000]


def test_numbers_that_are_categories_are_ids_when_there_are_too_many():
    with pytest.raises(DataError, match=r"'sensitive' has 1,500 different values: an id\?"):
        Cube.count(prediction=[0, 1] * 750, sensitive=np.arange(1500), bands={"sensitive": None})


def test_the_outcome_of_a_regressor_is_always_cut():
    with pytest.raises(CallError, match=r"bands for 'label' must be at least two rising numbers"):
        Cube.count(
            label=[1.5, 2.5], prediction=[1.0, 2.0], sensitive=["a", "b"], task="regression", bands={"label": None}
        )


def test_a_cube_to_count_like_settles_that_numbers_are_categories():
    columns = {"k": [*range(20)] * 3, "p": [0, 1, 1] * 20}
    first = Cube.count(columns, prediction="p", sensitive="k")
    more = {"k": [*range(40)] * 3, "p": [0, 1, 1] * 40}
    assert Cube.count(more, prediction="p", sensitive="k").cut_by_us == ("k",)
    assert (first + Cube.count(more, prediction="p", sensitive="k", like=first)).size == 180


@some_backends
def test_few_whole_numbers_stay_themselves(backend, tmp_path):
    columns = {"k": [*range(20)] * 2, "p": [0, 1] * 20}
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), prediction="p", sensitive="k")
    assert [group[0] for group in cube.groups] == [str(k) for k in range(20)]
    assert cube.cut_by_us == ()


@some_backends
def test_codes_with_leading_zeros_are_no_numbers(backend, tmp_path):
    columns = {"zip": [f"{k:03}" for k in range(40)], "p": [0, 1] * 20}
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), prediction="p", sensitive="zip")
    assert [group[0] for group in cube.groups] == columns["zip"]


@some_backends
def test_given_bands_hold_their_lower_edge_and_the_last_one_both(backend, tmp_path):
    columns = {"age": [0, 24, 25, 44, 45, 200, None], "p": [1, 0, 1, 0, 1, 0, 1]}
    cube = Cube.count(
        BACKENDS[backend](columns, tmp_path), prediction="p", sensitive="age", bands={"age": [0, 25, 45, 200]}
    )
    assert {group[0]: int(n) for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True)} == {
        "[0, 25)": 2,
        "[25, 45)": 2,
        "[45, 200]": 2,
        None: 1,
    }
    assert cube.cut_by_us == ()


@some_backends
@pytest.mark.parametrize("age", [-1, 200.5])
def test_a_value_outside_the_bands_is_shown(backend, age, tmp_path):
    data = BACKENDS[backend]({"age": [age, 30.5, 40.0], "p": [1, 0, 1]}, tmp_path)
    with pytest.raises(DataError, match=rf"'age' holds values outside its bands \({age}.*widen bands"):
        Cube.count(data, prediction="p", sensitive="age", bands={"age": [0, 45, 200]})


@some_backends
def test_bands_of_text_that_is_no_number_show_it(backend, tmp_path):
    data = BACKENDS[backend]({"age": ["old", "30", "40"], "p": [1, 0, 1]}, tmp_path)
    with pytest.raises(DataError, match=r"bands for 'age': the column is not numeric; it holds 'old'"):
        Cube.count(data, prediction="p", sensitive="age", bands={"age": [0, 45, 200]})


@some_backends
def test_bands_of_numbers_in_any_spelling(backend, tmp_path):
    data = BACKENDS[backend]({"age": ["030", "+5", "4e1", ".5"], "p": [1, 0, 1, 0]}, tmp_path)
    cube = Cube.count(data, prediction="p", sensitive="age", bands={"age": [0, 10, 50]})
    assert cube.n.sum(axis=(1, 2)).tolist() == [2, 2]


def test_like_cuts_the_same_bands_and_the_cubes_add():
    whole = incomes(600)
    halves = [{name: values[i::2] for name, values in whole.items()} for i in (0, 1)]
    roles = {"prediction": "p", "sensitive": ["g", "income"]}
    total = Cube.count(whole, **roles)
    parts = [Cube.count(half, **roles, like=total) for half in halves]
    assert parts[0] + parts[1] == total
    assert parts[0].meaning.bands == total.meaning.bands
    with pytest.raises(CallError, match=r"were not counted alike: bands.*like="):
        Cube.count(halves[0], **roles) + Cube.count(halves[1], **roles)


@pytest.mark.parametrize("backend", ["lists", "csv", "parquet", "jsonl"])
def test_like_works_on_files_too(backend, tmp_path):
    columns = incomes(400)
    total = Cube.count(columns, prediction="p", sensitive="income")
    found = Cube.count(BACKENDS[backend](columns, tmp_path), prediction="p", sensitive="income", like=total)
    assert found == total


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1))
def test_quantile_edges_occur_and_rise(rows):
    values, people = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    edges = quantile_edges(values, people)
    assert set(edges) <= set(values)
    assert list(edges) == sorted(set(edges))
    assert (edges[0], edges[-1]) == (values.min(), values.max())
    assert len(band_names(edges)) == max(len(edges) - 1, 1)


GAPS = {"g": ["a", None, "b", "a"], "h": ["x", "y", None, "x"], "y": [1, 0, None, 0], "p": [1, 0, 1, 0]}


@some_backends
def test_missing_groups_are_groups(backend, tmp_path):
    cube = Cube.count(BACKENDS[backend](GAPS, tmp_path), label="y", prediction="p", sensitive="g", control="h")
    assert set(cube.groups) == {("a",), ("b",), (None,)}
    assert cube.size == 4
    assert int(cube.n[:, 2].sum()) == 1


@some_backends
def test_missing_drop_leaves_rows_out_and_counts_them(backend, tmp_path):
    data = BACKENDS[backend](GAPS, tmp_path)
    cube = Cube.count(data, label="y", prediction="p", sensitive="g", control="h", missing="drop")
    assert cube.pairs == ((("x",), ("a",)),)
    assert (cube.size, cube.facts["dropped"]) == (2, 2)


@some_backends
def test_missing_error_says_how_many_and_the_remedy(backend, tmp_path):
    data = BACKENDS[backend](GAPS, tmp_path)
    with pytest.raises(DataError, match=r"2 rows have no value for h or g; missing='group' .*'drop'"):
        Cube.count(data, prediction="p", sensitive="g", control="h", missing="error")
    with pytest.raises(DataError, match="no row is left after missing='drop'"):
        Cube.count(prediction=[1, 0], sensitive=[None, None], missing="drop")


def test_notes_count_what_is_missing():
    table = {"g": ["a", "b"] * 20, "y": [1, None] * 20, "p": [1, 0] * 20, "s": [0.7, None] * 20}
    notes = " ".join(audit(table, label="y", prediction="p", score="s", cutoff=0.8, sensitive="g").notes)
    assert "20 rows have no label" in notes
    assert "20 rows have no score" in notes
    assert "In 20 rows the prediction and the cutoff disagree" in notes
    dropped = {**table, "g": ["a", "b", None, "a"] * 10}
    assert "10 rows without a group were left out" in " ".join(
        audit(dropped, prediction="p", sensitive="g", missing="drop").notes
    )


@some_backends
def test_na_makes_more_of_it_missing(backend, tmp_path):
    columns = {"g": ["a", "NA", "-9", "b"], "y": [1, 0, -9, 0], "p": [1, 0, 1, 0], "s": [0.9, 0.1, -9, 0.2]}
    data = BACKENDS[backend](columns, tmp_path)
    roles = {"label": "y", "prediction": "p", "score": "s", "cutoff": 0.5, "sensitive": "g"}
    cube = Cube.count(data, **roles, na=["NA", "-9"])
    assert set(cube.groups) == {("a",), ("b",), (None,)}
    assert int(cube.n[:, 2].sum()) == 1
    assert cube.facts["score_missing"] == 1


@pytest.mark.parametrize("backend", ["pandas", "parquet", "csv"])
def test_many_names_with_people_enough_are_groups(backend, tmp_path):
    names = [f"postcode {i % 1200}" for i in range(6000)]
    data = BACKENDS[backend]({"postcode": names, "p": [0, 1] * 3000}, tmp_path)
    cube = Cube.count(data, prediction="p", sensitive="postcode")
    assert (len(cube.groups), cube.size) == (1200, 6000)


def test_many_names_with_too_few_people_are_ids():
    names = [f"postcode {i % 1200}" for i in range(5999)]
    with pytest.raises(DataError, match=r"'sensitive' has 1,200 different values: an id\?"):
        Cube.count(prediction=[0] * 5999, sensitive=names)


def test_people_who_are_counted_are_people():
    names = [f"postcode {i}" for i in range(1200)]
    assert len(Cube.count(prediction=[0] * 1200, sensitive=names, count=[5] * 1200).groups) == 1200


def test_more_names_than_an_audit_can_compare_are_an_error(monkeypatch):
    monkeypatch.setattr(levels, "_MOST_VALUES", 1100)
    names = [f"postcode {i % 1200}" for i in range(12_000)]
    with pytest.raises(DataError, match=r"'sensitive' has 1,200 different values"):
        Cube.count(prediction=[0] * 12_000, sensitive=names)
