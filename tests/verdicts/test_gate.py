"""A required metric that cannot be computed never opens the gate: every reason, through every door."""

from __future__ import annotations

import json
from xml.etree import ElementTree as Xml

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, EvenhandError
from evenhand.report import junit, page
from evenhand.testing import assert_fair
from evenhand.verdicts.policy import Policy
from support.backends import csv_text

EVEN = {
    "who": ["a", "b"] * 400,
    "team": ["x", "x", "y", "y"] * 200,
    "label": [0, 0, 0, 0, 1, 1, 1, 1] * 100,
    "decision": [0, 0, 1, 1] * 200,
    "score": [0.2, 0.2, 0.8, 0.8] * 200,
    "amount": [1.5, 1.5, 2.5, 2.5] * 200,
}


def changed(**columns) -> dict[str, list]:
    return {**EVEN, **columns}


def only(keep, column: str = "label", where: str = "who") -> list:
    return [value if keep(group) else None for value, group in zip(EVEN[column], EVEN[where], strict=True)]


# What was wrong with the data, the table, and the metric that cannot be computed from it.
REASONS = {
    "nobody has a label": (changed(label=[None] * 800), "equalized_odds"),
    "nobody has the positive label": (changed(label=[0] * 800), "equal_opportunity"),
    "one group has labels": (changed(label=only(lambda who: who == "a")), "equalized_odds"),
    "nobody is selected, so there is no ratio": (changed(decision=[0] * 800), "disparate_impact"),
    "nobody is selected, so there is no precision": (changed(decision=[0] * 800), "predictive_parity"),
    "one group is selected": (changed(decision=[0, 1] * 400), "predictive_parity"),
    "one group has scores": (changed(score=only(lambda who: who == "a", "score")), "mean_score_parity"),
}

# What is an error before anything is computed.
ERRORS = {
    "there is one group": (changed(who=["a"] * 800), "demographic_parity"),
    "nobody has a group": (changed(who=[None] * 800), "demographic_parity"),
    "nobody has a score": (changed(score=only(lambda who: False, "score")), "mean_score_parity"),
    "nobody is there": ({name: [] for name in EVEN}, "demographic_parity"),
}


def call(reason: str) -> tuple[dict[str, list], str, dict[str, str]]:
    table, metric = {**REASONS, **ERRORS}[reason]
    roles = {"sensitive": "who", "label": "label", "prediction": "decision"}
    if "score" in metric:
        roles = {"sensitive": "who", "label": "label", "score": "score"}
    return table, metric, roles


def written(path, table: dict[str, list], roles: dict[str, str], metric: str) -> list[str]:
    path.write_text(csv_text(table))
    return [str(path), *(f"--{role}={name}" for role, name in roles.items()), "--require", metric]


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("counts_as", ["inconclusive", "fail", "pass"])
def test_no_door_opens(reason, counts_as, tmp_path, capsys):
    table, metric, roles = call(reason)
    policy = Policy(required=metric, inconclusive=counts_as)
    found = eh.audit(table, **roles, policy=policy)
    finding = next(each for each in found.findings if found.decides(each))
    assert not finding.value.defined
    assert (finding.verdict, found.verdict) == ("inconclusive", counts_as)
    assert getattr(eh, metric)(table, **roles).verdict == "inconclusive"

    out = {suffix: tmp_path / f"audit.{suffix}" for suffix in ("json", "xml", "md", "html")}
    for path in out.values():
        found.save(path)
    assert json.loads(out["json"].read_text())["verdict"] == counts_as
    assert eh.Audit.load(out["json"]).verdict == counts_as
    suite = Xml.fromstring(out["xml"].read_text())
    assert (suite.get("failures"), suite.get("errors")) == {
        "inconclusive": ("0", "1"),
        "fail": ("1", "0"),
        "pass": ("0", "0"),
    }[counts_as]
    assert f"**Verdict: {counts_as}**" in out["md"].read_text() or f"Verdict: {counts_as}" in out["md"].read_text()

    arguments = [*written(tmp_path / "d.csv", table, roles, metric), "--inconclusive", counts_as, "--json"]
    code = run(["audit", *arguments])
    assert code == {"inconclusive": 3, "fail": 1, "pass": 0}[counts_as]
    assert json.loads(capsys.readouterr().out)["verdict"] == counts_as
    if counts_as == "pass":
        assert assert_fair(found) is found
    else:
        with pytest.raises(AssertionError, match=metric):
            assert_fair(found)


@pytest.mark.parametrize("reason", ERRORS)
def test_no_door_opens_on_an_error(reason, tmp_path, capsys):
    table, metric, roles = call(reason)
    for door in (eh.audit, assert_fair):
        with pytest.raises(EvenhandError):
            door(table, **roles, policy=Policy(required=metric))
    arguments = written(tmp_path / "d.csv", table, roles, metric)
    assert run(["audit", *arguments, "-o", str(tmp_path / "audit.xml")]) == 2
    assert not (tmp_path / "audit.xml").exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_a_metric_without_a_threshold_is_shown_and_not_judged():
    found = eh.audit(
        changed(label=[None] * 800),
        sensitive="who",
        label="label",
        prediction="decision",
        policy=Policy(required="equalized_odds", thresholds={"equalized_odds": None}),
    )
    assert found.verdict == "not judged"


def test_a_required_metric_that_the_data_cannot_have_is_an_error():
    with pytest.raises(CallError, match="label"):
        eh.audit(EVEN, sensitive="who", prediction="decision", policy=Policy(required="equalized_odds"))


def test_what_can_no_longer_be_computed_is_not_better():
    roles = {"sensitive": "who", "label": "label", "prediction": "decision"}
    uneven = changed(decision=[0, 1] * 400)
    gone = changed(label=[None] * 800)
    for before in (EVEN, uneven, gone):
        assert eh.diff(eh.audit(before, **roles), eh.audit(gone, **roles)).verdict == "inconclusive"
    assert eh.diff(eh.audit(gone, **roles), eh.audit(EVEN, **roles)).verdict == "pass"


def test_what_decided_and_is_no_longer_there_is_not_better():
    roles = {"label": "label", "prediction": "decision"}
    both = {**roles, "sensitive": ["who", "team"]}
    for before in (EVEN, changed(decision=[0, 1] * 400)):
        assert eh.diff(eh.audit(before, **both), eh.audit(EVEN, **roles, sensitive="team")).verdict != "pass"


def test_a_watch_on_what_nobody_can_compute_is_not_silent(tmp_path, capsys):
    days = []
    for day in ("monday", "tuesday"):
        days.append(tmp_path / f"{day}.cube")
        eh.Cube.count(changed(label=[None] * 800), sensitive="who", label="label", prediction="decision").save(days[-1])
    assert run(["watch", *map(str, days), "--metric", "equalized_odds"]) == 3
    assert "No evidence on equalized odds so far" in capsys.readouterr().out
    assert run(["watch", *map(str, days), "--metric", "demographic_parity"]) == 0
    # One can be watched, the other cannot.
    assert run(["watch", *map(str, days), "--metric", "demographic_parity", "--metric", "calibration_gap"]) != 0


# --- Combinations that nobody looked at ------------------------------------------------------------------------------


def many(attributes: int) -> dict[str, list]:
    return {f"a{i}": [str((row >> i) & 1) for row in range(2**attributes)] * 8 for i in range(attributes)}


def test_by_default_up_to_three_attributes_are_combined_and_the_rest_is_named():
    table = {**many(7), "decision": [0, 1] * 512}
    names = [f"a{i}" for i in range(7)]
    found = eh.audit(table, prediction="decision", sensitive=names, metrics=["demographic_parity"])
    sets = {finding.attributes for finding in found.findings}
    assert max(map(len, sets)) == 3
    assert len(sets) == 63
    assert any("64 more combinations of attributes are left out" in note for note in found.notes)
    every = eh.audit(table, prediction="decision", sensitive=names, metrics=["demographic_parity"], intersections=True)
    assert len({finding.attributes for finding in every.findings}) == 127
    assert not any("more combinations" in note for note in every.notes)


def test_a_bounded_number_of_sets_whatever_the_number_of_attributes():
    cube = eh.Cube.count({**many(10), "decision": [0, 1] * 4096}, prediction="decision", sensitive=list(many(10)))
    found = cube.attribute_sets()
    assert len(found.sets) == 64
    assert found.further == 2**10 - 1 - 64
    wide = {f"a{i}": ["x", "y"] * 40 for i in range(30)}
    found = eh.audit({**wide, "decision": [0, 1, 1, 0] * 20}, prediction="decision", sensitive=list(wide))
    assert len({finding.attributes for finding in found.findings}) == 64
    with pytest.raises(CallError, match="makes 1,073,741,823 sets of 30 attributes"):
        eh.audit(
            {**wide, "decision": [0, 1, 1, 0] * 20}, prediction="decision", sensitive=list(wide), intersections=True
        )


def test_a_pass_on_every_combination_needs_every_combination(tmp_path):
    table = {**many(5), "decision": ([0] * 32 + [1] * 32) * 4}
    call = {
        "prediction": "decision",
        "sensitive": list(many(5)),
        "metrics": ["demographic_parity"],
        "min_group_size": 1,
    }
    thresholds = {"demographic_parity": 1.0}
    some = eh.audit(table, **call, policy=Policy(on="all", thresholds=thresholds))
    assert some.verdict == "inconclusive"
    assert some.left_out == ("6 more combinations of attributes",)
    assert "left out: 6 more combinations of attributes" in str(some)
    path = tmp_path / "audit.json"
    some.save(path)
    assert eh.Audit.load(path).verdict == "inconclusive"
    suites = Xml.fromstring(junit.dumps(some))
    assert (suites.get("failures"), suites.get("errors")) == ("0", "1")
    assert suites.find(".//error").get("message") == "left out, and would decide: 6 more combinations of attributes"
    with pytest.raises(AssertionError, match="left out: 6 more combinations of attributes"):
        assert_fair(some)
    for enough in (3, True):
        found = eh.audit(table, **call, policy=Policy(on="all", thresholds=thresholds, intersections=enough))
        assert found.left_out == ()
        assert found.verdict == "pass"
    assert eh.audit(table, **call, policy=Policy(thresholds=thresholds)).verdict == "pass"


def test_a_combination_of_too_many_groups_that_decides_leaves_the_verdict_open():
    ids = [f"{i % 40}" for i in range(3200)]
    table = {"one": ids, "two": [f"{i // 40 % 40}" for i in range(3200)], "decision": [0, 1] * 1600}
    call = {"prediction": "decision", "sensitive": ["one", "two"], "min_group_size": 1}
    found = eh.audit(table, **call, policy=Policy(on="all", thresholds={"demographic_parity": 1.0}))
    assert found.left_out == ("demographic_parity on one × two",)
    assert found.verdict == "inconclusive"


def test_a_shared_page_of_what_is_incomplete_says_so():
    table = {**many(5), "decision": ([0] * 32 + [1] * 32) * 4}
    found = eh.audit(
        table,
        prediction="decision",
        sensitive=list(many(5)),
        metrics=["demographic_parity"],
        policy=Policy(on="all", thresholds={"demographic_parity": 1.0}),
    )
    assert '"incomplete":true' in page.dumps(found)


# --- Mistakes that are easily made -----------------------------------------------------------------------------------


def test_a_reference_has_a_value_for_each_attribute():
    call = {"prediction": "decision", "metrics": ["demographic_parity"]}
    for reference in (("a", "x"), [], {}, ("a", "x", "y"), {"whom": "a"}, {3: "a"}):
        with pytest.raises(CallError, match="reference"):
            eh.audit(EVEN, **call, sensitive="who", reference=reference)
    both = {**call, "sensitive": ["who", "team"]}
    by_place = eh.audit(EVEN, **both, reference=("b", "y"))
    by_name = eh.audit(EVEN, **both, reference={"who": "b", "team": "y"})
    assert by_place.findings == by_name.findings
    assert [finding.evidence.against for finding in by_place.findings] == ["b", "y", "b, y"]


def test_a_metric_is_made_of_measures_and_has_a_name_of_its_own():
    for measures in (None, [], 3, object()):
        with pytest.raises(CallError, match="measure"):
            eh.metric("mine", measures=measures)
    for name in ("equalized_odds", "four_fifths"):
        with pytest.raises(CallError, match="catalogue"):
            eh.metric(name, measures="selection_rate")
    for name in (3, None, "two words", ""):
        with pytest.raises(CallError, match="identifier"):
            eh.metric(name, measures="selection_rate")
    with pytest.raises(CallError, match="judged_on"):
        eh.metric("mine", measures="selection_rate", judged_on="value")


def test_an_audit_in_the_place_of_a_cube_and_a_cube_in_that_of_an_audit():
    found = eh.audit(EVEN, sensitive="who", label="label", score="score", cutoff=0.5)
    for function in (eh.sweep, eh.mitigate.find_thresholds):
        for wrong in (found, None, 3, EVEN):
            with pytest.raises(CallError, match=r"pass a Cube .* such as audit\.cube"):
                function(wrong)
    for name in ("Calibration", "Forest", "GroupMeasure", "Roc", "Sweep"):
        display = getattr(eh.plots, f"{name}Display")
        for wrong in (found.cube, None, "audit.json"):
            with pytest.raises(CallError, match="pass an Audit"):
                display.from_audit(wrong)
        with pytest.raises(CallError, match="attributes='whom' is not audited"):
            display.from_audit(found, attributes="whom")
        assert display.from_audit(found, attributes="who")
    with pytest.raises(CallError, match="compare"):
        eh.plots.TradeoffDisplay.from_comparison(found)
