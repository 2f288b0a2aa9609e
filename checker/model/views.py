"""Views: which states are taken for one.

Of states that differ in hidden variables alone the one that is found first is explored, and the
others are not: TLC's VIEW (Lamport, *Specifying Systems*, 2002, section 14.3).  Nothing says that
they behave alike, so what is explored is a part of what is reachable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from checker.model.interpreter import State
    from checker.model.ir import SourceLocation, TransitionSystem


class View(Struct, frozen=True):
    """States that differ in the variables ``hidden`` alone are taken for one; ``text``: what of
    them is compared, as the check says it."""

    hidden: frozenset[str]
    text: str
    place: SourceLocation


def compared(system: TransitionSystem) -> tuple[int, ...]:
    """Returns the positions of the variables that tell states of ``system`` apart."""
    hidden = frozenset[str]() if system.view is None else system.view.hidden
    return tuple(i for i, v in enumerate(system.variables) if v.name not in hidden)


def seen(system: TransitionSystem, state: State) -> State:
    """Returns what of ``state`` is compared; two states of which it is equal are taken for one."""
    return state if system.view is None else tuple(state[i] for i in compared(system))
