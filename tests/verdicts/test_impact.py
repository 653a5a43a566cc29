"""Which rates are set against a yardstick, and the same groups against the lowest of them."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.inference import simultaneous
from evenhand.inference.spread import PLAIN, Proportions
from evenhand.verdicts import impact
from evenhand.verdicts.finding import strata_of
from support.hostile import NAMES

DATA = {
    "prediction": [1, 0] * 3,
    "label": [1, 0, 0, 1, 1, 0],
    "sensitive": {"race": ["White", "White", "Black", "Black", "Asian", "Asian"]},
    "count": [480, 520, 300, 600, 24, 36],
}


def stratum(finding):
    basis = finding.basis
    (found,) = strata_of(basis.request, basis.plan, basis.request.metric.rows, basis.cube)
    return found


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (eh.disparate_impact, {"reference": "highest"}, True),
        (eh.disparate_impact, {"reference": "White"}, True),
        (eh.disparate_impact, {"reference": "rest"}, True),
        (eh.disparate_impact, {"reference": "overall"}, False),  # of which each group is a part
        (eh.disparate_impact, {"reference": "lowest"}, False),
        (eh.disparate_impact, {}, False),
        (eh.disparate_impact, {"reference": "White", "convention": "fairlearn"}, False),
        (eh.demographic_parity, {"reference": "White"}, False),
        (eh.demographic_parity, {"reference": "White", "judged_on": "ratio"}, False),  # which looks both ways
        (eh.demographic_parity, {"reference": "highest", "judged_on": "ratio"}, True),
        (eh.equalized_odds, {"reference": "highest", "judged_on": "ratio"}, False),
    ],
)
def test_what_has_an_impact_table(function, arguments, expected):
    finding = function(**DATA, **arguments)
    assert stratum(finding).is_impact == expected
    assert bool([panel for panel in finding.panels if panel.role == impact.ROLE]) == expected


def test_names_stay_names():
    data = {"prediction": [1, 0] * len(NAMES), "sensitive": [name for name in NAMES for _ in range(2)]}
    found = eh.adverse_impact(**data, count=[50, 40] * len(NAMES))
    assert len(found.panels[0].rows) == len(NAMES)


# --- against the lowest


def test_each_group_against_the_lowest():
    found = eh.disparate_impact(**DATA, reference="lowest")
    rows = {row.group[0]: row for row in found.groups}
    assert {row.against for row in rows.values()} == {"Black"}
    assert rows["White"].ratio.value == pytest.approx(0.48 / (1 / 3))
    assert rows["White"].difference.value == pytest.approx(0.48 - 1 / 3)
    assert rows["White"].ratio.low > 1
    assert (rows["Black"].ratio.value, rows["Black"].difference.value) == (1.0, 0.0)
    assert rows["Black"].ratio.low <= 1 <= rows["Black"].ratio.high
    plain = eh.disparate_impact(**DATA)  # what is judged is the gap between extremes, whichever of them is named
    assert (found.value, found.verdict, found.threshold) == (plain.value, plain.verdict, plain.threshold)
    assert found.settings["against"] == "the lowest"


def test_a_burden_against_the_group_that_bears_least():
    data = {**DATA, "label": [0] * 6}
    found = eh.predictive_equality(**data, reference="lowest")
    assert {row.against for row in found.groups} == {"Black"}
    assert min(row.difference.value for row in found.groups) == 0


def test_an_audit_against_the_lowest_loads_as_it_was(tmp_path):
    audit = eh.audit(**DATA, reference="lowest")
    audit.save(tmp_path / "audit.json")
    assert eh.Audit.load(tmp_path / "audit.json").details() == audit.details()
    assert audit.policy.reference == "lowest"


def test_the_lowest_of_one_outcome_is_the_highest_of_the_other():
    random = np.random.default_rng(0)
    for _ in range(50):
        n = random.integers(5, 300, 5).astype(float)
        k = random.binomial(n.astype(int), random.random(5)).astype(float)
        every = np.ones(5, dtype=bool)
        low, high, *_ = simultaneous.against_extreme(Proportions(k, n, PLAIN), every, 0.95, every, lowest=True)
        other = simultaneous.against_extreme(Proportions(n - k, n, PLAIN), every, 0.95, every)
        assert low == pytest.approx(-other[1])
        assert high == pytest.approx(-other[0])


@pytest.mark.parametrize("rates", [(0.1, 0.1, 0.1), (0.02, 0.1, 0.3), (0.5, 0.52, 0.9)])
def test_intervals_against_the_truly_lowest_cover(rates):
    random, covered, draws = np.random.default_rng(5), np.zeros(2), 400
    n, every, truth = np.array([60.0, 200.0, 900.0]), np.ones(3, dtype=bool), np.array(rates)
    for _ in range(draws):
        k = random.binomial(n.astype(int), rates).astype(float)
        ends = simultaneous.against_extreme(Proportions(k, n, PLAIN), every, 0.95, every, lowest=True)
        for i, true in enumerate((truth - truth.min(), truth / truth.min())):
            low, high = ends[2 * i], ends[2 * i + 1]  # NaN: nobody in the lowest, whose ratio to itself is undefined
            covered[i] += not ((low > true + 1e-12) | (true - 1e-12 > high)).any()
    assert covered.min() / draws >= 0.93
