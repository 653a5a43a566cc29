"""The table of `docs/testing.md`: what is tried with hostile values, and in how many cases it held.

    python tools/fuzz_figures.py            write the table, from what is tried and tests/fuzz/known.txt
    python tools/fuzz_figures.py --run      try everything (minutes), and print the lines of what falls
    python tools/fuzz_figures.py --run WORD only where the command or function contains the word

The numbers are those of `make thorough`, which fails when anything falls that is not in `known.txt`, or holds that is.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- fuzz figures -->\n", "<!-- /fuzz figures -->\n"

ROWS = {
    "options": "every option and argument of every command",
    "parameters of functions": "every parameter of every public function and method",
    "parameters of metrics": "every parameter of every metric's function",
    "data files": "damaged data files, through the commands that read them",
    "saved files": "damaged cubes, audits and pages",
    "policies and graphs": "damaged policies (TOML) and causal graphs (DOT)",
}


def table() -> str:
    """The figures as a table in Markdown."""
    from fuzz import suite

    found = suite.figures()
    lines = ["| what | places | tried | held |", "| --- | ---: | ---: | ---: |"]
    places = suite.every_place()
    for group, (tried, held) in found.items():
        here = sum(place.group == group for place in places)
        lines.append(f"| {ROWS[group]} | {here:,} | {tried:,} | {held:,} |")
    tried, held = (sum(column) for column in zip(*found.values(), strict=True))
    return "\n".join([*lines, f"| together | {len(places):,} | {tried:,} | {held:,} |"]) + "\n"


def page() -> str:
    """The page with the figures of today."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def run(word: str) -> None:
    """Try everything and print what falls, as lines of known.txt."""
    from fuzz import suite

    with tempfile.TemporaryDirectory() as folder:
        attempts = suite.Attempts(Path(folder))
        for place in suite.every_place():
            if word in place.spelled:
                for value in place.values:
                    found = attempts(place, value)
                    if not found.held:
                        print(suite.line(place, value, found), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    if "--run" in sys.argv:
        run(sys.argv[2] if len(sys.argv) > 2 else "")
    else:
        PAGE.write_text(page(), encoding="utf-8")
