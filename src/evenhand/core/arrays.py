"""The kinds of numpy arrays that signatures speak of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
"""Counts of people, up to 2⁶³."""
Indices = npt.NDArray[np.intp]
"""Positions in another array."""
Codes = npt.NDArray[np.integer[Any]]
"""Positions of whatever width is enough; −1 is missing."""
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
