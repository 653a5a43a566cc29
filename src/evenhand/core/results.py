"""Results: an Estimate, the Rows below it, Panels to draw, and the Finding that holds them.

Everything here is frozen and computes nothing; findings are made in `verdicts`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from evenhand.core.cards import Carded
from evenhand.core.records import UNSAVED
from evenhand.core.signs import Printable, escaped, printable

if TYPE_CHECKING:
    from evenhand.core.sensitivity import Sensitivity

Group = tuple[str | None, ...]
"""One value for each attribute; None is a missing value."""
Pair = tuple[Group, Group]
"""A stratum and a group in it."""

Verdict = Literal["pass", "fail", "inconclusive", "not judged"]
JudgedOn = Literal["difference", "ratio", "value", "floor"]
OF_ONE_VALUE: tuple[JudgedOn, ...] = ("value", "floor")
"""What is judged by itself and not as a gap: a value of which less is better, and one that must reach a floor."""

MISSING = "(missing)"
TREND = "trend"
"""The role of panels over time, which a page shows first."""


UNNAMED, UNNAMED_CONTROL = "sensitive", "control"
"""What an attribute, and a control, are called that were passed as an array without a name."""

# What speaks for itself: three letters of Latin in a row, or a letter of another script; but not an answer to a
# question that only the name of the attribute asks.
_SPEAKS = re.compile(r"[A-Za-z]{3}|(?![A-Za-z])[^\W\d_]")
_ANSWERS = {"true", "false", "yes"}


def spell(group: Group | None, attributes: Sequence[str] = ()) -> str:
    """A group's name; with its `attributes` as people read it, where a code stands with the attribute that it is of.

    >>> spell(("African-American", "Male")), spell((None,)), spell(())
    ('African-American, Male', '(missing)', '(everyone)')
    >>> spell(("1",), ["age_gt25"]), spell(("F", "Asian"), ["sex", "race"]), spell(("2",), ["sensitive"])
    ('age_gt25 = 1', 'sex = F, Asian', 'group 2')
    """
    return _spelled(tuple(group or ()), tuple(attributes))


@lru_cache(maxsize=100_000)
def _spelled(group: Group, attributes: tuple[str, ...]) -> str:
    if not group:
        return "(everyone)"
    named = attributes if len(attributes) == len(group) else [None] * len(group)
    return ", ".join(_value(value, name) for value, name in zip(group, named, strict=True))


def shown_names(names: Iterable[str], groups: Iterable[Group], attributes: Sequence[str]) -> list[str]:
    """Names of groups as people read them; what is not one of the groups stays as it is.

    >>> shown_names(["1", "everyone"], [("0",), ("1",)], ["old"])
    ['old = 1', 'everyone']
    """
    shown = {spell(group): spell(group, attributes) for group in groups}
    return [shown.get(name, name) for name in names]


def pair_names(row: Row, groups: Iterable[Group], attributes: Sequence[str]) -> tuple[str, str]:
    """The two groups of a row as people read them; what is not one of the groups, such as everyone, as it is.

    >>> pair_names(Row("x", ("1",), against="0"), [("0",), ("1",)], ["old"]), pair_names(Row("x", ()), [], [])
    (('old = 1', 'old = 0'), ('', ''))
    """
    (other,) = shown_names([row.against or ""], groups, attributes)
    return spell(row.group, attributes) if row.group else "", other


def spell_stratum(stratum: Group, controls: Sequence[str]) -> str:
    """A stratum as people read it: the value of each control, with the name of the column.

    >>> spell_stratum(("A", None), ["department", "term"]), spell_stratum(("1",), ["control"])
    ('department = A, term = (missing)', 'stratum 1')
    """
    named = zip(controls, stratum, strict=True) if len(controls) == len(stratum) else None
    if named is None:
        return spell(stratum)
    shown = [(name, MISSING if value is None else value) for name, value in named]
    return ", ".join(f"stratum {value}" if name == UNNAMED_CONTROL else f"{name} = {value}" for name, value in shown)


def _value(value: str | None, attribute: str | None) -> str:
    """A value of an attribute, with the name of the attribute where the value alone says little."""
    if value is None:
        return MISSING
    if attribute is None or (_SPEAKS.search(value) and value.lower() not in _ANSWERS):
        return value
    return f"group {value}" if attribute == UNNAMED else f"{attribute} = {value}"


def number_or_none(value: float) -> float | None:
    """A number for a table or a file; None where it is NaN."""
    return None if math.isnan(value) else float(value)


def figure(value: float) -> str:
    """Three figures, and whole numbers from a thousand on; what rounding errors leave of nothing is 0.

    >>> figure(0.12345), figure(51234.5), figure(-1234.5), figure(6.9e-18)
    ('0.123', '51,234', '-1,234', '0')
    """
    if abs(value) < 1e-12:
        return "0"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; NaN is undefined, None is an end that was not computed.

    >>> float(Estimate(0.25)), str(Estimate(math.nan))
    (0.25, 'undefined')
    """

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: float, low: float, high: float) -> Estimate:
        """From plain numbers; without an interval where the value or one of its ends is NaN.

        Parameters
        ----------
        value
            The estimate.
        low
            The lower end of its interval; NaN where there is none.
        high
            The upper end; NaN where there is none.

        Returns
        -------
        Estimate
            The estimate with its ends.
        """
        if math.isnan(value) or math.isnan(low) or math.isnan(high):
            return cls(float(value))
        return cls(float(value), float(low), float(high))

    def __float__(self) -> float:
        return self.value

    @property
    def defined(self) -> bool:
        """Is there a number at all?"""
        return not math.isnan(self.value)

    def __str__(self) -> str:
        if not self.defined:
            return "undefined"
        if self.low is None or self.high is None:
            return f"{self.value:.4g}"
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


UNDEFINED = Estimate(math.nan)


@dataclass(frozen=True, slots=True, repr=False)
class Row(Printable):
    """One line below a finding: a measure of a group, or a group set against another.

    `n` is the number of rows the measure could use (its denominator); `against` names what the group is
    compared with, and `n_against` is the same number there; `reason` says why a value is undefined.
    """

    measure: str
    group: Group
    stratum: Group = ()
    bin: tuple[float, float] | None = None
    against: str | None = None
    n: int | None = None
    estimate: Estimate | None = None
    difference: Estimate | None = None
    ratio: Estimate | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    reason: str | None = None
    of_class: str | None = None
    """Where there are several classes: the one that is set against the rest; None for all of them together."""
    n_against: int | None = None

    def __repr__(self) -> str:
        of = "" if self.of_class is None else f" of {escaped(self.of_class)}"
        within = f" in {escaped(spell(self.stratum))}" if self.stratum else ""
        against = "" if self.against is None else f" against {escaped(self.against)}"
        parts = {"value": self.estimate, "difference": self.difference, "ratio": self.ratio}
        said = [f"{name} {one}" for name, one in parts.items() if one is not None]
        people = [] if self.n is None else [f"n = {self.n:,}"]
        bounds = "" if self.bin is None else f" from {self.bin[0]:g} to {self.bin[1]:g}"
        about = f"{escaped(self.measure)}{of}{bounds} of {escaped(spell(self.group))}{within}{against}"
        return printable(f"<Row {about}: {', '.join([*said, *people])}>")


@dataclass(frozen=True, slots=True, repr=False)
class Panel(Printable):
    """Something to draw, as plain columns and rows, so that a new capability brings its own picture.

    `role` tells a report what the panel is, where the report treats it in its own way: "calibration" (calibration
    curves, which a page with counts draws itself), "strata" (groups within strata, which a page shows on its own),
    "trend" (something over time, which a page shows first) or "listed" (the groups on which a verdict rests, which come
    first where the finding does).
    """

    kind: Literal["table", "curve", "distribution", "pairs"]
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    role: str = ""

    def __repr__(self) -> str:
        columns = escaped(", ".join(self.columns))
        return printable(f"<Panel ({self.kind}) {escaped(self.title)}: {len(self.rows):,} rows of {columns}>")


@dataclass(frozen=True, slots=True)
class Sample(Printable):
    """What a sample of this size can show.

    `expected_gap` is how far apart groups of these sizes would lie by chance alone; `detectable_gap` the smallest
    gap that would be found with 80 % power; `rows_to_settle` how many rows in all would probably settle an
    inconclusive finding, `limiting_group` whose smallness matters most. `variance` is that between the groups,
    `variance_debiased` the same with the sampling noise removed.
    """

    expected_gap: float
    detectable_gap: float
    variance: float
    variance_debiased: float
    rows_to_settle: int | None = None
    limiting_group: Group | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose data a finding is about: the library of the table, and of which kind the values of each attribute were.

    By it `Finding.to_frame` is a table of the caller's own kind, in which 1 is 1 and not "1".
    """

    frame_kind: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Finding(Carded):
    """One metric evaluated on one set of groups.

    `value` is the estimate that is judged and `judged_on` says what it is: its ends and the threshold alone make the
    `verdict`. `passes` compares the estimate with the threshold and nothing else. `evidence` is the pair of groups on
    which the verdict rests, with the rows of both, and what `interpretation` speaks of; `left_out` names the groups
    that are too small to support a pass. `highest` and `lowest` are the extremes, however unsure. `p_value` tests
    "no gap at all" by the test named in `tested`, and does not decide the verdict; `counts` is the table it rests on,
    by which an audit tells equal questions apart. `basis` is what it was judged by (a `verdicts.basis.Basis`), where
    that is known, and what `sensitivity` is computed from; `caller` says whose kind of table `to_frame` makes. None of
    the three is shown, compared or saved; loading an audit makes `basis` again.
    """

    metric: str
    title: str
    attributes: tuple[str, ...]
    value: Estimate
    judged_on: JudgedOn
    threshold: float | None
    passes: bool | None
    verdict: Verdict
    interpretation: str
    summary: Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    unit: str = "rate"
    p_value: float | None = None
    p_adjusted: float | None = None
    tested: str | None = None
    sample: Sample | None = None
    counts: tuple[Any, Any] | None = field(default=None, repr=False, compare=False, metadata=UNSAVED)
    panels: tuple[Panel, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    basis: object | None = field(default=None, repr=False, compare=False, metadata=UNSAVED)
    evidence: Row | None = None
    left_out: tuple[str, ...] = ()
    caller: Caller | None = field(default=None, repr=False, compare=False, metadata=UNSAVED)

    @property
    def difference(self) -> Estimate:
        """The gap between extremes: highest − lowest, or group − reference for the group farthest from it."""
        return self.summary.difference or UNDEFINED

    @property
    def ratio(self) -> Estimate:
        """The ratio between extremes: lowest / highest, or group / reference."""
        return self.summary.ratio or UNDEFINED

    @property
    def extremes(self) -> Estimate:
        """What is judged, between the extremes or for the group farthest from its baseline, whatever decides.

        It does not depend on the threshold, so it is what two audits or two periods are compared by.
        """
        return {"difference": self.difference, "ratio": self.ratio}.get(self.judged_on, self.value)

    @property
    def shown(self) -> Estimate:
        """The judged estimate of the two groups in `evidence`, which sentence and tables show; else `value`."""
        parts = {} if self.evidence is None else {"difference": self.evidence.difference, "ratio": self.evidence.ratio}
        own = None if self.evidence is None else self.evidence.estimate
        return parts.get(self.judged_on, own) or self.value

    @property
    def over_time(self) -> bool:
        """Is it judged by the evidence over periods? Then `value` is that of all periods together."""
        return any(panel.role == TREND for panel in self.panels)

    @property
    def sensitivity(self) -> Sensitivity | None:
        """What missing labels, missing groups and wrong labels could hide; computed when it is asked for.

        None where the finding is not made of counted decisions, or the counts are not known.
        """
        found: Sensitivity | None = getattr(self.basis, "sensitivity", None)
        return found

    @property
    def groups(self) -> tuple[Row, ...]:
        """The rows that hold a measure of a group."""
        return tuple(row for row in self.rows if row.estimate is not None)

    @property
    def highest(self) -> str | None:
        """The group with the higher value (or the group set against a reference)."""
        return spell(self.summary.group) if self.summary.group else None

    @property
    def lowest(self) -> str | None:
        """The group with the lower value (or the reference)."""
        return self.summary.against

    def to_frame(self) -> Any:
        """The rows below the finding: measures of groups, and groups set against others.

        Returns
        -------
        DataFrame
            Of the caller's own kind; of pandas where no table was passed. Each attribute has a column with the
            caller's own values, and `group` is the name. A row about a group has `value`, `low` and `high`; a row
            about two groups has `against` and the `difference` and `ratio` with their ends. The last row is that of
            the metric itself: the extremes, as `finding.difference` and `finding.ratio` have them.

        Examples
        --------
        >>> import evenhand as eh
        >>> finding = eh.demographic_parity(prediction=[1, 1, 0, 1, 0, 0], sensitive={"race": list("aaabbb")})
        >>> finding.to_frame()[["measure", "race", "value", "difference"]]
                      measure race     value  difference
        0      selection_rate    a  0.666667         NaN
        1      selection_rate    b  0.333333         NaN
        2  demographic_parity    a       NaN    0.333333
        """
        from evenhand.audits import audit_tables

        return audit_tables.finding_table(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the measures of the groups with their intervals, or the value where no group has one of its own.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        FindingDisplay
            With the axes in `ax_` and the figure in `figure_`.

        Raises
        ------
        MissingDependencyError
            Where matplotlib is not installed; the message is the line to type.

        Examples
        --------
        >>> import evenhand as eh
        >>> finding = eh.demographic_parity(prediction=[1, 1, 0, 1, 0, 0], sensitive={"race": list("aaabbb")})
        >>> finding.plot().groups  # doctest: +SKIP
        ['a', 'b']
        """
        from evenhand.plots import FindingDisplay

        return FindingDisplay.from_finding(self).plot(ax)

    def __float__(self) -> float:
        return self.value.value

    def __str__(self) -> str:
        return printable(f"{self.verdict.capitalize()}. {self.interpretation}")

    def __repr__(self) -> str:
        on = escaped(" × ".join(self.attributes))
        judged = "all periods together" if self.over_time else self.judged_on
        return printable(f"<Finding {self.metric} on {on}: {judged} {self.value}, {self.verdict}>")
