"""A form as a file: HTML from a template that escapes everything, Markdown, or CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from evenhand.core.wording import clean
from evenhand.report.forms.document import Document, Section, Table
from evenhand.report.forms.record import MARK

if TYPE_CHECKING:
    from jinja2 import Template


def html(document: Document, packed: str) -> str:
    """One page that needs no script and fetches nothing."""
    return _template().render(document=document, mark=MARK, packed=packed) + "\n"


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    from evenhand.report.page.static import shown

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["shown"] = shown
    text = files("evenhand.report.forms").joinpath("form.html").read_text(encoding="utf-8")
    template: Template = made.from_string(text)
    return template


def markdown(document: Document, packed: str) -> str:
    """Markdown in which names stay names; the record is a comment."""
    from evenhand.report.markdown import prose

    parts = [document.front, f"# {prose(document.title)}", *map(prose, document.paragraphs), _terms(document.terms)]
    for section in document.sections:
        parts += [f"## {prose(section.title)}", *_section(section)]
    return "\n\n".join(part for part in [*parts, f"<!-- {MARK} {packed} -->"] if part) + "\n"


def _section(section: Section) -> list[str]:
    from evenhand.report.markdown import prose

    shown = [*map(prose, section.paragraphs), _terms(section.terms)]
    for table in section.tables:
        shown += [f"### {prose(table.title)}", _table(table), *map(prose, table.notes)]
    return [*shown, "\n".join(f"- {prose(point)}" for point in section.points)]


def _terms(terms: tuple[tuple[str, str], ...]) -> str:
    from evenhand.report.markdown import prose

    return "\n".join(f"- {name}: {prose(value)}" for name, value in terms)


def _table(table: Table) -> str:
    from evenhand.report.markdown import code, prose
    from evenhand.report.markdown import table as lines

    cells = [
        [code(cell, in_table=True) if i < table.names else _figure(cell) for i, cell in enumerate(row)]
        for row in table.rows
    ]
    left = table.columns if table.sentences else table.columns[: table.names]
    return lines([prose(column) for column in table.columns], cells, left=[prose(column) for column in left])


def _figure(cell: str) -> str:
    """A cell of figures: it begins no line, so that 46.0 cannot be taken for an item of a list."""
    from evenhand.report.markdown import prose

    return prose(f"x {cell}")[2:].replace("|", "\\|") if cell else ""


def comma_separated(document: Document, packed: str) -> str:
    """The terms and tables, one below the other, each table with its title and its columns above it."""
    from evenhand.replicas.sheet import guarded

    page = io.StringIO()
    writer = csv.writer(page)

    def put(*cells: str) -> None:
        writer.writerow([guarded(clean(cell)) for cell in cells])

    put(document.title)
    for term in document.terms:
        put(*term)
    for section in document.sections:
        for table in section.tables:
            put()
            put(f"{section.title}: {table.title}")
            put(*table.columns)
            for row in table.rows:
                put(*row[: table.names], *(_plain(cell) for cell in row[table.names :]))
        if section.terms:
            put()
            put(section.title)
        for term in section.terms:
            put(*term)
        for point in section.points:
            put(section.title, point)
    put()
    put(MARK, packed)
    return page.getvalue()


def _plain(cell: str) -> str:
    """A figure for a program: 1234, where people read 1,234, and nothing where they read that there is none."""
    if cell == "-":
        return ""
    return cell.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", cell) else cell


WRITERS = {".html": html, ".md": markdown, ".csv": comma_separated}
"""What writes a form, by the suffix of its file."""
