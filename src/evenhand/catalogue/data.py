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
        abbreviations={"base_rate": "base_rate_parity"},
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
)
