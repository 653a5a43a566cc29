"""Panels of the findings on stability: distributions, right against wrong decisions, all gaps side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Estimate, Finding, Group, Panel, number_or_none, spell
from evenhand.core.wording import capital
from evenhand.replicas.sums import counted

BINS = 10
DECISIONS = ("right", "wrong")

Split = tuple[Floats, dict[str, Floats]]
"""People with right and with wrong decisions, [groups, 2], and the mean of each dimension among them."""


def distribution(title: str, values: Floats, codes: Indices, groups: Sequence[Group]) -> Panel:
    """The number of people of each group in each of ten bins of a dimension."""
    inside, numbers = counted(codes, values)
    top = float(numbers.max(initial=0.0)) or 1.0
    bins = (numbers * (BINS / top)).astype(np.intp)
    np.minimum(bins, BINS - 1, out=bins)
    bins += inside * BINS
    counts = np.bincount(bins, minlength=len(groups) * BINS).reshape(-1, BINS)
    rows = []
    for group, people in zip(groups, counts.tolist(), strict=True):
        for i, count in enumerate(people):
            share = count / sum(people) if sum(people) else None
            rows.append((spell(group), top * i / BINS, top * (i + 1) / BINS, count, share))
    return Panel(
        "distribution", f"{capital(title)} of each person", ("group", "from", "to", "people", "share"), tuple(rows)
    )


def split(people: Mapping[str, Floats], right: Floats, codes: Indices, groups: int) -> Split:
    """Each group split into people with a right and with a wrong decision.

    `right` is 1, 0, or NaN where the label is missing.
    """
    rows = np.flatnonzero((codes >= 0) & ~np.isnan(right))
    everyone = len(rows) == len(codes)
    index = codes[rows] * 2 + (right[rows] == 0)
    n = np.bincount(index, minlength=2 * groups).astype(np.float64)
    means = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, values in people.items():
            total = np.bincount(index, weights=values if everyone else values[rows], minlength=2 * groups)
            means[name] = (total / n).reshape(-1, 2)
    return n.reshape(-1, 2), means


def by_correctness(title: str, n: Floats, means: Floats, groups: Sequence[Group]) -> Panel:
    """One dimension among right and wrong predictions of each group."""
    rows = tuple(
        (spell(group), decision, int(n[i, j]), number_or_none(means[i, j]))
        for i, group in enumerate(groups)
        for j, decision in enumerate(DECISIONS)
    )
    return Panel(
        "table", f"{capital(title)} of right and wrong predictions", ("group", "prediction", "people", "mean"), rows
    )


def forest(findings: Sequence[Finding]) -> Panel:
    """The gaps of every dimension side by side: each group against its baseline, or the two extremes."""
    rows = []
    for finding in findings:
        compared = [row for row in finding.rows if row.estimate is not None and row.difference is not None]
        for row in compared or [finding.summary]:
            pair = (spell(row.group) if row.group else None, row.against)
            rows.append((finding.title, *pair, *_ends(row.difference), *_ends(row.ratio)))
    ends = ("difference", "low", "high", "ratio", "ratio low", "ratio high")
    return Panel("pairs", "Gaps in every dimension", ("dimension", "group", "against", *ends), tuple(rows))


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    if estimate is None or not estimate.defined:
        return None, None, None
    return estimate.value, estimate.low, estimate.high
