"""The command line. Exit codes: 0 pass or nothing judged, 1 fail, 2 the call or the data is wrong, 3 inconclusive,
70 an internal error, 130 interrupted, 143 terminated.

A command returns how it ended, as a word, and only the words in `EXIT_CODES` become 0 or 1. So neither a crash, nor a
model that leaves by sys.exit(), looks like a verdict.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from evenhand.cli.arguments import Call, conceal
from evenhand.cli.help import write_example
from evenhand.core.signs import ERRORS
from evenhand.core.version import __version__
from evenhand.errors import DataError, EvenhandError, cut_words, nearest, on_command_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from evenhand.core.results import Verdict

Ending: TypeAlias = "Verdict | Literal['done']"
"""How a command ends: a verdict, or "done" where the command judges nothing."""

EXIT_CODES: dict[Ending, int] = {"pass": 0, "not judged": 0, "done": 0, "fail": 1, "inconclusive": 3}
WRONG, CRASHED, INTERRUPTED = 2, 70, 130

COMPLETION = "_EVENHAND_COMPLETE"
"""The variable by which a shell asks for the words that may follow, as click's completion does."""

_COMMANDS = {
    "audit": "Audit decisions in files.",
    "contest": "Compare models on the same people.",
    "correspondence": "Is the same case decided otherwise when only the group is changed?",
    "counterfactual": "Would a model predict otherwise, had people been of another group?",
    "cube": "Count files once, and keep the counts.",
    "demo": "Audit the COMPAS counts that ship with the package.",
    "diff": "What changed between two audits.",
    "explain": "Is a gap where people are, or what happens there?",
    "guide": "Find the metrics that fit, by a few questions.",
    "impact": "Show the adverse impact of decisions: who is selected less often.",
    "individual": "Are people who are alike treated alike?",
    "metrics": "List the metrics, or explain one.",
    "mitigate": "Weights for rows, or cutoffs by group.",
    "policy": "Write or show what audits are judged by.",
    "proxies": "Which columns say which group a person belongs to?",
    "replicate": "Fit many replicas of a model, and see whether they agree.",
    "report": "Show a saved audit, or save it in another form.",
    "representation": "Show who is in the data, against a benchmark.",
    "schema": "Print the JSON Schema of a saved audit.",
    "search": "Is there a group that nobody looked at?",
    "serve": "Open a saved page in the browser, from this machine only.",
    "stability": "Do replicas of a model disagree more for some groups?",
    "verify": "Check a form against the counts that it is of.",
    "watch": "Has evidence of a gap accumulated over time?",
}
"""What help says of each command, in its order. The command is `command` of the module of its name, in this folder."""


class _Lazy(click.Group):
    """A group that imports a command's file only when that command is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            raise click.UsageError(f"no such command {name!r}; {nearest(name, _COMMANDS)}")
        command: click.Command = importlib.import_module(f"evenhand.cli.{name}").command
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command is for."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, or of an option of the program."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name, help=text) for name, text in _COMMANDS.items() if name.startswith(incomplete)]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example below the commands."""
        write_example(ctx, formatter)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="evenhand")
def program() -> None:
    """Measure whether a model, or a human process, treats groups of people even-handedly.

    Start with: evenhand demo
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit with its exit code."""
    # The threads of OpenBLAS, which numpy and scipy start, look for work for 2 to this power of cycles before they
    # sleep. By default that is as long as an audit takes, and a third of its processor time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    gc.set_threshold(100_000)  # by default garbage is looked for 150 times while libraries load, and none is there
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)  # what the encoding lacks is written in ASCII
    stopped_by = _listen()
    code = CRASHED
    with suppress(BaseException):  # a signal may come while an error is being printed
        code = run(arguments, alone=True)
    # Not sys.exit(), which the code of a model may have replaced. A library may have made a signal another error.
    raise SystemExit(128 + stopped_by[0] if stopped_by else code)


def _listen() -> list[int]:
    """Make signals that end the program an interrupt, so that files are tidied up; the list gets those that arrive."""
    arrived: list[int] = []

    def stop(number: int, _frame: object) -> None:
        arrived.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        # What the caller has ignored, as nohup does, stays ignored.
        if threading.current_thread() is threading.main_thread() and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    return arrived


def run(arguments: list[str] | None = None, *, alone: bool = False) -> int:  # noqa: PLR0911 - one for each way to end
    """Run the program; every way it can end is one of the exit codes. `alone` where the process ends with it."""
    call = Call()
    try:
        # Without words of its own: a variable of the shell must not turn an audit into a 0.
        if arguments is None and len(sys.argv) < 2 and COMPLETION in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(program, {}, "evenhand", COMPLETION, os.environ[COMPLETION])
        call = replace(conceal(sys.argv[1:] if arguments is None else arguments), alone=alone)
        with on_command_line(), program.make_context("evenhand", list(call.shown), obj=call) as context:
            ending: Ending = program.invoke(context)
        code = EXIT_CODES[ending]
        write("")
        return code
    except click.ClickException as error:
        page = io.StringIO()
        error.show(page)
        echo(cut_words(page.getvalue()), err=True, nl=False)
        return WRONG
    except EvenhandError as error:
        _say(f"error: {error}")
        return CRASHED if _stopped(error) else WRONG
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted", before="\n")
        return INTERRUPTED
    except BaseException as error:
        if not call.started and isinstance(error, click.exceptions.Exit):
            return error.exit_code
        if not call.started and isinstance(error, BrokenPipeError):
            hush()
            return EXIT_CODES["done"]
        if isinstance(error, OSError) and not isinstance(error, ConnectionError):
            _say(f"error: {error.strerror or error}{f': {error.filename!r}' if error.filename else ''}")
            return WRONG
        _crash(error)
        return CRASHED


def _stopped(error: BaseException | None) -> bool:
    """Did code that was called, such as a model, end the program? That says nothing about the call or the data."""
    ends = (SystemExit, GeneratorExit, ConnectionError, MemoryError)
    return error is not None and (isinstance(error, ends) or _stopped(error.__cause__))


def _crash(error: BaseException) -> None:
    """Say that there is no verdict, and why."""
    if os.environ.get("EVENHAND_DEBUG"):
        echo("".join(traceback.format_exception(error)), err=True, nl=False)
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # an error of somebody else's may not even be printable
        text = type(error).__name__
    if isinstance(error, MemoryError):
        _say(f"there is not enough memory, so there is no verdict. {text}")
    elif not isinstance(error, Exception) or isinstance(error, (click.exceptions.Exit, ConnectionError)):
        _say(f"{text}\nCode that was called, such as a model, stopped the program, so there is no verdict.")
    else:
        _say(
            f"internal error: {text}\nThis is a bug in evenhand, not a finding about the data. "
            "EVENHAND_DEBUG=1 shows where it happened."
        )


def hush() -> None:
    """Discard all further output, because the reader has closed the pipe, as `| head` does, or the disk is full."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(text: str) -> None:
    """Write to standard output as it is, the one place that does; a reader who has left changes no exit code."""
    try:
        click.echo(text, file=sys.stdout, nl=False)  # the stream is named, else click writes UTF-8 where it is ASCII
    except BrokenPipeError:
        hush()
    except OSError as error:
        hush()
        raise DataError(f"standard output cannot be written: {error.strerror or error}.") from None


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print lines without anything that a terminal would obey; on standard error, where nobody has to listen."""
    from evenhand.core.wording import clean

    text = "\n".join(map(clean, text.split("\n"))) + ("\n" if nl else "")
    if not err:
        write(text)
    elif sys.stderr is not None:  # where it is closed, click would write to standard output
        with suppress(OSError, ValueError):
            click.echo(text, file=sys.stderr, nl=False)


def _say(message: str, before: str = "") -> None:
    echo(f"{before}evenhand: {cut_words(message)}", err=True)
