"""explain(): the parts of a gap, its sentence, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from support.hostile import NAMES

ADMITTED = {"prediction": "admitted", "sensitive": "gender", "count": "count"}
BY_DEPARTMENT = {**ADMITTED, "control": "department"}
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def berkeley(**changes):
    return eh.explain(eh.datasets.berkeley(), **{**BY_DEPARTMENT, **changes})


def parts(finding) -> dict[str, float]:
    return {row.measure: row.difference.value for row in finding.rows if row.difference is not None}


def people(rows: int = 3000, seed: int = 0, gap: float = 0.0) -> pd.DataFrame:
    """Two groups in other regions and other branches, whose rates differ by place."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], rows, p=[0.6, 0.4])
    region = np.where(random.random(rows) < np.where(group == "a", 0.7, 0.3), "north", "south")
    branch = np.where(random.random(rows) < np.where(group == "a", 0.5, 0.2), "big", "small")
    chance = 0.2 + 0.3 * (region == "north") + 0.1 * (branch == "big") + gap * (group == "a")
    return pd.DataFrame(
        {
            "group": group,
            "region": region,
            "branch": branch,
            "label": (random.random(rows) < 0.5).astype(int),
            "decided": (random.random(rows) < chance).astype(int),
            "risk": np.clip(chance + random.normal(0, 0.1, rows), 0, 1),
        }
    )


READ = {"prediction": "decided", "sensitive": "group"}


# --- Berkeley


def test_berkeley_says_what_everybody_knows_with_its_numbers():
    finding = berkeley()
    assert finding.interpretation == (
        "Simpson's paradox: the selection rate is 44.5 % for Male (n = 2,691) and 30.4 % for Female (n = 1,835), 14.2 "
        "points apart. Where people are (department) makes 17.8 (95 % interval 15.0 to 20.2), more than the whole "
        "gap; within the same department it is higher for Female, by 3.6 (0.2 to 7.1)."
    )
    assert finding.notes[0] == (
        "Within strata the gap points the other way in 4 of the 6 that have both groups. They differ among themselves "
        "(Breslow-Day p = 0.0021): no single number fits all."
    )
    found = parts(finding)
    assert found["gap"] == pytest.approx(1198 / 2691 - 557 / 1835, abs=1e-15)
    assert found["gap"] == pytest.approx(found["composition"] + found["rates"], abs=1e-12)
    assert finding.verdict == "not judged"
    assert finding.value.value == found["composition"]


def test_the_gap_is_that_of_the_metric_itself():
    finding = berkeley(between=("Male", "Female"))
    metric = eh.demographic_parity(eh.datasets.berkeley(), reference="Female", **ADMITTED)
    assert finding.difference == metric.evidence.difference
    assert [row.estimate for row in finding.groups] == [row.estimate for row in metric.groups[::-1]]


def test_a_composition_of_rates_is_shown_in_points_and_says_what_is_measured():
    finding = berkeley()
    assert (finding.unit, finding.title) == ("points", "composition of a gap (selection rate)")


def test_the_order_of_the_groups_turns_the_signs_and_not_the_sentence():
    one, other = berkeley(between=("Male", "Female")), berkeley(between=("Female", "Male"))
    assert parts(one) == {name: pytest.approx(-value) for name, value in parts(other).items()}
    assert one.interpretation == other.interpretation
    assert (other.highest, other.lowest) == ("Female", "Male")


def test_the_panel_leads_from_one_group_to_the_other():
    way, strata = berkeley().panels
    assert (way.kind, way.role) == ("table", "waterfall")
    assert way.columns == ("part", "from", "to", "value", "low", "high")
    names, starts, ends, values, *_ = zip(*way.rows, strict=True)
    assert names == ("Female", "by department", "what happens there", "Male")
    assert starts[1] == ends[0]
    assert starts[2] == ends[1]
    assert ends[2] == pytest.approx(ends[3], abs=1e-12)
    assert values[1] == pytest.approx(ends[1] - starts[1])
    assert [row[0] for row in strata.rows] == list("ABCDEF")
    assert strata.rows[0][1:5] == pytest.approx((825 / 2691, 108 / 1835, 512 / 825, 89 / 108))


# --- every sentence


def counted(rows):
    """The finding of people counted by group, stratum, and whether they were selected."""
    data = [{"g": g, "s": s, "d": d, "n": n} for g, s, hits, rest in rows for d, n in ((1, hits), (0, rest)) if n]
    return eh.explain(data, prediction="d", sensitive="g", control="s", count="n")


def test_a_part_of_the_gap():
    assert eh.explain(people(), control="region", **READ).interpretation == (
        "13.9 (95 % interval 12.0 to 15.8) of the 15.0 points between group = a and group = b in the selection rate "
        "come from where people are (region), and 1.1 (-2.7 to 4.8) from what happens there."
    )


def test_composition_that_hides_a_gap():
    finding = counted([("a", "x", 95, 5), ("a", "y", 600, 300), ("b", "x", 600, 300), ("b", "y", 20, 80)])
    assert finding.interpretation == (
        "The selection rate is 69.5 % for g = a (n = 1,000) and 62.0 % for g = b (n = 1,000), 7.5 points apart. Where "
        "people are (s) does not explain it, and alone would make -30.0 points (95 % interval -33.7 to -25.2); within "
        "the same s the gap is 37.5 points (32.3 to 42.5)."
    )


def test_a_gap_of_nothing():
    data = {"g": list("aabb") * 50, "s": list("xyxy") * 50, "d": [1, 0, 1, 0] * 50}
    finding = eh.explain(data, prediction="d", sensitive="g", control="s")
    assert "0.0 points apart: 0.0 points (95 % interval -" in finding.interpretation


def test_a_composition_larger_than_the_gap_without_certainty():
    finding = counted([("a", "x", 600, 400), ("a", "y", 50, 150), ("b", "x", 121, 79), ("b", "y", 255, 745)])
    found = parts(finding)
    assert found["composition"] > found["gap"] > 0 > found["rates"]
    assert "Simpson" not in finding.interpretation
    assert "within the same s it is not sure that there is any: -" in finding.interpretation


def test_strata_with_one_group_are_named():
    frame = people()
    frame.loc[(frame["group"] == "a") & (frame.index % 20 == 0), "region"] = "island"
    finding = eh.explain(frame, control="region", **READ)
    found = parts(finding)
    assert found["gap"] == pytest.approx(found["composition"] + found["rates"] + found["not_comparable"], abs=1e-12)
    assert "come from strata with one of the two groups only, which cannot be compared." in finding.interpretation
    assert "are in strata without the other group: region = island." in finding.notes[0]


# --- several columns, other measures, risks


def test_several_columns_share_the_composition_effect():
    finding = eh.explain(people(), control=["region", "branch"], **READ)
    found = parts(finding)
    assert found["composition: region"] + found["composition: branch"] == pytest.approx(found["composition"], abs=1e-12)
    alone = [parts(eh.explain(people(), control=name, **READ))["composition"] for name in ("region", "branch")]
    region = (alone[0] + found["composition"] - alone[1]) / 2
    assert found["composition: region"] == pytest.approx(region, abs=1e-12)


def test_a_true_positive_rate_is_split_among_positive_labels():
    frame = people()
    finding = eh.explain(frame, "equal_opportunity", control="region", label="label", **READ)
    alone = eh.explain(frame[frame["label"] == 1], control="region", **READ)
    assert parts(finding) == {name: pytest.approx(value, abs=1e-12) for name, value in parts(alone).items()}


def test_a_mean_score_is_split_in_its_own_units():
    frame = people()
    finding = eh.explain(frame, "mean_score_parity", control="region", score="risk", sensitive="group")
    means = frame.groupby(["group", "region"])["risk"].mean()
    shares = frame.groupby("group")["region"].value_counts(normalize=True)
    by_hand = sum(
        (shares["a", place] - shares["b", place]) * (means["a", place] + means["b", place]) / 2
        for place in ("north", "south")
    )
    assert parts(finding)["composition"] == pytest.approx(by_hand, abs=1e-12)
    assert finding.unit == "score"
    assert "points" not in finding.interpretation


def test_people_of_the_same_risk_are_compared():
    finding = eh.explain(people(), risk="risk", **READ)
    rates = next(row.difference for row in finding.rows if row.measure == "rates")
    assert finding.settings["control"] == ["risk"]
    assert finding.notes[0].startswith("The risk-adjusted gap, between people in the same bin of risk, is ")
    assert f"{100 * rates.value:+.1f} points" in finding.notes[0]
    with_region = eh.explain(people(), control="region", risk="risk", bins=5, **READ)
    assert with_region.settings["control"] == ["region", "risk"]
    assert "with the same values of the other columns" in with_region.notes[0]
    frame = people()
    arrays = eh.explain(prediction=frame["decided"], sensitive={"group": frame["group"]}, risk=frame["risk"].to_numpy())
    assert parts(arrays) == parts(finding)


def test_a_metric_may_be_its_function():
    assert berkeley(metric=eh.demographic_parity) == berkeley(metric="demographic_parity")


def test_how_columns_were_cut_is_said():
    frame = people().assign(age=lambda frame: (20 + frame.index % 40).astype(str))
    notes = eh.explain(frame, control=["risk", "age"], **READ).notes
    assert any(note.startswith("risk is numeric and was cut into quantile bands; bands=") for note in notes)
    assert "age holds 40 numbers as text, each of which is a stratum; bands={'age': [...]} cuts them." in notes


def test_other_bands_of_a_risk():
    finding = eh.explain(people(), risk="risk", bands={"risk": [0, 0.5, 1]}, **READ)
    assert [row[0] for row in finding.panels[1].rows] == ["[0, 0.5)", "[0.5, 1]"]
    with pytest.raises(eh.DataError, match="risk"):
        eh.explain(people().assign(risk=lambda frame: 100 * frame["risk"]), risk="risk", **READ)


def test_weights_move_the_parts_and_widen_the_intervals():
    frame = people().assign(w=1.0)
    plain = eh.explain(frame, control="region", **READ)
    same = eh.explain(frame, control="region", weight="w", **READ)
    assert parts(plain) == {name: pytest.approx(value) for name, value in parts(same).items()}
    frame["w"] = np.random.default_rng(1).choice([0.1, 10.0], len(frame))
    uneven = eh.explain(frame, control="region", weight="w", **READ)
    assert uneven.value.high - uneven.value.low > plain.value.high - plain.value.low
    weighed = frame[frame["group"] == "a"]
    assert uneven.groups[0].estimate.value == pytest.approx(np.average(weighed["decided"], weights=weighed["w"]))


def test_rows_that_belong_together_have_no_intervals():
    frame = people().assign(person=lambda frame: frame.index // 3)
    finding = eh.explain(frame, control="region", cluster="person", **READ)
    assert finding.value.low is None
    assert any("they have no interval" in note for note in finding.notes)
    assert finding.difference.low is not None  # of the gap itself it is known


# --- where the data may be


def test_every_kind_of_data_gives_the_same_parts(tmp_path):
    frame = people()
    expected = eh.explain(frame, control=["region", "branch"], **READ)
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    connection = duckdb.connect()
    cube = eh.Cube.count(frame, control=["region", "branch"], **READ)
    cube.save(tmp_path / "people.cube")
    for data in (tmp_path / "people.parquet", tmp_path / "people.csv", connection.from_df(frame)):
        finding = eh.explain(data, control=["region", "branch"], **READ)
        assert (finding.interpretation, finding.rows) == (expected.interpretation, expected.rows)
    for data in (cube, tmp_path / "people.cube"):
        assert eh.explain(data).rows == expected.rows


def test_a_cube_is_split_over_some_of_its_controls():
    cube = eh.Cube.count(people(), control=["region", "branch"], **READ)
    assert parts(eh.explain(cube, control="branch")) == parts(eh.explain(people(), control="branch", **READ))


def test_one_attribute_of_several_is_found_by_its_groups():
    frame = people().assign(sex=lambda frame: np.where(frame.index % 2, "f", "m"))
    read = {"prediction": "decided", "sensitive": ["group", "sex"], "control": "region"}
    both = eh.explain(frame, between=("a", "b"), **read)
    assert both.attributes == ("group",)
    assert parts(both) == parts(eh.explain(frame, control="region", **READ))
    crossed = eh.explain(frame, between=(("a", "f"), ("b", "m")), **read)
    assert crossed.attributes == ("group", "sex")


def test_it_is_added_to_an_audit_and_saved(tmp_path):
    audit = eh.audit(eh.datasets.berkeley(), control="department", **ADMITTED).add(berkeley())
    audit.save(tmp_path / "audit.json")
    audit.save(tmp_path / "audit.html")
    again = eh.Audit.load(tmp_path / "audit.json")
    (kept,) = (finding for finding in again.findings if finding.metric == "explain")
    assert kept == berkeley()


# --- what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"between": ("Male", "Femal")}, r"'Femal' is not a group; did you mean 'Female'"),
        ({"between": ("Male", "Male")}, "names the same group twice, 'Male': name another"),
        ({"between": ("Male",)}, "must name two groups"),
        ({"between": "Male"}, "must name two groups"),
        ({"control": None}, "there is nothing to split the gap over: name the columns"),
        ({"control": "departement"}, "departement.*department"),
        ({"control": "gender"}, "plays two roles, sensitive and control"),
        ({"metric": "equalized_odds"}, "compares 2 measures: explain the gap in one of them, metric='equal_oppo"),
        ({"metric": "theil_index"}, "has no parts; explain another one"),
        ({"metric": "treatment_equality"}, "is not the mean of those of its strata"),
        ({"metric": "auc_parity"}, "is not the mean of those of its strata"),
        ({"metric": "equal_opportunity"}, "needs label="),
        ({"metric": "demographic parit"}, "is not a metric"),
        ({"sensitive": "department", "control": "gender"}, "there are 6 groups: say which two are compared with"),
    ],
)
def test_calls_that_cannot_be_answered(changes, message):
    with pytest.raises(eh.EvenhandError, match=message):
        berkeley(**changes)


def frame_with(**columns):
    return people(60).assign(**columns)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (frame_with(region=[f"r{i}" for i in range(60)]), "no stratum of region has both groups: there are 60 strata"),
        (frame_with(region=None), "'region' is missing in every row: leave it out"),
        (
            frame_with(region=np.where(np.arange(60) < 6, np.arange(60) / 7, 0)),
            "divide it: cut it with bands=.'region'",
        ),
        (frame_with(region="x"), "'region' is always 'x': one stratum explains nothing"),
        (people(60).assign(region=lambda frame: frame["group"]), "no stratum of region has both groups"),
        (frame_with(group="a"), "the attribute has one group only .'a'.: there is no gap to explain"),
    ],
)
def test_data_in_which_nothing_can_be_compared(frame, message):
    with pytest.raises(eh.EvenhandError, match=message):
        eh.explain(frame, control="region", **READ)


def test_a_cube_without_controls_and_controls_that_it_does_not_have():
    cube = eh.Cube.count(people(), **READ)
    with pytest.raises(eh.CallError, match="this cube was counted without any"):
        eh.explain(cube)
    cube = eh.Cube.count(people(), control="region", **READ)
    with pytest.raises(eh.CallError, match="'regon' is not a control of this cube; did you mean 'region'"):
        eh.explain(cube, control="regon")
    with pytest.raises(eh.CallError, match="names a column twice"):
        eh.explain(cube, control=["region", "region"])
    with pytest.raises(eh.CallError, match="count it with the risk as control="):
        eh.explain(cube, risk="risk")


def test_labels_that_only_the_selected_have_are_refused():
    frame = people()
    frame["label"] = np.where(frame["decided"] == 1, frame["label"], np.nan)
    with pytest.raises(eh.EvenhandError, match="has a label"):
        eh.explain(frame, "equal_opportunity", label="label", control="region", **READ)


def test_the_gap_is_of_the_people_with_a_label_as_its_parts_are():
    frame = people()
    lost = np.where(frame["decided"] == 1, 0.1, 0.3) > np.random.default_rng(1).random(len(frame))
    frame["label"] = frame["label"].where(~lost)
    known, every = (
        eh.explain(each, "equal_opportunity", label="label", control="region", **READ)
        for each in (frame.dropna(), frame)
    )
    assert every.difference == known.difference
    assert parts(every) == parts(known)
    assert f"{int(lost.sum())} rows have no label" in every.notes[-2]
    assert "those of people with a label, as if labels were missing at random" in every.notes[-1]
    assert not any("no label" in note for note in eh.explain(frame, control="region", **READ).notes)


def test_who_is_left_out_is_said():
    frame = people()
    frame["group"] = frame["group"].where(frame.index >= 40)
    finding = eh.explain(frame, control="region", **READ)
    assert "40 rows have no group and are left out." in finding.notes
    assert finding.rows[0].n + finding.rows[1].n == len(frame) - 40


def test_several_classes_weights_of_nobody_and_bins_that_cannot_be():
    frame = people().assign(grade=lambda frame: np.array(["x", "y", "z"])[frame.index % 3])
    with pytest.raises(eh.CallError, match=r"of several classes no one gap can be split: say which .* positive="):
        eh.explain(frame, prediction="grade", task="multiclass", sensitive="group", control="region")
    weights = (frame["group"] == "a").astype(float)
    with pytest.raises(eh.DataError, match="with a weight above 0"):
        eh.explain(frame, control="region", weight=weights, **READ)
    with pytest.raises(eh.CallError, match="bins"):
        eh.explain(frame, risk="risk", bins=0, **READ)
    with pytest.raises(eh.CallError, match="risk= is an array: give control= as arrays too"):
        eh.explain(frame, risk=frame["risk"].to_numpy(), control="region", **READ)
    with pytest.raises(eh.CallError, match="risk= names a column and control= holds arrays"):
        eh.explain(frame, risk="risk", control={"region": frame["region"]}, **READ)


def test_too_many_columns():
    frame = people()
    columns = {f"c{i}": np.arange(len(frame)) % 2 for i in range(11)}
    with pytest.raises(eh.CallError, match="split over 11 columns: name at most 10"):
        eh.explain(frame.assign(**columns), control=list(columns), **READ)


def test_people_without_a_group_are_left_out():
    frame = people()
    frame.loc[:50, "group"] = None
    known = frame[frame["group"].notna()]
    assert parts(eh.explain(frame, control="region", **READ)) == parts(eh.explain(known, control="region", **READ))
    with pytest.raises(eh.CallError, match="people without a group"):
        eh.explain(frame, between=("a", None), control="region", **READ)


# --- names and odd data


@pytest.mark.parametrize("name", list(NAMES.values())[:6], ids=list(NAMES)[:6])
def test_names_stay_names(name, tmp_path):
    frame = people().rename(columns={"region": name})
    frame["group"] = frame["group"].replace("a", name)
    finding = eh.explain(frame, control=name, **READ)
    assert name in finding.settings["control"]
    eh.Cube.count(frame, control=name, **READ)
    for suffix in (".html", ".json", ".md", ".xml"):
        eh.audit(frame, **READ).add(finding).save(tmp_path / f"x{suffix}")


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("pq"), st.integers(0, 1)),
        min_size=4,
        max_size=60,
    )
)
def test_any_data_is_split_or_refused(rows):
    g, s, t, d = zip(*rows, strict=True)
    data = {"g": [*g, "a", "b"], "s": [*s, "x", "x"], "t": [*t, "p", "p"], "d": [*d, 1, 0]}
    try:
        finding = eh.explain(data, prediction="d", sensitive="g", control=["s", "t"])
    except eh.DataError as error:
        assert "is always" in str(error)  # noqa: PT017 - one of many outcomes
        return
    found = parts(finding)
    rest = found.get("not_comparable", 0.0)
    assert found["gap"] == pytest.approx(found["composition"] + found["rates"] + rest, abs=1e-12)
    for row in finding.rows:
        value = row.difference or row.estimate
        assert value.low is not None
        assert value.low - 1e-9 <= value.value <= value.high + 1e-9
        assert not math.isnan(value.low)


@pytest.mark.skipif(not DATA.exists(), reason="the data shared beside the project is not there")
def test_adult_by_hours_and_education():
    """Sums over pandas, for columns of numbers that are cut into bands."""
    frame = pd.read_csv(DATA / "adult_scored.csv")
    read = {"prediction": "pred_lr", "sensitive": "sex", "bands": {"hours_per_week": [0, 35, 41, 100]}}
    finding = eh.explain(frame, control="hours_per_week", **read)
    place = pd.cut(frame["hours_per_week"], [0, 35, 41, 100], right=False)
    rates = frame.groupby(["sex", place], observed=True)["pred_lr"].mean().unstack(0)
    shares = pd.crosstab(place, frame["sex"], normalize="columns")
    by_hand = ((shares["Male"] - shares["Female"]) * rates.mean(axis=1)).sum()
    assert parts(finding)["composition"] == pytest.approx(by_hand, abs=1e-12)
