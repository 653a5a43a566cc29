"""Signs that an encoding may lack, and what is written in their place.

Windows code pages and ASCII have few of the signs in our tables and formulas. Where one is missing, it is written as
ASCII; other letters, such as those of a group's name, are written as backslash escapes, so that two names stay two.
"""

from __future__ import annotations

import codecs
import sys

from evenhand.errors import shorten

STAND_INS = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "x",
    "±": "+/-",
    "·": ".",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "→": "->",
    "←": "<-",
    "∞": "inf",
    "²": "^2",
    "³": "^3",
    "⁶": "^6",
    "⁹": "^9",
    "₂": "_2",
    "ᵢ": "_i",
    "ⱼ": "_j",
    "½": "1/2",
    "′": "'",
    "√": "sqrt ",
    "∫": "integral ",
    "∈": "in",
    "Σ": "sum ",
    "α": "alpha",
    "ε": "epsilon",
    "μ": "mu",
    "Ŷ": "Y^",
    "ŷ": "y^",
    "\u0304": "-bar",  # the line above the letter before it
    "\u00a0": " ",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "›": ">",
    "●": "o",
    "•": "*",
    "─": "-",
    "━": "-",
    "╸": "-",
    "╺": "-",
    "│": "|",
    "┼": "+",
    "├": "|",
    "└": "`",
    "\ufffd": "?",
}
"""What is written for a sign of ours in an encoding that lacks it."""

ERRORS = "evenhand.signs"
"""The name by which streams and `str.encode` know this way to write what an encoding lacks."""


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(STAND_INS.get(mark) or _escape(mark) for mark in missing), error.end


def _escape(mark: str) -> str:
    """The sign as an escape that JSON and TOML know as well."""
    return f"\\u{ord(mark):04x}" if ord(mark) < 0x10000 else f"\\U{ord(mark):08x}"


codecs.register_error(ERRORS, _stand_in)


def carried(text: str, encoding: str) -> str:
    """The text as this encoding can carry it; as it is, if Python does not know the encoding.

    >>> print(carried("value ≤ 10 for Čeněk", "cp1252"))
    value <= 10 for \\u010cen\\u011bk
    """
    try:
        return text if text.isascii() else text.encode(encoding, ERRORS).decode(encoding)
    except LookupError:
        return text


def printable(text: str) -> str:
    """The text as standard output can carry it, so that print() of a result never raises."""
    encoding = getattr(sys.stdout, "encoding", None)  # None where the stream takes any text, as StringIO does
    return carried(text, encoding) if isinstance(encoding, str) else text


def escaped(name: str) -> str:
    """A name of a user inside a repr: on one line, with escapes for what a terminal would act on, cut where it is long.

    >>> print(escaped("two\\nlines"), escaped("African-American"))
    two\\nlines African-American
    """
    return shorten(repr(name)[1:-1])


class Printable:
    """A result without a text of its own: print() shows its repr as standard output can carry it."""

    __slots__ = ()

    def __str__(self) -> str:
        return printable(repr(self))
