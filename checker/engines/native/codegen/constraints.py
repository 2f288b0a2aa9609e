"""The fairness constraints as native code: numbers for the constraints of instances.

A constraint is a group and the values of a key.  As a row of words it is the number of the group,
then the code of the key.  Rows are interned, compared as a whole; a constraint's number is its
position counted from 1, and 0 means that there is no constraint.
"""

from __future__ import annotations

from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import Worker
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.visited_set import OUTSIDE, Rows


class Interning:
    """Native code that numbers rows: a table of each worker's own."""

    def __init__(self, plan: ConstraintLayout) -> None:
        self.rows = Rows(plan.words, "key_")

    def functions(self) -> list[Fn]:
        return [self.rows.fingerprint(), self.intern(), self.rekey()]

    def intern(self) -> Fn:
        """``intern(worker, row)``: the number of a constraint; where there is no room, OVERFLOW."""
        fn = Fn("intern", [("worker", 0), ("row", 0)], 32, OUTSIDE)
        worker, row = fn.args
        place = self._place(fn, worker, row)
        count = get(fn, worker, Worker.KEY_COUNT)
        with fn.if_(fn.lt(get(fn, worker, Worker.KEY_MASK), fn.shl(count, const(1)))):
            put(fn, worker, Worker.OVERFLOW, const(1))
            fn.ret(const(0, 32))
        self.rows.copy(fn, row, self.rows.row(fn, address(fn, worker, Worker.KEYS), count))
        more = fn.add(count, const(1))
        put(fn, worker, Worker.KEY_COUNT, more)
        fn.store(fn.resize(more, 32), place)
        fn.ret(fn.resize(more, 32))
        return fn

    def _place(self, fn: Fn, worker: Val, row: Val) -> Val:
        """A free slot for a row; the function returns its number where it is known."""
        table = address(fn, worker, Worker.KEY_TABLE)
        mask, keys = get(fn, worker, Worker.KEY_MASK), address(fn, worker, Worker.KEYS)
        mark = fn.call(self.rows.name("fingerprint"), [row], 64)
        index = fn.var(fn.and_(mark, mask))
        with fn.forever() as free:
            place = fn.at(table, index.get(), 32)
            number = fn.load(place, 32)
            fn.leave_if(fn.eq(number, const(0, 32)), free)
            known = fn.sub(fn.resize(number, 64), const(1))
            with fn.if_(self.rows.same(fn, self.rows.row(fn, keys, known), row)):
                fn.ret(number)
            index.set(fn.and_(fn.add(index.get(), const(1)), mask))
        return fn.at(table, index.get(), 32)

    def rekey(self) -> Fn:
        """``rekey(worker)``: fills a larger table from the rows."""
        fn = Fn("rekey", [("worker", 0)], None)
        (worker,) = fn.args
        table, mask = address(fn, worker, Worker.KEY_TABLE), get(fn, worker, Worker.KEY_MASK)
        keys = address(fn, worker, Worker.KEYS)
        with fn.count(get(fn, worker, Worker.KEY_COUNT)) as i:
            mark = fn.call(self.rows.name("fingerprint"), [self.rows.row(fn, keys, i)], 64)
            index = fn.var(fn.and_(mark, mask))
            with fn.forever() as free:
                place = fn.at(table, index.get(), 32)
                fn.leave_if(fn.eq(fn.load(place, 32), const(0, 32)), free)
                index.set(fn.and_(fn.add(index.get(), const(1)), mask))
            number = fn.resize(fn.add(i, const(1)), 32)
            fn.store(number, fn.at(table, index.get(), 32))
        fn.ret()
        return fn
