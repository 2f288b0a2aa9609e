"""Finds inductive invariants among candidates by removing those that fail.

Flanagan and Leino, *Houdini, an annotation assistant for ESC/Java* (FME 2001): the largest subset
of the candidates that is inductive is found by dropping all that a counterexample falsifies.
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from checker.engines.symbolic.candidates import Candidates, Clause
from checker.engines.symbolic.certificate import Lemma, Stage, Typed, formula, rules
from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask, plain_solver
from checker.records import replace

METHOD = "lemmas found"


def inductive(
    encoding: Encoding,
    found: Candidates,
    clauses: tuple[Clause, ...],
    known: tuple[Clause, ...],
    clock: QueryBudget,
    told: Callable[[int], None] = lambda left: None,
) -> tuple[Clause, ...]:
    """Returns the largest subset of ``clauses`` that is inductive, relative to ``known``, which
    are.

    ``told`` is called with the number of those that are left, now and then.  Raises
    :class:`solver_queries.GaveUp`.
    """
    started = _initially(encoding, found, clauses, clock)
    return _kept_by_steps(encoding, found, started, known, clock, told)


def stage(found: Candidates, clauses: tuple[Clause, ...], *, first: bool) -> Stage:
    """Returns clauses as facts that are inductive together; ``first``: with those on types."""
    lemmas = (Lemma(found.expression(clause)) for clause in clauses)
    return Stage((*lemmas, Typed()) if first else tuple(lemmas), 1, method=METHOD)


def following(encoding: Encoding, lemmas: Stage, clock: QueryBudget) -> Stage:
    """Returns ``lemmas`` with their consequences for types (:attr:`Stage.following`), as far as
    they are easy to prove.
    """
    s = encoding.state("s")
    every, found = rules(encoding, s), set[int]()
    solver = plain_solver()
    solver.add(*(formula(encoding, f, s, "f") for f in lemmas.facts if not isinstance(f, Typed)))
    for i, rule in enumerate(every):
        if _is_sum(rule):
            solver.push()
            solver.add(*(other for other in every if not _is_sum(other)), z3.Not(rule))
            try:
                if not ask(solver, clock.share(0.5)):
                    found.add(i)
            except GaveUp:
                pass
            solver.pop()
    return replace(lemmas, following=frozenset(found))


def _is_sum(rule: z3.ExprRef) -> bool:
    """Returns whether ``rule`` contains a sum."""
    todo, seen = [rule], set[int]()
    while todo:
        part = todo.pop()
        if part.decl().kind() == z3.Z3_OP_BADD:
            return True
        if part.get_id() not in seen:
            seen.add(part.get_id())
            todo.extend(part.children())
    return False


def has_sums(encoding: Encoding, lemmas: Stage) -> bool:
    """Returns whether it has to be derived from steps that a sum stays within a capacity."""
    every = rules(encoding, encoding.state("s"))
    return any(_is_sum(rule) for i, rule in enumerate(every) if i not in lemmas.following)


class _Atoms:
    """Constants for the truth of each atom in one state."""

    def __init__(
        self,
        encoding: Encoding,
        found: Candidates,
        s: Symbolic,
        solver: z3.Solver,
        name: str,
        clock: QueryBudget,
    ) -> None:
        self.names = [z3.Bool(f"{name}{i}") for i in range(len(found.atoms))]
        for atom, constant in zip(found.atoms, self.names, strict=True):
            clock.look()
            solver.add(constant == encoding.holds(s, atom))

    def clause(self, clause: Clause) -> z3.BoolRef:
        return z3.Or(*(self.names[i] if true else z3.Not(self.names[i]) for i, true in clause))

    def values(self, model: z3.ModelRef) -> list[bool]:
        return [z3.is_true(model.eval(name, model_completion=True)) for name in self.names]


def _true(clause: Clause, values: list[bool]) -> bool:
    return any(values[i] is wanted for i, wanted in clause)


def _initially(
    encoding: Encoding, found: Candidates, clauses: tuple[Clause, ...], clock: QueryBudget
) -> tuple[Clause, ...]:
    """Returns the clauses that hold in all initial states."""
    solver = plain_solver()
    s = encoding.state("s")
    solver.add(encoding.initial(s))
    atoms = _Atoms(encoding, found, s, solver, "a", clock)
    while clauses:
        asked = z3.FreshConst(z3.BoolSort(), "some_false")
        solver.add(z3.Implies(asked, z3.Or(*(z3.Not(atoms.clause(c)) for c in clauses))))
        if not ask(solver, clock, asked):
            break
        values = atoms.values(solver.model())
        clauses = tuple(c for c in clauses if _true(c, values))
    return clauses


def _kept_by_steps(
    encoding: Encoding,
    found: Candidates,
    clauses: tuple[Clause, ...],
    known: tuple[Clause, ...],
    clock: QueryBudget,
    told: Callable[[int], None],
) -> tuple[Clause, ...]:
    solver = plain_solver()
    s, t = encoding.state("s"), encoding.state("t")
    solver.add(encoding.well_formed(s), encoding.step(s, t, "w"))
    before = _Atoms(encoding, found, s, solver, "a", clock)
    after = _Atoms(encoding, found, t, solver, "b", clock)
    solver.add(*(before.clause(clause) for clause in known))
    kept = [z3.Bool(f"kept{number}") for number in range(len(clauses))]
    broken = [z3.Bool(f"broken{number}") for number in range(len(clauses))]
    for clause, one, other in zip(clauses, kept, broken, strict=True):
        solver.add(z3.Implies(one, before.clause(clause)))
        solver.add(z3.Implies(other, z3.And(one, z3.Not(after.clause(clause)))))
    solver.add(z3.Or(*broken))
    left = list(range(len(clauses)))
    while left:
        told(len(left))
        if not ask(solver, clock, *(kept[number] for number in left)):
            break
        values = after.values(solver.model())
        gone = [number for number in left if not _true(clauses[number], values)]
        assert gone, "a model breaks none of the candidates"
        solver.add(*(z3.Not(kept[number]) for number in gone))
        left = [number for number in left if _true(clauses[number], values)]
    return tuple(clauses[number] for number in left)
