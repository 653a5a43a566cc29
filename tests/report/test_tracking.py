"""What a tracker is told; how MLflow and Weights & Biases read it back is tested in tests/handover."""

from __future__ import annotations

import importlib.util
import math
import re

import pytest

import evenhand as eh
from evenhand.report.tracking import figures, labels
from support import hostile

ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}


def test_every_finding_has_its_value_its_ends_and_its_verdict():
    audit = eh.audit(eh.datasets.compas(), **ROLES)
    told, tags = figures(audit), labels(audit)
    for finding in audit.findings:
        name = f"{finding.metric}.{'_x_'.join(finding.attributes)}"
        value = finding.value
        assert [told[f"{name}{end}"] for end in ("", "_low", "_high")] == [value.value, value.low, value.high]
        assert tags[f"evenhand.verdict.{name}"] == finding.verdict
    assert tags["evenhand.verdict"] == audit.verdict
    assert tags["evenhand.cube_sha256"] == audit.to_dict()["digests"]["cube"]


def test_what_is_undefined_is_left_out():
    nobody = eh.audit(prediction=[0] * 80, positive=1, sensitive=list("ab") * 40, metrics=["disparate_impact"])
    assert figures(nobody) == {"people": 80.0}
    assert labels(nobody)["evenhand.verdict.disparate_impact.sensitive"] == "inconclusive"


@hostile.every_name
def test_names_are_such_as_trackers_take(name: str):
    sensitive = {name: list("ab") * 40, f"{name}!": list("aabb") * 20}
    audit = eh.audit(prediction=[1, 0, 1, 1] * 20, sensitive=sensitive, intersections=False)
    told = figures(audit)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,250}", key) for key in told)
    assert all(math.isfinite(value) for value in told.values())
    assert sum("_low" not in key and "_high" not in key for key in told) == len(audit.findings) + 1


@pytest.mark.parametrize("tracker", ["mlflow", "wandb"])
def test_a_library_that_is_not_there(tracker: str):
    if importlib.util.find_spec(tracker) is not None:
        pytest.skip(f"{tracker} is installed")
    audit = eh.audit(prediction=[1, 0] * 40, sensitive=list("ab") * 40)
    with pytest.raises(eh.MissingDependencyError, match=re.escape(f"pip install 'evenhand[{tracker}]'")):
        eh.log(audit, to=tracker)


def test_calls_that_are_wrong():
    audit = eh.audit(prediction=[1, 0] * 40, sensitive=list("ab") * 40)
    with pytest.raises(eh.CallError, match="to='mlfow'"):
        eh.log(audit, to="mlfow")
    with pytest.raises(eh.CallError, match="audit"):
        eh.log("audit.json", to="mlflow")
