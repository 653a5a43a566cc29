"""evenhand report: a saved audit in another form, or as a form to hand in; without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.cli import Ending, echo
from evenhand.cli.command import Command
from evenhand.cli.options import json_option
from evenhand.cli.output import counts_options, force_option, show, verbose_option
from evenhand.cli.targets import REPORT
from evenhand.cube.privacy import LEAST
from evenhand.errors import CallError
from evenhand.report.forms import FORMS, REPORTED


@click.command("report", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=REPORT,
    help="Save the audit: .html, .json, .md (Markdown), .pdf or .xml (JUnit); a form: .html, .md or .csv. May be "
    "repeated.",
)
@force_option
@click.option("--form", type=click.Choice(list(FORMS)), help="Write the document that a rule asks for.")
@counts_options
@json_option
@verbose_option
def command(file: Path, output: tuple[Path, ...], as_json: bool, form: str | None, **counts: Any) -> Ending:
    """Show the audit in FILE (JSON), or save it in other forms with -o. The data is not needed.

    With --form, write a document to hand in: ll144 (the tables of New York City's Local Law 144), annex-iv (accuracy,
    robustness and data governance for a technical file under the AI Act), model-card (with metadata for Hugging Face)
    or nist (a crosswalk to the AI Risk Management Framework). evenhand verify checks it.

    The findings stay as they were judged. Exits 0 whatever the verdict: the judging was done by evenhand audit.
    """
    audit = Audit.load(file)
    if form is None:
        show(audit, as_json=as_json, output=output, quiet=bool(output), silent=False, **counts)
        return "done"
    if as_json or not output:
        raise CallError(f"--form {form} writes a file: name it with -o, as .html, .md or .csv, without --json.")
    if counts["smallest_cell"] != LEAST and not counts["share"]:
        raise CallError("--smallest-cell is for a file to share: add --share.")
    for path in output:
        audit.save(path, form=form, share=counts["share"], smallest_cell=counts["smallest_cell"])
    if unstated := [name for name in REPORTED if not getattr(audit.cover, name)]:
        echo(
            f"The form says “not stated” of {', '.join(unstated)}. The table [report] of the policy says it: evenhand "
            "policy init audit.toml.",
            err=True,
        )
    if not counts["share"]:
        echo("The form has figures of small groups too. To leave out what tells of few people, add --share.", err=True)
    return "done"
