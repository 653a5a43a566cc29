"""From raw lines to counts: levels are read, codes are combined into one key, and the keys are counted.

Every source ends here. In memory a line is a row; an engine sends its distinct lines with how many rows each
stands for. What values mean is decided only here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.arrays import Array, Bools, Codes, Floats, Indices, Ints
from evenhand.core.results import Pair
from evenhand.core.wording import number_of
from evenhand.cube.scores import ScoreTable, collect, loss_sums, moments
from evenhand.errors import DataError, Problems, as_typed, shorten
from evenhand.sources import levels
from evenhand.sources.columns import Levels, encode, is_categorical
from evenhand.sources.conditions import NoRowsError
from evenhand.sources.groupby import sums_losses
from evenhand.sources.lines import (
    SIDES,
    Lines,
    Members,
    complain_count,
    complain_weight,
    names_by_side,
    names_of_losses,
    names_of_sums,
    read_masses,
)
from evenhand.sources.roles import Roles
from evenhand.sources.scores import ScoreReading

if TYPE_CHECKING:
    from evenhand.cube.clusters import Clusters

_DENSE_KEYS = 4_000_000
_LARGEST_SUM = 1e250  # of powers in a cell, so that sums over all cells do not overflow


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Counts of (stratum, group) × label class × prediction class, in canonical order; plain arrays."""

    pairs: tuple[Pair, ...]
    n: Ints
    w: Floats | None
    w2: Floats | None
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    cut_by_us: tuple[str, ...] = ()
    facts: Mapping[str, int] = field(default_factory=dict)
    scores: ScoreTable | None = None
    classes: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    clusters: Clusters | None = None


def tally(lines: Lines, roles: Roles) -> Tally:
    """Count the lines. All that is wrong with the data is said in one error."""
    if lines.length == 0 and roles.where:
        raise NoRowsError(f"no row is counted: there is none where {' and '.join(each.said for each in roles.where)}.")
    if lines.length == 0:
        raise DataError(f"there are no rows to count{'.' if roles.count is None else ': every count is 0.'}")
    problems = Problems()
    n, w, w2 = _fields(lines, roles, problems)
    problems.raise_if_any(DataError)
    if n is not None and not n.any():
        raise DataError("there are no rows to count: every count is 0.")
    if n is not None and n.sum(dtype=np.float64) > np.iinfo(np.int64).max / 2:
        raise DataError("the counts add up to more people than can be counted, 4.6e18: divide them by a constant.")
    members = None
    if "cluster" in lines.columns:
        from evenhand.cube.cluster_tally import read_members

        members = read_members(lines, roles, n, problems)
    key = _Key(lines.length, n, w)
    attributes = {}
    for name in roles.grouping:
        title = name.partition(":")[2]
        found, codes = encode(lines.columns[name], repr(shorten(title)), roles.na)
        edges = roles.bands.get(title) or lines.edges.get(title)
        counts, weights = key.counter(codes, found), key.weigher(codes, found)
        named = title in roles.categories or title in lines.categories or is_categorical(lines.columns[name])
        call = roles.caller(title)
        read = levels.attribute(title, found, counts, edges, problems, weights=weights, categories=named, call=call)
        attributes[name] = read
        key.add(read.lookup, codes, len(read.names))
    classes: tuple[str, ...] = ()
    labels: Array | None = None
    if roles.task == "regression":
        if any(favourable.values != ("1",) for favourable in roles.positive.values()):
            problems.add("positive= names a class, and label and prediction are numbers here: leave it out.")
        _add_outcomes(key, lines, roles, problems)
    else:
        classes, labels = _add_decisions(key, lines, roles, problems)
    problems.raise_if_any(DataError)
    if lines.reading is not None:
        base = lines.reading.bins.count
        key.add(None, lines.columns["bin"], base + 1)
    sums = {name: values for name, values in (("w", w), ("w2", w2)) if values is not None}
    with np.errstate(over="ignore"):  # which is said below, in words
        sums |= _score_sums(lines, n, w, w2)
    if labels is not None and sums_losses(roles, lines.reading):
        sums |= _losses(lines, labels, n, w, w2)
    counted = _assemble(key, lines, attributes, roles, sums, classes, members)
    _check_sums(counted, roles)
    return counted


def _check_sums(counted: Tally, roles: Roles) -> None:
    """Say no to weights that are all 0, and to numbers whose sums are too large for a number."""
    if counted.w is not None and not counted.w.any():
        raise DataError(
            f"every weight in column {shorten(str(roles.weight))!r} is 0, so that nobody counts: give weights above 0, "
            f"or leave out {as_typed('weight=', '--weight')}."
        )
    sums = [] if counted.scores is None else counted.scores.sums.values()
    if not all(np.abs(values).max(initial=0) <= _LARGEST_SUM for values in sums):
        raise DataError(
            f"sums of powers of {roles.axis_title}, with its label and weights, are too large for a number: rescale "
            "them."
        )


class _Key:
    """One integer for each line, built up column by column as in a number with mixed bases."""

    def __init__(self, length: int, n: Ints | None, w: Floats | None) -> None:
        self.length = length
        self.n = n
        self.w = w
        self.bases: list[int] = []
        self.codes: Array = np.zeros(1, dtype=np.int16)
        self.seen: Ints | None = None  # keys that occur, once the dense range has grown too wide

    def counter(self, codes: Codes, column_levels: Levels) -> levels.CountLevels:
        return lambda: self._bincount(np.add(codes, 1, dtype=np.intp), len(column_levels) + 1)[1:]

    def weigher(self, codes: Codes, column_levels: Levels) -> levels.CountLevels | None:
        """As `counter`, of weights; None where there are none."""
        if self.w is None:
            return None
        return lambda: self._bincount(np.add(codes, 1, dtype=np.intp), len(column_levels) + 1, self.w)[1:]

    def add(self, lookup: Indices | None, codes: Codes, base: int) -> None:
        """Append a digit to each key: the entry of `lookup` for its code; without it the code, and the last for −1."""
        if math.prod(self.bases) * base > 2**62:
            raise DataError("the attributes have too many values to be combined: choose fewer or coarser ones.")
        if self.width * base > max(_DENSE_KEYS, self.length):
            self._compress()
        kind = next(kind for kind in (np.int16, np.int32, np.int64) if self.width * base <= np.iinfo(kind).max)
        digit: Array = codes.astype(kind) if lookup is None else lookup.astype(kind)[codes]
        if lookup is None and codes.min() < 0:
            digit[codes < 0] = base - 1
        if self.width > 1:
            digit += np.multiply(self.codes, base, dtype=kind)
        self.codes = digit
        self.bases.append(base)
        if self.seen is not None:
            self.seen = (self.seen[:, None] * base + np.arange(base)).reshape(-1)

    @property
    def mass(self) -> Array | None:
        """How much each line counts: its weight, or its people; None where that is 1."""
        return self.n if self.w is None else self.w

    @property
    def width(self) -> int:
        """One more than the largest possible code."""
        return len(self.seen) if self.seen is not None else math.prod(self.bases)

    def _compress(self) -> None:
        present, codes = np.unique(self.codes, return_inverse=True)
        self.seen = present.astype(np.int64) if self.seen is None else self.seen[present]
        self.codes = codes.reshape(-1)

    @property
    def keys(self) -> Ints:
        """The keys that the entries of `totals` belong to, in rising order."""
        return np.arange(self.width) if self.seen is None else self.seen

    def totals(self, values: Floats | None = None) -> Ints | Floats:
        """The sum of people, or of `values`, for each key."""
        self.codes = self.codes.astype(np.intp, copy=False)  # as bincount needs them, once for all sums
        totals: Ints | Floats = self._bincount(self.codes, self.width, values)
        return totals

    def _bincount(self, codes: Array, width: int, values: Floats | None = None) -> Any:
        if values is not None:
            return np.bincount(codes, weights=values, minlength=width)
        if self.n is None:
            return np.bincount(codes, minlength=width)
        if int(self.n.sum()) < 2**53:
            return np.bincount(codes, weights=self.n, minlength=width).astype(np.int64)
        totals = np.zeros(width, dtype=np.int64)
        np.add.at(totals, codes, self.n)
        return totals


def _add_decisions(key: _Key, lines: Lines, roles: Roles, problems: Problems) -> tuple[tuple[str, ...], Array | None]:
    """Append label, prediction and the decision by the cutoff to the keys. Returns the classes of a multiclass task,
    and of any other the label of each line: negative, positive or neither."""
    columns = {}
    for role in ("label", "prediction"):
        if (name := getattr(roles, role)) is not None:
            found, codes = encode(lines.columns[role], f"{role} column {shorten(name)!r}", roles.na)
            columns[role] = found, codes, key.counter(codes, found)() > 0
    classes: tuple[str, ...] = ()
    labels: Array | None = None
    if roles.task == "multiclass":
        classes = levels.all_classes({role: (part[0], part[2]) for role, part in columns.items()}, problems)
    for role, (found, codes, seen) in columns.items():
        if role == "prediction":
            _complain_undecided(key, codes, roles, problems)
        if classes:
            key.add(levels.class_places(found, classes), codes, len(classes) + 1)
        else:
            lookup = levels.classes(role, getattr(roles, role), found, seen, roles.positive[role], problems)
            key.add(lookup, codes, 3)
            if role == "label" and sums_losses(roles, lines.reading):
                labels = lookup.astype(np.int8)[codes]
    if roles.cutoff is not None:
        codes = lines.columns["decided"]
        absent = _people(key, codes < 0)
        if roles.prediction is None and absent:
            problems.add(
                f"score column {shorten(str(roles.score))!r} is missing in {number_of(absent)}, and the cutoff "
                "has to decide them; leave those rows out or give prediction=."
            )
        key.add(np.array([0, 1, 2], dtype=np.intp), codes, 3)
    return classes, labels


def _add_outcomes(key: _Key, lines: Lines, roles: Roles, problems: Problems) -> None:
    """Append the band of the label to the keys of a regressor."""
    _complain_undecided(key, lines.columns["bin"], roles, problems)
    if lines.reading is not None and lines.reading.outcome:
        base = lines.reading.labels
        key.add(np.arange(base, dtype=np.intp), lines.columns["band"], base)


def _complain_undecided(key: _Key, codes: Codes, roles: Roles, problems: Problems) -> None:
    if codes.min() < 0 and (absent := _people(key, codes < 0)):
        problems.add(
            f"prediction column {shorten(str(roles.prediction))!r} is missing in {number_of(absent)}: a decision that "
            "was not made cannot be judged; leave those rows out or say what they mean."
        )


def _people(key: _Key, inside: Bools) -> int:
    return int(np.sum(inside if key.n is None else key.n[inside]))


def _assemble(
    key: _Key,
    lines: Lines,
    attributes: Mapping[str, levels.Attribute],
    roles: Roles,
    sums: Mapping[str, Floats],
    classes: tuple[str, ...],
    members: Members | None,
) -> Tally:
    n = key.totals()
    present = np.flatnonzero(n)
    keys = key.keys[present]
    fields: dict[str, Any] = {"n": n[present], "code": present}
    fields |= {name: key.totals(values)[present] for name, values in sums.items()}
    base = len(classes) + 1 if classes else 3
    decided = label = prediction = np.full(len(keys), base - 1, dtype=np.int64)
    if lines.reading is not None:
        keys, fields["bin"] = np.divmod(keys, lines.reading.bins.count + 1)
    if roles.task == "regression":
        keys, fields["band"], label = _bands_of(keys, lines)
    else:
        if roles.cutoff is not None:
            keys, decided = np.divmod(keys, 3)
        if roles.prediction is not None:
            keys, prediction = np.divmod(keys, base)
        elif roles.cutoff is not None:
            prediction = decided
        if roles.label is not None:
            keys, label = np.divmod(keys, base)
    pairs, where = _pairs(keys, [attributes[name].names for name in roles.grouping], len(roles.control))
    facts = _facts(fields, prediction, decided, roles, lines)
    fields |= {"where": where, "label": label, "prediction": prediction}
    kept = np.array([_complete(pair) or roles.missing == "group" for pair in pairs], dtype=bool)
    if not kept.all():
        pairs, fields = _drop(pairs, fields, kept, roles, facts)
    order = sorted(range(len(pairs)), key=lambda i: [[levels.order_key(v) for v in part] for part in pairs[i]])
    place = np.empty(len(pairs), dtype=np.intp)
    place[order] = np.arange(len(pairs))
    fields["where"] = place[fields["where"]]
    pairs = [pairs[i] for i in order]
    bands = {name.partition(":")[2]: read.edges for name, read in attributes.items() if read.edges is not None}
    clusters = None
    if roles.cluster is not None:
        from evenhand.cube.cluster_tally import count_clusters

        places = _places(key, fields, base)
        members = None if members is None else members._replace(place=places, mass=key.mass)
        clusters = count_clusters(lines, members, places, bands, base**2, pairs, roles)
    return Tally(
        tuple(pairs),
        _cells(fields, "n", len(pairs), base).astype(np.int64),
        _cells(fields, "w", len(pairs), base) if "w" in fields else None,
        _cells(fields, "w2", len(pairs), base) if "w2" in fields else None,
        bands,
        tuple(
            name.partition(":")[2]
            for name, read in attributes.items()
            if read.cut_by_us or name.partition(":")[2] in lines.edges
        ),
        facts,
        _score_table(fields, lines.reading),
        classes,
        {name.partition(":")[2]: read.kind for name, read in attributes.items()},
        clusters,
    )


def _places(key: _Key, fields: Mapping[str, Any], base: int) -> Indices:
    """The place of each line among the cells of all pairs, as in `Clusters`; −1 where it is left out."""
    by_code = np.full(key.width, -1, dtype=np.intp)
    by_code[fields["code"]] = (fields["where"] * base + fields["label"]) * base + fields["prediction"]
    return by_code[key.codes]


def _bands_of(keys: Ints, lines: Lines) -> tuple[Ints, Ints, Ints]:
    """The keys of a regressor without their band, the band, and the index on the label axis: labelled or not."""
    bands = 0 if lines.reading is None else lines.reading.labels - 1
    if not bands:
        return keys, np.zeros_like(keys), np.full(len(keys), levels.NEITHER)
    keys, band = np.divmod(keys, bands + 1)
    return keys, band, np.where(band < bands, levels.NEGATIVE, levels.NEITHER)


def _cells(fields: Mapping[str, Any], name: str, pairs: int, base: int) -> Array:
    dense = np.zeros((pairs, base, base), dtype=fields[name].dtype)
    np.add.at(dense, (fields["where"], fields["label"], fields["prediction"]), fields[name])
    return dense


def _score_sums(lines: Lines, n: Ints | None, w: Floats | None, w2: Floats | None) -> dict[str, Floats]:
    """Σs and Σs² of each line, or with weights Σws, Σw²s and Σw²s²."""
    if lines.score_sums is not None:
        return {name: values for name, values in lines.score_sums.items() if name not in names_by_side(w is not None)}
    if lines.scores is None:
        return {}
    if lines.reading is not None and lines.reading.outcome is not None:
        return moments(lines.scores, lines.outcomes, lines.reading.middle, (n, w, w2))
    s = _present(lines.scores)
    if w is not None and w2 is not None:
        return {"ws": w * s, "w2s": w2 * s, "w2s2": w2 * s**2}
    each = s if n is None else n.astype(np.float64) * s
    return {"s": each, "s2": each * s}


def _present(scores: Floats) -> Floats:
    """The scores with 0 for a missing one, which is in no bin."""
    absent = np.isnan(scores)
    return np.where(absent, 0.0, scores) if absent.any() else scores


def _losses(lines: Lines, labels: Array, n: Ints | None, w: Floats | None, w2: Floats | None) -> dict[str, Floats]:
    """The sums of `names_of_losses` of each line; of those that an engine has summed, the ones of its label."""
    if lines.scores is not None:
        return loss_sums(_present(lines.scores), labels, (n, w, w2))
    given, weighted = lines.score_sums or {}, w is not None
    found = {"ws2": given["ws2"]} if weighted else {}
    for name in names_of_losses(weighted):
        if name not in found:
            no, yes = (given[side + name] for side in SIDES)
            found[name] = np.where(labels == levels.POSITIVE, yes, np.where(labels == levels.NEGATIVE, no, 0.0))
    return found


def _score_table(fields: Mapping[str, Any], read: ScoreReading | None) -> ScoreTable | None:
    if read is None:
        return None
    scored = fields["bin"] < read.bins.count
    part = {name: values[scored] for name, values in fields.items()}
    labels = part["label"] if read.outcome is None else part["band"]
    names = names_of_sums(read, "w" in fields)
    if read.hides_losses and bool((labels < levels.NEITHER).any()):
        names += names_of_losses("w" in fields)
    return collect(read, part["where"], labels, part["bin"], part["n"], {name: part[name] for name in names})


def _pairs(keys: Ints, names: list[tuple[str | None, ...]], strata: int) -> tuple[list[Pair], Indices]:
    distinct, where = np.unique(keys, return_inverse=True)
    digits = np.unravel_index(distinct, [len(part) for part in names])
    columns = [[part[i] for i in digit] for part, digit in zip(names, digits, strict=True)]
    values = list(zip(*columns, strict=True))
    return [(value[:strata], value[strata:]) for value in values], where.reshape(-1)


def _facts(fields: Mapping[str, Any], prediction: Ints, decided: Ints, roles: Roles, lines: Lines) -> dict[str, int]:
    facts: dict[str, int] = {}
    n = fields["n"]
    if roles.prediction is not None and roles.cutoff is not None:
        differs = (prediction != decided) & (decided != levels.NEITHER)
        facts["cutoff_disagrees"] = int(n[differs].sum())
    if lines.reading is not None:
        facts["score_missing"] = int(n[fields["bin"] == lines.reading.bins.count].sum())
    return facts


def _complete(pair: Pair) -> bool:
    return None not in pair[0] and None not in pair[1]


def _drop(
    pairs: list[Pair], fields: dict[str, Any], kept: Bools, roles: Roles, facts: dict[str, int]
) -> tuple[list[Pair], dict[str, Any]]:
    """Leave out the pairs with a missing value (missing="drop"), or say that there are some ("error")."""
    keep = kept[fields["where"]]
    lost = int(fields["n"][~keep].sum())
    if roles.missing == "error":
        raise DataError(
            f"{number_of(lost)} {'has' if lost == 1 else 'have'} no value for "
            f"{' or '.join((*roles.control, *roles.sensitive))}; "
            "missing='group' keeps them as one more group, missing='drop' leaves them out."
        )
    if not kept.any():
        raise DataError("no row is left after missing='drop': every row lacks a group.")
    facts["dropped"] = lost
    renumber = np.cumsum(kept) - 1
    remaining = {name: values[keep] for name, values in fields.items()}
    remaining["where"] = renumber[remaining["where"]]
    return [pair for pair, keeps in zip(pairs, kept, strict=True) if keeps], remaining


def _fields(lines: Lines, roles: Roles, problems: Problems) -> tuple[Ints | None, Floats | None, Floats | None]:
    """People, Σ weight and Σ weight² of each line; None for one person a line, and for no weights."""
    if lines.n is not None:
        return lines.n, lines.w, lines.w2
    read = read_masses(lines.columns, roles)
    complain_count(read.wrong_counts, str(roles.count), problems)
    complain_weight(read.wrong_weights, roles, problems)
    n, weights = read.people, read.weights
    if weights is None:
        return n, None, None
    people = 1 if n is None else n
    return n, people * weights, people * weights**2
