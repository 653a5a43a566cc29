"""A real browser for the page: Debian's chromium, or the one that EVENHAND_CHROMIUM names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, require
from evenhand.report.pdf import find_chromium

AXE = "node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window; where there is none, the tests say so and are skipped."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        require("playwright", False, "pip install --group browser, or make browser")
    program = find_chromium()
    require("chromium", program is not None, "apt-get install chromium, or name a browser in EVENHAND_CHROMIUM")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The accessibility checks of axe-core, as text."""
    places = [Path(os.environ[name]) for name in ("EVENHAND_AXE",) if name in os.environ]
    found = next((path for path in [*places, ROOT / ".venv" / AXE] if path.is_file()), None)
    require("axe-core", found is not None, "npm install --prefix .venv axe-core, or make browser")
    assert found is not None
    return found.read_text(encoding="utf-8")


@dataclass
class Opened:
    """A page that is open, with all that it did beyond showing itself."""

    tab: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def quiet(self) -> bool:
        """Nothing was complained about, fetched or asked."""
        return not (self.errors or self.dialogs) and len(self.requests) == 1

    def texts(self, query: str) -> list[str]:
        """The words of every element; what is far out of sight has none until it comes near."""
        self.show(query)
        return [" ".join(text.split()) for text in self.tab.locator(query).all_inner_texts()]

    def frame(self) -> None:
        """Let the page draw what it has put off to the next frame."""
        self.tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def go(self, name: str) -> None:
        """Open a tab of the page by its link."""
        self.tab.locator(f'.tabs a[href="#{name}"]').click()
        self.frame()

    def tabs(self) -> Iterator[str]:
        """Open each tab, one after the other."""
        links = self.tab.locator(".tabs a").all()
        for name in [link.get_attribute("href").removeprefix("#") for link in links]:
            self.go(name)
            yield name

    def show(self, query: str) -> None:
        """Open its tab, scroll there, and let what waited out of sight be drawn."""
        host = query.split(maxsplit=1)[0]  # what is in a closed tab may not be drawn yet, but its section is there
        self.tab.locator(host).first.evaluate(
            """(node) => {
              const tab = node.closest(".tab");
              if (tab && !tab.classList.contains("open")) document.querySelector(`.tabs a[href="#${tab.id}"]`).click();
            }"""
        )
        place = self.tab.locator(query).first
        place.scroll_into_view_if_needed()
        self.frame()
        self.frame()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open the text of a page, from a file."""
    contexts = []

    def open_page(text: str, *, width: int = 1280, wait: bool = True, **options: Any) -> Opened:
        path = tmp_path / f"{len(contexts)}.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = Opened(context.new_page())
        page.tab.on("console", lambda told: told.type in ("error", "warning") and page.errors.append(told.text))
        page.tab.on("pageerror", lambda error: page.errors.append(str(error)))
        page.tab.on("request", lambda request: page.requests.append(request.url))
        page.tab.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
        page.tab.goto(path.as_uri())
        if wait:
            page.tab.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
