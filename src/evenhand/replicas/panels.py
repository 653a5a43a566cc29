"""What a finding on replicas shows beside its rows: distributions, right against wrong decisions, all gaps at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Estimate, Finding, Group, Panel, spell
from evenhand.core.wording import capital
from evenhand.replicas.sums import counted

BINS = 10
DECISIONS = ("right", "wrong")


def distribution(title: str, values: Floats, codes: Indices, groups: Sequence[Group]) -> Panel:
    """How many people of each group lie in each of ten bands of a dimension."""
    inside, chosen = counted(codes, values)
    top = float(chosen.max(initial=0.0)) or 1.0
    bins = (chosen * (BINS / top)).astype(np.intp)
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


def split(people: Mapping[str, Floats], right: Floats, codes: Indices, groups: int) -> tuple[Floats, dict[str, Floats]]:
    """People with a right and with a wrong decision, [groups, 2], and the mean of each dimension among them.

    `right` is 1, 0, or NaN where the outcome is not known.
    """
    there = np.flatnonzero((codes >= 0) & ~np.isnan(right))
    everybody = len(there) == len(codes)
    places = codes[there] * 2 + (right[there] == 0)
    n = np.bincount(places, minlength=2 * groups).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = {
            name: (np.bincount(places, weights=part if everybody else part[there], minlength=2 * groups) / n).reshape(
                -1, 2
            )
            for name, part in people.items()
        }
    return n.reshape(-1, 2), means


def by_correctness(title: str, n: Floats, means: Floats, groups: Sequence[Group]) -> Panel:
    """One dimension among right and wrong decisions of each group."""
    rows = tuple(
        (spell(group), decision, int(n[i, j]), None if np.isnan(means[i, j]) else float(means[i, j]))
        for i, group in enumerate(groups)
        for j, decision in enumerate(DECISIONS)
    )
    return Panel(
        "table", f"{capital(title)} of right and wrong decisions", ("group", "decision", "people", "mean"), rows
    )


def forest(findings: Sequence[Finding]) -> Panel:
    """The gaps of every dimension side by side: each group against its baseline, or the two extremes."""
    rows = []
    for found in findings:
        compared = [row for row in found.rows if row.estimate is not None and row.difference is not None]
        for row in compared or [found.summary]:
            pair = (spell(row.group) if row.group else None, row.against)
            rows.append((found.title, *pair, *_ends(row.difference), *_ends(row.ratio)))
    ends = ("difference", "low", "high", "ratio", "ratio low", "ratio high")
    return Panel("pairs", "Gaps in every dimension", ("dimension", "group", "against", *ends), tuple(rows))


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    if estimate is None or not estimate.defined:
        return None, None, None
    return estimate.value, estimate.low, estimate.high
