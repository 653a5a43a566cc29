"""adverse_impact(): selection rates against a reference, with every figure that employment practice reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from evenhand.audits.functions import evaluate
from evenhand.catalogue import METRICS
from evenhand.core.arrays import DataLike
from evenhand.core.results import Finding
from evenhand.errors import CallError, check_kind
from evenhand.sources.documentation import documented
from evenhand.sources.reader import reader
from evenhand.sources.roles import ReadArguments, complete
from evenhand.verdicts import impact, policy_file
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.finding import strata_of
from evenhand.verdicts.impact import CommonLine, ImpactLine
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.rows import stratum_rows
from evenhand.verdicts.stratum import Stratum
from evenhand.verdicts.table import tabulate

METRIC = "disparate_impact"
POLICY = "four-fifths"
"""By which adverse impact is judged, unless a caller says otherwise."""


@documented
@reader
def adverse_impact(
    data: DataLike | None = None,
    *,
    reference: Any = None,
    threshold: float | None = None,
    policy: Policy | str | Path | None = POLICY,
    min_group_size: int | None = None,
    confidence: float | None = None,
    **arguments: Unpack[ReadArguments],
) -> Finding:
    """The adverse impact table: who is selected less often than the reference, by how much, and how sure that is.

    The finding is that of `disparate_impact`, with tables in `panels`: impact ratios with their intervals, people and
    selections; the difference, standard deviations, Fisher's exact test and its mid-p, the odds ratio and Cohen's h;
    and how few decisions turn the result. With `control` there is also a table within strata, as by Mantel
    and Haenszel. `evenhand.audits.adverse_impact.impact_lines` has the same as records.

    Parameters
    ----------
    data
        A table, the path of a file, or a Cube; without it, pass arrays.
    reference
        The group that others are compared with: "highest" (by default, the group with the highest rate among those
        that are large enough), a group, "largest", or "rest" for everyone else.
    threshold
        The least impact ratio that is tolerated; 0.8 by default, which is four fifths.
    policy
        What else the result is judged by. The default lets no group with less than 2 % of the people be the reference.

    Returns
    -------
    Finding
        Of the metric `disparate_impact`, judged on the ratio.

    >>> decisions = {"hired": [1, 0] * 4, "race": ["White", "Black"] * 4, "people": [48, 28, 0, 0, 0, 0, 12, 32]}
    >>> decisions["race"][6], decisions["race"][7] = "Black", "White"
    >>> finding = adverse_impact(decisions, prediction="hired", sensitive="race", count="people")
    >>> finding.verdict, finding.ratio.value
    ('inconclusive', 0.5)
    >>> [line.name for line in impact_lines(finding)]
    ['Black', 'White']
    """
    asked = policy_file.resolve(policy)
    reference = asked.reference if reference is None else reference
    judging = {
        "threshold": threshold,
        "policy": asked,
        "reference": "highest" if reference is None else reference,
        "min_group_size": min_group_size,
        "confidence": confidence,
    }
    return with_yardstick(evaluate(METRICS[METRIC], data, {**complete(adverse_impact, arguments), **judging}))


def with_yardstick(finding: Finding) -> Finding:
    """The finding; CallError where groups are compared with nothing that they could be tested against."""
    plan = getattr(finding.basis, "plan", None)
    against = "extremes" if plan is None else plan.against
    remedy = 'leave it out for the group with the highest rate, name a group, or take "largest" or "rest".'
    if against == "extremes":
        raise CallError(
            f"reference= names no group of {' × '.join(finding.attributes)} to set the others against: {remedy}"
        )
    said = {"overall": "everyone, the group itself among them", "lowest": "the group that is selected least"}
    if against in said:
        raise CallError(
            f"reference={against!r} is {said[against]}, which is not a reference of adverse impact: {remedy}"
        )
    return finding


def impact_lines(finding: Finding) -> tuple[ImpactLine, ...]:
    """The adverse impact table of a finding as records, one for each group and stratum.

    Parameters
    ----------
    finding
        Of `adverse_impact`, of `disparate_impact` or of an audit, also of one that was loaded, whose ratio is judged
        against a reference.

    Returns
    -------
    tuple[ImpactLine, ...]
        The lines, in the order of the table.
    """
    strata, _ = _strata(finding)
    return tuple(line for each in strata for line in impact.impact_lines(each, stratum_rows(each)))


def common_lines(finding: Finding) -> tuple[CommonLine, ...]:
    """The groups within strata, as by Mantel and Haenszel; none where there are no strata.

    Parameters
    ----------
    finding
        As for `impact_lines`.

    Returns
    -------
    tuple[CommonLine, ...]
        A line for each group that is compared.
    """
    strata, whole = _strata(finding)
    return () if len(strata) < 2 else tuple(impact.common_lines(whole, strata))


def _strata(finding: Finding) -> tuple[list[Stratum], Stratum]:
    """What the finding was judged on: each stratum, and all of them together."""
    check_kind(finding, Finding, "finding", "pass what adverse_impact() returned")
    basis = finding.basis
    if not isinstance(basis, Basis) or basis.plan is None or basis.cube is None:
        raise CallError("the counts behind this finding are not known: pass what adverse_impact() returned.")
    rows = basis.request.metric.rows
    strata = strata_of(basis.request, basis.plan, rows, basis.cube)
    if not strata[0].is_impact:
        raise CallError(
            f"{finding.metric} was not judged on its ratio against a reference: pass what adverse_impact() returned."
        )
    whole = basis.cube.marginal(control=False)
    return strata, Stratum(basis.request, basis.plan, (), tabulate(rows, whole, basis.plan))
