"""The same 200,000 rows give the identical cube, whatever engine holds them: counts exactly, sums to 1e-9."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from engines.checks import check, expected, needs, same
from engines.people import KINDS, LIBRARIES, ROLES
from evenhand import Cube

every_call = pytest.mark.parametrize("roles", ROLES)

pytestmark = pytest.mark.filterwarnings("default")  # the engines warn of themselves


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("people")


@pytest.fixture(scope="module")
def made(folder: Path, table: pa.Table) -> Any:
    return cache(lambda kind: KINDS[kind](table, folder))


@every_call
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_cube_without_a_server(kind, roles, made):
    needs(LIBRARIES.get(kind, "evenhand"))
    check(made(kind), roles, text=kind == "csv")


@every_call
def test_the_same_cube_from_postgresql(postgres, roles):
    import ibis

    connection = ibis.connect(postgres.url)
    check(connection.table("people"), roles)
    connection.disconnect()


@every_call
def test_the_same_cube_from_a_spark_cluster(spark, parts, roles):
    check(spark.read.parquet(str(parts)), roles)


@every_call
def test_the_same_cube_from_a_dask_cluster(dask, parts, roles):
    import dask.dataframe as dd

    check(dd.read_parquet(str(parts / "*.parquet")), roles)


def test_the_same_cube_from_dask_with_other_types(dask, table):
    import dask.dataframe as dd

    rows = table.slice(0, 20_000)
    wanted = Cube.count(rows, **ROLES["scores"])
    for frame in (rows.to_pandas(types_mapper=pd.ArrowDtype), rows.to_pandas()):  # with a category, too
        same(Cube.count(dd.from_pandas(frame, npartitions=3), **ROLES["scores"]), wanted)


CONNECT = """
import sys
from pyspark.sql import SparkSession
import evenhand as eh
from engines.people import ROLES
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = session.read.parquet(sys.argv[1])
assert "connect" in type(frame).__module__
eh.Cube.count(frame, **ROLES["scores"]).save(sys.argv[2])
session.stop()
"""


def test_the_same_cube_from_spark_connect(java, parts, tmp_path):
    """A session of its own: one process cannot hold a classic and a remote one."""
    needs("grpc")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("SPARK_HOME", None)
    command = [sys.executable, "-c", CONNECT, str(parts), str(tmp_path / "connect.cube")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    same(Cube.load(tmp_path / "connect.cube"), expected("scores"))
