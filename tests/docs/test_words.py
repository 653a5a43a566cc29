"""One word for one thing: retired words are in no option, table, heading or key, and the glossary knows each of them.

A retired word may stand in sentences about something else: the limits of what a metric sees, the decisions of people.
`ALLOWED` lists where it stands in a name all the same, each time with the reason.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from markdown_it import MarkdownIt

import evenhand as eh
from conftest import ROOT
from evenhand.catalogue import ALIASES, METRICS
from evenhand.core.results import Panel
from evenhand.report.forms import FORMS
from support import cards
from support.commands import COMMANDS, context

RETIRED = {
    "threshold": r"limits?|tolerances?|allowances?",
    "label": r"outcomes?|ground[ -]truths?|targets?",
    "prediction": r"decisions?",
    "cutoff": r"cut[ -]offs?|cut[ -]?points?",
    "stratum": r"(?:held|hold|holds|holding)(?: \w+)? fixed|mix(?:es)?",
    "group": r"subgroups?",
    "reference": r"baselines?|(?:un)?privileged|yardsticks?",
    "sensitive attribute": r"protected|sensitive features?|facets?",
    "ends": r"(?:upper|lower|confidence) (?:limits?|bounds?)|error bars?",
    "row": r"instances?",
    "interval": r"confidence intervals?",
}
"""What each word of the glossary has replaced."""

ALLOWED = {
    # what a metric cannot see, and what an audit must not be used for: nothing is tolerated there
    ("page", "Limits"): "the tab of what a reader must know",
    ("page", "Its limits"): "what a metric cannot see",
    ("heading", "Limits"): "a picture of that tab",
    (
        "option",
        "Find the metrics that fit, with the reasons, their limits and what they exclude.",
    ): "what they cannot see",
    (
        "key",
        "limits",
    ): "what a system is not for, as model cards and Annex IV of the AI Act have it; what a metric cannot see",
    # what people or models decided, in general prose: no column is called so
    ("option", "decision"): "the decisions of a process",
    ("option", "decisions"): "the decisions of a process",
    ("heading", "decisions"): "the decisions of a process",
    ("page", "Whose decision changed"): "about people: of whom something else is decided now",
    (
        "column",
        "decisions",
    ): "how few decisions turn the result: a number of people, as employment practice counts them",
    # the name of a test, by Gaebler and Goel (2025)
    ("heading", "The robust outcome test"): "its name in the literature",
    # names that are kept, because calls and files have them
    ("option", "ground truth"): "the former name of --label-known, hidden, still taken",
    ("column", "mean_outcome"): "the name of a measure in calls and files of every version; its title is 'mean label'",
    ("key", "ground truth"): "the former name of an argument",
    ("key", "outcome"): "the range of the label of a regressor in a cube; in the files of every version",
    ("key", "decisions"): "the table of label and prediction in a cube; in the files of every version",
}
"""Each use of a retired word that stays, and why: an entry is a whole text, or a word that may stand in each."""

WORDS = {term: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for term, pattern in RETIRED.items()}
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def retired(text: str) -> list[tuple[str, str]]:
    """The retired words in a text, each with the word in its place; names are read as words."""
    plain = re.sub(r"[_\s]+", " ", text)
    return [(found[0], term) for term, pattern in WORDS.items() for found in pattern.finditer(plain)]


def faults(where: str, texts: Iterator[str] | list[str]) -> list[str]:
    """What to rename: retired words that are not allowed there."""
    return [
        f"{text!r} has {word!r}: write {term!r}"
        for text in dict.fromkeys(texts)
        for word, term in retired(text)
        if (where, text) not in ALLOWED and (where, word.lower()) not in ALLOWED
    ]


# --- results of every kind


@cache
def audits() -> dict[str, Any]:
    """An audit of each kind: decisions, scores, strata, numbers, classes, and the policies of four laws."""
    rng = np.random.default_rng(0)
    group, region = rng.choice(["a", "b"], 600), rng.choice(["x", "y"], 600)
    amount = rng.normal(10, 2, 600)
    several = rng.choice(["low", "middle", "high"], 600)
    compas = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    people, berkeley = eh.datasets.compas(), eh.datasets.berkeley()
    admitted = {"prediction": "admitted", "count": "count", "sensitive": "gender"}
    numbers = {"label": amount + rng.normal(0, 1, 600), "prediction": amount, "sensitive": {"group": group}}
    return {
        "scores": eh.audit(people, **compas, metrics="all"),
        "decisions": eh.audit(berkeley, **admitted),
        "strata": eh.audit(berkeley, **admitted, control="department"),
        "numbers": eh.audit(**numbers, task="regression", metrics="all"),
        "classes": eh.audit(
            label=several, prediction=rng.permutation(several), sensitive={"group": group}, task="multiclass"
        ),
        "four-fifths": eh.audit(berkeley, **admitted, control="department", policy="four-fifths"),
        "regions": eh.audit(**numbers, control={"region": region}, task="regression"),
    }


@cache
def results() -> dict[str, Any]:
    """A result of each other kind."""
    people = eh.datasets.compas()
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    admitted = {"prediction": "admitted", "count": "count"}
    rng = np.random.default_rng(0)
    loans = {
        "sensitive": {"group": ["a", "a", "a", "b", "b", "b"]},
        "prediction": [1, 1, 0, 1, 1, 0],
        "label": [1, 0, None, 1, 0, None],
        "count": [2250, 250, 2500, 950, 50, 4000],
    }
    return {
        **{kind: cards.result(kind) for kind in cards.KINDS if kind != "Comparison"},
        "search": eh.search(people, **roles, within=["race", "sex", "age"], metric="fpr"),
        "explain": eh.explain(eh.datasets.berkeley(), **admitted, sensitive="gender", control="department"),
        "adverse impact": eh.adverse_impact(eh.datasets.berkeley(), **admitted, sensitive="gender"),
        "adverse impact within strata": eh.adverse_impact(
            eh.datasets.berkeley(), **admitted, sensitive="gender", control="department"
        ),
        "robust outcome test": eh.robust_outcome_test(**loans),
        "representation": eh.representation(
            people, sensitive="sex", count="count", benchmark={"Male": 0.5, "Female": 0.5}
        ),
        "consistency": eh.consistency(
            rng.normal(size=(60, 2)), prediction=rng.integers(0, 2, 60), sensitive={"g": ["a", "b"] * 30}
        ),
    }


def findings() -> Iterator[eh.Finding]:
    for audit in audits().values():
        yield from audit.findings
    yield from (result for result in results().values() if isinstance(result, eh.Finding))


def frames() -> Iterator[Any]:
    """Every table that a result hands out as a dataframe."""
    for result in (*audits().values(), *results().values()):
        if hasattr(result, "to_frame"):
            yield result.to_frame()
    for audit in audits().values():
        yield from (audit.summary(), audit.groups(), audit.by_group, audit.overall, audit.difference(), audit.ratio())
        yield audit.findings[0].to_frame()


def panels() -> Iterator[Panel]:
    for finding in findings():
        yield from finding.panels
    for result in results().values():
        yield from getattr(result, "panels", ())


# --- where the words stand


def options() -> Iterator[str]:
    for command in COMMANDS.values():
        yield from (line.strip() for line in re.split(r"\n\s*\n", command.help or ""))
        for parameter in command.params:
            name, words = parameter.get_help_record(context(command)) or (parameter.human_readable_name, "")
            yield from (name, words)


def columns() -> Iterator[str]:
    for frame in frames():
        yield from map(str, frame.columns)
    for panel in panels():
        yield from (panel.title, *map(str, panel.columns))


def headings() -> Iterator[str]:
    """Headings of pages and first lines of their tables; on the pages about other tools their words are theirs."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if {"migrating", "metrics"} & set(path.relative_to(ROOT).parts) or path.stem in ("glossary", "comparison"):
            continue
        tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
        for before, token in pairwise(tokens):
            if before.type in ("heading_open", "th_open"):
                yield re.sub(r"`[^`]*`", "", token.content).strip()


_SHOWN = ("h1", "h2", "h3", "h4", "th", "caption", "dt", "button", "label", "legend", "title")


def shown(html: str) -> Iterator[str]:
    """Headings, heads of tables, captions and what is pressed."""
    plain = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    for tag in _SHOWN:
        for match in re.finditer(rf"<{tag}\b[^>]*>(.*?)(?=</{tag}>|<t[dhr]\b|<d[dt]\b)", plain, re.DOTALL):
            yield " ".join(re.sub(r"<[^>]+>", " ", match[1]).split())
    for match in re.finditer(r'<a [^>]*href="#[^"]*"[^>]*>([^<]+)</a>', plain):
        yield match[1].strip()


@cache
def saved(suffix: str) -> tuple[str, ...]:
    """The results as files: audits, a trend and a contest."""
    texts = []
    with TemporaryDirectory() as folder:
        for result in (*audits().values(), results()["Trend"], results()["Contest"]):
            path = Path(folder) / f"result{suffix}"
            result.save(path)
            texts.append(path.read_text(encoding="utf-8"))
    return tuple(texts)


def page_texts() -> list[str]:
    return [text for html in saved(".html") for text in shown(html)]


def keys(record: Any) -> Iterator[str]:
    if isinstance(record, dict):
        for name, value in record.items():
            yield name
            yield from keys(value)
    elif isinstance(record, list | tuple):
        for value in record:
            yield from keys(value)


# --- the tests


def test_the_test_finds_a_retired_word():
    assert retired("lower_limit") == [("limit", "threshold"), ("lower limit", "ends")]
    assert faults("column", ["limit", "value"]) == ["'limit' has 'limit': write 'threshold'"]


@pytest.mark.parametrize("term", RETIRED)
def test_the_glossary_has_each_word_and_knows_what_it_replaced(term):
    """Who looks for a word of another tool finds it below the word that is used here."""
    [entry] = re.findall(rf"^### {term}\b[^\n]*\n(.*?)(?=^##|\Z)", GLOSSARY, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    assert WORDS[term].search(entry.partition("Also called:")[2]), entry


ENTRIES = dict(re.findall(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", GLOSSARY, re.MULTILINE | re.DOTALL))


def test_an_entry_of_the_glossary_has_a_meaning_and_a_link():
    assert len(ENTRIES) >= 70
    for term, entry in ENTRIES.items():
        assert "Also called: " in entry, term
        assert re.search(r"\]\([\w/.#-]+\)", entry), term
        assert 5 <= len(entry.partition("Also called")[0].split()) <= 60, term


def test_the_list_at_the_top_of_the_glossary_has_every_entry_in_the_order_of_the_alphabet():
    listed = [" ".join(term.split()) for term in re.findall(r"\[([^\]]+)\]\(#", GLOSSARY.partition("\n## ")[0])]
    assert listed == sorted(ENTRIES, key=lambda term: re.sub(r"[^a-z0-9 ]", "", term.lower()))


def also_called(entry: str) -> list[str]:
    """The words of others for it, without the link behind them."""
    words = re.sub(r"\[[^\]]*\]\([^)]*\)", "", entry.partition("Also called: ")[2])
    return [" ".join(word.split()).strip(".").lower() for word in re.split(r"[,;]|\. ", words) if word.strip()]


def test_one_word_for_one_thing():
    """A word of others leads to one entry, and a word that has an entry stands for nothing else."""
    leads = [word for entry in ENTRIES.values() for word in also_called(entry)]
    assert sorted({word for word in leads if leads.count(word) > 1}) == []
    terms = {re.sub(r" \(.*|`", "", term).lower() for term in ENTRIES}
    assert sorted(terms & set(leads)) == []


def test_options_and_their_help():
    assert faults("option", options()) == []


def test_columns_of_tables():
    assert faults("column", columns()) == []


def test_headings_of_the_documentation():
    assert faults("heading", headings()) == []


def test_the_page():
    assert len(page_texts()) > 200
    assert faults("page", page_texts()) == []


def test_tables_in_a_terminal_and_in_markdown():
    heads = []
    for text in saved(".md"):
        tables = re.findall(r"^(\|.*\|)\n\|[ :|-]+\|$", text, re.MULTILINE)
        heads += [cell.strip() for line in tables for cell in line.split("|")]
        heads += re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    for audit in audits().values():
        heads += [line for line in str(audit.details()).splitlines() if line.startswith(("metric", "group", " metric"))]
    assert len(heads) > 30
    assert faults("column", heads) == []


def test_keys_of_saved_files():
    schema = json.loads((ROOT / "src" / "evenhand" / "report" / "schema.json").read_text(encoding="utf-8"))
    found = [name for part in schema["$defs"].values() for name in part.get("properties", {})]
    found += [name for text in saved(".json") for name in keys(json.loads(text))]
    for result in results().values():
        if hasattr(result, "to_dict"):
            found += keys(result.to_dict())
    assert len(set(found)) > 100
    assert faults("key", found) == []


def test_sentences_and_notes():
    """What is tolerated is the threshold, and strata are never held fixed; other words may be about something else."""
    said = [text for finding in findings() for text in (finding.interpretation, *finding.notes)]
    said += [note for audit in audits().values() for note in audit.notes]
    words = re.compile(
        rf"\b(?:{RETIRED['cutoff']}|{RETIRED['stratum']}|{RETIRED['ends']}|tolerances?|subgroups?)\b", re.I
    )
    assert [text for text in said if words.search(text)] == []


UNMISTAKABLE = re.compile(
    r"\b(?:cut[ -]offs?|cut[ -]?points?|(?:lower|upper|confidence) limits?|confidence (?:bounds?|intervals?)"
    r"|error bars?|(?:held|hold|holds|holding)(?: \w+)? fixed|tolerances?|subgroups?|yardsticks?|ground[ -]truths?"
    r"|sensitive features?|protected attributes?|(?:new|which|honest) limits?|outcomes?(?! test))\b",
    re.IGNORECASE,
)
"""Retired words that mean nothing else, so that no sentence needs them; an outcome test is the name of a test."""
OTHERS_WORDS = {"migrating/", "glossary.md", "comparison.md"}
"""Pages where the words of other tools are explained."""


def prose(path: Path) -> Iterator[str]:
    """The sentences and tables of a page, without code, addresses, and names of papers."""
    for token in MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8")):
        if token.type == "inline":
            plain = re.sub(r"`[^`]*`|\]\([^)]*\)|\*[^*]+\*", "", token.content)
            yield "" if re.search(r"\(\d{4}\)\. ", plain) else " ".join(plain.split())


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_pages(path):
    where = path.relative_to(ROOT / "docs").as_posix()
    if not any(where.startswith(other) for other in OTHERS_WORDS):
        assert [text for text in prose(path) if UNMISTAKABLE.search(text)] == []


_SAID = ("title", "question", "formula", "compares", "when", "assumes", "limits")


def test_what_the_catalogue_says():
    """The texts of metrics are on the page, in the help of the command line and in the documentation."""
    for metric in METRICS.values():
        said = [getattr(metric, name) for name in _SAID]
        assert [text for text in said if UNMISTAKABLE.search(text)] == [], metric.name


def test_what_the_reference_says():
    """The docstrings of public names, without the parameters that have such a name and the metrics, which are above."""
    found = []
    for name in set(eh.__all__) - set(METRICS) - set(ALIASES):
        thing = getattr(eh, name)
        members = [thing, *(vars(thing).values() if isinstance(thing, type) else ())]
        for each in members:
            text = (inspect.getdoc(each) or "") if callable(each) or isinstance(each, property) else ""
            plain = re.sub(r"`[^`]*`|[Aa]lso accepted as:[^.]*\.|^>>>.*$", "", text, flags=re.MULTILINE)
            found += [(name, line) for line in plain.splitlines() if UNMISTAKABLE.search(line)]
    named_so = ("InvariantPredictor", "Change")  # `outcome` is a parameter of the one, and a field of the other
    assert [line for line in found if line[0] not in named_so] == []


@pytest.mark.parametrize("form", FORMS)
def test_forms(form, tmp_path):
    """A form has the words of the law or of the standard it is for; what is tolerated is the threshold there too."""
    law = "nyc-ll144" if form == "ll144" else "four-fifths"
    roles = {"prediction": "admitted", "count": "count", "sensitive": "gender"}
    eh.audit(eh.datasets.berkeley(), **roles, policy=law).save(tmp_path / "form.html", form=form)
    heads = {text.lower() for text in shown((tmp_path / "form.html").read_text(encoding="utf-8"))}
    assert len(heads) > 5
    assert not {"limit", "tolerance", "outcome", "target", "subgroup", "cut-off", "baseline"} & heads


def test_each_exception_is_needed():
    """An exception that nothing needs any more would let the word back in."""
    texts = {"option": [*options()], "heading": [*headings()], "page": page_texts(), "column": [*columns()]}
    for where, entry in ALLOWED:
        plain = [re.sub(r"[_\s]+", " ", text).lower() for text in texts.get(where, ())]
        words = entry.replace("_", " ").lower()
        assert where == "key" or any(words in text for text in plain), (where, entry)
