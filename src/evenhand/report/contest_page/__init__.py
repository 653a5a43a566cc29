"""A contest of models as one HTML file without a script: what changed, for whom and how surely, then every table.

Its style is that of an audit's page, and a little more. Pictures are SVG, in the row of their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evenhand.report import contest as words
from evenhand.report.contest_page import cover, lines
from evenhand.report.page import assets, digest, environment
from evenhand.report.summary import required_titles
from evenhand.report.text.diff import MEANS

if TYPE_CHECKING:
    from evenhand.audits.contest import Contest


@dataclass(frozen=True)
class Part:
    """One attribute under one model and the first: the tables."""

    anchor: str
    title: str
    models: tuple[str, str]
    flips: lines.FlipTable
    gaps: tuple[lines.Table, ...]
    measures: tuple[lines.Table, ...]


def dumps(contest: Contest) -> str:
    """The contest as a page without a script."""
    from markupsafe import Markup

    style = f"{assets()[1]}\n{_file('contest.css')}"
    created = datetime.now(UTC).isoformat(timespec="seconds")
    shown: str = _template().render(
        policy=f"default-src 'none'; style-src '{digest(style)}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - the package's own files
        title=cover.title(contest),
        facts=cover.facts(contest, created),
        verdict=contest.verdict,
        means=MEANS[contest.verdict],
        required=required_titles(contest.audits[contest.first]),
        covers=cover.covers(contest),
        parts=_parts(contest),
        notes=words.notes(contest),
        method=cover.method(contest, created),
        confidence=f"{100 * contest.confidence:g} %",
        width=lines.WIDTH,
        edge=lines.EDGE,
    )
    return shown


def _parts(contest: Contest) -> list[Part]:
    several = len(contest.changes) > 1
    return [
        Part(
            f"model-{i}-by-{k}",
            f"{attributes[0]}{f', {change.name}' if several else ''}",
            (contest.first, change.name),
            lines.flip_table(change, attributes),
            tuple(lines.gap_tables(change, attributes)),
            tuple(lines.measure_tables(change, attributes)),
        )
        for i, change in enumerate(contest.changes.values(), 1)
        for k, attributes in enumerate(words.single(contest), 1)
    ]


@cache
def _template() -> Any:
    return environment().from_string(_file("page.html"))


def _file(name: str) -> str:
    return files("evenhand.report.contest_page").joinpath(name).read_text(encoding="utf-8")
