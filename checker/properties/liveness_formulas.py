"""Translates liveness properties to propositions, a temporal formula over them, and parameters.

A `forall` over rigid values becomes parameters of the property where it is outermost, and is
expanded otherwise.  Where both sides of `a ~> b` are monotone (histories grow, and who is correct
is fixed in an execution) only their limits matter, for all values at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import assert_never

from msgspec import Struct, field

from checker.diagnostics import SpecError
from checker.instantiate.protocol.expressions import Env, as_domain, bind_domain, exists, lower
from checker.instantiate.protocol.patterns import match_pattern
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.variable_names import BYZANTINE
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, fresh, member, negation
from checker.model.evaluate import RunFault, Scope, evaluate, members
from checker.model.ir import Automaton, Expr, Formula, Holds, Quantifier
from checker.model.names import free_in
from checker.model.tree import placeless
from checker.model.types import BOOL, SetT
from checker.properties.buchi_automaton import (
    FALSE,
    TRUE,
    AutomatonTooLarge,
    accepting,
    always,
    both,
    either,
    eventually,
    inverse,
    normal,
)
from checker.properties.growth import grows, is_rigid
from checker.properties.merging import Merging, renumber_propositions
from checker.properties.polarity import may_be_correct, stands_in_premise_only
from checker.properties.premises import is_temporal, premise_of, spec_text
from checker.properties.reader import Reader
from checker.records import replace

INSTANCES = 4096
"""The largest number of values for which a formula is expanded."""

Binders = tuple[typed.Binder, ...]


class LivenessParts(Struct, frozen=True):
    """The parts of a ``LIVENESS`` property."""

    premise: Expr
    params: tuple[ir.Param, ...]
    propositions: tuple[Expr, ...]
    formula: Formula
    automaton: Automaton
    given: ir.Given | None


def liveness_parts(world: World, formula: typed.Expr) -> LivenessParts:
    """Compiles ``formula``, which is about executions; raises :class:`SpecError` (N213) if too
    large."""
    env = Env(world, world.instances[0], None, {}, Reader(world, world.correct).read)
    premise = premise_in_states(world, formula)
    taken = premise_of(formula)
    granted = "" if taken is None else spec_text(taken, env)
    try:
        try:
            asked = _Asked(world)
            return _question(asked, premise, *asked.outermost(formula, env), granted)
        except (_Odd, AutomatonTooLarge):
            asked = _Asked(world)
            return _question(asked, premise, *asked.with_correct_set(formula), granted)
    except AutomatonTooLarge:
        raise too_large(formula) from None


def too_large(formula: typed.Expr) -> SpecError:
    """Returns the error that the automaton of ``formula`` is too large (N213)."""
    message = "this formula is too large once its quantifiers are expanded"
    hint = "put `forall` outermost, or split the property"
    return refuse("N213", message, formula.span, hint)


class Translation(Struct, frozen=True):
    """A formula, for all values of ``params``; ``given``: its premise over executions;
    ``correct``: the first parameter, where it is the set of the correct processes."""

    params: tuple[ir.Param, ...]
    propositions: tuple[Expr, ...]
    formula: Formula
    given: Formula | None
    correct: ir.Local | None


def translation(world: World, formula: typed.Expr, *, at_once: bool) -> Translation:
    """Translates ``formula``; raises :class:`AutomatonTooLarge`.

    Which processes are correct does not change in an execution: as far as a fault decides it, the
    set of these processes is a parameter.  ``at_once``: what can be asked for all values in one
    proposition is.
    """
    asked = _Asked(world, shortens=at_once)
    try:
        if any(map(asked.is_decided_by_faults, nodes(formula))):
            params, whole, given = asked.for_correct_set(formula)
        else:
            env = Env(world, world.instances[0], None, {}, Reader(world, world.correct).read)
            params, whole, given = asked.outermost(formula, env)
    except _Odd:
        raise AutomatonTooLarge from None
    merging = Merging(asked.known)
    formulas = [merging.merge(normal(f)) for f in (whole, given) if f is not None]
    propositions, (whole, *more) = renumber_propositions(asked.known, *formulas)
    return Translation(params, propositions, whole, next(iter(more), None), asked.correct_set)


def right_set(world: World, chosen: Expr, correct: Callable[[Expr], Expr]) -> Expr:
    """Returns whether ``chosen`` is the set of the processes that are ``correct``."""
    process = ir.Local(world.proc, fresh("_p"))
    same = build.equal(member(process, chosen), correct(process))
    domain = ir.Universe(world.proc)
    return ir.Quant(Quantifier.FORALL, process.name, domain, same, BOOL)


def premise_in_states(world: World, formula: typed.Expr) -> Expr:
    """Returns the state predicate that must be reachable, or else ``formula`` is vacuous."""
    return _premise(
        formula, (), Env(world, world.instances[0], None, {}, Reader(world, world.correct).read)
    )


def _question(
    asked: _Asked,
    premise: Expr,
    params: tuple[ir.Param, ...],
    whole: Formula,
    given: Formula | None,
    granted: str,
) -> LivenessParts:
    """Assembles the parts of a property with the propositions that remain after merging."""
    merging = Merging(asked.known)
    formulas = [merging.merge(f) for f in (inverse(whole), given) if f is not None]
    propositions, (against, *more) = renumber_propositions(asked.known, *formulas)
    taken = ir.Given(accepting(more[0]), granted) if more else None
    return LivenessParts(premise, params, propositions, inverse(against), accepting(against), taken)


class _Odd(Exception):
    """Raised where `correct` occurs in a position that has no temporal translation."""


# ---- shapes -----------------------------------------------------------------------------------


class _LeadsTo(Struct, frozen=True):
    """``premise ~> goal``; ``premise`` ``None``: `true`."""

    premise: typed.Expr | None
    goal: typed.Expr


def _leads_to(expr: typed.Expr) -> _LeadsTo | None:
    """Returns ``expr`` as a leads-to between state predicates; ``None`` if it is not one."""
    match expr:
        case typed.Temporal(_, "~>", (premise, goal), _):
            found = _LeadsTo(premise, goal)
        case typed.Temporal(_, "eventually", (goal,), _):
            found = _LeadsTo(None, goal)
        case typed.Temporal(_, "always", (typed.Temporal(_, "eventually", (goal,), _),), _):
            found = _LeadsTo(None, goal)
        case typed.Temporal(_, "always", (typed.Operation(_, "=>") as inner,), _):
            inside = _implication(inner)
            if inside is None:
                return None
            found = inside
        case typed.Operation(_, "=>", (premise, _), _) if is_rigid(premise):
            inside = _implication(expr)
            if inside is None:
                return None
            found = inside
        case _:
            return None
    return None if is_temporal((found.premise, found.goal)) else found


def _implication(expr: typed.Operation) -> _LeadsTo | None:
    match expr.args:
        case (premise, typed.Temporal(_, "eventually", (goal,), _)):
            return _LeadsTo(premise, goal)
        case _:
            return None


def _settles(binders: Binders, parts: _LeadsTo) -> bool:
    """Tells whether in every execution both sides, for all values, stay true once true.

    The premise of a plain `eventually` is true initially, so only the goal matters.
    """
    ranges = all(
        is_rigid(b.pattern) and grows(b.domain) and (b.where is None or grows(b.where))
        for b in binders
    )
    return ranges and (parts.premise is None or grows(parts.premise)) and grows(parts.goal)


def _exists(binders: Binders, body: typed.Expr | None, goal: typed.Expr | None, env: Env) -> Expr:
    """Builds that some values of ``binders`` satisfy ``body`` and not ``goal``."""

    def instance(inner: Env) -> Expr:
        here = ir.TRUE if body is None else lower(body, inner)
        return here if goal is None else conj(here, negation(lower(goal, inner)))

    return exists(binders, env, instance)


def _premise(formula: typed.Expr, binders: Binders, env: Env) -> Expr:
    """Builds the state predicate that must be reachable, or else the property is vacuous."""
    match formula:
        case typed.Quantified(_, "forall", inner, body, _):
            return _premise(body, binders + inner, env)
        case typed.Operation(_, "and", parts, _):
            found = [p for part in parts if (p := _premise(part, binders, env)) != ir.TRUE]
            return build.disj(*found) if found else ir.TRUE
        case typed.Temporal(_, "always", (typed.Operation(_, "=>", (premise, _), _),), _):
            pass
        case typed.Temporal(_, "~>", (premise, _), _):
            pass
        case typed.Operation(_, "=>", (given, _), _):
            premise = _observable(given)
        case _:
            return ir.TRUE
    if is_temporal((premise, *(b.where for b in binders))):
        return ir.TRUE
    return _exists(binders, premise, None, env)


def _observable(given: typed.Expr) -> typed.Expr:
    """Returns a predicate that holds in some state of each execution that satisfies ``given``.

    The processes that are correct in an execution are those that are correct in its last states.
    """
    match given:
        case typed.Temporal(_, "always" | "eventually", (part,), _):
            return _observable(part)
        case typed.Operation(_, "and", parts, _):
            return next((_observable(p) for p in parts if is_temporal(p)), given)
        case _:
            return given


# ---- translation ------------------------------------------------------------------------------


class _Asked(Struct):
    """Collects the propositions of a formula.  ``correct_set``: the expression for the set of
    correct processes, where that is fixed; ``shortens``: what can be asked for all values in one
    proposition is."""

    world: World
    correct_set: ir.Local | None = None
    shortens: bool = True
    known: dict[Expr, int] = field(default_factory=dict)
    alike: dict[str, Expr] = field(default_factory=dict)
    written: int = 0

    def proposition(self, expr: Expr) -> Formula:
        """Returns the formula of a state predicate; constants are evaluated immediately."""
        value = _constant(expr)
        if value is not None:
            return TRUE if value else FALSE
        if isinstance(expr, ir.Apply) and expr.op is ir.Op.NOT:
            return inverse(self.proposition(expr.args[0]))
        if isinstance(expr, ir.Apply) and expr.op is ir.Op.LT:
            left, right = expr.args
            return inverse(self.proposition(build.at_most(right, left)))
        first = self.alike.setdefault(_shape(expr), expr)
        return Holds(self.known.setdefault(first, len(self.known)))

    # ---- outermost ----------------------------------------------------------------------------

    def outermost(
        self, formula: typed.Expr, env: Env, params: tuple[ir.Param, ...] = ()
    ) -> tuple[tuple[ir.Param, ...], Formula, Formula | None]:
        """Returns the parameters and formula of a whole property, and its premise over
        executions."""
        binders: Binders = ()
        while isinstance(formula, typed.Quantified) and formula.kind == "forall":
            binders += formula.binders
            formula = formula.body
        if self.shortens:
            if isinstance(formula, typed.Operation) and formula.op == "and":
                parts = (self.conjunct(part, binders, env) for part in formula.args)
                return params, both(list(parts)), self.assumption(formula, env, binders)
            simple = self.at_once(formula, binders, env)
            if simple is not None:
                return params, simple, None
        premises: list[Formula] = []
        for binder in binders:
            param, premise, env = self.parameter(binder, env)
            params += (param,)
            premises.append(premise)
        given = self.assumption(formula, env)
        whole = either([*map(inverse, premises), self.formula(formula, env)])
        return params, whole, None if given is None else both([*premises, given])

    def assumption(self, formula: typed.Expr, env: Env, binders: Binders = ()) -> Formula | None:
        """Returns the condition on executions under which ``formula``, for all ``binders``, is not
        vacuous; ``None`` where no premise is about whole executions."""
        if binders:
            formula = typed.Quantified(formula.type, "forall", binders, formula, formula.span)
        taken = premise_of(formula)
        return None if taken is None else self.formula(taken, env)

    def with_correct_set(
        self, formula: typed.Expr
    ) -> tuple[tuple[ir.Param, ...], Formula, Formula | None]:
        """Returns the same with the set of correct processes as a parameter of the property.

        From some point on the set of correct processes is constant, so that `eventually always`
        expresses that it is the right one.
        """
        self.shortens = False
        params, whole, given = self.for_correct_set(formula)
        assert self.correct_set is not None
        right = right_set(self.world, self.correct_set, self.world.correct)
        settled = eventually(always(self.proposition(right)))
        given = None if given is None else both([settled, given])
        return params, either([inverse(settled), whole]), given

    def for_correct_set(
        self, formula: typed.Expr
    ) -> tuple[tuple[ir.Param, ...], Formula, Formula | None]:
        """Returns the same where the first parameter is the set of correct processes."""
        world = self.world
        everybody = ir.Const(SetT(world.proc), world.processes(None))
        chosen = ir.Local(everybody.type, fresh("correct"))
        self.correct_set = chosen
        reader = Reader(world, lambda process: member(process, chosen))
        env = Env(world, world.instances[0], None, {}, reader.read)
        param = ir.Param(chosen.name, ir.Subsets(everybody, everybody.type), ir.TRUE)
        return self.outermost(formula, env, (param,))

    def conjunct(self, expr: typed.Expr, binders: Binders, env: Env) -> Formula:
        """Translates one conjunct, for all values of ``binders``."""
        match expr:
            case typed.Quantified(_, "forall", inner, body, _):
                return self.conjunct(body, binders + inner, env)
            case typed.Operation(_, "and", parts, _):
                return both([self.conjunct(part, binders, env) for part in parts])
        simple = self.at_once(expr, binders, env)
        if simple is not None:
            return simple
        instances = list(self.instances(binders, env))
        return both([either([inverse(c), self.formula(expr, e)]) for e, c in instances])

    def at_once(self, expr: typed.Expr, binders: Binders, env: Env) -> Formula | None:
        """Translates ``forall binders: expr`` without expanding it, where that is possible."""
        parts = _leads_to(expr)
        if parts is not None and _settles(binders, parts):
            bad = self.proposition(_exists(binders, parts.premise, parts.goal, env))
            return always(eventually(inverse(bad)))
        match expr:
            case typed.Temporal(_, "always", (body,), span) if not is_temporal(body):
                if binders:
                    body = typed.Quantified(body.type, "forall", binders, body, span)
                if stands_in_premise_only(self.world, body):
                    reader = Reader(self.world, may_be_correct(self.world))
                    return always(self.proposition(lower(body, replace(env, history=reader.read))))
        return None

    def parameter(self, binder: typed.Binder, env: Env) -> tuple[ir.Param, Formula, Env]:
        """Makes a binder a parameter; the formula is its condition, where that is about
        executions."""
        where = binder.where
        outside = where is not None and self.is_timed(where)
        inside = None if outside else where
        name, domain, condition, env = bind_domain(binder.pattern, binder.domain, inside, env)
        premise = self.formula(where, env) if outside and where is not None else TRUE
        return ir.Param(name, domain, condition), premise, env

    # ---- anywhere -----------------------------------------------------------------------------

    def is_timed(self, expr: typed.Expr) -> bool:
        """Tells whether ``expr`` is more than a state predicate."""
        return any(isinstance(n, typed.Temporal) or self._is_correct(n) for n in nodes(expr))

    def _is_correct(self, node: object) -> bool:
        return self.correct_set is None and self.is_decided_by_faults(node)

    def is_decided_by_faults(self, node: object) -> bool:
        """Tells whether ``node`` is `correct(p)`, and not the same in all executions from the same
        initial state."""
        if not isinstance(node, typed.Correct):
            return False
        now = self.world.correct(ir.Local(self.world.proc, "_p"))
        chosen = {n.variable for n in nodes(now) if isinstance(n, ir.Read)} <= {BYZANTINE}
        return node.kind == "correct" and not chosen  # Byzantine processes are fixed initially

    def formula(self, expr: typed.Expr, env: Env) -> Formula:
        """Translates ``expr``, in which temporal operators and `correct` may occur; raises
        :class:`_Odd`."""
        if not self.is_timed(expr):
            return self.proposition(lower(expr, env))
        match expr:
            case typed.Temporal(_, "always", (part,), _):
                return always(self.formula(part, env))
            case typed.Temporal(_, "initially", (part,), _):
                return self.proposition(lower(part, env))  # it stands before all other operators
            case typed.Temporal(_, "eventually", (part,), _):
                return eventually(self.formula(part, env))
            case typed.Temporal(_, _, (premise, goal), _):
                excused = inverse(self.formula(premise, env))
                return always(either([excused, eventually(self.formula(goal, env))]))
            case typed.Operation(_, "not", (part,), _):
                return inverse(self.formula(part, env))
            case typed.Operation(_, "and", parts, _):
                return both([self.formula(part, env) for part in parts])
            case typed.Operation(_, "or", parts, _):
                return either([self.formula(part, env) for part in parts])
            case typed.Operation(_, "=>", (premise, goal), _):
                return either([inverse(self.formula(premise, env)), self.formula(goal, env)])
            case typed.Quantified(_, kind, binders, body, _):
                found = [(c, self.formula(body, e)) for e, c in self.instances(binders, env)]
                if kind == "forall":
                    return both([either([inverse(c), f]) for c, f in found])
                return either([both([c, f]) for c, f in found])
            case typed.Correct(_, _, process, _):
                now = self.proposition(self.world.correct(lower(process, env)))
                return eventually(always(now)) if self.world.recovers else always(now)
            case _:
                raise _Odd

    def instances(self, binders: Binders, env: Env) -> Iterator[tuple[Env, Formula]]:
        """Yields every assignment to ``binders``: its scope, and the condition that it is
        admitted."""
        if not binders:
            yield env, TRUE
            return
        binder, rest = binders[0], binders[1:]
        if not is_rigid(binder.domain):
            if self.correct_set is None and not is_temporal(binder):
                raise _Odd
            raise refuse("N019", "this set changes during a run", binder.domain.span)
        for value, inside in self.values(as_domain(binder.domain, env)):
            self.written += 1
            if self.written > INSTANCES:
                raise AutomatonTooLarge
            condition, names = match_pattern(binder.pattern, value, env)
            inner = env.bind_all(names)
            here = self.proposition(conj(inside, condition))
            if here != FALSE and binder.where is not None:
                here = both([here, self.formula(binder.where, inner)])
            if here == FALSE:
                continue
            for last, more in self.instances(rest, inner):
                yield last, both([here, more])

    def values(self, domain: ir.Domain) -> list[tuple[Expr, Expr]]:
        """Returns the members of ``domain``, or all values of its type with the membership
        condition."""
        item = ir.domain_item(domain)
        try:
            found = list(members(domain, Scope({}, {})))
        except KeyError:  # it depends on a parameter
            everything = members(ir.Universe(item), Scope({}, {}))
            return [(c, among(c, domain)) for c in (ir.Const(item, v) for v in everything)]
        return [(ir.Const(item, v), ir.TRUE) for v in found]


def _shape(expr: Expr) -> str:
    """Returns a text that is the same for expressions that differ in places and bound names
    only."""
    free, numbers = free_in(expr), dict[str, int]()

    def name(found: re.Match[str]) -> str:
        bound = numbers.setdefault(found[1], len(numbers)) if found[1] not in free else found[1]
        return f"name={bound!r}"

    return re.sub(r"\bname='([^']*\.\d+)'", name, repr(placeless(expr)))


def among(value: Expr, domain: ir.Domain) -> Expr:
    match domain:
        case ir.Members(of):
            return member(value, of)
        case ir.Subsets(of):
            return ir.Apply(BOOL, ir.Op.SUBSET, (value, of))
        case ir.Universe():
            return ir.TRUE
        case _:
            assert_never(domain)


def _constant(expr: Expr) -> bool | None:
    """Returns the value of a closed expression."""
    try:
        return bool(evaluate(expr, Scope({}, {})))
    except (KeyError, RunFault):
        return None
