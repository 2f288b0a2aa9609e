"""Which survivors are found to be equivalent: by their code, or by their graphs."""

from __future__ import annotations

import pytest

from checker import resources
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.language.mutation.mutants import mutants
from checker.model import interpreter, ir
from checker.model.types import BOOL
from checker.mutate.equivalence import graph_of, same_behaviour
from checker.mutate.reordered_code import independent, same_but_for_order
from checker.session.load import load_check
from checker.session.systems import instantiated

SENDER = """\
protocol Sender {
  message DATA(k: 0..3)
  state x : 0..9 = 0
  state y : 0..9 = 0
  state got : 0..9 = 0
  upon condition x < 3 { BODY }
  upon receive DATA(k) { got := k }
  property small "It stays small." : always forall p in Proc: p.x <= 9 and p.got <= 9
}
check one of Sender { n = 2 WORLD prove small }
"""


def spec(body: str, world: str = "") -> Spec:
    return Spec(SENDER.replace("BODY", body).replace("WORLD", world), "sender.bcast")


def system(spec: Spec, name: str = "one") -> ir.TransitionSystem:
    return instantiated(load_check(spec, name, {}), Options()).system


def same_code(one: str, other: str, world: str = "") -> bool:
    return same_but_for_order(system(spec(one, world)), system(spec(other, world)))


BEFORE = "x += 1  y := 2  send DATA(1) to all"


def test_independent_statements_may_change_places() -> None:
    assert same_code(BEFORE, BEFORE)
    assert same_code(BEFORE, "send DATA(1) to all  x += 1  y := 2")
    assert same_code(BEFORE, "y := 2  send DATA(1) to all  x += 1")
    assert same_code(
        "if x > 1 { y := 1 } send DATA(2) to all", "send DATA(2) to all if x > 1 { y := 1 }"
    )


def test_two_sends_may_change_places_where_links_keep_no_order() -> None:
    one, other = (
        "send DATA(1) to all  send DATA(2) to all",
        "send DATA(2) to all  send DATA(1) to all",
    )
    assert same_code(one, other)
    assert same_code(
        "send DATA(1) to Proc minus {self}  send DATA(2) to Proc minus {self}",
        "send DATA(2) to Proc minus {self}  send DATA(1) to Proc minus {self}",
    )
    assert not same_code(one, other, "links fifo")
    assert not same_code("x := 1  x := 2", "x := 2  x := 1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BEFORE, "x += 1  y := 2"),
        (BEFORE, "x += 1  y := 3  send DATA(1) to all"),
        ("x += 1  y := x", "y := x  x += 1"),
        ("x += 1  send DATA(x) to all", "send DATA(x) to all  x += 1"),
        ("y := 1  y := 2  x += 1", "y := 2  y := 1  x += 1"),
        ("x += 1  if x > 1 { y := 1 }", "if x > 1 { y := 1 } x += 1"),
        ("x += 1  if x > 1 { y := 1 }", "x += 1  if x > 1 { y := 1 } else { y := 1 }"),
        ("x += 1  choose k in {1, 2}  y := k", "x += 1  choose k in {1, 2}  y := 1"),
    ],
)
def test_dependent_statements_may_not(one: str, other: str) -> None:
    assert not same_code(one, other)


def test_a_crash_between_two_statements_sees_their_order() -> None:
    world = "faults crash <= 1"
    assert same_code(BEFORE, BEFORE, world)
    assert not same_code("x += 1  send DATA(1) to all", "send DATA(1) to all  x += 1", world)


def test_what_removes_an_execution_hides_an_error_behind_it() -> None:
    one, other = (
        ir.Assume(ir.Apply(BOOL, ir.Op.EQ, (ir.Read(BOOL, "a"), ir.TRUE))),
        ir.Fault("R001", "wrong"),
    )
    assert not independent(one, other) and not independent(other, one)
    assert independent(one, one)


def test_guessed_capacities_are_enlarged_for_the_graph() -> None:
    """The estimated capacity of the links is less than what is in transit at once."""
    path = resources.specs() / "queues" / "producer.bcast"
    text = path.read_text("utf-8")
    whole = Spec(text, str(path))
    graph = graph_of(whole, "plain_retry", Options(), 1000)
    made = system(whole, "plain_retry")
    faults = {
        step.fault.grows
        for state in _reached(made)
        for step in interpreter.successors(made, state)
        if step.fault is not None
    }
    assert faults == {"channel"}, "otherwise this is no test of that"
    assert same_behaviour(graph, graph)
    assert len(graph.observed) > len(_reached(made))


def _reached(system: ir.TransitionSystem) -> list[interpreter.State]:
    found = [*dict.fromkeys(interpreter.initial_states(system))]
    known = set(found)
    for state in found:
        for step in interpreter.successors(system, state):
            if step.successor is not None and step.successor not in known:
                known.add(step.successor)
                found.append(step.successor)
    return found


def test_an_error_is_a_state_of_its_own() -> None:
    text = SENDER.replace("x < 3", "x < 12").replace("WORLD", "").replace("n = 2", "n = 1")
    wrong = Spec(text.replace("BODY", "x += 1"), "sender.bcast")
    other = Spec(text.replace("BODY", "y := 9 x += 1"), "sender.bcast")
    right = Spec(text.replace("x < 12", "x < 9").replace("BODY", "x += 1"), "sender.bcast")
    graphs = [graph_of(each, "one", Options(), 1000) for each in (wrong, other, right)]
    assert same_behaviour(graphs[0], graphs[1])
    assert not same_behaviour(graphs[0], graphs[2])


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("queues/producer", "plain_retry_without_loss"),
        ("broadcast/eager_reliable", "crash_one"),
        ("broadcast/lazy_reliable", "no_fault"),
        ("total_order/fixed_sequencer", "no_fault"),
    ],
)
def test_the_same_code_has_the_same_graph(name: str, check: str) -> None:
    """Of all mutants that move a statement."""
    path = resources.specs() / f"{name}.bcast"
    original = Spec(path.read_text("utf-8"), str(path))
    before, graph, alike = system(original, check), None, 0
    for mutant in mutants(path):
        if mutant.kind not in ("swapped", "first", "last"):
            continue
        try:
            changed = Spec(mutant.text, str(path))
        except SpecError:
            continue
        if same_but_for_order(before, system(changed, check)):
            graph = graph or graph_of(original, check, Options(), 10_000)
            assert same_behaviour(graph, graph_of(changed, check, Options(), 10_000)), mutant.what
            alike += 1
    assert alike
