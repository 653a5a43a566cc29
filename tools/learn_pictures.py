"""The pictures of "How to read a report": the first screen with a number at each thing that the page explains, a report
over time, and one within strata.

    python tools/learn_pictures.py [numbered] [over-time] [strata]

Without a word all of them are made. It needs chromium and what `make browser` installs. Looked at by a person before
they are committed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh
from screenshots import IMAGES, browser, photograph_down_to

PLACES = {  # in the order of the numbers: what is marked, as CSS or as text of the page
    "title": "h1",
    "header": "header.top dl",
    "tabs": ".tabs",
    "cutoff": "input[type=range]",
    "verdict": "#verdict-title",
    "found": "text='What was found'",
    "open": "text='What is open'",
    "card": ".card .strip",
    "groups": "#picture-title",
}
MARK = """([x, y, number]) => {
  const mark = document.createElement('div')
  mark.textContent = number
  mark.style.cssText = `position:absolute;left:${x}px;top:${y}px;width:26px;height:26px;border-radius:50%;
    background:#222;color:#fff;font:bold 15px/26px sans-serif;text-align:center;z-index:9999`
  document.body.append(mark)
}"""
LEFT, MARGIN = 12, 8
SIZE = {"width": 1180, "height": 1400}


def numbered(page: Any, path: Path) -> None:
    """The first screen of the demo, down to the end of its picture of the groups."""
    for number, place in enumerate(PLACES.values(), 1):
        box = page.locator(place).first.bounding_box()
        page.evaluate(MARK, [LEFT, box["y"] + box["height"] / 2 - 13, number])
    photograph_down_to(page, "#picture", path)


def part(page: Any, css: str, path: Path) -> None:
    """One part of a page, with some of the ground around it."""
    box = page.locator(css).first.bounding_box()
    clip = {"x": box["x"] - MARGIN, "y": box["y"] - MARGIN}
    clip |= {"width": box["width"] + 2 * MARGIN, "height": box["height"] + 2 * MARGIN}
    page.screenshot(path=str(path), clip=clip, full_page=True)


def over_time(page: Any, path: Path) -> None:
    """The three charts of a trend."""
    part(page, "#trend .grid", path)


def strata(page: Any, path: Path) -> None:
    """The groups of each stratum, and of all together."""
    part(page, "#picture", path)


def demo() -> eh.Audit:
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    return eh.audit(eh.datasets.compas(), **roles, sensitive=["race", "sex"])


def twelve_days() -> eh.Trend:
    """A gap of 4 points until March 5, and of 20 points from March 6 on."""
    random = np.random.default_rng(7)

    def one_day(gap: float, people: int = 1000) -> eh.Cube:
        region = random.choice(["north", "south"], people)
        approved = random.random(people) < np.where(region == "north", 0.5, 0.5 - gap)
        return eh.Cube.count(prediction=approved.astype(int), sensitive={"region": region})

    days = {f"March {day}": one_day(0.04 if day < 6 else 0.2) for day in range(1, 13)}
    return eh.trend(days, metrics="demographic_parity")


def berkeley() -> eh.Audit:
    roles = {"prediction": "admitted", "count": "count", "sensitive": "gender", "control": "department"}
    return eh.audit(eh.datasets.berkeley(), **roles)


PICTURES: dict[str, tuple[str, Callable[[], Any], Callable[[Any, Path], None]]] = {
    "numbered": ("report-numbered", demo, numbered),
    "over-time": ("report-over-time", twelve_days, over_time),
    "strata": ("report-strata", berkeley, strata),
}
"""The file of each picture, what is reported in it, and how it is taken."""


def main() -> None:
    for name in sys.argv[1:] or PICTURES:
        if name not in PICTURES:
            sys.exit(f"{name!r} is not one of {', '.join(PICTURES)}.")
        stem, reported, take = PICTURES[name]
        target = IMAGES / "learn" / f"{stem}.png"
        with tempfile.TemporaryDirectory() as folder, browser() as running:
            file = Path(folder) / "report.html"
            reported().save(file)
            page = running.new_page(viewport=SIZE, color_scheme="light", bypass_csp=True)
            page.goto(file.as_uri())
            page.wait_for_timeout(1000)
            take(page, target)
        print(f"wrote {target.relative_to(IMAGES.parent.parent)}")


if __name__ == "__main__":
    main()
