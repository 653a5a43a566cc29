"""In one audit every measure of every attribute set is computed once, for metrics, text, page and tables alike."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections import Counter

import numpy as np
import pytest

import evenhand as eh
from evenhand.inference import draws, spread
from evenhand.measures import cells, combinations, scores
from support.stored_numbers import people


@pytest.fixture
def computed(monkeypatch) -> Counter:
    """How often each measure was computed for each table of groups, and each quantile of its limits."""
    times: Counter = Counter()
    alive = []  # else another spread may have the identity of one that is gone

    def counting(kind, name, key):
        compute = getattr(kind, name)

        def count(self, *arguments):
            times[kind.__name__, name, *key(self, *arguments)] += 1
            return compute(self, *arguments)

        monkeypatch.setattr(kind, name, count)

    def of_groups(measure, data):
        cube = data._cube
        return measure.name, getattr(measure, "bin", None), data._whose, cube.meaning.sensitive, cube.pairs

    def of_spread(counts, *level):
        alive.append(counts)
        return id(counts), *level

    for kind in (cells.CellMeasure, scores.ScoreMeasure, combinations.Combination):
        counting(kind, "spread", of_groups)
    for name in ("lower", "upper"):
        counting(spread.Proportions, name, of_spread)
    return times


@pytest.mark.parametrize("metrics", [None, "all"])
def test_every_measure_is_computed_once(computed, metrics, tmp_path):
    audit = eh.audit(
        people(4000, 4),
        label="label",
        prediction="prediction",
        score="score",
        sensitive=["group", "sex"],
        metrics=metrics,
    )
    first = {key for key in computed if key[1] == "spread"}
    str(audit)
    audit.details()
    audit.groups()
    for name in ("page.html", "audit.md", "audit.json", "audit.xml"):
        audit.save(tmp_path / name)
    kinds = Counter(key[:2] for key in computed)
    assert len(first) > 20
    assert min(kinds["CellMeasure", "spread"], kinds["ScoreMeasure", "spread"], kinds["Combination", "spread"]) > 5
    assert min(kinds["Proportions", "lower"], kinds["Proportions", "upper"]) > 20
    assert {key: times for key, times in computed.items() if times > 1} == {}


def test_draws_are_made_once_for_each_attribute_set(monkeypatch):
    made = []
    draw = draws.multinomial
    monkeypatch.setattr(draws, "multinomial", lambda n, *rest: made.append(np.shape(n)) or draw(n, *rest))
    eh.audit(people(500, 3), label="label", prediction="prediction", sensitive=["group", "sex"], metrics="all")
    assert made == [(3, 8), (2, 8), (6, 8)]
    eh.theil_index(people(500, 3), label="label", prediction="prediction", sensitive="group")
    assert len(made) == 4  # nothing is left over from the audit


def test_what_is_kept_is_not_pickled_and_does_not_outlive_its_cube():
    cube = eh.Cube.count(people(500, 3), label="label", prediction="prediction", sensitive=["group", "sex"])
    before = len(pickle.dumps(cube))
    part = cube.marginal(["sex"])
    assert part is cube.marginal(["sex"]) is cube.marginal(["sex", "group"]).marginal(["sex"])
    cube.audit()
    assert len(pickle.dumps(cube)) == before
    assert pickle.loads(pickle.dumps(part)).marginal([]).n.tolist() == cube.marginal([]).n.tolist()
    gone = weakref.ref(cube)
    del cube
    gc.collect()
    assert gone() is None
    assert part.marginal([]).size == 500  # a part does without its whole


def test_values_that_all_share_cannot_be_changed():
    cube = eh.Cube.count(people(500, 3), label="label", prediction="prediction", sensitive="group")
    audit = cube.audit()
    (measured,) = (each for each in audit.measures(("group",)) if each.measure.name == "accuracy")
    with pytest.raises(ValueError, match="read-only"):
        measured.values[0] = 1.0


def test_scores_that_are_too_many_to_keep_are_read_again(monkeypatch):
    from evenhand.measures import group_data

    monkeypatch.setattr(group_data, "_MOST_KEPT", 10)
    arguments = {"label": "label", "prediction": "prediction", "score": "score", "sensitive": "group"}
    few = eh.audit(people(600, 3), **arguments)
    monkeypatch.undo()
    assert [each.value for each in few.findings] == [
        each.value for each in eh.audit(people(600, 3), **arguments).findings
    ]
