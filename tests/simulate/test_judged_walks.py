"""Single walks, and whether they are executions that violate something."""

from __future__ import annotations

from checker.engines.walks import CompletedWalk
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.simulate.findings import CYCLES_EVERY, Judge
from tests.simulate.opening import spec
from tests.simulate.test_broken_protocols import TOGGLES

MAY_MOVE = """
protocol MayMove {
  state moved = false
  may upon condition not moved { moved := true }
  property moves "Somebody moves." : eventually exists p in Proc: p.moved
}
check one of MayMove { n = 1  prove moves }
"""


def next_with(system: TransitionSystem, state: State, **wanted: tuple[bool, ...]) -> State:
    """The next state in which variables have these values."""
    steps = (t.successor for t in interpreter.successors(system, state) if t.successor is not None)
    (found,) = {
        one for one in steps if wanted.items() <= interpreter.name_values(system, one).items()
    }
    return found


def test_a_cycle_that_is_not_fair_violates_nothing() -> None:
    """p1 goes on and on; p2 could always move, and never does."""
    system = spec(TOGGLES).system
    (first,) = interpreter.initial_states(system)
    off = next_with(system, first, moved=(True, False), on=(False, False))
    on = next_with(system, off, moved=(True, False), on=(True, False))
    assert Judge(system)._lasso((first, off, on), 1) is None


def test_a_walk_is_judged_wherever_it_might_stay() -> None:
    """It might stay where nobody has moved, and also where somebody has."""
    system = spec(MAY_MOVE).system
    (first,) = interpreter.initial_states(system)
    moved = next_with(system, first, moved=(True,))
    number = CYCLES_EVERY + 1  # one of those around which no lasso is looked for
    found = Judge(system)(CompletedWalk(number, (first, moved), (0, 1)))
    assert found is not None and found[0].states == (first,)
    assert Judge(system)(CompletedWalk(number, (first, moved), (1,))) is None
