"""Numbers, intervals and names as people read them; whatever a name of a user holds, it stays a name."""

from __future__ import annotations

import math
import re
import unicodedata

from evenhand.core.results import JudgedOn, figure

NAME_WIDTH = 40
POINTS = "points"
"""The unit of a finding whose value is a gap between rates, whatever it is judged on."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_NOT_IN_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # compiled on first use, which takes 5 ms


def amount(value: float, unit: str = "rate") -> str:
    """A value for people: rates in percent, all else as a number.

    >>> amount(0.5879), amount(1.75, "ratio"), amount(math.nan)
    ('58.8 %', '1.75', 'undefined')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite"
    if unit == "rate":
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if unit == "number" else figure(value)


def e_figure(value: float) -> str:
    """An e-value for people.

    >>> e_figure(0.034), e_figure(19.27), e_figure(2112.0), e_figure(1234567.0), e_figure(math.nan)
    ('0.034', '19.3', '2,112', '1,200,000', 'undefined')
    >>> e_figure(2.04e9), e_figure(3.4e40)
    ('2,000,000,000', '3.4e+40')
    """
    if math.isnan(value):
        return "undefined"
    if value < 1e6:
        return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"
    return f"{float(f'{value:.1e}'):,.0f}" if value < 1e12 else f"{value:.1e}"


def table_figure(value: float, scale: int = 1, digits: int | None = None) -> str:
    """A number as tables show it, and sentences that stand beside them: in percent or points when scaled by 100.

    >>> table_figure(0.2577, 100), table_figure(0.3349), table_figure(-0.001), table_figure(51234.5)
    ('25.8', '0.33', '0.00', '51,234')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if scale == 1 and abs(value) >= 1e3:
        return figure(value)
    digits = digits or (1 if scale == 100 else 2)
    return f"{round(scale * value, digits) + 0.0:.{digits}f}"  # no minus before a zero


def limit_figure(threshold: float) -> str:
    """A threshold in its own units.

    >>> limit_figure(0.8), limit_figure(5.34169), limit_figure(3017.4), limit_figure(12500.0)
    ('0.8', '5.342', '3,017', '12,500')
    """
    return f"{threshold:,.0f}" if threshold >= 1e4 else f"{threshold:,.4g}"


def tolerated(threshold: float, unit: str = "rate") -> str:
    """The gap that a threshold tolerates: of rates in points.

    >>> tolerated(0.1), tolerated(0.075), tolerated(2.5, "number")
    ('10 points', '7.5 points', '2.5')
    """
    return f"{100 * threshold:g} points" if unit in ("rate", POINTS) else limit_figure(threshold)


def distance(value: float, unit: str = "rate", *, signed: bool = False) -> str:
    """A difference for people: rates in percentage points.

    >>> distance(0.379), distance(-0.1, signed=True)
    ('37.9 points', '-10.0 points')
    """
    sign = "+" if signed else ""
    if unit in ("rate", POINTS):
        return f"{100 * value:{sign}z.1f} points"  # z: no minus before a zero
    return f"{sign if value > 0 else ''}{figure(value)}"


def number_of(count: float, one: str = "row", many: str = "rows") -> str:
    """A count with its noun.

    >>> number_of(1), number_of(1200), number_of(1, "person", "people")
    ('1 row', '1,200 rows', '1 person')
    """
    return f"{count:,.0f} {one if count == 1 else many}"


def quotient(value: float) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return "infinitely many" if math.isinf(value) else f"{value:,.{digits}f}"


def reach(ends: tuple[float, float], confidence: float, judged_on: JudgedOn, unit: str = "rate") -> str:
    """The interval in a sentence.

    >>> reach((0.2577, 0.6877), 0.95, "difference"), reach((0.0012, 0.0043), 0.95, "difference", "bits")
    (' (95 % interval 25.8 to 68.8)', ' (95 % interval 0.0012 to 0.0043)')
    >>> reach((0.0, math.inf), 0.95, "ratio"), reach((-math.inf, 2.5), 0.95, "value")
    (' (95 % interval from 0.00, without an upper end)', ' (95 % interval up to 2.50, without a lower end)')
    """
    if any(math.isnan(end) for end in ends):
        return ""
    if ends == (-math.inf, math.inf):
        return " (the data gives it no ends)"
    scale = shown_scale(judged_on, unit)
    largest = max(map(abs, ends))
    small = judged_on == "difference" and largest < 0.1
    form = "z.1f" if scale == 100 else "z.4f" if small else "z,.0f" if 1e3 <= largest < math.inf else "z.2f"
    exact = "z.2f" if form == "z,.0f" else form  # a small end beside a large one keeps its digits
    low, high = (
        f"{scale * end:{form if abs(end) >= 10 else exact}}" if math.isfinite(end) else _infinite(end) for end in ends
    )
    said = f"{low} to {high}"
    if math.isfinite(ends[0]) and math.isinf(ends[1]):
        said = f"from {low}, without an upper end"
    elif math.isinf(ends[0]) and math.isfinite(ends[1]):
        said = f"up to {high}, without a lower end"
    return f" ({100 * confidence:g} % interval {said})"


def _infinite(end: float) -> str:
    return "infinite" if end > 0 else "-infinite"


def shown_scale(judged_on: JudgedOn, unit: str) -> int:
    """What a judged value is multiplied by to be shown: 100 for differences of rates, which are shown in points."""
    return 100 if unit == POINTS or (judged_on == "difference" and unit == "rate") else 1


def unit_of_values(unit: str) -> str:
    """The unit of the values of groups whose gap is in this unit."""
    return "rate" if unit == POINTS else unit


def counted(number: int, noun: str) -> str:
    """So many things.

    >>> counted(1, "unit"), counted(1200, "unit")
    ('1 unit', '1,200 units')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def capital(text: str) -> str:
    """The text with a capital letter first; the others stay as they are."""
    return text[:1].upper() + text[1:]


def clean(text: str) -> str:
    """A name as it may be printed: no control characters, no escapes, nothing that turns the line around."""
    return "".join("�" if unicodedata.category(mark) in _UNSEEN else mark for mark in text)


def clip(text: str, width: int = NAME_WIDTH) -> str:
    """A clean name, cut where it is too long for a table."""
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def clean_for_xml(text: str) -> str:
    """A name without the characters that no XML file may hold, not even escaped."""
    return re.sub(_NOT_IN_XML, "�", clean(text))
