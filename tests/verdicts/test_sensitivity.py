"""What is missing could hide: bounds contain the truth, and tipping points stand where verdicts turn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.core import records
from evenhand.core.sensitivity import Sensitivity
from evenhand.report.results import findings_data
from evenhand.report.text import Screen
from evenhand.report.text.details import plain
from evenhand.verdicts.sensitivity import first_turn, mislabelled, tilted

PLAIN = {"metrics": ["equalized_odds"], "policy": eh.Policy(missing_labels="ignore", min_group_size=5)}

Table = dict[str, dict[tuple[int | None, int], float]]
"""By group: how many people have a label (None is missing) and a decision."""


def judged(table: Table, *, weights: bool = False, **arguments: Any) -> eh.Finding:
    """The finding of a table; with `weights` each number is the weight of a few people and not their count."""
    rows = [(group or None, *key, number) for group, cells in table.items() for key, number in cells.items() if number]
    group, label, decision, number = (list(part) for part in zip(*rows, strict=True))
    sizes = {"weight": number} if weights else {"count": number}
    roles = {"label": label, "prediction": decision, "sensitive": {"g": group}, **sizes}
    return eh.audit(**roles, **{**PLAIN, **arguments}).findings[0]


def completed(table: Table, odds: dict[str, float]) -> Table:
    """Written again as weights of single people: the labelled stand for the unlabelled with the same decision."""
    rows: Table = {}
    for group, cells in table.items():
        rows[group] = {}
        for decision in (0, 1):
            positive, negative, lost = (cells.get((label, decision), 0) for label in (1, 0, None))
            share = odds[group] * positive / (odds[group] * positive + negative)
            rows[group][1, decision] = (positive + lost * share) / positive
            rows[group][0, decision] = (negative + lost * (1 - share)) / negative
    return rows


def by_rows(table: Table, odds: dict[str, float]) -> str:
    """The verdict, from a row for each labelled person with the weight of those for whom the person stands."""
    factors = completed(table, odds)
    rows = [
        (group, label, decision, factors[group][label, decision])
        for group, cells in table.items()
        for (label, decision), number in cells.items()
        if label is not None
        for _ in range(int(number))
    ]
    group, label, decision, weight = (list(part) for part in zip(*rows, strict=True))
    found = eh.audit(label=label, prediction=decision, sensitive={"g": group}, weight=weight, **PLAIN).findings[0]
    return found.verdict


def small(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    cells = {}
    for name in "ab":
        base = {(0, 0): 700, (0, 1): 200, (1, 0): 150, (1, 1): 450}
        cells[name] = {key: float(rng.poisson(number)) for key, number in base.items()}
        cells[name] |= {(None, 0): float(rng.integers(50, 400)), (None, 1): float(rng.integers(10, 60))}
    return cells


@pytest.mark.parametrize("seed", range(4))
def test_the_odds_ratio_is_where_the_verdict_turns(seed: int) -> None:
    table = small(seed)
    found = judged(table).sensitivity
    assert found is not None
    ratio, group = found.odds_ratio_one, found.odds_ratio_group[0]
    assert ratio is not None

    def at(odds: float, who: str) -> set[str]:
        return {by_rows(table, {name: odds**sign if name == who else 1.0 for name in "ab"}) for sign in (1, -1)}

    assert at(ratio * (1 + 1e-6), str(group)) != {found.verdict}
    for odds in [*np.linspace(1, ratio, 8)[:-1], ratio * (1 - 1e-6)]:
        assert {verdict for who in "ab" for verdict in at(float(odds), who)} == {found.verdict}


@pytest.mark.parametrize("seed", range(3))
def test_the_odds_ratio_of_all_groups(seed: int) -> None:
    table = small(seed)
    table["b"][None, 0] = 3000.0  # b alone has so many unlabelled that one ratio in both groups moves them apart
    found = judged(table).sensitivity
    assert found is not None
    ratio = found.odds_ratio
    assert ratio is not None

    def at(odds: float) -> set[str]:
        return {by_rows(table, dict.fromkeys("ab", odds**sign)) for sign in (1, -1)}

    if ratio > 1:
        assert at(ratio * (1 + 1e-6)) != {found.verdict}
        assert all(at(float(odds)) == {found.verdict} for odds in [*np.linspace(1, ratio, 8)[:-1], ratio * (1 - 1e-6)])
    else:
        assert at(1.0) != {found.verdict}


def many() -> Table:
    """So many people that a share can be told to one in a million."""
    a = {(0, 0): 7e6, (0, 1): 2e6, (1, 0): 2e6, (1, 1): 4e6}
    b = {(0, 0): 7e6, (0, 1): 2e6, (1, 0): 1.9e6, (1, 1): 4e6}
    return {"a": a, "b": b, "": {(0, 0): 0, (0, 1): 1e6, (1, 0): 3e6, (1, 1): 1e6}}


def test_the_share_of_people_without_a_group_is_where_the_verdict_turns() -> None:
    table = many()
    found = judged(table).sensitivity
    assert found is not None
    share, group = found.group_share, found.group_share_group[0]
    assert share is not None

    def at(part: float, who: str) -> str:
        moved = {name: dict(cells) for name, cells in table.items()}
        for key, number in table[""].items():
            moved[who][key] += round(part * number)
            moved[""][key] -= round(part * number)
        return judged(moved).verdict

    assert at(share + 1e-6, str(group)) != found.verdict
    assert {at(part, who) for who in "ab" for part in (0, share / 2, share - 1e-6)} == {found.verdict}


def test_label_errors_hold_up_to_their_limit() -> None:
    table = {name: cells for name, cells in many().items() if name}
    found = judged(table).sensitivity
    assert found is not None
    assert not found.missing
    assert found.sentences == ()
    assert [each.group for each in found.label_errors] == [(), ("a",), ("b",)]

    def at(error: float, who: tuple[str, ...], negative: float, positive: float) -> str:
        turned = {name: dict(cells) for name, cells in table.items()}
        for name in who:
            for decision in (0, 1):
                up, down = (
                    round(error * part * table[name][label, decision]) for label, part in ((0, negative), (1, positive))
                )
                turned[name][1, decision] += up - down
                turned[name][0, decision] += down - up
        return judged(turned).verdict

    for each in found.label_errors:
        who = tuple(str(name) for name in each.group) or ("a", "b")
        for name, kind in (("negative", (1, 0)), ("positive", (0, 1)), ("both", (1, 1))):
            limit = getattr(each, name)
            assert at((limit or 0.5) * 0.999, who, *kind) == found.verdict
            if limit is not None:
                assert at(limit * 1.001, who, *kind) != found.verdict


@pytest.mark.parametrize("reference", [None, "a", "rest", "overall"])
@pytest.mark.parametrize("judged_on", ["difference", "ratio"])
def test_bounds_contain_the_gap_of_everyone(reference: str | None, judged_on: str) -> None:
    rng = np.random.default_rng(5)
    for metric in ("equalized_odds", "average_odds", "predictive_parity", "balanced_accuracy_equality"):
        for _ in range(4):
            size = 400
            group, label, decision = rng.choice(list("abc"), size), rng.integers(0, 2, size), rng.integers(0, 2, size)
            seen = np.where(rng.random(size) < 0.3 * (1 - decision), np.nan, label)
            known = np.where(rng.random(size) < 0.1, None, group.astype(object))
            policy = eh.Policy(judged_on={metric: judged_on}, thresholds={metric: None})
            given = {"prediction": decision, "metrics": [metric], "policy": policy, "reference": reference}
            part = eh.audit(label=seen, sensitive={"g": group}, **given).findings[0].sensitivity
            true = eh.audit(label=label, sensitive={"g": group}, **given).findings[0]
            other = eh.audit(label=label, sensitive={"g": known}, **given).findings[0].sensitivity
            assert part is not None
            assert other is not None
            gap = true.extremes.value
            gap = min(gap, 1 / gap) if judged_on == "ratio" else abs(gap)
            assert bool(part.by_labels) == (metric != "predictive_parity")  # every selected person has a label
            for bound in [part.gap_by_labels] * bool(part.by_labels) + [other.gap_by_groups]:
                assert bound.low is not None
                assert bound.high is not None
                assert bound.low - 1e-9 <= gap <= bound.high + 1e-9
                assert bound.low <= bound.value <= bound.high
            values = {(row.measure, row.group): row.estimate for row in true.groups}
            for row in (*part.by_labels, *other.by_groups):
                estimate, full = row.estimate, values[row.measure, row.group]
                assert estimate is not None
                assert full is not None
                assert (estimate.low or 0) - 1e-9 <= full.value <= (estimate.high or 0) + 1e-9


@pytest.mark.parametrize("reference", ["overall", "rest", "a"])
@pytest.mark.parametrize("judged_on", ["difference", "ratio"])
@pytest.mark.parametrize("metric", ["equalized_odds", "average_odds"])
def test_who_has_no_value_yet_does_not_narrow_the_bounds_of_a_gap(reference: str, judged_on: str, metric: str) -> None:
    """Nobody of c has a negative label, and the missing one may be positive: then nobody of c is compared."""
    people = [("a", 1, 1, 50), ("a", 1, 0, 40), ("a", 0, 1, 30), ("a", 0, 0, 60), ("b", 1, 1, 40), ("b", 1, 0, 50),
              ("b", 0, 1, 32), ("b", 0, 0, 58), ("c", 1, 1, 1), ("c", 1, 0, 1), ("c", None, 1, 1)]  # fmt: skip
    group, label, decision, count = (list(part) for part in zip(*people, strict=True))
    roles = {"prediction": decision, "sensitive": group, "count": count, "reference": reference, "judged_on": judged_on}
    call = getattr(eh, metric)
    found = call(label=label, **roles, threshold=None).sensitivity.gap_by_labels
    known = call(label=[1 if each is None else each for each in label], **roles, threshold=None).extremes.value
    known = min(known, 1 / known) if judged_on == "ratio" else abs(known)
    assert found.low <= found.value <= found.high
    assert found.low - 1e-9 <= known <= found.high + 1e-9


@pytest.mark.parametrize("judged_on", ["difference", "ratio"])
def test_bounds_of_a_gap_between_those_who_have_a_value_in_any_case(judged_on: str) -> None:
    """The one person of c has a true positive rate only if the missing label is positive; b has one in any case."""
    people = [("a", 1, 1, 42), ("a", 1, 0, 14), ("a", 0, 0, 11), ("a", 0, 1, 57), ("a", None, 0, 76), ("b", 1, 1, 1),
              ("b", None, 0, 1), ("c", None, 0, 1)]  # fmt: skip
    group, label, decision, count = (list(part) for part in zip(*people, strict=True))
    roles = {"prediction": decision, "sensitive": group, "count": count, "judged_on": judged_on, "threshold": None}
    found = eh.equal_opportunity(label=label, **roles).sensitivity.gap_by_labels
    for missing in (0, 1):
        known = eh.equal_opportunity(label=[missing if each is None else each for each in label], **roles).value.value
        assert found.low - 1e-9 <= known <= found.high + 1e-9


def test_where_nothing_is_missing_nothing_is_said() -> None:
    table = {name: cells for name, cells in many().items() if name}
    found = judged(table)
    assert found.sensitivity is not None
    assert not found.sensitivity.missing
    assert "hatever" not in str(eh.audit(label=[1, 0] * 50, prediction=[1, 0] * 50, sensitive=list("ab") * 50))


def test_text_markdown_page_and_json_have_the_lines(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    label, decision = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    audit = eh.audit(
        label=np.where((decision == 0) & (rng.random(600) < 0.3), np.nan, label),
        prediction=decision,
        sensitive={"g": rng.choice([1, 2, None], 600)},
        control=rng.integers(0, 2, 600),
    )
    found = audit.findings[0].sensitivity
    assert found is not None
    assert len(found.sentences) == 3
    lines = plain(audit, Screen(80)).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any("Whatever the missing labels are" in line for line in lines)
    for suffix in ("md", "json"):
        audit.save(tmp_path / f"a.{suffix}")
        assert "Whatever the missing labels are" in (tmp_path / f"a.{suffix}").read_text(encoding="utf-8")
    assert set(found.sentences) < set(findings_data(audit, curves=False)[0][0]["notes"])
    saved = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert all((each["sensitivity"] is not None) == each["required"] for each in saved["findings"])
    assert records.read(Sensitivity, saved["findings"][0]["sensitivity"]) == found
    assert eh.Audit.load(tmp_path / "a.json").findings[0].sensitivity == found


def test_a_finding_without_a_threshold_has_bounds_and_no_tipping_point() -> None:
    table = small(0)
    found = judged(table, policy=eh.Policy(thresholds={"equalized_odds": None})).sensitivity
    assert found is not None
    assert found.verdict == "not judged"
    assert not found.searched
    assert found.by_labels
    assert (found.odds_ratio, found.odds_ratio_one, found.label_errors) == (None, None, ())


@pytest.mark.parametrize(
    "change",
    [
        {"label": [None] * 60},
        {"prediction": [1] * 60},
        {"prediction": None},
        {"label": None},
        {"weight": [0.0, 1e6, 1.0] * 20},
        {"sensitive": ["1"] + ["2"] * 59},
        {"sensitive": [1, 2.5, None] * 20},
        {"count": [1] * 60},
    ],
)
def test_odd_tables_have_a_sensitivity_or_none(change: dict[str, Any]) -> None:
    data: dict[str, Any] = {
        "label": [1, 0, None] * 20,
        "prediction": [1, 0, 1, 0, 0, 1] * 10,
        "sensitive": ["a", "b", "c", None] * 15,
        **change,
    }
    for metric in ("equalized_odds", "demographic_parity", "base_rate_parity", "treatment_equality"):
        try:
            audit = eh.audit(**{name: part for name, part in data.items() if part is not None}, metrics=[metric])
        except eh.errors.EvenhandError:
            continue
        for finding in audit.findings:
            found = finding.sensitivity
            assert found is None or 0 <= found.unlabelled <= 1


def test_where_nobody_refused_has_a_label_no_odds_ratio_is_told() -> None:
    table: Table = {name: {(0, 1): 50, (1, 1): 450, (None, 0): 500} for name in "ab"}
    found = judged(table).sensitivity
    assert found is not None
    assert found.unseen == (("a",), ("b",))
    assert (found.odds_ratio, found.odds_ratio_one) == (None, None)
    assert "Nobody with one of the decisions has a label in g = a, g = b" in found.sentences[0]
    assert len(found.sentences) == 1


def test_of_many_groups_only_the_bounds_are_told() -> None:
    rng = np.random.default_rng(0)
    label = np.where(rng.random(4000) < 0.2, np.nan, rng.integers(0, 2, 4000))
    found = eh.equalized_odds(
        label=label, prediction=rng.integers(0, 2, 4000), sensitive=np.arange(4000) % 20
    ).sensitivity
    assert found is not None
    assert not found.searched
    assert found.sentences[0].startswith("Whatever the missing labels are, the gap lies between")
    assert "turns" not in " ".join(found.sentences)
    assert found.sentences[1].startswith(
        "What it would take for another verdict is not looked for: there are more than 12"
    )


def test_labels_that_are_missing_by_score_are_told() -> None:
    rng = np.random.default_rng(0)
    score, sensitive = rng.random(2000), rng.choice(["a", "b"], 2000)
    label = np.where(rng.random(2000) < score, 1.0, 0.0)

    def told(name: str, labels: Any) -> list[str]:
        found = getattr(eh, name)(score=score, label=labels, sensitive=sensitive)
        return [note for note in found.notes if note.startswith("Labels are missing")]

    by_score, at_random = (np.where(lost, np.nan, label) for lost in (score < 0.3, rng.random(2000) < 0.3))
    for name in ("auc_parity", "calibration", "brier_score_parity", "balance_for_positive_class"):
        (note,) = told(name, by_score)
        assert note.startswith("Labels are missing for 6")
        assert "and 0.0% of the upper half in group" in note
        assert len(told(name, at_random)) == 1
        assert told(name, label) == []
    assert told("mean_score_parity", by_score) == []


def test_a_verdict_that_turns_at_once_is_found_in_few_steps() -> None:
    seen = []
    assert first_turn(lambda x: not (seen.append(x) or x > 0), 0.0, [1.0]) == pytest.approx(0, abs=1e-9)
    assert len(seen) < 40


def test_what_is_not_made_of_decisions_has_none() -> None:
    assert eh.mean_score_parity(score=[0.1, 0.4, 0.3, 0.8] * 20, sensitive=["a", "b"] * 40).sensitivity is None
    assert eh.theil_index(label=[0, 1] * 40, prediction=[1, 1] * 40, sensitive=["a", "b"] * 40).sensitivity is None


def test_tilting_keeps_everyone_and_by_one_the_shares() -> None:
    counts = np.array([[[60.0, 20, 0], [30, 40, 0], [10, 5, 0]]])
    mass, squares = tilted(counts, counts, np.array([1.0]))
    np.testing.assert_allclose(mass.sum(axis=1), counts.sum(axis=1))
    np.testing.assert_allclose(mass[0, 1, 0] / mass[0, :2, 0].sum(), 30 / 90)
    np.testing.assert_allclose(squares[0, 0, 0], 60 * (100 / 90) ** 2)
    assert (tilted(counts, counts, np.array([1e9]))[0][0, 1, :2] > [39.9, 44.9]).all()


def test_labels_turned_round() -> None:
    turned = mislabelled(np.array([[[100.0, 50], [20, 10], [5, 5]]]), np.array([0.1]), np.array([0.5]))
    assert turned.tolist() == [[[100, 50], [20, 10], [5, 5]]]
    assert mislabelled(turned, np.array([0.2]), np.array([0.0])).tolist() == [[[80, 40], [40, 20], [5, 5]]]


def test_the_first_turn() -> None:
    assert first_turn(lambda x: x < 0.25 or x > 0.5, 0.0, [0.1, 0.3, 1.0]) == pytest.approx(0.25, abs=1e-7)
    assert first_turn(lambda x: x > 0, 0.0, [1.0]) == 0
    assert first_turn(lambda _: True, 0.0, [1.0]) is None
