"""search(): is there a group that nobody looked at? Every conjunction of values, with limits that hold for all."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from evenhand.audits.audit_notes import data_notes
from evenhand.core import frames, wording
from evenhand.core.arguments import check_argument
from evenhand.core.arrays import Bools, ColumnsLike, DataLike
from evenhand.core.quantities import check_whole
from evenhand.core.results import Caller, Estimate, Finding
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, EvenhandError, Problems, as_typed, join_names, shorten
from evenhand.inference import critical
from evenhand.sources.documentation import documented
from evenhand.sources.reader import reader_of
from evenhand.sources.roles import DEFAULTS, ReadArguments
from evenhand.subgroups import lines, text
from evenhand.subgroups.asked import Asked, lacking, moments, questions, settle
from evenhand.subgroups.conjunctions import Conjunctions, Profiles, conjunctions
from evenhand.subgroups.gaps import Against, Gaps, Judged, common_deviate
from evenhand.subgroups.halves import halves
from evenhand.subgroups.questions import MeanQuestion, Question, silent
from evenhand.verdicts.finding import on_value
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.verdict import verdict

DEEPEST = 10
_MOST_PEOPLE = 10**12
_MOST_CONFIRMED = 20
NOT_TAKEN = ("sensitive", "control", "cluster", "design_strata", "clusters")


@documented
@reader_of(*(name for name in DEFAULTS if name not in NOT_TAKEN))
def search(
    data: DataLike | Cube | None = None,
    *,
    within: ColumnsLike | None = None,
    metric: Any = None,
    depth: int = 3,
    least: int = 100,
    threshold: float | None = None,
    against: Literal["rest", "overall"] | None = None,
    split: bool = False,
    policy: Policy | str | Path | None = None,
    confidence: float | None = None,
    draws: int | None = None,
    random_state: int | None = None,
    **arguments: Unpack[ReadArguments],
) -> Finding:
    """Search for groups that nobody named, among all groups that the values of a few columns make.

    The intervals hold for all groups together, however many there are: where no group differs, a search flags one in
    at most 5 of 100 data sets. A group is flagged where its gap surely lies beyond the threshold, certified where it
    surely lies within it, and open otherwise.

    Parameters
    ----------
    data
        What `evenhand.audit` takes; or a Cube whose attributes are searched.
    within
        The columns to search: names, arrays, a table, or a mapping {name: array}. Numbers are cut into bands as those
        of an audit are. A missing value is a value like others.
    metric
        What is compared: a metric that compares differences, such as "equal_opportunity" or "calibration"; or a measure
        such as "selection_rate", "mean_score", "log_loss" or "mean_residual". By default that which decides an audit.
        Calibration is searched in every group and bin of scores, each against its own mean score.
    depth
        How many columns are combined at most.
    least
        How many people a group must have, of those whom the measure is about: of a false positive rate those with a
        negative label, of calibration those with a score in the bin.
    threshold
        The largest gap that is tolerated; by default that of the metric.
    against
        What a group is compared with: the "rest" (default), which is everyone else, or "overall", which is everyone.
    split
        Whether one half of the people is searched and the other half asked about what was found there, so that few
        groups share the error.
    draws
        How many draws make the deviate that all intervals share; default 1000. With 0 it is Šidák's.
    random_state
        Seed of the draws and of the split.

    Returns
    -------
    Finding
        Its value is the largest gap. Its rows and panels list the groups that are flagged, those that are open and
        every value by itself.

    >>> from evenhand.datasets import compas
    >>> people = dict(data=compas(), label="recidivated", score="decile", cutoff=5, count="count")
    >>> found = search(**people, within=["race", "sex", "age"], metric="false_positive_rate")
    >>> found.verdict, found.evidence.group
    ('fail', ('race = African-American, age = under 25',))
    """
    request = _request(threshold, policy, confidence, draws, random_state)
    _check(depth, least, against, split)
    cube = _counted(data, within, arguments)
    asked = settle(metric, cube, request.policy)
    request = _with_threshold(request, asked, cube, explicit=threshold is not None)
    profiles = Profiles.of(cube)
    profiles.check(least, cube.cut_by_us)
    plan = _Plan(request, asked, _against(against, asked), depth, least)
    finding = _confirmed(plan, cube, profiles) if split else _searched(plan, cube, profiles)
    title = f"{finding.title} ({asked.title})"
    return replace(finding, title=title, caller=Caller(frames.kind_of(data), cube.kinds))


@dataclass(frozen=True)
class _Plan:
    """All that a caller has asked for."""

    request: Request
    asked: Asked
    against: Against
    depth: int
    least: int

    @property
    def threshold(self) -> float:
        assert self.request.threshold is not None  # noqa: S101 - a search has one
        return self.request.threshold

    @property
    def confidence(self) -> float:
        return self.request.policy.confidence

    @property
    def settings(self) -> dict[str, object]:
        return {"searched": self.asked.name, "depth": self.depth, "least": self.least, "against": self.against}


def _request(threshold: Any, policy: Any, confidence: Any, draws: Any, random_state: Any) -> Request:
    return make_request(
        "search",
        policy=policy,
        threshold=threshold,
        confidence=confidence,
        draws=draws,
        random_state=random_state,
    )


def _check(depth: Any, least: Any, against: Any, split: Any) -> None:
    check_argument("split", bool, split)
    check_argument("against", str | None, against)
    problems = Problems()
    check_whole("depth", depth, 1, DEEPEST, problems)
    check_whole("least", least, 2, _MOST_PEOPLE, problems)
    if against not in (None, "rest", "overall"):
        problems.add(f"against={shorten(repr(against))} must be 'rest' (everyone else) or 'overall' (everyone).")
    problems.raise_if_any(CallError)


def _counted(data: Any, within: Any, arguments: Mapping[str, Any]) -> Cube:
    """The cube whose groups are the profiles of the columns that are searched."""
    for name in NOT_TAKEN:
        if arguments.get(name) is not None:
            raise CallError(not_taken(name, arguments[name], within))
    known = merge.counted(data, {**DEFAULTS, **arguments})
    if known is not None:
        cube = known.marginal(None if within is None else [within] if isinstance(within, str) else list(within))
        if cube.meaning.control:
            cube = cube.marginal(control=False)
        if cube.clustered:
            raise CallError(
                "rows of this cube belong together, and a search takes people as strangers: count without cluster=."
            )
        return cube
    if within is None or (isinstance(within, (str, list, tuple)) and not len(within)):
        raise CallError(f"say which columns to search: {as_typed('within=[...]', '--within COLUMN')}.")
    with in_words_of_a_search():
        return Cube.count(data, **{**arguments, "sensitive": within})


@contextmanager
def in_words_of_a_search() -> Iterator[None]:
    """Within it, errors of a reader call the columns to search within=, which they know as sensitive=."""
    try:
        yield
    except EvenhandError as error:
        raise type(error)(re.sub(r"(?<![\w'\"])sensitive(?![\w'\"])", "within", str(error))) from None


def not_taken(name: str, value: Any = None, within: Any = None) -> str:
    """Why a search does not take an argument of an audit, and what to do instead."""
    typed = as_typed(f"{name}=", f"--{name.replace('_', '-')}")
    searched = as_typed("within=", "--within")
    if name == "sensitive":
        both = isinstance(value, str) and (value == within or (isinstance(within, (list, tuple)) and value in within))
        if both:
            return f"{value!r} is named in {typed} and in {searched}: name it in {searched} alone, and it is searched."
        return (
            f"a search makes groups of all columns in {searched}: name the sensitive attribute there, not in {typed}."
        )
    if name == "control":
        return f"a search has no strata: name the column in {searched}, or search the rows of one stratum at a time."
    return f"a search takes people as strangers, so it does not take {typed}: leave it out, or search one row of each."


def _against(against: Any, asked: Asked) -> Against:
    if asked.binned:
        if against is not None:
            raise CallError(
                f"against={against!r}: calibration compares each group with its own mean score; leave it out."
            )
        return "score"
    if against == "overall" and any(getattr(row, "of", ()) for row in asked.rows):
        raise CallError(f"{asked.name} is a mean of rates with separate people, so it is compared with the rest only.")
    found: Against = against or "rest"
    return found


def _with_threshold(request: Request, asked: Asked, cube: Cube, *, explicit: bool) -> Request:
    """The request with the threshold of the metric that is searched, where nobody set one for searches."""
    if explicit or "search" in request.policy.thresholds:
        if request.threshold is None:
            raise CallError("a search needs a threshold: give threshold=.")
        return request
    limit = asked.threshold
    in_units = all(getattr(row, "in_score_units", False) for row in asked.rows) and not asked.binned
    if in_units and cube.scores is not None and asked.name not in request.policy.thresholds:
        limit *= cube.scores.bins.high - cube.scores.bins.low
    return replace(request, threshold=limit)


def _every(plan: _Plan, groups: Conjunctions, asked: Sequence[Question]) -> list[Gaps]:
    every = [Gaps.of(groups, question, plan.against, plan.least) for question in asked]
    if not any(len(gaps.which) for gaps in every):
        titles = join_names(dict.fromkeys(question.title for question in asked), 3)
        largest = max(int(question.people(groups.rolled_up(question.sums)).max()) for question in asked)
        remedy = (
            f"the largest has {largest:,}. Lower {as_typed('least=', '--least')}"
            if largest > 1
            else f"search another measure, with {as_typed('metric=', '--metric')}"
        )
        raise CallError(f"no group has at least {plan.least:,} people whom the {titles} is about: {remedy}.")
    return every


def _searched(plan: _Plan, cube: Cube, profiles: Profiles) -> Finding:
    """The finding on all people."""
    groups = conjunctions(profiles, plan.depth, plan.least)
    lacks = silent(groups, cube)
    every = _every(plan, groups, questions(plan.asked, cube, groups.belonging(lacks)))
    policy = plan.request.policy
    deviate, drawn = common_deviate(every, plan.confidence, policy.draws, policy.random_state)
    bounds = policy.missing_labels == "bounds"
    judged = [Judged.of(gaps, deviate, plan.threshold, bounds=bounds) for gaps in every]
    value = _largest(judged)
    decided = verdict(value, plan.threshold)
    counts = text.Counts.of(judged)
    listed = lines.with_shrunken(lines.flagged(judged), judged)
    others = lines.with_shrunken(lines.still_open(judged), judged)
    singles = lines.single(judged)
    evidence = {"fail": listed, "inconclusive": others}.get(decided) or [_farthest(judged)]
    columns = len(profiles.columns)
    result = ValueResult(
        value,
        text.sentence(evidence[0], counts, decided, plan.threshold, plan.confidence, plan.least, listed=bool(others)),
        _farthest(judged, by_size=True).row,
        [line.row for line in (*listed, *others)],
        text.notes(judged, counts, (listed, others), (plan.depth, plan.least, columns), drawn, deviate),
        unit=_unit(evidence[0]),
        evidence=evidence[0].evidence,
        panels=_panels(listed, others, singles),
        settings={
            **plan.settings,
            "groups": counts.groups,
            "gaps": counts.gaps,
            "flagged": counts.flagged,
            "certified": counts.certified,
            "open": counts.open,
            "profiles": len(profiles.people),
            "deviate": deviate,
            "draws": drawn,
            "split": False,
        },
    )
    return on_value(
        plan.request,
        profiles.columns,
        result,
        notes=[*data_notes(cube), *_on_labels(plan, cube, groups, lacks, judged)],
    )


def _on_labels(plan: _Plan, cube: Cube, groups: Conjunctions, lacks: Bools, judged: Sequence[Judged] = ()) -> list[str]:
    """Whose labels tell nothing, and what missing ones were taken for, where the measure needs labels."""
    if "label" not in plan.asked.needs or not cube.has_labels or not cube.n[:, -1].any():
        return []
    without = [] if plan.asked.binned else [lacking(row, lacks) for row in plan.asked.rows]
    said = dict.fromkeys(text.without(groups, which) for which in without if which.any())
    return [*said, *text.on_labels(judged if plan.request.policy.missing_labels == "bounds" else ())]


def _unit(line: lines.Line) -> str:
    return wording.POINTS if line.question.unit == "rate" else line.question.unit


def _largest(judged: Sequence[Judged]) -> Estimate:
    """The largest gap: none surely exceeds its lower end, and the upper end is that of the one that may be largest."""
    some = [each for each in judged if len(each.near)]
    size = max(float(np.abs(each.gaps.differences).max()) for each in some)
    low, high = (max(float(getattr(each, end).max()) for each in some) for end in ("near", "far"))
    unknown = text.unmeasured(judged)
    return Estimate(size, low, max(size, high, _most(unknown) if unknown else 0.0))


def _farthest(judged: Sequence[Judged], *, by_size: bool = False) -> lines.Line:
    """The gap that may lie farthest from none, or the one whose estimate does."""
    some = [each for each in judged if len(each.near)]
    sizes = [np.abs(each.gaps.differences) if by_size else each.far for each in some]
    at = max(range(len(some)), key=lambda i: float(sizes[i].max()))
    return lines.make_line(some[at], int(sizes[at].argmax()))


def _panels(listed: Sequence[lines.Line], others: Sequence[lines.Line], singles: Sequence[lines.Line]) -> Any:
    cut = f" (the first {lines.MOST_SINGLE})" if len(singles) == lines.MOST_SINGLE else ""
    parts = {"Groups beyond the threshold": listed, "Groups that are open": others}
    found = [lines.panel(title, each) for title, each in parts.items() if each]
    return (*found, *([lines.panel(f"Every value by itself{cut}", singles, role="")] if singles else []))


def _confirmed(plan: _Plan, cube: Cube, profiles: Profiles) -> Finding:
    """The finding of a search in one half of the people, asked again of the other half."""
    policy = plan.request.policy
    first, second = halves(cube, policy.random_state, moments(plan.asked, cube))
    half = replace(profiles, people=first.n.reshape(len(profiles.people), -1).sum(axis=1))
    groups = conjunctions(half, plan.depth, max(plan.least // 2, 2))
    searched = replace(plan, least=max(plan.least // 2, 2))
    lacks = silent(groups, cube)
    out = groups.belonging(lacks)
    chosen, looked = _chosen(searched, _every(searched, groups, questions(plan.asked, first, out)))
    asked = questions(plan.asked, second, out)
    names = {(question.name, question.bin): question for question in asked}
    deviate = critical.sidak(len(chosen), plan.confidence)
    every = []
    for (name, bin_), which in _by_question(chosen).items():
        gaps = Gaps.of(groups, names[name, bin_], plan.against, 1)
        kept = np.isin(gaps.which, which)
        judged = Judged(gaps, *gaps.ends(deviate), plan.threshold)
        every.append((judged, kept))
    listed = [lines.make_line(judged, int(at)) for judged, kept in every for at in np.flatnonzero(kept)]
    if not listed:
        raise CallError("none of the groups that one half points to has people in the other: search without split=.")
    listed.sort(key=lambda line: -line.near)
    value = _of_chosen(listed, asked)
    decided = verdict(value, plan.threshold)
    named = {line.group for line in listed}
    sure = len({line.group for line in listed if line.state == "flagged"})
    result = ValueResult(
        value,
        text.confirmed(listed[0], len(named), sure, looked, decided, plan.threshold, plan.confidence),
        max(listed, key=lambda line: abs(line.gap.value)).row,
        [line.row for line in listed],
        [
            "One half of the people, drawn by chance, was searched; the other half alone makes these intervals, which "
            f"hold for {len(listed):,} {'gap' if len(listed) == 1 else 'gaps'} together. What was not chosen is not "
            "bounded, so that such a search cannot pass."
        ],
        unit=_unit(listed[0]),
        evidence=listed[0].evidence,
        panels=(lines.panel("Groups that one half pointed to, in the other half", listed),),
        settings={**plan.settings, "groups": looked, "flagged": sure, "chosen": len(named), "split": True},
    )
    return on_value(
        plan.request, profiles.columns, result, notes=[*data_notes(cube), *_on_labels(plan, cube, groups, lacks)]
    )


def _chosen(plan: _Plan, every: Sequence[Gaps]) -> tuple[list[lines.Line], int]:
    """The groups that one half points to: those that are surest by their own limits; and how many were looked at."""
    deviate = critical.upper((1 - plan.confidence) / 2)
    judged = [Judged(gaps, *gaps.ends(deviate), plan.threshold) for gaps in every]
    found = lines.flagged(judged, _MOST_CONFIRMED) or lines.still_open(judged)[:1] or [_farthest(judged)]
    return found, text.Counts.of(judged).groups


def _by_question(chosen: Sequence[lines.Line]) -> dict[tuple[str, Any], list[int]]:
    found: dict[tuple[str, Any], list[int]] = {}
    for line in chosen:
        found.setdefault((line.question.name, line.question.bin), []).append(line.group)
    return found


def _of_chosen(listed: Sequence[lines.Line], asked: Sequence[Question]) -> Estimate:
    """The largest of the gaps that were asked about; nothing bounds it from above, as others were not asked about."""
    size = max(abs(line.gap.value) for line in listed)
    return Estimate(size, max(line.near for line in listed), _most(asked))


def _most(asked: Sequence[Question]) -> float:
    """How large a gap in any of these may be."""
    numbers = [question for question in asked if isinstance(question, MeanQuestion)]
    most = max((question.span[1] - question.span[0] for question in numbers), default=1.0)
    return most if math.isfinite(most) else math.inf
