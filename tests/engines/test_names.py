"""Names that an engine may take for something else: a column is what it is called."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from engines.checks import needs
from engines.people import KINDS, LIBRARIES
from evenhand import Cube
from evenhand.errors import DataError
from evenhand.sources.files.formats import identifier

pytestmark = pytest.mark.filterwarnings("default")

NAMES = ["a.b", "x y", "q`q", 'say "no"', "Größe", "c1", "k0", "v_score", "n", "where (1=1); --", "50 %", "it's", "bin"]
COLUMNS = {name: [f"{name} {i % 3}" for i in range(60)] for name in NAMES}
COLUMNS |= {
    "yes.no": [i % 2 for i in range(60)],
    "v": [i % 3 % 2 for i in range(60)],
    "s.s": [i / 60 for i in range(60)],
}
ROLES = {"label": "yes.no", "prediction": "v", "score": "s.s", "sensitive": NAMES}


def check(data: Any) -> None:
    assert Cube.count(data, **ROLES) == Cube.count(COLUMNS, **ROLES)


@pytest.mark.parametrize("kind", ["polars lazy", "duckdb relation", "ibis duckdb"])
def test_odd_names(kind, tmp_path):
    needs(LIBRARIES.get(kind, "evenhand"))
    check(KINDS[kind](pa.table({"sex": ["F"] * 60, **COLUMNS}), tmp_path))


def test_odd_names_of_spark(spark):
    check(spark.createDataFrame(list(zip(*COLUMNS.values(), strict=True)), list(COLUMNS)))


def test_spark_may_hold_a_name_twice_or_in_two_spellings(spark):
    frame = spark.createDataFrame([(0, "a", "x", 1), (1, "b", "y", 0)], ["p", "g", "G", "g"])
    found = Cube.count(frame, prediction="p", sensitive="G")
    assert [group for (group,) in found.groups] == ["x", "y"]
    with pytest.raises(DataError, match="several columns named 'g'"):
        Cube.count(frame, prediction="p", sensitive="g")


def test_odd_names_of_dask(dask):
    import dask.dataframe as dd

    check(dd.from_pandas(pd.DataFrame(COLUMNS), npartitions=2))


def test_odd_names_of_postgresql(postgres):
    import ibis

    kinds = {"yes.no": "bigint", "v": "bigint", "s.s": "double precision"}
    fields = ", ".join(f"{identifier(name)} {kinds.get(name, 'text')}" for name in COLUMNS)
    with postgres.connect() as connection:
        connection.execute(f"CREATE TABLE odd ({fields})")
        with connection.cursor().copy("COPY odd FROM STDIN") as copy:
            for row in zip(*COLUMNS.values(), strict=True):
                copy.write_row(row)
    server = ibis.connect(postgres.url)
    check(server.table("odd"))
    server.disconnect()
