"""The arguments that say how a metric is compared and judged, written once: type, and what docstrings say."""

from __future__ import annotations

from typing import NamedTuple


class Judging(NamedTuple):
    """An argument of a function that judges; its default is that of the policy or of the metric."""

    type: str
    doc: str


JUDGING: dict[str, Judging] = {
    "threshold": Judging(
        "float | None",
        "How large a gap is tolerated, or how small a ratio. By default that of the policy, else that of the metric.",
    ),
    "reference": Judging(
        "Any",
        'The group that others are compared with: its value, or a mapping {attribute: value}; also "rest", '
        '"overall" or "largest". By default groups are compared between the extremes.',
    ),
    "convention": Judging(
        'Literal["fairlearn", "aif360", "aequitas", "virny", "exfairness", "clarify", "solas"] | None',
        "Another tool whose signs and comparisons are followed.",
    ),
    "judged_on": Judging(
        'Literal["difference", "ratio"] | None',
        "What is judged: the difference or the ratio. By default what is usual for the metric.",
    ),
    "aggregate": Judging(
        'Literal["worst", "mean", "mean_abs"] | None',
        "What several measures come to: the worst gap, the mean of the signed gaps, or the mean of their sizes.",
    ),
    "min_group_size": Judging(
        "int | None",
        "Groups with fewer people are shown, and a fail may rest on them, but a pass may not. Default 30.",
    ),
    "confidence": Judging("float | None", "The confidence of intervals; default 0.95."),
    "interval": Judging(
        "str | None",
        'How intervals are computed: "simultaneous" by default, over all groups that are compared; or another method, '
        'such as "percentile" or "bca".',
    ),
    "draws": Judging("int | None", "How many resamples a method that draws takes; default 1000."),
    "random_state": Judging("int | None", "The seed of whatever is drawn; default 0."),
    "metrics": Judging(
        "Iterable[Any] | str | None",
        'What is computed: names, abbreviations such as "fpr", or metrics of your own. What is named also decides, '
        'unless the policy says otherwise. "all" computes every metric that the data allows, and changes nothing in '
        "what decides. By default a core set of about a dozen.",
    ),
    "policy": Judging(
        "Policy | str | Path | None",
        'What decides and by which thresholds: a Policy, the name of one that ships with the package ("four-fifths", '
        '"nyc-ll144") or the path of a TOML file, whose table [data] may hold arguments that say how data is read. An '
        "argument of the call beats the policy.",
    ),
    "intersections": Judging(
        "bool | int | None",
        "Whether attributes are combined, or how many of them at most. By default up to three, in at most 64 sets.",
    ),
    "ax": Judging("Any", "The matplotlib axes to draw on; new ones by default."),
    "n_jobs": Judging("int | None", "How many processes share the work (joblib); None is one, -1 is all cores."),
    "kind": Judging("str | None", 'The library of the dataframe: "pandas", "polars" or "pyarrow"; by default yours.'),
    "attributes": Judging(
        "str | Sequence[str] | None", "The attributes whose groups are meant; by default the first of the audit."
    ),
    "path": Judging("str | Path", "The file; its suffix says the form."),
}
"""Each argument by its name. The order is that of signatures."""
