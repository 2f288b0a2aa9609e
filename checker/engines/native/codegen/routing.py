"""Native code for states that are divided among shards: the owner of a successor, and its
transport.

Shard ``i`` of ``P`` owns a contiguous range of fingerprints, ``[i/P, (i+1)/P)`` of all of them.
Successors that others own are collected in a buffer for each shard.  States that were sent recently
are not sent again: a table without chains, in which whole states are compared, so that none is
lost.
"""

from __future__ import annotations

from functools import partial

from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import BATCH, Context, Mode, Worker
from checker.engines.native.codegen.record_access import address, field, get, put
from checker.engines.native.codegen.visited_set import INSIDE, OUTSIDE, VisitedSet


class Routing:
    """Emits what shards need besides the search itself."""

    def __init__(self, seen: VisitedSet) -> None:
        self.seen = seen

    def functions(self) -> list[Fn]:
        return [self.owner(), self.send(), self.route(), self.take()]

    def owner(self) -> Fn:
        """``owner(worker, mark)``: the shard that owns the states with a fingerprint."""
        fn = Fn("owner", [("worker", 0), ("mark", 64)], 64, INSIDE)
        worker, mark = fn.args
        high = fn.mul(fn.lshr(mark, const(32)), get(fn, worker, Worker.SHARDS))
        fn.ret(fn.lshr(high, const(32)))
        return fn

    def _entry(self, fn: Fn, worker: Val, mark: Val) -> Val:
        """The address of the entry of SENT for a state."""
        slot = fn.and_(mark, get(fn, worker, Worker.SENT_MASK))
        sent = address(fn, worker, Worker.SENT)
        return fn.at(sent, fn.mul(slot, const(1 + self.seen.words)))

    def send(self) -> Fn:
        """``send(worker, row, mark, owner)``: 0, or 1 where there is no room in the buffer."""
        params = [("worker", 0), ("row", 0), ("mark", 64), ("owner", 64)]
        fn = Fn("send", params, 64, INSIDE)
        worker, row, mark, owner = fn.args
        entry, stamp = self._entry(fn, worker, mark), get(fn, worker, Worker.STAMP)
        lately, new = fn.eq(get(fn, entry, 0), stamp), fn.label()
        fn.leave_if(fn.not_(lately), new)
        with fn.if_(self.seen.same(fn, field(fn, entry, 1), row)):
            fn.ret(const(0))
        fn.jump(new)
        fn.place_fresh(new)
        counts, cap = address(fn, worker, Worker.OUT_COUNTS), get(fn, worker, Worker.OUT_CAP)
        place = fn.at(counts, owner)
        count = fn.load(place, 64)
        with fn.if_(fn.le(cap, count)):
            fn.ret(const(1))
        at = fn.add(fn.mul(owner, cap), count)
        self.seen.copy(fn, row, self.seen.row(fn, address(fn, worker, Worker.OUT), at))
        fn.store(fn.add(count, const(1)), place)
        put(fn, entry, 0, stamp)
        self.seen.copy(fn, row, field(fn, entry, 1))
        fn.ret(const(0))
        return fn

    def route(self) -> Fn:
        """``route(context, worker, count)``: inserts the shard's own rows of the batch, if KEEP is
        set, and sends the others to the shards that own them.

        A branch on the owner would be mispredicted half of the time, so there is none: each row is
        copied to the end of both lists, and only one list's length grows.
        """
        fn = Fn("route", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        context, worker, count = fn.args
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            fn.ret()
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        others, marks = self.seen.row(fn, batch, const(BATCH)), fn.at(hashes, const(BATCH))
        mine, table = get(fn, worker, Worker.SHARD), address(fn, context, Context.TABLE)
        kept = fn.var(const(0))
        with fn.count(count) as i:
            row, own = self.seen.row(fn, batch, i), kept.get()
            mark, other = self.seen.mark(fn, row), fn.sub(i, own)
            is_own = fn.eq(fn.call("owner", [worker, mark], 64), mine)
            slot = fn.at(table, self.seen.home(fn, context, mark))
            fn.prefetch(fn.select(is_own, slot, self._entry(fn, worker, mark)))
            for rows, fingerprints, at in ((others, marks, other), (batch, hashes, own)):
                self.seen.copy(fn, row, self.seen.row(fn, rows, at))
                fn.store(mark, fn.at(fingerprints, at))
            kept.set(fn.add(own, fn.resize(is_own, 64)))
        own = kept.get()
        fn.if_else(
            fn.ne(get(fn, worker, Worker.KEEP), const(0)),
            partial(fn.call, "insert_batch", [context, worker, own], None),
            partial(self._send_unknown, fn, context, worker, own),
        )
        with fn.count(fn.sub(count, own)) as i:
            mark = fn.load(fn.at(marks, i), 64)
            owner = fn.call("owner", [worker, mark], 64)
            self._send(fn, worker, self.seen.row(fn, others, i), mark, owner)
        with fn.if_(fn.eq(get(fn, worker, Worker.OVERFLOW), const(0))):
            settle(fn, worker)
        fn.ret()
        return fn

    def _send_unknown(self, fn: Fn, context: Val, worker: Val, count: Val) -> None:
        """Sends those of the first ``count`` rows of the batch that have not been visited to this
        shard itself.
        """
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        table, level = address(fn, context, Context.TABLE), get(fn, context, Context.LEVEL)
        with fn.count(count) as i:
            row, mark, routed = (
                self.seen.row(fn, batch, i),
                fn.load(fn.at(hashes, i), 64),
                fn.label(),
            )
            index = fn.call("find", [context, row, mark], 64)
            with fn.if_(fn.ne(index, const(-1))):
                slot = fn.load(fn.at(table, index), 64)
                self.seen.note_level(fn, context, worker, slot, level)
                fn.jump(routed)
            self._send(fn, worker, row, mark, get(fn, worker, Worker.SHARD))
            fn.place(routed)

    def _send(self, fn: Fn, worker: Val, row: Val, mark: Val, owner: Val) -> None:
        """Puts a row into its owner's buffer; sets OVERFLOW and returns where there is no room."""
        full = fn.call("send", [worker, row, mark, owner], 64)
        with fn.if_(fn.ne(full, const(0))):
            put(fn, worker, Worker.OVERFLOW, const(1))
            fn.ret()

    def take(self) -> Fn:
        """``take(context, worker, rows, begin, end)``: inserts the own ones among rows into the
        visited set.

        Returns the position reached: if room ran out, the rest has to be taken again.  In
        mode ROUTE they are inserted in any order, in mode SEARCH in theirs; in mode NEWCOMERS it
        only checks whether all of them have been visited.
        """
        params = [("context", 0), ("worker", 0), ("rows", 0), ("begin", 64), ("end", 64)]
        fn = Fn("take", params, 64)
        context, worker, rows, begin, end = fn.args
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        mine, mode = get(fn, worker, Worker.SHARD), get(fn, worker, Worker.MODE)
        at = fn.var(begin)
        put(fn, worker, Worker.OVERFLOW, const(0))
        with fn.forever() as done:
            fn.leave_if(fn.le(end, at.get()), done)
            first, kept = at.get(), fn.var(const(0))
            left = fn.sub(end, first)
            size = fn.select(fn.lt(left, const(BATCH)), left, const(BATCH))
            with fn.count(size) as i:
                row, own = self.seen.row(fn, rows, fn.add(first, i)), kept.get()
                mark = self.seen.mark(fn, row)
                self.seen.ask_for(fn, context, mark)
                self.seen.copy(fn, row, self.seen.row(fn, batch, own))
                fn.store(mark, fn.at(hashes, own))
                is_own = fn.eq(fn.call("owner", [worker, mark], 64), mine)
                kept.set(fn.add(own, fn.resize(is_own, 64)))
            own = kept.get()
            with fn.if_(fn.eq(mode, const(Mode.NEWCOMERS))):
                self._look_up(fn, context, worker, own)
            with fn.if_(fn.eq(mode, const(Mode.ROUTE))):
                fn.call("insert_batch", [context, worker, own], None)
            with fn.if_(fn.eq(mode, const(Mode.SEARCH))):
                self._insert_in_order(fn, context, worker, own)
            with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
                fn.ret(first)
            at.set(fn.add(first, size))
        fn.ret(end)
        return fn

    def _insert_in_order(self, fn: Fn, context: Val, worker: Val, count: Val) -> None:
        """Inserts the first ``count`` rows of the batch; sets OVERFLOW where there is no room."""
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        with fn.count(count) as i:
            row, mark = self.seen.row(fn, batch, i), fn.load(fn.at(hashes, i), 64)
            full, following = fn.call("insert", [context, worker, row, mark], 64), fn.label()
            fn.leave_if(fn.eq(full, const(0)), following)
            put(fn, worker, Worker.OVERFLOW, const(1))
            fn.place(following)

    def _look_up(self, fn: Fn, context: Val, worker: Val, count: Val) -> None:
        """Sets FOUND where one of the first ``count`` rows of the batch has not been visited."""
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        with fn.count(count) as i:
            row, mark = self.seen.row(fn, batch, i), fn.load(fn.at(hashes, i), 64)
            index = fn.call("find", [context, row, mark], 64)
            with fn.if_(fn.eq(index, const(-1))):
                put(fn, worker, Worker.FOUND, const(1))


def settle(fn: Fn, worker: Val) -> None:
    """Records that all successors of states before the one under expansion have been delivered."""
    put(fn, worker, Worker.SAFE, get(fn, worker, Worker.CURRENT))
    put(fn, worker, Worker.SAFE_TRANSITIONS, get(fn, worker, Worker.STARTED))
    put(fn, worker, Worker.SAFE_ENDS, get(fn, worker, Worker.ENDS))
    put(fn, worker, Worker.SAFE_LONE, get(fn, worker, Worker.LONE))
    put(fn, worker, Worker.SAFE_BEYOND, get(fn, worker, Worker.BEYOND))
