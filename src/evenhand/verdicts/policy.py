"""Policy: which metrics decide an audit, by which thresholds, with what confidence; and the policies that ship."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from importlib.resources import as_file, files
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenhand.catalogue import Metric, find, full_name, is_known
from evenhand.core import cover as covers
from evenhand.core.arguments import checked, is_series
from evenhand.core.cover import Cover
from evenhand.core.quantities import MOST_DRAWS, check_seed, check_whole, number, shown
from evenhand.core.records import NEWER, UNSAVED
from evenhand.core.results import OF_ONE_VALUE, Verdict
from evenhand.core.signs import Printable
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, Problems, check_kind, nearest, shorten
from evenhand.inference.intervals import METHODS, Resampled, interval_names
from evenhand.sources.documentation import documented
from evenhand.sources.spelling import spelling
from evenhand.verdicts import rule as rules
from evenhand.verdicts.rule import Rule
from evenhand.verdicts.selective_labels import lacking_labels

MIN_GROUP_SIZE = 30
_MOST_PEOPLE = 10**12
CORRECTIONS = ("holm", "bonferroni", "bh", "by")
ON = ("single", "intersections", "all")
INCONCLUSIVE = ("inconclusive", "fail", "pass")
MISSING_LABELS = ("bounds", "ignore")
ALL = "all"
"""In place of names of metrics: every one that the data allows. It changes what is computed, and not what decides."""


@documented
@checked
@dataclass(frozen=True, repr=False)
class Policy(Printable):
    """What an audit is judged by: in Python, in a TOML file (`Policy.load`), or by name (`Policy.named`).

    Attributes
    ----------
    required
        The metrics that decide. None leaves the choice to the data: equalized odds where there are
        decisions and labels, demographic parity where there are no labels, predictive parity and demographic
        parity where nobody who was refused has a label; for scores alone calibration, or without labels mean-score
        parity; base-rate parity where there is only a label.
    thresholds
        Replaces those of the catalogue; None takes a metric's threshold away, so that it is shown and
        not judged.
    min_group_size
        Groups with fewer people are shown, but are too small to support a pass.
    confidence
        Of the intervals.
    interval
        How they are made.
    draws
        For intervals made of draws.
    random_state
        The seed of the draws.
    correction
        Of the p-values for their number.
    familywise
        "audit": any finding that decides may fail, so they share the error probability of a fail (the ends
        of their intervals nearer to no gap); "finding": each has its own.
    metrics
        Which to compute; None is the core set that the data allows, "all" every one that it allows.
    judged_on
        For a metric, "difference" or "ratio" where that is not what the catalogue says.
    on
        The attribute sets on which the required metrics decide: "single", "intersections" or "all".
    inconclusive
        What an inconclusive finding counts as, where it decides: itself, "fail" or "pass".
    reference
        What groups are compared with; as the argument of `audit`.
    intersections
        Whether attributes are combined, or how many of them at most; None combines up to three, in at
        most 64 sets.
    min_group_share
        Groups with a smaller share of the people are shown and left out of comparisons.
    notes
        What every audit by this policy says to its reader.
    missing_labels
        "bounds" asks of a pass that it holds whatever the missing labels are, where they are missing
        more often for one decision than for another; "ignore" takes them as missing at random.
    min_reference_share
        With reference="highest", groups with a smaller share of the people, or with fewer than
        `min_group_size`, are compared, and are not what others are measured by.
    small_groups
        Whether a pass that leaves small groups out is a pass that names them ("note") or is
        "inconclusive".
    cover
        What the makers of an audit by this policy say of it: title, system, signer, limits (a `Cover`, or a mapping).
        It changes no number and no verdict, so two policies that differ only in it are equal.
    rule
        The rule that the policy follows, with its sources and what it does not cover (a `Rule`, or a mapping).

    >>> Policy(required="equal_opportunity", thresholds={"four_fifths": 0.9}).thresholds
    {'disparate_impact': 0.9}
    """

    required: tuple[str, ...] | None = None
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    min_group_size: int = MIN_GROUP_SIZE
    confidence: float = 0.95
    interval: str = "simultaneous"
    draws: int = 1000
    random_state: int = 0
    correction: str | None = "holm"
    familywise: Literal["audit", "finding"] = "audit"
    metrics: tuple[str, ...] | Literal["all"] | None = None
    judged_on: Mapping[str, str] = field(default_factory=dict)
    on: Literal["single", "intersections", "all"] = "single"
    inconclusive: Literal["inconclusive", "fail", "pass"] = "inconclusive"
    reference: Any = None
    intersections: bool | int | None = None
    min_group_share: float = 0.0
    notes: tuple[str, ...] = ()
    min_reference_share: float = 0.0
    small_groups: Literal["note", "inconclusive"] = "note"
    missing_labels: Literal["bounds", "ignore"] = "bounds"
    cover: Cover = field(default_factory=Cover, compare=False, metadata=UNSAVED)
    rule: Rule | None = field(default=None, metadata=NEWER)

    def __repr__(self) -> str:
        usual = Policy()
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        changed = {name: value for name, value in told.items() if value != getattr(usual, name)}
        return f"Policy({', '.join(f'{name}={shorten(repr(value))}' for name, value in changed.items())})"

    def __post_init__(self) -> None:
        problems = Problems()
        object.__setattr__(self, "metrics", _all_or("metrics", self.metrics, problems))
        object.__setattr__(self, "required", _metrics("required", self.required, problems, none=True))
        self._settle_thresholds(problems)
        check_whole("min_group_size", self.min_group_size, 1, _MOST_PEOPLE, problems)
        check_whole("draws", self.draws, 0, MOST_DRAWS, problems)
        check_seed(self.random_state, problems)
        _share("confidence", self.confidence, 0.5, "a share of at least 0.5 and below 1, such as 0.95", problems)
        _share("min_group_share", self.min_group_share, 0.0, "a share from 0 to below 1, such as 0.02", problems)
        shares = "a share from 0 to below 1, such as 0.02"
        _share("min_reference_share", self.min_reference_share, 0.0, shares, problems)
        _one_of("small_groups", self.small_groups, ("note", "inconclusive"), problems)
        _one_of("interval", self.interval, interval_names(), problems)
        if self.correction is not None:
            _one_of("correction", self.correction, CORRECTIONS, problems)
        _one_of("familywise", self.familywise, ("audit", "finding"), problems)
        _one_of("on", self.on, ON, problems)
        _one_of("inconclusive", self.inconclusive, INCONCLUSIVE, problems)
        _one_of("missing_labels", self.missing_labels, MISSING_LABELS, problems)
        if self.intersections is not None and not isinstance(self.intersections, bool):
            check_whole("intersections", self.intersections, 0, None, problems, instead="True, False or ")
        object.__setattr__(self, "reference", spelled_reference(self.reference))
        self._settle_notes(problems)
        try:
            object.__setattr__(self, "cover", covers.make(self.cover))
            object.__setattr__(self, "rule", rules.make(self.rule))
        except CallError as error:
            problems.add(str(error))
        problems.raise_if_any(CallError)
        if self.uses_draws and self.draws < 100:
            raise CallError(f"interval={self.interval!r} needs draws of at least 100; 1000 is usual.")

    def _settle_thresholds(self, problems: Problems) -> None:
        """Thresholds by the metric's own name; an alias that is judged otherwise, such as a ratio, says so."""
        judged_on: dict[str, Any] = {}
        for metric, _, kind in _by_metric("judged_on", self.judged_on, problems):
            judged_on[metric.name] = kind
            if kind not in ("difference", "ratio") or metric.judged_on in OF_ONE_VALUE:
                problems.add(misjudged(metric, kind))
        thresholds: dict[str, Any] = {}
        for metric, presets, limit in _by_metric("thresholds", self.thresholds, problems):
            kind = presets.get("judged_on", judged_on.get(metric.name, metric.judged_on))
            if metric.name in thresholds or judged_on.get(metric.name, kind) != kind:
                problems.add(f"{metric.name} is given twice in thresholds= and judged_on=: name it once.")
            if kind != metric.judged_on:
                judged_on[metric.name] = kind
            thresholds[metric.name] = limit
            try:
                check_threshold(limit, str(kind), f"the threshold of {metric.name}")
            except CallError as error:
                problems.add(str(error))
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "judged_on", judged_on)

    def _settle_notes(self, problems: Problems) -> None:
        notes = (self.notes,) if isinstance(self.notes, str) else self.notes
        if not isinstance(notes, Sequence) or not all(isinstance(note, str) for note in notes):
            problems.add(f"notes={shorten(repr(notes))} must be a list of sentences.")
            return
        object.__setattr__(self, "notes", tuple(notes))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file; what is wrong with it is said with the file's name.

        Parameters
        ----------
        path
            The TOML file.

        Returns
        -------
        Policy
            The policy.
        """
        from evenhand.verdicts import policy_file

        return policy_file.load(Path(path))

    @classmethod
    def named(cls, name: str) -> Policy:
        """A policy that ships with the package, such as "four-fifths" or "nyc-ll144".

        Parameters
        ----------
        name
            "four-fifths", "nyc-ll144", "fair-lending", "co-insurance", "eu-ai-act", "uk-equality" or "health".

        Returns
        -------
        Policy
            The policy.

        >>> Policy.named("four-fifths").required
        ('disparate_impact',)
        >>> Policy.named("fourfifths")
        Traceback (most recent call last):
        evenhand.errors.CallError: there is no policy called 'fourfifths'; did you mean 'four-fifths'?
        """
        if not isinstance(name, str) or name not in SHIPPED:
            raise CallError(f"there is no policy called {name!r}; {nearest(str(name), SHIPPED)}")
        return SHIPPED[name]

    def text(self) -> str:
        """The policy as commented TOML, which `load` reads back to the same policy."""
        from evenhand.verdicts import policy_file

        return policy_file.text(self)

    def save(self, path: str | Path) -> None:
        """Write the policy as commented TOML."""
        from evenhand.verdicts import policy_file

        policy_file.save(self, Path(path))

    @property
    def uses_draws(self) -> bool:
        """Are the intervals made of draws?"""
        return isinstance(METHODS.get(self.interval), Resampled)

    def required_for(self, cube: Cube) -> tuple[str, ...]:
        """The metrics that decide for this data.

        Parameters
        ----------
        cube
            The counts.

        Returns
        -------
        tuple[str, ...]
            The names of the metrics.
        """
        check_kind(cube, Cube, "cube", "pass a Cube, such as audit.cube")
        if self.required is not None:
            return tuple(dict.fromkeys(find(name)[0].name for name in self.required))
        if cube.meaning.task == "regression":
            return ("regression_separation",) if cube.has_labels else ("regression_demographic_parity",)
        if not cube.has_predictions:
            if cube.scores is not None:
                return ("calibration",) if cube.has_labels else ("mean_score_parity",)
            return ("base_rate_parity",)
        lacking = lacking_labels(cube, self)
        if lacking is not None:
            return lacking.required
        return ("equalized_odds",) if cube.has_labels else ("demographic_parity",)

    def decides_on(self, attributes: Sequence[str]) -> bool:
        """Do required metrics decide on this set of attributes?

        Parameters
        ----------
        attributes
            One or several attributes.

        Returns
        -------
        bool
            Whether it decides on their groups.
        """
        return {"single": len(attributes) == 1, "intersections": len(attributes) > 1}.get(self.on, True)

    def counted(self, verdict: Verdict) -> Verdict:
        """What the verdict of a finding that decides counts as.

        Parameters
        ----------
        verdict
            The verdict of a finding.

        Returns
        -------
        Verdict
            As what it counts.
        """
        return self.inconclusive if verdict == "inconclusive" else verdict

    def updated(self, **arguments: Any) -> Policy:
        """The policy with the arguments that are not None in place of its fields.

        Parameters
        ----------
        **arguments
            Fields of the policy; None keeps what it has.

        Returns
        -------
        Policy
            The new policy.
        """
        known = [part.name for part in fields(self)]
        for name in arguments:
            if name not in known:
                raise CallError(f"{shorten(name)!r} is not an argument or field of Policy; {nearest(name, known)}")
        return replace(self, **{name: value for name, value in arguments.items() if value is not None})

    def with_thresholds(self, thresholds: Mapping[str, float]) -> Policy:
        """The policy with some thresholds replaced; they are named by metric or alias.

        Parameters
        ----------
        thresholds
            The new thresholds by metric, alias or abbreviation.

        Returns
        -------
        Policy
            The new policy.
        """
        replaced = {find(name)[0].name for name in thresholds}
        kept = {name: limit for name, limit in self.thresholds.items() if name not in replaced}
        return replace(self, thresholds={**kept, **thresholds})


def spelled_reference(reference: Any) -> Any:
    """A reference in the spelling of groups, as a file can hold it."""
    if reference is None or isinstance(reference, str):
        return reference
    if isinstance(reference, Mapping):
        return {name: spelled_reference(value) for name, value in reference.items()}
    if isinstance(reference, (tuple, list)):
        return tuple(spelled_reference(value) for value in reference)
    if not isinstance(reference, (Real, date, np.generic)):
        raise CallError(f"reference={shown(reference)} must be a group: text or a number, or a mapping by attribute.")
    return spelling(reference)


def chosen_metrics(metrics: Any) -> tuple[Any, ...] | Literal["all"] | None:
    """The metrics that a caller names or defines, as a tuple; "all" is every one, None leaves it to the data."""
    problems = Problems()
    chosen = _all_or("metrics", metrics, problems)
    problems.raise_if_any(CallError)
    return chosen


def _all_or(what: str, metrics: Any, problems: Problems) -> tuple[Any, ...] | Literal["all"] | None:
    """Metrics as a tuple, or "all", which stands alone: what is named decides, and "all" decides nothing."""
    if is_series(metrics):
        metrics = tuple(metrics)
    names = metrics if isinstance(metrics, tuple) else (metrics,)
    if not any(isinstance(name, str) and name == ALL for name in names):
        return _metrics(what, metrics, problems)
    if len(names) > 1:
        problems.add(f"{what}: {ALL!r} stands alone. To say what decides, add required= to the policy (or --require).")
    return "all"


def _metrics(what: str, metrics: Any, problems: Problems, none: bool = False) -> tuple[Any, ...] | None:
    """Metrics as a tuple; one may stand alone."""
    if metrics is None:
        return None
    if isinstance(metrics, (str, Metric)) or callable(metrics):
        metrics = [metrics]
    if not is_series(metrics):
        problems.add(f"{what}={shorten(repr(metrics))} must be a list of metrics, such as ['equalized_odds'].")
        return None
    named = [getattr(metric, "metric", metric) for metric in metrics]
    chosen: tuple[Any, ...] = ()
    for metric in named:
        try:
            found = find(metric)[0]
        except CallError as error:
            problems.add(f"{what}: {error}")
            continue
        # A function is a metric of its own, made once; a name is written out in full, as an alias presets how to judge.
        chosen += (full_name(metric) if isinstance(metric, str) and is_known(metric) else found,)
    for said in _same_names(chosen):
        problems.add(f"{what}: {said}")
    if not named and not none:
        problems.add(f"{what}=[] names no metric: leave it out to compute the core set, or name some, or 'all'.")
    return chosen


def _same_names(chosen: Sequence[Any]) -> list[str]:
    """Two functions of one name, whose findings could not be told apart."""
    own = [metric.name for i, metric in enumerate(chosen) if isinstance(metric, Metric) and metric not in chosen[:i]]
    return [
        f"two metrics are called {name!r}: give one of them another name, as in evenhand.metric('other', "
        "measures=function)."
        for name in sorted({name for name in own if own.count(name) > 1})
    ]


def _by_metric(what: str, mapping: Any, problems: Problems) -> list[tuple[Metric, Mapping[str, object], Any]]:
    """The entries of a mapping by metric, each with the metric it means and what its alias presets."""
    if not isinstance(mapping, Mapping):
        problems.add(f"{what}={shorten(repr(mapping))} must map metrics to values, such as {{'equalized_odds': 0.05}}.")
        return []
    entries: list[tuple[Metric, Mapping[str, object], Any]] = []
    for name, value in mapping.items():
        try:
            entries.append((*find(name), value))
        except CallError as error:
            problems.add(f"{what}: {error}")
    return entries


def _share(name: str, value: Any, least: float, expected: str, problems: Problems) -> None:
    if not least <= number(value) < 1:
        problems.add(f"{name}={shown(value)} must be {expected}.")


def _one_of(name: str, value: Any, known: Sequence[str], problems: Problems) -> None:
    if not isinstance(value, str) or value not in known:
        problems.add(f"{name}={shorten(repr(value))} is not known; {nearest(str(value), known)}")


def misjudged(metric: Metric, kind: object) -> str:
    """Why a metric cannot be judged on this kind of comparison."""
    if metric.judged_on in OF_ONE_VALUE:
        return f"{metric.name} is judged on its value only."
    return f"judged_on={shown(kind)} does not fit {metric.name}; it takes 'difference' or 'ratio'."


def check_threshold(threshold: Any, judged_on: str, what: str = "threshold") -> None:
    """Raise unless the threshold is None or a number that fits what is judged: a difference, a ratio or a value."""
    if threshold is None:
        return
    if not 0 <= number(threshold) < math.inf:
        raise CallError(f"{what}={shown(threshold)} must be a number of at least 0.")
    if judged_on == "ratio" and number(threshold) > 1:
        raise CallError(f"{what}={shown(threshold)} on a ratio is at most 1, such as 0.8 for four fifths.")


class _Shipped(Mapping[str, Policy]):
    """The policies that ship, each a TOML file that is read when it is first asked for."""

    _names = ("four-fifths", "nyc-ll144", "fair-lending", "co-insurance", "eu-ai-act", "uk-equality", "health")

    def __getitem__(self, name: str) -> Policy:
        if name not in self._names:
            raise KeyError(name)
        return _shipped(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@cache
def _shipped(name: str) -> Policy:
    from evenhand.verdicts import policy_file

    with as_file(files("evenhand.verdicts").joinpath("policies", f"{name}.toml")) as path:
        return policy_file.load(path)


SHIPPED: Mapping[str, Policy] = _Shipped()
"""The policies that ship with the package, as rules and practice read them. A screen, not legal advice."""
