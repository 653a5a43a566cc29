"""What changed between two audits, as Markdown for a comment or the summary of a CI run, or as JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.core.files import write_text
from evenhand.errors import CallError, nearest, shorten
from evenhand.report import markdown
from evenhand.report.text import diff as text

if TYPE_CHECKING:
    from evenhand.audits.diff import Change, Changes

FORMS = (".json", ".md")


def save(changes: Changes, path: Path) -> None:
    """Write the changes; whole or not at all. The suffix decides the form."""
    if path.suffix not in FORMS:
        named = path.suffix or path.name
        raise CallError(f"changes cannot be saved as {shorten(named)!r}; {nearest(named, FORMS)}")
    write_text(path, (as_json if path.suffix == ".json" else as_markdown)(changes))


def as_json(changes: Changes) -> str:
    """The changes as JSON."""
    return json.dumps(changes.to_dict(), indent=1, allow_nan=False).replace("\x7f", "\\u007f") + "\n"


def as_markdown(changes: Changes) -> str:
    """The changes as Markdown: what decides first; names are code, and stay names."""
    parts = [f"# Change: {changes.verdict}", f"{markdown.prose(text.summary(changes))}."]
    deciding = [change for change in changes.changes if change.required]
    parts.append("\n".join(_entry(change) for change in deciding))
    ordered = sorted(changes.changes, key=text.rank)
    for attributes, together in itertools.groupby(ordered, key=lambda change: change.attributes):
        parts += [f"## {markdown.code(' × '.join(attributes))}", _table(list(together), changes.confidence)]
    parts.append("\n".join(f"- {markdown.prose(line)}" for line in (*text.one_sided(changes), *changes.notes)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(change: Change) -> str:
    on = markdown.code(" × ".join(change.attributes))
    notes = "".join(f"\n    - {markdown.prose(note)}" for note in change.notes)
    words = text.better_or_worse(change)
    return f"- {on}: **{text.verdicts(change)}**. **{words}.** {markdown.prose(change.interpretation)}{notes}"


def _table(changes: Sequence[Change], confidence: float) -> str:
    cells = [
        [
            markdown.code(change.metric, in_table=True),
            *(text.figure(change, replace(one, low=None, high=None)) for one in (change.before, change.after)),
            text.figure(change, change.change),
            text.better_or_worse(change),
            text.verdicts(change),
        ]
        for change in changes
    ]
    titles = ["metric", "before", "after", f"change [{confidence:.0%}]", "better or worse", "verdict"]
    return markdown.table(titles, cells, left=("better or worse", "verdict"))
