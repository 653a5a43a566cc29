"""Numbers on the command line: finite, within limits, and not so many that the command would run for ever."""

from __future__ import annotations

import math
from typing import Any

import click

from evenhand.core.quantities import LARGEST_SEED, MOST_DRAWS, MOST_PROCESSES, MOST_REFITS, MOST_REPLICAS
from evenhand.errors import CallError, shorten

_MOST_DIGITS = 40


class Number(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.3
    """A finite number."""

    name = "float"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        try:
            return finite(value)
        except CallError as error:
            self.fail(str(error), parameter, context)


class Whole(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.3
    """A whole number from `least` to `most`, and not 0 where `but_zero` says so."""

    name = "integer"

    def __init__(self, least: int, most: int, *, but_zero: bool = False) -> None:
        self.least, self.most, self.but_zero = least, most, but_zero

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        text = str(value).strip()
        try:
            number = int(text) if len(text) <= _MOST_DIGITS else self.most + 1
        except ValueError:
            self.fail(f"{shorten(text)!r} is not a whole number.", parameter, context)
        if not self.least <= number <= self.most or (number == 0 and self.but_zero):
            ends = f"{self.least:,} to {self.most:,}{', but not 0' if self.but_zero else ''}"
            self.fail(f"{shorten(text)} is not a whole number from {ends}.", parameter, context)
        return number


def finite(value: Any) -> float:
    """A finite number from text; an error says what is wrong with it."""
    shown = shorten(repr(str(value)))
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise CallError(f"{shown} is not a number.") from None
    if not math.isfinite(number):
        raise CallError(f"{shown} is not a finite number.")
    return number


NUMBER = Number()
SEED = Whole(0, LARGEST_SEED)
DRAWS = Whole(1, MOST_DRAWS)
REFITS = Whole(0, MOST_REFITS)
REPLICAS = Whole(2, MOST_REPLICAS)
JOBS = Whole(-MOST_PROCESSES, MOST_PROCESSES, but_zero=True)
BINS = Whole(1, 100)
PEOPLE = Whole(0, 2**53)
