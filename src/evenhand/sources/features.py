"""The columns of a table as arrays of numbers or of category codes, whatever kind of table holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Floats, Ints
from evenhand.core.frames import readable
from evenhand.core.results import MISSING
from evenhand.core.wording import number_of
from evenhand.errors import CallError, DataError, Problems, as_typed, listing, nearest, shorten
from evenhand.sources.columns import encode, library, numbers
from evenhand.sources.files import is_path
from evenhand.sources.levels import as_numbers, order_key
from evenhand.sources.memory import MemorySource
from evenhand.sources.spelling import spelling


@dataclass(frozen=True)
class Column:
    """One column: numbers (NaN is missing), or with `levels` the position of each value among them (−1 is missing)."""

    name: str
    values: Array
    levels: tuple[Any, ...] | None = None

    @property
    def categorical(self) -> bool:
        return self.levels is not None

    @property
    def missing(self) -> Bools:
        return np.asarray(self.values < 0 if self.categorical else np.isnan(self.values))

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Ints) -> Column:
        """The column at some rows."""
        return replace(self, values=self.values[rows])

    def shown(self, row: int) -> str:
        """The value of one row as text."""
        value = self.values[row]
        if self.levels is not None:
            return spelling(self.levels[int(value)]) if value >= 0 else MISSING
        return MISSING if np.isnan(value) else spelling(float(f"{value:.6g}"))

    def filled(self, value: Any) -> Column:
        """The same column with one value in every row; a category that the column does not have is an error."""
        if self.levels is None:
            number = None if isinstance(value, str) else as_numbers([value], declared=False)
            if number is None or not np.isfinite(number).all():
                raise CallError(f"{shorten(self.name)!r} holds numbers, so it cannot be {shorten(repr(value))}.")
            return replace(self, values=np.full(len(self), float(value)))
        spelled = [spelling(level) for level in self.levels]
        if spelling(value) not in spelled:
            raise CallError(
                f"{shorten(self.name)!r} is never {shorten(repr(value))}; {nearest(spelling(value), spelled)}"
            )
        return replace(self, values=np.full(len(self), spelled.index(spelling(value)), dtype=np.int64))

    def raw(self) -> Array:
        """The values as a table holds them. The column must have no missing category."""
        if self.levels is None:
            return self.values
        if all(isinstance(level, (bool, np.bool_)) for level in self.levels):
            return np.array(self.levels, dtype=np.bool_)[self.values]
        levels = np.empty(len(self.levels), dtype=object)
        levels[:] = self.levels
        return levels[self.values]


Columns = dict[str, Column]


@dataclass(frozen=True)
class ColumnRules:
    """How columns are read, where uses differ. `title` is what an error calls a column."""

    title: str
    most_levels: int
    too_many_levels: str
    """What a column with more levels than that may be, and what to do about it."""
    text_numbers: bool
    """Is text a number where every value of the column is a number in plain spelling?"""
    binary_categories: bool
    """Are numbers that are all 0 or 1 categories?"""
    own_order: bool
    """Do categories keep the order that the column's type declares?"""
    missing_is: str | None = None
    """Why a missing value is an error, and what to do; None where it is allowed."""


FEATURES = ColumnRules(
    "feature",
    most_levels=1000,
    too_many_levels="an id, or a date? Leave it out with features=, make it numbers, or make it coarser.",
    text_numbers=True,
    binary_categories=True,
    own_order=False,
)
"""For distances between people: a mismatch of two categories counts 1, and so does one of 0 and 1."""


@dataclass(frozen=True)
class Features:
    """The columns by which people are compared, all of one length; `left_out` are those that have another role."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        return len(self.columns[0])

    @property
    def missing(self) -> Bools:
        """For each person, whether any feature is missing."""
        return np.asarray(np.any([column.missing for column in self.columns], axis=0))

    def take(self, rows: Ints) -> Features:
        """The features of some people."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))


def as_table(X: Any) -> Any:
    """X as a table with named columns: a table as it is, a file loaded, an array with columns x0, x1, …"""
    if X is None:
        raise CallError("X is missing: pass the people's features, as a table or an array with a row for each person.")
    if is_path(X):
        from evenhand.sources.rows import load_files

        return load_files(X)
    if library(X) == "scipy" or hasattr(X, "tocsr"):
        raise CallError("X is a sparse matrix: pass X.toarray(), or fewer columns.")
    X = readable(X)
    if isinstance(X, np.ndarray) and X.dtype.names:
        return X
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple, np.ndarray)):
        X = _array_of(X)
    if isinstance(X, (list, tuple)) or (hasattr(X, "ndim") and not hasattr(X, "columns")):
        return _named(X)
    return X


def _array_of(rows: Sequence[Any]) -> Array:
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
    outcomes: Mapping[str, str] | None = None,
    na: Collection[str] = (),
) -> Features:
    """The features of a table: the columns that `features` names, else all but those in `apart` (other roles).

    `outcomes` are columns that may never be features, and what they are: {"repaid": "the label"}.
    """
    source = MemorySource(table)
    known = source.names or []
    problems = Problems()
    selected = _names("features", features, known, problems) if features is not None else None
    as_category = _names("categorical", categorical, known, problems)
    if selected is None:
        selected = [name for name in known if name not in apart]
    if not selected:
        problems.add("there is no feature to compare people by: name them with features=.")
    for name, what in (outcomes or {}).items():
        if features is not None and name in selected:
            named = as_typed("features= names", "the features name")
            problems.add(f"{named} {shorten(name)!r}, which is {what} itself: leave it out.")
    for name in source.twice.intersection(selected):
        problems.add(_called_twice(name))
    problems.raise_if_any(CallError)
    columns = read_columns(source, selected, FEATURES, categorical=as_category, na=na)
    left_out = tuple(name for name in known if name in apart and name not in selected)
    return Features(tuple(columns.values()), left_out)


def read_columns(
    source: MemorySource,
    names: Sequence[str],
    rules: ColumnRules,
    *,
    categorical: Collection[str] = (),
    na: Collection[str] = (),
    like: Mapping[str, Column] | None = None,
) -> Columns:
    """The columns with these names, each as numbers or categories; all problems are reported in one error.

    `categorical` names columns of numbers that are codes, `na` lists texts that mean a missing value. With `like`,
    each column is read as the one of that name was: numbers stay numbers, and categories get the same codes.
    """
    problems, columns = Problems(), {}
    for name in names:
        if name not in source.columns:
            problems.add(f"there is no column {shorten(name)!r}; {nearest(name, list(source.columns))}")
        elif name in source.twice:
            problems.add(_called_twice(name))
        else:
            values = source.data[source.columns[name]]
            as_category = name in categorical or _is_declared_category(values)
            column = _column(name, values, rules, as_category, na, None if like is None else like[name], problems)
            if column is not None:
                columns[name] = column
    problems.raise_if_any(DataError)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"lengths differ: {', '.join(f'{shorten(name)!r} {n:,}' for name, n in lengths.items())}.")
    return columns


def _called_twice(name: str) -> str:
    return f"two columns are called {shorten(name)!r}: rename one."


def _names(argument: str, value: Iterable[str] | str, known: Sequence[str], problems: Problems) -> list[str]:
    """The columns that an argument names; those that X does not have are problems."""
    names = [value] if isinstance(value, str) else list(value)
    for name in names:
        if name not in known:
            problems.add(
                f"{argument}= names {shorten(repr(name))}, which is not a column of X; {nearest(str(name), known)}"
            )
    if len(set(names)) < len(names):
        problems.add(f"{argument}= names a column twice: {listing(names)}.")
    return names


def _column(
    name: str,
    values: Any,
    rules: ColumnRules,
    categorical: bool,
    na: Collection[str],
    like: Column | None,
    problems: Problems,
) -> Column | None:
    """One column, or None where something is wrong with it, which is then among the problems."""
    title = f"{rules.title} {shorten(name)!r}"
    categorical = categorical if like is None else like.categorical
    if not categorical and _is_numeric(values):
        return _numbers(name, numbers(values, rules.title, name, na)[0], rules, problems)
    levels, codes = encode(values, title, na)
    codes = np.asarray(codes, dtype=np.int64)
    missing = int((codes < 0).sum())
    if missing and rules.missing_is is not None:
        problems.add(_missing(title, missing, rules))
        return None
    used = np.unique(codes[codes >= 0])
    present = [levels[i] for i in used]
    text = not rules.text_numbers and any(isinstance(level, str) for level in present)
    as_floats = None if categorical or text else as_numbers(present, declared=False)
    if as_floats is not None:
        lookup = np.full(len(levels) + 1, np.nan)
        lookup[used] = as_floats
        return _numbers(name, lookup[codes], rules, problems)
    if like is not None and not like.categorical and present:
        problems.add(f"{title} held numbers when the model was fitted and now holds text.")
        return None
    known = _levels(present, rules.own_order and _is_ordered(values)) if like is None else list(like.levels or ())
    problem = _category_problem(present, known, rules, new=like is None)
    if problem is not None:
        problems.add(f"{title} {problem}")
        return None
    positions = {spelling(level): i for i, level in enumerate(known)}
    lookup = np.full(len(levels) + 1, -1, dtype=np.int64)
    lookup[used] = [positions[spelling(level)] for level in present]
    return Column(name, lookup[codes], tuple(known))


def _category_problem(present: Sequence[Any], known: Sequence[Any], rules: ColumnRules, *, new: bool) -> str | None:
    """What is wrong with the values of a category, to be said after the column's name; None if nothing is."""
    if new and len(known) > rules.most_levels:
        return f"has {len(known):,} different values that are not numbers: {rules.too_many_levels}"
    spelled = {spelling(level) for level in known}
    unknown = [level for level in present if spelling(level) not in spelled]
    return f"holds {listing(unknown)}, which the model has not seen." if unknown else None


def _levels(present: Sequence[Any], ordered: bool) -> list[Any]:
    """The levels of a category: one for each spelling, in the order of the library unless they have their own."""
    once = {spelling(level): level for level in reversed(present)}
    spelled = list(dict.fromkeys(spelling(level) for level in present)) if ordered else sorted(once, key=order_key)
    return [once[text] for text in spelled]


def _numbers(name: str, values: Floats, rules: ColumnRules, problems: Problems) -> Column | None:
    """A column of numbers, or of the categories 0 and 1."""
    title = f"{rules.title} {shorten(name)!r}"
    missing = np.isnan(values)
    if rules.missing_is is not None and missing.any():
        problems.add(_missing(title, int(missing.sum()), rules))
        return None
    if np.isinf(values).any():
        problems.add(f"{title} holds an infinite value: cut it to a range, or leave those rows out.")
        return None
    present = values[~missing]
    if rules.binary_categories and present.size and np.isin(present, (0.0, 1.0)).all():
        return Column(name, np.where(missing, -1, values).astype(np.int64), ("0", "1"))
    return Column(name, values)


def _missing(title: str, rows: int, rules: ColumnRules) -> str:
    return f"{title} is missing in {number_of(rows)}: {rules.missing_is}"


def _is_declared_category(values: Any) -> bool:
    """Does the column's own type say that it holds categories, or true and false?"""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    return any(word in kind for word in ("categor", "enum", "bool", "dictionary"))


def _is_numeric(values: Any) -> bool:
    """Does the column's own type say that it holds numbers, so that its values need not be looked at?"""
    kind = getattr(values, "dtype", None)
    if library(values) == "polars":
        return bool(kind.is_numeric())  # type: ignore[union-attr]
    if library(values) == "pyarrow":
        return any(word in str(values.type) for word in ("int", "float", "double"))
    plain = library(values) in ("numpy", "pandas") and getattr(kind, "kind", "") in "iuf"
    return plain and getattr(values, "ndim", 1) == 1


def _is_ordered(values: Any) -> bool:
    """Does the column's own type declare an order of its categories?"""
    kind = getattr(values, "dtype", None)
    return bool(getattr(kind, "ordered", False)) or (library(values) == "polars" and "enum" in str(kind).lower())
