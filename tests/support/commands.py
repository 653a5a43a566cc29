"""Every command of the program by its full name."""

from __future__ import annotations

from collections.abc import Iterator

import click

from evenhand.cli import program


def _below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for part in command.list_commands(context):
            yield from _below(f"{name} {part}", command.get_command(context, part))


COMMANDS = dict(_below("evenhand", program))
