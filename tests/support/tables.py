"""Small tables made of confusion counts, and how their findings are read."""

from __future__ import annotations

import pytest

import evenhand as eh

#            tp fp tn fn
HAND = {"A": (4, 1, 4, 1), "B": (2, 3, 3, 2), "C": (6, 2, 9, 3)}


def rows(confusion: dict[str, tuple[int, int, int, int]]) -> dict[str, list]:
    """One row for each person of the confusion counts."""
    label, prediction, sensitive = [], [], []
    for group, (tp, fp, tn, fn) in confusion.items():
        label += [1] * tp + [0] * fp + [0] * tn + [1] * fn
        prediction += [1] * (tp + fp) + [0] * (tn + fn)
        sensitive += [group] * (tp + fp + tn + fn)
    return {"label": label, "prediction": prediction, "sensitive": sensitive}


def selected(**shares: tuple[int, int]) -> dict[str, list]:
    """So many selected of so many, in each group."""
    found = rows({group: (yes, 0, of - yes, 0) for group, (yes, of) in shares.items()})
    return {"prediction": found["prediction"], "sensitive": found["sensitive"]}


def by_group(found: eh.Finding, part: str = "estimate") -> dict[str, float | None]:
    return {
        row.group[0]: None if getattr(row, part) is None else float(getattr(row, part))
        for row in found.groups
        if row.measure == found.groups[0].measure
    }


def close(value, rel=1e-12):
    return pytest.approx(value, rel=rel, abs=1e-15, nan_ok=True)


def decisions(gap: float = 0.0, joint: float = 0.0, size: int = 2000) -> dict[str, list]:
    """Race B is selected less often by `gap`; only women of race B less often by `joint`, men more often."""
    lines = []
    for race in "AB":
        for sex in "FM":
            shift = -gap * (race == "B") + joint * (1 if (race == "B") == (sex == "M") else -1)
            for label in (0, 1):
                selected = round(size * (0.5 + shift))
                lines += [(race, sex, label, 1, selected), (race, sex, label, 0, size - selected)]
    return dict(zip(("race", "sex", "y", "d", "n"), map(list, zip(*lines, strict=True)), strict=True))
