"""Loops over domains, in the canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.emit import Fn, Label, Val, const
from checker.engines.native.codegen.packing import universe_size
from checker.model import ir
from checker.model import types as t


@contextmanager
def each(
    fn: Fn, domain: ir.Domain, of: Val | None, copies: bool = False
) -> Iterator[tuple[Val, Label]]:
    """Emits the block for each member of ``domain``; ``of`` is the value of its expression.

    Yields the member (of type :func:`member_type`) and the label to jump to for the next one.
    ``copies``: each copy of a bag's element counts, not each element once.
    """
    match domain:
        case ir.Universe(item):
            with fn.count(const(universe_size(item))) as i, fn.rounds(universe_size(item)):
                following = fn.label()
                yield c.unrank(fn, item, i), following
                fn.place(following)
        case ir.Members(of=source):
            assert of is not None
            match source.type:
                case t.SetT(item):
                    with _bits(fn, of) as i, fn.rounds(universe_size(item)):
                        following = fn.label()
                        yield c.unrank(fn, item, i), following
                        fn.place(following)
                case (t.SeqT() | t.BagT()) as type_:
                    slots = c.Slots(fn, type_, of)
                    with fn.count(c.length(fn, type_, of)) as i, fn.rounds(type_.cap):
                        following = fn.label()
                        code = slots.code(i)
                        if isinstance(type_, t.BagT) and not copies:
                            fn.leave_if(_repeats_previous(fn, slots, i, code), following)
                        yield c.from_code(fn, type_.item, code), following
                        fn.place(following)
                case other:
                    raise AssertionError(f"{other} has no members")
        case ir.Subsets():
            assert of is not None
            with _submasks(fn, of) as (mask, following):
                yield mask, following
        case _:
            assert_never(domain)


def member_type(domain: ir.Domain) -> t.Type:
    """The type in which :func:`each` yields the members."""
    match domain:
        case ir.Universe(item):
            return item
        case ir.Members(of=source):
            assert isinstance(source.type, t.SetT | t.SeqT | t.BagT)
            return source.type.item
        case ir.Subsets(of=source):
            return source.type
        case _:
            assert_never(domain)


def _repeats_previous(fn: Fn, slots: c.Slots, i: Val, code: Val) -> Val:
    before = fn.select(fn.eq(i, const(0)), const(0), fn.sub(i, const(1)))
    same = fn.eq(slots.code(before), code)
    return fn.and_(same, fn.ne(i, const(0)))


@contextmanager
def _bits(fn: Fn, mask: Val) -> Iterator[Val]:
    """The positions of the bits of ``mask``; a known row of bits becomes a counting loop."""
    if mask.const:
        low = (mask.const & -mask.const).bit_length() - 1
        high = mask.const.bit_length()
        if mask.const >> low == (1 << high - low) - 1:
            with fn.count(const(high), const(low)) as i:
                yield i
            return
    left = fn.var(mask)
    with fn.forever() as done:
        now = left.get()
        fn.leave_if(fn.eq(now, const(0, now.bits)), done)
        left.set(fn.and_(now, fn.sub(now, const(1, now.bits))))
        yield fn.resize(fn.intrinsic("cttz", now, "i1 true"), 64)


@contextmanager
def _submasks(fn: Fn, mask: Val) -> Iterator[tuple[Val, Label]]:
    """All submasks, ascending: the next one after ``s`` is ``(s - mask) & mask``."""
    now = fn.var(const(0, mask.bits))
    head, following, done = fn.label(), fn.label(), fn.label()
    fn.place(head)
    current = now.get()
    with fn.rounds(1 << mask.bits):
        yield current, following
        fn.place(following)
    later = fn.and_(fn.sub(current, mask), mask)
    now.set(later)
    fn.branch(fn.eq(later, const(0, mask.bits)), done, head)
    fn.place_fresh(done)
