"""Candidates for lemmas are guesses that no sample contradicts, and Houdini keeps what is so."""

from __future__ import annotations

from itertools import product

import pytest

from checker.engines.reference import engine as reference
from checker.engines.symbolic import invariants
from checker.engines.symbolic.candidates import about_processes, candidates
from checker.engines.symbolic.encoding import Encoding
from checker.engines.symbolic.sampling import sample
from checker.engines.symbolic.solver_queries import QueryBudget
from checker.model import interpreter
from checker.model.ir import Apply, Const, Op, Read, TransitionSystem
from checker.model.types import BOOL, AtomT, SetT
from checker.results.answer import Limits
from tests.native import models

SYSTEMS = {"two phase": models.two_phase(2), "log": models.bag_log()}


def reached(system: TransitionSystem) -> list[interpreter.State]:
    return list(sample(system, QueryBudget(), breadth=10_000, walks=0).states)


@pytest.mark.parametrize("name", SYSTEMS)
def test_candidates_hold_in_all_samples(name: str) -> None:
    system = SYSTEMS[name]
    states = list(sample(system, QueryBudget(), breadth=40).states)
    found = candidates(system, states)
    assert found.clauses
    for clause in (*found.clauses, *found.longer):
        expr = found.expression(clause)
        assert all(interpreter.holds(system, expr, state) for state in states)


@pytest.mark.parametrize("name", SYSTEMS)
def test_pairs_are_all_that_there_are(name: str) -> None:
    """Every clause of two literals that holds in the samples follows from one that is given."""
    system = SYSTEMS[name]
    states = list(sample(system, QueryBudget(), breadth=40).states)
    found = candidates(system, states)
    given = [found.expression(clause) for clause in found.clauses]
    atoms = found.atoms[:12]
    rows = {s: [interpreter.holds(system, a, s) for a in atoms] for s in states}
    for i, j in product(range(len(atoms)), repeat=2):
        if all(row[i] or row[j] for row in rows.values()):
            # No state at all satisfies what is given, and neither of the two.
            for state in product_of_some(system):
                if all(interpreter.holds(system, g, state) for g in given):
                    assert any(interpreter.holds(system, atoms[k], state) for k in (i, j))


def product_of_some(system: TransitionSystem) -> list[interpreter.State]:
    """States that mix the parts of reached ones."""
    states = reached(system)[:6]
    columns = [list(dict.fromkeys(state[i] for state in states)) for i in range(len(states[0]))]
    return list(product(*columns))[:200]


def test_what_is_kept_is_inductive_and_holds_in_every_reached_state() -> None:
    system = models.two_phase(2)
    assert reference.explore(system, Limits()).exhaustive
    some = list(sample(system, QueryBudget(), breadth=5, walks=0).states)  # most guesses are wrong
    found = candidates(system, some)
    kept = invariants.inductive(Encoding(system), found, found.clauses, (), QueryBudget(120.0))
    assert 0 < len(kept) < len(found.clauses)
    for clause in kept:
        expr = found.expression(clause)
        assert all(interpreter.holds(system, expr, state) for state in reached(system))


def test_processes_that_an_expression_is_about() -> None:
    nodes = AtomT("Node", ("p1", "p2", "p3"))
    system = TransitionSystem("s", ("p1", "p2", "p3"), (), (), (), (), (), ())
    member = Apply(BOOL, Op.IN, (Const(nodes, 1), Read(SetT(nodes), "v")))
    assert about_processes(system, member) == {1}
    assert about_processes(system, Const(SetT(nodes), frozenset({0, 2}))) == {0, 2}
    assert about_processes(system, Const(AtomT("Value", ("a",)), 0)) == frozenset()
