"""An audit from its JSON: the findings as they were judged, and the cube they rest on. No data is needed.

A file is input like any other: whatever is wrong with it is an error that says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from evenhand.audits.audit import Audit
from evenhand.catalogue import ALIASES, METRICS
from evenhand.core import records
from evenhand.core.files import read_text
from evenhand.core.results import Finding
from evenhand.cube import tables
from evenhand.errors import DataError, EvenhandError, short_path
from evenhand.report.json import FORMAT, FORMAT_VERSION
from evenhand.verdicts.policy import Policy

MOST_BYTES = 512 * 1024**2

_AGAIN = "Save the audit again: audit.save('audit.json'), or evenhand audit … -o audit.json."


def load(path: Path) -> Audit:
    """Read an audit that was saved as JSON."""
    shown = repr(short_path(path))
    told = _parse(read_text(path, "an audit", MOST_BYTES), shown)
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DataError(f"{shown} is JSON but not an audit. {_AGAIN}")
    version = told.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise DataError(
            f"{shown} is an audit in version {records.shown(version)} of the form; this evenhand reads version "
            f"{FORMAT_VERSION}. It was made by evenhand {records.shown(told.get('evenhand'))}: use that one."
        )
    if told.get("cube", ...) is None:
        raise DataError(
            f"{shown} was saved without its counts (--no-cube): any program can read it as JSON, and nothing can be "
            "computed or drawn from it again. Save the audit with them, or as a page (.html)."
        )
    try:
        found = _build(told)
    except (ValueError, EvenhandError) as error:
        raise DataError(f"{shown} is a damaged audit: {error}. {_AGAIN}") from None
    if told.get("verdict") != found.verdict:
        raise DataError(
            f"{shown} contradicts itself: it says {records.shown(told.get('verdict'))}, and its findings come to "
            f"{found.verdict!r}. {_AGAIN}"
        )
    return found


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


def _build(told: dict[str, Any]) -> Audit:
    for key in ("cube", "policy", "findings", "notes", "required"):
        if key not in told:
            raise records.MisfitError(f"it lacks {key!r}")
    return Audit(
        tables.read(records.read(dict[str, Any], told["cube"], "cube")),
        _policy(records.read(dict[str, Any], told["policy"], "policy")),
        records.read(tuple[Finding, ...], told["findings"], "findings"),
        records.read(tuple[str, ...], told["notes"], "notes"),
        records.read(tuple[str, ...], told["required"], "required"),
        origin={
            key: records.read(str, told.get(key), key)
            for key in ("evenhand", "created", "source", "command")
            if key in told or key in ("evenhand", "created")
        },
    )


def _policy(told: dict[str, Any]) -> Policy:
    """The policy. Metrics that somebody made stay in it by name, though no new audit can compute them."""
    records.refuse_unknown(Policy, told, "policy")
    made = {key: names for key in ("required", "metrics") if (names := told.get(key)) and not _known(names)}
    policy = records.read(Policy, {**told, **dict.fromkeys(made)}, "policy")
    for key, names in made.items():
        object.__setattr__(policy, key, records.read(tuple[str, ...], names, f"policy.{key}"))
    return policy


def _known(names: Any) -> bool:
    return isinstance(names, list) and all(name in METRICS or name in ALIASES for name in names if type(name) is str)
