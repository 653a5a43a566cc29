"""A model card: its metadata block is YAML that keeps what was measured, whatever things are called."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import yaml

import evenhand as eh
from evenhand.report import forms
from support import hostile

ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}


def metadata(text: str) -> dict:
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert found, text[:200]
    return yaml.safe_load(found[1])


def test_the_metadata_is_a_model_index_of_what_was_measured():
    audit = eh.audit(eh.datasets.compas(), **ROLES, policy=eh.Policy(cover={"system": "COMPAS", "data_source": "x"}))
    told = metadata(forms.dumps(audit, "model-card", ".md"))
    (entry,) = told["model-index"]
    (result,) = entry["results"]
    assert entry["name"] == "COMPAS"
    assert result["task"] == {"type": "tabular-classification"}
    assert result["dataset"] == {"type": "tabular", "name": "x"}
    values = {(each["type"], each["name"]): each["value"] for each in result["metrics"]}
    overall = {each.measure.name: each.values[0] for each in audit.measures(("race",), together=True)}
    assert values["accuracy", "accuracy"] == overall["accuracy"]
    odds = next(each for each in audit.findings if (each.metric, each.attributes) == ("equalized_odds", ("race",)))
    ((name, gap),) = [
        (name, value) for (kind, name), value in values.items() if kind == "equalized_odds" and "by race:" in name
    ]
    assert gap == odds.shown.value, "as in the tables of the card"
    assert name.startswith(f"equalized odds by race: {100 * gap:.1f} points [")
    assert all(isinstance(value, float) and math.isfinite(value) for value in values.values())


def test_numbers_and_labels_that_are_not_there():
    numbers = eh.audit(label=[1.5, 2.2, 3.1, 4] * 30, prediction=[1.1, 2.5, 3.3, 4] * 30, sensitive=list("abab") * 30)
    told = metadata(forms.dumps(numbers, "model-card", ".md"))["model-index"][0]["results"][0]
    assert told["task"]["type"] == "tabular-regression"
    assert {"mean_absolute_error", "r_squared"} <= {each["type"] for each in told["metrics"]}
    nobody = eh.audit(prediction=[0] * 60, positive=1, sensitive=list("ab") * 30, metrics=["disparate_impact"])
    assert metadata(forms.dumps(nobody, "model-card", ".md"))["model-index"][0]["results"][0]["metrics"] == []


def test_the_sections_are_those_of_the_paper():
    """Mitchell and others (2019), section 4; what an audit does not know is named as missing."""
    text = forms.dumps(eh.audit(eh.datasets.compas(), **ROLES), "model-card", ".md")
    titles = re.findall("^## (.*)$", text, re.MULTILINE)
    assert titles == [
        *(
            "Intended use",
            "Factors",
            "Evaluation data",
            "Metrics",
            "Performance by group",
            "Differences between groups",
        ),
        *("Caveats and limits", "Not in this card", "Verification"),
    ]
    assert "Training data" in text
    assert "Ethical considerations" in text


def test_the_factors_are_the_sets_that_were_counted():
    one = forms.dumps(eh.audit(prediction=[1, 0] * 40, sensitive=list("ab") * 40), "model-card", ".md")
    assert "Groups by sensitive." in one
    both = forms.dumps(eh.audit(eh.datasets.compas(), **ROLES), "model-card", ".md")
    assert "Groups by race, sex, race × sex." in both


@hostile.every_name
def test_hostile_names_stay_text_in_the_metadata(name: str):
    audit = eh.audit(
        prediction=[1, 0, 1, 1] * 30,
        sensitive={name: ["a", "a", "b", "b"] * 30},
        policy=eh.Policy(cover={"system": name, "data_source": name}),
    )
    told = metadata(forms.dumps(audit, "model-card", ".md"))["model-index"][0]
    assert isinstance(told["name"], str)
    assert isinstance(told["results"][0]["dataset"]["name"], str)
    assert set(told) == {"name", "results"}


@pytest.mark.parametrize("suffix", forms.SUFFIXES)
def test_what_nobody_stated_is_said_to_be_missing(suffix: str, tmp_path: Path):
    text = forms.dumps(eh.audit(prediction=[1, 0] * 40, sensitive=list("ab") * 40), "model-card", suffix)
    assert re.search(r"Signed by\W.*not stated", text)
    assert "[report]" not in text
