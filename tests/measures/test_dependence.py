"""Dependence on a quantity: known values, what chance alone shows, and a p-value that keeps its word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import hypergeom
from sklearn.metrics import mutual_info_score

import evenhand as eh
from evenhand.inference import contingency
from evenhand.measures import dependence
from support.profiles import examples
from support.tables import close

tables = arrays(np.int64, (4, 3), elements=st.integers(1, 50))


def test_the_maximal_correlation_of_two_by_two_is_phi():
    table = np.array([[30.0, 10.0], [20.0, 40.0]])
    phi = (30 * 40 - 10 * 20) / np.sqrt(40 * 60 * 50 * 50)
    assert dependence.maximal_correlation(table).item() == close(phi, 1e-10)


@examples(60)
@given(tables)
def test_mutual_information_equals_scikit_learn(table):
    rows, columns = np.indices(table.shape)
    a, b = (np.repeat(part.reshape(-1), table.reshape(-1)) for part in (rows, columns))
    assert dependence.mutual_information(table.astype(float)).item() == pytest.approx(
        mutual_info_score(a, b), abs=1e-10
    )


@examples(60)
@given(tables)
def test_no_function_of_the_columns_is_more_correlated(table):
    """HGR is an upper bound of the correlation of any two functions of rows and columns."""
    bound = dependence.maximal_correlation(table.astype(float)).item()
    shares, random = table / table.sum(), np.random.default_rng(0)
    for _ in range(20):
        g, h = random.normal(size=4), random.normal(size=3)
        g, h = g - shares.sum(axis=1) @ g, h - shares.sum(axis=0) @ h
        spread = np.sqrt((shares.sum(axis=1) @ g**2) * (shares.sum(axis=0) @ h**2))
        assert abs(g @ shares @ h) <= bound * spread + 1e-9


def test_independent_tables_are_nothing_and_equal_ones_everything():
    assert dependence.maximal_correlation(np.outer([1.0, 2.0], [3.0, 4.0])).item() == pytest.approx(0, abs=1e-7)
    assert dependence.mutual_information(np.diag([1.0, 1.0, 1.0])).item() == close(np.log(3))


def test_chance_alone_is_told():
    """Ten bands and ten bins of 1,000 independent people: the mean is about 0.17, as in published simulations."""
    random = np.random.default_rng(0)
    table = np.histogram2d(random.random(1000), random.random(1000), bins=10)[0]
    found = dependence.against_chance(table, dependence.maximal_correlation, 500, 0, power=0.5)
    assert found.null_mean == pytest.approx(0.167, abs=0.02)
    assert found.p_value > 0.01


def test_the_null_of_many_people_shrinks_as_it_should():
    """Drawn with fewer people than there are, and scaled: the mean of mutual information is (I−1)(J−1)/2n."""
    table = np.full((5, 10), 2e7)
    found = dependence.against_chance(
        table, dependence.mutual_information, 400, 0, power=1.0, chance=dependence.chance_information
    )
    assert found.null_mean == pytest.approx(dependence.chance_information(table), rel=0.1)


def test_p_values_keep_their_size():
    random, p = np.random.default_rng(5), []
    for i in range(200):
        table = np.histogram2d(random.random(300), random.random(300), bins=(5, 4))[0]
        p.append(dependence.against_chance(table, dependence.maximal_correlation, 199, i, power=0.5).p_value)
    assert np.mean(np.array(p) <= 0.05) < 0.10


def test_age_is_cut_and_its_dependence_found():
    random = np.random.default_rng(0)
    age = random.integers(18, 90, 4000)
    score = np.clip(0.5 + 0.2 * np.cos((age - 18) / 72 * 2 * np.pi) + random.normal(0, 0.15, 4000), 0, 1)
    found = eh.maximal_correlation(score=score, sensitive={"age": age})
    assert found.value.value > 0.6  # the young and the old score high: no straight line would show it
    assert abs(np.corrcoef(age, score)[0, 1]) < 0.05
    assert found.p_value < 0.01
    assert found.verdict == "not judged"
    assert "without any dependence" in found.interpretation
    audit = eh.audit(score=score, sensitive={"age": age})
    assert any("age is numeric and was cut" in note for note in audit.notes)


@pytest.mark.parametrize("name", ["maximal_correlation", "mutual_information", "hgr"])
def test_decisions_and_labels_do_too(name):
    metric = getattr(eh, name)
    values, groups = [1, 0, 1, 1, 0, 0] * 20, ["a", "a", "a", "b", "b", "b"] * 20
    decided = metric(prediction=values, sensitive=groups)
    assert decided.value.value >= 0
    assert "decision" in decided.interpretation
    assert "label" in metric(label=values, sensitive=groups).interpretation


def test_one_value_only_is_undefined():
    found = eh.mutual_information(prediction=[1, 1, 1, 1], sensitive=["a", "a", "b", "b"])
    assert np.isnan(found.value.value)
    assert "undefined" in found.interpretation


def test_weights_worth_fewer_people_than_there_are_values():
    """Two people of a million each leave less than one for every other value, and each margin has at least one."""
    table = {"score": np.arange(8) / 8, "sensitive": list("abababab"), "weight": [1e6, 1e6, 1, 1, 1, 1, 1, 1]}
    for metric in (eh.maximal_correlation, eh.mutual_information):
        found = metric(**table)
        assert 0 < found.p_value <= 1


@pytest.mark.parametrize(("rows", "columns"), [(256, 10), (257, 10), (1_000, 2), (3_000, 10), (300, 200)])
def test_tables_of_many_groups_have_the_singular_values_of_the_whole(rows, columns):
    matrices = np.random.default_rng(rows).normal(size=(3, rows, columns))
    plain = np.linalg.svd(matrices, compute_uv=False)
    assert np.linalg.svd(dependence._folded(matrices), compute_uv=False) == pytest.approx(plain, rel=1e-12)


# --- formulas in place of draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [((3, 4), (5, 2)), ((30, 9, 1), (10, 25, 5)), ((3, 500), (250, 253))])
def test_expected_information_is_the_mean_over_all_tables(rows, columns):
    total = sum(rows)
    mean = sum(
        share * count / total * np.log(total * count / (row * column))
        for row in rows
        for column in columns
        for count in range(1, min(row, column) + 1)
        if (share := hypergeom.pmf(count, total, row, column)) > 0
    )
    table = np.outer(rows, columns) / total
    assert dependence.expected_information(table) == pytest.approx(mean, rel=1e-9)


def test_expected_information_of_many_people_is_that_of_a_chi_square():
    table = np.outer([1e7, 1e6], [0.002, 0.5, 0.498])
    assert dependence.expected_information(table) == pytest.approx(dependence.chance_information(table), rel=1e-4)


_STATISTICS = {"information": dependence.mutual_information, "correlation": dependence.maximal_correlation}


@pytest.mark.parametrize("name", _STATISTICS)
@pytest.mark.parametrize("groups", [2, 40, 400])
def test_formulas_say_what_drawn_tables_say(name, groups):
    statistic, random = _STATISTICS[name], np.random.default_rng(groups)
    rows = random.integers(14, 30, groups)
    columns = np.array([rows.sum() // 2, rows.sum() - rows.sum() // 2])
    drawn = contingency.draw_tables(rows, columns, 2000, random)
    values = statistic(drawn)
    found = [dependence.against_chance(table, statistic, 0, 0, power=1.0) for table in drawn]  # without draws
    assert found[0].null_mean == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(2000) + 0.006 / groups)
    # Twice the smaller of two p-values that agree: the 99.9 % limit of 5 % of 2,000 tables.
    assert 0.005 < np.mean([each.p_value < 0.05 for each in found]) < 0.066


def test_formulas_of_strata_say_what_drawn_tables_say():
    random, groups = np.random.default_rng(4), 30
    strata = [random.integers(14, 40, groups) for _ in range(2)]
    halves = [np.array([rows.sum() // 2, rows.sum() - rows.sum() // 2]) for rows in strata]
    drawn = [contingency.draw_tables(rows, half, 1000, random) for rows, half in zip(strata, halves, strict=True)]
    found = [dependence.within_strata(tables, 0, 0) for tables in zip(*drawn, strict=True)]
    raw = np.array([each.raw for each in found])
    assert found[0].null_mean == pytest.approx(raw.mean(), abs=4 * raw.std() / np.sqrt(1000))
    assert 0.005 < np.mean([each.p_value < 0.05 for each in found]) < 0.073


# --- conditional mutual information ----------------------------------------------------------------------------------


def _conditional(groups, told, given):
    """I(groups; told | given) in nats, from the definition."""
    total = 0.0
    for each in np.unique(given):
        inside = given == each
        for a in np.unique(groups):
            for b in np.unique(told):
                joint = (inside & (groups == a) & (told == b)).mean()
                if joint:
                    rows, columns = (inside & (groups == a)).mean(), (inside & (told == b)).mean()
                    total += joint * np.log(joint * inside.mean() / (rows * columns))
    return total


@pytest.mark.parametrize("scored", [False, True])
def test_conditional_information_is_that_of_the_definition(scored):
    random = np.random.default_rng(2)
    groups, label = random.choice(["a", "b", "c"], 2000), random.integers(0, 2, 2000)
    score = np.round(np.clip(random.normal(0.4 + 0.2 * label + 0.1 * (groups == "a"), 0.2), 0, 1), 1)
    given = {"score": score} if scored else {"prediction": (score > 0.5).astype(int)}
    told = np.clip(score, 0.0, 1.0) if scored else (score > 0.5).astype(int)
    separation = eh.separation_information(label=label, sensitive=groups, **given)
    sufficiency = eh.sufficiency_information(label=label, sensitive=groups, **given)
    raw = [float(next(r.estimate for r in each.rows if r.measure == "observed")) for each in (separation, sufficiency)]
    if not scored:
        assert raw == pytest.approx([_conditional(groups, told, label), _conditional(groups, label, told)], abs=1e-12)
    assert separation.p_value < 0.001
    assert separation.verdict == "not judged"
    chance = 2 * (3 - 1) * (2 - 1) / (2 * 2000)
    if not scored:
        assert float(separation) == pytest.approx(raw[0] - chance, abs=1e-12)


def test_conditional_information_of_no_dependence_has_a_uniform_p():
    random, small = np.random.default_rng(9), 0
    for seed in range(150):
        groups, label = random.choice(["a", "b"], 300), random.integers(0, 2, 300)
        decided = (random.random(300) < 0.3 + 0.3 * label).astype(int)
        found = eh.separation_information(label=label, prediction=decided, sensitive=groups, random_state=seed)
        small += found.p_value < 0.05
    assert small <= 16  # the 99.9 % limit of 5 % of 150


def test_conditional_information_without_labels_of_both_kinds_says_why():
    found = eh.sufficiency_information(label=[1, 1, 1, 1], prediction=[0, 1, 0, 1], sensitive=["a", "a", "b", "b"])
    assert np.isnan(float(found))
    assert "only one value of the label" in found.interpretation
