"""Files of which some may be damaged: the bad ones are named, and left out only if that is asked for, with a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.cube import merge as merging
from evenhand.cube import parquet
from evenhand.cube.cube import Cube
from evenhand.errors import DataError, EvenhandError, join_names
from evenhand.sources.files import FileSource
from evenhand.sources.files.formats import explain

_MOST_REASONS = 10  # in one message


def count(files: Sequence[str | Path], arguments: dict[str, Any], *, skip_bad: bool = False) -> Cube:
    """`Cube.count` of data files, with the arguments that it takes."""
    return _salvaged(files, lambda good: Cube.count(list(good), **arguments), _unreadable, skip_bad)


def merge(files: Sequence[str | Path], *, skip_bad: bool = False) -> Cube:
    """`Cube.merge` of files that hold cubes."""
    return _salvaged(files, lambda good: Cube.merge(list(good)), _no_cube, skip_bad)


def _salvaged(
    files: Sequence[str | Path],
    read: Callable[[Sequence[str | Path]], Cube],
    wrong_with: Callable[[Path], str | None],
    skip_bad: bool,
) -> Cube:
    """What is read of the files; they are looked at one by one only where something is wrong."""
    try:
        return read(files)
    except DataError as error:
        every = _expanded(files)
        bad = {path: reason for path in every if (reason := wrong_with(path)) is not None}
        if not bad or (len(every) == 1 and not skip_bad):
            raise
        good = [path for path in every if path not in bad]
        reasons = join_names(bad.values(), _MOST_REASONS, mark=" ", noun="files")
        if not skip_bad:
            raise DataError(
                f"{reasons}\n{len(bad)} of {len(every)} files cannot be read, so nothing was counted. Mend them, or "
                "leave them out with --skip-bad, which is then said in the notes."
            ) from error
        if not good:
            raise DataError(f"{reasons}\nNone of the files can be read.") from error
    cube = read(good)
    note = f"{len(bad)} of {len(every)} files could not be read and were left out: {reasons}"
    return replace(cube, notes=(*cube.notes, note))


def _expanded(files: Sequence[str | Path]) -> list[Path]:
    """The files that are there; what else is wrong with their names has been said."""
    try:
        return [path for file in files for path in merging.expand(str(file))]
    except DataError:
        return []


def _unreadable(path: Path) -> str | None:
    """Why a data file cannot be read to its end; what its values mean is not asked."""
    import duckdb

    try:
        source = FileSource(path)
        source.connection.execute(f"SELECT bit_xor(hash(line)) FROM {source.table.relation} AS line")  # noqa: S608
    except duckdb.Error as error:
        return f"{explain([path], source.format, error).rstrip('.')}."
    except EvenhandError as error:
        return str(error)
    return None


def _no_cube(path: Path) -> str | None:
    try:
        parquet.load(path)
    except EvenhandError as error:
        return str(error)
    return None
