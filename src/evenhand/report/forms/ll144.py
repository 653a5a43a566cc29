"""The summary of results that New York City asks for: rates and impact ratios by sex, by race or ethnicity, by both.

6 RCNY 5-301 says what is computed, 5-303 what is published: the date of the audit, source and explanation of the data,
the number of people of an unknown category, the number of applicants, rates and ratios of all categories, and the date
from which the tool was used. A category under 2 % may be left out of the ratios, and stands with its number and rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from evenhand.core.results import Finding, Row, spell
from evenhand.core.wording import clip, number_of
from evenhand.errors import CallError
from evenhand.report.forms import parts
from evenhand.report.forms.document import Document, Section, Table, Terms
from evenhand.verdicts.comparison import EXTREMES

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.report.forms.record import Record

_RATES = {"disparate_impact": "selection rate", "scoring_rate_parity": "scoring rate"}
_EXCLUDED = "excluded"
_COVER = (
    "system",
    "version",
    "purpose",
    "date",
    "author",
    "data_source",
    "data_kind",
    "distribution_date",
    "exclusion",
    "signer",
)


def content(audit: Audit, record: Record) -> Document:
    """The form."""
    found = [finding for finding in audit.findings if finding.metric in _RATES]
    if audit.meaning.task != "binary":
        raise CallError(
            "the form ll144 is about who was selected: audit each class as a decision of its own, positive=."
        )
    if audit.meaning.control:
        raise CallError("the form ll144 is about everyone: audit without control=, because the rule knows no strata.")
    if audit.cube.facts.get("dropped"):
        raise CallError(
            "the form ll144 says how many people have an unknown category, and they were left out of these counts: "
            "count without missing='drop' (--missing drop)."
        )
    if not any(row.ratio is not None for finding in found for row in finding.rows):
        raise CallError(
            "the form ll144 needs impact ratios against the highest category: audit with policy='nyc-ll144' "
            "(--policy nyc-ll144)."
        )
    for finding in found:
        _check_highest(finding)
    sections = [_section(audit, metric, [each for each in found if each.metric == metric]) for metric in _RATES]
    excluded = _excluded(table for part in sections for table in part.tables)
    cover = [name for name in _COVER if name != "exclusion" or excluded]
    sets = ", ".join(dict.fromkeys(" × ".join(finding.attributes) for finding in found))
    return Document(
        parts.title(audit, "Bias audit, summary of results"),
        (
            parts.people(audit),
            f"The rule asks for tables by sex, by race or ethnicity, and by both together. This audit is by {sets}.",
        ),
        (*parts.cover_terms(audit, cover), *_what(audit), *parts.verdict_term(audit)),
        (
            *((_judged(audit),) if audit.verdict != "not judged" else ()),
            *(section for section in sections if section.tables),
            Section("Data and limits", points=(*parts.counted_notes(audit), *parts.limits(audit))),
            *parts.rule_section(audit),
            parts.integrity(record),
        ),
    )


def _check_highest(finding: Finding) -> None:
    """Raise unless the ratios are those to the highest of the categories that are compared, which the form says."""
    remedy = "audit with policy='nyc-ll144' (--policy nyc-ll144) and without reference=."
    against = str(finding.settings.get("against"))
    if against != EXTREMES["highest"]:
        raise CallError(
            f"the form ll144 divides by the highest rate, and this audit by that of {clip(against)}: {remedy}"
        )
    above = [row for row in finding.rows if None not in row.group and row.ratio is not None and row.ratio.value > 1]
    if above:
        name, against = clip(spell(above[0].group, finding.attributes)), clip(str(above[0].against))
        raise CallError(
            f"the form ll144 divides by the highest rate, and {name} has a higher rate than {against}, by which this "
            "audit divides, because the policy takes small groups for no measure of others: set "
            f"min_group_size = 1 and min_reference_share = 0 in it, or {remedy}"
        )


def _what(audit: Audit) -> Terms:
    """What counts as selected, and the column of scores."""
    found = {name: text for name, text in parts.role_terms(audit) if text != "none"}
    words = {"Prediction (what was decided)": "Counted as selected", "Score": "Score", "Weights": "Weights"}
    return tuple((words[name], text) for name, text in found.items() if name in words)


def _section(audit: Audit, metric: str, findings: list[Finding]) -> Section:
    rate = _RATES[metric]
    made = {
        "selection rate": "The selection rate is the share of the applicants of a category who were selected.",
        "scoring rate": "The scoring rate is the share of a category that scores above the median of everyone.",
    }
    widest = [each for each in findings if not any({*each.attributes} < {*other.attributes} for other in findings)]
    unknown = (_said_of_unknown(finding) for finding in widest)
    tables = tuple(impact_table(audit, finding) for finding in findings)
    apart = _excluded(tables) or (audit.sharing is not None and audit.sharing.groups)
    among = " of the categories that are compared" if apart else ""
    ratio = f"The impact ratio is the {rate} of a category divided by the highest{among}."
    sure = (
        "Intervals hold for all categories of a table together, and allow for the data having chosen the highest. "
        "The rule does not ask for them."
    )
    return Section(f"{rate.capitalize()}s and impact ratios", (f"{made[rate]} {ratio}", sure, *unknown), tables=tables)


def _excluded(tables: Iterable[Table]) -> bool:
    """Is a category left out of the ratios for having few people?"""
    return any(row[-2] == _EXCLUDED for table in tables for row in table.rows)


def _said_of_unknown(finding: Finding) -> str:
    people, of = _unknown(finding), " or ".join(finding.attributes)
    if not people:
        return f"Nobody has an unknown {of}."
    return f"{number_of(people, 'person has', 'people have')} an unknown {of}; they are not included below."


def _judged(audit: Audit) -> Section:
    """The rule sets no threshold; where whoever made the audit did, the form says so."""
    own = "The rule sets no threshold, so this is not a verdict by the rule."
    return Section("Verdict", (own, *parts.sentences(audit)))


def _unknown(finding: Finding) -> int:
    """How many people have no known value of one of the attributes."""
    return sum(row.n or 0 for row in finding.rows if None in row.group)


def impact_table(audit: Audit, finding: Finding) -> Table:
    """The table of one set of attributes: each category with its applicants, its rate, and its ratio or why it has
    none; people of an unknown category as the last line."""
    part = audit.counts(finding.attributes, control=False)
    rate, confidence = _RATES[finding.metric], f"{audit.policy.confidence:.0%} interval"
    counted = finding.metric == "disparate_impact"
    chosen = {group: int(n) for (_, group), n in zip(part.pairs, part.n[:, :, 1].sum(axis=1), strict=True)}
    known = [row for row in finding.rows if None not in row.group]
    rows = []
    for row in known:
        selected = (f"{chosen[row.group]:,}",) if counted else ()
        shown = spell(row.group, finding.attributes)
        rows.append((shown, f"{row.n or 0:,}", *selected, _percent(row), *_ratio(audit, row, part.size)))
    blank = ("",) if counted else ()
    rows.append(("(unknown)", f"{_unknown(finding):,}", *blank, "not included", "", ""))
    columns = ("category", "applicants", *(("selected",) if counted else ()), rate, "impact ratio", confidence)
    return Table(f"By {' × '.join(finding.attributes)}", columns, tuple(rows))


def _percent(row: Row) -> str:
    if row.estimate is None or not row.estimate.defined:
        return "undefined"
    return f"{100 * row.estimate.value:.1f} %"


def _ratio(audit: Audit, row: Row, size: int) -> tuple[str, str]:
    """The ratio and its interval; of a category without one, why."""
    if row.ratio is not None and row.ratio.defined:
        ends = (row.ratio.low, row.ratio.high)
        if row.against == spell(row.group):
            return f"{row.ratio.value:.3f}", "the highest"
        return f"{row.ratio.value:.3f}", "" if None in ends else f"{ends[0]:.3f} to {ends[1]:.3f}"
    least = audit.policy.min_group_share
    if row.ratio is None and (row.n or 0) < least * size:
        return _EXCLUDED, f"under {100 * least:g} % of the people"
    return "undefined", row.reason or "the highest rate is 0"
