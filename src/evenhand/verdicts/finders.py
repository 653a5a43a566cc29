"""How each kind of index, which is judged on a value, is computed for a finding.

`finding` loads this when it meets an index: most audits have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.cube.cube import Cube
from evenhand.measures.indices import (
    CellIndex,
    ConditionalDependence,
    DependenceIndex,
    DisparityIndex,
    GroupExtreme,
    Index,
    LargestLoss,
    LogRatioIndex,
    OutcomeTestIndex,
    PracticalIndex,
    ScoreDistance,
    ShiftFromEveryone,
)
from evenhand.verdicts import (
    clustered,
    disparity_finding,
    distance_finding,
    extreme_finding,
    index_finding,
    outcome_finding,
    practical_finding,
)
from evenhand.verdicts.index_finding import ValueResult
from evenhand.verdicts.request import Request

FINDERS: dict[type[Index], Callable[[Request, Cube, Any], ValueResult]] = {
    CellIndex: index_finding.cell_index,
    LogRatioIndex: index_finding.log_ratio,
    ScoreDistance: distance_finding.distances,
    ShiftFromEveryone: distance_finding.shift,
    LargestLoss: extreme_finding.largest_loss,
    GroupExtreme: extreme_finding.group_extreme,
    DependenceIndex: distance_finding.dependent,
    ConditionalDependence: distance_finding.conditional,
    DisparityIndex: disparity_finding.disparity,
    OutcomeTestIndex: outcome_finding.robust_outcome,
    PracticalIndex: practical_finding.practical,
}


def find_value(request: Request, cube: Cube, index: Index) -> ValueResult:
    """The result of an index; its value alone where clusters do not cover it or the policy wants no interval."""
    result = FINDERS[type(index)](request, cube, index)
    if cube.clustered:
        return index_finding.value_alone(request, result, clustered.why_alone(cube))
    return index_finding.value_alone(request, result) if request.policy.interval == "none" else result
