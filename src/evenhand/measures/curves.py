"""From score bins to numbers: AUC, ROC, calibration, and distances, for all groups at once.

Arrays only: `positives` and `negatives` are [..., groups, bins] counts (or weights) in rising order of the score.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats


def auc(positives: Floats, negatives: Floats) -> Floats:
    """P(a positive scores higher than a negative), ties counting half; NaN without both.

    >>> auc(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])).item()
    0.875
    """
    below = np.cumsum(negatives, axis=-1) - negatives / 2
    return _over((positives * below).sum(axis=-1), positives.sum(axis=-1) * negatives.sum(axis=-1))


def auc_error(positives: Floats, negatives: Floats) -> Floats:
    """How far the AUC may be off because scores within a bin count as equal."""
    return _over((positives * negatives).sum(axis=-1) / 2, positives.sum(axis=-1) * negatives.sum(axis=-1))


def auc_variance(positives: Floats, negatives: Floats) -> Floats:
    """DeLong's variance of the AUC, from the bins; NaN with fewer than two positives or negatives."""
    p, n = positives.sum(axis=-1, keepdims=True), negatives.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        placed_positive = (np.cumsum(negatives, axis=-1) - negatives / 2) / n
        placed_negative = (p - np.cumsum(positives, axis=-1) + positives / 2) / p
        mean = auc(positives, negatives)[..., None]
        among_positives = (positives * (placed_positive - mean) ** 2).sum(axis=-1) / (p[..., 0] - 1)
        among_negatives = (negatives * (placed_negative - mean) ** 2).sum(axis=-1) / (n[..., 0] - 1)
        variance = among_positives / p[..., 0] + among_negatives / n[..., 0]
    return np.where((p[..., 0] > 1) & (n[..., 0] > 1), variance, np.nan)


def auc_floor(value: Floats, positives: Floats, negatives: Floats) -> Floats:
    """A floor for the variance: a quarter of Hanley and McNeil's at the AUC moved inside by half a person.

    DeLong's variance is 0 where the classes do not overlap in the sample, which says nothing of the truth.
    """
    least = np.minimum(positives, negatives)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.clip(value, 0.5 / (least + 1), 1 - 0.5 / (least + 1))
        first, second = a / (2 - a) - a**2, 2 * a**2 / (1 + a) - a**2
        variance = (a * (1 - a) + (positives - 1) * first + (negatives - 1) * second) / (positives * negatives)
    return np.asarray(variance / 4)


def average_precision(positives: Floats, negatives: Floats) -> Floats:
    """Σ (R_k − R_{k−1}) P_k: the precision when selecting from each bin upwards, averaged over the positives in it.

    >>> average_precision(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])).round(6).item()
    0.833333
    """
    above, selected = _from_above(positives), _from_above(positives + negatives)
    precision = np.nan_to_num(_over(above, selected))
    return np.where(
        negatives.sum(axis=-1) > 0, _over((positives * precision).sum(axis=-1), positives.sum(axis=-1)), np.nan
    )


def average_precision_variance(positives: Floats, negatives: Floats, value: Floats) -> Floats:
    """The variance of the average precision by its influence: what one more person in a bin would change."""
    above, selected = _from_above(positives), _from_above(positives + negatives)
    total = positives.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.nan_to_num(above / selected)
        held = np.where(selected > 0, positives / selected**2, 0.0)
        # A person in a bin is selected with it and with all bins below.
        gained = np.cumsum(held * (selected - above), axis=-1)
        lost = np.cumsum(held * above, axis=-1)
        squares = positives * (precision + gained - value[..., None]) ** 2 + negatives * lost**2
        return np.asarray(squares.sum(axis=-1) / total[..., 0] ** 2)


def _from_above(cells: Floats) -> Floats:
    """How many are in each bin and above it."""
    return np.asarray(np.flip(np.cumsum(np.flip(cells, axis=-1), axis=-1), axis=-1))


def cross_auc(positives: Floats, negatives: Floats) -> Floats:
    """P(a positive of group i scores higher than a negative of group j), [..., i, j]."""
    below = np.cumsum(negatives, axis=-1) - negatives / 2
    together = positives @ np.swapaxes(below, -1, -2)
    return _over(together, positives.sum(axis=-1)[..., :, None] * negatives.sum(axis=-1)[..., None, :])


def cross_auc_variance(positives: Floats, negatives: Floats, values: Floats) -> Floats:
    """DeLong's variance of every cross-group AUC, as `auc_variance` has it; `values` are those of `cross_auc`."""
    p, n = positives.sum(axis=-1)[:, None], negatives.sum(axis=-1)[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        placed_positive = (np.cumsum(negatives, axis=-1) - negatives / 2) / n.T
        placed_negative = (p - np.cumsum(positives, axis=-1) + positives / 2) / p
        # Sums of squares about a point near all of them lose no digits when the mean is taken off.
        middle = float(np.nanmean(values)) if np.isfinite(values).any() else 0.5
        off = (values - middle) ** 2
        among_positives = (positives @ ((placed_positive - middle) ** 2).T - p * off) / (p - 1)
        among_negatives = ((placed_negative - middle) ** 2 @ negatives.T - n * off) / (n - 1)
        variance = np.maximum(among_positives, 0.0) / p + np.maximum(among_negatives, 0.0) / n
    return np.where((p > 1) & (n > 1), variance, np.nan)


def roc(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """False and true positive rates when selecting from each bin upwards, and of nobody: [..., bins + 1], falling."""
    rates = []
    for cells in (negatives, positives):
        above = np.flip(np.cumsum(np.flip(cells, axis=-1), axis=-1), axis=-1)
        above = np.concatenate([above, np.zeros((*above.shape[:-1], 1))], axis=-1)
        rates.append(_over(above, cells.sum(axis=-1, keepdims=True)))
    return rates[0], rates[1]


def area_between(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    """ABROCA: the area between two ROC curves, each as falling (fpr, tpr), joined by straight lines.

    >>> line = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    >>> perfect = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    >>> area_between(line, perfect)
    0.5
    """
    curves = []
    for fpr, tpr in (first, second):
        order = np.lexsort((tpr, fpr))
        curves.append((fpr[order], tpr[order]))
    x = np.unique(np.concatenate([curve[0] for curve in curves]))
    # At a jump the curve has two heights; the one after starts an interval and the one before ends it.
    starts = [_height(curve, x[:-1], "right") for curve in curves]
    ends = [_height(curve, x[1:], "left") for curve in curves]
    a, b, width = starts[0] - starts[1], ends[0] - ends[1], np.diff(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = (a * a + b * b) / (2 * np.abs(a - b))
    return float((width * np.where(a * b >= 0, (np.abs(a) + np.abs(b)) / 2, crossed)).sum())


def _height(curve: tuple[Floats, Floats], x: Floats, side: str) -> Floats:
    fpr, tpr = curve
    if side == "right":
        place = np.searchsorted(fpr, x, side="right") - 1
        exact = fpr[np.maximum(place, 0)] == x
        return np.where(exact, tpr[np.maximum(place, 0)], np.interp(x, fpr, tpr))
    place = np.minimum(np.searchsorted(fpr, x, side="left"), len(fpr) - 1)
    return np.where(fpr[place] == x, tpr[place], np.interp(x, fpr, tpr))


def ks(first: Floats, second: Floats) -> float:
    """The largest distance between two distributions over the bins."""
    return float(np.abs(_shares(first) - _shares(second)).max())


def calibration_error(rates: Floats, scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error over the last axis: |observed rate − mean score| by bin."""
    away = np.abs(rates - scores)
    held = weights > 0
    share = _over(weights, weights.sum(axis=-1, keepdims=True))
    expected = np.where(held, share * away, 0.0).sum(axis=-1)
    return np.where(held.any(axis=-1), expected, np.nan), np.fmax.reduce(np.where(held, away, np.nan), axis=-1)


def _shares(cells: Floats) -> Floats:
    return _over(np.cumsum(cells, axis=-1), cells.sum(axis=-1, keepdims=True))


def _over(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(bottom > 0, np.true_divide(top, bottom), np.nan))
