"""Specs with ghosts drawn into them, and the states of a system without its ghosts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from checker.instantiate.assemble import instantiate
from checker.instantiate.world import CRASHED, INTERRUPTED, PENDING
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import MapT, SeqT, Type, VariantT
from checker.properties import ask
from tests.world import spec as s
from tests.world.protocol import Handler, Protocol, Spec, Variable

WRITES = (
    "many := if many < 3 then many + 1 else 3",
    "if #trail < 4 { trail := trail + (self, flag) }",
    "mirror := flag",
    "if mirror and not flag { crowd += self } else { many := 0 }",
    "for x9 in heard { if x9 not in crowd or mirror { crowd += x9 } }",
    "for x9 in Proc { if #trail < 3 { trail := [(x9, mirror)] ++ trail } }",
)
"""Ghost code over what every drawn protocol has: ``flag`` and ``heard``."""

GHOSTS = (
    Variable("many", "0..3", s.number(0), "ghost state"),
    Variable("mirror", "bool", s.FALSE, "ghost state"),
    Variable("trail", "seq<(Proc, bool), max 4>", s.const("[]", ()), "ghost shared state"),
    Variable("crowd", "set<Proc>", s.EMPTY, "ghost shared state"),
)


@dataclass(frozen=True)
class Written:
    """A statement as text."""

    text: str


def with_ghosts(spec: Spec, seed: int) -> str:
    """The text of ``spec`` with ghost code anywhere in its protocol, and a property ``watching``
    that reads all ghosts."""
    draw = random.Random(seed)
    top = spec.protocol
    handlers = tuple(_observed(handler, draw) for handler in top.handlers)
    top = replace(top, handlers=handlers, variables=(*top.variables, *GHOSTS))
    text = replace(spec, protocol=top).text()
    line = f"  property watching : always {_reading(top)} and #trail <= 4 and #crowd >= 0\n"
    return text.replace("}\ncheck c of", f"{line}}}\ncheck c of")


def asked_too(text: str) -> str:
    """``text`` with ``watching`` among what is asked."""
    return text.replace("  prove ", "  prove watching, ")


def _reading(top: Protocol) -> str:
    roles = [role for role, _ in top.roles] or ["Proc"]
    return " and ".join(f"(forall w in {r}: w.many >= 0 or w.mirror)" for r in roles)


def _observed(handler: Handler, draw: random.Random) -> Handler:
    return replace(handler, body=_block(handler.body, draw))


def _block(block: s.Block, draw: random.Random) -> s.Block:
    found: list[Any] = []
    for stmt in (*block, None):
        while draw.random() < 0.35:
            found.append(Written(draw.choice(WRITES)))
        if stmt is not None:
            found.append(_inside(stmt, draw))
    return tuple(found)


def _inside(stmt: Any, draw: random.Random) -> Any:
    """``stmt`` with ghost code in its blocks."""
    match stmt:
        case s.If() | s.Flip():
            return replace(stmt, then=_block(stmt.then, draw), other=_block(stmt.other, draw))
        case s.For() | s.While() | s.Atomic():
            return replace(stmt, body=_block(stmt.body, draw))
        case s.Either():
            ways = tuple((guard, _block(body, draw)) for guard, body in stmt.alternatives)
            return replace(stmt, alternatives=ways)
        case _:
            return stmt


# ---- states ------------------------------------------------------------------------------------


def system_of(check: typed.Check, fine: bool) -> TransitionSystem:
    return instantiate(check, {}, ask, fine=fine).system


class TooMany(Exception):
    """There are more states than a test has time for, or a capacity is too small."""


def states(system: TransitionSystem, most: int) -> set[interpreter.State]:
    """All reachable states."""
    todo = interpreter.initial_states(system)
    seen = set(todo)
    while todo:
        for step in interpreter.successors(system, todo.pop()):
            if step.successor is None:
                raise TooMany
            if step.successor not in seen:
                seen.add(step.successor)
                todo.append(step.successor)
        if len(seen) > most:
            raise TooMany
    return seen


Plain = tuple[tuple[str, Any], ...]


def without_ghosts(system: TransitionSystem, *, heard_only: bool) -> Callable[[Any], Plain]:
    """What is left of a state without ghosts, and without ghost code that waits for its effect;
    nor what says of executions by effects whether an observer may have missed something.

    ``heard_only``: and without what is on the way from a process that is down: that a message never
    arrives is the same as that it never left.
    """
    place = {v.name: i for i, v in enumerate(system.variables)}

    def plain(state: Any) -> Plain:
        down = state[place[CRASHED]] if CRASHED in place else frozenset()
        found = []
        for variable, value in zip(system.variables, state, strict=True):
            if variable.kind is VariableKind.GHOST or variable.name == INTERRUPTED:
                continue
            if variable.name == PENDING:
                value = tuple(tuple(_effects(variable.type, queue)) for queue in value)
            if variable.kind is VariableKind.LINK and heard_only:
                value = _from_others(variable.type, value, down)
            found.append((variable.name, value))
        return tuple(found)

    return plain


def _effects(type_: Type, queue: Any) -> Iterator[tuple[str, Any]]:
    assert isinstance(type_, MapT) and isinstance(type_.value, SeqT)
    item = type_.value.item
    assert isinstance(item, VariantT)
    for case, *fields in queue:
        name = item.cases[case].name
        if not name.startswith("ghost."):
            yield name, tuple(fields)


def _from_others(type_: Type, value: Any, down: frozenset[int]) -> Any:
    """A link without the messages of processes that are ``down``."""
    if isinstance(type_, MapT):
        return tuple(() if sender in down else queues for sender, queues in enumerate(value))
    return type(value)(each for each in value if each[0] not in down)
