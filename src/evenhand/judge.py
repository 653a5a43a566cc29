"""Judging: `finding`, the only maker of Findings, from a metric and a cube."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand import comparison, indexed, sampling, tested
from evenhand.catalogue import Metric
from evenhand.catalogue.entry import AnyMeasure
from evenhand.comparison import Convention, Plan
from evenhand.cube import Cube
from evenhand.errors import CallError, DataError
from evenhand.findings import Estimate, Finding, Panel, Verdict, spell
from evenhand.inference.intervals import wilson
from evenhand.inference.spread import Normal
from evenhand.part import Part
from evenhand.policy import Request
from evenhand.scoremeasures import Binned, calibration_bins
from evenhand.table import Table, tabulate

WORTH_A_WORD = 0.05  # above this share of missing groups every pass is qualified


def finding(asked: Request, cube: Cube) -> Finding:
    """Evaluate one metric on the groups of a cube."""
    _check_roles(asked.metric, cube)
    _check_groups(cube)
    asked = _to_scale(asked, cube)
    if asked.metric.index is not None:
        return indexed.finding(asked, cube)
    plan, convention = _plan(asked, cube)
    if convention.pool and plan.reference is not None:
        cube = cube.pool(plan.reference)
    rows: Sequence[AnyMeasure] = asked.metric.rows
    if asked.metric.binned and cube.scores is not None:
        rows = calibration_bins(cube.scores.reading)
    parts = [Part(asked, plan, stratum, tabulate(rows, cube.stratum(stratum), plan)) for stratum in cube.strata]
    return _conclude(asked, plan, cube, parts)


def _to_scale(asked: Request, cube: Cube) -> Request:
    """A default threshold on mean scores is a share of the score's range: 0.1 of 0 to 1, 0.9 of 1 to 10."""
    if not asked.by_range or cube.scores is None or asked.threshold is None:
        return asked
    bins = cube.scores.bins
    return replace(asked, threshold=asked.threshold * (bins.high - bins.low))


def row_finding(asked: Request, cube: Cube, spreads: Mapping[str, Normal]) -> Finding:
    """A finding for measures that were computed from the rows, with a value and an error for each group."""
    _check_groups(cube)
    plan, convention = _plan(asked, cube)
    if plan.against in ("rest", "overall") or convention.pool:
        raise CallError("a measure made of a function is compared between extremes or with a reference group.")
    rows, groups = asked.metric.rows, [group for _, group in cube.pairs]
    chosen = [spreads[row.name] for row in rows]
    values = np.stack([part.values for part in chosen])
    sizes = np.stack([part.sizes for part in chosen]).astype(np.int64)
    base, bases = None, []
    if plan.reference in groups:
        place = groups.index(plan.reference)
        base = np.repeat(values[:, [place]], len(groups), axis=1)
        base[:, place] = np.nan
        bases = [Normal(*(np.full(len(groups), part[place]) for part in (s.values, s.errors, s.sizes))) for s in chosen]
    table = Table(cube, rows, groups, chosen, values, sizes, base, bases)
    return _conclude(asked, plan, cube, [Part(asked, plan, (), table)])


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Any fail fails, else any doubt leaves it open, else it passes; nothing judged is not judged."""
    order: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
    return next((verdict for verdict in order if verdict in verdicts), "not judged")


def _plan(asked: Request, cube: Cube) -> tuple[Plan, Convention]:
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
    sample = sampling.describe(worst, people)
    test, counts = tested.no_gap(parts)
    notes = [*_notes(asked, cube, parts), *_evidence(worst), *sampling.notes(worst, sample, people)]
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
        tuple(row for part in parts for row in part.rows(tested.by_group(part))),
        tuple(notes),
        p_value=None if test is None or math.isnan(test.p_value) else test.p_value,
        unit=worst.unit,
        tested=None if test is None else test.name,
        counts=counts,
        sample=sample,
        panels=(_calibration_panel(cube),) if asked.metric.binned else (),
        settings=_settings(asked, plan),
    )


def _calibration_panel(cube: Cube) -> Panel:
    """Each calibration bin of each group: people, observed rate with Wilson's interval, mean score, and their gap."""
    whole = cube.marginal(control=False)
    assert whole.scores is not None  # noqa: S101 - the roles were checked
    binned = Binned.of(whole.scores, len(whole.pairs))
    k, n, score = binned.calibration()
    low, high = wilson(k, n)
    edges = binned.reading.edges
    rows = []
    for i, (_, group) in enumerate(whole.pairs):
        for b in range(len(edges) - 1):
            if n[i, b] > 0:
                rate, mean = float(k[i, b] / n[i, b]), float(score[i, b])
                away = rate - mean if binned.reading.bins.is_probability else None
                ends = (float(low[i, b]), float(high[i, b]))
                rows.append((spell(group), edges[b], edges[b + 1], int(n[i, b]), rate, *ends, mean, away))
    columns = ("group", "from", "to", "n", "observed rate", "low", "high", "mean score", "observed - mean score")
    return Panel("curve", "Calibration by group", columns, tuple(rows))


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
        "against": plan.name or "extremes",
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


def _check_roles(metric: Metric, cube: Cube) -> None:
    there = cube.has
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
