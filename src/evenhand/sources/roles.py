"""Roles: which column plays which part. Arguments are read here, and all that is wrong is said at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from evenhand.errors import CallError, Problems, listing, nearest, shorten

Missing = Literal["group", "drop", "error"]
Task = Literal["binary", "multiclass", "regression"]
SINGLE = ("label", "prediction", "score", "count", "weight")


@dataclass(frozen=True)
class Positive:
    """The favourable values of one role, in canonical spelling; `collapse` allows more than two values."""

    values: tuple[str, ...] = ("1",)
    collapse: bool = False

    def __str__(self) -> str:
        return " or ".join(repr(value) for value in self.values)


@dataclass(frozen=True)
class Roles:
    """Who plays what. A name is a column of the data, or the name of an array kept in `arrays`."""

    sensitive: tuple[str, ...]
    control: tuple[str, ...] = ()
    label: str | None = None
    prediction: str | None = None
    score: str | None = None
    count: str | None = None
    weight: str | None = None
    positive: Mapping[str, Positive] = field(default_factory=dict)
    cutoff: float | None = None
    score_range: tuple[float, float] | None = None
    higher_is: Literal["positive", "negative"] = "positive"
    bins: int = 10
    strategy: Literal["uniform", "quantile"] = "uniform"
    resolution: Literal["grid", "exact"] = "grid"
    like_scores: Any = None
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    missing: Missing = "group"
    na: tuple[str, ...] = ()
    task: Task | None = None
    arrays: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> dict[str, str]:
        """Each part that is read, by a key of ours, with its column name. Names of users never become keys."""
        keys = {f"control:{name}": name for name in self.control}
        keys |= {f"sensitive:{name}": name for name in self.sensitive}
        keys |= {role: name for role in SINGLE if (name := getattr(self, role)) is not None}
        return keys

    @property
    def grouping(self) -> tuple[str, ...]:
        """The keys that make pairs: strata first, then groups."""
        return (*(f"control:{name}" for name in self.control), *(f"sensitive:{name}" for name in self.sensitive))

    @property
    def axis(self) -> str | None:
        """The role whose numbers are cut into bins: a score, or the prediction of a regressor."""
        if self.task == "regression":
            return "prediction"
        return None if self.score is None else "score"

    @property
    def axis_title(self) -> str:
        """That column in an error."""
        return f"{self.axis} column {shorten(str(getattr(self, self.axis or 'score')))!r}"


def assign(
    names: Sequence[str] | None,
    *,
    label: Any = None,
    prediction: Any = None,
    score: Any = None,
    sensitive: Any = None,
    control: Any = None,
    count: Any = None,
    weight: Any = None,
    positive: Any = 1,
    cutoff: float | None = None,
    score_range: Sequence[float] | None = None,
    higher_is: Literal["positive", "negative"] = "positive",
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    resolution: Literal["grid", "exact"] = "grid",
    like_scores: Any = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    missing: Missing = "group",
    na: Iterable[str] = (),
    task: Task | None = None,
    needs: Collection[str] = ("groups", "outcomes"),
) -> Roles:
    """Read the arguments of a call. `names` are the columns of the data; None where there are only arrays.

    `needs` says what must be there: "groups" (sensitive=), "outcomes" (a label, prediction or score).
    """
    problems = Problems()
    arrays: dict[str, Any] = {}
    given = {"label": label, "prediction": prediction, "score": score, "count": count, "weight": weight}
    chosen = {role: _single(role, value, names, arrays, problems) for role, value in given.items()}
    groups = _several("sensitive", sensitive, names, arrays, problems)
    strata = _several("control", control, names, arrays, problems)
    if sensitive is None and "groups" in needs:
        problems.add("sensitive= is missing: name the attribute that makes the groups, such as sensitive='race'.")
    _check_twice(
        {**{role: (name,) for role, name in chosen.items() if name}, "sensitive": groups, "control": strata},
        arrays,
        problems,
    )
    if missing not in ("group", "drop", "error"):
        problems.add(f"missing={missing!r} must be 'group', 'drop' or 'error'.")
    if cutoff is not None and (not isinstance(cutoff, Real) or not math.isfinite(cutoff)):
        problems.add(f"cutoff={cutoff!r} must be a finite number.")
    if cutoff is not None and score is None:
        problems.add("cutoff= is given without score=: name the score that it cuts.")
    if "outcomes" in needs and label is None and prediction is None and score is None:
        problems.add("there is nothing to measure: give prediction=, score=, or label=.")
    extent = _score_range(score_range, problems)
    _one_of("higher_is", higher_is, ("positive", "negative"), problems)
    _one_of("strategy", strategy, ("uniform", "quantile"), problems)
    _one_of("resolution", resolution, ("grid", "exact"), problems)
    if isinstance(bins, bool) or not isinstance(bins, Integral) or not 1 <= bins <= 100:
        problems.add(f"bins={bins!r} must be a whole number from 1 to 100.")
    _check_task(task, given, problems)
    outcome = (chosen["label"],) if task == "regression" and chosen["label"] else ()
    edges = _bands({} if bands is None else bands, (*groups, *strata, *outcome), problems)
    favourable = _positive(positive, problems)
    problems.raise_if_any(CallError)
    return Roles(
        groups,
        strata,
        **chosen,
        positive=favourable,
        cutoff=None if cutoff is None else float(cutoff),
        score_range=extent,
        higher_is=higher_is,
        bins=bins,
        strategy=strategy,
        resolution=resolution,
        like_scores=like_scores,
        bands=edges,
        missing=missing,
        na=tuple(spelling(text) for text in ([na] if isinstance(na, str) else na)),
        task=task,
        arrays=arrays,
    )


def _check_task(task: str | None, given: Mapping[str, Any], problems: Problems) -> None:
    if task is None:
        return
    _one_of("task", task, ("binary", "multiclass", "regression"), problems)
    if task != "binary" and given["score"] is not None:
        remedy = "pass the predicted number as prediction=" if task == "regression" else "audit one class: positive='a'"
        problems.add(f"task={task!r} takes no score=: {remedy}.")
    if task == "multiclass" and given["label"] is None and given["prediction"] is None:
        problems.add("task='multiclass' needs label= or prediction=.")
    if task == "regression" and given["prediction"] is None:
        problems.add("task='regression' needs prediction=, the predicted number.")


def _one_of(name: str, value: Any, known: Sequence[str], problems: Problems) -> None:
    if value not in known:
        problems.add(f"{name}={value!r} must be {' or '.join(repr(word) for word in known)}.")


def _score_range(given: Sequence[float] | None, problems: Problems) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        problems.add(f"score_range={given!r} must be two rising numbers, such as (0, 1).")
        return None
    return low, high


def canonical(value: object) -> str:
    """One spelling for what means the same: 1, 1.0, "1" and True.

    >>> [canonical(value) for value in (1, 1.0, "1", True, "1.0", "yes", 0.5)]
    ['1', '1', '1', '1', '1', 'yes', '0.5']
    """
    text = spelling(value).strip()
    if text.casefold() in ("true", "false"):
        return "1" if text.casefold() == "true" else "0"
    return without_point(text)


def without_point(text: str) -> str:
    """A whole number as it is spelled elsewhere: 2.0 as 2. Other text stays, 007 and 2.50 too."""
    whole, point, fraction = text.partition(".")
    return whole if point and fraction and not fraction.strip("0") and whole.lstrip("-").isdigit() else text


def spelling(value: object) -> str:
    """How a value of an attribute is written, whatever held it: text as it is, whole numbers without a point,
    times with a zone in UTC.

    >>> [spelling(value) for value in ("1.0", 1.0, Decimal("2.50"), np.float32(3), b"a")]
    ['1.0', '1', '2.5', '3', 'a']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return str(value.astimezone(UTC))
    return str(value)


def _single(
    role: str, value: Any, names: Sequence[str] | None, arrays: dict[str, Any], problems: Problems
) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        if names is None:
            problems.add(f"{role}={shorten(value)!r} names a column, but there is no data: pass data, or an array.")
        elif value not in names:
            problems.add(f"{role}={shorten(value)!r} is not a column; {nearest(value, names)}")
        return value
    arrays[role] = one_column(f"{role}=", value, problems)
    return _own_name(value) or role


def _several(  # noqa: PLR0912 - one branch for each way to name columns
    role: str, value: Any, names: Sequence[str] | None, arrays: dict[str, Any], problems: Problems
) -> tuple[str, ...]:
    if value is None:
        return ()
    parts: dict[str, Any] = {}
    if isinstance(value, str):
        parts = {value: value}
    elif isinstance(value, Mapping):
        parts = {str(name): part for name, part in value.items()}
    elif _is_table(value):
        columns = list(getattr(value, "column_names", None) or value.columns)
        if len(set(map(str, columns))) < len(columns):
            problems.add(f"{role}= has several columns of one name ({listing(columns)}); rename them.")
            return ()
        parts = {str(name): value[name] for name in columns}
    elif names is not None and isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        parts = {item: item for item in value}
        if len(parts) < len(value):
            problems.add(f"{role}= names a column twice: {listing(value)}.")
    elif getattr(value, "ndim", 1) == 2 or (isinstance(value, (list, tuple)) and value and _is_array(value[0])):
        problems.add(f"{role}= is a table without names: pass a mapping {{name: array}} or a dataframe.")
        return ()
    else:
        parts = {_own_name(value) or role: value}
    if not parts:
        problems.add(f"{role}= is empty: name at least one column.")
    for name, part in parts.items():
        if isinstance(part, str):
            _single(role, part, names, arrays, problems)
            if part != name:
                problems.add(f"{role}={{{name!r}: {part!r}}}: a column keeps its own name; pass {role}={part!r}.")
        else:
            arrays[f"{role}:{name}"] = one_column(f"{role}=", part, problems)
    return tuple(parts)


def one_column(what: str, value: Any, problems: Problems) -> Any:
    """A value for each row, as something that has a length."""
    if _is_table(value):
        problems.add(f"{what} is a whole table ({type(value).__name__}): pass one column of it.")
    elif isinstance(value, (str, bytes, Mapping, Set)) or not hasattr(value, "__iter__"):
        problems.add(
            f"{what} is {shorten(repr(value))}: pass the name of a column, as text, or an array with one value for "
            "each row."
        )
    elif getattr(value, "ndim", 1) != 1:
        problems.add(f"{what} has {value.ndim} dimensions: pass one value for each row.")
    else:
        return value if hasattr(value, "__len__") else list(value)
    return ()


def _is_table(value: Any) -> bool:
    return hasattr(value, "columns") or hasattr(value, "column_names")


def _is_array(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _own_name(value: Any) -> str | None:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else None


def _check_twice(roles: Mapping[str, Sequence[str]], arrays: Mapping[str, Any], problems: Problems) -> None:
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if role in arrays or f"{role}:{name}" in arrays:
                continue
            if name in seen and seen[name] != role:
                problems.add(f"column {shorten(name)!r} plays two roles, {seen[name]} and {role}: give each its own.")
            seen.setdefault(name, role)


def _bands(
    bands: Mapping[str, Sequence[float]], attributes: Sequence[str], problems: Problems
) -> dict[str, tuple[float, ...]]:
    edges: dict[str, tuple[float, ...]] = {}
    if not isinstance(bands, Mapping):
        problems.add(f"bands={shorten(repr(bands))} must name the attribute, such as {{'age': [0, 25, 45, 200]}}.")
        return edges
    for name, cuts in bands.items():
        if name not in attributes:
            problems.add(f"bands= names {name!r}, which is no attribute here; {nearest(name, attributes)}")
            continue
        try:
            edges[name] = tuple(float(cut) for cut in cuts)
        except (TypeError, ValueError):
            problems.add(f"bands for {name!r} must be numbers, such as [0, 25, 45, 200].")
            continue
        rising = all(a < b for a, b in zip(edges[name], edges[name][1:], strict=False))
        if len(edges[name]) < 2 or not rising:
            problems.add(f"bands for {name!r} must be at least two rising numbers, such as [0, 25, 45, 200].")
    return edges


def _positive(positive: Any, problems: Problems) -> dict[str, Positive]:
    if not isinstance(positive, Mapping):
        positive = {"label": positive, "prediction": positive}
    unknown = [str(role) for role in positive if role not in ("label", "prediction")]
    if unknown:
        problems.add(f"positive= has keys {listing(unknown)}; it takes 'label' and 'prediction'.")
    found = {}
    for role in ("label", "prediction"):
        value = positive.get(role, 1)
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
        values = tuple(sorted({canonical(item) for item in value})) if several else (canonical(value),)
        if not values:
            problems.add(f"positive= is empty for {role}: name the favourable value.")
        found[role] = Positive(values, collapse=several or values != ("1",))
    return found
