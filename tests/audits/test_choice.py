"""Which metrics an audit computes: the core set, all, or those that are named; and that only names decide."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand import cli
from evenhand.audits.choice import MOST_COMPARED
from evenhand.catalogue import METRICS, complement_of
from evenhand.errors import CallError
from evenhand.verdicts.policy import Policy

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": "sex"}


def compas(**arguments: object) -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, **arguments)


def computed(audit: eh.Audit) -> set[str]:
    return {finding.metric for finding in audit.findings}


def decided(audit: eh.Audit) -> list[tuple[object, ...]]:
    return sorted((f.metric, f.attributes, str(f.value), f.verdict) for f in audit.findings if audit.decides(f))


CORE = {name for name, entry in METRICS.items() if entry.core}


def test_the_core_set_is_about_a_dozen_for_decisions():
    assert computed(compas()) == {name for name in CORE if METRICS[name].family != "regression"}
    assert 10 <= len(computed(compas())) <= 13


def test_all_is_every_metric_that_the_data_allows():
    every = computed(compas(metrics="all"))
    assert computed(compas()) < every
    assert {"theil_index", "false_negative_rate_parity", "ks_distance", "mutual_information"} <= every
    fitting = {name for name, entry in METRICS.items() if "binary" in entry.tasks and not entry.probability}
    assert every == fitting - {"robust_outcome_test"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"policy": Policy(required=["demographic_parity"])},
        {"policy": Policy(metrics=["predictive_parity", "equal_opportunity_ratio"])},
        {"policy": Policy(on="all")},
        {"policy": "four-fifths"},
        {"policy": Policy(required=())},
    ],
)
def test_all_changes_nothing_in_what_decides(arguments):
    core, every = compas(**arguments), compas(**arguments, metrics="all")
    assert core.required == every.required
    assert decided(core) == decided(every)
    assert (core.verdict, core.left_out) == (every.verdict, every.left_out)


def test_what_is_named_decides():
    assert compas(metrics=["theil_index", "predictive_parity"]).required == ("theil_index", "predictive_parity")
    assert compas(metrics="predictive_parity").required == ("predictive_parity",)


def test_numbers_do_not_depend_on_what_else_is_computed():
    """But for the correction of p-values, which runs over what was computed."""
    every = {finding.metric: finding for finding in compas(metrics="all").findings}
    for finding in compas().findings:
        other = every[finding.metric]
        assert (finding.value, finding.interpretation, finding.rows) == (
            other.value,
            other.interpretation,
            other.rows,
        )
        assert finding.p_value == other.p_value


def test_what_the_policy_speaks_of_is_computed_too():
    found = compas(policy=Policy(thresholds={"theil_index": 0.3}, judged_on={"average_odds": "ratio"}))
    assert computed(found) == computed(compas()) | {"theil_index", "average_odds"}
    assert found.required == ("equalized_odds",)


def test_what_decides_is_computed_though_it_is_not_in_the_core_set():
    found = compas(policy=Policy(required=["false_negative_rate_parity"]))
    assert "false_negative_rate_parity" in computed(found)
    assert found.required == ("false_negative_rate_parity",)


def test_other_tasks_have_a_core_set_too():
    pay = [10.5, 11.2, 9.9, 12.1] * 50
    numbers = eh.audit(label=pay, prediction=[value + 0.3 for value in pay], sensitive=["north", "south"] * 100)
    assert computed(numbers) == {name for name in CORE if METRICS[name].family == "regression"}
    label, prediction = list("abc") * 60, list("acb") * 60
    classes = eh.audit(label=label, prediction=prediction, sensitive=["n", "s"] * 90, task="multiclass")
    assert computed(classes) <= CORE
    assert "equalized_odds" in computed(classes)


def test_the_robust_outcome_test_where_labels_are_selective():
    decisions = [1, 0] * 200
    label = [(i // 2) % 2 if chosen else None for i, chosen in enumerate(decisions)]
    found = eh.audit(label=label, prediction=decisions, sensitive=["north"] * 200 + ["south"] * 200)
    assert "robust_outcome_test" in computed(found)
    assert "robust_outcome_test" not in computed(compas())


def test_all_stands_alone():
    with pytest.raises(CallError, match="'all' stands alone"):
        compas(metrics=["all", "theil_index"])
    with pytest.raises(CallError, match="'all' stands alone"):
        Policy(metrics=["all", "theil_index"])
    assert compas(metrics=["all"]).required == ("equalized_odds",)


def test_a_series_watches_what_decides():
    cube = eh.Cube.count(eh.datasets.compas(), **COMPAS)
    with pytest.raises(CallError, match="metrics='all' says nothing here"):
        eh.trend([cube, cube], metrics="all")


def test_all_in_a_policy_file(tmp_path):
    path = tmp_path / "policy.toml"
    Policy(metrics="all", required=["demographic_parity"]).save(path)
    assert 'metrics = "all"' in path.read_text(encoding="utf-8")
    loaded = Policy.load(path)
    assert loaded == Policy(metrics="all", required=["demographic_parity"])
    assert computed(compas(policy=path)) == computed(compas(metrics="all"))
    assert compas(policy=path).required == ("demographic_parity",)


def test_all_in_a_saved_audit(tmp_path):
    found = compas(policy=Policy(metrics="all"))
    found.save(tmp_path / "audit.json")
    assert eh.Audit.load(tmp_path / "audit.json").policy.metrics == "all"


def test_all_on_the_command_line(tmp_path, capsys):
    rows = ["team,approved,repaid", *["north,1,1", "north,0,0", "south,1,1", "south,0,1"] * 60]
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    call = ["audit", str(tmp_path / "rows.csv"), "--label", "repaid", "--prediction", "approved", "--sensitive", "team"]
    codes = {}
    for said in ([], ["--metric", "all"]):
        codes[len(said)] = cli.run([*call, *said, "-v"])
        assert ("theil_index" in capsys.readouterr().out) == bool(said)
    assert codes[0] == codes[2]


def test_two_audits_are_compared_by_what_both_have():
    changes = eh.diff(compas(metrics="all"), compas())
    assert {change.metric for change in changes.changes} == computed(compas())
    assert {finding.metric for finding in changes.only_before} == computed(compas(metrics="all")) - computed(compas())
    line = next(line for line in str(changes).splitlines() if line.startswith("Only before: "))
    assert line.endswith(" more.")
    assert len(line) < 250
    assert changes.verdict == "pass"


def test_complements_follow_from_the_coefficients():
    found = {name: complement_of(name) for name in METRICS if complement_of(name)}
    assert found == {
        "false_negative_rate_parity": "equal_opportunity",
        "false_discovery_rate_parity": "predictive_parity",
        "false_omission_rate_parity": "negative_predictive_parity",
        "error_rate_parity": "overall_accuracy_equality",
        "true_negative_rate_parity": "predictive_equality",
    }


def test_of_very_many_groups_only_metrics_of_counts_are_computed():
    rows = 20 * (MOST_COMPARED + 1)
    random = np.random.default_rng(1)
    group = np.char.add("postcode ", (np.arange(rows) % (MOST_COMPARED + 1)).astype(str))
    score = random.random(rows)
    data = {"label": (random.random(rows) < score).astype(int), "score": score, "group": group}
    audit = eh.audit(data, label="label", score="score", cutoff=0.5, sensitive="group", metrics="all")
    assert {each.metric for each in audit.findings} >= {"equalized_odds", "demographic_parity", "base_rate_parity"}
    assert not {"auc_parity", "theil_index", "ks_distance", "calibration"} & {each.metric for each in audit.findings}
    (note,) = (note for note in audit.notes if "only metrics of counts" in note)
    assert note.startswith("group has 2,001 groups, so only metrics of counts are computed. Left out: ")
    assert "auc_parity" in note
    assert note.endswith("A coarser column has them all.")
    assert len(str(audit).splitlines()) <= 25


def test_one_group_less_has_every_metric():
    group = np.char.add("g", (np.arange(4000) % 100).astype(str))
    random = np.random.default_rng(1)
    audit = eh.audit(prediction=random.integers(0, 2, 4000), sensitive=group, metrics="all")
    assert not [note for note in audit.notes if "only metrics of counts" in note]
    assert audit["mutual_information"].value.defined
