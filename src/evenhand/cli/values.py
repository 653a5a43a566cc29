"""The text of options as values of the library: paths, references, thresholds and bands."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from evenhand.cli.numbers import finite
from evenhand.core.calls import FAILURES, described
from evenhand.errors import CallError, DataError, shorten

MOST_STANDARD_INPUT = 16 << 30


@contextmanager
def paths(files: tuple[str, ...]) -> Iterator[Any]:
    """The paths to read; standard input is kept in a temporary file while it is read."""
    if "-" not in files:
        yield list(files)
        return
    if len(files) > 1:
        raise CallError("- (standard input) stands alone: it cannot be read together with files.")
    if sys.stdin is None:
        raise CallError("- is standard input, which is closed.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard-input.csv"
        with path.open("wb") as file:
            _copy(sys.stdin.buffer, file)
        yield [path]


def _copy(stream: BinaryIO, file: BinaryIO) -> None:
    """Keep standard input in a file, up to a limit: it may have no end."""
    size = 0
    while part := stream.read(1 << 20):
        size += len(part)
        if size > MOST_STANDARD_INPUT:
            raise DataError(
                f"standard input is larger than {MOST_STANDARD_INPUT >> 30} GB: save it in a file first, which may be "
                "of any size."
            )
        file.write(part)
        if b"\0" in part:
            break  # no text: whoever reads the file refuses it, and says what it is
    if not size:
        raise DataError("standard input is empty.")


def pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Values by name from texts such as NAME=VALUE, split at the last =, because a name may contain one."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise CallError(f"{option} {shorten(text)!r}: write it as NAME=VALUE.")
        if name in found:
            raise CallError(f"{option} names {shorten(name)!r} twice: give it once.")
        found[name] = value
    return found


def imported(option: str, text: str, kind: str) -> Any:
    """What MODULE:NAME names: the object of that name in a Python module, which must be callable."""
    module, _, name = text.partition(":")
    if not module or not name.isidentifier():
        raise CallError(f"{option} {shorten(text)!r}: write it as MODULE:{kind}.")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise CallError(f"{option}: there is no module {shorten(str(error.name))!r}. Is it installed?") from None
    except FAILURES as error:
        raise CallError(f"{option}: {shorten(module)!r} cannot be imported: {described(error)}.") from error
    if not callable(getattr(found, name, None)):
        raise CallError(f"{option}: {shorten(module)!r} has no {kind.lower()} {shorten(name)!r}.")
    return getattr(found, name)


def reference(texts: tuple[str, ...], sensitive: tuple[str, ...]) -> Any:
    """The reference group: COLUMN=VALUE where the text begins with an attribute, else a value, such as ">=65"."""
    by_attribute, values = {}, []
    for text in texts:
        name = max((name for name in sensitive if text.startswith(f"{name}=")), key=len, default=None)
        if name is not None and name in by_attribute:
            raise CallError(f"--reference names {shorten(name)!r} twice: give it once.")
        if name is None:
            values.append(text)
        else:
            by_attribute[name] = text[len(name) + 1 :]
    if not values:
        return by_attribute or None
    if by_attribute or len(values) > 1:
        raise CallError(f"--reference {values[0]!r}: with several, write each as COLUMN=VALUE.")
    return values[0]


def thresholds(texts: tuple[str, ...]) -> dict[str, float]:
    """Thresholds by metric, from texts such as METRIC=NUMBER."""
    return numbers("--threshold", texts)


def numbers(option: str, texts: tuple[str, ...]) -> dict[str, float]:
    """Numbers by name, from texts such as NAME=NUMBER."""
    return {name: _number(option, value) for name, value in pairs(option, texts).items()}


def bands(texts: tuple[str, ...]) -> dict[str, list[float] | None]:
    """Edges by column, from texts such as COLUMN=0,25,45; None for COLUMN=none, which is not to be cut."""
    return {name: _edges(value) for name, value in pairs("--bands", texts).items()}


def _edges(text: str) -> list[float] | None:
    return None if text.strip().lower() == "none" else [_edge(edge) for edge in text.split(",")]


def _edge(text: str) -> float:
    """An edge of a band; the first and the last may be infinite."""
    return float(text) if text.strip().lower() in ("inf", "-inf") else _number("--bands", text)


def _number(option: str, text: str) -> float:
    try:
        return finite(text)
    except CallError as error:
        raise CallError(f"{option}: {error}") from None


def two_groups(between: tuple[str, ...]) -> list[str] | None:
    """The groups that --between names, in one value or in two; None where it was left out.

    >>> two_groups(("a,b",)), two_groups(("a, or b", "c")), two_groups(())
    (['a', 'b'], ['a, or b', 'c'], None)
    """
    if len(between) == 1:
        return [name.strip() for name in between[0].split(",")]
    return list(between) or None
