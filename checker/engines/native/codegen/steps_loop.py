"""The steps of one state as native code: all its successors, as rows, by all actions.

``Control`` is the record of a worker that asks for them.  Rows that do not fit are counted and not
written, so that the caller can make room.
"""

from __future__ import annotations

from enum import IntEnum

from checker.engines.native.codegen.emit import Fn, const
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.search_loop import SearchLoop
from checker.engines.native.codegen.visited_set import OUTSIDE


class Control(IntEnum):
    """Words of the record at ``Worker.TARGET``."""

    ROWS = 0  # address of ROOM rows
    ROOM = 1
    COUNT = 2  # successors so far
    SIZE = 3


class StepsLoop(SearchLoop):
    """Emits ``steps``, beside the code of a search."""

    def functions(self) -> list[Fn]:
        return [*super().functions(), self.gather(), self.steps()]

    def flush_first(self, fn: Fn) -> None:
        """Keeps the rows of the batch where steps are asked for."""
        worker = fn.args[1]
        with fn.if_(fn.eq(get(fn, worker, Worker.MODE), const(Mode.STEPS))):
            fn.call("gather", [worker, get(fn, worker, Worker.PENDING)], None)
            put(fn, worker, Worker.PENDING, const(0))
            fn.ret()

    def gather(self) -> Fn:
        """``gather(worker, count)``: copies the rows of the batch, as far as there is room."""
        fn = Fn("gather", [("worker", 0), ("count", 64)], None, OUTSIDE)
        worker, count = fn.args
        control = address(fn, worker, Worker.TARGET)
        batch, rows = address(fn, worker, Worker.BATCH), address(fn, control, Control.ROWS)
        room, before = get(fn, control, Control.ROOM), get(fn, control, Control.COUNT)
        with fn.count(count) as i:
            at = fn.add(before, i)
            with fn.if_(fn.lt(at, room)):
                self.seen.copy(fn, self.seen.row(fn, batch, i), self.seen.row(fn, rows, at))
        put(fn, control, Control.COUNT, fn.add(before, count))
        fn.ret()
        return fn

    def steps(self) -> Fn:
        """``steps(context, worker, source)``: gathers the successors of the state at ``source``
        that differ from it; returns how many there are.  FAULTED: some step meets an error;
        STOPPED: it was stopped, and has to be asked again."""
        fn = Fn("steps", [("context", 0), ("worker", 0), ("source", 0)], 64)
        context, worker, source = fn.args
        control = address(fn, worker, Worker.TARGET)
        put(fn, control, Control.COUNT, const(0))
        for which in (Worker.PENDING, Worker.FAULTED, Worker.STOPPED, Worker.OVERFLOW):
            put(fn, worker, which, const(0))
        for number in range(len(self.system.actions)):
            fn.call(f"action_{number}", [context, worker, source, const(0)], 1)
        fn.call("gather", [worker, get(fn, worker, Worker.PENDING)], None)
        put(fn, worker, Worker.PENDING, const(0))
        fn.ret(get(fn, control, Control.COUNT))
        return fn
