"""Draws the state graph of a check as SVG, in layers from the initial states to the right."""

from __future__ import annotations

import textwrap

from checker.diagnostics.english import count, listing
from checker.render.diagram.graph_drawing import LINE, Canvas, Place, draw_graph, letters_of
from checker.render.diagram.graph_layout import Edge
from checker.results.state_graph import StateGraph, StateNode

FACTS, LETTERS, WIDE = 6, 3, 34
"""The lines of a node, and the letters of an arrow, that are shown; characters of a line."""


def state_graph_svg(graph: StateGraph, prefix: str = "") -> str:
    """Returns ``graph`` as an SVG document: a node has its number and what is observed there, and
    all values of its state as a tooltip; letters of arrows are explained below.  ``prefix``: of the
    ids in it."""
    letters: dict[str, str] = {}
    for edge in graph.edges:
        for step in edge.steps:
            letters.setdefault(step, letters_of(len(letters)))
    colours = {letter: number for number, letter in enumerate(letters.values())}
    canvas, edges, backwards = Canvas(prefix), dict[Edge, list[str]](), set[Edge]()
    loops: dict[int, list[str]] = {}
    for edge in graph.edges:
        shown = _shown([letters[step] for step in edge.steps])
        if edge.source == edge.target:
            loops[edge.source] = shown
            continue
        back = edge.source > edge.target
        key = (*sorted((edge.source, edge.target)), int(back))
        edges[key] = shown
        backwards |= {key} if back else set()
    canvas.line(f"{graph.file}::{graph.check}", "title")
    canvas.y += 4
    for line in said_of(graph):
        canvas.line(line)
    canvas.y += LINE
    places = {n: _place(n, node, loops.get(n, [])) for n, node in enumerate(graph.nodes)}
    draw_graph(canvas, places, edges, colours, frozenset(backwards))
    canvas.y += LINE
    for step, letter in letters.items():
        canvas.line(f"{letter}  {step}", hang=3)
    return canvas.document(f"State graph of {graph.check}")


def said_of(graph: StateGraph) -> list[str]:
    """Returns what the nodes and marks of ``graph`` mean, in sentences."""
    said = [f"{count(graph.states, 'state')}, {count(graph.steps, 'step')}"]
    if graph.observed:
        said[0] += f", {count(len(graph.nodes), 'node')}"
        said.append(
            f"A node is all states that agree in {listing(graph.observed)}; steps inside a node are"
            " not drawn, and a path need not be a run."
        )
    said.append("Thick frame: initial. Second frame: a run may end there. Red: violates.")
    if graph.unmarked:
        said.append(f"Violations of {listing(graph.unmarked)} are not marked.")
    return said


def _shown(letters: list[str]) -> list[str]:
    return [*letters[:LETTERS], "…"] if len(letters) > LETTERS else letters


def _place(number: int, node: StateNode, loop: list[str]) -> Place:
    facts = [line for fact in node.facts for line in textwrap.wrap(fact, WIDE)]
    lines = [str(number) if node.states == 1 else f"{number}: {count(node.states, 'state')}"]
    lines += facts if len(facts) <= FACTS else [*facts[: FACTS - 1], "…"]
    lines += [f"back here: {' '.join(loop)}"] if loop else []
    lines += [f"violates {name}" for name in node.violates]
    marks = ("initial",) * node.initial + ("end",) * node.end
    marks += ("violating",) if node.violates else ()
    return Place(tuple(lines), marks, "\n".join((*node.facts, *node.more)))
