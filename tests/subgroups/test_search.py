"""search(): every conjunction, with limits that hold for all of them together."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import evenhand as eh
from evenhand.audits.audit import Audit
from evenhand.datasets import compas
from evenhand.errors import CallError, DataError
from evenhand.inference import critical
from evenhand.report import tables
from evenhand.report.results import findings_data
from evenhand.subgroups.gaps import Gaps
from evenhand.verdicts.verdict import verdict
from support.hostile import NAMES

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
COLUMNS = ["race", "sex", "age"]


def people(seed: int = 0, size: int = 4000, *, gap: float = 0.0) -> pd.DataFrame:
    """Rows with four columns; those of a = x and b = 1 are selected more often by `gap`."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": random.choice(["x", "y", "z"], size, p=[0.5, 0.3, 0.2]),
            "b": random.integers(0, 2, size),
            "c": random.choice(list("pqrs"), size),
            "age": random.integers(18, 90, size),
        }
    )
    inside = (frame["a"] == "x") & (frame["b"] == 1)
    frame["label"] = (random.random(size) < 0.4).astype(int)
    frame["decided"] = (random.random(size) < 0.3 + gap * inside).astype(int)
    frame["score"] = random.beta(2, 3, size)
    return frame


def panel(finding, title):
    found = next(each for each in finding.panels if each.title == title)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def by_hand(frame: pd.DataFrame, columns: list[str], depth: int, least: int) -> dict[str, tuple[int, float, float]]:
    """People, rate and rate of everyone else of each conjunction, from the rows."""
    found = {}
    for size in range(1, depth + 1):
        for chosen in itertools.combinations(columns, size):
            for values, part in frame.groupby(list(chosen), observed=True):
                if least <= len(part) < len(frame):
                    name = ", ".join(f"{column} = {value}" for column, value in zip(chosen, values, strict=True))
                    rest = frame.drop(part.index)["decided"]
                    found[name] = (len(part), part["decided"].mean(), rest.mean())
    return found


# --- every group, and the numbers of each


@pytest.fixture
def seen(monkeypatch):
    """The gaps that a search has computed."""
    every: list[Gaps] = []
    of = Gaps.of.__func__

    def keep(cls, *arguments):
        every.append(of(cls, *arguments))
        return every[-1]

    monkeypatch.setattr(Gaps, "of", classmethod(keep))
    return every


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_groups_are_those_that_rows_make(depth, seen):
    frame = people()
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided", depth=depth, draws=99)
    wanted = by_hand(frame, ["a", "b", "c"], depth, 100)
    (gaps,) = seen
    names = [gaps.groups.name(group) for group in gaps.which]
    assert sorted(names) == sorted(wanted)
    assert finding.settings["groups"] == len(wanted)
    for name, n, value, base in zip(names, gaps.people, gaps.values, gaps.bases, strict=True):
        assert (n, pytest.approx(value), pytest.approx(base)) == wanted[name]


def test_an_end_is_the_recipe_at_the_deviate_that_all_share():
    frame = people(gap=0.25)
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided", draws=199)
    line = panel(finding, "Groups beyond the threshold")[0]
    assert line["group"] == "a = x, b = 1"
    z, n, rest = finding.settings["deviate"], line["people"], len(frame) - line["people"]
    k, others = round(line["selection rate"] * n), round(line["everyone else"] * rest)
    tail = stats.norm.sf(z)
    low = stats.beta.ppf(tail, k, n - k + 1)  # Clopper and Pearson, towards no gap
    high = stats.beta.isf(tail, others + 1, rest - others)
    wanted = k / n - others / rest - math.hypot(k / n - low, high - others / rest)
    assert line["low"] == pytest.approx(wanted, abs=1e-9)
    low = stats.beta.ppf(tail, others + 0.25, rest - others + 0.75)  # a quarter, away from it
    high = stats.beta.isf(tail, k + 0.75, n - k + 0.25)
    assert line["high"] == pytest.approx(
        k / n - others / rest + math.hypot(high - k / n, others / rest - low), abs=1e-9
    )


def test_against_everyone_is_an_exact_transform():
    frame = people(gap=0.25)
    rest, overall = (
        eh.search(frame, within=["a", "b"], prediction="decided", against=against) for against in ("rest", "overall")
    )
    share = ((frame["a"] == "x") & (frame["b"] == 1)).mean()
    lines = [panel(each, "Groups beyond the threshold")[0] for each in (rest, overall)]
    assert {line["group"] for line in lines} == {"a = x, b = 1"}
    assert lines[1]["everyone"] == pytest.approx(frame["decided"].mean())
    for name in ("gap", "low", "high"):
        assert lines[1][name] == pytest.approx((1 - share) * lines[0][name])


def test_the_deviate_lies_between_that_of_one_group_and_that_of_as_many_strangers():
    finding = eh.search(people(), within=["a", "b", "c"], prediction="decided", draws=999)
    z, gaps = finding.settings["deviate"], finding.settings["gaps"]
    assert critical.sidak(1, 0.95) < z < critical.sidak(gaps, 0.95)
    without = eh.search(people(), within=["a", "b", "c"], prediction="decided", draws=0)
    assert without.settings["deviate"] == pytest.approx(critical.sidak(gaps, 0.95))


def test_groups_with_the_same_people_do_not_count_twice():
    frame = people()
    frame["again"] = frame["c"]
    once, twice = (
        eh.search(frame, within=columns, prediction="decided", draws=1999).settings
        for columns in (["a", "b", "c"], ["a", "b", "c", "again"])
    )
    assert twice["gaps"] > once["gaps"]
    assert twice["deviate"] == pytest.approx(once["deviate"], abs=0.12)


@pytest.mark.parametrize(
    ("metric", "counted"),
    [("fpr", lambda rows: rows[rows["label"] == 0]), ("tpr", lambda rows: rows[rows["label"] == 1])],
)
def test_a_rate_of_errors_is_about_those_with_the_label(metric, counted, seen):
    frame = people()
    eh.search(frame, within=["a", "c"], label="label", prediction="decided", metric=metric, draws=99)
    rows = counted(frame)
    wanted = by_hand(rows, ["a", "c"], 3, 100)
    (gaps,) = seen
    found = {gaps.groups.name(group): n for group, n in zip(gaps.which, gaps.people, strict=True)}
    assert found == {name: n for name, (n, *_) in wanted.items()}


def test_two_rates_are_searched_together():
    frame = people()
    roles = {"within": ["a", "c"], "label": "label", "prediction": "decided", "draws": 499}
    both, one = (eh.search(frame, metric=metric, **roles) for metric in ("equalized_odds", "tpr"))
    assert both.settings["gaps"] > one.settings["gaps"]
    assert both.settings["deviate"] > one.settings["deviate"]
    assert {line["measure"] for line in panel(both, "Every value by itself")} == {
        "true positive rate",
        "false positive rate",
    }


@pytest.mark.parametrize(
    ("metric", "each"),
    [
        ("mean_score", lambda rows: rows["score"]),
        ("brier_score", lambda rows: (rows["score"] - rows["label"]) ** 2),
        ("log_loss", lambda rows: -np.log(np.where(rows["label"] == 1, rows["score"], 1 - rows["score"]))),
        ("mean_residual", lambda rows: rows["label"] - rows["score"]),
    ],
)
def test_means_are_those_of_the_rows(metric, each):
    frame = people()
    roles = {"within": ["a", "b"], "label": "label", "score": "score", "draws": 99}
    finding = eh.search(frame, metric=metric, threshold=0.001, **roles)
    frame["x"] = each(frame)
    for line in panel(finding, "Every value by itself"):
        column, value = line["group"].split(" = ")
        inside = frame[column].astype(str) == value
        assert line["gap"] == pytest.approx(frame["x"][inside].mean() - frame["x"][~inside].mean(), abs=1e-9)
        se = math.sqrt(sum(part.var() / len(part) for part in (frame["x"][inside], frame["x"][~inside])))
        reach = finding.settings["deviate"] * se
        assert line["high"] - line["low"] == pytest.approx(2 * reach, rel=0.15)


def test_residuals_of_rare_labels_have_the_limits_of_a_rate(seen):
    frame = people(size=6000)
    frame["score"] = 0.02
    frame["label"] = (np.random.default_rng(0).random(len(frame)) < 0.02).astype(int)
    frame.loc[(frame["a"] == "z") & (frame["b"] == 0), "label"] = 0
    roles = {"within": ["a", "b"], "label": "label", "score": "score", "draws": 199, "score_range": (0, 1)}
    finding = eh.search(frame, metric="mean_residual", threshold=0.001, **roles)
    (gaps,) = seen
    at = [gaps.groups.name(group) for group in gaps.which].index("a = z, b = 0")
    inside = (frame["a"] == "z") & (frame["b"] == 0)
    n, rest, k = inside.sum(), (~inside).sum(), frame["label"][~inside].sum()
    tail = stats.norm.sf(finding.settings["deviate"])
    high = stats.beta.isf(tail, 1, n)  # nobody in the group has the label
    low = stats.beta.ppf(tail, k, rest - k + 1)
    assert gaps.differences[at] == pytest.approx(-k / rest)
    ends = gaps.ends(finding.settings["deviate"])
    assert ends[1][at] == pytest.approx(-k / rest + math.hypot(high, k / rest - low), abs=1e-9)
    assert ends[0][at] < -k / rest


def test_a_regressor_is_searched_by_its_residuals():
    frame = people()
    frame["wage"] = 10 + frame["score"] * 20 + np.random.default_rng(0).normal(size=len(frame))
    frame["offer"] = 10 + frame["score"] * 20 + 3.0 * ((frame["a"] == "x") & (frame["b"] == 1))
    roles = {"label": "wage", "prediction": "offer", "task": "regression", "within": ["a", "b", "c"]}
    finding = eh.search(frame, metric="mean_residual", threshold=1.0, **roles)
    assert finding.verdict == "fail"
    assert finding.evidence.group == ("a = x, b = 1",)
    assert finding.evidence.difference.value == pytest.approx(-3, abs=0.2)


def test_what_is_searched_unless_it_is_said():
    frame = people(size=2000)
    frame["wage"], frame["offer"] = frame["score"] * 30.5, frame["score"] * 31.5
    calls = {
        "demographic_parity": {"prediction": "decided"},
        "equalized_odds": {"label": "label", "prediction": "decided"},
        "calibration": {"label": "label", "score": "score"},
        "mean_score_parity": {"score": "score"},
        "base_rate_parity": {"label": "label"},
        "mean_residual": {"label": "wage", "prediction": "offer", "task": "regression"},
        "mean_prediction": {"prediction": "offer", "task": "regression"},
    }
    for wanted, roles in calls.items():
        assert eh.search(frame, within=["a", "b"], draws=39, **roles).settings["searched"] == wanted


def test_a_metric_of_your_own():
    wrongly = eh.measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    own = eh.metric("wrongly_flagged_parity", measures=wrongly, threshold=0.02)
    finding = eh.search(people(gap=0.3), within=["a", "b"], label="label", prediction="decided", metric=own)
    assert (finding.threshold, finding.evidence.group) == (0.02, ("a = x, b = 1",))


@pytest.mark.parametrize("weight", ["none", "some"])
def test_people_without_weight_make_no_group(weight):
    frame = people()
    frame["w"] = np.where(frame["a"] == "x", 0.0, 1.0 if weight == "none" else np.arange(len(frame)) % 3 + 1.0)
    finding = eh.search(frame, within=["a", "b"], prediction="decided", weight="w")
    assert not any("a = x" in row[0] for panel in finding.panels for row in panel.rows)


def test_a_search_does_not_leave_with_an_audit_that_is_shared():
    frame = people(gap=0.3)
    audit = eh.audit(frame, prediction="decided", sensitive=["a", "b"])
    found = audit.add(eh.search(frame, within=["a", "b", "c"], prediction="decided", least=2))
    assert "search" not in {finding.metric for finding in found.shared().findings}


def test_calibration_is_the_observed_rate_less_the_mean_score_in_each_bin():
    frame = people()
    frame["label"] = (np.random.default_rng(1).random(len(frame)) < frame["score"]).astype(int)
    finding = eh.search(frame, within=["a", "b"], label="label", score="score", metric="calibration", bins=5)
    line = panel(finding, "Every value by itself")[0]
    column, value = line["group"].split(" = ")
    low, high = map(float, line["scores"].split(" to "))
    rows = frame[(frame[column].astype(str) == value) & (frame["score"] >= low) & (frame["score"] < high)]
    assert line["gap"] == pytest.approx(rows["label"].mean() - rows["score"].mean(), abs=1e-9)
    assert line["measured on"] == len(rows)
    assert finding.verdict != "fail"


def test_a_group_that_is_badly_calibrated_is_found():
    frame = people()
    inside = (frame["a"] == "x") & (frame["b"] == 1)
    chance = np.clip(frame["score"] + 0.25 * inside, 0, 1)
    frame["label"] = (np.random.default_rng(1).random(len(frame)) < chance).astype(int)
    finding = eh.search(frame, within=["a", "b", "c"], label="label", score="score", metric="calibration", bins=4)
    assert finding.verdict == "fail"
    assert finding.evidence.group == ("a = x, b = 1",)
    assert finding.evidence.bin is not None


# --- what is listed


def test_a_child_is_listed_only_if_it_says_more_than_its_parents():
    frame = people(size=20_000)
    frame["decided"] = (np.random.default_rng(5).random(len(frame)) < 0.3 + 0.3 * (frame["a"] == "x")).astype(int)
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided")
    lines = panel(finding, "Groups beyond the threshold")
    assert lines[0]["group"] == "a = x"
    sides = {side: [line for line in lines if line["gap"] * side > 0] for side in (1, -1)}
    assert len(sides[1]) == 1
    assert finding.settings["flagged"] > len(lines)
    assert any(
        note.startswith(f"Listed: {len(lines)} of {finding.settings['flagged']} gaps beyond the threshold")
        for note in finding.notes
    )


def test_of_two_values_that_mirror_each_other_one_is_listed():
    frame = people(size=8000)
    frame["decided"] = (np.random.default_rng(5).random(len(frame)) < 0.3 + 0.3 * frame["b"]).astype(int)
    finding = eh.search(frame, within=["b", "c"], prediction="decided", depth=1)
    assert [line["group"] for line in panel(finding, "Groups beyond the threshold")] == [
        f"b = {frame['b'].value_counts().idxmin()}"
    ]
    assert finding.settings["flagged"] == 2


def test_columns_that_divide_people_alike_are_listed_once():
    frame = people(gap=0.3)
    frame["copy"], frame["also"] = frame["a"].str.upper(), np.where(frame["a"] == "x", frame["b"], 9)
    one = eh.search(frame, within=["a", "b"], prediction="decided")
    finding = eh.search(frame, within=["a", "copy", "b", "also"], prediction="decided")
    assert [row[0] for row in one.panels[0].rows][:2] == ["a = x, b = 1", "a = x"]
    assert [row[0] for row in finding.panels[0].rows][:2] == ["also = 1", "a = x"]
    said = "Of groups that have the same people, the first is listed."
    assert any(said in note for note in finding.notes)
    assert not any(said in note for note in one.notes)


def test_lines_are_ranked_by_what_is_sure():
    finding = eh.search(compas(), within=COLUMNS, metric="fpr", **COMPAS)
    lines = panel(finding, "Groups beyond the threshold")
    sure = [max(line["low"], -line["high"]) for line in lines]
    assert sure == sorted(sure, reverse=True)
    assert finding.value.low == pytest.approx(sure[0])
    assert finding.evidence.group == (lines[0]["group"],)


def mirrored(many: tuple[int, int], few: tuple[int, int]) -> dict[str, list]:
    """Two values of one column, b = 1 with 2,200 people and b = 0 with 1,800: the decisions of those with label 0."""
    table = [
        (b, y, d, n)
        for b, size, (selected, refused) in ((1, 2200, many), (0, 1800, few))
        for y, d, n in ((0, 1, selected), (0, 0, refused), (1, 1, size - selected - refused))
    ]
    return dict(zip(("b", "y", "d", "n"), map(list, zip(*table, strict=True)), strict=True))


FALSE_POSITIVES = {"within": "b", "label": "y", "prediction": "d", "count": "n", "metric": "fpr"}


def test_a_value_is_listed_where_the_one_that_mirrors_it_has_too_few_people_to_be_compared():
    finding = eh.search(mirrored((900, 100), (12, 48)), **FALSE_POSITIVES)
    assert finding.verdict == "fail"
    assert [line["group"] for line in panel(finding, "Groups beyond the threshold")] == ["b = 1"]


def test_against_everyone_the_surer_of_two_values_is_listed():
    """The gaps of two values from everyone differ in size: the one with fewer people in the measure has the larger."""
    finding = eh.search(mirrored((115, 101), (433, 998)), against="overall", threshold=0.08, **FALSE_POSITIVES)
    lines = panel(finding, "Every value by itself")
    surest = max(lines, key=lambda line: max(line["low"], -line["high"]))
    (listed,) = panel(finding, "Groups beyond the threshold")
    assert listed["group"] == surest["group"] == "b = 1"
    assert finding.evidence.group == ("b = 1",)


def test_shrunken_gaps_stand_beside_and_decide_nothing():
    finding = eh.search(compas(), within=COLUMNS, metric="fpr", least=30, **COMPAS)
    lines = [*panel(finding, "Groups beyond the threshold"), *panel(finding, "Groups that are open")]
    apart = {line["measured on"]: abs(line["shrunken gap"] - line["gap"]) for line in lines}
    small, large = (
        [away for n, away in apart.items() if inside(n)] for inside in (lambda n: n < 150, lambda n: n > 1000)
    )
    assert max(large) < 0.02 < max(small)


# --- one answer


def test_compas():
    finding = eh.search(compas(), within=COLUMNS, metric="false_positive_rate", **COMPAS)
    assert finding.verdict == "fail"
    assert finding.interpretation.startswith(
        "Of 41 groups of at least 100 people, 16 surely differ from everyone else by more than 10.0 points, 7 "
        "surely do not, and 18 are open. The surest: race = African-American, age = under 25 (n = 359): the false "
        "positive rate is 59.9 %, 30.3 points above that of everyone else"
    )


@given(gap=st.floats(0, 0.4), threshold=st.floats(0, 0.3), seed=st.integers(0, 10**6), size=st.integers(300, 3000))
def test_the_verdict_is_the_rule_on_its_ends(gap, threshold, seed, size):
    frame = people(seed, size, gap=gap)
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided", threshold=threshold, draws=39, least=20)
    assert finding.verdict == verdict(finding.value, threshold)
    assert finding.value.low <= finding.value.value <= finding.value.high
    counts = [finding.settings[name] for name in ("flagged", "certified", "open")]
    assert sum(counts) == finding.settings["groups"]
    assert (finding.verdict == "fail") == (counts[0] > 0)
    assert (finding.verdict == "pass") == (counts[1] == finding.settings["groups"])


def test_gaps_of_rates_are_shown_in_points_and_say_what_is_measured():
    rates = eh.search(people(gap=0.3), within=["a", "b"], prediction="decided")
    assert (rates.unit, rates.title) == ("points", "search of groups (demographic parity)")
    assert tables.limit(rates) == "≤ 10 points"
    assert tables.value(rates).startswith(f"{100 * rates.value.value:.1f} [")
    scores = eh.search(people(), within=["a", "b"], score="score", metric="mean_score")
    assert (scores.unit, scores.title) == ("score", "search of groups (mean score)")


def test_the_first_of_groups_that_are_open_is_not_called_sure():
    frame = people(size=300)
    finding = eh.search(frame, within=["a", "b"], prediction="decided", least=20)
    assert finding.verdict == "inconclusive"
    assert "none is shown to differ from everyone else by more than 10.0 points: " in finding.interpretation
    assert "The one that is listed first: " in finding.interpretation


def test_where_no_open_group_says_more_than_larger_ones_the_sentence_does_not_speak_of_a_list():
    finding = eh.search(people(19, size=1500), within=["a", "c"], prediction="decided", draws=99)
    assert "Groups that are open" not in [panel.title for panel in finding.panels]
    assert (finding.verdict, finding.settings["open"] > 0) == ("inconclusive", True)
    assert "The one that may differ most: " in finding.interpretation


def test_a_rate_of_several_that_no_group_has_enough_people_for_keeps_a_search_from_passing():
    frame = people(size=8000)
    frame["label"] = (frame.index < 90).astype(int)
    roles = {"within": ["a", "b"], "label": "label", "prediction": "decided"}
    assert eh.search(frame, metric="predictive_equality", **roles).verdict == "pass"
    finding = eh.search(frame, metric="equalized_odds", **roles)
    assert (finding.verdict, finding.value.high, finding.settings["certified"]) == ("inconclusive", 1.0, 0)
    assert "No group has 100 people whom the true positive rate is about, so that the search cannot pass: " in (
        " ".join(finding.notes)
    )
    frame["decided"] = np.where(frame["a"] == "x", 1, frame["decided"])
    assert eh.search(frame, metric="equalized_odds", **roles).verdict == "fail"


def test_a_rate_or_a_bin_that_few_groups_have_people_for_is_noted():
    frame = people(size=8000)
    frame["label"] = (np.arange(8000) < 450).astype(int)
    roles = {"within": ["a", "b"], "label": "label"}
    finding = eh.search(frame, metric="equalized_odds", prediction="decided", **roles)
    assert "The true positive rate was looked at in " in finding.notes[1]
    assert " of 11 groups: the others have fewer than 100 people whom it is about." in finding.notes[1]
    frame["score"] = frame["score"] * 0.6
    finding = eh.search(frame, metric="calibration", score="score", score_range=(0, 1), bins=10, **roles)
    assert finding.notes[1] == "5 of 10 bins of scores have no group of 100 people."


def test_a_large_even_population_passes():
    table = [(a, b, y, 200_000) for a in "xyz" for b in "pq" for y in (0, 1)]
    data = dict(zip(("a", "b", "y", "n"), map(list, zip(*table, strict=True)), strict=True))
    finding = eh.search(data, within=["a", "b"], prediction="y", count="n")
    assert (finding.verdict, finding.settings["certified"]) == ("pass", finding.settings["groups"])
    assert finding.interpretation.startswith(
        "All 11 groups of at least 100 people surely differ from everyone else by at most 10.0 points. The one "
        "that may differ most: "
    )


def test_rows_counts_and_cubes_give_one_answer():
    frame = people(gap=0.2)
    counted = frame.groupby(["a", "b", "c", "decided"]).size().reset_index(name="n")
    cube = eh.Cube.count(frame, prediction="decided", sensitive=["a", "b", "c"])
    rows = eh.search(frame, within=["a", "b", "c"], prediction="decided")
    lines = eh.search(counted, within=["a", "b", "c"], prediction="decided", count="n")
    assert rows == lines
    assert rows == eh.search(cube) == eh.search(cube, within=["a", "b", "c"])


def test_weights_of_one_change_nothing_and_weights_count():
    frame = people(gap=0.3)
    frame["one"], frame["w"] = 1.0, np.where((frame["a"] == "x") & (frame["b"] == 1), 3.0, 1.0)
    roles = {"within": ["a", "b"], "prediction": "decided"}
    plain, ones, more = (eh.search(frame, weight=weight, **roles) for weight in (None, "one", "w"))
    assert ones.value.low == pytest.approx(plain.value.low)
    assert ones.value.high == pytest.approx(plain.value.high)
    assert more.settings["groups"] == plain.settings["groups"]
    assert more.value.value == pytest.approx(plain.value.value)  # within the group all weights are the same


@pytest.mark.parametrize("weight", [1e-6, 1e6])
def test_the_scale_of_weights_changes_nothing(weight):
    frame = people(gap=0.3)
    frame["w"] = weight
    roles = {"within": ["a", "b"], "prediction": "decided"}
    scaled, plain = eh.search(frame, weight="w", **roles), eh.search(frame, **roles)
    assert scaled.verdict == plain.verdict
    assert scaled.value.low == pytest.approx(plain.value.low, rel=1e-6)


def test_the_order_of_rows_and_columns_changes_nothing():
    frame = people(gap=0.25)
    one = eh.search(frame, within=["a", "b", "c"], prediction="decided")
    two = eh.search(frame.sample(frac=1, random_state=1), within=["c", "b", "a"], prediction="decided")
    assert two.settings == one.settings
    for mine, theirs in zip(one.panels[:2], two.panels[:2], strict=True):
        names = [sorted(row[0].split(", ")) for row in mine.rows]
        assert names == [sorted(row[0].split(", ")) for row in theirs.rows]
        for row, other in zip(mine.rows, theirs.rows, strict=True):
            assert row[1:5] == other[1:5]


@pytest.mark.parametrize("against", ["rest", "overall"])
@pytest.mark.parametrize(
    ("metric", "roles"),
    [
        ("demographic_parity", {"prediction": "decided"}),
        ("equal_opportunity", {"prediction": "decided", "label": "label"}),
        ("mean_score_parity", {"score": "score", "score_range": (0, 1)}),
    ],
)
def test_one_column_is_what_the_metric_says_against_the_same(metric, roles, against):
    """The near ends are the same; a search certifies groups one by one, so its far ends hold for all of them."""
    frame = people(gap=0.25)
    finding = eh.search(frame, within="a", metric=metric, against=against, draws=0, **roles)
    known = {row.group: row for row in getattr(eh, metric)(frame, sensitive="a", reference=against, **roles).rows}
    lines = panel(finding, "Every value by itself")
    assert len(lines) == len(known) == 3
    for line in lines:
        row = known[(line["group"].removeprefix("a = "),)]
        assert line.get("measured on", line["people"]) == row.n
        assert line["gap"] == pytest.approx(row.difference.value)
        ends, theirs = (line["low"], line["high"]), (row.difference.low, row.difference.high)
        near, far = (0, 1) if line["gap"] > 0 else (1, 0)
        if metric != "mean_score_parity":  # the ends of means hold more widely for many groups
            assert ends[near] == pytest.approx(theirs[near], abs=1e-9)
        assert abs(ends[far]) >= abs(theirs[far]) - 1e-9


def test_the_same_seed_gives_the_same_numbers():
    frame = people(gap=0.2)
    frame["like c"] = frame["c"].where(frame.index % 10 > 0, "p")
    first, again, other = (
        eh.search(frame, within=["c", "like c"], prediction="decided", random_state=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.settings["deviate"] != other.settings["deviate"]


def test_missing_values_are_searched_and_said():
    frame = people(size=8000)
    frame.loc[frame.index[:2000], "c"] = None
    frame.loc[frame.index[:2000], "decided"] = 1
    finding = eh.search(frame, within=["a", "c"], prediction="decided")
    assert finding.evidence.group == ("c = (missing)",)
    assert any("missing in c" in note for note in finding.notes)
    assert eh.search(frame, within=["a", "c"], prediction="decided", missing="drop").verdict != "fail"


def test_bands_stand_in_their_order():
    frame = people(size=5000)
    frame["hours"] = np.where(frame["a"] == "x", 40, frame["age"])
    finding = eh.search(frame, within=["a", "hours"], prediction="decided", bands={"hours": [0, 35, 40, 41, 100]})
    names = [line["group"] for line in panel(finding, "Every value by itself")]
    assert names[3:] == [f"hours = {band}" for band in ("[0, 35)", "[35, 40)", "[40, 41)", "[41, 100]")]


def test_numbers_are_cut_into_bands_and_it_is_said():
    finding = eh.search(people(), within=["a", "age"], prediction="decided")
    names = [line["group"] for line in panel(finding, "Every value by itself")]
    assert sum(name.startswith("age = ") for name in names) == 5
    assert any("age is numeric and was cut" in note for note in finding.notes)
    own = eh.search(people(), within=["a", "age"], prediction="decided", bands={"age": [0, 40, 100]})
    assert sum(row["group"].startswith("age") for row in panel(own, "Every value by itself")) == 2


def test_what_is_known_of_the_data_is_said():
    """As an audit says it: numbers that are text and so were not cut, and people without a label."""
    frame = people(size=6000).astype({"age": str})
    frame["label"] = frame["label"].where(frame.index > 9)
    notes = eh.search(frame, within=["a", "age"], label="label", prediction="decided", least=50, draws=39).notes
    assert "age holds 72 numbers as text, each of which is a group; bands={'age': [...]} cuts them." in notes
    assert any(note.startswith("10 rows have no label: they count in selection rates") for note in notes)


# --- half to search, half to confirm


def test_split_searches_one_half_and_asks_the_other():
    frame = people(size=8000, gap=0.3)
    roles = {"within": ["a", "b", "c"], "prediction": "decided"}
    finding = eh.search(frame, split=True, **roles)
    assert finding.verdict == "fail"
    assert finding.evidence.group == ("a = x, b = 1",)
    assert finding.settings["chosen"] <= 20
    assert finding.evidence.n < ((frame["a"] == "x") & (frame["b"] == 1)).sum() * 0.6
    assert finding == eh.search(frame, split=True, **roles)


def test_split_counts_groups_and_not_their_names():
    frame = people(size=8000)
    frame["a"], frame["b"] = np.where(frame["a"] == "y", "x, b = 1", frame["a"]), frame["b"].astype(str)
    inside = (frame["a"] == "x, b = 1") | ((frame["a"] == "x") & (frame["b"] == "1"))
    frame["decided"] = np.where(inside, 1, frame["decided"])
    finding = eh.search(frame, within=["a", "b"], prediction="decided", split=True)
    assert finding.settings["chosen"] == len(finding.rows)
    beyond = [row for row in finding.rows if row.difference.low > 0.1 or row.difference.high < -0.1]
    assert finding.settings["flagged"] == len(beyond)


def test_split_of_people_who_do_not_differ_is_open():
    finding = eh.search(people(size=8000), within=["a", "b", "c"], prediction="decided", split=True)
    assert finding.verdict == "inconclusive"
    assert finding.value.high == 1.0


def test_the_halves_add_up_to_everyone():
    from evenhand.subgroups.halves import halves

    frame = people()
    cube = eh.Cube.count(frame, label="label", score="score", sensitive=["a", "b"])
    first, second = halves(cube, 0, [("s", "s2", None)])
    assert (first.n + second.n == cube.n).all()
    assert (first.scores.n + second.scores.n == cube.scores.n).all()
    assert np.allclose(first.scores.sums["s"] + second.scores.sums["s"], cube.scores.sums["s"])
    assert abs(first.n.sum() - len(frame) / 2) < 200


@pytest.mark.parametrize("task", ["score", "regression"])
def test_halves_differ_as_far_as_people_in_a_line_do(task):
    """Else the second half would confirm what chance has shown in the first: scores in one bin, or one prediction."""
    alarms = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        frame = pd.DataFrame({name: random.choice(list("abcdefgh"), 3000) for name in ("a", "b")})
        roles = {"score": "s", "score_range": (0, 1), "metric": "mean_score"}
        frame["s"] = 0.3 + 1e-4 * random.random(3000)
        if task == "regression":
            frame["s"], frame["y"] = 10.0, 10 + random.normal(0, 5, 3000)
            roles = {"label": "y", "prediction": "s", "task": "regression", "metric": "mean_residual"}
        found = eh.search(frame, within=["a", "b"], threshold=0, least=30, split=True, **roles)
        alarms += found.verdict == "fail"
    assert alarms <= 5  # 1 is expected


@given(seed=st.integers(0, 10**6))
def test_the_moments_of_two_halves_add_up_and_are_those_of_people(seed):
    from evenhand.subgroups.halves import halves

    random = np.random.default_rng(seed)
    data = {"a": random.choice(["x", "y"], 40), "p": random.choice([1.0, 2.0], 40), "y": random.normal(0, 3, 40)}
    cube = eh.Cube.count(data, label="y", prediction="p", sensitive="a", task="regression")
    parts = [part.scores for part in halves(cube, seed, [("e", "ee", "eee")])]
    for name in ("e", "ee", "eee"):
        assert np.allclose(sum(part.sums[name] for part in parts), cube.scores.sums[name])
    for part in parts:
        assert (part.sums["ee"] * part.n - part.sums["e"] ** 2 >= -1e-6).all()
        assert np.allclose(part.sums["ee"][part.n == 0], 0)


def test_split_of_scores_finds_what_is_there():
    frame = people(size=8000)
    frame["score"] = np.clip(frame["score"] + 0.3 * ((frame["a"] == "x") & (frame["b"] == 1)), 0, 1)
    finding = eh.search(frame, within=["a", "b"], score="score", metric="mean_score", split=True)
    assert (finding.verdict, finding.evidence.group) == ("fail", ("a = x, b = 1",))


# --- audits, policies, outputs


def test_a_policy_may_require_it():
    frame = people(gap=0.3)
    policy = eh.Policy(
        required=["demographic_parity", "search"], thresholds={"demographic_parity": 0.9, "search": 0.15}
    )
    audit = eh.audit(frame, prediction="decided", sensitive="c", policy=policy)
    assert audit.verdict == "inconclusive"
    assert audit.left_out == ("search",)
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided", policy=policy)
    assert finding.threshold == 0.15
    with_it = audit.add(finding)
    assert with_it.decides(with_it.findings[-1])
    assert (with_it.verdict, with_it.left_out) == ("fail", ())
    even = eh.search(frame, within=["c", "age"], prediction="decided", policy=policy, depth=1)
    assert audit.add(even).verdict == {"pass": "pass"}.get(even.verdict, "inconclusive")


def test_an_audit_with_a_search_is_saved_and_loaded(tmp_path):
    frame = people(gap=0.3)
    audit = eh.audit(frame, prediction="decided", sensitive=["a", "b"])
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided")
    for suffix in ("html", "json", "md", "xml"):
        audit.add(finding).save(tmp_path / f"audit.{suffix}")
    assert "Groups beyond the threshold" in json.dumps(findings_data(audit.add(finding), curves=False))
    assert Audit.load(tmp_path / "audit.json").findings[-1] == finding
    json.dumps(audit.add(finding).to_dict(), allow_nan=False)
    assert "a = x, b = 1" in audit.add(finding).details()
    assert "a = x, b = 1" in finding.to_frame()["group"].tolist()
    assert "a = x, b = 1" in finding._repr_html_()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_stay_names(name, tmp_path):
    frame = people(gap=0.3)
    frame["a"] = frame["a"].replace({"x": name})
    frame = frame.rename(columns={"b": name + "b"})
    finding = eh.search(frame, within=["a", name + "b"], prediction="decided", draws=39)
    assert finding.evidence.group == (f"a = {name}, {name}b = 1",)
    audit = eh.audit(frame, prediction="decided", sensitive="a").add(finding)
    audit.save(tmp_path / "audit.html")
    assert "<script>alert(1)</script>" not in (tmp_path / "audit.html").read_text(encoding="utf-8")
    str(audit), audit.to_dict()


# --- errors with a remedy


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"within": None}, CallError, "say which columns to search: within="),
        ({"within": []}, CallError, "say which columns to search"),
        ({"depth": 0}, CallError, "depth=0"),
        ({"depth": 1.5}, CallError, "depth=1.5"),
        ({"depth": 99}, CallError, "depth=99"),
        ({"least": 0}, CallError, "least=0"),
        ({"least": 10**6}, DataError, "none has 1,000,000 people"),
        ({"within": ["a", "name"]}, DataError, "column 'name' has 600 values, and none has 100 people"),
        ({"within": ["a", "none"]}, DataError, "column 'none' is missing in every row"),
        ({"within": ["a", "same"]}, DataError, "column 'same' has one value only, 'k'"),
        (
            {"within": ["a", "rare"]},
            DataError,
            "quantile bands do not divide it: cut it with bands={'rare': [...]}, or",
        ),
        ({"within": ["a", "nowhere"]}, CallError, "within='nowhere' is not a column"),
        ({"sensitive": "a"}, CallError, "'a' is named in sensitive= and in within=: name it in within= alone"),
        ({"sensitive": "c"}, CallError, "name the sensitive attribute there"),
        ({"control": "c"}, CallError, "a search has no strata"),
        ({"cluster": "c"}, CallError, "takes people as strangers"),
        ({"metric": "disparate_impact"}, CallError, "disparate_impact cannot be searched"),
        ({"metric": "theil_index"}, CallError, "theil_index cannot be searched"),
        ({"metric": "search"}, CallError, "search cannot be searched"),
        ({"metric": "auc"}, CallError, "auc"),
        ({"metric": "selected_share"}, CallError, "selected_share is not a rate of each group"),
        ({"metric": "count"}, CallError, "count is not a rate of each group"),
        ({"metric": "error_balance", "label": "label"}, CallError, "error_balance is not a rate of each group"),
        ({"within": ["a", "decided"]}, CallError, "plays two roles, prediction and within"),
        ({"metric": "selektion_rate"}, CallError, "did you mean 'selection_rate'"),
        ({"metric": "tpr"}, CallError, "needs label="),
        ({"metric": "calibration"}, CallError, "needs label= and score="),
        ({"against": "race"}, CallError, "against='race' must be 'rest'"),
        ({"threshold": -1}, CallError, "threshold"),
        ({"split": True, "weight": "age"}, CallError, "weights are not counts"),
        ({"draws": -1}, CallError, "draws"),
    ],
)
def test_what_cannot_be_searched_is_said_with_a_remedy(arguments, error, said):
    frame = people(size=600)
    frame["name"], frame["none"], frame["same"] = [f"p{i}" for i in range(600)], None, "k"
    frame["rare"] = np.where(frame.index < 60, frame.index / 7, 0.0)
    with pytest.raises(error) as raised:
        eh.search(frame, **{"within": ["a", "b"], "prediction": "decided", **arguments})
    assert said in str(raised.value)


def test_more_groups_than_allowed_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr("evenhand.subgroups.conjunctions.MOST_GROUPS", 10)
    with pytest.raises(DataError, match="more than 10 groups of at least 100 people: name fewer columns"):
        eh.search(people(), within=["a", "b", "c"], prediction="decided")


def test_too_many_sets_of_columns_are_refused():
    names = [f"c{i}" for i in range(30)]
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (400, 30)), columns=names)
    frame["decided"] = frame["c0"]
    with pytest.raises(CallError, match="30 columns make 31,930 sets of at most 4, more than 20,000"):
        eh.search(frame, within=names, prediction="decided", depth=4)


def test_calibration_has_a_baseline_of_its_own():
    with pytest.raises(CallError, match="its own mean score"):
        eh.search(people(), within="a", label="label", score="score", metric="calibration", against="rest")


# --- edges


def test_one_person_and_nobody():
    with pytest.raises(DataError):
        eh.search(people(size=1), within=["a"], prediction="decided")
    with pytest.raises(DataError):
        eh.search(people(size=2), within=["a"], prediction="decided", least=2)


@pytest.mark.parametrize("value", [0, 1])
def test_everybody_selected_is_no_gap(value):
    frame = people(size=20_000)
    frame["decided"] = value
    finding = eh.search(frame, within=["a", "b"], prediction="decided", threshold=0.05)
    assert finding.value.value == 0
    assert finding.verdict == "pass"


@pytest.mark.parametrize(
    "asked",
    [
        {"prediction": "alike"},
        {"prediction": "alike", "label": "label", "metric": "equalized_odds"},
        {"prediction": "alike", "label": "label", "metric": "balanced_accuracy"},
        {"label": "alike", "score": "flat", "score_range": (0, 1), "metric": "calibration"},
        {"label": "alike", "score": "flat", "score_range": (0, 1), "metric": "log_loss"},
        {"score": "flat", "score_range": (0, 1), "metric": "mean_score"},
        {"prediction": "flat", "label": "large", "task": "regression"},
    ],
    ids=lambda asked: asked.get("metric", asked.get("task", "selection_rate")),
)
@pytest.mark.parametrize("value", [0, 1])
def test_where_nobody_differs_groups_are_as_unsure_as_their_sizes_let_them_be(asked, value):
    """Nobody who varies makes no noise, which is not the same as none to expect."""
    frame = people().assign(alike=value, flat=0.7, large=2.5)
    finding = eh.search(frame, within=["a", "b", "c"], **asked)
    few = critical.sidak(1, 0.95)
    assert few < finding.settings["deviate"] <= critical.sidak(finding.settings["gaps"], 0.95)


def test_nobody_selected_is_certified_only_where_groups_could_not_have_more():
    frame = people().assign(decided=0)
    finding = eh.search(frame, within=["a", "b", "c"], prediction="decided", threshold=0.02)
    smallest = min(row[1] for row in finding.panels[0].rows)
    assert finding.verdict == "inconclusive"
    assert 1 - finding.value.high < 0.05 ** (1 / smallest)  # a rate at which nobody would be seen in 5 % of samples


def test_one_person_more_does_not_make_groups_surer():
    frame = people().assign(decided=0)
    none, one = (
        eh.search(each, within=["a", "b", "c"], prediction="decided").settings["deviate"]
        for each in (frame, frame.assign(decided=(frame.index == 0).astype(int)))
    )
    assert one == pytest.approx(none, abs=0.1)


@pytest.mark.parametrize(
    ("negatives", "remedy"),
    [(0, "search another measure, with metric="), (3, "the largest has 3. Lower least=")],
)
def test_where_nobody_or_too_few_are_measured_the_remedy_fits(negatives, remedy):
    frame = people(size=600).assign(a="x", label=1)
    frame.loc[:199, "a"] = "y"
    frame.loc[400 : 399 + negatives, "label"] = 0
    with pytest.raises(CallError) as raised:
        eh.search(frame, within=["a"], label="label", prediction="decided", metric="fpr")
    assert f"whom the false positive rate is about: {remedy}" in str(raised.value)


def test_labels_of_the_selected_alone_make_no_rate():
    frame = people()
    frame["label"] = frame["label"].where(frame["decided"] == 1)
    with pytest.raises(CallError, match="whom the true positive rate is about"):
        eh.search(frame, within=["a", "b"], label="label", prediction="decided", metric="true_positive_rate")


def lacking(refused: float, selected: float, size: int = 20_000) -> pd.DataFrame:
    """People of whom some have no label, as many as is said of those with each decision."""
    frame, random = people(size=size), np.random.default_rng(1)
    frame["label"] = frame["label"].where(random.random(size) > np.where(frame["decided"] == 1, selected, refused))
    return frame


@pytest.mark.parametrize("against", ["rest", "overall"])
@pytest.mark.parametrize("weight", [None, "age"])
def test_labels_that_are_missing_for_a_reason_leave_groups_open(weight, against):
    """As in an audit: the intervals of groups that are not flagged hold whatever the missing labels are."""
    frame = lacking(0.3, 0.05)
    asked = {"label": "label", "prediction": "decided", "metric": "equal_opportunity", "against": against}
    finding = eh.search(frame, within=["a", "c"], weight=weight, **asked)
    assert (finding.verdict, finding.settings["certified"]) == ("inconclusive", 0)
    assert any("hold whatever the missing ones are" in note for note in finding.notes)
    ways = [(0, 0), (0, 1), (1, 0), (1, 1), None]
    truths = []
    for way in ways:
        full = frame
        if way is not None:
            full = frame.assign(label=frame["label"].fillna(pd.Series(np.array(way)[frame["decided"]], frame.index)))
        told = eh.search(full, within=["a", "c"], weight=weight, draws=0, depth=1, **asked)
        truths.append({line["group"]: line["gap"] for line in panel(told, "Every value by itself")})
    for line in panel(finding, "Every value by itself"):
        assert all(line["low"] < each[line["group"]] < line["high"] for each in truths)
    chance = eh.search(frame, within=["a", "c"], policy=eh.Policy(missing_labels="ignore"), weight=weight, **asked)
    assert chance.settings["certified"] > 0
    assert "Labels that are missing are taken as missing at random." in chance.notes


def test_labels_that_are_missing_by_chance_are_taken_so():
    finding = eh.search(lacking(0.2, 0.2), within=["a", "c"], label="label", prediction="decided", metric="fpr")
    assert "Labels that are missing are taken as missing at random." in finding.notes
    assert finding.settings["certified"] > 0


def test_what_the_labels_show_that_are_there_is_flagged():
    frame = lacking(0.3, 0.1)
    frame["decided"] = np.where((frame["a"] == "x") & (frame.index % 4 > 0), 1, frame["decided"])
    finding = eh.search(frame, within=["a", "c"], label="label", prediction="decided", metric="fpr")
    assert finding.verdict == "fail"
    assert finding.evidence.group == ("a = x",)


def test_names_that_are_numbers():
    frame = people(gap=0.3)
    frame = frame.rename(columns={"b": "1"})
    finding = eh.search(frame, within=["a", "1"], prediction="decided")
    assert finding.evidence.group == ("a = x, 1 = 1",)


def test_groups_that_are_not_looked_at_are_counted():
    frame = people()
    frame["label"] = frame["label"].where((frame["a"] != "x") | (frame["decided"] == 1))
    finding = eh.search(frame, within=["a", "b"], label="label", prediction="decided", metric="tpr")
    assert "about: 8. Another 3 have as many people, but fewer whom it is about." in finding.notes[0]


def test_without_draws_the_deviate_is_named():
    finding = eh.search(people(), within=["a", "b"], prediction="decided", draws=0)
    assert f"by Šidák's deviate ({finding.settings['deviate']:.2f})" in finding.notes[1]


def test_more_profiles_than_can_be_drawn_take_bonferronis_deviate(monkeypatch):
    monkeypatch.setattr("evenhand.subgroups.gaps.MOST_PROFILES", 5)
    finding = eh.search(people(), within=["a", "b"], prediction="decided")
    assert finding.settings["draws"] == 0
    assert finding.settings["deviate"] == pytest.approx(critical.sidak(finding.settings["gaps"], 0.95))
    assert any("Bonferroni" in note for note in finding.notes)
