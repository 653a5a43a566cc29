"""Intervals, verdicts and p-values as a user meets them: on findings and audits."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.metrics import matthews_corrcoef

import evenhand as eh
from evenhand.catalogue import METRICS
from evenhand.errors import CallError

DECIDED = [name for name, entry in METRICS.items() if "score" not in entry.needs and "binary" in entry.tasks]


def table(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"g": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), "y": rng.integers(0, 2, n),
                         "p": rng.integers(0, 2, n), "w": rng.random(n)})  # fmt: skip


ROLES = {"label": "y", "prediction": "p", "sensitive": "g"}


@pytest.mark.parametrize("interval", ["simultaneous", "percentile", "basic", "bca", "bayes", "wilson", "agresti-caffo"])
@pytest.mark.parametrize("reference", [None, "a", "rest", "overall"])
def test_every_number_has_an_interval(interval, reference):
    for metric in (eh.demographic_parity, eh.equalized_odds, eh.average_odds, eh.balanced_accuracy_equality):
        found = metric(table(), **ROLES, interval=interval, reference=reference)
        assert found.value.low <= found.value.value <= found.value.high or interval in ("basic", "bca", "percentile")
        assert found.difference.low is not None
        assert found.ratio.low is not None
        for row in found.groups:
            assert row.estimate.low <= row.estimate.high
        assert found.settings["interval"] == interval


def test_the_same_seed_gives_the_same_result_from_every_source(tmp_path):
    data = table()
    data.to_csv(tmp_path / "d.csv", index=False)
    data.to_parquet(tmp_path / "d.parquet")
    sources = [data, data.sample(frac=1, random_state=1), tmp_path / "d.csv", tmp_path / "d.parquet"]
    for weight in (None, "w"):
        frames = [
            eh.audit(source, **ROLES, weight=weight, interval="percentile", random_state=7).to_frame()
            for source in sources
        ]
        for other in frames[1:]:
            pd.testing.assert_frame_equal(pd.DataFrame(frames[0]), pd.DataFrame(other), rtol=1e-9)
    again = eh.audit(data, **ROLES, interval="percentile", random_state=8).findings[0].value
    assert again != eh.audit(data, **ROLES, interval="percentile", random_state=7).findings[0].value


def test_percentile_is_the_row_bootstrap_of_fairlearn():
    data = table(4_000, seed=3)
    levels, draws = [0.025, 0.975], 100
    peer = MetricFrame(metrics=selection_rate, y_true=data.y, y_pred=data.p, sensitive_features=data.g, n_boot=draws,
                       ci_quantiles=levels, random_state=0)  # fmt: skip
    low, high = peer.by_group_ci
    ours = eh.demographic_parity(data, **ROLES, interval="percentile", draws=4000)
    for row in ours.groups:
        sd = math.sqrt(row.estimate.value * (1 - row.estimate.value) / row.n)
        tolerance = 4.5 * sd * math.sqrt(0.025 * 0.975 / draws) / 0.0584  # of a 2.5 % quantile of so many draws
        assert row.estimate.low == pytest.approx(low[row.group[0]], abs=tolerance)
        assert row.estimate.high == pytest.approx(high[row.group[0]], abs=tolerance)


EDGES = {
    "one person a group": ([0, 1, 1], [1, 0, 1], [1, 1, 1]),
    "no positives": ([0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [1] * 6),
    "all selected": ([0, 1, 0, 1, 0, 1], [1] * 6, [1] * 6),
    "none selected": ([0, 1, 0, 1, 0, 1], [0] * 6, [1] * 6),
    "a million millions": ([0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0], [10**12] * 6),
    "one against a million millions": ([0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0], [10**12, 1, 10**12, 1, 5, 1]),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("interval", ["simultaneous", "percentile"])
def test_edges_are_finite_or_undefined_with_a_reason(edge, interval):
    label, prediction, count = EDGES[edge]
    groups = [("a", "b", "c")[i % 3] for i in range(len(label))]
    for name in DECIDED:
        for reference in (None, "a") if METRICS[name].judged_on != "value" else (None,):
            extra = {} if reference is None else {"reference": reference}
            found = getattr(eh, name)(label=label, prediction=prediction, count=count, sensitive=groups,
                                      interval=interval, **extra)  # fmt: skip
            assert found.value.defined or "undefined" in found.interpretation or "cannot" in found.interpretation
            for row in found.groups:
                assert row.estimate.defined or row.reason


def test_a_verdict_needs_the_whole_interval():
    def gap(rates, n, **extra):
        prediction = np.concatenate([np.repeat([1, 0], [round(rate * n), n - round(rate * n)]) for rate in rates])
        return eh.demographic_parity(prediction=prediction, sensitive=np.repeat(["a", "b"], n), **extra)

    assert gap((0.5, 0.2), 1000).verdict == "fail"
    assert gap((0.5, 0.49), 5000).verdict == "pass"
    close = gap((0.5, 0.42), 200)
    assert (close.passes, close.verdict) == (True, "inconclusive")
    assert close.sample.rows_to_settle > 400
    assert any("to settle it; more rows of" in note for note in close.notes)
    assert gap((0.5, 0.5), 20).verdict == "inconclusive"  # below the minimum size no pass
    assert gap((0.5, 0.5), 10**5, threshold=0).verdict != "pass"
    at = gap((0.5, 0.4), 10**6)  # of a thousand people the true gap is likely to be a little less
    assert any("billion" in note for note in at.notes)


def test_no_gap_is_rarely_called_a_fail():
    rng = np.random.default_rng(0)
    groups = np.repeat(list("abcdefgh"), 50)
    fails = sum(
        eh.demographic_parity(prediction=rng.random(400) < 0.3, sensitive=groups, threshold=1e-6).verdict == "fail"
        for _ in range(200)
    )
    assert fails <= 20


def test_p_values_are_corrected_for_the_questions_asked():
    audit = eh.audit(table(), **ROLES, metrics="all")
    by_name = {finding.metric: finding for finding in audit.findings}
    assert by_name["equal_opportunity"].p_value == pytest.approx(by_name["false_negative_rate_parity"].p_value)
    assert by_name["equal_opportunity"].p_adjusted == by_name["false_negative_rate_parity"].p_adjusted
    assert all(f.p_adjusted >= f.p_value * (1 - 1e-9) for f in audit.findings if f.p_value is not None)
    plain = eh.audit(table(), **ROLES, policy=eh.Policy(correction=None))
    assert all(f.p_adjusted == f.p_value for f in plain.findings if f.p_value is not None)


def test_berkeley_within_departments():
    roles = {"prediction": "admitted", "count": "count", "sensitive": "gender"}
    assert eh.demographic_parity(eh.datasets.berkeley(), **roles).p_value < 1e-20
    within = eh.demographic_parity(eh.datasets.berkeley(), **roles, control="department")
    assert within.p_value == pytest.approx(0.217, abs=5e-4)
    assert within.tested == "Cochran-Mantel-Haenszel"


def test_findings_that_decide_share_the_error_of_a_fail():
    both = pd.concat([table(seed=1), table(seed=2)["g"].rename("h")], axis=1)
    roles = {**ROLES, "sensitive": ["g", "h"]}
    alone = eh.audit(both, **roles, policy=eh.Policy(familywise="finding"))
    together = eh.audit(both, **roles)
    assert "2 findings decide, and share the error probability of a fail" in " ".join(together.notes)
    assert "2 findings decide, each with its own error probability" in " ".join(alone.notes)
    for one, other in zip(alone.findings, together.findings, strict=True):
        if together.decides(other):
            assert other.value.low < one.value.low or one.value.low == 0
            assert other.value.high < one.value.high  # what the near end leaves is spent on the far end
            assert (one.settings["family"], other.settings["family"]) == (1, 2)
        else:
            assert one.value == other.value


def test_a_function_of_the_rows_has_an_interval_too():
    agreement = eh.measure("matthews", matthews_corrcoef, unit="ratio")
    metric = eh.metric("matthews_parity", measures=agreement)
    data = table()
    found = metric(data, **ROLES)
    for row in found.groups:
        inside = data.g == row.group[0]
        assert row.estimate.value == pytest.approx(matthews_corrcoef(data.y[inside], data.p[inside]))
        assert row.estimate.low < row.estimate.value < row.estimate.high
    assert "bootstrap of the rows" in found.notes[-1]
    assert metric(data, **ROLES, reference="a").lowest == "a"
    assert "matthews_parity" in {f.metric for f in eh.audit(data, **ROLES, metrics=[metric]).findings}
    with pytest.raises(CallError, match="needs the rows"):
        eh.Cube.count(data, **ROLES).audit(metrics=[metric])


def test_policy_refuses_what_it_cannot_be():
    for wrong in ({"confidence": 95}, {"interval": "percentil"}, {"draws": -1}, {"correction": "holms"},
                  {"familywise": "all"}, {"interval": "bca", "draws": 10}, {"min_group_size": 0}):  # fmt: skip
        with pytest.raises(CallError):
            eh.Policy(**wrong)


def test_rows_to_settle_a_pass_are_those_of_the_measure_that_needs_most():
    """The false positive rates lie further apart, but the true positive rates rest on fewer people."""
    cells = {"a": (4643, 107, 261, 296), "b": (6760, 700, 1284, 1930)}  # tn, fp, fn, tp

    def audited(times):
        rows = [(g, y, d, n * times) for g, c in cells.items() for (y, d), n in zip(CORNERS, c, strict=True)]
        group, label, decision, count = zip(*rows, strict=True)
        return eh.equalized_odds(label=label, prediction=decision, count=count, sensitive=group)

    found = audited(1)
    assert (found.verdict, found.groups[0].measure) == ("inconclusive", "true_positive_rate")
    people = sum(map(sum, cells.values()))
    times = math.ceil(found.sample.rows_to_settle / people)
    assert 3 <= times <= 8
    assert audited(times).verdict == "pass"


CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def test_a_group_that_is_left_out_is_named_with_its_stratum():
    region, group = np.repeat(["north", "south"], 200), np.tile(np.repeat(["a", "b"], 100), 2)
    group[:8] = "c"
    group[200:240] = "c"
    found = eh.demographic_parity(
        prediction=np.tile([0, 1], 200), sensitive=group, control={"region": region}, threshold=0.6
    )
    assert found.verdict == "pass"
    assert "leaving out group c in region = north, with fewer than 30 rows" in found.interpretation
    assert found.left_out == ("c",)


def test_without_any_label_calibration_says_so_in_a_line():
    found = eh.calibration(label=[None] * 8, score=np.linspace(0, 1, 8), sensitive=["a", "b"] * 4, score_range=(0, 1))
    said = "The observed rate at scores from 0 to 1 cannot be compared between groups"
    assert found.interpretation == f"{said}: no labels among group a; no labels among group b."


def test_a_value_without_an_upper_limit_is_said_to_have_none():
    random = np.random.default_rng(0)
    found = eh.r_squared_parity(label=random.random(6), prediction=random.random(6), sensitive=["a"] * 3 + ["b"] * 3)
    assert found.value.high == np.inf
    assert "a gap of 0.892 (95 % interval from 0.00, without an upper end); whether" in found.interpretation
    assert "infinite" not in found.interpretation


def test_one_row_is_not_rows():
    roles = {"prediction": [1, 0, 1, 0], "label": [1, 0, 0, None], "sensitive": {"g": ["a", "a", "b", None]}}
    audit = eh.audit(**roles, min_group_size=1)
    said = " ".join([*audit.notes, *(note for finding in audit.findings for note in finding.notes)])
    assert not re.search(r"\b1 rows", said)
    assert "Undefined, so not compared: no positive labels among g = b" in said
    assert "1 row (25.0%) has no group; it is shown" in said
    assert "1 row has no label: it counts" in said


@pytest.mark.parametrize("word", ["overall", "rest", "largest", "highest"])
def test_a_group_with_the_name_of_a_yardstick_comes_first(word):
    roles = {"prediction": [1, 0] * 40, "sensitive": {"g": [word, "b"] * 40}}
    for reference in (word, {"g": word}):
        found = eh.demographic_parity(**roles, reference=reference)
        assert [row.group for row in found.groups if row.difference is not None] == [("b",)]
        assert f"for {word} (n = 40)" in found.interpretation
        assert eh.audit(**roles, reference=reference).findings[0].interpretation == found.interpretation


def test_a_group_without_a_value_is_not_called_too_small():
    """Group c has a hundred people, and no negative label: it is not small, its false positive rate is undefined."""
    label, prediction = [1, 0] * 200 + [1] * 100, [1, 0] * 200 + [1] * 100
    group = ["a"] * 200 + ["b"] * 200 + ["c"] * 100
    found = eh.predictive_equality(label=label, prediction=prediction, sensitive=group)
    assert (found.verdict, found.left_out) == ("pass", ("c",))
    assert found.interpretation.endswith("leaving out group c, where a value is undefined.")
    assert not any("rows to measure on" in note for note in found.notes)
    assert "Undefined, so not compared: no negative labels among group c." in found.notes
    uneven = [1, 0] * 100 + [1, 1] * 100 + [1] * 100
    found = eh.predictive_equality(label=label, prediction=uneven, sensitive=group)
    assert found.verdict == "fail"
    assert not any("rows to measure on" in note for note in found.notes)
    few = eh.predictive_equality(
        label=label[:-90], prediction=prediction[:-90], sensitive=[*group[:-100], *"dddddddddd"]
    )
    assert few.interpretation.endswith("leaving out group d, where a value is undefined.")
