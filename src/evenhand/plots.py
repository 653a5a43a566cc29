"""Displays for papers, in scikit-learn's manner: `ForestDisplay.from_audit(audit).plot(ax=ax)`; needs matplotlib.

Each display holds plain arrays, so that it can be drawn again, or otherwise. Names of users are never read as formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.audits.audit import Audit
from evenhand.audits.sweep import sweep
from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats
from evenhand.core.quantities import shown
from evenhand.core.results import Finding, Row, spell
from evenhand.core.wording import clip
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, MissingDependencyError, check_kind, nearest
from evenhand.inference.intervals import wilson
from evenhand.measures import curves
from evenhand.measures.group_data import NEGATIVE, POSITIVE, BinnedScores, GroupData
from evenhand.mitigate.comparison import Comparison
from evenhand.report.tables import share_of_limit
from evenhand.sources.documentation import documented

__all__ = [
    "CalibrationDisplay",
    "FindingDisplay",
    "ForestDisplay",
    "GroupMeasureDisplay",
    "RocDisplay",
    "SweepDisplay",
    "TradeoffDisplay",
]


def __dir__() -> list[str]:
    return __all__


# Okabe and Ito (2008), told apart by people who see fewer colours; shapes say the same once more.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
_MOST_LINES = 40  # groups of one picture
_FEW_MEASURES = 3  # of one finding, up to which their legend stands inside the axes


@dataclass
class _Display:
    """What all displays share: after `plot`, `ax_` and `figure_` hold what was drawn."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _axes(self, ax: Any, lines: int = 0) -> Any:
        """The axes that are drawn on; a new figure is as high as its lines need."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise MissingDependencyError("plots need matplotlib: pip install 'evenhand[plot]'.") from None
            ax = plt.subplots(figsize=(6.4, max(4.8, 1.2 + 0.28 * lines)), layout="constrained")[1]
        if not hasattr(ax, "figure"):
            raise CallError(f"ax={shown(ax)} must be axes of matplotlib, such as plt.subplots()[1], or None.")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@documented
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
        """The first measure of the audit, or the one named; of the first attribute, or of those named.

        Parameters
        ----------
        audit
            An Audit, as `evenhand.audit(...)` makes it.
        measure
            The measure; by default the first of the audit.

        Returns
        -------
        GroupMeasureDisplay
            The display; `plot` draws it.
        """
        cube = _part(audit, attributes)
        measures = {each.measure.name: each for each in audit.measures(cube.meaning.sensitive)}
        name = measure or next(iter(measures))
        if name not in measures:
            raise CallError(f"{name!r} is not a measure of this audit; {nearest(name, measures)}")
        one = measures[name]
        everyone = audit.measures(cube.meaning.sensitive, together=True)
        overall = next(float(each.values[0]) for each in everyone if each.measure.name == name)
        names = [clip(spell(group, cube.meaning.sensitive)) for _, group in cube.pairs]
        return cls(name, one.measure.title, names, one.values, one.low, one.high, overall)

    def plot(self, ax: Any = None) -> GroupMeasureDisplay:
        """Draw the groups from top to bottom.

        Returns
        -------
        GroupMeasureDisplay
            The display, with `ax_` and `figure_`.
        """
        ax = self._axes(ax, len(self.groups))
        places = np.arange(len(self.groups))[::-1]
        reach = np.maximum(np.vstack([self.values - self.low, self.high - self.values]), 0)
        ax.errorbar(self.values, places, xerr=reach, fmt="o", color=COLOURS[0], capsize=3)
        if np.isfinite(self.overall):
            ax.axvline(self.overall, color="0.4", linestyle="--", linewidth=1, label="everyone")
            ax.legend(frameon=False)
        _name_rows(ax, places, self.groups)
        ax.set_xlabel(self.title)
        return self


@documented
@checked
@dataclass
class FindingDisplay(_Display):
    """The measures behind one finding: each group with its interval; the value alone where no group has one of its own.

    `values`, `low` and `high` have a row for each group and a column for each measure. `pair` are the groups on which
    the verdict rests.

    >>> import evenhand as eh
    >>> finding = eh.demographic_parity(prediction=[1, 1, 0, 1, 0, 0], sensitive=list("aaabbb"))
    >>> FindingDisplay.from_finding(finding).groups
    ['a', 'b']
    """

    title: str
    groups: list[str]
    measures: list[str]
    values: Floats
    low: Floats
    high: Floats
    pair: tuple[str, ...] = ()
    threshold: float | None = None
    """The threshold of the value; only where it is the value that is drawn."""

    @classmethod
    def from_finding(cls, finding: Finding) -> FindingDisplay:
        """The groups of a finding; where there are more than 40, the pair and then those with the most people.

        Parameters
        ----------
        finding
            A finding, such as `audit["equalized_odds", "race"]`.
        """
        check_kind(finding, Finding, "finding", 'pass a Finding, such as audit["equalized_odds", "race"]')
        title = f"{finding.title} by {' × '.join(clip(name) for name in finding.attributes)}: {finding.verdict}"
        rows = {(_line_name(row), _measure_name(row)): row for row in finding.groups}
        groups, measures = (list(dict.fromkeys(names)) for names in (zip(*rows, strict=True) if rows else ((), ())))
        if not groups:
            one = finding.value
            ends = [one.value, math.nan if one.low is None else one.low, math.nan if one.high is None else one.high]
            value, low, high = (np.array([[end]]) for end in ends)
            name = clip(finding.metric)
            return cls(title, [name], [finding.judged_on], value, low, high, threshold=finding.threshold)
        about = finding.evidence or finding.summary
        pair = tuple(name for name in groups if name in _pair_names(about))
        people = {name: max(row.n or 0 for (each, _), row in rows.items() if each == name) for name in groups}
        if len(groups) > _MOST_LINES:
            first = sorted(groups, key=lambda name: (name not in pair, -people[name]))[:_MOST_LINES]
            groups = [name for name in groups if name in first]
        cells = [[_ends(rows.get((group, measure))) for measure in measures] for group in groups]
        values, low, high = np.moveaxis(np.array(cells), -1, 0)
        return cls(title, [clip(name) for name in groups], measures, values, low, high, tuple(map(clip, pair)))

    def plot(self, ax: Any = None) -> FindingDisplay:
        """Draw the groups from top to bottom, those of the pair in bold, with a mark for each measure."""
        ax = self._axes(ax, len(self.groups))
        places = np.arange(len(self.groups))[::-1]
        few = len(self.measures) <= _FEW_MEASURES
        half = 0.0 if len(self.measures) == 1 else 0.12 if few else 0.3
        across = np.linspace(half, -half, len(self.measures))
        for i, (measure, shift) in enumerate(zip(self.measures, across, strict=True)):
            values, low, high = (part[:, i] for part in (self.values, self.low, self.high))
            reach = np.nan_to_num(np.maximum(np.vstack([values - low, high - values]), 0))
            style = {**_style(i), "linestyle": "none"}
            ax.errorbar(values, places + shift, xerr=reach, label=measure.replace("_", " "), **style)
        if self.threshold is not None:
            ax.axvline(self.threshold, color="0.4", linestyle="--", linewidth=1, label="threshold")
        _name_rows(ax, places, self.groups)
        for text in ax.get_yticklabels():
            text.set_fontweight("bold" if text.get_text() in self.pair else "normal")
        across_title = self.measures[0].replace("_", " ") if len(self.measures) == 1 else "value with its interval"
        ax.set_xlabel(across_title, parse_math=False)
        if len(self.measures) > 1 or self.threshold is not None:
            ax.legend(frameon=False, **({} if few else {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}))
        for text in ax.get_legend().get_texts() if ax.get_legend() else ():
            text.set_parse_math(False)
        ax.set_title(self.title, parse_math=False, fontsize="medium", loc="left")
        return self


@documented
@checked
@dataclass
class ForestDisplay(_Display):
    """Every judged metric of one set of attributes, as a share of what is tolerated: 1 is the threshold."""

    metrics: list[str]
    values: Floats
    low: Floats
    high: Floats
    verdicts: list[str]

    @classmethod
    def from_audit(cls, audit: Audit, attributes: str | Sequence[str] | None = None) -> ForestDisplay:
        """The findings with a threshold and an interval, on the first attribute or on those named.

        Parameters
        ----------
        audit
            An Audit, as `evenhand.audit(...)` makes it.

        Returns
        -------
        ForestDisplay
            The display; `plot` draws it.
        """
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
        """Draw the metrics from top to bottom, with the tolerated band shaded.

        Returns
        -------
        ForestDisplay
            The display, with `ax_` and `figure_`.
        """
        ax = self._axes(ax, len(self.metrics))
        places = np.arange(len(self.metrics))[::-1]
        ax.axvspan(0, 1, color="0.92", zorder=0)
        for i, verdict in enumerate(("pass", "fail", "inconclusive")):
            rows = [k for k, each in enumerate(self.verdicts) if each == verdict]
            if rows:
                reach = np.maximum(np.vstack([(self.values - self.low)[rows], (self.high - self.values)[rows]]), 0)
                colour = (COLOURS[2], COLOURS[1], COLOURS[4])[i]
                ax.errorbar(self.values[rows], places[rows], xerr=reach, fmt=MARKS[i], color=colour, label=verdict)
        if self.metrics:
            ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3)  # above: below are lines
        _name_rows(ax, places, self.metrics)
        ax.set_xlabel("gap as a share of what is tolerated")
        return self


@documented
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
        """The calibration bins of the audit's score.

        Parameters
        ----------
        audit
            An Audit, as `evenhand.audit(...)` makes it.

        Returns
        -------
        CalibrationDisplay
            The display; `plot` draws it.
        """
        cube = _part(audit, attributes)
        k, n, mean = _scores(cube, labels=True).calibration()
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(n > 0, k / n, np.nan)
        low, high = wilson(k, n, audit.policy.confidence)
        return cls([clip(spell(group, cube.meaning.sensitive)) for _, group in cube.pairs], mean, rates, low, high)

    def plot(self, ax: Any = None) -> CalibrationDisplay:
        """Draw a line for each group, and the diagonal where the score is a probability.

        Returns
        -------
        CalibrationDisplay
            The display, with `ax_` and `figure_`.
        """
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


@documented
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
        """The curves from the score bins.

        Parameters
        ----------
        audit
            An Audit, as `evenhand.audit(...)` makes it.

        Returns
        -------
        RocDisplay
            The display; `plot` draws it.
        """
        cube = _part(audit, attributes)
        # Without labels on one side of the decision, a curve would be that of the others.
        binned = _scores(cube, labels=True).without_labels(np.asarray(GroupData.of(cube).silent.any(axis=1)))
        positives, negatives = binned.of_label(POSITIVE), binned.of_label(NEGATIVE)
        names = [clip(spell(group, cube.meaning.sensitive)) for _, group in cube.pairs]
        return cls(names, *curves.roc(positives, negatives), curves.auc(positives, negatives))

    def plot(self, ax: Any = None) -> RocDisplay:
        """Draw a line for each group that has both classes.

        Returns
        -------
        RocDisplay
            The display, with `ax_` and `figure_`.
        """
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        for i, group in enumerate(self.groups):
            if np.isfinite(self.auc[i]):
                colour = COLOURS[i % len(COLOURS)]
                ax.plot(self.fpr[i], self.tpr[i], label=f"{group} (AUC {self.auc[i]:.3f})", color=colour)
        _finish(ax, "false positive rate", "true positive rate")
        return self


@documented
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
        """The first metric that decides, or the one named.

        Parameters
        ----------
        audit
            An Audit, as `evenhand.audit(...)` makes it.
        metric
            The metric; by default the first that decides.

        Returns
        -------
        SweepDisplay
            The display; `plot` draws it.
        """
        every = sweep(_part(audit, attributes))
        name = metric or next((each for each in audit.required if each in every.differences), "demographic_parity")
        if name not in every.differences:
            raise CallError(f"{name!r} has no gap at every cutoff; {nearest(name, every.differences)}")
        return cls(name, every.cutoffs[:-1], every.differences[name][:-1], _until_last(every.overall.get("accuracy")))

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw both against the cutoff.

        Returns
        -------
        SweepDisplay
            The display, with `ax_` and `figure_`.
        """
        ax = self._axes(ax)
        ax.plot(self.cutoffs, self.gaps, color=COLOURS[1], label=f"gap: {self.metric.replace('_', ' ')}")
        if self.accuracy is not None:
            ax.plot(self.cutoffs, self.accuracy, color=COLOURS[0], linestyle="--", label="accuracy")
        _finish(ax, "cutoff", "")
        return self


@documented
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
        """From what `evenhand.mitigate.compare` gives.

        Parameters
        ----------
        found
            What `evenhand.mitigate.compare` returned.

        Returns
        -------
        TradeoffDisplay
            The display; `plot` draws it.
        """
        check_kind(found, Comparison, "found", "pass what evenhand.mitigate.compare(...) gives")
        gaps, accuracies = (
            np.array([[part.value, part.low, part.high] for part in (getattr(each, name) for each in found.contenders)])
            for name in ("gap", "accuracy")
        )
        names = [each.name for each in found.contenders]
        return cls(found.metric, names, gaps.astype(float), accuracies, [each.frontier for each in found.contenders])

    def plot(self, ax: Any = None) -> TradeoffDisplay:
        """Draw a mark for each.

        Returns
        -------
        TradeoffDisplay
            The display, with `ax_` and `figure_`.
        """
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


def _line_name(row: Row) -> str:
    return f"{spell(row.stratum)}: {spell(row.group)}" if row.stratum else spell(row.group)


def _pair_names(row: Row) -> tuple[str, ...]:
    """The two groups of a row as lines are named."""
    within = f"{spell(row.stratum)}: " if row.stratum else ""
    return tuple(f"{within}{name}" for name in (spell(row.group) if row.group else None, row.against) if name)


def _measure_name(row: Row) -> str:
    """A measure, with the class or the range of scores that it is restricted to."""
    of = "" if row.of_class is None else f" of {clip(row.of_class)}"
    return f"{row.measure}{of}" if row.bin is None else f"{row.measure}{of}, {row.bin[0]:g} to {row.bin[1]:g}"


def _ends(row: Row | None) -> tuple[float, float, float]:
    if row is None or row.estimate is None:
        return math.nan, math.nan, math.nan
    one = row.estimate
    return one.value, math.nan if one.low is None else one.low, math.nan if one.high is None else one.high


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
