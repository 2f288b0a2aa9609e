"""Represents values as flat lists of z3 terms: the constants of a state.

Equal values have equal terms: irrelevant parts (the value of an absent option, slots beyond the
length, the fields of other cases) are those of the default value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

import z3
from msgspec import Struct, field

from checker.engines.symbolic.symbolic_values import (
    SymbolicBag,
    SymbolicOption,
    SymbolicSeq,
    SymbolicSet,
    SymbolicVariant,
    lift,
    merge,
)
from checker.engines.symbolic.terms import (
    Num,
    Truth,
    at_most,
    conjunction,
    either,
    equal_numbers,
    equivalent,
    inside,
    less,
    negation,
    number,
    same,
    term_of,
    total,
    width,
)
from checker.model.types import (
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
    parts_of,
    sort_key,
    universe,
)
from checker.results.answer import Unsupported

LARGEST = 30_000
"""The largest number of constants for one variable."""


class Shape(Struct):
    """The constants of a value of ``type``.

    ``keys``: of a set or bag, its possible elements; ``parts``: the shapes inside, for each
    component, entry, or field of a case; ``missing``: elements that were added and are none of
    ``keys``.
    """

    type: Type
    keys: dict[Value, None] = field(default_factory=dict)
    parts: tuple[Shape, ...] = ()
    size: int = 0
    missing: dict[Value, None] = field(default_factory=dict)

    def grow(self) -> bool:
        """Adds the missing elements here and inside; returns whether there was any."""
        grown = bool(self.missing)
        if grown:
            found = sorted((*self.keys, *self.missing), key=sort_key)
            self.keys = dict.fromkeys(found)
            self.missing = {}
        for part in {id(p): p for p in self.parts}.values():
            grown = part.grow() or grown
        self._measure()
        return grown

    def lacks(self) -> bool:
        """Returns whether any element was missing since the last call, here or inside."""
        lacking, self.missing = bool(self.missing), {}
        return any([part.lacks() for part in self.parts]) or lacking

    def _measure(self) -> None:
        inner = sum(part.size for part in self.parts)
        match self.type:
            case BoolT():
                self.size = 1
            case IntT() | AtomT():
                lo, hi = _range(self.type)
                self.size = int(lo != hi)
            case TupleT() | MapT():
                self.size = inner
            case OptionT():
                self.size = 1 + inner
            case SetT():
                self.size = len(self.keys)
            case BagT(_, cap):
                self.size = len(self.keys) + 1 if cap else 0
            case SeqT(_, cap):
                self.size = int(cap > 0) + inner
            case VariantT(cases=cases):
                self.size = int(len(cases) > 1) + inner
            case _:
                assert_never(self.type)


def shape(type_: Type, every: bool) -> Shape:
    """Returns the shape of ``type_``: with every key that there is, or without any so far.

    Raises :class:`Unsupported` where there are far too many.
    """
    parts: tuple[Shape, ...] = ()
    keys: dict[Value, None] = {}
    match type_:
        case BoolT() | IntT() | AtomT():
            pass
        case TupleT(items):
            parts = tuple(shape(item, every) for item in items)
        case OptionT(item):
            parts = (shape(item, every),)
        case MapT(key, value):
            parts = tuple(shape(value, every) for _ in range(_count(key)))
        case SeqT(item, cap):
            parts = tuple(shape(item, every) for _ in range(cap))
        case SetT(item) | BagT(item):
            if every:
                _count(item)
                keys = dict.fromkeys(universe(item))
        case VariantT(cases=cases):
            parts = tuple(shape(t, every) for case in cases for _, t in case.fields)
        case _:
            assert_never(type_)
    made = Shape(type_, keys, parts)
    made.grow()
    if made.size > LARGEST:
        raise Unsupported(f"it has {made.size:,} parts")
    return made


def _count(item: Type) -> int:
    if any(isinstance(part, BagT) for part in parts_of(item)):
        raise Unsupported("it holds a bag, which has too many values for one bit each")
    count = cardinality(item)
    if count > LARGEST:
        raise Unsupported(f"it has an entry for each of {count:,} values")
    return count


def _range(type_: IntT | AtomT) -> tuple[int, int]:
    if isinstance(type_, IntT):
        return type_.lo, type_.hi
    return type_.first, type_.first + len(type_.labels) - 1


def _bits(lo: int, hi: int) -> int:
    """Returns the bits of the constant for an integer: unsigned where it is never negative."""
    return hi.bit_length() if lo >= 0 else width(lo, hi)


class Fresh(Struct):
    """Makes constants; ``rules``: the constraints by which they are those of a value."""

    made: list[z3.ExprRef] = field(default_factory=list)
    rules: list[Truth] = field(default_factory=list)

    def value(self, of: Shape, name: str) -> Any:
        """Returns an arbitrary value of the shape: its constants begin with ``name``."""
        match of.type:
            case BoolT():
                return self._bit(name)
            case IntT() | AtomT():
                return self._integer(*_range(of.type), name)
            case TupleT():
                return tuple(self.value(p, f"{name}.{i}") for i, p in enumerate(of.parts))
            case MapT():
                return tuple(self.value(p, f"{name}[{i}]") for i, p in enumerate(of.parts))
            case OptionT():
                present = self._bit(f"{name}.there")
                return SymbolicOption(
                    present, self._or_default(of.parts[0], f"{name}.value", present)
                )
            case SetT():
                return SymbolicSet({k: self._bit(f"{name}{{{i}}}") for i, k in enumerate(of.keys)})
            case BagT(_, cap):
                counts = {
                    k: self._integer(0, cap, f"{name}{{{i}}}") for i, k in enumerate(of.keys) if cap
                }
                length = self._integer(0, cap, f"{name}.length")
                self.rules.append(equal_numbers(length, total(tuple(counts.values()))))
                return SymbolicBag(counts, length)
            case SeqT(_, cap):
                length = self._integer(0, cap, f"{name}.length")
                slots = (
                    self._or_default(part, f"{name}({i})", negation(at_most(length, i)))
                    for i, part in enumerate(of.parts)
                )
                return SymbolicSeq(length, tuple(slots))
            case VariantT(cases=cases):
                number = self._integer(0, len(cases) - 1, f"{name}.case")
                found_cases = {}
                for index, parts in enumerate(_fields(of)):
                    when = equal_numbers(number, index)
                    fields = tuple(
                        self._or_default(part, f"{name}.{index}.{i}", when)
                        for i, part in enumerate(parts)
                    )
                    found_cases[index] = when, fields
                return SymbolicVariant(found_cases)
            case _:
                assert_never(of.type)

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

    def _or_default(self, of: Shape, name: str, when: Truth) -> Any:
        start = len(self.made)
        inner = Fresh(self.made, [])
        value = inner.value(of, name)
        made = self.made[start:]
        rest = conjunction(equal_terms(a, b) for a, b in zip(made, _standard(of), strict=True))
        self.rules += inner.rules
        self.rules.append(either(when, rest))
        return value


def _fields(of: Shape) -> list[tuple[Shape, ...]]:
    """Returns the shapes of the fields of each case."""
    assert isinstance(of.type, VariantT)
    left = iter(of.parts)
    return [tuple(next(left) for _ in case.fields) for case in of.type.cases]


def _standard(of: Shape) -> list[z3.ExprRef]:
    """Returns the default terms where a value is irrelevant."""
    return flat(of, lift(of.type, default(of.type)))


def equal_terms(a: z3.ExprRef, b: z3.ExprRef) -> Truth:
    """Returns whether two terms of the same sort are equal."""
    if a.eq(b):
        return True
    if isinstance(a, z3.BoolRef) and isinstance(b, z3.BoolRef):
        return equivalent(_fold_constant(a), _fold_constant(b))
    found: z3.BoolRef = a == b
    return found


def _fold_constant(a: z3.BoolRef) -> Truth:
    return z3.is_true(a) if z3.is_true(a) or z3.is_false(a) else a


def flat(
    of: Shape, value: Any, old: Any = None, terms: list[z3.ExprRef] | None = None
) -> list[z3.ExprRef]:
    """Returns the terms of ``value``, in the order of the constants of its shape.

    ``old``, ``terms``: a value whose terms are known: equal parts have the same terms.
    """
    if terms is not None and value is old:
        return list(terms)
    return list(_flat(of, value, old, terms))


def _flat(of: Shape, value: Any, old: Any, terms: list[z3.ExprRef] | None) -> Iterator[z3.ExprRef]:
    match of.type:
        case BoolT():
            yield term_of(value)
        case IntT() | AtomT():
            yield from _integer_terms(_range(of.type), value, old, terms)
        case TupleT() | MapT():
            start = 0
            for index, (part, inner) in enumerate(zip(of.parts, value, strict=True)):
                if terms is None:
                    yield from _flat(part, inner, None, None)
                else:
                    end = start + part.size
                    yield from flat(part, inner, old[index], terms[start:end])
                    start = end
        case OptionT():
            yield term_of(value.present)
            yield from _mask(of.parts[0], value.value, value.present)
        case SetT():
            _miss(of, value.when)
            yield from (term_of(value.when.get(key, False)) for key in of.keys)
        case BagT(_, cap):
            _miss(of, {k: less(0, n) for k, n in value.of.items() if k not in of.keys})
            for key in of.keys:
                yield from _integer_terms((0, cap), value.of.get(key, 0))
            yield from _integer_terms((0, cap), value.length)
        case SeqT(_, cap):
            yield from _integer_terms((0, cap), value.length)
            for index, part in enumerate(of.parts):
                slot = value.slots[index] if index < len(value.slots) else None
                yield from _mask(part, slot, negation(at_most(value.length, index)))
        case VariantT(cases=cases):
            yield from _integer_terms((0, len(cases) - 1), _case_number(value))
            for index, parts in enumerate(_fields(of)):
                when, fields = value.of.get(index, (False, (None,) * len(parts)))
                for part, inner in zip(parts, fields, strict=True):
                    yield from _mask(part, inner, when)
        case _:
            assert_never(of.type)


def _miss(of: Shape, when: Mapping[Value, Truth]) -> None:
    """Records a possible element of the collection that has no place there."""
    for key, there in when.items():
        if (
            key not in of.keys
            and there is not False
            and not z3.is_false(z3.simplify(term_of(there)))
        ):
            of.missing[key] = None


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


def _case_number(value: SymbolicVariant) -> Any:
    possible = [(case, when) for case, (when, _) in value.of.items() if when is not False]
    found: Any = possible[-1][0]
    for case, when in reversed(possible[:-1]):
        found = merge(when, case, found)
    return found


def _mask(of: Shape, value: Any, when: Truth) -> Iterator[z3.ExprRef]:
    standard = _standard(of)
    if value is None or when is False:
        yield from standard
        return
    there = flat(of, value)
    if when is True:
        yield from there
        return
    for a, b in zip(there, standard, strict=True):
        yield a if a.eq(b) else z3.If(when, a, b)


def plain(of: Shape, terms: Iterator[z3.ExprRef], meaning: Callable[[z3.ExprRef], int]) -> Any:
    """Returns the plain value of a shape whose constants are the next of ``terms``; ``meaning``:
    the truth value (0 or 1) or the vector's unsigned value of one.
    """
    match of.type:
        case BoolT():
            return bool(meaning(next(terms)))
        case IntT() | AtomT():
            return _plain_integer(_range(of.type), terms, meaning)
        case TupleT() | MapT():
            return tuple(plain(part, terms, meaning) for part in of.parts)
        case OptionT():
            present = bool(meaning(next(terms)))
            value = plain(of.parts[0], terms, meaning)
            return (value,) if present else None
        case SetT():
            return frozenset(key for key in of.keys if meaning(next(terms)))
        case BagT(_, cap):
            found: list[Value] = []
            for key in of.keys:
                found += [key] * _plain_integer((0, cap), terms, meaning)
            _plain_integer((0, cap), terms, meaning)
            return tuple(sorted(found, key=sort_key))
        case SeqT(_, cap):
            length = _plain_integer((0, cap), terms, meaning)
            return tuple([plain(part, terms, meaning) for part in of.parts][:length])
        case VariantT(cases=cases):
            number = _plain_integer((0, len(cases) - 1), terms, meaning)
            fields = [[plain(p, terms, meaning) for p in parts] for parts in _fields(of)]
            return (number, *fields[number])
        case _:
            assert_never(of.type)


def _plain_integer(
    reach: tuple[int, int], terms: Iterator[z3.ExprRef], meaning: Callable[[z3.ExprRef], int]
) -> int:
    lo, hi = reach
    if lo == hi:
        return lo
    bits, found = _bits(lo, hi), meaning(next(terms))
    return found - (1 << bits) if lo < 0 and found >> (bits - 1) else found
