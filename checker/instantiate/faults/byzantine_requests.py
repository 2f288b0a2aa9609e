"""Detects properties that constrain the requests of Byzantine processes.

A Byzantine process makes no requests, whatever it sends to others.  A property that requires any
process to have made a request (``no_creation``: a message delivered from ``s`` was broadcast by
``s``) would exclude Byzantine actions.  A property designed for Byzantine faults has as a premise
that each process whose requests it reads is correct, and so does not constrain any other process.
"""

from __future__ import annotations

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed

Requests = typed.History | typed.HistoryOrder | typed.Repeated
"""Expressions that read the requests of a process, their owner."""

Names = frozenset[str]
"""Processes, by their names in the property."""


def committed_requests(formula: typed.Expr, correct: Names = frozenset()) -> Requests | None:
    """Returns the first requests in ``formula`` whose owner may be faulty; ``None`` if all owners
    are correct.  ``correct``: the processes known to be correct in ``formula``."""
    match formula:
        case typed.Operation(_, "=>", (left, _) as parts, _):
            return _first(parts, correct | _correct_if_true(left))
        case typed.Temporal(_, "~>", (left, _) as parts, _):
            return _first(parts, correct | _correct_if_true(left))
        case typed.Operation(_, "and", parts, _):
            return _first(parts, correct | _correct_if_true(formula))
        case typed.Operation(_, "or", parts, _):
            return _first(parts, correct.union(*(_correct_if_false(part) for part in parts)))
        case typed.Quantified(_, kind, binders, body, _):
            known = correct | (_premise(body) if kind == "forall" else _correct_if_true(body))
            known = known.union(*(_correct_if_true(binder.where) for binder in binders))
            wheres = (b.where for b in binders if b.where is not None)
            return _first((*(b.domain for b in binders), *wheres, body), known)
        case typed.Operation(_, _, parts, _) | typed.Temporal(_, _, parts, _):
            return _first(parts, correct)
        case _:
            found = (n for n in nodes(formula) if isinstance(n, Requests) and n.kind == "request")
            return next((r for r in found if _name(r.owner) not in correct), None)


def _first(parts: tuple[typed.Expr, ...], correct: Names) -> Requests | None:
    found = (committed_requests(part, correct) for part in parts)
    return next((requests for requests in found if requests is not None), None)


def _premise(formula: typed.Expr) -> Names:
    """Returns the processes that are correct wherever ``formula`` is not vacuously true."""
    match formula:
        case typed.Operation(_, "=>", (left, _), _) | typed.Temporal(_, "~>", (left, _), _):
            return _correct_if_true(left)
        case typed.Temporal(_, _, (part,), _) | typed.Quantified(_, "forall", _, part, _):
            return _premise(part)
        case _:
            return frozenset()


def _correct_if_true(formula: typed.Expr | None) -> Names:
    """Returns the processes that are correct wherever ``formula`` is true."""
    match formula:
        case typed.Correct(_, "correct", process, _):
            return frozenset({_name(process)} - {""})
        case typed.Operation(_, "and", parts, _):
            return frozenset().union(*(_correct_if_true(part) for part in parts))
        case typed.Temporal(_, _, (part,), _) | typed.Quantified(_, "exists", _, part, _):
            return _correct_if_true(part)
        case _:
            return frozenset()


def _correct_if_false(formula: typed.Expr) -> Names:
    """Returns the processes that are correct wherever ``formula`` is false."""
    match formula:
        case typed.Correct(_, "faulty", process, _):
            return frozenset({_name(process)} - {""})
        case typed.Operation(_, "not", (part,), _):
            return _correct_if_true(part)
        case _:
            return frozenset()


def _name(process: typed.Expr) -> str:
    """Returns the property's name for ``process``; empty if it has none."""
    match process:
        case typed.Local(_, name, _) | typed.Param(_, name, _) | typed.Named(_, name, _):
            return name
        case _:
            return ""
