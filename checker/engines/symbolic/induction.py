"""*k*-induction on several facts at once, with bounded model checking for violations.

Sheeran, Singh and Stålmarck, *Checking safety properties using induction and a SAT-solver* (FMCAD
2000); Eén and Sörensson, *Temporal induction by incremental SAT solving* (BMC 2003), the source of
one incremental solver for all ``k``, and of states that are kept distinct only where it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import z3
from msgspec import Struct, field

from checker.diagnostics.english import count
from checker.engines.symbolic.certificate import Fact, Stage, formula
from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask, plain_solver
from checker.model.interpreter import State
from checker.results.answer import INTERRUPTED


class NotExcluded(Struct, frozen=True):
    """A counterexample to induction: ``fact`` holds in all ``states`` but the last one.

    Consecutive states are steps of the system; the first one need not be reachable.
    """

    fact: Fact
    states: tuple[State, ...]


class Induced(Struct):
    """The result of induction.

    ``stages``: what was proved, in order; ``refuted``: a shortest execution to a state in which the
    fact is false; ``open``: what is neither, the last counterexample to its induction, if any;
    ``depth``: no fact that is open is false in fewer than so many steps; ``stopped``: why it went
    no deeper.
    """

    stages: list[Stage] = field(default_factory=list)
    refuted: dict[Fact, tuple[State, ...]] = field(default_factory=dict)
    open: dict[Fact, NotExcluded | None] = field(default_factory=dict)
    depth: int = 0
    stopped: str = ""


class _Chain:
    """Consecutive states in one incremental solver; ``known`` holds in all of them."""

    def __init__(self, encoding: Encoding, known: Iterable[Fact]) -> None:
        self.encoding, self.known = encoding, tuple(known)
        self.solver = plain_solver()
        self.states: list[Symbolic] = []
        self.uses = 0

    @property
    def last(self) -> Symbolic:
        return self.states[-1]

    def of(self, fact: Fact, state: Symbolic) -> z3.BoolRef:
        """Returns ``fact`` of ``state``, with inputs of its own."""
        self.uses += 1
        return formula(self.encoding, fact, state, f"use{self.uses}")

    def extend(self) -> Symbolic:
        number, encoding = len(self.states), self.encoding
        state = encoding.state(f"s{number}")
        self.solver.add(*(self.of(fact, state) for fact in self.known))
        if self.states:
            self.solver.add(encoding.step(self.last, state, f"w{number - 1}"))
        self.states.append(state)
        return state

    def learn(self, facts: Iterable[Fact]) -> None:
        """Asserts ``facts`` in all states, including those to come."""
        new = tuple(facts)
        self.known += new
        for state in self.states:
            self.solver.add(*(self.of(fact, state) for fact in new))

    def values(self) -> tuple[State, ...]:
        model = self.solver.model()
        return tuple(self.encoding.value(model, state) for state in self.states)

    def names(self, facts: Iterable[Fact], state: Symbolic) -> dict[Fact, z3.BoolRef]:
        """Returns a constant for each of ``facts`` that is true when the fact is."""
        names = {fact: z3.FreshConst(z3.BoolSort(), "fact") for fact in facts}
        for fact, name in names.items():
            self.solver.add(name == self.of(fact, state))
        return names


def induct(
    encoding: Encoding,
    known: Iterable[Fact],
    facts: Iterable[Fact],
    deepest: int,
    clock: QueryBudget,
    told: Callable[[int], None] = lambda k: None,
) -> Induced:
    """Proves or refutes ``facts``, with ``k`` from 1 to ``deepest``, relative to ``known``.

    ``told`` is called with each ``k`` before it is tried.
    """
    work = _Work(encoding, known, facts)
    try:
        for k in range(1, deepest + 1):
            if not work.found.open:
                break
            told(k)
            work.deepen(k, clock)
        else:
            work.found.stopped = f"induction over {count(deepest, 'step')} does not prove it"
    except GaveUp as why:
        work.found.stopped = f"induction over {count(work.found.depth + 1, 'step')} ({why})"
    except KeyboardInterrupt:
        work.found.stopped = INTERRUPTED
    return work.found


class _Work:
    def __init__(self, encoding: Encoding, known: Iterable[Fact], facts: Iterable[Fact]) -> None:
        self.encoding = encoding
        self.found = Induced(open=dict.fromkeys(facts))
        known = tuple(known)
        self.base, self.chain = _Chain(encoding, known), _Chain(encoding, known)
        self.chain.extend()
        self.holds = {fact: z3.FreshConst(z3.BoolSort(), "holds") for fact in self.found.open}
        self.apart: list[tuple[int, int]] = []

    def deepen(self, k: int, clock: QueryBudget) -> None:
        """Refutes facts that are false after ``k - 1`` steps; proves ``k``-inductive ones."""
        found = self.found
        self._refute(clock)
        found.depth = k
        if not found.open:
            return
        for fact in found.open:
            here = self.chain.of(fact, self.chain.last)
            self.chain.solver.add(z3.Implies(self.holds[fact], here))
        self.chain.extend()
        proved = self._inductive(clock)
        if proved:
            found.stages.append(Stage(tuple(proved), k, bool(self.apart), "k-induction"))
            for fact in proved:
                del found.open[fact]
            self.chain.learn(proved)
            self.base.learn(proved)

    def _refute(self, clock: QueryBudget) -> None:
        """Removes facts that are false in the last state of an execution with one more step."""
        base, found = self.base, self.found
        base.extend()
        if len(base.states) == 1:
            base.solver.add(self.encoding.initial(base.last))
        names = base.names(found.open, base.last)
        while names and ask(base.solver, clock, self._some_false(base, names)):
            model, run = base.solver.model(), base.values()
            for fact in [f for f, name in names.items() if _false(model, name)]:
                found.refuted[fact] = run
                del names[fact], found.open[fact]

    def _inductive(self, clock: QueryBudget) -> list[Fact]:
        """Returns the largest subset of the open facts that is inductive over the chain."""
        chain, found = self.chain, self.found
        names = chain.names(found.open, chain.last)
        while names:
            wanted = [self.holds[fact] for fact in names]
            if not ask(chain.solver, clock, *wanted, self._some_false(chain, names)):
                return list(names)
            model, run = chain.solver.model(), chain.values()
            if self._keep_apart(run):
                continue
            for fact in [f for f, name in names.items() if _false(model, name)]:
                found.open[fact] = NotExcluded(fact, run)
                del names[fact]
        return []

    def _keep_apart(self, run: tuple[State, ...]) -> bool:
        """Returns whether states of ``run`` are the same, and keeps them distinct from now on."""
        for i, state in enumerate(run):
            for j in range(i + 1, len(run)):
                if state == run[j]:
                    self.apart.append((i, j))
                    same = self.encoding.equal(self.chain.states[i], self.chain.states[j])
                    self.chain.solver.add(z3.Not(same))
                    return True
        return False

    def _some_false(self, chain: _Chain, names: dict[Fact, z3.BoolRef]) -> z3.BoolRef:
        asked = z3.FreshConst(z3.BoolSort(), "some_false")
        chain.solver.add(z3.Implies(asked, z3.Or(*(z3.Not(name) for name in names.values()))))
        return asked


def _false(model: z3.ModelRef, name: z3.BoolRef) -> bool:
    return bool(z3.is_false(model.eval(name, model_completion=True)))
