"""200,000 people with everything that can be odd, once; and as every kind of data that needs no server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

SIZE = 200_000


def people(size: int = SIZE, seed: int = 3) -> pa.Table:
    """Nulls in keys, NaN and null scores, booleans, categories, unlabelled rows, weights and counts."""
    rng = np.random.default_rng(seed)

    def absent(share: float) -> np.ndarray:
        return rng.random(size) < share

    score = rng.beta(2, 3, size)
    score[absent(0.01)] = np.nan
    outcome = rng.gamma(2, 10, size)
    return pa.table(
        {
            "race": pa.array(rng.choice(["Black", "White", "Asian", "Älter, x"], size), mask=absent(0.05)),
            "sex": pa.array(rng.choice(["F", "M"], size)).dictionary_encode(),
            "veteran": pa.array(rng.random(size) < 0.1, mask=absent(0.02)),
            "region": pa.array(rng.choice(["007", "7", "NA"], size), mask=absent(0.1)),
            "age": pa.array(rng.integers(18, 70, size), mask=absent(0.03)),
            "income": pa.array(rng.lognormal(10, 1, size)),
            "y": pa.array((rng.random(size) < np.nan_to_num(score, nan=0.5)).astype("int64"), mask=absent(0.2)),
            "approved": pa.array(rng.random(size) < 0.4),
            "s": pa.array(score, mask=absent(0.01)),
            "decile": pa.array(rng.integers(1, 11, size), mask=absent(0.01)),
            "w": pa.array(rng.exponential(1, size)),
            "c": pa.array(rng.integers(0, 4, size)),
            "outcome": pa.array(outcome, mask=absent(0.1)),
            "predicted": pa.array(outcome + rng.normal(0, 3, size)),
            "person": pa.array(rng.integers(0, size // 5, size)),
            "state": pa.array(rng.choice(["north", "south"], size)),
            "grade": pa.array(rng.integers(1, 4, size)),
        }
    )


ROLES: dict[str, dict[str, Any]] = {
    "decisions": {
        "label": "y",
        "prediction": "approved",
        "sensitive": ["race", "sex", "veteran", "income"],
        "control": "region",
        "weight": "w",
    },
    "scores": {
        "label": "y",
        "prediction": "approved",
        "score": "s",
        "cutoff": 0.3,
        "score_range": (0, 1),
        "sensitive": ["race", "sex"],
        "weight": "w",
    },
    "score looked at": {"label": "y", "score": "s", "sensitive": "sex", "count": "c", "higher_is": "negative"},
    "few scores": {"label": "y", "score": "decile", "sensitive": ["sex", "age"], "bands": {"age": [18, 30, 50, 70]}},
    "quantile bins": {"score": "s", "sensitive": "race", "strategy": "quantile", "missing": "drop", "bins": 4},
    "regression": {
        "label": "outcome",
        "prediction": "predicted",
        "sensitive": "sex",
        "count": "c",
        "weight": "w",
    },
    "clusters": {
        "label": "y",
        "prediction": "approved",
        "sensitive": ["race", "sex"],
        "control": "region",
        "weight": "w",
        "cluster": "person",
        "design_strata": "state",
        "na": "NA",
    },
    "clusters by score": {
        "label": "y",
        "prediction": "approved",
        "score": "s",
        "cutoff": 0.3,
        "sensitive": "race",
        "missing": "drop",
        "cluster": "person",
    },
    "clusters of classes": {
        "label": "decile",
        "prediction": "grade",
        "task": "multiclass",
        "sensitive": ["veteran", "income"],
        "count": "c",
        "cluster": "person",
    },
    "clusters of a regressor": {
        "label": "outcome",
        "prediction": "predicted",
        "sensitive": "sex",
        "cluster": "person",
    },
}


def columns(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: table[name].to_pandas().to_numpy() for name in table.column_names}


def _pandas(table: pa.Table, _folder: Path) -> pd.DataFrame:
    return table.to_pandas()


def _nullable(table: pa.Table, _folder: Path) -> pd.DataFrame:
    return table.to_pandas(types_mapper=_NULLABLE.get)


def _pandas_arrow(table: pa.Table, _folder: Path) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)


_NULLABLE = {
    pa.string(): pd.StringDtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.float64(): pd.Float64Dtype(),
}


def plain(table: pa.Table) -> pa.Table:
    """Without categories, for what knows none."""
    return table.set_column(table.column_names.index("sex"), "sex", table["sex"].cast(pa.string()))


def _parquet(table: pa.Table, folder: Path) -> Path:
    pa.parquet.write_table(table, folder / "people.parquet", row_group_size=20_000)
    return folder / "people.parquet"


def _csv(table: pa.Table, folder: Path) -> Path:
    plain(table).to_pandas().to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def _json(table: pa.Table, folder: Path) -> Path:
    pl.from_arrow(plain(table)).with_columns(pl.col("s").fill_nan(None)).write_ndjson(folder / "people.jsonl")
    return folder / "people.jsonl"


def _connected(table: pa.Table) -> Any:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return connection


def _ibis_duckdb(table: pa.Table, _folder: Path) -> Any:
    import ibis

    return ibis.duckdb.from_connection(_connected(table)).table("people")


def _ibis_sqlite(table: pa.Table, folder: Path) -> Any:
    import ibis

    with sqlite3.connect(folder / "people.sqlite") as connection:
        kinds = {"veteran": "BOOLEAN", "approved": "BOOLEAN"}
        plain(table).to_pandas().to_sql("people", connection, index=False, if_exists="replace", dtype=kinds)
    return ibis.sqlite.connect(folder / "people.sqlite").table("people")


def _sqlframe(table: pa.Table, _folder: Path) -> Any:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession(conn=_connected(plain(table))).table("people")


KINDS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "numpy": lambda table, _: columns(table),
    "pandas": _pandas,
    "pandas nullable": _nullable,
    "pandas arrow": _pandas_arrow,
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table, _: table,
    "duckdb relation": lambda table, _: _connected(table).table("people"),
    "ibis duckdb": _ibis_duckdb,
    "ibis sqlite": _ibis_sqlite,
    "sqlframe": _sqlframe,
    "csv": _csv,
    "parquet": _parquet,
    "jsonl": _json,
}

LIBRARIES = {"ibis duckdb": "ibis", "ibis sqlite": "ibis", "sqlframe": "sqlframe"}
"""What some kinds need beside the libraries of all tests."""
