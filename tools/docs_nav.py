"""A MkDocs hook: a folder in the navigation, such as `Learn: learn/`, stands for its pages.

They come in the order in which the index of the folder links to them; those that it does not name come last.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> None:
    config.nav = [expanded(entry, Path(config.docs_dir)) for entry in config.nav]


def expanded(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: expanded(below, docs) for title, below in entry.items()}
    if isinstance(entry, list):
        return [expanded(each, docs) for each in entry]
    return pages(entry, docs) if entry.endswith("/") else entry


def pages(folder: str, docs: Path) -> list[str]:
    """The pages of a folder of docs, the index first."""
    names = sorted(path.name for path in (docs / folder).glob("*.md") if path.name != "index.md")
    index = docs / folder / "index.md"
    linked = re.findall(r"\]\(([\w.-]+\.md)", index.read_text(encoding="utf-8")) if index.exists() else []
    names.sort(key=lambda name: linked.index(name) if name in linked else len(linked))
    return [folder + name for name in (["index.md"] if index.exists() else []) + names]
