"""A reader of DOT text for causal graphs: nodes and directed edges.

The text is only read, never run, and no library is needed. Attributes such as colours are ignored; what would change
the meaning of an edge (an undirected one, `dir=back`, a port) is an error.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evenhand.errors import DataError, shorten

MOST_CHARACTERS, MOST_NODES, MOST_EDGES, MOST_DEPTH = 1_000_000, 2_000, 50_000, 20

_TOKEN = re.compile(
    r"""
      (?P<space>\s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]*)
    | (?P<arrow>->)
    | (?P<line>--)
    | (?P<quoted>"(?:[^"\\]|\\.)*")
    | (?P<name>[^\W\d]\w* | -?(?:\.\d+|\d+(?:\.\d*)?))
    | (?P<mark>[{}\[\];,=:])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_KEYWORDS = ("strict", "digraph", "graph", "subgraph", "node", "edge")


@dataclass(frozen=True)
class Token:
    """A word of the text; a quoted word is always a name."""

    kind: str
    text: str
    place: int

    def is_word(self, *words: str) -> bool:
        """Is it one of these keywords? They may be written in any case."""
        return self.kind == "name" and self.text.lower() in words

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.text in marks


@dataclass
class ParsedGraph:
    """Nodes in the order of their first mention, and edges."""

    nodes: dict[str, None] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)


def parse(text: str) -> ParsedGraph:
    """Nodes and edges of a DOT digraph, or of its statements alone.

    >>> parse('digraph { race -> {LSAT UGPA}; "first year" [color=red] LSAT -> "first year" }').edges
    [('race', 'LSAT'), ('race', 'UGPA'), ('LSAT', 'first year')]
    >>> parse("a -> b -> c").edges
    [('a', 'b'), ('b', 'c')]
    """
    if len(text) > MOST_CHARACTERS:
        raise DataError(f"the graph has {len(text):,} characters; {MOST_CHARACTERS:,} are the most that are read.")
    return _Parser(text).graph()


def quoted(name: str) -> str:
    """A name as DOT writes it."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.place = 0
        self.parsed = ParsedGraph()

    def _tokens(self) -> Iterator[Token]:
        place = 0
        while place < len(self.text):
            match = _TOKEN.match(self.text, place)
            if match is None:
                raise self._error(place, f"{self.text[place]!r} is not read here; a name that has it goes in quotes")
            if match.lastgroup == "quoted":
                inside = re.sub(r"\\([\"\\])", r"\1", match[0][1:-1])
                yield Token("quoted", inside, place)
            elif match.lastgroup != "space":
                if match[0][-1].isdigit() and re.match(r"[^\W\d]", self.text[match.end() :][:1]):
                    raise self._error(place, "a name that begins with a digit goes in quotes")
                yield Token(str(match.lastgroup), match[0], place)
            place = match.end()

    def graph(self) -> ParsedGraph:
        if self._peek().is_word("strict"):
            self._next()
        if self._peek().is_word("graph") and not self._ahead(1).is_mark("["):
            raise self._error(self._peek().place, "a graph without directions says nothing of causes: write digraph")
        framed = self._peek().is_word("digraph")
        if framed:
            self._next()
            if self._is_name(self._peek()):
                self._next()
            self._expect("{")
        self._statements(0)
        if framed:
            self._expect("}")
        if self._peek().kind != "end":
            raise self._error(self._peek().place, "there is more text after the graph")
        return self.parsed

    def _statements(self, depth: int) -> list[str]:
        """Read statements up to a closing brace; return the nodes they name, for an edge to all of them."""
        if depth > MOST_DEPTH:
            raise self._error(self._peek().place, f"braces stand more than {MOST_DEPTH} deep")
        named: dict[str, None] = {}
        while not (self._peek().kind == "end" or self._peek().is_mark("}")):
            if self._peek().is_mark(";", ","):
                self._next()
            elif self._peek().is_word("graph", "node", "edge") and self._ahead(1).is_mark("["):
                self._next()
                self._attributes()
            elif self._ahead(1).is_mark("=") and self._is_name(self._peek()):
                self.place += 2
                self._name()
            else:
                named |= dict.fromkeys(self._chain(depth))
        return list(named)

    def _chain(self, depth: int) -> list[str]:
        """Read a node, or nodes joined by arrows; return them."""
        ends = self._ends(depth)
        every = list(ends)
        joined = False
        while self._peek().kind in ("arrow", "line"):
            arrow = self._next()
            if arrow.kind == "line":
                raise self._error(arrow.place, "an edge needs a direction: write -> from cause to effect")
            following = self._ends(depth)
            if len(ends) * len(following) + len(self.parsed.edges) > MOST_EDGES:
                raise self._error(arrow.place, f"there are more than {MOST_EDGES:,} edges")
            self.parsed.edges += itertools.product(ends, following)
            ends, joined = following, True
            every += following
        attributes = self._attributes()
        if joined and attributes.get("dir", "forward") != "forward":
            raise self._error(self._peek().place, "dir= turns an edge round: write it the way it points")
        return every

    def _ends(self, depth: int) -> list[str]:
        """Read one end of an edge: a node, or several in braces."""
        if self._peek().is_word("subgraph"):
            self._next()
            if self._is_name(self._peek()):
                self._next()
        if self._peek().is_mark("{"):
            self._next()
            inside = self._statements(depth + 1)
            self._expect("}")
            return inside
        name = self._name()
        if self._peek().is_mark(":"):
            raise self._error(self._peek().place, "ports of nodes are not read; put a name with a colon in quotes")
        self.parsed.nodes[name] = None
        if len(self.parsed.nodes) > MOST_NODES:
            raise self._error(self._peek().place, f"there are more than {MOST_NODES:,} nodes")
        return [name]

    def _attributes(self) -> dict[str, str]:
        """Read the attributes in square brackets, each value in lower case."""
        found: dict[str, str] = {}
        while self._peek().is_mark("["):
            self._next()
            while not self._peek().is_mark("]"):
                if self._peek().is_mark(",", ";"):
                    self._next()
                    continue
                key = self._name(keywords=True)
                if self._peek().is_mark("="):
                    self._next()
                    found[key.lower()] = self._name(keywords=True).lower()
            self._next()
        return found

    def _name(self, *, keywords: bool = False) -> str:
        token = self._next()
        if not (self._is_name(token) or (keywords and token.kind == "name")):
            what = "the text ends" if token.kind == "end" else f"{shorten(token.text)!r} stands"
            raise self._error(token.place, f"{what} where the name of a node belongs")
        return token.text

    @staticmethod
    def _is_name(token: Token) -> bool:
        return token.kind == "quoted" or (token.kind == "name" and not token.is_word(*_KEYWORDS))

    def _expect(self, mark: str) -> None:
        token = self._next()
        if not token.is_mark(mark):
            what = "the text ends" if token.kind == "end" else f"{shorten(token.text)!r} stands"
            raise self._error(token.place, f"{what} where {mark} belongs")

    def _peek(self) -> Token:
        return self._ahead(0)

    def _ahead(self, steps: int) -> Token:
        place = self.place + steps
        return self.tokens[place] if place < len(self.tokens) else Token("end", "", len(self.text))

    def _next(self) -> Token:
        token = self._peek()
        self.place += 1
        return token

    def _error(self, place: int, what: str) -> DataError:
        line = self.text.count("\n", 0, place) + 1
        return DataError(f"the graph cannot be read: line {line}: {what}.")
