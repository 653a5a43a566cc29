"""Thresholds: a rule for each group, what the rules keep and what they cost whom; to read, to apply and to save."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.core import frames
from evenhand.core.arrays import Floats
from evenhand.core.files import write_text
from evenhand.core.results import Finding, Group, spell
from evenhand.errors import DataError, listing, short_path, shorten
from evenhand.sources.roles import spelling

SHOWN = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")
"""The measures that a rule tells of its group."""

FORMAT = "evenhand thresholds"
FORMAT_VERSION = 1

_PLAIN = ("constraint", "within", "objective", "gain", "best_gain", "common_gain", "higher_is")


@dataclass(frozen=True)
class Rule:
    """How one group is decided: a person gets `cutoffs[i]` with probability `weights[i]`, mostly one cutoff for sure.

    `before` and `after` are the group's measures with the one cutoff for all it is compared with, and with this rule.
    """

    group: Group
    people: int
    cutoffs: tuple[float, ...]
    weights: tuple[float, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(frozen=True)
class Thresholds:
    """Cutoffs by group, what they keep and what they cost.

    Attributes:
        attributes: What makes the groups.
        constraint: The metric that is kept, or None.
        within: The largest difference, or the smallest ratio, that was asked for.
        rules: One for each group.
        gain: The mean gain of a person with these rules: the share of right decisions, for accuracy.
        best_gain: The same with the best cutoff for each group and no constraint.
        common: The one cutoff for all that `before` is about: the audited one, else the best.
        common_gain: What that comes to.
        finding: The constraint as measured on these people, with its interval; None without a constraint.
        higher_is: Whether a higher score speaks for the positive class; if not, whoever is at or below a cutoff is
            selected.
    """

    attributes: tuple[str, ...]
    constraint: str | None
    within: float | None
    rules: tuple[Rule, ...]
    gain: float
    best_gain: float
    common: float
    common_gain: float
    finding: Finding | None = None
    higher_is: str = "positive"
    notes: tuple[str, ...] = ()
    objective: str = "accuracy"
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def randomised(self) -> bool:
        """Does any group need lots?"""
        return any(len(rule.cutoffs) > 1 for rule in self.rules)

    def chances(self, scores: Any, groups: Iterable[Any]) -> Floats:
        """The probability that each person is selected.

        `groups` has the group of each: the value of the attribute, or a tuple of the values of several.
        """
        return self.chances_at(scores, np.array([self._place(group) for group in groups], dtype=np.intp))

    def chances_at(self, scores: Any, places: npt.NDArray[np.intp]) -> Floats:
        """The same for people whose groups are given by the places of their rules."""
        scores = np.asarray(scores, dtype=np.float64)
        found = np.zeros(len(scores))
        for i, rule in enumerate(self.rules):
            mine = places == i
            for cutoff, weight in zip(rule.cutoffs, rule.weights, strict=True):
                beyond = scores[mine] >= cutoff if self.higher_is == "positive" else scores[mine] <= cutoff
                found[mine] += weight * beyond
        return np.minimum(found, 1.0)

    def _place(self, group: Any) -> int:
        """Where a group's rule is; each value is spelled as it was when it was counted."""
        if group not in self._places:
            parts = group if isinstance(group, tuple) else (group,)
            wanted = tuple(None if part is None or part != part else spelling(part) for part in parts)  # noqa: PLR0124
            if wanted not in self._places:
                raise DataError(
                    f"there is no cutoff for {shorten(repr(spell(wanted)))}: it was not among "
                    f"{listing(spell(rule.group) for rule in self.rules)} when the cutoffs were chosen."
                )
            self._places[group] = self._places[wanted]
        return self._places[group]

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {rule.group: i for i, rule in enumerate(self.rules)}

    def to_frame(self) -> Any:
        """One line for each group and cutoff, with its measures before and after."""
        lines = [(rule, i) for rule in self.rules for i in range(len(rule.cutoffs))]
        columns: dict[str, list[Any]] = {
            "group": [spell(rule.group) for rule, _ in lines],
            "people": [rule.people for rule, _ in lines],
            "cutoff": [rule.cutoffs[i] for rule, i in lines],
            "probability": [rule.weights[i] for rule, i in lines],
        }
        for name in SHOWN:
            columns |= {f"{name}_before": [rule.before[name] for rule, _ in lines]}
            columns |= {name: [rule.after[name] for rule, _ in lines]}
        return frames.frame(columns, None)

    def explain(self) -> str:
        """Which cutoffs, what they keep and what they cost whom."""
        from evenhand.report.text import thresholds

        return thresholds.plain(self)

    __str__ = explain

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: a cutoff that all reach is "everyone", one that none reaches "nobody"."""
        told = {name: getattr(self, name) for name in _PLAIN}
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **told,
            "attributes": list(self.attributes),
            "common": _told(self.common, self.higher_is),
            "bands": {name: list(edges) for name, edges in self.bands.items()},
            "groups": [
                {
                    "group": list(rule.group),
                    "people": rule.people,
                    "cutoffs": [_told(cutoff, self.higher_is) for cutoff in rule.cutoffs],
                    "probabilities": list(rule.weights),
                    "before": _plain(rule.before),
                    "after": _plain(rule.after),
                }
                for rule in self.rules
            ],
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write them as JSON, whole or not at all."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    @staticmethod
    def load(path: str | Path) -> Thresholds:
        """Read what `save` has written; the finding is not in the file."""
        shown = repr(short_path(Path(path)))
        try:
            told = json.loads(Path(path).read_text(encoding="utf-8"))
            if told["format"] != FORMAT or told["format_version"] != FORMAT_VERSION:
                raise ValueError(f"its format is {told['format']!r}, version {told['format_version']!r}")
            return Thresholds(
                attributes=tuple(told["attributes"]),
                rules=tuple(_rule(group, told["higher_is"]) for group in told["groups"]),
                common=_cutoff(told["common"], told["higher_is"]),
                bands={name: tuple(edges) for name, edges in told["bands"].items()},
                notes=tuple(told["notes"]),
                **{name: told[name] for name in _PLAIN},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{shown} holds no thresholds that can be read: {shorten(str(error))}.") from error


def _told(cutoff: float, higher_is: str) -> float | str:
    """A cutoff for JSON, which knows no infinity."""
    if math.isfinite(cutoff):
        return cutoff
    return "everyone" if (cutoff < 0) == (higher_is == "positive") else "nobody"


def _cutoff(told: float | str, higher_is: str) -> float:
    if isinstance(told, str):
        return -math.inf if (told == "everyone") == (higher_is == "positive") else math.inf
    return float(told)


def _plain(measures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in measures.items()}


def _rule(told: Mapping[str, Any], higher_is: str) -> Rule:
    before, after = (
        {name: math.nan if value is None else float(value) for name, value in told[when].items()}
        for when in ("before", "after")
    )
    cutoffs = tuple(_cutoff(cutoff, higher_is) for cutoff in told["cutoffs"])
    weights = tuple(float(weight) for weight in told["probabilities"])
    return Rule(tuple(told["group"]), int(told["people"]), cutoffs, weights, before, after)
