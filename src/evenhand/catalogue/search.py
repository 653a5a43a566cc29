"""Subgroups: is there a group that nobody looked at? It has a function of its own, which looks at all of them."""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

_CHERIAN = "Cherian, J. J., & Candès, E. J. (2023). Statistical inference for fairness auditing. arXiv:2305.03712."
_KEARNS = (
    "Kearns, M., Neel, S., Roth, A., & Wu, Z. S. (2018). Preventing fairness gerrymandering: Auditing and learning for "
    "subgroup fairness. International Conference on Machine Learning (ICML). arXiv:1711.05144."
)
_HEBERT = (
    "Hébert-Johnson, Ú., Kim, M. P., Reingold, O., & Rothblum, G. N. (2018). Multicalibration: Calibration for the "
    "(computationally-identifiable) masses. International Conference on Machine Learning (ICML). arXiv:1711.08513."
)
ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="search",
        title="search of groups",
        family="search",
        judged_on="value",
        threshold=0.1,
        counted=False,
        any_attributes=True,
        question="Is there a group, of any combination of values, that fares differently from everyone else?",
        formula="max over groups g of |m(g) − m(everyone else)|",
        compares=(
            "Every group that the values of up to `depth` columns make, with at least `least` people, against everyone "
            "else or everyone, in one measure; of calibration each group and bin of scores against its own mean score. "
            "The largest gap is judged. The intervals hold for all groups together. A threshold that nobody chose is "
            "that of the metric which is searched."
        ),
        when=(
            "Use it after the groups that law or policy names: to see whether a combination of values, also of columns "
            "that are not sensitive, hides a group that fares worse. A search finds where to look; it does not say why."
        ),
        assumes=(
            "That people are independent of each other. That the columns and bands were chosen before looking at the "
            "results: a second search with other columns is another look, which the intervals do not know of."
        ),
        harm=("allocation", "quality of service"),
        limits=(
            "It sees only what the named columns can say, at the bands they were cut in, and only groups with enough "
            "people. With many groups the intervals are wide: what is open may still be a gap. A flagged group may be "
            "flagged because of a larger or a smaller one that overlaps with it."
        ),
        sources=(_CHERIAN, _KEARNS, _HEBERT),
        see_also=("demographic_parity", "equalized_odds", "calibration"),
        example="""
import evenhand as eh

people = eh.datasets.compas()
finding = eh.search(
    people, label="recidivated", score="decile", cutoff=5, count="count",
    within=["race", "sex", "age"], metric="false_positive_rate",
)
print(finding)
finding""",
    ),
)
