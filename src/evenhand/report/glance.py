"""An audit at a glance: the findings that come first, their groups in one table, and the notes that matter most.

Numbers are those of the findings themselves and, where they have none, of the page; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.core.results import Finding, Group, Pair, Panel, Row, spell, spell_stratum
from evenhand.core.wording import clip, shown_scale, table_figure, unit_of_values
from evenhand.errors import join_names
from evenhand.report import tables
from evenhand.report.results import Results, results_of

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

MOST_COLUMNS = 6
_MOST_UNJUDGED = 3

Key = tuple[str, str | None]
"""A measure, and the class that it is of where there are several."""

TITLES = {
    "selection_rate": "selected",
    "base_rate": "base rate",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "true_negative_rate": "TNR",
    "false_negative_rate": "FNR",
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "false_discovery_rate": "FDR",
    "false_omission_rate": "FOR",
    "auc": "AUC",
    "mean_absolute_error": "mean |error|",
    "r_squared": "R²",
    "macro_true_positive_rate": "mean TPR",
    "macro_positive_predictive_value": "mean PPV",
}
"""Short titles for the columns of a narrow table; other measures have the title of the measure."""

# How notes begin that bear on what the verdict is worth, and those that only help to read it.
GRAVE = (
    "Only rows are counted where",
    "Made to be shared",
    "Left out of ",
    "Required, and left out",
    "Everybody in this table was selected",
    "Nobody in this table was selected",
    "Simpson's paradox",
    "The strata explain the gap",
    "The strata show a gap",
    "Nobody who was ",
    "Whatever the missing labels",
)
MINOR = (
    "If all groups were alike",
    "Within strata, the test",
    "The strata differ among themselves",
    "Over all strata together",
    "Exact: every score",
    "From ",
    "Computed from the rows",
    "Farthest from the overall",
    "The verdict holds ",
    "A score ",
    "Judged by ",
    "P-values are corrected",
)


def leading(audit: Audit) -> list[Finding]:
    """The findings that decide, those that fail first; where nothing decides, the first ones of single attributes."""
    decided = tables.deciding(audit)
    return decided or [each for _, findings in tables.by_attributes(audit) for each in findings][:_MOST_UNJUDGED]


# --- Groups ----------------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """The title of a column, and its cells as text, one for each line of the table."""

    title: str
    cells: tuple[str, ...]


class Groups(NamedTuple):
    """Lines of groups, the pairs on which verdicts rest first: names, people, and a column for each measure.

    `left_out` says how many more groups there are of each set of attributes. `listed` says that they are those which a
    finding lists itself, and not all groups of some attributes.
    """

    title: str
    names: tuple[str, ...]
    people: tuple[int, ...]
    columns: tuple[Column, ...]
    left_out: Mapping[tuple[str, ...], int]
    listed: bool = False

    @property
    def more(self) -> str:
        """How many more groups there are, in words."""
        if len(self.left_out) == 1:
            return f"and {sum(self.left_out.values()):,} more groups"
        parts = [f"{many:,} more of {clip(' × '.join(names))}" for names, many in self.left_out.items()]
        return f"and {join_names(parts, 4)}" if parts else ""


class _Line(NamedTuple):
    """A group of a set of attributes, in a stratum or over all of them."""

    set: _Set
    stratum: Group
    group: Group

    @property
    def name(self) -> str:
        name = spell(self.group, self.set.attributes)
        if not self.set.in_stratum:
            return name
        return f"{name}, {spell_stratum(self.stratum, self.set.controls) if self.stratum else 'over all strata'}"

    @property
    def people(self) -> int:
        return self.set.people.get((self.stratum, self.group), 0)

    def cell(self, key: Key) -> str:
        """The value with its interval: that of the finding, else that of the page."""
        row = self.set.rows.get((self.stratum, *key, self.group))
        if row is not None and row.estimate is not None:
            return tables.interval(row.estimate.value, row.estimate.low, row.estimate.high, self.set.scale(key))
        column = None if self.stratum else self.set.results_by_key.get(key)
        if column is None:
            return "–"
        i = self.set.results.groups.index(self.group)
        ends = column.values[i], column.low[i], column.high[i]
        return tables.interval(*ends, column.scale) if column.n[i] else "–"


class _Set:
    """The groups of one set of attributes, led by the pair on which its first finding rests."""

    def __init__(self, audit: Audit, findings: Sequence[Finding]) -> None:
        self.attributes, self.controls = findings[0].attributes, audit.meaning.control
        self.findings = findings
        self.evidence = findings[0].evidence or findings[0].summary
        compared = {row.measure for finding in findings for row in finding.groups}
        self.results: Results = results_of(audit, self.attributes, compared)
        self.results_by_key = {column.key: column for column in self.results.columns}
        self.in_stratum = bool(self.evidence.stratum)
        self.people: dict[Pair, int] = {
            ((), group): many for group, many in zip(self.results.groups, self.results.people, strict=True)
        }
        if self.in_stratum and self.results.counted:
            cube = audit.counts(self.attributes)
            self.people |= dict(zip(cube.pairs, cube.n.sum(axis=(1, 2)).tolist(), strict=True))
        plain = [row for finding in reversed(findings) for row in finding.groups if row.bin is None and row.group]
        self.rows: dict[tuple[Group, str, str | None, Group], Row] = {
            (row.stratum, row.measure, row.of_class, row.group): row for row in plain if row.against is None or row.n
        }
        self._units = {row.measure: unit_of_values(finding.unit) for finding in findings for row in finding.groups}

    @property
    def measures(self) -> list[Key]:
        """What the findings compare, that of the pair first."""
        stratum, averaged = self.evidence.stratum, self.evidence.measure in {each.metric for each in self.findings}
        first = [] if averaged or self.evidence.bin is not None else [(self.evidence.measure, self.evidence.of_class)]
        others = [
            (row.measure, row.of_class)
            for finding in self.findings
            for row in finding.groups
            if row.group and row.bin is None and row.stratum == stratum and row.measure != finding.metric
        ]
        return list(dict.fromkeys([*first, *others]))

    def scale(self, key: Key) -> int:
        column = self.results_by_key.get(key)
        return column.scale if column is not None else 100 if self._units.get(key[0]) == "rate" else 1

    def title(self, key: Key) -> str:
        column = self.results_by_key.get(key)
        name = TITLES.get(key[0]) or (key[0].replace("_", " ") if column is None else column.title)
        of = "" if key[1] is None else f" of {clip(key[1], 12)}"
        return f"{name}{of}{', %' if self.scale(key) == 100 else ''}"

    @property
    def lines(self) -> list[_Line]:
        """Those of the stratum of the pair, then those over all strata; in each the pair first, then by people."""
        strata: list[Group] = [self.evidence.stratum, ()] if self.in_stratum else [()]
        lines = [
            _Line(self, stratum, group)
            for stratum in strata
            for group in self.results.groups
            if not stratum or (stratum, group) in self.people
        ]
        pair = [spell(self.evidence.group), self.evidence.against]

        def order(line: _Line) -> tuple[int, int, int]:
            name = spell(line.group)
            return strata.index(line.stratum), pair.index(name) if name in pair else len(pair), -line.people

        return sorted(lines, key=order)


def groups(audit: Audit, findings: Sequence[Finding], most: int) -> Groups | None:
    """The groups of the findings in at most so many lines; None where no group has a number."""
    if findings and (panels := listed(findings[0])):
        return _as_listed(findings[0], panels[0], most)
    by_set: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if not listed(finding):
            by_set.setdefault(finding.attributes, []).append(finding)
    sets = [each for each in (_Set(audit, part) for part in by_set.values()) if each.results.groups]
    sets = sets[: max(most // 2, 1)]
    if not sets:
        return None
    shown = _shared_out([each.lines for each in sets], most)
    lines = [line for part in shown for line in part]
    compared = list(dict.fromkeys(key for each in sets for key in each.measures))
    others = [column.key for each in sets if not each.in_stratum for column in each.results.first()]
    keys = [key for key in dict.fromkeys([*compared, *others]) if key in compared or _is_known(key, lines)]
    titles = {key: next(each.title(key) for each in sets) for key in keys[:MOST_COLUMNS]}
    left_out = {
        each.attributes: len(each.results.groups) - len({line.group for line in part})
        for each, part in zip(sets, shown, strict=True)
    }
    return Groups(
        " × ".join(sets[0].attributes) if len(sets) == 1 else "group",
        tuple(line.name for line in lines),
        tuple(line.people for line in lines),
        tuple(Column(title, tuple(line.cell(key) for line in lines)) for key, title in titles.items()),
        {names: many for names, many in left_out.items() if many > 0},
    )


def listed(finding: Finding) -> list[Panel]:
    """The groups that a finding lists itself, as a search does, because the counts of an audit do not name them."""
    return [panel for panel in finding.panels if panel.role == "listed"]


def _as_listed(finding: Finding, panel: Panel, most: int) -> Groups:
    """The first groups of a panel, each with what was measured, what it is compared with, and its gap."""
    scale = shown_scale(finding.judged_on, finding.unit)
    rows: list[dict[str, Any]] = [dict(zip(panel.columns, row, strict=True)) for row in panel.rows]
    at = panel.columns.index("gap")
    told = [name for name in ("measure", "scores") if name in panel.columns]
    columns = [Column(name, tuple(str(row[name]) for row in rows[:most])) for name in told]
    for name in panel.columns[at - 2 : at]:
        cells = tuple(table_figure(row[name], scale) for row in rows[:most])
        columns.append(Column(f"{name}, %" if scale == 100 else name, cells))
    gaps = tuple(tables.gap(row["gap"], row["low"], row["high"], scale) for row in rows[:most])
    columns.insert(0, Column("gap, points" if scale == 100 else "gap", gaps))
    people = tuple(int(row.get("measured on", row["people"])) for row in rows[:most])
    more = {finding.attributes: len(rows) - most} if len(rows) > most else {}
    return Groups("group", tuple(str(row["group"]) for row in rows[:most]), people, tuple(columns), more, listed=True)


def _is_known(key: Key, lines: Sequence[_Line]) -> bool:
    """Has a measure a value for any of these groups?"""
    return any(line.cell(key) not in ("–", "undefined") for line in lines)


def _shared_out(lines: Sequence[Sequence[_Line]], most: int) -> list[list[_Line]]:
    """A pair of each set, and then more of the first sets, as far as there is room."""
    shown = [list(part[:2]) for part in lines]
    for i, part in enumerate(lines):
        room = most - sum(map(len, shown))
        shown[i] += part[2 : 2 + max(room, 0)]
    return shown


# --- Notes -----------------------------------------------------------------------------------------------------------


def notes(audit: Audit, findings: Sequence[Finding]) -> list[str]:
    """The notes on these findings and on the audit, each once, those that bear on the verdict first."""
    ranked = [
        (_rank(note, 1, finding), f"{_of(finding, findings)}{note}")
        for finding in findings
        for note in tables.notes(finding, decides=audit.decides(finding))
    ]
    ranked += [(0 if note in audit.policy.notes else _rank(note, 2), note) for note in audit.notes]
    return list(dict.fromkeys(text for _, text in sorted(ranked, key=lambda pair: pair[0])))


def _of(finding: Finding, findings: Sequence[Finding]) -> str:
    """Which of several findings a note is on: its attributes, or its metric, or both."""
    sets = {each.attributes for each in findings}
    metrics = {each.metric for each in findings}
    parts = [" × ".join(finding.attributes)] if len(sets) > 1 else []
    parts += [finding.metric] if len(metrics) > 1 else []
    return f"{', '.join(map(clip, parts))}: " if parts else ""


def _rank(note: str, usual: int, finding: Finding | None = None) -> int:
    if note.startswith(GRAVE):
        return 0
    said = finding is not None and not finding.value.defined and note.startswith("Undefined, ")  # by its sentence
    return 3 if said or note.startswith(MINOR) else usual
