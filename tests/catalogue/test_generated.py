"""What is made from the catalogue and from real output has not drifted; `make stubs` writes it anew."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from conftest import ROOT


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_shows_the_real_output():
    readme = tool("readme")
    assert Path(readme.TARGET).read_text(encoding="utf-8") == readme.readme()
