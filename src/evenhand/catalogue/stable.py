"""What the entries on replicas of a model have in common: their measures and the example of their pages."""

from __future__ import annotations

from typing import NoReturn

from evenhand.errors import CallError
from evenhand.measures.cells import RowMeasure

RATIO = {"judged_on": "ratio", "threshold": 0.8}
SERVICE = ("quality of service",)

_EXAMPLE = """\
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
group = np.repeat(["north", "south"], 400)
wavering = np.where(group == "south", 0.9, 0.3)  # replicas move the people of one group three times as far
logits = rng.normal(0, 1.5, 800) + wavering * rng.normal(size=(50, 800))
replicas = 1 / (1 + np.exp(-logits))
label = (rng.random(800) < replicas.mean(axis=0)).astype(int)

print(eh.NAME(replicas, label=label, sensitive={"region": group}))
"""


def dimension(name: str, title: str, unit: str = "ratio", *, label: bool = False) -> RowMeasure:
    """A dimension: what it is for one person is computed in `evenhand.replicas.dimensions`."""
    return RowMeasure(name, title, _not_from_rows, unit, frozenset({"label"} if label else ()))


def _not_from_rows(*_: object) -> NoReturn:
    raise CallError("this is measured on replicas of a model: call evenhand.stability() and add what it finds.")


def example(name: str) -> str:
    return _EXAMPLE.replace("NAME", name)
