"""Whatever the metric, the task and the comparison: rows written out, counts and weights give the same value.

And every weighted value is what numpy, scipy, scikit-learn and statsmodels make of the rows (`support.oracle`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.catalogue import METRICS
from support import agreement
from support.agreement import CASES, ELSEWHERE, LEAST_IN_BIN, REFERENCES, Task, ask, close, compared, dense, differences
from support.oracle import People
from support.profiles import examples

FEW = examples(24)
ROOT = Path(__file__).resolve().parents[2]


@st.composite
def people(draw: st.DrawFn, task: Task) -> People:
    """Rows of at least two groups, one of them "a"; drawn row by row, so that hypothesis can make them fewer."""
    values = {
        "binary": (st.integers(0, 1), st.integers(0, 1)),
        "multiclass": (st.sampled_from(agreement.CLASSES),) * 2,
        "regression": (st.sampled_from(agreement.OUTCOMES), st.sampled_from(agreement.PREDICTED)),
    }[task]
    row = st.tuples(
        *values,
        st.sampled_from(agreement.SCORES),
        st.sampled_from(agreement.GROUPS),
        st.sampled_from(agreement.STRATA),
    )
    rows = draw(st.lists(row, min_size=4, max_size=24))
    columns = dict(
        zip(("label", "prediction", "score", "group", "stratum"), map(np.array, zip(*rows, strict=False)), strict=True)
    )
    columns["group"][:2] = agreement.GROUPS[:2]
    if task != "binary":
        del columns["score"]
    return People(columns, np.ones(len(rows)))


def weights(size: int, whole: bool, extreme: bool) -> st.SearchStrategy[list[float]]:
    each = st.integers(1, 5) if whole else st.floats(0.01, 10)
    if extreme and not whole:
        each = st.one_of(each, st.sampled_from([1e-3, 1.0, 1e6]))
    return st.lists(each, min_size=size, max_size=size)


def drawn(data: st.DataObject, name: str, task: Task, *, whole: bool) -> People:
    found = data.draw(people(task))
    # R² divides by a variance: where one person has all the weight, no sum carries nine digits of it.
    found = found.weighing(data.draw(weights(len(found), whole, extreme=name != "r_squared_parity")))
    return dense(found) if name == LEAST_IN_BIN else found


@pytest.mark.parametrize(("name", "task"), CASES)
@FEW
@given(data=st.data(), against=st.sampled_from(REFERENCES), strata=st.booleans())
def test_rows_written_out_counts_and_weights_give_the_same_value(name, task, data, against, strata):
    table = drawn(data, name, task, whole=True)
    written, counted, weighted = (
        ask(name, table, task, how, against=against, strata=strata) for how in ("repeated", "count", "weight")
    )
    assert differences(counted, written, ends=True) == []
    assert (counted.verdict, counted.interpretation, counted.notes) == (
        written.verdict,
        written.interpretation,
        written.notes,
    )
    if name != "differential_fairness":  # rates are smoothed by one person more, and three are not one who weighs 3
        assert differences(weighted, written, ends=False) == []


@pytest.mark.parametrize(("name", "task"), CASES)
@FEW
@given(data=st.data(), against=st.sampled_from(REFERENCES), strata=st.booleans(), whole=st.booleans())
def test_a_weighted_value_is_that_of_the_rows(name, task, data, against, strata, whole):
    table = drawn(data, name, task, whole=whole)
    strata = strata and METRICS[name].index is None
    finding = ask(name, table, task, "weight", against=against, strata=strata)
    numbers = list(compared(name, finding, table, task, against))
    assert numbers
    assert [each for each in numbers if not close(*each[1:])] == []


@pytest.mark.parametrize(("name", "task"), CASES)
@FEW
@given(data=st.data(), against=st.sampled_from(REFERENCES), factor=st.sampled_from([2.0**-20, 0.5, 2.0**20]))
def test_the_unit_of_the_weights_does_not_matter(name, task, data, against, factor):
    """By powers of two, which round nothing: which of two equal gaps is named would hang on a last digit."""
    table = drawn(data, name, task, whole=False)
    one = ask(name, table, task, "weight", against=against)
    other = ask(name, table.weighing(table.weight * factor), task, "weight", against=against)
    assert differences(one, other, ends=False) == []


@pytest.mark.parametrize(("name", "task"), CASES)
@FEW
@given(data=st.data(), against=st.sampled_from(REFERENCES))
def test_rows_of_weight_0_change_no_value(name, task, data, against):
    table = drawn(data, name, task, whole=False)
    ghosts = table.take(np.arange(len(table)) % 3 > 0).weighing(np.zeros(int((np.arange(len(table)) % 3 > 0).sum())))
    both = People(
        {key: np.concatenate([column, ghosts[key]]) for key, column in table.columns.items()},
        np.concatenate([table.weight, ghosts.weight]),
    )
    one, other = (ask(name, each, task, "weight", against=against) for each in (table, both))
    assert differences(one, other, ends=False) == []


def test_every_metric_that_is_counted_is_compared():
    counted = {name for name, entry in METRICS.items() if entry.counted}
    assert {name for name, _ in CASES} == counted - set(ELSEWHERE)
    assert set(ELSEWHERE) <= counted


def test_the_table_in_the_docs_has_every_metric():
    """`python tools/invariance_table.py --write` makes it."""
    text = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    lines = text.partition("<!-- agreement -->")[2].partition("<!-- /agreement -->")[0].splitlines()
    rows = {line.split("`")[1]: line.split("|")[2:-1] for line in lines if line.startswith("| `")}
    assert list(rows) == [name for name, entry in METRICS.items() if entry.counted and name not in ELSEWHERE]
    for name, cells in rows.items():
        compared_with = METRICS[name].judged_on != "value"
        assert [bool(cell.strip()) for cell in cells] == [
            *([True] * 3),
            *([compared_with] * 3),
            "multiclass" in METRICS[name].tasks,
        ]
        assert all(int(cell) > 0 for cell in cells if cell.strip())


def test_the_standardised_gap_is_a_mean_by_weight():
    random = np.random.default_rng(0)
    for _ in range(20):
        table = agreement.random_people(random, "binary", 30, 80)
        table = table.weighing(random.integers(1, 6, len(table)))
        found = [ask("demographic_parity", table, "binary", how, strata=True) for how in ("repeated", "weight")]
        gaps = [next(row for row in each.rows if row.measure == "standardised_gap").difference for each in found]
        assert gaps[0].value == pytest.approx(gaps[1].value, abs=1e-9)
        name, other = next((row.group[0], row.against) for row in found[1].rows if row.measure == "standardised_gap")
        parts = [table.take(table["stratum"] == stratum) for stratum in agreement.STRATA]
        whole = sum(part.weight.sum() for part in parts)
        expected = sum(
            part.weight.sum() / whole * (_rate(part.group(name)) - _rate(part.group(other))) for part in parts
        )
        assert gaps[1].value == pytest.approx(expected, abs=1e-9)


def _rate(people: People) -> float:
    return float(np.average(people["prediction"], weights=people.weight))


def test_the_largest_group_is_the_heaviest():
    table = {"prediction": [1, 0, 1, 0, 1], "sensitive": list("aaabb"), "weight": [1, 1, 1, 5, 5]}
    assert eh.demographic_parity(**table, reference="largest").settings["against"] == "b"
