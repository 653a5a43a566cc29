"""Every option and argument of every command, found by walking click's tree, and a valid call of each to start from."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

import click
import joblib
import pandas as pd
from sklearn.linear_model import LinearRegression

import evenhand as eh
from evenhand.cli import main
from fuzz import calls
from fuzz.outcome import BARE, LONGEST, SECONDS, Outcome, TookTooLongError, limits, unseen
from support.commands import COMMANDS, context

ROLES = ("--label=label", "--prediction=prediction", "--score=score", "--sensitive=group")
DATA = ("people.csv", *ROLES)
FROM_DATABASE = ("--database=duckdb:///people.duckdb", "--table=people", *ROLES)
CAUSAL = ("causal.csv", "--sensitive=group", "--graph=g.dot", "--prediction-function=own_predictors:by_exam")

THRESHOLDS = ("--method=thresholds", "--constraint=demographic_parity")
BY_QUERY = ("--database=duckdb:///people.duckdb", "--query=FROM people", *ROLES)
BASES: dict[str, list[tuple[str, ...]]] = {
    "": [()],
    "audit": [(*DATA, "--cutoff=0.5"), FROM_DATABASE, BY_QUERY],
    "contest": [
        ("people.csv", "--label=label", "--prediction=prediction", "--prediction=rival", "--sensitive=group"),
    ],
    "correspondence": [("answers.csv", "--unit=unit", "--sensitive=group", "--prediction=prediction")],
    "counterfactual": [
        (*CAUSAL, "--refits=2", "--noise-draws=1", "--jobs=1"),
        ("causal.csv", "--sensitive=group", "--flip", "--model=by_exam.joblib", "--trust"),
    ],
    "cube": [(*base, "--output=new.cube") for base in (DATA, FROM_DATABASE, BY_QUERY)],
    "demo": [()],
    "diff": [("before.json", "after.json")],
    "explain": [(*DATA, "--control=rival", "--between=a,b"), (*FROM_DATABASE, "--control=rival", "--between=a,b")],
    "guide": [("--label-known", "--priority=opportunity")],
    "impact": [("people.csv", "--prediction=prediction", "--sensitive=group"), FROM_DATABASE, BY_QUERY],
    "individual": [("people.csv", "--features=score,amount", "--prediction=prediction", "--sensitive=group")],
    "metrics": [("demographic_parity",)],
    "mitigate": [
        (*DATA, *THRESHOLDS),
        ("people.csv", "--method=reweigh", "--label=label", "--sensitive=group", "--output=weights.csv"),
        (*FROM_DATABASE, *THRESHOLDS),
        (*BY_QUERY, *THRESHOLDS),
    ],
    "policy": [()],
    "policy init": [("new.toml",)],
    "policy show": [("four-fifths",)],
    "proxies": [("people.csv", "--features=score,amount", "--sensitive=group")],
    "replicate": [
        ("people.csv", "--label=label", "--sensitive=group", "--feature=amount", "--n-replicas=2", "--n-jobs=1")
    ],
    "report": [("before.json",), ("before.json", "--form=nist", "--output=new.md")],
    "representation": [("people.csv", "--benchmark=group=shares.csv")],
    "search": [("people.csv", "--within=group", "--prediction=prediction", "--least=2", "--draws=19")],
    "schema": [()],
    "serve": [("before.html", "--no-browser")],
    "stability": [("replicas.csv", "--replicas-columns=p_*", "--label=label", "--sensitive=group")],
    "verify": [("form.html", "--cube=before.json"), ("form.html", "--cube=before.json", "--policy=policy.toml")],
    "watch": [("jan.cube", "feb.cube")],
}
"""The calls that each command starts from; an option is tried in the first that has it, or else in the first."""


@dataclass(frozen=True)
class Place:
    """An option or an argument of a command."""

    command: str
    name: str
    argument: bool
    values: int
    """How many values it takes: 2 for `--score-range LOW HIGH`."""

    @property
    def spelled(self) -> str:
        return f"{self.command} {self.name}"

    def called(self, text: str) -> list[str]:
        """The command with the text in this place."""
        given = next((base for base in BASES[self.command] if any(map(self._is_mine, base))), BASES[self.command][0])
        others = [each for each in given if not self._is_mine(each)]
        if self.argument:
            mine = [text]
        elif self.values > 1:
            mine = [self.name, *[text] * self.values]
        else:
            mine = [f"{self.name}={text}"]
        return [*self.command.split(), *mine, *others]

    def _is_mine(self, text: str) -> bool:
        return not text.startswith("--") if self.argument else text.partition("=")[0] == self.name


def commands() -> dict[str, click.Command]:
    """Every command by the words that are typed after the program's name."""
    return {name.removeprefix("evenhand").strip(): command for name, command in COMMANDS.items()}


@cache
def places() -> list[Place]:
    """Every option, by its longest name, and every argument of every command."""
    found = []
    for path, command in commands().items():
        for part in command.get_params(context(command)):
            names = [*part.opts, *part.secondary_opts] if isinstance(part, click.Option) else part.opts
            for name in [each for each in names if each.startswith("--")] or names:
                found.append(Place(path, name, isinstance(part, click.Argument), part.nargs))
    return found


# --- a scratch folder in which every base is valid


def prepare() -> None:
    """Write what the base calls read into the current folder."""
    import duckdb

    table = pd.DataFrame(calls.TABLE)
    table.to_csv("people.csv", index=False)
    Path("shares.csv").write_text("value,share\na,0.5\nb,0.3\nc,0.2\n", encoding="utf-8")
    table.assign(unit=table.index // 3).to_csv("answers.csv", index=False)
    with duckdb.connect("people.duckdb") as database:
        database.execute("CREATE OR REPLACE TABLE people AS FROM read_csv('people.csv')")
    rows = pd.DataFrame(calls.PEOPLE)
    rows.to_csv("causal.csv", index=False)
    Path("g.dot").write_text("digraph { group -> exam; effort -> exam }", encoding="utf-8")
    Path("own_predictors.py").write_text(
        "def by_exam(rows):\n    return (rows['exam'] > 0).astype(int)\n", encoding="utf-8"
    )
    joblib.dump(LinearRegression().fit(rows[["exam"]], rows["grade"]), "by_exam.joblib")
    pd.DataFrame({f"p_{i}": row for i, row in enumerate(calls.REPLICAS)}).assign(
        label=calls.LABEL, group=calls.GROUP
    ).to_csv("replicas.csv", index=False)
    cube = eh.Cube.count("people.csv", label="label", prediction="prediction", score="score", sensitive="group")
    cube.save("jan.cube")
    other = table.assign(prediction=1 - table["prediction"])
    eh.Cube.count(other, label="label", prediction="prediction", score="score", sensitive="group").save("feb.cube")
    for name in ("before.json", "after.json", "before.html"):
        cube.audit().save(name)
    cube.audit().save("form.html", form="nist")
    eh.Policy().save("policy.toml")


def inputs() -> list[tuple[int, ...]]:
    """What tells that a file which `prepare` wrote is another now: which it is, its size and when it was written."""
    found = (Path(name).stat() for name in INPUTS if Path(name).exists())
    return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]


INPUTS = (
    "people.csv", "answers.csv", "shares.csv", "people.duckdb", "causal.csv", "g.dot", "own_predictors.py",
    "by_exam.joblib", "replicas.csv", "jan.cube", "feb.cube", "before.json", "after.json", "before.html", "form.html",
    "policy.toml",
)  # fmt: skip


# --- running one


def run(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code and what was written, of the real `main` in this process; nothing is served or opened."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr", "stdin")}
    with (
        mock.patch.multiple(sys, **streams, path=[".", *sys.path]),
        mock.patch("socketserver.BaseServer.serve_forever"),
        mock.patch("webbrowser.open"),
        limits(),
    ):
        try:
            main(arguments)
            code = -1  # main never returns
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else -1
    out, err = (_text(streams[name]) for name in ("stdout", "stderr"))
    return code, out, err


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def attempt(arguments: list[str]) -> Outcome:
    """Run one command line in this process."""
    try:
        return judged(arguments, *run(arguments))
    except TookTooLongError:
        return Outcome("fell", f"no answer in {SECONDS} s")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome("fell", f"{type(error).__name__} left main: {error!s:.160}")


def judged(arguments: list[str], code: int, out: str, err: str) -> Outcome:
    """What a run of the program was, by its exit code and by what it wrote."""
    if "Traceback" in err or "internal error" in err or code not in (0, 1, 2, 3):
        return Outcome("fell", f"exit code {code}: {err.strip()[:200]}")
    if hidden := unseen(out + err):
        return Outcome("fell", f"wrote {', '.join(sorted(hex(ord(mark)) for mark in hidden))}")
    if code == 2:
        why = _refusal(out, err)
        return Outcome("fell", f"{why}: {err.strip()[:200]}") if why else Outcome("refused", err)
    if code in (0, 1, 3) and "--json" in arguments:
        json.loads(out, parse_constant=_no_constant)
    return Outcome("result")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


OURS = "evenhand: error: "


def _refusal(out: str, err: str) -> str | None:
    """What is wrong with the words of exit code 2, or None: one sentence of ours, or click's after the usage."""
    said = err.partition("Error: ")[2] if err.startswith(("Usage:", "Error: ")) else err.removeprefix(OURS)
    if said == err or not said.strip():
        return "no sentence"
    if out:
        return "something on standard output"
    if len(said) > LONGEST:
        return f"a message of {len(said):,} characters"
    if found := BARE.search(said):
        return f"the words of Python ({found[0]})"
    return None
