"""The shapes of formulas: what is left without their names.  Properties of the same shape mean the
same, and are checked by the same plan."""

from __future__ import annotations

from msgspec import Struct

from checker.audit.columns import Operators
from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.language.typecheck.types import PROC
from checker.records import fields, is_record

_ENTRY = (("msg",), ("sender", "msg"))
"""The whole record that is requested or delivered; the shape says which parts a formula reads."""

_HISTORIES = typed.History | typed.HistoryOrder | typed.Repeated


class Shape(Struct, frozen=True):
    """``form``: equal for formulas that say the same; ``operators``: the requests and indications
    that it speaks of, in the order in which it does."""

    form: object
    operators: tuple[str, ...]


def shape_of(formula: typed.Expr, columns: Operators) -> Shape:
    """Returns the shape of ``formula``; ``columns``: what the arguments of each request and
    indication are in a log.

    Variables, requests and indications are numbered in the order in which they occur.  Of types
    only the columns are left, and which variables stand for processes.
    """
    variables: dict[str, int] = {}
    operators: dict[str, int] = {}

    def form(node: object) -> object:
        if isinstance(node, tuple):
            return tuple(form(part) for part in node)
        if not is_record(node) or isinstance(node, type):
            return type(node).__name__, node
        match node:
            case typed.Local() | typed.Bind():
                return "variable", variables.setdefault(node.name, len(variables))
            case typed.All():
                return "all", node.item == PROC
        found: list[object] = [type(node).__name__]
        if isinstance(node, _HISTORIES):
            of = columns[node.op]
            found += (operators.setdefault(node.op, len(operators)), of if of not in _ENTRY else ())
        for field in fields(node):
            part = getattr(node, field.name)
            is_name = isinstance(node, _HISTORIES) and field.name in ("op", "named")
            if field.name != "type" and not is_name and not isinstance(part, Span):
                found.append(form(part))
        return tuple(found)

    found = form(formula)
    return Shape(found, tuple(operators))
