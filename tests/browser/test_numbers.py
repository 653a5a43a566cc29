"""The numbers of a page in a real browser, read from its data attributes, against Python: to 1e-9, at many cutoffs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import evenhand as eh
from evenhand.core.results import spell
from evenhand.cube import cutoffs
from evenhand.report import page as html
from evenhand.report import tables
from support import page_data, pages

# At one stop: every metric of every attribute set, the groups of each measure, the curve of every cutoff.
READ = """async (stop) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const all = (query, node = document) => [...node.querySelectorAll(query)];
  const data = (node) => ({ ...node.dataset });
  const slider = document.getElementById("cutoff");
  if (slider && stop >= 0) {
    slider.value = stop;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await frame();
  }
  const radios = all("input[name=attribute]"), told = [];
  for (const radio of radios.length ? radios : [null]) {
    if (radio) { radio.click(); await frame(); }
    window.dispatchEvent(new Event("beforeprint"));
    await frame();
    const picker = document.getElementById("choose-Gapof"), sweeps = {};
    for (const option of picker && picker.closest("section").hidden === false ? picker.options : []) {
      const box = document.getElementById("choose-Gapof");
      box.value = option.value;
      box.dispatchEvent(new Event("change", { bubbles: true }));
      sweeps[option.value] = data(document.querySelector("#sweep .curve")).points;
    }
    const choice = document.getElementById("choose-Metric"), groups = {};
    for (const option of choice ? [...choice.options].map((each) => each.value) : []) {
      const box = document.getElementById("choose-Metric");
      box.value = option;
      box.dispatchEvent(new Event("change", { bubbles: true }));
      for (const figure of all("#forest figure")) groups[figure.dataset.measure] = all(".mark", figure).map(data);
    }
    told.push({
      lines: all("#metrics details.metric").map(data),
      groups,
      sweeps,
      roc: all("#curves figure").filter((each) => each.dataset.plot === "ROC")
        .flatMap((each) => all(".curve[data-name]", each).map(data)),
      spread: all("#curves figure").filter((each) => each.dataset.plot === "Distribution")
        .flatMap((each) => all(".curve[data-name]", each).map(data)),
    });
  }
  if (radios.length) radios[0].click();
  await frame();
  return { cards: all("#cards article").map(data), sets: told };
}"""

SHARED = {f"{kind} to share": kind for kind in ("compas", "score and decision", "mirrored", "reference")}
KINDS = [*pages.KINDS, *SHARED]


@cache
def audited(kind: str) -> eh.Audit:
    return pages.KINDS[SHARED[kind]]().shared() if kind in SHARED else pages.KINDS[kind]()


def audited_stop(audit: eh.Audit) -> int:
    return cutoffs.stops(page_data.embedded(audit)[0])[1]


def number(text: str | None) -> float:
    return math.nan if text is None else float(text)


def off(shown: float, true: float | None) -> float:
    """How far a number of the page is from that of Python; both undefined is no distance."""
    true = math.nan if true is None or math.isinf(true) else true
    if math.isnan(shown) or math.isnan(true):
        return 0.0 if math.isnan(shown) == math.isnan(true) else math.inf
    return abs(shown - true) / max(1.0, abs(true))


def compared(kind: str, told: dict[str, Any], cutoff: float | None) -> Iterator[tuple[str, str, str, float]]:
    """(set of attributes, metric or measure, what, distance) for each number that a page shows at a cutoff."""
    audit = audited(kind)
    there = audit if cutoff is None else page_data.at(audit, cutoff)
    found = {(each.metric, each.attributes): each for each in reversed(there.findings)}
    on = {" \u00d7 ".join(each.attributes): each.attributes for each in audit.findings}
    for card in told["cards"]:
        if card["stale"] == "false":
            yield from of_finding(card, found[card["metric"], on[card["on"]]], "card")
    for each in told["sets"]:
        for line in each["lines"]:
            if line["stale"] == "false":
                yield from of_finding(line, found[line["metric"], each["attributes"]], "line")
        yield from of_groups(each, there, each["attributes"])


def of_finding(data: dict[str, str], finding: eh.Finding, where: str) -> Iterator[tuple[str, str, str, float]]:
    name = (" \u00d7 ".join(finding.attributes), finding.metric)
    yield (*name, f"{where} value", off(number(data.get("value")), finding.value.value))
    yield (*name, f"{where} shown", off(number(data.get("shown")), finding.shown.value))
    for end in ("low", "high"):
        apart = off(number(data.get(end)), getattr(finding.value, end))
        yield (*name, f"{where} {end}", 0.0 if apart <= 1e-6 else apart)  # intervals agree to six digits
    yield (*name, f"{where} verdict", 0.0 if data["verdict"] == finding.verdict else math.inf)
    if finding.evidence is not None and finding.evidence.group:
        pair = tables.pair(finding)
        yield (*name, f"{where} pair", 0.0 if (data.get("group"), data.get("against")) == pair else math.inf)


def of_groups(
    each: dict[str, Any], there: eh.Audit, attributes: tuple[str, ...]
) -> Iterator[tuple[str, str, str, float]]:
    """The marks of groups, where the counts tell their measure."""
    if attributes not in there.counted_sets:
        return
    groups = [spell(group, attributes) for group in there.counts(attributes, control=False).groups]
    measures = {one.measure.name: one for one in there.measures(attributes)}
    for measure, marks in each["groups"].items():
        if measure not in measures or there.policy.interval != "simultaneous":
            continue
        for mark in marks:
            true = float(measures[measure].values[groups.index(mark["group"])])
            yield " \u00d7 ".join(attributes), measure, "group", off(number(mark.get("value")), true)


def read(shown: Any, kind: str, stop: int) -> dict[str, Any]:
    told = shown.tab.evaluate(READ, stop)
    titles = [part.attributes for part in html.pageresults.results(audited(kind))]
    assert len(told["sets"]) in (1, len(titles))
    for each, attributes in zip(told["sets"], titles, strict=False):
        each["attributes"] = attributes
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_five_stops_of_each_kind_of_page_are_what_python_computes(opened, kind):
    audit = audited(kind)
    shown = opened(html.dumps(audit))
    slides = shown.tab.locator("#cutoff").count() > 0
    stops = page_data.places(audit) if slides else []
    assert len(stops) == (5 if slides else 0)
    for stop in [-1, *stops]:
        # At the audited stop a page shows the audit as it is, with what it does not compute again.
        cutoff = None if stop < 0 or stop == audited_stop(audit) else page_data.stops(audit)[stop]
        distances = list(compared(kind, read(shown, kind, stop), cutoff))
        assert distances or not audit.findings
        wrong = [each for each in distances if each[-1] > 1e-9]
        assert not wrong, (stop, wrong[:10])
    assert shown.quiet, shown.errors


@pytest.mark.parametrize("kind", ["compas", "compas to share"])
def test_the_demo_page_is_what_python_computes_at_every_cutoff(opened, kind, capsys):
    """All cutoffs, all attributes, all metrics; the curves of every cutoff, of scores and of ROC too."""
    audit = audited(kind)
    shown = opened(html.dumps(audit))
    largest: dict[tuple[str, str], float] = {}
    compared_count = 0
    for stop, cutoff in enumerate(page_data.stops(audit)):
        told = read(shown, kind, stop)
        again = None if stop == audited_stop(audit) else cutoff
        for on, name, _, apart in [*compared(kind, told, again), *of_curves(audit, told, stop, cutoff)]:
            largest[on, name] = max(largest.get((on, name), 0.0), apart)
            compared_count += 1
    with capsys.disabled():
        print(f"\n{kind}: {compared_count:,} numbers at {len(page_data.stops(audit))} cutoffs, largest difference")
        for (on, name), apart in sorted(largest.items()):
            print(f"  {on:12} {name:34} {apart:.1e}")
    assert len(largest) > 40
    assert max(largest.values()) <= 1e-9


def of_curves(audit: eh.Audit, told: dict[str, Any], stop: int, cutoff: float) -> Iterator[tuple[str, str, str, float]]:
    """The curve of every cutoff, ROC and distribution, at one stop."""
    there = page_data.at(audit, cutoff)
    last = len(page_data.stops(audit)) - 1
    for each in told["sets"]:
        names = each["attributes"]
        on = " \u00d7 ".join(names)
        part = there.counts(names, control=False)
        groups = [spell(group) for group in part.groups]
        rates = part.measures(["false_positive_rate", "true_positive_rate", "selection_rate"])
        for metric, points in each["sweeps"].items():
            finding = next(one for one in there.findings if (one.metric, one.attributes) == (metric, names))
            if stop < last:
                yield on, f"every cutoff: {metric}", "curve", off(*at(points, stop, finding.shown.value))
        for curve in each["roc"]:
            place = groups.index(curve["name"].partition(": AUC")[0])
            x, y = json.loads(curve["points"])[stop]
            yield on, "ROC", "curve", off(x, float(rates["false_positive_rate"][place]))
            yield on, "ROC", "curve", off(y, float(rates["true_positive_rate"][place]))
        for curve in each["spread"]:
            place = groups.index(curve["name"])
            above = sum(share for _, share in json.loads(curve["points"])[1 + stop : 1 + last])
            yield on, "distribution", "curve", off(above, float(rates["selection_rate"][place]))


def at(points: str, stop: int, true: float) -> tuple[float, float]:
    value = json.loads(points)[stop][1]
    return (math.nan if value is None else value), true
