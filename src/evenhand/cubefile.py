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
from evenhand.sources.bins import Bins
from evenhand.sources.formats import literal, path_list
from evenhand.sources.scoretable import PLAIN, WEIGHTED, ScoreTable, collect
from evenhand.sources.scoring import Reading

if TYPE_CHECKING:
    from evenhand.cube import Cube

VERSION = 1
_KEY = "evenhand_cube"


def save(cube: Cube, path: Path) -> None:
    """Write to a temporary file beside the target, then rename: no reader ever sees half a cube."""
    import duckdb

    columns = _columns(cube)
    header = json.dumps(
        {
            "version": VERSION,
            "meaning": asdict(cube.meaning),
            "facts": dict(cube.facts),
            "cut_by_us": cube.cut_by_us,
            "reading": None if cube.scores is None else asdict(cube.scores.reading),
        }
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


def _columns(cube: Cube) -> dict[str, tuple[str, list[Any]]]:
    """A line for each cell of decisions (without a bin), then one for each cell of scores (without a prediction)."""
    where = np.argwhere(cube.n > 0)
    places = tuple(where.T)
    scores = cube.scores
    more = 0 if scores is None else len(scores.n)
    pairs = [cube.pairs[i] for i in where[:, 0]] + ([cube.pairs[i] for i in scores.pair] if scores else [])
    columns: dict[str, tuple[str, list[Any]]] = {}
    for i in range(len(cube.meaning.control)):
        columns[f"control_{i}"] = ("VARCHAR[]", [pair[0][i] for pair in pairs])
    for i in range(len(cube.meaning.sensitive)):
        columns[f"sensitive_{i}"] = ("VARCHAR[]", [pair[1][i] for pair in pairs])
    columns["label"] = ("TINYINT[]", where[:, 1].tolist() + (scores.label.tolist() if scores else []))
    columns["prediction"] = ("TINYINT[]", where[:, 2].tolist() + [None] * more)
    columns["bin"] = ("INTEGER[]", [None] * len(where) + (scores.bin.tolist() if scores else []))
    columns["n"] = ("BIGINT[]", cube.n[places].tolist() + (scores.n.tolist() if scores else []))
    decided = {"w": cube.w, "w2": cube.w2} if cube.w is not None else {}
    for name in dict.fromkeys([*decided, *(scores.sums if scores else ())]):
        own = decided.get(name)
        first = [None] * len(where) if own is None else own[places].tolist()
        columns[name] = ("DOUBLE[]", first + (scores.sums[name].tolist() if scores else []))
    return columns


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
    from evenhand.cube import Cube, Meaning

    told = header["meaning"]
    told |= {"sensitive": tuple(told["sensitive"]), "control": tuple(told["control"])}
    told |= {part: {key: tuple(values) for key, values in told[part].items()} for part in ("positive", "bands")}
    strata, groups = len(told["control"]), len(told["sensitive"])
    pairs = tuple(dict.fromkeys((line[:strata], line[strata : strata + groups]) for line in lines))
    place = {pair: i for i, pair in enumerate(pairs)}
    weighted = told["weight"] is not None
    n = np.zeros((len(pairs), 3, 3), dtype=np.int64)
    w, w2 = (np.zeros(n.shape), np.zeros(n.shape)) if weighted else (None, None)
    scored: list[dict[str, Any]] = []
    for line in lines:
        told_here = dict(zip(names, line, strict=True))
        pair = place[line[:strata], line[strata : strata + groups]]
        if told_here["bin"] is not None:
            scored.append({**told_here, "pair": pair})
            continue
        cell = pair, told_here["label"], told_here["prediction"]
        n[cell] = told_here["n"]
        if w is not None and w2 is not None:
            w[cell], w2[cell] = told_here["w"], told_here["w2"]
    scores = _scores(header["reading"], scored, weighted)
    return Cube(Meaning(**told), pairs, n, w, w2, tuple(header["cut_by_us"]), header["facts"], scores)


def _scores(told: dict[str, Any] | None, lines: list[dict[str, Any]], weighted: bool) -> ScoreTable | None:
    if told is None:
        return None
    bins = told["bins"]
    cut = Bins(
        bins["low"], bins["high"], tuple(bins["extra"]), None if bins["values"] is None else tuple(bins["values"])
    )
    reading = Reading(cut, tuple(told["edges"]), told["mirror"], told["cutoff"])
    pair, label, place, n = (
        np.array([line[name] for line in lines], dtype=np.int64) for name in ("pair", "label", "bin", "n")
    )
    sums = {name: np.array([line[name] for line in lines]) for name in (WEIGHTED if weighted else PLAIN)}
    return collect(reading, pair, label, place, n, sums)
