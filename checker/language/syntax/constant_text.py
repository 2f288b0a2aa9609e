"""Prints constant expressions of a check, such as its bounds and what clients ask, in the syntax of
specs."""

from __future__ import annotations

from checker.language.syntax import typed

_BINDING = {
    "=>": 1, "or": 2, "and": 3, "not": 4, "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5,
    "+": 6, "-": 6, "*": 7, "div": 7, "mod": 7, "neg": 8,
}  # fmt: skip
"""Precedence of operators; an operand of lower precedence is parenthesised."""


def constant_text(expr: typed.Expr | None) -> str:
    """Returns ``expr``, over parameters and constants, as text; empty for ``None``, ``…`` for what
    has no short form."""
    return "" if expr is None else _text_and_precedence(expr)[0]


def _text_and_precedence(expr: typed.Expr) -> tuple[str, int]:
    """Returns the text and the precedence of its outermost operator."""
    match expr:
        case typed.Literal(_, bool(value), _):
            return ("true" if value else "false"), 9
        case typed.Literal(typed.Enum(_, labels), value, _):
            return labels[int(value)], 9
        case typed.Literal(_, value, _):
            return str(value), 9
        case typed.Display(typed.Tuple(), items, _):
            return f"({', '.join(constant_text(item) for item in items)})", 9
        case typed.Range(_, low, high, _):
            return f"{_under(low, 9)}..{_under(high, 9)}", 8
        case typed.Param(_, name, _) | typed.Named(_, name, _):
            return name, 9
        case typed.Operation(_, "not", (part,), _):
            return f"not {_under(part, 4)}", 4
        case typed.Operation(_, "neg", (part,), _):
            return f"-{_under(part, 8)}", 8
        case typed.Operation(_, op, (left, *rest), _) if rest and op in _BINDING:
            binding = _BINDING[op]
            first = _under(left, binding + (op == "=>"))
            others = (_under(part, binding + (op in ("-", "div", "mod"))) for part in rest)
            return f" {op} ".join((first, *others)), binding
        case _:
            return "…", 9


def _under(expr: typed.Expr, binding: int) -> str:
    text, own = _text_and_precedence(expr)
    return f"({text})" if own < binding else text


def sizes_of(check: typed.Check) -> str:
    """Returns the sizes that a parametric check is about: ``every n, T, f with n > 3 * T and f <=
    T``."""
    condition = constant_text(check.condition)
    about = f"every {', '.join(check.every)}"
    return f"{about} with {condition}" if condition else about
