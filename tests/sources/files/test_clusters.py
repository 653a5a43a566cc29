"""Clusters of rows in files: the cube of the same rows in memory, whatever the batches; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand import Cube
from evenhand.errors import DataError
from evenhand.sources.files import FileSource, clusters

ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["g", "s"], "cluster": "c"}
CALLS: dict[str, dict[str, Any]] = {
    "decisions": {},
    "weights": {"weight": "w", "design_strata": "h"},
    "counts in strata": {"count": "times", "control": "h"},
    "a cutoff": {"prediction": None, "score": "r", "cutoff": 0.4},
    "dropped groups": {"missing": "drop", "na": "b"},
    "numbers cut by us": {"sensitive": ["age", "g"], "bands": {"age": [18, 40, 60, 80]}},
    "classes": {"task": "multiclass", "label": "p", "prediction": "k"},
    "a regressor": {"task": "regression", "label": "age", "prediction": "r", "bands": {"age": [18, 40, 80]}},
}


def people(rows: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = pd.Series(rng.integers(0, 2, rows), dtype="Int64").mask(rng.random(rows) < 0.1)
    return pd.DataFrame(
        {
            "y": y,
            "p": rng.integers(0, 2, rows),
            "k": rng.integers(0, 3, rows),
            "g": pd.Series(rng.choice(["a", "b", "ć"], rows)).mask(rng.random(rows) < 0.1),
            "s": rng.choice(["f", "m"], rows),
            "c": rng.integers(0, 90, rows),
            "h": rng.choice(["u", "v"], rows),
            "w": rng.choice([0.0, 0.5, 2.5], rows),
            "times": rng.integers(0, 4, rows),
            "r": rng.random(rows),
            "age": rng.integers(18, 80, rows),
        }
    )


def written(frame: pd.DataFrame, folder: Path, kind: str) -> Path:
    path = folder / f"people.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text(
            "\n".join(json.dumps(row) for row in frame.astype(object).where(frame.notna(), None).to_dict("records"))
        )
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("call", CALLS)
def test_the_cube_of_the_same_rows_in_memory(tmp_path: Path, kind: str, call: str) -> None:
    frame, roles = people(), {**ROLES, **CALLS[call]}
    found, wanted = Cube.count(written(frame, tmp_path, kind), **roles), Cube.count(frame, **roles)
    assert found.clusters is not None
    assert found.clusters.same(wanted.clusters)
    assert found == wanted


def test_text_and_numbers_that_name_clusters(tmp_path: Path) -> None:
    frame = people()
    wanted = Cube.count(frame, **ROLES)
    for kind in ("csv", "parquet"):
        text = frame.assign(c=[f"{c:05d}" for c in frame["c"]])
        assert Cube.count(written(text, tmp_path, kind), **ROLES) == wanted


@pytest.mark.parametrize("batch", [7, 100])
def test_batches_of_whole_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    """Few batches each look at all lines; many look at sorted ones."""
    frame, roles = people(), {**ROLES, "design_strata": "h", "weight": "w"}
    monkeypatch.setattr(clusters, "BATCH", batch)
    assert Cube.count(written(frame, tmp_path, "parquet"), **roles) == Cube.count(frame, **roles)


def test_the_rows_are_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked, run = written(people(), tmp_path, "parquet"), [], FileSource._run

    def watched(self: FileSource, sql: str, *rest: Any, **named: Any) -> Any:
        asked.append(sql.count(self.table.relation) if hasattr(self, "table") else 0)
        return run(self, sql, *rest, **named)

    monkeypatch.setattr(FileSource, "_run", watched)
    Cube.count(path, **ROLES, design_strata="h", weight="w", task="binary")
    assert sum(asked) == 2


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("role", "message"),
    [
        ("cluster", r"cluster column 'c' is missing in 3 rows: give each of them a cluster of its own"),
        ("design_strata", r"design_strata column 'h' is missing in 3 rows: give them a stratum"),
    ],
)
def test_rows_without_a_cluster_or_a_stratum(tmp_path: Path, kind: str, role: str, message: str) -> None:
    frame = people().astype({"c": object, "h": object})
    frame.loc[frame.index[:2], "c" if role == "cluster" else "h"] = None
    frame.loc[frame.index[2], "c" if role == "cluster" else "h"] = "" if role == "design_strata" else None
    with pytest.raises(DataError, match=message):
        Cube.count(written(frame.astype({"c": "Int64"}), tmp_path, kind), **ROLES, design_strata="h")


def test_values_that_mean_missing(tmp_path: Path) -> None:
    frame = people().assign(c=lambda each: each["c"].where(each["c"] > 0, -9))
    for kind in ("csv", "parquet"):
        with pytest.raises(DataError, match="cluster column 'c' is missing in"):
            Cube.count(written(frame, tmp_path, kind), **ROLES, na=[-9])


def test_one_cluster_only(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="all rows belong to one cluster of 'c'"):
        Cube.count(written(people().assign(c=1), tmp_path, "parquet"), **ROLES)
