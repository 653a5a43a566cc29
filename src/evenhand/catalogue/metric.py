"""Metric: one entry of the catalogue, with all that is particular to a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.core.arguments import check_argument
from evenhand.core.results import JudgedOn
from evenhand.core.signs import printable
from evenhand.errors import CallError, shorten
from evenhand.measures import Measure, find_measure
from evenhand.measures.base import MeasureDefaults
from evenhand.measures.indices import DependenceIndex, Index, ScoreDistance, ShiftFromEveryone
from evenhand.measures.row_measure import function_name
from evenhand.measures.scores import MIN_BIN
from evenhand.measures.sklearn_functions import measure_of
from evenhand.sources.scores import ScoreReading

Family = Literal[
    "independence",
    "separation",
    "sufficiency",
    "accuracy",
    "inequality",
    "scores",
    "distances",
    "dependence",
    "regression",
    "individual",
    "counterfactual",
    "stability",
    "data",
    "lending",
    "search",
    "own",
]
Aggregate = Literal["worst", "mean", "mean_abs"]


@dataclass(frozen=True, repr=False)
class Metric:
    """A named criterion: measures, how they are set side by side, and how large a gap is tolerated.

    A metric either compares `measures` between groups, or is an `index`: one number over all groups, computed by the
    function that the index names (see `evenhand.measures.indices`). With `binned` there is a measure for each
    calibration bin. `aggregate` says what several measures come to: the worst gap, the mean of the signed gaps, or the
    mean of their sizes. An alias is another name, with the arguments that it presets. `holds_equal` names what the
    criterion makes equal between groups, in the words of the theorems in `evenhand.catalogue.exclusions`.
    """

    name: str
    title: str
    family: Family
    measures: tuple[str | Measure, ...] = ()
    index: Index | None = None
    judged_on: JudgedOn = "difference"
    threshold: float | None = 0.1
    aggregate: Aggregate = "worst"
    one_sided: bool = False
    binned: bool = False
    along: Callable[[ScoreReading], tuple[Measure, ...]] | None = None
    """What makes its measures from how the score is read, such as one for each class; `measures` names their kind."""
    aliases: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    """Short names by which it is found, such as "fpr", and the name or alias that each stands for."""
    question: str = ""
    formula: str = ""
    compares: str = ""
    when: str = ""
    assumes: str = ""
    harm: tuple[str, ...] = ()
    limits: str = ""
    sources: tuple[str, ...] = ()
    see_also: tuple[str, ...] = ()
    holds_equal: tuple[str, ...] = ()
    counted: bool = True
    """Whether it is computed from the counts of a cube; if not, it has its own function, with its name."""
    example: str = ""
    """Code for its page, where it is not measured on the counts that ship with the package."""
    any_attributes: bool = False
    """Whether it decides on whatever columns it was asked about, because it looks at all of their combinations."""
    core: bool = False
    """Whether an audit computes it unless it is told otherwise; `metrics="all"` computes every one."""

    def __repr__(self) -> str:
        return printable(f"<Metric {self.name}: {self.question or self.title}>")

    @property
    def rows(self) -> tuple[Measure, ...]:
        """The measures themselves; a binned metric has one for each calibration bin of the data, and none here."""
        return tuple(find_measure(row) for row in self.measures)

    @property
    def probability(self) -> bool:
        """Does it need a score between 0 and 1?"""
        return any(row.probability for row in self.rows)

    @property
    def in_score_units(self) -> bool:
        """Is its gap measured on the scale of the score?"""
        if self.binned:
            return self.family == "regression"
        return bool(self.rows) and all(row.in_score_units for row in self.rows)

    @property
    def tasks(self) -> frozenset[str]:
        """What kinds of prediction it is for, as counted in a cube."""
        if not self.counted:
            return frozenset()
        if self.family == "regression":
            return frozenset({"regression"})
        if self.index is not None and self.index.any_number:
            return frozenset({"binary", "regression"})
        if self.index is not None or self.binned:
            return frozenset({"binary"})
        return frozenset.intersection(*(row.tasks for row in self.rows))

    @property
    def needs(self) -> frozenset[str]:
        """The roles without which the metric cannot be computed."""
        if self.binned:
            return frozenset({"prediction" if self.family == "regression" else "score", "label"})
        if self.index is not None:
            return frozenset(self.index.needs)
        return frozenset().union(*(row.needs for row in self.rows))

    @property
    def by_bins(self) -> bool:
        """Does it depend on where scores, or predicted numbers, stand? Then joined bins do not tell it."""
        spread = isinstance(self.index, (ScoreDistance, ShiftFromEveryone, DependenceIndex))
        return self.binned or spread or "score" in self.needs

    @property
    def options(self) -> Mapping[str, Any]:
        """The arguments that only this metric takes, with their defaults."""
        if self.binned:
            return {"min_bin": MIN_BIN}
        return {} if self.index is None else self.index.options


def define(
    name: str,
    *,
    measures: Any,
    judged_on: JudgedOn = "difference",
    threshold: float | None = None,
    title: str | None = None,
    question: str = "",
    columns: Mapping[str, Any] | None = None,
    raw: bool = False,
    unit: str | None = None,
) -> Metric:
    """Your own metric, from your own measure, from known ones, or from a function of the rows.

    `columns`, `raw` and `unit` are for a function, as in `evenhand.measure`.

    >>> from evenhand.measures.cells import measure
    >>> flagged = measure("wrongly_flagged_share", numerator="FP", denominator="TN FP FN TP")
    >>> define("wrongly_flagged_parity", measures=flagged, threshold=0.05).threshold
    0.05
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise CallError(f"metric name {shorten(repr(name))} must be a plain identifier such as 'lift_parity'.")
    if not isinstance(judged_on, str) or judged_on not in ("difference", "ratio"):
        raise CallError(f"judged_on={shorten(repr(judged_on))} must be 'difference' or 'ratio'.")
    threshold = check_argument("threshold", float | None, threshold)
    check_argument("title", str | None, title)
    check_argument("question", str, question)
    chosen = tuple(measures) if isinstance(measures, (tuple, list)) else (measures,)
    settings = {"columns": columns, "raw": raw, "unit": unit}
    chosen = tuple(_from_function(name, row, settings) for row in chosen)
    for row in chosen:
        if not isinstance(row, (str, MeasureDefaults)):
            raise CallError(
                f"metric {name!r} is made of measures; {shorten(repr(row))} is of type {type(row).__name__}: give the "
                "name of one, a function of the rows, or evenhand.measure('name', function)."
            )
    if not chosen:
        raise CallError(f"metric {name!r} needs a measure: name one or more in measures=.")
    if threshold is None:
        threshold = 0.8 if judged_on == "ratio" else 0.1
    kinds = {find_measure(row).name: find_measure(row).tasks for row in chosen}
    if not frozenset.intersection(*kinds.values()):
        raise CallError(
            f"metric {name!r} mixes measures of different tasks: "
            + ", ".join(f"{row} is for {' or '.join(sorted(tasks))}" for row, tasks in kinds.items())
            + ". Define one metric for each task."
        )
    return Metric(
        name,
        title or name.replace("_", " "),
        "own",
        chosen,
        judged_on=judged_on,
        threshold=threshold,
        question=question,
    )


def _from_function(name: str, row: Any, settings: Mapping[str, Any]) -> Any:
    """A function of the rows as a measure; anything else as it is."""
    wanted = {key: value for key, value in settings.items() if value is not None and value is not False}
    if isinstance(row, (str, MeasureDefaults, type)) or not callable(row):
        if wanted:
            raise CallError(
                f"metric {name!r}: {', '.join(f'{key}=' for key in wanted)} is for a function of the rows in measures="
                "; of evenhand.measure() it is an argument of its own."
            )
        return row
    own = function_name(row)
    return measure_of(row, own if own.isidentifier() else name, **wanted)
