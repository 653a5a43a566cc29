"""Cube: how many people fall in each cell of (stratum, group, label, prediction). What follows needs no rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from weakref import ref

import numpy as np

from evenhand import sources
from evenhand.core.arguments import checked
from evenhand.core.arrays import DataLike, Floats, Ints
from evenhand.core.familiar import in_our_words
from evenhand.core.results import Group, Pair, spell
from evenhand.core.signs import escaped, printable
from evenhand.cube import chunks
from evenhand.cube.attribute_sets import AttributeSets, attribute_sets
from evenhand.cube.meaning import Meaning
from evenhand.cube.scores import ScoreTable, merge_tables
from evenhand.cube.tally import tally
from evenhand.errors import CallError, check_kind, listing, nearest
from evenhand.sources.conditions import note
from evenhand.sources.documentation import documented
from evenhand.sources.kinds import TEXT, united_by_name, value_of
from evenhand.sources.levels import order_key
from evenhand.sources.periods import Every
from evenhand.sources.read_arguments import CallArguments
from evenhand.sources.reader import reader
from evenhand.sources.roles import (
    ReadArguments,
    Roles,
    Span,
    assign,
    complete,
)
from evenhand.sources.spelling import spelling
from evenhand.sources.value_labels import named_reference, united_codes

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.cube.clusters import Clusters


# Where the cells of `measures.CELLS` stand in a flattened 3 × 3 table of (label, prediction).
_PLACES = (0, 1, 3, 4, 6, 7, 2, 5)


@documented
@partial(checked, itself=("merge", "count"))
@dataclass(frozen=True, eq=False, repr=False)
class Cube:
    """Frozen counts of people: `n[pair, label, prediction]`, with Σw and Σw² where there are weights. It keeps no rows.

    The label axis is (negative, positive, unlabelled), the prediction axis (negative, positive, undecided); with
    `classes` it is these, then unlabelled or undecided. For a regressor the cells only count labelled and unlabelled.
    Two cubes are equal when they mean the same, count the same, and their sums agree to 1e-12.
    """

    meaning: Meaning
    pairs: tuple[Pair, ...]
    n: Ints
    w: Floats | None = None
    w2: Floats | None = None
    cut_by_us: tuple[str, ...] = ()
    facts: Mapping[str, int] = field(default_factory=dict)
    scores: ScoreTable | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on how the cube was counted, such as files that were left out."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of which kind the values of each attribute were (see `sources.kinds`); groups are named by their spelling. It is
    not compared, so that a cube of a CSV, which is text, equals that of a table, and the two add up."""
    clusters: Clusters | None = None
    """Sums over the clusters that `meaning.cluster` names; None also where a file does not keep them."""
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the values of attributes are called here, by the codes that stood in the data (`labels=`). It is not
    compared: a reference may be named by its code."""

    @classmethod
    @reader
    def count(cls, data: DataLike | None = None, *, like: Cube | None = None, **given: Unpack[CallArguments]) -> Cube:
        """Read the data once and count it.

        Parameters
        ----------
        data
            What `evenhand.audit` takes; or an iterator or a list of tables: they are counted one after the other, and
            no more than one is in memory. Whatever depends on all of the data, such as bands, must then be known from
            the start: see `evenhand.cube.chunks`.
        like
            A cube that was counted before: attributes and scores are cut as in that one.

        >>> cube = Cube.count(prediction=[1, 0, 1, 1], sensitive=["a", "a", "b", "b"])
        >>> cube
        <Cube: 4 people, 2 groups of sensitive>
        """
        arguments = complete(cls.count, given)
        if like is not None:
            check_kind(like, Cube, "like", "pass a Cube that was counted before, or leave it out")
        if chunks.is_chunks(data):
            cube = chunks.count(cls._count_one, data, like, arguments)
        else:
            cube = cls._count_one(data, like, arguments)
        if cube.clusters is not None and cube.meaning.cluster is not None:
            from evenhand.cube.cluster_tally import check_design

            check_design(cube.clusters, cube.meaning.cluster, cube.meaning.design_strata)
        return cube

    @classmethod
    @reader
    def series(
        cls, data: DataLike | None = None, *, by: str, every: Every | None = None, **arguments: Unpack[CallArguments]
    ) -> dict[str, Cube]:
        """Read the data once and count each period by itself: cubes by the names of their periods, in order of time.

        `evenhand.trend` takes the result.

        Parameters
        ----------
        data
            What `count` takes.
        by
            The column that says when: each of its values is a period, or with `every` the dates in it are.
        every
            The length of a period, where the column holds dates.

        >>> day = ["2026-01-03", "2026-01-30", "2026-02-01", "2026-02-02"]
        >>> data = {"day": day, "decided": [1, 0, 1, 1], "sex": ["m", "f", "m", "f"]}
        >>> Cube.series(data, by="day", every="month", prediction="decided", sensitive="sex")
        {'2026-01': <Cube: 2 people, 2 groups of sex>, '2026-02': <Cube: 2 people, 2 groups of sex>}
        """
        from evenhand.cube import series

        return series.count(cls._count_one, data, by, every, complete(cls.series, arguments))

    @classmethod
    def _count_one(
        cls,
        data: Any,
        like: Cube | None,
        arguments: ReadArguments,
        periods: Mapping[str, Every | None] | None = None,
        needs: Collection[str] = ("groups", "outcomes"),
    ) -> Cube:
        """The cube of one table; a chunk may hold a single cluster. `periods` is of `Roles`, `needs` of `assign`."""
        if like is not None:
            arguments["bands"] = {**like.meaning.bands, **(arguments["bands"] or {})}
            arguments["task"] = arguments["task"] or like.meaning.task
        source = sources.open_source(data, hive=arguments["hive"])
        scores = like.scores.reading if like is not None and like.scores is not None else None
        roles = assign(source.names, like_scores=scores, needs=needs, **arguments)
        inferred = roles.task is None and _may_be_numbers(roles) and source.fractional(roles)
        roles = replace(roles, task="regression" if inferred else roles.task or "binary")
        if like is not None:
            uncut = {*like.meaning.sensitive, *like.meaning.control} - roles.bands.keys()
            roles = replace(roles, categories=roles.categories | uncut)
        if periods:
            roles = replace(roles, periods=periods, categories=roles.categories | periods.keys())
        counted = tally(source.lines(roles), roles)
        return cls(
            Meaning.from_roles(roles, counted.bands),
            counted.pairs,
            counted.n,
            counted.w,
            counted.w2,
            tuple(name for name in counted.cut_by_us if like is None or name not in like.meaning.bands),
            {**counted.facts, **({"regression_chosen": 1} if inferred else {})},
            counted.scores,
            counted.classes,
            (note(roles.where),) if roles.where else (),
            kinds=counted.kinds,
            clusters=counted.clusters,
            codes=roles.labels,
        )

    @property
    def has(self) -> dict[str, bool]:
        """Which of label, prediction and score were counted; scores that only tell decisions apart are none."""
        scored = self.scores is not None and not self.scores.counts_only
        return {"label": self.has_labels, "prediction": self.has_predictions, "score": scored}

    @property
    def has_labels(self) -> bool:
        """Were labels counted?"""
        return self.meaning.label is not None

    @property
    def has_predictions(self) -> bool:
        """Were predictions counted, either as a column or by a cutoff of the score?"""
        return self.meaning.prediction is not None or self.meaning.cutoff is not None

    @property
    def clustered(self) -> bool:
        """Do rows belong together in clusters of more than one? Also where a file did not keep the sums over them."""
        if self.meaning.cluster is None:
            return False
        return self.clusters is None or not self.clusters.are_single(self.n if self.w2 is None else self.w2)

    @property
    def size(self) -> int:
        """The number of people."""
        return int(self.n.sum())

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups that occur, in canonical order."""
        return tuple(dict.fromkeys(group for _, group in self.pairs))

    @cached_property
    def strata(self) -> tuple[Group, ...]:
        """The combinations of controls that occur; without controls, one that is empty."""
        return tuple(dict.fromkeys(stratum for stratum, _ in self.pairs))

    @property
    def counts(self) -> Ints:
        """People by cell, [pairs, 8], in the order of `measures.CELLS`."""
        if self.classes:
            raise CallError(
                "a cube of several classes does not have these cells: see measures.group_data.against_rest."
            )
        return self.n.reshape(-1, 9)[:, _PLACES]

    @property
    def cells(self) -> Floats:
        """The sums that measures are computed from: weights where there are any, else people; [pairs, 8]."""
        if self.classes:
            return self.counts.astype(np.float64)
        mass = self.n if self.w is None else self.w
        return mass.reshape(-1, 9)[:, _PLACES].astype(np.float64)

    @property
    def squares(self) -> Floats | None:
        """Σw² by cell, [pairs, 8]; None where there are no weights."""
        return None if self.w2 is None else self.w2.reshape(-1, 9)[:, _PLACES]

    def measures(self, names: Iterable[Any] | None = None) -> dict[str, Floats]:
        """Every measure that the cube allows (or those named), for each of `pairs`; NaN is undefined.

        Parameters
        ----------
        names
            The measures; by default all that cells allow.
        """
        from evenhand.measures import cells

        names = names if names is None else list(names)
        for name in names or ():
            check_kind(name, (str, cells.CellMeasure), "a measure in names", "name measures such as 'recall'")
        present = self.has
        chosen = (
            [cells.find_cell_measure(name) for name in names]
            if names is not None
            else [row for row in cells.MEASURES.values() if all(present[role] for role in row.needs)]
        )
        if self.meaning.task != "binary":
            raise CallError(f"these are measures of a yes or no; this cube is of task {self.meaning.task!r}.")
        return dict(cells.evaluate(self.cells, chosen)) if chosen else {}

    def limits(self, name: str, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of a measure's interval for each of `pairs`; they hold for all together. NaN for a plain total.

        Parameters
        ----------
        name
            The measure.
        """
        from evenhand.measures import cells

        if not 0 < confidence < 1:
            raise CallError(f"confidence={confidence!r} must be a share between 0 and 1, such as 0.95.")
        return cells.limits(name, self, confidence)

    def marginal(self, attributes: Sequence[str] | None = None, *, control: bool = True) -> Cube:
        """The cube of some of the attributes, the others summed over; `control=False` sums over the strata."""
        kept = tuple(self.meaning.sensitive if attributes is None else attributes)
        for name in kept:
            if name not in self.meaning.sensitive:
                raise CallError(f"{name!r} is not an attribute of this cube; {nearest(name, self.meaning.sensitive)}")
            if kept.count(name) > 1:
                raise CallError(f"{name!r} is named twice: name each attribute once.")
        control = control or not self.meaning.control
        if kept == self.meaning.sensitive and control:
            return self
        # What this cube is a part of may have that part already.
        whole: Cube = (self.derived["whole",]() if control and ("whole",) in self.derived else None) or self
        return whole._once(("marginal", kept, control), lambda: whole._marginal(kept, control))

    def _marginal(self, kept: tuple[str, ...], control: bool) -> Cube:
        places = [self.meaning.sensitive.index(name) for name in kept]
        meaning = replace(self.meaning, sensitive=kept, control=self.meaning.control if control else ())
        part = self._regroup(
            lambda pair: (pair[0] if control else (), tuple(pair[1][place] for place in places)), meaning
        )
        if control:
            part.derived["whole",] = ref(self)
        return part

    def pool(self, keep: Group, name: str = "everyone else") -> Cube:
        """The cube with two groups: `keep`, and all others as one; people without a group stay apart.

        Several others are called `name`; a single one keeps its own.

        Parameters
        ----------
        keep
            The group that stays by itself.
        name
            What the others are called together.
        """
        if sum(group != keep and None not in group for group in self.groups) < 2:
            return self
        while any(group == (name,) for group in self.groups):
            name = f"{name} (pooled)"
        others: Group = (name,)
        return self._regroup(
            lambda pair: (pair[0], pair[1] if pair[1] == keep or None in pair[1] else others), self.meaning
        )

    def stratum(self, stratum: Group) -> Cube:
        """The part of the cube in one stratum.

        Parameters
        ----------
        stratum
            The values of the controls.
        """
        if stratum not in self.strata:
            raise CallError(f"{stratum!r} is not a stratum of this cube; there are: {listing(self.strata)}.")
        return self._once(("stratum", stratum), lambda: self.only([pair[0] == stratum for pair in self.pairs]))

    def named(self) -> Cube:
        """The cube without the people whose group is missing."""
        return self._once(("named",), lambda: self.only([None not in group for _, group in self.pairs]))

    @cached_property
    def derived(self) -> dict[tuple[Any, ...], Any]:
        """What was computed from this cube and is asked for again, by name; it is not saved, pickled or compared."""
        return {}

    def _once(self, name: tuple[Any, ...], make: Callable[[], Cube]) -> Cube:
        """A part of the cube, which is made when it is first asked for."""
        if name not in self.derived:
            self.derived[name] = make()
        part: Cube = self.derived[name]
        return part

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def coarsen(self, bins: int = 256) -> Cube:
        """The cube with at most `bins` bins of the score, for drawing, saving and embedding.

        Counts, means, calibration and decisions at the cutoff do not change, because a coarser grid keeps those edges.
        Measures of the order of scores, such as an AUC, become less exact, and their intervals say by how much. Scores
        of few values stay as they are. Coarsen after merging: cubes can be added only if their scores are cut alike.

        >>> scores = [i / 2000 for i in range(2000)]
        >>> cube = Cube.count(score=scores, sensitive=["a", "b"] * 1000)
        >>> cube.scores.bins.count, cube.coarsen().scores.bins.count
        (1032, 136)
        """
        if isinstance(bins, bool) or not isinstance(bins, Integral) or bins < 2:
            raise CallError(f"bins={bins!r} must be a whole number of at least 2.")
        return self if self.scores is None else replace(self, scores=self.scores.coarsen(int(bins)))

    def only(self, chosen: Sequence[bool]) -> Cube:
        """The part of the cube in some of its pairs; `chosen` says of each whether it is among them.

        Parameters
        ----------
        chosen
            For each of `pairs`, whether it stays.
        """
        inside = np.array(chosen, dtype=np.bool_)
        if inside.shape != (len(self.pairs),):
            raise CallError(f"chosen= has {inside.size} values, and the cube has {len(self.pairs)} pairs.")
        if inside.all():
            return self
        place = np.where(inside, np.cumsum(inside) - 1, -1)
        return replace(
            self,
            pairs=tuple(pair for pair, keeps in zip(self.pairs, inside, strict=True) if keeps),
            n=self.n[inside],
            w=None if self.w is None else self.w[inside],
            w2=None if self.w2 is None else self.w2[inside],
            scores=None if self.scores is None else self.scores.regroup(place),
            clusters=None if self.clusters is None else replace(self.clusters.moved(place), in_part=self.clustered),
        )

    def _regroup(self, rename: Callable[[Pair], Pair], meaning: Meaning) -> Cube:
        return collect([(self, [rename(pair) for pair in self.pairs])], meaning)

    def __add__(self, other: Cube) -> Cube:
        if not isinstance(other, Cube):
            return NotImplemented
        return Cube.merge([self, other])

    @classmethod
    def merge(
        cls,
        cubes: Cube | str | Path | Iterable[Cube | str | Path] | Mapping[str, Cube | str | Path],
        clusters: Span | None = None,
    ) -> Cube:
        """The sum of cubes that mean the same: chunks, days, partitions, sites.

        They are cubes, paths of saved ones, or a glob such as "2026-*.cube". In a mapping they have names, by which an
        error calls the one that does not fit. Files are added while they are read. Cubes with clusters are added only
        with clusters="within", by which the caller says that no cluster has rows in two of them.

        Parameters
        ----------
        cubes
            Cubes, paths of saved ones or a glob; or a mapping by name.
        """
        from evenhand.cube.merge import merge

        return merge(cubes, clusters)

    def save(self, path: str | Path) -> None:
        """Write the cube as a Parquet file with its meaning in the header; whole or not at all."""
        from evenhand.cube import parquet

        parquet.save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Cube:
        """Read a cube that `save` has written; a file that was damaged or edited since is refused by its checksum."""
        from evenhand.cube import parquet

        return parquet.load(Path(path))

    def attribute_sets(self, intersections: bool | int | None = None) -> AttributeSets:
        """The attributes one by one, then combined; `intersections` is how many at most, True combines all."""
        names = self.meaning.sensitive

        def groups(attributes: tuple[str, ...]) -> int:
            places = [names.index(name) for name in attributes]
            return len({tuple(group[i] for i in places) for group in self.groups})

        return attribute_sets(names, intersections, groups)

    def audit(self, **arguments: Any) -> Audit:
        """Audit the cube; takes the arguments of `evenhand.audit` except those that read data.

        Parameters
        ----------
        **arguments
            `reference`, `metrics`, `policy`, `intersections`, `min_group_size`, `confidence`, `interval`,
            `draws`, `random_state`, or any field of Policy.
        """
        from evenhand.audits.audit import audit_cube, judging_arguments

        return audit_cube(self, **in_our_words("Cube.audit", arguments, judging_arguments()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cube):
            return NotImplemented
        if self.meaning != other.meaning or self.pairs != other.pairs or dict(self.facts) != dict(other.facts):
            return False
        if self.classes != other.classes or self.notes != other.notes:
            return False
        if self.clusters is not other.clusters and (self.clusters is None or not self.clusters.same(other.clusters)):
            return False
        sums = all(
            (mine is None and theirs is None)
            or (mine is not None and theirs is not None and np.allclose(mine, theirs, rtol=1e-12, atol=0))
            for mine, theirs in ((self.w, other.w), (self.w2, other.w2))
        )
        if self.scores is None or other.scores is None:
            return bool(np.array_equal(self.n, other.n) and sums and self.scores is other.scores)
        return bool(np.array_equal(self.n, other.n) and sums and self.scores.same(other.scores))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = len(self.groups)
        within = f" in {len(self.strata)} strata" if self.meaning.control else ""
        of = escaped(" × ".join(self.meaning.sensitive))
        return printable(f"<Cube: {self.size:,} people, {groups} groups of {of}{within}>")

    def values(self, attributes: Sequence[str], group: Group) -> tuple[Any, ...]:
        """A group, or a stratum, of these attributes as the caller's own values: 1 where its name is "1".

        Parameters
        ----------
        group
            A group, as `groups` names it.

        >>> cube = Cube.count(prediction=[1, 0, 1], sensitive=[2, 7, 7])
        >>> cube.groups[0], cube.values(cube.meaning.sensitive, cube.groups[0])
        (('2',), (2,))
        """
        if len(attributes) != len(group):
            raise CallError(f"group={group!r} must have one value for each of attributes={tuple(attributes)!r}.")
        return tuple(value_of(text, self.kinds.get(name, TEXT)) for name, text in zip(attributes, group, strict=True))

    def find_group(self, value: object) -> Group | None:
        """The group of this name, which is one value, or one for each attribute in order; None where there is none.

        Parameters
        ----------
        value
            The value of one attribute, or a tuple of values.
        """
        value = named_reference(value, self.codes, self.meaning.sensitive)
        if isinstance(value, Mapping):
            value = tuple(value.get(name) for name in self.meaning.sensitive)
        wanted = value if isinstance(value, (tuple, list)) else (value,)
        spelled = tuple(None if part is None else spelling(part) for part in wanted)
        for group in self.groups:
            if group == spelled or (len(wanted) == 1 and spell(group) == spelled[0]):
                return group
        return None


def collect(pieces: Sequence[tuple[Cube, Sequence[Pair]]], meaning: Meaning) -> Cube:
    """The sum of cubes, each with the pairs that its lines are counted under; pairs come in canonical order."""
    names = sorted({pair for _, pairs in pieces for pair in pairs}, key=_pair_key)
    place = {pair: i for i, pair in enumerate(names)}
    classes = tuple(sorted({name for cube, _ in pieces for name in cube.classes}, key=order_key))
    base = len(classes) + 1 if classes else 3
    n = np.zeros((len(names), base, base), dtype=np.int64)
    weighted = pieces[0][0].w is not None
    w, w2 = (np.zeros(n.shape), np.zeros(n.shape)) if weighted else (None, None)
    facts: dict[str, int] = {}
    tables, clusters = [], []
    for cube, pairs in pieces:
        where = [place[pair] for pair in pairs]
        if cube.scores is not None:
            tables.append(cube.scores.regroup(np.array(where, dtype=np.intp)))
        axis = [*(classes.index(name) for name in cube.classes), base - 1] if classes else [0, 1, 2]
        cells = np.ix_(where, axis, axis)
        if cube.clusters is not None:
            flat = np.add.outer(np.array(axis) * base, axis).reshape(-1)
            clusters.append(cube.clusters.moved(np.array(where, dtype=np.intp), base**2, flat))
        np.add.at(n, cells, cube.n)
        for total, part in ((w, cube.w), (w2, cube.w2)):
            if total is not None and part is not None:
                np.add.at(total, cells, part)
        for fact, count in cube.facts.items():
            facts[fact] = facts.get(fact, 0) + count
    cut, notes = (
        tuple(dict.fromkeys(each for cube, _ in pieces for each in getattr(cube, name)))
        for name in ("cut_by_us", "notes")
    )
    scores = None if not tables else tables[0] if len(tables) == 1 else merge_tables(tables)
    kinds = united_by_name(cube.kinds for cube, _ in pieces)
    kept = clusters[0] if len(clusters) == len(pieces) else None
    if kept is not None and len(clusters) > 1:
        from evenhand.cube.clusters import merged

        kept = merged(clusters)
    codes = united_codes(cube.codes for cube, _ in pieces)
    return Cube(meaning, tuple(names), n, w, w2, cut, facts, scores, classes, notes, kinds, kept, codes)


def _may_be_numbers(roles: Roles) -> bool:
    """May label and prediction be the numbers of a regressor? Only where both are there and there is no score."""
    return roles.label is not None and roles.prediction is not None and roles.score is None


def _pair_key(pair: Pair) -> list[list[tuple[int, float, str]]]:
    return [[order_key(value) for value in part] for part in pair]


def count_people(data: Any, arguments: ReadArguments) -> Cube:
    """The cube of people who may have neither a label nor a decision: who is in the data."""
    return Cube._count_one(data, None, arguments, needs=("groups",))
