"""Graphs of causes: read from edges, DOT and networkx, checked, and drawn."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import CausalModel
from evenhand.counterfactual import dot
from evenhand.counterfactual.graph import read_graph
from evenhand.counterfactual.svg import draw_graph
from evenhand.errors import CallError, DataError
from support.hostile import every_name

LAW = """
strict digraph "law school" {
  // who applies
  rankdir=LR; node [shape=box, style="rounded"]; edge [color=gray]
  race [label="Race"];
  /* what follows */
  race -> {LSAT UGPA} -> ZFYA [penwidth=2];
  subgraph cluster { sex -> LSAT; sex -> UGPA }
# a line of the preprocessor
  "first year" ;
}
"""


def test_dot_is_read_with_everything_that_does_not_matter_around_it():
    graph = read_graph(LAW)
    assert set(graph.edges) == {
        ("race", "LSAT"),
        ("race", "UGPA"),
        ("LSAT", "ZFYA"),
        ("UGPA", "ZFYA"),
        ("sex", "LSAT"),
        ("sex", "UGPA"),
    }
    assert "first year" in graph.nodes
    assert graph.nodes.index("ZFYA") > graph.nodes.index("LSAT") > graph.nodes.index("race")


def test_statements_alone_are_enough():
    assert read_graph("a -> b -> c; a -> c").edges == (("a", "b"), ("b", "c"), ("a", "c"))


def test_edges_a_path_and_networkx_give_the_same(tmp_path):
    edges = [("a", "b"), ("b", "c")]
    path = tmp_path / "g.dot"
    path.write_text("digraph { a -> b -> c }", encoding="utf-8")
    assert read_graph(path) == read_graph(edges) == read_graph("a -> b -> c")

    class DiGraph:  # what networkx offers, so far as it is used
        nodes, edges = ("a", "b", "c"), (("a", "b"), ("b", "c"))

        def is_directed(self):
            return True

    assert read_graph(DiGraph()) == read_graph(edges)


def test_a_real_networkx_graph():
    nx = pytest.importorskip("networkx")
    assert read_graph(nx.DiGraph([("a", "b"), ("b", 3)])).edges == (("a", "b"), ("b", "3"))
    with pytest.raises(CallError, match="no directions"):
        read_graph(nx.Graph([("a", "b")]))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=15))
def test_any_graph_without_a_cycle_reads_back_from_its_own_dot(pairs):
    edges = [(f"n {i}", f'n "{j}') if i != j else ("x", "y") for i, j in ((min(p), max(p)) for p in pairs)]
    graph = read_graph(edges)
    again = read_graph(graph.dot())
    assert (set(again.nodes), set(again.edges)) == (set(graph.nodes), set(graph.edges))
    for cause, effect in graph.edges:
        assert graph.nodes.index(cause) < graph.nodes.index(effect)
        assert effect in graph.descendants([cause])


@every_name
def test_a_hostile_name_is_only_a_name(name):
    graph = read_graph([(name, "effect")])
    assert read_graph(graph.dot()) == graph
    picture = draw_graph(graph, [name])
    root = ElementTree.fromstring(picture)  # so it is well-formed
    tags = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert tags <= {"svg", "title", "defs", "marker", "path", "g", "rect", "text"}
    assert "<script" not in picture


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("graph { a -- b }", "write digraph"),
        ("a -- b", "an edge needs a direction"),
        ("digraph { a -> b [dir=back] }", "dir= turns an edge round"),
        ("digraph { a -> b [dir=both] }", "dir= turns an edge round"),
        ("digraph { a:port -> b }", "ports of nodes are not read"),
        ("digraph { a -> <b>hi</b> }", "'<' is not read here"),
        ("digraph { a -> b ", "the text ends where } belongs"),
        ("digraph { a -> }", "where the name of a node belongs"),
        ("digraph { a -> b } digraph { c -> d }", "there is more text after the graph"),
        ("digraph { a -> b } trailing", "there is more text"),
        ("hours-per-week -> income", "goes in quotes"),
        ("2nd -> b", "begins with a digit"),
        ('a -> "b', "is not read here"),
        ("/* a -> b", "is not read here"),
        ("a <-> b", "is not read here"),
        ("{" * 50 + "a" + "}" * 50, "deep"),
        ("", "the graph has no edges"),
        ("digraph {}", "the graph has no edges"),
        ("graph.dot", "looks like a path"),
        (f"{{ {' '.join(f'n{i}' for i in range(300))} }} -> {{ {' '.join(f'm{i}' for i in range(300))} }}", "edges"),
        (" ".join(f"n{i}" for i in range(3000)), "nodes"),
        ("a" * (dot.MOST_CHARACTERS + 1), "characters"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_place(text, told):
    with pytest.raises((CallError, DataError), match=re.escape(told)):
        read_graph(text)


def test_an_error_names_the_line():
    with pytest.raises(DataError, match="line 3"):
        read_graph("digraph {\n a -> b;\n c -- d }")


@given(st.text(alphabet='{}[]->;,="ab \n\\/*#:<', max_size=40))
def test_no_text_does_more_than_be_read_or_refused(text):
    try:
        graph = read_graph(text)
    except (CallError, DataError):
        return
    assert read_graph(graph.dot()).edges == graph.edges or set(read_graph(graph.dot()).edges) == set(graph.edges)


@pytest.mark.parametrize(
    ("edges", "shown"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], ["a", "b", "c"]),
        ([("x", "a"), ("a", "a")], ["a"]),
        ([("a", "b"), ("b", "a"), ("b", "c")], ["a", "b"]),
    ],
)
def test_a_cycle_is_shown(edges, shown):
    with pytest.raises(DataError, match="the graph has a cycle") as caught:
        read_graph(edges)
    walked = re.search(r"cycle, (.*): nothing", str(caught.value))[1].split(" → ")
    assert walked[0] == walked[-1]
    assert set(walked) == set(shown)
    assert all(step in edges for step in itertools.pairwise(walked))


@pytest.mark.parametrize("wrong", [3, None, {"a": ["b"]}, ["ab"], [("a", "b", "c")], [1, 2], []])
def test_what_is_no_graph_is_refused(wrong):
    with pytest.raises(CallError):
        CausalModel(wrong)


def test_a_node_that_is_no_column_is_named_with_the_nearest():
    with pytest.raises(DataError, match=r"'LSATT' that is not a column; did you mean 'LSAT'"):
        CausalModel("race -> LSATT").fit({"race": ["a", "b"], "LSAT": [1.0, 2.0]})


def test_a_model_draws_and_tells_itself():
    model = CausalModel(LAW)
    assert str(model).splitlines()[0] == "race → LSAT, UGPA"
    assert "not fitted" in repr(model)
    picture = model.svg("race")
    assert picture.count("<rect") == 6
    assert picture.count("marker-end") == 6
    assert picture == model.svg(["race"]) != model._repr_svg_()
    assert re.search(r'font-weight="bold">race<', picture)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        CausalModel(Path(tmp_path / "none.dot"))
