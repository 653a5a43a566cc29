"""Write tests/vectors: what Python says of small cubes at several cutoffs, for the script of the page to agree with.

Run it as `make stubs`; a test fails when the files have drifted, another when the script disagrees.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.audits import recomputation
from evenhand.audits.audit import Audit
from evenhand.catalogue import METRICS, find
from evenhand.core import records
from evenhand.core.results import Estimate, Finding, Row, pair_names, shown_names, spell
from evenhand.cube.cube import Cube
from evenhand.measures.base import undefined_reason
from evenhand.measures.cells import MEASURES, evaluate
from evenhand.measures.evaluate import MeasureValues, every_measure
from evenhand.measures.group_data import BinnedScores, GroupData
from evenhand.verdicts.notes import calibration
from evenhand.verdicts.selective_labels import is_settled

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "vectors"
sys.path.insert(0, str(ROOT / "tests"))

from support import page_data  # noqa: E402 - the line above makes it importable


def table(count: Callable[..., int], sensitive: dict[str, list[Any]], **axes: list[Any]) -> dict[str, Any]:
    """Every combination of the values, each for so many people as `count` says of their places."""
    names = [*sensitive, *axes]
    lists = [*sensitive.values(), *axes.values()]
    places = list(itertools.product(*(range(len(values)) for values in lists)))
    people = [count(*place) for place in places]
    columns = {
        name: [lists[i][place[i]] for place, n in zip(places, people, strict=True) if n > 0]
        for i, name in enumerate(names)
    }
    return {
        **{name: columns[name] for name in axes},
        "sensitive": {name: columns[name] for name in sensitive},
        "count": [n for n in people if n > 0],
    }


def _compas(**arguments: Any) -> dict[str, Any]:
    return {"data": eh.datasets.compas(), "label": "recidivated", "score": "decile", "count": "count", **arguments}


def _weighted() -> dict[str, Any]:
    grid = [round(0.04 * i, 2) for i in range(1, 25)]
    found = table(
        lambda g, y, s: (7 + 3 * g + 5 * s + 11 * y + g * s * y) % 13,
        {"region": ["north", "south", "east", None]},
        label=[0, 1],
        score=grid,
    )
    weights = [0.5 + 0.25 * (i % 7) for i in range(len(found["count"]))]
    return {**found, "weight": weights, "cutoff": 0.48}


def _many() -> dict[str, Any]:
    return table(
        lambda g, y, s: (17 + 29 * g + 7 * s + 3 * y + g * s) % (34 - g),
        {"team": [f"team {i:02}" for i in range(22)]},
        label=[0, 1],
        score=[1, 2, 3, 4],
    ) | {"cutoff": 3}


def _undefined() -> dict[str, Any]:
    """A group without positives, one without false positives, one of a handful of people."""
    counts = {("a", 0): (90, 30), ("a", 1): (20, 60), ("b", 0): (80, 0), ("b", 1): (12, 48), ("c", 0): (70, 9)}
    counts |= {("d", 0): (3, 4), ("d", 1): (2, 5), ("e", 0): (200, 3), ("e", 1): (40, 41)}
    rows = [(*key, decision, n) for key, pair in counts.items() for decision, n in enumerate(pair) if n]
    group, label, prediction, count = (list(column) for column in zip(*rows, strict=True))
    return {"label": label, "prediction": prediction, "count": count, "sensitive": {"group": group}}


def _both() -> dict[str, Any]:
    """A prediction that is not the score's, rows without a label, rows without a score."""
    return table(
        lambda g, y, d, s: (5 + 7 * g + 3 * y + 11 * d + 13 * s) % 17,
        {"who": ["</script><b>", "ʻokina", "[/red]"]},
        label=[0, 1, None],
        prediction=[0, 1],
        score=[0.1, 0.3, 0.35, 0.6, 0.9, None],
    )


def _selective() -> dict[str, Any]:
    """Labels for the selected only in two groups, for the refused only in one, for all in one, for nobody in one."""
    known = {"a": (0, 1), "b": (0, 1), "c": (1, 0), "d": (1, 1), "e": (0, 0)}
    found = table(
        lambda g, y, s: (11 + 5 * g + 7 * s + 3 * y + 2 * g * s) % 19 + 4,
        {"group": [*known]},
        label=[0, 1],
        score=[0.2, 0.5, 0.8],
    )
    rows = zip(found["sensitive"]["group"], found["label"], found["score"], strict=True)
    return {**found, "label": [label if known[group][score >= 0.5] else None for group, label, score in rows],
            "cutoff": 0.5}  # fmt: skip


def _partly() -> dict[str, Any]:
    """Labels for the selected only in one group, for the refused only in another; two have them all."""
    known = {"a": (1, 1), "b": (1, 1), "c": (0, 1), "d": (1, 0)}
    found = table(
        lambda g, y, s: (11 + 5 * g + 7 * s + 3 * y + 2 * g * s) % 19 + 150,
        {"group": [*known]},
        label=[0, 1],
        score=[0.2, 0.8],
    )
    rows = zip(found["sensitive"]["group"], found["label"], found["score"], strict=True)
    return {**found, "label": [label if known[group][score >= 0.5] else None for group, label, score in rows],
            "cutoff": 0.5}  # fmt: skip


def _unlabelled() -> dict[str, Any]:
    """Labels that are missing more often below the cutoff than above it, so that a pass must hold whatever they are."""
    grid = [0.1, 0.3, 0.5, 0.7, 0.9]

    def many(g: int, y: int, s: int) -> int:
        labelled = (300 + 40 * g) * (s + 1 if y else 5 - s)
        return (labelled + 7 * g * s) if y < 2 else (30 * (4 - s) + 5 * g) // (1 + 3 * (s == 2))

    return table(many, {"side": ["x", "y", "z", None]}, label=[0, 1, None], score=grid) | {"cutoff": 0.5}


def _huge() -> dict[str, Any]:
    return table(
        lambda g, y, s: 10_000_000 + 1_234_567 * ((5 * g + 3 * y + 7 * s + g * s) % 11),
        {"side": ["left", "middle", "right"]},
        label=[0, 1],
        score=[0.2, 0.4, 0.6, 0.8],
    ) | {"cutoff": 0.5}


def _ends() -> dict[str, Any]:
    """Everybody selected in a small group, nobody in another, and scores at which that changes."""
    selected = {"all": [0, 0, 12], "none": [40, 0, 0], "most": [20, 30, 650], "some": [300, 60, 240], "few": [14, 6, 9]}
    rows = [(name, score, n) for name, counts in selected.items() for score, n in enumerate(counts)]
    group, score, count = zip(*[(name, score, n) for name, score, n in rows if n], strict=True)
    return {"score": list(score), "count": list(count), "sensitive": {"side": list(group)}, "cutoff": 2}


def _below() -> dict[str, Any]:
    """One group that others may be measured by, which is selected least."""
    counts = {"most": [4000, 3000, 3000], "rare": [10, 40, 50], "few": [3, 6, 11]}
    group, score, count = zip(*[(name, i, n) for name, row in counts.items() for i, n in enumerate(row)], strict=True)
    return {"score": list(score), "count": list(count), "sensitive": {"side": list(group)}, "cutoff": 2}


_YARDSTICK = eh.Policy(reference="highest", min_reference_share=0.05, small_groups="inconclusive")
_RATIOS = eh.Policy(
    judged_on={"equalized_odds": "ratio", "average_odds": "ratio", "predictive_parity": "ratio"}, min_group_share=0.01
)
WHOLE = ("compas", "undefined")
"""The cases that hold every metric, and every measure of every group; the others hold one metric of each kind."""
CURVES = ("compas", "weighted", "prediction and score")
SHOWN = ("selection_rate", "f1")
FEW = (
    "equalized_odds",
    "disparate_impact",
    "average_odds",
    "average_absolute_odds_difference",
    "predictive_parity",
    "treatment_equality",
    "balanced_accuracy_equality",
)

# Roles, arguments of the audit, and the stops of the slider to look at (−1 is as decided).
CASES: dict[str, tuple[Callable[[], dict[str, Any]], dict[str, Any], tuple[int, ...]]] = {
    "compas": (lambda: _compas(cutoff=5, sensitive=["race", "sex"]), {"intersections": False}, (7,)),
    "crossed": (lambda: _compas(cutoff=5, sensitive=["sex", "race"]), {}, (2,)),
    "reference": (lambda: _compas(cutoff=5, sensitive="race"), {"reference": {"race": "Caucasian"}}, (-1, 7, 10)),
    "rest": (lambda: _compas(cutoff=5, sensitive="race"), {"reference": "rest"}, (-1, 6)),
    "overall": (lambda: _compas(cutoff=5, sensitive="sex"), {"reference": "overall"}, (-1, 3)),
    "highest": (lambda: _compas(cutoff=4.5, sensitive="race"), {"reference": "highest", "confidence": 0.9}, (4, 5)),
    "ratios": (lambda: _compas(cutoff=5, sensitive="race"), {"reference": "largest", "policy": _RATIOS}, (-1, 6)),
    "weighted": (_weighted, {}, (-1, 17)),
    "weighted rest": (_weighted, {"reference": "rest"}, (9,)),
    "many groups": (_many, {}, (1, 3)),
    "undefined": (_undefined, {}, (-1,)),
    "selective labels": (_selective, {}, (0, 1)),
    "selective rest": (_partly, {"reference": "rest"}, (1,)),
    "prediction and score": (_both, {"min_group_size": 200}, (-1, 2)),
    "ends": (_ends, {}, (-1,)),
    "yardstick": (_ends, {"policy": _YARDSTICK}, (1,)),
    "yardstick below": (_below, {"policy": eh.Policy(reference="highest", min_reference_share=0.05)}, (-1, 1)),
    "missing labels": (_unlabelled, {}, (1,)),
    "missing labels overall": (_unlabelled, {"reference": "overall"}, (-1, 1)),
    "huge": (_huge, {"policy": eh.Policy(familywise="audit")}, (2, 3)),
}


def names() -> list[str]:
    """The metrics that a page recomputes."""
    return [metric.name for metric in METRICS.values() if recomputation.recomputable(metric)]


def case(
    roles: dict[str, Any],
    arguments: dict[str, Any],
    stops: Iterable[int] | None,
    *,
    whole: bool = True,
    curves: bool = True,
    least: int = 0,
) -> dict[str, Any]:
    """What the page is given, and what Python says; only where it is `whole`, of every measure of every group.

    Without `stops` it is asked at all of them. With `least` the audit is one to share.
    """
    return audit_case(audit_of(roles, arguments, whole=whole, least=least), stops, whole=whole, curves=curves)


def audit_of(roles: dict[str, Any], arguments: dict[str, Any], *, whole: bool = False, least: int = 0) -> Audit:
    """The audit of a case; with `least` one to share."""
    cube = Cube.count(**roles)
    audit = cube.audit(metrics=_possible(cube, names() if whole else FEW), **arguments)
    return audit.shared(least) if least else audit


def audit_case(audit: Audit, stops: Iterable[int] | None, *, whole: bool = True, curves: bool = True) -> dict[str, Any]:
    """What the page of an audit is given, and what Python says at these stops, or at all of them."""
    built, cutoffs = audit.recomputation.page_data(), page_data.stops(audit)
    sets = built["tables"]["attribute_sets"]
    there = range(-1, len(cutoffs)) if stops is None else stops
    told = {
        "tables": {name: part for name, part in built["tables"].items() if name != "measures"},
        "counts": page_data.unpack(built["counts"]),
        "curves": [_curves(audit, attributes) for attributes in sets] if curves else [],
        "expected": [
            _expected(audit, stop, None if stop < 0 else cutoffs[stop], MEASURES if whole else SHOWN) for stop in there
        ],
    }
    return {name: _short(part) if name in ("curves", "expected") else part for name, part in told.items()}


def _possible(cube: Cube, chosen: Iterable[str]) -> list[str]:
    there = {role for role, present in cube.has.items() if present}
    return [name for name in chosen if find(name)[0].needs <= there]


def _expected(audit: Audit, stop: int, cutoff: float | None, measures: Collection[str]) -> dict[str, Any]:
    """Every group and every finding at a stop, from the audit's own counts."""
    again = page_data.at(audit, cutoff)
    sets = list(dict.fromkeys(found.attributes for found in again.findings))
    return {
        "stop": stop,
        "sets": [
            {
                "attributes": list(attributes),
                **_groups(again.counts(attributes), audit.policy.confidence, measures),
                "findings": [
                    {**_finding(found), **_undecided(found, again)}
                    for found in again.findings
                    if found.attributes == attributes
                ],
            }
            for attributes in sets
        ],
    }


def _groups(part: Cube, confidence: float, measures: Collection[str]) -> dict[str, Any]:
    told, data = every_measure(part, confidence, measures), GroupData(part)
    everyone = part.cells.sum(axis=0, keepdims=True)
    overall = {row.measure.name: float(evaluate(everyone, [row.measure])[row.measure.name][0]) for row in told}
    return {
        "overall": overall,
        "groups": [
            {
                "key": list(group),
                "people": int(part.n[i].sum()),
                "measures": {
                    row.measure.name: [
                        *_estimate(_known(row.values[i], row.low[i], row.high[i])),
                        int(row.support[i]),
                        *([_reason(row, data, i, part)] if math.isnan(row.values[i]) else []),
                    ]
                    for row in told
                },
            }
            for i, (_, group) in enumerate(part.pairs)
        ],
    }


def _reason(row: MeasureValues, data: GroupData, place: int, part: Cube) -> str:
    group = spell(part.pairs[place][1], part.meaning.sensitive)
    return undefined_reason(row.measure, data, place, group, int(row.support[place]))


def _known(value: float, low: float, high: float) -> Estimate:
    whole = not any(math.isnan(number) for number in (value, low, high))
    return Estimate(float(value), float(low), float(high)) if whole else Estimate(float(value))


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "metric": found.metric,
        "judged_on": found.judged_on,
        "threshold": found.threshold,
        "difference": _estimate(found.difference),
        "ratio": _estimate(found.ratio),
        "passes": found.passes,
        "verdict": found.verdict,
        **dict(zip(("highest", "lowest"), _names(found, found.summary), strict=True)),
        "value": _estimate(found.value),
        "shown": _estimate(found.shown),
        "evidence": _evidence(found),
        "left_out": shown_names(found.left_out, (row.group for row in found.rows), found.attributes),
    }


def _undecided(found: Finding, audit: Audit) -> dict[str, Any]:
    """Why values are undefined, and whether all or none are selected, so that nothing is judged; only where so."""
    reasons = list(dict.fromkeys(row.reason for row in found.groups if row.reason is not None))
    settled = is_settled(find(found.metric)[0], found.judged_on, audit.counts(found.attributes))
    return {**({"reasons": reasons} if reasons else {}), **({"settled": True} if settled else {})}


def _evidence(found: Finding) -> list[Any] | None:
    row = found.evidence
    if row is None:
        return None
    return [None if row.measure == found.metric else row.measure, *_names(found, row), row.n, row.n_against]


def _names(found: Finding, row: Row) -> list[str | None]:
    """The two groups of a row as people read them."""
    return [name or None for name in pair_names(row, (each.group for each in found.rows), found.attributes)]


def _estimate(shown: Estimate) -> list[Any]:
    return [shown.value, shown.low, shown.high]


def _curves(audit: Audit, attributes: Sequence[str]) -> dict[str, Any]:
    """The calibration bins, and the share of each group between two stops of the slider."""
    part = audit.counts(attributes, control=False)
    if part.scores is None:
        return {"attributes": list(attributes)}
    mass = BinnedScores.from_table(part.scores, len(part.pairs)).mass.sum(axis=1)
    place = np.searchsorted(page_data.stops(audit)[:-1], part.scores.bins.starts, side="right") - 1
    shares = np.stack([np.bincount(place, row, len(page_data.stops(audit)) - 1) for row in mass])
    shares /= np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    return {
        "attributes": list(attributes),
        "calibration": [list(row[:-1]) for row in calibration.curve(part).rows]
        if part.has_labels and part.has["score"]
        else [],
        "shares": shares.tolist(),
    }


def _short(value: Any) -> Any:
    """Numbers to 11 digits, so that no machine's last digit counts as a change."""
    if isinstance(value, float):
        return records.number(float(f"{value:.11g}"))
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, (list, tuple)) else value


def vectors() -> dict[str, Any]:
    """The content of each file: the measures that all cases share, and a file for each case."""
    found: dict[str, Any] = {"measures": recomputation.measures()}
    for name, (roles, arguments, stops) in CASES.items():
        found[name.replace(" ", "_")] = case(roles(), arguments, stops, whole=name in WHOLE, curves=name in CURVES)
    return found


def dumps(told: Any) -> str:
    return json.dumps(told, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, told in vectors().items():
        (FOLDER / f"{name}.json").write_text(dumps(told), encoding="utf-8")
    sizes = sum(path.stat().st_size for path in FOLDER.glob("*.json"))
    print(f"wrote {len(CASES) + 1} files, {sizes / 1000:.0f} KB")
