"""Calibration: does a score mean what it says, and the same in every group?

These metrics fix the score and look at what happened, bin by bin. They belong to the family of the scores; when base
rates differ they exclude balance, which fixes what happened and looks at the score.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

_CHOULDECHOVA = (
    "Chouldechova, A. (2017). Fair prediction with disparate impact: A study of bias in recidivism "
    "prediction instruments. Big Data, 5(2)."
)
_KLEINBERG = (
    "Kleinberg, J., Mullainathan, S., & Raghavan, M. (2017). Inherent trade-offs in the fair determination "
    "of risk scores. Innovations in Theoretical Computer Science (ITCS)."
)
_MISMEASURE = (
    "Corbett-Davies, S., & Goel, S. (2018). The measure and mismeasure of fairness: A critical review of "
    "fair machine learning. arXiv:1808.00023."
)
_NAEINI = (
    "Naeini, M. P., Cooper, G. F., & Hauskrecht, M. (2015). Obtaining well calibrated probabilities using "
    "Bayesian binning. AAAI Conference on Artificial Intelligence."
)
_PLEISS = (
    "Pleiss, G., Raghavan, M., Wu, F., Kleinberg, J., & Weinberger, K. Q. (2017). On fairness and calibration. "
    "Advances in Neural Information Processing Systems (NeurIPS)."
)
_ROELOFS = (
    "Roelofs, R., Cain, N., Shlens, J., & Mozer, M. C. (2022). Mitigating bias in calibration error estimation. "
    "International Conference on Artificial Intelligence and Statistics (AISTATS), PMLR 151."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="calibration",
        title="calibration",
        family="scores",
        binned=True,
        judged_on="difference",
        threshold=0.1,
        aliases={"calibration_within_groups": {}, "calibration_by_bin": {}},
        question="Does the same score stand for the same chance in every group?",
        formula=(
            "P(Y=1 | S in bin, A=a) equal for all groups a and every bin; each bin holds its lower edge, and the "
            "last its upper edge too"
        ),
        compares=(
            "The observed rate, the share with a positive label, of people whose scores fall in the same bin. "
            "There is a gap between groups for every bin, and the largest is judged. The gap in observed rate "
            "minus mean score is shown too: it takes out that groups stand at different places within a bin, and "
            "is close to 0 when the score is calibrated in each group. Calibration within groups, in the strict "
            "sense, asks for this second thing, that each rate equal the score itself."
        ),
        when=(
            "Use it when people act on the number: a doctor who reads 30%, a judge who reads 7 of 10, a bank that "
            "prices by risk. If 0.3 means three chances in ten for one group and two for another, whoever "
            "relies on it treats the two differently without knowing. It is sufficiency put to the score, and so "
            "asks for more than predictive parity, which looks at one cutoff."
        ),
        assumes=(
            "That there is a true label for people at every score, in every group alike; often only those on one "
            "side of a cutoff have one (selective labels). A label that counts arrests or spending makes a score "
            "calibrated to arrests or spending. That the bins are fine enough for people within one to be treated "
            "alike, and coarse enough to hold people of every group."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Even a perfectly calibrated score shows gaps of a few points in ordinary bins, because groups are "
            "composed differently inside a bin: look at the gap in observed rate minus mean score before "
            "believing one. The largest gap of many bins needs much data: at the default threshold a pass takes "
            "thousands of people in each group, and 2,000 are seldom enough. When base rates differ, calibration "
            "excludes balance for both classes unless prediction is perfect. A score can be calibrated and still "
            "leave out, by choice or by neglect, what would tell the people of one group apart."
        ),
        sources=(_CHOULDECHOVA, _KLEINBERG, _MISMEASURE),
        see_also=("calibration_error_parity", "predictive_parity", "overall_balance", "brier_score_parity"),
        holds_equal=("calibration",),
        core=True,
    ),
    Metric(
        name="calibration_error_parity",
        title="calibration error parity",
        family="scores",
        measures=("expected_calibration_error",),
        judged_on="difference",
        threshold=0.1,
        abbreviations={"ece": "calibration_error_parity", "expected_calibration_error": "calibration_error_parity"},
        question="Is the score equally far from the observed rates in each group?",
        formula="Σ_b n_b/n · | P(Y=1 | S in bin b, A=a) − E[S | S in bin b, A=a] | equal for all groups a",
        compares=(
            "The expected calibration error of each group: in every bin the distance between the share of "
            "positive labels and the mean score, averaged over the people of the group. It is 0 when the score "
            "can be taken at its word. Unlike calibration, it sets each group against the score and then the "
            "errors against each other."
        ),
        when=(
            "Use it when the score is read as a probability and you want one figure of how far it can be trusted "
            "for each group. A gap often means that one group was rare when the score was calibrated. Look at the "
            "error of each group and not only at the gap, since two large errors are as equal as two small ones."
        ),
        assumes=(
            "That the score is meant as a probability, from 0 to 1. That the label is true and present for people "
            "at every score. That too high and too low are equally bad, and that an error in a crowded bin "
            "matters more than one in a bin with few people."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "The estimate is biased upwards, the more so the fewer people there are: a perfectly calibrated score "
            "in ten bins shows about 0.10 for 100 people, 0.03 for 1,000 and 0.01 for 10,000. A small group "
            "therefore looks worse served than a large one; the interval allows for it, the plain gap does not. "
            "The direction is lost: too high for one group and too low for another can be a gap of 0. It changes "
            "with the bins, so compare only values from the same ones."
        ),
        sources=(_NAEINI, _ROELOFS, _PLEISS),
        see_also=("maximum_calibration_error_parity", "calibration", "brier_score_parity", "log_loss_parity"),
    ),
    Metric(
        name="maximum_calibration_error_parity",
        title="maximum calibration error parity",
        family="scores",
        measures=("maximum_calibration_error",),
        judged_on="difference",
        threshold=0.1,
        abbreviations={"mce": "maximum_calibration_error_parity"},
        question="Is the score, where it is farthest from the observed rates, equally far in each group?",
        formula="max_b | P(Y=1 | S in bin b, A=a) − E[S | S in bin b, A=a] | equal for all groups a",
        compares=(
            "The maximum calibration error of each group: the distance between the share of positive labels and the "
            "mean score in the bin where it is largest. It is 0 when the score can be taken at its word everywhere. "
            "Bins with fewer than 10 people of a group do not count for it."
        ),
        when=(
            "Use it where one bad region of the score is bad enough: a cutoff will be chosen later, or each range of "
            "scores leads to another treatment. The expected calibration error weighs bins by people and can hide a "
            "sparse one; this one cannot. Read both, and calibration for where it is."
        ),
        assumes=(
            "That the score is meant as a probability, from 0 to 1. That the label is true and present for people at "
            "every score. That the worst bin matters however few people are in it, as long as there are 10."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "The largest of several noisy distances is biased upwards, the more so the smaller the group: a perfectly "
            "calibrated score in ten bins shows about 0.2 for 100 people, 0.08 for 1,000 and 0.025 for 10,000. The "
            "interval allows for it and is wide for small groups; the plain gap does not. Different groups may have "
            "their largest error in different bins, and one too high, the other too low, can be a gap of 0. It changes "
            "with the bins."
        ),
        sources=(_NAEINI, _ROELOFS, _PLEISS),
        see_also=("calibration_error_parity", "calibration", "brier_score_parity"),
    ),
)
