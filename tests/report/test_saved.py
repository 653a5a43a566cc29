"""An audit is loaded again and says the same, without the data; a file that is no audit is an error that says so."""

from __future__ import annotations

import copy
import json
import random
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.cli import run
from evenhand.core import records
from evenhand.cube import tables
from evenhand.errors import DataError
from evenhand.report import json as report_json
from evenhand.report import junit, markdown, saved
from support import hostile
from support.hostile import DECISION, GROUP, LABEL
from support.profiles import examples
from support.seals import sealed
from support.strategies import cubes


@cache
def small() -> eh.Audit:
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": [GROUP]}
    return eh.audit(hostile.as_group("some"), **roles, metrics=["equalized_odds", "demographic_parity", "theil_index"])


def again(audit: eh.Audit, folder: Path) -> eh.Audit:
    audit.save(folder / "audit.json")
    return eh.Audit.load(folder / "audit.json")


def frames() -> dict[str, dict]:
    rng = np.random.default_rng(0)
    n = 500
    group, stratum = rng.choice(["a", "b", None], n), rng.choice(["x", "y"], n)
    label, score, weight = rng.integers(0, 2, n), rng.random(n), rng.random(n)
    classes = np.array(["p", "q", "r"])
    compas = {"data": eh.datasets.compas(), "label": "recidivated", "score": "decile", "count": "count"}
    return {
        "compas": {**compas, "cutoff": 5, "sensitive": ["race", "sex"]},
        "policy": {**compas, "cutoff": 5, "sensitive": "race", "policy": "four-fifths"},
        "reference": {**compas, "cutoff": 5, "sensitive": "race", "reference": {"race": "Caucasian"}},
        "weights": {"label": label, "score": score, "cutoff": 0.37, "sensitive": group, "weight": weight},
        "strata": {"label": label, "prediction": label, "sensitive": group, "control": stratum},
        "scores": {"label": label, "score": score, "sensitive": {"g": group, "s": stratum}, "strategy": "quantile"},
        "bands": {"prediction": label, "sensitive": score},
        "regression": {"label": score + label, "prediction": score, "sensitive": group},
        "weighted regression": {"label": score + label, "prediction": score, "sensitive": group, "weight": weight},
        "classes": {
            "label": classes[rng.integers(0, 3, n)],
            "prediction": classes[rng.integers(0, 3, n)],
            "sensitive": group,
            "task": "multiclass",
        },
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_a_loaded_audit_says_the_same(kind, tmp_path):
    found = eh.audit(**frames()[kind])
    loaded = again(found, tmp_path)
    assert str(loaded) == str(found)
    assert markdown.dumps(loaded) == markdown.dumps(found)
    assert junit.dumps(loaded) == junit.dumps(found)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "audit.json").read_bytes()
    assert loaded.cube == found.cube
    assert (loaded.verdict, loaded.required, loaded.policy) == (found.verdict, found.required, found.policy)
    assert loaded.groups().to_csv() == found.groups().to_csv()
    assert loaded.to_frame().to_csv() == found.to_frame().to_csv()


@pytest.mark.parametrize("kind", list(frames()))
def test_the_cube_of_a_file_is_the_cube_of_an_audit(kind, tmp_path):
    """One way to write cells, for Parquet and for JSON."""
    roles = {name: value for name, value in frames()[kind].items() if name not in ("policy", "reference")}
    cube = eh.Cube.count(**roles)
    cube.save(tmp_path / "x.cube")
    assert eh.Cube.load(tmp_path / "x.cube") == cube
    assert tables.read(tables.write(cube)) == cube


def test_a_loaded_audit_can_be_judged_again(tmp_path):
    found = eh.audit(**frames()["compas"])
    loaded = again(found, tmp_path)
    anew = loaded.cube.audit(policy=loaded.policy)
    assert str(anew) == str(found.cube.audit(policy=found.policy))
    sex = loaded.cube.marginal(["sex"])
    strict = sex.audit(metrics=["demographic_parity"], confidence=0.99)
    assert strict.findings[0].value == eh.demographic_parity(found.cube.marginal(["sex"]), confidence=0.99).value


def test_the_findings_are_loaded_and_not_computed_anew(tmp_path):
    told = json.loads(report_json.dumps(small()))
    told["findings"][0]["interpretation"] = "As it was judged then."
    told["findings"][0]["value"]["value"] = 0.123
    (tmp_path / "old.json").write_text(json.dumps(sealed(told)))
    loaded = eh.Audit.load(tmp_path / "old.json")
    assert str(loaded.findings[0]) == "Fail. As it was judged then."
    assert float(loaded.findings[0]) == 0.123


def test_what_a_finding_was_judged_by_is_not_saved_and_is_made_again(tmp_path):
    audit = small()
    audit.save(tmp_path / "audit.json")
    told = json.loads((tmp_path / "audit.json").read_text())
    assert not {"basis", "counts"} & set(told["findings"][0])
    for before, after in zip(audit.findings, eh.Audit.load(tmp_path / "audit.json").findings, strict=True):
        assert "basis" not in repr(before)
        assert replace(before, basis=None) == before
        assert after.basis.request == before.basis.request
        assert after.basis.plan == before.basis.plan


def test_panels_of_a_file_from_before_panels_had_roles_get_theirs(tmp_path):
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": "race"}
    audit = eh.audit(eh.datasets.compas(), **roles, control="sex", metrics=["demographic_parity", "calibration"])
    audit.save(tmp_path / "new.json")
    told = json.loads((tmp_path / "new.json").read_text())
    for finding in told["findings"]:
        for panel in finding["panels"]:
            if panel["role"] in ("calibration", "strata"):  # the roles that are told from titles
                del panel["role"]
    (tmp_path / "old.json").write_text(json.dumps(sealed(told)))
    panels = [panel for finding in eh.Audit.load(tmp_path / "old.json").findings for panel in finding.panels]
    assert {panel.role for panel in panels} >= {"calibration", "strata"}
    assert panels == [panel for finding in audit.findings for panel in finding.panels]


def test_what_was_edited_is_refused_though_it_could_be(tmp_path):
    """One person more in a cell, or another sentence: nothing else in the file tells."""
    told = json.loads(report_json.dumps(small()))
    for path, value in (
        (("cube", "decisions", "n", 0), told["cube"]["decisions"]["n"][0] + 1),
        (("findings", 0, "interpretation"), "All is well."),
        (("policy", "min_group_size"), 29),
        (("sha256",), "0" * 64),
    ):
        (tmp_path / "edited.json").write_text(changed(path, value))
        with pytest.raises(
            DataError, match=r"edited\.json' is a damaged audit: its content does not have the checksum"
        ):
            eh.Audit.load(tmp_path / "edited.json")
    (tmp_path / "edited.json").write_text(changed(("sha256",), KeyError))
    with pytest.raises(DataError, match="it has no checksum"):
        eh.Audit.load(tmp_path / "edited.json")


def test_spaces_and_the_order_of_keys_are_no_damage(tmp_path):
    told = json.loads(report_json.dumps(small()))
    (tmp_path / "again.json").write_text(json.dumps(dict(reversed(told.items())), indent=3).replace("\n", "\r\n"))
    assert eh.Audit.load(tmp_path / "again.json").cube == small().cube
    (tmp_path / "dict.json").write_text(json.dumps(small().to_dict()))
    assert eh.Audit.load(tmp_path / "dict.json").cube == small().cube


def test_where_and_when_it_was_made_stays(tmp_path):
    told = json.loads(report_json.dumps(small()))
    told |= {"created": "2020-01-01T00:00:00+00:00", "evenhand": "0.0.1"}
    (tmp_path / "old.json").write_text(json.dumps(sealed(told)))
    loaded = eh.Audit.load(tmp_path / "old.json")
    assert loaded.to_dict()["created"] == "2020-01-01T00:00:00+00:00"
    assert loaded.add(loaded.findings[0]).to_dict()["evenhand"] == "0.0.1"


def test_metrics_of_your_own_stay_by_name(tmp_path):
    own = eh.metric("own", measures=eh.measure("agree", function=lambda y, d: float(np.mean(y == d))), threshold=0.5)
    roles = {"label": [0, 1] * 40, "prediction": [0, 1, 1, 0] * 20, "sensitive": ["a", "b"] * 40}
    found = eh.audit(**roles, policy=eh.Policy(required=[own, "theil_index"]), metrics=[own])
    loaded = again(found, tmp_path)
    assert loaded.policy.required == ("own", "theil_index")
    assert (loaded.required, loaded.verdict) == (found.required, found.verdict)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "audit.json").read_bytes()
    with pytest.raises(eh.CallError, match="'own' is not a metric"):
        loaded.cube.audit(policy=loaded.policy)


def test_half_a_character_in_a_name_comes_back(tmp_path):
    found = hostile.audited("\ud83d", column=False)
    assert again(found, tmp_path).cube == found.cube


@hostile.every_name
def test_hostile_names_come_back(name, tmp_path):
    found = eh.audit(
        hostile.as_group(name), label=LABEL, prediction=DECISION, sensitive=[GROUP], metrics=["equalized_odds"]
    )
    loaded = again(found, tmp_path)
    assert loaded.cube == found.cube
    assert str(loaded) == str(found)
    assert loaded.findings[0].highest == found.findings[0].highest


@examples(30)
@given(cubes())
def test_any_cube_comes_back(cube):
    assert tables.read(json.loads(json.dumps(tables.write(cube)))) == cube


@examples(5, phases=[Phase.generate])
@given(cubes(controls=0))
def test_any_audit_comes_back(tmp_path_factory, cube):
    found = cube.audit(intersections=False)
    assert str(again(found, tmp_path_factory.mktemp("any"))) == str(found)


# --- files that are no audit


def changed(path: tuple, value: object) -> str:
    told = json.loads(report_json.dumps(small()))
    place = told
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(told)


def refused(content: str | bytes, tmp_path: Path, capsys: pytest.CaptureFixture) -> str:
    """A DataError from the library, exit code 2 on the command line, the same words in both."""
    path = tmp_path / "audit.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        eh.Audit.load(path)
    for command in (["report", str(path)], ["diff", str(path), str(path)]):
        assert run(command) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("evenhand: error: ")
        assert hostile.unseen(err) == set()
    return str(caught.value)


WRONG = {
    "version": (("format_version",), 2, "in version 2 of the form; this evenhand reads version 1"),
    "version true": (("format_version",), True, "in version True of the form"),
    "version text": (("format_version",), "1", "in version '1' of the form"),
    "format": (("format",), "other", "is JSON but not an audit"),
    "no cube": (("cube",), KeyError, "it lacks 'cube'"),
    "no policy": (("policy",), KeyError, "it lacks 'policy'"),
    "cube": (("cube",), [], "cube is [], not an object"),
    "findings": (("findings",), {}, "findings is {}, not a list"),
    "finding": (("findings", 0), 1, "findings[0] is 1, not an object"),
    "metric": (("findings", 0, "metric"), None, "findings[0].metric is None, not text"),
    "no metric": (("findings", 0, "metric"), KeyError, "findings[0] lacks 'metric'"),
    "value": (("findings", 1, "value", "value"), "0.1", "findings[1].value.value is '0.1', not a number"),
    "verdict of a finding": (("findings", 0, "verdict"), "fair", "findings[0].verdict is 'fair', not one of 'pass'"),
    "n": (("findings", 0, "rows", 0, "n"), 1.5, "findings[0].rows[0].n is 1.5, not a whole number"),
    "n is true": (("findings", 0, "rows", 0, "n"), True, "findings[0].rows[0].n is True, not a whole number"),
    "group": (("findings", 0, "rows", 0, "group"), [1], "findings[0].rows[0].group[0] is 1, not text"),
    "verdict": (("verdict",), "pass", "damaged audit: its verdict is 'pass', but its findings give 'fail'"),
    "confidence": (("policy", "confidence"), 7, "confidence=7"),
    "unknown policy": (("policy", "surprise"), 1, "policy has 'surprise', which this version does not know"),
    "unknown meaning": (("cube", "meaning", "surprise"), 1, "meaning has 'surprise', which this version does not know"),
    "label": (("cube", "decisions", "label", 0), 3, "decisions.label holds 3, and there are only 3"),
    "negative": (("cube", "decisions", "n", 0), -1, "decisions.n holds a number that is negative"),
    "too many": (("cube", "decisions", "n", 0), 2**62, "adds up to more people than can be counted"),
    "huge": (("cube", "decisions", "n", 0), 10**40, "decisions.n holds a number that is too large"),
    "null": (("cube", "decisions", "n", 0), None, "decisions.n holds None, not a whole number"),
    "lengths": (("cube", "decisions", "n"), [1], "decisions has columns of different lengths"),
    "no column": (("cube", "decisions", "n"), KeyError, "decisions lacks the column 'n'"),
    "column": (("cube", "decisions", "surprise"), [0.5] * 8, "has a column 'surprise', which this version"),
    "twice": (("cube", "decisions", "label"), [0] * 8, "decisions"),
    "pairs": (("cube", "pairs"), [[[], ["a"]]] * 3, "pairs names one group twice"),
    "pair": (("cube", "pairs", 0), [["x"], ["a"]], "pairs[0] does not name 0 controls and 1 attributes"),
    "shape": (("cube", "shape"), [10**6, 10**6], "the shape [1000000, 1000000] does not fit 0 classes"),
    "flat shape": (("cube", "shape"), [9], "the shape [9] does not fit 0 classes"),
    "task": (("cube", "meaning", "task"), "x", "meaning.task is 'x', not one of"),
    "weights": (("cube", "meaning", "weight"), "w", "decisions lacks the column 'w'"),
    "notes": (("notes",), "x", "notes is 'x', not a list"),
    "created": (("created",), 5, "created is 5, not text"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_named_with_its_place(kind, tmp_path, capsys):
    path, value, message = WRONG[kind]
    told = refused(changed(path, value), tmp_path, capsys)
    assert message in told
    assert "audit.json" in told


def test_a_file_that_was_cut_short(tmp_path, capsys):
    whole = report_json.dumps(small())
    for kept in (0, 1, 30, len(whole) // 3, len(whole) - 3):
        told = refused(whole[:kept], tmp_path, capsys)
        assert "is not an audit, or only a part of one" in told
        assert "Save the audit again" in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"PK\x03\x04", "is not an audit"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"format": NaN}', "NaN is not JSON"),
        ('{"format": ' + "1" * 5000 + "}", "Exceeds the limit"),
        ("[]", "is JSON but not an audit"),
        ('"evenhand-audit"', "is JSON but not an audit"),
        ('{"format": "evenhand-audit"}', "in version None of the form"),
    ],
)
def test_something_else(content, message, tmp_path, capsys):
    assert message in refused(content, tmp_path, capsys)


def test_a_file_that_is_too_large(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(saved, "MOST_BYTES", 1 << 20)
    assert "is larger than 1 MB, so it is not an audit" in refused(" " * ((1 << 20) + 1), tmp_path, capsys)


def test_no_file_a_folder_and_a_name_that_no_file_has(tmp_path):
    for path, message in (
        (tmp_path / "nothing.json", "there is no file"),
        (tmp_path, "cannot be read: it is a folder"),
        (tmp_path / "a\0b", "cannot be read"),
    ):
        with pytest.raises(DataError, match=message):
            eh.Audit.load(path)


def values(told: object, place: tuple = ()):
    """Every place of some plain data."""
    inside = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, item in inside:
        yield (*place, key)
        yield from values(item, (*place, key))


def test_whatever_is_changed_it_loads_or_is_refused(tmp_path):
    """No surprise of any kind: an audit, or an error of ours."""
    told = json.loads(report_json.dumps(small()))
    places = list(values(told))
    chooser = random.Random(0)
    strange = [None, True, -1, 1.5, 10**30, "x", "", [], {}, [None], {"x": 1}, "infinite", [[]]]
    for place in chooser.sample(places, 250):
        spoiled = copy.deepcopy(told)
        holder = spoiled
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = chooser.choice(strange)
        path = tmp_path / "x.json"
        with suppress(Exception):  # counts that cannot be read have no checksum
            spoiled = sealed(spoiled)
        path.write_text(json.dumps(spoiled))
        with suppress(eh.EvenhandError):
            loaded = eh.Audit.load(path)
            assert str(loaded)
            assert all(form.dumps(loaded) for form in (markdown, junit, report_json))


# --- plain data


@examples(40)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.floats(), st.lists, max_leaves=5))
def test_reading_gives_a_record_or_says_what_does_not_fit(value):
    for kind in (eh.Estimate, eh.Row, eh.Policy, eh.Finding):
        with pytest.raises(records.MisfitError):
            records.read(kind, value)


@given(st.floats(allow_nan=True), st.none() | st.floats(allow_nan=False), st.none() | st.floats(allow_nan=False))
def test_an_estimate_comes_back(value, low, high):
    written = json.loads(json.dumps(records.write(eh.Estimate(value, low, high)), allow_nan=False))
    assert repr(records.read(eh.Estimate, written)) == repr(eh.Estimate(value, low, high))
