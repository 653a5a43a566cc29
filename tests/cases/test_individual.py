"""peers.json: the consistency that AIF360 finds on real data, and what we do."""

from __future__ import annotations

import pytest

import evenhand as eh
from support import cases

CASES = [case for case in cases.load("peers") if case["metric"] == "consistency_score"]


@cases.parametrize(CASES)
def test_consistency_is_that_of_aif360(case):
    found = eh.consistency(
        cases.frame(case["file"]),
        prediction=case["prediction"],
        features=case["params"]["features"],
        k=case["params"]["n_neighbors"],
        include_self=True,
    )
    assert float(found) == pytest.approx(case["expected"], rel=1e-12)


def test_there_is_something_to_agree_with():
    assert len(CASES) == 1
