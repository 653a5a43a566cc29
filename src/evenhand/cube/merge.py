"""Many cubes as one: cubes, files of cubes or a glob, which must all mean the same.

Of many files some may be damaged: those are named, and left out only on request, with a note in the cube.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from evenhand.core import inputs
from evenhand.core.arguments import is_series
from evenhand.cube import scores
from evenhand.cube.cube import Cube, collect
from evenhand.errors import CallError, DataError, EvenhandError, as_typed, join_names, short_path, shorten
from evenhand.sources.files import FileSource
from evenhand.sources.files.formats import explain
from evenhand.sources.periods import natural
from evenhand.sources.roles import DEFAULTS, Span

CUBE_SUFFIX = ".cube"
_MOST_REASONS = 10  # files whose damage an error describes one by one


def merge(cubes: Any, clusters: Span | None = None) -> Cube:
    """The sum of cubes, given as `Cube.merge` takes them; files that are cut alike are added while they are read."""
    if clusters is not None and not (isinstance(clusters, str) and clusters in get_args(Span)):
        raise CallError(f"clusters={shorten(repr(clusters))} must be 'within', or left out.")
    parts = named(cubes)
    if not parts:
        raise CallError("there are no cubes to merge.")
    paths = [part for part in parts.values() if isinstance(part, Path)]
    summands = [(name, part) for name, part in parts.items() if isinstance(part, Cube)]
    if paths:
        from evenhand.cube import parquet

        summands += [(repr(short_path(path)), cube) for path, cube in parquet.load_sums(paths)]
    return add(summands, clusters)


def counted(data: Any, arguments: Mapping[str, Any]) -> Cube | None:
    """The cube that `data` is, or names: a cube, the path of a saved one, a glob, or several of these, which are added.

    None for any other data. `arguments` say how rows are read: with a cube they are an error, because they would have
    no effect.
    """
    parts = list(data) if isinstance(data, (list, tuple)) else [data]
    others = [part for part in parts if not (isinstance(part, Cube) or _names_cube(part))]
    if len(others) == len(parts):
        return None
    if others:
        raise CallError(
            f"cubes and {shorten(repr(others[0]))} cannot be read together: count that first, with Cube.count()."
        )
    said = {name: value for name, value in arguments.items() if name != "clusters"}
    given = [name for name, value in said.items() if not _is_default(value, DEFAULTS.get(name))]
    if given:
        names = ", ".join(f"{name}=" for name in given)
        raise CallError(f"a cube already knows its columns and how they were counted: leave out {names}.")
    return data if isinstance(data, Cube) else merge(parts, arguments.get("clusters"))


def _names_cube(part: Any) -> bool:
    return isinstance(part, (str, os.PathLike)) and os.fsdecode(os.fspath(part)).endswith(CUBE_SUFFIX)


def _is_default(value: Any, default: Any) -> bool:
    return value is None or (isinstance(value, (str, int, float, tuple)) and value == default)


def add(cubes: Sequence[tuple[str, Cube]], clusters: Span | None = None) -> Cube:
    """The sum of cubes, each with a name by which the error calls it if it does not fit."""
    first_name, first = cubes[0]
    if len(cubes) > 1 and first.meaning.cluster is not None and clusters is None:
        said, left_out = as_typed("clusters='within'", "--clusters within"), as_typed("cluster=", "--cluster")
        raise CallError(
            f"these cubes have clusters of {shorten(first.meaning.cluster)!r}, and a cluster that has rows in two of "
            f"them would be counted as two. If none has, say {said}; else count all of the data at once, or count "
            f"without {left_out}."
        )
    reading = None if first.scores is None else first.scores.reading
    for name, cube in cubes[1:]:
        _check_meaning(first_name, first, name, cube)
        if reading is not None and cube.scores is not None:
            try:
                reading = scores.united([reading, cube.scores.reading])
            except CallError as error:
                raise CallError(f"{name} does not add to {first_name}: {error}") from None
    return collect([(cube, cube.pairs) for _, cube in cubes], first.meaning)


def named(cubes: Any) -> dict[str, Cube | Path]:
    """Cubes and paths of saved ones by name: the key in a mapping, else the file, else the position.

    >>> list(named({"monday": Path("a.cube"), "tuesday": Path("b.cube")}))
    ['monday', 'tuesday']
    """
    parts = _parts(cubes)
    inputs.check_once(part for _, part in parts if isinstance(part, Path))
    return dict(parts)


def _parts(cubes: Any) -> list[tuple[str, Cube | Path]]:
    if isinstance(cubes, Mapping):
        return [(str(name), _part(part, str(name))) for name, part in cubes.items()]
    if isinstance(cubes, (Cube, str, os.PathLike)):
        cubes = [cubes]
    if not is_series(cubes):
        raise CallError(f"pass cubes, paths of saved cubes or a glob, not {type(cubes).__name__}.")
    found: list[tuple[str, Cube | Path]] = []
    for i, part in enumerate(cubes, 1):
        if isinstance(part, Cube):
            found.append((f"cube {i}", part))
        else:
            found += [(repr(str(path)), path) for path in expand(_path(part, f"cube {i}"))]
    return found


def expand(text: str) -> list[Path]:
    """The file of that name, or those that a pattern matches, with 2 before 10."""
    found = inputs.find(text, f"*{CUBE_SUFFIX}", natural)
    if not found:
        raise DataError(f"there is no file {short_path(text)!r}.")
    return found


def _part(value: Any, name: str) -> Cube | Path:
    return value if isinstance(value, Cube) else Path(os.path.expanduser(_path(value, name)))


def _path(value: Any, name: str) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(os.fspath(value))
    raise CallError(f"{shorten(name)} is of type {type(value).__name__}; give cubes, or paths of saved ones.")


def _check_meaning(first_name: str, first: Cube, name: str, cube: Cube) -> None:
    differences = first.meaning.differences(cube.meaning)
    if not differences:
        return
    parts = [difference.partition(" ")[0] for difference in differences]
    remedy = f"Count both with the same {', '.join(f'{part}=' for part in parts)}."
    if "bands" in parts:
        remedy = "Count the second with like=, so that bands agree."
    raise CallError(
        f"these cubes were not counted alike: {'; '.join(differences)}. Here means {first_name}, there {name}. {remedy}"
    )


def count_files(files: Sequence[str | Path], arguments: dict[str, Any], *, skip_bad: bool = False) -> Cube:
    """`Cube.count` of data files; damaged ones are named in the error, or left out with `skip_bad`."""
    return _read_good(files, lambda good: Cube.count(list(good), **arguments), _damage_of_data, skip_bad)


def whole_files(files: Sequence[str | Path]) -> list[Path]:
    """The data files that can be read to their end, of which `count_files` makes a cube with `skip_bad`."""
    return [path for path in _expanded(files) if _damage_of_data(path) is None]


def merge_files(files: Sequence[str | Path], *, skip_bad: bool = False, clusters: Span | None = None) -> Cube:
    """`Cube.merge` of files that hold cubes; damaged ones are named in the error, or left out with `skip_bad`."""
    return _read_good(files, lambda good: Cube.merge(list(good), clusters=clusters), _damage_of_cube, skip_bad)


def _read_good(
    files: Sequence[str | Path],
    read: Callable[[Sequence[str | Path]], Cube],
    damage: Callable[[Path], str | None],
    skip_bad: bool,
) -> Cube:
    """The cube that `read` makes of the files. They are checked one by one only after something went wrong."""
    try:
        return read(files)
    except DataError as error:
        every = _expanded(files)
        bad = {path: reason for path in every if (reason := damage(path)) is not None}
        if not bad or (len(every) == 1 and not skip_bad):
            raise
        good = [path for path in every if path not in bad]
        reasons = join_names(bad.values(), _MOST_REASONS, mark=" ", noun="files")
        if not skip_bad:
            raise DataError(
                f"{reasons}\n{len(bad)} of {len(every)} files cannot be read, so nothing was counted. Repair them, or "
                "leave them out with --skip-bad; the notes then say so."
            ) from error
        if not good:
            raise DataError(f"{reasons}\nNone of the files can be read.") from error
    cube = read(good)
    note = f"{len(bad)} of {len(every)} files could not be read and were left out: {reasons}"
    return replace(cube, notes=(*cube.notes, note))


def _expanded(files: Sequence[str | Path]) -> list[Path]:
    """The files that exist; none where a name is wrong, because the error has said so already."""
    try:
        return [path for file in files for path in expand(str(file))]
    except DataError:
        return []


def _damage_of_data(path: Path) -> str | None:
    """Why a data file cannot be read to its end, whatever its values mean; None for a whole file."""
    import duckdb

    try:
        source = FileSource(path)
        source.connection.execute(f"SELECT bit_xor(hash(line)) FROM {source.table.relation} AS line")  # noqa: S608
    except duckdb.Error as error:
        return f"{explain([path], source.format, error).rstrip('.')}."
    except EvenhandError as error:
        return str(error)
    return None


def _damage_of_cube(path: Path) -> str | None:
    """Why a file cannot be read as a cube; None for a whole cube."""
    from evenhand.cube import parquet

    try:
        parquet.load(path)
    except EvenhandError as error:
        return str(error)
    return None
