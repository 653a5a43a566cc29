"""The same numbers as fairlearn and scikit-learn, on random tables.

Where those tools answer 0 for a rate that has no denominator, ours is undefined and says why. So a comparison is
made over the groups in which the rate exists; leaving the others out changes nothing for fairlearn, because rows
that are not in the denominator of a rate count for nothing in the overall rate either.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import evenhand as eh
from conftest import require
from evenhand.core.results import spell
from evenhand.measures.cells import evaluate, find_cell_measure
from support.profiles import examples
from support.strategies import Table, any_tables, tables

try:
    import fairlearn.metrics as fairlearn
    import pandas as pd
    import sklearn.metrics as sklearn
except ImportError as error:
    require(str(error.name), False, "the other tools are compared with only where they are installed")

many = examples(200)
each_of_several = examples(100)  # of a test that runs for several measures: at least 200 together
METHODS = ("between_groups", "to_overall")
AGGREGATES = {"worst_case": "worst", "mean": "mean"}
OURS = {"between_groups": {}, "to_overall": {"reference": "overall"}}

# What fairlearn and scikit-learn call each of our measures, with 0 for what is undefined.
PEERS = {
    "selection_rate": fairlearn.selection_rate,
    "true_positive_rate": fairlearn.true_positive_rate,
    "true_negative_rate": fairlearn.true_negative_rate,
    "false_positive_rate": fairlearn.false_positive_rate,
    "false_negative_rate": fairlearn.false_negative_rate,
    "accuracy": sklearn.accuracy_score,
    "error_rate": sklearn.zero_one_loss,
    "balanced_accuracy": sklearn.balanced_accuracy_score,
    "positive_predictive_value": lambda y, d, sample_weight=None: sklearn.precision_score(
        y, d, sample_weight=sample_weight, zero_division=0
    ),
    "negative_predictive_value": lambda y, d, sample_weight=None: sklearn.precision_score(
        y, d, sample_weight=sample_weight, zero_division=0, pos_label=0
    ),
    "f1": lambda y, d, sample_weight=None: sklearn.f1_score(y, d, sample_weight=sample_weight, zero_division=0),
    "base_rate": lambda y, d, sample_weight=None: fairlearn.selection_rate(d, y, sample_weight=sample_weight),
}
COMPLEMENTS = {
    "positive_predictive_value": "false_discovery_rate",
    "negative_predictive_value": "false_omission_rate",
}
RATES = ("selection_rate", "positive_predictive_value", "f1")


def same(ours: float, theirs: float) -> bool:
    return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


def frame(table: Table, *names: str) -> Any:
    """fairlearn's MetricFrame of our measures. An undefined rate makes scikit-learn warn; that is no failure here."""
    params = {} if table.weight is None else {"sample_weight": list(table.weight)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fairlearn.MetricFrame(
            metrics={name: PEERS[name] for name in names},
            y_true=table.label,
            y_pred=table.prediction,
            sensitive_features=pd.DataFrame(table.sensitive),
            control_features=pd.DataFrame(table.control) if table.control else None,
            sample_params=dict.fromkeys(names, params),
        )


def direct(name: str, table: Table, method: str, **arguments: Any) -> float:
    """One of fairlearn's own functions, such as demographic_parity_ratio."""
    return getattr(fairlearn, name)(
        table.label,
        table.prediction,
        sensitive_features=pd.DataFrame(table.sensitive),
        sample_weight=table.weight,
        method=method,
        **arguments,
    )


def defined(table: Table, measure: str) -> Table:
    """Only the rows of those pairs of stratum and group in which the measure has a value."""
    cube = table.cube()
    values = cube.measures([measure])[measure]
    there = {pair for pair, value in zip(cube.pairs, values, strict=True) if not math.isnan(value)}
    return table.take([i for i, pair in enumerate(table.pairs()) if pair in there])


def gap_of(measure: str) -> Any:
    """A metric that compares one measure, so that every measure is seen through the rows of a finding."""
    return eh.metric(f"{measure}_gap", measures=measure)


# A MetricFrame takes 20 to 100 ms, most of it for each group: the tables that it sees have few rows and so few groups.
weighted = st.booleans().flatmap(lambda weights: tables(attributes=st.integers(1, 3), weights=weights, max_rows=30))
small = st.booleans().flatmap(lambda weights: tables(attributes=st.integers(1, 3), weights=weights, max_rows=10))
complete = st.booleans().flatmap(lambda weights: tables(weights=weights, complete=True, max_rows=8))
kinds = st.sampled_from(("difference", "ratio"))


@many
@given(weighted)
def test_confusion_matrix_and_counts_by_group(table):
    cube = table.cube()
    rows = defaultdict(list)
    for i, group in enumerate(table.groups()):
        rows[group].append(i)
    assert set(cube.groups) == set(rows)
    for (_, group), counts, cells in zip(cube.pairs, cube.counts, cube.cells, strict=True):
        part = table.take(rows[group])
        matrix = sklearn.confusion_matrix(part.label, part.prediction, labels=[0, 1])
        assert counts[:4].tolist() == matrix.ravel().tolist()
        assert not counts[4:].any()
        if table.weight is not None:
            mass = sklearn.confusion_matrix(part.label, part.prediction, labels=[0, 1], sample_weight=part.weight)
            assert np.allclose(cells[:4], mass.ravel(), rtol=1e-12, atol=0)


@many
@given(small, st.sets(st.sampled_from(sorted(PEERS)), min_size=2, max_size=3))
def test_measures_by_group(table, measures):
    theirs = frame(table, *measures).by_group
    cube = table.cube()
    ours = cube.measures()
    for j, (_, group) in enumerate(cube.pairs):
        row = theirs.loc[group if len(group) > 1 else group[0]]
        for name in measures:
            assert math.isnan(ours[name][j]) or same(ours[name][j], row[name]), (name, group)
            other = ours[COMPLEMENTS.get(name, name)][j]
            assert math.isnan(other) or same(other, 1 - row[name] if name in COMPLEMENTS else row[name]), (name, group)


@many
@given(weighted, st.sampled_from(sorted(PEERS)))
def test_an_undefined_rate_is_nan_with_a_reason_and_never_0(table, measure):
    """A rate is undefined exactly where the rows it is made of are absent; scikit-learn says 0 there, or warns."""
    needs = {
        "true_positive_rate": [("label", 1)],
        "false_negative_rate": [("label", 1)],
        "true_negative_rate": [("label", 0)],
        "false_positive_rate": [("label", 0)],
        "balanced_accuracy": [("label", 0), ("label", 1)],
        "positive_predictive_value": [("prediction", 1)],
        "negative_predictive_value": [("prediction", 0)],
    }.get(measure, [])
    finding = gap_of(measure)(**table.roles)
    assert len(finding.groups) == len(set(table.groups()))
    for row in finding.groups:
        part = table.take([i for i, group in enumerate(table.groups()) if group == row.group])
        exists = all(value in getattr(part, role) for role, value in needs)
        if measure == "f1":
            exists = 1 in part.label or 1 in part.prediction
        assert row.estimate.defined == exists
        assert (row.reason is None) == exists
        if not exists:
            assert row.reason.startswith("no ")
            assert row.reason.endswith(f"among {spell(row.group, finding.attributes)}")
            assert row.reason in " ".join(finding.notes) or "more" in " ".join(finding.notes)


@pytest.mark.parametrize("measure", RATES)
@each_of_several
@given(table=small)
def test_difference_and_ratio_between_groups_and_to_overall(table, measure):
    metric = gap_of(measure)
    usable = defined(table, measure)
    if not len(usable):
        assert math.isnan(metric(**table.roles).difference.value)
        return
    theirs = frame(usable, measure)
    for method in METHODS:
        ours = metric(**table.roles, **OURS[method], convention="fairlearn")
        if method == "between_groups" and len(set(usable.groups())) < 2:
            # fairlearn says that one group alone is 0 away from itself.
            assert math.isnan(ours.difference.value)
            assert math.isnan(ours.ratio.value)
            continue
        assert same(ours.difference.value, theirs.difference(method=method)[measure]), method
        assert same(ours.ratio.value, theirs.ratio(method=method)[measure]), method


@many
@given(
    table=st.booleans().flatmap(lambda weights: tables(controls=1, weights=weights, max_rows=14)),
    measure=st.sampled_from(("selection_rate", "true_positive_rate")),
)
def test_within_strata_of_a_control_feature(table, measure):
    metric = gap_of(measure)
    usable = defined(table, measure)
    groups = defaultdict(set)
    for (stratum,), group in usable.pairs():
        groups[stratum].add(group)
    theirs = frame(usable, measure) if len(usable) else None
    for method in METHODS:
        ours = metric(**table.roles, **OURS[method], convention="fairlearn")
        within = {row.stratum[0]: row for row in ours.rows if row.estimate is None and row.measure == metric.__name__}
        assert set(within) == set(table.control["region"])
        for stratum, row in within.items():
            if len(groups[stratum]) < (2 if method == "between_groups" else 1):
                assert math.isnan(row.difference.value)
                continue
            assert same(row.difference.value, theirs.difference(method=method)[measure][stratum]), method
            assert same(row.ratio.value, theirs.ratio(method=method)[measure][stratum]), method
        differences = [row.difference.value for row in within.values() if row.difference.defined]
        assert same(ours.difference.value, max(differences, default=math.nan)), "the worst stratum speaks"


@pytest.mark.parametrize("metric", ["demographic_parity", "equal_opportunity"])
@each_of_several
@given(table=complete, method=st.sampled_from(METHODS), kind=kinds)
def test_functions_of_one_measure(table, metric, method, kind):
    name = f"{metric}_{kind}"
    ours = getattr(eh, name)(**table.roles, **OURS[method], convention="fairlearn")
    assert ours.judged_on == kind
    assert same(float(ours), direct(name, table, method))


@pytest.mark.parametrize(
    ("method", "agg"),
    [
        ("between_groups", "worst_case"),
        ("between_groups", "mean"),
        ("to_overall", "worst_case"),
        pytest.param(
            "to_overall",
            "mean",
        ),
    ],
)
@settings(each_of_several, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(table=complete, kind=kinds)
def test_equalized_odds(table, method, agg, kind):
    name = f"equalized_odds_{kind}"
    ours = getattr(eh, name)(**table.roles, **OURS[method], convention="fairlearn", aggregate=AGGREGATES[agg])
    assert same(float(ours), direct(name, table, method, agg=agg))


@many
@given(small)
def test_equalized_odds_where_some_rates_are_undefined(table):
    parts = []
    for measure in ("true_positive_rate", "false_positive_rate"):
        usable = defined(table, measure)
        if len(set(usable.groups())) >= 2:
            parts.append(frame(usable, measure))
    ours = eh.equalized_odds(**table.roles)
    assert same(ours.difference.value, max((part.difference().iloc[0] for part in parts), default=math.nan))
    ratios = [ratio for part in parts if not math.isnan(ratio := part.ratio().iloc[0])]
    assert same(ours.ratio.value, min(ratios, default=math.nan))


@many
@given(tables(attributes=st.integers(1, 2), missing_groups=True, weights=True, max_rows=20))
def test_rows_without_a_group_are_shown_and_not_judged(table):
    """fairlearn drops them without a word; the numbers that are judged are the same."""
    known = table.take([i for i, group in enumerate(table.groups()) if None not in group])
    theirs = frame(known, "selection_rate")
    ours = eh.demographic_parity(**table.roles)
    assert same(ours.difference.value, theirs.difference()["selection_rate"])
    assert {row.group for row in ours.groups} == set(table.groups())
    for method in METHODS:
        dropped = eh.demographic_parity(**table.roles, **OURS[method], missing="drop", convention="fairlearn")
        assert same(dropped.difference.value, theirs.difference(method=method)["selection_rate"])
        assert same(dropped.ratio.value, theirs.ratio(method=method)["selection_rate"])


@many
@given(tables(attributes=2, counts=True, max_rows=20))
def test_a_count_is_that_many_rows_and_a_weight_in_fairlearn(table):
    repeated = replace(table, count=None).take([i for i, times in enumerate(table.count) for _ in range(times)])
    assert table.cube().pairs == repeated.cube().pairs
    assert np.array_equal(table.cube().n, repeated.cube().n)
    seen = [i for i, times in enumerate(table.count) if times]
    as_weights = replace(table, weight=table.count, count=None).take(seen)
    theirs = frame(as_weights, "selection_rate")
    ours = eh.demographic_parity(**table.roles)
    assert same(ours.difference.value, theirs.difference()["selection_rate"])
    assert same(ours.ratio.value, theirs.ratio()["selection_rate"])


@many
@given(any_tables(missing_groups=False, missing_labels=False, counts=False, controls=0))
def test_the_overall_of_a_cube_is_the_measure_of_everyone(table):
    """Every measure that is a function of sums: the marginal over all attributes against scikit-learn on all rows."""
    cells = table.cube().cells.sum(axis=0)
    everyone = evaluate(cells[None, :], [find_cell_measure(name) for name in PEERS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in PEERS.items():
            ours = float(everyone[name][0])
            theirs = function(table.label, table.prediction, sample_weight=table.weight)
            assert math.isnan(ours) or same(ours, theirs), name
