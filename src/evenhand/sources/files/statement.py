"""The SQL of the one group-by that DuckDB runs over files, and how its rows become lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from evenhand.errors import DataError, Problems, listing, shorten
from evenhand.sources.columns import as_floats
from evenhand.sources.files.formats import Column, Table, double
from evenhand.sources.groupby import MOST_LINES, lines_of, sums_losses
from evenhand.sources.lines import (
    LARGEST_COUNT,
    LARGEST_WEIGHT,
    MOMENTS,
    SMALLEST_WEIGHT,
    Lines,
    names_by_side,
    names_of_sums,
)
from evenhand.sources.lines import TINY as LEAST_OUTCOME
from evenhand.sources.roles import Roles
from evenhand.sources.scores import TINY, ScoreReading


class Statement:
    """The one group-by: raw values as keys, people and weights as sums, and text that should be a number."""

    def __init__(self, table: Table, roles: Roles, read: ScoreReading | None = None) -> None:
        self.roles, self.reading = roles, read
        self.columns = {key: table.columns[name] for key, name in roles.keys.items()}
        self.edges = {key: roles.bands[roles.keys[key]] for key in roles.grouping if roles.keys[key] in roles.bands}
        self.keys, values = roles.raw_keys, roles.number_keys
        self.sums_losses = sums_losses(roles, read)
        self.numbers = [key for key in (*self.edges, *values) if not self.columns[key].numeric]
        inner = [f"{self._key(key)} AS k{i}" for i, key in enumerate(self.keys)]
        inner += [f"{self._number(role)} AS v_{role}" for role in values]
        for i, key in enumerate(self.numbers):
            column = self.columns[key]
            inner.append(f"CASE WHEN {column.strange(roles.na)} THEN {column.text} END AS strange_{i}")
        groups = {f"k{i}": f"k{i}" for i in range(len(self.keys))} | self._cuts()
        self.by, self.cuts = [name for name in groups if name != "bin"], self._cuts()
        self.cuts.pop("bin", None)
        strange = {f"strange_{i}": f"min(strange_{i})" for i in range(len(self.numbers))}
        fields = groups | self._sums() | strange
        self.names, self.mass = list(fields), fields["w" if roles.weight is not None else "n"]
        self.rows = f"SELECT {', '.join(inner)}"
        told = ", ".join(f"{value} AS {name}" for name, value in fields.items())
        self.sql = (
            f"SELECT {told} FROM (SELECT *{self._logarithms()} FROM ({self.rows} FROM {table.relation})) "  # noqa: S608
            f"GROUP BY {', '.join(str(i + 1) for i in range(len(groups)))} LIMIT {MOST_LINES + 1}"
        )

    def _key(self, key: str) -> str:
        return _banded(self._number(key), self.edges[key]) if key in self.edges else self.columns[key].key

    def _number(self, key: str) -> str:
        return present(self.columns[key], self.roles)

    @property
    def _score(self) -> str:
        """The score (or the prediction of a regressor), mirrored where needed so that higher means positive."""
        mirror = self.reading.mirror if self.reading is not None else None
        return f"v_{self.roles.axis}" if mirror is None else f"({double(mirror)} - v_{self.roles.axis})"

    def _cuts(self) -> dict[str, str]:
        """The expressions to group by in addition to the raw values, named as in `groupby.lines_of`."""
        read = self.reading
        if read is None:
            return {}
        found = {}
        if read.cutoff is not None:
            above = f"{self._score} >= {double(read.cutoff)}"
            found["decided"] = f"CASE WHEN {self._score} IS NULL THEN -1 WHEN {above} THEN 1 ELSE 0 END"
        if read.outcome:
            found["band"] = _band("v_label", read.outcome)
        return found | {"bin": self._bin(read)}

    def _bin(self, read: ScoreReading) -> str:
        """The bin of a score as in `Plan._bin`."""
        score, unturned, bins = self._score, f"v_{self.roles.axis}", read.bins
        if bins.exact:
            return score
        above = f"({score} - {double(bins.low)})"
        place = f"floor({above} * {double(bins.scale)})"
        if bins.closed_above:
            place = f"least({place}, {double(bins.cells - 1)})"
        if read.pace is not None:
            place += f" + floor({above} * {double(read.pace.scale)})"
        place += "".join(f" + CAST({score} >= {double(edge)} AS DOUBLE)" for edge in read.compared)
        odd = read.pace.odd if read.pace is not None else ()
        cases = [f"WHEN {score} = {double(value)} THEN {double(read.place(value))}" for value in odd]
        cases.append(f"WHEN {unturned} BETWEEN {double(bins.low)} AND {double(bins.high)} THEN {place}")
        return f"CASE {' '.join(cases)} ELSE abs({unturned}) + {double(bins.beyond)} END"

    def _score_sums(self, people: str, weight: str) -> list[str]:
        if self.reading is None:
            return []
        if self.reading.outcome is not None:
            return self._moments(people, weight, self.reading.middle)
        by = "" if people == "1" else f"({people}) * "
        s, w = self._score, f"({weight})"
        products = [s, f"{s} * {s}"]
        if self.roles.weight is not None:
            products = [f"{w} * {s}", f"{w} * {w} * {s}", f"{w} * {w} * {s} * {s}"]
        return [f"coalesce(kahan_sum({by}{product}), 0)" for product in products]

    def _losses(self, people: str, weight: str) -> dict[str, str]:
        """The sums of `names_by_side`, from the logarithms that `_logarithms` has made columns of."""
        s, weighted = self._score, self.roles.weight is not None
        by = {"l": [people], "l2": [people]}
        if weighted:
            by = {"ws2": [people, weight], "wl": [people, weight]}
            by |= {name: [people, weight, weight] for name in ("w2l", "w2l2")}
        found = {}
        for name in names_by_side(weighted):
            side, letters = name.partition("_")[0], by[name.rpartition("_")[2]]
            each = [s, s] if name == "ws2" else [f"loss_{side}"] * (2 if name.endswith("l2") else 1)
            factors = [f"({factor})" for factor in (*letters, *each) if factor != "1"]
            found[name] = f"coalesce(kahan_sum({' * '.join(factors)}), 0)"
        return found

    def _logarithms(self) -> str:
        """−log of the probability of what happened, if the label is negative (loss_no) and if it is positive."""
        if not self.sums_losses:
            return ""
        s = f"least(greatest({self._score}, {double(TINY)}), {double(1 - TINY)})"
        return f", -ln({double(1.0)} - {s}) AS loss_no, -ln({s}) AS loss_yes"

    def _moments(self, people: str, weight: str, middle: float) -> list[str]:
        """The sums of the products of `MOMENTS`; a row without a label adds only to those of f."""
        known = self.roles.label is not None
        e = "coalesce(v_label - v_prediction, 0)" if known else "0"
        letters = {
            "f": f"coalesce(v_prediction - {double(middle)}, 0)",
            "y": f"coalesce(v_label - {double(middle)}, 0)" if known else "0",
            "e": e,
            "a": f"abs({e})",
            "p": f"coalesce(abs(v_label - v_prediction) / greatest(abs(v_label), {double(LEAST_OUTCOME)}), 0)"
            if known
            else "0",
        }
        by = [[people]] if self.roles.weight is None else [[people, weight], [people, weight, weight]]
        products = ([*factors, *(letters[letter] for letter in moment)] for factors in by for moment in MOMENTS)
        return [f"kahan_sum({' * '.join(f'({factor})' for factor in product)})" for product in products]

    def _sums(self) -> dict[str, str]:
        """People, the number of rows with an invalid count or weight, Σw and Σw², and the sums of the score."""
        n, people, weight = "count(*)", "1", "0"
        found = {}
        if self.roles.count is not None:
            most = double(LARGEST_COUNT)
            wrong = f"v_count IS NULL OR v_count < 0 OR v_count > {most} OR v_count <> floor(v_count)"
            people = f"CASE WHEN {wrong} THEN 0 ELSE v_count END"
            n = f"CAST(sum(CAST({people} AS BIGINT)) AS BIGINT)"
            found["wrong_count"] = f"sum(CASE WHEN {wrong} THEN 1 ELSE 0 END)"
        if self.roles.weight is not None:
            inside = f"v_weight BETWEEN {double(SMALLEST_WEIGHT)} AND {double(LARGEST_WEIGHT)}"
            zero = "" if self.roles.exposure is not None else "v_weight = 0 OR "
            wrong = f"v_weight IS NULL OR NOT ({zero}{inside})"
            weight = f"CASE WHEN {wrong} THEN 0 ELSE v_weight END"
            found["wrong_weight"] = f"sum(CASE WHEN {wrong} THEN 1 ELSE 0 END)"
            found["w"] = f"kahan_sum(({people}) * ({weight}))"
            found["w2"] = f"kahan_sum(({people}) * ({weight}) * ({weight}))"
        names = [] if self.reading is None else names_of_sums(self.reading, self.roles.weight is not None)
        own = [name for name in names if name not in found]
        sums = dict(zip(own, self._score_sums(people, weight), strict=True))
        return {"n": n} | found | sums | (self._losses(people, weight) if self.sums_losses else {})

    def read(self, rows: list[tuple[Any, ...]]) -> Lines:
        if not rows:
            return Lines({}, 0)
        found = dict(zip(self.names, zip(*rows, strict=True), strict=True))
        self._complain([found[f"strange_{i}"] for i in range(len(self.numbers))])
        keys = {}
        for i, key in enumerate(self.keys):
            values = found[f"k{i}"]
            keys[key] = list(values) if key in self.edges else [self.columns[key].decode(value) for value in values]
        return lines_of(found, keys, self.roles, self.reading)

    def _complain(self, strange: Sequence[tuple[Any, ...]]) -> None:
        problems = Problems()
        for key, found in zip(self.numbers, strange, strict=True):
            shown = sorted({text for text in found if text is not None})
            name = shorten(self.roles.keys[key])
            if shown and key in self.edges:
                problems.add(f"bands for {name!r}: the column is not numeric; it holds {listing(shown, 3)}.")
            elif shown:
                role = self.roles.called(key)
                problems.add(f"{role} column {name!r} holds {listing(shown, 3)}, which is not a number.")
        problems.raise_if_any(DataError)


def present(column: Column, roles: Roles) -> str:
    """The number of a column, NULL where it is missing."""
    gone = "".join(f" OR {column.number} = {double(absent)}" for absent in as_floats(roles.na))
    return f"CASE WHEN isnan({column.number}){gone} THEN NULL ELSE {column.number} END"


def _band(number: str, edges: Sequence[float]) -> str:
    """The index of a number's band as in `scores.band_codes`; −1 where it is missing."""
    steps = "".join(f" WHEN {number} < {double(edge)} THEN {i}" for i, edge in enumerate(edges[1:-1]))
    return f"CASE WHEN {number} IS NULL THEN -1{steps} ELSE {len(edges) - 2} END"


def _banded(number: str, edges: Sequence[float]) -> str:
    """A number as the lower edge of its band; a number outside all bands stays, so that the error can show it."""
    first, last = double(edges[0]), double(edges[-1])
    if len(edges) < 2:
        return number
    steps = [f"WHEN {number} IS NULL OR {number} < {first} OR {number} > {last} THEN {number}"]
    steps += [f"WHEN {number} < {double(high)} THEN {double(low)}" for low, high in itertools.pairwise(edges[:-1])]
    return f"CASE {' '.join(steps)} ELSE {double(edges[-2])} END"
