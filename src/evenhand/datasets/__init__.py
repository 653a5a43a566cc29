"""Two real tables of counts, small enough to ship with the package: no download, and no personal data.

`compas` counts the 7,214 people of ProPublica's two-year COMPAS table (Broward County, 2013–2014; Larson et al.
2016) by race, sex, age band, decile score and whether they were arrested again. `berkeley` holds the admissions to
the six largest graduate departments at Berkeley in 1973 (Bickel, Hammel and O'Connell 1975).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["berkeley", "compas"]

Table = dict[str, npt.NDArray[Any]]


def __dir__() -> list[str]:
    return __all__


def compas() -> Table:
    """Columns race, sex, age, decile (1–10), recidivated (1/0) and count: 414 rows for 7,214 people.

    Returns
    -------
    dict[str, NDArray]
        The columns by name.

    Examples
    --------
    >>> table = compas()
    >>> int(table["count"].sum()), len(table["race"])
    (7214, 414)
    """
    return _read("compas.csv", whole=("decile", "recidivated", "count"))


def berkeley() -> Table:
    """Columns department, gender, admitted (1/0) and count: 24 rows for 4,526 applicants.

    Returns
    -------
    dict[str, NDArray]
        The columns by name.

    Examples
    --------
    >>> int(berkeley()["count"].sum())
    4526
    """
    return _read("berkeley.csv", whole=("admitted", "count"))


def _read(name: str, whole: tuple[str, ...]) -> Table:
    import csv
    from importlib.resources import files

    rows = list(csv.DictReader(files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()))
    return {
        column: np.array([row[column] for row in rows], dtype=np.int64 if column in whole else object)
        for column in rows[0]
    }
