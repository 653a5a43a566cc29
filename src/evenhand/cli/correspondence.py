"""evenhand correspondence: is the same case decided otherwise when only the group in it is changed?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import NUMBER, PEOPLE, SEED
from evenhand.cli.options import (
    confidence_option,
    json_option,
    min_group_size_option,
    policy_option,
    quiet_option,
    role_option,
)
from evenhand.cli.output import made_here, output_option, show, show_panel, verbose_option
from evenhand.cli.values import bands, paths
from evenhand.counterfactual.correspondence import correspondence
from evenhand.counterfactual.units import column_names, read_units
from evenhand.sources.rows import load_files
from evenhand.verdicts.policy_file import resolve

_JUDGED = ("worst", "threshold", "min_group_size", "confidence", "random_state")


@click.command("correspondence", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option("--unit", required=True, help="Take which rows are the same case, such as a prompt, from this column.")
@role_option("sensitive", required=True, help="Take what was changed in the case from this column; may be repeated.")
@role_option("prediction", help="Take what was decided from this column.")
@role_option("score", help="Take a number, in place of a decision, from this column.")
@click.option("--run", help="Tell repetitions of the same unit and group apart by this column.")
@role_option(
    "positive", help="Say which value of the prediction counts as positive (default 1); may be repeated for several."
)
@role_option("bands")
@role_option("na")
@role_option("hive")
@click.option(
    "--worst",
    type=PEOPLE,
    default=10,
    show_default=True,
    help="Show this many of the units that flip most; 0 shows none.",
)
@click.option("--threshold", type=NUMBER, help="Tolerate a gap of this size between two groups (default 0.01).")
@policy_option
@min_group_size_option
@confidence_option()
@click.option(
    "--random-state", type=SEED, help="Start the permutations, where few units differ, from this seed (default 0)."
)
@output_option
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Is the same case decided otherwise when only the group in it is changed? FILES hold a row for each answer.

    A unit is the same case, such as a prompt or a vacancy; answers are compared within units. With --run, what differs
    between two runs of the same unit and group is noise, and is set beside what differs between groups. No model is
    called.

    Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive.
    """
    policy = resolve(options["policy"])
    roles = {name: options[name] for name in ("unit", "prediction", "score", "run")} | {
        "sensitive": list(options["sensitive"]),
        "positive": list(options["positive"]) or 1,
        "bands": bands(options["bands"]) or None,
        "na": options["na"],
    }
    with paths(files) as named:
        table = load_files(
            named,
            column_names(*(roles[name] for name in ("unit", "sensitive", "prediction", "score", "run"))),
            hive=options["hive"],
        )
    finding = correspondence(table, **roles, **{name: options[name] for name in _JUDGED}, policy=policy)
    audit = Audit(read_units(table, **roles).count(), policy, (finding,), (), (finding.metric,))
    verdict = show(made_here(audit, files), as_json=as_json, output=output, quiet=quiet, verbose=options["verbose"])
    if not (as_json or quiet):
        for panel in finding.panels:
            show_panel(panel)
    return verdict
