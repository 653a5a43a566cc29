"""A sample of the hostile command lines in processes of their own: what `main` does in ours, it does there."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from fuzz import commands
from fuzz.values import TEXTS
from support.profiles import is_thorough

# A process is given its arguments as text without NUL, at most 128 kB each; `serve` would serve.
PLACES = [place for place in commands.places() if place.command and place.command != "serve"]
NAMES = [name for name in TEXTS if name != "NUL"]
_RANDOM = Random(18)
CASES = [(_RANDOM.choice(PLACES), _RANDOM.choice(NAMES)) for _ in range(16 if is_thorough() else 2)]


@pytest.mark.parametrize(("place", "value"), CASES, ids=lambda part: part if isinstance(part, str) else part.spelled)
def test_a_process_ends_as_main_does_here(place, value, attempts, monkeypatch):
    monkeypatch.chdir(attempts.folder)
    arguments = place.called(TEXTS[value])
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    out, err = (stream.decode("utf-8") for stream in (done.stdout, done.stderr))
    found = commands.judged(arguments, done.returncode, out, err)
    assert found.held, found.why
    assert done.returncode == commands.run(arguments)[0]
