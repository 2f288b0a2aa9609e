"""Selection of rows by a byte for each, as native code that is the same for all systems.

Each byte is a :class:`Code`; ``good`` has a bit for each selected code.
"""

from __future__ import annotations

from enum import IntEnum

from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.graph_fields import NONE


class Code(IntEnum):
    """The owner's answer about a state to a shard that has it as a successor."""

    DEAD = 0
    ALIVE = 1
    ABSENT = 2  # it is not among those that were searched
    BEFORE = 3  # it is one of an earlier level


def functions() -> list[Fn]:
    return [_sort(), _settle(), _mark(), _pick(), _merge(), _listed(), _rank(), _localize()]


def _sort() -> Fn:
    """``sort(numbers, count, start, alive, out)``: the codes of states with these numbers.

    From number ``start`` on ``alive`` has a byte for each.
    """
    params = [("numbers", 0), ("count", 64), ("start", 64), ("alive", 0), ("out", 0)]
    fn = Fn("sort", params, None)
    numbers, count, start, alive, out = fn.args
    with fn.count(count) as i:
        number = fn.resize(fn.load(fn.at(numbers, i, 32), 32), 64)
        code = fn.var(const(Code.ABSENT, 8))
        with fn.if_(fn.ne(number, const(NONE))):
            code.set(const(Code.BEFORE, 8))
            with fn.if_(fn.le(start, number)):
                code.set(fn.load(fn.at(alive, fn.sub(number, start), 8), 8))
        fn.store(code.get(), fn.at(out, i, 8))
    fn.ret()
    return fn


def _good(fn: Fn, codes: Val, i: Val, good: Val) -> Val:
    code = fn.resize(fn.load(fn.at(codes, i, 8), 8), 64)
    return fn.ne(fn.and_(fn.lshr(good, code), const(1)), const(0))


def _settle() -> Fn:
    """``settle(alive, sources, codes, count, good)``: marks those with a good answer as alive."""
    params = [("alive", 0), ("sources", 0), ("codes", 0), ("count", 64), ("good", 64)]
    fn = Fn("settle", params, None)
    alive, sources, codes, count, good = fn.args
    with fn.count(count) as i, fn.if_(_good(fn, codes, i, good)):
        source = fn.resize(fn.load(fn.at(sources, i, 32), 32), 64)
        fn.store(const(Code.ALIVE, 8), fn.at(alive, source, 8))
    fn.ret()
    return fn


def _mark() -> Fn:
    """``mark(alive, numbers, count)``: marks states with these numbers (or NONE) as alive."""
    fn = Fn("mark", [("alive", 0), ("numbers", 0), ("count", 64)], None)
    alive, numbers, count = fn.args
    with fn.count(count) as i:
        number = fn.resize(fn.load(fn.at(numbers, i, 32), 32), 64)
        with fn.if_(fn.ne(number, const(NONE))):
            fn.store(const(Code.ALIVE, 8), fn.at(alive, number, 8))
    fn.ret()
    return fn


def _pick() -> Fn:
    """``pick(rows, words, codes, count, good, out)``: copies the good rows; returns their
    number.
    """
    params = [("rows", 0), ("words", 64), ("codes", 0), ("count", 64), ("good", 64), ("out", 0)]
    fn = Fn("pick", params, 64)
    rows, words, codes, count, good, out = fn.args
    total = fn.var(const(0))
    with fn.count(count) as i, fn.if_(_good(fn, codes, i, good)):
        have, want = fn.mul(i, words), fn.mul(total.get(), words)
        with fn.count(words) as k:
            word = fn.load(fn.at(rows, fn.add(have, k)), 64)
            fn.store(word, fn.at(out, fn.add(want, k)))
        total.set(fn.add(total.get(), const(1)))
    fn.ret(total.get())
    return fn


def _merge() -> Fn:
    """``merge(letters, count, alive)``: marks those as alive whose letter, 16 bits, is not 0."""
    fn = Fn("merge", [("letters", 0), ("count", 64), ("alive", 0)], None)
    letters, count, alive = fn.args
    with fn.count(count) as i, fn.if_(fn.ne(fn.load(fn.at(letters, i, 16), 16), const(0, 16))):
        fn.store(const(Code.ALIVE, 8), fn.at(alive, i, 8))
    fn.ret()
    return fn


def _listed() -> Fn:
    """``listed(alive, begin, end, out)``: writes the numbers of those that are alive; returns how
    many they are."""
    fn = Fn("listed", [("alive", 0), ("begin", 64), ("end", 64), ("out", 0)], 64)
    alive, begin, end, out = fn.args
    total = fn.var(const(0))
    with fn.count(end, begin) as i:
        code = fn.load(fn.at(alive, i, 8), 8)
        with fn.if_(fn.eq(code, const(Code.ALIVE, 8))):
            fn.store(fn.resize(i, 32), fn.at(out, total.get(), 32))
            total.set(fn.add(total.get(), const(1)))
    fn.ret(total.get())
    return fn


def _rank() -> Fn:
    """``rank(numbers, count, first, out)``: gives the states with these numbers others, from
    ``first`` on; ``out`` has 32 bits for each state."""
    fn = Fn("rank", [("numbers", 0), ("count", 64), ("first", 64), ("out", 0)], None)
    numbers, count, first, out = fn.args
    with fn.count(count) as i:
        number = fn.resize(fn.load(fn.at(numbers, i, 32), 32), 64)
        fn.store(fn.resize(fn.add(first, i), 32), fn.at(out, number, 32))
    fn.ret()
    return fn


def _localize() -> Fn:
    """``localize(targets, begin, end, names)``: replaces each number of a state by what ``rank``
    has given it; NONE stays."""
    params = [("targets", 0), ("begin", 64), ("end", 64), ("names", 0)]
    fn = Fn("localize", params, None)
    targets, begin, end, names = fn.args
    with fn.count(end, begin) as i:
        place = fn.at(targets, i, 32)
        number = fn.resize(fn.load(place, 32), 64)
        with fn.if_(fn.ne(number, const(NONE))):
            fn.store(fn.load(fn.at(names, number, 32), 32), place)
    fn.ret()
    return fn
