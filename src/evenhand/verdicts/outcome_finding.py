"""The finding of the robust outcome test: which group is selected less often and yet turns out positive more often."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.core.results import UNDEFINED, Estimate, Group, Panel, Row, number_or_none, pair_names, spell
from evenhand.core.wording import amount
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, join_names
from evenhand.inference.outcome_test import OutcomeTest, Rates, outcome_test
from evenhand.inference.spread import effective
from evenhand.measures.cells import CELLS
from evenhand.measures.indices import OutcomeTestIndex
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.request import Request
from evenhand.verdicts.sentences import bound
from evenhand.verdicts.verdict import verdict

SELECTIONS = ("benefit", "burden")
_MOST_GROUPS = 30  # of more groups, only pairs in which both gaps point the same way have a row
_MOST_ROWS = 1000
_SELECTED, _REFUSED = ("FP", "TP", "U1"), ("TN", "FN", "U0")
_ASSUMES = (
    "It assumes that the likelihood ratio of the risks of two groups is monotone: the higher the chance of a positive "
    "label, the more (or the less) common one group is against the other. Where that does not hold, it can point to "
    "a group wrongly."
)


def robust_outcome(request: Request, cube: Cube, index: OutcomeTestIndex) -> ValueResult:  # noqa: ARG001 - it has no function of its own
    """The test for every ordered pair of groups, within strata; the pair with the strongest evidence is judged."""
    selection = request.options["selection"]
    if selection not in SELECTIONS:
        raise CallError(f"selection={selection!r} must be 'benefit' or 'burden': what it means to be selected.")
    part = cube.named()
    people = _People.of(part)
    test = outcome_test(people.selected, people.positive, request.near_confidence)
    if selection == "burden":  # selected more often and positive less often: the same test, seen from the other group
        swapped = [each.T for each in (test.selection, test.outcome, test.low, test.p, test.adjusted)]
        test = OutcomeTest(*swapped)
    notes = [_ASSUMES, *people.notes]
    if people.refused == 0 or np.isnan(test.p).all():
        why = people.why
        rows = [Row(request.metric.name, group, reason=why) for group in people.groups]
        sentence = f"The {request.metric.title} is undefined: {why}."
        return ValueResult(UNDEFINED, sentence, Row(request.metric.name, ()), rows, notes, unit="score")
    rows = _rows(request, test, people.groups)
    every = [_estimate(test, *pair) for pair in np.argwhere(~np.isnan(test.p)).tolist()]
    value = Estimate(max(each.value for each in every), max(each.low or 0.0 for each in every), 1.0)
    decided = verdict(value, request.threshold)
    evidence = _evidence(request, test, people, failed=decided == "fail")
    other = next(each for each in SELECTIONS if each != selection)
    notes.insert(
        0, f"Being selected is taken as a {selection}; selection={other!r} turns the two groups of a pair round."
    )
    return ValueResult(
        value,
        _sentence(request, people, evidence, decided),
        Row(request.metric.name, evidence.group, against=evidence.against),
        rows,
        notes,
        unit="score",
        p_value=number_or_none(float(np.nanmin(test.adjusted))),
        tested="robust outcome test",
        evidence=evidence,
        panels=(_panel(rows, people),),
        settings={"correction": "holm", "pairs": int((~np.isnan(test.p)).sum())},
    )


@dataclass(frozen=True)
class _People:
    """Who is selected in each stratum and group, who of them turns out positive, and both rates over all strata."""

    groups: list[Group]
    selected: Rates
    positive: Rates
    rates: Floats
    sizes: Array
    unlabelled: int
    strata: int
    refused: float
    attributes: tuple[str, ...]

    @classmethod
    def of(cls, cube: Cube) -> _People:
        groups, strata = list(cube.groups), list(cube.strata)
        where = [(strata.index(stratum), groups.index(group)) for stratum, group in cube.pairs]

        def rates(top: Sequence[str], rest: Sequence[str]) -> Rates:
            chosen, others = (_sum(cube.cells, names) for names in (top, rest))
            k, n = chosen, chosen + others
            if cube.squares is not None:
                k, n = effective(chosen, others, *(_sum(cube.squares, names) for names in (top, rest)))
            table = np.zeros((3, len(strata), len(groups)))
            for place, *numbers in zip(where, k, n, chosen + others, strict=True):
                table[:, place[0], place[1]] = numbers
            return Rates(*table)

        whole = cube.marginal(control=False)
        order = [groups.index(group) for _, group in whole.pairs]
        shares = np.full((2, len(groups)), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            for i, (top, rest) in enumerate(((_SELECTED, _REFUSED), (("TP",), ("FP",)))):
                chosen, others = (_sum(whole.cells, names) for names in (top, rest))
                shares[i, order] = chosen / (chosen + others)
        sizes = np.zeros((2, len(groups)), dtype=np.int64)
        sizes[:, order] = [_sum(whole.counts, names) for names in ((*_SELECTED, *_REFUSED), ("TP", "FP"))]
        lacking, refused = int(_sum(whole.counts, ("U1",)).sum()), float(_sum(whole.cells, _REFUSED).sum())
        return cls(
            groups,
            rates(_SELECTED, _REFUSED),
            rates(("TP",), ("FP",)),
            shares,
            sizes,
            lacking,
            len(strata),
            refused,
            tuple(cube.meaning.sensitive),
        )

    @property
    def why(self) -> str:
        """Why no two groups can be set side by side."""
        if self.refused == 0:
            return "everybody in this table was selected, and it does not show who was refused"
        if not self.positive.n.any():
            return "nobody who was selected has a label"
        labelled = zip(self.groups, self.positive.n.sum(axis=0), strict=True)
        without = [spell(group, self.attributes) for group, n in labelled if n == 0]
        if len(self.groups) - len(without) < 2:
            return f"nobody who was selected among {join_names(without, 6)} has a label"
        return "no two groups have people in the same stratum"

    @property
    def notes(self) -> list[str]:
        notes = ["Within strata, whose gaps are weighted as by Mantel and Haenszel."] if self.strata > 1 else []
        if self.unlabelled:
            notes.append(
                f"{self.unlabelled:,} people who were selected have no label; the others are taken to stand for all."
            )
        return notes


def _sum(cells: Array, names: Sequence[str]) -> Array:
    return np.asarray(cells[:, [CELLS.index(name) for name in names]].sum(axis=1))


def _rows(request: Request, test: OutcomeTest, groups: list[Group]) -> list[Row]:
    """A row for each ordered pair; of many groups those in which the first may be disfavoured, the strongest first."""
    pairs = [(i, j) for i in range(len(groups)) for j in range(len(groups)) if i != j]
    if len(groups) > _MOST_GROUPS:
        pairs = [pair for pair in pairs if min(test.selection[pair], test.outcome[pair]) > 0]
        pairs = sorted(pairs, key=lambda pair: float(test.p[pair]))[:_MOST_ROWS]
    return [
        Row(
            request.metric.name,
            groups[i],
            against=spell(groups[j]),
            estimate=_estimate(test, i, j),
            p_value=number_or_none(float(test.p[i, j])),
            p_adjusted=number_or_none(float(test.adjusted[i, j])),
            reason="no selected people with a label in both groups" if math.isnan(test.p[i, j]) else None,
        )
        for i, j in pairs
    ]


def _estimate(test: OutcomeTest, i: int, j: int) -> Estimate:
    """The smaller of the two gaps, 0 where one of them points the other way.

    Nothing bounds it from above: that a group is not shown to be disfavoured does not show that it is not.
    """
    value = min(test.selection[i, j], test.outcome[i, j])
    return Estimate.of(max(0.0, value) if not math.isnan(value) else value, max(0.0, test.low[i, j]), 1.0)


def _evidence(request: Request, test: OutcomeTest, people: _People, *, failed: bool) -> Row:
    """On a fail the pair with the highest lower end, otherwise the one with the largest gaps."""
    size = test.low if failed else np.fmin(test.selection, test.outcome)
    i, j = divmod(int(np.nanargmax(size)), len(people.groups))
    return Row(
        request.metric.name,
        people.groups[i],
        against=spell(people.groups[j]),
        n=int(people.sizes[1, i]),
        n_against=int(people.sizes[1, j]),
        estimate=_estimate(test, i, j),
        p_value=float(test.p[i, j]),
        p_adjusted=float(test.adjusted[i, j]),
    )


def _sentence(request: Request, people: _People, evidence: Row, decided: str) -> str:
    benefit = request.options["selection"] == "benefit"
    value = evidence.estimate or UNDEFINED
    chance = f"p = {evidence.p_adjusted:.2g}" if evidence.p_adjusted is not None else ""
    less, more = ("less", "more") if benefit else ("more", "less")
    if decided != "fail":
        return (
            f"No group is shown to be selected {less} often than another while its selected turn out positive {more} "
            f"often ({chance}). That does not show that all are held to one standard."
        )
    first = people.groups.index(evidence.group)
    second = [spell(group) for group in people.groups].index(str(evidence.against))
    (rate, base), (hits, others) = (tuple(map(amount, part[[first, second]])) for part in people.rates)
    name, other = pair_names(evidence, people.groups, people.attributes)
    limit = bound(value.value, request.threshold, "fail") if request.threshold else ""
    return (
        f"{name} is selected {less} often than {other} ({rate} and {base}), and those selected turn out positive "
        f"{more} often ({hits}, n = {evidence.n:,}, and {others}, n = {evidence.n_against:,}; {chance}){limit}. Being "
        f"selected taken as a {request.options['selection']}, {name} is disfavoured, if the likelihood ratio of the "
        "risks is monotone."
    )


def _panel(rows: Sequence[Row], people: _People) -> Panel:
    """Every pair, with how sure it is that the first group is disfavoured against the second."""
    columns = ("group", "against", "p after Holm", "p", "smaller gap", "lower end")
    lines = []
    for row in rows:
        estimate = row.estimate or UNDEFINED
        numbers = (row.p_adjusted, row.p_value, number_or_none(estimate.value), estimate.low)
        lines.append((*pair_names(row, people.groups, people.attributes), *numbers))
    return Panel("pairs", "Disfavoured against another group", columns, tuple(lines))
