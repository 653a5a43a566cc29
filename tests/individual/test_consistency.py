"""Individual fairness: the figures against brute force and other tools, by group, with the pairs to look at."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import evenhand as eh
from evenhand.errors import CallError, DataError
from support.hostile import NAMES

HOSTILE = list(NAMES.values())


def people(size: int = 600, seed: int = 0) -> pd.DataFrame:
    """Made-up people of two groups, one of which is scored with more noise."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "group": random.choice(["a", "b"], size, p=[0.7, 0.3]),
            "income": random.normal(30, 8, size),
            "age": random.integers(18, 70, size),
            "job": random.choice(["office", "shop", "site"], size),
        }
    )
    noise = np.where(frame["group"] == "b", 1.5, 0.2) * random.normal(size=size)
    frame["score"] = 1 / (1 + np.exp(-(frame["income"] - 30) / 4 - noise))
    frame["decision"] = (frame["score"] > 0.5).astype(int)
    return frame


def estimates(finding: eh.Finding, measure: str) -> dict[str, float]:
    return {row.group[0] if row.group else "": float(row.estimate) for row in finding.groups if row.measure == measure}


# --- against other tools and brute force


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize(("size", "width", "k"), [(50, 1, 2), (400, 3, 5), (2500, 10, 5), (300, 2, 40)])
def test_consistency_is_that_of_brute_force(size, width, k, include_self):
    random = np.random.default_rng(size)
    X, y = random.normal(size=(size, width)), random.integers(0, 2, size)
    found = eh.consistency(X, prediction=y, k=k, include_self=include_self)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    search = NearestNeighbors(n_neighbors=k + (not include_self), algorithm="brute").fit(scaled)
    order = search.kneighbors(scaled, return_distance=False)[:, 0 if include_self else 1 :]
    assert float(found) == pytest.approx(1 - np.abs(y - y[order].mean(axis=1)).mean(), rel=1e-12)
    assert found.attributes == ("everyone",)
    assert found.verdict == "not judged"


def brute_lipschitz(points, score, L, epsilon, chosen):
    """By a loop-free look at all pairs: how many, within epsilon, violating, and the smallest L."""
    one, other = np.triu_indices(len(points), 1)
    apart, distance = np.abs(score[one] - score[other]), cdist(points, points)[one, other]
    kept = chosen(one, other, distance)
    apart, distance = apart[kept], distance[kept]
    return len(apart), int((apart <= epsilon).sum()), int((apart > L * distance).sum()), float((apart / distance).max())


@pytest.mark.parametrize("limit", [{"pairs": "all"}, {"radius": 1.5}, {"radius": 0.2}])
def test_lipschitz_counts_are_those_of_brute_force_over_all_pairs(limit):
    random = np.random.default_rng(1)
    X = random.normal(size=(2000, 3))
    score = 1 / (1 + np.exp(-X[:, 0] - random.normal(size=2000)))
    found = eh.lipschitz(X, score=score, L=0.3, epsilon=0.1, scale="none", **limit)
    radius = limit.get("radius", math.inf)
    pairs, within, violating, smallest = brute_lipschitz(X, score, 0.3, 0.1, lambda i, j, d: d <= radius)
    assert [float(row.estimate) for row in found.rows] == pytest.approx([within / pairs, violating / pairs, smallest])
    told = next(note for note in found.notes if note.startswith("Of "))
    assert f"Of {pairs:,} pairs" in told
    assert f"{within:,} differ by at most 0.1 in score and {violating:,} by more than 0.3 × their distance" in told


def test_lipschitz_of_the_nearest_takes_each_pair_once():
    random = np.random.default_rng(2)
    X, score = random.normal(size=(500, 4)), random.random(500)
    found = eh.lipschitz(X, score=score, L=0.2, k=3, scale="none")
    order = NearestNeighbors(n_neighbors=4).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    near = np.zeros((500, 500), dtype=bool)
    near[np.repeat(np.arange(500), 3), order.ravel()] = True
    pairs, within, violating, smallest = brute_lipschitz(X, score, 0.2, 0.1, lambda i, j, d: (near | near.T)[i, j])
    assert [float(row.estimate) for row in found.rows] == pytest.approx([within / pairs, violating / pairs, smallest])


def test_given_pairs_are_compared_and_no_others():
    X, score = [[0.0], [1.0], [2.0], [4.0]], [0.1, 0.15, 0.9, 0.9]
    found = eh.lipschitz(X, score=score, pairs=[(0, 1), (1, 0), (3, 2), (1, 2)], L=0.5, scale="none")
    assert [float(row.estimate) for row in found.rows] == pytest.approx([2 / 3, 1 / 3, 0.75])
    decided = eh.consistency(X, prediction=[1, 1, 0, 0], pairs=[(0, 1), (1, 2)], scale="none")
    assert float(decided) == pytest.approx(1 - (0 + 0.5 + 1) / 3)
    assert "1 of 4 people have nobody to be compared with, and are left out of the figures." in decided.notes


def test_consistency_within_a_radius():
    random = np.random.default_rng(3)
    X, y = random.normal(size=(400, 2)), random.integers(0, 2, 400)
    found = eh.consistency(X, prediction=y, radius=0.3, scale="none")
    near = cdist(X, X) <= 0.3
    np.fill_diagonal(near, False)
    some = near.any(axis=1)
    followed = (near @ y)[some] / near.sum(axis=1)[some]
    assert float(found) == pytest.approx(1 - np.abs(y[some] - followed).mean())
    assert found.rows[0].n == some.sum()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from("ab")), min_size=8, max_size=40))
def test_groups_and_everyone_fit_together(rows):
    x, y, group = (np.array(part) for part in zip(*rows, strict=True))
    if len(set(x.tolist())) < 2 or len(set(group.tolist())) < 2:
        return
    found = eh.consistency({"x": x.astype(float)}, prediction=y, sensitive={"g": group}, k=3)
    sizes = {name: (group == name).sum() for name in "ab"}
    values = estimates(found, "consistency")
    together = sum(values[name] * sizes[name] for name in "ab") / len(x)
    assert values[""] == pytest.approx(together)
    for row in found.groups:
        assert 0 <= row.estimate.value <= 1
        if row.n > 1:
            assert row.estimate.low <= row.estimate.value <= row.estimate.high


# --- by group


def test_a_group_that_suffers_more_is_found():
    frame = people(2000)
    found = eh.consistency(frame, prediction="decision", features=["income", "age", "job"], sensitive="group")
    values = estimates(found, "consistency")
    assert values["a"] > values["b"] + 0.05
    assert (found.highest, found.lowest) == ("a", "b")
    assert found.difference.low > 0
    assert found.p_value < 0.01
    assert found.settings["k"] == 5
    assert "Left out of the distance: group, decision." in found.notes
    scored = eh.lipschitz(frame, score="score", features=["income", "age", "job"], sensitive="group", threshold=0.02)
    assert scored.verdict == "fail"
    assert estimates(scored, "similar_treatment")["a"] > estimates(scored, "similar_treatment")["b"]
    constants = estimates(scored, "smallest_constant")
    assert constants[""] == max(constants["a"], constants["b"])


def test_a_reference_and_several_attributes():
    frame = people(900)
    frame["old"] = np.where(frame["age"] > 40, "old", "young")
    found = eh.consistency(
        frame,
        prediction="decision",
        features=["income"],
        sensitive=["group", "old"],
        reference={"group": "a", "old": "old"},
    )
    assert len([row for row in found.groups if row.group]) == 4
    assert found.lowest == "a, old"


def test_a_group_of_a_few_alike_people_is_not_taken_for_certain():
    """Where nothing varies the jackknife sees no error, and the interval must still be wide."""
    x = np.arange(60.0)
    group = np.where(np.arange(60) < 8, "few", "many")
    found = eh.consistency({"x": x}, prediction=np.ones(60, int), sensitive={"g": group}, k=2)
    rows = {row.group: row for row in found.groups}
    assert float(rows["few",].estimate) == 1
    assert rows["few",].estimate.low < 0.7
    assert 0.7 < rows["many",].estimate.low < 0.97
    assert found.verdict == "inconclusive"
    assert any("Fewer than 30" in note for note in found.notes)


def test_missing_groups_are_shown_and_still_neighbours():
    frame = people(300)
    frame.loc[:40, "group"] = None
    found = eh.consistency(frame, prediction="decision", features=["income"], sensitive="group")
    assert [row.group for row in found.groups if row.group] == [("a",), ("b",), (None,)]
    assert any("have no group" in note for note in found.notes)
    everyone = eh.consistency(frame, prediction="decision", features=["income"])
    assert float(everyone) == estimates(found, "consistency")[""]


def test_intervals_cover():
    """The jackknife over people: of 100 samples of made-up people, at least 94 % of the intervals hold the mean."""
    random = np.random.default_rng(4)
    found = []
    for _ in range(100):
        X = random.normal(size=(200, 2))
        group = np.where(random.random(200) < 0.3, "b", "a")
        y = (random.random(200) < 1 / (1 + np.exp(-2 * X[:, 0] - (group == "b")))).astype(int)
        found.append(eh.consistency(X, prediction=y, sensitive={"g": group}, worst=0))
    for measure in ("a", "b", ""):
        rows = [row for each in found for row in each.groups if (row.group[0] if row.group else "") == measure]
        truth = np.mean([float(row.estimate) for row in rows])
        assert np.mean([row.estimate.low <= truth <= row.estimate.high for row in rows]) >= 0.94
    gap = np.abs(np.mean([float(each.groups[0].estimate) - float(each.groups[1].estimate) for each in found]))
    assert np.mean([each.difference.low <= gap <= each.difference.high for each in found]) >= 0.94


# --- pairs to look at


def test_the_worst_pairs_are_the_steepest():
    random = np.random.default_rng(5)
    X, score = random.normal(size=(200, 2)), random.random(200)
    found = eh.lipschitz(X, score=score, pairs="all", scale="none", worst=7)
    one, other = np.triu_indices(200, 1)
    slope = np.abs(score[one] - score[other]) / cdist(X, X)[one, other]
    best = np.argsort(-slope)[:7]
    pairs = eh.worst_pairs(found)
    assert list(zip(pairs["person"], pairs["other person"], strict=True)) == [(one[i], other[i]) for i in best]
    assert pairs["difference per distance"] == pytest.approx(slope[best])
    assert pairs["difference"] == pytest.approx(np.abs(score[one] - score[other])[best])
    assert found.panels[0].kind == "pairs"
    assert pd.DataFrame(pairs).shape == (7, 9)


def test_the_nearest_who_were_decided_differently():
    frame = people(300)
    frame["case"] = [f"no {i}" for i in range(300)]
    found = eh.consistency(
        frame, prediction="decision", features=["income", "job"], sensitive="group", id="case", worst=3
    )
    pairs = eh.worst_pairs(found)
    assert [set(both) for both in zip(pairs["prediction"], pairs["other prediction"], strict=True)] == [{0, 1}] * 3
    assert pairs["distance"] == sorted(pairs["distance"])
    row = int(pairs["person"][0].removeprefix("no "))
    assert pairs["group"][0] == frame["group"][row]
    mine, _, theirs = pairs["income"][0].partition(" | ")
    assert float(mine) == pytest.approx(frame["income"][row], rel=1e-5)
    assert theirs


def test_no_pairs_are_shown_when_none_are_wanted():
    found = eh.consistency(people(50), prediction="decision", features="income", worst=0)
    assert found.panels == ()
    with pytest.raises(CallError, match="shows no pairs: request some with worst=10"):
        eh.worst_pairs(found)


def test_a_feature_may_have_the_name_of_a_column_of_the_pairs():
    X = {"distance": [1.0, 2.0, 3.0, 4.0], "person": [4.0, 3.0, 1.0, 2.0]}
    pairs = eh.worst_pairs(eh.consistency(X, prediction=[0, 1, 0, 1], k=2))
    assert {"distance", "distance (feature)", "person (feature)"} <= set(pairs)


# --- people who are the same in everything


def test_people_who_are_the_same_and_decided_differently():
    X = {"x": [1.0] * 4 + [9.0] * 4}
    found = eh.consistency(X, prediction=[1, 1, 1, 0, 0, 0, 0, 0], k=3)
    assert float(found) == pytest.approx(1 - (3 * (1 / 3) + 1) / 8)
    assert "3 pairs of people are the same in every feature (distance 0) and decided differently." in found.notes
    assert eh.worst_pairs(found)["distance"] == [0.0] * 3
    scored = eh.lipschitz(X, score=[0.5, 0.5, 0.5, 0.6, 0, 0, 0, 0], k=3)
    assert math.isinf(float(scored.rows[-1].estimate))
    assert any("No L holds for all: 3 pairs" in note for note in scored.notes)
    assert eh.worst_pairs(scored)["difference per distance"] == [math.inf] * 3


def test_ties_are_drawn_from_a_seed_and_said():
    X = {"x": [0.0] * 20 + [1.0] * 20}
    y = [0, 1] * 20
    first, again, other = (eh.consistency(X, prediction=y, k=3, random_state=seed) for seed in (1, 1, 2))
    assert float(first) == float(again)
    assert eh.worst_pairs(first) == eh.worst_pairs(again)
    assert float(first) != float(other)
    assert any("For 40 people others are exactly as far" in note for note in first.notes)


def test_the_order_of_rows_does_not_decide_who_is_near():
    """Sorted by decision, the first rows at a point would be everyone's neighbours, and all of one decision."""
    y = np.repeat([1, 0], 500)
    found = eh.consistency({"x": np.repeat([0.0, 1.0], 500)[np.argsort(np.tile([0, 1], 500))]}, prediction=y)
    assert float(found) == pytest.approx(0.5, abs=0.05)


# --- missing values


def test_missing_features():
    X = people(200)[["income", "job", "decision"]]
    X.loc[:9, "income"] = np.nan
    X.loc[5:14, "job"] = None
    kept = eh.consistency(X, prediction="decision")
    assert any(note.startswith("Missing features: income (10), job (10).") for note in kept.notes)
    assert kept.rows[0].n == 200
    dropped = eh.consistency(X, prediction="decision", missing_features="drop")
    assert "15 people (7.5%) lack a feature and were left out." in dropped.notes
    assert float(dropped) == float(eh.consistency(X.dropna(), prediction="decision"))
    assert min(eh.worst_pairs(dropped)["person"]) >= 15
    with pytest.raises(DataError, match="15 people lack a value of 'income', 'job'"):
        eh.consistency(X, prediction="decision", missing_features="error")


def test_missing_decisions_and_scores():
    X = {"x": [1.0, 2.0, 3.0, 4.0, 5.0]}
    with pytest.raises(DataError, match="prediction= is missing for 1 people"):
        eh.consistency(X, prediction=[1, 0, None, 1, 0], k=2)
    found = eh.lipschitz(X, score=[0.1, None, 0.3, 0.4, 0.9], k=2)
    assert found.rows[0].n == 4
    assert "1 people without a score were left out." in found.notes


# --- what may be passed, and what not


def test_every_kind_of_table_finds_the_same(tmp_path):
    frame = people(150)
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    kinds = (
        frame,
        pl.from_pandas(frame),
        frame.to_dict("list"),
        tmp_path / "people.csv",
        str(tmp_path / "people.parquet"),
    )
    told = []
    for kind in kinds:
        found = eh.consistency(kind, prediction="decision", sensitive="group", features=["income", "age", "job"])
        told.append((found.value, found.notes, eh.worst_pairs(found)["person"]))
    assert all(each == told[0] for each in told)


def test_arrays_beside_a_table():
    frame = people(120)
    named = eh.consistency(frame, prediction="decision", sensitive="group", features=["income", "job"])
    arrays = eh.consistency(frame[["income", "job", "group"]], prediction=frame["decision"], sensitive=frame["group"])
    assert float(named) == float(arrays)  # the group is no feature, although it is a column of X


def test_a_sensitive_column_is_a_feature_when_it_is_named():
    frame = people(200)
    found = eh.consistency(frame, prediction="decision", sensitive="group", features=["income", "group"])
    assert "income (in standard deviations) and group (a mismatch counts 1)" in " ".join(found.notes)


def test_an_attribute_may_be_called_everyone():
    frame = people(80).rename(columns={"group": "everyone"})
    found = eh.consistency(frame, prediction="decision", sensitive="everyone", features=["income"])
    assert (found.attributes, found.judged_on) == (("everyone",), "difference")
    feature = eh.consistency(frame[["everyone", "income"]], prediction=frame["decision"])
    assert "everyone (a mismatch counts 1)" in " ".join(feature.notes)


def test_words_for_decisions():
    X = {"x": [1.0, 2.0, 3.0, 4.0]}
    found = eh.consistency(X, prediction=["yes", "yes", "no", "no"], positive="yes", k=1)
    assert 0 < float(found) < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0 must be a whole number of at least 1"),
        ({"k": 2.5}, "k=2.5 must be a whole number"),
        ({"k": True}, "k=True must be a whole number"),
        ({"k": 1, "include_self": True}, "at least 2 with include_self=True"),
        ({"radius": -1}, "radius=-1 must be a number above 0"),
        ({"radius": 1, "pairs": [(0, 1)]}, "radius= and pairs= both say who is compared"),
        ({"pairs": [(0, 9)]}, "pairs= names row 9; the rows are 0 to 5"),
        ({"pairs": [(0, -1)]}, "pairs= names row -1"),
        ({"pairs": [(2, 2)]}, "sets row 2 against itself"),
        ({"pairs": [(0, 1, 2)]}, "must be pairs of row numbers"),
        ({"pairs": "near"}, "must be pairs of row numbers"),
        ({"pairs": []}, "must be pairs of row numbers"),
        ({"scale": "minmax"}, "scale='minmax' is not known"),
        ({"distance": "cosine"}, "distance='cosine' is neither known nor a function"),
        ({"distance": "learned"}, "distance='learned' needs label="),
        ({"missing_features": "fill"}, "missing_features='fill' is not known"),
        ({"neighbours": "fast"}, "neighbours='fast' is not known"),
        ({"worst": -1}, "worst=-1 must be a whole number from 0 to 1,000"),
        ({"threshold": 0.1}, "threshold= is about the gap between groups: say which groups with sensitive="),
        ({"reference": "a"}, "reference= is about the gap between groups"),
        ({"sensitive": "nope"}, "sensitive='nope' is not a column"),
        ({"prediction": "nope"}, "prediction='nope' is not a column"),
        ({"id": "nope"}, "id='nope' is not a column of X"),
        ({"features": "nope"}, "features= names 'nope'"),
        ({"features": ["x", "d"]}, "features= names 'd', which is the decision or score itself: leave it out"),
        (
            {"features": ["x", "y"], "label": "y", "distance": "learned"},
            "features= names 'y', which is the label itself: leave it out",
        ),
        ({"prediction": [0.5, 1, 0, 1, 0, 1]}, "prediction= holds fractions, so it looks like a score"),
        ({"distance": "precomputed", "weights": {"x": 1}}, "distance='precomputed' takes no weights="),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(options, message):
    X = {"x": [1.0, 2.0, 4.0, 5.0, 7.0, 8.0], "d": [0, 1, 0, 1, 0, 1], "y": [0, 0, 1, 1, 0, 1]}
    with pytest.raises(CallError, match=message):
        eh.consistency(X, **{"prediction": "d", **options})


@pytest.mark.parametrize("name", ["L", "epsilon"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "0.1", True])
def test_limits_are_numbers(name, value):
    with pytest.raises(CallError, match=f"{name}=.* must be a number"):
        eh.lipschitz([[1.0], [2.0]], score=[0, 1], **{name: value})


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0], [2.0], [3.0]], {"k": 3}, "k=3 needs more than 3 people, and there are 3"),
        ([[1.0], [2.0]], {"k": 5, "include_self": True}, "k=5 needs more than 4 people, and there are 2"),
        ({"x": []}, {}, "X has no rows"),
        ({}, {}, "X has no columns"),
        ([[1.0], [1.0], [1.0]], {"k": 1}, "nobody can be told apart"),
        ([[1.0], [2.0], [3.0]], {"k": 1, "prediction": [1, 0]}, "pass one for each"),
        ([[1.0], [2.0], [3.0]], {"k": 1, "id": ["a"]}, "id= has 1 values"),
        ([[math.nan], [math.nan]], {"k": 1, "missing_features": "drop"}, "nobody is left to compare"),
    ],
)
def test_wrong_data_is_told_what_is_wrong(X, options, message):
    size = len(X["x"]) if isinstance(X, dict) and X else len(X)
    with pytest.raises((DataError, CallError), match=message):
        eh.consistency(X, **{"prediction": [0, 1, 0][:size], **options})


def test_as_few_people_as_there_may_be():
    found = eh.consistency([[1.0], [2.0]], prediction=[0, 1], k=1)
    assert float(found) == 0
    whole = eh.consistency([[1.0], [2.0], [4.0]], prediction=[0, 1, 1], k=2)  # nobody is left to take a place
    assert float(whole) == pytest.approx(1 - (1 + 0.5 + 0.5) / 3)
    assert eh.consistency([[1.0], [2.0]], prediction=[0, 1], k=2, include_self=True).value.value == 0.5


def test_no_pair_within_a_radius():
    with pytest.raises(CallError, match=r"no pair to compare among all within a distance of 0\.1"):
        eh.lipschitz([[1.0], [2.0]], score=[0, 1], radius=0.1, scale="none")
    alone = eh.consistency([[1.0], [2.0]], prediction=[0, 1], radius=0.1, scale="none")
    assert math.isnan(float(alone))
    assert alone.verdict == "not judged"


# --- in an audit


def test_what_is_found_joins_an_audit_and_is_saved(tmp_path):
    frame = people(400)
    features = ["income", "age", "job"]
    audit = eh.audit(frame, prediction="decision", sensitive="group").add(
        eh.consistency(frame, prediction="decision", sensitive="group", features=features),
        eh.lipschitz(frame, score="score", sensitive="group", features=features),
    )
    audit.save(tmp_path / "audit.json")
    again = eh.Audit.load(tmp_path / "audit.json")
    assert [finding.metric for finding in again.findings[-2:]] == ["consistency", "lipschitz"]
    assert again.findings[-1].panels[0].rows == audit.findings[-1].panels[0].rows
    for suffix in ("html", "md", "xml"):
        audit.save(tmp_path / f"audit.{suffix}")
        assert "consistency" in (tmp_path / f"audit.{suffix}").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "audit.json").read_text())["findings"]


def test_an_audit_of_counts_says_that_it_needs_the_function():
    with pytest.raises(CallError, match=r"call evenhand\.consistency\(\)"):
        eh.audit(people(50), prediction="decision", sensitive="group", metrics=["consistency"])


def test_hostile_names_stay_names():
    frame = people(60).rename(columns={"income": HOSTILE[0]})
    frame["group"] = np.where(frame["group"] == "a", HOSTILE[1], HOSTILE[2])
    found = eh.consistency(frame, prediction="decision", sensitive="group", features=[HOSTILE[0]])
    assert HOSTILE[0] in found.panels[0].columns
    assert str(eh.audit(frame, prediction="decision", sensitive="group").add(found))
