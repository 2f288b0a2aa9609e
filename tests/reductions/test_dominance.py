"""Successors that take the place of their sources: monotone sets, by brute force and by hand."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import product

import pytest

from checker.engines.native import engine as native
from checker.model import interpreter, ir
from checker.model.build import conj, member, negation, size
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import TRUE, Apply, Const, Op, TransitionSystem
from checker.model.types import BOOL, AtomT, BagT, IntT, MapT, SetT, TupleT, default
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.dominance.monotone_sets import find_adding, monotone_sets
from checker.reductions.reduction_plan import NOTHING
from checker.results.answer import Limits
from tests.agreement.keeping import Keeping
from tests.agreement.reduced import Reduced, TooMany
from tests.agreement.test_reductions import ALL, DOMINANCE, only
from tests.reductions.commuting import FAULT, Graph

SYSTEMS = int(os.environ.get("BIVALENCE_LONG", "0")) or 60
STATES = 60

# ---- by brute force -----------------------------------------------------------------------------


def systems(name: str) -> Iterator[tuple[int, TransitionSystem]]:
    draw = random.Random(name)
    for _ in range(SYSTEMS):
        seed = draw.randrange(2**40)
        yield seed, Keeping(random.Random(seed).randrange).system(None)


def below(system: TransitionSystem, x: State | str, y: State | str) -> bool:
    """Whether ``x`` is ``y`` but for what monotone sets lack."""
    if isinstance(x, str) or isinstance(y, str):
        return x == y
    names = monotone_sets(system)
    return all(
        set(a) <= set(b) if variable.name in names else a == b
        for variable, a, b in zip(system.variables, x, y, strict=True)
    )


def simulates(graph: Graph, x: State, y: State) -> bool:
    """Whether ``y`` can do what ``x`` can, in a step of the same instance or by staying."""
    system, more = graph.system, graph.of(y)
    for instance, ways in graph.of(x).items():
        there = [*more.get(instance, ()), *([y] if FAULT not in ways else [])]
        for way in ways:
            if not any(below(system, way, other) for other in there):
                return False
    return True


def test_larger_states_can_do_what_smaller_can() -> None:
    tried = 0
    for seed, system in systems("monotone"):
        if not monotone_sets(system):
            continue
        graph = Graph(system)
        try:
            states = graph.reachable(STATES)
        except RunFault:
            continue
        for x, y in product(states, states):
            if x != y and below(system, x, y):
                assert simulates(graph, x, y), seed
                for prop in system.properties:
                    if interpreter.holds(system, prop.bad, x):
                        assert interpreter.holds(system, prop.bad, y), seed
                tried += 1
    assert tried


@pytest.mark.parametrize("kinds", [DOMINANCE, ALL], ids=["dominance", "all"])
def test_verdicts_are_those_of_all_states(kinds: frozenset[str]) -> None:
    smaller = 0
    for seed, system in systems("verdicts"):
        plan = only(choose(system, "all", VERDICTS), kinds)
        if "dominance" not in plan.used:
            continue
        try:
            whole = Reduced(system, NOTHING, 4 * STATES).run()
        except (RunFault, TooMany):
            continue
        part = Reduced(system, plan, 4 * STATES).run()
        assert part.fault == whole.fault, seed
        if not whole.fault:
            assert part.violated == whole.violated, seed
            assert part.states <= whole.states, seed
            smaller += part.states < whole.states
    assert smaller


# ---- by hand ------------------------------------------------------------------------------------

PROCESS = AtomT("proc", ("p1", "p2"))
NUMBER = IntT(0, 2)
ITEM = TupleT((PROCESS, NUMBER))
SENT = ir.Read(SetT(ITEM), "sent")
ON = ir.Read(BOOL, "on")
P = ir.Local(PROCESS, "p")
ONE = Apply(ITEM, Op.TUPLE, (P, Const(NUMBER, 1)))
PLAIN = (ir.Param("p", ir.Universe(PROCESS), TRUE),)


def store(value: ir.Expr, read: ir.Read = SENT) -> ir.Assign:
    return ir.Assign(ir.Target(read.type, read.variable, True), value)


def insert(what: ir.Expr = ONE) -> ir.Assign:
    return store(Apply(SENT.type, Op.INSERT, (SENT, what)))


def action(name: str, *body: ir.Stmt, guard: ir.Expr = TRUE, params: object = PLAIN) -> ir.Action:
    assert isinstance(params, tuple)
    return ir.Action(name, ir.ActionKind.STEP, params, guard, body, ir.FALSE)


SENDS = action("sends", insert())
RECEIVES = action(
    "receives", store(TRUE, ON), params=(ir.Param("r", ir.Members(SENT, ITEM), TRUE),)
)


def system(*actions: ir.Action, bad: ir.Expr = ON, monitor: ir.Block = ()) -> TransitionSystem:
    safe = ir.Property("safe", ir.PropertyKind.INVARIANT, bad, TRUE, "")
    variables = tuple(
        ir.Variable(name, type_, default(type_), ir.VariableKind.SHARED)
        for name, type_ in (("sent", SENT.type), ("on", BOOL), ("count", NUMBER))
    )
    found = (SENDS, RECEIVES, *actions)
    return TransitionSystem("s", PROCESS.labels, variables, (), found, monitor, (safe,), ())


def test_what_is_sent_goes_first() -> None:
    of = system()
    assert monotone_sets(of) == ("sent",)
    assert [(one.action, one.adds) for one in find_adding(of)] == [(0, ("sent",))]


MANY = Apply(BOOL, Op.LT, (Const(NUMBER, 1), size(SENT)))
FEW = Apply(BOOL, Op.LT, (size(SENT), Const(NUMBER, 2)))
LEFT = ir.Comprehension(SENT.type, "e", ir.Members(SENT, ITEM), ON, ir.Local(ITEM, "e"))
ODD = ir.Comprehension(
    SENT.type, "e", ir.Members(SENT, ITEM), negation(member(ONE, SENT)), ir.Local(ITEM, "e")
)


@pytest.mark.parametrize(
    "other",
    [
        action("there", store(TRUE, ON), guard=member(ONE, SENT)),
        action("many", store(TRUE, ON), guard=MANY),
        action("takes", store(Apply(SENT.type, Op.REMOVE, (SENT, ONE)))),
        action("filters", store(LEFT)),
    ],
    ids=lambda a: a.name,
)
def test_a_larger_set_helps(other: ir.Action) -> None:
    assert monotone_sets(system(other)) == ("sent",)


@pytest.mark.parametrize(
    "other",
    [
        action("lacks", store(TRUE, ON), guard=negation(member(ONE, SENT))),
        action("few", store(TRUE, ON), guard=FEW),
        action("asks", ir.If(member(ONE, SENT), (store(TRUE, ON),))),
        action("assumes", ir.Assume(negation(member(ONE, SENT))), store(TRUE, ON)),
        action("keeps", ir.Declare("x", SENT.type, SENT), store(TRUE, ON)),
        action("odd", store(ODD)),
        action("asks later", store(TRUE, ON), params=(
            ir.Param("p", ir.Universe(PROCESS), negation(member(ONE, SENT))),
        )),
        action("loops", ir.For("e", ir.Members(SENT, ITEM), (store(TRUE, ON),))),
        action("chooses", ir.Choose("e", ir.Members(SENT, ITEM), TRUE), store(TRUE, ON)),
    ],
    ids=lambda a: a.name,
)  # fmt: skip
def test_a_larger_set_may_hinder(other: ir.Action) -> None:
    assert monotone_sets(system(other)) == ()


def test_a_condition_that_may_fail_is_none_that_helps() -> None:
    """Where the member is there the division is not evaluated."""
    zero = Apply(NUMBER, Op.DIV, (Const(NUMBER, 1), ir.Read(NUMBER, "count")))
    fails = Apply(BOOL, Op.EQ, (zero, Const(NUMBER, 1)))
    either = Apply(BOOL, Op.OR, (member(ONE, SENT), fails))
    assert monotone_sets(system(action("either", store(TRUE, ON), guard=either))) == ()


def test_a_property_may_read_what_is_in_flight_if_more_is_worse() -> None:
    there = member(Const(ITEM, (0, 1)), SENT)
    assert monotone_sets(system(bad=there)) == ("sent",)
    assert monotone_sets(system(bad=conj(ON, negation(there)))) == ()


def test_a_monitor_that_reads_it_is_no_spectator() -> None:
    reads = (ir.If(member(Const(ITEM, (0, 1)), SENT), (store(TRUE, ON),)),)
    assert monotone_sets(system(monitor=reads)) == ()


def test_bags_count_copies() -> None:
    """More copies, without end, are no set; a map of sets is none either."""
    for type_ in (BagT(ITEM, 4, "link"), MapT(PROCESS, SetT(ITEM))):
        of = system()
        sent, *others = of.variables
        other = ir.Variable("sent", type_, default(type_), sent.kind)
        body = (
            store(Apply(type_, Op.BAG_ADD, (ir.Read(type_, "sent"), ONE)), ir.Read(type_, "sent")),
        )
        made = ir.TransitionSystem(
            "s",
            PROCESS.labels,
            (other, *others),
            (),
            (action("again", *body),),
            (),
            of.properties,
            (),
        )
        assert monotone_sets(made) == ()


def test_what_goes_first_must_not_take_what_was_put_there() -> None:
    """A step that takes a message and one that sends it again would form a cycle together."""
    from checker.reductions.planning import _clash
    from checker.reductions.reduction_plan import AmpleAction, PlanPart

    takes = action("takes", store(Apply(SENT.type, Op.REMOVE, (SENT, ONE))))
    of = system(takes)
    dominance = PlanPart("dominance", ample_actions=find_adding(of))
    for number, clashes in ((2, True), (1, False), (0, False)):
        order = PlanPart("por", ample_actions=(AmpleAction(number, TRUE),))
        assert bool(_clash(of, dominance, [order])) is clashes


COUNT = ir.Read(NUMBER, "count")
NONE = Apply(BOOL, Op.EQ, (COUNT, Const(NUMBER, 0)))


def test_what_changes_something_else_is_not_alone() -> None:
    """By machine code: a step that sends and counts hinders the one that leads to the bad state."""
    counts = action("counts", insert(), store(Const(NUMBER, 1), COUNT), guard=NONE)
    leads = action("leads", store(TRUE, ON), guard=NONE)
    of = replace(system(), actions=(counts, leads))
    plan = choose(of, "all", VERDICTS)
    assert "dominance" in plan.used
    assert native.explore(of, Limits(), plan=only(plan, DOMINANCE), threads=1).violations


def test_what_is_only_sent_is_sent_first_by_machine_code() -> None:
    """One order of two, and of the four states those that it passes."""
    of = replace(system(), actions=(SENDS,))
    plan = only(choose(of, "all", VERDICTS), DOMINANCE)
    assert native.explore(of, Limits(), threads=1).distinct_states == 4
    assert native.explore(of, Limits(), plan=plan, threads=1).distinct_states == 3
    assert Reduced(of, plan, STATES).run().states == 3
