"""Models processes that are parts of one program: they stop, pause and come back up together.

``role store(1) dies with server``: the i-th member of ``store`` stops with the i-th of ``server``,
its *lead*.  A crash, a pause and a recovery of the lead are steps of all of them, counted once, as
one of the lead.  At a crash their messages to one another are gone.  At a recovery the lead does
first what it does in ``upon recover``.  A pause falls inside a handler of one of them; meanwhile
the others do nothing, and they wake together.

Between them are no links that a network could harm: nothing is lost, and no way is shut.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.instantiate.network import overflow
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.variable_names import IMMUNE
from checker.instantiate.world import ORACLE, Link, World, mark
from checker.language.link_kinds import Delivery
from checker.model import build, ir
from checker.model.build import conj, entry, equal, fresh, member, negation
from checker.model.ir import TRUE, Block, Expr, MarkKind, Quantifier
from checker.model.transforms.rewrite import replace_emits
from checker.model.types import BOOL, BagT, MapT, SetT, default
from checker.records import replace


def declare(world: World) -> None:
    """Raises :class:`SpecError` (C022) where the check has Byzantine processes or oracles."""
    role = next((role for role in world.check.protocol.roles if role.lead), None)
    if role is None:
        return
    what = f"role `{role.name}` dies with `{role.lead}`"
    if world.bound(world.check.byzantine):
        message = f"{what}, which is defined for crashes, and this check has Byzantine processes"
        hint = "leave out `byzantine`, or the words `dies with`"
        raise refuse("C022", message, role.span, hint)
    if any(instance.oracle == ORACLE for instance in world.instances):
        message = f"{what}, and oracles don't know which processes crash together"
        hint = "use `given … as …` with a protocol, or leave out the words `dies with`"
        raise refuse("C022", message, role.span, hint)


# ---- who belongs together ---------------------------------------------------------------------


def members(world: World, process: Expr) -> ir.Domain:
    """Returns those that stop together with ``process``, itself among them."""
    return ir.Members(entry(ir.Const(*_members(world)), process), world.proc)


def _members(world: World) -> tuple[MapT, tuple[frozenset[int], ...]]:
    leads = world.sizes.leads
    of_leads = {one: frozenset(p for p, x in enumerate(leads) if x == one) for one in leads}
    return MapT(world.proc, SetT(world.proc)), tuple(of_leads[one] for one in leads)


def is_lead(world: World, process: Expr) -> Expr:
    """Returns whether ``process`` stops on its own, or as the lead of others."""
    return member(process, _leads(world)) if world.sizes.leads else TRUE


def _leads(world: World) -> Expr:
    return ir.Const(SetT(world.proc), frozenset(world.sizes.leads))


def followers(world: World, lead: Expr) -> list[tuple[Expr, Expr]]:
    """Returns for each role that dies with another the member that follows ``lead``, and whether
    there is one."""
    found = []
    sizes = world.sizes
    for role in world.check.protocol.roles if sizes.leads else ():
        if role.lead:
            ours = sizes.role(role.name)
            theirs = sizes.role(role.lead)
            with_one = frozenset(range(theirs.first, theirs.first + theirs.size))
            images = tuple(
                ours.first + p - theirs.first if p in with_one else p
                for p in range(len(sizes.processes))
            )
            follower = entry(ir.Const(MapT(world.proc, world.proc), images), lead)
            found.append((follower, member(lead, ir.Const(SetT(world.proc), with_one))))
    return found


def each(world: World, process: Expr, make: Callable[[Expr], Block]) -> Block:
    """Returns what is done to ``process`` and to all that stop together with it."""
    if not world.sizes.leads:
        return make(process)
    one = ir.Local(world.proc, fresh("_together"))
    return (ir.For(one.name, members(world, process), make(one)),)


def of_each(world: World, process: Expr, holds: Callable[[Expr], Expr]) -> Expr:
    """Returns whether something ``holds`` of ``process`` and of all that stop together with it."""
    if not world.sizes.leads:
        return holds(process)
    one = ir.Local(world.proc, fresh("_together"))
    domain = members(world, process)
    return ir.Quant(Quantifier.FORALL, one.name, domain, holds(one), BOOL)


def marks(world: World, kind: MarkKind, text: str, process: Expr) -> Block:
    """Returns the marks that show what happens to ``process`` and all that stop together with it,
    the lead first."""
    if not world.sizes.leads:
        return (mark(world, kind, text, ("process",), process),)
    lead = world.lead(process)
    found: list[ir.Stmt] = [mark(world, kind, text, ("process",), lead)]
    for follower, exists in followers(world, lead):
        names = ("process", "lead")
        found.append(ir.If(exists, (mark(world, kind, text, names, follower, lead),)))
    return tuple(found)


# ---- crashes and recoveries -------------------------------------------------------------------


def number_down(world: World) -> Expr:
    """Returns how many have crashed; those that stop together count as one."""
    crashed = world.crashed()
    if world.sizes.leads:
        crashed = ir.Apply(crashed.type, ir.Op.INTERSECT, (crashed, _leads(world)))
    return build.size(crashed)


def may_fail(world: World, victim: Expr) -> Expr:
    """Returns whether no failure detector needs ``victim``, or a process that stops with it, as the
    one that is never faulty."""
    if IMMUNE not in world.variables:
        return TRUE
    return of_each(world, victim, world.may_fail)


def with_all(world: World, processes: Expr, victim: Expr) -> Expr:
    """Returns the set ``processes`` with ``victim`` and all that stop together with it."""
    if not world.sizes.leads:
        return build.with_item(processes, victim)
    return ir.Apply(processes.type, ir.Op.UNION, (processes, _all(world, victim)))


def without_all(world: World, processes: Expr, victim: Expr) -> Expr:
    """Returns the set ``processes`` without ``victim`` and all that stop together with it."""
    if not world.sizes.leads:
        return build.without_item(processes, victim)
    return ir.Apply(processes.type, ir.Op.MINUS, (processes, _all(world, victim)))


def _all(world: World, victim: Expr) -> Expr:
    return entry(ir.Const(*_members(world)), victim)


def forget_messages(world: World, victim: Expr) -> Block:
    """Returns the statements that remove the messages between ``victim`` and those that stop
    together with it; who stays down receives nothing anyway."""
    if not world.sizes.leads or not world.recovers:
        return ()
    lead, found = world.lead(victim), list[ir.Stmt]()
    for link in world.links:
        found.extend(_forget_on(world, link, lead))
    return tuple(found)


def _forget_on(world: World, link: Link, lead: Expr) -> Block:
    if not any(_uses(world, link)):
        return ()
    network = world.read(link.variable)

    def inside(source: Expr, to: Expr) -> Expr:
        return conj(equal(world.lead(source), lead), world.together(source, to))

    if isinstance(network.type, MapT):
        source, to = ir.Local(world.proc, fresh("_from")), ir.Local(world.proc, fresh("_to"))
        cleared: list[ir.Stmt] = []
        more = (overflow.variable(link),) if overflow.remembers(link) else ()
        for name in (link.variable, *more):
            held = entry(entry(world.read(name), source), to)
            cleared.append(build.assign(held, ir.Const(held.type, default(held.type))))
        inner = ir.If(world.together(source, to), tuple(cleared))
        loop = ir.For(to.name, members(world, lead), (inner,))
        return (ir.For(source.name, members(world, lead), (loop,)),)
    envelope = ir.Local(build.element(network.type), fresh("_e"))
    gone = inside(build.item(envelope, 0), build.item(envelope, 1))
    domain = ir.Members(network, envelope.type)
    if not isinstance(network.type, BagT):
        keep = ir.Comprehension(network.type, envelope.name, domain, negation(gone), envelope)
        return (build.assign(network, keep),)
    remove = build.assign(network, build.without_item(network, envelope))
    again = ir.While(member(envelope, network), (remove,), 1000)
    return (ir.For(envelope.name, domain, (ir.If(gone, (again,)),), True),)


def parts(world: World, link: Link) -> list[Link]:
    """Returns ``link``, and where it may lose messages another for those between processes that
    stop together, which loses none."""
    if not link.kind.may_miss or not _uses(world, link):
        return [link]
    delivery = Delivery.STUBBORN if link.kind.keeps else Delivery.RELIABLE
    kind = replace(link.kind, loses=False, has_capacity=False, delivery=delivery)
    name = f"{link.name} within".strip()
    inner = replace(
        link, name=name, variable=f"{link.variable} within", kind=kind, capacity=None, within=True
    )
    return [replace(link, within=False), inner]


def _uses(world: World, link: Link) -> list[tuple[int, int]]:
    """Returns the ways between processes that stop together for which ``link`` is there."""
    ways = inner_ways(world)
    if link.within is not None:
        return ways if link.within else []
    if link.pairs:
        return [w for w in ways if any(w[0] in a and w[1] in b for a, b in link.pairs)]
    return [w for w in ways if not any(w[0] in a and w[1] in b for a, b in link.others)]


def inner_ways(world: World) -> list[tuple[int, int]]:
    """Returns the pairs of different processes that stop together."""
    every = range(len(world.sizes.leads))
    return [(p, q) for p in every for q in every if p != q and world.sizes.stop_together(p, q)]


def recover_together(world: World, self: Expr, make: Callable[[Expr], Block]) -> Block:
    """Returns what ``self``, a lead, and then those that stop together with it do when they come
    back up, in one step also where effects are steps."""
    found = [*make(self)]
    for follower, exists in followers(world, self):
        found.append(ir.If(exists, make(follower)))
    return in_one_step(world, tuple(found))


def in_one_step(world: World, body: Block) -> Block:
    """Returns ``body``, which happens in an order that others keep to, so that it stays one step
    where effects are steps and some processes stop together."""
    if not (world.sizes.leads and world.fine):
        return body
    return replace_emits(body, lambda emit: (replace(emit, atomic=True),))


def follows(world: World, process: Expr) -> bool:
    """Tells whether ``process`` is written as the follower of another, as in
    :func:`recover_together`."""
    return bool(world.sizes.leads) and isinstance(process, ir.Index)


def start_alive(world: World, process: Expr, body: Block) -> Block:
    """Returns ``body``, the initial actions of ``process``, unless another that stops with it has
    crashed in its own."""
    if not world.sizes.leads or not world.crash_bound:
        return body
    return (ir.If(world.alive(process), body),)
