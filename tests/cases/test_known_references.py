"""Known answers about references, four fifths on one side or both, and the conventions of other tools."""

from __future__ import annotations

import pytest

import evenhand as eh
from support.tables import HAND, by_group, close, rows, selected

# --- references ---------------------------------------------------------------------------------------------------

# The true positive rates are 4/5, 1/2 and 2/3; of everyone 12/18; of the rest 8/13, 10/14 and 6/9.
AGAINST = {
    "a value": ("A", {"A": None, "B": 1 / 2 - 4 / 5, "C": 2 / 3 - 4 / 5}, "A"),
    "a mapping": ({"sensitive": "B"}, {"A": 4 / 5 - 1 / 2, "B": None, "C": 2 / 3 - 1 / 2}, "B"),
    "largest": ("largest", {"A": 4 / 5 - 2 / 3, "B": 1 / 2 - 2 / 3, "C": None}, "C"),
    "overall": ("overall", {"A": 4 / 5 - 2 / 3, "B": 1 / 2 - 2 / 3, "C": 0}, "everyone"),
    "rest": ("rest", {"A": 4 / 5 - 8 / 13, "B": 1 / 2 - 10 / 14, "C": 0}, "everyone else"),
}


@pytest.mark.parametrize("name", AGAINST)
def test_reference(name):
    reference, expected, against = AGAINST[name]
    found = eh.equal_opportunity(**rows(HAND), reference=reference)
    assert by_group(found, "difference") == {
        group: value if value is None else close(value) for group, value in expected.items()
    }
    farthest = max((group for group in expected if expected[group] is not None), key=lambda group: abs(expected[group]))
    assert float(found.value) == close(expected[farthest])
    assert (found.highest, found.lowest) == (farthest, against)


def test_reference_as_a_ratio_keeps_its_direction():
    found = eh.equal_opportunity_ratio(**rows(HAND), reference="C")
    assert by_group(found, "ratio") == {"A": close(1.2), "B": close(0.75), "C": None}
    assert float(found.value) == close(0.75)  # 3/4 is farther from 1 than 6/5


def test_reference_by_number_and_by_its_own_name():
    table = {"prediction": [1, 0, 1, 1], "sensitive": [0, 0, 1, 1]}
    assert float(eh.demographic_parity(**table, reference=0).value) == 0.5
    assert float(eh.demographic_parity(**table, reference="1").value) == -0.5
    named = eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive=["rest", "rest", "b", "b"], reference="rest")
    assert (named.highest, named.lowest) == ("b", "rest")


TWO = {"prediction": [1, 0, 1, 1] * 2, "sensitive": {"race": list("wwbb") * 2, "sex": list("mfmf") * 2}}


def test_reference_of_an_intersection_needs_every_attribute():
    found = eh.demographic_parity(**TWO, reference={"race": "w", "sex": "m"})
    assert (found.highest, found.lowest) == ("w, f", "w, m")
    extremes = eh.demographic_parity(**TWO, reference={"race": "w"})
    assert extremes.settings["against"] == "extremes"


@pytest.mark.parametrize(
    "reference",
    ["nobody", {"rcae": "w"}, {"race": "nobody"}, {"race": "nobody", "sex": "m"}, {"race": "w", "sex": "m", "age": 3}],
    ids=str,
)
def test_reference_that_is_not_there_is_an_error(reference):
    with pytest.raises(eh.CallError):
        eh.demographic_parity(**TWO, reference=reference)


@pytest.mark.parametrize("reference", ["nobody", {"sensitive": "nobody"}, {"other": "A"}], ids=str)
def test_reference_of_one_attribute_that_is_not_there_is_an_error(reference):
    with pytest.raises(eh.CallError):
        eh.demographic_parity(**selected(A=(1, 2), B=(2, 2)), reference=reference)


# --- four fifths: one side or both --------------------------------------------------------------------------------

SIXTEEN = selected(A=(40, 100), B=(64, 100))


def test_four_fifths_against_a_reference_looks_at_one_side():
    found = eh.disparate_impact(**SIXTEEN, reference="A")
    assert (float(found.value), found.passes, found.verdict) == (close(1.6), True, "pass")
    other = eh.disparate_impact(**SIXTEEN, reference="B")
    assert (float(other.value), other.passes) == (close(0.625), False)


def test_other_ratios_against_a_reference_look_at_both_sides():
    found = eh.demographic_parity_ratio(**SIXTEEN, reference="A")
    assert (float(found.value), found.passes) == (close(1.6), False)
    near = eh.demographic_parity_ratio(**selected(A=(40, 100), B=(50, 100)), reference="A")
    assert (float(near.value), near.passes) == (close(1.25), True)


def test_without_a_reference_the_lowest_is_set_against_the_highest():
    for metric in (eh.disparate_impact, eh.demographic_parity_ratio):
        found = metric(**SIXTEEN)
        assert (float(found.value), found.passes) == (close(0.625), False)
        assert (found.highest, found.lowest) == ("B", "A")


def test_four_fifths_finds_the_group_below_among_those_above():
    found = eh.disparate_impact(**selected(A=(40, 100), B=(64, 100), C=(30, 100)), reference="A")
    assert (float(found.value), found.highest, found.passes) == (close(0.75), "C", False)


def test_exactly_four_fifths_passes():
    found = eh.four_fifths(**selected(A=(40, 100), B=(50, 100)))
    assert (float(found.value), found.passes) == (close(0.8), True)
    tenth = eh.demographic_parity(**selected(A=(40, 100), B=(30, 100)))
    assert tenth.passes  # 0.4 − 0.3 is a hair above 0.1 in floating point


# --- conventions --------------------------------------------------------------------------------------------------

THREE = selected(A=(40, 100), B=(64, 100), C=(39, 100))


def test_fairlearn_folds():
    difference = eh.equal_opportunity(**rows(HAND), reference="A", convention="fairlearn")
    assert float(difference.value) == close(0.3)
    ratio = eh.demographic_parity_ratio(**SIXTEEN, reference="A", convention="fairlearn")
    assert float(ratio.value) == close(0.625)


def test_fairlearn_averages_the_widest_gap_of_each_measure():
    """To the overall, TPR 12/18 and FPR 6/22: B is farthest in the first, and in the second as well."""
    found = eh.equalized_odds(**rows(HAND), reference="overall", convention="fairlearn", aggregate="mean")
    assert float(found.difference) == close(((2 / 3 - 1 / 2) + (1 / 2 - 6 / 22)) / 2)
    # Here the widest gaps belong to different groups: TPR to A (1 against 6/11), FPR to B (4/5 against 5/15).
    confusion = {"A": (3, 0, 5, 0), "B": (2, 4, 1, 2), "C": (1, 1, 4, 3)}
    found = eh.equalized_odds(**rows(confusion), reference="overall", convention="fairlearn", aggregate="mean")
    assert float(found.difference) == close(((1 - 6 / 11) + (4 / 5 - 5 / 15)) / 2)


def test_a_folded_ratio_is_the_worst_of_all_groups():
    """B is selected 1.6 times as often as A. That another group is there too must not hide it."""
    two = eh.disparate_impact(**SIXTEEN, reference="A", convention="fairlearn")
    three = eh.disparate_impact(**THREE, reference="A", convention="fairlearn")
    assert float(two.value) == float(three.value) == close(0.625)


@pytest.mark.parametrize("convention", ["aif360", "virny"])
def test_privileged_against_everyone_else(convention):
    found = eh.equal_opportunity(**rows(HAND), reference="A", convention=convention)
    assert float(found.difference) == close(8 / 13 - 4 / 5)
    assert float(found.ratio) == close((8 / 13) / (4 / 5))
    assert (found.highest, found.lowest) == ("everyone else", "A")
    with pytest.raises(eh.CallError, match="privileged"):
        eh.equal_opportunity(**rows(HAND), convention=convention)


def test_people_without_a_group_are_not_everyone_else():
    table = selected(A=(40, 80), B=(40, 40), C=(0, 20))
    table["sensitive"] = [None if group == "C" else group for group in table["sensitive"]]
    found = eh.demographic_parity(**table, reference="A", convention="aif360")
    assert float(found.value) == close(0.5)
    assert any("20 rows (14.3%) have no group" in note for note in found.notes)


def test_aequitas_compares_with_the_largest():
    found = eh.equal_opportunity(**rows(HAND), convention="aequitas")
    assert found.lowest == "C"
    assert by_group(found, "ratio") == {"A": close(1.2), "B": close(0.75), "C": None}


def test_exfairness_has_no_sign():
    found = eh.equal_opportunity(**rows(HAND), reference="A", convention="exfairness")
    assert float(found.value) == close(0.3)


def test_aif360_has_no_sign_where_the_worst_of_two_is_reported():
    """equalized_odds_difference of AIF360 is max(|FPR gap|, |TPR gap|); its single and mean gaps have a sign."""
    table = rows({"A": (8, 2, 8, 2), "B": (4, 1, 9, 6)})  # TPR .8 and .4, FPR .2 and .1
    assert float(eh.equalized_odds_difference(**table, reference="A", convention="aif360").value) == close(0.4)
    assert float(eh.equalized_odds_difference(**table, reference="B", convention="aif360").value) == close(0.4)
    assert float(eh.equal_opportunity_difference(**table, reference="A", convention="aif360").value) == close(-0.4)
    assert float(eh.average_odds_difference(**table, reference="A", convention="aif360").value) == close(-0.25)
    absolute = eh.average_abs_odds_difference(**table, reference="A", convention="aif360")
    assert float(absolute.value) == close(0.25)
    plain = eh.equalized_odds_difference(**table, reference="A")
    assert float(plain.value) == close(-0.4)


def test_aif360_has_no_sign_in_the_balance_of_scores():
    """generalized_equalized_odds_difference of AIF360 is the larger size of two gaps of mean scores."""
    table = {"label": [1, 0] * 40, "score": [0.9, 0.3] * 20 + [0.5, 0.2] * 20, "sensitive": ["A"] * 40 + ["B"] * 40}
    found = eh.overall_balance(**table, reference="A", convention="aif360")
    assert float(found.value) == close(0.4)
    assert found.value.low >= 0
    signed = eh.balance_for_positive_class(**table, reference="A", convention="aif360")
    assert float(signed.value) == close(-0.4)


@pytest.mark.parametrize("convention", ["aif360", "virny"])
def test_the_only_other_group_keeps_its_name(convention):
    found = eh.demographic_parity(**SIXTEEN, reference="A", convention=convention)
    assert {row.group for row in found.groups} == {("A",), ("B",)}
    assert (found.highest, found.lowest) == ("B", "A")
    assert "everyone else" not in found.interpretation
    three = eh.demographic_parity(**THREE, reference="A", convention=convention)
    assert {row.group for row in three.groups} == {("A",), ("everyone else",)}


def test_the_only_other_group_keeps_its_name_beside_people_without_one():
    table = selected(A=(40, 80), B=(40, 40), C=(0, 20))
    table["sensitive"] = [None if group == "C" else group for group in table["sensitive"]]
    found = eh.demographic_parity(**table, reference="A", convention="aif360")
    assert found.highest == "B"


def test_clarify_has_the_favoured_facet_first_in_some_differences():
    """DPPL is a − d and DRR is d − a; a ratio is d / a, and a metric without a name there is group − reference."""
    settings = {"reference": "A", "convention": "clarify"}
    selected, refused = (
        {row.group[0]: float(row.estimate) for row in found.groups}
        for found in (
            eh.demographic_parity(**rows(HAND), **settings),
            eh.negative_predictive_parity(**rows(HAND), **settings),
        )
    )
    first, other = selected["A"], selected["everyone else"]
    assert float(eh.demographic_parity(**rows(HAND), **settings)) == pytest.approx(first - other, abs=1e-12)
    assert float(eh.disparate_impact(**rows(HAND), **settings)) == pytest.approx(other / first, abs=1e-12)
    drr = float(eh.negative_predictive_parity(**rows(HAND), **settings))
    assert drr == pytest.approx(refused["everyone else"] - refused["A"], abs=1e-12)
    with pytest.raises(eh.CallError, match="name it, as in reference="):
        eh.demographic_parity(**rows(HAND), convention="solas")
