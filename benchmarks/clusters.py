"""Clusters from a file: against the bare group-by of two levels that a person would write for DuckDB.

    python benchmarks/clusters.py

Ten million rows in Parquet, a million customers, eight groups of two attributes: the cube with its sums over clusters,
at most 2.5 x the bare group-by by customer, attributes, label and prediction, and again without the customer, with
sums and sums of squares. What is compared alternates in one process, and medians are compared; the squares must agree.
The memory of a process that counts once is printed. Exits 1 when the bar is missed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from running import alternate, at_most, call, conclude, machine, show, start

ROWS, CLUSTERS, ROUNDS, BAR = 10_000_000, 1_000_000, 5, 2.5
KEYS = "race, sex, label, prediction"
ROLES = {"label": "label", "prediction": "prediction", "sensitive": ["race", "sex"], "cluster": "customer"}


def run_write(path: str) -> float:
    import duckdb

    query = f"""SELECT (hash(i * 7 + 1) % {CLUSTERS})::BIGINT AS customer,
        ['Asian', 'Black', 'Hispanic', 'White'][1 + (hash(i * 7 + 2) % 4)::INTEGER] AS race,
        ['female', 'male'][1 + (hash(i * 7 + 3) % 2)::INTEGER] AS sex,
        (hash(i * 7 + 4) % 2)::INTEGER AS label, (hash(i * 7 + 5) % 2)::INTEGER AS prediction
        FROM range({ROWS}) t (i)"""
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return Path(path).stat().st_size / 2**20


def bare(path: str) -> list[tuple[Any, ...]]:
    import duckdb

    by_customer = f"SELECT customer, {KEYS}, count(*) AS n FROM read_parquet('{path}') GROUP BY customer, {KEYS}"
    with duckdb.connect(config={"preserve_insertion_order": "false"}) as connection:
        return connection.execute(f"SELECT {KEYS}, sum(n), sum(n * n) FROM ({by_customer}) GROUP BY {KEYS}").fetchall()


def count(path: str) -> Any:
    import evenhand as eh

    return eh.Cube.count(path, **ROLES)


def run_times(path: str) -> dict[str, list[float]]:
    cube = count(path)
    clusters = cube.clusters
    squares = sorted(int(row[-1]) for row in bare(path))
    if sorted(clusters.products[clusters.first == clusters.second].astype(int).tolist()) != squares:
        raise SystemExit("the sums of squares are not those of the bare group-by")
    return alternate(ROUNDS, bare=lambda: bare(path), evenhand=lambda: count(path))


def run_memory(path: str) -> float:
    import resource

    count(path)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(_chosen: list[str]) -> int:
    machine("duckdb")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        print(f"{ROWS:,} rows of {CLUSTERS:,} customers, {call('run_write', path):.0f} MB")
        seconds = call("run_times", path)
        ratio = show("evenhand", seconds["evenhand"]) / show("bare group-by", seconds["bare"])
        show("memory of the process", [call("run_memory", path)], "MB")
        return conclude([at_most(BAR, "the cube with clusters, to the bare two-level group-by", ratio)])


if __name__ == "__main__":
    start(main, globals())
