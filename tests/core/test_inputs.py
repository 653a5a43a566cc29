"""What is read is a file with an end, has a name that can be written, and is read once."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.cli import run, values
from evenhand.core import inputs
from evenhand.counterfactual.graph import read_graph
from evenhand.errors import CallError, DataError
from evenhand.mitigate import Thresholds
from support.backends import FILES

TABLE = {"race": ["a", "b"] * 50, "y": [1, 0, 0, 1] * 25, "p": [1, 0, 1, 1, 0] * 20, "q": [0, 1, 1, 0, 1] * 20}
ROLES: dict[str, Any] = {"prediction": "p", "sensitive": "race"}
OPTIONS = ["--prediction=p", "--sensitive=race"]


# --- each file once


def _copies(path: Path) -> dict[str, list[Any]]:
    """The same file twice, in every way to name it."""
    folder, suffix = path.parent, "".join(path.suffixes)
    (folder / f"hard{suffix}").hardlink_to(path)
    (folder / f"soft{suffix}").symlink_to(path)
    (folder / "aside").symlink_to(folder)
    return {
        "twice": [path, path],
        "text": [str(path), path],
        "dots": [path, f"{folder}/./{path.name}"],
        "folder": [path, folder / "aside" / path.name],
        "hard link": [path, folder / f"hard{suffix}"],
        "symbolic link": [path, folder / f"soft{suffix}"],
        "a pattern": [path, f"{folder}/d*{suffix}"],
        "a pattern of links": [f"{folder}/*{suffix}"],
    }


COMMANDS = {
    "audit": OPTIONS,
    "cube": [*OPTIONS, "-o", "{folder}/x.cube"],
    "mitigate": ["--method=reweigh", "--label=y", "--sensitive=race"],
    "individual": OPTIONS,
    "explain": [*OPTIONS, "--control=q"],
    "proxies": ["--sensitive=race"],
    "stability": ["--replicas-columns=p", "--replicas-columns=q", "--sensitive=race"],
    "replicate": ["--label=y", "--sensitive=race"],
    "counterfactual": ["--flip", "--sensitive=race", "--prediction-function=math:floor"],
}


@pytest.mark.parametrize("kind", ["csv", "csv-gz", "jsonl", "parquet", "feather"])
def test_data_that_is_given_twice(kind, tmp_path, capsys):
    copies = _copies(FILES[kind](TABLE, tmp_path))
    for how, given in copies.items():
        for ask in (eh.audit, eh.Cube.count, eh.demographic_parity):
            with pytest.raises(CallError, match="its people would count twice"):
                ask(given, **ROLES)
        with pytest.raises(CallError, match="its people would count twice"):
            eh.consistency(given, prediction="p", sensitive="race")
        with pytest.raises(CallError, match="its people would count twice"):
            eh.stability(["p", "q"], data=given, sensitive="race")
        for command, options in COMMANDS.items():
            said = [option.format(folder=tmp_path) for option in options]
            assert run([command, *map(str, given), *said]) == 2, (how, command)
            assert "its people would count twice" in capsys.readouterr().err
    assert not (tmp_path / "x.cube").exists()


def test_cubes_that_are_given_twice(tmp_path, capsys):
    eh.Cube.count(TABLE, **ROLES).save(tmp_path / "d.cube")
    for given in _copies(tmp_path / "d.cube").values():
        for ask in (eh.audit, eh.Cube.merge, eh.trend):
            with pytest.raises(CallError, match="its people would count twice"):
                ask(given)
        if len(given) > 1 and "*" not in str(given[1]):
            with pytest.raises(CallError, match="its people would count twice"):
                eh.Cube.merge({"monday": given[0], "tuesday": given[1]})
        for command in (["audit"], ["watch"], ["cube", f"-o{tmp_path}/x.cube"]):
            assert run([*command, *map(str, given)]) == 2
            assert "its people would count twice" in capsys.readouterr().err


def test_two_files_of_the_same_content_are_two(tmp_path):
    for name in ("a.csv", "b.csv"):
        FILES["csv"](TABLE, tmp_path).rename(tmp_path / name)
    assert eh.Cube.count(str(tmp_path / "*.csv"), **ROLES).size == 200


# --- an end


@pytest.fixture
def endless(tmp_path) -> dict[str, Path]:
    """What is no file, under names that have the right suffix; a pipe without a writer would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    server.close()
    return {
        "a device": Path("/dev/zero"),
        "a pipe": tmp_path / "pipe",
        "a socket": tmp_path / "socket",
    }


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_what_may_have_no_end_is_refused(endless, tmp_path, capsys):
    data = FILES["csv"](TABLE, tmp_path)
    for what, path in endless.items():
        links = {}
        for suffix in ("csv", "csv.gz", "parquet", "arrow", "jsonl", "cube", "json", "toml", "dot"):
            links[suffix] = tmp_path / f"{what} of a kind.{suffix}"
            links[suffix].symlink_to(path)
        for link in links.values():
            for ask in (
                eh.Audit.load,
                eh.Policy.load,
                eh.Cube.load,
                eh.Cube.merge,
                Thresholds.load,
                read_graph,
                lambda path: eh.Cube.count(path, **ROLES),
                lambda path: eh.Cube.count([data, path], **ROLES),
            ):
                with pytest.raises(DataError, match=f"it is {what}, which may have no end. Save its content in a file"):
                    ask(link)
        for command in (
            ["audit", links["csv"], *OPTIONS],
            ["audit", links["cube"]],
            ["audit", data, *OPTIONS, f"--policy={links['toml']}"],
            ["cube", links["parquet"], *OPTIONS, f"-o{tmp_path}/x.cube"],
            ["individual", links["jsonl"], *OPTIONS],
            ["stability", links["csv"], "--replicas-columns=p", "--sensitive=race"],
            ["replicate", links["csv"], "--label=y", "--sensitive=race"],
            ["counterfactual", links["csv"], "--flip", "--sensitive=race", "--prediction-function=math:floor"],
            ["counterfactual", data, f"--graph={links['dot']}", "--sensitive=race", "--prediction-function=math:floor"],
            ["mitigate", links["csv"], "--method=reweigh", "--label=y", "--sensitive=race"],
            ["report", path],
            ["serve", path, "--no-browser"],
            ["diff", path, path],
            ["watch", links["cube"]],
            ["policy", "show", links["toml"]],
            ["policy", "init", tmp_path / "new.toml", f"--from={links['toml']}"],
        ):
            assert run(list(map(str, command))) == 2, command
            assert f"it is {what}, which may have no end" in capsys.readouterr().err


def test_files_that_are_too_large(tmp_path, capsys):
    for name, size, ask in (
        ("x.toml", 1_000_001, eh.Policy.load),
        ("x.dot", 1_000_001, read_graph),
        ("x.json", 1 << 40, eh.Audit.load),
        ("t.json", 1 << 40, Thresholds.load),
    ):
        path = tmp_path / name
        path.touch()
        os.truncate(path, size)  # a file of holes takes no place
        with pytest.raises(DataError, match=r"is larger than .*, so it is not"):
            ask(path)
    assert run(["report", str(tmp_path / "x.json")]) == 2
    capsys.readouterr()


class Endless:
    """A stream of one line for ever."""

    def __init__(self, line: bytes) -> None:
        self.line, self.given = line, 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        self.given += 1
        assert self.given < 100
        return self.line * (size // len(self.line))


def test_files_that_ask_for_more_than_they_hold(tmp_path):
    """Text of some kilobytes that would need all memory, or a deep stack, to be read."""
    deep = "[" * 100_000 + "]" * 100_000
    for name, text, ask in (
        ("points.toml", "a." * 200_000 + "b = 1", eh.Policy.load),
        ("header.toml", "[" + "a." * 200_000 + "b]", eh.Policy.load),
        ("deep.toml", f"a = {deep}", eh.Policy.load),
        ("deep.dot", "digraph {" + "subgraph {" * 50_000 + "}" * 50_000 + "}", read_graph),
        ("long.dot", "digraph {" + "a -> " * 150_000 + "b}", read_graph),
        ("deep.json", deep, Thresholds.load),
        ("deep-audit.json", deep, eh.Audit.load),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(eh.EvenhandError) as caught:
            ask(tmp_path / name)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("line", "message"), [(b"y\n", "larger than 0 GB: save it in a file"), (b"\0", "null bytes")])
def test_standard_input_without_an_end(line, message, monkeypatch, capsys):
    monkeypatch.setattr(values, "MOST_STANDARD_INPUT", 3 << 20)
    monkeypatch.setattr(sys, "stdin", type("Stream", (), {"buffer": Endless(line)}))
    assert run(["audit", "-", *OPTIONS]) == 2
    assert message in capsys.readouterr().err


def test_standard_input_is_read(monkeypatch, tmp_path, capsys):
    content = FILES["csv"](TABLE, tmp_path).read_bytes()
    monkeypatch.setattr(sys, "stdin", type("Stream", (), {"buffer": io.BytesIO(content)}))
    code = run(["audit", "-", *OPTIONS, "--json"])
    by_pipe = json.loads(capsys.readouterr().out)
    assert run(["audit", str(tmp_path / "data.csv"), *OPTIONS, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["findings"] == by_pipe["findings"]


# --- a name


def test_a_name_that_is_not_utf8(tmp_path, capsys):
    made = FILES["csv"](TABLE, tmp_path)
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    path = folder / "d.csv"
    path.write_bytes(made.read_bytes())
    eh.Cube.count(TABLE, **ROLES).save(tmp_path / "d.cube")
    (folder / "d.cube").write_bytes((tmp_path / "d.cube").read_bytes())
    message = r"'.*caf\\udce9/d\.[a-z]+' cannot be opened: its name is not UTF-8\. Rename"
    for given in (path, str(path), [path, made], str(folder / "*.csv")):
        with pytest.raises(DataError, match=message):
            eh.audit(given, **ROLES)
    for ask in (eh.Cube.load, eh.Cube.merge, eh.Audit.load, eh.Policy.load):
        with pytest.raises(DataError, match=message):
            ask(folder / "d.cube")
    for command in (
        ["audit", path, *OPTIONS],
        ["audit", folder / "d.cube"],
        ["report", path],
        ["watch", folder / "d.cube"],
    ):
        assert run(list(map(str, command))) == 2
        assert "its name is not UTF-8" in capsys.readouterr().err


def test_check_says_what_a_name_is(tmp_path):
    (tmp_path / "file").touch()
    inputs.check(tmp_path / "file")
    for name, message in {
        "": "it is a folder",
        "nothing": "there is no file",
        "a\0b": "cannot be read",
        "\ud800": "its name is not UTF-8",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        with pytest.raises(DataError, match=message):
            inputs.check(tmp_path / name)
