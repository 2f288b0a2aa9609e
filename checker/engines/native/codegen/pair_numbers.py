"""Numbers for pairs of numbers, as native code that is the same for all systems."""

from __future__ import annotations

from checker.engines.native.codegen.emit import Fn, const

_FACTOR = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: Knuth's multiplicative hashing (The Art of Computer
Programming, volume 3, section 6.4)."""


def number_pairs() -> Fn:
    """``number_pairs(first, second, count, table, bits, out)``: writes a number for each pair of
    32-bit numbers, equal ones for equal pairs, from 0 on; returns how many there are.

    ``table``: 2 words for each of ``2 ** bits`` slots, all 0, more slots than pairs.
    """
    params = [("first", 0), ("second", 0), ("count", 64), ("table", 0), ("bits", 64), ("out", 0)]
    fn = Fn("number_pairs", params, 64)
    first, second, count, table, bits, out = fn.args
    shift, last = fn.sub(const(64), bits), fn.sub(fn.shl(const(1), bits), const(1))
    known = fn.var(const(0))
    with fn.count(count) as i:
        low, high = (fn.resize(fn.load(fn.at(each, i, 32), 32), 64) for each in (first, second))
        key = fn.add(fn.or_(low, fn.shl(high, const(32))), const(1))  # 0: the slot is free
        at = fn.var(fn.lshr(fn.mul(key, const(_FACTOR)), shift))
        with fn.forever() as found:
            slot = fn.at(table, fn.shl(at.get(), const(1)))
            held = fn.load(slot, 64)
            with fn.if_(fn.eq(held, const(0))):
                fn.store(key, slot)
                fn.store(known.get(), fn.at(slot, 1))
                known.set(fn.add(known.get(), const(1)))
            fn.leave_if(fn.or_(fn.eq(held, const(0)), fn.eq(held, key)), found)
            at.set(fn.and_(fn.add(at.get(), const(1)), last))
        number = fn.load(fn.at(fn.at(table, fn.shl(at.get(), const(1))), 1), 64)
        fn.store(fn.resize(number, 32), fn.at(out, i, 32))
    fn.ret(known.get())
    return fn
