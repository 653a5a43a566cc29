"""What the distinct values of a column mean: which are positive, which make a group, where bands are cut.

Everything here works on the few distinct values of a column, never on its rows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.arrays import Bools, Floats, Indices
from evenhand.errors import Problems, as_typed, listing, shorten
from evenhand.sources.kinds import NUMBERS, TEXT, kind_of
from evenhand.sources.quantiles import inner_edges, mass_of
from evenhand.sources.roles import Positive
from evenhand.sources.spelling import canonical, spelling

NEGATIVE, POSITIVE, NEITHER = 0, 1, 2
"""Indices of a class axis; NEITHER is unlabelled, or undecided."""

MOST_CLASSES = 100
_MANY_VALUES, _MOST_VALUES = 1000, 100_000
_FEWEST_EACH = 5  # people for each of many values, on average: of fewer it is an identity
MOST_WHOLE = 20
_MOST_FRACTIONS = 5
QUANTILE_BANDS = 5
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?")  # how text spells a number: a code such as 007 is not

CountLevels = Callable[[], Floats]


class Attribute(NamedTuple):
    """The groups of one attribute: their names, and for each level (missing last) the index of its name."""

    names: tuple[str | None, ...]
    lookup: Indices
    edges: tuple[float, ...] | None = None
    cut_by_us: bool = False
    kind: str = TEXT
    """Of which kind the values were, as in `kinds`; bands are text."""


def attribute(
    name: str,
    levels: Sequence[Any],
    counts: CountLevels,
    edges: tuple[float, ...] | None,
    problems: Problems,
    *,
    weights: CountLevels | None = None,
    categories: bool = False,
    call: Callable[[Any], str] | None = None,
) -> Attribute:
    """Read the levels of a sensitive attribute or a control. `counts` counts people by level when it is called, and
    `weights` adds up their weights where they have any. `call` names a level, where it is not called as it is spelled.

    Many numbers are cut into bands; text and `categories` never are, unless the caller gives the `edges`.
    """
    values = as_numbers(levels, declared=edges is not None)
    kind = kind_of(levels, categories=categories)
    cut_by_us = False
    if edges is None and kind in NUMBERS and values is not None and len(values) > _MOST_FRACTIONS:
        people = counts()
        seen = people > 0
        whole = bool(np.all(values[seen] == np.floor(values[seen])))
        if seen.sum() > (MOST_WHOLE if whole else _MOST_FRACTIONS):
            mass = mass_of(people, None if weights is None else weights())
            edges, cut_by_us = quantile_edges(values[seen], (people if mass is None else mass)[seen]), True
    if edges is not None:
        return _banded(name, levels, values, counts, edges, cut_by_us, problems)
    names: dict[str | None, int] = {}
    lookup = [names.setdefault((call or spelling)(level), len(names)) for level in levels]
    lookup.append(names.setdefault(None, len(names)))
    if len(names) - 1 > _MANY_VALUES and _is_identity(counts()):
        problems.add(too_many(name, f"{int((counts() > 0).sum()):,}", numbers=values is not None))
    return Attribute(tuple(names), np.asarray(lookup, dtype=np.intp), kind=kind if call is None else TEXT)


def _is_identity(people: Floats) -> bool:
    """Are there so many values for so few people each that they name people, not groups?"""
    seen = int((people > 0).sum())
    return seen > _MOST_VALUES or (seen > _MANY_VALUES and int(people.sum()) < _FEWEST_EACH * seen)


def too_many(name: str, values: str, *, numbers: bool = True) -> str:
    """The error for an attribute of so many values that each would be a group of few people."""
    shown = shorten(name)
    cut = as_typed(f"bands={{{shown!r}: [...]}}", f"--bands {shown}=0,25,45")
    remedy = f"choose a coarser column{f', or cut numbers into bands with {cut}' if numbers else ''}."
    return f"{shown!r} has {values} different values: an id? So many groups need several people each; {remedy}"


def quantile_edges(values: Floats, mass: Floats) -> tuple[float, ...]:
    """Five bands that hold about as many people, or as much of their weight: the edges, each a value that occurs."""
    inner = inner_edges(values, QUANTILE_BANDS, mass)
    return tuple(dict.fromkeys([float(values.min()), *(float(cut) for cut in inner), float(values.max())]))


def band_names(edges: Sequence[float]) -> tuple[str, ...]:
    """The names of bands; the last band is closed.

    >>> band_names([0, 25, 45.5])
    ('[0, 25)', '[25, 45.5]')
    """
    if len(edges) == 1:
        return (f"[{spelling(edges[0])}, {spelling(edges[0])}]",)
    last = len(edges) - 2
    return tuple(
        f"[{spelling(low)}, {spelling(high)}{']' if i == last else ')'}"
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    )


def classes(
    role: str, name: str, levels: Sequence[Any], seen: Bools, positive: Positive, problems: Problems
) -> Indices:
    """Which levels of a label or prediction are positive; the last entry of the look-up is for missing values."""
    spelled = [canonical(level) for level in levels]
    found = sorted({text for text, there in zip(spelled, seen, strict=True) if there}, key=order_key)
    shown = f"{role} column {shorten(name)!r}"
    fractions = [text for text in found if is_fraction(text)]
    if fractions and role == "prediction":
        problems.add(
            f"{shown} looks like a score (it holds {listing(fractions, 3)}): pass it as score= with cutoff=, "
            "the score at or above which a row is predicted positive; or say task='regression'."
        )
    elif fractions:
        problems.add(
            f"{shown} holds fractions ({listing(fractions, 3)}); a label is a class, such as 0 and 1, unless "
            "task='regression'."
        )
    elif len(found) > 2 and not positive.collapse:
        some = as_typed("positive=[...]", "--positive, which may be repeated")
        every = as_typed("task='multiclass'", "--task multiclass")
        problems.add(
            f"{shown} has {len(found)} values ({listing(found)}): say which count as positive with {some}, or keep all "
            f"of them with {every}."
        )
    elif found and not set(found) & set(positive.values) and not _may_lack_positives(found, positive):
        both = as_typed("positive=", "--positive")
        alone = as_typed(f"positive={{{role!r}: ...}}", f"--positive-{role}")
        problems.add(
            f"{shown} never holds the positive value {positive}; it holds {listing(found)}. Say which of its values "
            f"counts as positive with {both}, or for this column alone with {alone}."
        )
    lookup = [POSITIVE if text in positive.values else NEGATIVE for text in spelled]
    return np.asarray([*lookup, NEITHER], dtype=np.intp)


def all_classes(columns: Mapping[str, tuple[Sequence[Any], Bools]], problems: Problems) -> tuple[str, ...]:
    """The classes that labels and predictions hold, in canonical order and spelling."""
    found: set[str] = set()
    for role, (levels, seen) in columns.items():
        spelled = {canonical(level) for level, there in zip(levels, seen, strict=True) if there}
        fractions = sorted(filter(is_fraction, spelled))
        if fractions:
            problems.add(f"{role} holds fractions ({listing(fractions, 3)}): a class is a name; or task='regression'.")
        found |= spelled
    if len(found) > MOST_CLASSES:
        problems.add(
            f"there are {len(found):,} classes, more than {MOST_CLASSES}: ids, or numbers? See task='regression'."
        )
    return tuple(sorted(found, key=order_key))


def class_places(levels: Sequence[Any], classes: Sequence[str]) -> Indices:
    """The index of each level among the classes; the last entry is for missing values and for unused levels."""
    place = {name: i for i, name in enumerate(classes)}
    return np.array([*(place.get(canonical(level), len(classes)) for level in levels), len(classes)], dtype=np.intp)


def order_key(name: str | None) -> tuple[int, float, str]:
    """One order of groups whatever the engine: numbers and bands by size, then text, the missing last."""
    if name is None:
        return 2, 0.0, ""
    match = _NUMBER.fullmatch(name.lstrip("[").partition(",")[0] if name.startswith("[") else name)
    return (0, float(match[0]), name) if match else (1, 0.0, name)


def _may_lack_positives(present: list[str], positive: Positive) -> bool:
    """A column may lack the positive value if it holds only 0 or −1 (a chunk without positives), or one other value and
    `positive` was named; else the positive value is probably a typo."""
    return len(present) == 1 and (present[0] in ("0", "-1") or positive.values != ("1",))


def _banded(
    name: str,
    levels: Sequence[Any],
    values: Floats | None,
    counts: CountLevels,
    edges: tuple[float, ...],
    cut_by_us: bool,
    problems: Problems,
) -> Attribute:
    names = (*band_names(edges), None)
    missing = len(names) - 1
    if values is None:
        words = sorted((level for level in levels if as_numbers([level], declared=True) is None), key=str)
        problems.add(f"bands for {shorten(name)!r}: the column is not numeric; it holds {listing(words, 3)}.")
        return Attribute(names, np.full(len(levels) + 1, missing, dtype=np.intp), edges)
    outside = (values < edges[0]) | (values > edges[-1])
    if outside.any() and (strange := values[outside & (counts() > 0)]).size:
        problems.add(
            f"{shorten(name)!r} holds values outside its bands ({listing(sorted(strange.tolist()), 3)}): "
            f"widen bands={{{name!r}: {list(edges)}}}."
        )
    index = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    return Attribute(names, np.append(index, missing).astype(np.intp), edges, cut_by_us)


def as_numbers(levels: Sequence[Any], *, declared: bool) -> Floats | None:
    """The levels as numbers if all are numbers. Text counts in plain spelling only, so that a code 007 stays a code;
    with `declared`, the caller has said that the column is numeric, and any spelling counts."""
    kinds = (int, float, Decimal, np.integer, np.floating)
    if not all(
        (isinstance(level, kinds) and not isinstance(level, bool))
        or (isinstance(level, str) and (declared or _NUMBER.fullmatch(level)))
        for level in levels
    ):
        return None
    try:
        values = np.asarray([float(level) for level in levels])
    except (ValueError, OverflowError):
        return None
    return values if levels and not np.isnan(values).any() else None


def is_plain_number(text: str) -> bool:
    """Is the text a number in plain spelling? A code such as 007 is not."""
    return _NUMBER.fullmatch(text) is not None


def is_fraction(text: str) -> bool:
    """Is the text a number that is not whole, as a score is and a class is not?"""
    try:
        value = float(text)
    except ValueError:
        return False
    return not value.is_integer()
