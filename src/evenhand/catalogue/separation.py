"""Separation: among people with the same label, does the decision depend on the group?

These metrics fix the label and compare error rates: what share of those who turned out positive, or
negative, was decided wrongly. They need a label, and are only as good as that label.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

_HARDT = (
    "Hardt, M., Price, E., & Srebro, N. (2016). Equality of opportunity in supervised learning. Advances in "
    "Neural Information Processing Systems (NeurIPS)."
)
_KLEINBERG = (
    "Kleinberg, J., Mullainathan, S., & Raghavan, M. (2017). Inherent trade-offs in the fair determination "
    "of risk scores. Innovations in Theoretical Computer Science (ITCS)."
)
_CHOULDECHOVA = (
    "Chouldechova, A. (2017). Fair prediction with disparate impact: A study of bias in recidivism "
    "prediction instruments. Big Data, 5(2)."
)
_MISMEASURE = (
    "Corbett-Davies, S., & Goel, S. (2018). The measure and mismeasure of fairness: A critical review of "
    "fair machine learning. arXiv:1808.00023."
)
_YOUDEN = "Youden, W. J. (1950). Index for rating diagnostic tests. Cancer, 3(1)."
_POWERS = (
    "Powers, D. M. W. (2011). Evaluation: From precision, recall and F-measure to ROC, informedness, markedness and "
    "correlation. Journal of Machine Learning Technologies, 2(1)."
)
_DEEKS = "Deeks, J. J., & Altman, D. G. (2004). Diagnostic tests 4: likelihood ratios. British Medical Journal, 329."
_SELECTIVE = (
    "Lakkaraju, H., Kleinberg, J., Leskovec, J., Ludwig, J., & Mullainathan, S. (2017). The selective labels "
    "problem: Evaluating algorithmic predictions in the presence of unobservables. ACM SIGKDD Conference on "
    "Knowledge Discovery and Data Mining (KDD)."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="equalized_odds",
        title="equalized odds",
        family="separation",
        measures=("true_positive_rate", "false_positive_rate"),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "equalized_odds_difference": {"judged_on": "difference"},
            "equalized_odds_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"eo": "equalized_odds", "eodds": "equalized_odds", "eor": "equalized_odds_ratio"},
        question="Does the decision make both kinds of error equally often in each group?",
        formula="P(Ŷ=1 | Y=y, A=a) equal for all groups a, for y = 0 and for y = 1",
        compares=(
            "The true positive rate and the false positive rate of each group. The result is the worse of the two gaps."
        ),
        when=(
            "Use it when both errors cost the person something, and the label is a sound record of what "
            "happened: a disease confirmed by a test, a loan repaid. It asks that people who are alike in "
            "label face the same chance of each decision, whatever their group. A perfect predictor "
            "satisfies it, so it does not punish accuracy."
        ),
        assumes=(
            "That the label means the same in every group and was recorded with equal care. An arrest is not "
            "an offence, and money spent on care is not illness. Where the label is biased, the rates are "
            "compared among the wrong people. Often the label exists only for those who were let through "
            "(selective labels): the unlabelled are then missing from both rates."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "When base rates differ, it excludes demographic parity unless the decision is uninformative, "
            "and it excludes equal predictive values unless the decision is perfect. The rates also depend "
            "on how risk is spread within a group and not only on where the cutoff lies "
            "(infra-marginality): one cutoff for all, applied to an accurate score, will usually give "
            "unequal rates. Adjusting decisions by group to force equality may be unlawful where you are."
        ),
        sources=(_HARDT, _KLEINBERG, _MISMEASURE),
        see_also=("equal_opportunity", "predictive_equality", "average_odds", "predictive_parity"),
        holds_equal=("TPR", "FPR"),
        core=True,
    ),
    Metric(
        name="equal_opportunity",
        title="equal opportunity",
        family="separation",
        measures=("true_positive_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "equal_opportunity_difference": {"judged_on": "difference"},
            "equal_opportunity_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "true_positive_rate_parity": {},
            "true_positive_rate_difference": {"judged_on": "difference"},
            "true_positive_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={
            "rd": "equal_opportunity",
            "eo": "equal_opportunity",
            "eopp": "equal_opportunity",
            "eod": "equal_opportunity_difference",
            "tpr": "equal_opportunity",
            "recall": "equal_opportunity",
            "sensitivity": "equal_opportunity",
            "true_positive_rate": "equal_opportunity",
        },
        question="Of those who deserve a yes, does each group get it equally often?",
        formula="P(Ŷ=1 | Y=1, A=a) equal for all groups a",
        compares=(
            "The true positive rate of each group: of the people with a positive label, the share that was "
            "decided positively. People with a negative label play no part."
        ),
        when=(
            "Use it when the positive decision is the favourable one and missing someone who merits it is "
            "the harm: a loan for someone who would repay, treatment for someone who is ill. It asks for "
            "less than equalized odds, and so leaves more room for the decision to be accurate."
        ),
        assumes=(
            "That a positive label really marks those who merit a yes. If past decisions shaped it, as when "
            "only those who were hired could prove themselves, the people who were wrongly shut out are not "
            "among the positives and nobody counts them. Lenders see repayment only for the loans they made."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It does not look at false positives: one group may receive many more undeserved decisions than "
            "another. It can hold together with equal positive predictive values when base rates differ, but "
            "the false positive rates must then differ. Its difference has the same size as that of the "
            "false negative rate; its ratio has not. Groups with few positive labels give wide intervals."
        ),
        sources=(_HARDT, _SELECTIVE),
        see_also=("equalized_odds", "false_negative_rate_parity", "predictive_equality", "predictive_parity"),
        holds_equal=("TPR",),
        core=True,
    ),
    Metric(
        name="predictive_equality",
        title="predictive equality",
        family="separation",
        measures=("false_positive_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "predictive_equality_difference": {"judged_on": "difference"},
            "predictive_equality_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "false_positive_rate_parity": {},
            "false_positive_rate_difference": {"judged_on": "difference"},
            "false_positive_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"fpr": "predictive_equality", "false_positive_rate": "predictive_equality"},
        question="Of those who should get a no, is each group wrongly given a yes equally often?",
        formula="P(Ŷ=1 | Y=0, A=a) equal for all groups a",
        compares=(
            "The false positive rate of each group: of the people with a negative label, the share that was "
            "decided positively. People with a positive label play no part."
        ),
        when=(
            "Use it when the positive decision is a burden, and falling on the wrong person is the harm: "
            "being flagged for fraud, held before trial, stopped and searched. In the debate on COMPAS this "
            "was the gap that was reported: defendants who did not reoffend had been rated at higher risk "
            "more often if they were black."
        ),
        assumes=(
            "That a negative label means the thing did not happen, and not that nobody looked. Closer "
            "policing of one group finds more there and turns would-be false positives into true ones. Where "
            "a positive decision prevents what the label records, as detention does, the label of those people "
            "is not observed at all."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It says nothing of those who are missed. Where most labels are negative, a small gap in the "
            "rate can be a large gap in the number of people. A group with a higher base rate tends to have "
            "a higher false positive rate under one common cutoff (infra-marginality), so a gap does not by "
            "itself show a double standard, and no gap does not exclude one. When base rates differ, equal "
            "positive predictive values and equal false negative rates together force a gap here."
        ),
        sources=(
            "Corbett-Davies, S., Pierson, E., Feller, A., Goel, S., & Huq, A. (2017). Algorithmic decision "
            "making and the cost of fairness. ACM SIGKDD Conference on Knowledge Discovery and Data Mining "
            "(KDD).",
            _CHOULDECHOVA,
            _MISMEASURE,
        ),
        see_also=("equalized_odds", "equal_opportunity", "false_discovery_rate_parity"),
        holds_equal=("FPR",),
        core=True,
    ),
    Metric(
        name="false_negative_rate_parity",
        title="false negative rate parity",
        family="separation",
        measures=("false_negative_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "false_negative_rate_difference": {"judged_on": "difference"},
            "false_negative_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"fnr": "false_negative_rate_parity", "false_negative_rate": "false_negative_rate_parity"},
        question="Of those who should get a yes, is each group missed equally often?",
        formula="P(Ŷ=0 | Y=1, A=a) equal for all groups a",
        compares=(
            "The false negative rate of each group: of the people with a positive label, the share that was "
            "decided negatively. It is 1 − the true positive rate."
        ),
        when=(
            "Use it when being missed is the harm, and misses should be rare: a cancer overlooked, a child "
            "at risk not visited, a capable pupil not put forward. Choose it over equal opportunity when you "
            "judge on the ratio. If two groups are found in 98% and 96% of cases, the true positive rates "
            "look alike, yet one group is missed twice as often."
        ),
        assumes=(
            "That the positives are known in every group alike. A case that was never diagnosed or reported "
            "is not a positive label, so a group that is missed by the model and by everyone else looks well "
            "served. The label must also mean the same need or merit in every group."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "It cannot see false alarms: giving everyone a yes makes every rate 0. As a difference it "
            "repeats equal opportunity with the sign turned; count the two as one piece of evidence. When "
            "base rates differ, it can be met together with equal false positive rates and equal positive "
            "predictive values only in degenerate cases, such as a decision without any false positive."
        ),
        sources=(_CHOULDECHOVA, _HARDT),
        see_also=("equal_opportunity", "equalized_odds", "false_omission_rate_parity"),
        holds_equal=("TPR",),
    ),
    Metric(
        name="average_odds",
        title="average odds",
        family="separation",
        measures=("true_positive_rate", "false_positive_rate"),
        judged_on="difference",
        threshold=0.1,
        aggregate="mean",
        aliases={
            "average_odds_difference": {},
            "average_absolute_odds_difference": {"aggregate": "mean_abs"},
            "average_abs_odds_difference": {"aggregate": "mean_abs"},
        },
        abbreviations={"aod": "average_odds_difference", "aaod": "average_abs_odds_difference"},
        question="Among people with the same label, does a group get a yes more readily on the whole?",
        formula=(
            "½ [(TPR_a − TPR_b) + (FPR_a − FPR_b)] = 0 for all groups a, b; "
            "the absolute form is ½ [|TPR_a − TPR_b| + |FPR_a − FPR_b|]"
        ),
        compares=(
            "The gap in the true positive rate and the gap in the false positive rate, averaged. The plain "
            "form keeps the signs and so measures a lean towards one group. The absolute form averages the "
            "sizes, and is 0 only when both gaps are."
        ),
        when=(
            "Use the plain form to ask whether a group gets the positive decision more readily than another "
            "at equal labels. Name a reference, so that the sign has a meaning. Use the absolute form as a "
            "summary of equalized odds, or to compare with results from other tools that report it."
        ),
        assumes=(
            "That a gap among the positives and a gap among the negatives weigh the same, however many "
            "people are in each and whatever each error costs them. As for all of this family, the label "
            "must mean the same in every group, and be there for the people who were refused as well."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Signed gaps cancel. A group with a true positive rate 0.2 lower and a false positive rate 0.2 "
            "higher gets the worst of both, and the mean is 0. Read it only beside the two rates; equalized "
            "odds, which takes the worse of them, has no such blind spot. It shares the conflicts of "
            "equalized odds with demographic parity and with predictive values."
        ),
        sources=(
            "Bellamy, R. K. E., et al. (2018). AI Fairness 360: An extensible toolkit for detecting, "
            "understanding, and mitigating unwanted algorithmic bias. arXiv:1810.01943.",
            _HARDT,
        ),
        see_also=("equalized_odds", "equal_opportunity", "predictive_equality"),
    ),
    Metric(
        name="true_negative_rate_parity",
        title="true negative rate parity",
        family="separation",
        measures=("true_negative_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "true_negative_rate_difference": {"judged_on": "difference"},
            "true_negative_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "specificity_parity": {},
            "specificity_difference": {"judged_on": "difference"},
        },
        abbreviations={
            "sd": "true_negative_rate_parity",
            "tnr": "true_negative_rate_parity",
            "true_negative_rate": "true_negative_rate_parity",
            "specificity": "true_negative_rate_parity",
        },
        question="Of those who should get a no, is each group rightly given one equally often?",
        formula="P(Ŷ=0 | Y=0, A=a) equal for all groups a",
        compares=(
            "The true negative rate (specificity) of each group: of the people with a negative label, the share that "
            "was decided negatively. It is 1 − the false positive rate."
        ),
        when=(
            "Use it where people speak of specificity, as in medical screening: of the healthy, how many were rightly "
            "sent home. Choose predictive equality, the same gap seen from the other side, when you judge on the ratio "
            "and false alarms are rare."
        ),
        assumes=(
            "That a negative label means the thing did not happen, and not that nobody looked. That people with a "
            "negative label are recorded alike in every group."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "As a difference it repeats predictive equality with the sign turned; count the two as one piece of "
            "evidence. It says nothing of those who are missed: giving everyone a no makes every rate 1. As a ratio it "
            "hides gaps where the rates are high, since 98% and 96% look alike while one group has twice the false "
            "alarms."
        ),
        sources=(_YOUDEN, _CHOULDECHOVA),
        see_also=("predictive_equality", "equalized_odds", "informedness_parity"),
        holds_equal=("FPR",),
    ),
    Metric(
        name="informedness_parity",
        title="informedness parity",
        family="separation",
        measures=("informedness",),
        judged_on="difference",
        threshold=0.1,
        aliases={"informedness_difference": {"judged_on": "difference"}, "youden_index_parity": {}},
        abbreviations={"informedness": "informedness_parity", "youden": "informedness_parity"},
        question="Is the decision as much better than a guess in each group?",
        formula="TPR_a + TNR_a − 1 = TPR_a − FPR_a equal for all groups a (Youden's J)",
        compares=(
            "How much more often a person with a positive label gets a yes than a person with a negative one, in each "
            "group. It is 1 for decisions that are always right, 0 for a decision that ignores the label, and below 0 "
            "for one that is worse than a guess. It is 2 × balanced accuracy − 1."
        ),
        when=(
            "Use it to ask whether a decision works equally well for everyone, whatever the share of positive labels "
            "in a group. It suits diagnostic tests, where it is known as Youden's index."
        ),
        assumes=(
            "That missing a positive and raising a false alarm weigh the same. That the label is true for everyone, "
            "and there for the people who were refused as well."
        ),
        harm=("quality of service",),
        limits=(
            "Errors of one kind can stand in for the other: one group may bear all the misses and another all the "
            "false alarms, and the values agree. Read it beside equalized odds. A ratio has a meaning only where "
            "every group is above 0."
        ),
        sources=(_YOUDEN, _POWERS),
        see_also=("equalized_odds", "balanced_accuracy_equality", "markedness_parity"),
    ),
    Metric(
        name="positive_likelihood_ratio_parity",
        title="positive likelihood ratio parity",
        family="separation",
        measures=("positive_likelihood_ratio",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "positive_likelihood_ratio_difference": {"judged_on": "difference"},
            "positive_likelihood_ratio_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"positive_likelihood_ratio": "positive_likelihood_ratio_parity"},
        question="Does a yes raise the odds of a positive label by as much in each group?",
        formula="TPR_a / FPR_a equal for all groups a",
        compares=(
            "How many times as often a person with a positive label gets a yes as a person with a negative one. The "
            "odds of a positive label before the decision, times this number, are the odds after a yes. It is judged "
            "as the ratio of the lowest group to the highest."
        ),
        when=(
            "Use it where a decision is evidence, as a test result is for a physician, and the base rates of groups "
            "differ. Unlike the positive predictive value it does not depend on them."
        ),
        assumes=(
            "That the label is true for everyone, and there for the people who were refused as well. That a yes is "
            "taken as evidence of the same kind in every group."
        ),
        harm=("quality of service",),
        limits=(
            "It is undefined without a false positive, and varies widely where these are few: its interval is then "
            "wide. Two groups may share it and differ in both error rates. It says nothing about what a no is worth: "
            "see the negative likelihood ratio."
        ),
        sources=(_DEEKS,),
        see_also=("negative_likelihood_ratio_parity", "predictive_parity", "equalized_odds"),
    ),
    Metric(
        name="negative_likelihood_ratio_parity",
        title="negative likelihood ratio parity",
        family="separation",
        measures=("negative_likelihood_ratio",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "negative_likelihood_ratio_difference": {"judged_on": "difference"},
            "negative_likelihood_ratio_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"negative_likelihood_ratio": "negative_likelihood_ratio_parity"},
        question="Does a no lower the odds of a positive label by as much in each group?",
        formula="FNR_a / TNR_a equal for all groups a",
        compares=(
            "How many times as often a person with a positive label gets a no as a person with a negative one. The "
            "odds of a positive label before the decision, times this number, are the odds after a no. The nearer to "
            "0, the more a no can be relied on."
        ),
        when=(
            "Use it where a no sends people home, as a negative test does, and the base rates of groups differ. "
            "Unlike the negative predictive value it does not depend on them."
        ),
        assumes=(
            "That the label is true for everyone, and above all for those who got a no. That a no is taken as "
            "evidence of the same kind in every group."
        ),
        harm=("quality of service",),
        limits=(
            "It is 0 for a group that nobody was missed in, and every ratio to it is 0 as well: read the difference "
            "then. It is undefined where nobody with a negative label got a no. Two groups may share it and differ in "
            "both error rates."
        ),
        sources=(_DEEKS,),
        see_also=("positive_likelihood_ratio_parity", "negative_predictive_parity", "equalized_odds"),
    ),
)
