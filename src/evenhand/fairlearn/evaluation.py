"""The metrics of a call, evaluated for each group: counted where they can be, else called with the group's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.arrays import Array, Floats, Indices
from evenhand.errors import CallError, DataError, join_names
from evenhand.fairlearn.base_metrics import UndefinedRateWarning, as_array, warn
from evenhand.fairlearn.counted import Columns, Counted, Tally, Values, recognise, tally
from evenhand.fairlearn.grouping import Grouping

_NOT_A_DICTIONARY = "Sample parameters must be a dictionary"
_NOT_SCALAR = "Error calling numpy.quantiles. Most likely due to a metric returning a non-scalar result"


@dataclass(frozen=True)
class Metric:
    """One function under the name of its column, with the parameters that have a value for each row."""

    name: Any
    function: Callable[..., Any]
    parameters: Mapping[str, Array]
    counted: Counted | None


# --- what the caller asks for


def read_metrics(metrics: Any, sample_params: Any, columns: Columns) -> tuple[list[Metric], bool]:
    """The metrics of a call, and whether it has only one, which is not in a dictionary or list."""
    if sample_params is not None and not isinstance(sample_params, dict):
        raise CallError(_NOT_A_DICTIONARY)
    parameters = sample_params or {}
    if isinstance(metrics, list):
        metrics = _by_name(metrics)
    if not isinstance(metrics, dict):
        _check_callable(metrics)
        return [_metric(_name(metrics), metrics, parameters, columns)], True
    if not set(parameters) <= set(metrics):
        raise CallError("Keys in 'sample_params' do not match those in 'metric'")
    return [_metric(name, function, parameters.get(name, {}), columns) for name, function in metrics.items()], False


def _by_name(functions: list[Any]) -> dict[str, Any]:
    """Functions in a list, each under its own name."""
    for function in functions:
        _check_callable(function)
    named = {_name(function): function for function in functions}
    if len(named) < len(functions):
        raise CallError("metrics= holds two functions of one name: pass a dictionary of names and functions.")
    return named


def _check_callable(function: Any) -> None:
    if function is None:
        raise CallError("Found 'None' instead of metric function")
    if not callable(function):
        raise CallError("Object passed as metric function not callable")


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if name is None:
        warn("Supplied 'func' had no __name__ attribute", UserWarning)
        return "metric"
    return str(name)


def _metric(name: Any, function: Any, parameters: Any, columns: Columns) -> Metric:
    if not isinstance(parameters, dict):
        raise CallError(_NOT_A_DICTIONARY)
    _check_callable(function)
    rows = len(columns.y_true)
    arrays = {key: _parameter(value, rows) for key, value in parameters.items() if value is not None}
    return Metric(name, function, arrays, recognise(function, arrays, columns))


def _parameter(values: Any, rows: int) -> Array:
    """A parameter with one value for each row; a single number is everybody's."""
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.full(rows, array)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim > 1:
        raise DataError(f"Expected a 1D array, got an array with shape {array.shape}")
    if len(array) != rows:
        raise DataError(f"Length of values ({len(array)}) does not match length of index ({rows})")
    return typed(array)


def read_column(values: Any) -> Array:
    """Labels or predictions as an array whose first dimension is the rows."""
    return typed(as_array(values))


def typed(array: Array) -> Array:
    """An array of objects as the array of numbers, text or rows that its objects make up."""
    if array.dtype != object or not array.size:
        return array
    objects = pd.Series(list(array)).to_numpy()
    return np.stack(objects) if objects.dtype == object else objects


# --- values of each group


class Evaluation:
    """Metrics on the rows of a call. Where rows are drawn, the grouping is that of the drawn rows."""

    def __init__(self, metrics: Sequence[Metric], columns: Columns) -> None:
        self.metrics, self._columns = metrics, columns
        self.names = pd.Series({metric.name: 0.0 for metric in metrics}, dtype=float).index

    def tables(self, strata: Grouping, groups: Grouping) -> tuple[Any, pd.DataFrame]:
        """The values of each stratum, or of everyone a value for each metric; and those of each group."""
        counted = self._counted(strata, groups, None)
        self._warn(counted[1], groups)
        tables = [self._table(grouping, values) for grouping, values in zip((strata, groups), counted, strict=True)]
        return tables[0], tables[1]

    def numbers(self, strata: Grouping, groups: Grouping, rows: Indices) -> tuple[Floats, Floats]:
        """The values of drawn rows as numbers, strata × metrics and groups × metrics; NaN of a group without rows."""
        counted = self._counted(strata, groups, rows)
        return self._numbers(strata, counted[0], rows), self._numbers(groups, counted[1], rows)

    def _table(self, grouping: Grouping, counted: Mapping[Any, Values]) -> Any:
        occurs = grouping.counts > 0
        values = {name: column[occurs] for name, (column, _) in counted.items()}
        called = list(self._called(grouping, None))
        if grouping.index is None:
            return _series(values, called[0], self.names)
        frame = _frame(values, called, grouping.index[occurs], self.names)
        return frame if occurs.all() else frame.reindex(grouping.index)

    def _numbers(self, grouping: Grouping, counted: Mapping[Any, Values], rows: Indices) -> Floats:
        occurs = grouping.counts > 0
        called = list(self._called(grouping, rows))
        result = np.full((grouping.size, len(self.metrics)), np.nan)
        for i, metric in enumerate(self.metrics):
            known = counted.get(metric.name)
            values = _floats([group[metric.name] for group in called]) if known is None else known[0][occurs]
            result[occurs, i] = values
        return result

    def _counted(self, strata: Grouping, groups: Grouping, rows: Indices | None) -> list[dict[Any, Values]]:
        """The values of counted metrics by stratum and by group, from one count of the rows for each weight."""
        by_stratum, by_group = {}, {}
        tallies: dict[int, tuple[Tally, Tally]] = {}
        for metric in self.metrics:
            if metric.counted is not None:
                weight = metric.parameters.get("sample_weight")
                if id(weight) not in tallies:
                    sums = tally(self._columns, groups, weight, rows)
                    tallies[id(weight)] = (sums.joined(strata.size), sums)
                by_stratum[metric.name], by_group[metric.name] = map(metric.counted.value, tallies[id(weight)])
        return [by_stratum, by_group]

    def _called(self, grouping: Grouping, rows: Indices | None) -> Iterator[dict[Any, Any]]:
        """The values of the other metrics, group by group. Each gets arrays of its own, as it may change them."""
        metrics = [metric for metric in self.metrics if metric.counted is None]
        if not metrics:
            yield from ({} for count in grouping.counts if count)
            return
        order, slices = grouping.slices()
        places = order if rows is None else rows[order]
        labels, predictions = self._columns.y_true[places], self._columns.y_pred[places]
        parameters = [{key: values[places] for key, values in metric.parameters.items()} for metric in metrics]
        for start, end in slices:
            yield {
                metric.name: metric.function(
                    labels[start:end].copy(),
                    predictions[start:end].copy(),
                    **{key: values[start:end].copy() for key, values in of_metric.items()},
                )
                for metric, of_metric in zip(metrics, parameters, strict=True)
            }

    def _warn(self, counted: Mapping[Any, Values], groups: Grouping) -> None:
        """One warning for all values that stand for 0/0; where everyone has none, some group has none."""
        occurs, names = groups.counts > 0, pd.Index(groups.index)
        where = {name: occurs & zero for name, (_, zero) in counted.items() if zero is not None}
        shown = [f"{name} of {join_names(map(str, names[zero]), 3)}" for name, zero in where.items() if zero.any()]
        if shown:
            what = f"0/0 is shown as 0, as fairlearn does: {join_names(shown, 4, mark='; ')}."
            warn(what, UndefinedRateWarning)


def _series(counted: Mapping[Any, Array], called: Mapping[Any, Any], names: pd.Index) -> pd.Series:
    if not len(names):
        return pd.Series(dtype=float)
    return pd.Series({name: counted[name][0] if name in counted else called[name] for name in names.tolist()})


def _frame(
    counted: Mapping[Any, Array], called: list[dict[Any, Any]], index: pd.Index, names: pd.Index
) -> pd.DataFrame:
    """A row for each group. Its types are those of the rows: of a count beside a rate pandas makes a float."""
    if counted and len(counted) == len(names):
        return pd.DataFrame(np.column_stack([counted[name] for name in counted]), index=index, columns=names)
    rows = []
    for i, group in enumerate(called):
        values = {name: counted[name][i] if name in counted else group[name] for name in names.tolist()}
        plain = values and all(isinstance(value, float) for value in values.values())
        rows.append(
            np.array([*values.values()]) if plain else np.asarray(pd.Series(values, dtype=None if values else float))
        )
    stacked = np.vstack(rows) if rows else np.zeros((0, len(names)))
    return pd.DataFrame(stacked.tolist() if stacked.dtype == object else stacked, index=index, columns=names)


def _floats(values: list[Any]) -> Floats:
    """Values of metrics as numbers; fairlearn has quantiles of nothing else."""
    try:
        numbers = np.array(values, dtype=np.float64)
        if numbers.ndim > 1:
            bool(numbers)  # numpy says that many numbers are neither true nor false, and fairlearn hands that on
            raise ValueError("a list of one number is not a number")
    except (TypeError, ValueError) as error:
        raise DataError(_NOT_SCALAR) from error
    return numbers
