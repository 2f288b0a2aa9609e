"""Explains why a process does not indicate something now: it has done so, or what its handler waits
for is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.diagnostics.english import listing
from checker.language.syntax.verbs import verbs
from checker.model import ir
from checker.model.ir import MarkKind, TransitionSystem
from checker.results.causality import CopyOutcome, causality
from checker.results.events import Event, Indicated
from checker.results.terms import head, names
from checker.results.trace import Trace
from checker.words.events import sentence

FEW = 3
"""The largest number of messages that are named."""


def phrases_of_events(events: Iterable[Event]) -> list[str]:
    """Returns what ``events`` are in words: ``p2 delivers (p1, a)``, ``p2 delivers a``."""
    texts = []
    for event in events:
        texts.append(sentence(event))
        if isinstance(event, Indicated):
            items = ", ".join(event.call.values)
            for verb in verbs(event.call.operator):
                said = f"{event.process} {verb}"
                texts += [said, *(f"{said} {item}" for item in (f"({items})", *items.split(", ")))]
    return texts


def done_before(words: str, trace: Trace) -> tuple[str, tuple[int, ...]] | None:
    """Returns the sentence that says in which steps of ``trace`` this was indicated, and their
    numbers; ``None`` where it was not."""
    found = {
        step.number: str(event.call)
        for step in trace.steps
        for event in step.events
        if isinstance(event, Indicated) and words in phrases_of_events((event,))
    }
    if not found:
        return None
    where = f"step{'s' if len(found) > 1 else ''} {listing(str(number) for number in found)}"
    what = listing(dict.fromkeys(found.values()))
    return f"{words.split()[0]} did that in {where}: {what}", tuple(found)


def not_now(words: str, system: TransitionSystem, trace: Trace) -> tuple[str, ...]:
    """Returns a line for each handler that indicates what ``words`` say, with the messages that are
    on their way to it; none where no handler does."""
    who, _, what = words.partition(" ")
    verb = head(what).partition(" ")[0]
    under_way = [
        arrow.message
        for arrow in causality(trace).arrows
        if arrow.receiver == who and arrow.how is CopyOutcome.UNDER_WAY
    ]
    lines: dict[str, None] = {}
    for action in system.actions:
        for handler in _indicating(system, action.body, verb, ""):
            line = f"not now: {who} {verb} in `{handler}`"
            if action.kind is ir.ActionKind.RECEIVE:
                line += _messages_text(who, handler, under_way)
            lines[line] = None
    return tuple(lines)


def _messages_text(who: str, handler: str, under_way: list[str]) -> str:
    """Returns what is on its way to ``who`` of the messages that ``handler`` takes."""
    taken = set(names(handler.partition(" from ")[0]))
    there = [m for m in dict.fromkeys(under_way) if taken & set(names(m))]
    if not there:
        return f", and no message for that is on its way to {who}"
    named = listing([*there[:FEW], "others"] if len(there) > FEW else there)
    does = "does" if len(there) == 1 else "do"
    return f", and what is on its way to {who} ({named}) {does} not bring that about"


def _indicating(
    system: TransitionSystem, block: ir.Block, verb: str, handler: str
) -> Iterator[str]:
    """Yields the handlers in ``block`` with an indication of that ``verb``; ``handler``: the one
    that ``block`` is part of."""
    for stmt in block:
        match stmt:
            case ir.Mark(mark):
                info = system.marks[mark]
                if info.kind is MarkKind.HANDLER:
                    handler = info.text
                elif info.kind is MarkKind.INDICATION and verb in verbs(info.text) and handler:
                    yield handler
            case ir.If(_, then, otherwise):
                yield from _indicating(system, then, verb, handler)
                yield from _indicating(system, otherwise, verb, handler)
            case ir.For(body=body) | ir.While(body=body):
                yield from _indicating(system, body, verb, handler)
            case _:
                pass
