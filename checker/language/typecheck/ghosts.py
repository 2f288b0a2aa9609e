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

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.language.syntax.typed_code import with_blocks
from checker.language.syntax.walk import parts
from checker.language.typecheck.scope import Home, Reporter

_CLOSED = (*typed.TYPES, Span)
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
    if not isinstance(stmt, typed.Sync):
        refuse_reads(with_blocks(stmt, lambda _: ()), report)
    made: typed.Stmt = with_blocks(stmt, lambda block: separate(block, report))
    return made


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
