"""The same data gives the same cube, whatever holds it."""

from __future__ import annotations

import copy
import datetime
import pickle
import random
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from evenhand import Cube
from support.backends import BACKENDS, FILES, Columns
from support.profiles import each_of, examples
from support.strategies import Table, any_tables

every_backend = pytest.mark.parametrize("backend", BACKENDS)


def people(size: int = 97) -> Columns:
    """Rows with everything that can be odd: missing groups and labels, weights, counts, a score at the cutoff."""
    draw = random.Random(7)
    return {
        "race": [draw.choice(["Black", "White", "Asian", "Älter, x", None]) for _ in range(size)],
        "sex": [draw.choice(["F", "M"]) for _ in range(size)],
        "region": [draw.choice(["007", "7", "NA", None]) for _ in range(size)],
        "age": [draw.choice([None, *range(18, 31)]) for _ in range(size)],
        "income": [draw.choice([None, 0.5, 1.25, 2.0]) for _ in range(size)],
        "y": [draw.choice([0, 1, None]) for _ in range(size)],
        "p": [draw.choice([0, 1]) for _ in range(size)],
        "s": [draw.choice([0.1, 0.25, 0.5, 0.30000000000000004, draw.random()]) for _ in range(size)],
        "w": [draw.choice([0.0, 0.5, 1.7, draw.random()]) for _ in range(size)],
        "c": [draw.choice([0, 1, 2, 9]) for _ in range(size)],
    }


PEOPLE = people()

ROLES = {
    "prediction": {"prediction": "p", "sensitive": "race"},
    "label": {"label": "y", "sensitive": ["race", "sex"]},
    "both": {"label": "y", "prediction": "p", "sensitive": ["race", "sex"]},
    "control": {"label": "y", "prediction": "p", "sensitive": "race", "control": ["region", "sex"]},
    "weight": {"label": "y", "prediction": "p", "sensitive": "race", "weight": "w"},
    "count": {"label": "y", "prediction": "p", "sensitive": "race", "count": "c"},
    "count-weight": {"label": "y", "prediction": "p", "sensitive": "race", "count": "c", "weight": "w"},
    "score": {"label": "y", "score": "s", "cutoff": 0.30000000000000004, "sensitive": "race"},
    "score-prediction": {"prediction": "p", "score": "s", "cutoff": 0.5, "sensitive": "sex"},
    "whole": {"prediction": "p", "sensitive": "age"},
    "fractions": {"prediction": "p", "sensitive": "income"},
    "bands": {
        "label": "y",
        "prediction": "p",
        "sensitive": ["age", "income"],
        "bands": {"age": [18, 21, 25, 30], "income": [-np.inf, 1.25, np.inf]},
    },
    "drop": {"label": "y", "prediction": "p", "sensitive": ["race", "age"], "missing": "drop"},
    "na": {"prediction": "p", "sensitive": ["region", "age"], "na": ["NA", "18"]},
    "score-na": {"prediction": "p", "score": "s", "cutoff": 0.3, "sensitive": "sex", "na": ["0.1"]},
    "positive": {"label": "y", "prediction": "p", "sensitive": "sex", "positive": {"label": 0, "prediction": 1.0}},
}


@each_of("backend, roles", {f"{backend}-{roles}": (backend, roles) for backend in BACKENDS for roles in ROLES}, 100)
def test_the_same_data_is_the_same_cube(backend, roles, tmp_path):
    expected = Cube.count(PEOPLE, **ROLES[roles])
    found = Cube.count(BACKENDS[backend](PEOPLE, tmp_path), **ROLES[roles])
    assert found == expected
    assert found.pairs == expected.pairs
    assert np.array_equal(found.n, expected.n)
    for mine, theirs in ((found.w, expected.w), (found.w2, expected.w2)):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=0)


def test_a_cube_is_what_the_rows_say():
    cube = Cube.count(PEOPLE, label="y", prediction="p", sensitive="race", control="sex", count="c", weight="w")
    place = {pair: i for i, pair in enumerate(cube.pairs)}
    n, w = np.zeros(cube.n.shape, dtype=int), np.zeros(cube.n.shape)
    for race, sex, y, p, count, weight in zip(*(PEOPLE[k] for k in ("race", "sex", "y", "p", "c", "w")), strict=True):
        if count:
            cell = place[(sex,), (race,)], 2 if y is None else y, p
            n[cell] += count
            w[cell] += count * weight
    assert np.array_equal(cube.n, n)
    np.testing.assert_allclose(cube.w, w, rtol=1e-12)


BOOLEANS = {"g": ["a", "b", None, "a", "b", "a"] * 4, "y": [True, False, None, True] * 6, "p": [True, False] * 12}


@every_backend
def test_booleans_are_labels_and_groups(backend, tmp_path):
    expected = Cube.count(
        {**BOOLEANS, "y": [1, 0, None, 1] * 6, "p": [1, 0] * 12}, label="y", prediction="p", sensitive="g"
    )
    assert Cube.count(BACKENDS[backend](BOOLEANS, tmp_path), label="y", prediction="p", sensitive="g") == expected
    groups = Cube.count(BACKENDS[backend](BOOLEANS, tmp_path), prediction="p", sensitive="y").groups
    assert groups == (("False",), ("True",), (None,))


def _timestamps(zone: str | None) -> pa.Array:
    return pa.array([0, 1_577_836_800_500_000, None] * 2, type=pa.timestamp("us", tz=zone))


UNUSUAL: dict[str, tuple[pa.Array, list[str | None]]] = {
    "decimal": (pa.array([Decimal("1.00"), Decimal("2.50"), None] * 2, type=pa.decimal128(9, 2)), ["1", "2.5", None]),
    "decimal-id": (
        pa.array([Decimal(10**30), Decimal(10**30 + 1), None] * 2, type=pa.decimal128(38, 0)),
        [str(10**30), str(10**30 + 1), None],
    ),
    "past-2^53": (pa.array([2**53 + 1, 2**53 + 2, None] * 2), [str(2**53 + 1), str(2**53 + 2), None]),
    "uint64": (pa.array([2**64 - 1, 1, None] * 2, type=pa.uint64()), ["1", str(2**64 - 1), None]),
    "int8": (pa.array([-100, 100, None] * 2, type=pa.int8()), ["-100", "100", None]),
    "float32": (pa.array([0.5, 2.0, None] * 2, type=pa.float32()), ["0.5", "2", None]),
    "date": (
        pa.array([datetime.date(2024, 1, 31), datetime.date(1, 1, 1), None] * 2),
        ["0001-01-01", "2024-01-31", None],
    ),
    "timestamp": (_timestamps(None), ["1970-01-01 00:00:00", "2020-01-01 00:00:00.500000", None]),
    "zone": (_timestamps("UTC"), ["1970-01-01 00:00:00+00:00", "2020-01-01 00:00:00.500000+00:00", None]),
    "other-zone": (_timestamps("Asia/Tokyo"), ["1970-01-01 00:00:00+00:00", "2020-01-01 00:00:00.500000+00:00", None]),
    "bytes": (pa.array([b"a", "é".encode(), None] * 2), ["a", "é", None]),
    "nothing": (pa.nulls(6), [None]),
    "empty-text": (pa.array(["", "x", None] * 2), ["x", None]),
}


@each_of("kind", list(UNUSUAL), handful=5)
@pytest.mark.parametrize("how", ["arrow", "pandas", "pandas-arrow", "polars", "lists", "parquet", "feather"])
def test_unusual_types_are_spelled_alike(kind, how, tmp_path):
    array, expected = UNUSUAL[kind]
    table = pa.table({"g": array, "p": [1, 0, 1, 1, 0, 0]})
    if how == "parquet":
        pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    elif how == "feather":
        pyarrow.feather.write_feather(table, str(tmp_path / "x.feather"))
    data = {
        "arrow": lambda: table,
        "pandas": lambda: table.to_pandas(date_as_object=True, integer_object_nulls=True),
        "pandas-arrow": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "lists": table.to_pydict,
        "parquet": lambda: tmp_path / "x.parquet",
        "feather": lambda: tmp_path / "x.feather",
    }[how]()
    assert [group[0] for group in Cube.count(data, prediction="p", sensitive="g").groups] == expected


class Labelled:
    """Something that numpy can read and that has a name, as a DataArray of xarray has."""

    name = "race"
    ndim = 1

    def __init__(self, values: list) -> None:
        self.values = np.array(values, dtype=object)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self):
        return (np.array(value, dtype=object) for value in self.values)

    def __array__(self, dtype=None, copy=None):
        return self.values


GROUPS = ["a", "b", None, "a", "b", "a"]
ARRAYS = {
    "generator": lambda: (group for group in GROUPS),
    "map": lambda: map({"a": "a", "b": "b"}.get, GROUPS),
    "dict values": lambda: dict(enumerate(GROUPS)).values(),
    "numpy strings": lambda: [None if group is None else np.str_(group) for group in GROUPS],
    "bytes": lambda: [None if group is None else group.encode() for group in GROUPS],
    "NaN among text": lambda: [np.nan if group is None else group for group in GROUPS],
    "NaT among text": lambda: pd.Series([pd.NaT if group is None else group for group in GROUPS], dtype=object),
    "pd.NA among text": lambda: [pd.NA if group is None else group for group in GROUPS],
    "pandas Index": lambda: pd.Index(GROUPS),
    "pandas Categorical": lambda: pd.Categorical(GROUPS, categories=["z", "b", "a"], ordered=True),
    "pandas CategoricalIndex": lambda: pd.CategoricalIndex(GROUPS),
    "pandas array": lambda: pd.array(GROUPS),
    "pandas dictionary": lambda: pd.Series(GROUPS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "polars Object": lambda: pl.Series(GROUPS, dtype=pl.Object),
    "arrow unsigned dictionary": lambda: (
        pa.array(GROUPS).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.string()))
    ),
    "arrow null in dictionary": lambda: pa.DictionaryArray.from_arrays([0, 1, 2, 0, 1, 0], ["a", "b", None]),
    "arrow chunks of dictionaries": lambda: pa.chunked_array(
        [pa.array(GROUPS[:2]).dictionary_encode(), pa.array(GROUPS[2:]).dictionary_encode()]
    ),
    "like xarray": lambda: Labelled(GROUPS),
}


if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
    ARRAYS["numpy StringDType"] = lambda: np.array(GROUPS, dtype=np.dtypes.StringDType(na_object=None))


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_every_kind(kind):
    expected = Cube.count(prediction=[1, 0, 1, 1, 0, 0], sensitive={"race": GROUPS})
    assert Cube.count(prediction=[1, 0, 1, 1, 0, 0], sensitive={"race": ARRAYS[kind]()}) == expected


def test_numpy_times_and_other_scalars():
    def groups(values):
        return [group[0] for group in Cube.count(prediction=[1, 0, 1], sensitive={"g": values}).groups]

    days = np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]")
    assert groups(days) == ["2020-01-01", "2021-01-01", None]
    assert groups(list(days)) == ["2020-01-01", "2021-01-01", None]
    assert groups(days.astype("datetime64[ns]")) == ["2020-01-01 00:00:00", "2021-01-01 00:00:00", None]
    assert groups([2**63, 1, 2**53 + 1]) == ["1", str(2**53 + 1), str(2**63)]
    assert groups([10**400, 1, 1]) == ["1", str(10**400)]
    assert groups(pd.arrays.SparseArray([0, 0, 3])) == ["0", "3"]
    assert groups([1j, 2j, 1j]) == ["1j", "2j"]
    assert groups([uuid.UUID(int=1), uuid.UUID(int=2), None]) == [str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), None]
    assert groups([Decimal("NaN"), Decimal("0.10"), np.float32(2)]) == ["0.1", "2", None]


def test_an_array_may_stand_beside_a_table():
    frame = pd.DataFrame(PEOPLE)
    expected = Cube.count(PEOPLE, label="y", prediction="p", sensitive="race")
    found = Cube.count(frame, label="y", prediction=np.array(PEOPLE["p"]), sensitive=frame["race"])
    assert np.array_equal(found.n, expected.n)
    assert found.pairs == expected.pairs


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=any_tables(), random=st.randoms(use_true_random=False), data=st.data())
def test_engines_agree_on_any_table(table: Table, random, data, tmp_path_factory):
    roles = table.roles
    columns: Columns = {"label": roles["label"], "prediction": roles["prediction"]}
    columns |= {role: roles[role] for role in ("weight", "count") if role in roles}
    names = {role: list(roles[role]) for role in ("sensitive", "control") if role in roles}
    columns |= {name: roles[role][name] for role, given in names.items() for name in given}
    asked = {name: name for name in ("label", "prediction", "weight", "count") if name in columns} | names
    order = random.sample(range(len(table)), len(table))
    shuffled = {name: [values[i] for i in order] for name, values in columns.items()}
    backend = data.draw(st.sampled_from(sorted(BACKENDS)))
    if backend.endswith(("glob", "paths")) and len(table) < 3:
        return
    found = Cube.count(BACKENDS[backend](shuffled, tmp_path_factory.mktemp("data")), **asked)
    assert found == Cube.count(columns, **asked)


@examples(40)
@given(table=any_tables(counts=False), cut=st.integers(1, 3))
def test_cubes_of_chunks_add_up(table: Table, cut):
    first, second = table.take(range(cut)), table.take(range(cut, len(table)))
    whole = table.cube()
    assert first.cube(like=whole) + second.cube(like=whole) == whole


def test_cubes_of_files_add_up(tmp_path):
    roles = {"label": "y", "prediction": "p", "sensitive": ["race", "age"], "weight": "w"}
    whole = Cube.count(PEOPLE, **roles)
    parts = [{name: values[start::2] for name, values in PEOPLE.items()} for start in (0, 1)]
    (tmp_path / "other").mkdir()
    first, second = FILES["csv"](parts[0], tmp_path), FILES["csv"](parts[1], tmp_path / "other")
    assert Cube.count(first, **roles) + Cube.count(second, **roles) == whole
    assert Cube.count([first, second], **roles) == whole


@each_of("roles", list(ROLES), handful=5)
def test_a_cube_is_saved_pickled_and_copied_whole(roles, tmp_path):
    cube = Cube.count(PEOPLE, **ROLES[roles])
    cube.save(tmp_path / "it's a [cube]*")
    findings = repr(cube.audit(metrics="all").findings)
    for twin in (Cube.load(tmp_path / "it's a [cube]*"), pickle.loads(pickle.dumps(cube)), copy.deepcopy(cube)):
        assert twin == cube
        assert twin.meaning == cube.meaning
        assert twin.cut_by_us == cube.cut_by_us
        assert repr(twin.audit(metrics="all").findings) == findings
    assert [path.name for path in tmp_path.iterdir()] == ["it's a [cube]*"]
