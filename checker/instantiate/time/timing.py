"""Models time: timers, and when a timer expires in each timing model.

============  =================================================================================
timing        when a running timer expires
============  =================================================================================
asynchronous  at any time, but eventually
synchronous   after as many rounds as it was started for (lock step: Lynch 1996, chapter 2)
partial       at any time at first; from some time on as if synchronous (Dwork, Lynch,
              Stockmeyer 1988: a global stabilisation time that no process knows)
clocks        after as many ticks of its process's clock; no two clocks are ever further apart
              than the drift
============  =================================================================================

A round ends when nothing remains to be done in it: no message between correct processes, no step
that would change the state, no request, no expired timer.  Messages of crashed processes that have
not been received are discarded then.  At the beginning of a round the expired timers are handled
before any message is received.

An expired timer that no handler accepts is discarded, as a message is.  So is a timer whose only
handlers are optional (``may``), if the process does not execute them.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.instantiate.faults import pauses
from checker.instantiate.protocol import receptions
from checker.instantiate.protocol.dispatch import choose_handler, guard_of, run_handler
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.sizes import evaluate_size, refuse
from checker.instantiate.protocol.spelled_conditions import spelled_conditions
from checker.instantiate.protocol.statements import Root
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.time import synchronous_rounds
from checker.instantiate.variable_names import TIMER
from checker.instantiate.world import Draft, Instance, World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj, entry, equal, fresh, negation
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
    Property,
    PropertyKind,
    VariableKind,
)
from checker.model.types import BOOL, IntT, MapT, OptionT, SetT, Type, default
from checker.records import replace

STABLE, NOISE, CLOCK = "@stable", "@early", "@clock"

TICKS = "clock"
"""The name of the actions by which clocks tick."""


class TimerOf(Struct, frozen=True):
    """A timer of an instance with the handlers that wait for it; ``name`` is ``None`` for the
    anonymous one.

    ``keys``: the type of its keys, if it has keys.  There is one timer for each key; ``key``
    selects one.
    """

    instance: Instance
    name: str | None
    handlers: tuple[tuple[typed.Role, typed.Handler], ...]
    keys: Type | None = None
    key: Expr | None = None

    @property
    def title(self) -> str:
        return f"{self.instance.path}{self.name or ''}"

    @property
    def variable(self) -> str:
        return f"{self.instance.path}{TIMER}{self.name or ''}"

    @property
    def about(self) -> tuple[Expr, ...]:
        """The arguments of marks and fairness constraints after the process: the key, if any."""
        return () if self.key is None else (self.key,)

    @property
    def names(self) -> tuple[str, ...]:
        return ("self",) if self.key is None else ("self", "key")

    def at(self, key: Expr) -> TimerOf:
        """Returns the timer of ``key``."""
        return replace(self, key=key)

    def each(self) -> tuple[TimerOf, ir.Local | None]:
        """Returns the timer of a fresh key, and the key; the timer itself and ``None`` if it has no
        keys."""
        if self.keys is None:
            return self, None
        key = ir.Local(self.keys, fresh("key"))
        return self.at(key), key

    def bound(self, handler: typed.Handler) -> dict[str, Expr]:
        """Returns the name that ``handler`` gives to the key, with its value."""
        assert isinstance(handler.event, typed.OnTimeout)
        if handler.event.key is None or self.key is None:
            return {}
        return {handler.event.key[0]: self.key}


def timers(world: World) -> list[TimerOf]:
    """Returns every timer that some handler waits for."""
    found: dict[tuple[str, str | None], TimerOf] = {}
    for instance in world.instances:
        for role in instance.protocol.roles:
            for handler in role.handlers:
                if isinstance(handler.event, typed.OnTimeout):
                    key = (instance.path, handler.event.timer)
                    so_far = found[key].handlers if key in found else ()
                    keys = receptions.type_of_key(world, instance, handler)
                    found[key] = TimerOf(instance, key[1], (*so_far, (role, handler)), keys)
    return list(found.values())


def kind(world: World) -> str:
    """Returns the timing model, ``asynchronous`` if the check sets none."""
    return "asynchronous" if world.check.timing is None else world.check.timing.kind


# ---- variables --------------------------------------------------------------------------------


def declare(world: World) -> None:
    """Declares the timers and clocks; refuses (C013) timers without a timing model."""
    found = timers(world)
    timing = world.check.timing
    if timing is not None and timing.until is not None:
        last = IntT(0, max(world.bound(timing.until), 0))
        clocks = MapT(world.proc, last)
        world.add(typed.CLOCKS, clocks, default(clocks), VariableKind.WORLD, "clock")
    if not found:
        return
    if timing is None:
        message = "the check has timeouts but sets no timing"
        hint = "write `timing asynchronous`: a timeout may come at any time"
        raise refuse("C013", message, found[0].handlers[0][1].span, hint)
    if timing.kind in ("synchronous", "partial"):
        synchronous_rounds.check_links(world, timing)
    for timer in found:
        _declare(world, timer)
    if timing.kind == "partial":
        world.add(STABLE, BOOL, False, VariableKind.WORLD, "synchronous")
        if timing.noise is not None:
            early = IntT(0, max(world.bound(timing.noise), 0))
            world.add(NOISE, early, 0, VariableKind.WORLD, "early timeouts")
    if timing.kind == "clocks" and timing.until is None:
        drift = MapT(world.proc, IntT(0, max(world.bound(timing.drift), 0)))
        kept = VariableKind.WORLD if world.recovers else VariableKind.LOCAL
        world.add(CLOCK, drift, default(drift), kept, "clock ahead by")


def _declare(world: World, timer: TimerOf) -> None:
    if timer.name is None:
        if kind(world) == "asynchronous":
            return
        inner: Type = BOOL
        title = f"{timer.instance.path}timer over"
    elif kind(world) == "asynchronous":
        inner, title = BOOL, f"{timer.instance.path}timer {timer.name} runs"
    else:
        inner = OptionT(_durations(world, timer))
        title = f"{timer.instance.path}timer {timer.name}"
    type_ = MapT(world.proc, inner if timer.keys is None else MapT(timer.keys, inner))
    world.add(timer.variable, type_, default(type_), VariableKind.LOCAL, title)


def _durations(world: World, timer: TimerOf) -> IntT:
    """Returns the type of the timer's durations: up to the largest one, or up to a capacity if a
    duration is computed at run time."""
    longest, known = 1, True
    for node in nodes(timer.instance.protocol):
        if isinstance(node, typed.Timer) and node.kind == "start" and node.name == timer.name:
            if node.duration is not None:
                try:
                    longest = max(longest, evaluate_size(node.duration, world.sizes.values))
                except SpecError:
                    known = False
    if known:
        return IntT(0, longest)
    name = f"duration of {timer.title}"
    return IntT(0, world.capacity(name, max(longest, 3)), name)


def _mine(world: World, timer: TimerOf, process: Expr) -> Expr:
    whole = world.read(timer.variable)
    assert isinstance(whole.type, MapT)
    mine = entry(whole, process)
    path: tuple[ir.Key, ...] = (ir.Key(process, whole.type.key),)
    if timer.key is not None:
        assert timer.keys is not None
        mine, path = entry(mine, timer.key), (*path, ir.Key(timer.key, timer.keys))
    return mine


def _over(world: World, timer: TimerOf, process: Expr) -> Expr:
    """Returns whether the timer has expired at ``process`` (not for asynchronous timers); if it has
    keys, whether the timer of any key has."""
    if timer.keys is not None and timer.key is None:
        one, key = timer.each()
        assert key is not None
        over = _over(world, one, process)
        return ir.Quant(ir.Quantifier.EXISTS, key.name, ir.Universe(key.type), over, BOOL)
    mine = _mine(world, timer, process)
    if not isinstance(mine.type, OptionT):
        return mine
    return equal(mine, ir.Const(mine.type, (0,)))


def _runs(world: World, timer: TimerOf, process: Expr) -> Expr:
    mine = _mine(world, timer, process)
    if isinstance(mine.type, OptionT):
        return ir.Apply(BOOL, Op.IS_SOME, (mine,))
    return mine


def nothing_over(world: World) -> Expr:
    """Returns whether no process has an expired timer to handle."""
    process = ir.Local(world.proc, fresh("_p"))
    body = negation(_waits(world, timers(world), process))
    return ir.Quant(ir.Quantifier.FORALL, process.name, ir.Universe(world.proc), body, BOOL)


def require_safety(world: World, properties: Iterable[Property]) -> None:
    """Raises :class:`SpecError` (C036) if time ends and the check has a liveness property."""
    timing = world.check.timing
    live = next((p for p in properties if p.kind is PropertyKind.LIVENESS), None)
    if timing is None or timing.until is None or live is None:
        return
    message = f"`{live.asked}` is a liveness property, but `until` stops time in every run"
    hint = "move it to a check without `until`, or select others with `prove` or `--only`"
    raise SpecError((Diagnostic("C036", message, timing.until.span, hint=hint),))


# ---- statements -------------------------------------------------------------------------------


def operate(stmt: typed.Timer, env: Env) -> Block:
    """Lowers ``start t after d`` or ``cancel t``."""
    world, self = env.world, env.self
    assert self is not None
    path = env.instance.path
    timer = next(
        (t for t in timers(world) if t.instance.path == path and t.name == stmt.name), None
    )
    if timer is None:
        return ()
    held: Block = ()
    if stmt.key is not None:
        assert timer.keys is not None
        key = ir.Local(timer.keys, fresh("_key"))
        held = (ir.Declare(key.name, key.type, lower(stmt.key, env, key.type)),)
        timer = timer.at(key)
    mine = _mine(world, timer, self)
    value: Expr
    if not isinstance(mine.type, OptionT):
        value = TRUE if stmt.kind == "start" else FALSE
    elif stmt.kind == "start":
        duration = build.integer(1) if stmt.duration is None else lower(stmt.duration, env)
        value = ir.Apply(mine.type, Op.SOME, (duration,), world.place(stmt.span))
    else:
        value = ir.Const(mine.type, None)
    place = world.place(stmt.span)
    if world.may_pause_inside:
        args = (self, build.coerce(value, mine.type), *timer.about)
        return (*held, ir.Emit(_effect(stmt.kind, timer), args, place))
    shown = _shown(world, MarkKind.TIMER, f"{stmt.kind} {timer.title}", timer, self)
    return (*held, shown, build.assign(mine, value, place))


def _shown(world: World, kind_: MarkKind, text: str, timer: TimerOf, self: Expr) -> ir.Mark:
    return mark(world, kind_, text, timer.names, self, *timer.about)


def _effect(does: str, timer: TimerOf) -> str:
    return f"timer.{does} {timer.title}"


def declare_effects(world: World) -> None:
    """Declares the effects that start and cancel each timer, if processes pause."""
    for timer in timers(world):
        if timer.name is None:
            continue
        self = ir.Local(world.proc, "_self")
        one = timer if timer.keys is None else timer.at(ir.Local(timer.keys, "_key"))
        mine = _mine(world, one, self)
        value = ir.Local(mine.type, "_value")
        for does in ("start", "cancel"):
            shown = _shown(world, MarkKind.TIMER, f"{does} {timer.title}", one, self)
            keys = () if timer.keys is None else (("_key", timer.keys),)
            params = ((self.name, world.proc), (value.name, mine.type), *keys)
            body = (shown, build.assign(mine, value))
            name = _effect(does, timer)
            world.effects[name] = ir.EffectDef(name, ir.EffectKind.TIMER, params, body)


# ---- timeouts ---------------------------------------------------------------------------------


def draft(world: World) -> None:
    """Drafts the timeouts, and the actions by which time passes."""
    found = timers(world)
    if not found and typed.CLOCKS not in world.variables:
        return
    for timer in found:
        _timeout(world, timer)
    match kind(world):
        case "synchronous":
            _round(world, found, TRUE, synchronous_rounds.empty_links(world))
        case "partial":
            _stabilises(world)
            _round(world, found, world.read(STABLE), synchronous_rounds.empty_links(world))
        case "clocks":
            _ticks(world, found)
        case _:
            pass


def _ways(world: World, timer: TimerOf, self: Expr, *, fair: bool | None = None) -> Expr:
    """Returns whether some handler accepts the timeout now; ``fair``: only handlers that are (or
    are not) subject to fairness."""
    env = Env(world, timer.instance, self)
    asked = [(r, h) for r, h in timer.handlers if fair in (None, h.is_fair)]
    return disj(*(guard_of(r, h, env, timer.bound(h), TRUE)[0] for r, h in asked))


def waiting(world: World, timer: TimerOf) -> frozenset[int]:
    """Returns the processes that have a handler for the timer."""
    if timer.instance.above is not None:
        return world.processes(None)
    return frozenset(p for role, _ in timer.handlers for p in world.processes(role.name))


def _domain(world: World, members: frozenset[int]) -> ir.Domain:
    if len(members) == len(world.sizes.processes):
        return ir.Universe(world.proc)
    return ir.Members(ir.Const(SetT(world.proc), members), world.proc)


def _timeout(world: World, timer: TimerOf) -> None:
    """Drafts the action by which ``timer`` expires, or by which its expiry is handled."""
    self = ir.Local(world.proc, fresh("self"))
    timer, key = timer.each()
    env = Env(world, timer.instance, self)
    root = Root(world, self)
    ways = []
    for role, handler in timer.handlers:
        names = timer.bound(handler)
        condition, _ = guard_of(role, handler, env, names, TRUE)
        ways.append((condition, run_handler(handler, env, names, root)))
    if any(not handler.is_fair for _, handler in timer.handlers):
        must = _ways(world, timer, self, fair=True)
        ways.append((conj(_ways(world, timer, self, fair=False), negation(must)), ()))
    ready, promised, before = _when(world, timer, self)
    shown = _shown(world, MarkKind.TIMEOUT, timer.title, timer, self)
    body = (shown, *before, *choose_handler(ways))
    may = world.may_step(self)
    where = conj(may, ready) if key is None else may
    params: tuple[Param, ...] = (Param(self.name, _domain(world, waiting(world, timer)), where),)
    if key is not None:
        params = (*params, Param(key.name, ir.Universe(key.type), ready))
    called = f"the timer `{timer.title}`" if timer.title else "the timer"
    if key is not None:
        called = f"the timer `{timer.title}[{{1}}]`"
    fairness = Fairness(
        f"timeout {timer.title}".rstrip(),
        (self, *timer.about),
        text=f"{called} of {{0}}, while it runs and {{0}} is correct, eventually expires",
    )
    name = f"timeout {timer.title}".rstrip()
    place = world.place(timer.handlers[0][1].span)
    promised = conj(promised, world.correct(self))
    (_, handler), *others = timer.handlers
    inner = env.bind_all(timer.bound(handler))
    said = () if others else spelled_conditions((handler.when,), inner)
    action = Action(name, ActionKind.TIMEOUT, params, TRUE, body, promised, place, fairness, said)
    world.drafts.append(Draft(action, self))


def _when(world: World, timer: TimerOf, self: Expr) -> tuple[Expr, Expr, Block]:
    """Returns when the timer can expire, when fairness applies to that, and the statements to
    execute first."""
    if kind(world) == "asynchronous":
        if timer.name is None:
            return _ways(world, timer, self), _ways(world, timer, self, fair=True), ()
        mine = _mine(world, timer, self)
        return mine, TRUE, (build.assign(mine, FALSE),)
    mine = _mine(world, timer, self)
    over = _over(world, timer, self)
    stop: Block = (build.assign(mine, ir.Const(mine.type, default(mine.type))),)
    if kind(world) != "partial":
        return over, TRUE, stop
    stable = world.read(STABLE)
    early = _ways(world, timer, self) if timer.name is None else _runs(world, timer, self)
    if NOISE in world.variables:
        used = world.read(NOISE)
        assert isinstance(used.type, IntT)
        early = conj(build.below(used, build.integer(used.type.hi)), early)
        stop = (*stop, ir.If(negation(stable), (build.one_more(used),)))
    ready = disj(conj(stable, over), conj(negation(stable), early))
    return ready, stable, stop


# ---- rounds and clocks ------------------------------------------------------------------------


def _one_less(world: World, timer: TimerOf, process: Expr) -> Block:
    """Returns the statements by which one unit of time passes for the timer of ``process``, for
    each key if it has keys."""
    if timer.keys is not None and timer.key is None:
        one, key = timer.each()
        assert key is not None
        return (ir.For(key.name, ir.Universe(key.type), _one_less(world, one, process)),)
    mine = _mine(world, timer, process)
    if not isinstance(mine.type, OptionT):
        return (build.assign(mine, _ways(world, timer, process)),)
    assert isinstance(mine.type.item, IntT)
    left = ir.Apply(mine.type.item, Op.GET, (mine,))
    less = ir.Apply(IntT(-1, mine.type.item.hi - 1), Op.SUB, (left, build.integer(1)))
    runs = conj(ir.Apply(BOOL, Op.IS_SOME, (mine,)), build.below(build.integer(0), left))
    return (ir.If(runs, (build.assign(mine, ir.Apply(mine.type, Op.SOME, (less,))),)),)


def _round(world: World, found: list[TimerOf], guard: Expr, gone: Block) -> None:
    """Drafts the end of a round, or a common tick of all clocks; ``gone``: what else is done then.
    The guard that delays the end of a round is added when all actions are known: see
    :func:`urgent`."""
    process = ir.Local(world.proc, fresh("_p"))
    less = tuple(s for t in found for s in _one_less(world, t, process))
    up = conj(world.alive(process), world.honest(process))
    each: Block = less if up == TRUE or not less else (ir.If(up, less),)
    clocks = kind(world) == "clocks"
    if typed.CLOCKS in world.variables:
        guard = conj(guard, _before_the_end(world, process, everywhere=True))
        each = (*each, _ticked(world, process))
    body = (
        mark(world, MarkKind.TICKS if clocks else MarkKind.ROUND, "", ()),
        *gone,
        ir.For(process.name, ir.Universe(world.proc), each),
    )
    if clocks:
        name, fairness = TICKS, Fairness(TICKS, text="the clocks go on")
    else:
        name, fairness = (
            synchronous_rounds.ROUND,
            Fairness(synchronous_rounds.ROUND, text="time goes on: each round ends"),
        )
    action = Action(name, ActionKind.WORLD, (), guard, body, TRUE, None, fairness)
    world.drafts.append(Draft(action, None))


def _stabilises(world: World) -> None:
    stable = ir.Target(BOOL, STABLE, True)
    body = (
        mark(world, MarkKind.SYNCHRONY, "", ()),
        ir.Assign(stable, TRUE),
    )
    fairness = Fairness("gst", text="the system eventually becomes synchronous")
    guard = negation(world.read(STABLE))
    action = Action("gst", ActionKind.WORLD, (), guard, body, TRUE, None, fairness)
    world.drafts.append(Draft(action, None))


def _before_the_end(world: World, process: ir.Local, *, everywhere: bool = False) -> Expr:
    """Returns whether the clock of ``process`` (``everywhere``: of each process) has not stopped
    yet."""
    shown = world.read(typed.CLOCKS)
    assert isinstance(shown.type, MapT) and isinstance(shown.type.value, IntT)
    less = build.below(entry(shown, process), build.integer(shown.type.value.hi))
    if not everywhere:
        return less
    return ir.Quant(ir.Quantifier.FORALL, process.name, ir.Universe(world.proc), less, BOOL)


def _ticked(world: World, process: Expr) -> ir.Stmt:
    """Returns the statement that advances the clock of ``process`` by one tick."""
    shown = entry(world.read(typed.CLOCKS), process)
    assert isinstance(shown.type, IntT)
    more = ir.Apply(IntT(1, shown.type.hi + 1), Op.ADD, (shown, build.integer(1)))
    return build.assign(shown, more)


def _ticks(world: World, found: list[TimerOf]) -> None:
    """Drafts the ticks of a process's clock.  If the check sets an end of time, the state holds
    what each clock shows, and otherwise how far each is ahead of the slowest."""
    timing = world.check.timing
    assert timing is not None
    drift = max(world.bound(timing.drift), 0)
    if drift == 0:
        guard: Expr = nothing_over(world)
        pausing: Block = ()
        if world.may_pause:
            process = ir.Local(world.proc, fresh("_p"))
            guard, pausing = pauses.all_tick(world, _waits(world, found, process), process)
        _round(world, found, guard, pausing)
        return
    clocks = world.read(CLOCK if timing.until is None else typed.CLOCKS)
    assert isinstance(clocks.type, MapT) and isinstance(clocks.type.value, IntT)
    most = clocks.type.value.hi
    members = frozenset(p for t in found for p in waiting(world, t))
    domain = _domain(world, members if timing.until is None else world.processes(None))
    self, other = ir.Local(world.proc, fresh("self")), ir.Local(world.proc, fresh("_q"))
    mine, theirs = entry(clocks, self), entry(clocks, other)

    def counts(process: Expr) -> Expr:
        return conj(world.honest(process), TRUE if world.recovers else world.alive(process))

    def some(body: Expr) -> Expr:
        return ir.Quant(ir.Quantifier.EXISTS, other.name, domain, conj(counts(other), body), BOOL)

    # A process that is ``drift`` ahead of another waits for it.  A clock that does not count, of a
    # process that has crashed for good or is Byzantine, delays no process.
    difference = ir.Apply(IntT(-most, most), Op.SUB, (mine, theirs))
    waits = some(
        conj(negation(equal(other, self)), build.at_most(build.integer(drift), difference))
    )
    free, pausing = pauses.one_ticks(world, self, _waits(world, found, self))
    where = conj(counts(self), free, negation(waits))
    less = tuple(s for t in found for s in _one_less(world, t, self))
    goes_on: Block
    if timing.until is None:
        none_slowest = negation(some(equal(theirs, build.integer(0))))
        goes_on = _ahead(self, other, clocks, domain, none_slowest)
    else:
        where = conj(where, _before_the_end(world, self))
        goes_on = (_ticked(world, self),)
    body = (
        mark(world, MarkKind.TICK, "", ("process",), self),
        *pausing,
        *((ir.If(world.alive(self), less),) if world.recovers and less else less),
        *goes_on,
    )
    params = (Param(self.name, domain, where),)
    fairness = Fairness(TICKS, (self,), text="the clock of {0} goes on, unless it crashes")
    action = Action(TICKS, ActionKind.WORLD, params, TRUE, body, TRUE, None, fairness)
    world.drafts.append(Draft(action, None))


def _ahead(
    self: ir.Local, other: ir.Local, clocks: Expr, domain: ir.Domain, none_slowest: Expr
) -> Block:
    """Returns the statements by which a tick of ``self`` changes how far each clock is ahead of the
    slowest clock that counts; ``none_slowest``: no clock that counts is at 0 any more."""
    assert isinstance(clocks.type, MapT) and isinstance(clocks.type.value, IntT)
    process_type, drift = clocks.type.key, clocks.type.value.hi
    ahead, theirs = entry(clocks, self), entry(clocks, other)

    def shift(process: Expr, op: Op) -> ir.Stmt:
        path = (ir.Key(process, process_type),)
        number = IntT(1, drift + 1) if op is Op.ADD else IntT(-1, drift - 1)
        value = ir.Apply(number, op, (entry(clocks, process), build.integer(1)))
        return ir.Assign(ir.Target(IntT(0, drift), CLOCK, True, path), value)

    positive = build.below(build.integer(0), theirs)
    back = ir.For(other.name, domain, (ir.If(positive, (shift(other, Op.SUB),)),))
    others = ir.If(conj(negation(equal(other, self)), positive), (shift(other, Op.SUB),))
    return (
        ir.If(
            build.below(ahead, build.integer(drift)),
            (shift(self, Op.ADD),),
            (ir.For(other.name, domain, (others,)),),
        ),
        ir.While(none_slowest, (back,), drift + 1),
    )


def _waits(world: World, found: list[TimerOf], process: Expr) -> Expr:
    """Returns whether ``process`` is up and has an expired timer to handle."""
    over = disj(*(_over(world, t, process) for t in found))
    return conj(world.alive(process), world.honest(process), over)


def urgent(world: World, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Returns ``actions``, lowered, with guards: a round ends only when nothing remains to be done
    in it, and messages are received only when the timers of the round have been handled."""
    if kind(world) not in ("synchronous", "partial"):
        return actions
    actions = tuple(synchronous_rounds.promise_to_omitting(world, action) for action in actions)
    if not timers(world):
        return actions
    stable = world.read(STABLE) if kind(world) == "partial" else TRUE
    return synchronous_rounds.order_rounds(world, actions, nothing_over(world), stable)
