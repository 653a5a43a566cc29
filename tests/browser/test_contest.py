"""The page of a contest in a real browser: quiet, accessible, readable on a phone and on paper."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from conftest import require
from evenhand.report import contest_page
from support import contests

every_kind = pytest.mark.parametrize("kind", list(contests.KINDS))
LONG = "a-very-long-name-" * 12


@cache
def page(kind: str) -> str:
    return contest_page.dumps(contests.KINDS[kind]())


@cache
def long_names() -> str:
    table = {"y": [1, 0] * 60, LONG: [LONG, "b"] * 60, "one": [1, 0, 1, 1] * 30, f"{LONG}2": [1, 1, 0, 0] * 30}
    return contest_page.dumps(eh.contest(table, label="y", sensitive=LONG, predictions=["one", f"{LONG}2"]))


def wide(shown) -> bool:
    return shown.tab.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@every_kind
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, axe, kind, scheme):
    shown = opened(page(kind), wait=False, color_scheme=scheme, bypass_csp=True)
    shown.tab.evaluate(axe)
    found = shown.tab.evaluate("axe.run()")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


@every_kind
def test_it_is_quiet_and_nothing_is_wider_than_the_screen(opened, kind):
    for width in (1280, 390):
        shown = opened(page(kind), width=width, wait=False)
        assert shown.quiet, (shown.errors, shown.requests)
        assert not wide(shown)


WIDE = "* { font-family: monospace !important; font-weight: bold !important; letter-spacing: 0.06em !important }"


@every_kind
@pytest.mark.parametrize("width", [1280, 390, 360, 320])
def test_with_a_wide_font_nothing_is_wider_than_the_screen(opened, kind, width):
    """The fonts of a phone are not known: these letters are wider than those of any font that is usual on one."""
    shown = opened(page(kind), width=width, wait=False, bypass_csp=True)
    shown.tab.add_style_tag(content=WIDE)
    assert not wide(shown)
    assert shown.tab.evaluate(
        """() => [...document.querySelectorAll(".number")].every((each) => each.getClientRects().length === 1)"""
    )


def test_a_name_is_broken_after_an_underscore(opened):
    """A narrow column breaks a name between its words."""
    table = {**contests.people(), "logistic_regression": contests.people()["old"]}
    roles = {"label": "label", "predictions": ["old", "logistic_regression"], "sensitive": "team"}
    shown = opened(contest_page.dumps(eh.contest(table, **roles)), width=390, wait=False)
    tops = """(word) => {
      const name = [...document.querySelectorAll(".contest-sides bdi")].find((each) => each.textContent.includes(word)),
        range = document.createRange(), node = [...name.childNodes].find((each) => (each.data || "").includes(word));
      range.setStart(node, node.data.indexOf(word));
      range.setEnd(node, node.data.indexOf(word) + word.length);
      return range.getClientRects().length;
    }"""
    assert [shown.tab.evaluate(tops, word) for word in ("logistic", "regression")] == [1, 1]


def test_long_names_are_broken(opened):
    for width in (1280, 390):
        assert not wide(opened(long_names(), width=width, wait=False))


@pytest.mark.parametrize("width", [1280, 390])
def test_no_text_is_smaller_than_12_pixels(opened, width):
    shown = opened(page("two"), width=width, wait=False)
    sizes = shown.tab.evaluate(
        """() => [...document.querySelectorAll("body *")]
        .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
    )
    assert min(sizes) >= 12


@pytest.mark.parametrize("width", [1280, 390])
def test_what_decides_is_on_the_first_screens(opened, width):
    """The verdict, the three sentences and the first card: within one screen, and within three of a phone."""
    shown = opened(page("two"), width=width, wait=False)
    box = shown.tab.locator(".card").first.bounding_box()
    assert box["y"] + box["height"] < (1000 if width == 1280 else 2000)


def test_numbers_stay_on_one_line(opened):
    for width, media in ((1280, "screen"), (390, "screen"), (740, "print")):  # the width of letter paper less margins
        shown = opened(page("two"), width=width, wait=False)
        shown.tab.emulate_media(media=media)
        heights = shown.tab.evaluate(
            """() => [...document.querySelectorAll(".number")].map((each) => each.getClientRects().length)"""
        )
        assert heights
        assert set(heights) == {1}
        assert not wide(shown)


def test_on_paper_a_heading_stands_above_its_table(opened, tmp_path):
    random = np.random.default_rng(5)
    race = random.choice(["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"], 3000)
    table = {**contests.people(), "race": race}
    roles = {"label": "label", "predictions": ["old", "new"], "sensitive": ["race", "team"]}
    shown = opened(contest_page.dumps(eh.contest(table, **roles)), wait=False)
    path = tmp_path / "printed.pdf"
    shown.tab.pdf(path=str(path), format="Letter", print_background=True)
    require("pdftotext", shutil.which("pdftotext") is not None, "apt-get install poppler-utils")
    text = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True).stdout
    for name in ("race", "team"):
        (sheet,) = (sheet for sheet in text.split("\f") if f"By {name}\n" in sheet)
        assert f"Who gained and who lost, by {name}" in sheet


def test_a_link_of_the_contents_leads_to_its_part(opened):
    shown = opened(page("two"), wait=False, reduced_motion="reduce")
    shown.tab.get_by_role("navigation", name="Contents").get_by_role("link", name="By age").click()
    shown.frame()
    box = shown.tab.get_by_role("heading", name="By age").bounding_box()
    assert 0 <= box["y"] < 900
