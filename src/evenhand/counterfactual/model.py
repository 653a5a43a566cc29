"""CausalModel: a graph with a mechanism for each node; what a person's row would have been under another attribute."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Floats, Ints
from evenhand.counterfactual import columns as tables
from evenhand.counterfactual import dowhy, mechanisms
from evenhand.counterfactual import graph as graphs
from evenhand.counterfactual import svg as drawing
from evenhand.counterfactual.columns import Column, Columns
from evenhand.counterfactual.graph import Graph
from evenhand.counterfactual.mechanisms import Fitted, Mechanism, State
from evenhand.errors import CallError, DataError, listing, shorten


@dataclass(frozen=True)
class Learned:
    """A graph with fitted mechanisms, for columns; `rows` are those it was fitted to, where that is known."""

    graph: Graph
    specified: Mapping[str, Mechanism]
    fitted: Mapping[str, Fitted]
    rows: Columns | None = None

    @property
    def random(self) -> frozenset[str]:
        """The nodes whose noise is only known to lie in a part of its range."""
        return frozenset(node for node, mechanism in self.fitted.items() if mechanism.random)

    def estimated(self, nodes: Iterable[str]) -> bool:
        """Is any of these nodes moved by something that was learned from data?"""
        return any(node in self.specified and not self.specified[node].known for node in nodes)

    def refitted(self, rows: Columns) -> Learned:
        """The same model learned anew from other rows."""
        fitted = {
            node: mechanism.fit(causes_of(self.graph, rows, node), rows[node])
            for node, mechanism in self.specified.items()
        }
        return Learned(self.graph, self.specified, fitted, rows)

    def abduced(self, rows: Columns, nodes: Collection[str], uniform: Mapping[str, Floats] | None = None) -> Abduced:
        """Infer the noise of some nodes in every row."""
        found = {
            node: self.fitted[node].abduce(
                causes_of(self.graph, rows, node), rows[node], None if uniform is None else uniform.get(node)
            )
            for node in self.graph.nodes
            if node in nodes and node in self.fitted
        }
        return Abduced(self.graph, rows, found)


@dataclass(frozen=True)
class Abduced:
    """Rows whose noise was inferred: act on them, and predict."""

    graph: Graph
    rows: Columns
    states: Mapping[str, State]

    def under(self, do: Mapping[str, Column], shifts: Mapping[str, float] | None = None) -> Columns:
        """The nodes that differ when some are set: these, and what follows from them. `shifts` move a node's noise."""
        world = {**self.rows, **do}
        changed = dict(do)
        for node in self.graph.nodes:
            if node in self.states and node not in do:
                causes = causes_of(self.graph, world, node)
                shift = 0.0 if shifts is None else shifts.get(node, 0.0)
                if shift or any(name in changed for name in causes):
                    changed[node] = world[node] = self.states[node].moved(causes, shift)
        return changed


def causes_of(graph: Graph, rows: Columns, node: str) -> Columns:
    return {name: rows[name] for name in graph.parents(node)}


class CausalModel:
    """A graph of causes, with a mechanism for each node that has some.

    `graph` is a list of edges (cause, effect), a DOT text, the path of a DOT file, a networkx DiGraph, or a fitted
    model of dowhy.gcm. Without `mechanisms`, numbers follow from their causes by least squares with additive noise, and
    categories (and numbers with two values) by logistic regression with a latent noise. For any node `mechanisms` may
    hold a regressor or classifier of scikit-learn, a function of its causes that gives the mean, an `Equation` with its
    inverse, or known coefficients by cause. Columns of text are categories; `categorical` names numbers that are.

    >>> rows = {"group": ["a", "a", "b", "b"], "score": [1.0, 3.0, 5.0, 7.0]}
    >>> model = CausalModel([("group", "score")]).fit(rows)
    >>> model.counterfactual(rows, do={"group": "a"})["score"].tolist()
    [1.0, 3.0, 1.0, 3.0]
    """

    def __init__(
        self, graph: Any, *, mechanisms: Mapping[str, Any] | None = None, categorical: Collection[str] = ()
    ) -> None:
        self._foreign: Mapping[str, dowhy.Foreign] = {}
        if dowhy.is_model(graph):
            self.graph, self._foreign = dowhy.take(graph)
        else:
            self.graph = graphs.read(graph)
        self.mechanisms = dict(mechanisms or {})
        self.categorical = (categorical,) if isinstance(categorical, str) else tuple(categorical)
        self.graph.check_nodes(self.mechanisms, "mechanisms")
        self.graph.check_nodes(self.categorical, "categorical")
        rootless = [node for node in self.mechanisms if not self.graph.parents(node)]
        if rootless:
            raise CallError(f"{listing(rootless)} has no causes in the graph, so it takes no mechanism.")
        self._learned: Learned | None = None

    def fit(self, data: Any) -> CausalModel:
        """Learn every mechanism from a table; returns the model itself."""
        self._learned = learn(self, data)
        return self

    def counterfactual(self, data: Any, do: Mapping[str, Any], *, random_state: int = 0) -> Any:
        """Each row as it would have been with some nodes set: abduction, action, prediction.

        The noise of each row is inferred from what is observed, the nodes in `do` are set, and what they cause follows
        with the same noise. Returns a table of the caller's kind. A latent noise of a category is drawn, with the seed
        `random_state`, from what the observed value leaves open.
        """
        if not isinstance(do, Mapping) or not do:
            raise CallError("do= says what to set, as in do={'race': 'White'}.")
        self.graph.check_nodes(do, "do")
        learned = self._fitted()
        rows = read(self, data, learned)
        acted = {name: settled(rows, learned, name, value) for name, value in do.items()}
        nodes = learned.graph.descendants(do)
        noise = uniforms(learned, nodes, rows, random_state, draw=0)
        changed = learned.abduced(rows, nodes, noise).under(acted)
        return tables.replaced(data, changed)

    def residuals(self, data: Any) -> dict[str, Floats]:
        """The noise of each node with additive noise: what its causes do not explain."""
        learned = self._fitted()
        rows = read(self, data, learned)
        states = learned.abduced(rows, learned.graph.nodes).states
        return {node: state.residual for node, state in states.items() if state.residual is not None}

    def non_descendants(self, sensitive: str | Iterable[str]) -> tuple[str, ...]:
        """The nodes that some attributes do not cause; not these themselves."""
        attributes = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        self.graph.check_nodes(attributes, "sensitive")
        moved = self.graph.descendants(attributes)
        return tuple(node for node in self.graph.nodes if node not in moved and node not in attributes)

    def _fitted(self) -> Learned:
        if self._learned is None and not self._foreign:
            raise CallError("the model is not fitted: call model.fit(data) first.")
        return learned_by(self, None)

    def svg(self, sensitive: str | Collection[str] = ()) -> str:
        """The graph as a picture, as SVG text; the sensitive attributes stand in bold."""
        return drawing.svg(self.graph, (sensitive,) if isinstance(sensitive, str) else sensitive)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        fitted = "fitted" if self._learned is not None or self._foreign else "not fitted"
        return f"<CausalModel: {len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges, {fitted}>"


def learn(model: CausalModel, data: Any, graph: Graph | None = None) -> Learned:
    """Learn the mechanisms of a model, for its graph or a part of it; the model itself stays as it is."""
    graph = model.graph if graph is None else graph
    graphs.check_columns(graph, tables.names_of(data))
    rows = tables.read(data, graph.nodes, categorical=model.categorical)
    specified = {
        node: model._foreign.get(node) or mechanisms.chosen(rows[node], model.mechanisms.get(node))
        for node in graph.nodes
        if graph.parents(node)
    }
    learned = Learned(graph, specified, {}, rows).refitted(rows)
    for node, mechanism in learned.fitted.items():
        if getattr(mechanism, "confused", False):
            raise DataError(
                f"the causes of {shorten(node)!r} ({listing(graph.parents(node))}) determine each other in these "
                f"{len(rows[node]):,} rows, so their effects cannot be told apart: take one of them out of the graph."
            )
    return learned


def learned_by(model: CausalModel, data: Any) -> Learned:
    """The mechanisms as they were fitted, those of a model of dowhy, or else what this data teaches."""
    if model._learned is not None:
        return model._learned
    if model._foreign:
        return Learned(model.graph, model._foreign, model._foreign)
    return learn(model, data)


def read(model: CausalModel, data: Any, learned: Learned) -> Columns:
    """The nodes as columns, coded as when the model was fitted."""
    graphs.check_columns(learned.graph, tables.names_of(data))
    return tables.read(data, learned.graph.nodes, categorical=model.categorical, like=learned.rows)


def settled(rows: Columns, learned: Learned, name: str, value: Any) -> Column:
    """A node set to one value; where the fitted rows never varied, nothing says what that would do."""
    seen = (learned.rows or rows)[name]
    if learned.graph.children(name) and (seen.values == seen.values[0]).all():
        raise DataError(f"{shorten(name)!r} is the same in every row, so nothing tells what changing it would do.")
    return rows[name].filled(value)


def uniforms(
    learned: Learned, nodes: Collection[str], rows: Columns, random_state: int, draw: int
) -> dict[str, Floats]:
    """Where the latent noise of each row lies within what is known of it: the same for one seed, node and draw."""
    count = len(next(iter(rows.values())))
    found = {}
    for i, node in enumerate(learned.graph.nodes):
        if node in nodes and node in learned.random:
            found[node] = np.random.default_rng([random_state, draw, i]).random(count)
    return found


def take(rows: Columns, chosen: Ints) -> Columns:
    return {name: column.take(chosen) for name, column in rows.items()}
