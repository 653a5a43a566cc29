"""What the tests of engines share: the cube they must all come to, and who is skipped where something is missing."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import numpy as np

from conftest import require
from engines.people import ROLES, people
from evenhand import Cube


def needs(library: str, group: str = "engines") -> None:
    """Skip, or fail where everything is required, when a Python library is not installed."""
    require(library, importlib.util.find_spec(library) is not None, f"pip install --group {group}, or make engines")


@cache
def expected(roles: str) -> Cube:
    return Cube.count(people(), **ROLES[roles])


def check(data: Any, roles: str, *, text: bool = False) -> None:
    """The data gives the expected cube; `text` is never cut into bands, so the bands of the others are named."""
    arguments, wanted = ROLES[roles], expected(roles)
    if text and wanted.meaning.bands:
        arguments = {**arguments, "bands": {name: list(edges) for name, edges in wanted.meaning.bands.items()}}
        wanted = Cube.count(people(), **arguments)
    same(Cube.count(data, **arguments), wanted)


def same(found: Cube, wanted: Cube) -> None:
    """Equal in every count, and in every sum to 1e-9."""
    assert found.meaning == wanted.meaning
    assert found.pairs == wanted.pairs
    assert found.cut_by_us == wanted.cut_by_us
    assert found.facts == wanted.facts
    assert np.array_equal(found.n, wanted.n)
    for mine, theirs in ((found.w, wanted.w), (found.w2, wanted.w2)):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=0)
    assert (found.clusters is None) == (wanted.clusters is None)
    assert found.clusters is None or found.clusters.same(wanted.clusters)
    assert (found.scores is None) == (wanted.scores is None)
    if found.scores is None:
        return
    assert found.scores.reading == wanted.scores.reading
    for name in ("pair", "label", "bin", "n"):
        assert np.array_equal(getattr(found.scores, name), getattr(wanted.scores, name)), name
    assert found.scores.sums.keys() == wanted.scores.sums.keys()
    for name, sums in wanted.scores.sums.items():
        # Residuals cancel, so a sum near 0 is compared with the largest of its kind.
        np.testing.assert_allclose(found.scores.sums[name], sums, rtol=1e-9, atol=1e-9 * np.abs(sums).max())
