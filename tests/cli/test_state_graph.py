"""State graphs of small checks: what is a node, what leads where, and how it is marked."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checker.api import check, state_graph
from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.formats.dot import dot_of
from checker.render.diagram.graph_drawing import letters_of
from checker.render.diagram.state_graph import said_of, state_graph_svg
from checker.results.state_graph import StateEdge, StateGraph, StateNode
from checker.session import observed_graph as drawn

Out = pytest.CaptureFixture[str]
SVG = "{http://www.w3.org/2000/svg}"
EAGER = "broadcast/eager_reliable"
TOGGLE = """protocol Toggle {
  state x : 0..2 = 0
  upon condition x < 2 { x := x + 1 }
  upon condition x == 1 { x := 0 }
  property low "It is low." : always forall p in Proc: p.x < 2
}
check one of Toggle {
  n = 1
  prove low
  expect low violated
}
"""


@pytest.fixture
def toggle(tmp_path: Path) -> str:
    """0 and 1 lead to one another, and 1 to 2, where it ends."""
    file = tmp_path / "toggle.bcast"
    file.write_text(TOGGLE, encoding="utf-8")
    return f"{file}"


def test_a_graph_that_is_known_by_hand(toggle: str) -> None:
    graph = state_graph(toggle)
    assert [node.facts for node in graph.nodes] == [(), ("p1.x = 1",), ("p1.x = 2",)]
    assert [(e.source, e.target) for e in graph.edges] == [(0, 1), (1, 2), (1, 0)]
    assert [node.initial for node in graph.nodes] == [True, False, False]
    assert [node.end for node in graph.nodes] == [False, False, True]
    assert [node.violates for node in graph.nodes] == [(), (), ("low",)]
    assert (graph.states, graph.steps, graph.observed, graph.unmarked) == (3, 3, (), ())


def test_an_arrow_back_points_back(toggle: str) -> None:
    root = ElementTree.fromstring(state_graph_svg(state_graph(toggle)))
    edges = [p for p in root.iter(f"{SVG}path") if p.get("class") == "edge"]
    assert [bool(p.get("marker-start")) for p in edges].count(True) == 1
    assert all(bool(p.get("marker-start")) != bool(p.get("marker-end")) for p in edges)
    boxes = [g for g in root.iter(f"{SVG}g") if g.get("data-location")]
    frames = [len(g.findall(f"{SVG}rect")) for g in boxes]
    assert frames == [1, 1, 2]
    assert "violates low" in "".join(boxes[2].itertext())


def test_a_step_back_to_the_same_state_is_shown_in_it(tmp_path: Path) -> None:
    file = tmp_path / "toggle.bcast"
    file.write_text(TOGGLE.replace("x == 1 { x := 0 }", "x == 2 { x := 2 }"), encoding="utf-8")
    graph = state_graph(str(file))
    assert [(e.source, e.target) for e in graph.edges] == [(0, 1), (1, 2), (2, 2)]
    assert "back here: B" in state_graph_svg(graph)
    assert " 2 -> 2 [" in dot_of(graph)


def test_only_what_all_starts_agree_on_goes_without_saying() -> None:
    assert drawn._common((1, 1)) == 1
    start = drawn._common(((1, 2), (1, 3)))
    assert start[0] == 1 and start[1] not in (2, 3)


def test_all_states_are_there_and_each_is_reached() -> None:
    """The native engine counts the states, without reductions."""
    name, settings = "crash_one", {"n": 2}
    graph = state_graph(EAGER, name, settings=settings)
    whole = check(EAGER, name, settings=settings, reduce="none", whole=True)
    assert graph.states == sum(node.states for node in graph.nodes) == whole.distinct_states
    reached = {0} | {edge.target for edge in graph.edges}
    assert reached == {*range(len(graph.nodes))}
    assert all(edge.steps for edge in graph.edges)


def test_states_that_look_alike_are_one_node_where_there_are_many(
    toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = state_graph(EAGER, "crash_one", settings={"n": 2})
    assert each.observed == () and max(node.states for node in each.nodes) == 1
    monkeypatch.setattr(drawn, "EACH", 10)
    merged = state_graph(EAGER, "crash_one", settings={"n": 2})
    assert merged.observed == ("crashed", "delivered", "broadcast", "delivered twice")
    assert len({node.facts for node in merged.nodes}) == len(merged.nodes) < len(each.nodes)
    assert {node.facts for node in merged.nodes} == {node.facts for node in each.nodes}
    facts = [node.facts for node in each.nodes]
    apart = {(facts[e.source], facts[e.target]) for e in each.edges}
    shown = [node.facts for node in merged.nodes]
    assert {(shown[e.source], shown[e.target]) for e in merged.edges} == {
        (one, other) for one, other in apart if one != other
    }
    for mark in ("initial", "end", "violates"):
        marked = {node.facts for node in each.nodes if getattr(node, mark)}
        assert {node.facts for node in merged.nodes if getattr(node, mark)} == marked
    assert "a path need not be a run" in " ".join(said_of(merged))


def test_a_run_that_ends_without_what_must_follow_is_marked() -> None:
    """p1 has delivered and crashed, and p2 never delivers: not uniform (CGR 3.3)."""
    graph = state_graph(EAGER, "crash_one", settings={"n": 2})
    (bad,) = [node for node in graph.nodes if node.violates]
    assert bad.end and bad.violates == ("uniform_agreement",)
    assert {"crashed = {p1}", "p1 delivered(p1, a)"} <= {*bad.facts}
    assert "p2 delivered(p1, a)" not in bad.facts


def test_steps_are_in_words_without_the_wrapper_of_a_link() -> None:
    found = state_graph(EAGER, "crash_one", settings={"n": 2})
    steps = {step for edge in found.edges for step in edge.steps}
    assert {"p1 is asked: broadcast(a)", "p2 crashes"} <= steps
    assert "p2 receives DATA(p1, a) from p1" in steps and "COPY" not in "".join(steps)


def test_an_error_is_a_node(tmp_path: Path) -> None:
    file = tmp_path / "toggle.bcast"
    file.write_text(TOGGLE.replace("x < 2 {", "x < 3 {"), encoding="utf-8")
    graph = state_graph(str(file))
    (error,) = [node for node in graph.nodes if node.violates[:1] == ("R001",)]
    assert not error.end and not error.facts
    assert graph.edges[-1].steps != ("",)


def test_what_shows_in_no_state_is_said(tmp_path: Path) -> None:
    """Whether it was ever 1 is decided on the way, not where a run ends."""
    file = tmp_path / "toggle.bcast"
    more = '  property met "It is 1." : forall p in Proc: eventually p.x == 1\n}\ncheck one'
    text = TOGGLE.replace("}\ncheck one", more, 1).replace("prove low", "prove low, met")
    file.write_text(text, encoding="utf-8")
    graph = state_graph(str(file))
    assert graph.unmarked == ("met",)
    assert [node.violates for node in graph.nodes] == [(), (), ("low",)]
    assert "Violations of met are not marked." in said_of(graph)


def test_too_many_states_or_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit, said in (("STATES", 30, "--states-out"), ("NODES", 3, "--only")):
        with monkeypatch.context() as patched:
            patched.setattr(drawn, name, limit)
            with pytest.raises(SpecError) as refused:
                state_graph(EAGER, "crash_one", settings={"n": 2})
        (problem,) = refused.value.diagnostics
        assert problem.code == "E129" and said in problem.hint


def test_dot_is_what_graphviz_reads() -> None:
    """The grammar: https://graphviz.org/doc/info/lang.html"""
    nodes = (
        StateNode(('p1 says("a\\b")',), more=("x = 1",), initial=True),
        StateNode(("<b>",), states=3, end=True, violates=("low",)),
    )
    steps = ("one", "two", "three", "four", "five")
    text = dot_of(StateGraph("a.bcast", "c-1", nodes, (StateEdge(0, 1, steps),), 4, 5))
    quoted = r'"(?:[^"\\]|\\.)*"'
    value = rf"(?:{quoted}|[\w.]+)"
    attributes = rf"\[\w+={value}(?:, \w+={value})*\]"
    statement = rf"  (?:\w+={value}|(?:\d+|node|edge) {attributes}|\d+ -> \d+ {attributes});\n"
    assert re.fullmatch(rf"digraph {quoted} \{{\n(?:{statement})+\}}\n", text)
    assert r"p1 says(\"a\\b\")" in text and "and 2 more steps" in text and "four" not in text
    assert 'penwidth=3, tooltip="x = 1"' in text and "peripheries=2" in text
    root = ElementTree.fromstring(state_graph_svg(StateGraph("a", "c", nodes, (), 4, 5)))
    assert "<b>" in "".join(root.itertext())


def test_the_command_prints_or_draws(toggle: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["show", f"{toggle}::one", "--graph"]) == 0
    assert capsys.readouterr().out == dot_of(state_graph(toggle))
    picture = tmp_path / "graph.svg"
    assert main(["show", f"{toggle}::one", "--graph", "--svg", str(picture)]) == 0
    assert picture.read_text("utf-8") == state_graph_svg(state_graph(toggle))
    assert "3 states, 3 steps" in capsys.readouterr().err
    assert main(["show", f"{toggle}::one", "--graph", "--system"]) == 2
    assert main(["show", EAGER, "--graph"]) == 2
    assert main(["show", "byzantine/bracha::for_every_n", "--graph"]) == 2
    assert "C205" in capsys.readouterr().err


def test_letters_are_those_of_columns() -> None:
    assert [letters_of(i) for i in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert len({letters_of(i) for i in range(2000)}) == 2000
