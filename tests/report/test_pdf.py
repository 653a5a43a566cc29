"""What is said where nothing can print, and what happens around a browser: stand-ins for it, which are small scripts.

tests/browser/test_pdf.py prints with a real one, and with WeasyPrint.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError, MissingDependencyError
from evenhand.report import page, pdf

AUDIT = eh.audit(prediction=[1, 0] * 50, sensitive=["north", "south"] * 50)

posix = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are scripts")

PRINTS = """
import sys
options = dict(part.partition("=")[::2] for part in sys.argv[1:])
open(options["--print-to-pdf"], "wb").write(b"%PDF-1.4 /Creator (evenhand) " + " ".join(sys.argv[1:]).encode())
print("<html data-ready='yes'>")
"""


@pytest.fixture
def browser(tmp_path, monkeypatch):
    """Put a stand-in for Chromium, a script in Python, where evenhand looks for it."""

    def make(code: str) -> str:
        program = tmp_path / "stand-in"
        program.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv(pdf.VARIABLE, str(program))
        return str(program)

    return make


@pytest.fixture
def without_printers(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(pdf.VARIABLE, raising=False)
    monkeypatch.setattr(pdf, "find_spec", lambda name: None)


def test_without_a_printer_the_error_says_what_to_install(without_printers, tmp_path):
    with pytest.raises(MissingDependencyError) as raised:
        AUDIT.save(tmp_path / "a.pdf")
    assert "sudo apt-get install chromium" in str(raised.value)
    assert "pip install 'evenhand[pdf]'" in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_a_command_says_so_before_it_reads_anything(without_printers, capsys):
    assert run(["audit", "nowhere.csv", "--prediction=d", "--sensitive=g", "-o", "a.pdf"]) == 2
    assert "a PDF is printed by Chromium or by WeasyPrint, and neither is here" in capsys.readouterr().err


def test_chromium_is_found_on_the_path(tmp_path, monkeypatch):
    monkeypatch.delenv(pdf.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pdf.find_chromium() is None
    for name in reversed(pdf.PROGRAMS):  # the first of the names is taken
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
        assert pdf.find_chromium() == str(tmp_path / name)
    monkeypatch.setenv(pdf.VARIABLE, "none")
    assert pdf.find_chromium() is None


def test_a_browser_that_is_named_and_not_there(monkeypatch):
    monkeypatch.setenv(pdf.VARIABLE, "/nowhere/chromium")
    with pytest.raises(CallError, match="EVENHAND_CHROMIUM='/nowhere/chromium' is not a program that can be run here"):
        pdf.dumps(AUDIT)


@posix
def test_what_the_browser_printed_is_saved(browser, tmp_path):
    browser(PRINTS)
    AUDIT.save(tmp_path / "a.pdf")
    printed = (tmp_path / "a.pdf").read_text()
    assert printed.startswith("%PDF")
    assert "--headless" in printed
    assert ("--no-sandbox" in printed) == (os.geteuid() == 0)
    folder = Path(printed.partition("--user-data-dir=")[2].split()[0]).parent
    assert not folder.exists()  # with the page, which may tell of people


@posix
def test_the_sandbox_stays_for_everybody_but_root(browser, monkeypatch):
    browser(PRINTS)
    for user, sandbox in ((0, False), (1000, True)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert (b"--no-sandbox" not in pdf.dumps(AUDIT)) == sandbox


@posix
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", r"stand-in printed no PDF \(exit code 0\)\. Name another browser in EVENHAND_CHROMIUM"),
        (
            "import sys; print('first', file=sys.stderr); sys.exit('no \x1b[31mdisplay')",
            r"printed no PDF \(exit code 1: no \\x1b\[31mdisplay\)",
        ),
        (PRINTS.replace("data-ready", "data-early"), "stand-in printed the page before it was drawn"),
    ],
)
def test_a_browser_that_fails_leaves_the_old_file(code, message, browser, tmp_path):
    browser(code)
    (tmp_path / "a.pdf").write_bytes(b"old")
    with pytest.raises(DataError, match=message):
        AUDIT.save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == b"old"


@posix
def test_a_file_that_is_not_a_program(browser):
    Path(browser("")).write_bytes(b"\x7fELF")
    with pytest.raises(CallError, match="stand-in cannot be run: "):
        pdf.dumps(AUDIT)


@posix
def test_a_browser_that_hangs_is_ended_with_all_its_processes(browser, tmp_path, monkeypatch):
    child = tmp_path / "child"
    browser(
        "import subprocess, time\n"
        "running = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(child)!r}, 'w').write(str(running.pid))\n"
        "time.sleep(60)"
    )
    monkeypatch.setattr(pdf, "_SECONDS", 3)
    with pytest.raises(DataError, match="stand-in printed no PDF in 3 seconds"):
        pdf.dumps(AUDIT)
    assert gone(int(child.read_text()))


def gone(process: int) -> bool:
    """Has a process ended? A moment may pass until the system has taken notice."""
    for _ in range(200):
        try:
            if (status := Path(f"/proc/{process}/status")).exists() and "State:\tZ" in status.read_text():
                return True
            os.kill(process, 0)
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_the_light_colour_is_taken_and_names_stay():
    text = page.dumps(eh.audit(prediction=[1, 0] * 50, sensitive=["light-dark(a, b)", "south"] * 50))
    light = pdf.for_weasyprint(text)
    assert "light-dark(" not in light.partition("</style>")[0]
    assert "light-dark(a, b)" in light


# --- which files are replaced


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    AUDIT.save("a.json")
    return ["report", "a.json", "-o", "a.pdf"]


@posix
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", 0),
        (b"%PDF-1.4\n1 0 obj\n<</Title <FE>\n/Creator (evenhand)\n/Producer (Skia/PDF m156)", 0),
        (b"%PDF-1.7\n" + b"x" * 200_000 + b"/Info 73 0 R/ID [(evenhand) (654d)]/Filter", 0),
        (b"%PDF-1.4\n1 0 obj\n<</Creator (Writer)>> evenhand", 2),
        (b"a letter /Creator (evenhand)", 2),
    ],
)
def test_only_a_pdf_of_evenhand_is_replaced(content, code, saved, browser, capsys):
    browser(PRINTS)
    Path("a.pdf").write_bytes(content)
    assert run(saved) == code
    assert Path("a.pdf").read_bytes() == content or code == 0
    assert ("is a file of another kind" in capsys.readouterr().err) == (code == 2)
    assert run([*saved, "--force"]) == 0
    assert Path("a.pdf").read_bytes().startswith(b"%PDF-1.4 /Creator (evenhand)")


@posix
def test_a_pdf_carries_results_and_no_counts(saved, browser, capsys):
    browser(PRINTS)
    assert run(saved) == 0
    assert "Saved for yourself: with the results, of small groups too." in capsys.readouterr().err
    assert run([*saved, "-o", "b.html"]) == 0
    assert "with the full counts and results" in capsys.readouterr().err
    assert run([*saved, "--share"]) == 0
    assert capsys.readouterr().err == ""
    assert run([*saved, "--no-cube"]) == 2
    assert "--no-cube is for what carries the counts" in capsys.readouterr().err
