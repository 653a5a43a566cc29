"""Individuals: are people who are alike treated alike?

These need more than counts: every person's features, and a distance that says who is alike. They have functions of
their own, and what they find is added to an audit.
"""

from __future__ import annotations

from typing import Any

from evenhand.catalogue.metric import Metric
from evenhand.errors import CallError
from evenhand.measures.row_measure import RowMeasure

_DWORK = (
    "Dwork, C., Hardt, M., Pitassi, T., Reingold, O., & Zemel, R. (2012). Fairness through awareness. Innovations in "
    "Theoretical Computer Science (ITCS)."
)
_ZEMEL = (
    "Zemel, R., Wu, Y., Swersky, K., Pitassi, T., & Dwork, C. (2013). Learning fair representations. International "
    "Conference on Machine Learning (ICML)."
)


def _of_neighbours(*_: Any) -> float:
    """A figure about neighbours is not made of one group's rows alone."""
    raise CallError("this is measured between people: call evenhand.consistency() or evenhand.lipschitz().")


_EXAMPLE = """
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
people = {
    "group": rng.choice(["a", "b"], 1_000),
    "income": rng.normal(30, 8, 1_000),
    "job": rng.choice(["office", "shop", "site"], 1_000),
}
score = 1 / (1 + np.exp(-(people["income"] - 30) / 8 + (people["group"] == "b") * rng.normal(0, 1, 1_000)))
"""

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="consistency",
        title="consistency",
        family="individual",
        measures=(RowMeasure("consistency", "consistency", _of_neighbours, "rate", frozenset({"prediction"})),),
        counted=False,
        question="Are people decided like those who are most like them?",
        formula="1 − (1/n) Σᵢ |ŷᵢ − (1/k) Σ_{j ∈ k nearest of i} ŷⱼ|, equal for all groups",
        compares=(
            "The decision of each person with the mean decision of the k people nearest to them, whatever their group. "
            "One less the mean distance is the consistency: 100 % where everyone is decided like their neighbours. "
            "It is compared between groups, so that the gap says whether one of them suffers more from arbitrary "
            "decisions."
        ),
        when=(
            "Use it when the complaint is that like cases were not decided alike, which equal rates between groups can "
            "hide. No label is needed. The pairs of near people with different decisions are shown, and are often "
            "worth more than the figure."
        ),
        assumes=(
            "That the features and their distance say who is alike in what matters, which somebody has to decide: it "
            "differs from domain to domain. That features which do not justify different decisions were left out. "
            "That the neighbours found are near enough to be compared at all."
        ),
        harm=("allocation",),
        limits=(
            "Any sharp line has near people on both sides, so no model with a cutoff reaches 100 %, and a model that "
            "refuses everyone does. People in sparse regions have far neighbours and look inconsistent because "
            "nobody is like them. If a feature stands for the group, neighbours are of one group, and groups that are "
            "treated differently look consistent."
        ),
        sources=(_ZEMEL, _DWORK),
        see_also=("lipschitz", "generalized_entropy", "demographic_parity"),
        example=_EXAMPLE
        + """
finding = eh.consistency(people, prediction=(score > 0.5).astype(int), sensitive="group")
print(finding)
finding""",
    ),
    Metric(
        name="lipschitz",
        title="Lipschitz condition",
        family="individual",
        measures=(
            RowMeasure(
                "similar_treatment",
                "share of similar pairs treated alike",
                _of_neighbours,
                "rate",
                frozenset({"score"}),
            ),
            RowMeasure(
                "lipschitz_violation",
                "share of similar pairs too far apart",
                _of_neighbours,
                "rate",
                frozenset({"score"}),
            ),
        ),
        counted=False,
        question="Do similar people get similar scores?",
        formula="|f(x) − f(y)| ≤ ε for similar x and y; |f(x) − f(y)| ≤ L · d(x, y)",
        compares=(
            "The scores of pairs of similar people. One share counts the pairs whose scores differ by at most epsilon, "
            "the other those whose scores differ by more than L times their distance. Both are compared between the "
            "groups that the people of a pair belong to, and the larger gap is judged."
        ),
        when=(
            "Use it for a score that is used in degrees, or before a cutoff is chosen. It also finds the smallest L "
            "that would hold and the pairs that break it most, so that a person can look at them and say whether the "
            "difference has a reason."
        ),
        assumes=(
            "That the distance says who is alike in what matters; it is the heart of the definition and comes from "
            "outside it. That L and epsilon were chosen with the units of the score and of the distance in mind: by "
            "default a numeric feature counts in standard deviations."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "The smallest L rests on one pair: two people with the same features and different scores make it "
            "infinite. A score that hardly varies passes whatever it says, because it treats everyone alike. Pairs are "
            "taken from the data, so that nothing is said about people unlike any in it."
        ),
        sources=(_DWORK,),
        see_also=("consistency", "mean_score_parity", "calibration"),
        example=_EXAMPLE
        + """
finding = eh.lipschitz(people, score=score, L=0.5, epsilon=0.1, sensitive="group")
print(finding)
finding""",
    ),
)
