"""A cube as a file: Parquet with a line for each cell and the meaning, versioned, in its metadata. Never pickle."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import DataError, short_path, shorten
from evenhand.sources.formats import literal, path_list

if TYPE_CHECKING:
    from evenhand.cube import Cube

VERSION = 1
_KEY = "evenhand_cube"


def save(cube: Cube, path: Path) -> None:
    """Write to a temporary file beside the target, then rename: no reader ever sees half a cube."""
    import duckdb

    where = np.argwhere(cube.n > 0) if cube.w is None else np.argwhere((cube.n > 0) | (cube.w > 0))
    pairs = [cube.pairs[i] for i in where[:, 0]]
    columns: dict[str, tuple[str, list[Any]]] = {}
    for i in range(len(cube.meaning.control)):
        columns[f"control_{i}"] = ("VARCHAR[]", [pair[0][i] for pair in pairs])
    for i in range(len(cube.meaning.sensitive)):
        columns[f"sensitive_{i}"] = ("VARCHAR[]", [pair[1][i] for pair in pairs])
    places = tuple(where.T)
    columns["label"] = ("TINYINT[]", where[:, 1].tolist())
    columns["prediction"] = ("TINYINT[]", where[:, 2].tolist())
    columns["n"] = ("BIGINT[]", cube.n[places].tolist())
    if cube.w is not None and cube.w2 is not None:
        columns["w"] = ("DOUBLE[]", cube.w[places].tolist())
        columns["w2"] = ("DOUBLE[]", cube.w2[places].tolist())
    header = json.dumps(
        {"version": VERSION, "meaning": asdict(cube.meaning), "facts": dict(cube.facts), "cut_by_us": cube.cut_by_us}
    )
    fields = ", ".join(f"unnest(CAST(? AS {kind})) AS {name}" for name, (kind, _) in columns.items())
    temporary = path.parent / f".evenhand-{secrets.token_hex(8)}"
    try:
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE cells AS SELECT {fields}", [values for _, values in columns.values()])
        copy = f"COPY cells TO {literal(str(temporary))} (FORMAT parquet, KV_METADATA {{{_KEY}: {literal(header)}}})"
        connection.execute(copy)
        connection.close()
        os.replace(temporary, path)
    except (OSError, RuntimeError, duckdb.Error) as error:
        raise DataError(f"{short_path(path)!r} cannot be written: {str(error).partition(chr(10))[0]}") from None
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path) -> Cube:
    """Read a cube back; anything else than a cube of a known version is an error that says so."""
    import duckdb

    from evenhand.cube import Cube, Meaning

    if not path.exists():
        raise DataError(f"there is no file {short_path(path)!r}.")
    files = path_list([path])
    connection = duckdb.connect()
    try:
        metadata = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({files})").fetchall()  # noqa: S608
        found = {bytes(key).decode(): bytes(value).decode() for key, value in metadata}
        if _KEY not in found:
            raise DataError(f"{short_path(path)!r} is a Parquet file but not a cube.")
        lines = connection.execute(
            f"SELECT * FROM read_parquet({files}, hive_partitioning = false)"  # noqa: S608 - the path is quoted
        ).fetchall()
    except duckdb.Error as error:
        reason = shorten(str(error).partition("\n")[0], 200)
        raise DataError(f"{short_path(path)!r} is not a cube: {reason}") from None
    finally:
        connection.close()
    try:
        header = json.loads(found[_KEY])
        version = header["version"]
        if version == VERSION:
            return _build(Cube, Meaning, header, lines)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise DataError(f"{short_path(path)!r} is a damaged cube: {type(error).__name__} {error}.") from None
    raise DataError(f"{short_path(path)!r} has cube version {version!r}; this library reads version {VERSION}.")


def _build(cube: Any, meaning: Any, header: dict[str, Any], lines: list[tuple[Any, ...]]) -> Cube:
    told = header["meaning"]
    told |= {"sensitive": tuple(told["sensitive"]), "control": tuple(told["control"])}
    told |= {part: {key: tuple(values) for key, values in told[part].items()} for part in ("positive", "bands")}
    strata, groups = len(told["control"]), len(told["sensitive"])
    pairs = tuple(dict.fromkeys((line[:strata], line[strata : strata + groups]) for line in lines))
    place = {pair: i for i, pair in enumerate(pairs)}
    weighted = told["weight"] is not None
    n = np.zeros((len(pairs), 3, 3), dtype=np.int64)
    w, w2 = (np.zeros(n.shape), np.zeros(n.shape)) if weighted else (None, None)
    for line in lines:
        label, prediction, count, *sums = line[strata + groups :]
        cell = place[line[:strata], line[strata : strata + groups]], label, prediction
        n[cell] = count
        if w is not None and w2 is not None:
            w[cell], w2[cell] = sums
    facts, cut = header["facts"], tuple(header["cut_by_us"])
    return cube(meaning(**told), pairs, n, w, w2, cut, facts)  # type: ignore[no-any-return]
