"""Names of users as they may be shown: whatever they hold, they stay names."""

from __future__ import annotations

import re
import unicodedata

NAME_WIDTH = 40
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """A name as it may be printed: no control characters, no escapes, nothing that turns the line around."""
    return "".join("�" if unicodedata.category(mark) in _UNSEEN else mark for mark in text)


def clip(text: str, width: int = NAME_WIDTH) -> str:
    """A clean name, cut where it is too long for a table."""
    text = clean(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def xml(text: str) -> str:
    """A name without the characters that no XML file may hold, not even escaped."""
    return _NOT_IN_XML.sub("�", clean(text))
