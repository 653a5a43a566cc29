"""judge(): a Finding from one metric and a cube. Findings are made in this module only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.catalogue import Metric
from evenhand.core.results import UNDEFINED, Estimate, Finding, Group, Panel, Row, number_or_none
from evenhand.core.wording import distance, number_of, quotient
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names
from evenhand.inference.spread import Spread
from evenhand.measures.base import Measure
from evenhand.measures.cells import cell_measures
from evenhand.measures.classes import class_measures
from evenhand.measures.indices import Index
from evenhand.measures.regression import outcome_bands
from evenhand.measures.scores import calibration_bins
from evenhand.verdicts import clustered, comparison
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.comparison import Convention, Plan
from evenhand.verdicts.notes import (
    calibration,
    intersections,
    missing_labels,
    p_values,
    sample_size,
)
from evenhand.verdicts.notes.bands import cut_notes
from evenhand.verdicts.request import Request
from evenhand.verdicts.requirements import check_groups, check_roles
from evenhand.verdicts.rows import evidence_row, largest_row, stratum_rows
from evenhand.verdicts.selective_labels import is_settled, selected_alike, settled_note
from evenhand.verdicts.sentences import (
    larger_estimate,
    measures_left_out,
    no_ratio,
    rare_groups,
    stratum_sentence,
    undefined_reasons,
    without_groups,
)
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.table import Table, against_reference, tabulate
from evenhand.verdicts.verdict import passes, verdict

if TYPE_CHECKING:
    from evenhand.verdicts.index_finding import ValueResult

MISSING_SHARE_NOTED = 0.05  # above this share of rows without a group, the note says that a pass leaves them out


def judge(request: Request, cube: Cube) -> Finding:
    """The finding of one metric on the groups of a cube."""
    method = request.policy.interval
    if method == "jackknife":
        request = replace(request, policy=replace(request.policy, interval="simultaneous"))
    finding = _judge(request, cube)
    return replace(finding, notes=(*finding.notes, _OF_ROWS[method])) if method in _OF_ROWS else finding


_OF_ROWS = {
    "jackknife": "interval='jackknife' is for functions of rows; this interval is made of the counts.",
    "none": "With interval='none' there is no interval: the verdict is open.",
}


def _judge(request: Request, cube: Cube) -> Finding:
    if request.metric.counted and any(row.made_of == "rows" for row in request.metric.rows):
        raise CallError(f"{request.metric.name} needs the rows; a cube does not keep them.")
    check_roles(request.metric, cube)
    check_groups(cube)
    clustered.check_interval(request, cube)
    request = to_scale(request, cube)
    if request.metric.index is not None:
        return _on_index(request, cube, request.metric.index)
    plan, convention = plan_of(request, cube)
    if convention.pool and plan.reference is not None:
        cube = cube.pool(plan.reference)
    if request.metric.name in convention.turned and request.judged_on == "difference":
        plan = comparison.turned(plan, cube.groups)
    rows = _measures(request, cube)
    if not clustered.covers(cube, rows):
        request = clustered.alone(request)
    within = request if len(cube.strata) == request.strata else replace(request, strata=len(cube.strata))
    alike = selected_alike(cube) if is_settled(request.metric, request.judged_on, cube) else None
    asked = within if alike is None else replace(within, threshold=None)
    strata = strata_of(asked, plan, rows, cube)
    finding = _on_gap(asked, plan, cube, strata, Basis(within, plan, cube))
    if alike is not None:
        request = replace(request, threshold=None)
        finding = replace(finding, notes=(settled_note(alike), *finding.notes))
    if len(strata) < 2:
        return finding
    whole = Stratum(request, plan, (), tabulate(rows, cube.marginal(control=False), plan))
    return _beside_the_whole(finding, whole, strata)


def _on_index(request: Request, cube: Cube, index: Index) -> Finding:
    from evenhand.verdicts import finders

    request = clustered.alone(request) if cube.clustered else request
    result = finders.find_value(request, cube, index)
    together = bool(cube.meaning.control) and not index.within_strata
    return on_value(request, cube.meaning.sensitive, result, all_strata=together, notes=cut_notes(cube))


def finding_of_tables(
    request: Request, plan: Plan, cube: Cube, tables: Mapping[Group, Table], whole: Table | None
) -> Finding:
    """The finding of measures whose tables were made from rows, one for each stratum, and of all strata together."""
    within = replace(request, strata=len(tables))
    strata = [Stratum(within, plan, name, table) for name, table in tables.items()]
    finding = _on_gap(within, plan, cube, strata, Basis(within, plan))
    return finding if whole is None else _beside_the_whole(finding, Stratum(request, plan, (), whole), strata)


def _beside_the_whole(finding: Finding, whole: Stratum, strata: Sequence[Stratum]) -> Finding:
    """The finding with what is to be said of all strata together."""
    from evenhand.verdicts.notes import strata as strata_notes

    more, notes, panels = strata_notes.stratum_notes(whole, strata)
    return replace(
        finding,
        rows=(*finding.rows, *more),
        notes=(*notes, *finding.notes),
        panels=(*panels, *finding.panels, *_common_impact(whole, strata)),
    )


def _common_impact(whole: Stratum, strata: Sequence[Stratum]) -> tuple[Panel, ...]:
    """Of a rate that is set against a yardstick, the table over all strata."""
    if not whole.is_impact:
        return ()
    from evenhand.verdicts import impact

    common = impact.common_lines(whole, strata)
    return (impact.common_panel(common),) if common else ()


def _impact(
    strata: Sequence[Stratum], rows: Mapping[Group, Sequence[Row]], worst: Stratum
) -> tuple[tuple[Panel, ...], list[str]]:
    """The tables and sentences of a rate that is set against a yardstick; loaded by audits that have one."""
    if not worst.is_impact:
        return (), []
    from evenhand.verdicts.notes import impact_ratios

    return impact_ratios.impact_ratios(strata, rows, worst)


def strata_of(request: Request, plan: Plan, rows: Sequence[Measure], cube: Cube) -> list[Stratum]:
    """The measures of the groups in each stratum of a cube, judged."""
    return [Stratum(request, plan, name, tabulate(rows, cube.stratum(name), plan)) for name in cube.strata]


def _measures(request: Request, cube: Cube) -> Sequence[Measure]:
    """The measures that are compared in this cube: the metric's own, or one for each bin, outcome band or class."""
    metric = request.metric
    if metric.binned and cube.scores is not None:
        reading = cube.scores.reading
        return calibration_bins(reading) if reading.outcome is None else outcome_bands(reading)
    if metric.along is not None and cube.scores is not None:
        return metric.along(cube.scores.reading)
    if cube.classes:
        return class_measures(cell_measures(metric.rows), cube.classes, means=request.aggregate == "worst")
    return metric.rows


def to_scale(request: Request, cube: Cube) -> Request:
    """The request with a default threshold on mean scores as a share of their range: 0.1 of 0 to 1, 0.9 of 1 to 10."""
    if not request.by_range or cube.scores is None or request.threshold is None:
        return request
    bins = cube.scores.bins
    return replace(request, threshold=request.threshold * (bins.high - bins.low))


def row_finding(
    request: Request,
    cube: Cube,
    spreads: Mapping[str, Spread],
    rest: Mapping[str, Spread] | None = None,
) -> Finding:
    """The finding of measures that were computed from rows, given as the spread of each measure over the groups.

    `rest` is the spread of everyone outside each group: without it groups cannot be compared with the rest. The
    interval is simultaneous, whatever the policy names. Where a convention pools all groups but the reference, `cube`
    and `spreads` must be pooled already.
    """
    request = replace(request, policy=replace(request.policy, interval="simultaneous"))
    plan, convention = plan_of(request, cube)
    if not convention.pool:
        check_groups(cube)
    pooled = len(cube.named().groups) <= 2
    if plan.against == "overall" or (plan.against == "rest" and rest is None) or (convention.pool and not pooled):
        raise CallError(
            "a measure made of rows is compared between extremes or with one group: leave reference= and convention= "
            "out, or name a group, as in reference='White'."
        )
    rows, groups = request.metric.rows, [group for _, group in cube.pairs]
    request = request if clustered.covers(cube, rows) else clustered.alone(request)
    chosen = [spreads[row.name] for row in rows]
    values = np.stack([stratum.values for stratum in chosen])
    sizes = np.stack([stratum.sizes for stratum in chosen]).astype(np.int64)
    table = Table(cube, rows, groups, chosen, values, sizes)
    if plan.against == "reference":
        table = against_reference(table, plan)
    elif plan.against == "rest" and rest is not None:
        bases = [rest[row.name] for row in rows]
        base, support = (np.stack([getattr(part, name) for part in bases]) for name in ("values", "sizes"))
        table = replace(table, base=base, base_spreads=bases, base_support=support.astype(np.int64))
    if cube.clustered:
        none: list[Spread | None] = [None] * len(rows)
        table = replace(table, spreads=none, base_spreads=none)
    return _on_gap(request, plan, cube, [Stratum(request, plan, (), table)], Basis(request, plan))


def on_value(
    request: Request,
    attributes: Sequence[str],
    result: ValueResult,
    *,
    all_strata: bool = False,
    notes: Sequence[str] = (),
) -> Finding:
    """The finding of a value that is judged by itself, or as a ratio if the request says so.

    `all_strata` says that strata were not kept apart, and `notes` is what else a reader must know.
    """
    metric, value, policy = request.metric, result.value, request.policy
    strata_note = ["Computed over all strata together."] if all_strata else []
    return Finding(
        metric.name,
        metric.title,
        tuple(attributes),
        value,
        request.judged_on,
        request.threshold,
        passes(value.value, request.threshold, request.judged_on),
        verdict(value, request.threshold, request.judged_on),
        result.sentence,
        result.summary,
        tuple(result.rows),
        (*result.notes, *strata_note, *notes),
        unit=result.unit,
        p_value=result.p_value,
        tested=result.tested,
        evidence=result.evidence,
        left_out=tuple(result.left_out),
        panels=tuple(result.panels),
        settings={
            "confidence": policy.confidence,
            "family": request.family,
            "random_state": policy.random_state,
            **result.settings,
            **request.options,
            **_uncovered(request),
        },
        basis=Basis(request),
    )


def plan_of(request: Request, cube: Cube) -> tuple[Plan, Convention]:
    """What the groups of a cube are compared with, and the convention that was requested."""
    worst_of = len(request.metric.measures) if request.aggregate == "worst" else 1
    convention = comparison.find_convention(request.convention, worst_of=worst_of)
    sizes = dict.fromkeys(cube.groups, 0.0)
    mass = cube.n if cube.w is None else cube.w
    for (_, group), size in zip(cube.pairs, mass.sum(axis=(1, 2)), strict=True):
        sizes[group] += float(size)
    return comparison.plan(request.reference, cube.meaning.sensitive, cube.groups, sizes, convention), convention


def _on_gap(request: Request, plan: Plan, cube: Cube, strata: Sequence[Stratum], basis: Basis) -> Finding:
    """The finding of a gap between groups in one stratum or more; its value is the worst stratum's."""
    worst, value = max(strata, key=lambda stratum: stratum.weight), value_over(strata)
    sentence = stratum_sentence(worst)
    if worst.name:
        sentence = f"In {worst.where}: {sentence[0].lower()}{sentence[1:]}"
    left_out = _left_out(request, strata)
    if left_out and worst.verdict == "pass":
        sentence = f"{sentence[:-1]}, leaving out {_whom_left_out(strata)}."
    sentence += _one_sided(worst)
    people = cube.size
    sample = sample_size.describe_sample(worst, people)
    test, counts = p_values.no_gap(strata)
    rows = {stratum.name: stratum_rows(stratum, p_values.by_group(stratum)) for stratum in strata}
    impacts, ratios = _impact(strata, rows, worst)
    notes = [*_score_notes(request.metric, cube, worst, strata), *_notes(request, cube, strata)]
    notes += [*ratios, *_evidence_note(worst)]
    beyond, crossed = intersections.intersection_notes(worst)
    notes += [*beyond, *sample_size.sample_notes(worst, sample, people)]
    return Finding(
        request.metric.name,
        request.metric.title,
        cube.meaning.sensitive,
        value,
        request.judged_on,
        request.threshold,
        passes(value.value, request.threshold, request.judged_on, two_sided=worst.question.two_sided),
        verdict(value, request.threshold, request.judged_on, two_sided=worst.question.two_sided),
        sentence,
        largest_row(strata),
        tuple(row for stratum in strata for row in rows[stratum.name]),
        tuple(notes),
        p_value=None if test is None else number_or_none(test.p_value),
        unit=worst.unit,
        tested=None if test is None else test.name,
        counts=counts,
        sample=sample,
        evidence=evidence_row(worst),
        left_out=left_out,
        panels=(
            *_panels(request.metric, cube),
            *impacts,
            *crossed,
        ),
        settings=_settings(request, plan),
        basis=basis,
    )


def value_over(strata: Sequence[Stratum]) -> Estimate:
    """The value over all strata: the largest gap with the largest lower and upper end; of ratios the lowest.

    Against a baseline, where gaps have a sign, it is that of the stratum on which the verdict rests.
    """
    worst = max(strata, key=lambda stratum: stratum.weight)
    if strata[0].signed or not worst.value.defined:
        return worst.value
    values = [stratum.value for stratum in strata if stratum.value.defined]
    if not values:
        return UNDEFINED
    farthest = min if strata[0].request.judged_on == "ratio" else max
    if any(value.low is None or value.high is None for value in values):
        return Estimate(farthest(value.value for value in values))
    lows, highs = ([getattr(value, end) for value in values] for end in ("low", "high"))
    return Estimate(farthest(value.value for value in values), farthest(lows), farthest(highs))


def _panels(metric: Metric, cube: Cube) -> tuple[Panel, ...]:
    if any(row.name == "actual_to_expected" for row in metric.rows):
        from evenhand.verdicts.notes import deciles

        return (deciles.actual_to_expected(cube),)
    return (calibration.curve(cube),) if metric.binned and cube.meaning.task == "binary" else ()


def _score_notes(metric: Metric, cube: Cube, worst: Stratum, strata: Sequence[Stratum]) -> list[str]:
    calibrated = metric.binned and cube.meaning.task == "binary"
    return calibration.calibration_notes(worst) if calibrated else calibration.precision(strata)


def _evidence_note(stratum: Stratum) -> list[str]:
    """The largest estimate, where the verdict rests on another pair of groups."""
    gap, evidence, table = stratum.gap, stratum.evidence, stratum.table
    judged_on = stratum.request.judged_on
    at = gap.ratio_at if judged_on == "ratio" else gap.difference_at
    if gap.high is None or gap.measure is None or evidence is None or stratum.request.threshold is None:
        return []
    if stratum.bounds.without_labels is not None:  # the verdict rests on the pair that missing labels may move most
        return []
    largest = gap.ratio if judged_on == "ratio" else gap.difference
    own = evidence.ratio if judged_on == "ratio" else evidence.difference
    if math.isnan(largest) or not stratum.value.defined or math.isclose(largest, own.value, abs_tol=1e-12):
        return []
    measure, high, low = (gap.measure, gap.high, gap.low) if at is None else (*at, None)
    if (measure, high, low) == (evidence.measure, evidence.group, evidence.other):
        return []
    row = table.measures[measure]
    size = quotient(gap.ratio) if judged_on == "ratio" else distance(gap.difference, row.unit, signed=at is not None)
    other = stratum.baseline if low is None else f"{table.name(low)} (n = {int(table.support[measure, low]):,})"
    first = f"{table.name(high)} (n = {int(table.support[measure, high]):,})"
    return [larger_estimate(size, f"between {first} and {other} in the {row.title}", stratum.verdict)]


def _one_sided(stratum: Stratum) -> str:
    """That a pass does not count the groups of which the baseline itself falls short; nothing where there are none."""
    limit, table = stratum.request.threshold, stratum.table
    if not stratum.one_sided or table.base is None or not limit or stratum.verdict != "pass":
        return ""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(stratum.judged.everyone, comparison.ratio(table.values, table.base), np.nan)
    if not (ratios > 1 / limit + 1e-9).any():
        return ""
    i, j = (int(place) for place in np.unravel_index(np.nanargmax(ratios), ratios.shape))
    base = stratum.baseline
    return f" Only groups below {base} count here: {base} is itself at {quotient(1 / ratios[i, j])} of {table.name(j)}."


def _left_out(request: Request, strata: Sequence[Stratum]) -> tuple[str, ...]:
    """The groups that are too small to support a pass."""
    if request.threshold is None:
        return ()
    return tuple(dict.fromkeys(name for stratum in strata for name in stratum.small_names))


def _small_names(strata: Sequence[Stratum], *, undefined: bool = False) -> list[str]:
    """The same as people read them, with their strata: a group may be small in one of them and large in another.

    Those whose value is undefined, whatever their size, are named apart.
    """
    return [
        f"{shown} in {stratum.where}" if stratum.name else shown
        for stratum in strata
        for name, shown in stratum.small_names.items()
        if (name in stratum.without_value) == undefined
    ]


def _whom_left_out(strata: Sequence[Stratum]) -> str:
    """The groups that a pass leaves out, with the reason."""
    least, few, lacking = strata[0].least, _small_names(strata), _small_names(strata, undefined=True)
    parts = [f"{join_names(few, 6)}, with fewer than {least} rows to measure on"] if few else []
    parts += [f"{join_names(lacking, 6)}, where a value is undefined"] if lacking else []
    return ", and ".join(parts)


def _notes(request: Request, cube: Cube, strata: Sequence[Stratum]) -> list[str]:
    notes = [clustered.why_alone(cube)] if not clustered.covers(cube, strata[0].table.measures) else []
    notes += dict.fromkeys(stratum.few_clusters for stratum in strata if stratum.few_clusters)
    small = _left_out(request, strata)
    few = _small_names(strata)
    if small and few and max(strata, key=lambda stratum: stratum.weight).verdict != "pass":  # whose sentence names them
        least = f"Fewer than {strata[0].least} rows to measure on"
        notes.append(f"{least}: {join_names(few, 6)}. Too few to support a pass.")
    if isinstance(request.reference, Mapping) and strata[0].plan.against == "extremes":
        lacking = [name for name in cube.meaning.sensitive if name not in request.reference]
        notes.append(f"No reference was given for {join_names(lacking, 6)}, so the extremes are compared.")
    reasons = dict.fromkeys(reason for stratum in strata for reason in undefined_reasons(stratum))
    if reasons:
        notes.append(f"Undefined, so not compared: {join_names(reasons, 6, mark='; ')}.")
    notes += [without for stratum in strata if (without := without_groups(stratum))]
    notes += dict.fromkeys(stratum.bounds.note for stratum in strata if stratum.bounds.note)
    notes += _ratio_notes(request, strata)
    several = [stratum for stratum in strata if len(stratum.table.measures) > 1 and stratum.value.defined]
    lost = dict.fromkeys(title for stratum in several for title in measures_left_out(stratum))
    if lost:
        notes.append(f"Nothing could be compared in the {join_names(lost, 6)}.")
    alone = [stratum.where for stratum in strata if len(strata) > 1 and math.isnan(stratum.gap.difference)]
    if alone:
        notes.append(f"In {join_names(alone, 6)} nothing could be compared. A pass says nothing about it.")
    rare = dict.fromkeys(group for stratum in strata for group in rare_groups(stratum))
    if rare:
        share = 100 * request.policy.min_group_share
        notes.append(
            f"Under {share:g} % of the people each, so shown and not compared: {join_names(rare, 20, mark='; ')}."
        )
    missing = int(sum(n for (_, group), n in zip(cube.pairs, cube.n.sum(axis=(1, 2)), strict=True) if None in group))
    if missing:
        share = missing / cube.size
        whom = "it" if missing == 1 else "them"
        qualified = f" A pass says nothing about {whom}." if share > MISSING_SHARE_NOTED else ""
        lack, shown = ("has", "it is") if missing == 1 else ("have", "they are")
        rows = f"{number_of(missing)} ({share:.1%}) {lack} no group"
        notes.append(f"{rows}; {shown} shown and not judged.{qualified}")
    return [*missing_labels.missing_label_notes(strata), *notes, *cut_notes(cube)]


def _ratio_notes(request: Request, strata: Sequence[Stratum]) -> list[str]:
    """Why values that can be negative have no ratio, where the sentence of the finding does not say so."""
    if request.judged_on == "ratio" and len(strata) == 1:
        return []
    whys = [(stratum, no_ratio(stratum)) for stratum in strata]
    unjudged = " A pass says nothing about it." if request.judged_on == "ratio" else ""
    within = (f"In {stratum.where}: " if stratum.name else "" for stratum, why in whys if why is not None)
    texts = [why for _, why in whys if why is not None]
    return [
        f"{place}{why[0].lower() + why[1:] if place else why}{unjudged}"
        for place, why in zip(within, texts, strict=True)
    ]


def _settings(request: Request, plan: Plan) -> dict[str, object]:
    policy = request.policy
    settings: dict[str, object] = {
        "against": "extremes" if plan.name is None else plan.name,
        "aggregate": request.aggregate,
        "convention": request.convention,
        "two_sided": not plan.between_extremes and not request.one_sided,
        "min_group_size": policy.min_group_size,
        "confidence": policy.confidence,
        "family": request.family,
        "interval": policy.interval,
        **request.options,
    }
    settings |= _uncovered(request)
    if policy.uses_draws:
        settings |= {"draws": policy.draws, "random_state": policy.random_state}
    return settings


def _uncovered(request: Request) -> dict[str, object]:
    return {} if request.covered else {"covered": False}
