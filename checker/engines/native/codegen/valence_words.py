"""Valence as native code: words of bits, one for each state, drawn backwards over the edges of a
graph.  See :mod:`checker.engines.valence` for what their bits are.

Few words differ, so a state has the number of its word, 16 bits, and a *table* has each word once,
in the order of their numbers (:class:`TableField`); where they are too many for that, a state has
the word itself, 64 bits.  Each function has one version for either.  ``words``: an array with a
number or a word for each state; ``start``, ``targets`` and ``labels`` are those of the graph
(:mod:`checker.engines.native.codegen.graph_fields`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from checker.engines.native.codegen.arrays import entry
from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Val, const
from checker.engines.native.codegen.graph_fields import NONE

NUMBERED, WHOLE = 16, 64
WIDTHS = (NUMBERED, WHOLE)
FULL = (1 << 64) - 1
"""What functions return when the table is full."""
FACTOR = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: multiplicative hashing (Knuth, volume 3, section 6.4)."""


class TableField(IntEnum):
    """Words of the record of the words that occur: numbers, or addresses (*)."""

    KNOWN = 0  # * 64 bits for each word: the word of each number
    COUNT = 1  # how many there are
    MOST = 2  # how many may be
    SLOTS = 3  # * 32 bits for each slot: 0, or a number and one
    SHIFT = 4  # 64 less the logarithm of the number of slots, which is at least twice MOST
    WORDS = 5


def functions() -> list[Fn]:
    each = (_plant, _draw, _critical, _waiting)
    return [_intern(), *(make(bits) for bits in WIDTHS for make in each), _tally()]


def _field(fn: Fn, table: Val, which: TableField, bits: int = 64) -> Val:
    return fn.load(fn.at(table, which), bits)


def _intern() -> Fn:
    """``intern_word(table, word)``: the number of a word, a new one where it has none; FULL: there
    is none left."""
    fn = Fn("intern_word", [("table", 0), ("word", 64)], 64)
    table, word = fn.args
    known, slots = (_field(fn, table, f, 0) for f in (TableField.KNOWN, TableField.SLOTS))
    shift = _field(fn, table, TableField.SHIFT)
    mask = fn.lshr(const(FULL), shift)
    index = fn.var(fn.lshr(fn.mul(word, const(FACTOR)), shift))
    with fn.forever() as free:
        entry = fn.load(fn.at(slots, index.get(), 32), 32)
        fn.leave_if(fn.eq(entry, const(0, 32)), free)
        number = fn.sub(fn.resize(entry, 64), const(1))
        with fn.if_(fn.eq(fn.load(fn.at(known, number), 64), word)):
            fn.ret(number)
        index.set(fn.and_(fn.add(index.get(), const(1)), mask))
    count = _field(fn, table, TableField.COUNT)
    with fn.if_(fn.eq(count, _field(fn, table, TableField.MOST))):
        fn.ret(const(FULL))
    more = fn.add(count, const(1))
    fn.store(word, fn.at(known, count))
    fn.store(more, fn.at(table, TableField.COUNT))
    fn.store(fn.resize(more, 32), fn.at(slots, index.get(), 32))
    fn.ret(count)
    return fn


class _Words:
    """The words of states, in a function that has the parameters ``table`` and ``words``."""

    def __init__(self, fn: Fn, bits: int, table: Val, words: Val) -> None:
        self.fn, self.bits, self.table, self.words = fn, bits, table, words
        self.known = _field(fn, table, TableField.KNOWN, 0) if bits == NUMBERED else table

    def get(self, state: Val) -> Val:
        """The word of a state."""
        fn = self.fn
        found = fn.load(fn.at(self.words, state, self.bits), self.bits)
        return self.named(fn.resize(found, 64))

    def named(self, number: Val) -> Val:
        """The word that a state has where this is what is kept for it."""
        return self.fn.load(self.fn.at(self.known, number), 64) if self.bits == NUMBERED else number

    def set(self, state: Val, word: Val) -> None:
        """Gives a state its word; the function returns FULL where that has no room."""
        fn = self.fn
        if self.bits == NUMBERED:
            word = fn.call("intern_word", [self.table, word], 64)
            with fn.if_(fn.eq(word, const(FULL))):
                fn.ret(word)
        fn.store(fn.resize(word, self.bits), fn.at(self.words, state, self.bits))


def _plant(bits: int) -> Fn:
    """``plant(letters, count, times, table, words)``: the first word of each state: its letter, 16
    bits that say what is decided there, in all planes.  Returns FULL, or 0.
    """
    params = [("letters", 0), ("count", 64), ("times", 64), ("table", 0), ("words", 0)]
    fn = Fn(f"plant_{bits}", params, 64)
    letters, count, times, table, array = fn.args
    words = _Words(fn, bits, table, array)
    with fn.count(count) as i:
        letter = fn.resize(fn.load(fn.at(letters, i, 16), 16), 64)
        words.set(i, fn.mul(letter, times))
    fn.ret(const(0))
    return fn


def _bounds(fn: Fn, start: Val, state: Val) -> tuple[Val, Val]:
    begin = fn.load(fn.at(start, state), 64)
    return begin, fn.load(fn.at(start, fn.add(state, const(1))), 64)


def _number(fn: Fn, array: Val, index: Val) -> Val:
    return entry(fn, array, index, 32)


@contextmanager
def _edges(fn: Fn, start: Val, targets: Val, state: Val) -> Iterator[tuple[Val, Val]]:
    """Runs the block for each edge of a state that leads to a state: its position, its target."""
    begin, end = _bounds(fn, start, state)
    with fn.count(end, begin) as edge:
        following, target = fn.label(), _number(fn, targets, edge)
        fn.leave_if(fn.eq(target, const(NONE)), following)
        yield edge, target
        fn.place(following)


def _draw(bits: int) -> Fn:
    """``draw(start, targets, labels, kept, table, words, begin, end)``: each of these states, the
    last one first, takes over the bits of its successors that the label of the edge keeps.

    ``kept`` has 64 bits for each label.  Returns how many states have changed, or FULL.
    """
    arrays = ("start", "targets", "labels", "kept", "table", "words")
    params = [*((name, 0) for name in arrays), ("begin", 64), ("end", 64)]
    fn = Fn(f"draw_{bits}", params, 64)
    start, targets, labels, kept, table, array, first, last = fn.args
    words, changed = _Words(fn, bits, table, array), fn.var(const(0))
    with fn.count(fn.sub(last, first)) as i:
        state = fn.sub(fn.sub(last, const(1)), i)
        before = words.get(state)
        total = fn.var(before)
        with _edges(fn, start, targets, state) as (edge, target):
            keep = fn.load(fn.at(kept, _number(fn, labels, edge)), 64)
            total.set(fn.or_(total.get(), fn.and_(words.get(target), keep)))
        with fn.if_(fn.ne(total.get(), before)):
            words.set(state, total.get())
            changed.set(fn.add(changed.get(), const(1)))
    fn.ret(changed.get())
    return fn


def _tally() -> Fn:
    """``tally(words, begin, end, counts)``: adds up, for each number of a word, how many of these
    states have it: 64 bits each."""
    fn = Fn("tally", [("words", 0), ("begin", 64), ("end", 64), ("counts", 0)], None)
    words, begin, end, counts = fn.args
    with fn.count(end, begin) as state:
        number = fn.resize(fn.load(fn.at(words, state, NUMBERED), NUMBERED), 64)
        place = fn.at(counts, number)
        fn.store(fn.add(fn.load(place, 64), const(1)), place)
    fn.ret()
    return fn


def _several(fn: Fn, word: Val, low: Val) -> Val:
    """Whether more than one of the bits ``low`` of a word is set."""
    found = fn.and_(word, low)
    return fn.ne(fn.and_(found, fn.sub(found, const(1))), const(0))


def _none(fn: Fn, word: Val, bits: Val) -> Val:
    return fn.eq(fn.and_(word, bits), const(0))


def _critical(bits: int) -> Fn:
    """``critical(start, targets, table, words, begin, end, low, decided, out)``: those of these
    states in which none of the bits ``decided`` is set and several of ``low`` are, and only one at
    most in each other state that follows.  Returns their number; ``out``: their numbers, or null.
    """
    arrays = ("start", "targets", "table", "words")
    params = [*((name, 0) for name in arrays), ("begin", 64), ("end", 64)]
    params += [("low", 64), ("decided", 64), ("out", 0)]
    fn = Fn(f"critical_{bits}", params, 64)
    start, targets, table, array, first, last, low, decided, out = fn.args
    words, count = _Words(fn, bits, table, array), fn.var(const(0))
    with fn.count(last, first) as state:
        no, word = fn.label(), words.get(state)
        fn.leave_if(fn.not_(_none(fn, word, decided)), no)
        fn.leave_if(fn.not_(_several(fn, word, low)), no)
        lost = fn.var(TRUE)
        with _edges(fn, start, targets, state) as (_, target):
            other = fn.ne(target, state)
            with fn.if_(fn.and_(other, _several(fn, words.get(target), low))):
                lost.set(FALSE)
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
    """``waiting(table, words, begin, end, low, decided, among, out)``: those of these states in
    which none of the bits ``decided`` is set, and several of ``low`` are (where it is 0: any).
    Returns their number; ``among``: a byte for each state, 0 for those that are not meant, or null
    for all; ``out``: their numbers.
    """
    params = [("table", 0), ("words", 0), ("begin", 64), ("end", 64)]
    params += [("low", 64), ("decided", 64), ("among", 0), ("out", 0)]
    fn = Fn(f"waiting_{bits}", params, 64)
    table, array, first, last, low, decided, among, out = fn.args
    words, count, any_ = _Words(fn, bits, table, array), fn.var(const(0)), fn.eq(low, const(0))
    with fn.count(last, first) as state:
        no, word = fn.label(), words.get(state)
        fn.leave_if(fn.not_(_none(fn, word, decided)), no)
        fn.leave_if(fn.not_(fn.or_(any_, _several(fn, word, low))), no)
        with fn.if_(fn.ne(among, Val("null", 0))):
            fn.leave_if(fn.eq(fn.load(fn.at(among, state, 8), 8), const(0, 8)), no)
        _report(fn, out, count.get(), state)
        count.set(fn.add(count.get(), const(1)))
        fn.place(no)
    fn.ret(count.get())
    return fn
