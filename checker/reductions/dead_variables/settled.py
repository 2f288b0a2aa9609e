"""Settled variables: those that move up from when nothing can set them back any more.

A crash with recovery resets what is not on disk, so a number that otherwise only grows falls there.
But crashes are counted.  Let ``c`` be a condition on the state alone that is false forever once it
is false (``crashes < 1``).  From then on no assignment is reached that stands under ``c``, and so
more variables are monotone: who is down can only come back, as nobody crashes.  What is assigned
to an entry stands under more conditions, on its first key (``p in crashed``); where one of them,
too, is now false forever, that assignment never reaches this entry again.  If all others keep the
order, then from the moment at which both are false the entry moves up.

``once`` is that moment: the conjunction of "false forever" of both conditions.  It holds forever
where it holds, by the monotonicity that it rests on: that of the system for ``c``, that of the
system without what stands under ``c`` for the other one.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import ir
from checker.model.build import conj
from checker.model.ir import FALSE, Expr, TransitionSystem
from checker.model.memo import in_an_analysis
from checker.model.names import free_in, reads_in
from checker.reductions.dead_variables.monotone_variables import Store, keeps, trends
from checker.reductions.dead_variables.monotonicity import KEY, Direction, Trend, Trends
from checker.reductions.dead_variables.program_points import ProgramPoint
from checker.reductions.dead_variables.terms import conjuncts, replace_all, simple


def settled(system: TransitionSystem, sites: list[ProgramPoint], known: Trends) -> Trends:
    """``known``, the trends of ``system``, with those of variables that move up once they are
    settled.
    """
    found = dict(known.variables)
    loose = {name for name, trend in found.items() if trend.way is Direction.ANY}
    for condition in _closed_conditions(sites) if loose else ():
        over = _false_forever(known, condition)
        if over == FALSE or not loose:
            continue
        left = [site for site in sites if condition not in _conditions(site)]
        later = trends(system, left)
        for name in sorted(loose):
            once = _settles(name, left, later)
            if once is not None:
                found[name] = Trend(Direction.UP, once=conj(over, *once))
                loose.discard(name)
    return Trends(found)


@in_an_analysis
def _conditions(site: ProgramPoint) -> dict[Expr, None]:
    return {part: None for test in site.path for part in conjuncts(test)}


def _closed_conditions(sites: list[ProgramPoint]) -> list[Expr]:
    """The conditions on the state alone under which something is assigned."""
    found: dict[Expr, None] = {}
    for site in sites:
        if isinstance(site.node, ir.Assign) and site.node.target.is_state:
            found.update((c, None) for c in _conditions(site) if reads_in(c) and not free_in(c))
    return list(found)


def _false_forever(known: Trends, condition: Expr) -> Expr:
    """When ``condition`` is false now and forever, without what holds until something else does."""
    never = simple(known.never(condition))
    return never if known.sides(never) == () and known.onces(never) == () else FALSE


def _settles(name: str, sites: list[ProgramPoint], later: Trends) -> tuple[Expr, ...] | None:
    """The condition on the first key from which on an entry moves up, if need be; ``None``: it
    never does for certain.
    """
    stores = [
        (site, site.node)
        for site in sites
        if isinstance(site.node, ir.Assign) and site.node.target.is_state
        if site.node.target.name == name
    ]
    common: dict[Expr, None] | None = None
    for store in stores:
        if keeps(store, up=True):
            continue
        ends = dict.fromkeys(_endings(store, later))
        common = ends if common is None else {end: None for end in common if end in ends}
    if common is None:
        return ()
    return next(((end,) for end in common), None)


def _endings(store: Store, later: Trends) -> Iterator[Expr]:
    """When a condition on its first key keeps an assignment from being reached forever."""
    site, stmt = store
    first = stmt.target.path[0] if stmt.target.path else None
    if not (isinstance(first, ir.Key) and isinstance(first.key, ir.Local) and first.key_type):
        return
    if first.key.name in site.mutable:
        return
    for condition in _conditions(site):
        if free_in(condition) == {first.key.name}:
            never = _false_forever(later, replace_all(condition, first.key, KEY))
            if never != FALSE:
                yield never
