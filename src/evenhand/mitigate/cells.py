"""Groups by classes: how many rows each cell has, and which cell each row is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Codes, Floats, Indices, Ints
from evenhand.core.results import Group, spell
from evenhand.core.wording import number_of
from evenhand.errors import DataError, join_names, listing, shorten
from evenhand.sources import groups
from evenhand.sources.columns import encode as encode_column
from evenhand.sources.groups import Groups, Shown

MOST_CLASSES = 1000
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Cells:
    """The cells of some rows: groups that occur by classes that occur.

    Each row has a small key, and `place` is the cell of each key; the rows themselves are read only when something is
    counted or gathered.
    """

    attributes: tuple[str, ...]
    bands: Mapping[str, tuple[float, ...]]
    groups: tuple[Group, ...]
    classes: Array
    keys: Codes
    place: Indices
    rows: Ints
    """[groups, classes]: how many rows."""
    weight: Floats
    """[groups, classes]: the sum of their weights; without weights, how many rows."""

    @cached_property
    def codes(self) -> Indices:
        """For each row its cell, counted along the classes of the first group, then of the second, and so on."""
        return self.place[self.keys]

    @property
    def expected(self) -> Floats:
        """The weight of each cell if class and group were independent: |a| · |y| / n."""
        total = self.weight.sum()
        return np.outer(self.weight.sum(axis=1), self.weight.sum(axis=0)) / (total if total > 0 else np.nan)

    @property
    def lacking(self) -> Bools:
        """[groups, classes]: whether the cell is empty, though it would not be if class and group were independent."""
        return (self.weight <= 0) & (self.expected > 0)

    @property
    def empty(self) -> tuple[tuple[Shown, Any], ...]:
        """The combinations of group and class that nobody is in."""
        which = zip(*np.nonzero(self.lacking), strict=True)
        return tuple((groups.plain(self.groups[g]), self.classes[c].item()) for g, c in which)

    def gather(self, table: Array) -> Array:
        """For each row the value of its cell."""
        looked = table.reshape(-1)[self.place]
        found = np.empty(len(self.keys), dtype=table.dtype)
        for part in _blocks(len(found)):
            np.take(looked, self.keys[part].astype(np.intp), out=found[part], mode="clip")
        return found

    def as_groups(self) -> Groups:
        """The groups alone, to match those of other rows."""
        return Groups(self.attributes, self.groups, np.zeros(0, dtype=np.intp), self.bands)

    def empty_in_words(self) -> str:
        """The combinations that nobody is in, in words."""
        names = [
            f"{shorten(repr(spell(self.groups[g])))} with class {shorten(repr(self.classes[c].item()))}"
            for g, c in zip(*np.nonzero(self.lacking), strict=True)
        ]
        return f"nobody is in {join_names(names, 5, noun='combinations')}"


def cross(sensitive: Any, X: Any, y: Any, sample_weight: Floats | None = None) -> Cells:
    """Count rows by group and class.

    >>> cells = cross(["F", "F", "M", "M", "M"], None, ["+", "-", "+", "+", "-"])
    >>> cells.groups, cells.classes.tolist(), cells.rows.tolist()
    ((('F',), ('M',)), ['+', '-'], [[1, 1], [2, 1]])
    """
    attributes = groups.read(sensitive, X, len(y))
    found, outcomes = _outcomes(y)
    width = len(found)
    keys = _joined(attributes.keys, int(np.prod(attributes.sizes)), outcomes, width)
    possible, places = attributes.candidates
    counted = _by_group(_sums(keys, len(places) * width), places, len(possible), width)
    there, known = counted.sum(axis=1) > 0, np.flatnonzero(counted.sum(axis=0) > 0)
    classes, order = _sorted([found[i] for i in known])
    chosen = known[order]
    rows = counted[there][:, chosen].astype(np.int64)
    weight = rows.astype(np.float64)
    if sample_weight is not None:
        sums = _sums(keys, len(places) * width, sample_weight)
        weight = _by_group(sums, places, len(possible), width)[there][:, chosen]
    return Cells(
        attributes.names,
        attributes.bands,
        tuple(name for name, occurs in zip(possible, there, strict=True) if occurs),
        classes,
        keys,
        _places(places, there, chosen, width),
        rows,
        weight,
    )


def _outcomes(y: Any) -> tuple[list[Any], Array]:
    """The classes of y and the position of each row's class; values that cannot be a class are errors."""
    found, codes = encode_column(y, "y")
    if codes.size and codes.min() < 0:
        missing = int(np.sum(codes < 0))
        raise DataError(f"Input y contains NaN or a missing value in {number_of(missing)}: leave those rows out.")
    fractions = [value for value in found if isinstance(value, float) and not value.is_integer()]
    if any(np.isinf(fractions)):
        raise DataError("Input y contains infinity: a class is a name or a whole number.")
    if fractions:
        raise DataError(f"Unknown label type: y holds fractions ({listing(fractions, 3)}), and a class is a name.")
    if len(found) > MOST_CLASSES and (several := len(np.unique(codes))) > MOST_CLASSES:
        raise DataError(f"y has {several:,} different values: a number, or an id? Pass the class of each row.")
    return found, codes


def class_places(classes: Array, y: Any) -> Indices:
    """The position of each row's class among `classes`; any other class is an error that names it."""
    found, codes = _outcomes(y)
    known = {value: i for i, value in enumerate(classes.tolist())}
    places: Indices = np.array([*(known.get(value, -1) for value in found), -1], dtype=np.intp)[codes]
    if places.size and places.min() < 0:
        strange = sorted({shorten(repr(found[i])) for i in np.unique(codes[places < 0])})
        raise DataError(
            f"y holds {join_names(strange, 8)}, which was not there when the model was fitted: it knows "
            f"{listing(known)}."
        )
    return places


def _joined(first: Codes, size: int, second: Codes, width: int) -> Codes:
    """first · width + second, in the smallest type that holds it, so that a million rows fit into the cache."""
    kinds = (np.int8, np.int16, np.int32, np.int64)
    kind: Any = next(kind for kind in kinds if size * width <= np.iinfo(kind).max)
    key: Codes = np.multiply(first, kind(width), dtype=kind)
    key += second.astype(kind, copy=False)
    return key


def _blocks(length: int) -> Iterator[slice]:
    """Slices of rows: numpy widens small keys before it uses them, and a block of them stays in the cache."""
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))


def _sums(keys: Codes, size: int, values: Floats | None = None) -> Array:
    """How many rows have each key, or the sums of their values."""
    totals = np.zeros(size, dtype=np.int64 if values is None else np.float64)
    for part in _blocks(len(keys)):
        totals += np.bincount(keys[part], None if values is None else values[part], minlength=size)
    return totals


def _by_group(flat: Array, places: Indices, count: int, width: int) -> Array:
    """Sums by raw key as sums by [group, value of y]; several keys may spell one group."""
    table = np.zeros((count, width), dtype=flat.dtype)
    np.add.at(table, places, flat.reshape(-1, width))
    return table


def _places(places: Indices, there: Bools, chosen: Indices, width: int) -> Indices:
    """The cell of each key; 0 for keys that no row has."""
    group = np.where(there, np.cumsum(there) - 1, 0)[places]
    outcome = np.zeros(width, dtype=np.intp)
    outcome[chosen] = np.arange(len(chosen))
    return np.asarray((group[:, None] * len(chosen) + outcome).reshape(-1), dtype=np.intp)


def _sorted(values: list[Any]) -> tuple[Array, Indices]:
    """The classes in the order of scikit-learn, and their positions before."""
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:  # text beside numbers
        order = sorted(range(len(values)), key=lambda i: str(values[i]))
    ordered = [values[i] for i in order]
    plain = len({type(value) for value in ordered}) == 1
    classes = np.array(ordered) if plain else np.empty(len(ordered), dtype=object)
    if not plain:
        classes[:] = ordered
    return classes, np.array(order, dtype=np.intp)
