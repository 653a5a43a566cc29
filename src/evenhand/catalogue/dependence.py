"""Dependence: how much does a person's group tell about what is decided?

No group is taken as a reference and none need be named: the attribute may be an age or an income, cut into bands.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures import dependence
from evenhand.measures.indices import DependenceIndex

_RENYI = "Rényi, A. (1959). On measures of dependence. Acta Mathematica Academiae Scientiarum Hungaricae, 10(3-4)."
_MARY = (
    "Mary, J., Calauzènes, C., & El Karoui, N. (2019). Fairness-aware learning for continuous attributes and "
    "treatments. International Conference on Machine Learning (ICML), PMLR 97."
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
)
