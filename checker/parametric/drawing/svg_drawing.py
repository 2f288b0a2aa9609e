"""A threshold automaton as SVG: one self-contained file, for light and for dark backgrounds.

Each group of processes has a band of its own; a location is a box that names what is true of a
process there, with a thick edge where it is initial; arrows carry the letters of the steps that are
explained below, as in :func:`checker.parametric.drawing.text_drawing.draw_text`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from checker.parametric.automaton.automaton import Automaton, Question
from checker.parametric.automaton.wording import Words, constant_names, facts
from checker.parametric.drawing.text_drawing import (
    group_in_words,
    rule_effects,
    same_steps,
    step_names,
    violation_text,
)
from checker.render.diagram.graph_drawing import CHARACTER, LINE, Canvas, Place, draw_graph


def svg_of(automaton: Automaton, questions: Sequence[Question] = ()) -> str:
    """Returns ``automaton`` as an SVG document, with the ``questions`` about it in words."""
    words, canvas = Words(automaton), Canvas()
    names = step_names(automaton)
    canvas.line(automaton.name, "title")
    canvas.y += 4
    canvas.line(f"for all {', '.join(automaton.parameters)}, {_condition(automaton, words)}")
    for number, kind in enumerate(automaton.kinds):
        forged = words.forged_count(number)
        if forged:
            canvas.line(f"{kind.name}: plus {forged} forged ones", "quiet")
    for group in range(len(automaton.groups)):
        canvas.y += LINE * 1.5
        _band(automaton, group, names, words, canvas)
    _legend(automaton, questions, words, canvas)
    return canvas.document(f"{automaton.name}: a threshold automaton")


def _condition(automaton: Automaton, words: Words) -> str:
    condition = words.condition(automaton.resilience)
    return "without conditions" if condition == "true" else f"with {condition}"


def _band(
    automaton: Automaton, group: int, names: Sequence[str], words: Words, canvas: Canvas
) -> None:
    """Draws the locations of a group and the edges between them."""
    canvas.line(group_in_words(automaton.groups[group], words), "band")
    canvas.y += LINE
    places = {
        number: _place(automaton, number, constant_names(automaton, group))
        for number, location in enumerate(automaton.locations)
        if location.group == group
    }
    edges: dict[tuple[int, ...], list[str]] = {}
    for rule, name in zip(automaton.rules, names, strict=True):
        if rule.source in places:
            edges.setdefault((rule.source, rule.target), []).append(name)
    colours = {name: i for i, name in enumerate(dict.fromkeys(names))}
    draw_graph(canvas, places, edges, colours)


def _place(automaton: Automaton, number: int, quiet: frozenset[str]) -> Place:
    location = automaton.locations[number]
    known = (textwrap.wrap(fact, 30) for fact in facts(location, without=quiet))
    marks = ("initial",) * location.initial + ("crashed",) * location.crashed
    return Place((str(number), *(line for fact in known for line in fact)), marks, location.name)


def _legend(
    automaton: Automaton, questions: Sequence[Question], words: Words, canvas: Canvas
) -> None:
    canvas.y += LINE * 1.5
    names = step_names(automaton)
    for alike in same_steps(automaton):
        first = automaton.rules[alike[0]]
        canvas.line(f"{names[alike[0]]}  {first.label}", hang=3)
        for part in rule_effects(first, words):
            canvas.line(part, "quiet", 3 * CHARACTER)
    if questions:
        canvas.y += LINE * 0.5
        canvas.line("violated where", "band")
        for question in questions:
            canvas.line(f"{question.property}: {violation_text(question, words)}")
