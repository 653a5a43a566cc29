"""The same call to fairlearn and to evenhand.fairlearn, and whether the two did the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import fairlearn.metrics as theirs
import numpy as np
import pandas as pd

import evenhand.fairlearn as ours

METHODS = ("between_groups", "to_overall")
ERRORS = ("raise", "coerce")


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the exception that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return error


def same(theirs: Any, ours: Any, *, messages: bool = True) -> None:
    """Are two results alike in kind, names, types and, to twelve digits, in numbers; or two errors in their words?"""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert isinstance(theirs, Exception), f"fairlearn returns {theirs!r}, evenhand raises {ours!r}"
        assert isinstance(ours, Exception), f"fairlearn raises {theirs!r}, evenhand returns {ours!r}"
        assert isinstance(ours, type(theirs)), (theirs, ours)
        assert not messages or str(ours) == str(theirs)
    elif isinstance(theirs, list):
        assert isinstance(ours, list)
        for one, other in zip(theirs, ours, strict=True):
            same(one, other)
    elif isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-12, atol=1e-12)
    elif isinstance(theirs, pd.Series):
        pd.testing.assert_series_equal(ours, theirs, rtol=1e-12, atol=1e-12)
    elif isinstance(theirs, (str, type(None))):
        assert ours == theirs
    else:
        assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)), (type(theirs), type(ours))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def answers(intervals: bool) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Everything that a MetricFrame can be asked, with a name for it."""
    for name in ("overall", "by_group", "sensitive_levels", "control_levels", "n_boot", "ci_quantiles"):
        yield name, lambda frame, name=name: getattr(frame, name)
    for name, errors in product(("group_min", "group_max"), ERRORS):
        yield f"{name} {errors}", lambda frame, name=name, errors=errors: getattr(frame, name)(errors=errors)
    for name, method, errors in product(("difference", "ratio"), METHODS, ERRORS):
        yield (
            f"{name} {method} {errors}",
            lambda frame, name=name, how={"method": method, "errors": errors}: getattr(frame, name)(**how),
        )
    if intervals:
        for name in ("overall_ci", "by_group_ci"):
            yield name, lambda frame, name=name: getattr(frame, name)
        for name in ("group_min_ci", "group_max_ci"):
            yield name, lambda frame, name=name: getattr(frame, name)()
        for name, method in product(("difference_ci", "ratio_ci"), METHODS):
            yield f"{name} {method}", lambda frame, name=name, method=method: getattr(frame, name)(method=method)


def same_frames(metrics: Any, *, messages: bool = True, **arguments: Any) -> None:
    """Does a MetricFrame of either answer everything alike? Functions of fairlearn become ours for ours."""
    one = outcome(lambda: theirs.MetricFrame(metrics=metrics, **arguments))
    other = outcome(lambda: ours.MetricFrame(metrics=translated(metrics), **arguments))
    if isinstance(one, Exception) or isinstance(other, Exception):
        same(one, other, messages=messages)
        return
    for name, answer in answers(arguments.get("n_boot") is not None):
        try:
            same(outcome(partial(answer, one)), outcome(partial(answer, other)), messages=messages)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def translated(metrics: Any) -> Any:
    if isinstance(metrics, dict):
        return {name: translated(function) for name, function in metrics.items()}
    name = getattr(metrics, "__name__", "")
    return getattr(ours, name) if getattr(theirs, name, None) is metrics else metrics
