"""Specs with ghosts drawn into them, and the states of a system without its ghosts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checker.instantiate.assemble import instantiate
from checker.instantiate.world import CRASHED, INTERRUPTED, PENDING
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import MapT, SeqT, Type, VariantT
from checker.properties.formula import ask
from checker.records import replace
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
    writes = [Written(text) for text in WRITES]
    handlers = tuple(observed(handler, draw, writes) for handler in top.handlers)
    top = replace(top, handlers=handlers, variables=(*top.variables, *GHOSTS))
    text = replace(spec, protocol=top).text()
    line = f"  property watching : always {_reading(top)} and #trail <= 4 and #crowd >= 0\n"
    return text.replace("}\ncheck c of", f"{line}}}\ncheck c of")


def asked_too(text: str) -> str:
    """``text`` with ``watching`` among what is asked."""
    return text.replace("  prove ", "  prove watching, ")


CLAIMS = (
    "always forall p in Proc: p.many <= 1",
    "always forall p in Proc: p.many > 0 => p.flag or p in p.heard",
    "always forall p, q in Proc: p.mirror => q.many > 0",
    "always forall p in Proc: p in crowd => p.flag",
    "always forall p, q in Proc, m in Msg: (q, m) in delivered(p) => p.many > 0",
    "always forall p in Proc: p.many > 0 => exists q in Proc, m in Msg: (q, m) in delivered(p)",
    "always forall p, q in Proc: p in q.heard => p.many > 0 or #trail > 0",
    "always forall p, q in Proc: (p, true) in trail and q in p.heard => q in crowd",
    "always #trail >= 2 => trail[0] != trail[1]",
    "always #trail >= 2 => exists p, q in Proc: p in q.heard",
    "forall p in Proc: correct(p) ~> p.many > 0",
    "forall p in Proc: correct(p) => eventually always p.mirror",
    "forall p in Proc: correct(p) and p in crowd ~> #trail == 4",
)
"""Claims about ghosts, some of which hold in some specs."""


def about_ghosts(spec: Spec, seed: int) -> str:
    """The text of ``spec``, which has no roles, with ghosts, and with claims about them."""
    draw = random.Random(seed)
    names = [f"g{i}" for i in range(len(CLAIMS))]
    lines = [f"  property {n} : {c}" for n, c in zip(names, CLAIMS, strict=True)]
    text = with_ghosts(replace(spec, questions=()), seed)
    chosen = draw.sample(names, 5)
    text = text.replace("}\ncheck c of", "\n".join((*lines, "}", "check c of")))
    return text.replace("  prove \n", f"  prove {', '.join(chosen)}\n")


def _reading(top: Protocol) -> str:
    roles = [role for role, _ in top.roles] or ["Proc"]
    return " and ".join(f"(forall w in {r}: w.many >= 0 or w.mirror)" for r in roles)


def observed(handler: Handler, draw: random.Random, writes: Sequence[Any]) -> Handler:
    """``handler`` with any of ``writes`` between its statements."""
    return replace(handler, body=_block(handler.body, draw, writes))


def _block(block: s.Block, draw: random.Random, writes: Sequence[Any]) -> s.Block:
    found: list[Any] = []
    for stmt in (*block, None):
        while draw.random() < 0.35:
            found.append(draw.choice(writes))
        if stmt is not None:
            found.append(_inside(stmt, draw, writes))
    return tuple(found)


def _inside(stmt: Any, draw: random.Random, writes: Sequence[Any]) -> Any:
    """``stmt`` with ghost code in its blocks."""
    match stmt:
        case s.If() | s.Flip():
            return replace(
                stmt, then=_block(stmt.then, draw, writes), other=_block(stmt.other, draw, writes)
            )
        case s.For() | s.While() | s.Atomic():
            return replace(stmt, body=_block(stmt.body, draw, writes))
        case s.Either():
            ways = tuple((guard, _block(body, draw, writes)) for guard, body in stmt.alternatives)
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
