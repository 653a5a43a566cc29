"""proxies(): how much columns say about an attribute, what chance would give, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import evenhand as eh
from evenhand.audits.proxy_columns import count_people
from support.hostile import NAMES


def people(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], rows)
    return pd.DataFrame(
        {
            "sex": sex,
            "height": np.where(sex == "m", 178.0, 166.0) + random.normal(0, 7, rows),
            "title": np.where(random.random(rows) < 0.9, np.where(sex == "m", "Mr", "Ms"), "Dr"),
            "income": random.lognormal(10, 0.5, rows),
            "region": random.choice(["north", "south", "west"], rows),
        }
    )


def columns(finding) -> list[str]:
    return [row[0] for row in finding.panels[0].rows]


def line(finding, column: str) -> dict:
    (found,) = (row for row in finding.panels[0].rows if row[0] == column)
    return dict(zip(finding.panels[0].columns, found, strict=True))


# --- numbers


def test_columns_are_ranked_and_those_beyond_chance_are_named():
    finding = eh.proxies(people(), sensitive="sex")
    assert columns(finding)[:2] == ["title", "height"]
    assert finding.settings["flagged"] == ["title", "height"]
    assert finding.interpretation.startswith(
        "2 columns of 4 say something about sex beyond chance: title, height. title"
    )
    assert finding.verdict == "not judged"
    assert finding.value.value == line(finding, "title")["correlation"]


def test_a_leaked_column_is_on_top_whatever_it_is_called():
    random = np.random.default_rng(1)
    frame = people()
    frame["many"] = random.integers(0, 300, len(frame)).astype(str)  # looks telling, by chance alone
    frame["leak"] = np.where(frame["sex"] == "f", 17.0, 23.5)
    finding = eh.proxies(frame, sensitive="sex")
    assert columns(finding)[0] == "leak"
    assert line(finding, "leak")["correlation"] == pytest.approx(1)
    assert line(finding, "leak")["AUC"] == 1
    assert "many" not in finding.settings["flagged"]
    assert line(finding, "many")["correlation"] == pytest.approx(line(finding, "many")["chance"], abs=0.1)


@pytest.mark.parametrize("usual", [0.0, 9.0, -3.0])
def test_a_leak_among_numbers_that_are_nearly_always_the_same_is_found(usual):
    """As of a count that is mostly 0: ten bins of equal size would all begin at that number."""
    random = np.random.default_rng(2)
    group = np.where(np.arange(1000) < 60, "b", "a")
    frame = {"g": group, "x": np.where(group == "b", random.lognormal(size=1000), usual)}
    finding = eh.proxies(frame, sensitive="g")
    assert finding.settings["flagged"] == ["x"]
    assert line(finding, "x")["correlation"] == pytest.approx(1)
    assert line(finding, "x")["p (Holm)"] < 0.01


@pytest.mark.parametrize("share", [0.5, 0.85, 0.93])
def test_numbers_that_are_mostly_the_same_say_nothing_by_chance(share):
    random = np.random.default_rng(3)
    x = np.where(random.random(2000) < share, 0.0, random.normal(size=2000))
    found = line(eh.proxies({"g": random.choice(["a", "b"], 2000), "x": x}, sensitive="g"), "x")
    assert found["correlation"] == pytest.approx(found["chance"], abs=0.07)
    assert found["p (Holm)"] > 0.01


def test_of_two_groups_the_maximal_correlation_is_that_of_pearson():
    frame = people()
    counts = pd.crosstab(frame["sex"], frame["title"]).to_numpy()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    found = line(eh.proxies(frame, sensitive="sex"), "title")
    assert found["correlation"] ** 2 == pytest.approx(((counts - expected) ** 2 / expected).sum() / counts.sum())


def test_information_is_that_of_scikit_learn_less_what_chance_adds():
    frame = people()
    found = line(eh.proxies(frame, sensitive="sex"), "title")
    assert found["information"] == pytest.approx(mutual_info_score(frame["sex"], frame["title"]) - 2 / (2 * len(frame)))
    assert found["its chance"] == pytest.approx(2 / (2 * len(frame)), rel=0.2)


def test_the_best_split_is_that_of_a_tree_with_one_node():
    frame = people()
    is_m = (frame["sex"] == "m").astype(int)
    found = line(eh.proxies(frame, sensitive="sex"), "height")
    best = 0.0
    for cut in np.unique(frame["height"]):
        best = max(best, *(roc_auc_score(is_m, side) for side in (frame["height"] >= cut, frame["height"] < cut)))
    assert found["AUC"] == pytest.approx(best)
    tree = DecisionTreeClassifier(max_depth=1).fit(frame[["height"]], is_m)
    assert found["AUC"] >= roc_auc_score(is_m, tree.predict(frame[["height"]])) - 1e-12


def test_a_missing_value_may_tell_the_group():
    frame = people()
    frame["answered"] = np.where(frame["sex"] == "m", np.nan, 1.0) * np.random.default_rng(0).random(len(frame))
    found = line(eh.proxies(frame, sensitive="sex"), "answered")
    assert found["correlation"] == pytest.approx(1)
    assert found["AUC"] == 1


def test_of_several_groups_one_is_told_from_all_others():
    random = np.random.default_rng(0)
    group = random.choice(list("abc"), 900)
    finding = eh.proxies(
        {"g": group, "x": np.where(group == "b", 1.0, 0.0) + random.normal(0, 0.1, 900)}, sensitive="g"
    )
    assert "tells g = b from all others with an AUC of 1.00" in finding.interpretation


def test_several_attributes_make_their_combinations():
    frame = people().assign(old=lambda frame: frame.index % 2)
    finding = eh.proxies(frame, sensitive=["sex", "old"])
    assert finding.attributes == ("sex", "old")
    assert columns(finding)[:2] == ["title", "height"]


def test_nothing_is_said_beyond_chance_of_columns_that_say_nothing():
    random = np.random.default_rng(3)
    finding = eh.proxies({"g": random.choice(list("ab"), 300), "x": random.normal(size=300)}, sensitive="g")
    assert finding.settings["flagged"] == []
    assert finding.interpretation.startswith("x says nothing about g beyond chance (p at most 0.05 after Holm): ")


def test_the_sentence_does_not_call_the_farthest_from_chance_the_largest():
    random = np.random.default_rng(2)
    people = {"sex": random.choice(["f", "m"], 300), "number": random.normal(size=300)}
    people |= {"code": random.choice(list("ab"), 300)}
    found = eh.proxies(people, sensitive="sex")
    first = found.rows[0]
    assert first.estimate.value < max(row.estimate.value for row in found.rows)
    name = first.measure.removeprefix("column: ")
    assert f"The farthest from chance is {name}, with a maximal correlation of {first.estimate.value:.2f}" in str(found)
    alone = eh.proxies(people, sensitive="sex", features=["number"])
    assert "number says nothing about sex beyond chance (p at most 0.05 after Holm): its maximal" in str(alone)


def test_few_false_flags_under_independence():
    """A small simulation; `benchmarks/explain.py` has the settings and the bar."""
    random, runs, flagged = np.random.default_rng(5), 120, 0
    for _ in range(runs):
        data = {
            "g": random.choice(list("abc"), 200, p=[0.6, 0.3, 0.1]),
            **{f"x{i}": random.lognormal(size=200) for i in range(3)},
            **{f"c{i}": random.choice(list("pqrstuvw"), 200) for i in range(3)},
        }
        flagged += bool(eh.proxies(data, sensitive="g").settings["flagged"])
    assert flagged <= 0.12 * runs


# --- reading


def test_features_are_named_or_all_others():
    frame = people()
    assert set(columns(eh.proxies(frame, sensitive="sex"))) == {"height", "title", "income", "region"}
    assert columns(eh.proxies(frame, features="title", sensitive="sex")) == ["title"]
    assert len(columns(eh.proxies(frame.drop(columns="sex"), sensitive=frame["sex"]))) == 4


def test_tables_files_and_arrays_give_the_same(tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    expected = eh.proxies(frame, sensitive="sex")
    for data in (tmp_path / "people.csv", str(tmp_path / "people.parquet"), frame.to_dict("list")):
        assert eh.proxies(data, sensitive="sex").rows == expected.rows


def test_codes_are_categories_where_the_caller_says_so():
    random = np.random.default_rng(0)
    code = random.integers(0, 30, 3000)
    data = {"g": np.where(code % 2, "a", "b"), "code": code}
    assert line(eh.proxies(data, sensitive="g", categorical="code"), "code")["correlation"] == pytest.approx(1)
    assert line(eh.proxies(data, sensitive="g"), "code")["correlation"] < 0.7


def test_people_without_a_group_and_constant_columns_are_noted():
    frame = people().assign(same="x")
    frame.loc[:9, "sex"] = None
    notes = eh.proxies(frame, sensitive="sex").notes
    assert "Left out, because everyone has the same value: same." in notes
    assert "10 rows have no group and are left out." in notes


def test_the_same_seed_gives_the_same():
    one, other = (eh.proxies(people(), sensitive="sex", random_state=4) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sensitive": None}, "sensitive= is missing: name the attribute"),
        ({"sensitive": "sexx"}, "sexx.*did you mean 'sex'"),
        ({"features": ["heigt"]}, "features= names 'heigt'.*did you mean 'height'"),
        ({"features": ["sex"]}, "'sex', which is the attribute itself: leave it out"),
        ({"features": []}, "no feature"),
        ({"score": "income"}, "score= is for the gap that contributions= share out"),
        ({"between": ("f", "m")}, "between= is for the gap that contributions= share out"),
        ({"data": None}, "data is missing"),
        ({"confidence": 2}, "confidence"),
    ],
)
def test_calls_that_cannot_be_answered(changes, message):
    with pytest.raises(eh.EvenhandError, match=message):
        eh.proxies(**{"data": people(), "sensitive": "sex", **changes})


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["x"] * 600, "in 'odd' everyone has the same value, or none.*leave it out of features="),
        ([np.nan] * 600, "in 'odd' everyone has the same value, or none"),
        ([f"id {i}" for i in range(600)] + [f"id {i}" for i in range(600, 1200)], "an id, or a date"),
    ],
)
def test_columns_that_tell_nothing_are_refused_by_name(column, message):
    frame = people(len(column)).assign(odd=column)
    with pytest.raises(eh.DataError, match=message):
        eh.proxies(frame, features=["odd"], sensitive="sex")


def test_dates_of_which_each_occurs_once_say_nothing():
    data = {"g": ["a", "b"] * 10, "day": [f"2020-01-{i + 1:02d}" for i in range(20)]}
    finding = eh.proxies(data, sensitive="g")
    assert finding.settings["flagged"] == []
    assert line(finding, "day")["chance"] == pytest.approx(1)


def test_one_group_is_refused():
    with pytest.raises(eh.DataError, match="one group only"):
        eh.proxies(people().assign(sex="f"), sensitive="sex")


# --- where it goes


def test_it_is_saved_with_an_audit(tmp_path):
    frame = people().assign(hired=1)
    frame.loc[::3, "hired"] = 0
    finding = eh.proxies(frame, sensitive="sex")
    audit = eh.audit(frame, prediction="hired", sensitive="sex").add(finding)
    for suffix in ("html", "json", "md", "xml"):
        audit.save(tmp_path / f"audit.{suffix}")
    assert eh.Audit.load(tmp_path / "audit.json").findings[-1] == finding


def test_people_are_counted_without_an_outcome():
    cube = count_people(people(), ["sex"])
    assert cube.size == 600
    assert not cube.has_labels
    assert not cube.has_predictions


@pytest.mark.parametrize("name", list(NAMES.values())[:8], ids=list(NAMES)[:8])
def test_names_stay_names(name, tmp_path):
    frame = people().rename(columns={"title": name})
    frame["sex"] = frame["sex"].replace("m", name)
    finding = eh.proxies(frame, sensitive="sex")
    assert columns(finding)[0] == name
    for suffix in ("html", "json", "md", "xml"):
        eh.audit(frame, label=np.arange(600) % 2, sensitive="sex").add(finding).save(tmp_path / f"audit.{suffix}")
