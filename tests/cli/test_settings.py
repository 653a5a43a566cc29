"""The command line with less to type: columns and commands to copy, settings files, lists, titles, periods."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.cli.help import EXAMPLES
from support import hostile
from support.commands import COMMANDS

ROWS = [
    (i % 2, i % 3 % 2, 1 + i % 2, "ab"[i // 2 % 2], f"2026-{1 + i % 12:02}-05", round(i % 10 / 10, 1))
    for i in range(480)
]
PEOPLE = "repaid,approved,sex,race,date,risk\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_without_roles_the_columns_are_shown_and_the_commands_run(people: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["audit", "people.csv"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "sex       two values  1, 2" in shown.err
    commands = [shlex.split(line) for line in shown.err.splitlines() if line.startswith("  evenhand audit")]
    assert 1 <= len(commands) <= 3
    assert commands[0][3:] == ["--label", "repaid", "--prediction", "approved", "--sensitive", "race,sex"]
    for command in commands:
        assert run([*command[1:], "-q"]) in (0, 1, 3)


@pytest.mark.parametrize("roles", [["--sensitive", "race"], ["--prediction", "approved"]])
@pytest.mark.parametrize("command", [["audit"], ["cube", "-o", "x.cube"], ["watch", "--by", "date"]])
def test_a_missing_role_points_to_the_columns(
    command: list[str], roles: list[str], people: Path, capsys: pytest.CaptureFixture[str]
):
    assert run([*command, "people.csv", *roles]) == 2
    assert "Columns of people.csv" in capsys.readouterr().err


def test_names_and_values_of_columns_are_harmless(people: Path, capsys: pytest.CaptureFixture[str]):
    for name in list(hostile.NAMES.values())[:12]:
        eh_table = {name: ["x", name] * 3, "race": list("ababab"), "approved": [0, 1] * 3}
        text = "\n".join(
            json.dumps(dict(zip(eh_table, row, strict=True))) for row in zip(*eh_table.values(), strict=True)
        )
        people.with_name("x.jsonl").write_text(text + "\n", encoding="utf-8", errors="replace")
        assert run(["audit", "x.jsonl"]) == 2
        assert "\x1b" not in capsys.readouterr().err


def test_a_settings_file_beside_the_data_is_used_and_named(people: Path, capsys: pytest.CaptureFixture[str]):
    table = '[data]\nlabel = "repaid"\nprediction = "approved"\nsensitive = "race,sex"\n'
    people.with_name("evenhand.toml").write_text('required = ["demographic_parity"]\n' + table, encoding="utf-8")
    assert run(["audit", "people.csv", "-o", "a.json"]) in (0, 1, 3)
    shown = capsys.readouterr()
    assert "From evenhand.toml: what decides and [data]." in shown.err
    saved = json.loads(people.with_name("a.json").read_text(encoding="utf-8"))
    assert saved["settings"] == "evenhand.toml"
    assert saved["required"] == ["demographic_parity"]
    assert saved["data"]["sensitive"] == ["race", "sex"]
    assert run(["audit", "people.csv", "--sensitive", "sex", "-o", "b.json", "-q"]) in (0, 1, 3)
    assert eh.Audit.load("b.json").meaning.sensitive == ("sex",)
    assert run(["cube", "people.csv", "-o", "x.cube"]) == 0
    assert run(["audit", "x.cube", "-o", "c.json", "-q"]) in (0, 1, 3)
    assert eh.Audit.load("c.json").required == ("demographic_parity",)
    assert run(["watch", "people.csv", "--by", "date", "--every", "month", "-q"]) in (0, 1)


def test_a_named_policy_is_used_in_place_of_a_found_one(people: Path):
    people.with_name("evenhand.toml").write_text('required = ["demographic_parity"]\n', encoding="utf-8")
    table = '[data]\nlabel = "repaid"\nprediction = "approved"\nsensitive = "race"\n'
    people.with_name("mine.toml").write_text(f'required = ["equal_opportunity"]\n{table}', encoding="utf-8")
    assert run(["audit", "people.csv", "--policy", "mine.toml", "-o", "a.json", "-q"]) in (0, 1, 3)
    assert eh.Audit.load("a.json").required == ("equal_opportunity",)
    people.with_name("evenhand.toml").write_text(table, encoding="utf-8")
    assert run(["audit", "people.csv", "--policy", "four-fifths", "-o", "b.json", "-q"]) in (0, 1, 3)
    assert eh.Audit.load("b.json").required == ("disparate_impact",)
    assert eh.Audit.load("b.json").meaning.label == "repaid"


def test_a_wrong_settings_file_ends_the_command(people: Path, capsys: pytest.CaptureFixture[str]):
    people.with_name("evenhand.toml").write_text('[data]\nsensitve = "race"\n', encoding="utf-8")
    assert run(["audit", "people.csv", "--prediction", "approved", "--sensitive", "race"]) == 2
    assert "did you mean 'sensitive'" in capsys.readouterr().err


ROLES = ["--label", "repaid", "--prediction", "approved"]


def test_a_list_of_columns_and_a_column_with_a_comma(people: Path):
    assert run(["audit", "people.csv", *ROLES, "--sensitive", "race,sex", "-q", "-o", "a.json"]) in (0, 1, 3)
    assert eh.Audit.load("a.json").meaning.sensitive == ("race", "sex")
    people.write_text(PEOPLE.replace("sex,race", 'sex,"race,sex"', 1), encoding="utf-8")
    assert run(["audit", "people.csv", *ROLES, "--sensitive", "race,sex", "-q", "-o", "b.json"]) in (0, 1, 3)
    assert eh.Audit.load("b.json").meaning.sensitive == ("race,sex",)


def test_filters_names_and_headings(people: Path, capsys: pytest.CaptureFixture[str]):
    people.with_name("codes.toml").write_text('[sex]\n1 = "male"\n2 = "female"\n', encoding="utf-8")
    options = ["--sensitive", "sex", "--labels", "codes.toml", "--where", "risk >= 0.5", "--reference", "1"]
    heading = ["--title", "<b>Title</b> \x1b[31m", "--note", "[a](http://b) | *c*"]
    outputs = [part for name in ("a.json", "a.html", "a.md") for part in ("-o", name)]
    assert run(["audit", "people.csv", *ROLES, *options, *heading, *outputs]) in (0, 1, 3)
    shown = capsys.readouterr().out
    assert shown.startswith("<b>Title</b>")
    assert "\x1b" not in shown
    saved = eh.Audit.load("a.json")
    assert saved.cover.title.startswith("<b>Title</b>")
    assert saved.cube.groups == (("female",), ("male",))
    assert saved.cube.size == 240
    page = people.with_name("a.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Title" in page
    assert "<b>Title" not in page
    text = people.with_name("a.md").read_text(encoding="utf-8")
    assert "`[a](http://b`)" in text
    assert run(["report", "a.json"]) == 0
    assert capsys.readouterr().out.startswith("<b>Title</b>")


def test_diff_writes_markdown_that_says_better_or_worse(people: Path, capsys: pytest.CaptureFixture[str]):
    for name, column in (("a.json", "approved"), ("b.json", "repaid")):
        roles = ["--label", "repaid", "--prediction", column, "--sensitive", "sex"]
        roles[1] = "repaid" if column == "approved" else "approved"
        run(["audit", "people.csv", *roles, "-q", "-o", name])
    assert run(["diff", "a.json", "b.json", "-o", "d.md", "-o", "d.json"]) in (0, 1, 3)
    text = people.with_name("d.md").read_text(encoding="utf-8")
    assert text.startswith("# Change: ")
    assert any(words in text for words in ("Worse", "Better", "Neither better nor worse"))
    assert "| metric | before | after |" in text
    assert json.loads(people.with_name("d.json").read_text(encoding="utf-8"))["format"] == "evenhand-diff"
    assert "better" in capsys.readouterr().out.lower()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_groups_and_an_example(name: str, capsys: pytest.CaptureFixture[str]):
    assert run([*name.split()[1:], "--help"]) == 0
    page = capsys.readouterr().out
    assert f"Example:\n  {EXAMPLES[name]}\n" in page
    assert EXAMPLES[name].startswith(name if name != "evenhand" else "evenhand audit")
    if name in ("evenhand audit", "evenhand watch", "evenhand contest"):
        assert [title for title in ("Data:", "What is measured:", "Judging:", "Output:") if title not in page] == []


def test_every_option_of_an_example_exists():
    for name, example in EXAMPLES.items():
        command = COMMANDS[" ".join(example.split()[: len(name.split())]) if name != "evenhand" else "evenhand audit"]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        used = {word for word in shlex.split(example) if word.startswith("-")}
        assert used <= known, name


def test_a_shell_is_told_the_words_that_may_follow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for name, value in {
        "_EVENHAND_COMPLETE": "bash_complete",
        "COMP_WORDS": "evenhand audit --sens",
        "COMP_CWORD": "2",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["evenhand"])  # and not those of the tests
    assert run() == 0
    assert "--sensitive" in capsys.readouterr().out


def test_a_contest_takes_the_roles_of_its_policy_and_a_list_of_columns(people: Path):
    people.with_name("mine.toml").write_text('[data]\nlabel = "repaid"\nsensitive = "race"\n', encoding="utf-8")
    people.write_text(PEOPLE.replace("risk", "other", 1).replace("0.5", "1").replace(",0.", ",0"), encoding="utf-8")
    models = ["contest", "people.csv", "--prediction", "approved", "--prediction", "sex", "--positive", "1"]
    assert run([*models, "--policy", "mine.toml", "-q"]) in (0, 1, 3)
    options = ["--label", "repaid", "--sensitive", "race,date", "--reference", "race=a", "--no-intersections"]
    assert run([*models, *options, "-q"]) in (0, 1, 3)
