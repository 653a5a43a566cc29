"""Rows that belong together: what a finding and an audit say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import CallError

Rows = dict[str, Any]


def people(clusters: int = 200, rows: int = 5, *, seed: int = 0, across: bool = False, alike: float = 0.8) -> Rows:
    """Decisions without a gap between two groups; `alike` is the share of rows that are decided as their cluster is."""
    random = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), rows)
    group = np.arange(len(cluster)) % 2 if across else cluster % 2
    same = random.random(len(cluster)) < alike
    chance = np.where(same, random.random(clusters)[cluster], random.random(len(cluster)))
    return {
        "prediction": (chance < 0.4).astype(int),
        "label": random.integers(0, 2, len(cluster)),
        "sensitive": np.array(["a", "b"])[group],
        "cluster": cluster,
    }


def without(rows: Rows, *names: str) -> Rows:
    return {name: values for name, values in rows.items() if name not in names}


def told(audit: eh.Audit) -> Any:
    return audit.to_dict()["findings"]


def test_rows_that_are_alike_are_worth_less() -> None:
    rows = without(people(), "label")
    apart, together = eh.demographic_parity(**without(rows, "cluster")), eh.demographic_parity(**rows)
    assert together.value.value == apart.value.value
    assert together.difference.high - together.difference.low > 1.5 * (apart.difference.high - apart.difference.low)
    assert together.p_value > apart.p_value


def test_groups_that_share_clusters_are_compared_within_them() -> None:
    rows = without(people(rows=4, across=True), "label")
    apart, together = eh.demographic_parity(**without(rows, "cluster")), eh.demographic_parity(**rows)
    assert together.difference.high < apart.difference.high, "what both groups have in common does not tell them apart"


def test_no_false_fails_where_five_rows_are_one_person() -> None:
    """Rows taken for strangers fail in about a third of these samples."""
    fails = apart = 0
    for seed in range(60):
        rows = without(people(100, 5, seed=seed, alike=1.0), "label")
        fails += eh.demographic_parity(**rows, threshold=0.0).verdict == "fail"
        apart += eh.demographic_parity(**without(rows, "cluster"), threshold=0.0).verdict == "fail"
    assert apart >= 10
    assert fails <= 8


def test_clusters_of_one_row_change_nothing() -> None:
    rows = people(1000, 1)
    one, other = eh.audit(**rows), eh.audit(**without(rows, "cluster"))
    assert told(one) == told(other)
    assert one.notes == other.notes


def test_clusters_of_one_weighted_row_change_nothing() -> None:
    rows = {**people(500, 1), "weight": np.random.default_rng(1).lognormal(size=500)}
    one, other = eh.audit(**rows), eh.audit(**without(rows, "cluster"))
    assert told(one) == told(other)


def test_the_order_and_the_names_of_clusters_do_not_matter() -> None:
    rows = people(across=True)
    order = np.random.default_rng(2).permutation(len(rows["label"]))
    shuffled = {name: values[order] for name, values in rows.items()}
    named = {**shuffled, "cluster": np.array([f"person {i}" for i in shuffled["cluster"]])}
    first, second = (eh.equalized_odds(**each) for each in (rows, named))
    assert second.value.low == pytest.approx(first.value.low, rel=1e-9)
    assert second.value.high == pytest.approx(first.value.high, rel=1e-9)


@pytest.mark.parametrize("reference", ["a", "rest", "overall", "highest"])
def test_groups_against_a_baseline(reference: str) -> None:
    rows = people(across=True)
    found = eh.demographic_parity(**without(rows, "label"), reference=reference)
    apart = eh.demographic_parity(**without(rows, "label", "cluster"), reference=reference)
    assert found.value.value == pytest.approx(apart.value.value)
    assert found.value.low is not None
    assert (found.value.low, found.value.high) != (apart.value.low, apart.value.high)
    tested = [row.p_value for row in found.rows if row.p_value is not None]
    assert tested
    assert all(0 < p <= 1 for p in tested)


def test_p_agrees_with_the_interval() -> None:
    for seed in range(20):
        found = eh.demographic_parity(**without(people(60, 5, seed=seed), "label"))
        assert (found.p_value < 0.05) == (found.difference.low > 0)


def test_fewer_than_thirty_clusters_never_pass() -> None:
    few = eh.demographic_parity(**without(people(58, 400, alike=0.0), "label"))
    enough = eh.demographic_parity(**without(people(60, 400, alike=0.0), "label"))
    assert (few.verdict, enough.verdict) == ("inconclusive", "pass")
    assert any("Fewer than 30 clusters of cluster: group a (29), group b (29)" in note for note in few.notes)


def test_what_rates_do_not_tell_has_its_value_alone() -> None:
    rows = people()
    scores = np.random.default_rng(3).random(len(rows["label"]))
    audit = eh.audit(**rows, score=scores, metrics="all")
    plain = eh.audit(**without(rows, "cluster"), score=scores, metrics="all")
    for name in ("auc_parity", "calibration", "mean_score_parity", "ks_distance", "theil_index", "maximal_correlation"):
        found = next(each for each in audit.findings if each.metric == name)
        known = next(each for each in plain.findings if each.metric == name)
        assert found.value.value == pytest.approx(known.value.value), name
        assert (found.value.low, found.p_value, found.verdict) == (None, None, "not judged"), name
        assert all(row.estimate is None or row.estimate.low is None for row in found.rows), name
        assert "interval" not in found.interpretation, name
        assert any("belong together" in note for note in found.notes), name
    table = audit.groups()
    low = dict(zip(table["measure"], table["low"], strict=True))
    assert np.isnan(low["auc"]) or low["auc"] is None


def test_a_pass_cannot_rest_on_what_clusters_do_not_cover() -> None:
    rows = people(400, 5, alike=0.0)
    scores = np.random.default_rng(3).random(len(rows["label"]))
    policy = eh.Policy(required=("auc_parity",))
    audit = eh.audit(**rows, score=scores, policy=policy)
    assert audit.verdict == "inconclusive"
    assert audit.left_out == ("auc_parity on sensitive, which clusters do not cover",)


def test_an_audit_says_how_many_clusters_there_are() -> None:
    audit = eh.audit(**people())
    assert any("1,000 rows in 200 clusters" in note for note in audit.notes)


def test_other_intervals_take_rows_for_strangers() -> None:
    with pytest.raises(CallError, match=r"'bca' takes rows for strangers.*leave interval= out"):
        eh.demographic_parity(**without(people(), "label"), interval="bca")


def test_strata_and_missing_labels() -> None:
    rows = people(300, 5)
    label = rows["label"].astype(object)
    label[(rows["prediction"] == 0) & (np.arange(len(label)) % 3 == 0)] = None
    control = np.array(["x", "y"])[rows["cluster"] // 7 % 2]
    found = eh.equalized_odds(**{**rows, "label": label}, control=control)
    plain = eh.equalized_odds(**{**without(rows, "cluster"), "label": label}, control=control)
    assert found.value.value == pytest.approx(plain.value.value)
    assert found.value.high > plain.value.high
    assert found.p_value is not None
    assert found.sensitivity is not None


def test_a_stratum_in_which_clusters_have_one_row_is_judged_as_the_others() -> None:
    rows = people(300, 2)
    control = np.where(rows["cluster"] % 3 == 0, np.arange(600) % 2, 0)
    found = eh.demographic_parity(**without(rows, "label"), control=control)
    assert found.value.low is not None
    assert found.p_value is not None


def test_several_classes() -> None:
    rows = people(300, 5)
    classes = np.array(["low", "high", "none"])
    random = np.random.default_rng(4)
    chosen = classes[np.where(random.random(1500) < 0.7, rows["cluster"] % 3, random.integers(0, 3, 1500))]
    labels = classes[random.integers(0, 3, 1500)]
    given = {"label": labels, "prediction": chosen, "sensitive": rows["sensitive"], "task": "multiclass"}
    together = eh.audit(**given, cluster=rows["cluster"])
    apart = eh.audit(**given)
    for mine, theirs in zip(together.findings, apart.findings, strict=True):
        assert mine.value.value == pytest.approx(theirs.value.value, nan_ok=True)
    accuracy = next(each for each in together.findings if each.metric == "overall_accuracy_equality")
    assert accuracy.value.low is not None


def test_a_page_cannot_move_the_cutoff() -> None:
    rows = people()
    scores = np.random.default_rng(3).random(len(rows["label"]))
    audit = eh.audit(**without(rows, "prediction"), score=scores, cutoff=0.5)
    assert audit.recomputation.page_data()["counts"] is None


def test_row_functions_are_not_judged() -> None:
    measure = eh.measure("hits", lambda label, prediction: float(np.mean(label == prediction)))
    found = eh.metric("own", measures=[measure])(**people())
    assert found.value.low is None
    assert found.verdict == "not judged"


def test_rows_of_weight_0_are_not_clusters() -> None:
    cluster = np.repeat(np.arange(60), 40)
    rows = {
        "prediction": np.tile([0, 1], 1200),
        "sensitive": np.tile(list("aabb"), 600),
        "cluster": cluster,
        "weight": (cluster < 29).astype(float),
    }
    inside = cluster < 29
    found, less = (eh.demographic_parity(**part) for part in (rows, {k: v[inside] for k, v in rows.items()}))
    assert (found.verdict, found.value.high) == (less.verdict, less.value.high) == ("inconclusive", 1.0)
    assert any("Fewer than 30 clusters" in note for note in found.notes)
    assert not any("rows like these" in note for note in found.notes)


def test_a_rate_of_few_clusters_does_not_pass() -> None:
    cluster = np.repeat(np.arange(60), 400)
    rows = {
        "prediction": np.tile([0, 1], 12000),
        "sensitive": np.tile(list("aabb"), 6000),
        "cluster": cluster,
        "label": (cluster < 20).astype(int),
    }
    found = eh.equal_opportunity(**rows)
    assert found.verdict == "inconclusive"
    assert any("group a (20), group b (20)" in note for note in found.notes)


def test_what_has_a_value_alone_tells_on_how_many_rows() -> None:
    rows = people()
    scores = np.random.default_rng(3).random(len(rows["label"]))
    given = {**without(rows, "prediction"), "score": scores}
    together, apart = eh.auc_parity(**given), eh.auc_parity(**without(given, "cluster"))
    assert [row.n for row in together.rows] == [row.n for row in apart.rows]


@pytest.mark.parametrize("reference", ["a", "rest"])
def test_p_against_a_baseline_agrees_with_the_interval(reference: str) -> None:
    for seed in range(20):
        rows = without(people(100, 5, seed=seed), "label")
        rows["sensitive"] = np.array(list("abc"))[rows["cluster"] % 3]
        found = eh.demographic_parity(**rows, reference=reference)
        excludes = found.difference.low > 0 or found.difference.high < 0
        assert (found.p_value < 0.05) == excludes, seed


def test_the_standardised_gap_is_no_less_sure_than_the_strata() -> None:
    random = np.random.default_rng(5)
    cluster = np.repeat(np.arange(60), 20)
    group, control = random.integers(0, 2, 1200), random.integers(0, 2, 1200)
    mood = np.where(random.random(1200) < 0.8, random.random(60)[cluster], random.random(1200))
    found = eh.demographic_parity(
        prediction=(mood < 0.5 + 0.3 * (group == 0)).astype(int), sensitive=group, control=control, cluster=cluster
    )
    row = next(row for row in found.rows if row.measure == "standardised_gap")
    assert row.difference is not None
    assert row.difference.low is not None
    assert row.difference.low > 0.08


def test_an_audit_against_its_own_file_is_against_itself(tmp_path: Any) -> None:
    audit = eh.audit(**people())
    audit.save(tmp_path / "a.json")
    changes = eh.diff(audit, eh.Audit.load(tmp_path / "a.json"))
    assert changes.same_people
