"""Card: what a notebook shows of a result, as plain texts, and the one template that turns it into HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from evenhand.core.wording import clip, number_of
from evenhand.report.page import environment

if TYPE_CHECKING:
    from jinja2 import Template

Tone = Literal["pass", "fail", "inconclusive", "not judged"]
"""The colour of a word; the word says the same."""

MOST_SENTENCES = 3
MOST_ROWS = 4
_MOST_COLUMNS = 8
_MOST_LETTERS = 420  # of a sentence
_MOST_TITLE = 160
_MOST_IN_CELL = 120
_PIXELS = 210  # for sentences and rows; the rest of a card is its head, its foot and the space around them
_PIXELS_OF_ROW, _PIXELS_OF_LINE = 24, 21
_LETTERS_OF_LINE = 125


@dataclass(frozen=True)
class Word:
    """A word on a colour: a verdict, or what changed."""

    text: str
    tone: Tone = "not judged"


@dataclass(frozen=True)
class Bar:
    """An interval beside its threshold, as shares of what is tolerated: 1 is the threshold."""

    value: float
    low: float
    high: float

    def place(self, share: float) -> float:
        """Where a share stands in a drawing of 90 units, in which the threshold is at 30."""
        return 30 * min(max(share, 0.0), 3.0)


Cell = str | Word | Bar


@dataclass(frozen=True)
class Sentence:
    """A sentence, with what it is about before it."""

    text: str
    lead: str = ""


@dataclass(frozen=True)
class Card:
    """A result in a few words.

    `calls` are the ways to the rest: what to type after the name of the result, and what that does.
    """

    kind: str
    title: str
    calls: tuple[tuple[str, str], ...]
    word: Word | None = None
    sentences: tuple[Sentence, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    more: str = ""


def make(
    kind: str,
    title: str,
    calls: Iterable[tuple[str, str]],
    *,
    word: Word | None = None,
    sentences: Sequence[Sentence] = (),
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Cell]] = (),
    noun: tuple[str, str] = ("row", "rows"),
    left_out: int = 0,
) -> Card:
    """A card of at most so many sentences, rows and letters; what is left out is counted.

    `left_out` are rows that the caller has left out already, and `noun` says what one row is, and what several are.
    """
    cut = [Sentence(clip(each.text, _MOST_LETTERS), clip(each.lead, 80)) for each in sentences]
    told = tuple(cut[: _fitting(cut, len(rows[:MOST_ROWS]))])
    shown = tuple(tuple(_cell(cell) for cell in row[:_MOST_COLUMNS]) for row in rows[:MOST_ROWS])
    hidden = left_out + len(rows) - len(shown)
    parts = [number_of(hidden, *(f"more {each}" for each in noun))] if hidden else []
    unsaid = len(sentences) - len(told)
    parts += [number_of(unsaid, "more sentence", "more sentences")] if unsaid else []
    more = f"and {' and '.join(parts)}" if parts else ""
    titles = tuple(clip(name) for name in columns[:_MOST_COLUMNS])
    return Card(kind, clip(title, _MOST_TITLE), tuple(calls), word, told, titles if shown else (), shown, more)


def _fitting(sentences: Sequence[Sentence], rows: int) -> int:
    """How many sentences there is room for above so many rows, in a notebook of usual width; at least one."""
    room = _PIXELS - (_PIXELS_OF_ROW * (rows + 1) if rows else 0)
    fitting = 0
    for each in sentences[:MOST_SENTENCES]:
        lines = -(-len(f"{each.lead} {each.text}") // _LETTERS_OF_LINE)
        room -= _PIXELS_OF_LINE * lines
        fitting += room >= 0
    return max(fitting, min(len(sentences), 1))


def _cell(cell: Cell) -> Cell:
    return clip(cell, _MOST_IN_CELL) if isinstance(cell, str) else cell


def render(card: Card) -> str:
    """The card as HTML that can stand anywhere in a notebook."""
    return _template().render(card=card, style=_text("card.css"))


@cache
def _template() -> Template:
    template: Template = environment().from_string(_text("card.html"))
    template.globals.update({"is_word": lambda cell: isinstance(cell, Word), "is_bar": lambda c: isinstance(c, Bar)})
    return template


@cache
def _text(name: str) -> str:
    return files("evenhand.report.cards").joinpath(name).read_text(encoding="utf-8")
