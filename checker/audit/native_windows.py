"""Native code of windows and groups: what a row knows of those before it in its part of the table,
and what all rows of a part say.

The rows of a part need not be beside one another: they are those of one block of rows (of a
process, say) that have the same number, and one pass along the rows keeps what is known of each
number.  So a table in the order of processes and positions stays in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from checker.engines.native.codegen.arrays import entry, put
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.jit import compile_functions

NONE = -(1 << 63)
"""Stands for no greatest value."""


def _places() -> Fn:
    """``places(part, starts, known, before, number, rows)``.

    ``part`` (32 bits): of each row which part of its block it is in; ``starts`` (8 bits): whether
    it begins a block; ``known`` (32 bits, zeros): of each part the last row that was in it, from 1
    on; ``before`` (32 bits) becomes the row before in its part, -1 for none; ``number`` (32 bits,
    or null) the number of the row in its part, from 1 on.
    """
    names = ("part", "starts", "known", "before", "number")
    fn = Fn("places", [*((name, 0) for name in names), ("rows", 64)], 64)
    part, starts, known, before, number, rows = fn.args
    begin = fn.var(const(0))
    numbered = fn.ne(number, Val("null", 0))
    with fn.count(rows) as row:
        with fn.if_(fn.ne(entry(fn, starts, row, 8), const(0))):
            begin.set(row)
        at = entry(fn, part, row, 32)
        last = entry(fn, known, at, 32)  # a row of an earlier block is none of this part
        inside = fn.lt(begin.get(), last)
        row_before = fn.sub(last, const(1))
        put(fn, before, row, fn.select(inside, row_before, const(-1)), 32)
        put(fn, known, at, fn.add(row, const(1)), 32)
        with fn.if_(numbered):
            counted = fn.var(const(1))
            with fn.if_(inside):
                counted.set(fn.add(entry(fn, number, row_before, 32), const(1)))
            put(fn, number, row, counted.get(), 32)
    fn.ret(const(0))
    return fn


def _greatest() -> Fn:
    """``greatest(before, value, found, rows)``: ``found`` becomes, for each row, the greatest
    ``value`` (64 bits) of the rows before it in its part; a row's own value takes part behind it.
    """
    fn = Fn("greatest", [*((name, 0) for name in ("before", "value", "found")), ("rows", 64)], 64)
    before, value, found, rows = fn.args
    with fn.count(rows) as row:
        at = fn.load(fn.at(before, row, 32), 32)
        most = fn.var(const(NONE))
        with fn.if_(fn.ne(at, const(-1, 32))):
            last = fn.resize(at, 64)
            own, earlier = entry(fn, value, last, 64), entry(fn, found, last, 64)
            most.set(fn.select(fn.slt(own, earlier), earlier, own))
        put(fn, found, row, most.get(), 64)
    fn.ret(const(0))
    return fn


def _fold(function: str) -> Fn:
    """``fold_<function>(part, value, found, rows)``: folds the values (64 bits) of each part into
    what is ``found`` of it (64 bits)."""
    names = ("part", "value", "found")
    fn = Fn(f"fold_{function}", [*((name, 0) for name in names), ("rows", 64)], 64)
    part, value, found, rows = fn.args
    with fn.count(rows) as row:
        at, one = entry(fn, part, row, 32), entry(fn, value, row, 64)
        so_far = entry(fn, found, at, 64)
        if function == "sum":
            both = fn.add(so_far, one)
        else:
            less = fn.slt(one, so_far)
            both = fn.select(less, one, so_far)
            if function == "max":
                both = fn.select(less, so_far, one)
        put(fn, found, at, both, 64)
    fn.ret(const(0))
    return fn


FOLDS = {"min": (1 << 63) - 1, "max": NONE, "sum": 0}
"""Functions over the rows of a part, and what each says of none."""


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., int]]:
    source = [_places(), _greatest(), *(_fold(function) for function in FOLDS)]
    code = compile_functions(source)
    return {fn.name: code.function(fn.name, len(fn.params)) for fn in source}


def places(part: Any, starts: Any, parts: int, numbered: bool) -> tuple[Any, Any]:
    """Returns of each row the row before it in its part, -1 for none, and, if it is asked for, its
    number in the part, from 1 on (else ``None``), both of 32 bits.

    ``part``: of each row, below ``parts``; ``starts``: whether it begins a block.
    """
    rows = len(part)
    part = np.ascontiguousarray(part, np.uint32)
    before = np.empty(rows, np.int32)
    number = np.empty(rows, np.int32) if numbered else None
    known = np.zeros(parts, np.uint32)
    starts = np.ascontiguousarray(starts).view(np.uint8)
    arrays = part, starts, known, before
    written = 0 if number is None else number.ctypes.data
    _functions()["places"](*(array.ctypes.data for array in arrays), written, rows)
    return before, number


def greatest(before: Any, value: Any) -> Any:
    """Returns of each row the greatest value of those before it in its part, :data:`NONE` for no
    such; ``before``: as :func:`places` has it; ``value``: of 64 bits, :data:`NONE` for null."""
    found = np.empty(len(before), np.int64)
    arrays = before, np.ascontiguousarray(value, np.int64), found
    _functions()["greatest"](*(array.ctypes.data for array in arrays), len(before))
    return found


def fold(function: str, part: Any, value: Any, found: Any) -> None:
    """Folds the values of each part into what is ``found`` of it: the least one (``min``), the
    greatest (``max``), or their ``sum``; ``part``: of each row, of 32 bits; both others: of 64."""
    arrays = part, np.ascontiguousarray(value, np.int64), found
    _functions()[f"fold_{function}"](*(array.ctypes.data for array in arrays), len(part))
