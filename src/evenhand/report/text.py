"""An audit for a terminal, or as plain text: the verdict first, then what decides, then the rest."""

from __future__ import annotations

import io
import unicodedata
from typing import TYPE_CHECKING, Any

from evenhand.findings import Finding
from evenhand.wording import amount, distance

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.auditing import Audit

_MOST_ROWS = 40
_NAME_WIDTH = 40
_STYLES = {"pass": "green", "fail": "red", "inconclusive": "yellow", "not judged": "dim"}


def clean(text: str) -> str:
    """A name as it may be printed: no control characters, no escapes, nothing that turns the line around."""
    return "".join("�" if unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp") else mark for mark in text)


def clip(text: str, width: int = _NAME_WIDTH) -> str:
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def plain(audit: Audit, width: int = 110) -> str:
    """The audit as plain text."""
    from rich.console import Console

    page = io.StringIO()
    write(audit, Console(file=page, width=width, no_color=True, highlight=False, emoji=False, legacy_windows=False))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    from rich.text import Text

    cube = audit.cube
    verdict = Text("Verdict: ") + Text(audit.verdict, style=f"bold {_STYLES[audit.verdict]}")
    verdict.append(f"  ({', '.join(audit.required)})")
    console.print(verdict)
    console.print(Text(f"{cube.size:,} people, {_attributes(audit)}"))
    deciding = [finding for finding in audit.findings if audit.decides(finding)]
    for finding in deciding:
        console.print(Text(f"  {finding.verdict}: {clean(finding.interpretation)}"), soft_wrap=True)
    console.print()
    console.print(_table(audit.findings[:_MOST_ROWS]))
    if len(audit.findings) > _MOST_ROWS:
        console.print(Text(f"{len(audit.findings) - _MOST_ROWS} more findings: save the audit as JSON to see all."))
    for note in dict.fromkeys([*audit.notes, *(note for finding in deciding for note in finding.notes)]):
        console.print(Text(f"- {clean(note)}"), soft_wrap=True)


def _attributes(audit: Audit) -> str:
    names = audit.cube.meaning.sensitive
    sizes = [len({group[i] for group in audit.cube.groups}) for i in range(len(names))]
    return ", ".join(f"{clip(name)} ({size} groups)" for name, size in zip(names, sizes, strict=True))


def _table(findings: tuple[Finding, ...]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("groups of", overflow="ellipsis", no_wrap=True, max_width=24)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("limit", justify="right", no_wrap=True)
    table.add_column("between", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for finding in findings:
        table.add_row(
            Text(finding.metric),
            Text(clip(" × ".join(finding.attributes), 24)),
            Text(value(finding)),
            Text(limit(finding)),
            Text(_between(finding)),
            Text(finding.verdict, style=_STYLES[finding.verdict]),
        )
    return table


def value(finding: Finding) -> str:
    """The judged value: points of a rate, or a plain ratio."""
    if not finding.value.defined:
        return "undefined"
    if finding.judged_on == "difference":
        return distance(finding.value.value, "rate")
    return amount(finding.value.value, "ratio")


def limit(finding: Finding) -> str:
    if finding.threshold is None:
        return "-"
    return f"≤ {100 * finding.threshold:g}" if finding.judged_on == "difference" else f"≥ {finding.threshold:g}"


def _between(finding: Finding) -> str:
    if finding.highest is None:
        return "-"
    return f"{clip(finding.highest)} | {clip(finding.lowest or '-')}"
