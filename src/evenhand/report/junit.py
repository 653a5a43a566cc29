"""An audit as JUnit XML, which CI systems show as tests: a suite for each set of attributes, a case for each finding.

- A finding that decides and fails is a failure.
- One that decides and is inconclusive is an error: the data cannot tell, and a run that cannot tell must not be green.
  Where the policy counts it as a pass or a fail, it is that.
- One that does not decide never stops a run: it has passed, or it is skipped with its verdict and sentence as message.
- One that was not judged is skipped.
- What would decide and is left out is one more case, an error: a pass cannot rest on the others.

So a run is green exactly when `evenhand audit` leaves with 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml  # written here, never read

from evenhand.core.results import Finding
from evenhand.core.wording import clean_for_xml
from evenhand.report import tables

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

OUTCOMES = ("failure", "error", "skipped")


def dumps(audit: Audit) -> str:
    """The audit as the text of a JUnit file."""
    root = Xml.Element("testsuites", name="evenhand")
    for number, (attributes, findings) in enumerate(tables.by_attributes(audit), 1):
        suite = Xml.SubElement(root, "testsuite", name=clean_for_xml(" × ".join(attributes)), id=str(number))
        if number == 1:
            suite.append(_properties(audit))
        names = _distinct(finding.metric for finding in findings)
        for name, finding in zip(names, findings, strict=True):
            _case(suite, name, finding, outcome(audit, finding))
        _count([suite], suite)
    if audit.left_out:
        _left_out(root, audit)
    _count(root.findall("testsuite"), root)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def outcome(audit: Audit, finding: Finding) -> str | None:
    """What a finding is to a test runner; None has passed."""
    if audit.decides(finding):
        counted = audit.policy.counted(finding.verdict)
        return {"pass": None, "fail": "failure", "inconclusive": "error", "not judged": "skipped"}[counted]
    return None if finding.verdict == "pass" else "skipped"


def _case(suite: Xml.Element, name: str, finding: Finding, result: str | None) -> None:
    where = f"evenhand.{clean_for_xml(' × '.join(finding.attributes))}"
    case = Xml.SubElement(suite, "testcase", classname=where, name=name, time="0")
    sentence = clean_for_xml(finding.interpretation)
    if result is not None:
        aside = " and does not decide" if result == "skipped" and finding.verdict != "not judged" else ""
        element = Xml.SubElement(case, result, message=f"{finding.verdict}{aside}: {sentence}")
        if result != "skipped":
            element.set("type", finding.verdict)
        element.text = "\n".join([sentence, *(clean_for_xml(note) for note in finding.notes)])
    shown = f"{tables.judgement(finding)}: {finding.verdict}"
    Xml.SubElement(case, "system-out").text = f"{shown}\n{sentence}"


def _left_out(root: Xml.Element, audit: Audit) -> None:
    """What is not there is not green, unless a finding fails and says enough; see `Audit.verdict`."""
    suite = Xml.SubElement(root, "testsuite", name="left out", id=str(len(root)))
    case = Xml.SubElement(suite, "testcase", classname="evenhand", name="left out", time="0")
    message = clean_for_xml(f"left out, and would decide: {', '.join(audit.left_out)}")
    Xml.SubElement(case, "error" if audit.verdict == "inconclusive" else "skipped", message=message)
    _count([suite], suite)


def _properties(audit: Audit) -> Xml.Element:
    """What the whole audit says; readers of JUnit look for it in a suite."""
    properties = Xml.Element("properties")
    texts = {
        "verdict": audit.verdict,
        "outcomes": tables.outcomes(audit),
        "required": ", ".join(audit.required),
        "people": str(audit.cube.size),
        "confidence": f"{audit.policy.confidence:g}",
        **{f"note {i}": note for i, note in enumerate(dict.fromkeys(audit.notes), 1)},
    }
    for name, value in texts.items():
        Xml.SubElement(properties, "property", name=name, value=clean_for_xml(value))
    return properties


def _count(suites: Iterable[Xml.Element], where: Xml.Element) -> None:
    cases = [case for suite in suites for case in suite.findall("testcase")]
    where.set("tests", str(len(cases)))
    for name, each in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        where.set(name, str(sum(case.find(each) is not None for case in cases)))
    where.set("time", "0")


def _distinct(names: Iterable[str]) -> list[str]:
    """Runners tell cases apart by their names alone."""
    seen: dict[str, itertools.count[int]] = {}
    shown = []
    for name in map(clean_for_xml, names):
        again = next(seen.setdefault(name, itertools.count(1)))
        shown.append(name if again == 1 else f"{name} ({again})")
    return shown
