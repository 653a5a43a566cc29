"""Cards for notebooks: small, escaped, the words and numbers of the result, and short reprs beside them."""

from __future__ import annotations

import html
import inspect
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import evenhand as eh
from evenhand.core.cards import Carded
from evenhand.report import cards as makers
from evenhand.report.cards.card import MOST_ROWS, MOST_SENTENCES, Sentence, Word, make
from support import cards, hostile, pages

every_kind = pytest.mark.parametrize("kind", cards.KINDS)

MOST_BYTES = 30_000


class Tags(HTMLParser):
    """The elements and the words of a text, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.handlers |= {name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")}

    def handle_data(self, data):
        self.words += data


def words(text: str) -> str:
    """What a reader sees of a card."""
    plain = re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(plain).split())


@every_kind
def test_every_result_has_a_card(kind):
    result = cards.result(kind)
    shown = result._repr_html_()
    assert type(result).__name__ == kind
    assert isinstance(result, Carded)
    assert shown.startswith('<div class="evenhand-card">')
    assert len(shown.encode()) < MOST_BYTES
    assert words(shown).startswith(kind)
    assert Tags(shown).tags <= {
        *[
            "div",
            "b",
            "p",
            "span",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "style",
            "code",
            "svg",
            "rect",
            "path",
            "circle",
        ]
    }


def test_each_maker_is_of_a_class_and_each_class_has_one():
    assert set(cards.KINDS) == set(makers.MAKERS)
    for kind in cards.KINDS:
        cards.result(kind)  # which imports its class
    assert {each.__name__ for each in _subclasses(Carded)} - {"Accessors"} == set(makers.MAKERS)


def _subclasses(kind: type) -> set[type]:
    return {kind for each in kind.__subclasses__() for kind in (each, *_subclasses(each))}


@every_kind
def test_a_verdict_is_a_word_on_its_colour(kind):
    card = makers.card(cards.result(kind))
    verdict = getattr(cards.result(kind), "verdict", None)
    if verdict is not None:
        assert card.word == Word(verdict, verdict)
        assert f'eh-{verdict.replace(" ", "-")}">{verdict}<' in cards.result(kind)._repr_html_()
    assert card.calls


def test_an_audit_tells_its_deciding_findings():
    audit = cards.result("Audit")
    shown = words(audit._repr_html_())
    for finding in (audit["equalized_odds", "race"], audit["equalized_odds", "sex"]):
        assert finding.interpretation in shown
    assert "opens the full report" in shown
    assert '.save("audit.html")' in shown


def test_what_is_left_out_is_counted():
    shown = makers.card(cards.result("Finding"))
    groups = {row.group for row in cards.result("Finding").groups}
    assert shown.more == f"and {len(groups) - MOST_ROWS} more groups"
    rows = [[str(i)] for i in range(10)]
    long = make("Audit", "x" * 1000, (), rows=rows, columns=["n"])
    assert len(long.rows) == MOST_ROWS
    assert long.more == "and 6 more rows"
    assert len(long.title) < 200
    assert make("Audit", "", (), rows=rows[:5], columns=["n"], noun=("group", "groups")).more == "and 1 more group"


def test_sentences_leave_room_for_the_table():
    told = [Sentence("word " * 60) for _ in range(3)]
    assert len(make("Audit", "", (), sentences=told).sentences) == 3
    crowded = make("Audit", "", (), sentences=told, columns=["n"], rows=[["1"]] * 9)
    assert len(crowded.sentences) == 1
    assert crowded.more == "and 5 more rows and 2 more sentences"


def test_what_is_left_out_of_the_verdict_is_said_first():
    shared = pages.compas().shared(100)
    assert shared.left_out
    assert makers.card(shared).sentences[0].lead == "Left out:"
    assert shared.left_out[0] in makers.card(shared).sentences[0].text


def test_the_largest_audit_stays_small():
    rng = np.random.default_rng(0)
    names = [f"group {'x' * 300} {i}" for i in range(200)]
    people = {name: rng.choice(names, 20_000) for name in ("one", "two", "three")}
    audit = eh.audit(prediction=rng.integers(0, 2, 20_000), sensitive=people, intersections=False)
    for result in (audit, *audit.findings):
        assert len(result._repr_html_().encode()) < MOST_BYTES
        assert len(makers.card(result).sentences) <= MOST_SENTENCES


@pytest.mark.parametrize("column", [False, True])
@hostile.every_name
def test_names_are_text(name, column):
    audit = hostile.audited(name, column=column)
    usual = Tags(cards.result("Audit")._repr_html_()).tags
    for result in (audit, *audit.findings):
        shown = Tags(result._repr_html_())
        assert shown.tags <= usual
        assert not shown.handlers
        assert not hostile.unseen(shown.words) - {"\u200d"}
        assert hostile.unseen(repr(result)) == set()
        assert hostile.unseen(repr(result.rows) if hasattr(result, "rows") else "") == set()


def test_findings_of_every_kind_have_cards():
    """Bins, classes, strata, indices without groups, one person, nobody labelled, weights of 0."""
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "b", "c"], 300), rng.integers(0, 2, 300)
    score = rng.random(300).round(2)
    audits = [
        eh.audit(label=label, score=score, cutoff=0.5, sensitive={"g": group}),
        eh.audit(label=group, prediction=rng.choice(["a", "b"], 300), sensitive={"g": label}, task="multiclass"),
        eh.audit(label=score, prediction=score[::-1], sensitive={"g": group}, task="regression"),
        eh.audit(prediction=label, sensitive={"g": group}, control={"s": label}),
        eh.audit(prediction=[1, 0, 1], sensitive={"g": ["a", "b", "b"]}),
        eh.audit(label=[None] * 4, prediction=[1, 0, 1, 0], sensitive={"g": list("aabb")}),
        eh.audit(prediction=label, sensitive={"g": group}, weight=np.where(group == "a", 0.0, 1e6)),
        eh.audit(prediction=[1] * 300, sensitive={"g": group}, reference="a"),
    ]
    for audit in audits:
        for result in (audit, *audit.findings):
            shown = result._repr_html_()
            assert len(shown.encode()) < MOST_BYTES
            assert not re.search(r"\bnan\b|None", words(shown)), words(shown)


def test_a_loaded_audit_has_the_same_card(tmp_path):
    audit = cards.result("Audit")
    audit.save(tmp_path / "a.json")
    loaded = eh.Audit.load(tmp_path / "a.json")
    assert loaded._repr_html_() == audit._repr_html_()
    assert loaded["equalized_odds", "race"]._repr_html_() == audit["equalized_odds", "race"]._repr_html_()


# --- short reprs


def parts(kind: str) -> list:
    """A result and what it holds."""
    result = cards.result(kind)
    found = [] if kind == "Audit" else [result]
    for name, _ in inspect.getmembers(type(result)):
        if name in ("sensitivity", "evidence", "summary") and not callable(getattr(result, name)):
            found.append(getattr(result, name))
    for name in ("policy", "cube", "rows", "panels", "changes", "series", "contenders", "rules", "metrics", "groups"):
        held = getattr(result, name, ())
        values = held.values() if hasattr(held, "values") and not callable(held.values) else held
        found += list(values) if isinstance(values, (tuple, list)) else [held] if hasattr(held, "__slots__") else []
    found += [point for each in getattr(result, "series", ()) for point in each.points]
    return found


@every_kind
def test_a_repr_is_a_line_or_two(kind):
    for each in parts(kind):
        assert len(repr(each)) < 320, repr(each)
        assert "\n" not in repr(each)


def test_what_reprs_say():
    assert repr(eh.Policy()) == "Policy()"
    judged = eh.Policy(required="four_fifths", confidence=0.9)
    assert repr(judged) == "Policy(required=('four_fifths',), confidence=0.9)"
    row = cards.result("Finding").rows[0]
    assert repr(row) == ("<Row true_positive_rate of African-American: value 0.7201 [0.6922, 0.7469], n = 1,901>")
    assert repr(cards.result("Changes")).startswith("<Changes: inconclusive; 36 findings compared")
    assert repr(cards.result("Contest")) == "<Contest: fail; new against old, 2,000 people>"
