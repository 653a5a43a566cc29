"""From lines and their clusters to the sums over clusters that a cube keeps; every source ends here, as in `tally`.

The identity of a cluster is its value within its design stratum: an id that is used again in another stratum is another
cluster. Names of clusters are told apart and forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.arrays import Array, Codes, Indices, Ints
from evenhand.core.results import Pair
from evenhand.cube.attribute_sets import Set, attribute_sets
from evenhand.cube.clusters import Attributes, Clusters, merged, numbered
from evenhand.errors import DataError, Problems, as_typed, shorten
from evenhand.sources.clusters import NO_STRATA, complain_missing, strata_of
from evenhand.sources.columns import encode
from evenhand.sources.lines import ClusterRequest, Lines, Members, SummedClusters
from evenhand.sources.roles import Roles


def read_members(lines: Lines, roles: Roles, people: Ints | None, problems: Problems) -> Members:
    """The clusters of rows in memory, without their places. A row without a cluster is a problem."""
    strata, stratum = NO_STRATA, np.zeros(lines.length, dtype=np.intp)
    if roles.design_strata is not None:
        column = f"design_strata column {shorten(roles.design_strata)!r}"
        found, codes = encode(lines.columns["design_strata"], column, roles.na)
        complain_missing("design_strata", roles, _people(codes < 0, people), problems)
        strata, place = strata_of(found)
        stratum = np.append(place, 0)[codes]
    values, codes = encode(lines.columns["cluster"], f"cluster column {shorten(str(roles.cluster))!r}", roles.na)
    complain_missing("cluster", roles, _people(codes < 0, people), problems)
    return _numbered(strata, stratum, codes, max(len(values), 1))


def _people(inside: Array, people: Ints | None) -> int:
    return int(np.sum(inside if people is None else people[inside]))


def _numbered(strata: tuple[str, ...], stratum: Indices, codes: Codes, values: int) -> Members:
    """Clusters without gaps in their numbers: a value that no row has, or not in this stratum, is not a cluster."""
    kept, cluster = numbered(np.maximum(codes, 0).astype(np.int64) + stratum * values)
    return Members(strata, kept // values, cluster, np.zeros(0, dtype=np.intp))


def count_clusters(
    lines: Lines,
    members: Members | None,
    places: Indices,
    bands: Mapping[str, tuple[float, ...]],
    cells: int,
    pairs: Sequence[Pair],
    roles: Roles,
) -> Clusters | None:
    """The sums over clusters of lines whose `places` are known; None where the roles name no clusters."""
    sets = counted_sets(pairs, roles)
    if members is not None:
        return _of_members(members, cells, pairs, sets, roles)
    if lines.clusters is None:
        return None
    found = lines.clusters(ClusterRequest(places, bands, [_keys(attributes) for attributes in sets]))
    if isinstance(found, SummedClusters):
        return _of_sums(found, places, cells, pairs, sets, roles)
    total: Clusters | None = None
    for part in found:
        own = _of_members(part, cells, pairs, sets, roles)
        total = own if total is None else merged([total, own])
    return total


def _of_members(
    members: Members, cells: int, pairs: Sequence[Pair], sets: Sequence[Attributes], roles: Roles
) -> Clusters:
    """A line that is left out takes its cluster with it where no other line of the cluster is kept."""
    place, mass = members.place, members.mass
    kept = (place >= 0) if mass is None else (place >= 0) & (mass != 0)  # nobody counts in a row of weight 0
    if not kept.all():
        place, mass = place[kept], None if mass is None else mass[kept]
        present, cluster = numbered(members.cluster[kept])
        members = members._replace(stratum_of=members.stratum_of[present], cluster=cluster)
    mass = np.ones(len(place)) if mass is None else mass.astype(np.float64)
    sums = Clusters.from_lines(cells, members.strata, members.stratum_of, members.cluster, place, mass)
    return replace(sums, distinct=_distinct(members, place // cells, pairs, sets, roles))


def _distinct(
    members: Members, pair: Indices, pairs: Sequence[Pair], sets: Sequence[Attributes], roles: Roles
) -> dict[Attributes, dict[Pair, int]]:
    """How many clusters have lines in each pair, for every set of attributes."""
    from scipy.sparse import coo_array

    shape = (len(members.stratum_of), len(pairs))
    inside = coo_array((np.ones(len(pair), dtype=np.int32), (members.cluster, pair)), shape=shape).tocsr()
    inside.sum_duplicates()
    found = {}
    for attributes in sets:
        names = [_as_pair(each, attributes, roles) for each in pairs]
        place = {name: i for i, name in enumerate(dict.fromkeys(names))}
        rows, columns = np.arange(len(names)), np.array([place[name] for name in names])
        joined = inside @ coo_array((np.ones(len(names), dtype=np.int32), (rows, columns))).tocsr()
        numbers = np.bincount(joined.indices, minlength=len(place)).tolist()
        found[attributes] = {name: number for name, number in zip(place, numbers, strict=True) if number}
    return found


def _of_sums(
    found: SummedClusters,
    places: Indices,
    cells: int,
    pairs: Sequence[Pair],
    sets: Sequence[Attributes],
    roles: Roles,
) -> Clusters:
    distinct = {
        attributes: {
            _as_pair(pairs[places[line] // cells], attributes, roles): int(number)
            for line, number in zip(lines, numbers, strict=True)
        }
        for attributes, (lines, numbers) in zip(sets, found.distinct, strict=True)
    }
    parts = {name: getattr(found, name) for name in ("counts", "sum_stratum", "sum_place", "sums")}
    parts |= {name: getattr(found, name) for name in ("product_stratum", "first", "second", "products")}
    return merged([Clusters(cells, found.strata, **parts, distinct=distinct)])


def counted_sets(pairs: Sequence[Pair], roles: Roles) -> list[Attributes]:
    """The sets of attributes for which clusters are counted: those of an audit and all together, in the strata of the
    controls and without them."""

    def groups(attributes: Set) -> int:
        places = [roles.sensitive.index(name) for name in attributes]
        return len({tuple(group[i] for i in places) for _, group in pairs})

    sets = dict.fromkeys((*attribute_sets(roles.sensitive, None, groups).sets, roles.sensitive))
    return [(control, each) for control in dict.fromkeys((roles.control, ())) for each in sets]


def _as_pair(pair: Pair, attributes: Attributes, roles: Roles) -> Pair:
    """A pair of all attributes as one of some of them."""
    control, sensitive = attributes
    return (pair[0] if control else (), tuple(pair[1][roles.sensitive.index(name)] for name in sensitive))


def _keys(attributes: Attributes) -> tuple[str, ...]:
    control, sensitive = attributes
    return (*(f"control:{name}" for name in control), *(f"sensitive:{name}" for name in sensitive))


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
