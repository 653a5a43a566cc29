"""Short names for what a script declares for itself, so that a page carries less of them.

One name becomes the same short name everywhere, so scopes need not be understood: two variables of one name stay two
variables of one name. Only names that are declared are taken, and none that is also a property somewhere.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator

_NAME = r"(?<![\w$])[A-Za-z_$][\w$]*"
_TOKEN = re.compile(rf"{_NAME}|=>|\.\.\.|[^\s\w]")
_DECLARED = re.compile(rf"\b(?:let|const|function|class)\s+({_NAME})|({_NAME})\s*=>|\bcatch\s*\(({_NAME})")
_PATTERN = re.compile(r"\b(?:let|const)\s*\[([^\]]*)\]")
_PARAMETERS = re.compile(r"(?<!\bif)(?<!\bfor)(?<!\bwhile)(?<!\bswitch) ?\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:=>|\{)")
# A brace after one of these opens an object, or a pattern that takes one apart; after anything else, a block.
_BEFORE_OBJECT = frozenset(("(", ",", "=", ":", "[", "?", "&", "|", "return", "let", "const", "..."))
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        as async await break case catch class const continue default delete do else extends false finally for function
        get if in instanceof let new null of return set static super switch this throw true try typeof undefined void
        while yield NaN Infinity arguments document window navigator module require Math JSON Number String Array
        Object Map Set
        """,
    )
)


def shorten(code: str, keep: Collection[str]) -> str:
    """The code with short names for all that it declares, but for those in `keep`; literals must be out of it.

    >>> shorten("let total=0;let add=(value)=>{total+=value;return{value:total,total}}", ())
    'let total=0;let a=(value)=>{total+=value;return{value:total,total}}'
    """
    tokens = [found.group() for found in _TOKEN.finditer(code)]
    taken = _declared(code) - _properties(tokens) - _WORDS - set(keep)
    used = Counter(token for token in tokens if token in taken)
    spare = _short_names(set(tokens) | _WORDS)
    order = sorted((name for name in used if len(name) > 1), key=lambda name: (-used[name], name))
    new = {name: short for name in order if len(short := next(spare)) < len(name)}
    return re.sub(_NAME, lambda found: new.get(found.group(), found.group()), code)


def _declared(code: str) -> set[str]:
    """What is declared by a keyword, taken from a list, or a parameter."""
    found = {name for names in _DECLARED.findall(code) for name in names if name}
    for pattern in (_PATTERN, _PARAMETERS):
        for inside in pattern.findall(code):
            found.update(re.findall(_NAME, inside) if pattern is _PATTERN else _parameters(inside))
    return found


def _parameters(inside: str) -> list[str]:
    return [name for part in re.split(r"[,\[\]{}]", inside) for name in re.findall(rf"^\s*(?:\.\.\.)?({_NAME})", part)]


def _properties(tokens: list[str]) -> set[str]:
    """Names that stand after a dot, before a colon of an object, or may stand for both a variable and a property."""
    found, inside = set(), [""]
    for before, part, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if part in ("(", "[", "{"):
            inside.append("object" if part == "{" and before in _BEFORE_OBJECT else part)
        elif part in (")", "]", "}") and len(inside) > 1:
            inside.pop()
        both = inside[-1] == "object" and before in ("{", ",") and after in (",", "}", "=", "(")
        if before == "." or (after == ":" and before in ("{", ",")) or both:
            found.add(part)
    return found


def _short_names(taken: Collection[str]) -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = ("".join(parts) for size in (1, 2, 3) for parts in itertools.product(letters, repeat=size))
    return (name for name in names if name not in taken)
