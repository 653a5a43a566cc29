"""Write again the numbers of tests/data/stored_numbers.json, which audits must keep when they are made faster.

    python tools/stored_numbers.py

Only where a number is meant to change: the difference in the file is what a reviewer looks at.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.stored_numbers import CASES, numbers  # noqa: E402

if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(numbers(make()))}" for name, make in CASES.items()]
    (ROOT / "tests" / "data" / "stored_numbers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
