"""Pictures for the documentation: the demo's report, the cards of a notebook, and the displays of `evenhand.plots`.

    python tools/screenshots.py [report] [cards] [plots] [gallery]

Without a word all of them are made. The third needs matplotlib, the others need chromium and what `make browser` and
`make docs` install. Looked at by a person before they are committed.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests"))

VIEWS = {
    "light": ("light", 1280, 1.0, "#picture"),
    "dark": ("dark", 1280, 1.0, "#picture"),
    "phone": ("light", 390, 1.5, ".card"),
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


def plots() -> None:
    """Each display of `evenhand.plots`, of the people that ship with the package."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from evenhand import plots as displays
    from support import cards as made
    from support import pages

    audit = pages.compas()
    drawn: dict[str, Callable[[], Any]] = {
        "group-measure": lambda: displays.GroupMeasureDisplay.from_audit(audit, "false_positive_rate").plot(),
        "finding": audit["equalized_odds", "race"].plot,
        "forest": audit.plot,
        "calibration": lambda: displays.CalibrationDisplay.from_audit(audit, "sex").plot(),
        "roc": lambda: displays.RocDisplay.from_audit(audit, "sex").plot(),
        "sweep": lambda: displays.SweepDisplay.from_audit(audit, attributes="sex").plot(),
        "tradeoff": made.result("Comparison").plot,
    }
    for name, draw in drawn.items():
        draw().figure_.savefig(IMAGES / f"plot-{name}.png", dpi=80)
        plt.close("all")
        print(f"wrote docs/images/plot-{name}.png")


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


PICTURES = {"report": report, "cards": cards, "plots": plots, "gallery": gallery}


def main() -> None:
    for name in sys.argv[1:] or PICTURES:
        if name not in PICTURES:
            sys.exit(f"{name!r} is not one of {', '.join(PICTURES)}.")
        PICTURES[name]()


if __name__ == "__main__":
    main()
