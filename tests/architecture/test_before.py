"""Files, names, options and numbers of before the modules were moved: all of them are as they were.

The files are described in tests/data/before/README.md.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import math
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pytest

import evenhand as eh
from conftest import ROOT
from evenhand import cli
from evenhand.catalogue import METRICS
from evenhand.mitigate import Thresholds
from evenhand.report import json as report_json
from evenhand.sources.lines import LATER_MOMENTS
from support.commands import COMMANDS
from support.seals import seal_cube, sealed

BEFORE = ROOT / "tests" / "data" / "before"
CUBES = ("binary", "weighted", "multiclass", "regression")
AUDITS = ("compas", "berkeley", "scores", "regression", "stability", "individual")


@cache
def recorded(name: str) -> Any:
    return json.loads((BEFORE / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the files, in which a command may write; files that had no checksum then have one."""
    copy = Path(shutil.copytree(BEFORE, tmp_path_factory.mktemp("before") / "files"))
    for name in CUBES:
        seal_cube(copy / f"{name}.cube")
    for name in (*AUDITS, "thresholds"):
        (copy / f"{name}.json").write_text(json.dumps(settled(name)), encoding="utf-8")
    return copy


def settled(name: str) -> dict[str, Any]:
    """An audit, or thresholds, of then with a checksum.

    The scores of then are left out: people had been moved between small cells, so that they do not add up.
    """
    told = recorded(f"{name}.json")
    return sealed({**told, "cube": {**told["cube"], "scores": None, "reading": None}} if "cube" in told else told)


@pytest.fixture(autouse=True)
def metrics_of_before():
    """Metrics that were added later are left out: with them an audit has more findings and more p-values to correct."""
    today = dict(METRICS)
    for name in today.keys() - recorded("public-names.json")["evenhand"].keys():
        del METRICS[name]
    yield
    METRICS.clear()
    METRICS.update(today)


# --- numbers


def numbers(estimate: eh.Estimate) -> tuple[float, float, float]:
    """The value and both ends; an end that was not computed is NaN, as an undefined value is."""
    return tuple(math.nan if part is None else part for part in (estimate.value, estimate.low, estimate.high))


def as_recorded(part: float | str | None) -> float:
    return math.nan if part in (None, "undefined") else float(part)


MENDED = {
    "weighted.cube": {  # they mixed people, not weights
        "calibration",
        "calibration_error_parity",
        "maximum_calibration_error_parity",
        "ks_distance",
        "wasserstein_distance",
        "maximal_correlation",
        "mutual_information",
        "differential_fairness",  # it depended on the unit of the weights
    },
    "regression.cube": {"mean_residual_parity"},  # a ratio of negative numbers
    "compas": {"maximal_correlation", "mutual_information"},  # ten values were joined into fewer
}
"""Metrics whose numbers were wrong before, by the file they are judged from again."""


def same_findings(findings: tuple[eh.Finding, ...], before: list[dict[str, Any]], *, mended: Any = ()) -> None:
    """Each finding has the verdict and the values of before. Sentences may improve and are not compared.

    The ends of a finding that is judged again are not compared either: since then they are those that decide. Nor are
    its p-values: since then they have no floor, and those of means and of several classes keep their level.
    """
    asked = [(found.metric, list(found.attributes)) for found in findings]
    assert asked == [(old["metric"], old["attributes"]) for old in before]
    for found, old in zip(findings, before, strict=True):
        place = f"{found.metric} on {found.attributes}"
        if found.metric in mended:
            continue
        # What has a threshold and no value has been inconclusive since then; files keep the word that they hold.
        unknown = found.threshold is not None and not found.value.defined and found.verdict == "inconclusive"
        verdict = "inconclusive" if unknown else old["verdict"]
        assert (found.verdict, found.passes, len(found.rows)) == (verdict, old["passes"], old["rows"]), place
        for part in ("value", "difference", "ratio"):
            expected = as_recorded((old[part] or [None])[0])
            value = getattr(found, part).value
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True), (place, part)
        assert as_recorded(found.threshold) == pytest.approx(as_recorded(old["threshold"]), nan_ok=True), place


def same_ends(findings: tuple[eh.Finding, ...], before: list[dict[str, Any]]) -> None:
    """The ends and p-values of findings that are loaded, and not judged again."""
    for found, old in zip(findings, before, strict=True):
        p_values = [as_recorded(part) for part in (found.p_value, found.p_adjusted)]
        assert p_values == pytest.approx([*map(as_recorded, old["p"])], rel=1e-9, abs=1e-12, nan_ok=True), found.metric
        for part in ("value", "difference", "ratio"):
            _, *ends = numbers(getattr(found, part))
            _, *limits = map(as_recorded, old[part] or [None] * 3)
            assert ends == pytest.approx(limits, rel=1e-9, abs=1e-9, nan_ok=True), (found.metric, part)


@pytest.mark.parametrize("name", CUBES)
def test_a_cube_of_before_is_loaded_and_judged_alike(name, folder):
    cube, before = eh.Cube.load(folder / f"{name}.cube"), recorded("findings.json")[f"{name}.cube"]
    assert cube.size == before["size"]
    assert [list(group) for group in cube.groups] == before["groups"]
    assert cube.n.tolist() == before["counts"]
    mended = MENDED.get(f"{name}.cube", ())
    same_findings(cube.audit(intersections=False, metrics="all").findings, before["findings"], mended=mended)


@pytest.mark.parametrize("name", CUBES)
def test_the_same_rows_are_counted_into_the_same_cube(name, folder):
    roles = {
        "binary": {"label": "label", "score": "score", "cutoff": 0.5, "sensitive": ["group"], "control": ["region"]},
        "weighted": {
            "label": "label",
            "score": "score",
            "cutoff": 0.5,
            "sensitive": ["group", "region"],
            "weight": "weight",
        },
        "multiclass": {"label": "truth", "prediction": "said", "sensitive": ["group"], "task": "multiclass"},
        "regression": {"label": "pay", "prediction": "offer", "sensitive": ["group"], "control": ["region"]},
    }[name]
    counted, before = eh.Cube.count(BEFORE / "people.csv", **roles), eh.Cube.load(folder / f"{name}.cube")
    if name == "regression":  # some moments were not summed then
        kept = {moment: part for moment, part in counted.scores.sums.items() if moment not in LATER_MOMENTS}
        counted = replace(counted, scores=replace(counted.scores, sums=kept))
    assert counted == before


def test_a_regression_cube_of_before_is_added_to_one_of_today(folder):
    roles = {"label": "pay", "prediction": "offer", "sensitive": ["group"], "control": ["region"]}
    counted, before = eh.Cube.count(BEFORE / "people.csv", **roles), eh.Cube.load(folder / "regression.cube")
    assert "eee" in counted.scores.sums
    for merged in (eh.Cube.merge([counted, before]), eh.Cube.merge([before, counted])):
        assert "eee" not in merged.scores.sums
        assert merged.audit().verdict in ("pass", "fail", "inconclusive", "not judged")


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_of_before_is_loaded(name, folder, tmp_path):
    loaded, before = eh.Audit.load(folder / f"{name}.json"), recorded("findings.json")[f"{name}.json"]
    assert loaded.verdict == before["verdict"]
    same_findings(loaded.findings, before["findings"])
    same_ends(loaded.findings, before["findings"])
    loaded.save(tmp_path / "again.json")
    before_again = {key: value for key, value in settled(name).items() if key != "sha256"}
    holds(json.loads((tmp_path / "again.json").read_text(encoding="utf-8")), before_again)
    for suffix in (".html", ".md", ".xml"):
        loaded.save(tmp_path / f"audit{suffix}")


def holds(today: Any, before: Any, place: str = "") -> None:
    """Everything of before stands in today's file; the form may have learnt further keys."""
    if isinstance(before, dict):
        for key, value in before.items():
            assert key in today, f"{place}/{key}"
            holds(today[key], value, f"{place}/{key}")
    elif isinstance(before, list):
        assert len(today) == len(before), place
        for i, (one, other) in enumerate(zip(today, before, strict=True)):
            holds(one, other, f"{place}/{i}")
    else:
        assert today == before, place


@pytest.mark.parametrize("name", AUDITS)
def test_the_schema_of_today_describes_an_audit_of_before(name):
    jsonschema.Draft202012Validator(json.loads(report_json.schema())).validate(settled(name))


SHIPPED = {
    "compas": {
        "data": eh.datasets.compas(),
        "label": "recidivated",
        "score": "decile",
        "cutoff": 5,
        "count": "count",
        "sensitive": ["race", "sex"],
    },
    "berkeley": {
        "data": eh.datasets.berkeley(),
        "prediction": "admitted",
        "sensitive": "gender",
        "count": "count",
        "control": "department",
    },
}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_finding_on_the_shipped_data_is_as_before(name):
    audit, before = eh.audit(**SHIPPED[name], metrics="all"), recorded("findings.json")[name]
    assert audit.verdict == before["verdict"]
    same_findings(audit.findings, before["findings"], mended=MENDED.get(name, ()))


def test_a_policy_of_before_judges_alike():
    roles = {"label": "label", "score": "score", "cutoff": 0.5, "sensitive": "group"}
    audit = eh.audit(BEFORE / "people.csv", **roles, policy=BEFORE / "policy.toml", metrics="all")
    before = recorded("findings.json")["policy.toml"]
    assert audit.verdict == before["verdict"]
    same_findings(audit.findings, before["findings"])


def test_cutoffs_of_before_decide_alike(folder):
    thresholds = Thresholds.load(folder / "thresholds.json")
    scores = np.linspace(0, 1, 21)
    for group, chances in recorded("findings.json")["thresholds.json"]["chances"].items():
        assert thresholds.chances(scores, [group] * 21).tolist() == pytest.approx(chances, abs=1e-12)


# --- public names


def _as_meant(before: str) -> str:
    """Two defaults have changed on purpose: how many attributes are combined, and who shares the error of a fail."""
    meant = before.replace("intersections=True", "intersections=None")
    return meant.replace("familywise='finding'", "familywise='audit'")


def same_parameters(thing: Any, before: str | None) -> None:
    """Today's parameters are those of before with their defaults; further ones come after them and may be left out.

    The order of those that are given by name only is free.
    """
    if before is None:
        return
    now = str(inspect.signature(thing).replace(return_annotation=inspect.Signature.empty))
    # Combinations of attributes grow as 2^k, so that not all of them are looked at by default any more.
    positional, named = parameters_in(_as_meant(before))
    positional_now, named_now = parameters_in(unannotated(thing))
    assert positional_now[: len(positional)] == positional, now
    assert named <= {*named_now, *positional_now[len(positional) :]}, now


def unannotated(thing: Any) -> str:
    signature = inspect.signature(thing)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def parameters_in(signature: str) -> tuple[list[str], set[str]]:
    """The parameters of a written signature: those that have a place, in order, and those given by name only."""
    spelled = re.sub(r"<[^<>]*>", "None", signature)  # a default that is made anew has no spelling
    arguments = ast.parse(f"def f{spelled}: ...").body[0].args
    first = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(first) - len(arguments.defaults)) + [ast.unparse(each) for each in arguments.defaults]
    positional = [f"{each.arg}={default}" for each, default in zip(first, defaults, strict=True)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return positional, {f"{each.arg}={default and ast.unparse(default)}" for each, default in named}


@pytest.mark.parametrize("door", recorded("public-names.json"))
def test_every_public_name_is_there_with_its_parameters(door):
    module = importlib.import_module(door)
    for name, described in recorded("public-names.json")[door].items():
        thing = getattr(module, name)
        same_parameters(thing, described["signature"])
        for member, before in described.get("members", {}).items():
            if before != "property":
                same_parameters(getattr(thing, member), before)
            else:
                assert hasattr(thing, member), f"{name}.{member}"


# --- the command line


def default(option: click.Parameter) -> Any:
    value = option.default() if callable(option.default) else option.default
    if "UNSET" in repr(value):  # newer versions of click say so where older ones say None
        return None
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def test_every_option_is_there_with_its_default():
    for path, before in recorded("command-line.json")["options"].items():
        options = {" ".join([*each.opts, *each.secondary_opts]): default(each) for each in COMMANDS[path].params}
        lost = {name: value for name, value in before.items() if name not in options or options[name] != value}
        assert not lost, path


@pytest.mark.parametrize("known", recorded("command-line.json")["calls"], ids=lambda known: " ".join(known["call"]))
def test_a_call_ends_with_the_same_exit_code(known, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert cli.run(known["call"]) == known["code"], capsys.readouterr().err
