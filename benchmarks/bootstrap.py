"""What intervals cost: an audit of three attributes with all intersections, 40 groups, every metric.

    python benchmarks/bootstrap.py          all bars
    python benchmarks/bootstrap.py a        only these

(a) What inference adds does not grow with the rows: everything after counting takes at ten million rows at most 1.5 x
    what it takes at 100,000.
(b) 100,000 rows from a pandas frame, with the default intervals: at least 3,000 x faster than fairlearn's MetricFrame
    with n_boot=1000 on the 40 groups, with the measures it can do.
(c) The same with interval="percentile", draws=1000: at least 1,000 x faster.

Fairlearn is run with n_boot=10 and without, in an environment and a process of its own, and scaled: it does the same
work for every draw. It measures the 40 groups; the audit measures those, the attributes and the other intersections,
and judges every metric. What is compared alternates, and medians are compared. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import math
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from group_metrics import VALUES
from running import alternate, at_least, at_most, call, conclude, machine, show, start

SEED = 20240229
FEW, MANY = 100_000, 10_000_000
BOOT, DRAWS = 10, 1000
ROUNDS = 5
BARS = {"a": 1.5, "b": 3000.0, "c": 1000.0}


# --- in the processes that are measured


def make_frame(rows: int, text: bool = True) -> Any:
    """Decisions with gaps: the label depends on race, the errors on race and age."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(SEED)
    codes = {name: random.integers(0, len(values), rows, dtype=np.int8) for name, values in VALUES.items()}
    label = random.random(rows) < 0.3 + 0.05 * codes["race"]
    right = np.where(label, 0.7 - 0.04 * codes["race"], 0.85 - 0.05 * codes["age"])
    columns = {name: pd.Categorical.from_codes(code, VALUES[name]) for name, code in codes.items()}
    frame = pd.DataFrame(columns)
    if text:
        frame = frame.astype(dict.fromkeys(VALUES, "str"))
    frame["label"] = label.astype(np.int8)
    frame["prediction"] = np.where(random.random(rows) < right, label, ~label).astype(np.int8)
    return frame


def run_cubes() -> dict[str, Any]:
    """Everything after counting, at both sizes."""
    import evenhand as eh

    roles = {"label": "label", "prediction": "prediction", "sensitive": list(VALUES)}
    few, many = (eh.Cube.count(make_frame(rows, text=False), **roles) for rows in (FEW, MANY))
    seconds = alternate(ROUNDS, few=few.audit, many=many.audit)
    audits = {"few": few.audit(metrics="all"), "many": many.audit(metrics="all")}
    verdicts = {name: Counter(finding.verdict for finding in audit.findings) for name, audit in audits.items()}
    return {"seconds": seconds, "verdicts": verdicts}


def run_ours(path: str) -> dict[str, Any]:
    """The whole audit, from the frame."""
    import pandas as pd

    import evenhand as eh

    frame = pd.read_pickle(path)

    def audit(**how: Any) -> Any:
        return eh.audit(frame, label="label", prediction="prediction", sensitive=list(VALUES), **how)

    seconds = alternate(ROUNDS, default=audit, percentile=lambda: audit(interval="percentile", draws=DRAWS))
    found = audit()
    with_interval = sum(math.isfinite(math.nan if f.value.low is None else f.value.low) for f in found.findings)
    rates = found.cube.measures()["selection_rate"].tolist()
    return {
        "seconds": seconds,
        "findings": len(found.findings),
        "with_interval": with_interval,
        "rates": dict(zip(("|".join(group) for group in found.cube.groups), rates, strict=True)),
        "versions": {"evenhand": eh.__version__, "pandas": pd.__version__},
    }


def run_fairlearn(path: str) -> dict[str, Any]:
    """In fairlearn's own environment, where there is no evenhand."""
    import fairlearn
    import fairlearn.metrics as fm
    import pandas as pd
    import sklearn
    import sklearn.metrics as sk

    metrics = {
        "selection_rate": fm.selection_rate,
        "accuracy": sk.accuracy_score,
        "true_positive_rate": fm.true_positive_rate,
        "false_positive_rate": fm.false_positive_rate,
        "true_negative_rate": fm.true_negative_rate,
        "false_negative_rate": fm.false_negative_rate,
        "precision": sk.precision_score,
        "balanced_accuracy": sk.balanced_accuracy_score,
        "f1": sk.f1_score,
        "count": fm.count,
    }

    def measure(frame: Any, **boot: Any) -> Any:
        found = fm.MetricFrame(
            metrics=metrics,
            y_true=frame["label"],
            y_pred=frame["prediction"],
            sensitive_features=frame[list(VALUES)],
            **boot,
        )
        return found, found.difference_ci() if boot else found.difference()

    frame = pd.read_pickle(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about groups of a few rows, in the warming up only
        measure(frame.head(2000))
    seconds = {}
    for name, boot in (("none", {}), ("some", {"n_boot": BOOT, "ci_quantiles": [0.025, 0.975], "random_state": SEED})):
        start = time.perf_counter()
        found, _ = measure(frame, **boot)
        seconds[name] = time.perf_counter() - start
    rates = {"|".join(group): float(v) for group, v in found.by_group["selection_rate"].items()}
    versions = {"fairlearn": fairlearn.__version__, "scikit-learn": sklearn.__version__, "pandas": pd.__version__}
    return {"seconds": seconds, "measures": len(metrics), "rates": rates, "versions": versions}


# --- in the process that gives orders


def spelled(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def bar_a() -> bool:
    answer = call("run_cubes")
    for name, rows in (("few", FEW), ("many", MANY)):
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(answer["verdicts"][name].items()))
        print(f"      {rows:>10,} rows: {verdicts}")
    ratio = 1 / show(f"{FEW:,} rows", answer["seconds"]["few"]) * show(f"{MANY:,} rows", answer["seconds"]["many"])
    return at_most(BARS["a"], "(a) everything after counting, ten million rows against 100,000", ratio)


def bars_b_and_c(chosen: list[str]) -> list[bool]:
    import peers

    program = peers.python("fairlearn")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "decisions.pickle")
        call("run_write", path)
        before, theirs, after = (
            call("run_ours", path),
            call("run_fairlearn", path, program=program),
            call("run_ours", path),
        )
    apart = max(abs(rate - before["rates"][group]) for group, rate in theirs["rates"].items())
    print(f"      the selection rates of {len(theirs['rates'])} groups agree to {apart:.1e}")
    none, some = theirs["seconds"]["none"], theirs["seconds"]["some"]
    scaled = none + (some - none) * DRAWS / BOOT
    print(f"      {spelled(theirs['versions'])}; {theirs['measures']} measures of {len(theirs['rates'])} groups")
    print(f"      fairlearn: {none:.4g} s without draws, {some:.4g} s with n_boot={BOOT}")
    print(f"      scaled to n_boot={DRAWS}: {none:.4g} + ({some:.4g} - {none:.4g}) x {DRAWS // BOOT} = {scaled:,.0f} s")
    print(
        f"      {spelled(before['versions'])}; {before['findings']} findings, {before['with_interval']} with intervals"
    )
    met = [apart < 1e-12]
    for bar, name, how in (("b", "default", "the default intervals"), ("c", "percentile", "1,000 percentile draws")):
        ours = show(name, [*before["seconds"][name], *after["seconds"][name]])
        if bar in chosen:
            said = f"({bar}) 100,000 rows with {how}, against n_boot={DRAWS}"
            met.append(at_least(BARS[bar], said, scaled / ours))
    return met


def run_write(path: str) -> None:
    make_frame(FEW).to_pickle(path)


def main(chosen: list[str]) -> int:
    machine()
    chosen = chosen or list(BARS)
    met = [bar_a()] if "a" in chosen else []
    if {"b", "c"} & set(chosen):
        met += bars_b_and_c(chosen)
    return conclude(met)


if __name__ == "__main__":
    start(main, globals())
