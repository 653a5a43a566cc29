"""CausalModel: a graph with a mechanism for each node, which computes rows as they would have been in another group."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arguments import checked
from evenhand.core.arrays import Floats, Ints
from evenhand.core.calls import call
from evenhand.core.quantities import check_seed
from evenhand.core.wording import number_of
from evenhand.counterfactual import mechanisms
from evenhand.counterfactual.columns import names_of, read_nodes, with_columns
from evenhand.counterfactual.dowhy import DowhyMechanism, is_dowhy_model, read_dowhy_model
from evenhand.counterfactual.graph import Graph, check_columns, read_graph
from evenhand.counterfactual.mechanisms import Fitted, Mechanism, State
from evenhand.counterfactual.svg import draw_graph
from evenhand.errors import CallError, DataError, Problems, listing, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.features import Column, Columns


@dataclass(frozen=True)
class FittedModel:
    """A graph with fitted mechanisms; `rows` are the columns it was fitted to, or None where they are not known."""

    graph: Graph
    specified: Mapping[str, Mechanism]
    fitted: Mapping[str, Fitted]
    rows: Columns | None = None

    @property
    def random(self) -> frozenset[str]:
        """The nodes whose noise cannot be inferred exactly, only as a range from which it is drawn."""
        return frozenset(node for node, mechanism in self.fitted.items() if mechanism.random)

    def estimated(self, nodes: Iterable[str]) -> bool:
        """Was the mechanism of any of these nodes estimated from data?"""
        return any(node in self.specified and not self.specified[node].known for node in nodes)

    def refitted(self, rows: Columns) -> FittedModel:
        """The same model fitted to other rows."""
        fitted = {
            node: call(
                _mechanism(node),
                f"when it was fitted to {number_of(len(rows[node]))}",
                mechanism.fit,
                causes_of(self.graph, rows, node),
                rows[node],
            )
            for node, mechanism in self.specified.items()
        }
        return FittedModel(self.graph, self.specified, fitted, rows)

    def abduced(self, rows: Columns, nodes: Collection[str], uniform: Mapping[str, Floats] | None = None) -> Abduced:
        """Infer the noise of some nodes in every row."""
        found = {
            node: call(
                _mechanism(node),
                f"when it inferred the noise of {number_of(len(rows[node]))}",
                self.fitted[node].abduce,
                causes_of(self.graph, rows, node),
                rows[node],
                None if uniform is None else uniform.get(node),
            )
            for node in self.graph.nodes
            if node in nodes and node in self.fitted
        }
        return Abduced(self.graph, rows, found)


@dataclass(frozen=True)
class Abduced:
    """Rows with the noise that was inferred for them, from which counterfactual rows are computed."""

    graph: Graph
    rows: Columns
    states: Mapping[str, State]

    def under(self, do: Mapping[str, Column], shifts: Mapping[str, float] | None = None) -> Columns:
        """The columns that change when some nodes are set: these and their effects. `shifts` are added to noises."""
        world = {**self.rows, **do}
        changed = dict(do)
        for node in self.graph.nodes:
            if node in self.states and node not in do:
                causes = causes_of(self.graph, world, node)
                shift = 0.0 if shifts is None else shifts.get(node, 0.0)
                if shift or any(name in changed for name in causes):
                    changed[node] = world[node] = call(
                        _mechanism(node),
                        f"when {number_of(len(world[node]))} were moved",
                        self.states[node].moved,
                        causes,
                        shift,
                    )
        return changed


def _mechanism(node: str) -> str:
    return f"the mechanism of {shorten(node)!r}"


def causes_of(graph: Graph, rows: Columns, node: str) -> Columns:
    """The columns of a node's direct causes."""
    return {name: rows[name] for name in graph.parents(node)}


@documented
@checked
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
        self._dowhy: Mapping[str, DowhyMechanism] = {}
        if is_dowhy_model(graph):
            self.graph, self._dowhy = read_dowhy_model(graph)
        else:
            self.graph = read_graph(graph)
        self.mechanisms = dict(mechanisms or {})
        self.categorical = (categorical,) if isinstance(categorical, str) else tuple(categorical)
        self.graph.check_nodes(self.mechanisms, "mechanisms")
        self.graph.check_nodes(self.categorical, "categorical")
        rootless = [node for node in self.mechanisms if not self.graph.parents(node)]
        if rootless:
            raise CallError(f"{listing(rootless)} has no causes in the graph, so it cannot have a mechanism.")
        self._learned: FittedModel | None = None

    def fit(self, data: Any) -> CausalModel:
        """Fit every mechanism to a table; returns the model itself.

        Parameters
        ----------
        data
            A table in memory with a column for every node of the graph.

        Returns
        -------
        CausalModel
            The same model, fitted.
        """
        self._learned = learn(self, data)
        return self

    def counterfactual(self, data: Any, do: Mapping[str, Any], *, random_state: int = 0) -> Any:
        """Each row as it would have been with some nodes set: abduction, action, prediction.

        The noise of each row is inferred from what is observed, the nodes in `do` are set, and what they cause follows
        with the same noise. Returns a table of the caller's kind. A latent noise of a category is drawn, with the seed
        `random_state`, from what the observed value leaves open.

        Parameters
        ----------
        data
            The people, with a column for every node.
        do
            What is changed: {column: value}.
        random_state
            The seed of the noise of categories.

        Returns
        -------
        Any
            The table as it would be, of the caller's own kind.
        """
        if not isinstance(do, Mapping) or not do:
            raise CallError("do= says what to set, as in do={'race': 'White'}.")
        self.graph.check_nodes(do, "do")
        problems = Problems()
        check_seed(random_state, problems)
        problems.raise_if_any(CallError)
        learned = self._fitted()
        rows = read_rows(self, data, learned)
        acted = {name: set_to(rows, learned, name, value) for name, value in do.items()}
        nodes = learned.graph.descendants(do)
        noise = uniforms(learned, nodes, rows, random_state, draw=0)
        changed = learned.abduced(rows, nodes, noise).under(acted)
        return with_columns(data, changed)

    def residuals(self, data: Any) -> dict[str, Floats]:
        """The noise of each node with additive noise: what its causes do not explain.

        Parameters
        ----------
        data
            The people, with a column for every node.

        Returns
        -------
        dict[str, Floats]
            The noise of each node that has one.
        """
        learned = self._fitted()
        rows = read_rows(self, data, learned)
        states = learned.abduced(rows, learned.graph.nodes).states
        return {node: state.residual for node, state in states.items() if state.residual is not None}

    def non_descendants(self, sensitive: str | Iterable[str]) -> tuple[str, ...]:
        """The nodes of the graph that are neither these attributes nor caused by them.

        Parameters
        ----------
        sensitive
            The attribute, or several.

        Returns
        -------
        tuple[str, ...]
            The nodes that the attribute does not cause.
        """
        attributes = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        self.graph.check_nodes(attributes, "sensitive")
        caused = self.graph.descendants(attributes)
        return tuple(node for node in self.graph.nodes if node not in caused and node not in attributes)

    def _fitted(self) -> FittedModel:
        if self._learned is None and not self._dowhy:
            raise CallError("the model is not fitted: call model.fit(data) first.")
        return fitted_model(self, None)

    def svg(self, sensitive: str | Collection[str] = ()) -> str:
        """The graph as a picture, as SVG text; the sensitive attributes stand in bold.

        Parameters
        ----------
        sensitive
            Attributes that are marked.

        Returns
        -------
        str
            The drawing.
        """
        return draw_graph(self.graph, (sensitive,) if isinstance(sensitive, str) else sensitive)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        fitted = "fitted" if self._learned is not None or self._dowhy else "not fitted"
        return f"<CausalModel: {len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges, {fitted}>"


def learn(model: CausalModel, data: Any, graph: Graph | None = None) -> FittedModel:
    """Fit the mechanisms of a model to a table, for its graph or a part of it; the model itself is not changed."""
    graph = model.graph if graph is None else graph
    check_columns(graph, names_of(data))
    rows = read_nodes(data, graph.nodes, categorical=model.categorical)
    specified = {
        node: model._dowhy.get(node) or mechanisms.mechanism_of(rows[node], model.mechanisms.get(node))
        for node in graph.nodes
        if graph.parents(node)
    }
    learned = FittedModel(graph, specified, {}, rows).refitted(rows)
    for node, mechanism in learned.fitted.items():
        if getattr(mechanism, "confused", False):
            raise DataError(
                f"the causes of {shorten(node)!r} ({listing(graph.parents(node))}) determine each other in these "
                f"{number_of(len(rows[node]))}, so their effects cannot be separated: take one of them out of the "
                "graph."
            )
    return learned


def fitted_model(model: CausalModel, data: Any) -> FittedModel:
    """The fitted mechanisms of a model: its own, those of a dowhy model, or else mechanisms fitted to this data."""
    if model._learned is not None:
        return model._learned
    if model._dowhy:
        return FittedModel(model.graph, model._dowhy, model._dowhy)
    return learn(model, data)


def read_rows(model: CausalModel, data: Any, learned: FittedModel) -> Columns:
    """The nodes as columns of a table, coded as when the model was fitted."""
    check_columns(learned.graph, names_of(data))
    return read_nodes(data, learned.graph.nodes, categorical=model.categorical, like=learned.rows)


def set_to(rows: Columns, learned: FittedModel, name: str, value: Any) -> Column:
    """A node with one value in every row; an error where the node never varied, so that its effects are unknown."""
    seen = (learned.rows or rows)[name]
    if learned.graph.children(name) and (seen.values == seen.values[0]).all():
        raise DataError(f"{shorten(name)!r} is the same in every row, so the effect of changing it is not known.")
    return rows[name].filled(value)


def uniforms(
    learned: FittedModel, nodes: Collection[str], rows: Columns, random_state: int, draw: int
) -> dict[str, Floats]:
    """For each random node and row a uniform number that places the noise within its range; fixed by seed and draw."""
    count = len(next(iter(rows.values())))
    found = {}
    for i, node in enumerate(learned.graph.nodes):
        if node in nodes and node in learned.random:
            found[node] = np.random.default_rng([random_state, draw, i]).random(count)
    return found


def take_columns(rows: Columns, chosen: Ints) -> Columns:
    """The columns at some rows."""
    return {name: column.take(chosen) for name, column in rows.items()}
