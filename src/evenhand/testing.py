"""For tests of a model: `assert_fair` audits, and fails with the metrics, groups and numbers that a person needs.

With pytest:

    from evenhand.testing import assert_fair

    def test_decisions():
        assert_fair("decisions.parquet", label="repaid", prediction="approved", sensitive=["race", "sex"])
"""

from __future__ import annotations

from typing import Any, Literal

from evenhand.audits.audit import Audit, audit
from evenhand.core.arguments import checked
from evenhand.core.arrays import ColumnLike, DataLike
from evenhand.core.results import Finding
from evenhand.core.wording import clean
from evenhand.cube.cube import Cube
from evenhand.errors import CallError
from evenhand.report import tables
from evenhand.sources.documentation import documented
from evenhand.sources.reader import arranged

__all__ = ["assert_fair"]


def __dir__() -> list[str]:
    return __all__


@documented
@checked
def assert_fair(
    data: DataLike | Audit | Cube | None = None,
    y_pred: ColumnLike | None = None,
    *,
    inconclusive: Literal["fail", "pass"] = "fail",
    **arguments: Any,
) -> Audit:
    """Raise AssertionError unless every finding that decides has passed; return the audit.

    An audit that judges nothing fails always: it would be an empty promise.

    Parameters
    ----------
    data
        What `evenhand.audit` takes; or an Audit, or a Cube with the arguments of `Cube.audit`.
    inconclusive
        Whether a finding that the data cannot settle fails the test, as it stops `evenhand audit` with exit code 3, or
        lets it pass.
    **arguments
        The arguments of `evenhand.audit`.

    Raises
    ------
    AssertionError
        A finding that decides has not passed. The message names the metrics, groups and numbers.

    What passes is what was measured, on these groups, within these thresholds; it is not "fairness".

    >>> from evenhand.datasets import berkeley
    >>> assert_fair(berkeley(), prediction="admitted", count="count", sensitive="gender")
    Traceback (most recent call last):
    AssertionError: the audit fails (failed: demographic_parity on gender)
    - demographic_parity on gender: fail, difference 14.2 [11.3, 17.0], threshold ≤ 10 points
      The selection rate is 44.5 % for Male (n = 2,691) and 30.4 % for Female (n = 1,835): a gap of 14.2 points (95 %
      interval 11.3 to 17.0), above the threshold of 10.
    """
    __tracebackhide__ = True
    if inconclusive not in ("fail", "pass"):
        raise CallError(f"inconclusive={inconclusive!r} must be 'fail' or 'pass'.")
    audited = (
        _audited(data, arguments) if y_pred is None else audit(**arranged("assert_fair", (data, y_pred), arguments))
    )
    problem = _problem(audited, inconclusive)
    if problem:
        raise AssertionError(problem)
    return audited


def _audited(data: Any, arguments: dict[str, Any]) -> Audit:
    if isinstance(data, Audit):
        if arguments:
            raise CallError(f"an Audit takes no further arguments; leave out {', '.join(map(repr, arguments))}.")
        return data
    return data.audit(**arguments) if isinstance(data, Cube) else audit(data, **arguments)


def _problem(audited: Audit, inconclusive: str) -> str | None:
    """What the test has to say, or None where all is well."""
    verdict = audited.verdict
    if verdict == "pass" or (verdict == "inconclusive" and inconclusive == "pass"):
        return None
    deciding = [finding for finding in audited.findings if audited.decides(finding)]
    if verdict == "not judged":
        names = ", ".join(audited.required) or "no metric"
        lines = [f"the audit judges nothing ({names} decides): require a metric with a threshold that the data allows"]
    else:
        says = {"fail": "fails", "inconclusive": "is inconclusive"}[verdict]
        lines = [f"the audit {says}{tables.in_brackets(tables.outcomes(audited))}"]
        deciding = [finding for finding in deciding if audited.policy.counted(finding.verdict) != "pass"]
    lines += [line for finding in deciding for line in _lines(finding)]
    return "\n".join(clean(line) for line in lines)


def _lines(finding: Finding) -> list[str]:
    on = " × ".join(finding.attributes)
    return [
        f"- {finding.metric} on {on}: {finding.verdict}, {tables.judgement(finding)}",
        *(f"  {line}" for line in (finding.interpretation, *finding.notes)),
    ]
