"""Random walks as native code: the loop over walks and their steps, and the draws.

The draws are defined in :mod:`checker.simulate.draws`, for any engine: they depend on the seed, the
number of the walk, the number of the step, the actions and the words of states, and on no order in
which successors are found.  Of an action's successors the one is kept whose hash with the step is
the smallest; so no list of them is needed.

``Control`` is the record of the walks that a worker makes.  The states of the current walk are rows
at ``PATH``, so that the interpreter can replay it.
"""

from __future__ import annotations

from enum import IntEnum

from checker.engines.native.codegen.emit import FALSE, Fn, Label, Val, Var, const
from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.record_access import address, field, get, put
from checker.engines.native.codegen.search_loop import SearchLoop
from checker.engines.native.codegen.visited_set import INSIDE, OUTSIDE
from checker.model.fault_actions import is_fault
from checker.model.ir import Action


class Control(IntEnum):
    """Words of the record of a worker's walks; the first ones are set by Python."""

    SEED = 0
    WALK = 1  # the number of the current walk
    LAST = 2  # the first number that is not walked
    STEPS = 3  # steps of a walk at most
    STEP = 4  # steps of the current walk so far; FRESH: it has not begun
    PATH = 5  # address of STEPS + 1 rows
    STARTS = 6  # address of the rows in which walks may start
    START_COUNT = 7
    INSPECTED = 8  # a walk is to be looked at where its number has no bit of this
    TAKEN = 9  # address of a word for each action: how often it was taken
    WEIGHTS = 10  # address of a word for each action: its weight in the current walk
    PLACE = 11  # address of three rows: the action's candidate, the drawn fault, the other step
    KEY = 12  # of the current walk
    RATE = 13  # of faults, in 65,536
    STEP_KEY = 14
    LEAST = 15  # the smallest hash among the action's successors
    SOME = 16  # whether the action has a successor
    PLACES = 17  # address of a word for each place where the walk might stay: the steps before it
    PLACE_COUNT = 18
    WALKS = 19  # walks that are over
    TOTAL = 20  # steps of all walks
    LONGEST = 21  # steps of the longest walk
    LAST_STEP = 22  # the steps of the walk that is to be looked at
    ENDS = 23  # how often walks might have stayed
    SIZE = 24


CONTROL = Worker.TARGET
"""The word of a worker's record with the address of its ``Control``."""
FRESH = (1 << 64) - 1


class Pause(IntEnum):
    """Why the code returns."""

    DONE = 0  # all walks are made
    STOPPED = 1  # it was stopped; the walk is continued where it is when it is called again
    FOUND = 2  # something is violated, or has an error, in the last state of the walk
    OVER = 3  # the walk is over, and to be looked at


RATES = (0, 3277, 13107, 32768)
"""How often a fault is drawn where one is enabled, in 65,536: 0, 0.05, 0.2 and 0.5."""
RATE, START, WEIGHT, STEP, FAULT = 1, 2, 1 << 8, 1 << 32, 1 << 32
"""What tells the draws of a key apart; ``WEIGHT`` and ``STEP`` are counted from there."""
HEAVIEST = 3
"""The weight of an action is 4 to the power of 0 up to this."""


class WalkLoop(SearchLoop):
    """Emits the code of random walks, beside that of a search."""

    def functions(self) -> list[Fn]:
        return [*super().functions(), self.joined(), self.consider(), self.fresh(), self.walk()]

    def flush_first(self, fn: Fn) -> None:
        """Draws among the batch where walks are made."""
        worker = fn.args[1]
        with fn.if_(fn.eq(get(fn, worker, Worker.MODE), const(Mode.WALK))):
            fn.call("consider", [worker, get(fn, worker, Worker.PENDING)], None)
            put(fn, worker, Worker.PENDING, const(0))
            fn.ret()

    def joined(self) -> Fn:
        """``joined(key, what)``: 64 well mixed bits."""
        fn = Fn("joined", [("key", 64), ("what", 64)], 64, INSIDE)
        key, what = fn.args
        fn.ret(self.seen.joined(fn, key, what))
        return fn

    def consider(self) -> Fn:
        """``consider(worker, count)``: keeps the successor with the smallest hash."""
        fn = Fn("consider", [("worker", 0), ("count", 64)], None, OUTSIDE)
        worker, count = fn.args
        control = address(fn, worker, CONTROL)
        key, place = get(fn, control, Control.STEP_KEY), address(fn, control, Control.PLACE)
        batch = address(fn, worker, Worker.BATCH)
        least = fn.var(get(fn, control, Control.LEAST))
        with fn.count(count) as i:
            row = self.seen.row(fn, batch, i)
            mark = fn.call("fingerprint", [row], 64)
            rank, following = fn.call("joined", [key, mark], 64), fn.label()
            some = fn.ne(get(fn, control, Control.SOME), const(0))
            fn.leave_if(fn.and_(some, fn.le(least.get(), rank)), following)
            least.set(rank)
            put(fn, control, Control.SOME, const(1))
            self.seen.copy(fn, row, place)
            fn.place(following)
        put(fn, control, Control.LEAST, least.get())
        fn.ret()
        return fn

    def fresh(self) -> Fn:
        """``fresh(control)``: begins the current walk: its key, rate, weights and start."""
        fn = Fn("fresh", [("control", 0)], None, OUTSIDE)
        control = fn.args[0]
        seed, number = (get(fn, control, w) for w in (Control.SEED, Control.WALK))
        key = fn.call("joined", [seed, number], 64)
        put(fn, control, Control.KEY, key)
        rates = const(len(RATES))
        drawn = fn.urem(fn.call("joined", [key, const(RATE)], 64), rates)
        rate = const(RATES[0])
        for i, value in enumerate(RATES[1:], 1):
            rate = fn.select(fn.eq(drawn, const(i)), const(value), rate)
        put(fn, control, Control.RATE, rate)
        weights = address(fn, control, Control.WEIGHTS)
        with fn.count(const(len(self.system.actions))) as k:
            hashed = fn.call("joined", [key, fn.add(const(WEIGHT), k)], 64)
            power = fn.shl(fn.and_(hashed, const(HEAVIEST)), const(1))
            fn.store(fn.shl(const(1), power), fn.at(weights, k))
        starts = address(fn, control, Control.STARTS)
        count = get(fn, control, Control.START_COUNT)
        which = fn.urem(fn.call("joined", [key, const(START)], 64), count)
        first = self.seen.row(fn, starts, which)
        self.seen.copy(fn, first, address(fn, control, Control.PATH))
        put(fn, control, Control.STEP, const(0))
        put(fn, control, Control.PLACE_COUNT, const(0))
        fn.ret()
        return fn

    # -- the loop -------------------------------------------------------------------------------

    def walk(self) -> Fn:
        """``walk(context, worker)``: makes walks; returns a ``Pause``."""
        fn = Fn("walk", [("context", 0), ("worker", 0)], 64)
        context, worker = fn.args
        control = address(fn, worker, CONTROL)
        with fn.forever():
            with fn.if_(fn.eq(get(fn, control, Control.STEP), const(FRESH))):
                number = get(fn, control, Control.WALK)
                with fn.if_(fn.le(get(fn, control, Control.LAST), number)):
                    fn.ret(const(Pause.DONE))
                fn.call("fresh", [control], None)
            with fn.if_(fn.is_stopped()):
                fn.ret(const(Pause.STOPPED))
            over = fn.label()
            self._step(fn, context, worker, control, over)
            fn.place(over)
            self._finish(fn, control)
        return fn

    def _step(self, fn: Fn, context: Val, worker: Val, control: Val, over: Label) -> None:
        """Makes the steps of a walk until it is ``over``."""
        head = fn.label()
        fn.place(head)
        with fn.if_(fn.is_stopped()):
            fn.ret(const(Pause.STOPPED))
        step = get(fn, control, Control.STEP)
        source = self.seen.row(fn, address(fn, control, Control.PATH), step)
        key = get(fn, control, Control.KEY)
        step_key = fn.call("joined", [key, fn.add(const(STEP), step)], 64)
        put(fn, control, Control.STEP_KEY, step_key)
        totals = {wrong: fn.var(const(0)) for wrong in (True, False)}
        taken = {wrong: fn.var(const(0)) for wrong in (True, False)}
        self._prepare(fn, worker, source)
        for number, action in enumerate(self.system.actions):
            self._consider_action(fn, context, worker, source, number)
            self._draw_action(fn, control, number, action, step_key, totals, taken)
        self._return_if_stopped(fn, worker)
        self._look(fn, context, worker, control, source)
        fn.leave_if(fn.le(get(fn, control, Control.STEPS), step), over)
        drawn = fn.and_(fn.call("joined", [step_key, const(FAULT)], 64), const(0xFFFF))
        some = {wrong: fn.ne(total.get(), const(0)) for wrong, total in totals.items()}
        wrong = fn.and_(some[True], fn.lt(drawn, get(fn, control, Control.RATE)))
        fn.leave_if(fn.not_(fn.or_(wrong, some[False])), over)
        chosen = fn.select(wrong, taken[True].get(), taken[False].get())
        counter = fn.at(address(fn, control, Control.TAKEN), chosen)
        fn.store(fn.add(fn.load(counter, 64), const(1)), counter)
        place = address(fn, control, Control.PLACE)
        row = self.seen.row(fn, place, fn.select(wrong, const(1), const(2)))
        self.seen.copy(fn, row, fn.at(source, self.seen.words))
        put(fn, control, Control.STEP, fn.add(step, const(1)))
        fn.jump(head)

    def _prepare(self, fn: Fn, worker: Val, source: Val) -> None:
        fn.store(source, field(fn, worker, Worker.SOURCE))
        cleared = (Worker.PROGRESS, Worker.FAULTED, Worker.LEFT, Worker.STAYED)
        for which in (*cleared, Worker.STOPPED, Worker.PENDING):
            put(fn, worker, which, const(0))

    def _consider_action(self, fn: Fn, context: Val, worker: Val, source: Val, number: int) -> None:
        """Finds the candidate among the successors of an action."""
        control = address(fn, worker, CONTROL)
        put(fn, control, Control.SOME, const(0))
        fn.call(f"action_{number}", [context, worker, source, const(0)], 1)
        fn.call("consider", [worker, get(fn, worker, Worker.PENDING)], None)
        put(fn, worker, Worker.PENDING, const(0))

    def _draw_action(
        self,
        fn: Fn,
        control: Val,
        number: int,
        action: Action,
        step_key: Val,
        totals: dict[bool, Var],
        taken: dict[bool, Var],
    ) -> None:
        """Draws the action, with its weight, instead of one before it of the same kind."""
        wrong = is_fault(action)
        with fn.if_(fn.ne(get(fn, control, Control.SOME), const(0))):
            weight = fn.load(fn.at(address(fn, control, Control.WEIGHTS), number), 64)
            total = fn.add(totals[wrong].get(), weight)
            totals[wrong].set(total)
            drawn = fn.urem(fn.call("joined", [step_key, const(number)], 64), total)
            with fn.if_(fn.lt(drawn, weight)):
                taken[wrong].set(const(number))
                place = address(fn, control, Control.PLACE)
                into = self.seen.row(fn, place, const(1 if wrong else 2))
                self.seen.copy(fn, place, into)

    def _return_if_stopped(self, fn: Fn, worker: Val) -> None:
        """Returns where the work on the state was abandoned: it is done again."""
        given_up = fn.ne(get(fn, worker, Worker.STOPPED), const(0))
        with fn.if_(fn.or_(given_up, fn.is_stopped())):
            fn.ret(const(Pause.STOPPED))

    def _look(self, fn: Fn, context: Val, worker: Val, control: Val, source: Val) -> None:
        """Judges the last state of the walk; returns where something is found."""
        ended = FALSE
        if self.live:
            ended = self._just(fn, worker, source, self._quiet(fn, context, worker, source))
            self._return_if_stopped(fn, worker)
        fn.call("judge", [context, worker, source, ended], None)
        self._return_if_stopped(fn, worker)
        found = fn.or_(get(fn, worker, Worker.FAULTED), get(fn, worker, Worker.TAPE))
        for which in range(len(self.system.properties)):
            found = fn.or_(found, get(fn, worker, self.shape.best(which)))
        found = fn.or_(found, get(fn, worker, self.shape.unevaluable))
        with fn.if_(fn.ne(found, const(0))):
            fn.ret(const(Pause.FOUND))
        with fn.if_(ended):
            known = get(fn, control, Control.PLACE_COUNT)
            place = fn.at(address(fn, control, Control.PLACES), known)
            fn.store(get(fn, control, Control.STEP), place)
            put(fn, control, Control.PLACE_COUNT, fn.add(known, const(1)))
            put(fn, control, Control.ENDS, fn.add(get(fn, control, Control.ENDS), const(1)))

    def _finish(self, fn: Fn, control: Val) -> None:
        """Counts a walk that is over; returns where it is to be looked at."""
        steps, number = get(fn, control, Control.STEP), get(fn, control, Control.WALK)
        put(fn, control, Control.WALKS, fn.add(get(fn, control, Control.WALKS), const(1)))
        put(fn, control, Control.TOTAL, fn.add(get(fn, control, Control.TOTAL), steps))
        longest = get(fn, control, Control.LONGEST)
        longer = fn.select(fn.lt(longest, steps), steps, longest)
        put(fn, control, Control.LONGEST, longer)
        put(fn, control, Control.STEP, const(FRESH))
        put(fn, control, Control.WALK, fn.add(number, const(1)))
        shown = fn.eq(fn.and_(number, get(fn, control, Control.INSPECTED)), const(0))
        with fn.if_(shown):
            put(fn, control, Control.LAST_STEP, steps)
            fn.ret(const(Pause.OVER))
