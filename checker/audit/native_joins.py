"""Native code of joins: numbers of keys, and what is at them in an array."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from checker.engines.native.codegen.arrays import entry, put
from checker.engines.native.codegen.emit import Fn, const
from checker.engines.native.codegen.jit import compile_functions

OUTSIDE = 0xFFFFFFFF
"""Stands for a key that is none of those that an array has a place for."""


def _number(bits: int) -> Fn:
    """``number_<bits>(key, least, width, number, rows)``.

    ``number`` (32 bits) becomes, for each row, its old value times ``width`` plus ``key`` (of so
    many bits) less ``least``; OUTSIDE where it was that, or the key is not in this range.
    """
    words = [("least", 64), ("width", 64), ("number", 0), ("rows", 64)]
    fn = Fn(f"number_{bits}", [("key", 0), *words], 64)
    key, least, width, number, rows = fn.args
    with fn.count(rows) as row:
        from_least = fn.sub(fn.load(fn.at(key, row, bits), bits), fn.resize(least, bits))
        place = fn.resize(from_least, 64)
        so_far = entry(fn, number, row, 32)
        inside = fn.and_(fn.lt(place, width), fn.ne(so_far, const(OUTSIDE)))
        whole = fn.add(fn.mul(so_far, width), place)
        put(fn, number, row, fn.select(inside, whole, const(OUTSIDE)), 32)
    fn.ret(const(0))
    return fn


def _found(bits: int, none: int) -> Fn:
    """``found_<bits>(number, value, found, rows)``: ``found`` becomes the entry of ``value`` (both
    of so many bits) at each ``number`` (32 bits), ``none`` for OUTSIDE."""
    names = ("number", "value", "found")
    fn = Fn(f"found_{bits}", [*((name, 0) for name in names), ("rows", 64)], 64)
    number, value, found, rows = fn.args
    with fn.count(rows) as row:
        at = entry(fn, number, row, 32)
        said = fn.var(const(none, bits))
        with fn.if_(fn.ne(at, const(OUTSIDE))):
            said.set(fn.load(fn.at(value, at, bits), bits))
        fn.store(said.get(), fn.at(found, row, bits))
    fn.ret(const(0))
    return fn


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., int]]:
    source = [_number(32), _number(64), _found(8, 0), _found(32, -1)]
    code = compile_functions(source)
    return {fn.name: code.function(fn.name, len(fn.params)) for fn in source}


def numbered(key: Any, least: int, width: int, so_far: Any) -> Any:
    """Returns ``so_far`` (of 32 bits) times ``width`` plus ``key`` less ``least`` of each row,
    OUTSIDE where the key is not in that range of so many values; ``so_far`` is overwritten."""
    is_long = key.dtype.itemsize == 8 or not -(1 << 31) <= least <= (1 << 31) - width
    bits = 64 if is_long else 32
    key = np.ascontiguousarray(key, np.int64 if bits == 64 else np.int32)
    address = key.ctypes.data
    _functions()[f"number_{bits}"](address, least, width, so_far.ctypes.data, len(key))
    return so_far


def found_at(number: Any, value: Any) -> Any:
    """Returns the entry of ``value``, of 8 or 32 bits, at each ``number``; 0, or -1, for
    OUTSIDE."""
    found = np.empty(len(number), value.dtype)
    arrays = number, value, found
    name = f"found_{8 * value.dtype.itemsize}"
    _functions()[name](*(array.ctypes.data for array in arrays), len(number))
    return found
