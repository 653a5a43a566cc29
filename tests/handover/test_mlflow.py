"""What log() writes to MLflow is what MLflow's own client reads from a store on disk."""

from __future__ import annotations

from pathlib import Path

import mlflow
from mlflow import MlflowClient

import evenhand as eh
from evenhand.report.tracking import PAGE, figures, labels


def only_run(client: MlflowClient):
    (run,) = client.search_runs([client.get_experiment_by_name("e").experiment_id])
    return run


def test_figures_tags_and_page_are_read_back(audit: eh.Audit, client: MlflowClient, tmp_path: Path):
    logged = eh.log(audit, to="mlflow")
    run = only_run(client)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == logged == figures(audit)
    odds = next(each for each in audit.findings if (each.metric, each.attributes) == ("equalized_odds", ("race",)))
    read = [run.data.metrics[f"equalized_odds.race{end}"] for end in ("", "_low", "_high")]
    assert read == [odds.value.value, odds.value.low, odds.value.high]
    assert run.data.tags["evenhand.verdict"] == audit.verdict == "fail"
    assert run.data.tags["evenhand.verdict.equalized_odds.sex"] == "pass"
    assert labels(audit).items() <= run.data.tags.items()
    page = Path(client.download_artifacts(run.info.run_id, PAGE, str(tmp_path)))
    assert '<meta name="generator" content="evenhand">' in page.read_text(encoding="utf-8")


def test_the_run_that_is_under_way_is_used_and_left_open(audit: eh.Audit, client: MlflowClient):
    with mlflow.start_run() as run:
        mlflow.log_metric("loss", 0.5)
        eh.log(audit, to="mlflow")
        assert mlflow.active_run() is not None
    found = client.get_run(run.info.run_id)
    assert found.data.metrics["loss"] == 0.5
    assert found.data.metrics["people"] == 7214
    assert only_run(client).info.run_id == run.info.run_id


def test_what_is_shared_tells_of_no_few(audit: eh.Audit, client: MlflowClient, tmp_path: Path):
    eh.log(audit, to="mlflow", share=True)
    run = only_run(client)
    assert run.data.metrics == figures(audit.shared())
    page = Path(client.download_artifacts(run.info.run_id, PAGE, str(tmp_path)))
    assert "made to be shared" in page.read_text(encoding="utf-8").lower()


def test_hostile_names_and_undefined_values(client: MlflowClient):
    name = "=cmd()|' /C </script> \x1b[31m東京" * 20
    nobody = eh.audit(prediction=[0] * 80, positive=1, sensitive={name: list("ab") * 40, name + "!": list("aabb") * 20})
    logged = eh.log(nobody, to="mlflow")
    assert only_run(client).data.metrics == logged
    assert not any(key.startswith("disparate_impact") for key in logged), "0/0 is not a number"
