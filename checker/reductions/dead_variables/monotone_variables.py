"""Monotone variables, found from all assignments to them."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import ir
from checker.model.build import member, negation
from checker.model.ir import Apply, Expr, Op, TransitionSystem
from checker.model.memo import in_an_analysis_with
from checker.model.names import free_in, reads_in
from checker.model.types import BOOL, BoolT, IntT, SetT
from checker.reductions.dead_variables.monotonicity import (
    KEY,
    Direction,
    Trend,
    Trends,
    meant,
    not_below,
)
from checker.reductions.dead_variables.program_points import ProgramPoint
from checker.reductions.dead_variables.terms import conjuncts, replace_all, same
from checker.reductions.dead_variables.uses import now

Store = tuple[ProgramPoint, ir.Assign]
"""An assignment, and where it is."""


def trends(system: TransitionSystem, sites: list[ProgramPoint]) -> Trends:
    """The trends of the variables of ``system``, whose program points are ``sites``."""
    stores: dict[str, list[Store]] = {v.name: [] for v in system.variables}
    for site in sites:
        if isinstance(site.node, ir.Assign) and site.node.target.is_state:
            stores[site.node.target.name].append((site, site.node))
    back = taken_back(sites)
    plain: dict[str, Trend] = {}
    for name, all_ in stores.items():
        found = [(site, stmt) for site, stmt in all_ if site.order not in back]
        undone = frozenset(site.action for site, _ in all_ if site.order in back)
        if not found:
            plain[name] = Trend(Direction.STILL)
        elif all(keeps(store, up=True) for store in found):
            plain[name] = Trend(Direction.UP, undone=undone)
        elif all(keeps(store, up=False) for store in found):
            plain[name] = Trend(Direction.DOWN, undone=undone)
        else:
            plain[name] = Trend(Direction.ANY)
    until = {name: _until(stores, plain, name) for name in stores}
    return Trends({name: until[name] or plain[name] for name in stores})


def keeps(store: Store, up: bool) -> bool:
    """Whether an assignment removes nothing (adds nothing, unless ``up``)."""
    return _keeps(store[0], up)


@in_an_analysis_with
def _keeps(site: ProgramPoint, up: bool) -> bool:
    assert isinstance(site.node, ir.Assign)
    here = _now(site.node.target)
    return here is not None and not_below(site.node.value, here, site.facts, up)


def _now(target: ir.Target) -> Expr | None:
    """The current value of a target, components of tuples and records included."""
    if any(isinstance(step, ir.Pos) for step in target.path):
        return None
    return now(target)


def taken_back(sites: list[ProgramPoint]) -> frozenset[int]:
    """The program points that store what the target held earlier in the same step: what a crash
    inside a handler leaves of its assignments.

    The value is that of a local to which nothing but the target's current value is ever assigned,
    once for certain before it is stored.  (A default with which it is declared is never stored.)
    """
    notes: dict[tuple[int | None, str], list[ProgramPoint]] = {}
    for site in sites:
        match site.node:
            case ir.Declare(name=name):
                notes.setdefault((site.action, name), []).append(site)
            case ir.Assign(target=ir.Target(name=name, is_state=False)):
                notes.setdefault((site.action, name), []).append(site)
            case _:
                pass
    found = set()
    for site in sites:
        match site.node:
            case ir.Assign(target=target, value=ir.Local(name=name)) if target.is_state:
                noted = notes.get((site.action, name), [])
                if _was_there(site, target, noted):
                    found.add(site.order)
            case _:
                pass
    return frozenset(found)


def _was_there(site: ProgramPoint, target: ir.Target, noted: list[ProgramPoint]) -> bool:
    """Whether what ``site`` stores is a value of ``target`` that was ``noted`` before."""
    here = now(target)
    if here is None or not noted or free_in(here) & site.mutable:
        return False
    first, *others = noted
    if not isinstance(first.node, ir.Declare):
        return False
    if any(
        not isinstance(one.node, ir.Assign)
        or one.node.target.path
        or not same(one.node.value, here)
        for one in others
    ):
        return False
    sure = noted if same(first.node.value, here) else others
    return any(happens_before(one, site) for one in sure)


def happens_before(one: ProgramPoint, other: ProgramPoint) -> bool:
    """Whether ``one`` has been reached in the same step whenever ``other`` is: the blocks that it
    is in are entered on the way to ``other``, or under conditions that no statement changes.
    """
    return one.order <= other.order and _always_with(one, other)


def _always_with(one: ProgramPoint, other: ProgramPoint) -> bool:
    """Whether every step that reaches ``other`` reaches ``one``, before or behind it."""
    if one.action is None or one.action != other.action:
        return False
    known = {placed.number for placed in other.blocks}
    return all(
        block.number in known or _is_known_there(block.conditions, other) for block in one.blocks
    )


def _is_known_there(conditions: tuple[Expr, ...] | None, there: ProgramPoint) -> bool:
    return conditions is not None and all(
        not reads_in(test) and any(same(test, t) for t in there.path)
        for condition in conditions
        for test in conjuncts(condition)
    )


def _until(stores: dict[str, list[Store]], plain: dict[str, Trend], name: str) -> Trend | None:
    """The trend of a variable that moves up until a condition holds permanently, if it does."""
    if plain[name].way is not Direction.ANY:
        return None
    ends = [store for store in stores[name] if not keeps(store, up=True)]
    common: list[Expr] | None = None
    for store in ends:
        found = list(_ends(stores, plain, store))
        kept = found if common is None else [c for c in common if any(same(c, f) for f in found)]
        common = kept
    actions = frozenset(site.action for site, _ in ends)
    return Trend(Direction.UP, common[0], actions) if common else None


def _ends(stores: dict[str, list[Store]], plain: dict[str, Trend], store: Store) -> Iterator[Expr]:
    """Conditions that become permanently true in the step of an assignment, before it happens."""
    site, stmt = store
    first = stmt.target.path[0] if stmt.target.path else None
    if not isinstance(first, ir.Key) or first.key_type is None or reads_in(first.key):
        return
    if free_in(first.key) & site.mutable:
        return
    for name, found in stores.items():
        if plain[name].way is not Direction.UP:
            continue
        for other, setter in found:
            if not happens_before(other, site) or site.action in plain[name].undone:
                continue
            for holds in _established(setter):
                there = replace_all(holds, first.key, KEY)
                closed = free_in(there) == {KEY.name}
                fresh = any(same(negation(test), holds) for test in site.path)
                if closed and fresh:
                    yield there


def _established(setter: ir.Assign) -> Iterator[Expr]:
    """The conditions that hold after an assignment to a flag or a set that moves up."""
    here = now(setter.target)
    if here is None:
        return
    if isinstance(here.type, BoolT) and setter.value == ir.TRUE:
        yield here
    match setter.value:
        case Apply(op=Op.INSERT, args=(_, item)) if isinstance(here.type, SetT):
            yield member(item, here)


def progresses(sites: list[ProgramPoint], moves: Trends, site: ProgramPoint) -> bool:
    """Whether every step that reaches ``site`` also takes one of finitely many steps up."""
    for other in sites:
        if isinstance(other.node, ir.Assign) and other.action == site.action:
            if _always_with(other, site) and _strict(other, other.node, moves):
                return True
    return False


def _strict(site: ProgramPoint, stmt: ir.Assign, moves: Trends) -> bool:
    """Whether an assignment to a variable that moves up stores something greater."""
    here = now(stmt.target)
    if here is None:
        return False
    trend = moves.variables[stmt.target.name]
    if trend.way is not Direction.UP or site.action in trend.undone:
        return False

    def is_tested(test: Expr) -> bool:
        return any(same(test, t) for t in site.path)

    match meant(stmt.value, site.facts):
        case ir.Const(value=True) if isinstance(here.type, BoolT):
            return is_tested(negation(here))
        case Apply(op=Op.SOME):
            return is_tested(negation(Apply(BOOL, Op.IS_SOME, (here,))))
        case Apply(op=Op.INSERT, args=(base, item)) if isinstance(here.type, SetT):
            return same(base, here) and is_tested(negation(member(item, here)))
        case Apply(op=Op.ADD, args=(base, ir.Const(value=int() as more))):
            return same(base, here) and more > 0
        case value if isinstance(here.type, IntT):
            return any(same(Apply(BOOL, Op.LT, (here, value)), fact) for fact in site.facts)
        case _:
            return False
