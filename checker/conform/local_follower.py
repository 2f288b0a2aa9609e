"""Follows the log of one process while it is being written: which local states explain it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checker.conform.explain_events import Observation
from checker.conform.kept_values import of_data, to_data
from checker.conform.lines import Gap, Line
from checker.conform.local_log import LocalLog, States, only
from checker.conform.local_windows import Explanation, Window
from checker.conform.stream import Stream
from checker.conform.unknown import TooMany, Unread, is_known, key_of
from checker.model.evaluate import RunFault
from checker.model.ir import VariableKind


class LocalFollower:
    """Follows the timeline number ``number`` of ``observation``, whose items are a stream.

    ``pending``: by the number of an item, the local states before it that explain the items before;
    steps from them may be explained only in part by what has come.  ``lost``: whether nothing is
    known of the process, until a line says all of its variables, or, ``after_red``, until another
    step begins.

    Raises :class:`checker.conform.local_system.NotLocal`.
    """

    def __init__(self, observation: Observation, number: int) -> None:
        stream = observation.timelines[number].items
        assert isinstance(stream, Stream)
        self.stream = stream
        self.log = LocalLog(observation, number)
        self.pending: dict[int, States] = {0: self.log.starts()}
        self.lost = False
        self.after_red = False

    # ---- going on -------------------------------------------------------------------------

    def goes_on(self) -> bool:
        """Takes what has come; returns whether some local state explains it.

        Raises :class:`TooMany` where that can't be found out.  In both cases nothing has changed.
        """
        before = self.lost, self.pending
        explained = False
        try:
            explained = (self.lost and not self._found_again()) or self._advance()
            return explained
        finally:
            if not explained:
                self.lost, self.pending = before

    def _advance(self) -> bool:
        goal = self.stream.behind_lines
        new: dict[int, States] = {}
        todo = {at: dict(states) for at, states in self.pending.items()}
        while todo and (at := min(todo)) < goal:
            states = todo.pop(at)
            if isinstance(self.stream[at], Gap):
                states = only(self.log.steps.unknown())
            self.stream.touched = False
            found = self.log.advance(at, states)
            if self.stream.touched:
                new[at] = states
            for each in found:
                todo.setdefault(at + each.length, {})[key_of(each.locals)] = each.locals
        if not todo and not self._may_go_on(new, goal):
            return False
        new |= todo
        self.pending = new
        return True

    def _may_go_on(self, pending: dict[int, States], goal: int) -> bool:
        """Returns whether a step explains all lines before ``goal``, and others that may follow."""
        with self.stream.assumed_to_go_on():
            return any(
                at + each.length >= goal
                for at, states in pending.items()
                for each in self.log.advance(at, states)
            )

    # ---- losing track ---------------------------------------------------------------------

    def lose(self, after_red: bool) -> None:
        """Forgets the local states.  After a line that no step explains only what its lines say is
        kept; otherwise nothing is believed until a line says all variables."""
        self.lost, self.after_red = True, after_red
        self.pending = {}
        self.stream.drop_before(max(self.stream.base, self.stream.end - 1))

    def _found_again(self) -> bool:
        """Looks for a line that begins a step, after one that gives the values of all variables."""
        last: Line | None = None
        for at in range(self.stream.base, self.stream.end):
            item = self.stream[at]
            if isinstance(item, Gap):
                last = None
                if self.after_red:
                    return self._resume(at, only(self.log.steps.unknown()))
            elif isinstance(item, Line):
                if last is not None and self.log.begins_a_step(item):
                    known = self.log.known_from(last)
                    if self.after_red or self._is_enough(last):
                        return self._resume(at, only(known))
                last = item
        self.stream.drop_before(max(self.stream.base, self.stream.end - 1))
        return False

    def _resume(self, at: int, states: States) -> bool:
        self.pending, self.lost = {at: states}, False
        return True

    def _is_enough(self, line: Line) -> bool:
        """Returns whether ``line`` gives the values of all variables that a line can give."""
        system, local = self.log.system, self.log.local
        kinds = (VariableKind.LOCAL, VariableKind.SHARED)
        return all(
            is_known(value)
            for cell, value in zip(local.cells, self.log.known_from(line), strict=True)
            if (variable := system.variables[cell.variable]).kind in kinds
            and not variable.name.startswith("@")
        )

    # ---- what is said of it ---------------------------------------------------------------

    @property
    def needed(self) -> int:
        """The number of the first item that is still needed."""
        return min(self.pending, default=self.stream.base)

    @property
    def outgrown(self) -> RunFault | None:
        """The error of a step that exceeded a guessed capacity, if there was one."""
        return self.log.steps.outgrown

    def window(self) -> Window:
        """Returns the window that no step explains."""
        at = max(self.pending)
        line = next(i for i in self.stream[at:] if isinstance(i, Line))
        return Window(at, line, Explanation(tuple(self.pending[at].values())))

    def allowed(self) -> list[str]:
        """Returns the kinds of lines that some step would write next, in order of their names."""
        found: set[str] = set()
        for states in self.pending.values():
            for locals_ in states.values():
                found.update(*(self._first(locals_, each) for each in self.log.local.actions))
        return sorted(found)

    def _first(self, locals_: Any, action: Any) -> Iterator[str]:
        """Yields the kinds of the first lines that a step of ``action`` writes."""
        try:
            steps = self.log.steps.steps(locals_, action)
        except TooMany:
            return
        for step in steps:
            for event in step.events:
                try:
                    if self.log.explainer.relevant([event]):
                        yield self.log.observation.kind_of(event)
                        break
                except Unread:
                    continue

    # ---- as data --------------------------------------------------------------------------

    def to_data(self) -> dict[str, Any]:
        """Returns what is known as data that JSON can hold."""
        pending = [
            [at, [to_data(locals_) for locals_ in states.values()]]
            for at, states in self.pending.items()
        ]
        return {"pending": pending, "lost": self.lost, "after_red": self.after_red}

    def restore(self, data: dict[str, Any]) -> None:
        """Restores what :meth:`to_data` has returned."""
        self.lost, self.after_red = data["lost"], data["after_red"]
        self.pending = {}
        for at, states in data["pending"]:
            found = [of_data(each) for each in states]
            self.pending[at] = {key_of(each): each for each in found}
