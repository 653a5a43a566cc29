"""The table of figures on the page "What we test" is that of today."""

from __future__ import annotations

import fuzz_figures
from fuzz import suite


def test_the_page_has_the_figures_of_today():
    assert fuzz_figures.PAGE.read_text(encoding="utf-8") == fuzz_figures.page(), "run: make stubs"


def test_every_class_of_cases_is_in_the_table():
    assert set(suite.figures()) == set(fuzz_figures.ROWS)
