"""Columns and tables of every kind that people have: each gives the cube of the plain form, or an error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset as ds
from pyarrow import parquet as pq
from sklearn.utils import Bunch

import evenhand as eh

N = 300
_DRAWN = np.random.default_rng(3)
PANDAS = pd.DataFrame(
    {"y": _DRAWN.integers(0, 2, N), "d": _DRAWN.integers(0, 2, N), "g": _DRAWN.choice(["a", "b", "c"], N)}
)
POLARS, ARROW = pl.DataFrame(PANDAS.to_dict("list")), pa.table(PANDAS)
ROLES = {"label": "y", "prediction": "d", "sensitive": "g"}
PLAIN = eh.Cube.count(PANDAS, **ROLES)
COLUMNS = {"label": PANDAS["y"], "prediction": PANDAS["d"], "sensitive": PANDAS["g"]}
UNNAMED = {role: column.to_numpy() for role, column in COLUMNS.items()}
OF_ARRAYS = eh.Cube.count(**UNNAMED)


class Interchange:
    """A table that can be read only by the dataframe interchange protocol."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas says that it will not have it for ever
            return self.frame.__dataframe__(nan_as_null, allow_copy)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Any:
    path = tmp_path_factory.mktemp("parts")
    for i in range(3):
        pq.write_table(ARROW.slice(100 * i, 100), path / f"part{i}.parquet")
    return path


@pytest.mark.parametrize("frame", [PANDAS, POLARS, ARROW], ids=["pandas", "polars", "pyarrow"])
def test_a_table_of_one_column_is_that_column(frame):
    part = frame.select if hasattr(frame, "select") else frame.__getitem__
    found = eh.Cube.count(label=part(["y"]), prediction=part(["d"]), sensitive=part(["g"]))
    assert found == PLAIN


def test_an_array_of_one_column_is_that_column():
    assert eh.Cube.count(**{role: column[:, None] for role, column in UNNAMED.items()}) == OF_ARRAYS
    assert eh.Cube.count(UNNAMED["label"][:, None], UNNAMED["prediction"][:, None], sensitive=UNNAMED["sensitive"]) == (
        OF_ARRAYS
    )


@pytest.mark.parametrize("role", ["label", "prediction"])
def test_two_columns_are_not_one(role):
    with pytest.raises(eh.CallError, match="pass one column of it"):
        eh.Cube.count(**{**COLUMNS, role: PANDAS[["y", "d"]]})
    with pytest.raises(eh.CallError, match="2 dimensions: pass one value for each row"):
        eh.Cube.count(**{**UNNAMED, role: np.zeros((N, 2))})


def test_a_dataset_of_arrow_is_read_by_its_engine(folder):
    assert eh.Cube.count(ds.dataset(folder), **ROLES) == PLAIN
    assert eh.Cube.count(ds.dataset(ARROW), **ROLES) == PLAIN
    assert eh.audit(ds.dataset(folder), **ROLES).cube == PLAIN


def test_a_dataset_of_arrow_is_loaded_where_rows_are_needed(folder):
    table = ds.dataset(folder)
    assert float(eh.consistency(table, prediction="d", features=["y"], k=2)) == float(
        eh.consistency(ARROW, prediction="d", features=["y"], k=2)
    )


def test_a_list_of_rows_is_a_table():
    rows = PANDAS.to_dict("records")
    assert eh.Cube.count(rows, **ROLES) == PLAIN
    assert eh.Cube.count(tuple(rows), **ROLES) == PLAIN


def test_a_row_without_a_key_lacks_that_value():
    rows = [{"d": 1, "g": "a"}, {"d": 0, "g": "b"}, {"d": 1}]
    assert eh.Cube.count(rows, prediction="d", sensitive="g").groups == (("a",), ("b",), (None,))


def test_a_list_of_tables_is_still_read_in_chunks():
    parts = [PANDAS[:100], PANDAS[100:]]
    assert eh.Cube.count(parts, **ROLES) == PLAIN
    assert eh.Cube.count([part.to_dict("list") for part in parts], **ROLES) == PLAIN


def test_the_interchange_protocol_is_read():
    assert eh.Cube.count(Interchange(PANDAS), **ROLES) == PLAIN


def test_what_no_protocol_reads_names_the_remedy():
    class Broken:
        def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
            raise TypeError("no")

    with pytest.raises(eh.CallError, match="pip install pyarrow"):
        eh.Cube.count(Broken(), **ROLES)


def test_a_series_of_dask_is_a_column():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(PANDAS, npartitions=3)
    assert eh.Cube.count(label=frame["y"], prediction=frame["d"], sensitive=frame["g"]) == PLAIN
    assert eh.Cube.count(frame["y"], frame["d"], sensitive=frame["g"]) == PLAIN
    with pytest.raises(eh.DataError, match="Dask holds the data: name a column of it"):
        eh.Cube.count(frame, label=frame["y"], prediction="d", sensitive="g")


def test_a_bunch_of_scikit_learn_is_its_table():
    assert eh.Cube.count(Bunch(frame=PANDAS, data=None, target=None), **ROLES) == PLAIN
    with pytest.raises(eh.CallError, match="as_frame=True"):
        eh.Cube.count(Bunch(data=np.zeros((3, 2)), target=np.zeros(3)), **ROLES)


DTYPES = ["bool", "boolean", "int8", "uint8", "int64", "Int64", "float16", "float32", "float64", "Float64", "category"]
DTYPES += ["object", "str", "string", "string[pyarrow]", "int8[pyarrow]", "double[pyarrow]", "bool[pyarrow]"]
DTYPES += [pd.SparseDtype(int, 0), pd.ArrowDtype(pa.decimal128(20, 0)), pd.CategoricalDtype([1, 0])]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_series_of_every_dtype_is_read_alike(dtype):
    assert eh.Cube.count(**{**COLUMNS, "label": PANDAS["y"].astype(dtype)}) == PLAIN
    assert eh.Cube.count(**{**COLUMNS, "prediction": PANDAS["d"].astype(dtype)}) == PLAIN


def test_a_lazy_table_of_one_column_names_the_remedy():
    with pytest.raises(eh.CallError, match="pass one column of it"):
        eh.Cube.count(**{**COLUMNS, "label": POLARS.lazy().select("y")})
