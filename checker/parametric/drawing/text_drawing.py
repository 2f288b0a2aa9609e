"""A threshold automaton as text: its numbers, locations, rules and questions.

What is drawn is what the queries are about, in the words of the spec.  For the picture see
:mod:`checker.parametric.drawing.svg_drawing`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from checker.parametric.automaton.automaton import Automaton, Group, Question, Rule
from checker.parametric.automaton.wording import Words, constant_names, facts
from checker.render.diagram.graph_drawing import letters_of

WIDTH = 100
"""Columns at most."""

INDENT = 14
"""The column at which the text after a title begins."""


def draw_text(automaton: Automaton, questions: Sequence[Question] = ()) -> str:
    """Returns ``automaton`` as text of at most ``WIDTH`` columns, with the ``questions`` about
    it."""
    words = Words(automaton)
    lines = [_counts_line(automaton), ""]
    lines += _numbers(automaton, words)
    lines += ["", "locations (> initial)"]
    lines += _locations(automaton)
    lines += ["", "steps"]
    names = step_names(automaton)
    for alike in same_steps(automaton):
        lines += _rules(names[alike[0]], alike, words)
    if questions:
        lines += ["", "violated where"]
        for question in questions:
            lines += _hanging_indent(f"  {question.property}", violation_text(question, words))
    return "\n".join(lines) + "\n"


def _counts_line(automaton: Automaton) -> str:
    locations, rules = len(automaton.locations), len(automaton.rules)
    return (
        f"{automaton.name}: {locations} location{'s' * (locations != 1)},"
        f" {rules} rule{'s' * (rules != 1)}"
    )


def _numbers(automaton: Automaton, words: Words) -> Iterator[str]:
    hidden = f"; of a run: {', '.join(automaton.hidden)}" if automaton.hidden else ""
    yield from _hanging_indent("  for all", ", ".join(automaton.parameters) + hidden)
    yield from _hanging_indent("  with", words.condition(automaton.resilience))
    always = ", ".join(words.condition(c) for c in automaton.constraints)
    if always:
        yield from _hanging_indent("  always", always)
    for number, group in enumerate(automaton.groups):
        title = "  groups" if number == 0 else ""
        yield from _hanging_indent(title, group_in_words(group, words))
    for number, kind in enumerate(automaton.kinds):
        forged = words.forged_count(number)
        text = kind.name if not forged else f"{kind.name} (plus {forged} forged ones)"
        if kind.sender is not None and not kind.name.endswith(f" from {kind.sender}"):
            text += f" from {kind.sender} only"
        yield from _hanging_indent("  messages" if number == 0 else "", text)


def group_in_words(group: Group, words: Words) -> str:
    """Returns ``processes: n - faulty, correct``."""
    name = group.name if group.process is None else f"{group.name} ({group.process})"
    return f"{name}: {words.linear(group.size)}, {group.mode.value}"


def _locations(automaton: Automaton) -> Iterator[str]:
    several = len(automaton.groups) > 1
    for place, group in enumerate(automaton.groups):
        if several:
            yield f"  {group.name}, {group.mode.value}"
        quiet = constant_names(automaton, place)
        for number, location in enumerate(automaton.locations):
            if location.group == place:
                mark = ">" if location.initial else " "
                known = ", ".join(facts(location, without=quiet)) or "-"
                own = ", ".join(automaton.kinds[k].name for k in sorted(location.own))
                if own:
                    known += f" [counts no {own} of its own]"
                known += _round_in_words(automaton, number)
                yield from _hanging_indent(f"  {mark} {number}", known, 10)


def _round_in_words(automaton: Automaton, number: int) -> str:
    """Returns the effect of the next round's beginning on a process in a location, in words."""
    if not automaton.next_round:
        return ""
    after = automaton.next_round[number]
    if after == number:
        return " [left behind in an earlier round]"
    ahead = automaton.next_round[after] != after
    return f" [begins the next round in {after}]" if ahead else ""


def same_steps(automaton: Automaton) -> list[list[int]]:
    """Groups the rules by their effect: same handler, guard, messages and indications."""
    found: dict[object, list[int]] = {}
    for number, rule in enumerate(automaton.rules):
        step = (rule.label, rule.place, rule.guard, rule.sends, rule.indications, rule.is_fair)
        found.setdefault(step, []).append(number)
    return list(found.values())


def rule_effects(rule: Rule, words: Words) -> list[str]:
    """Returns what taking ``rule`` needs and does, in words: its guard, messages, indications."""
    guard = words.condition(rule.guard)
    parts = [] if guard == "true" else [f"when {guard}"]
    if rule.sends:
        parts.append(f"sends {', '.join(words.automaton.kinds[k].name for k in rule.sends)}")
    if rule.indications:
        parts.append(f"indicates {', '.join(rule.indications)}")
    if not rule.is_fair:
        parts.append("never has to")
    return parts


def step_names(automaton: Automaton) -> tuple[str, ...]:
    """Returns a letter for each rule, the same for the same step: A to Z, then AA, AB, …"""
    letters: dict[int, str] = {}
    for number, alike in enumerate(same_steps(automaton)):
        letters |= dict.fromkeys(alike, letters_of(number))
    return tuple(letters[number] for number in range(len(automaton.rules)))


def _rules(name: str, alike: list[int], words: Words) -> Iterator[str]:
    rules = words.automaton.rules
    first = rules[alike[0]]
    yield from _hanging_indent(f"  {name}", first.label, 5)
    for part in rule_effects(first, words):
        yield from _hanging_indent("", part, 7)
    ways = (f"{rules[number].source}->{rules[number].target}" for number in alike)
    yield from _hanging_indent("", ", ".join(ways), 7)


def violation_text(question: Question, words: Words) -> str:
    """Returns where an execution violates the property of ``question``, in words."""
    text = words.question(question.violated)
    return f"the run stays forever where {text}" if question.at_end else text


def _hanging_indent(title: str, text: str, indent: int = INDENT) -> Iterator[str]:
    """Yields ``text`` after ``title``, in as many lines as it takes."""
    first = f"{title:<{indent}}" if len(title) < indent else f"{title} "
    found = textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
    )
    yield from found or [first.rstrip()]
