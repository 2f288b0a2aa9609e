"""Native code for states that are divided among shards: queries to the owners of a state's
successors.

In modes ASK and LINK successors are collected for each shard like those on their way there
(:mod:`checker.engines.native.codegen.routing`), but all of them, each with the row that it comes
from, and in mode LINK with the constraint of the step.
"""

from __future__ import annotations

from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.graph_fields import NONE
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.visited_set import OUTSIDE, VisitedSet


class ShardQueries:
    """Emits queries to the owners of states, and the code with which owners answer them."""

    def __init__(self, seen: VisitedSet) -> None:
        self.seen = seen

    def functions(self) -> list[Fn]:
        return [self.ask(), self.locate()]

    def ask(self) -> Fn:
        """``ask(context, worker, count)``: puts the batch, and CURRENT for each row of it, into
        OUT.

        Sets OVERFLOW where there is no room: then CURRENT has to be run again.
        """
        fn = Fn("ask", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        _, worker, count = fn.args
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            fn.ret()
        batch, out = (address(fn, worker, w) for w in (Worker.BATCH, Worker.OUT))
        sources, counts = (address(fn, worker, w) for w in (Worker.OUT_SOURCES, Worker.OUT_COUNTS))
        cap = get(fn, worker, Worker.OUT_CAP)
        linking = fn.eq(get(fn, worker, Worker.MODE), const(Mode.LINK))
        given, labels = (address(fn, worker, w) for w in (Worker.BATCH_LABELS, Worker.OUT_LABELS))
        source = fn.resize(get(fn, worker, Worker.CURRENT), 32)
        with fn.count(count) as i:
            row = self.seen.row(fn, batch, i)
            owner = fn.call("owner", [worker, self.seen.mark(fn, row)], 64)
            place = fn.at(counts, owner)
            waiting = fn.load(place, 64)
            with fn.if_(fn.le(cap, waiting)):
                put(fn, worker, Worker.OVERFLOW, const(1))
                fn.ret()
            at = fn.add(fn.mul(owner, cap), waiting)
            self.seen.copy(fn, row, self.seen.row(fn, out, at))
            fn.store(source, fn.at(sources, at, 32))
            with fn.if_(linking):
                fn.store(fn.load(fn.at(given, i, 32), 32), fn.at(labels, at, 32))
            fn.store(fn.add(waiting, const(1)), place)
        fn.ret()
        return fn

    def locate(self) -> Fn:
        """``locate(context, rows, count, out)``: 32 bits for each row, the number of the state.

        NONE for those that are not in the visited set.
        """
        params = [("context", 0), ("rows", 0), ("count", 64), ("out", 0)]
        fn = Fn("locate", params, None)
        context, rows, count, out = fn.args
        with fn.count(count) as i:
            later = fn.add(i, const(AHEAD))
            ahead = self.seen.row(fn, rows, fn.select(fn.lt(later, count), later, i))
            self.seen.ask_for(fn, context, self.seen.mark(fn, ahead))
            row = self.seen.row(fn, rows, i)
            index = fn.call("find", [context, row, self.seen.mark(fn, row)], 64)
            fn.store(number_or_none(fn, self.seen, context, index), fn.at(out, i, 32))
        fn.ret()
        return fn


AHEAD = 16
"""The number of rows ahead for which slots of the table are prefetched."""


def number_or_none(fn: Fn, seen: VisitedSet, context: Val, index: Val) -> Val:
    """The number, 32 bits, of the state in slot ``index``; NONE where that is -1."""
    number = fn.var(const(NONE, 32))
    with fn.if_(fn.ne(index, const(-1))):
        number.set(fn.resize(seen.number_of(fn, context, index), 32))
    return number.get()
