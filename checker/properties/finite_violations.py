"""Makes the bad prefixes of a property's formula an invariant of the system.

A finite execution violates a formula if none of its continuations satisfies it, given the processes
that may still be correct: faults are never bound to happen.  Where the last state tells that, no
more is needed.  Otherwise a history variable has the state of the automaton of bad prefixes, for
all values of the formula's parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, equal, integer, negation
from checker.model.ir import FALSE, TRUE, Connective, Expr, Formula, Holds, Modal, VariableKind
from checker.model.tree import nodes, rewritten
from checker.model.types import BOOL, IntT, MapT, Type, cardinality, default
from checker.properties.bad_prefixes import (
    BAD,
    PrefixAutomaton,
    Split,
    Tree,
    bad_prefixes,
    independent_parts,
    is_safety,
    propositions_of,
)
from checker.properties.buchi_automaton import AutomatonTooLarge, inverse, normal
from checker.properties.liveness_formulas import Translation, among, right_set, translation
from checker.properties.polarity import may_be_correct, stands_in_premise_only

MOST_CASES = 256
"""The largest number of combinations of truth values of propositions without state that are
distinguished."""
MOST_INSTANCES = 4096
"""The largest number of values of the parameters for which prefixes are followed."""
VARIABLE = "@prefix."
"""Begins the names of the variables that follow prefixes."""


class FiniteViolations:
    """The violations of a property by finite executions.

    ``all``: there are no others.
    Raises :class:`AutomatonTooLarge`.
    """

    def __init__(self, world: World, name: str, formula: typed.Expr) -> None:
        self.world, self.name = world, name
        try:
            self._look(formula, translation(world, formula, at_once=False))
        except AutomatonTooLarge:
            self._look(formula, translation(world, formula, at_once=True))

    def _look(self, formula: typed.Expr, whole: Translation) -> None:
        self.found = [_Part(self.world, whole, part) for part in _parts(whole, whole.formula)]
        self.all = all(part.is_safety for part in self.found)
        if whole.correct is not None:
            self.all = self.all and stands_in_premise_only(self.world, formula)
        self.given: list[_Part] = []
        if self.all and whole.given is not None:
            against = _parts(whole, inverse(whole.given))
            self.given = [_Part(self.world, whole, part) for part in against]
            self.all = all(part.is_safety for part in self.given)

    @property
    def is_empty(self) -> bool:
        """Whether no finite execution violates the property."""
        return not any(part.cases for part in self.found)

    def adds_nothing_to(self, live: typed.PropertyDef) -> bool:
        """Tells whether the property, a conjunction of `always` of state predicates and ``live``,
        is violated by finite executions because of the first alone."""
        plain = all(part.is_plain for part in self.found)
        return plain and FiniteViolations(self.world, live.name, live.formula).is_empty

    def bad(self) -> Expr:
        """Returns that the execution up to here is a violation; declares what tells that."""
        return _declared(self.found, self.name)

    def premise(self) -> Expr | None:
        """Returns that the execution up to here satisfies the premise over executions, where there
        is one; declares what tells that."""
        return _declared(self.given, f"{self.name}.premise") if self.given else None


def _declared(parts: list[_Part], name: str) -> Expr:
    return disj(*(part.bad(f"{VARIABLE}{name}.{i}") for i, part in enumerate(parts)))


def _parts(whole: Translation, formula: Formula) -> list[Formula]:
    return independent_parts(formula, _constants(whole))


def _constants(whole: Translation) -> frozenset[int]:
    """Returns the propositions that read no state."""
    expressions = enumerate(whole.propositions)
    return frozenset(
        i for i, expr in expressions if not any(isinstance(n, ir.Read) for n in nodes(expr))
    )


class _Part:
    """Part of a formula, with the automata of its bad prefixes, each with the truth of constant
    propositions for which it counts."""

    def __init__(self, world: World, whole: Translation, formula: Formula) -> None:
        self.world, self.whole, self.formula = world, whole, formula
        self.constants = _constants(whole)
        self.cases: dict[PrefixAutomaton, Expr] = {}
        self.is_safety = True
        self.known: dict[Formula, PrefixAutomaton] = {}
        self._look(normal(formula), TRUE)
        values = prod(cardinality(ir.domain_item(param.domain)) for param in whole.params)
        if values > MOST_INSTANCES and any(prefixes.remembers for prefixes in self.cases):
            raise AutomatonTooLarge

    def _look(self, formula: Formula, case: Expr) -> None:
        """Notes the bad prefixes of ``formula``, which is meant where ``case`` is true."""
        constant = min(self.constants & {*propositions_of(formula)}, default=None)
        if constant is not None:
            for truth in (True, False):
                fixed = normal(_fixed(formula, constant, truth))
                self._look(fixed, conj(case, self._is(constant, truth)))
            return
        for part in independent_parts(formula, frozenset()):
            if part not in self.known:
                if len(self.known) >= MOST_CASES:
                    raise AutomatonTooLarge
                self.known[part] = bad_prefixes(part)
                self.is_safety = self.is_safety and is_safety(part, self.known[part])
            prefixes = self.known[part]
            if not prefixes.is_empty:
                self.cases[prefixes] = disj(self.cases.get(prefixes, FALSE), case)

    @property
    def is_plain(self) -> bool:
        """Whether no prefix is bad, or the formula is `always` of a state predicate."""
        if not self.cases:
            return True
        match normal(self.formula):
            case Modal("always", part):
                return not _is_temporal(part)
            case _:
                return False

    def bad(self, name: str) -> Expr:
        """Returns that the execution up to here is a bad prefix for some values of the parameters;
        declares variables called ``name`` where the last state does not tell that."""
        found = []
        for number, (prefixes, case) in enumerate(self.cases.items()):
            if prefixes.remembers:
                now = self._follow(f"{name}.{number}", prefixes, case)
                found.append(self._for_some(now, remembered=True))
            else:
                now = conj(case, self._fails(prefixes.moves[0]))
                found.append(self._for_some(now, remembered=False))
        return disj(*found)

    def _for_some(self, now: Expr, *, remembered: bool) -> Expr:
        """Returns ``now`` for some values of the parameters; the processes that are correct are
        those that may still be, and what is ``remembered`` is of each set of them."""
        params, chosen = self.whole.params, self.whole.correct
        may_be = may_be_correct(self.world)
        if chosen is not None and remembered:
            now = conj(right_set(self.world, chosen, may_be), now)
        elif chosen is not None:
            params = params[1:]
        for param in reversed(params):
            inner = conj(param.where, now)
            now = ir.Quant(ir.Quantifier.EXISTS, param.name, param.domain, inner, BOOL)
        return now if chosen is None or remembered else _with_correct(now, chosen, may_be)

    # ---- the last state -----------------------------------------------------------------------

    def _is(self, proposition: int, truth: bool) -> Expr:
        expr = self.whole.propositions[proposition]
        return expr if truth else negation(expr)

    def _fails(self, tree: Tree) -> Expr:
        """Returns whether ``tree`` leads to a bad prefix."""
        if not isinstance(tree, Split):
            return TRUE if tree == BAD else FALSE
        yes, no = self._fails(tree.yes), self._fails(tree.no)
        holds = self.whole.propositions[tree.proposition]
        if no == TRUE:
            return disj(negation(holds), yes)
        return disj(holds if yes == TRUE else conj(holds, yes), conj(negation(holds), no))

    # ---- all states so far --------------------------------------------------------------------

    def _follow(self, name: str, prefixes: PrefixAutomaton, case: Expr) -> Expr:
        """Declares the variable that has the automaton's state; returns whether a prefix was
        bad."""
        world, params = self.world, self.whole.params
        items = [ir.domain_item(param.domain) for param in params]
        states = IntT(0, len(prefixes.moves))
        type_: Type = states
        for item in reversed(items):
            type_ = MapT(item, type_)
        world.add(name, type_, default(type_), VariableKind.HISTORY, name.removeprefix("@"))
        now: Expr = world.read(name)
        admitted: list[Expr] = []
        for param, item in zip(params, items, strict=True):
            local = ir.Local(item, param.name)
            now = build.entry(now, local)
            admitted += [among(local, param.domain), param.where]
        after = now
        for number, tree in reversed(list(enumerate(prefixes.moves))):
            after = _if(equal(now, integer(number)), self._leaf(tree, states), after)
        after = _if(conj(*admitted, case), after, now)
        for param, item in zip(reversed(params), reversed(items), strict=True):
            after = ir.MapOf(MapT(item, after.type), param.name, after)
        world.followed.add(name)
        world.monitor.append(ir.Assign(ir.Target(type_, name, is_state=True), after))
        return equal(now, integer(states.hi))

    def _leaf(self, tree: Tree, states: IntT) -> Expr:
        if isinstance(tree, Split):
            holds = self.whole.propositions[tree.proposition]
            return _if(holds, self._leaf(tree.yes, states), self._leaf(tree.no, states))
        return ir.Const(states, states.hi if tree == BAD else tree)


def _if(condition: Expr, yes: Expr, no: Expr) -> Expr:
    if condition in (TRUE, FALSE):
        return yes if condition == TRUE else no
    return yes if yes == no else ir.Apply(no.type, ir.Op.ITE, (condition, yes, no))


def _with_correct(expr: Expr, chosen: ir.Local, correct: Callable[[Expr], Expr]) -> Expr:
    """Returns ``expr`` where ``chosen`` is the set of the processes that are ``correct``."""

    def change(node: Any) -> Expr | None:
        match node:
            case ir.Apply(_, ir.Op.IN, (process, of)) if of == chosen:
                return correct(process)
            case _:
                return None

    changed: Expr = rewritten(expr, change)
    return changed


def _fixed(formula: Formula, proposition: int, truth: bool) -> Formula:
    """Returns ``formula`` with ``truth`` in the place of ``proposition``."""
    match formula:
        case Holds(index):
            fixed = Connective("and" if truth else "or", ())
            return fixed if index == proposition else formula
        case Connective(op, parts):
            return Connective(op, tuple(_fixed(part, proposition, truth) for part in parts))
        case Modal(op, part):
            return Modal(op, _fixed(part, proposition, truth))


def _is_temporal(formula: Formula) -> bool:
    match formula:
        case Modal():
            return True
        case Connective(_, parts):
            return any(map(_is_temporal, parts))
        case _:
            return False
