"""What `make thorough` runs and `make test` does not, by name: nothing slips out of the fast profile unseen."""

from __future__ import annotations

import ast
from functools import cache

from conftest import ROOT

TESTS = ROOT / "tests"

# Tests that only the thorough profile runs, and why.
ONLY_THOROUGH = {
    "counterfactual/test_law_school.py::test_beside_a_tolerance_race_fails_and_the_additive_one_passes": (
        "75 refits on 20,000 people; the same predictors are judged with a threshold of 0 in the tests beside it"
    ),
}

# Tests that take a handful of their values in the fast profile; thorough takes all. Hostile names are not listed by
# test: properties/test_hostile_together.py puts all of them into every output in both profiles.
A_HANDFUL = {
    "audits/test_contest.py::test_hostile_names_stay_names",
    "report/contest_page/test_cover.py::test_hostile_names_are_only_names",
    "cube/test_joint.py::test_each_cube_is_that_of_the_model_alone",
    "fairlearn/test_frame.py::test_labels_of_any_kind",
    "fairlearn/test_frame.py::test_unusual_weights",
    "inference/test_betting.py::test_on_average_nothing_is_won_while_the_claim_holds",
    "measures/test_losses.py::test_the_losses_are_those_of_the_rows",
    "measures/test_regression.py::test_every_source_gives_the_same_cube",
    "properties/test_weight_scale.py::test_no_weight_at_all_is_an_error_in_every_source",
    "sources/test_columns.py::test_a_null_byte_is_an_error",
    "sources/test_kinds.py::test_values_keep_their_type_and_names_their_spelling",
    "sources/test_levels.py::test_none_says_that_numbers_are_categories",
    "sources/test_levels.py::test_quantile_bands_agree_between_engines",
    "sources/test_memory.py::test_a_cube_is_saved_pickled_and_copied_whole",
    "sources/test_memory.py::test_the_same_data_is_the_same_cube",
    "sources/test_memory.py::test_unusual_types_are_spelled_alike",
    "sources/test_quantiles.py::test_counts_and_weights_cut_as_rows_that_are_written_out",
}


@cache
def decorated() -> list[tuple[str, str]]:
    """Every test with each of its decorators."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        whole = [ast.unparse(node) for node in module.body if isinstance(node, ast.Assign)]
        assert not [line for line in whole if line.startswith("pytestmark") and "thorough" in line], (
            f"{path.name}: mark the tests and not the file, so that they can be listed"
        )
        for node in ast.walk(module):
            for each in getattr(node, "decorator_list", []):
                found.append((f"{path.relative_to(TESTS).as_posix()}::{node.name}", ast.unparse(each)))
    return found


def marked(beginning: str) -> set[str]:
    """The tests with a decorator that begins like this."""
    return {test for test, decorator in decorated() if decorator.startswith(beginning)}


def test_what_only_the_thorough_profile_runs_is_listed():
    assert marked("pytest.mark.thorough") == set(ONLY_THOROUGH)


def test_what_runs_with_a_handful_of_values_is_listed():
    assert marked("each_of(") == A_HANDFUL
