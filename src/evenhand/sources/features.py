"""People: the features of X as columns of numbers or of categories, whatever kind of table holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.core.results import MISSING
from evenhand.errors import CallError, DataError, Problems, listing, nearest, shorten
from evenhand.sources import levels as reading
from evenhand.sources.columns import encode, library, numbers
from evenhand.sources.files import is_path
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import spelling

MOST_LEVELS = 1000


@dataclass(frozen=True)
class Column:
    """One feature: numbers (NaN is missing), or with `levels` the place of each value among them (−1 is missing)."""

    name: str
    values: npt.NDArray[Any]
    levels: tuple[str, ...] | None = None

    @property
    def categorical(self) -> bool:
        return self.levels is not None

    @property
    def missing(self) -> Bools:
        return np.asarray(self.values < 0 if self.categorical else np.isnan(self.values))

    def take(self, rows: Ints) -> Column:
        return replace(self, values=self.values[rows])

    def shown(self, row: int) -> str:
        """One person's value, for people."""
        value = self.values[row]
        if self.levels is not None:
            return self.levels[int(value)] if value >= 0 else MISSING
        return MISSING if np.isnan(value) else spelling(float(f"{value:.6g}"))


@dataclass(frozen=True)
class Features:
    """The columns by which people are compared, all of one length; `left_out` are those that play another part."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        return len(self.columns[0].values)

    @property
    def missing(self) -> Bools:
        """Who lacks a value in any feature?"""
        return np.asarray(np.any([column.missing for column in self.columns], axis=0))

    def take(self, rows: Ints) -> Features:
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))


def as_table(X: Any) -> Any:
    """X as something with named columns: a table stays what it is; the columns of an array are x0, x1, …"""
    if X is None:
        raise CallError("X is missing: pass the people's features, as a table or an array with a row for each person.")
    if is_path(X):
        from evenhand.sources.rows import load_files

        return load_files(X)
    if library(X) == "scipy" or hasattr(X, "tocsr"):
        raise CallError("X is a sparse matrix: pass X.toarray(), or fewer columns.")
    if isinstance(X, np.ndarray) and X.dtype.names:
        return X
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple, np.ndarray)):
        X = _array_of(X)
    if isinstance(X, (list, tuple)) or (hasattr(X, "ndim") and not hasattr(X, "columns")):
        return _named(X)
    return X


def _array_of(rows: Sequence[Any]) -> npt.NDArray[Any]:
    if len({len(row) for row in rows}) > 1:
        raise DataError("X has rows of different lengths: every person needs the same features.")
    text = any(isinstance(value, (str, bytes)) or value is None for value in rows[0])
    return np.array(rows, dtype=object) if text else np.asarray(rows)


def _named(X: Any) -> dict[str, Any]:
    array = X if hasattr(X, "ndim") else np.asarray(X)
    if array.ndim == 1:
        return {"x0": array}
    if array.ndim != 2:
        raise DataError(f"X has {array.ndim} dimensions: pass a row for each person and a column for each feature.")
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def read(
    table: Any,
    *,
    features: Iterable[str] | str | None = None,
    categorical: Iterable[str] | str = (),
    apart: Collection[str] = (),
    na: Collection[str] = (),
) -> Features:
    """The features of a table: those that are named, else every column that plays no other part (`apart`)."""
    source = MemorySource(table)
    known = source.names or []
    problems = Problems()
    chosen = _list("features", features, known, problems) if features is not None else None
    as_category = set(_list("categorical", categorical, known, problems))
    if chosen is None:
        chosen = [name for name in known if name not in apart]
    if not chosen:
        problems.add("there is no feature to compare people by: name them with features=.")
    for name in chosen:
        if name in source.twice:
            problems.add(f"two columns are called {shorten(name)!r}: rename one.")
    problems.raise_if_any(CallError)
    columns = []
    for name in chosen:
        column = _column(name, source.data[source.columns[name]], name in as_category, na, problems)
        if column is not None:
            columns.append(column)
    problems.raise_if_any(DataError)
    lengths = {column.name: len(column.values) for column in columns}
    if len(set(lengths.values())) > 1:
        raise DataError(f"lengths differ: {', '.join(f'{shorten(name)!r} {n:,}' for name, n in lengths.items())}.")
    return Features(tuple(columns), tuple(name for name in known if name in apart and name not in chosen))


def _list(what: str, given: Iterable[str] | str, known: Sequence[str], problems: Problems) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in known:
            problems.add(f"{what}= names {shorten(repr(name))}, which is no column of X; {nearest(str(name), known)}")
    if len(set(names)) < len(names):
        problems.add(f"{what}= names a column twice: {listing(names)}.")
    return names


def _column(name: str, given: Any, categorical: bool, na: Collection[str], problems: Problems) -> Column | None:
    title = f"feature {shorten(name)!r}"
    categorical = categorical or _declared(given)
    if not categorical and _plain_numbers(given):
        return _numeric(name, numbers(given, "feature", name, na)[0], problems)
    found, codes = encode(given, title, na)
    codes = np.asarray(codes, dtype=np.int64)
    used = np.unique(codes[codes >= 0])
    there = [found[i] for i in used]
    values = None if categorical else reading.as_numbers(there, declared=False)
    if values is not None:
        lookup = np.full(len(found) + 1, np.nan)
        lookup[used] = values
        return _numeric(name, lookup[codes], problems)
    spelled = sorted({spelling(level) for level in there}, key=reading.order_key)
    if len(spelled) > MOST_LEVELS:
        problems.add(
            f"{title} has {len(spelled):,} different values that are no numbers: an id, or a date? Leave it out with "
            "features=, make it numbers, or make it coarser."
        )
        return None
    places = {text: i for i, text in enumerate(spelled)}
    lookup = np.full(len(found) + 1, -1, dtype=np.int64)
    lookup[used] = [places[spelling(level)] for level in there]
    return Column(name, lookup[codes], tuple(spelled))


def _numeric(name: str, values: Floats, problems: Problems) -> Column | None:
    """A column of 0 and 1 is a yes or no: there a mismatch is all that can be told."""
    if np.isinf(values).any():
        problems.add(f"feature {shorten(name)!r} holds an infinite value: cut it to a range, or leave the row out.")
        return None
    there = values[~np.isnan(values)]
    if there.size and np.isin(there, (0.0, 1.0)).all():
        return Column(name, np.where(np.isnan(values), -1, values).astype(np.int64), ("0", "1"))
    return Column(name, values)


def _declared(given: Any) -> bool:
    """Does the column's own type say that it holds categories, or a yes and no?"""
    kind = str(getattr(given, "dtype", getattr(given, "type", ""))).lower()
    return any(word in kind for word in ("categor", "enum", "bool", "dictionary"))


def _plain_numbers(given: Any) -> bool:
    """Does the column's type alone say that it holds numbers? Then its values need no look."""
    kind = getattr(given, "dtype", None)
    if library(given) == "polars":
        return bool(kind.is_numeric())  # type: ignore[union-attr]
    if library(given) == "pyarrow":
        return any(word in str(given.type) for word in ("int", "float", "double"))
    return library(given) in ("numpy", "pandas") and getattr(kind, "kind", "") in "iuf"
