"""Stability metrics: do the predictions for some groups vary more between replicas of a model than those for others?

Two models that were trained on two samples of the same data may agree about one group and disagree about another.
These metrics need many replicas of a model, so an audit of counts does not compute them: `evenhand.stability` does, and
each metric has its own function. Values depend on the number of replicas; compare only values from the same number.
The metrics that split uncertainty into parts are in `evenhand.catalogue.uncertainty`.
"""

from __future__ import annotations

from typing import NoReturn

from evenhand.catalogue.metric import Metric
from evenhand.errors import CallError
from evenhand.measures.row_measure import RowMeasure

RATIO = {"judged_on": "ratio", "threshold": 0.8}
SERVICE = ("quality of service",)

_EXAMPLE = """\
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
group = np.repeat(["north", "south"], 400)
spread = np.where(group == "south", 0.9, 0.3)  # replicas vary three times as much for the people of one group
logits = rng.normal(0, 1.5, 800) + spread * rng.normal(size=(50, 800))
replicas = 1 / (1 + np.exp(-logits))
label = (rng.random(800) < replicas.mean(axis=0)).astype(int)

print(eh.NAME(replicas, label=label, sensitive={"region": group}))
"""


def dimension(name: str, title: str, unit: str = "ratio", *, label: bool = False) -> RowMeasure:
    """The measure of a dimension of that name in `evenhand.replicas.dimensions`; `label` if it needs a label."""
    return RowMeasure(name, title, _not_from_rows, unit, frozenset({"label"} if label else ()))


def _not_from_rows(*_: object) -> NoReturn:
    raise CallError("this is measured on replicas of a model: call evenhand.stability() and add its findings.")


def example(name: str) -> str:
    """Code for the page of a metric: replicas of two groups, made up."""
    return _EXAMPLE.replace("NAME", name)


_COOPER = (
    "Cooper, A. F., Lee, K., Choksi, M. Z., Barocas, S., De Sa, C., Grimmelmann, J., Kleinberg, J., Sen, S., & Zhang, "
    "B. (2024). Arbitrariness and social prediction: The confounding role of variance in fair classification. AAAI "
    "Conference on Artificial Intelligence."
)
_DOMINGOS = (
    "Domingos, P. (2000). A unified bias-variance decomposition and its applications. International Conference on "
    "Machine Learning (ICML)."
)
_DARLING = (
    "Darling, M. C., & Stracuzzi, D. J. (2018). Toward uncertainty quantification for supervised classification. "
    "Sandia National Laboratories."
)
_HERASYMUK = (
    "Herasymuk, D., Arif Khan, F., & Stoyanovich, J. (2024). Responsible model selection with Virny and VirnyView. "
    "International Conference on Management of Data (SIGMOD)."
)
_KHAN = (
    "Khan, F. A., Herasymuk, D., & Stoyanovich, J. (2023). On fairness and stability: Is estimator variance a friend "
    "or a foe? arXiv:2302.04525."
)
_LIU = (
    "Liu, H., Avinesh, P. V. S., Patwardhan, S., Grasch, P., & Agarwal, S. (2022). Model stability with continuous "
    "data updates. arXiv:2201.05692."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="label_stability_difference",
        title="label stability",
        family="stability",
        measures=(dimension("label_stability", "label stability"),),
        judged_on="difference",
        threshold=0.1,
        aliases={"label_stability_ratio": RATIO},
        question="Do replicas of the model agree on what to decide as often for each group?",
        formula="E[|#1 − #0| / B | A=a] equal for all groups a, over B replicas",
        compares=(
            "The label stability of each person: how many more replicas say one thing than the other, as a share of "
            "all. It is 1 where all agree and 0 where they are split in halves. The mean over the people of each "
            "group is compared."
        ),
        when=(
            "Use it when a decision about a person should not hang on which rows happened to be sampled, or on the "
            "seed of a training run. The decision about a person with a stability near 0 is close to the toss of a "
            "coin, however exact the probability looks. It is the first figure to look at, because it is about "
            "decisions and not scores."
        ),
        assumes=(
            "That the replicas stand for the models that could have been built, such as fits to bootstrap samples of "
            "one data set. That they were made alike for all people. That all values come from the same number of "
            "replicas: at a probability of one half the mean stability is 0.18 with 20 replicas and 0.06 with 200."
        ),
        harm=SERVICE,
        limits=(
            "Stable is not right: replicas may agree on what is wrong. A group whose members all lie far from the "
            "cutoff is stable whatever the model is worth, so a gap may reflect where people stand and not how well "
            "the model knows them. It cannot see uncertainty that all replicas share, such as a label that was "
            "recorded wrongly."
        ),
        sources=(_DARLING, _KHAN, _COOPER),
        see_also=("jitter_difference", "epistemic_uncertainty_difference", "overall_accuracy_equality"),
        counted=False,
        example=example("label_stability_difference"),
    ),
    Metric(
        name="jitter_difference",
        title="jitter",
        family="stability",
        measures=(dimension("jitter", "jitter"),),
        judged_on="difference",
        threshold=0.1,
        aliases={"jitter_ratio": RATIO},
        question="Do two replicas of the model contradict each other as often in each group?",
        formula="E[2k(B − k) / (B(B − 1)) | A=a] equal for all groups a, with k of B replicas saying 1",
        compares=(
            "The jitter of each group: the share of its people whose decision changes when one replica takes the "
            "place of another, as a mean over all pairs of replicas. It is counted from the votes of each person and "
            "not pair by pair. Unlike label stability, its mean does not depend on how many replicas there are."
        ),
        when=(
            "Use it when a model will be fitted again, every month or with every release, and the question is how many "
            "decisions change although nothing about the people did. Elsewhere it is called churn, and one minus "
            "it is called self-consistency."
        ),
        assumes=(
            "That the next model differs from the present one as two replicas differ from each other. That decisions "
            "are made at the chosen cutoff, which is one half by default. That replicas are independent of each "
            "other given the data."
        ),
        harm=SERVICE,
        limits=(
            "It counts changes and does not ask in whose favour they are: see the selection rate for that. A ratio of "
            "two small jitters is unsteady, and undefined where nobody's decision ever changes. It cannot see people "
            "whose probability moves a lot on one side of the cutoff."
        ),
        sources=(_LIU, _COOPER),
        see_also=("label_stability_difference", "std_difference"),
        counted=False,
        example=example("jitter_difference"),
    ),
    Metric(
        name="std_difference",
        title="standard deviation of the prediction",
        family="stability",
        measures=(dimension("std", "standard deviation over replicas"),),
        judged_on="difference",
        threshold=None,
        aliases={"std_ratio": RATIO},
        question="Does the predicted probability of a person vary as much between replicas in each group?",
        formula="E[sd of p over replicas | A=a] equal for all groups a, with B − 1 in the denominator",
        compares=(
            "The standard deviation of each person's predicted probability over the replicas. The mean over the "
            "people of each group is compared. Values are often below 0.1, so no threshold on the difference suits "
            "every model: none is set, and the ratio is the easier one to judge."
        ),
        when=(
            "Use it when the probability itself is used: shown to somebody, turned into a price, or cut at different "
            "places by different users. It sees movement wherever it happens, and not only across a cutoff."
        ),
        assumes=(
            "That a step in the probability matters as much anywhere between 0 and 1. That the replicas stand for the "
            "models that could have been built."
        ),
        harm=SERVICE,
        limits=(
            "A probability near 0 or 1 cannot vary much, so a group with extreme base rates looks steady for that "
            "reason alone. One replica that is far off moves it more than it moves the inter-quartile range. It does "
            "not say whether the mean prediction is right."
        ),
        sources=(_HERASYMUK, _KHAN),
        see_also=("iqr_difference", "epistemic_variance_difference"),
        counted=False,
        example=example("std_difference"),
    ),
    Metric(
        name="iqr_difference",
        title="inter-quartile range of the prediction",
        family="stability",
        measures=(dimension("iqr", "inter-quartile range over replicas"),),
        judged_on="difference",
        threshold=None,
        aliases={"iqr_ratio": RATIO},
        question="Does the middle half of the replicas agree as closely on a person in each group?",
        formula="E[third − first quartile of p over replicas | A=a] equal for all groups a",
        compares=(
            "For each person the distance between the first and the third quartile of the predicted probability, with "
            "a line between neighbouring values. The mean over the people of each group is compared. No threshold is "
            "set, as for the standard deviation."
        ),
        when=(
            "Use it beside the standard deviation when a few replicas may have failed to converge: the values "
            "of the outer half of the replicas do not change it. A group in which the two disagree is one where single "
            "replicas are far off."
        ),
        assumes=(
            "That there are enough replicas for quartiles to mean something, at least about 20. That the replicas "
            "stand for the models that could have been built."
        ),
        harm=SERVICE,
        limits=(
            "It ignores the outer half of the replicas. With few replicas it is coarse and rises with their number."
        ),
        sources=(_HERASYMUK, _KHAN),
        see_also=("std_difference", "label_stability_difference"),
        counted=False,
        example=example("iqr_difference"),
    ),
    Metric(
        name="mean_probability_difference",
        title="mean prediction of the replicas",
        family="stability",
        measures=(dimension("mean_prediction", "mean prediction"),),
        judged_on="difference",
        threshold=0.1,
        aliases={"mean_probability_ratio": RATIO},
        question="Do the replicas together give each group the same probability on average?",
        formula="E[mean of p over replicas | A=a] equal for all groups a",
        compares=(
            "The probability that the replicas give a person on average, as a mean over the people of each group. It "
            "is mean-score parity of the ensemble, with an interval that also allows for the replicas. Labels "
            "are not used."
        ),
        when=(
            "Use it to see whether a gap in scores belongs to the model or to one fit of it. Where the interval is "
            "much wider than that of mean-score parity, most of the uncertainty comes from the replicas: more "
            "replicas would narrow it, more people would not."
        ),
        assumes=(
            "That the groups ought to score alike, which is a moral position and not a finding. That all replicas "
            "predict the same thing, on one scale of probability."
        ),
        harm=("allocation",),
        limits=(
            "Equal means can hide unequal distributions, as for mean-score parity. It does not measure stability: "
            "replicas that agree and replicas that do not may have the same mean."
        ),
        sources=(_HERASYMUK,),
        see_also=("mean_score_parity", "statistical_bias_difference"),
        counted=False,
        example=example("mean_probability_difference"),
    ),
    Metric(
        name="statistical_bias_difference",
        title="statistical bias",
        family="stability",
        measures=(dimension("statistical_bias", "statistical bias", label=True),),
        judged_on="difference",
        threshold=0.1,
        aliases={"statistical_bias_ratio": RATIO},
        question="Are the replicas together as far from the truth in each group?",
        formula="E[|Y − mean of p over replicas| | A=a] equal for all groups a",
        compares=(
            "How far the mean prediction of the replicas lies from what happened, 0 or 1, as a mean over the people "
            "of each group. People without a label are left out. What remains of an error after the replicas were "
            "averaged is not due to any one of them."
        ),
        when=(
            "Use it beside the stability metrics to tell two kinds of error apart: bias is what more data of the same "
            "kind does not mend, variance is what averaging does. A group with a high bias and a high stability is "
            "one that the model gets wrong with confidence."
        ),
        assumes=(
            "That labels are right and known for the same kind of people in each group. That the mean over the "
            "replicas is close to what infinitely many would say."
        ),
        harm=SERVICE,
        limits=(
            "The name comes from Virny. Against a label of 0 or 1 it also contains the noise of the label itself, so "
            "even the true probability has a bias of 2p(1 − p). Groups with base rates near one half therefore look "
            "worse. It rewards probabilities that are pushed to the ends."
        ),
        sources=(_DOMINGOS, _HERASYMUK),
        see_also=("overall_accuracy_equality", "brier_score_parity", "aleatoric_uncertainty_difference"),
        counted=False,
        example=example("statistical_bias_difference"),
    ),
)
