"""RowMeasure: a measure that is a function of the rows of a group, and what that function takes, by parameter name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evenhand.core.wording import clean
from evenhand.errors import CallError, listing, shorten
from evenhand.inference.spread import Spread
from evenhand.measures.base import MadeOf, MeasureDefaults
from evenhand.measures.group_data import SIDES, GroupData, Side

PARAMETERS: dict[str, tuple[str, ...]] = {
    "label": ("label", "y_true", "y", "labels_true", "y1"),
    "prediction": ("prediction", "y_pred", "yhat", "y_hat", "pred", "p", "d", "decision", "labels_pred", "y2"),
    "score": ("score", "y_score", "y_prob", "y_proba", "proba", "probability", "probabilities", "pred_decision"),
    "weight": ("weight", "sample_weight"),
}
"""The names by which a function may call each role."""

_ROLE_OF = {name: role for role, names in PARAMETERS.items() for name in names}


@dataclass(frozen=True, eq=False, repr=False)
class Inputs:
    """What a function takes: the role or the column behind each of its parameters.

    A column is the name of one in the data, a list of names (an array with a column for each), or an array.
    """

    roles: Mapping[str, str]
    columns: Mapping[str, Any] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Parameters of roles that have a default: they are passed where the data has the role."""
    positional: tuple[str, ...] = ()
    """Parameters that are passed by position, in this order; the others are passed by name."""
    assumed: frozenset[str] = frozenset()
    """Parameters that must have the name of a column of the data, because nobody has said what they are."""
    raw: bool = False
    """Labels and predictions as the caller passed them, and not as 1 and 0."""

    @property
    def needs(self) -> frozenset[str]:
        """The roles without which the function cannot be called."""
        return frozenset(role for name, role in self.roles.items() if name not in self.optional and role != "weight")

    def parameter(self, role: str) -> str | None:
        """The parameter of a role; None where the function does not take it."""
        return next((name for name, taken in self.roles.items() if taken == role), None)


@dataclass(frozen=True)
class RowMeasure(MeasureDefaults):
    """A measure that needs the rows themselves; see `measure`. A cube holds no value of it."""

    name: str
    title: str
    function: Any
    unit: str = "rate"
    needs: frozenset[str] = frozenset({"label", "prediction"})
    inputs: Inputs = field(default_factory=lambda: Inputs({"label": "label", "prediction": "prediction"}), repr=False)

    @property
    def made_of(self) -> MadeOf:
        return "rows"

    @property
    def labels_of(self) -> tuple[Side, ...]:
        """Those of everyone, where it takes labels: what a function makes of them is not known."""
        return SIDES if "label" in self.needs else ()

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset({"binary", "multiclass", "regression"})

    def spread(self, data: GroupData) -> Spread | None:  # noqa: ARG002 - counts do not tell
        """Not known from counts."""
        return None

    def reason(self, group: str) -> str:
        """Why the measure is undefined for a group."""
        return f"{self.title} gave no number for {group}"


def row_measure(
    name: str,
    function: Callable[..., Any],
    *,
    columns: Mapping[str, Any] | None = None,
    raw: bool = False,
    title: str | None = None,
    unit: str = "rate",
    roles: tuple[str, ...] = (),
) -> RowMeasure:
    """The measure of a function; `roles` are those of its first parameters, where that is known beforehand."""
    if not callable(function):
        raise CallError(f"measure {name!r}: {shorten(repr(function))} is not a function.")
    if not isinstance(raw, bool):
        raise CallError(f"raw={shorten(repr(raw))} must be True or False.")
    inputs = read_inputs(name, function, columns or {}, raw=raw, roles=roles)
    return RowMeasure(name, title or name.replace("_", " "), function, unit, inputs.needs, inputs)


def read_inputs(
    name: str, function: Callable[..., Any], columns: Any, *, raw: bool = False, roles: tuple[str, ...] = ()
) -> Inputs:
    """What a function takes, from its parameters and the columns that were declared for it.

    A parameter is a declared column, a role by one of the names in `PARAMETERS`, or a column of the data that has its
    name. A function with two other parameters alone takes label and prediction by position.

    >>> read_inputs("profit", lambda label, amount: 0, {}).columns
    {'amount': 'amount'}
    >>> read_inputs("agreement", lambda truth, guess: 0, {}).roles
    {'truth': 'label', 'guess': 'prediction'}
    """
    declared = _declared(name, columns)
    parameters = _parameters(function)
    if parameters is None:
        if declared:
            raise CallError(
                f"measure {name!r}: the parameters of its function are not known, so that columns= cannot be passed: "
                "wrap it in a function of your own that names them."
            )
        return Inputs({"label": "label", "prediction": "prediction"}, positional=("label", "prediction"), raw=raw)
    for column in declared:
        if column not in parameters:
            raise CallError(
                f"measure {name!r}: columns= names {shorten(column)!r}, which is not a parameter of its function; its "
                f"parameters are {listing(parameters)}."
            )
    known = {key: role for key, role in _known_roles(parameters, roles).items() if key not in declared}
    required = [key for key, each in parameters.items() if each.default is inspect.Parameter.empty]
    unknown = [key for key in required if key not in known and key not in declared]
    if len(unknown) == 2 and not declared and not set(known.values()) - {"weight"}:
        known |= dict(zip(unknown, ("label", "prediction"), strict=True))
        unknown = []
    twice = [role for role in PARAMETERS if list(known.values()).count(role) > 1]
    if twice:
        names = [key for key, role in known.items() if role == twice[0]]
        raise CallError(f"measure {name!r}: its function takes the {twice[0]} twice, as {listing(names)}.")
    return Inputs(
        known,
        {**declared, **{key: key for key in unknown}},
        frozenset(known) - frozenset(required) - frozenset(list(parameters)[: len(roles)]),
        tuple(key for key, each in parameters.items() if each.kind is inspect.Parameter.POSITIONAL_ONLY),
        frozenset(unknown),
        raw,
    )


def _declared(name: str, columns: Any) -> dict[str, Any]:
    if not isinstance(columns, Mapping) or not all(isinstance(key, str) for key in columns):
        raise CallError(
            f"measure {name!r}: columns={shorten(repr(columns))} must map parameters of the function to columns, such "
            "as {'amount': 'loan_amount'}."
        )
    return dict(columns)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter] | None:
    """The parameters of a function that have a name; None where they are not known."""
    try:
        every = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = {key: each for key, each in every.items() if each.kind not in variable}
    return None if not named and every else named


def _known_roles(parameters: Mapping[str, inspect.Parameter], roles: tuple[str, ...]) -> dict[str, str]:
    """The role of each parameter that has one, by its place or by its name."""
    if not roles:
        return {key: _ROLE_OF[key] for key in parameters if key in _ROLE_OF}
    first = dict(zip(parameters, roles, strict=False))
    return first | {key: "weight" for key in parameters if _ROLE_OF.get(key) == "weight"}


def function_name(function: Callable[..., Any]) -> str:
    """The name of a function, of what a partial one calls, or of the class of a callable object."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return clean(str(name))
