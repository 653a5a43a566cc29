"""Conditional demographic disparity, by hand and beside the formula of SageMaker Clarify."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh


def clarify(facet, accepted, strata=None):
    """Σ_i n_i DD_i / Σ_i n_i with DD = share of the facet among the rejected − among the accepted (smclarify)."""
    strata = np.zeros(len(facet)) if strata is None else np.asarray(strata)
    total = 0.0
    for each in np.unique(strata):
        inside = strata == each
        rejected, taken = inside & (accepted == 0), inside & (accepted == 1)
        total += inside.sum() * (facet[rejected].mean() - facet[taken].mean())
    return total / len(facet)


def test_it_is_the_formula_of_clarify_within_departments():
    berkeley = eh.datasets.berkeley()
    rows = np.repeat(np.arange(len(berkeley["count"])), berkeley["count"])
    gender, admitted, department = (np.asarray(berkeley[name])[rows] for name in ("gender", "admitted", "department"))
    found = eh.conditional_demographic_disparity(
        berkeley, prediction="admitted", sensitive="gender", control="department", count="count"
    )
    values = {row.group[0]: float(row.estimate) for row in found.groups}
    for name in set(gender):
        expected = clarify((gender == name).astype(float), admitted, department)
        assert values[name] == pytest.approx(expected, abs=1e-12)
    plain = eh.demographic_disparity(berkeley, prediction="admitted", sensitive="gender", count="count")
    women = next(name for name in set(gender) if name.lower().startswith("f") or name.lower().startswith("w"))
    assert float(plain) == pytest.approx(clarify((gender == women).astype(float), admitted), abs=1e-12)
    assert float(plain) > 0.1 > float(found)  # what departments explain


def test_its_interval_holds_the_truth():
    from scipy.stats import binom

    random, held, samples = np.random.default_rng(4), 0, 400
    for _ in range(samples):
        facet, strata = random.random(300) < 0.3, random.integers(0, 3, 300)
        accepted = (random.random(300) < np.array([0.3, 0.5, 0.7])[strata]).astype(int)
        found = eh.conditional_demographic_disparity(
            prediction=accepted, sensitive=np.where(facet, "d", "a"), control=strata
        )
        held += found.value.low <= 0 <= found.value.high
    assert held >= binom.ppf(0.001, samples, 0.94)


def test_strata_with_one_decision_are_left_out_and_named():
    found = eh.conditional_demographic_disparity(
        prediction=[1, 0, 1, 0, 1, 1], sensitive=["a", "a", "b", "b", "a", "b"], control=["x"] * 4 + ["y"] * 2
    )
    assert any("everybody got the same decision there: y (2 people)" in note for note in found.notes)
    assert not any("all strata together" in note for note in found.notes)


@pytest.mark.parametrize(("decision", "why"), [(1, "nobody was refused"), (0, "nobody was selected")])
def test_one_decision_for_everybody_is_undefined(decision, why):
    found = eh.demographic_disparity(prediction=[decision] * 4, sensitive=["a", "a", "b", "b"])
    assert np.isnan(float(found))
    assert why in found.interpretation
