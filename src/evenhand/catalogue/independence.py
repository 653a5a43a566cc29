"""Independence: does the decision depend on the group?

These metrics look at decisions only. They need no label, so they also work for human decisions and for
decisions whose label nobody will ever see. They cannot say whether a decision was right. Bias amplification alone
needs labels: it asks whether decisions set groups farther apart than labels did.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures import entropy
from evenhand.measures.indices import CellIndex, DisparityIndex, LogRatioIndex

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="demographic_parity",
        title="demographic parity",
        family="independence",
        measures=("selection_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "statistical_parity": {},
            "statistical_parity_difference": {"judged_on": "difference"},
            "demographic_parity_difference": {"judged_on": "difference"},
            "demographic_parity_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "selection_rate_difference": {"judged_on": "difference"},
            "selection_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={
            "dppl": "demographic_parity",
            "dp": "demographic_parity",
            "sp": "statistical_parity",
            "spd": "statistical_parity_difference",
            "dpd": "demographic_parity_difference",
            "dpr": "demographic_parity_ratio",
            "selection_rate": "demographic_parity",
        },
        question="Is each group selected equally often?",
        formula="P(Ŷ=1 | A=a) equal for all groups a",
        compares=(
            "The selection rate: the share of each group that gets the positive decision. The label plays no "
            "part. The default threshold of 0.1 is a convention, not a finding of science or of law."
        ),
        when=(
            "Use it when the decision hands out something that every group should receive in the same "
            "proportion: who sees a job advert, who is invited to apply, who gets a place by lottery. It is "
            "also the metric that remains when there is no label, or when the label cannot be trusted "
            "because it records earlier discrimination. Add a control column when groups apply for different "
            "things: a gap overall can vanish, or change its direction, within departments."
        ),
        assumes=(
            "That the groups ought to be selected at the same rate. This is a moral position, and the data "
            "cannot confirm it: it fits when the groups do not differ in what matters, or when they differ "
            "because of a wrong that should not be carried on. It also assumes that the rows are the people "
            "who could have been selected. If some were turned away or put off before they were recorded, "
            "the rate is too high for their group."
        ),
        harm=("allocation",),
        limits=(
            "It cannot see who in a group is selected. Picking the qualified in one group and anyone at all "
            "in another passes. When base rates differ, a perfect predictor fails it, and it can hold "
            "together with equalized odds only if the decision carries no information about the label. Nor "
            "can it then hold together with conditional use accuracy equality."
        ),
        sources=(
            "Calders, T., Kamiran, F., & Pechenizkiy, M. (2009). Building classifiers with independency "
            "constraints. IEEE International Conference on Data Mining Workshops.",
            "Dwork, C., Hardt, M., Pitassi, T., Reingold, O., & Zemel, R. (2012). Fairness through "
            "awareness. Innovations in Theoretical Computer Science (ITCS).",
            "Barocas, S., Hardt, M., & Narayanan, A. (2023). Fairness and Machine Learning: Limitations and "
            "Opportunities. MIT Press.",
        ),
        see_also=("disparate_impact", "differential_fairness", "equal_opportunity", "base_rate_parity"),
        holds_equal=("selection rate",),
        core=True,
    ),
    Metric(
        name="disparate_impact",
        title="disparate impact",
        family="independence",
        measures=("selection_rate",),
        judged_on="ratio",
        threshold=0.8,
        one_sided=True,
        aliases={
            "disparate_impact_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "four_fifths": {},
            "impact_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "adverse_impact_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"di": "disparate_impact", "air": "adverse_impact_ratio"},
        question="Is any group selected less than four fifths as often as another?",
        formula="P(Ŷ=1 | A=a) / P(Ŷ=1 | A=b) ≥ 0.8 for every group a; b: the reference, or the highest",
        compares=(
            "The selection rate of each group, divided by the highest rate or by the rate of the reference. "
            "It is judged on one side: against a reference, only a group that is selected less often counts "
            "against the result. Demographic parity compares the same rates and looks both ways."
        ),
        when=(
            "Use it to screen hiring, promotion or other selection in US employment, where enforcement "
            "agencies use this ratio as a first look. Use it elsewhere only if whoever reads the result "
            "knows that the figure 0.8 was borrowed. A ratio suits rare selections, where a small difference "
            "can still mean that one group has half the chance of another."
        ),
        assumes=(
            "That the positive decision is the favourable one. If it is a burden, such as being flagged, the "
            "group that this ratio protects is the wrong one. The rows must be the people who applied, and "
            "each must have had a real chance. People who were discouraged from applying are not counted."
        ),
        harm=("allocation",),
        limits=(
            "The four-fifths rule comes from the US Uniform Guidelines on Employee Selection Procedures of "
            "1978. It belongs to US employment law, where it is a rule of thumb of the enforcement agencies "
            "and not a legal definition: a smaller gap can still be unlawful, and a larger one can be "
            "justified. It is often misapplied to other fields and countries, where it has no standing. "
            "The ratio is unstable when few people are selected. Counting the unselected instead gives "
            "another ratio: 98% against 99% is 0.99, and the same people counted as refused give 0.5."
        ),
        sources=(
            "Equal Employment Opportunity Commission, Civil Service Commission, Department of Labor, & "
            "Department of Justice (1978). Uniform Guidelines on Employee Selection Procedures. 29 CFR "
            "1607.4(D).",
            "Feldman, M., Friedler, S. A., Moeller, J., Scheidegger, C., & Venkatasubramanian, S. (2015). "
            "Certifying and removing disparate impact. ACM SIGKDD Conference on Knowledge Discovery and Data "
            "Mining (KDD).",
            "Watkins, E. A., McKenna, M., & Chen, J. (2022). The four-fifths rule is not disparate impact: a "
            "woeful tale of epistemic trespassing in algorithmic fairness. arXiv:2202.09519.",
        ),
        see_also=("demographic_parity", "differential_fairness", "equal_opportunity"),
        holds_equal=("selection rate",),
        core=True,
    ),
    Metric(
        name="differential_fairness",
        title="differential fairness",
        family="independence",
        index=LogRatioIndex(entropy.differential_fairness, needs=("prediction",), options={"concentration": 1.0}),
        judged_on="value",
        threshold=None,
        aliases={"smoothed_empirical_differential_fairness": {}},
        abbreviations={"edf": "differential_fairness"},
        question="How far apart can the chances of any two groups be, for either decision?",
        formula=(
            "ε = max over decisions y and groups a, b of | ln P(Ŷ=y | A=a) − ln P(Ŷ=y | A=b) |, "
            "with P(Ŷ=y | A=a) = (count + c/2) / (n + c) and concentration c = 1"
        ),
        compares=(
            "The chance of each decision, positive and negative, in each pair of groups, on a logarithmic "
            "scale. The result is the largest gap: 0 means equal chances, and no ratio of chances is more "
            "extreme than e^ε. An ε of 0.22 corresponds to four fifths. The rates are smoothed with a "
            "Dirichlet prior, so that a group with no selection at all still has a finite value."
        ),
        when=(
            "Use it for intersections of several attributes, where many groups are small and plain ratios "
            "run into zeros. In the population, a value found for the intersections also bounds each "
            "attribute alone. Use it to compare two versions of a process on the same groups, since there is "
            "no agreed threshold."
        ),
        assumes=(
            "As for demographic parity, that groups ought to be treated in the same proportions, whatever "
            "their labels. The smoothing assumes that half an observation of each decision (c/2) is a "
            "harmless addition to every group. For a group of five people it is not. Weights count as their "
            "effective number of people. The people recorded "
            "must be the people the process decides about."
        ),
        harm=("allocation",),
        limits=(
            "One number for the worst pair says nothing of all the others. It tends to grow with the number "
            "of groups by chance alone, and smoothing pulls small groups towards even odds, so compare "
            "values only between audits with the same groups and similar sizes. It cannot see whether "
            "decisions were right, and shares demographic parity's conflicts with equalized odds and with "
            "predictive values when base rates differ."
        ),
        sources=(
            "Foulds, J. R., Islam, R., Keya, K. N., & Pan, S. (2020). An intersectional definition of "
            "fairness. IEEE International Conference on Data Engineering (ICDE).",
        ),
        see_also=("demographic_parity", "disparate_impact"),
    ),
    Metric(
        name="conditional_demographic_disparity",
        title="conditional demographic disparity",
        family="independence",
        index=DisparityIndex(needs=("prediction",)),
        judged_on="value",
        threshold=None,
        aliases={"demographic_disparity": {}},
        abbreviations={"cdd": "conditional_demographic_disparity", "cddpl": "conditional_demographic_disparity"},
        question="Does a group make up more of the refused than of the selected, among people who are alike?",
        formula="Σ_s n_s/n · [P(A=a | Ŷ=0, S=s) − P(A=a | Ŷ=1, S=s)], the largest of any group a, over strata s",
        compares=(
            "The share of each group among the refused with its share among the selected, within each stratum of "
            "`control` and averaged over strata by their people. Without a control it is the plain demographic "
            "disparity. The largest value of any group is judged; its interval allows for all groups."
        ),
        when=(
            "Use it where strata explain part of a gap, as departments did at Berkeley, and one figure is wanted for "
            "what is left within them. It was proposed as a baseline for cases under European non-discrimination law, "
            "and Amazon SageMaker Clarify reports it."
        ),
        assumes=(
            "That the strata are legitimate reasons to decide differently, and not themselves the result of unequal "
            "treatment. That every stratum has people of both decisions; others tell nothing and are left out."
        ),
        harm=("allocation",),
        limits=(
            "Its size depends on how large a group is: the shares of a small group are small, and so are their "
            "differences. Compare it between models, not between groups of different sizes. Disparities of opposite "
            "sign in two strata cancel; the metrics of selection rates judge the worst stratum instead."
        ),
        sources=(
            "Wachter, S., Mittelstadt, B., & Russell, C. (2021). Why fairness cannot be automated: Bridging the gap "
            "between EU non-discrimination law and AI. Computer Law & Security Review, 41.",
            "Das, S., et al. (2021). Fairness measures for machine learning in finance. The Journal of Financial Data "
            "Science, 3(4).",
        ),
        see_also=("demographic_parity", "disparate_impact"),
    ),
    Metric(
        name="bias_amplification",
        title="bias amplification",
        family="independence",
        index=CellIndex(entropy.bias_amplification, needs=("label", "prediction"), named=True),
        judged_on="value",
        threshold=None,
        question="Do decisions set groups farther apart than the labels did?",
        formula=("mean over groups a of ±[P(Ŷ=1 | A=a) − P(Y=1 | A=a)], + where P(Y=1 | A=a) > P(Y=1), − elsewhere"),
        compares=(
            "The selection rate of each group with its base rate. A group that has positive labels more often than "
            "everyone adds what it is selected beyond them; any other group adds what it is selected less. Above 0 "
            "decisions exaggerate what labels show, below 0 they even it out."
        ),
        when=(
            "Use it to ask whether a model adds to an unevenness that it was trained on. The gaps in labels and in "
            "decisions stand beside it."
        ),
        assumes=(
            "That labels are right: where they carry past discrimination, a value of 0 repeats it. That "
            "labels are known for those who were refused as well."
        ),
        harm=("allocation",),
        limits=(
            "It looks at rates and not at people: a model may decide about the wrong ones. Where base rates hardly "
            "differ, which side a group is on is left to chance. A model that selects more people than have positive "
            "labels, in all groups alike, shows up only where groups on one side outnumber those on the other."
        ),
        sources=(
            "Wang, A., & Russakovsky, O. (2021). Directional bias amplification. International Conference on Machine "
            "Learning (ICML), PMLR 139.",
            "Zhao, J., Wang, T., Yatskar, M., Ordonez, V., & Chang, K.-W. (2017). Men also like shopping: Reducing "
            "gender bias amplification using corpus-level constraints. Empirical Methods in Natural Language "
            "Processing (EMNLP).",
        ),
        see_also=("demographic_parity", "base_rate_parity", "conditional_acceptance_parity"),
    ),
)
