"""What it takes to compute the findings of an audit again, at another cutoff and without Python.

That is what the script of a page reads: the measures as rows of coefficients, how each finding was made, and the
critical values of its intervals. A finding can be computed again if its measures are plain rows of `MEASURES`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.audits import page_counts
from evenhand.catalogue import Metric
from evenhand.core.arrays import Floats
from evenhand.core.results import Finding, spell
from evenhand.cube.cube import Cube
from evenhand.inference import critical
from evenhand.measures.cells import CELLS, MEASURES, CellMeasure, cell_measures
from evenhand.verdicts import comparison
from evenhand.verdicts.basis import Basis
from evenhand.verdicts.comparison import Convention, Plan
from evenhand.verdicts.selective_labels import settled_by

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit


@dataclass(frozen=True)
class Recomputation:
    """Tables for computing the findings of an audit again, as plain data ready for JSON."""

    audit: Audit

    def page_data(self, *, embed_cube: bool = True) -> dict[str, Any]:
        """What the script of a page computes with: the tables, and the counts, packed.

        `counts` is None where the counts stay here or nothing can be recomputed.

        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0, 1, 1] * 9, sensitive=["a", "a", "b", "b"] * 9)
        >>> sorted(audit.recomputation.page_data()), audit.recomputation.page_data(embed_cube=False)["counts"]
        (['counts', 'tables'], None)
        """
        if not embed_cube or self.audit.meaning.task != "binary" or _is_fixed(self.audit):
            return {"tables": self.tables(findings=False), "counts": None}
        _, packed = page_counts.fitted(self.audit.parts or (self.audit.cube,))
        return {"tables": self.tables(), "counts": packed}

    def tables(self, *, findings: bool = True) -> dict[str, Any]:
        """Everything in one mapping; without `findings`, only what measures of single groups take."""
        plans, values = (self.plans, self.critical_values) if findings else ([], {})
        return {**self._of_groups, "plans": plans, "critical": values}

    @cached_property
    def _of_groups(self) -> dict[str, Any]:
        """What measures of single groups take; `own` has the critical values of their intervals."""
        policy = self.audit.policy
        return {
            "cells": list(CELLS),
            "measures": measures(),
            "own": [_round(critical.sidak(count, policy.confidence)) for count in range(self._most_groups + 1)],
            "policy": {name: getattr(policy, name) for name in ("confidence", "interval", "min_group_share")},
            "attribute_sets": [list(names) for names in self.audit.counted_sets],
            "codes": {name: _codes(self.audit.counts(name), name) for name in self.audit.meaning.sensitive},
        }

    @cached_property
    def plans(self) -> list[dict[str, Any]]:
        """How each finding that can be computed again was made; none within strata, where the worst stratum counts."""
        meaning = self.audit.meaning
        if meaning.control or meaning.task != "binary" or _is_fixed(self.audit):
            return []
        usual = {names: _usual_plan(self.audit, names) for names in self.audit.counted_sets}
        return [
            _plan(place, finding, finding.basis, usual[finding.attributes])
            for place, finding in enumerate(self.audit.findings)
            if isinstance(finding.basis, Basis)
            and finding.attributes in usual
            and finding.basis.plan == usual[finding.attributes]
            and finding.basis.request.convention is None
            and recomputable(finding.basis.request.metric)
            and _rests_on_the_cube(self.audit, finding)
        ]

    @cached_property
    def critical_values(self) -> dict[str, Any]:
        """The critical values that the plans name."""
        kinds = {plan["critical"]: plan for plan in self.plans}
        return {
            name: _critical(plan["kind"], plan["levels"], len(plan["measures"]), self._most_groups)
            for name, plan in kinds.items()
        }

    @cached_property
    def _most_groups(self) -> int:
        """The number of groups in the set of attributes that has most."""
        sizes = [len(self.audit.counts(names, control=False).pairs) for names in self.audit.counted_sets]
        return max(sizes, default=0)


def _codes(part: Cube, attribute: str) -> dict[str, str]:
    """The values of an attribute that say little by themselves, with what people read in their place."""
    shown = {group[0]: spell(group, (attribute,)) for group in part.groups if group[0] is not None}
    return {value: name for value, name in shown.items() if value is not None and name != value}


# --- Measures --------------------------------------------------------------------------------------------------------


def measures() -> list[dict[str, Any]]:
    """The rows of `MEASURES` with their coefficients, as plain data."""
    return [_measure(row) for row in MEASURES.values()]


def _measure(row: CellMeasure) -> dict[str, Any]:
    form, (top, bottom) = row.form, row.coefficients
    told = {name: getattr(row, name) for name in ("name", "title", "unit", "empty", "formula", "share")}
    return {
        **told,
        "needs": sorted(row.needs),
        "labels_of": list(row.labels_of),
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


# --- Plans: how findings were made -----------------------------------------------------------------------------------


def recomputable(metric: Metric) -> bool:
    """Is the metric made of plain rows of `MEASURES` that have an interval?"""
    plain = [row for row in cell_measures(metric.rows) if not row.share and (row.of or row.form)]
    return bool(plain) and len(plain) == len(metric.rows) and not metric.binned


def _usual_plan(audit: Audit, attributes: tuple[str, ...]) -> Plan:
    """What the policy of the audit compares these groups with; somebody may have added a finding that differs."""
    cube = audit.counts(attributes)
    sizes = dict(zip(cube.groups, cube.n.sum(axis=(1, 2)).tolist(), strict=True))
    return comparison.plan(audit.reference, attributes, cube.groups, sizes, Convention())


_POLICY = ("min_group_size", "min_reference_share", "small_groups", "missing_labels")
"""What a plan takes from the policy."""


def _plan(place: int, finding: Finding, basis: Basis, plan: Plan) -> dict[str, Any]:
    request = basis.request
    kind = "pairs" if plan.between_extremes else "family"
    return {
        "finding": place,
        "metric": finding.metric,
        "attributes": list(finding.attributes),
        "measures": [row.name for row in request.metric.rows],
        "judged_on": finding.judged_on,
        "threshold": request.threshold,
        "aggregate": request.aggregate,
        "settled": settled_by(request.metric, request.judged_on),
        "one_sided": request.one_sided,
        **{name: getattr(request.policy, name) for name in _POLICY},
        "against": plan.against,
        "against_name": plan.name if plan.reference is None else spell(plan.reference, finding.attributes),
        "reference": None if plan.reference is None else list(plan.reference),
        "kind": kind,
        "levels": [request.confidence, request.near_confidence],
        "critical": f"{kind} {request.confidence!r} {request.family} {len(request.metric.rows)}",
    }


def _rests_on_the_cube(audit: Audit, finding: Finding) -> bool:
    """Do the groups have the values that the finding says? Somebody may have added one made from other data."""
    groups = [group for _, group in audit.counts(finding.attributes, control=False).pairs]
    values = {
        (each.measure.name, group): float(value)
        for each in audit.measures(finding.attributes)
        for group, value in zip(groups, each.values, strict=True)
    }
    return all(
        _same(values.get((row.measure, row.group), math.nan), row.estimate.value)
        for row in finding.groups
        if row.estimate is not None
    )


def _is_fixed(audit: Audit) -> bool:
    """Can nothing be computed from the counts again? They were changed to hide small cells, as in files of version 0.1,
    or rows belong together, and how much they vary is known at the audited cutoff only."""
    return audit.cube.clustered or any(fact.startswith("cells_") for fact in audit.cube.facts)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


# --- Critical values -------------------------------------------------------------------------------------------------

_FEW_GROUPS = 24
"""Up to so many groups Tukey's critical value is computed; beyond, it is interpolated."""


def _critical(kind: str, levels: Sequence[float], rows: int, most: int) -> dict[str, list[float]]:
    """Critical values of both ends of an interval for 0 to `most` groups, with that many measures side by side.

    `levels` are the confidence of the interval and that of its near end.
    """
    confidence, near_confidence = levels
    share = near_confidence ** (1 / rows)
    near = tukey(share, most) if kind == "pairs" else [critical.sidak(count, share) for count in range(most + 1)]
    far = [critical.one_sided(q, confidence) for q in near]
    return {"near": [_round(q) for q in near], "far": [_round(c) for c in far]}


def _round(value: float) -> float:
    return float(f"{value:.13g}")


def tukey(share: float, most: int) -> list[float]:
    """Tukey's critical value for 0 to `most` groups.

    It takes a while to compute, and beyond a few groups it is so smooth in their logarithm that the polynomial through
    a few of its values is right to ten digits.
    """
    exact = [critical.tukey(count, share) for count in range(min(most, _FEW_GROUPS) + 1)]
    if most <= _FEW_GROUPS:
        return exact
    spaced = (1 - np.cos(np.pi * np.arange(15) / 14)) / 2
    nodes = np.unique(np.rint(_FEW_GROUPS / 2 * (2 * most / _FEW_GROUPS) ** spaced))
    known = np.array([critical.tukey(int(count), share) for count in nodes])
    counts = np.arange(_FEW_GROUPS + 1, most + 1)
    return [*exact, *_interpolated(np.log(nodes), known, np.log(counts)).tolist()]


def _interpolated(x: Floats, y: Floats, at: Floats) -> Floats:
    """The polynomial through all points, in its barycentric form."""
    apart = (x[:, None] - x[None, :]) / (x[-1] - x[0])
    np.fill_diagonal(apart, 1.0)
    away = at[:, None] - x[None, :]
    hit = away == 0
    weights = 1 / apart.prod(axis=1) / np.where(hit, 1.0, away)
    smooth = (weights * y).sum(axis=1) / weights.sum(axis=1)
    return np.asarray(np.where(hit.any(axis=1), (hit * y).sum(axis=1), smooth))
