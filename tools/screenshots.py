"""Pictures of the demo's report for the documentation: light, dark, and as wide as a phone.

    python tools/screenshots.py

Needs chromium and what `make browser` installs. Looked at by a person before they are committed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

VIEWS = {"light": ("light", 1280, 1180, 1.0), "dark": ("dark", 1280, 1180, 1.0), "phone": ("light", 390, 1180, 1.5)}


def main() -> None:
    from playwright.sync_api import sync_playwright

    from support import pages

    program = shutil.which("chromium")
    if program is None:
        sys.exit("chromium is not here: on Debian, apt-get install chromium.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "demo.html"
        pages.compas().save(page_file)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, (scheme, width, height, scale) in VIEWS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale
            )
            page.goto(page_file.as_uri())
            page.wait_for_timeout(1500)
            page.screenshot(path=str(ROOT / "docs" / "images" / f"report-{name}.png"))
            print(f"wrote docs/images/report-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
