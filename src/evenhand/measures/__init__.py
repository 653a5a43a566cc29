"""Measures: a number for each group, from cells, score bins, sums of a regression, classes, or rows."""

from __future__ import annotations

from evenhand.measures import combinations
from evenhand.measures.base import Measure
from evenhand.measures.cells import ALIASES, MEASURES, find_cell_measure, measure
from evenhand.measures.combinations import COMBINATIONS
from evenhand.measures.lending import LENDING_MEASURES
from evenhand.measures.regression import REGRESSION_MEASURES
from evenhand.measures.scores import SCORE_MEASURES

__all__ = [
    "ALIASES",
    "COMBINATIONS",
    "LENDING_MEASURES",
    "MEASURES",
    "REGRESSION_MEASURES",
    "SCORE_MEASURES",
    "Measure",
    "find_measure",
    "measure",
]


def find_measure(name: str | Measure) -> Measure:
    """The measure of any kind with this name or, for one of decisions, this alias; a measure is returned as it is.

    >>> find_measure("recall").title, find_measure("auc").made_of, find_measure("r_squared").title
    ('true positive rate', 'scores', 'R²')
    """
    if not isinstance(name, str):
        return name
    own = COMBINATIONS.get(combinations.ALIASES.get(name, name))
    tables = (LENDING_MEASURES, SCORE_MEASURES, REGRESSION_MEASURES)
    return own or next((table[name] for table in tables if name in table), None) or find_cell_measure(name)
