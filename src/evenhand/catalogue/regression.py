"""Regression: the prediction and the label are numbers, such as a wage, a price or a length of stay.

The questions are those asked of decisions: does the prediction depend on the group (independence), does it among
people with the same label (separation), and is the model equally good for each group (loss)?
"""

from __future__ import annotations

from evenhand.catalogue.metric import Metric
from evenhand.measures.distances import largest_shift
from evenhand.measures.indices import LargestLoss, ShiftFromEveryone
from evenhand.measures.regression import LOSSES

_AGARWAL = (
    "Agarwal, A., Dudík, M., & Wu, Z. S. (2019). Fair regression: Quantitative definitions and reduction-based "
    "algorithms. International Conference on Machine Learning (ICML), PMLR 97."
)
_HYNDMAN = (
    "Hyndman, R. J., & Koehler, A. B. (2006). Another look at measures of forecast accuracy. International Journal of "
    "Forecasting, 22(4)."
)
_STEINBERG = (
    "Steinberg, D., Reid, A., & O'Callaghan, S. (2020). Fairness measures for regression via probabilistic "
    "classification. arXiv 2001.06089."
)
_CALDERS = (
    "Calders, T., Karim, A., Kamiran, F., Ali, W., & Zhang, X. (2013). Controlling attribute effect in linear "
    "regression. IEEE International Conference on Data Mining (ICDM)."
)
_BAROCAS = (
    "Barocas, S., Hardt, M., & Narayanan, A. (2023). Fairness and machine learning: Limitations and opportunities. "
    "MIT Press."
)

ENTRIES: tuple[Metric, ...] = (
    Metric(
        name="regression_demographic_parity",
        title="demographic parity of a regressor",
        family="regression",
        index=ShiftFromEveryone(largest_shift, needs=("prediction",)),
        judged_on="value",
        threshold=0.1,
        aliases={"statistical_parity_of_a_regressor": {}},
        question="Is every value predicted, or exceeded, equally often in each group?",
        formula="max over groups a and values z of | P(f ≥ z | A=a) − P(f ≥ z) | ≤ threshold",
        compares=(
            "The whole distribution of the predicted number in each group with that of everyone, by the largest "
            "vertical distance between the two curves. It is the gap in selection rates at the worst place to draw a "
            "line. The result is the largest over groups; no label is needed."
        ),
        when=(
            "Use it where predictions will be cut somewhere, and nobody can say where: a wage that decides a loan, "
            "a price that decides who buys. It bounds the demographic parity gap for every cut."
        ),
        assumes=(
            "That groups ought to be predicted alike whatever their labels. That the people recorded are those "
            "who will be predicted."
        ),
        harm=("allocation",),
        limits=(
            "A maximum is above 0 by chance, the more so in small groups. It shows that distributions differ, not by "
            "how much money or time: see the gap in means and the Wasserstein distance. If labels differ between "
            "groups, an accurate regressor cannot meet it. A large group is close to everyone by being most of them."
        ),
        sources=(_AGARWAL,),
        see_also=("mean_prediction_parity", "wasserstein_distance", "regression_separation"),
        core=True,
    ),
    Metric(
        name="mean_prediction_parity",
        title="mean prediction parity",
        family="regression",
        measures=("mean_prediction",),
        aliases={
            "mean_prediction_difference": {"judged_on": "difference"},
            "mean_prediction_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"mean_prediction": "mean_prediction_parity"},
        question="Is the predicted number equally large on average in each group?",
        formula="E[f | A=a] equal for all groups a",
        compares=(
            "The mean prediction of each group, in the units of the prediction. The default threshold is a tenth of "
            "the range of the predictions; give your own in their units. As a ratio, for numbers above 0, a gap in "
            "wages reads as cents to the dollar."
        ),
        when=(
            "Use it where the number itself is what people receive, such as a wage, a limit or a price, and as the "
            "first look in any case. It needs no label."
        ),
        assumes="That a difference in means matters as such. That groups ought to be predicted alike on average.",
        harm=("allocation",),
        limits=(
            "Equal means can hide unequal spreads; the Wasserstein distance sees both. It does not ask whether "
            "predictions were right, and a few large values move it. A ratio has no meaning for numbers that can be "
            "negative."
        ),
        sources=(_CALDERS, _AGARWAL),
        see_also=("regression_demographic_parity", "mean_residual_parity", "wasserstein_distance"),
        core=True,
    ),
    Metric(
        name="regression_separation",
        title="separation of a regressor",
        family="regression",
        binned=True,
        aliases={"outcome_band_parity": {}},
        question="Among people with about the same label, is the predicted number the same in each group?",
        formula="E[f | Y in band, A=a] equal for all groups a, in each band of the label",
        compares=(
            "The mean prediction of each group within bands of the label: five that hold equally many people, or "
            "your own by `bands`. The result is the largest gap over bands. It is what equalized odds is for a "
            "yes or no."
        ),
        when=(
            "Use it where the label is what people deserve or need, and the prediction should depend on the group "
            "through that alone. People who later earned the same should have been expected to earn the same."
        ),
        assumes=(
            "That the label is measured alike in all groups, and is not itself a result of the unequal treatment that "
            "is looked for. That bands are narrow: within a wide one, groups with different labels differ in their "
            "predictions too."
        ),
        harm=("quality of service", "allocation"),
        limits=(
            "An accurate but noisy prediction is drawn to its group's own mean, so that a gap shows wherever the "
            "mean labels of groups differ. Within a band composition alone makes small gaps; more bands make them "
            "smaller, and the intervals wider. Only means are compared, not whole distributions."
        ),
        sources=(_BAROCAS, _STEINBERG),
        see_also=("mean_residual_parity", "regression_demographic_parity", "equalized_odds"),
        core=True,
    ),
    Metric(
        name="mean_residual_parity",
        title="mean residual parity",
        family="regression",
        measures=("mean_residual",),
        aliases={"mean_residual_difference": {"judged_on": "difference"}},
        question="Is one group predicted too high, or too low, compared with another?",
        formula="E[Y − f | A=a] equal for all groups a",
        compares=(
            "The mean of label less prediction in each group. Below 0 the group is predicted too high, above 0 too "
            "low. The default threshold is a tenth of the range of the predictions."
        ),
        when=(
            "Use it for whether errors lean: a model may be equally exact for two groups and yet always too low for "
            "one. It is to a regressor what calibration in the large is to a probability."
        ),
        assumes="That the label is measured alike in all groups. That too high and too low may cancel.",
        harm=("quality of service", "allocation"),
        limits=(
            "Errors that cancel are not seen: a group may be predicted too high at one end and too low at the other. "
            "A model can be made to pass by adding a constant for each group. A ratio of residuals has no meaning."
        ),
        sources=(_CALDERS, _BAROCAS),
        see_also=("mean_absolute_error_parity", "regression_separation", "calibration"),
        core=True,
    ),
    Metric(
        name="mean_absolute_error_parity",
        title="mean absolute error parity",
        family="regression",
        measures=("mean_absolute_error",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "mae_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "mae_difference": {"judged_on": "difference"},
        },
        abbreviations={"mae": "mean_absolute_error_parity", "mean_absolute_error": "mean_absolute_error_parity"},
        question="Is the prediction off by about as much in each group?",
        formula="E[ |Y − f| | A=a ] equal for all groups a",
        compares=(
            "The mean size of the error in each group, in the units of the label. It is judged as the ratio of the "
            "smallest to the largest, which needs no knowledge of the scale."
        ),
        when=(
            "Use it for whether a model serves groups equally well, whichever way it errs. It is the plainest of the "
            "losses, and the least moved by a few large errors."
        ),
        assumes=(
            "That an error of a given size weighs the same for everyone. That labels are known alike in all groups."
        ),
        harm=("quality of service",),
        limits=(
            "A group whose labels vary more is harder to predict for any model. Equal errors can lean in opposite "
            "directions: see the mean residual. A bound on the largest loss (bounded group loss) protects the worst "
            "group without asking that others be made worse."
        ),
        sources=(_AGARWAL,),
        see_also=("bounded_group_loss", "root_mean_squared_error_parity", "mean_residual_parity"),
        core=True,
    ),
    Metric(
        name="root_mean_squared_error_parity",
        title="root mean squared error parity",
        family="regression",
        measures=("root_mean_squared_error",),
        judged_on="ratio",
        threshold=0.8,
        aliases={
            "rmse_ratio": {"judged_on": "ratio", "threshold": 0.8},
            "rmse_difference": {"judged_on": "difference"},
        },
        abbreviations={"rmse": "root_mean_squared_error_parity"},
        question="Are errors, with large ones counted more, about as large in each group?",
        formula="√E[ (Y − f)² | A=a ] equal for all groups a",
        compares=(
            "The root of each group's mean squared error, in the units of the label. It is judged as the ratio of "
            "the smallest to the largest."
        ),
        when=(
            "Use it where one large error is worse than several small ones. It is also what most regressors are "
            "trained to make small, so that a gap shows whom the training served."
        ),
        assumes="As the mean absolute error. That outliers are real and not slips of recording.",
        harm=("quality of service",),
        limits=(
            "A few people with very large errors decide it, and its interval is wide where there are such people. "
            "Set it beside the mean absolute error: if only this one differs, look at the outliers."
        ),
        sources=(_AGARWAL,),
        see_also=("mean_absolute_error_parity", "bounded_group_loss", "r_squared_parity"),
    ),
    Metric(
        name="r_squared_parity",
        title="R² parity",
        family="regression",
        measures=("r_squared",),
        aliases={"r2_difference": {"judged_on": "difference"}},
        abbreviations={"r2": "r_squared_parity", "r_squared": "r_squared_parity"},
        question="Does the model explain as much of the differences between people in each group?",
        formula="1 − E[(Y − f)² | A=a] / Var(Y | A=a) equal for all groups a",
        compares=(
            "R² within each group: the squared error set against how much the group's own labels vary. It is 1 for "
            "perfect predictions and 0 for always naming the group's mean."
        ),
        when=(
            "Use it beside the errors. A group whose labels vary little has small errors from any model, and R² "
            "tells whether the model knows anything about the people in it."
        ),
        assumes="That labels vary in each group. That their variance is known from enough people.",
        harm=("quality of service",),
        limits=(
            "It falls where a group's range is narrow, although the errors are no larger. It can be below 0, when "
            "the group's own mean would have predicted better. It says nothing of which way errors lean."
        ),
        sources=(_BAROCAS,),
        see_also=("root_mean_squared_error_parity", "mean_residual_parity"),
    ),
    Metric(
        name="bounded_group_loss",
        title="bounded group loss",
        family="regression",
        index=LargestLoss(LOSSES, needs=("prediction", "label"), options={"loss": "absolute"}),
        judged_on="value",
        threshold=None,
        question="Is the mean loss of the worst served group below a bound?",
        formula="max over groups a of E[ loss(Y, f) | A=a ] ≤ bound",
        compares=(
            "The mean loss of each group: absolute errors, or squared ones with `loss='squared'`. The largest is "
            "judged against the bound that you give as `threshold`, in the units of the loss."
        ),
        when=(
            "Use it to protect every group to a stated standard, without asking that the best served be served "
            "worse. It suits a product that must not be off by more than so much for anyone."
        ),
        assumes="That a bound can be named. That a loss of a given size weighs the same for each group.",
        harm=("quality of service",),
        limits=(
            "There is no default bound, so without `threshold` nothing is judged. Some groups may be out of reach of "
            "any model with the columns at hand. It says nothing of gaps below the bound."
        ),
        sources=(_AGARWAL,),
        see_also=("mean_absolute_error_parity", "root_mean_squared_error_parity"),
    ),
    Metric(
        name="mean_absolute_percentage_error_parity",
        title="mean absolute percentage error parity",
        family="regression",
        measures=("mean_absolute_percentage_error",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "mape_difference": {"judged_on": "difference"},
            "mape_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"mape": "mean_absolute_percentage_error_parity"},
        question="Is the prediction off by about the same percentage in each group?",
        formula="E[ |Y − f| / |Y| | A=a ] equal for all groups a",
        compares=(
            "The mean size of the error as a share of the label, in each group. It has no unit, so that groups with "
            "large and with small labels can be set side by side."
        ),
        when=(
            "Use it where an error counts in proportion: 1,000 off is much for a claim of 2,000 and little for one of "
            "100,000. Take the weighted form where labels near 0 occur."
        ),
        assumes=(
            "That no label is 0, since the error is divided by it. That an error of ten percent weighs the same for "
            "everyone."
        ),
        harm=("quality of service",),
        limits=(
            "A few labels near 0 decide it, and with a label of 0 it is undefined. It punishes predictions that "
            "are too high more than those that are too low, which cannot be off by more than 100%. A group with more "
            "small labels looks worse served."
        ),
        sources=(_HYNDMAN,),
        see_also=("weighted_absolute_percentage_error_parity", "mean_absolute_error_parity"),
    ),
    Metric(
        name="weighted_absolute_percentage_error_parity",
        title="weighted absolute percentage error parity",
        family="regression",
        measures=("weighted_absolute_percentage_error",),
        judged_on="difference",
        threshold=0.1,
        aliases={
            "wape_difference": {"judged_on": "difference"},
            "wape_ratio": {"judged_on": "ratio", "threshold": 0.8},
        },
        abbreviations={"wape": "weighted_absolute_percentage_error_parity"},
        question="Are errors as large a share of all labels in each group?",
        formula="E[ |Y − f| | A=a ] / E[ Y | A=a ] equal for all groups a",
        compares=(
            "The sum of the sizes of all errors over the sum of all labels, in each group. It is the mean absolute "
            "error in units of the mean label of the group."
        ),
        when=(
            "Use it as the mean absolute percentage error where labels can be small or 0, such as claims or sales. "
            "Large labels count in proportion, and no single one can blow it up."
        ),
        assumes=("That labels are 0 or more. That errors on people with large labels may stand for the whole group."),
        harm=("quality of service",),
        limits=(
            "It is undefined where labels can be negative or all are 0. People with small labels hardly count, "
            "whatever the model does to them. A group whose labels vary more is harder to predict for any model."
        ),
        sources=(_HYNDMAN,),
        see_also=("mean_absolute_percentage_error_parity", "mean_absolute_error_parity"),
    ),
)
