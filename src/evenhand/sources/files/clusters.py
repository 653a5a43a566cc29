"""The clusters of rows in files: one more scan by DuckDB, which groups rows by cluster and cell.

The cells are those of the lines of the main group-by, so that what values mean is decided once. The lines by cluster
stay in a table of DuckDB, which spills to disk; they are fetched in batches of whole clusters, as small numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.errors import DataError, Problems
from evenhand.sources.clusters import NO_STRATA, complain_missing, strata_of
from evenhand.sources.columns import as_floats
from evenhand.sources.files.formats import Table, double, literal
from evenhand.sources.files.statement import Statement
from evenhand.sources.lines import ClusterRequest, Members
from evenhand.sources.roles import Roles

BATCH = 4_000_000  # lines by cluster that are fetched at a time
_MOST_BATCHES = 8  # of more, lines are sorted first, so that a batch need not look at all of them

Run = Callable[..., Any]
"""Runs a statement: its text, its parameters, and how the answer is fetched."""


class FileClusters:
    """The clusters of one call: first the lines of the main group-by as a table, then the clusters of its rows."""

    def __init__(self, statement: Statement, table: Table, roles: Roles, run: Run) -> None:
        self.statement, self.table, self.roles, self.run = statement, table, roles, run
        self.by = {"c": "cluster"} | ({} if roles.design_strata is None else {"h": "design_strata"})

    def lines(self) -> list[tuple[Any, ...]]:
        """The rows of the main group-by, in the order that `batches` knows them by."""
        self.run(f"CREATE OR REPLACE TEMP TABLE lines AS {self.statement.sql}")
        found: list[tuple[Any, ...]] = self.run("SELECT * FROM lines ORDER BY rowid")
        return found

    def batches(self, request: ClusterRequest) -> Iterator[Members]:
        """Lines by cluster, with the places that the request has for the lines of the main group-by."""
        self._sum(request)
        strata = NO_STRATA
        if "h" in self.by:
            found = self.run("SELECT h FROM strata ORDER BY rowid")
            strata, place = strata_of([self.statement.columns["design_strata"].decode(value) for (value,) in found])
        many = -(-self.run("SELECT count(*) FROM members")[0][0] // BATCH)
        source = self._joined
        if many > _MOST_BATCHES:
            self.run(f"CREATE OR REPLACE TEMP TABLE sorted AS {source} ORDER BY id")
            source = "SELECT * FROM sorted"
        clusters = self.run("SELECT count(*) FROM clusters")[0][0]
        ends = np.linspace(0, clusters, many + 1).astype(np.int64).tolist()
        for start, end in pairwise(ends):
            inside = f"id >= {start} AND id < {end}"
            lines = self.run(f"SELECT * FROM ({source}) WHERE {inside}", want="fetchnumpy")  # noqa: S608 - ours
            stratum_of = np.zeros(end - start, dtype=np.intp)
            if "h" in self.by:
                ask = f"SELECT s FROM (SELECT rowid AS id, s FROM clusters) WHERE {inside} ORDER BY id"  # noqa: S608
                stratum_of = place[np.asarray(self.run(ask, want="fetchnumpy")["s"])]
            yield Members(strata, stratum_of, lines["id"] - start, lines["place"].astype(np.intp), lines["m"])
        for name in ("lines", "cells", "members", "clusters", "strata", "sorted"):
            self.run(f"DROP TABLE IF EXISTS temp.{name}")

    def _sum(self, request: ClusterRequest) -> None:
        """Makes the tables `members` of lines by cluster and place, `clusters`, and `strata` of the design."""
        keys = ", ".join(self.statement.by)
        self.run(
            f"CREATE OR REPLACE TEMP TABLE cells AS SELECT DISTINCT {keys}, place FROM (SELECT rowid AS id, * FROM "  # noqa: S608
            "lines) JOIN (SELECT unnest(CAST(? AS BIGINT[])) AS id, unnest(CAST(? AS INTEGER[])) AS place) USING (id)",
            [list(range(len(request.places))), request.places.tolist()],
        )
        columns = {name: self.statement.columns[role] for name, role in self.by.items()}
        rows = ", ".join([self.statement.rows, *(f"{column.key} AS {name}" for name, column in columns.items())])
        cuts = "".join(f", {value} AS {name}" for name, value in self.statement.cuts.items())
        same = " AND ".join(f"r.{name} IS NOT DISTINCT FROM cells.{name}" for name in self.statement.by)
        by = ", ".join(self.by)
        self.run(
            f"CREATE OR REPLACE TEMP TABLE members AS SELECT {by}, place, {self.statement.mass} AS m "  # noqa: S608
            f"FROM (SELECT *{cuts} FROM ({rows} FROM {self.table.relation})) AS r JOIN cells ON {same} "
            f"GROUP BY {by}, place"
        )
        self.run(f"CREATE OR REPLACE TEMP TABLE clusters AS SELECT {by} FROM members GROUP BY {by}")  # noqa: S608
        self._complain()
        if "h" in self.by:
            self.run("CREATE OR REPLACE TEMP TABLE strata AS SELECT h FROM clusters GROUP BY h")
            told = (
                "SELECT c, clusters.h, s.id AS s FROM clusters JOIN (SELECT rowid AS id, h FROM strata) AS s USING (h)"
            )
            self.run(f"CREATE OR REPLACE TEMP TABLE clusters AS {told}")

    @property
    def _joined(self) -> str:
        same = " AND ".join(f"members.{name} = k.{name}" for name in self.by)
        numbered = f"(SELECT CAST(rowid AS INTEGER) AS id, {', '.join(self.by)} FROM clusters)"  # noqa: S608 - ours
        return f"SELECT id, place, m FROM members JOIN {numbered} AS k ON {same}"  # noqa: S608 - ours

    def _complain(self) -> None:
        """Refuse rows without a cluster, or without a design stratum."""
        problems = Problems()
        for name, role in reversed(self.by.items()):
            gone = self._gone(role, name)
            if self.run(f"SELECT count(*) FROM clusters WHERE {gone}")[0][0]:  # noqa: S608 - ours
                people = "count(*)" if self.roles.count is None else f"sum({self.statement.columns['count'].number})"
                key = self.statement.columns[role].key
                ask = f"SELECT {people} FROM (SELECT *, {key} AS {name} FROM {self.table.relation}) WHERE {gone}"  # noqa: S608
                complain_missing(role, self.roles, int(self.run(ask)[0][0]), problems)
        problems.raise_if_any(DataError)

    def _gone(self, role: str, name: str) -> str:
        """SQL for whether a value is missing."""
        column = self.statement.columns[role]
        if column.numeric:
            absent = "".join(f" OR {name} = {double(number)}" for number in as_floats(self.roles.na))
            return f"{name} IS NULL{absent}"
        text = f"({name} ->> '$')" if column.kind == "JSON" else f"CAST({name} AS VARCHAR)"
        return f"{name} IS NULL OR {text} IN ({', '.join(map(literal, ('', *self.roles.na)))})"
