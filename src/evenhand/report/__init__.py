"""An audit as something to read: text for a terminal, JSON for a program. The file's suffix decides the form."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import CallError, DataError, nearest

if TYPE_CHECKING:
    from evenhand.auditing import Audit


def save(audit: Audit, path: Path) -> None:
    """Write an audit; whole or not at all."""
    from evenhand.report import json

    writers: dict[str, Callable[[Audit], str]] = {".json": json.dumps}
    write = check_suffix(path, writers)
    replace_text(path, write(audit))


def check_suffix(path: Path, writers: dict[str, Callable[[Audit], str]]) -> Callable[[Audit], str]:
    if path.suffix not in writers:
        raise CallError(f"an audit cannot be saved as {path.suffix or path.name!r}; {nearest(path.suffix, writers)}")
    return writers[path.suffix]


def replace_text(path: Path, text: str) -> None:
    """Write beside the target, then rename, so that nobody reads half a file."""
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {str(path.parent)!r} to write to.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
