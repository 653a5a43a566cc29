"""What a page holds, read back in Python: its packed data, its stops, and the audit decided at another cutoff."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.audits import page_counts, recomputation
from evenhand.cube import cutoffs
from evenhand.cube.cube import Cube
from evenhand.verdicts.finding import judge
from evenhand.verdicts.selective_labels import judgeable


def unpack(text: str) -> Any:
    """The plain data that `core.records.pack` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS))


def embedded(audit: eh.Audit) -> list[Cube]:
    """The counts as a page holds them."""
    return page_counts.fitted(audit.parts or (audit.cube,))[0]


def stops(audit: eh.Audit) -> list[float]:
    """The cutoffs of the slider of a page."""
    first = embedded(audit)[0]
    return [] if first.scores is None else cutoffs.stops(first)[0].tolist()


def decided(cube: Cube, cutoff: float | None) -> Cube:
    """The cube as if those with a score at or above the cutoff had been chosen; None is as it was decided."""
    if cutoff is None or cube.scores is None:
        return cube
    starts = cube.scores.bins.starts[cube.scores.bin]
    meaning = replace(cube.meaning, prediction=None, cutoff=cutoff)
    return replace(cutoffs.decide(cube, 1.0 * (starts >= cutoff)), meaning=meaning)


def at(audit: eh.Audit, cutoff: float | None) -> eh.Audit:
    """What Python says of the counts of the audit itself, decided at a cutoff: of what a page recomputes."""
    there = replace(audit, cube=decided(audit.cube, cutoff), parts=tuple(decided(part, cutoff) for part in audit.parts))
    made = [each for each in audit.findings if each.basis and recomputation.recomputable(each.basis.request.metric)]
    requests = [replace(each.basis.request, strata=1, by_range=False) for each in made]
    findings = [judge(asked, there.counts(each.attributes)) for asked, each in zip(requests, made, strict=True)]
    required, _ = judgeable(
        audit.required, [each.basis.request.metric for each in made], there.cube, audit.policy.judged_on
    )
    return replace(there, findings=tuple(findings), required=required) if findings else there


def places(audit: eh.Audit, most: int = 5) -> list[int]:
    """At most so many stops of a page, spread over all of them."""
    count = len(stops(audit))
    return sorted({int(place) for place in np.linspace(0, max(count - 1, 0), most)}) if count else []
