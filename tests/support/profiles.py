"""Two profiles of the same tests: fast, which everybody runs before a commit, and thorough, which repeats far more.

`pytest` is fast; `pytest --thorough` is thorough. Both run the same test functions, apart from those marked
`@pytest.mark.thorough`, which only the thorough profile runs. What differs is how often a test is repeated:
hypothesis draws fewer examples, and a test over many like values (hostile names, kinds of tables) takes a handful.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

HANDFUL = 6
"""How many of many like values a test is run with in the fast profile."""

_FEWER = 8  # the fast profile draws an eighth of the examples, and at least three

_chosen = {"thorough": False}

settings.register_profile("fast", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=15)
settings.register_profile("thorough", parent=settings.get_profile("fast"), max_examples=200)


def choose(thorough: bool) -> None:
    """Set the profile; called once, before any test module is imported."""
    _chosen["thorough"] = thorough
    settings.load_profile("thorough" if thorough else "fast")


def is_thorough() -> bool:
    return _chosen["thorough"]


def examples(most: int, **more: Any) -> settings:
    """Settings of a hypothesis test: `most` examples in the thorough profile, an eighth of them in the fast one."""
    return settings(max_examples=most if is_thorough() else min(most, max(3, most // _FEWER)), **more)


def each_of(argument: str, values: Mapping[str, Any] | Iterable[Any], handful: int = HANDFUL) -> pytest.MarkDecorator:
    """Run a test with each of many like values in the thorough profile, and with a handful in the fast one.

    The handful differs from test to test, so that together the tests go through all values; for one test it is
    always the same. `values` is a mapping from the ids to the values, or only the values.
    """
    named = isinstance(values, Mapping)
    return pytest.mark.each_of(
        argument, list(values.values() if named else values), list(values) if named else None, handful
    )


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Carry out the marks of `each_of`."""
    for mark in metafunc.definition.iter_markers("each_of"):
        argument, values, ids, handful = mark.args
        places = range(len(values))
        if not is_thorough() and len(values) > handful:
            seed = crc32(f"{metafunc.module.__name__}.{metafunc.function.__qualname__}.{argument}".encode())
            places = sorted(Random(seed).sample(places, handful))
        chosen = [values[i] for i in places]
        metafunc.parametrize(argument, chosen, ids=None if ids is None else [ids[i] for i in places])
