"""What a page holds, read back in Python: its packed data, its cube, and that cube decided at another cutoff."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

from evenhand.audits import page_counts
from evenhand.cube import cutoffs, privacy
from evenhand.cube.cube import Cube


def unpack(text: str) -> Any:
    """The plain data that `core.records.pack` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS))


def embedded(cube: Cube, least: int = privacy.LEAST) -> Cube:
    """The cube as a page holds it."""
    return page_counts.fitted(cube, least)[0]


def decided(cube: Cube, stop: int) -> Cube:
    """The cube as if those with a score at or above a stop of the slider had been chosen; −1 is as it was decided."""
    if stop < 0 or cube.scores is None:
        return cube
    meaning = replace(cube.meaning, prediction=None, cutoff=float(cutoffs.stops(cube)[0][stop]))
    return replace(cutoffs.decide(cube, 1.0 * (cube.scores.bin >= stop)), meaning=meaning)
