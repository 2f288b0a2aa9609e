"""Renamings that a system does not notice: all of them are automorphisms, and one state of each
orbit is explored; what breaks a symmetry is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.model import interpreter, ir
from checker.model import types as t
from checker.model.interpreter import State
from checker.model.ir import Op, PropertyKind, Quantifier, TransitionSystem
from checker.properties.formula import ask
from checker.properties.persistence import persistence_for_some
from checker.records import replace
from checker.reductions.reduction_plan import PlanPart, ReductionPlan, Symmetry
from checker.reductions.symmetry import automorphisms as symmetry
from checker.reductions.symmetry.renaming import Renaming
from checker.results.answer import Limits
from checker.session.load import load_check
from checker.session.pipeline import run_check

SPECS = Path(__file__).parents[2] / "specs"


def system_of(spec: str, name: str) -> TransitionSystem:
    check = load_check(str(SPECS / f"{spec}.bcast"), name, {})
    return estimate_capacities(lambda sizes: instantiate(check, {}, ask, capacities=sizes)).system


def safe(system: TransitionSystem) -> TransitionSystem:
    """The system with its invariants only."""
    kept = tuple(p for p in system.properties if p.kind is PropertyKind.INVARIANT)
    return replace(system, properties=kept)


def group_of(system: TransitionSystem) -> Symmetry:
    found, _ = symmetry.find_symmetry(system)
    assert found is not None
    return found


def graph_of(system: TransitionSystem) -> dict[State, set[State | None]]:
    """All reachable states with their successors; ``None`` is a run-time error."""
    todo, graph = interpreter.initial_states(system), dict[State, set[State | None]]()
    while todo:
        state = todo.pop()
        if state not in graph:
            graph[state] = {step.successor for step in interpreter.successors(system, state)}
            todo += [s for s in graph[state] if s is not None]
    return graph


def orbits(system: TransitionSystem, found: Symmetry, states: set[State]) -> int:
    """How many sets of states there are that differ by a renaming only."""
    types, left, count = [v.type for v in system.variables], set(states), 0
    renamings = [Renaming(found.sorts, images) for images in found.elements()]
    while left:
        state = left.pop()
        left -= {renaming.state(types, state) for renaming in renamings}
        count += 1
    return count


SMALL = [
    ("oracles/two_phase", "three", 6),
    ("oracles/tcommit", "three", 6),
    ("broadcast/eager_reliable", "two_senders", 2),
    ("broadcast/lazy_reliable", "crash_one", 2),
    ("oracles/acp_sb", "two", 2),
    ("consensus/leader", "zero_for_ones", 6),
    ("commit/two_phase_commit", "crash_one", 2),
    ("links/perfect", "from_fair_loss", 2),
]


@pytest.mark.parametrize(("spec", "name", "order"), SMALL)
def test_every_renaming_is_an_automorphism_and_one_state_of_each_orbit_is_explored(
    spec: str, name: str, order: int
) -> None:
    system = system_of(spec, name)
    found = group_of(system)
    elements = list(found.elements())
    assert len(set(elements)) == len(elements) == found.order == order
    graph, types = graph_of(system), [v.type for v in system.variables]
    said = {state: answers(system, state) for state in graph}
    for images in elements:
        renaming = Renaming(found.sorts, images)
        image = {state: renaming.state(types, state) for state in graph}
        for state, after in graph.items():
            assert graph[image[state]] == {None if s is None else image[s] for s in after}
            assert said[image[state]] == said[state]
    explored = native.explore(
        safe(system), Limits(), plan=ReductionPlan((PlanPart("symmetry", symmetry=found),))
    )
    assert explored.distinct_states == orbits(system, found, set(graph))
    assert explored.reduced.without == len(graph)
    assert explored.reduced.exact


def answers(system: TransitionSystem, state: State) -> tuple[object, ...]:
    """What is asked of a state: properties, justice, and whether a run may end there."""
    asked = [closed for prop in system.properties for closed in (prop.bad, prop.premise)]
    asked += [justice.holds for justice in system.justice]
    lasting = (persistence_for_some(prop) for prop in system.properties)
    asked += [condition for condition in lasting if condition is not None]
    held = tuple(interpreter.holds(system, closed, state) for closed in asked)
    return (*held, interpreter.is_admissible_end(system, state))


@pytest.mark.parametrize(("participants", "count"), [(3, 80), (4, 166), (5, 314), (7, 920)])
def test_two_phase_commit_has_so_many_orbits(participants: int, count: int) -> None:
    settings = {"n": str(participants)}
    check = load_check(str(SPECS / "oracles/two_phase.bcast"), "three", settings)
    system = instantiate(check, settings, ask).system
    plan = ReductionPlan((PlanPart("symmetry", symmetry=group_of(system)),))
    assert native.explore(system, Limits(), plan=plan).distinct_states == count


# -- what breaks a symmetry -----------------------------------------------------------------------

PROC = t.AtomT("Proc", ("p1", "p2", "p3"))
VOTED = t.MapT(PROC, t.BOOL)
PICKED = t.OptionT(PROC)
COUNT = t.IntT(0, 2)
SELF = ir.Local(PROC, "self")


def made(
    *body: ir.Stmt,
    guard: ir.Expr = ir.TRUE,
    bad: ir.Expr = ir.FALSE,
    init: ir.Block = (),
) -> TransitionSystem:
    """Three processes, each of which may vote, and do ``body`` besides."""
    variables = (
        ir.Variable("voted", VOTED, (False,) * 3, ir.VariableKind.LOCAL),
        ir.Variable("picked", PICKED, None, ir.VariableKind.SHARED),
        ir.Variable("count", COUNT, 0, ir.VariableKind.SHARED),
        ir.Variable("line", t.SeqT(PROC, 3), (), ir.VariableKind.SHARED),
    )
    vote = ir.Assign(ir.Target(t.BOOL, "voted", True, (ir.Key(SELF, PROC),)), ir.TRUE)
    param = ir.Param("self", ir.Universe(PROC), ir.TRUE)
    voted = ir.Index(t.BOOL, ir.Read(VOTED, "voted"), SELF)
    new = ir.Apply(t.BOOL, Op.AND, (ir.Apply(t.BOOL, Op.NOT, (voted,)), guard))
    action = ir.Action("vote", ir.ActionKind.STEP, (param,), new, (vote, *body), ir.TRUE)
    prop = ir.Property("safe", PropertyKind.INVARIANT, bad, ir.TRUE, "")
    return TransitionSystem("Votes", PROC.labels, variables, init, (action,), (), (prop,), ())


def process(number: int) -> ir.Const:
    return ir.Const(PROC, number)


def each(*body: ir.Stmt) -> ir.For:
    return ir.For("q", ir.Universe(PROC), body)


OTHER = ir.Local(PROC, "q")
LINE = ir.Read(t.SeqT(PROC, 3), "line")
PICK = ir.Target(PICKED, "picked", True)
STAND = ir.Target(LINE.type, "line", True)
RANK = ir.Apply(t.IntT(1, 3), Op.RANK, (SELF,))
ONE = ir.Const(COUNT, 1)


def assigned(target: ir.Target, value: ir.Expr) -> ir.Assign:
    return ir.Assign(target, value)


def held() -> ir.Expr:
    """What was picked, if anything: a run-time error otherwise."""
    return ir.Apply(PROC, Op.GET, (ir.Read(PICKED, "picked"),))


def some(kind: Quantifier, body: ir.Expr) -> ir.Expr:
    return ir.Quant(kind, "q", ir.Universe(PROC), body, t.BOOL)


def eq(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.Apply(t.BOOL, Op.EQ, (a, b))


PICKS_ITSELF = assigned(PICK, ir.Apply(PICKED, Op.SOME, (SELF,)))
MIXED = ir.Apply(
    t.BOOL, Op.OR, (ir.Index(t.BOOL, ir.Read(VOTED, "voted"), OTHER), eq(held(), OTHER))
)

BEFORE = ir.Apply(t.BOOL, Op.LT, (OTHER, SELF))

WHOLE: dict[str, TransitionSystem] = {
    "nobody is named": made(PICKS_ITSELF),
    "all vote at once": made(
        each(assigned(ir.Target(t.BOOL, "voted", True, (ir.Key(OTHER, PROC),)), ir.TRUE))
    ),
    "all are counted, in any order": made(
        bad=eq(ir.Quant(Quantifier.COUNT, "q", ir.Universe(PROC), ir.TRUE, COUNT), ONE)
    ),
    "the line is gone through as it stands": made(
        ir.For("q", ir.Members(LINE, PROC), (assigned(PICK, ir.Apply(PICKED, Op.SOME, (OTHER,))),))
    ),
    "they choose one of them to begin with": made(
        init=(
            ir.Choose("q", ir.Universe(PROC), ir.TRUE),
            assigned(PICK, ir.Apply(PICKED, Op.SOME, (OTHER,))),
        )
    ),
}

LESS: dict[str, tuple[TransitionSystem, int, str]] = {
    "one is named": (made(guard=eq(SELF, process(1))), 2, "`p2` is named"),
    "one is named in the property": (
        made(PICKS_ITSELF, bad=eq(ir.Read(PICKED, "picked"), ir.Const(PICKED, (2,)))),
        2,
        "`p3` is named",
    ),
    "ranks": (made(guard=ir.Apply(t.BOOL, Op.LE, (RANK, ONE))), 1, "their ranks are used"),
    "order": (made(guard=some(Quantifier.EXISTS, BEFORE)), 1, "they are compared in order"),
    "the last one stays": (
        made(each(assigned(PICK, ir.Apply(PICKED, Op.SOME, (OTHER,))))),
        1,
        "a loop iterates over them in order",
    ),
    "the line is as long as it is": (
        made(each(assigned(STAND, ir.Apply(LINE.type, Op.APPEND, (LINE, OTHER))))),
        1,
        "a loop iterates over them in order",
    ),
    "an error that shows in one order": (
        made(bad=some(Quantifier.EXISTS, MIXED)),
        1,
        "until a run-time error",
    ),
    "one starts otherwise": (
        made(init=(assigned(PICK, ir.Const(PICKED, (0,))),)),
        2,
        "their initial states differ",
    ),
}


@pytest.mark.parametrize("which", WHOLE)
def test_what_does_not_tell_processes_apart(which: str) -> None:
    found, unused = symmetry.find_symmetry(WHOLE[which])
    assert found is not None
    assert (found.order, unused) == (6, ())


@pytest.mark.parametrize("which", LESS)
def test_what_tells_processes_apart_is_said(which: str) -> None:
    system, order, why = LESS[which]
    found, unused = symmetry.find_symmetry(system)
    assert (1 if found is None else found.order) == order
    assert any(why in one for one in unused)


KEPT_LINKS = """
protocol P(k: Nat = 3) {
  message M(a: 0..k, b: 0..k, c: 0..k)
  state x : 0..2 = 0
  state y : 0..2 = 0
  upon condition x < 1 { x += 1  send M(0, 0, 0) to all }
  upon receive M(a, b, c) when y < 2 { y += 1 }
  property p : always forall q in Proc: q.x <= 1
}
check c of P { n = 3  links persistent  prove p }
"""


@pytest.mark.parametrize("largest", [3, 7])
def test_symmetry_does_not_depend_on_how_many_messages_there_may_be(
    largest: int, tmp_path: Path
) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(KEPT_LINKS, encoding="utf-8")
    report = run_check(str(path), None, Options(settings={"k": str(largest)}, reduce="symmetry"))
    assert "symmetry" in report.reduced.used
