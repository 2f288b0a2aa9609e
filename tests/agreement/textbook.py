"""Liveness decided in another way: by trying every set of states that may come again and again.

A system here is a plain graph.  A run is judged by the set S of states that it visits infinitely
often.  S may be such a set when it is strongly connected, or is one state, where a run may stay;
taking every step inside of S again and again, also those from a state to itself, is then the
fairest that can be done.  What a formula says anywhere in the repeated part
depends on the state and on S alone, and what it says before can be worked out backwards, one step
at a time.  There are no automata here, and no search for components.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from checker.model import ir
from checker.model.build import conj, equal, integer
from checker.model.ir import Connective, Formula, Holds, Modal
from checker.model.types import BOOL, IntT
from tests.properties.test_buchi_automaton import random_formula

Constraint = tuple[str, int]
"""A group and the value of its key; groups that begin with ``s`` are strong."""


@dataclass(frozen=True)
class Rule:
    """A step from ``source`` to ``target``; ``constraint`` ``None``: never promised."""

    source: int
    target: int
    constraint: Constraint | None


@dataclass(frozen=True)
class Model:
    """A graph with promises, sets that are visited infinitely often, and a formula.

    ``truths[y][i]`` are the states in which proposition ``i`` holds for parameter ``y``.
    """

    states: int
    initial: frozenset[int]
    rules: tuple[Rule, ...]
    justice: tuple[frozenset[int], ...]
    truths: tuple[tuple[frozenset[int], ...], ...]
    formula: Formula

    def inside(self, states: frozenset[int]) -> list[Rule]:
        """The steps between states of a set, a state and itself included."""
        return [r for r in self.rules if r.source in states and r.target in states]

    def enabled(self, state: int) -> set[Constraint]:
        return {r.constraint for r in self.rules if r.source == state and r.constraint is not None}


# ---- the check --------------------------------------------------------------------------------


def connected(model: Model, states: frozenset[int]) -> bool:
    """Whether a run can repeat in ``states``, coming by all of them."""
    steps = model.inside(states)
    for start in states:
        reached: set[int] = set()
        fresh = {start}
        while fresh:
            fresh = {r.target for r in steps if r.source in fresh} - reached
            reached |= fresh
        if not reached >= states:
            return False
    return True


def fair(model: Model, states: frozenset[int]) -> bool:
    """Whether the world admits a run that visits just ``states`` infinitely often."""
    if not all(states & just for just in model.justice):
        return False
    if len(states) > 1 and not connected(model, states):
        return False
    taken = {r.constraint for r in model.inside(states)}
    enabled = [model.enabled(s) for s in states]
    always, sometimes = set.intersection(*enabled), set.union(*enabled)
    weak = {c for c in always if not c[0].startswith("s")}
    strong = {c for c in sometimes if c[0].startswith("s")}
    return weak | strong <= taken


def modals(formula: Formula) -> list[Modal]:
    """The temporal parts of a formula, the inner ones first."""
    match formula:
        case Holds():
            return []
        case Connective(_, parts):
            return list(dict.fromkeys(m for part in parts for m in modals(part)))
        case Modal(_, part):
            return [*modals(part), formula]


def value(formula: Formula, now: frozenset[int], known: dict[Modal, bool]) -> bool:
    """The value of ``formula`` where the propositions ``now`` hold and its modals are known."""
    match formula:
        case Holds(index):
            return index in now
        case Connective("not", (part,)):
            return not value(part, now, known)
        case Connective(op, parts):
            found = [value(part, now, known) for part in parts]
            return all(found) if op == "and" else any(found)
        case Modal():
            return known[formula]


def violations(model: Model) -> tuple[bool, int | None]:
    """Whether some fair run violates the formula, and the least number of steps to the end of one
    that ends."""
    found, shortest = False, None
    for truths in model.truths:
        for states in subsets(model.states):
            if not fair(model, states):
                continue
            steps = _steps_back(model, truths, states)
            if steps is None:
                continue
            found = True
            if len(states) == 1 and (shortest is None or steps < shortest):
                shortest = steps
    return found, shortest


def _steps_back(
    model: Model, truths: tuple[frozenset[int], ...], states: frozenset[int]
) -> int | None:
    """Steps from an initial state, for which the formula is false, to the repeated part."""

    def letter(state: int) -> frozenset[int]:
        return frozenset(i for i, true in enumerate(truths) if state in true)

    parts = modals(model.formula)
    known: dict[Modal, bool] = {}
    for part in parts:
        found = [value(part.part, letter(s), known) for s in states]
        known[part] = all(found) if part.op == "always" else any(found)
    begun = tuple(known[part] for part in parts)
    level = {(state, begun) for state in states}
    seen: set[tuple[int, tuple[bool, ...]]] = set()
    steps = 0
    while level:
        for state, after in level:
            final = dict(zip(parts, after, strict=True))
            if state in model.initial and not value(model.formula, letter(state), final):
                return steps
        seen |= level
        before = set()
        for state, after in level:
            for rule in model.rules:
                if rule.target == state != rule.source:
                    before.add((rule.source, _one_earlier(parts, after, letter(rule.source))))
        level = before - seen
        steps += 1
    return None


def _one_earlier(
    parts: list[Modal], after: tuple[bool, ...], now: frozenset[int]
) -> tuple[bool, ...]:
    known: dict[Modal, bool] = {}
    for part, later in zip(parts, after, strict=True):
        here = value(part.part, now, known)
        known[part] = (here and later) if part.op == "always" else (here or later)
    return tuple(known[part] for part in parts)


def subsets(states: int) -> Iterator[frozenset[int]]:
    for size in range(1, states + 1):
        yield from map(frozenset, combinations(range(states), size))


def some_fair_run(model: Model) -> bool:
    """Whether any run at all is fair."""
    reached: set[int] = set()
    fresh = set(model.initial)
    while fresh:
        reached |= fresh
        fresh = {r.target for r in model.rules if r.source in fresh} - reached
    return any(fair(model, s) for s in subsets(model.states) if s <= reached)


# ---- models and systems -----------------------------------------------------------------------


def random_model(seed: int) -> Model:
    """A graph of up to five states with promises of every kind."""
    draw = random.Random(seed)
    states = draw.randint(1, 5)
    groups = ["weak", "strong", "wide"][: draw.randint(1, 3)]
    loops = draw.choice((0, 0.2, 0.4))
    rules = []
    for _ in range(draw.randint(0, draw.choice((2, 4)) * states + 2)):
        constraint = (draw.choice(groups), draw.randrange(2)) if draw.random() < 0.6 else None
        source = draw.randrange(states)
        target = source if draw.random() < loops else draw.randrange(states)
        rules.append(Rule(source, target, constraint))

    def some() -> frozenset[int]:
        return frozenset(s for s in range(states) if draw.random() < 0.5)

    initial = frozenset(draw.sample(range(states), draw.randint(1, min(2, states))))
    justice = tuple(some() for _ in range(draw.choice((0, 0, 1, 2))))
    truths = tuple((some(), some()) for _ in range(draw.randint(1, 2)))
    return Model(states, initial, tuple(rules), justice, truths, random_formula(draw, 4))


def system_of(model: Model) -> ir.TransitionSystem:
    """The graph as a transition system with one variable; needs :func:`refuting`."""
    from checker.properties.buchi_automaton import refuting

    numbers = IntT(0, model.states - 1)
    now = ir.Read(numbers, "v")
    target = ir.Target(numbers, "v", True)

    def among(states: frozenset[int]) -> ir.Expr:
        return ir.Apply(BOOL, ir.Op.OR, tuple(equal(now, integer(s)) for s in sorted(states)))

    def choose(states: frozenset[int]) -> ir.Block:
        local = ir.Local(numbers, "x")
        where = ir.Apply(BOOL, ir.Op.OR, tuple(equal(local, integer(s)) for s in sorted(states)))
        return (ir.Choose("x", ir.Universe(numbers), where), ir.Assign(target, local))

    keys = IntT(0, 1)
    key = ir.Local(keys, "k")
    actions = []
    for number, rule in enumerate(model.rules):
        group, wanted = rule.constraint or ("never", 0)
        strong = group.startswith("s")
        kind = ir.FairnessKind.STRONG if strong else ir.FairnessKind.WEAK
        actions.append(
            ir.Action(
                f"a{number}",
                ir.ActionKind.STEP,
                (ir.Param("k", ir.Universe(keys), equal(key, integer(wanted))),),
                equal(now, integer(rule.source)),
                (ir.Assign(target, integer(rule.target)),),
                ir.FALSE if rule.constraint is None else ir.TRUE,
                fairness=ir.Fairness(group, (key,), kind, f"{group} {{0}}"),
            )
        )
    y = ir.Local(IntT(0, len(model.truths) - 1), "y")
    propositions = tuple(
        ir.Apply(
            BOOL,
            ir.Op.OR,
            tuple(
                conj(equal(y, integer(i)), among(truths[index]))
                for i, truths in enumerate(model.truths)
            ),
        )
        for index in range(2)
    )
    prop = ir.Property(
        "p",
        ir.PropertyKind.LIVENESS,
        ir.FALSE,
        ir.TRUE,
        "",
        params=(ir.Param("y", ir.Universe(y.type), ir.TRUE),),
        propositions=propositions,
        formula=model.formula,
        automaton=refuting(model.formula),
    )
    variable = ir.Variable("v", numbers, 0, ir.VariableKind.SHARED)
    justice = tuple(ir.Justice(among(states), "it comes again") for states in model.justice)
    return ir.TransitionSystem(
        "graph", (), (variable,), choose(model.initial), tuple(actions), (), (prop,), (), justice
    )
