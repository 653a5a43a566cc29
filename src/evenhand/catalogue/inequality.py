"""Inequality: how unevenly is the benefit of the decisions spread over people?

These indices come from the study of incomes. Each person gets a benefit b = 1 + Ŷ − Y: 0 if wrongly refused,
1 if decided rightly, 2 if wrongly accepted. An index is 0 when all benefits are equal. It is computed over
everyone, and its between-group part is reported beside it: what is left of the inequality when everybody is
given the mean benefit of their group.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures import entropy
from evenhand.measures.indices import CellIndex

_SPEICHER = (
    "Speicher, T., Heidari, H., Grgic-Hlaca, N., Gummadi, K. P., Singla, A., Weller, A., & Zafar, M. B. "
    "(2018). A unified approach to quantifying algorithmic unfairness: Measuring individual & group "
    "unfairness via inequality indices. ACM SIGKDD Conference on Knowledge Discovery and Data Mining (KDD)."
)
_SHORROCKS = "Shorrocks, A. F. (1980). The class of additively decomposable inequality measures. Econometrica, 48(3)."

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="generalized_entropy",
        title="generalized entropy index",
        family="inequality",
        index=CellIndex(entropy.generalized_entropy, needs=("label", "prediction"), options={"alpha": 2.0}),
        judged_on="value",
        threshold=None,
        aliases={"generalized_entropy_index": {}},
        abbreviations={"ge": "generalized_entropy", "gei": "generalized_entropy_index"},
        question="How unevenly do right and wrong decisions spread benefit over people?",
        formula=(
            "GE(α) = 1 / (n α (α − 1)) · Σ [(b_i / μ)^α − 1], b_i = 1 + Ŷ_i − Y_i, μ the mean of b; α = 2 by default"
        ),
        compares=(
            "The benefit of every person with the mean benefit. The index is the sum of a part between the "
            "groups and a part within them, and both are reported. The part between groups is 0 when every "
            "group has the same selection rate minus base rate."
        ),
        when=(
            "Use it to compare two versions of a decision on the same people when you care for individuals "
            "as well as for groups. It shows the case that group metrics miss: a change that closes the gap "
            "between groups and makes treatment inside a group more arbitrary. A larger α gives more weight "
            "to people who got far more than the mean."
        ),
        assumes=(
            "That the positive decision is the favourable one, and that the benefits are on one scale: a "
            "wrong acceptance is worth twice a right decision, and a wrong refusal is worth nothing. A right "
            "refusal counts as much as a right acceptance. All of this rests on a label that is true and is "
            "known for those who were refused."
        ),
        harm=("allocation",),
        limits=(
            "There is no natural threshold, and values for different data are hard to compare. With benefits "
            "of 0, 1 and 2 the total mostly counts errors, so a better predictor looks more even-handed "
            "whoever bears the errors. Within a group, wrong acceptances offset wrong refusals, so the part "
            "between groups can be 0 while the error rates are far apart. With α of 0 or less it is infinite "
            "as soon as one person is wrongly refused."
        ),
        sources=(_SPEICHER, _SHORROCKS),
        see_also=("theil_index", "coefficient_of_variation", "equalized_odds"),
    ),
    Metric(
        name="theil_index",
        title="Theil index",
        family="inequality",
        index=CellIndex(entropy.theil, needs=("label", "prediction")),
        judged_on="value",
        threshold=None,
        abbreviations={"theil": "theil_index"},
        question="How far is the spread of benefit over people from an even one?",
        formula="T = (1 / n) Σ (b_i / μ) ln(b_i / μ), b_i = 1 + Ŷ_i − Y_i, μ the mean of b, 0 ln 0 = 0",
        compares=(
            "The share of all benefit that each person gets with an equal share. It is the generalized "
            "entropy index as α goes to 1. The part between groups and the part within them add up to it, "
            "and the part between is reported beside it."
        ),
        when=(
            "Use it as the generalized entropy index, when a single number for the whole population is "
            "wanted and no value of α suggests itself. Many tools report it, so it helps to compare with "
            "published results. Read the part between groups for the question about groups."
        ),
        assumes=(
            "The same scale of benefit: 0 for a wrong refusal, 1 for a right decision, 2 for a wrong "
            "acceptance. That makes sense only if the positive decision is favourable. The label has to be "
            "true in every group; where it records past refusals, a refusal repeated counts as right."
        ),
        harm=("allocation",),
        limits=(
            "The total cannot say which group is worse off, or whether any is: inequality among people of "
            "one group counts as much. Equal benefit is not enough either, since wrongly accepting everybody "
            "in a population without positive labels gives 0. It has no agreed threshold. Two decisions with "
            "the same value can have quite different errors."
        ),
        sources=(
            _SPEICHER,
            "Theil, H. (1967). Economics and Information Theory. North-Holland.",
            _SHORROCKS,
        ),
        see_also=("generalized_entropy", "coefficient_of_variation", "overall_accuracy_equality"),
    ),
    Metric(
        name="coefficient_of_variation",
        title="coefficient of variation",
        family="inequality",
        index=CellIndex(entropy.coefficient_of_variation, needs=("label", "prediction")),
        judged_on="value",
        threshold=None,
        question="How large is the spread of benefit over people, set against its mean?",
        formula="CV = √(2 · GE(2)) = standard deviation of b / mean of b, b_i = 1 + Ŷ_i − Y_i",
        compares=(
            "The standard deviation of the benefit with its mean, over everyone. The part between groups is "
            "the same figure after each person is given the mean benefit of their group. Here the squares of "
            "the two parts, between and within, add up to the square of the whole."
        ),
        when=(
            "Use it in place of the generalized entropy index when readers know standard deviations better "
            "than entropies. It orders decisions exactly as GE(2) does, on a scale that is easier to "
            "picture."
        ),
        assumes=(
            "As the other indices: a favourable positive decision, benefits of 0, 1 and 2 on one scale, and "
            "a true label for everyone. A spread upwards, by wrong acceptance, is counted as badly as a "
            "spread downwards, by wrong refusal. Everyone the decision affects should be in the data, since "
            "leaving out the refused removes the lowest benefits."
        ),
        harm=("allocation",),
        limits=(
            "It follows the number of errors and the mean benefit together. Accepting more people raises the "
            "mean and lowers the value even if the spread stays. It has no agreed threshold, and some tools "
            "define it with another factor, so check the formula before comparing. Groups appear only in the "
            "part between them, where opposite errors cancel."
        ),
        sources=(
            _SPEICHER,
            "Cowell, F. A. (2011). Measuring Inequality (3rd ed.). Oxford University Press.",
        ),
        see_also=("generalized_entropy", "theil_index"),
    ),
    Metric(
        name="atkinson_index",
        title="Atkinson index",
        family="inequality",
        index=CellIndex(entropy.atkinson, needs=("label", "prediction"), options={"epsilon": 0.5}),
        judged_on="value",
        threshold=None,
        abbreviations={"atkinson": "atkinson_index"},
        question="What share of all benefit could be given up if the rest were spread evenly?",
        formula=(
            "A(ε) = 1 − (mean of b^(1 − ε))^(1/(1 − ε)) / μ, b_i = 1 + Ŷ_i − Y_i, μ the mean of b; ε = 0.5 by "
            "default, and for ε = 1 the geometric mean takes the place of the power mean"
        ),
        compares=(
            "The benefit of every person with the one benefit that, given to everybody, would be worth as much. It "
            "lies between 0, where all benefits are equal, and 1. The same figure between the groups, after each "
            "person is given the mean benefit of their group, is reported beside it."
        ),
        when=(
            "Use it in place of the other indices when the question is one of welfare: how much is lost to unevenness. "
            "The larger ε, the more the people with the least benefit count."
        ),
        assumes=(
            "As the other indices: a favourable positive decision, benefits of 0, 1 and 2 on one scale, and a true "
            "label for everyone. In addition, that the chosen ε says how much unevenness is disliked."
        ),
        harm=("allocation",),
        limits=(
            "With ε of 1 or more it is 1 as soon as one person is wrongly refused, because that benefit is 0. The "
            "parts between and within groups do not add up to it. It has no agreed threshold, and the total cannot "
            "say which group is worse off."
        ),
        sources=(
            "Atkinson, A. B. (1970). On the measurement of inequality. Journal of Economic Theory, 2(3).",
            _SPEICHER,
        ),
        see_also=("generalized_entropy", "theil_index", "coefficient_of_variation"),
    ),
)
