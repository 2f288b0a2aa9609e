"""What can happen in a state, and what of it is promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

from tests.world import disks
from tests.world.activities import is_under_way, steps_of_activities
from tests.world.disks import STABLE
from tests.world.pausing import is_busy, is_paused, steps_of_paused
from tests.world.protocol import (
    CONDITION,
    DISCONNECTED,
    INIT,
    RECEIVE,
    RECOVER,
    REQUEST,
    TIMEOUT,
    Handler,
)
from tests.world.running import NoWay, Place, Rests, Way, entry_of, ways
from tests.world.step import Step
from tests.world.system import (
    GONE,
    TOP,
    Cut,
    Envelope,
    Layer,
    Model,
    Path,
    State,
    is_shut,
    unit_of,
)

# ---- the beginning ----------------------------------------------------------------------------


def begin(model: Model) -> Callable[[Way], None]:
    """Fills an empty state and lets every process run its ``upon init``."""

    def does(way: Way) -> None:
        state = way.state
        liars = [
            frozenset(some)
            for k in range(model.world.byzantine + 1)
            for some in combinations(model.processes, k)
            if model.has_room("byzantine", some)
        ]
        state["byzantine"] = way.pick(liars)
        state["down"] = state["omitted"] = frozenset()
        state["crashes"] = state["power failures"] = state["wipes"] = ()
        state["lock step"], state["early"] = model.world.timing == "synchronous", model.world.early
        state["split"], state["splits"] = frozenset(), model.world.partition
        state["cut"], state["cuts"] = frozenset(), tuple(most for _, _, most in model.world.cuts)
        state["resets"] = model.world.reset
        state["held"] = frozenset()
        state["performed", ""] = ()
        for p, unit in model.units.items():
            if len(unit) > 1:
                state["unit", p] = unit
        for p in model.processes:
            state["activities", p] = frozenset()
            state["rest", p], state["received", p], state["asked", p] = (), frozenset(), 0
            state["broadcast", p] = state["delivered", p] = ()
            wishes = [v for client, values in model.world.clients if client == p for v in values]
            state["wishes", p] = tuple(
                wish if isinstance(wish, str) else way.pick(wish) for wish in wishes
            )
        model.detector.begin(way)
        model.oracle.begin(way)
        for layer in model.layers.values():
            for name, which in timers(model, layer):
                for p in model.processes:
                    state["timer", layer.path, name, *which, p] = None
        if model.world.timing == "clocks":
            for p in model.processes:
                state["clock", p] = 0
        for p in model.processes:
            start(way, p, {"state", *STABLE, "shared state", "ghost state", GHOST_OF_ALL})
        handlers = (h for layer in model.layers.values() for h in layer.protocol.handlers)
        acts = any(h.event == INIT for h in handlers)
        for p in way.pick(list(permutations(model.processes))) if acts else ():
            if p not in way.state["byzantine"] | way.state["down"]:
                way.run(p, lambda p=p: from_the_bottom(way, p, INIT))  # type: ignore[misc]

    return does


GHOST_OF_ALL = "ghost shared state"


def start(
    way: Way, p: str, kinds: set[str], pick: Callable[[Sequence[Any]], Any] | None = None
) -> None:
    """Gives variables of ``p`` the values that they start with; ``pick``: chooses what is chosen,
    where that is part of a fault."""
    pick = pick or way.pick
    for path, layer in way.model.layers.items():
        for variable in layer.variables(way.model.role[p]):
            key = way.model.key(path, variable.name, p)
            of_all = variable.kind.endswith("shared state")
            if variable.kind not in kinds or (of_all and key in way.state):
                continue
            at = Place(way, p, path, {})
            way.state[key] = variable.initial.value(at)
            if variable.chosen is not None:
                way.state[key] = pick(sorted(variable.chosen.value(at)))
            if variable.kind in STABLE:
                disks.starts(way.state, key)


def from_the_bottom(way: Way, p: str, event: str, values: tuple[Any, ...] = ()) -> Rests:
    rests: Rests = ()
    for path in way.model.layers:
        rests += way.call(p, path, event, "", values)
    return rests


def in_turn(way: Way, unit: tuple[str, ...]) -> Rests:
    """Lets all of ``unit`` do what they do when they come back, the lead first."""
    rests = from_the_bottom(way, unit[0], RECOVER)
    for each in unit[1:]:
        way.state["rest", each] = from_the_bottom(way, each, RECOVER) + way.state["rest", each]
    return rests


# ---- all steps --------------------------------------------------------------------------------


def steps(model: Model, state: State) -> Iterator[Step]:
    """What can happen; a step may still turn out to have no way of being made."""
    for p in model.processes:
        if p in state["down"] or p in state["byzantine"]:
            continue
        if is_paused(state, p):
            yield from steps_of_paused(model, state, p) if model.lead(p) == p else ()
            continue
        if state["rest", p]:
            yield Step(f"{p} goes on", _goes_on(p), own(model, state, ("rest", p), p))
            continue
        yield from steps_of_activities(model, state, p)
        yield from _client(model, state, p)
        for path, layer in model.layers.items():
            yield from _conditions(model, state, p, layer)
            yield from _timeouts(model, state, p, path, layer)
    yield from _receptions(model, state)
    yield from _losses(model, state)
    yield from _forgeries(model, state)
    yield from _crashes(model, state)
    yield from _splits(model, state)
    yield from _cuts(model, state)
    yield from _resets(model, state)
    if model.world.timing == "partial" and not state["lock step"]:
        yield Step("the system becomes synchronous", _settles, ("settles",))
    if state["lock step"]:
        yield Step("the next round begins", _next_round, ("round",))
    if model.world.timing == "clocks":
        yield from _ticks(model, state)
    yield from model.detector.words(state)
    yield from model.oracle.words(state)


def owed(state: State, promise: tuple[Any, ...], *processes: str) -> tuple[Any, ...] | None:
    """``promise``, unless one of ``processes`` is faulty by now: nothing is promised to it."""
    faulty = state["down"] | state["byzantine"] | state["omitted"]
    if len(set(processes)) == 2 and processes[1] in unit_of(state, processes[0]):
        faulty = state["down"]  # of what they send to one another they omit nothing
    return None if faulty & set(processes) else promise


def own(model: Model, state: State, promise: tuple[Any, ...], p: str) -> tuple[Any, ...] | None:
    """``promise`` of what ``p`` does alone: in lock step whoever omits messages does it, too."""
    return promise if state["lock step"] and p in state["omitted"] else owed(state, promise, p)


def _goes_on(p: str) -> Callable[[Way], None]:
    def does(way: Way) -> None:
        first, *others = way.state["rest", p]
        way.state["rest", p] = tuple(others)
        way.run(p, lambda: way.top_level(first.place(way, p), first.body))

    return does


def _client(model: Model, state: State, p: str) -> Iterator[Step]:
    workload = state["wishes", p]
    position = state["asked", p]
    if position == len(workload):
        return
    wish = workload[position]
    called, values = ("broadcast", (wish,)) if isinstance(wish, str) else (wish.name, wish.values)

    def asks(way: Way) -> None:
        if not list(way.takers(p, TOP, REQUEST, called, values)):
            raise NoWay
        way.state["asked", p] += 1
        way.happened(called, p, entry_of(values))
        way.run(p, lambda: way.request(p, TOP, called, values))
        if p in way.state["down"] and not way.effects:
            raise NoWay  # it was not made: the crash fell before it, which is a step of its own

    yield Step(f"{p} asks for {called}{values}", asks, own(model, state, ("client", p), p))


def _conditions(model: Model, state: State, p: str, layer: Layer) -> Iterator[Step]:
    for handler in layer.handlers(model.role[p]):
        if handler.event != CONDITION:
            continue
        domains = [model.domain(sort, layer.path) for _, sort in handler.binds]
        for values in product(*domains):
            names = dict(zip((n for n, _ in handler.binds), values, strict=True))
            promise, strong = ("conditions", p), False
            if handler.may:
                strong = dict(model.world.fair).get(handler.called)
                promise = ("fair", layer.path, handler.called, p)
            does = _condition(p, layer.path, handler, names)
            kept = None if strong is None else own(model, state, promise, p)
            yield Step(f"{p}: {handler.text}", does, kept, bool(strong))


def _condition(
    p: str, path: Path, handler: Handler, names: dict[str, Any]
) -> Callable[[Way], None]:
    def does(way: Way) -> None:
        begun = (path, handler)
        at = Place(way, p, path, dict(names), handler=begun, own=tuple(names.values()))
        if is_under_way(way.state, p, begun, tuple(names.values())):
            raise NoWay
        assert handler.event == CONDITION and handler.guard is not None
        if not handler.guard.value(at):
            raise NoWay
        counted = handler.called == way.model.world.counted
        if counted and way.model.world.budget is not None:
            key = ("taken", p if way.model.world.each else "")
            way.state[key] = way.state.get(key, 0) + 1
            if way.state[key] > way.model.world.budget:
                raise NoWay
        way.run(p, lambda: way.top_level(at, handler.body))

    return does


def timers(model: Model, layer: Layer) -> list[tuple[str, tuple[str, ...]]]:
    """The timers that are waited for, each with one of its keys where it has any."""
    handlers = [h for h in layer.protocol.handlers if h.event == TIMEOUT]
    found = [
        (h.name, which)
        for h in handlers
        for which in ([(p,) for p in model.processes] if h.patterns else [()])
    ]
    return sorted(set(found))


def _timeouts(model: Model, state: State, p: str, path: Path, layer: Layer) -> Iterator[Step]:
    for name, which in timers(model, layer):
        promise = own(model, state, ("timer", path, name, *which, p), p)
        if model.world.timing == "partial" and not state["lock step"]:
            promise = None
        called = " ".join((name, *which))
        yield Step(f"{p}'s timer {called} expires", _timeout(p, path, name, which), promise)


def _timeout(p: str, path: Path, name: str, which: tuple[str, ...]) -> Callable[[Way], None]:
    key = ("timer", path, name, *which, p)

    def does(way: Way) -> None:
        left, lock_step = way.state[key], way.state["lock step"]
        measured = lock_step or way.model.world.timing == "clocks"
        if (name and left is None) or (measured and left != 0):
            raise NoWay
        way.state[key] = None
        if not name and not list(way.takers(p, path, TIMEOUT, "", ())):
            raise NoWay
        if not lock_step and way.state["early"] is not None:
            if not way.state["early"]:
                raise NoWay
            way.state["early"] -= 1
        way.run(p, lambda: way.call(p, path, TIMEOUT, name, which))

    return does


def _some_timer_is_over(model: Model, state: State) -> bool:
    """In lock step: all handle what the end of the last round tells them before they receive."""
    up = (p for p in model.processes if p not in state["down"] | state["byzantine"])
    over = (s for p in up for i in model.layers.items() for s in _timeouts(model, state, p, *i))
    return any(list(ways(model, state, step.does)) for step in over)


def _ticks(model: Model, state: State) -> Iterator[Step]:
    """A clock ticks, unless it would be too far from others, or one of its timers is over and not
    yet handled; without any drift all tick at once.  A clock shows how far it is ahead of the
    slowest, or, where time ends, how often it has ticked."""
    gone = state["byzantine"] | (frozenset() if model.world.recover else state["down"])
    running = [p for p in model.processes if p not in gone]
    over = {key[-1] for key, left in state.items() if key[0] == "timer" and left == 0}
    drift = model.world.drift
    for some in ([p] for p in running) if drift else [running] * bool(running):

        def tick(way: Way, some: Sequence[str] = tuple(some)) -> None:
            waiting = {model.lead(p) for p in over & set(some)}
            newly = sorted(waiting - way.state.get("late", frozenset()))
            if newly and not way.pauses.room(newly):
                raise NoWay
            way.pauses.use(newly)
            ahead = {p: way.state["clock", p] + (p in some) for p in running}
            if max(ahead.values()) - min(ahead.values()) > drift:
                raise NoWay
            until = model.world.until
            if until is not None and max(ahead.values()) > until:
                raise NoWay
            for p in model.processes:
                if until is not None:
                    way.state["clock", p] = ahead.get(p, way.state["clock", p])
                else:
                    way.state["clock", p] = ahead[p] - min(ahead.values()) if p in running else 0
            for key in [k for k in way.state if k[0] == "timer" and k[-1] in some]:
                if way.state[key]:  # what is over stays so
                    way.state[key] -= 1

        yield Step(f"{some} ticks", tick, ("time",))


def _settles(way: Way) -> None:
    way.state["lock step"], way.state["early"] = True, None


def _next_round(way: Way) -> None:
    """In lock step: what is sent in a round arrives in it, so the next one begins when nothing that
    is owed in this one is left to do, or only what leaves everything as it is; what nobody owes is
    lost then.  Whoever is fair to an optional handler need not run it in this round."""
    model, state = way.model, way.state
    for step in steps(model, state):
        if step.promise is not None and step.promise[0] not in ("round", "fair"):
            found = (model.observed(made.state) for made in ways(model, state, step.does))
            if any(made != model.observed(state) for made in found):
                raise NoWay
    for key in [k for k in state if k[0] == "net"]:
        del state[key]
    state["held"] = frozenset()
    for path, layer in model.layers.items():
        for name, which in timers(model, layer):
            for p in model.processes:
                key = ("timer", path, name, *which, p)
                running = p not in state["down"] | state["byzantine"]
                if not name:
                    state[key] = 0 if running else None
                elif running and state[key] is not None:
                    state[key] = max(0, state[key] - 1)


# ---- messages ---------------------------------------------------------------------------------


def _receptions(model: Model, state: State) -> Iterator[Step]:
    pauses = model.links.pauses
    if state["lock step"] and _some_timer_is_over(model, state):
        return
    for sender, receiver, position, envelope in model.links.under_way(state):
        link = model.links.between(sender, receiver)
        if receiver in state["down"] or is_busy(state, receiver):
            continue
        if is_shut(state, sender, receiver):
            continue
        if link.fifo and position:
            continue
        promise = None
        ends = (receiver,) if link.connected else (sender, receiver)
        if link.promises:
            promise = owed(state, ("message", envelope, sender, receiver), *ends)
        does, strong = _receives(sender, receiver, position, envelope), link.strong or pauses
        yield Step(f"{receiver} receives {envelope} from {sender}", does, promise, strong)


def _receives(
    sender: str, receiver: str, position: int, envelope: Envelope
) -> Callable[[Way], None]:
    def does(way: Way) -> None:
        link = way.model.links.between(sender, receiver)
        if not link.keeps and not (link.duplicates and way.pick((True, False))):
            way.model.links.take(way.state, sender, receiver, position)
        if envelope == GONE:
            way.run(receiver, lambda: from_the_bottom(way, receiver, DISCONNECTED, (sender,)))
        else:
            take_in(way, sender, receiver, envelope)

    return does


def take_in(way: Way, sender: str, receiver: str, envelope: Envelope) -> None:
    """``receiver`` has got a message: it counts, and a handler that takes it is run."""
    path, (kind, *parts) = envelope
    way.model.links.count(way.state, receiver, sender, envelope)
    way.run(receiver, lambda: way.call(receiver, path, RECEIVE, kind, (*parts, sender)))


def _losses(model: Model, state: State) -> Iterator[Step]:
    links, world = model.links, model.world
    for sender, receiver, position, envelope in links.under_way(state):

        def lost(way: Way, s: str = sender, r: str = receiver, at: int = position) -> None:
            links.take(way.state, s, r, at)

        link = links.between(sender, receiver)
        ends = {sender} if link.stubborn else {sender, receiver}
        need_not_arrive = link.keeps and not link.promises
        quiet = need_not_arrive or link.connected
        if link.loses or (world.recover and ends & state["down"] and not quiet):
            yield Step(f"the link loses {envelope} from {sender} to {receiver}", lost)
        for p in sorted({sender, receiver}):
            if sender != receiver and receiver in unit_of(state, sender):
                break
            room = p in state["omitted"] or len(state["omitted"]) < world.omission
            room &= model.has_room("omission", {*state["omitted"], p})
            if world.omission and room and p not in state["byzantine"]:

                def omits(way: Way, p: str = p, lose: Callable[[Way], None] = lost) -> None:
                    way.state["omitted"] |= {p}
                    lose(way)

                yield Step(f"{p} omits {envelope} from {sender} to {receiver}", omits)


def _forgeries(model: Model, state: State) -> Iterator[Step]:
    for liar in sorted(state["byzantine"]):
        for receiver in model.processes:
            names = [
                p
                for p in model.processes
                if p == liar or not model.links.between(p, receiver).authenticated
            ]
            if receiver in state["down"] | state["byzantine"] or is_busy(state, receiver):
                continue
            if is_shut(state, liar, receiver):
                continue
            for path in model.layers:
                for content, sender in product(model.messages(path), names):

                    def forges(
                        way: Way, q: str = receiver, by: str = sender, e: Any = (path, content)
                    ) -> None:
                        take_in(way, by, q, e)

                    yield Step(f"{liar} makes {receiver} receive {content} from {sender}", forges)


# ---- faults -----------------------------------------------------------------------------------


def _crashes(model: Model, state: State) -> Iterator[Step]:
    for p in model.processes:
        if p in state["byzantine"] or model.lead(p) != p:
            continue
        if p in state["down"]:
            roles = model.world.recovering or model.roles
            if model.world.recover and model.role[p] in roles:
                yield Step(f"{p} recovers", _recovers(p))
            continue
        for how in Way(model, state).stops_of(p):
            promise = ("doom", p) if p in state["doomed"] else None
            yield Step(f"{p} stops: {how}", _stops(p, how), promise)


def _stops(p: str, how: str) -> Callable[[Way], None]:
    return lambda way: way.crash(p, how)


def _recovers(p: str) -> Callable[[Way], None]:
    def does(way: Way) -> None:
        unit = way.model.units[p]
        way.state["down"] -= {*unit}
        for each in unit:
            start(way, each, {"state"})
        way.run(p, lambda: in_turn(way, unit))

    return does


def _splits(model: Model, state: State) -> Iterator[Step]:
    if state["split"]:

        def heals(way: Way) -> None:
            way.state["split"] = frozenset()
            model.links.opened(way)

        yield Step("the split heals", heals)
    elif state["splits"]:
        for k in range(1, len(model.processes)):
            for side in combinations(model.processes, k):
                if model.processes[0] in side:

                    def splits(way: Way, side: frozenset[str] = frozenset(side)) -> None:
                        way.state["split"] = side
                        way.state["splits"] -= way.state["splits"] > 0

                    yield Step(f"the network splits off {sorted(side)}", splits)


def _told(link: Cut) -> str:
    return " and ".join(sorted(link)) if isinstance(link, frozenset) else " -> ".join(link)


def _cuts(model: Model, state: State) -> Iterator[Step]:
    """Each clause counts its own cuts, and what it has cut may heal."""
    for clause, links in enumerate(model.cuts):
        for link in sorted(links, key=_told):
            told = _told(link)
            if (clause, link) in state["cut"]:

                def heals(way: Way, cut: tuple[int, Cut] = (clause, link)) -> None:
                    way.state["cut"] -= {cut}
                    model.links.opened(way)

                yield Step(f"the link {told} heals", heals)
            elif state["cuts"][clause]:

                def cuts(way: Way, cut: tuple[int, Cut] = (clause, link)) -> None:
                    way.state["cut"] |= {cut}
                    left = list(way.state["cuts"])
                    left[cut[0]] -= left[cut[0]] > 0
                    way.state["cuts"] = tuple(left)

                yield Step(f"the link {told} is cut", cuts)


def _resets(model: Model, state: State) -> Iterator[Step]:
    """The connection of two who are up breaks, both ways; each is told when it gets there."""
    for pair in combinations(model.processes, 2) if state["resets"] else ():
        there, back = pair, pair[::-1]
        connected = [way for way in (there, back) if model.links.between(*way).connected]
        if not connected or state["down"] & set(pair) or pair[1] in model.units[pair[0]]:
            continue

        def resets(way: Way, ways: list[tuple[str, ...]] = connected) -> None:
            way.state["resets"] -= 1
            for sender, receiver in ways:
                model.links.breaks(way, sender, receiver)

        yield Step(f"the connection of {pair[0]} and {pair[1]} is reset", resets)
