"""audit.groups(): every measure of every group, and one's own among them."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh

RANDOM = np.random.default_rng(1)
N = 300
DATA = {
    "label": RANDOM.integers(0, 2, N),
    "prediction": RANDOM.integers(0, 2, N),
    "sensitive": {"race": RANDOM.choice(["a", "b"], N), "sex": RANDOM.choice(["f", "m"], N)},
}
FLAGGED = eh.metric(
    "flagged_parity", measures=eh.measure("flagged", numerator="FP", denominator="TN FP FN TP"), threshold=0.2
)
AGREEMENT = eh.metric(
    "agreement_parity", measures=eh.measure("agreement", lambda label, prediction: np.mean(label == prediction))
)


@pytest.mark.parametrize("own", [FLAGGED, AGREEMENT], ids=["cells", "rows"])
def test_a_measure_of_ones_own_is_a_line(own):
    audit = eh.audit(**DATA, metrics=["equalized_odds", own], draws=100)
    name = own.metric.rows[0].name
    lines = audit.groups()
    mine = lines[lines["measure"] == name]
    assert set(mine["attributes"]) == {"race", "sex", "race × sex"}
    assert len(mine) == 2 + 2 + 4
    for finding in audit.findings:
        if finding.metric == own.metric.name:
            here = mine[mine["attributes"] == " × ".join(finding.attributes)]
            assert here["value"].tolist() == [row.estimate.value for row in finding.groups]
            assert here["low"].tolist() == [row.estimate.low for row in finding.groups]
            assert here["n"].tolist() == [row.n for row in finding.groups]
    assert set(lines["measure"]) > {"selection_rate", name}


def test_own_lines_survive_a_file(tmp_path):
    audit = eh.audit(**DATA, metrics=[FLAGGED, AGREEMENT], draws=100)
    audit.save(tmp_path / "x.json")
    again = eh.Audit.load(tmp_path / "x.json").groups()
    lines = audit.groups()
    for name in ("flagged", "agreement"):
        expected = lines[lines["measure"] == name]
        assert again[again["measure"] == name]["value"].tolist() == pytest.approx(expected["value"].tolist())


def test_own_lines_in_strata_and_each_once():
    control = RANDOM.choice(["north", "south"], N)
    twice = eh.metric("other_parity", measures=(FLAGGED.metric.rows[0], "selection_rate"))
    audit = eh.audit(**DATA, control=control, metrics=[FLAGGED, twice])
    lines = audit.groups()
    mine = lines[(lines["measure"] == "flagged") & (lines["attributes"] == "race")]
    assert sorted(zip(mine["stratum"], mine["group"], strict=True)) == [
        ("north", "a"), ("north", "b"), ("south", "a"), ("south", "b")]  # fmt: skip
    assert not lines.duplicated(["attributes", "stratum", "group", "measure"]).any()


def test_an_undefined_value_has_its_reason():
    nothing = eh.metric("nothing", measures=eh.measure("nothing_at_all", lambda label, prediction: np.nan))
    lines = eh.audit(**DATA, metrics=[nothing], draws=100).groups()
    mine = lines[lines["measure"] == "nothing_at_all"]
    assert mine["value"].isna().all()
    assert mine["reason"].tolist()[0] == "nothing at all gave no number for race = a"


def test_without_ones_own_nothing_is_added():
    plain = eh.audit(**DATA, metrics=["equalized_odds"])
    assert set(plain.groups()["measure"]) == set(eh.audit(**DATA).groups()["measure"])


def test_the_frame_of_findings_has_the_values_of_the_caller():
    frame = eh.audit(
        prediction=[1, 0, 1, 1] * 30, sensitive={"code": [1, 1, 2, 2] * 30, "sex": ["F", "M"] * 60}
    ).to_frame()
    of_code = frame[frame["attributes"] == "code"].iloc[0]
    assert {type(of_code[part]) for part in ("group", "against", "highest", "lowest")} == {int}
    assert {of_code["group"], of_code["against"]} == {1, 2}
    assert set(frame[frame["attributes"] == "sex"]["group"]) <= {"F", "M", None}
