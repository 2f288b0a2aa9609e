"""Property-directed reachability: z3's Spacer searches for an inductive invariant.

Bradley, *SAT-based model checking without unrolling* (VMCAI 2011); Hoder and Bjørner, *Generalized
property directed reachability* (SAT 2012); Komuravelli, Gurfinkel and Chaki (CAV 2014).

Spacer is given truth values only: over bit vectors it projects by single values and learns hardly
anything, so every constant of a state is cut into its bits, and steps are blasted to clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import z3

from checker.engines.symbolic.certificate import Fact, SmtFormula, formulas, to_smt2
from checker.engines.symbolic.encoding import Encoding, Symbolic
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget

METHOD = "property-directed reachability"


def invariant(
    encoding: Encoding, known: Iterable[Fact], goals: Iterable[Fact], clock: QueryBudget
) -> SmtFormula | None:
    """Returns an inductive invariant that implies ``goals``, relative to ``known``.

    Returns ``None`` where an execution exists in which one of ``goals`` is false.  Raises
    :class:`solver_queries.GaveUp`.
    """
    clock.look()
    known = tuple(known)
    s, t = encoding.state("s"), encoding.state("t")
    here, there = _Bits(encoding, s, "s"), _Bits(encoding, t, "t")
    context, after = formulas(encoding, known, s, "k"), formulas(encoding, known, t, "l")
    false = z3.Or(*(z3.Not(f) for f in formulas(encoding, tuple(goals), s, "g")))
    engine = z3.Fixedpoint()
    engine.set(engine="spacer")
    engine.set("ctrl_c", False)  # it would lose the signal
    engine.set("xform.inline_linear", False)
    engine.set("xform.inline_eager", False)
    reached = z3.Function("reached", *[z3.BoolSort()] * len(here.bits), z3.BoolSort())
    failed = z3.Function("failed", z3.BoolSort())
    engine.register_relation(reached, failed)
    rules: tuple[tuple[list[z3.BoolRef], list[z3.BoolRef], z3.BoolRef], ...] = (
        ([encoding.initial(s), *context], [], reached(*here.bits)),
        ([encoding.step(s, t, "w"), *context, *after], [reached(*here.bits)], reached(*there.bits)),
        ([false, *context], [reached(*here.bits)], failed()),
    )
    declared: set[int] = set()
    for conditions, relations, head in rules:
        clock.look()
        body = _bit_blast(conditions, [here, there])
        for constant in _constants([body, *here.bits, *there.bits]):
            if constant.get_id() not in declared:
                declared.add(constant.get_id())
                engine.declare_var(constant)
        engine.add_rule(head, [*relations, body])
    if (limit := clock.milliseconds) is not None:
        engine.set("timeout", limit)
    return _answer(engine, failed(), reached, here, clock)


def _answer(
    engine: z3.Fixedpoint,
    failed: z3.BoolRef,
    reached: z3.FuncDeclRef,
    here: _Bits,
    clock: QueryBudget,
) -> SmtFormula | None:
    try:
        found = engine.query(failed)
    except z3.Z3Exception as problem:
        clock.look()
        raise GaveUp(f"z3 gave up: {problem}") from None
    if found == z3.sat:
        return None
    if found == z3.unknown:
        clock.look()
        raise GaveUp(f"z3 gave up: {engine.reason_unknown() or 'no reason given'}")
    body = _definition(engine.get_answer(), reached)
    if body is None:
        raise GaveUp("z3 gave no invariant that can be read")
    plain = z3.substitute_vars(body, *reversed(here.values))
    return to_smt2(list(plain.children()) if z3.is_and(plain) else [plain])


class _Bits:
    """The constants of a state cut into truth values."""

    def __init__(self, encoding: Encoding, state: Symbolic, name: str) -> None:
        self.bits: list[z3.BoolRef] = []
        self.values: list[z3.BoolRef] = []
        self.replaced: list[tuple[z3.ExprRef, z3.ExprRef]] = []
        for constant in encoding.constants(state):
            self._cut(constant, name)

    def _cut(self, constant: z3.ExprRef, name: str) -> None:
        """Cuts ``constant`` into bits: ``bits`` represent it in rules; ``values`` are its terms."""
        first = len(self.bits)
        if z3.is_bool(constant):
            self.bits.append(z3.Bool(f"{name}!{first}"))
            self.values.append(constant)
            self.replaced.append((constant, self.bits[-1]))
            return
        assert isinstance(constant, z3.BitVecRef)
        one, zero = z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)
        for i in range(constant.size()):
            self.bits.append(z3.Bool(f"{name}!{first + i}"))
            self.values.append(z3.Extract(i, i, constant) == one)
        parts = [z3.If(bit, one, zero) for bit in reversed(self.bits[first:])]
        whole = z3.Concat(*parts) if len(parts) > 1 else parts[0]
        self.replaced.append((constant, whole))


def _bit_blast(conditions: list[z3.BoolRef], states: list[_Bits]) -> z3.BoolRef:
    """Returns the conjunction of ``conditions`` over truth values alone."""
    replaced = [pair for bits in states for pair in bits.replaced]
    goal = z3.Goal()
    goal.add(z3.substitute(z3.And(*conditions), *replaced))
    blast = z3.Then(z3.With("simplify", blast_distinct=True), "bit-blast", "simplify")
    return blast(goal).as_expr()


def _constants(exprs: Iterable[z3.ExprRef]) -> Iterator[z3.ExprRef]:
    """Yields the constants that are mentioned, each once."""
    seen: set[int] = set()
    todo = list(exprs)
    while todo:
        expr = todo.pop()
        if expr.get_id() in seen:
            continue
        seen.add(expr.get_id())
        if z3.is_const(expr) and expr.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield expr
        todo.extend(expr.children())


def _definition(answer: z3.ExprRef, reached: z3.FuncDeclRef) -> z3.BoolRef | None:
    """Returns the definition of ``reached`` in ``answer``, over its bound variables."""
    for part in answer.children() if z3.is_and(answer) else [answer]:
        inner = part.body() if z3.is_quantifier(part) else part
        if not z3.is_eq(inner):
            continue
        for one, other in (inner.children(), reversed(inner.children())):
            if z3.is_app(one) and one.decl() == reached:
                found = other
                assert isinstance(found, z3.BoolRef)
                return found
    return None
