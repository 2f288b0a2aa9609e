"""Moves the choices of a body to the parameters of its action.

An instance of the action then has one outcome, and its parameters say which choices lead there.  A
choice at a place that an execution does not come to has its type's default value.  Only actions in
which chance has a part are changed; states and steps stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from msgspec import Struct

from checker.model import build, ir
from checker.model.build import conj
from checker.model.distributions import is_by_chance
from checker.model.ir import TRUE, Action, Block, Const, Expr, Op, Stmt
from checker.model.tree import statements
from checker.model.types import cardinality, default
from checker.records import replace

LARGEST = 1 << 16
"""The largest number of values of one choice."""


class CannotHoist(Exception):
    """Raised where choices can't be moved; the message says why."""


class Hoisted(Struct, frozen=True):
    """An action without choices in its body.

    ``own``: how many of its parameters the original has; ``choices``: the choices that the others
    stand for, in the order in which they are made.
    """

    action: Action
    own: int
    choices: tuple[ir.Choose, ...]


def hoisted(action: Action) -> Hoisted:
    """Returns an action with its choices as parameters; raises :class:`CannotHoist`."""
    if not is_by_chance(action):
        return Hoisted(action, len(action.params), ())
    hoisting = _Hoisting()
    body = hoisting.block(action.body, False)
    params = tuple(
        ir.Param(name, ir.Universe(ir.domain_item(choice.domain)), TRUE)
        for name, choice in hoisting.found
    )
    made = replace(action, params=(*action.params, *params), body=body)
    return Hoisted(made, len(action.params), tuple(choice for _, choice in hoisting.found))


class _Hoisting:
    """``found``: the parameters, each with its choice."""

    def __init__(self) -> None:
        self.found: list[tuple[str, ir.Choose]] = []
        self._numbers = count()

    def block(self, block: Block, behind: bool) -> Block:
        """Returns a block without choices; ``behind``: chance has chosen before."""
        made: list[Stmt] = []
        for stmt in block:
            match stmt:
                case ir.Choose():
                    made += self._choice(stmt, behind)
                case ir.If(condition, then, otherwise):
                    made.append(self._branches(condition, then, otherwise, behind))
                case ir.For() | ir.While() if _chooses((stmt,)):
                    raise CannotHoist("a loop makes choices")
                case ir.Assume() if behind:
                    raise CannotHoist("a condition after a random choice")
                case _:
                    made.append(stmt)
            behind = behind or _draws((stmt,))
        return tuple(made)

    def _choice(self, stmt: ir.Choose, behind: bool) -> Block:
        item = ir.domain_item(stmt.domain)
        if cardinality(item) > LARGEST:
            raise CannotHoist(f"a choice among more than {LARGEST:,} values")
        param = ir.Local(item, f"{stmt.name}@{next(self._numbers)}")
        self.found.append((param.name, stmt))
        name = ir.Local(item, stmt.name)
        bound = ir.Declare(stmt.name, item, param)
        allowed = conj(build.belongs(name, stmt.domain), stmt.where)
        if allowed == TRUE:
            return (bound,)
        if not behind:
            return (bound, ir.Assume(allowed))
        if not _never_empty(stmt):
            raise CannotHoist("a choice from a possibly empty set after a random choice")
        return (bound, ir.Assume(allowed))

    def _branches(self, condition: Expr, then: Block, otherwise: Block, behind: bool) -> Stmt:
        """Returns both ways of an ``If``, each with the other's choices at their defaults."""
        before = len(self.found)
        yes = self.block(then, behind)
        between = len(self.found)
        no = self.block(otherwise, behind)
        of_yes, of_no = self.found[before:between], self.found[between:]
        return ir.If(condition, (*_pinned(of_no), *yes), (*_pinned(of_yes), *no))


def _pinned(choices: Sequence[tuple[str, ir.Choose]]) -> Block:
    found = []
    for name, choice in choices:
        item = ir.domain_item(choice.domain)
        same = build.equal(ir.Local(item, name), Const(item, default(item)))
        found.append(ir.Assume(same))
    return tuple(found)


def _never_empty(stmt: ir.Choose) -> bool:
    """Returns whether there surely is something to choose."""
    match stmt.domain:
        case ir.Members(ir.Apply(op=Op.SET, args=args)):
            full = bool(args)
        case ir.Members(ir.Const(value=value)):
            full = bool(value)
        case ir.Members():
            full = False
        case _:
            full = True
    is_weighed = stmt.weight is not None and not isinstance(stmt.weight, Const)
    return full and (stmt.where == TRUE or is_weighed)


def _chooses(block: Block) -> bool:
    return any(isinstance(s, ir.Choose) for s in statements(block))


def _draws(block: Block) -> bool:
    return any(isinstance(s, ir.Choose) and s.weight is not None for s in statements(block))
