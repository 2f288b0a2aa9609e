"""Encodes a transition system as formulas over Booleans and bit vectors.

The steps of a system are written once, over two states of their own, and renamed for every pair of
states in a query.  An instance of an action whose parameters are known has constant indices almost
everywhere, so parameters are enumerated unless there are too many: a step is the number of an
instance, what that instance changes, and that nothing else changes (the explanatory frame axioms of
planning as satisfiability: Kautz, McAllester and Selman, KR 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3
from msgspec import Struct

from checker.engines.symbolic.bodies import Body, Inputs
from checker.engines.symbolic.evaluation import Evaluation
from checker.engines.symbolic.shapes import Fresh, Shape, equal_terms, flat, plain, shape
from checker.engines.symbolic.symbolic_values import lift
from checker.engines.symbolic.terms import (
    Truth,
    both,
    conjunction,
    disjunction,
    either,
    implication,
    negation,
    term_of,
)
from checker.model import interpreter, ir
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.results.answer import Unsupported

INSTANCES = 600
"""The largest number of enumerated instances of one action; of more, parameters are inputs."""

QUICKLY = 2000
"""Milliseconds for the query whether a loop can continue."""


class Symbolic(Struct, frozen=True):
    """A symbolic state: its constants (or values), in a fixed order."""

    name: str
    terms: tuple[z3.ExprRef, ...]


class _Instance(Struct, frozen=True):
    """An action with its parameters: when it is enabled, and the terms that it changes."""

    enabled: Truth
    changes: dict[int, z3.ExprRef]


class Encoding:
    """A transition system as formulas of z3.

    ``reachable``: sets and bags have room only for elements that some step from such a state may
    add, which is all that reachable states need; otherwise for every value of their type.  ``look``
    is called now and then while the formulas are written, and may raise.

    Raises :class:`Unsupported` where the system can't be encoded.
    """

    def __init__(
        self,
        system: TransitionSystem,
        *,
        reachable: bool = False,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self.system = system
        self._look = look
        self._shapes = [self._shape(v, not reachable) for v in system.variables]
        self._quick = z3.SolverFor("QF_BV")
        self._quick.set("timeout", QUICKLY)
        self._quick.set("ctrl_c", False)  # z3 would swallow the signal
        self._known: dict[int, tuple[ir.Expr, z3.BoolRef, z3.BoolRef]] = {}
        while True:
            self._write()
            if not any([each.grow() for each in self._shapes]):
                break
        self._step = z3.simplify(term_of(self._steps()))
        self._faulty = z3.simplify(term_of(disjunction(self._faults)))

    def _shape(self, variable: ir.Variable, every: bool) -> Shape:
        try:
            return shape(variable.type, every)
        except Unsupported as why:
            raise Unsupported(f"`{variable.title or variable.name}`: {why}") from None

    def _write(self) -> None:
        """Encodes the initial states and every instance, over the known elements of collections.

        Any further element that is added is noted in the collection's shape: those without a place
        after the last iteration are in no reachable state.
        """
        fresh = Fresh()
        variables = zip(self.system.variables, self._shapes, strict=True)
        self._before = [fresh.value(shape, f"{v.name}@s") for v, shape in variables]
        self._s = Symbolic("s", tuple(fresh.made))
        self._t = self.state("t")
        self._well_formed = term_of(conjunction(fresh.rules))
        self._quick.reset()
        self._quick.add(self._well_formed)
        self._inputs: dict[str, z3.ExprRef] = {}
        self._faults: list[Truth] = []
        self._start, self._start_inputs = self._initial()
        self.instances = [i for a in self.system.actions for i in self._instances(a)]

    # -- states ---------------------------------------------------------------------------------

    def state(self, name: str) -> Symbolic:
        """Returns constants of a state, called ``<variable>…@name``."""
        if name == "s":
            return self._s
        sorts = (t.sort() for t in self._s.terms)
        made = (z3.Const(f"{n}@{name}", s) for n, s in zip(self._names(), sorts, strict=True))
        return Symbolic(name, tuple(made))

    def _names(self) -> Iterator[str]:
        """Yields the names of the constants of a state, without the state's."""
        for term in self._s.terms:
            head, _, tail = term.decl().name().rpartition("@s")
            yield f"{head}{tail}"

    def constants(self, s: Symbolic) -> list[z3.ExprRef]:
        """Returns the constants of ``s`` in a fixed order."""
        return list(s.terms)

    def constant(self, state: State) -> Symbolic:
        """Encodes a known state; raises ``ValueError`` for an element without a place here."""
        terms: list[z3.ExprRef] = []
        for each, value in zip(self._shapes, state, strict=True):
            terms += flat(each, lift(each.type, value))
        if any([each.lacks() for each in self._shapes]):
            raise ValueError("this state holds what no reachable one does")
        return Symbolic("known", tuple(terms))

    def value(self, model: z3.ModelRef, s: Symbolic) -> State:
        """Returns the state that ``s`` is in ``model``."""

        def meaning(term: z3.ExprRef) -> int:
            found = model.eval(term, model_completion=True)
            return int(found.as_long() if z3.is_bv(found) else z3.is_true(found))

        terms = iter(s.terms)
        return tuple(plain(shape, terms, meaning) for shape in self._shapes)

    def equal(self, s: Symbolic, t: Symbolic) -> z3.BoolRef:
        """Returns whether ``s`` and ``t`` are the same state."""
        pairs = zip(s.terms, t.terms, strict=True)
        return term_of(conjunction(equal_terms(a, b) for a, b in pairs))

    # -- formulas -------------------------------------------------------------------------------

    def well_formed(self, s: Symbolic) -> z3.BoolRef:
        """Returns whether the constants of ``s`` are those of values of the variables' types."""
        return self._substitute(self._well_formed, s)

    def initial(self, s: Symbolic) -> z3.BoolRef:
        """Returns whether ``s`` is an initial state."""
        start = self._substitute(self._start, s)
        return self._with_inputs(start, self._start_inputs, f"init@{s.name}")

    def step(self, s: Symbolic, t: Symbolic, name: str) -> z3.BoolRef:
        """Returns whether some transition without an error leads from ``s`` to ``t``; the
        transition is given by fresh constants whose names begin with ``name``.
        """
        renamed = self._substitute(self._step, s, t)
        return self._with_inputs(renamed, self._inputs, name)

    def faulty(self, s: Symbolic, name: str) -> z3.BoolRef:
        """Returns whether some instance of an action meets a runtime error in ``s``."""
        return self._with_inputs(self._substitute(self._faulty, s), self._inputs, name)

    def bad(self, s: Symbolic, index: int) -> z3.BoolRef:
        """Returns whether ``INVARIANT`` property number ``index`` is violated in ``s``; an error in
        its evaluation counts as a violation.
        """
        value, failed = self._evaluate(self.system.properties[index].bad)
        return self._substitute(term_of(either(value, failed)), s)

    def holds(self, s: Symbolic, expr: ir.Expr) -> z3.BoolRef:
        """Returns the value of a Boolean expression in ``s``; arbitrary where it meets an error."""
        return self._substitute(self._evaluate(expr)[0], s)

    def _evaluate(self, expr: ir.Expr) -> tuple[z3.BoolRef, z3.BoolRef]:
        if id(expr) not in self._known:
            run = Evaluation(self._state())
            value = z3.simplify(term_of(run.value(expr, {})))
            self._known[id(expr)] = expr, value, z3.simplify(term_of(run.failure()))
        return self._known[id(expr)][1:]

    def _substitute(
        self, formula: z3.BoolRef, s: Symbolic, t: Symbolic | None = None
    ) -> z3.BoolRef:
        pairs = list(zip(self._s.terms, s.terms, strict=True))
        if t is not None:
            pairs += zip(self._t.terms, t.terms, strict=True)
        return z3.substitute(formula, *pairs) if pairs else formula

    def _with_inputs(
        self, formula: z3.BoolRef, inputs: dict[str, z3.ExprRef], name: str
    ) -> z3.BoolRef:
        pairs = [(term, z3.Const(f"{name}.{n}", term.sort())) for n, term in inputs.items()]
        return z3.substitute(formula, *pairs) if pairs else formula

    # -- the system -----------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        names = (v.name for v in self.system.variables)
        return dict(zip(names, self._before, strict=True))

    def _possible(self, condition: Truth) -> bool:
        if isinstance(condition, bool):
            return condition
        self._look()
        self._look()
        return bool(self._quick.check(condition) != z3.unsat)

    def _body(self, inputs: dict[str, z3.ExprRef]) -> Body:
        return Body(self._state(), inputs=Inputs(inputs), possible=self._possible)

    def _instances(self, action: ir.Action) -> Iterator[_Instance]:
        for body in self._bindings(action, 0, self._body(self._inputs), 1):
            self._look()
            guard = body.value(action.guard, body.names)
            self._settle(body, guard)
            if body.alive is False:
                continue
            body.run(action.body + self.system.monitor)
            self._faults += body.faults
            enabled = both(body.alive, negation(body.failure()))
            if enabled is not False:
                yield _Instance(enabled, self._changes(body.state))

    def _bindings(self, action: ir.Action, depth: int, body: Body, ways: int) -> Iterator[Body]:
        """Yields executions in which the parameters are bound, of all instances together."""
        if depth == len(action.params):
            yield body
            return
        param = action.params[depth]
        members = body.members(param.domain, body.names, True)
        self._settle(body, True)
        ways *= len(members)
        if ways > INSTANCES:
            body.names[param.name] = body.one_of(
                param.domain, members, param.name, param.where, True
            )
            self._settle(body, True)
            yield from self._bindings(action, depth + 1, body, ways // len(members))
            return
        for member, when in members:
            inner = Body(
                dict(body.state),
                both(body.alive, when),
                [],
                {**body.names, param.name: member},
                Inputs(self._inputs, body.inputs.count),
                body.possible,
            )
            where = inner.value(param.where, inner.names)
            self._settle(inner, where)
            if inner.alive is not False:
                yield from self._bindings(action, depth + 1, inner, ways)

    def _settle(self, body: Body, goes_on: Truth) -> None:
        """Records the errors that were met so far: no step follows them."""
        self._faults += body.faults
        body.alive = conjunction((body.alive, goes_on, negation(body.failure())))
        body.faults = []

    def _changes(self, state: dict[str, Any]) -> dict[int, z3.ExprRef]:
        found: dict[int, z3.ExprRef] = {}
        start = 0
        variables = self.system.variables
        for variable, each, old in zip(variables, self._shapes, self._before, strict=True):
            new = state[variable.name]
            if new is not old:
                terms = list(self._s.terms[start : start + each.size])
                for index, term in enumerate(flat(each, new, old, terms)):
                    if not term.eq(terms[index]):
                        found[start + index] = term
            start += each.size
        return found

    def _steps(self) -> Truth:
        count = len(self.instances)
        if not count:
            return False
        is_it = Inputs(self._inputs, name="instance").one_of(count)
        parts: list[Truth] = [
            disjunction(both(w, i.enabled) for w, i in zip(is_it, self.instances, strict=True))
        ]
        changing: dict[int, list[Truth]] = {}
        for when, instance in zip(is_it, self.instances, strict=True):
            for index, term in instance.changes.items():
                changing.setdefault(index, []).append(when)
                parts.append(implication(when, equal_terms(self._t.terms[index], term)))
        for index, (old, new) in enumerate(zip(self._s.terms, self._t.terms, strict=True)):
            unchanged = equal_terms(new, old)
            parts.append(disjunction((unchanged, *changing.get(index, ()))))
        return conjunction(parts)

    def _initial(self) -> tuple[z3.BoolRef, dict[str, z3.ExprRef]]:
        inputs: dict[str, z3.ExprRef] = {}
        known = {v.name: lift(v.type, v.initial) for v in self.system.variables}
        body = Body(known, inputs=Inputs(inputs), possible=self._possible)
        body.run(self.system.init + self.system.monitor)
        if self._possible(body.failure()):
            interpreter.initial_states(self.system)  # raises the runtime error
        terms: list[z3.ExprRef] = []
        for variable, each in zip(self.system.variables, self._shapes, strict=True):
            terms += flat(each, body.state[variable.name])
        pairs = zip(self._s.terms, terms, strict=True)
        start = conjunction(
            (body.alive, negation(body.failure()), *(equal_terms(a, b) for a, b in pairs))
        )
        return z3.simplify(term_of(start)), inputs
