"""Models links that are cut, and that heal.

A clause ``cut`` is about links, each both ways at once; with an arrow it is about ways, each of
them alone.  While a way is cut nothing that is sent on it arrives: messages wait.  A cut may heal,
which is not a fairness assumption, and what is cut once more counts once more.  Each clause has its
own cuts and its own bound, and a way is open where no clause has cut it.  Nobody is cut off from
itself, or from who stops together with it.
"""

from __future__ import annotations

from itertools import combinations

from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.sizes import Sizes
from checker.instantiate.world import CUT, CUTS, Draft, World, mark
from checker.language.syntax import typed
from checker.language.typecheck.world import EVERYBODY
from checker.model import build, ir
from checker.model.build import conj, entry, equal, fresh, member, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkKind,
    Param,
    Quantifier,
    VariableKind,
)
from checker.model.types import BOOL, BagT, IntT, MapT, SetT, default, sort_key

Ends = tuple[frozenset[int], frozenset[int]]
"""The indices of the senders and of the receivers."""


def declare(world: World) -> None:
    """Declares for each clause the relation of cut ways, and the count of cuts.

    Raises :class:`SpecError` (C035) if a clause has no link to cut, or two clauses include the same
    way, and (E003) for a bound below 0.
    """
    ways: dict[tuple[int, int], typed.Cut] = {}
    for cut in world.check.cuts:
        bound = None if cut.bound is None else world.bound(cut.bound)
        if cut.bound is not None and bound is not None and bound < 0:
            hint = "the bound is 0 or more"
            raise refuse("E003", f"cut <= {bound} is impossible", cut.bound.span, hint)
        found = _ways(world, cut)
        if not found:
            message = "there is no link to cut: a process is never cut off from itself"
            raise refuse("C035", message, cut.span, "leave out the clause")
        for way in found if cut.way is not None else ():
            if way in ways:
                source, to = (world.sizes.processes[end] for end in way)
                message = f"another clause already cuts the link from {source} to {to}"
                raise refuse("C035", message, cut.span, "cut each direction in one clause only")
            ways[way] = cut
        if bound == 0:
            continue
        reached = MapT(world.proc, SetT(world.proc))
        world.add(_named(CUT, cut), reached, default(reached), VariableKind.WORLD, _title(cut))
        if bound is not None:
            title = _title(cut).replace("cut", "cuts", 1)
            world.add(_named(CUTS, cut), IntT(0, bound), 0, VariableKind.WORLD, title)


def _ways(world: World, cut: typed.Cut) -> set[tuple[int, int]]:
    senders, receivers = _ends(world.sizes, cut)
    return {
        (p, q) for p in senders for q in receivers if p != q and not world.sizes.stop_together(p, q)
    }


def _ends(sizes: Sizes, cut: typed.Cut) -> Ends:
    def processes(name: str) -> frozenset[int]:
        for role in sizes.roles:
            if role.name == name:
                return frozenset(range(role.first, role.first + role.size))
        if name == EVERYBODY:
            return frozenset(range(len(sizes.processes)))
        return frozenset({sizes.values[name]})

    sender, receiver = cut.way or (EVERYBODY, EVERYBODY)
    return processes(sender), processes(receiver)


def _named(variable: str, cut: typed.Cut) -> str:
    return variable if cut.way is None else f"{variable} {cut.way[0]} -> {cut.way[1]}"


def _title(cut: typed.Cut) -> str:
    return "cut" if cut.way is None else f"cut {cut.way[0]} -> {cut.way[1]}"


# ---- steps ------------------------------------------------------------------------------------


def draft(world: World) -> None:
    """Drafts the actions by which a link, or a way, is cut and heals."""
    for cut in world.check.cuts:
        if _named(CUT, cut) not in world.variables:
            continue
        once_more, counted = _count(world, cut)
        steps = _link_steps if cut.way is None else _way_steps
        steps(world, cut, once_more, counted)


def _count(world: World, cut: typed.Cut) -> tuple[Expr, Block]:
    """Returns whether the clause's bound allows one more cut, and the statement that counts it."""
    name = _named(CUTS, cut)
    if name not in world.variables:
        return TRUE, ()
    count = world.read(name)
    assert isinstance(count.type, IntT)
    return build.below(count, build.integer(count.type.hi)), (build.one_more(count),)


def _link_steps(world: World, cut: typed.Cut, once_more: Expr, counted: Block) -> None:
    """Drafts the steps of a link in both directions.  Its two ends are a set, without a first one,
    so that symmetric processes stay symmetric."""
    name, pairs = _named(CUT, cut), SetT(world.proc)
    every = tuple(
        frozenset(link)
        for link in combinations(range(len(world.sizes.processes)), 2)
        if not world.sizes.stop_together(*link)
    )
    links = ir.Const(BagT(pairs, len(every)), tuple(sorted(every, key=sort_key)))
    pair, end = ir.Local(pairs, fresh("link")), ir.Local(world.proc, fresh("_end"))
    lost = entry(world.read(name), end)
    other = build.without_item(pair, end)
    both = ir.Members(pair, world.proc)
    meets = negation(equal(_common(lost, other), ir.Const(pairs, frozenset())))
    is_cut = ir.Quant(Quantifier.EXISTS, end.name, both, meets, BOOL)

    def change(op: ir.Op) -> Block:
        value = ir.Apply(lost.type, op, (lost, other))
        return (ir.For(end.name, both, (build.assign(lost, value),)),)

    def step(does: str, kind: MarkKind, may: Expr, body: Block) -> None:
        shown = mark(world, kind, "", ("link",), pair)
        params = (Param(pair.name, ir.Members(links, pairs), may),)
        _add(world, does, params, (*body, shown))

    step("cut", MarkKind.CUT, conj(once_more, negation(is_cut)), (*change(ir.Op.UNION), *counted))
    step("cut heals", MarkKind.MEND, is_cut, change(ir.Op.MINUS))


def _way_steps(world: World, cut: typed.Cut, once_more: Expr, counted: Block) -> None:
    """Drafts the steps of one way of a link."""
    name, processes = _named(CUT, cut), SetT(world.proc)
    senders, receivers = (ir.Const(processes, end) for end in _ends(world.sizes, cut))
    source, to = ir.Local(world.proc, fresh("from")), ir.Local(world.proc, fresh("to"))
    lost = entry(world.read(name), source)
    is_cut = member(to, lost)
    assert cut.way is not None
    way = f"({cut.way[0]} -> {cut.way[1]})"

    def step(does: str, kind: MarkKind, may: Expr, value: Expr, counted: Block) -> None:
        shown = mark(world, kind, "", ("from", "to"), source, to)
        apart = conj(negation(equal(source, to)), negation(world.together(source, to)), may)
        params = (
            Param(source.name, ir.Members(senders, world.proc), TRUE),
            Param(to.name, ir.Members(receivers, world.proc), apart),
        )
        _add(world, f"{does} {way}", params, (build.assign(lost, value), *counted, shown))

    may_cut = conj(once_more, negation(is_cut))
    step("cut", MarkKind.CUT, may_cut, build.with_item(lost, to), counted)
    step("cut heals", MarkKind.MEND, is_cut, build.without_item(lost, to), ())


def _common(one: Expr, other: Expr) -> Expr:
    return ir.Apply(one.type, ir.Op.INTERSECT, (one, other))


def _add(world: World, name: str, params: tuple[Param, ...], body: Block) -> None:
    action = Action(name, ActionKind.WORLD, params, TRUE, body, FALSE)
    world.drafts.append(Draft(action, None))
