"""A policy: in Python and as a TOML file, what it changes in an audit, and what it refuses."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.inference.intervals import interval_names
from evenhand.verdicts import policy_file
from evenhand.verdicts.data_table import MOST_BYTES
from evenhand.verdicts.policy import CORRECTIONS, INCONCLUSIVE, ON, SHIPPED, Policy
from evenhand.verdicts.request import make_request
from support.tables import decisions

ROLES = {"label": "y", "prediction": "d", "count": "n", "sensitive": ["race", "sex"]}


def written(tmp_path: Path, text: str, name: str = "fairness.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# --- the file


@pytest.mark.parametrize("policy", [Policy(), *SHIPPED.values()], ids=["default", *SHIPPED])
def test_a_policy_reads_back_as_it_was_written(policy, tmp_path):
    policy.save(tmp_path / "p.toml")
    assert Policy.load(tmp_path / "p.toml") == policy
    assert Policy.load(str(tmp_path / "p.toml")) == policy


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
policies = st.builds(
    Policy,
    required=st.none() | st.lists(st.sampled_from(["equalized_odds", "four_fifths", "calibration"]), unique=True),
    thresholds=st.dictionaries(st.sampled_from(["equalized_odds", "predictive_parity"]), st.none() | st.floats(0, 9)),
    min_group_size=st.integers(1, 10**12),
    confidence=st.floats(0.5, 0.999),
    interval=st.sampled_from(interval_names()),
    draws=st.integers(100, 10**6),
    random_state=st.integers(0, 2**63 - 1),
    correction=st.none() | st.sampled_from(CORRECTIONS),
    familywise=st.sampled_from(["finding", "audit"]),
    metrics=st.none() | st.just(("equalized_odds", "demographic_parity_ratio")),
    judged_on=st.dictionaries(st.just("demographic_parity"), st.sampled_from(["difference", "ratio"])),
    on=st.sampled_from(ON),
    inconclusive=st.sampled_from(INCONCLUSIVE),
    reference=st.none() | names | st.dictionaries(names, names) | st.lists(names, max_size=3),
    intersections=st.booleans() | st.integers(0, 9),
    min_group_share=st.floats(0, 0.99),
    notes=st.lists(names, max_size=3),
)


@given(policies)
def test_every_policy_reads_back_as_it_was_written(policy):
    found = policy_file._settled("x", tomllib.loads(policy.text()))
    assert found == policy


def test_the_file_has_every_key_with_a_comment():
    text = Policy().text()
    for each in fields(Policy):
        table = "report" if each.name == "cover" else each.name
        if each.name == "rule":  # only of a policy that follows one
            continue
        assert f"{each.name} = " in text or f"[{table}]" in text, each.name
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    for i, line in enumerate(lines):
        if " = " in line and not line.startswith("#") and not line.startswith("random_state"):
            assert lines[i - 1].startswith("#"), line


def test_a_file_need_not_say_everything(tmp_path):
    path = written(tmp_path, '\ufeffconfidence = 0.9\nrequired = "equal_opportunity"\n')
    assert Policy.load(path) == Policy(confidence=0.9, required=("equal_opportunity",))
    assert Policy.load(written(tmp_path, "")) == Policy()


def test_numbers_of_numpy_are_numbers_of_the_file(tmp_path):
    import numpy as np

    policy = Policy(min_group_size=np.int64(50), confidence=np.float64(0.9), reference=np.int64(1))
    policy.save(tmp_path / "p.toml")
    assert Policy.load(tmp_path / "p.toml") == policy


def test_a_metric_of_your_own_has_no_place_in_a_file():
    own = eh.metric("own_parity", measures=eh.measure("own_rate", numerator="FP", denominator="TN FP"))
    with pytest.raises(eh.CallError, match="own_parity is a metric of your own"):
        Policy(required=[own]).text()


def test_what_no_file_can_hold(tmp_path):
    with pytest.raises(eh.CallError, match="surrogate"):
        Policy(reference="\ud800").save(tmp_path / "p.toml")
    with pytest.raises(eh.DataError, match="no folder"):
        Policy().save(tmp_path / "nowhere" / "p.toml")
    with pytest.raises(eh.DataError, match="is a folder"):
        Policy().save(tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- files that are wrong


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("confidense = 0.9", r"fairness.toml': 'confidense' is not a key of a policy; did you mean 'confidence'\?"),
        ('confidence = "high"', r"fairness.toml': confidence='high' must be a share of at least 0.5"),
        ("confidence = 95", r"confidence=95 must be a share"),
        ("confidence = nan", r"confidence=nan must be a share"),
        ("confidence = true", r"confidence=True must be a share"),
        ("confidence = 2024-01-01", r"confidence=datetime.date.* must be a share"),
        ('required = ["equalised_odds"]', r"required: 'equalised_odds' is not a metric; did you mean 'equalized_odds"),
        ("required = 5", r"required=5 must be a list of metrics"),
        ("required = [5]", r"required: a metric is given by its name"),
        ("required = {a = 1}", r"required=\{'a': 1\} must be a list of metrics"),
        ("metrics = []", r"metrics=\[\] names no metric: leave it out"),
        ("thresholds = 0.1", r"thresholds=0.1 must map metrics to values"),
        ("[thresholds]\nequalized_oods = 0.1", r"thresholds: 'equalized_oods' is not a metric; did you mean"),
        ("[thresholds]\nequalized_odds = '0.1'", r"the threshold of equalized_odds='0.1' must be a number"),
        ("[thresholds]\nequalized_odds = -1", r"the threshold of equalized_odds=-1 must be a number"),
        ("[thresholds]\nequalized_odds = inf", r"must be a number of at least 0"),
        (f"[thresholds]\nequalized_odds = 1{'0' * 400}", r"must be a number of at least 0"),
        ("[thresholds]\nfour_fifths = 80", r"on a ratio is at most 1"),
        ("[thresholds]\nfour_fifths = 0.8\ndisparate_impact = 0.9", r"disparate_impact is given twice"),
        ("[judged_on]\nequalized_odds = 'size'", r"judged_on='size' does not fit equalized_odds"),
        ("[judged_on]\ntheil_index = 'ratio'", r"theil_index is judged on its value only"),
        (
            "[judged_on]\ndemographic_parity = 'difference'\n[thresholds]\ndemographic_parity_ratio = 0.8",
            r"given twice",
        ),
        ("draws = 99999999999999999999", r"draws=99999999999999999999 must be a whole number from 0 to 1,000,000"),
        ("draws = 1.5", r"draws=1.5 must be a whole number"),
        ("draws = 10\ninterval = 'percentile'", r"needs draws of at least 100"),
        ("min_group_size = 0", r"min_group_size=0 must be a whole number from 1 to 1,000,000,000,000"),
        ("min_group_share = 2", r"min_group_share=2 must be a share from 0 to below 1"),
        ("interval = 'bootstrap'", r"interval='bootstrap' is not known"),
        ("correction = 'sidak'", r"correction='sidak' is not known"),
        ("familywise = true", r"familywise=True is not known"),
        ("on = 'both'", r"on='both' is not known; there are: 'single', 'intersections', 'all'"),
        ("on = ['single']", r"on=\['single'\] is not known"),
        ("inconclusive = 'failed'", r"inconclusive='failed' is not known; did you mean 'fail'"),
        ("intersections = 'x'", r"intersections='x' must be True, False or a whole number"),
        ("intersections = -1", r"intersections=-1 must be"),
        ("notes = 5", r"notes=5 must be a list of sentences"),
        ("notes = [5]", r"notes=\[5\] must be a list of sentences"),
    ],
)
def test_wrong_keys_and_types(text, message, tmp_path):
    with pytest.raises(eh.CallError, match=message):
        Policy.load(written(tmp_path, text))


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    path = written(tmp_path, "confidense = 1\ndraws = -1\non = 'x'\nfamilywise = 3\n")
    with pytest.raises(eh.CallError) as caught:
        Policy.load(path)
    first, *lines = str(caught.value).splitlines()
    assert first == "4 problems:"
    assert len(lines) == 4
    assert all("fairness.toml': " in line for line in lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"required = [", "is not valid TOML"),
        (b'required = ["equalized', "is not valid TOML"),
        (b"confidence = 0.9\nconfidence = 0.9", "is not valid TOML"),
        (b"draws = " + b"1" * 5000, "is not valid TOML"),
        (b"\x00\x01\x02", "is not valid TOML"),
        (b"\xff\xfe\x00", "is not a policy: it is not UTF-8 text"),
        (b"PAR1" + bytes(range(256)), "is not a policy: it is not UTF-8 text"),
        (b"a = " + b"[" * 100_000, "nested too deeply|no valid TOML"),
        (b"# " + b"x" * MOST_BYTES, "larger than"),
    ],
    ids=["truncated", "half-a-word", "twice", "digits", "zeros", "utf-16", "binary", "nested", "huge"],
)
def test_files_that_are_no_policy(content, message, tmp_path):
    path = tmp_path / "fairness.toml"
    path.write_bytes(content)
    with pytest.raises(eh.DataError, match=message):
        Policy.load(path)


def test_paths_that_are_no_file(tmp_path):
    with pytest.raises(eh.DataError, match="it is a folder"):
        Policy.load(tmp_path)
    with pytest.raises(eh.DataError, match="there is no file"):
        Policy.load(tmp_path / "absent.toml")
    with pytest.raises(eh.DataError, match="cannot be read"):
        Policy.load("a\0b.toml")


# --- what names a policy


def test_a_policy_by_name_or_path(tmp_path):
    path = written(tmp_path, "confidence = 0.9", "strict")
    for named in (path, str(path)):
        assert eh.audit(decisions(), **ROLES, policy=named).policy.confidence == 0.9
    assert eh.audit(decisions(), **ROLES, policy="four-fifths").required == ("disparate_impact",)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("x", r"policy='x' is neither a policy of the package nor a file; there are: 'four-fifths', 'nyc-ll144'"),
        ("four_fifths", r"did you mean 'four-fifths'\?.*evenhand policy init"),
        ("absent.toml", r"there is no file 'absent.toml'"),
        ("a\0b", r"is neither"),
        ("y" * 10_000, r"is neither"),
        (5, r"policy=5 must be a Policy, the name of one \(four-fifths, nyc-ll144, .* or health\), or the path"),
        ({"confidence": 0.9}, r"must be a Policy"),
        (b"four-fifths", r"must be a Policy"),
    ],
)
def test_what_names_no_policy(policy, message):
    with pytest.raises(eh.EvenhandError, match=message):
        eh.audit(decisions(), **ROLES, policy=policy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": 5}, r"metrics=5 must be a list of metrics"),
        ({"metrics": []}, r"metrics=\[\] names no metric: leave it out to compute the core set, or name some"),
        ({"metrics": ()}, r"metrics=\[\] names no metric"),
        ({"metrics": [5]}, r"a metric is given by its name"),
        ({"metrics": {"equalized_odds": 1}}, r"must be a list of metrics"),
        ({"metrics": ["equalized_oods", "x"]}, r"2 problems"),
        ({"intersections": "x"}, r"intersections='x' must be True, False or a whole number of at least 0"),
        ({"intersections": 1.5}, r"intersections=1.5 must be"),
        ({"min_group_size": "x"}, r"min_group_size='x' must be a whole number"),
    ],
)
def test_arguments_that_were_raw_errors(arguments, message):
    with pytest.raises(eh.CallError, match=message):
        eh.audit(decisions(), **ROLES, **arguments)
    cube = eh.Cube.count(decisions(), **ROLES)
    with pytest.raises(eh.CallError, match=message):
        cube.audit(**arguments)


def test_metrics_are_refused_before_the_data_is_read():
    with pytest.raises(eh.CallError, match="metrics=5"):
        eh.audit("there-is-no-such-file.csv", prediction="d", sensitive="g", metrics=5)


def test_one_metric_may_stand_alone():
    found = eh.audit(decisions(), **ROLES, metrics="equalized_odds")
    assert {finding.metric for finding in found.findings} == {"equalized_odds"}
    found = eh.audit(decisions(), **ROLES, metrics=eh.equal_opportunity)
    assert found.required == ("equal_opportunity",)
    assert Policy(required="equalized_odds").required == ("equalized_odds",)


# --- what a policy changes


def test_the_argument_beats_the_policy_and_the_policy_the_default():
    policy = Policy(confidence=0.9, min_group_size=7, reference="A", intersections=False, metrics=["equalized_odds"])
    kept = eh.audit(decisions(), **ROLES, policy=policy)
    assert (kept.policy.confidence, kept.policy.min_group_size) == (0.9, 7)
    assert {finding.attributes for finding in kept.findings} == {("race",), ("sex",)}
    assert {finding.metric for finding in kept.findings} == {"equalized_odds"}
    assert kept.findings[0].settings["against"] == "A"
    beaten = eh.audit(
        decisions(), **ROLES, policy=policy, confidence=0.99, reference="B", intersections=True, metrics="four_fifths"
    )
    assert beaten.policy == replace(policy, confidence=0.99, reference="B", intersections=True)
    assert {finding.metric for finding in beaten.findings} == {"disparate_impact"}
    assert ("race", "sex") in {finding.attributes for finding in beaten.findings}
    assert beaten.findings[0].settings["against"] == "B"


def test_the_policy_of_an_audit_repeats_it(tmp_path):
    arguments = {"reference": {"race": "A"}, "confidence": 0.9, "intersections": 1}
    first = eh.audit(decisions(0.1), **ROLES, **arguments)
    first.policy.save(tmp_path / "p.toml")
    again = eh.audit(decisions(0.1), **ROLES, policy=tmp_path / "p.toml")
    assert again.verdict == first.verdict
    assert [str(f.value) for f in again.findings] == [str(f.value) for f in first.findings]


def test_on_says_which_attributes_decide():
    """Equal on each attribute by itself, far apart on their intersections."""
    data = decisions(joint=0.2)
    verdicts = {on: eh.audit(data, **ROLES, policy=Policy(on=on)) for on in ON}
    assert {on: found.verdict for on, found in verdicts.items()} == {
        "single": "pass",
        "intersections": "fail",
        "all": "fail",
    }
    for on, sizes in {"single": {1}, "intersections": {2}, "all": {1, 2}}.items():
        found = verdicts[on]
        assert {len(f.attributes) for f in found.findings if found.decides(f)} == sizes
        deciding = [found.decides(finding) for finding in found.findings]
        assert deciding == sorted(deciding, reverse=True)
    assert any("on intersections of attributes" in note for note in verdicts["intersections"].notes)


def test_intersections_that_are_not_there_cannot_decide():
    policy = Policy(on="intersections")
    with pytest.raises(eh.CallError, match=r'decides on intersections and there are none.*on = "all"'):
        eh.audit(decisions(), **ROLES | {"sensitive": "race"}, policy=policy)
    with pytest.raises(eh.CallError, match="decides on intersections"):
        eh.audit(decisions(), **ROLES, policy=policy, intersections=False)


@pytest.mark.parametrize("counts_as", INCONCLUSIVE)
def test_what_an_inconclusive_finding_counts_as(counts_as):
    found = eh.audit(decisions(0.05, size=100), **ROLES, policy=Policy(inconclusive=counts_as))
    assert "inconclusive" in {finding.verdict for finding in found.findings if found.decides(finding)}
    assert found.verdict == counts_as
    said = f"counts as a {counts_as}"
    assert any(said in note for note in found.notes) == (counts_as != "inconclusive")


def test_a_fail_stays_a_fail():
    assert eh.audit(decisions(0.3), **ROLES, policy=Policy(inconclusive="pass")).verdict == "fail"


def test_nothing_required_judges_nothing():
    found = eh.audit(decisions(0.3), **ROLES, policy=Policy(required=()))
    assert found.verdict == "not judged"
    assert str(found).startswith("Verdict: not judged\n")
    assert any("No metric is required" in note for note in found.notes)


def test_what_is_required_must_be_possible():
    roles = {name: ROLES[name] for name in ("prediction", "count", "sensitive")}
    with pytest.raises(eh.CallError, match="equalized_odds needs label="):
        eh.audit(decisions(), **roles, policy=Policy(required="equalized_odds"))
    with pytest.raises(eh.CallError, match="equalized_odds needs label="):
        eh.audit(decisions(), **roles, policy=Policy(required="equalized_odds", metrics=["equalized_odds"]))


def test_what_a_policy_names_and_the_data_lacks_is_left_out():
    roles = {name: ROLES[name] for name in ("prediction", "count", "sensitive")}
    found = eh.audit(decisions(), **roles, policy=Policy(metrics=["equalized_odds", "demographic_parity"]))
    assert found.required == ("demographic_parity",)
    assert any("equalized_odds needs label=" in note for note in found.notes)


def test_an_alias_is_judged_as_its_name_says():
    found = eh.audit(decisions(0.2), **ROLES, policy=Policy(required="demographic_parity_ratio"))
    first = found.findings[0]
    assert (first.metric, first.judged_on, first.threshold) == ("demographic_parity", "ratio", 0.8)
    assert [f.metric for f in found.findings].count("demographic_parity") == 3
    limited = Policy(thresholds={"demographic_parity_ratio": 0.5})
    assert (limited.thresholds, limited.judged_on) == ({"demographic_parity": 0.5}, {"demographic_parity": "ratio"})
    found = eh.audit(decisions(0.2), **ROLES, policy=limited, metrics=["demographic_parity"])
    assert (found.findings[0].judged_on, found.findings[0].threshold, found.verdict) == ("ratio", 0.5, "pass")


def test_judged_on_by_the_policy():
    found = eh.audit(
        decisions(0.2), **ROLES, policy=Policy(metrics=["disparate_impact"], judged_on={"four_fifths": "difference"})
    )
    assert (found.findings[0].judged_on, found.findings[0].threshold) == ("difference", 0.1)


def test_an_alias_judged_otherwise_takes_the_usual_threshold():
    asked = make_request("demographic_parity_ratio", judged_on="difference")
    assert (asked.judged_on, asked.threshold) == ("difference", 0.1)


def test_a_threshold_can_be_taken_away():
    found = eh.audit(decisions(0.3), **ROLES, policy=Policy(thresholds={"equalized_odds": None}))
    assert found.verdict == "not judged"
    assert any(note.startswith("Shown and not judged on single attributes: equalized_odds.") for note in found.notes)


def test_familywise_counts_what_decides():
    alone = eh.audit(decisions(), **ROLES, policy=Policy(familywise="audit"))
    every = eh.audit(decisions(), **ROLES, policy=Policy(familywise="audit", on="all"))
    assert [alone.findings[0].settings["family"], every.findings[0].settings["family"]] == [2, 3]


def test_notes_of_the_policy_are_shown():
    assert "Agreed in May." in str(eh.audit(decisions(), **ROLES, policy=Policy(notes="Agreed in May.")))


def test_the_policy_is_in_the_json(tmp_path):
    found = eh.audit(decisions(), **ROLES, policy="nyc-ll144")
    told = found.to_dict()["policy"]
    assert told["min_group_share"] == 0.02
    assert told["thresholds"] == {"disparate_impact": None, "scoring_rate_parity": None}
    found.save(tmp_path / "a.json")
