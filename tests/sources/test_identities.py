"""The hint that rows may belong together: quiet unless a column looks like an identity with repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.sources.identities import repeated_identity

VISITS = {
    "patient_id": [i // 4 for i in range(400)],
    "group": ["a", "b"] * 200,
    "treated": np.random.default_rng(0).integers(0, 2, 400).tolist(),
}
ROLES = {"prediction": "treated", "sensitive": "group"}
NOTE = "column 'patient_id' repeats: if its rows belong together, name it with cluster=."


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_note_on_an_identity_with_repeats(kind: Any) -> None:
    assert NOTE in eh.audit(kind(VISITS), **ROLES).notes


@pytest.mark.parametrize("name", ["id", "customer", "user_id", "personId", "candidate", "PatientID", "prompt_id"])
def test_names_of_identities(name: str) -> None:
    assert repeated_identity({name: VISITS["patient_id"]}, {}) is not None


@pytest.mark.parametrize("name", ["paid", "valid", "race", "age", "grid", "treated", "candidates_seen"])
def test_other_names(name: str) -> None:
    assert repeated_identity({name: VISITS["patient_id"]}, {}) is None


@pytest.mark.parametrize(
    ("change", "roles"),
    [
        ({}, {"cluster": "patient_id"}),
        ({"patient_id": list(range(400))}, {}),
        ({"patient_id": [i % 5 for i in range(400)]}, {}),
        ({"patient_id": ["x"] * 400}, {}),
    ],
)
def test_no_note(change: dict[str, Any], roles: dict[str, Any]) -> None:
    found = eh.audit({**VISITS, **change}, **ROLES, **roles)
    assert not any("repeats" in note for note in found.notes)


def test_a_column_that_has_a_role_is_not_noted() -> None:
    assert repeated_identity(VISITS, {"control": ["patient_id"]}) is None
    assert repeated_identity(VISITS, {"control": "patient_id"}) is None


@pytest.mark.parametrize("data", [None, "people.csv", [VISITS], pl.DataFrame(VISITS).lazy(), iter([VISITS]), 7])
def test_only_tables_in_memory_are_looked_at(data: Any) -> None:
    assert repeated_identity(data, {}) is None


def test_the_cube_does_not_know_of_it() -> None:
    assert eh.Cube.count(VISITS, **ROLES).notes == ()
