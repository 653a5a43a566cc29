"""Results as compact cards for notebooks: the verdict, its sentences, a small table and where the rest is.

A card needs no script, takes its colours from the notebook around it, and is smaller than 300 pixels and 30 KB: tables
and sentences have a most, and what a narrow notebook breaks into more lines is scrolled. Names of users are text that
the template escapes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from evenhand.report.cards.card import Card, render

# The module that makes the card of each class, which is named here and not imported: some need scikit-learn.
MAKERS = {
    "Audit": "audit",
    "Finding": "finding",
    "Changes": "change",
    "Contest": "change",
    "Trend": "change",
    "Sweep": "cutoff",
    "Thresholds": "cutoff",
    "Comparison": "cutoff",
    "Stability": "other",
    "Impossibility": "other",
    "Recommendation": "other",
}


def card(result: Any) -> Card:
    """The card of a result, by its class or a class that it extends."""
    name = next(each.__name__ for each in type(result).__mro__ if each.__name__ in MAKERS)
    make: Callable[[Any], Card] = getattr(import_module(f"evenhand.report.cards.{MAKERS[name]}"), name.lower())
    return make(result)


def html(result: Any) -> str:
    """The card of a result as HTML, with its own style."""
    return render(card(result))
