"""The door of every function that reads data: familiar names, and y_true and y_pred by position.

`f(data, ...)` reads a table. `f(y_true, y_pred, ...)`, as other libraries have it, reads two arrays: what happened and
what was decided. All else is given by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from numbers import Real
from typing import Any

from evenhand.core.familiar import in_our_words
from evenhand.errors import SignatureError
from evenhand.sources.named_columns import is_column
from evenhand.sources.read_arguments import DEFAULTS, Function, with_read_arguments

DATA = inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="DataLike | None")
SECOND = inspect.Parameter(
    "y_pred", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="ColumnLike | None"
)
"""What may follow `data` by position, as a signature shows it: the prediction, where `data` is an array of labels."""


def reader(function: Function) -> Function:
    """A function of `data` and the arguments of a reader, which it takes under familiar names too."""
    return accept(with_read_arguments(function))


def reader_of(*names: str) -> Callable[[Function], Function]:
    """As `reader`, of a function that takes only some of the arguments of a reader.

    Its signature shows these; the others reach it, so that it can say what to do instead.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(with_read_arguments(function))
        kept = [each for name, each in signature.parameters.items() if name in names or name not in DEFAULTS]

        @wraps(function)
        def call(*positional: Any, **named: Any) -> Any:
            return function(*positional, **in_our_words(function.__qualname__, named, [*signature.parameters]))

        call.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def accept(function: Function) -> Function:
    """A function whose signature names `data` and keyword arguments, called as people know it from other libraries."""
    signature = inspect.signature(function)
    known = [*signature.parameters]
    place = known.index("data")

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        named = in_our_words(function.__qualname__, named, known)
        return function(*positional[:place], **arranged(function.__qualname__, positional[place:], named))

    parameters = list(signature.parameters.values())
    parameters.insert(place + 1, SECOND)
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def arranged(function: str, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name: of one by position `data`, of two `label` and `prediction`.

    An array before a prediction or a score that is given by name is the label, too.

    >>> arranged("audit", ([1, 0], [1, 1]), {"sensitive": ["a", "b"]})
    {'sensitive': ['a', 'b'], 'label': [1, 0], 'prediction': [1, 1]}
    >>> arranged("audit", ({"approved": [1, 0]}, "approved"), {})
    Traceback (most recent call last):
    evenhand.errors.SignatureError: audit() takes y_pred by position only after an array of labels, and the first
    argument is of type dict: name the second, as in prediction= or sensitive=.
    """
    if len(positional) > 2:
        raise SignatureError(
            f"{function}() takes data, or y_true and y_pred, by position, and {len(positional)} arguments were given: "
            "name the others, as in sensitive=."
        )
    if len(positional) < 2 or positional[1] is None:
        role = "label" if positional and _is_label(positional[0], named) else "data"
        return _added(function, {role: positional[0]} if positional else {}, named)
    first, second = positional
    if first is not None and not is_column(first):
        raise SignatureError(
            f"{function}() takes y_pred by position only after an array of labels, and the first argument is of type "
            f"{type(first).__name__}: name the second, as in prediction= or sensitive=."
        )
    return _added(function, {"label": first, "prediction": second}, named)


def _is_label(first: Any, named: Mapping[str, Any]) -> bool:
    """Is it an array of labels, beside a prediction or a score given by name? A list of texts may be files to read."""
    beside = "label" not in named and any(not isinstance(named.get(role, ""), str) for role in ("prediction", "score"))
    texts = isinstance(first, (list, tuple)) and not any(isinstance(part, Real) for part in first)
    return beside and not texts and is_column(first)


def _added(function: str, placed: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    for name in placed:
        if name in named:
            raise SignatureError(f"{function}() was given {name}= by position and by name: give it once.")
    return {**named, **placed}


def call_with(
    function: Callable[..., Any], known: Collection[str], positional: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call of a function that is made from a table, in our words and by name."""
    name = function.__name__
    return arranged(name, positional, in_our_words(name, named, [*known, "data"]))
