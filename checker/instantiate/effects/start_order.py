"""Orders what several processes do in ``upon init``: any order, where it makes a difference.

They do it before everything else, and their order is unspecified.  Usually each writes only its own
variables, or adds to a set or bag, and then one order stands for all.
"""

from __future__ import annotations

from typing import Any

from checker.instantiate.effects.coarse import carry_out
from checker.instantiate.world import World
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import Block, Expr
from checker.model.transforms.commuting_loops import commutes
from checker.model.transforms.rewrite import replace_emits
from checker.model.tree import rewritten


def starts(world: World) -> Block:
    """Returns what all processes do initially: one after the other, or an unordered loop over
    processes (:mod:`.any_order`)."""
    plain = tuple(stmt for _, body in world.starts for stmt in body)
    if len(world.starts) < 2:
        return plain
    name = fresh("self")
    each = tuple(_of(world, process, body, name) for process, body in world.starts)
    loop = ir.For(name, ir.Universe(world.proc), each)
    (carried,) = replace_emits((loop,), lambda emit: carry_out(world, emit))
    assert isinstance(carried, ir.For)
    return plain if commutes(carried) else (loop,)


def _of(world: World, process: Expr, body: Block, name: str) -> ir.Stmt:
    """Returns ``body``, which is for ``process``, guarded by ``name`` being that process."""
    one = ir.Local(world.proc, name)

    def change(node: Any) -> Any:
        return one if node == process else None

    return ir.If(build.equal(one, process), tuple(rewritten(stmt, change) for stmt in body))
