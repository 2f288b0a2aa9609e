"""Monotone variables, found from all assignments to them."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import ir
from checker.model.build import member, negation
from checker.model.ir import Apply, Expr, Op, TransitionSystem
from checker.model.names import free_in, reads_in
from checker.model.types import BOOL, BoolT, IntT, SetT
from checker.reductions.dead_variables.monotonicity import KEY, Direction, Trend, Trends, not_below
from checker.reductions.dead_variables.program_points import ProgramPoint
from checker.reductions.dead_variables.terms import replace_all, same
from checker.reductions.dead_variables.uses import now

_Store = tuple[ProgramPoint, ir.Assign]


def trends(system: TransitionSystem, sites: list[ProgramPoint]) -> Trends:
    """The trends of the variables of ``system``, whose program points are ``sites``."""
    stores: dict[str, list[_Store]] = {v.name: [] for v in system.variables}
    for site in sites:
        if isinstance(site.node, ir.Assign) and site.node.target.is_state:
            stores[site.node.target.name].append((site, site.node))
    plain: dict[str, Trend] = {}
    for name, found in stores.items():
        if not found:
            plain[name] = Trend(Direction.STILL)
        elif all(_keeps(store, up=True) for store in found):
            plain[name] = Trend(Direction.UP)
        elif all(_keeps(store, up=False) for store in found):
            plain[name] = Trend(Direction.DOWN)
        else:
            plain[name] = Trend(Direction.ANY)
    until = {name: _until(stores, plain, name) for name in stores}
    return Trends({name: until[name] or plain[name] for name in stores})


def _keeps(store: _Store, up: bool) -> bool:
    """Whether an assignment removes nothing (adds nothing, unless ``up``)."""
    site, stmt = store
    here = _now(stmt.target)
    return here is not None and not_below(stmt.value, here, site.facts, up)


def _now(target: ir.Target) -> Expr | None:
    """The current value of a target, components of tuples and records included."""
    if any(isinstance(step, ir.Pos) for step in target.path):
        return None
    return now(target)


def _until(stores: dict[str, list[_Store]], plain: dict[str, Trend], name: str) -> Trend | None:
    """The trend of a variable that moves up until a condition holds permanently, if it does."""
    if plain[name].way is not Direction.ANY:
        return None
    ends = [store for store in stores[name] if not _keeps(store, up=True)]
    common: list[Expr] | None = None
    for store in ends:
        found = list(_ends(stores, plain, store))
        kept = found if common is None else [c for c in common if any(same(c, f) for f in found)]
        common = kept
    actions = frozenset(site.action for site, _ in ends)
    return Trend(Direction.UP, common[0], actions) if common else None


def _ends(
    stores: dict[str, list[_Store]], plain: dict[str, Trend], store: _Store
) -> Iterator[Expr]:
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
            if other.action is None or other.action != site.action or other.order > site.order:
                continue
            if not all(any(same(test, t) for t in site.path) for test in other.path):
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
        if other.action != site.action:
            continue
        if isinstance(other.node, ir.Assign) and _strict(other, other.node, moves):
            if all(any(same(test, t) for t in site.path) for test in other.path):
                return True
    return False


def _strict(site: ProgramPoint, stmt: ir.Assign, moves: Trends) -> bool:
    """Whether an assignment to a variable that moves up stores something greater."""
    here = now(stmt.target)
    if here is None or moves.variables[stmt.target.name].way is not Direction.UP:
        return False

    def is_tested(test: Expr) -> bool:
        return any(same(test, t) for t in site.path)

    match stmt.value:
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
