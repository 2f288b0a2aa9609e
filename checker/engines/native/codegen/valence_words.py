"""Words of valence as native code: see :mod:`checker.engines.valence` for what their bits are.

Each function has one version for words of 16 bits, and one for words of 64.  Words are an array
with one for each state; ``start``, ``targets`` and ``labels`` are those of the graph
(:mod:`checker.engines.native.codegen.graph_fields`).
"""

from __future__ import annotations

from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Val, const
from checker.engines.native.codegen.graph_fields import NONE

WIDTHS = (16, 64)


def functions() -> list[Fn]:
    return [make(bits) for bits in WIDTHS for make in (_plant, _draw, _critical, _waiting)]


def _plant(bits: int) -> Fn:
    """``plant(letters, count, times, words)``: the first word of each state: its letter, 16 bits
    that say what is decided there, in all planes.
    """
    fn = Fn(f"plant_{bits}", [("letters", 0), ("count", 64), ("times", 64), ("words", 0)], None)
    letters, count, times, words = fn.args
    with fn.count(count) as i:
        letter = fn.resize(fn.load(fn.at(letters, i, 16), 16), 64)
        fn.store(fn.resize(fn.mul(letter, times), bits), fn.at(words, i, bits))
    fn.ret()
    return fn


def _bounds(fn: Fn, start: Val, state: Val) -> tuple[Val, Val]:
    begin = fn.load(fn.at(start, state), 64)
    return begin, fn.load(fn.at(start, fn.add(state, const(1))), 64)


def _number(fn: Fn, array: Val, index: Val) -> Val:
    return fn.resize(fn.load(fn.at(array, index, 32), 32), 64)


def _draw(bits: int) -> Fn:
    """``draw(start, targets, labels, kept, words, begin, end)``: each of these states, the last one
    first, takes over the bits of its successors that the label of the edge keeps.

    ``kept`` has a word for each label.  Returns how many states have changed.
    """
    arrays = ("start", "targets", "labels", "kept", "words")
    params = [*((name, 0) for name in arrays), ("begin", 64), ("end", 64)]
    fn = Fn(f"draw_{bits}", params, 64)
    start, targets, labels, kept, words, first, last = fn.args
    changed = fn.var(const(0))
    with fn.count(fn.sub(last, first)) as i:
        state = fn.sub(fn.sub(last, const(1)), i)
        own = fn.at(words, state, bits)
        before = fn.load(own, bits)
        total = fn.var(before)
        begin, end = _bounds(fn, start, state)
        with fn.count(end, begin) as edge:
            following, target = fn.label(), _number(fn, targets, edge)
            fn.leave_if(fn.eq(target, const(NONE)), following)
            keep = fn.load(fn.at(kept, _number(fn, labels, edge), bits), bits)
            there = fn.load(fn.at(words, target, bits), bits)
            total.set(fn.or_(total.get(), fn.and_(there, keep)))
            fn.place(following)
        with fn.if_(fn.ne(total.get(), before)):
            fn.store(total.get(), own)
            changed.set(fn.add(changed.get(), const(1)))
    fn.ret(changed.get())
    return fn


def _several(fn: Fn, word: Val, low: Val) -> Val:
    """Whether more than one of the bits ``low`` of a word is set."""
    found = fn.and_(fn.resize(word, 64), low)
    return fn.ne(fn.and_(found, fn.sub(found, const(1))), const(0))


def _none(fn: Fn, word: Val, bits: Val) -> Val:
    return fn.eq(fn.and_(fn.resize(word, 64), bits), const(0))


def _critical(bits: int) -> Fn:
    """``critical(start, targets, words, begin, end, low, decided, out)``: those of these states in
    which none of the bits ``decided`` is set and several of ``low`` are, and only one at most in
    each other state that follows.  Returns their number; ``out``: their numbers, or null.
    """
    params = [("start", 0), ("targets", 0), ("words", 0), ("begin", 64), ("end", 64)]
    params += [("low", 64), ("decided", 64), ("out", 0)]
    fn = Fn(f"critical_{bits}", params, 64)
    start, targets, words, first, last, low, decided, out = fn.args
    count = fn.var(const(0))
    with fn.count(last, first) as state:
        no = fn.label()
        word = fn.load(fn.at(words, state, bits), bits)
        fn.leave_if(fn.not_(_none(fn, word, decided)), no)
        fn.leave_if(fn.not_(_several(fn, word, low)), no)
        lost = fn.var(TRUE)
        begin, end = _bounds(fn, start, state)
        with fn.count(end, begin) as edge:
            following, target = fn.label(), _number(fn, targets, edge)
            fn.leave_if(fn.eq(target, const(NONE)), following)
            fn.leave_if(fn.eq(target, state), following)
            with fn.if_(_several(fn, fn.load(fn.at(words, target, bits), bits), low)):
                lost.set(FALSE)
            fn.place(following)
        fn.leave_if(fn.not_(lost.get()), no)
        _report(fn, out, count.get(), state)
        count.set(fn.add(count.get(), const(1)))
        fn.place(no)
    fn.ret(count.get())
    return fn


def _report(fn: Fn, out: Val, count: Val, state: Val) -> None:
    with fn.if_(fn.ne(out, Val("null", 0))):
        fn.store(fn.resize(state, 32), fn.at(out, count, 32))


def _waiting(bits: int) -> Fn:
    """``waiting(words, begin, end, low, decided, out)``: those of these states in which none of the
    bits ``decided`` is set, and several of ``low`` are (where it is 0: any).  Returns their number;
    ``out``: their numbers, or null.
    """
    params = [("words", 0), ("begin", 64), ("end", 64), ("low", 64), ("decided", 64), ("out", 0)]
    fn = Fn(f"waiting_{bits}", params, 64)
    words, first, last, low, decided, out = fn.args
    count, any_ = fn.var(const(0)), fn.eq(low, const(0))
    with fn.count(last, first) as state:
        no = fn.label()
        word = fn.load(fn.at(words, state, bits), bits)
        fn.leave_if(fn.not_(_none(fn, word, decided)), no)
        fn.leave_if(fn.not_(fn.or_(any_, _several(fn, word, low))), no)
        _report(fn, out, count.get(), state)
        count.set(fn.add(count.get(), const(1)))
        fn.place(no)
    fn.ret(count.get())
    return fn
