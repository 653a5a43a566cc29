"""Small files: written whole or not at all, and read with errors that say what is wrong.

Every file that the library writes goes through `replacing`, so what holds there holds for all outputs.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from evenhand.core import inputs
from evenhand.errors import DataError, short_path

_MOST_BYTES = 1 << 30

Identity = tuple[int, int]
"""The device and the number of a file: the same for every name, spelling and link of it."""

_kept: ContextVar[dict[Identity, str] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(files: Mapping[Identity, str]) -> Iterator[None]:
    """Within it these files are not replaced, and neither is what was written within it. The texts say why."""
    token = _kept.set(dict(files))
    try:
        yield
    finally:
        _kept.reset(token)


def identity(path: str | Path | int) -> Identity | None:
    """The identity of a file, or of an open one by its descriptor; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino)


def target(path: Path) -> Path:
    """The file that is written for a path, which is where a link leads to; an error where none can be written."""
    shown = repr(short_path(path))
    with _explained(shown):
        real = Path(os.path.realpath(path))
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            mode = None
        if mode is None and not real.parent.is_dir():
            folder = real.parent if path.is_symlink() else path.parent
            raise DataError(f"{shown} cannot be written: there is no folder {short_path(folder)!r}. Make it first.")
        if mode is not None and stat.S_ISDIR(mode):
            raise DataError(f"{shown} cannot be written: it is a folder. Name a file in it.")
        # /dev/stdout may be a file that has no name any more.
        if mode is not None and (not stat.S_ISREG(mode) or identity(path) != identity(real)):
            raise DataError(f"{shown} cannot be written: it is a device or a pipe. Name a file.")
        if mode is not None and not os.access(real, os.W_OK):
            raise DataError(f"{shown} cannot be written: it is write-protected. Name another file.")
    why = (_kept.get() or {}).get(identity(real) or (-1, -1))
    if why is not None:
        raise DataError(f"{shown} cannot be written: {why}. Name another file.")
    return real


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside the target to write to. It replaces the target if all goes well and is removed if not, so that
    nobody reads half a file. A link stays and what it leads to is replaced; the permissions stay."""
    real = target(path)
    temporary = real.parent / f".evenhand-{secrets.token_hex(8)}"
    try:
        with _explained(repr(short_path(path))):
            yield temporary
            _keep_permissions(real, temporary)
            os.replace(temporary, real)
    finally:
        with suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
    kept, written = _kept.get(), identity(real)
    if kept is not None and written is not None:
        kept[written] = "this command has just written it"


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (OSError, ValueError) as error:  # a ValueError is a name that no file can have
        why = getattr(error, "strerror", None) or error
        raise DataError(f"{shown} cannot be written: {why}. Choose another folder or name.") from None


def _keep_permissions(old: Path, new: Path) -> None:
    """Give the new file the owner and the permissions of the one that it replaces, as far as the system lets us."""
    if not old.exists():
        return
    status = old.stat()
    with suppress(OSError, AttributeError):  # another owner can be set by few, and on Windows by nobody
        os.chown(new, status.st_uid, status.st_gid)
    os.chmod(new, stat.S_IMODE(status.st_mode))


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 with the permissions that a new file gets here."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes with the permissions that a new file gets here."""
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
