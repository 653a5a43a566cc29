"""What a finding was judged by. A Finding keeps it in `basis`, which is neither shown nor compared nor saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from evenhand.cube.cube import Cube
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.request import Request

if TYPE_CHECKING:
    from evenhand.core.sensitivity import Sensitivity


@dataclass(frozen=True)
class Basis:
    """The request that a finding answers, and what its groups were compared with; no plan where a value is judged.

    `cube` holds the counts, where a gap between rates of decisions is judged.
    """

    request: Request
    plan: Plan | None = None
    cube: Cube | None = field(default=None, repr=False, compare=False)

    @property
    def incomplete(self) -> bool:
        """Are labels or groups missing in the counts?"""
        if self.cube is None or self.plan is None:
            return False
        unlabelled = self.cube.has_labels and bool(self.cube.n[:, -1].any())
        return unlabelled or any(None in group for _, group in self.cube.pairs)

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """What missing labels, missing groups and wrong labels could hide; None where the counts do not tell."""
        from evenhand.verdicts import sensitivity

        if self.cube is None or self.plan is None:
            return None
        return sensitivity.sensitivity(self.request, self.plan, self.cube)
