"""The picture of "How to read a report": the first screen, with a number at each thing that the page explains.

    python tools/learn_pictures.py

It needs chromium and what `make browser` installs. Looked at by a person before it is committed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import evenhand as eh
from screenshots import IMAGES, browser

PLACES = {  # in the order of the numbers: what is marked, as CSS or as text of the page
    "title": "h1",
    "header": "header.top dl",
    "tabs": ".tabs",
    "cutoff": "input[type=range]",
    "verdict": "text='Verdict:'",
    "found": "text='What was found'",
    "open": "text='What is open'",
    "card": "text='21.4 points'",
    "groups": "text='The groups behind it'",
}
MARK = """([x, y, number]) => {
  const mark = document.createElement('div')
  mark.textContent = number
  mark.style.cssText = `position:absolute;left:${x}px;top:${y}px;width:26px;height:26px;border-radius:50%;
    background:#222;color:#fff;font:bold 15px/26px sans-serif;text-align:center;z-index:9999`
  document.body.append(mark)
}"""
LEFT = 12


def main() -> None:
    audit = eh.audit(
        eh.datasets.compas(), label="recidivated", score="decile", cutoff=5, count="count", sensitive=["race", "sex"]
    )
    target = IMAGES / "learn" / "report-numbered.png"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        file = Path(folder) / "demo.html"
        audit.save(file)
        page = running.new_page(viewport={"width": 1180, "height": 1130}, color_scheme="light", bypass_csp=True)
        page.goto(file.as_uri())
        page.wait_for_timeout(1000)
        for number, place in enumerate(PLACES.values(), 1):
            box = page.locator(place).first.bounding_box()
            page.evaluate(MARK, [LEFT, box["y"] + box["height"] / 2 - 13, number])
        page.screenshot(path=str(target))
    print(f"wrote {target.relative_to(IMAGES.parent.parent)}")


if __name__ == "__main__":
    main()
