"""Counts, seeds and numbers of processes: what is not one, or would run for ever, is an error with a remedy."""

from __future__ import annotations

import math
import os
from decimal import Decimal

import numpy as np
import pytest

import evenhand as eh
from evenhand.core import quantities
from evenhand.errors import CallError, DataError, Problems, on_command_line
from support.causal_cases import GRAPH, people

HUGE = 10**400
BEYOND = 10**5000  # Python does not write so many digits
NOT_WHOLE = [-1, 1.5, True, "3", math.nan, math.inf, [], {}, np.float64(2.0), b"1", object(), HUGE, BEYOND]


def problem(check, *arguments, **named):
    problems = Problems()
    check(*arguments, problems, **named)
    return "\n".join(problems.messages)


def test_a_number_is_a_float_whatever_its_size():
    assert [quantities.number(value) for value in (2, np.float32(0.5), HUGE, -HUGE)] == [2, 0.5, math.inf, -math.inf]
    assert all(math.isnan(quantities.number(value)) for value in (True, "1", None, Decimal(1), [1], 1j))


@pytest.mark.parametrize("value", NOT_WHOLE, ids=lambda value: type(value).__name__)
def test_what_is_not_a_whole_number_within_its_limits_is_a_problem(value):
    assert problem(quantities.check_whole, "draws", value, 0, 100).startswith("draws=")
    assert problem(quantities.check_seed, value).startswith("random_state=")
    assert len(problem(quantities.check_whole, "draws", value, 0, 100)) < 200


def test_whole_numbers_of_any_library_are_taken():
    for value in (0, 100, np.int8(7), np.uint64(7)):
        assert problem(quantities.check_whole, "draws", value, 0, 100) == ""


@pytest.mark.parametrize("jobs", [0, 1000, -1000, HUGE, BEYOND, 1.0, True, "2"], ids=lambda jobs: type(jobs).__name__)
def test_a_number_of_processes_has_limits(jobs):
    most = max(64, os.cpu_count() or 1)
    assert f"from 1 to {most}, or -1 for all cores" in problem(quantities.check_processes, jobs)
    with on_command_line():
        assert problem(quantities.check_processes, jobs, option="--jobs").startswith("--jobs ")


def test_usual_numbers_of_processes_are_taken():
    assert [problem(quantities.check_processes, jobs) for jobs in (None, 1, 2, -1, -2, 64)] == [""] * 6


# --- through every function that takes some

X = {"x": np.linspace(0, 1, 60)}
DECISIONS, GROUPS = np.tile([0, 1], 30), np.repeat(["a", "b"], 30)
ROWS = people(60)


def fairness(**arguments):
    return eh.counterfactual_fairness(lambda t: t["exam"], ROWS, GRAPH, sensitive="group", **arguments)


def split(**arguments):
    return eh.decompose(lambda t: t["exam"], ROWS, GRAPH, sensitive="group", **arguments)


def moved(**arguments):
    return eh.CausalModel(GRAPH).fit(ROWS).counterfactual(ROWS, do={"group": "a"}, **arguments)


def consistency(**arguments):
    return eh.consistency(X, prediction=DECISIONS, sensitive={"g": GROUPS}, **arguments)


def lipschitz(**arguments):
    return eh.lipschitz(X, score=np.linspace(0, 1, 60), sensitive={"g": GROUPS}, **arguments)


def replicate(**arguments):
    from sklearn.linear_model import LogisticRegression

    columns = np.column_stack([X["x"]])
    return eh.replicate(
        LogisticRegression(), columns, DECISIONS, columns, **{"n_replicas": 2, "n_jobs": 1, **arguments}
    )


def stability(**arguments):
    return eh.stability(np.random.default_rng(0).random((4, 60)), sensitive={"g": GROUPS}, **arguments)


def compare(**arguments):
    from sklearn.linear_model import LogisticRegression

    from evenhand.mitigate import compare

    return compare({"plain": LogisticRegression()}, np.column_stack([X["x"]]), DECISIONS, GROUPS, **arguments)


def resample(**arguments):
    from evenhand.mitigate import UniformResampler

    labels = np.where(GROUPS == "a", np.arange(60) % 3 == 0, np.arange(60) % 2 == 0).astype(int)
    return UniformResampler(**arguments).fit_resample(np.column_stack([X["x"]]), labels, sensitive=GROUPS)


SEEDED = (fairness, split, moved, consistency, lipschitz, replicate, compare, resample)
MOST = [
    *((call, {"random_state": seed}) for call in SEEDED for seed in (-1, -HUGE)),
    *((call, {"n_jobs": jobs}) for call in (fairness, split, replicate) for jobs in (0, 1000, HUGE, "2", 1.5)),
    *((call, {"refits": count}) for call in (fairness, split) for count in (10**10, HUGE, BEYOND, 1.5, None)),
    *((call, {"noise_draws": count}) for call in (fairness, split) for count in (0, 10**10, HUGE, "1")),
    *((replicate, {"n_replicas": count}) for count in (0, 1, 10**10, HUGE)),
    *((replicate, {"fraction": share}) for share in (0, HUGE, math.nan, None)),
    *((call, {"k": k}) for call in (consistency, lipschitz) for k in (0, 10**10, HUGE, BEYOND, None)),
    *((call, {"worst": count}) for call in (consistency, lipschitz) for count in (-1, 10**10, HUGE)),
    *((call, {"radius": radius}) for call in (consistency, lipschitz) for radius in (0, -1, "1", math.nan)),
    *((call, {"weights": {"x": weight}}) for call in (consistency, lipschitz) for weight in (HUGE, "1", math.nan)),
    *((lipschitz, {name: size}) for name in ("L", "epsilon") for size in (HUGE, None, "1", math.nan, -1)),
    *((call, {"min_group_size": size}) for call in (fairness, consistency, stability) for size in (0, HUGE, BEYOND)),
    *((stability, {"cutoff": cutoff}) for cutoff in (None, "0.5", HUGE, math.nan, 0, 1, True)),
    *((compare, {"cv": parts}) for parts in (0, 1, 10**10, HUGE, -1, "5")),
]
IDS = [
    f"{call.__name__}-{name}-{str(value)[:9] if value is not BEYOND else 'beyond'}"
    for call, (name, value) in ((c, next(iter(a.items()))) for c, a in MOST)
]


@pytest.mark.parametrize(("call", "arguments"), MOST, ids=IDS)
def test_a_number_that_cannot_be_meant_is_an_error_that_says_so(call, arguments):
    with pytest.raises((CallError, DataError)) as caught:
        call(**arguments)
    assert next(iter(arguments)) in str(caught.value) or "k=" in str(caught.value) or "weight" in str(caught.value)
    assert len(str(caught.value)) < 500


POLICIES = (
    fairness,
    consistency,
    lipschitz,
    stability,
    lambda **arguments: eh.flip_test(lambda t: t["exam"], ROWS, sensitive="group", **arguments),
)


@pytest.mark.parametrize(
    "call", POLICIES, ids=["counterfactual_fairness", "consistency", "lipschitz", "stability", "flip_test"]
)
def test_a_policy_is_named_as_in_an_audit(call, tmp_path):
    work = {"refits": 2} if call is fairness else {}
    eh.Policy.named("four-fifths").save(tmp_path / "p.toml")
    by_object = call(policy=eh.Policy.named("four-fifths"), **work)
    for policy in ("four-fifths", tmp_path / "p.toml", str(tmp_path / "p.toml")):
        found = call(policy=policy, **work)
        assert repr(getattr(found, "findings", found)) == repr(getattr(by_object, "findings", by_object))
    for wrong, told in (("fourfifths", "did you mean 'four-fifths'"), (3, "must be a Policy"), ("no.toml", "no.toml")):
        with pytest.raises(eh.EvenhandError, match=told):
            call(policy=wrong, **work)


def test_the_reference_of_a_policy_is_that_of_consistency():
    named = consistency(reference="a")
    by_policy = consistency(policy=eh.Policy(reference="a"))
    assert by_policy.value == named.value
    assert by_policy.evidence.against == "a"
