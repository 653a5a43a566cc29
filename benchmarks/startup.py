"""How long a person waits for the command line and for a page.

    python benchmarks/startup.py          all bars
    python benchmarks/startup.py help     only these

(help)  evenhand --help: at most 40 ms above a process that imports click, and nothing else is loaded.
(audit) evenhand audit of a CSV of 10,000 rows, as text: at most 1.3 x a process that imports what it needs (click,
        numpy, scipy.special, duckdb, rich.console) and asks DuckDB for the same counts. In that process idle threads
        of OpenBLAS look for work, as they do by default, which evenhand tells them not to; the ratio to the same
        process where they sleep is printed beside it. No audit can be below that one.
(page)  saving the page of the demo in a process that has saved one before: at most .2 s.

Processes are fresh and have warm bytecode; what is compared alternates, and medians are compared. Processor time is
judged, all threads included, because a wall clock also counts what others run; it is printed beside. Exits 1 when a
bar is missed.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from running import Timed, at_most, call, check, conclude, machine, show, start

SEED = 20240229
ROWS = 10_000
ROUNDS = {"help": 21, "audit": 15, "page": 9}
BARS = {"help": 0.040, "audit": 1.3, "page": 0.2}
RACES = ("African-American", "Asian", "Caucasian", "Hispanic", "Other")

OURS = "from evenhand.cli import main; main()"  # as the installed program has it
IMPORTS = ("click", "numpy", "scipy.special", "duckdb", "rich.console")
ASLEEP = "import os; os.environ['OPENBLAS_THREAD_TIMEOUT'] = '20'"
QUERY = """
import sys, {}
names = "race, sex, label, prediction"
duckdb.execute(f"SELECT {{names}}, count(*) FROM read_csv('{{sys.argv[1]}}') GROUP BY {{names}}").fetchall()
"""
LOADED = """
import json, sys
{}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names)))
"""


# --- in the processes that are measured


def run_pages(folder: str) -> list[list[float]]:
    """Seconds of the wall clock and of the processor that each of several pages takes to save; audits are not counted.

    The first page, which loads libraries, is left out.
    """
    import evenhand as eh
    from evenhand.datasets import compas

    taken = []
    for _ in range(ROUNDS["page"] + 1):
        roles = {"label": "recidivated", "score": "decile", "count": "count", "sensitive": ["race", "sex"]}
        audit = eh.audit(compas(), cutoff=5, **roles)
        wall, processor = time.perf_counter(), time.process_time()
        audit.save(Path(folder) / "demo.html")
        taken.append([time.perf_counter() - wall, time.process_time() - processor])
    return taken[1:]


# --- in the process that gives orders


def environment(folder: Path) -> dict[str, str]:
    """The variables of a process whose bytecode is kept in the folder."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**variables, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def processes(rounds: int, folder: Path, programs: Mapping[str, list[str]]) -> tuple[Timed, Timed]:
    """Seconds of the wall clock and of the processor that programs take from start to end, by turns.

    Two rounds before them write the bytecode and are not counted.
    """
    walls: Timed = {name: [] for name in programs}
    busy: Timed = {name: [] for name in programs}
    for i in range(rounds + 2):
        for name, arguments in programs.items():
            command = [sys.executable, "-c", *arguments]
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run(command, env=environment(folder), capture_output=True, check=False, cwd=folder)
            wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode not in (0, 1, 3):  # of an audit, these are verdicts
                sys.exit(f"{name} failed:\n{done.stderr.decode()[-3000:]}")
            if i >= 2:
                walls[name].append(wall)
                busy[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return walls, busy


def show_all(walls: Timed, busy: Timed) -> dict[str, float]:
    """Print both clocks; the medians of the processor's are returned."""
    for name, seconds in walls.items():
        show(f"{name}, wall", seconds)
    return {name: show(name, seconds) for name, seconds in busy.items()}


def write_rows(path: Path) -> None:
    """The data of (audit): a table whose groups differ little."""
    chance = random.Random(SEED)
    lines = ["label,prediction,race,sex"]
    for _ in range(ROWS):
        label = chance.random() < 0.4
        prediction = label if chance.random() < 0.7 else chance.random() < 0.5
        lines.append(f"{label:d},{prediction:d},{chance.choice(RACES)},{chance.choice(('Female', 'Male'))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def bar_help(folder: Path) -> list[bool]:
    programs = {"interpreter": ["pass"], "import click": ["import click"], "evenhand --help": [OURS, "--help"]}
    taken = show_all(*processes(ROUNDS["help"], folder, programs))
    above = taken["evenhand --help"] - taken["import click"]
    code = "from evenhand.cli import run; run(['--help'])"
    loaded = [subprocess.check_output([sys.executable, "-c", LOADED.format(each)]) for each in ("import click", code)]
    before, after = (set(json.loads(text.splitlines()[-1])) for text in loaded)
    return [
        at_most(BARS["help"], "(help) evenhand --help above import click", above, " s"),
        check(f"(help) loaded besides click: {', '.join(sorted(after - before))}", after - before == {"evenhand"}),
    ]


def bar_audit(folder: Path) -> list[bool]:
    path = folder / "decisions.csv"
    write_rows(path)
    options = ("--label", "label", "--prediction", "prediction", "--sensitive", "race,sex")
    programs = {
        **{f"import {name}": [f"import {name}"] for name in IMPORTS},
        "all imports": [f"import {', '.join(IMPORTS)}"],
        "and the query": [QUERY.format(", ".join(IMPORTS)), str(path)],
        "the same, asleep": [ASLEEP + QUERY.format(", ".join(IMPORTS)), str(path)],
        "evenhand audit": [OURS, "audit", str(path), *options],
    }
    taken = show_all(*processes(ROUNDS["audit"], folder, programs))
    ratio, asleep = (taken["evenhand audit"] / taken[name] for name in ("and the query", "the same, asleep"))
    print(f"      against the same where idle threads sleep: {asleep:.3g} x", flush=True)
    return [at_most(BARS["audit"], "(audit) 10,000 rows in CSV, against the imports and the query", ratio)]


def bar_page(folder: Path) -> list[bool]:
    walls, busy = zip(*call("run_pages", folder), strict=True)
    taken = show_all({"page of the demo": list(walls)}, {"page of the demo": list(busy)})
    return [at_most(BARS["page"], "(page) saving the page of the demo", taken["page of the demo"], " s")]


def main(chosen: list[str]) -> int:
    machine()
    bars = {"help": bar_help, "audit": bar_audit, "page": bar_page}
    passed: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or bars:
            passed += bars[name](Path(folder))
    return conclude(passed)


if __name__ == "__main__":
    start(main, globals())
