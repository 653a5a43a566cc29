"""Abstention: what is left of accuracy and of gaps when the least stable people are set aside, and who they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core import frames, wording
from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Group, Panel, spell
from evenhand.errors import CallError, nearest
from evenhand.measures.cells import CELLS, MEASURES, evaluate
from evenhand.replicas.dimensions import DIMENSIONS
from evenhand.verdicts import comparison

SHARES = tuple(round(0.05 * i, 2) for i in range(11))
"""Of everyone, from nobody to a half."""

_RATES = ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate")
_TOLD = 0.1  # the share that the sentence speaks of
_MOST_NAMED = 6


@dataclass(frozen=True)
class Abstention:
    """What holds when so large a share of everyone is set aside: `rates[name]` is [shares, groups].

    `set_aside` is the share of each group that is then set aside, [shares, groups]; `overall` holds each rate of all
    who are kept, and `gaps` the highest less the lowest of the groups that have a name, [shares]. People who are
    equally stable are set aside together, each in part, so that no number depends on the order of the rows.
    """

    by: str
    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    shares: Floats
    set_aside: Floats
    rates: dict[str, Floats]
    overall: dict[str, Floats]
    gaps: dict[str, Floats]

    def to_frame(self, kind: str | None = None) -> Any:
        """A line for each share and group, and for everyone."""
        titles, rows = self._lines()
        return frames.frame({title: [row[i] for row in rows] for i, title in enumerate(titles)}, kind)

    def panels(self) -> tuple[Panel, ...]:
        """The curve of each group, and that of the gaps."""
        titles, rows = self._lines()
        where = " × ".join(self.attributes)
        title = f"When the people of least {self._named} are set aside, by {where}"
        names = [name for name in _RATES if name in self.gaps]
        gaps = tuple(
            (float(share), *(_plain(self.gaps[name][i]) for name in names)) for i, share in enumerate(self.shares)
        )
        columns = ("set aside", *(f"gap in {MEASURES[name].title}" for name in names))
        return (
            Panel("curve", title, titles, tuple(rows)),
            Panel("curve", f"Gaps w{title[1:]}", columns, gaps),
        )

    @property
    def _named(self) -> str:
        return "stability" if self.by == "label_stability" else f"certainty ({self.by.replace('_', ' ')})"

    def _lines(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        names = [name for name in _RATES if name in self.rates]
        titles = ("set aside", "group", "share of the group", *(MEASURES[name].title for name in names))
        rows: list[tuple[object, ...]] = []
        for i, share in enumerate(self.shares.tolist()):
            rows.append((share, spell(()), share, *(_plain(self.overall[name][i]) for name in names)))
            for j, group in enumerate(self.groups):
                rates = (_plain(self.rates[name][i, j]) for name in names)
                rows.append((share, spell(group), _plain(self.set_aside[i, j]), *rates))
        return titles, rows

    def __str__(self) -> str:
        """What setting a tenth aside would do, or the share nearest to it."""
        place = int(np.argmin(np.abs(self.shares - _TOLD)))
        start = int(np.argmin(self.shares))
        told = [
            f"{wording.amount(float(self.set_aside[place, j]))} of {spell(group)}"
            for j, group in enumerate(self.groups)
        ]
        told = [*told[:_MOST_NAMED], *([f"… of {len(told) - _MOST_NAMED} more"] if len(told) > _MOST_NAMED else [])]
        said = f"To set aside the least stable {wording.amount(float(self.shares[place]))} sets aside {', '.join(told)}"
        if "accuracy" not in self.overall:
            return f"{said}."
        rates = (wording.amount(float(self.overall["accuracy"][i])) for i in (start, place))
        gaps = (wording.distance(float(self.gaps["accuracy"][i])) for i in (start, place))
        return f"{said}; the accuracy goes from {' to '.join(rates)}, its gap from {' to '.join(gaps)}."

    __repr__ = __str__


def abstain(
    values: Floats,
    decided: npt.NDArray[np.int8],
    label: Floats | None,
    codes: Indices,
    groups: Sequence[Group],
    *,
    by: str,
    attributes: Sequence[str],
    shares: Sequence[float] = SHARES,
) -> Abstention:
    """Set aside the least stable people, by their `values` of the dimension `by`, for each of some shares."""
    usable = {name: row.least_stable for name, row in DIMENSIONS.items() if row.least_stable is not None}
    if by not in usable:
        raise CallError(f"by={by!r} does not measure stability; {nearest(by, usable)}")
    wanted = np.asarray(shares, dtype=np.float64)
    if wanted.ndim != 1 or not len(wanted) or not ((wanted >= 0) & (wanted < 1)).all():
        raise CallError(f"shares={shares!r} must be shares of everyone from 0 to below 1, such as [0, 0.1, 0.2].")
    inside = codes >= 0
    places = codes[inside] * len(CELLS) + _cells(decided, label)[inside]
    levels, rank = np.unique(values[inside] if usable[by] == "lowest" else -values[inside], return_inverse=True)
    people = np.bincount(rank, minlength=len(levels))
    before = np.cumsum(people) - people
    cells = np.empty((len(wanted), len(groups), len(CELLS)))
    for i, share in enumerate(wanted):
        # Of those who are just as stable as the last one set aside, a part is: the same part of each.
        kept = 1 - np.clip((share * inside.sum() - before) / people, 0.0, 1.0)
        counted = np.bincount(places, weights=kept[rank], minlength=len(groups) * len(CELLS))
        cells[i] = counted.reshape(len(groups), len(CELLS))
    return _found(by, tuple(attributes), tuple(groups), wanted, cells, codes[inside], label is not None)


def _found(
    by: str,
    attributes: tuple[str, ...],
    groups: tuple[Group, ...],
    shares: Floats,
    cells: Floats,
    codes: Indices,
    labelled: bool,
) -> Abstention:
    rows = [MEASURES[name] for name in (_RATES if labelled else ("selection_rate",))]
    rates, named = dict(evaluate(cells, rows)), np.array([None not in group for group in groups])
    overall = {name: part[..., 0] for name, part in evaluate(cells.sum(axis=1, keepdims=True), rows).items()}
    gaps = {name: comparison.apart(np.where(named, part, np.nan))[0] for name, part in rates.items()}
    members = np.bincount(codes, minlength=len(groups))
    with np.errstate(invalid="ignore", divide="ignore"):
        aside = 1 - cells.sum(axis=2) / members
    return Abstention(by, attributes, groups, shares, np.clip(aside, 0.0, 1.0), rates, overall, gaps)


def _cells(decided: npt.NDArray[np.int8], label: Floats | None) -> Indices:
    """The cell of each person, as a place in CELLS: labelled ones by label and decision, others by decision."""
    first = {None: CELLS.index("U0"), 0: CELLS.index("TN"), 1: CELLS.index("FN")}
    known = np.full(len(decided), np.nan) if label is None else label
    start = np.where(np.isnan(known), first[None], np.where(known == 1, first[1], first[0]))
    return (start + decided).astype(np.intp)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
