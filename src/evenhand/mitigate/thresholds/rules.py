"""Thresholds: the cutoffs of each group with what they keep and cost, which can be printed, applied and saved."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from evenhand.core import checksum, frames
from evenhand.core.arguments import checked, is_series
from evenhand.core.arrays import Floats, Indices
from evenhand.core.cards import Carded
from evenhand.core.files import read_text, write_text
from evenhand.core.frames import readable
from evenhand.core.quantities import shown
from evenhand.core.results import Finding, Group, number_or_none, spell
from evenhand.core.signs import Printable, escaped, printable
from evenhand.errors import CallError, DataError, listing, short_path, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.roles import Direction
from evenhand.sources.spelling import spelling

SHOWN = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")
"""The measures that are shown for each group."""

FORMAT = "evenhand thresholds"
FORMAT_VERSION = 1

_MOST_BYTES = 64 << 20
_PLAIN = ("constraint", "within", "objective", "gain", "best_gain", "common_gain", "higher_is")


@dataclass(frozen=True, repr=False)
class Rule(Printable):
    """The cutoffs of one group: `cutoffs[i]` applies with probability `weights[i]`; mostly there is only one.

    `before` and `after` are the group's measures with one cutoff for everyone and with this rule.
    """

    group: Group
    people: int
    cutoffs: tuple[float, ...]
    weights: tuple[float, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]

    def __repr__(self) -> str:
        cutoffs = ", ".join(f"{cutoff:.6g}" for cutoff in self.cutoffs)
        return printable(f"<Rule of {escaped(spell(self.group))}: {self.people:,} people, cutoff {cutoffs}>")


def _numbers(scores: Any) -> Floats:
    try:
        found = np.asarray(readable(scores), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(())
    if found.ndim != 1:
        raise CallError(f"scores={shown(scores)} must be a list of numbers, one for each person.")
    return found


@documented
@checked
@dataclass(frozen=True, repr=False)
class Thresholds(Carded):
    """Cutoffs by group, what they keep and what they cost.

    Attributes
    ----------
    attributes
        What makes the groups.
    constraint
        The metric that is kept, or None.
    within
        The largest difference, or the smallest ratio, that was allowed.
    rules
        One for each group.
    gain
        The mean gain of a person with these rules: the share of right decisions, for accuracy.
    best_gain
        The same with the best cutoff for each group and no constraint.
    common
        The one cutoff for everyone that `before` uses: the audited one, else the best.
    common_gain
        The mean gain with that cutoff.
    finding
        The constraint as measured on these people, with its interval; None without a constraint.
    higher_is
        The class that a higher score speaks for; if "negative", people at or below a cutoff are selected.
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
        """Does any group have several cutoffs, between which is drawn at random?"""
        return any(len(rule.cutoffs) > 1 for rule in self.rules)

    def chances(self, scores: Any, groups: Any) -> Floats:
        """The probability that each person is selected.

        `groups` has the group of each: the value of the attribute, or a tuple of the values of several.

        Parameters
        ----------
        scores
            The score of each row.
        groups
            The group of each row: an array, a table or a mapping {name: array}.

        Returns
        -------
        Floats
            The chance of each row to be selected.
        """
        groups = readable(groups)
        if not is_series(groups):
            raise CallError(f"groups={shown(groups)} must be a list with the group of each person.")
        places = np.array([self._place(group) for group in groups], dtype=np.intp)
        scores = _numbers(scores)
        if len(scores) != len(places):
            raise CallError(f"there are {len(scores):,} scores for {len(places):,} groups: give one for each.")
        if np.isnan(scores).any():
            raise DataError(f"{int(np.isnan(scores).sum()):,} scores are missing: a cutoff cannot decide them.")
        return self.chances_at(scores, places)

    def chances_at(self, scores: Any, places: Indices) -> Floats:
        """The probability that each person is selected; `places` are the positions of their groups' rules.

        Parameters
        ----------
        scores
            The score of each row.
        places
            The place of each row's group in `rules`.

        Returns
        -------
        Floats
            The chance of each row to be selected.
        """
        scores = _numbers(scores)
        if np.shape(places) != scores.shape:
            raise CallError(
                f"places={shown(places)} must be the position of a rule for each of {len(scores):,} scores."
            )
        found = np.zeros(len(scores))
        for i, rule in enumerate(self.rules):
            mine = places == i
            for cutoff, weight in zip(rule.cutoffs, rule.weights, strict=True):
                beyond = scores[mine] >= cutoff if self.higher_is == "positive" else scores[mine] <= cutoff
                found[mine] += weight * beyond
        return np.minimum(found, 1.0)

    def _place(self, group: Any) -> int:
        """The position of a group's rule; its values may be written in any way that is spelled the same."""
        if not isinstance(group, Hashable) or group not in self._places:
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
        """The cutoffs, what they keep and what they cost each group, as text."""
        from evenhand.report.text import thresholds

        return thresholds.plain(self)

    __str__ = explain

    def __repr__(self) -> str:
        on = escaped(" × ".join(self.attributes))
        kept = "no constraint" if self.constraint is None else f"{self.constraint} within {self.within:g}"
        return printable(f"<Thresholds of {len(self.rules)} groups of {on}: {kept}, {self.objective} {self.gain:.4g}>")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: a cutoff that everyone reaches is "everyone", one that nobody reaches "nobody"."""
        told = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            checksum.KEY: "",
            **{name: getattr(self, name) for name in _PLAIN},
            "attributes": list(self.attributes),
            "common": _cutoff_for_json(self.common, self.higher_is),
            "bands": {name: list(edges) for name, edges in self.bands.items()},
            "groups": [
                {
                    "group": list(rule.group),
                    "people": rule.people,
                    "cutoffs": [_cutoff_for_json(cutoff, self.higher_is) for cutoff in rule.cutoffs],
                    "probabilities": list(rule.weights),
                    "before": _measures_for_json(rule.before),
                    "after": _measures_for_json(rule.after),
                }
                for rule in self.rules
            ],
            "notes": list(self.notes),
        }
        return {**told, checksum.KEY: checksum.of_record(told)}

    def save(self, path: str | Path) -> None:
        """Write them as JSON, completely or not at all."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    @staticmethod
    def load(path: str | Path) -> Thresholds:
        """Read what `save` has written; the finding is not in the file."""
        shown = repr(short_path(Path(path)))
        text = read_text(Path(path), "thresholds", _MOST_BYTES)
        try:
            record = json.loads(text)
            if record["format"] != FORMAT or record["format_version"] != FORMAT_VERSION:
                raise ValueError(f"its format is {record['format']!r}, version {record['format_version']!r}")
            checksum.check(record)
            if record["higher_is"] not in get_args(Direction):
                raise ValueError(f"higher_is is {record['higher_is']!r}")
            return Thresholds(
                attributes=tuple(record["attributes"]),
                rules=tuple(_rule(group, record["higher_is"], len(record["attributes"])) for group in record["groups"]),
                common=_cutoff(record["common"], record["higher_is"]),
                bands={name: tuple(edges) for name, edges in record["bands"].items()},
                notes=tuple(record["notes"]),
                **{name: record[name] for name in _PLAIN},
            )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else shorten(str(error), 120)
            raise DataError(f"{shown} does not hold thresholds that can be read: {why}. Save them again.") from error


def _cutoff_for_json(cutoff: float, higher_is: str) -> float | str:
    """A cutoff for JSON, which has no infinity."""
    if math.isfinite(cutoff):
        return cutoff
    return "everyone" if (cutoff < 0) == (higher_is == "positive") else "nobody"


def _cutoff(value: float | str, higher_is: str) -> float:
    """A cutoff as it was before `_cutoff_for_json`."""
    if isinstance(value, str):
        if value not in ("everyone", "nobody"):
            raise ValueError(f"a cutoff is {value!r}")
        return -math.inf if (value == "everyone") == (higher_is == "positive") else math.inf
    return float(value)


def _measures_for_json(measures: Mapping[str, float]) -> dict[str, float | None]:
    """Measures for JSON, which has no NaN."""
    return {name: number_or_none(value) for name, value in measures.items()}


def _rule(record: Mapping[str, Any], higher_is: str, attributes: int) -> Rule:
    before, after = (
        {name: math.nan if value is None else float(value) for name, value in record[when].items()}
        for when in ("before", "after")
    )
    cutoffs = tuple(_cutoff(cutoff, higher_is) for cutoff in record["cutoffs"])
    weights = tuple(float(weight) for weight in record["probabilities"])
    if len(cutoffs) != len(weights) or len(record["group"]) != attributes:
        raise ValueError("a group does not have a value for each attribute, or a probability for each cutoff")
    if not (math.isclose(sum(weights), 1, abs_tol=1e-9) and min(weights) >= 0):
        raise ValueError(f"the probabilities {shorten(str(weights))} do not add up to 1")
    return Rule(tuple(record["group"]), int(record["people"]), cutoffs, weights, before, after)
