"""The command line when it says no."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.cli import run

_OPTIONS = {"cutoff", "label", "prediction", "score", "sensitive", "control", "count", "weight", "missing", "na"}


def arguments(roles: dict) -> list[str]:
    """Roles as options of the command line."""
    found = []
    for role, value in roles.items():
        if role == "bands":
            found += [f"--bands={name}={','.join(map(str, edges))}" for name, edges in value.items()]
        elif value is not None:
            assert role in _OPTIONS
            found += [f"--{role}={item}" for item in (value if isinstance(value, list) else [value])]
    return found


def refused(given: list[str], output: Path, capsys: pytest.CaptureFixture) -> str:
    """Exit code 2, one message on stderr, nothing on stdout, no file."""
    code = run(["audit", *given, "-o", str(output)])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert not output.exists()
    assert "Traceback" not in err
    assert err.startswith("evenhand: error: ")
    assert err.count("evenhand:") == 1
    return err.removeprefix("evenhand: error: ").rstrip("\n")
