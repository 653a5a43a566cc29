"""Files: CSV, TSV, Parquet, JSON lines, Arrow, plain or gzipped, and globs of them, read by one DuckDB statement.

DuckDB groups the raw values and only the distinct lines are fetched; the tally decides what they mean, as for data in
memory. The rows are never loaded.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import inputs
from evenhand.core.arrays import Floats
from evenhand.errors import DataError, Problems, listing, nearest, short_path
from evenhand.sources.bins import GRID
from evenhand.sources.files import query
from evenhand.sources.files.conditions import filtered
from evenhand.sources.files.formats import SUFFIXES, Column, Table, check_files, common_format, double, explain
from evenhand.sources.files.statement import Statement, present
from evenhand.sources.groupby import MOST_LEVELS, MOST_LINES, outside, say_outside, settle
from evenhand.sources.levels import QUANTILE_BANDS, too_many
from evenhand.sources.lines import LARGEST_COUNT, LARGEST_WEIGHT, Lines, complain_twice
from evenhand.sources.quantiles import shares
from evenhand.sources.roles import Roles
from evenhand.sources.scores import ScoreReading

if TYPE_CHECKING:
    from evenhand.sources.files.clusters import FileClusters


def is_path(data: Any) -> bool:
    """Does `data` name files: a path, or several?"""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(x, (str, os.PathLike)) for x in data)


class FileSource:
    """One or more files of one format, read as one table; with `hive`, folders named KEY=VALUE are columns too."""

    def __init__(self, data: Any, *, hive: bool = False, ordered: bool = False) -> None:
        self.paths = _expand([data] if isinstance(data, (str, os.PathLike)) else list(data))
        self.format = common_format(self.paths)
        self.connection = query.connect(self.paths, ordered=ordered)
        self.table = self._open(hive)

    def _open(self, hive: bool) -> Table:
        check_files(self.paths, self.format)
        if not hive:
            return self.format.open(self.paths, self.connection, self._run)
        from evenhand.sources.files import partitions

        parts = partitions.by_keys(self.paths)
        opened = [(keys, self.format.open(files, self.connection, self._run)) for keys, files in parts]
        return partitions.joined(opened, self._run)

    @property
    def names(self) -> list[str]:
        return list(self.table.columns)

    def lines(self, roles: Roles) -> Lines:
        if roles.arrays:
            raise DataError(f"{listing(roles.arrays)} is an array, but the data is in a file: name a column of it.")
        problems = Problems()
        complain_twice(self.table.twice, roles, problems)
        problems.raise_if_any(DataError)
        self.table = self._by_exposure(_with_people(filtered(self.table, roles), roles), roles)
        edges = self._edges(roles, numeric=True)
        statistics = _FileStatistics(self, roles)
        read = settle(roles, statistics)
        statement, rows, clusters = self._group(replace(roles, bands={**roles.bands, **edges}), read)
        if len(rows) > MOST_LINES:
            edges |= self._edges(roles, numeric=False)
            statement, rows, clusters = self._group(replace(roles, bands={**roles.bands, **edges}), read)
        if len(rows) > MOST_LINES:
            raise DataError(self._widest(roles))
        lines = replace(statement.read(rows), clusters=None if clusters is None else clusters.batches)
        if outside(lines):
            say_outside(roles, statistics)
        named = (name for name in (*roles.control, *roles.sensitive) if self.table.columns[name].categorical)
        return replace(lines, edges=edges, categories=frozenset(named))

    def _by_exposure(self, table: Table, roles: Roles) -> Table:
        """The table with the label as events for each unit of exposure, where there is one."""
        if roles.exposure is None or roles.label is None:
            return table
        label = table.columns[roles.label]
        if not label.numeric:
            (strange,) = self._run(f"SELECT min({label.text}) FROM {table.relation} WHERE {label.strange(roles.na)}")[0]  # noqa: S608
            if strange is not None:
                raise DataError(f"label column {roles.label!r} holds {strange!r}, which is not a number of events.")
        events, exposed = present(label, roles), present(table.columns[roles.exposure], roles)
        rate = f"CASE WHEN ({exposed}) > 0 THEN ({events}) / ({exposed}) ELSE {events} END"
        relation = f"(SELECT *, CAST({rate} AS DOUBLE) AS evenhand_rate FROM {table.relation})"  # noqa: S608 - quoted
        columns = {**table.columns, roles.label: Column("evenhand_rate", "DOUBLE")}
        return table._replace(relation=relation, columns=columns)

    def _group(
        self, roles: Roles, read: ScoreReading | None
    ) -> tuple[Statement, list[tuple[Any, ...]], FileClusters | None]:
        """The one group-by and its rows, and who to ask for clusters."""
        statement = Statement(self.table, roles, read)
        if roles.cluster is None:
            return statement, self._run(statement.sql), None
        from evenhand.sources.files.clusters import FileClusters

        clusters = FileClusters(statement, self.table, roles, self._run)
        return statement, clusters.lines(), clusters

    def fractional(self, roles: Roles) -> bool:
        """Do the first labels and predictions both hold fractions?"""
        if roles.arrays:
            return False
        columns = [self.table.columns[str(name)] for name in (roles.label, roles.prediction)]
        inner = ", ".join(f"{present(column, roles)} AS v{i}" for i, column in enumerate(columns))
        ask = f"SELECT {inner} FROM {self.table.relation} LIMIT 1000"  # noqa: S608 - names are quoted
        tests = ", ".join(f"bool_or(v{i} <> floor(v{i}))" for i in range(2))
        return all(self._run(f"SELECT {tests} FROM ({ask})")[0])  # noqa: S608 - as above

    def _edges(self, roles: Roles, *, numeric: bool) -> dict[str, tuple[float, ...]]:
        """Edges for attributes with very many values, which would make as many groups: those in columns of
        numbers, or those in columns without a type that hold nothing but numbers."""
        found = {}
        for name in (*roles.control, *roles.sensitive):
            column = self.table.columns[name]
            never = name in roles.categories or column.categorical
            if name in roles.bands or never or column.numeric is not numeric or column.only_numbers == "false":
                continue
            counted = f"approx_count_distinct({column.key}), {column.only_numbers}"
            select = f"SELECT {counted} FROM {self.table.relation}"  # noqa: S608
            (levels, numbers) = self._run(select)[0]
            if numbers and levels >= MOST_LEVELS and (cut := self._quantile_edges(column, roles)):
                found[name] = cut
        return found

    def _quantile_edges(self, column: Column, roles: Roles) -> tuple[float, ...]:
        return tuple(dict.fromkeys(self.quantiles(column, roles, QUANTILE_BANDS)))

    def quantiles(self, column: Column, roles: Roles, parts: int) -> list[float]:
        """The edges of parts that hold equally many people, or equally much of their weight, with both ends."""
        number = present(column, roles)
        wanted = [repr(float(share)) for share in shares(parts)]
        if roles.count is None and roles.weight is None:
            listed = ", ".join(("0.0", *wanted, "1.0"))
            return self._run(f"SELECT quantile_disc({number}, [{listed}]) FROM {self.table.relation}")[0][0] or []  # noqa: S608
        columns = {role: self.table.columns[name] for role, name in roles.keys.items() if role in ("count", "weight")}
        factors = [_mass(present(columns[role], roles), most) for role, most in _MOST.items() if role in columns]
        cuts = ", ".join(f"min(v) FILTER (reached >= total * {share})" for share in wanted)
        for mass in dict.fromkeys((" * ".join(factors), factors[0] if roles.count is not None else "1.0")):
            row = self._run(f"""
                WITH levels AS (SELECT {number} AS v, kahan_sum({mass}) AS m FROM {self.table.relation} GROUP BY 1),
                run AS (SELECT v, sum(m) OVER (ORDER BY v) AS reached, sum(m) OVER () AS total
                        FROM levels WHERE v IS NOT NULL)
                SELECT max(total), min(v), {cuts or "NULL"}, max(v) FROM run""")[0]  # noqa: S608 - quoted, or ours
            if row[0]:  # without any weight, people count
                break
        return [float(cut) for cut in row[1:] if cut is not None]

    def _widest(self, roles: Roles) -> str:
        keys = roles.raw_keys
        counts = ", ".join(f"approx_count_distinct({self.table.columns[roles.keys[key]].key})" for key in keys)
        row = self._run(f"SELECT {counts} FROM {self.table.relation}")[0]  # noqa: S608 - as above
        most, key = max(zip(row, keys, strict=True))
        return too_many(roles.keys[key], f"about {most:,}", numbers=key in roles.grouping)

    def _run(self, sql: str, parameters: Sequence[Any] = (), want: str = "fetchall") -> Any:
        import duckdb

        try:
            return query.fetch(self.connection, sql, parameters, want)
        except (duckdb.Error, MemoryError) as error:
            raise DataError(explain(self.paths, self.format, error)) from None


class _FileStatistics:
    """The `Statistics` of columns of files."""

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

    def quantiles(self, role: str, parts: int) -> Floats:
        column = self.source.table.columns[self.roles.keys[role]]
        return np.array(self.source.quantiles(column, self.roles, parts), dtype=np.float64)

    def _value(self, role: str) -> str:
        return present(self.source.table.columns[self.roles.keys[role]], self.roles)

    def _ask(self, fields: str, rest: str = "") -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.source._run(f"SELECT {fields} FROM {self.source.table.relation}{rest}")  # noqa: S608 - quoted
        return rows


_MOST = {"count": LARGEST_COUNT, "weight": LARGEST_WEIGHT}


def _mass(number: str, most: float) -> str:
    """A count or a weight; 0 for what is neither, which is complained of where rows are counted."""
    return f"CASE WHEN {number} BETWEEN 0 AND {double(most)} THEN {number} ELSE 0 END"


def _with_people(table: Table, roles: Roles) -> Table:
    """The rows that stand for someone: one with a count of 0 has no say in where anything is cut."""
    if roles.count is None:
        return table
    count = present(table.columns[roles.count], roles)
    return table._replace(relation=f"(SELECT * FROM {table.relation} WHERE {count} IS DISTINCT FROM 0)")  # noqa: S608


def _expand(named: Sequence[Any]) -> list[Path]:
    paths: list[Path] = []
    for item in named:
        text = os.fspath(item)
        if "://" in str(text) or not text:
            raise DataError(
                f"{short_path(text)!r} is not a path: only files are read; download it first. A database is named by "
                "--database."
            )
        name = os.fsdecode(text)
        found = inputs.find(name, "*.parquet")
        if not found:
            raise DataError(f"there is no file {short_path(name)!r}.{_beside(os.path.expanduser(name))}")
        paths += found
    inputs.check_once(paths)
    for file in paths:
        if file.stat().st_size == 0:
            raise DataError(f"{short_path(file)!r} is empty.")
    return paths


def _beside(path: str) -> str:
    """The files with similar names in the folder of a file that does not exist."""
    folder, name = os.path.split(path)
    try:
        found = sorted(other for other in os.listdir(folder or ".") if os.path.splitext(other)[1] in SUFFIXES)
    except (OSError, ValueError):
        return ""
    return f" In that folder, {nearest(name, found)}" if found else ""
