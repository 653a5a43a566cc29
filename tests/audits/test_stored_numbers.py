"""Numbers that were stored before audits were made faster: `tools/stored_numbers.py` wrote them."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from support.stored_numbers import CASES, numbers

STORED = json.loads((ROOT / "tests" / "data" / "stored_numbers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_faster_audits_say_the_same(name):
    now, then = numbers(CASES[name]()), STORED[name]
    assert [metric for metric in now if metric in then] == list(then)  # metrics that are newer come besides
    # Metrics that came later are tests to correct for, too: then only corrected p-values differ.
    compared = [i for i in range(14) if i != 4 or set(now) == set(then)]
    for metric, said in then.items():
        assert (now[metric]["verdict"], now[metric]["evidence"]) == (said["verdict"], said["evidence"]), metric
        assert len(now[metric]["numbers"]) == len(said["numbers"]) == 14
        for mine, stored in ((now[metric]["numbers"][i], said["numbers"][i]) for i in compared):
            close = pytest.approx(stored, rel=1e-12, abs=1e-12) if isinstance(stored, float) else stored
            assert mine == close, metric
