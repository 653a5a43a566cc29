"""Past one machine: what a row costs, and what comes back, as workers and rows grow.

    python benchmarks/scale.py          every bar, about ten minutes and 1.2 GB of disk
    python benchmarks/scale.py spark    only this

The cube with the bins of a score, of rows in Parquet with three text attributes of 40 groups.

(duckdb)  10^7 and 10^8 rows, with one thread and with two: the processor time of a row differs by at most 30 % between
    threads and between sizes.
(spark)  10^7 rows on a cluster of this machine, with one worker process and with two, warm: the same bar, on the
    processor time of the workers. That of the driver is printed.
(bytes)  What an engine sends back: at most 1 % more bytes for 10^8 rows than for 10^7, and with two workers than one.
(merge)  Ten partitions that are counted one by one: added, they give the counts of the whole, and adding one cube to
    another costs at most 1 s.

Processor time is that of the process, or of the Java processes of the workers, which are children of that of the
driver; the least of several rounds counts, because what others do on the machine only adds to it. Everything that is
measured runs in processes of its own. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from running import at_most, call, check, conclude, machine, start

from engines import cube, run_write

SIZES = {"duckdb": (10_000_000, 100_000_000), "spark": (10_000_000,)}
WORKERS = (1, 2)
ROUNDS = {"duckdb": 3, "spark": 3}
WARM = 3  # rounds before Java has compiled what it will
PARTITIONS = 10
BARS = {"row": 1.3, "bytes": 1.01, "merge": 1.0}
__all__ = ["run_write"]  # which `call` finds here


# --- in the processes that are measured


def watched() -> list[Any]:
    """A list to which every answer that an engine sends is added."""
    from evenhand.sources.engines import fetch as module

    answers: list[Any] = []
    plain = module.fetch

    def fetch(*arguments: Any) -> Any:
        answers.append(plain(*arguments))
        return answers[-1]

    module.fetch = fetch
    return answers


def size_of(column: Any) -> int:
    """The bytes of a column of numpy or PyArrow; of objects, those of their text."""
    if str(getattr(column, "dtype", "")) == "object":
        return sum(len(str(value).encode()) for value in column)
    return int(column.nbytes)


def measure(frame: Any, rows: int, rounds: int, busy: Callable[[], dict[str, float]]) -> dict[str, Any]:
    """Seconds of each round by the clock and of the processors that `busy` looks at, and what came back at the last."""
    answers, found = watched(), []
    for _ in range(rounds):
        answers.clear()
        clock, before = time.perf_counter(), busy()
        if cube(frame).size != rows:
            raise SystemExit("the cube has not counted every row")
        spent = {name: seconds - before[name] for name, seconds in busy().items()}
        found.append({"clock": time.perf_counter() - clock, **spent})
    return {
        "rounds": found,
        "lines": sum(len(next(iter(answer.values()))) for answer in answers),
        "bytes": sum(size_of(column) for answer in answers for column in answer.values()),
    }


def run_duckdb(path: str, rows: str, threads: str) -> dict[str, Any]:
    import duckdb

    connection = duckdb.connect(config={"threads": int(threads)})
    frame = connection.sql(f"SELECT * FROM read_parquet('{path}')")
    return measure(frame, int(rows), ROUNDS["duckdb"], lambda: {"processor": time.process_time()})


def run_spark(path: str, rows: str, workers: str) -> dict[str, Any]:
    import psutil  # type: ignore[import-untyped]
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        session = (
            SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.warehouse.dir", folder)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")

        def busy() -> dict[str, float]:
            (driver,) = [child for child in psutil.Process().children() if child.name() == "java"]
            return {"processor": sum(map(_processor, driver.children())), "driver": _processor(driver)}

        found = measure(session.read.parquet(path), int(rows), WARM + ROUNDS["spark"], busy)
        session.stop()
    return {**found, "rounds": found["rounds"][WARM:]}


def _processor(process: Any) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def run_merge(path: str) -> dict[str, Any]:
    import duckdb
    import numpy as np

    import evenhand as eh

    connection = duckdb.connect()
    rows = f"SELECT * FROM read_parquet('{path}', file_row_number = true)"
    parts = [
        cube(connection.sql(f"{rows} WHERE file_row_number % {PARTITIONS} = {part}")) for part in range(PARTITIONS)
    ]
    whole = cube(connection.sql(f"SELECT * FROM read_parquet('{path}')"))
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        total = eh.Cube.merge(parts)
        seconds.append(time.process_time() - begun)
    names = ["equalized_odds", "auc_parity"]
    values = [[float(each) for each in made.audit(metrics=names).findings] for made in (whole, total)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cube.parquet"
        total.save(file)
        size = file.stat().st_size
    return {
        "seconds": min(seconds) / (PARTITIONS - 1),
        "same": bool(np.array_equal(whole.n, total.n) and np.allclose(*values, rtol=1e-9, atol=0)),
        "bytes": size,
    }


# --- in the process that gives orders


class Files:
    """The Parquet files in a folder, each written when it is first asked for."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def of(self, rows: int) -> Path:
        path = self.folder / f"{rows}.parquet"
        if not path.exists():
            print(f"      {rows:,} rows in {call('run_write', path, rows, ''):,.0f} MB", flush=True)
        return path


def bar_engine(engine: str, files: Files) -> list[bool]:
    found = {
        (rows, workers): call(f"run_{engine}", files.of(rows), rows, workers)
        for rows in SIZES[engine]
        for workers in WORKERS
    }
    each = {key: _shown(engine, *key, answer) for key, answer in found.items()}
    one, two = WORKERS
    few, many = SIZES[engine][0], SIZES[engine][-1]
    what = {"duckdb": "thread", "spark": "worker"}[engine]
    ratios = {f"two {what}s against one, {rows:,} rows": each[rows, two] / each[rows, one] for rows in SIZES[engine]}
    if many > few:
        ratios |= {
            f"{many:,} rows against {few:,}, {name}": each[many, count] / each[few, count]
            for count, name in ((one, f"one {what}"), (two, f"two {what}s"))
        }
    sent = [answer["bytes"] for answer in found.values()]
    return [
        *(_alike(f"({engine}) processor time of a row, {name}", ratio) for name, ratio in ratios.items()),
        at_most(BARS["bytes"], f"(bytes) the most that {engine} sends back against the least", max(sent) / min(sent)),
    ]


def _shown(engine: str, rows: int, workers: int, answer: dict[str, Any]) -> float:
    """Print what was measured; returns the least processor time of a row, in nanoseconds."""
    least = {name: min(each[name] for each in answer["rounds"]) for name in answer["rounds"][0]}
    nanoseconds = 1e9 * least["processor"] / rows
    driver = f", the driver {least['driver']:.1f} s" if "driver" in least else ""
    print(
        f"      {engine}, {workers} at work, {rows:>11,} rows   {least['processor']:.1f} s of processors "
        f"({nanoseconds:.0f} ns a row), {least['clock']:.1f} s by the clock{driver}; back came "
        f"{answer['lines']:,} lines in {answer['bytes']:,} bytes",
        flush=True,
    )
    return nanoseconds


def _alike(name: str, ratio: float) -> bool:
    """Is a ratio within the bar in either direction? A row that became much cheaper would be an error of measuring."""
    return check(f"{name}: {ratio:.3g} x, within {BARS['row']:g} x", 1 / BARS["row"] <= ratio <= BARS["row"])


def bar_merge(files: Files) -> list[bool]:
    answer = call("run_merge", files.of(SIZES["duckdb"][0]))
    print(f"      a cube in a file: {answer['bytes']:,} bytes")
    return [
        check(f"(merge) the cube of {PARTITIONS} partitions is that of the whole", answer["same"]),
        at_most(BARS["merge"], "(merge) adding a cube to another", answer["seconds"], " s of the processor"),
    ]


def main(chosen: list[str]) -> int:
    machine("duckdb")
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        for name in chosen or ("duckdb", "spark", "merge"):
            passed += bar_merge(files) if name == "merge" else bar_engine(name, files)
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
