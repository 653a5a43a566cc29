"""The default threshold on the scale of the predictions: a share of the range that most of them lie in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.counterfactual.changes import PredictionChanges
from evenhand.verdicts.request import Request

_SHARE_OF_RANGE, _MIDDLE = 0.1, (0.025, 0.975)


def to_scale(request: Request, measured: PredictionChanges, *, explicit: bool) -> Request:
    """The request with a default threshold that is a share of the range of predictions, if these are plain numbers."""
    values = measured.before.values
    plain = measured.kind != "number" or bool(values.min() >= 0 and values.max() <= 1)
    if plain or explicit or request.metric.name in request.policy.thresholds:
        return request
    low, high = _middle(measured)
    return replace(request, threshold=_SHARE_OF_RANGE * (high - low), by_range=True)


def by_range(request: Request, measured: PredictionChanges, threshold: float | None) -> list[str]:
    """What the reader must know of a threshold that was made from the range of predictions."""
    if not request.by_range or threshold is not None:
        return []
    low, high = _middle(measured)
    return [
        f"The threshold is a tenth of the range that holds 95 % of the predictions, {low:.3g} to {high:.3g}; "
        "threshold= sets it in their own units."
    ]


def _middle(measured: PredictionChanges) -> tuple[float, float]:
    """The range that holds 95 % of the predictions; the full range would grow with their number and with outliers."""
    low, high = np.quantile(measured.before.values, _MIDDLE)
    return float(low), float(high)
