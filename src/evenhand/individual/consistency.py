"""Individual fairness, the public functions: `consistency` of decisions, `lipschitz` of scores, `worst_pairs`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from evenhand.core import frames, wording
from evenhand.core.arguments import checked
from evenhand.core.arrays import ColumnLike, ColumnsLike, DataLike
from evenhand.core.quantities import check_whole, number, shown
from evenhand.core.results import Caller, Estimate, Finding, Panel, Row, figure, spell
from evenhand.errors import CallError, Problems, check_kind
from evenhand.individual import jackknife, shares
from evenhand.individual.cohort import Cohort, SimilarityOptions, read_cohort
from evenhand.individual.pairs import KNearest
from evenhand.individual.shares import Agreement, Figures, Treatment
from evenhand.individual.worst_pairs import Pair
from evenhand.inference import simultaneous
from evenhand.sources.documentation import documented
from evenhand.verdicts import policy_file
from evenhand.verdicts.finding import on_value, row_finding
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request

_MOST_PAIRS = 1000  # that are shown
_MOST_FEATURES = 12  # columns of features in the table of the worst pairs


@documented
@checked
def consistency(
    X: DataLike,
    *,
    prediction: ColumnLike,
    sensitive: ColumnsLike | None = None,
    k: int = 5,
    include_self: bool = False,
    radius: float | None = None,
    pairs: Any = None,
    features: Iterable[str] | str | None = None,
    categorical: Iterable[str] | str = (),
    weights: Mapping[str, float] | Sequence[float] | None = None,
    scale: Literal["standard", "robust", "none"] = "standard",
    distance: Any = "euclidean",
    label: ColumnLike | None = None,
    missing_features: Literal["level", "drop", "error"] = "level",
    neighbours: Literal["auto", "exact", "approximate"] = "auto",
    positive: Any = 1,
    bands: Mapping[Any, Sequence[float] | None] | None = None,
    na: str | Iterable[str] = (),
    id: ColumnLike | None = None,
    worst: int = 10,
    threshold: float | None = None,
    reference: Any = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    policy: Policy | str | Path | None = None,
    random_state: int = 0,
) -> Finding:
    """Consistency: how often people get the same decision as those who are most like them.

    1 − the mean of |decision − mean decision of the k nearest|. With `sensitive` it is compared between groups, and the
    gap is what is judged; without, the finding's value is the consistency of everyone, which is not judged.

    Parameters
    ----------
    X
        The people: a table (pandas, Polars, PyArrow, a mapping of arrays), an array with a row for each, or the path
        of a file. With distance="precomputed", the square matrix of their distances.
    prediction
        What was decided: a column of X or an array.
    sensitive
        The attributes that make groups: columns of X or arrays. They are features only if features= names
        them.
    k
        How many nearest people are the neighbours of each; `radius` or `pairs` in its place.
    include_self
        Whether a person is the first of their own k neighbours, as in AIF360.
    radius
        Everyone within this distance is a neighbour.
    pairs
        Pairs of row numbers to compare, or "all".
    features
        The columns that people are compared by; by default all that have no other role.
    categorical
        Columns of numbers that are codes. Text, and a column of 0 and 1, is a category by itself.
    weights
        What a column counts in the squared distance; 1 unless it is named.
    scale
        How numbers are scaled: "standard" deviations, "robust" ones (quartiles), or "none".
    distance
        "euclidean", "learned" (from `label`), "precomputed", or a function of two arrays of people, as they
        are scaled, that returns the matrix of their distances.
    label
        For distance="learned": people with the same value are brought near to each other.
    missing_features
        What a missing feature means: one more value ("level"), the person is left out ("drop"),
        or an "error".
    neighbours
        "exact", "approximate" (an index; needs faiss), or "auto": exact unless that takes many minutes.
    id
        A column or array with the names of people for the pairs that are shown; by default row numbers, from 0.
    worst
        How many of the nearest pairs with different decisions are shown, with their values; 0 for none.
    threshold
        The largest gap between groups that is tolerated (default 0.1).
    random_state
        Seed of the draws that decide ties.

    >>> X = [[1.0], [1.1], [1.2], [5.0], [5.1], [5.2]]
    >>> found = consistency(X, prediction=[1, 1, 1, 0, 0, 1], k=2)
    >>> round(float(found), 3), len(found.panels[0].rows)
    (0.667, 2)
    """
    request = _request("consistency", threshold, reference, min_group_size, confidence, policy, random_state, sensitive)
    _check(worst=worst)
    options = SimilarityOptions(
        k, radius, pairs, features, categorical, weights, scale, distance, label, missing_features, neighbours,
        request.policy.random_state, 2 if include_self else 1,
    )  # fmt: skip
    people = read_cohort(
        X,
        options,
        role="prediction",
        values=prediction,
        sensitive=sensitive,
        positive=positive,
        bands=bands,
        na=na,
        id=id,
    )
    found = shares.consistency(
        people.similar, people.values, people.codes, len(people.groups), include_self=include_self, most=worst
    )
    notes = [*_agreement_notes(people, found), *people.notes, *_neighbour_notes(people), jackknife.NOTE]
    panel = _pairs_panel(people, found.worst.pairs, "The nearest people who were decided differently", "prediction")
    settings = _settings(options, include_self=include_self)
    finding = _finding(request, people, {"consistency": found.figures}, notes, panel, settings, [])
    return replace(finding, caller=Caller(frames.kind_of(X)))


@documented(like=consistency)
@checked
def lipschitz(
    X: DataLike,
    *,
    score: ColumnLike,
    L: float = 1.0,
    epsilon: float = 0.1,
    sensitive: ColumnsLike | None = None,
    k: int = 5,
    radius: float | None = None,
    pairs: Any = None,
    features: Iterable[str] | str | None = None,
    categorical: Iterable[str] | str = (),
    weights: Mapping[str, float] | Sequence[float] | None = None,
    scale: Literal["standard", "robust", "none"] = "standard",
    distance: Any = "euclidean",
    label: ColumnLike | None = None,
    missing_features: Literal["level", "drop", "error"] = "level",
    neighbours: Literal["auto", "exact", "approximate"] = "auto",
    bands: Mapping[Any, Sequence[float] | None] | None = None,
    na: str | Iterable[str] = (),
    id: ColumnLike | None = None,
    worst: int = 10,
    threshold: float | None = None,
    reference: Any = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    policy: Policy | str | Path | None = None,
    random_state: int = 0,
) -> Finding:
    """The Lipschitz condition: how often similar people get similar scores.

    Of the pairs of similar people: the share whose scores differ by at most `epsilon`; the share that breaks
    |difference of scores| ≤ L × distance; the smallest L that would hold for all; and the worst pairs themselves. With
    `sensitive` both shares are compared between groups, and the larger gap is judged; without, the finding's value is
    the first share over everyone, which is not judged.

    Parameters
    ----------
    X
        The people, as for `consistency`.
    score
        Their scores: a column of X or an array.
    L
        The largest difference in score that one unit of distance may make.
    epsilon
        The largest difference in score at which two people are treated alike.
    pairs
        Pairs of row numbers to compare, or "all": everyone with everyone. Without it, similar pairs are each person
        with the k nearest, or those within `radius`.

    >>> found = lipschitz([[0.0], [1.0], [2.0]], score=[0.1, 0.2, 0.9], L=0.5, epsilon=0.1, pairs="all", scale="none")
    >>> [round(row.estimate.value, 3) for row in found.rows]
    [0.333, 0.333, 0.7]
    """
    request = _request("lipschitz", threshold, reference, min_group_size, confidence, policy, random_state, sensitive)
    _check(worst=worst, L=L, epsilon=epsilon)
    options = SimilarityOptions(
        k, radius, pairs, features, categorical, weights, scale, distance, label, missing_features, neighbours,
        request.policy.random_state,
    )  # fmt: skip
    people = read_cohort(
        X, options, role="score", values=score, sensitive=sensitive, positive=1, bands=bands, na=na, id=id
    )
    found = shares.lipschitz(
        people.similar, people.values, people.codes, len(people.groups), L=float(L), epsilon=float(epsilon), most=worst
    )
    if found.pairs == 0:
        raise CallError(f"there is no pair to compare among {people.similar.described}: pass a larger radius, or k=.")
    notes = [*_treatment_notes(people, found, L, epsilon), *people.notes, *_neighbour_notes(people), jackknife.NOTE]
    panel = _pairs_panel(people, found.worst.pairs, "The pairs whose scores differ most for their distance", "score")
    settings = {**_settings(options), "L": float(L), "epsilon": float(epsilon)}
    parts = {"similar_treatment": found.within, "lipschitz_violation": found.violating}
    finding = _finding(request, people, parts, notes, panel, settings, _constants(people, found))
    return replace(finding, caller=Caller(frames.kind_of(X)))


@documented
def worst_pairs(finding: Finding) -> dict[str, list[Any]]:
    """The pairs that a finding of `consistency` or `lipschitz` shows, as columns: ready for any dataframe.

    Parameters
    ----------
    finding
        What `consistency` or `lipschitz` returned.

    Returns
    -------
    dict[str, list[Any]]
        The columns of the table by name: both people, their distance, and what was decided or scored.

    >>> found = lipschitz([[0.0], [1.0], [2.0]], score=[0.1, 0.2, 0.9], pairs="all", scale="none", worst=1)
    >>> found = worst_pairs(found)
    >>> found["person"], found["other person"]
    ([1], [2])
    """
    check_kind(finding, Finding, "finding", "pass what consistency(...) or lipschitz(...) gives")
    panel = next((panel for panel in finding.panels if panel.kind == "pairs"), None)
    if panel is None:
        raise CallError(f"this finding of {finding.metric} shows no pairs: request some with worst=10.")
    return {name: [row[i] for row in panel.rows] for i, name in enumerate(panel.columns)}


def _request(
    name: str,
    threshold: float | None,
    reference: Any,
    min_group_size: int | None,
    confidence: float | None,
    judged_by: Policy | str | Path | None,
    random_state: int,
    sensitive: Any,
) -> Request:
    for what, value in (("threshold", threshold), ("reference", reference)):
        if sensitive is None and value is not None:
            raise CallError(f"{what}= is about the gap between groups: say which groups with sensitive=.")
    policy = policy_file.resolve(judged_by)
    return make_request(
        name,
        policy=policy,
        threshold=threshold,
        reference=policy.reference if reference is None else reference,
        min_group_size=min_group_size,
        confidence=confidence,
        random_state=random_state,
    )


def _check(worst: Any, **limits: Any) -> None:
    problems = Problems()
    check_whole("worst", worst, 0, _MOST_PAIRS, problems)
    for name, value in limits.items():
        if not 0 <= number(value) < math.inf:
            problems.add(f"{name}={shown(value)} must be a number of at least 0.")
    problems.raise_if_any(CallError)


def _settings(options: SimilarityOptions, **more: object) -> dict[str, object]:
    if options.pairs is not None:
        compared: dict[str, object] = {"pairs": "all" if isinstance(options.pairs, str) else "given"}
    else:
        compared = {"k": options.k} if options.radius is None else {"radius": options.radius}
    distance = "function" if callable(options.distance) else options.distance
    return {
        **compared,
        "distance": distance,
        "scale": options.scale,
        "missing_features": options.missing_features,
        **more,
    }


def _finding(
    request: Request,
    people: Cohort,
    parts: Mapping[str, Figures],
    notes: Sequence[str],
    panel: Panel | None,
    settings: Mapping[str, object],
    more: Sequence[Row],
) -> Finding:
    """A finding on the gap between groups, or on the figures of everyone where there are no groups."""
    panels = () if panel is None else (panel,)
    everyone = [_everyone(name, part, request) for name, part in parts.items()]
    if not people.grouped:
        found = _of_everyone(replace(request, threshold=None), people, everyone, more)
        return replace(found, notes=tuple(notes), panels=panels, settings={**found.settings, **settings})
    found = row_finding(request, people.cube, {name: part.groups for name, part in parts.items()})
    titles = {row.name: row.title for row in request.metric.rows}
    overall = [f"The {titles[row.measure]} of everyone together is {_amount(row.estimate)}." for row in everyone]
    return replace(
        found,
        rows=(*found.rows, *everyone, *more),
        notes=(*overall, *notes, *found.notes),
        panels=(*panels, *found.panels),
        settings={**found.settings, **settings},
    )


def _everyone(name: str, figures: Figures, request: Request) -> Row:
    low, high = simultaneous.own(figures.everyone, request.policy.confidence)
    value = float(figures.values[-1])
    return Row(name, (), n=int(figures.sizes[-1]), estimate=Estimate.of(value, low[0], high[0]))


def _of_everyone(request: Request, people: Cohort, rows: Sequence[Row], more: Sequence[Row]) -> Finding:
    first = rows[0]
    assert first.estimate is not None  # noqa: S101 - a figure of everyone has an estimate, defined or not
    titles = {row.name: row.title for row in request.metric.rows}
    values = "; ".join(f"the {titles[row.measure]} is {_amount(row.estimate)}" for row in rows)
    sentence = f"Among {people.people:,} people, {people.similar.described}, {values}."
    result = ValueResult(first.estimate, sentence, Row(request.metric.name, ()), [*rows, *more])
    meaning = people.cube.meaning
    return on_value(request, meaning.sensitive, result, all_strata=bool(meaning.control))


def _amount(estimate: Estimate | None) -> str:
    if estimate is None or not estimate.defined:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return wording.amount(estimate.value)
    low, high = (wording.amount(end) for end in (estimate.low, estimate.high))
    return f"{wording.amount(estimate.value)} ({low} to {high})"


def _constants(people: Cohort, treatment: Treatment) -> list[Row]:
    """Rows with the smallest L of each group and of everyone."""
    groups = people.groups if people.grouped else ()
    rows = [
        Row("smallest_constant", group, estimate=Estimate(float(value)))
        for group, value in zip(groups, treatment.constants, strict=False)
        if not math.isnan(value)
    ]
    return [*rows, Row("smallest_constant", (), estimate=Estimate(float(treatment.constants[-1])))]


def _agreement_notes(people: Cohort, agreement: Agreement) -> list[str]:
    notes = []
    if agreement.identical:
        are = "pair of people is" if agreement.identical == 1 else "pairs of people are"
        notes.append(f"{agreement.identical:,} {are} the same in every feature (distance 0) and decided differently.")
    if agreement.alone:
        notes.append(
            f"{agreement.alone:,} of {people.people:,} people have nobody to be compared with, and are left out of the "
            "figures."
        )
    return notes


def _treatment_notes(people: Cohort, treatment: Treatment, L: float, epsilon: float) -> list[str]:
    notes = [
        f"Of {treatment.pairs:,} pairs ({people.similar.described}), {treatment.alike:,} differ by at most {epsilon:g} "
        f"in score and {treatment.violations:,} by more than {L:g} × their distance."
    ]
    smallest = float(treatment.constants[-1])
    if math.isinf(smallest):
        notes.append(
            f"No L holds for all: {treatment.identical:,} pairs are the same in every feature (distance 0) and differ "
            "in score."
        )
    else:
        notes.append(f"The smallest L that holds for all of them is {figure(smallest)}.")
    return notes


def _neighbour_notes(people: Cohort) -> list[str]:
    similar, notes = people.similar, list[str]()
    if not isinstance(similar, KNearest):
        return notes
    recall = similar.nearest.recall
    if recall is not None:
        notes.append(
            f"Neighbours by an approximate index, which finds {recall:.1%} of the true ones (measured on a sample); it "
            "may differ slightly from run to run."
        )
    if similar.tied:
        notes.append(
            f"For {similar.tied:,} people others are exactly as far as the last of the {similar.k} nearest; who counts "
            "was drawn at random."
        )
    return notes


def _pairs_panel(people: Cohort, worst: Sequence[Pair], title: str, what: str) -> Panel | None:
    """The worst pairs with what was decided, their groups, and their features where these differ."""
    if not worst:
        return None
    columns = ["person", "other person", "distance", what, f"other {what}"]
    columns += ["difference", "difference per distance"] if what == "score" else []
    columns += ["group", "other group"] if people.grouped else []
    features = [] if people.features is None else list(people.features.columns)
    features.sort(key=lambda column: -sum(column.shown(pair.one) != column.shown(pair.other) for pair in worst))
    features = features[:_MOST_FEATURES]
    rows = []
    for pair in worst:
        mine, theirs = float(people.values[pair.one]), float(people.values[pair.other])
        said = (mine, theirs) if what == "score" else (int(mine), int(theirs))
        row: list[object] = [people.names[pair.one], people.names[pair.other], pair.distance, *said]
        if what == "score":
            apart = abs(mine - theirs)
            row += [apart, apart / pair.distance if pair.distance > 0 else math.inf]
        if people.grouped:
            row += [spell(people.groups[people.codes[pair.one]]), spell(people.groups[people.codes[pair.other]])]
        shown = ((column.shown(pair.one), column.shown(pair.other)) for column in features)
        row += [one if one == other else f"{one} | {other}" for one, other in shown]
        rows.append(tuple(row))
    named = (f"{column.name} (feature)" if column.name in columns else column.name for column in features)
    return Panel("pairs", title, (*columns, *named), tuple(rows))
