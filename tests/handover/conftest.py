"""Trackers and the library of Hugging Face, by their own clients, in an environment of their own: `make handover`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh


@pytest.fixture
def audit() -> eh.Audit:
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    return eh.audit(eh.datasets.compas(), **roles)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    """A client of MLflow, with a store on disk that the experiment `e` is kept in."""
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("e", artifact_location=(tmp_path / "files").as_uri()))
    yield mlflow.MlflowClient()
    mlflow.end_run()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Weights & Biases writes its runs, without a network."""
    import wandb

    for name, value in {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "WANDB_SILENT": "true"}.items():
        monkeypatch.setenv(name, value)
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    yield tmp_path
    wandb.teardown()
