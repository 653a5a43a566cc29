"""Results in hand: findings by name, and the tables of measures, whatever was audited and however."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evenhand as eh
from evenhand.catalogue import METRICS
from evenhand.errors import CallError, EvenhandError, UnknownKeyError
from support import hostile, pages

ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}


def table(frame) -> dict[str, list]:
    """The columns of a dataframe of any kind, as lists."""
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    named = frame.columns if hasattr(frame, "columns") else frame.column_names
    return {str(name): frame[name].to_list() for name in named}


def line(frame, **where) -> dict:
    """The one line of a table in which some columns have these values."""
    columns = table(frame)
    size = len(next(iter(columns.values())))
    rows = [{name: values[i] for name, values in columns.items()} for i in range(size)]
    (found,) = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return found


def same(one, other) -> bool:
    return (one is None and other is None) or one == pytest.approx(other, rel=1e-12, nan_ok=True)


# --- audit["metric", "attribute"]


def test_a_finding_by_its_metric_and_attributes():
    audit = pages.compas()
    found = audit["equalized_odds", "race"]
    assert (found.metric, found.attributes) == ("equalized_odds", ("race",))
    assert found in audit.findings
    assert audit["equalized_odds_difference", "race"] is found
    crossed = audit["equalized_odds", ("race", "sex")]
    assert crossed.attributes == ("race", "sex")
    assert audit["equalized_odds", ["sex", "race"]] is audit["equalized_odds", "sex", "race"] is crossed
    assert audit[METRICS["equalized_odds"], "race"] is found


def test_the_metric_alone_where_there_is_one_set_of_attributes():
    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"))
    assert audit["demographic_parity"] is audit["statistical_parity"]
    assert audit["demographic_parity"].attributes == ("sensitive",)


def test_several_sets_of_attributes_are_named_in_the_error():
    with pytest.raises(KeyError, match="3 sets") as error:
        pages.compas()["equalized_odds"]
    assert isinstance(error.value, EvenhandError)
    assert "audit['equalized_odds', 'race']" in str(error.value)
    assert "audit['equalized_odds', ('race', 'sex')]" in str(error.value)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("equalised_odds", "did you mean 'equalized_odds'"),
        (("equalized_odds", "rac"), "did you mean 'race'"),
        (("demographic_parity_ratio", "race"), "].ratio has the ratio"),
        (("average_abs_odds_difference", "race"), "or metrics=['average_odds', ...]"),
        ("consistency", "call evenhand.consistency()"),
        ("mean_residual_parity", "is for task 'regression'"),
        (0, "does not name a finding"),
        (None, "does not name a finding"),
        ((), "does not name a finding"),
        (("equalized_odds", 3), "does not name a finding"),
    ],
)
def test_a_key_that_is_not_there_says_what_is(key, told):
    audit = pages.compas()
    with pytest.raises(UnknownKeyError) as error:
        audit[key]
    assert told in str(error.value)
    assert not str(error.value).startswith(('"', "'\\'"))
    assert key not in audit


def test_a_metric_that_was_not_computed_names_metrics():
    audit = eh.audit(eh.datasets.compas(), **ROLES, metrics=["equalized_odds"])
    with pytest.raises(KeyError) as error:
        audit["equal_opportunity", "race"]
    assert "equal_opportunity was not computed" in str(error.value)
    assert 'metrics="all"' in str(error.value)
    assert "metrics=['equal_opportunity', ...]" in str(error.value)


def test_a_metric_that_lacks_a_role_names_the_role():
    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"))
    with pytest.raises(KeyError, match="needs label="):
        audit["equal_opportunity"]


def test_a_ratio_is_never_answered_with_a_difference():
    both = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"), metrics=["demographic_parity_ratio"])
    assert both["demographic_parity_ratio"].judged_on == "ratio"
    assert both["demographic_parity"].judged_on == "ratio"  # the only one there is, and it says so
    with pytest.raises(KeyError, match="judged on its ratio"):
        both["demographic_parity_difference"]


def test_whether_a_finding_is_there():
    audit = pages.compas()
    assert "equalized_odds" in audit
    assert ("equalized_odds", "race") in audit
    assert ("equalized_odds", "age") not in audit
    assert "consistency" not in audit


def test_a_metric_of_ones_own_by_its_name():
    own = eh.metric("tpr_share", measures="true_positive_rate", threshold=0.2)
    audit = eh.audit(label=[1, 0] * 20, prediction=[1, 1, 0, 0] * 10, sensitive=list("ab") * 20, metrics=[own.metric])
    assert audit["tpr_share"].metric == "tpr_share"
    assert audit[own.metric] is audit["tpr_share"]


# --- tables of measures


@pytest.fixture(params=["dict", "pandas", "polars", "pyarrow"])
def audited(request):
    """An audit of the same people in a table of each kind, and the library that its tables come from."""
    counts = eh.datasets.compas()
    if request.param == "dict":
        return "pandas", eh.audit(counts, **ROLES)
    library = pytest.importorskip(request.param, reason="a kind of table")
    made = library.table(counts) if request.param == "pyarrow" else library.DataFrame(counts)
    return request.param, eh.audit(made, **ROLES)


def test_tables_are_of_the_callers_kind(audited):
    kind, audit = audited
    finding = audit["equalized_odds", "race"]
    tables = [audit.by_group, audit.overall, audit.group_min(), audit.group_max(), audit.difference(), audit.ratio()]
    for frame in (*tables, audit.summary(), finding.to_frame()):
        assert type(frame).__module__.partition(".")[0] == kind
    assert line(audit.overall)["people"] == 7214
    assert line(audit.by_group, attributes="race", race="Asian")["people"] == 32
    assert line(audit.summary(), attributes="race")["verdict"] == "fail"


def test_a_measure_is_that_of_the_groups():
    audit = pages.compas()
    groups = table(audit.groups())
    wide = audit.by_group
    for i, measure in enumerate(groups["measure"]):
        found = line(wide, attributes=groups["attributes"][i], group=groups["group"][i])
        assert same(found[measure], groups["value"][i])


@pytest.mark.parametrize("kind", ["compas", "missing", "weighted"])
def test_difference_and_ratio_are_those_of_the_findings(kind):
    """Of every metric that compares one measure between extremes."""
    if kind == "compas":
        audit = pages.compas()
    else:
        rng = np.random.default_rng(3)
        group = rng.choice(["a", "b", "c", None], 400).astype(object)
        weight = {"weight": rng.choice([0.0, 1.0, 1e6], 400)} if kind == "weighted" else {}
        label, prediction = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
        audit = eh.audit(label=label, prediction=prediction, sensitive={"g": group}, metrics="all", **weight)
    compared = 0
    for finding in audit.findings:
        measures = {row.measure for row in finding.groups}
        if finding.judged_on == "value" or len(measures) != 1 or any(row.bin for row in finding.groups):
            continue
        (measure,) = measures
        on = " × ".join(finding.attributes)
        assert same(line(audit.difference(), attributes=on)[measure], finding.difference.value), finding
        assert same(line(audit.ratio(), attributes=on)[measure], finding.ratio.value), finding
        high, low = (line(part, attributes=on)[measure] for part in (audit.group_max(), audit.group_min()))
        assert same(high - low, finding.difference.value)
        compared += 1
    assert compared > 10


def test_nothing_is_computed_twice(monkeypatch):
    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"))
    assert audit.by_group is not None
    assert audit.overall is not None
    monkeypatch.setattr("evenhand.audits.audit.every_measure", None)
    for frame in (audit.by_group, audit.overall, audit.group_min(), audit.difference(), audit.ratio()):
        assert len(frame)


def test_people_without_a_group_are_a_line_and_not_an_extreme():
    audit = eh.audit(prediction=[1, 0, 1, 0, 1, 1], sensitive={"g": ["a", "a", "b", "b", None, None]})
    assert line(audit.by_group, group="(missing)")["selection_rate"] == 1.0
    assert line(audit.group_max())["selection_rate"] == 0.5
    assert line(audit.difference())["selection_rate"] == 0.0
    assert line(audit.overall)["selection_rate"] == pytest.approx(4 / 6)


def test_strata_have_their_own_lines():
    audit = eh.audit(
        eh.datasets.berkeley(), prediction="admitted", count="count", sensitive="gender", control="department"
    )
    wide, everyone = audit.by_group, audit.overall
    assert len(table(everyone)["department"]) == 6
    assert len(table(audit.difference())["department"]) == 6
    found = {row: line(wide, department="A", gender=row)["selection_rate"] for row in ("Female", "Male")}
    gap = line(audit.difference(), department="A", stratum="A")["selection_rate"]
    assert gap == pytest.approx(found["Female"] - found["Male"])
    assert gap == pytest.approx(max(table(audit.difference())["selection_rate"]))
    assert audit["demographic_parity"].difference.value == pytest.approx(gap)
    rows = table(audit["demographic_parity"].to_frame())
    assert set(rows["stratum"]) >= {"A", "F"}


def test_several_classes_have_a_column_each():
    rng = np.random.default_rng(0)
    label, prediction = (rng.choice(["red", "green", "blue"], 300) for _ in range(2))
    audit = eh.audit(
        label=label, prediction=prediction, sensitive={"g": rng.choice(["a", "b"], 300)}, task="multiclass"
    )
    columns = table(audit.by_group)
    assert {"accuracy", "true_positive_rate of red", "true_positive_rate of blue"} <= set(columns)
    groups = table(audit.groups())
    for i, (measure, of_class) in enumerate(zip(groups["measure"], groups["class"], strict=True)):
        name = measure if of_class is None or of_class != of_class else f"{measure} of {of_class}"
        assert same(line(audit.by_group, group=groups["group"][i])[name], groups["value"][i])
    assert line(audit.overall)["accuracy"] == pytest.approx((label == prediction).mean())


def test_a_regression_has_its_measures():
    rng = np.random.default_rng(0)
    label = rng.normal(10, 2, 300)
    prediction = label + rng.normal(0, 1, 300)
    audit = eh.audit(
        label=label, prediction=prediction, sensitive={"g": rng.choice(["a", "b"], 300)}, task="regression"
    )
    assert line(audit.overall)["mean_prediction"] == pytest.approx(prediction.mean())
    assert line(audit.difference())["mean_prediction"] >= 0
    assert math.isnan(line(audit.ratio())["mean_residual"])  # which can be negative


def test_one_person_and_nobody_labelled():
    one = eh.audit(prediction=[1, 0, 1], sensitive={"g": ["a", "b", "b"]})
    assert line(one.by_group, group="a")["selection_rate"] == 1.0
    alone = eh.audit(label=[1, 0, 1, 0], prediction=[1, 0, 1, 1], sensitive={"g": ["a", "a", "a", "b"]})
    assert math.isnan(line(alone.by_group, group="b")["true_positive_rate"])
    assert math.isnan(line(alone.difference())["true_positive_rate"])
    assert line(alone.group_min())["true_positive_rate"] == 1.0
    unlabelled = eh.audit(label=[None, None, 1, 0], prediction=[1, 0, 1, 0], sensitive={"g": list("aabb")})
    assert math.isnan(line(unlabelled.by_group, group="a")["true_positive_rate"])


def test_clusters_keep_their_values():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(100), 3)
    data = {"g": np.where(person % 2, "a", "b"), "d": rng.integers(0, 2, 300), "p": person}
    audit = eh.audit(data, prediction="d", sensitive="g", cluster="p")
    assert line(audit.overall)["selection_rate"] == pytest.approx(data["d"].mean())
    assert audit["demographic_parity"].to_frame() is not None


def test_values_stay_what_they_were():
    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive={"age_gt25": [0, 0, 1, 1]})
    assert table(audit.by_group)["age_gt25"] == [0, 1]
    assert audit["demographic_parity"].to_frame()["age_gt25"].to_list()[:2] == [0, 1]
    assert eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive={"n": [7, 7, 8, 8]}).to_frame()["n_value"][0] == 7


def test_a_loaded_audit_answers_alike(tmp_path):
    audit = pages.compas()
    audit.save(tmp_path / "a.json")
    loaded = eh.Audit.load(tmp_path / "a.json")
    assert loaded["equalized_odds", "race"] == audit["equalized_odds", "race"]
    for name in ("group_min", "group_max", "difference", "ratio", "summary"):
        assert str(table(getattr(loaded, name)())) == str(table(getattr(audit, name)()))
    assert str(table(loaded.by_group)) == str(table(audit.by_group))
    rows = loaded["equalized_odds", "race"].to_frame()
    assert str(table(rows)) == str(table(audit["equalized_odds", "race"].to_frame()))


def test_cubes_and_shared_audits_answer_too():
    cube = pages.compas().cube
    assert line(cube.audit().overall)["people"] == 7214
    shared = pages.compas().shared()
    assert set(table(shared.by_group)["attributes"]) <= {"race", "sex", "race × sex"}
    for finding in shared.findings:
        assert finding in [shared[finding.metric, finding.attributes]]


@hostile.every_name
def test_names_that_are_not_names(name):
    for audit in (hostile.audited(name, column=False), hostile.audited(name, column=True)):
        finding = audit["equalized_odds"]
        assert audit["equalized_odds", finding.attributes] is finding
        assert len(audit.by_group) == 3
        assert len(finding.to_frame()) >= len(finding.rows)
        assert len(repr(finding.rows[0])) < 1500


def test_a_summary_has_what_decides_with_its_sentence():
    found = table(pages.compas().summary())
    assert found["verdict"] == ["fail", "pass"]
    assert found["group"][0] == "African-American"
    finding = pages.compas()["equalized_odds", "race"]
    assert found["interpretation"][0] == finding.interpretation
    assert (found["shown"][0], found["threshold"][0]) == (finding.shown.value, finding.threshold)
    judged = eh.audit(prediction=[1, 0, 1, 1], sensitive=list("aabb"), policy=eh.Policy(thresholds={}, required=()))
    assert len(judged.summary()) == 0


def test_a_row_of_a_finding_is_a_line():
    finding = pages.compas()["equalized_odds", "race"]
    columns = table(finding.to_frame())
    assert len(columns["measure"]) == len(finding.rows) + 1
    for i, row in enumerate(finding.rows):
        told = (None, None) if row.estimate is None else (row.estimate.value, row.estimate.low)
        for cell, said in zip((columns["value"][i], columns["low"][i]), told, strict=True):
            assert (said is None and (cell is None or math.isnan(cell))) or cell == said


def test_the_extremes_are_set_side_by_side():
    finding = eh.demographic_parity(prediction=[1, 1, 0, 1, 0, 0], sensitive={"g": list("aaabbb")})
    found = line(finding.to_frame(), measure="demographic_parity", group="a", against="b")
    assert (found["difference"], found["ratio"]) == (finding.difference.value, finding.ratio.value)
    crossed = pages.compas()["equalized_odds", "race"]
    found = line(crossed.to_frame(), measure="equalized_odds", group=crossed.highest, against=crossed.lowest)
    assert found["difference"] == float(crossed)


@pytest.mark.parametrize("function", [eh.demographic_parity, eh.equalized_odds])
def test_a_finding_of_a_function_knows_its_caller(function):
    polars = pytest.importorskip("polars", reason="a kind of table")
    people = polars.DataFrame({"y": [1, 0, 1, 0], "d": [1, 0, 1, 1], "g": [1, 1, 2, 2]})
    rows = function(people, label="y", prediction="d", sensitive="g").to_frame()
    assert isinstance(rows, polars.DataFrame)
    assert rows["g"][0] == 1


def test_findings_beside_the_line_know_their_caller():
    polars = pytest.importorskip("polars", reason="a kind of table")
    rng = np.random.default_rng(0)
    people = polars.DataFrame({"x": rng.normal(size=120), "d": rng.integers(0, 2, 120), "g": list("ab") * 60})
    near = eh.consistency(people, prediction="d", sensitive="g", features=["x"])
    turned = eh.flip_test(lambda table: np.asarray(table["x"]), people, sensitive="g")
    steady = eh.stability(rng.random((5, 120)), data=people, sensitive="g").findings[0]
    for finding in (near, turned, steady):
        assert isinstance(finding.to_frame(), polars.DataFrame)
        assert finding._repr_html_()


def test_a_measure_of_ones_own_may_have_any_name():
    rows = eh.measure("people", lambda label, prediction: float(np.mean(prediction)))
    own = eh.metric("own_parity", measures=rows, threshold=0.2)
    data = {"y": [1, 0] * 30, "d": [1, 1, 0] * 20, "attributes": list("ab") * 30}
    audit = eh.audit(data, label="y", prediction="d", sensitive="attributes", metrics=[own.metric], draws=100)
    assert line(audit.by_group, group="a")["people"] == 30
    value = line(audit.by_group, group="a")["people_value"]
    assert value == pytest.approx(np.mean(np.array(data["d"])[::2]))
    assert math.isnan(line(audit.overall)["people_value"])
    assert line(audit.group_max())["people"] >= value


def test_audits_can_be_copied_and_pickled():
    import copy
    import pickle

    audit = eh.audit(prediction=[1, 0, 1, 1], sensitive={"g": [1, 1, 2, 2]})
    for again in (copy.copy(audit), copy.deepcopy(audit), pickle.loads(pickle.dumps(audit))):
        assert repr(again["demographic_parity"]) == repr(audit["demographic_parity"])
        assert again["demographic_parity"].to_frame()["g"].to_list()[:2] == [1, 2]


# --- pictures


def test_pictures_of_audits_and_findings():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib draws the displays")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from evenhand import plots

    audit = pages.compas()
    assert isinstance(audit.plot(), plots.ForestDisplay)
    assert audit.plot("sex").metrics
    figure, ax = plt.subplots()
    drawn = audit["equalized_odds", "race"].plot(ax)
    assert isinstance(drawn, plots.FindingDisplay)
    assert drawn.figure_ is figure
    assert drawn.measures == ["true_positive_rate", "false_positive_rate"]
    assert drawn.pair == ("African-American", "Caucasian")
    plt.close("all")
    with pytest.raises(CallError, match="not audited"):
        audit.plot("age")
