"""The set of visited states of one word where a slot has 32 bits: the place has the other bits.

A state of *b* bits is mixed by a bijection of *b* bits.  The result, as a fraction of all, times
the number of lines is a line and a rest (Lemire, "Fast random integer generation in an interval",
2019).  The line, its *home*, and the high bits of the rest determine the state.  So a slot holds
those bits, the *remainder*, and how many lines it is from home, counted from 1 (Cleary, "Compact
hash tables using bidirectional linear probing", 1984; van der Vegt and Laarman, "A parallel compact
hash table", MEMICS 2011).  Nothing is lost: two states have the same slot in the same line only if
they are equal.

* Lines have 16 slots.  A state goes into the first line with a free slot, beginning at its home.
  Further lines follow the last home.
* A slot is claimed by compare and swap, as in :mod:`checker.engines.native.codegen.visited_set`.
* A state that finds no free slot within reach sets CROWDED: the table has to grow.
* The order of homes is that of mixed states.  So a table grows in its place, from its end, and its
  states follow from its slots.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from checker.engines.native.codegen.emit import Fn, Val, Var, const
from checker.engines.native.codegen.fields import LINE, Context, Worker
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.visited_set import (
    AHEAD,
    FACTOR,
    INSIDE,
    OUTSIDE,
    VisitedSet,
)

SLOT = 32
"""The bits of a slot."""
LANES = 2 * LINE
"""The slots of a line."""


class Narrow(IntEnum):
    """Words of the record of a table; written while no worker runs."""

    LINES = 0  # how many homes there are
    SHIFT = 1  # by how much the rest, in the high bits of a word, is shifted to be a remainder
    NEAR = 2  # the bits of a slot that hold the distance from home
    REACH = 3  # how many lines a state may be in
    LOST = 4  # the bits of the rest that are not in a remainder
    WHOLE = 5  # the mixed states, divided by the lines,
    PART = 6  # and what is left over
    INVERSE = 7  # 2 ** 64, divided by the lines (at most 2 ** 64 - 1)
    SIZE = 8


def shift_of(bits: int) -> int:
    """Returns the number of bits by which a step of the bijection shifts a value of ``bits`` bits:
    at least half of them, so that the step is its own inverse.
    """
    return (bits + 1) // 2


class NarrowSet(VisitedSet):
    """A visited set of states of one word, of ``bits`` bits; no slot has the level of its state."""

    def __init__(self, bits: int) -> None:
        super().__init__(1, bits, 0, tracks=False)

    def functions(self) -> list[Fn]:
        rows = [self.fingerprint(), self.note(), self.spread()]
        seen = [self.peek(), self.insert(), self.insert_batch(), self.find(), self.lookup()]
        return [*rows, *seen, self.reinsert(), self.number(), self.move_lines()]

    # -- the bijection --------------------------------------------------------------------------

    def mark(self, fn: Fn, row: Val) -> Val:
        """The mixed state, in the high bits of a word."""
        return fn.call("spread", [row], 64)

    def _fold(self, fn: Fn, value: Val) -> Val:
        return fn.xor(value, fn.lshr(value, const(shift_of(self.bits))))

    def _times(self, fn: Fn, value: Val, factor: int) -> Val:
        return fn.and_(fn.mul(value, const(factor)), const((1 << self.bits) - 1))

    def spread(self) -> Fn:
        """``spread(row)``: the mixed state, in the high bits of a word; the others are 0."""
        fn = Fn("spread", [("row", 0)], 64, INSIDE)
        value = fn.load(fn.args[0], 64)
        for _ in range(2):
            value = self._times(fn, self._fold(fn, value), FACTOR)
        fn.ret(fn.shl(self._fold(fn, value), const(64 - self.bits)))
        return fn

    # -- lines ----------------------------------------------------------------------------------

    def _record(self, fn: Fn, context: Val) -> Val:
        return address(fn, context, Context.NARROW)

    def _placed(self, fn: Fn, context: Val, mark: Val) -> tuple[Val, Val]:
        """The home of a mixed state, and the rest, in the high bits of a word."""
        lines = fn.resize(get(fn, self._record(fn, context), Narrow.LINES), 128)
        product = fn.mul(fn.resize(mark, 128), lines)
        return fn.resize(fn.lshr(product, const(64, 128)), 64), fn.resize(product, 64)

    def home(self, fn: Fn, context: Val, mark: Val) -> Val:
        """The word of the table at which the home of a mixed state begins."""
        return fn.shl(self._placed(fn, context, mark)[0], const(3))

    def _begin(self, fn: Fn, context: Val, mark: Val) -> tuple[Var, Var, Val]:
        """The word at which a search begins, the content of a slot there, and that of a slot out of
        reach; the content of a slot grows by 1 with each line.
        """
        record = self._record(fn, context)
        line, rest = self._placed(fn, context, mark)
        near, reach = get(fn, record, Narrow.NEAR), get(fn, record, Narrow.REACH)
        first = fn.shl(fn.lshr(rest, get(fn, record, Narrow.SHIFT)), near)
        key = fn.resize(fn.add(first, const(1)), SLOT)
        return fn.var(fn.shl(line, const(3))), fn.var(key), fn.add(key, fn.resize(reach, SLOT))

    def _go_on(self, fn: Fn, base: Var, key: Var) -> None:
        base.set(fn.add(base.get(), const(LINE)))
        key.set(fn.add(key.get(), const(1, SLOT)))

    def _line(self, fn: Fn, context: Val, base: Val) -> Val:
        return fn.line(fn.at(address(fn, context, Context.TABLE), base), SLOT)

    def _index(self, fn: Fn, base: Val, which: Val) -> Val:
        """The first slot, of 32 bits, whose bit is set in ``which``, of the line at word ``base``;
        the bits are not all 0.
        """
        first = fn.resize(fn.intrinsic("cttz", which, "i1 true"), 64)
        return fn.add(fn.shl(base, const(1)), first)

    def _claimed(self, fn: Fn, context: Val, base: Val, free: Val, key: Val) -> Val:
        """Whether the first of the free slots has been claimed."""
        table = address(fn, context, Context.TABLE)
        place = fn.at(table, self._index(fn, base, free), SLOT)
        return fn.cmpxchg(place, const(0, SLOT), key)[1]

    # -- one state ------------------------------------------------------------------------------

    def peek(self) -> Fn:
        """``peek(context, worker, row, mark)``: see :meth:`VisitedSet.peek`."""
        fn = Fn("peek", [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)], 64, INSIDE)
        context, _, _, mark = fn.args
        base, key, _ = self._begin(fn, context, mark)
        line = self._line(fn, context, base.get())
        with fn.if_(fn.ne(fn.among(line, key.get()), const(0, LANES))):
            fn.ret(const(0))
        is_full = fn.eq(fn.among(line, const(0, SLOT)), const(0, LANES))
        return self._end_peek(fn, is_full, lambda: fn.add(base.get(), const(LINE)))

    def insert(self) -> Fn:
        """``insert(context, worker, row, mark)``: 0, or 1 where a new state has no room."""
        fn = Fn("insert", [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)], 64, OUTSIDE)
        context, worker, row, mark = fn.args

        def look(line: Val, key: Val) -> None:
            with fn.if_(fn.ne(fn.among(line, key), const(0, LANES))):
                fn.ret(const(0))

        def ready() -> None:
            count = get(fn, worker, Worker.COUNT)
            with fn.if_(fn.le(get(fn, worker, Worker.CAP), count)):
                fn.ret(const(1))
            rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), self._id(fn, worker))), 0)
            self.copy(fn, row, self.row(fn, rows, count))

        self._take_slot(fn, context, worker, mark, look, ready, const(1))
        put(fn, worker, Worker.COUNT, fn.add(get(fn, worker, Worker.COUNT), const(1)))
        fn.ret(const(0))
        return fn

    def _take_slot(
        self,
        fn: Fn,
        context: Val,
        worker: Val,
        mark: Val,
        look: Callable[[Val, Val], None] | None = None,
        ready: Callable[[], None] | None = None,
        crowded: Val | None = None,
    ) -> None:
        """Emits what claims a slot for a mixed state.

        ``look``: emits what is done first with each line and the content of the state's slot there;
        ``ready``: what is done before a free slot is claimed.  If there is no free slot within
        reach, CROWDED is set, and the function returns ``crowded``.
        """
        base, key, beyond = self._begin(fn, context, mark)
        with fn.forever() as done:
            line, full, again = self._line(fn, context, base.get()), fn.label(), fn.label()
            if look is not None:
                look(line, key.get())
            free = fn.among(line, const(0, SLOT))
            fn.leave_if(fn.eq(free, const(0, LANES)), full)
            if ready is not None:
                ready()
            fn.leave_if(self._claimed(fn, context, base.get(), free, key.get()), done)
            fn.jump(again)
            fn.place_fresh(full)
            self._go_on(fn, base, key)
            with fn.if_(fn.eq(key.get(), beyond)):
                put(fn, worker, Worker.CROWDED, const(1))
                fn.ret(crowded)
            fn.place(again)

    def _id(self, fn: Fn, worker: Val) -> Val:
        return get(fn, worker, Worker.ID)

    def find(self) -> Fn:
        """``find(context, row, mark)``: the slot of a state, counted in 32 bits, or -1."""
        fn = Fn("find", [("context", 0), ("row", 0), ("mark", 64)], 64, INSIDE)
        context, _, mark = fn.args
        base, key, beyond = self._begin(fn, context, mark)
        with fn.forever() as none:
            line = self._line(fn, context, base.get())
            same = fn.among(line, key.get())
            with fn.if_(fn.ne(same, const(0, LANES))):
                fn.ret(self._index(fn, base.get(), same))
            fn.leave_if(fn.ne(fn.among(line, const(0, SLOT)), const(0, LANES)), none)
            self._go_on(fn, base, key)
            fn.leave_if(fn.eq(key.get(), beyond), none)
        fn.ret(const(-1))
        return fn

    # -- whole tables ---------------------------------------------------------------------------

    def reinsert(self) -> Fn:
        """``reinsert(context, worker, begin, end, level)``: see :meth:`VisitedSet.reinsert`; sets
        CROWDED where a row has no place.
        """
        params = [("context", 0), ("worker", 0), ("begin", 64), ("end", 64), ("level", 64)]
        fn = Fn("reinsert", params, None)
        context, worker, begin, end, _ = fn.args
        rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), self._id(fn, worker))), 0)
        with fn.count(end, begin) as i:
            later = fn.add(i, const(AHEAD))
            ahead = self.row(fn, rows, fn.select(fn.lt(later, end), later, i))
            self.ask_for(fn, context, self.mark(fn, ahead))
            self._take_slot(fn, context, worker, self.mark(fn, self.row(fn, rows, i)))
        fn.ret()
        return fn

    def move_lines(self) -> Fn:
        """``move_lines(context, worker, lines, first, count, old)``: puts the states of some
        lines of a table with the record ``old`` into the table of the context; the first of them,
        at the address ``lines``, was line ``first``.
        """
        params = [("context", 0), ("worker", 0), ("lines", 0), ("first", 64), ("count", 64)]
        fn = Fn("move_lines", [*params, ("old", 0)], None)
        context, worker, lines, first, count, old = fn.args
        near = get(fn, old, Narrow.NEAR)
        low = fn.sub(fn.shl(const(1), near), const(1))
        with fn.count(fn.mul(count, const(LANES))) as i:
            slot, free = fn.load(fn.at(lines, i, SLOT), SLOT), fn.label()
            fn.leave_if(fn.eq(slot, const(0, SLOT)), free)
            content = fn.resize(slot, 64)
            away = fn.sub(fn.and_(content, low), const(1))
            line = fn.sub(fn.add(first, fn.lshr(i, const(4))), away)
            mixed = self._mixed(fn, old, line, fn.lshr(content, near))
            self._take_slot(fn, context, worker, fn.shl(mixed, const(64 - self.bits)))
            fn.place(free)
        fn.ret()
        return fn

    def _mixed(self, fn: Fn, old: Val, line: Val, remainder: Val) -> Val:
        """The mixed state with a home and a remainder: the least whose product with the number of
        lines is not below them.
        """
        lines = get(fn, old, Narrow.LINES)
        rest = fn.shl(remainder, get(fn, old, Narrow.LOST))
        over = fn.add(fn.mul(line, get(fn, old, Narrow.PART)), rest)
        up = self._divided(fn, old, fn.add(over, fn.sub(lines, const(1))))
        return fn.add(fn.mul(line, get(fn, old, Narrow.WHOLE)), up)

    def _divided(self, fn: Fn, old: Val, value: Val) -> Val:
        """A value below 2 ** 63, divided by the number of lines: the product with the inverse is
        less than 1 below that, and so is what is cut off (as in Granlund and Montgomery, "Division
        by invariant integers using multiplication", PLDI 1994).
        """
        lines, inverse = get(fn, old, Narrow.LINES), get(fn, old, Narrow.INVERSE)
        product = fn.mul(fn.resize(value, 128), fn.resize(inverse, 128))
        least = fn.resize(fn.lshr(product, const(64, 128)), 64)
        left = fn.sub(value, fn.mul(least, lines))
        return fn.add(least, fn.resize(fn.le(lines, left), 64))
