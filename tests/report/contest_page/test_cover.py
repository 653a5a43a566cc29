"""The first screen of a contest's page: who changed, by how much, how surely, against what limit, what is open."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

import pytest

import evenhand as eh
from evenhand.report import contest_page
from evenhand.report.contest_page import cover
from support import contests, hostile
from support.profiles import each_of

every_kind = pytest.mark.parametrize("kind", list(contests.KINDS))


@cache
def page(kind: str) -> str:
    return contest_page.dumps(contests.KINDS[kind]())


def answers(kind: str, model: int = 0) -> dict[str, str]:
    """The three sentences, by their questions."""
    sentences = cover.covers(contests.KINDS[kind]())[model].sentences
    return {question: sentence.replace("\u00a0", " ") for question, sentence in sentences}


def test_the_title_names_models_and_attributes():
    assert cover.title(contests.two()) == "new against old, by team and age"
    assert cover.title(contests.three()) == "new, third against old, by team"
    known = dict(cover.facts(contests.two(), "2026-11-18T12:34:56+00:00"))
    assert known == {
        "Compared with": "old",
        "Model": "new",
        "People": "3,000, the same for every model",
        "Groups": "team (3), age (2)",
        "Label": "label = 1",
        "Date": "2026-11-18 12:34 UTC",
    }


def test_the_first_screen_answers():
    contest = contests.two()
    said, change = answers("two"), contest.changes["new"]
    everyone = next(each for each in change.flips if not each.group and each.label is None)
    flips = f"{everyone.gained + everyone.lost:,} of 3,000 decisions changed: {everyone.gained:,} gained"
    assert said["Whose decision changed"].startswith(flips)
    assert "more people gained than lost among south" in said["Whose decision changed"]
    decisive = [gap for gap in change.gaps.changes if gap.required]
    assert any(gap.interpretation in said["What was found"] for gap in decisive)
    assert "The threshold is at most 10 points; " in said["What was found"]
    assert "Accuracy: better." in said["What was found"]
    assert re.search("Open is|nothing is open", said["What is open"])
    assert [card.on for card in cover.covers(contest)[0].cards] != []


def test_what_is_open_is_what_no_interval_settles():
    said = answers("few people")["What is open"]
    assert "whether groups moved apart or together on equalized odds (sensitive)" in said
    assert "and whether two is within the threshold on equalized odds (sensitive)" in said
    assert "nothing is judged" in answers("nothing decides")["What is open"]
    assert "whether groups moved" not in answers("the same")["What is open"]


def test_the_change_that_is_surest_comes_first():
    for kind in ("two", "reference"):
        (found,) = cover.covers(contests.KINDS[kind]())
        settled = [card.way in ("better", "worse") for card in found.cards]
        assert settled == sorted(settled, reverse=True)
        assert f"{found.cards[0].on}: {found.cards[0].way}." in found.sentences[1][1]


def test_limits_are_said_of_both_models():
    (found,) = cover.covers(contests.against_a_reference())
    signed = [card for card in found.cards if "±" in card.limit]
    assert signed
    for card in found.cards:
        assert card.limit == ("threshold ±10 points" if card in signed else "threshold ≥ 0.8")
        assert len(card.limits_at) == (2 if card in signed else 1)  # a gap with a sign has a threshold on both sides
        assert len(card.sides) == 2


def test_an_axis_of_values_begins_at_0_unless_a_value_is_below():
    for kind in contests.KINDS:
        for found in cover.covers(contests.KINDS[kind]()):
            for card in found.cards:
                low, high = map(float, card.axis)
                assert low <= 0 < high
                assert "-0" not in card.axis
                values = [float(text) for text in re.findall(r"-?[\d.]+", card.values)]
                assert all(low - 1e-9 <= value <= high + 1e-9 for value in values)


def test_three_models_have_a_cover_each():
    assert [found.title for found in cover.covers(contests.three())] == ["new against old", "third against old"]
    for link in ("model-1-by-1", "model-2-by-1"):
        assert f'href="#{link}"' in page("three")
        assert f'id="{link}"' in page("three")


# --- the page as a file


@every_kind
def test_every_link_leads_somewhere(kind):
    links = re.findall(r'<a href="#([^"]+)"', page(kind))
    assert {"verdict", "method"} <= set(links)
    assert all(page(kind).count(f'id="{link}"') == 1 for link in links)


@every_kind
def test_nothing_may_run_or_be_fetched(kind):
    (style,) = re.findall("<style>(.*?)</style>", page(kind), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy.replace(chr(39), "&#39;")}">' in page(kind)
    assert not re.search(r'<script|\sstyle="|\son\w+="|src=|https?:|<link', page(kind).replace(style, ""))
    assert "url(" not in style


@every_kind
def test_every_table_has_a_caption_and_every_cell_a_heading(kind):
    tables = re.findall("<table.*?</table>", page(kind), re.DOTALL)
    assert tables
    for table in tables:
        assert "<caption" in table
        heads = re.findall("<th(.*?)>", table.replace("<thead", "<head"))
        assert all("scope=" in head for head in heads)


@each_of("name", hostile.NAMES, handful=6)
@pytest.mark.parametrize("as_what", ["group", "model", "attribute"])
def test_hostile_names_are_only_names(name, as_what):
    group, model, attribute = (name if as_what == each else each for each in ("group", "model", "attribute"))
    table = {"y": [1, 0] * 40, attribute: [group, "b"] * 40, "one": [1, 0, 1, 1] * 20, model: [1, 1, 0, 0] * 20}
    shown = contest_page.dumps(eh.contest(table, label="y", sensitive=attribute, predictions=["one", model]))
    assert not re.search(r"<script|<img|<b>", shown)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", shown)
