"""representation(): who is in the data, against who is expected to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from evenhand.audits.audit import Audit, adjusted
from evenhand.audits.audit_notes import data_notes
from evenhand.audits.benchmark import Benchmark, attribute_of, matched, read_benchmark
from evenhand.core import frames
from evenhand.core.arrays import DataLike, Floats, Ints
from evenhand.core.results import Caller, Estimate, Finding, Panel, Row, number_or_none, spell
from evenhand.core.wording import amount, distance, number_of, quotient, reach
from evenhand.cube import merge
from evenhand.cube.cube import Cube, count_people
from evenhand.errors import CallError, DataError, join_names, listing, nearest
from evenhand.inference import multiplicity, shares
from evenhand.inference.hypotheses import Test
from evenhand.inference.shares import Distances
from evenhand.sources.documentation import documented
from evenhand.sources.reader import reader
from evenhand.sources.roles import ReadArguments, complete
from evenhand.verdicts.finding import on_value
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.notes.bands import cut_notes
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.row_source import reusable
from evenhand.verdicts.sentences import bound
from evenhand.verdicts.verdict import verdict

METRIC = "representation"
ROLE = "representation"
AGAINST = "the benchmark"


@documented
@reader
def representation(
    data: DataLike | None = None,
    *,
    benchmark: Mapping[Any, Any] | str | Path | None = None,
    threshold: float | None = None,
    judged_on: Literal["ratio", "difference"] | None = None,
    policy: Policy | str | Path | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    **arguments: Unpack[ReadArguments],
) -> Finding:
    """Who is in the data, against who is expected to be: the share of each group beside that of a benchmark.

    Only the attribute is needed, neither a label nor a decision. With a label, `panels` also has how far the labels of
    each group are distributed otherwise than those of everyone else.

    Parameters
    ----------
    data
        A table, the path of a file, or a Cube; without it, pass arrays.
    benchmark
        The expected shares: {"race": {"White": 0.6, "Black": 0.4}}, {value: share} where there is one attribute, or in
        place of the inner mapping the path of a file with the columns value and share. They add up to 1.
    threshold
        The least ratio of a share to the expected one that is tolerated, such as 0.8, or with judged_on="difference"
        the largest difference. Without it nothing is judged.
    judged_on
        "ratio" (default), the lowest of all groups; or "difference", the largest of all groups on either side.
    policy
        Where confidence and threshold are taken from, if they are not given.

    Returns
    -------
    Finding
        Of the metric `representation`, with a row for each group.

    >>> people = {"race": ["White"] * 70 + ["Black"] * 30}
    >>> finding = representation(people, benchmark={"race": {"White": 0.5, "Black": 0.5}}, threshold=0.8)
    >>> round(finding.value.value, 2), finding.verdict, round(finding.p_value, 5)
    (0.6, 'inconclusive', 6e-05)
    """
    if benchmark is None:
        raise CallError(
            "benchmark= is missing: the expected shares, as in benchmark={'race': {'White': 0.6, 'Black': 0.4}}."
        )
    request = make_request(
        METRIC,
        policy=policy,
        threshold=threshold,
        judged_on=judged_on,
        min_group_size=min_group_size,
        confidence=confidence,
    )
    data, said = reusable(data), reusable(arguments)
    cube = merge.counted(data, said)
    if cube is None:
        read = complete(representation, said)
        if read["sensitive"] is None and data is not None:
            read["sensitive"] = attribute_of(benchmark)
        cube = count_people(data, read)
    finding = represent(request, cube, benchmark)
    return replace(finding, caller=Caller(frames.kind_of(data), cube.kinds))


def audit_of(request: Request, cube: Cube, benchmarks: Mapping[str, Any]) -> Audit:
    """An audit of the attributes that have a benchmark, each with its own."""
    findings = [represent(request, cube, {name: shares}) for name, shares in benchmarks.items()]
    return Audit(cube, request.policy, adjusted(findings, request.policy), tuple(data_notes(cube)), (METRIC,))


def represent(request: Request, cube: Cube, benchmark: Any) -> Finding:
    """The finding of one attribute of a cube against a benchmark."""
    names = cube.meaning.sensitive
    attribute = attribute_of(benchmark) or (names[0] if len(names) == 1 else None)
    if attribute is None:
        raise CallError(f"benchmark= must say which of {listing(names)} it is of, as in {{{names[0]!r}: {{…}}}}.")
    if attribute not in names:
        raise CallError(f"benchmark= names {attribute!r}, which is not an attribute here; {nearest(attribute, names)}")
    people = _People.of(cube.marginal([attribute], control=False), read_benchmark(benchmark, attribute))
    result = _result(request, people)
    return on_value(request, (attribute,), result, notes=cut_notes(cube))


@dataclass(frozen=True)
class _People:
    """The people of each group of data and benchmark, by number and by weight; `worth` is the number of people that
    counts in tests, and `labels` are the sums of weights by group and class, where there are labels."""

    benchmark: Benchmark
    names: list[str]
    count: Ints
    mass: Floats
    worth: float
    labels: Floats | None
    missing: int
    weighted: bool
    clustered: bool

    @classmethod
    def of(cls, cube: Cube, benchmark: Benchmark) -> _People:
        seen = {str(group[0]): i for i, (_, group) in enumerate(cube.pairs) if None not in group}
        names = matched(benchmark, list(seen))
        places = [seen.get(name) for name in names]
        mass = cube.n if cube.w is None else cube.w

        def by_group(array: Any) -> Any:
            empty = np.zeros(array.shape[1:], dtype=array.dtype)
            return np.array([empty if place is None else array[place] for place in places])

        weights = by_group(mass.sum(axis=(1, 2))).astype(np.float64)
        total = float(weights.sum())
        squares = total if cube.w2 is None else float(by_group(cube.w2.sum(axis=(1, 2))).sum())
        count = by_group(cube.n.sum(axis=(1, 2)))
        if not total > 0:
            raise DataError(f"nobody has a value of {benchmark.attribute!r}: there is nothing to compare.")
        labels = by_group(mass.sum(axis=2))[:, :-1].astype(np.float64) if cube.has_labels else None
        return cls(
            benchmark,
            names,
            count,
            weights,
            total if cube.w is None else total**2 / squares,
            labels if cube.meaning.task != "regression" else None,
            int(cube.size - count.sum()),
            cube.w is not None,
            cube.clustered,
        )

    @property
    def expected(self) -> Floats:
        return np.array([self.benchmark.shares[name] for name in self.names])

    @property
    def shares(self) -> Floats:
        return np.asarray(self.mass / self.mass.sum())

    @property
    def effective(self) -> Floats:
        """The people of each group as tests count them: with weights, as many as the weights are worth."""
        return self.shares * self.worth if self.weighted else self.count.astype(np.float64)

    @property
    def size(self) -> int:
        return int(self.count.sum())

    def shown(self, i: int) -> str:
        """A group as people read it."""
        return spell((self.names[i],), (self.benchmark.attribute,))


def _result(request: Request, people: _People) -> ValueResult:
    low, high = _limits(request, people)
    expected, found = people.expected, people.shares
    z = np.full(len(found), np.nan) if people.clustered else shares.z_scores(people.effective, expected)
    exact = None if people.weighted or people.clustered else shares.exact_p(people.count.astype(np.float64), expected)
    policy = request.policy
    test = (
        None
        if people.clustered
        else shares.goodness_of_fit(people.effective, expected, draws=policy.draws, random_state=policy.random_state)
    )
    adjusted = None if exact is None else multiplicity.adjust(exact, policy.correction)
    rows = [
        Row(
            METRIC,
            (people.names[i],),
            against=AGAINST,
            n=people.size,
            estimate=Estimate.of(found[i], low[i], high[i]),
            difference=Estimate.of(found[i] - expected[i], low[i] - expected[i], high[i] - expected[i]),
            ratio=Estimate.of(found[i] / expected[i], low[i] / expected[i], high[i] / expected[i]),
            p_value=None if exact is None else float(exact[i]),
            p_adjusted=None if adjusted is None else float(adjusted[i]),
        )
        for i in range(len(found))
    ]
    value = _value(request, rows)
    evidence = _evidence(request, rows, value)
    away = shares.distances(found, expected)
    return ValueResult(
        value,
        _sentence(request, people, evidence, value),
        replace(evidence, estimate=None),
        rows,
        _notes(request, people, test),
        unit="rate",
        p_value=None if test is None else number_or_none(test.p_value),
        tested=None if test is None else test.name,
        evidence=evidence,
        panels=_panels(people, rows, z, test, away),
        settings={"against": AGAINST, "min_group_size": policy.min_group_size},
    )


def _limits(request: Request, people: _People) -> tuple[Floats, Floats]:
    """Limits of the shares that hold together; NaN where rows belong together, or the policy wants none."""
    if people.clustered or request.policy.interval == "none":
        none = np.full(len(people.names), np.nan)
        return none, none
    return shares.limits(people.effective, request.near_confidence)


def _value(request: Request, rows: Sequence[Row]) -> Estimate:
    """The lowest ratio, or the largest difference, with the lowest or largest ends; no pass rests on few people."""
    few = (rows[0].n or 0) < request.policy.min_group_size
    if request.judged_on == "ratio":
        ratios = [row.ratio or Estimate(math.nan) for row in rows]
        least = min(each.value for each in ratios)
        if ratios[0].low is None or ratios[0].high is None:
            return Estimate(least)
        low, high = min(each.low or 0.0 for each in ratios), min(each.high or 0.0 for each in ratios)
        return Estimate(least, 0.0 if few and low > 0 else low, max(high, least))
    gaps = [row.difference or Estimate(math.nan) for row in rows]
    largest = max(abs(each.value) for each in gaps)
    if gaps[0].low is None or gaps[0].high is None:
        return Estimate(largest)
    ends = [(each.low or 0.0, each.high or 0.0) for each in gaps]
    near, far = max(max(low, -high, 0.0) for low, high in ends), max(max(-low, high) for low, high in ends)
    return Estimate(largest, min(near, largest), 1.0 if few else far)


def _evidence(request: Request, rows: Sequence[Row], value: Estimate) -> Row:
    """The group on which the verdict rests: on a fail the surest one, otherwise the one that may be farthest."""
    failed = verdict(value, request.threshold, request.judged_on) == "fail"

    def away(row: Row) -> float:
        if request.judged_on == "ratio":
            each = row.ratio or Estimate(math.nan)
            end = each.value if request.threshold is None else each.high if failed else each.low
            return -(each.value if end is None else end)
        each = row.difference or Estimate(math.nan)
        if each.low is None or each.high is None or request.threshold is None:
            return abs(each.value)
        return max(each.low, -each.high) if failed else max(abs(each.low), abs(each.high))

    return max(rows, key=away)


def _sentence(request: Request, people: _People, evidence: Row, value: Estimate) -> str:
    i = people.names.index(str(evidence.group[0]))
    kind = request.judged_on
    judged = (evidence.ratio if kind == "ratio" else evidence.difference) or Estimate(math.nan)
    ends = tuple(math.nan if end is None else end for end in (judged.low, judged.high))
    decided = verdict(value, request.threshold, kind)
    gap = (
        f"{quotient(judged.value)} times the expected share"
        if kind == "ratio"
        else f"{distance(judged.value, signed=True)} apart"
    )
    said = reach((ends[0], ends[1]), request.policy.confidence, kind)
    side = bound(judged.value if kind == "ratio" else abs(judged.value), request.threshold, decided, kind, "rate")
    return (
        f"{people.shown(i)} is {amount(float(people.shares[i]))} of {number_of(people.size, 'person', 'people')} and "
        f"{amount(float(people.expected[i]))} of the benchmark: {gap}{said}{side}."
    )


def _notes(request: Request, people: _People, test: Test | None) -> list[str]:
    notes = []
    absent = [people.shown(i) for i, count in enumerate(people.count) if count == 0]
    if absent:
        notes.append(f"Nobody in the data is {join_names(absent, 6, mark=' or ')}, of whom the benchmark has a share.")
    if abs(people.benchmark.total - 1) > 1e-9:
        notes.append(f"The shares of the benchmark add up to {people.benchmark.total:.10g}; they are scaled to 1.")
    if people.missing:
        notes.append(f"{number_of(people.missing)} without a value are left out; the shares are those of the others.")
    if people.size < request.policy.min_group_size and request.threshold is not None:
        notes.append(f"Fewer than {request.policy.min_group_size} people: too few to support a pass.")
    if test is not None and test.note:
        notes.append(f"{test.note[0].upper()}{test.note[1:]}, so the p-value of chi-square is drawn.")
    if people.weighted:
        notes.append(
            f"With weights, z, chi-square and intervals rest on {people.worth:,.0f} people, the number that the "
            "weights are worth (Kish); the exact test and the shortfall count whole people, so they are not computed."
        )
    if people.clustered:
        notes.append("Rows belong together in clusters, so there are shares without intervals and tests.")
    return notes


def _panels(people: _People, rows: Sequence[Row], z: Floats, test: Test | None, away: Distances) -> tuple[Panel, ...]:
    lowest, highest = (float(end(_skew(people))) for end in (np.min, np.max))
    numbers = (None,) * 3 if test is None else (test.statistic, test.df, test.p_value)
    tested = [None if each is None else number_or_none(each) for each in numbers]
    whole = (*tested, away.kl, away.js, away.tvd, away.l2, lowest, highest)
    titles = ("chi-square", "df", "p", "KL", "JS", "TVD", "L2", "lowest skew", "highest skew")
    return (
        _shares_panel(people, rows, z),
        Panel("table", "The whole against the benchmark", titles, (whole,), role=ROLE),
        _imbalance_panel(people),
    )


def _shares_panel(people: _People, rows: Sequence[Row], z: Floats) -> Panel:
    columns = ("group", "people", "share", "expected", "ratio", "ratio low", "ratio high", "z", "exact p", "shortfall")
    lines = []
    for i, row in enumerate(rows):
        ratio, size = row.ratio or Estimate(math.nan), (float(people.shares[i]), float(people.expected[i]))
        short = None if people.weighted else float(people.size * people.expected[i] - people.count[i])
        tests = number_or_none(float(z[i])), row.p_value, short
        lines.append((people.shown(i), int(people.count[i]), *size, ratio.value, ratio.low, ratio.high, *tests))
    return Panel("table", "Shares against the benchmark", columns, tuple(lines), role=ROLE)


def _skew(people: _People) -> Floats:
    """The logarithm of each share over the expected one; −∞ for a group that nobody is in."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(people.shares / people.expected))


def _imbalance_panel(people: _People) -> Panel:
    """Skew, class imbalance and, with labels, how differently the labels of each group are distributed."""
    columns: tuple[str, ...] = ("group", "skew", "class imbalance")
    lines = [(people.shown(i), float(skew), float(1 - 2 * people.shares[i])) for i, skew in enumerate(_skew(people))]
    if people.labels is None:
        return Panel("table", "Skew and class imbalance", columns, tuple(lines), role=ROLE)
    everyone = people.labels.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = [shares.distances((everyone - own) / (everyone - own).sum(), own / own.sum()) for own in people.labels]
    columns = (*columns, "label KL", "label JS", "label TVD", "label L2")
    labels = [tuple(map(number_or_none, (each.kl, each.js, each.tvd, each.l2))) for each in away]
    cells = tuple((*line, *label) for line, label in zip(lines, labels, strict=True))
    return Panel("table", "Skew, class imbalance, and labels against everyone else's", columns, cells, role=ROLE)
