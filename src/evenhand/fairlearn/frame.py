"""`MetricFrame`: metrics by group, and their extremes, differences and ratios, as pandas objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenhand.errors import CallError, DataError
from evenhand.fairlearn import bootstrap, features
from evenhand.fairlearn.base_metrics import check_lengths
from evenhand.fairlearn.comparison import Disaggregated, check_errors, check_method
from evenhand.fairlearn.counted import Columns
from evenhand.fairlearn.evaluation import Evaluation, read_column, read_metrics
from evenhand.fairlearn.grouping import combine, everyone

Errors = Literal["raise", "coerce"]
Method = Literal["between_groups", "to_overall"]


class MetricFrame:
    """Metrics of everyone and of each group.

    Parameters
    ----------
    metrics : callable, dict of callables, or list of callables
        `f(y_true, y_pred, **sample_params)`. With one callable the results are numbers and Series; with a dictionary
        or a list they are Series and DataFrames with a column for each name.
    y_true, y_pred : array-like
        The labels and the predictions, in any form that the metrics take.
    sensitive_features : Series, DataFrame, dict of arrays, list or array
        The features whose combinations of values are the groups.
    control_features : the same, optional
        Features that make strata: everything is then computed within each combination of their values.
    sample_params : dict, optional
        Further arguments that have one value for each row, such as `{"sample_weight": w}`; with several metrics a
        dictionary of these by the name of the metric.
    n_boot : int, optional
        How many bootstrap samples to draw for the results whose names end with `_ci`; goes with `ci_quantiles`.
    ci_quantiles : list of float, optional
        The quantiles of the bootstrap distribution to return.
    random_state : int or RandomState, optional
        The seed of the bootstrap. The rows drawn are those that fairlearn draws.

    Raises
    ------
    ValueError
        For arguments that fairlearn refuses, with its message.

    Examples
    --------
    >>> y_true, y_pred, sex = [1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0], list("ffffmm")
    >>> from evenhand.fairlearn import count, selection_rate
    >>> frame = MetricFrame(metrics=selection_rate, y_true=y_true, y_pred=y_pred, sensitive_features=sex)
    >>> frame.by_group
    sensitive_feature_0
    f    0.5
    m    0.5
    Name: selection_rate, dtype: float64
    >>> frame = MetricFrame(metrics=[selection_rate, count], y_true=y_true, y_pred=y_pred, sensitive_features=sex)
    >>> frame.difference()
    selection_rate    0.0
    count             2.0
    dtype: float64
    """

    def __init__(
        self,
        *,
        metrics: Callable[..., Any] | Mapping[str, Callable[..., Any]] | Sequence[Callable[..., Any]],
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        control_features: Any = None,
        sample_params: Mapping[str, Any] | None = None,
        n_boot: int | None = None,
        ci_quantiles: Sequence[float] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        check_lengths(y_true, y_pred)
        columns = Columns(read_column(y_true), read_column(y_pred))
        rows = len(columns.y_true)
        if not rows:
            raise DataError("need at least one array to stack: y_true and y_pred hold no rows.")
        asked, self._user_supplied_callable = read_metrics(metrics, sample_params, columns)
        sensitive = features.read(sensitive_features, "sensitive_feature_", rows)
        control = None if control_features is None else features.read(control_features, "control_feature_", rows)
        features.check_names([*sensitive, *(control or [])])
        self._sf_names = [feature.name for feature in sensitive]
        self._cf_names = None if control is None else [feature.name for feature in control]

        evaluation = Evaluation(asked, columns)
        strata = combine(control) if control else everyone(rows)
        groups = combine([*(control or []), *sensitive])
        self._values = Disaggregated(*evaluation.tables(strata, groups), self._cf_names)
        self._cache: dict[tuple[str, ...], Any] = {}

        self._n_boot, self._ci_quantiles = n_boot, ci_quantiles
        self._draws: bootstrap.Draws | None = None
        if bootstrap.check(n_boot, ci_quantiles) and n_boot is not None and ci_quantiles is not None:
            self._draws = bootstrap.Draws.make(
                evaluation, strata, groups, n_boot=n_boot, quantiles=ci_quantiles, random_state=random_state
            )

    # --- values

    @cached_property
    def overall(self) -> Any:
        """The metrics of everyone: a number or a Series; with control features those of each stratum."""
        return self._shown(self._values.overall.copy())

    @cached_property
    def by_group(self) -> Any:
        """The metrics of each group: a Series or a DataFrame."""
        return self._shown(self._values.by_group.copy())

    @property
    def control_levels(self) -> list[str] | None:
        """The names of the control features; they are the first levels of the index of `by_group`."""
        return self._cf_names

    @property
    def sensitive_levels(self) -> list[str]:
        """The names of the sensitive features."""
        return self._sf_names

    def group_min(self, errors: Errors = "raise") -> Any:
        """The smallest value over the groups, for each metric and stratum.

        Parameters
        ----------
        errors : {"raise", "coerce"}
            What to do where a metric returns something else than a scalar: raise an error, or return NaN.

        Returns
        -------
        number, Series or DataFrame
            Of the kind that `overall` is of.
        """
        check_errors(errors)
        return self._cached(("min", errors), lambda: self._values.extreme("min", errors))

    def group_max(self, errors: Errors = "raise") -> Any:
        """The largest value over the groups; as `group_min`."""
        check_errors(errors)
        return self._cached(("max", errors), lambda: self._values.extreme("max", errors))

    def difference(self, method: Method = "between_groups", errors: Errors = "coerce") -> Any:
        """The largest difference, for each metric and stratum.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}
            Between the largest and the smallest value of a group, or between a group and everyone.
        errors : {"raise", "coerce"}
            What to do where a metric returns something else than a scalar: raise an error, or return NaN.

        Returns
        -------
        number, Series or DataFrame
            Of the kind that `overall` is of.
        """
        check_errors(errors)
        check_method(method)
        return self._cached(("difference", method, errors), lambda: self._values.difference(method, errors))

    def ratio(self, method: Method = "between_groups", errors: Errors = "coerce") -> Any:
        """The smallest ratio, which is at most 1 for values that are not negative; arguments as for `difference`."""
        check_errors(errors)
        check_method(method)
        return self._cached(("ratio", method, errors), lambda: self._values.ratio(method, errors))

    # --- bootstrap intervals: a list with an element for each of `ci_quantiles`

    @property
    def n_boot(self) -> int | None:
        """How many bootstrap samples were drawn."""
        return self._n_boot

    @property
    def ci_quantiles(self) -> Sequence[float] | None:
        """The quantiles of each `_ci` result."""
        return self._ci_quantiles

    @property
    def overall_ci(self) -> list[Any]:
        """The quantiles of `overall`."""
        return self._cached_ends("overall", lambda draws: draws.of_everyone())

    @property
    def by_group_ci(self) -> list[Any]:
        """The quantiles of `by_group`."""
        return self._cached_ends("by_group", lambda draws: draws.of_groups())

    def group_min_ci(self) -> list[Any]:
        """The quantiles of `group_min`."""
        return self._cached_ends("min", lambda draws: draws.of_extreme("min"))

    def group_max_ci(self) -> list[Any]:
        """The quantiles of `group_max`."""
        return self._cached_ends("max", lambda draws: draws.of_extreme("max"))

    def difference_ci(self, method: Method = "between_groups") -> list[Any]:
        """The quantiles of `difference`."""
        check_method(method)
        return self._cached_ends("difference", lambda draws: draws.of_difference(method), method)

    def ratio_ci(self, method: Method = "between_groups") -> list[Any]:
        """The quantiles of `ratio`."""
        check_method(method)
        return self._cached_ends("ratio", lambda draws: draws.of_ratio(method), method)

    # --- how results are handed out

    def _cached(self, key: tuple[str, ...], compute: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = self._shown(compute())
        return self._cache[key]

    def _cached_ends(self, name: str, compute: Callable[[bootstrap.Draws], list[Any]], *more: str) -> list[Any]:
        if self._draws is None:
            raise CallError(
                "Could not compute confidence intervals: Bootstrapping parameters n_boot and ci_quantiles were not"
                " specified in the MetricFrame constructor."
            )
        key = (name, "ci", *more)
        if key not in self._cache:
            self._cache[key] = [self._shown(end) for end in compute(self._draws)]
        ends: list[Any] = self._cache[key]
        return ends

    def _shown(self, values: pd.Series | pd.DataFrame) -> Any:
        """Of one metric its value or its column; of several all."""
        if not self._user_supplied_callable:
            return values
        return values.iloc[:, 0] if isinstance(values, pd.DataFrame) else values.iloc[0]
