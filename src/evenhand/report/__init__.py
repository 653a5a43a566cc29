"""An audit as something to read: a page for people, text for a terminal, Markdown and JUnit for CI, JSON for a program.

The file's suffix decides the form.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.files import write_text as replace_text
from evenhand.errors import CallError, nearest, shorten

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit

# The module that writes each form; loaded when it is wanted.
WRITERS = {".html": "page", ".json": "json", ".md": "markdown", ".xml": "junit"}


# The forms that carry the counts, unless a caller leaves them out.
WITH_CUBE = (".html", ".json")


def save(audit: Audit, path: Path, **counts: Any) -> None:
    """Write an audit; whole or not at all.

    `counts` says whether its counts leave with it, in the forms that carry them: `embed_cube`.
    """
    if path.suffix not in WRITERS:
        named = path.suffix or path.name
        raise CallError(f"an audit cannot be saved as {shorten(named)!r}; {nearest(named, WRITERS)}")
    writer = import_module(f"evenhand.report.{WRITERS[path.suffix]}")
    replace_text(path, writer.dumps(audit, **(counts if path.suffix in WITH_CUBE else {})))
