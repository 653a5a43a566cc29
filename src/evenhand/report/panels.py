"""Tables of panels as people read them: an interval beside its value, shares in percent, small p-values as such.

Only panels that are the result itself, such as an adverse impact table, are printed in texts; the page draws them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from evenhand.core.results import MISSING, Finding, Panel, figure
from evenhand.core.wording import quotient

PRINTED = ("impact", "representation")
"""The roles of panels that texts and Markdown show as tables."""

_HAS_RATIO = {"compared", "reference", "yardstick"}  # the third is the second in files of earlier versions
_KEPT = {"group", "stratum", "line", "against"}
_TEXTS = {"group", "stratum", "against", "line", "one-person flip"}
_SHORT = {
    "Fisher's exact p": "Fisher p",
    "standard deviations": "SDs",
    "one-person flip": "flips by",
    "swaps to pass": "to pass",
    "swaps to reverse": "to reverse",
    "Breslow-Day p": "B-D p",
}


@dataclass(frozen=True)
class PrintedTable:
    """A table of texts; `left` are the titles of the columns that hold words and not numbers."""

    title: str
    titles: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    left: tuple[str, ...]


def printed(finding: Finding) -> list[PrintedTable]:
    """The tables of a finding that texts show, one for each stratum; what one table says, the next does not repeat."""
    tables: list[PrintedTable] = []
    said: dict[bool, set[str]] = {True: set(), False: set()}  # by whether the lines are those of strata
    for panel in finding.panels:
        if panel.role in PRINTED:
            before = said["stratum" in panel.columns]
            tables += [readable(part) for part in _by_stratum(_without(panel, before))]
            before |= {*panel.columns} - _KEPT
    return tables


def _without(panel: Panel, names: Set[str]) -> Panel:
    """The panel without some columns."""
    return _with_columns(panel, [i for i, name in enumerate(panel.columns) if name not in names])


def _with_columns(panel: Panel, places: Sequence[int]) -> Panel:
    rows = tuple(tuple(row[i] for i in places) for row in panel.rows)
    return replace(panel, columns=tuple(panel.columns[i] for i in places), rows=rows)


def _by_stratum(panel: Panel) -> list[Panel]:
    """A panel for each stratum, whose title names it."""
    if "stratum" not in panel.columns:
        return [panel]
    place = panel.columns.index("stratum")
    rest = [i for i in range(len(panel.columns)) if i != place]
    parts = []
    for name in dict.fromkeys(row[place] for row in panel.rows):
        rows = tuple(row for row in panel.rows if row[place] == name)
        parts.append(_with_columns(replace(panel, title=f"{panel.title}, {name}", rows=rows), rest))
    return parts


def readable(panel: Panel) -> PrintedTable:
    """A panel as a table of texts.

    What is the same in all lines stands in the title, what a line is beside its name, and a column in which nothing
    stands is left out.
    """
    columns = dict(_columns(panel))
    title = panel.title
    lines = columns.pop("line", None)
    if lines is not None:
        ratios = zip(columns["impact ratio"], lines, strict=True)
        columns["impact ratio"] = [ratio or ("undefined" if line in _HAS_RATIO else "") for ratio, line in ratios]
        aside = [
            f"{name} ({line})" if line != "compared" else name
            for name, line in zip(columns["group"], lines, strict=True)
        ]
        columns["group"] = [name.replace(f"{MISSING} (unknown)", "(unknown)") for name in aside]
    against = {name for name in columns.get("against", ()) if name}
    if len(against) == 1:
        title = f"{title}, against {against.pop()}"
        del columns["against"]
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    titles = tuple(_SHORT.get(name, name) for name in kept)
    left = tuple(_SHORT.get(name, name) for name in kept if name in _TEXTS)
    return PrintedTable(title, titles, tuple(zip(*kept.values(), strict=True)), left)


def _columns(panel: Panel) -> Iterator[tuple[str, list[str]]]:
    """The columns in order; the two ends of an interval stand with the value before them."""
    i = 0
    while i < len(panel.columns):
        title = panel.columns[i]
        values = [row[i] for row in panel.rows]
        ends = panel.columns[i + 1 : i + 3] == (f"{title} low", f"{title} high")
        if ends:
            yield title, [_with_ends(title, row[i : i + 3]) for row in panel.rows]
        else:
            yield title, [_cell(title, value) for value in values]
        i += 3 if ends else 1


def _with_ends(title: str, cells: Sequence[object]) -> str:
    value, low, high = (_cell(title, cell) for cell in cells)
    return f"{value} [{low}, {high}]" if low and high else value


def _cell(title: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    kind = "ratio" if "ratio" in title else "p" if title.endswith((" p", "mid-p")) else title
    return f"{value:,}" if isinstance(value, int) else _FORMS.get(kind, figure)(value)


def _p(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.3f}" if p >= 0.001 else f"{p:.4f}"


def _people(count: float) -> str:
    return f"{count:,.0f}" if count.is_integer() else f"{count:,.1f}"


def _share(value: float) -> str:
    return f"{100 * value:z.1f}%"


_FORMS: dict[str, Callable[[float], str]] = {
    "ratio": quotient,
    "p": _p,
    **dict.fromkeys(("people", "selected"), _people),
    **dict.fromkeys(("rate", "share", "expected", "difference"), _share),
    **dict.fromkeys(("standard deviations", "z", "Cohen's h", "skew", "class imbalance"), "{:z.2f}".format),
    **dict.fromkeys(("shortfall", "missing"), "{:z,.1f}".format),
}
"""How numbers are written, by the title of their column; others have three figures."""
