"""What else could have happened at a step of an execution."""

from __future__ import annotations

from msgspec import Struct

from checker.results.trace import Step


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
