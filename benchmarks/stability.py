"""Stability of replicas: against Virny, against plain passes over the array, against a bare joblib loop.

    python benchmarks/stability.py                 bars (a) to (c), about two minutes, most of it Virny's
    python benchmarks/stability.py b               only this
    python benchmarks/stability.py --coverage      how often the intervals hold the true gap, some minutes
    python benchmarks/stability.py --coverage 60   with so many ensembles for each setting

(a) Every dimension of 50 replicas and 10,000 people, of everyone and of five groups: at least 200 x faster than Virny
    0.6.0 takes for the numbers of everyone alone (count_prediction_metrics), from the same predictions. Virny has no
    intervals; how long they and their verdicts take is shown too, and as a floor two plain passes as in (b). The
    numbers of both are compared.
(b) Every dimension of 200 replicas and 100,000 people, without intervals: at most 12 x two plain passes of numpy over
    the array (the mean and the standard deviation of each person), and at most 1.5 GB for the whole process.
(c) Fitting 50 replicas of a logistic regression: at most 1.1 x a bare joblib loop that does the same fits.

Coverage: ensembles whose true gap is known. Replicas are logistic models with random coefficients, so that all people
move with a replica; in some settings the groups also move by themselves. Truths are means over many large ensembles
with the same number of replicas. The bar: the 95 % interval of each difference and ratio holds the truth in at least
92 % of ensembles, in every setting. Where one is held in fewer than 94 %, more ensembles are drawn, because it may be
chance. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from running import alternate, at_least, at_most, call, check, conclude, machine, show, start

SEED = 20240229
SIZES = {"a": (50, 10_000), "b": (200, 100_000)}
ROUNDS = {"b": 7, "c": 5}
BARS = {"a": 200.0, "b": 12.0, "b memory": 1536.0, "c": 1.1}
NAMES = {
    "Label_Stability": "label_stability",
    "Jitter": "jitter",
    "Std": "std",
    "IQR": "iqr",
    "Mean_Prediction": "mean_prediction",
    "Statistical_Bias": "statistical_bias",
    "Overall_Uncertainty": "overall_uncertainty",
    "Aleatoric_Uncertainty": "aleatoric_uncertainty",
    "Epistemic_Uncertainty": "epistemic_uncertainty",
}
REPLICAS = 50


def make(replicas: int, people: int, kind: Any) -> tuple[Any, Any, Any]:
    """Probabilities of replicas that scatter around each person's own, labels, and five groups."""
    random = np.random.default_rng(SEED)
    p = np.clip(random.beta(2, 3, people) + random.normal(0, 0.1, (replicas, people)), 0.001, 0.999).astype(kind)
    label = (random.random(people) < p.mean(axis=0)).astype(np.int64)
    return p, label, np.array(list("abcde"))[random.integers(0, 5, people)]


# --- in the processes that are measured


def run_virny(path: str) -> dict[str, Any]:
    """In Virny's own environment, where there is no evenhand. It takes P(Y=0)."""
    from virny.utils.stability_utils import count_prediction_metrics

    held = np.load(path)
    count_prediction_metrics(held["label"][:20], 1 - held["p"][:, :20])
    start = time.perf_counter()
    _, found = count_prediction_metrics(held["label"], 1 - held["p"])
    seconds = time.perf_counter() - start
    return {"seconds": [seconds], "values": {name: float(value) for name, value in found.items()}}


def run_ours(path: str) -> dict[str, Any]:
    import evenhand as eh

    held = np.load(path)
    p, label, group = held["p"], held["label"], held["group"]

    def values() -> Any:
        return eh.stability(p, label=label, sensitive=group, intervals=False)

    def intervals() -> Any:
        return eh.stability(p, label=label, sensitive=group)

    def passes() -> Any:
        return p.mean(axis=0), p.std(axis=0, ddof=1)

    numbers = {name: intervals().overall[ours].value for name, ours in NAMES.items()}
    return {**alternate(9, values=values, intervals=intervals, passes=passes), "numbers": numbers}


def run_passes() -> dict[str, Any]:
    import evenhand as eh

    p, label, group = make(*SIZES["b"], np.float32)

    def passes() -> Any:
        return p.mean(axis=0), p.std(axis=0, ddof=1)

    def ours() -> Any:
        return eh.stability(p, label=label, sensitive=group, intervals=False)

    apart = float(np.abs(ours().people["std"] - passes()[1]).max())
    return {**alternate(ROUNDS["b"], passes=passes, ours=ours), "apart": apart}


def run_memory() -> float:
    """The largest resident memory of a process that makes the array and measures it, in MB."""
    import resource

    import evenhand as eh

    replicas, people = SIZES["b"]
    p = np.empty((replicas, people), dtype=np.float32)
    random = np.random.default_rng(SEED)
    for row in p:
        row[:] = random.random(people)
    eh.stability(p, sensitive=random.integers(0, 5, people), intervals=False)
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def bare(X: Any, y: Any, X_test: Any, seed: int) -> Any:
    """What anybody would write."""
    from sklearn.linear_model import LogisticRegression

    rows = np.random.default_rng(seed).integers(0, len(y), int(0.8 * len(y)))
    model = LogisticRegression(random_state=seed).fit(X[rows], y[rows])
    return model.predict_proba(X_test)[:, 1].astype(np.float32)


def run_fitting() -> dict[str, Any]:
    from joblib import Parallel, delayed
    from sklearn.linear_model import LogisticRegression

    import evenhand as eh

    random = np.random.default_rng(SEED)
    X, X_test = random.normal(size=(20_000, 20)), random.normal(size=(10_000, 20))
    y = (random.random(len(X)) < 1 / (1 + np.exp(-X[:, :5].sum(axis=1)))).astype(int)
    seeds = eh.replicate(LogisticRegression(), X[:50], y[:50], X_test[:5], n_replicas=REPLICAS, n_jobs=1).seeds

    def ours() -> Any:
        return eh.replicate(LogisticRegression(), X, y, X_test, n_replicas=REPLICAS).values

    def loop() -> Any:
        return np.stack(Parallel(n_jobs=-1)(delayed(bare)(X, y, X_test, seed) for seed in seeds))

    same = bool((ours() == loop()).all())
    return {**alternate(ROUNDS["c"], loop=loop, ours=ours), "same": same}


# --- coverage


@dataclass(frozen=True)
class Setting:
    """People of each group, replicas, where groups stand, and how far replicas move all and each group by itself."""

    sizes: tuple[int, ...]
    replicas: int
    shifts: tuple[float, ...]
    scale: float
    own: float = 0.0

    def __str__(self) -> str:
        return f"{'/'.join(map(str, self.sizes))} people, {self.replicas} replicas, ±{self.scale:g}, own ±{self.own:g}"

    def draw(self, random: np.random.Generator, sizes: tuple[int, ...] | None = None) -> tuple[Any, Any, Any]:
        """An ensemble of logistic models with random coefficients, labels from the true model, and the groups."""
        group = np.repeat(np.arange(len(self.sizes)), sizes or self.sizes)
        x = random.normal(size=(len(group), 5))
        x[:, 0] += np.array(self.shifts)[group]
        beta = np.linspace(1.0, 0.2, 5)
        logits = (beta + self.scale * random.normal(size=(self.replicas, 5))) @ x.T
        logits += (self.own * random.normal(size=(self.replicas, len(self.sizes))))[:, group]
        label = (random.random(len(group)) < 1 / (1 + np.exp(-x @ beta))).astype(np.int64)
        return 1 / (1 + np.exp(-logits)), label, group


SETTINGS = (
    Setting((300, 300), 20, (0.0, 1.0), 0.3),
    Setting((300, 300), 20, (0.0, 1.0), 0.3, 0.5),
    Setting((2000, 2000), 20, (0.0, 1.0), 0.5),
    Setting((2000, 2000), 10, (0.0, 1.0), 0.5),
    Setting((1000, 60), 50, (0.0, 0.8), 0.3),
    Setting((1000, 30), 20, (0.0, 1.5), 0.2),
    Setting((400, 400), 5, (0.0, 1.0), 0.3),
    Setting((300, 200, 100, 60), 20, (0.0, 0.5, 1.0, 1.5), 0.3, 0.2),
    Setting((200, 200, 200), 30, (0.0, 0.0, 0.0), 0.3),
)
ENSEMBLES, TRUTHS, LARGE = 300, 300, 4000
COVERAGE, DOUBTFUL, MOST_ROUNDS = 0.92, 0.94, 3


def truth(setting: Setting) -> dict[str, Any]:
    """The mean of each dimension in each group, over many large ensembles."""
    from evenhand.replicas import dimensions

    random = np.random.default_rng(SEED + 1)
    found: dict[str, list[Any]] = {name: [] for name in dimensions.DIMENSIONS}
    for _ in range(TRUTHS):
        p, label, group = setting.draw(random, (LARGE,) * len(setting.sizes))
        for name, values in dimensions.measure(p, label.astype(float)).people.items():
            found[name].append([values[group == i].mean() for i in range(len(setting.sizes))])
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def cover(task: tuple[Setting, int, int]) -> Counter[tuple[str, str]]:
    """How many intervals of how many ensembles hold the truth, by dimension and kind."""
    import evenhand as eh

    setting, start, count = task
    true = truth(setting)
    policy = eh.Policy(thresholds=dict.fromkeys(eh.replicafindings.STABILITY), reference=None)
    reference = "0" if len(setting.sizes) == 2 else None
    held: Counter[tuple[str, str]] = Counter()
    for i in range(start, start + count):
        p, label, group = setting.draw(np.random.default_rng([SEED, i]))
        found = eh.stability(p, label=label, sensitive=group, reference=reference, policy=policy)
        for one in found.findings:
            values = true[one.rows[0].measure]
            gap = values[1] - values[0] if reference else values.max() - values.min()
            ratio = values[1] / values[0] if reference else values.min() / values.max()
            for kind, estimate, exact in (("difference", one.difference, gap), ("ratio", one.ratio, ratio)):
                held[one.metric, kind] += estimate.low <= exact <= estimate.high
    return held


def coverage(ensembles: int) -> int:
    workers = os.cpu_count() or 1
    least = 1.0
    with ProcessPoolExecutor(workers) as pool:
        for setting in SETTINGS:
            held: Counter[tuple[str, str]] = Counter()
            for drawn in range(ensembles, (MOST_ROUNDS + 1) * ensembles, ensembles):
                shares = [ensembles // workers + (i < ensembles % workers) for i in range(workers)]
                starts = [drawn - ensembles + sum(shares[:i]) for i in range(workers)]
                tasks = [(setting, start, share) for start, share in zip(starts, shares, strict=True)]
                held = sum(pool.map(cover, tasks), held)
                rates = {key: count / drawn for key, count in held.items()}
                worst = min(rates, key=lambda key: rates[key])
                if rates[worst] >= DOUBTFUL:
                    break
            least = min(least, rates[worst])
            mean = sum(rates.values()) / len(rates)
            print(f"{setting!s:<58} least {rates[worst]:.1%} ({worst[0]}, {worst[1]}), mean {mean:.1%}", flush=True)
    return conclude([at_least(100 * COVERAGE, "coverage of the 95 % intervals", 100 * least, " %")])


# --- in the process that gives orders


def bar_a(folder: Path) -> list[bool]:
    import peers

    p, label, group = make(*SIZES["a"], np.float64)
    path = str(folder / "replicas.npz")
    np.savez(path, p=p, label=label, group=group)
    theirs = call("run_virny", path, program=peers.python("virny"))
    mine = call("run_ours", path)
    virny = show("Virny, everyone", theirs["seconds"])
    show("floor, two passes", mine["passes"])
    ratio, whole = (virny / show(f"ours, {name}", mine[name]) for name in ("values", "intervals"))
    flipped = {**theirs["values"], "Mean_Prediction": 1 - theirs["values"]["Mean_Prediction"]}
    apart = max(abs(flipped[name] - mine["numbers"][name]) for name in NAMES)
    return [
        at_least(BARS["a"], f"(a) 50 x 10,000, against Virny ({whole:.0f} x with intervals)", ratio),
        check(f"(a) {len(NAMES)} numbers are the same, to {apart:.0e}", apart < 1e-9),
    ]


def bar_b(_folder: Path) -> list[bool]:
    answer = call("run_passes")
    ratio = show("ours", answer["ours"]) / show("two plain passes", answer["passes"])
    memory = [call("run_memory") for _ in range(3)]
    show("whole process", memory, "MB")
    return [
        at_most(BARS["b"], "(b) 200 x 100,000, against two plain passes", ratio),
        at_most(BARS["b memory"], "(b) largest resident memory", max(memory), " MB"),
        check(f"(b) the deviations are the same, to {answer['apart']:.0e} of float32", answer["apart"] < 1e-6),
    ]


def bar_c(_folder: Path) -> list[bool]:
    answer = call("run_fitting")
    ratio = show("ours", answer["ours"]) / show("bare joblib loop", answer["loop"])
    return [
        at_most(BARS["c"], f"(c) {REPLICAS} fits, against a bare joblib loop", ratio),
        check("(c) the predictions are the same", answer["same"]),
    ]


def main(chosen: list[str]) -> int:
    machine()
    if chosen[:1] == ["--coverage"]:
        return coverage(int(chosen[1]) if chosen[1:] else ENSEMBLES)
    bars = {"a": bar_a, "b": bar_b, "c": bar_c}
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or bars:
            passed += bars[name](Path(folder))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
