"""What a page says without its script: who was audited, the findings, every number as a table, and how it was made.

Everything here is text; the template escapes it.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from evenhand.core.results import Finding, Panel, spell
from evenhand.core.version import __version__
from evenhand.core.wording import capital
from evenhand.report import tables
from evenhand.report.results import Results
from evenhand.report.tables import GroupTable

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.catalogue import Metric

MOST_CARDS = 12
MOST_GROUPS = 250  # lines of one table of groups
MOST_COLUMNS = 10

# What a browser would act on instead of showing it, or what turns a line around. Joiners stay: names need them.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")

FAMILIES = {
    "independence": "Who is selected",
    "separation": "Who is decided wrongly",
    "sufficiency": "What a decision is worth",
    "accuracy": "How often it is right",
    "inequality": "How evenly people fare",
    "scores": "What the score says",
    "distances": "How far apart scores lie",
    "dependence": "How much the group tells",
    "regression": "How the number fares",
    "individual": "Whether like are treated alike",
    "stability": "Whether the model varies between fits",
    "counterfactual": "Had people been of another group",
    "data": "What the data brought along",
    "own": "Your own",
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


def title(audit: Audit) -> str:
    """What its maker called the audit, or what was audited, in one line."""
    if "title" in audit.origin:
        return audit.origin["title"]
    meaning = audit.meaning
    about = _decision(audit) or meaning.score or meaning.label or "decisions"
    against = f" against {meaning.label}" if meaning.label and about != meaning.label else ""
    within = f" within {' × '.join(meaning.control)}" if meaning.control else ""
    *others, last = meaning.sensitive
    by = f"{', '.join(others)} and {last}" if others else last
    return f"{about}{against}, by {by}{within}"


def _decision(audit: Audit) -> str | None:
    meaning = audit.meaning
    if meaning.prediction is not None:
        return meaning.prediction
    if meaning.score is None or meaning.cutoff is None:
        return None
    return f"{meaning.score} {'≥' if meaning.higher_is == 'positive' else '≤'} {meaning.cutoff:g}"


def facts(audit: Audit, created: str) -> list[tuple[str, str]]:
    """Who and what was audited, as terms with their values."""
    meaning, cube = audit.meaning, audit.cube
    sizes = {name: len(audit.counts(name).groups) for name in meaning.sensitive}
    terms = [
        ("Data", audit.origin.get("source")),
        ("People", f"{cube.size:,}"),
        ("Groups", ", ".join(f"{name} ({size})" for name, size in sizes.items())),
        ("Held fixed", " × ".join(meaning.control) and f"{' × '.join(meaning.control)} ({len(cube.strata)} strata)"),
        ("Outcome", _valued(audit, "label", meaning.label)),
        ("Decision", _valued(audit, "prediction", meaning.prediction) or _decision(audit)),
        ("Score", meaning.score),
        ("Weighted by", meaning.weight),
        ("Date", f"{created[:10]} {created[11:16]} UTC"),
    ]
    return [(term, value) for term, value in terms if value]


def _valued(audit: Audit, role: str, name: str | None) -> str | None:
    """A column with the value that counts as positive."""
    if name is None or audit.meaning.task != "binary":
        return name
    return f"{name} = {' or '.join(audit.meaning.positive[role])}"


def cards(audit: Audit) -> list[Finding]:
    """The findings that decide, those that fail first."""
    return tables.deciding(audit)[:MOST_CARDS]


def finding_lines(audit: Audit) -> list[dict[str, Any]]:
    """A line for each finding, those of single attributes first."""
    return [
        {
            "metric": finding.metric,
            "title": finding.title,
            "on": " × ".join(finding.attributes),
            "numbers": _numbers(finding),
            "limit": "–" if finding.threshold is None else tables.limit(finding),
            "highest": tables.pair(finding)[0] or "–",
            "lowest": tables.pair(finding)[1] or "–",
            "p": "–" if finding.p_adjusted is None else _small(finding.p_adjusted),
            "verdict": finding.verdict,
            "decides": audit.decides(finding),
        }
        for _, findings in tables.by_attributes(audit)
        for finding in findings
    ]


def _numbers(finding: Finding) -> tuple[str, ...]:
    """The judged value and its ends, each by itself."""
    return tuple("–" if figure is None else figure for figure in tables.figures(finding))


def _small(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def group_tables(results: Sequence[Results]) -> list[GroupTable]:
    """A table for each set of attributes; beyond what a page can hold, the largest groups."""
    return [_group_table(each) for each in results if each.groups]


def _group_table(results: Results) -> GroupTable:
    columns = (results.first() or results.columns)[:MOST_COLUMNS]
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


def about(audit: Audit) -> list[tuple[str, list[Metric]]]:
    """What the catalogue says of the metrics of the audit, by family."""
    entries = audit.metrics
    families = dict.fromkeys(entry.family for entry in entries)
    return [(family_title(family), [entry for entry in entries if entry.family == family]) for family in families]


def strata_panels(audit: Audit) -> list[tuple[Finding, Panel]]:
    """Pooled against strata: the panels of the findings that decide, or of the first that has one."""
    every = [(finding, panel) for finding in audit.findings for panel in finding.panels if panel.role == "strata"]
    deciding = [pair for pair in every if audit.decides(pair[0])]
    return deciding or every[:1]


def trend_panels(audit: Audit) -> list[Panel]:
    """What is shown over time, of the findings that decide."""
    return [panel for each in audit.findings if audit.decides(each) for panel in each.panels if panel.role == "trend"]


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
        ("Correction of p-values", _CORRECTIONS[policy.correction]),
        ("Smallest group for a pass", f"{policy.min_group_size:,} people in the denominator"),
        ("Groups are compared", _against(policy.reference)),
        ("What decides", ", ".join(audit.required) or "nothing is judged"),
        ("Decides on", _DECIDES_ON[policy.on]),
        ("Missing groups", _MISSING_GROUPS.get(missing, missing)),
        ("Audited with", f"evenhand {origin['evenhand']}"),
        ("Page written with", _versions()),
    ]
    return [(term, value) for term, value in terms if value]


_CORRECTIONS = {
    None: "none",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
}
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


def joined(parts: Iterable[str]) -> str:
    """Names in a row: a, b and c."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
