"""Says which value is too wide: a variable's, or one that an expression computes."""

from __future__ import annotations

from checker.engines.native.codegen.layout import bits_in_state
from checker.engines.native.codegen.packing import TooWide, width
from checker.model import ir
from checker.model.ir import Expr, SourceLocation, TransitionSystem
from checker.model.names import reads_in
from checker.model.tree import parts

REMEDY = "smaller ranges or a smaller `max` make it narrower"


def describe(system: TransitionSystem, why: TooWide) -> str:
    """Returns what is too wide in ``system``, and what helps; ``why``: what has been found."""
    titles = {v.name: f"`{v.title or v.name}`" for v in system.variables}
    for variable in system.variables:
        try:
            bits_in_state(variable.type)
        except TooWide as found:
            return f"{titles[variable.name]} {found}; {REMEDY}"
    for part in (*system.actions, *system.properties, system.init, system.monitor):
        computed = _computed(part, None)
        if computed is not None:
            expr, place, bits = computed
            read = " and ".join(sorted(titles[name] for name in reads_in(expr)))
            at = f" at {place.file}:{place.line}:{place.column}" if place else ""
            return f"what is computed{read and f' from {read}'}{at} {bits}; {REMEDY}"
    return f"a value {why}; {REMEDY}"


def _computed(
    node: object, place: SourceLocation | None
) -> tuple[Expr, SourceLocation | None, TooWide] | None:
    """Returns the innermost expression that is too wide, where it is, and by how much."""
    place = getattr(node, "place", None) or place
    for part in parts(node):
        found = _computed(part, place)
        if found is not None:
            return found
    if isinstance(node, Expr) and not isinstance(node, ir.Read | ir.Index | ir.Item):
        try:
            width(node.type)
        except TooWide as why:
            return node, place, why
    return None
