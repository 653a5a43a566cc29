"""An extension of griffe: docstrings as help() shows them, in which examples are code.

Docstrings are completed when the package is imported, from the one record of arguments, which is not to be seen in the
source. Outside a section of examples Markdown takes ">>>" for quotes and makes prose of it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^Examples\n-+$", re.MULTILINE)


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: griffe.ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: griffe.ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: griffe.ParameterKind.var_keyword,
}


class Doctests(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        made = imported(obj.path) if isinstance(obj, griffe.Function) else None
        if isinstance(obj, griffe.Function) and callable(made):
            obj.docstring.value = inspect.getdoc(made) or obj.docstring.value
            if any(each.kind is griffe.ParameterKind.var_keyword for each in obj.parameters):
                obj.parameters = parameters(inspect.signature(made))
        obj.docstring.value = fenced(obj.docstring.value)


def imported(path: str) -> Any:
    """What has this path, once the package was imported; None where there is nothing."""
    parts = path.split(".")
    for i in range(len(parts) - 1, 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:i]))
        except ImportError:
            continue
        for name in parts[i:]:
            thing = getattr(thing, name, None)
        return thing
    return None


def parameters(signature: inspect.Signature) -> griffe.Parameters:
    """The parameters of a function that takes those of a reader as one record, written out."""
    return griffe.Parameters(
        *(
            griffe.Parameter(
                each.name,
                annotation=None if each.annotation is each.empty else str(each.annotation),
                kind=KINDS[each.kind],
                default=None if each.default is each.empty else repr(each.default),
            )
            for each in signature.parameters.values()
        )
    )


def fenced(docstring: str) -> str:
    """Put a fence around each example, which ends, as for doctest, at the first empty line.

    Those in a section of examples are left as they are: griffe makes code of them.
    """
    if SECTION.search(docstring):
        return docstring
    return EXAMPLE.sub(
        lambda found: f"{found['indent']}```pycon\n{found[0].rstrip()}\n{found['indent']}```\n", docstring
    )
