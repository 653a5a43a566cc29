"""A MkDocs hook: names for parts of the theme that have none, so that a screen reader can tell them apart."""

from __future__ import annotations

import re
from html import escape
from typing import Any

SEARCH = 'data-md-component="search" role="dialog"'
SECTION = re.compile(
    r'(<nav class="md-nav" data-md-level="\d") aria-labelledby="[^"]*"([^>]*>\s*<label[^>]*>(.*?)</label>)', re.DOTALL
)


def on_post_page(output: str, **_: Any) -> str:
    return SECTION.sub(named, output.replace(SEARCH, f'{SEARCH} aria-label="Search"'))


def named(section: re.Match[str]) -> str:
    """A part of the navigation, named by its title. The theme takes the name from an icon where there is an index."""
    title = " ".join(re.sub(r"<[^>]+>", "", section[3]).split())
    return f'{section[1]} aria-label="Pages of {escape(title)}"{section[2]}'
