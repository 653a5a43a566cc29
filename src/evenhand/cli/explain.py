"""evenhand explain: how much of a gap is where people are, and how much is what happens to people in the same place?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.audits.composition import explain_cube, measured
from evenhand.audits.strata_columns import nothing_fixed, risk_edges
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.options import (
    are_cubes,
    confidence_option,
    counted,
    database_options,
    database_source,
    json_option,
    policy_option,
    quiet_option,
    role_options,
    skip_bad_option,
)
from evenhand.cli.output import (
    counts_options,
    heading,
    heading_options,
    made_here,
    output_option,
    show,
    show_panel,
    verbose_option,
)
from evenhand.cli.settings import settle
from evenhand.cli.values import two_groups
from evenhand.errors import CallError
from evenhand.verdicts.policy_file import resolve
from evenhand.verdicts.request import make_request


@click.command("explain", cls=Command)
@click.argument("files", nargs=-1)
@database_options
@role_options
@skip_bad_option
@click.option(
    "--metric",
    default="demographic_parity",
    show_default=True,
    help="Take the gap in this metric, which compares one rate or mean, such as equal_opportunity.",
)
@click.option(
    "--between",
    multiple=True,
    metavar="GROUP",
    help="Compare these two groups: give it twice, or both as Male,Female (default: the two that there are).",
)
@click.option("--risk", help="Compare people of the same risk: make strata of the bins of this column too.")
@policy_option
@confidence_option()
@heading_options
@output_option
@counts_options
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Split the gap between two groups in FILES: where people are (--control), and what happens to people there.

    The parts sum to the gap; several columns share the first by Shapley's value. FILES may be cubes with controls.

    Exit codes: 0 explained, 2 the call or the data is wrong.
    """
    settings = settle(files, options, quiet=quiet)
    explained = make_request(options["metric"], policy=resolve(options["policy"]), confidence=options["confidence"])
    measured(explained.metric)
    risk = options["risk"]
    if risk is not None:
        _add_risk(files, options, risk)
    if not options["control"] and not are_cubes(files):
        raise CallError(nothing_fixed())
    with counted(files, options) as (cube, _):
        finding = explain_cube(cube, explained, between=two_groups(options["between"]), risk=risk)
    audit = Audit(cube, explained.policy, (finding,), (), ())
    show(
        made_here(audit, files or database_source(options), settings=settings, cover=heading(options)),
        as_json=as_json,
        output=output,
        quiet=quiet,
        **{name: options[name] for name in ("no_cube", "share", "smallest_cell", "verbose")},
    )
    if not (as_json or quiet):
        for panel in finding.panels:
            show_panel(panel)
    return "done"


def _add_risk(files: tuple[str, ...], options: dict[str, Any], risk: str) -> None:
    """Make the column of risks one more control, cut into bins unless --bands cuts it."""
    if are_cubes(files):
        raise CallError("a cube has no column of risks beside its controls: count it with the risk as --control.")
    options["control"] = (*options["control"], risk)
    if not any(text.startswith(f"{risk}=") for text in options["bands"]):
        edges = ",".join(f"{edge:.12g}" for edge in risk_edges(options["bins"]))
        options["bands"] = (*options["bands"], f"{risk}={edges}")
