"""Disks that write behind: what the power leaves is settled when something is written.

The tool keeps all that a disk may hold, and settles which of it when the power fails.  Here a disk
holds one thing, and each write either reaches it at once or never does before it is synced: so any
part of the writes is left, in their order, and there is no set of anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.world.running import Way
    from tests.world.system import State

STABLE = frozenset(("stable state", "stable synced state"))
STOPS = ("crash", "power", "wipe")
Write = tuple[Any, Callable[[Any], Any]]
"""The key of a variable, and what is written as a function of what is there."""


def on_disk(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key of what the disk has of a variable."""
    return ("disk", *key[1:])


def starts(state: State, key: tuple[Any, ...]) -> None:
    """A variable starts with what it is: so does the disk."""
    state[on_disk(key)] = state[key]
    dropped(state, key, False)


def dropped(state: State, key: tuple[Any, ...], now: bool) -> None:
    of = "dropped", key[-1]
    state[of] = state.get(of, frozenset()) - {key} | ({key} if now else frozenset())


def writes(way: Way, some: Sequence[Write]) -> None:
    """All of ``some`` reach the disk together, or none does."""
    some = [write for write in some if on_disk(write[0]) in way.state]  # what is stable here
    if not way.model.world.power or not some or way.stopped is not None:
        return
    reaches = way.pick((True, False))
    for key, change in some:
        dropped(way.state, key, False)
        if reaches:
            way.state[on_disk(key)] = change(way.state[on_disk(key)])


def sync(way: Way, keys: Sequence[tuple[Any, ...]]) -> bool:
    """Whether what there is of these variables is on disk now, as far as one is told."""
    state = way.state
    if way.stopped is not None:
        return True
    lost = state.get(("dropped", keys[0][-1]), frozenset())
    left = way.model.world.sync - state.get("failures", 0)
    if left > 0 and not {*keys} <= lost and way.pick((False, True)):
        state["failures"] = state.get("failures", 0) + 1
        for key in keys:
            dropped(state, key, True)
        return False
    for key in keys:
        if key not in lost:
            state[on_disk(key)] = state[key]
    return True


def stops(way: Way, p: str, how: str) -> None:
    """What is left of ``p``'s stable state."""
    from tests.world.steps import start

    keys = [k for k in way.state if k[0] == "disk" and k[-1] == p]
    if how == "power":
        for key in keys:
            var = ("var", *key[1:])
            way.state[var] = way.state[key]
            dropped(way.state, var, False)
    if how == "wipe":
        start(way, p, set(STABLE), way.pick_fault)
