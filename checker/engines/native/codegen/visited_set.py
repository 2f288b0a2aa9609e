"""The set of visited states as native code, and its operations on rows.

The visited set is one table of 64-bit slots, zero where free.  Eight slots are a cache line; a
state is in the first line, from its own on, that had a free slot when it was inserted, so that
reading one line is enough nearly always, even where most slots are in use.  The first free slot of
a line is claimed by compare and swap, so that any number of workers may insert.  The search for a
state's slot begins at a product: its fingerprint, as a fraction of all fingerprints, times the
number of slots (Lemire, "Fast random integer generation in an interval", 2019), so that a table may
have any number of slots, and grow by any amount.

* One word per state: a slot is ``state | 1 << bits | level << bits + 1``: the state itself, exact.
* More words: a slot is ``1 | 23 bits of the fingerprint | worker (6) | row (34)``; the row decides,
  so this is exact too.  The 23 bits are others than those that choose the slot.
* More words, compact: a slot is ``1 | 63 bits of a second fingerprint``, and nothing else is
  compared: a state is taken for a visited one where a slot on its way is equal (Wolper and Leroy,
  "Reliable hashing without collision detection", CAV 1993).  The way begins where the first
  fingerprint decides, which is independent of the second, so that it counts, too, as in Stern and
  Dill's "Improved probabilistic verification by hash compaction", CHARME 1995.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from checker.engines.native.codegen import fields
from checker.engines.native.codegen.emit import Fn, Val, Var, const
from checker.engines.native.codegen.fields import LINE, Context, Worker
from checker.engines.native.codegen.record_access import address, field, get, put

FACTOR = 0xD6E8FEB86659FD93
SECOND = 0x9E3779B97F4A7C15
SECOND_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Shifts and factors of the second fingerprint: those of David Stafford's mix 13, which SplitMix
uses.
"""
AHEAD = 16
"""The number of rows ahead for which slots are prefetched while the table is refilled."""
INSIDE = "alwaysinline"
OUTSIDE = "noinline"


class Rows:
    """Rows of ``words`` words: addresses, equality, fingerprints, the smallest one.

    ``prefix``: the prefix of the names of its functions; ``mask``: by word, the bits that a
    fingerprint is made of (none: all).
    """

    def __init__(self, words: int, prefix: str = "", mask: tuple[int, ...] = ()) -> None:
        self.words, self._prefix, self.mask = words, prefix, mask

    def name(self, function: str) -> str:
        """How one of its functions is called."""
        return self._prefix + function

    def functions(self) -> list[Fn]:
        return [self.fingerprint(), self.note()]

    def fingerprint(self) -> Fn:
        """``fingerprint(row)``: 64 well mixed bits; a bijection for one word."""
        fn = Fn(self.name("fingerprint"), [("row", 0)], 64, INSIDE)
        total = const(0)
        for i in range(self.words):
            word = self.compared(fn, fn.args[0], i)
            total = self.joined(fn, total, word) if i else self._mix(fn, word)
        fn.ret(total)
        return fn

    def compared(self, fn: Fn, row: Val, i: int) -> Val:
        """What of word ``i`` of a row tells states apart."""
        word = fn.load(fn.at(row, i), 64)
        return fn.and_(word, const(self.mask[i])) if self.mask else word

    def _mix(self, fn: Fn, word: Val) -> Val:
        for _ in range(2):
            word = fn.mul(fn.xor(word, fn.lshr(word, const(32))), const(FACTOR))
        return fn.xor(word, fn.lshr(word, const(32)))

    def joined(self, fn: Fn, mark: Val, word: Val) -> Val:
        """The fingerprint of a row, of which ``mark`` is that of all words but the last one."""
        return self._mix(fn, fn.add(fn.mul(mark, const(FACTOR)), word))

    def alike(self, fn: Fn, a: Val, b: Val) -> Val:
        """Whether two rows are taken for one."""
        other = const(0)
        for i in range(self.words):
            words = (self.compared(fn, row, i) for row in (a, b))
            other = fn.or_(other, fn.xor(*words))
        return fn.eq(other, const(0))

    def same(self, fn: Fn, a: Val, b: Val) -> Val:
        """Whether two rows are equal."""
        return Rows(self.words).alike(fn, a, b)

    def copy(self, fn: Fn, have: Val, want: Val) -> None:
        for i in range(self.words):
            fn.store(fn.load(fn.at(have, i), 64), fn.at(want, i))

    def row(self, fn: Fn, rows: Val, index: Val) -> Val:
        return fn.at(rows, fn.mul(index, const(self.words)))

    def mark(self, fn: Fn, row: Val) -> Val:
        """The number by which a row is looked up: its fingerprint."""
        return fn.call("fingerprint", [row], 64)

    def note(self) -> Fn:
        """``note(best, row)``: keeps the smaller of the two states."""
        fn = Fn("note", [("best", 0), ("row", 0)], None, OUTSIDE)
        best, row = fn.args
        mark = fn.call("fingerprint", [row], 64)
        take, leave = fn.label(), fn.label()
        fn.leave_if(fn.eq(get(fn, best, 0), const(0)), take)
        old = get(fn, best, 1)
        fn.leave_if(fn.lt(mark, old), take)
        fn.leave_if(fn.lt(old, mark), leave)
        for i in range(self.words):
            here, there = fn.load(fn.at(row, i), 64), get(fn, best, 2 + i)
            fn.leave_if(fn.lt(here, there), take)
            fn.leave_if(fn.lt(there, here), leave)
        fn.jump(leave)
        fn.place_fresh(take)
        put(fn, best, 0, const(1))
        put(fn, best, 1, mark)
        self.copy(fn, row, field(fn, best, 2))
        fn.place(leave)
        fn.ret()
        return fn


class VisitedSet(Rows):
    """``bits``: bits of a state of one word; ``level_bits``: bits for the level in a key, or 0.

    ``tracks``: whether transitions that do not lead to the next level are to be noted.
    ``compact``: the number of bits of a second fingerprint that identify a state; 0: whole states
    do, always where they are one word.
    ``mask``: by word, the bits that tell states apart; of the states that differ in others the
    first that is inserted is kept.
    """

    def __init__(
        self,
        words: int,
        bits: int,
        level_bits: int,
        tracks: bool,
        compact: int = 0,
        mask: tuple[int, ...] = (),
    ) -> None:
        super().__init__(words, mask=mask)
        self.bits, self.level_bits, self.tracks = bits, level_bits, tracks
        self.compact = compact if words > 1 else 0

    def functions(self) -> list[Fn]:
        mine = [self.peek(), self.insert(), self.insert_batch(), self.find(), self.lookup()]
        if self.compact:
            mine.append(self.second())
        return [*super().functions(), *mine, self.reinsert(), self.number()]

    def second(self) -> Fn:
        """``second(row)``: the contents of a row's slot in compact mode.

        Uses other factors than ``fingerprint``, and words in the opposite order.
        """
        fn = Fn("second", [("row", 0)], 64, INSIDE)
        total = const(0)
        for i in reversed(range(self.words)):
            word = self.compared(fn, fn.args[0], i)
            total = fn.add(fn.mul(total, const(SECOND)), word)
            for shift, factor in SECOND_MIX:
                total = fn.mul(fn.xor(total, fn.lshr(total, const(shift))), const(factor))
            total = fn.xor(total, fn.lshr(total, const(31)))
        fn.ret(fn.or_(fn.lshr(total, const(64 - self.compact)), const(1 << 63)))
        return fn

    def _key(self, fn: Fn, row: Val, level: Val) -> Val:
        return fn.or_(fn.or_(fn.load(row, 64), const(1 << self.bits)), level)

    def _match(self, fn: Fn, context: Val, base: Val, row: Val, mark: Val, found: Var) -> Val:
        """Sets ``found`` to the slot of the line at ``base`` that holds the state at ``row``;
        leaves it where there is none.  Returns which slots were free when it read them: all of the
        line was read before, so that a state inserted later has taken the first of them.
        """
        line = fn.line(fn.at(address(fn, context, Context.TABLE), base))
        free = fn.among(line, const(0))
        if self.words == 1:
            mask = (self.mask[0] if self.mask else (1 << self.bits) - 1) | 1 << self.bits
            key = fn.or_(self.compared(fn, row, 0), const(1 << self.bits))
            same = fn.among(line, key, mask=mask)
            with fn.if_(fn.ne(same, const(0, 8))):
                found.set(self._first(fn, base, same))
            return free
        if self.compact:
            same = fn.among(line, fn.call("second", [row], 64))
            with fn.if_(fn.ne(same, const(0, 8))):
                found.set(self._first(fn, base, same))
            return free
        alike = fn.var(fn.among(line, self._tag(fn, mark), shift=40))
        with fn.forever() as none:
            some = alike.get()
            fn.leave_if(fn.eq(some, const(0, 8)), none)
            index = self._first(fn, base, some)
            slot = self._slot(fn, context, index)
            rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), self._owner(fn, slot))), 0)
            with fn.if_(self.alike(fn, self.row(fn, rows, self._local(fn, slot)), row)):
                found.set(index)
                fn.jump(none)
            alike.set(fn.and_(some, fn.sub(some, const(1, 8))))
        return free

    def _first(self, fn: Fn, base: Val, which: Val) -> Val:
        """The first slot of the line at ``base`` whose bit is set in ``which``, which is not 0."""
        return fn.add(base, fn.resize(fn.intrinsic("cttz", which, "i1 true"), 64))

    def _free(self, fn: Fn, context: Val, base: Val) -> Val:
        """Which slots of a line are free."""
        line = fn.line(fn.at(address(fn, context, Context.TABLE), base))
        return fn.among(line, const(0))

    def _slot(self, fn: Fn, context: Val, index: Val) -> Val:
        """The contents of a slot; the row that it refers to can be read."""
        place = fn.at(address(fn, context, Context.TABLE), index)
        return fn.load(place, 64, "acquire")

    def _tag(self, fn: Fn, mark: Val) -> Val:
        bits = fn.and_(fn.lshr(mark, const(32)), const((1 << 23) - 1))
        return fn.or_(bits, const(1 << 23))

    def home(self, fn: Fn, context: Val, mark: Val) -> Val:
        """The slot, the first of a line, at which the search for a fingerprint begins.

        It is determined by the low half of a fingerprint: the high half divides states among
        shards.
        """
        turned = fn.or_(fn.shl(mark, const(32)), fn.lshr(mark, const(32)))
        slots = fn.resize(get(fn, context, Context.SLOTS), 128)
        product = fn.mul(fn.resize(turned, 128), slots)
        place = fn.resize(fn.lshr(product, const(64, 128)), 64)
        return fn.and_(place, const(-LINE))

    def ask_for(self, fn: Fn, context: Val, mark: Val) -> None:
        """Prefetches the slot at which the search for a fingerprint begins."""
        table = address(fn, context, Context.TABLE)
        fn.prefetch(fn.at(table, self.home(fn, context, mark)))

    def _after(self, fn: Fn, context: Val, index: Val) -> Val:
        """The line after the one at ``index``."""
        following = fn.add(index, const(LINE))
        last = fn.eq(following, get(fn, context, Context.SLOTS))
        return fn.select(last, const(0), following)

    def _owner(self, fn: Fn, slot: Val) -> Val:
        return fn.and_(fn.lshr(slot, const(fields.LOCAL_BITS)), const(fields.MAX_WORKERS - 1))

    def _local(self, fn: Fn, slot: Val) -> Val:
        return fn.and_(slot, const((1 << fields.LOCAL_BITS) - 1))

    def note_level(self, fn: Fn, context: Val, worker: Val, slot: Val, level: Val) -> None:
        """Sets BACK where the state found, in ``slot``, may not be in the next level."""
        if not self.tracks:
            return
        if self.compact:  # no slot holds the level of its state
            put(fn, worker, Worker.BACK, const(1))
            return
        if self.words == 1:
            if not self.level_bits:
                return
            ours = fn.lshr(level, const(self.bits + 1))
            back = fn.ne(fn.lshr(slot, const(self.bits + 1)), ours)
        else:
            owner = self._owner(fn, slot)
            start = fn.load(fn.at(context, fn.add(const(Context.NEXT_START), owner)), 64)
            back = fn.lt(self._local(fn, slot), start)
        with fn.if_(back):
            put(fn, worker, Worker.BACK, const(1))

    def peek(self) -> Fn:
        """``peek(context, worker, row, mark)``: 1 where a state is not in its own line but may be
        in the next, which is prefetched; 0 where it has been inserted; 2 for no room.
        """
        fn = Fn("peek", [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)], 64, INSIDE)
        context, worker, row, mark = fn.args
        base, found = self.home(fn, context, mark), fn.var(const(-1))
        free = self._match(fn, context, base, row, mark, found)
        with fn.if_(fn.ne(found.get(), const(-1))):
            slot, level = self._slot(fn, context, found.get()), get(fn, context, Context.LEVEL)
            self.note_level(fn, context, worker, slot, level)
            fn.ret(const(0))
        following = partial(self._after, fn, context, base)
        return self._end_peek(fn, fn.eq(free, const(0, 8)), following)

    def _end_peek(self, fn: Fn, is_full: Val, following: Callable[[], Val]) -> Fn:
        """Emits the end of :meth:`peek`, where a state is not in its own line; ``following``: emits
        the word of the table at which the next line begins.
        """
        context, worker, row, mark = fn.args
        with fn.if_(is_full):
            fn.prefetch(fn.at(address(fn, context, Context.TABLE), following()))
            fn.ret(const(1))
        full = fn.call("insert", [context, worker, row, mark], 64)
        fn.ret(fn.add(full, full))
        return fn

    def insert(self) -> Fn:
        """``insert(context, worker, row, mark)``: 0, or 1 where a new state has no room."""
        fn = Fn("insert", [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)], 64, OUTSIDE)
        context, worker, row, mark = fn.args
        level, mine = get(fn, context, Context.LEVEL), fn.label()
        base, found = fn.var(self.home(fn, context, mark)), fn.var(const(-1))
        with fn.forever() as done:
            free, full = self._match(fn, context, base.get(), row, mark, found), fn.label()
            with fn.if_(fn.ne(found.get(), const(-1))):
                self.note_level(fn, context, worker, self._slot(fn, context, found.get()), level)
                fn.jump(done)
            fn.leave_if(fn.eq(free, const(0, 8)), full)
            count = get(fn, worker, Worker.COUNT)
            with fn.if_(fn.le(get(fn, worker, Worker.CAP), count)):
                fn.ret(const(1))
            rows_at = fn.at(context, fn.add(const(Context.ROWS), get(fn, worker, Worker.ID)))
            self.copy(fn, row, self.row(fn, fn.load(rows_at, 0), count))
            key = self._claim(fn, worker, row, mark, count, level)
            place = fn.at(address(fn, context, Context.TABLE), self._first(fn, base.get(), free))
            _, taken = fn.cmpxchg(place, const(0), key)
            again = fn.label()
            fn.leave_if(taken, mine)
            fn.jump(again)
            fn.place_fresh(full)
            base.set(self._after(fn, context, base.get()))
            fn.place(again)
        fn.ret(const(0))
        fn.place_fresh(mine)
        put(fn, worker, Worker.COUNT, fn.add(get(fn, worker, Worker.COUNT), const(1)))
        fn.ret(const(0))
        return fn

    def insert_batch(self) -> Fn:
        """``insert_batch(context, worker, count)``: inserts the first rows of the batch, whose
        fingerprints are in HASHES, into the visited set; sets OVERFLOW where there is no room.
        """
        fn = Fn("insert_batch", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        context, worker, count = fn.args
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        waiting = fn.var(const(0))  # so many have to be looked for in another line as well
        with fn.count(count) as i:
            row, mark = self.row(fn, batch, i), fn.load(fn.at(hashes, i), 64)
            seen = fn.call("peek", [context, worker, row, mark], 64)
            with fn.if_(fn.ne(seen, const(0))):
                self._stop_if(fn, worker, fn.eq(seen, const(2)))
                later = waiting.get()
                self.copy(fn, row, self.row(fn, batch, later))
                fn.store(mark, fn.at(hashes, later))
                waiting.set(fn.add(later, const(1)))
        with fn.count(waiting.get()) as i:
            mark = fn.load(fn.at(hashes, i), 64)
            full = fn.call("insert", [context, worker, self.row(fn, batch, i), mark], 64)
            self._stop_if(fn, worker, fn.ne(full, const(0)))
        fn.ret()
        return fn

    def _stop_if(self, fn: Fn, worker: Val, full: Val) -> None:
        with fn.if_(full):
            put(fn, worker, Worker.OVERFLOW, const(1))
            fn.ret()

    def _claim(self, fn: Fn, worker: Val, row: Val, mark: Val, count: Val, level: Val) -> Val:
        if self.words == 1:
            return self._key(fn, row, level)
        if self.compact:
            return fn.call("second", [row], 64)
        owner = fn.shl(get(fn, worker, Worker.ID), const(fields.LOCAL_BITS))
        return fn.or_(fn.shl(self._tag(fn, mark), const(40)), fn.or_(owner, count))

    def lookup(self) -> Fn:
        """``lookup(context, row)``: the slot of a state, or -1."""
        fn = Fn("lookup", [("context", 0), ("row", 0)], 64, OUTSIDE)
        context, row = fn.args
        mark = self.mark(fn, row)
        fn.ret(fn.call("find", [context, row, mark], 64))
        return fn

    def find(self) -> Fn:
        """``find(context, row, mark)``: the slot of a state whose fingerprint is known, or -1."""
        fn = Fn("find", [("context", 0), ("row", 0), ("mark", 64)], 64, INSIDE)
        context, row, mark = fn.args
        base, found = fn.var(self.home(fn, context, mark)), fn.var(const(-1))
        with fn.forever():
            free = self._match(fn, context, base.get(), row, mark, found)
            with fn.if_(fn.ne(found.get(), const(-1))):
                fn.ret(found.get())
            with fn.if_(fn.ne(free, const(0, 8))):
                fn.ret(const(-1))
            base.set(self._after(fn, context, base.get()))
        fn.ret(const(-1))
        return fn

    def number_of(self, fn: Fn, context: Val, index: Val) -> Val:
        """The number of the state in slot ``index``."""
        if self.words == 1:
            vals = address(fn, context, Context.VALS)
            return fn.resize(fn.load(fn.at(vals, index, 32), 32), 64)
        slot = fn.load(fn.at(address(fn, context, Context.TABLE), index), 64)
        prefix = fn.at(context, fn.add(const(Context.PREFIX), self._owner(fn, slot)))
        return fn.add(fn.load(prefix, 64), self._local(fn, slot))

    def reinsert(self) -> Fn:
        """``reinsert(context, worker, begin, end, level)``: puts rows into a table that does not
        have them; several threads may do so at once, also with rows of the same worker.
        """
        params = [("context", 0), ("worker", 0), ("begin", 64), ("end", 64), ("level", 64)]
        fn = Fn("reinsert", params, None)
        context, worker, begin, end, level = fn.args
        table = address(fn, context, Context.TABLE)
        rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), get(fn, worker, Worker.ID))), 0)
        with fn.count(end, begin) as i:
            later = fn.add(i, const(AHEAD))
            ahead = self.row(fn, rows, fn.select(fn.lt(later, end), later, i))
            self.ask_for(fn, context, self.mark(fn, ahead))
            row = self.row(fn, rows, i)
            mark = self.mark(fn, row)
            key = self._claim(fn, worker, row, mark, i, level)
            base = fn.var(self.home(fn, context, mark))
            with fn.forever() as done:
                free, full, again = self._free(fn, context, base.get()), fn.label(), fn.label()
                fn.leave_if(fn.eq(free, const(0, 8)), full)
                place = fn.at(table, self._first(fn, base.get(), free))
                _, taken = fn.cmpxchg(place, const(0), key)
                fn.leave_if(taken, done)
                fn.jump(again)
                fn.place_fresh(full)
                base.set(self._after(fn, context, base.get()))
                fn.place(again)
        fn.ret()
        return fn

    def number(self) -> Fn:
        """``number(context, worker)``: writes the numbers of a worker's states to VALS."""
        fn = Fn("number", [("context", 0), ("worker", 0)], None)
        context, worker = fn.args
        who = get(fn, worker, Worker.ID)
        rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), who)), 0)
        first = fn.load(fn.at(context, fn.add(const(Context.PREFIX), who)), 64)
        vals = address(fn, context, Context.VALS)
        with fn.count(get(fn, worker, Worker.COUNT)) as i:
            index = fn.call("lookup", [context, self.row(fn, rows, i)], 64)
            fn.store(fn.resize(fn.add(first, i), 32), fn.at(vals, index, 32))
        fn.ret()
        return fn
