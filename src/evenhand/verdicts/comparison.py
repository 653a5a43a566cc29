"""Comparison: groups side by side, as a difference and as a ratio. Arrays in, arrays out.

One orientation everywhere: group − reference, group / reference. Without a reference, the extremes are compared:
highest − lowest, and lowest / highest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.core.quantities import shown
from evenhand.core.results import Group, JudgedOn, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, listing, nearest, shorten
from evenhand.measures.cells import CellMeasure, evaluate
from evenhand.measures.group_data import without_labels
from evenhand.measures.known import left_out
from evenhand.sources.spelling import spelling
from evenhand.sources.value_labels import named_reference

WORDS = ("rest", "overall", "largest", "highest", "lowest")
Against = Literal["extremes", "highest", "lowest", "reference", "rest", "overall"]

EXTREMES = {"highest": "the highest", "lowest": "the lowest"}
"""What groups may be set against although the data chooses it, with its name."""


class Convention(NamedTuple):
    """How another tool sets groups side by side, so that its numbers can be reproduced."""

    pool: bool = False  # everyone but the reference is one group
    fold: bool = False  # differences without a sign, ratios at most 1
    fold_worst: bool = False  # the same, but only of the worst of several measures
    default_reference: str | None = None
    needs_reference: bool = False
    turned: frozenset[str] = frozenset()
    """The metrics whose difference is reference − group and not group − reference."""


_FAVOURED_FIRST = (
    "base_rate_parity",
    "demographic_parity",
    "equal_opportunity",
    "overall_accuracy_equality",
    "predictive_parity",
    "conditional_acceptance_parity",
)

CONVENTIONS: dict[str, Convention] = {
    "fairlearn": Convention(fold=True),
    # Its equalized odds, of decisions and of scores, is the larger of two sizes; every other difference has a sign.
    "aif360": Convention(pool=True, needs_reference=True, fold_worst=True),
    "aequitas": Convention(default_reference="largest"),
    "virny": Convention(pool=True, needs_reference=True),
    "exfairness": Convention(fold=True),
    # Its reference is the favoured facet a, everyone else is d: DPL, DPPL, RD, AD, DAR and DCA are a − d, others d − a.
    "clarify": Convention(pool=True, needs_reference=True, turned=frozenset(_FAVOURED_FIRST)),
    "solas": Convention(needs_reference=True),  # each protected group against the reference that is named
}


class Plan(NamedTuple):
    """What each group is compared with.

    Against "highest" or "lowest" is between extremes, so that its interval allows for the data having chosen both
    groups; beside the gap, every group has a row that sets it against the highest, or the lowest, one.
    """

    against: Against = "extremes"
    reference: Group | None = None
    fold: bool = False

    @property
    def between_extremes(self) -> bool:
        """Do the highest and the lowest group make the gap, with no baseline?"""
        return self.against in ("extremes", *EXTREMES)

    @property
    def name(self) -> str | None:
        """What the groups are set against, in words; None between extremes."""
        words = {"extremes": None, "rest": "everyone else", "overall": "everyone", **EXTREMES}
        return words.get(self.against, spell(self.reference))


def find_convention(name: str | None, *, worst_of: int = 1) -> Convention:
    """A convention by its name, for a metric that is the worst of so many measures."""
    if name is None:
        return Convention()
    if not isinstance(name, str) or name not in CONVENTIONS:
        raise CallError(f"convention={shown(name)} is not known; {nearest(str(name), CONVENTIONS)}")
    convention = CONVENTIONS[name]
    return convention._replace(fold=True) if convention.fold_worst and worst_of > 1 else convention


def turned(plan: Plan, groups: Sequence[Group]) -> Plan:
    """The plan of two groups with the other one as the reference, so that a difference has the other sign."""
    others = [group for group in groups if group != plan.reference and None not in group]
    return plan._replace(reference=others[0]) if plan.reference is not None and len(others) == 1 else plan


def reference_in(reference: Any, cube: Cube) -> Any:
    """A reference among the groups of a cube, as `check_reference` has it; a group may be named by its code."""
    names = cube.meaning.sensitive
    return check_reference(named_reference(reference, cube.codes, names, cube.groups), names, cube.groups)


def check_reference(reference: Any, attributes: Sequence[str], groups: Sequence[Group]) -> Any:
    """A reference for several attributes as a mapping by attribute; every value in it must be a group.

    None and the WORDS stay what they are, unless a group has that name. A tuple or list has a value for each attribute.
    """
    if reference is None:
        return reference
    if isinstance(reference, (tuple, list)):
        if len(reference) != len(attributes):
            raise CallError(
                f"reference={shorten(repr(reference))} must have a value for each attribute, which are "
                f"{listing(attributes)}; or map attributes to values."
            )
        reference = dict(zip(attributes, reference, strict=True))
    if isinstance(reference, Mapping) and not reference:
        raise CallError("reference={} names no group: leave it out to compare the highest group with the lowest.")
    values = {name: {group[i] for group in groups} - {None} for i, name in enumerate(attributes)}
    if not isinstance(reference, Mapping):
        spelled = spelling(reference)
        named = {name: reference for name in attributes if spelled in values[name]}
        if named or spelled in WORDS:
            return named or spelled
        every = sorted({value for group in values.values() for value in group if value is not None})
        raise CallError(f"reference={spelled!r} is not a group; {nearest(spelled, every)}")
    for name, value in reference.items():
        if name not in values:
            raise CallError(
                f"reference= names {name!r}, which is not an attribute here; {nearest(str(name), attributes)}"
            )
        if spelling(value) not in values[name]:
            known = sorted(value for value in values[name] if value is not None)
            raise CallError(f"reference {value!r} is not a group of {name!r}; the groups are {listing(known)}.")
    return reference


def plan(
    reference: Any,
    attributes: Sequence[str],
    groups: Sequence[Group],
    sizes: Mapping[Group, float],
    convention: Convention,
) -> Plan:
    """Read `reference`: a value, a mapping by attribute, "rest", "overall", "largest", "highest" or "lowest".

    An intersection has a reference only if every attribute of it has one. `sizes` are people or, with weights, the sums
    of these: they say which group is the largest.
    """
    if reference is None:
        reference = convention.default_reference
    if reference is None and convention.needs_reference:
        raise CallError("this convention compares with a privileged group: name it, as in reference='White'.")
    if reference is None:
        return Plan(fold=convention.fold)
    if isinstance(reference, Mapping):
        for name in reference:
            if not isinstance(name, str):
                raise CallError(f"reference= maps attributes to values; {name!r} is not an attribute.")
        wanted = [reference.get(name) for name in attributes]
        if any(value is None for value in wanted):
            return Plan(fold=convention.fold)
        values: tuple[Any, ...] = tuple(wanted)
    else:
        values = tuple(reference) if isinstance(reference, (tuple, list)) else (reference,)
    group = _find_group(values, groups)
    if group is not None:
        return Plan("reference", group, convention.fold)
    if values in (("rest",), ("overall",), ("highest",), ("lowest",)):
        return Plan(values[0], fold=convention.fold)
    if values == ("largest",):
        known = [group for group in groups if None not in group] or list(groups)
        return Plan("reference", max(known, key=lambda group: sizes[group]), convention.fold)
    if len(values) != len(attributes) and not isinstance(reference, Mapping):
        return Plan(fold=convention.fold)
    shown = ", ".join(str(value) for value in values)
    names = [spell(group) for group in groups]
    raise CallError(
        f"reference={shown!r} is not a group of {' × '.join(attributes)}; {nearest(shown, names)} "
        f"The groups are {listing(names)}."
    )


def _find_group(values: Sequence[Any], groups: Sequence[Group]) -> Group | None:
    spelled = tuple(spelling(value) for value in values)
    return next((group for group in groups if group == spelled), None)


def baselines(
    cells: Floats, rows: Sequence[CellMeasure], plan: Plan, groups: Sequence[Group], silent: Bools | None = None
) -> Floats | None:
    """What each measure of each group is compared with, [..., measures, groups]; None between extremes.

    `cells` is [..., groups, 8]. The reference itself has no baseline (NaN): it is not compared with itself. `silent`
    says of each group whether nobody refused, and nobody selected, has a label: everyone is who a measure is known of.
    """
    if plan.between_extremes:
        return None
    shape = cells.shape[:-1]
    everyone = cells.sum(axis=-2)
    if plan.against != "reference":
        alike: dict[tuple[bool, ...], list[CellMeasure]] = {}
        for row in rows:
            lacks = () if silent is None else left_out(without_labels(row.labels_of, silent)).tolist()
            alike.setdefault(tuple(lacks), []).append(row)
        values: dict[str, Floats] = {}
        for lacks, some in alike.items():
            part = cells * ~np.array(lacks)[:, None] if any(lacks) else cells
            total = part.sum(axis=-2)[..., None, :]
            values |= evaluate(total if plan.against == "overall" else total - part, some, everyone)
        return np.stack([np.broadcast_to(values[row.name], shape) for row in rows], axis=-2)
    values = dict(evaluate(cells, rows, everyone))
    place = next((i for i, group in enumerate(groups) if group == plan.reference), None)
    if place is None:
        return np.full((*shape[:-1], len(rows), shape[-1]), np.nan)
    base = np.stack([np.broadcast_to(values[row.name][..., [place]], shape) for row in rows], axis=-2)
    base[..., place] = np.nan
    return base


def apart(values: Floats, yardsticks: Bools | None = None) -> tuple[Floats, Floats]:
    """Highest − lowest and lowest / highest over the last axis; NaN where fewer than two groups have a value.

    Only `yardsticks` can be the highest, if they are given.
    """
    enough = (~np.isnan(values)).sum(axis=-1) >= 2
    able = values if yardsticks is None else np.where(yardsticks, values, np.nan)
    high, low = np.fmax.reduce(able, axis=-1), np.fmin.reduce(values, axis=-1)
    return np.where(enough, high - low, np.nan), np.where(enough, ratio(low, high), np.nan)


def ratio(top: Any, bottom: Any, signed: Any = False) -> Floats:
    """top / bottom; 0/0 is undefined, anything else over 0 is infinite. Of negative numbers there is no ratio.

    Where `signed`, values can be negative although these may not be: then both must be above 0.

    >>> ratio([1.0, -3.0, 0.0], [2.0, -2.0, 2.0]).tolist(), ratio(0.0, 2.0, signed=True).tolist()
    ([0.5, nan, 0.0], nan)
    >>> ratio(1.0, 2e-313).tolist()
    inf
    """
    top, bottom = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = np.true_divide(top, bottom)
    return np.asarray(np.where(_no_ratio(top, signed) | _no_ratio(bottom, signed), np.nan, quotient))


def _no_ratio(values: Floats, signed: Any) -> Bools:
    """Which values rule out a ratio: those below 0, and 0 itself where values can be negative."""
    return np.asarray((values < 0) | (np.asarray(signed) & (values <= 0)))


def without_ratio(values: Floats, base: Floats | None, usable: Bools, signed: Bools | None) -> tuple[Bools, Bools]:
    """Which values of usable groups, and which of their baselines, rule out a ratio; both [measures, groups].

    One of them leaves nothing to judge: a ratio of the others would leave out the group that stands worst.
    """
    can_be = np.zeros((len(values), 1), dtype=bool) if signed is None else signed[:, None]
    there = usable & ~np.isnan(values)
    bases = np.zeros(values.shape, dtype=bool) if base is None else there & _no_ratio(base, can_be)
    return there & _no_ratio(values, can_be), bases


def folded(values: Any) -> Floats:
    """A ratio and its inverse are the same distance from 1: the smaller of the two."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(values, np.true_divide(1.0, values)))


class Gap(NamedTuple):
    """How far apart groups are: the difference, the ratio, and the indices of the two groups that make it.

    `low` is None where the other side is a baseline. `measure` is None where measures were averaged. Against a
    baseline, `difference_at` and `ratio_at` are (measure, group): the two may be largest in different groups.
    """

    difference: float = math.nan
    ratio: float = math.nan
    high: int | None = None
    low: int | None = None
    measure: int | None = None
    difference_at: tuple[int, int] | None = None
    ratio_at: tuple[int, int] | None = None


def gap(
    values: Floats,
    base: Floats | None,
    usable: Bools,
    *,
    aggregate: str = "worst",
    judged_on: JudgedOn = "difference",
    one_sided: bool = False,
    fold: bool = False,
    signed: Bools | None = None,
    yardsticks: Bools | None = None,
    sizes: Floats | None = None,
) -> Gap:
    """The gap of one or several measures, `values` [measures, groups], over the groups that are usable.

    `signed` says of each measure whether it can be negative: then there is no ratio unless all values are above 0.
    Between extremes only `yardsticks` can be the highest group, if they are given. Of groups with the same value the
    largest, by `sizes` [groups], is named; names do not decide.
    """
    values = np.where(usable, values, np.nan)
    if base is None:
        found = _between_extremes(values, aggregate, judged_on, yardsticks, sizes)
    else:
        found = _against(values, base, aggregate, judged_on, one_sided, fold)
    unfit = without_ratio(values, base, usable, signed)
    return found._replace(ratio=math.nan) if unfit[0].any() or unfit[1].any() else found


def _between_extremes(
    values: Floats, aggregate: str, judged_on: JudgedOn, yardsticks: Bools | None, sizes: Floats | None
) -> Gap:
    counted = (~np.isnan(values)).sum(axis=1)
    if not (counted >= 2).any() or (aggregate != "worst" and not (counted >= 2).all()):
        return Gap()
    every, sizes = np.arange(len(values)), np.ones(values.shape[1]) if sizes is None else 1.0 + sizes
    able = values if yardsticks is None else np.where(yardsticks, values, np.nan)
    # Groups that differ by rounding alone are equals: which one is named is not left to it.
    able = np.where(np.isnan(able), -np.inf, able)
    top = able.max(axis=1, keepdims=True)
    high = np.argmax(np.where(able >= top - _rounding(top), sizes, 0.0), axis=1)
    others = np.where(np.isnan(values), np.inf, values)
    others[every, high] = np.inf  # where it is the lowest of all too, another one is set against it
    bottom = others.min(axis=1, keepdims=True)
    equals = np.where(others <= bottom + _rounding(bottom), sizes, 0.0)
    low = values.shape[1] - 1 - np.argmax(equals[:, ::-1], axis=1)
    tops, bottoms = values[every, high], values[every, low]
    with np.errstate(invalid="ignore"):  # of infinite odds
        bottoms = np.where(np.abs(tops - bottoms) <= _rounding(tops), tops, bottoms)
    differences = np.where(counted >= 2, tops - bottoms, np.nan)
    ratios = np.where(counted >= 2, ratio(bottoms, tops), np.nan)
    worst = _worst(differences if judged_on != "ratio" else -ratios)
    if aggregate == "worst":
        return Gap(_largest(differences), _smallest(ratios), int(high[worst]), int(low[worst]), worst)
    return Gap(float(differences.mean()), float(ratios.mean()), int(high[worst]), int(low[worst]))


def _rounding(values: Floats) -> Floats:
    return np.where(np.isfinite(values), 1e-14 * np.maximum(np.abs(values), 1.0), 0.0)


def _against(values: Floats, base: Floats, aggregate: str, judged_on: JudgedOn, one_sided: bool, fold: bool) -> Gap:
    differences, ratios = values - base, ratio(values, base)
    if fold and aggregate == "mean":
        return _mean_of_worst(differences, ratios)
    if aggregate == "worst":
        sizes, distances = np.abs(differences), ratios if one_sided else folded(ratios)
    elif aggregate == "mean":
        differences, ratios = differences.mean(axis=0, keepdims=True), ratios.mean(axis=0, keepdims=True)
        sizes, distances = np.abs(differences), ratios if one_sided else folded(ratios)
    else:
        differences = np.abs(differences).mean(axis=0, keepdims=True)
        ratios = folded(ratios).mean(axis=0, keepdims=True)
        sizes, distances = differences, ratios
    if np.isnan(sizes).all():
        return Gap()
    far = np.unravel_index(_worst(sizes.reshape(-1)), sizes.shape)
    apart = np.unravel_index(_worst(-distances.reshape(-1)), distances.shape)
    named = apart if judged_on == "ratio" and not np.isnan(distances).all() else far
    difference, quotient = float(differences[far]), float(ratios[apart])
    if fold:
        difference, quotient = abs(difference), float(folded(quotient))
    measure = int(named[0]) if aggregate == "worst" else None
    places = [(int(place[0]), int(place[1])) for place in (far, apart)]
    return Gap(difference, quotient, int(named[1]), None, measure, places[0], places[1])


def _mean_of_worst(differences: Floats, ratios: Floats) -> Gap:
    """The farthest group in each measure by itself, then the mean over the measures, as fairlearn has it."""
    sizes, distances = np.abs(differences), folded(ratios)
    if np.isnan(sizes).all():
        return Gap()
    far, apart = [_worst(row) for row in sizes], [_worst(-row) for row in distances]
    every = np.arange(len(sizes))
    first = _worst(sizes[every, far])
    return Gap(
        float(sizes[every, far].mean()),
        float(distances[every, apart].mean()),
        far[first],
        None,
        None,
        (first, far[first]),
        (_worst(-distances[every, apart]), apart[_worst(-distances[every, apart])]),
    )


def _worst(values: Floats) -> int:
    return int(np.argmax(np.where(np.isnan(values), -np.inf, np.maximum(values, -np.finfo(np.float64).max))))


def _largest(values: Floats) -> float:
    return math.nan if np.isnan(values).all() else float(np.nanmax(values))


def _smallest(values: Floats) -> float:
    return math.nan if np.isnan(values).all() else float(np.nanmin(values))
