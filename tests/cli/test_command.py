"""What holds for every option of every command: one value, within limits, and errors that name the option."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from pathlib import Path

import click
import pytest

from evenhand.cli import run
from evenhand.cli.numbers import Number, Whole
from support.commands import COMMANDS

ROLES = {"--prediction": "d", "--sensitive": "g"}
BASE: dict[str, tuple[list[str], dict[str, str]]] = {
    "audit": (["people.csv"], ROLES | {"--label": "y"}),
    "contest": (
        ["people.csv", "--score", "s"],
        {"--score": "p_1", "--cutoff": "0.5", "--label": "y", "--sensitive": "g"},
    ),
    "correspondence": (["people.csv"], ROLES | {"--unit": "u", "--run": "y"}),
    "counterfactual": (
        ["people.csv"],
        {"--sensitive": "g", "--graph": "g.dot", "--prediction-function": "even_model:predict", "--refits": "3"},
    ),
    "cube": (["people.csv"], ROLES | {"--output": "o.cube"}),
    "demo": ([], {}),
    "diff": (["saved.json", "saved.json"], {}),
    "explain": (["people.csv"], ROLES | {"--control": "y"}),
    "guide": ([], {"--priority": "selection"}),
    "impact": (["people.csv"], ROLES),
    "individual": (["people.csv"], ROLES | {"--features": "x", "--score": "s"}),
    "metrics": ([], {}),
    "mitigate": (
        ["people.csv"],
        {"--method": "thresholds", "--label": "y", "--sensitive": "g", "--score": "s", "--cutoff": "0.5"},
    ),
    "policy init": (["new.toml"], {}),
    "policy show": (["four-fifths"], {}),
    "proxies": (["people.csv"], {"--sensitive": "g", "--features": "x,s"}),
    "replicate": (
        ["people.csv"],
        {"--label": "y", "--sensitive": "g", "--feature": "x", "--n-replicas": "3", "--n-jobs": "1"},
    ),
    "report": (["saved.json"], {}),
    "representation": (["people.csv"], {"--benchmark": "g=shares.csv", "--label": "y"}),
    "schema": ([], {}),
    "search": (["people.csv"], {"--within": "g", "--prediction": "d", "--least": "10", "--draws": "19"}),
    "serve": (["page.html"], {}),
    "stability": (["people.csv"], {"--label": "y", "--sensitive": "g", "--replicas-columns": "p_*"}),
    "verify": (["form.html"], {"--cube": "saved.json"}),
    "watch": (["saved.cube"], {}),
}
HUGE = "9" * 400
HOSTILE = ["nan", HUGE, "x=1,0", "\x1b[Kx", "\udcff", "a\0b", "-"]
PYTHON = re.compile(r"(?<![\w'\"<>!-])[A-Za-z_]+=(?!NUMBER|VALUE)|\{'|\[\d|=True|=False")


def options(kind=click.Option) -> list[tuple[str, click.Option]]:
    """Every option of every command that takes a value."""
    return [
        (name, parameter)
        for name in BASE
        for parameter in COMMANDS[f"evenhand {name}"].params
        if isinstance(parameter, kind) and not parameter.is_flag
    ]


def called(name: str, *more: str, without: str = "") -> list[str]:
    """A call of a command that is right but for what is added."""
    files, usual = BASE[name]
    return [*name.split(), *files, *(part for pair in usual.items() if pair[0] != without for part in pair), *more]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("options")
    with contextlib.chdir(made):
        lines = [f"{'AB'[i % 2]},{i},{i // 3 % 2},{i // 2 % 2},0.{i % 9},0.5,0.{i % 7},{i // 2}" for i in range(80)]
        Path("people.csv").write_text("g,x,y,d,s,p_0,p_1,u\n" + "\n".join(lines) + "\n")
        Path("shares.csv").write_text("value,share\nA,0.5\nB,0.5\n")
        Path("even_model.py").write_text("def predict(table):\n    return [1] * len(table)\n")
        Path("g.dot").write_text("digraph { g -> x }")
        made_by = ["people.csv", "--prediction", "d", "--sensitive", "g", "-q"]
        run(["audit", *made_by, "-o", "saved.json", "-o", "page.html"])
        run(["cube", *made_by, "-o", "saved.cube"])
        run(["report", "saved.json", "--form", "nist", "-o", "form.html"])
    return made


@pytest.fixture
def folder(files, tmp_path, monkeypatch) -> Path:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_every_command_is_tried():
    assert {f"evenhand {name}" for name in BASE} == {
        name for name, command in COMMANDS.items() if not isinstance(command, click.Group)
    }


@pytest.mark.parametrize("name", BASE)
def test_a_hostile_value_is_an_answer_or_one_sentence(name, folder, capsys):
    for option in (each for command, each in options() if command == name):
        long = max(option.opts, key=len)
        for value in HOSTILE:
            given = [long, value, "1"] if option.nargs == 2 else [f"{long}={value}"]
            if (name, value) == ("serve", "-"):
                continue
            code = run(called(name, *given, without=long))
            out, err = capsys.readouterr()
            assert code in (0, 1, 2, 3), (given, err)
            assert "\x1b" not in out + err, given
            if code == 2:
                said = err.replace(value, "").strip().splitlines()
                assert len(said) <= 4, err  # with two lines of how it is used, and an empty one
                assert not PYTHON.search(said[-1]), (given, err)


def test_every_number_has_limits():
    untyped = [
        (name, option.name)
        for name, option in options()
        if option.type.name in ("integer", "float") and not isinstance(option.type, (Whole, Number))
    ]
    assert untyped == []


@pytest.mark.parametrize("name", BASE)
def test_a_number_that_cannot_be_is_refused_by_the_name_of_its_option(name, folder, capsys):
    for option in (each for command, each in options() if command == name):
        if not isinstance(option.type, (Whole, Number)):
            continue
        long = max(option.opts, key=len)
        wrong = ["nan", "inf", "-inf", "1e400", HUGE, f"-{HUGE}", "x", "0x10"]
        if isinstance(option.type, Whole):
            wrong += ["0.5", "10000000000000000000"]
            wrong += [str(option.type.least - 1), str(option.type.most + 1)]
            wrong += ["0"] if option.type.but_zero else []
        for value in wrong:
            given = [long, value, "1"] if option.nargs == 2 else [f"{long}={value}"]
            assert run(called(name, *given, without=long)) == 2, given
            err = capsys.readouterr().err.splitlines()[-1]
            assert err.startswith(f"Error: Invalid value for '{long}'") or f"'{long}'" in err, err
            assert len(err) < 250


@pytest.mark.parametrize(
    ("name", "given", "option"),
    [
        ("replicate", ["--n-jobs", "0"], "--n-jobs"),
        ("counterfactual", ["--jobs", "0"], "--jobs"),
        ("counterfactual", ["--jobs", "1000"], "--jobs"),
        ("counterfactual", ["--refits", "10000000000"], "--refits"),
        ("audit", ["--random-state", "-1"], "--random-state"),
        ("audit", ["--threshold", "demographic_parity=nan"], "--threshold"),
        ("audit", ["--bands", "g=nan,1"], "--bands"),
        ("mitigate", ["--gain", "TP=inf"], "--gain"),
        ("individual", ["--weight", "x=inf"], "--weight"),
        ("audit", ["--share", "--smallest-cell", "99999"], "--smallest-cell"),
        ("audit", ["--confidence", "1.5"], "--confidence"),
        ("audit", ["--guide", "everything"], "--guide"),
        ("mitigate", ["--within", "-1"], "--within"),
        ("individual", ["--k", "0"], "--k"),
        ("stability", ["--cutoff", "7"], "--cutoff"),
        ("policy init", ["--from", "nothing"], "--from"),
    ],
)
def test_what_was_wrong_before(name, given, option, folder, capsys):
    assert run(called(name, *given, without=given[-2])) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert option in err
    assert not PYTHON.search(err), err


@pytest.mark.parametrize("name", BASE)
def test_an_option_is_given_once_and_is_not_empty(name, folder, capsys):
    for option in (each for command, each in options() if command == name):
        long = max(option.opts, key=len)
        if not option.multiple:
            pair = [long, "1", "2"] if option.nargs == 2 else [long, "1"]
            assert run(called(name, *pair, *pair, without=long)) == 2
            assert f"{long} is given 2 times: give it once." in capsys.readouterr().err
        if option.name not in ("na", "reference", "positive", "positive_label", "positive_prediction"):
            empty = [long, "", ""] if option.nargs == 2 else [long, ""]
            assert run(called(name, *empty, without=long)) == 2
            assert f"{long} is empty" in capsys.readouterr().err


def test_other_things_that_are_said_twice(folder, capsys):
    for given, message in (
        (
            ["--threshold", "demographic_parity=0.1", "--threshold", "demographic_parity=0.9"],
            "'demographic_parity' twice",
        ),
        (["--bands", "x=0,1", "--bands", "x=0,9"], "'x' twice"),
        (["--reference", "g=A", "--reference", "g=B"], "'g' twice"),
        (["--intersections", "--no-intersections"], "--intersections is given 2 times"),
    ):
        assert run(called("audit", *given)) == 2
        assert message in capsys.readouterr().err
    assert run(called("audit", "-q", "-q")) in (0, 1, 3)


@pytest.mark.parametrize("name", [name for name in BASE if BASE[name][0]])
@pytest.mark.parametrize("value", ["", "-", "a\0b", "\x1b[31m", "no/such", ".", "~nobody/x", "[", "9" * 5000])
def test_a_hostile_argument(name, value, folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    files, _ = BASE[name]
    call = called(name)
    call[call.index(files[0])] = value
    fine = name == "policy init" and value in ("\x1b[31m", "[")  # names that a new file may have
    assert run(call) == (0 if fine else 2)
    out, err = capsys.readouterr()
    assert (out, "\x1b" in err) == ("", False)
    assert fine or err.startswith(("evenhand: error: ", "Usage: "))


def test_words_of_the_command_line():
    command = COMMANDS["evenhand counterfactual"]
    assert command.in_options("random_state=-1 is wrong, n_jobs=0 too; say cutoff=, or flip=True.") == (
        "--random-state -1 is wrong, --jobs 0 too; say --cutoff, or --flip."
    )
    for names in (
        "'cutoff=3' is a name, my_cutoff=3 is another",
        "'a cutoff=3', \"it's cutoff=\"",
        r"'it\'s cutoff=1'",
    ):
        assert command.in_options(names) == names
    assert command.in_options("the model's cutoff='a cutoff=1'") == "the model's --cutoff 'a cutoff=1'"
    assert COMMANDS["evenhand audit"].in_options("intersections=False") == "--no-intersections"


@pytest.mark.parametrize("more", [[], ["-o", "x.md"]])
def test_no_cube_is_for_what_carries_counts(more, folder, capsys):
    assert run(["demo", "--no-cube", *more]) == 2
    assert "--no-cube is for what carries the counts: add --json, or -o with .html or .json." in capsys.readouterr().err
    assert run(["demo", "--no-cube", "-o", "x.html"]) == 0
    err = capsys.readouterr().err
    assert "with the results, of small groups too" in err
    assert "full counts" not in err


VERBS = re.compile(
    "(Allow|Also|Ask|Build|Call|Change|Choose|Combine|Compare|Compute|Correct|Count|Cut|Decide|Draw|Fit|Give|Hold|Judge|"
    "Keep|Learn|Leave|Let|Load|Make|Maximise|Measure|Name|Only|Predict|Print|Read|Replace|Save|Say|Scale|Search|Serve|"
    "Set|Share|Show|Start|Take|Tell|Tolerate|Treat|Use|Watch|Where|With|Write)\\b"
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_an_option_is_a_sentence(command):
    """It says what the option does, with a verb first: "Take what happened from this column.", not "Column of ..."."""
    helps = {option.name: option.help for option in COMMANDS[command].params if isinstance(option, click.Option)}
    fragments = [text for text in helps.values() if text and not VERBS.match(text)]
    assert fragments == []
    assert all(text.endswith((".", "...")) for text in helps.values() if text)
