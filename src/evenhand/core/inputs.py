"""The files that are read: found by name or pattern, with an end, and each of them once."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from evenhand.errors import CallError, DataError, short_path

_ENDLESS = {stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def find(name: str, example: str, key: Callable[[str], Any] | None = None) -> list[Path]:
    """The file of that name, or those that a pattern matches, in the order of `key`; none where there is none.

    `example` is a pattern for the files of a folder, which the error for a folder proposes.
    """
    path = os.path.expanduser(name)
    if os.path.isdir(path):
        raise DataError(f"{short_path(path)!r} is a folder: name its files, such as {os.path.join(path, example)!r}.")
    matching = [path] if os.path.exists(path) else sorted(_matching(path), key=key)
    found = [Path(file) for file in matching if not os.path.isdir(file)]
    for file in found:
        check(file)
    return found


def check(path: Path) -> None:
    """Refuse what is not a file with an end, and a name that is not Unicode; a name that does not exist is an error."""
    shown = repr(short_path(path))
    check_name(path)
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        raise DataError(f"there is no file {shown}.") from None
    except (OSError, ValueError) as error:  # a ValueError is a name that no file can have
        raise DataError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if kind == stat.S_IFDIR:
        raise DataError(f"{shown} cannot be read: it is a folder. Name a file in it.")
    if kind != stat.S_IFREG:
        what = _ENDLESS.get(kind, "not a file")
        raise DataError(
            f"{shown} cannot be read: it is {what}, which may have no end. Save its content in a file first."
        )


def check_name(path: Path) -> None:
    """Refuse a name that is not Unicode."""
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            f"{short_path(path)!r} cannot be opened: its name is not UTF-8. Rename the file or its folder."
        ) from None


def check_once(paths: Iterable[Path]) -> None:
    """Refuse a file that is given twice, also under two names: whoever is in it would count twice."""
    first: dict[tuple[int, int], Path] = {}
    for path in paths:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue  # whoever reads it says what is wrong with it
        identity = (found.st_dev, found.st_ino)
        if identity in first:
            known = first[identity]
            twice = "given twice" if known == path else f"the same file as {short_path(known)!r}"
            raise CallError(f"{short_path(path)!r} is {twice}: its people would count twice. Name it once.")
        first[identity] = path


def _matching(pattern: str) -> list[str]:
    try:
        return glob.glob(pattern, recursive=True)
    except (OSError, ValueError):  # a name that no file can have
        return []
