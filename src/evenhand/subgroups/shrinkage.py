"""Shrunken estimates of small groups: a hierarchical logistic fit on counts. They are shown, and decide nothing.

First the profiles: the logit of the rate is a sum of one effect for each value of each column, and the effects of a
column are normal around 0 with a variance of their own. Then the groups: what that fit expects of a group, and a normal
deviation from it, whose variance is that of the groups of as many columns. The estimate is the most probable rate, so
that a small group lies near what its values suggest one by one, and a large one near its own rate.
"""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.subgroups.conjunctions import Conjunctions, Profiles

_ROUNDS, _STEPS = 6, 25
_LARGEST = 30.0  # of a logit


def shrunken_rates(groups: Conjunctions, top: Floats, rest: Floats) -> Floats:
    """The shrunken rate of each conjunction; `top` and `rest` are the people of each profile, counted and not."""
    fitted = _profile_rates(groups.profiles, top, top + rest)
    k, n, expected = groups.rolled_up(np.stack([top, top + rest, fitted * (top + rest)], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = _logit(np.clip(expected / n, 1e-9, 1 - 1e-9))
    centre = np.where(n > 0, centre, 0.0)
    rates = np.full(len(groups), np.nan)
    depths = np.array([len(columns) for columns in groups.sets])[groups.set_of]
    for depth in np.unique(depths):
        chosen = (depths == depth) & (n > 0)
        between = _between(k[chosen], n[chosen], centre[chosen])
        rates[chosen] = _expit(_mode(k[chosen], n[chosen], centre[chosen], between))
    return rates


def _profile_rates(profiles: Profiles, top: Floats, n: Floats) -> Floats:
    """The rate of each profile by the effects of its values, whose variances are estimated with them."""
    from scipy.optimize import minimize

    sizes = [len(values) for values in profiles.values]
    starts = np.concatenate([[1], 1 + np.cumsum(sizes)])
    places = profiles.codes + starts[:-1]
    column = np.repeat(np.arange(len(sizes)), sizes)
    variances = np.ones(len(sizes))
    share = (top.sum() + 0.5) / (n.sum() + 1)
    effects = np.zeros(starts[-1])
    effects[0] = _logit(np.array(share))

    def logits(values: Floats) -> Floats:
        return np.asarray(values[0] + values[places].sum(axis=1))

    for _ in range(_ROUNDS):
        penalty = np.concatenate([[0.0], 1 / variances[column]])

        def loss(values: Floats, penalty: Floats = penalty) -> tuple[float, Floats]:
            logit = np.clip(logits(values), -_LARGEST, _LARGEST)
            away = n * _expit(logit) - top
            slope = penalty * values
            slope[0] += away.sum()
            for j in range(len(sizes)):
                slope[starts[j] : starts[j + 1]] += np.bincount(places[:, j] - starts[j], away, sizes[j])
            size = (n * np.logaddexp(0, logit) - top * logit).sum() + (penalty * values**2).sum() / 2
            return float(size), slope

        effects = minimize(loss, effects, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
        rates = _expit(np.clip(logits(effects), -_LARGEST, _LARGEST))
        before = variances
        information = n * rates * (1 - rates)
        variances = np.array(
            [_variance(effects, information, places[:, j], starts[j], sizes[j], before[j]) for j in range(len(sizes))]
        )
        if np.allclose(before, variances, rtol=0.05):
            break
    return rates


def _variance(effects: Floats, information: Floats, places: Floats, start: int, size: int, before: float) -> float:
    """One step of EM: the mean of squared effects with what is not known of each."""
    known = np.bincount(places - start, information, size) + 1 / before
    return max(float(np.mean(effects[start : start + size] ** 2 + 1 / known)), 1e-4)


def _between(k: Floats, n: Floats, centre: Floats) -> float:
    """The variance of logits between groups beyond what the fit expects, by the method of moments."""
    rate = _expit(centre)
    information = n * rate * (1 - rate)
    away = (k - n * rate) ** 2
    known = information > 1e-9
    if not known.any():
        return 0.0
    excess = (away - information)[known].sum() / (information[known] ** 2).sum()
    return float(np.clip(excess, 0.0, 10.0))


def _mode(k: Floats, n: Floats, centre: Floats, between: float) -> Floats:
    """The logits that are most probable, by Newton's method; the expected ones where groups do not vary."""
    if between <= 0:
        return centre
    logit = centre.copy()
    for _ in range(_STEPS):
        rate = _expit(logit)
        step = (k - n * rate - (logit - centre) / between) / (n * rate * (1 - rate) + 1 / between)
        logit = np.clip(logit + np.clip(step, -2.0, 2.0), -_LARGEST, _LARGEST)
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    return logit


def _logit(rate: Floats) -> Floats:
    return np.asarray(np.log(rate) - np.log1p(-rate))


def _expit(logit: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(np.asarray(logit) / 2)))
