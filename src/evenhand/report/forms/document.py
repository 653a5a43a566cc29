"""A form as content, whatever writes it: sections of sentences, terms and tables, all of them text."""

from __future__ import annotations

from dataclasses import dataclass

Terms = tuple[tuple[str, str], ...]
"""Words with what they are: who signs, when, of which system."""


@dataclass(frozen=True)
class Table:
    """A table of text; the first `names` columns hold names, which may be anything, and the others figures, or
    `sentences`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    notes: tuple[str, ...] = ()
    sentences: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a form, with the place in a rule that asks for it."""

    title: str
    paragraphs: tuple[str, ...] = ()
    terms: Terms = ()
    tables: tuple[Table, ...] = ()
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A form: its title, who and what it is about, and its sections. `front` is metadata above a Markdown file."""

    title: str
    paragraphs: tuple[str, ...]
    terms: Terms
    sections: tuple[Section, ...]
    front: str = ""
