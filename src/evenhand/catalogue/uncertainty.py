"""Uncertainty metrics, a part of the family `stability`.

How much of the doubt about a person comes from the label (aleatoric), and how much from the choice of the model
(epistemic). Entropies are in bits; one metric has the form of a variance.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.catalogue.stability import RATIO, SERVICE, dimension, example

_DEPEWEG = (
    "Depeweg, S., Hernández-Lobato, J. M., Doshi-Velez, F., & Udluft, S. (2018). Decomposition of uncertainty in "
    "Bayesian deep learning for efficient and risk-sensitive learning. International Conference on Machine Learning "
    "(ICML)."
)
_WIMMER = (
    "Wimmer, L., Sale, Y., Hofman, P., Bischl, B., & Hüllermeier, E. (2023). Quantifying aleatoric and epistemic "
    "uncertainty in machine learning: Are conditional entropy and mutual information appropriate measures? "
    "Uncertainty in Artificial Intelligence (UAI). PMLR 216."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="overall_uncertainty_difference",
        title="overall uncertainty",
        family="stability",
        measures=(dimension("overall_uncertainty", "overall uncertainty", "bits"),),
        judged_on="difference",
        threshold=0.1,
        aliases={"overall_uncertainty_ratio": RATIO},
        question="Is the label as uncertain in each group, to the replicas taken together?",
        formula="E[H₂(mean of p over replicas) | A=a] equal for all groups a, in bits",
        compares=(
            "The entropy of each person's mean prediction: 0 bits where the replicas together are sure and 1 bit "
            "where they say one half. The mean over the people of each group is compared. It is the sum of the "
            "aleatoric and the epistemic uncertainty."
        ),
        when=(
            "Use it to see for whom a decision could as well have gone the other way, whatever the reason. Then look "
            "at its two parts: they say whether more data, or only better features, would help."
        ),
        assumes=(
            "That the probabilities are calibrated, in each group, as far as they are read as degrees of doubt. That "
            "the entropy is the right scale for doubt."
        ),
        harm=SERVICE,
        limits=(
            "Base rates move it: a group in which nearly everyone repays is less uncertain, through no fault of the "
            "model. A model that is sure and wrong has none. It cannot see features that nobody recorded."
        ),
        sources=(_DEPEWEG, _WIMMER),
        see_also=("aleatoric_uncertainty_difference", "epistemic_uncertainty_difference"),
        counted=False,
        example=example("overall_uncertainty_difference"),
    ),
    Metric(
        name="aleatoric_uncertainty_difference",
        title="aleatoric uncertainty",
        family="stability",
        measures=(dimension("aleatoric_uncertainty", "aleatoric uncertainty", "bits"),),
        judged_on="difference",
        threshold=0.1,
        aliases={"aleatoric_uncertainty_ratio": RATIO},
        question="Is the doubt that each replica has by itself as large in each group?",
        formula="E[mean of H₂(p) over replicas | A=a] equal for all groups a, in bits",
        compares=(
            "The entropy of what a single replica says of a person, as a mean over the replicas and then over the "
            "people of each group. It is the doubt that remains once the model is fixed: with these features the "
            "label cannot be known better."
        ),
        when=(
            "Use it to ask whether the features tell as much about one group as about another. Where it is high for a "
            "group, more rows of the same kind do not help; other features may. It is the part of the overall "
            "uncertainty that is left when the epistemic part is taken away."
        ),
        assumes=(
            "That each replica's probabilities are calibrated: an overconfident model has little of it. That the same "
            "features were recorded equally well for each group."
        ),
        harm=SERVICE,
        limits=(
            "What a model cannot explain is not always chance: features that were left out, or measured badly for one "
            "group, look the same. It depends on the kind of model, so two models may split the same doubt "
            "differently. Base rates move it."
        ),
        sources=(_DEPEWEG, _WIMMER),
        see_also=("epistemic_uncertainty_difference", "overall_uncertainty_difference"),
        counted=False,
        example=example("aleatoric_uncertainty_difference"),
    ),
    Metric(
        name="epistemic_uncertainty_difference",
        title="epistemic uncertainty",
        family="stability",
        measures=(dimension("epistemic_uncertainty", "epistemic uncertainty", "bits"),),
        judged_on="difference",
        threshold=None,
        aliases={"epistemic_uncertainty_ratio": RATIO},
        question="Do the replicas disagree with each other as much about each group?",
        formula="E[H₂(mean of p) − mean of H₂(p) | A=a] equal for all groups a, over replicas, in bits",
        compares=(
            "The mutual information of a person's label and the choice of the replica: the overall uncertainty less "
            "the aleatoric one. The mean over the people of each group is compared. It is 0 where all replicas say "
            "the same, and often a few hundredths of a bit, so no threshold is set on the difference."
        ),
        when=(
            "Use it to find groups that the model knows least about because it has seen few like them. More data on "
            "such a group is the remedy that it points to. Judge it as a ratio, or give a threshold of your own."
        ),
        assumes=(
            "That the replicas vary as the knowledge about the model does: fits to bootstrap samples do so roughly, "
            "seeds alone do so less. That all values come from the same number of replicas, for it grows with it by a "
            "factor of about 1 − 1/B."
        ),
        harm=SERVICE,
        limits=(
            "It is blind to what all replicas have in common: a wrong label, a missing feature, a kind of model that "
            "does not fit. Virny computes it in this way, although its text describes variances; for those see "
            "epistemic_variance_difference."
        ),
        sources=(_DEPEWEG, _WIMMER),
        see_also=("epistemic_variance_difference", "aleatoric_uncertainty_difference", "label_stability_difference"),
        counted=False,
        example=example("epistemic_uncertainty_difference"),
    ),
    Metric(
        name="epistemic_variance_difference",
        title="epistemic variance",
        family="stability",
        measures=(dimension("epistemic_variance", "epistemic variance"),),
        judged_on="difference",
        threshold=None,
        aliases={"epistemic_variance_ratio": RATIO},
        question="Does the replicas' disagreement make up as much of the variance of a label in each group?",
        formula="E[Var(p) over replicas | A=a] equal for all groups a, with B in the denominator",
        compares=(
            "The variance of a person's predicted probability over the replicas, as a mean over the people of each "
            "group. By the law of total variance it is what is left of p̄(1 − p̄) when the mean of p(1 − p) is taken "
            "away, just as epistemic uncertainty is a difference of entropies."
        ),
        when=(
            "Use it where the variance form of the decomposition is wanted: it weighs disagreement near one half and "
            "near the ends alike, where the entropy weighs the ends more. It is also the part of the Brier score that "
            "averaging more replicas takes away."
        ),
        assumes=(
            "That the replicas vary as the knowledge about the model does. That all values come from the same number "
            "of replicas, because the denominator is B and not B − 1, so that the parts add up."
        ),
        harm=SERVICE,
        limits=(
            "Values are small, at most 0.25 and often below 0.01, so no threshold is set: judge the ratio, or give a "
            "threshold. It is blind to what all replicas have in common."
        ),
        sources=(_DEPEWEG,),
        see_also=("epistemic_uncertainty_difference", "std_difference"),
        counted=False,
        example=example("epistemic_variance_difference"),
    ),
)
