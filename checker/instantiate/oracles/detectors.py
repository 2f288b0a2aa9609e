"""Models failure detectors as oracles: possible outputs, and eventual obligations.

=====================  ================================  ======================================
detector (CT96)        possible outputs at a process     obligations (eventually)
=====================  ================================  ======================================
P                      suspicion of a crashed process    suspicion of each crashed process
eventually P           anything until it settles         the same, and revocation of mistakes
S                      suspicions of all but one, which  suspicion of each crashed process
                       never crashes
eventually S           anything until it settles; then   suspicion of each crashed process, and
                       as S                              revocation of a mistake on that one
Omega (Chandra,        any leader until it settles       the one leader, which does not crash
Hadzilacos, Toueg)
=====================  ================================  ======================================

A suspicion of a crashed process is never revoked: the same execution with a slightly later crash
contains that output, too.  The outputs of these classes on Byzantine processes, which need not
crash, are not defined: the combination is refused (C022).  With ``noise k`` the detector never
settles; it makes at most k mistakes, at any time; with ``noise k of role`` k about that role.

Source: T. D. Chandra, S. Toueg, Unreliable Failure Detectors for Reliable Distributed Systems, JACM
43(2), 1996; CGR 2011, 2.6.
"""

from __future__ import annotations

from checker.instantiate.protocol import calls
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.statements import Root, run_call
from checker.instantiate.variable_names import IMMUNE
from checker.instantiate.world import ORACLE, Draft, Instance, World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, entry, equal, fresh, member, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    Fairness,
    MarkKind,
    Op,
    Param,
    VariableKind,
)
from checker.model.types import BOOL, IntT, MapT, OptionT, SetT, Type, default

SETTLED, WRONG = "@settled", "@wrong"


def _instances(world: World) -> list[Instance]:
    return [i for i in world.instances if i.oracle and i.oracle != ORACLE]


def _detector(world: World) -> typed.Detector:
    detector = world.check.detector
    assert detector is not None
    return detector


def declare(world: World) -> None:
    """Declares the outputs of the detectors so far, and the mistakes that they may still make."""
    found = _instances(world)
    if not found:
        return
    detector = _detector(world)
    if world.bound(world.check.byzantine):
        message = (
            f"`detector {detector.kind}` is defined for crashes, and this check has Byzantine"
            " processes"
        )
        hint = f"`given {found[0].name_above} as …` with a protocol that implements the detector"
        raise refuse("C022", message, detector.span, hint)
    for instance in found:
        omega = instance.oracle == "Omega"
        inner: Type = OptionT(world.proc) if omega else SetT(world.proc)
        type_ = MapT(world.proc, inner)
        title = f"{instance.path}{'trusts' if omega else 'suspects'}"
        world.add(_output_variable(instance), type_, default(type_), VariableKind.LOCAL, title)
    if detector.noise is not None:
        bound = world.bound(detector.noise)
        if bound < 0:
            raise refuse("C010", f"invalid noise {bound}", detector.span, "0 or more")
        world.add(WRONG, IntT(0, bound), 0, VariableKind.WORLD, "mistakes of the detector")
        for noise in detector.of_roles:
            _declare_mistakes(world, noise)
    elif detector.eventually and detector.kind == "P":
        world.add(SETTLED, BOOL, False, VariableKind.WORLD, "the detector has settled")
    if detector.kind != "P":
        chosen = OptionT(world.proc)
        world.add(IMMUNE, chosen, None, VariableKind.WORLD, "never crashes")


def _declare_mistakes(world: World, noise: typed.RoleNoise) -> None:
    bound = world.bound(noise.bound)
    if bound < 0:
        raise refuse("C010", f"invalid noise {bound}", noise.bound.span, "0 or more")
    title = f"mistakes of the detector about {noise.role}"
    world.add(_mistakes(noise), IntT(0, bound), 0, VariableKind.WORLD, title)


def _mistakes(noise: typed.RoleNoise) -> str:
    return f"{WRONG} {noise.role}"


def _output_variable(instance: Instance) -> str:
    return f"{instance.path}@said"


def draft(world: World) -> None:
    """Drafts the outputs of the detectors, and that they settle."""
    found = _instances(world)
    if not found:
        return
    for instance in found:
        if instance.oracle == "Omega":
            _trust(world, instance)
        else:
            _suspect(world, instance)
            _restore(world, instance)
    detector = _detector(world)
    if SETTLED in world.variables:
        _settle(world)
    elif IMMUNE in world.variables:
        if detector.eventually and WRONG not in world.variables:
            _choose_one(world)
        else:
            _choose_immune(world)


# ---- possible outputs -------------------------------------------------------------------------


def _down(world: World, process: Expr) -> Expr:
    return negation(world.alive(process))


def _is_immune(world: World, process: Expr) -> Expr:
    immune = world.read(IMMUNE)
    some = ir.Apply(immune.type, Op.SOME, (process,))
    return equal(immune, some)


def _is_immune_chosen(world: World) -> Expr:
    """Returns whether the process that never crashes has been chosen."""
    return ir.Apply(BOOL, Op.IS_SOME, (world.read(IMMUNE),))


def _noise(world: World, about: Expr) -> Expr:
    """Returns whether one more mistake may be made, about the process ``about``; ``FALSE`` where
    mistakes are not counted."""
    if WRONG not in world.variables:
        return FALSE
    detector = _detector(world)
    inside = [_is_member(world, noise, about) for noise in detector.of_roles]
    rooms = [
        disj(negation(is_member), _has_room(world, _mistakes(noise)))
        for noise, is_member in zip(detector.of_roles, inside, strict=True)
    ]
    affected = disj(*inside) if detector.alone else TRUE
    return conj(_has_room(world, WRONG), affected, *rooms)


def _has_room(world: World, count: str) -> Expr:
    used = world.read(count)
    assert isinstance(used.type, IntT)
    return build.below(used, build.integer(used.type.hi))


def _is_member(world: World, noise: typed.RoleNoise, process: Expr) -> Expr:
    return member(process, ir.Const(SetT(world.proc), world.processes(noise.role)))


def _count_mistake(world: World, right: Expr, about: Expr) -> Block:
    """Counts an output about the process ``about`` as a mistake unless it is right."""
    if WRONG not in world.variables:
        return ()
    counts = [build.one_more(world.read(WRONG))]
    for noise in _detector(world).of_roles:
        inside = _is_member(world, noise, about)
        counts.append(ir.If(inside, (build.one_more(world.read(_mistakes(noise))),)))
    return (ir.If(negation(right), tuple(counts)),)


def _suspect(world: World, instance: Instance) -> None:
    detector = _detector(world)
    self, other = _pair(world)
    right = _down(world, other)
    if WRONG in world.variables:
        may = disj(right, _noise(world, other))
    elif detector.kind == "S":
        may = negation(_is_immune(world, other))
    elif detector.eventually:
        may = disj(right, negation(world.read(SETTLED)))
    else:
        may = right
    mine = _mine(world, instance, self)
    may = conj(negation(equal(self, other)), negation(member(other, mine)), may)
    note = (build.assign(mine, build.with_item(mine, other)), *_count_mistake(world, right, other))
    _word(world, instance, "suspect", (self, other), may, right, note)


def _restore(world: World, instance: Instance) -> None:
    detector = _detector(world)
    if detector.kind == "P" and not detector.eventually and not world.recovers:
        return
    self, other = _pair(world)
    mine = _mine(world, instance, self)
    due: Expr = TRUE
    if detector.kind == "S":
        due = _is_immune(world, other) if detector.eventually else FALSE
    may = conj(member(other, mine), world.alive(other))
    note = (build.assign(mine, build.without_item(mine, other)),)
    _word(world, instance, "restore", (self, other), may, due, note)


def _trust(world: World, instance: Instance) -> None:
    self, other = _pair(world)
    right = _is_immune(world, other)
    wrong = _noise(world, other) if WRONG in world.variables else negation(_is_immune_chosen(world))
    mine = _mine(world, instance, self)
    now = ir.Apply(mine.type, Op.SOME, (other,))
    may = conj(negation(equal(mine, now)), disj(right, wrong))
    note = (build.assign(mine, now), *_count_mistake(world, right, other))
    _word(world, instance, "trust", (self, other), may, right, note)


def _pair(world: World) -> tuple[ir.Local, ir.Local]:
    return ir.Local(world.proc, fresh("self")), ir.Local(world.proc, fresh("p"))


def _mine(world: World, instance: Instance, self: Expr) -> Expr:
    mine = entry(world.read(_output_variable(instance)), self)
    return mine


def _word(
    world: World,
    instance: Instance,
    op: str,
    pair: tuple[ir.Local, ir.Local],
    may: Expr,
    due: Expr,
    note: Block,
) -> None:
    """Drafts the action by which the detector indicates ``op`` of the second of ``pair`` to the
    first."""
    self, other = pair
    listeners = _listeners(world, instance)
    if not listeners:
        return
    target = (instance.path, "indication", op)
    text = f"{instance.path}{op}"
    body = (
        mark(world, MarkKind.DETECT, text, ("self", "p"), self, other),
        *note,
        *run_call(target, (other,), Root(world, self)),
    )
    domain: ir.Domain = ir.Universe(world.proc)
    if len(listeners) < len(world.sizes.processes):
        domain = ir.Members(ir.Const(SetT(world.proc), listeners), world.proc)
    params = (
        Param(self.name, domain, world.may_step(self)),
        Param(other.name, ir.Universe(world.proc), may),
    )
    promised = conj(due, world.correct(self))
    fairness = Fairness(
        f"detector {instance.path.rstrip('.')}",
        (self, other),
        text="{0}, while it is correct, is eventually told what the detector must say of {1}",
    )
    action = Action(text, ActionKind.DETECT, params, TRUE, body, promised, None, fairness)
    world.drafts.append(Draft(action, self))


def _listeners(world: World, instance: Instance) -> frozenset[int]:
    """Returns the processes that handle some output of the detector."""
    interface = instance.protocol.implements
    assert interface is not None
    found: set[int] = set()
    for operator in interface.indications:
        at, handlers = calls.handlers_of(world, (instance.path, "indication", operator.name))
        for role, _ in handlers:
            found |= world.processes(role.name if at.above is None else None)
    return frozenset(found)


# ---- settling ---------------------------------------------------------------------------------


def _settle(world: World) -> None:
    stmts = (
        mark(world, MarkKind.SETTLE, "", ()),
        ir.Assign(ir.Target(BOOL, SETTLED, True), TRUE),
    )
    _draft_settling(world, (), negation(world.read(SETTLED)), stmts)


def _choose_one(world: World) -> None:
    """Drafts the choice of one process, which does not crash from then on."""
    one = ir.Local(world.proc, fresh("p"))
    immune = world.read(IMMUNE)
    stmts = (
        mark(world, MarkKind.SETTLE, "", ("p",), one),
        build.assign(immune, ir.Apply(immune.type, Op.SOME, (one,))),
    )
    params = (Param(one.name, ir.Universe(world.proc), world.correct(one)),)
    _draft_settling(world, params, negation(_is_immune_chosen(world)), stmts)


def _draft_settling(world: World, params: tuple[Param, ...], guard: Expr, body: Block) -> None:
    fairness = Fairness("settle", text="the failure detector eventually settles")
    action = Action("settle", ActionKind.WORLD, params, guard, body, TRUE, None, fairness)
    world.drafts.append(Draft(action, None))


def _choose_immune(world: World) -> None:
    one = ir.Local(world.proc, fresh("p"))
    immune = world.read(IMMUNE)
    world.init.append(ir.Choose(one.name, ir.Universe(world.proc), world.correct(one)))
    some = ir.Apply(immune.type, Op.SOME, (one,))
    world.init.append(build.assign(immune, some))
