"""What every source says of clusters and design strata: what a missing one means, and how strata are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.arrays import Indices
from evenhand.core.wording import number_of
from evenhand.errors import Problems, shorten
from evenhand.sources.roles import Roles
from evenhand.sources.spelling import spelling

MOST_PRODUCTS = 1_000_000
"""Of cells over clusters that a cube keeps."""
NO_STRATA: tuple[str, ...] = ("",)
_REMEDY = {"cluster": "give each of them a cluster of its own", "design_strata": "give them a stratum"}


def strata_of(values: Sequence[Any]) -> tuple[tuple[str, ...], Indices]:
    """The names of design strata in order, and for each value the place of its name.

    >>> strata_of([2, 1.0, "2"])
    (('1', '2'), array([1, 0, 1]))
    """
    names = tuple(sorted(set(map(spelling, values))))
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place[spelling(value)] for value in values], dtype=np.intp)


def too_many_products(most: int) -> str:
    """The error for clusters that spread over too many cells."""
    return (
        f"rows of one cluster stand in so many different cells that more than {most:,} products would have to be kept: "
        "name fewer attributes, or cut them into fewer groups."
    )


def complain_missing(role: str, roles: Roles, rows: int, problems: Problems) -> None:
    """Say how many rows belong to no cluster, or to no design stratum."""
    if rows:
        problems.add(
            f"{role} column {shorten(str(getattr(roles, role)))!r} is missing in {number_of(rows)}: {_REMEDY[role]}, "
            "or leave those rows out."
        )
