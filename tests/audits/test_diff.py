"""What changed between two audits: numbers by hand, intervals that cover, verdicts that cross, groups that come."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.audits.gap_change import between, by_chance, size
from evenhand.core.results import Estimate
from evenhand.errors import CallError, DataError
from evenhand.verdicts.policy import Policy
from support import hostile
from support.profiles import examples


def decided(**rates: tuple[int, int]) -> dict[str, list]:
    """Decisions of groups, each with so many selected of so many."""
    return {
        "prediction": [1, 0] * len(rates),
        "sensitive": [name for name in rates for _ in range(2)],
        "count": [count for k, n in rates.values() for count in (k, n - k)],
    }


def audited(metric: str = "demographic_parity", policy: Policy | None = None, reference=None, **rates) -> eh.Audit:
    required = policy or Policy(required=metric)
    return eh.audit(**decided(**rates), policy=required, metrics=[metric], reference=reference)


# --- numbers


def test_the_change_of_a_gap_by_hand():
    before, after = audited(a=(500, 1000), b=(450, 1000)), audited(a=(520, 1000), b=(320, 1000))
    assert before.findings[0].value.low > 0
    found = eh.diff(before, after)
    (change,) = found.changes
    assert (change.before.value, change.after.value) == pytest.approx((0.05, 0.2))
    b, a = before.findings[0].value, after.findings[0].value
    assert change.change.value == pytest.approx(0.15)
    assert change.change.low == pytest.approx(0.15 - math.sqrt((0.2 - a.low) ** 2 + (b.high - 0.05) ** 2))
    assert change.change.high == pytest.approx(0.15 + math.sqrt((a.high - 0.2) ** 2 + (0.05 - b.low) ** 2))
    assert by_chance(before.findings[0]) == by_chance(after.findings[0]) == 0
    assert (change.tendency, change.verdict_before, change.verdict_after) == ("worse", "pass", "fail")
    assert change.crossed
    assert found.crossed == (change,)
    assert str(change) == change.interpretation
    assert re.fullmatch(
        r"Demographic parity: the gap changed by \+15\.0 points \(95 % interval [\d.]+ to [\d.]+\), from 5\.0 to 20\.0 "
        r"points\.",
        str(change),
    )


def test_a_ratio_that_falls_is_worse():
    before = audited("disparate_impact", a=(500, 1000), b=(480, 1000))
    after = audited("disparate_impact", a=(500, 1000), b=(300, 1000))
    (change,) = eh.diff(before, after).changes
    assert change.change.value == pytest.approx(0.6 - 0.96)
    assert (change.tendency, change.judged_on) == ("worse", "ratio")
    assert "the ratio changed by -0.36 " in str(change)
    assert eh.diff(after, before).changes[0].tendency == "better"


def test_a_gap_that_turns_around_is_judged_by_its_size():
    before = audited(a=(600, 1000), b=(500, 1000), reference="b")
    after = audited(a=(450, 1000), b=(500, 1000), reference="b")
    (change,) = eh.diff(before, after).changes
    assert (change.before.value, change.after.value) == pytest.approx((0.1, -0.05))
    assert change.change.value == pytest.approx(-0.15)
    assert change.change.low < -0.15 < change.change.high
    assert change.size_change.value == pytest.approx(-0.05)
    assert change.size_change.low < -0.05 < change.size_change.high
    assert change.tendency == "unclear"
    assert "changed by -15.0 points" in str(change)
    assert "from +10.0 to -5.0 points. Its size changed by -5.0 points" in str(change)


@pytest.mark.parametrize(
    ("value", "judged_on", "expected"),
    [
        (Estimate(-0.2, -0.3, -0.1), "difference", Estimate(0.2, 0.1, 0.3)),
        (Estimate(-0.1, -0.3, 0.1), "difference", Estimate(0.1, 0.0, 0.3)),
        (Estimate(2.0, 1.25, 4.0), "ratio", Estimate(0.5, 0.25, 0.8)),
        (Estimate(1.25, 0.8, 2.0), "ratio", Estimate(0.8, 0.5, 1.0)),
        (Estimate(0.0, 0.0, 0.5), "ratio", Estimate(0.0, 0.0, 0.5)),
        (Estimate(0.3), "difference", Estimate(0.3)),
        (Estimate(0.7, 0.6, 0.9), "value", Estimate(0.7, 0.6, 0.9)),
    ],
)
def test_how_far_from_parity(value, judged_on, expected):
    finding = audited(a=(5, 10), b=(4, 10)).findings[0]
    extremes = {"difference": value, "ratio": value} if judged_on != "value" else {}
    found = size(replace(finding, value=value, judged_on=judged_on, summary=replace(finding.summary, **extremes)))
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_four_fifths_against_a_reference_counts_one_side_only():
    finding = audited("disparate_impact", a=(900, 1000), b=(500, 1000), reference="b").findings[0]
    assert finding.ratio.value == pytest.approx(1.8)
    assert size(finding).value == 1.0


estimates = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(
    lambda ends: Estimate(sorted(ends)[1], sorted(ends)[0], sorted(ends)[2])
)


chances = st.floats(-0.3, 0.3)


@given(estimates, estimates, chances, chances)
def test_a_change_turns_its_sign_with_the_order(one, other, first, second):
    there, back = between(one, other, chance=(first, second)), between(other, one, chance=(second, first))
    assert back.value == -there.value
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert there.low <= there.value + 1e-12
    assert there.value <= there.high + 1e-12


@given(estimates, estimates, chances, chances)
def test_the_interval_of_a_change_holds_no_more_than_all_pairs_of_values(one, other, first, second):
    found, narrower = between(one, other, chance=(first, second)), between(one, other)
    assert other.low - one.high - 1e-12 <= found.low <= narrower.low + 1e-12
    assert narrower.high - 1e-12 <= found.high <= other.high - one.low + 1e-12


def test_an_infinite_value_has_no_change():
    assert not between(Estimate(math.inf, 1, math.inf), Estimate(0.5, 0, 1)).defined
    assert not between(Estimate(math.nan), Estimate(0.5, 0, 1)).defined
    unbounded = between(Estimate(0.5, 0, 1), Estimate(0.5, 0.2, math.inf))
    assert (unbounded.value, unbounded.high) == (0, math.inf)
    assert between(Estimate(0.5), Estimate(0.75)) == Estimate(0.25)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0.50, 0.45), (0.55, 0.35)),
        ((0.5, 0.5), (0.5, 0.6)),
        ((0.5, 0.4, 0.45, 0.3, 0.5), (0.5, 0.5, 0.5, 0.5, 0.5)),
        ((0.5, 0.5, 0.5, 0.5, 0.5), (0.5, 0.4, 0.45, 0.3, 0.5)),
    ],
)
def test_the_interval_covers_the_change(before, after):
    """Groups of 300 people. Where nothing differs, the extremes of five groups still lie 8 points apart."""
    random = np.random.default_rng(0)
    truth = (max(after) - min(after)) - (max(before) - min(before))
    covered, times = 0, 60
    for _ in range(times):
        drawn = [
            audited(**{f"g{i}": (int(k), 300) for i, k in enumerate(random.binomial(300, rates))})
            for rates in (before, after)
        ]
        change = eh.diff(*drawn).changes[0].change
        covered += change.low <= truth <= change.high
    assert covered / times >= 0.9


def test_what_may_be_chance():
    even = audited("disparate_impact", a=(150, 300), b=(135, 300), c=(140, 300), d=(160, 300)).findings[0]
    gap = audited(a=(150, 300), b=(135, 300), c=(140, 300), d=(160, 300)).findings[0]
    assert by_chance(gap) == pytest.approx(gap.sample.expected_gap)
    assert by_chance(even) == pytest.approx(-even.sample.expected_gap / (160 / 300))
    assert by_chance(audited(a=(150, 300), b=(149, 300)).findings[0]) > 0


# --- verdicts

EVEN, SMALL, GAP, LARGE = (
    {"a": (1000, 2000), "b": (b, 2000)} for b in (1000, 970, 700, 300)
)  # fmt: skip
FEW = {"a": (10, 20), "b": (8, 20)}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (EVEN, SMALL, "pass"),
        (EVEN, GAP, "fail"),
        (GAP, EVEN, "pass"),
        (GAP, GAP, "pass"),
        (GAP, LARGE, "fail"),
        (LARGE, GAP, "pass"),
        (EVEN, FEW, "inconclusive"),
        (FEW, EVEN, "pass"),
        (FEW, FEW, "pass"),
        (FEW, GAP, "fail"),
        (GAP, FEW, "pass"),
    ],
)
def test_the_verdict_asks_whether_something_that_decides_got_worse(before, after, verdict):
    found = eh.diff(audited(**before), audited(**after))
    assert found.verdict == verdict
    assert found.changes[0].outcome == verdict


def test_what_does_not_decide_is_shown_and_does_not_judge():
    policy = Policy(required="theil_index")
    table = {"label": [0, 1, 0, 1]}
    before, after = (
        eh.audit(**decided(**rates), **table, policy=policy, metrics=["demographic_parity", "theil_index"])
        for rates in (EVEN, GAP)
    )
    found = eh.diff(before, after)
    assert [change.metric for change in found.crossed] == ["demographic_parity"]
    assert [change.outcome for change in found.changes if not change.required] == ["not judged"]
    assert found.verdict in ("pass", "not judged")


def test_a_policy_may_count_what_is_inconclusive():
    for counted, verdict in (("pass", "pass"), ("fail", "fail")):
        policy = Policy(required="demographic_parity", inconclusive=counted)
        assert eh.diff(audited(policy=policy, **EVEN), audited(policy=policy, **FEW)).verdict == verdict


def test_what_is_only_in_one():
    before, after = audited(**EVEN), audited("disparate_impact", **EVEN)
    both = before.add(*after.findings)
    gone = eh.diff(both, before)
    assert [finding.metric for finding in gone.only_before] == ["disparate_impact"]
    assert gone.only_after == ()
    new = eh.diff(before, both)
    assert [finding.metric for finding in new.only_after] == ["disparate_impact"]
    assert "Only after: disparate_impact." in str(new)


def test_a_required_pass_that_is_gone_is_not_a_pass():
    policy = Policy(required=("demographic_parity", "disparate_impact"))
    kinds = {"policy": policy, "metrics": ["demographic_parity", "disparate_impact"]}
    before = eh.audit(**decided(**EVEN), **kinds)
    after = audited(**EVEN)
    assert before.verdict == after.verdict == "pass"
    assert eh.diff(before, after).verdict == "inconclusive"
    assert eh.diff(after, before).verdict == "pass"
    assert eh.diff(after, eh.audit(**decided(**GAP), **kinds)).verdict == "fail"


def test_nothing_in_common():
    with pytest.raises(
        CallError, match=r"no finding in common.*demographic_parity on sensitive; after: disparate_impact"
    ):
        eh.diff(audited(**EVEN), audited("disparate_impact", **EVEN))


# --- groups


def crossed(race: list[str], sex: list[str]) -> eh.Audit:
    return eh.audit(
        prediction=[1, 0] * (len(race) // 2),
        sensitive={"race": race, "sex": sex},
        metrics=["demographic_parity"],
    )


def test_groups_that_appear_and_vanish():
    before = crossed(["A", "B", "B", "A"] * 10, ["F", "F", "M", "M"] * 10)
    after = crossed(["A", "C", "A", "C"] * 10, ["F", "F", "M", "M"] * 10)
    found = eh.diff(before, after)
    assert found.appeared == ((("race",), ("C",)),)
    assert found.vanished == ((("race",), ("B",)),)
    assert "Groups that appeared: race = C." in str(found)
    assert "Groups that vanished: race = B." in str(found)


def test_an_intersection_is_named_where_its_parts_were_there():
    before = crossed(["A", "B", "B", "A"] * 10, ["F", "F", "M", "M"] * 10)
    after = crossed(["A", "B", "B", "B"] * 10, ["F", "F", "M", "M"] * 10)
    found = eh.diff(before, after)
    assert found.vanished == ((("race", "sex"), ("A", "M")),)
    assert found.appeared == ()


def test_the_order_of_attributes_does_not_matter():
    race, sex = ["A", "B", "B", "A"] * 10, ["F", "F", "M", "M"] * 10
    roles = {"prediction": [1, 0] * 20, "metrics": ["demographic_parity"]}
    found = eh.diff(
        eh.audit(sensitive={"race": race, "sex": sex}, **roles), eh.audit(sensitive={"sex": sex, "race": race}, **roles)
    )
    assert (len(found.changes), found.only_before, found.appeared, found.vanished) == (3, (), (), ())


def test_an_attribute_of_one_audit_alone():
    race, sex = ["A", "B", "B", "A"] * 10, ["F", "F", "M", "M"] * 10
    roles = {"prediction": [1, 0] * 20, "metrics": ["demographic_parity"]}
    found = eh.diff(
        eh.audit(sensitive={"race": race}, **roles), eh.audit(sensitive={"race": race, "sex": sex}, **roles)
    )
    assert "Not in both audits, and so not compared: sex." in found.notes
    assert {finding.attributes for finding in found.only_after} == {("sex",), ("race", "sex")}
    assert found.appeared == ()


# --- what is said


def test_the_assumption_is_said():
    found = eh.diff(audited(**EVEN), audited(**GAP))
    assert "take the two audits as independent samples" in found.notes[0]
    assert found.notes[0] in str(found)


def test_what_is_not_alike_is_said():
    before = audited(policy=Policy(required="demographic_parity", thresholds={"demographic_parity": 0.2}), **GAP)
    after = audited(policy=Policy(required="demographic_parity", confidence=0.9), reference="a", **GAP)
    found = eh.diff(before, after)
    assert found.changes[0].notes == (
        "The threshold was 0.2 before and is 0.1 after.",
        "Groups were compared with extremes before and with a after.",
    )
    assert any("is 0.95 before and 0.9 after" in note for note in found.notes)
    assert found.confidence == 0.9
    one, other = (
        eh.audit(
            score=[0.1, 0.4, 0.6, 0.9] * 10, sensitive=["a", "b"] * 20, cutoff=cutoff, metrics=["demographic_parity"]
        )
        for cutoff in (0.5, 0.3)
    )
    assert any("cutoff is 0.5 here and 0.3 there" in note for note in eh.diff(one, other).notes)


def test_bands_that_were_cut_elsewhere():
    rng = np.random.default_rng(0)
    one, other = (
        eh.audit(prediction=rng.integers(0, 2, 300), sensitive={"age": rng.random(300)}, metrics=["demographic_parity"])
        for _ in range(2)
    )
    found = eh.diff(one, other)
    assert any("give the same bands=" in note for note in found.notes)
    assert len(found.appeared) == len(found.vanished) == 5


def test_text_leads_with_what_decides():
    found = eh.diff(audited(**EVEN), audited(**GAP))
    lines = str(found).splitlines()
    assert lines[0] == "Change: fail (something that decides got worse)"
    assert lines[1] == "4,000 people before, 4,000 after, independent samples; judged by demographic_parity"
    worse = "  sensitive: pass → fail. Worse, by more than noise. Demographic parity: the gap changed by +15.0 points"
    assert lines[2].startswith(worse)
    assert re.search(r"demographic_parity +0\.0 +15\.0 +15\.0 \[.*\] +worse +pass → fail", str(found))
    assert repr(found) == "<Changes: fail; 1 finding compared, 1 with another verdict>"


@hostile.every_name
def test_hostile_names(name):
    column = hostile.as_group(name)
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "metrics": ["demographic_parity"]}
    one = eh.audit(column, sensitive=hostile.GROUP, **roles)
    other = eh.audit(hostile.as_group(f"{name}x"), sensitive=hostile.GROUP, **roles)
    found = eh.diff(one, other)
    assert hostile.unseen(str(found)) == set()
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["vanished"] == [{"attributes": [hostile.GROUP], "group": [name]}]


# --- as data


@cache
def compas(cutoff: int) -> eh.Audit:
    roles = {"label": "recidivated", "score": "decile", "count": "count", "sensitive": ["race", "sex"]}
    return eh.audit(eh.datasets.compas(), **roles, cutoff=cutoff)


def test_as_a_dataframe_and_as_plain_data():
    found = eh.diff(compas(5), compas(8))
    frame = found.to_frame()
    assert len(frame) == len(found.changes) == len(compas(5).findings)
    assert list(frame.columns[:6]) == ["metric", "attributes", "judged_on", "before", "after", "change"]
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["format"], told["format_version"], told["verdict"]) == ("evenhand-diff", 1, "inconclusive")
    assert told["people"] == {"before": 7214, "after": 7214}
    assert told["changes"][0]["change"]["value"] == found.changes[0].change.value


def test_an_audit_does_not_differ_from_itself():
    found = eh.diff(compas(5), compas(5))
    assert found.verdict == "pass"
    assert {change.change.value for change in found.changes if change.change.defined} == {0.0}
    assert {change.tendency for change in found.changes} == {"unclear"}
    assert (found.appeared, found.vanished, found.only_before, found.only_after) == ((), (), (), ())
    assert "as before" in str(found.changes[0])


def test_from_files(tmp_path):
    for cutoff in (5, 8):
        compas(cutoff).save(tmp_path / f"{cutoff}.json")
    found = eh.diff(tmp_path / "5.json", str(tmp_path / "8.json"))
    assert str(found) == str(eh.diff(compas(5), compas(8)))
    with pytest.raises(DataError, match="there is no file"):
        eh.diff(tmp_path / "nothing.json", compas(5))
    with pytest.raises(CallError, match="after is of type int"):
        eh.diff(compas(5), 3)


@examples(15, phases=[Phase.generate])
@given(st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_there_and_back(numbers):
    one = audited(a=(numbers[0], 40), b=(numbers[1], 40))
    other = audited(a=(numbers[2], 40), b=(numbers[3], 40))
    there, back = eh.diff(one, other).changes[0], eh.diff(other, one).changes[0]
    assert there.change.value == pytest.approx(-back.change.value)
    assert {there.tendency, back.tendency} in ({"unclear"}, {"worse", "better"})


def test_a_full_audit_is_not_compared_with_one_to_share():
    full = audited(a=(500, 1000), b=(400, 1000), c=(300, 1000))
    with pytest.raises(CallError, match="made to be shared"):
        eh.diff(full, full.shared())
    assert eh.diff(full.shared(), full.shared()).changes
