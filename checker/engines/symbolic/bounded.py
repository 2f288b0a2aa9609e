"""Bounded model checking: is there an execution of so many steps to a state that violates a
property?

Biere, Cimatti, Clarke and Zhu (TACAS 1999).  Executions are searched by length, the shortest first,
so the first one that is found is a shortest one, as breadth-first search would find it.
"""

from __future__ import annotations

import z3
from msgspec import Struct, field

from checker.diagnostics.english import count
from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.engines.symbolic.engine import NAME
from checker.engines.symbolic.interruptible import interruptible
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask, plain_solver
from checker.model.evaluate import RunFault
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.results.answer import Answer, Limits, Listener, Path, Progress, stop_reason
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import rerun

DEPTH = 10
"""The default depth in steps."""

QUERY_SECONDS = 60.0
"""The default time limit of one query in seconds."""

FIRST = 15.0
"""Seconds for a query before it is repeated in a fresh solver."""

FOR_LONGER = 1.0
"""Seconds for the query whether there is any longer execution."""

NO_LONGER, NOTHING_LEFT = "no run is longer", "every property is decided"
"""The reasons why the search ends before the depth is reached."""

SAFETY_ONLY = "bounded checking answers safety (what must hold in every state), not liveness"
"""The reason why a ``LIVENESS`` property is not decided."""


def fresh_solver() -> z3.Solver:
    """Returns a solver for one query, which simplifies all its input before it begins."""
    steps = ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "simplify", "bit-blast")
    return z3.Then(*steps, "sat").solver()


class _Search(Struct):
    encoding: Encoding
    depth: int
    listener: Listener | None
    query_seconds: float
    clock: QueryBudget
    solver: z3.Solver = field(default_factory=plain_solver)
    run: list[Symbolic] = field(default_factory=list)
    open_: list[int] = field(default_factory=list)
    violations: dict[str, Path] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    fault: Path | None = None
    complete: int | None = None
    stopped: str | None = None
    model: z3.ModelRef | None = None

    @property
    def system(self) -> TransitionSystem:
        return self.encoding.system

    def tell(self, depth: int, phase: str) -> None:
        if self.listener is not None:
            self.listener(Progress(0, 0, depth, self.clock.seconds_spent, 0, phase))

    def possible(self, question: z3.BoolRef, seconds: float) -> bool:
        """Returns whether an execution of the current length satisfies ``question``.

        The query uses first what the solver has learned so far; where that takes long, it is
        repeated from the beginning with all simplifications.  Leaves the model where there is one;
        raises :class:`GaveUp`.
        """
        left = self.clock.seconds_left
        self.clock.look()
        seconds = seconds if left is None else min(left, seconds)
        solver = self.solver
        try:
            found = ask(solver, QueryBudget(min(seconds, FIRST)), question)
        except GaveUp:
            self.clock.look()
            if seconds <= FIRST:
                raise
            solver = fresh_solver()
            solver.add(self.solver.assertions())
            solver.add(question)
            found = ask(solver, QueryBudget(seconds - FIRST))
        self.model = solver.model() if found else None
        return found

    def path(self, then_fault: bool = False) -> Path:
        model = self.model
        assert model is not None
        states = tuple(self.encoding.value(model, s) for s in self.run)
        return Path(states, then_fault)

    def longer(self) -> bool:
        """Adds a step; returns whether an execution may take it."""
        number = len(self.run)
        state = self.encoding.state(str(number))
        if not number:
            self.solver.add(self.encoding.initial(state))
        else:
            self.solver.add(self.encoding.step(self.run[-1], state, f"step {number}"))
        self.run.append(state)
        try:
            return self.possible(z3.BoolVal(True), FOR_LONGER)
        except GaveUp:
            self.clock.look()
            return True

    def look(self, depth: int) -> None:
        """Answers every query about executions of ``depth`` steps; raises :class:`GaveUp` where no
        further result is possible.
        """
        for index in tuple(self.open_):
            self.about(depth, index)
        self.tell(depth, "run-time errors")
        wrong = self.name_formula(
            self.encoding.faulty(self.run[-1], f"error {depth}"), f"wrong {depth}"
        )
        try:
            if self.possible(wrong, self.query_seconds):
                self.fault = self.path(then_fault=True)
                rerun(self.system, self.fault, None)
                return
        except GaveUp as why:
            raise GaveUp(
                f"whether a run meets an error after {count(depth, 'step')}: {why}"
            ) from None
        self.solver.add(z3.Not(wrong))
        self.complete = depth

    def about(self, depth: int, index: int) -> None:
        prop = self.system.properties[index]
        self.tell(depth, f"whether {prop.asked} fails")
        bad = self.name_formula(self.encoding.bad(self.run[-1], index), f"bad {index} {depth}")
        try:
            if self.possible(bad, self.query_seconds):
                found = self.path()
                _require_run(self.system, found, prop)
                self.violations[prop.name] = found
                self.open_.remove(index)
            else:
                self.solver.add(z3.Not(bad))
        except GaveUp as why:
            reason = f"whether `{prop.asked}` fails after {count(depth, 'step')}: {why}"
            if self.clock.seconds_left == 0.0:
                raise GaveUp(reason) from None
            holds = f"; it holds up to {count(depth - 1, 'step')}" if depth else ""
            self.undecided[prop.name] = reason + holds
            self.open_.remove(index)

    def name_formula(self, formula: z3.BoolRef, name: str) -> z3.BoolRef:
        """Returns a constant that stands for ``formula``, since an assumption has to be one."""
        constant = z3.Bool(name)
        self.solver.add(constant == formula)
        return constant

    def go(self) -> None:
        self.open_ = [
            i for i, p in enumerate(self.system.properties) if p.kind is PropertyKind.INVARIANT
        ]
        asked = bool(self.open_)
        for depth in range(self.depth + 1):
            self.tell(depth, "runs of this length")
            if not self.longer():
                self.stopped = NO_LONGER
                return
            self.look(depth)
            if self.fault is not None:
                return
            if asked and not self.open_:
                self.stopped = NOTHING_LEFT
                return
        self.stopped = f"the depth limit of {self.depth} was reached"


def _require_run(system: TransitionSystem, path: Path, prop: Property) -> None:
    """Raises ``ReplayMismatch`` where the path is no execution, and ``RunFault`` where ``prop``
    can't be evaluated at its end: for formulas that is a violation, too.
    """
    try:
        rerun(system, path, prop)
    except ReplayMismatch as wrong:
        if isinstance(wrong.__cause__, RunFault):
            raise wrong.__cause__ from None
        raise


def explore(
    system: TransitionSystem,
    limits: Limits,
    *,
    depth: int | None = None,
    listener: Listener | None = None,
    query_seconds: float | None = None,
) -> Answer:
    """Checks all executions of up to ``depth`` steps (:data:`DEPTH` where ``None``) and returns the
    answer.

    ``limits.timeout`` is of everything, ``query_seconds`` of each query; ``max_states`` and
    ``memory`` are not observed.  Raises :class:`Unsupported` where the system can't be encoded and
    :class:`RunFault` where no initial state can be computed.
    """
    clock = QueryBudget(limits.timeout)
    searches: list[_Search] = []

    def work() -> None:
        encoding = Encoding(system, reachable=True, look=clock.look)
        steps = DEPTH if depth is None else depth
        seconds = QUERY_SECONDS if query_seconds is None else query_seconds
        searches.append(_Search(encoding, steps, listener, seconds, clock))
        searches[0].go()

    stopped: str | None = None
    try:
        interruptible(work)
    except KeyboardInterrupt as error:
        stopped = stop_reason(error)
    except GaveUp as why:
        stopped = limits.no_more_time if clock.seconds_left == 0.0 else str(why)
    return _answer(system, searches[0] if searches else None, stopped, clock.seconds_spent)


def _answer(
    system: TransitionSystem, search: _Search | None, stopped: str | None, seconds: float
) -> Answer:
    """Returns the results so far; none where the formulas were not complete."""
    liveness = [p.name for p in system.properties if p.kind is PropertyKind.LIVENESS]
    undecided = dict.fromkeys(liveness, SAFETY_ONLY)
    if search is None:
        return Answer(NAME, 0, 0, False, seconds, stopped=stopped, undecided=undecided)
    return Answer(
        engine=NAME,
        distinct_states=0,
        depth=search.complete or 0,
        exhaustive=False,
        seconds=seconds,
        violations=search.violations,
        fault=search.fault,
        stopped=stopped or search.stopped,
        undecided=search.undecided | undecided,
        up_to=search.complete,
    )
