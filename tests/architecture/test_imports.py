"""Which room may import which, and what an import loads."""

from __future__ import annotations

import graphlib
import importlib.util
import json
import subprocess
import sys

import pytest

from conftest import ROOT, require
from support.modules import MODULES, imports

# Module-level imports go downwards only: a room may import the rooms above it here, and the modules of a room may
# import each other as long as they make no circle. Each folder and each module at the root of the package is a room.
ORDER = (
    "errors",
    "core",
    "sources",
    "cube",
    "inference",
    "measures",
    "catalogue",
    "verdicts",
    "audits",
    "individual",
    "counterfactual",
    "subgroups",
    "replicas",
    "mitigate",
    "report",
    "plots",
    "testing",
    "fairlearn",
    "metrics",
    "datasets",
    "cli",
    "__main__",
    "",  # the package itself, which may import everything
)

# Imports against the order, inside a function: an object that shows, saves or audits itself knows who does it.
ALLOWED = {
    ("cube.cube.Cube.measures", "measures.cells"),
    ("cube.cube.Cube.limits", "measures.cells"),
    ("cube.cube.Cube.audit", "audits.audit"),
    ("audits.audit.Audit.to_dict", "report.json"),
    ("audits.audit.Audit.save", "report"),
    ("audits.audit.Audit.load", "report.saved"),
    ("audits.audit.Audit.__str__", "report.text.audit"),
    ("audits.audit.Audit.details", "report.text.details"),
    ("audits.accessors.Accessors.page", "report.page"),
    ("audits.accessors.Accessors.plot", "plots"),
    ("core.cards.Carded._repr_html_", "report.cards"),
    ("core.results.Finding.plot", "plots"),
    ("core.results.Finding.to_frame", "audits.audit_tables"),
    ("audits.contest.Contest.save", "report.contest"),
    ("audits.contest.Contest.__str__", "report.text.contest"),
    ("audits.diff.Changes.save", "report.changes"),
    ("audits.diff.Changes.__str__", "report.text.diff"),
    ("audits.diff.Changes.save", "report.changes"),
    ("audits.trend.Trend.__str__", "report.text.trend"),
    ("mitigate.thresholds.rules.Thresholds.explain", "report.text.thresholds"),
    ("mitigate.comparison.Comparison.__str__", "report.text.comparison"),
    ("mitigate.comparison.Comparison.plot", "plots"),
}

# What `import evenhand` must not load: slow, or not installed everywhere.
HEAVY = ("scipy", "duckdb", "narwhals", "rich", "click", "jinja2", "pandas", "polars", "pyarrow", "sklearn", "joblib")

# --- the order of imports


def place(module: str) -> int:
    """The line of a module's room in ORDER."""
    room = module.partition(".")[0]
    assert room in ORDER, f"{module} is in no room of ORDER: write the room where it may import what it needs"
    return ORDER.index(room)


def against_the_order(*, types: bool) -> set[tuple[str, str]]:
    """Who imports a room that stands below its own in ORDER, and what; `types` adds imports for type checkers."""
    return {
        (f"{module}.{found.where}" if found.where else f"{module} at module level", found.target)
        for module in MODULES
        for found in imports(module)
        if place(found.target) > place(module) and (types or not found.types_only)
    }


def test_imports_go_downwards_only():
    wrong = [f"{who} imports {what or 'evenhand'}" for who, what in sorted(against_the_order(types=False) - ALLOWED)]
    assert not wrong, f"rooms that stand below in ORDER are imported: {'; '.join(wrong)}"


def test_every_exception_to_the_order_is_still_needed():
    unused = ALLOWED - against_the_order(types=True)
    assert not unused, f"take out of ALLOWED: {sorted(unused)}"


def test_the_order_names_each_room_once():
    rooms = {module.partition(".")[0] for module in MODULES}
    assert sorted(ORDER) == sorted(rooms)


def test_no_modules_import_each_other_in_a_circle():
    """At module level; `from evenhand.room import module` needs the room's own __init__ only for its name."""
    graph = {
        module: {found.target for found in imports(module) if not found.where and not found.types_only}
        for module in MODULES
        if module
    }
    order = graphlib.TopologicalSorter(graph)
    try:
        order.prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


# --- what an import loads


def fresh(code: str) -> list[str]:
    """The libraries, the standard one aside, that are loaded after some code has run in a new interpreter."""
    listing = (
        "\nimport json, sys"
        "\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + listing], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


AUDIT = "audit = evenhand.audit(data, label='y', prediction='d', sensitive='g'); str(audit); audit.to_dict()"
COLUMNS = "{'y': [0, 1, 0, 1], 'd': [0, 1, 1, 1], 'g': ['a', 'a', 'b', 'b']}"


def test_importing_evenhand_loads_numpy_and_nothing_else():
    before, after = fresh("import numpy"), fresh("import evenhand")
    assert set(after) - set(before) == {"evenhand"}
    assert set(after).isdisjoint(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []], ids=" ".join)
def test_help_loads_click_and_nothing_else(arguments):
    before, after = fresh("import click"), fresh(f"from evenhand.cli import run\nrun({arguments})")
    assert set(after) - set(before) == {"evenhand"}


def test_completion_of_commands_loads_click_and_nothing_else():
    code = (
        "from evenhand.cli import program"
        "\nfrom click.shell_completion import BashComplete"
        "\nprint(*(item.value for item in BashComplete(program, {}, 'evenhand', '').get_completions([], 'co')))"
    )
    assert set(fresh(code)) - set(fresh("import click")) == {"evenhand"}


def test_a_metric_of_arrays_loads_no_library_for_tables():
    loaded = fresh(
        "import evenhand\nevenhand.equalized_odds(label=[0, 1, 0, 1], prediction=[0, 1, 1, 1], sensitive=list('aabb'))"
    )
    assert set(loaded).isdisjoint({"pandas", "polars", "pyarrow", "sklearn", "narwhals", "duckdb"})


@pytest.mark.parametrize(
    ("kind", "others"),
    [("pandas", {"polars", "sklearn", "duckdb"}), ("polars", {"pandas", "sklearn", "duckdb"})],
)
def test_a_table_of_one_library_loads_no_other(kind, others):
    require(kind, importlib.util.find_spec(kind) is not None, f"pip install {kind}")
    loaded = fresh(f"import evenhand, {kind}\ndata = {kind}.DataFrame({COLUMNS})\n{AUDIT}\naudit.to_frame()")
    assert kind in loaded
    assert set(loaded).isdisjoint(others)


def test_a_mapping_of_arrays_loads_no_library_for_tables():
    loaded = fresh(f"import evenhand\ndata = {COLUMNS}\n{AUDIT}")
    assert set(loaded).isdisjoint({"pandas", "polars", "pyarrow", "sklearn", "narwhals"})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_loads_duckdb_and_no_library_for_tables(suffix, tmp_path):
    import duckdb

    path = tmp_path / f"decisions.{suffix}"
    rows = "SELECT * FROM (VALUES (0, 0, 'a'), (1, 1, 'a'), (0, 1, 'b'), (1, 1, 'b')) AS t (y, d, g)"
    duckdb.connect().execute(f"COPY ({rows}) TO '{path}'")
    loaded = fresh(f"import evenhand\ndata = {str(path)!r}\n{AUDIT}")
    assert "duckdb" in loaded
    assert set(loaded).isdisjoint({"pandas", "polars", "pyarrow", "sklearn"})


def test_an_audit_on_the_command_line_loads_only_what_it_needs(tmp_path):
    path = tmp_path / "decisions.csv"
    path.write_text("y,d,g\n" + "0,0,a\n1,1,a\n0,1,b\n1,1,b\n" * 30, encoding="utf-8")
    call = ["audit", str(path), "--label", "y", "--prediction", "d", "--sensitive", "g"]
    code = f"import sys\nfrom evenhand.cli import run\nrun({call})\nprint()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"click", "numpy", "scipy.special", "duckdb", "rich"} <= loaded
    assert loaded.isdisjoint(
        {"jinja2", "narwhals", "pandas", "polars", "pyarrow", "sklearn", "scipy.optimize", "scipy.stats"}
    )
    rows = {"evenhand.cube.joint", "evenhand.verdicts.row_measures", "evenhand.verdicts.row_source"}
    assert loaded.isdisjoint({"evenhand.cube.clusters", "evenhand.cube.cluster_tally"})
    assert loaded.isdisjoint(rows | {"evenhand.audits.guide", "evenhand.audits.impossibility", "evenhand.report.saved"})
    other_data = {"evenhand.sources.database", "evenhand.sources.engines", "evenhand.sources.memory"}
    other_bounds = {"evenhand.verdicts.bounds.draws", "evenhand.verdicts.bounds.baseline", "evenhand.measures.missing"}
    tables = {"evenhand.audits.audit_tables", "evenhand.audits.measure_tables", "evenhand.report.text.details"}
    assert loaded.isdisjoint(other_data | other_bounds | tables)


@pytest.mark.parametrize(
    "module", ["audits.functions", "catalogue", "cli", "cube.cube", "measures.cells", "sources", "verdicts.policy"]
)
def test_a_module_can_be_the_first_to_be_imported(module):
    subprocess.run([sys.executable, "-c", f"import evenhand.{module}"], check=True, capture_output=True)


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("report.page")])
def test_a_page_receives_what_it_shows(module):
    """An audit computes what its page shows: the modules of a page import no room that computes."""
    rooms = {found.target.partition(".")[0] for found in imports(module) if not found.types_only}
    assert rooms <= {"core", "errors", "report"}


def test_the_table_of_metrics_needs_no_file_reader():
    code = "import sys, evenhand.catalogue\nprint(*(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"evenhand.sources.files", "evenhand.sources.engines.plan", "duckdb"}.isdisjoint(done.stdout.split())
