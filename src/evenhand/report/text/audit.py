"""An audit in about 25 lines, for a terminal or as plain text: what a person must know who signs it.

The verdict, who was audited, what decides with a row and a sentence each, the groups, the notes that matter most, and
where the rest is. However many attributes and groups there are, it does not grow; `details` has everything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.core import signs
from evenhand.core.results import Finding
from evenhand.core.wording import NAME_WIDTH, clean, clip
from evenhand.report import glance, tables
from evenhand.report.text import PAGE, STYLES, Screen, heading, plain_text, say, words

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audits.audit import Audit

MOST_LINES = {"one": 25, "several": 30}  # on a screen of 80 columns, of one attribute and of several
_MOST_NOTES = 3
_MOST_ROWS = 5  # of findings that decide
_MOST_GROUPS, _FEWER_GROUPS = 8, 6
_MOST_ATTRIBUTES = 4
_SENTENCE = 4  # lines that a sentence may take
_NOTE, _SHORT_NOTE = 3, 2
_INDENT, _MARK = "   ", "- "
_CLOSING = 1  # the line for where the rest is
_NAME, _LEAST_NAME = 24, 12  # columns of the screen for a name, where there is less room than it takes
# A number stays with its sign: "n = 1,395" and "62.1 %" are not broken.
_TOGETHER = re.compile(r"\S+ = \S+|\d %")
_KEPT = "\ue000"


def plain(audit: Audit, screen: Screen | None = None) -> str:
    """The audit as plain text, for standard output unless another screen is given."""
    return plain_text(lambda console: write(audit, console), screen)


def write(audit: Audit, console: Console) -> None:
    """Write the audit to a console. Names of users are never read as markup."""
    _Writer(audit, console).write()


class _Writer:
    """Writes an audit from the top, and knows how many lines are left."""

    def __init__(self, audit: Audit, console: Console) -> None:
        self.audit, self.console = audit, console
        self.findings = glance.leading(audit)
        several = len(audit.meaning.sensitive) > 1 or len({each.attributes for each in self.findings}) > 1
        self.left = MOST_LINES["several" if several else "one"] - _CLOSING

    def write(self) -> None:
        audit = self.audit
        few = len(self.findings) > 2
        shown = self.findings[: _MOST_ROWS if len(self.findings) > _MOST_ROWS else None]
        table = glance.groups(audit, shown, _FEWER_GROUPS if few else _MOST_GROUPS)
        reserved = 0 if table is None else len(table.names) + 4 + bool(table.left_out)
        reserved += _SHORT_NOTE if few else 0
        heading(audit.cover, self.console)
        self._say("Verdict: ", (audit.verdict, f"bold {STYLES[audit.verdict]}"), _brackets(audit))
        self._say(tables.headline(audit, most=_MOST_ATTRIBUTES))
        self._blank()
        self._findings(shown, reserved)
        if table is not None:
            self._groups(table)
        self._blank()
        hidden = self._notes()
        self._closing(hidden)

    # --- Lines ---

    def _say(self, *parts: str | tuple[str, str]) -> None:
        """A line, which continues below itself where it is too long for the screen."""
        texts = [part if isinstance(part, str) else part[0] for part in parts]
        self.left -= len(self._wrapped("".join(texts), 0))
        say(self.console, *parts)

    def _tell(self, text: str, most: int | None, mark: str) -> None:
        """A text in at most so many lines of the screen, the first after a mark and the others below it."""
        for number, line in enumerate(self._wrapped(text, len(mark), most)):
            start = " " * len(mark) if number else mark
            self.console.print(words(self.console, f"{start}{line}"), soft_wrap=True)
            self.left -= 1

    def _wrapped(self, text: str, indent: int, most: int | None = None) -> list[str]:
        """The lines that a text takes beside an indent; what is too long ends at a sentence, or at a word."""
        from rich.text import Text

        if self.console.width >= PAGE.width:
            return [text]
        kept = _TOGETHER.sub(lambda match: match[0].replace(" ", _KEPT), signs.carried(text, self.console.encoding))
        lines = [line.plain.rstrip() for line in Text(kept).wrap(self.console, self.console.width - indent)]
        if most is not None and len(lines) > most:
            lines = lines[:most]
            whole = " ".join(lines)
            end = whole.rfind(". ")
            if end > len(whole) // 2:
                return self._wrapped(text[: end + 1], indent)
            lines[-1] = f"{lines[-1].rpartition(' ')[0] or lines[-1][:-2]} …"
        return [line.replace(_KEPT, " ") for line in lines]

    def _height(self, text: str, indent: int, most: int | None) -> int:
        return len(self._wrapped(text, indent, most))

    def _blank(self) -> None:
        self.console.print()
        self.left -= 1

    # --- Findings ---

    def _findings(self, findings: list[Finding], reserved: int) -> None:
        """A row for each finding and, as far as there is room above what is reserved, its sentence."""
        if not self.audit.required or not tables.deciding(self.audit):
            self._say("Nothing decides; these findings come first:" if findings else "There is no finding.")
        rows = [self._row(finding) for finding in findings]
        more = tables.deciding(self.audit)[len(findings) :]
        waiting = len(rows) + bool(more)
        widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
        for number, (finding, row) in enumerate(zip(findings, rows, strict=True)):
            name, value, limit = (_sized(cell, width) for cell, width in zip(row[:3], widths, strict=True))
            self._say(f" {name}  {value}  {limit}  ", (row[3], STYLES[finding.verdict]))
            waiting -= 1
            sentence = _sentence(finding)
            needed = self._height(sentence, len(_INDENT), _SENTENCE)
            if number == 0 or self.left - needed >= reserved + waiting:
                self._tell(sentence, _SENTENCE, _INDENT)
        if more:
            self._say(f" {len(more)} more of those that decide: {tables.tally(more)}.")

    def _row(self, finding: Finding) -> tuple[str, str, str, str]:
        value, limit = self._carried(tables.value(finding)), self._carried(tables.limit(finding))
        room = self.console.width - len(value) - len(limit) - len("inconclusive") - 8
        on = self._cut(self._carried(clip(" × ".join(finding.attributes))), max(room // 2 - 2, _LEAST_NAME))
        metric = self._cut(self._carried(clip(finding.metric)), max(room - _width(on) - 4, _LEAST_NAME))
        return f"{metric} on {on}", value, limit, finding.verdict

    # --- Groups ---

    def _groups(self, table: glance.Groups) -> None:
        """The groups in one line each, with as many columns as there is room for."""
        people = tuple(f"{many:,}" for many in table.people)
        columns = [(people, "people"), *((column.cells, column.title) for column in table.columns)]
        lists = [[self._carried(cell) for cell in (title, *cells)] for cells, title in columns]
        widths = [max(map(_width, cells)) for cells in lists]
        names = [self._carried(clip(name, NAME_WIDTH)) for name in (table.title, *table.names)]
        wanted = max(map(_width, names))
        fits = [
            many
            for many in range(2, len(widths) + 1)
            if 1 + min(wanted, _NAME) + sum(width + 2 for width in widths[:many]) <= self.console.width
        ]
        many = max(fits, default=min(2, len(widths)))
        room = self.console.width - 1 - sum(width + 2 for width in widths[:many])
        name_width = min(wanted, max(room, _LEAST_NAME))
        self._blank()
        for number, (name, *cells) in enumerate(zip(names, *lists[:many], strict=True)):
            shown = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=False))
            line = f" {_sized(self._cut(name, name_width), name_width)}{shown}"
            self.console.print(words(self.console, line, "bold" if number == 0 else ""), soft_wrap=True)
            if number == 0:
                self.console.print(words(self.console, f" {'─' * (_width(line) - 1)}"), soft_wrap=True)
        self.left -= len(names) + 1
        if table.left_out:
            self._say(f" {table.more}")

    def _carried(self, text: str) -> str:
        """The text in signs that the console can show."""
        return signs.carried(text, self.console.encoding)

    def _cut(self, text: str, room: int) -> str:
        """The text in as many columns of the screen, cut where it is longer."""
        mark = self._carried("…")
        return text if _width(text) <= room else _sized(text, room - len(mark)) + mark

    # --- Notes ---

    def _notes(self) -> int:
        """The most important notes, as far as there is room; how many are not shown."""
        every = [clean(note) for note in glance.notes(self.audit, self.findings)]
        shown = 0
        for note in every:
            # A note that does not end at a sentence within its lines is shown whole, or not at all.
            cut = self._wrapped(note, len(_MARK), _NOTE)[-1].endswith(" …")
            most = None if cut else _NOTE
            if shown < _MOST_NOTES and self._height(note, len(_MARK), most) <= self.left:
                self._tell(note, most, _MARK)
                shown += 1
        return len(every) - shown

    def _closing(self, hidden: int) -> None:
        """What else there is, and where."""
        known = {id(finding) for finding in self.findings}
        rest = [finding for finding in self.audit.findings if id(finding) not in known]
        parts = [f"{hidden} more note{'' if hidden == 1 else 's'}"] if hidden else []
        parts += [f"{len(rest):,} other finding{'' if len(rest) == 1 else 's'}"] if rest else []
        more = " and ".join(parts) or "Every measure of every group"
        self._say(f"{more}: audit.details() or -v, or save as .html.")


def _width(text: str) -> int:
    """How many columns of the screen a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _sized(text: str, width: int) -> str:
    """The text in exactly so many columns."""
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def _sentence(finding: Finding) -> str:
    """What a finding says, with names that are not too long for a line."""
    sentence = finding.interpretation
    for name in tables.pair(finding):
        if name is not None and len(name) > NAME_WIDTH:
            sentence = sentence.replace(name, clip(name))
    return clean(sentence)


def _brackets(audit: Audit) -> str:
    return tables.in_brackets(tables.outcomes(audit))
