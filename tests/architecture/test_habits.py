"""Habits of the source and of the tests, kept by tests."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from conftest import ROOT
from evenhand.measures.cells import CELLS, MEASURES
from support.modules import MODULES, PACKAGE, imports, targets, text, tree


def lines(module: str) -> int:
    return len(text(module).splitlines())


def lines_of_code(module: str) -> int:
    """The lines of a module without docstrings, which explain every parameter and say nothing of its size."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree(module)) if isinstance(node, documented)]
    texts = [node.body[0] for node in nodes if ast.get_docstring(node) is not None]
    return lines(module) - sum((each.end_lineno or 0) - each.lineno + 1 for each in texts)


def test_a_file_holds_one_idea():
    assert [module for module in MODULES if lines_of_code(module) >= 475] == [], "look for the second idea inside"


@cache
def calls(module: str) -> set[str]:
    """Everything that a module calls, as it is written there."""
    return {ast.unparse(node.func) for node in ast.walk(tree(module)) if isinstance(node, ast.Call)}


def test_nothing_is_printed_outside_the_command_line():
    quiet = [module for module in MODULES if module.partition(".")[0] != "cli"]
    assert [module for module in quiet if "print" in calls(module)] == []


def test_findings_are_made_in_one_module():
    """Elsewhere a finding is only changed (`replace`) or read from a saved audit, by `core.records`."""
    makers = {
        module
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Finding"
    }
    assert makers == {"verdicts.finding"}


# The one place that loads a pickle: a model named on the command line, and only with --trust.
TRUSTED = {("cli.counterfactual", "joblib.load")}


def test_no_text_is_run():
    forbidden = {"eval", "exec", "__import__", "os.system"}
    assert {module: found for module in MODULES if (found := calls(module) & forbidden)} == {}


def test_no_object_is_unpickled():
    unpickling = re.compile(r"(pickle|marshal|shelve|dill|cloudpickle|joblib)\.(load|loads|open)")
    loaded = {(module, called) for module in MODULES for called in calls(module) if unpickling.fullmatch(called)}
    assert loaded <= TRUSTED
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)]
                assert {"pickle", "marshal", "shelve"}.isdisjoint(names), module
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert ast.unparse(node.value) == "False", module


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


# --- the test of a module can be guessed

# Modules over 100 lines whose test cannot be guessed, and where they are tested.
TESTED_IN = {
    "sources.files.formats": "sources/test_files.py",
    "verdicts.bounds.bounds": "verdicts/test_bounds.py",
    "verdicts.paired_change": "audits/test_gap_change.py",
    "verdicts.rows": "verdicts/test_finding.py",
    "verdicts.table": "verdicts/test_finding.py",
    "audits.audit": "properties/test_properties.py",
    "audits.audit_notes": "properties/test_properties.py",
    "audits.audit_tables": "audits/test_groups.py",
    "audits.functions": "architecture/test_public_names.py",
    "audits.metric_scorer": "audits/test_scorer.py",
    "audits.model_change": "audits/test_contest.py",
    "audits.page_counts": "report/page/test_data.py",
    "audits.recomputation": "report/page/test_data.py",
    "audits.sweep": "measures/test_scores.py",
    "cli.audit": "cli/test_cli.py",
    "cli.mitigate": "mitigate/test_comparison.py",
    "cli.replicate": "cli/test_stability.py",
    "cli.serve": "report/page/test_page.py",
    "core.familiar": "sources/test_first_calls.py",
    "core.frames": "sources/test_memory.py",
    "core.records": "report/test_saved.py",
    "core.results": "verdicts/test_finding.py",
    "counterfactual.columns": "counterfactual/test_fairness.py",
    "cube.scores": "sources/test_bins.py",
    "errors": "sources/test_bad_input.py",
    "inference.combined": "measures/test_combinations.py",
    "inference.replica_spread": "replicas/test_stability.py",
    "measures.indices": "catalogue/test_catalogue.py",
    "measures.entropy": "properties/test_properties.py",
    "report.cards.change": "report/cards/test_cards.py",
    "report.cards.cutoff": "report/cards/test_cards.py",
    "report.contest": "audits/test_contest.py",
    "report.text.diff": "audits/test_diff.py",
    "sources.documentation": "architecture/test_docstrings.py",
    "sources.features": "individual/test_consistency.py",
    "sources.lines": "sources/test_bad_input.py",
    "sources.reader": "sources/test_first_calls.py",
    "verdicts.comparison": "cases/test_known_references.py",
    "verdicts.index_finding": "properties/test_properties.py",
}


def has_namesake(module: str) -> bool:
    """Is there a test of that name, beside those of the room, or for a package in the folder of its name?"""
    *folders, name = module.split(".")
    beside, inside = (*folders, f"test_{name}.py"), (*folders, name, f"test_{name}.py")
    return any(ROOT.joinpath("tests", *path).exists() for path in (beside, inside))


@cache
def imported_by_tests(room: str) -> set[str]:
    """The modules of ours that the tests of a room import."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "tests" / room).rglob("test_*.py")]
    return {target for each in trees for node in ast.walk(each) for target in targets(node)}


def room(module: str) -> str:
    return module.partition(".")[0]


def test_the_test_of_a_module_can_be_guessed():
    """It has the module's name; or a test of the room imports the module; or it is that of the module's only users."""
    users: dict[str, set[str]] = {module: set() for module in MODULES}
    for module in MODULES:
        for part in imports(module):
            users[part.target].add(module)
    found = {module for module in MODULES if has_namesake(module) or module in imported_by_tests(room(module))}
    inside = {module for module in MODULES if {*map(room, users[module])} == {room(module)}}
    while new := {module for module in inside - found if users[module] & found}:  # a part of a part of what has a test
        found |= new
    large = {module for module in MODULES if module and lines(module) > 100}
    lost = sorted(large - found - set(TESTED_IN))
    assert not lost, f"write tests/<room>/test_<module>.py, or a line of TESTED_IN, for: {', '.join(lost)}"
    assert not set(TESTED_IN) - (large - found), f"take out of TESTED_IN: {set(TESTED_IN) - (large - found)}"
    assert [path for path in TESTED_IN.values() if not (ROOT / "tests" / path).exists()] == []
