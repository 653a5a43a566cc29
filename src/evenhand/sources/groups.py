"""Who is in which group: the sensitive attributes as one code for each row.

Groups are spelled, banded and ordered in the same way everywhere: a missing value makes one more group (None), a
quantity is cut into bands, and a group of several attributes has one value for each. `encode` reads groups alone, from
`sensitive=` of any kind; `combine` makes groups of attributes that were read before. Counting (`cube.tally`) keeps its
own keys, which hold label and prediction as well and never look at a row twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.arrays import Codes, Floats, Indices, Ints
from evenhand.core.frames import readable, row_count
from evenhand.core.results import Group, spell
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, Problems, join_names, listing, nearest, shorten
from evenhand.sources import features, levels, roles
from evenhand.sources.columns import encode as encode_column
from evenhand.sources.columns import is_categorical
from evenhand.sources.memory import MemorySource

EVERYONE = "everyone"
_FEW_LEVELS = 100
MOST_COMBINATIONS = 1_000_000  # of values that attributes may have, whether they occur or not
_FEW_COMBINATIONS = 10_000  # up to here all are listed, so that rows need only small keys, which are faster to gather
_MOST_SHOWN = 8  # groups that an error names

Shown = str | None | Group


@dataclass(frozen=True)
class Groups:
    """The groups that occur, in the order of the library, and for each row the position of its group among them."""

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
        """For each of other rows the position of its group among these; a group that is not among them is an error.

        >>> seen = encode(["a", "b", "a"])
        >>> seen.match(["b", "b"]).tolist()
        [1, 1]
        >>> seen.match(["b", "c", None])
        Traceback (most recent call last):
        evenhand.errors.DataError: 2 groups were not there when the model was fitted: 'c' (1 row), '(missing)' (1 row).
        It knows 'a', 'b'. Fit it to data that has them, or leave those rows out.
        """
        if self.names == ((EVERYONE,),) and self.attributes == (EVERYONE,):
            sensitive = None  # the model was fitted without groups, so nobody's matters
        elif sensitive is None:
            raise CallError(
                f"sensitive= is missing: the model was fitted by {listing(self.attributes)} and needs each row's group."
            )
        names, codes = read(sensitive, X, n, like=self).combined()
        known = {name: i for i, name in enumerate(self.names)}
        positions = np.array([known.get(name, -1) for name in names], dtype=np.intp)
        if (positions < 0).any():
            self._refuse(names, codes[positions[codes] < 0])
        return np.asarray(positions[codes], dtype=np.intp)

    def _refuse(self, names: tuple[Group, ...], strangers: Indices) -> None:
        """Raise an error that names the groups of some rows, which are not among those that were fitted."""
        which, rows = np.unique(strangers, return_counts=True)
        shown = (
            f"{shorten(repr(spell(names[i])))} ({count:,} row{'s' if count > 1 else ''})"
            for i, count in zip(which, rows, strict=True)
        )
        verb = "group was" if len(which) == 1 else "groups were"
        raise DataError(
            f"{len(which)} {verb} not there when the model was fitted: {join_names(shown, _MOST_SHOWN)}. It knows "
            f"{listing(map(spell, self.names))}. Fit it to data that has them, or leave those rows out."
        )


@dataclass(frozen=True)
class Attributes:
    """Some attributes read from their columns, before it is known which combinations of values occur."""

    names: tuple[str, ...]
    read: tuple[levels.Attribute, ...]
    codes: tuple[Codes, ...]
    """For each attribute and row the position of the row's value among the values of that column; −1 is missing."""

    @property
    def bands(self) -> dict[str, tuple[float, ...]]:
        """The edges of those attributes that are cut into bands."""
        return {name: part.edges for name, part in zip(self.names, self.read, strict=True) if part.edges is not None}

    def combined(self) -> tuple[tuple[Group, ...], Indices]:
        """The groups that occur, and the position of each row's group among them."""
        if math.prod(self.sizes) <= _FEW_COMBINATIONS:
            occurs = np.bincount(self.keys, minlength=math.prod(self.sizes)) > 0
            names, positions = self.candidates
            present, where = np.unique(positions[occurs], return_inverse=True)
            among = np.zeros(len(positions), dtype=np.intp)
            among[occurs] = where.reshape(-1)
            return tuple(names[i] for i in present), among[self.keys]
        looked_up = [part.lookup[codes] for part, codes in zip(self.read, self.codes, strict=True)]
        return combine([part.names for part in self.read], looked_up)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column may have, a missing one among them."""
        return tuple(len(part.lookup) for part in self.read)

    @cached_property
    def keys(self) -> Codes:
        """One small number for each row, below the product of `sizes`: faster to count than the codes of groups."""
        size = int(np.prod(self.sizes))
        kind = next(kind for kind in (np.int8, np.int16, np.int32) if size <= np.iinfo(kind).max)
        key: Any = None
        for codes, values in zip(self.codes, self.sizes, strict=True):
            digit = codes.astype(kind, copy=False)
            if codes.size and codes.min() < 0:
                digit = np.where(codes < 0, kind(values - 1), digit)
            key = digit if key is None else key * kind(values) + digit
        return np.asarray(key)

    @cached_property
    def candidates(self) -> tuple[tuple[Group, ...], Indices]:
        """Every group that may occur, in the order of the library, and the position of each key's group among them."""
        keys = np.indices(self.sizes).reshape(len(self.sizes), -1)
        looked_up = [part.lookup[row] for part, row in zip(self.read, keys, strict=True)]
        names = [part.names for part in self.read]
        spelled = [tuple(part[i] for part, i in zip(names, row, strict=True)) for row in zip(*looked_up, strict=True)]
        ordered = sorted(set(spelled), key=order_key)
        position = {group: i for i, group in enumerate(ordered)}
        return tuple(ordered), np.array([position[group] for group in spelled], dtype=np.intp)


def encode(sensitive: Any, X: Any = None, n: int | None = None) -> Groups:
    """The groups of some rows, and nothing else of them.

    `sensitive` is an array, a Series, a table, a mapping {name: array}, or the name or names of columns of X (of an
    array: x0, x1, …); None makes everyone one group. `n` is how many rows there are, X decides where it is None.

    >>> groups = encode({"sex": ["F", "M", "F"], "old": [1, 0, None]})
    >>> groups.names
    (('F', '1'), ('F', None), ('M', '0'))
    >>> groups.codes.tolist()
    [0, 2, 1]
    """
    attributes = read(sensitive, X, n)
    names, codes = attributes.combined()
    return Groups(attributes.names, names, codes, attributes.bands)


def read(sensitive: Any, X: Any = None, n: int | None = None, like: Groups | None = None) -> Attributes:
    """The attributes of some rows; with `like`, in the order and with the bands of those groups."""
    size = row_count(X) if n is None and X is not None else n
    if sensitive is None:
        return everyone(size)
    columns = _columns(sensitive, X, size)
    if like is not None:
        columns = _in_order(columns, like.attributes)
    problems = Problems()
    bands = {} if like is None else like.bands
    fitted = like is not None
    attributes = [_like_before(name, column, bands.get(name), problems, fitted) for name, column in columns.items()]
    problems.raise_if_any(DataError)
    parts, codes = zip(*attributes, strict=True)
    if math.prod(len(part.lookup) for part in parts) > MOST_COMBINATIONS:
        raise DataError(f"{listing(columns)} have too many values to be combined: choose fewer or coarser attributes.")
    return Attributes(tuple(columns), parts, codes)


def everyone(n: int | None) -> Attributes:
    """The one group of everyone, for n rows; without n, groups were needed."""
    if n is None:
        raise CallError("sensitive= is missing: name the attribute that makes the groups, such as sensitive='race'.")
    alone = levels.Attribute((EVERYONE, None), np.array([0, 1], dtype=np.intp))
    return Attributes((EVERYONE,), (alone,), (np.zeros(n, dtype=np.int8),))


def attribute(
    name: str,
    column: Any,
    edges: tuple[float, ...] | None,
    problems: Problems,
    na: Collection[str] = (),
    *,
    categories: bool = False,
    call: Callable[[Any], str] | None = None,
) -> tuple[levels.Attribute, Codes]:
    """One attribute: what its values mean, and for each row the position of its value, or −1.

    `edges` are those of the bands that the caller wants; values in `na` are missing; numbers that are `categories` are
    never cut; `call` names a value, where it is not called as it is spelled.
    """
    categories = categories or is_categorical(column)
    values, codes = encode_column(column, repr(shorten(name)), na)
    if len(values) > _FEW_LEVELS:
        values, codes = _that_occur(values, codes)

    def people_by_level() -> Floats:
        return np.bincount(np.add(codes, 1, dtype=np.intp), minlength=len(values) + 1)[1:].astype(float)

    return levels.attribute(name, values, people_by_level, edges, problems, categories=categories, call=call), codes


def combine(values: Sequence[Sequence[str | None]], codes: Sequence[Codes]) -> tuple[tuple[Group, ...], Indices]:
    """The groups of several attributes that occur, in the order of the library, and each row's position among them.

    `values` are the spelled values of each attribute, `codes` the position of each row's value among them.

    >>> combine([["M", "F"], ["young"]], [np.array([0, 1, 0]), np.array([0, 0, 0])])[0]
    (('F', 'young'), ('M', 'young'))
    """
    shape = [len(part) for part in values]
    if math.prod(shape) > 2**62:
        raise DataError("the attributes have too many values to be combined: choose fewer or coarser ones.")
    keys = np.zeros(len(codes[0]), dtype=np.int64)
    for part, positions in zip(values, codes, strict=True):
        keys = keys * len(part) + positions
    present, where = _distinct(keys, math.prod(shape))
    digits = np.unravel_index(present, shape)
    groups = list(zip(*([part[i] for i in digit] for part, digit in zip(values, digits, strict=True)), strict=True))
    order = sorted(range(len(groups)), key=lambda i: order_key(groups[i]))
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    return tuple(groups[i] for i in order), position[where]


def narrow(names: Sequence[Group], codes: Indices) -> tuple[tuple[Group, ...], Indices]:
    """Of some groups those that occur in `codes`, and the codes among these."""
    present, where = np.unique(codes, return_inverse=True)
    return tuple(names[i] for i in present), where.reshape(-1).astype(np.intp)


def order_key(group: Group) -> list[tuple[int, float, str]]:
    """The order of groups: value by value, as `levels.order_key` orders the values of one attribute."""
    return [levels.order_key(value) for value in group]


def plain(group: Group) -> Shown:
    """A group as a caller writes it.

    >>> plain(("F",)), plain((None,)), plain(("F", "old"))
    ('F', None, ('F', 'old'))
    """
    return group[0] if len(group) == 1 else group


def named_columns(sensitive: Any, X: Any) -> tuple[str, ...]:
    """The columns of X that `sensitive` names; none where it holds values itself."""
    if isinstance(sensitive, str):
        return (sensitive,)
    texts = isinstance(sensitive, (list, tuple)) and sensitive and all(isinstance(item, str) for item in sensitive)
    if not texts or (len(sensitive) == row_count(X) and not set(sensitive) <= set(column_names(X))):
        return ()
    return tuple(sensitive)


def column_names(X: Any) -> list[str]:
    """The names of the columns of X; those of an array are x0, x1, …"""
    if X is None:
        return []
    X = readable(X)
    if hasattr(X, "shape") and not hasattr(X, "columns") and not getattr(X.dtype, "names", None):
        return [f"x{i}" for i in range(X.shape[1])] if len(X.shape) == 2 else []
    return MemorySource(features.as_table(X)).names or []


def columns_of(X: Any, named: tuple[str, ...]) -> dict[str, Any]:
    """Some columns of X by name; a name that X does not have is an error."""
    source = MemorySource(_table(X, named))
    lost = [name for name in named if name not in source.columns]
    if lost:
        raise CallError(f"sensitive={shorten(lost[0])!r} is not a column of X; {nearest(lost[0], source.columns)}")
    return {name: source.data[source.columns[name]] for name in named}


def _distinct(keys: Ints, width: int) -> tuple[Ints, Indices]:
    """The keys that occur, in rising order, and the position of each row's key among them; keys are below `width`."""
    if width > max(MOST_COMBINATIONS, len(keys)):
        present, where = np.unique(keys, return_inverse=True)
        return present, where.reshape(-1)
    occurs = np.bincount(keys, minlength=width) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]


def _like_before(
    name: str, column: Any, edges: tuple[float, ...] | None, problems: Problems, fitted: bool
) -> tuple[levels.Attribute, Codes]:
    """An attribute; with edges of bands that were found before, the outermost bands hold all that lies beyond them.
    What was `fitted` without bands is not cut now."""
    if edges is None:
        return attribute(name, column, None, problems, categories=fitted)
    part, codes = attribute(name, column, (-np.inf, *edges[1:-1], np.inf), problems)
    return levels.Attribute((*levels.band_names(edges), None), part.lookup, edges), codes


def _that_occur(values: list[Any], codes: Codes) -> tuple[list[Any], Codes]:
    """The values that some row has: a range of whole numbers may name many that none has."""
    used = np.unique(codes[codes >= 0])
    position = np.full(len(values) + 1, -1, dtype=np.int32)
    position[used] = np.arange(len(used))
    return [values[i] for i in used], position[codes]


def _columns(sensitive: Any, X: Any, n: int | None) -> dict[str, Any]:
    """The columns that make the groups, of one length and, in pandas, of one index."""
    named = named_columns(sensitive, X) if X is not None else ()
    if isinstance(sensitive, str) and X is None:
        raise CallError(f"sensitive={shorten(sensitive)!r} names a column, but there is no X: pass it, or an array.")
    if isinstance(sensitive, (list, tuple)) and not named:
        sensitive = {"sensitive": sensitive}  # a list of values: its texts are not names of columns
    source = MemorySource(_table(X, named))
    assigned = roles.assign(source.names, sensitive=sensitive, needs=("groups",))
    for column in assigned.arrays.values():
        _check_length(len(column), n)
    lines = source.lines(assigned)
    _check_length(lines.length, n)
    return {name: lines.columns[f"sensitive:{name}"] for name in assigned.sensitive}


def _check_length(rows: int, n: int | None) -> None:
    if n is not None and rows != n:
        raise DataError(f"sensitive= has {number_of(rows)} and X has {n:,}: pass one group for each row.")


def _table(X: Any, named: tuple[str, ...]) -> Any:
    """X as a table where its columns or its index are needed, else None."""
    if X is None or (not named and not hasattr(X, "columns")):
        return None
    if hasattr(X, "tocsc"):
        known, columns, unread = column_names(X), X.tocsc(), np.zeros(X.shape[0], dtype=np.int8)
        return {name: columns[:, [i]].toarray().ravel() if name in named else unread for i, name in enumerate(known)}
    return features.as_table(X)


def _in_order(columns: Mapping[str, Any], attributes: tuple[str, ...]) -> dict[str, Any]:
    """The columns in the order of the fitted attributes; those with other names are taken in the order they come."""
    if len(columns) != len(attributes):
        raise CallError(
            f"sensitive= has {len(columns)} attributes ({listing(columns)}), and the model was fitted by "
            f"{len(attributes)} ({listing(attributes)}): pass the same ones."
        )
    if set(columns) == set(attributes):
        return {name: columns[name] for name in attributes}
    return dict(zip(attributes, columns.values(), strict=True))
