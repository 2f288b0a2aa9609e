"""The windows of the log of one process: which of them a step explains.

A window is the lines that one step explains.  The local states that explain the log so far are
carried from window to window.  A window that no step explains from any of them is red: then no run
of the whole system has this log, whatever the other processes did.  After it only what its lines
say is known, so that one fault counts once.

Whether a window is explained depends on the local states before it and on what its lines say, so
equal ones are asked once.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from msgspec import Struct

from checker.conform.lines import Gap, Item, Line, Timeline
from checker.conform.local_log import Explained, LocalLog, States, is_stop, only
from checker.conform.local_steps import Locals
from checker.conform.unknown import TooMany, key_of
from checker.polling import poll

MOST_KEPT = 200_000
"""The largest number of local states in the explanations that are kept."""
MOST_ITEMS = 32
"""The number of items from which on the explanation of a window that depends on them is not
kept."""


class Explanation(Struct, frozen=True, eq=False):
    """The explanation of a window: ``steps`` from the local states ``before`` it. ``asked``:
    whether all of them could be searched.
    """

    before: tuple[Locals, ...]
    steps: tuple[Explained, ...] = ()
    asked: bool = True

    @property
    def is_red(self) -> bool:
        """Whether no step explains it."""
        return self.asked and not self.steps


class Window(Struct, frozen=True, eq=False):
    """The window that begins with ``line``, the item ``at`` of the log, or behind it if that is a
    gap.  Windows that are equal share their explanation."""

    at: int
    line: Line
    explanation: Explanation

    @property
    def before(self) -> tuple[Locals, ...]:
        """The local states before it."""
        return self.explanation.before

    @property
    def steps(self) -> tuple[Explained, ...]:
        """The steps that explain it."""
        return self.explanation.steps

    @property
    def asked(self) -> bool:
        """Whether its explanation could be searched for."""
        return self.explanation.asked

    @property
    def is_red(self) -> bool:
        """Whether no step explains it."""
        return self.explanation.is_red


class _Carried(Struct, frozen=True, eq=False):
    """Local states that are carried to a place of the log; equal ones are the same object."""

    states: States


_Onward = tuple[tuple[int, _Carried], ...]
"""The result of a window: how many items further the next one begins, and the local states
there."""


class _Kept(Struct, frozen=True, eq=False):
    """The explanation of all windows with a key, which has the identities of ``carried`` and of
    what lines say (``known``): lines share their patterns only if they say the same."""

    explanation: Explanation
    onward: _Onward
    carried: _Carried
    known: tuple[Item, ...]


class _Memory:
    """The explanations that are kept."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, ...], _Kept] = {}
        self._carried: dict[frozenset[object], _Carried] = {}
        self._states = 0

    def carried(self, states: States) -> _Carried:
        """Returns the shared object for the local states ``states``."""
        return self._carried.setdefault(frozenset(states), _Carried(states))

    def keep(self, key: tuple[int, ...], kept: _Kept) -> None:
        """Keeps an explanation; forgets all others if they are too many."""
        self._states += 1 + len(kept.explanation.before) + len(kept.explanation.steps)
        if self._states > MOST_KEPT:
            self.kept.clear()
            self._carried.clear()
            self._states = 0
        self.kept[key] = kept


class LocalWindows:
    """The windows of a ``log``."""

    def __init__(self, log: LocalLog) -> None:
        self.log = log
        self._memory = _Memory()

    def with_items(self, timeline: Timeline) -> LocalWindows:
        """Returns the windows of another log of the same process, in which the same events are
        logged."""
        other = copy(self)
        other.log = self.log.with_items(timeline)
        return other

    def __iter__(self) -> Iterator[Window]:
        """Yields the windows of the log, in order.

        A line that never begins a step belongs to the window before it, which is red with it.
        """
        held: tuple[Window, _Onward] | None = None
        for window, onward in self._windows():
            if held is None:
                held = window, onward
            elif window.is_red and self._belongs_to(window, *held):
                yield Window(held[0].at, held[0].line, Explanation(held[0].before))
                held = None
            else:
                yield held[0]
                held = window, onward
        if held is not None:
            yield held[0]

    def _belongs_to(self, window: Window, before: Window, onward: _Onward) -> bool:
        follows = any(before.at + length == window.at for length, _ in onward)
        return follows and not self.log.may_begin_a_step(window.line)

    def _windows(self) -> Iterator[tuple[Window, _Onward]]:
        """Yields each window with its results: none if it is red or was not asked."""
        items = self.log.items
        end = 1 + max((n for n, i in enumerate(items) if isinstance(i, Line)), default=-1)
        pending = {0: self._memory.carried(self.log.starts())}
        while pending:
            poll()
            at = min(pending)
            carried = pending.pop(at)
            if at >= end:
                return
            found = self._explained(at, carried)
            if found.explanation.is_red and pending:
                continue  # other steps before explain more lines
            yield Window(at, self._next_line(at), found.explanation), found.onward
            if not found.explanation.steps:
                pending = self._resumed(at, end)
            for length, more in found.onward:
                self._add(pending, at + length, more)

    def _add(self, pending: dict[int, _Carried], at: int, more: _Carried) -> None:
        before = pending.get(at)
        if before is not None and before is not more:
            more = self._memory.carried(before.states | more.states)
        pending[at] = more

    # ---- one window -----------------------------------------------------------------------

    def _explained(self, at: int, carried: _Carried) -> _Kept:
        """Returns the explanation of the window at an item, from the local states there."""
        known, ahead = self._known(at)
        said = (id(i.patterns) if isinstance(i, Line) else 0 for i in known)
        key = (id(carried), ahead, *said)
        kept = self._memory.kept.get(key)
        if kept is None:
            kept = self._asked(at, carried, known)
            if len(known) < MOST_ITEMS:
                self._memory.keep(key, kept)
        return kept

    def _known(self, at: int) -> tuple[tuple[Item, ...], int]:
        """Returns the items on which the explanation of the window at ``at`` depends, and as a
        number what is said of the item behind them: a line that begins another step matters only
        as such."""
        items, log = self.log.items, self.log
        here = at + 1 if isinstance(items[at], Line) else at + 2
        for item in items[here : at + MOST_ITEMS]:
            if isinstance(item, Line) and log.begins_a_step(item):
                return tuple(items[at:here]), 1 + is_stop(item)
            here += 1
        return tuple(items[at : at + MOST_ITEMS]), 0

    def _asked(self, at: int, carried: _Carried, known: tuple[Item, ...]) -> _Kept:
        log = self.log
        states = only(log.steps.unknown()) if isinstance(log.items[at], Gap) else carried.states
        before = tuple(states.values())
        try:
            steps = tuple(log.advance(at, states))
        except TooMany:
            return _Kept(Explanation(before, asked=False), (), carried, known)
        after: dict[int, States] = {}
        for each in steps:
            after.setdefault(each.length, {})[key_of(each.locals)] = each.locals
        onward = tuple((length, self._memory.carried(s)) for length, s in after.items())
        return _Kept(Explanation(before, steps), onward, carried, known)

    # ---- the log --------------------------------------------------------------------------

    def lines_after(self, window: Window) -> int:
        """Returns how many lines follow the first one of ``window``."""
        return sum(isinstance(item, Line) for item in self.log.items[window.at :]) - 1

    def _next_line(self, at: int) -> Line:
        while not isinstance(item := self.log.items[at], Line):
            at += 1
        return item

    def _resumed(self, at: int, end: int) -> dict[int, _Carried]:
        """Returns where to go on after the window at ``at``, and all that is known there."""
        said: list[Line] = []
        log = self.log
        for number, item in enumerate(log.items[at:end], at):
            if isinstance(item, Gap):
                if number > at:
                    return {number: self._memory.carried(only(log.steps.unknown()))}
            elif isinstance(item, Line):
                if said and log.begins_a_step(item):
                    return {number: self._memory.carried(only(log.known_from(said[-1])))}
                said.append(item)
        return {}
