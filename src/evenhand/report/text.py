"""An audit for a terminal, or as plain text: the verdict first, then what decides, then the rest."""

from __future__ import annotations

import io
import itertools
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from evenhand.findings import Finding, spell

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.auditing import Audit

_MOST_ROWS = 72
_MOST_GROUPS = 20
_GROUP_COLUMNS = {
    "selection_rate": "selected, %",
    "base_rate": "base rate, %",
    "true_positive_rate": "TPR, %",
    "false_positive_rate": "FPR, %",
    "positive_predictive_value": "PPV, %",
}
_MOST_COLUMNS = 4
_NAME_WIDTH = 40
_STYLES = {"pass": "green", "fail": "red", "inconclusive": "yellow", "not judged": "dim"}


def clean(text: str) -> str:
    """A name as it may be printed: no control characters, no escapes, nothing that turns the line around."""
    return "".join("�" if unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp") else mark for mark in text)


def clip(text: str, width: int = _NAME_WIDTH) -> str:
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def plain(audit: Audit, width: int = 120) -> str:
    """The audit as plain text."""
    from rich.console import Console

    page = io.StringIO()
    write(audit, Console(file=page, width=width, no_color=True, highlight=False, emoji=False, legacy_windows=False))
    lines = "\n".join(line.rstrip() for line in page.getvalue().splitlines())
    return re.sub(r"\n{3,}", "\n\n", lines)


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    from rich.text import Text

    verdict = Text("Verdict: ") + Text(audit.verdict, style=f"bold {_STYLES[audit.verdict]}")
    console.print(verdict.append(f" by {', '.join(audit.required)}"))
    console.print(Text(f"{audit.cube.size:,} people; {_attributes(audit)}"))
    deciding = [finding for finding in audit.findings if audit.decides(finding)]
    for finding in deciding:
        line = Text(f"  {clip(finding.attributes[0])}: ") + Text(finding.verdict, style=_STYLES[finding.verdict])
        console.print(line.append(f". {clean(finding.interpretation)}"), soft_wrap=True)
    left = _MOST_ROWS
    for attributes, findings in itertools.groupby(_by_attributes(audit), key=lambda finding: finding.attributes):
        shown = list(findings)[: max(left, 0)]
        left -= len(shown)
        if shown:
            console.print(Text("\n" + clip(" × ".join(attributes), 100), style="bold"))
            if len(attributes) == 1:
                console.print(_group_table(audit, attributes))
            console.print(_finding_table(shown, audit.policy.confidence))
    if left <= 0 and len(audit.findings) > _MOST_ROWS:
        console.print(Text(f"{len(audit.findings) - _MOST_ROWS} more findings: save the audit as JSON to see all."))
    for note in dict.fromkeys([*audit.notes, *(note for finding in deciding for note in finding.notes)]):
        console.print(Text(f"- {clean(note)}"), soft_wrap=True)


def _by_attributes(audit: Audit) -> list[Finding]:
    order = {attributes: i for i, attributes in enumerate(dict.fromkeys(f.attributes for f in audit.findings))}
    return sorted(audit.findings, key=lambda finding: (len(finding.attributes), order[finding.attributes]))


def _attributes(audit: Audit) -> str:
    names = audit.cube.meaning.sensitive
    sizes = [len({group[i] for group in audit.cube.groups}) for i in range(len(names))]
    return ", ".join(f"{clip(name)} ({size} groups)" for name, size in zip(names, sizes, strict=True))


def _group_table(audit: Audit, attributes: tuple[str, ...]) -> Any:
    """The groups of an attribute with the rates that people ask for first, and their intervals."""
    from rich.text import Text

    part = audit.cube.marginal(attributes, control=False)
    values = part.measures()
    shown = [name for name in _GROUP_COLUMNS if name in values]
    if len(shown) > _MOST_COLUMNS:
        shown.remove("base_rate")
    limits = {name: part.limits(name, audit.policy.confidence) for name in shown}
    table = _new_table(clip(attributes[0]), "people", *(_GROUP_COLUMNS[name] for name in shown))
    people = part.n.sum(axis=(1, 2))
    for i, (_, group) in enumerate(part.pairs[:_MOST_GROUPS]):
        rates = [
            Text(interval(float(values[name][i]), float(limits[name][0][i]), float(limits[name][1][i]), 100))
            for name in shown
        ]
        table.add_row(Text(clip(spell(group))), Text(f"{people[i]:,}"), *rates)
    if len(part.pairs) > _MOST_GROUPS:
        table.add_row(Text(f"{len(part.pairs) - _MOST_GROUPS} more groups"), Text(""))
    return table


def _finding_table(findings: list[Finding], confidence: float) -> Any:
    from rich.text import Text

    table = _new_table(
        "metric", f"value [{confidence:.0%}]", "limit", "between", "verdict", left=("between", "verdict")
    )
    for finding in findings:
        table.add_row(
            Text(finding.metric),
            Text(value(finding)),
            Text(limit(finding)),
            Text(_between(finding)),
            Text(finding.verdict, style=_STYLES[finding.verdict]),
        )
    return table


def _new_table(first: str, *others: str, left: tuple[str, ...] = ()) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column(Text(first), no_wrap=True)
    for title in others:
        table.add_column(Text(title), justify="left" if title in left else "right", overflow="fold")
    return table


def value(finding: Finding) -> str:
    """The judged value with its interval: points of a rate, or a plain number."""
    shown = finding.value
    scale = 100 if finding.judged_on == "difference" and finding.unit == "rate" else 1
    return interval(shown.value, shown.low, shown.high, scale)


def interval(value: float, low: float | None, high: float | None, scale: int = 1) -> str:
    """A value and its ends, in percent (or points) when scaled by 100.

    >>> interval(0.5767, 0.2577, 0.6877, 100), interval(0.3143, None, None)
    ('57.7 [25.8, 68.8]', '0.31')
    """
    if math.isnan(value):
        return "undefined"
    form = "{:.1f}" if scale == 100 else "{:.2f}"
    shown = form.format(scale * value) if math.isfinite(value) else "infinite"
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return shown
    ends = [form.format(scale * end) if math.isfinite(end) else "∞" for end in (low, high)]
    return f"{shown} [{', '.join(ends)}]"


def limit(finding: Finding) -> str:
    if finding.threshold is None:
        return "-"
    if finding.judged_on == "difference" and finding.unit == "rate":
        return f"≤ {100 * finding.threshold:g} points"
    return f"{'≥' if finding.judged_on == 'ratio' else '≤'} {finding.threshold:g}"


def _between(finding: Finding) -> str:
    if finding.highest is None:
        return "-"
    return f"{clip(finding.highest, 28)} | {clip(finding.lowest or '-', 28)}"
