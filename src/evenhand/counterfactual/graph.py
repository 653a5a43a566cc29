"""The graph of causes: read from edges, DOT text or a networkx DiGraph, and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.core.arguments import is_series
from evenhand.core.files import read_text
from evenhand.core.signs import printable
from evenhand.counterfactual import dot
from evenhand.errors import CallError, DataError, Problems, listing, nearest, shorten

_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Graph:
    """Nodes, causes before effects, and edges (cause, effect). It has no cycle: `read_graph` checks that.

    >>> graph = read_graph([("race", "LSAT"), ("LSAT", "grade"), ("effort", "grade")])
    >>> graph.parents("grade"), sorted(graph.descendants(["race"]))
    (('LSAT', 'effort'), ['LSAT', 'grade'])
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {node: [] for node in self.nodes}
        for cause, effect in self.edges:
            found[effect].append(cause)
        return {node: tuple(causes) for node, causes in found.items()}

    def parents(self, node: str) -> tuple[str, ...]:
        """The direct causes of a node."""
        return self._parents[node]

    def children(self, node: str) -> tuple[str, ...]:
        """The direct effects of a node."""
        return tuple(effect for cause, effect in self.edges if cause == node)

    def descendants(self, sources: Iterable[str]) -> frozenset[str]:
        """Everything that some nodes cause, directly or not; not they themselves."""
        given = set(sources)
        reached = set(given)
        for node in self.nodes:
            if reached.intersection(self._parents[node]):
                reached.add(node)
        return frozenset(reached - given)

    def without(self, left_out: Iterable[str]) -> Graph:
        """The graph without some nodes and their edges."""
        gone = set(left_out)
        kept = tuple(edge for edge in self.edges if gone.isdisjoint(edge))
        return Graph(tuple(node for node in self.nodes if node not in gone), kept)

    def check_nodes(self, names: Iterable[str], what: str) -> None:
        """Raise one error for all names that are not nodes."""
        problems = Problems()
        for name in names:
            if name not in self._parents:
                problems.add(
                    f"{what}={shorten(repr(name))} is not a node of the graph; {nearest(str(name), self.nodes)}"
                )
        problems.raise_if_any(CallError)

    def dot(self) -> str:
        """The graph as DOT text, which `read` reads back."""
        lonely = [node for node in self.nodes if not any(node in edge for edge in self.edges)]
        lines = [f"  {dot.quoted(node)};" for node in lonely]
        lines += [f"  {dot.quoted(cause)} -> {dot.quoted(effect)};" for cause, effect in self.edges]
        return "\n".join(["digraph {", *lines, "}"]) + "\n"

    def __str__(self) -> str:
        """Each cause with its effects, a line each."""
        lines = [f"{node} → {', '.join(self.children(node))}" for node in self.nodes if self.children(node)]
        lonely = [node for node in self.nodes if not self.children(node) and not self.parents(node)]
        return printable("\n".join(lines + lonely))


def read_graph(source: Any) -> Graph:
    """A graph from edges (cause, effect), DOT text, the path of a DOT file, or a networkx DiGraph."""
    if isinstance(source, Graph):
        return source
    if isinstance(source, Path):
        source = read_text(source, "a graph", _MOST_BYTES)
    if isinstance(source, str):
        if "->" not in source and source.strip().endswith((".dot", ".gv")):
            raise CallError(f"{shorten(source)!r} looks like a path: pass pathlib.Path({shorten(source)!r}).")
        parsed = dot.parse(source)
        return _checked(list(parsed.nodes), parsed.edges)
    if callable(getattr(source, "is_directed", None)) and hasattr(source, "edges"):
        if not source.is_directed():
            raise CallError("the networkx graph has no directions: a cause needs one; pass a DiGraph.")
        return _checked([str(node) for node in source.nodes], [(str(edge[0]), str(edge[1])) for edge in source.edges])
    return _checked([], _pairs(source))


def _pairs(source: Any) -> list[tuple[str, str]]:
    """Edges as pairs of names."""
    if not is_series(source) and getattr(source, "ndim", 0) != 2:
        raise CallError(
            f"a graph is a list of edges (cause, effect), DOT text or a networkx DiGraph, not {shorten(repr(source))}."
        )
    edges = []
    for edge in source:
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(pair := list(edge)) != 2:
            raise CallError(f"{shorten(repr(edge))} is not an edge: write each as a pair (cause, effect).")
        edges.append((str(pair[0]), str(pair[1])))
    return edges


def _checked(nodes: list[str], edges: Iterable[tuple[str, str]]) -> Graph:
    """The graph with causes before effects and every edge once; a cycle is an error."""
    once = list(dict.fromkeys(edges))
    names = list(dict.fromkeys([*nodes, *(name for edge in once for name in edge)]))
    if not once:
        raise CallError("the graph has no edges: give at least one, from a cause to its effect.")
    if len(names) > dot.MOST_NODES or len(once) > dot.MOST_EDGES:
        raise CallError(
            f"the graph has {len(names):,} nodes and {len(once):,} edges: too many to be a graph of causes."
        )
    waiting = dict.fromkeys(names, 0)
    effects: dict[str, list[str]] = {name: [] for name in names}
    for cause, effect in once:
        waiting[effect] += 1
        effects[cause].append(effect)
    ready, order = [name for name in names if not waiting[name]], []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for effect in effects[node]:
            waiting[effect] -= 1
            if not waiting[effect]:
                ready.append(effect)
    if len(order) < len(names):
        cycle = _cycle({name for name in names if waiting[name]}, once)
        shown = " → ".join(shorten(name) for name in cycle)
        raise DataError(f"the graph has a cycle, {shown}: nothing causes itself. Take one of these edges out.")
    return Graph(tuple(order), tuple(once))


def _cycle(left: set[str], edges: list[tuple[str, str]]) -> list[str]:
    """One cycle among nodes that each have a cause among them: follow causes until a node is met again."""
    causes = {effect: cause for cause, effect in edges if cause in left and effect in left}
    path, node = [], next(name for _, name in edges if name in causes)
    while node not in path:
        path.append(node)
        node = causes[node]
    around = path[path.index(node) :]
    return [*reversed(around), around[-1]]


def check_columns(graph: Graph, columns: Iterable[str]) -> None:
    """Raise an error that names the nodes that are not columns."""
    known = list(columns)
    lacking = [node for node in graph.nodes if node not in known]
    problems = Problems()
    for node in lacking:
        problems.add(f"the graph has a node {shorten(node)!r} that is not a column; {nearest(node, known)}")
    if len(problems.messages) > 8:
        raise DataError(f"the graph has nodes that are not columns: {listing(lacking)}.")
    problems.raise_if_any(DataError)
