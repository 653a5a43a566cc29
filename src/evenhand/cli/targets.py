"""The files that a command writes. Before anything is read, an output is refused by which a file would be lost.

An output is refused
- where it is an input of the command, or where two outputs are one file, whatever the names and links;
- without --force, where it would replace a file of another kind: one whose content is not what evenhand writes there.
"""

from __future__ import annotations

import glob
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from evenhand.cli.arguments import typed
from evenhand.core.files import Identity, identity, keeping, target
from evenhand.errors import CallError, DataError, either, short_path

DATABASE_VARIABLE = "EVENHAND_DATABASE"
INPUTS = (
    "after",
    "before",
    "benchmark",
    "cubes",
    "database",
    "file",
    "files",
    "graph",
    "labels",
    "model",
    "policy",
    "start",
)
"""The parameters of commands that name what is read."""

_HEAD, _MOST_FOOTER = 1 << 16, 1 << 24


class Target(click.Path):
    """The type of a parameter that names a file to write: what is written, such as "an audit is", and the suffixes,
    each with a pattern by which a file that evenhand wrote there is known. Without any, no file is replaced."""

    def __init__(self, what: str, marks: Mapping[str, bytes]) -> None:
        super().__init__(path_type=Path)
        self.what, self.marks = what, marks

    def check(self, option: str, path: Path, force: bool) -> None:
        """Refuse a path that cannot be written to, or whose file would be lost."""
        shown = f"{option} {short_path(path)!r}"
        if str(path) == "-":
            raise CallError(f"{option} -: name a file; it is not written to standard output.")
        if self.marks and path.suffix not in self.marks:
            raise CallError(f"{shown}: {self.what} saved as {either(self.marks)}.")
        if path.suffix == ".pdf":
            from evenhand.report import pdf

            pdf.check()
        try:
            real = target(path)
        except DataError as error:
            raise CallError(f"{option} {error}") from None
        if force or not real.exists() or not real.stat().st_size:
            return
        if not self.marks:
            raise CallError(f"{shown} exists already: name another file, or replace it with --force.")
        if not re.search(self.marks[path.suffix], _ends(real)):
            raise CallError(
                f"{shown} exists already and is a file of another kind: name another file, or replace it with --force."
            )


AUDIT = Target(
    "an audit is",
    {
        ".html": rb'<meta name="generator" content="evenhand">',
        ".json": rb'\A\s*\{\s*"format": "evenhand-audit"',
        ".md": rb"\A# Verdict: ",
        ".pdf": rb"\A%PDF(?s:.*)(/Creator \(evenhand\)|/ID \[\(evenhand\))",
        ".xml": rb'<testsuites name="evenhand"',
    },
)
_FORM = rb"\"?(Bias audit|Technical documentation|Crosswalk to the NIST|Model card)"
REPORT = Target(
    "an audit or a form is",
    {
        **AUDIT.marks,
        ".md": rb"\A(# Verdict: |# " + _FORM + rb'|---\ntags:\n- "evenhand")',
        ".csv": rb"\A" + _FORM,
    },
)
CONTEST = Target(
    "a contest is",
    {
        ".html": rb'<meta name="generator" content="evenhand">',
        ".json": rb'\A\s*\{\s*"format": "evenhand-contest"',
        ".md": rb"\A# Change: ",
    },
)
CHANGES = Target("changes are", {".json": rb'\A\s*\{\s*"format": "evenhand-diff"', ".md": rb"\A# Change: "})
CUBE = Target("a cube is", {".cube": rb"evenhand_cube"})
POLICY = Target("a policy is", {})
REPAIR = Target(
    "weights or cutoffs are", {".csv": rb"\Aweight\r?\n", ".json": rb'\A\s*\{\s*"format": "evenhand thresholds"'}
)
REPLICAS = Target("replicas are", {".parquet": rb"\bp_0\b", ".csv": rb"\A[^\n]*\bp_0,p_1\b"})


def check(context: click.Context, force: bool) -> dict[Identity, str]:
    """Check all outputs of a command; the files that it must keep, each with the reason."""
    kept = dict.fromkeys(_inputs(context), "it is an input of this command")
    printed = _open_file(sys.stdout)
    if printed is not None:
        kept[printed] = "standard output is written to it"
    written: dict[object, str] = {}
    with keeping(kept):
        for parameter in context.command.params:
            if not isinstance(parameter.type, Target):
                continue
            option = parameter.opts[-1] if isinstance(parameter, click.Option) else parameter.human_readable_name
            for path in _each(context.params.get(parameter.name or "")):
                parameter.type.check(option, path, force)
                one, shown = _place(path), f"{option} {short_path(path)!r}"
                if one in written:
                    raise CallError(f"{written[one]} and {shown} are the same file: name two.")
                written[one] = shown
    return kept


def _each(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, tuple) else [value]


def _place(path: Path) -> object:
    """What is equal for two paths to one file, also where there is none yet."""
    real = target(path)
    return identity(real) or (identity(real.parent), real.name)


def _inputs(context: click.Context) -> Iterator[Identity]:
    """The files that a command reads, as far as its call names them."""
    for name in INPUTS:
        for given in _each(context.params.get(name)):
            value = typed(given) if isinstance(given, str) else given
            if str(value) == "-":
                found = [_open_file(sys.stdin)]
            else:
                found = [identity(path) for path in _named(str(value), name)]
            yield from (each for each in found if each is not None)
    if (url := os.environ.get(DATABASE_VARIABLE)) and "database" in context.params:
        yield from filter(None, map(identity, _named(url, "database")))


def _named(text: str, parameter: str) -> list[str]:
    if parameter == "database":  # duckdb:///x.db and duckdb://x.db are relative paths, duckdb:////tmp/x.db is not
        path = unquote(text.partition("://")[2].partition("?")[0])
        return [path, path.removeprefix("/")]
    if parameter == "benchmark":  # COLUMN=FILE
        text = text.rpartition("=")[2]
    path = os.path.expanduser(text)
    if parameter != "files" or os.path.exists(path):
        return [path]
    try:
        return glob.glob(path, recursive=True)
    except (OSError, ValueError):  # a name that no file can have
        return []


def _open_file(stream: Any) -> Identity | None:
    """The identity of the file that a stream of this process is redirected to, where it is one."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or not a file at all
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _ends(path: Path) -> bytes:
    """The beginning of a file, and the end where that says what a file is: of a PDF and, alone, of a Parquet file."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(b"%PDF"):
                file.seek(max(file.seek(0, os.SEEK_END) - _HEAD, len(head)))
                return head + file.read()
            if not head.startswith(b"PAR1"):
                return head
            size = file.seek(-8, os.SEEK_END)
            length = min(int.from_bytes(file.read(4), "little"), size, _MOST_FOOTER)
            file.seek(size - length)
            return file.read(length)
    except OSError as error:
        raise CallError(f"{short_path(path)!r} cannot be read, so it is not replaced: {error.strerror}.") from None
