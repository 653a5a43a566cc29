"""Only the ratios of weights matter: the same numbers whatever the scale, or an error that says what to do."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.catalogue import METRICS
from evenhand.cli import run
from evenhand.mitigate import Reweigher
from support.backends import BACKENDS
from support.profiles import each_of

RIGHT = (1e-59, 1e-30, 3.0, 1e30, 1e59)
WRONG = (1e-300, 1e-200, 1e-100, 1e100, 1e150, 1e300)


@cache
def people(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    n = 1500
    group, label, score = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n), rng.random(n)
    weight = np.where(rng.random(n) < 0.1, 0, rng.random(n) + 0.5)
    return {
        "decisions": {"label": label, "prediction": (score > 0.4) * 1, "sensitive": group, "weight": weight},
        "strata": {"prediction": label, "control": group[::-1], "sensitive": group, "weight": weight},
        "scores": {"label": label, "score": score, "cutoff": 0.5, "sensitive": group, "weight": weight},
        "regression": {"label": 3 * score + label, "prediction": 3 * score + 1, "sensitive": group, "weight": weight,
                       "task": "regression"},
        "classes": {"label": group, "prediction": group[::-1], "sensitive": label, "weight": weight,
                    "task": "multiclass"},
    }[kind]  # fmt: skip


KINDS = ("decisions", "strata", "scores", "regression", "classes")


@cache
def named(kind: str) -> tuple[str, ...]:
    """The metrics that can be computed from the counts."""
    cube = eh.Cube.count(**people(kind))
    able = []
    for name in METRICS:
        try:
            cube.audit(metrics=[name])
        except eh.EvenhandError:
            continue
        able.append(name)
    return tuple(able)


def numbers(audit: eh.Audit) -> dict[tuple, float]:
    found = {}
    for i, finding in enumerate(audit.findings):
        estimates = {"value": finding.value, "difference": finding.difference, "ratio": finding.ratio}
        estimates |= {f"row {j}": row.estimate for j, row in enumerate(finding.rows) if row.estimate is not None}
        for name, each in estimates.items():
            for end in ("value", "low", "high"):
                value = getattr(each, end)
                found[i, finding.metric, name, end] = math.nan if value is None else value
        found[i, finding.metric, "p", ""] = math.nan if finding.p_value is None else finding.p_value
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_changes_nothing(kind):
    cube = eh.Cube.count(**people(kind))
    expected = numbers(cube.audit(metrics=named(kind)))
    assert len(named(kind)) >= 5
    for factor in RIGHT:
        scaled = {**people(kind), "weight": people(kind)["weight"] * factor}
        found = eh.Cube.count(**scaled).audit(metrics=named(kind))
        assert numbers(found) == pytest.approx(expected, rel=1e-3, abs=1e-9, nan_ok=True), factor  # some ends are drawn
        assert found.verdict == cube.audit(metrics=named(kind)).verdict


@pytest.mark.parametrize("factor", WRONG)
@pytest.mark.parametrize("kind", KINDS)
def test_beyond_the_limits_the_error_says_what_to_do(kind, factor):
    with pytest.raises(eh.DataError, match="Only the ratios of weights matter: divide all of them by the largest"):
        eh.audit(**{**people(kind), "weight": people(kind)["weight"] * factor})


@pytest.mark.parametrize("kind", KINDS)
def test_no_weight_at_all_is_an_error(kind):
    with pytest.raises(eh.DataError, match="every weight in column 'weight' is 0, so that nobody counts"):
        eh.audit(**{**people(kind), "weight": np.zeros(1500)})


TABLE = {"g": ["a", "a", "b", "b"], "p": [1, 0, 1, 0], "w": [0.0] * 4}


@each_of("make", BACKENDS)
def test_no_weight_at_all_is_an_error_in_every_source(make, tmp_path):
    for weight, message in ((0.0, "every weight in column 'w' is 0"), (1e-200, "Only the ratios"), (1e200, "Only the")):
        data = make({**TABLE, "w": [weight] * 4}, tmp_path)
        with pytest.raises(eh.DataError, match=message):
            eh.Cube.count(data, prediction="p", sensitive="g", weight="w")
        with pytest.raises(eh.DataError, match=message):
            eh.demographic_parity(
                make({**TABLE, "w": [weight] * 4}, tmp_path), prediction="p", sensitive="g", weight="w"
            )


def test_no_weight_at_all_on_the_command_line(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("g,p,w\na,1,0\na,0,0\nb,1,0\nb,0,0\n")
    assert run(["audit", str(tmp_path / "d.csv"), "--prediction=p", "--sensitive=g", "--weight=w"]) == 2
    assert "every weight in column 'w' is 0, so that nobody counts: give weights above 0, or leave out --weight" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("kind", ["decisions", "strata", "scores", "regression"])
def test_a_group_without_weight_is_undefined_and_says_why(kind):
    arguments = people(kind)
    weight = np.where(arguments["sensitive"] == "a", 0, arguments["weight"])
    for name in named(kind):
        found = eh.audit(**{**arguments, "weight": weight}, metrics=[name])
        for row in found.findings[0].groups:
            if row.group == ("a",) and row.estimate is not None:
                assert math.isnan(row.estimate.value), name
                assert row.reason, name
        assert "nan" not in str(found).lower().replace("finance", "")


def test_counts_that_a_number_cannot_tell_apart_are_refused():
    arguments = {"prediction": [1, 0, 1, 0], "sensitive": list("aabb")}
    largest = 2**53 - 1
    assert eh.Cube.count(**arguments, count=[largest] * 4).size == 4 * largest
    for count in (2**53, 2**53 + 1, 2**60):
        with pytest.raises(eh.DataError, match="or above 9,007,199,254,740,991, in 4 rows"):
            eh.Cube.count(**arguments, count=[count] * 4)
    with pytest.raises(eh.DataError, match=r"more people than can be counted, 4\.6e18: divide them by a constant"):
        eh.Cube.count(prediction=[1, 0] * 500, sensitive=["a", "b"] * 500, count=[largest] * 1000)


def test_numbers_that_are_too_large_together_are_refused_in_words():
    rng = np.random.default_rng(0)
    arguments = {"label": rng.random(50) * 1e90, "prediction": rng.random(50) * 1e90, "sensitive": ["a", "b"] * 25}
    with pytest.raises(eh.DataError, match="are too large for a number: rescale them"):
        eh.audit(**arguments, task="regression")
    with pytest.raises(eh.DataError, match="are too large for a number: rescale them"):
        eh.audit(score=rng.random(50) * 1e99, sensitive=["a", "b"] * 25, weight=[1e55] * 50)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_reweighing_keeps_to_the_same_limits(factor):
    """At 1e-300 every new weight was 0, without a word."""
    rows, label, group = np.ones((8, 1)), [0, 1] * 4, list("aabbaabb")
    with pytest.raises(eh.DataError, match="Only the ratios of weights matter"):
        Reweigher().fit(rows, label, sensitive=group, sample_weight=np.full(8, factor))
    one, other = (
        Reweigher().fit(rows, label, sensitive=group, sample_weight=np.arange(1, 9) * unit).sample_weights()
        for unit in (1.0, 1e50)
    )
    assert other / other.sum() == pytest.approx(one / one.sum())


@pytest.mark.parametrize("interval", ["percentile", "bca", "bayes"])
def test_a_constant_changes_no_draws_where_weights_agree_up_to_rounding(interval):
    """Groups alike in counts were drawn in the order of the last digits of their weights."""
    rng, group, prediction = np.random.default_rng(1), np.repeat(["a", "b", "c"], 12), ([1] * 6 + [0] * 6) * 3
    for _ in range(10):
        refused = [rng.permutation([0.1, 0.2, 0.3, 0.7, 0.1, 0.6]) for _ in "abc"]  # sums that differ by rounding only
        weight = np.concatenate([[*rng.choice([0.1, 0.2, 0.3, 0.7], 6), *each] for each in refused])
        one, *others = (
            eh.demographic_parity(
                prediction=prediction, sensitive=group, weight=weight * factor, interval=interval, draws=100
            ).value
            for factor in (1.0, 0.1, 3.0)
        )
        for other in others:
            assert (other.low, other.high) == pytest.approx((one.low, one.high))
