"""Metrics over periods: what is shown, when an alarm is raised, and on what no bet can be placed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import evenhand as eh
from evenhand import CallError, Cube, trend
from support.hostile import every_name, unseen


def day(rates: dict[str, float], size: int = 500, seed: int = 0, **more) -> Cube:
    """So many people of each group, selected at these rates; labels are half and half."""
    random = np.random.default_rng(seed)
    groups = [name for name in rates for _ in range(size)]
    made = np.concatenate([random.random(size) < rate for rate in rates.values()]).astype(int)
    label = random.integers(0, 2, len(made))
    return Cube.count(prediction=made, label=label, sensitive={"region": groups}, **more)


def days(*gaps: float, size: int = 500) -> dict[str, Cube]:
    return {f"day {i}": day({"north": 0.5, "south": 0.5 - gap}, size, i) for i, gap in enumerate(gaps, 1)}


PARITY = {"metrics": "demographic_parity"}


def test_a_gap_beyond_the_threshold_raises_an_alarm_within_days():
    found = trend(days(*[0.2] * 10), **PARITY)
    assert found.alarm in ("day 1", "day 2", "day 3", "day 4")
    (series,) = found.series
    assert series.alarm == found.alarm
    assert series.needed == pytest.approx(20)
    assert series.points[-1].e_value > 1e6
    assert "The selection rate is higher for north than for south. The first period" in series.interpretation
    assert found.audit().verdict == "fail"


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.08])
def test_a_gap_within_the_threshold_raises_none(gap):
    found = trend(days(*[gap] * 40), **PARITY)
    assert found.alarm is None
    assert found.audit().verdict == "not judged"
    assert found.series[0].interpretation.startswith("No alarm in 40 periods")


def test_a_gap_that_opens_late_is_noticed_soon():
    found = trend(days(*[0.0] * 40, *[0.2] * 10), **PARITY)
    assert found.alarm in {f"day {i}" for i in range(41, 51)}


def test_an_alarm_is_not_taken_back():
    found = trend(days(*[0.3] * 5, *[0.0] * 30), **PARITY)
    assert found.alarm is not None
    assert found.to_frame()["alarm"].tolist()[-1]


def test_the_past_is_not_rewritten_by_what_comes_later():
    """Looking every day shows what looking at the end shows, also where a group appears on the way."""
    every = days(0.1, 0.15, 0.05)
    every["day 4"] = day({"north": 0.5, "south": 0.4, "east": 0.3}, seed=4)
    every["day 5"] = day({"north": 0.5, "south": 0.3, "east": 0.3}, seed=5)
    whole = [point.e_value for point in trend(every, **PARITY).series[0].points]
    for last in range(1, 6):
        part = dict(list(every.items())[:last])
        assert [p.e_value for p in trend(part, **PARITY).series[0].points] == pytest.approx(whole[:last])


def test_each_period_has_the_finding_of_its_own():
    given = days(0.2, 0.1)
    found = trend(given, **PARITY)
    for point, cube in zip(found.series[0].points, given.values(), strict=True):
        alone = cube.audit(metrics=["demographic_parity"]).findings[0]
        assert point.value == alone.value
        assert point.people == cube.size
    together = Cube.merge(list(given.values())).audit(metrics=["demographic_parity"]).findings[0]
    assert found.series[0].whole.value == together.value


def test_rates_with_a_denominator_count_only_who_is_in_it():
    """Two groups that differ only among those without a positive label: no evidence on the true positive rate."""
    random = np.random.default_rng(0)
    cubes = {}
    for i in range(15):
        label = random.integers(0, 2, 1000)
        region = np.repeat(["north", "south"], 500)
        rate = np.where(label == 1, 0.6, np.where(region == "north", 0.5, 0.1))
        made = (random.random(1000) < rate).astype(int)
        cubes[str(i)] = Cube.count(prediction=made, label=label, sensitive={"region": region})
    assert trend(cubes, metrics="equal_opportunity").alarm is None
    odds = trend(cubes, metrics="equalized_odds")
    assert odds.alarm is not None
    assert "false positive rate" in odds.series[0].interpretation


def test_ratios_are_judged_as_ratios():
    low = {f"{i}": day({"north": 0.1, "south": 0.05}, 2000, i) for i in range(10)}
    assert trend(low, **PARITY).alarm is None  # five points
    found = trend(low, metrics="disparate_impact")  # one half
    assert found.alarm is not None
    assert "a ratio below 0.8" in found.series[0].interpretation


def test_a_reference_is_bet_against_on_both_sides():
    given = {f"{i}": day({"a": 0.5, "b": 0.5, "c": 0.8}, seed=i) for i in range(8)}
    for reference in ("a", "rest", "largest"):
        assert trend(given, reference=reference, **PARITY).alarm is not None
    found = trend(given, reference={"region": "a"}, **PARITY)
    said = found.series[0].interpretation
    assert "two groups: the selection rate is higher for region = c than for region = a" in said


def test_strata_are_watched_one_by_one():
    random = np.random.default_rng(1)
    cubes = {}
    for i in range(8):
        region, office = random.choice(["n", "s"], 2000), random.choice(["x", "y"], 2000)
        # In one office one is preferred, in the other the other: together there is no gap.
        rate = np.where((region == "n") == (office == "x"), 0.7, 0.3)
        made = (random.random(2000) < rate).astype(int)
        cubes[str(i)] = Cube.count(prediction=made, sensitive={"region": region}, control={"office": office})
    found = trend(cubes)
    assert found.alarm is not None
    assert any(f" in office = {office}." in found.series[0].interpretation for office in "xy")


def test_several_series_share_one_error_probability():
    found = trend(days(0.1, 0.1), metrics=["demographic_parity", "equal_opportunity"], confidence=0.9)
    assert [series.needed for series in found.series] == pytest.approx([20.0, 20.0])
    assert found.notes[0].startswith("An alarm is raised at an e-value of 20.")


def test_what_cannot_be_bet_on_does_not_raise_the_level():
    found = trend(days(0.1, 0.1), metrics=["demographic_parity", "treatment_equality"])
    assert [series.needed for series in found.series] == pytest.approx([20.0, 20.0])


def test_thresholds_and_policies_are_heard():
    given = days(*[0.15] * 12)
    assert trend(given, threshold=0.3, **PARITY).alarm is None
    assert trend(given, threshold={"demographic_parity": 0.0}, **PARITY).alarm is not None
    policy = eh.Policy(required=["demographic_parity"], thresholds={"demographic_parity": 0.3})
    assert trend(given, policy=policy).alarm is None
    assert trend(given, policy=policy, threshold=0.01).alarm is not None


def test_what_cannot_be_bet_on_is_shown_with_the_reason():
    for metrics, reason in (
        ("average_odds_difference", "a mean of several gaps"),
        ("treatment_equality", "not a comparison of shares"),
        ("theil_index", "it has no threshold"),
        ("balanced_accuracy_equality", "not a comparison of shares"),
    ):
        found = trend(days(0.2, 0.2), metrics=metrics)
        assert found.alarm is None
        assert math.isnan(found.series[0].points[0].e_value)
        assert reason in str(found)
        assert found.audit().verdict == ("not judged" if metrics == "theil_index" else "inconclusive")
        assert str(found).startswith("Alarm: none can be raised")
    weighted = {"1": day({"a": 0.5, "b": 0.1}, weight=np.ones(1000))}
    assert "weighted rates" in trend(weighted, **PARITY).series[0].reason
    assert 'reference="rest"' in trend(days(0.2), reference="overall", **PARITY).series[0].reason


def test_a_period_in_which_nothing_can_be_compared():
    given = {**days(0.2), "holiday": day({"north": 0.5}, 20), "later": day({"north": 0.5, "south": 0.3}, seed=9)}
    found = trend(given, **PARITY)
    holiday = found.series[0].points[1]
    assert not holiday.value.defined
    assert "one group only" in holiday.reason
    assert holiday.e_value == found.series[0].points[0].e_value


# --- how periods are given


def test_files_are_named_by_themselves(tmp_path):
    for i in (1, 2, 10):
        day({"north": 0.5, "south": 0.3}, seed=i).save(tmp_path / f"day-{i}.cube")
    assert trend(str(tmp_path / "day-*.cube"), **PARITY).periods == ("day-1", "day-2", "day-10")
    assert trend([tmp_path / "day-10.cube", tmp_path / "day-2.cube"], **PARITY).periods == ("day-10", "day-2")
    assert trend(list(days(0.1, 0.1).values()), **PARITY).periods == ("1", "2")


def test_what_is_wrong_is_said():
    with pytest.raises(CallError, match="there are no periods"):
        trend([])
    with pytest.raises(CallError, match=r"were not counted alike.*Here means period 'a', there period 'b'"):
        trend({"a": day({"n": 0.5, "s": 0.5}), "b": day({"n": 0.5, "s": 0.5}, missing="drop")})
    with pytest.raises(CallError, match="did you mean 'demographic_parity'"):
        trend(days(0.1), metrics="demografic_parity")
    with pytest.raises(CallError, match="a single threshold needs metrics="):
        trend(days(0.1), threshold=0.2)


# --- what it shows


def test_the_frame_has_a_line_for_each_series_and_period():
    table = trend(days(0.2, 0.2, 0.2), metrics=["demographic_parity", "equal_opportunity"]).to_frame()
    assert table.shape[0] == 6
    assert table["period"].tolist()[:3] == ["day 1", "day 2", "day 3"]
    assert {"value", "low", "high", "e_value", "needed", "alarm", "highest", "lowest"} <= set(table.columns)


def test_panels_hold_the_gap_the_evidence_and_the_groups():
    told = trend(days(0.2, 0.1, 0.15), **PARITY)
    (found,), points = told.audit().findings, told.series[0].points
    gap, evidence, groups = found.panels[:3]
    assert {panel.kind for panel in (gap, evidence, groups)} == {"curve"}
    assert [row[:2] for row in gap.rows] == [("gap", 1), ("gap", 2), ("gap", 3), ("threshold", 1), ("threshold", 3)]
    assert gap.rows[0][2:5] == (points[0].value.value, points[0].value.low, points[0].value.high)
    assert evidence.rows[0][2] == pytest.approx(math.log10(points[0].e_value))
    assert groups.columns[:3] == ("group", "period", "selection_rate")
    assert len(groups.rows) == 6
    assert found.tested == "betting"


@pytest.mark.parametrize("suffix", ["html", "json", "md", "xml"])
def test_a_trend_is_saved_as_an_audit(suffix, tmp_path):
    found = trend(days(0.2, 0.2, 0.2, 0.2), **PARITY)
    path = tmp_path / f"trend.{suffix}"
    found.save(path)
    text = path.read_text(encoding="utf-8")
    assert "Evidence of a gap above 10 points" in text
    if suffix == "json":
        assert json.loads(text)["verdict"] == "fail"
        assert eh.Audit.load(path).findings[0].panels == found.audit().findings[0].panels


def test_a_long_trend_shows_the_last_periods():
    text = str(trend(days(*[0.0] * 50, size=60), **PARITY))
    assert "19 earlier periods are not shown" in text
    assert "day 50" in text
    assert "day 19 " not in text


@every_name
def test_hostile_names_stay_names(name, tmp_path):
    cube = day({name: 0.6, "other people": 0.2})
    found = trend({name: cube, "second": cube}, **PARITY)
    assert not unseen(str(found))
    found.save(tmp_path / "trend.html")
    assert "<script>alert" not in (tmp_path / "trend.html").read_text(encoding="utf-8")


def drifting():
    """All periods together lie within the threshold, and the last ones far beyond it: an alarm."""
    return trend(days(*[0.0] * 20, 0.5, 0.5, 0.5), **PARITY).audit()


@pytest.mark.parametrize("suffix", ["txt", "md", "xml"])
def test_no_interval_of_all_periods_stands_beside_the_verdict_of_the_evidence(suffix, tmp_path):
    audit = drifting()
    (found,) = audit.findings
    assert found.verdict == "fail"
    assert found.value.low < found.threshold
    if suffix == "txt":
        text = f"{audit}\n{audit.details()}"
    else:
        audit.save(tmp_path / f"trend.{suffix}")
        text = (tmp_path / f"trend.{suffix}").read_text(encoding="utf-8")
    beside = [line for line in text.splitlines() if "alarm at 20" in line]
    assert beside
    low, high = (f"{100 * end:.1f}" for end in (found.value.low, found.value.high))
    assert all("e-value" in line and f"[{low}, {high}]" not in line for line in beside)
    assert f"[{low}, {high}]" not in text
    assert f"interval {low} to {high}" in text  # in the note that says what it is of


def test_a_card_of_a_watched_finding_says_the_evidence():
    shown = drifting().findings[0]._repr_html_()
    assert "e-value" in shown
    assert "alarm at 20" in shown
    assert "all periods together" in repr(drifting().findings[0])


def test_what_cannot_be_watched_has_no_e_value_beside_its_verdict():
    audit = trend(days(0.2, 0.2), metrics=["theil_index"], threshold=0.1).audit()
    assert audit.verdict == "inconclusive"
    assert "no e-value" in str(audit)
