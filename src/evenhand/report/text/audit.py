"""An audit for a terminal, or as plain text: the verdict first, then what decides, then the rest.

However many groups there are, it stays readable: what has evidence comes first, and what is left out is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.core.results import Finding
from evenhand.core.wording import clean, clip
from evenhand.report import tables
from evenhand.report.text import STYLES, new_table, plain_text

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

_FEW_SETS = 3  # of attributes, beyond which each gets less room
_MOST_SENTENCES = 20
_MOST_FINDINGS = {"single": (40, 12), "crossed": (10, 5)}
_MOST_GROUPS = {"single": (20, 12), "crossed": (8, 5)}
WIDE = 132  # columns, from which there is room for small drawings


def plain(audit: Audit, width: int = 120) -> str:
    """The audit as plain text."""
    return plain_text(lambda console: write(audit, console), width)


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    from rich.text import Text

    verdict = Text("Verdict: ") + Text(audit.verdict, style=f"bold {STYLES[audit.verdict]}")
    console.print(verdict.append(f" by {', '.join(map(clean, audit.required))}" if audit.required else ""))
    console.print(Text(tables.headline(audit)), soft_wrap=True)
    deciding = tables.deciding(audit)
    for finding in deciding[:_MOST_SENTENCES]:
        metric = f", {clip(finding.metric)}" if len(audit.required) > 1 else ""
        _tell(finding, console, f"  {clip(' × '.join(finding.attributes))}{metric}: ")
    if len(deciding) > _MOST_SENTENCES:
        left = deciding[_MOST_SENTENCES:]
        console.print(Text(f"  {len(left)} more that decide: {tables.tally(left)}."))
    rest = [finding for finding in audit.findings if not audit.decides(finding)]
    if rest:
        console.print(Text(f"Other findings (they do not decide): {tables.tally(rest)}."))
    hidden = 0
    sets = tables.by_attributes(audit)
    for attributes, findings in sets:
        hidden += _section(audit, attributes, findings, console, many=len(sets) > _FEW_SETS)
    if hidden:
        console.print(Text("\nSave the audit as Markdown or JSON to see every finding."))
    for note in dict.fromkeys(audit.notes):
        console.print(Text(f"- {clean(note)}"), soft_wrap=True)


def _tell(finding: Finding, console: Console, opening: str) -> None:
    """A finding as a sentence, with what the reader must know of it below."""
    from rich.text import Text

    line = Text(opening) + Text(finding.verdict, style=STYLES[finding.verdict])
    console.print(line.append(f". {clean(finding.interpretation)}"), soft_wrap=True)
    for note in finding.notes:
        console.print(Text(f"    - {clean(note)}"), soft_wrap=True)


def _section(
    audit: Audit, attributes: tuple[str, ...], findings: list[Finding], console: Console, *, many: bool
) -> int:
    """The groups and the findings of one set of attributes; how many findings were left out."""
    from rich.text import Text

    kind = "single" if len(attributes) == 1 else "crossed"
    title = clip(" × ".join(attributes), 100)
    console.print(Text(f"\n{title}", style="bold"))
    lead = findings[0]
    if kind == "crossed" and lead.metric in audit.required and not audit.decides(lead):
        _tell(lead, console, f"  {lead.metric}, which does not decide here: ")
    groups = tables.group_table(audit, attributes, _MOST_GROUPS[kind][many])
    if groups is not None and groups.lines:
        console.print(_group_table(title, groups))
    if groups is not None and groups.left_out:
        console.print(Text(f" {tables.left_out(groups)}"))
    most = _MOST_FINDINGS[kind][many]
    console.print(_finding_table(findings[:most], audit.policy.confidence, console.width >= WIDE))
    left = findings[most:]
    if left:
        console.print(Text(f" {len(left)} more findings: {tables.tally(left)}."))
    return len(left)


def _group_table(title: str, groups: tables.GroupTable) -> Any:
    from rich.text import Text

    table = new_table(title, *groups.titles)
    for name, *cells in groups.lines:
        table.add_row(Text(clip(name)), *map(Text, cells))
    return table


def _finding_table(findings: list[Finding], confidence: float, wide: bool) -> Any:
    from rich.text import Text

    drawn = wide and any(tables.bar(finding) for finding in findings)
    middle = ("", "limit") if drawn else ("limit",)
    table = new_table("metric", f"value [{confidence:.0%}]", *middle, "between", "verdict", left=("between", "verdict"))
    for finding in findings:
        table.add_row(
            Text(clip(finding.metric)),
            Text(tables.value(finding)),
            *([Text(tables.bar(finding), style="dim")] if drawn else []),
            Text(tables.limit(finding)),
            Text(_between(finding)),
            Text(finding.verdict, style=STYLES[finding.verdict]),
        )
    return table


def _between(finding: Finding) -> str:
    if finding.highest is None:
        return "-"
    return f"{clip(finding.highest, 28)} | {clip(finding.lowest or '-', 28)}"
