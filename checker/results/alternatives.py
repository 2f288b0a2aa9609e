"""What else could have happened at a step of an execution."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.model.ir import MarkKind
from checker.results.trace import Step

UNTOLD = (MarkKind.HANDLER, MarkKind.BRANCH, MarkKind.POINT, MarkKind.MESSAGE)
"""Kinds of events that say nothing of what a step brings about."""


class Alternative(Struct, frozen=True):
    """A step that was enabled where another one was taken.

    ``text``: its phrase, by which stepping takes it; ``step``: what it does, with the number of the
    step that was taken; ``same``: it leads to the same state as that one.
    """

    text: str
    step: Step
    same: bool = False


class Alternatives(Struct, frozen=True):
    """The alternatives to one step; ``more``: the number of those that are left out."""

    ways: tuple[Alternative, ...] = ()
    more: int = 0


def outcome_texts(step: Step) -> Iterator[str]:
    """Yields what ``step`` brings about: its events, and the variables that it changes."""
    for event in step.events:
        if event.kind not in UNTOLD and event.sentence != step.headline:
            yield event.sentence
    yield from (f"it crashed before this: {event.sentence}" for event in step.cut)
    for change in step.changes:
        if not change.quiet:
            whose = f" of {change.process}" if change.process else ""
            yield f"{change.title}{whose}: {change.before} → {change.after}"
