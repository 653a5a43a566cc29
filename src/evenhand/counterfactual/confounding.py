"""How strong an unobserved common cause must be to change the verdict.

Suppose something unobserved causes both the attribute and its children in the graph. Then part of the difference
between groups that the model takes for an effect is not one. Let that part be t standard deviations of each child's
noise, in the direction that matters most, for every pair of groups alike: `tipping` finds the smallest t at which the
verdict would change. As in Cinelli and Hazlett (2020), t is also expressed as the share of the remaining variance, of
the attribute and of each child, that the unobserved cause would have to explain (the robustness value).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.core.arrays import Floats
from evenhand.core.signs import printable
from evenhand.counterfactual.changes import PredictionChanges, Subject, World
from evenhand.counterfactual.columns import take_rows, with_columns
from evenhand.counterfactual.model import FittedModel, set_to, take_columns, uniforms
from evenhand.errors import shorten

Pair = tuple[int, int]

STRONGEST, _STEPS, _MOST_TRIED = 5.0, 14, 500


@dataclass(frozen=True)
class Tipping:
    """The smallest strength that changes the verdict, in standard deviations of noise; infinite where none does.

    `robustness` is the same as a share of variance; `observed` is how far the attribute itself moves its children at
    most, in the same units, for comparison.
    """

    strength: float
    robustness: float
    observed: float
    children: tuple[str, ...]

    def __str__(self) -> str:
        return printable(sentence(self))


class _Trial:
    """People of one group, moved to another, with the noise of the attribute's children shifted on the way."""

    def __init__(
        self, subject: Subject, world: World, changes: PredictionChanges, spreads: Mapping[str, float], pair: Pair
    ) -> None:
        self.spreads, (group, target) = spreads, pair
        chosen = subject.people.rows(group)[:_MOST_TRIED]
        self.before, self.answers = changes.before.take(chosen), subject.predictor.answers
        self.unshifted = float(np.abs(changes.apart[target][:, chosen]).mean())  # the size at strength 0
        rows, learned = take_columns(subject.rows, chosen), world.learned
        assert learned is not None  # noqa: S101 - `tipping` asks for one
        nodes = learned.graph.descendants(subject.people.attributes)
        values = subject.people.values[target].items()
        self.do = {name: set_to(rows, learned, name, value) for name, value in values}
        self.acted = with_columns(take_rows(subject.table, chosen), self.do)
        noises = (uniforms(learned, nodes, rows, world.random_state, draw) for draw in range(world.draws))
        self.worlds = [learned.abduced(rows, nodes, noise) for noise in noises]
        self.signs, self.extra = dict.fromkeys(spreads, 0.0), 0.0

    def size(self, strength: float, signs: Mapping[str, float] | None = None) -> float:
        """The mean size of the change with a confounder of that strength."""
        turned = self.signs if signs is None else signs
        shifts = {name: turned[name] * strength * spread for name, spread in self.spreads.items()}
        changed = [world.under(self.do, shifts) for world in self.worlds]
        followed = [{name: each[name] for name in each if name not in self.do} for each in changed]
        after = [self.answers(with_columns(self.acted, columns)) for columns in followed]
        return float(np.mean([np.abs(each.minus(self.before)).mean() for each in after]))

    def aimed(self, *, up: bool) -> _Trial:
        """The trial with the sign of each child's shift that raises (or lowers) the size most, tried one by one."""
        none = dict.fromkeys(self.spreads, 0.0)
        for name in self.spreads:
            tries = {sign: self.size(0.1, {**none, name: sign}) for sign in (1.0, -1.0)}
            self.signs[name] = (max if up else min)(tries, key=lambda sign: tries[sign])
        return self

    def beyond(self, strength: float, threshold: float) -> bool:
        """Is the end of the interval that decides above the threshold?"""
        return self.size(strength) + self.extra > threshold

    def rising(self, threshold: float) -> float:
        """The smallest strength at which the size is above the threshold; infinite if there is none."""
        if not self.beyond(STRONGEST, threshold):
            return math.inf
        return _crossing(lambda strength: self.beyond(strength, threshold), 0.0, STRONGEST)

    def falling(self, threshold: float) -> float:
        """The smallest strength at which the size is within the threshold: the size falls first, then rises."""
        bottom = _lowest(self.size, 0.0, STRONGEST)
        if self.beyond(bottom, threshold):
            return math.inf
        return _crossing(lambda strength: self.beyond(strength, threshold), 0.0, bottom)


def tipping(
    subject: Subject,
    world: World,
    changes: PredictionChanges,
    margins: tuple[Floats, Floats],
    threshold: float,
    verdict: str,
) -> Tipping | None:
    """How strong a confounder must be to change the verdict; None where it is inconclusive or nothing was estimated.

    `margins` are how far below and above its value each pair's interval reaches, [groups, targets].
    """
    learned, people = world.learned, subject.people
    if learned is None or verdict not in ("pass", "fail"):
        return None
    spreads = _spreads(learned, subject, _children(learned, people.attributes))
    if not spreads:
        return None
    passed = verdict == "pass"
    extra = margins[1] if passed else -margins[0]
    # The verdict rests on pairs whose interval lies on its side; with the widest first, most others need no search.
    resting = [pair for pair in people.pairs if np.isfinite(extra[pair]) and (changes.size + extra)[pair] <= threshold]
    if not passed:
        resting = [pair for pair in people.pairs if (changes.size + extra)[pair] > threshold]
    resting.sort(key=lambda pair: -(changes.size + extra)[pair])
    found, share = (math.inf if passed else 0.0), 0.5
    for group, target in resting:
        trial = _Trial(subject, world, changes, spreads, (group, target)).aimed(up=passed)
        trial.extra = changes.size[group, target] - trial.unshifted + extra[group, target]  # from the few tried to all
        # A pass falls with the first pair that goes beyond, a fail only with the last that comes within.
        if math.isfinite(found) and found > 0 and not trial.beyond(found, threshold):
            continue
        strength = trial.rising(threshold) if passed else trial.falling(threshold)
        if strength != found:
            found, pair = strength, people.sizes[[group, target]]
            share = float(pair[0] / pair.sum())
        if math.isinf(found) and not passed:
            break
    if not found or not resting:
        return None
    return Tipping(found, robustness(found, share), _observed(subject, world, spreads), tuple(spreads))


def _observed(subject: Subject, world: World, spreads: Mapping[str, float]) -> float:
    """How far the attribute itself moves its children at most, in deviations of their noise."""
    most, codes = 0.0, subject.people.codes
    for target, columns in enumerate(world.moved(subject, 0)):
        for name, spread in spreads.items():
            moved = np.abs(columns[name].values - subject.rows[name].values)
            means = np.bincount(codes, weights=moved) / np.maximum(np.bincount(codes), 1)
            most = max(most, float(np.delete(means, target).max(initial=0.0)) / spread)
    return most


def robustness(strength: float, share: float) -> float:
    """The share of variance that a confounder must explain on both sides to shift a child by `strength` deviations.

    `share` is the share of the people in one group: the attribute varies by √(share (1 − share)).

    >>> round(robustness(1.0, 0.5), 3)
    0.39
    """
    if math.isinf(strength):
        return 1.0
    f = strength * math.sqrt(share * (1 - share))
    return 0.5 * (math.sqrt(f**4 + 4 * f**2) - f**2)


def _children(learned: FittedModel, attributes: tuple[str, ...]) -> list[str]:
    children = dict.fromkeys(child for name in attributes for child in learned.graph.children(name))
    return [child for child in children if child not in attributes]


def _spreads(learned: FittedModel, subject: Subject, children: list[str]) -> dict[str, float]:
    """The standard deviation of each child's noise; children without additive noise are left out."""
    states = learned.abduced(subject.rows, children).states
    found = {name: state.residual for name, state in states.items() if state.residual is not None}
    return {name: float(noise.std()) for name, noise in found.items() if noise.std() > 0}


def _crossing(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """The point between low and high at which a condition changes, by bisection."""
    start = beyond(low)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) == start else (low, middle)
    return high


def _lowest(size: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a function that falls and then rises, by golden sections."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = size(left), size(right)
    for _ in range(2 * _STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = size(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = size(right)
    return (low + high) / 2


def sentence(tip: Tipping) -> str:
    """The strength of the confounder in words."""
    names = ", ".join(shorten(name) for name in tip.children)
    if math.isinf(tip.strength):
        return (
            f"No unobserved common cause of the attribute and of {names}, up to {STRONGEST:g} standard deviations of "
            "their noise, would change the verdict."
        )
    return (
        f"An unobserved common cause of the attribute and of {names} would change the verdict if it accounted for a "
        f"difference of {tip.strength:.2g} standard deviations of their noise (explaining "
        f"{100 * tip.robustness:.2g} % of the variance left on both sides); the attribute itself is estimated to "
        f"move them by up to {tip.observed:.2g}."
    )
