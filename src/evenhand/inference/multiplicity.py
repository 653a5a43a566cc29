"""Many tests at once: p-values adjusted so that the number of tests is paid for.

Holm and Bonferroni bound the chance of any false alarm, whatever the tests have to do with each other;
Benjamini-Hochberg and Benjamini-Yekutieli bound the share of false alarms among the alarms. NaN (no test was made)
stays NaN and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Floats, Indices
from evenhand.errors import CallError, nearest


def bonferroni(p: npt.ArrayLike) -> Floats:
    """Each p-value times their number.

    >>> bonferroni([0.01, 0.02, 0.5]).tolist()
    [0.03, 0.06, 1.0]
    """
    return _adjusted(p, lambda ascending: ascending * len(ascending))


def holm(p: npt.ArrayLike) -> Floats:
    """The smallest p-value times m, the next times m - 1, and so on; never below the one before.

    As safe as Bonferroni under any dependence, and never larger.

    >>> holm([0.01, 0.02, 0.5]).tolist()
    [0.03, 0.04, 0.5]
    """
    return _adjusted(p, lambda ascending: np.maximum.accumulate(ascending * np.arange(len(ascending), 0, -1)))


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """The false discovery rate at which each would be an alarm; for independent or positively dependent tests.

    >>> benjamini_hochberg([0.01, 0.02, 0.5]).tolist()
    [0.03, 0.03, 0.5]
    """
    return _adjusted(p, _discoveries)


def benjamini_yekutieli(p: npt.ArrayLike) -> Floats:
    """The same under any dependence, at the price of the factor 1 + 1/2 + ... + 1/m.

    >>> benjamini_yekutieli([0.01, 0.02, 0.5]).round(3).tolist()
    [0.055, 0.055, 0.917]
    """
    return _adjusted(p, lambda ascending: _discoveries(ascending) * np.sum(1 / np.arange(1, len(ascending) + 1)))


METHODS: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "by": benjamini_yekutieli,
}


def adjust(p: npt.ArrayLike, method: str | None, first: npt.ArrayLike | None = None) -> Floats:
    """Adjust by the name of the method; None leaves the p-values as they are.

    `first` comes from `distinct`: p-values of the same hypothesis are adjusted once, and get the value of the first.

    >>> adjust([0.01, 0.01, 0.5], "holm", first=[0, 0, 2]).tolist()
    [0.02, 0.02, 0.5]
    >>> adjust([0.01, 0.5], "bonferoni")
    Traceback (most recent call last):
    evenhand.errors.CallError: 'bonferoni' is not a way to adjust p-values; did you mean 'bonferroni'?
    """
    if method is not None and method not in METHODS:
        raise CallError(f"{method!r} is not a way to adjust p-values; {nearest(str(method), METHODS)}")
    adjusted: Floats = np.array(p, dtype=np.float64)
    if method is None:
        return adjusted
    if first is None:
        return METHODS[method](adjusted)
    same = np.asarray(first, dtype=np.intp)
    once = np.unique(same)
    adjusted[once] = METHODS[method](adjusted[once])
    return np.asarray(adjusted[same])


def distinct(tables: Sequence[tuple[npt.ArrayLike, npt.ArrayLike] | None]) -> Indices:
    """For each table (k, n) the index of the first that asks the same question.

    (k, n) and (n - k, n) are the same: if true positive rates are equal, so are false negative rates. Whole counts
    must agree exactly, fractional ones up to rounding. None (a test that rests on no table) is like no other.

    >>> tpr, fnr, fpr = ([8, 5], [10, 10]), ([2, 5], [10, 10]), ([1, 1], [20, 30])
    >>> distinct([tpr, fpr, fnr, tpr]).tolist()
    [0, 1, 0, 0]
    """
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(_key(table, i), i) for i, table in enumerate(tables)], dtype=np.intp)


def _key(table: tuple[npt.ArrayLike, npt.ArrayLike] | None, i: int) -> object:
    if table is None:
        return i
    k, n = (np.asarray(part, dtype=np.float64) for part in table)
    if k.shape != n.shape:
        raise CallError(f"k and n of table {i} must have one shape; they have {k.shape} and {n.shape}.")
    both = [k, n - k]
    if not (np.array_equal(k, np.rint(k)) and np.array_equal(n, np.rint(n))):
        # Sums of weights depend on their order in the last digits.
        both = [np.divide(part, n, out=np.zeros_like(n), where=n > 0).round(9) for part in both]
        n = np.array([float(f"{each:.9g}") for each in n.flat])
    return k.shape, tuple(n.flat), min(tuple(part.flat) for part in both)


def _discoveries(ascending: Floats) -> Floats:
    many = len(ascending)
    return np.minimum.accumulate((ascending * (many / np.arange(1, many + 1)))[::-1])[::-1]


def _adjusted(p: npt.ArrayLike, by: Callable[[Floats], Floats]) -> Floats:
    """Adjust those that are defined, in ascending order, and put them back in their places."""
    p = np.array(p, dtype=np.float64)
    made = ~np.isnan(p)
    defined = p[made]
    if np.any((defined < 0) | (defined > 1)):
        raise CallError("p-values must lie between 0 and 1.")
    order = np.argsort(defined, kind="stable")
    adjusted = np.empty_like(defined)
    adjusted[order] = np.minimum(by(defined[order]), 1.0)
    p[made] = adjusted
    return p
