"""Counterfactual audits: against the least work there is, the model's own predictions and the fits of the mechanisms.

    python benchmarks/counterfactual.py            every bar, under a minute
    python benchmarks/counterfactual.py fairness   only this

20,000 people, an attribute of eight groups and one of two, two scores that both attributes cause, and a linear
regression of scikit-learn on these scores in pandas.

(fairness)  `counterfactual_fairness` with 50 refits, moved between eight groups and between two, with verdict, split of
    the gap, confounder and residual checks: at most 6 x. The floor searches for no confounder and checks nothing.
(flip)  `flip_test` of the eight groups: at most 6 x.
(decompose)  `decompose` of the model's predictions and of a node, with 50 refits: at most 3 x.

The floor asks the model for everyone as they are and in each group, and for 5,000 people in each group after every
refit, from tables that are ready; and for every refit draws rows from a matrix that is ready, and solves the normal
equations of each mechanism. What is compared alternates in one process, matrix products take one thread, and medians of
processor time are compared. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from running import at_most, call, check, conclude, machine, show, start

SEED = 20240229
PEOPLE, FEW, REFITS, ROUNDS = 20_000, 5_000, 50, 5
GROUPS = "ABCDEFGH"
GRAPH = "race -> {LSAT UGPA}; sex -> {LSAT UGPA}"
BARS = {"fairness": 6.0, "flip": 6.0, "decompose": 3.0}


# --- in the process that is measured


def make() -> Any:
    """People whose scores follow from two attributes."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(SEED)
    race = random.choice(len(GROUPS), PEOPLE, p=np.array([8, 4, 2, 1, 1, 1, 1, 1]) / 19)
    sex = random.integers(0, 2, PEOPLE)
    lsat = 36 - 0.8 * race + 0.5 * sex + random.normal(0, 5, PEOPLE)
    ugpa = 3.2 - 0.05 * race - 0.1 * sex + random.normal(0, 0.4, PEOPLE)
    grade = 0.03 * lsat + 0.2 * ugpa - 0.05 * race + random.normal(0, 0.9, PEOPLE)
    text = {"race": np.array(list(GROUPS))[race], "sex": np.array(["female", "male"])[sex]}
    return pd.DataFrame({**text, "LSAT": lsat, "UGPA": ugpa, "ZFYA": grade})


class Floor:
    """Predictions from tables that are ready, and least squares from matrices that are ready."""

    def __init__(self, rows: Any, model: Any) -> None:
        import numpy as np

        self.model, self.everyone = model, rows[["LSAT", "UGPA"]]
        self.few = self.everyone.iloc[:FEW]
        dummies = [rows["race"].to_numpy() == name for name in GROUPS[1:]]
        columns = [np.ones(PEOPLE), *dummies, rows["sex"] == "male"]
        self.causes = np.column_stack(columns).astype(float)
        self.effects = rows[["LSAT", "UGPA", "ZFYA"]].to_numpy()
        self.random = np.random.default_rng(SEED)

    def predict(self, everyone: int, few: int) -> None:
        for _ in range(everyone):
            self.model.predict(self.everyone)
        for _ in range(few):
            self.model.predict(self.few)

    def fit(self, *effects: int) -> list[Any]:
        return [_least_squares(self.causes, self.effects[:, effect]) for effect in effects]

    def refit(self, *effects: int) -> None:
        for random in self.random.spawn(REFITS):
            drawn = random.integers(0, PEOPLE, PEOPLE)
            causes, values = self.causes[drawn], self.effects[drawn]
            for effect in effects:
                _least_squares(causes, values[:, effect])

    def fairness(self, groups: int) -> None:
        self.predict(1 + groups, REFITS * groups)
        self.refit(0, 1)

    def decompose(self, node: bool) -> None:
        self.predict(0 if node else 3, 0 if node else REFITS)
        self.refit(*((0, 1, 2) if node else (0, 1)))

    def largest_change(self) -> float:
        """The largest change of a prediction between two groups, which is the same for everyone in a linear model."""
        import numpy as np

        by_race = np.column_stack([[0.0, *found[1 : len(GROUPS)]] for found in self.fit(0, 1)]) @ self.model.coef_
        return float(by_race.max() - by_race.min())


def _least_squares(matrix: Any, values: Any) -> Any:
    import numpy as np

    return np.linalg.solve(matrix.T @ matrix, matrix.T @ values)


def run_audits() -> dict[str, Any]:
    from sklearn.linear_model import LinearRegression
    from threadpoolctl import threadpool_limits

    import evenhand as eh

    rows = make()
    model = LinearRegression().fit(rows[["LSAT", "UGPA"]], rows["ZFYA"])
    causal = eh.CausalModel(GRAPH).fit(rows)
    outcome = eh.CausalModel(f"{GRAPH}; {{race sex LSAT UGPA}} -> ZFYA").fit(rows)
    floor = Floor(rows, model)

    def fairness(sensitive: str) -> Any:
        return eh.counterfactual_fairness(model, rows, causal, sensitive=sensitive, threshold=0.0, refits=REFITS)

    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "fairness, eight groups": (partial(fairness, "race"), partial(floor.fairness, 8)),
        "fairness, two groups": (partial(fairness, "sex"), partial(floor.fairness, 2)),
        "flip": (lambda: eh.flip_test(model, rows, sensitive="race"), lambda: floor.predict(9, 0)),
        "decompose, predictions": (
            lambda: eh.decompose(model, rows, causal, sensitive="race", refits=REFITS),
            lambda: floor.decompose(node=False),
        ),
        "decompose, a node": (
            lambda: eh.decompose("ZFYA", rows, outcome, sensitive="race", refits=REFITS),
            lambda: floor.decompose(node=True),
        ),
    }
    with threadpool_limits(1):
        apart = abs(fairness("race").value.value - floor.largest_change())
        times = {name: _alternate(*pair) for name, pair in pairs.items()}
    return {"apart": apart, "times": times}


def _alternate(ours: Callable[[], Any], floor: Callable[[], Any]) -> dict[str, list[float]]:
    """Seconds of the processor, one after the other in every round; the first round warms up and is not counted."""
    seconds: dict[str, list[float]] = {"ours": [], "floor": []}
    for i in range(ROUNDS + 1):
        for name, function in (("ours", ours), ("floor", floor)):
            begun = time.process_time()
            function()
            if i:
                seconds[name].append(time.process_time() - begun)
    return seconds


# --- in the process that gives orders


def main(chosen: list[str]) -> int:
    machine("sklearn")
    answer = call("run_audits")
    passed = []
    for name, seconds in answer["times"].items():
        bar = name.partition(",")[0]
        if bar in (chosen or BARS):
            ratio = show(f"{name}: ours", seconds["ours"]) / show(f"{name}: floor", seconds["floor"])
            passed.append(at_most(BARS[bar], f"({name}) against predictions and fits alone, processor time", ratio))
    passed.append(check(f"the largest change is the same by hand, to {answer['apart']:.0e}", answer["apart"] < 1e-9))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
