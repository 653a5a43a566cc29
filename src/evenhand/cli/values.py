"""What options say in text: paths, references, thresholds and bands, as the library takes them."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.errors import CallError, DataError


@contextmanager
def paths(files: tuple[str, ...]) -> Iterator[Any]:
    """The paths to read; standard input is kept in a temporary file while it is read."""
    if "-" not in files:
        yield list(files)
        return
    if len(files) > 1:
        raise CallError("- (standard input) stands alone: it cannot be read together with files.")
    if sys.stdin is None:
        raise CallError("- is standard input, and that is closed.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard-input.csv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if path.stat().st_size == 0:
            raise DataError("standard input is empty.")
        yield [path]


def pair(option: str, text: str) -> tuple[str, str]:
    """NAME=VALUE; a name may hold an = too."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise CallError(f"{option} {text!r}: write it as NAME=VALUE.")
    return name, value


def reference(given: tuple[str, ...], sensitive: tuple[str, ...]) -> Any:
    """COLUMN=VALUE where the text begins with an attribute and an =, else a value: a group may well be called >=65."""
    by_attribute, values = {}, []
    for text in given:
        name = max((name for name in sensitive if text.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            values.append(text)
        else:
            by_attribute[name] = text[len(name) + 1 :]
    if not values:
        return by_attribute or None
    if by_attribute or len(values) > 1:
        raise CallError(f"--reference {values[0]!r}: with several, write each as COLUMN=VALUE.")
    return values[0]


def thresholds(given: tuple[str, ...]) -> dict[str, float]:
    """METRIC=NUMBER, each."""
    return numbers("--threshold", given)


def numbers(option: str, given: tuple[str, ...]) -> dict[str, float]:
    """NAME=NUMBER, each."""
    return {name: _float(option, value) for name, value in (pair(option, text) for text in given)}


def bands(given: tuple[str, ...]) -> dict[str, list[float]]:
    """COLUMN=0,25,45, each."""
    pairs = (pair("--bands", text) for text in given)
    return {name: [_float("--bands", edge) for edge in value.split(",")] for name, value in pairs}


def _float(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CallError(f"{option}: {text!r} is not a number.") from None
