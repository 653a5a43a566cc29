"""Numbers from elsewhere that we agree with: how the files beside the checkout are read, each once a session.

A test module that loads cases is skipped as a whole, with the reason, where ../shared is absent.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pandas as pd
import pytest

import evenhand as eh
from conftest import ROOT, require

SHARED = ROOT.parent / "shared"

Case = dict[str, Any]


def load(name: str) -> list[Case]:
    """The cases of one file, in the order of the file."""
    path = SHARED / "cases" / f"{name}.json"
    require("shared", path.is_file(), "there is no ../shared/cases beside the checkout")
    return json.loads(path.read_text(encoding="utf-8"))


def parametrize(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


@cache
def frame(name: str) -> pd.DataFrame:
    """A data file; the cases spell groups as text, so a CSV field that says NA stays a name."""
    path = SHARED / "data" / name
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def table(label: Any, prediction: Any, sensitive: Any = None, **roles: Any) -> eh.Cube:
    """A cube of plain lists; without a sensitive attribute everyone is one group."""
    everyone = ["everyone"] * len(prediction)
    return eh.Cube.count(
        label=label, prediction=prediction, sensitive=everyone if sensitive is None else sensitive, **roles
    )


def everyone(cube: eh.Cube) -> eh.Cube:
    """The cube of all groups as one (in each stratum)."""
    return cube.marginal(())


def values(cube: eh.Cube, measure: str) -> dict[str, float]:
    """One measure by group; strata come first, and parts are joined by a bar: "H|A"."""
    (numbers,) = cube.measures([measure]).values()
    names = ["|".join(str(part) for part in (*stratum, *group)) for stratum, group in cube.pairs]
    return dict(zip(names, map(float, numbers), strict=True))


def counts(cube: eh.Cube) -> dict[str, dict[str, int]]:
    """The confusion counts of each group, and the sums that other tools name: pp, pn."""
    found = {}
    for (_, group), row in zip(cube.pairs, cube.counts.tolist(), strict=True):
        tn, fp, fn, tp = row[:4]
        found["|".join(map(str, group))] = {"tn": tn, "fp": fp, "fn": fn, "tp": tp, "pp": fp + tp, "pn": tn + fn}
    return found


def same(expected: Any, rel: float = 1e-9, **tolerance: float) -> Any:
    return pytest.approx(expected, rel=rel, **({"abs": 1e-12} | tolerance))


def undefined(value: object) -> bool:
    return math.isnan(float(value))  # type: ignore[arg-type]
