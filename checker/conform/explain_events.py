"""Which lines a step explains: its events against what the logs say next.

A step of a process is atomic, so its events that are logged are the next lines of its log, in
order.  Where a log has a gap, events may be missing; what is not logged is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from checker.conform.choices import says_choices
from checker.conform.lines import EventPattern, Gap, Item, Line, Logged, Timeline
from checker.conform.patterns import matches, names_in
from checker.model.interpreter import Event, State
from checker.model.ir import STOPS, MarkKind, TransitionSystem

Cursors = tuple[int, ...]
"""For each timeline the number of the item that is next."""

OBSERVABLE = frozenset(
    {
        MarkKind.REQUEST,
        MarkKind.INDICATION,
        MarkKind.PERFORM,
        MarkKind.SEND,
        MarkKind.RECEIVE,
        MarkKind.HANDLER,
        MarkKind.TIMEOUT,
        *STOPS,
        MarkKind.RECOVER,
    }
)
"""The kinds of marks that a line of a log can be about."""

_INNER = re.compile(r"^upon |\.")
"""What the texts of handlers without a name have, and those of what happens between layers."""

BY_MESSAGE = (MarkKind.SEND, MarkKind.RECEIVE)

MOST_KEPT = 50_000
"""The largest number of patterns whose events are remembered."""


class Observation(Struct, frozen=True):
    """The logs of processes, ``timelines``, and which events are in them.

    ``logged``: for each process of the system, the kinds of events that its log has, or those of
    one name; ``unlogged``: exceptions, for all processes.  A kind stands for requests and
    indications of the protocol, not of its layers, and for named handlers: of others the message or
    the request that they take is logged.
    """

    system: TransitionSystem
    timelines: tuple[Timeline, ...]
    logged: tuple[frozenset[Logged], ...]
    unlogged: frozenset[Logged] = frozenset()

    @property
    def start(self) -> Cursors:
        """The cursors before any line."""
        return (0,) * len(self.timelines)

    @property
    def lines(self) -> int:
        """How many lines there are to explain."""
        return sum(timeline.lines for timeline in self.timelines)

    def next_lines(self, cursors: Cursors) -> Iterator[Line]:
        """Yields the next line of each process that has one."""
        for timeline, cursor in zip(self.timelines, cursors, strict=True):
            line = next((i for i in timeline.items[cursor:] if isinstance(i, Line)), None)
            if line is not None:
                yield line

    def is_observed(self, event: Event) -> bool:
        """Returns whether an event, of the process that its first argument is, is logged."""
        info = self.system.marks[event.mark]
        process = event.args[0]
        assert isinstance(process, int)
        logged = self.logged[process]
        if info.kind not in OBSERVABLE:
            return False
        names = frozenset({info.text})
        if info.kind in BY_MESSAGE:
            names = names_in(info.types[2], event.args[2])
        if any(Logged(info.kind, name) in self.unlogged for name in (*names, "")):
            return False
        if any(Logged(info.kind, name) in logged for name in names):
            return True
        return Logged(info.kind) in logged and (
            info.kind in BY_MESSAGE or not _INNER.search(info.text)
        )

    def kind_of(self, event: Event) -> str:
        """Returns the kind of an event, and the name of its message, handler or timer."""
        info = self.system.marks[event.mark]
        if info.kind in BY_MESSAGE:
            name = min(names_in(info.types[2], event.args[2]), default=info.text)
        else:
            name = "" if info.kind in STOPS else info.text
        return f"{info.kind.value} {name}".rstrip()


class _Left(Struct, frozen=True):
    """Events of a step that are not explained yet; ``sent_to``: the receivers of the first one, a
    multicast, that earlier lines have named."""

    events: tuple[Event, ...]
    sent_to: frozenset[object] = frozenset()


class EventExplainer:
    """Finds the lines that the events of a step are, for one :class:`Observation`."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self._items = [timeline.items for timeline in observation.timelines]
        ranks = {name: rank for rank, name in enumerate(observation.system.processes)}
        self._of_process = {
            ranks[timeline.process]: number for number, timeline in enumerate(observation.timelines)
        }
        marks = observation.system.marks
        self._forgeries = {n for n, info in enumerate(marks) if info.kind is MarkKind.FORGE}
        receptions = (n for n, info in enumerate(marks) if info.kind is MarkKind.RECEIVE)
        self._reception = next(receptions, None)
        self._known: dict[int, tuple[EventPattern, dict[Event, bool]]] = {}

    def _as_logged(self, event: Event) -> Event:
        """Returns an event as a log has it: the receiver of a forged message can't tell that it is
        forged, and logs a reception from the apparent sender."""
        if self._reception is None or event.mark not in self._forgeries:
            return event
        liar, receiver, message, *claimed = event.args
        return Event(self._reception, (receiver, claimed[0] if claimed else liar, message))

    def relevant(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Returns those of ``events`` that are logged, by processes that have a log; and their
        crashes, which a log rarely says."""
        marks = self.observation.system.marks
        return tuple(
            event
            for event in map(self._as_logged, events)
            if event.args
            and (event.args[0] in self._of_process)
            and (marks[event.mark].kind in STOPS or self.observation.is_observed(event))
        )

    def number_of(self, event: Event) -> int:
        """Returns the number of the timeline of the process of a relevant event."""
        return self._of_process[event.args[0]]  # type: ignore[index]

    def need_not_be_logged(self, event: Event) -> bool:
        """Returns whether an event that is logged may have no line: a crash, and what a process
        that crashes has sent to nobody."""
        kind = self.observation.system.marks[event.mark].kind
        return kind in STOPS or (kind is MarkKind.SEND and event.args[1] == frozenset())

    def may_be(self, line: Line, event: Event) -> bool:
        """Returns whether ``line`` may be about ``event``, as far as these two say."""
        return any(
            pattern.mark == event.mark and self._matches(pattern, event)
            for pattern in line.patterns
        )

    def after(
        self,
        cursors: Cursors,
        events: tuple[Event, ...],
        choices: tuple[Event, ...] | None = None,
    ) -> list[tuple[Cursors, list[Line]]]:
        """Returns the cursors after a step with ``events``, as :meth:`relevant` returns them, with
        the lines that are explained; empty where the logs say something else, also of its
        ``choices`` where they are given."""
        if not events:
            return [(cursors, [])]
        found: dict[Cursors, list[Line]] = {}
        for after, lines in self._ways(cursors, _Left(events), []):
            if choices is None or says_choices(lines, choices):
                found.setdefault(after, lines)
        return list(found.items())

    def _ways(
        self, cursors: Cursors, left: _Left, lines: list[Line]
    ) -> Iterator[tuple[Cursors, list[Line]]]:
        if not left.events:
            yield cursors, lines
            return
        event = left.events[0]
        who = self.number_of(event)
        at, items = cursors[who], self._items[who]
        info = self.observation.system.marks[event.mark]
        if info.kind in STOPS and self._may_crash(items, at):
            yield from self._ways(cursors, _Left(left.events[1:]), lines)
        if info.kind is MarkKind.SEND and event.args[1] == frozenset():
            yield from self._ways(cursors, _Left(left.events[1:]), lines)
        here = items[at] if at < len(items) else None
        if isinstance(here, Gap):
            if info.kind not in STOPS:
                yield from self._ways(cursors, _Left(left.events[1:]), lines)
            at += 1
            here = items[at] if at < len(items) else None
        if isinstance(here, Line):
            passed = (*cursors[:who], at + 1, *cursors[who + 1 :])
            for rest in self._explained(here, event, left):
                yield from self._ways(passed, rest, [*lines, here])

    def _may_crash(self, items: Sequence[Item], at: int) -> bool:
        """Returns whether a process may crash here although its log does not say so: at a gap,
        where it goes on with coming back up, or behind the last line of a log without an `end`."""
        return at < len(items) and isinstance(items[at], Gap)

    def _explained(self, line: Line, event: Event, left: _Left) -> Iterator[_Left]:
        """Yields what is left of a step when ``line`` is about its first event, or about some of
        the receivers of a multicast."""
        for pattern in line.patterns:
            if pattern.mark != event.mark or not self._matches(pattern, event):
                continue
            if pattern.to is None:
                if not left.sent_to:
                    yield _Left(left.events[1:])
                continue
            receivers = event.args[1]
            receivers = receivers if isinstance(receivers, frozenset) else frozenset({receivers})
            own, named = {event.args[0]}, pattern.to | left.sent_to
            if not pattern.to <= receivers or pattern.to & left.sent_to:
                continue
            if receivers - own <= named:
                yield _Left(left.events[1:])
            else:
                yield _Left(left.events, frozenset(named))

    def _matches(self, pattern: EventPattern, event: Event) -> bool:
        kept = self._known.get(id(pattern))
        if kept is None:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            kept = self._known[id(pattern)] = (pattern, {})
        known = kept[1].get(event)
        if known is None:
            known = kept[1][event] = all(map(matches, pattern.args, event.args))
        return known


def says_state(lines: Iterable[Line], state: State) -> bool:
    """Returns whether the variables of ``state`` have the values that ``lines`` say."""
    return all(matches(pattern, state[number]) for line in lines for number, pattern in line.state)
