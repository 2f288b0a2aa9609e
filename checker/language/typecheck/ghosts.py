"""Separates ghost code, which observes a run, from the code that makes it.

A ghost may be read in ghost code and in properties only, and ghost code changes ghosts only: so a
run is the same with its ghosts and without them (auxiliary variables: Owicki and Gries 1976).
Ghost code is an assignment to a ghost, a branch or a loop with nothing but ghost code inside, and a
call of a procedure that is nothing else; ``let`` may give its values names.  It has an end: a
``while some`` might have none, and what removes executions (``require``, ``choose``, ``either``)
is never part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.language.syntax.parts import parts
from checker.language.typecheck.scope import Home, Reporter
from checker.records import replace

_CLOSED = (*get_args(typed.Type), Span)
_HINT = "only properties and assignments to ghosts may depend on a ghost"


def separate(block: typed.Block, report: Reporter) -> typed.Block:
    """Returns ``block`` with its ghost code as :class:`typed.Ghost`; a ghost that is read elsewhere
    is reported (N050)."""
    if _is_ghost_block(block) and len(block) > 1:
        return (typed.Ghost(block, block[0].span),)
    return tuple(_separated(stmt, report) for stmt in block)


def _separated(stmt: typed.Stmt, report: Reporter) -> typed.Stmt:
    if isinstance(stmt, typed.Ghost):
        return stmt
    if _is_ghost_code(stmt):
        return typed.Ghost((stmt,), stmt.span)
    match stmt:
        case typed.If(condition, then, otherwise, _):
            refuse_reads(condition, report)
            then, otherwise = separate(then, report), separate(otherwise, report)
            return replace(stmt, then=then, otherwise=otherwise)
        case typed.For(body=body) | typed.While(body=body):
            refuse_reads((stmt.pattern, stmt.domain, stmt.where), report)
            return replace(stmt, body=separate(body, report))
        case typed.Either(alternatives):
            refuse_reads(tuple(guard for guard, _ in alternatives), report)
            ways = tuple((guard, separate(body, report)) for guard, body in alternatives)
            return replace(stmt, alternatives=ways)
        case typed.Inlined(_, args, body, _):
            refuse_reads(args, report)
            return replace(stmt, body=separate(body, report))
        case typed.Atomic(body, _):
            return replace(stmt, body=separate(body, report))
        case typed.Sync(otherwise=otherwise):
            return replace(stmt, otherwise=separate(otherwise, report))
        case _:
            refuse_reads(stmt, report)
            return stmt


def refuse_reads(node: object, report: Reporter) -> None:
    """Reports (N050) the ghosts that ``node`` reads."""
    for name, span in _reads(node, set()):
        message = f"the ghost `{name}` is read here, so it would affect the run"
        report.add(
            "N050", message, span, hint=f"{_HINT}; declare `state` for values that a process needs"
        )


def _reads(node: object, seen: set[int]) -> Iterator[tuple[str, Span]]:
    """Yields the ghosts that are read, each with where; of a definition that calls itself, once."""
    match node:
        case typed.StateRef(name=name, ghost=True):
            yield name, node.span
        case typed.Again(definition=definition, args=args):
            yield from _reads(args, seen)
            if id(definition) not in seen:
                seen.add(id(definition))
                for name, _ in _reads(definition.body, seen):
                    yield name, node.span
        case tuple():
            for part in node:
                yield from _reads(part, seen)
        case _ if not isinstance(node, _CLOSED):
            for part in parts(node):
                yield from _reads(part, seen)


def refuse_choices(choices: tuple[typed.InitChoice, ...], role: str | None, home: Home) -> None:
    """Reports ghosts that would start with any of several values (N051), or decide with which
    values other variables start (N050)."""
    for choice in choices:
        refuse_reads((choice.domain, choice.where), home.report)
        if (role, choice.name) in home.ghosts:
            message = f"the ghost `{choice.name}` has several initial values"
            hint = "give it one initial value: `ghost state x = …`"
            home.report.add("N051", message, choice.span, hint=hint)


# ---- what is ghost code -----------------------------------------------------------------------


def _is_ghost_code(stmt: typed.Stmt) -> bool:
    match stmt:
        case typed.Ghost():
            return True
        case typed.Assign(target, _, _):
            return root_of(target).ghost
        case typed.If(_, then, otherwise, _):
            parts = [part for part in (then, otherwise) if part]
            return bool(parts) and all(_is_ghost_block(part) for part in parts)
        case typed.For(body=body) | typed.Inlined(body=body):
            return _is_ghost_block(body)
        case _:
            return False


def _is_ghost_block(block: typed.Block) -> bool:
    """Tells whether ``block`` changes ghosts and nothing else."""
    named = [stmt for stmt in block if isinstance(stmt, typed.LetIn)]
    return len(named) < len(block) and all(s in named or _is_ghost_code(s) for s in block)


def root_of(target: typed.Expr) -> typed.StateRef:
    """Returns the variable of which ``target`` is a part; for a local one that is no ghost."""
    while isinstance(target, typed.Part | typed.Entry):
        target = target.base
    if isinstance(target, typed.StateRef):
        return target
    return typed.StateRef(target.type, "", "", None, target.span)
