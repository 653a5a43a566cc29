"""The rules behind the policies that ship: each file says what was read, when, and what it leaves out."""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.report.json import policy_data
from evenhand.verdicts.policy import SHIPPED, Policy
from evenhand.verdicts.rule import Rule, make

FOLDER = files("evenhand.verdicts").joinpath("policies")
ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}


def test_every_file_ships_and_every_name_has_one():
    assert {f"{name}.toml" for name in SHIPPED} == {
        each.name for each in FOLDER.iterdir() if each.name != "__pycache__"
    }
    assert len(SHIPPED) == 7
    assert "nothing" not in SHIPPED
    with pytest.raises(KeyError):
        SHIPPED["nothing"]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_says_what_it_follows_and_what_it_leaves_out(name: str, capsys: pytest.CaptureFixture[str]):
    rule = SHIPPED[name].rule
    assert rule is not None
    assert rule.name == name
    assert dt.date.fromisoformat(rule.read) >= dt.date(2026, 11, 18)
    assert rule.title
    assert rule.asks
    assert rule.sources
    assert rule.unchecked
    assert rule.not_covered
    assert run(["policy", "show", name]) == 0
    shown = tomllib.loads(capsys.readouterr().out)
    assert shown["rule"]["sources"] == list(rule.sources)
    assert shown["rule"]["not_covered"] == list(rule.not_covered)
    assert shown["rule"]["read"] == rule.read


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_keeps_its_rule_in_files(name: str, tmp_path: Path):
    SHIPPED[name].save(tmp_path / "p.toml")
    again = Policy.load(tmp_path / "p.toml")
    assert again == SHIPPED[name]
    assert policy_data(again) == policy_data(SHIPPED[name])
    assert "rule" not in policy_data(Policy())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_judges_only_by_thresholds_that_its_file_sets(name: str):
    """Most texts set no number, and then nothing may read as a pass or a fail under them."""
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy=name)
    for finding in audit.findings:
        assert (finding.verdict == "not judged") == (SHIPPED[name].thresholds[finding.metric] is None), finding
    assert (audit.verdict == "not judged") == (name not in ("four-fifths", "fair-lending"))
    assert json.loads(json.dumps(audit.to_dict()))["policy"]["rule"]["name"] == name


@pytest.mark.parametrize("name", ["co-insurance", "eu-ai-act", "health"])
def test_numbers_are_audited_by_the_same_policy(name: str):
    values = {"label": [1.5, 2.2, 3.1, 4] * 30, "prediction": [1.1, 2.5, 3.3, 4] * 30, "sensitive": list("abab") * 30}
    audit = eh.audit(**values, policy=name)
    assert {finding.metric for finding in audit.findings} <= set(SHIPPED[name].metrics)
    (left_out,) = [note for note in audit.notes if note.startswith("Left out of what the policy names")]
    assert re.search(r"for another task than 'regression'\.$", left_out)


def test_a_policy_for_decisions_alone_says_so_of_numbers():
    with pytest.raises(eh.CallError, match=r"no metric of the policy can be computed: .* for another task"):
        eh.audit(label=[1.5, 2.2] * 30, prediction=[1.1, 2.5] * 30, sensitive=list("ab") * 30, policy="uk-equality")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sources": [1]}, "sources=1 of the rule must be text"),
        ({"titel": "x"}, "'titel' is not a key of the rule; did you mean 'title'?"),
        (3, "rule=3 must be a table with keys such as sources"),
    ],
)
def test_what_is_wrong_with_a_rule(given, message, tmp_path: Path):
    with pytest.raises(eh.CallError) as error:
        Policy(rule=given)
    assert message in str(error.value)


def test_a_rule_of_ones_own(tmp_path: Path):
    (tmp_path / "p.toml").write_text("rule.name = 'house'\nrule.sources = 'a handbook'\nrule.read = 2026-01-02\n")
    rule = Policy.load(tmp_path / "p.toml").rule
    assert rule == Rule(name="house", sources=("a handbook",), read="2026-01-02")
    assert make(rule) is rule
    assert make(None) is None
