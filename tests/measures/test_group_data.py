"""The data of groups that measures are computed from: made when first used, and once for all metrics of an audit."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.cube.scores import ScoreTable
from evenhand.measures import MEASURES, REGRESSION_MEASURES, SCORE_MEASURES, find_measure
from evenhand.measures.group_data import GroupData

COLUMNS = {
    "label": [0, 1] * 100,
    "prediction": [0, 1, 1, 1] * 50,
    "score": np.linspace(0, 1, 200),
    "sensitive": {"g": list("ab") * 100, "h": list("xxyy") * 50},
}


@pytest.fixture
def dense_calls(monkeypatch):
    calls = []
    dense = ScoreTable.dense

    def counted(table, pairs):
        calls.append(pairs)
        return dense(table, pairs)

    monkeypatch.setattr(ScoreTable, "dense", counted)
    return calls


def test_scores_are_not_read_for_measures_of_cells(dense_calls):
    data = GroupData(eh.Cube.count(**COLUMNS))
    for measure in MEASURES.values():
        measure.values(data, measure.spread(data))
    assert dense_calls == []
    SCORE_MEASURES["auc"].spread(data)
    SCORE_MEASURES["brier_score"].spread(data)
    assert len(dense_calls) == 1


def test_an_audit_reads_the_scores_far_less_often_than_it_has_metrics(dense_calls):
    audit = eh.audit(**COLUMNS, metrics="all")
    sets = {finding.attributes for finding in audit.findings}
    assert len(audit.findings) > 30 * len(sets)
    assert len(dense_calls) < len(audit.findings) / 3


def test_the_rest_of_a_group_is_everyone_else():
    cube = eh.Cube.count(**COLUMNS)
    own, rest = GroupData(cube), GroupData(cube, "rest")
    total = own.cells.mass.sum(axis=0)
    np.testing.assert_allclose(own.cells.mass + rest.cells.mass, np.broadcast_to(total, own.cells.mass.shape))
    np.testing.assert_allclose((own.scores.n + rest.scores.n)[0], own.scores.n.sum(axis=0))


def test_a_measure_of_any_kind_is_found_by_name():
    for table in (MEASURES, SCORE_MEASURES, REGRESSION_MEASURES):
        for name, measure in table.items():
            assert find_measure(name) is measure
    assert find_measure("recall") is MEASURES["true_positive_rate"]
    own = eh.measure("lift", numerator="TP", denominator="TP FP")
    assert find_measure(own) is own
