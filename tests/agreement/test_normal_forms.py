"""What is explored with a plan, state by state: the normal forms of all states, neither more nor
less; and where steps go first, all states in which a run may end.

This sees mistakes that random properties would hardly notice.
"""

from __future__ import annotations

import pytest

from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import PropertyKind, TransitionSystem
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.reduction_plan import NOTHING
from tests.agreement.reduced import GoesRound, Reduced, TooMany
from tests.agreement.test_reductions import ALL, DEAD, ORDER, SYMMETRY, alike, only, seeds

MOST = 160


def ends(system: TransitionSystem, states: set[State]) -> set[State]:
    """Those in which a run may stay."""
    return {s for s in states if interpreter.is_admissible_end(system, s)}


def compare_states(seed: int, kinds: frozenset[str]) -> bool:
    """Compares what is explored of a system; gives whether there was anything to compare."""
    system = alike(seed)
    plan = only(choose(system, "all", VERDICTS), kinds)
    if not plan.used:
        return False
    whole, part = Reduced(system, NOTHING, MOST), Reduced(system, plan, MOST)
    try:
        found = whole.run()
        part.run()
    except (TooMany, RunFault, GoesRound):
        return False
    if found.fault:
        return False
    forms = {part.least(part.rest(s)) for s in whole.level_of}
    left = set(part.level_of)
    assert left <= forms, seed
    if not {"por", "dominance"} & set(plan.used):
        assert left == forms, seed
    elif "dominance" not in plan.used and any(
        p.kind is PropertyKind.LIVENESS for p in system.properties
    ):
        wanted = {part.least(part.rest(s)) for s in ends(system, set(whole.level_of))}
        assert wanted <= left, seed
    return True


@pytest.mark.parametrize(
    "kinds", [SYMMETRY, DEAD, ORDER, ALL], ids=["symmetry", "dead", "por", "all"]
)
def test_what_is_explored_is_what_there_is(kinds: frozenset[str]) -> None:
    compared = 0
    for seed in seeds("normal forms", times=3):
        compared += compare_states(seed, kinds)
    assert compared
