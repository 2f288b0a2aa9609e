"""Fair components of hand-made graphs, automata as tables, and the limits of liveness."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product as pairs

import pytest

from checker.engines.native import engine as native
from checker.engines.native.codegen.graph_fields import NONE, STRONG, WEAK
from checker.engines.native.liveness import graph as native_graph
from checker.engines.native.liveness.automaton_tables import AutomatonTable, Letters, Product
from checker.engines.native.liveness.graph import Graph
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.search import search as native_search
from checker.engines.native.search.memory import Buffer
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    Const,
    Fairness,
    FairnessKind,
    Formula,
    Holds,
    Justice,
    Modal,
    Op,
    Property,
    PropertyKind,
    Read,
    TransitionSystem,
)
from checker.model.types import BOOL, IntT
from checker.properties.buchi_automaton import refuting
from checker.records import replace
from checker.results.answer import Answer, Limits, Progress
from tests.native.models import (
    action,
    assign,
    call,
    equal,
    system,
    variable,
)

Edge = tuple[int, int, int]
"""Source, target, constraint."""


def filled(size: int, values: Iterable[int], wide: bool) -> Buffer:
    buffer = Buffer(max(1, size))
    words = buffer.words() if wide else buffer.halves()
    for i, value in enumerate(values):
        words[i] = value
    return buffer


def graph_of(states: int, edges: list[Edge], kinds: bytes) -> Graph:
    ordered = sorted(edges)
    starts = [sum(e[0] < s for e in ordered) for s in range(states + 1)]
    return Graph(
        states,
        filled(8 * len(starts), starts, True),
        filled(4 * len(ordered), (e[1] for e in ordered), False),
        filled(4 * len(ordered), (e[2] for e in ordered), False),
        len(ordered),
        kinds,
        [(0, states)],
    )


def fair_states(states: int, edges: list[Edge], kinds: bytes) -> set[int]:
    question = GraphQuery(graph_of(states, edges, kinds))
    question.every()
    question.fair()
    return set(question.fair_nodes(0, states))


def by_subsets(states: int, edges: list[Edge], kinds: bytes) -> set[int]:
    """The same by trying all sets of states."""
    found: set[int] = set()
    for mask in range(1 << states):
        inside = {s for s in range(states) if mask >> s & 1}
        if len(inside) > 1 and connected(inside, edges) and is_fair(inside, edges, kinds):
            found |= inside
    return found


def connected(inside: set[int], edges: list[Edge]) -> bool:
    def reach(start: int) -> set[int]:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            for source, target, _ in edges:
                if source == here and target in inside and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return seen

    return all(reach(s) == inside for s in inside)


def is_fair(inside: set[int], edges: list[Edge], kinds: bytes) -> bool:
    taken = {c for s, t, c in edges if s in inside and t in inside}
    enabled = [{c for s, _, c in edges if s == state} for state in inside]
    for c, kind in enumerate(kinds):
        everywhere = all(c in here for here in enabled)
        somewhere = any(c in here for here in enabled)
        wronged = everywhere if kind == WEAK else somewhere if kind == STRONG else False
        if wronged and c not in taken:
            return False
    return True


@pytest.mark.parametrize("seed", range(150))
def test_fair_components_are_those_of_all_sets_of_states(seed: int) -> None:
    draw = random.Random(seed)
    states, constraints = draw.randint(2, 7), draw.randint(1, 4)
    kinds = bytes([0, *(draw.choice((WEAK, STRONG)) for _ in range(constraints))])
    edges = [
        (s, t, draw.randint(0, constraints))
        for s, t in pairs(range(states), repeat=2)
        if s != t and draw.random() < 0.4
    ]
    edges += [(s, NONE, c) for s, t, c in edges if c and draw.random() < 0.1]
    assert fair_states(states, edges, kinds) == by_subsets(states, edges, kinds)


def test_a_long_ring_needs_no_recursion() -> None:
    many = 200_000
    graph = Graph(
        many,
        filled(8 * (many + 1), range(many + 1), True),
        filled(4 * many, [*range(1, many), 0], False),
        Buffer(4 * many),
        many,
        b"\0",
        [(0, many)],
    )
    question = GraphQuery(graph)
    question.every()
    assert question.fair() == 1
    question.forget()
    assert question.fair(Nodes.of(range(many - 1))) == 0


# -- automata -----------------------------------------------------------------------------------


def reads(table: Product, copy: int, letter: int) -> list[int]:
    row = copy * table.alphabet + letter
    return list(table.following[table.ways[row] : table.ways[row + 1]])


def test_an_automaton_as_a_table() -> None:
    again: Formula = Modal("always", Modal("eventually", Holds(0)))
    reader = AutomatonTable(refuting(again))
    assert reader.waits
    assert reader.accepting == [1]
    letters = Letters(Buffer(2), 1, range(2))  # of one state, whose letter is 0
    assert reader.lasting(letters) == bytes([1, 0])
    whole = reader.whole(letters)
    assert reads(whole, 0, 0) == [1]
    assert reads(whole, 0, 1) == []
    assert whole.stays == bytes([1, 0, 1, 0])
    assert reads(reader.cycles(letters, 3), 0, 0) == [0]


# -- systems ------------------------------------------------------------------------------------

N = IntT(0, 5)
X = Read(N, "x")


def number(value: int) -> Const:
    return Const(N, value)


def goes(name: str, source: int, target: int, kind: FairnessKind | None) -> Action:
    """From ``source`` to ``target``; promised where it has a kind."""
    step = action(name, (), equal(X, number(source)), assign(X, number(target)))
    if kind is None:
        return replace(step, promised=FALSE)
    return replace(step, fairness=Fairness(name, (), kind))


def again_and_again(name: str, value: int) -> Property:
    formula: Formula = Modal("always", Modal("eventually", Holds(0)))
    return live(name, formula, value)


def live(name: str, formula: Formula, value: int) -> Property:
    return Property(
        name,
        PropertyKind.LIVENESS,
        FALSE,
        TRUE,
        "",
        propositions=(equal(X, number(value)),),
        formula=formula,
        automaton=refuting(formula),
    )


def of(
    actions: tuple[Action, ...], *props: Property, justice: tuple[Justice, ...] = ()
) -> TransitionSystem:
    return replace(system("live", (variable("x", N, 0),), actions, props), justice=justice)


def answer_of(
    model: TransitionSystem, memory: int | None = None, max_depth: int | None = None
) -> Answer:
    limits = Limits(memory=memory, max_depth=max_depth)
    answers = [native.explore(model, limits, threads=n) for n in (1, 2)]
    assert answers[0].violations == answers[1].violations
    return answers[0]


RING = (goes("there", 0, 1, FairnessKind.WEAK), goes("back", 1, 0, FairnessKind.WEAK))


@pytest.mark.parametrize(
    ("kind", "holds"), [(FairnessKind.WEAK, False), (FairnessKind.STRONG, True), (None, False)]
)
def test_what_is_enabled_again_and_again_happens_only_by_strong_fairness(
    kind: FairnessKind | None, holds: bool
) -> None:
    answer = answer_of(of((*RING, goes("out", 1, 2, kind)), again_and_again("p", 2)))
    assert answer.fair
    assert ("p" not in answer.violations) == holds
    if not holds:
        path = answer.violations["p"]
        assert [state[0] for state in path.states] == [0, 1]
        assert path.loop == 0


def test_an_end_comes_before_a_lasso() -> None:
    answer = answer_of(of((*RING, goes("out", 1, 2, None)), again_and_again("p", 3)))
    path = answer.violations["p"]
    assert [state[0] for state in path.states] == [0, 1, 2]
    assert path.loop == 2


def test_a_depth_limit_that_is_just_reached_hides_no_cycle() -> None:
    answer = answer_of(of(RING, again_and_again("p", 2)), max_depth=1)
    assert answer.exhaustive
    assert answer.violations["p"].loop == 0


def test_justice_rules_out_runs() -> None:
    asked = (again_and_again("p", 3), live("q", Modal("eventually", Holds(0)), 3))
    free = answer_of(of((*RING, goes("out", 1, 3, None)), *asked))
    assert free.violations.keys() == {"p", "q"}
    just = (Justice(equal(X, number(3)), ""),)
    bound = answer_of(of((*RING, goes("out", 1, 3, None)), *asked, justice=just))
    assert not bound.violations
    assert bound.fair
    assert bound.ends == 1


def test_no_run_may_be_fair_at_all() -> None:
    just = (Justice(equal(X, number(5)), ""),)
    answer = answer_of(of(RING, again_and_again("p", 3), justice=just))
    assert answer.fair is False
    assert not answer.violations


# -- limits -------------------------------------------------------------------------------------


def test_a_graph_without_room_leaves_the_rest_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_graph, "available_memory", lambda: 100)
    answer = answer_of(of((*RING, goes("out", 1, 2, None)), again_and_again("p", 2)))
    assert answer.exhaustive
    assert answer.distinct_states == 3
    assert answer.undecided.keys() == {"p"}
    assert "not enough memory" in answer.undecided["p"]


def test_the_memory_limit_counts_the_graph_too() -> None:
    answer = answer_of(of(RING, again_and_again("p", 2)), memory=1 << 16)
    assert answer.exhaustive
    assert "memory limit" in answer.undecided["p"]


@pytest.mark.parametrize(
    ("phase", "undecided"), [("state graph", {"p", "q"}), ("p", {"p", "q"}), ("q", {"q"})]
)
def test_an_interruption_leaves_what_is_known(phase: str, undecided: set[str]) -> None:
    """What the search has found is told, and so are the properties that were decided before."""
    told = []

    def listener(progress: Progress) -> None:
        told.append(progress.phase)
        if progress.phase == f"liveness: {phase}":
            raise KeyboardInterrupt

    low = Property("low", PropertyKind.INVARIANT, equal(X, number(1)), TRUE, "")
    model = of(RING, again_and_again("p", 3), again_and_again("q", 2), low)
    answer = native.explore(model, Limits(), threads=1, listener=listener)
    assert told[-1] == f"liveness: {phase}"
    assert answer.exhaustive
    assert "low" in answer.violations
    assert answer.undecided == dict.fromkeys(sorted(undecided), "interrupted")


# -- many constraints ---------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "holds"), [(False, True), (True, False)])
def test_thousands_of_constraints_are_told_apart(
    own: bool, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring whose every step is a constraint of its own, and a way out: one constraint, or one
    for each state."""
    monkeypatch.setattr(native_search, "PARALLEL_FROM", 1)
    many = 3000
    wide = IntT(0, many)
    x = Read(wide, "x")
    top = Const(wide, many)
    following = call(IntT(0, many + 1), Op.ADD, x, Const(wide, 1))
    inside = call(BOOL, Op.LT, x, top)
    round_ = call(IntT(0, many), Op.MOD, following, Const(wide, many))
    turn = replace(action("turn", (), inside, assign(x, round_)), fairness=Fairness("turn", (x,)))
    key = (x,) if own else ()
    out = replace(action("out", (), inside, assign(x, top)), fairness=Fairness("out", key))
    reached = Property(
        "p",
        PropertyKind.LIVENESS,
        FALSE,
        TRUE,
        "",
        propositions=(equal(x, top),),
        automaton=refuting(Modal("always", Modal("eventually", Holds(0)))),
    )
    model = system("many", (variable("x", wide, 0),), (turn, out), (reached,))
    answer = answer_of(model)
    assert answer.distinct_states == many + 1
    assert ("p" not in answer.violations) == holds
