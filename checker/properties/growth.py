"""What can only turn true in a run: histories grow, and who is correct is fixed by the run."""

from __future__ import annotations

from checker.lang import typed
from checker.system.instantiate.walk import nodes


def grows(expr: typed.Expr) -> bool:
    """Whether ``expr``, once true in a run, stays true (sets: only gain members)."""
    match expr:
        case typed.Operation(_, "and" | "or", args, _):
            return all(grows(a) for a in args)
        case typed.Operation(_, "in", (item, of), _):
            return fixed(item) and grows(of)
        case typed.Operation(_, ">" | ">=", (left, right), _):
            if isinstance(left, typed.Operation) and left.op == "size":
                return grows(left.args[0]) and fixed(right)
            return fixed(expr)
        case typed.Quantified(_, kind, binders, body, _):
            ranges = fixed if kind == "forall" else grows
            parts = [p for b in binders for p in (b.domain, b.where) if p is not None]
            patterns = all(fixed(b.pattern) for b in binders)
            return patterns and all(ranges(p) for p in parts) and grows(body)
        case typed.Acts():
            return True
        case typed.History():
            return fixed(expr.owner)
        case typed.HistoryOrder(_, _, _, owner, first, second, _):
            return fixed(owner) and fixed(first) and fixed(second)
        case typed.Repeated(_, _, _, owner, item, _):
            return fixed(owner) and fixed(item)
        case typed.RepeatedAct(_, _, item, _):
            return fixed(item)
        case typed.Causes(_, first, second, _):
            return fixed(first) and fixed(second)
        case _:
            return fixed(expr)


def fixed(expr: typed.Expr | typed.Pattern) -> bool:
    """Whether ``expr`` means the same in every state of a run."""
    return not any(isinstance(n, typed.Temporal) or typed.changes(n) for n in nodes(expr))
