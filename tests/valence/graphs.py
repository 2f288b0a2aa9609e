"""Random small state graphs as transition systems, and their valence by brute force."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from checker.engines.options import Options
from checker.engines.valence import ValenceProblem
from checker.model import ir
from checker.model.build import integer
from checker.model.ir import TRUE, Action, ActionKind, Apply, Const, Local, Op, Param, Read
from checker.model.types import BOOL, AtomT, IntT, MapT, Value

PROCESSES = ("p1", "p2")


@dataclass(frozen=True)
class Drawn:
    """A graph: ``steps`` has the process (from 0; -1: none) and the two states of each step, and
    ``fair`` the processes that are subject to fairness; ``decided``: the values of each state."""

    states: int
    steps: frozenset[tuple[int, int, int]]
    decided: tuple[frozenset[int], ...]
    fair: frozenset[int] = field(default_factory=frozenset)

    def after(self, state: int, without: int | None = None) -> set[int]:
        """The states that a step leads to, but for the steps of one process."""
        return {b for who, a, b in self.steps if a == state and who != without}

    def reach(self, state: int, without: int | None = None) -> set[int]:
        """The states that can be reached, itself included."""
        found, todo = {state}, [state]
        while todo:
            for other in self.after(todo.pop(), without) - found:
                found.add(other)
                todo.append(other)
        return found

    def open(self, state: int, without: int | None = None) -> set[int]:
        """The values that can be decided from a state, by the definition."""
        return {value for other in self.reach(state, without) for value in self.decided[other]}


def drawn(seed: int) -> Drawn:
    """A graph: mostly forward steps, some back, few states that decide."""
    chance = random.Random(seed)
    states = chance.randint(2, 14)
    steps = set()
    for _ in range(chance.randint(states, 3 * states)):
        a = chance.randrange(states)
        b = min(a + chance.randint(1, 4), states - 1) if chance.random() < 0.8 else 0
        steps.add((chance.choice((-1, 0, 1)), a, b))
    decided = [frozenset[int]() for _ in range(states)]
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(states)
        decided[at] |= {chance.randrange(3)}
    fair = frozenset(who for who in (0, 1) if chance.random() < 0.7)
    return Drawn(states, frozenset(steps), tuple(decided), fair)


def problem_of(graph: Drawn, engine: str) -> ValenceProblem:
    """The graph as a system that starts in state 0, with three values."""
    proc, at = AtomT("Proc", PROCESSES), IntT(0, graph.states - 1)
    here = Read(at, "at")

    def table(who: int) -> Const:
        rows: tuple[Value, ...] = tuple(
            tuple((who, a, b) in graph.steps for b in range(graph.states))
            for a in range(graph.states)
        )
        return Const(MapT(at, MapT(at, BOOL)), rows)

    def leads(who: int) -> ir.Expr:
        return ir.Index(BOOL, ir.Index(MapT(at, BOOL), table(who), here), Local(at, "to"))

    def action(who: int) -> Action:
        body = (ir.Assign(ir.Target(at, "at", True), Local(at, "to")),)
        params = (Param("to", ir.Universe(at), leads(who)),)
        promised = TRUE if who in graph.fair else ir.FALSE
        actor = None if who < 0 else Const(proc, who)
        fairness = ir.Fairness("step", (Const(proc, max(who, 0)),))
        kind = ActionKind.WORLD if who < 0 else ActionKind.STEP
        return Action(
            f"step {who}", kind, params, TRUE, body, promised, None, fairness, actor=actor
        )

    def decides(value: int) -> ir.Expr:
        places = (i for i in range(graph.states) if value in graph.decided[i])
        same = tuple(Apply(BOOL, Op.EQ, (here, integer(i))) for i in places)
        return Apply(BOOL, Op.OR, same) if same else ir.FALSE

    system = ir.TransitionSystem(
        name="drawn",
        processes=PROCESSES,
        variables=(ir.Variable("at", at, 0, ir.VariableKind.SHARED, "at"),),
        init=(),
        actions=tuple(action(who) for who in (-1, 0, 1)),
        monitor=(),
        properties=(),
        marks=(),
    )
    return ValenceProblem(system, Options(engine=engine), tuple(map(decides, range(3))))
