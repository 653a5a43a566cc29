"""Calls of code that is the caller's own: a model, a distance, a metric, a mechanism.

Whatever such code raises says nothing about the groups, and must not end the program as if it did: `sys.exit()` in a
model would look like a pass. So it becomes an error that says whose code failed, in which call, and shows the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evenhand.core.wording import clean
from evenhand.errors import CallError, EvenhandError, MissingDependencyError, shorten

FAILURES = (Exception, SystemExit, GeneratorExit)
"""What code of the caller may raise, but for Ctrl-C, which is for the whole program."""

_REMEDY = "The error is in that code: correct it, and call again."


def call(what: str, where: str, function: Callable[..., Any], *arguments: Any, remedy: str = _REMEDY) -> Any:
    """What a function of the caller returns. `what` is the function, `where` the call, for the error if it fails.

    >>> call("predict", "in call 1", lambda rows: 1 / 0, [], remedy="Try another.")
    Traceback (most recent call last):
    evenhand.errors.CallError: predict failed in call 1: ZeroDivisionError: division by zero. Try another.
    """
    try:
        return function(*arguments)
    except EvenhandError:
        raise
    except FAILURES as error:
        raise CallError(f"{what} failed {where}: {described(error)}. {remedy}") from error


def described(error: BaseException) -> str:
    """The kind of an error and its message, on one line."""
    try:
        text = shorten(clean(" ".join(str(error).split())), 300).rstrip(".")
    except FAILURES:  # its message is code of the caller, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def in_processes(
    what: str, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """The result of each task, in their order, from processes that joblib runs; `what` they do, for an error."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError("n_jobs= needs joblib: pip install 'evenhand[ml]'") from None
    try:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*task) for task in tasks)
    except Exception as error:
        if not isinstance(error, BrokenProcessPool) and type(error).__name__ != "PicklingError":
            raise
        raise CallError(
            f"the processes for {what} stopped: {described(error)}. Without them, n_jobs=1, the same is computed here."
        ) from error
