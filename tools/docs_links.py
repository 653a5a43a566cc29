"""A MkDocs hook that looks at the built site: a dead link, or one that fetches from elsewhere, fails the build.

Links inside the site are followed to their file and their anchor. Links to other sites are not called; only their form
is looked at. The log then says how many there are, and how heavy the pages of each kind are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

TAG = re.compile(r"<([a-z][a-z0-9]*)((?:\s[^<>]*)?)>")
ATTRIBUTE = re.compile(r'\s(id|name|href|src)="([^"]*)"')
KINDS = {
    "learn": "tutorial",
    "cookbook": "recipes",
    "metrics": "metric",
    "reference": "reference",
    "gallery": "gallery",
}

log = logging.getLogger("mkdocs.plugins.docs_links")


def on_post_build(config: MkDocsConfig) -> None:
    site = Path(config.site_dir)
    pages = sorted(site.rglob("*.html"))
    found = [(page, *link) for page in pages for link in links(page)]
    if dead := sorted(
        {f"{page.relative_to(site)}: {fault}" for page, *link in found if (fault := wrong(site, page, *link))}
    ):
        raise PluginError(f"{len(dead)} links are wrong:\n" + "\n".join(dead))
    inside = sum(not urlsplit(address).scheme for _, _, address in found)
    log.info("%d links on %d pages lead somewhere, %d of them inside the site", len(found), len(pages), inside)
    for kind, (page, html, images) in heaviest(site, pages).items():
        log.info("heaviest %s: %s, %d KB and %d KB of pictures", kind, page, html // 1000, images // 1000)


@cache
def tags(page: Path) -> list[tuple[str, dict[str, str]]]:
    """The tags of a page with the attributes that matter for links."""
    text = re.sub(r"<script.*?</script>|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [
        (tag, {name: unescape(value) for name, value in ATTRIBUTE.findall(rest)}) for tag, rest in TAG.findall(text)
    ]


def links(page: Path) -> Iterator[tuple[str, str]]:
    """The tag and the address of each link of a page, and of all that it loads."""
    for tag, attributes in tags(page):
        for name in ("href", "src"):
            if name in attributes:
                yield tag, attributes[name]


@cache
def anchors(page: Path) -> set[str]:
    return {value for _, attributes in tags(page) for name, value in attributes.items() if name in ("id", "name")}


def wrong(site: Path, page: Path, tag: str, address: str) -> str | None:
    """What is wrong with a link, if anything is."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        if tag != "a" and parts.scheme != "data":
            return f"{address} would be fetched from elsewhere"
        known = parts.scheme in ("https", "http") and "." in parts.netloc and " " not in address
        return None if known or parts.scheme in ("data", "mailto") else f"{address} is not an address"
    path = unquote(parts.path)
    target = page if not path else site / path.lstrip("/") if path.startswith("/") else page.parent / path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"{address} is not there"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target.resolve()):
        # Material for MkDocs moves its own anchors, such as __toc, about.
        return None if parts.fragment.startswith("__") else f"{address} has no such anchor"
    return None


def heaviest(site: Path, pages: list[Path]) -> dict[str, tuple[str, int, int]]:
    """Of each kind of page the heaviest, with the bytes of its HTML and of the pictures that it shows."""
    found: dict[str, tuple[str, int, int]] = {}
    for page in pages:
        where = page.relative_to(site)
        kind = "home" if where.name == str(where) else KINDS.get(where.parts[0], "user guide")
        shown = {address for tag, address in links(page) if tag == "img" and not urlsplit(address).scheme}
        images = sum((page.parent / unquote(address)).stat().st_size for address in shown)
        weight = (where.as_posix(), page.stat().st_size, images)
        found[kind] = max(found.get(kind, weight), weight, key=lambda each: each[1] + each[2])
    return found
