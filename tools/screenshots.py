"""Pictures for the documentation: the demo's report, the cards of a notebook, a contest, and the gallery.

    python tools/screenshots.py [report] [cards] [contest] [gallery]

Without a word all of them are made. They need chromium and what `make browser` and `make docs` install. Looked at by a
person before they are committed.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests"))

VIEWS = {
    "light": ("light", 1280, 1.0, "#picture"),
    "dark": ("dark", 1280, 1.0, "#picture"),
}
"""The colours of each picture of the demo, its width, its scale, and what it ends with: nothing is cut through."""
CARDS = {"card-audit": ("Audit", False), "card-finding": ("Finding", True), "card-trend": ("Trend", False)}
"""The card of each picture, and whether it is shown in the dark."""
TALLEST = 1000  # pixels of a tab in the gallery


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        sys.exit("chromium is not here: on Debian, apt-get install chromium.")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def report() -> None:
    """The page of the demo: light, dark, and as wide as a phone."""
    from support import pages

    with tempfile.TemporaryDirectory() as folder, browser() as running:
        page_file = Path(folder) / "demo.html"
        pages.compas().save(page_file)
        for name, (scheme, width, scale, last) in VIEWS.items():
            page = running.new_page(
                viewport={"width": width, "height": 1400}, color_scheme=scheme, device_scale_factor=scale
            )
            page.goto(page_file.as_uri())
            page.wait_for_timeout(1500)
            photograph_down_to(page, last, IMAGES / f"report-{name}.png")
            print(f"wrote docs/images/report-{name}.png")


def photograph_down_to(page: Any, last: str, path: Path) -> None:
    """The page from its top to the end of what `last` finds first."""
    box = page.locator(last).first.bounding_box()
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": box["y"] + box["height"] + 8}
    page.screenshot(path=str(path), clip=clip, full_page=True)


def cards() -> None:
    """Cards as a notebook shows them, in the light and in the dark."""
    from support import cards as made

    with browser() as running:
        for name, (kind, dark) in CARDS.items():
            page = running.new_page(viewport={"width": 900, "height": 400})
            page.set_content(made.in_notebook(made.result(kind)._repr_html_(), dark=dark))
            page.locator(".output").screenshot(path=str(IMAGES / f"{name}.png"))
            print(f"wrote docs/images/{name}.png")


def contest() -> None:
    """The page of the contest that docs/two-models.md makes, down to its cards."""
    import examples

    names: dict[str, Any] = {}
    with browser() as running, examples.place():
        for block in examples.blocks((ROOT / "docs/two-models.md").read_text("utf-8"))[:2]:
            last_value(block.source, names)
        names["contest"].save("contest.html")
        page = running.new_page(viewport={"width": 1100, "height": 1400})
        page.goto(Path("contest.html").resolve().as_uri())
        photograph_down_to(page, ".cards", IMAGES / "contest.png")
    fewer_colours(IMAGES / "contest.png")
    print("wrote docs/images/contest.png")


def gallery() -> None:
    """Every picture of docs/gallery.md, made by the code that stands above it there."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import examples

    pieces = re.split(r"!\[[^\]]*\]\((images/gallery/[\w-]+\.png)\)", (ROOT / "docs/gallery.md").read_text("utf-8"))
    names: dict[str, Any] = {}
    value: Any = None
    with browser() as running, examples.place():
        for text, picture in zip(pieces[::2], pieces[1::2], strict=False):
            for block in examples.blocks(text):
                value = last_value(block.source, names)
            path = IMAGES.parent / picture
            kind, _, name = path.stem.partition("-")
            if kind == "display":
                value.figure_.savefig(path, dpi=90)
                plt.close("all")
            elif kind == "report":
                photograph_tab(running, Path("audit.html"), name, path)
            else:
                photograph_card(running, value._repr_html_(), path)
            fewer_colours(path)
            print(f"wrote docs/{picture}, {path.stat().st_size // 1000} KB")


def last_value(source: str, names: dict[str, Any]) -> Any:
    """Run a block, and return what its last line is worth, as a notebook would."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<gallery>", "exec"), names)  # noqa: S102 - our own page
    return eval(compile(ast.Expression(last.value), "<gallery>", "eval"), names) if last else None  # noqa: S307


def photograph_tab(running: Any, file: Path, tab: str, path: Path) -> None:
    """The upper part of a tab of a report."""
    page = running.new_page(viewport={"width": 1100, "height": TALLEST})
    page.goto(f"{file.resolve().as_uri()}#{tab}")
    page.wait_for_selector("html[data-ready]")
    page.evaluate("() => scrollTo(0, 0)")
    page.wait_for_timeout(1000)
    box = page.locator(f"#{tab}").bounding_box()
    clip = {"x": 0, "y": 0, "width": 1100, "height": min(box["y"] + box["height"] + 20, TALLEST)}
    page.screenshot(path=str(path), clip=clip)
    page.close()


def photograph_card(running: Any, html: str, path: Path) -> None:
    from support import cards as made

    page = running.new_page(viewport={"width": 900, "height": 400})
    page.set_content(made.in_notebook(html))
    page.locator(".output").screenshot(path=str(path))
    page.close()


def fewer_colours(path: Path) -> None:
    """Keep 128 colours of a picture, which nobody sees and which halves its file."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


PICTURES = {"report": report, "cards": cards, "contest": contest, "gallery": gallery}


def main() -> None:
    for name in sys.argv[1:] or PICTURES:
        if name not in PICTURES:
            sys.exit(f"{name!r} is not one of {', '.join(PICTURES)}.")
        PICTURES[name]()


if __name__ == "__main__":
    main()
