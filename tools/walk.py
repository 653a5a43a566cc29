"""How far a row walks: the modules that an audit and its page enter, and how often control crosses between modules.

    python tools/walk.py

Traces a small DataFrame with `sys.setprofile`: judging one metric of cells (`demographic_parity`), and saving an audit
as a page, for the first time and once more. A crossing is a call or a return that leads from one module of the package
to another. Everything is imported and run once before, so that only the work is counted.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd

import evenhand as eh

PACKAGE = Path(eh.__file__).resolve().parent


class Walk:
    """The modules of the package that a call enters, the pairs of caller and callee, and the number of crossings."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.calls: list[tuple[str, str]] = []
        self.crossings = 0
        self._here = ""
        sys.setprofile(self._event)
        try:
            work()
        finally:
            sys.setprofile(None)

    @property
    def modules(self) -> list[str]:
        """Every module that was entered."""
        return sorted({callee for _, callee in self.calls})

    def entered_from(self, room: str) -> list[str]:
        """The modules of other rooms that modules of this room call themselves."""
        return sorted({callee for caller, callee in self.calls if _in(room, caller) and not _in(room, callee)})

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        module = _module(frame) if event in ("call", "return") else None
        if module is None:
            return
        caller = _caller(frame)
        if event == "call":
            self.calls.append((caller, module))
            self._go(module)
        else:
            self._go(caller)

    def _go(self, module: str) -> None:
        self.crossings += bool(self._here and module) and module != self._here
        self._here = module


def _in(room: str, module: str) -> bool:
    return module.partition(".")[0] == room


def _module(frame: FrameType) -> str | None:
    """The module of a frame, named below the package; None for code of others and for generated code."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "evenhand"


def _caller(frame: FrameType) -> str:
    """The nearest module of the package up the stack; "" where there is none."""
    above = frame.f_back
    while above is not None:
        if (module := _module(above)) is not None:
            return module
        above = above.f_back
    return ""


def people() -> pd.DataFrame:
    """Two hundred and forty people of three groups, with scores, decisions and outcomes."""
    size = 240
    return pd.DataFrame(
        {
            "group": ["a", "b", "c"] * (size // 3),
            "score": [(37 * i % 100) / 100 for i in range(size)],
            "decided": [(7 * i % 5) // 3 for i in range(size)],
            "outcome": [(11 * i % 7) // 4 for i in range(size)],
        }
    )


def main() -> None:
    """Print how far each walk leads."""
    frame = people()
    roles = {"label": "outcome", "score": "score", "cutoff": 0.5, "sensitive": "group"}
    cube = eh.Cube.count(frame, prediction="decided", sensitive="group")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "x.html"
        for warm in (True, False):
            judged = Walk(lambda: eh.demographic_parity(cube))
            audited = Walk(lambda: eh.audit(frame, **roles))
            audit = eh.audit(frame, **roles)
            saved, again = (Walk(lambda: audit.save(page)) for _ in range(2))  # noqa: B023 - called at once
            if warm:
                continue
            _tell("judging demographic_parity on a cube", judged)
            _tell("eh.audit of a DataFrame", audited)
            _tell("saving its page", saved)
            _tell("saving its page again", again)
            for name, walk in (("saving its page", saved), ("saving its page again", again)):
                outside = [module for module in walk.modules if not _in("report", module)]
                print(f"\n{name}, modules not in report: {len(outside)} of {len(walk.modules)}: {', '.join(outside)}")
                entered = walk.entered_from("report")
                print(f"  called by report itself: {len(entered)}: {', '.join(entered)}")


def _tell(what: str, walk: Walk) -> None:
    print(f"{what}: {len(walk.modules)} modules, {walk.crossings:,} crossings, {len(walk.calls):,} calls")


if __name__ == "__main__":
    main()
