"""A form is verified by its counts, and refused with others; whatever is changed in it is found."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.core import records
from evenhand.report import forms
from evenhand.report.forms.record import MARK, Record, unpack
from evenhand.report.forms.verification import verify
from evenhand.report.json import content_digests
from support import hostile

DATA = Path(__file__).parents[3].parent / "shared" / "data"
ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
POLICIES = {"ll144": "nyc-ll144", "annex-iv": "eu-ai-act", "model-card": None, "nist": "health"}


@pytest.fixture(scope="module")
def cube() -> eh.Cube:
    return eh.Cube.count(eh.datasets.compas(), **ROLES)


@pytest.fixture
def saved(cube: eh.Cube, tmp_path: Path) -> Path:
    cube.save(tmp_path / "day.cube")
    return tmp_path


@pytest.mark.parametrize("suffix", forms.SUFFIXES)
@pytest.mark.parametrize("form", forms.FORMS)
def test_every_form_is_verified_by_its_counts_and_by_no_others(form: str, suffix: str, cube: eh.Cube, saved: Path):
    path = saved / f"form{suffix}"
    cube.audit(policy=POLICIES[form]).save(path, form=form)
    found = verify(path, [saved / "day.cube"])
    assert found.verified, found
    changed(1).save(saved / "other.cube")
    other = verify(path, [saved / "other.cube"])
    assert not other.verified
    assert re.search("The counts are not those of the form: SHA-256 [0-9a-f]{64} there, [0-9a-f]{64} here", str(other))


def changed(people: int) -> eh.Cube:
    """The counts with one cell changed by a few people, in decisions and scores alike."""
    data = eh.datasets.compas()
    counts = np.array(data["count"])
    counts[100] += people
    return eh.Cube.count({**data, "count": counts}, **ROLES)


@pytest.mark.parametrize("people", [1, -1])
def test_one_changed_count_is_refused_on_the_command_line(people, cube, saved, capsys):
    cube.audit(policy="nyc-ll144").save(saved / "f.html", form="ll144")
    assert run(["verify", str(saved / "f.html"), "--cube", str(saved / "day.cube")]) == 0
    assert capsys.readouterr().out.startswith("Verified: ")
    changed(people).save(saved / "other.cube")
    assert run(["verify", str(saved / "f.html"), "--cube", str(saved / "other.cube")]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Not verified: ")
    assert "The counts are not those of the form" in out
    assert re.search(r"Line \d+: the form says “.*”, and the counts give “.*”", out)


@pytest.mark.parametrize("suffix", forms.SUFFIXES)
def test_a_changed_digit_is_found(suffix: str, cube: eh.Cube, saved: Path):
    path = saved / f"f{suffix}"
    cube.audit(policy="nyc-ll144").save(path, form="ll144")
    text = path.read_bytes().decode()
    assert text.count("0.592") == 2, "in the tables of selection and of scoring"
    path.write_bytes(text.replace("0.592", "0.892", 1).encode())
    found = verify(path, [saved / "day.cube"])
    assert not found.verified
    assert re.search("the form says “.*0.892.*”, and the counts give “.*0.592.*”", found.problems[0])


def test_lines_may_end_as_mail_ends_them_and_no_sign_stands_for_an_end(cube: eh.Cube, saved: Path):
    path = saved / "f.md"
    cube.audit(policy="nyc-ll144").save(path, form="ll144")
    text = path.read_bytes().decode()
    path.write_bytes(text.replace("\n", " \r\n").encode())
    assert verify(path, [saved / "day.cube"]).verified
    for sign in ("\x0b", "\x85", "\u2028"):
        path.write_bytes(text.replace("\n\n", f"\n{sign}", 1).encode())
        assert not verify(path, [saved / "day.cube"]).verified, repr(sign)


def test_a_form_that_is_cut_is_refused_and_markup_that_differs_is_shown(cube: eh.Cube, saved: Path):
    path = saved / "f.html"
    cube.audit(policy="nyc-ll144").save(path, form="ll144")
    text = path.read_text(encoding="utf-8")
    for length in (0, len(text) // 2, text.index(MARK) + 200):
        path.write_text(text[:length], encoding="utf-8")
        with pytest.raises(eh.DataError, match=r"holds no record of evenhand|the record in .* is damaged"):
            verify(path, [saved / "day.cube"])
    path.write_text(text.replace("<h2>Verification</h2>", "<h2 hidden>Verification</h2>"), encoding="utf-8")
    (problem,) = verify(path, [saved / "day.cube"]).problems
    assert "the form says “<h2 hidden>Verification</h2>”, and the counts give “<h2>Verification</h2>”" in problem
    path.write_text(text[: text.index("</body>")], encoding="utf-8")
    assert "“</body>”" in str(verify(path, [saved / "day.cube"]))


def test_cubes_are_added_and_an_audit_holds_its_counts(cube: eh.Cube, saved: Path):
    data = eh.datasets.compas()
    first = np.arange(len(data["count"])) % 2 == 0
    for name, rows in (("a", first), ("b", ~first)):
        part = {key: np.array(values)[rows] for key, values in data.items()}
        eh.Cube.count(part, **ROLES).save(saved / f"{name}.cube")
    (eh.Cube.load(saved / "a.cube") + eh.Cube.load(saved / "b.cube")).audit().save(saved / "f.md", form="nist")
    assert verify(saved / "f.md", [saved / "a.cube", saved / "b.cube"]).verified
    assert not verify(saved / "f.md", [saved / "a.cube"]).verified
    cube.audit().save(saved / "a.json")
    eh.Audit.load(saved / "a.json").save(saved / "g.md", form="nist")
    assert verify(saved / "g.md", [saved / "a.json"]).verified
    assert verify(saved / "g.md", [saved / "day.cube"]).verified


def test_a_form_to_share_is_of_the_counts_that_may_leave(cube: eh.Cube, saved: Path):
    audit = cube.audit(policy="eu-ai-act")
    audit.save(saved / "f.html", form="annex-iv", share=True)
    audit.save(saved / "shared.json", share=True)
    audit.save(saved / "full.json")
    shown = (saved / "f.html").read_text(encoding="utf-8")
    digest = json.loads((saved / "shared.json").read_text())["digests"]["cube"]
    assert digest in shown
    assert json.loads((saved / "full.json").read_text())["digests"]["cube"] not in shown
    assert shown.count("Native American") == 1, "in the note"
    assert "Left out of race: Asian; Native American." in shown
    for counts in ("day.cube", "shared.json", "full.json"):
        assert verify(saved / "f.html", [saved / counts]).verified, counts


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_form_to_share_names_whom_it_leaves_out(form: str):
    """Those who are left out may be those with the highest rate, by which others would be measured."""
    people = {"White": (500, 1000), "Black": (300, 1000), "Asian": (400, 900), "Islander": (60, 62)}
    cells = [(race, answer, n) for race, (k, size) in people.items() for answer, n in ((1, k), (0, size - k))]
    data = dict(zip(("race", "selected", "people"), zip(*cells, strict=True), strict=True))
    roles = {"prediction": "selected", "sensitive": "race", "count": "people"}
    shared = eh.audit(data, **roles, policy="nyc-ll144").shared()
    for suffix in forms.SUFFIXES:
        text = forms.dumps(shared, form, suffix)
        assert re.search("Left out of race: .*Islander", text)
        said = "divided by the highest of the categories that are compared." in text
        assert said == (form == "ll144" and suffix != ".csv")


@pytest.mark.parametrize("changes", [{"groups": {}}, {"attributes": ()}, {"least": 1}, None], ids=str)
def test_a_shared_form_cannot_deny_whom_it_leaves_out(changes, cube: eh.Cube, saved: Path):
    shared = cube.audit(policy="eu-ai-act").shared()
    shared.save(saved / "shared.json")
    record, _ = Record.of(shared, "nist")
    assert record.sharing is not None
    forged = replace(record, sharing=None if changes is None else replace(record.sharing, **changes))
    (saved / "f.md").write_text(f"{MARK} {forged.pack()}", encoding="utf-8")
    found = verify(saved / "f.md", [saved / "shared.json"])
    assert found.problems == ("What the form says to leave out is not what is left out of these counts.",)
    assert not verify(saved / "f.md", [saved / "day.cube"]).verified


def test_the_policy_that_a_signer_holds(cube: eh.Cube, saved: Path):
    cube.audit(policy="four-fifths").save(saved / "f.html", form="nist")
    counts = [saved / "day.cube"]
    assert verify(saved / "f.html", counts, "four-fifths").verified
    found = verify(saved / "f.html", counts, eh.Policy.named("four-fifths").updated(confidence=0.9))
    assert found.problems == ("The policy that was given differs in confidence.",)


def test_checksums_stand_in_the_form_and_in_json(cube: eh.Cube, saved: Path):
    audit = cube.audit(policy="four-fifths")
    audit.save(saved / "a.json")
    told = json.loads((saved / "a.json").read_text())["digests"]
    for form, suffix in ((form, suffix) for form in ("nist", "model-card") for suffix in forms.SUFFIXES):
        text = forms.dumps(audit, form, suffix)
        assert told["cube"] in text
        assert told["policy"] in text
    titled = eh.Policy.named("four-fifths").updated(cover={"title": "x"})
    assert cube.audit(policy=titled).to_dict()["digests"] == told, "a title is not what an audit is judged by"
    stricter = cube.audit(policy=titled.updated(confidence=0.9)).to_dict()["digests"]
    assert stricter["cube"] == told["cube"]
    assert stricter["policy"] != told["policy"]


def test_the_checksum_is_of_the_content_and_not_of_the_file(cube: eh.Cube, saved: Path):
    again = eh.Cube.load(saved / "day.cube")
    assert again.audit().to_dict()["digests"] == cube.audit().to_dict()["digests"]
    rows = eh.datasets.compas()
    order = np.random.default_rng(3).permutation(len(rows["count"]))
    shuffled = eh.Cube.count({key: np.array(values)[order] for key, values in rows.items()}, **ROLES)
    assert shuffled.audit().to_dict()["digests"]["cube"] == cube.audit().to_dict()["digests"]["cube"]


def test_counts_of_numbers_and_of_their_text_have_one_checksum(tmp_path: Path):
    """A column of a CSV file is text, and that of a frame or of Parquet may hold numbers."""
    rows = [(code, answer) for code in (0, 2, 10) for answer in (0, 1) for _ in range(40 + code)]
    table = dict(zip(("code", "hired"), zip(*rows, strict=True), strict=True))
    (tmp_path / "people.csv").write_text("code,hired\n" + "\n".join(f"{code},{answer}" for code, answer in rows))
    roles = {"prediction": "hired", "sensitive": "code"}
    numbers = eh.Cube.count(table, **roles)
    eh.Cube.count(tmp_path / "people.csv", **roles).save(tmp_path / "text.cube")
    assert numbers.kinds != eh.Cube.load(tmp_path / "text.cube").kinds
    for share in (False, True):
        numbers.audit(policy="nyc-ll144").save(tmp_path / "f.html", form="ll144", share=share)
        found = verify(tmp_path / "f.html", [tmp_path / "text.cube"])
        assert found.verified, found


def test_findings_of_rows_are_said_not_to_be_computed_again(tmp_path: Path):
    rng = np.random.default_rng(5)
    data = {"y": rng.integers(0, 2, 400), "d": rng.integers(0, 2, 400), "g": rng.choice(list("ab"), 400)}
    features = rng.normal(size=(400, 2))
    audit = eh.audit(data, label="y", prediction="d", sensitive="g")
    audit = audit.add(eh.consistency(features, prediction=data["d"], sensitive={"g": data["g"]}))
    audit.cube.save(tmp_path / "c.cube")
    audit.save(tmp_path / "f.html", form="nist")
    assert "1 finding is shown as found, needing the rows, or" in (tmp_path / "f.html").read_text(encoding="utf-8")
    found = verify(tmp_path / "f.html", [tmp_path / "c.cube"])
    assert found.verified, found
    why = "needing the rows, or judged otherwise than the audit"
    assert f"1 finding was not computed again, {why}: consistency by g." in found.checked


def test_a_finding_that_counts_tell_cannot_be_smuggled_in_as_given(cube: eh.Cube, saved: Path):
    audit = cube.audit(policy="four-fifths")
    record, _ = Record.of(audit, "nist")
    told = audit.to_dict()["findings"][0]
    told["value"]["value"] = 0.99
    forged = replace(record, asked=record.asked[1:], given=(told,))
    text = forms.rewrite(forged, ".html", cube)
    (saved / "f.html").write_text(text, encoding="utf-8")
    found = verify(saved / "f.html", [saved / "day.cube"])
    assert not found.verified
    assert "is said to need the rows, though these counts tell it" in found.problems[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": {}}, "decides and is said to need the rows, though these counts tell it: 0.5767"),
        ({"settings": {"against": "Caucasian"}}, "decides and is said to need the rows, though these counts tell it"),
        ({"settings": {"convention": "fairlearn"}}, "decides and is said to need the rows, though these counts"),
        (
            {"settings": {"against": "extremes", "confidence": 2}},
            "cannot be made from these counts: confidence=2.0",
        ),
        ({"metric": "equalized_odds "}, "has the title of equalized_odds"),
        ({"metric": "consistency"}, "consistency by race has the title of equalized_odds"),
    ],
    ids=str,
)
def test_a_pass_cannot_be_smuggled_in_as_if_it_needed_the_rows(changes, said, cube: eh.Cube, saved: Path):
    record, _ = Record.of(cube.audit(), "nist")
    (told,) = [
        each
        for each in cube.audit().to_dict()["findings"]
        if (each["metric"], each["attributes"]) == ("equalized_odds", ["race"])
    ]
    forged = {**told, "verdict": "pass", "passes": True, "value": {"value": 0.01, "low": 0.0, "high": 0.02}}
    asked = tuple(each for each in record.asked if (each.metric, each.attributes) != ("equalized_odds", ("race",)))
    path = rewritten(saved / "f.html", record, cube, asked=asked, given=({**forged, "evidence": None, **changes},))
    found = verify(path, [saved / "day.cube"])
    assert not found.verified
    assert said in " ".join(found.problems)


@pytest.mark.parametrize("judging", [{"reference": "Caucasian"}, {"interval": "percentile"}], ids=str)
def test_a_finding_that_was_judged_otherwise_and_decides_nothing_is_named(judging, cube: eh.Cube, saved: Path):
    added = eh.demographic_parity(cube.marginal(["race"]), **judging)
    cube.audit().add(added).save(saved / "f.html", form="nist")
    found = verify(saved / "f.html", [saved / "day.cube"])
    assert found.verified, found
    assert any(line.endswith("otherwise than the audit: demographic_parity by race.") for line in found.checked)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("asked", 0, "settings", "family"), 0),
        (("asked", 0, "settings", "family"), "<script>"),
        (("asked", 0, "settings", "aggregate"), []),
        (("asked", 0, "settings", "min_bin"), []),
        (("policy", "thresholds"), {"equalized_odds": "\n# x"}),
        (("policy", "draws"), None),
        (("given",), [1]),
        (("created",), None),
    ],
)
def test_a_hostile_record_is_an_error_that_says_so(place, value, cube: eh.Cube, saved: Path, monkeypatch, capsys):
    monkeypatch.chdir(saved)
    told = records.write(Record.of(cube.audit(), "nist")[0])
    told["asked"].sort(key=lambda each: each["metric"] != "calibration")
    held = told
    for step in place[:-1]:
        held = held[step]
    held[place[-1]] = value
    Path("f.html").write_text(f"{MARK} {records.pack(told)}")
    assert run(["verify", "f.html", "--cube", "day.cube"]) == 2
    assert "the record in 'f.html' is damaged" in capsys.readouterr().err


def rewritten(path: Path, record: Record, cube: eh.Cube, **changes: Any) -> Path:
    """A form of a record that somebody changed, written so that it agrees with itself."""
    path.write_text(forms.rewrite(replace(record, **changes), path.suffix, cube), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 0.9}, "by a threshold of 0.9, and under the policy by 0.1"),
        ({"judged_on": "ratio", "threshold": 0.1}, "by the ratio, and under the policy by difference"),
        ({"settings": {"min_group_size": 3000}}, "by a smallest group of 3000, and under the policy by 30"),
        ({"settings": {"confidence": 0.5}}, "by a confidence of 0.5, and under the policy by 0.95"),
        ({"settings": {"aggregate": "mean"}}, "by an aggregate of mean, and under the policy by worst"),
        ({"settings": {"family": 50}}, "by a family of 50, and under the policy by 2"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_decides_is_judged_as_the_policy_says(changes, said, cube: eh.Cube, saved: Path):
    """Somebody may change by what a finding is judged, and write the form anew so that all of it agrees."""
    record, _ = Record.of(cube.audit(), "nist")
    assert cube.audit().verdict == "fail"
    settings = changes.get("settings", {})
    asked = tuple(
        replace(each, **{**changes, "settings": {**each.settings, **settings}})
        if each.metric == "equalized_odds"
        else each
        for each in record.asked
    )
    found = verify(rewritten(saved / "f.html", record, cube, asked=asked), [saved / "day.cube"])
    assert not found.verified
    assert said in found.problems[0]


def test_a_metric_of_ones_own_does_not_let_others_be_judged_otherwise(cube: eh.Cube, saved: Path):
    """Of metrics that somebody made only the names are known; what is beside them is checked all the same."""
    record, _ = Record.of(cube.audit(), "nist")
    wider = tuple(replace(each, threshold=0.9) if each.metric == "equalized_odds" else each for each in record.asked)
    names = ["equalized_odds", "mine"]
    forged = replace(record, policy={**record.policy, "required": names}, required=(*names,), asked=wider)
    digest = content_digests(replace(forged.compute(cube), findings=()))["policy"]
    found = verify(rewritten(saved / "f.html", forged, cube, policy_digest=digest), [saved / "day.cube"])
    assert "equalized_odds by race is judged by a threshold of 0.9, and under the policy by 0.1." in found.problems
    left_out = rewritten(saved / "g.html", forged, cube, policy_digest=digest, required=("mine",))
    said = "In the form mine decides, and under the policy equalized_odds, mine decide."
    assert said in verify(left_out, [saved / "day.cube"]).problems


def hits(label, prediction) -> float:
    return float((label == prediction).mean())


@pytest.mark.parametrize("own", ["accuracy_score", hits])
def test_a_form_with_a_metric_of_ones_own_is_verified(own, tmp_path: Path):
    rng = np.random.default_rng(2)
    data = {name: rng.integers(0, 2, 900) for name in ("y", "d", "g", "h")}
    policy = eh.Policy(required=["equalized_odds", own])
    audit = eh.audit(data, label="y", prediction="d", sensitive=["g", "h"], policy=policy)
    audit.cube.save(tmp_path / "c.cube")
    audit.save(tmp_path / "f.html", form="nist")
    found = verify(tmp_path / "f.html", [tmp_path / "c.cube"])
    assert found.verified, found
    assert any("not computed again" in line for line in found.checked)


def test_a_policy_that_names_what_decides_is_kept_to(cube: eh.Cube, saved: Path):
    record, _ = Record.of(cube.audit(policy="four-fifths"), "nist")
    found = verify(rewritten(saved / "f.html", record, cube, required=()), [saved / "day.cube"])
    assert found.problems == ("In the form nothing decides, and under the policy disparate_impact decides.",)


def test_a_finding_that_was_taken_out_leaves_no_pass(cube: eh.Cube, saved: Path):
    record, _ = Record.of(cube.audit(), "nist")
    asked = tuple(each for each in record.asked if (each.metric, each.attributes) != ("equalized_odds", ("race",)))
    path = rewritten(saved / "f.html", record, cube, asked=asked)
    assert "<dt>Verdict</dt><dd><bdi>inconclusive" in path.read_text(encoding="utf-8")


def test_what_decides_is_told_where_no_policy_names_it(cube: eh.Cube, saved: Path):
    audit = cube.audit(metrics=["demographic_parity"]).add(eh.equalized_odds(cube, threshold=0.4))
    audit.save(saved / "f.html", form="nist")
    found = verify(saved / "f.html", [saved / "day.cube"])
    assert found.verified, found
    assert found.checked[-1] == "In the form demographic_parity decides; the policy does not say what decides."


@pytest.mark.parametrize(
    "judging",
    [
        {"confidence": 0.9},
        {"reference": {"race": "Caucasian", "sex": "Male"}},
        {"min_group_size": 5},
        {"metrics": ["four_fifths", "demographic_parity_ratio"]},
        {"metrics": "all"},
        {"policy": "fair-lending"},
        {"policy": eh.Policy(on="all", required=["calibration"])},
        {"policy": eh.Policy(required=["mean_score_parity"], familywise="finding", intersections=False)},
        {"policy": eh.Policy(required=["demographic_parity"], thresholds={"demographic_parity": 0.4})},
        {"policy": eh.Policy(required=["demographic_parity"], judged_on={"demographic_parity": "ratio"})},
    ],
    ids=str,
)
def test_honest_forms_of_every_policy_are_verified(judging, cube: eh.Cube, saved: Path):
    audit = cube.audit(**judging)
    audit.save(saved / "f.md", form="nist")
    audit.save(saved / "s.md", form="nist", share=True)
    for name in ("f.md", "s.md"):
        found = verify(saved / name, [saved / "day.cube"])
        assert found.verified, found
        assert found.checked[-1].startswith("In the form") == isinstance(judging.get("metrics"), list)


def test_a_record_comes_back_as_it_was(cube: eh.Cube):
    record, _ = Record.of(cube.audit(metrics="all"), "nist")
    assert not record.given
    assert unpack(f"x {MARK} AAAA\n{MARK} {record.pack()}", "f") == record


@pytest.mark.parametrize("kind", ["strata", "weights", "clusters", "regression", "percentile"])
def test_every_kind_of_audit_is_computed_from_its_counts(kind: str):
    rng = np.random.default_rng(1)
    data = {"y": rng.integers(0, 2, 900), "d": rng.integers(0, 2, 900), "g": rng.choice(list("xyz"), 900)}
    roles = {"label": "y", "prediction": "d", "sensitive": "g"}
    more = {
        "strata": {"control": rng.choice(list("pq"), 900)},
        "weights": {"weight": rng.random(900)},
        "clusters": {"cluster": rng.integers(0, 90, 900)},
        "regression": {"label": rng.random(900), "prediction": rng.random(900)},
        "percentile": {"interval": "percentile", "draws": 200},
    }
    audit = eh.audit(data, **{**roles, **more[kind]})
    record, computed = Record.of(audit, "nist")
    assert not record.given
    assert [each.value for each in computed.findings] == [each.value for each in audit.findings]
    assert computed.verdict == audit.verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html></html>", "holds no record of evenhand: only a form that evenhand report --form wrote"),
        (f"{MARK} AAAA", "the record in 'f.html' is damaged"),
        (f"{MARK} {records.pack({'form': 'nist'})}", "the record in 'f.html' is damaged"),
        (f"{MARK} {records.pack([1])}", "the record in 'f.html' is damaged"),
    ],
)
def test_files_that_are_no_forms(text, message, saved, monkeypatch):
    monkeypatch.chdir(saved)
    Path("f.html").write_text(text)
    with pytest.raises(eh.DataError, match=re.escape(message)):
        verify(Path("f.html"), ["day.cube"])


def test_calls_that_are_wrong(cube, saved, capsys, monkeypatch):
    monkeypatch.chdir(saved)
    cube.audit().save("f.html", form="nist")
    cube.audit().save("a.json")
    for call, message in {
        ("verify", "f.html"): "verify needs the counts: --cube day.cube",
        ("verify", "f.html", "--cube", "x.csv"): "'x.csv' is neither a cube (.cube) nor an audit saved as JSON",
        ("verify", "f.xml", "--cube", "day.cube"): "'f.xml' is not a form: forms end in .html, .md or .csv",
        ("report", "a.json", "--form", "nist"): "--form nist writes a file: name it with -o",
        ("report", "a.json", "--form", "nist", "-o", "x.json"): "a form is saved as .html, .md or .csv, not as '.json'",
        ("report", "a.json", "-o", "x.csv"): "an audit cannot be saved as '.csv'",
        ("report", "a.json", "--form", "nist", "-o", "x.md", "--smallest-cell", "3"): "--smallest-cell is for a file",
    }.items():
        assert run(list(call)) == 2, call
        assert message in capsys.readouterr().err, call
    with pytest.raises(eh.CallError, match="form='annex' is not known; did you mean 'annex-iv'"):
        cube.audit().save("x.html", form="annex")


def test_what_a_form_does_not_state_is_told_to_who_makes_it(cube, saved, monkeypatch, capsys):
    monkeypatch.chdir(saved)
    cube.audit(policy=eh.Policy(cover={"system": "COMPAS", "signer": "A. Person"})).save("a.json")
    assert run(["report", "a.json", "--form", "nist", "-o", "x.html"]) == 0
    said = capsys.readouterr().err
    assert "“not stated” of version, purpose, author, date, data_source, limits. The table [report]" in said
    whole = eh.Policy(cover=dict.fromkeys(forms.REPORTED, "x"))
    cube.audit(policy=whole).save("b.json")
    assert run(["report", "b.json", "--form", "nist", "-o", "x.html"]) == 0
    assert "not stated" not in capsys.readouterr().err


def test_a_form_is_replaced_and_another_file_is_not(cube, saved, monkeypatch):
    monkeypatch.chdir(saved)
    cube.audit(policy="nyc-ll144").save("a.json")
    for form in forms.FORMS:
        for suffix in forms.SUFFIXES:
            for _ in range(2):
                assert run(["report", "a.json", "--form", form, "-o", f"x{suffix}"]) == 0
    Path("mine.csv").write_text("a,b\n1,2\n")
    assert run(["report", "a.json", "--form", "ll144", "-o", "mine.csv"]) == 2


@hostile.every_name
def test_hostile_names_are_verified_and_stay_names(name: str, tmp_path: Path):
    data = {"prediction": [1, 0, 1, 1] * 30, "sensitive": {"g": [name, name, "b", "b"] * 30}}
    policy = eh.Policy.named("nyc-ll144").updated(cover={"system": name, "limits": [name]})
    audit = eh.audit(**data, policy=policy)
    audit.cube.save(tmp_path / "c.cube")
    for suffix in forms.SUFFIXES:
        path = tmp_path / f"f{suffix}"
        audit.save(path, form="ll144")
        assert verify(path, [tmp_path / "c.cube"]).verified
        text = path.read_text(encoding="utf-8")
        assert "\x1b" not in text
        assert "<script>alert" not in text or suffix != ".html"


REAL = {
    "compas_two_years.csv": "label=two_year_recid score=score01 sensitive=race",
    "adult_scored.csv": "label=income_gt50k prediction=pred_lr score=prob_lr sensitive=race",
    "german_scored.csv": "label=credit_good prediction=pred_good score=prob_good sensitive=age_gt25",
}


@pytest.mark.parametrize("name", REAL)
def test_every_form_of_real_data(name: str, tmp_path: Path):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not beside the checkout")
    roles = dict(part.split("=") for part in REAL[name].split())
    cutoff = {} if "prediction" in roles else {"cutoff": 0.5}
    cube = eh.Cube.count(DATA / name, **{**roles, **cutoff, "sensitive": ["sex", roles["sensitive"]]})
    cube.save(tmp_path / "c.cube")
    for form, policy in POLICIES.items():
        path = tmp_path / f"{form}.html"
        cube.audit(policy=policy).save(path, form=form)
        text = path.read_text(encoding="utf-8")
        assert not re.search(r">(nan|None|inf)\b", text)
        found = verify(path, [tmp_path / "c.cube"])
        assert found.verified, found
