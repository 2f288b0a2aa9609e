"""The relation between states and their states of rest, checked with the interpreter: a
bisimulation up to steps that nobody notices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.interpreter import Constraint, State
from checker.model.ir import Block, TransitionSystem

Rest = Callable[[State], State]
Noticed = tuple[dict[State, set[Constraint | None]], set[Constraint], set[Constraint]]


def resting(system: TransitionSystem, block: Block) -> Rest:
    """What ``block`` makes of a state."""
    names = [v.name for v in system.variables]
    action = ir.Action("rest", ir.ActionKind.WORLD, (), ir.TRUE, block, ir.FALSE)
    alone = ir.TransitionSystem("rest", (), system.variables, (), (action,), (), (), system.marks)

    @cache
    def rest(state: State) -> State:
        (way,) = interpreter.action_transitions(alone, action, state)
        assert way.fault is None and way.successor is not None and not way.events
        assert len(way.successor) == len(names)
        return way.successor

    return rest


def noticed(system: TransitionSystem, state: State, rest: Rest) -> Noticed:
    """The steps of ``state`` to other states of rest, each with what it takes; what is owed by
    such steps; and what is taken by those to the same state of rest."""
    here = rest(state)
    steps: dict[State, set[Constraint | None]] = {}
    enabled: set[Constraint] = set()
    kept: set[Constraint] = set()
    for action in system.actions:
        owed: dict[tuple[object, ...], Constraint | None] = {}
        for scope in interpreter.instances(system, action, state):
            values = tuple(scope.names[p.name] for p in action.params)
            owed[values] = interpreter.constraint(action, scope)
        for step in interpreter.action_transitions(system, action, state):
            there = None if step.successor is None else rest(step.successor)
            constraint = owed.get(step.params)
            if there == here:
                kept |= set() if constraint is None else {constraint}
                continue
            if constraint is not None:
                enabled.add(constraint)
            if there is not None:
                steps.setdefault(there, set()).add(constraint)
    return steps, enabled, kept


def has_queues(system: TransitionSystem) -> bool:
    """Whether only safety is asked, and some messages are received in order: those of no effect
    are then received before others, and constraints are not compared.
    """
    live = any(p.kind is ir.PropertyKind.LIVENESS for p in system.properties)
    links = [v.type for v in system.variables if v.kind is ir.VariableKind.LINK]
    return not live and any("SeqT" in repr(type_) for type_ in links)


def unnoticed(system: TransitionSystem, state: State, rest: Rest) -> list[State]:
    """The states that steps lead to that nobody notices, from ``state`` on, itself included."""
    here, found = rest(state), [state]
    for one in found:
        for step in interpreter.successors(system, one):
            after = step.successor
            if after is not None and after not in found and rest(after) == here:
                found.append(after)
    return found


def _in_order(system: TransitionSystem, state: State, here: State, rest: Rest) -> str | None:
    """As :func:`_differ`, where what has no effect may have to be received before other things."""

    def ways(of: State) -> set[State | str]:
        found = list(interpreter.successors(system, of))
        codes = {s.fault.code for s in found if s.fault is not None and s.fault.grows is None}
        after = {rest(s.successor) for s in found if s.successor is not None}
        return codes | (after - {here})

    mine, theirs = ways(state), ways(here)
    if not mine <= theirs:
        return "a step is lost"
    before = unnoticed(system, state, rest)
    if any(faults(system, one)[1] for one in before):
        return None  # with more room there would be other steps
    return None if theirs <= set().union(*map(ways, before)) else "a step is new"


def questions(system: TransitionSystem) -> list[tuple[ir.Expr, dict[str, object]]]:
    """All that properties and justice ask of states."""
    found: list[tuple[ir.Expr, dict[str, object]]] = []
    for prop in system.properties:
        found += [(prop.bad, {}), (prop.premise, {})]
        for values in interpreter.assignments(prop.params):
            names = dict(zip((p.name for p in prop.params), values, strict=True))
            found += [(proposition, names) for proposition in prop.propositions]
    return [*found, *((justice.holds, {}) for justice in system.justice)]


def answer(system: TransitionSystem, expr: ir.Expr, state: State, names: dict[str, object]) -> str:
    """What a question's value is in a state, an error included."""
    try:
        return str(interpreter.holds(system, expr, state, names))
    except RunFault as fault:
        return fault.code


def faults(system: TransitionSystem, state: State) -> tuple[set[str], bool]:
    """The errors that a state's steps meet; whether a capacity that was guessed is too small."""
    found = [s.fault for s in interpreter.successors(system, state) if s.fault is not None]
    return {f.code for f in found if f.grows is None}, any(f.grows for f in found)


def disagreement(system: TransitionSystem, block: Block, most: int) -> str | None:
    """Why states of rest do not stand for states, by the first ``most`` reachable states."""
    rest, asked = resting(system, block), questions(system)
    seen = dict.fromkeys(interpreter.initial_states(system))
    waiting = list(seen)
    for state in waiting:
        here = rest(state)
        if rest(here) != here:
            return "what is at rest does not stay as it is"
        if here != state and (why := _differ(system, state, here, rest, asked)):
            return why
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in seen and len(seen) < most:
                seen[step.successor] = None
                waiting.append(step.successor)
    return None


def _differ(
    system: TransitionSystem,
    state: State,
    here: State,
    rest: Rest,
    asked: list[tuple[ir.Expr, dict[str, object]]],
) -> str | None:
    for expr, names in asked:
        if answer(system, expr, state, names) != answer(system, expr, here, names):
            return "a question has another answer"
    if has_queues(system):
        return _in_order(system, state, here, rest)
    (mine, full), (theirs, _) = faults(system, state), faults(system, here)
    if full:
        return None  # with more room there would be other steps
    if mine != theirs:
        return "another run-time error"
    try:
        one = noticed(system, state, rest)
    except RunFault:
        return None
    other = noticed(system, here, rest)
    if one[1] != other[1]:
        return "something else is owed"
    if not other[2] <= one[2]:
        return "a promise can't be kept without notice"
    if (one[2] - other[2]) & other[1]:
        return "what is owed to others is kept without notice"
    return None if one[0] == other[0] else "other steps"
