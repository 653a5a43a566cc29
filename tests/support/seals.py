"""Files with a checksum that fits: of the past, which had none, and forged ones, whose numbers a test has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from evenhand.core import checksum
from evenhand.cube import parquet, tables
from evenhand.report.json import FORMAT


def sealed(told: dict[str, Any]) -> dict[str, Any]:
    """The plain data of an audit, or of thresholds, with the checksum of what it holds now."""
    if told["format"] != FORMAT:
        return {**told, checksum.KEY: checksum.of_record(told)}
    parts = [tables.digest(tables.read(part)) for part in told.get("parts", [])]
    digests = {"cube": tables.digest(tables.read(told["cube"])), "parts": parts}
    return {**told, checksum.KEY: checksum.of_record(told, **digests)}


def seal_json(path: Path) -> None:
    path.write_text(json.dumps(sealed(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")


def seal_cube(path: Path, change: str = "", **header: Any) -> None:
    """Write a cube again with a checksum; `change` is SQL on its `cells`, `header` replaces parts of its own."""
    with duckdb.connect() as connection:
        ask = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'evenhand_cube'"
        told = {**json.loads(connection.execute(ask, [str(path)]).fetchone()[0]), **header}
        connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{path}', hive_partitioning = false)")
        if change:
            connection.execute(change)
        quoted = json.dumps(told).replace("'", "''")
        entries = f"evenhand_cube: '{quoted}', evenhand_sha256: '{'0' * checksum.LENGTH}'"
        connection.execute(f"COPY cells TO '{path}' (FORMAT parquet, KV_METADATA {{{entries}}})")
    parquet.seal(path)
