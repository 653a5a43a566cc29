"""A saved file carries the SHA-256 of its own content, so that a damaged file is never read as another one.

It tells damage and edits; it does not tell who wrote the file: whoever forges one can write a new checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.core.arrays import Array
from evenhand.core.records import MisfitError

KEY = "sha256"
LENGTH = 64

MISSING = "it has no checksum, so that nothing tells whether it is as it was written"
CHANGED = "its content does not have the checksum that is written in it"


def canonical(value: Any) -> bytes:
    """Plain data as JSON in one form, whatever the order of keys and the spaces of a file.

    >>> canonical({"b": [1, None], "a": "ä"})
    b'{"a":"\\\\u00e4","b":[1,null]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def of_record(record: Mapping[str, Any], **instead: Any) -> str:
    """The checksum of plain data, without the one in it. `instead` stands for parts that have their own checksums."""
    return hashlib.sha256(canonical({**record, **instead, KEY: None})).hexdigest()


def of_arrays(told: Any, arrays: Iterable[tuple[str, Array]]) -> str:
    """The checksum of named arrays of numbers, and of plain data that says what they mean."""
    found = hashlib.sha256(canonical(told))
    for name, values in arrays:
        whole = values.dtype.kind in "iu"
        numbers = values.astype("<i8") if whole else values.astype("<f8") + 0.0  # −0 is 0
        found.update(canonical([name, len(values), whole]) + numbers.tobytes())
    return found.hexdigest()


def of_bytes(*parts: bytes | memoryview) -> str:
    """The checksum of bytes that follow each other."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def check(record: Mapping[str, Any], **instead: Any) -> None:
    """Say no to plain data whose checksum is missing or is not that of its content."""
    if KEY not in record:
        raise MisfitError(MISSING)
    if record[KEY] != of_record(record, **instead):
        raise MisfitError(CHANGED)
