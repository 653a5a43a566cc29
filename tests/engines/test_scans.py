"""How often an engine reads the rows: once, and once more where the range of a score has to be found first."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from engines.checks import check
from engines.people import ROLES
from evenhand import Cube

pytestmark = pytest.mark.filterwarnings("default")

SCANS = pytest.mark.parametrize(("roles", "scans"), [("scores", 1), ("score looked at", 2), ("few scores", 2)])
BEGINNING = 1  # a query for the first rows, which tells whether a score has few values; it reads no more than these


@SCANS
def test_postgresql_reads_the_table_once(postgres, roles, scans):
    import ibis

    connection = ibis.connect(postgres.url)
    table = connection.table("people")
    before = postgres.scans("people")
    check(table, roles)
    connection.disconnect()
    assert postgres.scans("people") - before == scans + BEGINNING * (scans > 1)


def test_postgresql_reads_the_table_twice_for_clusters(postgres):
    import ibis

    connection = ibis.connect(postgres.url)
    before = postgres.scans("people")
    check(connection.table("people"), "clusters")
    connection.disconnect()
    assert postgres.scans("people") - before == 2


def test_postgresql_gets_one_statement(postgres):
    import ibis

    connection = ibis.connect(postgres.url)
    table = connection.table("people")
    said = len(postgres.log.read_text())
    Cube.count(table, **ROLES["scores"])
    connection.disconnect()
    statements = re.findall(r"(?:statement|execute [^:]*): (.*?)(?=\n\d{4}-|\Z)", postgres.log.read_text()[said:], re.S)
    asked = [text for text in statements if '"people"' in text]
    assert len(asked) == 1
    assert asked[0].count("GROUP BY") == 1
    assert "JOIN" not in asked[0]


@SCANS
def test_spark_runs_as_many_queries_as_it_must(spark, parts, roles, scans):
    """By Spark's own record of the queries it has run."""
    frame = spark.read.parquet(str(parts))
    store = spark._jsparkSession.sharedState().statusStore()
    before = store.executionsCount()
    check(frame, roles)
    assert store.executionsCount() - before == scans + BEGINNING * (scans > 1)


def test_the_plan_of_spark_holds_one_scan_and_one_exchange(spark, parts):
    import narwhals.stable.v2 as nw

    from evenhand.sources.engines.plan import Columns, Plan
    from evenhand.sources.roles import assign

    frame = spark.read.parquet(str(parts))
    asked = {name: value for name, value in ROLES["decisions"].items() if name != "sensitive"}
    roles = assign(frame.columns, **asked, sensitive=["race", "sex"], task="binary")
    plan = nw.to_native(
        Plan(Columns(nw.from_native(frame), roles, {name: name for name in frame.columns}), None, {}).frame
    )
    shown = plan._jdf.queryExecution().simpleString()
    assert shown.count("FileScan parquet") == 1
    assert shown.count("Exchange hashpartitioning") == 1
    assert "Join" not in shown


@SCANS
def test_dask_reads_each_partition_as_often_as_it_must(dask, parts, tmp_path, roles, scans):
    import dask.dataframe as dd

    read = _Read(parts, tmp_path)
    check(dd.from_map(read, range(8), meta=read.meta), roles)
    times = [len(list(tmp_path.glob(f"{i}-*"))) for i in range(8)]
    assert times == [scans + BEGINNING * (scans > 1), *[scans] * 7]


class _Read:
    """A partition, and a file that says it was read."""

    def __init__(self, parts: Path, marks: Path) -> None:
        self.parts, self.marks = parts, marks
        self.meta = pd.read_parquet(parts / "part-0.parquet").head(0)

    def __call__(self, i: int) -> pd.DataFrame:
        import uuid

        (self.marks / f"{i}-{uuid.uuid4()}").touch()
        return pd.read_parquet(self.parts / f"part-{i}.parquet")
