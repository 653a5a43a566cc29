"""An audit as Markdown, for the summary of a CI run, a comment or a page: the verdict first, then what decides.

Names are written so that they stay names wherever Markdown is shown: as code, where nothing has a meaning, neither
markup nor formulas nor @mentions nor #numbers. Sentences are plain text; a word in one that could mean something to
Markdown is written as code too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evenhand.core.results import Finding
from evenhand.core.wording import capital, clean, clip
from evenhand.report import panels, tables
from evenhand.report.panels import PrintedTable

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

_MOST_GROUPS = 20
_NAME_WIDTH = 100

# What Markdown, or GitHub on top of it, could take for more than a word: emphasis, code, formulas, mentions, numbers of
# issues, commits, HTML, entities, :smileys:, and addresses. Square brackets are left: a backslash is enough for them.
_ACTIVE = re.compile(r"[*_`~$@#\\{}^|<>&]|:(?!$)|//|www\.|[^\W\d_]\.[^\W\d_]|^GH-\d|^[0-9a-f]{7,40}$", re.IGNORECASE)
_ACTIVE_FIRST = re.compile(r"(?!\[)\W|\d+[.)]")  # at the beginning of a line it could also begin a list

_SENTENCE_MARKS = re.compile(r"(\(?)(.*?)([.,;:)]*)")


def dumps(audit: Audit) -> str:
    """The whole audit as Markdown."""
    deciding = tables.deciding(audit)
    parts = [
        f"# Verdict: {audit.verdict}",
        *(prose(text) for text in (audit.cover.title, audit.cover.note) if text),
        f"{capital(tables.outcomes(audit, code))}." if deciding else "",
        f"{prose(tables.headline(audit))}.",
        "\n".join(line for finding in deciding for line in _entry(finding)),
    ]
    for attributes, findings in tables.by_attributes(audit):
        parts += _section(audit, attributes, findings)
    parts += ["## Notes", "\n".join(f"- {prose(note)}" for note in dict.fromkeys(audit.notes))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(finding: Finding, aside: str = "") -> Iterable[str]:
    """A finding as an entry of a list, with its notes below it."""
    name = f"{code(' × '.join(finding.attributes))}, {code(finding.metric)}{', ' if aside else ''}{aside}"
    yield f"- {name}: **{finding.verdict}**. {prose(finding.interpretation)}"
    yield from (f"    - {prose(note)}" for note in tables.notes(finding, decides=not aside))


def _section(audit: Audit, attributes: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    title = code(" × ".join(attributes))
    parts = [f"## {title}"]
    lead = findings[0]
    if len(attributes) > 1 and lead.metric in audit.required and not audit.decides(lead):
        parts.append("\n".join(_entry(lead, "which does not decide here")))
    groups = tables.group_table(audit, attributes, _MOST_GROUPS)
    if groups is not None and groups.lines:
        cells = [[code(name, in_table=True), *rest] for name, *rest in groups.lines]
        parts.append(table(["group", *groups.titles], cells))
    if groups is not None and groups.left_out:
        parts.append(tables.left_out(groups))
    kept, same = tables.folded(audit, findings)
    cells = [
        [
            code(finding.metric, in_table=True),
            tables.value(finding),
            tables.limit(finding),
            *("-" if name is None else code(name, in_table=True) for name in tables.pair(finding)),
            f"**{finding.verdict}**" if audit.decides(finding) else finding.verdict,
        ]
        for finding in kept
    ]
    titles = ["metric", f"value [{audit.policy.confidence:.0%}]", "threshold", "between", "and", "verdict"]
    practice = [part for finding in findings for each in panels.printed(finding) for part in _printed(each)]
    return [*parts, table(titles, cells, left=("between", "and", "verdict")), prose(same), *practice]


def _printed(shown: PrintedTable) -> list[str]:
    """A table that is the result itself, below its title."""
    names = [title in shown.left for title in shown.titles]
    lines = [
        [code(cell, in_table=True) if name and cell else cell for name, cell in zip(names, line, strict=True)]
        for line in shown.lines
    ]
    return [f"### {prose(shown.title)}", table(shown.titles, lines, left=shown.left)]


def table(titles: Sequence[str], lines: Iterable[Sequence[str]], left: Sequence[str] = ()) -> str:
    """A table whose cells are ready; the first column and those named in `left` stand to the left."""
    ruler = ["---" if i == 0 or title in left else "--:" for i, title in enumerate(titles)]
    shown = [[title.replace("|", "\\|") for title in titles], ruler, *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)


def code(name: str, *, in_table: bool = False) -> str:
    """A name as code.

    >>> print(code("[a](b)"), code("it's `x`"), code("a|b", in_table=True))
    `[a](b)` `` it's `x` `` `a\\|b`
    """
    text = fenced(clip(name, _NAME_WIDTH))
    return text.replace("|", "\\|") if in_table else text


def fenced(text: str) -> str:
    """Text in as many backticks as it takes."""
    if not text:
        return '`""`'
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    ticks = text.startswith("`") or text.endswith("`")
    spaces = text[0] == text[-1] == " " and text.strip()  # Markdown takes one off each end
    padding = " " if ticks or spaces else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def prose(text: str) -> str:
    """A sentence with names in it: words that could mean something to Markdown become code.

    >>> print(prose("The rate is highest for <b>x</b> (57.7 %) of [0, 25), and lowest (in_a_word)."))
    The rate is highest for `<b>x</b>` (57.7 %) of \\[0, 25), and lowest (`in_a_word`).
    """
    words = clean(text).strip().split(" ")
    first = words[0] if not _ACTIVE_FIRST.match(words[0]) else fenced(words[0])
    return " ".join([first if first != words[0] else _word(first), *map(_word, words[1:])])


def _word(word: str) -> str:
    if not _ACTIVE.search(word):
        return re.sub(r"([\[\]])", r"\\\1", word)
    before, inside, after = _SENTENCE_MARKS.fullmatch(word).groups()  # type: ignore[union-attr] # it matches all
    return f"{before}{fenced(inside)}{after}" if inside else fenced(word)
