"""A whole audit: how its cost grows with rows, groups, metrics and scores, and against what.

    python benchmarks/audit.py                  everything
    python benchmarks/audit.py scores groups    only these

(rows)   From 1,000 to 10 million rows, 40 groups in three columns of text, with intersections: seconds of counting and
         of the whole default audit. With a million rows the audit takes at most 3 x the counting.
(groups) From 2 to 20,000 groups, decisions and scores, the core set and all metrics, from a cube. All metrics of 1,000
         groups of decisions take less than 1.5 s, and of 200 groups with scores less than 3 s; from 200 groups to
         1,000, which have five times as many cells, the cost of the core set grows at most as the cells do, and that of
         all metrics by at most 6 x.
(scores) The core set of 40 groups with scores takes at most 5 x that of their decisions alone.
(many)   20,000 groups of one attribute: a note says what is left out, and the whole process stays under 1 GB.
(sets)   Every metric on seven sets of attributes, 200 groups in all: at most 2 s.
(peers)  The same 100,000 rows of 40 groups, text in pandas: fairlearn's MetricFrame with ten measures, and Aequitas'
         counts and disparities, neither with intervals. The core set with intervals and verdicts is at least 20 x
         faster than fairlearn; Aequitas is printed.

Everything runs in processes of its own. What is compared alternates, medians are compared, and seconds are those of
the processor, which a busy machine changes least. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from running import Timed, at_least, at_most, call, check, conclude, machine, show, start

SEED = 20261118
BARS = {
    "rows": 3.0,
    "scores": 5.0,
    "all scored": 3.0,
    "1,000 groups": 1.5,
    "sets": 2.0,
    "memory": 1000.0,
    "fairlearn": 20.0,
}
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
GROUPS = (2, 20, 200, 1_000, 2_000, 20_000)
ROUNDS = 5


# --- in the processes that are measured


def frame(rows: int) -> Any:
    """40 groups in three columns of text, with a label and a decision."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(SEED)
    columns = {
        "race": random.choice(list("abcdefghij"), rows),
        "sex": random.choice(["female", "male"], rows),
        "age": random.choice(["young", "old"], rows),
        "label": random.integers(0, 2, rows),
        "prediction": random.integers(0, 2, rows),
    }
    return pd.DataFrame(columns)


def cube(rows: int, groups: int, scored: bool) -> Any:
    import numpy as np

    import evenhand as eh

    random = np.random.default_rng(SEED)
    score = random.beta(2, 2, rows)
    arrays = {"label": (random.random(rows) < score).astype(int), "prediction": (score > 0.5).astype(int)}
    group = np.char.add("g", random.integers(0, groups, rows).astype(str))
    return eh.Cube.count(**arrays, **({"score": score} if scored else {}), sensitive=group)


def processor(function: Callable[[], Any]) -> float:
    begun = time.process_time()
    function()
    return time.process_time() - begun


def run_rows(rows: str) -> Timed:
    import evenhand as eh

    data = frame(int(rows))
    roles = {"label": "label", "prediction": "prediction", "sensitive": ["race", "sex", "age"]}
    eh.audit(data.head(1000), **roles)
    seconds: Timed = {"counting": [], "audit": []}
    for _ in range(ROUNDS if int(rows) > 1_000_000 else 2 * ROUNDS + 1):
        seconds["counting"].append(processor(lambda: eh.Cube.count(data, **roles)))
        seconds["audit"].append(processor(lambda: eh.audit(data, **roles)))
    return seconds


def run_groups(groups: str, scored: str, metrics: str) -> Timed:
    """The audit of a new cube, so that nothing is known of it; a small one before it loads what it needs."""
    wanted = "all" if metrics == "all" else None
    cube(2_000, 3, scored == "scores").audit(metrics=wanted)
    rows = max(100_000, 20 * int(groups))
    seconds: Timed = {"audit": []}
    for _ in range(3):
        counted = cube(rows, int(groups), scored == "scores")
        seconds["audit"].append(processor(lambda counted=counted: counted.audit(metrics=wanted)))
    return seconds


def run_scores() -> Timed:
    seconds: Timed = {"decisions": [], "scores": []}
    for i in range(2 * ROUNDS + 1):
        for name, taken in seconds.items():
            counted = cube(100_000, 40, name == "scores")
            took = processor(counted.audit)
            if i:
                taken.append(took)
    return seconds


def run_many() -> dict[str, Any]:
    import resource

    counted = cube(400_000, 20_000, False)
    audit = counted.audit(metrics="all")
    text = str(audit)
    scale = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    noted = [note for note in audit.notes if "20,000 groups, so only metrics of counts" in note]
    return {"megabytes": peak, "notes": noted, "findings": len(audit.findings), "lines": len(text.splitlines())}


def run_sets() -> Timed:
    import numpy as np

    import evenhand as eh

    random, rows = np.random.default_rng(0), 200_000
    data = {name: random.choice(list(values), rows) for name, values in (("race", "abcdefghij"), ("sex", "fm"))}
    data["region"] = random.choice(list("0123456789"), rows)
    data["label"] = random.integers(0, 2, rows)
    data["prediction"] = (random.random(rows) < 0.4 + 0.1 * (data["race"] == "a")).astype(int)
    seconds: Timed = {"audit": [], "text": []}
    for i in range(ROUNDS + 1):
        counted = eh.Cube.count(data, label="label", prediction="prediction", sensitive=["race", "sex", "region"])
        found: list[Any] = []
        took = processor(lambda counted=counted, found=found: found.append(counted.audit(metrics="all")))
        told = processor(lambda found=found: str(found[0]))
        if i:
            seconds["audit"].append(took)
            seconds["text"].append(told)
    return seconds


def _one_column(data: Any) -> Any:
    return data["race"] + ", " + data["sex"] + ", " + data["age"]


def run_ours() -> Timed:
    import evenhand as eh

    data = frame(100_000)
    data["group"] = _one_column(data)

    def audit() -> None:
        eh.audit(data, label="label", prediction="prediction", sensitive="group")

    audit()
    return {"seconds": [processor(audit) for _ in range(ROUNDS)]}


def run_fairlearn() -> Timed:
    from fairlearn import metrics
    from sklearn import metrics as skm

    data = frame(100_000)
    rates = ("selection_rate", "true_positive_rate", "false_positive_rate", "true_negative_rate", "false_negative_rate")
    functions = {name: getattr(metrics, name) for name in (*rates, "count")}
    functions |= {
        name: getattr(skm, name) for name in ("accuracy_score", "precision_score", "recall_score", "f1_score")
    }

    def measure() -> None:
        found = metrics.MetricFrame(
            metrics=functions, y_true=data["label"], y_pred=data["prediction"], sensitive_features=_one_column(data)
        )
        found.difference()

    return {"seconds": [processor(measure)]}


def run_aequitas() -> Timed:
    from aequitas.bias import Bias
    from aequitas.group import Group

    data = frame(100_000)
    data = data.rename(columns={"label": "label_value", "prediction": "score"})
    data["group"] = _one_column(data)
    data = data[["score", "label_value", "group"]]

    def measure() -> None:
        counts, _ = Group().get_crosstabs(data.copy())
        Bias().get_disparity_major_group(counts, original_df=data.copy(), mask_significance=False)

    return {"seconds": [processor(measure) for _ in range(2)]}


# --- in the process that gives orders


def bar_rows() -> list[bool]:
    print(f"      {'rows':>12} {'counting, s':>12} {'audit, s':>10} {'ratio':>6}")
    ratios = {}
    for rows in SIZES:
        seconds = call("run_rows", rows)
        ratios[rows] = statistics.median(b / a for a, b in zip(seconds["counting"], seconds["audit"], strict=True))
        counting, audit = (statistics.median(seconds[name]) for name in ("counting", "audit"))
        print(f"      {rows:>12,} {counting:>12.4f} {audit:>10.4f} {ratios[rows]:>6.2f}", flush=True)
    return [at_most(BARS["rows"], "(rows) the default audit of a million rows against counting", ratios[1_000_000])]


def bar_groups() -> list[bool]:
    print(f"      {'groups':>8} {'core set, s':>12} {'all, s':>8} {'core, scored':>13} {'all, scored':>12}")
    found: dict[tuple[int, str, str], float] = {}
    for groups in GROUPS:
        for scored, metrics in (("decisions", "core"), ("decisions", "all"), ("scores", "core"), ("scores", "all")):
            if groups <= 2_000 or scored == "decisions":
                seconds = call("run_groups", groups, scored, metrics)
                found[groups, scored, metrics] = statistics.median(seconds["audit"])
        line = [found.get((groups, *key), float("nan")) for key in (
            ("decisions", "core"), ("decisions", "all"), ("scores", "core"), ("scores", "all"))]  # fmt: skip
        print("      {:>8,} {:>12.3f} {:>8.3f} {:>13.3f} {:>12.3f}".format(groups, *line), flush=True)
    grown = {metrics: found[1_000, "scores", metrics] / found[200, "scores", metrics] for metrics in ("core", "all")}
    return [
        at_most(BARS["1,000 groups"], "(groups) 1,000 groups, all metrics", found[1_000, "decisions", "all"], " s"),
        at_most(BARS["all scored"], "(groups) 200 groups with scores, all metrics", found[200, "scores", "all"], " s"),
        at_most(5.0, "(groups) the core set with scores, 1,000 groups against 200", grown["core"]),
        at_most(6.0, "(groups) all metrics with scores, 1,000 groups against 200", grown["all"]),
    ]


def bar_scores() -> list[bool]:
    seconds = call("run_scores")
    ratio = show("scores", seconds["scores"]) / show("decisions", seconds["decisions"])
    return [at_most(BARS["scores"], "(scores) the core set of 40 groups with scores, against decisions alone", ratio)]


def bar_many() -> list[bool]:
    found = call("run_many")
    print(f"      {found['findings']} findings, {found['lines']} lines of text. {' '.join(found['notes'])}")
    return [
        check("(many) 20,000 groups have a note", bool(found["notes"])),
        at_most(BARS["memory"], "(many) the whole process", found["megabytes"], " MB"),
    ]


def bar_sets() -> list[bool]:
    seconds = call("run_sets")
    show("as text", seconds["text"])
    return [
        at_most(BARS["sets"], "(sets) every metric on seven sets, 200 groups", show("audit", seconds["audit"]), " s")
    ]


def bar_peers() -> list[bool]:
    import peers

    seconds: Timed = {"ours": [], "fairlearn": [], "aequitas": []}
    for _ in range(2):
        seconds["ours"] += call("run_ours")["seconds"]
        for name in ("fairlearn", "aequitas"):
            seconds[name] += call(f"run_{name}", program=peers.python(name))["seconds"]
    middle = {name: show(name, taken) for name, taken in seconds.items()}
    print(f"      Aequitas takes {middle['aequitas'] / middle['ours']:.2g} x as long")
    ratio = middle["fairlearn"] / middle["ours"]
    return [at_least(BARS["fairlearn"], "(peers) fairlearn's MetricFrame against the core set", ratio)]


def main(chosen: list[str]) -> int:
    machine()
    bars = {"rows": bar_rows, "scores": bar_scores, "groups": bar_groups, "many": bar_many, "sets": bar_sets,
            "peers": bar_peers}  # fmt: skip
    passed: list[bool] = []
    for name in chosen or bars:
        passed += bars[name]()
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
