"""Questions about whole runs that show in single states: what must not be so forever."""

from __future__ import annotations

from checker.model import ir
from checker.properties.buchi_automaton import refuting


def never_for_ever(
    name: str,
    bad: ir.Expr,
    premise: ir.Expr = ir.TRUE,
    definition: str = "",
    assumptions: tuple[str, ...] = (),
) -> ir.Property:
    """Violated by a fair run that ends, or repeats, in states in which ``bad`` holds."""
    good = ir.Connective("not", (ir.Holds(0),))
    formula = ir.Modal("always", ir.Modal("eventually", good))
    return ir.Property(
        name,
        ir.PropertyKind.LIVENESS,
        ir.FALSE,
        premise,
        definition,
        assumptions,
        propositions=(bad,),
        formula=formula,
        automaton=refuting(formula),
    )
