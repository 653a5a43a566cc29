"""Findings by name: `audit["equalized_odds", "race"]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.catalogue import METRICS, Metric, find
from evenhand.core.results import Finding
from evenhand.errors import CallError, EvenhandError, UnknownKeyError, join_names, nearest, shorten
from evenhand.verdicts.requirements import check_roles

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

_MOST = 6  # choices that an error names


def finding(audit: Audit, key: Any) -> Finding:
    """The one finding that the key names: a metric, or a metric and its attributes."""
    name, attributes = _split(key)
    of_metric = _of_metric(audit, name)
    chosen = of_metric if attributes is None else [each for each in of_metric if {*each.attributes} == {*attributes}]
    sets = list(dict.fromkeys(each.attributes for each in of_metric))
    if not chosen:
        on = " × ".join(attributes or ())
        known = [" × ".join(names) for names in sets]
        raise UnknownKeyError(f"{of_metric[0].metric} was not computed on {shorten(on)!r}; {nearest(on, known)}")
    if attributes is None and len(sets) > 1:
        calls = join_names((f"audit[{name!r}, {_typed(names)}]" for names in sets), _MOST)
        raise UnknownKeyError(f"{name!r} was computed on {len(sets)} sets of attributes, so name one: {calls}.")
    usual = METRICS[chosen[0].metric].judged_on if chosen[0].metric in METRICS else chosen[0].judged_on
    return next((each for each in chosen if each.judged_on == usual), chosen[0])


def holds(audit: Audit, key: Any) -> bool:
    """Whether there is such a finding, be it on one set of attributes or on several."""
    try:
        name, attributes = _split(key)
        found = _of_metric(audit, name)
    except UnknownKeyError:
        return False
    return attributes is None or any({*each.attributes} == {*attributes} for each in found)


def _split(key: Any) -> tuple[str, tuple[str, ...] | None]:
    """The name of the metric, and the attributes where they are named."""
    first, *rest = key if isinstance(key, tuple) and key else (key,)
    name = first.name if isinstance(first, Metric) else first
    many = rest[0] if len(rest) == 1 and isinstance(rest[0], Sequence) and not isinstance(rest[0], str) else rest
    if not isinstance(name, str) or not all(isinstance(each, str) for each in many):
        raise UnknownKeyError(
            f"{shorten(repr(key))} does not name a finding: write the metric, or the metric and its attributes, as in "
            'audit["equalized_odds", "race"]; audit.findings has all of them.'
        )
    return name, tuple(many) if many else None


def _of_metric(audit: Audit, name: str) -> list[Finding]:
    """The findings of a metric by its name or an alias; at least one."""
    own = [each for each in audit.findings if each.metric == name]
    if own:
        return own
    try:
        metric, presets = find(name)
    except CallError as error:
        raise UnknownKeyError(str(error)) from None
    computed = [each for each in audit.findings if each.metric == metric.name]
    if not computed:
        raise UnknownKeyError(_not_computed(audit, metric))
    # Another name may stand for another number, as the ratio for the difference: it is never answered with that one.
    meant = [each for each in computed if all(_told(each).get(key) == said for key, said in _meant(presets).items())]
    if not meant:
        raise UnknownKeyError(_otherwise(name, computed[0], presets))
    return meant


def _not_computed(audit: Audit, metric: Metric) -> str:
    """Why there is no such finding, and the line to type."""
    try:
        check_roles(metric, audit.cube)
    except EvenhandError as error:
        return f"{metric.name} was not computed: {error}"
    return (
        f'{metric.name} was not computed: pass metrics="all", or metrics=[{metric.name!r}, ...], to evenhand.audit().'
    )


def _told(finding: Finding) -> dict[str, object]:
    return {"judged_on": finding.judged_on, "aggregate": finding.settings.get("aggregate")}


def _meant(presets: dict[str, object]) -> dict[str, object]:
    """What of an alias makes another number; a threshold does not."""
    return {key: said for key, said in presets.items() if key in ("judged_on", "aggregate")}


def _otherwise(name: str, computed: Finding, presets: dict[str, object]) -> str:
    wanted = presets.get("judged_on")
    other = f"pass metrics=[{name!r}, ...] to evenhand.audit()"
    if wanted in ("difference", "ratio"):
        there = f"audit[{computed.metric!r}, {_typed(computed.attributes)}].{wanted} has the {wanted}"
        return f"{computed.metric} was judged on its {computed.judged_on} here: {there}, or {other}."
    return f"{computed.metric} was computed here and {name} was not: {other}."


def _typed(attributes: tuple[str, ...]) -> str:
    return repr(attributes[0]) if len(attributes) == 1 else repr(attributes)
