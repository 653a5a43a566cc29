"""How each kind of index, which is judged on a value, is computed for a finding.

`finding` loads this when it meets an index: most audits have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.cube.cube import Cube
from evenhand.measures.indices import (
    CellIndex,
    DependenceIndex,
    Index,
    LargestLoss,
    LogRatioIndex,
    OutcomeTestIndex,
    ScoreDistance,
    ShiftFromEveryone,
)
from evenhand.verdicts import clustered, distance_finding, index_finding, outcome_finding
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.request import Request

FINDERS: dict[type[Index], Callable[[Request, Cube, Any], ValueResult]] = {
    CellIndex: index_finding.cell_index,
    LogRatioIndex: index_finding.log_ratio,
    ScoreDistance: distance_finding.distances,
    ShiftFromEveryone: distance_finding.shift,
    LargestLoss: distance_finding.largest_loss,
    DependenceIndex: distance_finding.dependent,
    OutcomeTestIndex: outcome_finding.robust_outcome,
}


def find_value(request: Request, cube: Cube, index: Index) -> ValueResult:
    """The result of an index; its value alone where clusters do not cover it or the policy wants no interval."""
    result = FINDERS[type(index)](request, cube, index)
    if cube.clustered:
        return index_finding.value_alone(request, result, clustered.why_alone(cube))
    return index_finding.value_alone(request, result) if request.policy.interval == "none" else result
