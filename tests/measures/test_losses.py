"""Log loss and Brier score are those of the rows, whatever the bins: in every source, weighted, added, saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

import evenhand as eh
from evenhand import CallError, Cube
from evenhand.sources.bins import GRID
from support.backends import BACKENDS
from support.profiles import each_of, examples

ROLES = {"label": "y", "score": "s", "sensitive": "g"}
MASSES: dict[str, dict[str, str]] = {
    "people": {},
    "weight": {"weight": "w"},
    "count": {"count": "c"},
    "both": {"weight": "w", "count": "c"},
}
LOSSES = {"log_loss_parity": log_loss, "brier_score_parity": brier_score_loss}


def overconfident(size: int = 3_000, seed: int = 2) -> dict[str, list[Any]]:
    """Scores as those of a naive Bayes model, most of them close to 0 or 1; some of them exactly there."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], size)
    score = random.beta(*np.where(group == "a", 0.04, 0.08)[None].repeat(2, axis=0))
    score[:40] = random.choice([0.0, 1.0], 40)
    return {
        "g": group.tolist(),
        "s": score.tolist(),
        "y": (random.random(size) < 0.15 + 0.7 * score).astype(int).tolist(),
        "w": random.exponential(1, size).tolist(),
        "c": random.integers(0, 4, size).tolist(),
    }


def by_scikit_learn(columns: dict[str, list[Any]], mass: dict[str, str], metric: str) -> dict[str, float]:
    arrays = {name: np.array(values) for name, values in columns.items()}
    weights = np.ones(len(arrays["g"]))
    for name in mass.values():
        weights = weights * arrays[name]
    return {
        group: LOSSES[metric](arrays["y"][inside], arrays["s"][inside], sample_weight=weights[inside])
        for group in np.unique(arrays["g"])
        if (inside := arrays["g"] == group).any()
    }


def by_group(finding: eh.Finding) -> dict[str, float]:
    return {row.group[0]: row.estimate.value for row in finding.groups}


def check(cube: Cube, columns: dict[str, list[Any]], mass: dict[str, str]) -> None:
    for finding in cube.audit(metrics=list(LOSSES)).findings:
        assert by_group(finding) == pytest.approx(by_scikit_learn(columns, mass, finding.metric), rel=1e-9)


@pytest.mark.parametrize("mass", MASSES)
@each_of("backend", list(BACKENDS), handful=10)
def test_the_losses_are_those_of_the_rows(backend, mass, tmp_path):
    columns = overconfident()
    cube = Cube.count(BACKENDS[backend](columns, tmp_path), **ROLES, **MASSES[mass])
    assert not cube.scores.bins.exact
    check(cube, columns, MASSES[mass])


def test_the_order_of_groups_does_not_turn_round():
    """From the mean score of a bin, the model looked better for the group for which it is worse."""
    columns = overconfident(20_000)
    binned, exact = (eh.log_loss_parity(columns, **ROLES, resolution=how) for how in ("grid", "exact"))
    assert binned.value.value == pytest.approx(exact.value.value, rel=1e-9)
    assert [row.estimate.low for row in binned.groups] == pytest.approx(
        [r.estimate.low for r in exact.groups], rel=1e-6
    )
    assert (binned.highest, binned.notes) == (exact.highest, exact.notes)


@pytest.mark.parametrize("mass", MASSES)
def test_a_score_that_is_turned_round(mass):
    columns = overconfident()
    turned = {**columns, "s": [1 - score for score in columns["s"]]}
    again = {**columns, "s": [1 - score for score in turned["s"]]}  # what is left of scores near 0 after rounding
    check(Cube.count(turned, **ROLES, **MASSES[mass], higher_is="negative"), again, MASSES[mass])


@pytest.mark.parametrize("mass", MASSES)
def test_adding_saving_and_coarser_bins_change_nothing(mass, tmp_path):
    columns = overconfident(6_000)
    roles = {**ROLES, **MASSES[mass]}
    days = [{name: values[start::5] for name, values in columns.items()} for start in range(5)]
    cubes = [Cube.count(day, **roles, score_range=(0, 1)) for day in days]
    for i, cube in enumerate(cubes):
        cube.save(tmp_path / f"day-{i}.cube")
    for total in (Cube.merge(cubes), Cube.merge(str(tmp_path / "*.cube")), Cube.count(iter(days), **roles)):
        check(total, columns, MASSES[mass])
        check(total.coarsen(16), columns, MASSES[mass])
    cubes[0].audit().save(tmp_path / "audit.json")
    assert eh.Audit.load(tmp_path / "audit.json").cube.scores.knows_losses


@pytest.mark.parametrize("mass", MASSES)
def test_single_values_keep_their_losses_when_they_fall_on_a_grid(mass):
    columns = overconfident(4_000)
    few = {name: values[:600] for name, values in columns.items()}
    rest = {name: values[600:] for name, values in columns.items()}
    first, second = (Cube.count(part, **ROLES, **MASSES[mass]) for part in (few, rest))
    assert first.scores.bins.exact
    assert not second.scores.bins.exact
    check(first + second, columns, MASSES[mass])
    check(second + first, columns, MASSES[mass])
    check(first.coarsen(64), few, MASSES[mass])


def without_sums(cube: Cube) -> Cube:
    """The cube as an earlier version counted it."""
    return replace(cube, scores=cube.scores.without_losses())


@pytest.mark.parametrize("mass", ["people", "weight"])
def test_a_cube_of_an_earlier_version_says_what_it_lacks(mass, tmp_path):
    columns = overconfident()
    now = Cube.count(columns, **ROLES, **MASSES[mass], cutoff=0.5)
    without_sums(now).save(tmp_path / "old.cube")
    old = Cube.load(tmp_path / "old.cube")
    with pytest.raises(CallError, match=r"log_loss_parity needs the loss of each person.*Count the rows again"):
        eh.log_loss_parity(old)
    found = old.audit(metrics="all")
    assert "log_loss_parity" not in {finding.metric for finding in found.findings}
    assert any("so these are left out: log_loss_parity" in note for note in found.notes)
    assert "log_loss" not in set(found.groups()["measure"])
    now.save(tmp_path / "now.cube")
    for both in (now + old, old + now, Cube.merge(str(tmp_path / "*.cube"))):
        assert both.size == 2 * now.size
        with pytest.raises(CallError, match="or merged with one that was"):
            eh.log_loss_parity(both)
    exact = eh.brier_score_parity(now)
    loose = eh.brier_score_parity(old)
    assert loose.value.value == pytest.approx(exact.value.value, abs=1e-6)
    assert any("within" in note for note in loose.notes) == (mass == "weight")
    assert not any("within" in note for note in exact.notes)


def test_a_cube_of_few_values_needs_no_sums():
    columns = {**overconfident(), "s": [round(score, 2) for score in overconfident()["s"]]}
    cube = Cube.count(columns, **ROLES)
    assert cube.scores.bins.exact
    assert not cube.scores.has_losses
    check(cube, columns, {})


@pytest.mark.parametrize("backend", ["pandas", "csv", "parquet", "polars-lazy", "relation-duckdb"])
def test_without_labels_nothing_is_summed(backend, tmp_path):
    columns = overconfident()
    roles = {"score": "s", "sensitive": "g"}
    bare = Cube.count(BACKENDS[backend](columns, tmp_path), **roles)
    assert not bare.scores.has_losses
    assert bare.scores.knows_losses
    one = Cube.count(BACKENDS[backend]({**columns, "y": [*[None] * 2_999, 1]}, tmp_path), **ROLES)
    group, score = columns["g"][-1], columns["s"][-1]
    assert {group: log_loss([1], [score], labels=[0, 1])} == pytest.approx(
        {name: value for name, value in by_group(eh.log_loss_parity(one)).items() if not np.isnan(value)}
    )


def test_one_person_has_no_interval():
    columns = overconfident(2_000)
    columns["g"] = ["alone", *["b"] * 1_999]
    alone = next(row for row in eh.log_loss_parity(columns, **ROLES).groups if row.group == ("alone",))
    assert alone.estimate.low is None or alone.estimate.low < alone.estimate.value


@examples(60)
@given(st.data())
def test_any_probabilities_and_weights(data):
    size = GRID + 300
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    power = data.draw(st.sampled_from([0.01, 0.5, 1.0, 30.0]))
    columns = {
        "g": random.choice(["a", "b"], size).tolist(),
        "s": random.beta(power, power, size).tolist(),
        "y": random.integers(0, 2, size).tolist(),
        "w": (random.exponential(1, size) ** data.draw(st.sampled_from([0, 1, 6]))).tolist(),
        "c": random.integers(0, 1_000_000, size).tolist(),
    }
    columns["y"][:2] = [0, 1]
    mass = MASSES[data.draw(st.sampled_from(list(MASSES)))]
    check(Cube.count(columns, **ROLES, **mass), columns, mass)


@pytest.mark.parametrize("metric", LOSSES)
@pytest.mark.parametrize("label", [0, 1])
def test_a_label_that_nobody_in_a_group_has_may_still_be_met(metric, label):
    """Thirty people without an event do not show that events are free: limits are as those of 0 selected of 30."""
    score, groups = np.abs(label - np.tile([0.019, 0.021], 30)), ["a"] * 30 + ["b"] * 30
    finding = getattr(eh, metric)(label=np.full(60, label), score=score, sensitive=groups, confidence=0.95)
    apart = 0.98**2 - 0.02**2 if metric == "brier_score_parity" else np.log(0.98 / 0.02)
    nobody = eh.demographic_parity(prediction=np.zeros(60, int), sensitive=groups, confidence=0.95)
    assert finding.value.low == 0
    assert finding.value.high == pytest.approx(apart * nobody.value.high, rel=0.06)


@pytest.mark.parametrize("metric", LOSSES)
def test_losses_of_a_group_of_one_or_of_nobody_are_bounded_or_undefined(metric):
    groups = ["a"] * 30 + ["b"] * 30 + ["one", "unlabelled"]
    label = [0] * 60 + [1, None]
    finding = getattr(eh, metric)(label=label, score=[0.02] * 62, sensitive=groups, min_group_size=1)
    rows = {row.group[0]: row.estimate for row in finding.groups}
    assert rows["one"].low < rows["one"].value < rows["one"].high
    assert np.isnan(rows["unlabelled"].value)
    assert finding.verdict == "inconclusive"


def test_a_group_with_both_labels_has_the_variance_of_its_own_losses():
    columns = overconfident()
    data = {role: np.array(columns[name]) for role, name in ROLES.items()}
    finding = eh.brier_score_parity(**data)
    each = (data["score"] - data["label"]) ** 2
    for row in finding.groups:
        own = each[data["sensitive"] == row.group[0]]
        width = row.estimate.high - row.estimate.low
        assert width == pytest.approx(2 * 1.96 * own.std() / np.sqrt(len(own)), rel=0.25)
