"""Words of the records that native code and Python share (see
:mod:`checker.engines.native.codegen.fields`)."""

from __future__ import annotations

from checker.engines.native.codegen.emit import Fn, Val


def field(fn: Fn, record: Val, which: int) -> Val:
    """The address of a word of a record."""
    return fn.at(record, int(which))


def get(fn: Fn, record: Val, which: int) -> Val:
    return fn.load(field(fn, record, which), 64)


def put(fn: Fn, record: Val, which: int, value: Val) -> None:
    fn.store(value, field(fn, record, which))


def address(fn: Fn, record: Val, which: int) -> Val:
    """A word of a record that is an address."""
    return fn.load(field(fn, record, which), 0)
