"""How the library is built, kept by tests: which room may import which, what an import costs, what is generated."""

from __future__ import annotations

import ast
import graphlib
import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import evenhand
from conftest import ROOT, require
from evenhand.audits.functions import FUNCTIONS
from evenhand.measures.cells import CELLS, MEASURES

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "evenhand"

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
    "replicas",
    "mitigate",
    "report",
    "plots",
    "testing",
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
    ("audits.audit.Audit.load", "report.load"),
    ("audits.audit.Audit.__str__", "report.text.audit"),
    ("audits.audit.Audit._repr_html_", "report.page"),
    ("audits.diff.Changes.__str__", "report.text.diff"),
    ("audits.trend.Trend.__str__", "report.text.trend"),
    ("audits.wavering at module level", "replicas.stability"),
    ("mitigate.thresholds.rules.Thresholds.explain", "report.text.thresholds"),
    ("mitigate.comparison.Comparison.__str__", "report.text.comparison"),
    ("mitigate.comparison.Comparison.plot", "plots"),
}

# What `import evenhand` must not load: slow, or not installed everywhere.
HEAVY = ("scipy", "duckdb", "narwhals", "rich", "click", "jinja2", "pandas", "polars", "pyarrow", "sklearn", "joblib")

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
every_module = pytest.mark.parametrize("module", MODULES)


def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


# --- the order of imports


@dataclass(frozen=True)
class Import:
    """`where` is the function that imports, "" at module level; imports for type checkers only do not run."""

    target: str
    where: str
    types_only: bool


def imports(module: str) -> Iterator[Import]:
    """Every import of a module of ours."""

    def visit(node: ast.AST, where: str, inside: bool, types_only: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            name, within, typed = where, inside, types_only
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{where}.{child.name}" if where else child.name
                within = inside or not isinstance(child, ast.ClassDef)
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                typed = True
            for target in _targets(child):
                yield Import(target, name if within else "", typed)
            yield from visit(child, name, within, typed)

    return visit(tree(module), "", False, False)


def _targets(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute here"
        # "from evenhand import roles" imports a module, "from evenhand.sources.roles import assign" a name of one.
        known = [f"{node.module}.{alias.name}".removeprefix("evenhand.") for alias in node.names]
        names = [
            f"evenhand.{name}" if name in MODULES and str(node.module).startswith("evenhand") else str(node.module)
            for name in known
        ]
    else:
        return []
    return [name.removeprefix("evenhand").lstrip(".") for name in names if name.partition(".")[0] == "evenhand"]


def place(module: str) -> int:
    """The line of a module's room in ORDER."""
    room = module.partition(".")[0]
    assert room in ORDER, f"{module} is in no room of ORDER: write the room where it may import what it needs"
    return ORDER.index(room)


@every_module
def test_imports_go_downwards_only(module):
    for found in imports(module):
        if found.types_only or place(found.target) <= place(module):
            continue
        caller = f"{module}.{found.where}" if found.where else f"{module} at module level"
        assert (caller, found.target) in ALLOWED, (
            f"{caller} imports {found.target or 'evenhand'}, which stands below {module} in ORDER"
        )


def test_every_exception_to_the_order_is_still_needed():
    used = {
        (f"{module}.{found.where}" if found.where else f"{module} at module level", found.target)
        for module in MODULES
        for found in imports(module)
        if place(found.target) > place(module)
    }
    assert used >= ALLOWED, f"take out of ALLOWED: {sorted(ALLOWED - used)}"


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


# --- names, docstrings, stubs


def test_the_stubs_are_those_of_the_catalogue():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    assert stubs.TARGET.read_text(encoding="utf-8") == stubs.stubs(), "run: make stubs"


def test_every_public_name_is_there_and_in_the_stubs():
    declared = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    known = {node.name for node in declared.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    known |= {a.asname for node in declared.body if isinstance(node, ast.ImportFrom) for a in node.names if a.asname}
    assert len(set(evenhand.__all__)) == len(evenhand.__all__)
    for name in evenhand.__all__:
        assert hasattr(evenhand, name), name
        assert name in known, f"{name} is not in __init__.pyi"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_metric_takes_its_roles_by_name_and_explains_itself(name):
    function = FUNCTIONS[name]
    first, *rest = inspect.signature(function).parameters.values()
    assert (first.name, first.default) == ("data", None)
    assert {each.kind for each in rest} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(each.default is not inspect.Parameter.empty for each in rest)
    assert inspect.signature(function).return_annotation is evenhand.Finding
    assert function.__name__ == name
    assert getattr(evenhand, name) is function
    assert function.metric.title in inspect.getdoc(function).splitlines()[0]


def test_no_module_hides_a_public_function():
    """A submodule that is imported becomes an attribute of its package, in place of what had that name."""
    for _, package in _packages():
        modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
        public = [name for name in getattr(package, "__all__", ()) if not isinstance(getattr(package, name), _MODULE)]
        assert modules.isdisjoint(public), package.__name__


_MODULE = types.ModuleType


def _packages() -> Iterator[tuple[str, types.ModuleType]]:
    for module, path in MODULES.items():
        if path.name == "__init__.py":
            name = f"evenhand.{module}".rstrip(".")
            yield name, importlib.import_module(name)


@every_module
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(tree(module))


def test_everything_public_has_a_docstring():
    lacking = []
    for name in evenhand.__all__:
        thing = getattr(evenhand, name)
        if name.startswith("__"):
            continue
        if not inspect.getdoc(thing):
            lacking.append(name)
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for part, value in vars(thing).items():
                told = isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value)
                if told and not part.startswith("_") and not inspect.getdoc(value):
                    lacking.append(f"{name}.{part}")
    assert not lacking, ", ".join(lacking)


# --- habits


@every_module
def test_a_file_holds_one_idea(module):
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) < 500, "look for the second idea inside"


@every_module
def test_nothing_is_printed_outside_the_command_line(module):
    if module.partition(".")[0] == "cli":
        return
    calls = [ast.unparse(node.func) for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    assert "print" not in calls


# The one place that loads a pickle: a model named on the command line, and only with --trust.
TRUSTED = {("cli.counterfactual", "joblib.load")}


@every_module
def test_no_text_is_run_and_no_object_unpickled(module):
    forbidden = {"eval", "exec", "__import__", "os.system"}
    unpickling = re.compile(r"(pickle|marshal|shelve|dill|cloudpickle|joblib)\.(load|loads|open)")
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in forbidden, called
            assert not unpickling.fullmatch(called) or (module, called) in TRUSTED, called
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)]
            assert {"pickle", "marshal", "shelve"}.isdisjoint(names)
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False"


def test_measures_are_made_of_known_cells_and_measures():
    for name, row in MEASURES.items():
        cells = re.findall(r"\d*([A-Za-z]\w*)", f"{row.numerator} {row.denominator}")
        assert set(cells) <= set(CELLS), name
        assert set(row.of) <= set(MEASURES), name
        assert bool(row.of) != bool(row.numerator), name
        assert row.empty or not (row.denominator or row.of), f"{name} can be undefined and has no reason for it"
        for part in row.of:
            assert not MEASURES[part].of, f"{name} is a mean of a mean"
    assert Path(PACKAGE / "py.typed").exists()


@pytest.mark.parametrize(
    "module", ["audits.functions", "catalogue", "cli", "cube.cube", "measures.cells", "sources", "verdicts.policy"]
)
def test_a_module_can_be_the_first_to_be_imported(module):
    subprocess.run([sys.executable, "-c", f"import evenhand.{module}"], check=True, capture_output=True)
