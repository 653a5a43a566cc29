"""The recipes for trackers and for Great Expectations are run as they stand on their page."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

import evenhand as eh
import examples
from conftest import ROOT, require
from evenhand.report.tracking import figures

BLOCKS = examples.blocks((ROOT / "docs" / "cookbook" / "pipelines.md").read_text(encoding="utf-8"))
LIBRARIES = ("import mlflow", 'to="wandb"', "import great_expectations")


def recipe(words: str) -> str:
    return next(block.source for block in BLOCKS if block.not_run and words in block.source)


def ran(words: str) -> dict[str, Any]:
    """The names that a recipe leaves behind."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(recipe(words), f"<the recipe with {words}>", "exec"), names)
    return names


def test_every_recipe_that_is_left_to_make_handover_is_run_here():
    left = {block.source for block in BLOCKS if "make handover" in (block.not_run or "")}
    assert left == {recipe(words) for words in LIBRARIES}


def test_mlflow(client: MlflowClient, capsys: pytest.CaptureFixture[str]):
    found = ran("import mlflow")
    data = client.get_run(found["run"].info.run_id).data
    assert data.metrics == figures(found["audit"])
    assert data.tags["evenhand.verdict"] == found["audit"].verdict
    assert found["audit"].verdict in capsys.readouterr().out.splitlines()


def test_wandb(folder: Path):
    ran('to="wandb"')
    assert len(list(folder.rglob("*.wandb"))) == 1


# A library of others, which changes its own names now and then.
def test_great_expectations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    there = importlib.util.find_spec("great_expectations") is not None
    require("Great Expectations", there, "make handover")
    monkeypatch.chdir(tmp_path)
    page = examples.Page()
    for block in BLOCKS:  # the decisions and the policy, as the page makes them
        if "quiet" in block.words or block.title == "fairness.toml":
            page.output(block)
    for threshold, passes in (("0.12", True), ("0.01", False)):
        policy = tmp_path / "fairness.toml"
        policy.write_text(policy.read_text().replace("= 0.12", f"= {threshold}"))
        found = ran("import great_expectations")
        assert found["batch"].validate(found["passes"]).success is passes
        assert (eh.audit("decisions.csv", policy="fairness.toml").verdict == "pass") is passes
        assert capsys.readouterr().out.splitlines()[-1] == str(passes)
