"""The audit where the data lives: against the group-by that a person would write by hand for that engine.

    python benchmarks/engines.py                 all bars
    python benchmarks/engines.py duckdb linear   only these

(duckdb), (polars), (spark)  Ten million rows in Parquet, three text attributes of 40 groups: equalized odds with
    intervals and verdict, and the cube with the bins of a score, each at most 1.3 x the same group-by by hand. That
    one groups by the attributes, label and prediction; with a score also by a grid of 1,024 and by ten calibration
    bins, and sums the score and its square.
(memory)  A Parquet file at least four times larger than the memory DuckDB may use, 500 MB, is audited within it: no
    error, and the whole process at most 200 MB above the limit, interpreter and libraries included.
(linear)  The cube of 100,000 to 100,000,000 rows that DuckDB makes on the fly: a row costs at most 1.3 x as much at
    the largest size as at a tenth of it.
(merge)  365 daily cubes of 200 groups with bins of a score, added in under 2 s.

Everything that is measured runs in processes of its own. What is compared alternates, and medians are compared; where
other programs keep the machine busy, the processor time that is printed beside tells more. Exits 1 when a bar is
missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from running import at_most, call, check, conclude, machine, show, start

ROWS, LARGE = 10_000_000, 130_000_000
VALUES = {
    "race": ("African-American", "Asian", "Caucasian", "Hispanic", "Other"),
    "sex": ("Female", "Male"),
    "age": ("below 25", "25 to 44", "45 to 64", "65 and above"),
}
ROUNDS = 9
LIMIT = 500  # MB
SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
BARS = {"ratio": 1.3, "memory": LIMIT + 200.0, "linear": 1.3, "merge": 2.0}
ENGINES = ("duckdb", "polars", "spark")

Timed = dict[str, dict[str, list[float]]]


# --- in the processes that are measured


def rows_sql(rows: int, *, weight: bool = False) -> str:
    """Rows that every run makes alike, as a DuckDB query; the doubles do not compress."""
    chosen = ", ".join(
        f"[{', '.join(repr(value) for value in values)}][1 + (hash(i * 8 + {k}) % {len(values)})::INTEGER] AS {name}"
        for k, (name, values) in enumerate(VALUES.items())
    )
    noise = ", hash(i * 8 + 7)::DOUBLE / 18446744073709551616 AS weight" if weight else ""
    return f"""SELECT {chosen}, (hash(i * 8 + 5) % 2)::INTEGER AS label, (hash(i * 8 + 6) % 2)::INTEGER AS prediction,
        hash(i * 8 + 4)::DOUBLE / 18446744073709551616 AS score{noise} FROM range({rows}) t (i)"""


def run_write(path: str, rows: str, weight: str) -> float:
    import duckdb

    query = rows_sql(int(rows), weight=weight == "weight")
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION snappy)")
    return Path(path).stat().st_size / 2**20


def odds(frame: Any) -> Any:
    import evenhand as eh

    return eh.equalized_odds(frame, label="label", prediction="prediction", sensitive=list(VALUES))


def cube(frame: Any) -> Any:
    import evenhand as eh

    roles = {"label": "label", "prediction": "prediction", "score": "score", "score_range": (0, 1)}
    return eh.Cube.count(frame, **roles, sensitive=list(VALUES))


KEYS = ", ".join((*VALUES, "label", "prediction"))
BINS = "floor(score * 1024) AS cell, floor(score * 10) AS bin"
BY_HAND = {
    "odds": f"SELECT {KEYS}, count(*) AS n FROM {{}} GROUP BY {KEYS}",
    "cube": f"SELECT {KEYS}, {BINS}, count(*) AS n, sum(score) AS s, sum(score * score) AS s2 FROM {{}} "
    f"GROUP BY {KEYS}, cell, bin",
}


def duckdb_sides(path: str) -> tuple[Any, dict[str, Callable[[], Any]]]:
    import duckdb

    connection = duckdb.connect()
    file = f"read_parquet('{path}')"

    def bare(name: str) -> Any:
        return connection.execute(BY_HAND[name].format(file)).fetchnumpy()["n"].sum()

    return connection.sql(f"SELECT * FROM {file}"), {name: partial(bare, name) for name in BY_HAND}


def polars_sides(path: str) -> tuple[Any, dict[str, Callable[[], Any]]]:
    import polars as pl

    frame, keys, score = pl.scan_parquet(path), [*VALUES, "label", "prediction"], pl.col("score")
    people, bins = pl.len().alias("n"), [(score * 1024).floor().alias("cell"), (score * 10).floor().alias("bin")]
    sums = [score.sum().alias("s"), (score * score).sum().alias("s2")]
    plans = {
        "odds": frame.group_by(keys).agg(people),
        "cube": frame.group_by(*keys, *bins).agg(people, *sums),
    }

    def bare(name: str) -> Any:
        return plans[name].collect(engine="streaming")["n"].sum()

    return frame, {name: partial(bare, name) for name in plans}


def spark_sides(path: str) -> tuple[Any, dict[str, Callable[[], Any]]]:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "4g").config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("decisions")

    def bare(name: str) -> Any:
        return sum(session.sql(BY_HAND[name].format("decisions")).toArrow()["n"].to_pylist())

    return frame, {name: partial(bare, name) for name in BY_HAND}


def run_engine(engine: str, path: str) -> Timed:
    """Seconds by hand and ours, one after the other in every round, of the wall clock and of the processor."""
    frame, bare = globals()[f"{engine}_sides"](path)
    mine: dict[str, Callable[[], Any]] = {"odds": lambda: odds(frame), "cube": lambda: cube(frame).size}
    assert bare["cube"]() == mine["cube"]() == ROWS
    found: Timed = {}
    for name, ours in mine.items():
        found[name] = {"by hand": [], "ours": [], "by hand, processor": [], "ours, processor": []}
        for i in range(ROUNDS + 1):
            for side, function in (("by hand", bare[name]), ("ours", ours)):
                start, busy = time.perf_counter(), time.process_time()
                function()
                if i:
                    found[name][side].append(time.perf_counter() - start)
                    found[name][f"{side}, processor"].append(time.process_time() - busy)
    return found


def run_memory(path: str) -> dict[str, Any]:
    """The audit of a file larger than the memory that DuckDB may use; the largest resident memory of the process."""
    import resource

    import duckdb

    import evenhand as eh

    config = {"memory_limit": f"{LIMIT}MB", "temp_directory": tempfile.gettempdir()}
    connection = duckdb.connect(config=config)
    start = time.perf_counter()
    frame = connection.sql(f"SELECT * FROM read_parquet('{path}')")
    roles = {"label": "label", "prediction": "prediction", "score": "score", "score_range": (0, 1), "weight": "weight"}
    found = eh.Cube.count(frame, **roles, sensitive=["race", "sex"])
    verdict = found.audit(metrics=["equalized_odds", "auc_parity"]).verdict
    seconds = time.perf_counter() - start
    scale = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    return {"peak": peak, "seconds": seconds, "people": found.size, "verdict": verdict}


def run_linear() -> dict[str, list[float]]:
    """Seconds for each size, of the wall clock and of the processor."""
    import duckdb

    found: dict[str, list[float]] = {}
    connection = duckdb.connect()
    cube(connection.sql(rows_sql(1000)))
    for rows in SIZES:
        start, busy = time.perf_counter(), time.process_time()
        assert cube(connection.sql(rows_sql(rows))).size == rows
        found[str(rows)] = [time.perf_counter() - start, time.process_time() - busy]
    return found


def run_merge() -> list[float]:
    import numpy as np

    import evenhand as eh

    rng = np.random.default_rng(0)

    def day() -> Any:
        size = 4000
        return eh.Cube.count(
            prediction=rng.integers(0, 2, size),
            label=rng.integers(0, 2, size),
            score=rng.random(size),
            score_range=(0, 1),
            sensitive={"group": [f"group {i}" for i in np.arange(size) % 200]},
        )

    days = [day() for _ in range(365)]
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        total = eh.Cube.merge(days)
        seconds.append(time.perf_counter() - start)
    assert total.size == 365 * 4000
    return seconds


# --- in the process that gives orders


def bar_engine(engine: str, folder: Path) -> list[bool]:
    path = folder / "decisions.parquet"
    if not path.exists():
        print(f"      {ROWS:,} rows in {call('run_write', str(path), str(ROWS), ''):.0f} MB")
    passed = []
    for name, seconds in call("run_engine", engine, str(path)).items():
        middle = {side: show(f"{name}: {side}", values) for side, values in seconds.items()}
        if engine != "spark":  # which works in a process of its own
            print(f"      {middle['ours, processor'] / middle['by hand, processor']:.3g} x in processor time")
        title = {"odds": "equalized odds", "cube": "the cube with score bins"}[name]
        ratio = middle["ours"] / middle["by hand"]
        said = f"({engine}) {title} of ten million rows, against the group-by by hand"
        passed.append(at_most(BARS["ratio"], said, ratio))
    return passed


def bar_memory(folder: Path) -> list[bool]:
    path = folder / "large.parquet"
    size = call("run_write", str(path), str(LARGE), "weight")
    found = call("run_memory", str(path))
    path.unlink()
    print(f"      {found['people']:,} rows in {size:.0f} MB, audited in {found['seconds']:.1f} s: {found['verdict']}")
    return [
        check(f"(memory) the file is {size / LIMIT:.1f} x the memory limit, at least 4 x", size >= 4 * LIMIT),
        at_most(BARS["memory"], "(memory) largest resident memory of the whole process", found["peak"], " MB"),
    ]


def bar_linear(_folder: Path) -> list[bool]:
    found = call("run_linear")
    for rows, (wall, busy) in found.items():
        each = f"{1e9 * busy / int(rows):.3g} ns of processor time a row"
        print(f"      {int(rows):>11,} rows   {wall:.3g} s, {busy:.3g} s of the processor, {each}")
    tenth, largest = (found[str(rows)] for rows in SIZES[-2:])
    ratios = {"wall clock": largest[0] / tenth[0] / 10, "processor": largest[1] / tenth[1] / 10}
    print(f"      a row costs {ratios['wall clock']:.3g} x by the wall clock")
    return [at_most(BARS["linear"], "(linear) a row of 10^8 against one of 10^7, processor time", ratios["processor"])]


def bar_merge(_folder: Path) -> list[bool]:
    return [at_most(BARS["merge"], "(merge) 365 daily cubes of 200 groups", show("merged", call("run_merge")), " s")]


def main(chosen: list[str]) -> int:
    machine("duckdb", "polars")
    bars = {"memory": bar_memory, "linear": bar_linear, "merge": bar_merge}
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or (*ENGINES, *bars):
            passed += bar_engine(name, Path(folder)) if name in ENGINES else bars[name](Path(folder))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
