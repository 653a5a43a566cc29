"""Columns that look like an identity with repeats: a hint that rows may belong together, where nobody has said so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.core import frames
from evenhand.errors import EvenhandError, as_typed, shorten
from evenhand.sources.columns import encode, library
from evenhand.sources.engines.table import is_lazy
from evenhand.sources.memory import MemorySource
from evenhand.sources.roles import SINGLE

_WHO = "account|applicant|candidate|client|customer|household|member|patient|person|prompt|student|subject|user"
_NAME = re.compile(rf"(?i:id|.*[_ -]id|({_WHO})([_ -]?(id|nr|no|number|key|code))?)|.*[a-z]I[dD]")
_HEAD = 10_000
_FEW, _MANY = 0.05, 0.6
"""An attribute has fewer different values for each row than that, and an identity without repeats more."""
_LEAST = 100  # rows that show it


def repeated_identity(data: Any, arguments: Mapping[str, Any]) -> str | None:
    """A note on the first column of a table in memory that no role uses, and that looks like an identity with repeats.

    `arguments` are those of the reader; None where they name clusters, or there is no such column.

    >>> visits = {"patient_id": [i // 4 for i in range(400)], "treated": [0, 1] * 200}
    >>> repeated_identity(visits, {"prediction": "treated"})
    "column 'patient_id' repeats: if its rows belong together, name it with cluster=."
    """
    if is_lazy(data) or arguments.get("cluster") is not None:
        return None
    if not (
        isinstance(data, Mapping) or (library(data) in ("pandas", "polars", "pyarrow") and hasattr(data, "columns"))
    ):
        return None
    named = [arguments.get(role) for role in (*SINGLE, "sensitive", "control")]
    used = {
        name
        for value in named
        for name in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(name, str)
    }
    try:
        source = MemorySource(data)
        for name in source.names or ():
            if name in used or name in source.twice or not _NAME.fullmatch(name):
                continue
            column = source.data[source.columns[name]]
            rows = min(len(column), _HEAD)
            codes = encode(frames.take(column, np.arange(rows)), name)[1]
            if rows >= _LEAST and _FEW * rows < len(np.unique(codes)) <= _MANY * rows:
                option = as_typed("cluster=", "--cluster")
                return f"column {shorten(name)!r} repeats: if its rows belong together, name it with {option}."
    except (EvenhandError, TypeError):  # a hint is not worth an error
        return None
    return None
