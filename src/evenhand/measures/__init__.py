"""Measures: a number for each group, from cells, score bins, sums of a regression, classes, or rows."""

from __future__ import annotations

from evenhand.measures.base import Measure
from evenhand.measures.cells import ALIASES, MEASURES, find_cell_measure, measure
from evenhand.measures.regression import REGRESSION_MEASURES
from evenhand.measures.scores import SCORE_MEASURES

__all__ = ["ALIASES", "MEASURES", "REGRESSION_MEASURES", "SCORE_MEASURES", "Measure", "find_measure", "measure"]


def find_measure(name: str | Measure) -> Measure:
    """The measure of any kind with this name or, for one made of cells, this alias; a measure is returned as it is.

    >>> find_measure("recall").title, find_measure("auc").made_of, find_measure("r_squared").title
    ('true positive rate', 'scores', 'R²')
    """
    if not isinstance(name, str):
        return name
    return SCORE_MEASURES.get(name) or REGRESSION_MEASURES.get(name) or find_cell_measure(name)
