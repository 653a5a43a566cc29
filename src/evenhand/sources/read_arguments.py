"""The arguments of every reader, written once: name, type, default, option and what docstrings say.

`ReadArguments` is the one list of what a reader takes: `evenhand.audit`, `Cube.count`, the metric functions, the type
stub, the docstrings and the command line are made from it.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

from evenhand.core.arrays import LIKE, ColumnLike, ColumnsLike
from evenhand.core.familiar import Familiar, in_our_words

Missing = Literal["group", "drop", "error"]
Task = Literal["binary", "multiclass", "regression"]
Direction = Literal["positive", "negative"]
Strategy = Literal["uniform", "quantile"]
Resolution = Literal["grid", "exact"]
Span = Literal["within"]


class Argument(NamedTuple):
    """What an argument of a reader is besides its name and type: its default, its option, and what docstrings say."""

    default: Any = None
    help: str = ""
    """The help text of the option; an argument without one has no option."""
    doc: str = ""
    """What docstrings say of it; by default the same as the help text."""
    multiple: bool = False
    """May the option be repeated?"""
    metavar: str | None = None
    values: int = 1
    """How many values the option takes at once."""


class ReadArguments(TypedDict, total=False):
    """What a reader takes besides the data. A new argument is one more line here, with a field of the same name in
    `Roles`; what it means is decided where lines are counted."""

    label: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of what happened.",
            "What happened: a column of the data, or an array with a value for each row. A missing label leaves the "
            "row out of what needs one.",
        ),
    ]
    prediction: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of what was decided.",
            "What was decided: a column or an array. It decides also where there is a score.",
        ),
    ]
    score: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of the score behind the prediction.",
            "The score behind the prediction, such as a probability: a column or an array. Without a prediction, "
            "`cutoff` says what is decided.",
        ),
    ]
    sensitive: Annotated[
        ColumnsLike | None,
        Argument(
            None,
            "Column that makes groups; may be repeated.",
            "What makes the groups: a column or several, an array, a table, or a mapping {name: array}. A missing "
            "value is a group of its own, which is shown and not judged.",
            multiple=True,
        ),
    ]
    control: Annotated[
        ColumnsLike | None,
        Argument(
            None,
            "Column whose values make strata; may be repeated.",
            "What people must share to be compared, such as a department: groups are compared within its values, the "
            "strata.",
            multiple=True,
        ),
    ]
    count: Annotated[
        ColumnLike | None,
        Argument(None, "Column: how many people a row stands for.", "How many people a row stands for; 1 by default."),
    ]
    weight: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of sampling or importance weights.",
            "Sampling or importance weights. Rates are weighted; sizes of groups are counted in people.",
        ),
    ]
    exposure: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of the exposure, such as years insured: the label counts events, the prediction is those per unit.",
            "How long or how much each row was exposed to risk, such as the years a policy ran. The label then counts "
            "events and the prediction is the expected number for each unit of exposure; both are compared as rates, "
            "weighted by exposure.",
        ),
    ]
    cluster: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column that says which rows belong together, such as one person's.",
            "Which rows belong together, such as those of one person: intervals then allow for it.",
        ),
    ]
    design_strata: Annotated[
        ColumnLike | None,
        Argument(
            None,
            "Column of the strata of a survey, within which clusters were drawn.",
            "The strata of a survey, within which `cluster` was drawn.",
        ),
    ]
    clusters: Annotated[
        Span | None,
        Argument(None, "Says that no cluster has rows in two of the cubes or chunks that are added."),
    ]
    positive: Annotated[
        Any,
        Argument(
            1,
            "The value that counts as positive (default 1); may be repeated for several.",
            'The value that counts as positive in label and prediction, or several; 1, 1.0, "1" and True are one. '
            "A mapping {'label': 'yes', 'prediction': 1} where the two differ.",
            multiple=True,
        ),
    ]
    cutoff: Annotated[
        float | None,
        Argument(
            None,
            "Score at or above which a row is predicted positive.",
            "The score at or above which a row is predicted positive. Without it a score alone decides nothing.",
        ),
    ]
    score_range: Annotated[
        Sequence[float] | None,
        Argument(
            None,
            "Range of the score; saves one pass over the data.",
            "The lowest and the highest score that can be, such as (0, 1); saves one pass over the data.",
            metavar="LOW HIGH",
            values=2,
        ),
    ]
    higher_is: Annotated[Direction, Argument("positive", "The class that a higher score speaks for.")]
    bins: Annotated[int, Argument(10, "Number of calibration bins.")]
    strategy: Annotated[
        Strategy, Argument("uniform", "Calibration bins of equal width, or with equally many people in each.")
    ]
    resolution: Annotated[
        Resolution,
        Argument(
            "grid",
            doc='How finely scores are kept: on a grid of 1,024 places, or "exact" for data in memory.',
        ),
    ]
    bands: Annotated[
        Mapping[str, Sequence[float] | None] | None,
        Argument(
            None,
            "Edges that cut a numeric column into groups; none keeps each number as a group.",
            "Edges that cut an attribute into groups, such as {'age': [0, 25, 45, 200]}; None as the edges keeps each "
            "number as a group. An attribute of many numbers that is not named is cut at its quintiles.",
            multiple=True,
            metavar="COLUMN=0,25,45",
        ),
    ]
    missing: Annotated[
        Missing,
        Argument("group", "What happens to rows without a group: they form a group, are left out, or are an error."),
    ]
    na: Annotated[
        Iterable[str],
        Argument(
            (),
            "Text that also means missing, such as NA; may be repeated.",
            'Texts that also mean missing, such as "NA".',
            multiple=True,
        ),
    ]
    hive: Annotated[bool, Argument(False, "Read folders named KEY=VALUE as columns; not done by default.")]
    task: Annotated[
        Task | None,
        Argument(
            None,
            "What is predicted: yes or no, one of several classes, or a number. Default: inferred from the data.",
            'What is predicted: yes or no ("binary"), one of several classes ("multiclass") or a number '
            '("regression"). By default inferred from the data.',
        ),
    ]
    labels: Annotated[
        Mapping[str, Mapping[Any, str]] | None,
        Argument(
            None,
            'Names for coded values of attributes: a TOML file with [sex], 1 = "male".',
            'Names for coded values of attributes and controls, by column: {1: "male", 2: "female"} for "sex". Every '
            "result shows the names; `reference` takes either.",
            metavar="FILE",
        ),
    ]
    where: Annotated[
        str | Sequence[str] | None,
        Argument(
            None,
            'Count only rows where this holds, such as "age >= 65" (= != < <= > >= in); all of several must hold.',
            'Which rows are counted, such as "age >= 65" or "state in CA, NY" (= != < <= > >= in); of several '
            "conditions all must hold. A note of the result says it.",
            multiple=True,
            metavar="CONDITION",
        ),
    ]


class CallArguments(ReadArguments, Familiar, total=False):
    """The same under familiar names too, for type checkers."""


_HINTS = get_type_hints(ReadArguments, include_extras=True)
ARGUMENTS: dict[str, Argument] = {name: get_args(hint)[1] for name, hint in _HINTS.items()}
TYPES: dict[str, Any] = {name: get_args(hint)[0] for name, hint in _HINTS.items()}
DEFAULTS: dict[str, Any] = {name: argument.default for name, argument in ARGUMENTS.items()}
SINGLE = ("label", "prediction", "score", "count", "weight", "cluster", "design_strata")
"""The arguments that name one column each."""

Function = TypeVar("Function", bound=Callable[..., Any])


def shown_type(hint: Any) -> str:
    """A type as it is written in a signature.

    >>> shown_type(Sequence[float] | None), shown_type(Literal["a", "b"] | None)
    ('Sequence[float] | None', "Literal['a', 'b'] | None")
    """
    for name, kind in LIKE.items():
        if hint in (kind, kind | None):
            return name if hint == kind else f"{name} | None"
    if get_origin(hint) in (Union, types.UnionType):
        return " | ".join(map(shown_type, get_args(hint)))
    if hint is types.NoneType:
        return "None"
    return inspect.formatannotation(hint).replace("collections.abc.", "").replace("typing.", "")


def with_read_arguments(function: Function) -> Function:
    """Write the arguments of a reader into the signature of a function that takes them as `**arguments`."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    fixed = [each for each in own if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    read = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=shown_type(TYPES[name]))
        for name, default in DEFAULTS.items()
    ]
    keywords = [each for each in own if each not in fixed]
    function.__signature__ = signature.replace(parameters=[*fixed, *read, *keywords])  # type: ignore[attr-defined]
    return function


def complete(function: Callable[..., Any], arguments: ReadArguments) -> ReadArguments:
    """The arguments of a call with the defaults of those that were left out; TypeError for any other name."""
    unknown = {name: None for name in arguments if name not in DEFAULTS}
    if unknown:
        in_our_words(function.__qualname__, unknown, [*inspect.signature(function).parameters])
    return {**DEFAULTS, **arguments}  # type: ignore[typeddict-item]
