"""Random systems with faults and messages, and what a run of them has to take at least."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from checker.model import build, interpreter, ir
from checker.model.build import equal, integer
from checker.model.interpreter import Event, State
from checker.model.ir import FALSE, TRUE, MarkInfo, MarkKind, TransitionSystem
from checker.model.types import IntT, SetT, Type, Value
from checker.records import replace
from tests.agreement.expressions import PART
from tests.agreement.textbook import Model, Rule, system_of

Values = tuple[Value, ...]
PARTS = SetT(PART)
INFOS = (
    MarkInfo(MarkKind.CRASH, "crash", ("process",), (PART,)),
    MarkInfo(MarkKind.LOSE, "lose", ("from", "to", "message"), (PART, PART, PART)),
    MarkInfo(MarkKind.SEND, "send", ("from", "to", "message"), (PART, PARTS, PART)),
    MarkInfo(MarkKind.RECEIVE, "receive", ("to", "from", "message"), (PART, PART, PART)),
    MarkInfo(MarkKind.FORGE, "forge", ("from", "to", "message"), (PART, PART, PART)),
    MarkInfo(MarkKind.FORGE, "forge", ("from", "to", "message", "as"), (PART, PART, PART, PART)),
)


def random_system(seed: int) -> TransitionSystem:
    """A random graph from whose first states to the last one there are several ways, along which
    now and then a message is lost, sent, received or made up, or a process crashes."""
    draw = random.Random(seed)
    size = draw.randint(5, 12)
    numbers = IntT(0, size - 1)
    now, target = ir.Read(numbers, "v"), ir.Target(numbers, "v", True)

    def happens(often: float) -> ir.Block:
        result: list[ir.Stmt] = []
        while draw.random() < often:
            number = draw.randrange(len(INFOS))
            mark: ir.Stmt = ir.Mark(number, tuple(_argument(draw, t) for t in INFOS[number].types))
            if draw.random() < 0.3:
                twice = ir.Members(ir.Const(PARTS, frozenset({1, 2})), PART)
                mark = ir.For(f"i{len(result)}", twice, (mark,))
            elif draw.random() < 0.3:
                mark = ir.If(equal(now, integer(draw.randrange(size))), (), (mark,))
            result.append(mark)
        return tuple(result)

    actions = []
    for number in range(draw.randint(2 * size, 3 * size)):
        source = draw.randrange(size - 1)
        to = min(source + draw.randint(-2, 3), size - 1) if draw.random() < 0.9 else size - 1
        body = (*happens(0.5), ir.Assign(target, integer(max(to, 0))))
        guard = equal(now, integer(source))
        kind = ir.ActionKind.STEP
        actions.append(ir.Action(f"a{number}", kind, (), guard, body, draw.choice((TRUE, FALSE))))
    start = ir.Local(numbers, "x")
    where = build.at_most(start, integer(1))
    init = (ir.Choose("x", ir.Universe(numbers), where), *happens(0.3), ir.Assign(target, start))
    bad = equal(now, integer(size - 1))
    prop = ir.Property("p0", ir.PropertyKind.INVARIANT, bad, TRUE, "")
    variable = ir.Variable("v", numbers, 0, ir.VariableKind.SHARED)
    return TransitionSystem("g", (), (variable,), init, tuple(actions), (), (prop,), INFOS)


def _argument(draw: random.Random, type_: Type) -> ir.Expr:
    if type_ == PARTS:
        return ir.Const(PARTS, draw.choice((frozenset(), frozenset({1}), frozenset({1, 2}))))
    return ir.Const(PART, draw.choice((1, 2)))


Weight = tuple[int, int, int]
"""Faults, messages, steps."""


def weight(system: TransitionSystem, events: tuple[Event, ...]) -> tuple[int, int]:
    """Faults and messages among ``events``, counted by the book."""
    found = [(system.marks[event.mark].kind, event.args) for event in events]
    faults = sum(kind in (MarkKind.CRASH, MarkKind.LOSE) for kind, _ in found)
    sent = sum(kind is MarkKind.SEND and bool(args[1]) for kind, args in found)
    return faults, sent + sum(kind is MarkKind.FORGE for kind, _ in found)


def least(system: TransitionSystem, bad: ir.Expr) -> Weight | None:
    """What a run to a state in which ``bad`` holds takes at least, faults first (Dijkstra)."""
    number = count()
    queue: list[tuple[Weight, int, State]] = []
    for state, events in interpreter.initial_events(system):
        heapq.heappush(queue, ((*weight(system, events), 0), next(number), state))
    done: set[State] = set()
    while queue:
        cost, _, state = heapq.heappop(queue)
        if state in done:
            continue
        done.add(state)
        if interpreter.holds(system, bad, state):
            return cost
        for step in interpreter.successors(system, state):
            assert step.successor is not None
            more = weight(system, step.events)
            further = (cost[0] + more[0], cost[1] + more[1], cost[2] + 1)
            heapq.heappush(queue, (further, next(number), step.successor))
    return None


Happening = tuple[str, Values]
"""A fault by its kind, or the reception of a message, with its arguments."""


def happenings(system: TransitionSystem, events: tuple[Event, ...]) -> Iterator[Happening]:
    """The faults and receptions among ``events``, by the book."""
    for event in events:
        kind, args = system.marks[event.mark].kind, event.args
        if kind in (MarkKind.CRASH, MarkKind.LOSE):
            yield kind.value, args
        elif kind is MarkKind.RECEIVE:
            yield "got", args
        elif kind is MarkKind.FORGE:
            yield "got", (args[1], args[3] if len(args) > 3 else args[0], args[2])


def shortest_within(
    system: TransitionSystem, bad: ir.Expr, faults: Counter[Happening], never: Happening | None
) -> int | None:
    """Steps to a state in which ``bad`` holds with no other ``faults``, and ``never`` that."""

    def left(before: Counter[Happening], events: tuple[Event, ...]) -> Counter[Happening] | None:
        after = before.copy()
        for happening in happenings(system, events):
            if happening == never:
                return None
            if happening[0] != "got":
                after[happening] -= 1
                if after[happening] < 0:
                    return None
        return after

    level: list[tuple[State, Counter[Happening]]] = []
    for state, events in interpreter.initial_events(system):
        now = left(faults, events)
        if now is not None:
            level.append((state, now))
    seen: set[tuple[State, frozenset[tuple[Happening, int]]]] = set()
    steps = 0
    while level:
        behind = []
        for state, now in level:
            if interpreter.holds(system, bad, state):
                return steps
            for step in interpreter.successors(system, state):
                then = left(now, step.events)
                if step.successor is not None and then is not None:
                    known = step.successor, frozenset(then.items())
                    if known not in seen:
                        seen.add(known)
                        behind.append((step.successor, then))
        level, steps = behind, steps + 1
    return None


# ---- graphs in which some steps are faults ----------------------------------------------------


@dataclass(frozen=True)
class Restricted(Model):
    """``beyond``: steps that are there, and owed, but lead to no run that is admitted."""

    beyond: tuple[Rule, ...] = ()

    def enabled(self, state: int) -> set[tuple[str, int]]:
        more = {r.constraint for r in self.beyond if r.source == state}
        return super().enabled(state) | {c for c in more if c is not None}


def at_most(model: Model, faulty: frozenset[int], most: int) -> Restricted:
    """``model`` with a count of the steps by rules that are ``faulty``; ``most`` may be taken."""
    rules: list[Rule] = []
    beyond: list[Rule] = []
    for used in range(most + 1):
        here = used * model.states
        for number, rule in enumerate(model.rules):
            source, target = here + rule.source, here + rule.target
            if number not in faulty or rule.source == rule.target:
                rules.append(Rule(source, target, rule.constraint))
            elif used < most:
                rules.append(Rule(source, target + model.states, rule.constraint))
            else:
                beyond.append(Rule(source, -1, rule.constraint))

    def always(states: frozenset[int]) -> frozenset[int]:
        return frozenset(s + u * model.states for s in states for u in range(most + 1))

    return Restricted(
        model.states * (most + 1),
        model.initial,
        tuple(rules),
        tuple(always(just) for just in model.justice),
        tuple(tuple(always(true) for true in truths) for truths in model.truths),
        model.formula,
        tuple(beyond),
    )


def faulty_system(model: Model, faulty: frozenset[int]) -> TransitionSystem:
    """The system of ``model`` in which the steps by the rules ``faulty`` are crashes."""
    made = system_of(model)
    actions = tuple(
        replace(action, body=(*action.body, ir.Mark(0))) if number in faulty else action
        for number, action in enumerate(made.actions)
    )
    return replace(made, actions=actions, marks=(MarkInfo(MarkKind.CRASH, "crash"),))


def numbers(seed: int, size: int) -> Iterator[int]:
    """Some numbers below ``size``."""
    draw = random.Random(seed)
    return (number for number in range(size) if draw.random() < 0.4)
