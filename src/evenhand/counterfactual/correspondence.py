"""Correspondence audits: the same case with only the group changed, as in field experiments and prompts to a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core import frames
from evenhand.core.arguments import checked
from evenhand.core.arrays import Bools, ColumnLike, ColumnsLike, DataLike
from evenhand.core.quantities import check_whole
from evenhand.core.results import Caller, Estimate, Finding, Row, spell
from evenhand.counterfactual import correspondence_text as text
from evenhand.counterfactual.unit_gaps import Comparison, compare, overall_test
from evenhand.counterfactual.units import Units, read_units
from evenhand.errors import CallError, Problems
from evenhand.sources.documentation import documented
from evenhand.verdicts.finding import on_value
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.verdict import verdict

_MOST_SHOWN = 1000
_MIDDLE = (0.025, 0.975)


@documented
@checked
def correspondence(
    data: DataLike | None = None,
    *,
    unit: ColumnLike | None = None,
    sensitive: ColumnsLike | None = None,
    prediction: ColumnLike | None = None,
    score: ColumnLike | None = None,
    run: ColumnLike | None = None,
    positive: Any = 1,
    bands: Mapping[Any, Sequence[float] | None] | None = None,
    na: str | Iterable[str] = (),
    worst: int = 10,
    threshold: float | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    policy: Policy | str | Path | None = None,
    random_state: int | None = None,
) -> Finding:
    """The same case with only the group changed: how far decisions or scores differ between groups within a case.

    No model is called: the answers are in the data, a row for each unit, group and run.

    Parameters
    ----------
    data
        A table in memory, or the path of a file; without it, pass arrays.
    unit
        Which rows are the same case: a prompt, a vacancy, an applicant's file. Intervals are over units.
    sensitive
        The attribute that was changed, or several.
    prediction
        What was decided; the gaps between groups are those of decision rates.
    score
        In its place a number; the gaps are those of mean scores.
    run
        Which rows are repetitions of the same unit and group. With it, flips between groups are set beside those
        between runs, which are noise; a unit's decision in a group is the mean over its runs.
    bands
        Edges that cut an attribute into groups; numbers that make groups are not cut unless it says so.
    min_group_size
        Groups with fewer units are shown, and a fail may rest on them, but a pass may not. Default 30.
    worst
        How many of the units that flip most are shown; 0 for none.
    threshold
        The largest gap between two groups that is tolerated: by default 0.01 for decisions and for scores
        from 0 to 1, for other scores a hundredth of the range that holds 95 % of them.
    random_state
        Seed of Cochran's Q where few units differ, which is then set against permutations.

    >>> answers = {"case": [1, 1, 2, 2, 3, 3], "name": ["Ann", "Bo"] * 3, "invited": [1, 0, 1, 1, 0, 0]}
    >>> found = correspondence(answers, unit="case", sensitive="name", prediction="invited")
    >>> found.highest, round(found.value.value, 3), found.p_value
    ('Ann', 0.333, 1.0)
    """
    request = make_request(
        "correspondence",
        policy=policy,
        threshold=threshold,
        min_group_size=min_group_size,
        confidence=confidence,
        random_state=random_state,
    )
    problems = Problems()
    check_whole("worst", worst, 0, _MOST_SHOWN, problems)
    problems.raise_if_any(CallError)
    units = read_units(
        data,
        unit=unit,
        sensitive=sensitive,
        prediction=prediction,
        score=score,
        run=run,
        positive=positive,
        bands=bands,
        na=na,
    )
    explicit = threshold is not None or "correspondence" in request.policy.thresholds
    request = request if explicit else _to_scale(request, units)
    finding = _finding(request, units, compare(units, request.policy.confidence, request.near_confidence), worst)
    return replace(finding, caller=Caller(frames.kind_of(data)))


def _to_scale(request: Request, units: Units) -> Request:
    """The request with a default threshold that is a share of the range of scores, if these are not from 0 to 1."""
    if units.ends == (0.0, 1.0) or units.span == 0 or request.threshold is None:
        return request
    low, high = np.quantile(units.means[units.runs > 0], _MIDDLE)
    return replace(request, threshold=request.threshold * float(high - low), by_range=True)


def _finding(request: Request, units: Units, compared: Comparison, worst: int) -> Finding:
    least = request.policy.min_group_size
    large = _large(units, compared, least)
    value, usable = _judged(request, compared, large[compared.first] & large[compared.second], units)
    decided = verdict(value, request.threshold)
    left_out = [group for group, enough in zip(units.groups, large, strict=True) if not enough]
    evidence = _row(request, units, compared, _deciding(compared, usable, decided), value)
    farthest = _row(request, units, compared, int(np.nanargmax(compared.sizes)), value)
    p, tested, notes = overall_test(units, compared, request.policy.random_state)
    if (farthest.group, farthest.against) != (evidence.group, evidence.against):
        notes.insert(0, text.largest(units, farthest, decided))
    sentence = text.sentence(units, compared, evidence, request, decided)
    small = [spell(group, units.attributes) for group in left_out]
    if left_out and decided == "pass":
        sentence = text.leaving_out(sentence, small, least)
    elif left_out:
        notes.append(text.small(small, least))
    result = ValueResult(
        value,
        sentence + text.beside_noise(units, compared, request.policy.confidence),
        replace(farthest, estimate=None, difference=farthest.estimate),
        text.rows(units, compared, request.policy.confidence),
        [*units.notes, *notes, *text.notes(units, compared, request)],
        unit="rate" if units.decisions else "score",
        p_value=None if math.isnan(p) else p,
        tested=tested,
        evidence=evidence,
        left_out=[spell(group) for group in left_out],
        panels=text.panels(units, compared, worst),
        settings={"units": len(units.means), "pairs": len(compared.p), "correction": "holm", "min_group_size": least},
    )
    return on_value(request, units.attributes, result)


def _large(units: Units, compared: Comparison, least: int) -> Bools:
    """Which groups share enough units with another group to support a pass."""
    most = np.zeros(len(units.groups))
    for side in (compared.first, compared.second):
        np.maximum.at(most, side, compared.gaps.n)
    return np.asarray(most >= least)


def _judged(request: Request, compared: Comparison, large: Bools, units: Units) -> tuple[Estimate, Bools]:
    """The value that is judged, and the pairs that may decide: for a pass only those of large groups."""
    every = compared.gaps.n > 0
    size = float(np.nanmax(compared.sizes))
    if units.span == 0:  # scores that are all the same tell nothing of how they vary
        return Estimate(size), every
    low = float(np.nanmax(compared.low))
    if (large & every).any():
        value = Estimate(size, low, max(size, float(np.nanmax(compared.high[large & every]))))
        if verdict(value, request.threshold) == "pass":
            return value, large & every
    value = Estimate(size, low, max(size, float(np.nanmax(compared.high[every]))))
    if verdict(value, request.threshold) == "pass":  # no two groups are large enough, so nothing bounds the gap
        value = replace(value, high=units.span if units.decisions else math.inf)
    return value, every


def _deciding(compared: Comparison, usable: Bools, decided: str) -> int:
    """The pair on which the verdict rests: with the largest lower end on a fail, else with the largest upper end."""
    ends = {"fail": compared.low, "not judged": compared.sizes}.get(decided, compared.high)
    ends = ends if np.isfinite(ends[usable]).any() else compared.sizes
    return int(np.nanargmax(np.where(usable, ends, np.nan)))


def _row(request: Request, units: Units, compared: Comparison, pair: int, value: Estimate) -> Row:
    """One pair of groups, the higher one first, with the ends that decide."""
    i, j, gap = int(compared.first[pair]), int(compared.second[pair]), float(compared.gaps.values[pair])
    i, j = (i, j) if gap >= 0 else (j, i)
    size, n = abs(gap), int(compared.gaps.n[pair])
    high = float(np.maximum(size, compared.high[pair]))
    unbounded = value.high is not None and value.high >= (1.0 if units.decisions else math.inf)
    low = float(np.minimum(size, compared.low[pair]))
    estimate = Estimate.of(size, low, (value.high or 0.0) if unbounded else high)
    return Row(
        request.metric.name,
        units.groups[i],
        against=spell(units.groups[j]),
        n=n,
        n_against=n,
        estimate=estimate,
        p_value=None if math.isnan(compared.p[pair]) else float(compared.p[pair]),
        p_adjusted=None if math.isnan(compared.adjusted[pair]) else float(compared.adjusted[pair]),
    )
