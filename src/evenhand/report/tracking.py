"""log(): hand an audit over to a tracker of experiments, as figures, tags and a page."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.audits.audit import Audit
from evenhand.core.arguments import checked
from evenhand.core.version import __version__
from evenhand.errors import CallError, MissingDependencyError, check_kind, nearest
from evenhand.report.json import content_digests
from evenhand.sources.documentation import documented

if TYPE_CHECKING:
    from evenhand.core.results import Finding

PAGE = "evenhand-audit.html"
_LONGEST = 200  # letters of a name: MLflow takes 250, and _low is added


@documented
@checked
def log(audit: Audit, *, to: Literal["mlflow", "wandb"], share: bool = False) -> dict[str, float]:
    """Log an audit to MLflow or Weights & Biases: figures with their ends, the verdict as a tag, the page as a file.

    The run that is under way is used; where there is none, one is started and ended. Of each finding the judged value
    is a metric, with `_low` and `_high`; one that is undefined is left out. Tags hold the verdict of the audit and of
    each finding, and the SHA-256 of the counts and of the policy.

    Parameters
    ----------
    audit
        The audit.
    to
        "mlflow" or "wandb": which tracker. Where it writes to, and who may, is set up as usual for that library.
    share
        Whether what would tell of few people is left out, as in `Audit.save`: a tracker is often read by many.

    Returns
    -------
    dict[str, float]
        The metrics that were logged, by name.

    Raises
    ------
    MissingDependencyError
        The library is not installed; the message is the line to type.

    >>> import evenhand as eh
    >>> audit = eh.audit(prediction=[1, 0] * 50, sensitive=["north", "south"] * 50)
    >>> eh.log(audit, to="mlflow")["demographic_parity.sensitive"]  # doctest: +SKIP
    1.0
    """
    if to not in _TRACKERS:
        raise CallError(f"to={to!r} is not a tracker that is known here; {nearest(str(to), _TRACKERS)}")
    check_kind(audit, Audit, "audit", "pass the result of evenhand.audit(), or Audit.load('audit.json')")
    held = audit.shared() if share else audit
    metrics, tags = figures(held), labels(held)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / PAGE
        held.save(page)
        _TRACKERS[to](metrics, tags, page)
    return metrics


def figures(audit: Audit) -> dict[str, float]:
    """The judged value of each finding and its ends, by a name that trackers take; undefined ones are left out.

    >>> import evenhand as eh
    >>> found = figures(eh.audit(prediction=[1, 0] * 50, sensitive=["north", "south"] * 50))
    >>> found["people"], found["demographic_parity.sensitive"]
    (100.0, 1.0)
    """
    told = {"people": float(audit.cube.size)}
    for name, finding in _named(audit).items():
        value = finding.value
        ends = {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        told |= {key: float(end) for key, end in ends.items() if end is not None and math.isfinite(end)}
    return told


def labels(audit: Audit) -> dict[str, str]:
    """The verdicts of an audit and of its findings, and what it was computed from, as tags."""
    digests = content_digests(audit)
    return {
        "evenhand.verdict": audit.verdict,
        "evenhand.version": __version__,
        "evenhand.cube_sha256": digests["cube"],
        "evenhand.policy_sha256": digests["policy"],
        **{f"evenhand.verdict.{name}": finding.verdict for name, finding in _named(audit).items()},
    }


def _named(audit: Audit) -> dict[str, Finding]:
    """The findings by names of plain letters; two that would be called the same are numbered."""
    named: dict[str, Finding] = {}
    for finding in audit.findings:
        plain = [re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "_" for name in finding.attributes]
        name = first = f"{finding.metric}.{'_x_'.join(plain)}"[:_LONGEST]
        number = 2
        while name in named:
            name, number = f"{first}_{number}", number + 1
        named[name] = finding
    return named


def _mlflow(metrics: dict[str, float], tags: dict[str, str], page: Path) -> None:
    try:
        import mlflow
    except ImportError:
        raise MissingDependencyError("to='mlflow' needs MLflow: pip install 'evenhand[mlflow]'") from None
    own = mlflow.active_run() is None
    if own:
        mlflow.start_run()
    try:
        mlflow.log_metrics(metrics)
        mlflow.set_tags(tags)
        mlflow.log_artifact(str(page))
    finally:
        if own:
            mlflow.end_run()


def _wandb(metrics: dict[str, float], tags: dict[str, str], page: Path) -> None:
    try:
        import wandb
    except ImportError:
        raise MissingDependencyError("to='wandb' needs Weights & Biases: pip install 'evenhand[wandb]'") from None
    own = wandb.run is None
    run = wandb.init() if own else wandb.run
    try:
        run.log(metrics)
        run.summary.update(tags)
        run.tags = (*(run.tags or ()), f"evenhand: {tags['evenhand.verdict']}")
        artifact = wandb.Artifact("evenhand-audit", type="audit", metadata=dict(tags))
        artifact.add_file(str(page), name=PAGE)
        run.log_artifact(artifact)
    finally:
        if own:
            run.finish()


_TRACKERS: dict[str, Callable[[dict[str, float], dict[str, str], Path], Any]] = {"mlflow": _mlflow, "wandb": _wandb}
