"""One answer: the verdict, the interval, the sentence, the rows and every output of a finding say the same."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.core.results import spell
from evenhand.datasets import berkeley, compas
from support.profiles import examples
from support.strategies import Table, any_tables, scaled

TOLERANCE = 1e-9
AUDITS = examples(40)
REFERENCES = (None, "rest", "overall", "largest", "highest")
INTERVALS = ("simultaneous", "percentile", "basic", "bca", "bayes", "wilson")
METRICS = (
    "demographic_parity",
    "disparate_impact",
    "equalized_odds",
    "average_odds",
    "predictive_parity",
    "accuracy_parity",
)


def rule(value: eh.Estimate, finding: eh.Finding) -> str:
    """The verdict of an interval, written here a second time and from the documentation alone."""
    t = finding.threshold
    if t is None or math.isnan(value.value):
        return "not judged"
    if value.low is None or value.high is None:
        return "inconclusive"
    low, high = value.low, value.high
    if finding.judged_on == "ratio":
        above = finding.settings["two_sided"] and t > 0
        if high < t - TOLERANCE or (above and low > 1 / (t - TOLERANCE)):
            return "fail"
        return "pass" if low >= t - TOLERANCE and (not above or high <= 1 / (t - TOLERANCE)) else "inconclusive"
    if low > t + TOLERANCE or (finding.judged_on == "difference" and high < -t - TOLERANCE):
        return "fail"
    inside = finding.judged_on == "value" or low >= -t - TOLERANCE
    return "pass" if high <= t + TOLERANCE and inside else "inconclusive"


def judged_part(row: eh.Row, finding: eh.Finding) -> eh.Estimate | None:
    return {"difference": row.difference, "ratio": row.ratio, "value": row.estimate}[finding.judged_on]


def check(finding: eh.Finding) -> None:
    """All that must hold of one finding."""
    place = (finding.metric, finding.attributes, finding.interpretation)
    value = finding.value
    assert finding.verdict == rule(value, finding), place
    if value.low is not None and value.high is not None:
        assert value.low <= value.value <= value.high, place
    if finding.verdict == "fail":
        assert finding.passes is False, place
    if finding.verdict == "pass":
        assert finding.passes is True, place
    if finding.evidence is not None and finding.threshold is not None and finding.judged_on != "value":
        part = judged_part(finding.evidence, finding)
        assert part is not None, place
        assert rule(part, finding) == finding.verdict, place
        same_sentence(finding, part)
    assert "nan" not in finding.interpretation.replace("Hispanic", ""), place
    if finding.verdict == "pass":
        for name in finding.left_out:
            assert name in finding.interpretation or len(finding.left_out) > 6, place


NUMBER = r"[-+]?(?:[\d,]*\.\d+|[\d,]+|infinite)(?:e[-+]?\d+)?"


def same_sentence(finding: eh.Finding, part: eh.Estimate) -> None:
    """The numbers of the sentence are those of the evidence: value, ends, threshold, rows, groups."""
    said, row = finding.interpretation, finding.evidence
    place = (finding.metric, said)
    if not finding.value.defined:
        return
    scale = 100 if finding.judged_on == "difference" and finding.unit == "rate" else 1
    assert spell(row.group) in said, place
    assert str(row.against) in said, place
    assert f"(n = {row.n:,})" in said, place
    if row.n_against is not None:
        assert f"(n = {row.n_against:,})" in said, place
    if part.low is not None:
        found = re.search(rf"\((\d+(?:\.\d+)?) % interval ({NUMBER}) to ({NUMBER})\)", said)
        assert found, place
        confidence, *ends = (float(each.replace(",", "").replace("infinite", "inf")) for each in found.groups())
        assert confidence == pytest.approx(100 * float(finding.settings["confidence"])), place
        for shown, end in zip(ends, (part.low, part.high), strict=True):
            assert shown == pytest.approx(scale * end, abs=0.051 if scale == 100 else 0.0051 * max(1, abs(end))), place
        before = said[: found.start()]
        assert float(re.findall(NUMBER, before)[-1].replace(",", "").replace("infinite", "inf")) == pytest.approx(
            scale * part.value, abs=0.051 if scale == 100 else 0.006 * max(1, abs(part.value))
        ), place
    limit = re.search(rf"threshold of ({NUMBER})", said)
    assert limit, place
    assert float(limit[1].replace(",", "")) == pytest.approx(scale * finding.threshold, rel=1e-3), place
    words = {"pass": "within", "inconclusive": "open", "fail": "above|below|beyond"}[finding.verdict]
    assert re.search(words, said[found.end() if part.low is not None else 0 :]), place
    if part.value < 0:
        assert "above" not in said, place


@AUDITS
@given(
    any_tables(attributes=st.integers(1, 2), max_rows=60),
    st.sampled_from(REFERENCES),
    st.sampled_from(INTERVALS),
    st.sampled_from((1, 40, 4000)),
    st.sampled_from((0.0, 0.05, 0.1, 0.3)),
    st.sampled_from((1, 3, 30)),
)
def test_every_finding_of_an_audit(table: Table, reference, interval, times, threshold, least):
    policy = eh.Policy(
        thresholds={name: 0.8 if name == "disparate_impact" else threshold for name in METRICS}, min_group_size=least
    )
    audit = eh.audit(
        **scaled(table, times).roles,
        reference=reference,
        interval=interval,
        draws=100,
        policy=policy,
        metrics=METRICS,
    )
    for finding in audit.findings:
        check(finding)


@AUDITS
@given(
    any_tables(attributes=1, controls=0), st.sampled_from(("fairlearn", "aif360", "aequitas", "virny", "exfairness"))
)
def test_every_convention(table: Table, convention):
    first = next(value for value in table.sensitive["race"] if value is not None)
    for name in ("demographic_parity", "disparate_impact", "equalized_odds", "average_odds"):
        finding = getattr(eh, name)(**scaled(table, 30).roles, convention=convention, reference=first)
        if convention != "aif360":
            check(finding)


@pytest.mark.parametrize("reference", [None, "Caucasian", "rest", "overall", "largest", "highest"])
@pytest.mark.parametrize("policy", [None, "four-fifths", "nyc-ll144"])
def test_compas(reference, policy):
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}
    sensitive = ["race", "sex"]
    named = {"race": reference, "sex": "Male"} if reference == "Caucasian" else reference
    audit = eh.audit(compas(), sensitive=sensitive, reference=named, policy=policy, **roles)
    for finding in audit.findings:
        check(finding)


@pytest.mark.parametrize("reference", [None, "Male", "rest", "highest"])
def test_berkeley(reference):
    audit = eh.audit(
        berkeley(), prediction="admitted", sensitive="gender", control="department", count="count", reference=reference
    )
    for finding in audit.findings:
        check(finding)
