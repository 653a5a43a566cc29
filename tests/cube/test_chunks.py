"""Counting tables that come one after the other: the same cube as all at once, with one of them in memory."""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import CallError, Cube, DataError
from support.profiles import examples

SIZE = 5000
SCORES = {
    "none": (None, {}),
    "few": (lambda random: random.integers(1, 11, SIZE), {}),
    "probability": (lambda random: random.random(SIZE), {}),
    "probability, cut": (lambda random: random.random(SIZE), {"cutoff": 0.31, "bins": 7}),
    "turned": (lambda random: random.random(SIZE), {"higher_is": "negative", "cutoff": 0.31}),
    "range": (lambda random: random.normal(size=SIZE).clip(-3, 3), {"score_range": (-3, 3)}),
    "missing": (lambda random: np.where(random.random(SIZE) < 0.1, np.nan, random.random(SIZE)), {}),
}


def frame(scores=None, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    columns = {
        "g": random.choice(["a", "b", None], SIZE),
        "c": random.choice(["x", "y"], SIZE),
        "y": random.choice([0.0, 1.0, np.nan], SIZE),
        "d": random.integers(0, 2, SIZE),
        "w": random.integers(1, 9, SIZE) / 8,
    }
    return pd.DataFrame(columns if scores is None else {**columns, "s": scores(random)})


def cut(whole: pd.DataFrame, size: int):
    return (whole.iloc[i : i + size] for i in range(0, len(whole), size))


ROLES = {"label": "y", "prediction": "d", "sensitive": "g", "control": "c"}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("size", [90, 1700, SIZE])
@pytest.mark.parametrize("weight", [None, "w"])
def test_chunks_make_the_cube_of_the_whole(scores, size, weight):
    make, arguments = SCORES[scores]
    whole = frame(make)
    roles = {**ROLES, "weight": weight, "score": None if make is None else "s", **arguments}
    found, expected = Cube.count(cut(whole, size), **roles), Cube.count(whole, **roles)
    assert found.meaning == expected.meaning
    assert np.array_equal(found.n, expected.n)
    assert found == expected


@examples(15)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=6))
def test_chunks_of_any_sizes(sizes):
    whole = frame(SCORES["few"][0])
    edges = [0, *np.cumsum(sizes).tolist(), SIZE]
    chunks = [whole.iloc[low:high] for low, high in itertools.pairwise(edges)]
    assert Cube.count(chunks, score="s", **ROLES) == Cube.count(whole, score="s", **ROLES)


def test_any_kind_of_table_may_come():
    whole = frame(SCORES["probability"][0])
    kinds = [lambda part: part, lambda part: part.to_dict("list")]
    polars = pytest.importorskip("polars")
    kinds.append(lambda part: polars.from_pandas(part, nan_to_null=True))
    pyarrow = pytest.importorskip("pyarrow")
    kinds += [pyarrow.Table.from_pandas, pyarrow.RecordBatch.from_pandas]
    expected = Cube.count(whole, score="s", **ROLES)
    for kind in kinds:
        assert Cube.count((kind(part) for part in cut(whole, 1000)), score="s", **ROLES) == expected


def test_the_chunks_of_a_csv_reader(tmp_path):
    whole = frame()
    whole.to_csv(tmp_path / "x.csv", index=False)
    with pd.read_csv(tmp_path / "x.csv", chunksize=700) as reader:
        assert Cube.count(reader, **ROLES) == Cube.count(whole, **ROLES)


def test_an_audit_takes_chunks():
    whole = frame()
    found = eh.audit(cut(whole, 700), **ROLES, metrics=["demographic_parity"])
    assert found.findings[0].value == eh.audit(whole, **ROLES, metrics=["demographic_parity"]).findings[0].value


def test_no_more_than_one_chunk_is_kept():
    alive: list[weakref.ref] = []
    most = 0

    def chunks():
        nonlocal most
        for _ in range(12):
            part = frame()
            alive.append(weakref.ref(part))
            yield part
            del part
            gc.collect()
            most = max(most, sum(reference() is not None for reference in alive))

    Cube.count(chunks(), **ROLES)
    assert most <= 2  # the one in hand, and the one that is being made


def test_like_settles_what_is_cut():
    whole = frame(lambda random: random.normal(size=SIZE))
    like = Cube.count(whole, score="s", **ROLES)
    assert Cube.count(cut(whole, 700), score="s", like=like, **ROLES) == like


def test_numbers_of_a_regressor_need_their_cuts_first():
    random = np.random.default_rng(0)
    whole = pd.DataFrame({"g": random.choice(["a", "b"], 900), "y": random.random(900), "d": random.random(900)})
    roles = {"label": "y", "prediction": "d", "sensitive": "g"}
    with pytest.raises(CallError, match="chunk 1: numbers that come in chunks need score_range="):
        Cube.count(cut(whole, 100), **roles)
    settled = {"score_range": (0, 1), "bands": {"y": [0, 0.3, 1]}, "task": "regression"}
    assert Cube.count(cut(whole, 100), **roles, **settled) == Cube.count(whole, **roles, **settled)


# --- what cannot be known from the first chunk


def test_a_score_of_many_values_and_no_known_range():
    whole = frame(lambda random: random.normal(size=SIZE))
    with pytest.raises(CallError, match=r"range must be known before the chunks are read: give score_range="):
        Cube.count(cut(whole, 2500), score="s", **ROLES)
    with pytest.raises(CallError, match=r"range must be known"):
        Cube.count(cut(whole, 90), score="s", **ROLES)


def test_a_probability_that_turns_out_to_be_none():
    whole = frame(SCORES["probability"][0])
    whole.loc[SIZE - 1, "s"] = 7.0
    with pytest.raises(CallError, match=r"score_range="):
        Cube.count(cut(whole, 2000), score="s", **ROLES)


def test_a_score_outside_its_range_is_told_with_the_chunk():
    whole = frame(SCORES["probability"][0])
    whole.loc[SIZE - 1, "s"] = 7.0
    with pytest.raises(DataError, match=r"chunk 3: .*holds 7, outside score_range"):
        Cube.count(cut(whole, 2000), score="s", score_range=(0, 1), **ROLES)


def test_numbers_that_would_have_been_cut():
    whole = frame().assign(age=np.arange(SIZE) % 60)
    roles = {"prediction": "d", "sensitive": "age"}
    for size in (1000, 15):  # a chunk of fifteen holds few enough ages to be groups
        with pytest.raises(CallError, match=r"'age' holds many numbers.*bands="):
            Cube.count(cut(whole, size), **roles)
    bands = {"age": [0, 25, 60]}
    assert Cube.count(cut(whole, 15), bands=bands, **roles) == Cube.count(whole, bands=bands, **roles)


def test_quantile_bins_need_all_scores():
    with pytest.raises(CallError, match=r"strategy='quantile' needs all scores at once: give like="):
        Cube.count(cut(frame(SCORES["few"][0]), 900), score="s", strategy="quantile", **ROLES)


@pytest.mark.parametrize("chunks", [iter(()), (frame().iloc[:0] for _ in range(3))])
def test_no_chunks_at_all(chunks):
    with pytest.raises(CallError, match="no chunks, or none with rows"):
        Cube.count(chunks, **ROLES)


def test_a_chunk_that_is_no_table_is_told_with_its_place():
    with pytest.raises(CallError, match="chunk 2: data is of type int"):
        Cube.count(iter([frame(), 3]), **ROLES)
    with pytest.raises(CallError, match=r"chunk 2: .*'g'"):
        Cube.count(iter([frame(), frame().drop(columns="g")]), **ROLES)


def test_a_list_of_rows_is_a_table_and_not_chunks():
    rows = [{"g": "a", "d": 1}, {"g": "b", "d": 0}]
    columns = {"g": ["a", "b"], "d": [1, 0]}
    assert Cube.count(rows, prediction="d", sensitive="g") == Cube.count(columns, prediction="d", sensitive="g")
