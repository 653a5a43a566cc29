"""Actual to expected by decile of the prediction: where a model is too high or too low, for each group."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats, Indices
from evenhand.core.results import Panel, spell
from evenhand.cube.cube import Cube
from evenhand.inference import critical
from evenhand.measures.group_data import GroupData, RegressionSums, squared_distance
from evenhand.measures.lending import as_events

DECILES = 10
_COLUMNS = ("group", "decile", "predictions from", "mass", "actual", "expected", "ratio", "low", "high")


def actual_to_expected(cube: Cube) -> Panel:
    """A line for everyone and for each group in each decile of the prediction, by people, weight or exposure.

    Each interval is at 95 % by itself: it shows where to look, and decides nothing. Where rows belong together, a line
    has none, because how much it varies is not known.
    """
    whole = cube.marginal(control=False)
    rows: list[tuple[object, ...]] = []
    place: Indices | None = None
    for whose in ("everyone", "groups"):
        data = GroupData.of(whole, "everyone" if whose == "everyone" else "groups").scores
        assert isinstance(data, RegressionSums)  # noqa: S101 - the measure is one of a regressor
        place = _deciles(data.by_bin("w", "", data.labelled).sum(axis=0)) if place is None else place
        names = ["everyone"] if whose == "everyone" else [spell(group) for _, group in whole.pairs]
        rows += _lines(data, names, place)
    if whole.clustered:
        rows = [(*row[:-2], None, None) for row in rows]
    exposed = "exposure" if cube.meaning.exposure else "weight" if cube.meaning.weight else "people"
    columns = tuple(exposed if name == "mass" else name for name in _COLUMNS)
    return Panel("table", "Actual to expected by decile of the prediction", columns, tuple(rows))


def _deciles(mass: Floats) -> Indices:
    """The decile of each bin of the prediction: that of its middle."""
    reached = np.cumsum(mass) - mass / 2
    share = reached / max(float(mass.sum()), 1e-300)
    return np.minimum((share * DECILES).astype(np.intp), DECILES - 1)


def _lines(data: RegressionSums, names: list[str], place: Indices) -> list[tuple[object, ...]]:
    inside = np.eye(DECILES)[place]  # [bins, deciles]
    bands, middle = data.labelled, data.reading.middle

    def sums(by: str, moment: str) -> Floats:
        return np.asarray(data.by_bin(by, moment, bands) @ inside)

    mass = sums("w", "")
    actual, expected = (sums("w", letter) + middle * mass for letter in ("y", "f"))
    people = np.asarray(data.n[:, bands].sum(axis=1) @ inside, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(expected > 0, actual / expected, np.nan)
    moments = (sums("w2", moment) for moment in ("", "y", "f", "yy", "ff", "ee"))
    squares = squared_distance(r, middle, people, *moments)
    flat = (part.reshape(-1) for part in (actual, expected, squares, people))
    events = as_events(*flat, counts=data.counts_events)
    low, high = (end.reshape(mass.shape) for end in events.limits(critical.sidak(1, 0.95), 0.0))
    ratio, starts = events.values.reshape(mass.shape), data.reading.bins.starts
    first = [float(starts[place == k].min()) if (place == k).any() else float("nan") for k in range(DECILES)]
    return [
        (name, k + 1, first[k], *(float(part[i, k]) for part in (mass, actual, expected, ratio, low, high)))
        for i, name in enumerate(names)
        for k in range(DECILES)
        if mass[i, k] > 0
    ]
