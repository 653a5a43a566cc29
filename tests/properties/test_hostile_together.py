"""Every hostile name at once, as a group and as a column: each output is tried with all of them in both profiles.

The tests that take one name after the other look closer; in the fast profile they take a handful.
"""

from __future__ import annotations

import io
import json
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import evenhand as eh
from evenhand import Cube
from evenhand.cli import run
from evenhand.report import json as report_json
from evenhand.report import junit, markdown
from evenhand.report import page as html
from evenhand.report.text import audit as text
from support import hostile
from support.backends import FILES
from support.hostile import DECISION, GROUP, LABEL

NAMES = tuple(hostile.NAMES.values())
OF_COLUMNS = (*NAMES, *hostile.OF_COLUMNS.values())
HARMLESS = tuple(f"harmless {i:03}" for i in range(len(NAMES)))
IN_FILES = tuple(hostile.NAMES.values())
METRICS = ("equalized_odds", "demographic_parity", "theil_index")
# No more than some thirty attributes can be combined in one cube, so the columns come in three parts.
groups_and_columns = pytest.mark.parametrize(
    ("names", "column"),
    [(NAMES, False), *((OF_COLUMNS[i::3], True) for i in range(3))],
    ids=["groups", *(f"columns-{i}" for i in range(3))],
)


def as_groups(names: tuple[str, ...]) -> dict[str, list]:
    """A table in which each name is a group of eight people."""
    return {
        GROUP: [name for name in names for _ in range(8)],
        LABEL: [1, 0, 1, 0, 1, 0, 1, 0] * len(names),
        DECISION: [1, 0, 0, 0, 1, 1, 0, 0] * (len(names) // 2) + [1, 1, 1, 1, 0, 0, 1, 0] * -(-len(names) // 2),
    }


def as_columns(names: tuple[str, ...]) -> dict[str, list]:
    """A table in which each name is a column of the same two groups."""
    return {
        **{name: ["some people", "other people"] * 20 for name in names},
        LABEL: [1, 0, 0, 1] * 10,
        DECISION: [1, 1, 1, 0] * 10,
    }


@cache
def audited(names: tuple[str, ...], *, column: bool) -> eh.Audit:
    table = as_columns(names) if column else as_groups(names)
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": list(names) if column else [GROUP]}
    return eh.audit(table, **roles, metrics=METRICS, intersections=False)


def seen(audit: eh.Audit, *, column: bool) -> set[str]:
    """The names that the findings hold."""
    if column:
        return {finding.attributes[0] for finding in audit.findings}
    return {row.group[0] for row in audit.findings[0].groups}


@groups_and_columns
def test_findings_hold_every_name(names, column):
    assert seen(audited(names, column=column), column=column) == set(names)


@groups_and_columns
def test_text_shows_names_and_does_nothing_else(names, column):
    found = audited(names, column=column)
    assert hostile.unseen(text.plain(found)) == set()
    page = io.StringIO()
    text.write(found, Console(file=page, force_terminal=True, color_system="truecolor", width=120, emoji=False))
    assert "\x1b]" not in page.getvalue()
    assert hostile.unseen(hostile.without_styles(page.getvalue())) == set()


@groups_and_columns
def test_json_is_plain_and_comes_back(names, column, tmp_path):
    found = audited(names, column=column)
    written = report_json.dumps(found)
    assert written.isascii()
    assert hostile.unseen(written) == set()
    assert {**json.loads(written), "created": "", "sha256": ""} == {**found.to_dict(), "created": "", "sha256": ""}
    found.save(tmp_path / "audit.json")
    assert seen(eh.Audit.load(tmp_path / "audit.json"), column=column) == set(names)


@groups_and_columns
def test_markdown_reads_names_as_text(names, column):
    written = markdown.dumps(audited(names, column=column))
    assert hostile.unseen(written) == set()
    tokens = MarkdownIt("gfm-like", {"html": True}).parse(written)
    parts = {part.type for token in tokens for part in token.children or ()}
    assert parts <= {"text", "text_special", "code_inline", "strong_open", "strong_close"}


@groups_and_columns
def test_junit_is_xml_with_names_in_it(names, column):
    root = ElementTree.fromstring(junit.dumps(audited(names, column=column)).encode("utf-8"))
    words = "".join(root.itertext()) + " ".join(value for part in root.iter() for value in part.attrib.values())
    assert hostile.unseen(words) == set()


class Tags(HTMLParser):
    """Every element of a page with the names of its attributes, in their order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(name for name, _ in attrs)))


@groups_and_columns
def test_a_page_has_the_elements_of_a_page_with_harmless_names(names, column):
    pages = [Tags(html.dumps(audited(each, column=column))).found for each in (names, HARMLESS[: len(names)])]
    assert pages[0] == pages[1]


@groups_and_columns
def test_a_saved_cube_keeps_every_name(names, column, tmp_path):
    cube = audited(names, column=column).cube
    cube.save(tmp_path / "x.cube")
    assert Cube.load(tmp_path / "x.cube") == cube


@pytest.mark.parametrize("backend", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("part", range(3))
def test_files_hold_every_column(backend, part, tmp_path):
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": list(IN_FILES[part::3])}
    data = FILES[backend](as_columns(IN_FILES), tmp_path)
    assert Cube.count(data, **roles) == Cube.count(as_columns(IN_FILES), **roles)


@groups_and_columns
def test_the_command_line_shows_only_names(names, column, tmp_path, capsys):
    names = tuple(name for name in names if name in IN_FILES)
    path = FILES["csv"](as_columns(names) if column else as_groups(names), tmp_path)
    call = ["audit", str(path), f"--label={LABEL}", f"--prediction={DECISION}", "--no-intersections"]
    call += [f"--metric={metric}" for metric in METRICS]
    call += [f"--sensitive={name}" for name in (names if column else [GROUP])]
    assert run(call) in (0, 1, 3)
    out, err = capsys.readouterr()
    assert hostile.unseen(out) == set()
    assert err == ""


def test_a_diff_and_a_trend_show_only_names():
    found = audited(NAMES, column=False)
    assert hostile.unseen(str(eh.diff(found, audited(HARMLESS, column=False)))) == set()
    periods = dict.fromkeys(name for name in NAMES if name)
    trend = eh.trend(dict.fromkeys(periods, found.cube), metrics="demographic_parity")
    assert hostile.unseen(str(trend)) == set()
