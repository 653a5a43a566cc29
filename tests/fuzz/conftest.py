"""The scratch folder of the hostile calls, made once for all tests of this folder."""

from __future__ import annotations

import pytest

from fuzz.suite import Attempts


@pytest.fixture(scope="session")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> Attempts:
    return Attempts(tmp_path_factory.mktemp("fuzz"))
