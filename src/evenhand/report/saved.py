"""An audit from its JSON: the findings as they were judged, and the cube they rest on. No data is needed.

A file is input like any other: whatever is wrong with it is an error that says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast

from evenhand.audits.audit import Audit
from evenhand.catalogue import ALIASES, METRICS
from evenhand.core import checksum, records
from evenhand.core.cover import Cover
from evenhand.core.files import read_text
from evenhand.core.results import OF_ONE_VALUE, Finding, Panel
from evenhand.cube import tables
from evenhand.cube.cube import Cube
from evenhand.cube.privacy import Sharing
from evenhand.errors import DataError, EvenhandError, short_path
from evenhand.report.json import FORMAT, FORMAT_VERSION, ORIGIN, digests
from evenhand.verdicts import comparison
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.comparison import Plan
from evenhand.verdicts.policy import ALL, Policy
from evenhand.verdicts.request import Request

MOST_BYTES = 512 * 1024**2

_AGAIN = "Save the audit again: audit.save('audit.json'), or evenhand audit … -o audit.json."


def load(path: Path) -> Audit:
    """Read an audit that was saved as JSON."""
    shown = repr(short_path(path))
    data = _parse(read_text(path, "an audit", MOST_BYTES), shown)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DataError(f"{shown} is JSON but not an audit. {_AGAIN}")
    version = data.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise DataError(
            f"{shown} is an audit in version {records.shown(version)} of the form; this evenhand reads version "
            f"{FORMAT_VERSION}. It was made by evenhand {records.shown(data.get('evenhand'))}: use that one."
        )
    if data.get("cube", ...) is None:
        raise DataError(
            f"{shown} was saved without its counts (--no-cube): any program can read it as JSON, and nothing can be "
            "computed or drawn from it again. Save the audit with them, or as a page (.html)."
        )
    try:
        audit = _build(data)
        if data.get("verdict") != audit.verdict:
            told = records.shown(data.get("verdict"))
            raise records.MisfitError(f"its verdict is {told}, but its findings give {audit.verdict!r}")
        checksum.check(data, **digests(audit))
    except (ValueError, EvenhandError, RecursionError) as error:
        raise DataError(f"{shown} is a damaged audit: {error}. {_AGAIN}") from None
    return audit


def _parse(text: str, shown: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"{shown} is not an audit, or only a part of one: {error.msg} at {where}. {_AGAIN}") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
        raise DataError(f"{shown} is not an audit: {why}. {_AGAIN}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _build(data: dict[str, Any]) -> Audit:
    for key in ("cube", "policy", "findings", "notes", "required"):
        if key not in data:
            raise records.MisfitError(f"it lacks {key!r}")
    room = tables.Room()
    cube = tables.read(records.read(dict[str, Any], data["cube"], "cube"), room)
    parts = records.read(tuple[dict[str, Any], ...], data.get("parts", []), "parts")
    audit = Audit(
        cube,
        read_policy(records.read(dict[str, Any], data["policy"], "policy"), _cover(data)),
        tuple(map(_with_roles, records.read(tuple[Finding, ...], data["findings"], "findings"))),
        records.read(tuple[str, ...], data["notes"], "notes"),
        records.read(tuple[str, ...], data["required"], "required"),
        sharing=_sharing(data.get("sharing")),
        parts=tuple(tables.read(part, room) for part in parts),
        origin={
            key: records.read(str, data.get(key), key)
            for key in ("evenhand", "created", *ORIGIN)
            if key in data or key in ("evenhand", "created")
        },
    )
    for part in audit.parts:
        if not set(part.meaning.sensitive) <= set(audit.meaning.sensitive):
            raise records.MisfitError("its parts are about other attributes")
    return replace(audit, findings=tuple(with_bases(audit)))


def _cover(data: dict[str, Any]) -> Cover:
    """What the makers say. Files of version 0.2 have a title and a note by themselves."""
    told = data.get("cover", {key: data[key] for key in ("title", "note") if key in data})
    records.refuse_unknown(Cover, records.read(dict[str, Any], told, "cover"), "cover")
    return records.read(Cover, told, "cover")


def _sharing(told: Any) -> Sharing | None:
    """What was left out of a shared audit. Files that were saved before audits could be shared do not say."""
    if told is None or not records.read(dict[str, Any], told, "sharing").get("shared"):
        return None
    return records.read(Sharing, told, "sharing")


def with_bases(audit: Audit) -> list[Finding]:
    """The findings with what they were judged by, as far as their settings tell: those of metrics of the catalogue."""
    plans = {names: _plan(audit.counts(names, control=False), audit.reference) for names in audit.counted_sets}
    bases = [_basis(audit, finding, plans.get(finding.attributes)) for finding in audit.findings]
    return [replace(finding, basis=basis) for finding, basis in zip(audit.findings, bases, strict=True)]


def _plan(cube: Cube, reference: Any) -> Plan:
    sizes = dict(zip(cube.groups, cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    return comparison.plan(reference, cube.meaning.sensitive, cube.groups, sizes, comparison.Convention())


def _basis(audit: Audit, finding: Finding, plan: Plan | None) -> Basis | None:
    """The request and the plan of a finding; None where its metric or its groups are not known here."""
    metric, settings = METRICS.get(finding.metric), finding.settings
    if metric is None or plan is None:
        return None
    if finding.judged_on not in OF_ONE_VALUE and settings.get("against") != (plan.name or "extremes"):
        return None
    request = Request(
        metric,
        finding.judged_on,
        finding.threshold,
        records.read(str, settings.get("aggregate", metric.aggregate), "aggregate"),
        _judged_by(audit.policy, settings),
        audit.reference,
        records.read(cast(Any, str | None), settings.get("convention"), "convention"),
        {name: records.read(type(usual), settings.get(name, usual), name) for name, usual in metric.options.items()},
        strata=len(audit.counts(finding.attributes).strata),
        family=_family(settings),
    )
    if finding.judged_on in OF_ONE_VALUE:
        return Basis(request)
    # A convention may pool groups or drop signs, which the settings do not tell in full.
    return Basis(request, plan, audit.counts(finding.attributes) if request.convention is None else None)


def _family(settings: Mapping[str, object]) -> int:
    """How many findings share the error probability of a fail."""
    family = records.read(int, settings.get("family", 1), "family")
    if family < 1:
        raise records.MisfitError(f"family is {family}, not a number of findings")
    return family


def _judged_by(policy: Policy, settings: Mapping[str, object]) -> Policy:
    """The policy of the audit, or what a finding tells of another one."""
    least = records.read(int, settings.get("min_group_size", policy.min_group_size), "min_group_size")
    confidence = records.read(float, settings.get("confidence", policy.confidence), "confidence")
    if (least, confidence) == (policy.min_group_size, policy.confidence):
        return policy
    return replace(policy, min_group_size=least, confidence=confidence)


# Files saved before panels had roles: what the titles of two kinds of panels end with.
_ROLES_BY_TITLE = {"Calibration by group": "calibration", "within strata and over all of them": "strata"}


def _with_roles(finding: Finding) -> Finding:
    """The finding; panels from a file that has no roles get theirs by title."""
    return replace(finding, panels=tuple(_with_role(panel) for panel in finding.panels))


def _with_role(panel: Panel) -> Panel:
    role = next((role for ending, role in _ROLES_BY_TITLE.items() if panel.title.endswith(ending)), "")
    return panel if panel.role or not role else replace(panel, role=role)


def read_policy(data: dict[str, Any], cover: Cover) -> Policy:
    """The policy. Metrics that somebody made stay in it by name, though no new audit can compute them."""
    records.refuse_unknown(Policy, data, "policy")
    made = {key: names for key in ("required", "metrics") if (names := data.get(key)) and not _known(names)}
    policy = records.read(Policy, {**data, **dict.fromkeys(made)}, "policy")
    for key, names in made.items():
        object.__setattr__(policy, key, records.read(tuple[str, ...], names, f"policy.{key}"))
    object.__setattr__(policy, "cover", cover)
    return policy


def _known(names: Any) -> bool:
    known = isinstance(names, list) and all(name in METRICS or name in ALIASES for name in names if type(name) is str)
    return known or names == ALL
