"""Numbers that a caller passes, checked: counts, seeds, numbers of processes, and numbers that must be finite."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

from evenhand.errors import Problems, as_typed, shorten

# What would run for ever, or what no computer has, is taken for a mistake.
LARGEST_SEED = 2**63 - 1
MOST_PROCESSES = max(64, os.cpu_count() or 1)
MOST_REFITS = MOST_REPLICAS = 100_000
MOST_DRAWS = 1_000_000


def number(value: Any) -> float:
    """A number as a float, infinite where it is too large for one; NaN for anything else, True and False too.

    >>> number(10**400), number("1"), number(True)
    (inf, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf


def shown(value: Any) -> str:
    """A value as a caller would write it, cut to fit into a message; also one with too many digits to be written."""
    try:
        return shorten(" ".join(repr(value).split()))
    except Exception:  # Python writes no number of more than 4,300 digits, and a class of the caller may fail
        return f"({type(value).__name__})"


def check_finite(name: str, value: Any, problems: Problems) -> None:
    """Add a problem unless the value is a finite number."""
    if not math.isfinite(number(value)):
        problems.add(f"{name}={shown(value)} must be a finite number.")


def check_whole(
    name: str, value: Any, least: int, most: int | None, problems: Problems, *, instead: str = "", usual: str = ""
) -> None:
    """Add a problem unless the value is a whole number from `least` to `most`.

    `instead` is what else is allowed ("True, False or "), `usual` a remedy ("; 200 is usual").
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        limit = f"from {least:,} to {most:,}" if most is not None else f"of at least {least:,}"
        problems.add(f"{name}={shown(value)} must be {instead}a whole number {limit}{usual}.")


def check_seed(random_state: Any, problems: Problems, most: int = LARGEST_SEED) -> None:
    """Add a problem unless the value is a seed: a whole number of at least 0."""
    check_whole("random_state", random_state, 0, most, problems)


def check_processes(n_jobs: Any, problems: Problems, option: str = "--n-jobs") -> None:
    """Add a problem unless the value is a number of processes, as joblib takes it: None, −1 for all cores, 1, 2, …"""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0 or abs(n_jobs) > MOST_PROCESSES):
        named = as_typed(f"n_jobs={shown(n_jobs)}", f"{option} {shown(n_jobs)}")
        problems.add(f"{named} must be a number of processes from 1 to {MOST_PROCESSES}, or -1 for all cores.")
