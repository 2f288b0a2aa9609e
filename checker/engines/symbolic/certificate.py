"""Certificates: the facts that constitute a proof, and its independent recheck.

A certificate is a list of stages.  The facts of a stage are together *k*-inductive, relative to
those of the stages before it (Sheeran, Singh and Stålmarck, FMCAD 2000): they hold in the first
``k`` states of every execution, and wherever they hold in ``k`` states that follow one another they
hold in the next one.  With ``k = 1`` that is an inductive invariant.  With ``apart`` the ``k + 1``
states are different ones, which a shortest execution to a violation may always be assumed to have.

The second check (:func:`recheck`) encodes the system again and answers each query in a solver of
its own.  It assumes nothing, not even that the values which ``init`` or a step computes are of
their types (:class:`Typed`): that is a fact of the first stage, and everything later rests on it.
Otherwise a later query could be vacuous.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import assert_never

import z3
from msgspec import Struct

from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.engines.symbolic.sampling import Samples
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask, plain_solver
from checker.model import ir
from checker.model.ir import Expr, TransitionSystem


class Typed(Struct, frozen=True):
    """Every variable holds a value of its type, so no capacity is exceeded."""


class Lemma(Struct, frozen=True):
    """``expr`` is true."""

    expr: Expr


class Safe(Struct, frozen=True):
    """``INVARIANT`` property number ``index`` is not violated."""

    index: int


class Faultless(Struct, frozen=True):
    """No action meets a runtime error in the state."""


class Never(Struct, frozen=True):
    """The premise of property number ``index`` is false."""

    index: int


class SmtFormula(Struct, frozen=True):
    """A formula in SMT-LIB over the constants of a state called ``s``; ``size``: its conjuncts."""

    text: str
    size: int


Fact = Typed | Lemma | Safe | Faultless | Never | SmtFormula


class Stage(Struct, frozen=True):
    """Facts that are ``k``-inductive together; see the module's docstring.

    ``method``: how they were found, as users name it.  ``following``: of the rules that make values
    those of their types (:func:`rules`), those that follow from the stage's lemmas and the other
    rules in any state, by number; that sums stay within a capacity is hard to derive from steps.
    """

    facts: tuple[Fact, ...]
    k: int
    apart: bool = False
    method: str = ""
    following: frozenset[int] = frozenset()


Certificate = tuple[Stage, ...]


class WrongCertificate(Exception):
    """The recheck refutes a proof, which is an internal error; the message says which query."""


class Query(Struct, frozen=True):
    """A query that has to be unsatisfiable; ``text`` describes it."""

    text: str
    assertions: tuple[z3.BoolRef, ...]


def formula(encoding: Encoding, fact: Fact, s: Symbolic, name: str) -> z3.BoolRef:
    """Returns ``fact`` of the state ``s`` as a formula.

    Whether an action meets an error may be asserted of inputs that are constants named by ``name``:
    of some input where it is negated, of this one where it is asserted.  So each use has a ``name``
    of its own; two that share one would constrain each other.
    """
    match fact:
        case Typed():
            return encoding.well_formed(s)
        case Lemma(expr):
            return encoding.holds(s, expr)
        case Safe(index):
            return z3.Not(encoding.bad(s, index))
        case Faultless():
            return z3.Not(encoding.faulty(s, name))
        case Never(index):
            return z3.Not(encoding.holds(s, encoding.system.properties[index].premise))
        case SmtFormula(text):
            return _read(encoding, text, s)
        case _:
            assert_never(fact)


def rules(encoding: Encoding, s: Symbolic) -> list[z3.BoolRef]:
    """Returns the constraints that the constants of ``s`` are those of values, in a fixed order."""
    whole = encoding.well_formed(s)
    found = whole.children() if z3.is_and(whole) else [whole]
    return list(found)


def _read(encoding: Encoding, text: str, s: Symbolic) -> z3.BoolRef:
    """Parses a formula, with ``s`` in place of the state that is called ``s``."""
    named = encoding.constants(encoding.state("s"))
    read = z3.parse_smt2_string(text)  # it declares the constants itself: they are these
    here = encoding.constants(s)
    return z3.substitute(z3.And(*read), *zip(named, here, strict=True))


def to_smt2(facts: list[z3.BoolRef]) -> SmtFormula:
    """Prints formulas over the constants of a state called ``s`` for :func:`_read`."""
    solver = z3.Solver()
    solver.add(*facts)
    return SmtFormula(solver.to_smt2().replace("(check-sat)", ""), len(facts))


def different(encoding: Encoding, states: list[Symbolic]) -> list[z3.BoolRef]:
    """Returns that no two of ``states`` are the same."""
    return [z3.Not(encoding.equal(a, b)) for a, b in combinations(states, 2)]


def queries(encoding: Encoding, certificate: Certificate, first: int = 0) -> Iterator[Query]:
    """Yields everything that has to be unsatisfiable; ``first``: the number of stages that were
    checked already.
    """
    assert certificate and Typed() in certificate[0].facts, "nothing says that values have types"
    known: tuple[Fact, ...] = ()
    for number, stage in enumerate(certificate, start=1):
        if number > first:
            yield from _base(encoding, known, stage, number)
            yield from _step(encoding, known, stage, number)
        known = (*known, *stage.facts)


def _base(
    encoding: Encoding, known: tuple[Fact, ...], stage: Stage, number: int
) -> Iterator[Query]:
    states = [encoding.state("s0")]
    run: list[z3.BoolRef] = [encoding.initial(states[0])]
    for depth in range(stage.k):
        last = states[-1]
        run += formulas(encoding, known, last, f"k{depth}")
        broken = z3.Not(z3.And(*formulas(encoding, stage.facts, last, f"g{depth}")))
        yield Query(f"stage {number}: true after {depth} steps", (*run, broken))
        states.append(encoding.state(f"s{depth + 1}"))
        run.append(encoding.step(last, states[-1], f"w{depth}"))


def _step(
    encoding: Encoding, known: tuple[Fact, ...], stage: Stage, number: int
) -> Iterator[Query]:
    """Yields one query; for facts on types another one, in which the others hold already."""
    states = [encoding.state(f"s{i}") for i in range(stage.k + 1)]
    run: list[z3.BoolRef] = []
    for i, state in enumerate(states):
        run += formulas(encoding, known, state, f"k{i}")
        if i < stage.k:
            run += formulas(encoding, stage.facts, state, f"h{i}")
            run.append(encoding.step(state, states[i + 1], f"w{i}"))
    if stage.apart:
        run += different(encoding, states)
    others = tuple(fact for fact in stage.facts if not isinstance(fact, Typed))
    if others:
        true = z3.And(*formulas(encoding, others, states[-1], "g"))
        yield Query(f"stage {number}: true after {stage.k} steps in a row", (*run, z3.Not(true)))
        run.append(true)
    if len(others) < len(stage.facts):
        yield from _types(encoding, stage, number, run, others)


def _types(
    encoding: Encoding, stage: Stage, number: int, run: list[z3.BoolRef], others: tuple[Fact, ...]
) -> Iterator[Query]:
    """Yields that values stay in their types: by the step, or by the other facts."""
    last = encoding.state(f"s{stage.k}")
    every = rules(encoding, last)
    by_step = z3.And(*(rule for i, rule in enumerate(every) if i not in stage.following))
    yield Query(f"stage {number}: steps keep values in their types", (*run, z3.Not(by_step)))
    if stage.following:
        beyond = z3.Not(z3.And(*(every[i] for i in sorted(stage.following))))
        true = formulas(encoding, others, last, "g")
        yield Query(f"stage {number}: capacities are large enough", (*true, by_step, beyond))


def formulas(
    encoding: Encoding, facts: tuple[Fact, ...], s: Symbolic, name: str
) -> list[z3.BoolRef]:
    """Returns the formulas of several facts, which have names of their own."""
    return [formula(encoding, fact, s, f"{name}.{i}") for i, fact in enumerate(facts)]


def recheck(
    encoding: Encoding, certificate: Certificate, clock: QueryBudget, first: int = 0
) -> int:
    """Answers every query of ``certificate`` in a solver of its own; returns their number.

    ``encoding`` is one that was not used in the search for a proof; ``first``: the number of stages
    that were checked already.  Raises :class:`WrongCertificate` where a query is satisfiable, and
    :class:`solver_queries.GaveUp`.
    """
    count = 0
    for query in queries(encoding, certificate, first):
        solver = plain_solver()
        solver.add(*query.assertions)
        try:
            refuted = ask(solver, clock)
        except GaveUp as why:
            raise GaveUp(f"second check ({query.text}): {why}") from None
        if refuted:
            raise WrongCertificate(f"the second check of a proof failed: {query.text}")
        count += 1
    return count


STEPS = 40
"""The number of sampled steps that are searched for in the formulas."""


def audit(encoding: Encoding, samples: Samples, clock: QueryBudget) -> None:
    """Checks that sampled steps of the interpreter satisfy the formulas that a proof is checked
    with.

    Raises :class:`WrongCertificate` where one does not, and :class:`solver_queries.GaveUp`.
    """
    steps = [(before, after) for after, before in samples.states.items() if before is not None]
    for before, after in steps[:: max(len(steps) // STEPS, 1)]:
        solver = plain_solver()
        try:
            s, t = encoding.constant(before), encoding.constant(after)
        except ValueError as problem:
            raise WrongCertificate(f"a reachable state can't be encoded: {problem}") from None
        solver.add(encoding.well_formed(s), encoding.well_formed(t), encoding.step(s, t, "w"))
        if not ask(solver, clock):
            raise WrongCertificate("an interpreter step does not satisfy the encoding")


def smt2(system: TransitionSystem, certificate: Certificate) -> str:
    """Returns the queries of ``certificate`` in SMT-LIB 2: every answer has to be ``unsat``."""
    parts = [f"; {system.name}: every answer has to be unsat"]
    for query in queries(Encoding(system, reachable=True), certificate):
        solver = plain_solver()
        solver.add(*query.assertions)
        lines = [line for line in solver.to_smt2().splitlines() if not _idle(line)]
        parts += ["(reset)", "(set-logic QF_BV)", f"; {query.text}", *lines]
    return "\n".join([*parts, "(exit)", ""])


def _idle(line: str) -> bool:
    return line.startswith((";", "(set-info", "(set-logic"))


def describe_fact(system: TransitionSystem, fact: Fact) -> str:
    """Describes ``fact`` in words."""
    match fact:
        case Typed():
            return "every value is of its type"
        case Lemma(expr):
            from checker.model.dump import text

            return text(expr)
        case Safe(index):
            return system.properties[index].asked
        case Faultless():
            return "no run meets an error"
        case Never(index):
            return f"the premise of {system.properties[index].asked} never holds"
        case SmtFormula(size=size):
            return f"{size} conjuncts found by property-directed reachability"
        case _:
            assert_never(fact)


def goals(system: TransitionSystem) -> tuple[Fact, ...]:
    """Returns the proof goals: every ``INVARIANT`` property, and that there is no runtime error."""
    kind = ir.PropertyKind.INVARIANT
    safe = [Safe(i) for i, prop in enumerate(system.properties) if prop.kind is kind]
    return (*safe, Faultless())
