"""evenhand proxies: which columns say which group a person belongs to, and which features carry a gap of scores?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.audits.audit import Audit
from evenhand.audits.proxy_columns import count_people, proxies
from evenhand.cli import Ending
from evenhand.cli.command import Command
from evenhand.cli.numbers import SEED
from evenhand.cli.options import confidence_option, json_option, policy_option, quiet_option, role_option
from evenhand.cli.output import made_here, output_option, show, show_panel, verbose_option
from evenhand.cli.values import paths, two_groups
from evenhand.sources.rows import load_files
from evenhand.verdicts.policy_file import resolve


@click.command("proxies", cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--features",
    multiple=True,
    metavar="COLUMN[,COLUMN...]",
    help="Measure these columns (default: all that have no other role); may be repeated.",
)
@role_option("sensitive", required=True, help="Ask what columns say about this one; may be repeated.")
@click.option("--categorical", multiple=True, help="Take the numbers in this column as codes; may be repeated.")
@click.option(
    "--contributions",
    metavar="FILE",
    help="Share out the gap between scores: a file of what each feature adds, such as SHAP values, in the same order.",
)
@click.option("--score", help="Take the score, to which contributions should add up, from this column.")
@click.option(
    "--between",
    multiple=True,
    metavar="GROUP",
    help="Share out the gap between these two groups: give it twice, or both as a,b.",
)
@role_option("na")
@role_option("hive")
@policy_option
@confidence_option()
@click.option("--random-state", type=SEED, help="Start the permutations from this seed (default 0).")
@output_option
@json_option
@quiet_option
@verbose_option
def command(files: tuple[str, ...], output: tuple[Path, ...], as_json: bool, quiet: bool, **options: Any) -> Ending:
    """Rank the columns of FILES by what they say about an attribute. FILES hold a row for each person.

    With --contributions the gap between the mean scores of two groups is shared out among the features.

    Exit codes: 0 done, 2 the call or the data is wrong.
    """
    policy = resolve(options["policy"])
    features = [name for text in options["features"] for name in text.split(",") if name] or None
    single = [] if options["score"] is None else [options["score"]]
    wanted = None if features is None else [*features, *options["sensitive"], *single]
    with paths(files) as named:
        table = load_files(named, wanted, hive=options["hive"])
    shares = None
    if options["contributions"] is not None:
        with paths((options["contributions"],)) as named:
            shares = load_files(named)
    finding = proxies(
        table,
        features=features,
        sensitive=list(options["sensitive"]),
        categorical=options["categorical"],
        contributions=shares,
        between=two_groups(options["between"]),
        policy=policy,
        **{name: options[name] for name in ("score", "na", "confidence", "random_state")},
    )
    audit = Audit(count_people(table, list(options["sensitive"])), policy, (finding,), (), ())
    show(made_here(audit, files), as_json=as_json, output=output, quiet=quiet, verbose=options["verbose"])
    if not (as_json or quiet):
        for panel in finding.panels:
            show_panel(panel)
    return "done"
