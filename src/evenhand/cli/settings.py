"""The settings file of a command: a policy with a table [data], so that a pipeline types only the names of its data.

It is the file that --policy names, else evenhand.toml beside the data, else evenhand.toml in the working directory. A
command that uses one it was not told of says so, on standard error and in what it saves.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from evenhand.cli import echo
from evenhand.cube.merge import CUBE_SUFFIX
from evenhand.errors import short_path
from evenhand.verdicts.data_table import TABLE, data_table
from evenhand.verdicts.policy import SHIPPED

NAME = "evenhand.toml"


def settle(files: tuple[str, ...], options: dict[str, Any], *, quiet: bool) -> str | None:
    """Fill in what the options leave to a settings file: the policy, and the table of `options.arguments`.

    Returns the name of a file that was found and not named.
    """
    named = options.get("policy")
    counted = any(Path(name).suffix == CUBE_SUFFIX for name in files)
    found = _beside(files)
    own = {} if named is None or counted else data_table(named)
    if own or found is None or (named is not None and named not in SHIPPED and counted):
        options[TABLE] = own
        return None
    options[TABLE] = {} if counted else data_table(found)
    judges = "policy" in options and named is None and options.get("guide") is None
    if judges:
        options["policy"] = str(found)
    if not judges and not options[TABLE]:
        return None
    if not quiet:
        parts = [*(["what decides"] if judges else []), *([f"[{TABLE}]"] if options[TABLE] else [])]
        echo(f"From {short_path(found)}: {' and '.join(parts)}.", err=True)
    return str(found)


def _beside(files: tuple[str, ...]) -> Path | None:
    """The settings file beside the first of the data, or in the working directory."""
    named = [os.path.expanduser(name) for name in files[:1] if name != "-" and "://" not in name]
    folders = [Path(name).parent for name in named]
    for folder in dict.fromkeys([*folders, Path()]):
        try:
            if (folder / NAME).is_file():
                return folder / NAME
        except (OSError, ValueError):  # a name that no file can have
            continue
    return None
