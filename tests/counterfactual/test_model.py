"""Causal models: mechanisms, abduction, action and prediction, against answers that are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from evenhand import CausalModel, Equation
from evenhand.errors import CallError, DataError
from support.causal_cases import GRAPH, KNOWN, people, truth
from support.profiles import examples


def known_model(rows):
    return CausalModel(GRAPH, mechanisms=KNOWN).fit(rows)


@pytest.mark.parametrize("target", ["a", "b"])
def test_with_known_coefficients_the_counterfactuals_are_exact(target):
    rows = people(1000)
    found, expected = known_model(rows).counterfactual(rows, do={"group": target}), truth(rows, target)
    for node in ("exam", "grade"):
        assert np.abs(found[node] - expected[node]).max() < 1e-8
    assert set(found["group"]) == {target}
    assert found["effort"] is rows["effort"]


@pytest.mark.parametrize("target", ["a", "b"])
def test_least_squares_recovers_them_exactly_where_noise_is_uncorrelated_in_the_sample(target):
    rows = people(300, orthogonal=True)
    found, expected = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": target}), truth(rows, target)
    for node in ("exam", "grade"):
        assert np.abs(found[node] - expected[node]).max() < 1e-8


def test_least_squares_is_that_of_numpy():
    rows = people(500)
    found = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": "a"})
    inside = (rows["group"] == "b").astype(float)
    first = np.column_stack([np.ones(500), inside, rows["effort"]])
    second = np.column_stack([first, rows["exam"]])
    on_exam = np.linalg.lstsq(first, rows["exam"], rcond=None)[0]
    on_grade = np.linalg.lstsq(second, rows["grade"], rcond=None)[0]
    exam = rows["exam"] - inside * on_exam[1]
    grade = rows["grade"] - inside * on_grade[1] + (exam - rows["exam"]) * on_grade[3]
    np.testing.assert_allclose(found["exam"], exam, atol=1e-8)
    np.testing.assert_allclose(found["grade"], grade, atol=1e-8)


def test_columns_of_very_different_size_lose_nothing():
    rng = np.random.default_rng(0)
    small, large = rng.normal(0, 1e-6, 400), rng.normal(1e9, 1e7, 400)
    rows = {"group": np.repeat(["a", "b"], 200), "small": small, "large": large}
    rows["y"] = 3e6 * small + 1e-7 * large + 2.0 * (rows["group"] == "b")
    model = CausalModel([("group", "y"), ("small", "y"), ("large", "y")]).fit(rows)
    found = model.counterfactual(rows, do={"group": "a"})["y"]
    np.testing.assert_allclose(found, 3e6 * small + 1e-7 * large, atol=1e-6)


@given(
    st.lists(st.floats(-5, 5), min_size=6, max_size=30),
    st.floats(-3, 3),
    st.sampled_from(["a", "b"]),
)
@examples(50)
def test_setting_what_is_already_so_changes_nothing_at_all(values, effect, target):
    group = np.array(["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2))
    rows = {"group": group, "x": np.array(values) + effect * (group == "b")}
    found = CausalModel([("group", "x")]).fit(rows).counterfactual(rows, do={"group": target})
    same = group == target
    assert (found["x"][same] == rows["x"][same]).all()


def test_there_and_back_is_where_it_started():
    rows = people(200)
    model = CausalModel(GRAPH).fit(rows)
    swapped = model.counterfactual(rows, do={"group": "b"})
    back = model.counterfactual(swapped, do={"group": "a"})
    direct = model.counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(back["grade"], direct["grade"], atol=1e-9)


def test_several_nodes_are_set_together():
    rows = people(100)
    found = known_model(rows).counterfactual(rows, do={"group": "a", "exam": 1.5})
    assert (found["exam"] == 1.5).all()
    np.testing.assert_allclose(found["grade"], 0.5 * rows["effort"] + 0.25 * 1.5 + rows["u_grade"], atol=1e-9)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_every_kind_of_table_comes_back_as_it_is(make):
    rows = people(60)
    table = make({"group": rows["group"].tolist(), **{k: v for k, v in rows.items() if k != "group"}})
    model = CausalModel(GRAPH).fit(table)
    found = model.counterfactual(table, do={"group": "b"})
    assert type(found) is type(table)
    expected = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": "b"})["grade"]
    np.testing.assert_allclose(np.asarray(found["grade"]), expected, atol=1e-12)
    assert {str(value) for value in found["group"]} == {"b"}
    assert {str(value) for value in table["group"]} == {"a", "b"}  # the caller's own stays


def test_pandas_categories_and_text_keep_their_type():
    rows = people(60)
    frame = pd.DataFrame({"group": pd.Categorical(rows["group"]), "exam": rows["exam"]}, index=range(100, 160))
    found = CausalModel("group -> exam").fit(frame).counterfactual(frame, do={"group": "a"})
    assert found.dtypes.equals(frame.dtypes)
    assert found.index.equals(frame.index)


def test_whole_numbers_can_be_names():
    rng = np.random.default_rng(1)
    code = rng.integers(1, 4, 300)
    rows = {"race": code, "x": np.array([0.0, 5.0, -1.0, 2.0])[code] + 0.01 * rng.normal(size=300)}
    named = CausalModel("race -> x", categorical=["race"]).fit(rows).counterfactual(rows, do={"race": 2})
    np.testing.assert_allclose(named["x"], -1.0, atol=0.05)
    as_number = CausalModel("race -> x").fit(rows).counterfactual(rows, do={"race": 2})
    assert np.abs(as_number["x"] + 1.0).max() > 1.0


# --- other mechanisms


def test_any_regressor_can_be_a_mechanism_and_stays_unfitted():
    rows = people(400)
    forest = RandomForestRegressor(20, random_state=0)
    found = CausalModel(GRAPH, mechanisms={"exam": forest, "grade": LinearRegression()}).fit(rows)
    moved = found.counterfactual(rows, do={"group": "a"})
    assert not hasattr(forest, "estimators_")
    gained = (moved["exam"] - rows["exam"])[rows["group"] == "b"]
    assert 2.5 < gained.mean() < 5.5
    plain = CausalModel(GRAPH, mechanisms={"exam": LinearRegression()}).fit(rows)
    by_default = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(plain.counterfactual(rows, do={"group": "a"})["grade"], by_default["grade"], atol=1e-8)


def test_functions_and_equations_of_the_caller():
    rows = people(100)

    def exam(causes):
        return -4.0 * (causes["group"] == "b") + 2.0 * causes["effort"]

    grade = Equation(
        value=lambda causes, u: (causes["exam"] + u) * 2, noise=lambda causes, x: np.asarray(x) / 2 - causes["exam"]
    )
    graph = [("group", "exam"), ("effort", "exam"), ("exam", "grade")]
    model = CausalModel(graph, mechanisms={"exam": exam, "grade": grade}).fit(rows)
    found = model.counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(found["exam"], truth(rows, "a")["exam"], atol=1e-8)
    np.testing.assert_allclose(found["grade"], rows["grade"] + 2 * (found["exam"] - rows["exam"]), atol=1e-8)


def test_a_category_keeps_the_order_of_its_latent_noise():
    """Who passes in a hard world passes in an easy one, and the shares are those of the model."""
    rng = np.random.default_rng(0)
    group = np.repeat(["easy", "hard"], 4000)
    chance = np.where(group == "easy", 0.8, 0.4)
    rows = {"group": group, "passed": np.where(rng.random(8000) < chance, "yes", "no")}
    model = CausalModel("group -> passed").fit(rows)
    easy, hard = (model.counterfactual(rows, do={"group": name})["passed"] for name in ("easy", "hard"))
    assert not ((easy == "no") & (hard == "yes")).any()  # "no" comes before "yes"
    assert np.mean(easy == "yes") == pytest.approx(0.8, abs=0.02)
    assert np.mean(hard == "yes") == pytest.approx(0.4, abs=0.02)
    own = group == "easy"
    assert (easy[own] == rows["passed"][own]).all()


def test_the_latent_noise_has_a_seed():
    rng = np.random.default_rng(0)
    rows = {"group": np.repeat(["a", "b"], 200), "z": rng.integers(0, 2, 400)}
    rows["z"][:100] = 1
    model = CausalModel("group -> z").fit(rows)
    one, same, other = (model.counterfactual(rows, do={"group": "b"}, random_state=s)["z"] for s in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
    assert set(one) <= {0.0, 1.0}


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_any_classifier_can_be_a_mechanism_for_several_classes(estimator):
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 600)
    level = np.where(group == "a", rng.integers(0, 3, 1200), rng.integers(1, 4, 1200)).astype(str)
    rows = {"group": group, "level": level}
    found = CausalModel("group -> level", mechanisms={"level": estimator}).fit(rows)
    moved = found.counterfactual(rows, do={"group": "b"})["level"]
    assert set(moved) <= set(level)
    assert (moved[group == "b"] == level[group == "b"]).all()
    assert moved[group == "a"].astype(int).mean() == pytest.approx(2.0, abs=0.15)


def test_residuals_are_the_noise_that_was_put_in():
    rows = people(200)
    found = known_model(rows).residuals(rows)
    assert set(found) == {"exam", "grade"}
    np.testing.assert_allclose(found["exam"], rows["u_exam"], atol=1e-9)
    np.testing.assert_allclose(found["grade"], rows["u_grade"], atol=1e-9)


# --- what is wrong


def test_missing_values_are_named_all_at_once():
    rows = people(20)
    rows["exam"][3] = np.nan
    rows["grade"] = [None, *rows["grade"][1:].tolist()]
    with pytest.raises(DataError, match="2 problems") as caught:
        CausalModel(GRAPH).fit(rows)
    assert "'exam' is missing in 1 row" in str(caught.value)
    assert "'grade' is missing in 1 row" in str(caught.value)


def test_infinite_values_and_no_rows():
    rows = people(20)
    rows["exam"][3] = np.inf
    with pytest.raises(DataError, match="infinite"):
        CausalModel(GRAPH).fit(rows)
    with pytest.raises(DataError, match="no rows"):
        CausalModel("a -> b").fit({"a": [], "b": []})


def test_an_id_is_no_category():
    with pytest.raises(DataError, match="an id, or numbers written as text"):
        CausalModel("id -> x").fit({"id": [f"p{i}" for i in range(300)], "x": np.arange(300.0)})


def test_a_constant_column_stays_and_cannot_be_acted_on():
    rows = people(50)
    rows["const"] = np.full(50, 3.0)
    rows["still"] = np.full(50, 1.0)
    model = CausalModel([*GRAPH, ("const", "exam"), ("group", "still")]).fit(rows)
    found = model.counterfactual(rows, do={"group": "a"})
    plain = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(found["exam"], plain["exam"], atol=1e-9)
    assert (found["still"] == 1.0).all()
    with pytest.raises(DataError, match="'const' is the same in every row"):
        model.counterfactual(rows, do={"const": 4.0})


def test_a_category_that_never_varies_stays():
    rows = {"group": ["a", "b"] * 20, "word": ["same"] * 40}
    assert set(CausalModel("group -> word").fit(rows).counterfactual(rows, do={"group": "a"})["word"]) == {"same"}


def test_causes_that_determine_each_other_are_an_error():
    rows = people(50)
    rows["copy"] = np.where(rows["group"] == "b", 1.0, 0.0)
    with pytest.raises(DataError, match="determine each other"):
        CausalModel([*GRAPH, ("copy", "exam")]).fit(rows)


def test_a_value_that_never_occurs_is_an_error_with_those_there_are():
    rows = people(50)
    model = CausalModel(GRAPH).fit(rows)
    with pytest.raises(CallError, match="'group' is never 'c'"):
        model.counterfactual(rows, do={"group": "c"})
    with pytest.raises(CallError, match="holds numbers"):
        model.counterfactual(rows, do={"exam": "high"})
    with pytest.raises(CallError, match="not a node of the graph; did you mean 'group'"):
        model.counterfactual(rows, do={"groups": "a"})
    with pytest.raises(CallError, match="do= says what to set"):
        model.counterfactual(rows, do={})


def test_new_rows_are_read_as_the_old_ones_were():
    rows = people(50)
    model = CausalModel(GRAPH).fit(rows)
    one = {name: values[:1] for name, values in rows.items()}
    assert len(model.counterfactual(one, do={"group": "a"})["exam"]) == 1
    with pytest.raises(DataError, match=r"holds 'z', which the model has not seen"):
        model.counterfactual({**one, "group": ["z"]}, do={"group": "a"})
    with pytest.raises(DataError, match="now holds text"):
        model.counterfactual({**one, "exam": ["high"]}, do={"group": "a"})
    with pytest.raises(DataError, match="not a column"):
        model.counterfactual({"group": ["a"]}, do={"group": "a"})


def test_what_is_no_mechanism_is_refused():
    rows = people(50)
    with pytest.raises(CallError, match="has no causes in the graph"):
        CausalModel(GRAPH, mechanisms={"effort": LinearRegression()})
    with pytest.raises(CallError, match="not a node of the graph"):
        CausalModel(GRAPH, mechanisms={"exams": LinearRegression()})
    with pytest.raises(CallError, match="coefficients by cause, not"):
        CausalModel(GRAPH, mechanisms={"exam": 3}).fit(rows)
    with pytest.raises(CallError, match="its causes are 'group', 'effort'"):
        CausalModel(GRAPH, mechanisms={"exam": {"group": {"a": 0, "b": 1}}}).fit(rows)
    with pytest.raises(CallError, match="lack 'b'"):
        CausalModel(GRAPH, mechanisms={"exam": {"group": {"a": 0}, "effort": 1}}).fit(rows).residuals(rows)
    with pytest.raises(CallError, match="one finite number for each row"):
        CausalModel(GRAPH, mechanisms={"exam": lambda causes: [1, 2]}).fit(rows).residuals(rows)
    words = {"group": ["a", "b"] * 10, "word": ["x", "y", "y", "x"] * 5}
    with pytest.raises(CallError, match="must be a classifier"):
        CausalModel("group -> word", mechanisms={"word": LinearRegression()}).fit(words)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(CallError, match=r"call model.fit\(data\) first"):
        CausalModel(GRAPH).counterfactual(people(10), do={"group": "a"})


@pytest.mark.parametrize("data", ["people.csv", None, 3])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(CallError):
        CausalModel(GRAPH).fit(data)


# --- models of dowhy.gcm


class FakeMechanism:
    """What dowhy.gcm's AdditiveNoiseModel offers, so far as it is used, with least squares inside."""

    def __init__(self):
        self.weights = None

    def clone(self):
        return FakeMechanism()

    def fit(self, X, Y):
        self.weights = np.linalg.lstsq(self._design(X), np.asarray(Y).reshape(-1), rcond=None)[0]

    def estimate_noise(self, target_samples, parent_samples):
        return np.asarray(target_samples) - (self._design(parent_samples) @ self.weights)[:, None]

    def evaluate(self, parent_samples, noise_samples):
        return (self._design(parent_samples) @ self.weights)[:, None] + noise_samples

    @staticmethod
    def _design(X):
        return np.column_stack([np.ones(len(X)), X.astype(float)])


class FakeScm:
    """A structural causal model in the manner of dowhy.gcm on a → x ← e."""

    class graph:  # noqa: N801
        nodes, edges = ("x", "e", "a"), (("e", "x"), ("a", "x"))

        @staticmethod
        def is_directed():
            return True

        @staticmethod
        def predecessors(node):
            return {"x": ["e", "a"]}.get(node, [])

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def causal_mechanism(self, node):
        return self.mechanism


def test_a_model_in_the_manner_of_dowhy_is_taken_as_it_is():
    rng = np.random.default_rng(0)
    rows = {"a": np.repeat([0.0, 1.0], 100), "e": rng.normal(size=200)}
    rows["x"] = 3 * rows["a"] + rows["e"] + rng.normal(size=200)
    mechanism = FakeMechanism()
    mechanism.fit(np.column_stack([rows["a"], rows["e"]]), rows["x"])  # causes by name, as dowhy has them
    model = CausalModel(FakeScm(mechanism))
    assert "fitted" in repr(model)
    found = model.counterfactual(rows, do={"a": 1})["x"]
    ours = CausalModel([("a", "x"), ("e", "x")]).fit(rows).counterfactual(rows, do={"a": 1})["x"]
    np.testing.assert_allclose(found, ours, atol=1e-8)
    mechanism.weights = np.array([0.0, 10.0, 0.0])
    np.testing.assert_allclose(model.counterfactual(rows, do={"a": 1})["x"], rows["x"] + 10 * (1 - rows["a"]))
    anew = CausalModel(FakeScm(mechanism)).fit(rows).counterfactual(rows, do={"a": 1})["x"]
    np.testing.assert_allclose(anew, ours, atol=1e-8)


def test_a_mechanism_of_dowhy_that_cannot_be_inverted_is_named():
    with pytest.raises(CallError, match="'x' in the dowhy model cannot be inverted"):
        CausalModel(FakeScm(object()))


def test_a_real_model_of_dowhy():
    gcm = pytest.importorskip("dowhy.gcm")
    nx = pytest.importorskip("networkx")
    rows = pd.DataFrame(people(300)).drop(columns=["u_exam", "u_grade"])
    scm = gcm.InvertibleStructuralCausalModel(nx.DiGraph(GRAPH))
    for node in scm.graph.nodes:
        causes = list(scm.graph.predecessors(node))
        made = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor()) if causes else gcm.EmpiricalDistribution()
        scm.set_causal_mechanism(node, made)
    gcm.fit(scm, rows)
    found = CausalModel(scm).counterfactual(rows, do={"group": "a"})
    ours = CausalModel(GRAPH).fit(rows).counterfactual(rows, do={"group": "a"})
    np.testing.assert_allclose(found["grade"], ours["grade"], atol=1e-6)
    theirs = gcm.counterfactual_samples(scm, {"group": lambda _: "a"}, observed_data=rows)
    np.testing.assert_allclose(found["grade"], theirs["grade"].to_numpy(dtype=float), atol=1e-8)
