"""Follows the logs of a running system: is there a run with the lines read so far?

Three things are kept.  Of each process the local states that explain its lines
(:mod:`checker.conform.local_follower`): a line that none explains is wrong, whatever the other
processes do.  Of all processes a run that explains their lines
(:mod:`checker.conform.following_search`).  Of messages those that were sent: a line that receives
another one waits, and with it all later lines of its process, so that the search gets lines in an
order in which they can have happened.

All of it is bounded.  What is forgotten is said (`lost track`).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from checker.conform.choices import noting_choices
from checker.conform.conform_log import Asked, logged_in, open_check
from checker.conform.explain_events import EventExplainer, Observation
from checker.conform.following_search import (
    MOST_NODES,
    MOST_TRIED,
    FollowingSearch,
    LostTrack,
)
from checker.conform.lines import (
    MARKS,
    Gap,
    Item,
    Items,
    Line,
    Logged,
    NeedsRoom,
    NotYet,
    Resolver,
    Timeline,
    logged_of,
)
from checker.conform.local_follower import LocalFollower
from checker.conform.local_reasons import reasons_of
from checker.conform.local_system import NotLocal
from checker.conform.obstacles import logged_line
from checker.conform.read_log import Row, gap_before, missing_before
from checker.conform.reference_steps import Outgrown, ReferenceSteps
from checker.conform.search import Steps
from checker.conform.sent_messages import Sent, SentMessages
from checker.conform.stream import Stream
from checker.conform.unknown import TooMany
from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.extensions.tables import DEFINITION
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.results.answer import Unsupported
from checker.results.monitoring import Lost, Noticed, Overdue, Resumed, Summary, Wrong
from checker.results.verdict import Word

LAG = 5.0
"""The time, in seconds, after which a received message that no line has sent is overdue."""
MOST_HELD = 10_000
"""The largest number of lines held until the messages that they receive are sent."""
REMEMBERED = 1_000
"""How many of the last lines of each process are kept, to compare them if they are sent again."""
FEW = 200
"""The number of nodes that the interpreter searches before native code is compiled."""
MOST_ENLARGED = 12
"""The largest number of times that guessed capacities are enlarged."""


class _Enlarged(Exception):
    """The system was replaced by a larger one."""


class _Kept(Struct, eq=False):
    """The state of one process: its lines as they come.

    ``last``: the position of the last one; ``known``: digests of the last ones; ``judged``: the
    number of items that its process alone was asked about, and ``closed`` whether it has ended
    since; ``line``: the last line that records an event.  ``held``: items that the search has not
    got yet, with their numbers in the order of arrival.
    """

    rank: int
    items: Items
    stream: Stream
    searched: Stream
    follower: LocalFollower | None = None
    last: int | None = None
    known: dict[int, str] = field(default_factory=dict)
    judged: int = 0
    closed: bool = False
    line: Line | None = None
    held: deque[tuple[int, Item]] = field(default_factory=deque)


_Released = tuple[_Kept, int, Item]
"""An item for the search, with its process and its number in the order of arrival."""


class Monitor:
    """Follows the logs of a system, row by row.

    ``noticed`` is called with what is noticed.  ``lag``: seconds; ``clock``: their source;
    ``most``: the largest number of nodes of a run that are remembered; ``tried``: of those that are
    visited for a line; ``waits``: whether lines are held back until the messages are sent that they
    receive.

    Raises :class:`SpecError` for what is wrong with the spec or the options, and E107.
    """

    def __init__(
        self,
        asked: Asked,
        noticed: Callable[[Noticed], None],
        *,
        lag: float = LAG,
        clock: Callable[[], float] = time.monotonic,
        most: int = MOST_NODES,
        tried: int = MOST_TRIED,
        waits: bool = True,
    ) -> None:
        _require_logged(asked)
        self.asked, self._tell = asked, noticed
        self._found: list[tuple[int, Noticed]] = []
        self.lag, self.clock, self.waits = lag, clock, waits
        self._bounds = most, tried
        self._opened = open_check(asked)
        self._opened.without.change = noting_choices
        self._digest = _digest(asked, self._opened.without.system)
        self._enlarged = 0
        self.run: str | None = None
        self.lines = self.known = self.wrong = self.overdue = self.lost = 0
        self._searched_lines = 0
        self._is_searching = True
        self._first_wrong: int | None = None
        self._tries_native = True
        self._arrived = 0
        self._waiting: dict[int, tuple[Sent, Line, float]] = {}
        self._build()

    # ---- the system -----------------------------------------------------------------------

    def _build(self) -> None:
        """Makes what depends on the system, which may be larger than before."""
        system = self._opened.without.system
        self.system = system
        self.resolver = Resolver(system, self.asked.mapping)
        sizes = self._opened.without.made.sizes
        streams = [Stream() for _ in system.processes]
        empty = [Timeline(name, ()) for name in system.processes]
        mapping = self.asked.mapping
        logged = logged_in(empty, mapping, sizes)
        unlogged = frozenset(map(logged_of, mapping.unlogged))

        def observed(streams: Sequence[Stream]) -> Observation:
            pairs = zip(system.processes, streams, strict=True)
            timelines = tuple(Timeline(name, stream) for name, stream in pairs)
            return Observation(system, timelines, logged, unlogged)

        searched = [Stream() for _ in system.processes]
        self.observation, self._whole = observed(streams), observed(searched)
        forged = self._opened.whole.byzantine is not None
        self._sent = SentMessages(self.observation, forged)
        self._released = SentMessages(self.observation, forged)
        self.processes = {
            name: _Kept(rank, Items(self.resolver), streams[rank], searched[rank])
            for rank, name in enumerate(system.processes)
        }
        for rank, kept in enumerate(self.processes.values()):
            try:
                kept.follower = LocalFollower(self.observation, rank)
            except NotLocal:
                continue
        steps = ReferenceSteps(system, EventExplainer(self._whole))
        self._search_by(steps, searched)

    def _search_by(self, steps: Steps[Any], streams: list[Stream]) -> None:
        self._steps = steps
        self.search: FollowingSearch[Any] = FollowingSearch(steps, streams, *self._bounds)

    def _fit(self, fault: RunFault | None) -> None:
        """Begins again with a larger system, if that is what ``fault`` is about."""
        if fault is None or self._enlarged >= MOST_ENLARGED or not self._opened.without.fit(fault):
            return
        self._enlarged += 1
        raise _Enlarged

    def _rebuild(self) -> None:
        data = self.to_data()
        self._build()
        self._restore(data)

    # ---- rows that come -------------------------------------------------------------------

    def feed(self, rows: Sequence[Row]) -> None:
        """Takes rows in order of arrival, and reports findings.

        Raises :class:`SpecError`: E073 another run, E074 names of no process or event, E108 events
        that are said not to be logged, E109 a line that says something else than before.
        """
        try:
            for row in rows:
                self._take(row)
        finally:
            self._settle()

    def _take(self, row: Row) -> None:
        """Takes a row, unless it has come before."""
        self._require_run(row)
        kept = self.processes.get(row.process)
        if kept is None:
            raise self.resolver.unknown_process(row)
        if kept.last is not None and row.pos <= kept.last:
            self._compare(kept, row)
            return
        rows = [row] if not missing_before(row, kept.last) else [gap_before(row), row]
        rows = [each for each in rows if each.kind not in self.asked.mapping.ignored]
        place = kept.items.place
        try:
            items = [item for each in rows for item in kept.items.of(each)]
        except NeedsRoom as small:
            kept.items = Items(self.resolver)
            kept.items.resume(*place)
            if not self._opened.without.make_room(small.capacity, small.size):
                raise
            self._rebuild()
            self._take(row)
            return
        for item in items:
            if isinstance(item, Line):
                self._require_declared(kept, item)
        kept.last = row.pos
        kept.known[row.pos] = _said(row)
        if len(kept.known) > REMEMBERED:
            del kept.known[next(iter(kept.known))]
        self._set_ended(kept)
        for item in items:
            self._arrive(kept, item)

    def _set_ended(self, kept: _Kept) -> None:
        if kept.stream.open == kept.items.ended:
            kept.stream.open, kept.closed = not kept.items.ended, kept.items.ended

    def _arrive(self, kept: _Kept, item: Item) -> None:
        self._arrived += 1
        kept.stream.append(item)
        if self._is_searching:
            kept.held.append((self._arrived, item))
        if isinstance(item, Gap):
            self._sent.add_gap(kept.rank)
        elif isinstance(item, Line):
            self.lines += 1
            kept.line = item
            self._sent.add(item)
            needed = self._sent.needed_by(item)
            if needed is not None and needed not in self._sent:
                self._waiting[self._arrived] = (needed, item, self.clock())
                if len(self._waiting) > MOST_HELD:
                    del self._waiting[next(iter(self._waiting))]

    def _require_run(self, row: Row) -> None:
        if self.run is None:
            self.run = row.run
        if row.run != self.run:
            names = ", ".join(name or "an unnamed run" for name in (self.run, row.run))
            message = f"these are lines of several runs: {names}"
            hint = "start a monitor for each run"
            raise SpecError((Diagnostic("E073", message, row.place, hint=hint),))

    def _require_declared(self, kept: _Kept, line: Line) -> None:
        """Raises :class:`SpecError` (E108) for a line of a kind that is said not to be logged."""
        logged = self.observation.logged[kept.rank]
        if line.logged in logged or Logged(line.logged.kind) in logged:
            return
        hint = f'add "{line.logged.text}" to `logged` in the mapping, or its kind to `ignored`'
        message = f"the mapping does not list `{line.logged.text}` in `logged`"
        raise SpecError((Diagnostic("E108", message, line.row.place, hint=hint),))

    def _compare(self, kept: _Kept, row: Row) -> None:
        self.known += 1
        before = kept.known.get(row.pos)
        if before is not None and before != _said(row):
            message = f"line {row.pos} of {row.process} said something else before"
            hint = "a new run of the system needs another `run`, or a monitor without this --state"
            raise SpecError((Diagnostic("E109", message, row.place, hint=hint),))

    # ---- what they show -------------------------------------------------------------------

    def _note(self, number: int, noticed: Noticed) -> None:
        """Notes something about the item with this number in the order of arrival."""
        self._found.append((number, noticed))

    def _say(self) -> None:
        """Reports what was noted, in the order of arrival."""
        found, self._found = self._found, []
        for _, noticed in sorted(found, key=lambda each: each[0]):
            self._tell(noticed)

    def _settle(self) -> None:
        while True:
            try:
                for kept in self.processes.values():
                    self._ask(kept)
                self._ask_search(self._first_wrong)
                break
            except _Enlarged:
                self._rebuild()
        for kept in self.processes.values():
            follower = kept.follower
            needed = kept.stream.end if follower is None else follower.needed
            kept.stream.drop_before(max(kept.stream.base, needed))
        self._say()
        self.tick()

    def tick(self) -> None:
        """Reports the messages that are overdue now."""
        now = self.clock()
        for number, (sent, line, since) in [*self._waiting.items()]:
            if sent in self._sent:
                del self._waiting[number]
            elif now - since > self.lag:
                del self._waiting[number]
                self.overdue += 1
                sender = self.system.processes[sent[0]]
                self._tell(Overdue(logged_line(self.system, line), sender, now - since))

    def _ask(self, kept: _Kept) -> None:
        """Asks a process alone about its new items: all together, and one after the other if it
        does not explain them."""
        follower = kept.follower
        new = kept.stream.end - kept.judged
        if follower is None or not (new or kept.closed):
            return
        kept.closed = False
        if self._goes_on(kept, follower, new < 2, self._arrived):
            kept.judged = kept.stream.end
            return
        if not new:
            self._say_wrong(kept, follower, None, self._arrived)
            self._first_wrong = self._first_wrong or self._arrived + 1
        items = deque(kept.stream.cut(kept.judged))
        arrived = self._arrived_as(kept, new)
        try:
            while items:
                item, number = items.popleft(), arrived.popleft()
                kept.stream.append(item)
                if self._goes_on(kept, follower, True, number) is False:
                    self._say_wrong(kept, follower, item, number)
                    self._first_wrong = min(self._first_wrong or number, number)
                kept.judged = kept.stream.end
        finally:
            for item in items:
                kept.stream.append(item)

    def _arrived_as(self, kept: _Kept, number: int) -> deque[int]:
        """Returns the numbers, in the order of arrival, of the last items of a process."""
        held = [arrived for arrived, _ in kept.held][-number:]
        return deque([self._arrived] * (number - len(held)) + held)

    def _goes_on(
        self, kept: _Kept, follower: LocalFollower, alone: bool, number: int
    ) -> bool | None:
        """Returns whether a process explains its items; ``None``: that can't be found out, which is
        said where it is about one item ``alone``."""
        was_lost = follower.lost
        try:
            explained = follower.goes_on()
        except TooMany:
            self._fit(follower.outgrown)
            if alone:
                self._lose(kept, follower, number)
            return None
        if was_lost and not follower.lost and not follower.after_red:
            line = next((i for i in kept.stream[follower.needed :] if isinstance(i, Line)), None)
            if line is not None:
                self._note(number, Resumed(logged_line(self.system, line)))
        return explained

    def _lose(self, kept: _Kept, follower: LocalFollower, number: int) -> None:
        follower.lose(after_red=False)
        self.lost += 1
        name = self.system.processes[kept.rank]
        why = "its lines leave open too much of what its next steps read"
        self._note(number, Lost(name, why))

    def _say_wrong(
        self, kept: _Kept, follower: LocalFollower, item: Item | None, number: int
    ) -> None:
        line = item if isinstance(item, Line) else kept.line
        assert line is not None
        reasons: tuple[str, ...] = ()
        if follower.pending and kept.stream.behind_lines > max(follower.pending):
            reasons = reasons_of(follower.log, follower.window()).obstacle.reasons
        allowed = tuple(follower.allowed())
        self.wrong += 1
        self._note(number, Wrong(logged_line(self.system, line), True, reasons, allowed))
        follower.lose(after_red=True)

    # ---- all processes --------------------------------------------------------------------

    def _ask_search(self, before: int | None) -> None:
        """Searches for a run with the lines that have come before the number ``before``, which is
        wrong (``None``: with all of them), but for those that wait."""
        if not self._is_searching:
            return
        snapshot, lines = self.search.snapshot(), self._searched_lines
        marks = [stream.end for stream in self.search.streams]
        new, closed = self._release(before), self._close()
        try:
            if (new or closed) and not self._searched(new):
                last = new[-1][0] if closed is None else closed
                self._find_first(new, marks, snapshot, last)
            if before is not None:
                self._stop_searching()
        except LostTrack as why:
            self._lose_the_run(str(why))
        except BaseException as error:
            self.search.go_back(snapshot)
            for stream, end in zip(self.search.streams, marks, strict=True):
                stream.cut(end)
            self._searched_lines = lines
            for kept, number, item in reversed(new):
                kept.held.appendleft((number, item))
            fault = error.fault if isinstance(error, Outgrown) else error
            if not isinstance(fault, RunFault):
                raise
            self._fit(fault)
            self._lose_the_run(fault.message)
        if sum(len(kept.held) for kept in self.processes.values()) > MOST_HELD:
            self._lose_the_run(f"more than {MOST_HELD:,} lines wait for messages to be sent")

    def _release(self, before: int | None) -> list[_Released]:
        """Takes from what is held back what the search may get, in an order in which it can have
        happened."""
        found: list[_Released] = []
        progress = True
        while progress:
            progress = False
            for kept in self.processes.values():
                while kept.held and self._may_go(kept.held[0], before):
                    number, item = kept.held.popleft()
                    found.append((kept, number, item))
                    progress = True
                    if isinstance(item, Line):
                        self._released.add(item)
                    else:
                        self._released.add_gap(kept.rank)
        return found

    def _close(self) -> _Kept | None:
        """Informs the search of processes that have ended or resumed; returns one that has
        ended."""
        found = None
        for kept in self.processes.values():
            is_open = not kept.items.ended or bool(kept.held)
            if kept.searched.open != is_open:
                kept.searched.open = is_open
                if is_open:
                    self.search.reopen()
                else:
                    found = kept
        return found

    def _may_go(self, held: tuple[int, Item], before: int | None) -> bool:
        number, item = held
        if before is not None and number >= before:
            return False
        if not self.waits or not isinstance(item, Line):
            return True
        needed = self._released.needed_by(item)
        return needed is None or needed in self._released

    def _searched(self, new: Sequence[_Released]) -> bool:
        """Returns whether a run explains all lines, the ``new`` ones included."""
        for kept, _, item in new:
            kept.searched.append(item)
            self._searched_lines += isinstance(item, Line)
        self._use_native_code()
        return self.search.goes_on(self._searched_lines)

    def _find_first(
        self, new: list[_Released], marks: list[int], snapshot: Any, last: _Kept
    ) -> None:
        """Says which of ``new`` is the first line that no run has; the last one of ``last`` if it
        is that which is not."""
        furthest, line, number = self.search.furthest, last.line, self._arrived
        if len(new) > 1:
            self.search.go_back(snapshot)
            for stream, end in zip(self.search.streams, marks, strict=True):
                stream.cut(end)
            self._searched_lines -= sum(isinstance(item, Line) for *_, item in new)
            for each in new:
                if not self._searched([each]):
                    furthest, line, number = self.search.furthest, each[0].line, each[1]
                    if isinstance(each[2], Line):
                        line = each[2]
                    break
        assert line is not None
        self.wrong += 1
        allowed = self._allowed(furthest, line.row.process)
        why = "its process alone may write it, but with the lines of the others no run has it"
        self._note(number, Wrong(logged_line(self.system, line), False, (why,), allowed))
        self._stop_searching()

    def _allowed(self, nodes: Sequence[tuple[Any, Any]], process: str) -> tuple[str, ...]:
        """Returns the kinds of lines that a process could write next in some of ``nodes``."""
        explainer = EventExplainer(self._whole)
        rank, found = self.system.processes.index(process), set()
        for state, _ in nodes:
            for each in interpreter.successors(self.system, self._steps.shown(state)):
                own = [e for e in explainer.relevant(each.events) if e.args[0] == rank]
                found |= {self.observation.kind_of(event) for event in own[:1]}
        return tuple(sorted(found))

    def _use_native_code(self) -> None:
        """Goes on with machine code, once the search is long enough to need it."""
        if not isinstance(self._steps, ReferenceSteps) or self.search.nodes < FEW:
            return
        if self.asked.options.engine == DEFINITION or not self._tries_native:
            return
        from checker.conform.native_steps import NativeSteps

        try:
            steps = NativeSteps(self.system, EventExplainer(self._whole))
        except Unsupported:
            self._tries_native = False
            return
        data, nodes = self.search.to_data(), self.search.nodes
        self._search_by(steps, self.search.streams)
        self.search.restore(data)
        self.search.nodes += nodes

    def _lose_the_run(self, why: str) -> None:
        if self._is_searching:
            self.lost += 1
            self._note(self._arrived, Lost("", why))
            self._stop_searching()

    def _stop_searching(self) -> None:
        self._is_searching = False
        for kept in self.processes.values():
            kept.held.clear()
            kept.searched.drop_before(kept.searched.end)

    # ---- the end --------------------------------------------------------------------------

    def end(self, stopped: str | None = None) -> Summary:
        """Returns what was noticed; first, if nothing has ``stopped`` it, asks about the lines that
        wait."""
        if stopped is None:
            for kept in self.processes.values():
                for item in kept.items.rest():
                    self._arrive(kept, item)
            self.waits = False
            self._settle()
        return self.summary(stopped)

    def summary(self, stopped: str | None = None) -> Summary:
        """Returns what has been noticed so far."""
        word, sentence = self._verdict()
        return Summary(
            word,
            sentence,
            self.lines,
            self.known,
            len(self._waiting),
            self.wrong,
            self.overdue,
            self.lost,
            stopped,
        )

    def close(self) -> None:
        """Ends what is still being compiled."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()

    def lose(self, process: str, why: str) -> None:
        """Forgets what is known of a process, because of ``why``."""
        follower = self.processes[process].follower
        if follower is not None and not follower.lost:
            follower.lose(after_red=False)
            self.lost += 1
            self._note(self._arrived, Lost(process, why))
        self._lose_the_run(why)
        self._say()

    def _verdict(self) -> tuple[Word, str]:
        if self.wrong:
            return Word.VIOLATED, "no run of this check has these lines"
        if self.overdue:
            said = count(self.overdue, "message")
            return Word.VIOLATED, f"{said} received that no line has sent in time"
        if not self.lines:
            return Word.VACUOUS, "no line records an event"
        if self.lost:
            return Word.UNKNOWN, "nothing is wrong with what could be followed"
        if any(kept.held for kept in self.processes.values()):
            return Word.UNKNOWN, "nothing is wrong yet; some lines wait for messages to be sent"
        return Word.HOLDS, f"a run of this check has all {count(self.lines, 'line')}"

    # ---- as data --------------------------------------------------------------------------

    COUNTED = ("run", "lines", "known", "wrong", "overdue", "lost")

    def to_data(self) -> dict[str, Any]:
        """Returns what is kept, as data that JSON can hold."""
        now = self.clock()
        return {
            "digest": self._digest,
            "capacities": dict(self._opened.without.made.capacities),
            **{name: getattr(self, name) for name in self.COUNTED},
            "searching": self._is_searching,
            "searched": self._searched_lines,
            "arrived": self._arrived,
            "processes": {name: _kept_to_data(kept) for name, kept in self.processes.items()},
            "sent": self._sent.to_data(),
            "released": self._released.to_data(),
            "waiting": [
                [number, list(sent), _item_to_data(line), now - since]
                for number, (sent, line, since) in self._waiting.items()
            ],
            "search": self.search.to_data() if self._is_searching else None,
        }

    def restore(self, data: dict[str, Any]) -> bool:
        """Restores what :meth:`to_data` has returned; returns whether it is of the same check,
        mapping and options."""
        if data["digest"] != self._digest:
            return False
        prepared = self._opened.without
        while (grown := _smaller(prepared.made.capacities, data["capacities"])) is not None:
            if not prepared.enlarge(grown):
                return False
        self._build()
        self._restore(data)
        return True

    def _restore(self, data: dict[str, Any]) -> None:
        for name in self.COUNTED:
            setattr(self, name, data[name])
        self._is_searching, self._searched_lines = data["searching"], data["searched"]
        self._arrived = data["arrived"]
        for name, each in data["processes"].items():
            self._restore_process(self.processes[name], each)
        self._sent.restore(data["sent"])
        self._released.restore(data["released"])
        now = self.clock()
        self._waiting = {}
        for number, (one, other, what), item, since in data["waiting"]:
            line = self._item_of_data(item)
            assert isinstance(line, Line)
            self._waiting[number] = ((one, other, what), line, now - since)
        if self._is_searching:
            self.search.restore(data["search"])
            self._use_native_code()

    def _restore_process(self, kept: _Kept, data: dict[str, Any]) -> None:
        kept.last, kept.judged = data["last"], data["judged"]
        kept.known, kept.closed = dict(data["known"]), data["closed"]
        if data["line"] is not None:
            line = self._item_of_data(data["line"])
            assert isinstance(line, Line)
            kept.line = line
        kept.items.resume(data["before"], data["ended"], [Row(*each) for each in data["grouped"]])
        for stream, (base, items) in ((kept.stream, data["items"]), (kept.searched, data["found"])):
            stream.base, stream.open = base, not kept.items.ended
            for item in items:
                stream.append(self._item_of_data(item))
        kept.held = deque((number, self._item_of_data(item)) for number, item in data["held"])
        kept.searched.open = data["open"]
        if kept.follower is not None:
            kept.follower.restore(data["follower"])

    def _item_of_data(self, data: list[Any] | None) -> Item:
        if data is None:
            return Gap()
        is_gap, *parts = data
        row = Row(*parts)
        return Gap(row) if is_gap else self.resolver.line(row)


def _kept_to_data(kept: _Kept) -> dict[str, Any]:
    before, ended, grouped = kept.items.place
    return {
        "last": kept.last,
        "known": [*kept.known.items()],
        "judged": kept.judged,
        "closed": kept.closed,
        "line": None if kept.line is None else _item_to_data(kept.line),
        "before": before,
        "ended": ended,
        "grouped": [_row_to_data(row) for row in grouped],
        "open": kept.searched.open,
        "items": [kept.stream.base, [*map(_item_to_data, kept.stream[kept.stream.base :])]],
        "found": [kept.searched.base, [*map(_item_to_data, kept.searched[kept.searched.base :])]],
        "held": [[number, _item_to_data(item)] for number, item in kept.held],
        "follower": None if kept.follower is None else kept.follower.to_data(),
    }


def _item_to_data(item: Item) -> list[Any] | None:
    """Returns the row of an item, or ``None`` for a gap that has none."""
    assert not isinstance(item, NotYet)
    row = item.row
    if row is None:
        return None
    return [isinstance(item, Gap), *_row_to_data(row)]


def _row_to_data(row: Row) -> list[Any]:
    return [row.file, row.number, row.process, row.pos, row.kind, row.data]


def _smaller(now: Any, then: dict[str, int]) -> str | None:
    """Returns a capacity that is smaller ``now`` than it was ``then``."""
    return next((name for name, room in then.items() if now.get(name, room) < room), None)


def _said(row: Row) -> str:
    text = json.dumps([row.kind, row.data], sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _digest(asked: Asked, system: TransitionSystem) -> str:
    """Returns a digest of all that decides what a monitor reports: the system and the mapping."""
    from checker.model.dump import dump

    mapping = replace(asked.mapping, file="")
    text = repr((dump(system), mapping, sorted(asked.options.settings.items())))
    return hashlib.sha256(text.encode()).hexdigest()


def _require_logged(asked: Asked) -> None:
    """Raises :class:`SpecError` (E107) where the mapping does not say what is logged."""
    if asked.mapping.logged is None:
        kinds = ", ".join(f'"{kind}"' for kind in MARKS if kind not in ("crash", "recover"))
        message = "the mapping must list the kinds of events that are logged"
        hint = f"write `logged = [...]` in a file for --mapping, with some of {kinds}"
        raise SpecError((Diagnostic("E107", message, hint=hint),))
