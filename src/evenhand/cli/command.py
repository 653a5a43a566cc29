"""What holds for every command: each option once, no empty names, no output over an input, errors in words of the
command line."""

from __future__ import annotations

import gc
import re
import sys
from collections import Counter
from typing import Any

import click

from evenhand.cli.arguments import Call
from evenhand.cli.help import write_example, write_options
from evenhand.cli.targets import INPUTS, check
from evenhand.core.files import keeping
from evenhand.errors import EvenhandError

_MAY_BE_EMPTY = ("na", "positive", "positive_label", "positive_prediction", "reference")
"""Options that name a value of the data, which may be an empty text."""

_OTHER_NAMES = {
    "n_jobs": "jobs", "least": "smallest_cell", "required": "require", "priority": "guide", "policy": "start",
    "threshold": "within",
}  # fmt: skip
"""Arguments in Python whose option has another name, by the name of the option's parameter."""

_QUOTED = r"""(?<!\w)'(?:[^'\\\n]|\\.)*'|(?<!\w)"(?:[^"\\\n]|\\.)*\""""
_ENDS = ("", " ", "\n", ".", ",", ";", ":", ")")


class Command(click.Command):
    """A command of the program. Its function returns how it ended: a verdict, or "done"."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an option that takes one value is given once, and no name is empty."""
        if any("\0" in text for text in args):
            raise click.UsageError("an argument holds a NUL character.", context)
        typed, _, order = self.make_parser(context).parse_args(args=list(args))
        for parameter, times in Counter(order).items():
            values = typed.get(parameter.name or "")
            values = values if isinstance(values, (list, tuple)) else [values]
            if times > 1 and _takes_one(parameter):
                raise click.UsageError(f"{_shown(parameter)} is given {times} times: give it once.", context)
            if parameter.name not in _MAY_BE_EMPTY and "" in values:
                raise click.UsageError(f"{_shown(parameter)} is empty: leave it out, or give it a value.", context)
            named = parameter.name in INPUTS or isinstance(parameter.type, click.Path)
            if not named and any(_odd(text) for text in values):
                raise click.UsageError(f"{_shown(parameter)} holds bytes that are not UTF-8.", context)
        return super().parse_args(context, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example below the options."""
        write_example(ctx, formatter)

    def invoke(self, context: click.Context) -> Any:
        """Run the command, with its outputs checked and its inputs kept."""
        call = context.ensure_object(Call)
        call.started = True
        # What is loaded stays to the end, and taking it apart there takes a while. DuckDB would complain of it.
        if call.alone and "duckdb" not in sys.modules:
            gc.freeze()
        try:
            with keeping(check(context, context.params.pop("force", False))):
                return super().invoke(context)
        except EvenhandError as error:
            raise EvenhandError(self.in_options(str(error))) from error

    def in_options(self, text: str) -> str:
        """An error of the library in words of the command line: --random-state in place of random_state=."""
        options = [parameter for parameter in self.params if isinstance(parameter, click.Option)]
        names = {parameter.name or "": _shown(parameter) for parameter in options}
        names = {python: names[option] for python, option in _OTHER_NAMES.items() if option in names} | names
        flags = {parameter.name: parameter for parameter in options if parameter.is_flag}

        def typed(match: re.Match[str]) -> str:
            name, value = match[1], match[2]
            if name is None:
                return match[0]
            if name in flags and value in ("True", "False"):
                return [*flags[name].opts, *flags[name].secondary_opts][-1 if value == "False" else 0]
            follows = match.string[match.end() : match.end() + 1]
            return names[name] + ("" if follows in _ENDS else " ") + value

        known = "|".join(map(re.escape, names))
        return re.sub(rf"{_QUOTED}|(?<![\w`-])({known})=(True\b|False\b|)", typed, text) if known else text


class CommandGroup(click.Group):
    """A group of commands, which shows an example as its commands do."""

    command_class = Command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example below the commands."""
        write_example(ctx, formatter)


def _odd(text: object) -> bool:
    """Is it text with bytes that were not UTF-8? A file may have such a name; a column or a value cannot."""
    return isinstance(text, str) and any("\ud800" <= mark <= "\udfff" for mark in text)


def _takes_one(parameter: click.Parameter) -> bool:
    if not isinstance(parameter, click.Option) or parameter.multiple:
        return False
    return not parameter.is_flag or bool(parameter.secondary_opts)


def _shown(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
