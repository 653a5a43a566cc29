"""compare(): several classifiers side by side, by accuracy and gap, measured on people they were not fitted to."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import indexable
from sklearn.utils.validation import check_consistent_length

from evenhand.audits.metric_scorer import GROUP_ARGUMENTS
from evenhand.core import frames
from evenhand.core.arguments import checked, is_series
from evenhand.core.arrays import Bools, Indices
from evenhand.core.calls import call, described
from evenhand.core.cards import Carded
from evenhand.core.familiar import familiar
from evenhand.core.progress import track
from evenhand.core.quantities import check_seed, shown
from evenhand.core.results import Estimate, Finding, Panel, spell
from evenhand.core.signs import Printable, escaped, printable
from evenhand.core.wording import number_of
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, DataError, Problems, UnknownKeyError, join_names, nearest, shorten
from evenhand.inference import critical
from evenhand.inference.intervals import wilson
from evenhand.inference.spread import Normal
from evenhand.sources import groups
from evenhand.sources.documentation import documented
from evenhand.verdicts.finding import judge
from evenhand.verdicts.request import Request, make_request


@dataclass(frozen=True, repr=False)
class Contender(Printable):
    """One way to decide.

    `accuracy` and `gap` have intervals over people; `cost` is the change of accuracy against the first contender, for
    the same people. `frontier`: no other is at least as accurate with a gap at most as large.
    """

    name: str
    accuracy: Estimate
    gap: Estimate
    cost: Estimate
    finding: Finding
    frontier: bool

    def __repr__(self) -> str:
        place = "on the frontier" if self.frontier else "not on the frontier"
        return printable(f"<Contender {escaped(self.name)}: accuracy {self.accuracy}, gap {self.gap}, {place}>")


@documented
@checked
@dataclass(frozen=True, repr=False)
class Comparison(Carded):
    """Contenders in the order given; as text, as a frame, as a picture, and as a panel of a report."""

    metric: str
    judged_on: str
    people: int
    contenders: tuple[Contender, ...]
    kind: str | None = None

    def __getitem__(self, name: str) -> Contender:
        for each in self.contenders:
            if each.name == name:
                return each
        known = [each.name for each in self.contenders]
        raise UnknownKeyError(f"{shown(name)} was not compared; {nearest(str(name), known)}")

    @property
    def frontier(self) -> tuple[str, ...]:
        """The names of those on the Pareto frontier, the most accurate first."""
        chosen = [each for each in self.contenders if each.frontier]
        return tuple(each.name for each in sorted(chosen, key=lambda each: -each.accuracy.value))

    @property
    def panel(self) -> Panel:
        """Accuracy against the gap, for a page."""
        rows = [
            (each.name, each.gap.value, each.accuracy.value, each.accuracy.low, each.accuracy.high)
            for each in self.contenders
        ]
        columns = ("contender", f"{self.metric} ({self.judged_on})", "accuracy", "low", "high")
        return Panel("curve", "Accuracy against the gap", columns, tuple(rows))

    @property
    def finding(self) -> Finding:
        """The finding of the first contender, with a panel of all contenders; pass it to `audit.add`."""
        first = self.contenders[0].finding
        return replace(first, panels=(*first.panels, self.panel))

    def to_frame(self) -> Any:
        """One line for each contender."""
        columns: dict[str, list[Any]] = {"contender": [each.name for each in self.contenders]}
        for part in ("accuracy", "gap", "cost"):
            for end, suffix in (("value", ""), ("low", "_low"), ("high", "_high")):
                columns[part + suffix] = [getattr(getattr(each, part), end) for each in self.contenders]
        columns["verdict"] = [each.finding.verdict for each in self.contenders]
        columns["frontier"] = [each.frontier for each in self.contenders]
        return frames.frame(columns, self.kind)

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy against the gap with matplotlib; returns the display, whose axes are `ax_`."""
        from evenhand.plots import TradeoffDisplay

        return TradeoffDisplay.from_comparison(self).plot(ax)

    def __str__(self) -> str:
        from evenhand.report.text import comparison

        return comparison.plain(self)

    def __repr__(self) -> str:
        best = join_names(map(escaped, self.frontier), 3)
        size = f"{len(self.contenders)} ways to decide for {self.people:,} people"
        return printable(f"<Comparison of {size} by {self.metric}; on the frontier: {best}>")


@documented
@familiar
def compare(
    estimators: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    sensitive: Any,
    metric: str = "demographic_parity",
    *,
    cv: Any = 5,
    random_state: int = 0,
    threshold: float | None = None,
) -> Comparison:
    """Measure accuracy and gap of each estimator, with intervals, on people it was not fitted to (cross-validation).

    Parameters
    ----------
    estimators
        Classifiers by name, from evenhand.mitigate, scikit-learn or fairlearn; the others are compared with
        the first one (`ExponentiatedGradient`, `ThresholdOptimizer`).
    X
        The columns that decide.
    y
        The labels; the second of the two classes is the favourable one.
    sensitive
        Who is in which group: an array, a table, or names of columns of X. It is passed to those estimators
        whose fit or predict takes it.
    metric
        A metric of the catalogue that is measured from labels and decisions.
    cv
        The number of parts into which rows are split, or a splitter that tests every row once.
    random_state
        The seed of the split.
    threshold
        The largest difference, or smallest ratio; by default the metric's own.

    Returns
    -------
    Comparison
        Accuracy and gap of each, and which of them are on the frontier; print it, or `plot` it.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from evenhand.mitigate import GroupThresholds
    >>> rng = np.random.default_rng(0)
    >>> race = rng.choice(["a", "b"], 600)
    >>> X = rng.normal(size=(600, 1)) + (race == "a")[:, None]
    >>> y = (X[:, 0] + rng.normal(size=600) > 0.5).astype(int)
    >>> plain = LogisticRegression()
    >>> cut = GroupThresholds(plain, constraint="demographic_parity", within=0.02)
    >>> found = compare({"plain": plain, "cut by group": cut}, X, y, race)
    >>> found.frontier
    ('plain', 'cut by group')
    """
    named = _named(estimators)
    request = make_request(metric, threshold=threshold)
    if X is None:
        raise CallError("X is None: pass the features, one row for each person.")
    X, y = indexable(X, y)
    check_consistent_length(X, y)
    who = groups.encode(sensitive, X)
    attribute = _by_row(who)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise DataError(f"y has {len(classes)} classes; ways to decide are compared on two.")
    splits = _splits(cv, codes, random_state)
    decided = {name: np.full(len(codes), -1, dtype=np.intp) for name in named}
    work = [(name, split) for name in named for split in splits]
    for name, (train, test) in track(work, len(work), "comparing"):
        decided[name][test] = _decide(named[name], X, y, attribute, train, test, classes)
    if any((chosen < 0).any() for chosen in decided.values()):
        raise DataError("cv= leaves some rows undecided: it must test every row once, as KFold does.")
    columns = {part: [group[i] for group in who.names] for i, part in enumerate(who.attributes)}
    held = {part: np.array(values, dtype=object)[who.codes] for part, values in columns.items()}
    return _compared(request, named, decided, codes, held, frames.kind_of(X))


def _compared(
    request: Request,
    named: Mapping[str, Any],
    decided: Mapping[str, Indices],
    codes: Indices,
    held: Any,
    kind: Any,
) -> Comparison:
    first = next(iter(decided.values())) == codes
    found = []
    for name in named:
        right = decided[name] == codes
        finding = judge(request, Cube.count(label=codes, prediction=decided[name], sensitive=held))
        ends = (float(end) for end in wilson(int(right.sum()), len(right)))
        accuracy = Estimate(float(right.mean()), *ends)
        found.append(Contender(name, accuracy, finding.value, _paired(right, first), finding, False))
    beaten = [any(_beats(other, each, request.judged_on) for other in found) for each in found]
    contenders = tuple(replace(each, frontier=not lost) for each, lost in zip(found, beaten, strict=True))
    return Comparison(request.metric.name, request.judged_on, len(codes), contenders, kind)


def _paired(right: Bools, first: Bools) -> Estimate:
    """The change of accuracy for the same people, with its interval."""
    change, people = right.astype(np.float64) - first, np.array([float(len(right))])
    error = change.std(ddof=1, keepdims=True) / np.sqrt(people)
    found = Normal(change.mean(keepdims=True), error, people)
    low, high = found.limits(critical.sidak(1, 0.95), 0.0)
    return Estimate(float(found.values[0]), float(low[0]), float(high[0]))


def _beats(one: Contender, other: Contender, judged_on: str) -> bool:
    """Is one contender at least as good in accuracy and gap, and better in one of them?"""
    sign = -1 if judged_on == "ratio" else 1
    mine, theirs = sign * one.gap.value, sign * other.gap.value
    as_good = one.accuracy.value >= other.accuracy.value and mine <= theirs
    return as_good and (one.accuracy.value > other.accuracy.value or mine < theirs)


def _named(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if not isinstance(estimators, Mapping):
        if not is_series(estimators):
            raise CallError(f"estimators={shown(estimators)} must be a mapping such as {{'plain': …}}, or a list.")
        estimators = list(estimators)
        names = [type(each).__name__ for each in estimators]
        if len(set(names)) < len(names):
            raise CallError("two estimators are of the same kind: name them, as {'plain': …, 'reweighed': …}.")
        estimators = dict(zip(names, estimators, strict=True))
    if not estimators:
        raise CallError("there are no estimators to compare: pass {'plain': …, 'reweighed': …}.")
    for name, each in estimators.items():
        if isinstance(each, type) or not hasattr(each, "fit") or not hasattr(each, "predict"):
            raise CallError(f"estimator {shorten(str(name))!r} is not a classifier: {shorten(repr(each))}.")
    return dict(estimators)


def _splits(cv: Any, codes: Indices, random_state: Any) -> list[Any]:
    """The rows to fit to and the rows to decide, for each part of the split."""
    problems = Problems()
    check_seed(random_state, problems, most=2**32 - 1)
    problems.raise_if_any(CallError)
    try:
        if isinstance(cv, int) and not isinstance(cv, bool):
            splitter = StratifiedKFold(cv, shuffle=True, random_state=random_state)
        else:
            splitter = check_cv(cv, codes, classifier=True)
        return list(splitter.split(np.zeros((len(codes), 1)), codes))
    except (TypeError, ValueError) as error:
        raise CallError(
            f"cv={shown(cv)} cannot split {number_of(len(codes))}: {described(error)}. Pass cv=5."
        ) from error


def _by_row(who: groups.Groups) -> npt.NDArray[np.object_]:
    """Each row's group as one text, also of several attributes, which every estimator can take."""
    return np.array([spell(name) for name in who.names], dtype=object)[who.codes]


def _decide(model: Any, X: Any, y: Any, attribute: Any, train: Indices, test: Indices, classes: Any) -> Indices:
    """Fit to some rows and decide for others: 0 or 1 for each."""
    fitted, what = clone(model), type(model).__name__
    fit = partial(fitted.fit, **_group_argument(fitted.fit, attribute[train]))
    call(what, f"in fit, on {number_of(len(train))}", fit, frames.take(X, train), frames.take(y, train))
    predict = partial(fitted.predict, **_group_argument(fitted.predict, attribute[test]))
    chosen = np.asarray(call(what, f"in predict, on {number_of(len(test))}", predict, frames.take(X, test)))
    found = np.searchsorted(classes, chosen)
    if (found > 1).any() or not np.array_equal(classes[np.minimum(found, 1)], chosen):
        raise DataError(f"{type(model).__name__} predicts classes that y does not have.")
    return found


def _group_argument(method: Any, attribute: Any) -> dict[str, Any]:
    """The arguments for a method of an estimator: each row's group, if it takes it, and a seed for fairlearn."""
    takes = inspect.signature(method).parameters
    named = [name for name in GROUP_ARGUMENTS if name in takes]
    if not named and method.__name__ == "fit" and _is_reduction(method):
        named = ["sensitive_features"]
    arguments: dict[str, Any] = {named[0]: attribute} if named else {}
    if method.__name__ == "predict" and "random_state" in takes:
        arguments["random_state"] = 0
    return arguments


def _is_reduction(method: Any) -> bool:
    """Is it the method of a fairlearn reduction? Their arguments are not in the signature."""
    return type(method.__self__).__module__.startswith("fairlearn.reductions")
