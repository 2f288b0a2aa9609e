"""Models Byzantine processes: an adversary that replaces some processes, chosen initially.

A Byzantine process executes none of its handlers, makes no request and receives nothing.  At any
time it can make an honest process receive any well-typed message, a different one for each
receiver.  On authenticated links it sends in its own name, on others in any name.  Its messages are
not put on a link: a message that can arrive now could have been sent just before.
"""

from __future__ import annotations

from checker.instantiate.faults import role_bounds
from checker.instantiate.network import links
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.type_sizes import has_bag, is_bounded
from checker.instantiate.world import Draft, Instance, World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import at_most, conj, disj, fresh, member, negation
from checker.model.ir import FALSE, TRUE, Action, ActionKind, Expr, MarkKind, Param, Quantifier
from checker.model.types import BOOL, IntT, Type, VariantT, cardinality, cardinality_up_to

LARGEST = 1 << 16
"""The largest number of messages that a Byzantine process can fabricate."""


def declare(world: World) -> None:
    """Declares the Byzantine processes: any set within the bound, fixed initially."""
    bound = world.bound(world.check.byzantine)
    if not bound:
        return
    faulty = world.byzantine()
    everybody = ir.Const(faulty.type, frozenset(range(len(world.sizes.processes))))
    chosen = ir.Local(faulty.type, fresh("byzantine"))
    few = at_most(build.size(chosen), build.integer(bound))
    few = conj(few, role_bounds.all_within(world, "byzantine", chosen))
    world.init.append(ir.Choose(chosen.name, ir.Subsets(everybody, faulty.type), few))
    world.init.append(build.assign(faulty, chosen))


def forgeries(world: World) -> None:
    """Drafts the messages of Byzantine processes: each is received in the step that sends it."""
    if not world.bound(world.check.byzantine) or world.network is None:
        return
    _countable(world)
    faulty = world.byzantine()
    who, to = ir.Local(world.proc, fresh("who")), ir.Local(world.proc, fresh("to"))
    message = ir.Local(world.network, fresh("message"))
    able = conj(world.may_step(to), negation(world.is_shut(who, to)))
    params = [Param(who.name, ir.Members(faulty, world.proc), TRUE)]
    ends = ("from", "to", "message")
    if all(link.kind.authenticates for link in world.links):
        claimed = who
        params.append(Param(to.name, ir.Universe(world.proc), able))
        shown = mark(world, MarkKind.FORGE, "forge", ends, who, to, message)
    else:
        claimed = ir.Local(world.proc, fresh("claimed"))
        params.append(Param(claimed.name, ir.Universe(world.proc), TRUE))
        able = conj(able, _possible(world, who, claimed, to))
        params.append(Param(to.name, ir.Universe(world.proc), able))
        shown = mark(world, MarkKind.FORGE, "forge", (*ends, "as"), who, to, message, claimed)
    params.append(Param(message.name, ir.Universe(world.network), TRUE))
    body = (shown, *links.arrival(world, to, claimed, message))
    action = Action("forge", ActionKind.FORGE, tuple(params), TRUE, body, FALSE)
    world.drafts.append(Draft(action, to))


def _possible(world: World, who: Expr, claimed: Expr, to: Expr) -> Expr:
    """Tells whether ``who`` can send to ``to`` in the name of ``claimed``.

    Messages in another's name are attributed to the first Byzantine process on this side of the
    network, which stands for all of them.
    """
    other = ir.Local(world.proc, fresh("_other"))
    earlier = build.below(_rank(world, other), _rank(world, who))
    together = negation(world.is_shut(other, to))
    before = ir.Quant(
        Quantifier.EXISTS,
        other.name,
        ir.Members(world.byzantine(), world.proc),
        conj(earlier, together),
        BOOL,
    )
    open_ = [
        links.between(world, link, claimed, to)
        for link in world.links
        if not link.kind.authenticates
    ]
    foreign = conj(disj(*open_), negation(member(claimed, world.byzantine())), negation(before))
    return disj(build.equal(claimed, who), foreign)


def _rank(world: World, process: Expr) -> Expr:
    return ir.Apply(IntT(1, cardinality(world.proc)), ir.Op.RANK, (process,))


# ---- the number of messages ------------------------------------------------------------------


def _countable(world: World) -> None:
    """Refuses (C202) message types that can't be enumerated."""
    assert world.network is not None
    carried = _variants(world.network)
    found = [i for i in world.instances if i.messages is not None and i.messages in carried]
    hint = "make the field's type smaller, or give it a bound"
    for instance in found:
        for decl in instance.protocol.messages:
            for name, type_ in _fields(instance, decl):
                if has_bag(type_):
                    message = (
                        f"a Byzantine process can send any message, but not all of `{decl.name}` "
                        f"can be tried: its field `{name}` holds a bag, or too large a set"
                    )
                    raise refuse("C202", message, decl.span, "send a seq or a smaller set")
                if not is_bounded(type_):
                    message = (
                        "a Byzantine process can send any message, but the values of"
                        f" `{decl.name}` are unbounded: "
                        f"its field `{name}` has no bound"
                    )
                    raise refuse("C202", message, decl.span, hint)
    total = cardinality_up_to(world.network, 1 << 64)
    if total <= LARGEST:
        return
    sizes = [
        (cardinality_up_to(type_, 1 << 64), name, decl)
        for instance in found
        for decl in instance.protocol.messages
        for name, type_ in _fields(instance, decl)
    ]
    largest, name, decl = max(sizes, key=lambda size: size[0])
    message = (
        f"a Byzantine process can send any of {_text(total)} messages; at most {LARGEST:,} can be "
        f"tried: the field `{name}` of `{decl.name}` alone has {_text(largest)} values"
    )
    raise refuse("C202", message, decl.span, hint)


def _text(number: int) -> str:
    return f"{number:,}" if number < 1 << 64 else "more than 2^64"


def _fields(instance: Instance, decl: typed.MessageDecl) -> tuple[tuple[str, Type], ...]:
    assert instance.messages is not None
    fields = next(case.fields for case in instance.messages.cases if case.name == decl.name)
    # What a layer carries for the one above is reported for the upper layer.
    return tuple((name, type_) for name, type_ in fields if not isinstance(type_, VariantT))


def _variants(type_: Type) -> list[VariantT]:
    """Returns ``type_`` and the message types nested in it."""
    if not isinstance(type_, VariantT):
        return []
    inner = (v for case in type_.cases for _, t in case.fields for v in _variants(t))
    return [type_, *inner]
