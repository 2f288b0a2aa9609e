"""Native functions for actions, one for each, and for predicates on a state.

``action_<k>(ptr context, ptr worker, ptr source, i64 alone)`` puts the successors of the state at
``source`` into the worker's batch, and notes in the worker's record which enabled fairness
constraints have instances that lead elsewhere, which have instances that leave the state as it is,
and whether the action meets a runtime error. Where edges are requested, each successor comes with
the number of the constraint that the step takes, and the state itself is a successor by each
instance with a fairness constraint that can leave it as it is. Where it is stopped, or there is no
room for more, it abandons the state, and notes that (STOPPED): the rest of its notes is invalid
then.

Where there is a plan of reductions, successors are put into their normal form (see
:mod:`checker.engines.native.codegen.normalize_successor` and
:mod:`checker.engines.native.codegen.normal_form`): dead parts are reset before the comparison with
the source, since a step that changes dead parts only leaves the state as it is; a renaming is
applied after it, since a step to another state of the same orbit does not.

``bad_<p>(ptr source)`` and ``premise_<p>(ptr source)`` return 0, 1, 2 for an error, or 3 where they
were stopped.
"""

from __future__ import annotations

from checker.engines.native.codegen import fields, normalize_successor
from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.domains import each, member_type
from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Label, Val, Var, const
from checker.engines.native.codegen.expressions import lower, lower_source
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.frame import Frame
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.statements import Ways
from checker.model import ir
from checker.model.ir import Action, ActionKind, Block, Expr, TransitionSystem, fairness_of
from checker.model.tree import statements
from checker.reductions.reduction_plan import AmpleAction
from checker.reductions.reduction_plan import ReductionPlan as Reductions

GIVEN_UP = 3
"""The result of a predicate on a state that was stopped."""


class ActionCode:
    """Emits the function of one action.

    ``plan``: the fairness constraints, where they matter, and edges with their constraints may be
    requested; ``reductions``: the plan of reductions.

    ``eager``: conditions under which an instance of the action may be taken alone.  If the argument
    ``alone`` is 0, all instances are taken.  If it is k, the function stops behind the first
    instance that satisfies the k-th condition and leads to another state, and returns whether there
    is one.  If the condition names variables, the only successor is that instance's first outcome
    that changes no other variables.
    """

    def __init__(
        self,
        system: TransitionSystem,
        layout: Layout,
        action: Action,
        plan: ConstraintLayout | None,
        reductions: Reductions,
        name: str | None = None,
        eager: tuple[AmpleAction, ...] = (),
    ) -> None:
        self.action, self.layout, self.reductions = action, layout, reductions
        self.block: Block = action.body + system.monitor
        self.eager = eager
        self.fn = fn = Fn(
            name or f"action_{system.actions.index(action)}",
            [("context", 0), ("worker", 0), ("source", 0), ("alone", 64)],
            1,
            readonly=("source",),
        )
        self.context, self.worker, self.source, self.alone = fn.args
        self.first = fn.ne(self.alone, const(0)) if eager else FALSE
        self.guard_fault, fn.stopping = fn.label(), fn.label()
        self.frame = Frame(fn, layout, self.source, self.guard_fault)
        self.ends = plan is not None and action.promised != ir.FALSE
        self.plan = plan
        if plan is not None:
            self.label = fn.var(const(0, 32))
            self.labels = address(fn, self.worker, Worker.BATCH_LABELS)
            mode = get(fn, self.worker, Worker.MODE)
            linking = (fn.eq(mode, const(each)) for each in (Mode.EDGES, Mode.LINK))
            self.linking = fn.or_(*linking)
            self.ending = fn.eq(mode, const(Mode.ENDS))
            self.key = fn.alloca(64, plan.words)
        self.work = fn.alloca(64, layout.words)
        self.batch = address(fn, self.worker, Worker.BATCH)
        self.pending = fn.var(get(fn, self.worker, Worker.PENDING))
        self.transitions = fn.var(const(0))
        self.progress, self.faulted = fn.var(FALSE), fn.var(FALSE)
        self.promised, self.moved = fn.var(FALSE), fn.var(FALSE)
        self.leaves, self.stays = fn.var(FALSE), fn.var(FALSE)
        self.left, self.stayed = fn.var(const(0)), fn.var(const(0))
        self.end = fn.label()
        passed = {s.mark // 64 for s in statements(self.block) if isinstance(s, ir.Mark)}
        self.way_marks: dict[int, Var] = {word: fn.var(const(0)) for word in sorted(passed)}
        self.all_marks: dict[int, Var] = {word: fn.var(const(0)) for word in sorted(passed)}

    def emit(self) -> Fn:
        fn, done = self.fn, self.end
        self._params(0, done)
        fn.place(done)
        self._epilogue()
        fn.ret(self.moved.get() if self.eager else FALSE)
        fn.place_fresh(self.guard_fault)
        self.faulted.set(TRUE)
        self.progress.set(TRUE)
        fn.jump(done)
        assert fn.stopping is not None
        fn.place_fresh(fn.stopping)
        put(fn, self.worker, Worker.STOPPED, const(1))
        fn.ret(FALSE)
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
        for number, one in self._numbered():
            with fn.if_(number):
                fn.leave_if(fn.not_(self._satisfies(one.when)), following)
        if self.ends:
            self._promise()
            if self.plan is not None:
                self._constrain(self.plan)
            self.leaves.set(FALSE)
            self.stays.set(FALSE)
        ways = Ways(
            frame, self.work, self.way_marks, self._commit, self._note_fault, self._overflow
        )
        ways.run(self.block)
        if self.ends and self.plan is not None:
            self._keep(self.plan)
        if self.eager:
            fn.leave_if(fn.and_(self.first, self.moved.get()), self.end)

    def _numbered(self) -> list[tuple[Val, AmpleAction]]:
        """Returns each case in which the action is taken alone, and whether it is asked for."""
        fn = self.fn
        return [(fn.eq(self.alone, const(number)), one) for number, one in enumerate(self.eager, 1)]

    def _satisfies(self, when: Expr) -> Val:
        """Whether the instance satisfies ``when``; an error there is no runtime error of the
        system.
        """
        fn, fault, known = self.fn, self.fn.label(), self.fn.label()
        chosen = fn.var(FALSE)
        with self.frame.faulting(fault):
            chosen.set(lower(self.frame, when))
        fn.jump(known)
        fn.place_fresh(fault)
        fn.place(known)
        return chosen.get()

    def _promise(self) -> None:
        fn, fault, known = self.fn, self.fn.label(), self.fn.label()
        self.promised.set(FALSE)
        with self.frame.faulting(fault):
            self.promised.set(lower(self.frame, self.action.promised))
        fn.jump(known)
        fn.place_fresh(fault)
        self.progress.set(TRUE)
        fn.place(known)

    def _constrain(self, plan: ConstraintLayout) -> None:
        """Computes the number of the instance's constraint, where it is requested."""
        fn, fault, known = self.fn, self.fn.label(), self.fn.label()
        self.label.set(const(0, 32))
        with fn.if_(fn.and_(fn.or_(self.linking, self.ending), self.promised.get())):
            with self.frame.faulting(fault):
                plan.store(self.frame, self.action, self.key)
            with fn.if_(self.linking):
                self.label.set(fn.call("intern", [self.worker, self.key], 32))
            fn.jump(known)
            fn.place_fresh(fault)
            self.progress.set(TRUE)
            fn.place(known)

    def _keep(self, plan: ConstraintLayout) -> None:
        """Notes, at the end of an instance, whether it takes its fairness constraint where the
        state stays as it is.
        """
        fn, worker = self.fn, self.worker
        stays = fn.and_(self.promised.get(), self.stays.get())
        leaves = fn.and_(self.promised.get(), self.leaves.get())
        abandoned = fn.and_(leaves, fn.not_(stays))
        with fn.if_(fn.and_(self.linking, stays)):
            self._place([fn.load(fn.at(self.source, i), 64) for i in range(self.layout.words)])
            self._count()
        only = TRUE if plan.alone(self.action) else self.first
        self.progress.set(fn.or_(self.progress.get(), fn.and_(only, abandoned)))
        if plan.alone(self.action):
            return
        abandoned, stays = (fn.and_(each, fn.not_(self.first)) for each in (abandoned, stays))
        bit = const(plan.number(fairness_of(self.action)) % 64)
        self.left.set(fn.or_(self.left.get(), fn.shl(fn.resize(abandoned, 64), bit)))
        self.stayed.set(fn.or_(self.stayed.get(), fn.shl(fn.resize(stays, 64), bit)))
        with fn.if_(fn.and_(self.ending, fn.or_(abandoned, stays))):
            fn.call("owe", [worker, self.key, stays], None)

    def _note_fault(self) -> None:
        self.faulted.set(TRUE)
        self.leaves.set(TRUE)

    def _overflow(self) -> None:
        put(self.fn, self.worker, Worker.TAPE, const(1))

    def _commit(self, dirty: bool) -> None:
        """Adds the state in ``work`` (or, if not ``dirty``, the source itself) as a successor."""
        fn, adding = self.fn, [(asked, one.adds) for asked, one in self._numbered() if one.adds]
        if not adding:
            self._succeed(dirty)
            return
        wanted = fn.var(TRUE)
        for asked, adds in adding:
            with fn.if_(asked):
                keeps = self._keeps(adds) if dirty else FALSE
                wanted.set(fn.and_(keeps, fn.not_(self.moved.get())))
        with fn.if_(wanted.get()):
            self._succeed(dirty)

    def _keeps(self, adds: tuple[str, ...]) -> Val:
        """Whether the state in ``work`` differs from the source only in ``adds``."""
        fn, other = self.fn, const(0)
        for i, mask in enumerate(~mask for mask in self.layout.mask(adds)):
            one, two = (fn.load(fn.at(row, i), 64) for row in (self.work, self.source))
            other = fn.or_(other, fn.and_(fn.xor(one, two), const(mask)))
        return fn.eq(other, const(0))

    def _succeed(self, dirty: bool) -> None:
        fn = self.fn
        self.transitions.set(fn.add(self.transitions.get(), const(1)))
        for number, total in self.all_marks.items():
            total.set(fn.or_(total.get(), self.way_marks[number].get()))
        if not dirty:
            self.stays.set(TRUE)
            return
        row = [fn.load(fn.at(self.work, i), 64) for i in range(self.layout.words)]
        if normalize_successor.stands_for_others(self.reductions):
            place = self._place(row)
            differs = fn.call("arrive", [self.worker, self.source, place], 1)
            fn.if_else(differs, self._move, self._stay)
            return
        other = const(0)
        for i, word in enumerate(row):
            other = fn.or_(other, fn.xor(word, fn.load(fn.at(self.source, i), 64)))

        def move() -> None:
            self._place(row)
            self._move()

        fn.if_else(fn.ne(other, const(0)), move, self._stay)

    def _move(self) -> None:
        """Counts a step to the state whose row is behind those in the batch."""
        self.moved.set(TRUE)
        self.leaves.set(TRUE)
        self._count()

    def _stay(self) -> None:
        """Notes that the step leaves the state as it is."""
        self.stays.set(TRUE)

    def _place(self, row: list[Val]) -> Val:
        """Writes a row behind those in the batch; returns its address."""
        fn = self.fn
        place = fn.at(self.batch, fn.mul(self.pending.get(), const(len(row))))
        for i, word in enumerate(row):
            fn.store(word, fn.at(place, i))
        return place

    def _count(self) -> None:
        """Adds the row behind those in the batch to the batch."""
        fn, count = self.fn, self.pending.get()
        if self.plan is not None:
            fn.store(self.label.get(), fn.at(self.labels, count, 32))
        self.pending.set(fn.add(count, const(1)))
        with fn.if_(fn.eq(count, const(fields.BATCH - 1))):
            put(fn, self.worker, Worker.PENDING, const(fields.BATCH))
            fn.call("flush", [self.context, self.worker], None)
            self.pending.set(get(fn, self.worker, Worker.PENDING))
            assert fn.stopping is not None
            full = fn.ne(get(fn, self.worker, Worker.OVERFLOW), const(0))
            fn.leave_if(fn.or_(full, fn.is_stopped()), fn.stopping)

    def _epilogue(self) -> None:
        fn, worker = self.fn, self.worker
        put(fn, worker, Worker.PENDING, self.pending.get())
        total = fn.add(get(fn, worker, Worker.TRANSITIONS), self.transitions.get())
        put(fn, worker, Worker.TRANSITIONS, total)
        for which, flag in (
            (Worker.PROGRESS, self.progress),
            (Worker.FAULTED, self.faulted),
            (Worker.LEFT, self.left),
            (Worker.STAYED, self.stayed),
        ):
            put(fn, worker, which, fn.or_(get(fn, worker, which), fn.resize(flag.get(), 64)))
        for i, mark in self.all_marks.items():
            word = int(Worker.MARKS) + i
            put(fn, worker, word, fn.or_(get(fn, worker, word), mark.get()))


class StartCode(ActionCode):
    """Emits ``start``, which is like the function of an action: in the state at ``source``, which
    has all initial values, it puts the initial states into the batch.
    """

    def __init__(
        self,
        system: TransitionSystem,
        layout: Layout,
        plan: ConstraintLayout | None,
        reductions: Reductions,
    ) -> None:
        begin = Action("start", ActionKind.WORLD, (), ir.TRUE, system.init, promised=ir.FALSE)
        super().__init__(system, layout, begin, plan, reductions, name="start")

    def _commit(self, dirty: bool) -> None:
        """Adds the state in ``work`` (or, if not ``dirty``, the source itself) as an initial
        one.
        """
        fn, whose = self.fn, self.work if dirty else self.source
        for number, total in self.all_marks.items():
            total.set(fn.or_(total.get(), self.way_marks[number].get()))
        place = self._place([fn.load(fn.at(whose, i), 64) for i in range(self.layout.words)])
        fn.call("normal", [self.worker, place], None)
        self._count()


def question(layout: Layout, name: str, expr: Expr) -> Fn:
    """Emits the function that evaluates a closed Boolean expression in a state."""
    fn = Fn(name, [("source", 0)], 64, readonly=("source",))
    fault, fn.stopping = fn.label(), fn.label()
    frame = Frame(fn, layout, fn.args[0], fault)
    fn.ret(fn.resize(lower(frame, expr), 64))
    fn.place_fresh(fault)
    fn.ret(const(2))
    fn.place_fresh(fn.stopping)
    fn.ret(const(GIVEN_UP))
    return fn
