"""Judging: `finding`, the only maker of Findings, from a metric and a cube."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.catalogue import Metric
from evenhand.catalogue.metric import AnyMeasure
from evenhand.core.arrays import Floats
from evenhand.core.results import Estimate, Finding, Panel, Verdict, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.inference.spread import Spread
from evenhand.measures import classes
from evenhand.measures.cells import Measure
from evenhand.measures.regression import outcome_bands
from evenhand.measures.scores import calibration_bins
from evenhand.verdicts import comparison, index_finding
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.comparison import Convention, Plan
from evenhand.verdicts.notes import calibration as scored
from evenhand.verdicts.notes import impact_ratios, intersections, p_values, sample_size, strata
from evenhand.verdicts.policy import Request
from evenhand.verdicts.stratum import Part
from evenhand.verdicts.table import Table, tabulate

WORTH_A_WORD = 0.05  # above this share of missing groups every pass is qualified


def finding(asked: Request, cube: Cube) -> Finding:
    """Evaluate one metric on the groups of a cube."""
    check_roles(asked.metric, cube)
    _check_groups(cube)
    asked = _to_scale(asked, cube)
    if asked.metric.index is not None:
        return index_finding.finding(asked, cube)
    plan, convention = plan_of(asked, cube)
    if convention.pool and plan.reference is not None:
        cube = cube.pool(plan.reference)
    rows = _measures(asked, cube)
    within = replace(asked, strata=len(cube.strata))
    parts = [Part(within, plan, stratum, tabulate(rows, cube.stratum(stratum), plan)) for stratum in cube.strata]
    found = _conclude(within, plan, cube, parts)
    if len(parts) < 2:
        return found
    pooled = Part(asked, plan, (), tabulate(rows, cube.marginal(control=False), plan))
    more, notes, panels = strata.describe(pooled, parts)
    return replace(found, rows=(*found.rows, *more), notes=(*notes, *found.notes), panels=(*panels, *found.panels))


def _measures(asked: Request, cube: Cube) -> Sequence[AnyMeasure]:
    """The measures that a metric compares in this cube: for each calibration bin, outcome band or class one."""
    metric = asked.metric
    if metric.binned and cube.scores is not None:
        reading = cube.scores.reading
        return calibration_bins(reading) if reading.outcome is None else outcome_bands(reading)
    if cube.classes:
        plain = [row for row in metric.rows if isinstance(row, Measure)]
        return classes.rows(plain, cube.classes, means=asked.aggregate == "worst")
    return metric.rows


def _to_scale(asked: Request, cube: Cube) -> Request:
    """A default threshold on mean scores is a share of the score's range: 0.1 of 0 to 1, 0.9 of 1 to 10."""
    if not asked.by_range or cube.scores is None or asked.threshold is None:
        return asked
    bins = cube.scores.bins
    return replace(asked, threshold=asked.threshold * (bins.high - bins.low))


def row_finding(
    asked: Request, cube: Cube, spreads: Mapping[str, Spread], rest: Mapping[str, Spread] | None = None
) -> Finding:
    """A finding for measures that were computed from the rows, with a value and an error for each group.

    `rest` holds the same of everyone else, for each group: without it groups cannot be compared with the rest. Where a
    convention pools all groups but the reference, `cube` and `spreads` come pooled.
    """
    plan, convention = plan_of(asked, cube)
    if not convention.pool:
        _check_groups(cube)
    pooled = len(cube.named().groups) <= 2
    if plan.against == "overall" or (plan.against == "rest" and rest is None) or (convention.pool and not pooled):
        raise CallError("a measure made of a function is compared between extremes or with a reference group.")
    rows, groups = asked.metric.rows, [group for _, group in cube.pairs]
    chosen = [spreads[row.name] for row in rows]
    values = np.stack([part.values for part in chosen])
    sizes = np.stack([part.sizes for part in chosen]).astype(np.int64)
    base: Floats | None = None
    bases: list[Spread] = []
    if plan.reference in groups:
        place = groups.index(plan.reference)
        base = np.repeat(values[:, [place]], len(groups), axis=1)
        base[:, place] = np.nan
        bases = [part.scaled(1.0, [place] * len(groups)) for part in chosen]
    elif plan.against == "rest" and rest is not None:
        bases = [rest[row.name] for row in rows]
        base = np.stack([part.values for part in bases])
    table = Table(cube, rows, groups, chosen, values, sizes, base, bases)
    return _conclude(asked, plan, cube, [Part(asked, plan, (), table)])


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Any fail fails, else any doubt leaves it open, else it passes; nothing judged is not judged."""
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
    return next((verdict for verdict in order if verdict in verdicts), "not judged")


def plan_of(asked: Request, cube: Cube) -> tuple[Plan, Convention]:
    """What the groups of a cube are compared with, and by whose convention."""
    convention = comparison.find_convention(asked.convention)
    sizes = dict.fromkeys(cube.groups, 0)
    for (_, group), people in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True):
        sizes[group] += int(people)
    return comparison.plan(asked.reference, cube.meaning.sensitive, cube.groups, sizes, convention), convention


def _conclude(asked: Request, plan: Plan, cube: Cube, parts: Sequence[Part]) -> Finding:
    """The finding of all strata together: the worst one speaks."""
    worst = max(parts, key=lambda part: part.severity)
    sentence = worst.sentence()
    if worst.stratum:
        sentence = f"In {spell(worst.stratum)}: {sentence[0].lower()}{sentence[1:]}"
    summary = worst.summary()
    value = summary.ratio if asked.judged_on == "ratio" else summary.difference
    people = cube.size
    sample = sample_size.describe(worst, people)
    test, counts = p_values.no_gap(parts)
    rows = {part.stratum: part.rows(p_values.by_group(part)) for part in parts}
    impacts = {part.stratum: impact_ratios.describe(part, rows[part.stratum]) for part in parts}
    notes = [*_of_scores(asked.metric, cube, worst, parts), *_notes(asked, cube, parts)]
    notes += [*impacts[worst.stratum][1], *_evidence(worst)]
    beyond, crossed = intersections.describe(worst)
    notes += [*beyond, *sample_size.notes(worst, sample, people)]
    return Finding(
        asked.metric.name,
        asked.metric.title,
        cube.meaning.sensitive,
        value or Estimate(math.nan),
        asked.judged_on,
        asked.threshold,
        worst.passes,
        overall([part.verdict for part in parts]),
        sentence,
        summary,
        tuple(row for part in parts for row in rows[part.stratum]),
        tuple(notes),
        p_value=None if test is None or math.isnan(test.p_value) else test.p_value,
        unit=worst.unit,
        tested=None if test is None else test.name,
        counts=counts,
        sample=sample,
        panels=(*_panels(asked.metric, cube), *(panel for panels, _ in impacts.values() for panel in panels), *crossed),
        settings=_settings(asked, plan),
        basis=Basis(asked, plan),
    )


def _panels(metric: Metric, cube: Cube) -> tuple[Panel, ...]:
    return (scored.curve(cube),) if metric.binned and cube.meaning.task == "binary" else ()


def _of_scores(metric: Metric, cube: Cube, worst: Part, parts: Sequence[Part]) -> list[str]:
    calibration = metric.binned and cube.meaning.task == "binary"
    return scored.calibration_notes(worst) if calibration else scored.precision(parts)


def _evidence(part: Part) -> list[str]:
    """On whom a fail rests, where it is not the pair that lies farthest apart."""
    place = part.bounds.near_pair
    if part.verdict != "fail" or place is None:
        return []
    measure, first, second = place
    if first == part.gap.high and second == part.gap.low:
        return []
    groups, row = part.table.groups, part.table.measures[measure]
    other = part.plan.name if second < 0 else spell(groups[second])
    return [f"The evidence is strongest between {spell(groups[first])} and {other} in the {row.title}."]


def _notes(asked: Request, cube: Cube, parts: Sequence[Part]) -> list[str]:
    notes = []
    small = dict.fromkeys(spell(group) for part in parts for group in part.small)
    if small and asked.threshold is not None:
        least = asked.policy.min_group_size
        notes.append(f"Fewer than {least} rows to measure on: {_names(small)}. No pass rests on them.")
    if isinstance(asked.reference, Mapping) and parts[0].plan.against == "extremes":
        lacking = [name for name in cube.meaning.sensitive if name not in asked.reference]
        notes.append(f"No reference was given for {_names(lacking)}, so the extremes are compared.")
    reasons = dict.fromkeys(reason for part in parts for reason in part.reasons())
    if reasons:
        notes.append(f"Undefined, so not compared: {_names(reasons, '; ')}.")
    several = [part for part in parts if len(part.table.measures) > 1 and not math.isnan(part.value)]
    lost = dict.fromkeys(title for part in several for title in part.left_out())
    if lost:
        notes.append(f"Nothing could be compared in the {_names(lost)}.")
    alone = [spell(part.stratum) for part in parts if len(parts) > 1 and math.isnan(part.gap.difference)]
    if alone:
        notes.append(f"In {_names(alone)} nothing could be compared. A pass says nothing of it.")
    rare = dict.fromkeys(told for part in parts for told in part.rare_groups())
    if rare:
        share = 100 * asked.policy.min_group_share
        notes.append(f"Under {share:g} % of the people each, so shown and not compared: {_names(rare, '; ', 20)}.")
    missing = int(sum(n for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True) if None in group))
    if missing:
        share = missing / cube.size
        qualified = " A pass says nothing of them." if share > WORTH_A_WORD else ""
        notes.append(f"{missing:,} rows ({share:.1%}) have no group; they are shown and not judged.{qualified}")
    return notes


def _names(names: Mapping[str, None] | Sequence[str], mark: str = ", ", most: int = 6) -> str:
    shown = list(names)
    return mark.join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _settings(asked: Request, plan: Plan) -> dict[str, object]:
    policy = asked.policy
    settings: dict[str, object] = {
        "against": "extremes" if plan.name is None else plan.name,
        "aggregate": asked.aggregate,
        "convention": asked.convention,
        "min_group_size": policy.min_group_size,
        "confidence": policy.confidence,
        "interval": policy.interval,
        **asked.options,
    }
    if policy.uses_draws:
        settings |= {"draws": policy.draws, "random_state": policy.random_state}
    return settings


def check_roles(metric: Metric, cube: Cube) -> None:
    """Raise where the data lacks what a metric needs."""
    task, there = cube.meaning.task, cube.has
    if metric.home is not None:
        raise CallError(f"{metric.name} needs more than counts: call evenhand.{metric.name}() and add what it finds.")
    if task not in metric.tasks and cube.facts.get("regression_chosen"):
        raise DataError(
            f"label and prediction both hold fractions, as numbers do (task='regression'), and {metric.name} is for "
            "decisions. If the prediction looks like a score, pass it as score= with cutoff=."
        )
    if task not in metric.tasks:
        raise CallError(f"{metric.name} is for task {' or '.join(map(repr, sorted(metric.tasks)))}; this is {task!r}.")
    lacking = sorted(role for role in metric.needs if not there[role])
    if lacking:
        raise CallError(f"{metric.name} needs {' and '.join(role + '=' for role in lacking)}, which was not given.")
    if metric.probability and cube.scores is not None and not cube.scores.bins.is_probability:
        raise CallError(
            f"{metric.name} compares the score with what happened, so it needs a probability; this score goes from "
            f"{cube.scores.bins.low:g} to {cube.scores.bins.high:g}."
        )


def _check_groups(cube: Cube) -> None:
    for i, name in enumerate(cube.meaning.sensitive):
        values = {group[i] for group in cube.groups} - {None}
        if len(values) < 2:
            seen = ", ".join(repr(value) for value in values) or "no value at all"
            raise DataError(f"{name!r} has one group only ({seen}): there is nothing to compare.")
