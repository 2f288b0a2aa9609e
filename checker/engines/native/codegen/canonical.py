"""Canonical states: the representative of each orbit under renamings.

Interchangeable blocks of atoms are put in the order of their marks
(:mod:`checker.engines.native.codegen.canonical_marks`), which do not depend on names.  Blocks with
equal marks may come in any order; of the resulting states the least one is taken, rows being
compared word by word. All members of an orbit have the same marks, so the same states can result
from them: one state represents an orbit.  (Sorting, and searching among what is equal: McKay,
*Practical Graph Isomorphism*, Congressus Numerantium 30, 1981, and for states Bosnacki, Dams and
Holenderski, *Symmetric Spin*, SPIN 2000.)

Blocks are sorted, and orders are enumerated, by swaps of neighbours: all orders of several groups
of blocks with equal marks are visited one swap after the other (plain changes; Knuth, *The Art of
Computer Programming* 4A, 7.2.1.2, Algorithm P, here with a bound for each inversion).  A group
whose neighbours can be swapped without changing the state needs no search at all.
"""

from __future__ import annotations

from checker.engines.native.codegen.canonical_marks import Marks
from checker.engines.native.codegen.canonical_swaps import emit_swap
from checker.engines.native.codegen.emit import Fn, Val, Var, const
from checker.engines.native.codegen.layout import Layout
from checker.reductions.reduction_plan import Symmetry
from checker.reductions.symmetry.renaming import Renaming


def emit_canonical(layout: Layout, symmetry: Symmetry) -> list[Fn]:
    """``canonical(worker, row)``: replaces a row by the least one in its orbit.

    ``weigh(rows, count, mask, sums)``: of those of ``count`` rows whose fingerprints have no bit of
    ``mask``, adds the number, and the sizes of their orbits, to the two words of ``sums``.
    """
    swaps, at = [], 0
    for number, one in enumerate(symmetry.classes):
        for i in range(len(one.blocks) - 1):
            renaming = Renaming(symmetry.sorts, symmetry.swap(number, i, i + 1))
            swaps.append(emit_swap(layout, f"swap_{at + i}", renaming))
        at += len(one.blocks)
    fn = Fn("canonical", [("worker", 0), ("row", 0)], None)
    _, row = fn.args
    marks = fn.alloca(64, at)
    tie = fn.call("sort_blocks", [row, marks], 1)
    with fn.if_(tie):
        fn.call("search_orders", [row, marks], 64)
    fn.ret()
    sort, search = _sort(layout, symmetry), _search(layout, symmetry)
    return [*swaps, _swap_at(swaps), sort, search, fn, _weigh(layout, symmetry)]


def _weigh(layout: Layout, symmetry: Symmetry) -> Fn:
    fn = Fn("weigh", [("rows", 0), ("count", 64), ("mask", 64), ("sums", 0)], None)
    rows, count, mask, sums = fn.args
    words = layout.words
    row = fn.alloca(64, words)
    marks = fn.alloca(64, sum(len(one.blocks) for one in symmetry.classes))
    with fn.count(count) as i:
        source = fn.at(rows, fn.mul(i, const(words)))
        chosen = fn.and_(fn.call("fingerprint", [source], 64), mask)
        with fn.if_(fn.eq(chosen, const(0))):
            _copy(fn, source, row, words)
            size = fn.var(const(symmetry.order))
            with fn.if_(fn.call("sort_blocks", [row, marks], 1)):
                kept = fn.call("search_orders", [row, marks], 64)
                size.set(fn.udiv(const(symmetry.order), kept))
            for word, more in ((0, const(1)), (1, size.get())):
                ptr = fn.at(sums, word)
                fn.store(fn.add(fn.load(ptr, 64), more), ptr)
    fn.ret()
    return fn


def _sort(layout: Layout, symmetry: Symmetry) -> Fn:
    """``sort_blocks(row, marks)``: sorts the blocks of each class by their marks, which are written
    to ``marks``; returns whether some are equal.
    """
    fn = Fn("sort_blocks", [("row", 0), ("marks", 0)], 1)
    row, marks = fn.args
    moving = frozenset(a for one in symmetry.classes for block in one.blocks for a in block)
    emitter = Marks(fn, row, layout, symmetry.sorts, moving)
    found, at = [], 0
    for one in symmetry.classes:
        found.append([fn.var(emitter.of(block)) for block in one.blocks])
    tie = const(0, 1)
    for vars_ in found:
        for i in range(1, len(vars_)):
            for j in range(i, 0, -1):
                left, right = vars_[j - 1].get(), vars_[j].get()
                with fn.if_(fn.lt(right, left)):
                    vars_[j - 1].set(right)
                    vars_[j].set(left)
                    fn.call(f"swap_{at + j - 1}", [row], None)
        for i, var in enumerate(vars_):
            fn.store(var.get(), fn.at(marks, at + i))
            if i:
                tie = fn.or_(tie, fn.eq(vars_[i - 1].get(), var.get()))
        at += len(vars_)
    fn.ret(tie)
    return fn


def _swap_at(swaps: list[Fn]) -> Fn:
    """``swap_at(row, i)``: swaps the blocks at ``i`` and ``i + 1``, of one class."""
    fn = Fn("swap_at", [("row", 0), ("i", 64)], None)
    row, i = fn.args
    for one in swaps:
        with fn.if_(fn.eq(i, const(int(one.name.removeprefix("swap_"))))):
            fn.call(one.name, [row], None)
            fn.ret()
    fn.ret()
    return fn


def _search(layout: Layout, symmetry: Symmetry) -> Fn:
    """``search_orders(row, marks)``: the least row among the orders of blocks with equal marks.

    Returns the number of renamings that leave the row as it is.
    """
    fn = Fn("search_orders", [("row", 0), ("marks", 0)], 64, "noinline")
    row, marks = fn.args
    count = sum(len(one.blocks) for one in symmetry.classes)
    words = layout.words
    now, limit = fn.alloca(64, words), fn.alloca(64, count)
    _single(fn, row, marks, now, layout, symmetry)
    kept = _limits(fn, row, marks, now, limit, layout, symmetry)
    some = const(0)
    for i in range(count):
        some = fn.or_(some, fn.load(fn.at(limit, i), 64))
    with fn.if_(fn.eq(some, const(0))):
        fn.ret(kept)
    _copy(fn, row, now, words)
    same = _visit(fn, row, now, limit, count, words)
    fn.ret(fn.mul(kept, same))
    return fn


def _single(fn: Fn, row: Val, marks: Val, now: Val, layout: Layout, symmetry: Symmetry) -> None:
    """Handles the case that only two blocks have equal marks: there are two orders."""
    ties, where, at = const(0), const(0), 0
    for one in symmetry.classes:
        for j in range(at + 1, at + len(one.blocks)):
            left, right = (fn.load(fn.at(marks, i), 64) for i in (j - 1, j))
            same = fn.resize(fn.eq(left, right), 64)
            ties = fn.add(ties, same)
            where = fn.add(where, fn.mul(same, const(j - 1)))
        at += len(one.blocks)
    with fn.if_(fn.eq(ties, const(1))):
        _copy(fn, row, now, layout.words)
        fn.call("swap_at", [now, where], None)
        changed = fn.resize(differs(fn, row, now, layout.words), 64)
        with fn.if_(_less(fn, now, row, layout.words)):
            _copy(fn, now, row, layout.words)
        fn.ret(fn.sub(const(2), changed))


def _limits(
    fn: Fn, row: Val, marks: Val, now: Val, limit: Val, layout: Layout, symmetry: Symmetry
) -> Val:
    """``limit[j]``: how many places block ``j`` may move to the left, 0 for a group in which swaps
    change nothing.  Returns the number of orders of the blocks of such groups.
    """
    at, words, kept = 0, layout.words, fn.var(const(1))
    for one in symmetry.classes:
        fn.store(const(0), fn.at(limit, at))
        changing = fn.var(const(0))
        size = len(one.blocks)
        for j in range(at + 1, at + size):
            left, right = (fn.load(fn.at(marks, i), 64) for i in (j - 1, j))
            same = fn.resize(fn.eq(left, right), 64)
            before = fn.load(fn.at(limit, j - 1), 64)
            fn.store(fn.mul(same, fn.add(before, const(1))), fn.at(limit, j))
        for j in range(at + size - 1, at, -1):
            # from the right: whether some swap of the group that j is in changes the state
            here = fn.load(fn.at(limit, j), 64)
            with fn.if_(fn.ne(here, const(0))):
                _copy(fn, row, now, words)
                fn.call(f"swap_{j - 1}", [now], None)
                with fn.if_(differs(fn, row, now, words)):
                    changing.set(const(1))
            with fn.if_(fn.eq(here, const(1))):  # the leftmost pair of the group
                with fn.if_(fn.eq(changing.get(), const(0))):
                    _clear(fn, limit, j, at + size, kept)
                changing.set(const(0))
        at += size
    return kept.get()


def _clear(fn: Fn, limit: Val, first: int, end: int, orders: Var) -> None:
    """Sets the limits from ``first`` to the end of its group to 0; ``orders`` times its orders."""
    on = fn.var(const(1, 1))
    for j in range(first, end):
        here = fn.load(fn.at(limit, j), 64)
        inside = fn.and_(on.get(), fn.eq(here, const(j - first + 1)))
        on.set(inside)
        more = fn.select(inside, const(j - first + 2), const(1))
        orders.set(fn.mul(orders.get(), more))
        fn.store(fn.select(inside, const(0), here), fn.at(limit, j))


def _visit(fn: Fn, row: Val, now: Val, limit: Val, count: int, words: int) -> Val:
    """Enumerates all orders of ``now``; the least row is left in ``row``.

    Returns the number of orders that result in the least row: as many as in any other row.
    """
    times = fn.var(const(1))
    moved, back = fn.alloca(64, count), fn.alloca(64, count)
    for i in range(count):
        fn.store(const(0), fn.at(moved, i))
        fn.store(const(0), fn.at(back, i))
    j, offset = fn.var(const(count - 1)), fn.var(const(0))
    with fn.forever() as done:
        here = j.get()
        bound, far = fn.load(fn.at(limit, here), 64), fn.load(fn.at(moved, here), 64)
        returning = fn.ne(fn.load(fn.at(back, here), 64), const(0))
        stuck = fn.select(returning, fn.eq(far, const(0)), fn.eq(far, bound))

        def turn() -> None:
            """Reverses the direction of block ``j``, which is at one end; the one before it is
            next.
            """
            fn.store(fn.resize(fn.not_(returning), 64), fn.at(back, here))
            more = fn.add(offset.get(), fn.resize(fn.not_(returning), 64))
            offset.set(fn.select(fn.eq(bound, const(0)), const(0), more))
            fn.leave_if(fn.eq(here, const(0)), done)
            j.set(fn.sub(here, const(1)))

        def move() -> None:
            step = fn.select(returning, const(-1), const(1))
            after = fn.add(far, step)
            fn.store(after, fn.at(moved, here))
            larger = fn.select(returning, far, after)
            place = fn.add(fn.sub(here, larger), offset.get())
            fn.call("swap_at", [now, place], None)
            same = fn.not_(differs(fn, now, row, words))
            times.set(fn.add(times.get(), fn.resize(same, 64)))
            with fn.if_(_less(fn, now, row, words)):
                _copy(fn, now, row, words)
                times.set(const(1))
            j.set(const(count - 1))
            offset.set(const(0))

        fn.if_else(stuck, turn, move)
    return times.get()


def _copy(fn: Fn, have: Val, want: Val, words: int) -> None:
    for i in range(words):
        fn.store(fn.load(fn.at(have, i), 64), fn.at(want, i))


def differs(fn: Fn, a: Val, b: Val, words: int) -> Val:
    """One bit: whether the rows at ``a`` and ``b`` differ."""
    other = const(0)
    for i in range(words):
        left, right = (fn.load(fn.at(ptr, i), 64) for ptr in (a, b))
        other = fn.or_(other, fn.xor(left, right))
    return fn.ne(other, const(0))


def _less(fn: Fn, a: Val, b: Val, words: int) -> Val:
    less = const(0, 1)
    for i in reversed(range(words)):
        left, right = (fn.load(fn.at(ptr, i), 64) for ptr in (a, b))
        less = fn.or_(fn.lt(left, right), fn.and_(fn.eq(left, right), less))
    return less
