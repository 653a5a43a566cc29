"""A search gives the same groups, counts and gaps, whatever engine holds the rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from engines.checks import needs
from engines.people import KINDS, LIBRARIES, people

pytestmark = pytest.mark.filterwarnings("default")  # the engines warn of themselves

WITHIN = ["race", "sex", "veteran", "region", "income"]
CALLS: dict[str, dict[str, Any]] = {
    "decisions": {"label": "y", "prediction": "approved", "metric": "equalized_odds", "threshold": 0.02},
    "scores": {"label": "y", "score": "s", "score_range": (0, 1), "metric": "calibration", "bins": 5},
}
every_call = pytest.mark.parametrize("call", CALLS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, table: Any) -> Any:
    folder: Path = tmp_path_factory.mktemp("people")
    return cache(lambda kind: KINDS[kind](table, folder))


@cache
def expected(call: str) -> eh.Finding:
    return eh.search(people().to_pandas(), within=WITHIN, draws=99, **CALLS[call])


def check(data: Any, call: str) -> None:
    found, wanted = eh.search(data, within=WITHIN, draws=99, **CALLS[call]), expected(call)
    assert found.settings == pytest.approx(wanted.settings)
    assert found.interpretation == wanted.interpretation
    assert [panel.columns for panel in found.panels] == [panel.columns for panel in wanted.panels]
    for mine, theirs in zip(found.panels, wanted.panels, strict=True):
        for row, other in zip(mine.rows, theirs.rows, strict=True):
            for cell, known in zip(row, other, strict=True):
                assert cell == (pytest.approx(known, abs=1e-9) if isinstance(known, float) else known)


@every_call
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "csv"])  # text is never cut into bands
def test_the_same_groups_without_a_server(kind, call, made):
    needs(LIBRARIES.get(kind, "evenhand"))
    check(made(kind), call)


@every_call
def test_the_same_groups_from_postgresql(postgres, call):
    import ibis

    connection = ibis.connect(postgres.url)
    check(connection.table("people"), call)
    connection.disconnect()


@every_call
def test_the_same_groups_from_spark(spark, parts, call):
    check(spark.read.parquet(str(parts)), call)


@pytest.mark.parametrize(
    ("within", "scans"), [(WITHIN[:-1], 1), ([*WITHIN[:-1], "grade"], 1)], ids=["texts", "with whole numbers"]
)
def test_a_table_is_read_once(postgres, within, scans):
    import ibis

    connection = ibis.connect(postgres.url)
    before = postgres.scans("people")
    eh.search(connection.table("people"), within=within, draws=19, label="y", prediction="approved", metric="tpr")
    connection.disconnect()
    assert postgres.scans("people") - before == scans
