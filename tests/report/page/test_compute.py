"""The script of the page against Python, on the cube that the page holds: values to 1e-9, intervals to 1e-6.

The vectors are what Python says of small cubes (tools/vectors.py); Node runs the same script that a page does.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv, ndtri

import evenhand as eh
from conftest import ROOT, require
from evenhand.audits import page_counts
from evenhand.report import page
from support import page_data, pages

VECTORS = ROOT / "tests" / "vectors"
PAGE = ROOT / "src" / "evenhand" / "report" / "page" / "assets"
NODE = shutil.which("node")

FILES = sorted(path for path in VECTORS.glob("*.json") if path.stem != "measures")


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vectors", ROOT / "tools" / "vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def node(*arguments: str, **environment: str) -> Any:
    """What a script prints as JSON."""
    require("node", NODE is not None, "the page's script is run outside of a browser by Node")
    done = subprocess.run(
        [str(NODE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def agree(files: list[Path], least: int, **environment: str) -> None:
    told = node(str(VECTORS / "run.js"), str(VECTORS / "measures.json"), *map(str, files), **environment)
    assert not told["wrong"], "\n".join(told["wrong"][:20])
    assert told["compared"] >= least
    assert told["values"] <= 1e-9
    assert told["intervals"] <= 1e-6


def test_the_script_agrees_with_python():
    agree(FILES, 6000)


def test_the_script_agrees_as_a_page_carries_it(tmp_path):
    script, _ = page.assets()
    assert page.engine() in script
    exported = f"{page.engine()}\nmodule.exports = {{ evenhandCompute }};\n"
    (tmp_path / "engine.js").write_text(exported, encoding="utf-8")
    agree(FILES, 6000, EVENHAND_ENGINE=str(tmp_path / "engine.js"))


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return tool().vectors()


def test_the_vectors_are_those_the_tool_makes(made):
    assert sorted(made) == sorted(path.stem for path in VECTORS.glob("*.json"))
    for name, told in made.items():
        stored = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
        assert list(drifted(json.loads(tool().dumps(told)), stored)) == [], f"{name}: run make stubs"


def drifted(new: Any, old: Any, where: str = "") -> Any:
    """Where two trees differ by more than the last digits."""
    if isinstance(new, dict) and isinstance(old, dict) and new.keys() == old.keys():
        for key in new:
            yield from drifted(new[key], old[key], f"{where}.{key}")
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for i, (one, other) in enumerate(zip(new, old, strict=True)):
            yield from drifted(one, other, f"{where}[{i}]")
    elif isinstance(new, float) and isinstance(old, (int, float)):
        if not math.isclose(new, old, rel_tol=1e-9, abs_tol=1e-12):
            yield where
    elif new != old:
        yield where


def test_the_vectors_stay_small():
    assert sum(path.stat().st_size for path in VECTORS.glob("*.json")) < 330_000


def random_roles(rng: np.random.Generator) -> dict[str, Any]:
    """Rows of everything that may be there or not: weights, labels, scores, predictions, groups without a name.

    No attribute has two groups only: against the rest, each would be the mirror of the other, and a last digit decides
    which of the two is named.
    """
    n, groups = int(rng.integers(60, 900)), int(rng.integers(3, 9))
    group = rng.integers(0, groups, n) ** 2 // groups  # uneven sizes
    names = np.array([*(f"g{i}" for i in range(groups)), None], dtype=object)
    score = np.round(np.clip(rng.beta(2, 2, n) + 0.03 * group, 0, 1), int(rng.integers(1, 4)))
    label = (rng.random(n) < score).astype(object)
    roles: dict[str, Any] = {
        "label": np.where(rng.random(n) < 0.05, None, label) if rng.random() < 0.4 else label,
        "score": score,
        "sensitive": {"g": names[np.where(rng.random(n) < 0.04, groups, group)], "h": rng.choice(["x", "y", "z"], n)},
    }
    if rng.random() < 0.5:
        roles["cutoff"] = float(np.round(rng.uniform(0.2, 0.8), 2))
    else:
        roles["prediction"] = (score + rng.normal(0, 0.1, n) > 0.5).astype(int)
        roles["score"] = np.where(rng.random(n) < 0.1, np.nan, score)
    if rng.random() < 0.5:
        roles["weight"] = np.round(rng.gamma(2.0, 1.0, n), 3)
    if rng.random() < 0.3:
        roles["higher_is"] = "negative"
    return roles


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "reference": [None, None, "rest", "overall", {"g": "g0"}, "highest"][int(rng.integers(6))],
        "confidence": float(rng.choice([0.8, 0.95, 0.99])),
        "min_group_size": int(rng.choice([1, 10, 30])),
        "policy": eh.Policy(
            judged_on={"equalized_odds": str(rng.choice(["difference", "ratio"]))},
            min_group_share=float(rng.choice([0.0, 0.1])),
        ),
    }


def test_the_script_agrees_on_any_cube(tmp_path):
    files = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        roles, arguments = random_roles(rng), random_arguments(rng)
        audit = tool().audit_of(roles, arguments, least=int(rng.choice([0, 2])))
        last = len(page_data.stops(audit))
        stops = [-1, *sorted({int(stop) for stop in rng.integers(0, last, 3)})] if last else [-1]
        found = tool().audit_case(audit, stops, whole=False)
        files.append(tmp_path / f"seed {seed}.json")
        files[-1].write_text(tool().dumps(found))
    agree(files, 3000)


def test_the_script_says_why_people_of_weight_0_count_for_nothing(tmp_path):
    rng = np.random.default_rng(4)
    group = np.repeat(["a", "b", "c", "d"], [80, 60, 20, 5])
    roles = {
        "label": rng.integers(0, 2, 165),
        "score": np.round(rng.random(165), 1),
        "weight": np.where((group == "d") | ((group == "c") & (rng.random(165) < 0.8)), 0.0, rng.choice([1, 1e6], 165)),
        "sensitive": {"g": group},
        "cutoff": 0.5,
    }
    told = tool().case(roles, {}, (-1, 2, 8), whole=False)
    assert "no decisions among g = d with a weight above 0" in json.dumps(told)
    (tmp_path / "weightless.json").write_text(tool().dumps(told), encoding="utf-8")
    agree([tmp_path / "weightless.json"], 100)


@pytest.mark.parametrize("reference", ["rest", "overall"])
def test_the_script_leaves_out_groups_whose_labels_tell_nothing(reference, tmp_path):
    """Some groups have labels of the selected only at one stop, and of nobody at another; one group is one person."""
    files = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        size = 9000
        group = rng.choice([*"abcde"[: 3 + seed % 3]], size)
        label = (rng.random(size) < 0.5).astype(float)
        score = np.round(np.clip(0.3 * label + rng.random(size) * 0.8, 0, 1), 1)
        lost = ((group == "c") & (score < 0.5)) | ((group == "d") & (score >= 0.5)) | (rng.random(size) < 0.02)
        group[0], score[0], lost[0] = "one", 0.1, True
        roles = {"label": np.where(lost, np.nan, label), "score": score, "sensitive": {"g": group}, "cutoff": 0.5}
        if seed % 2:
            roles["weight"] = rng.choice([0.5, 1, 3], size)
        told = tool().case(roles, {"reference": reference}, (-1, 3, 5, 8), whole=False)
        files.append(tmp_path / f"{reference} {seed}.json")
        files[-1].write_text(tool().dumps(told), encoding="utf-8")
        found = {each["metric"]: each for each in told["expected"][0]["sets"][0]["findings"]}
        assert found["equalized_odds"]["verdict"] != "fail", "all groups are treated alike"
    agree(files, 1000)


SCORED = ("compas", "score and decision", "mirrored", "reference")


def test_the_script_agrees_where_labels_are_missing_for_a_reason(tmp_path):
    """Some groups have no value, some no label at all, and odds may be infinite; the bounds decide all the same."""
    files = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        size, names = int(rng.choice([60, 300, 3000])), [*"abcd"[: 2 + seed % 3], None]
        label = (rng.random(size) < rng.choice([0.02, 0.4, 0.9])).astype(float)
        score = np.round(np.clip(0.5 * label + rng.random(size) * 0.6, 0, 1), 1)
        lost = rng.random(size) < np.where(score < 0.5, rng.choice([0.03, 0.3, 1]), rng.choice([0, 0.02, 0.2]))
        group = [names[i] for i in rng.integers(0, len(names), size)]
        roles = {"label": np.where(lost, np.nan, label), "score": score, "sensitive": {"g": group}, "cutoff": 0.5}
        if seed % 3 == 0:
            roles["weight"] = rng.choice([0, 0.5, 1, 1e3], size)
        reference = [None, "rest", "overall", "a", "highest"][seed % 5]
        policy = eh.Policy(min_group_size=5, judged_on={"equalized_odds": "ratio"} if seed % 2 else {})
        told = tool().case(roles, {"reference": reference, "policy": policy}, (-1, 2, 5), whole=False)
        files.append(tmp_path / f"seed {seed}.json")
        files[-1].write_text(tool().dumps(told), encoding="utf-8")
    agree(files, 1000)


@pytest.mark.parametrize("least", [0, 5, 12])
@pytest.mark.parametrize("kind", SCORED)
def test_the_script_agrees_at_every_stop(kind, least, tmp_path):
    """Every stop of the slider, every attribute, and every metric that a page computes again, also of a page to share.

    Python decides the counts of the audit itself at the cutoff: a page may hold fewer stops, and no other number.
    """
    audit = pages.KINDS[kind]()
    audit = audit.shared(least) if least else audit
    told = tool().audit_case(audit, None, whole=kind == "compas")
    assert len(told["expected"]) == 1 + len(page_data.stops(audit)) > 3
    assert len(told["expected"][0]["sets"]) == len(audit.counted_sets)
    (tmp_path / f"{kind}.json").write_text(tool().dumps(told))
    agree([tmp_path / f"{kind}.json"], 300)


def test_a_page_with_too_many_counts_has_fewer_stops_and_no_other_number(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    score = rng.random(9000)
    roles = {"score": score, "label": rng.random(9000) < score, "positive": True, "cutoff": 0.37}
    audit = eh.audit(**roles, sensitive=rng.integers(0, 12, 9000), weight=rng.gamma(2.0, 1.0, 9000))
    before = page_data.stops(audit)
    monkeypatch.setattr(page_counts, "MOST_BYTES", 30_000)
    after = page_data.stops(audit)
    assert 5 < len(after) < len(before)
    assert 0.37 in after
    told = tool().audit_case(audit, None, whole=False)
    (tmp_path / "short.json").write_text(tool().dumps(told))
    agree([tmp_path / "short.json"], 1000)


def test_the_beta_quantile_is_that_of_scipy(tmp_path):
    rng = np.random.default_rng(1)
    n = 4000
    whole = np.floor(10 ** rng.uniform(0, 5, (2, n))) + rng.choice([0, 0.25, 0.5, 0.75, 1], (2, n))
    broken = 10 ** rng.uniform([[-2], [-0.1]], 7, (2, n))  # of weights, and huge
    a, b = np.concatenate([whole, broken], axis=1)
    tail = rng.choice([0.5, 0.25, 0.05, 0.025, 1e-3, 1e-5], 2 * n)
    (tmp_path / "x.json").write_text(json.dumps([tail.tolist(), (-ndtri(tail)).tolist(), a.tolist(), b.tolist()]))
    script = f"""
        const {{ evenhandInference }} = require({json.dumps(str(PAGE / "inference.js"))});
        const [tail, z, a, b] = JSON.parse(require('fs').readFileSync({json.dumps(str(tmp_path / "x.json"))}));
        const deviates = tail.map((_, i) => ({{ tail: tail[i], z: z[i] }}));
        console.log(JSON.stringify([
          deviates.map((at, i) => evenhandInference.betaInverse(at, a[i], b[i])), z.map(evenhandInference.normalTail),
        ]));"""
    quantiles, tails = node("-e", script)
    np.testing.assert_allclose(quantiles, betaincinv(a, b, tail), rtol=0, atol=2e-9)
    np.testing.assert_allclose(tails, tail, rtol=1e-12)


@pytest.mark.parametrize("name", ["inference.js", "ends.js", "verdicts.js", "compute.js"])
def test_the_script_is_small_and_touches_no_document(name):
    code = (PAGE / name).read_text(encoding="utf-8")
    assert len(code.encode()) < 36_000
    for word in ("document", "window", "innerHTML", "eval(", "Function(", "fetch", "import(", "XMLHttp"):
        assert not re.search(rf"\b{re.escape(word)}", re.sub(r"(?m)^\s*//.*$", "", code)), word
