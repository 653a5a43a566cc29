"""From rows and their clusters to the sums over clusters that a cube keeps; every source ends here, as in `tally`.

The identity of a cluster is its value within its design stratum: an id that is used again in another stratum is another
cluster. Names of clusters are told apart and forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Array, Codes, Floats, Indices, Ints
from evenhand.core.results import Pair
from evenhand.cube.attribute_sets import Set, attribute_sets
from evenhand.cube.clusters import Attributes, Clusters
from evenhand.errors import DataError, Problems, as_typed, shorten
from evenhand.sources.columns import encode
from evenhand.sources.lines import Lines
from evenhand.sources.roles import Roles
from evenhand.sources.spelling import spelling

NO_STRATA: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Members:
    """Which cluster each row belongs to, and the design stratum of each cluster."""

    strata: tuple[str, ...]
    stratum_of: Indices
    cluster: Indices


def read_members(lines: Lines, roles: Roles, people: Ints | None, problems: Problems) -> Members | None:
    """The clusters of rows in memory; None where the roles name none. A row without one is a problem."""
    if "cluster" not in lines.columns:
        return None
    strata, stratum = NO_STRATA, np.zeros(lines.length, dtype=np.intp)
    if roles.design_strata is not None:
        column = f"design_strata column {shorten(roles.design_strata)!r}"
        found, codes = encode(lines.columns["design_strata"], column, roles.na)
        complain_missing("design_strata", roles, _people(codes < 0, people), problems)
        strata = tuple(sorted(set(map(spelling, found))))
        stratum = np.array([*(strata.index(spelling(value)) for value in found), 0], dtype=np.intp)[codes]
    values, codes = encode(lines.columns["cluster"], f"cluster column {shorten(str(roles.cluster))!r}", roles.na)
    complain_missing("cluster", roles, _people(codes < 0, people), problems)
    return _numbered(strata, stratum, codes, len(values))


def complain_missing(role: str, roles: Roles, rows: int, problems: Problems) -> None:
    """Say how many rows belong to no cluster, or to no design stratum."""
    if rows:
        remedy = {"cluster": "give each of them a cluster of its own", "design_strata": "give them a stratum"}[role]
        problems.add(
            f"{role} column {shorten(str(getattr(roles, role)))!r} is missing in {rows:,} rows: {remedy}, or leave "
            "those rows out."
        )


def _people(inside: Array, people: Ints | None) -> int:
    return int(np.sum(inside if people is None else people[inside]))


def _numbered(strata: tuple[str, ...], stratum: Indices, codes: Codes, values: int) -> Members:
    """Clusters without gaps in their numbers: a value that no row has, or not in this stratum, is not a cluster."""
    own = np.maximum(codes, 0).astype(np.int64) + stratum * max(values, 1)
    if len(strata) * values > max(4 * len(own), 1000):
        kept, cluster = np.unique(own, return_inverse=True)
    else:
        seen = np.zeros(len(strata) * max(values, 1), dtype=np.bool_)
        seen[own] = True
        kept, cluster = np.flatnonzero(seen), (np.cumsum(seen) - 1)[own]
    return Members(strata, kept // max(values, 1), cluster.reshape(-1))


def of_rows(
    members: Members, place: Indices, mass: Floats | None, cells: int, pairs: Sequence[Pair], roles: Roles
) -> Clusters:
    """The sums over the clusters of rows, each with its place; −1 is a row that is left out, with its cluster where
    no other row of it is kept. Without `mass` every row counts 1."""
    if (place < 0).any():
        kept = place >= 0
        place, mass = place[kept], None if mass is None else mass[kept]
        present, cluster = np.unique(members.cluster[kept], return_inverse=True)
        members = replace(members, stratum_of=members.stratum_of[present], cluster=cluster.reshape(-1))
    mass = np.ones(len(place)) if mass is None else mass.astype(np.float64)
    sums = Clusters.from_lines(cells, members.strata, members.stratum_of, members.cluster, place, mass)
    return replace(sums, distinct=_distinct(members, place // cells, pairs, roles))


def _distinct(
    members: Members, pair: Indices, pairs: Sequence[Pair], roles: Roles
) -> dict[Attributes, dict[Pair, int]]:
    """How many clusters have rows in each pair, for every set of attributes that an audit may look at."""
    from scipy.sparse import coo_array

    shape = (len(members.stratum_of), len(pairs))
    inside = coo_array((np.ones(len(pair), dtype=np.int32), (members.cluster, pair)), shape=shape).tocsr()
    inside.sum_duplicates()
    found = {}
    for attributes in counted_sets(pairs, roles):
        names = [as_pair(each, attributes, roles) for each in pairs]
        place = {name: i for i, name in enumerate(dict.fromkeys(names))}
        rows, columns = np.arange(len(names)), np.array([place[name] for name in names])
        joined = inside @ coo_array((np.ones(len(names), dtype=np.int32), (rows, columns))).tocsr()
        numbers = np.bincount(joined.indices, minlength=len(place)).tolist()
        found[attributes] = dict(zip(place, numbers, strict=True))
    return found


def counted_sets(pairs: Sequence[Pair], roles: Roles) -> list[Attributes]:
    """The sets of attributes for which clusters are counted: those of an audit and all together, in the strata of the
    controls and without them."""

    def groups(attributes: Set) -> int:
        places = [roles.sensitive.index(name) for name in attributes]
        return len({tuple(group[i] for i in places) for _, group in pairs})

    sets = dict.fromkeys((*attribute_sets(roles.sensitive, None, groups).sets, roles.sensitive))
    return [(control, each) for control in dict.fromkeys((roles.control, ())) for each in sets]


def as_pair(pair: Pair, attributes: Attributes, roles: Roles) -> Pair:
    """A pair of all attributes as one of some of them."""
    control, sensitive = attributes
    return (pair[0] if control else (), tuple(pair[1][roles.sensitive.index(name)] for name in sensitive))


def check_design(clusters: Clusters, cluster: str, strata: str | None) -> None:
    """Refuse a design from which no variance can be known: one cluster, or one in a design stratum."""
    if clusters.number < 2:
        option = as_typed("cluster=", "--cluster")
        raise DataError(
            f"all rows belong to one cluster of {shorten(cluster)!r}: how much clusters vary is not known from one. "
            f"Name a column that tells more than one apart, or leave out {option}."
        )
    name, number = clusters.smallest_stratum
    if number < 2 and strata is not None:
        raise DataError(
            f"design stratum {shorten(name)!r} of {shorten(strata)!r} has only one cluster, which does not tell how "
            "clusters vary in it: join it with a stratum that is like it."
        )
