"""A cube as a file: Parquet with a line for each cell and the meaning, versioned, in its metadata. Never pickle.

The lines are those of `evenhand.cube.tables`, with the names of stratum and group as columns, so that any tool can read
them; cells of scores have no prediction, cells of decisions no bin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import checksum, records
from evenhand.core.files import read_bytes, replacing
from evenhand.core.wording import number_of
from evenhand.cube import cluster_tables, tables
from evenhand.errors import DataError, short_path, shorten
from evenhand.sources.files.formats import identifier, literal, path_list
from evenhand.sources.files.query import connect
from evenhand.sources.kinds import united_by_name
from evenhand.sources.levels import order_key
from evenhand.sources.value_labels import united_codes

if TYPE_CHECKING:
    from evenhand.cube.cube import Cube

VERSION = 1
_KEY = "evenhand_cube"
_SEAL = b"\x18\x0fevenhand_sha256\x18@"  # as the footer of Parquet writes this key and the length of its value, 64
_AXES = ("label", "prediction", "bin")
_NAMED = ("control_", "sensitive_")
_CUT_BY = ("meaning", "classes", "shape", "reading", "sums")
_LISTS = ("cut_by_us", "notes")
_MOST_ROWS = 10**6  # of a file, and ten more for each of its bytes: runs of one value take no room in it
_KINDS = {"label": "SMALLINT", "prediction": "SMALLINT", "bin": "INTEGER", "n": "BIGINT"}


def save(cube: Cube, path: Path) -> None:
    """Write a cube to a file, whole or not at all."""
    import duckdb

    lines = _lines(cube)
    sums = [] if cube.scores is None else sorted(cube.scores.sums)
    clusters = {} if cube.clusters is None else {"clusters": cluster_tables.write(cube.clusters)}
    header = json.dumps({"version": VERSION, **tables.header(cube), "sums": sums, **clusters})
    fields = ", ".join(f"unnest(CAST(? AS {kind}[])) AS {name}" for name, (kind, _) in lines.items())
    with replacing(path) as temporary:
        try:
            connection = connect([temporary])
            connection.execute(f"CREATE TABLE cells AS SELECT {fields}", [values for _, values in lines.values()])
            target = f"COPY cells TO {literal(os.path.abspath(temporary))}"
            told = f"{_KEY}: {literal(header)}, evenhand_sha256: {literal('0' * checksum.LENGTH)}"
            connection.execute(f"{target} (FORMAT parquet, KV_METADATA {{{told}}})")
            connection.close()
            seal(temporary)
        except (RuntimeError, duckdb.Error) as error:
            raise OSError(str(error).partition("\n")[0]) from None


def seal(path: Path) -> None:
    """Write the checksum of all other bytes of a file into the place that was left for it."""
    content = bytearray(path.read_bytes())
    place = content.rindex(_SEAL) + len(_SEAL)
    content[place : place + checksum.LENGTH] = _sum_around(content, place).encode()
    path.write_bytes(content)


def _is_sealed(path: Path) -> bool:
    """Has the file a checksum? One that is not that of its other bytes is an error."""
    content = read_bytes(path, "a cube")
    place = content.rfind(_SEAL) + len(_SEAL)  # from the end: what callers name stands before it
    if place < len(_SEAL):
        return False
    if content[place : place + checksum.LENGTH] != _sum_around(content, place).encode():
        raise _damaged(path, checksum.CHANGED)
    return True


def _sum_around(content: bytes | bytearray, place: int) -> str:
    parts = memoryview(content)
    return checksum.of_bytes(parts[:place], parts[place + checksum.LENGTH :])


def _lines(cube: Cube) -> dict[str, tuple[str, list[Any]]]:
    """The columns with their types: those of decisions, then those of scores below them."""
    both = [tables.decisions(cube), tables.scores(cube) or {"pair": []}]
    pairs = [cube.pairs[i] for table in both for i in table["pair"]]
    lines: dict[str, tuple[str, list[Any]]] = {}
    for i in range(len(cube.meaning.control)):
        lines[f"control_{i}"] = ("VARCHAR", [pair[0][i] for pair in pairs])
    for i in range(len(cube.meaning.sensitive)):
        lines[f"sensitive_{i}"] = ("VARCHAR", [pair[1][i] for pair in pairs])
    for name in dict.fromkeys([*_KINDS, *(key for table in both for key in table if key != "pair")]):
        column = [value for table in both for value in table.get(name, [None] * len(table["pair"]))]
        lines[name] = (_KINDS.get(name, "DOUBLE"), column)
    return lines


def load(path: Path) -> Cube:
    """Read a cube that `save` has written; DataError for a file that is not a cube of a known version."""
    return load_each([path])[0]


def load_each(paths: Sequence[Path]) -> list[Cube]:
    """Read cubes one by one."""
    with _connected(paths) as connection:
        return [_read(connection, [path], _headers(connection, [path])) for path in paths]


def load_sums(paths: Sequence[Path]) -> list[tuple[Path, Cube]]:
    """The cubes in some files, those that mean the same and are cut alike added up; each with the first of its files.

    They are added where they are read, in one statement, so that a year of days costs little more than a day; but a
    cube with clusters stands by itself. Where anything is wrong, the first file that cannot be read by itself is named.
    """
    try:
        with _connected(paths) as connection:
            headers = _headers(connection, paths)
            alike: dict[str, list[int]] = {}
            for i, header in enumerate(headers):
                told = [*(header.get(name) for name in _CUT_BY), i if "clusters" in header else None]
                alike.setdefault(json.dumps(told, sort_keys=True), []).append(i)
            return [
                (paths[places[0]], _read(connection, [paths[i] for i in places], [headers[i] for i in places]))
                for places in alike.values()
            ]
    except DataError:
        load_each(paths)
        raise


@contextmanager
def _connected(paths: Sequence[Path]) -> Iterator[Any]:
    connection = connect(paths)
    try:
        yield connection
    finally:
        connection.close()


def _ask(connection: Any, sql: str, paths: Sequence[Path], want: str = "fetchall") -> Any:
    """The answer to a query in the form of `want`; a damaged file may show only when rows are fetched."""
    import duckdb

    try:
        found = connection.execute(sql)
        return found.description if want == "description" else getattr(found, want)()
    except duckdb.Error as error:
        reason = shorten(str(error).partition("\n")[0], 200)
        raise DataError(f"{short_path(paths[0])!r} is not a cube: {reason}") from None


def _headers(connection: Any, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The header of each file, which says what its numbers mean. A file that is not as it was written is refused."""
    sealed = [_is_sealed(path) for path in paths]
    ask = f"SELECT file_name, key, value FROM parquet_kv_metadata({path_list(paths)})"  # noqa: S608 - paths are quoted
    entries = _ask(connection, ask, paths)
    found = {os.path.normpath(file): bytes(text) for file, key, text in entries if bytes(key) == _KEY.encode()}
    texts = [found.get(os.path.abspath(path)) for path in paths]
    return [_header(path, text, whole) for path, text, whole in zip(paths, texts, sealed, strict=True)]


def _header(path: Path, text: bytes | None, sealed: bool) -> dict[str, Any]:
    if text is None:
        raise DataError(f"{short_path(path)!r} is a Parquet file but not a cube.")
    try:
        header: dict[str, Any] = json.loads(text)
        version = header["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, error) from None
    if version != VERSION:
        raise DataError(
            f"{short_path(path)!r} has cube version {records.shown(version)}; this library reads version {VERSION}."
        )
    if not sealed:
        raise _damaged(path, checksum.MISSING)
    return header


def _read(connection: Any, paths: Sequence[Path], headers: Sequence[dict[str, Any]]) -> Cube:
    """The sum of files whose cells are cut alike."""
    relation = f"read_parquet({path_list(paths)}, hive_partitioning = false)"
    _check_rows(connection, paths)
    columns = _ask(connection, f"SELECT * FROM {relation} LIMIT 0", paths, "description")  # noqa: S608 - paths are quoted
    names = [column[0] for column in columns]
    select = f"SELECT * FROM {relation}"  # noqa: S608 - paths are quoted
    if len(paths) > 1:
        keys = [name for name in names if name in _AXES or name.startswith(_NAMED)]
        sums = [f"{_sum(name)} AS {identifier(name)}" for name in names if name not in keys]
        fields = ", ".join([*map(identifier, keys), *sums, "count(*) AS found_in", "min(n) AS least"])
        select = f"SELECT {fields} FROM {relation} GROUP BY {', '.join(map(identifier, keys))}"  # noqa: S608 - as above
    columns = _ask(connection, select, paths, "fetchnumpy")
    try:
        if len(paths) > 1 and (columns["found_in"].max(initial=0) > len(paths) or columns["least"].min(initial=0) < 0):
            raise ValueError("a cell occurs twice, or holds a negative number of people")
        return _build(headers, names, columns)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise _damaged(paths[0], error) from None


def _check_rows(connection: Any, paths: Sequence[Path]) -> None:
    """Refuse a file that declares more rows than a cube of its size can have, before they are read."""
    ask = f"SELECT file_name, num_rows FROM parquet_file_metadata({path_list(paths)})"  # noqa: S608 - paths are quoted
    rows = {os.path.normpath(file): number for file, number in _ask(connection, ask, paths)}
    for path in paths:
        if rows[os.path.abspath(path)] > _MOST_ROWS + 10 * path.stat().st_size:
            raise _damaged(
                path, f"it declares {number_of(rows[os.path.abspath(path)])} in {path.stat().st_size:,} bytes"
            )


def _sum(name: str) -> str:
    return "CAST(sum(n) AS BIGINT)" if name == "n" else f"kahan_sum({identifier(name)})"


def _damaged(path: Path, why: Exception | str) -> DataError:
    named = f"{type(why).__name__} {why}" if isinstance(why, (KeyError, IndexError, RecursionError)) else why
    return DataError(f"{short_path(path)!r} is a damaged cube: {named}. Count it again, or take it from a backup.")


def _build(headers: Sequence[dict[str, Any]], names: Sequence[str], columns: dict[str, Any]) -> Cube:
    header = _together(headers)
    strata, groups = len(header["meaning"]["control"]), len(header["meaning"]["sensitive"])
    texts = [_texts(columns[name]) for name in names[: strata + groups]]
    lines = list(zip(*texts, strict=True)) if texts else [()] * len(columns["n"])
    distinct = sorted(set(lines), key=lambda line: [order_key(value) for value in line])
    place = {line: i for i, line in enumerate(distinct)}
    where = np.array([place[line] for line in lines], dtype=np.int64)
    uncut = np.ma.getmaskarray(columns["bin"])
    weights = ("w", "w2") if header["meaning"].get("weight") is not None else ()
    decided = ["label", "prediction", "n", *weights]
    scored = [name for name in names[strata + groups :] if name != "prediction"]
    decisions, scores = [
        {"pair": where[inside], **{name: _present(name, columns[name][inside]) for name in wanted}}
        for wanted, inside in ((decided, uncut), (scored, ~uncut))
    ]
    pairs = [(line[:strata], line[strata:]) for line in distinct]
    cube = tables.build(header, pairs, decisions, scores if header["reading"] else None)
    return cube if "clusters" not in header else replace(cube, clusters=cluster_tables.read(header["clusters"], cube))


def _together(headers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One header for several files: facts are added up, lists are joined."""
    facts: dict[str, int] = {}
    for header in headers:
        for fact, times in header["facts"].items():
            facts[fact] = facts.get(fact, 0) + times
    joined = {name: list(dict.fromkeys(each for header in headers for each in header.get(name, ()))) for name in _LISTS}
    kinds = united_by_name(header.get("kinds", {}) for header in headers)
    codes = united_codes(header.get("codes", {}) for header in headers)
    return {**headers[0], "facts": facts, **joined, "kinds": kinds, "codes": codes}


def _texts(column: Any) -> list[str | None]:
    """Names; NULL is a missing one."""
    texts = np.ma.getdata(column).astype(object)
    texts[np.ma.getmaskarray(column)] = None
    return texts.tolist()  # type: ignore[no-any-return]


def _present(name: str, column: Any) -> Any:
    """Numbers, none of which may be missing."""
    if np.ma.getmaskarray(column).any():
        raise ValueError(f"{name} is missing in a cell")
    return np.ma.getdata(column)
