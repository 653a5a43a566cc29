"""Displays for papers, in scikit-learn's manner: `ForestDisplay.from_audit(audit).plot(ax=ax)`; needs matplotlib.

Each display holds plain arrays, so that it can be drawn again, or otherwise. Names of users are never read as formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.audits.audit import Audit
from evenhand.audits.sweep import sweep
from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats
from evenhand.core.quantities import shown
from evenhand.core.results import spell
from evenhand.core.wording import clip
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, MissingDependencyError, check_kind, nearest
from evenhand.inference.intervals import wilson
from evenhand.measures import curves
from evenhand.measures.group_data import NEGATIVE, POSITIVE, BinnedScores, GroupData
from evenhand.mitigate.comparison import Comparison
from evenhand.report.tables import share_of_limit

# Okabe and Ito (2008), told apart by people who see fewer colours; shapes say the same once more.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass
class _Display:
    """What all displays share: after `plot`, `ax_` and `figure_` hold what was drawn."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _axes(self, ax: Any) -> Any:
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise MissingDependencyError("plots need matplotlib: pip install 'evenhand[plot]'.") from None
            ax = plt.subplots()[1]
        if not hasattr(ax, "figure"):
            raise CallError(f"ax={shown(ax)} must be axes of matplotlib, such as plt.subplots()[1], or None.")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@checked
@dataclass
class GroupMeasureDisplay(_Display):
    """One measure of each group with its interval, and the line of everyone.

    >>> from evenhand.datasets import compas
    >>> import evenhand as eh
    >>> audit = eh.audit(compas(), score="decile", cutoff=5, label="recidivated", count="count", sensitive="race")
    >>> GroupMeasureDisplay.from_audit(audit).measure
    'selection_rate'
    """

    measure: str
    title: str
    groups: list[str]
    values: Floats
    low: Floats
    high: Floats
    overall: float

    @classmethod
    def from_audit(
        cls, audit: Audit, measure: str | None = None, attributes: str | Sequence[str] | None = None
    ) -> GroupMeasureDisplay:
        """The first measure of the audit, or the one named; of the first attribute, or of those named."""
        cube = _part(audit, attributes)
        measures = {each.measure.name: each for each in audit.measures(cube.meaning.sensitive)}
        name = measure or next(iter(measures))
        if name not in measures:
            raise CallError(f"{name!r} is not a measure of this audit; {nearest(name, measures)}")
        one = measures[name]
        everyone = audit.measures(cube.meaning.sensitive, together=True)
        overall = next(float(each.values[0]) for each in everyone if each.measure.name == name)
        names = [clip(spell(group)) for _, group in cube.pairs]
        return cls(name, one.measure.title, names, one.values, one.low, one.high, overall)

    def plot(self, ax: Any = None) -> GroupMeasureDisplay:
        """Draw the groups from top to bottom."""
        ax = self._axes(ax)
        places = np.arange(len(self.groups))[::-1]
        reach = np.maximum(np.vstack([self.values - self.low, self.high - self.values]), 0)
        ax.errorbar(self.values, places, xerr=reach, fmt="o", color=COLOURS[0], capsize=3)
        if np.isfinite(self.overall):
            ax.axvline(self.overall, color="0.4", linestyle="--", linewidth=1, label="everyone")
            ax.legend(frameon=False)
        _name_rows(ax, places, self.groups)
        ax.set_xlabel(self.title)
        return self


@checked
@dataclass
class ForestDisplay(_Display):
    """Every judged metric of one set of attributes, as a share of what is tolerated: 1 is the limit."""

    metrics: list[str]
    values: Floats
    low: Floats
    high: Floats
    verdicts: list[str]

    @classmethod
    def from_audit(cls, audit: Audit, attributes: str | Sequence[str] | None = None) -> ForestDisplay:
        """The findings with a threshold and an interval, on the first attribute or on those named."""
        wanted = _attributes(audit, attributes)
        chosen = [
            finding
            for finding in audit.findings
            if finding.attributes == wanted and finding.threshold and finding.shown.low is not None
        ]
        shares = np.array([share_of_limit(finding) for finding in chosen]).reshape(-1, 3)
        titles = [finding.title for finding in chosen]
        return cls(titles, shares[:, 0], shares[:, 1], shares[:, 2], [finding.verdict for finding in chosen])

    def plot(self, ax: Any = None) -> ForestDisplay:
        """Draw the metrics from top to bottom, with the tolerated band shaded."""
        ax = self._axes(ax)
        places = np.arange(len(self.metrics))[::-1]
        ax.axvspan(0, 1, color="0.92", zorder=0)
        for i, verdict in enumerate(("pass", "fail", "inconclusive")):
            rows = [k for k, each in enumerate(self.verdicts) if each == verdict]
            if rows:
                reach = np.maximum(np.vstack([(self.values - self.low)[rows], (self.high - self.values)[rows]]), 0)
                colour = (COLOURS[2], COLOURS[1], COLOURS[4])[i]
                ax.errorbar(self.values[rows], places[rows], xerr=reach, fmt=MARKS[i], color=colour, label=verdict)
        if self.metrics:
            ax.legend(frameon=False)
        _name_rows(ax, places, self.metrics)
        ax.set_xlabel("gap as a share of what is tolerated")
        return self


@checked
@dataclass
class CalibrationDisplay(_Display):
    """The observed rate at each mean score, for each group, with Wilson's intervals."""

    groups: list[str]
    scores: Floats
    rates: Floats
    low: Floats
    high: Floats

    @classmethod
    def from_audit(cls, audit: Audit, attributes: str | Sequence[str] | None = None) -> CalibrationDisplay:
        """The calibration bins of the audit's score."""
        cube = _part(audit, attributes)
        k, n, mean = _scores(cube, labels=True).calibration()
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(n > 0, k / n, np.nan)
        low, high = wilson(k, n, audit.policy.confidence)
        return cls([clip(spell(group)) for _, group in cube.pairs], mean, rates, low, high)

    def plot(self, ax: Any = None) -> CalibrationDisplay:
        """Draw a line for each group, and the diagonal where the score is a probability."""
        ax = self._axes(ax)
        if np.nanmax(self.scores, initial=0) <= 1:
            ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        for i, group in enumerate(self.groups):
            there = np.isfinite(self.rates[i])
            reach = np.vstack([(self.rates - self.low)[i, there], (self.high - self.rates)[i, there]])
            ax.errorbar(
                self.scores[i, there], self.rates[i, there], yerr=np.maximum(reach, 0), label=group, **_style(i)
            )
        _finish(ax, "mean score", "observed rate")
        return self


@checked
@dataclass
class RocDisplay(_Display):
    """The ROC curve of each group."""

    groups: list[str]
    fpr: Floats
    tpr: Floats
    auc: Floats

    @classmethod
    def from_audit(cls, audit: Audit, attributes: str | Sequence[str] | None = None) -> RocDisplay:
        """The curves from the score bins."""
        cube = _part(audit, attributes)
        # Without labels on one side of the decision, a curve would be that of the others.
        binned = _scores(cube, labels=True).without_labels(np.asarray(GroupData(cube).silent.any(axis=1)))
        positives, negatives = binned.of_label(POSITIVE), binned.of_label(NEGATIVE)
        names = [clip(spell(group)) for _, group in cube.pairs]
        return cls(names, *curves.roc(positives, negatives), curves.auc(positives, negatives))

    def plot(self, ax: Any = None) -> RocDisplay:
        """Draw a line for each group that has both classes."""
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        for i, group in enumerate(self.groups):
            if np.isfinite(self.auc[i]):
                colour = COLOURS[i % len(COLOURS)]
                ax.plot(self.fpr[i], self.tpr[i], label=f"{group} (AUC {self.auc[i]:.3f})", color=colour)
        _finish(ax, "false positive rate", "true positive rate")
        return self


@checked
@dataclass
class SweepDisplay(_Display):
    """The gap of a metric, and the accuracy, at every cutoff."""

    metric: str
    cutoffs: Floats
    gaps: Floats
    accuracy: Floats | None

    @classmethod
    def from_audit(
        cls, audit: Audit, metric: str | None = None, attributes: str | Sequence[str] | None = None
    ) -> SweepDisplay:
        """The first metric that decides, or the one named."""
        every = sweep(_part(audit, attributes))
        name = metric or next((each for each in audit.required if each in every.differences), "demographic_parity")
        if name not in every.differences:
            raise CallError(f"{name!r} has no gap at every cutoff; {nearest(name, every.differences)}")
        return cls(name, every.cutoffs[:-1], every.differences[name][:-1], _until_last(every.overall.get("accuracy")))

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw both against the cutoff."""
        ax = self._axes(ax)
        ax.plot(self.cutoffs, self.gaps, color=COLOURS[1], label=f"gap: {self.metric.replace('_', ' ')}")
        if self.accuracy is not None:
            ax.plot(self.cutoffs, self.accuracy, color=COLOURS[0], linestyle="--", label="accuracy")
        _finish(ax, "cutoff", "")
        return self


@checked
@dataclass
class TradeoffDisplay(_Display):
    """Accuracy against the gap of several ways to decide, with intervals; those on the frontier are joined."""

    metric: str
    names: list[str]
    gaps: Floats
    accuracies: Floats
    """[contenders, (value, low, high)], as `gaps`."""
    frontier: list[bool]

    @classmethod
    def from_comparison(cls, found: Any) -> TradeoffDisplay:
        """From what `evenhand.mitigate.compare` gives."""
        check_kind(found, Comparison, "found", "pass what evenhand.mitigate.compare(...) gives")
        gaps, accuracies = (
            np.array([[part.value, part.low, part.high] for part in (getattr(each, name) for each in found.contenders)])
            for name in ("gap", "accuracy")
        )
        names = [each.name for each in found.contenders]
        return cls(found.metric, names, gaps.astype(float), accuracies, [each.frontier for each in found.contenders])

    def plot(self, ax: Any = None) -> TradeoffDisplay:
        """Draw a mark for each."""
        ax = self._axes(ax)
        best = np.flatnonzero(self.frontier)
        best = best[np.argsort(self.gaps[best, 0])]
        ax.plot(self.gaps[best, 0], self.accuracies[best, 0], color="0.6", linewidth=1, zorder=0)
        for i, name in enumerate(self.names):
            across, up = (
                np.abs(values[i, 1:, None] - values[i, 0]) if np.isfinite(values[i]).all() else None
                for values in (self.gaps, self.accuracies)
            )
            ax.errorbar(self.gaps[i, 0], self.accuracies[i, 0], up, across, label=clip(name), **_style(i))
        _finish(ax, f"gap: {self.metric.replace('_', ' ')}", "accuracy")
        return self


def _attributes(audit: Audit, attributes: str | Sequence[str] | None) -> tuple[str, ...]:
    check_kind(audit, Audit, "audit", "pass an Audit, as evenhand.audit(...) and Cube.audit(...) make it")
    known = audit.attribute_sets()
    wanted = known[0] if attributes is None else (attributes,) if isinstance(attributes, str) else tuple(attributes)
    if wanted not in known:
        sets = [" × ".join(names) for names in known]
        raise CallError(f"attributes={attributes!r} is not audited; {nearest(' × '.join(map(str, wanted)), sets)}")
    return wanted


def _part(audit: Audit, attributes: str | Sequence[str] | None) -> Cube:
    wanted = _attributes(audit, attributes)
    return audit.counts(wanted, control=False)


def _scores(cube: Cube, *, labels: bool) -> BinnedScores:
    if cube.scores is None or cube.meaning.task != "binary" or (labels and not cube.has_labels):
        raise CallError("this display needs a score and a label: audit with score= and label=.")
    if cube.scores.counts_only:
        raise CallError(
            "the scores of this shared audit are counted between a few stops: draw it from the audit itself."
        )
    return BinnedScores.from_table(cube.scores, len(cube.pairs))


def _until_last(values: Floats | None) -> Floats | None:
    return None if values is None else values[:-1]


def _style(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKS[i % len(MARKS)], "markersize": 5, "capsize": 2}


def _name_rows(ax: Any, places: Any, names: Sequence[str]) -> None:
    for text in ax.set_yticks(places, names) and ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_ylim(-0.7, len(names) - 0.3)


def _finish(ax: Any, across: str, up: str) -> None:
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    for text in ax.legend(frameon=False).get_texts():
        text.set_parse_math(False)
