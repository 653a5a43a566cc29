"""Put the real output of the first audit into README.md. Run it as `make stubs`; a test fails when it has drifted."""

from __future__ import annotations

import re
from pathlib import Path

import examples
from evenhand.catalogue import METRICS

TARGET = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(<!-- output -->\n```text\n).*?(```\n<!-- /output -->)", re.DOTALL)
SHOWN_METRICS = ("equalized_odds", "demographic_parity", "disparate_impact", "predictive_parity", "theil_index")


def output(text: str) -> str:
    """What the block before the output prints, down to the end of the first attribute's table, with some metrics."""
    before = text[: BLOCK.search(text).start()]
    _, printed = examples.outputs(before)[-1]
    lines = printed.partition("\n\nsex\n")[0].splitlines()
    kept, inside = [], True
    for line in lines:
        first = next(iter(line.split()), "")
        if not line.startswith("   ") or first in METRICS:  # else it is the second line of a row
            inside = first not in METRICS or first in SHOWN_METRICS
        if inside:
            kept.append(line.rstrip())
    return "\n".join(kept) + "\n"


def readme() -> str:
    text = TARGET.read_text(encoding="utf-8")
    return BLOCK.sub(lambda match: match[1] + output(text) + match[2], text)


if __name__ == "__main__":
    TARGET.write_text(readme(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
