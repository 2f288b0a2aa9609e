"""Code that reads and writes entries of arrays of unsigned integers."""

from __future__ import annotations

from checker.engines.native.codegen.emit import Fn, Val


def entry(fn: Fn, array: Val, index: Val, bits: int) -> Val:
    """Returns an entry of an array, as 64 bits."""
    return fn.resize(fn.load(fn.at(array, index, bits), bits), 64)


def put(fn: Fn, array: Val, index: Val, value: Val, bits: int) -> None:
    """Changes an entry of an array."""
    fn.store(fn.resize(value, bits), fn.at(array, index, bits))
