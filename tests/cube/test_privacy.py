"""Which groups, intersections and stops may leave in a file that is shared."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.cube import cutoffs, privacy
from evenhand.errors import CallError
from support.profiles import examples
from support.strategies import cubes


def decided(**counts: tuple[int, ...]) -> eh.Cube:
    """A cube of one attribute: for each group how many were refused and selected."""
    rows = [(group, decision, n) for group, pair in counts.items() for decision, n in enumerate(pair) if n]
    group, prediction, count = zip(*rows, strict=True)
    return eh.Cube.count(prediction=prediction, count=count, sensitive=group)


def hidden(cube: eh.Cube, least: int = 5) -> str:
    return "".join(group[0] for group in privacy.hidden_groups(cube, least))


# --- groups


def test_a_group_with_a_small_cell_goes_and_never_alone():
    assert hidden(decided(a=(40, 30), b=(50, 60))) == ""
    assert hidden(decided(a=(40, 4), b=(50, 60), c=(70, 80))) == "ab"  # b is the next smallest
    assert hidden(decided(a=(400, 4), b=(50, 60), c=(70, 80))) == "ab"
    assert hidden(decided(a=(40, 4), b=(3, 60), c=(70, 80))) == "ab"
    assert hidden(decided(a=(40, 4), b=(50, 60))) == "ab"
    assert hidden(decided(a=(40, 5), b=(50, 60))) == ""
    assert hidden(decided(a=(40, 0), b=(50, 60))) == ""


def test_groups_of_one_person_in_one_cell_are_told_by_their_total():
    """Two people are missing from the total, and there are two groups: one each."""
    cube = decided(a=(1, 0), b=(1, 0), c=(50, 60), d=(70, 80), e=(75, 90))
    assert hidden(cube) == "abc"
    assert hidden(decided(a=(1, 0), b=(0, 1), c=(50, 60), d=(70, 80))) == "ab"


def test_least_1_hides_nothing():
    assert hidden(decided(a=(1, 0), b=(2, 1), c=(3, 3)), 1) == ""


def test_a_small_cell_in_one_stratum_hides_the_group_in_all():
    rows = [("a", "x", 0, 30), ("a", "x", 1, 30), ("a", "y", 0, 30), ("a", "y", 1, 2)]
    rows += [(g, s, d, n) for g, n in (("b", 40), ("c", 60)) for s in "xy" for d in (0, 1)]
    group, stratum, prediction, count = zip(*rows, strict=True)
    cube = eh.Cube.count(prediction=prediction, count=count, sensitive=group, control=stratum)
    assert hidden(cube) == "ab"
    assert hidden(cube.marginal(control=False)) == ""


def test_people_without_a_score_are_a_cell_too():
    group = ["a"] * 43 + ["b"] * 50 + ["c"] * 60
    score = [0.5] * 40 + [np.nan] * 3 + [0.5] * 110
    cube = eh.Cube.count(prediction=[1] * 153, score=score, sensitive=group)
    assert hidden(cube) == "ab"


def test_the_number_of_people_decides_and_not_their_weight():
    cube = eh.Cube.count(
        prediction=[0, 1] * 3, count=[40, 3, 50, 60, 70, 80], weight=[1, 100, 1, 1, 1, 0.01], sensitive=list("aabbcc")
    )
    assert hidden(cube) == "ab"


@examples(60)
@given(cubes(), st.integers(1, 9))
def test_no_small_cell_is_left_and_one_group_never_goes_alone(cube, least):
    for name in cube.meaning.sensitive:
        part = cube.marginal([name])
        gone = privacy.hidden_groups(part, least)
        left = privacy.without(part, gone)
        assert not ((left.n > 0) & (left.n < least)).any()
        assert len(gone) != 1 or len(part.groups) == 1
        assert set(left.groups).isdisjoint(gone)
        kept = {pair: n for pair, n in zip(part.pairs, part.n.tolist(), strict=True) if pair[1] not in gone}
        assert dict(zip(left.pairs, left.n.tolist(), strict=True)) == kept


@pytest.mark.parametrize("least", [0, -1, 2.5, True, "5", None])
def test_a_strange_minimum_is_an_error(least):
    with pytest.raises(CallError, match="must be a whole number of people"):
        privacy.check_least(least)


# --- intersections


def test_sets_that_close_a_circle():
    assert privacy.acyclic([])
    assert privacy.acyclic([("a",), ("b",)])
    assert privacy.acyclic([("a", "b", "c"), ("a", "b"), ("c",)])
    assert privacy.acyclic([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e", "f")])
    assert not privacy.acyclic([("a", "b"), ("b", "c"), ("a", "c")])
    assert not privacy.acyclic([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("e",)])
    assert privacy.acyclic([("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")])


# --- scores


def brute_stops(people: np.ndarray, audited: int, least: int) -> int:
    """The most stretches into which the bins can be cut, by trying all ways."""
    bins, best = people.shape[1], 0
    for chosen in itertools.product([False, True], repeat=bins - 1):
        starts = [0, *(i + 1 for i, cut in enumerate(chosen) if cut), bins]
        sums = np.stack([people[:, a:b].sum(axis=1) for a, b in itertools.pairwise(starts)])
        if not ((sums > 0) & (sums < least)).any() and (audited in (0, -1, bins) or audited in starts):
            best = max(best, len(starts) - 1)
    return best


@pytest.mark.parametrize("seed", range(30))
def test_the_stops_are_the_most_that_hide_small_counts(seed):
    rng = np.random.default_rng(seed)
    n, least = int(rng.integers(30, 250)), int(rng.integers(2, 7))
    score, label = rng.integers(1, 9, n), rng.integers(0, 2, n)
    group = rng.choice(["a", "b", "c"], n, p=[0.6, 0.25, 0.15])
    roles = {"score": score, "label": label, "sensitive": group, "score_range": (1, 8)}
    cube = eh.Cube.count(**roles, **({"cutoff": 4} if seed % 2 else {"prediction": label}))
    cube = privacy.without(cube, privacy.hidden_groups(cube, least))
    if len(cube.pairs) == 0:
        return
    (short,) = privacy.joined([cube], least)
    table = short.scores
    assert not ((table.n > 0) & (table.n < least)).any()
    people = cube.scores.dense(len(cube.pairs))["n"].reshape(-1, cube.scores.bins.count)
    starts = cube.scores.bins.starts
    audited = int(np.searchsorted(starts, 4)) if seed % 2 else -1
    assert table.bins.count == brute_stops(people, audited, least)
    assert table.n.sum() == cube.scores.n.sum()
    assert np.array_equal(short.n, cube.n)
    # Deciding at a stop gives the counts that the fine bins give.
    stops, place = cutoffs.stops(short)
    assert (place >= 0) == bool(seed % 2)
    for i, stop in enumerate(stops):
        fine = cutoffs.decide(cube, 1.0 * (starts[cube.scores.bin] >= stop))
        assert np.array_equal(cutoffs.decide(short, 1.0 * (table.bin >= i)).n, fine.n)


def test_scores_that_need_no_joined_bins_stay_as_they_are():
    cube = eh.Cube.count(score=[1, 2, 3] * 20, label=[0] * 30 + [1] * 30, sensitive=["a", "b"] * 30)
    (same,) = privacy.joined([cube], 5)
    assert same is cube
    assert same.has["score"]
    (short,) = privacy.joined([cube], 8)
    assert short.scores.counts_only
    assert not short.has["score"]
    assert set(short.scores.sums) == set()


def test_all_cubes_have_the_same_stops():
    """Else the difference of two tables would tell of the bins between their stops."""
    rng = np.random.default_rng(2)
    score, first, second = rng.integers(0, 30, 900), rng.choice(["a", "b"], 900), rng.choice(["x", "y", "z"], 900)
    cube = eh.Cube.count(score=score, sensitive={"f": first, "s": second})
    one, other = privacy.joined([cube.marginal(["f"]), cube.marginal(["s"])], 12)
    assert one.scores.reading == other.scores.reading
    assert one.scores.counts_only


def test_joined_bins_are_cut_further_at_their_own_edges():
    rng = np.random.default_rng(3)
    cube = eh.Cube.count(score=rng.random(6000), sensitive=rng.choice(["a", "b"], 6000), cutoff=0.37)
    (short,) = privacy.joined([cube], 5)
    fewer = short.coarsen(40)
    assert 10 < fewer.scores.bins.count <= 40 < short.scores.bins.count
    assert set(fewer.scores.bins.starts) <= set(short.scores.bins.starts)
    assert 0.37 in fewer.scores.bins.starts
    for i, stop in enumerate(fewer.scores.bins.starts):
        fine = cutoffs.decide(cube, 1.0 * (cube.scores.bins.starts[cube.scores.bin] >= stop))
        assert np.array_equal(cutoffs.decide(fewer, 1.0 * (fewer.scores.bin >= i)).n, fine.n)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_regressor_keeps_one_sum_for_each_group(weighted):
    rng = np.random.default_rng(4)
    y, f = rng.normal(size=(2, 400))
    roles = {"weight": rng.random(400)} if weighted else {}
    cube = eh.Cube.count(label=y, prediction=f, sensitive=rng.choice(["a", "b"], 400), task="regression", **roles)
    (short,) = privacy.joined([cube], 5)
    assert short.scores.joined_bins
    assert len(short.scores.n) == 2
    one, other = (eh.Cube.audit(each, metrics=["mean_residual_parity"]).findings[0] for each in (short, cube))
    assert one.value.value == pytest.approx(other.value.value)
    with pytest.raises(CallError, match="only counted between stops"):
        eh.ks_distance(short)
