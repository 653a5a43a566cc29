"""An audit as something to read: a page or a PDF for people, text for a terminal, Markdown and JUnit for CI, JSON for a
program.

The file's suffix decides the form.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.files import write_bytes, write_text
from evenhand.errors import CallError, nearest, shorten

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

# The module that writes each form; loaded when it is wanted.
WRITERS = {".html": "page", ".json": "json", ".md": "markdown", ".pdf": "pdf", ".xml": "junit"}

# The forms that carry the counts, unless a caller leaves them out.
WITH_CUBE = (".html", ".json")

# The forms that show every group, small ones too.
WITH_GROUPS = (*WITH_CUBE, ".pdf")


# What else a caller may say of each form.
_OPTIONS = {".html": ("embed_cube", "appendix"), ".json": ("embed_cube",), ".pdf": ("appendix",)}

# The forms that are printed, and may end with every number.
WITH_APPENDIX = tuple(form for form, names in _OPTIONS.items() if "appendix" in names)


def save(audit: Audit, path: Path, form: str | None = None, **options: Any) -> None:
    """Write an audit, or a form of it; whole or not at all.

    `embed_cube` says whether its counts leave with it, `appendix` whether what is printed ends with every number; each
    holds for the forms that know it.
    """
    if form is not None:
        from evenhand.report import forms

        forms.save(audit, form, path)
        return
    if path.suffix not in WRITERS:
        named = path.suffix or path.name
        raise CallError(f"an audit cannot be saved as {shorten(named)!r}; {nearest(named, WRITERS)}")
    writer = import_module(f"evenhand.report.{WRITERS[path.suffix]}")
    known = _OPTIONS.get(path.suffix, ())
    content = writer.dumps(audit, **{name: value for name, value in options.items() if name in known})
    if isinstance(content, bytes):
        write_bytes(path, content)
    else:
        write_text(path, content)
