"""The command line. Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive,
70 an internal error, 130 interrupted. A crash never looks like a fail."""

from __future__ import annotations

import importlib
import io
import os
import sys
from contextlib import suppress
from typing import Any

import click

from evenhand.cli.arguments import conceal
from evenhand.core.results import Verdict
from evenhand.core.signs import ERRORS
from evenhand.core.version import __version__
from evenhand.core.wording import clean
from evenhand.errors import EvenhandError, nearest, on_command_line

EXIT_CODES: dict[Verdict, int] = {"pass": 0, "not judged": 0, "fail": 1, "inconclusive": 3}
WRONG, CRASHED, INTERRUPTED = 2, 70, 130

_COMMANDS = {
    "audit": "evenhand.cli.audit",
    "counterfactual": "evenhand.cli.counterfactual",
    "cube": "evenhand.cli.cube",
    "demo": "evenhand.cli.demo",
    "diff": "evenhand.cli.diff",
    "guide": "evenhand.cli.guide",
    "individual": "evenhand.cli.individual",
    "metrics": "evenhand.cli.metrics",
    "mitigate": "evenhand.cli.mitigate",
    "policy": "evenhand.cli.policy",
    "replicate": "evenhand.cli.replicate",
    "report": "evenhand.cli.report",
    "schema": "evenhand.cli.schema",
    "serve": "evenhand.cli.serve",
    "stability": "evenhand.cli.stability",
    "watch": "evenhand.cli.watch",
}


class _Lazy(click.Group):
    """A group that imports a command's file only when that command is called (or help lists it)."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            raise click.UsageError(f"no such command {name!r}; {nearest(name, _COMMANDS)}")
        command: click.Command = importlib.import_module(_COMMANDS[name]).command
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="evenhand")
def program() -> None:
    """Measure whether a model, or a human process, treats groups of people even-handedly.

    Start with: evenhand demo
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)  # what the encoding lacks is written in ASCII
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:  # noqa: PLR0911 - one for each way to end
    """Run the program; every way it can end is one of the exit codes."""
    code = 0
    try:
        given = conceal(sys.argv[1:] if arguments is None else arguments)
        with on_command_line():
            outcome: Any = program.main(given.shown, prog_name="evenhand", standalone_mode=False, obj=given)
        code = outcome if isinstance(outcome, int) else 0
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return WRONG
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click leaves with 1 when the reader went away: that would be a fail
        hush()
        return code
    except EvenhandError as error:
        _say(f"error: {error}")
        return WRONG
    except OSError as error:
        _say(f"error: {error.strerror or error}{f': {error.filename!r}' if error.filename else ''}")
        hush()
        return WRONG
    except Exception as error:
        if os.environ.get("EVENHAND_DEBUG"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}\nThis is a bug in evenhand, not a finding about the "
            "data. EVENHAND_DEBUG=1 shows where it happened."
        )
        return CRASHED


def hush() -> None:
    """Discard all further output, because the reader has closed the pipe, as `| head` does, or the disk is full."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print to standard output, or error. The stream is named because click would write UTF-8 where it is ASCII."""
    click.echo(text, file=sys.stderr if err else sys.stdout, nl=nl)


def _say(message: str) -> None:
    echo("\n".join(clean(line) for line in f"evenhand: {message}".splitlines()), err=True)
