"""Score bins: exact at every edge, coarser without loss, the same from files, and strange scores refused."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.sources.bins import Bins, grid, uniform_edges

RANGES = st.tuples(
    st.floats(-1e3, 1e3, allow_subnormal=False), st.floats(1e-3, 1e3, allow_subnormal=False)
).map(lambda pair: (pair[0], pair[0] + pair[1]))  # fmt: skip
COUNTS = st.sampled_from([2, 3, 4, 5, 8, 10, 16, 20])


def around(edges: list[float], low: float, high: float) -> np.ndarray:
    """The edges, their neighbours, and some scores between."""
    near = [np.nextafter(edges, way) for way in (-np.inf, np.inf)]
    return np.clip(np.concatenate([edges, *near, np.linspace(low, high, 77), [low, high]]), low, high)


def frame(people: int = 3_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    score = rng.random(people)
    return pd.DataFrame(
        {"g": rng.choice(["x", "y"], people), "s": score, "y": (rng.random(people) < score).astype(int)}
    )


ROLES = {"label": "y", "score": "s", "sensitive": "g"}

# ------------------------------------------------------------------------------------------------ edges


@given(RANGES, COUNTS, st.floats(0, 1), st.sampled_from([8, 128, 1024]))
@example((0.0, 0.9999999999999999), 2, 0.9999999999999999, 8)  # an edge that rounds to the upper end
def test_every_edge_parts_scores_exactly(extent, count, share, cells):
    low, high = extent
    edges = [*uniform_edges(low, high, count)[1:-1], min(low + share * (high - low), high)]
    bins = grid(low, high, edges, cells)
    scores = around(edges, low, high)
    codes = bins.codes(scores)
    assert len(bins.starts) == bins.count
    for edge in edges:
        if low < edge <= high:
            first = np.searchsorted(bins.starts, edge)
            assert ((codes >= first) == (scores >= edge)).all()


def test_codes_are_the_grid_and_the_extra_edges_passed():
    bins = grid(0.0, 1.0, [0.1, 0.5, 0.9001, 0.9002])
    assert bins.extra == (0.1, 0.9001, 0.9002)
    scores = np.random.default_rng(0).random(1_000)
    expected = np.floor(scores * 1024) + np.searchsorted(bins.extra, scores, side="right")
    assert (bins.codes(scores) == expected).all()
    assert bins.codes(np.array([0.0, 1.0, np.nan])).tolist() == [0, bins.count - 1, -1]


# ------------------------------------------------------------------------------------------------ coarser


@given(RANGES, COUNTS, st.floats(0, 1), st.integers(30, 1100))
def test_a_coarser_axis_is_what_counting_on_it_would_give(extent, count, share, most):
    low, high = extent
    edges = [*uniform_edges(low, high, count)[1:-1], min(low + share * (high - low), high)]
    fine = grid(low, high, edges)
    coarse = fine.coarser(most, edges)
    scores = around(edges, low, high)
    assert coarse.count <= max(most, fine.count if fine.count <= most else 0)
    assert (fine.places_in(coarse)[fine.codes(scores)] == coarse.codes(scores)).all()


@pytest.mark.parametrize("extra", [{}, {"cutoff": 0.37}, {"higher_is": "negative", "cutoff": 0.63}, {"weight": "w"}])
def test_coarsen_keeps_counts_means_calibration_and_decisions(tmp_path, extra):
    data = frame()
    data["w"] = np.random.default_rng(1).random(len(data))
    cube = eh.Cube.count(data, **ROLES, **extra)
    coarse = cube.coarsen()
    assert coarse.scores.bins.count <= 256 < cube.scores.bins.count
    assert coarse.scores.n.sum() == cube.scores.n.sum()
    assert (coarse.n == cube.n).all()
    for name, sums in cube.scores.sums.items():
        assert coarse.scores.sums[name].sum() == pytest.approx(sums.sum(), rel=1e-12)
    names = ["balance_for_positive_class", "mean_score_parity", "calibration", "calibration_error_parity"]
    for before, after in zip(*(each.audit(metrics=names).findings for each in (cube, coarse)), strict=True):
        assert after.value.value == pytest.approx(before.value.value, abs=1e-12)
        assert after.verdict == before.verdict
    if "cutoff" in extra:
        swept = eh.sweep(coarse)
        place = swept.at(coarse.scores.reading.cutoff)
        assert swept.measures["selection_rate"][place] == pytest.approx(cube.measures()["selection_rate"], abs=1e-12)
    coarse.save(tmp_path / "coarse.cube")
    assert eh.Cube.load(tmp_path / "coarse.cube") == coarse


def test_coarsen_is_done_once_and_nothing_is_done_where_there_is_nothing_to_do():
    cube = eh.Cube.count(frame(), **ROLES)
    assert cube.coarsen(64).coarsen(64) == cube.coarsen(64) == cube.coarsen(256).coarsen(64)
    few = eh.Cube.count(score=[1, 2, 3, 3], sensitive=list("abab"))
    assert few.coarsen() == few
    plain = eh.Cube.count(prediction=[1, 0, 1, 1], sensitive=list("abab"))
    assert plain.coarsen() == plain


def test_exact_values_become_a_grid_when_they_are_too_many():
    data = frame()
    exact = eh.Cube.count(data, **ROLES, resolution="exact", score_range=(0, 1))
    assert exact.scores.bins.exact
    assert exact.scores.bins.count == len(data)
    assert exact.coarsen(300) == eh.Cube.count(data, **ROLES).coarsen(300)


def test_coarse_cubes_add_and_others_can_be_counted_like_them(tmp_path):
    data = frame()
    whole = eh.Cube.count(data, **ROLES).coarsen(100)
    data[1_000:].to_parquet(tmp_path / "rest.parquet")
    first = eh.Cube.count(data[:1_000], **ROLES, like=whole)
    second = eh.Cube.count(tmp_path / "rest.parquet", **ROLES, like=whole)
    assert first.scores.bins.cells == 64
    assert first + second == whole
    with pytest.raises(CallError, match="cut the score at different places"):
        whole + eh.Cube.count(data, **ROLES)


def test_coarsen_refuses_what_it_cannot_do():
    cube = eh.Cube.count(frame(), **ROLES)
    for bins in (1, 2.5, True, "many"):
        with pytest.raises(CallError, match="must be a whole number"):
            cube.coarsen(bins)
    with pytest.raises(CallError, match="ask for at least 10"):
        cube.coarsen(5)
    assert cube.coarsen(10).scores.bins.count == 10


# ------------------------------------------------------------------------------------------------ strange scores


@pytest.fixture(params=["memory", "csv", "parquet", "lazy", "relation"])
def source(request, tmp_path):
    """The same table in memory, in files and in engines."""

    def given(data: pd.DataFrame):
        if request.param == "memory":
            return data
        if request.param == "lazy":
            return pl.from_pandas(data, nan_to_null=False).lazy()
        if request.param == "relation":
            return duckdb.connect().from_df(data)
        path = tmp_path / f"data.{request.param}"
        data.to_csv(path, index=False) if request.param == "csv" else data.to_parquet(path)
        return path

    return given


@pytest.mark.parametrize("wrong", [1.2, -0.1, -1.5, np.nextafter(1.0, 2.0), np.nextafter(0.0, -1.0)])
@pytest.mark.parametrize("extra", [{}, {"higher_is": "negative"}, {"strategy": "quantile"}])
def test_a_score_outside_its_range_is_an_error_everywhere(source, wrong, extra):
    data = frame()
    data.loc[7, "s"] = wrong
    with pytest.raises(DataError, match=r"'s' holds .* outside score_range=\(0.0, 1.0\)"):
        eh.Cube.count(source(data), **ROLES, score_range=(0, 1), **extra)


@pytest.mark.parametrize("extra", [{}, {"score_range": (0, 1)}])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_an_infinite_score_is_an_error_everywhere(source, extra, wrong):
    data = frame()
    data.loc[7, "s"] = wrong
    with pytest.raises(DataError, match="infinite"):
        eh.Cube.count(source(data), **ROLES, **extra)


@pytest.mark.parametrize("extra", [{}, {"score_range": (-1e308, 1e308)}])
def test_a_score_too_large_to_be_squared_is_an_error_everywhere(source, extra):
    data = frame()
    data["s"] = (data["s"] * 2 - 1) * 1e200
    with pytest.raises(DataError, match=r"'s' reaches -?\d.*, whose square is too large for a number: rescale it"):
        eh.Cube.count(source(data), **ROLES, **extra)


@pytest.mark.parametrize("higher_is", ["positive", "negative"])
@pytest.mark.parametrize("extent", [(0.0, 1.0), (0.1, 0.7), (-3.3, 10.1)])
def test_the_ends_of_the_range_are_inside(source, extent, higher_is):
    low, high = extent
    data = frame()
    data["s"] = low + (high - low) * data["s"]
    data.loc[[3, 4], "s"] = extent
    cube = eh.Cube.count(source(data), **ROLES, score_range=extent, higher_is=higher_is)
    assert cube.scores.n.sum() == len(data)
    assert cube == eh.Cube.count(data, **ROLES, score_range=extent, higher_is=higher_is)


@given(RANGES, COUNTS, st.sampled_from(["positive", "negative"]), st.none() | st.floats(0, 1))
@example((0.0, 448.99308967343177), 4, "positive", 1.0)  # 4 · high / high rounds below 4
def test_an_engine_counts_edges_as_memory_does(extent, count, higher_is, share):
    """By their width or one by one: a score on an edge, beside it, and at both ends."""
    low, high = extent
    many = np.random.default_rng(0).uniform(low, high, 1_100)  # too many to be bins themselves
    scores = np.clip(np.append(around([*uniform_edges(low, high, count)], low, high), many), low, high)
    data = pl.DataFrame({"s": scores, "g": np.arange(len(scores)) % 2})
    roles = {"score": "s", "sensitive": "g", "score_range": extent, "bins": count, "higher_is": higher_is}
    if share is not None:
        roles["cutoff"] = min(low + share * (high - low), high)
    assert eh.Cube.count(data.lazy(), **roles) == eh.Cube.count(data, **roles)


def test_a_score_just_below_a_cutoff_at_the_top_is_below_it(source):
    data = frame()
    data["s"] = data["s"] - 1
    data.loc[[3, 4], "s"] = [np.nextafter(0, -1), 0.0]
    roles = {**ROLES, "score_range": (-1, 0), "bins": 2, "cutoff": 0}
    cube = eh.Cube.count(source(data), **roles)
    assert cube.scores.n[cube.scores.bin == cube.scores.bins.count - 1].sum() == 1
    assert cube == eh.Cube.count(data, **roles)


def test_missing_scores_are_counted_and_left_out(source):
    data = frame()
    data.loc[::10, "s"] = np.nan
    cube = eh.Cube.count(source(data), **ROLES, score_range=(0, 1))
    assert cube.facts["score_missing"] == data.s.isna().sum()
    means = {row.group[0]: row.estimate.value for row in cube.audit(metrics=["mean_score_parity"]).findings[0].groups}
    assert means == pytest.approx(data.groupby("g").s.mean().to_dict(), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, 7.0])
def test_scores_that_are_all_equal(source, value):
    data = frame()
    data["s"] = value
    cube = eh.Cube.count(source(data), **ROLES)
    found = {f.metric: f for f in cube.audit(metrics=["auc_parity", "mean_score_parity", "ks_distance"]).findings}
    assert {row.estimate.value for row in found["auc_parity"].groups} == {0.5}
    assert {row.estimate.value for row in found["mean_score_parity"].groups} == {value}
    assert found["ks_distance"].value.value == 0


def test_a_reversed_score_is_the_score_reversed(source):
    data = frame()
    turned = data.assign(s=1 - data.s)
    plain = eh.Cube.count(data, **ROLES, score_range=(0, 1), cutoff=0.25)
    mirrored = eh.Cube.count(source(turned), **ROLES, score_range=(0, 1), cutoff=0.75, higher_is="negative")
    assert (plain.n == mirrored.n).all()
    names = ["auc_parity", "balance_for_positive_class", "calibration"]
    for a, b in zip(*(cube.audit(metrics=names).findings for cube in (plain, mirrored)), strict=True):
        assert b.value.value == pytest.approx(a.value.value, abs=2e-3)


def test_like_must_mean_the_same(source):
    data = frame()
    first = eh.Cube.count(data, **ROLES)
    with pytest.raises(CallError, match=r"not cut at cutoff=0\.5"):
        eh.Cube.count(source(data), **ROLES, cutoff=0.5, like=first)
    with pytest.raises(CallError, match="other way round"):
        eh.Cube.count(source(data), **ROLES, higher_is="negative", like=first)
    with pytest.raises(DataError, match=r"outside the range of like= \(0 to 1\)"):
        eh.Cube.count(source(data.assign(s=data.s * 2)), **ROLES, like=first)
    assert eh.Cube.count(source(data), **ROLES, like=first, score_range=(0, 2)) == first


def test_bins_of_one_value():
    assert grid(2.0, 2.0, [2.0]).codes(np.array([2.0, 2.0])).tolist() == [0, 0]
    assert Bins(0.0, 1.0, values=(0.25, 0.5)).starts.tolist() == [0.25, 0.5]
