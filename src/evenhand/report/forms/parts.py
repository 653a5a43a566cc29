"""What forms share: the cover, the rule, findings and groups as tables of text, and how a form is verified."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from evenhand.audits.audit_notes import data_notes
from evenhand.audits.sharing import sharing_notes
from evenhand.catalogue import METRICS
from evenhand.core.results import Finding, spell
from evenhand.core.wording import number_of, shown_scale
from evenhand.report import tables
from evenhand.report.forms.document import Section, Table, Terms
from evenhand.report.summary import CORRECTIONS, decision, outcomes, valued, whose_thresholds
from evenhand.verdicts.policy import SHIPPED

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.core.cover import Cover
    from evenhand.measures.evaluate import MeasureValues
    from evenhand.report.forms.record import Record

_MOST_GROUPS = 200
_MOST_COLUMNS = 6  # measures side by side, as a sheet of paper has room for
_MOST_SAID = 10
_SMALL, _DIGITS = 10, 3  # of small figures such as a Brier score two digits would hide the interval
_JUDGED = ("threshold", "p, corrected", "verdict")

TERMS = {
    "system": "System",
    "version": "Version",
    "purpose": "Purpose",
    "author": "Audited by",
    "signer": "Signed by",
    "date": "Date of the audit",
    "data_source": "Source of the data",
    "data_kind": "Kind of data",
    "distribution_date": "In use since",
    "exclusion": "Why small categories are excluded",
}
"""What the entries of a cover are called in forms."""
NOT_STATED = "not stated"


def cover_terms(audit: Audit, names: Iterable[str]) -> Terms:
    """Entries of the cover; what nobody stated says so, because a form that is handed in must not hide it."""
    return tuple((TERMS[name], stated(audit.cover, name)) for name in names)


def stated(cover: Cover, name: str) -> str:
    """An entry of a cover as text, or that nobody stated it."""
    value = getattr(cover, name)
    text = " ".join(value) if isinstance(value, tuple) else str(value)
    return text or NOT_STATED


def role_terms(audit: Audit) -> Terms:
    """What the columns stand for, with the values that count as positive: a reader cannot check a rate without them."""
    meaning = audit.meaning
    decided = valued(audit, "prediction", meaning.prediction) or decision(audit)
    weight = None if meaning.exposure else meaning.weight  # an exposure is a weight
    more = {"Score": meaning.score, "Exposure": meaning.exposure, "Weights": weight}
    more["Rows that belong together"] = meaning.cluster
    return (
        ("Label (what happened)", valued(audit, "label", meaning.label) or "none: nothing that needs one is computed"),
        ("Prediction (what was decided)", decided or "none"),
        *((name, column) for name, column in more.items() if column is not None),
    )


def verdict_term(audit: Audit) -> Terms:
    """The verdict with what makes it, where a reader looks first: a pass names the groups that it leaves out, and says
    what the policy counts as one."""
    if audit.verdict == "not judged":
        return (("Verdict", "not judged: under this policy no threshold decides"),)
    return (("Verdict", f"{audit.verdict} ({outcomes(audit)})"),)


def title(audit: Audit, what: str) -> str:
    """The title of a form: what it is, and of which system or audit."""
    of = audit.cover.system or audit.cover.title
    return f"{what}: {of}" if of else what


def people(audit: Audit) -> str:
    """How many people, and by which attributes."""
    return f"{tables.headline(audit)}."


def counted_notes(audit: Audit) -> tuple[str, ...]:
    """What must be known of how the data was counted; of a shared audit, of each table that it holds, and by name what
    was left out of it."""
    counted = [audit.counts(names) for names in audit.counted_sets] if audit.parts else [audit.cube]
    return tuple(dict.fromkeys([*(note for cube in counted for note in data_notes(cube)), *sharing_notes(audit)]))


def finding_tables(audit: Audit, findings: Sequence[Finding], what: str) -> tuple[Table, ...]:
    """Findings with the judged figure, its interval, the threshold, the groups and the verdict: a table for each set of
    attributes, and below the last what its columns are."""
    sets = list(dict.fromkeys(finding.attributes for finding in findings))
    note = (
        "Points are percentage points. The p-value tests whether there is no gap at all; no verdict depends on it. "
        f"Correction for the number of tests: {CORRECTIONS[audit.policy.correction]}."
    )
    return tuple(
        Table(
            f"{what} by {' × '.join(names)}",
            ("metric", "between", "and", f"value [{audit.policy.confidence:.0%} interval]", *_JUDGED),
            tuple(_finding_row(audit, each) for each in findings if each.attributes == names),
            names=3,
            notes=(note,) if names == sets[-1] else (),
        )
        for names in sets
    )


def _finding_row(audit: Audit, finding: Finding) -> tuple[str, ...]:
    first, second = (name or "-" for name in tables.pair(finding))
    aside = "" if audit.decides(finding) or finding.verdict == "not judged" else ", does not decide"
    return (
        finding.title,
        first,
        second,
        figure(finding),
        tables.limit(finding),
        _p(finding.p_adjusted),
        f"{finding.verdict}{aside}",
    )


def figure(finding: Finding) -> str:
    """The judged value with what it is, and its interval: 7.2 points [6.3, 10.7], or ratio 0.38 [0.25, 0.52]."""
    told = tables.value(finding)
    if "alarm_at" in finding.settings or told == "undefined":
        return told
    value, mark, ends = told.partition(" [")
    if shown_scale(finding.judged_on, finding.unit) == 100:
        value = f"{value} points"
    elif finding.judged_on == "ratio":
        value = f"ratio {value}"
    return f"{value}{mark}{ends}"


def _p(value: float | None) -> str:
    return "-" if value is None else "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def metric_table(audit: Audit, *, limits: bool) -> Table:
    """What each metric of the audit asks, and with `limits` what it cannot see."""
    names = dict.fromkeys(finding.metric for finding in audit.findings)
    known = [METRICS[name] for name in names if name in METRICS]
    width = 2 + limits
    columns = ("metric", "what it asks", "what it cannot see")[:width]
    rows = tuple((metric.title, metric.question, metric.limits)[:width] for metric in known)
    return Table("Why these metrics", columns, rows, sentences=True)


def sentences(audit: Audit) -> tuple[str, ...]:
    """The verdict of the policy, and what is said of the findings that made it, the worst first."""
    judged = [finding for finding in tables.deciding(audit) if finding.verdict != "not judged"]
    more = f"{len(judged) - _MOST_SAID} more findings decide; the table has them." if len(judged) > _MOST_SAID else ""
    said = [f"{finding.verdict.capitalize()}: {finding.interpretation}" for finding in judged[:_MOST_SAID]]
    first = (f"Verdict of the policy: {audit.verdict}.", *whose_thresholds(audit))
    return tuple(text for text in (*first, *said, more) if text)


def measure_tables(audit: Audit, wanted: Collection[str], what: str) -> tuple[Table, ...]:
    """Measures of everyone and of every group, each with its interval, one table for each set of attributes."""
    made = []
    for attributes in audit.counted_sets:
        columns = [each for each in audit.measures(attributes) if each.measure.name in wanted]
        pages = max(math.ceil(len(columns) / _MOST_COLUMNS), 1)
        width = math.ceil(len(columns) / pages)
        for page in range(pages):
            title = f"{what} by {' × '.join(attributes)}{', continued' if page else ''}"
            made.append(_measure_table(audit, attributes, columns[page * width : (page + 1) * width], title))
    return tuple(made)


def _measure_table(audit: Audit, attributes: tuple[str, ...], columns: Sequence[MeasureValues], title: str) -> Table:
    part = audit.counts(attributes, control=False)
    everyone = {each.measure.name: each for each in audit.measures(attributes, together=True)}
    people = part.n.sum(axis=(1, 2))
    shown = sorted(sorted(range(len(part.pairs)), key=lambda i: -people[i])[:_MOST_GROUPS])
    total = [_cell(everyone[each.measure.name], 0) for each in columns]
    rows = [("(everyone)", f"{part.size:,}", *total)]
    rows += [
        (spell(part.pairs[i][1], attributes), f"{people[i]:,}", *(_cell(each, i) for each in columns)) for i in shown
    ]
    titles = [f"{each.measure.title}{', %' if each.measure.unit == 'rate' else ''}" for each in columns]
    left = len(part.pairs) - len(shown)
    notes = (f"{left:,} smaller groups are not shown.",) if left else ()
    return Table(title, ("group", "people", *titles), tuple(rows), 1, notes)


def _cell(measured: MeasureValues, i: int) -> str:
    value, rate = measured.values[i], measured.measure.unit == "rate"
    digits = _DIGITS if not rate and abs(value) < _SMALL else None
    return tables.interval(value, measured.low[i], measured.high[i], 100 if rate else 1, digits=digits)


def rule_section(audit: Audit) -> tuple[Section, ...]:
    """The rule that the policy follows, with its sources, and where the policy differs from the one that ships."""
    rule = audit.policy.rule
    if rule is None:
        return ()
    changed = changed_fields(audit)
    terms = [
        ("Policy", f"{rule.name}, {rule.title}"),
        ("Sources", "; ".join(rule.sources)),
        ("Read on", rule.read),
        (
            ("Changed from the policy that ships", ", ".join(changed).replace("_", " ") or "nothing")
            if rule.name in SHIPPED
            else ("Made by", "those who made the audit: no policy that ships has this name")
        ),
    ]
    points = [f"Not checked: {text}" for text in rule.unchecked] + [f"Not covered: {text}" for text in rule.not_covered]
    asks = (rule.asks, "This is a screen by figures, and not legal advice.")
    return (Section("The rule", asks, tuple((name, text) for name, text in terms if text), points=tuple(points)),)


def changed_fields(audit: Audit) -> list[str]:
    """The fields of a policy that differ from those of the shipped policy it follows."""
    rule = audit.policy.rule
    if rule is None or rule.name not in SHIPPED:
        return []
    shipped = replace(SHIPPED[rule.name], cover=audit.cover)
    names = [part.name for part in fields(shipped) if part.compare]
    return [name for name in names if getattr(shipped, name) != getattr(audit.policy, name)]


def limits(audit: Audit) -> tuple[str, ...]:
    """What its makers and the policy say against reading too much into the audit."""
    stated = audit.cover.limits or ("The makers of the audit stated no limits.",)
    return tuple(dict.fromkeys([*stated, *audit.policy.notes]))


def integrity(record: Record) -> Section:
    """The checksums of a form, and how it is verified."""
    shared = "" if record.sharing is None else " of the counts that may be shared"
    as_found = number_of(len(record.given), "finding is", "findings are")
    given = f"{as_found} shown as found, needing the rows, or judged otherwise than the audit."
    return Section(
        "Verification",
        (
            "Whoever has the counts can check this form: evenhand verify FORM --cube COUNTS computes all of it again.",
            *((given,) if record.given else ()),
        ),
        (
            (f"SHA-256{shared or ' of the counts'}", record.cube),
            ("SHA-256 of the policy", record.policy_digest),
            ("Data", record.source or "not named"),
            ("Made", f"{record.created} by evenhand {record.evenhand}"),
        ),
    )
