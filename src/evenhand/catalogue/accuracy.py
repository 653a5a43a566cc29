"""Accuracy: is the decision right, or wrong, equally often in each group?

These metrics add both kinds of error into one number, or weigh one kind against the other. They are easy to
explain and easy to pass by accident, so read them beside the error rates of `separation`.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

_BERK = (
    "Berk, R., Heidari, H., Jabbari, S., Kearns, M., & Roth, A. (2021). Fairness in criminal justice risk "
    "assessments: The state of the art. Sociological Methods & Research, 50(1)."
)
_RIJSBERGEN = "van Rijsbergen, C. J. (1979). Information Retrieval (2nd ed.). Butterworths, London."
_POWERS = (
    "Powers, D. M. W. (2011). Evaluation: From precision, recall and F-measure to ROC, informedness, markedness and "
    "correlation. Journal of Machine Learning Technologies, 2(1)."
)
_SHADES = (
    "Buolamwini, J., & Gebru, T. (2018). Gender shades: Intersectional accuracy disparities in commercial "
    "gender classification. Conference on Fairness, Accountability and Transparency, PMLR 81."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="overall_accuracy_equality",
        title="overall accuracy equality",
        family="accuracy",
        measures=("accuracy",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "accuracy_parity": {},
            "accuracy_difference": {"judged_on": "difference"},
            "accuracy_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "accuracy_score_difference": {"judged_on": "difference"},
            "accuracy_score_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={
            "ad": "overall_accuracy_equality",
            "acc": "overall_accuracy_equality",
            "accuracy": "overall_accuracy_equality",
        },
        question="Is the decision right equally often in each group?",
        formula="P(Ŷ=Y | A=a) equal for all groups a",
        compares=(
            "The accuracy of each group: the share of its people whose decision agrees with the label. Right "
            "acceptances and right refusals count alike."
        ),
        when=(
            "Use it when the service is the prediction itself and every mistake costs the user about the "
            "same: recognising speech, sorting pictures, routing a letter. A gap shows that the system was "
            "built for one group more than for another. It is a good first question, and seldom the last."
        ),
        assumes=(
            "That a wrong yes and a wrong no are equally bad, for the person and in every group. That the "
            "label is true: where labels were given by people who understood one group better, low accuracy "
            "may be their error and not that of the model. That each group in the data looks like the group "
            "that will use the service."
        ),
        harm=("quality of service",),
        limits=(
            "It cannot tell the errors apart. One group may bear only wrong refusals and another only wrong "
            "acceptances, and the accuracies agree. It depends on the base rate: saying no to everyone is 95% "
            "accurate where 5% are positive. Groups whose labels are harder to predict from what is "
            "recorded will show a gap without any difference in treatment, and closing it by making the "
            "other group worse helps nobody."
        ),
        sources=(_BERK, _SHADES),
        see_also=("error_rate_parity", "balanced_accuracy_equality", "equalized_odds", "treatment_equality"),
        core=True,
    ),
    Metric(
        name="error_rate_parity",
        title="error rate parity",
        family="accuracy",
        measures=("error_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "error_rate_difference": {"judged_on": "difference"},
            "error_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "zero_one_loss_difference": {"judged_on": "difference"},
            "zero_one_loss_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"err": "error_rate_parity", "error_rate": "error_rate_parity"},
        question="Is the decision wrong equally often in each group?",
        formula="P(Ŷ≠Y | A=a) equal for all groups a",
        compares=(
            "The error rate of each group: the share of its people whose decision disagrees with the label. "
            "It is 1 − accuracy. The difference has the same size as that of accuracy, and the ratio has "
            "not."
        ),
        when=(
            "Use it in place of overall accuracy equality when errors are rare and you judge on the ratio. "
            "With 99% and 98% right, one group meets twice as many errors as the other: the ratio of "
            "accuracies is 0.99, the ratio of error rates is 0.5."
        ),
        assumes=(
            "That both kinds of error weigh the same. That the label is true in every group: random mistakes "
            "in the labels of one group raise its error rate even if every decision was right. That the "
            "people in the data are those who will meet the errors."
        ),
        harm=("quality of service",),
        limits=(
            "It cannot see which error is made, or whom it hurts. Two groups with the same rate can have "
            "opposite errors. As a difference it repeats overall accuracy equality with the sign turned; "
            "count the two as one piece of evidence. A ratio of very small rates swings widely by chance, so "
            "look at the interval."
        ),
        sources=(
            "Zafar, M. B., Valera, I., Gomez Rodriguez, M., & Gummadi, K. P. (2017). Fairness beyond "
            "disparate treatment & disparate impact: Learning classification without disparate mistreatment. "
            "International Conference on World Wide Web (WWW).",
            _SHADES,
        ),
        see_also=("overall_accuracy_equality", "equalized_odds", "balanced_accuracy_equality"),
    ),
    Metric(
        name="treatment_equality",
        title="treatment equality",
        family="accuracy",
        measures=("error_balance",),
        judged_on="ratio",
        threshold=0.8,
        abbreviations={"te": "treatment_equality"},
        question="Is the trade between the two kinds of error the same in each group?",
        formula="FN / FP equal for all groups a",
        compares=(
            "The number of false negatives for each false positive, group by group. It is judged on its "
            "ratio only: FN / FP runs from 0 to infinity, and the difference of two such numbers has no "
            "scale on which a threshold could be set."
        ),
        when=(
            "Use it when the balance of errors is a matter of policy: how many missed cases are accepted to "
            "spare one person a false alarm. If that exchange differs between groups, one of them is treated "
            "with more suspicion or more leniency. It goes with a stated cost ratio, and shows whether "
            "everyone was held to it."
        ),
        assumes=(
            "That each kind of error costs the same in every group. That the labels behind both counts are "
            "sound: a case that was never found counts as a true negative, and closer watch on one group "
            "turns its false positives into true ones. A group's share of positive labels should not be an "
            "artefact of who is in the data, because the ratio moves with it."
        ),
        harm=("allocation",),
        limits=(
            "It looks at the mix of errors and not at how many there are: 2 against 1 and 200 against 100 "
            "are equal. It changes with the base rate even when both error rates are equal, so with "
            "different base rates it conflicts with equalized odds. A group without a false positive has no "
            "value, and one with few has a very uncertain one."
        ),
        sources=(_BERK,),
        see_also=("equalized_odds", "false_negative_rate_parity", "predictive_equality", "error_rate_parity"),
    ),
    Metric(
        name="balanced_accuracy_equality",
        title="balanced accuracy equality",
        family="accuracy",
        measures=("balanced_accuracy",),
        judged_on="difference",
        threshold=0.1,
        abbreviations={"bacc": "balanced_accuracy_equality", "balanced_accuracy": "balanced_accuracy_equality"},
        question="Does the decision tell positives from negatives equally well in each group?",
        formula="½ [P(Ŷ=1 | Y=1, A=a) + P(Ŷ=0 | Y=0, A=a)] equal for all groups a",
        compares=(
            "The mean of the true positive rate and the true negative rate of each group. A decision that "
            "ignores the person scores 0.5, a perfect one 1."
        ),
        when=(
            "Use it instead of overall accuracy equality when one label is much rarer than the other, or "
            "when groups differ in their base rates. It does not reward saying no to everyone, and a group's "
            "share of positives does not enter its formula."
        ),
        assumes=(
            "That finding the positives and sparing the negatives matter equally, however many people are on "
            "each side. That the label is sound on both sides and in every group. That each group has enough "
            "people of both labels in the data: with three positives, half of the value rests on three "
            "people."
        ),
        harm=("quality of service",),
        limits=(
            "The two rates can offset each other. One group with a true positive rate of 0.9 and a true "
            "negative rate of 0.5, and another with the two exchanged, come out equal, although the first is "
            "over-selected and the second overlooked. It is weaker than equalized odds, which implies it. "
            "Rates still depend on how risk is spread within a group, so a gap need not mean a different "
            "standard."
        ),
        sources=(
            "Brodersen, K. H., Ong, C. S., Stephan, K. E., & Buhmann, J. M. (2010). The balanced accuracy "
            "and its posterior distribution. International Conference on Pattern Recognition (ICPR).",
        ),
        see_also=("overall_accuracy_equality", "equalized_odds", "average_odds"),
    ),
    Metric(
        name="f1_parity",
        title="F1 parity",
        family="accuracy",
        measures=("f1",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "f1_difference": {"judged_on": "difference"},
            "f1_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "f1_score_difference": {"judged_on": "difference"},
            "f1_score_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"f1": "f1_parity"},
        question="Are positives found, and only they, equally well in each group?",
        formula="2 TP_a / (2 TP_a + FP_a + FN_a) equal for all groups a",
        compares=("The harmonic mean of precision and recall in each group. People who rightly got a no play no part."),
        when=(
            "Use it where positives are rare and finding them is the task, as in search or in screening, and the "
            "model was chosen by its F1. A gap shows for whom that choice served less."
        ),
        assumes=("That a miss and a false alarm weigh the same. That positives are known alike in every group."),
        harm=("quality of service",),
        limits=(
            "It follows the base rate: at equal error rates the group with fewer positives has the lower F1. It cannot "
            "tell misses from false alarms. Right refusals do not count, so that a group in which nearly everybody is "
            "rightly refused may look badly served."
        ),
        sources=(_RIJSBERGEN, _POWERS),
        see_also=("threat_score_parity", "matthews_correlation_parity", "equal_opportunity", "predictive_parity"),
    ),
    Metric(
        name="threat_score_parity",
        title="threat score parity",
        family="accuracy",
        measures=("threat_score",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "threat_score_difference": {"judged_on": "difference"},
            "threat_score_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "critical_success_index_parity": {},
        },
        abbreviations={"threat_score": "threat_score_parity", "jaccard": "threat_score_parity"},
        question="Of all who should get a yes or got one, is the share that is both the same in each group?",
        formula="TP_a / (TP_a + FP_a + FN_a) equal for all groups a",
        compares=(
            "The threat score, or critical success index, of each group: of the people who have a positive label or "
            "got a yes, those with both. It is the Jaccard index of the two sets, and F1 / (2 − F1)."
        ),
        when=(
            "Use it for warnings of rare events, where right silence is no achievement. It orders groups as F1 does, "
            "on a scale that is a share of people and so easier to explain."
        ),
        assumes=("That a miss and a false alarm weigh the same. That positives are known alike in every group."),
        harm=("quality of service",),
        limits=(
            "It follows the base rate, as F1 does: rarer events have lower scores at equal skill. It cannot tell "
            "misses from false alarms, and does not see right refusals."
        ),
        sources=(
            "Schaefer, J. T. (1990). The critical success index as an indicator of warning skill. Weather and "
            "Forecasting, 5(4).",
        ),
        see_also=("f1_parity", "equal_opportunity", "predictive_parity"),
    ),
    Metric(
        name="matthews_correlation_parity",
        title="Matthews correlation parity",
        family="accuracy",
        measures=("matthews_correlation",),
        judged_on="difference",
        threshold=0.1,
        aliases={"mcc_parity": {}, "matthews_correlation_difference": {"judged_on": "difference"}},
        abbreviations={"mcc": "matthews_correlation_parity", "matthews_correlation": "matthews_correlation_parity"},
        question="Do decisions and labels agree as closely in each group, beyond what chance would give?",
        formula="(TP TN − FP FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)) equal for all groups",
        compares=(
            "The correlation between decision and label in each group. It is 1 for decisions that are always right, 0 "
            "for those that have nothing to do with the label, −1 for those that are always wrong."
        ),
        when=(
            "Use it where one figure must stand for all four cells and labels are uneven. Unlike accuracy and F1 it "
            "is 0 for a model that gives everybody the same answer by chance."
        ),
        assumes=(
            "That both kinds of error weigh the same. That the label is true for everyone, and there for the people "
            "who were refused as well."
        ),
        harm=("quality of service",),
        limits=(
            "It is undefined for a group with one label or one decision only. Its largest possible value depends on "
            "how far base rate and selection rate of the group differ. It cannot tell misses from false alarms, and a "
            "ratio has a meaning only where every group is above 0."
        ),
        sources=(
            "Matthews, B. W. (1975). Comparison of the predicted and observed secondary structure of T4 phage "
            "lysozyme. Biochimica et Biophysica Acta, 405(2).",
            "Chicco, D., & Jurman, G. (2020). The advantages of the Matthews correlation coefficient (MCC) over F1 "
            "score and accuracy in binary classification evaluation. BMC Genomics, 21.",
        ),
        see_also=("informedness_parity", "markedness_parity", "f1_parity"),
    ),
)
