"""A name is only a name: hostile columns and groups in JSON, in text, and on the command line."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from evenhand.cli import run
from evenhand.report import json as report_json
from evenhand.report.text import audit
from support import hostile
from support.backends import FILES
from support.hostile import DECISION, GROUP, LABEL, as_column, as_group

group_or_column = pytest.mark.parametrize("column", [False, True], ids=["group", "column"])


@group_or_column
@hostile.every_name
def test_json_round_trips_and_is_plain(name, column):
    found = hostile.audited(name, column=column)
    written = report_json.dumps(found)
    assert written.isascii()
    assert hostile.unseen(written) == set()
    read = json.loads(written)
    assert {**read, "created": "", "sha256": ""} == {**found.to_dict(), "created": "", "sha256": ""}
    assert read["data"]["sensitive"] == [name if column else GROUP]
    if not column:
        assert [name] in [row.get("group") for row in read["findings"][0]["rows"]]


def test_json_of_half_a_character(tmp_path):
    found = hostile.audited("\ud83d", column=False)
    found.save(tmp_path / "x.json")
    read = json.loads((tmp_path / "x.json").read_text())
    assert ["\ud83d"] in [row.get("group") for row in read["findings"][0]["rows"]]


def on_a_terminal(found, width: int = 120) -> str:
    page = io.StringIO()
    audit.write(found, Console(file=page, force_terminal=True, color_system="truecolor", width=width, emoji=False))
    assert "\x1b[" in page.getvalue()
    assert "\x1b]" not in page.getvalue()
    return hostile.without_styles(page.getvalue())


@pytest.mark.parametrize("show", [audit.plain, on_a_terminal], ids=["plain", "terminal"])
@group_or_column
@hostile.every_name
def test_text_shows_a_name_and_does_nothing_else(name, column, show):
    shown = show(hostile.audited(name, column=column))
    assert hostile.unseen(shown) == set()
    if len(name) < 20 and not hostile.unseen(name) and name.split() == [name]:
        assert name in shown


@pytest.mark.parametrize("kind", ["rich-close", "rich-open", "rich-link", "rich-emoji"])
@group_or_column
def test_rich_markup_is_not_read(kind, column):
    name = hostile.NAMES[kind]
    assert name in on_a_terminal(hostile.audited(name, column=column), width=300)


@group_or_column
@hostile.every_name
def test_the_command_line_shows_only_names(name, column, tmp_path, capsys):
    path = FILES["csv"](as_column(name) if column else as_group(name), tmp_path)
    roles = [f"--label={LABEL}", f"--prediction={DECISION}", f"--sensitive={name if column else GROUP}"]
    roles += [f"--metric={metric}" for metric in hostile.METRICS]
    code = run(["audit", str(path), *roles])
    shown = capsys.readouterr()
    assert hostile.unseen(shown.out) == set()
    assert (code in (1, 3), shown.err) == (True, "")
    assert run(["audit", str(path), *roles, "--json"]) == code
    read = json.loads(capsys.readouterr().out)
    assert read["data"]["sensitive"] == [name if column else GROUP]


@hostile.every_name
def test_errors_on_the_command_line_show_only_names(name, tmp_path, capsys):
    path = FILES["csv"](as_column(name), tmp_path)
    common = [str(path), f"--label={LABEL}", f"--prediction={DECISION}"]
    for given in (
        [*common, f"--sensitive={name}x"],
        [*common, f"--sensitive={name}", f"--reference={name}x"],
        [*common, f"--sensitive={name}", f"--sensitive={LABEL}"],
        [*common, f"--sensitive={name}", f"--metric={name}"],
        [*common, f"--sensitive={name}", f"--threshold={name}=1"],
        [*common, f"--sensitive={name}", f"--bands={name}=1,2"],
        [*common, f"--sensitive={name}", "--missing=error"],
        [*common, f"--sensitive={name}", f"--positive={name}x"],
        [str(tmp_path / "no such file"), f"--sensitive={name}"],
        [str(tmp_path / "no such file"), f"--sensitive={name}", f"--output={name}"],
    ):
        assert run(["audit", *given]) == 2, given
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("evenhand: error: ")
        assert hostile.unseen(shown.err) == set()


@hostile.every_name
def test_the_reference_of_the_command_line(name, tmp_path, capsys):
    path = FILES["csv"](as_group(name), tmp_path)
    spelled = hostile.IN_CSV.get(name, name)
    roles = [f"--prediction={DECISION}", f"--sensitive={GROUP}", "--metric=demographic_parity", "--json"]
    assert run(["audit", str(path), *roles, f"--reference={GROUP}={spelled}"]) in (1, 3)
    assert json.loads(capsys.readouterr().out)["findings"][0]["settings"]["against"] == spelled
