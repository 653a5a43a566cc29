"""Results of metrics that are judged on a value: `ValueResult`, and the finders of indices computed from cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.results import UNDEFINED, Estimate, Group, Panel, Row, spell
from evenhand.cube.cube import Cube
from evenhand.errors import join_names
from evenhand.inference import simultaneous
from evenhand.inference.draws import EQUAL
from evenhand.inference.spread import Proportions
from evenhand.measures import cells as measures
from evenhand.measures.base import no_labels
from evenhand.measures.cells import MEASURES
from evenhand.measures.entropy import IndexValues
from evenhand.measures.group_data import SIDES, GroupData
from evenhand.measures.indices import CellIndex, LogRatioIndex
from evenhand.verdicts import sentences
from evenhand.verdicts.bounds import draws
from evenhand.verdicts.request import Request
from evenhand.verdicts.verdict import verdict

_LABELLED, _DECIDED = slice(0, 4), slice(0, 6)  # of the cells: those with a label and a decision; those decided


@dataclass(frozen=True)
class ValueResult:
    """All that is particular to one finding on a value of which less is better; `finding.on_value` makes the Finding.

    `evidence` is the pair of groups that the sentence speaks of, `left_out` the groups too small to support a pass.
    """

    value: Estimate
    sentence: str
    summary: Row
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    unit: str = "rate"
    p_value: float | None = None
    tested: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    evidence: Row | None = None
    left_out: Sequence[str] = ()
    panels: Sequence[Panel] = ()


def value_alone(request: Request, result: ValueResult, *why: str) -> ValueResult:
    """The result of an index without intervals and tests, and `why` it has none, as where rows belong together."""
    value, title = Estimate(result.value.value), request.metric.title
    sentence = f"{title[0].upper()}{title[1:]} is {value.value:.3g}." if value.defined else result.sentence
    return replace(
        result,
        value=value,
        sentence=sentence,
        rows=[_row_alone(row) for row in result.rows],
        evidence=None if result.evidence is None else _row_alone(result.evidence),
        notes=[*why, *result.notes],
        p_value=None,
        tested=None,
        panels=(),
        left_out=(),
    )


def _row_alone(row: Row) -> Row:
    ends = {name: getattr(row, name) for name in ("estimate", "difference", "ratio")}
    plain = {name: None if each is None else Estimate(each.value) for name, each in ends.items()}
    return replace(row, **plain, p_value=None, p_adjusted=None)  # type: ignore[arg-type]


def nobody(*groups: Group) -> str:
    """Why a value of these groups is undefined; people whose weight is 0 do not count."""
    return f"nobody in {' or in '.join(dict.fromkeys(map(spell, groups)))} counts who has what it needs"


def deciding_pair(ends: tuple[Floats, Floats], pairs: Sequence[tuple[int, int]], *, failed: bool) -> tuple[int, int]:
    """The pair of groups on which a verdict on distances rests: with the largest lower end on a fail, else upper end.

    `ends` are [groups, groups]. Of equals the first pair is taken, and an end that is not known counts as the smallest.
    """
    deciding = ends[0] if failed else ends[1]
    return max(pairs, key=lambda pair: -math.inf if math.isnan(deciding[pair]) else float(deciding[pair]))


def deciding_row(rows: Sequence[Row], value: Estimate, threshold: float | None, *, floor: bool = False) -> Row:
    """The group on which a verdict on the largest of several values rests: by its ends, else by its value.

    With `floor` it is one on the smallest of them.
    """
    decided = verdict(value, threshold, "floor" if floor else "value")

    def size(row: Row) -> float:
        estimate = row.estimate or UNDEFINED
        near, far = (estimate.high, estimate.low) if floor else (estimate.low, estimate.high)
        end = {"fail": near, "not judged": estimate.value}.get(decided, far)
        return -math.inf if end is None or math.isnan(end) else -end if floor else end

    return max(rows, key=size)


def cell_index(request: Request, cube: Cube, index: CellIndex) -> ValueResult:
    """An index over everyone, its parts and its value in each group, with intervals from draws of the cells.

    What lies between groups has no interval: noise alone makes it positive, and draws of it cover the truth of no gap
    in 0 %. Of a value that is the same in all draws, such as that of one person, the interval is the Bayesian one.
    """
    whole = cube.marginal(control=False).named() if index.named else cube.marginal(control=False)
    silent = GroupData.of(whole).silent & ("label" in request.metric.needs)
    kept = ~silent.any(axis=1, keepdims=True)
    values = index.function(whole.cells * kept, **request.options)

    def statistic(cells: Floats) -> Floats:
        drawn = index.function(cells if kept.all() else cells * kept, **request.options)
        return np.concatenate([drawn.value[..., None], drawn.by_group], axis=-1)

    low, high = _both(draws.ends_of(statistic, whole, request))
    same = (low == high) | np.isclose(low, high, rtol=EQUAL, atol=0.0)
    if same.any():
        bayesian = replace(request, policy=request.policy.updated(interval="bayes"))
        posterior = _both(draws.ends_of(statistic, whole, bayesian))
        low, high = (np.where(same, other, end) for other, end in zip(posterior, (low, high), strict=True))
    low, high = (np.insert(end, 1, [np.nan] * len(values.parts)) for end in (low, high))
    method = request.policy.interval if request.policy.uses_draws else "percentile"
    reasons = {
        group: no_labels(SIDES[int(np.argmax(sides))], spell(group, whole.meaning.sensitive))
        for (_, group), sides in zip(whole.pairs, silent, strict=True)
        if sides.any()
    }
    return _result(request, whole, values, (low, high), method, reasons)


def _both(ends: draws.DrawnEnds) -> tuple[Floats, Floats]:
    """The ends of an index, the near one and the far one, and then those of the groups."""
    low, high = (end.copy() for end in ends.own)
    low[0], high[0] = ends.near[0][0], ends.far[1][0]
    return low, high


def log_ratio(request: Request, cube: Cube, index: LogRatioIndex) -> ValueResult:
    """The largest log ratio between the groups that have a name, with simultaneous intervals."""
    whole = cube.marginal(control=False).named()
    values = index.function(_effective_cells(whole), **request.options)
    return _result(request, whole, values, _largest_log_ratio(whole, request, values), "simultaneous")


def _effective_cells(cube: Cube) -> Floats:
    """The cells in people; weights as Kish's effective number of them, because what smooths a rate is people too."""
    if cube.squares is None:
        return cube.cells
    weights, squares = (part[:, _DECIDED].sum(axis=1, keepdims=True) for part in (cube.cells, cube.squares))
    return np.asarray(cube.cells * np.divide(weights, squares, out=np.zeros_like(weights), where=squares > 0))


def _result(
    request: Request,
    whole: Cube,
    values: IndexValues,
    ends: tuple[Floats, Floats],
    method: str,
    left_out: Mapping[Group, str] | None = None,
) -> ValueResult:
    """The result of an index; `ends` are of the index, then of its parts, then of the groups.

    `left_out` are the groups that it was computed without, each with the reason.
    """
    left_out = left_out or {}
    metric, names = request.metric, list(values.parts)
    needed = _LABELLED if "label" in metric.needs else _DECIDED
    people, mass = whole.counts[:, needed], whole.cells[:, needed].sum(axis=1)
    numbers = map(float, [values.value, *values.parts.values(), *values.by_group])
    estimates = [
        Estimate.of(value, float(np.minimum(low, value)), float(np.maximum(high, value)))
        for value, low, high in zip(numbers, *ends, strict=True)
    ]
    parts, groups = estimates[1 : 1 + len(names)], estimates[1 + len(names) :]
    rows = [
        _row(
            metric.name,
            group,
            int(n),
            UNDEFINED if group in left_out else estimate,
            left_out.get(group) or (values.reason if weight else nobody(group)),
        )
        for (_, group), n, weight, estimate in zip(whole.pairs, people.sum(axis=1), mass, groups, strict=True)
    ]
    rows += [
        _row(name, (), int(people.sum()), estimate, values.reason) for name, estimate in zip(names, parts, strict=True)
    ]
    return ValueResult(
        estimates[0],
        _sentence(request, values, estimates[0], list(left_out.values())),
        _extremes(metric.name, whole, values),
        rows,
        [
            f"Rows of this finding: the {values.title}.",
            *([f"Left out: {join_names(list(left_out.values()), 6, mark='; ')}."] if left_out else []),
        ],
        left_out=[spell(group) for group in left_out],
        settings={"interval": method, "draws": request.policy.draws},
    )


def _row(name: str, group: tuple[str | None, ...], n: int, estimate: Estimate, reason: str) -> Row:
    return Row(name, group, n=n, estimate=estimate, reason=None if estimate.defined else reason)


def _largest_log_ratio(cube: Cube, request: Request, values: IndexValues) -> tuple[Floats, Floats]:
    """Draws fail where no group differs; the interval of the ratio between extremes, for both outcomes, does not."""
    rates = measures.spread(MEASURES["selection_rate"], cube.cells, cube.squares)
    assert isinstance(rates, Proportions)  # noqa: S101 - the selection rate is a plain proportion
    refused = Proportions(rates.n - rates.k, rates.n, rates.form)
    usable = np.array([[None not in group for _, group in cube.pairs]])
    ends = []
    for part, value in zip((rates, refused), values.parts.values(), strict=True):
        confidence, near = math.sqrt(request.policy.confidence), math.sqrt(request.near_confidence)
        least, most = simultaneous.between_extremes([part], usable, confidence, near=near).ratio
        with np.errstate(divide="ignore"):
            ends.append((min(-np.log(most), value), max(-np.log(least), value)))
    own = simultaneous.own(rates, request.policy.confidence)
    low = [max(end[0] for end in ends), *(end[0] for end in ends), *np.fmin(own[0], values.by_group)]
    high = [max(end[1] for end in ends), *(end[1] for end in ends), *np.fmax(own[1], values.by_group)]
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


def _sentence(request: Request, values: IndexValues, value: Estimate, left_out: Sequence[str]) -> str:
    title = request.metric.title
    if not value.defined:
        return f"{title} is undefined: {join_names(left_out, 4, mark='; ') or values.reason}."
    parts = [(name, float(part)) for name, part in values.parts.items()]
    return sentences.index(title, value.value, parts, sentences.value_ending(request, value))


def _extremes(name: str, cube: Cube, values: IndexValues) -> Row:
    by_group = values.by_group
    if np.isnan(by_group).all():
        return Row(name, ())
    high, low = int(np.nanargmax(by_group)), int(np.nanargmin(by_group))
    return Row(name, cube.pairs[high][1], against=spell(cube.pairs[low][1]))
