"""Small files: written whole or not at all, and read with errors that say what is wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evenhand.core import inputs
from evenhand.errors import DataError, short_path

_MOST_BYTES = 1 << 30


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside the target to write to. It replaces the target if all goes well and is removed if not, so that
    nobody reads half a file."""
    shown = repr(short_path(path))
    temporary = path.parent / f".evenhand-{secrets.token_hex(8)}"
    try:
        if path.is_dir():
            raise DataError(f"{shown} cannot be written: it is a folder. Name a file in it.")
        if not path.parent.is_dir():
            raise DataError(
                f"{shown} cannot be written: there is no folder {short_path(path.parent)!r}. Make it first."
            )
        yield temporary
        os.replace(temporary, path)
    except DataError:
        raise
    except (OSError, ValueError) as error:  # a ValueError is a name that no file can have
        why = getattr(error, "strerror", None) or error
        raise DataError(f"{shown} cannot be written: {why}. Choose another folder or name.") from None
    finally:
        with suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 with the permissions that a new file gets here."""
    data = text.encode("utf-8")
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def read_text(path: Path, what: str = "", most_bytes: int = _MOST_BYTES) -> str:
    """The text of a file in UTF-8, without a byte-order mark. `what` is what the file should be, such as "a policy"."""
    content = read_bytes(path, what, most_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        expected = f"{what}: it is not " if what else ""
        raise DataError(f"{short_path(path)!r} is not {expected}UTF-8 text.") from None


def read_bytes(path: Path, what: str = "", most_bytes: int = _MOST_BYTES) -> bytes:
    """The content of a file of at most `most_bytes`; a larger one is not read. `what` is what the file should be."""
    shown = repr(short_path(path))
    inputs.check(path)
    try:
        with path.open("rb") as file:
            small = os.fstat(file.fileno()).st_size <= most_bytes
            content = _first(file, most_bytes + 1) if small else b""
    except OSError as error:
        raise DataError(f"{shown} cannot be read: {error.strerror or error}.") from None
    if not small or len(content) > most_bytes:
        raise DataError(f"{shown} is larger than {_size(most_bytes)}, so it is not {what or 'read'}.")
    return content


def _first(file: BinaryIO, most: int) -> bytes:
    """The first bytes of a file; `read(most)` alone would take as much memory for a small one."""
    parts = []
    while most > 0 and (part := file.read(min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count:,} bytes"
