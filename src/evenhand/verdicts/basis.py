"""What a finding was judged by. A Finding keeps it in `basis`, which is neither shown nor compared nor saved."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.request import Request


@dataclass(frozen=True, slots=True)
class Basis:
    """The request that a finding answers, and what its groups were compared with; no plan where a value is judged."""

    request: Request
    plan: Plan | None = None
