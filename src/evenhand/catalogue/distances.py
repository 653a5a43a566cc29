"""Distances: how far apart are the whole score distributions and ROC curves of groups?

A distance looks at every pair of groups and at every score at once. It says that groups differ, not in what.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures import distances
from evenhand.measures.indices import ScoreDistance

_AGARWAL = (
    "Agarwal, A., Dudík, M., & Wu, Z. S. (2019). Fair regression: Quantitative definitions and reduction-based "
    "algorithms. International Conference on Machine Learning (ICML), PMLR 97."
)
_BORKAN = (
    "Borkan, D., Dixon, L., Sorensen, J., Thain, N., & Vasserman, L. (2019). Nuanced metrics for measuring "
    "unintended bias with real data for text classification. Companion Proceedings of The Web Conference (WWW)."
)
_KALLUS = (
    "Kallus, N., & Zhou, A. (2019). The fairness of risk scores beyond classification: Bipartite ranking and the "
    "xAUC metric. Advances in Neural Information Processing Systems (NeurIPS)."
)
_WASSERSTEIN = (
    "Jiang, R., Pacchiano, A., Stepleton, T., Jiang, H., & Chiappa, S. (2020). Wasserstein fair classification. "
    "Conference on Uncertainty in Artificial Intelligence (UAI 2019), PMLR 115."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="ks_distance",
        title="Kolmogorov-Smirnov distance",
        family="distances",
        index=ScoreDistance(distances.ks, needs=("score",), any_number=True),
        judged_on="value",
        threshold=None,
        aliases={"kolmogorov_smirnov_distance": {}},
        abbreviations={"ks": "ks_distance"},
        question="At the worst possible cutoff, how far apart are the selection rates of two groups?",
        formula="max over groups a, b and cutoffs t of | P(S ≤ t | A=a) − P(S ≤ t | A=b) |",
        compares=(
            "The distributions of the score in each pair of groups, by the largest vertical distance between "
            "their cumulative curves. The result is the largest over pairs. It is 0 when the distributions are "
            "the same and 1 when they do not overlap. It equals the demographic parity difference at the cutoff "
            "where that is greatest."
        ),
        when=(
            "Use it when the cutoff is not settled, differs between users, or will move: a small distance bounds "
            "the gap in selection rates for all of them. It needs no label. It depends on the order of the scores "
            "alone, so any rising change of scale leaves it as it is."
        ),
        assumes=(
            "As for demographic parity, that the groups ought to be scored alike whatever their labels. That "
            "every cutoff is a possible one: the worst may lie where nobody would ever draw the line. That the "
            "people recorded are those who will be scored."
        ),
        harm=("allocation",),
        limits=(
            "A maximum is never below 0 and is pushed up by chance: two groups of 100 with the same distribution "
            "show 0.11 on average, and more groups show more. It says where the distributions differ most but not "
            "how much in all; a narrow shift of many people and a wide one can give the same value. It cannot see "
            "whether the scores were right. An accurate score has a distance as soon as base rates differ."
        ),
        sources=(
            "Massey, F. J. (1951). The Kolmogorov-Smirnov test for goodness of fit. Journal of the American "
            "Statistical Association, 46(253).",
            _AGARWAL,
        ),
        see_also=("wasserstein_distance", "demographic_parity", "mean_score_parity"),
    ),
    Metric(
        name="wasserstein_distance",
        title="Wasserstein distance",
        family="distances",
        index=ScoreDistance(distances.wasserstein, needs=("score",), any_number=True),
        judged_on="value",
        threshold=None,
        abbreviations={"emd": "wasserstein_distance", "wasserstein": "wasserstein_distance"},
        question="How far would scores have to move for two groups to be scored alike?",
        formula="max over groups a, b of ∫ | P(S ≤ t | A=a) − P(S ≤ t | A=b) | dt",
        compares=(
            "The distributions of the score in each pair of groups, by the Wasserstein-1 distance: the mean "
            "amount by which scores must be moved to turn one distribution into the other. The result is the "
            "largest over pairs, in the units of the score. For a score from 0 to 1 it is also the gap in "
            "selection rates averaged over all cutoffs. It is never less than the gap in mean scores, and equals "
            "it when one group is ahead at every cutoff."
        ),
        when=(
            "Use it when the score is used in degrees, or with many cutoffs, and the size of a shift matters and "
            "not only its presence. Set it beside the gap in mean scores: if it is larger, the groups differ in "
            "spread or shape. It needs no label."
        ),
        assumes=(
            "That the scale of the score has a meaning, and that a shift of 0.1 matters as much at the top as at "
            "the bottom. That the groups ought to be scored alike whatever their labels. That scores outside "
            "the range of interest count as well."
        ),
        harm=("allocation",),
        limits=(
            "Values on different scales cannot be compared, and there is no agreed threshold. Like every distance "
            "it is above 0 by chance alone in a sample, and the largest over many small groups is the most "
            "inflated. It has no direction, and does not show which group is lower or at which scores. It cannot "
            "see whether the scores were right, and shares the conflicts of demographic parity."
        ),
        sources=(
            _WASSERSTEIN,
            "Vallender, S. S. (1974). Calculation of the Wasserstein distance between probability distributions "
            "on the line. Theory of Probability and Its Applications, 18(4).",
        ),
        see_also=("ks_distance", "mean_score_parity", "demographic_parity"),
    ),
    Metric(
        name="abroca",
        title="area between the ROC curves",
        family="distances",
        index=ScoreDistance(distances.abroca, needs=("score", "label")),
        judged_on="value",
        threshold=None,
        question="How far apart are the ROC curves of two groups, over their whole length?",
        formula="max over groups a, b of ∫ | ROC_a(x) − ROC_b(x) | dx, x the false positive rate from 0 to 1",
        compares=(
            "The ROC curves of each pair of groups: at equal false positive rates, the distance between the true "
            "positive rates, averaged. The result is the largest area over pairs, from 0 to 1. It is never less "
            "than the difference of the two AUCs, and equals it when the curves do not cross."
        ),
        when=(
            "Use it beside AUC parity when curves may cross: a score that is better at the top of the list for "
            "one group and better at the bottom for another has equal AUCs and an area between. It comes from "
            "models of student success, where it shows whom a model serves before a cutoff is chosen. Draw the "
            "curves as well, to see where they part."
        ),
        assumes=(
            "That all false positive rates are of equal interest, also those where nobody will work. That the "
            "label is true and equally well known in each group. Each point pairs people at the same false "
            "positive rate, and so at cutoffs that may differ between groups: it supposes that groups could be "
            "cut apart."
        ),
        harm=("quality of service",),
        limits=(
            "It is above 0 by chance and its distribution is skewed: two groups of 50 positives and 50 negatives "
            "with the same true curve show about 0.07. A small or lopsided group can thus look badly served when "
            "it is only small. It has no direction. Like the AUC it ignores a shift of all scores of a group, "
            "and so says nothing about one cutoff for everyone; see the cross-group AUC and equalized odds."
        ),
        sources=(
            "Gardner, J., Brooks, C., & Baker, R. (2019). Evaluating the fairness of predictive student models "
            "through slicing analysis. International Conference on Learning Analytics & Knowledge (LAK).",
            "Borchers, C., & Baker, R. S. (2025). ABROCA distributions for algorithmic bias assessment: "
            "Considerations around interpretation. International Conference on Learning Analytics & Knowledge "
            "(LAK).",
        ),
        see_also=("auc_parity", "cross_group_auc", "equalized_odds"),
    ),
    Metric(
        name="cross_group_auc",
        title="cross-group AUC",
        family="distances",
        index=ScoreDistance(distances.cross_auc, needs=("score", "label")),
        judged_on="value",
        threshold=None,
        aliases={"xauc": {}},
        question="Does a positive outrank a negative equally often, whichever groups the two come from?",
        formula=(
            "max − min over all groups a, b of P(S > S′ | Y=1, A=a, Y′=0, A′=b) + ½ P(S = S′ | Y=1, A=a, Y′=0, A′=b)"
        ),
        compares=(
            "The chance that a positive of one group scores higher than a negative of another, for every pairing "
            "of groups; with itself, a group has its ordinary AUC. The result is the largest gap among all of "
            "these. With two groups the mixed entries are those known as BPSN and BNSP, and their difference is the "
            "xAUC disparity. The result is never less than that disparity, nor than the gap in AUC."
        ),
        when=(
            "Use it when people of all groups stand in one list: a waiting list, a shortlist, a queue of comments "
            "to be removed. It shows what AUC parity cannot, that the negatives of one group are placed above the "
            "positives of another. The low entry of the matrix names the harm: which positives lose to which "
            "negatives."
        ),
        assumes=(
            "That the groups really compete in one list. That a positive of any group ought to outrank a negative "
            "of any other with the same chance, which presumes that labels mean the same in all of them. That "
            "errors of order weigh the same anywhere in the list."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "When base rates or the spread of risk differ, an accurate score has a gap too: positives of the "
            "group at higher risk outrank negatives of the other more easily. It is the range of a whole matrix, "
            "so chance alone makes it positive, and more so with many groups or few positives. It ignores "
            "calibration and the size of scores. A small gap around 0.5 means that the list is equally useless "
            "for all, so read the entries themselves."
        ),
        sources=(_KALLUS, _BORKAN),
        see_also=("auc_parity", "abroca", "overall_balance", "equalized_odds"),
    ),
)
