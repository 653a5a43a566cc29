"""Several models counted together: each cube is that of the model alone, and the joint counts fit both."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.cube import joint
from evenhand.cube.cube import Cube
from evenhand.cube.joint import Model
from evenhand.errors import CallError, DataError
from evenhand.sources.roles import DEFAULTS
from support.backends import BACKENDS, LAZY
from support.profiles import each_of

MODELS = [Model("a", "a"), Model("b", "b"), Model("c", "c")]


def people(size: int = 400) -> dict[str, list]:
    random = np.random.default_rng(4)
    first = random.integers(0, 2, size)
    label = [None if i % 11 == 0 else int(value) for i, value in enumerate(random.integers(0, 2, size))]
    second = np.where(random.random(size) < 0.8, first, 1 - first)
    score = random.random(size).round(3)
    return {
        "g": [None if i % 17 == 0 else value for i, value in enumerate(random.choice(["x", "y"], size).tolist())],
        "s": random.choice(["m", "f"], size).tolist(),
        "y": label,
        "a": first.tolist(),
        "b": second.tolist(),
        "c": random.integers(0, 2, size).tolist(),
        "p": score.tolist(),
        "q": np.clip(score + random.normal(0, 0.1, size), 0, 1).round(3).tolist(),
        "w": random.integers(0, 4, size).astype(float).tolist(),
        "k": random.integers(0, 3, size).tolist(),
    }


def arguments(**changes):
    return {**DEFAULTS, "label": "y", "sensitive": ["g", "s"], **changes}


def check(counted: joint.Counted) -> None:
    for (i, j), both in counted.joints.items():
        for place, axis in ((i, 3), (j, 2)):
            cube = counted.cubes[place]
            assert both.groups == tuple(group for _, group in cube.pairs)
            np.testing.assert_array_equal(both.n.sum(axis=axis), cube.n[:, :, :2])
            for mine, theirs in ((both.w, cube.w), (both.w2, cube.w2)):
                assert (mine is None) == (theirs is None)
                if mine is not None:
                    np.testing.assert_allclose(mine.sum(axis=axis), theirs[:, :, :2])


@each_of("backend", list(BACKENDS), handful=16)
def test_each_cube_is_that_of_the_model_alone(backend, tmp_path):
    data, read = BACKENDS[backend](people(), tmp_path), arguments(weight="w", count="k", missing="drop")
    counted = joint.count(data, MODELS, read)
    for model, cube in zip(MODELS, counted.cubes, strict=True):
        assert cube == Cube.count(data, **{**read, "prediction": model.prediction})
    check(counted)
    in_memory = joint.count(people(), MODELS, read)
    for place, both in in_memory.joints.items():
        np.testing.assert_array_equal(both.n, counted.joints[place].n)


@pytest.mark.parametrize("higher_is", ["positive", "negative"])
@pytest.mark.parametrize("backend", ["pandas", "csv", "parquet", *LAZY])
def test_scores_are_cut_as_each_model_alone_cuts_them(backend, higher_is, tmp_path):
    data, read = BACKENDS[backend](people(), tmp_path), arguments(higher_is=higher_is)
    models = [
        Model("p", score="p", cutoff=0.5),
        Model("q", score="q", cutoff=0.4),
        Model("q high", score="q", cutoff=0.7),
    ]
    counted = joint.count(data, models, read)
    for model, cube in zip(models, counted.cubes, strict=True):
        assert cube == Cube.count(data, **{**read, "score": model.score, "cutoff": model.cutoff})
    check(counted)


def test_predictions_decide_beside_scores(tmp_path):
    models = [Model("a", "a", "p", 0.5), Model("b", "b", "q", 0.5)]
    for backend in ("pandas", "csv"):
        data = BACKENDS[backend](people(), tmp_path)
        counted = joint.count(data, models, arguments())
        assert counted.cubes[0] == Cube.count(data, **arguments(prediction="a", score="p", cutoff=0.5))
        check(counted)


def test_the_order_of_models_and_attributes_summed_over():
    counted = joint.count(people(), MODELS, arguments())
    both, places = counted.joints[0, 1], [joint.Place(counted.joints, i) for i in range(3)]
    np.testing.assert_array_equal(places[1].beside(places[0]).n, both.n.swapaxes(2, 3))
    assert places[0].beside(places[0]) is None
    assert places[0].beside(joint.Place({}, 1)) is None
    assert places[1].beside(places[2]) is counted.joints[1, 2]
    one = both.marginal(["s"])
    assert one.groups == (("f",), ("m",))
    assert one.n.sum() == both.n.sum() == 400
    assert both.marginal([]).groups == ((),)


def test_what_is_the_same_column():
    array = [1, 0]
    assert Model("one", "a").is_same(Model("two", "a"))
    assert Model("one", array).is_same(Model("two", array))
    assert not Model("one", array).is_same(Model("two", [1, 0]))
    assert not Model("one", score="p", cutoff=0.5).is_same(Model("two", score="p", cutoff=0.6))


def test_what_cannot_be_counted_together():
    cube = Cube.count(people(), **arguments(prediction="a"))
    with pytest.raises(CallError, match="a cube holds the decisions of one model"):
        joint.count(cube, MODELS, arguments())
    with pytest.raises(CallError, match="chunks"):
        joint.count(iter([people()]), MODELS, arguments())
    with pytest.raises(DataError, match="'c' is missing in 1 row"):
        joint.count({**people(3), "c": [1, None, 0], "y": [1, 0, 1]}, MODELS, arguments())
