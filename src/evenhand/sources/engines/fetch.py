"""Run a plan on its engine and fetch the result, with an error that names the engine."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from evenhand.errors import DataError, shorten
from evenhand.sources.engines.table import Answer, engine_of
from evenhand.sources.files.query import run_here


def fetch(plan: nw.LazyFrame[Any], most: int | None = None) -> Answer:
    """The result of a plan, of which the first `most` lines are enough; an engine without a cheap limit sends all."""
    engine = engine_of(nw.to_native(plan))
    wanted = plan if most is None or engine.beginning is not None else plan.head(most)
    try:
        return run_here(lambda: engine.run(wanted))
    except Exception as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Control-C
            raise KeyboardInterrupt from None
        raise DataError(f"{engine.title} could not run the query: {_first_lines(error)}") from error


def fetch_first(plan: nw.LazyFrame[Any], rows: int) -> Answer:
    """The first rows of a plan, without reading the others."""
    native = nw.to_native(plan)
    beginning = engine_of(native).beginning
    if beginning is None:
        return fetch(plan, rows)
    return {name: values[:rows] for name, values in fetch(nw.from_native(beginning(native))).items()}


def _first_lines(error: Exception) -> str:
    """The first lines of an engine's message; the rest quotes our own plan."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shorten(" ".join(lines[:3]) or type(error).__name__, 300)
