"""Every number that a page shows at the audited cutoff stands in the JSON that Python writes of the same audit."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import evenhand as eh
from evenhand.report import json as form
from evenhand.report import page as html
from support import pages

# The text that is in sight, without axes, menus and controls.
READ = """() => {
  const away = ".tick, .axis, .head, select, button, output, .bar, #method, #about, .forced, noscript, dt";
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), told = [];
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (node.data.trim() && parent.checkVisibility() && !parent.closest(away)) told.push(node.data);
  }
  return told;
}"""
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
SKIPPED = {"0", "1", "95", "100", "0.001"}  # no gap, ends of a scale, the confidence, the least p that is written


def numbers(value: Any) -> Iterator[float]:
    """Every number in plain data, those in sentences too."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield float(value)
    elif isinstance(value, str):
        yield from (float(each.replace(",", "")) for each in NUMBER.findall(value.replace("\u00a0", " ")))
    else:
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)


class Known:
    """The numbers of a JSON file; a rounded one is known where one of them rounds to it, as it is or in percent."""

    def __init__(self, audit: eh.Audit) -> None:
        told = {**json.loads(form.dumps(audit)), "cube": None, "parts": None}
        every = {scale * abs(number) for number in numbers(told) for scale in (1, 100)}
        self.sorted = sorted(every)

    def __contains__(self, text: str) -> bool:
        plain = text.replace(",", "").lstrip("-")
        value, digits = float(plain), len(plain.partition(".")[2].partition("e")[0])
        half = 0.5 * 10**-digits + 1e-9 if "e" not in plain else abs(value) * 10**-digits
        i = bisect.bisect_left(self.sorted, value - half)
        return i < len(self.sorted) and self.sorted[i] <= value + half


@pytest.mark.parametrize("kind", list(pages.KINDS))
def test_every_number_of_a_page_is_in_its_json(opened, kind):
    audit = pages.KINDS[kind]()
    shown, known, seen = opened(html.dumps(audit)), Known(audit), 0
    radios = shown.tab.locator("input[name=attribute]").count()
    for tab in shown.tabs():
        for i in range(max(radios, 1) if tab in ("groups", "metrics", "intersections") else 1):
            if radios:
                shown.tab.evaluate("(i) => document.querySelectorAll('input[name=attribute]')[i].click()", i)
                shown.frame()
            for text in shown.tab.evaluate(READ):
                tokens = [each for each in NUMBER.findall(text.replace("\u00a0", " ")) if each not in SKIPPED]
                missing = [each for each in tokens if each not in known]
                assert not missing, (tab, i, missing, text)
                seen += len(tokens)
    assert seen > 20 or not audit.findings
    assert shown.quiet, shown.errors


def test_a_number_that_is_not_there_is_noticed():
    known = Known(pages.compas())
    assert "44.8" in known
    assert "7,214" in known
    assert "44.87654" not in known
    assert "987,654" not in known
