"""Hostile values: what a caller may pass by mistake or on purpose, for any parameter and any option.

A value is made anew for each call, because a call may use it up, as it does a generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

MARKUP = "</script><script>alert(1)</script>"
FORMULA = "=cmd()|' /C calc'!A0"
ESCAPES = "\x1b[31m[/red]\n\u202e"


class OwnError(Exception):
    """What a function of the caller raises; it must reach the caller, or be named in an error of ours."""


def raises(*_: Any, **__: Any) -> Any:
    raise OwnError("this is the caller's own error")


def _generator() -> Iterator[str]:
    yield from ("a", "b")


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "minus one": lambda: -1,
    "zero": lambda: 0,
    "a fraction": lambda: 2.5,
    "tiny": lambda: 5e-324,
    "ten billion": lambda: 10**10,
    "400 digits": lambda: 10**400,
    "True": lambda: True,
    "empty text": lambda: "",
    "NUL": lambda: "\0",
    "surrogate": lambda: "\udcff",
    "markup": lambda: MARKUP,
    "formula": lambda: FORMULA,
    "escapes": lambda: ESCAPES,
    "constructor": lambda: "constructor",
    "__proto__": lambda: "__proto__",
    "long text": lambda: "x" * 100_000,
    "no such file": lambda: "no/such/file.csv",
    "empty list": list,
    "nested lists": lambda: [[[]], [[1], 2]],
    "mixed list": lambda: [1, "a", None, 2.5],
    "pair": lambda: ("a", "b"),
    "set": lambda: {"a"},
    "empty mapping": dict,
    "int keys": lambda: {3: [1]},
    "generator": _generator,
    "class": lambda: int,
    "object": object,
    "function": lambda: raises,
    "decimal": lambda: Decimal("0.5"),
    "fraction": lambda: Fraction(1, 3),
    "datetime": lambda: datetime(2024, 1, 2, tzinfo=UTC),
    "bytes": lambda: b"\xff\0",
    "complex": lambda: 1j,
    "frame without rows": lambda: pd.DataFrame({"label": [], "prediction": [], "group": []}),
    "short array": lambda: np.array([0.0, 1.0, 0.0]),
    "square array": lambda: np.full((3, 3), np.nan),
    "array without dimension": lambda: np.array(1),
}

NONSENSE = frozenset({"class", "object", "complex", "bytes", "datetime", "function", "square array"})
"""Values that no parameter means anything by: an answer means that the value was ignored."""

TEXTS: dict[str, str] = {
    "empty": "",
    "blank": " ",
    "NUL": "a\0b",
    "surrogate": "\udcff",
    "nan": "nan",
    "inf": "inf",
    "minus one": "-1",
    "zero": "0",
    "fraction": "2.5",
    "tiny": "5e-324",
    "overflow": "1e400",
    "ten billion": "10000000000",
    "400 digits": "9" * 400,
    "5000 digits": "9" * 5000,
    "underscore": "1_0",
    "arabic digits": "\u0661",
    "hexadecimal": "0x10",
    "comma": ",",
    "edges": "group=0,nan,1",
    "equals": "=",
    "name only": "group=",
    "value only": "=1",
    "text number": "demographic_parity=x",
    "huge number": "demographic_parity=1e999",
    "none": "none",
    "true": "True",
    "markup": MARKUP,
    "formula": FORMULA,
    "escapes": ESCAPES,
    "constructor": "constructor",
    "__proto__": "__proto__",
    "long": "x" * 50_000,
    "SQL": "'; DROP TABLE x; --",
    "pattern": "^.*$",
    "star": "*",
    "format": "%s {} {0.__class__}",
    "dash": "-",
    "folder": ".",
    "the data": "people.csv",
    "no such file": "no/such/file.csv",
}
