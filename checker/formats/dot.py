"""State graphs in DOT, the language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count
from checker.diagnostics.visible import visible
from checker.results.state_graph import StateGraph, StateNode

SHOWN = 3
"""Steps of an edge that are named; the others are counted."""


def dot_of(graph: StateGraph) -> str:
    """Returns ``graph`` in DOT: initial nodes have a thick frame, ends a second one, and violating
    nodes are red and name the property."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: StateGraph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.check)} {{"
    yield f"  label={_quoted(f'{graph.file}::{graph.check}')};"
    yield "  rankdir=LR;"
    yield '  node [shape=box, style=rounded, fontname="monospace"];'
    yield '  edge [fontname="monospace"];'
    for number, node in enumerate(graph.nodes):
        yield f"  {number} [label={_quoted(*_label(number, node))}{_look(node)}];"
    for edge in graph.edges:
        yield f"  {edge.source} -> {edge.target} [label={_quoted(*_steps(edge.steps))}];"
    yield "}"


def _label(number: int, node: StateNode) -> Iterator[str]:
    yield str(number) if node.states == 1 else f"{number}: {count(node.states, 'state')}"
    yield from node.facts
    if node.violates:
        yield f"violates {', '.join(node.violates)}"


def _look(node: StateNode) -> str:
    look = ", penwidth=3" if node.initial else ""
    look += ", peripheries=2" if node.end else ""
    look += ', color="#b8002e", fontcolor="#b8002e"' if node.violates else ""
    return look + (f", tooltip={_quoted(*node.more)}" if node.more else "")


def _steps(steps: tuple[str, ...]) -> Iterator[str]:
    yield from steps[:SHOWN]
    if len(steps) > SHOWN:
        yield f"and {count(len(steps) - SHOWN, 'more step')}"


def _quoted(*lines: str) -> str:
    """Returns lines as one quoted string; ``\\n`` is a new line there."""
    escaped = (visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
