"""Displays for papers: the numbers they hold, what they draw, and names that stay names."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from support import hostile

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib draws the displays")
matplotlib.use("Agg")

from evenhand import plots  # noqa: E402 - after the check

ROLES = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
AUDIT = eh.audit(
    eh.datasets.compas(), sensitive=["race", "sex"], metrics=["equalized_odds", "disparate_impact"], **ROLES
)
DISPLAYS = [
    plots.GroupMeasureDisplay,
    plots.ForestDisplay,
    plots.CalibrationDisplay,
    plots.RocDisplay,
    plots.SweepDisplay,
]


@pytest.fixture(autouse=True)
def closed_figures():
    """Figures stay open until they are closed, and matplotlib warns of many."""
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("attributes", [None, ["sex"], ["race", "sex"]])
def test_every_display_draws_on_its_own_axes_or_on_those_given(display, attributes, tmp_path):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    found = display.from_audit(AUDIT, attributes=attributes)
    assert found.plot(ax=ax) is found
    assert found.ax_ is ax
    assert found.figure_ is figure
    figure.savefig(tmp_path / "x.png")
    assert display.from_audit(AUDIT, attributes=attributes).plot().figure_ is not figure
    plt.close("all")


def test_numbers_are_those_of_the_audit():
    found = plots.GroupMeasureDisplay.from_audit(AUDIT, "true_positive_rate")
    frame = AUDIT.groups()
    rows = frame[(frame.attributes == "race") & (frame.measure == "true_positive_rate")]
    assert found.values.tolist() == rows.value.tolist()
    assert found.groups == rows.group.tolist()
    roc = plots.RocDisplay.from_audit(AUDIT)
    assert roc.auc[roc.groups.index("African-American")] == pytest.approx(0.6918, abs=5e-5)
    sweep = plots.SweepDisplay.from_audit(AUDIT)
    assert sweep.metric == "equalized_odds"
    assert sweep.gaps[list(sweep.cutoffs).index(5)] == pytest.approx(AUDIT.findings[0].value.value)


def test_a_forest_shows_shares_of_what_is_tolerated():
    found = plots.ForestDisplay.from_audit(AUDIT)
    values = dict(zip(found.metrics, found.values, strict=True))
    by_name = {finding.title: finding for finding in AUDIT.findings if finding.attributes == ("race",)}
    assert values["equalized odds"] == pytest.approx(by_name["equalized odds"].shown.value / 0.1)
    assert values["disparate impact"] == pytest.approx((1 - by_name["disparate impact"].shown.value) / 0.2)
    assert (found.low <= found.values + 1e-12).all()
    assert (found.values <= found.high + 1e-12).all()


@pytest.mark.parametrize("kind", ["mathtext", "latex", "percent", "greek", "long", "control", "script"])
def test_names_are_not_read_as_mathematics(kind, tmp_path):
    audit = hostile.audited(hostile.NAMES[kind], column=False)
    found = plots.GroupMeasureDisplay.from_audit(audit).plot()
    texts = [text.get_text() for text in found.ax_.get_yticklabels()]
    assert hostile.unseen("".join(texts)) == set()
    assert not any(text.get_parse_math() for text in found.ax_.get_yticklabels())
    found.figure_.savefig(tmp_path / "x.svg")
    for audited in (audit, hostile.audited(hostile.NAMES[kind], column=True)):
        drawn = plots.FindingDisplay.from_finding(audited["equalized_odds"]).plot()
        drawn.figure_.savefig(tmp_path / "y.svg")
        assert hostile.unseen(drawn.ax_.get_title(loc="left")) == set()


@pytest.mark.parametrize("of_class", [None, "$x_1$"])
def test_a_finding_is_drawn_with_its_measures(of_class, tmp_path):
    rng = np.random.default_rng(0)
    label, prediction = (rng.choice([of_class or "0", "1", "2"], 200) for _ in range(2))
    group = rng.choice(["a", "b"], 200)
    several = eh.audit(label=label, prediction=prediction, sensitive=group, task="multiclass")
    for finding in (*several.findings, *AUDIT.findings):
        found = plots.FindingDisplay.from_finding(finding)
        assert found.values.shape == found.low.shape == (len(found.groups), len(found.measures))
    found = plots.FindingDisplay.from_finding(AUDIT["equalized_odds", "race"])
    rows = {(row.group[0], row.measure): row.estimate.value for row in AUDIT["equalized_odds", "race"].groups}
    for group, line in zip(found.groups, found.values, strict=True):
        assert line.tolist() == [rows[group, measure] for measure in found.measures]
    several["equal_opportunity"].plot().figure_.savefig(tmp_path / "x.png")


def test_many_groups_leave_room():
    rng = np.random.default_rng(0)
    audit = eh.audit(prediction=rng.integers(0, 2, 4000), sensitive=[f"g{i}" for i in rng.integers(0, 90, 4000)])
    found = audit["demographic_parity"].plot()
    assert len(found.groups) == 40
    assert set(found.pair) <= set(found.groups)
    assert found.figure_.get_size_inches()[1] > 10
    with pytest.raises(eh.CallError, match="pass a Finding"):
        plots.FindingDisplay.from_finding(audit)


def test_what_is_not_there_is_said():
    plain = eh.audit(prediction=[1, 0, 1, 1] * 10, sensitive=["a", "b"] * 20)
    for display in (plots.CalibrationDisplay, plots.RocDisplay):
        with pytest.raises(eh.CallError, match="needs a score and a label"):
            display.from_audit(plain)
    with pytest.raises(eh.CallError, match="'tpr' is not a measure of this audit"):
        plots.GroupMeasureDisplay.from_audit(plain, "tpr")
    with pytest.raises(eh.CallError, match="'theil_index' has no gap at every cutoff"):
        plots.SweepDisplay.from_audit(AUDIT, "theil_index")


def test_an_undefined_group_is_left_white():
    audit = eh.audit(label=[0, 0, 1, 1] * 10, prediction=[0, 1, 1, 0] * 10, sensitive=["a", "a", "b", "b"] * 10)
    found = plots.GroupMeasureDisplay.from_audit(audit, "true_positive_rate").plot()
    assert np.isnan(found.values[0])
