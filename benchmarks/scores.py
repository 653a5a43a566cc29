"""AUC, calibration and balance of every group: against scikit-learn, and against the bare group-by.

    python benchmarks/scores.py          both bars
    python benchmarks/scores.py b        only this

(a) A million rows in pandas, five groups, continuous scores: counting and the AUC, the calibration curve in ten bins
    and the mean score by label of every group, with intervals and verdicts, at least 5 x faster than scikit-learn
    called group by group for the numbers alone.
(b) Ten million rows in Parquet: the cube at most 2 x the bare DuckDB group-by by group, label and a grid of 1,024,
    with the same sums. The cube cuts the score also at the calibration edges, and has to find its range first.

Everything that is measured runs in processes of its own, scikit-learn in an environment without evenhand. What is
compared alternates, and medians are compared. The numbers of both sides are compared too. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from running import alternate, at_least, at_most, call, check, conclude, machine, show, start

SEED = 20240229
ROWS = {"a": 1_000_000, "b": 10_000_000}
GROUPS = ("African-American", "Asian", "Caucasian", "Hispanic", "Other")
METRICS = ["auc_parity", "calibration", "overall_balance"]
ROUNDS, REPEATS = 5, 3
BARS = {"a": 5.0, "b": 2.0}
GRID = 1024


# --- in the processes that are measured


def run_write(path: str) -> None:
    """The data of (a): scores of another shape in each group, which are not calibrated in two of them."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(SEED)
    group = random.integers(0, len(GROUPS), ROWS["a"])
    score = random.beta(2 + 0.3 * group, 3 - 0.3 * group)
    chance = np.clip(score + np.array([0.0, 0.05, 0.0, -0.05, 0.0])[group], 0, 1)
    label = (random.random(ROWS["a"]) < chance).astype(np.int64)
    pd.DataFrame({"race": np.array(GROUPS)[group], "label": label, "score": score}).to_parquet(path)


def _seconds(function: Callable[[], Any]) -> list[float]:
    function()
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return found


def run_sklearn(path: str) -> dict[str, Any]:
    """In an environment of its own, where there is no evenhand."""
    import pandas as pd
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import roc_auc_score

    frame = pd.read_parquet(path)

    def by_group() -> dict[str, Any]:
        found = {}
        for name, part in frame.groupby("race"):
            label, score = part["label"].to_numpy(), part["score"].to_numpy()
            rate, mean = calibration_curve(label, score, n_bins=10)
            found[name] = {
                "auc": roc_auc_score(label, score),
                "rate": rate.tolist(),
                "mean": mean.tolist(),
                "balance": [score[label == value].mean() for value in (0, 1)],
            }
        return found

    return {"seconds": _seconds(by_group), "values": by_group()}


def run_ours(path: str) -> dict[str, Any]:
    import pandas as pd

    import evenhand as eh

    frame = pd.read_parquet(path)

    def audit() -> Any:
        return eh.Cube.count(frame, label="label", score="score", sensitive="race").audit(metrics=METRICS)

    seconds = _seconds(audit)
    auc, calibration, balance = (next(f for f in audit().findings if f.metric == name) for name in METRICS)
    values: dict[str, Any] = {name: {"balance": [0.0, 0.0]} for name in GROUPS}
    for row in auc.groups:
        values[row.group[0]]["auc"] = row.estimate.value
    for row in balance.groups:
        values[row.group[0]]["balance"][row.measure == "mean_score_positive"] = row.estimate.value
    for name in GROUPS:
        curve = [row for row in calibration.panels[0].rows if row[0] == name]
        values[name] |= {"rate": [row[4] for row in curve], "mean": [row[7] for row in curve]}
    return {"seconds": seconds, "values": values, "note": auc.notes[0]}


def run_parquet(path: str) -> None:
    """Ten million rows that every run makes alike, written by DuckDB: uniform scores, calibrated."""
    import duckdb

    values = "[" + ", ".join(f"'{name}'" for name in GROUPS) + "]"
    score, chance = (f"(hash(i * 8 + {k}) % 1000003) / 1000003.0" for k in (1, 2))
    duckdb.connect().execute(f"""
        COPY (SELECT {values}[1 + (hash(i * 8) % {len(GROUPS)})::INTEGER] AS race,
                     ({chance} < {score})::INTEGER AS label, {score} AS score
              FROM range({ROWS["b"]}) t (i)) TO '{path}' (FORMAT parquet)""")


def bare(path: str) -> Any:
    import duckdb

    return (
        duckdb.connect()
        .execute(f"""
        SELECT race, label, least(floor(score * {GRID}), {GRID - 1}), count(*), sum(score), sum(score * score)
        FROM read_parquet('{path}') GROUP BY 1, 2, 3""")
        .fetchall()
    )


def ours(path: str) -> Any:
    import evenhand as eh

    return eh.Cube.count(path, label="label", score="score", sensitive="race")


def run_file(path: str) -> dict[str, Any]:
    table, cube = bare(path), ours(path)
    rows, people = sum(row[3] for row in table), int(cube.scores.n.sum())
    apart = max(
        abs(sum(row[at] for row in table) / cube.scores.sums[name].sum() - 1) for at, name in ((4, "s"), (5, "s2"))
    )
    seconds = alternate(ROUNDS, bare=lambda: bare(path), ours=lambda: ours(path))
    return {"seconds": seconds, "same": rows == people == ROWS["b"] and apart < 1e-9, "bins": cube.scores.bins.count}


# --- in the process that gives orders


def bar_a(folder: Path) -> list[bool]:
    import peers

    path, program = str(folder / "scores.parquet"), peers.python("fairlearn")
    call("run_write", path)
    theirs: dict[str, Any] = {"seconds": []}
    mine: dict[str, Any] = {"seconds": []}
    for _ in range(ROUNDS):
        for side, worker, interpreter in ((theirs, "run_sklearn", program), (mine, "run_ours", sys.executable)):
            answer = call(worker, path, program=interpreter)
            side["seconds"] += answer.pop("seconds")
            side.update(answer)
    apart = {
        what: max(
            abs(a - b)
            for name in GROUPS
            for a, b in zip(_list(theirs["values"][name][what]), _list(mine["values"][name][what]), strict=True)
        )
        for what in ("auc", "rate", "mean", "balance")
    }
    ratio = show("scikit-learn", theirs["seconds"]) / show("ours", mine["seconds"])
    exact = max(gap for what, gap in apart.items() if what != "auc")
    return [
        at_least(BARS["a"], "(a) AUC, calibration, balance, against scikit-learn", ratio),
        check(f"(a) rates and means are the same, to {exact:.0e}", exact < 1e-9),
        check(f"(a) the AUCs are {apart['auc']:.0e} apart. {mine['note']}", apart["auc"] < 1e-4),
    ]


def _list(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def bar_b(folder: Path) -> list[bool]:
    path = str(folder / "large.parquet")
    call("run_parquet", path)
    print(f"      {ROWS['b']:,} rows in {Path(path).stat().st_size / 2**20:.0f} MB")
    answer = call("run_file", path)
    ratio = show("ours", answer["seconds"]["ours"]) / show("bare group-by", answer["seconds"]["bare"])
    return [
        at_most(
            BARS["b"], f"(b) ten million rows in Parquet, {answer['bins']:,} bins, against the bare group-by", ratio
        ),
        check("(b) people and sums are the same", answer["same"]),
    ]


def main(chosen: list[str]) -> int:
    machine()
    bars = {"a": bar_a, "b": bar_b}
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or bars:
            passed += bars[name](Path(folder))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
