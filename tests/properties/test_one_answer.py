"""One answer: the verdict, the interval, the sentence, the rows and every output of a finding say the same."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.core.results import pair_names, shown_names
from evenhand.datasets import berkeley, compas
from evenhand.report import tables
from support.profiles import examples
from support.strategies import Table, any_tables, scaled

TOLERANCE = 1e-9
AUDITS = examples(24)
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
    if t is None:
        return "not judged"
    if math.isnan(value.value) or value.low is None or value.high is None:
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
    if finding.evidence is not None and finding.threshold is not None:
        part = judged_part(finding.evidence, finding)
        assert part is not None, place
        assert rule(part, finding) == finding.verdict, place
        if finding.judged_on != "value":
            same_sentence(finding, part)
        assert f"(n = {finding.evidence.n:,})" in finding.interpretation or not finding.value.defined, place
    assert "nan" not in finding.interpretation.replace("Hispanic", ""), place
    if finding.verdict == "pass":
        for name in shown_names(finding.left_out, (row.group for row in finding.rows), finding.attributes):
            assert name in finding.interpretation or len(finding.left_out) > 6, place


NUMBER = r"[-+]?(?:[\d,]*\.\d+|[\d,]+|infinite)(?:e[-+]?\d+)?"

INTERVAL = re.compile(
    rf"\((?:(?P<confidence>\d+(?:\.\d+)?) % interval (?:(?P<low>{NUMBER}) to (?P<high>{NUMBER})"
    rf"|from (?P<least>{NUMBER}), without an upper end|up to (?P<most>{NUMBER}), without a lower end)"
    r"|the data gives it no ends)\)"
)


def said_ends(found: re.Match[str]) -> tuple[float, float]:
    """The ends that a sentence names; one that it says there is none of is infinite."""
    low, high = found["low"] or found["least"] or "-infinite", found["high"] or found["most"] or "infinite"
    return tuple(float(end.replace(",", "").replace("infinite", "inf")) for end in (low, high))


def same_sentence(finding: eh.Finding, part: eh.Estimate) -> None:
    """The numbers of the sentence are those of the evidence: value, ends, threshold, rows, groups."""
    said, row = finding.interpretation, finding.evidence
    place = (finding.metric, said)
    if not finding.value.defined:
        return
    scale = 100 if finding.judged_on == "difference" and finding.unit == "rate" else 1
    for name in pair_names(row, (each.group for each in finding.rows), finding.attributes):
        assert name in said, place
    # Where measures are averaged whose extremes are other groups, each has its own n.
    for n in () if said.startswith("The highest and the lowest group are") else (row.n, row.n_against):
        assert n is None or f"(n = {n:,})" in said, place
    if part.low is not None:
        found = INTERVAL.search(said)
        assert found, place
        if found["confidence"]:
            assert float(found["confidence"]) == pytest.approx(100 * float(finding.settings["confidence"])), place
        for shown, end in zip(said_ends(found), (part.low, part.high), strict=True):
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
    any_tables(attributes=1, controls=0),
    st.sampled_from(("fairlearn", "aif360", "aequitas", "virny", "exfairness", "clarify", "solas")),
)
def test_every_convention(table: Table, convention):
    first = next(value for value in table.sensitive["race"] if value is not None)
    for name in ("demographic_parity", "disparate_impact", "equalized_odds", "average_odds"):
        finding = getattr(eh, name)(**scaled(table, 30).roles, convention=convention, reference=first)
        check(finding)


COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}


@pytest.mark.parametrize(
    ("reference", "policy"),
    [
        (None, None),
        ({"race": "Caucasian", "sex": "Male"}, None),
        ("rest", None),
        ("overall", None),
        ("largest", "four-fifths"),
        (None, "four-fifths"),
        (None, "nyc-ll144"),
    ],
)
def test_compas(reference, policy):
    audit = eh.audit(
        compas(), sensitive=["race", "sex"], reference=reference, policy=policy, intersections=False, **COMPAS
    )
    for finding in audit.findings:
        check(finding)


@pytest.mark.parametrize("reference", [None, "Male", "rest", "highest"])
def test_berkeley(reference):
    audit = eh.audit(
        berkeley(), prediction="admitted", sensitive="gender", control="department", count="count", reference=reference
    )
    for finding in audit.findings:
        check(finding)


def people(size: int = 400, seed: int = 3) -> dict[str, np.ndarray]:
    """Features, outcomes, scores and groups, one of which has a single person."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b", "c"], size, p=[0.5, 0.4, 0.1])
    group[0] = "one"
    x = random.normal(size=(size, 2)) + (group == "b")[:, None] * 0.4
    score = 1 / (1 + np.exp(-x[:, 0]))
    return {
        "group": group,
        "x": x,
        "score": score,
        "label": (random.random(size) < score).astype(int),
        "prediction": (score > 0.5).astype(int),
        "number": x[:, 0] * 3 + random.normal(size=size),
        "replicas": np.clip(score + random.normal(scale=0.15, size=(12, size)), 0, 1),
    }


DATA = people()


@pytest.mark.parametrize("reference", [None, "a", "rest", "largest"])
def test_scores_regressors_and_classes(reference):
    group, x = DATA["group"], DATA["x"]
    audits = [
        eh.audit(label=DATA["label"], score=DATA["score"], cutoff=0.5, sensitive=group, reference=reference),
        eh.audit(
            label=DATA["number"], prediction=x[:, 0] * 2.5, task="regression", sensitive=group, reference=reference
        ),
        eh.audit(
            label=np.where(DATA["number"] > 1, "high", np.where(DATA["number"] < -1, "low", "mid")),
            prediction=np.where(x[:, 0] > 0.4, "high", np.where(x[:, 0] < -0.4, "low", "mid")),
            task="multiclass",
            sensitive=group,
            reference=reference,
        ),
    ]
    for audit in audits:
        assert audit.findings
        for finding in audit.findings:
            check(finding)


@pytest.mark.parametrize("reference", [None, "a", "rest"])
@pytest.mark.parametrize("least", [1, 30, 10_000])
def test_stability(reference, least):
    policy = eh.Policy(reference=reference, min_group_size=least)
    found = eh.stability(DATA["replicas"], label=DATA["label"], sensitive=DATA["group"], policy=policy)
    assert found.findings
    for finding in found.findings:
        check(finding)


def test_individual():
    for least in (1, 30, 10_000):
        policy = eh.Policy(min_group_size=least)
        roles = {"sensitive": DATA["group"], "policy": policy}
        check(eh.consistency(DATA["x"], prediction=DATA["prediction"], **roles))
        check(eh.lipschitz(DATA["x"], score=DATA["score"], **roles))


@pytest.mark.parametrize("least", [1, 30, 10_000])
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.9])
def test_counterfactual(least, threshold):
    frame = {"group": DATA["group"][1:], "x": DATA["x"][1:, 0]}
    finding = eh.flip_test(
        lambda table: (np.asarray(table["x"]) + (np.asarray(table["group"]) == "b") > 0.3).astype(int),
        frame,
        sensitive="group",
        min_group_size=least,
        threshold=threshold,
    )
    check(finding)
    part = finding.evidence.estimate
    assert rule(part, finding) == finding.verdict
    assert f"(n = {finding.evidence.n:,})" in finding.interpretation


@pytest.mark.parametrize("least", [1, 30, 10_000])
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.9])
@pytest.mark.parametrize("role", ["prediction", "score"])
def test_correspondence(least, threshold, role):
    places = np.arange(len(DATA["group"]))
    finding = eh.correspondence(
        unit=places // 3,
        sensitive=np.array(["a", "b", "c"])[places % 3],
        min_group_size=least,
        threshold=threshold,
        **{role: DATA[role]},
    )
    check(finding)
    assert rule(finding.evidence.estimate, finding) == finding.verdict


def test_counterfactual_fairness():
    table = {"group": DATA["group"][1:], "x": DATA["x"][1:, 0]}
    model = eh.CausalModel([("group", "x")])
    for threshold in (0.0, 0.05, 0.9):
        finding = eh.counterfactual_fairness(
            lambda rows: (np.asarray(rows["x"]) > 0.3).astype(int),
            table,
            model,
            sensitive="group",
            refits=5,
            threshold=threshold,
        )
        check(finding)


@pytest.mark.parametrize("policy", ["four-fifths", "nyc-ll144"])
def test_berkeley_by_the_policies_that_ship(policy):
    audit = eh.audit(berkeley(), prediction="admitted", sensitive="gender", count="count", policy=policy)
    assert audit.findings
    for finding in audit.findings:
        check(finding)


# --- outputs


def of_json(value: object) -> float:
    return math.nan if value in (None, "undefined") else float({"infinite": "inf"}.get(value, value))


def shown_numbers(estimate: eh.Estimate) -> list[float]:
    return [math.nan if part is None else part for part in (estimate.value, estimate.low, estimate.high)]


AUDIT = eh.audit(compas(), sensitive=["race", "sex"], **COMPAS)
AGAINST = eh.audit(compas(), sensitive=["race", "sex"], reference={"race": "Caucasian", "sex": "Male"}, **COMPAS)
EVERY_AUDIT = pytest.mark.parametrize("audit", [AUDIT, AGAINST], ids=["extremes", "reference"])


@EVERY_AUDIT
def test_a_loaded_audit_is_the_same(audit, tmp_path):
    audit.save(tmp_path / "audit.json")
    loaded = eh.Audit.load(tmp_path / "audit.json")
    assert loaded.to_dict()["findings"] == audit.to_dict()["findings"]
    assert [each.value for each in loaded.findings] == [each.value for each in audit.findings]
    assert loaded.verdict == audit.verdict


@EVERY_AUDIT
def test_json_and_frames_have_the_fields(audit):
    frame = audit.to_frame()
    for i, (finding, told) in enumerate(zip(audit.findings, audit.to_dict()["findings"], strict=True)):
        line = frame.iloc[i]
        same = pytest.approx(shown_numbers(finding.value), nan_ok=True)
        assert [of_json(told["value"][part]) for part in ("value", "low", "high")] == same
        assert [float(line[part]) for part in ("value", "low", "high")] == same
        assert [float(line[f"shown{part}"]) for part in ("", "_low", "_high")] == pytest.approx(
            shown_numbers(finding.shown), nan_ok=True
        )
        assert told["verdict"] == line["verdict"] == finding.verdict
        assert told["interpretation"] == line["interpretation"] == finding.interpretation
        if finding.evidence is not None:
            assert told["evidence"]["n"] == line["n"] == finding.evidence.n
            assert told["evidence"]["against"] == line["against"] == finding.evidence.against


@EVERY_AUDIT
def test_text_markdown_junit_and_page_show_the_same_numbers(audit, tmp_path):
    for name in ("audit.md", "audit.xml", "audit.html"):
        audit.save(tmp_path / name)
    markdown, junit, page = (html.unescape((tmp_path / f"audit.{kind}").read_text()) for kind in ("md", "xml", "html"))
    text, bundle = str(audit), audit._repr_mimebundle_()
    card = html.unescape(bundle["text/html"])
    notebook = html.unescape(html.unescape(audit.page()._repr_html_()))  # a page in the attribute of a frame
    assert bundle["text/plain"] == text
    for finding in tables.deciding(audit)[:3]:
        assert finding.interpretation in card
        assert tables.value(finding) in card
    for finding in audit.findings:
        value = tables.value(finding)
        assert f"{finding.judged_on} {value}, threshold {tables.limit(finding)}: {finding.verdict}" in junit
        assert value in markdown
        if audit.decides(finding):
            assert finding.interpretation in " ".join(text.split())
            assert finding.interpretation in junit
            assert finding.interpretation in page.replace("\u00a0", " ")
            assert finding.interpretation in notebook
            assert value in text
            assert finding.interpretation.replace("×", "x")[:40] in markdown.replace("`", "").replace("\\", "")
