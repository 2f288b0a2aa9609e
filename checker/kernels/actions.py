"""One native function for each action, and one for each question about a state.

``action_<k>(ptr context, ptr worker, ptr source)`` puts the successors of the state at ``source``
into the worker's batch, and says in the worker's record whether the state has made progress, has
itself as a successor, or meets an error of the run.

``bad_<p>(ptr source)`` and ``premise_<p>(ptr source)`` give 0, 1, or 2 for an error.
"""

from __future__ import annotations

from checker.kernels import fields
from checker.kernels.domains import each, member_type
from checker.kernels.emit import FALSE, TRUE, Fn, Label, Val, Var, const
from checker.kernels.expressions import lower, lower_source
from checker.kernels.fields import Worker
from checker.kernels.frame import Frame
from checker.kernels.layout import Layout
from checker.kernels.statements import Ways, statements
from checker.system import ir
from checker.system.ir import Action, Block, Expr, TransitionSystem


def field(fn: Fn, record: Val, which: int) -> Val:
    """The address of a word of a record."""
    return fn.at(record, int(which))


def get(fn: Fn, record: Val, which: int) -> Val:
    return fn.load(field(fn, record, which), 64)


def put(fn: Fn, record: Val, which: int, value: Val) -> None:
    fn.store(value, field(fn, record, which))


def address(fn: Fn, record: Val, which: int) -> Val:
    """A word of a record that is an address."""
    return fn.load(field(fn, record, which), 0)


class ActionCode:
    """Emits the function of one action."""

    def __init__(
        self, system: TransitionSystem, layout: Layout, action: Action, ends: bool
    ) -> None:
        self.action, self.layout = action, layout
        self.block: Block = action.body + system.monitor
        self.fn = fn = Fn(
            f"action_{system.actions.index(action)}",
            [("context", 0), ("worker", 0), ("source", 0)],
            None,
            readonly=("source",),
        )
        self.context, self.worker, self.source = fn.args
        self.guard_fault = fn.label()
        self.frame = Frame(fn, layout, self.source, self.guard_fault)
        self.ends = ends and action.promised != ir.FALSE
        self.work = fn.alloca(64, layout.words)
        self.batch = address(fn, self.worker, Worker.BATCH)
        self.pending = fn.var(get(fn, self.worker, Worker.PENDING))
        self.transitions = fn.var(const(0))
        self.progress, self.self_loop, self.faulted = (fn.var(FALSE) for _ in range(3))
        self.promised = fn.var(FALSE)
        passed = {s.mark for s in statements(self.block) if isinstance(s, ir.Mark)}
        count = max(passed, default=-1) // 64 + 1
        self.way_marks: tuple[Var, ...] = tuple(fn.var(const(0)) for _ in range(count))
        self.all_marks: tuple[Var, ...] = tuple(fn.var(const(0)) for _ in range(count))

    def emit(self) -> Fn:
        fn, done = self.fn, self.fn.label()
        self._params(0, done)
        fn.place(done)
        self._epilogue()
        fn.ret()
        fn.place_fresh(self.guard_fault)
        self.faulted.set(TRUE)
        self.progress.set(TRUE)
        fn.jump(done)
        return fn

    def _params(self, depth: int, following: Label) -> None:
        fn, frame, params = self.fn, self.frame, self.action.params
        if depth == len(params):
            self._instance(following)
            return
        param = params[depth]
        source = lower_source(frame, param.domain)
        with (
            each(fn, param.domain, source) as (value, inner),
            frame.bound(param.name, member_type(param.domain), value),
        ):
            fn.leave_if(fn.not_(lower(frame, param.where)), inner)
            self._params(depth + 1, inner)

    def _instance(self, following: Label) -> None:
        fn, frame = self.fn, self.frame
        fn.leave_if(fn.not_(lower(frame, self.action.guard)), following)
        if self.ends:
            self._promise()
        ways = Ways(
            frame, self.work, self.way_marks, self._commit, self._note_fault, self._overflow
        )
        ways.run(self.block)

    def _promise(self) -> None:
        fn, fault, known = self.fn, self.fn.label(), self.fn.label()
        self.promised.set(FALSE)
        with self.frame.faulting(fault):
            self.promised.set(lower(self.frame, self.action.promised))
        fn.jump(known)
        fn.place_fresh(fault)
        self.progress.set(TRUE)
        fn.place(known)

    def _note_fault(self) -> None:
        self.faulted.set(TRUE)
        if self.ends:
            self.progress.set(self.fn.or_(self.progress.get(), self.promised.get()))

    def _overflow(self) -> None:
        put(self.fn, self.worker, Worker.TAPE, const(1))

    def _commit(self, dirty: bool) -> None:
        """The state in ``work`` (or, if not ``dirty``, the source itself) is a successor."""
        fn = self.fn
        self.transitions.set(fn.add(self.transitions.get(), const(1)))
        for total, here in zip(self.all_marks, self.way_marks, strict=True):
            total.set(fn.or_(total.get(), here.get()))
        if not dirty:
            self.self_loop.set(TRUE)
            return
        row = [fn.load(fn.at(self.work, i), 64) for i in range(self.layout.words)]
        other = const(0)
        for i, word in enumerate(row):
            other = fn.or_(other, fn.xor(word, fn.load(fn.at(self.source, i), 64)))
        fn.if_else(fn.eq(other, const(0)), self._stay, lambda: self._move(row))

    def _stay(self) -> None:
        self.self_loop.set(TRUE)

    def _move(self, row: list[Val]) -> None:
        fn, words = self.fn, self.layout.words
        if self.ends:
            self.progress.set(fn.or_(self.progress.get(), self.promised.get()))
        count = self.pending.get()
        place = fn.at(self.batch, fn.mul(count, const(words)))
        for i, word in enumerate(row):
            fn.store(word, fn.at(place, i))
        self.pending.set(fn.add(count, const(1)))
        with fn.if_(fn.eq(count, const(fields.BATCH - 1))):
            put(fn, self.worker, Worker.PENDING, const(fields.BATCH))
            fn.call("flush", [self.context, self.worker], None)
            self.pending.set(get(fn, self.worker, Worker.PENDING))

    def _epilogue(self) -> None:
        fn, worker = self.fn, self.worker
        put(fn, worker, Worker.PENDING, self.pending.get())
        total = fn.add(get(fn, worker, Worker.TRANSITIONS), self.transitions.get())
        put(fn, worker, Worker.TRANSITIONS, total)
        for which, flag in (
            (Worker.PROGRESS, self.progress),
            (Worker.SELF, self.self_loop),
            (Worker.FAULTED, self.faulted),
        ):
            put(fn, worker, which, fn.or_(get(fn, worker, which), fn.resize(flag.get(), 64)))
        for i, mark in enumerate(self.all_marks):
            word = int(Worker.MARKS) + i
            put(fn, worker, word, fn.or_(get(fn, worker, word), mark.get()))


def question(layout: Layout, name: str, expr: Expr) -> Fn:
    """The function that evaluates a closed Boolean expression in a state."""
    fn = Fn(name, [("source", 0)], 64, readonly=("source",))
    fault = fn.label()
    frame = Frame(fn, layout, fn.args[0], fault)
    fn.ret(fn.resize(lower(frame, expr), 64))
    fn.place_fresh(fault)
    fn.ret(const(2))
    return fn
