"""One result of each kind that has a card, on real counts and on made-up people."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import evenhand as eh
from support import pages

_ROLES = {"label": "recidivated", "score": "decile", "count": "count", "sensitive": ["race", "sex"]}


def _changes() -> Any:
    return eh.diff(pages.compas(), eh.audit(eh.datasets.compas(), **_ROLES, cutoff=8))


def _trend() -> Any:
    cube = pages.compas().cube
    return eh.trend({"2026-01": cube, "2026-02": cube, "2026-03": cube}, metrics=["equalized_odds"])


def _stability() -> Any:
    rng = np.random.default_rng(0)
    logits = np.linspace(-3, 3, 400) + np.tile([0.2, 1.5], 200) * rng.normal(size=(50, 400))
    label = (np.linspace(-3, 3, 400) > 0).astype(int)
    return eh.stability(1 / (1 + np.exp(-logits)), label=label, sensitive={"team": ["north", "south"] * 200})


def _comparison() -> Any:
    from sklearn.linear_model import LogisticRegression

    from evenhand import mitigate

    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b"], 600)
    people = rng.normal(size=(600, 1)) + (race == "a")[:, None]
    label = (people[:, 0] + rng.normal(size=600) > 0.5).astype(int)
    plain = LogisticRegression()
    cut = mitigate.GroupThresholds(plain, constraint="demographic_parity", within=0.02)
    return mitigate.compare({"plain": plain, "cut by group": cut}, people, label, race)


def _thresholds() -> Any:
    from evenhand import mitigate

    return mitigate.find_thresholds(pages.compas().cube.marginal(["race"]))


def _contest() -> Any:
    rng = np.random.default_rng(0)
    group = rng.choice(["north", "south"], 2000)
    label = rng.binomial(1, np.where(group == "north", 0.6, 0.4))
    old = np.where(rng.random(2000) < 0.8, label, 1 - label)
    new = np.where(rng.random(2000) < np.where(group == "north", 0.9, 0.75), label, 1 - label)
    return eh.contest(label=label, predictions={"old": old, "new": new}, sensitive={"team": group})


KINDS: dict[str, Callable[[], Any]] = {
    "Audit": pages.compas,
    "Finding": lambda: pages.compas()["equalized_odds", "race"],
    "Changes": _changes,
    "Contest": _contest,
    "Trend": _trend,
    "Sweep": lambda: eh.sweep(pages.compas().cube.marginal(["sex"])),
    "Thresholds": _thresholds,
    "Comparison": _comparison,
    "Stability": _stability,
    "Impossibility": lambda: eh.impossibility(pages.compas(), attribute="race"),
    "Recommendation": lambda: eh.recommend(label_known=True, priority="both_errors", legal="us_employment"),
}


@cache
def result(kind: str) -> Any:
    """The result of that kind, made once."""
    return KINDS[kind]()


def in_notebook(*cards: str, dark: bool = False) -> str:
    """Cards one below the other on a page with the colours of a notebook."""
    colours = "background:#111;color:#e0e0e0" if dark else "background:#fff;color:#212121"
    body = "\n".join(f'<div class="output" style="margin:14px 0">{card}</div>' for card in cards)
    head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>cards</title></head>'
    return f'{head}<body style="{colours}"><main>{body}</main></body></html>'
