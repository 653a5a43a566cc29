"""Cards in a real browser: lower than 300 pixels, readable in the light and in the dark, quiet."""

from __future__ import annotations

import json

import pytest

import evenhand as eh
from support import cards, hostile

every_kind = pytest.mark.parametrize("kind", cards.KINDS)
every_scheme = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])

MOST_PIXELS = 300


@every_kind
@pytest.mark.parametrize("width", [1000, 760])
def test_a_card_is_lower_than_300_pixels_and_shows_everything(kind, width, opened):
    shown = opened(cards.in_notebook(cards.result(kind)._repr_html_()), width=width, wait=False)
    card = shown.tab.locator(".evenhand-card")
    assert card.bounding_box()["height"] < MOST_PIXELS
    hidden = card.evaluate("(each) => each.scrollHeight - each.clientHeight")
    assert hidden <= (0 if width == 1000 else 120)
    assert shown.quiet


@every_kind
def test_a_narrow_card_scrolls(kind, opened):
    shown = opened(cards.in_notebook(cards.result(kind)._repr_html_()), width=360, wait=False)
    assert shown.tab.locator(".evenhand-card").bounding_box()["height"] < MOST_PIXELS
    assert shown.tab.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


@every_scheme
def test_cards_are_accessible(dark, opened, axe):
    page = cards.in_notebook(*(cards.result(kind)._repr_html_() for kind in cards.KINDS), dark=dark)
    shown = opened(page, wait=False)
    shown.tab.add_script_tag(content=axe)
    violations = shown.tab.evaluate("() => axe.run(document).then((found) => found.violations)")
    serious = [
        {"id": each["id"], "where": [node["html"] for node in each["nodes"][:3]]}
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == [], json.dumps(serious, indent=1)


def test_names_run_nothing(opened):
    names = ("script", "image", "entity", "long", "rtl-override")
    audits = [hostile.audited(hostile.NAMES[name], column=column) for name in names for column in (False, True)]
    page = cards.in_notebook(*(each._repr_html_() for audit in audits for each in (audit, audit.findings[0])))
    shown = opened(page, wait=False)
    assert shown.quiet
    assert shown.tab.locator("img, script").count() == 0
    heights = shown.tab.locator(".evenhand-card").evaluate_all("(all) => all.map((each) => each.offsetHeight)")
    assert len(heights) == 20
    assert max(heights) < MOST_PIXELS


def test_many_findings_that_decide_fit(opened):
    policy = eh.Policy(on="all", required=("equalized_odds", "predictive_parity", "calibration"))
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    audit = eh.audit(eh.datasets.compas(), **roles, policy=policy)
    assert len(audit.summary()) == 9
    shown = opened(cards.in_notebook(audit._repr_html_()), width=1000, wait=False)
    card = shown.tab.locator(".evenhand-card")
    assert card.evaluate("(each) => each.scrollHeight - each.clientHeight") <= 0
    assert "5 more findings that decide" in card.inner_text()
