"""Abstention: accuracy and gaps when the least stable people are set aside, and which groups those people are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core import frames, wording
from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Group, Panel, number_or_none, spell
from evenhand.core.signs import printable
from evenhand.errors import CallError, nearest
from evenhand.measures.cells import CELLS, MEASURES, evaluate
from evenhand.replicas.dimensions import DIMENSIONS
from evenhand.sources.documentation import documented
from evenhand.verdicts import comparison

SHARES = tuple(round(0.05 * i, 2) for i in range(11))
"""The shares of everyone that are set aside by default: from nobody to a half."""

_RATES = ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate")
_SENTENCE_SHARE = 0.1  # the share that the sentence is about
_MAX_NAMED = 6  # groups in the sentence


@documented
@checked
@dataclass(frozen=True)
class Abstention:
    """The rates of each group when a share of everyone is set aside: `rates[name]` is [shares, groups].

    `set_aside` is the share of each group that is set aside, [shares, groups]. `overall` has each rate of all who are
    kept, [shares], and `gaps` the highest less the lowest rate of the groups without a missing value, [shares]. People
    who are equally stable are set aside together, each in part, so that no number depends on the order of the rows.
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
        """A table with a row for each share and group, and for everyone."""
        titles, rows = self._lines()
        return frames.frame({title: [row[i] for row in rows] for i, title in enumerate(titles)}, kind)

    def panels(self) -> tuple[Panel, ...]:
        """The curve of each group, and that of the gaps."""
        titles, rows = self._lines()
        where = " × ".join(self.attributes)
        title = f"When the {self._people} are set aside, by {where}"
        names = [name for name in _RATES if name in self.gaps]
        gaps = tuple(
            (float(share), *(number_or_none(self.gaps[name][i]) for name in names))
            for i, share in enumerate(self.shares)
        )
        columns = ("set aside", *(f"gap in {MEASURES[name].title}" for name in names))
        return (
            Panel("curve", title, titles, tuple(rows)),
            Panel("curve", f"Gaps w{title[1:]}", columns, gaps),
        )

    @property
    def _people(self) -> str:
        if self.by == "label_stability":
            return "least stable people"
        return f"least certain people ({self.by.replace('_', ' ')})"

    def _lines(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        names = [name for name in _RATES if name in self.rates]
        titles = ("set aside", "group", "share of the group", *(MEASURES[name].title for name in names))
        rows: list[tuple[object, ...]] = []
        for i, share in enumerate(self.shares.tolist()):
            rows.append((share, spell(()), share, *(number_or_none(self.overall[name][i]) for name in names)))
            for j, group in enumerate(self.groups):
                rates = (number_or_none(self.rates[name][i, j]) for name in names)
                rows.append((share, spell(group), number_or_none(self.set_aside[i, j]), *rates))
        return titles, rows

    def __str__(self) -> str:
        return printable(self.sentence())

    __repr__ = __str__

    def sentence(self) -> str:
        """The effect of setting a tenth aside, or the share nearest to it."""
        at = int(np.argmin(np.abs(self.shares - _SENTENCE_SHARE)))
        start = int(np.argmin(self.shares))
        groups = [
            f"{wording.amount(float(share))} of {spell(group)}"
            for group, share in zip(self.groups, self.set_aside[at], strict=True)
        ]
        if len(groups) > _MAX_NAMED:
            groups = [*groups[:_MAX_NAMED], f"… of {len(groups) - _MAX_NAMED} more groups"]
        share = wording.amount(float(self.shares[at]))
        effect = f"Setting aside the least stable {share} of people sets aside {', '.join(groups)}"
        if "accuracy" not in self.overall:
            return f"{effect}."
        rates = (wording.amount(float(self.overall["accuracy"][i])) for i in (start, at))
        effect = f"{effect}; accuracy goes from {' to '.join(rates)}"
        gaps = [float(self.gaps["accuracy"][i]) for i in (start, at)]
        if np.isnan(gaps).any():  # fewer than two groups have an accuracy
            return f"{effect}."
        return f"{effect}, and its gap from {' to '.join(map(wording.distance, gaps))}."


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
    """Set aside the least stable people, by their `values` of the dimension `by`, for each of the shares.

    `decided` is the decision about each person, `label` 1, 0 or NaN, and `codes` the index of the person's group.
    """
    usable = {name: row.least_stable for name, row in DIMENSIONS.items() if row.least_stable is not None}
    if by not in usable:
        raise CallError(f"by={by!r} does not measure stability; {nearest(by, usable)}")
    steps = np.asarray(shares, dtype=np.float64)
    if steps.ndim != 1 or not len(steps) or not ((steps >= 0) & (steps < 1)).all():
        raise CallError(f"shares={shares!r} must be shares of everyone from 0 to below 1, such as [0, 0.1, 0.2].")
    inside = codes >= 0
    cell_codes = codes[inside] * len(CELLS) + _cells(decided, label)[inside]
    levels, rank = np.unique(values[inside] if usable[by] == "lowest" else -values[inside], return_inverse=True)
    people = np.bincount(rank, minlength=len(levels))
    before = np.cumsum(people) - people
    cells = np.empty((len(steps), len(groups), len(CELLS)))
    for i, share in enumerate(steps):
        # People as stable as the last one set aside are set aside in part: the same part of each.
        kept = 1 - np.clip((share * inside.sum() - before) / people, 0.0, 1.0)
        counted = np.bincount(cell_codes, weights=kept[rank], minlength=len(groups) * len(CELLS))
        cells[i] = counted.reshape(len(groups), len(CELLS))
    return _from_cells(by, tuple(attributes), tuple(groups), steps, cells, codes[inside], label is not None)


def _from_cells(
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
    overall = {name: rate[..., 0] for name, rate in evaluate(cells.sum(axis=1, keepdims=True), rows).items()}
    gaps = {name: comparison.apart(np.where(named, rate, np.nan))[0] for name, rate in rates.items()}
    members = np.bincount(codes, minlength=len(groups))
    with np.errstate(invalid="ignore", divide="ignore"):
        aside = 1 - cells.sum(axis=2) / members
    return Abstention(by, attributes, groups, shares, np.clip(aside, 0.0, 1.0), rates, overall, gaps)


def _cells(decided: npt.NDArray[np.int8], label: Floats | None) -> Indices:
    """The cell of each person, as an index of CELLS: by label and decision, or by decision where there is no label."""
    first = {None: CELLS.index("U0"), 0: CELLS.index("TN"), 1: CELLS.index("FN")}
    labels = np.full(len(decided), np.nan) if label is None else label
    start = np.where(np.isnan(labels), first[None], np.where(labels == 1, first[1], first[0]))
    return (start + decided).astype(np.intp)
