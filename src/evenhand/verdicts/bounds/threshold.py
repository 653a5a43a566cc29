"""On which side of the threshold does a whole interval lie? The rule behind fail, pass and inconclusive."""

from __future__ import annotations

import numpy as np

from evenhand.core.arrays import Bools, Floats
from evenhand.verdicts.request import Request

TOLERANCE = 1e-9
"""Rounding errors up to this size do not move a value across a threshold."""


def beyond(low: Floats | float, high: Floats | float, request: Request) -> Bools:
    """Is a difference surely larger than the threshold?"""
    limit = (request.threshold or 0.0) + TOLERANCE
    return (np.asarray(low) > limit) | (np.asarray(high) < -limit)


def within(low: Floats | float, high: Floats | float, request: Request) -> Bools:
    """Is a difference surely no larger than the threshold?"""
    limit = (request.threshold or 0.0) + TOLERANCE
    return (np.asarray(low) >= -limit) & (np.asarray(high) <= limit)


def ratio_beyond(low: Floats | float, high: Floats | float, request: Request, two_sided: bool) -> Bools:
    """Is a ratio surely lower than the threshold or, on two sides, surely higher than its inverse?"""
    limit = (request.threshold or 0.0) - TOLERANCE
    outside = np.asarray(np.asarray(high) < limit)
    if two_sided and limit > 0:
        outside = np.asarray(outside | (np.asarray(low) > 1 / limit))
    return np.asarray(outside)


def ratio_within(low: Floats | float, high: Floats | float, request: Request, two_sided: bool) -> Bools:
    """Is a ratio surely no lower than the threshold and, on two sides, no higher than its inverse?"""
    limit = (request.threshold or 0.0) - TOLERANCE
    inside = np.asarray(low) >= limit
    if two_sided and limit > 0:
        inside = inside & (np.asarray(high) <= 1 / limit)
    return np.asarray(inside)
