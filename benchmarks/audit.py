"""A full audit of 200 intersectional groups, from a cube: every metric on every attribute and intersection.

    python benchmarks/audit.py

200,000 decisions about people of ten races, two sexes and ten regions: seven sets of attributes, the largest of 200
groups, all metrics of decisions and labels with intervals, p-values and forecasts. The bar is 2 seconds on two cores,
the median of five; rendering it as text is measured beside it. Exits 1 when the bar is missed.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

import evenhand as eh

BAR = 2.0
ROWS, ROUNDS = 200_000, 5


def make_cube() -> eh.Cube:
    random = np.random.default_rng(0)
    data = {name: random.choice(list(values), ROWS) for name, values in (("race", "abcdefghij"), ("sex", "fm"))}
    data["region"] = random.choice(list("0123456789"), ROWS)
    data["label"] = random.integers(0, 2, ROWS)
    data["prediction"] = (random.random(ROWS) < 0.4 + 0.1 * (data["race"] == "a")).astype(int)
    return eh.Cube.count(data, label="label", prediction="prediction", sensitive=["race", "sex", "region"])


def main() -> int:
    cube = make_cube()
    audit = cube.audit(metrics="all")  # imports and caches
    audits, texts = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        audit = cube.audit(metrics="all")
        middle = time.perf_counter()
        str(audit)
        audits.append(middle - start)
        texts.append(time.perf_counter() - middle)
    took = statistics.median(audits)
    print(f"{len(audit.findings)} findings on {len(cube.groups)} groups: {took:.2f} s (bar {BAR:g} s)")
    print(f"as text: {statistics.median(texts):.2f} s")
    return 0 if took <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
