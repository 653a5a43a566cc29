"""Lending and insurance: the figures that model validation and compliance ask for.

Most ask known questions in the words of a trade: how far apart mean scores lie in standard deviations, how often each
group would be selected wherever the cutoff is drawn, whether a predicted number of claims comes true in each group.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures.indices import PracticalIndex
from evenhand.measures.lending import SHARES, class_steps

_COHEN = "Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences (2nd ed.). Lawrence Erlbaum."
_AUSTIN = (
    "Austin, P. C. (2009). Balance diagnostics for comparing the distribution of baseline covariates between treatment "
    "groups in propensity-score matched samples. Statistics in Medicine, 28(25)."
)
_CALSTER = (
    "Van Calster, B., McLernon, D. J., van Smeden, M., Wynants, L., & Steyerberg, E. W. (2019). Calibration: the "
    "Achilles heel of predictive analytics. BMC Medicine, 17."
)
_COX = "Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika, 45(3-4)."
_GUIDELINES = (
    "Equal Employment Opportunity Commission, Civil Service Commission, Department of Labor, & Department of Justice "
    "(1978). Uniform Guidelines on Employee Selection Procedures. 29 CFR 1607.4(D)."
)
_HALL = (
    "Hall, P., Cox, B., Dickerson, S., Ravi Kannan, A., Kulkarni, R., & Schmidt, N. (2021). A United States fair "
    "lending perspective on machine learning. Frontiers in Artificial Intelligence, 4."
)
_FREES = (
    "Frees, E. W., Meyers, G., & Cummings, A. D. (2011). Summarizing insurance scores using a Gini index. Journal of "
    "the American Statistical Association, 106(495)."
)
_GARWOOD = "Garwood, F. (1936). Fiducial limits for the Poisson distribution. Biometrika, 28(3-4)."

_NET_BENEFIT = """import evenhand as eh

people = eh.datasets.compas()
risk = people["decile"] / 10  # taken as if it were a probability, which it was not made to be
finding = eh.net_benefit_parity(
    people, label="recidivated", score=risk, cutoff=0.5, count="count", sensitive="race"
)
print(finding)
finding
"""


def _standardized(name: str, measure: str, what: str, formula: str, see_also: tuple[str, ...]) -> Metric:
    """One of the standardised differences, which share their texts."""
    pooled = measure.endswith("_pooled")
    whose = "pooled standard deviation within the groups" if pooled else "standard deviation of everyone"
    title = f"standardised difference in mean {what}s" + (", pooled" if pooled else "")
    short = {"score": "smd", "prediction": "prediction_smd", "residual": "residual_smd"}[what]
    return Metric(
        name=name,
        title=title,
        family="lending",
        measures=(measure,),
        judged_on="difference",
        threshold=0.1,
        abbreviations={f"pooled_{short}" if pooled else short: name},
        question=f"How many standard deviations lie between the mean {what}s of the groups?",
        formula=formula,
        compares=(
            f"The mean {what} of each group, in units of the {whose}. Unlike the plain gap it does not depend on the "
            "scale. The interval allows for the deviation being estimated as well."
        ),
        when=(
            f"Use it where {what}s have no scale that people know, or to compare models with each other. Lenders and "
            "insurers report it for scores, prices and limits, against a reference that they name."
        ),
        assumes=(
            "That a standard deviation is a sensible unit, which it is less where a few values are extreme. That the "
            "people recorded vary as much as those who will be scored: a narrow sample makes every gap look large."
        ),
        harm=("allocation",),
        limits=(
            "Means can agree where whole distributions differ. Cohen calls 0.2 small and 0.5 medium, others take 0.1 "
            "as balance; none of these is a rule of law. "
            + (
                "With several groups the deviation is pooled over all of them, not over the two compared."
                if pooled
                else "A gap between groups is itself part of everyone's deviation, so that large gaps look smaller."
            )
        ),
        sources=(_COHEN, _AUSTIN),
        see_also=see_also,
    )


ENTRIES: tuple[Metric, ...] = (
    _standardized(
        "standardized_mean_difference",
        "standardized_score",
        "score",
        "(E[S | A=a] − E[S | A=b]) / SD(S)",
        ("mean_score_parity", "pooled_standardized_mean_difference", "ks_distance"),
    ),
    _standardized(
        "pooled_standardized_mean_difference",
        "standardized_score_pooled",
        "score",
        "(E[S | A=a] − E[S | A=b]) / √(Σ (n_a − 1) s_a² / Σ (n_a − 1))",
        ("standardized_mean_difference", "mean_score_parity"),
    ),
    _standardized(
        "standardized_prediction_difference",
        "standardized_prediction",
        "prediction",
        "(E[f | A=a] − E[f | A=b]) / SD(f)",
        ("mean_prediction_parity", "standardized_residual_difference"),
    ),
    _standardized(
        "pooled_standardized_prediction_difference",
        "standardized_prediction_pooled",
        "prediction",
        "(E[f | A=a] − E[f | A=b]) / √(Σ (n_a − 1) s_a² / Σ (n_a − 1))",
        ("standardized_prediction_difference", "mean_prediction_parity"),
    ),
    _standardized(
        "standardized_residual_difference",
        "standardized_residual",
        "residual",
        "(E[Y − f | A=a] − E[Y − f | A=b]) / SD(Y − f)",
        ("mean_residual_parity", "standardized_prediction_difference"),
    ),
    _standardized(
        "pooled_standardized_residual_difference",
        "standardized_residual_pooled",
        "residual",
        "(E[Y − f | A=a] − E[Y − f | A=b]) / √(Σ (n_a − 1) s_a² / Σ (n_a − 1)) of Y − f",
        ("standardized_residual_difference", "mean_residual_parity"),
    ),
    Metric(
        name="impact_ratio_by_quantile",
        title="impact ratio by quantile",
        family="lending",
        measures=tuple(f"selected_top_{round(100 * share)}" for share in SHARES),
        judged_on="ratio",
        threshold=0.8,
        one_sided=True,
        abbreviations={"air_by_quantile": "impact_ratio_by_quantile"},
        question="Wherever the cutoff is drawn, is any group selected less than four fifths as often as another?",
        formula="P(S among the highest q | A=a) / P(S among the highest q | A=b) ≥ 0.8 for q = 0.1 to 0.9",
        compares=(
            "The selection rates of the groups if the highest scores were selected until 10 %, 20 %, and so on to 90 "
            "% of everyone are. The lowest ratio of any share is judged, and the interval holds for all shares "
            "together. People with the score at the cutoff are all selected."
        ),
        when=(
            "Use it before a cutoff is chosen, or where it moves with the budget. A score can have no impact at the "
            "cutoff of today and a large one at that of tomorrow."
        ),
        assumes=(
            "That a higher score is favourable and the highest are selected; `higher_is` says otherwise. That the "
            "people recorded are those who will apply."
        ),
        harm=("allocation",),
        limits=(
            "A ratio is harsh where few are selected and mild where most are: at 90 % selected even a large gap in "
            "refusals has a ratio near 1. Nine shares make the interval wider than one would. Four fifths is a rule "
            "of thumb of US employment agencies, and gives no protection in lending."
        ),
        sources=(_GUIDELINES, _HALL),
        see_also=("disparate_impact", "ks_distance", "impact_ratio_by_class"),
    ),
    Metric(
        name="impact_ratio_by_class",
        title="impact ratio by class",
        family="lending",
        measures=("selected_top_50",),
        along=class_steps,
        judged_on="ratio",
        threshold=0.8,
        one_sided=True,
        abbreviations={"categorical_air": "impact_ratio_by_class"},
        question="In each class or a better one, is any group found less than four fifths as often as another?",
        formula="P(S ≥ c | A=a) / P(S ≥ c | A=b) ≥ 0.8 for every class c but the lowest",
        compares=(
            "For an ordered class, such as a risk grade or a price tier given as a number, the share of each group in "
            "that class or a higher one. The lowest ratio of any class is judged, and the interval holds for all "
            "classes together."
        ),
        when=(
            "Use it where people are not selected or refused but graded: tiers of a rate, grades of a risk. Give the "
            "class as `score`, with `higher_is` where a lower number is better."
        ),
        assumes=(
            "That classes have an order and a higher one is better for people. That there are at most 20 of them; a "
            "score with more values is cut by quantiles instead."
        ),
        harm=("allocation",),
        limits=(
            "It treats the step between two classes alike, whatever it costs. A class in which nearly everybody is "
            "found hides who is left below it. Four fifths is a rule of thumb of US employment agencies."
        ),
        sources=(_GUIDELINES,),
        see_also=("impact_ratio_by_quantile", "disparate_impact"),
    ),
    Metric(
        name="practical_disparity",
        title="practical disparity",
        family="lending",
        index=PracticalIndex(needs=("prediction",), options={"ratio": 0.8}),
        judged_on="value",
        threshold=None,
        question="By how much is a group selected less often, where its impact ratio is low as well?",
        formula="max over groups a of (p_b − p_a) where p_a / p_b < t, else 0; b the reference or the highest rate p",
        compares=(
            "The selection rate of each group with that of the reference, or of the group selected most often. A "
            "shortfall counts only where the ratio is also below `ratio`; elsewhere it is 0. The largest is judged "
            "against a threshold that you set, such as 0.02."
        ),
        when=(
            "Use it where a policy asks for two things at once: a ratio below four fifths and a difference of some "
            "points. It keeps a ratio of two tiny rates, and a gap between two high rates, from failing by themselves."
        ),
        assumes=("That both bounds were set before the data were seen. That the positive decision is favourable."),
        harm=("allocation",),
        limits=(
            "What counts as practical is a choice and not a finding. At the bound the value jumps from 0 to the whole "
            "shortfall, and near it the verdict is often inconclusive. It says nothing about why rates differ."
        ),
        sources=(_GUIDELINES, _HALL),
        see_also=("disparate_impact", "demographic_parity"),
    ),
    Metric(
        name="gini_parity",
        title="Gini parity",
        family="lending",
        measures=("gini",),
        judged_on="difference",
        threshold=0.1,
        aliases={"gini_difference": {"judged_on": "difference"}, "somers_d_parity": {}},
        abbreviations={"gini": "gini_parity"},
        question="Does the score rank people equally well within each group, in the words of credit scoring?",
        formula="2 AUC_a − 1 equal for all groups a",
        compares=(
            "The Gini coefficient, or accuracy ratio, of each group: how much more often a positive outranks a "
            "negative of the same group than the other way round. It is 0 for a random order and 1 for a perfect one, "
            "and exactly twice the distance of the AUC from one half."
        ),
        when=(
            "Use it where a model is validated by its Gini, as in credit risk. A group with a low value is scored "
            "almost at random, whatever its mean score."
        ),
        assumes=(
            "As AUC parity: a label that is true and equally well known in each group, and people who are as varied "
            "as those who will be scored. The labels of refused applicants are often not there, and those inferred "
            "for them repeat the score."
        ),
        harm=("quality of service",),
        limits=(
            "A gap is twice that of AUC parity, and so is its interval: count the two as one piece of evidence. It "
            "says nothing about ranking across groups or about calibration. A group chosen by the same score before "
            "has a lower value for that reason alone."
        ),
        sources=(
            "Somers, R. H. (1962). A new asymmetric measure of association for ordinal variables. American "
            "Sociological Review, 27(6).",
        ),
        see_also=("auc_parity", "ordered_gini_parity", "calibration_slope_parity"),
    ),
    Metric(
        name="ordered_gini_parity",
        title="ordered Gini parity",
        family="lending",
        measures=("ordered_gini",),
        judged_on="difference",
        threshold=0.1,
        aliases={"ordered_gini_difference": {"judged_on": "difference"}},
        question="Does the prediction tell large labels from small ones equally well within each group?",
        formula="E[Y (2F(f) − 1)] / E[Y] equal for all groups, F the rank of the prediction within its group",
        compares=(
            "The Gini coefficient of labels ordered by their prediction, in each group: twice the area between the "
            "ordered Lorenz curve and the diagonal. It is 0 where the prediction says nothing about labels. With "
            "`exposure`, people count by it."
        ),
        when=(
            "Use it for premiums and predicted losses, where the question is how well a model separates risks. A "
            "group with a low value is charged almost the same premium for different risks."
        ),
        assumes=("That labels are 0 or more, such as claims. That labels of all groups were recorded alike."),
        harm=("quality of service",),
        limits=(
            "Its largest possible value depends on how unequal labels are, so that groups with rarer claims can "
            "reach a higher one. Only the order of predictions counts, not their level. Predictions within one bin "
            "count as equal."
        ),
        sources=(_FREES,),
        see_also=("gini_parity", "actual_to_expected_parity", "r_squared_parity"),
    ),
    Metric(
        name="calibration_slope_parity",
        title="calibration slope parity",
        family="lending",
        measures=("calibration_slope",),
        judged_on="difference",
        threshold=0.1,
        aliases={"calibration_slope_difference": {"judged_on": "difference"}},
        abbreviations={"calibration_slope": "calibration_slope_parity"},
        question="Are high and low scores equally too extreme, or too modest, in each group?",
        formula="b_a equal for all groups a, in logit P(Y=1 | S, A=a) = α_a + b_a logit S",
        compares=(
            "The slope of a logistic regression of the label on the logit of the score, within each group. At 1 the "
            "spread of scores is right; below 1 scores are too extreme, as of an overfitted model; above 1 too modest."
        ),
        when=(
            "Use it to see for whom a model is overfitted: groups with few rows in training often have a lower slope. "
            "Read it beside calibration in the large, which says whether scores are too high or too low on the whole."
        ),
        assumes=(
            "That the score is a probability and the logit line is about right; calibration by bins shows whether it "
            "is. That labels are true in every group."
        ),
        harm=("quality of service",),
        limits=(
            "It needs some fifty labels of each kind to be known to a tenth or two. It is undefined where the score "
            "tells labels apart without an error, and where a label contradicts a score of exactly 0 or 1, which has "
            "an infinite logit. Where the label agrees with such a score, that person adds nothing."
        ),
        sources=(_COX, _CALSTER),
        see_also=("calibration", "calibration_in_the_large_parity", "calibration_intercept_parity"),
    ),
    Metric(
        name="calibration_intercept_parity",
        title="calibration intercept parity",
        family="lending",
        measures=("calibration_intercept",),
        judged_on="difference",
        threshold=0.1,
        aliases={"calibration_intercept_difference": {"judged_on": "difference"}},
        abbreviations={"calibration_intercept": "calibration_intercept_parity"},
        question="At a score of one half, are labels positive equally often in each group?",
        formula="α_a equal for all groups a, in logit P(Y=1 | S, A=a) = α_a + b_a logit S",
        compares=(
            "The intercept of the same logistic regression as the calibration slope, within each group: the log odds "
            "of a positive label at a score of one half. At 0 they are even, as the score says."
        ),
        when=(
            "Use it together with the slope, where the whole line of each group is to be compared. For whether scores "
            "are too high on the whole, take calibration in the large, which does not move with the slope."
        ),
        assumes=(
            "As the slope: a probability, a logit line that is about right, and labels that are true in every group."
            " In addition, that a score of one half is within reach of the groups."
        ),
        harm=("quality of service",),
        limits=(
            "Where most scores lie far from one half, it is an extrapolation, and its interval is wide. A gap may "
            "come from the slopes alone. It is on the scale of log odds, where 0.1 is about 2.5 points at one half."
        ),
        sources=(_COX, _CALSTER),
        see_also=("calibration_slope_parity", "calibration_in_the_large_parity", "calibration"),
    ),
    Metric(
        name="calibration_in_the_large_parity",
        title="calibration-in-the-large parity",
        family="lending",
        measures=("calibration_in_the_large",),
        judged_on="difference",
        threshold=0.1,
        aliases={"calibration_in_the_large_difference": {"judged_on": "difference"}},
        abbreviations={"calibration_in_the_large": "calibration_in_the_large_parity"},
        question="Are scores too high, or too low, on the whole to the same degree in each group?",
        formula="α_a equal for all groups a, in logit P(Y=1 | S, A=a) = α_a + logit S",
        compares=(
            "By how much the log odds of each group's scores would have to be moved for their mean to agree with its "
            "labels. At 0 they agree; above 0 the group is scored too low, below 0 too high."
        ),
        when=(
            "Use it as the first question about calibration: does the predicted number of defaults come true in each "
            "group? It needs fewer people than calibration by bins, and has a direction."
        ),
        assumes=(
            "That the score is a probability. That labels are true in every group, and there for everyone who has a "
            "score."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "Scores that are too high for some and too low for others cancel: see the slope and calibration by bins. "
            "It is on the scale of log odds, where 0.1 is about 2.5 points at one half and half a point at 5 %."
        ),
        sources=(_COX, _CALSTER),
        see_also=("calibration", "calibration_slope_parity", "actual_to_expected_parity"),
    ),
    Metric(
        name="net_benefit_parity",
        title="net benefit parity",
        family="lending",
        measures=("net_benefit",),
        judged_on="difference",
        threshold=0.1,
        aliases={"net_benefit_difference": {"judged_on": "difference"}},
        abbreviations={"net_benefit": "net_benefit_parity"},
        question="Is deciding by the score worth as much in each group, at the price that the cutoff sets?",
        formula="TP_a/n_a − FP_a/n_a · t/(1 − t) equal for all groups a, at the cutoff t",
        compares=(
            "The share of a group that is rightly selected, less the share that is wrongly selected at a price of "
            "t/(1 − t): whoever selects at a risk of t takes so many wrong selections for one right one. It needs "
            "`score` and `cutoff`."
        ),
        when=(
            "Use it where the cutoff was chosen for what errors cost, and the question is whom the decision serves. "
            "Compare it with the base rate less its price, which selecting everybody would bring."
        ),
        assumes=(
            "That the score is a probability and the cutoff says what errors cost, alike for everyone. That labels "
            "are known for those who were refused as well."
        ),
        harm=("quality of service",),
        limits=(
            "It cannot exceed the base rate, so that groups with fewer positives have less to gain; a gap may show "
            "nothing else. It prices errors from the side of whoever decides, not of those decided about."
        ),
        sources=(
            "Vickers, A. J., & Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction "
            "models. Medical Decision Making, 26(6).",
        ),
        see_also=("calibration", "equalized_odds", "predictive_parity"),
        example=_NET_BENEFIT,
    ),
    Metric(
        name="actual_to_expected_parity",
        title="actual-to-expected parity",
        family="lending",
        measures=("actual_to_expected",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "actual_to_expected_difference": {"judged_on": "difference"},
            "actual_to_expected_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"actual_to_expected": "actual_to_expected_parity", "a_to_e": "actual_to_expected_parity"},
        question="Is what happens as much as was predicted, to the same degree in each group?",
        formula="Σ Y / Σ f equal for all groups, with exposure x: Σ Y / Σ f·x",
        compares=(
            "The sum of labels over the sum of predictions in each group: above 1 there was more than expected, and "
            "the group was predicted too low. With `exposure`, the label counts events and the prediction is events "
            "for each unit. The table of deciles of the prediction shows where a gap lies."
        ),
        when=(
            "Use it for claims, deaths, defaults in money or hours: wherever a total is predicted and must come true. "
            "Actuaries file it by group and by decile."
        ),
        assumes=(
            "That labels are recorded alike and in full; claims that are still open make a young group look better. "
            "With exposure, events are taken to vary at least as a Poisson count does."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Predictions that are too high for some and too low for others in one group cancel. A few large claims "
            "decide a total of amounts. It has no interval where rows belong together (`cluster`), because sums over "
            "clusters of amounts are not kept."
        ),
        sources=(_GARWOOD,),
        see_also=("mean_residual_parity", "calibration_in_the_large_parity", "ordered_gini_parity"),
    ),
)
