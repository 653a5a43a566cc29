"""Sentences: who, how much, how sure and against which limit; codes and strata with the names of their columns."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import pytest

import evenhand as eh
from evenhand.core.results import Estimate, spell, spell_stratum
from evenhand.verdicts import sentences
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.verdict import verdict

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
_CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))  # label and prediction
METRICS = ("equalized_odds", "predictive_equality", "predictive_parity", "demographic_parity", "disparate_impact")


def compas(metric: str, **arguments: object) -> eh.Finding:
    return getattr(eh, metric)(eh.datasets.compas(), **COMPAS, **{"sensitive": "race", **arguments})


@pytest.mark.parametrize("reference", [None, "Caucasian", "rest"])
@pytest.mark.parametrize("metric", METRICS)
def test_the_sentence_speaks_of_the_pair_that_decides(metric, reference):
    """One answer: the pair of the sentence gives the verdict by itself, within the interval of the value."""
    found = compas(metric, reference=reference)
    first, said = found.evidence, found.interpretation
    for name, n in ((spell(first.group), first.n), (first.against, first.n_against)):
        assert f"for {name} (n = {n:,})" in said
    ends = found.shown
    two_sided = bool(found.settings["two_sided"])
    assert verdict(ends, found.threshold, found.judged_on, two_sided=two_sided) == found.verdict
    if found.verdict == "fail" and reference is None:
        # No pair lies surely farther apart than the value says.
        assert ends.high >= found.value.high if found.judged_on == "ratio" else ends.low <= found.value.low


def test_compas_does_not_lead_with_ten_people():
    for metric in ("equalized_odds", "predictive_equality"):
        found = compas(metric)
        assert found.verdict == "fail"
        assert min(found.evidence.n, found.evidence.n_against) > 100
        assert "Native American" not in found.interpretation
    assert sum("The largest estimate is" in note for note in compas("equalized_odds").notes) == 1


def test_against_the_majority_group():
    said = compas("predictive_equality", reference="Caucasian").interpretation
    assert said.startswith(
        "The false positive rate is 44.8 % for African-American (n = 1,795) and 23.5 % for Caucasian"
    )


# --- A gap beyond doubt, and a limit that is open


def test_a_gap_beyond_doubt_is_said_where_only_the_limit_is_open():
    found = compas("predictive_parity", sensitive="sex")
    assert found.verdict == "inconclusive"
    assert found.value.low > 0
    assert found.interpretation.endswith(
        ": there is a gap, 12.3 points (95 % interval 7.8 to 16.7); whether it exceeds the threshold of 10 is open."
    )


def test_a_ratio_and_a_reference_say_it_too():
    ratio = compas("disparate_impact", sensitive="sex", threshold=0.9)
    assert ratio.verdict == "inconclusive"
    assert re.search(r": there is a gap, a ratio of 0\.\d\d \(.*\); whether it is beyond the", ratio.interpretation)
    signed = compas("predictive_parity", sensitive="sex", reference="Male")
    assert ": there is a gap, -12.3 points (95 % interval " in signed.interpretation


def test_no_gap_at_all_is_possible_where_it_is():
    found = eh.demographic_parity(prediction=[1, 0, 1, 0, 1] * 8, sensitive=["north", "south"] * 20)
    assert found.value.low == 0
    assert "there is a gap" not in found.interpretation
    assert found.interpretation.endswith("; whether that is within the threshold of 10 is open.")


@pytest.mark.parametrize(
    ("ends", "judged_on", "clear"),
    [
        ((0.05, 0.2), "difference", True),
        ((0.0, 0.2), "difference", False),
        ((-0.2, -0.05), "difference", True),
        ((0.7, 0.95), "ratio", True),
        ((0.7, 1.0), "ratio", False),
        ((1.1, 1.4), "ratio", True),
        ((0.1, 0.3), "value", False),
    ],
)
def test_when_it_is_clear(ends, judged_on, clear):
    assert sentences.is_clear(Estimate(sum(ends) / 2, *ends), judged_on, "inconclusive") is clear
    assert not sentences.is_clear(Estimate(sum(ends) / 2, *ends), judged_on, "fail")


def test_without_an_interval_nothing_is_clear():
    assert not sentences.is_clear(Estimate(0.2), "difference", "inconclusive")
    assert not sentences.is_clear(None, "difference", "inconclusive")


# --- Names


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "code = 1"),
        ("-2.5", "code = -2.5"),
        ("[25, 45)", "code = [25, 45)"),
        ("25 to 45", "code = 25 to 45"),
        ("A", "code = A"),
        ("C12", "code = C12"),
        ("True", "code = True"),
        ("yes", "code = yes"),
        ("no", "code = no"),
        ("", "code = "),
        ("Male", "Male"),
        ("African-American", "African-American"),
        ("under 25", "under 25"),
        ("女", "女"),
        ("é", "é"),
        (None, "(missing)"),
    ],
)
def test_a_value_that_says_little_stands_with_its_attribute(value, shown):
    assert spell((value,), ("code",)) == shown
    assert spell((value,)) == ("(missing)" if value is None else value)


def test_intersections_name_each_code():
    assert spell(("1", "2"), ("sex", "race")) == "sex = 1, race = 2"
    assert spell(("1", "Asian"), ("sex", "race")) == "sex = 1, Asian"
    assert spell(("everyone else",), ("sex", "race")) == "everyone else"


def test_strata_have_the_name_of_their_column():
    assert spell_stratum(("North",), ("region",)) == "region = North"
    found = eh.demographic_parity(
        eh.datasets.berkeley(), prediction="admitted", count="count", sensitive="gender", control="department"
    )
    assert found.interpretation.startswith("In department = A: the selection rate is 82.4 % for Female (n = 108)")
    (small,) = (note for note in found.notes if note.startswith("Fewer than 30"))
    assert "Female in department = B" in small


@pytest.fixture(scope="module")
def coded() -> eh.Audit:
    rng = np.random.default_rng(0)
    n = 3000
    age, sex = rng.integers(0, 3, n), rng.integers(0, 2, n)
    label = rng.integers(0, 2, n)
    prediction = (rng.random(n) < 0.3 + 0.2 * label + 0.1 * age).astype(int)
    return eh.audit(label=label, prediction=prediction, sensitive={"age_band": age, "sex": sex}, metrics="all")


def test_every_sentence_and_note_names_codes(coded):
    bare = re.compile(r"\b(?:for|between|among|against|and|in) [0-2](?: \(n|,|\.(?!\d)| and | is )")
    for finding in coded.findings:
        for text in (finding.interpretation, *finding.notes):
            assert not bare.search(text), (finding.metric, text)
    assert "age_band = " in coded.findings[0].interpretation


def test_every_form_names_codes_alike(coded, tmp_path):
    sentence = next(each for each in coded.findings if coded.decides(each)).interpretation
    for suffix in ("html", "md", "xml", "json"):
        coded.save(tmp_path / f"audit.{suffix}")
        written = (tmp_path / f"audit.{suffix}").read_text(encoding="utf-8")
        assert sentence in written.replace("`", "").replace("\u00a0", " ")
    assert sentence in " ".join(str(coded).split())
    assert "age_band = 2" in (tmp_path / "audit.md").read_text(encoding="utf-8").partition("## ")[2]


def test_data_keeps_the_values(coded):
    finding = coded.findings[0]
    assert finding.highest in ("0", "1", "2")
    assert finding.evidence.against in ("0", "1", "2")
    assert set(coded.groups()["age_band"].dropna()) == {0, 1, 2}


def test_a_larger_estimate_is_less_sure_only_where_the_verdict_is_a_fail():
    """Rates of few people are open; those of thousands lie farther apart, and surely within the threshold."""
    cells = {"m": (6840, 760, 130, 196), "f": (4700, 131, 28, 32)}  # TN, FP, FN, TP
    table = [(group, *pair, n) for group, each in cells.items() for pair, n in zip(_CELLS, each, strict=True)]
    group, label, prediction, count = map(list, zip(*table, strict=True))
    found = eh.equalized_odds(label=label, prediction=prediction, sensitive=group, count=count)
    assert found.verdict == "inconclusive"
    assert found.evidence.measure == "true_positive_rate"
    (note,) = [each for each in found.notes if each.startswith("The largest estimate is")]
    assert "in the false positive rate; the verdict does not rest on it." in note


@pytest.mark.parametrize("reference", ["ref", "rest", None])
def test_a_group_of_whom_nobody_is_selected_leads_where_its_evidence_is_strongest(reference):
    group = ["ref"] * 1000 + ["a"] * 5000 + ["b"] * 200
    chosen = [1] * 500 + [0] * 500 + [0] * 5000 + [1] * 60 + [0] * 140
    found = eh.disparate_impact(prediction=chosen, sensitive=group, reference=reference)
    assert found.verdict == "fail"
    assert found.value.value == 0
    assert "0.0 % for group a (n = 5,000)" in found.interpretation
    assert not any("less sure" in note for note in found.notes)


@pytest.mark.parametrize("reference", ["ref", "rest", None])
@pytest.mark.parametrize("rows", [((500, 250), (100, 0), (300, 0)), ((20, 12), (4, 0), (7, 0))])
@pytest.mark.parametrize("metric", [eh.demographic_parity, eh.disparate_impact])
def test_what_decides_does_not_depend_on_names(metric, rows, reference):
    def found(names):
        group = [name for (n, _), name in zip(rows, names, strict=True) for _ in range(n)]
        chosen = [int(i < k) for n, k in rows for i in range(n)]
        return metric(prediction=chosen, sensitive=group, reference=reference)

    first, second = found(["ref", "a", "b"]), found(["ref", "b", "a"])
    assert (first.verdict, first.value) == (second.verdict, second.value)
    assert (first.evidence.difference, first.evidence.ratio) == (second.evidence.difference, second.evidence.ratio)
    assert {first.evidence.n, first.evidence.n_against} == {second.evidence.n, second.evidence.n_against}


def test_the_names_of_many_small_groups_are_found_once(monkeypatch):
    times = []
    without = Stratum.without_value.func
    counted = cached_property(lambda self: times.append(1) or without(self))
    counted.__set_name__(Stratum, "without_value")
    monkeypatch.setattr(Stratum, "without_value", counted)
    eh.demographic_parity(prediction=[0, 1, 1] * 200, sensitive=[f"g{i}" for i in range(60)] * 10)
    assert len(times) == 1


def test_an_average_over_measures_names_the_extremes_of_each():
    rates = {"a": (0.5, 0.3), "b": (0.7, 0.1), "c": (0.9, 0.2)}
    rows = [(g, y, int(i < 100 * rates[g][1 - y])) for g in rates for y in (1, 0) for i in range(100)]
    group, label, prediction = zip(*rows, strict=True)
    found = eh.average_odds(label=label, prediction=prediction, sensitive={"g": group})
    high, low = "g = c (n = 100) and g = a (n = 100)", "g = a (n = 100) and g = b (n = 100)"
    said = f"{high} in the true positive rate and {low} in the false positive rate: on average they"
    assert f"{said} differ by 30.0 points" in found.interpretation
    assert found.value.value == pytest.approx((0.4 + 0.2) / 2)
    two = [row for row in rows if row[0] != "b"]
    group, label, prediction = zip(*two, strict=True)
    assert (
        "g = c (n = 100) and g = a (n = 100) differ by 25.0 points"
        in eh.average_odds(label=label, prediction=prediction, sensitive={"g": group}).interpretation
    )
