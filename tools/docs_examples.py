"""A MkDocs hook that runs the examples on a page and shows what they really print.

A fence opened by ```python exec is run, and its output stands below it: what it prints, then the value of its
last line, as in a notebook. The blocks of a page share their variables and an empty folder of their own.
A fence opened by ```console exec runs the lines that start with "$ " in that folder. An example that fails,
or warns, fails the build; ```python exec raises has to fail with an error of evenhand, which is then shown.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

EXAMPLE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>python|console) exec(?P<raises> raises)?[ \t]*\n"
    r"(?P<source>.*?)^(?P=indent)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
WIDTH = "100"


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    names: dict[str, Any] = {"__name__": "__main__"}

    def shown(example: re.Match[str]) -> str:
        source = textwrap.dedent(example["source"])
        try:
            if example["language"] == "console":
                text = fenced("console", typed(source))
            else:
                output = run(source, names, raises=bool(example["raises"]))
                text = fenced("python", source) + (f"\n\n{fenced('text', output)}" if output else "")
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise PluginError(f"An example in {page.file.src_uri} failed with {what}\n\n{source}") from error
        return textwrap.indent(text, example["indent"])

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), plain_terminal():
        return EXAMPLE.sub(shown, markdown)


def run(source: str, names: dict[str, Any], *, raises: bool = False) -> str:
    """What the code prints, followed by the value of its last line or by the error it has to raise."""
    body = ast.parse(source).body
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


def typed(source: str) -> str:
    """The commands as they stand, each with what it printed."""
    lines = []
    for line in source.splitlines():
        lines.append(line)
        if line.startswith("$ "):
            done = subprocess.run(  # noqa: S602 - our own pages
                line[2:], shell=True, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            if done.returncode:
                raise AssertionError(f"exit code {done.returncode}; it printed:\n{done.stdout}")
            lines += done.stdout.rstrip().splitlines()
    return "\n".join(lines)


def from_evenhand(error: Exception) -> bool:
    from evenhand.errors import EvenhandError

    return isinstance(error, EvenhandError)


def fenced(language: str, text: str) -> str:
    """A fence that is longer than any inside it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


@contextlib.contextmanager
def plain_terminal():
    """No colour, a known width, and the commands of this environment first."""
    before = dict(os.environ)
    commands = f"{Path(sys.executable).parent}{os.pathsep}{before.get('PATH', '')}"
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", PATH=commands)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
