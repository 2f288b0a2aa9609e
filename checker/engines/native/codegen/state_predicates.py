"""State predicates of liveness properties: propositions for given parameters, and justice.

``letters_<p>(rows, list, count, first, out, params)`` writes for each of ``count`` states which
propositions of property ``p`` hold: 16 bits, or, where there are more than :data:`FEW`, as many
words as they need.  The states are the rows in order, or, where ``list`` is
given, those with its numbers; ``first`` is the number of row 0.  ``params`` are the codes of the
parameters' values, each from a new word on.

``justice_bits(rows, list, count, first, out)`` writes 64 bits: which justice conditions hold.

Both return 0, or, where something can't be evaluated, the position of that state counted from 1, or
:data:`STOPPED` where they were stopped before they were done.
"""

from __future__ import annotations

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.expressions import lower
from checker.engines.native.codegen.frame import Bound, Frame
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.letters import STOPPED, letter_words, words_of
from checker.engines.native.codegen.packing import width
from checker.engines.native.codegen.visited_set import Rows
from checker.model.ir import Expr, Property, TransitionSystem, domain_item

WORD = 64


def emit_letters(layout: Layout, number: int, prop: Property) -> Fn:
    """The function ``letters_<number>``."""
    params = [("rows", 0), ("list", 0), ("count", 64), ("first", 64), ("out", 0), ("params", 0)]
    fn = Fn(f"letters_{number}", params, 64)
    bits = WORD if letter_words(len(prop.propositions)) else 16
    return _each(fn, layout, prop.propositions, bits, prop)


def emit_some(layout: Layout, number: int, bad: Expr) -> Fn:
    """The function ``some_<number>``: 16 bits, 1 where the closed condition ``bad`` holds."""
    params = [("rows", 0), ("list", 0), ("count", 64), ("first", 64), ("out", 0)]
    return _each(Fn(f"some_{number}", params, 64), layout, (bad,), 16, None)


def emit_enabled_fairness(layout: Layout, system: TransitionSystem) -> Fn:
    """The function ``justice_bits``, which evaluates the justice conditions."""
    params = [("rows", 0), ("list", 0), ("count", 64), ("first", 64), ("out", 0)]
    exprs = tuple(justice.holds for justice in system.justice)
    return _each(Fn("justice_bits", params, 64), layout, exprs, 64, None)


def _each(fn: Fn, layout: Layout, exprs: tuple[Expr, ...], bits: int, prop: Property | None) -> Fn:
    rows, chosen, count, first, out = fn.args[:5]
    lost, fn.stopping = fn.label(), fn.label()
    values = [] if prop is None else _values(fn, prop, fn.args[5])
    listed = fn.ne(chosen, Val("null", 0))
    position = fn.var(const(0))
    with fn.count(count) as i:
        fn.stop_if_told()
        position.set(i)
        row = fn.var(i)
        with fn.if_(listed):
            number = fn.resize(fn.load(fn.at(chosen, i, 32), 32), 64)
            row.set(fn.sub(number, first))
        frame = Frame(fn, layout, Rows(layout.words).row(fn, rows, row.get()), lost)
        for param, value in zip(prop.params if prop else (), values, strict=True):
            frame.names[param.name] = Bound(domain_item(param.domain), value)
        words = -(-len(exprs) // WORD)
        for word in range(words):
            total = fn.var(const(0))
            for k, expr in enumerate(exprs[WORD * word : WORD * (word + 1)]):
                bit = fn.resize(lower(frame, expr), 64)
                total.set(fn.or_(total.get(), fn.shl(bit, const(k))))
            where = fn.add(fn.mul(i, const(words)), const(word))
            fn.store(fn.resize(total.get(), bits), fn.at(out, where, bits))
    fn.ret(const(0))
    fn.place_fresh(lost)
    fn.ret(fn.add(position.get(), const(1)))
    fn.place_fresh(fn.stopping)
    fn.ret(const(STOPPED))
    return fn


def _values(fn: Fn, prop: Property, params: Val) -> list[Val]:
    values, at = [], 0
    for param in prop.params:
        type_ = domain_item(param.domain)
        count = words_of(type_)
        whole = fn.load(fn.at(params, at), count * WORD)
        values.append(c.from_code(fn, type_, fn.resize(whole, width(type_))))
        at += count
    return values
