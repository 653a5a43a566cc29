"""The data itself: how do the groups differ before any decision is made?

Nothing here is about a model. What is found is a fact about the labels and about who is in the data, and it
decides which of the other criteria can hold together.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="base_rate_parity",
        title="base rate parity",
        family="data",
        measures=("base_rate",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "label_parity": {},
            "base_rate_difference": {"judged_on": "difference"},
            "base_rate_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"dpl": "base_rate_parity", "base_rate": "base_rate_parity"},
        question="Is the label positive equally often in each group?",
        formula="P(Y=1 | A=a) equal for all groups a",
        compares=(
            "The base rate: the share of each group with a positive label. No prediction is needed. It "
            "describes the data that a model learns from or is judged by, and not the model."
        ),
        when=(
            "Look at it first, before training and before choosing a criterion. If base rates are equal, "
            "demographic parity, equalized odds and equal predictive values can hold together. If they are "
            "not, a choice is needed. Where the label is itself a decision, such as an earlier hiring or "
            "grading, this is demographic parity of those who decided then."
        ),
        assumes=(
            "That the label records the same thing in every group. A difference can be real, or come from "
            "how the label was made: arrests follow patrols, spending on health follows access to care, and "
            "marks follow the marker. It also depends on who is in the data. If one group had to pass a "
            "stricter gate to be recorded at all, its base rate is flattered."
        ),
        harm=("allocation",),
        limits=(
            "A gap does not show bias and no gap does not exclude it; the numbers alone cannot tell a true "
            "difference from a biased label. A threshold is a prompt to ask where the label comes from, and "
            "no reason to change the data. Reweighing the data until the rates agree changes what a model "
            "learns, and leaves the world and the label as they were."
        ),
        sources=(
            "Kamiran, F., & Calders, T. (2012). Data preprocessing techniques for classification without "
            "discrimination. Knowledge and Information Systems, 33(1).",
            "Kleinberg, J., Mullainathan, S., & Raghavan, M. (2017). Inherent trade-offs in the fair "
            "determination of risk scores. Innovations in Theoretical Computer Science (ITCS).",
            "Obermeyer, Z., Powers, B., Vogeli, C., & Mullainathan, S. (2019). Dissecting racial bias in an "
            "algorithm used to manage the health of populations. Science, 366(6464).",
        ),
        see_also=("demographic_parity", "equalized_odds", "predictive_parity"),
        core=True,
    ),
    Metric(
        name="representation",
        title="representation",
        family="data",
        judged_on="ratio",
        threshold=None,
        counted=False,
        question="Is each group as large a part of the data as it is expected to be?",
        formula="(n_a / n) / e_a ≥ threshold for every group a, with expected shares e_a that add up to 1",
        compares=(
            "The share of each group among the people in the data, divided by its share in a benchmark, such as a "
            "census or the pool of applicants. The lowest ratio is judged, if a threshold is given; by "
            "judged_on='difference' the largest difference is. Beside it stand z, the exact binomial test, "
            "chi-square of the whole, the skew, which is the logarithm of the ratio, and the class imbalance."
        ),
        when=(
            "Use it before anything is trained or audited: to see whether the data holds the people whom a model "
            "will decide about, and after selections, to compare who was hired or summoned with who could have "
            "been. It needs neither a label nor a decision."
        ),
        assumes=(
            "That the benchmark is the right population: the census of a city is not the pool of those who are "
            "qualified and interested. Its shares are taken as known without error, and the people in the data as "
            "drawn from it independently of each other."
        ),
        harm=("allocation",),
        limits=(
            "The right shares do not make the rest right: labels can be biased and groups can be too small to "
            "learn from. Where selection is from a small pool, tests by the binomial are somewhat too cautious. A "
            "group that the benchmark does not name cannot be compared."
        ),
        sources=(
            "Supreme Court of the United States (1977). Castaneda v. Partida. 430 U.S. 482, note 17.",
            "Supreme Court of the United States (1977). Hazelwood School District v. United States. 433 U.S. 299.",
            "Geyik, S. C., Ambler, S., & Kenthapadi, K. (2019). Fairness-aware ranking in search and recommendation "
            "systems with application to LinkedIn talent search. ACM SIGKDD Conference on Knowledge Discovery and "
            "Data Mining (KDD).",
        ),
        see_also=("base_rate_parity", "disparate_impact"),
        example="""
import evenhand as eh

jurors = {"group": ["Mexican-American", "other"], "summoned": [339, 531]}

finding = eh.representation(
    jurors, count="summoned", benchmark={"group": {"Mexican-American": 0.791, "other": 0.209}}, threshold=0.8
)
print(finding)
finding""",
    ),
    Metric(
        name="explain",
        title="composition of a gap",
        family="data",
        judged_on="value",
        threshold=None,
        counted=False,
        question="How much of a gap is where people are, and how much is what happens to people in the same place?",
        formula="Σ_s (a_s − b_s) · (r_s + q_s)/2, with shares a, b and rates r, q of two groups in strata s",
        compares=(
            "Two groups over the strata of one column or several, such as departments. The value is the composition "
            "effect: the gap that there would be if people of both groups fared alike in each stratum and only their "
            "shares in the strata differed. The rest of the gap is the effect of rates in the same stratum, and what "
            "strata with one of the groups only add to it. Several columns share the composition effect by Shapley's "
            "value."
        ),
        when=(
            "Use it after a gap was found, to see where it arises: who applies where, who lives where, or how people "
            "are decided on who are in the same place. With bins of a risk score as strata the effect of rates is the "
            "risk-adjusted gap."
        ),
        assumes=(
            "That the strata are comparable in what matters, so that people in one of them would fare alike without "
            "unequal treatment. That people are independent of each other. Shares count in the denominator of the "
            "measure: for a true positive rate those of people with a positive label."
        ),
        harm=("allocation",),
        limits=(
            "It describes and does not excuse: where people are may itself come from unequal treatment, and a column "
            "that is a stand-in for the group explains everything. It is not a causal effect. Strata with one of the "
            "groups cannot be compared, and fine strata make more of them. It has no threshold and no verdict."
        ),
        sources=(
            "Kitagawa, E. M. (1955). Components of a difference between two rates. Journal of the American Statistical "
            "Association, 50(272).",
            "Ñopo, H. (2008). Matching as a tool to decompose wage gaps. Review of Economics and Statistics, 90(2).",
            "Shapley, L. S. (1953). A value for n-person games. Contributions to the Theory of Games II, Princeton "
            "University Press.",
        ),
        see_also=("demographic_parity", "base_rate_parity", "proxies"),
        example="""
import evenhand as eh

admissions = eh.datasets.berkeley()
finding = eh.explain(
    admissions, prediction="admitted", sensitive="gender", control="department", count="count"
)
print(finding)
finding""",
    ),
)
