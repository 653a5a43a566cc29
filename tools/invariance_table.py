"""Print how many values of each metric agree with an independent computation on the rows, and put it into the docs.

    python tools/invariance_table.py            # prints the table
    python tools/invariance_table.py --write    # and writes it into docs/numbers.md

Every cell is the number of values (of groups, gaps and pairs) that were compared on random tables, all equal to 1e-9.
A value that differs is an error, with the table it comes from.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from evenhand.catalogue import METRICS  # noqa: E402
from support.agreement import LEAST_IN_BIN, ask, close, compared, dense, random_people  # noqa: E402

TARGET = ROOT / "docs" / "numbers.md"
BLOCK = re.compile(r"(<!-- agreement -->\n).*?(<!-- /agreement -->)", re.DOTALL)
TABLES = 20
COLUMNS = ("unweighted", "weight", "count", "reference", "rest", "overall", "classes")
_AGAINST = {"reference": "a", "rest": "rest", "overall": "overall"}


def agreeing(name: str, column: str, tables: int = TABLES) -> int | None:
    """The values of a metric that were compared, on so many random tables; None where the column does not apply."""
    entry = METRICS[name]
    task = "multiclass" if column == "classes" else "regression" if "binary" not in entry.tasks else "binary"
    if task not in entry.tasks or (column in _AGAINST and entry.judged_on == "value"):
        return None
    number = 0
    for seed in range(tables):
        random = np.random.default_rng([seed, sorted(METRICS).index(name), COLUMNS.index(column)])
        people = random_people(random, task)
        how = column if column in ("weight", "count") else "plain" if column == "unweighted" else "weight"
        if how != "plain":
            whole = how == "count"
            people = people.weighing(random.integers(1, 9, len(people)) if whole else random.gamma(1, 2, len(people)))
        if name == LEAST_IN_BIN:
            people = dense(people) if how != "plain" else dense(people).weighing(np.ones(10 * len(people)))
        against = _AGAINST.get(column) or (None, "a", "rest", "overall")[seed % 4 if column == "classes" else 0]
        found = ask(name, people, task, how, against=against)
        for what, ours, theirs in compared(name, found, people, task, against):
            if not close(ours, theirs):
                raise ValueError(f"{what}: {ours!r} is not {theirs!r} ({name}, {column}, table {seed})")
            number += not math.isnan(theirs)
    return number


def table(tables: int = TABLES) -> str:
    """The table in Markdown, with its total."""
    lines = [f"| metric | {' | '.join(COLUMNS)} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    total = 0
    for name in (name for name, entry in METRICS.items() if entry.counted):
        cells = [agreeing(name, column, tables) for column in COLUMNS]
        total += sum(cell or 0 for cell in cells)
        lines.append(f"| `{name}` | {' | '.join('' if cell is None else str(cell) for cell in cells)} |")
    return "\n".join(
        [*lines, "", f"{total:,} values on {tables} random tables a cell; the largest difference allowed is 1e-9."]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the table into docs/numbers.md")
    arguments = parser.parse_args()
    made = table()
    print(made)
    if arguments.write:
        text = TARGET.read_text(encoding="utf-8")
        TARGET.write_text(BLOCK.sub(lambda match: f"{match[1]}\n{made}\n\n{match[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
