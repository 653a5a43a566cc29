"""What --help shows: the options of a command in groups, and an example of every command that can be copied."""

from __future__ import annotations

import click

_GROUPS = {
    "Data": "files file before after database table query features feature prediction score label sensitive control "
    "count weight exposure cluster design_strata clusters positive positive_label positive_prediction cutoff "
    "score_range higher_is bands missing na hive task labels where by every skip_bad unit run id categorical "
    "missing_features benchmark replicas_columns kind graph model trust prediction_function method class_ "
    "positive_class",
    "What is measured": "metrics metric between risk contributions reference intersections bins strategy guide legal "
    "label_known ground_truth priority convention k judged_on radius include_self lipschitz epsilon scale distance "
    "neighbours worst n_replicas fraction test_share estimator parameter objective gain randomised constraint within "
    "depth least against split floors mechanism hide",
    "Judging": "policy require threshold min_group_size confidence interval draws random_state correction familywise "
    "on inconclusive missing_labels",
    "Output": "title note output force no_cube appendix share smallest_cell as_json quiet verbose tree port no_browser",
}
_GROUP_OF = {name: group for group, names in _GROUPS.items() for name in names.split()}

PHRASES = {
    "label": "Take what happened from this column.",
    "prediction": "Take what was decided from this column.",
    "score": "Take the score behind the prediction from this column.",
    "sensitive": "Make groups of the values of this column; several are a list, as race,sex, or the option repeated.",
    "control": "Compare people only within each value of this column (the strata); several as for --sensitive.",
    "count": "Take how many people a row stands for from this column.",
    "weight": "Take the sampling or importance weight of a row from this column.",
    "exposure": "Take the exposure, such as years insured, from this column: the label counts events, and the "
    "prediction is those expected for each unit.",
    "cluster": "Take which rows belong together, such as those of one person, from this column.",
    "design_strata": "Take the strata of a survey, within which clusters were drawn, from this column.",
    "cutoff": "Predict positive at or above this score.",
    "bins": "Make this many calibration bins.",
    "na": "Treat this text as missing too, such as NA; may be repeated.",
    "bands": "Cut a column of numbers into groups at these edges; none keeps each number as a group.",
    "score_range": "Say the range of the score, which saves one pass over the data.",
    "higher_is": "Say which class a higher score speaks for.",
    "missing": "Make rows without a group one, leave them out, or take them as an error.",
    "task": "Say what is predicted: yes or no, one of several classes, or a number. Default: inferred from the data.",
    "labels": 'Call coded values by the names in a TOML file: [sex], then 1 = "male".',
    "strategy": "Make calibration bins of equal width, or with equally many people in each.",
    "clusters": "Say that no cluster has rows in two of the cubes or chunks that are added.",
    "positive": "Say which value counts as positive (default 1); may be repeated for several.",
}
"""What the options of a reader do, for a person who types them; those that are not here say what the argument is."""

EXAMPLES = {
    "evenhand": "evenhand audit decisions.csv --label repaid --prediction approved --sensitive race,sex",
    "evenhand audit": "evenhand audit decisions.csv --label repaid --prediction approved --sensitive race -o a.html",
    "evenhand contest": "evenhand contest cases.csv --label repaid --prediction old --prediction new --sensitive race",
    "evenhand correspondence": "evenhand correspondence answers.csv --unit case --sensitive race --prediction invited",
    "evenhand counterfactual": "evenhand counterfactual people.csv --graph causes.dot --sensitive race "
    "--prediction-function mine:predict",
    "evenhand cube": "evenhand cube 2026-05.csv --prediction approved --sensitive race -o 2026-05.cube",
    "evenhand demo": "evenhand demo -o demo.html",
    "evenhand diff": "evenhand diff old.json new.json -o diff.md",
    "evenhand explain": "evenhand explain x.csv --prediction admitted --sensitive sex --control department",
    "evenhand guide": "evenhand guide --label-known --priority opportunity",
    "evenhand impact": "evenhand impact applicants.csv --prediction hired --sensitive race,sex",
    "evenhand individual": "evenhand individual people.csv --prediction approved --sensitive race --k 5",
    "evenhand metrics": "evenhand metrics equalized_odds",
    "evenhand mitigate": "evenhand mitigate x.csv --method thresholds --label repaid --score risk --sensitive race",
    "evenhand policy": "evenhand policy init evenhand.toml",
    "evenhand policy init": "evenhand policy init evenhand.toml --from four-fifths",
    "evenhand policy show": "evenhand policy show four-fifths",
    "evenhand proxies": "evenhand proxies people.csv --sensitive race --features income,postcode,age",
    "evenhand replicate": "evenhand replicate people.csv --label repaid --sensitive race --n-replicas 50",
    "evenhand report": "evenhand report audit.json -o audit.html",
    "evenhand representation": "evenhand representation people.csv --sensitive race --benchmark race=census.csv",
    "evenhand schema": "evenhand schema > audit.schema.json",
    "evenhand search": "evenhand search people.csv --within race,sex,age --prediction approved",
    "evenhand serve": "evenhand serve audit.html",
    "evenhand stability": "evenhand stability replicas.csv --replicas-columns 'p_*' --label repaid --sensitive race",
    "evenhand verify": "evenhand verify bias-audit.html --cube applicants.cube",
    "evenhand watch": "evenhand watch decisions.csv --by date --every month --prediction approved --sensitive race",
}
"""One call of each command, by its path."""


def write_options(command: click.Command, context: click.Context, page: click.HelpFormatter) -> None:
    """Write the options in groups."""
    for group, records in grouped(command, context).items():
        with page.section(group):
            page.write_dl(records)


def grouped(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The options of a command and what they do, by group; those of no group come last, with --help."""
    lines: dict[str, list[tuple[str, str]]] = {group: [] for group in (*_GROUPS, "Other")}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            lines[_GROUP_OF.get(parameter.name or "", "Other")].append(record)
    found = {group: records for group, records in lines.items() if records}
    return {"Options": found["Other"]} if list(found) == ["Other"] else found


def write_example(context: click.Context, page: click.HelpFormatter) -> None:
    """Write the example of the command, as one line that can be copied."""
    example = EXAMPLES.get(context.command_path)
    if example is not None:
        with page.section("Example"):
            page.write(f"{' ' * page.current_indent}{example}\n")
