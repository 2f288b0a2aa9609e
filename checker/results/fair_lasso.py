"""Checks lassos: whether they are fair, and which formulas they satisfy.

Nothing here comes from an engine: the interpreter recomputes steps and fairness constraints, and a
property is judged by its formula, not by the automaton with which the engine searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from checker.model import interpreter, ir
from checker.model.interpreter import Constraint, Moves, State
from checker.model.ir import FairnessKind, Property, TransitionSystem
from checker.model.types import Value
from checker.results.show_values import show
from checker.results.trace import FairnessJustification, FairnessWord, Honoured


class Unfair(Exception):
    """An execution is not fair; the message names the fairness constraint that it violates."""


def fairness_justification(
    system: TransitionSystem, states: Sequence[State], loop: int
) -> tuple[FairnessJustification, ...]:
    """Returns why the execution through ``states``, then again from number ``loop``, is fair to
    each constraint.

    Where ``loop`` is the last state the execution stays there.  Raises :class:`Unfair` where a
    constraint is violated, and ``RunFault`` where the constraints can't be computed.
    """
    last = len(states) - 1
    if loop == last:
        if not interpreter.is_admissible_end(system, states[last]):
            raise Unfair("the run can't stay where it ends")
        return (*_idle(system, states[last]), *_justice(system, states, loop))
    numbers = range(loop, last + 1)
    moves = {i: interpreter.moves(system, states[i]) for i in numbers}
    constraints = {c: fairness for i in numbers for c, fairness in moves[i].enabled.items()}
    entries = []
    for constraint in sorted(constraints, key=lambda c: (c.group, repr(c.key))):
        fairness = constraints[constraint]
        text, kind = in_words(constraint, fairness), _word(fairness)
        kept = _justify(constraint, fairness, states, loop, moves)
        if kept is None:
            often = "infinitely often" if fairness.kind is FairnessKind.STRONG else "forever"
            raise Unfair(f"possible {often} and never done: {text}")
        entries.append(FairnessJustification(text, kind, *kept))
    return (*entries, *_justice(system, states, loop))


def violated_constraints(
    system: TransitionSystem, states: Sequence[State], loop: int
) -> frozenset[Constraint]:
    """Returns the constraints to which the execution through ``states``, then again from number
    ``loop``, is unfair; where ``loop`` is the last state the execution stays there."""
    moves = {i: interpreter.moves(system, states[i]) for i in range(loop, len(states))}
    constraints = {c: fairness for each in moves.values() for c, fairness in each.enabled.items()}
    return frozenset(
        c for c, fairness in constraints.items() if not _justify(c, fairness, states, loop, moves)
    )


def steps_due(
    system: TransitionSystem, states: Sequence[State], loop: int
) -> frozenset[tuple[str, tuple[Value, ...]]]:
    """Returns the steps, as actions with the values of their parameters, that the execution through
    ``states``, then again from number ``loop``, would have to take to be fair: those by which the
    constraints that it violates can be met where it is forever.

    Raises :class:`Unfair` where a justice condition is never true again: no step is due then.
    """
    _justice(system, states, loop)
    violated = violated_constraints(system, states, loop)
    found = set()
    for state in states[loop:] if violated else ():
        for action in system.actions:
            for scope in interpreter.instances(system, action, state):
                if interpreter.constraint(action, scope) in violated:
                    params = tuple(scope.names[p.name] for p in action.params)
                    found.add((action.name, params))
    return frozenset(found)


def _justify(
    constraint: Constraint,
    fairness: ir.Fairness,
    states: Sequence[State],
    loop: int,
    moves: dict[int, Moves],
) -> tuple[Honoured, tuple[int, ...]] | None:
    """Returns why the execution is fair to a constraint (``taken``, ``disabled``), and in which
    steps or states; ``None``: it is not."""
    after = {i: i + 1 if i + 1 < len(states) else loop for i in moves}
    taken = [
        i + 1 for i in moves if constraint in moves[i].steps.get(states[after[i]], frozenset())
    ]
    if taken:
        return "taken", tuple(taken)
    disabled = [i for i in moves if constraint not in moves[i].enabled]
    if fairness.kind is FairnessKind.WEAK and disabled:
        return "disabled", tuple(disabled)
    return None


def _word(fairness: ir.Fairness) -> FairnessWord:
    return "strong" if fairness.kind is FairnessKind.STRONG else "weak"


def _idle(system: TransitionSystem, state: State) -> list[FairnessJustification]:
    """Returns the fairness constraints whose actions are taken in ``state`` forever, without
    changing anything."""
    found: dict[Constraint, ir.Fairness] = {}
    for action in system.actions:
        for scope in interpreter.instances(system, action, state):
            promise = interpreter.constraint(action, scope)
            if promise is not None:
                found.setdefault(promise, ir.fairness_of(action))
    entries = []
    for constraint in sorted(found, key=lambda c: (c.group, repr(c.key))):
        kind = _word(found[constraint])
        entries.append(
            FairnessJustification(in_words(constraint, found[constraint]), kind, "taken", ())
        )
    return entries


def _justice(
    system: TransitionSystem, states: Sequence[State], loop: int
) -> tuple[FairnessJustification, ...]:
    entries = []
    for justice in system.justice:
        true = [
            i
            for i in range(loop, len(states))
            if interpreter.holds(system, justice.holds, states[i])
        ]
        if not true:
            raise Unfair(f"never true again: {justice.text}")
        entries.append(FairnessJustification(justice.text, "justice", "holds", tuple(true)))
    return tuple(entries)


def in_words(constraint: Constraint, fairness: ir.Fairness) -> str:
    """Returns the fairness constraint in words, with the values of its key."""
    shown = [show(e.type, v) for e, v in zip(fairness.key, constraint.key, strict=True)]
    if not fairness.text:
        return f"{constraint.group}({', '.join(shown)})"
    text = fairness.text
    for i, value in enumerate(shown):
        text = text.replace(f"{{{i}}}", value)
    return text


# ---- truth of formulas ------------------------------------------------------------------------


def satisfies(
    system: TransitionSystem,
    prop: Property,
    values: tuple[Value, ...],
    states: Sequence[State],
    loop: int,
) -> bool:
    """Returns whether the execution through ``states``, then again from ``loop``, satisfies the
    formula of ``prop`` for these ``values`` of its parameters; may raise ``RunFault``."""
    assert prop.formula is not None
    names = {p.name: v for p, v in zip(prop.params, values, strict=True)}
    truths = [
        [interpreter.holds(system, proposition, state, names) for state in states]
        for proposition in prop.propositions
    ]
    return truth(prop.formula, truths, len(states), loop)[0]


def truth(
    formula: ir.Formula, truths: Sequence[Sequence[bool]], length: int, loop: int
) -> list[bool]:
    """Returns the value of ``formula`` at each position of the lasso."""
    match formula:
        case ir.Holds(index):
            return list(truths[index])
        case ir.Connective(op, parts):
            rows = [truth(part, truths, length, loop) for part in parts]
            if op == "not":
                return [not value for value in rows[0]]
            join = all if op == "and" else any
            return [join(row[i] for row in rows) for i in range(length)]
        case ir.Modal(op, part):
            row = truth(part, truths, length, loop)
            join = all if op == "always" else any
            return [join(row[min(i, loop) :]) for i in range(length)]
        case _:
            assert_never(formula)
