"""Audits printed by a real Chromium and by WeasyPrint: letter paper, every sentence that decides, harmless names."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import evenhand as eh
from conftest import require
from evenhand.cli import run
from evenhand.errors import DataError
from evenhand.report import pdf, tables
from evenhand.report.page import static
from support import hostile, pages

KINDS = ("compas", "strata", "decisions only", "regression", "nothing found")


@pytest.fixture(params=["chromium", "weasyprint"])
def printer(request, monkeypatch) -> str:
    """Each of the two that print; where one is not there, its tests say so and are skipped."""
    require("poppler", shutil.which("pdftotext") is not None, "apt-get install poppler-utils")
    if request.param == "weasyprint":
        require("weasyprint", find_spec("weasyprint") is not None, "pip install --group browser, or make browser")
        monkeypatch.setenv(pdf.VARIABLE, "none")
    else:
        why = f"apt-get install chromium, or name a browser in {pdf.VARIABLE}"
        require("chromium", pdf.find_chromium() is not None, why)
    return request.param


def poppler(name: str, path: Path, *options: str) -> str:
    out = ["-"] if name == "pdftotext" else []
    shown = subprocess.run([name, *options, str(path), *out], capture_output=True, check=True)
    assert shown.stderr == b""  # where poppler says what is wrong with a PDF
    return shown.stdout.decode("utf-8")


def words(path: Path) -> str:
    """The words of a PDF in the order of the page, without what stands between them."""
    return "".join(poppler("pdftotext", path, "-raw").split())


def same(text: str) -> str:
    return "".join(text.split())


@cache
def audit(kind: str) -> eh.Audit:
    return pages.KINDS[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_the_paper_says_what_was_decided(printer, kind, tmp_path):
    found = audit(kind)
    found.save(tmp_path / "a.pdf")
    about = poppler("pdfinfo", tmp_path / "a.pdf")
    assert re.search(r"^Page size: +612 x 792 pts \(letter\)$", about, re.MULTILINE)
    assert re.search(r"^Creator: +evenhand$", about, re.MULTILINE)
    assert re.search(r"^JavaScript: +no$", about, re.MULTILINE)
    told = words(tmp_path / "a.pdf")
    assert same(static.title(found)) in told
    for finding in tables.deciding(found)[: static.MOST_CARDS]:
        assert same(finding.interpretation) in told


def test_a_page_that_was_not_drawn_is_not_printed(monkeypatch):
    """A script that was changed does not run: the Content-Security-Policy of the page forbids it."""
    require("chromium", pdf.find_chromium() is not None, "apt-get install chromium")
    text = pdf.page.dumps(audit("compas")).replace('"use strict";', '"use strict"; 1;')
    monkeypatch.setattr(pdf.page, "dumps", lambda audit, **_: text)
    with pytest.raises(DataError, match="printed the page before it was drawn"):
        pdf.dumps(audit("compas"))


@pytest.mark.parametrize("name", ["script", "image", "entity", "rtl", "emoji", "newline"])
def test_names_are_only_names(printer, name, tmp_path):
    table = hostile.as_group(hostile.NAMES[name])
    found = eh.audit(table, label=hostile.LABEL, prediction=hostile.DECISION, sensitive=hostile.GROUP)
    found.save(tmp_path / "a.pdf")
    told = words(tmp_path / "a.pdf")
    if name in ("script", "image", "entity"):
        assert same(hostile.NAMES[name]) in told
    assert re.search(r"^JavaScript: +no$", poppler("pdfinfo", tmp_path / "a.pdf"), re.MULTILINE)


def test_what_cannot_be_kept_together_is_printed_all_the_same():
    """WeasyPrint gives up on such a page, so it is set once more with breaks anywhere."""
    hidden = ".card .asks {\n    display: none;"
    text = pdf.page.dumps(audit("strata"))
    assert hidden in text
    assert pdf._weasyprint(text.replace(hidden, ".card .asks {\n    display: block;")).startswith(b"%PDF-")


def test_the_command_prints_and_prints_again(printer, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    audit("decisions only").save("a.json")
    for _ in range(2):  # a PDF of our own is replaced without --force
        assert run(["report", "a.json", "-o", "a.pdf"]) == 0, capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("a.json", "a.pdf")] == []
    assert same(static.title(audit("decisions only"))) in words(tmp_path / "a.pdf")
