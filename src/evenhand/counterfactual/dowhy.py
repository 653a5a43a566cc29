"""Models of dowhy.gcm, recognised by their methods, so that the library is neither imported nor needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.arrays import Array, Floats
from evenhand.counterfactual.graph import Graph, read_graph
from evenhand.counterfactual.mechanisms import Fitted, Inverted, State
from evenhand.errors import CallError, shorten
from evenhand.sources.features import Column, Columns


def is_dowhy_model(model: Any) -> bool:
    """Does the object look like a structural causal model of dowhy.gcm?"""
    return callable(getattr(model, "causal_mechanism", None)) and hasattr(getattr(model, "graph", None), "edges")


def read_dowhy_model(model: Any) -> tuple[Graph, dict[str, DowhyMechanism]]:
    """The graph of a dowhy model, and a mechanism for each node that has causes."""
    graph = read_graph(model.graph)
    originals = {str(node): node for node in model.graph.nodes}
    mechanisms = {}
    for node in graph.nodes:
        if not graph.parents(node):
            continue
        mechanism = model.causal_mechanism(originals[node])
        if not (hasattr(mechanism, "estimate_noise") and hasattr(mechanism, "evaluate")):
            raise CallError(
                f"the mechanism of {shorten(node)!r} in the dowhy model cannot be inverted to infer the noise: use "
                "an AdditiveNoiseModel, as an InvertibleStructuralCausalModel has."
            )
        # dowhy hands the causes over in the order of their names.
        order = tuple(str(name) for name in sorted(model.graph.predecessors(originals[node])))
        mechanisms[node] = DowhyMechanism(mechanism, order)
    return graph, mechanisms


@dataclass(frozen=True)
class DowhyMechanism:
    """One mechanism of dowhy.gcm: `estimate_noise` infers the noise, `evaluate` computes the node."""

    mechanism: Any
    order: tuple[str, ...]
    known: bool = False
    random: bool = False

    def fit(self, causes: Columns, node: Column) -> Fitted:
        """The same kind of mechanism fitted to other rows."""
        copy = self.mechanism.clone()
        copy.fit(X=self._matrix(causes), Y=node.values)
        return DowhyMechanism(copy, self.order)

    def abduce(self, causes: Columns, node: Column, uniform: Floats | None = None) -> State:  # noqa: ARG002
        target = node.values.reshape(-1, 1)
        noise = np.asarray(self.mechanism.estimate_noise(target, self._matrix(causes)), dtype=np.float64)
        return Inverted(self._evaluate(), node, noise.reshape(-1))

    def _evaluate(self) -> Callable[[dict[str, Any], Any], Any]:
        def value(causes: dict[str, Any], noise: Floats) -> Floats:
            found = self.mechanism.evaluate(_stacked(causes, self.order), noise.reshape(-1, 1))
            return np.asarray(found, dtype=np.float64).reshape(-1)

        return value

    def _matrix(self, causes: Columns) -> Array:
        return _stacked({name: column.raw() for name, column in causes.items()}, self.order)


def _stacked(causes: dict[str, Any], order: tuple[str, ...]) -> Array:
    """Causes side by side; an array of objects where some are text, as a dataframe of them would give."""
    parts = [causes[name] for name in order]
    numeric = all(part.dtype.kind in "biuf" for part in parts)
    return np.stack([part.astype(np.float64 if numeric else object) for part in parts], axis=1)
