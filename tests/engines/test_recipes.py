"""The recipes for engines are run as they stand on their page, on the clusters and the server of these tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import evenhand as eh
import examples
from conftest import ROOT
from engines.checks import same

pytestmark = pytest.mark.filterwarnings("default")  # the engines warn of themselves

PAGE = (ROOT / "docs" / "cookbook" / "engines.md").read_text(encoding="utf-8")
LEFT_TO_US = {
    library: next(block.source for block in examples.blocks(PAGE) if block.not_run and library in block.source)
    for library in ("postgresql", "pyspark", "dask")
}


def test_every_recipe_that_the_page_does_not_run_is_run_here():
    assert sum(block.not_run is not None for block in examples.blocks(PAGE)) == len(LEFT_TO_US)
    assert len(set(LEFT_TO_US.values())) == len(LEFT_TO_US)


def ran(library: str, folder: Path) -> dict[str, Any]:
    """The names that a recipe in Python leaves behind; its folder `decisions` is this one."""
    assert '"decisions"' in LEFT_TO_US[library]
    source = LEFT_TO_US[library].replace('"decisions"', repr(str(folder)))  # Spark keeps the folder it was started in
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, f"<the recipe for {library}>", "exec"), names)
    return names


def wanted(table: pa.Table) -> eh.Cube:
    return eh.Cube.count(table, label="y", prediction="approved", sensitive=["race", "sex"])


def test_spark(spark, parts: Path, table: pa.Table, capsys: pytest.CaptureFixture[str]):
    found = ran("pyspark", parts)
    assert found["spark"] is spark, "the session that is under way"
    same(found["cube"], wanted(table))
    assert capsys.readouterr().out.startswith("Verdict: ")


def test_dask(dask, parts: Path, table: pa.Table, capsys: pytest.CaptureFixture[str]):
    same(ran("dask", parts)["cube"], wanted(table))
    assert capsys.readouterr().out.startswith("Verdict: ")


def test_postgresql(postgres, table: pa.Table, tmp_path: Path):
    (shown,) = (word for word in LEFT_TO_US["postgresql"].split() if word.startswith("EVENHAND_DATABASE="))
    recipe = LEFT_TO_US["postgresql"].replace(shown, f"EVENHAND_DATABASE={postgres.url}")
    script = "\n".join(command for _, command in examples.typed(recipe) if command)
    paths = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": "200",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    roles = {"label": "y", "prediction": "approved", "sensitive": "sex", "metrics": ["equal_opportunity"]}
    expected = eh.audit(table, **roles)
    assert done.returncode == {"pass": 0, "fail": 1, "inconclusive": 3}[expected.verdict], done.stderr
    assert done.stdout.startswith(f"Verdict: {expected.verdict}")
    assert f"{table.num_rows:,} people" in done.stdout
