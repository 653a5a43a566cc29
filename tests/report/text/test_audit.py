"""The short text of an audit: at most 25 lines in 80 columns, 30 for several attributes; it has the numbers of JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from evenhand.report import glance
from evenhand.report.text import PAGE, Screen
from evenhand.report.text import audit as text
from evenhand.verdicts.policy import Policy
from support import hostile

NARROW = Screen(80)
COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
N = 4000


def compas(**arguments: object) -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, **{"sensitive": ["race", "sex"], **arguments})


@cache
def people() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, N)
    return {
        "label": label,
        "prediction": (rng.random(N) < 0.4 + 0.2 * label).astype(int),
        "score": rng.random(N),
        "sex": np.array(["F", "M"])[rng.integers(0, 2, N)],
        "code": rng.integers(0, 3, N),
        "city": np.array([f"city {i}" for i in rng.integers(0, 200, N)]),
        "department": np.array(list("ABC"))[rng.integers(0, 3, N)],
        "household": rng.integers(0, 90, N),
    }


def audit_of(*roles: str, **arguments: object) -> eh.Audit:
    rows = people()
    sensitive = arguments.pop("sensitive", "sex")
    return eh.audit(**{name: rows[name] for name in roles}, sensitive={sensitive: rows[sensitive]}, **arguments)


def selective() -> eh.Audit:
    rows = people()
    label = [int(one) if chosen else None for one, chosen in zip(rows["label"], rows["prediction"], strict=True)]
    return eh.audit(label=label, prediction=rows["prediction"], sensitive={"sex": rows["sex"]})


def many_attributes() -> eh.Audit:
    rng, rows = np.random.default_rng(1), people()
    attributes = {f"attribute_{i}": rng.integers(0, 3, N) for i in range(12)}
    return eh.audit(label=rows["label"], prediction=rows["prediction"], sensitive=attributes, intersections=False)


def numbers() -> eh.Audit:
    rng, rows = np.random.default_rng(2), people()
    outcome = rows["label"] + rng.normal(size=N)
    return eh.audit(label=outcome, prediction=outcome + rng.normal(size=N), sensitive={"sex": rows["sex"]})


def classes() -> eh.Audit:
    rng, rows = np.random.default_rng(3), people()
    label, prediction = rng.integers(0, 4, N), rng.integers(0, 4, N)
    return eh.audit(label=label, prediction=prediction, sensitive={"sex": rows["sex"]}, task="multiclass")


def without_labels() -> eh.Audit:
    rows = people()
    return eh.audit(label=[None] * N, prediction=rows["prediction"], sensitive={"sex": rows["sex"]})


def everybody_selected() -> eh.Audit:
    rows = people()
    return eh.audit(label=rows["label"], prediction=np.ones(N, int), sensitive={"sex": rows["sex"]})


def long_names() -> eh.Audit:
    rows = people()
    names = np.where(rows["sex"] == "F", "word " * 60, "x" * 500)
    return eh.audit(label=rows["label"], prediction=rows["prediction"], sensitive={"attribute " * 20: names})


ONE: dict[str, Callable[[], eh.Audit]] = {
    "six groups": lambda: compas(sensitive="race"),
    "two metrics": lambda: compas(sensitive="sex", metrics=["predictive_parity", "base_rate_parity"]),
    "five metrics": lambda: compas(
        sensitive="race",
        metrics=["predictive_parity", "equal_opportunity", "calibration", "auc_parity", "average_odds"],
    ),
    "200 groups": lambda: audit_of("label", "prediction", sensitive="city"),
    "strata": lambda: eh.audit(
        eh.datasets.berkeley(), prediction="admitted", count="count", sensitive="gender", control="department"
    ),
    "labelled strata": lambda: audit_of("label", "prediction", control=people()["department"]),
    "regression": numbers,
    "multiclass": classes,
    "nobody labelled": without_labels,
    "no label": lambda: audit_of("prediction"),
    "selective labels": selective,
    "everybody selected": everybody_selected,
    "codes": lambda: audit_of("label", "prediction", sensitive="code"),
    "scores alone": lambda: audit_of("label", "score"),
    "clusters": lambda: audit_of("label", "prediction", cluster=people()["household"]),
    "a reference": lambda: compas(sensitive="race", reference="Caucasian"),
    "nothing decides": lambda: compas(sensitive="race", policy=Policy(required=())),
    "long names": long_names,
    "five people": lambda: eh.audit(label=[1, 0, 1, 0, 1], prediction=[1, 0, 1, 1, 0], sensitive=list("aabbc")),
}
SEVERAL: dict[str, Callable[[], eh.Audit]] = {
    "demo": compas,
    "all metrics": lambda: compas(metrics="all"),
    "twelve attributes": many_attributes,
    "intersections decide": lambda: compas(policy=Policy(on="all")),
    "four fifths": lambda: compas(policy="four-fifths"),
    "local law": lambda: compas(policy="nyc-ll144"),
    "to share": lambda: compas().shared(),
    "nothing decides": lambda: compas(policy=Policy(required=())),
}


def limits(text: str, most: int) -> None:
    lines = text.splitlines()
    assert len(lines) <= most, text
    assert max(map(len, lines)) <= 80, text


@pytest.mark.parametrize("case", ONE)
def test_one_attribute_takes_25_lines(case):
    found = ONE[case]()
    told = text.plain(found, NARROW)
    limits(told, 25)
    assert told.startswith(f"Verdict: {found.verdict}")
    assert told.splitlines()[-1].endswith(": audit.details() or -v, or save as .html.")


@pytest.mark.parametrize("case", SEVERAL)
def test_several_attributes_take_30_lines(case):
    limits(text.plain(SEVERAL[case](), NARROW), 30)


@pytest.mark.parametrize("case", [*ONE, *SEVERAL])
def test_details_have_every_note(case):
    found = (ONE | SEVERAL)[case]()
    told = " ".join(found.details().split())
    for note in found.notes:
        assert " ".join(note.split())[:60] in told


def test_the_demo_says_who_is_treated_how_and_how_sure_that_is():
    told = text.plain(compas(), NARROW)
    assert told.splitlines()[0] == "Verdict: fail (failed: equalized_odds on race; passed: equalized_odds on sex)"
    sentence = (
        "The false positive rate is 44.8 % for African-American (n = 1,795) and 23.5 % for Caucasian (n = 1,488): a "
        "gap of 21.4 points (95 % interval 16.0 to 24.0), above the threshold of 10."
    )
    assert sentence in " ".join(told.split())
    groups = [line.split("  ")[0].strip() for line in told.splitlines()[14:22]]
    assert groups[:3] == ["African-American", "Caucasian", "Hispanic"]
    assert groups[-2:] == ["Male", "Female"]
    assert told.count("The largest estimate is 57.7 points") == 1


def test_a_finding_that_decides_has_a_row_and_a_sentence():
    for found in (compas(), compas(sensitive="race"), compas(sensitive="sex", metrics=["predictive_parity"])):
        told = text.plain(found, NARROW)
        joined = " ".join(told.split())
        for finding in found.findings:
            if found.decides(finding):
                row = f" {finding.metric} on {finding.attributes[0]} "
                assert sum(line.startswith(row) for line in told.splitlines()) == 1
                assert finding.interpretation in joined


# --- The numbers are those of the audit


def cells(line: str) -> list[tuple[float, ...]]:
    """The values with their ends in a line of groups."""
    found = re.findall(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", line)
    return [tuple(map(float, part)) for part in found]


@pytest.mark.parametrize("case", ["six groups", "strata", "labelled strata", "codes", "clusters", "a reference"])
def test_the_groups_have_the_numbers_of_the_saved_audit(case):
    found = ONE[case]()
    finding = next(each for each in found.to_dict()["findings"] if each["metric"] == found.required[0])
    measure, stratum = finding["evidence"]["measure"], finding["evidence"].get("stratum")
    expected = {
        tuple(row["group"]): tuple(round(100 * row["estimate"][end], 1) for end in ("value", "low", "high"))
        for row in finding["rows"]
        if row.get("estimate") and row["measure"] == measure and row.get("stratum") == stratum
    }
    assert len(expected) > 1
    lines = text.plain(found, NARROW).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(" ──")) + 1
    for i, (group, numbers) in enumerate(ordered(found, expected)):
        assert cells(lines[start + i])[0] == numbers, (group, lines[start + i])


def ordered(found: eh.Audit, expected: dict[tuple[str, ...], tuple[float, ...]]) -> list[tuple[object, tuple]]:
    """The pair of the finding first."""
    evidence = next(each for each in found.findings if found.decides(each)).evidence
    pair = [evidence.group[0], evidence.against]
    return [((name,), expected[name,]) for name in pair]


def test_the_rows_have_the_numbers_of_the_saved_audit():
    found = compas()
    told = text.plain(found, NARROW).splitlines()
    for finding in found.to_dict()["findings"]:
        if finding["metric"] != "equalized_odds" or len(finding["attributes"]) > 1:
            continue
        line = next(line for line in told if line.startswith(f" equalized_odds on {finding['attributes'][0]} "))
        gap = finding["evidence"]["difference"]
        assert cells(line) == [tuple(round(100 * gap[end], 1) for end in ("value", "low", "high"))]


# --- Groups and notes


def test_of_many_groups_eight_are_shown_and_the_others_counted():
    found = ONE["200 groups"]()
    told = text.plain(found, NARROW).splitlines()
    start = next(i for i, line in enumerate(told) if line.startswith(" ──")) + 1
    assert told[start + 8] == " and 192 more groups"
    evidence = found.findings[0].evidence
    assert told[start].startswith(f" {evidence.group[0]} ")
    assert told[start + 1].startswith(f" {evidence.against} ")


def test_a_stratum_stands_beside_the_whole():
    told = text.plain(ONE["strata"](), NARROW)
    for name in ("Female, department = A", "Male, department = A", "Female, over all strata", "Male, over all strata"):
        assert f"\n {name} " in told
    assert "In department = A: the selection rate is" in told
    assert "- Simpson's paradox: " in told


def test_codes_are_read_with_their_attribute():
    told = text.plain(ONE["codes"](), NARROW)
    assert re.search(r"for code = \d \(n = ", " ".join(told.split()))
    assert all(f"\n code = {value} " in told for value in range(3))


def test_at_most_three_notes_and_how_many_more():
    found = compas()
    told = text.plain(found, NARROW)
    shown = [line for line in told.splitlines() if line.startswith("- ")]
    every = glance.notes(found, glance.leading(found))
    assert len(shown) == 3
    assert told.splitlines()[-1].startswith(f"{len(every) - 3} more notes and {len(found.findings) - 2} other findings")


def test_a_long_note_is_wrapped_and_not_cut():
    note = " ".join(["one clause without an end,"] * 14) + " and then it ends."
    found = replace(ONE["codes"](), notes=(note,))
    told = " ".join(text.plain(found, NARROW).split())
    assert note in told
    assert "…" not in told


def test_notes_that_bear_on_the_verdict_come_first():
    assert glance.notes(selective(), glance.leading(selective()))[0].startswith("Nobody who was refused has a label")
    shared = compas().shared()
    assert glance.notes(shared, glance.leading(shared))[0].startswith("Made to be shared")


def test_a_wide_terminal_shows_more_measures():
    narrow, wide = (text.plain(compas(), Screen(width)) for width in (80, 160))
    assert "PPV, %" not in narrow
    assert "PPV, %" in wide
    assert len(text.plain(compas(), PAGE).splitlines()) < 30


def test_a_loaded_audit_says_the_same(tmp_path):
    found = compas()
    found.save(tmp_path / "audit.json")
    assert text.plain(eh.Audit.load(tmp_path / "audit.json"), NARROW) == text.plain(found, NARROW)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_every_sign_has_a_stand_in(encoding):
    for case in ("six groups", "strata", "long names"):
        told = text.plain(ONE[case](), Screen(80, encoding))
        told.encode(encoding)
        assert max(map(len, told.splitlines())) <= 80


@hostile.every_name
def test_hostile_names(name):
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "metrics": ["demographic_parity"]}
    found = eh.audit(hostile.as_group(name), sensitive=hostile.GROUP, **roles)
    for encoding in ("utf-8", "ascii"):
        told = text.plain(found, Screen(80, encoding))
        assert hostile.unseen(told) == set()
        told.encode(encoding)
        assert len(told.splitlines()) <= 25
