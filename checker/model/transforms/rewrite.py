"""Rewrites blocks: replaces statements of a kind and keeps the structure around them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checker.model import ir
from checker.model.ir import Action, Block
from checker.records import replace


class Lowered(Struct, frozen=True):
    """The actions and the initial block when no effect is abstract any more."""

    init: Block
    actions: tuple[Action, ...]


def replace_emits(block: Block, by: Callable[[ir.Emit], Block]) -> Block:
    """Returns ``block`` with every ``Emit`` replaced by the result of ``by``."""
    result: list[ir.Stmt] = []
    for stmt in block:
        match stmt:
            case ir.Emit():
                result.extend(by(stmt))
            case ir.If(_, then, otherwise):
                branches = replace_emits(then, by), replace_emits(otherwise, by)
                result.append(replace(stmt, then=branches[0], otherwise=branches[1]))
            case ir.For(body=body) | ir.While(body=body):
                result.append(replace(stmt, body=replace_emits(body, by)))
            case _:
                result.append(stmt)
    return tuple(result)


def emits(block: Block) -> list[ir.Emit]:
    """Returns every ``Emit`` of ``block``, in program order."""
    found: list[ir.Emit] = []

    def note(emit: ir.Emit) -> Block:
        found.append(emit)
        return (emit,)

    replace_emits(block, note)
    return found
