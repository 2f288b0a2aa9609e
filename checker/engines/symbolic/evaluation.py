"""Encodes expressions as formulas: :mod:`checker.model.evaluate` over symbolic values.

Loops, quantifiers and comprehensions are unrolled over all possible members; runtime errors are
collected, each with its condition.  A part that is not evaluated (behind a lazy operator) has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import Struct, field

from checker.engines.symbolic import operations
from checker.engines.symbolic.symbolic_values import (
    SymbolicBag,
    SymbolicSeq,
    SymbolicSet,
    SymbolicVariant,
    candidates,
    lift,
    merge,
)
from checker.engines.symbolic.terms import (
    Number,
    Truth,
    at_most,
    both,
    conjunction,
    disjunction,
    either,
    less,
    multiply,
    negation,
    to_number,
    total,
)
from checker.engines.symbolic.type_membership import fits, narrow
from checker.model import ir
from checker.model.evaluate import key_rank
from checker.model.ir import Expr, Op, Quantifier
from checker.model.types import (
    BOOL,
    BagT,
    MapT,
    SeqT,
    SetT,
    Type,
    Value,
    cardinality_up_to,
    sort_key,
    universe,
)
from checker.results.answer import Unsupported

Names = Mapping[str, Any]

WIDEST = 4096
"""The largest number of members of a domain."""


class Evaluation(Struct):
    """The symbolic evaluation of expressions or of a body over ``state``.

    ``alive``: the condition under which the execution has not been excluded (by an ``Assume``) or
    met an error that was certain; ``faults``: that under which it meets an error.
    """

    state: dict[str, Any]
    alive: Truth = True
    faults: list[Truth] = field(default_factory=list)

    def fail(self, when: Truth, guard: Truth) -> None:
        """Adds a runtime error under the condition ``when``, if ``guard`` holds."""
        found = conjunction((self.alive, guard, when))
        if found is not False:
            self.faults.append(found)

    def failure(self) -> Truth:
        """Returns whether any error was met."""
        return disjunction(self.faults)

    def require_fit(self, type_: Type, value: Any, guard: Truth, known: Type | None = None) -> Any:
        """Returns ``value`` for a place of type ``type_``; adds an error where it does not fit."""
        if known is not None and (known is type_ or known == type_):
            return value
        self.fail(negation(fits(type_, value)), guard)
        return narrow(type_, value)

    # -- expressions ----------------------------------------------------------------------------

    def value(self, expr: Expr, names: Names, guard: Truth = True) -> Any:
        """Returns the value of ``expr``; its errors count where ``guard`` holds."""
        match expr:
            case ir.Const(type_, value):
                return lift(type_, value)
            case ir.Local(_, name):
                return names[name]
            case ir.Read(_, variable):
                return self.state[variable]
            case ir.Index():
                return self._index(expr, names, guard)
            case ir.Item(_, base, position):
                return self.value(base, names, guard)[position]
            case ir.Apply():
                return self._apply(expr, names, guard)
            case ir.Make(_, case, args):
                fields = tuple(self.value(a, names, guard) for a in args)
                return self.require_fit(expr.type, SymbolicVariant({case: (True, fields)}), guard)
            case ir.IsCase(base, case):
                found = self.value(base, names, guard).of.get(case)
                return False if found is None else found[0]
            case ir.CaseField(type_, base, case, position):
                found = self.value(base, names, guard).of.get(case)
                return operations.arbitrary_value(type_) if found is None else found[1][position]
            case ir.Let(_, name, value, body):
                return self.value(body, {**names, name: self.value(value, names, guard)}, guard)
            case ir.Quant():
                return self._quantifier(expr, names, guard)
            case ir.Comprehension():
                return self._comprehension(expr, names, guard)
            case ir.MapOf(type_, name, body):
                assert isinstance(type_, MapT)
                keys = (lift(type_.key, k) for k in self.all_of(type_.key))
                entries = tuple(self.value(body, {**names, name: k}, guard) for k in keys)
                return self.require_fit(type_, entries, guard)
            case _:
                assert_never(expr)

    def _index(self, expr: ir.Index, names: Names, guard: Truth) -> Any:
        base, key = self.value(expr.base, names, guard), self.value(expr.key, names, guard)
        type_ = expr.base.type
        entries, found = self.entries(base, key, type_.key if isinstance(type_, MapT) else None)
        self.fail(negation(found), guard)
        if not entries:
            return operations.arbitrary_value(expr.type)
        parts = base.slots if isinstance(base, SymbolicSeq) else base
        result = parts[entries[-1][0]]
        for rank, when in reversed(entries[:-1]):
            result = merge(when, parts[rank], result)
        return result

    def entries(
        self, base: Any, key: Any, key_type: Type | None
    ) -> tuple[list[tuple[int, Truth]], Truth]:
        """Returns the positions in ``base`` that ``key`` may denote, each with its condition, and
        whether it denotes any.
        """
        size = len(base.slots) if isinstance(base, SymbolicSeq) else len(base)
        ways: dict[int, list[Truth]] = {}
        value: Any
        for value, when in candidates(key):
            rank = key_rank(key_type, value) if key_type is not None else int(value)
            if 0 <= rank < size:
                ways.setdefault(rank, []).append(when)
        entries = [(rank, disjunction(ways[rank])) for rank in sorted(ways)]
        if not isinstance(base, SymbolicSeq):
            return entries, disjunction(when for _, when in entries)
        return entries, both(at_most(0, key), less(key, base.length))

    def _apply(self, expr: ir.Apply, names: Names, guard: Truth) -> Any:
        match expr.op:
            case Op.AND | Op.OR:
                parts: list[Truth] = []
                for arg in expr.args:
                    part = self.value(arg, names, guard)
                    goes_on = part if expr.op is Op.AND else negation(part)
                    parts.append(part)
                    if goes_on is False:
                        break
                    guard = both(guard, goes_on)
                return conjunction(parts) if expr.op is Op.AND else disjunction(parts)
            case Op.ITE:
                condition = self.value(expr.args[0], names, guard)
                if isinstance(condition, bool):
                    return self.value(expr.args[1 if condition else 2], names, guard)
                then = self.value(expr.args[1], names, both(guard, condition))
                otherwise = self.value(expr.args[2], names, both(guard, negation(condition)))
                return merge(condition, then, otherwise)
            case _:
                args = [self.value(a, names, guard) for a in expr.args]
                return operations.apply_operation(self, expr, args, guard)

    def _quantifier(self, expr: ir.Quant, names: Names, guard: Truth) -> Truth | Number:
        forall, counts = expr.kind is Quantifier.FORALL, expr.type != BOOL
        parts: list[Any] = []
        for value, when, copies in self.elements(expr.domain, names, guard):
            if when is False:
                continue
            inner = both(guard, when)
            holds = self.value(expr.body, {**names, expr.name: value}, inner)
            if counts:
                parts.append(_summand(expr.kind, holds, when, copies))
                continue
            part = either(negation(when), holds) if forall else both(when, holds)
            parts.append(part)
            guard = both(guard, part if forall else negation(part))
            if guard is False:
                break
        if counts:
            return total(parts)
        return conjunction(parts) if forall else disjunction(parts)

    def _comprehension(self, expr: ir.Comprehension, names: Names, guard: Truth) -> Any:
        assert isinstance(expr.type, SetT | SeqT | BagT)
        found: list[tuple[Any, Truth]] = []
        for member, when in self.members(expr.domain, names, guard):
            inner = {**names, expr.name: member}
            there = both(when, self.value(expr.where, inner, both(guard, when)))
            if there is False:
                continue
            held = both(guard, there)
            item = self.value(expr.item, inner, held)
            item = self.require_fit(expr.type.item, item, held, expr.item.type)
            found.append((item, there))
        if isinstance(expr.type, SetT):
            return operations.set_of(found)
        made: Any
        if isinstance(expr.type, SeqT):
            made, wrong = operations.seq_of(expr.type, found)
        else:
            made, wrong = operations.bag_of(expr.type, found)
        self.fail(wrong, guard)
        return made

    # -- domains --------------------------------------------------------------------------------

    def all_of(self, type_: Type) -> list[Value]:
        """Returns all values of ``type_``; raises :class:`Unsupported` where they are too many."""
        if cardinality_up_to(type_, WIDEST + 1) > WIDEST:
            raise Unsupported(f"a loop runs over more than {WIDEST:,} values")
        return list(universe(type_))

    def members(self, domain: ir.Domain, names: Names, guard: Truth) -> list[tuple[Any, Truth]]:
        """Returns the possible members of ``domain`` in canonical order, with their conditions."""
        match domain:
            case ir.Universe(item):
                return [(lift(item, v), True) for v in self.all_of(item)]
            case ir.Members(of, item):
                return members_of(self.value(of, names, guard), item)
            case ir.Subsets(of, item):
                assert isinstance(item, SetT)
                return subsets_of(self.value(of, names, guard), item.item)
            case _:
                assert_never(domain)

    def elements(
        self, domain: ir.Domain, names: Names, guard: Truth
    ) -> list[tuple[Any, Truth, Number | None]]:
        """Returns members as :meth:`members` does, with the number of copies where it is a bag."""
        if isinstance(domain, ir.Members) and isinstance(domain.of.type, BagT):
            bag = self.value(domain.of, names, guard)
            return [
                (lift(domain.item, key), less(0, bag.of[key]), bag.of[key])
                for key in sorted(bag.of, key=sort_key)
            ]
        return [(value, when, None) for value, when in self.members(domain, names, guard)]


def _summand(kind: Quantifier, value: Any, when: Truth, copies: Number | None) -> Number:
    """Returns what a member that is there under the condition ``when`` adds to a count or sum."""
    if kind is Quantifier.COUNT:
        return to_number(both(when, value)) if copies is None else merge(value, copies, 0)
    found: Number = merge(when, value, 0) if copies is None else multiply(value, copies)
    return found


def members_of(of: Any, item: Type) -> list[tuple[Any, Truth]]:
    """Returns the possible members of ``of``, a set, bag or sequence, in canonical order, each with
    its condition.
    """
    match of:
        case SymbolicSet():
            keys = sorted(of.when, key=lambda v: key_rank(item, v))
            return [(lift(item, k), of.when[k]) for k in keys if of.when[k] is not False]
        case SymbolicBag():
            counts = ((k, less(0, of.of[k])) for k in sorted(of.of, key=sort_key))
            return [(lift(item, k), there) for k, there in counts if there is not False]
        case SymbolicSeq():
            slots = ((v, less(i, of.length)) for i, v in enumerate(of.slots))
            return [(v, there) for v, there in slots if there is not False]
        case _:
            raise AssertionError(f"no collection: {of!r}")


def subsets_of(of: SymbolicSet, item: Type) -> list[tuple[Any, Truth]]:
    """Returns the possible subsets of ``of``, in canonical order, each with its condition."""
    keys = sorted(
        (k for k, w in of.when.items() if w is not False), key=lambda v: key_rank(item, v)
    )
    if 1 << len(keys) > WIDEST:
        raise Unsupported(f"a loop runs over all subsets of {len(keys)} members")
    found = []
    for mask in range(1 << len(keys)):
        there = [k for i, k in enumerate(keys) if mask >> i & 1]
        found.append(
            (SymbolicSet(dict.fromkeys(there, True)), conjunction(of.when[k] for k in there))
        )
    return found
