"""An audit in full, for a terminal or as plain text: the verdict first, then what decides, then the rest.

However many groups there are, it stays readable: what has evidence comes first, and what is left out is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.core.results import Finding
from evenhand.core.wording import clean, clip
from evenhand.report import tables
from evenhand.report.text import STYLES, Screen, heading, plain_text, say
from evenhand.report.text.columns import Columns

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

_FEW_SETS = 3  # of attributes, beyond which each gets less room
_MOST_SENTENCES = 20
_MOST_FINDINGS = {"single": (40, 12), "crossed": (10, 5)}
_MOST_GROUPS = {"single": (20, 12), "crossed": (8, 5)}
WIDE = 132  # columns, from which there is room for small drawings


def plain(audit: Audit, screen: Screen | None = None) -> str:
    """The audit as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(audit, console), screen)


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    heading(audit.cover, console)
    style = f"bold {STYLES[audit.verdict]}"
    say(console, "Verdict: ", (audit.verdict, style), tables.in_brackets(tables.outcomes(audit)))
    say(console, tables.headline(audit))
    deciding = tables.deciding(audit)
    for finding in deciding[:_MOST_SENTENCES]:
        metric = f", {clip(finding.metric)}" if len(audit.required) > 1 else ""
        _tell(finding, console, f"  {clip(' × '.join(finding.attributes))}{metric}: ", decides=True)
    if len(deciding) > _MOST_SENTENCES:
        left = deciding[_MOST_SENTENCES:]
        say(console, f"  {len(left)} more that decide: {tables.tally(left)}.")
    rest = [finding for finding in audit.findings if not audit.decides(finding)]
    if rest:
        say(console, f"Other findings (they do not decide): {tables.tally(rest)}.")
    hidden = 0
    sets = tables.by_attributes(audit)
    for attributes, findings in sets:
        hidden += _section(audit, attributes, findings, console, many=len(sets) > _FEW_SETS)
    if hidden:
        say(console, "\nSave the audit as Markdown or JSON to see every finding.")
    for note in dict.fromkeys(audit.notes):
        say(console, f"- {clean(note)}")


def _tell(finding: Finding, console: Console, opening: str, *, decides: bool = False) -> None:
    """A finding as a sentence, with what the reader must know of it below."""
    say(console, opening, (finding.verdict, STYLES[finding.verdict]), f". {clean(finding.interpretation)}")
    for note in tables.notes(finding, decides=decides):
        say(console, f"    - {clean(note)}")


def _section(
    audit: Audit, attributes: tuple[str, ...], findings: list[Finding], console: Console, *, many: bool
) -> int:
    """The groups and the findings of one set of attributes; how many findings were left out."""
    kind = "single" if len(attributes) == 1 else "crossed"
    title = clip(" × ".join(attributes), 100)
    say(console, (f"\n{title}", "bold"))
    lead = findings[0]
    if kind == "crossed" and lead.metric in audit.required and not audit.decides(lead):
        _tell(lead, console, f"  {lead.metric}, which does not decide here: ")
    groups = tables.group_table(audit, attributes, _MOST_GROUPS[kind][many])
    if groups is not None and groups.lines:
        _show_groups(console, title, groups)
    if groups is not None and groups.left_out:
        say(console, f" {tables.left_out(groups)}")
    most, (kept, same) = _MOST_FINDINGS[kind][many], tables.folded(audit, findings)
    _show_findings(console, kept[:most], audit.policy.confidence)
    if same:
        say(console, f" {same}")
    left = kept[most:]
    if left:
        say(console, f" {len(left)} more findings: {tables.tally(left)}.")
    return len(left)


def _show_groups(console: Console, title: str, groups: tables.GroupTable) -> None:
    table = Columns(console, title, *groups.titles, fold=[groups.titles])
    for name, *cells in groups.lines:
        table.add([clip(name), *cells])
    table.show()


def _show_findings(console: Console, findings: list[Finding], confidence: float) -> None:
    drawn = console.width >= WIDE and any(tables.bar(finding) for finding in findings)
    middle = ("", "threshold") if drawn else ("threshold",)
    titles = ("metric", f"value [{confidence:.0%}]", *middle, "between", "verdict")
    table = Columns(console, *titles, left=("between", "verdict"), below="between")
    for finding in findings:
        bar = [(tables.bar(finding), "dim")] if drawn else []
        verdict = (finding.verdict, STYLES[finding.verdict])
        limits = (tables.limit(finding), tables.between(finding))
        table.add([clip(finding.metric), tables.value(finding), *bar, *limits, verdict])
    table.show()
