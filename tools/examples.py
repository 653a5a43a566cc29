"""The fenced blocks of a Markdown page: which are run, and how. Used by the hook of MkDocs, by readme.py and by tests.

Every block is run, or the line before it says why it is not:

    ```python exec            run; below it stands what it prints and the value of its last line, as in a notebook
    ```python exec raises     has to fail with an error of evenhand, which is then shown
    ```console exec           the lines that start with "$ " are run, and what each prints stands below it
    ```toml exec              a policy, which Policy.load has to accept
    ```yaml exec              steps of a workflow: every "run:" is run
    ```json exec              has to be JSON
    <!-- not run: REASON -->  on the line before a block that cannot be run here; the page shows the reason

The blocks of a page share their variables and a folder of their own, which is empty at first. After exec, `hidden` runs
a block and does not show it: it may write files, but later blocks do not see its names, which a reader would miss.
`quiet` shows a block and not what it prints; `title="NAME"` also writes it to a file of that name. A command has to end
with exit code 0, or with the one that its line names: "# exit code 1".
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import yaml

FENCE = re.compile(
    r"(?:^ *<!-- (?:not run: (?P<reason>[^\n]*?)|(?P<output>output)) -->[ \t]*\n)?"
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n"
    r"(?P<source>.*?)^(?P=indent)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
WORDS = {"exec", "raises", "hidden", "quiet"}
EXIT_CODE = re.compile(r"# exit code (\d+)\s*$")
WIDTH = "80"  # of what examples print: as wide as most terminals, and as the column of a page
PATIENCE = 300  # seconds, after which a command is taken to wait for somebody
CUT = re.compile(r"\bnan\b|  \.\.\.  ", re.IGNORECASE)  # what no output may show: no number, columns left out


@dataclass(frozen=True)
class Block:
    """A fenced block as it stands on a page."""

    line: int
    indent: str
    language: str
    words: frozenset[str]
    title: str | None
    source: str
    not_run: str | None = None
    is_output: bool = False

    @property
    def is_run(self) -> bool:
        return "exec" in self.words


def blocks(markdown: str) -> list[Block]:
    return [read(match) for match in FENCE.finditer(markdown)]


def read(match: re.Match[str]) -> Block:
    info, title = match["info"], None
    if found := re.search(r'title="([^"]*)"', info):
        info, title = info.replace(found[0], ""), found[1]
    language, *words = info.split() or [""]
    return Block(
        line=match.string.count("\n", 0, match.start("fence")) + 1,
        indent=match["indent"],
        language=language,
        words=frozenset(words),
        title=title,
        source=textwrap.dedent(match["source"]),
        not_run=match["reason"],
        is_output=bool(match["output"]),
    )


def unmarked(markdown: str) -> list[str]:
    """What is wrong with the blocks of a page before any is run: neither run nor marked, or marked in a wrong way."""
    faults = []
    for block in blocks(markdown):
        if unknown := block.words - WORDS:
            faults.append(f"line {block.line}: {', '.join(sorted(unknown))}? The words are {', '.join(sorted(WORDS))}.")
        if block.is_run and block.language not in RUNNERS:
            faults.append(f"line {block.line}: {block.language!r} is not run; write one of {', '.join(RUNNERS)}.")
        if block.is_run and (block.not_run is not None or block.is_output):
            faults.append(f"line {block.line}: a block is either run, or says why not, or is the output of another.")
        if not (block.is_run or block.is_output or (block.not_run or "").strip()):
            faults.append(
                f"line {block.line}: the {block.language or 'nameless'} block is not run. Write 'exec' after its "
                "language, or <!-- not run: REASON --> on the line before it."
            )
    left = FENCE.sub("", markdown)
    faults += [f"a block is not closed: {line.strip()}" for line in left.splitlines() if re.match(r" *(```|~~~)", line)]
    return faults


# --- one page


@dataclass
class Page:
    """The names that the blocks of a page share. Use it inside `place()`."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def output(self, block: Block) -> str:
        """What the block prints; for commands with the commands themselves. An error if it does not do what it says."""
        if block.title is not None:
            Path(block.title).write_text(block.source, encoding="utf-8")
        if not block.is_run:
            check(block)
            return ""
        output = RUNNERS[block.language](self, block)
        if found := CUT.search(output):
            raise AssertionError(f"the output has {found[0].strip()!r}:\n{output}")
        return output

    def python(self, block: Block) -> str:
        """What the code prints, followed by the value of its last line or by the error it has to raise."""
        raises = "raises" in block.words
        names = dict(self.names) if "hidden" in block.words else self.names
        body = ast.parse(block.source).body
        last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as output, warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                exec(compile(ast.Module(body, []), "<example>", "exec"), names)  # noqa: S102 - our own pages
                value = eval(compile(last, "<example>", "eval"), names) if last else None  # noqa: S307
            except Exception as error:
                if not (raises and from_evenhand(error)):
                    raise
                print(f"{type(error).__name__}: {error}")
            else:
                if raises:
                    raise AssertionError("no error, but the block is marked 'raises'.")
                if value is not None:
                    print(repr(value))
        return output.getvalue()

    def console(self, block: Block) -> str:
        """The lines as they stand, below each command what it printed."""
        commands = list(typed(block.source))
        if not any(command for _, command in commands):
            raise AssertionError("there is no line that starts with '$ '.")
        lines = []
        for shown, command in commands:
            lines.append(shown)
            if command:
                lines += call(command).rstrip().splitlines()
        return "\n".join(lines)

    def toml(self, block: Block) -> str:
        from evenhand import Policy

        path = Path(block.title or "policy.toml")
        path.write_text(block.source, encoding="utf-8")
        Policy.load(path)
        return ""

    def yaml(self, block: Block) -> str:
        """Run the steps as a workflow does: after one that fails, only those that say `if: always()`."""
        failed = False
        for step in steps(yaml.safe_load(block.source)):
            if failed and step.get("if") != "always()":
                continue
            lines = str(step["run"]).splitlines()
            for line in lines:
                call(line)
                failed = failed or expected(line) != 0
        return ""

    def json(self, block: Block) -> str:
        json.loads(block.source)
        return ""


RUNNERS = {
    "python": Page.python,
    "console": Page.console,
    "toml": Page.toml,
    "yaml": Page.yaml,
    "json": Page.json,
}


def check(block: Block) -> None:
    """What can be seen of a block that is not run: its syntax, and that the options of evenhand exist."""
    if block.language == "python":
        ast.parse(block.source)
    elif block.language == "toml":
        tomllib.loads(block.source)
    elif block.language == "yaml":
        yaml.safe_load(block.source)
    elif block.language == "json":
        json.loads(block.source)
    elif block.language == "console":
        for _, command in typed(block.source):
            words = shlex.split(command or "", comments=True)
            if words[:1] == ["evenhand"]:
                check_options(words[1:])


def check_options(arguments: list[str]) -> None:
    """Let click read the arguments of evenhand, without running the command."""
    from evenhand.cli import program

    context = click.Context(program, **program.context_settings)
    program.get_command(context, arguments[0]).make_context(arguments[0], arguments[1:], parent=context)


def typed(source: str) -> Iterator[tuple[str, str | None]]:
    """The lines of a console block, and the command that each is; a backslash at the end of a line continues it."""
    lines = iter(source.splitlines())
    for line in lines:
        shown = line
        while shown.startswith("$ ") and shown.endswith("\\"):
            shown += "\n" + next(lines)
        yield shown, shown[2:] if shown.startswith("$ ") else None


def expected(command: str) -> int:
    """The exit code that the line of a command names, else 0."""
    found = EXIT_CODE.search(command)
    return int(found[1]) if found else 0


def call(command: str) -> str:
    done = subprocess.run(  # noqa: S602 - our own pages
        command,
        shell=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
    )
    if done.returncode != expected(command):
        said = f"exit code {done.returncode}, and the page says {expected(command)}"
        raise AssertionError(f"{said}: {command}\nIt printed:\n{done.stdout}")
    return done.stdout


def steps(workflow: Any) -> Iterator[dict[str, Any]]:
    """Every mapping with a `run`, however deep, in the order of the file."""
    if isinstance(workflow, dict):
        if "run" in workflow:
            yield workflow
        for value in workflow.values():
            yield from steps(value)
    elif isinstance(workflow, list):
        for value in workflow:
            yield from steps(value)


def from_evenhand(error: Exception) -> bool:
    from evenhand.errors import EvenhandError

    return isinstance(error, EvenhandError)


# --- a whole page


def outputs(markdown: str) -> list[tuple[Block, str]]:
    """Run all blocks of a page in order; the error of one that fails names its line."""
    page, found = Page(), []
    with place():
        for block in blocks(markdown):
            try:
                found.append((block, page.output(block)))
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise ExampleError(f"the block in line {block.line} failed with {what}\n\n{block.source}") from error
    return found


def timed_outputs(markdown: str) -> tuple[list[tuple[Block, str]], float]:
    """The outputs of a page, and the seconds of processor time that they took, commands included."""
    before = sum(os.times()[:4])
    return outputs(markdown), sum(os.times()[:4]) - before


class ExampleError(Exception):
    """A block did not do what its page says."""


@contextlib.contextmanager
def place() -> Iterator[None]:
    """An empty folder, no colour, a known width, no window for plots, and the commands of this environment first."""
    before = dict(os.environ)
    commands = f"{Path(sys.executable).parent}{os.pathsep}{before.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        summary = str(Path(folder) / ".summary.md")
        os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", PATH=commands, GITHUB_STEP_SUMMARY=summary, MPLBACKEND="agg")
        os.environ.pop("EVENHAND_DATABASE", None)
        try:
            yield
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
            os.environ.clear()
            os.environ.update(before)
