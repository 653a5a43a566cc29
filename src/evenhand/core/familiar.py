"""Familiar names: what people who know other tools call our arguments, in one table for all functions.

A name that has one meaning is accepted. A name that has several is refused with the words to type.
"""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, NamedTuple, TypedDict, TypeVar, get_args, get_type_hints

from evenhand.core.arrays import ColumnLike, ColumnsLike, DataLike
from evenhand.errors import SignatureError, nearest, shorten

Function = TypeVar("Function", bound=Callable[..., Any])


class FamiliarKeywords(TypedDict, total=False):
    """The names with one meaning: the type is that of our argument, whose name stands beside it."""

    df: Annotated[DataLike, "data"]
    dataframe: Annotated[DataLike, "data"]
    dataset: Annotated[DataLike, "data"]
    y_true: Annotated[ColumnLike, "label"]
    y_test: Annotated[ColumnLike, "label"]
    target: Annotated[ColumnLike, "label"]
    y_hat: Annotated[ColumnLike, "prediction"]
    predictions: Annotated[ColumnLike, "prediction"]
    y_score: Annotated[ColumnLike, "score"]
    y_prob: Annotated[ColumnLike, "score"]
    y_proba: Annotated[ColumnLike, "score"]
    y_pred_proba: Annotated[ColumnLike, "score"]
    scores: Annotated[ColumnLike, "score"]
    probability: Annotated[ColumnLike, "score"]
    probabilities: Annotated[ColumnLike, "score"]
    sensitive_features: Annotated[ColumnsLike, "sensitive"]
    sensitive_feature: Annotated[ColumnsLike, "sensitive"]
    sensitive_attribute: Annotated[ColumnsLike, "sensitive"]
    sensitive_attributes: Annotated[ColumnsLike, "sensitive"]
    group: Annotated[ColumnsLike, "sensitive"]
    groups: Annotated[ColumnsLike, "sensitive"]
    protected: Annotated[ColumnsLike, "sensitive"]
    protected_attribute: Annotated[ColumnsLike, "sensitive"]
    protected_attributes: Annotated[ColumnsLike, "sensitive"]
    protected_attribute_names: Annotated[ColumnsLike, "sensitive"]
    control_features: Annotated[ColumnsLike, "control"]
    sample_weight: Annotated[ColumnLike, "weight"]
    sample_weights: Annotated[ColumnLike, "weight"]
    weights: Annotated[ColumnLike, "weight"]
    pos_label: Annotated[Any, "positive"]
    positive_label: Annotated[Any, "positive"]
    favorable_label: Annotated[Any, "positive"]
    favourable_label: Annotated[Any, "positive"]
    privileged: Annotated[Any, "reference"]
    privileged_group: Annotated[Any, "reference"]
    reference_group: Annotated[Any, "reference"]
    ref_groups_dict: Annotated[Any, "reference"]
    decision_threshold: Annotated[float, "cutoff"]
    n_bins: Annotated[int, "bins"]
    confidence_level: Annotated[float, "confidence"]
    n_boot: Annotated[int, "draws"]
    n_bootstrap: Annotated[int, "draws"]
    n_resamples: Annotated[int, "draws"]
    seed: Annotated[int, "random_state"]
    metric: Annotated[Any, "metrics"]


class Familiar(FamiliarKeywords, total=False):
    """With y_pred, which functions of `data` and `y_pred` name in their signature."""

    y_pred: Annotated[ColumnLike, "prediction"]


OURS: dict[str, str] = {name: get_args(hint)[1] for name, hint in get_type_hints(Familiar, include_extras=True).items()}
"""Our word for each familiar name."""


class Remedy(NamedTuple):
    """What to type in place of a name that has more than one meaning; `words` are our arguments that it speaks of."""

    words: tuple[str, ...]
    text: str


_GROUPS = Remedy(
    ("sensitive", "reference"),
    "name the attribute by sensitive= and the group that all others are compared with by reference=, as in "
    "sensitive='sex', reference='male', or reference={'sex': 'male'} among several attributes",
)
_OTHERS = Remedy(
    ("reference",), "leave it out: every other group is compared with reference=, as in reference={'sex': 'male'}"
)
REMEDIES: dict[str, Remedy] = {
    "privileged_groups": _GROUPS,
    "unprivileged_groups": _OTHERS,
    "unprivileged_group": _OTHERS,
    "unprivileged": _OTHERS,
    "unfavorable_label": Remedy(("positive",), "leave it out: every value that is not positive= is unfavourable"),
    "unfavourable_label": Remedy(("positive",), "leave it out: every value that is not positive= is unfavourable"),
    "method": Remedy(
        ("reference",),
        "leave it out to compare the extremes (between_groups), or say reference='overall' (to_overall)",
    ),
    "agg": Remedy(("aggregate",), "say aggregate='worst' (worst_case) or aggregate='mean_abs' (mean)"),
    "alpha": Remedy(("confidence",), "say how sure to be, not how unsure: confidence=0.95 for alpha=0.05"),
    "strata": Remedy(
        ("control", "design_strata"),
        "say control= for a column within whose values to compare, such as a department, or design_strata= for the "
        "strata of a survey",
    ),
    "thresholds": Remedy(
        ("policy",), "say policy=eh.Policy(thresholds={'demographic_parity': 0.05}), with required= for what decides"
    ),
    "sample_params": Remedy(("weight",), "say weight=, or use evenhand.fairlearn.MetricFrame, which takes it"),
    "labels": Remedy(("label",), "say label= for what happened to each row, or positive= for the value that counts"),
}
"""The names with more than one meaning, or with none here."""


def in_our_words(function: str, named: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The keyword arguments of a call under our names. `known` are the names that the function takes.

    >>> in_our_words("audit", {"y_true": [1, 0], "groups": "race"}, ["label", "sensitive"])
    {'label': [1, 0], 'sensitive': 'race'}
    >>> in_our_words("audit", {"y_true": [1, 0], "label": "repaid"}, ["label", "sensitive"])
    Traceback (most recent call last):
    evenhand.errors.SignatureError: audit() was given y_true= and label=, which are one argument: give one of them.
    """
    if all(name in known for name in named):
        return dict(named)
    said: dict[str, str] = {}
    ours: dict[str, Any] = {}
    for name, value in named.items():
        word = name if name in known else OURS.get(name, "")
        if word not in known:
            raise SignatureError(f"{function}() takes no argument {shorten(name)!r}{_instead(name, known)}")
        if word in ours:
            raise SignatureError(
                f"{function}() was given {said[word]}= and {name}=, which are one argument: give one of them."
            )
        said[word], ours[word] = name, value
    return ours


def _instead(name: str, known: Collection[str]) -> str:
    """What to type in place of a name that is not taken, as the end of a sentence."""
    remedy = REMEDIES.get(name)
    if remedy is not None and all(word in known for word in remedy.words):
        return f": {remedy.text}."
    if name in OURS:
        return f": it is our {OURS[name]}=, which is not taken here; {nearest(OURS[name], known)}"
    near = nearest(name, [*known, *(each for each, word in OURS.items() if word in known)])
    return f"; {near if near.startswith('did you mean') else nearest(name, known)}"


def familiar(function: Function) -> Function:
    """A function or method that also takes the familiar names of its arguments."""
    known = [*inspect.signature(function).parameters]

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        return function(*positional, **in_our_words(function.__qualname__, named, known))

    return call  # type: ignore[return-value]


def also_called(names: Collection[str]) -> dict[str, list[str]]:
    """The familiar names of some of our arguments, for a docstring."""
    found: dict[str, list[str]] = {}
    for name, word in OURS.items():
        if word in names and name not in names:
            found.setdefault(word, []).append(name)
    return found


_ELSEWHERE = {
    "MetricFrame": "evenhand.fairlearn has it; or type evenhand.audit(...) and look at audit.groups()",
    "ClassificationMetric": "type evenhand.audit(data, label=..., prediction=..., sensitive=...)",
    "BinaryLabelDatasetMetric": "type evenhand.base_rate_parity(data, label=..., sensitive=...)",
    "ThresholdOptimizer": "type evenhand.mitigate.GroupThresholds",
    "Reweighing": "type evenhand.mitigate.Reweigher",
}
"""What people look for under the names of other tools."""


def missing_name(name: str, short: Mapping[str, Sequence[str]], known: Collection[str]) -> str:
    """The remedy for a name that the package does not have; `short` says what abbreviations of metrics stand for.

    >>> missing_name("fpr", {"fpr": ["predictive_equality"]}, [])
    "it is short for a metric: type evenhand.predictive_equality, or metrics=['fpr'] in an audit."
    """
    if name in _ELSEWHERE:
        return f"{_ELSEWHERE[name]}."
    meant = short.get(name.casefold(), ())
    if len(meant) > 1:
        return f"it is short for several metrics: type evenhand.{' or evenhand.'.join(meant)}."
    if meant:
        return f"it is short for a metric: type evenhand.{meant[0]}, or metrics=[{name!r}] in an audit."
    if name.endswith(("_group_min", "_group_max")):
        return f"a measure with that ending is a metric, and {name[: -len('_group_min')]!r} is not a measure."
    return nearest(name, known)
