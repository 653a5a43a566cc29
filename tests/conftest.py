"""What every test may use: optional things that skip with a reason, and how hypothesis runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


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
