"""Sufficiency: does a decision mean the same, whatever the group?

These metrics fix the decision and compare what happened next: of those who got a yes, how many turned out
positive; of those who got a no, how many turned out negative. They look at the decision from the side of whoever
has to act on it.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures.indices import OutcomeTestIndex

_BERK = (
    "Berk, R., Heidari, H., Jabbari, S., Kearns, M., & Roth, A. (2021). Fairness in criminal justice risk "
    "assessments: The state of the art. Sociological Methods & Research, 50(1)."
)
_BELLAMY = (
    "Bellamy, R. K. E., et al. (2018). AI Fairness 360: An extensible toolkit for detecting, understanding, and "
    "mitigating unwanted algorithmic bias. arXiv:1810.01943."
)
_POWERS = (
    "Powers, D. M. W. (2011). Evaluation: From precision, recall and F-measure to ROC, informedness, markedness and "
    "correlation. Journal of Machine Learning Technologies, 2(1)."
)
_CLARIFY = (
    "Das, S., et al. (2021). Fairness measures for machine learning in finance. The Journal of Financial Data Science, "
    "3(4)."
)
_CHOULDECHOVA = (
    "Chouldechova, A. (2017). Fair prediction with disparate impact: A study of bias in recidivism "
    "prediction instruments. Big Data, 5(2)."
)
_KLEINBERG = (
    "Kleinberg, J., Mullainathan, S., & Raghavan, M. (2017). Inherent trade-offs in the fair determination "
    "of risk scores. Innovations in Theoretical Computer Science (ITCS)."
)
_SIMOIU = (
    "Simoiu, C., Corbett-Davies, S., & Goel, S. (2017). The problem of infra-marginality in outcome tests "
    "for discrimination. Annals of Applied Statistics, 11(3)."
)
_SELECTIVE = (
    "Lakkaraju, H., Kleinberg, J., Leskovec, J., Ludwig, J., & Mullainathan, S. (2017). The selective labels "
    "problem: Evaluating algorithmic predictions in the presence of unobservables. ACM SIGKDD Conference on "
    "Knowledge Discovery and Data Mining (KDD)."
)
_GAEBLER = (
    "Gaebler, J. D., & Goel, S. (2025). A simple, statistically robust test of discrimination. Proceedings of the "
    "National Academy of Sciences (PNAS)."
)
_BECKER = "Becker, G. S. (1957). The Economics of Discrimination. University of Chicago Press."
_AEQUITAS = "Saleiro, P., et al. (2018). Aequitas: A bias and fairness audit toolkit. arXiv:1811.05577."

_EXAMPLE = """import evenhand as eh

loans = eh.robust_outcome_test(
    prediction=[1, 1, 0] * 2,
    label=[1, 0, None] * 2,
    count=[2250, 250, 2500, 950, 50, 4000],
    sensitive=["a"] * 3 + ["b"] * 3,
)
print(loans)
loans"""

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="conditional_use_accuracy_equality",
        title="conditional use accuracy equality",
        family="sufficiency",
        measures=("positive_predictive_value", "negative_predictive_value"),
        judged_on="difference",
        threshold=0.1,
        question="Can a yes and a no each be relied on equally in every group?",
        formula="P(Y=1 | Ŷ=1, A=a) and P(Y=0 | Ŷ=0, A=a) both equal for all groups a",
        compares=(
            "The positive predictive value and the negative predictive value of each group. The result is "
            "the worse of the two gaps. Together the two say that, once the decision is known, the group "
            "tells nothing more about the label."
        ),
        when=(
            "Use it when someone acts on the decision and has to trust it alike for everyone: a doctor "
            "reading a test, a judge reading a risk class. It is the counterpart of equalized odds, seen "
            "from the decision instead of the label."
        ),
        assumes=(
            "That there is a label after a no as well as after a yes. Often there is none: nobody learns "
            "whether a refused applicant would have repaid (selective labels). The label must also be the "
            "thing that matters and be measured alike in every group, else equal values only show that the "
            "decision repeats the bias of the label."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "When base rates differ, it excludes demographic parity, and it excludes equalized odds unless "
            "the decision is perfect. It compares averages over everyone with the same decision, so it "
            "cannot see whether the cutoff was the same for each group (infra-marginality). A model that "
            "ignores useful information about one group can still pass."
        ),
        sources=(_BERK, _KLEINBERG),
        see_also=("predictive_parity", "negative_predictive_parity", "equalized_odds"),
        holds_equal=("PPV", "NPV"),
    ),
    Metric(
        name="predictive_parity",
        title="predictive parity",
        family="sufficiency",
        measures=("positive_predictive_value",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "outcome_test": {},
            "predictive_parity_difference": {"judged_on": "difference"},
            "predictive_parity_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "positive_predictive_value_parity": {},
        },
        abbreviations={
            "dar": "predictive_parity",
            "ppv": "predictive_parity",
            "precision": "predictive_parity",
            "positive_predictive_value": "predictive_parity",
        },
        question="Of those who got a yes, does each group turn out positive equally often?",
        formula="P(Y=1 | Ŷ=1, A=a) equal for all groups a",
        compares=(
            "The positive predictive value (precision) of each group: of the people decided positively, the "
            "share with a positive label. It is the question of calibration put to the decision instead of "
            "the score: a yes should stand for the same chance in every group."
        ),
        when=(
            "Use it when a yes is acted on and should carry the same weight for everyone. As the outcome "
            "test it looks for a double standard: if searches of one group find contraband less often, that "
            "group may be searched on weaker grounds. It needs labels only for positive decisions, which are "
            "often the only ones there are."
        ),
        assumes=(
            "That the label is right and complete among those who got a yes, in every group alike. A label "
            "made by the same people or records as the decision agrees with it by construction. If help or "
            "punishment after a yes changes what happens, the label shows the effect of the decision too."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Outcome tests suffer from infra-marginality: with one cutoff for all, the averages beyond it "
            "can still differ because risk is spread differently, and equal averages can hide different "
            "cutoffs. It cannot see who was refused; a lender may turn away every applicant but the safest "
            "of a group. When base rates differ, equal positive predictive values leave equal false positive "
            "and false negative rates possible only in extreme cases, such as no false positive at all. "
            "Equal values at one cutoff do not mean that the score is calibrated."
        ),
        sources=(_CHOULDECHOVA, _SIMOIU),
        see_also=("conditional_use_accuracy_equality", "false_discovery_rate_parity", "equalized_odds"),
        holds_equal=("PPV",),
        core=True,
    ),
    Metric(
        name="negative_predictive_parity",
        title="negative predictive parity",
        family="sufficiency",
        measures=("negative_predictive_value",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "negative_predictive_parity_difference": {"judged_on": "difference"},
            "negative_predictive_parity_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "negative_predictive_value_parity": {},
        },
        abbreviations={
            "drr": "negative_predictive_parity",
            "npv": "negative_predictive_parity",
            "negative_predictive_value": "negative_predictive_parity",
        },
        question="Of those who got a no, was it right equally often in each group?",
        formula=(
            "P(Y=0 | Ŷ=0, A=a) = TN / (TN + FN) equal for all groups a. "
            "Some texts write P(Y=1 | Ŷ=0, A=a) = FN / (TN + FN) = 1 − NPV instead"
        ),
        compares=(
            "The negative predictive value of each group: of the people decided negatively, the share with a "
            "negative label, P(Y=0 | Ŷ=0). A widely used manual writes this criterion as P(Y=1 | Ŷ=0). That "
            "other quantity is the false omission rate, 1 − NPV, which is a separate metric: false "
            "omission rate parity. Differences of the two agree in size with the sign turned; ratios do not "
            "agree."
        ),
        when=(
            "Use it when a no is relied on: a patient sent home, an applicant refused, a report closed "
            "without a visit. Judge it on the difference. Where wrong refusals are rare and you care about a "
            "ratio, use false omission rate parity: 99% against 98% is a ratio of 0.99 here and of 0.5 "
            "there."
        ),
        assumes=(
            "That people who got a no have a label, and that it was found as carefully as for those who got "
            "a yes. This is rarely so: a refused loan has no repayment, and a patient who was sent home may "
            "fall ill elsewhere (selective labels). A missing label taken for a negative one makes every no "
            "look right."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It depends strongly on the base rate: where positives are rare, nearly every no is right and "
            "the value is close to 1 in every group, whatever the decision does. When base rates differ, "
            "equalized odds and equal negative predictive values exclude each other, except in extreme "
            "cases such as no false negative at all. It says nothing of those who got a yes."
        ),
        sources=(_BERK, _SELECTIVE),
        see_also=(
            "false_omission_rate_parity",
            "conditional_use_accuracy_equality",
            "predictive_parity",
        ),
        holds_equal=("NPV",),
        core=True,
    ),
    Metric(
        name="false_discovery_rate_parity",
        title="false discovery rate parity",
        family="sufficiency",
        measures=("false_discovery_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "false_discovery_rate_difference": {"judged_on": "difference"},
            "false_discovery_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"fdr": "false_discovery_rate_parity", "false_discovery_rate": "false_discovery_rate_parity"},
        question="Of those who got a yes, was it wrong equally often in each group?",
        formula="P(Y=0 | Ŷ=1, A=a) equal for all groups a",
        compares=(
            "The false discovery rate of each group: of the people decided positively, the share with a "
            "negative label. It is 1 − the positive predictive value."
        ),
        when=(
            "Use it when a yes is a burden and you count the people it fell on by mistake: accounts frozen, "
            "people searched, families investigated. Choose it over predictive parity when you judge on the "
            "ratio and mistakes are rare, since 1% against 2% is then a factor of two and not a ratio near "
            "1."
        ),
        assumes=(
            "That a negative label among the positive decisions is a mistake, and not something that the "
            "decision prevented or that nobody recorded. A flagged person who is watched more closely is "
            "also found out more often, and then the flag looks right. Groups must be checked with equal "
            "care after a yes."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "As a difference it repeats predictive parity with the sign turned; count the two as one piece "
            "of evidence. It takes the share among those decided positively, so it does not say how likely "
            "an innocent person was to be flagged: that is the false positive rate. The two can rank the "
            "groups in opposite order. When base rates differ, both can be equal only if the true positive "
            "rates are not, except in extreme cases. Infra-marginality applies as for predictive parity."
        ),
        sources=(_AEQUITAS, _CHOULDECHOVA),
        see_also=("predictive_parity", "predictive_equality", "false_omission_rate_parity"),
        holds_equal=("PPV",),
    ),
    Metric(
        name="false_omission_rate_parity",
        title="false omission rate parity",
        family="sufficiency",
        measures=("false_omission_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "false_omission_rate_difference": {"judged_on": "difference"},
            "false_omission_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"for": "false_omission_rate_parity", "false_omission_rate": "false_omission_rate_parity"},
        question="Of those who got a no, was it wrong equally often in each group?",
        formula="P(Y=1 | Ŷ=0, A=a) equal for all groups a",
        compares=(
            "The false omission rate of each group: of the people decided negatively, the share with a "
            "positive label. It is 1 − the negative predictive value. Some texts give this formula under the "
            "name of negative predictive parity."
        ),
        when=(
            "Use it when a yes brings help and you count the people who were left out by mistake: no "
            "inspection, no treatment, no grant. It suits programmes with few places, where most people get "
            "a no and the question is who among them was in need. Choose it over negative predictive parity "
            "when you judge on the ratio."
        ),
        assumes=(
            "That the need or merit of those who got a no is known afterwards, in every group alike. People "
            "who are left out often leave the records too. If help was found elsewhere by one group and not "
            "by another, the label is not comparable."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "As a difference it repeats negative predictive parity with the sign turned; count the two as "
            "one piece of evidence. It follows the base rate: a group with more need has more of it left "
            "among the refused, even if it gets more help. It does not say how likely a person in need was "
            "to be left out: that is the false negative rate. When base rates differ, both can be equal only "
            "if the false positive rates are not, except in extreme cases."
        ),
        sources=(_AEQUITAS, _SELECTIVE),
        see_also=("negative_predictive_parity", "false_negative_rate_parity", "false_discovery_rate_parity"),
        holds_equal=("NPV",),
    ),
    Metric(
        name="robust_outcome_test",
        title="robust outcome test",
        family="sufficiency",
        index=OutcomeTestIndex(needs=("label", "prediction"), options={"selection": "benefit"}),
        judged_on="value",
        threshold=0.0,
        question="Is a group selected less often although its selected turn out positive more often?",
        formula="P(Ŷ=1 | A=a) < P(Ŷ=1 | A=b) and P(Y=1 | Ŷ=1, A=a) > P(Y=1 | Ŷ=1, A=b)",
        compares=(
            "For every ordered pair of groups, the selection rates and the positive predictive values. The first "
            "group is disfavoured if it is selected less often and its selected turn out positive more often. The "
            "p-value of a pair is the larger of the two one-sided ones, after Holm over all pairs; the value is the "
            "smaller of the two gaps. With selection='burden', such as being searched, it is the other way round: a "
            "group is disfavoured if it is selected more often and its selected turn out positive less often. Within "
            "strata of a control, gaps are weighted as by Mantel and Haenszel."
        ),
        when=(
            "Use it where labels are known of the selected only: loans that were granted, cars that were searched. "
            "Error rates cannot be computed then, and predictive parity alone is misled by groups that differ in risk "
            "(infra-marginality). An audit of such a table adds it by itself."
        ),
        assumes=(
            "That the likelihood ratio of the risks of any two groups is monotone: the higher the chance of a positive "
            "label, the more (or the less) common one group is against the other. With one bar for all, a group of "
            "higher risks is then selected more often and also turns out positive more often; the two never part. A "
            "positive label must be what selection looks for, be it a repaid loan or a weapon that was found."
        ),
        harm=("allocation",),
        limits=(
            "It can show that a group is held to another standard, and never that it is not: it fails or stays "
            "inconclusive. Different bars stay unseen where risks differ so much that the two rates move together. "
            "Where the assumption does not hold, it can point to a group wrongly. It speaks of the average over "
            "everyone with a decision, not of one person."
        ),
        sources=(_GAEBLER, _SIMOIU, _BECKER),
        see_also=("predictive_parity", "demographic_parity", "equalized_odds"),
        example=_EXAMPLE,
    ),
    Metric(
        name="average_predictive_value",
        title="average predictive value",
        family="sufficiency",
        measures=("positive_predictive_value", "false_omission_rate"),
        judged_on="difference",
        threshold=0.1,
        aggregate="mean",
        aliases={
            "average_predictive_value_difference": {},
            "average_abs_predictive_value_difference": {"aggregate": "mean_abs"},
        },
        abbreviations={"apvd": "average_predictive_value_difference"},
        question="Among people with the same decision, does a group turn out positive more often on the whole?",
        formula=(
            "½ [(PPV_a − PPV_b) + (FOR_a − FOR_b)] = 0 for all groups a, b; the absolute form averages the sizes of "
            "both"
        ),
        compares=(
            "The gap in the positive predictive value and the gap in the false omission rate, averaged: how often "
            "people turn out positive after a yes, and after a no. The plain form keeps the signs; the absolute form "
            "averages the sizes, and is 0 only when both gaps are."
        ),
        when=(
            "Use the plain form to ask whether people of one group are held to a higher bar: then they turn out "
            "positive more often after either decision. Name a reference, so that the sign has a meaning."
        ),
        assumes=(
            "That the label is true in every group and known for both decisions. That a gap after a yes and a gap "
            "after a no weigh the same, however many people got each."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Signed gaps cancel: a group that turns out positive more often after a yes and less often after a no has "
            "a mean near 0. Both rates follow the base rate, so a gap shows wherever base rates differ and risks are "
            "not told apart perfectly (infra-marginality). Conditional use accuracy equality takes the worse of two "
            "gaps and has no such blind spot."
        ),
        sources=(_BELLAMY, _CHOULDECHOVA),
        see_also=("conditional_use_accuracy_equality", "predictive_parity", "average_odds"),
    ),
    Metric(
        name="markedness_parity",
        title="markedness parity",
        family="sufficiency",
        measures=("markedness",),
        judged_on="difference",
        threshold=0.1,
        aliases={"markedness_difference": {"judged_on": "difference"}},
        abbreviations={"markedness": "markedness_parity"},
        question="Does a decision tell as much about what happens next in each group?",
        formula="PPV_a + NPV_a − 1 equal for all groups a",
        compares=(
            "How much more often people turn out positive after a yes than after a no, in each group. It is 1 where "
            "the decision is always right and 0 where it tells nothing. It is to predictive values what informedness "
            "is to error rates."
        ),
        when=(
            "Use it from the side of whoever acts on decisions and wants one figure for how far they can be relied on "
            "in each group. It suits triage, where both answers are acted on."
        ),
        assumes=(
            "That a wrong yes and a wrong no weigh the same. That the label is true for everyone, and known after "
            "either decision."
        ),
        harm=("quality of service",),
        limits=(
            "It follows the base rate: where almost nobody is positive, even a good decision is followed by few "
            "positives. A better yes can hide a worse no. A ratio has a meaning only where every group is above 0."
        ),
        sources=(_POWERS,),
        see_also=("conditional_use_accuracy_equality", "informedness_parity", "predictive_parity"),
    ),
    Metric(
        name="conditional_acceptance_parity",
        title="conditional acceptance parity",
        family="sufficiency",
        measures=("observed_to_accepted",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "conditional_acceptance_difference": {"judged_on": "difference"},
            "conditional_acceptance_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"dca": "conditional_acceptance_difference"},
        question="Are there as many positive labels for each positive decision in each group?",
        formula="(TP_a + FN_a) / (TP_a + FP_a) equal for all groups a",
        compares=(
            "The number of people with a positive label for each person who got a yes. Above 1 a group gets fewer "
            "yeses than it has positive labels, below 1 it gets more. Amazon SageMaker Clarify has the gap as the "
            "difference in conditional acceptance."
        ),
        when=(
            "Use it to ask whether a model is as generous to each group as the labels are, and to compare with "
            "reports of Clarify. It needs only how many labels and how many decisions are positive."
        ),
        assumes=("That labels show what people deserve. That labels and decisions are known for the same people."),
        harm=("allocation",),
        limits=(
            "It counts and does not look who: a group may get as many yeses as it deserves, all to the wrong people. "
            "It is undefined for a group without a yes, and has no upper end, so that a difference of 0.1 means "
            "less where the values are large."
        ),
        sources=(_CLARIFY,),
        see_also=("conditional_rejection_parity", "predictive_parity", "bias_amplification"),
    ),
    Metric(
        name="conditional_rejection_parity",
        title="conditional rejection parity",
        family="sufficiency",
        measures=("observed_to_rejected",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "conditional_rejection_difference": {"judged_on": "difference"},
            "conditional_rejection_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"dcr": "conditional_rejection_difference"},
        question="Are there as many negative labels for each negative decision in each group?",
        formula="(TN_a + FP_a) / (TN_a + FN_a) equal for all groups a",
        compares=(
            "The number of people with a negative label for each person who got a no. Below 1 a group gets more noes "
            "than it has negative labels, above 1 it gets fewer. Amazon SageMaker Clarify has the gap as the "
            "difference in conditional rejection."
        ),
        when=(
            "Use it beside conditional acceptance, where a refusal is the harm that people complain of. It also "
            "serves to compare with reports of Clarify."
        ),
        assumes=("That labels show what people deserve. That labels are known for those who were refused as well."),
        harm=("allocation",),
        limits=(
            "It counts and does not look who: the right number of people may be refused, and all of them wrongly. It "
            "is undefined for a group in which nobody was refused, and has no upper end."
        ),
        sources=(_CLARIFY,),
        see_also=("conditional_acceptance_parity", "negative_predictive_parity", "bias_amplification"),
    ),
)
