"""Figures of lenders and insurers beside those that scikit-learn, statsmodels and pandas compute from the rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.errors import CallError, DataError
from evenhand.measures import find_measure
from evenhand.measures.base import evaluate
from evenhand.measures.group_data import GroupData

RANDOM = np.random.default_rng(20)
N = 3000
GROUP = RANDOM.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1])
SCORE = np.clip(RANDOM.beta(2, 3, N) + 0.1 * (GROUP == "a"), 0.01, 0.99).round(3)
LABEL = (RANDOM.random(N) < SCORE**1.2).astype(int)
WEIGHT = RANDOM.integers(1, 4, N) / 2.0
PEOPLE = pd.DataFrame({"g": GROUP, "s": SCORE, "y": LABEL, "w": WEIGHT})

EXPOSURE = RANDOM.uniform(0.1, 2.0, N)
RATE = RANDOM.gamma(2.0, 0.15, N)
CLAIMS = RANDOM.poisson(RATE * EXPOSURE * np.where(GROUP == "b", 1.3, 1.0))
POLICIES = pd.DataFrame({"g": GROUP, "f": RATE, "x": EXPOSURE, "y": CLAIMS})
INSURED = {"label": "y", "prediction": "f", "exposure": "x", "sensitive": "g"}


def values(name: str, cube: eh.Cube) -> np.ndarray:
    return evaluate(find_measure(name), GroupData.of(cube)).values


def scored(**settings) -> eh.Cube:
    return eh.Cube.count(PEOPLE, label="y", score="s", sensitive="g", **settings)


# --- standardised mean differences ---


def test_the_standardised_difference_of_scores_is_that_of_pandas():
    means, deviation = PEOPLE.groupby("g").s.mean(), PEOPLE.s.std()
    for group, reference in (("b", "a"), ("c", "a"), ("a", "c")):
        found = eh.standardized_mean_difference(PEOPLE, score="s", sensitive="g", reference=reference)
        row = next(row for row in found.rows if row.group == (group,) and row.difference is not None)
        assert float(row.difference) == pytest.approx((means[group] - means[reference]) / deviation, abs=1e-9)


def test_the_pooled_deviation_is_that_within_the_groups():
    two = PEOPLE[PEOPLE.g != "c"]
    parts = two.groupby("g").s
    n, means, variances = parts.count(), parts.mean(), parts.var()
    pooled = np.sqrt(((n - 1) * variances).sum() / (n - 1).sum())
    found = eh.pooled_standardized_mean_difference(two, score="s", sensitive="g", reference="a")
    assert float(found) == pytest.approx((means["b"] - means["a"]) / pooled, abs=1e-9)
    rest = eh.pooled_standardized_mean_difference(two, score="s", sensitive="g", reference="rest")
    assert abs(float(rest)) == pytest.approx(abs(float(found)), abs=1e-9)  # of two groups, the rest is the other


@pytest.mark.parametrize(("metric", "column"), [("prediction", "f"), ("residual", "e")])
def test_the_standardised_difference_of_predicted_numbers_is_that_of_pandas(metric, column):
    table = pd.DataFrame({"g": GROUP, "f": RATE, "y": RATE + RANDOM.normal(0, 0.2, N)})
    table["e"] = table.y - table.f
    means = table.groupby("g")[column].mean()
    function = getattr(eh, f"standardized_{metric}_difference")
    found = function(table, label="y", prediction="f", sensitive="g", reference="a", task="regression")
    rows = {row.group[0]: float(row.difference) for row in found.rows if row.difference is not None and row.group}
    assert rows["b"] == pytest.approx((means["b"] - means["a"]) / table[column].std(), abs=1e-9)


def test_the_standardised_difference_does_not_depend_on_the_scale():
    one = eh.standardized_mean_difference(PEOPLE, score="s", sensitive="g")
    other = eh.standardized_mean_difference(PEOPLE.assign(s=300 + 550 * PEOPLE.s), score="s", sensitive="g")
    assert float(one) == pytest.approx(float(other), rel=1e-9)
    for end in ("low", "high"):  # which also rest on the range that a score may have
        assert getattr(one.value, end) == pytest.approx(getattr(other.value, end), rel=1e-3)


def test_scores_that_are_all_alike_have_no_deviation():
    found = eh.standardized_mean_difference(score=[0.5] * 8, sensitive=["a", "b"] * 4)
    assert np.isnan(float(found))
    assert "no scores that differ among group a" in found.interpretation


@pytest.mark.parametrize("weight", [1.0, 1e6])
def test_groups_in_which_all_are_alike_have_no_pooled_deviation(weight):
    """Rounding would pass for a deviation, and any gap for millions of them."""
    settings = {"sensitive": ["a", "b"] * 20, "weight": [weight] * 40}
    scores = eh.pooled_standardized_mean_difference(score=[0.7, 0.1] * 20, **settings)
    numbers = eh.pooled_standardized_prediction_difference(prediction=[0.7, 0.1] * 20, task="regression", **settings)
    assert np.isnan([float(scores), float(numbers)]).all()


# --- impact ratios wherever the cut-off is drawn ---


@pytest.mark.parametrize("weighted", [False, True])
def test_impact_ratios_by_quantile_are_those_of_pandas(weighted):
    weight = PEOPLE.w if weighted else pd.Series(np.ones(N))
    ordered = PEOPLE.assign(w=weight).sort_values("s", ascending=False)
    reached = ordered.w.cumsum()
    cube = scored(weight="w") if weighted else scored()
    for share in (0.1, 0.3, 0.5, 0.9):
        cutoff = ordered.s[reached >= share * weight.sum() * (1 - 1e-12)].iloc[0]
        chosen = PEOPLE.assign(w=weight, k=weight * (PEOPLE.s >= cutoff)).groupby("g")[["k", "w"]].sum()
        found = values(f"selected_top_{round(100 * share)}", cube)
        assert found == pytest.approx((chosen.k / chosen.w).to_numpy(), abs=1e-9)


def test_the_worst_share_is_judged_and_all_are_shown():
    found = eh.impact_ratio_by_quantile(PEOPLE, score="s", sensitive="g")
    rates = np.stack([values(f"selected_top_{10 * k}", scored()) for k in range(1, 10)])
    assert float(found) == pytest.approx((rates.min(axis=1) / rates.max(axis=1)).min(), abs=1e-9)
    assert {row.measure for row in found.groups} == {f"selected_top_{10 * k}" for k in range(1, 10)}
    assert found.judged_on == "ratio"
    assert found.value.low <= float(found) <= found.value.high


def test_impact_ratios_over_ordered_classes():
    tier = pd.cut(PEOPLE.s, [0, 0.2, 0.4, 0.6, 1], labels=False) + 1
    found = eh.impact_ratio_by_class(score=tier, sensitive=GROUP)
    ratios = []
    for least in (2, 3, 4):
        rates = (tier >= least).groupby(GROUP).mean()
        ratios.append(rates.min() / rates.max())
    assert float(found) == pytest.approx(min(ratios), abs=1e-9)
    worse = eh.impact_ratio_by_class(score=5 - tier, sensitive=GROUP, higher_is="negative")
    assert float(worse) == pytest.approx(float(found), abs=1e-12)
    with pytest.raises(
        CallError,
        match="2 to 20 ordered classes, and this one has more values, or only one: give the class as a number",
    ):
        eh.impact_ratio_by_class(PEOPLE, score="s", sensitive="g")


def test_a_grid_of_scores_is_within_its_error():
    random = np.random.default_rng(3)
    fine, group = random.beta(2, 3, 20_000), random.choice(["a", "b"], 20_000)
    data = GroupData.of(eh.Cube.count(score=fine, sensitive=group))
    row = find_measure("selected_top_30")
    seen, error = row.spread(data).values, row.grid_error(data)
    cutoff = np.sort(fine)[::-1][int(0.3 * 20_000) - 1]
    for i, name in enumerate("ab"):
        assert abs(seen[i] - (fine[group == name] >= cutoff).mean()) <= error[i] + 1e-12 < 0.01


# --- practical disparity in two parts ---


def _decisions(rates: dict[str, float], people: int = 1000) -> dict:
    chosen = [1 if i < rate * people else 0 for rate in rates.values() for i in range(people)]
    return {"prediction": chosen, "sensitive": np.repeat(list(rates), people)}


@pytest.mark.parametrize(
    ("rates", "value", "verdict"),
    [
        ({"a": 0.5, "b": 0.3}, 0.2, "fail"),  # a low ratio and a large difference
        ({"a": 0.9, "b": 0.8}, 0.0, "pass"),  # a large difference and a high ratio
        ({"a": 0.01, "b": 0.005}, 0.005, "pass"),  # a low ratio and a small difference
    ],
)
def test_a_shortfall_counts_where_the_ratio_is_low_too(rates, value, verdict):
    found = eh.practical_disparity(**_decisions(rates), threshold=0.05, ratio=0.8)
    assert float(found) == pytest.approx(value, abs=1e-12)
    assert found.verdict == verdict
    against = eh.practical_disparity(**_decisions(rates), threshold=0.05, ratio=0.8, reference="a")
    assert (float(against), against.verdict) == (pytest.approx(value, abs=1e-12), verdict)


def test_practical_disparity_says_whom_it_compares_with():
    found = eh.practical_disparity(**_decisions({"a": 0.5, "b": 0.3}), reference="rest", threshold=0.05)
    assert any("selected most often" in note for note in found.notes)
    assert found.evidence.against == "a"


def test_practical_disparity_of_a_favoured_group_is_0():
    found = eh.practical_disparity(**_decisions({"a": 0.5, "b": 0.3}), reference="b", threshold=0.05)
    assert (float(found), found.verdict) == (0.0, "pass")


def test_practical_disparity_against_a_reference_without_weight_is_undefined():
    roles = {"prediction": [0, 1, 1, 0, 1, 0] * 20, "sensitive": ["a", "b", "c"] * 40, "weight": [1, 1, 0] * 40}
    found = eh.practical_disparity(**roles, reference="c", threshold=0.05)
    assert (found.value.defined, found.verdict) == (False, "inconclusive")
    assert "the reference has no decisions that count" in found.interpretation
    assert "nan" not in found.interpretation


def test_practical_disparity_without_anybody_selected_says_so():
    found = eh.practical_disparity(prediction=[0] * 6, sensitive=["a", "b"] * 3, threshold=0.05)
    assert np.isnan(float(found))
    assert "nobody was selected in any group" in found.interpretation
    with pytest.raises(CallError, match=r"ratio=2\.0 must be above 0 and at most 1"):
        eh.practical_disparity(prediction=[0, 1] * 3, sensitive=["a", "b"] * 3, ratio=2.0)
    with pytest.raises(DataError, match="one group only"):
        eh.practical_disparity(prediction=[0, 1] * 3, sensitive=["a"] * 6)


# --- Gini, calibration and net benefit ---


@pytest.mark.parametrize("weighted", [False, True])
def test_gini_is_that_of_scikit_learn(weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    found = values("gini", scored(weight="w") if weighted else scored())
    for i, (_, part) in enumerate(PEOPLE.groupby("g")):
        mass = part.w if weighted else None
        assert found[i] == pytest.approx(2 * metrics.roc_auc_score(part.y, part.s, sample_weight=mass) - 1, abs=1e-9)


def test_slope_and_intercept_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    data = GroupData.of(scored())
    slope, intercept, large = (
        evaluate(find_measure(name), data).spread
        for name in ("calibration_slope", "calibration_intercept", "calibration_in_the_large")
    )
    for i, (_, part) in enumerate(PEOPLE.groupby("g")):
        logit = np.log(part.s / (1 - part.s))
        model = sm.GLM(part.y, sm.add_constant(logit), family=sm.families.Binomial())
        fit = model.fit(cov_type="HC0", tol=1e-14, maxiter=200)
        assert [intercept.values[i], slope.values[i]] == pytest.approx(fit.params.to_numpy(), abs=1e-9)
        lost = len(part) / (len(part) - 2)
        expected = fit.bse.to_numpy() * np.sqrt(lost)
        assert [intercept.errors[i], slope.errors[i]] == pytest.approx(expected, rel=1e-6)
        moved = sm.GLM(part.y, np.ones(len(part)), family=sm.families.Binomial(), offset=logit).fit(tol=1e-14)
        assert large.values[i] == pytest.approx(float(moved.params.iloc[0]), abs=1e-9)


def test_a_score_that_tells_labels_apart_has_no_slope():
    y, s = [0, 0, 1, 1] * 2, [0.1, 0.3, 0.6, 0.8] * 2
    found = eh.calibration_slope_parity(label=y, score=s, sensitive=["a"] * 4 + ["b"] * 4)
    assert np.isnan(float(found))
    assert (
        "no labels of both kinds that the score does not tell apart, or some that a score of 0 or 1 rules out, among"
        in found.interpretation
    )
    one = eh.calibration_in_the_large_parity(label=[1] * 4 + [0, 1, 0, 1], score=s, sensitive=["a"] * 4 + ["b"] * 4)
    assert "no labels of both kinds, or some that a score of 0 or 1 rules out, among group a" in " ".join(
        (one.interpretation, *one.notes)
    )


COEFFICIENTS = ("calibration_slope", "calibration_intercept", "calibration_in_the_large")


def test_a_score_of_0_or_1_that_comes_true_adds_nothing():
    """Its logit is infinite. A clipped one would have more say than all other people together."""
    sure = pd.DataFrame({"g": ["a", "b"] * 10, "s": [0.0, 1.0] * 10, "y": [0, 1] * 10})
    more = eh.Cube.count(pd.concat([PEOPLE, sure]), label="y", score="s", sensitive="g")
    for name in COEFFICIENTS:
        assert values(name, more) == pytest.approx(values(name, scored()), abs=1e-9)


@pytest.mark.parametrize(("score", "label"), [(0.0, 1), (1.0, 0)])
def test_a_score_of_0_or_1_that_is_wrong_has_no_coefficients(score, label):
    wrong = pd.concat([PEOPLE, pd.DataFrame({"g": ["c"], "s": [score], "y": [label]})])
    for name in COEFFICIENTS:
        found = values(name, eh.Cube.count(wrong, label="y", score="s", sensitive="g"))
        assert np.isnan(found[2])
        assert found[:2] == pytest.approx(values(name, scored())[:2], abs=1e-9)
    judged = eh.calibration_in_the_large_parity(
        label=np.tile([0, 1, 1, 0], 50), score=np.tile([0.0, 1.0], 100), sensitive=["a", "b"] * 100
    )
    assert judged.verdict == "inconclusive"
    assert "rules out" in judged.interpretation


@pytest.mark.parametrize("cutoff", [0.2, 0.55])
def test_net_benefit_is_its_definition(cutoff):
    found = values("net_benefit", scored(cutoff=cutoff))
    for i, (_, part) in enumerate(PEOPLE.groupby("g")):
        chosen = part.s >= cutoff
        right, wrong = (chosen & (part.y == 1)).mean(), (chosen & (part.y == 0)).mean()
        assert found[i] == pytest.approx(right - wrong * cutoff / (1 - cutoff), abs=1e-9)


def test_net_benefit_needs_a_cutoff():
    found = eh.net_benefit_parity(PEOPLE, label="y", score="s", sensitive="g")
    assert np.isnan(float(found))
    assert "no cutoff between 0 and 1" in found.interpretation


# --- actual to expected, with exposure ---


def test_actual_to_expected_is_that_of_pandas():
    cube = eh.Cube.count(POLICIES, **INSURED)
    table = POLICIES.assign(e=POLICIES.f * POLICIES.x).groupby("g")[["y", "e"]].sum()
    assert values("actual_to_expected", cube) == pytest.approx((table.y / table.e).to_numpy(), abs=1e-9)
    found = eh.actual_to_expected_parity(POLICIES, **INSURED)
    ratios = table.y / table.e
    assert float(found) == pytest.approx(ratios.min() / ratios.max(), abs=1e-9)


def test_events_have_the_limits_of_a_poisson_count():
    from scipy.stats import chi2

    data = GroupData.of(eh.Cube.count(POLICIES, **INSURED))
    spread = evaluate(find_measure("actual_to_expected"), data).spread
    low, high = spread.limits(1.959963984540054, 0.0)
    table = POLICIES.assign(e=POLICIES.f * POLICIES.x).groupby("g")[["y", "e"]].sum()
    for i, (claims, expected) in enumerate(zip(table.y, table.e, strict=True)):
        assert spread.events[i] <= claims + 1e-9  # at least as variable as a Poisson count
        if spread.events[i] == pytest.approx(claims):
            assert low[i] == pytest.approx(chi2.ppf(0.025, 2 * claims) / 2 / expected, rel=1e-6)
            assert high[i] == pytest.approx(chi2.ppf(0.975, 2 * claims + 2) / 2 / expected, rel=1e-6)


def test_one_row_for_each_cell_of_a_table_is_enough():
    found = eh.actual_to_expected_parity([30, 0], [0.02, 0.03], exposure=[1000.0, 100.0], sensitive=["a", "b"])
    rows = {row.group[0]: row.estimate for row in found.groups}
    assert float(rows["a"]) == pytest.approx(1.5)
    assert (float(rows["b"]), rows["b"].low) == (0.0, 0.0)
    assert 1.0 < rows["b"].high < 2.5  # no claim of 3 expected


def test_amounts_without_exposure_vary_as_their_rows_do():
    random = np.random.default_rng(5)
    expected, group = random.gamma(2, 500, 2000), random.choice(["a", "b"], 2000)
    loss = np.where(random.random(2000) < 0.1, expected * 10 * random.lognormal(-0.5, 1, 2000), 0.0)
    data = GroupData.of(eh.Cube.count(label=loss, prediction=expected, sensitive=group, task="regression"))
    spread = evaluate(find_measure("actual_to_expected"), data).spread
    for i, name in enumerate("ab"):
        own = group == name
        r = loss[own].sum() / expected[own].sum()
        error = np.sqrt(((loss - r * expected)[own] ** 2).sum() * own.sum() / (own.sum() - 1)) / expected[own].sum()
        assert spread.values[i] == pytest.approx(r, rel=1e-9)
        assert spread.errors[i] == pytest.approx(error, rel=1e-6)


def test_amounts_of_which_nobody_tells_how_they_vary_have_a_value_and_a_wide_interval():
    found = eh.actual_to_expected_parity([1.5, 2.5], [1.2, 2.5], sensitive=["a", "b"], task="regression")
    rows = {row.group[0]: row.estimate for row in found.groups}
    assert (float(rows["a"]), float(rows["b"])) == (pytest.approx(1.25), pytest.approx(1.0))
    assert rows["a"].high > 5
    assert found.verdict == "inconclusive"
    none = eh.actual_to_expected_parity([0.0] * 6, [0.5] * 6, sensitive=["a", "b"] * 3, task="regression")
    assert "it is 0 for every group" in none.interpretation


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "duckdb"])
def test_every_source_reads_exposure(kind, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(POLICIES)
    data: object = frame.lazy()
    if kind == "csv":
        data = tmp_path / "policies.csv"
        frame.write_csv(data)
    elif kind in ("parquet", "duckdb"):
        data = tmp_path / "policies.parquet"
        frame.write_parquet(data)
    if kind == "duckdb":
        data = pytest.importorskip("duckdb").connect().read_parquet(str(data))
    here, there = eh.Cube.count(POLICIES, **INSURED), eh.Cube.count(data, **INSURED)
    assert (there.meaning.exposure, there.meaning.weight, there.meaning.task) == ("x", "x", "regression")
    for name in ("actual_to_expected", "ordered_gini", "standardized_residual"):
        assert values(name, there) == pytest.approx(values(name, here), rel=1e-9)


def test_exposure_is_kept_in_a_file(tmp_path):
    cube = eh.Cube.count(POLICIES, **INSURED)
    cube.save(tmp_path / "policies.cube")
    again = eh.Cube.load(tmp_path / "policies.cube")
    assert again.meaning.exposure == "x"
    one, other = (eh.actual_to_expected_parity(each) for each in (cube, again))
    assert one.value == other.value


def test_rows_of_a_customer_that_are_added_up_vary_as_clusters_do():
    sm = pytest.importorskip("statsmodels.api")
    random = np.random.default_rng(1)
    rows = POLICIES.assign(who=np.arange(N) // 5)
    rows["g"] = np.where(rows.who % 2, "a", "b")
    rows["y"] = random.poisson(rows.f * rows.x * random.gamma(1, 1, N // 5)[rows.who])
    together = eh.actual_to_expected_parity(rows, **INSURED, cluster="who")
    assert (together.verdict, together.value.low) == ("not judged", None)
    assert any("added up to one row for each who, and cluster= is left out" in note for note in together.notes)
    assert {line[-2:] for line in together.panels[0].rows} == {(None, None)}, "no interval of rows as of strangers"
    sums = rows.assign(e=rows.f * rows.x).groupby(["who", "g"], as_index=False)[["y", "e", "x"]].sum()
    summed = sums.assign(f=sums.e / sums.x)
    assert float(eh.actual_to_expected_parity(summed, **INSURED)) == pytest.approx(float(together), rel=1e-12)
    spread = evaluate(find_measure("actual_to_expected"), GroupData.of(eh.Cube.count(summed, **INSURED))).spread
    for i, (_, part) in enumerate(rows.groupby("g")):
        model = sm.GLM(part.y, np.ones(len(part)), family=sm.families.Poisson(), offset=np.log(part.f * part.x))
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": part.who})
        assert spread.values[i] == pytest.approx(np.exp(fit.params.iloc[0]), rel=1e-9)
        assert spread.errors[i] / spread.values[i] == pytest.approx(fit.bse.iloc[0], rel=1e-9)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan])
@pytest.mark.parametrize("kind", ["memory", "csv", "polars"])
def test_exposure_of_nothing_is_an_error(wrong, kind, tmp_path):
    polars = pytest.importorskip("polars")
    data: object = POLICIES.assign(x=np.where(np.arange(N) < 2, wrong, EXPOSURE))
    if kind == "csv":
        data.to_csv(tmp_path / "p.csv", index=False)  # type: ignore[attr-defined]
        data = tmp_path / "p.csv"
    elif kind == "polars":
        data = polars.from_pandas(data).lazy()
    with pytest.raises(DataError, match="exposure column 'x' is 0, negative, missing or not a number in 2 rows"):
        eh.actual_to_expected_parity(data, **INSURED)


@pytest.mark.parametrize("kind", ["memory", "csv", "polars"])
def test_exposure_that_is_text_is_called_exposure(kind, tmp_path):
    polars = pytest.importorskip("polars")
    data: object = POLICIES.assign(x=["much", *EXPOSURE[1:].astype(str)])
    if kind == "csv":
        data.to_csv(tmp_path / "p.csv", index=False)  # type: ignore[attr-defined]
        data = tmp_path / "p.csv"
    elif kind == "polars":
        data = polars.from_pandas(data).lazy()
    with pytest.raises(DataError, match=r"exposure column 'x' (holds '?much|is held as String)"):
        eh.actual_to_expected_parity(data, **INSURED)


def test_what_exposure_needs():
    with pytest.raises(CallError, match="needs a label, the number of events, and a prediction"):
        eh.Cube.count(prediction=[0.1], exposure=[1.0], sensitive=["a"])
    with pytest.raises(CallError, match="cannot both be given"):
        eh.Cube.count(label=[1], prediction=[0.1], exposure=[1.0], weight=[1.0], sensitive=["a"])
    with pytest.raises(CallError, match="is for task='regression'"):
        eh.Cube.count(label=[1], prediction=[0.1], exposure=[1.0], sensitive=["a"], task="multiclass")


def test_the_panel_has_deciles_that_add_up():
    (panel,) = eh.actual_to_expected_parity(POLICIES, **INSURED).panels
    assert panel.columns[3] == "exposure"
    table = pd.DataFrame(panel.rows, columns=list(panel.columns))
    everyone = table[table.group == "everyone"]
    assert len(everyone) == 10
    assert everyone.exposure.sum() == pytest.approx(EXPOSURE.sum())
    assert everyone.exposure.max() < 1.1 * EXPOSURE.sum() / 10
    assert everyone.actual.sum() == pytest.approx(CLAIMS.sum())
    assert everyone.expected.sum() == pytest.approx((RATE * EXPOSURE).sum())
    assert (everyone.ratio - everyone.actual / everyone.expected).abs().max() < 1e-9
    assert table[table.group == "b"].actual.sum() == pytest.approx(CLAIMS[GROUP == "b"].sum())


def test_the_ordered_gini_is_its_definition():
    """E[y (2F − 1)] / E[y] of distinct predictions, from the rows themselves."""
    few = POLICIES.assign(f=POLICIES.f.round(2))
    found = values("ordered_gini", eh.Cube.count(few, **INSURED))
    for i, (_, part) in enumerate(few.groupby("g")):
        mass = part.groupby("f").x.sum()
        rank = (mass.cumsum() - mass / 2) / mass.sum()
        expected = (part.y * (2 * part.f.map(rank) - 1)).sum() / part.y.sum()
        assert found[i] == pytest.approx(expected, abs=1e-9)


def test_the_error_of_the_ordered_gini_is_that_of_resampled_rows():
    random = np.random.default_rng(3)
    f = random.integers(1, 40, 600) / 10
    y = random.poisson(f) * 1.0
    one = {"label": y, "prediction": f, "task": "regression"}
    spread = evaluate(
        find_measure("ordered_gini"), GroupData.of(eh.Cube.count(**one, sensitive=["a"] * 300 + ["b"] * 300))
    ).spread
    drawn = []
    for _ in range(400):
        rows = random.integers(0, 300, 300)
        half = {"label": y[rows], "prediction": f[rows], "task": "regression", "sensitive": ["a"] * 299 + ["b"]}
        data = GroupData.of(eh.Cube.count(**half).marginal(["sensitive"]), "everyone")
        drawn.append(find_measure("ordered_gini").spread(data).values[0])
    assert np.std(drawn) == pytest.approx(spread.errors[0], rel=0.15)


@pytest.mark.parametrize("few", [1, 2, 4])
def test_the_ordered_gini_of_a_handful_is_known_to_lie_between_its_ends_only(few):
    """That of one person is 0 whatever the predictions are worth: it varied by nothing, and failed beside others."""
    random = np.random.default_rng(3)
    f = random.integers(1, 40, 600 + few) / 10
    roles = {"label": random.poisson(f) * 1.0, "prediction": f, "sensitive": ["a", "b"] * 300 + ["c"] * few}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = eh.ordered_gini_parity(**roles, task="regression", threshold=0.1)
    handful = next(row for row in found.groups if row.group == ("c",))
    assert (handful.estimate.low, handful.estimate.high) == (-1, 1)
    assert (found.verdict, found.value.low) == ("pass", 0.0) or found.verdict == "inconclusive"
    assert found.p_value > 0.05


def test_alike_predictions_of_thirty_people_do_not_make_their_ordered_gini_known():
    random = np.random.default_rng(3)
    f = np.r_[random.integers(1, 40, 600) / 10, np.full(30, 2.0)]
    roles = {"label": random.poisson(f) * 1.0, "prediction": f, "sensitive": ["a", "b"] * 300 + ["c"] * 30}
    row = next(row for row in eh.ordered_gini_parity(**roles, task="regression").groups if row.group == ("c",))
    assert row.estimate.high - row.estimate.low > 0.1


def test_the_net_benefit_does_not_depend_on_the_order_of_rows():
    """Whoever is refused is counted, not what remains of a sum: weights a million times apart left less than nobody."""
    random = np.random.default_rng(5)
    for _ in range(10):
        n = 400
        score, label, weight = random.random(n), random.integers(0, 2, n), random.choice([0.0, 0.3, 1.0, 1e6], n)
        group = np.where(random.random(n) < 0.5, "a", "b")
        score[(group == "b") & (weight > 0)] = 0.9  # nobody who counts is refused
        for rows in (np.arange(n), random.permutation(n)):
            cube = eh.Cube.count(
                score=score[rows], label=label[rows], weight=weight[rows], sensitive=group[rows],
                cutoff=0.5, score_range=(0, 1),
            )  # fmt: skip
            assert np.isfinite(values("net_benefit", cube)).all()


def test_an_audit_of_everything_leaves_out_what_the_score_does_not_allow():
    fine = np.random.default_rng(1).random(N)
    names = [each.metric for each in eh.audit(label=LABEL, score=fine, sensitive=GROUP, metrics="all").findings]
    assert "impact_ratio_by_quantile" in names
    assert not {"impact_ratio_by_class", "net_benefit_parity"} & set(names)
    cut = eh.audit(label=LABEL, score=fine.round(1), cutoff=0.5, sensitive=GROUP, metrics="all")
    assert {"impact_ratio_by_class", "net_benefit_parity"} <= {each.metric for each in cut.findings}
