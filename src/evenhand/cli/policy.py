"""evenhand policy: write a policy to start from, or show one in full."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli import Ending, echo
from evenhand.cli.command import CommandGroup
from evenhand.cli.targets import POLICY
from evenhand.errors import short_path
from evenhand.verdicts.policy import SHIPPED
from evenhand.verdicts.policy_file import resolve


@click.group("policy", cls=CommandGroup)
def command() -> None:
    """What an audit is judged by, as a TOML file: evenhand audit ... --policy fairness.toml

    Policies of the package: four-fifths, nyc-ll144, fair-lending, co-insurance, eu-ai-act, uk-equality, health.
    """


@command.command("init", short_help="Write a commented policy file.")
@click.argument("path", type=POLICY, default=Path("fairness.toml"))
@click.option("--from", "start", metavar="POLICY", help=f"Start from {', '.join(SHIPPED)}, or a file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def init(path: Path, start: str | None) -> Ending:
    """Write a commented policy to PATH (default fairness.toml); unchanged, it judges as without a policy."""
    resolve(start).save(path)
    echo(f"wrote {short_path(path)}", err=True)
    return "done"


@command.command("show", short_help="Show a policy in full; fails if it is wrong.")
@click.argument("policy")
def show(policy: str) -> Ending:
    """Print POLICY, a name or a file, with everything that it leaves to the defaults.

    A policy of the package begins with the rule that it follows: its sources, the day on which they were read, what
    could not be checked, and what it does not cover.
    """
    echo(resolve(policy).text(), nl=False)
    return "done"
