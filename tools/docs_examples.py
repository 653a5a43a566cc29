"""A MkDocs hook that runs the examples on a page and shows what they really print. tools/examples.py has the rules.

An example that fails, or warns, fails the build, and so does a block that is neither run nor says why it is not.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError

import examples
from examples import Block

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

CODE = {"python", "console", "toml", "yaml", "json"}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    where = page.file.src_uri
    if faults := examples.unmarked(markdown):
        raise PluginError(f"{where}: " + "\n".join(faults))
    try:
        found = iter(examples.outputs(markdown))
    except examples.ExampleError as error:
        raise PluginError(f"{where}: {error}") from error
    return examples.FENCE.sub(lambda _: shown(*next(found)), markdown)


def shown(block: Block, output: str) -> str:
    """A block as the built page has it."""
    if "hidden" in block.words:
        return ""
    title = f' title="{block.title}"' if block.title else ""
    if "quiet" in block.words:
        output = ""
    if block.language == "console":
        text = fenced("console" + title, output or block.source)
    else:
        text = fenced(block.language + title, block.source) + (f"\n\n{fenced('text', output)}" if output else "")
    if block.not_run and block.language in CODE:
        text += f"\n\n<small>Not run when this page was built: {block.not_run}.</small>"
    return textwrap.indent(text, block.indent)


def fenced(language: str, text: str) -> str:
    """A fence that is longer than any inside it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
