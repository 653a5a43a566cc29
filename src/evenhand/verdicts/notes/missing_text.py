"""The sentences of a sensitivity: what missing labels and missing groups could hide, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.results import Estimate, figure, spell
from evenhand.core.sensitivity import Sensitivity
from evenhand.core.wording import distance, quotient
from evenhand.errors import join_names
from evenhand.verdicts.request import Request

_BECOMES = {"pass": "passes", "fail": "fails", "inconclusive": "is inconclusive"}


def sentences(found: Sensitivity, request: Request, attributes: Sequence[str], unsearched: str = "") -> tuple[str, ...]:
    """One sentence for labels and one for groups, where any are missing; then one on wrong labels.

    `attributes` are those that make the groups; `unsearched` is why no tipping point was looked for.
    """
    said = []
    if found.by_labels:
        between = _between(found.gap_by_labels, request)
        said.append(f"Whatever the missing labels are, {between}.{_odds(found, attributes)}")
    if found.by_groups:
        between = _between(found.gap_by_groups, request)
        said.append(f"Whatever groups the people without one belong to, {between}.{_share(found, attributes)}")
    if said and unsearched:
        said.append(f"What it would take for another verdict is not looked for: {unsearched}.")
    if said and found.label_errors and not found.unseen:
        said.append(_errors(found, attributes))
    return tuple(said)


def _between(gap: Estimate, request: Request) -> str:
    if gap.low is None or gap.high is None:
        return "the gap cannot be bounded"
    if request.judged_on == "ratio":
        return f"the ratio lies between {quotient(gap.low)} and {quotient(gap.high)}"
    unit = request.metric.rows[0].unit
    low = distance(gap.low, unit).removesuffix(" points")
    return f"the gap lies between {low} and {distance(gap.high, unit)}"


def _odds(found: Sensitivity, attributes: Sequence[str]) -> str:
    if not found.searched:
        return ""
    if found.unseen:
        names = join_names([spell(group, attributes) for group in found.unseen], 4)
        return f" Nobody with one of the decisions has a label in {names}: what they are like cannot be told."
    start = f" With labels missing at random the finding {_BECOMES[found.verdict]}"
    if found.odds_ratio == 1 or found.odds_ratio_one == 1:
        return f"{start}, but not if the unlabelled are like the labelled with the same decision."
    one, every = found.odds_ratio_one, found.odds_ratio
    if one is None and every is None:
        return f"{start}, whatever the odds of a positive label are among the unlabelled, up to 1,000 times."
    parts = [f"{figure(one)}-fold in {spell(found.odds_ratio_group, attributes)} alone"] if one is not None else []
    parts += [f"{figure(every)}-fold in every group"] if every is not None else []
    return (
        f"{start}; that turns where the odds of a positive label differ {' or '.join(parts)} between labelled and "
        "unlabelled people with the same decision."
    )


def _share(found: Sensitivity, attributes: Sequence[str]) -> str:
    if not found.searched:
        return ""
    if found.group_share is None:
        return " No share of them in one group turns the verdict."
    group = spell(found.group_share_group, attributes)
    return f" The verdict turns if {found.group_share:.1%} of them, taken evenly, belong to {group}."


def _errors(found: Sensitivity, attributes: Sequence[str]) -> str:
    single = [(each, each.both) for each in found.label_errors if each.group and each.both is not None]
    if not single:
        return "The verdict holds even if half of the labels of one group are wrong."
    worst, share = min(single, key=lambda pair: pair[1])  # the group in which the fewest errors do
    name = spell(worst.group, attributes)
    return f"The verdict holds while under {share:.1%} of the labels of one group are wrong ({name})."
