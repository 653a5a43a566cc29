"""evenhand: measure whether a model, or a human process, treats groups of people even-handedly.

>>> import evenhand as eh
>>> found = eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive=["a", "a", "b", "b"], threshold=0.5)
>>> found.passes, found.highest, found.lowest
(True, 'b', 'a')
"""

from __future__ import annotations

import logging

from evenhand import datasets
from evenhand.auditing import Audit, audit
from evenhand.cube import Cube
from evenhand.errors import CallError, DataError, EvenhandError, MissingDependencyError
from evenhand.findings import Estimate, Finding, Panel, Row
from evenhand.functions import FUNCTIONS, metric
from evenhand.measures import measure
from evenhand.policy import Policy
from evenhand.sweeps import Sweep, sweep
from evenhand.versions import __version__, show_versions

logging.getLogger("evenhand").addHandler(logging.NullHandler())

globals().update(FUNCTIONS)

__all__ = [
    "Audit",
    "CallError",
    "Cube",
    "DataError",
    "Estimate",
    "EvenhandError",
    "Finding",
    "MissingDependencyError",
    "Panel",
    "Policy",
    "Row",
    "Sweep",
    "__version__",
    "audit",
    "datasets",
    "measure",
    "metric",
    "show_versions",
    "sweep",
]
__all__ += list(FUNCTIONS)
