"""How much of the gap between the scores of two groups each feature carries, by its contributions to the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.core.frames import readable
from evenhand.core.results import Estimate, Group, spell
from evenhand.errors import CallError, DataError, as_typed, listing, nearest, shorten
from evenhand.inference import critical
from evenhand.inference.means import SIGNED, Means
from evenhand.sources.memory import MemorySource
from evenhand.sources.spelling import spelling
from evenhand.verdicts.request import Request

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Contributions:
    """What each feature adds to the score of each person: [people, features]."""

    names: tuple[str, ...]
    values: Floats


@dataclass(frozen=True)
class CarriedGap:
    """The gap between the mean scores of two groups, and the part that each feature carries; the parts sum to it.

    `rest` is what contributions do not add up to, where a score tells it. The intervals of the parts hold together.
    """

    pair: tuple[Group, Group]
    shown: tuple[str, str]
    people: tuple[int, int]
    means: tuple[float, float]
    gap: Estimate
    parts: tuple[tuple[str, Estimate], ...]
    rest: Estimate | None
    confidence: float

    @property
    def ranked(self) -> list[tuple[str, Estimate]]:
        """The parts, the largest first."""
        return sorted(self.parts, key=lambda part: -abs(part[1].value))


def read_contributions(contributions: Any, named: Sequence[str], size: int) -> Contributions:
    """A matrix in the order of the features, or a table with their names; an object that holds such a matrix too.

    Parameters
    ----------
    contributions
        What the caller passed.
    named
        The features, in their order.
    """
    matrix = _matrix_of(contributions)
    names = _column_names(matrix)
    if names is not None:
        unknown = [name for name in names if name not in named]
        if unknown:
            raise CallError(
                f"{_named()} has a column {shorten(unknown[0])!r}, which is not a feature; {nearest(unknown[0], named)}"
            )
        source = MemorySource(matrix)
        values = _numbers(np.column_stack([np.asarray(source.data[source.columns[name]]) for name in names]))
    else:
        values = _numbers(matrix)
    wanted = (size, len(named) if names is None else len(names))
    if values.ndim == 3:
        raise CallError(
            f"{_named()} has the shape {values.shape}, with one matrix for each class: pass that of the favourable "
            "one, as in contributions[:, :, 1]."
        )
    if values.shape != wanted:
        raise CallError(
            f"{_named()} has the shape {values.shape} and must have {wanted}: a row for each person and a column "
            f"for each of the features {listing(named)}. Name those that it is of with "
            f"{as_typed('features=', '--features')}."
        )
    if not np.isfinite(values).all():
        raise DataError(f"{_named()} has missing or infinite values: every feature adds a number to every score.")
    return Contributions(tuple(named if names is None else names), values)


def _named() -> str:
    return as_typed("contributions=", "--contributions")


def _matrix_of(contributions: Any) -> Any:
    """The matrix of an object such as shap.Explanation, which holds it as `values`; a table as it is."""
    held = getattr(contributions, "values", None)
    if isinstance(held, np.ndarray) and not hasattr(contributions, "columns"):
        return held
    return contributions if isinstance(contributions, (np.ndarray, dict)) else readable(contributions)


def _column_names(matrix: Any) -> list[str] | None:
    if isinstance(matrix, np.ndarray) and matrix.dtype.names is None:
        return None
    if isinstance(matrix, dict) or hasattr(matrix, "columns") or hasattr(matrix, "column_names"):
        return MemorySource(matrix).names
    return None


def _numbers(matrix: Any) -> Floats:
    try:
        values = np.asarray(matrix)
        if np.iscomplexobj(values):
            raise TypeError("numbers with two parts")
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise CallError(
            f"{_named()} must be numbers: a matrix with a row for each person and a column for each feature."
        ) from None


def carried_gap(
    contributions: Contributions,
    scores: Floats | None,
    groups: Sequence[Group],
    codes: Indices,
    attributes: Sequence[str],
    between: Any,
    request: Request,
) -> CarriedGap:
    """The gap between two groups, shared out among the features."""
    pair = _pair(groups, between)
    values, names = contributions.values, contributions.names
    rest = None if scores is None else scores - values.sum(axis=1)
    if rest is not None:
        scale = max(float(np.abs(scores).max()), float(np.abs(values).max()), 1e-300)  # type: ignore[arg-type]
        rest = None if float(np.ptp(rest)) <= _ROUNDING * scale else rest
    columns = values if rest is None else np.column_stack([values, rest])
    inside = [codes == i for i in pair]
    confidence = request.policy.confidence
    parts = _differences(columns, inside, critical.sidak(columns.shape[1], confidence))
    total = columns.sum(axis=1)
    whole = total if scores is None else scores
    (gap,) = _differences(total[:, None], inside, critical.sidak(1, confidence))
    first, second = (spell(groups[i], attributes) for i in pair)
    means = float(whole[inside[0]].mean()), float(whole[inside[1]].mean())
    people = int(inside[0].sum()), int(inside[1].sum())
    named = tuple(zip(names, parts[: len(names)], strict=True))
    left = None if rest is None else parts[-1]
    return CarriedGap((groups[pair[0]], groups[pair[1]]), (first, second), people, means, gap, named, left, confidence)


def _pair(groups: Sequence[Group], between: Any) -> tuple[int, int]:
    """The places of the two groups that are compared."""
    typed = as_typed("between=", "--between")
    if between is None:
        if len(groups) != 2:
            raise CallError(
                f"there are {len(groups)} groups: say between which two the gap is shared out with {typed}; there are "
                f"{listing([spell(group) for group in groups])}."
            )
        return 0, 1
    if isinstance(between, (str, bytes)) or len(between) != 2:
        raise CallError(f"{typed}{shorten(repr(between))} must name two groups, such as ('Male', 'Female').")
    places = []
    for value in between:
        parts = value if isinstance(value, (tuple, list)) else (value,)
        wanted = tuple(spelling(part) for part in parts)
        if wanted not in groups:
            known = [spell(group) for group in groups]
            raise CallError(f"{typed}: {shorten(repr(value))} is not a group; {nearest(', '.join(wanted), known)}")
        places.append(groups.index(wanted))
    if places[0] == places[1]:
        raise CallError(f"{typed} names the same group twice, {spell(groups[places[0]])!r}: name another one.")
    return places[0], places[1]


def _differences(columns: Floats, inside: Sequence[Any], deviate: float) -> list[Estimate]:
    """The difference between the means of two groups in each column, with limits at this deviate."""
    return [_difference(column, inside, deviate) for column in columns.T]


def _difference(column: Floats, inside: Sequence[Any], deviate: float) -> Estimate:
    """As for every mean, the variance of a group is moderated by that of the other, because one person tells nothing of
    how people vary; and where nobody differs within a group, limits are those of a share on the range of the values."""
    low, high = float(column.min()), float(column.max())
    if low == high:  # it adds the same to every score
        return Estimate(0.0, 0.0, 0.0)
    size = max(abs(low), abs(high))  # squares of very large or very small numbers leave the range of floats
    members = [column[rows] / size for rows in inside]
    low, high = low / size, high / size
    values, sizes = (np.array([each(part) for part in members], dtype=np.float64) for each in (np.mean, len))
    own = np.array([part.var(ddof=1) if len(part) > 1 and np.ptp(part) > 0 else 0.0 for part in members])
    least, most = Means.of(values, own, sizes, sizes, (low, high), growth=SIGNED).limits(deviate, 0.0)
    down = np.hypot(values[0] - least[0], most[1] - values[1])
    up = np.hypot(most[0] - values[0], values[1] - least[1])
    gap = float(values[0] - values[1])
    return Estimate.of(*(size * end for end in (gap, gap - float(down), gap + float(up))))
