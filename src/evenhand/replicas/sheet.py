"""Replicas as CSV: text that a spreadsheet would run as a formula gets an apostrophe in front, which is taken off again
when the file is read. Numbers, such as the label -1, stay as they are."""

from __future__ import annotations

import re
from collections.abc import Collection

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet runs.

    >>> guarded("=1+1"), guarded("-1"), guarded("north"), guarded("'=x")
    ("'=1+1", '-1', 'north', "''=x")
    """
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` made a cell of.

    >>> [unguarded(guarded(text)) for text in ("=1+1", "-1", "'=x", "'quoted'")]
    ['=1+1', '-1', "'=x", "'quoted'"]
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def is_sheet(names: Collection[str]) -> bool:
    """Are these the columns of a file that `evenhand replicate` writes: p_0, p_1 and so on?"""
    return {"p_0", "p_1"} <= set(names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text
