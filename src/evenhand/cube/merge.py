"""Cubes from many places as one: given as cubes, as files or as a glob; checked that all mean the same."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.cube import parquet, scores
from evenhand.cube.cube import Cube, collect
from evenhand.errors import CallError, DataError, short_path, shorten


def merge(given: Any) -> Cube:
    """The sum of cubes; files that are cut alike are added while they are read."""
    parts = named(given)
    if not parts:
        raise CallError("there are no cubes to merge.")
    paths = [part for part in parts.values() if isinstance(part, Path)]
    cubes = [(name, part) for name, part in parts.items() if isinstance(part, Cube)]
    if paths:
        cubes += [(repr(short_path(path)), cube) for path, cube in parquet.load_sums(paths)]
    return add(cubes)


def add(cubes: Sequence[tuple[str, Cube]]) -> Cube:
    """The sum of cubes that are called something, so that one which does not fit can be named."""
    first_name, first = cubes[0]
    reading = None if first.scores is None else first.scores.reading
    for name, cube in cubes[1:]:
        _check_meaning(first_name, first, name, cube)
        if reading is not None and cube.scores is not None:
            try:
                reading = scores.united([reading, cube.scores.reading])
            except CallError as error:
                raise CallError(f"{name} does not add to {first_name}: {error}") from None
    return collect([(cube, cube.pairs) for _, cube in cubes], first.meaning)


def named(given: Any) -> dict[str, Cube | Path]:
    """Cubes and paths of saved ones by name: what the caller calls them, the file, or their place.

    >>> list(named({"monday": Path("a.cube"), "tuesday": Path("b.cube")}))
    ['monday', 'tuesday']
    """
    if isinstance(given, Mapping):
        return {str(name): _part(part, str(name)) for name, part in given.items()}
    if isinstance(given, (Cube, str, os.PathLike)):
        given = [given]
    if not isinstance(given, Iterable):
        raise CallError(f"cubes are given as cubes, paths of saved ones or a glob, not as {type(given).__name__}.")
    found: dict[str, Cube | Path] = {}
    for i, part in enumerate(given, 1):
        if isinstance(part, Cube):
            found[f"cube {i}"] = part
            continue
        for path in expand(_path(part, f"cube {i}")):
            if repr(str(path)) in found:
                raise CallError(f"{short_path(path)!r} is given twice: its people would count twice.")
            found[repr(str(path))] = path
    return found


def expand(text: str) -> list[Path]:
    """The file of that name, or those that a pattern matches, with 2 before 10."""
    path = os.path.expanduser(text)
    if os.path.isdir(path):
        raise DataError(f"{short_path(path)!r} is a folder: name its files, as in {os.path.join(path, '*.cube')!r}.")
    found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True), key=natural)
    if not found:
        raise DataError(f"there is no file {short_path(path)!r}.")
    return [Path(file) for file in found]


def natural(name: object) -> list[tuple[int, int, str]]:
    """An order of names in which day 2 comes before day 10.

    >>> sorted(["day-10", "day-2"], key=natural)
    ['day-2', 'day-10']
    """
    parts = re.split(r"([0-9]+)", str(name))
    return [(0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts]


def _part(part: Any, name: str) -> Cube | Path:
    return part if isinstance(part, Cube) else Path(os.path.expanduser(_path(part, name)))


def _path(part: Any, name: str) -> str:
    if isinstance(part, (str, os.PathLike)):
        return os.fsdecode(os.fspath(part))
    raise CallError(f"{shorten(name)} is of type {type(part).__name__}; give cubes, or paths of saved ones.")


def _check_meaning(first_name: str, first: Cube, name: str, cube: Cube) -> None:
    differences = first.meaning.differences(cube.meaning)
    if not differences:
        return
    parts = [told.partition(" ")[0] for told in differences]
    remedy = f"Count both with the same {', '.join(f'{part}=' for part in parts)}."
    if "bands" in parts:
        remedy = "Count the second with like=, so that bands agree."
    raise CallError(
        f"these cubes do not mean the same: {'; '.join(differences)}. Here is {first_name}, there is {name}. {remedy}"
    )
