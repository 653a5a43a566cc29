"""evenhand search: is there a group that nobody looked at?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import DRAWS, NUMBER, PEOPLE, SEED
from evenhand.cli.options import (
    are_cubes,
    confidence_option,
    counted,
    database_options,
    database_source,
    json_option,
    policy_option,
    quiet_option,
    shared_role_options,
    skip_bad_option,
)
from evenhand.cli.output import made_here, output_option, put, show, verbose_option
from evenhand.cube.attribute_sets import MOST_GROUPS
from evenhand.cube.cube import Cube
from evenhand.report.text import plain_text
from evenhand.subgroups.search import NOT_TAKEN, in_words_of_a_search, not_taken, search
from evenhand.verdicts.policy_file import resolve

_ASKED = ("metric", "depth", "least", "threshold", "against", "split", "confidence", "draws", "random_state")


class _Search(Command):
    """Options of an audit that a search does not have are answered with what to type."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            if name not in NOT_TAKEN:
                raise
            raise click.UsageError(f"no option {error.option_name}: {not_taken(name)}", context) from None


@click.command("search", cls=_Search)
@click.argument("files", nargs=-1)
@click.option("--within", multiple=True, metavar="COLUMN", help="Search the values of this column; may be repeated.")
@click.option(
    "--metric", help="Compare this metric or measure, such as false_positive_rate (default: what decides an audit)."
)
@click.option("--depth", type=PEOPLE, default=3, show_default=True, help="Combine at most this many columns.")
@click.option("--least", type=PEOPLE, default=100, show_default=True, help="Search groups of at least so many people.")
@click.option("--threshold", type=NUMBER, help="Tolerate a gap of this size (default: that of the metric).")
@click.option(
    "--against",
    type=click.Choice(["rest", "overall"]),
    help="Compare a group with everyone else (rest, default) or with everyone (overall).",
)
@click.option("--split", is_flag=True, help="Search one half of the people, and confirm in the other half.")
@database_options
@shared_role_options(*NOT_TAKEN)
@skip_bad_option
@policy_option
@confidence_option()
@click.option("--draws", type=DRAWS, help="Make this many draws for the deviate that all groups share (default 1000).")
@click.option("--random-state", type=SEED, help="Start the draws and the split from this seed (default 0).")
@output_option
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Is there a group that nobody looked at? Every group that the values of a few columns make, in FILES or cubes.

    The intervals hold for all groups together, however many there are. A group is flagged where its gap surely lies
    beyond the threshold.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    if not options["within"] and not are_cubes(files):
        raise click.UsageError("Missing option '--within': name the columns to search.")
    policy = resolve(options["policy"])
    named = {**options, "sensitive": () if are_cubes(files) else options["within"], "clusters": None}
    with in_words_of_a_search(), counted(files, named) as (cube, _):
        within = list(options["within"]) or None
        finding = search(
            cube,
            within=within if are_cubes(files) else None,
            policy=policy,
            **{name: options[name] for name in _ASKED},
        )
    audit = made_here(
        Audit(_carried(cube), policy, (finding,), (), (finding.metric,)), files or database_source(options)
    )
    own = not (as_json or quiet or options["verbose"])
    verdict = show(audit, as_json=as_json, output=output, quiet=quiet or own, verbose=options["verbose"])
    if not (as_json or quiet):
        from evenhand.report.text import search as report

        write = partial(report.write if own else report.write_groups, audit, finding)
        put(lambda: plain_text(write) + "\n", write)
    return verdict


def _carried(cube: Cube) -> Cube:
    """The counts that a saved page carries: those of as many columns as make few groups together."""
    names = cube.meaning.sensitive
    for count in range(len(names), 1, -1):
        part = cube.marginal(names[:count], control=False)
        if len(part.pairs) <= MOST_GROUPS:
            return part
    return cube.marginal(names[:1], control=False)
