"""Sensitivity: what missing labels, missing groups and wrong labels could hide from a finding."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.core.results import UNDEFINED, Estimate, Group, Row, Verdict
from evenhand.core.signs import Printable


@dataclass(frozen=True, slots=True)
class LabelError(Printable):
    """How many labels of a group may be wrong before a verdict turns; None where it holds up to a half of them.

    `negative` is the share of negative labels that are truly positive, with every positive label right; `positive` the
    share of positive labels that are truly negative, with every negative label right; `both` the two shares together.
    `group` is () where every group has the same errors, whatever the decision.
    """

    group: Group
    negative: float | None
    positive: float | None
    both: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity(Printable):
    """What missing labels, missing groups and wrong labels could hide.

    `verdict` is the verdict with labels taken as missing at random, to which every tipping point refers. `unlabelled`
    and `without_group` are shares of the people, by weight. `by_labels` has each rate between its least and its
    greatest value over the missing labels, and `gap_by_labels` the size of the gap; `by_groups` and `gap_by_groups` the
    same over the groups that people without one may belong to.

    The tipping points: `odds_ratio` is how many times as high, or as low, the odds of a positive label must be among
    the unlabelled as among the labelled with the same decision, in every group, for another verdict; `odds_ratio_one`
    the same in one group alone, `odds_ratio_group`. `group_share` is the least share of the people without a group who,
    if they belong to `group_share_group`, make another verdict. None: nothing up to 1,000 times, or up to all of them.
    """

    verdict: Verdict
    unlabelled: float
    without_group: float
    by_labels: tuple[Row, ...] = ()
    gap_by_labels: Estimate = UNDEFINED
    by_groups: tuple[Row, ...] = ()
    gap_by_groups: Estimate = UNDEFINED
    odds_ratio: float | None = None
    odds_ratio_one: float | None = None
    odds_ratio_group: Group = ()
    group_share: float | None = None
    group_share_group: Group = ()
    label_errors: tuple[LabelError, ...] = ()
    unseen: tuple[Group, ...] = ()
    """The groups in which nobody with one of the decisions has a label: then no odds ratio can be looked for."""
    searched: bool = True
    """Were tipping points looked for? Not without a threshold, and not where there are more than twelve groups, counted
    in each stratum."""
    sentences: tuple[str, ...] = ()
    """What of it a reader must know: one for labels and one for groups, where any are missing."""

    @property
    def missing(self) -> bool:
        """Is anything missing that the finding depends on?"""
        return bool(self.by_labels or self.by_groups)

    def __repr__(self) -> str:
        missing = f"{self.unlabelled:.1%} unlabelled, {self.without_group:.1%} without a group"
        ratio = "" if self.odds_ratio is None else f"; turns at an odds ratio of {self.odds_ratio:.3g}"
        return f"<Sensitivity: {self.verdict}; {missing}{ratio}>"
