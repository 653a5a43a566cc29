"""Measures that are functions of rows: computed group by group, with intervals from a bootstrap or a jackknife.

They are slower than measures made of cells, and the finding says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.core.results import Finding, Group, spell, spell_stratum
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names, shorten
from evenhand.inference.intervals import METHODS, Resampled
from evenhand.inference.spread import Normal, Spread
from evenhand.measures.group_data import GroupData, Whose
from evenhand.measures.known import emptied, left_out
from evenhand.measures.row_measure import RowMeasure
from evenhand.verdicts import clustered
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.finding import finding_of_tables, plan_of
from evenhand.verdicts.request import Request
from evenhand.verdicts.requirements import check_counted, check_groups
from evenhand.verdicts.row_draws import LEAST_DRAWS, Functions, Left, Places, RowSets, Sample
from evenhand.verdicts.row_source import RowSource
from evenhand.verdicts.table import Drawn, Table, against_reference


def finding(request: Request, cube: Cube, source: RowSource) -> Finding:
    """The finding of a metric whose measures are functions of rows, on the attributes of the cube."""
    measures = _measures(request)
    _check_roles(request, cube, source)
    check_groups(cube)
    request, said = _feasible(request)
    if cube.clustered:
        request = clustered.alone(request)
    plan, convention = plan_of(request, cube)
    counted = cube
    if convention.pool and plan.reference is not None:
        cube = cube.pool(plan.reference)
    taken = source.inputs(measures, cube, counted)
    layout = _Layout(cube, plan, labelled=any("label" in row.needs for row in measures))
    rows = layout.rows(taken.atoms)
    functions = Functions(measures, taken.arrays, rows)
    evaluated = _evaluate(request, functions, rows)
    tables = {name: _table(request, evaluated, layout.part(name)) for name in cube.strata}
    pooled = _table(request, evaluated, layout.part(None)) if len(tables) > 1 else None
    computed = finding_of_tables(request, plan, cube, tables, pooled)
    policy = request.policy
    settings = {**computed.settings, "draws": policy.draws, "random_state": policy.random_state}
    settings |= {} if evaluated.judged else {"interval": None}
    notes = [*computed.notes, *_sample_notes(evaluated, layout), *said, *_unjudged(request), _how(request, evaluated)]
    return replace(computed, notes=tuple(notes), settings=settings)


def _measures(request: Request) -> list[RowMeasure]:
    """The measures of the metric, which must all be functions."""
    for row in request.metric.rows:
        if not isinstance(row, RowMeasure):
            raise CallError(
                f"{request.metric.name} mixes {row.name}, made of {row.made_of}, with functions of rows: keep to one."
            )
    return [row for row in request.metric.rows if isinstance(row, RowMeasure)]


def _check_roles(request: Request, cube: Cube, source: RowSource) -> None:
    check_counted(request.metric)
    lacking = sorted(role for role in request.metric.needs if not source.has(role, cube))
    if lacking:
        needed = " and ".join(f"{role}=" for role in lacking)
        raise CallError(f"{request.metric.name} needs {needed}, which was not given.")


def _feasible(request: Request) -> tuple[Request, list[str]]:
    """The request with an interval that functions of rows can have, and what to say where that is another one."""
    policy = request.policy
    if 0 < policy.draws < LEAST_DRAWS and policy.interval not in ("jackknife", "none"):
        raise CallError(
            f"draws={policy.draws} is too few for the interval of a function of rows: draw at least {LEAST_DRAWS} "
            "times, or pass draws=0 for values without intervals."
        )
    method = METHODS.get(policy.interval)
    if method is None or (isinstance(method, Resampled) and method.drawn == "multinomial"):
        return request, []
    said = (
        f"interval={policy.interval!r} is made of counts, which a function of rows does not have; this interval is "
        "simultaneous, from standard errors."
    )
    return replace(request, policy=replace(policy, interval="simultaneous")), [said]


# --- which rows are compared with which


@dataclass(frozen=True)
class _Part:
    """The groups of one stratum, or of all strata together, as places in the list of sets; and their baselines."""

    cube: Cube
    plan: Plan
    groups: Sequence[int]
    rest: Sequence[int] = ()
    everyone: int | None = None


class _Layout:
    """All sets of rows that a finding needs: the groups of each stratum, what they are compared with, and the whole."""

    def __init__(self, cube: Cube, plan: Plan, *, labelled: bool) -> None:
        self.cube, self.plan, self.labelled = cube, plan, labelled
        self.sets: dict[Places, str] = {}
        """What each set is called."""
        self._whose: dict[Places, tuple[Cube, Whose, int]] = {}
        self._places: dict[Places, int] = {}
        self._parts: dict[Group | None, _Part] = {name: self._make(cube.stratum(name), name) for name in cube.strata}
        if len(self._parts) > 1:
            self._parts[None] = self._make(cube.marginal(control=False), None)

    def part(self, stratum: Group | None) -> _Part:
        """The groups of a stratum; None is over all strata."""
        return self._parts[stratum]

    def _make(self, part: Cube, stratum: Group | None) -> _Part:
        among: dict[Group, list[int]] = {}
        for i, (where, group) in enumerate(self.cube.pairs):
            if stratum in (None, where):
                among.setdefault(group, []).append(i)
        inside = [among[group] for _, group in part.pairs]
        meaning = self.cube.meaning
        within = f" in {spell_stratum(stratum, meaning.control)}" if stratum else ""
        names = [f"{spell(group, meaning.sensitive)}{within}" for _, group in part.pairs]
        # What a function makes of labels is not known, so that a group has none where a side of the decision has none:
        # everyone else, and everyone, are the other groups.
        silent = left_out(np.asarray(GroupData.of(part).silent.any(axis=1) & self.labelled))
        known = emptied(part, silent)
        every = sorted(i for atoms, lacks in zip(inside, silent, strict=True) for i in atoms if not lacks)
        groups = [self._place(inside[j], names[j], (part, "groups", j)) for j in range(len(names))]
        if self.plan.against == "rest":
            others = [[i for i in every if i not in atoms] for atoms in inside]
            rest = [self._place(others[j], f"everyone but {names[j]}", (known, "rest", j)) for j in range(len(names))]
            return _Part(part, self.plan, groups, rest)
        if self.plan.against == "overall":
            return _Part(part, self.plan, groups, (), self._place(every, "everyone", (known, "everyone", 0)))
        return _Part(part, self.plan, groups)

    def _place(self, atoms: Sequence[int], name: str, whose: tuple[Cube, Whose, int]) -> int:
        key = tuple(atoms)
        self.sets.setdefault(key, name)
        self._whose.setdefault(key, whose)
        return self._places.setdefault(key, len(self._places))

    def rows(self, atoms: Sequence[Indices]) -> RowSets:
        """The sets with their rows; of functions of labels, those with none on a side of the decision have no value."""
        known: dict[tuple[int, Whose], Bools] = {}
        silent = []
        for i, (cube, whose, place) in enumerate(self._whose.values() if self.labelled else ()):
            key = id(cube), whose
            if key not in known:
                known[key] = np.asarray(GroupData.of(cube, whose).silent.any(axis=1))
            if known[key][place]:
                silent.append(i)
        return RowSets(atoms, list(self.sets), list(self.sets.values()), frozenset(silent))


# --- values, errors and draws


@dataclass(frozen=True)
class _Evaluated:
    """The values of all sets with their standard errors, and what an interval made of draws needs."""

    sample: Sample
    errors: Floats
    rows: RowSets
    left: Left | None = None
    judged: bool = True
    """Is there an interval at all?"""

    def common(self, places: Sequence[int], whole: int) -> Floats:
        """The correlation of the errors of some sets with those of one that holds them; −1 where it is not known."""
        if self.left is not None and not len(self.sample.drawn):
            found = self.left.correlations(self.rows.sets, places, whole)
        else:
            found = self.sample.correlations(places, whole)
        return np.where(np.isnan(found), -1.0, np.clip(found, -1.0, 1.0))


def _evaluate(request: Request, functions: Functions, rows: RowSets) -> _Evaluated:
    policy = request.policy
    method = METHODS.get(policy.interval)
    by_jackknife = policy.interval == "jackknife"
    open_ended = policy.interval == "none" or (policy.draws == 0 and not by_jackknife) or not request.covered
    sample = functions.sample(0 if open_ended or by_jackknife else policy.draws, policy.random_state)
    if open_ended:
        return _Evaluated(sample, np.full(sample.values.shape, np.nan), rows, judged=False)
    needs_left = by_jackknife or (isinstance(method, Resampled) and "acceleration" in method.needs)
    left = functions.one_less(policy.interval) if needs_left else None
    errors = sample.not_zero(left.errors(rows.sets)) if by_jackknife and left is not None else sample.errors
    return _Evaluated(sample, errors, rows, left)


def _table(request: Request, evaluated: _Evaluated, part: _Part) -> Table:
    """The measures of the groups of one part, and their baselines as the plan says."""
    sample, groups = evaluated.sample, list(part.groups)
    values, sizes = sample.values[:, groups], sample.sizes[:, groups].astype(np.int64)
    table = Table(
        part.cube,
        sample.measures,
        [group for _, group in part.cube.pairs],
        _spreads(evaluated, groups),
        values,
        sizes,
        drawn=_drawn(request, evaluated, groups),
    )
    if part.plan.against == "reference":
        table = against_reference(table, part.plan)
    places = list(part.rest) if part.everyone is None else [part.everyone] * len(groups)
    if places:
        table = replace(
            table,
            base=sample.values[:, places],
            base_spreads=_spreads(evaluated, places),
            base_support=sample.sizes[:, places].astype(np.int64),
            # Everyone's value is not a mean of those of the groups.
            shares=None if part.everyone is None else np.full(values.shape, np.nan),
            common=None if part.everyone is None else evaluated.common(groups, part.everyone),
            drawn=_drawn(request, evaluated, groups, places),
        )
    if not evaluated.judged:
        none: list[Spread | None] = [None] * len(values)
        table = replace(table, spreads=none, base_spreads=none if table.base is not None else (), drawn=None)
    return table


def _spreads(evaluated: _Evaluated, places: Sequence[int]) -> list[Spread | None]:
    sample, chosen = evaluated.sample, list(places)
    return [
        Normal(sample.values[i, chosen], evaluated.errors[i, chosen], sample.sizes[i, chosen])
        for i in range(len(sample.values))
    ]


def _drawn(
    request: Request, evaluated: _Evaluated, groups: Sequence[int], base: Sequence[int] | None = None
) -> Drawn | None:
    """What an interval made of draws needs; None for one made of standard errors."""
    if not isinstance(METHODS.get(request.policy.interval), Resampled) or not evaluated.judged:
        return None
    # A group that never varies would seem to be known exactly.
    known = np.where(np.isnan(evaluated.errors), np.nan, evaluated.sample.drawn)
    left = evaluated.left

    def of(values: Floats | None, places: Sequence[int] | None) -> Floats | None:
        return None if values is None or places is None else values[..., list(places)]

    less = None if left is None else left.values
    return Drawn(
        known[..., list(groups)],
        None if left is None else left.people,
        of(less, groups),
        of(known, base),
        of(less, base),
    )


# --- what is said


def _how(request: Request, evaluated: _Evaluated) -> str:
    policy, computed = request.policy, "Computed from the rows of each group"
    if not request.covered:
        return f"{computed}."
    if not evaluated.judged:
        why = "Without draws (draws=0)" if policy.interval != "none" else "With interval='none'"
        return f"{computed}. {why} there is no interval: the verdict is open."
    if policy.interval == "jackknife":
        return f"{computed}; standard errors by the jackknife, which leaves out one row at a time."
    made = "standard errors" if policy.interval == "simultaneous" else f"{policy.interval} intervals"
    return f"{computed}; {made} by a bootstrap of the rows with {policy.draws:,} draws."


def _unjudged(request: Request) -> list[str]:
    """How to set a limit, where nobody has set one."""
    if request.threshold is not None or not request.covered or request.metric.name in request.policy.thresholds:
        return []
    name = request.metric.name
    return [
        f"{name} has no threshold, so it is shown and not judged: evenhand.metric({name!r}, measures=function, "
        "threshold=...) sets one."
    ]


def _sample_notes(evaluated: _Evaluated, layout: _Layout) -> list[str]:
    """Draws without a value, and groups whose interval the draws do not tell."""
    sample, names = evaluated.sample, list(layout.sets.values())
    draws, notes = len(sample.drawn), []
    if not evaluated.judged:
        return []
    for i, measure in enumerate(sample.measures):
        values, lost = sample.values[i], draws - sample.defined[i]
        known = [j for j in range(len(names)) if not np.isnan(values[j])]
        some = [f"{names[j]} ({lost[j]:,})" for j in known if lost[j] and sample.sizes[i, j] > 1]
        if some:
            notes.append(f"In some draws {measure.title} has no value, and they are left out: {join_names(some, 6)}.")
        error = sample.failures.get(measure.name.partition("[")[0])
        if error is not None:
            shown = f"{type(error).__name__}: {shorten(str(error), 200)}"
            notes.append(f"In some draws the function of {measure.title} failed, such as with {shown}")
        unknown = [names[j] for j in known if np.isnan(evaluated.errors[i, j])]
        if unknown:
            notes.append(
                f"No interval of {measure.title} is known for {join_names(unknown, 6)}: draws of the rows do not "
                "differ, or most have no value."
            )
    return notes
