"""Is a form judged as its policy says?

Whoever writes a form anew can make all of it agree with itself. So it is also asked whether what decides is what the
policy names, and whether each of these findings is judged by the threshold and the settings of the policy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.audits import choice
from evenhand.audits.audit import Audit, family
from evenhand.catalogue import METRICS, find
from evenhand.core.results import Finding
from evenhand.core.wording import clip
from evenhand.errors import EvenhandError, join_names
from evenhand.report import saved
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.finding import to_scale
from evenhand.verdicts.policy import Policy
from evenhand.verdicts.request import Request, make_request
from evenhand.verdicts.selective_labels import judgeable


def judging(audit: Audit) -> tuple[list[str], list[str]]:
    """What is wrong with how an audit was judged, and what must be known of it; its findings are those of the form."""
    policy = _of_catalogue(audit.policy)
    own = {*(audit.policy.required or ())} - {*(policy.required or ())}
    audit = replace(audit, policy=policy)
    wanted = _deciding(audit) | own
    problems, known = [], []
    if audit.policy.required is not None and wanted != {*audit.required}:
        problems.append(f"In the form {_decide(audit.required)}, and under the policy {_decide(sorted(wanted))}.")
    elif wanted != {*audit.required}:
        known.append(f"In the form {_decide(audit.required)}; the policy does not say what decides.")
    for finding in saved.with_bases(audit):
        if audit.decides(finding) and isinstance(finding.basis, Basis):
            problems += _differences(audit, finding, finding.basis.request)
    return problems, known


def _of_catalogue(policy: Policy) -> Policy:
    """The policy without metrics that somebody made: they are known by name only, and all others are still checked."""

    def known(names: Any) -> Any:
        return tuple(name for name in names if _is_known(name)) if isinstance(names, tuple) else names

    return replace(policy, required=known(policy.required), metrics=known(policy.metrics))


def _is_known(name: Any) -> bool:
    try:
        return find(name)[0].name in METRICS  # and not a function of scikit-learn, which needs the rows
    except EvenhandError:
        return False


def _decide(names: Any) -> str:
    verb = "decides" if len(names) == 1 else "decide"
    return f"{join_names([clip(name) for name in names], 6)} {verb}" if names else "nothing decides"


def _deciding(audit: Audit) -> set[str]:
    """The metrics that decide under the policy, where a caller names no others."""
    names = choice.required(audit.cube, None, audit.policy)[0]
    return {*judgeable(names, list(names), audit.cube, audit.policy.judged_on)[0]}


def _differences(audit: Audit, finding: Finding, request: Request) -> list[str]:
    """How a finding that decides is judged otherwise than the policy says."""
    told = _settings(request)
    wanted = {}
    for name in _names(audit, finding.metric):
        asked = to_scale(make_request(name, policy=audit.policy), audit.counts(finding.attributes))
        wanted = _settings(replace(asked, family=request.family if audit.sharing else _family(audit)))
        if told == wanted:
            return []
    on = f"{finding.metric} by {' × '.join(finding.attributes)}"
    return [
        f"{on} is judged by {name} {told[name]}, and under the policy by {value}."
        for name, value in wanted.items()
        if told[name] != value
    ]


def _names(audit: Audit, metric: str) -> list[str]:
    """The names by which a metric may have been asked for: those of the policy, else itself and its aliases."""
    named = (*(audit.policy.required or ()), *(audit.policy.metrics or ()))
    own = [name for name in named if find(name)[0].name == metric]
    return own or [*METRICS[metric].aliases, metric]


def _settings(request: Request) -> dict[str, Any]:
    """What a verdict depends on besides the counts, in words."""
    return {
        "the": request.judged_on,
        "a threshold of": request.threshold,
        "an aggregate of": request.aggregate,
        "the convention": request.convention,
        "options": dict(request.options),
        "a smallest group of": request.policy.min_group_size,
        "a confidence of": request.policy.confidence,
        "a family of": request.family,
    }


def _family(audit: Audit) -> int:
    """How many findings share the error probability of a fail."""
    sets = audit.cube.attribute_sets(audit.policy.intersections).sets
    judged = {each.metric for each in audit.findings if audit.decides(each) and each.threshold is not None}
    return family(audit.policy, len(judged) * sum(audit.policy.decides_on(names) for names in sets))
