"""Who is in which group: `sensitive=` of any kind as one code for each row, the same when a model is fitted and later.

Groups are spelled, banded and ordered as everywhere in the library: a missing value is a group of its own (None), a
quantity is cut into bands, and a group of several attributes has one value for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Codes, Indices
from evenhand.core.results import Group, spell
from evenhand.errors import CallError, DataError, Problems, listing, nearest, shorten
from evenhand.sources import features, levels
from evenhand.sources import roles as reading
from evenhand.sources.columns import encode as encode_column
from evenhand.sources.memory import MemorySource

EVERYONE = "everyone"
_FEW_LEVELS = 100
MOST_GROUPS = 1_000_000  # combinations of values, whether anybody has them or not

Shown = str | None | Group


@dataclass(frozen=True)
class Axes:
    """Some attributes read from their columns, before it is known which combinations occur."""

    attributes: tuple[str, ...]
    read: tuple[levels.Attribute, ...]
    columns: tuple[Codes, ...]
    """For each attribute and row the place of its value among the values of that column; −1 is missing."""

    @property
    def values(self) -> tuple[int, ...]:
        """How many values each column may have, a missing one among them."""
        return tuple(len(part.lookup) for part in self.read)

    @cached_property
    def keys(self) -> Codes:
        """One small number for each row, below the product of `values`: cheaper than its group's own code."""
        size = int(np.prod(self.values))
        kind = next(kind for kind in (np.int8, np.int16, np.int32) if size <= np.iinfo(kind).max)
        key: Any = None
        for codes, values in zip(self.columns, self.values, strict=True):
            place = codes.astype(kind, copy=False)
            if codes.size and codes.min() < 0:
                place = np.where(codes < 0, kind(values - 1), place)
            key = place if key is None else key * kind(values) + place
        return np.asarray(key)

    @cached_property
    def candidates(self) -> tuple[tuple[Group, ...], Indices]:
        """Every group that may occur, in the order of the library, and the place of each key's group among them."""
        names = [part.names for part in self.read]
        keys = np.indices(self.values).reshape(len(self.values), -1)
        looked = [part.lookup[row] for part, row in zip(self.read, keys, strict=True)]
        spelled = [tuple(part[i] for part, i in zip(names, row, strict=True)) for row in zip(*looked, strict=True)]
        ordered = sorted(set(spelled), key=lambda group: [levels.order_key(value) for value in group])
        place = {group: i for i, group in enumerate(ordered)}
        return tuple(ordered), np.array([place[group] for group in spelled], dtype=np.intp)


@dataclass(frozen=True)
class Groups:
    """The groups that occur, in the order of the library, and for each row the place of its own among them."""

    attributes: tuple[str, ...]
    names: tuple[Group, ...]
    codes: Indices
    bands: Mapping[str, tuple[float, ...]]
    """The edges of each attribute that is a quantity and was cut into bands."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The groups as a caller writes them: the value of one attribute, a tuple of several."""
        return tuple(plain(name) for name in self.names)

    def match(self, sensitive: Any, X: Any = None, n: int | None = None) -> Indices:
        """The place among these groups of the group of each of other rows; a group that is not among them is an error.

        >>> seen = encode(["a", "b", "a"])
        >>> seen.match(["b", "b"]).tolist()
        [1, 1]
        >>> seen.match(["b", "c", None])
        Traceback (most recent call last):
        evenhand.errors.DataError: 2 groups were not there when the model was fitted: 'c' (1 row), '(missing)' (1 row).
        It knows 'a', 'b'. Fit it to data that has them, or leave those rows out.
        """
        if sensitive is None and self.attributes != (EVERYONE,):
            raise CallError(
                f"sensitive= is missing: the model was fitted by {listing(self.attributes)} and needs each row's group."
            )
        axes = read(sensitive, X, n, like=self)
        possible, places = axes.candidates
        known = {name: i for i, name in enumerate(self.names)}
        found = np.array([known.get(name, -1) for name in possible], dtype=np.intp)[places[axes.keys]]
        if found.size and found.min() < 0:
            self._refuse(possible, places[axes.keys[found < 0]])
        return np.asarray(found, dtype=np.intp)

    def _refuse(self, possible: tuple[Group, ...], strangers: Indices) -> None:
        which, rows = np.unique(strangers, return_counts=True)
        shown = [
            f"{shorten(repr(spell(possible[i])))} ({count:,} row{'s' if count > 1 else ''})"
            for i, count in zip(which[:8], rows, strict=False)
        ]
        more = f" and {len(which) - 8} more" if len(which) > 8 else ""
        verb = "group was" if len(which) == 1 else "groups were"
        raise DataError(
            f"{len(which)} {verb} not there when the model was fitted: {', '.join(shown)}{more}. It knows "
            f"{listing(map(spell, self.names))}. Fit it to data that has them, or leave those rows out."
        )


def encode(sensitive: Any, X: Any = None, n: int | None = None) -> Groups:
    """The groups of some rows.

    `sensitive` is an array, a Series, a table, a mapping {name: array}, or the name or names of columns of X (of an
    array: x0, x1, …); None makes everyone one group. `n` is how many rows there are, X decides where it is not given.

    >>> found = encode({"sex": ["F", "M", "F"], "old": [1, 0, None]})
    >>> found.names
    (('F', '1'), ('F', None), ('M', '0'))
    >>> found.codes.tolist()
    [0, 2, 1]
    """
    axes = read(sensitive, X, n)
    possible, places = axes.candidates
    there = np.bincount(axes.keys, minlength=len(places)) > 0
    occur = np.unique(places[there])
    narrowed = np.full(len(possible), -1, dtype=np.intp)
    narrowed[occur] = np.arange(len(occur))
    return Groups(axes.attributes, tuple(possible[i] for i in occur), narrowed[places][axes.keys], bands_of(axes))


def read(sensitive: Any, X: Any = None, n: int | None = None, like: Groups | None = None) -> Axes:
    """The attributes of some rows. Like groups that were found before, they have their order and their bands."""
    size = rows_of(X) if n is None and X is not None else n
    if sensitive is None:
        return _everyone(size)
    given = _columns(sensitive, X, size)
    if like is not None:
        given = _in_order(given, like.attributes)
    problems = Problems()
    attributes, columns = [], []
    for name, column in given.items():
        part, codes = _attribute(name, column, None if like is None else like.bands.get(name), problems)
        attributes.append(part)
        columns.append(codes)
    problems.raise_if_any(DataError)
    if np.prod([len(part.lookup) for part in attributes], dtype=float) > MOST_GROUPS:
        raise DataError(f"{listing(given)} have too many values to be combined: choose fewer or coarser attributes.")
    return Axes(tuple(given), tuple(attributes), tuple(columns))


def _attribute(
    name: str, column: Any, edges: tuple[float, ...] | None, problems: Problems
) -> tuple[levels.Attribute, Codes]:
    """One attribute. With edges that were found before, what lies beyond them is in the outermost band."""
    found, codes = encode_column(column, repr(shorten(name)))
    if len(found) > _FEW_LEVELS:
        found, codes = _that_occur(found, codes)

    def people_by_level() -> npt.NDArray[np.float64]:
        return np.bincount(np.add(codes, 1, dtype=np.intp), minlength=len(found) + 1)[1:].astype(float)

    if edges is None:
        return levels.attribute(name, found, people_by_level, None, problems), codes
    part = levels.attribute(name, found, people_by_level, (-np.inf, *edges[1:-1], np.inf), problems)
    return levels.Attribute((*levels.band_names(edges), None), part.lookup, edges), codes


def _that_occur(found: list[Any], codes: Codes) -> tuple[list[Any], Codes]:
    """The levels that some row has: a range of whole numbers may name many that none has."""
    used = np.unique(codes[codes >= 0])
    place = np.full(len(found) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    return [found[i] for i in used], place[codes]


def bands_of(axes: Axes) -> dict[str, tuple[float, ...]]:
    """The edges of those attributes that are cut into bands."""
    return {name: part.edges for name, part in zip(axes.attributes, axes.read, strict=True) if part.edges is not None}


def plain(group: Group) -> Shown:
    """A group as a caller writes it.

    >>> plain(("F",)), plain((None,)), plain(("F", "old"))
    ('F', None, ('F', 'old'))
    """
    return group[0] if len(group) == 1 else group


def named_columns(sensitive: Any, X: Any) -> tuple[str, ...]:
    """The columns of X that `sensitive` names; none where it brings values of its own."""
    if isinstance(sensitive, str):
        return (sensitive,)
    texts = isinstance(sensitive, (list, tuple)) and sensitive and all(isinstance(item, str) for item in sensitive)
    if not texts or (len(sensitive) == rows_of(X) and not set(sensitive) <= set(column_names(X))):
        return ()
    return tuple(sensitive)


def column_names(X: Any) -> list[str]:
    """What the columns of X are called; those of an array are x0, x1, …"""
    if X is None:
        return []
    if hasattr(X, "shape") and not hasattr(X, "columns") and not getattr(X.dtype, "names", None):
        return [f"x{i}" for i in range(X.shape[1])] if len(X.shape) == 2 else []
    return MemorySource(features.as_table(X)).names or []


def columns_of(X: Any, named: tuple[str, ...]) -> dict[str, Any]:
    """Some columns of X by name; a name that is none is an error."""
    source = MemorySource(_table(X, named))
    lost = [name for name in named if name not in source.columns]
    if lost:
        raise CallError(f"sensitive={shorten(lost[0])!r} is not a column of X; {nearest(lost[0], source.columns)}")
    return {name: source.data[source.columns[name]] for name in named}


def rows_of(X: Any) -> int:
    """How many rows a table, an array or a sparse matrix has."""
    if hasattr(X, "shape"):
        return int(X.shape[0])
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    return len(X)


def _columns(sensitive: Any, X: Any, n: int | None) -> dict[str, Any]:
    """The columns that make the groups, of one length and, in pandas, of one index."""
    named = named_columns(sensitive, X) if X is not None else ()
    table = _table(X, named)
    if isinstance(sensitive, (list, tuple)) and not named:
        sensitive = {"sensitive": sensitive}  # a list of values: its texts name no columns
    source = MemorySource(table)
    size = n if n is not None else _length(sensitive)
    # The label is a stand-in: what is read here are the attributes alone.
    roles = reading.assign(source.names, label=np.zeros(size, dtype=np.int8), sensitive=sensitive, task="binary")
    for name in roles.sensitive:
        column = roles.arrays.get(f"sensitive:{name}")
        if column is not None and len(column) != size:
            raise DataError(f"sensitive= has {len(column):,} rows and X has {size:,}: pass one group for each row.")
    lines = source.lines(roles)
    return {name: lines.columns[f"sensitive:{name}"] for name in roles.sensitive}


def _everyone(n: int | None) -> Axes:
    """Without an attribute, everyone is one group."""
    if n is None:
        raise CallError("sensitive= is missing: name the attribute that makes the groups, such as sensitive='race'.")
    alone = levels.Attribute((EVERYONE, None), np.array([0, 1], dtype=np.intp))
    return Axes((EVERYONE,), (alone,), (np.zeros(n, dtype=np.int8),))


def _length(sensitive: Any) -> int:
    if isinstance(sensitive, str):
        raise CallError(f"sensitive={shorten(sensitive)!r} names a column, but there is no X: pass it, or an array.")
    return rows_of(sensitive)


def _table(X: Any, named: tuple[str, ...]) -> Any:
    """X as a table, where a column of it is asked for or its index tells whether rows are paired as meant."""
    if X is None or (not named and not hasattr(X, "columns")):
        return None
    if hasattr(X, "tocsc"):
        known, columns, unread = column_names(X), X.tocsc(), np.zeros(X.shape[0], dtype=np.int8)
        return {name: columns[:, [i]].toarray().ravel() if name in named else unread for i, name in enumerate(known)}
    return features.as_table(X)


def _in_order(given: Mapping[str, Any], attributes: tuple[str, ...]) -> dict[str, Any]:
    """The columns in the order that was fitted; those that have lost their names are taken as they come."""
    if len(given) != len(attributes):
        raise CallError(
            f"sensitive= has {len(given)} attributes ({listing(given)}), and the model was fitted by "
            f"{len(attributes)} ({listing(attributes)}): pass the same ones."
        )
    if set(given) == set(attributes):
        return {name: given[name] for name in attributes}
    return dict(zip(attributes, given.values(), strict=True))
