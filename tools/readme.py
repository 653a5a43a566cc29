"""Put the real output of the first audit into README.md. Run it as `make stubs`; a test fails when it has drifted."""

from __future__ import annotations

import re
from pathlib import Path

import examples

TARGET = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(<!-- output -->\n```text\n).*?(```\n<!-- /output -->)", re.DOTALL)


def output(text: str) -> str:
    """What the block before the output prints."""
    before = text[: BLOCK.search(text).start()]
    _, printed = examples.outputs(before)[-1]
    return "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"


def readme() -> str:
    text = TARGET.read_text(encoding="utf-8")
    return BLOCK.sub(lambda match: match[1] + output(text) + match[2], text)


if __name__ == "__main__":
    TARGET.write_text(readme(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
