"""Every command of the program by its full name."""

from __future__ import annotations

from collections.abc import Iterator

import click

from evenhand.cli import program


def context(command: click.Command) -> click.Context:
    """A context of its own. Click keeps the help option of the first context that asks, so it must be the program's."""
    return click.Context(command, **program.context_settings)


def _below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for part in command.list_commands(context(command)):
            yield from _below(f"{name} {part}", command.get_command(context(command), part))


COMMANDS = dict(_below("evenhand", program))
