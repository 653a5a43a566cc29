"""A cube as a file: Parquet with a line for each cell and the meaning, versioned, in its metadata. Never pickle.

The lines are those of `cubetables`, with the names of stratum and group in columns of their own, so that any tool can
read them; cells of scores have no prediction, cells of decisions no bin.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import cubetables
from evenhand.cubetables import Columns
from evenhand.errors import DataError, short_path, shorten
from evenhand.sources.formats import literal, path_list
from evenhand.wholefile import replacing

if TYPE_CHECKING:
    from evenhand.cube import Cube

VERSION = 1
_KEY = "evenhand_cube"
_KINDS = {"label": "SMALLINT", "prediction": "SMALLINT", "bin": "INTEGER", "n": "BIGINT"}


def save(cube: Cube, path: Path) -> None:
    """Write to a temporary file beside the target, then rename: no reader ever sees half a cube."""
    import duckdb

    lines = _lines(cube)
    header = json.dumps({"version": VERSION, **cubetables.header(cube)})
    fields = ", ".join(f"unnest(CAST(? AS {kind}[])) AS {name}" for name, (kind, _) in lines.items())
    with replacing(path) as temporary:
        try:
            connection = duckdb.connect()
            connection.execute(f"CREATE TABLE cells AS SELECT {fields}", [values for _, values in lines.values()])
            target = f"COPY cells TO {literal(str(temporary))}"
            connection.execute(f"{target} (FORMAT parquet, KV_METADATA {{{_KEY}: {literal(header)}}})")
            connection.close()
        except (RuntimeError, duckdb.Error) as error:
            raise OSError(str(error).partition("\n")[0]) from None


def _lines(cube: Cube) -> dict[str, tuple[str, list[Any]]]:
    """The columns with their types: those of decisions, then those of scores below them."""
    tables = [cubetables.decisions(cube), cubetables.scores(cube) or {"pair": []}]
    pairs = [cube.pairs[i] for table in tables for i in table["pair"]]
    lines: dict[str, tuple[str, list[Any]]] = {}
    for i in range(len(cube.meaning.control)):
        lines[f"control_{i}"] = ("VARCHAR", [pair[0][i] for pair in pairs])
    for i in range(len(cube.meaning.sensitive)):
        lines[f"sensitive_{i}"] = ("VARCHAR", [pair[1][i] for pair in pairs])
    for name in dict.fromkeys([*_KINDS, *(key for table in tables for key in table if key != "pair")]):
        column = [value for table in tables for value in table.get(name, [None] * len(table["pair"]))]
        lines[name] = (_KINDS.get(name, "DOUBLE"), column)
    return lines


def load(path: Path) -> Cube:
    """Read a cube back; anything else than a cube of a known version is an error that says so."""
    import duckdb

    if not path.exists():
        raise DataError(f"there is no file {short_path(path)!r}.")
    files = path_list([path])
    connection = duckdb.connect()
    try:
        metadata = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({files})").fetchall()  # noqa: S608
        found = {bytes(key).decode(): bytes(value).decode() for key, value in metadata}
        if _KEY not in found:
            raise DataError(f"{short_path(path)!r} is a Parquet file but not a cube.")
        result = connection.execute(
            f"SELECT * FROM read_parquet({files}, hive_partitioning = false)"  # noqa: S608 - the path is quoted
        )
        names = [column[0] for column in result.description]
        lines = result.fetchall()
    except duckdb.Error as error:
        reason = shorten(str(error).partition("\n")[0], 200)
        raise DataError(f"{short_path(path)!r} is not a cube: {reason}") from None
    finally:
        connection.close()
    try:
        header = json.loads(found[_KEY])
        version = header["version"]
        if version == VERSION:
            return _build(header, names, lines)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise DataError(f"{short_path(path)!r} is a damaged cube: {type(error).__name__} {error}.") from None
    raise DataError(f"{short_path(path)!r} has cube version {version!r}; this library reads version {VERSION}.")


def _build(header: dict[str, Any], names: list[str], lines: list[tuple[Any, ...]]) -> Cube:
    strata, groups = len(header["meaning"]["control"]), len(header["meaning"]["sensitive"])
    named = [(line[:strata], line[strata : strata + groups]) for line in lines]
    pairs = tuple(dict.fromkeys(named))
    place = {pair: i for i, pair in enumerate(pairs)}
    bins = names.index("bin")
    weights = ("w", "w2") if header["meaning"].get("weight") is not None else ()
    decided = ["label", "prediction", "n", *weights]
    scored = [name for name in names[strata + groups :] if name != "prediction"]
    tables: list[Columns] = []
    for wanted, has_bin in ((decided, False), (scored, True)):
        inside = [i for i, line in enumerate(lines) if (line[bins] is not None) == has_bin]
        at = {name: names.index(name) for name in wanted}
        table: Columns = {name: [lines[i][at[name]] for i in inside] for name in wanted}
        tables.append({"pair": [place[named[i]] for i in inside], **table})
    return cubetables.build(header, pairs, tables[0], tables[1] if header["reading"] else None)
