"""The action for GitHub and the template for GitLab: their YAML is read, and their shell steps are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import examples

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "integrations"
ACTION = yaml.safe_load((FOLDER / "github" / "action.yml").read_text(encoding="utf-8"))
JOB = yaml.safe_load((FOLDER / "gitlab" / "evenhand.gitlab-ci.yml").read_text(encoding="utf-8"))[".evenhand"]
ROLES = "--label=repaid\n--prediction=approved\n--sensitive=team, the\n"
EVEN, UNEVEN, FEW = 500, 200, 20


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with decisions, and with `evenhand` and `python` on its own path."""
    (tmp_path / "bin").mkdir()
    for name, line in {
        "evenhand": f'exec "{sys.executable}" -m evenhand "$@"',
        "python": f'case "$*" in *"pip install"*) echo "$*" >> installed;; *) exec "{sys.executable}" "$@";; esac',
    }.items():
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    (tmp_path / "fairness.toml").write_text('required = ["demographic_parity"]\n')
    return tmp_path


def decisions(folder: Path, selected: int, people: int = 1000) -> None:
    rows = ['repaid,approved,"team, the"']
    for team, chosen in (("north", people // 2), ("south", people * selected // 1000)):
        rows += [f"1,1,{team}"] * chosen + [f"1,0,{team}"] * (people - chosen)
    (folder / "decisions.csv").write_text("\n".join(rows) + "\n")


def shell(script: str, folder: Path, variables: dict[str, str]) -> int:
    paths = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    files = {"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "outputs")}
    # GitHub and GitLab run a step in bash with -e.
    run = ["bash", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(run, cwd=folder, env={**paths, **files, **variables}, check=False).returncode


def github(folder: Path, **inputs: str) -> int:
    """Run the steps of the action with these inputs, as GitHub would; the exit code of the first that fails."""
    given = {name: inputs.get(name, each.get("default", "")) for name, each in ACTION["inputs"].items()}
    for step in ACTION["runs"]["steps"]:
        told = {
            key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text)
            for key, text in step["env"].items()
        }
        if code := shell(step["run"], folder, told):
            return code
    return 0


def gitlab(folder: Path, **variables: str) -> int:
    told = {**JOB["variables"], **variables}
    for line in [*JOB["before_script"], *JOB["script"]]:
        if code := shell(line, folder, told):
            return code
    return 0


def test_the_action_is_composite_and_no_input_is_part_of_a_script():
    assert ACTION["runs"]["using"] == "composite"
    assert {"name", "description", "inputs", "outputs"} <= set(ACTION)
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
    assert ACTION["outputs"]["verdict"]["value"] == "${{ steps.audit.outputs.verdict }}"


@pytest.mark.parametrize(("selected", "code", "verdict"), [(EVEN, 0, "pass"), (UNEVEN, 1, "fail")])
def test_the_action_ends_as_the_audit_does(selected, code, verdict, work: Path):
    decisions(work, selected)
    assert github(work, data="decisions.csv", arguments=ROLES, policy="fairness.toml", form="nist") == code
    assert (work / "installed").read_text().strip() == "-m pip install --quiet evenhand"
    assert (work / "outputs").read_text() == f"verdict={verdict}\n"
    assert (work / "summary").read_text().startswith(f"# Verdict: {verdict}")
    assert {path.name for path in work.glob("evenhand-audit*")} == {
        f"evenhand-audit{suffix}" for suffix in (".json", ".html", ".md", ".xml", "-nist.html")
    }


def test_the_action_says_inconclusive_and_wrong_apart(work: Path):
    decisions(work, 450, people=FEW)
    inputs = {"data": "decisions.csv", "arguments": ROLES, "policy": "fairness.toml", "share": "false"}
    assert github(work, **inputs, version="==0.1.0") == 3
    assert (work / "installed").read_text().strip().endswith("evenhand==0.1.0")
    assert github(work, data="nothing.csv", arguments=ROLES) == 2
    assert not (work / "evenhand-audit.json").exists()
    assert (work / "outputs").read_text() == "verdict=inconclusive\n"


def test_nothing_that_an_input_says_is_run(work: Path):
    decisions(work, EVEN)
    nasty = 'decisions.csv"; touch owned; echo "$(touch owned2) `touch owned3`'
    assert github(work, data=nasty, arguments=ROLES, policy="$(touch owned4)") == 2
    assert gitlab(work, EVENHAND_DATA=nasty, EVENHAND_ARGUMENTS=ROLES) == 2
    assert not list(work.glob("owned*"))


@pytest.mark.parametrize(("selected", "code", "verdict"), [(EVEN, 0, "pass"), (UNEVEN, 1, "fail")])
def test_the_template_of_gitlab(selected, code, verdict, work: Path):
    decisions(work, selected)
    told = {"EVENHAND_DATA": "decisions.csv", "EVENHAND_ARGUMENTS": ROLES, "EVENHAND_POLICY": "fairness.toml"}
    assert gitlab(work, **told, EVENHAND_FORM="model-card") == code
    suites = ElementTree.parse(work / JOB["artifacts"]["reports"]["junit"]).getroot()
    failed = sum(int(suite.get("failures", "0")) for suite in suites.iter("testsuite"))
    assert (failed > 0) == (verdict == "fail")
    assert (work / "evenhand-audit-model-card.html").exists()
    assert JOB["artifacts"]["when"] == "always"


def recipe(words: str) -> dict:
    """The YAML of a recipe of the cookbook."""
    page = (ROOT / "docs" / "cookbook" / "pipelines.md").read_text(encoding="utf-8")
    found = next(block for block in examples.blocks(page) if block.language == "yaml" and words in block.source)
    return yaml.safe_load(found.source)


POLICY = """
required = ["demographic_parity"]
[data]
label = "repaid"
prediction = "approved"
sensitive = "team, the"
"""


@pytest.mark.parametrize(("selected", "code"), [(EVEN, 0), (UNEVEN, 1)])
def test_the_recipe_for_github_needs_no_more_than_data_and_a_policy(selected, code, work: Path):
    decisions(work, selected)
    (work / "fairness.toml").write_text(POLICY)
    (inputs,) = (step["with"] for step in recipe("./.github/actions/evenhand") if "evenhand" in step["uses"])
    assert set(inputs) <= set(ACTION["inputs"])
    assert github(work, **inputs) == code


@pytest.mark.parametrize(("selected", "code"), [(EVEN, 0), (UNEVEN, 1)])
def test_the_recipe_for_gitlab_needs_no_more_than_data_and_a_policy(selected, code, work: Path):
    decisions(work, selected)
    (work / "fairness.toml").write_text(POLICY)
    job = recipe("include: evenhand.gitlab-ci.yml")["audit"]
    assert job["extends"] == ".evenhand"
    assert set(job["variables"]) <= set(JOB["variables"])
    assert gitlab(work, **job["variables"]) == code
