"""assert_fair: a test that passes, or fails with the metrics, groups and numbers that a person needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.testing import assert_fair
from evenhand.verdicts.policy import Policy
from support import hostile


def decided(a: tuple[int, int], b: tuple[int, int]) -> dict[str, list]:
    return {
        "prediction": [1, 0, 1, 0],
        "sensitive": ["group a", "group a", "group b", "group b"],
        "count": [a[0], a[1] - a[0], b[0], b[1] - b[0]],
    }


EVEN, UNEVEN, FEW = (
    decided((1000, 2000), (1000, 2000)),
    decided((1000, 2000), (600, 2000)),
    decided((10, 20), (8, 20)),
)


def test_what_passes_gives_the_audit_back():
    found = assert_fair(**EVEN)
    assert isinstance(found, eh.Audit)
    assert found.verdict == "pass"
    assert assert_fair(found) is found


def test_a_failure_names_the_metric_the_groups_and_the_numbers():
    with pytest.raises(AssertionError) as caught:
        assert_fair(**UNEVEN)
    first, second, third, *_ = str(caught.value).splitlines()
    assert first == "the audit fails (failed: demographic_parity on sensitive)"
    assert second.startswith("- demographic_parity on sensitive: fail, difference 20.0 [")
    assert second.endswith("], threshold ≤ 10 points")
    assert third.startswith("  The selection rate is 50.0 % for group a (n = 2,000) and 30.0 % for group b (n = 2,000)")


def test_the_first_line_names_what_decides_and_the_rest_is_on_what_fails():
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    with pytest.raises(AssertionError) as caught:
        assert_fair(
            eh.datasets.compas(),
            **roles,
            metrics=["equalized_odds", "demographic_parity"],
            policy=Policy(required="equalized_odds"),
        )
    first, *rest = str(caught.value).splitlines()
    assert first == "the audit fails (failed: equalized_odds on race; passed: equalized_odds on sex)"
    assert rest[0].startswith("- equalized_odds on race: fail, ")
    assert "on sex" not in "\n".join(rest)
    assert "demographic_parity" not in "\n".join(rest)


def test_what_the_data_cannot_settle():
    with pytest.raises(
        AssertionError, match=r"the audit is inconclusive \(inconclusive: demographic_parity on sensitive\)"
    ):
        assert_fair(**FEW)
    assert assert_fair(**FEW, inconclusive="pass").verdict == "inconclusive"
    with pytest.raises(AssertionError, match="fails"):
        assert_fair(**UNEVEN, inconclusive="pass")
    with pytest.raises(CallError, match="inconclusive='maybe' must be 'fail' or 'pass'"):
        assert_fair(**FEW, inconclusive="maybe")


def test_the_policy_is_asked_first():
    assert assert_fair(**FEW, policy=Policy(inconclusive="pass")).verdict == "pass"
    header = r"fails \(inconclusive, which counts as a fail here: demographic_parity on sensitive\)"
    with pytest.raises(AssertionError, match=rf"{header}\n- .*: inconclusive, difference 10.0"):
        assert_fair(**FEW, policy=Policy(inconclusive="fail"), inconclusive="pass")


def test_nothing_judged_is_no_pass():
    table = {**EVEN, "label": [1, 0, 1, 0]}
    for given in ({}, {"inconclusive": "pass"}):
        with pytest.raises(
            AssertionError, match=r"judges nothing .theil_index decides.: require a metric with a thresh"
        ):
            assert_fair(**table, policy=Policy(required="theil_index"), **given)


def test_a_cube_and_its_arguments():
    cube = eh.Cube.count(**UNEVEN)
    with pytest.raises(AssertionError, match="fails"):
        assert_fair(cube)
    assert assert_fair(cube, policy=Policy(thresholds={"demographic_parity": 0.3})).verdict == "pass"


def test_a_wrong_call_is_no_failure():
    with pytest.raises(CallError, match="an Audit takes no further arguments; leave out 'label'"):
        assert_fair(eh.audit(**EVEN), label="y")
    with pytest.raises(DataError, match=r"nothing\.csv"):
        assert_fair("nothing.csv", prediction="d", sensitive="g")


@hostile.every_name
def test_hostile_names(name):
    table = {**UNEVEN, "sensitive": [name, name, "other people", "other people"]}
    with pytest.raises(AssertionError) as caught:
        assert_fair(**table)
    assert hostile.unseen(str(caught.value)) == set()
    assert "30.0 % for other people" in str(caught.value)


def test_pytest_shows_the_message_and_not_our_code(tmp_path):
    (tmp_path / "test_model.py").write_text(
        f"from evenhand.testing import assert_fair\ndef test_decisions():\n    assert_fair(**{UNEVEN!r})\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "E       AssertionError: the audit fails (failed: demographic_parity on sensitive)" in done.stdout
    assert "raise AssertionError" not in done.stdout
