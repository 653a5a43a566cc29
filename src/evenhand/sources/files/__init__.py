"""Files: CSV, TSV, Parquet, JSON lines, Arrow, plain or gzipped, and globs of them. One DuckDB statement.

DuckDB groups the raw values and only the distinct lines come back; what they mean is decided in counting, as
for data in memory. The rows are never loaded.
"""

from __future__ import annotations

import glob
import itertools
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.errors import DataError, Problems, listing, nearest, short_path, shorten
from evenhand.sources.bins import GRID
from evenhand.sources.columns import as_floats
from evenhand.sources.files import query
from evenhand.sources.files.formats import FORMATS, Column, Table, double, explain, is_gzipped, open_table
from evenhand.sources.groupby import MOST_LEVELS, MOST_LINES, lines_of, outside, say_outside, settle
from evenhand.sources.lines import LARGEST_COUNT, LARGEST_WEIGHT, MOMENTS, Lines, complain_twice, names_of_sums
from evenhand.sources.roles import Roles
from evenhand.sources.scores import ScoreReading

_PLAIN_NUMBER = r"-?(0|[1-9][0-9]*)([.][0-9]+)?"  # as in levels: a code 007 is no number


def is_path(data: Any) -> bool:
    """Does `data` name files: a path, or several?"""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(x, (str, os.PathLike)) for x in data)


class FileSource:
    """One or more files of one format, read as one table."""

    def __init__(self, data: Any) -> None:
        import duckdb

        self.paths = _expand([data] if isinstance(data, (str, os.PathLike)) else list(data))
        self.format = _common_format(self.paths)
        self.connection = duckdb.connect(
            config={"autoinstall_known_extensions": "false", "temp_directory": tempfile.gettempdir()}
        )
        self.connection.execute("SET preserve_insertion_order = false")
        self.connection.execute("SET enable_progress_bar = false")
        self.table: Table = open_table(self.paths, self.format, self.connection, self._run)

    @property
    def names(self) -> list[str]:
        return list(self.table.columns)

    def lines(self, roles: Roles) -> Lines:
        if roles.arrays:
            raise DataError(f"{listing(roles.arrays)} is an array, but the data is in a file: name a column of it.")
        problems = Problems()
        complain_twice(self.table.twice, roles, problems)
        problems.raise_if_any(DataError)
        edges = self._edges(roles, numeric=True)
        looks = _Looks(self, roles)
        read = settle(roles, looks)
        statement = _Statement(self.table, replace(roles, bands={**roles.bands, **edges}), read)
        rows = self._run(statement.sql)
        if len(rows) > MOST_LINES:
            edges |= self._edges(roles, numeric=False)
            statement = _Statement(self.table, replace(roles, bands={**roles.bands, **edges}), read)
            rows = self._run(statement.sql)
        if len(rows) > MOST_LINES:
            raise DataError(
                f"{self._widest(roles)}: an id? A group needs more than one person; choose a coarser column."
            )
        found = statement.read(rows)
        if outside(found):
            say_outside(roles, looks)
        return replace(found, edges=edges)

    def fractional(self, roles: Roles) -> bool:
        """Do the first labels and predictions both hold fractions?"""
        if roles.arrays:
            return False
        columns = [self.table.columns[str(name)] for name in (roles.label, roles.prediction)]
        inner = ", ".join(f"{_present(column, roles)} AS v{i}" for i, column in enumerate(columns))
        ask = f"SELECT {inner} FROM {self.table.relation} LIMIT 1000"  # noqa: S608 - names are quoted
        tests = ", ".join(f"bool_or(v{i} <> floor(v{i}))" for i in range(2))
        return all(self._run(f"SELECT {tests} FROM ({ask})")[0])  # noqa: S608 - as above

    def _edges(self, roles: Roles, *, numeric: bool) -> dict[str, tuple[float, ...]]:
        """Edges for attributes with very many values, which would make as many groups: those in columns of
        numbers, or those in columns of text that hold nothing but numbers."""
        found = {}
        for name in (*roles.control, *roles.sensitive):
            column = self.table.columns[name]
            if name in roles.bands or column.numeric is not numeric:
                continue
            plain = (
                "true" if numeric else f"bool_and(coalesce(regexp_full_match({column.text}, '{_PLAIN_NUMBER}'), true))"
            )
            select = f"SELECT approx_count_distinct({column.key}), {plain} FROM {self.table.relation}"  # noqa: S608
            (levels, numbers) = self._run(select)[0]
            if numbers and levels >= MOST_LEVELS and (cut := self._quantile_edges(column, roles)):
                found[name] = cut
        return found

    def _quantile_edges(self, column: Column, roles: Roles) -> tuple[float, ...]:
        people = "1" if roles.count is None else self.table.columns[roles.count].number
        cuts = ", ".join(f"min(v) FILTER (5 * reached >= {k} * total)" for k in range(1, 5))
        row = self._run(f"""
            WITH levels AS (SELECT {column.number} AS v, sum({people}) AS c FROM {self.table.relation} GROUP BY 1),
            run AS (SELECT v, sum(c) OVER (ORDER BY v) AS reached, sum(c) OVER () AS total
                    FROM levels WHERE v IS NOT NULL AND NOT isnan(v) AND c > 0)
            SELECT min(v), {cuts}, max(v) FROM run""")[0]  # noqa: S608 - names are quoted, values are ours
        return tuple(dict.fromkeys(float(cut) for cut in row if cut is not None))

    def _widest(self, roles: Roles) -> str:
        keys = [key for key in roles.keys if key not in ("score", "count", "weight")]
        counts = ", ".join(f"approx_count_distinct({self.table.columns[roles.keys[key]].key})" for key in keys)
        row = self._run(f"SELECT {counts} FROM {self.table.relation}")[0]  # noqa: S608 - as above
        most, key = max(zip(row, keys, strict=True))
        return f"{shorten(roles.keys[key])!r} has about {most:,} different values"

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return query.fetch(self.connection, sql)
        except duckdb.Error as error:
            raise DataError(explain(self.paths, self.format, error)) from None


class _Looks:
    """What files are asked before the group-by; see `grouped.Looks`."""

    def __init__(self, source: FileSource, roles: Roles) -> None:
        self.source, self.roles = source, roles

    def extremes(self, role: str, *, count: bool) -> tuple[float | None, float | None, bool]:
        value = self._value(role)
        many = f"approx_count_distinct({value})" if count else str(2 * GRID)
        low, high, distinct = self._ask(f"min({value}), max({value}), {many}")[0]
        return low, high, distinct < 2 * GRID

    def values(self, role: str) -> list[float]:
        value = self._value(role)
        return [row[0] for row in self._ask(f"DISTINCT {value}", f" LIMIT {GRID + 2}") if row[0] is not None]

    def quantiles(self, role: str, parts: int) -> npt.NDArray[np.float64]:
        shares = ", ".join(repr(k / parts) for k in range(parts + 1))
        found = self._ask(f"quantile_disc({self._value(role)}, [{shares}])")[0][0]
        return np.array([] if found is None else found, dtype=np.float64)

    def _value(self, role: str) -> str:
        return _present(self.source.table.columns[self.roles.keys[role]], self.roles)

    def _ask(self, fields: str, rest: str = "") -> list[tuple[Any, ...]]:
        return self.source._run(f"SELECT {fields} FROM {self.source.table.relation}{rest}")  # noqa: S608 - quoted


class _Statement:
    """The one group-by: keys as raw values, people and weights as sums, and what is wrong with each line."""

    def __init__(self, table: Table, roles: Roles, read: ScoreReading | None = None) -> None:
        self.roles, self.reading = roles, read
        self.columns = {key: table.columns[name] for key, name in roles.keys.items()}
        self.edges = {key: roles.bands[roles.keys[key]] for key in roles.grouping if roles.keys[key] in roles.bands}
        regressed = roles.task == "regression"
        decisions = () if regressed else ("label", "prediction")
        measured = ("prediction", "label") if regressed else ("score",)
        self.keys = [key for key in (*roles.grouping, *decisions) if key in self.columns]
        values = [role for role in (*measured, "count", "weight") if role in self.columns]
        self.numbers = [key for key in (*self.edges, *values) if not self.columns[key].numeric]
        inner = [f"{self._key(key)} AS k{i}" for i, key in enumerate(self.keys)]
        inner += [f"{self._number(role)} AS v_{role}" for role in values]
        for i, key in enumerate(self.numbers):
            column = self.columns[key]
            inner.append(f"CASE WHEN {column.strange(roles.na)} THEN {column.text} END AS strange_{i}")
        groups = {f"k{i}": f"k{i}" for i in range(len(self.keys))} | self._cuts()
        strange = {f"strange_{i}": f"min(strange_{i})" for i in range(len(self.numbers))}
        fields = groups | self._sums() | strange
        self.names = list(fields)
        self.sql = (
            f"SELECT {', '.join(fields.values())} FROM (SELECT {', '.join(inner)} FROM {table.relation}) "  # noqa: S608
            f"GROUP BY {', '.join(str(i + 1) for i in range(len(groups)))} LIMIT {MOST_LINES + 1}"
        )

    def _key(self, key: str) -> str:
        return _banded(self._number(key), self.edges[key]) if key in self.edges else self.columns[key].key

    def _number(self, key: str) -> str:
        return _present(self.columns[key], self.roles)

    @property
    def _score(self) -> str:
        """The score (or the prediction of a regressor), turned so that higher means positive."""
        mirror = self.reading.mirror if self.reading is not None else None
        return f"v_{self.roles.axis}" if mirror is None else f"({double(mirror)} - v_{self.roles.axis})"

    def _cuts(self) -> dict[str, str]:
        """What is grouped by beside the raw values, named as in `grouped.lines_of`."""
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
        score, given, bins = self._score, f"v_{self.roles.axis}", read.bins
        if bins.exact:
            return score
        above = f"({score} - {double(bins.low)})"
        place = f"floor({above} * {double(bins.scale)})"
        if read.pace is not None:
            place += f" + floor({above} * {double(read.pace.scale)})"
        place += "".join(f" + CAST({score} >= {double(edge)} AS DOUBLE)" for edge in read.compared)
        odd = read.pace.odd if read.pace is not None else ()
        cases = [f"WHEN {score} = {double(value)} THEN {double(read.place(value))}" for value in odd]
        cases.append(f"WHEN {given} BETWEEN {double(bins.low)} AND {double(bins.high)} THEN {place}")
        return f"CASE {' '.join(cases)} ELSE abs({given}) + {double(bins.beyond)} END"

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

    def _moments(self, people: str, weight: str, middle: float) -> list[str]:
        """The products of `scoretable.MOMENTS`, summed; a row without a label adds only to those of f."""
        known = self.roles.label is not None
        e = "coalesce(v_label - v_prediction, 0)" if known else "0"
        letters = {
            "f": f"coalesce(v_prediction - {double(middle)}, 0)",
            "y": f"coalesce(v_label - {double(middle)}, 0)" if known else "0",
            "e": e,
            "a": f"abs({e})",
        }
        by = [[people]] if self.roles.weight is None else [[people, weight], [people, weight, weight]]
        products = ([*factors, *(letters[letter] for letter in moment)] for factors in by for moment in MOMENTS)
        return [f"kahan_sum({' * '.join(f'({factor})' for factor in product)})" for product in products]

    def _sums(self) -> dict[str, str]:
        """People, how many rows have a wrong count or weight, Σw and Σw², and the sums of the score."""
        n, people, weight = "count(*)", "1", "0"
        found = {}
        if self.roles.count is not None:
            most = double(LARGEST_COUNT)
            wrong = f"v_count IS NULL OR v_count < 0 OR v_count > {most} OR v_count <> floor(v_count)"
            people = f"CASE WHEN {wrong} THEN 0 ELSE v_count END"
            n = f"CAST(sum(CAST({people} AS BIGINT)) AS BIGINT)"
            found["wrong_count"] = f"sum(CASE WHEN {wrong} THEN 1 ELSE 0 END)"
        if self.roles.weight is not None:
            wrong = f"v_weight IS NULL OR v_weight < 0 OR v_weight > {double(LARGEST_WEIGHT)}"
            weight = f"CASE WHEN {wrong} THEN 0 ELSE v_weight END"
            found["wrong_weight"] = f"sum(CASE WHEN {wrong} THEN 1 ELSE 0 END)"
            found["w"] = f"kahan_sum(({people}) * ({weight}))"
            found["w2"] = f"kahan_sum(({people}) * ({weight}) * ({weight}))"
        names = [] if self.reading is None else names_of_sums(self.reading, self.roles.weight is not None)
        own = [name for name in names if name not in found]
        return {"n": n} | found | dict(zip(own, self._score_sums(people, weight), strict=True))

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
                problems.add(f"{key} column {name!r} holds {listing(shown, 3)}, which is not a number.")
        problems.raise_if_any(DataError)


def _present(column: Column, roles: Roles) -> str:
    """A column's number, NULL where it is missing."""
    gone = "".join(f" OR {column.number} = {double(absent)}" for absent in as_floats(roles.na))
    return f"CASE WHEN isnan({column.number}){gone} THEN NULL ELSE {column.number} END"


def _band(number: str, edges: Sequence[float]) -> str:
    """The index of a number's band as in `scoring.band_codes`; −1 where it is missing."""
    steps = "".join(f" WHEN {number} < {double(edge)} THEN {i}" for i, edge in enumerate(edges[1:-1]))
    return f"CASE WHEN {number} IS NULL THEN -1{steps} ELSE {len(edges) - 2} END"


def _banded(number: str, edges: Sequence[float]) -> str:
    """A number as the lower edge of its band; outside all bands it stays, so that the error can show it."""
    first, last = double(edges[0]), double(edges[-1])
    if len(edges) < 2:
        return number
    steps = [f"WHEN {number} IS NULL OR {number} < {first} OR {number} > {last} THEN {number}"]
    steps += [f"WHEN {number} < {double(high)} THEN {double(low)}" for low, high in itertools.pairwise(edges[:-1])]
    return f"CASE {' '.join(steps)} ELSE {double(edges[-2])} END"


def _expand(given: Sequence[Any]) -> list[Path]:
    paths: list[Path] = []
    for item in given:
        text = os.fspath(item)
        if "://" in str(text) or not text:
            from evenhand.sources.database import without_secrets  # which reads names of columns with our formats

            named = shorten(without_secrets(str(text)))
            raise DataError(
                f"{named!r} is not a path: only files are read; download it first. A database is named by --database."
            )
        path = os.path.expanduser(os.fsdecode(text))
        if os.path.isdir(path):
            raise DataError(
                f"{short_path(path)!r} is a folder: name its files, such as {os.path.join(path, '*.parquet')!r}."
            )
        found = [path] if os.path.exists(path) else sorted(filter(os.path.isfile, glob.glob(path, recursive=True)))
        if not found:
            raise DataError(f"there is no file {short_path(path)!r}.{_beside(path)}")
        paths += map(Path, found)
    for file in paths:
        if file.stat().st_size == 0:
            raise DataError(f"{short_path(file)!r} is empty.")
    return paths


def _beside(path: str) -> str:
    """What else there is in the folder of a file that is not there."""
    folder, name = os.path.split(path)
    try:
        found = sorted(other for other in os.listdir(folder or ".") if os.path.splitext(other)[1] in FORMATS)
    except (OSError, ValueError):
        return ""
    return f" In that folder, {nearest(name, found)}" if found else ""


def _common_format(paths: Sequence[Path]) -> str:
    found = {_format(path) for path in paths}
    if len(found) > 1:
        raise DataError(f"the files are of different formats: {listing(sorted(found))}; pass one at a time.")
    return found.pop()


def _format(path: Path) -> str:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    kind = FORMATS.get(suffix)
    if kind is None or (is_gzipped(path) and kind not in ("csv", "json")):
        raise DataError(
            f"{short_path(path)!r}: {path.suffix!r} is not a suffix that is read here; these are: "
            f"{', '.join(FORMATS)} (CSV and JSON lines also gzipped, as .csv.gz)."
        )
    return kind
