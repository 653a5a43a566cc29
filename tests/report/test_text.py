"""Text for a screen: as wide as it is, in signs that it has, and nothing that belongs to a terminal or a notebook."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from contextlib import redirect_stdout

import pytest

import evenhand as eh
from evenhand.report.text import PAGE, Screen, plain_text, say
from evenhand.report.text import audit as text

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}


def compas() -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, sensitive=["race", "sex"])


def test_neither_colours_nor_bold_letters(monkeypatch):
    before = text.plain(compas(), PAGE)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")
    assert text.plain(compas(), PAGE) == before
    assert "\x1b" not in before


@pytest.mark.parametrize(("said", "width"), [("80", 80), ("200", 200), ("3", 40), ("0", 120), ("wide", 120), ("", 120)])
def test_columns_say_how_wide_standard_output_is(said, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", said)
    with redirect_stdout(io.StringIO()):
        assert Screen.here() == Screen(width, "utf-8")


def test_a_page_where_there_is_no_standard_output():
    with redirect_stdout(None):
        assert Screen.here() == PAGE


def test_a_result_is_as_wide_as_the_terminal():
    """In a terminal of 80 columns, print() of an audit writes lines that fit."""
    code = (
        "import evenhand as eh\n"
        f"print(eh.audit(eh.datasets.compas(), **{COMPAS!r}, sensitive='race', metrics=['equalized_odds']))"
    )
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)
    assert process.returncode == 0
    lines = shown.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith(" equalized_odds ") and line.rstrip().endswith("fail") for line in lines)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # whoever wrote has gone
        return b""


# --- 80 columns


def test_a_long_line_continues_below_itself_on_a_narrow_screen():
    def write(console):
        say(console, "    - ", "word " * 30)

    lines = plain_text(write, Screen(40)).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("    ") and len(line) <= 40 for line in lines)
    assert len(plain_text(write, PAGE).splitlines()) == 1
