"""Scores: before any cutoff is chosen, does the score treat the groups alike?

These metrics look at the score itself: how high it is, what it is worth, how well it ranks. Some fix nothing,
some fix the label and some fix the score, so independence, separation and sufficiency all come back here. They
hold for every cutoff at once, and cannot say what happens at the one that will be used.
"""

from __future__ import annotations

from evenhand.catalogue import calibration
from evenhand.catalogue.metric import Metric

_BORKAN = (
    "Borkan, D., Dixon, L., Sorensen, J., Thain, N., & Vasserman, L. (2019). Nuanced metrics for measuring "
    "unintended bias with real data for text classification. Companion Proceedings of The Web Conference (WWW)."
)
_CHEN = (
    "Chen, I. Y., Johansson, F. D., & Sontag, D. (2018). Why is my classifier discriminatory? Advances in Neural "
    "Information Processing Systems (NeurIPS). arXiv:1805.12002."
)
_GNEITING = (
    "Gneiting, T., & Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. Journal of "
    "the American Statistical Association, 102(477)."
)
_KALLUS = (
    "Kallus, N., & Zhou, A. (2019). The fairness of risk scores beyond classification: Bipartite ranking and the "
    "xAUC metric. Advances in Neural Information Processing Systems (NeurIPS)."
)
_KLEINBERG = (
    "Kleinberg, J., Mullainathan, S., & Raghavan, M. (2017). Inherent trade-offs in the fair determination "
    "of risk scores. Innovations in Theoretical Computer Science (ITCS)."
)
_PLEISS = (
    "Pleiss, G., Raghavan, M., Wu, F., Kleinberg, J., & Weinberger, K. Q. (2017). On fairness and calibration. "
    "Advances in Neural Information Processing Systems (NeurIPS)."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="mean_score_parity",
        title="mean score parity",
        family="scores",
        measures=("mean_score",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "mean_score_difference": {"judged_on": "difference"},
            "mean_score_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"mean_score": "mean_score_parity"},
        question="Does each group get the same score on average?",
        formula="E[S | A=a] equal for all groups a",
        compares=(
            "The mean score of each group. The label plays no part, and people without one count too. The gap is "
            "in the units of the score: the default threshold of 0.1 is meant for a score from 0 to 1, and has to "
            "be chosen again for any other."
        ),
        when=(
            "Use it when the score itself is what people get: a price, a mark, a place in a queue, a number shown "
            "to whoever decides. It is demographic parity before the cutoff, and is the figure to watch while no "
            "cutoff has been chosen or each user picks their own. It can be computed on the day a model goes "
            "live, long before any label is known."
        ),
        assumes=(
            "That the groups ought to score alike, which is a moral position and not a finding. That the score is "
            "on a scale where a mean makes sense: a step from 0.1 to 0.2 should matter as much as one from 0.8 to "
            "0.9. That the rows are everyone who could have been scored."
        ),
        harm=("allocation",),
        limits=(
            "Equal means can hide unequal distributions: one group in the middle and another at both ends have "
            "the same mean and fare differently at most cutoffs. A score that is calibrated in each group has a "
            "mean equal to the base rate, so when base rates differ the two exclude each other. It cannot see "
            "whether the high scores went to the right people."
        ),
        sources=(
            "Calders, T., Karim, A., Kamiran, F., Ali, W., & Zhang, X. (2013). Controlling attribute effect in "
            "linear regression. IEEE International Conference on Data Mining (ICDM).",
            "Žliobaitė, I. (2017). Measuring discrimination in algorithmic decision making. Data Mining and "
            "Knowledge Discovery, 31(4).",
        ),
        see_also=("demographic_parity", "ks_distance", "wasserstein_distance", "overall_balance"),
        holds_equal=("mean score",),
        core=True,
    ),
    Metric(
        name="scoring_rate_parity",
        title="scoring rate parity",
        family="scores",
        measures=("scoring_rate",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "scoring_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "scoring_rate_difference": {"judged_on": "difference"},
        },
        question="Does each group score above the median of everyone equally often?",
        formula="P(S > median of all S | A=a) equal for all groups a",
        compares=(
            "The scoring rate: the share of each group whose score lies above the median score of everyone, those "
            "without a known group included. The lowest rate is divided by the highest. A score equal to the "
            "median is not above it."
        ),
        when=(
            "Use it for a tool that ranks or scores candidates and leaves the choice to people, so that there is no "
            "decision to count. New York City's Local Law 144 on automated employment decision tools asks for "
            "this rate and its ratio to the highest scoring category; the policy nyc-ll144 reports them as the "
            "rule does."
        ),
        assumes=(
            "That a higher score is the better one for the person, or higher_is says otherwise. That the median is "
            "a sensible line: where far fewer than half are chosen, the line that matters lies elsewhere. That "
            "the rows are everyone who was scored."
        ),
        harm=("allocation",),
        limits=(
            "It sees only on which side of the median people are, so two groups may lie apart at the top and agree "
            "here. The median belongs to this sample: adding people moves the line for everyone. With many equal "
            "scores far fewer than half can be above it. Scores of more than 1,024 values are counted on a grid, "
            "and people in the cell that holds the median are then shared out; resolution='exact' does not need to."
        ),
        sources=(
            "New York City Department of Consumer and Worker Protection (2023). Use of automated employment decision "
            "tools. Rules of the City of New York, Title 6, Sections 5-300 and 5-301.",
        ),
        see_also=("disparate_impact", "mean_score_parity", "ks_distance"),
    ),
    Metric(
        name="balance_for_positive_class",
        title="balance for the positive class",
        family="scores",
        measures=("mean_score_positive",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "balance_for_the_positive_class": {},
            "generalized_true_positive_rate_parity": {},
            "balance_for_positive_class_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        question="Of those who turned out positive, does each group get the same score on average?",
        formula="E[S | Y=1, A=a] equal for all groups a",
        compares=(
            "The mean score of the people with a positive label, group by group. It is also called the "
            "generalized true positive rate, since for a score of only 0 and 1 it is the true positive rate, and "
            "the metric is equal opportunity. The gap is in the units of the score."
        ),
        when=(
            "Use it when a high score is an advantage and those who merit it should get it whatever their group: "
            "borrowers who will repay, patients who need the treatment. It suits scores that are used in degrees, "
            "to set a price or a priority, where no single cutoff stands for the decision."
        ),
        assumes=(
            "That a positive label marks the same merit or need in every group and was found with equal care. "
            "People whose label was never seen, such as refused borrowers, are not among the positives and "
            "nobody counts them. That the score may be averaged, each step being worth the same."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It does not look at those who turned out negative, and the mean does not show how scores are spread "
            "around it. With a calibrated score and unequal base rates it can hold only if balance for the "
            "negative class does not, unless prediction is perfect. A score that is harder to make for one group, "
            "because less is recorded about it, tends to give its positives a lower mean without any other "
            "difference in treatment."
        ),
        sources=(_KLEINBERG, _PLEISS),
        see_also=("balance_for_negative_class", "overall_balance", "equal_opportunity", "calibration"),
        holds_equal=("balance for positives",),
    ),
    Metric(
        name="balance_for_negative_class",
        title="balance for the negative class",
        family="scores",
        measures=("mean_score_negative",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "balance_for_the_negative_class": {},
            "generalized_false_positive_rate_parity": {},
            "balance_for_negative_class_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        question="Of those who turned out negative, does each group get the same score on average?",
        formula="E[S | Y=0, A=a] equal for all groups a",
        compares=(
            "The mean score of the people with a negative label, group by group. It is also called the "
            "generalized false positive rate: for a score of only 0 and 1 it is the false positive rate, and the "
            "metric is predictive equality. The gap is in the units of the score."
        ),
        when=(
            "Use it when a high score is a burden and should not fall on people who gave no cause: a risk of "
            "crime, of fraud, of neglect. A gap means that people who did nothing are held in higher suspicion "
            "for the group they belong to. It needs no cutoff, so it also fits a score that a judge or a case "
            "worker reads and weighs."
        ),
        assumes=(
            "That a negative label means that the thing did not happen, and not that nobody looked. Where one "
            "group is watched more closely, fewer of its people keep a negative label, and those who do are not "
            "comparable. That people who were stopped because of a high score have the label that they would have "
            "had without the stop."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It says nothing of those who turned out positive. Where labels are uncertain, the group with the "
            "higher base rate tends to get higher scores among its negatives too, if the score is calibrated: a "
            "gap is then forced unless balance for the positive class gives way. Where most scores are near 0 the "
            "difference is small whatever the score does, and the ratio tells more."
        ),
        sources=(_KLEINBERG, _PLEISS),
        see_also=("balance_for_positive_class", "overall_balance", "predictive_equality", "calibration"),
        holds_equal=("balance for negatives",),
    ),
    Metric(
        name="overall_balance",
        title="balance for both classes",
        family="scores",
        measures=("mean_score_positive", "mean_score_negative"),
        judged_on="difference",
        threshold=0.1,
        aggregate="worst",
        question="Among people with the same label, does each group get the same score on average?",
        formula="E[S | Y=y, A=a] equal for all groups a, for y = 0 and for y = 1",
        compares=(
            "The mean score of those who turned out positive and the mean score of those who turned out negative. "
            "The result is the worse of the two gaps. For a score of only 0 and 1 it is equalized odds."
        ),
        when=(
            "Use it when a score is acted on in degrees, both a high one given wrongly and a low one given "
            "wrongly cost the person something, and the label is a sound record of what happened. It is the form "
            "of equalized odds that needs no cutoff. A perfect score passes it."
        ),
        assumes=(
            "That the label means the same in every group, is recorded with equal care, and exists for people "
            "with low scores as well as high ones. That the score may be averaged. That a gap among the positives "
            "and one among the negatives are equally serious, though the two may concern very different numbers "
            "of people."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "When base rates differ, it excludes calibration in each group unless prediction is perfect; this is "
            "the theorem that made these two criteria known. Means that agree do not make error rates agree at "
            "any one cutoff, because the spread of the scores may differ. A score that is the same for everyone "
            "passes and is of no use, so read the AUC beside it."
        ),
        sources=(_KLEINBERG, _PLEISS),
        see_also=("balance_for_positive_class", "balance_for_negative_class", "equalized_odds", "calibration"),
        holds_equal=("balance for positives", "balance for negatives"),
    ),
    *calibration.ENTRIES,
    Metric(
        name="auc_parity",
        title="AUC parity",
        family="scores",
        measures=("auc",),
        judged_on="difference",
        threshold=0.1,
        aliases={"auc_difference": {"judged_on": "difference"}, "roc_auc_parity": {}},
        abbreviations={"auc": "auc_parity", "roc_auc": "auc_parity"},
        question="Does the score tell positives from negatives equally well within each group?",
        formula="P(S > S′ | Y=1, Y′=0, A=A′=a) + ½ P(S = S′ | Y=1, Y′=0, A=A′=a) equal for all groups a",
        compares=(
            "The area under the ROC curve of each group: how often a positive of the group scores higher than a "
            "negative of the same group, a tie counting half. It is 1 for a perfect order and 0.5 for a random "
            "one. Only the order of scores within a group counts, not their size."
        ),
        when=(
            "Use it to see whether the score works for everyone, before a cutoff is chosen: a test that finds "
            "the ill among men and guesses among women. It is also right where each group is ranked by itself, as "
            "with places set aside by region. It does not depend on the base rate as accuracy does."
        ),
        assumes=(
            "That every error of order weighs the same, at the top of the list and in the middle. That the label "
            "is true and equally well known in each group. That the people recorded in each group are as varied "
            "as those who will be scored: after a strict selection the remaining people are alike, and the AUC "
            "drops for no fault of the score."
        ),
        harm=("quality of service",),
        limits=(
            "Equal AUCs say nothing about ranking across groups. Add 0.2 to every score of one group and its AUC "
            "stays, while its people pass everyone else; the cross-group AUC shows it. Curves that cross can "
            "enclose the same area and differ at every cutoff in use (see ABROCA). It is blind to calibration, "
            "and rests on the smaller of the two classes, so a group with ten positives has a wide interval."
        ),
        sources=(
            "Hanley, J. A., & McNeil, B. J. (1982). The meaning and use of the area under a receiver operating "
            "characteristic (ROC) curve. Radiology, 143(1).",
            _BORKAN,
            _KALLUS,
        ),
        see_also=("cross_group_auc", "abroca", "equalized_odds", "calibration"),
        core=True,
    ),
    Metric(
        name="brier_score_parity",
        title="Brier score parity",
        family="scores",
        measures=("brier_score",),
        judged_on="difference",
        threshold=0.1,
        abbreviations={"brier": "brier_score_parity", "brier_score": "brier_score_parity"},
        question="Is the score, taken as a probability, equally close to what happened in each group?",
        formula="E[(S − Y)² | A=a] equal for all groups a",
        compares=(
            "The Brier score of each group: the mean squared distance between the score and the label. It is 0 "
            "for a perfect forecast and 1 for one that is certain and always wrong. It falls when the score is "
            "better calibrated and when it tells people apart better, and so takes in both at once."
        ),
        when=(
            "Use it when the score is a probability and one figure is wanted for how good it is for each group, "
            "before anyone chooses a cutoff. A group whose figure is worse may need more data or better "
            "features, not another cutoff. Read it beside calibration and AUC, which say where the loss comes "
            "from."
        ),
        assumes=(
            "That the score is a probability, from 0 to 1; on a score of 1 to 10 the figure means nothing. That "
            "the label is true for everyone who has a score. That squared distance is a sensible price for an "
            "error, and the same price for a high score given wrongly as for a low one."
        ),
        harm=("quality of service",),
        limits=(
            "It depends on the base rate: giving everyone the base rate p costs p(1 − p), which is 0.25 for a group "
            "where half are positive and 0.05 where one in twenty is. A gap may thus come from how uncertain the "
            "label is in a group, and no score can remove that part. It is symmetric and hides whether a group "
            "is scored too high or too low. Making the score worse for one group is a way to pass, and helps "
            "nobody."
        ),
        sources=(
            "Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather "
            "Review, 78(1).",
            _GNEITING,
            _CHEN,
        ),
        see_also=("log_loss_parity", "calibration_error_parity", "auc_parity", "overall_accuracy_equality"),
    ),
    Metric(
        name="log_loss_parity",
        title="log loss parity",
        family="scores",
        measures=("log_loss",),
        judged_on="difference",
        threshold=0.1,
        abbreviations={"log_loss": "log_loss_parity"},
        question="Does the score give what happened an equally high probability in each group?",
        formula="−E[Y ln S + (1 − Y) ln(1 − S) | A=a] equal for all groups a",
        compares=(
            "The log loss (cross-entropy) of each group: the mean of minus the natural logarithm of the "
            "probability that the score gave to what then happened. It is 0 for a perfect forecast and ln 2 = "
            "0.69 for a constant score of one half. It has no upper end."
        ),
        when=(
            "Use it when the model was trained on this loss, as most are, and you ask for whom the training "
            "succeeded. It suits settings where false certainty is the danger, since a wrong 0.99 costs far more "
            "than a wrong 0.7. Take the Brier score where a few people should not decide the figure."
        ),
        assumes=(
            "That the score is a probability strictly between 0 and 1, and was not rounded: a risk of 0.001 "
            "stored as 0 becomes a certainty. That labels have no large errors, since a mislabelled person with "
            "an extreme score weighs more than hundreds of others. That the label is there for everyone who has a "
            "score."
        ),
        harm=("quality of service",),
        limits=(
            "One confident mistake can outweigh a whole group: scores of 0 and 1 are moved inside a little, so that "
            "such a mistake costs about 36 and not infinity. The threshold of 0.1 is a convention on a scale "
            "without end. Like the Brier score it follows the base rate, from 0.69 where half are positive to "
            "0.20 where one in twenty is, when nothing else is known. It is symmetric between too high and too "
            "low."
        ),
        sources=(
            "Good, I. J. (1952). Rational decisions. Journal of the Royal Statistical Society, Series B, 14(1).",
            _GNEITING,
            _CHEN,
        ),
        see_also=("brier_score_parity", "calibration_error_parity", "auc_parity"),
    ),
    Metric(
        name="average_precision_parity",
        title="average precision parity",
        family="scores",
        measures=("average_precision",),
        judged_on="difference",
        threshold=0.1,
        aliases={"average_precision_difference": {"judged_on": "difference"}, "pr_auc_parity": {}},
        abbreviations={"pr_auc": "average_precision_parity", "average_precision": "average_precision_parity"},
        question="Are positives found at the top of the list equally well in each group?",
        formula="Σ_k (R_k − R_(k−1)) P_k equal for all groups, P precision and R recall at falling cutoffs k",
        compares=(
            "The average precision, or area under the precision-recall curve, of each group: the precision at the "
            "score of each positive, averaged over the positives. It is the share of positives in the group for a "
            "score that tells nothing, and 1 for a perfect order."
        ),
        when=(
            "Use it where positives are rare and a list is worked from the top, as in fraud or in search. There the "
            "AUC is high for nearly every score, and this still tells scores apart."
        ),
        assumes=(
            "That the label is true and equally well known in each group. That early places matter more than late "
            "ones, in the same way for everyone."
        ),
        harm=("quality of service",),
        limits=(
            "It follows the base rate: at equal AUC the group with fewer positives has the lower value, so a gap may "
            "show nothing but that. It rests on the positives, and with ten of them its interval is wide. Scores that "
            "share a bin count as equal; the finding says how much that may matter."
        ),
        sources=(
            "Boyd, K., Eng, K. H., & Page, C. D. (2013). Area under the precision-recall curve: Point estimates and "
            "confidence intervals. European Conference on Machine Learning (ECML PKDD).",
            "Davis, J., & Goadrich, M. (2006). The relationship between precision-recall and ROC curves. "
            "International Conference on Machine Learning (ICML).",
        ),
        see_also=("auc_parity", "predictive_parity", "f1_parity"),
    ),
)
