"""Values as flat lists of z3 terms: what the constants of a state are.

Equal values have equal terms: what does not matter (the value of an absent option, slots beyond
the length, the fields of other cases) is that of the default value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, assert_never

import z3

from checker.engines.symbolic.terms import (
    Num,
    Truth,
    alike,
    at_most,
    conjunction,
    either,
    equal_numbers,
    inside,
    negation,
    number,
    same,
    term_of,
    total,
    width,
)
from checker.engines.symbolic.values import Cases, Copies, Maybe, Members, Row, lifted
from checker.system.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    cardinality,
    default,
    sort_key,
    universe,
)
from checker.witness.answer import Unsupported

LARGEST = 30_000
"""Constants for one variable, at most."""


def size(type_: Type) -> int:
    """How many constants a value of ``type_`` has; raises :class:`Unsupported` for far too many."""
    match type_:
        case BoolT():
            return 1
        case IntT() | AtomT():
            lo, hi = _range(type_)
            return int(lo != hi)
        case TupleT(items):
            return sum(size(item) for item in items)
        case OptionT(item):
            return 1 + size(item)
        case SetT(item):
            return _members(item)
        case MapT(key, value):
            return _members(key) * size(value)
        case BagT(item, cap):
            return _members(item) + 1 if cap else 0
        case SeqT(item, cap):
            return (1 if cap else 0) + cap * size(item)
        case VariantT(cases=cases):
            fields = (size(t) for case in cases for _, t in case.fields)
            return int(len(cases) > 1) + sum(fields)
        case _:
            assert_never(type_)


def _members(item: Type) -> int:
    if isinstance(item, BagT):
        raise Unsupported("it holds a bag, of which there are too many to give each a bit")
    count = cardinality(item)
    if count > LARGEST:
        raise Unsupported(f"it has a place for each of {count:,} values")
    return count


def _range(type_: IntT | AtomT) -> tuple[int, int]:
    if isinstance(type_, IntT):
        return type_.lo, type_.hi
    return type_.first, type_.first + len(type_.labels) - 1


def _bits(lo: int, hi: int) -> int:
    """Bits of the constant for an integer: without a sign where there is none."""
    return hi.bit_length() if lo >= 0 else width(lo, hi)


@dataclass(slots=True)
class Fresh:
    """Constants as they are made; ``rules``: what makes them those of a value."""

    made: list[z3.ExprRef] = field(default_factory=list)
    rules: list[Truth] = field(default_factory=list)

    def value(self, type_: Type, name: str) -> Any:
        """A value of ``type_`` that can be any: its constants begin with ``name``."""
        match type_:
            case BoolT():
                self.made.append(z3.Bool(name))
                return self.made[-1]
            case IntT() | AtomT():
                return self._integer(*_range(type_), name)
            case TupleT(items):
                return tuple(self.value(t, f"{name}.{i}") for i, t in enumerate(items))
            case MapT(key, item):
                return tuple(self.value(item, f"{name}[{i}]") for i in range(cardinality(key)))
            case OptionT(item):
                present = z3.Bool(f"{name}.there")
                self.made.append(present)
                return Maybe(present, self._or_default(item, f"{name}.value", present))
            case SetT(item):
                return Members({k: self._bit(f"{name}{{{i}}}") for i, k in _universe(item)})
            case BagT(item, cap):
                counts = {
                    k: self._integer(0, cap, f"{name}{{{i}}}") for i, k in _universe(item) if cap
                }
                length = self._integer(0, cap, f"{name}.length")
                self.rules.append(equal_numbers(length, total(tuple(counts.values()))))
                return Copies(counts, length)
            case SeqT(item, cap):
                length = self._integer(0, cap, f"{name}.length")
                slots = (
                    self._or_default(item, f"{name}({i})", negation(at_most(length, i)))
                    for i in range(cap)
                )
                return Row(length, tuple(slots))
            case VariantT(cases=cases):
                number = self._integer(0, len(cases) - 1, f"{name}.case")
                found_cases = {}
                for index, case in enumerate(cases):
                    when = equal_numbers(number, index)
                    fields = tuple(
                        self._or_default(t, f"{name}.{index}.{i}", when)
                        for i, (_, t) in enumerate(case.fields)
                    )
                    found_cases[index] = when, fields
                return Cases(found_cases)
            case _:
                assert_never(type_)

    def _bit(self, name: str) -> z3.BoolRef:
        bit = z3.Bool(name)
        self.made.append(bit)
        return bit

    def _integer(self, lo: int, hi: int, name: str) -> int | Num:
        if lo == hi:
            return lo
        bits = _bits(lo, hi)
        constant = z3.BitVec(name, bits)
        self.made.append(constant)
        if lo >= 0:
            whole = Num(z3.ZeroExt(1, constant), 0, (1 << bits) - 1)
        else:
            whole = Num(constant, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        self.rules.append(inside(whole, lo, hi))
        found = number(whole.term, lo, hi)
        assert isinstance(found, Num)
        return found

    def _or_default(self, type_: Type, name: str, when: Truth) -> Any:
        start = len(self.made)
        inner = Fresh(self.made, [])
        value = inner.value(type_, name)
        standard = flat(type_, lifted(type_, default(type_)))
        made = self.made[start:]
        rest = conjunction(equal_terms(a, b) for a, b in zip(made, standard, strict=True))
        self.rules += inner.rules
        self.rules.append(either(when, rest))
        return value


def equal_terms(a: z3.ExprRef, b: z3.ExprRef) -> Truth:
    """Whether two terms of the same sort are equal."""
    if a.eq(b):
        return True
    if z3.is_bool(a):
        left: Any = z3.is_true(a) if z3.is_true(a) or z3.is_false(a) else a
        right: Any = z3.is_true(b) if z3.is_true(b) or z3.is_false(b) else b
        return alike(left, right)
    return a == b  # type: ignore[no-any-return]


def _universe(item: Type) -> list[tuple[int, Value]]:
    return list(enumerate(universe(item)))


def flat(type_: Type, value: Any, old: Any = None, terms: list[z3.ExprRef] | None = None) -> Any:
    """The terms of ``value``, in the order of the constants of ``type_``.

    ``old``, ``terms``: a value whose terms are known: what is the same has the same terms.
    """
    if terms is not None and value is old:
        return list(terms)
    return list(_flat(type_, value, old, terms))


def _flat(
    type_: Type, value: Any, old: Any, terms: list[z3.ExprRef] | None
) -> Iterator[z3.ExprRef]:
    match type_:
        case BoolT():
            yield term_of(value)
        case IntT() | AtomT():
            yield from _integer_terms(_range(type_), value, old, terms)
        case TupleT(items):
            yield from _parts(items, value, old, terms)
        case MapT(_, item):
            yield from _parts((item,) * len(value), value, old, terms)
        case OptionT(item):
            yield term_of(value.present)
            yield from _masked(item, value.value, value.present)
        case SetT(item):
            for _, key in _universe(item):
                yield term_of(value.when.get(key, False))
        case BagT(item, cap):
            for _, key in _universe(item):
                yield from _integer_terms((0, cap), value.of.get(key, 0))
            yield from _integer_terms((0, cap), value.length)
        case SeqT(item, cap):
            yield from _integer_terms((0, cap), value.length)
            for index in range(cap):
                slot = value.slots[index] if index < len(value.slots) else None
                yield from _masked(item, slot, negation(at_most(value.length, index)))
        case VariantT(cases=cases):
            yield from _integer_terms((0, len(cases) - 1), _case_number(value))
            for index, case in enumerate(cases):
                when, fields = value.of.get(index, (False, None))
                for position, (_, inner) in enumerate(case.fields):
                    part = None if fields is None else fields[position]
                    yield from _masked(inner, part, when)
        case _:
            assert_never(type_)


def _parts(
    types: tuple[Type, ...], values: Any, old: Any, terms: list[z3.ExprRef] | None
) -> Iterator[z3.ExprRef]:
    start = 0
    for index, (type_, value) in enumerate(zip(types, values, strict=True)):
        if terms is None:
            yield from _flat(type_, value, None, None)
            continue
        end = start + size(type_)
        yield from flat(type_, value, old[index], terms[start:end])
        start = end


def _integer_terms(
    reach: tuple[int, int], value: Any, old: Any = None, terms: list[z3.ExprRef] | None = None
) -> Iterator[z3.ExprRef]:
    lo, hi = reach
    if lo == hi:
        return
    if terms is not None and same(value, old):
        yield terms[0]
        return
    bits = _bits(lo, hi)
    if not isinstance(value, Num):
        yield z3.BitVecVal(value, bits)
        return
    term = value.term
    if z3.is_app_of(term, z3.Z3_OP_ZERO_EXT) and term.arg(0).size() == bits:
        yield term.arg(0)
    elif term.size() >= bits:
        yield term if term.size() == bits else z3.Extract(bits - 1, 0, term)
    else:
        yield z3.SignExt(bits - term.size(), term)


def _case_number(value: Cases) -> Any:
    from checker.engines.symbolic.values import merged

    possible = [(case, when) for case, (when, _) in value.of.items() if when is not False]
    found: Any = possible[-1][0]
    for case, when in reversed(possible[:-1]):
        found = merged(when, case, found)
    return found


def _masked(type_: Type, value: Any, when: Truth) -> Iterator[z3.ExprRef]:
    standard = flat(type_, lifted(type_, default(type_)))
    if value is None or when is False:
        yield from standard
        return
    there = flat(type_, value)
    if when is True:
        yield from there
        return
    for a, b in zip(there, standard, strict=True):
        yield a if a.eq(b) else z3.If(when, a, b)


def plain(type_: Type, terms: Iterator[z3.ExprRef], meaning: Callable[[z3.ExprRef], Any]) -> Any:
    """The plain value of ``type_`` whose constants are the next of ``terms``; ``meaning``: the
    truth value or the vector's unsigned value of one."""
    match type_:
        case BoolT():
            return bool(meaning(next(terms)))
        case IntT() | AtomT():
            return _plain_integer(_range(type_), terms, meaning)
        case TupleT(items):
            return tuple(plain(t, terms, meaning) for t in items)
        case MapT(key, item):
            return tuple(plain(item, terms, meaning) for _ in range(cardinality(key)))
        case OptionT(item):
            present = bool(meaning(next(terms)))
            value = plain(item, terms, meaning)
            return (value,) if present else None
        case SetT(item):
            return frozenset(k for _, k in _universe(item) if meaning(next(terms)))
        case BagT(item, cap):
            found: list[Value] = []
            for _, key in _universe(item):
                found += [key] * _plain_integer((0, cap), terms, meaning)
            _plain_integer((0, cap), terms, meaning)
            return tuple(sorted(found, key=sort_key))
        case SeqT(item, cap):
            length = _plain_integer((0, cap), terms, meaning)
            return tuple([plain(item, terms, meaning) for _ in range(cap)][:length])
        case VariantT(cases=cases):
            number = _plain_integer((0, len(cases) - 1), terms, meaning)
            fields = [[plain(t, terms, meaning) for _, t in case.fields] for case in cases]
            return (number, *fields[number])
        case _:
            assert_never(type_)


def _plain_integer(
    reach: tuple[int, int], terms: Iterator[z3.ExprRef], meaning: Callable[[z3.ExprRef], Any]
) -> int:
    lo, hi = reach
    if lo == hi:
        return lo
    bits, found = _bits(lo, hi), int(meaning(next(terms)))
    return found - (1 << bits) if lo < 0 and found >> (bits - 1) else found
