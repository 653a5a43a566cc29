"""The one group-by of a frame that an engine holds, as a narwhals plan.

Columns are projected first, step by step, and then only bare columns are summed: some engines silently ignore an
expression inside an aggregate. Numbers are floats without NaN before they are compared, because engines disagree on
whether NaN is above everything, below, or equal to itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import mul, or_
from typing import Any

import narwhals.stable.v2 as nw

from evenhand.errors import DataError, shorten
from evenhand.sources.columns import as_floats
from evenhand.sources.engines.table import Engine, engine_of
from evenhand.sources.groupby import sums_losses
from evenhand.sources.lines import LARGEST_COUNT, LARGEST_WEIGHT, MOMENTS, SMALLEST_WEIGHT, names_by_side
from evenhand.sources.lines import TINY as LEAST_OUTCOME
from evenhand.sources.roles import Roles
from evenhand.sources.scores import TINY, ScoreReading


@dataclass(frozen=True)
class Columns:
    """The columns of a frame by the keys of the roles, as expressions."""

    frame: nw.LazyFrame[Any]
    roles: Roles
    reached: Mapping[str, str]
    """The name in the frame of each column of the caller."""

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        return self.frame.collect_schema()

    @cached_property
    def engine(self) -> Engine:
        return engine_of(nw.to_native(self.frame))

    def kind(self, key: str) -> Any:
        return self.schema[self._reach(key)]

    def _reach(self, key: str) -> str:
        return self.reached[self.roles.keys[key]]

    def numeric(self, key: str) -> bool:
        """Does the column hold numbers? Truth values are not numbers."""
        return bool(self.kind(key).is_numeric())

    def fractional(self, key: str) -> bool:
        """May the column hold fractions?"""
        kind = self.kind(key)
        return bool(kind.is_float() or kind.is_decimal())

    def raw(self, key: str) -> nw.Expr:
        """The value to group by; what it means is decided where all lines are read."""
        value = nw.col(self._reach(key))
        return value.cast(nw.String) if self.kind(key) in (nw.Categorical, nw.Enum) else value

    def known(self, key: str) -> nw.Expr:
        """The value to group by, null wherever it is missing, so that no two values mean the same."""
        value, kind = self.raw(key), self.kind(key)
        if kind in (nw.String, nw.Categorical, nw.Enum):
            return nw.when(~reduce(or_, [value == nw.lit(text) for text in ("", *self.roles.na)])).then(value)
        if self.fractional(key) and kind.is_float() and self.has_nan:
            value = value.fill_nan(None)
        absent = as_floats(self.roles.na) if kind.is_numeric() else []
        return nw.when(~reduce(or_, [value == self.literal(each) for each in absent])).then(value) if absent else value

    def number(self, key: str, *, nan: bool = False) -> nw.Expr:
        """The value as a float, null where it is missing; `nan` leaves NaN as it is. A label that counts events is
        read as events for each unit of exposure."""
        if key == "label" and self.roles.exposure is not None:
            exposed = self._number("weight")
            return self._number(key) / nw.when(exposed > self.literal(0.0)).then(exposed).otherwise(self.literal(1.0))
        return self._number(key, nan=nan)

    def _number(self, key: str, *, nan: bool = False) -> nw.Expr:
        kind = self.kind(key)
        if kind == nw.Boolean:
            return nw.when(~self.raw(key).is_null()).then(self.raw(key).cast(nw.Int64).cast(nw.Float64))
        if not kind.is_numeric():
            name = shorten(self.roles.keys[key])
            role = self.roles.called(key)
            raise DataError(f"{role} column {name!r} is held as {kind}, not as numbers: cast it in the engine first.")
        value = self.raw(key).cast(nw.Float64)
        absent = as_floats(self.roles.na)
        if not nan and self.fractional(key) and self.has_nan:
            value = value.fill_nan(None)
        if not absent:
            return value
        gone = reduce(or_, [value == self.literal(number) for number in absent])
        return nw.when(~gone).then(value)

    def with_people(self) -> Columns:
        """The columns of the rows that stand for someone; a missing count stays, so that the error counts it."""
        if self.roles.count is None:
            return self
        count = self.number("count")
        return replace(self, frame=self.frame.filter(count.is_null() | (count != self.literal(0.0))))

    def mass(self, *, weighted: bool) -> nw.Expr:
        """How much a row counts in a quantile: its people, times their weight; what is no count or weight counts 0."""
        found = self.literal(1.0)
        limits = {"count": LARGEST_COUNT, "weight": LARGEST_WEIGHT if weighted else None}
        for role, most in limits.items():
            if most is not None and getattr(self.roles, role) is not None:
                value, zero = self.number(role), self.literal(0.0)
                good = (value >= zero) & (value <= self.literal(most))
                found = found * nw.when(good).then(value).otherwise(zero)
        return found

    @property
    def has_nan(self) -> bool:
        """Does the engine know NaN?"""
        return self.engine.has_nan(nw.to_native(self.frame))

    def literal(self, number: float) -> nw.Expr:
        """A number without loss."""
        if self.engine.numbers_as_text:
            return nw.lit(repr(float(number))).cast(nw.Float64)
        return nw.lit(float(number))


MEMBERS = {"cluster": "c", "design_strata": "h"}
"""The roles that say which rows belong together, and the names of their columns in a plan."""


class Plan:
    """The group-by of a call. `keys` are the columns that hold raw values; the others are named as in `lines_of`."""

    def __init__(self, columns: Columns, read: ScoreReading | None, edges: Mapping[str, Sequence[float]]) -> None:
        self.columns, self.roles, self.reading = columns, columns.roles, read
        known = self.roles.keys
        self.keys = {key: f"k{i}" for i, key in enumerate(self.roles.raw_keys)}
        self.numbers = self.roles.number_keys
        # Text that is to be cut into bands stays as it is: the tally decides which of it is a number.
        cut = [key for key in self.roles.grouping if known[key] in edges and columns.numeric(key)]
        self.edges = {key: edges[known[key]] for key in cut}
        self.weighted = self.roles.weight is not None
        self.sums_losses = sums_losses(self.roles, read)

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The whole plan; nothing of it has run."""
        by, sums = self._by(), self._sums()
        flat = self._with_losses(self._checked(self._picked())).select(
            *(nw.col(name) for name in self.keys.values()),
            *(value.alias(name) for name, value in (by | sums).items()),
        )
        counted = [] if "n" in sums else [nw.len().alias("n")]
        totals = [nw.col(name).sum() for name in sums]
        grouped = flat.group_by(*self.keys.values(), *by).agg(*counted, *totals)
        whole = ["n", *(name for name in sums if name.startswith("wrong"))]  # summed as decimals by some engines
        return grouped.with_columns(nw.col(*whole).cast(nw.Int64))

    def by_cluster(self) -> nw.LazyFrame[Any]:
        """Lines by cluster (c), design stratum (h), keys, decided and band, with how much each counts (m)."""
        by = {name: value for name, value in self._by().items() if name != "bin"}
        members = {name: self.columns.known(role) for role, name in MEMBERS.items() if role in self.roles.keys}
        rows = self._checked(self._picked(members, known=True))
        mass = self._sums().get("w" if self.weighted else "n")
        flat = rows.select(
            *(nw.col(name) for name in (*members, *self.keys.values())),
            *(value.alias(name) for name, value in by.items()),
            *(() if mass is None else (mass.cast(nw.Float64).alias("m"),)),
        )
        if self.roles.missing == "drop":
            flat = flat.filter(*(~nw.col(self.keys[key]).is_null() for key in self.roles.grouping))
        grouped = flat.group_by(*members, *self.keys.values(), *by)
        if mass is not None:
            return grouped.agg(nw.col("m").sum())
        return grouped.agg(nw.len().alias("m")).with_columns(nw.col("m").cast(nw.Float64))

    def _picked(self, more: Mapping[str, nw.Expr] | None = None, *, known: bool = False) -> nw.LazyFrame[Any]:
        """Raw values and clean numbers; with `known`, null for every missing value of an attribute."""
        keys = [self._key(key, known=known).alias(name) for key, name in self.keys.items()]
        keys += [value.alias(name) for name, value in (more or {}).items()]
        numbers = [self.columns.number(role, nan=self._may_keep_nan(role)).alias(f"v_{role}") for role in self.numbers]
        if not known:
            without = {
                f"wrong_{role}": self.columns.known(role).is_null() for role in MEMBERS if role in self.roles.keys
            }
            numbers += [_one(value).alias(name) for name, value in without.items()]
        return self.columns.frame.select(*keys, *numbers)

    def _may_keep_nan(self, role: str) -> bool:
        """May NaN be left in this column? Yes for a binned score without a cutoff: every engine puts NaN outside
        [low, high], in a bin that is never read. Removing it first costs 10 % of the query."""
        read = self.reading
        return role == "score" and read is not None and not read.bins.exact and read.cutoff is None

    def _key(self, key: str, *, known: bool = False) -> nw.Expr:
        if key not in self.edges:
            return self.columns.known(key) if known and key in self.roles.grouping else self.columns.raw(key)
        return banded(self.columns, self.columns.number(key), self.edges[key])

    def _checked(self, picked: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Invalid counts and weights become 0 and are marked; a score is mirrored so that higher is positive."""
        new: dict[str, nw.Expr] = {}
        if self.roles.count is not None:
            count = nw.col("v_count")
            wrong = self._outside(count, LARGEST_COUNT) | (count != count.floor())
            new |= {"wrong_count": _one(wrong), "v_count": nw.when(wrong).then(self._zero).otherwise(count)}
        if self.weighted:
            weight = nw.col("v_weight")
            small = (weight > self._zero) & (weight < self.columns.literal(SMALLEST_WEIGHT))
            wrong = self._outside(weight, LARGEST_WEIGHT) | small
            if self.roles.exposure is not None:
                wrong = wrong | (weight == self._zero)
            new |= {"wrong_weight": _one(wrong), "v_weight": nw.when(wrong).then(self._zero).otherwise(weight)}
        if self.reading is not None and self.reading.mirror is not None:
            turned = self.columns.literal(self.reading.mirror) - nw.col(self._axis)
            new |= {"unturned": nw.col(self._axis), self._axis: turned}
        return picked.with_columns(*(value.alias(name) for name, value in new.items())) if new else picked

    def _with_losses(self, checked: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The columns loss_no and loss_yes: −log of the probability of what happened, for either label."""
        if not self.sums_losses:
            return checked
        score, least, most = nw.col(self._axis), self.columns.literal(TINY), self.columns.literal(1 - TINY)
        above = nw.when(score > most).then(most).otherwise(score)
        likely = checked.with_columns(nw.when(score < least).then(least).otherwise(above).alias("p_yes"))
        likely = likely.with_columns((self.columns.literal(1.0) - nw.col("p_yes")).alias("p_no"))
        logs = self.columns.engine.logarithms(likely, {"log_no": "p_no", "log_yes": "p_yes"})
        return logs.with_columns(
            *((self._zero - nw.col(f"log_{side}")).alias(f"loss_{side}") for side in ("no", "yes"))
        )

    def _outside(self, value: nw.Expr, most: float) -> nw.Expr:
        return value.is_null() | (value < self._zero) | (value > self.columns.literal(most))

    @property
    def _zero(self) -> nw.Expr:
        return self.columns.literal(0.0)

    @property
    def _axis(self) -> str:
        return f"v_{self.roles.axis}"

    def _by(self) -> dict[str, nw.Expr]:
        """The expressions to group by, in addition to the raw values."""
        read = self.reading
        if read is None:
            return {}
        found = {}
        score, label = nw.col(self._axis), nw.col("v_label")
        if read.cutoff is not None:
            decided = _one(score >= self.columns.literal(read.cutoff))
            found["decided"] = nw.when(score.is_null()).then(nw.lit(-1)).otherwise(decided)
        if read.outcome:
            passed = [_one(label >= self.columns.literal(edge)) for edge in read.outcome[1:-1]]
            found["band"] = nw.when(label.is_null()).then(nw.lit(-1)).otherwise(sum(passed, nw.lit(0)))
        found["bin"] = self._bin(read)
        return found

    def _bin(self, read: ScoreReading) -> nw.Expr:
        """The bin of a score as in `Bins.codes`; where each bin is one value, the value, which is looked up later.

        `Bins.settle` corrects the result: it is too high at the upper end of the range, beyond all bins outside the
        range, and counts some edges twice.
        """
        score, number = nw.col(self._axis), self.columns.literal
        if read.bins.exact:
            return score
        low, high = number(read.bins.low), number(read.bins.high)
        given = nw.col("unturned") if read.mirror is not None else score
        above = score - low if read.bins.low else score
        place = (above * number(read.bins.scale)).floor()
        if read.bins.closed_above:
            place = nw.when(place < number(read.bins.cells)).then(place).otherwise(number(read.bins.cells - 1))
        if read.pace is not None:
            place = place + (above * number(read.pace.scale)).floor()
        for edge in read.compared:
            place = place + nw.when(score >= number(edge)).then(number(1)).otherwise(number(0))
        inside = (given >= low) & (given <= high)
        place = nw.when(inside).then(place).otherwise(given.abs() + number(read.bins.beyond))
        for odd in read.pace.odd if read.pace is not None else ():
            place = nw.when(score == number(odd)).then(number(read.place(odd))).otherwise(place)
        return place

    def _sums(self) -> dict[str, nw.Expr]:
        people, weight = nw.col("v_count"), nw.col("v_weight")
        counted = [people] if self.roles.count is not None else []
        found: dict[str, nw.Expr] = {}
        if counted:
            found |= {"wrong_count": nw.col("wrong_count"), "n": people.cast(nw.Int64)}
        without = [f"wrong_{role}" for role in MEMBERS if role in self.roles.keys]
        found |= {name: reduce(mul, [*counted, nw.col(name)]) for name in without}
        by: dict[str, list[nw.Expr]] = {"": counted}
        if self.weighted:
            found["wrong_weight"] = nw.col("wrong_weight")
            by = {"w": [*counted, weight], "w2": [*counted, weight, weight]}
            found |= {name: reduce(mul, factors) for name, factors in by.items()}
        return found | self._products(by)

    def _products(self, by: Mapping[str, list[nw.Expr]]) -> dict[str, nw.Expr]:
        """The products that are summed in addition to people and weights, named as in `names_of_sums`."""
        if self.reading is None:
            return {}
        if self.reading.outcome is not None:
            letters = self._letters(self.reading.middle)
            return {
                f"{name}_{moment}" if name else moment: reduce(mul, [*factors, *(letters[letter] for letter in moment)])
                for name, factors in by.items()
                for moment in MOMENTS
            }
        s = nw.col(self._axis)
        wanted = {"s": ("", 1), "s2": ("", 2)}
        if self.weighted:
            wanted = {"ws": ("w", 1), "w2s": ("w2", 1), "w2s2": ("w2", 2)}
        sums = {name: reduce(mul, [*by[key], *[s] * power]) for name, (key, power) in wanted.items()}
        return sums | (self._losses(by) if self.sums_losses else {})

    def _losses(self, by: Mapping[str, list[nw.Expr]]) -> dict[str, nw.Expr]:
        """The products of `names_by_side`."""
        found = {}
        for name in names_by_side(self.weighted):
            side, wanted = name.partition("_")[0], name.rpartition("_")[2]
            key = {"l": "", "l2": "", "ws2": "w", "wl": "w"}.get(wanted, "w2")
            each = nw.col(self._axis) if wanted == "ws2" else nw.col(f"loss_{side}")
            found[name] = reduce(mul, [*by[key], each, *([each] if wanted.endswith("2") else [])])
        return found

    def _letters(self, middle: float) -> dict[str, nw.Expr]:
        """What MOMENTS are made of. Without a label all but f is null, and a sum of nulls is 0."""
        predicted, centre = nw.col("v_prediction"), self.columns.literal(middle)
        label = nw.col("v_label") if self.roles.label is not None else nw.when(predicted.is_null()).then(predicted)
        error = label - predicted
        least = self.columns.literal(LEAST_OUTCOME)
        size = nw.when(label.abs() < least).then(least).otherwise(label.abs())
        return {
            "f": predicted - centre,
            "y": label - centre,
            "e": error,
            "a": error.abs(),
            "p": error.abs() / size,
        }


def banded(columns: Columns, number: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """A number as the lower edge of its band; a number outside all bands stays, so that the error can show it."""
    if len(edges) < 2:
        return number
    low, high = (columns.literal(edge) for edge in (edges[0], edges[-1]))
    place = columns.literal(edges[-2])
    for start, end in reversed(list(itertools.pairwise(edges[:-1]))):
        place = nw.when(number < columns.literal(end)).then(columns.literal(start)).otherwise(place)
    return nw.when(number.is_null() | (number < low) | (number > high)).then(number).otherwise(place)


def _one(condition: nw.Expr) -> nw.Expr:
    """1 where the condition holds, else 0, also where it is unknown."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))
