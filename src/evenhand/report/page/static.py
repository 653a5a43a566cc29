"""What a page says without its script: who was audited, the findings, every number as a table, and how it was made.

Everything here is text; the template escapes it.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from evenhand.core.results import TREND, Finding, Panel, spell
from evenhand.core.version import __version__
from evenhand.core.wording import capital
from evenhand.report import tables
from evenhand.report.results import Column, Results
from evenhand.report.summary import CORRECTIONS, decision, joined, valued
from evenhand.report.tables import GroupTable

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.catalogue import Metric

MOST_CARDS = 6
MOST_LINES = 12  # of the groups on the first screen
MOST_NOTES = 3
MOST_GROUPS = 250  # lines of one table of groups
MOST_COLUMNS = 10
COLUMNS_ABREAST = 5  # as many as fit on a sheet of paper without breaking a number

# What a browser would act on instead of showing it, or what turns a line around. Joiners stay: names need them.
_MOST_TEXTS = 40  # metrics of which a page says everything
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")

FAMILIES = {
    "independence": "Selection",
    "separation": "Errors",
    "sufficiency": "Predictive values",
    "accuracy": "Accuracy",
    "inequality": "Inequality between people",
    "scores": "Scores",
    "distances": "Distances between scores",
    "dependence": "Dependence on the group",
    "regression": "Predicted numbers",
    "individual": "People who are alike",
    "stability": "Stability of the model",
    "counterfactual": "Counterfactuals",
    "data": "The data itself",
    "lending": "Lending and insurance",
    "search": "Groups that nobody named",
    "own": "Your own metrics",
}


def family_title(family: str) -> str:
    """A family of metrics in plain words."""
    return FAMILIES.get(family, family.capitalize())


def shown(text: str) -> str:
    """A name as a page may show it.

    >>> shown("a\\u202eb"), shown("עברית")
    ('a�b', 'עברית')
    """
    return _UNSEEN.sub("�", text)


def breakable(name: str) -> Any:
    """A name as a page may show it, that a narrow column breaks after an underscore and not within a word.

    >>> print(breakable("pred_lr"), breakable("<b>"))
    pred_<wbr>lr &lt;b&gt;
    """
    from markupsafe import Markup, escape

    return escape(shown(name)).replace("_", Markup("_<wbr>"))


def tied(text: str) -> str:
    """A sentence as a page may show it, in which no number is parted from what belongs to it.

    >>> tied("44.8 % (n = 1,795) at score ≥ 0.5")
    '44.8\\xa0% (n\\xa0=\\xa01,795) at score ≥\\xa00.5'
    """
    return re.sub(r"(?<=\d) (?=%)|(?<=\bn) (?== \d)|(?<=[=≥≤]) (?=-?\d)", "\u00a0", shown(text))


def title(audit: Audit) -> str:
    """What its maker called the audit, or what was audited, in one line."""
    if audit.cover.title:
        return audit.cover.title
    meaning = audit.meaning
    about = decision(audit) or meaning.score or meaning.label or "decisions"
    against = f" against {meaning.label}" if meaning.label and about != meaning.label else ""
    within = f" within {' × '.join(meaning.control)}" if meaning.control else ""
    return f"{about}{against}, by {joined(meaning.sensitive)}{within}"


def facts(audit: Audit, created: str) -> list[tuple[str, str]]:
    """Who and what was audited, as terms with their values: first what its makers say of it."""
    meaning, cube, cover = audit.meaning, audit.cube, audit.cover
    sizes = {name: len(audit.counts(name).groups) for name in meaning.sensitive}
    terms = [
        ("System", " ".join(filter(None, (cover.system, cover.version)))),
        ("Author", cover.author),
        ("Signed by", cover.signer),
        ("Data", " · ".join(filter(None, (cover.data_source, cover.data_kind, audit.origin.get("source"))))),
        ("People", f"{cube.size:,}"),
        ("Groups", ", ".join(f"{name} ({size})" for name, size in sizes.items())),
        ("Strata", " × ".join(meaning.control) and f"{' × '.join(meaning.control)} ({len(cube.strata)})"),
        ("Label", valued(audit, "label", meaning.label)),
        ("Prediction", valued(audit, "prediction", meaning.prediction) or decision(audit)),
        ("Score", meaning.score),
        ("Weighted by", meaning.weight),
        ("Date", cover.date or f"{created[:10]} {created[11:16]} UTC"),
    ]
    return [(term, value) for term, value in terms if value]


def heading(audit: Audit, created: str) -> list[tuple[str, str]]:
    """The facts that stand above a page: those that its first sentence does not say."""
    return [(term, value) for term, value in facts(audit, created) if term not in _SAID]


_SAID = ("People", "Groups", "Strata", "Label", "Prediction")


def cards(audit: Audit) -> list[Finding]:
    """The findings that decide, those that fail first."""
    return tables.deciding(audit)[:MOST_CARDS]


def finding_lines(audit: Audit) -> list[dict[str, Any]]:
    """A line for each finding, those of single attributes first; the first one of a metric is where links lead."""
    lines = [finding for _, findings in tables.by_attributes(audit) for finding in findings]
    first = {finding.metric: finding for finding in reversed(lines)}
    return [
        {
            "metric": finding.metric,
            "anchor": first[finding.metric] is finding,
            "title": finding.title,
            "on": " × ".join(finding.attributes),
            "numbers": _numbers(finding),
            "limit": "–" if finding.threshold is None else tables.gap_limit(finding),
            "highest": tables.pair(finding)[0] or "–",
            "lowest": tables.pair(finding)[1] or "–",
            "p": "–" if finding.p_adjusted is None else _small(finding.p_adjusted),
            "verdict": finding.verdict,
            "decides": audit.decides(finding),
        }
        for finding in lines
    ]


def _numbers(finding: Finding) -> tuple[str, ...]:
    """The judged value and its ends, each by itself."""
    return tuple("–" if figure is None else figure for figure in tables.figures(finding))


def _small(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def group_tables(results: Sequence[Results]) -> list[GroupTable]:
    """The tables of each set of attributes; beyond what a page can hold, the largest groups."""
    return [table for each in results if each.groups for table in _group_tables(each)]


def _group_tables(results: Results) -> list[GroupTable]:
    columns = (results.first() or results.columns)[:MOST_COLUMNS]
    parts = [columns[i : i + COLUMNS_ABREAST] for i in range(0, len(columns), COLUMNS_ABREAST)]
    return [_group_table(results, part) for part in parts or [[]]]


def _group_table(results: Results, columns: Sequence[Column]) -> GroupTable:
    largest = sorted(range(len(results.groups)), key=lambda i: -results.people[i])[:MOST_GROUPS]
    lines = []
    for i in sorted(largest):
        cells = [
            tables.interval(column.values[i], column.low[i], column.high[i], column.scale) if column.n[i] else "–"
            for column in columns
        ]
        lines.append((spell(results.groups[i], results.attributes), f"{results.people[i]:,}", *cells))
    left_out = len(results.groups) - len(lines)
    if results.counted:
        everyone = [tables.interval(column.overall, None, None, column.scale) for column in columns]
        lines.append(("everyone", f"{sum(results.people):,}", *everyone))
    titles = [f"{capital(column.title)}{', %' if column.unit == 'rate' else ''}" for column in columns]
    return GroupTable(results.attributes, ("People", *titles), tuple(lines), left_out)


def deciding_notes(audit: Audit) -> list[tuple[Finding, tuple[str, ...]]]:
    """The notes on each finding that decides."""
    said = [(each, tables.notes(each, decides=True)) for each in tables.deciding(audit)]
    return [(finding, notes) for finding, notes in said if notes]


def tabs(audit: Audit, *, strata: bool, counted: bool) -> dict[str, str]:
    """The parts of a page that have something to show, by the name that a link has; `counted` is a page with counts."""
    calibrated = any(finding.metric == "calibration" and finding.panels for finding in audit.findings)
    scored = audit.cube.scores is not None if counted else calibrated
    several = strata or any(len(names) > 1 for names in audit.counted_sets)
    known = {
        "summary": "Summary",
        "groups": "Groups",
        "metrics": "Metrics" if audit.findings else "",
        "scores": "Scores and cutoffs" if scored else "",
        "intersections": ("Intersections and strata" if strata else "Intersections") if several else "",
        "limits": "Limits",
        "method": "Method",
    }
    return {name: title for name, title in known.items() if title}


def about(audit: Audit) -> list[tuple[str, list[Metric]]]:
    """What the catalogue says of the metrics of the audit, by family."""
    entries = audit.metrics
    families = dict.fromkeys(entry.family for entry in entries)
    return [(family_title(family), [entry for entry in entries if entry.family == family]) for family in families]


def told_in_full(audit: Audit, *, appendix: bool) -> set[str]:
    """The metrics of which a page says when they fit and what they cannot see.

    Of very many these are the core set and those that decide, because the texts of all would be a fifth of the page. A
    page with an appendix has all of them.
    """
    every = audit.metrics
    if appendix or len(every) <= _MOST_TEXTS:
        return {entry.name for entry in every}
    return {entry.name for entry in every if entry.core or entry.name in audit.required}


def strata_panels(audit: Audit) -> list[tuple[Finding, Panel]]:
    """Pooled against strata: the panels of the findings that decide, or of the first that has one."""
    every = [(finding, panel) for finding in audit.findings for panel in finding.panels if panel.role == "strata"]
    deciding = [pair for pair in every if audit.decides(pair[0])]
    return deciding or every[:1]


def trend_rule(audit: Audit) -> str:
    """When a watch raises an alarm; empty where there was none."""
    return next((note for note in audit.notes if note.startswith("An alarm is raised")), "")


def trend_panels(audit: Audit) -> list[Panel]:
    """What is shown over time, of the findings that decide."""
    return [panel for each in audit.findings if audit.decides(each) for panel in each.panels if panel.role == TREND]


def _drawn_rows(audit: Audit) -> bool:
    """Does a metric of the caller's own rest on draws of the rows?"""
    known = {metric.name for metric in audit.metrics}
    own = [finding.settings for finding in audit.findings if finding.metric not in known]
    return any(settings.get("draws") and settings.get("interval") for settings in own)


def method(audit: Audit, origin: Mapping[str, str]) -> list[tuple[str, str]]:
    """How the numbers were made, as terms with their values."""
    policy, missing = audit.policy, audit.meaning.missing
    shared = "" if policy.familywise == "finding" else "; the findings that decide share the error of a fail"
    drawn = f"{policy.draws:,}, seed {policy.random_state}"
    terms = [
        ("Intervals", f"{policy.interval}, {100 * policy.confidence:g} %{shared}"),
        ("Draws", drawn if policy.uses_draws or _drawn_rows(audit) else "none: the intervals are analytic"),
        ("Permutation tests", f"seed {policy.random_state}" if _permuted(audit) else None),
        ("Correction of p-values", CORRECTIONS[policy.correction]),
        ("Smallest group for a pass", f"{policy.min_group_size:,} people in the denominator"),
        ("Groups are compared", _against(policy.reference)),
        ("What decides", ", ".join(audit.required) or "nothing is judged"),
        ("Decides on", _DECIDES_ON[policy.on]),
        ("Missing groups", _MISSING_GROUPS.get(missing, missing)),
        ("Audited with", f"evenhand {origin['evenhand']}"),
        ("Page written with", _versions()),
    ]
    return [(term, value) for term, value in terms if value]


_DECIDES_ON = {
    "single": "single attributes",
    "intersections": "intersections",
    "all": "every attribute and intersection",
}
_MISSING_GROUPS = {"group": "a separate group, shown and not judged", "drop": "left out"}
_REFERENCES = {
    "rest": "everyone else",
    "overall": "everyone",
    "largest": "the largest group",
    "highest": "the highest group",
}


def _permuted(audit: Audit) -> bool:
    return any("permutation" in (finding.tested or "") for finding in audit.findings)


def _against(reference: Any) -> str:
    if reference is None:
        return "highest with lowest"
    if isinstance(reference, Mapping):
        return "with " + ", ".join(f"{name} = {value}" for name, value in reference.items())
    return f"with {_REFERENCES.get(reference, reference) if isinstance(reference, str) else reference}"


@cache
def _versions() -> str:
    parts = [f"evenhand {__version__}", f"Python {platform.python_version()}"]
    return ", ".join([*parts, *(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "duckdb"))])


def command(audit: Audit) -> tuple[str, str]:
    """The command that made the audit; of one made in Python, the call, as far as the audit knows it."""
    if "command" in audit.origin:
        return "The command", audit.origin["command"]
    meaning, policy = audit.meaning, audit.policy
    values: dict[str, Any] = {
        "label": meaning.label,
        "prediction": meaning.prediction,
        "score": meaning.score,
        "cutoff": meaning.cutoff,
        "sensitive": list(meaning.sensitive),
        "control": list(meaning.control) or None,
        "weight": meaning.weight,
        "task": None if meaning.task == "binary" else meaning.task,
        "higher_is": None if meaning.higher_is == "positive" else meaning.higher_is,
        "reference": policy.reference,
        "confidence": None if policy.confidence == 0.95 else policy.confidence,
        "interval": None if policy.interval == "simultaneous" else policy.interval,
    }
    arguments = ", ".join(f"{name}={value!r}" for name, value in values.items() if value is not None)
    return "The call in Python, as far as the audit knows it", f"evenhand.audit(data, {arguments})"
