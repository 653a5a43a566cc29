"""What always holds, whatever the numbers: of cubes, measures, comparisons, indices and verdicts."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.catalogue import METRICS
from evenhand.measures import cells as measures
from evenhand.measures import entropy
from support.profiles import examples
from support.strategies import Table, any_tables, cubes, scaled, several_cubes, tables

DECIDED = {name: entry for name, entry in METRICS.items() if "score" not in entry.needs and "binary" in entry.tasks}
COMPARED = [name for name, entry in DECIDED.items() if entry.judged_on != "value"]
INDEX = [name for name, entry in DECIDED.items() if entry.judged_on == "value"]
COMPLEMENTS = (
    ("true_positive_rate", "false_negative_rate"),
    ("true_negative_rate", "false_positive_rate"),
    ("positive_predictive_value", "false_discovery_rate"),
    ("negative_predictive_value", "false_omission_rate"),
    ("accuracy", "error_rate"),
)
FEW = examples(35)
FEW_AUDITS = examples(10)  # each is some hundred findings

COUNTING = ("differential_fairness", "mutual_information", "separation_information", "sufficiency_information")
"""Indices that look at how many people there are: smoothed by a few, or less what chance adds."""
SIGNED = ("bias_amplification",)
"""Indices with a side: a model may also make less of a difference than its data."""


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def gaps(finding: eh.Finding) -> tuple[float, float]:
    return finding.difference.value, finding.ratio.value


# --- cubes


@given(any_tables())
def test_a_cube_counts_every_person_once(table):
    cube = table.cube()
    assert cube.size == (len(table) if table.count is None else sum(table.count))
    assert cube.counts.sum() == cube.size
    seen = zip(table.pairs(), table.count or (1,) * len(table), strict=True)
    assert set(cube.pairs) == {pair for pair, people in seen if people}
    if table.weight is not None:
        total = sum(w * c for w, c in zip(table.weight, table.count or (1,) * len(table), strict=True))
        assert math.isclose(cube.w.sum(), total)


@given(any_tables(attributes=3))
def test_marginals_sum(table):
    cube = table.cube()
    for size in (1, 2, 3):
        for attributes in itertools.combinations(table.sensitive, size):
            part = cube.marginal(attributes)
            assert part.meaning.sensitive == attributes
            assert np.array_equal(part.n.sum(axis=0), cube.n.sum(axis=0))
            kept = {name: table.sensitive[name] for name in attributes}
            assert part == replace(table, sensitive=kept).cube(), "counting fewer attributes is the marginal"
    flat = cube.marginal(control=False)
    assert flat.meaning.control == ()
    assert flat == replace(table, control={}).cube()


@given(cubes(attributes=3))
def test_a_marginal_of_a_marginal_is_the_marginal(cube):
    assert cube.marginal(("race", "sex")).marginal(("sex",)) == cube.marginal(("sex",))
    assert cube.marginal(("sex",)).marginal(control=False) == cube.marginal(control=False).marginal(("sex",))


@given(several_cubes(many=3))
def test_cubes_add_in_any_order(three):
    a, b, c = three
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + b + c == eh.Cube.merge(three)
    assert (a + b).size == a.size + b.size


@given(any_tables(), st.data())
def test_chunks_add_up_to_the_whole(table, data):
    inside = data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    parts = [table.take([i for i, taken in enumerate(inside) if taken == side]) for side in (True, False)]
    parts = [part for part in parts if len(part) and (part.count is None or any(part.count))]
    assert eh.Cube.merge([part.cube() for part in parts]) == table.cube()


@given(several_cubes(many=2))
def test_adding_and_taking_a_marginal_commute(two):
    a, b = two
    first = a.meaning.sensitive[:1]
    assert (a + b).marginal(first) == a.marginal(first) + b.marginal(first)


@given(any_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    assert table.take(order).cube() == table.cube()


@FEW
@given(cube=cubes())
def test_a_saved_cube_is_the_same_cube(cube, tmp_path_factory):
    path = tmp_path_factory.mktemp("cubes") / "one.cube"
    cube.save(path)
    assert eh.Cube.load(path) == cube


# --- measures


@given(any_tables(), st.integers(2, 10**6))
def test_more_of_everyone_changes_no_rate(table, factor):
    before, after = table.cube(), scaled(table, factor).cube()
    assert np.array_equal(after.n, factor * before.n)
    ours, theirs = before.measures(), after.measures()
    for name, values in ours.items():
        expected = factor * values if measures.MEASURES[name].unit == "number" else values
        assert np.allclose(theirs[name], expected, rtol=1e-12, equal_nan=True), name


@FEW_AUDITS
@given(tables(counts=True, attributes=2), st.sampled_from((10**9, 10**12)))
def test_a_trillion_people_do_not_overflow(table, factor):
    cube = scaled(table, factor).cube()
    assert cube.size == factor * sum(table.count)
    assert (cube.n >= 0).all()
    one, many = (each.audit(metrics="all") for each in (table.cube(), cube))
    for before, after in zip(one.findings, many.findings, strict=True):
        # Its rates are smoothed by a fixed number of people; less is taken off for chance where there are more.
        if before.metric not in COUNTING:
            assert same(float(before), float(after)), before.metric
    assert (cube + cube).size == 2 * cube.size


@given(cubes())
def test_complements_and_ranges(cube):
    values = cube.measures()
    for one, other in COMPLEMENTS:
        assert np.array_equal(np.isnan(values[one]), np.isnan(values[other])), (one, other)
        assert np.allclose(values[one] + values[other], 1, equal_nan=True) or np.isnan(values[one]).any()
        defined = ~np.isnan(values[one])
        assert np.allclose((values[one] + values[other])[defined], 1)
    for name, column in values.items():
        if measures.MEASURES[name].unit == "rate":
            defined = column[~np.isnan(column)]
            assert ((defined >= 0) & (defined <= 1 + 1e-12)).all(), name
    assert np.allclose(np.nansum(values["selected_share"]), 1) or np.isnan(values["selected_share"]).all()


@given(cubes())
def test_a_value_is_undefined_exactly_where_nothing_stands_below_it(cube):
    values = cube.measures()
    for name, column in values.items():
        row = measures.MEASURES[name]
        if row.share or not (row.denominator or row.of):
            continue
        assert np.array_equal(np.isnan(column), measures.support(cube.counts, row) == 0), name


# --- comparisons


@pytest.mark.parametrize("metric", COMPARED)
@FEW
@given(table=any_tables(controls=0))
def test_between_extremes_a_difference_is_not_negative_and_a_ratio_at_most_1(metric, table):
    found = getattr(eh, metric)(**table.roles)
    difference, ratio = gaps(found)
    assert math.isnan(difference) or difference >= 0
    assert math.isnan(ratio) or 0 <= ratio <= 1
    if difference == 0:
        assert ratio == 1 or math.isnan(ratio)
    assert found.value.value == (ratio if found.judged_on == "ratio" else difference) or math.isnan(float(found))
    undefined = [row for row in found.groups if not row.estimate.defined]
    assert all(row.reason for row in undefined)
    assert all(row.reason is None for row in found.groups if row.estimate.defined)


@given(tables(attributes=1, weights=True, missing_labels=True), st.sampled_from(("selection_rate", "accuracy")))
def test_against_a_reference_two_groups_are_antisymmetric(table, measure):
    two = table.take([i for i, group in enumerate(table.groups()) if group[0] in ("Asian", "Black")])
    assume(any(label is not None for label in two.label))
    metric = eh.metric("gap", measures=measure)
    one, other = (metric(**two.roles, reference=name) for name in ("Asian", "Black"))
    assert same(one.difference.value, -other.difference.value)
    extremes = metric(**two.roles)
    assert same(abs(one.difference.value), extremes.difference.value)
    if not math.isnan(one.ratio.value) and one.ratio.value > 0 and math.isfinite(one.ratio.value):
        assert same(one.ratio.value, 1 / other.ratio.value)


@given(tables(attributes=1, weights=True, complete=True))
def test_two_groups_against_the_rest_are_against_each_other(table):
    two = table.take([i for i, group in enumerate(table.groups()) if group[0] in ("Asian", "Black")])
    rows = {row.group: row for row in eh.demographic_parity(**two.roles, reference="rest").groups}
    against = {row.group: row for row in eh.demographic_parity(**two.roles, reference="Black").groups}
    assert same(rows[("Asian",)].difference.value, against[("Asian",)].difference.value)


@given(any_tables())
def test_equalized_odds_is_the_worst_of_its_parts(table):
    whole = eh.equalized_odds(**table.roles)
    parts = [eh.equal_opportunity(**table.roles), eh.predictive_equality(**table.roles)]
    differences = [part.difference.value for part in parts if part.difference.defined]
    ratios = [eh.equal_opportunity_ratio(**table.roles), eh.predictive_equality_ratio(**table.roles)]
    known = [float(part) for part in ratios if part.value.defined]
    assert same(float(whole), max(differences, default=math.nan))
    assert same(float(eh.equalized_odds_ratio(**table.roles)), min(known, default=math.nan))


@given(tables(attributes=st.integers(1, 2), weights=True, counts=True, complete=True))
def test_the_mean_of_odds_lies_between_its_parts(table):
    parts = sorted(float(function(**table.roles)) for function in (eh.equal_opportunity, eh.predictive_equality))
    assert parts[0] - 1e-12 <= float(eh.average_odds(**table.roles)) <= parts[1] + 1e-12


@given(tables(weights=True, complete=True), st.sampled_from(("selection_rate", "true_positive_rate")))
def test_nobody_is_farther_from_everyone_than_the_extremes_are_apart(table, measure):
    metric = eh.metric("gap", measures=measure)
    assert abs(metric(**table.roles, reference="overall").difference.value) <= float(metric(**table.roles)) + 1e-12


# --- names


@FEW_AUDITS
@given(table=any_tables(missing_groups=False), data=st.data())
def test_renaming_groups_renames_findings_and_nothing_else(table, data):
    """Also: the order of groups follows their names, and nothing else follows the order."""
    names = {}
    for attribute, column in table.sensitive.items():
        values = sorted(set(column))
        shuffled = data.draw(st.permutations([f"{attribute}{i}" for i in range(len(values))]))
        names[attribute] = dict(zip(values, shuffled, strict=True))
    renamed = {name: tuple(names[name][value] for value in column) for name, column in table.sensitive.items()}
    cubes = table.cube(), replace(table, sensitive=renamed).cube()
    before, after = (cube.audit(metrics="all") for cube in cubes)
    assert before.verdict == after.verdict
    assert len(before.notes) == len(after.notes)
    for one, other in zip(before.findings, after.findings, strict=True):
        assert (one.metric, one.attributes, one.verdict, one.passes) == (
            other.metric,
            other.attributes,
            other.verdict,
            other.passes,
        )
        assert same(float(one), float(other)), one.metric
        rates = {
            (row.measure, row.stratum, _rename(row.group, one.attributes, names)): (row.n, row.estimate.value)
            for row in one.groups
        }
        others = {(row.measure, row.stratum, row.group): (row.n, row.estimate.value) for row in other.groups}
        assert rates.keys() == others.keys()
        assert all(rates[key][0] == others[key][0] and same(rates[key][1], others[key][1]) for key in rates)


def _rename(group, attributes, names):
    return tuple(names[name][value] for name, value in zip(attributes, group, strict=True)) if group else group


# --- indices


@pytest.mark.parametrize("alpha", [1, 2])
@given(table=any_tables(controls=0))
def test_generalised_entropy_is_within_plus_between(alpha, table):
    cube = table.cube()
    index = entropy.generalized_entropy(cube.cells, alpha=alpha)
    cells = cube.cells[:, :4]  # TN FP FN TP
    people, benefit = cells.sum(axis=1), cells @ np.array([1.0, 2.0, 0.0, 1.0])
    if benefit.sum() == 0:
        assert math.isnan(index.value)
        return
    mean = benefit.sum() / people.sum()
    held = benefit > 0  # a group in which nobody has a benefit adds nothing within
    share = people[held] / people.sum()
    within = (share * (benefit[held] / people[held] / mean) ** alpha * index.by_group[held]).sum()
    between = dict(index.parts)["between_groups"]
    assert math.isclose(index.value, within + between, rel_tol=1e-9, abs_tol=1e-12)
    assert index.value >= -1e-12
    assert -1e-12 <= between <= index.value + 1e-12


@pytest.mark.parametrize("metric", INDEX)
@FEW
@given(table=any_tables())
def test_an_index_is_not_negative_and_repeats_no_matter_how_often(metric, table):
    found = getattr(eh, metric)(**table.roles)
    assert math.isnan(float(found)) or float(found) >= -1e-12 or metric in SIGNED
    if metric not in COUNTING:
        assert same(float(found), float(getattr(eh, metric)(**scaled(table, 7).roles)))


# --- verdicts and outputs

ORDER = {True: 0, False: 1}


@pytest.mark.parametrize("name", ["demographic_parity", "equalized_odds", "disparate_impact", "treatment_equality"])
@FEW
@given(table=any_tables(), limits=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_passes_is_monotone_in_the_threshold(name, table, limits):
    metric = getattr(eh, name)
    on_ratio = METRICS[name].judged_on == "ratio"
    limits = sorted(limits, reverse=not on_ratio)  # from lenient to strict
    found = [metric(**table.roles, threshold=limit) for limit in limits]
    answers = [finding.passes for finding in found]
    if None in answers:
        assert set(answers) == {None}
        return
    assert answers == sorted(answers, key=ORDER.get)
    assert len({float(finding) for finding in found}) == 1
    exact = metric(**table.roles, threshold=min(abs(float(found[0])), 1 if on_ratio else math.inf))
    assert exact.passes, "a value at the threshold is within it"


@FEW_AUDITS
@given(any_tables(), st.sampled_from((None, "overall", "rest", "largest")))
def test_the_json_of_an_audit_has_no_nan_and_no_infinity(table: Table, reference):
    audit = table.cube().audit(reference=reference)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = json.dumps(audit.to_dict(), allow_nan=False)
    again = json.loads(text, parse_constant=refuse)
    for finding in again["findings"]:
        for row in finding["rows"]:
            if "group" in row and row.get("estimate", {"value": 0})["value"] is None:
                assert row["reason"], row


@pytest.mark.parametrize("metric", [name for name in INDEX if name not in ("differential_fairness", *SIGNED)])
def test_an_undefined_index_says_why_in_every_row(metric):
    found = getattr(eh, metric)(label=[1, 1], prediction=[0, 0], sensitive=["a", "b"])
    assert not found.value.defined
    assert all(row.reason for row in found.groups)


@FEW_AUDITS
@given(any_tables())
def test_an_audit_judges_by_what_its_policy_requires(table):
    audit = table.cube().audit(metrics="all")
    deciding = [finding.verdict for finding in audit.findings if audit.decides(finding)]
    assert {finding.metric for finding in audit.findings if audit.decides(finding)} == set(audit.required)
    expected = next((verdict for verdict in ("fail", "inconclusive", "pass") if verdict in deciding), "not judged")
    assert audit.verdict == expected
    small = table.cube().audit(min_group_size=10**9)
    assert "pass" not in {finding.verdict for finding in small.findings if finding.judged_on != "value"}
