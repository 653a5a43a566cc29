"""An audit as one HTML file that a person can explore, print and trust: no network, no server, nothing to install.

The tables are text that Jinja escapes. The script and the style are the files in assets/, inlined as they are, so that
whoever opens the source of a page can read them. A Content-Security-Policy names their hashes, so that nothing else can
run whatever a group is called. The script draws from JSON in a block that is never executed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evenhand.core.records import pack
from evenhand.core.version import __version__
from evenhand.report import glance, tables
from evenhand.report import results as pageresults
from evenhand.report.json import full_counts
from evenhand.report.page import static
from evenhand.report.results import Results
from evenhand.report.summary import Summary, found, still_open
from evenhand.report.summary import summary as summarise

if TYPE_CHECKING:
    from jinja2 import Template

    from evenhand.audits.audit import Audit

ENGINE = ("inference.js", "ends.js", "verdicts.js", "compute.js")
VIEW = ("draw.js", "plots.js", "groups.js", "scores.js", "panels.js", "view.js", "tabs.js")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x7f": "\\u007f"}


def dumps(audit: Audit, *, appendix: bool = False, **counts: Any) -> str:
    """The audit as a page; without its counts (see `Recomputation.page_data`) its cutoff cannot be moved.

    With `appendix` what is printed ends with every number and with the metrics in plain words.
    """
    origin = {
        "evenhand": audit.origin.get("evenhand", __version__),
        "created": audit.origin.get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
    }
    results, strata = pageresults.results(audit), static.strata_panels(audit)
    data, said = _data(audit, results, counts), summarise(audit)
    script, style = assets()
    return _template().render(
        policy=content_policy(script, style),
        script=_trusted(script),
        style=_trusted(style),
        data=_trusted(embed(data)),
        title=static.title(audit),
        cover=audit.cover,
        facts=static.heading(audit, origin["created"]),
        verdict=audit.verdict,
        summary=said,
        found=found(audit),
        still_open=still_open(audit),
        glance=glance.groups(audit, glance.leading(audit), static.MOST_LINES),
        tabs=static.tabs(audit, strata=bool(strata), counted=data["counts"] is not None),
        cards=static.cards(audit),
        more_cards=max(len(tables.deciding(audit)) - static.MOST_CARDS, 0),
        value=tables.value,
        limit=tables.gap_limit,
        strata=strata,
        trend=static.trend_panels(audit),
        rule=static.trend_rule(audit),
        forced=audit.impossibilities,
        notes=audit.notes,
        first_notes=_first_notes(audit, said),
        deciding_notes=static.deciding_notes(audit),
        appendix=appendix,
        full_counts=full_counts(audit),
        findings=static.finding_lines(audit),
        groups=static.group_tables(results),
        about=static.about(audit),
        questions={entry.name: entry.question for entry in audit.metrics},
        told_in_full=(told := static.told_in_full(audit, appendix=appendix)),
        all_told=len(told) == len(audit.metrics),
        method=static.method(audit, origin),
        command=static.command(audit),
        confidence=audit.policy.confidence,
        min_group_size=audit.policy.min_group_size,
    )


def _first_notes(audit: Audit, said: Summary) -> list[str]:
    """The notes of the first screen: those that its sentences do not say already."""
    known, leading = f"{said.found} {said.open} {static.trend_rule(audit)}", glance.leading(audit)
    told = tuple(note for note in (*audit.notes, *(note for each in leading for note in each.notes)) if note in known)
    in_other_words = ["rows to measure on: "] if "people to measure on" in said.open else []
    in_other_words += ["The intervals are those of single periods"] if static.trend_panels(audit) else []
    new = [
        note
        for note in glance.notes(audit, leading)  # with the name of the finding before them, where there are several
        if not note.endswith(told) and not any(words in note for words in in_other_words)
    ]
    return new[: static.MOST_NOTES]


@dataclass(frozen=True, repr=False)
class Page:
    """The page of an audit as a notebook shows it: in a frame, which can reach neither the notebook nor another page.

    Where frames are taken out, as by sites that show notebooks, the text below stays.
    """

    audit: Audit

    @cached_property
    def html(self) -> str:
        """The page as text: what `audit.save("audit.html")` writes."""
        return dumps(self.audit)

    def _repr_html_(self) -> str:
        from evenhand.report.text import PAGE
        from evenhand.report.text import audit as text

        title, verdict = static.title(self.audit), tables.header(self.audit)
        frame: Template = environment().from_string(_FRAME)
        return frame.render(page=self.html, title=title, verdict=verdict, text=text.plain(self.audit, PAGE))

    def __repr__(self) -> str:
        size = f"{len(self.html.encode()) / 1000:,.0f} KB"
        return f'<Page of an audit: {size}; a notebook shows it, audit.save("audit.html") writes it>'


_FRAME = """<div class="evenhand-audit">
<iframe sandbox="allow-scripts allow-modals" title="Audit: {{ title|shown }}" srcdoc="{{ page }}"
 style="width:100%;height:720px;border:1px solid #8884;border-radius:8px;resize:vertical"></iframe>
<details><summary>{{ verdict|shown }} (as text)</summary><pre>{{ text }}</pre></details>
</div>"""


def embed(data: Any) -> str:
    """JSON that stays text inside a script element.

    >>> embed({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\x7f]", lambda mark: _ESCAPES[mark.group()], text)


def content_policy(script: str, style: str) -> str:
    """Nothing may run, style or be fetched but this script and this style."""
    allowed = f"script-src '{digest(script)}'; style-src '{digest(style)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def digest(text: str) -> str:
    """The hash by which a Content-Security-Policy knows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _data(audit: Audit, results: Sequence[Results], counts: Mapping[str, Any]) -> dict[str, Any]:
    """What the script reads: small things as they are, large ones packed."""
    built = audit.recomputation.page_data(**counts)
    findings, panels = pageresults.findings_data(audit, curves=built["counts"] is None)
    meaning, policy, scores = audit.meaning, audit.policy, audit.cube.scores
    return {
        "verdict": audit.verdict,
        "required": list(audit.required),
        "inconclusive": policy.inconclusive,
        "incomplete": bool(audit.left_out),
        "confidence": policy.confidence,
        "least": policy.min_group_size,
        "score": meaning.score,
        "label": meaning.label,
        "cutoff": meaning.cutoff,
        "decided": meaning.prediction is not None,
        "strata": bool(meaning.control),
        "mirror": None if scores is None else scores.reading.mirror,
        "probability": scores is not None and scores.bins.is_probability,
        "sections": pageresults.SECTIONS,
        "cards": static.MOST_CARDS,
        **_families(audit),
        "counts": built["counts"],
        "packed": pack(
            {
                "tables": {name: table for name, table in built["tables"].items() if name != "metrics"},
                "findings": findings,
                "panels": panels,
                "results": pageresults.results_data(results),
                "forced": [
                    {"attribute": each.attributes[0], "drawn": pageresults.panel_data(each.panel)}
                    for each in audit.impossibilities
                    if each.panel is not None
                ],
            }
        ),
    }


def _families(audit: Audit) -> dict[str, Any]:
    """The family of each metric, and the families in words, in the order of the catalogue."""
    family = {entry.name: entry.family for _, entries in static.about(audit) for entry in entries}
    named = dict.fromkeys([*static.FAMILIES, *family.values()])
    return {"family": family, "families": {name: static.family_title(name) for name in named}}


@cache
def assets() -> tuple[str, str]:
    """The script and the style of a page."""
    view = "\n".join(_asset(name) for name in VIEW)
    return f'"use strict";\n{engine()}\n(() => {{\n{view}\n}})();', _asset("style.css")


def engine() -> str:
    """The part of the script that computes: it declares `evenhandCompute` and touches no document."""
    code = "\n".join(_asset(name) for name in ENGINE)
    return f"const evenhandCompute = (() => {{\n{code}\nreturn evenhandCompute;\n}})();"


def _asset(name: str) -> str:
    return files("evenhand.report.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def environment() -> Any:
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["shown"] = static.shown
    made.filters["tied"] = static.tied
    made.filters["breakable"] = static.breakable
    return made


@cache
def _template() -> Template:
    template: Template = environment().from_string(_asset("page.html"))
    return template


def _trusted(text: str) -> Any:
    """Our own text, which is not to be escaped again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - the package's own files, and JSON that `embed` has escaped
