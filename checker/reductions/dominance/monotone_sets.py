"""Monotone sets: variables of which a larger value never hinders a step.

A set (or a large one, see :mod:`checker.model.large_sets`) is *monotone* where

* it is read in the domain of a parameter, ``for x in set``, or by conditions of steps that a larger
  set can only make true, and that can't fail;
* it is assigned only what a larger set makes larger: itself with one more item, without some items,
  or what of it satisfies a condition that does not read it;
* it is read nowhere else, but by the bad conditions of invariants that a larger set can only make
  true, and that can't fail.

Let ``x <= y`` where two states are equal but for monotone sets, and these are contained in each
other.  That is a simulation up to stuttering: for each step from ``x`` to ``x'`` there is one by
the same instance from ``y`` to some ``y'`` with ``x' <= y'``, or ``x' <= y`` (Milner 1971; states
that are upward compatible, Finkel and Schnoebelen 2001).  Where the one fails so does the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import ir
from checker.model.build import member
from checker.model.ir import TRUE, Apply, Block, Expr, Op, PropertyKind, TransitionSystem, Variable
from checker.model.large_sets import adds_only, adds_to_itself, is_finite_set
from checker.model.memo import an_analysis
from checker.model.names import reads_of
from checker.model.run_errors import can_fault
from checker.model.tree import placeless, statements
from checker.model.types import SetT
from checker.reductions.partial_order.access_sets import accesses_of
from checker.reductions.reduction_plan import AmpleAction


@an_analysis()
def monotone_sets(system: TransitionSystem) -> tuple[str, ...]:
    """The names of the monotone sets of ``system``."""
    system = placeless(system)
    return tuple(v.name for v in system.variables if _is_monotone(system, v))


@an_analysis()
def find_adding(system: TransitionSystem) -> tuple[AmpleAction, ...]:
    """The actions that may do nothing but put something into monotone sets."""
    names, system = monotone_sets(system), placeless(system)
    found = []
    for number, action in enumerate(system.actions):
        body = action.body + system.monitor
        if adds := tuple(name for name in names if _adds_to(body, name)):
            found.append(AmpleAction(number, TRUE, adds))
    return tuple(found)


def _adds_to(block: Block, name: str) -> bool:
    found = [s for s in statements(block) if isinstance(s, ir.Assign) and s.target.name == name]
    return bool(found) and all(adds_to_itself(stmt) for stmt in found)


def _is_monotone(system: TransitionSystem, variable: Variable) -> bool:
    if not (isinstance(variable.type, SetT) or is_finite_set(system, variable)):
        return False
    name = variable.name
    asked = [p.bad for p in system.properties if p.kind is PropertyKind.INVARIANT]
    if not all(_only_helps(bad, name) for bad in asked) or reads_of(system.monitor, name):
        return False
    here = ir.Read(variable.type, name)
    return all(_keeps_order(action, here) for action in system.actions)


def _keeps_order(action: ir.Action, here: ir.Read) -> bool:
    """Whether an instance of ``action`` that is possible in a state is so in a larger one, and
    leads to a larger one.
    """
    conditions = [action.guard]
    for param in action.params:
        conditions.append(param.where)
        match param.domain:
            case ir.Members(of=of) if of == here:
                pass
            case domain if reads_of(domain, here.variable):
                return False
    if not all(_only_helps(condition, here.variable) for condition in conditions):
        return False
    return reads_of(action.body, here.variable) == sum(_monotone_reads(action.body, here))


def _only_helps(condition: Expr, name: str) -> bool:
    """Whether a larger set can only make ``condition`` true."""
    found = [access for access in accesses_of(condition, True) if access.variable == name]
    if not found and not reads_of(condition, name):
        return True
    return all(access.up is True for access in found) and not can_fault(condition)


def _monotone_reads(block: Block, here: ir.Read) -> Iterator[int]:
    """For each statement that is monotone in a set how often it reads it.

    A path into the set is none; neither is what assigns it without reading it.
    """
    for stmt in block:
        match stmt:
            case ir.Assign(target=target, value=value) if target.name == here.variable:
                if target.is_state and _grows_with(value, here):
                    yield reads_of(value, here.variable)
                else:
                    yield -1
            case ir.If(_, then, otherwise):
                yield from _monotone_reads(then, here)
                yield from _monotone_reads(otherwise, here)
            case ir.For(name, ir.Members(of=of, item=item), body) if of == here:
                yield _removal(body, ir.Local(item, name), here)
            case ir.For(body=body) | ir.While(body=body):
                yield from _monotone_reads(body, here)
            case _:
                pass


def _removal(body: Block, item: ir.Local, here: ir.Read) -> int:
    """How often a loop over a set reads it that does nothing but remove members; -1: another."""
    for stmt in body:
        match stmt:
            case ir.If(condition, then, ()) if not reads_of(condition, here.variable):
                if can_fault(condition) or _removal(then, item, here) < 0:
                    return -1
            case ir.While(condition, inner) if condition == member(item, here):
                if _removal(inner, item, here) < 0:
                    return -1
            case ir.Assign(target=target, value=Apply(op=Op.REMOVE | Op.BAG_REMOVE, args=args)):
                if target.name != here.variable or target.path or args != (here, item):
                    return -1
            case _:
                return -1
    return 1 + reads_of(body, here.variable)


def _grows_with(value: Expr, here: ir.Read) -> bool:
    """Whether ``value`` is larger where the set is, and fails wherever it fails for a smaller
    one.
    """
    if can_fault(value, growing=False):
        return False
    match value:
        case Apply(op=Op.REMOVE | Op.BAG_REMOVE | Op.UNION | Op.MINUS, args=(held, other)):
            return held == here and not reads_of(other, here.variable)
        case ir.Comprehension(_, name, ir.Members(of=of), where, ir.Local(name=item)):
            return of == here and item == name and not reads_of(where, here.variable)
        case _:
            once = 1 if isinstance(here.type, SetT) else 3
            return adds_only(value, here) and reads_of(value, here.variable) == once
