"""What every test may use: optional things that skip with a reason, and the two profiles, fast and thorough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import profiles

# Workers of pytest-xdist share the cores: threads of BLAS that wait for each other double the processor time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Text is as wide as COLUMNS says, and workers are given the columns of the terminal that pytest runs in.
os.environ.pop("COLUMNS", None)

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="repeat tests far more often")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "thorough: run with --thorough only; tests/architecture/test_profiles.py lists them"
    )
    config.addinivalue_line("markers", "each_of: see support.profiles.each_of")
    profiles.choose(config.getoption("--thorough"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    profiles.parametrize(metafunc)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--thorough"):
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)


def require(name: str, found: bool, why: str) -> None:
    """Skip with the reason when something optional is not there; with EVENHAND_REQUIRE=all, fail instead.

    The data beside the checkout is not public, so a test that needs "shared" only ever skips.
    """
    if found:
        return
    reason = f"{name} is not here: {why}"
    if os.environ.get("EVENHAND_REQUIRE") == "all" and name != "shared":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and of answers by other tools that may lie beside the checkout."""
    folder = ROOT.parent / "shared"
    require("shared", (folder / "cases").is_dir(), "there is no ../shared/cases beside the checkout")
    return folder


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Matplotlib warns where more than twenty figures stay open, and a warning is an error here."""
    yield
    if (drawn := sys.modules.get("matplotlib.pyplot")) is not None:
        drawn.close("all")
