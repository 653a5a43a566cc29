"""A MkDocs hook that runs the examples on a page and shows what they really print. tools/examples.py has the rules.

An example that fails, or warns, fails the build, and so does a block that is neither run nor says why it is not. Pages
do not depend on each other, so two processes run them ahead of the build; a page that needs long is named in the log.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
import sys
import textwrap
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError

import examples
from examples import Block

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

CODE = {"python", "console", "toml", "yaml", "json"}
PROCESSES = 2
LONG = 5.0  # seconds of processor time, from which a page is named in the log

log = logging.getLogger("mkdocs.plugins.docs_examples")


class _Build:
    """The pages of one build, which are run while others are being written."""

    def __init__(self) -> None:
        tools = str(Path(__file__).parent)
        if tools not in sys.path:
            sys.path.append(tools)  # MkDocs takes it away after loading a hook; the processes import `examples` anew
        # Not forked: the build has loaded libraries with threads of their own.
        self.pool = ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn"))
        self.pages: dict[str, Future[tuple[list[tuple[Block, str]], float]]] = {}  # outputs and seconds
        self.seconds: dict[str, float] = {}


_builds: list[_Build] = []


def on_files(files: Files, **_: Any) -> None:
    """Begin to run every page. The pages that take long come first, so that none of them is left for the end."""
    build = _Build()
    _builds.append(build)
    texts = {file.src_uri: file.content_string for file in files.documentation_pages()}
    for where, text in sorted(texts.items(), key=lambda item: -len(examples.blocks(item[1]))):
        if faults := examples.unmarked(text):
            raise PluginError(f"{where}: " + "\n".join(faults))
        build.pages[where] = build.pool.submit(examples.timed_outputs, text)


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    build, where = _builds[-1], page.file.src_uri
    try:
        outputs, build.seconds[where] = build.pages[where].result()
    except examples.ExampleError as error:
        raise PluginError(f"{where}: {error}") from error
    found = iter(outputs)
    return examples.FENCE.sub(lambda _: shown(*next(found)), markdown)


def on_post_build(**_: Any) -> None:
    build = _close()
    for where, seconds in sorted(build.seconds.items(), key=lambda item: -item[1]):
        if seconds > LONG:
            log.info("the examples of %s took %.1f s of processor time", where, seconds)
    log.info("the examples of %d pages took %.0f s of processor time", len(build.seconds), sum(build.seconds.values()))


def on_build_error(**_: Any) -> None:
    if _builds:
        _close()


def _close() -> _Build:
    build = _builds.pop()
    build.pool.shutdown(wait=False, cancel_futures=True)
    return build


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
