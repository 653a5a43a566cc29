"""What a finding on scores shows beside its rows: the calibration curve, gaps less the mean score, how exact it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core import wording
from evenhand.core.results import Panel, spell
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.inference.intervals import wilson
from evenhand.measures.group_data import BinnedScores, GroupData
from evenhand.verdicts import sentences
from evenhand.verdicts.stratum import Stratum

_COLUMNS = ("group", "from", "to", "n", "observed rate", "low", "high", "mean score", "observed - mean score")
_MOST_NAMES = 6


def curve(cube: Cube) -> Panel:
    """Each calibration bin of each group: people, observed rate with Wilson's interval, mean score, and their gap."""
    whole = cube.marginal(control=False)
    assert whole.scores is not None  # noqa: S101 - the roles were checked
    binned = BinnedScores.from_table(whole.scores, len(whole.pairs))
    k, n, score = binned.calibration()
    low, high = wilson(k, n)
    edges = binned.reading.edges
    rows = []
    for i, (_, group) in enumerate(whole.pairs):
        name = spell(group, whole.meaning.sensitive)
        for b in range(len(edges) - 1):
            if n[i, b] > 0:
                rate, mean = float(k[i, b] / n[i, b]), float(score[i, b])
                away = rate - mean if binned.reading.bins.is_probability else None
                ends = (float(low[i, b]), float(high[i, b]))
                rows.append((name, edges[b], edges[b + 1], int(n[i, b]), rate, *ends, mean, away))
    return Panel("curve", "Calibration by group", _COLUMNS, tuple(rows), role="calibration")


def calibration_notes(stratum: Stratum) -> list[str]:
    """The largest gap in observed rate less mean score, and the bins that are shown and not judged."""
    return [*_less_mean_score(stratum), *_thin_bins(stratum)]


def precision(strata: Sequence[Stratum]) -> list[str]:
    """Whether the gap in a measure that depends on the order of scores is exact; each of two values may be off."""
    errors, bins = [], None
    for stratum in strata:
        data, scores = GroupData.of(stratum.table.cube), stratum.table.cube.scores
        for row in stratum.table.measures:
            error = row.grid_error(data)
            if error is not None and scores is not None:
                bins = scores.bins
                errors.append(2 * float(np.nan_to_num(error).max()))
    return [] if bins is None else [sentences.precision(bins, max(errors))]


def _less_mean_score(stratum: Stratum) -> list[str]:
    """Groups stand at different places within a bin; less the mean score, that is taken out."""
    scores = stratum.table.cube.scores
    if scores is None or not scores.bins.is_probability:
        return []
    k, n, mean = BinnedScores.from_table(scores, len(stratum.table.groups)).calibration()
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(stratum.judged.everyone, (k / n - mean).T, np.nan)  # [bins, groups]
    compared = np.flatnonzero(np.isfinite(away).sum(axis=1) > 1)
    if not len(compared):
        return []
    gaps = np.nanmax(away[compared], axis=1) - np.nanmin(away[compared], axis=1)
    worst = int(compared[np.argmax(gaps)])
    high, low = int(np.nanargmax(away[worst])), int(np.nanargmin(away[worst]))
    start, end = scores.reading.edges[worst : worst + 2]
    sizes = {i: wording.distance(away[worst, i], signed=True) for i in (high, low)}
    ends = " and ".join(f"{stratum.table.name(i)} ({size})" for i, size in sizes.items())
    return [
        f"In observed rate less mean score the largest gap is {wording.distance(gaps.max())}, at scores from {start:g} "
        f"to {end:g}, between {ends}."
    ]


def _thin_bins(stratum: Stratum) -> list[str]:
    """Bins in which a group has some people, but too few to be judged."""
    table, least = stratum.table, stratum.request.options["min_bin"]
    thin = [
        f"{table.name(j)} at scores from {row.bin[0]:g} to {row.bin[1]:g}"
        for i, row in enumerate(table.measures)
        for j in range(len(table.groups))
        if row.bin is not None and 0 < table.support[i, j] < least
    ]
    if not thin:
        return []
    few = wording.number_of(least, "person", "people")
    return [f"Fewer than {few}, so shown and not judged: {join_names(thin, _MOST_NAMES, mark='; ')}."]
