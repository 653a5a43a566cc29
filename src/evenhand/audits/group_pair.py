"""The two groups between which a gap is explained: those that `between` names, or the two that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.core.results import Group, spell
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, as_typed, either, listing, nearest, shorten
from evenhand.measures.base import Measure, evaluate
from evenhand.measures.group_data import GroupData


def two_groups(cube: Cube, between: Any, measure: Measure) -> tuple[Cube, tuple[Group, Group]]:
    """The cube of two groups alone, and the two in their order."""
    if between is None:
        groups = [group for group in cube.groups if None not in group]
        if len(groups) < 2:
            seen = listing([spell(group) for group in groups]) or "no value at all"
            raise DataError(f"the attribute has one group only ({seen}): there is no gap to explain.")
        if len(groups) != 2:
            raise CallError(
                f"there are {len(groups)} groups: say which two are compared with "
                f"{as_typed('between=(first, second)', '--between first --between second')}; there are "
                f"{listing([spell(group) for group in groups])}."
            )
        pair = groups[0], groups[1]
    else:
        cube, pair = _found(cube, between)
    cube = cube.only([group in pair for _, group in cube.pairs])
    if between is None:
        whole = cube.marginal(control=False)
        values = dict(zip(whole.groups, evaluate(measure, GroupData.of(whole)).values, strict=True))
        pair = (pair[1], pair[0]) if values[pair[1]] > values[pair[0]] else pair
    return cube, pair


def _found(cube: Cube, between: Any) -> tuple[Cube, tuple[Group, Group]]:
    """The cube of the attribute that has both groups, and the groups."""
    typed = as_typed("between=", "--between ")
    if isinstance(between, (str, bytes)) or not isinstance(between, Sequence) or len(between) != 2:
        raise CallError(f"{typed}{shorten(repr(between))} must name two groups, such as ('Male', 'Female').")
    names = cube.meaning.sensitive
    sets = [*((name,) for name in names if len(names) > 1), names]
    parts = [cube.marginal(attributes) for attributes in sets]
    named = [[part.find_group(value) for value in between] for part in parts]
    found = [(part, (a, b)) for part, (a, b) in zip(parts, named, strict=True) if a is not None and b is not None]
    if not found:
        raise CallError(f"{typed.rstrip('= ')}: {_why_not(parts, between, named)}")
    if len(found) > 1:
        both = either(repr(" × ".join(part.meaning.sensitive)) for part, _ in found)
        raise CallError(
            f"{typed}{shorten(repr(tuple(between)))} are groups of {both}: name one of these in "
            f"{as_typed('sensitive=, or pass cube.marginal([...])', '--sensitive')}."
        )
    part, pair = found[0]
    if pair[0] == pair[1]:
        raise CallError(f"{typed.rstrip('= ')} names the same group twice, {spell(pair[0])!r}: name another one.")
    if any(None in group for group in pair):
        raise CallError(f"{typed.rstrip('= ')} names people without a group, who are not compared: name two groups.")
    return part, pair


def _why_not(parts: Sequence[Cube], between: Sequence[Any], named: Sequence[Sequence[Group | None]]) -> str:
    """Which of the two names is not a group, or that they are groups of different attributes."""
    known = [spell(group) for part in parts for group in part.groups]
    unknown = [value for i, value in enumerate(between) if all(pair[i] is None for pair in named)]
    if not unknown:
        return "the two are groups of different attributes: name two of one."
    value = unknown[0]
    shown = spell(tuple(map(str, value))) if isinstance(value, (tuple, list)) else str(value)
    return f"{shorten(repr(value))} is not a group; {nearest(shown, known)}"
