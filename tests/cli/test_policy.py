"""Policies and the guide on the command line: one engine judges a file, a call and a command alike."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli import EXIT_CODES, run
from evenhand.verdicts.policy import SHIPPED, Policy
from support import hostile
from support.backends import FILES
from support.tables import decisions

OPTIONS = ("--label=y", "--prediction=d", "--count=n", "--sensitive=race", "--sensitive=sex")
ROLES = {"label": "y", "prediction": "d", "count": "n", "sensitive": ["race", "sex"]}


@pytest.fixture
def table(tmp_path) -> Path:
    return FILES["csv"](decisions(0.08, 0.04, size=500), tmp_path)


def audited(capsys, table: Path, *options: str) -> tuple[int, dict]:
    code = run(["audit", str(table), *OPTIONS, "--json", *options])
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


# --- one engine


# The same policy as the text of a file, as fields, and as options.
POLICIES = {
    "default": ("", {}, ""),
    "confident": ("confidence = 0.6", {"confidence": 0.6}, "--confidence=0.6"),
    "required": (
        "required = ['predictive_parity']",
        {"required": ["predictive_parity"]},
        "--require=predictive_parity",
    ),
    "threshold": (
        "[thresholds]\nequalized_odds = 0.3",
        {"thresholds": {"equalized_odds": 0.3}},
        "--threshold=equalized_odds=0.3",
    ),
    "alias": (
        "metrics=['four_fifths']\n[thresholds]\nfour_fifths = 0.95",
        {"metrics": ["four_fifths"], "thresholds": {"four_fifths": 0.95}},
        "--metric=four_fifths --threshold=four_fifths=0.95",
    ),
    "on": ("on = 'all'", {"on": "all"}, "--on=all"),
    "strict": ("inconclusive = 'fail'", {"inconclusive": "fail"}, "--inconclusive=fail"),
    "lenient": (
        "inconclusive = 'pass'\non = 'intersections'",
        {"inconclusive": "pass", "on": "intersections"},
        "--inconclusive=pass --on=intersections",
    ),
    "familywise": ("familywise = 'audit'", {"familywise": "audit"}, "--familywise=audit"),
    "labels": ("missing_labels = 'ignore'", {"missing_labels": "ignore"}, "--missing-labels=ignore"),
    "correction": ("correction = 'none'", {"correction": None}, "--correction=none"),
    "interval": (
        "interval = 'percentile'\ndraws = 200\nrandom_state = 3",
        {"interval": "percentile", "draws": 200, "random_state": 3},
        "--interval=percentile --draws=200 --random-state=3",
    ),
    "reference": ("[reference]\nrace = 'A'", {"reference": {"race": "A"}}, "--reference=race=A"),
    "highest": ("reference = 'highest'", {"reference": "highest"}, "--reference=highest"),
    "single": (
        "intersections = false\nmin_group_size = 600",
        {"intersections": False, "min_group_size": 600},
        "--no-intersections --min-group-size=600",
    ),
}


@pytest.mark.parametrize("case", POLICIES)
def test_a_file_a_call_and_a_command_judge_alike(case, table, tmp_path, capsys):
    text, fields, options = POLICIES[case]
    path = tmp_path / "fairness.toml"
    path.write_text(text)
    by_file, by_options = audited(capsys, table, f"--policy={path}"), audited(capsys, table, *options.split())
    found = [
        eh.audit(str(table), **ROLES, policy=Policy(**fields)),
        eh.audit(str(table), **ROLES, policy=path),
        eh.audit(decisions(0.08, 0.04, size=500), **ROLES, policy=str(path)),
    ]
    told = [by_file, by_options, *((EXIT_CODES[each.verdict], each.to_dict()) for each in found)]
    for (code, one), (other_code, other) in itertools.pairwise(told):
        assert code == other_code
        for key in ("verdict", "required", "findings", "notes"):
            assert one[key] == other[key], key


def test_the_cases_differ_in_their_verdicts(table):
    verdicts = {eh.audit(str(table), **ROLES, policy=Policy(**fields)).verdict for _, fields, _ in POLICIES.values()}
    assert verdicts == {"pass", "fail", "inconclusive"}


def test_an_option_beats_the_policy(table, tmp_path, capsys):
    path = tmp_path / "p.toml"
    path.write_text("correction = 'bh'\nconfidence = 0.9\nintersections = false\n[thresholds]\nequalized_odds = 0.01\n")
    _, told = audited(capsys, table, f"--policy={path}", "--correction=none", "--confidence=0.8", "--intersections")
    assert told["policy"]["correction"] is None
    assert told["policy"]["confidence"] == 0.8
    assert told["policy"]["intersections"] is True
    code, _ = audited(capsys, table, f"--policy={path}", "--threshold=equalized_odds=0.9")
    assert code == 0


def test_a_threshold_by_alias_replaces_that_of_the_policy(table, capsys):
    _, told = audited(capsys, table, "--policy=nyc-ll144", "--threshold=four_fifths=0.99")
    assert told["policy"]["thresholds"] == {"scoring_rate_parity": None, "disparate_impact": 0.99}
    assert told["verdict"] == "fail"


@pytest.mark.parametrize("name", SHIPPED)
def test_policies_of_the_package(name, table, capsys):
    code, told = audited(capsys, table, f"--policy={name}")
    found = eh.audit(str(table), **ROLES, policy=name)
    assert (code, told["verdict"]) == (EXIT_CODES[found.verdict], found.verdict)
    if found.policy.reference == "highest":
        assert all(finding["panels"] for finding in told["findings"] if finding["metric"] == "disparate_impact")
    assert told["policy"]["rule"]["name"] == name


# --- files that are wrong


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"required = [", "not valid TOML"),
        (b"confidence = 'x'", "must be a share"),
        (b"confidense = 1", "did you mean 'confidence'"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "it is not UTF-8 text"),
        (b"a = " + b"{b=" * 5000, "not valid TOML|nested too deeply"),
        (b"required = ['\\u001b[31mred']", "is not a metric"),
    ],
)
def test_hostile_files_are_exit_2(content, message, table, tmp_path, capsys):
    path = tmp_path / "hostile.toml"
    path.write_bytes(content)
    for command in (["audit", str(table), *OPTIONS, "--policy"], ["policy", "show"]):
        assert run([*command, str(path)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "\x1b" not in err
        assert err.startswith("evenhand: error: ")
        assert any(word in err for word in message.split("|"))


def test_paths_that_are_no_policy_are_exit_2(table, tmp_path, capsys):
    for path in (str(tmp_path), str(tmp_path / "absent.toml"), "no-such-policy", ""):
        assert run(["audit", str(table), *OPTIONS, f"--policy={path}"]) == 2
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["audit", "impact"])
def test_a_name_that_is_almost_that_of_a_policy(command, table, capsys):
    options = OPTIONS if command == "audit" else ["--prediction", "p", "--sensitive", "sex"]
    assert run([command, str(table), *options, "--policy=nyc-ll14"]) == 2
    err = capsys.readouterr().err
    assert "neither a policy of the package nor a file; did you mean 'nyc-ll144'?" in err


# --- evenhand policy


def test_policy_init_writes_the_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["policy", "init"]) == 0
    assert Policy.load("fairness.toml") == Policy()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "wrote fairness.toml\n")
    assert run(["policy", "init", "fairness.toml", "--from", "nyc-ll144"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert Policy.load("fairness.toml") == Policy()
    assert run(["policy", "init", "fairness.toml", "--from", "nyc-ll144", "--force"]) == 0
    assert Policy.load("fairness.toml") == Policy.named("nyc-ll144")


def test_policy_init_where_nothing_can_be_written(tmp_path, capsys):
    for path in (tmp_path, tmp_path / "nowhere" / "p.toml"):
        assert run(["policy", "init", str(path)]) == 2
        assert capsys.readouterr().err.startswith("evenhand: error: ")
    assert run(["policy", "init", str(tmp_path / "p.toml"), "--from", "x"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_policy_show(tmp_path, capsys):
    assert run(["policy", "show", "four-fifths"]) == 0
    (tmp_path / "p.toml").write_text(capsys.readouterr().out)
    assert Policy.load(tmp_path / "p.toml") == Policy.named("four-fifths")
    assert run(["policy", "show", "nothing"]) == 2


# --- evenhand guide


def test_the_guide_in_a_script(capsys):
    assert run(["guide", "--label-known", "--priority", "both_errors", "--legal", "us_employment"]) == 0
    out = capsys.readouterr().out
    assert "equalized_odds (decides)" in out
    assert "--label COLUMN --prediction COLUMN --sensitive COLUMN --guide both_errors --legal us_employment" in out
    assert run(["guide", "--no-label-known", "--priority", "selection", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["answers"] == {"label_known": "no", "priority": "selection", "legal": "none"}
    assert run(["guide", "--tree"]) == 0
    assert "├─ both_errors:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the guide asks on a terminal. In a script give --label-known"),
        (["--label-known"], "and --priority"),
        (["--priority=selection"], "--no-label-known"),
        (["--label-known", "--priority=both_erors"], "did you mean 'both_errors'?"),
        (["--label-known", "--priority=selection", "--legal=usa"], "--legal 'usa' is not an answer"),
        (["--no-label-known", "--priority=both_errors"], "without a label nobody knows"),
    ],
)
def test_the_guide_without_a_terminal_or_an_answer(options, message, monkeypatch, capsys):
    monkeypatch.setattr("evenhand.cli.guide._can_ask", lambda: False)
    assert run(["guide", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_the_guide_asks_on_a_terminal(monkeypatch, capsys):
    answers = iter(["yes", "opportunity", "eu"])
    monkeypatch.setattr("evenhand.cli.guide._can_ask", lambda: True)
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    assert run(["guide", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["answers"] == {"label_known": "yes", "priority": "opportunity", "legal": "eu"}
    assert "What matters most?" in err
    assert "both_errors" in err


def test_the_guide_asks_only_what_was_not_given(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("evenhand.cli.guide._can_ask", lambda: True)
    monkeypatch.setattr("click.prompt", lambda *_, type, **__: asked.append(list(type.choices)) or "none")
    assert run(["guide", "--no-label-known", "--priority=selection"]) == 0
    assert asked == [["none", "us_employment", "nyc_ll144", "eu"]]
    assert "demographic_parity (decides)" in capsys.readouterr().out


def test_an_audit_starts_from_the_guide(table, capsys):
    _, told = audited(capsys, table, "--guide=both_errors", "--legal=us_employment")
    advice = eh.recommend(label_known=True, priority="both_errors", legal="us_employment")
    found = eh.audit(str(table), **ROLES, policy=advice.policy)
    assert told["required"] == list(advice.deciding)
    assert told["verdict"] == found.verdict
    assert {finding["metric"] for finding in told["findings"]} == set(advice.policy.metrics)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--guide=both_erors"], "did you mean 'both_errors'?"),
        (["--guide=both_errors", "--policy=four-fifths"], "--guide and --policy both say what decides"),
        (["--legal=eu"], "--legal goes with --guide"),
    ],
)
def test_a_guide_that_leads_nowhere(options, message, table, capsys):
    assert run(["audit", str(table), *OPTIONS, *options]) == 2
    assert message in capsys.readouterr().err


def test_the_guide_of_an_audit_without_a_label(table, capsys):
    options = [option for option in OPTIONS if "label" not in option]
    assert run(["audit", str(table), *options, "--guide=both_errors"]) == 2
    assert "give the label" in capsys.readouterr().err
    assert run(["audit", str(table), *options, "--guide=selection", "-q"]) in (0, 1, 3)


def test_no_escape_reaches_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "\x1b[31m\x9b2J\u202e.toml"
    assert run(["policy", "init", name]) == 0
    assert hostile.unseen(capsys.readouterr().err) == set()
    odd = "a\x1b[31m\x7f\x9b2J\u202e\u200b"
    eh.Policy(notes=(odd,)).save("odd.toml")
    assert eh.Policy.load("odd.toml").notes == (odd,)
    assert run(["policy", "show", "odd.toml"]) == 0
    shown = capsys.readouterr().out
    assert hostile.unseen(shown) == set()
    Path("again.toml").write_text(shown, encoding="utf-8")
    assert eh.Policy.load("again.toml").notes == (odd,)
    for call in (["policy", "show", name + "x"], ["serve", "\x1b[31m"], ["\x1b[31m"], ["audit", "--\x1b[31m"]):
        assert run(call) == 2
        assert hostile.unseen(capsys.readouterr().err) == set()
