"""How the program ends: 0 and 1 follow only from a verdict, or from a command that is listed here."""

from __future__ import annotations

import ast
import contextlib
import gc
import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest

import evenhand as eh
from evenhand import cli
from evenhand.cli import run
from evenhand.cli.command import Command
from support.commands import COMMANDS as NOW

FUNCTIONS = {
    name.removeprefix("evenhand "): command.callback
    for name, command in NOW.items()
    if not isinstance(command, click.Group)
}

# Every way in which a command returns. A verdict is computed; "done" is for commands that judge nothing.
RETURNS = {
    "audit": [
        "show(made_here(found, files or database_source(options), settings=settings, cover=heading(options)), …)"
    ],
    "contest": ["found.verdict"],
    "correspondence": ["verdict"],
    "counterfactual": ["show(made_here(audit, files), …)"],
    "cube": ["'done'"],
    "demo": ["'done'"],
    "diff": ["changes.verdict"],
    "explain": ["'done'"],
    "guide": ["'done'", "'done'"],
    "impact": ["show(found, …)"],
    "individual": ["verdict"],
    "metrics": ["'done'"],
    "mitigate": ["'done'"],
    "policy init": ["'done'"],
    "policy show": ["'done'"],
    "proxies": ["'done'"],
    "replicate": ["show_stability(result, files, {**options, 'output': output})"],
    "report": ["'done'", "'done'"],
    "representation": ["show(found, …)"],
    "schema": ["'done'"],
    "search": ["verdict"],
    "serve": ["'done'"],
    "stability": ["show_stability(result, files, {**options, 'output': output})"],
    "verify": ["'done'", "'fail'"],
    "watch": ["show(audit, …)"],
}
# And every way in which `run` returns.
RUN_RETURNS = [
    "code", "WRONG", "CRASHED if _stopped(error) else WRONG", "INTERRUPTED", "error.exit_code", "EXIT_CODES['done']",
    "WRONG", "CRASHED", "shell_complete(program, {}, 'evenhand', COMPLETION, os.environ[COMPLETION])",
]  # fmt: skip


def returned(function) -> list[str]:
    """What a function returns, in order, with the keywords of calls left out."""
    found = []
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            value = node.value
            assert value is not None, function
            if isinstance(value, ast.Call) and value.keywords:
                parts = [ast.unparse(part) for part in value.args]
                found.append(f"{ast.unparse(value.func)}({', '.join([*parts, '…'])})")
            else:
                found.append(ast.unparse(value))
    return found


def test_every_way_to_return_is_listed():
    assert {name: returned(function) for name, function in FUNCTIONS.items()} == RETURNS
    assert sorted(returned(run)) == sorted(RUN_RETURNS)
    assert returned(cli.main) == []


def test_only_listed_words_are_0_or_1():
    assert {word: code for word, code in cli.EXIT_CODES.items() if code in (0, 1)} == {
        "pass": 0, "not judged": 0, "done": 0, "fail": 1,
    }  # fmt: skip
    assert {cli.WRONG, cli.CRASHED, cli.INTERRUPTED}.isdisjoint({0, 1})


def test_no_other_place_ends_the_program():
    """Nothing in the package leaves by itself, and only `run` turns a word into a number."""
    folder = Path(eh.__file__).parent
    leaving, numbered = [], []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.unparse(node) if isinstance(node, (ast.Call, ast.Raise, ast.Subscript)) else ""
            place = path.relative_to(folder).as_posix()
            if text.startswith(("sys.exit(", "os._exit(", "exit(", "quit(", "raise SystemExit", "raise click.exc")) or (
                isinstance(node, ast.Call) and text.endswith((".exit()", ".abort()"))
            ):
                leaving.append(place)
            if text.startswith("EXIT_CODES["):
                numbered.append(place)
    assert leaving == ["cli/__init__.py"]
    assert numbered == ["cli/__init__.py"] * 2


def test_every_command_ends_by_the_same_rules():
    assert all(isinstance(command, (Command, click.Group)) for command in NOW.values())


@pytest.mark.parametrize("word", [None, 0, 1, False, True, "", "passed", 0.0, (), []])
def test_what_is_not_an_ending_is_a_crash(word, monkeypatch, capsys):
    monkeypatch.setattr(NOW["evenhand schema"], "callback", lambda: word)
    assert run(["schema"]) == 70
    assert "internal error" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "code"), cli.EXIT_CODES.items())
def test_every_ending_has_its_code(word, code, monkeypatch):
    monkeypatch.setattr(NOW["evenhand schema"], "callback", lambda: word)
    assert run(["schema"]) == code


# --- each of them, by a call

ROLES = ["--prediction", "d", "--sensitive", "g", "--count", "n"]
JUDGED = [
    *("audit", "contest", "correspondence", "counterfactual", "diff", "individual", "replicate", "stability", "watch"),
    *("impact", "representation", "search"),
]


def people(*, worse: bool) -> list[tuple]:
    """Group, feature, label, prediction and two replicas; if `worse`, B has noise, and replicas that disagree."""
    rows = []
    for number, group in enumerate("AB"):
        for x in range(300):
            odd = worse and group == "B"
            prediction = (x * 7919) // 13 % 2 if odd else int(x < 150)
            other = 1 - prediction if odd else prediction
            rows.append((group, x, (x + number) % 2, prediction, 0.1 + 0.8 * prediction, 0.1 + 0.8 * other))
    return rows


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Files for every command: people who are treated alike (even) and not (uneven)."""
    made = tmp_path_factory.mktemp("endings")
    with contextlib.chdir(made):
        _make_files()
    return made


@pytest.fixture
def folder(files, tmp_path, monkeypatch) -> Path:
    """A copy of the files, in the current folder."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def _make_files() -> None:
    for name, rates in (("even", (500, 500)), ("uneven", (500, 250))):
        lines = [f"{g},1,{k}\n{g},0,{1000 - k}" for g, k in zip("AB", rates, strict=True)]
        Path(f"{name}.csv").write_text("g,d,n\n" + "\n".join(lines) + "\n")
        run(["audit", f"{name}.csv", *ROLES, "-q", "-o", f"{name}.json", "-o", f"{name}.html"])
        run(["cube", f"{name}.csv", *ROLES, "-q", "-o", f"{name}.cube"])
        models = [f"{g},1,{int(g == 'A' or name == 'even')},500\n{g},0,0,500" for g in "AB"]
        Path(f"models-{name}.csv").write_text("g,d,e,n\n" + "\n".join(models) + "\n")
        share = rates[1] / 1000
        Path(f"shares-{name}.csv").write_text(f"value,share\nA,{1 - share}\nB,{share}\n")
        rows = people(worse=name == "uneven")
        lines = [",".join(map(str, row)) for row in rows]
        answers = [f"{unit},{group},{int(group == 'A' or name == 'even')}" for unit in range(600) for group in "AB"]
        Path(f"answers-{name}.csv").write_text("u,g,d\n" + "\n".join(answers) + "\n")
        Path(f"people-{name}.csv").write_text("g,x,y,p,p_0,p_1\n" + "\n".join(lines) + "\n")
    Path("even_model.py").write_text("def predict(table):\n    return [1] * len(table)\n")
    Path("uneven_model.py").write_text("def predict(table):\n    return [int(g == 'A') for g in table['g']]\n")


def judged(name: str, which: str) -> list[str]:
    people = ["people-" + which + ".csv", "--sensitive", "g"]
    return {
        "audit": ["audit", f"{which}.csv", *ROLES],
        "contest": ["contest", f"models-{which}.csv", *ROLES, "--prediction", "e"],
        "correspondence": ["correspondence", f"answers-{which}.csv", "--unit", "u", *ROLES[:4]],
        "counterfactual": ["counterfactual", *people, "--flip", "--prediction-function", f"{which}_model:predict"],
        "diff": ["diff", "even.json", f"{which}.json"],
        "impact": ["impact", f"{which}.csv", *ROLES],
        "individual": ["individual", *people, "--features", "x", "--prediction", "p", "--k", "4"],
        "replicate": ["replicate", *people, "--label", "y", "--n-replicas", "4", "--n-jobs", "1", "--feature", "x"],
        "representation": [
            *("representation", "even.csv", *ROLES[2:]),
            *("--benchmark", f"g=shares-{which}.csv", "--threshold", "0.8"),
        ],
        "search": ["search", f"{which}.csv", *ROLES[:2], *ROLES[4:], "--within", "g"],
        "stability": ["stability", *people, "--replicas-columns", "p_*"],
        "watch": ["watch", f"{which}.cube", "--metric", "demographic_parity"],
    }[name]


@pytest.mark.parametrize("name", JUDGED)
def test_commands_that_judge_end_with_their_verdict(name, folder, capsys):
    codes = {}
    for which in ("even", "uneven"):
        codes[which] = run(judged(name, which))
        shown = capsys.readouterr()
        assert shown.err == ""
        assert shown.out
        codes[which, "json"] = run([*judged(name, which), "--json"])
        verdict = json.loads(capsys.readouterr().out)["verdict"]
        assert codes[which] == codes[which, "json"] == cli.EXIT_CODES[verdict]
    if name not in ("replicate", "stability"):
        assert (codes["even"], codes["uneven"]) == (0, 1)


@pytest.mark.parametrize(
    "call",
    [
        ["cube", "uneven.csv", *ROLES, "-o", "x.cube"],
        ["demo"],
        ["guide", "--tree"],
        ["guide", "--no-label-known", "--priority", "selection"],
        ["metrics"],
        ["mitigate", "people-uneven.csv", "--method", "reweigh", "--label", "y", "--sensitive", "g"],
        ["policy", "init", "x.toml"],
        ["policy", "show", "four-fifths"],
        ["report", "uneven.json"],
        ["schema"],
        ["--help"],
        ["--version"],
        *([*name.split()[1:], "--help"] for name in NOW),
    ],
    ids=" ".join,
)
def test_commands_that_judge_nothing_end_with_0(call, folder, capsys):
    assert run(call) == 0
    shown = capsys.readouterr()
    assert shown.out or "wrote x.toml" in shown.err


def test_the_list_above_is_complete():
    done = {name for name, ways in RETURNS.items() if "'done'" in ways}
    assert done | set(JUDGED) == set(RETURNS)
    assert done.isdisjoint(JUDGED)


# --- what a model may do

ESCAPES = {
    "exit": "import sys; sys.exit()",
    "exit 0": "raise SystemExit(0)",
    "exit 1": "raise SystemExit(1)",
    "exit text": "raise SystemExit('bye')",
    "broken pipe": "raise BrokenPipeError(32, 'Broken pipe')",
    "generator": "raise GeneratorExit",
    "click exit": "import click; raise click.exceptions.Exit(0)",
    "click exit 1": "import click; raise click.exceptions.Exit(1)",
    "click abort": "import click; raise click.Abort",
    "cancelled": "import asyncio; raise asyncio.CancelledError",
    "own": "class Odd(BaseException): pass\n    raise Odd",
    "unprintable": "class Odd(Exception):\n        def __str__(self): raise SystemExit(0)\n    raise Odd",
    "interrupt": "raise KeyboardInterrupt",
    "error": "raise RuntimeError('no')",
    "no memory": "raise MemoryError",
    "stop": "raise StopIteration",
    "closed": "import sys; sys.stdout.close(); raise ValueError",
}


def program(*arguments: str, **options) -> subprocess.CompletedProcess:
    given = {"capture_output": True, "timeout": 120} | options
    return subprocess.run([sys.executable, "-m", "evenhand", *arguments], check=False, **given)


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("where", ["predict", "import"])
def test_a_model_cannot_leave_with_a_verdict(escape, where, folder, capsys):
    indent = "    " if where == "predict" else ""
    body = ESCAPES[escape] if where == "predict" else textwrap.dedent(f"if True:\n    {ESCAPES[escape]}")
    head = "def predict(table):\n" if where == "predict" else ""
    name = f"escape_{where}_{list(ESCAPES).index(escape)}"
    Path(f"{name}.py").write_text(f"{head}{indent}{body}\n")
    call = [
        "counterfactual",
        "people-even.csv",
        "--sensitive",
        "g",
        "--flip",
        "--prediction-function",
        f"{name}:predict",
    ]
    if escape == "closed":
        found = program(*call)
        assert (found.returncode in (2, 70), found.stdout) == (True, b"")
        return
    stops = ("exit", "broken pipe", "generator", "cancelled", "own", "no memory")
    expected = 130 if escape == "interrupt" else 70 if escape.startswith(stops) else 2
    assert run(call) == expected
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip().startswith("evenhand: ")
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("escape", "jobs"),
    [("exit 0", "1"), ("broken pipe", "1"), ("generator", "1"), ("exit 0", "2"), ("broken pipe", "2"), ("die", "2")],
)
def test_an_estimator_cannot_leave_with_a_verdict(escape, jobs, folder):
    act = "import os; os._exit(0)" if escape == "die" else ESCAPES[escape]
    Path("odd_model.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        f"class Odd(LogisticRegression):\n    def fit(self, X, y):\n        {act}\n"
    )
    call = ["replicate", "people-even.csv", "--label", "y", "--sensitive", "g", "--n-replicas", "4", "--n-jobs", jobs]
    found = program(*call, "--estimator", "odd_model:Odd", env={**os.environ, "PYTHONPATH": _path(folder)})
    assert found.returncode in (2, 70), found.stderr
    assert found.stdout == b""
    assert b"evenhand: " in found.stderr


def _path(folder: Path) -> str:
    return os.pathsep.join([str(folder), *filter(None, sys.path)])


@pytest.mark.parametrize(
    "late",
    [
        "import atexit; atexit.register(lambda: sys.exit(0))",
        "import atexit; atexit.register(lambda: 1 / 0)",
        "class Late:\n    def __del__(self): sys.exit(0)\nkept = Late()",
        "import threading; threading.Thread(target=sys.exit).start()",
        "import threading; threading.Thread(target=lambda: 1 / 0).start()",
        "sys.exit = lambda *_: None",
        "import builtins; builtins.exit = sys.exit = print",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)",
    ],
)
def test_what_a_model_leaves_behind_changes_no_verdict(late, folder):
    Path("late.py").write_text(
        f"import sys\n{late}\ndef predict(table):\n    return [int(g == 'A') for g in table['g']]\n"
    )
    found = program(*judged("counterfactual", "uneven")[:-1], "late:predict")
    assert found.returncode == 1, found.stderr
    assert found.stdout.startswith(b"Verdict: fail")


# --- who reads


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "call", [["audit", "nothing.csv", *ROLES], ["nonsense"], ["audit", "uneven.csv", "--nonsense"]]
)
def test_errors_that_nobody_can_read(call, folder):
    with open("/dev/full", "wb") as full:
        assert program(*call, capture_output=False, stdout=subprocess.PIPE, stderr=full).returncode == 2
    read, write = os.pipe()
    os.close(read)
    assert program(*call, capture_output=False, stdout=subprocess.PIPE, stderr=write).returncode == 2
    os.close(write)
    closed = program(*call, preexec_fn=lambda: os.close(2))
    assert (closed.returncode, closed.stdout) == (2, b"")


@pytest.mark.parametrize("more", [[], ["--json"], ["-o", "x.html"]])
def test_a_reader_who_has_left_changes_no_verdict(more, folder):
    for stream in ("stdout", "stderr"):
        read, write = os.pipe()
        os.close(read)
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: write}
        assert program("audit", "uneven.csv", *ROLES, *more, capture_output=False, **given).returncode == 1
        os.close(write)


def test_help_that_nobody_reads_is_no_error(folder):
    for call in (["--help"], ["--version"], ["audit", "--help"]):
        read, write = os.pipe()
        os.close(read)
        found = program(*call, capture_output=False, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        assert (found.returncode, found.stderr) == (0, b"")


def test_no_variable_of_the_shell_makes_a_pass(folder):
    """Click would print a completion script and leave with 0."""
    for value in ("bash_source", "bash_complete", "zsh_source", "1"):
        found = program("audit", "uneven.csv", *ROLES, env={**os.environ, "_EVENHAND_COMPLETE": value})
        assert (found.returncode, found.stdout[:13]) == (1, b"Verdict: fail")


def test_the_traceback_on_request_ends_with_70(folder):
    Path("odd_model.py").write_text("def predict(table):\n    raise GeneratorExit\n")
    found = program(
        *judged("counterfactual", "even")[:-1], "odd_model:predict", env={**os.environ, "EVENHAND_DEBUG": "1"}
    )
    assert found.returncode in (2, 70)
    assert found.stdout == b""


# --- what is loaded is not taken apart at the end, and no library complains of it

_TABLE = "y,d,g\n" + "0,0,a\n1,1,a\n0,1,b\n1,1,b\n" * 30
_CALL = ["audit", "data.csv", "--label", "y", "--prediction", "d", "--sensitive", "g"]


@pytest.mark.parametrize(
    ("code", "call"),
    [
        (2, ["audit", "absent.csv", *_CALL[2:]]),
        (2, [*_CALL[:-1], "absent"]),
        (0, ["cube", *_CALL[1:], "-o", "data.cube"]),
        (0, ["demo"]),
        (1, [*_CALL, "--json"]),
        (1, [*_CALL, "-q", "-o", "page.html"]),
        (1, ["import duckdb", *_CALL]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_no_library_complains_at_the_end(code, call, tmp_path):
    """What is loaded before a command starts is not taken apart; DuckDB would call its own types leaked."""
    (tmp_path / "data.csv").write_text(_TABLE, encoding="utf-8")
    first, arguments = (call[0], call[1:]) if call[0].startswith("import") else ("pass", call)
    text = f"{first}\nfrom evenhand.cli import main\nmain()"
    command = [sys.executable, "-c", text, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "leak" not in done.stderr


@pytest.mark.parametrize(("chosen", "cycles"), [(None, "20"), ("26", "26")])
def test_threads_that_wait_soon_sleep(chosen, cycles):
    """Each thread of OpenBLAS looked for work for a twentieth of a second, and an audit has none for it."""
    code = (
        "import atexit, os, sys\n"
        "from evenhand.cli import main\n"
        "assert 'numpy' not in sys.modules, 'it reads the variable when it is loaded'\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_THREAD_TIMEOUT'], 'numpy' in sys.modules))\n"
        "main()"
    )
    variables = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    done = subprocess.run(
        [sys.executable, "-c", code, "metrics", "accuracy_parity"],
        capture_output=True,
        text=True,
        check=True,
        env=variables if chosen is None else {**variables, "OPENBLAS_THREAD_TIMEOUT": chosen},
    )
    assert done.stdout.splitlines()[-1] == f"{cycles} True"


def test_a_call_within_another_program_freezes_nothing(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(_TABLE, encoding="utf-8")
    before = gc.get_freeze_count(), os.environ.get("OPENBLAS_THREAD_TIMEOUT")
    run(["audit", str(path), *_CALL[2:], "-q"])
    assert (gc.get_freeze_count(), os.environ.get("OPENBLAS_THREAD_TIMEOUT")) == before
