"""Every measure of every group: how fast, how large, and against what.

    python benchmarks/group_metrics.py          all bars
    python benchmarks/group_metrics.py a e      only these

(a) A million rows in pandas, three columns of text, 40 groups: at most 2.0 x the floor, which is pd.factorize of the
    three columns and one np.bincount. No library that reads text from a pandas column can be below it.
(b) 100,000 rows with Arrow strings: at least 250 x faster than fairlearn's MetricFrame with the same measures.
(c) Ten million rows in Parquet: at most 1.5 x the bare DuckDB group-by of the same columns; under 500 MB.
(d) The memory that (a) takes beyond the data: at most 1.5 x that of the floor.
(e) import evenhand: at most 100 ms above import numpy, and nothing else is loaded.

This process only gives orders: everything that is measured runs in processes of its own, so that no bar inherits
memory or modules from another. What is compared alternates, and medians are compared. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from running import Timed, alternate, at_least, at_most, call, check, conclude, machine, show, start

SEED = 20240229
ROWS = {"a": 1_000_000, "b": 100_000, "c": 10_000_000}
VALUES = {
    "race": ("African-American", "Asian", "Caucasian", "Hispanic", "Other"),
    "sex": ("Female", "Male"),
    "age": ("below 25", "25 to 44", "45 to 64", "65 and above"),
}
ROUNDS = {"a": 11, "b": 3, "c": 9, "d": 3, "e": 21}
BARS = {"a": 2.0, "b": 250.0, "c": 1.5, "c memory": 500.0, "d": 1.5, "e": 0.100}
KINDS = ("object", "str")

IMPORT = """
import time
wall, processor = time.perf_counter(), time.thread_time()
import {}
wall, processor = time.perf_counter() - wall, time.thread_time() - processor
import json, sys
loaded = {{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(json.dumps([wall, processor, sorted(loaded)]))
"""


# --- in the processes that are measured


def make_frame(rows: int) -> Any:
    """The data of (a) and (b): pandas, its default text type, label and prediction as 0 and 1."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(SEED)
    columns: dict[str, Any] = {
        name: np.array(values, dtype=object)[random.integers(0, len(values), rows)] for name, values in VALUES.items()
    }
    columns["label"] = random.integers(0, 2, rows)
    columns["prediction"] = np.where(random.random(rows) < 0.7, columns["label"], random.integers(0, 2, rows))
    return pd.DataFrame(columns)


def as_kind(frame: Any, kind: str) -> Any:
    return frame.astype(dict.fromkeys(VALUES, {"object": object, "str": "str", "arrow": "string[pyarrow]"}[kind]))


def ours(data: Any) -> Any:
    import evenhand as eh

    return eh.Cube.count(data, label="label", prediction="prediction", sensitive=list(VALUES)).measures()


def floor(frame: Any) -> Any:
    """What any group-by of three text columns has to do at least, with no checks and no names."""
    import numpy as np
    import pandas as pd

    key, width = None, 1
    for name in VALUES:
        codes, levels = pd.factorize(frame[name])
        width *= len(levels)
        if key is None:
            key = codes
        else:
            key *= len(levels)
            key += codes
    for name in ("label", "prediction"):
        key *= 2
        key += frame[name].to_numpy()
    return np.bincount(key, minlength=4 * width)


def run_floor_and_ours(kind: str) -> Timed:
    frame = as_kind(make_frame(ROWS["a"]), kind)
    counted, measured = floor(frame), ours(frame)
    assert sorted(counted.reshape(-1, 4).sum(axis=1)) == sorted(measured["count"])
    return alternate(ROUNDS["a"], floor=lambda: floor(frame), ours=lambda: ours(frame))


def run_memory(kind: str, who: str) -> dict[str, float]:
    """The high-water mark of resident memory above what the data takes, in MB; and what tracemalloc sees of it."""
    import ctypes
    import gc
    import tracemalloc

    function = {"floor": floor, "ours": ours}[who]
    function(as_kind(make_frame(1000), kind))  # what is imported or cached on first use is not the data's
    frame = as_kind(make_frame(ROWS["a"]), kind)
    gc.collect()
    status = Path("/proc/self/status")
    found = {}
    if status.exists():
        # Memory that was freed while the data was made would be used again and hide what a function takes.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # sets the high-water mark to now
        before = _status(status, "VmRSS")
        function(frame)
        found["resident"] = (_status(status, "VmHWM") - before) / 1024
    tracemalloc.start()
    function(frame)
    found["traced"] = tracemalloc.get_traced_memory()[1] / 2**20
    return found


def _status(file: Path, key: str) -> int:
    line = next(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith(key))
    return int(line.split()[1])


def run_write(path: str) -> None:
    make_frame(ROWS["b"]).to_parquet(path)


def run_arrow(path: str) -> dict[str, Any]:
    import pandas as pd

    frame = as_kind(pd.read_parquet(path), "arrow")
    import evenhand as eh

    cube = eh.Cube.count(frame, label="label", prediction="prediction", sensitive=list(VALUES))
    values = {name: dict(zip(("|".join(g) for _, g in cube.pairs), v, strict=True)) for name, v in ours(frame).items()}
    return {"seconds": alternate(7, ours=lambda: ours(frame))["ours"], "values": values}


def run_fairlearn(path: str) -> dict[str, Any]:
    """In fairlearn's own environment, where there is no evenhand."""
    import warnings

    import fairlearn.metrics as fm
    import pandas as pd
    import sklearn.metrics as sk

    def npv(y: Any, d: Any) -> float:
        return sk.precision_score(y, d, pos_label=0)

    metrics = {
        "selection_rate": fm.selection_rate,
        "base_rate": lambda y, _: y.mean(),
        "accuracy": sk.accuracy_score,
        "error_rate": sk.zero_one_loss,
        "true_positive_rate": fm.true_positive_rate,
        "false_positive_rate": fm.false_positive_rate,
        "true_negative_rate": fm.true_negative_rate,
        "false_negative_rate": fm.false_negative_rate,
        "positive_predictive_value": sk.precision_score,
        "negative_predictive_value": npv,
        "false_discovery_rate": lambda y, d: 1 - sk.precision_score(y, d),
        "false_omission_rate": lambda y, d: 1 - npv(y, d),
        "balanced_accuracy": sk.balanced_accuracy_score,
        "f1": sk.f1_score,
        "count": fm.count,
    }

    def by_group(frame: Any) -> Any:
        return fm.MetricFrame(
            metrics=metrics,
            y_true=frame["label"],
            y_pred=frame["prediction"],
            sensitive_features=frame[list(VALUES)],
        ).by_group

    frame = as_kind(pd.read_parquet(path), "arrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about groups of a few rows, in the warming up only
        by_group(frame.head(2000))
    start = time.perf_counter()
    table = by_group(frame)
    seconds = time.perf_counter() - start
    values = {name: {"|".join(group): float(v) for group, v in column.items()} for name, column in table.items()}
    return {"seconds": [seconds], "values": values}


def run_parquet(path: str) -> None:
    """Ten million rows that every run makes alike, written by DuckDB."""
    import duckdb

    lists = {name: "[" + ", ".join(f"'{value}'" for value in values) + "]" for name, values in VALUES.items()}
    columns = ", ".join(
        f"{values}[1 + (hash(i * 8 + {k}) % {len(VALUES[name])})::INTEGER] AS {name}"
        for k, (name, values) in enumerate(lists.items())
    )
    connection = duckdb.connect()
    connection.execute(f"""
        COPY (SELECT {columns}, (hash(i * 8 + 5) % 2)::INTEGER AS label, (hash(i * 8 + 6) % 2)::INTEGER AS prediction
              FROM range({ROWS["c"]}) t (i)) TO '{path}' (FORMAT parquet)""")


def bare(path: str) -> Any:
    import duckdb

    names = ", ".join((*VALUES, "label", "prediction"))
    sql = f"SELECT {names}, count(*) FROM read_parquet('{path}') GROUP BY {names}"
    return duckdb.connect().execute(sql).fetchall()


def run_file(path: str) -> Timed:
    assert sum(row[-1] for row in bare(path)) == ours(path)["count"].sum() == ROWS["c"]
    return alternate(ROUNDS["c"], bare=lambda: bare(path), ours=lambda: ours(path))


def run_resident(path: str, who: str) -> float:
    """The largest resident memory of a process that does one thing, in MB, interpreter and libraries included."""
    import resource

    {"bare": bare, "ours": ours}[who](path)
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


# --- in the process that gives orders


def bar_a(_folder: Path) -> list[bool]:
    passed = []
    for kind in KINDS:
        seconds = call("run_floor_and_ours", kind)
        ratio = show("ours", seconds["ours"]) / show("floor", seconds["floor"])
        passed.append(at_most(BARS["a"], f"(a) a million rows in pandas, {kind} columns, against the floor", ratio))
    return passed


def bar_b(folder: Path) -> list[bool]:
    import peers

    path = str(folder / "decisions.parquet")
    program = peers.python("fairlearn")
    call("run_write", path)
    theirs: dict[str, Any] = {"seconds": []}
    mine: dict[str, Any] = {"seconds": []}
    for _ in range(ROUNDS["b"]):
        for side, worker, interpreter in ((theirs, "run_fairlearn", program), (mine, "run_arrow", sys.executable)):
            answer = call(worker, path, program=interpreter)
            side["seconds"] += answer["seconds"]
            side["values"] = answer["values"]
    apart = max(
        abs(value - mine["values"][name][group])
        for name, column in theirs["values"].items()
        for group, value in column.items()
    )
    groups = len(theirs["values"]["count"])
    ratio = show("fairlearn", theirs["seconds"]) / show("ours", mine["seconds"])
    passed = at_least(BARS["b"], "(b) 100,000 rows, Arrow strings, against MetricFrame", ratio)
    agree = f"(b) {len(theirs['values'])} measures of {groups} groups are the same, to {apart:.0e}"
    return [passed, check(agree, apart < 1e-12)]


def bar_c(folder: Path) -> list[bool]:
    path = str(folder / "large.parquet")
    call("run_parquet", path)
    print(f"      {ROWS['c']:,} rows in {Path(path).stat().st_size / 2**20:.0f} MB")
    seconds = call("run_file", path)
    ratio = show("ours", seconds["ours"]) / show("bare group-by", seconds["bare"])
    passed = [at_most(BARS["c"], "(c) ten million rows in Parquet, against the bare group-by", ratio)]
    peaks = {who: [call("run_resident", path, who) for _ in range(3)] for who in ("bare", "ours")}
    show("bare group-by", peaks["bare"], "MB")
    largest = max(peaks["ours"])
    show("ours", peaks["ours"], "MB")
    return [*passed, at_most(BARS["c memory"], "(c) peak memory of the whole process", largest, " MB")]


def bar_d(_folder: Path) -> list[bool]:
    passed = []
    for kind in KINDS:
        found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": []}
        for _ in range(ROUNDS["d"]):
            for who, measured in found.items():
                measured.append(call("run_memory", kind, who))
        # Resident memory counts every allocator, in pages and with what the allocator had left over; tracemalloc
        # counts what numpy and Python ask for, and neither Arrow nor hash tables in C. The worse answer counts.
        ratios = {
            how: show(f"ours, {how}", [each[how] for each in found["ours"]], "MB")
            / show(f"floor, {how}", [each[how] for each in found["floor"]], "MB")
            for how in found["ours"][0]
        }
        worse = max(ratios, key=lambda how: ratios[how])
        passed.append(at_most(BARS["d"], f"(d) memory beyond the data, {kind} columns, {worse}", ratios[worse]))
    return passed


def bar_e(folder: Path) -> list[bool]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    seconds: Timed = {"numpy": [], "evenhand": []}
    busy: Timed = {"numpy": [], "evenhand": []}
    loaded: dict[str, set[str]] = {}
    for i in range(ROUNDS["e"] + 2):
        for name in seconds:
            command = [sys.executable, "-c", IMPORT.format(name)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=folder)
            wall, processor, modules = json.loads(done.stdout)
            loaded[name] = set(modules)
            if i >= 2:  # the first ones write the bytecode
                seconds[name].append(wall)
                busy[name].append(processor)
    above = show("import evenhand", seconds["evenhand"]) - show("import numpy", seconds["numpy"])
    for name, taken in busy.items():  # not judged: shows how much of the wall clock was other processes' work
        show(f"{name}, processor", taken)
    extra = loaded["evenhand"] - loaded["numpy"]
    return [
        at_most(BARS["e"], "(e) import evenhand above import numpy", above, " s"),
        check(f"(e) loaded besides numpy and the standard library: {', '.join(sorted(extra))}", extra == {"evenhand"}),
    ]


def main(chosen: list[str]) -> int:
    machine()
    bars = {"a": bar_a, "b": bar_b, "c": bar_c, "d": bar_d, "e": bar_e}
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or bars:
            passed += bars[name](Path(folder))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
