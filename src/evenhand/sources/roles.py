"""The roles that columns play, read from the arguments of a call.

`assign` checks the arguments of a call and reports all problems at once; the list of arguments is
`evenhand.sources.read_arguments`, whose names are here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, get_args

from evenhand.core.quantities import check_finite, check_whole, shown
from evenhand.errors import CallError, Problems, as_typed, either, listing, nearest, shorten
from evenhand.sources.conditions import Condition, check_codes, conditions
from evenhand.sources.named_columns import check_twice, several, single
from evenhand.sources.periods import Every, period_of
from evenhand.sources.read_arguments import (
    ARGUMENTS,
    DEFAULTS,
    SINGLE,
    TYPES,
    Argument,
    Direction,
    Function,
    Missing,
    ReadArguments,
    Resolution,
    Span,
    Strategy,
    Task,
    complete,
    shown_type,
    with_read_arguments,
)
from evenhand.sources.spelling import canonical, spelling
from evenhand.sources.value_labels import Labels, label_of, read_labels

__all__ = [
    "ARGUMENTS",
    "DEFAULTS",
    "SINGLE",
    "TYPES",
    "Argument",
    "Direction",
    "Function",
    "Missing",
    "Positive",
    "ReadArguments",
    "Resolution",
    "Roles",
    "Span",
    "Strategy",
    "Task",
    "absent",
    "assign",
    "complete",
    "read_positive",
    "shown_type",
    "with_read_arguments",
]

if TYPE_CHECKING:
    from evenhand.sources.scores import ScoreReading


class Positive(NamedTuple):
    """The favourable values of one role, in canonical spelling; `collapse` allows more than two values."""

    values: tuple[str, ...] = ("1",)
    collapse: bool = False

    def __str__(self) -> str:
        return " or ".join(shorten(repr(value)) for value in self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Roles:
    """The arguments of a reader after they were checked: a name is a column of the data, or of an array in `arrays`."""

    sensitive: tuple[str, ...]
    control: tuple[str, ...] = ()
    label: str | None = None
    prediction: str | None = None
    score: str | None = None
    count: str | None = None
    weight: str | None = None
    exposure: str | None = None
    """The column that `weight` names too, where the label counts events: it is read as events for each unit."""
    cluster: str | None = None
    design_strata: str | None = None
    clusters: Span | None = None
    positive: Mapping[str, Positive] = field(default_factory=dict)
    cutoff: float | None = None
    score_range: tuple[float, float] | None = None
    higher_is: Direction = "positive"
    bins: int = 10
    strategy: Strategy = "uniform"
    resolution: Resolution = "grid"
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    """The attributes whose numbers are only names and are never cut: those with None in bands=."""
    missing: Missing = "group"
    na: tuple[str, ...] = ()
    hive: bool = False
    task: Task | None = None
    labels: Labels = field(default_factory=dict)
    where: tuple[Condition, ...] = ()
    rivals: tuple[str, ...] = ()
    """The columns of the predictions of other models on the same people, which are read beside `prediction`."""
    arrays: Mapping[str, Any] = field(default_factory=dict)
    """The columns that were passed as arrays, by the key of their role."""
    like_scores: ScoreReading | None = None
    """How another cube reads its score, where this one is to be counted like it."""
    periods: Mapping[str, Every | None] = field(default_factory=dict)
    """The control whose values are periods of time, and how long each is; None where each value is a period."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Columns that are read for one function only, by their role there, such as the unit of a correspondence audit."""

    def called(self, key: str) -> str:
        """What a reader calls a role: an exposure is read as a weight."""
        return "exposure" if key == "weight" and self.exposure is not None else key

    @property
    def keys(self) -> dict[str, str]:
        """The column name of each role that is read, by a key of ours: a name of the caller never becomes a key."""
        keys = {f"control:{name}": name for name in self.control}
        keys |= {f"sensitive:{name}": name for name in self.sensitive}
        keys |= {role: name for role in SINGLE if (name := getattr(self, role)) is not None}
        keys |= {f"prediction:{i}": name for i, name in enumerate(self.rivals, 1)}
        return {**keys, **self.others}

    @property
    def grouping(self) -> tuple[str, ...]:
        """The keys that make pairs: strata first, then groups."""
        return (*(f"control:{name}" for name in self.control), *(f"sensitive:{name}" for name in self.sensitive))

    @property
    def raw_keys(self) -> tuple[str, ...]:
        """The keys that engines group by as raw values; the tally decides what the values mean."""
        rivals = (f"prediction:{i}" for i, _ in enumerate(self.rivals, 1))
        decisions = () if self.task == "regression" else ("label", "prediction", *rivals)
        return tuple(key for key in (*self.grouping, *decisions) if key in self.keys)

    @property
    def number_keys(self) -> tuple[str, ...]:
        """The keys whose columns engines read as numbers, to cut and to sum."""
        measured = ("prediction", "label") if self.task == "regression" else ("score",)
        return tuple(key for key in (*measured, "count", "weight") if key in self.keys)

    def caller(self, attribute: str) -> Callable[[Any], str] | None:
        """What names the values of an attribute, where they are not called as they are spelled."""
        if attribute in self.periods:
            return partial(period_of, self.periods[attribute], attribute)
        return partial(label_of, names=self.labels[attribute]) if attribute in self.labels else None

    @property
    def axis(self) -> str | None:
        """The role whose numbers are cut into bins: a score, or the prediction of a regressor."""
        if self.task == "regression":
            return "prediction"
        return None if self.score is None else "score"

    @property
    def axis_title(self) -> str:
        """The column of `axis`, as an error names it."""
        return f"{self.axis} column {shorten(str(getattr(self, self.axis or 'score')))!r}"


@with_read_arguments
def assign(
    names: Sequence[str] | None,
    *,
    like_scores: ScoreReading | None = None,
    needs: Collection[str] = ("groups", "outcomes"),
    others: Mapping[str, Any] | None = None,
    **arguments: Unpack[ReadArguments],
) -> Roles:
    """The roles that the arguments of a call give to columns. `names` are the columns of the data; None where there
    are only arrays. `needs` says what must be there: "groups" (sensitive=), "outcomes" (a label, prediction or score);
    `others` are columns that only this caller reads, by their role (None is left out). All that is wrong with the
    arguments is said in one error."""
    values = complete(assign, arguments)
    problems = Problems()
    arrays: dict[str, Any] = {}
    columns = {role: single(role, values[role], names, arrays, problems) for role in SINGLE}  # type: ignore[literal-required]
    exposure = _exposure(values, names, arrays, problems)
    if exposure is not None:
        columns["weight"] = exposure
        values = {**values, "task": "regression"}
    more = {
        role: name
        for role, value in (others or {}).items()
        if (name := single(role, value, names, arrays, problems)) is not None
    }
    groups = several("sensitive", values["sensitive"], names, arrays, problems)
    strata = several("control", values["control"], names, arrays, problems)
    if values["sensitive"] is None and "groups" in needs:
        problems.add("sensitive= is missing: name the attribute that makes the groups, such as sensitive='race'.")
    check_twice(
        {
            **{role: (name,) for role, name in {**columns, **more}.items() if name},
            "sensitive": groups,
            "control": strata,
        },
        arrays,
        problems,
    )
    if "outcomes" in needs and all(values[role] is None for role in ("label", "prediction", "score")):
        problems.add("there is nothing to measure: give prediction=, score=, or label=.")
    _check_settings(values, problems)
    _check_task(values, problems)
    outcome = (columns["label"],) if str(values["task"]) == "regression" and columns["label"] else ()
    try:
        na = absent(values["na"])
    except CallError as error:
        na = ()
        problems.add(str(error))
    edges, categories = _bands(values["bands"], (*groups, *strata), outcome, problems)
    labels = read_labels(values["labels"], (*groups, *strata), names, edges, problems)
    where = conditions(values["where"], names, problems)
    check_codes(where, labels, problems)
    checked = {
        "sensitive": groups,
        "control": strata,
        "positive": read_positive(values["positive"], problems),
        "score_range": _score_range(values["score_range"], problems),
        "bands": edges,
        "na": na,
        "labels": labels,
        "where": where,
    }
    problems.raise_if_any(CallError)
    cutoff = None if values["cutoff"] is None else float(values["cutoff"])
    settled: dict[str, Any] = {**values, **columns, **checked, "cutoff": cutoff, "exposure": exposure}
    return Roles(**settled, categories=categories | labels.keys(), arrays=arrays, like_scores=like_scores, others=more)


def _exposure(
    values: ReadArguments, names: Sequence[str] | None, arrays: dict[str, Any], problems: Problems
) -> str | None:
    """The column of the exposure, which is read as a weight; an array stands among `arrays` as one."""
    if values["exposure"] is None:
        return None
    given, weight = as_typed("exposure=", "--exposure"), as_typed("weight=", "--weight")
    if values["weight"] is not None:
        problems.add(f"{given} and {weight} cannot both be given: rows are weighted by exposure.")
    if values["label"] is None or values["prediction"] is None:
        problems.add(f"{given} needs a label, the number of events, and a prediction, those expected for each unit.")
    if values["task"] not in (None, "regression"):
        problems.add(f"{given} is for task='regression', where the label counts events; this is {values['task']!r}.")
    name = single("exposure", values["exposure"], names, arrays, problems)
    if "exposure" in arrays:
        arrays["weight"] = arrays.pop("exposure")
    return name


def _check_settings(values: ReadArguments, problems: Problems) -> None:
    """The arguments that do not name columns."""
    cutoff, bins = values["cutoff"], values["bins"]
    if cutoff is not None:
        check_finite("cutoff", cutoff, problems)
    if cutoff is not None and values["score"] is None:
        problems.add("cutoff= is given without score=: name the score that it cuts.")
    if values["design_strata"] is not None and values["cluster"] is None:
        strata, cluster = as_typed("design_strata=", "--design-strata"), as_typed("cluster=", "--cluster")
        problems.add(f"{strata} is given without {cluster}: name the clusters that were drawn in the strata.")
    for name in ("missing", "higher_is", "strategy", "resolution"):
        _one_of(name, values[name], get_args(TYPES[name]), problems)
    _one_of("clusters", values["clusters"], (*get_args(Span), None), problems)
    check_whole("bins", bins, 1, 100, problems)


def _check_task(values: ReadArguments, problems: Problems) -> None:
    task = values["task"]
    if task is None:
        return
    if not _one_of("task", task, get_args(Task), problems):
        return
    if task != "binary" and values["score"] is not None:
        remedy = "pass the predicted number as prediction=" if task == "regression" else "audit one class: positive='a'"
        problems.add(f"task={task!r} takes no score=: {remedy}.")
    if task == "multiclass" and values["label"] is None and values["prediction"] is None:
        problems.add("task='multiclass' needs label= or prediction=.")
    if task == "regression" and values["prediction"] is None:
        problems.add("task='regression' needs prediction=, the predicted number.")


def _one_of(name: str, value: Any, known: Sequence[str | None], problems: Problems) -> bool:
    good = (value is None or isinstance(value, str)) and value in known
    if not good:
        problems.add(f"{name}={shown(value)} must be {either(map(repr, known))}.")
    return good


def absent(na: Any) -> tuple[str, ...]:
    """The texts that mean missing, as they are spelled.

    >>> absent("NA"), absent(["NA", -9])
    (('NA',), ('NA', '-9'))
    """
    listed = isinstance(na, Iterable) and not isinstance(na, (str, bytes, Mapping)) and getattr(na, "ndim", 1) == 1
    values = list(na) if listed else [na]
    plain = all(isinstance(value, (str, Real)) and value == value for value in values)  # noqa: PLR0124 - NaN
    with suppress(UnicodeEncodeError):  # a statement is UTF-8
        if plain and "".join(spelled := [spelling(value) for value in values]).encode() is not None:
            return tuple(spelled)
    raise CallError(f"na={shown(na)} must be text that means missing, such as 'NA'; None and NaN do so already.")


def _score_range(ends: Sequence[float] | None, problems: Problems) -> tuple[float, float] | None:
    if ends is None:
        return None
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        problems.add(f"score_range={shown(ends)} must be two rising numbers, such as (0, 1).")
        return None
    return low, high


def _bands(
    bands: Mapping[str, Sequence[float] | None] | None,
    attributes: Sequence[str],
    outcome: Sequence[str],
    problems: Problems,
) -> tuple[dict[str, tuple[float, ...]], frozenset[str]]:
    """The edges of what is to be cut, and the attributes that are never cut; `outcome` is the label of a regressor."""
    edges: dict[str, tuple[float, ...]] = {}
    if bands is not None and not isinstance(bands, Mapping):
        problems.add(f"bands={shown(bands)} must name the attribute, such as {{'age': [0, 25, 45, 200]}}.")
        return edges, frozenset()
    some = as_typed("[0, 25, 45, 200]", "0,25,45,200")
    bands = {} if bands is None else {str(name): cuts for name, cuts in bands.items()}  # as the names of columns are
    for name, cuts in bands.items():
        if name not in (*attributes, *outcome):
            problems.add(f"bands= names {shorten(name)!r}, which is not an attribute here; {nearest(name, attributes)}")
            continue
        if cuts is None and name in attributes:
            continue
        try:
            edges[name] = tuple(float(cut) for cut in (() if cuts is None else cuts))
        except (TypeError, ValueError, OverflowError):
            problems.add(f"bands for {shorten(name)!r} must be numbers, such as {some}.")
            continue
        rising = all(a < b for a, b in zip(edges[name], edges[name][1:], strict=False))
        if len(edges[name]) < 2 or not rising:
            problems.add(f"bands for {shorten(name)!r} must be at least two rising numbers, such as {some}.")
    return edges, frozenset(name for name in attributes if name in bands and bands[name] is None)


def read_positive(positive: Any, problems: Problems) -> dict[str, Positive]:
    """The favourable values of label and prediction, from the argument positive= of any function."""
    if not isinstance(positive, Mapping):
        positive = {"label": positive, "prediction": positive}
    unknown = [str(role) for role in positive if role not in ("label", "prediction")]
    if unknown:
        problems.add(f"positive= has keys {listing(unknown)}; it takes 'label' and 'prediction'.")
    favourable = {}
    for role in ("label", "prediction"):
        value = positive.get(role, 1)
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0
        values = tuple(sorted({canonical(item) for item in value})) if several else (canonical(value),)
        if not values:
            problems.add(f"positive= is empty for {role}: name the value that counts as positive.")
        favourable[role] = Positive(values, collapse=several or values != ("1",))
    return favourable
