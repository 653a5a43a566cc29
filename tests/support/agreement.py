"""Findings set against the oracle: how random people are handed to a metric, and which numbers must agree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

import evenhand as eh
from evenhand.catalogue import METRICS, Metric
from support import oracle
from support.oracle import BINS, People

Task = Literal["binary", "multiclass", "regression"]
How = Literal["plain", "weight", "count", "repeated"]
Compared = Iterator[tuple[str, float, float]]

CLASSES = ("p", "q", "r")
GROUPS = ("a", "b", "c", "d")
STRATA = ("x", "y")
SCORES = tuple((3 * i + 1) / 32 for i in range(10))  # ten, which dependence does not join; sums of these are exact
PREDICTED = (-2.25, -1.0, 0.5, 1.0, 1.75, 2.5, 4.0)
OUTCOMES = (-3.0, -1.5, -0.25, 0.5, 1.25, 2.0, 3.5, 5.0)
BANDS = (-3.0, 0.0, 1.5, 5.0)
REFERENCES = (None, "a", "rest", "overall", "largest", "highest")
ELSEWHERE = (
    "conditional_demographic_disparity",
    "bias_amplification",
    "true_negative_rate_parity",
    "informedness_parity",
    "positive_likelihood_ratio_parity",
    "negative_likelihood_ratio_parity",
    "average_predictive_value",
    "markedness_parity",
    "conditional_acceptance_parity",
    "conditional_rejection_parity",
    "f1_parity",
    "threat_score_parity",
    "matthews_correlation_parity",
    "atkinson_index",
    "average_precision_parity",
    "separation_information",
    "sufficiency_information",
    "mean_absolute_percentage_error_parity",
    "weighted_absolute_percentage_error_parity",
    "standardized_mean_difference",
    "pooled_standardized_mean_difference",
    "standardized_prediction_difference",
    "pooled_standardized_prediction_difference",
    "standardized_residual_difference",
    "pooled_standardized_residual_difference",
    "impact_ratio_by_quantile",
    "impact_ratio_by_class",
    "practical_disparity",
    "gini_parity",
    "ordered_gini_parity",
    "calibration_slope_parity",
    "calibration_intercept_parity",
    "calibration_in_the_large_parity",
    "net_benefit_parity",
    "actual_to_expected_parity",
)
"""Metrics that the oracle does not know: tests/measures/test_lending.py, tests/measures/test_combinations.py and
tests/cases/test_known.py compare their values with other libraries."""
CASES = [(name, task) for name, entry in METRICS.items() if name not in ELSEWHERE for task in sorted(entry.tasks)]
"""Every other metric that is computed from counts, with each task that it is for."""

LIKELIHOOD = (
    "mutual_information"  # its value depends on how many people there are, by design; what is observed does not
)
LEAST_IN_BIN = "maximum_calibration_error_parity"  # leaves out bins of fewer than ten people, however heavy they are


def random_people(random: np.random.Generator, task: Task, least: int = 8, most: int = 40) -> People:
    """Rows that hold at least two groups, one of them "a"."""
    n = int(random.integers(least, most))
    group = random.choice(GROUPS[: int(random.integers(2, 5))], n)
    group[:2] = GROUPS[:2]
    columns = {"group": group, "stratum": random.choice(STRATA, n)}
    if task == "regression":
        columns |= {"label": random.choice(OUTCOMES, n), "prediction": random.choice(PREDICTED, n)}
    elif task == "multiclass":
        columns |= {name: random.choice(CLASSES, n) for name in ("label", "prediction")}
    else:
        columns |= {name: random.integers(0, 2, n) for name in ("label", "prediction")}
        columns["score"] = random.choice(SCORES, n)
    return People(columns, np.ones(n))


def dense(people: People) -> People:
    """Each row ten times, so that no bin is too thin; the weights of the ten differ."""
    ten = people.take(np.repeat(np.arange(len(people)), 10))
    return ten.weighing(ten.weight * (1 + np.arange(len(ten)) % 3))


def ask(name: str, people: People, task: Task, how: How, *, against: str | None = None, strata: bool = False) -> Any:
    """The finding of a metric on people whose weights are handed over in one way or another."""
    entry = METRICS[name]
    if how == "repeated":
        people = people.take(np.repeat(np.arange(len(people)), people.weight.astype(int)))
    roles: dict[str, Any] = {"label": people["label"], "prediction": people["prediction"]}
    if "score" in people.columns and (entry.needs & {"score"} or entry.family == "dependence"):
        roles = {"label": people["label"], "score": people["score"], "bins": BINS}
    if task != "binary":
        roles["task"] = task
    if task == "regression":
        roles["bands"] = {"label": BANDS}
    if how in ("weight", "count"):
        roles[how] = people.weight if how == "weight" else people.weight.astype(int)
    if strata:
        roles["control"] = {"stratum": people["stratum"]}
    if entry.binned:
        roles["min_bin"] = 1
    if entry.judged_on != "value":
        roles["reference"] = against
    if against == "highest":  # who others are measured by must be large enough, and that counts people, not weights
        roles["min_group_size"] = 1
    return getattr(eh, name)(sensitive={"group": people["group"]}, **roles)


def compared(name: str, finding: eh.Finding, people: People, task: Task, against: str | None = None) -> Compared:
    """What, our number and that of the oracle, for every number of a finding that the oracle knows."""
    entry = METRICS[name]
    if against == "largest" and entry.index is None:  # of two that weigh the same, either
        against = str(finding.settings["against"])
        yield "the weight of the largest group", people.group(against).weight.sum(), people.heaviest
    if entry.index is not None:
        yield from _of_index(entry, finding, people, task)
        return
    for row in finding.rows:
        value = _value(row, entry, people, task)
        if value is None or row.estimate is None:
            continue
        whole = people.take(people["stratum"] == row.stratum[0]) if row.stratum else people
        mine = value(whole.group(row.group[0]), whole)
        what = f"{row.measure} {row.of_class or ''} {row.bin or ''} of {row.group} in {row.stratum}"
        yield what, row.estimate.value, mine
        yield from _against(what, row, mine, value, whole, against)


def _against(what: str, row: eh.Row, mine: float, value: oracle.Value, whole: People, against: str | None) -> Compared:
    if row.difference is None or against in (None, "highest"):
        return
    other = whole.against(row.group[0], against)
    if other is None:
        return
    base = value(other, whole)
    yield f"{what}, against {against}", row.difference.value, mine - base
    if mine > 0 and base > 0 and row.ratio is not None:
        yield f"{what}, as a ratio to {against}", row.ratio.value, mine / base


def _value(row: eh.Row, entry: Metric, people: People, task: Task) -> oracle.Value | None:
    """The oracle of a row; None for rows that say how far groups lie apart."""
    if not row.group:
        return None
    if entry.binned:
        if row.bin is None:
            return None
        return oracle.in_bin(row.bin, 5.0 if task == "regression" else 1.0, task)
    known = {**oracle.CELLS, **oracle.SCORES, **(oracle.NUMBERS if task == "regression" else {})}
    if task != "multiclass":
        return known.get(row.measure)
    seen = sorted(set(people["label"].tolist()) | set(people["prediction"].tolist()))
    if row.of_class is not None:
        one = known[row.measure]
        return lambda mine, everyone: one(mine.of_class(row.of_class), everyone.of_class(row.of_class))
    if row.measure in ("accuracy", "error_rate"):
        return known[row.measure]
    if row.measure == "balanced_accuracy":
        return oracle.macro(known["true_positive_rate"], seen)
    measure = row.measure.removeprefix("macro_")
    return oracle.macro(known[measure], seen) if row.measure.startswith("macro_") else None


def _of_index(entry: Metric, finding: eh.Finding, people: People, task: Task) -> Compared:
    name, of = entry.name, "prediction" if task == "regression" else "score"
    pairs = {"ks_distance": oracle.ks, "wasserstein_distance": oracle.wasserstein}
    if name in pairs or name in ("abroca", "cross_group_auc"):
        each = {"abroca": oracle.abroca, "cross_group_auc": oracle.cross_auc}
        values = pairs[name](people, of) if name in pairs else each[name](people)
        rows = {(row.group[0], row.against): row.estimate.value for row in finding.rows if row.estimate is not None}
        yield from ((f"{name} of {pair}", rows[pair], values[pair]) for pair in values)
        largest = np.nanmax(list(values.values())) if not np.isnan(list(values.values())).all() else math.nan
        if name == "cross_group_auc":
            largest -= np.nanmin(list(values.values())) if not math.isnan(largest) else math.nan
            largest = largest if np.isfinite(list(values.values())).sum() > 1 else math.nan
        yield name, finding.value.value, largest
    elif name in ("regression_demographic_parity", "bounded_group_loss"):
        by_group = (oracle.shift if name == "regression_demographic_parity" else oracle.bounded_group_loss)(people)
        rows = {row.group[0]: row.estimate.value for row in finding.rows if row.group and row.estimate is not None}
        yield from ((f"{name} of {group}", rows[group], by_group[group]) for group in by_group)
        yield name, finding.value.value, max(by_group.values())
    elif name in ("maximal_correlation", "mutual_information"):
        expected = getattr(oracle, name)(people, of)
        yield name, finding.rows[0].estimate.value, expected  # type: ignore[union-attr]
    elif name == "robust_outcome_test":
        values = oracle.robust_outcome_test(people)
        rows = {(row.group[0], row.against): row.estimate.value for row in finding.rows if row.estimate is not None}
        yield from ((f"{name} of {pair}", rows.get(pair, math.nan), values[pair]) for pair in values)
        known = [value for value in values.values() if not math.isnan(value)]
        yield name, finding.value.value, max(known, default=math.nan)
    elif name == "differential_fairness":
        yield name, finding.value.value, oracle.differential_fairness(people)
    else:
        yield name, finding.value.value, oracle.inequality(people, name)
        for row in finding.rows:
            if row.group and row.estimate is not None:
                yield f"{name} of {row.group}", row.estimate.value, oracle.inequality(people.group(row.group[0]), name)


def close(ours: float, theirs: float) -> bool:
    """Equal to 1e-9 of the value, and of 1 for values near 0; or both undefined."""
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


def numbers(finding: eh.Finding, *, ends: bool) -> dict[tuple[Any, ...], float]:
    """Every number of a finding by where it stands; with `ends` also the intervals, the p-values and people."""
    found: dict[tuple[Any, ...], float] = {}

    def put(where: tuple[Any, ...], estimate: eh.Estimate | None) -> None:
        if estimate is not None:
            parts = {"value": estimate.value} | ({"low": estimate.low, "high": estimate.high} if ends else {})
            found.update({(*where, part): math.nan if end is None else end for part, end in parts.items()})

    for kind in ("difference", "ratio"):
        put(("the finding", kind), getattr(finding, kind))
    if ends or finding.metric != LIKELIHOOD:
        # Against a baseline the value is that of the group on which the verdict rests, which intervals choose.
        put(("the finding",), finding.value if ends else finding.extremes)
    for row in finding.rows:
        if row.measure == "mean_under_independence" and not ends:
            continue
        where = (row.measure, row.group, row.stratum, row.bin, row.of_class)
        for kind in ("estimate", "difference", "ratio"):
            put((*where, kind, row.against), getattr(row, kind))
        if ends:
            found |= {(*where, name): getattr(row, name) or 0.0 for name in ("n", "p_value", "p_adjusted")}
    if ends:
        found["p_value",] = finding.p_value or 0.0
    return found


def differences(one: eh.Finding, other: eh.Finding, *, ends: bool) -> list[tuple[Any, float, float]]:
    """Where two findings differ by more than 1e-9."""
    first, second = numbers(one, ends=ends), numbers(other, ends=ends)
    if first.keys() != second.keys():
        return [(key, math.nan, math.nan) for key in first.keys() ^ second.keys()]
    return [(key, first[key], second[key]) for key in first if not _same(key, first[key], second[key])]


def _same(key: tuple[Any, ...], one: float, other: float) -> bool:
    """Equal; or, of the farthest group, the same distance on the other side: of two groups each is the other's rest."""
    if close(one, other):
        return True
    return (
        key[0] == "the finding"
        and key[-1] == "value"
        and (close(one, -other) or (other != 0 and close(one, 1 / other)))
    )
