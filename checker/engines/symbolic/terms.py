"""Truth values and integers: Python values where they are known, z3 terms otherwise.

A formula is small when what is known stays known, so every constructor here folds.  Integers are
signed bit vectors that are wide enough for all their values: nothing wraps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import z3
from msgspec import Struct

Truth: TypeAlias = bool | z3.BoolRef
"""A truth value, known or symbolic."""


class Num(Struct, frozen=True, eq=False):
    """An unknown integer in ``lo..hi``: ``term`` is a signed vector of their width."""

    term: z3.BitVecRef
    lo: int
    hi: int


Number: TypeAlias = int | Num
"""An integer, known or symbolic."""


def width(lo: int, hi: int) -> int:
    """Returns the bits of the narrowest signed vector that holds ``lo`` and ``hi``."""
    return max(lo.bit_length() if lo >= 0 else (lo + 1).bit_length(), hi.bit_length()) + 1


def same(a: object, b: object) -> bool:
    """Returns whether two truth values or integers are certainly the same."""
    if a is b:
        return True
    match a, b:
        case z3.ExprRef(), z3.ExprRef():
            return bool(a.eq(b))
        case Num(), Num():
            return bool(a.term.eq(b.term))
        case (bool(), bool()) | (int(), int()):
            return a == b
        case _:
            return False


def term_of(truth: Truth) -> z3.BoolRef:
    """Returns ``truth`` as a term."""
    return z3.BoolVal(truth) if isinstance(truth, bool) else truth


def _truth(term: z3.BoolRef) -> z3.BoolRef:
    """Returns ``term``, whose type the stubs of operators don't declare."""
    return term


def _all(parts: list[z3.BoolRef]) -> z3.BoolRef:
    """Returns the conjunction; ``z3.And`` spends most of its time on checking its arguments."""
    terms = (z3.Ast * len(parts))(*[part.ast for part in parts])
    return z3.BoolRef(z3.Z3_mk_and(parts[0].ctx_ref(), len(parts), terms), parts[0].ctx)


def _any(parts: list[z3.BoolRef]) -> z3.BoolRef:
    terms = (z3.Ast * len(parts))(*[part.ast for part in parts])
    return z3.BoolRef(z3.Z3_mk_or(parts[0].ctx_ref(), len(parts), terms), parts[0].ctx)


def _not(part: z3.BoolRef) -> z3.BoolRef:
    return z3.BoolRef(z3.Z3_mk_not(part.ctx_ref(), part.ast), part.ctx)


# ---- truth ------------------------------------------------------------------------------------


def negation(a: Truth) -> Truth:
    """Returns the negation of ``a``."""
    if isinstance(a, bool):
        return not a
    return a.arg(0) if z3.is_not(a) else _not(a)


def conjunction(parts: Iterable[Truth]) -> Truth:
    """Returns the conjunction of ``parts``."""
    open_: list[z3.BoolRef] = []
    for part in parts:
        if isinstance(part, bool):
            if not part:
                return False
        elif not any(part is other for other in open_):
            open_.append(part)
    if not open_:
        return True
    return open_[0] if len(open_) == 1 else _all(open_)


def disjunction(parts: Iterable[Truth]) -> Truth:
    """Returns the disjunction of ``parts``."""
    open_: list[z3.BoolRef] = []
    for part in parts:
        if isinstance(part, bool):
            if part:
                return True
        elif not any(part is other for other in open_):
            open_.append(part)
    if not open_:
        return False
    return open_[0] if len(open_) == 1 else _any(open_)


def both(a: Truth, b: Truth) -> Truth:
    """Returns ``a`` and ``b``."""
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    return a if a is b else _all([a, b])


def either(a: Truth, b: Truth) -> Truth:
    """Returns ``a`` or ``b``."""
    if isinstance(a, bool):
        return True if a else b
    if isinstance(b, bool):
        return True if b else a
    return a if a is b else _any([a, b])


def implication(a: Truth, b: Truth) -> Truth:
    """Returns ``a`` implies ``b``."""
    return either(negation(a), b)


def equivalent(a: Truth, b: Truth) -> Truth:
    """Returns whether both have the same truth value."""
    if isinstance(a, bool):
        return b if a else negation(b)
    if isinstance(b, bool):
        return a if b else negation(a)
    return True if same(a, b) else a == b


def if_then_else(condition: z3.BoolRef, a: Truth, b: Truth) -> Truth:
    """Returns ``a`` where ``condition``, else ``b``."""
    if same(a, b):
        return a
    if isinstance(a, bool):
        return either(condition, b) if a else both(negation(condition), b)
    if isinstance(b, bool):
        return either(negation(condition), a) if b else both(condition, a)
    return z3.If(condition, a, b)


# ---- integers ---------------------------------------------------------------------------------


def bounds(a: Number) -> tuple[int, int]:
    """Returns the least and the largest possible value of ``a``."""
    return (a.lo, a.hi) if isinstance(a, Num) else (a, a)


def vector(a: Number, bits: int) -> z3.BitVecRef:
    """Returns ``a`` as a signed vector of ``bits``, which are enough."""
    if not isinstance(a, Num):
        return z3.BitVecVal(a, bits)
    size = a.term.size()
    if size == bits:
        return a.term
    return z3.SignExt(bits - size, a.term) if size < bits else z3.Extract(bits - 1, 0, a.term)


def number(term: z3.BitVecRef, lo: int, hi: int) -> Number:
    """Returns ``term``, a signed vector whose value is in ``lo..hi``, in the width of these."""
    if lo == hi:
        return lo
    bits = width(lo, hi)
    return Num(vector(Num(term, lo, hi), bits), lo, hi)


def clip(a: Number, lo: int, hi: int) -> Number:
    """Returns ``a``, which is known to be in ``lo..hi``, in the width of these."""
    if not isinstance(a, Num):
        return min(max(a, lo), hi)
    low, high = max(a.lo, lo), min(a.hi, hi)
    if low > high:  # infeasible: the value is never read
        return lo
    return a if (low, high) == (a.lo, a.hi) else number(a.term, low, high)


def equal_numbers(a: Number, b: Number) -> Truth:
    """Returns whether two integers are equal."""
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    if a_hi < b_lo or b_hi < a_lo:
        return False
    if not isinstance(a, Num) and not isinstance(b, Num):
        return a == b
    if same(a, b):
        return True
    bits = max(width(a_lo, a_hi), width(b_lo, b_hi))
    return _truth(vector(a, bits) == vector(b, bits))


def less(a: Number, b: Number) -> Truth:
    """Returns whether ``a < b``."""
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    if a_hi < b_lo:
        return True
    if a_lo >= b_hi:
        return False
    bits = max(width(a_lo, a_hi), width(b_lo, b_hi))
    return _truth(vector(a, bits) < vector(b, bits))


def at_most(a: Number, b: Number) -> Truth:
    """Returns whether ``a <= b``."""
    return negation(less(b, a))


def inside(a: Number, lo: int, hi: int) -> Truth:
    """Returns whether ``a`` is in ``lo..hi``."""
    return both(at_most(lo, a), at_most(a, hi))


def number_if(condition: z3.BoolRef, a: Number, b: Number) -> Number:
    """Returns ``a`` where ``condition``, else ``b``."""
    if same(a, b):
        return a
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    lo, hi = min(a_lo, b_lo), max(a_hi, b_hi)
    bits = width(lo, hi)
    return Num(z3.If(condition, vector(a, bits), vector(b, bits)), lo, hi)


def add(a: Number, b: Number) -> Number:
    """Returns ``a + b``."""
    if not isinstance(a, Num) and not isinstance(b, Num):
        return a + b
    if a == 0:
        return b
    if b == 0:
        return a
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    lo, hi = a_lo + b_lo, a_hi + b_hi
    bits = max(width(lo, hi), width(a_lo, a_hi), width(b_lo, b_hi))
    return number(vector(a, bits) + vector(b, bits), lo, hi)


def subtract(a: Number, b: Number) -> Number:
    """Returns ``a - b``."""
    if not isinstance(a, Num) and not isinstance(b, Num):
        return a - b
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    lo, hi = a_lo - b_hi, a_hi - b_lo
    bits = max(width(lo, hi), width(a_lo, a_hi), width(b_lo, b_hi))
    return number(vector(a, bits) - vector(b, bits), lo, hi)


def multiply(a: Number, b: Number) -> Number:
    """Returns ``a * b``."""
    if not isinstance(a, Num) and not isinstance(b, Num):
        return a * b
    corners = [x * y for x in bounds(a) for y in bounds(b)]
    lo, hi = min(corners), max(corners)
    bits = max(width(lo, hi), width(*bounds(a)), width(*bounds(b)))
    return number(vector(a, bits) * vector(b, bits), lo, hi)


def floor_divide(a: Number, b: Number) -> tuple[Number, Number]:
    """Returns floor quotient and remainder of ``a`` by ``b``; arbitrary where ``b`` is 0."""
    if not isinstance(a, Num) and not isinstance(b, Num):
        return divmod(a, b) if b else (0, 0)
    (a_lo, a_hi), (b_lo, b_hi) = bounds(a), bounds(b)
    reach = max(abs(a_lo), abs(a_hi)) + 1
    far = max(abs(b_lo), abs(b_hi))
    low = 0 if b_lo >= 0 else -far
    high = 0 if b_hi <= 0 else far
    bits = max(width(-reach, reach), width(-far, far)) + 1
    x, y = vector(a, bits), vector(b, bits)
    quotient, rest = x / y, z3.SRem(x, y)
    down = z3.And(rest != 0, (rest < 0) != (y < 0))
    zero = z3.BitVecVal(0, bits)
    quotient = z3.If(y == 0, zero, z3.If(down, quotient - 1, quotient))
    rest = z3.If(y == 0, zero, z3.If(down, rest + y, rest))
    return number(quotient, -reach, reach), number(rest, low, high)


def total(parts: Sequence[Number]) -> Number:
    """Returns the sum of ``parts``, as a balanced tree."""
    known = sum(p for p in parts if not isinstance(p, Num))
    left: list[Number] = [p for p in parts if isinstance(p, Num)]
    while len(left) > 1:
        pairs = [add(left[i], left[i + 1]) for i in range(0, len(left) - 1, 2)]
        left = pairs + (left[-1:] if len(left) % 2 else [])
    return add(left[0], known) if left else known


def to_number(truth: Truth) -> Number:
    """Returns 1 where ``truth``, else 0."""
    if isinstance(truth, bool):
        return int(truth)
    return Num(z3.If(truth, z3.BitVecVal(1, 2), z3.BitVecVal(0, 2)), 0, 1)
