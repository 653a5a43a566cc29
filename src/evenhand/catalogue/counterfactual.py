"""Counterfactuals: would the same person have been predicted otherwise, had they been of another group?

These need more than counts: rows, a predictor to ask again, and a graph of what causes what. They have functions of
their own, and what they find is added to an audit.
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric

_KUSNER = (
    "Kusner, M. J., Loftus, J., Russell, C., & Silva, R. (2017). Counterfactual fairness. Advances in Neural "
    "Information Processing Systems (NeurIPS). arXiv:1703.06856."
)
_PEARL = "Pearl, J. (2009). Causality: Models, reasoning, and inference. Cambridge University Press, second edition."
_PLECKO = (
    "Plečko, D., & Bareinboim, E. (2022). Causal fairness analysis. Foundations and Trends in Machine Learning, 17(3). "
    "arXiv:2207.11385."
)
_KILBERTUS = (
    "Kilbertus, N., Ball, P. J., Kusner, M. J., Weller, A., & Silva, R. (2019). The sensitivity of counterfactual "
    "fairness to unmeasured confounding. Conference on Uncertainty in Artificial Intelligence (UAI)."
)
_GALHOTRA = (
    "Galhotra, S., Brun, Y., & Meliou, A. (2017). Fairness testing: Testing software for discrimination. Joint Meeting "
    "on Foundations of Software Engineering (ESEC/FSE)."
)
_BERTRAND = (
    "Bertrand, M., & Mullainathan, S. (2004). Are Emily and Greg more employable than Lakisha and Jamal? A field "
    "experiment on labor market discrimination. American Economic Review, 94(4), 991–1013."
)
_TANGO = (
    "Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the "
    "paired-sample design. Statistics in Medicine, 17(8), 891–908."
)
_COCHRAN = "Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika, 37(3/4), 256–266."

_EXAMPLE = """
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
group = rng.choice(["a", "b"], 2_000)
effort = rng.normal(size=2_000)
exam = 50 + 5 * effort - 4 * (group == "b") + rng.normal(0, 3, 2_000)
people = {"group": group, "effort": effort, "exam": exam}

"""

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="counterfactual_fairness",
        title="counterfactual fairness",
        family="counterfactual",
        judged_on="value",
        threshold=0.1,
        counted=False,
        question="Would the same person have been predicted otherwise, had they been of another group all along?",
        formula="f(X under A←b) = f(X) for every person of every group a and every other group b",
        compares=(
            "The prediction of each person with what it would be in a world in which only the attribute had been "
            "different and everything that it causes had followed. For every ordered pair of groups the mean size of "
            "that change is taken (of decisions: the share that flips), so that ups and downs do not cancel, and the "
            "largest one is judged. A threshold that nobody chose is 0.1 for decisions and probabilities, and for "
            "other numbers a tenth of the range that holds 95 % of the predictions."
        ),
        when=(
            "Use it when the question is about single people and about causes: whether an attribute makes a "
            "difference, also through what it has brought about. It is the one criterion here that tells a direct use "
            "of an attribute from one through its effects and from mere coincidence. It needs a graph of what causes "
            "what that people who know the matter can defend."
        ),
        assumes=(
            "That the graph is right: above all that every cause of two of its nodes is in it. That the mechanisms "
            "fit, so that the noise of a person can be computed from their row; the residual checks in the notes say "
            "where they do not. That it makes sense to ask what a person would have been like with another race or "
            "sex, which is disputed."
        ),
        harm=("allocation",),
        limits=(
            "Two graphs that fit the data equally well can give different answers, and no data decides between them. "
            "An unobserved common cause can make up a change or hide one; the notes say how strong it would have to "
            "be. It asks for no effect of the attribute at all, also through paths that a reader may find justified; "
            "the split into direct, indirect and spurious parts shows which they are."
        ),
        sources=(_KUSNER, _PLECKO, _KILBERTUS),
        see_also=("flip_test", "demographic_parity"),
        example=_EXAMPLE
        + """model = eh.CausalModel([("group", "exam"), ("effort", "exam")]).fit(people)
finding = eh.counterfactual_fairness(
    lambda rows: rows["exam"] >= 50, people, model, sensitive="group", refits=50
)
print(finding)
finding""",
    ),
    Metric(
        name="flip_test",
        title="flip test",
        family="counterfactual",
        judged_on="value",
        threshold=0.1,
        counted=False,
        question="Does the prediction change when only the column of the attribute is changed?",
        formula="f(b, X) = f(a, X) for every person of every group a and every other group b",
        compares=(
            "The prediction of each person with that for the same row in which only the attribute's own column was "
            "changed. For every ordered pair of groups the mean size of that change is taken (of decisions: the share "
            "that flips), and the largest one is judged. It is the direct part of a counterfactual, and no graph is "
            "needed for it."
        ),
        when=(
            "Use it to see whether a model makes direct use of an attribute, as a quick look or where no graph can be "
            "defended. It is a test of the function, not of its effect on people. A model without the column passes "
            "always, whatever it does."
        ),
        assumes=(
            "That the model can be asked about rows that may not exist: another group with all else as it was. That "
            "the attribute is in one column, or in the columns named; copies of it elsewhere stay as they are."
        ),
        harm=("allocation",),
        limits=(
            "It ignores the causes: what the attribute has brought about stays as it is, so that a model which uses "
            "only the effects of an attribute passes. Rows that occur nowhere may get predictions that mean nothing. "
            "Passing it is therefore no evidence that the attribute makes no difference."
        ),
        sources=(_GALHOTRA, _PEARL),
        see_also=("counterfactual_fairness", "demographic_parity"),
        example=_EXAMPLE
        + """def passes(rows):
    return (rows["exam"] >= 50) & (rows["group"] == "a")


finding = eh.flip_test(passes, people, sensitive="group")
print(finding)
finding""",
    ),
    Metric(
        name="correspondence",
        title="correspondence gap",
        family="counterfactual",
        judged_on="value",
        threshold=0.01,
        counted=False,
        question="Is the same case decided otherwise when only the group in it is changed?",
        formula="mean over units of (decision as a − decision as b) = 0 for every two groups a and b",
        compares=(
            "The answers to the same unit (a prompt, an application, a vacancy) in every two groups. The gap is that "
            "of decision rates, or of mean scores, over the units that have both, and the largest one is judged. "
            "Beside it stands the share of units that flip, and with several runs the share that flips between two "
            "runs of the same unit and group, which is noise. A threshold that nobody chose is 0.01 for decisions and "
            "for scores from 0 to 1, and for other scores a hundredth of the range that holds 95 % of them."
        ),
        when=(
            "Use it where you can ask about the same case again with another name or another group in it: a language "
            "model that reads applications, employers who receive matched letters. It needs no label and no graph. "
            "Because nothing else is changed, a gap is an effect of what was changed."
        ),
        assumes=(
            "That units are independent of each other, and that only the group differs within a unit. That a unit's "
            "answer in one group does not depend on its having been asked in another."
        ),
        harm=("allocation",),
        limits=(
            "It shows the effect of the signal that was changed, such as a first name, on these units: a name also "
            "tells of class or age, and other cases may be decided otherwise. What comes before the case, such as who "
            "applies at all, is not seen. Flips without a gap may be noise: without several runs nobody can tell."
        ),
        sources=(_BERTRAND, _TANGO, _COCHRAN),
        see_also=("flip_test", "counterfactual_fairness", "demographic_parity"),
        example="""
import numpy as np
import evenhand as eh

rng = np.random.default_rng(0)
quality = np.repeat(rng.random(500), 2)
answers = {
    "vacancy": np.repeat(np.arange(500), 2),
    "name": ["Emily", "Lakisha"] * 500,
    "invited": (quality + [0.04, -0.04] * 500 > 0.7).astype(int),
}

finding = eh.correspondence(answers, unit="vacancy", sensitive="name", prediction="invited")
print(finding)
finding""",
    ),
)
