"""The signs that occur in a run's picture, each with what it means."""

from __future__ import annotations

from collections.abc import Iterator

from checker.witness.causality import How, causality
from checker.witness.trace import Trace

EVENTS = {
    "request": ("▷", "somebody outside asks a process for something"),
    "indication": ("■", "a process tells its user, in the message's colour: it delivers, decides"),
    "perform": ("◆", "a process does something to the outside world"),
    "store": ("▤", "a process writes to its stable storage"),
    "crash": ("✕", "a process crashes; its line is dotted while it is down"),
    "recover": ("↑", "a process comes back up"),
    "detect": ("?", "a failure detector tells a process of another one"),
    "timeout": ("◷", "a timer of a process runs out"),
    "forge": ("B", "a Byzantine process makes up a message"),
    "world": ("━", "the network or the world changes, for everybody"),
}

ARROWS = {
    How.RECEIVED: ("→", "a message, from where it is sent to where it is received"),
    How.LOST: ("⤫", "a message that the link loses"),
    How.UNDER_WAY: ("⇢", "a message that is still on its way when the run ends"),
    How.MISSED: ("┄", "a message that never gets there, since its sender crashed"),
    How.FORGED: ("⇝", "a message that was made up"),
}


def legend(trace: Trace) -> list[tuple[str, str]]:
    """Pairs of a sign and its meaning, of those that ``trace`` has."""
    return list(_signs(trace))


def _signs(trace: Trace) -> Iterator[tuple[str, str]]:
    found = causality(trace)
    kinds = {event.kind for step in found.steps for event in step.events}
    yield from (sign for kind, sign in EVENTS.items() if kind in kinds)
    hows = {arrow.how for arrow in found.arrows}
    yield from (sign for how, sign in ARROWS.items() if how in hows)
    if any(fate.faulty == "byzantine" for fate in trace.fates):
        yield "▨", "a process that is Byzantine: it may do anything"
    if trace.closing is not None:
        yield "▭", "what is in the box repeats for ever"
    if trace.explanation is not None and trace.explanation.context:
        yield "░", "faded: the violation does not depend on it"
