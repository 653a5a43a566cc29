"""Docstrings in the form of numpydoc, completed from the one record of arguments.

A docstring in the source says what a function returns, and describes the arguments that are its own. Types and
defaults come from the signature; what shared arguments mean from `read_arguments.ARGUMENTS` and `core.judging.JUDGING`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar, overload

from evenhand.core.familiar import also_called
from evenhand.core.judging import JUDGING
from evenhand.sources.read_arguments import ARGUMENTS

T = TypeVar("T")

SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Attributes", "Examples")
"""The headings that a docstring may have, in their order."""

_WIDTH = 96
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
_PARAMETER = re.compile(r"^([*\w][\w*, ]*?)(?: :.*)?$")

SHARED: dict[str, str] = {
    "data": "A table (pandas, Polars, PyArrow, Dask, Spark, Ibis, DuckDB, a mapping of arrays, a list of rows), the "
    "path of a file, or None with arrays in the roles.",
    "y_pred": "The predictions, where the first argument is an array of labels: f(y_true, y_pred, ...), as in other "
    "libraries. Everything else is given by name.",
    "X": "The people: a table or an array with a row for each.",
    "y": "The class of each row.",
    "replicas": "An array (B, n) of P(Y=1) or of labels, with a row for each replica of the model, as "
    "`evenhand.replicate` makes it.",
    "alpha": "The power of the index: the larger it is, the more those who fare best count.",
    "epsilon": "How much unevenness is disliked: the larger it is, the more those who fare worst count.",
    "min_bin": "Bins in which a group has fewer people are not compared.",
    "loss": 'What an error costs: "squared" or "absolute".',
    "ratio": "The ratio of selection rates below which a shortfall counts.",
    "selection": 'What it means to be selected: a "benefit" or a "burden".',
    "concentration": "How many people the smoothing adds to each group.",
    "intervals": "Whether intervals are computed, which include the chance in which people and replicas were drawn.",
    "sample_weight": "The weight of each row; by default all weigh the same.",
    **{name: argument.doc or argument.help for name, argument in ARGUMENTS.items()},
    **{name: argument.doc for name, argument in JUDGING.items()},
}
"""What arguments of these names mean wherever the docstring of a function does not say otherwise."""

_FINDING = (
    "The value with its interval, the verdict, the groups and a sentence that says who, how much and how sure. "
    "`float(finding)` is the value."
)
_RETURNS = {
    "Finding": _FINDING,
    "Audit": "The findings with their verdict, notes and counts. Print it, or `save` it as a page.",
    "Cube": "The counts, from which everything else is computed.",
    "None": "Nothing.",
    "str": "The text.",
    "dict[str, Any]": "Plain data, ready for JSON.",
    "Any": "The result, of the caller's own kind.",
}
_RAISES = """\
CallError
    An argument is wrong, or two contradict each other; the message says what to type.
DataError
    The data cannot be what the call says it is."""


@overload
def documented(thing: T) -> T: ...


@overload
def documented(thing: None = None, *, like: Callable[..., Any]) -> Callable[[T], T]: ...


def documented(thing: Any = None, *, like: Callable[..., Any] | None = None) -> Any:
    """A function whose docstring explains every parameter, or a class whose public methods have such docstrings.

    `like` is a function that explains parameters of the same names.

    >>> @documented
    ... def share(confidence: float = 0.95) -> str:
    ...     '''The share of people.'''
    >>> print(share.__doc__)
    The share of people.
    <BLANKLINE>
    Parameters
    ----------
    confidence : float, default 0.95
        The confidence of intervals; default 0.95. Also accepted as: confidence_level.
    <BLANKLINE>
    Returns
    -------
    str
        The text.
    <BLANKLINE>
    """
    if thing is None:
        return partial(documented, like=like)
    known = {} if like is None else _entries(_sections(inspect.getdoc(like) or "").get("Parameters", ""))
    if not isinstance(thing, type):
        thing.__doc__ = _completed(thing, known)
        return thing
    for name, part in vars(thing).items():
        function = getattr(part, "__func__", part)
        if name[0] != "_" and inspect.isfunction(function):
            function.__doc__ = _completed(function, known)
    return thing


def _completed(function: Callable[..., Any], known: Mapping[str, str]) -> str | None:
    """The docstring with what was left out; None where Python was told to drop docstrings."""
    if function.__doc__ is None:
        return None
    sections = _sections(inspect.cleandoc(function.__doc__))
    own = _entries(sections.get("Parameters", ""))
    signature = inspect.signature(function)
    sections["Parameters"] = parameters(signature, {**known, **own})
    if "Returns" not in sections:
        sections["Returns"] = returned(_shown(signature.return_annotation))
    return text(sections.pop(""), sections)


def text(beginning: str, sections: Mapping[str, str]) -> str:
    """A docstring from its beginning and its sections."""
    parts = [beginning.strip()]
    parts += [f"{name}\n{'-' * len(name)}\n{sections[name].strip()}" for name in SECTIONS if sections.get(name)]
    return "\n\n".join(parts) + "\n"


def parameters(signature: inspect.Signature, known: Mapping[str, str] | None = None) -> str:
    """The section of the parameters of a signature; `known` are those that the function itself explains."""
    explained = known or {}
    every = {name: each for name, each in signature.parameters.items() if name not in ("self", "cls")}
    called = also_called(every)
    entries = []
    for name, each in every.items():
        stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        words = explained.get(stars + name) or explained.get(name) or SHARED.get(name, "")
        names = tuple(called.get(name, ())[:4])
        entries.append(_entry(stars + name, _shown(each.annotation), _default(each.default), words, names))
    return "\n".join(entries)


shared_parameters = cache(parameters)
"""The same of a signature alone, made once for all that are equal, as those of most metrics are."""


@cache
def _entry(name: str, kind: str, default: str, words: str, called: tuple[str, ...]) -> str:
    """One parameter; `called` are its familiar names."""
    also = f" Also accepted as: {', '.join(called)}." if called else ""
    head = f"{name} : {kind}{default}" if kind else name + default
    return "\n".join([head, _indented(words + also)]) if words else head


def returned(kind: str, words: str = "") -> str:
    """The section of what a function returns."""
    return f"{kind}\n{_indented(words or _RETURNS.get(kind, f'The {kind}.'))}"


def raised() -> str:
    """The section of what a function that reads data raises."""
    return _RAISES


@cache
def references(sources: tuple[str, ...]) -> str:
    """The section of the sources."""
    return "\n".join(textwrap.fill(f"- {each}", _WIDTH, subsequent_indent="  ") for each in sources)


@cache
def filled(paragraph: str) -> str:
    """A paragraph in lines of the usual width."""
    return textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _indented(words: str) -> str:
    return textwrap.indent(filled(" ".join(words.split())), "    ")


def _shown(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    shown = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return shown.rpartition("evenhand.")[2].rpartition(".")[2] if shown.startswith("evenhand.") else shown


def _default(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return ""
    return ", optional" if default is None else f", default {default!r}"


def _sections(docstring: str) -> dict[str, str]:
    """The sections of a docstring by their headings; what comes before them is "". Examples need no heading."""
    parts = _HEADING.split(docstring)
    found = dict(zip(["", *parts[1::2]], parts[::2], strict=True))
    if "Examples" not in found:
        found, examples = _apart(found)
        if examples:
            found["Examples"] = "\n\n".join(examples)
    return found


def _apart(sections: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The sections without the paragraphs that are examples, and these."""
    kept, examples = {}, []
    for name, body in sections.items():
        paragraphs = body.split("\n\n")
        examples += [part.strip("\n") for part in paragraphs if part.lstrip("\n").startswith(">>>")]
        kept[name] = "\n\n".join(part for part in paragraphs if not part.lstrip("\n").startswith(">>>"))
    return kept, examples


def _entries(section: str) -> dict[str, str]:
    """What a section of parameters says of each; one paragraph may be about several, parted by commas."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        head = None if line.startswith(" ") or not line else _PARAMETER.match(line)
        if head is not None:
            names = [name.strip() for name in head[1].split(",")]
            found |= dict.fromkeys(names, "")
        else:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found
