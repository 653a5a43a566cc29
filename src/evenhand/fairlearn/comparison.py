"""The extremes of the groups, and what lies between them: one value for each metric, or for each stratum and metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenhand.errors import CallError, DataError

ERRORS = ("raise", "coerce")
METHODS = ("between_groups", "to_overall")


def check_errors(errors: Any) -> None:
    if errors not in ERRORS:
        raise CallError(f"Invalid error value specified. Valid values are {[*ERRORS]}")


def check_method(method: Any) -> None:
    if method not in METHODS:
        raise CallError(f"Unrecognised comparison method: {method}")


@dataclass(frozen=True)
class Disaggregated:
    """Values of everyone, or of each stratum, and of each group. Strata are the first levels of the index of groups."""

    overall: Any
    by_group: pd.DataFrame
    strata: list[str] | None

    def extreme(self, which: str, errors: str) -> Any:
        """The smallest ("min") or largest ("max") value over the groups."""
        if errors == "coerce":
            return self._reduced(_scalars(self.by_group), which)
        try:
            return self._reduced(self.by_group, which)
        except ValueError as error:
            raise DataError(
                "Metric frame contains non-scalar cells. Please remove non-scalar columns from your metric frame or use"
                " parameter errors='coerce'."
            ) from error

    def difference(self, method: str, errors: str) -> Any:
        """The largest distance of a group from the smallest value, or from everyone."""
        other = self.overall if method == "to_overall" else self.extreme("min", errors)
        return _without_none(self._reduced((_scalars(self.by_group) - other).abs(), "max"))

    def ratio(self, method: str, errors: str) -> Any:
        """The smallest value by the largest; or the smallest ratio of a group and everyone, turned to be at most 1."""
        if method == "between_groups":
            return _without_none(self.extreme("min", errors) / self.extreme("max", errors))
        # Strata become columns, so that each group is divided by the values of its own stratum.
        groups, everyone = self.by_group, self.overall
        if self.strata:
            groups, everyone = groups.unstack(level=self.strata), everyone.unstack(level=self.strata)
        smallest = (groups / everyone).apply(_at_most_one).min()
        return _without_none(smallest.unstack(0) if self.strata else smallest)

    def _reduced(self, frame: pd.DataFrame, which: str) -> Any:
        return (frame.groupby(level=self.strata) if self.strata else frame).agg(which)


def _scalars(frame: pd.DataFrame) -> pd.DataFrame:
    """Values with NaN in place of matrices, lists and whatever else is not a scalar."""
    if all(dtype in (np.float64, np.int64) for dtype in frame.dtypes):
        return frame  # as it would be after a look at each value
    return frame.map(lambda value: value if np.isscalar(value) else np.nan)


def _at_most_one(ratios: pd.Series) -> pd.Series:
    if ratios.dtype == np.float64:
        return ratios.where(~(ratios > 1), 1 / ratios)
    return ratios.transform(lambda ratio: 1 / ratio if ratio > 1 else ratio)


def _without_none(values: Any) -> Any:
    return values.where(values.notna(), np.nan)
