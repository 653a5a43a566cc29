"""What the HTML page computes with: rows of coefficients, critical values, how each finding was made, the packed cube.

The page recomputes every finding whose measures are plain rows of `measures.MEASURES`, on the cube as it leaves in a
file (`privacy.shared`). Python on that same cube (`embedded`), decided at the same cutoff (`decided`), gives the same
numbers.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.audits.audit import attribute_sets
from evenhand.catalogue import METRICS, Metric
from evenhand.core.arrays import Floats
from evenhand.core.results import Finding
from evenhand.cube import privacy
from evenhand.cube.cube import Cube
from evenhand.inference import critical
from evenhand.measures.cells import CELLS, MEASURES, Measure
from evenhand.measures.scores import NEGATIVE, POSITIVE, Binned
from evenhand.verdicts import comparison
from evenhand.verdicts.comparison import Convention, Plan
from evenhand.verdicts.policy import Policy, Request, request
from evenhand.verdicts.table import Table, tabulate

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit


MOST_BYTES = 250_000
"""Of the packed cube, so that the data of a page stays below 330 KB; a larger cube is cut into fewer bins."""

_FEWEST_BINS = 32


def build(audit: Audit, *, embed_cube: bool = True, smallest_cell: int = privacy.LEAST) -> dict[str, Any]:
    """What the page computes with, as plain data ready for JSON.

    `cube` is base64 of raw deflate of JSON, or None where nothing can be recomputed; `notes` say what was made coarser.

    >>> import evenhand as eh
    >>> found = eh.audit(prediction=[1, 0, 1, 1] * 9, sensitive=["a", "a", "b", "b"] * 9)
    >>> sorted(build(found)), build(found, embed_cube=False)["cube"]
    (['cube', 'notes', 'tables'], None)
    """
    if not embed_cube or audit.cube.meaning.task != "binary":
        return {"tables": _tables(audit, []), "cube": None, "notes": []}
    inside, packed = _fitted(audit.cube, smallest_cell)
    notes = privacy.notes(inside, smallest_cell)
    return {"tables": _tables(audit, _plans(audit)), "cube": packed, "notes": notes}


def pack(value: Any) -> str:
    """Plain data as base64 of raw deflate of JSON, as the page's DecompressionStream("deflate-raw") reads it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(squeeze.compress(text.encode()) + squeeze.flush()).decode()


def unpack(text: str) -> Any:
    """The plain data that `pack` was given.

    >>> unpack(pack({"n": [5, 7]}))
    {'n': [5, 7]}
    """
    return json.loads(zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS))


# --- Tables ----------------------------------------------------------------------------------------------------------


def _tables(audit: Audit, plans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    policy, cube = audit.policy, audit.cube
    known = dict.fromkeys(found.attributes for found in audit.findings)
    sets = [names for names in known if set(names) <= set(cube.meaning.sensitive)]
    sets = sets or attribute_sets(cube, policy.intersections)[0]
    most = max([len(cube.marginal(names, control=False).pairs) for names in sets], default=0)
    values: dict[str, Any] = {}
    for plan in plans:
        if plan["critical"] not in values:
            values[plan["critical"]] = _critical(plan["kind"], plan["confidence"], len(plan["measures"]), most)
    return {
        "cells": list(CELLS),
        "measures": measures(),
        "plans": list(plans),
        "critical": values,
        "own": [_digits(critical.sidak(count, policy.confidence)) for count in range(most + 1)],
        "policy": {name: getattr(policy, name) for name in ("confidence", "interval", "min_group_share")},
        "attribute_sets": [list(names) for names in sets],
    }


def measures() -> list[dict[str, Any]]:
    """The rows of `measures.MEASURES` as the page evaluates them: the same coefficients, no second copy."""
    return [_measure(row) for row in MEASURES.values()]


def _measure(row: Measure) -> dict[str, Any]:
    form, (top, bottom) = row.form, row.coefficients
    told = {name: getattr(row, name) for name in ("name", "title", "unit", "empty", "formula", "share")}
    return {
        **told,
        "needs": sorted(row.needs),
        "of": list(row.of),
        "total": not row.of and not row.denominator,
        "top": top.tolist(),
        "bottom": bottom.tolist(),
        "form": None
        if form is None
        else {
            "top": form.top.tolist(),
            "rest": form.rest.tolist(),
            "alpha": form.alpha,
            "beta": form.beta,
            "gamma": form.gamma,
        },
    }


def _critical(kind: str, confidence: float, rows: int, most: int) -> dict[str, list[float]]:
    """Critical values of near and far ends for 0 to `most` groups, with so many measures side by side."""
    share = confidence ** (1 / rows)
    near = _tukey(share, most) if kind == "pairs" else [critical.sidak(count, share) for count in range(most + 1)]
    far = [critical.one_sided(q, confidence) for q in near]
    return {"near": [_digits(q) for q in near], "far": [_digits(c) for c in far]}


def _digits(value: float) -> float:
    return float(f"{value:.13g}")


_FEW = 24


def _tukey(share: float, most: int) -> list[float]:
    """Tukey's value for every number of groups.

    It takes a while to compute, and beyond a few groups it is so smooth in their logarithm that the polynomial through
    a few of its values is right to ten digits.
    """
    exact = [critical.tukey(count, share) for count in range(min(most, _FEW) + 1)]
    if most <= _FEW:
        return exact
    spaced = (1 - np.cos(np.pi * np.arange(15) / 14)) / 2
    nodes = np.unique(np.rint(_FEW / 2 * (2 * most / _FEW) ** spaced))
    known = np.array([critical.tukey(int(count), share) for count in nodes])
    places = np.arange(_FEW + 1, most + 1)
    return [*exact, *_interpolated(np.log(nodes), known, np.log(places)).tolist()]


def _interpolated(x: Floats, y: Floats, at: Floats) -> Floats:
    """The polynomial through all points, in its barycentric form."""
    apart = (x[:, None] - x[None, :]) / (x[-1] - x[0])
    np.fill_diagonal(apart, 1.0)
    away = at[:, None] - x[None, :]
    hit = away == 0
    weights = 1 / apart.prod(axis=1) / np.where(hit, 1.0, away)
    smooth = (weights * y).sum(axis=1) / weights.sum(axis=1)
    return np.asarray(np.where(hit.any(axis=1), (hit * y).sum(axis=1), smooth))


# --- Plans: how findings were made -----------------------------------------------------------------------------------


def recomputable(metric: Metric) -> bool:
    """Is it made of measures that the page knows with their intervals?"""
    plain = [row for row in metric.rows if isinstance(row, Measure) and not row.share and (row.of or row.form)]
    return bool(plain) and len(plain) == len(metric.rows) and not metric.binned


def _plans(audit: Audit) -> list[dict[str, Any]]:
    """How each finding that the page recomputes was made; none where strata are held fixed: the worst one speaks."""
    cube = audit.cube
    if cube.meaning.control:
        return []
    reference = comparison.check_reference(audit.policy.reference, cube.meaning.sensitive, cube.groups)
    plans = [_plan(audit, place, found, reference) for place, found in enumerate(audit.findings)]
    return [plan for plan in plans if plan is not None]


def _plan(audit: Audit, place: int, found: Finding, reference: Any) -> dict[str, Any] | None:
    metric = METRICS.get(found.metric)
    if metric is None or not recomputable(metric) or not set(found.attributes) <= set(audit.cube.meaning.sensitive):
        return None
    cube = audit.cube.marginal(found.attributes)
    sizes = dict(zip(cube.groups, cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    plan = comparison.plan(reference, found.attributes, cube.groups, sizes, Convention())
    if not _as_planned(found, plan) or not _speaks_of(found, tabulate(metric.rows, cube, plan)):
        return None
    asked = _asked(audit, metric, found)
    kind = "pairs" if plan.between_extremes else "family"
    return {
        "finding": place,
        "metric": metric.name,
        "attributes": list(found.attributes),
        "measures": [row.name for row in metric.rows],
        "judged_on": asked.judged_on,
        "threshold": asked.threshold,
        "aggregate": asked.aggregate,
        "one_sided": asked.one_sided,
        "confidence": asked.confidence,
        "min_group_size": asked.policy.min_group_size,
        "against": plan.against,
        "against_name": plan.name,
        "reference": None if plan.reference is None else list(plan.reference),
        "kind": kind,
        "critical": f"{kind} {asked.confidence!r} {len(metric.rows)}",
    }


def _as_planned(found: Finding, plan: Plan) -> bool:
    """Were groups set side by side as the audit's policy says? Somebody may have added a finding of their own."""
    against = found.settings.get("against")
    return against == (plan.name or "extremes") and found.settings.get("convention") is None


def _speaks_of(found: Finding, table: Table) -> bool:
    """Does a finding rest on these counts? Of an audit from a file they are coarser than what was audited."""
    if any(fact in table.cube.facts for fact in privacy.FACTS):
        return True
    values = {
        (row.name, group): float(value)
        for row, line in zip(table.measures, table.values, strict=True)
        for group, value in zip(table.groups, line, strict=True)
    }
    return all(
        _same(values.get((row.measure, row.group), math.nan), row.estimate.value)
        for row in found.groups
        if row.estimate is not None
    )


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


def _asked(audit: Audit, metric: Metric, found: Finding) -> Request:
    """The request behind a finding, as its settings tell it."""
    told: Any = found.settings
    judged_by = Policy(
        min_group_size=told.get("min_group_size", audit.policy.min_group_size),
        confidence=told.get("confidence", audit.policy.confidence),
        min_group_share=audit.policy.min_group_share,
    )
    asked = request(metric, policy=judged_by, judged_on=found.judged_on, aggregate=told.get("aggregate"))
    return replace(asked, threshold=found.threshold)


# --- The cube --------------------------------------------------------------------------------------------------------


def embedded(cube: Cube, least: int = privacy.LEAST) -> Cube:
    """The cube as the page holds it: small cells made coarser, strata summed over, in as many bins as there is room.

    Sums of weights are rounded to seven digits, which is most of what a weighted cube takes.
    """
    return _fitted(cube, least)[0]


def _fitted(cube: Cube, least: int) -> tuple[Cube, str]:
    """The cube as the page holds it, and packed."""
    inside = _rounded(privacy.shared(cube, least).marginal(control=False))
    packed = pack(cells(inside))
    while inside.scores is not None and len(packed) > MOST_BYTES:
        fewer = inside.scores.bins.count // 2 + len(inside.scores.reading.edges)
        if fewer < _FEWEST_BINS or fewer >= inside.scores.bins.count:
            break
        inside = _rounded(inside.coarsen(fewer))
        packed = pack(cells(inside))
    return inside, packed


def _rounded(cube: Cube) -> Cube:
    if cube.w is None or cube.w2 is None:
        return cube
    scores = cube.scores
    if scores is not None:
        weights = {name: _seven_digits(scores.sums[name]) for name in ("w", "w2")}
        scores = replace(scores, sums={**scores.sums, **weights})
    return replace(cube, w=_seven_digits(cube.w), w2=_seven_digits(cube.w2), scores=scores)


def _seven_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.7g}") for value in values.reshape(-1).tolist()]).reshape(values.shape)


def cells(inside: Cube) -> dict[str, Any]:
    """A cube as the page reads it: the tables of (label, prediction) one after the other, scores as runs of bins."""
    told: dict[str, Any] = {
        "sensitive": list(inside.meaning.sensitive),
        "groups": [list(group) for _, group in inside.pairs],
        "values": [[group[0] for group in inside.marginal([name]).groups] for name in inside.meaning.sensitive],
        "has": inside.has,
        "n": inside.n.reshape(-1).tolist(),
        "scores": _scores(inside),
    }
    if inside.w is not None and inside.w2 is not None:
        told |= {"w": inside.w.reshape(-1).tolist(), "w2": inside.w2.reshape(-1).tolist()}
    return told


def _scores(inside: Cube) -> dict[str, Any] | None:
    """How many cells each row (a group and a label) has, and for each how many bins on from the one before it is.

    `first` sums the scores of labelled people by group and calibration bin.
    """
    table = inside.scores
    if table is None:
        return None
    reading, binned = table.reading, Binned.of(table, len(inside.pairs))
    row = table.pair * reading.labels + table.label
    before = np.where(np.diff(row, prepend=-1) != 0, -1, np.roll(table.bin, 1))
    by_edge = np.eye(len(reading.edges) - 1)[binned.by_edge]
    first = (binned.first[:, POSITIVE] + binned.first[:, NEGATIVE]) @ by_edge
    stops, audited = slider(inside)
    told: dict[str, Any] = {
        "stops": stops.tolist(),
        "audited": audited,
        "high": reading.bins.high,
        "edges": list(reading.edges),
        "by_edge": binned.by_edge.tolist(),
        "cells": np.bincount(row, minlength=len(inside.pairs) * reading.labels).tolist(),
        "step": (table.bin - before).tolist(),
        "n": table.n.tolist(),
        "first": first.reshape(-1).tolist(),
    }
    return told | ({name: table.sums[name].tolist() for name in ("w", "w2")} if table.weighted else {})


def slider(cube: Cube) -> tuple[Floats, int]:
    """The cutoffs that a cube of scores tells apart, rising, the last above every score; and which one was audited.

    The audited one stands for all that decide alike; −1 where a prediction decides, or nothing does.

    >>> cube = Cube.count(score=[1, 2, 3], cutoff=1.5, sensitive=["a", "b", "a"])
    >>> slider(cube)[0][:3].tolist(), slider(cube)[1]
    ([1.0, 1.5, 3.0], 1)
    """
    assert cube.scores is not None  # noqa: S101 - said in the first line
    bins, cutoff = cube.scores.bins, cube.scores.reading.cutoff
    stops = np.append(bins.starts, np.nextafter(bins.high, np.inf))
    if cutoff is None:
        return stops, -1
    place = min(int(np.searchsorted(stops, cutoff)), len(stops) - 1)
    stops[place] = cutoff
    return stops, place if cube.meaning.prediction is None else -1


def decided(cube: Cube, stop: int) -> Cube:
    """The cube as if those with a score at or above a stop of the slider had been chosen; −1 is as it was decided.

    Whoever has no score is undecided.

    >>> cube = Cube.count(score=[1, 2, 3], cutoff=1.5, sensitive=["a", "b", "a"])
    >>> decided(cube, 2).measures()["selection_rate"].tolist()
    [0.5, 0.0]
    """
    table = cube.scores
    if stop < 0 or table is None:
        return cube
    side = table.pair, table.label, (table.bin >= stop).astype(np.int64)
    kinds = {"n": table.n, **({name: table.sums[name] for name in ("w", "w2")} if cube.w is not None else {})}
    arrays: dict[str, Any] = {}
    for name, values in kinds.items():
        given = getattr(cube, name)
        again = np.zeros_like(given)
        np.add.at(again, side, values)
        again[:, :, 2] = given.sum(axis=2) - again.sum(axis=2)
        arrays[name] = again
    people = arrays["n"] > 0
    arrays = {name: np.where(people, values, 0).astype(values.dtype) for name, values in arrays.items()}
    meaning = replace(cube.meaning, prediction=None, cutoff=float(slider(cube)[0][stop]))
    return replace(cube, meaning=meaning, **arrays)
