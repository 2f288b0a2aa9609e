"""Migrates rows to another layout, in which the same variables have wider types."""

from __future__ import annotations

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.convert import convert
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.packing import universe_size
from checker.engines.native.codegen.state_access import Spot, entry, item, load, spot, store
from checker.model import types as t


def emit_move(before: Layout, now: Layout) -> Fn:
    """``move(rows, count, others)``: writes ``count`` rows of the layout ``before`` to ``others``
    as rows of ``now``, whose types hold all values of those before.

    Raises :class:`Unsupported` where values can't be described by the other types.
    """
    fn = Fn("move", [("rows", 0), ("count", 64), ("others", 0)], None)
    rows, count, others = fn.args
    with fn.count(count) as i:
        source = fn.at(rows, fn.mul(i, const(before.words)))
        target = fn.at(others, fn.mul(i, const(now.words)))
        for word in range(now.words):
            fn.store(const(0), fn.at(target, word))
        for have, want in zip(before.nodes, now.nodes, strict=True):
            places = spot(fn, have, const(0)), spot(fn, want, const(0))
            _move(fn, source, target, *places)
    fn.ret()
    return fn


def _move(fn: Fn, source: Val, target: Val, have: Spot, want: Spot) -> None:
    """Moves part by part where both have places for parts: a map's value is as wide as the map."""
    match have.type, want.type:
        case (t.MapT(key), t.MapT()):
            if entry(fn, have, const(0)) is not None and entry(fn, want, const(0)) is not None:
                with fn.count(const(universe_size(key))) as i:
                    there, here = entry(fn, have, i), entry(fn, want, i)
                    assert there is not None and here is not None
                    _move(fn, source, target, there, here)
                return
        case (t.TupleT(items), t.TupleT()):
            parts = [(item(fn, have, i), item(fn, want, i)) for i in range(len(items))]
            if all(there is not None and here is not None for there, here in parts):
                for there, here in parts:
                    assert there is not None and here is not None
                    _move(fn, source, target, there, here)
                return
        case _:
            pass
    value = c.from_code(fn, have.type, load(fn, source, have))
    moved, _ = convert(fn, value, have.type, want.type)
    store(fn, target, want, c.to_code(fn, want.type, moved))
