"""A MkDocs hook that looks at each page after it was made: a broken table or leftover markup fails the build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError

from rendered import faults

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page


def on_page_content(html: str, page: Page, **_: Any) -> None:
    if found := faults(html):
        raise PluginError(f"{page.file.src_uri} has " + "\nand ".join(found))
