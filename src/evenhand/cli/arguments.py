"""The arguments of a command: as they were typed, and as they may be shown. A password is in the former only."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import click

from evenhand.errors import CallError, shorten, shown, without_secrets

_ADDRESSES = ("--database", "--query")


@dataclass
class Call:
    """The arguments without secrets, which is what commands, errors and reports see."""

    shown: list[str] = field(default_factory=list)
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What was typed where something else is shown."""
    started: bool = False
    """Whether the command has started: before that only help and the version are written."""
    alone: bool = False
    """Whether the process ends with the command."""


def conceal(typed: Sequence[str]) -> Call:
    """The arguments with every address of a database cut to what may be shown.

    Only --database and --query may hold one with a password; anywhere else it is an error, because a value that was cut
    is not the value that was meant.
    """
    cut: list[str] = []
    kept: dict[str, str] = {}
    for before, argument in itertools.pairwise(["", *typed]):
        head = next((f"{option}=" for option in _ADDRESSES if argument.startswith(f"{option}=")), "")
        option, value = (before, argument) if before in _ADDRESSES else (head[:-1], argument.removeprefix(head))
        text = shown(value) if option == "--database" and "://" in value else without_secrets(value)
        if not option and text != value:
            raise CallError(
                f"{shorten(text)!r} is the address of a database, here without its password: only --database takes "
                "one. Files are named by paths."
            )
        if option:
            kept[text] = value
        cut.append(argument.removesuffix(value) + text)
    return Call(cut, kept)


def typed(value: str | None) -> str | None:
    """What was typed where a command was given `value`."""
    return value if value is None else click.get_current_context().ensure_object(Call).typed.get(value, value)
