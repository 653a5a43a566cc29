"""Forms: an audit as a document that somebody has to hand in. What stands in one is computed from the counts.

A form is a row of `FORMS`: its module makes the content, and one of the writers makes the file.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.core.files import write_text
from evenhand.errors import CallError, either, nearest, shorten

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit
    from evenhand.cube.cube import Cube
    from evenhand.report.forms.record import Record

FORMS = {"ll144": "ll144", "annex-iv": "annex_iv", "model-card": "model_card", "nist": "nist"}
"""The forms by name, with the module of each."""
SUFFIXES = (".html", ".md", ".csv")
REPORTED = ("system", "version", "purpose", "author", "signer", "date", "data_source", "limits")
"""What every reader of a form looks for in the cover, in the words of its table [report]."""


def dumps(audit: Audit, form: str, suffix: str = ".html") -> str:
    """An audit as the text of a form."""
    from evenhand.report.forms.record import Record

    check_form(form)
    record, computed = Record.of(audit, form)
    return _written(record, computed, suffix)


def save(audit: Audit, form: str, path: Path) -> None:
    """Write a form; whole or not at all."""
    check_form(form)
    if path.suffix not in SUFFIXES:
        raise CallError(f"a form is saved as {either(SUFFIXES)}, not as {shorten(path.suffix or path.name)!r}.")
    write_text(path, dumps(audit, form, path.suffix))


def rewrite(record: Record, suffix: str, cube: Cube, parts: tuple[Cube, ...] = ()) -> str:
    """The text that a form with this record has, if it is of these counts."""
    return _written(record, record.compute(cube, parts), suffix)


def _written(record: Record, audit: Audit, suffix: str) -> str:
    from evenhand.report.forms.writers import WRITERS

    content = import_module(f"evenhand.report.forms.{FORMS[record.form]}").content
    return WRITERS[suffix](content(audit, record), record.pack())


def check_form(form: str) -> None:
    """Raise unless there is such a form."""
    if not isinstance(form, str) or form not in FORMS:
        raise CallError(f"form={shorten(repr(form))} is not known; {nearest(str(form), FORMS)}")
