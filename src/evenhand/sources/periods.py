"""Periods of time: the values of a column as days, weeks, months, quarters or years, and the order of periods."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

from evenhand.errors import DataError, shorten
from evenhand.sources.spelling import spelling

Every = Literal["day", "week", "month", "quarter", "year"]

_DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[ T].*)?", re.DOTALL)
_NAMES = [
    list(calendar.month_name)[1:],
    list(calendar.month_abbr)[1:],
    list(calendar.day_name),
    list(calendar.day_abbr),
]


def period_of(every: Every | None, column: str, value: Any) -> str:
    """The name of the period that a value lies in; without `every` the value itself.

    >>> [period_of(every, "day", "2026-05-17") for every in ("day", "week", "month", "quarter", "year")]
    ['2026-05-17', '2026-W20', '2026-05', '2026-Q2', '2026']
    """
    text = spelling(value)
    if every is None:
        return text
    found = _DATE.fullmatch(text)
    try:
        if found is None:
            raise ValueError(text)
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        raise DataError(
            f"column {shorten(column)!r} holds {shorten(text)!r}, which is not a date with the year first, as "
            "2026-05-17: write dates so, or name a column whose values are the periods."
        ) from None
    if every == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02}"
    names = {"day": str(day), "month": f"{day:%Y-%m}", "quarter": f"{day:%Y}-Q{(day.month + 2) // 3}"}
    return names.get(every, f"{day:%Y}")


def in_order(periods: Iterable[str]) -> list[str]:
    """Periods in the order of time: names of months or days as in the calendar, anything else by its numbers.

    >>> in_order(["Mar", "Jan", "Feb"]), in_order(["week 10", "week 9"]), in_order(["2026-02", "2025-11"])
    (['Jan', 'Feb', 'Mar'], ['week 9', 'week 10'], ['2025-11', '2026-02'])
    """
    every = list(periods)
    for names in _NAMES:
        place = {name.casefold(): i for i, name in enumerate(names)}
        if all(period.casefold() in place for period in every):
            return sorted(every, key=lambda period: place[period.casefold()])
    return sorted(every, key=natural)


def natural(name: object) -> list[tuple[int, int, str]]:
    """A sort key for names with numbers: day 2 comes before day 10.

    >>> sorted(["day-10", "day-2"], key=natural)
    ['day-2', 'day-10']
    """
    parts = re.split(r"([0-9]+)", str(name))
    return [(0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts]
