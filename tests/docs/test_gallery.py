"""The gallery shows everything that is drawn: each display, each tab of a report, each card of a notebook."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from evenhand import plots
from evenhand.report.cards import MAKERS

PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
FOLDER = ROOT / "docs" / "images" / "gallery"
SHOWN = re.findall(r"!\[([^\]]+)\]\(images/gallery/([\w-]+\.png)\)", PAGE)
TABS = re.findall(
    r'<div class="tab" id="(\w+)">', (ROOT / "src/evenhand/report/page/assets/page.html").read_text("utf-8")
)
MOST_BYTES = 1_500_000


def dashed(name: str) -> str:
    """FindingDisplay as finding, GroupMeasureDisplay as group-measure."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Display")).lower()


EXPECTED = [
    *(f"display-{dashed(name)}.png" for name in plots.__all__),
    *(f"report-{tab}.png" for tab in TABS),
    *(f"card-{dashed(name)}.png" for name in MAKERS),
]


@pytest.mark.parametrize("picture", EXPECTED)
def test_everything_that_is_drawn_has_its_picture(picture: str):
    assert picture in [name for _, name in SHOWN]
    assert (FOLDER / picture).is_file(), "make it with: python tools/screenshots.py gallery"


def test_every_picture_is_shown_once():
    assert sorted(name for _, name in SHOWN) == sorted(path.name for path in FOLDER.iterdir())


def test_every_picture_of_the_documentation_is_on_a_page():
    """Nobody looks at the others, and they are not made again."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w/.-]+)", page.read_text(encoding="utf-8"))}
    images = ROOT / "docs" / "images"
    assert {path.relative_to(images).as_posix() for path in images.rglob("*.*")} - shown == set()


@pytest.mark.parametrize("name", plots.__all__)
def test_the_code_of_each_display_stands_there(name: str):
    assert f"plots.{name}.from_" in PAGE


def test_pictures_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES


def test_the_tabs_are_those_of_the_report():
    assert len(TABS) >= 7
