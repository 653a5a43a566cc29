"""How a value is written: one spelling for values that mean the same, whatever table or file held them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np


def canonical(value: object) -> str:
    """One spelling for values that mean the same: 1, 1.0, "1" and True.

    >>> [canonical(value) for value in (1, 1.0, "1", True, "1.0", "yes", 0.5)]
    ['1', '1', '1', '1', '1', 'yes', '0.5']
    """
    text = spelling(value).strip()
    if text.casefold() in ("true", "false"):
        return "1" if text.casefold() == "true" else "0"
    return without_point(text)


def without_point(text: str) -> str:
    """Text with the point of a whole number removed: 2.0 as 2. Other text stays as it is, such as 007 and 2.50."""
    whole, point, fraction = text.partition(".")
    return whole if point and fraction and not fraction.strip("0") and whole.lstrip("-").isdigit() else text


def spelling(value: object) -> str:
    """How a value of an attribute is written, whatever held it: text as it is, whole numbers without a point,
    times with a zone in UTC.

    >>> [spelling(value) for value in ("1.0", 1.0, Decimal("2.50"), np.float32(3), b"a")]
    ['1.0', '1', '2.5', '3', 'a']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return str(value.astimezone(UTC))
    return str(value)
