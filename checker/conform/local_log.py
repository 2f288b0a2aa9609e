"""The log of one process against its local system: which steps explain lines at a place of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from msgspec import Struct

from checker.conform.choices import choices_of
from checker.conform.explain_events import BY_MESSAGE, EventExplainer, Observation
from checker.conform.lines import NOT_YET, EventPattern, Gap, Item, Line, Logged, NotYet, Timeline
from checker.conform.local_steps import Locals, LocalStep, Received, local_steps
from checker.conform.local_system import LocalAction
from checker.conform.partly_known import met, value_of
from checker.conform.patterns import Anything, Parts, Pattern, matches
from checker.conform.stream import Stream
from checker.conform.unknown import TooMany, Unknown, fresh, is_known, key_of, split
from checker.model.interpreter import Event
from checker.model.ir import STOPS, Block, Mark, MarkKind
from checker.model.tree import statements
from checker.model.types import Type
from checker.polling import poll

MOST_STATES = 256
"""The largest number of local states that are carried."""

States = dict[Any, Locals]
"""Local states, by what tells them apart."""


class Explained(Struct, frozen=True, eq=False):
    """A step that leads to the local state ``locals``, and the ``lines`` that it explains;
    ``length``: the number of items of the log that they are."""

    length: int
    locals: Locals
    lines: tuple[Line, ...]
    step: LocalStep


class _Explainer(EventExplainer):
    """Explains events with unknown parts, which can't be kept."""

    def _matches(self, pattern: EventPattern, event: Event) -> bool:
        return all(map(matches, pattern.args, event.args))


class LocalLog:
    """The log number ``number`` of an observation.

    Raises :class:`checker.conform.local_system.NotLocal`.
    """

    def __init__(self, observation: Observation, number: int) -> None:
        timeline = observation.timelines[number]
        self.system = observation.system
        self.rank = self.system.processes.index(timeline.process)
        self.items: Sequence[Item] = timeline.items
        self.steps = local_steps(self.system, self.rank)
        self.local = self.steps.local
        self.observation = Observation(
            self.system, (timeline,), observation.logged, observation.unlogged
        )
        self.explainer = _Explainer(self.observation)
        self._cell_of = {cell.variable: n for n, cell in enumerate(self.local.cells)}
        self._silent = {a.action.name for a in self.local.actions if self._may_be_silent(a)}
        self._loose = {
            n for a in self.local.actions if a.action.name in self._silent for n in a.writes
        }
        self._first, self._beginning = self._first_only(), self._may_be_first()
        self._scanned = (0, 0, False)
        self._unlogged = {a.action.name: self._unlogged_messages(a) for a in self.local.actions}

    def with_items(self, timeline: Timeline) -> LocalLog:
        """Returns another log of the same process, in which the same events are logged."""
        other = copy(self)
        other.items, other._scanned = timeline.items, (0, 0, False)
        logged, unlogged = self.observation.logged, self.observation.unlogged
        other.observation = Observation(self.system, (timeline,), logged, unlogged)
        other.explainer = _Explainer(other.observation)
        return other

    # ---- what the code may do -------------------------------------------------------------

    def _surely_logged(self, mark: Mark) -> bool:
        """Returns whether each event of ``mark`` is logged."""
        info = self.system.marks[mark.mark]
        if info.kind not in BY_MESSAGE:
            event = Event(mark.mark, (self.rank,))
            return bool(mark.args) and self.observation.is_observed(event)
        excepted = any(each.kind is info.kind for each in self.observation.unlogged)
        return Logged(info.kind) in self.observation.logged[self.rank] and not excepted

    def _may_be_silent(self, action: LocalAction) -> bool:
        """Returns whether a step of ``action`` may have no event that is logged."""
        outer = [stmt for stmt in action.body if isinstance(stmt, Mark)]
        kinds = {self.system.marks[mark.mark].kind for mark in outer}
        return not kinds & STOPS and not any(map(self._surely_logged, outer))

    def _first_only(self) -> frozenset[int]:
        """Returns the marks that are never in a step after another event that may be logged."""
        later: set[int] = set()
        for action in self.local.actions:
            begun = False
            for stmt in action.body:
                inside = [m.mark for m in _marks_in((stmt,)) if self._may_be_logged(m.mark)]
                later |= set(inside if begun else inside[1:])
                if not isinstance(stmt, Mark) and inside:
                    later |= set(inside)
                begun = begun or bool(inside)
        every = {m for action in self.local.actions for m in action.marks}
        return frozenset(every - later)

    def _may_be_first(self) -> frozenset[int]:
        """Returns the marks that may be the first event of a step that is logged."""
        found: set[int] = set()
        for action in self.local.actions:
            for stmt in action.body:
                found |= {mark.mark for mark in _marks_in((stmt,))}
                if isinstance(stmt, Mark) and self._surely_logged(stmt):
                    break
        return frozenset(found)

    def _may_be_logged(self, mark: int) -> bool:
        kind = self.system.marks[mark].kind
        logged = self.observation.logged[self.rank]
        return kind in STOPS or any(each.kind is kind for each in logged)

    def _unlogged_messages(self, action: LocalAction) -> tuple[Any, ...]:
        """Returns the messages whose reception by ``action`` is not logged, as far as they have to
        be known for that."""
        if action.received is None:
            return ()
        mark = next(m for m in _marks_in(action.body) if self._is_reception(m.mark)).mark
        types = self.system.marks[mark].types
        message = fresh(types[2])

        def logged(message: Any) -> bool:
            return self.observation.is_observed(Event(mark, (self.rank, None, message)))

        try:
            return tuple(m for m, observed in split(message, logged) if not observed)
        except TooMany:
            return (message,)

    def _is_reception(self, mark: int) -> bool:
        return self.system.marks[mark].kind is MarkKind.RECEIVE

    # ---- steps ----------------------------------------------------------------------------

    def _arrivals(self, action: LocalAction, item: Item | None) -> Iterator[Received | None]:
        """Yields the messages that may arrive when ``item`` is next; ``None``: any."""
        if action.received is None or not isinstance(item, Line):
            yield None
            return
        for message in self._unlogged[action.action.name]:
            yield Received(Unknown(self.system.marks[0].types[0]), message)
        for pattern in item.patterns:
            if pattern.mark in action.marks and self._is_reception(pattern.mark):
                types = self.system.marks[pattern.mark].types
                sender, message = pattern.args[1:]
                yield Received(value_of(sender, types[1]), value_of(message, types[2]))

    def _candidates(self, at: int) -> Iterator[LocalAction]:
        """Yields the actions that may have a step next, at the item ``at``."""
        item = self.items[at]
        marks = {p.mark for p in item.patterns} if isinstance(item, Line) else None
        for action in self.local.actions:
            if action.stops and not self._may_stop(at):
                continue
            if marks is None or action.action.name in self._silent or action.marks & marks:
                yield action

    def _may_stop(self, at: int) -> bool:
        """Returns whether the process may stop in the step that is next at the item ``at``: it
        stops there, or before a line that begins another step."""
        first, last, stops = self._scanned
        if first <= at < last:
            return stops
        last = at
        while not (stops := is_stop(self.items[last])):
            last += 1
            item = self.items[last] if last < len(self.items) else NOT_YET
            if isinstance(item, NotYet):
                break
            if isinstance(item, Line) and self.begins_a_step(item) and not is_stop(item):
                break
        if not isinstance(self.items, Stream) or last < self.items.end:
            self._scanned = (at, last + stops, stops)
        return stops

    def begins_a_step(self, line: Line) -> bool:
        """Returns whether a line is surely the first one of its step."""
        return all(pattern.mark in self._first for pattern in line.patterns)

    def may_begin_a_step(self, line: Line) -> bool:
        """Returns whether a line may be the first one of its step."""
        return any(pattern.mark in self._beginning for pattern in line.patterns)

    def steps_at(self, at: int, locals_: Locals) -> Iterator[LocalStep]:
        """Yields the steps of a local state that may explain the item ``at``, or nothing."""
        for action in self._candidates(at):
            for received in self._arrivals(action, self.items[at]):
                yield from self.steps.steps(locals_, action, received)

    def explained(self, at: int, step: LocalStep) -> Iterator[Explained]:
        """Yields which lines, the item ``at`` first, a step explains."""
        events = tuple((event.mark, event.args) for event in step.events)

        def run(now: Any) -> list[tuple[tuple[int, ...], list[Line]]]:
            events = [Event(mark, args) for mark, args in now[1]]
            choices = choices_of(self.system, events)
            return self.explainer.after((at,), self.explainer.relevant(events), choices)

        for (locals_, _), ways in split((step.locals, events), run):
            for (after,), lines in ways:
                kept = self.constrained(locals_, lines)
                if kept is not None:
                    yield Explained(after - at, kept, tuple(lines), step)

    def constrained(self, locals_: Locals, lines: list[Line]) -> Locals | None:
        """Returns a local state with what ``lines`` say of it; ``None`` where it contradicts it."""
        for line in lines:
            for variable, pattern in line.state:
                number = self._cell_of.get(variable)
                if number is None:
                    continue
                found = met(self._of_own(variable, pattern), locals_, number)
                if found is None:
                    return None
                locals_ = found
        return locals_

    def contradicted(
        self, variable: int, pattern: Pattern, locals_: Locals
    ) -> tuple[Pattern, Any, Type] | None:
        """Returns what a line says of the process's part of a variable, the value that it has, and
        its type, where these do not agree."""
        number = self._cell_of.get(variable)
        if number is None:
            return None
        own = self._of_own(variable, pattern)
        if met(own, locals_, number) is not None:
            return None
        return own, locals_[number], self.local.cells[number].type

    def _of_own(self, variable: int, pattern: Pattern) -> Pattern:
        place = self.local.cells[self._cell_of[variable]].place
        if place is None or not isinstance(pattern, Parts):
            return Anything()
        return pattern.parts[place]

    def advance(self, at: int, states: States) -> list[Explained]:
        """Returns what explains the item ``at`` from local states, silent steps before included.

        Raises :class:`TooMany`.
        """
        begun = [each if is_known(each) else self._loosened(each) for each in states.values()]
        try:
            return self._advance(at, begun)
        except TooMany:
            if not self._silent or not all(map(is_known, begun)):
                raise
            return self._advance(at, [self._loosened(each) for each in begun])

    def _advance(self, at: int, states: list[Locals]) -> list[Explained]:
        found: dict[Any, Explained] = {}
        todo = list(states)
        seen = {key_of(each) for each in todo}
        while todo:
            poll()
            now = todo.pop()
            for step in self.steps_at(at, now):
                for each in self.explained(at, step):
                    key = key_of(each.locals)
                    if each.length:
                        found.setdefault((each.length, key), each)
                    elif key not in seen and is_known(now):
                        seen.add(key)
                        todo.append(
                            each.locals if is_known(each.locals) else self._loosened(each.locals)
                        )
            if len(seen) > MOST_STATES or len(found) > MOST_STATES:
                raise TooMany
        return list(found.values())

    def _loosened(self, locals_: Locals) -> Locals:
        """Returns a local state without what silent steps may change: those need not be taken in
        it."""
        cells = self.local.cells
        return tuple(
            fresh(cells[n].type) if n in self._loose else value for n, value in enumerate(locals_)
        )

    def says_nothing(self, found: Explained) -> bool:
        """Returns whether the lines that a step explains would be explained whatever it had done:
        they name no variable that it writes, and none of its events but the first is logged."""
        action = found.step.action
        said = {self._cell_of.get(n) for line in found.lines for n, _ in line.state}
        if len(found.lines) > 1 or said & action.writes or found.lines[0].chosen:
            return False
        first = found.lines[0].patterns
        later = action.marks - {pattern.mark for pattern in first}
        return not any(map(self._may_be_logged, later))

    def starts(self) -> States:
        """Returns the local states in which the process may start; may raise ``RunFault``."""
        return {key_of(each): each for each in self.steps.starts()}

    def known_from(self, line: Line) -> Locals:
        """Returns the local state of which only what ``line`` says is known."""
        unknown = self.steps.unknown()
        return self.constrained(unknown, [line]) or unknown


def is_stop(item: Item) -> bool:
    """Returns whether a process may stop at an item of its log."""
    return isinstance(item, Gap) or (isinstance(item, Line) and item.logged.kind is MarkKind.CRASH)


def only(locals_: Locals) -> States:
    """Returns the one local state ``locals_``."""
    return {key_of(locals_): locals_}


def _marks_in(body: Block) -> list[Mark]:
    return [stmt for stmt in statements(body) if isinstance(stmt, Mark)]
