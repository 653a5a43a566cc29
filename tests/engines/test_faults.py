"""A task that fails and is run again, and a worker that is killed in the middle: no number changes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pandas as pd
import pytest

from engines.checks import check

pytestmark = pytest.mark.filterwarnings("default")


def test_a_spark_task_that_fails_is_run_again(spark, parts, tmp_path):
    marks = str(tmp_path)

    def fail_once(batches):
        import os

        from pyspark import TaskContext

        task = TaskContext.get()
        seen = 0
        for batch in batches:
            seen += batch.num_rows
            yield batch  # some rows of the failing attempt have been handed on by then
        if task.partitionId() == 0 and task.attemptNumber() == 0:
            open(os.path.join(marks, f"failed-after-{seen}"), "w").close()
            raise OSError("the disk of this worker is gone")

    frame = spark.read.parquet(str(parts))
    check(frame.mapInArrow(fail_once, frame.schema), "scores")
    (mark,) = tmp_path.iterdir()
    assert int(mark.name.rpartition("-")[2]) > 0


def test_a_dask_worker_that_is_killed_in_the_middle(dask, parts, tmp_path):
    import dask.dataframe as dd

    read = _Killing(parts, tmp_path / "killed")
    workers = set(dask.scheduler_info()["workers"])
    check(dd.from_map(read, range(8), meta=read.meta), "scores")
    assert read.mark.exists()
    assert set(dask.scheduler_info()["workers"]) != workers  # a new one stands in its place


class _Killing:
    """Partitions; whoever reads the sixth for the first time dies without a word."""

    def __init__(self, parts: Path, mark: Path) -> None:
        self.parts, self.mark = parts, mark
        self.meta = pd.read_parquet(parts / "part-0.parquet").head(0)

    def __call__(self, i: int) -> pd.DataFrame:
        if i == 5 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return pd.read_parquet(self.parts / f"part-{i}.parquet")
