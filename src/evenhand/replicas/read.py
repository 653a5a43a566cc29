"""Read replicas of a model from any source, as one array [replicas, people] of probabilities or labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from evenhand.core.arguments import array_of
from evenhand.core.arrays import Array
from evenhand.core.quantities import number, shown
from evenhand.errors import CallError, DataError, listing, nearest, shorten
from evenhand.replicas import sheet
from evenhand.replicas.fit import Kind, Replicas
from evenhand.sources.columns import encode, numbers
from evenhand.sources.files import FileSource, is_path
from evenhand.sources.memory import MemorySource
from evenhand.sources.rows import load_files
from evenhand.sources.spelling import canonical

MIN_REPLICAS = 2


@dataclass(frozen=True)
class Ensemble:
    """Replicas as an array [replicas, people]: P(Y=1) (or P(Y=0), with `mirror`), or labels 0 and 1."""

    values: Array
    kind: Kind
    mirror: bool = False
    notes: tuple[str, ...] = ()

    @property
    def replicas(self) -> int:
        return len(self.values)

    @property
    def people(self) -> int:
        return int(self.values.shape[1])


def read(
    replicas: Any,
    *,
    kind: str | None = None,
    higher_is: str = "positive",
    positive: Collection[str] = ("1",),
    cutoff: float = 0.5,
) -> Ensemble:
    """An ensemble from an array, a list of arrays, a table with a column for each replica, or `Replicas`."""
    if kind not in (None, "probability", "label"):
        raise CallError(f"kind={kind!r} must be 'probability' or 'label', or left out.")
    if higher_is not in ("positive", "negative"):
        raise CallError(f"higher_is={higher_is!r} must be 'positive' or 'negative'.")
    if not 0 < number(cutoff) < 1:
        raise CallError(f"cutoff={shown(cutoff)} must be a probability above 0 and below 1, such as 0.5.")
    if isinstance(replicas, Replicas):
        return Ensemble(replicas.values, replicas.kind, higher_is == "negative")
    values = _array(replicas)
    _check_shape(values)
    mirror = higher_is == "negative"
    if values.dtype.kind in "OUSb" or (values.dtype.kind in "iu" and kind != "probability"):
        if kind == "probability":
            values = _as_numbers(values)
        else:
            return Ensemble(_labels(values, positive), "label", mirror)
    if values.dtype.kind not in "fiu":
        raise DataError(f"replicas are of type {values.dtype}: pass probabilities, or labels 0 and 1.")
    _check_probabilities(values)
    if kind == "probability" or not _only_zero_and_one(values):
        if kind == "label":
            raise DataError("kind='label', but the replicas hold fractions: they are probabilities.")
        return Ensemble(values, "probability", mirror)
    if set(positive) <= {"0", "1"}:
        values = _labels(values.astype(np.int8), positive)
    note = "All replicas are 0 or 1, so they are read as labels; pass kind='probability' to read them as probabilities."
    return Ensemble(values.astype(np.int8), "label", mirror, () if kind == "label" else (note,))


def from_columns(
    data: Any, columns: Any, *, roles: Collection[str] = (), kind: str | None = None, na: Collection[str] = ()
) -> tuple[Any, Any]:
    """A table, and the replicas in the columns that are named or match a pattern such as "p_*".

    Files are read into memory: the columns of the replicas and the columns `roles`.
    """
    patterns = [columns] if isinstance(columns, str) else list(columns)
    if is_path(data):
        data = _from_files(data, patterns, roles)
    source = MemorySource(data)
    replicas = {name: source.data[source.columns[name]] for name in _matching(patterns, source.names or [])}
    if kind == "label":
        return data, np.stack([_as_text(column, name) for name, column in replicas.items()])
    return data, np.stack([numbers(column, "replica", name, na)[0] for name, column in replicas.items()])


def _from_files(paths: Any, patterns: Sequence[str], roles: Collection[str]) -> dict[str, Any]:
    """The columns that are named, by name; cells of a file that `evenhand replicate` wrote as CSV lose their guard."""
    source = FileSource(paths)
    written_by_us = source.format.name == "csv" and sheet.is_sheet(source.names)
    plain = sheet.unguarded if written_by_us else str
    in_file = {plain(name): name for name in source.names}
    chosen = [*_matching(patterns, list(in_file)), *roles]
    found = load_files(paths, [in_file.get(name, name) for name in chosen])
    if not written_by_us:
        return found
    return {plain(name): _without_guards(column) for name, column in found.items()}


def _without_guards(column: Any) -> Any:
    if np.asarray(column).dtype.kind not in "OUT":
        return column
    return np.array([sheet.unguarded(cell) if isinstance(cell, str) else cell for cell in column], dtype=object)


def _matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that are equal to a pattern or match it, each once."""
    matching: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise CallError(f"no column is called {shorten(pattern)!r} or matches it; {nearest(pattern, names)}")
        matching |= dict.fromkeys(matches)
    return list(matching)


def _as_text(column: Any, name: str) -> Array:
    """The labels of a column as text."""
    levels, codes = encode(column, f"replica column {shorten(name)!r}")
    if (codes < 0).any():
        raise DataError(
            f"replica column {shorten(name)!r} has missing values: every replica needs a prediction for every person."
        )
    return np.array([canonical(level) for level in levels], dtype=object)[codes]


def _array(replicas: Any) -> Array:
    if hasattr(replicas, "columns") or hasattr(replicas, "column_names"):
        source = MemorySource(replicas)
        replicas = [np.asarray(source.data[name]) for name in source.columns.values()]
    elif isinstance(replicas, Mapping):
        replicas = [np.asarray(column) for column in replicas.values()]
    if isinstance(replicas, (str, bytes)):
        raise CallError(f"replicas={shorten(repr(replicas))} names columns: pass the table as data=, or an array.")
    if isinstance(replicas, (list, tuple)):
        rows = [array_of("replicas", row) for row in replicas]
        if len({row.shape for row in rows}) > 1:
            raise DataError("the replicas have different lengths: each needs a prediction for the same people.")
        replicas = np.stack(rows) if rows else np.empty((0, 0))
    values: Array = np.asanyarray(replicas)
    return values[..., 1] if values.ndim == 3 and values.shape[2] == 2 else values  # predict_proba, stacked


def _check_shape(values: Array) -> None:
    if values.ndim != 2:
        raise DataError(f"replicas have {values.ndim} dimensions: pass an array with a row for each replica, (B, n).")
    if len(values) < MIN_REPLICAS:
        raise DataError(
            f"there is {len(values)} replica; two are needed to see whether they agree, 50 to 200 are usual."
        )
    if values.shape[1] == 0:
        raise DataError("the replicas have no people: pass an array (B, n) with a column for each person.")


def _as_numbers(values: Array) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("kind='probability', but the replicas are not all numbers.") from None


def _check_probabilities(values: Array) -> None:
    low, high = float(values.min()), float(values.max())
    if np.isnan(low) or np.isnan(high):
        incomplete = np.flatnonzero([np.isnan(row).any() for row in values])
        raise DataError(
            f"replica {listing(incomplete.tolist(), 3)} has missing values: "
            "every replica needs a prediction for every person."
        )
    if low < 0 or high > 1:
        raise DataError(f"replicas hold numbers from {low:.4g} to {high:.4g}: probabilities lie between 0 and 1.")


def _only_zero_and_one(values: Array) -> bool:
    return all(bool(((row == 0) | (row == 1)).all()) for row in values)


def _labels(values: Array, positive: Collection[str]) -> Array:
    """1 for the favourable value and 0 for any other."""
    if values.dtype.kind in "biu" and set(positive) == {"1"} and int(values.min()) >= 0 and int(values.max()) <= 1:
        return values
    distinct, codes = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    levels = [canonical(value) for value in distinct]
    if {"nan", "None", ""} & set(levels):
        raise DataError("replicas have missing labels: every replica needs a prediction for every person.")
    if not set(positive) & set(levels):
        raise DataError(
            f"no replica predicts {listing(positive)}; they predict {listing(levels)}: "
            "name the value that counts as positive with positive=."
        )
    return np.array([level in positive for level in levels])[codes].reshape(values.shape)
