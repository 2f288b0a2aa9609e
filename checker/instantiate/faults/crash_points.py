"""Models crashes inside a handler.

A process may crash before, after, or inside a handler, right before an effect or right after one;
what precedes the crash has been done, what follows has not, and of a multicast any subset of the
receivers may have been reached.  Effects that are glued to those before them (``atomic``) have no
crash point of their own.

Crashing before or after a handler is the plain crash action.  Crash points inside that are
indistinguishable from others are left out:

* Right after an effect is the same as right before the next one, unless an assignment of the
  handler is visible after the crash (effects of kind ``ASSIGN``).
* Before a send, and half way through it, if links are unbounded: a message that a crashed process
  has sent may stay undelivered forever (and, if processes recover, may be lost while the sender is
  down).  So no property distinguishes "sent and never delivered" from "never sent".
* Before the FIRST effect, if nothing visible was assigned: such a crash is the same as one before
  the handler, unless links are bounded (the message that caused the handler is off the channel) or
  processes recover (the cause of the handler does not recur).  Nothing precedes ``upon init``, so
  there every such point counts.

So an execution may take one step more here than if it crashed inside the handler.

If the events of a step are observed, as in a log, "sent" differs from "never sent": then no point
is left out (crash points ``everywhere``, which no spec can declare).

A client's request is not an effect of the handler.  A request and the first effect of its handler
are atomic: a request that a crash cuts off before any effect was not made (and will be, if the
process recovers).

A process reads its own assignments at once; a crash leaves what was assigned by then.

Ghost code is not an effect, and belongs to the effect before it: at a crash right after that effect
it has happened.  So a handler with ghost code before its first effect is distinguishable from one
that has not begun.  And a send that did not happen is distinguishable from one that is never
delivered, if ghost code belongs to that send or to a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from checker.instantiate.faults import joint_stops, stable_storage
from checker.instantiate.faults.crashes import crash_statements, room, stops
from checker.instantiate.oracles.oracles import SPEAKS
from checker.instantiate.protocol import coverage_marks
from checker.instantiate.world import ATOMIC, REQUEST, Draft, World, is_effect
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import CRASHING, FALSE, TRUE, Action, ActionKind, Block, EffectKind
from checker.model.transforms.rewrite import emits, replace_emits
from checker.model.tree import rewritten
from checker.model.types import BOOL, IntT, default
from checker.records import replace


def add(world: World) -> None:
    """Adds, for each draft that can be interrupted, its crashing variant."""
    if world.crash_bound == 0:
        return
    for draft in list(world.drafts):
        if draft.process is None or not _matters(world, draft.action.body):
            continue
        world.drafts.append(crashing_variant(world, draft))
    for index, (process, body) in enumerate(world.starts):
        body = joint_stops.in_one_step(world, body)
        found = _points(world, body)
        visible = any(_is_visible(world, e) for e in found) or _observed_sends(world, body)
        whole = body
        if visible or (found and _counts_all(world, body)):
            whole = _start(world, process, body)
        world.starts[index] = (process, joint_stops.start_alive(world, process, whole))


def partial_sends_matter(world: World) -> bool:
    """Tells whether "sent, never delivered" is distinguishable from "never sent": on bounded links,
    and if the events of a step are observed."""
    if world.check.crash_points == "everywhere":
        return True
    return any(link.capacity is not None for link in world.links)


def first_effect_matters(world: World) -> bool:
    """Tells whether a crash at a handler's first effect differs from one before the handler."""
    return partial_sends_matter(world) or cause_matters(world)


def cause_matters(world: World) -> bool:
    """Tells whether a crash leaves it visible that a handler has begun: its cause does not recur,
    or a budget counts it."""
    return world.recovers or any(not budget.alternative for budget in world.check.budgets)


def _points(world: World, body: Block) -> list[ir.Emit]:
    """Returns the effects of ``body`` beside which a crash can fall, in program order."""
    found = [e for e in emits(body) if not e.glued and is_effect(world, e)]
    return [e for e in found if _is_at_once(world, e)]


def _is_at_once(world: World, emit: ir.Emit) -> bool:
    """Tells whether the effect happens in its handler's transition; others are steps of their own,
    and crashes fall between steps."""
    return emit.atomic or not world.fine


def _is_visible(world: World, emit: ir.Emit) -> bool:
    return world.effects[emit.effect].kind is not EffectKind.SEND


def _is_assignment(world: World, emit: ir.Emit) -> bool:
    return world.effects[emit.effect].kind is EffectKind.ASSIGN


def _assigns(world: World, body: Block) -> bool:
    """Tells whether ``body`` assigns a variable that is visible while the process is down."""
    return any(_is_assignment(world, e) and _is_at_once(world, e) for e in emits(body))


def _observes(world: World, body: Block) -> bool:
    """Tells whether ``body`` has ghost code."""
    return any(_is_ghost(world, e) and _is_at_once(world, e) for e in emits(body))


def _is_ghost(world: World, emit: ir.Emit) -> bool:
    return world.effects[emit.effect].kind is EffectKind.GHOST


def _counts_all(world: World, body: Block) -> bool:
    """Tells whether a crash at any effect of ``body`` may be distinguishable from all others."""
    return partial_sends_matter(world) or _assigns(world, body)


def _observed_sends(world: World, body: Block) -> frozenset[int]:
    """Returns the identities of the sends that have ghost code, themselves or in a later send
    before any other effect."""

    def part_of(emit: ir.Emit) -> Part:
        if _is_ghost(world, emit):
            return Part.TELLS if _is_at_once(world, emit) else Part.NEITHER
        if not is_effect(world, emit):
            return Part.NEITHER
        return Part.ENDS if _is_visible(world, emit) else Part.QUIET

    return told(body, part_of)


class Part(Enum):
    """What an effect is for :func:`told`: one that is noticed only through a later one, one through
    which earlier ones are noticed, or one before which that comes to an end."""

    QUIET = "quiet"
    TELLS = "tells"
    ENDS = "ends"
    NEITHER = "neither"


def told(
    body: Block, part_of: Callable[[ir.Emit], Part], arrange: Callable[[Block], Block] = tuple
) -> frozenset[int]:
    """Returns the identities of the quiet effects of ``body`` that a telling one follows, without
    one between them that ends this; ``arrange`` is applied to each block first."""
    found = set[int]()

    def visit(block: Block, follows: bool) -> bool:
        """Returns whether a telling effect follows the start of ``block``; ``follows``: whether one
        follows the end."""
        for stmt in reversed(arrange(block)):
            match stmt:
                case ir.Emit():
                    part = part_of(stmt)
                    found.update({id(stmt)} if follows and part is Part.QUIET else ())
                    follows = part is Part.TELLS or (follows and part is not Part.ENDS)
                case ir.If(_, then, otherwise):
                    follows = visit(then, follows) | visit(otherwise, follows)
                case ir.For(body=inner) | ir.While(body=inner):
                    follows = visit(inner, visit(inner, follows) or follows) or follows
                case _:
                    pass
        return follows

    visit(body, False)
    return frozenset(found)


def _matters(world: World, body: Block) -> bool:
    found = _points(world, body)
    if _counts_all(world, body):
        return bool(found)
    if _observed_sends(world, body):
        return True
    if not first_effect_matters(world) and not _observes(world, body):
        # An effect in a loop may follow itself, and effects that are written after it.
        found = found[1:] + _points(world, _loops(body))
    return any(_is_visible(world, e) for e in found)


def _loops(block: Block) -> Block:
    """Returns the loops of ``block``, including those inside branches."""
    found: Block = ()
    for stmt in block:
        if isinstance(stmt, ir.For | ir.While):
            found += (stmt,)
        elif isinstance(stmt, ir.If):
            found += _loops(stmt.then) + _loops(stmt.otherwise)
    return found


def crashing_variant(world: World, draft: Draft) -> Draft:
    """Returns the variant of ``draft`` whose process crashes at one of its effects."""
    action = draft.action
    assert draft.process is not None
    before, body = without_resets(action)
    twin = replace(
        action,
        name=f"{action.name}{CRASHING}",
        guard=build.conj(room(world, draft.process, stops(world)), action.guard),
        body=(*before, *_crashing(world, draft.process, body, first_effect_matters(world))),
        promised=FALSE,
    )
    return Draft(twin, draft.process)


def without_resets(action: Action) -> tuple[Block, Block]:
    """Splits the body of an action in two.  The first part resets the variables of a process that
    recovers; a stop inside ``upon recover`` undoes none of that.  Other actions have no first
    part."""
    if action.kind is not ActionKind.RECOVER:
        return (), action.body
    first = next(i for i, stmt in enumerate(action.body) if emits((stmt,)))
    return action.body[:first], action.body[first:]


def _start(world: World, process: ir.Expr, body: Block) -> Block:
    """Returns the initial actions of ``process``, or a prefix of them up to its crash."""
    dies = ir.Local(BOOL, fresh("_dies"))
    where = build.disj(build.negation(dies), room(world, process, stops(world)))
    crashing = _crashing(world, process, body, True)
    return (
        ir.Choose(dies.name, ir.Universe(BOOL), where),
        ir.If(dies, crashing, body),
    )


def _crashing(world: World, who: ir.Expr, body: Block, first_too: bool) -> Block:
    """Returns ``body`` with a crash of ``who`` beside one of its effects."""
    process = ir.Local(world.proc, fresh("_process"))
    cut = _Cut(
        world,
        done=ir.Local(BOOL, fresh("_done")),
        some=ir.Local(BOOL, fresh("_some")),
        left=Left(world, process, body),
        after=_assigns(world, body),
        request=any(e.effect.startswith(REQUEST) for e in emits(body)),
        over=ir.Local(BOOL, fresh("_over")) if _observes(world, body) else None,
        observed=_observed_sends(world, body),
    )
    over = () if cut.over is None else (ir.Declare(cut.over.name, BOOL, FALSE),)
    return (
        ir.Declare(process.name, world.proc, who),
        ir.Declare(cut.done.name, BOOL, FALSE),
        ir.Declare(cut.some.name, BOOL, TRUE if first_too and not cut.unmade else FALSE),
        *over,
        *cut.left.before(),
        *cut.silence_oracles(replace_emits(body, cut.at)),
        ir.Assume(cut.done),
        *cut.left.after(),
        *crash_statements(world, process, stops(world)),
    )


class _Cut(Struct, frozen=True):
    """Splits the effects of a handler at a crash of its process.

    ``done``: the crash has happened.  ``some``: something has happened that distinguishes the crash
    from one before the handler.  ``after``: the points right after effects are separate.  ``over``:
    the crash also prevents the ghost code that comes next (``None``: there is no ghost code).
    ``observed``: the sends that ghost code distinguishes from messages that are never delivered.
    """

    world: World
    done: ir.Local
    some: ir.Local
    left: Left
    after: bool
    request: bool
    over: ir.Local | None
    observed: frozenset[int]

    @property
    def unmade(self) -> bool:
        """Returns whether a crash before the first effect takes back the request that caused it;
        a log that ends with the request shows that it was made."""
        in_a_log = self.world.check.crash_points == "everywhere" and not self.world.recovers
        return self.request and not in_a_log

    def at(self, emit: ir.Emit) -> Block:
        """Returns ``emit`` with the possible crashes just before and after it; nothing happens if
        the crash came earlier."""
        if not _is_at_once(self.world, emit):
            return (emit,)
        if _is_ghost(self.world, emit):
            return self._observe(emit)
        happens = (emit, *self.left.note_assignment(emit), *self._note_effect(emit))
        if not emit.glued and is_effect(self.world, emit):
            happens = self._beside(emit, happens)
        return (ir.If(build.negation(self.done), happens, self._end_of_ghosts(emit)),)

    def _observe(self, emit: ir.Emit) -> Block:
        """Returns ghost code, unless the crash was before the effect to which it belongs."""
        assert self.over is not None
        missed = self.done if emit.glued else self.over
        note = () if self.unmade else (_set(self.some),)
        return (ir.If(build.negation(missed), (emit, *note)),)

    def _end_of_ghosts(self, emit: ir.Emit) -> Block:
        """Returns the statements for an effect that did not happen: the ghost code after it belongs
        to it, and does not happen either."""
        if self.over is None or not is_effect(self.world, emit) or emit.effect == ATOMIC:
            return ()
        if _is_visible(self.world, emit):
            return (_set(self.over),)
        return (ir.If(build.negation(_is_empty(emit.args[1])), (_set(self.over),)),)

    def silence_oracles(self, body: Block) -> Block:
        """Returns ``body`` in which oracles make no immediate indication to a process that has
        crashed."""

        def change(node: object) -> object:
            if not (isinstance(node, ir.Choose) and node.name.startswith(SPEAKS)):
                return None
            which = ir.Local(ir.domain_item(node.domain), node.name)
            silent = build.equal(which, ir.Const(which.type, 0))
            alive = build.disj(silent, build.negation(self.done))
            return replace(node, where=build.conj(node.where, alive))

        return tuple(rewritten(stmt, change) for stmt in body)

    def _note_effect(self, emit: ir.Emit) -> Block:
        """Records that something has been done once ``emit`` has happened."""
        if emit.effect == ATOMIC:
            return ()
        if self.unmade and (emit.effect.startswith(REQUEST) or _is_assignment(self.world, emit)):
            return ()
        return (_set(self.some),)

    def _beside(self, emit: ir.Emit, happens: Block) -> Block:
        """Returns a choice: the effect; the effect and then the crash; or the crash just before the
        effect (of a multicast: in the middle)."""
        ways: list[Block] = [happens]
        marks = coverage_marks.point(self.world, emit.effect, emit.args, emit.place)
        crash = (*marks, _set(self.done))
        if not _is_visible(self.world, emit) and partial_sends_matter(self.world):
            ways.append((*crash, *self._part(emit)))
        elif _is_visible(self.world, emit) or id(emit) in self.observed:
            ways.append((ir.Assume(self.some), *crash, *self._end_of_ghosts(emit)))
        if self.after and emit.effect != ATOMIC and not emit.effect.startswith(REQUEST):
            ways.append((*happens, *crash))
        which = ir.Local(IntT(0, len(ways) - 1), fresh("_here"))
        chosen: Block = ways[0]
        for index, way in enumerate(ways[1:], start=1):
            is_it = build.equal(which, ir.Const(which.type, index))
            chosen = (ir.If(is_it, way, chosen),)
        if len(ways) == 1:
            return happens
        return (ir.Choose(which.name, ir.Universe(which.type), TRUE), *chosen)

    def _part(self, emit: ir.Emit) -> Block:
        """Sends a multicast to any subset of its receivers."""
        sender, receivers, message = emit.args
        part = ir.Local(receivers.type, fresh("_reached"))
        nobody = _is_empty(part)
        counts = build.disj(self.some, build.negation(nobody))
        return (
            ir.Choose(part.name, ir.Subsets(receivers, receivers.type), counts),
            replace(emit, args=(sender, part, message)),
            *((ir.If(nobody, ended),) if (ended := self._end_of_ghosts(emit)) else ()),
        )


def _is_empty(processes: ir.Expr) -> ir.Expr:
    return build.equal(processes, ir.Const(processes.type, frozenset()))


def _set(flag: ir.Local) -> ir.Stmt:
    return ir.Assign(ir.Target(BOOL, flag.name, False), TRUE)


class Left:
    """Tracks, at each point of a handler, the values that a crash or a pause there would leave in
    the variables that the handler assigns.

    If effects are steps, auxiliary variables do that, except for shared variables (see
    :mod:`checker.instantiate.faults.stable_storage`).
    """

    def __init__(self, world: World, process: ir.Local, body: Block) -> None:
        self.world, self.process = world, process
        found = (self._key(emit) for emit in emits(body) if _is_at_once(world, emit))
        self.copies = {
            (n, p): ir.Local(stable_storage.mine(world, n, p).type, fresh("_left"))
            for n, p in dict.fromkeys(key for key in found if key is not None)
            if f"{stable_storage.LEFT}{n}" not in world.variables
        }

    def _key(self, emit: ir.Emit) -> tuple[str, ir.Expr] | None:
        """Returns the variable that ``emit`` assigns, and whose it is; ``None`` for others."""
        name = stable_storage.variable_of(emit.effect)
        if name is None:
            return None
        other = joint_stops.follows(self.world, emit.args[0])
        return name, (emit.args[0] if other else self.process)

    def before(self) -> Block:
        """Records the values before the handler."""
        result: list[ir.Stmt] = []
        for (name, process), copy in self.copies.items():
            result.append(ir.Declare(copy.name, copy.type, ir.Const(copy.type, default(copy.type))))
            mine = stable_storage.mine(self.world, name, process)
            note = build.assign(copy, mine)
            result.extend(stable_storage.on_its_own(self.world, name, process, (note,)))
        return tuple(result)

    def note_assignment(self, emit: ir.Emit) -> Block:
        """Records the value that an assignment leaves."""
        key = self._key(emit)
        copy = None if key is None else self.copies.get(key)
        if copy is None:
            return ()
        return (build.assign(copy, emit.args[1]),)

    def after(self) -> Block:
        """Undoes the assignments after the crash."""
        result: list[ir.Stmt] = []
        for (name, process), copy in self.copies.items():
            back = ir.Assign(stable_storage.target(self.world, name, process), copy)
            result.extend(stable_storage.on_its_own(self.world, name, process, (back,)))
        return tuple(result)
