"""A causal graph as an SVG picture, with causes on the left and effects on the right."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from evenhand.counterfactual.graph import Graph

_LETTER, _HEIGHT, _ROW, _BETWEEN, _MARGIN = 8.0, 30.0, 58.0, 70.0, 12.0
_LONGEST = 24

_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
    'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="13">'
    "<title>{title}</title>"
    '<defs><marker id="evenhand-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#667"/></marker></defs>'
)


def draw_graph(graph: Graph, marked: Collection[str] = ()) -> str:
    """The graph as SVG text; the nodes in `marked` have a thicker frame and stand in bold."""
    layers = _layers(graph)
    widths = [max(_width(node) for node in layer) for layer in layers]
    starts = [_MARGIN + sum(widths[:i]) + i * _BETWEEN for i in range(len(layers))]
    tallest = max(len(layer) for layer in layers)
    places: dict[str, tuple[float, float, float]] = {}
    for start, width, layer in zip(starts, widths, layers, strict=True):
        top = _MARGIN + (tallest - len(layer)) * _ROW / 2 + _HEIGHT / 2
        for i, node in enumerate(layer):
            places[node] = (start, top + i * _ROW, width)
    size = (starts[-1] + widths[-1] + _MARGIN, 2 * _MARGIN + (tallest - 1) * _ROW + _HEIGHT)
    edges = [_edge(places[cause], places[effect]) for cause, effect in graph.edges]
    boxes = [_box(node, places[node], node in marked) for node in graph.nodes]
    title = shown(f"What causes what: {'; '.join(f'{cause} causes {effect}' for cause, effect in graph.edges)}")
    return _HEAD.format(width=size[0], height=size[1], title=title) + "".join(edges + boxes) + "</svg>"


def shown(text: str) -> str:
    """Text for SVG: escaped, and without characters that XML does not allow."""
    return escape("".join(letter if letter.isprintable() else "�" for letter in text))


def _layers(graph: Graph) -> list[list[str]]:
    """Nodes by the length of the longest path that leads to them."""
    depth: dict[str, int] = {}
    for node in graph.nodes:
        depth[node] = max((depth[cause] + 1 for cause in graph.parents(node)), default=0)
    return [[node for node in graph.nodes if depth[node] == i] for i in range(max(depth.values()) + 1)]


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _width(name: str) -> float:
    return _LETTER * len(_clipped(name)) + 20


def _edge(cause: tuple[float, float, float], effect: tuple[float, float, float]) -> str:
    """A curve from the right side of the cause to the left side of the effect."""
    x1, y1, x2, y2 = cause[0] + cause[2], cause[1], effect[0], effect[1]
    # A straight line past other layers would cross their boxes, so long edges bend more.
    bend = (x2 - x1) / 2
    lift = -0.35 * _ROW if y1 == y2 and x2 - x1 > _BETWEEN + 1 else 0.0
    curve = f"M{x1:.1f} {y1:.1f} C{x1 + bend:.1f} {y1 + lift:.1f} {x2 - bend:.1f} {y2 + lift:.1f} {x2:.1f} {y2:.1f}"
    return f'<path d="{curve}" fill="none" stroke="#667" stroke-width="1.3" marker-end="url(#evenhand-arrow)"/>'


def _box(node: str, place: tuple[float, float, float], marked: bool) -> str:
    x, y, width = place
    frame = 'stroke="#334" stroke-width="2.4"' if marked else 'stroke="#889" stroke-width="1.2"'
    weight = ' font-weight="bold"' if marked else ""
    return (
        f'<g><title>{shown(node)}</title><rect x="{x:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{_HEIGHT:.0f}" rx="6" fill="#fff" {frame}/><text x="{x + width / 2:.1f}" y="{y + 4.5:.1f}" '
        f'text-anchor="middle" fill="#223"{weight}>{shown(_clipped(node))}</text></g>'
    )
