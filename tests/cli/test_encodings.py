"""The command line and print() on streams that cannot carry every sign, each in a process of its own: the code pages of
Windows, ASCII, and the locale C. What is said there is what is said elsewhere, with stand-ins for what is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand.core import signs

ENCODINGS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "cp437": {"PYTHONIOENCODING": "cp437"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
}
ROLES = ["--prediction", "d", "--sensitive", "grüße"]
REPLICAS = ["--label", "y", "--sensitive", "grüße", "--n-replicas", "4", "--n-jobs", "1"]
COMMANDS = {
    "audit": ["audit", "people.csv", "--label", "y", *ROLES, "-v", "-o", "a.json"],
    "audit of several attributes": ["audit", "people.csv", *ROLES, "--sensitive", "sex", "-o", "b.json"],
    "audit as json": ["audit", "people.csv", *ROLES, "--json"],
    "no such column": ["audit", "people.csv", "--prediction", "d", "--sensitive", "größe"],
    "cube": ["cube", "people.csv", "--label", "y", *ROLES, "--score", "s", "-o", "a.cube"],
    "another cube": ["cube", "people.csv", "--label", "y", *ROLES, "--score", "s", "-o", "b.cube"],
    "watch": ["watch", "a.cube", "b.cube", "--metric", "demographic_parity"],
    "demo": ["demo"],
    "diff": ["diff", "a.json", "a.json"],
    "report": ["report", "a.json"],
    "form": ["report", "a.json", "--form", "nist", "-o", "form.md"],
    "verify": ["verify", "form.md", "--cube", "a.json"],
    "guide": ["guide", "--label-known", "--priority", "opportunity"],
    "guide tree": ["guide", "--tree"],
    "metrics": ["metrics"],
    "metric": ["metrics", "wasserstein_distance"],
    "metric with a formula": ["metrics", "consistency"],
    "metric with authors": ["metrics", "mean_score_parity"],
    "individual": ["individual", "people.csv", *ROLES, "--features", "s,x", "--worst", "2"],
    "reweigh": ["mitigate", "people.csv", "--method", "reweigh", "--label", "y", "--sensitive", "grüße"],
    "thresholds": ["mitigate", "a.cube", "--method", "thresholds"],
    "policy": ["policy", "show", "nyc-ll144"],
    "policy of one's own": ["policy", "show", "own.toml"],
    "replicate": ["replicate", "people.csv", "--feature", "x", *REPLICAS, "--save-replicas", "replicas.csv"],
    "stability": ["stability", "replicas.csv", "--replicas-columns", "p_*", "--sensitive", "grüße"],
    "counterfactual": ["counterfactual", "people.csv", "--sensitive", "grüße", "--flip",
                       "--prediction-function", "own:decide"],
    "contest": ["contest", "people.csv", "--label", "y", *ROLES, "--prediction", "größer"],
    "correspondence": ["correspondence", "answers.csv", "--unit", "unité", *ROLES],
    "impact": ["impact", "people.csv", *ROLES],
    "representation": ["representation", "people.csv", "--benchmark", "grüße=shares.csv"],
    "explain": ["explain", "people.csv", *ROLES, "--control", "sex", "--between", "grüßend", "--between", "中文"],
    "search": ["search", "people.csv", "--prediction", "d", "--within", "grüße", "--least", "2"],
    "proxies": ["proxies", "people.csv", "--sensitive", "grüße", "--features", "s,x"],
    "schema": ["schema"],
    "serve": ["serve", "page.html"],
    "help": ["audit", "--help"],
}  # fmt: skip

# Each command in turn, as the program runs it; one process for all of them saves a minute of imports.
PROGRAM = """
import ast, sys
from evenhand.cli import main
for name, arguments in ast.literal_eval(open("commands", encoding="utf-8").read()).items():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="strict")
        stream.flush()
    sys.stdout.buffer.write(b"\\x00" + name.encode())
    sys.stdout.buffer.flush()
    try:
        main(arguments)
    except SystemExit as leave:
        print(f"exit code {leave.code}", flush=True)
"""

LIBRARY = """
import evenhand as eh
audit = eh.audit(prediction=[1, 0, 1, 1] * 30, sensitive={"grüße": ["中文", "é", "😀", "a × b"] * 30})
for shown in (audit, audit.findings[0], audit.findings, audit.findings[0].rows[0], audit.cube, eh.diff(audit, audit)):
    print(shown)
print(repr(audit))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """People of groups whose names no code page has all of, and what the commands need besides."""
    made = tmp_path_factory.mktemp("encodings")
    random = np.random.default_rng(0)
    groups, size = ["中文", "grüßend", "😀", "a × b"], 240
    lines, answers = ["grüße,sex,y,d,s,x,größer"], ["unité,grüße,d"]
    for i in range(size):
        y, s, x = random.integers(2), round(random.random(), 2), round(random.normal(), 3)
        lines.append(f"{groups[i % 4]},{'mf'[i % 3 == 0]},{y},{int(s > 0.3 + 0.1 * (i % 4))},{s},{x},{int(s > 0.5)}")
        answers.append(f"prière {i // 4},{groups[i % 4]},{int(s > 0.5)}")
    (made / "answers.csv").write_text("\n".join(answers) + "\n", encoding="utf-8")
    (made / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shares = ["value,share", *(f"{group},0.25" for group in groups)]
    (made / "shares.csv").write_text("\n".join(shares) + "\n", encoding="utf-8")
    (made / "own.toml").write_text('notes = ["für 中文 × 😀"]\n', encoding="utf-8")
    (made / "own.py").write_text("def decide(rows):\n    return [1] * len(rows)\n", encoding="utf-8")
    (made / "page.html").write_text("not a page", encoding="utf-8")
    (made / "commands").write_text(repr(COMMANDS), encoding="utf-8")
    return made


def called(code: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONIO"))}
    ours = str(Path(evenhand.__file__).parents[1])
    environment = {**kept, "PYTHONPATH": ours, "PYTHONUTF8": "0", "COLUMNS": "400", **settings}
    return subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code], cwd=folder, env=environment, capture_output=True, check=False
    )


def told(folder: Path, encoding: str, **settings: str) -> tuple[dict[str, str], str]:
    """What each command writes to standard output, and what all of them write to standard error."""
    done = called(PROGRAM, folder, **settings)
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split(b"\x00")[1:]
    outputs = [part.decode(encoding).replace("\r\n", "\n") for part in parts]
    named = zip(COMMANDS, outputs, strict=True)
    return {name: text.removeprefix(name) for name, text in named}, done.stderr.decode(encoding)


@pytest.fixture(scope="module")
def everywhere(folder) -> tuple[dict[str, str], str]:
    return told(folder, "utf-8", PYTHONIOENCODING="utf-8")


def words(text: str) -> str:
    """A text without its layout, because a stand-in may be longer than its sign, and without the time it was made."""
    return re.sub(r"[\s─-]+", " ", re.sub(r'"(created|sha256)": ".*"', "", text))


def test_every_command_is_tried():
    from evenhand.cli import program

    assert {arguments[0] for arguments in COMMANDS.values()} == set(program.list_commands(None))


def test_each_command_does_what_it_should(everywhere):
    codes = {name: int(text.rpartition("exit code ")[2]) for name, text in everywhere[0].items()}
    wrong = {name for name, code in codes.items() if code == 2}
    assert wrong == {"no such column", "serve"}, everywhere[1]
    assert set(codes.values()) <= {0, 1, 2, 3}


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_command_line_says_the_same(name, folder, everywhere):
    encoding = "ascii" if name == "C" else name
    outputs, errors = told(folder, encoding, **ENCODINGS[name])
    for command, text in outputs.items():
        assert words(text) == words(signs.carried(everywhere[0][command], encoding)), command
    assert words(errors) == words(signs.carried(everywhere[1], encoding))
    if encoding != "cp437":  # which has both signs
        assert "<= 10 points" in outputs["audit"]
        assert ">= 0.8" in outputs["audit"]
    assert "\\u4e2d\\u6587" in outputs["audit"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_print_never_raises(name, folder):
    encoding = "ascii" if name == "C" else name
    (folder / "library.py").write_text(LIBRARY, encoding="utf-8")
    done = called("import library", folder, **ENCODINGS[name])
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode(encoding)
    assert shown.count("Verdict: ") == 2
    assert "\\u4e2d\\u6587" in shown
