"""Files are written whole or not at all: beside the target first, then renamed, so that nobody reads half of one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evenhand.errors import DataError, short_path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place if all goes well, and goes away if not."""
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
