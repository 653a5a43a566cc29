"""Trackers and the library of Hugging Face, by their own clients, in an environment of their own: `make handover`."""

from __future__ import annotations

import pytest

import evenhand as eh


@pytest.fixture
def audit() -> eh.Audit:
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    return eh.audit(eh.datasets.compas(), **roles)
