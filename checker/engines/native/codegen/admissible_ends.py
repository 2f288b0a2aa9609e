"""Admissible ends: whether a fair execution may stay in a state although an enabled fairness
constraint leads elsewhere.

It may where each enabled constraint is taken by a step that leaves the state as it is.  Where an
instance is a constraint of its own the action's code decides this (see
:mod:`checker.engines.native.codegen.actions`).  Where several instances share one, of which some
lead elsewhere only and some stay, the actions with fairness constraints are run again, without
successors: for each constraint with an instance that leads elsewhere only, an instance of the same
constraint that stays is searched for.
"""

from __future__ import annotations

from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Val, const
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.visited_set import OUTSIDE, Rows
from checker.model import ir
from checker.model.ir import TransitionSystem

NOTHING = const(-1)
"""A value of CONSTRAINT_SKIP: searches for an instance that stays, not for a constraint."""


class AdmissibleEnds:
    """Emits the code for one system, whose constraints are those of ``plan``."""

    def __init__(self, system: TransitionSystem, plan: ConstraintLayout) -> None:
        self.rows = Rows(plan.words, "key_")
        self.shared = [
            i
            for i, action in enumerate(system.actions)
            if action.promised != ir.FALSE and not plan.alone(action)
        ]

    def functions(self) -> list[Fn]:
        return [self.owe(), self.emit_kept()]

    def owe(self) -> Fn:
        """``owe(worker, row, stays)``: notes that an instance of the constraint ``row`` stays, or
        leads elsewhere only.
        """
        fn = Fn("owe", [("worker", 0), ("row", 0), ("stays", 1)], None, OUTSIDE)
        worker, row, stays = fn.args
        wanted = address(fn, worker, Worker.CONSTRAINT_KEY)
        skip = get(fn, worker, Worker.CONSTRAINT_SKIP)
        with fn.if_(fn.eq(skip, NOTHING)):
            with fn.if_(fn.and_(stays, self.rows.same(fn, row, wanted))):
                put(fn, worker, Worker.CONSTRAINT_FOUND, const(1))
            fn.ret()
        with fn.if_(fn.not_(stays)):
            with fn.if_(fn.eq(skip, const(0))):
                with fn.if_(fn.eq(get(fn, worker, Worker.CONSTRAINT_FOUND), const(0))):
                    self.rows.copy(fn, row, wanted)
                    put(fn, worker, Worker.CONSTRAINT_FOUND, const(1))
                fn.ret()
            put(fn, worker, Worker.CONSTRAINT_SKIP, fn.sub(skip, const(1)))
        fn.ret()
        return fn

    def emit_kept(self) -> Fn:
        """``kept(context, worker, source)``: whether staying takes every enabled fairness
        constraint.
        """
        fn = Fn("kept", [("context", 0), ("worker", 0), ("source", 0)], 1, OUTSIDE)
        context, worker, _ = fn.args
        fn.call("flush", [context, worker], None)
        mode, transitions = (get(fn, worker, w) for w in (Worker.MODE, Worker.TRANSITIONS))
        put(fn, worker, Worker.MODE, const(Mode.ENDS))
        fn.store(fn.alloca(64, self.rows.words), fn.at(worker, int(Worker.CONSTRAINT_KEY)))
        number, kept = fn.var(const(0)), fn.var(FALSE)
        with fn.forever() as known:
            some = self._search_promised(fn, number.get())
            with fn.if_(fn.not_(some)):
                kept.set(TRUE)
                fn.jump(known)
            fn.leave_if(fn.not_(self._search_promised(fn, NOTHING)), known)
            number.set(fn.add(number.get(), const(1)))
        put(fn, worker, Worker.MODE, mode)
        put(fn, worker, Worker.TRANSITIONS, transitions)
        put(fn, worker, Worker.PENDING, const(0))
        lost = fn.ne(get(fn, worker, Worker.PROGRESS), const(0))
        fn.ret(fn.and_(kept.get(), fn.not_(lost)))
        return fn

    def _search_promised(self, fn: Fn, skip: Val) -> Val:
        """Runs the actions with fairness constraints; returns whether the search succeeded."""
        context, worker, source = fn.args
        put(fn, worker, Worker.CONSTRAINT_SKIP, skip)
        put(fn, worker, Worker.CONSTRAINT_FOUND, const(0))
        for i in self.shared:
            fn.call(f"action_{i}", [context, worker, source, const(0)], 1)
        return fn.ne(get(fn, worker, Worker.CONSTRAINT_FOUND), const(0))
