"""evenhand guide: questions that lead to the metrics which fit."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import click

from evenhand.audits import guide
from evenhand.audits.guide import Question, Recommendation, recommend
from evenhand.cli import Ending, echo
from evenhand.cli.command import Command
from evenhand.cli.options import json_option
from evenhand.errors import CallError


@click.command("guide", cls=Command)
@click.option("--label-known/--no-label-known", default=None, help="Say whether it is known how the cases turned out.")
@click.option("--ground-truth/--no-ground-truth", default=None, hidden=True, help="Say the same as --label-known.")
@click.option("--priority", help="Say what matters most: opportunity, both_errors, prediction, probability, ...")
@click.option("--legal", help="Say the legal context: none, us_employment, nyc_ll144 or eu.")
@click.option("--tree", is_flag=True, help="Draw all questions and answers.")
@json_option
def command(
    label_known: bool | None,
    ground_truth: bool | None,
    priority: str | None,
    legal: str | None,
    tree: bool,
    as_json: bool,
) -> Ending:
    """Find the metrics that fit, with the reasons, their limits and what they exclude.

    On a terminal the guide asks for what no option says; in a script --label-known (or --no-label-known) and --priority
    are needed.
    """
    if tree:
        echo(guide.tree())
        return "done"
    if label_known is not None and ground_truth is not None:
        raise CallError("--label-known and --ground-truth are one option: give --label-known.")
    known = ground_truth if label_known is None else label_known
    options: dict[str, Any] = {"label_known": known, "priority": priority, "legal": legal}
    if _can_ask():
        options = _answers(options)
    elif known is None or priority is None:
        raise CallError(
            "the guide asks on a terminal. In a script give --label-known or --no-label-known, and --priority; "
            "evenhand guide --tree shows the answers."
        )
    advice = recommend(**{name: value for name, value in options.items() if value is not None})
    echo(json.dumps(advice.to_dict(), indent=1) if as_json else _shown(advice))
    return "done"


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _answers(options: dict[str, Any]) -> dict[str, Any]:
    known = {True: "yes", False: "no"}
    options = {name: known[value] if isinstance(value, bool) else value for name, value in options.items()}
    walked = {question.argument: answer.value for question, answer in guide.walk(options, _ask)}
    return {**walked, "label_known": walked["label_known"] == "yes"}


def _ask(question: Question) -> str:
    """One question on the terminal; on stderr, so that what is printed can still be piped."""
    values = [answer.value for answer in question.answers]
    echo(f"\n{question.text}", err=True)
    for answer in question.answers:
        echo(f"  {answer.value:<13}  {answer.text}", err=True)
    chosen: str = click.prompt("answer", type=click.Choice(values), show_choices=False, err=True)
    return chosen


def _shown(advice: Recommendation) -> str:
    """The advice, wrapped, and the line that starts an audit by it."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    answers = dict(advice.answers)
    lines = [
        click.wrap_text(line, width, subsequent_indent="    " if line.startswith("  ") else "")
        for line in str(advice).splitlines()
    ]
    roles = "--label COLUMN " if answers["label_known"] == "yes" else ""
    legal = "" if answers["legal"] == "none" else f" --legal {answers['legal']}"
    start = f"evenhand audit FILE {roles}--prediction COLUMN --sensitive COLUMN --guide {answers['priority']}{legal}"
    return "\n".join([*lines, "", f"To audit by this: {start}"])
