"""What the benchmarks share: work in processes of its own, rounds that alternate, and bars that are met or missed.

Only of the standard library, because workers also run in the environments of other tools (see peers.py).
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Timed = dict[str, list[float]]

_ANSWER = "answer "


def start(main: Callable[[list[str]], int], names: Mapping[str, Any]) -> None:
    """Run a benchmark: `main` with what was chosen, or in a process that `call` has made, the worker it asked for."""
    if sys.argv[1:2] == ["--worker"]:
        print(_ANSWER + json.dumps(names[sys.argv[2]](*sys.argv[3:]), default=float))
    else:
        sys.exit(main(sys.argv[1:]))


def call(worker: str, *arguments: object, program: Path | str = sys.executable) -> Any:
    """The answer of a function of the benchmark that runs, from a process of its own."""
    command = [str(program), sys.argv[0], "--worker", worker, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[3:])} failed:\n{done.stderr[-3000:]}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith(_ANSWER))[len(_ANSWER) :])


def alternate(rounds: int, **functions: Callable[[], Any]) -> Timed:
    """Seconds of each function, one after the other in every round; the first round warms up and is not counted."""
    seconds: Timed = {name: [] for name in functions}
    for i in range(rounds + 1):
        for name, function in functions.items():
            begun = time.perf_counter()
            function()
            if i:
                seconds[name].append(time.perf_counter() - begun)
    return seconds


def machine(*libraries: str) -> None:
    """Say where this runs, and with which versions of evenhand, what it needs, and some libraries more."""
    print(f"Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} cores", end="")
    print(f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "")
    shown = f"import {', '.join(['evenhand', *libraries])}; print(evenhand.show_versions())"
    print(subprocess.check_output([sys.executable, "-c", shown], text=True), flush=True)


def show(name: str, values: list[float], unit: str = "s") -> float:
    """Print what was measured; the median is returned."""
    middle = statistics.median(values)
    print(f"      {name:<22} median {middle:.4g} {unit}   [{' '.join(f'{value:.4g}' for value in values)}]", flush=True)
    return middle


def check(name: str, passed: bool) -> bool:
    print(f"{'PASS' if passed else 'MISS'}  {name}\n", flush=True)
    return passed


def at_most(limit: float, name: str, value: float, unit: str = " x") -> bool:
    return check(f"{name}: {_figure(value)}{unit}, at most {limit:,g}{unit}", value <= limit)


def at_least(limit: float, name: str, value: float, unit: str = " x") -> bool:
    return check(f"{name}: {_figure(value)}{unit}, at least {limit:,g}{unit}", value >= limit)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def conclude(passed: Iterable[bool]) -> int:
    """The exit code."""
    met = all(passed)
    print("every bar is met" if met else "a bar is missed")
    return 0 if met else 1
