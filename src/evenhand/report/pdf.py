"""An audit as a PDF: its page, printed on letter paper by Chromium or, where there is none, by WeasyPrint.

Chromium runs the script of the page, so the PDF has every plot. WeasyPrint runs no script: its PDF has what the page
says without one, which is the verdict, the findings, the notes and every number as a table.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.signs import escaped
from evenhand.errors import CallError, DataError, MissingDependencyError, shorten
from evenhand.report import page

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

VARIABLE = "EVENHAND_CHROMIUM"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")

_SECONDS = 120
# Time that passes only while the page has nothing to do, in milliseconds: the script unpacks its data and draws before
# it is over, however slow the machine is.
_VIRTUAL_TIME = 10_000
_INSTALL = (
    "a PDF is printed by Chromium or by WeasyPrint, and neither is here: sudo apt-get install chromium (or name a "
    f"browser in {VARIABLE}), or pip install 'evenhand[pdf]'. A page can also be saved as .html and printed from there."
)
_ANOTHER = f"Name another browser in {VARIABLE}, or print with WeasyPrint: {VARIABLE}=none."


def dumps(audit: Audit, *, appendix: bool = False) -> bytes:
    """The audit as a PDF: its page as printed, with every number at the end if `appendix` says so."""
    program, text = _program(), page.dumps(audit, appendix=appendix)
    return _weasyprint(text) if program is None else _chromium(program, text)


def check() -> None:
    """Raise what `dumps` would raise because nothing here can print, before an audit is made."""
    _program()


def find_chromium() -> str | None:
    """The path of the browser: the one that EVENHAND_CHROMIUM names, else the first on the PATH."""
    named = os.environ.get(VARIABLE)
    if named == "none":
        return None
    if named:
        found = shutil.which(named)
        if found is None:
            raise CallError(f"{VARIABLE}={shorten(named)!r} is not a program that can be run here. {_ANOTHER}")
        return found
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def _program() -> str | None:
    """The browser to print with; None for WeasyPrint."""
    program = find_chromium()
    if program is None and find_spec("weasyprint") is None:
        raise MissingDependencyError(_INSTALL)
    return program


# --- Chromium


def _chromium(program: str, text: str) -> bytes:
    # A browser that is ending may still write into its folder: what is left of it is removed by the system.
    with tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "audit.html").write_text(text, encoding="utf-8")
        code = _run([program, *_options(folder), (folder / "audit.html").as_uri()], folder)
        drawn = "data-ready" in (folder / "page").read_text(encoding="utf-8", errors="replace")[:1000]
        if not (folder / "audit.pdf").is_file():
            said = _last_line((folder / "errors").read_text(encoding="utf-8", errors="replace"))
            raise DataError(f"{program} printed no PDF (exit code {code}{said}). {_ANOTHER}")
        if not drawn:
            raise DataError(f"{program} printed the page before it was drawn. {_ANOTHER}")
        return (folder / "audit.pdf").read_bytes()


def _options(folder: Path) -> list[str]:
    # Chromium has no sandbox for root and refuses to start; the page is our own and may run nothing else.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        "--headless",
        *root,
        "--no-first-run",
        "--disable-background-networking",
        "--user-agent=evenhand",  # becomes the creator of the PDF, by which a file of ours is known
        f"--user-data-dir={folder / 'browser'}",
        f"--virtual-time-budget={_VIRTUAL_TIME}",
        "--dump-dom",  # what the page was when it was printed: `_chromium` looks whether it was drawn
        "--no-pdf-header-footer",
        f"--print-to-pdf={folder / 'audit.pdf'}",
    ]


def _run(command: list[str], folder: Path) -> int:
    """Run a program in a session of its own, whose processes all end with it; its exit code.

    It writes to files: a pipe would stay open as long as any of its processes.
    """
    with (folder / "page").open("wb") as out, (folder / "errors").open("wb") as errors:
        try:
            running = subprocess.Popen(  # noqa: S603 - the browser of this machine, with our own arguments
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
            )
        except OSError as error:
            raise CallError(f"{command[0]} cannot be run: {error.strerror or error}. {_ANOTHER}") from None
        try:
            return running.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            raise DataError(f"{command[0]} printed no PDF in {_SECONDS} seconds. {_ANOTHER}") from None
        finally:
            if running.returncode is None:
                _end(running)


def _end(running: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(running.pid, signal.SIGKILL)
    running.kill()
    running.wait()


def _last_line(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f": {escaped(lines[-1])}" if lines else ""


# --- WeasyPrint

# Where the page draws a picture, its table is shown instead. WeasyPrint resolves no icon that another svg element
# defines and knows no grid of as many columns as fit. Words that may be broken anywhere take it six times as long, and
# would break numbers; long names in tables must stay on the paper.
_STYLE = """@page { size: letter; margin: 1cm }
.icon { display: none }
#picture .twin { display: block !important }
.state { display: inline }
.data { width: 100% }
body { overflow-wrap: break-word }
.data .text, .data [scope="row"] { min-width: 0; overflow-wrap: anywhere }
.cards, .split, .method { display: block }
.card { max-width: none; margin-bottom: 12pt }
.method > div { margin-bottom: 6pt }"""


def _weasyprint(text: str) -> bytes:
    light = for_weasyprint(text)
    try:
        return _set(light)
    except AssertionError:
        # WeasyPrint gives up where what must stay together is longer than a sheet, such as a cover of several thousand
        # words; then it may break anywhere.
        return _set(light.replace("</style>", f"{_ANYWHERE}</style>", 1))


_ANYWHERE = "* { break-before: auto !important; break-inside: auto !important; break-after: auto !important }"


def _set(text: str) -> bytes:
    made: bytes = _html_class()(string=text, url_fetcher=_refuse).write_pdf(pdf_identifier=b"evenhand")
    return made


def _refuse(url: str, *_: Any, **__: Any) -> Any:
    """A page needs nothing but itself, and WeasyPrint does not read its Content-Security-Policy."""
    raise DataError(f"a page may fetch nothing, and asked for {shorten(url)!r}.")


def _html_class() -> Any:
    try:
        from weasyprint import HTML
    except OSError as error:  # the libraries that it needs are loaded when it is imported
        raise MissingDependencyError(
            "WeasyPrint does not find Pango, with which it sets text: sudo apt-get install libpango-1.0-0 "
            f"libpangoft2-1.0-0 libharfbuzz-subset0 ({escaped(str(error))})."
        ) from None
    return HTML


def for_weasyprint(text: str) -> str:
    """A page with a style that WeasyPrint understands: of two colours the light one, and the rules of `_STYLE` last.

    >>> for_weasyprint("<style>a { color: light-dark(#fff, #000) }</style>light-dark(a, b)").replace(_STYLE, "...")
    '<style>a { color: #fff }...</style>light-dark(a, b)'
    """
    style, end, rest = text.partition("</style>")
    return re.sub(r"light-dark\(([^(),]+),[^()]*\)", r"\1", style) + _STYLE + end + rest
