"""Who others are measured by, what a pass leaves out, and how many findings share the error of a fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

import evenhand as eh
from evenhand.inference import critical, simultaneous
from evenhand.inference.spread import PLAIN, Proportions
from evenhand.verdicts.policy import Policy


def selected(**groups: tuple[int, int]) -> dict:
    """Decisions: so many selected of so many people, by group."""
    decision = [int(i < k) for k, n in groups.values() for i in range(n)]
    return {"prediction": decision, "sensitive": {"g": [name for name, (_, n) in groups.items() for _ in range(n)]}}


INTERVALS = ("simultaneous", "percentile", "basic", "bca", "bayes", "newcombe", "wilson")


# --- yardsticks


@pytest.mark.parametrize("interval", INTERVALS)
def test_three_people_who_are_all_selected_measure_nobody(interval):
    audit = eh.audit(**selected(A=(400, 1000), B=(390, 1000), C=(3, 3)), policy="four-fifths", interval=interval)
    finding = audit.findings[0]
    assert (finding.highest, finding.lowest) == ("A", "B")
    assert finding.ratio.value == pytest.approx(0.975)
    assert finding.verdict == "pass"
    assert finding.left_out == ("C",)
    assert "of a group large enough to measure others by: g = B 0.97 (39.0 %), g = C 2.50 (100.0 %)" in " ".join(
        finding.notes
    )
    shown = next(row for row in finding.groups if row.group == ("C",))
    assert shown.ratio.value == pytest.approx(2.5)
    assert shown.against == "A"


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_group_with_a_small_share_can_still_fail(interval):
    data = selected(A=(4000, 10_000), B=(3900, 10_000), C=(60, 300))
    finding = eh.audit(**data, policy="four-fifths", interval=interval).findings[0]
    assert (finding.highest, finding.lowest, finding.verdict) == ("A", "C", "fail")


def test_the_share_decides_too_and_only_against_the_highest():
    data = selected(A=(400, 1000), B=(390, 1000), C=(30, 30))
    assert eh.disparate_impact(**data).highest == "C"
    assert eh.disparate_impact(**data, reference="highest").highest == "C"
    strict = Policy(reference="highest", min_reference_share=0.02)
    assert eh.audit(**data, policy=strict, metrics=["disparate_impact"]).findings[0].highest == "A"
    assert eh.audit(**data, policy=eh.Policy.named("fair-lending").updated(on="all")).findings[0].highest == "A"
    local_law = eh.Policy.named("nyc-ll144").updated(min_group_share=0)
    assert eh.audit(**data, policy=local_law).findings[0].highest == "C"


def test_where_nobody_is_large_enough_the_highest_of_all_is_taken_and_nothing_passes():
    finding = eh.audit(**selected(A=(4, 10), C=(5, 10)), policy="four-fifths").findings[0]
    assert (finding.highest, finding.ratio.value, finding.verdict) == ("C", pytest.approx(0.8), "inconclusive")


def test_a_yardstick_below_everyone_leaves_it_open():
    finding = eh.audit(**selected(A=(400, 1000), C=(10, 10)), policy="four-fifths").findings[0]
    assert finding.ratio.value == pytest.approx(2.5)
    assert finding.verdict == "inconclusive"


@given(counts=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=2, max_size=6))
def test_the_gap_is_that_of_brute_force(counts):
    counts = [(min(k, n), n) for k, n in counts]
    data = selected(**{f"g{i}": pair for i, pair in enumerate(counts)})
    finding = eh.demographic_parity(**data, reference="highest")
    rates = [k / n for k, n in counts]
    able = [i for i, (_, n) in enumerate(counts) if n >= 30] or range(len(counts))
    top = max(able, key=lambda i: rates[i])
    others = [rates[i] for i in range(len(counts)) if i != top]
    assert finding.difference.value == pytest.approx(rates[top] - min(others))


# --- what a pass leaves out


def test_a_pass_that_leaves_groups_out_says_so_with_the_verdict():
    data = selected(A=(4000, 10_000), B=(3990, 10_000), C=(9, 20))
    audit = eh.audit(**data)
    assert audit.verdict == "pass"
    assert str(audit).splitlines()[0].endswith("(passed: demographic_parity on g (leaving out g = C))")
    strict = eh.audit(**data, policy=Policy(small_groups="inconclusive"))
    assert strict.verdict == "inconclusive"
    assert eh.audit(**selected(A=(40, 100), B=(4000, 10_000)), policy=Policy(small_groups="inconclusive", thresholds={
        "demographic_parity": 0.2})).verdict == "pass"  # fmt: skip


@pytest.mark.parametrize("reference", ["A", "rest", "overall", "highest"])
@pytest.mark.parametrize("interval", INTERVALS)
def test_small_groups_leave_a_pass_open_however_it_is_asked(reference, interval):
    data = selected(A=(4000, 10_000), B=(3990, 10_000), C=(8, 20))
    for small, verdict in (("note", "pass"), ("inconclusive", "inconclusive")):
        policy = Policy(small_groups=small, thresholds={"demographic_parity": 0.3}, interval=interval)
        finding = eh.audit(**data, reference=reference, policy=policy, metrics=["demographic_parity"]).findings[0]
        assert finding.verdict == verdict or (finding.verdict == "inconclusive" and small == "note"), finding
        assert finding.left_out == ("C",)


# --- families


def test_near_ends_share_and_far_ends_take_what_is_left():
    spread = [Proportions(np.array([30.0, 60.0, 45.0]), np.array([100.0, 120.0, 110.0]), PLAIN)]
    usable = np.ones((1, 3), dtype=bool)
    alone = simultaneous.between_extremes(spread, usable, 0.95)
    shared = simultaneous.between_extremes(spread, usable, 0.95, near=critical.shared(0.95, 6))
    assert shared.difference[0] < alone.difference[0]
    assert shared.difference[1] < alone.difference[1]
    q = critical.tukey(3, 1 - 0.05 / 6)
    assert norm.sf(critical.one_sided(q, 0.95)) + norm.sf(q) == pytest.approx(0.05)


@pytest.mark.parametrize(
    "metric",
    ["ks_distance", "wasserstein_distance", "mean_score_parity", "demographic_parity", "differential_fairness"],
)
def test_every_kind_of_finding_shares(metric):
    rng = np.random.default_rng(5)
    sensitive = {"g": rng.choice(["a", "b"], 3000), "h": rng.choice(["u", "v"], 3000)}
    score = np.clip(rng.normal(0.4 + 0.15 * (sensitive["g"] == "a"), 0.15), 0, 1)
    roles = {"score": score, "cutoff": 0.5, "sensitive": sensitive, "metrics": [metric], "intersections": False}
    limits = {metric: 0.01}
    shared = eh.audit(**roles, policy=Policy(thresholds=limits)).findings[0]
    alone = eh.audit(**roles, policy=Policy(thresholds=limits, familywise="finding")).findings[0]
    assert (shared.settings["family"], alone.settings["family"]) == (2, 1)
    assert shared.value.low < alone.value.low
    assert shared.value.high <= alone.value.high


@pytest.mark.parametrize("family", [1, 3, 6])
def test_each_interval_still_covers_and_a_fail_of_any_is_rare(family):
    """Two groups, exactly, at the threshold: the interval holds the truth, and any of `family` fails in 5 %."""
    n, rates = 200, (0.5, 0.4)
    counts = [np.arange(n + 1.0) for _ in rates]
    chance = np.outer(*(binom.pmf(k, n, p) for k, p in zip(counts, rates, strict=True)))
    covered = failed = 0.0
    for i, j in zip(*np.nonzero(chance > 1e-7), strict=True):
        spread = [Proportions(np.array([counts[0][i], counts[1][j]]), np.array([n, n], dtype=float), PLAIN)]
        ends = simultaneous.between_extremes(
            spread, np.ones((1, 2), dtype=bool), 0.95, near=critical.shared(0.95, family)
        ).difference
        covered += chance[i, j] * (ends[0] <= 0.1 <= ends[1])
        failed += chance[i, j] * (ends[0] > 0.1)
    assert covered >= 0.945
    assert 1 - (1 - failed) ** family <= 0.05


# --- ratios near 1


def test_four_fifths_of_everybody_is_seldom_a_pass():
    """30 people who are always selected beside 20,000 at 80 %: exactly, how often does a ratio of .8 pass?"""
    n = 20_000
    k = np.arange(15_600, 16_401)
    chance = binom.pmf(k, n, 0.8)
    wrong = covered = 0.0
    for one, p in zip(k, chance, strict=True):
        spread = [Proportions(np.array([30.0, one]), np.array([30.0, n]), PLAIN)]
        low, high = simultaneous.between_extremes(spread, np.ones((1, 2), dtype=bool), 0.95).ratio
        wrong += p * (low >= 0.8)
        covered += p * (low <= 0.8 <= high)
    assert wrong <= 0.05
    assert covered >= 0.94


def test_a_ratio_is_centred_at_the_rates_but_at_zero():
    spread = Proportions(np.array([0.0, 30.0, 12.0]), np.array([30.0, 30.0, 40.0]), PLAIN)
    assert spread.centre[1:] == pytest.approx([1.0, 0.3])
    assert 0 < spread.centre[0] < 0.02


@pytest.mark.parametrize("metric", ["disparate_impact", "demographic_parity"])
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("selected_of_a", [0, 4000, 5900])
def test_a_yardstick_that_nobody_measures_neither_passes_nor_fails(metric, interval, selected_of_a):
    """100 people are 1 % of all, too few to measure the others by, and the others are too high to be below them."""
    policy = Policy(reference="highest", min_reference_share=0.02, interval=interval)
    data = selected(A=(selected_of_a, 10_000), C=(60, 100))
    finding = eh.audit(**data, policy=policy, metrics=[metric]).findings[0]
    assert finding.verdict == "inconclusive", finding


def test_which_of_two_equal_groups_is_highest_is_not_left_to_rounding():
    """Weighted AUCs of 2/3 that differ in the last digit."""
    label, group = [0, 0, 0, 0, 0, 1, 1], ["a", "b", "a", "b", "a", "a", "b"]
    score = [0.03125, 0.21875, 0.03125, 0.03125, 0.21875, 0.125, 0.125]
    weighted = eh.auc_parity(label=label, score=score, sensitive=group, weight=[1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
    assert (weighted.highest, weighted.lowest, weighted.difference.value) == ("a", "b", 0.0)
