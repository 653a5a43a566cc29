"""Dependence: how much does a person's group tell about what is decided?

No group is taken as a reference and none need be named: the attribute may be an age or an income, cut into bands.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures import dependence
from evenhand.measures.indices import ConditionalDependence, DependenceIndex

_RENYI = "Rényi, A. (1959). On measures of dependence. Acta Mathematica Academiae Scientiarum Hungaricae, 10(3-4)."
_MARY = (
    "Mary, J., Calauzènes, C., & El Karoui, N. (2019). Fairness-aware learning for continuous attributes and "
    "treatments. International Conference on Machine Learning (ICML), PMLR 97."
)
_STEINBERG = (
    "Steinberg, D., Reid, A., & O'Callaghan, S. (2020). Fairness measures for regression via probabilistic "
    "classification. arXiv 2001.06089."
)
_MILLER = "Miller, G. (1955). Note on the bias of information estimates. Information Theory in Psychology."

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="maximal_correlation",
        title="maximal correlation",
        family="dependence",
        index=DependenceIndex(dependence.maximal_correlation, power=0.5, any_number=True),
        judged_on="value",
        threshold=None,
        aliases={"hgr": {}},
        question="How well could the decision be predicted from the attribute, by any rule at all?",
        formula="sup over functions g, h of corr(g(A), h(S)), the Hirschfeld-Gebelein-Rényi coefficient",
        compares=(
            "The table of groups (or bands of a numeric attribute) and of what is decided: the score or predicted "
            "number in ten bins of equal size, or the decision where there is no score. The result is the largest "
            "correlation that functions of the two can have, the second singular value of the table scaled by its "
            "margins. It is 0 under independence and 1 when one determines the other."
        ),
        when=(
            "Use it for an attribute that is a quantity, such as age, where no group is a natural reference, and "
            "where the relation may bend: the young and the old can both be scored low, which no difference of "
            "means along the scale would show. It is also one number for many groups at once."
        ),
        assumes=(
            "That the bands are fine enough to hold the dependence and coarse enough to hold people. That people "
            "are independent of each other. That independence of the attribute is what is wanted, as for "
            "demographic parity."
        ),
        harm=("allocation",),
        limits=(
            "In a sample it is never 0: with ten bands, ten bins and 1,000 people chance alone makes it about 0.17. "
            "Read it against its mean under independence, which stands beside it, and the p-value. It has no "
            "direction and does not say who is worse off. More bands and bins raise it. It has no interval, because "
            "resampling moves it further from 0, and so no verdict."
        ),
        sources=(_RENYI, _MARY),
        see_also=("mutual_information", "demographic_parity", "ks_distance"),
    ),
    Metric(
        name="mutual_information",
        title="mutual information",
        family="dependence",
        index=DependenceIndex(
            dependence.mutual_information, power=1.0, chance=dependence.chance_information, any_number=True
        ),
        judged_on="value",
        threshold=None,
        question="How much does knowing a person's group tell about what is decided?",
        formula="Σ p(a, s) log( p(a, s) / (p(a) p(s)) ) − (I − 1)(J − 1)/2n, in nats, at least 0",
        compares=(
            "The same table as the maximal correlation: groups or bands, and the score in ten bins, or the decision. "
            "The result is how far the table is from independence, averaged over people, less what chance adds on "
            "average to a table of I rows and J columns."
        ),
        when=(
            "Use it to rank attributes by how much of them has found its way into a score, or to compare versions of "
            "one model on the same bands. Unlike the maximal correlation it weighs a dependence by how many people "
            "it touches."
        ),
        assumes=(
            "As the maximal correlation: bands that are neither too fine nor too coarse, independent people, and "
            "independence of the attribute as the aim. The correction for chance needs about five people or more "
            "in most cells."
        ),
        harm=("allocation",),
        limits=(
            "Nats are not points of a rate, and no threshold is agreed. Values for attributes with different numbers "
            "of groups are hard to compare, because more groups can carry more information. It has no direction. "
            "Read it with its mean under independence and the p-value; it has no interval and no verdict."
        ),
        sources=(
            "Shannon, C. E. (1948). A mathematical theory of communication. Bell System Technical Journal, 27.",
            _MILLER,
            "Kamishima, T., Akaho, S., Asoh, H., & Sakuma, J. (2012). Fairness-aware classifier with prejudice "
            "remover regularizer. European Conference on Machine Learning (ECML PKDD).",
        ),
        see_also=("maximal_correlation", "demographic_parity", "theil_index"),
    ),
    Metric(
        name="separation_information",
        title="conditional mutual information for separation",
        family="dependence",
        index=ConditionalDependence("label", needs=("label",)),
        judged_on="value",
        threshold=None,
        question="Among people with the same label, how much does their group tell about what is decided?",
        formula="Σ_y P(y) Σ p(a, s | y) log( p(a, s | y) / (p(a | y) p(s | y)) ) − chance, in nats, at least 0",
        compares=(
            "For each label, the table of groups and of what is decided: the score in at most ten bins, or the "
            "decision. The result is their mutual information, averaged over the labels by people, less what chance "
            "adds. It is 0 under separation, of which equalized odds is the case of a yes or no."
        ),
        when=(
            "Use it to rank attributes or models by how far they are from separation, for scores of any shape and "
            "many groups at once. Unlike equalized odds it weighs a dependence by how many people it touches."
        ),
        assumes=(
            "That the label is true and means the same in every group. That there are about five people or more in "
            "most cells of the tables."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "Nats are not points of a rate, and no threshold is agreed. It has no direction and does not say who is "
            "worse off. Read it with its mean under independence and the p-value; it has no interval and no verdict."
        ),
        sources=(_STEINBERG, _MILLER),
        see_also=("equalized_odds", "sufficiency_information", "mutual_information"),
    ),
    Metric(
        name="sufficiency_information",
        title="conditional mutual information for sufficiency",
        family="dependence",
        index=ConditionalDependence("decision", needs=("label",)),
        judged_on="value",
        threshold=None,
        question="Among people for whom the same was decided, how much does their group tell about the label?",
        formula="Σ_s P(s) Σ p(a, y | s) log( p(a, y | s) / (p(a | s) p(y | s)) ) − chance, in nats, at least 0",
        compares=(
            "For each decision, or each of at most ten bins of the score, the table of groups and labels. The result "
            "is their mutual information, averaged by people, less what chance adds. It is 0 under sufficiency, where "
            "a score means the same in every group."
        ),
        when=(
            "Use it to rank attributes or models by how far they are from calibration within groups, for many groups "
            "at once. Calibration and predictive parity then show where the gap lies and whom it touches."
        ),
        assumes=(
            "That the label is true and known whatever was decided. That within a bin of the score groups have about "
            "the same scores, since composition alone makes labels differ."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "Nats are not points of a rate, and no threshold is agreed. A coarse bin of the score shows dependence "
            "that the exact score would explain. Read it with its mean under independence and the p-value; it has no "
            "interval and no verdict."
        ),
        sources=(_STEINBERG, _MILLER),
        see_also=("calibration", "predictive_parity", "separation_information"),
    ),
    Metric(
        name="proxies",
        title="proxies for an attribute",
        family="dependence",
        judged_on="value",
        threshold=None,
        counted=False,
        question="How much does each column say about the group that a person belongs to?",
        formula="max over columns X of the maximal correlation of A and X",
        compares=(
            "Each column with the attribute: categories as they are, numbers in up to ten bins of equal size, and a "
            "missing value as one more. The value is the largest maximal correlation of all columns. Beside it stand "
            "mutual information less what chance adds, the area under the curve of the best single split, and a "
            "p-value that is corrected for the number of columns."
        ),
        when=(
            "Use it before a model is trained, to see which columns would let it use the attribute without being given "
            "it, and to look at leaks: a column that knows the group almost surely. With contributions of features to "
            "a score, such as SHAP values, use it to see which features carry the gap between the scores of two groups."
        ),
        assumes=(
            "That people are independent of each other. Each column is looked at by itself: several weak ones together "
            "may tell the group, which no single column shows."
        ),
        harm=("allocation",),
        limits=(
            "A column that says much about the group may still be a legitimate one, and leaving it out changes little "
            "where others say the same. In a sample no value is 0: read each beside what chance gives, and the "
            "p-value. Shares of a score gap describe the model, and inherit what the contributions assume."
        ),
        sources=(
            _RENYI,
            "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
            "Statistics, 6(2).",
            "Lundberg, S. M., & Lee, S.-I. (2017). A unified approach to interpreting model predictions. Advances in "
            "Neural Information Processing Systems (NeurIPS).",
        ),
        see_also=("maximal_correlation", "mutual_information", "explain"),
        example="""
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
sex = rng.choice(["f", "m"], 1_000)
people = {
    "sex": sex,
    "height": np.where(sex == "m", 178, 166) + rng.normal(0, 7, 1_000),
    "income": rng.lognormal(10, 0.5, 1_000),
}

finding = eh.proxies(people, sensitive="sex")
print(finding)
finding""",
    ),
)
