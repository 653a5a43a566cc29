"""An extension of griffe: examples in docstrings are code. Markdown takes ">>>" for quotes and makes prose of it."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)


class Doctests(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """Put a fence around each example, which ends, as for doctest, at the first empty line."""
    return EXAMPLE.sub(
        lambda found: f"{found['indent']}```pycon\n{found[0].rstrip()}\n{found['indent']}```\n", docstring
    )
