"""What a page weighs and how fast it follows the slider: 7, 50 and 200 groups, 256 bins of the score, every metric.

    python benchmarks/report.py             all sizes
    python benchmarks/report.py 200         only these

(a) The page of 200 groups x 256 bins, with all its counts and tables but without script and style: at most 330 KB.
    Script and style are carried as they are read; their size is printed and has no bar.
(b) From a step of the slider to everything in sight computed, drawn and laid out again: at most 17 ms in the median,
    which is one frame at 60 Hz.

Measured in Chromium without a window: the time inside the frame that follows the step, with style and layout forced,
over 60 steps all over the range; painting is left to the browser. What is out of sight is drawn when it comes near.
Exits 1 when a bar is missed.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

BINS = 256
GROUPS = (7, 50, 200)
MOST_BYTES, MOST_MILLISECONDS = 330_000, 17.0
STEPS = 60
SEED = 20240229

# In the frame after the step: the first callback starts the clock, the page's own does its work, the last one stops.
STEP = """async ([value]) => {
  const slider = document.getElementById("cutoff");
  let begin = 0;
  requestAnimationFrame(() => { begin = performance.now(); });
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return new Promise((done) => requestAnimationFrame(() => {
    document.body.getBoundingClientRect();
    done(performance.now() - begin);
  }));
}"""


def counts(groups: int) -> dict[str, list[Any]]:
    """People by group, label and one of 256 scores; no cell is empty, which is the most that a page can hold."""
    import numpy as np

    random = np.random.default_rng(SEED)
    score = (np.arange(BINS) + 0.5) / BINS
    table: dict[str, list[Any]] = {"district": [], "score": [], "label": [], "count": []}
    for group in range(groups):
        shift = random.normal(0, 0.3)
        weight = np.exp(-((score - 0.5 - shift / 4) ** 2) / 0.08)
        for label in (0, 1):
            people = 6 + random.poisson(60 * weight * (score if label else 1 - score))
            table["district"] += [f"District {group:03d}"] * BINS
            table["score"] += score.tolist()
            table["label"] += [label] * BINS
            table["count"] += people.tolist()
    return table


def page(groups: int) -> str:
    import evenhand as eh
    from evenhand.report import page as html

    roles = {"label": "label", "score": "score", "cutoff": 0.5, "count": "count", "sensitive": "district"}
    return html.dumps(eh.audit(counts(groups), score_range=(0, 1), metrics="all", **roles))


def redraws(browser: Any, path: Path) -> tuple[list[float], int]:
    """Milliseconds of each step, and how many stops the slider has."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]", timeout=60_000)
    last = int(tab.get_attribute("#cutoff", "max"))
    places = [round(last * ((37 * i) % STEPS) / (STEPS - 1)) for i in range(STEPS)]
    for place in places[:10]:
        tab.evaluate(STEP, [place])  # warm
    times = [tab.evaluate(STEP, [place]) for place in places]
    tab.close()
    return times, last + 1


def main(chosen: list[str]) -> int:
    from playwright.sync_api import sync_playwright

    from evenhand.report import page as html

    program = os.environ.get("EVENHAND_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("no browser: install chromium, or name one in EVENHAND_CHROMIUM")
        return 1
    missed = False

    def bar(name: str, value: float, most: float, unit: str) -> None:
        nonlocal missed
        missed |= value > most
        print(f"  {'PASS' if value <= most else 'MISS'}  {name}: {value:,.1f} {unit} (at most {most:,.0f})")

    assets = sum(len(text.encode()) for text in html.assets())
    print(f"script and style: {assets / 1000:,.1f} KB")
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for groups in [int(name) for name in chosen] or GROUPS:
            text, path = page(groups), Path(folder) / f"{groups}.html"
            path.write_text(text, encoding="utf-8")
            times, stops = redraws(browser, path)
            print(f"{groups} groups x {BINS} bins, {stops} stops")
            bar("data", (len(text.encode()) - assets) / 1000, MOST_BYTES / 1000, "KB")
            bar("redraw, median", statistics.median(times), MOST_MILLISECONDS, "ms")
            print(f"        slowest of ten {sorted(times)[int(0.9 * STEPS)]:.1f} ms")
        print(f"Chromium {browser.version}, Python {platform.python_version()}, {os.cpu_count()} cores")
        browser.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
