"""Searches for an order of transactions that explains what they read.

Reads of some data do not show in which order all writes came.  Then it is no proof of an order
that dependencies have no cycle, and one is searched for, depth first: transactions take effect one
after the other, each where it reads what is there.  Under snapshot isolation a transaction starts,
reading what is there, and commits later, if no other one has written to the same keys meanwhile.

A write waits until what it overwrites has been read by all who read it.  The transaction that
returns first comes first, after those that it waits for: none is put in order before it must be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from checker.graphs import predecessors
from checker.histories.dependencies import REALTIME, RW, WR, WW, Effects, Graph, Observed
from checker.histories.shrinking import smallest
from checker.histories.transactions import Transaction
from checker.polling import poll

MOST, FOR_EACH = 500_000, 20
"""The largest number of steps that a search looks at: in all, and more for each transaction."""
MOST_FOR_SOME = 20_000
"""That for a question about some of the transactions."""
FAR = 1_000
"""How many steps are looked at for one that another one waits for."""
NEVER = 1 << 62
NEAREST = 3
"""How many transactions that are left are looked at first."""
AROUND = 7
"""Of transactions around where a search is stuck the nearest are looked at, fewer than two to the
power of this."""


def without_order(seen: Observed, graph: Graph, *, snapshots: bool) -> list[Transaction] | None:
    """Returns transactions that have no order, whatever the others do, as few as were found; none:
    there is an order of all.  ``None``: not known."""
    effects = seen.effects()
    search = Schedule(effects, graph, snapshots=snapshots)
    most = MOST + FOR_EACH * len(effects)
    found = search.find(_by_return(seen, effects, snapshots), most)
    if found:
        return []

    def have_none(some: Sequence[int]) -> bool:
        part = _part(seen, effects, frozenset(some))
        steps = _by_return(seen, part, snapshots)
        return Schedule(part, graph, snapshots=snapshots).find(steps, MOST_FOR_SOME) is False

    parts = [sorted(search.stuck[: 1 << size]) for size in range(2, AROUND)]
    if found is False:
        parts.append(sorted(effects))
    some = next((some for some in parts if have_none(some)), None)
    if some is None:
        return None
    return [seen.transactions[number] for number in smallest(some, have_none)]


def _part(
    seen: Observed, effects: Mapping[int, Effects], some: frozenset[int]
) -> dict[int, Effects]:
    """Returns the effects of ``some`` transactions, without reads of what others wrote: an order of
    all that explains all reads is one of these that explains those."""
    part = {}
    for number in some:
        one = effects[number]
        reads = {
            key: value
            for key, value in one.reads.items()
            if (writer := seen.writer(key, value)) is None or writer.number in some
        }
        part[number] = Effects(reads, one.writes)
    return part


def _by_return(seen: Observed, some: Iterable[int], snapshots: bool) -> list[int]:
    """Returns the steps of transactions in the order of their returns."""
    order = sorted(some, key=lambda n: seen.transactions[n].recorded.returned or NEVER)
    return [2 * n + part for n in order for part in (0, 1)] if snapshots else order


class _Made(Struct, frozen=True):
    """A step that was made: its ``place``, that of one ``tried`` before instead (0: none), whether
    it ``is_wanted`` by the first one left; ``before``: what it has overwritten."""

    place: int
    tried: int
    is_wanted: bool
    before: Any


class Schedule:
    """The search.  A transaction has one step, or with ``snapshots`` two of them: its start is
    number ``2 * n``, its commit ``2 * n + 1``.

    ``effects``: those of the transactions that take effect, by their numbers; ``graph``: what
    precedes what; ``stuck``: where the search came furthest, the transactions that are left and
    those that have to do with them, the nearest first.
    """

    def __init__(self, effects: Mapping[int, Effects], graph: Graph, *, snapshots: bool) -> None:
        self._effects, self._snapshots = effects, snapshots
        self.stuck: list[int] = []
        self._longest = -1
        self._done: set[int] = set()
        self._state: dict[Any, Any] = {}
        self._times: dict[Any, int] = {}
        self._started: dict[int, dict[Any, int]] = {}
        self._waiting: dict[tuple[Any, Any], int] = {}
        self._readers: dict[tuple[Any, Any], list[int]] = {}
        self._writers: dict[tuple[Any, Any], int] = {}
        for number, one in effects.items():
            first, last = (2 * number, 2 * number + 1) if snapshots else (number, number)
            for read in one.reads.items():
                self._waiting[read] = self._waiting.get(read, 0) + 1
                self._readers.setdefault(read, []).append(first)
            self._writers.update(dict.fromkeys(one.writes.items(), last))
        self._after = _steps_after(effects, graph, snapshots)
        self._before = predecessors(self._after)
        self._degree = {step: len(before) for step, before in self._before.items()}

    def find(self, order: Sequence[int], most: int) -> bool | None:
        """Returns whether there is an order of all steps, tried in that ``order`` first; ``None``
        where that is not known after looking at ``most`` steps."""
        following, preceding = [*range(1, len(order) + 1), 0], [len(order), *range(len(order))]
        places = {step: place for place, step in enumerate(order, start=1)}
        path: list[_Made] = []
        place, tried, is_wanted = following[0], 0, False
        while following[0]:
            poll()
            most -= 1
            if most < 0:
                return None
            if place and (place == tried or not self._can(order[place - 1])):
                place = following[place]
            elif place:
                step = order[place - 1]
                path.append(_Made(place, tried, is_wanted, self._do(step)))
                following[preceding[place]] = following[place]
                preceding[following[place]] = preceding[place]
                wanted = self._wanted(order[following[0] - 1]) if following[0] else None
                place, tried, is_wanted = following[0], 0, wanted is not None
                place = place if wanted is None else places[wanted]
            else:
                if len(path) > self._longest:
                    self._longest = len(path)
                    self.stuck = self._around(order, following)
                while not place:
                    if not path:
                        return False
                    last = path.pop()
                    place = last.place
                    self._undo(order[place - 1], last.before)
                    following[preceding[place]] = preceding[following[place]] = place
                    if self._is_harmless(order[place - 1]):
                        place = 0
                    elif last.is_wanted:
                        place, tried, is_wanted = following[0], place, False
                    else:
                        place, tried, is_wanted = following[place], last.tried, False
        return True

    def _wanted(self, step: int) -> int | None:
        """Returns a step that can be made and that ``step`` waits for, itself perhaps."""
        seen: set[int] = set()
        todo = [step]
        while todo and len(seen) < FAR:
            one = todo.pop()
            if one in seen or one in self._done:
                continue
            if self._can(one):
                return one
            seen.add(one)
            todo += self._waits_for(one)
        return None

    def _waits_for(self, step: int) -> list[int]:
        """Returns steps of which some must come before ``step``."""
        number, starts, commits = self._parts(step)
        one = self._effects[number]
        found = list(self._before[step])
        if commits:
            now = ((key, self._state.get(key)) for key in one.writes)
            found += (reader for each in now for reader in self._readers.get(each, ()))
        if starts:
            state = self._state
            read = (each for each in one.reads.items() if state.get(each[0]) != each[1])
            found += (self._writers[each] for each in read if each in self._writers)
        return found

    def _around(self, order: Sequence[int], following: list[int]) -> list[int]:
        """Returns transactions that are left, and those that wrote what they read or overwrite."""
        found: dict[int, None] = {}
        place = following[0]
        while place and len(found) < NEAREST:
            found.setdefault(self._parts(order[place - 1])[0])
            place = following[place]
        for number in (todo := list(found)):  # the list grows while it is read
            one = self._effects[number]
            now = ((key, self._state.get(key)) for key in (*one.reads, *one.writes))
            for each in (*one.reads.items(), *now):
                steps = [*self._readers.get(each, ()), self._writers.get(each)]
                for other in (self._parts(step)[0] for step in steps if step is not None):
                    if other not in found and len(found) < 1 << AROUND:
                        found[other] = None
                        todo.append(other)
        return todo

    def _parts(self, step: int) -> tuple[int, bool, bool]:
        """Returns the number of the transaction, and whether it starts and commits."""
        if self._snapshots:
            return step // 2, step % 2 == 0, step % 2 == 1
        return step, True, True

    def _can(self, step: int) -> bool:
        if self._degree[step]:
            return False
        number, starts, commits = self._parts(step)
        one, state = self._effects[number], self._state
        if starts and any(state.get(key) != value for key, value in one.reads.items()):
            return False
        if not commits:
            return True
        started = self._started.get(number)
        for key in one.writes:
            own = starts and key in one.reads
            if self._waiting.get((key, state.get(key)), 0) > own:
                return False
            if started is not None and started[key] != self._times.get(key, 0):
                return False
        return True

    def _is_harmless(self, step: int) -> bool:
        """Returns whether no other step can be better now: it only reads."""
        return not self._effects[self._parts(step)[0]].writes

    def _do(self, step: int) -> Any:
        number, starts, commits = self._parts(step)
        one = self._effects[number]
        self._done.add(step)
        for after in self._after[step]:
            self._degree[after] -= 1
        if starts:
            for read in one.reads.items():
                self._waiting[read] -= 1
            self._started[number] = {key: self._times.get(key, 0) for key in one.writes}
        if not commits:
            return None
        before = {key: self._state.get(key) for key in one.writes}
        self._state.update(one.writes)
        for key in one.writes:
            self._times[key] = self._times.get(key, 0) + 1
        return before

    def _undo(self, step: int, before: Any) -> None:
        number, starts, commits = self._parts(step)
        one = self._effects[number]
        self._done.discard(step)
        for after in self._after[step]:
            self._degree[after] += 1
        if commits:
            self._state.update(before)
            for key in before:
                self._times[key] -= 1
        if starts:
            for read in one.reads.items():
                self._waiting[read] += 1
            del self._started[number]


def _steps_after(
    effects: Mapping[int, Effects], graph: Graph, snapshots: bool
) -> dict[int, list[int]]:
    """Returns the steps that must come after each: those of transactions that follow one; under
    snapshot isolation what depends on it starts after its commit, and what it has missed commits
    after its start."""
    if not snapshots:
        return {n: [after for after in graph[n] if after in effects] for n in effects}
    found: dict[int, list[int]] = {}
    for number in effects:
        starts, commits = [2 * number + 1], []
        for after, kinds in graph[number].items():
            if after in effects and kinds & (WW | WR | REALTIME):
                commits.append(2 * after)
            elif after in effects and kinds & RW:
                starts.append(2 * after + 1)
        found[2 * number], found[2 * number + 1] = starts, commits
    return found
