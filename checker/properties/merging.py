"""Simplifies temporal formulas by merging propositions.

A rigid proposition, one that reads parameters and no state, commutes with every temporal operator.
`always eventually` distributes over `or`, `eventually always` over `and`; with rigid propositions
both distribute over both.
"""

from __future__ import annotations

from msgspec import Struct

from checker.instantiate.protocol.walk import nodes
from checker.model import build, ir
from checker.model.build import negation
from checker.model.ir import Connective, Expr, Formula, Holds, Modal
from checker.properties.buchi_automaton import always, both, either, eventually


class Merging(Struct, frozen=True):
    """Merges propositions; ``known`` maps propositions to numbers and receives the merged ones."""

    known: dict[Expr, int]

    def merge(self, formula: Formula) -> Formula:
        """Returns an equivalent of ``formula``, which is in negation normal form."""
        match formula:
            case Connective("and" | "or" as op, parts) if parts:
                return self._join(op, [self.merge(part) for part in parts])
            case Modal("always", part):
                inner = self.merge(part)
                return inner if self._constant(inner) else always(inner)
            case Modal(_, part):
                inner = self.merge(part)
                return inner if self._constant(inner) else eventually(inner)
            case _:
                return formula

    def _join(self, op: str, parts: list[Formula]) -> Formula:
        """Joins ``parts`` by ``op``: first state predicates, then `always eventually` or
        `eventually always`."""
        plain = [p for p in parts if self._predicate(p) is not None]
        others = [p for p in parts if self._predicate(p) is None]
        if len(plain) > 1:
            constant = [p for p in plain if self._constant(p)]
            varying = [p for p in plain if not self._constant(p)]
            plain = [self._as_one(op, group) for group in (constant, varying) if group]
        for shape in (("always", "eventually"), ("eventually", "always")):
            bodies = [_body(p, shape) for p in others]
            found = [self._predicate(b) for b in bodies if b is not None]
            free = op == ("or" if shape[0] == "always" else "and")
            if others and len(found) == len(others) and None not in found:
                if all(self._constant(p) for p in plain) and (free or len(others) == 1):
                    one = self._as_one(op, [*plain, *(b for b in bodies if b is not None)])
                    return Modal(shape[0], Modal(shape[1], one))
        return both([*plain, *others]) if op == "and" else either([*plain, *others])

    def _as_one(self, op: str, parts: list[Formula]) -> Formula:
        if len(parts) == 1:
            return parts[0]
        predicates = [p for p in map(self._predicate, parts) if p is not None]
        whole = build.conj(*predicates) if op == "and" else build.disj(*predicates)
        return Holds(self.known.setdefault(whole, len(self.known)))

    def _predicate(self, formula: Formula) -> Expr | None:
        """Returns the expression of a formula without temporal operators."""
        match formula:
            case Holds(index):
                return list(self.known)[index]
            case Connective("not", (part,)):
                inner = self._predicate(part)
                return None if inner is None else negation(inner)
            case Connective(op, parts):
                found = [self._predicate(part) for part in parts]
                known = [p for p in found if p is not None]
                if len(known) < len(found):
                    return None
                return build.conj(*known) if op == "and" else build.disj(*known)
            case _:
                return None

    def _constant(self, formula: Formula) -> bool:
        """Tells whether ``formula`` is a predicate that reads parameters only."""
        predicate = self._predicate(formula)
        return predicate is not None and not any(isinstance(n, ir.Read) for n in nodes(predicate))


def _body(formula: Formula, shape: tuple[str, str]) -> Formula | None:
    match formula:
        case Modal(outer, Modal(inner, body)) if (outer, inner) == shape:
            return body
        case _:
            return None


def renumber_propositions(
    known: dict[Expr, int], *formulas: Formula
) -> tuple[tuple[Expr, ...], tuple[Formula, ...]]:
    """Returns the propositions that ``formulas`` mention, and the formulas renumbered."""
    order: dict[int, int] = {}

    def renumber(part: Formula) -> Formula:
        match part:
            case Holds(index):
                return Holds(order.setdefault(index, len(order)))
            case Connective(op, parts):
                return Connective(op, tuple(renumber(p) for p in parts))
            case Modal(op, inner):
                return Modal(op, renumber(inner))

    again = tuple(map(renumber, formulas))
    expressions = list(known)
    return tuple(expressions[index] for index in order), again
