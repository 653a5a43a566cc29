"""The columns that say where people are: controls of a cube, and a column of risks that is cut into bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.core.quantities import check_whole
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.errors import CallError, Problems, as_typed, listing, nearest, shorten
from evenhand.sources.read_arguments import DEFAULTS

_RISK = "risk"
_MOST_BINS = 1000


def counted(data: Any, said: Mapping[str, Any], risk: Any) -> tuple[Cube, tuple[str, ...]]:
    """The cube with its controls, and the names of those that the gap is split over."""
    wanted = said.get("control")
    others = {name: value for name, value in said.items() if name != "control"}
    cube = merge.counted(data, others)
    if cube is not None:
        if risk is not None:
            raise CallError(
                "a cube has no column of risks beside its controls: count it with the risk as control=, cut by bands=, "
                "and leave out risk=."
            )
        return cube, named_controls(cube, wanted)
    read = {**DEFAULTS, **others, **_with_risk(said, risk)}
    if wanted is None and risk is None:
        raise CallError(nothing_fixed())
    cube = Cube.count(data, **read)
    return cube, cube.meaning.control


def nothing_fixed() -> str:
    """What to say where nobody named a column."""
    return (
        "there is nothing to split the gap over: name the columns that say where people are with "
        f"{as_typed('control=', '--control')}, such as a department."
    )


def named_controls(cube: Cube, wanted: Any) -> tuple[str, ...]:
    """The controls of a cube that were named; all of them by default."""
    known = cube.meaning.control
    if not known:
        raise CallError(f"{nothing_fixed()[:-1]}; this cube was counted without any, so count it again.")
    if wanted is None:
        return known
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in known:
            raise CallError(f"{shorten(repr(name))} is not a control of this cube; {nearest(str(name), known)}")
    if len(set(names)) < len(names):
        raise CallError(f"control= names a column twice: {listing(names)}.")
    return tuple(name for name in known if name in names)


def _names(value: Any) -> list[str]:
    """The names that an argument holds, where it holds names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [str(name) for name in value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, (list, tuple)) else []


def _with_risk(said: Mapping[str, Any], risk: Any) -> dict[str, Any]:
    """The controls with the column of risks as one more, and the bands that cut it."""
    control = said.get("control")
    if risk is None:
        return {"control": control}
    bands = dict(said.get("bands") or {})
    edges = risk_edges(said.get("bins", DEFAULTS["bins"]))
    if isinstance(risk, str):
        if control is not None and (isinstance(control, Mapping) or not _names(control)):
            raise CallError("risk= names a column and control= holds arrays: give both as names, or both as arrays.")
        bands.setdefault(risk, edges)
        return {"control": [*_names(control), risk], "bands": bands}
    if control is not None and not isinstance(control, Mapping):
        raise CallError("risk= is an array: give control= as arrays too, by name, as in control={'department': ...}.")
    bands.setdefault(_RISK, edges)
    return {"control": {**(control or {}), _RISK: risk}, "bands": bands}


def risk_edges(bins: int) -> list[float]:
    """Where bins of risks are cut unless the caller says otherwise: at equal distances from 0 to 1."""
    problems = Problems()
    check_whole("bins", bins, 1, _MOST_BINS, problems)
    problems.raise_if_any(CallError)
    return [i / bins for i in range(bins + 1)]
