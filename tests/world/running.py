"""What a handler does, statement by statement: one way of running it, under a script of choices.

A state is a dictionary; a step is a function of a :class:`Way`, which changes its own copy of the
state and asks :meth:`Way.pick` wherever the page leaves something open.  All ways of a step are
found by running it again with every other script.  A call to a layer is a call of Python.  Where a
process stops inside a handler, what has been done is put aside, and the rest is only tried: a stop
in a branch that comes to no end does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from tests.world import disks
from tests.world import spec as s
from tests.world.activities import is_under_way, put_off
from tests.world.pausing import Paused, Pauses, Which
from tests.world.protocol import DISCONNECTED, INDICATION, RECEIVE, REQUEST, TIMEOUT, Handler
from tests.world.sorts import in_order, with_one, without_one
from tests.world.system import TOP, Layer, Model, Path, State

Names = dict[str, Any]


class NoWay(Exception):
    """This way of running the handler does not exist."""


@dataclass(frozen=True)
class Stopped:
    """Where a process has stopped inside a handler, by a crash or (``pauses``) a pause: what had
    been done and chosen by then."""

    state: State
    effects: int
    sent: frozenset[Hashable]
    taken: tuple[int, ...]
    passed: int
    pauses: bool


@dataclass(frozen=True)
class Rest:
    """What stands behind a ``yield``, or behind a call that has yielded."""

    path: Path
    body: s.Block
    names: tuple[tuple[str, Any], ...]
    handler: Hashable
    own: tuple[Any, ...] | None

    @classmethod
    def of(cls, at: Place, body: s.Block) -> Rest:
        return cls(at.path, body, tuple(at.names.items()), at.handler, at.own)

    def place(self, way: Way, p: str) -> Place:
        names = dict(self.names)
        return Place(way, p, self.path, names, None, set(names), self.handler, self.own)


Rests = tuple[Rest, ...]


def subsets(items: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [some for k in range(len(items) + 1) for some in combinations(items, k)]


@dataclass
class Place:
    """Where an expression is read: a layer of a process, and the names that are bound; in a block,
    ``around`` is the place that it stands in, and ``declared`` are its own variables.

    ``handler``: what is run there; ``own``: the values with which a condition or a timer began it.
    """

    way: Way
    me: str
    path: Path
    names: Names
    around: Place | None = None
    declared: set[str] = field(default_factory=set)
    handler: Hashable = None
    own: tuple[Any, ...] | None = None

    @property
    def model(self) -> Model:
        return self.way.model

    def read(self, variable: str) -> Any:
        return self.way.state[self.model.key(self.path, variable, self.me)]

    def set(self, name: str, value: Any) -> None:
        """Assigns a variable of the handler, here and in the blocks around up to its own."""
        self.names[name] = value
        if name not in self.declared:
            assert self.around is not None, name
            self.around.set(name, value)

    def received(self) -> list[tuple[str, Any]]:
        got = self.way.state["received", self.me]
        return [(sender, content) for path, content, sender in got if path == self.path]


class Way:
    """One way of making a step from ``state``, as ``script`` says where there is a choice."""

    def __init__(
        self, model: Model, state: State, script: Sequence[int] = (), which: Which | None = None
    ) -> None:
        self.model, self.state, self.script = model, dict(state), script
        self.pauses = Pauses(self, which)
        self.offered: list[int] = []
        self.effects = self.kept_together = 0
        self.sent: set[Hashable] = set()
        self.left: State | None = None
        self.stopped: Stopped | None = None
        self.written: list[disks.Write] = []

    def pick(self, options: Iterable[Any]) -> Any:
        """One of ``options``, the script says which."""
        listed = list(options)
        if not listed:
            raise NoWay
        if self.pauses.replays:
            return listed[self.pauses.next_choice()]
        chosen = self._next(len(listed))
        self.pauses.taken.append(chosen)
        return listed[chosen]

    def _next(self, options: int) -> int:
        position = len(self.offered)
        self.offered.append(options)
        return self.script[position] if position < len(self.script) else 0

    def pick_fault(self, options: Sequence[Any]) -> Any:
        """One of ``options``, the first of which is that there is no fault."""
        return options[self._next(len(options))]

    def may_be_dropped(self) -> bool:
        """Whether what is sent is dropped; when it is done again, it is not sent."""
        return not self.pauses.replays and bool(self.pick_fault((False, True)))

    # -- crashes inside of handlers -------------------------------------------------------------

    def may_cut(self, p: str) -> bool:
        """Whether ``p`` may crash here."""
        world = self.model.world
        off = (
            self.pauses.replays
            or self.kept_together
            or self.left is not None
            or self.stopped is not None
            or world.between_handlers
        )
        return not off and self.may_crash(p)

    def may_crash(self, p: str) -> bool:
        """Whether the world has a crash of ``p`` left."""
        return bool(self.stops_of(p))

    def stops_of(self, p: str) -> list[str]:
        """How ``p`` may stop: it is killed, its power fails, or its disk is lost as well."""
        if p in self.state["down"] or self.state["favoured"] in self.model.units[p]:
            return []
        if self.model.oracle.foresees and p not in self.state["doomed"]:
            return []
        world, lead = self.model.world, self.model.lead(p)
        bounds = {"crash": world.crash, "power": world.power, "wipe": world.wipe}
        so_far = {how: self.state[COUNTS[how]] for how in disks.STOPS}
        return [
            how
            for how in disks.STOPS
            if len(so_far[how]) < bounds[how] and self.model.has_room(how, (*so_far[how], lead))
        ]

    def effect(self, p: str, does: Callable[[], object]) -> None:
        """Does something that can be seen; a crash may fall right before or right after it."""
        self.before_an_effect()
        self.pauses.may_stop(p)
        if self.may_cut(p) and self.pick_fault((False, True)):
            self.pauses.crashed(behind=False)
            self.cut()
        does()
        self.effects += 1
        self.pauses.may_have_crashed(p)
        if self.may_cut(p) and self.pick_fault((False, True)):
            self.pauses.crashed(behind=True)
            self.cut_behind()

    # What ghosts record belongs to the effect before it: a crash right behind an effect leaves the
    # state as it is there, and the ghosts as they are when the next effect would come.

    def ghosts(self) -> State:
        return {k: v for k, v in self.state.items() if self.model.is_ghost(k)}

    def cut_behind(self) -> None:
        """``p`` crashes right behind an effect; what it would do is followed up to the next one."""
        if not self.model.ghosts:
            self.cut()
        else:
            self.left = dict(self.state)

    def before_an_effect(self) -> None:
        if self.left is not None and not self.kept_together:
            self.cut()

    def cut(self) -> None:
        """The process crashes here, or behind the last effect; the rest is only tried."""
        if self.left is not None:
            self.state, self.left = self.left | self.ghosts(), None
        self.stop()

    def stop(self, *, pauses: bool = False) -> None:
        """What has been done is put aside; the rest is only tried."""
        so_far = tuple(self.pauses.taken), self.pauses.passed
        done = dict(self.state), self.effects, frozenset(self.sent)
        self.stopped = Stopped(*done, *so_far, pauses)

    def uninterrupted(self, p: str, body: s.Block, at: Place) -> None:
        """``atomic``: one effect, whatever is inside."""
        self.pauses.may_stop(p)
        before, effects, sent = dict(self.state), self.effects, set(self.sent)
        ghosts = self.ghosts()
        self.kept_together += 1
        self.block(at, body)
        self.kept_together -= 1
        if not self.kept_together:
            written, self.written = self.written, []
            disks.writes(self, written)
            for key in dict.fromkeys(key for key, _ in written):
                if self.model.is_synced(*key[1:]):
                    disks.sync(self, [key])
        if self.left is not None and may_have_effects(self.model, at, body):
            self.state |= ghosts
        if self.left is not None and self.effects > effects:
            self.cut()
        self.pauses.may_have_crashed(p)
        if self.effects > effects and self.may_cut(p):
            cut = self.pick_fault(("no", "before", "after"))
            if cut != "no":
                self.pauses.crashed(behind=True)
            if cut == "before":
                self.state, self.effects, self.sent = before, effects, sent
                self.cut()
            if cut == "after":
                self.cut_behind()

    def crash(self, p: str, how: str = "") -> None:
        """``p`` is down, with who dies with it: counted once, their messages to one another
        gone."""
        how, all_ = how or self.pick_fault(self.stops_of(p)), self.model.units[p]
        self.state[COUNTS[how]] = tuple(sorted((*self.state[COUNTS[how]], self.model.lead(p))))
        self.state["down"] |= {*all_}
        for each in all_:
            self.down(each, how)
        self.model.links.forget_between(self.state, all_)

    def down(self, p: str, how: str) -> None:
        """``p`` is down: what stands behind a ``yield``, what it received and timers are gone."""
        disks.stops(self, p, how)
        self.state["rest", p], self.state["activities", p] = (), frozenset()
        self.pauses.forget(p)
        self.state["received", p] = frozenset()
        for key in [k for k in self.state if k[0] == "timer" and k[-1] == p]:
            self.state[key] = None
        if not self.model.world.recover:
            self.model.links.forget(self.state, p)
        self.model.links.ends(self, p)

    def run(self, p: str, does: Callable[[], Rests]) -> None:
        """Lets ``p`` do something, whole or cut; what follows a ``yield`` is kept for later."""
        self.pauses.no_longer_late(p)
        try:
            rests = does()
        except Paused:
            self.pauses.begin(p)
            return
        if self.left is not None:
            self.cut()
        done, self.stopped = self.stopped, None
        if done is None:
            self.state["rest", p] = rests + self.state["rest", p]
        else:
            self.state, self.effects, self.sent = done.state, done.effects, {*done.sent}
            self.pauses.taken, self.pauses.passed = [*done.taken], done.passed
        if done is None:
            self.pauses.ends(p)
        elif done.pauses:
            self.pauses.begin(p)
        else:
            self.crash(p)
            self.pauses.ends(p)

    # -- calls ----------------------------------------------------------------------------------

    def call(self, p: str, path: Path, event: str, name: str, values: tuple[Any, ...]) -> Rests:
        """Runs a handler of the layer at ``path`` that takes this; nothing happens if none does."""
        found = list(self.takers(p, path, event, name, values))
        if not found:
            return ()
        handler, at = self.pick(found)
        return self.top_level(at, handler.body)

    def takers(
        self, p: str, path: Path, event: str, name: str, values: tuple[Any, ...]
    ) -> Iterator[tuple[Handler, Place]]:
        for handler in self.model.layers[path].handlers(self.model.role[p]):
            if (handler.event, handler.name) != (event, name):
                continue
            at = Place(self, p, path, {}, handler=(path, handler))
            if event == TIMEOUT:
                at.own = values
                if is_under_way(self.state, p, at.handler, values):
                    continue
            patterns: tuple[s.Pattern | None, ...] = handler.patterns
            if event in (RECEIVE, DISCONNECTED):
                patterns = (*patterns, handler.sender)
            if not all(_matches(at, w, v) for w, v in zip(patterns, values, strict=True)):
                continue
            if handler.guard is None or handler.guard.value(at):
                yield handler, at

    def request(self, p: str, path: Path, name: str, values: tuple[Any, ...]) -> Rests:
        """A request to the layer at ``path``."""
        if path not in self.model.layers:
            return self.model.oracle.asked(self, p, path, values)
        return self.call(p, path, REQUEST, name, values)

    def indicate(self, p: str, path: Path, name: str, values: tuple[Any, ...]) -> Rests:
        """An indication of the layer at ``path``: to the one above, or to the application."""
        if path == TOP:
            word = HISTORIES.get(name, name)
            self.effect(p, lambda: self.happened(word, p, entry_of(values)))
            return ()
        (layer, index), above = path[-1], path[:-1]
        if len(values) > 1 and isinstance(values[1], tuple):
            self.model.links.count(self.state, p, values[0], (above, values[1]))
        family = () if index is None else (index,)
        return self.call(p, above, INDICATION, f"{layer}.{name}", (*family, *values))

    def happened(self, word: str, p: str, entry: Any) -> None:
        """Adds to a history; of an entry no property asks more than whether it came twice."""
        so_far = self.state.get((word, p), ())
        if so_far.count(entry) < 2:
            self.state[word, p] = (*so_far, entry)

    # -- statements -----------------------------------------------------------------------------

    def top_level(self, at: Place, body: s.Block) -> Rests:
        """Runs ``body``, the top level of a handler; what is left if it yields."""
        for position, statement in enumerate(body):
            rests: Rests = ()
            behind = body[position + 1 :]
            if isinstance(statement, s.Yield):
                return (Rest.of(at, behind),)
            if isinstance(statement, s.Await):
                put_off(at, statement.condition, behind)
                return ()
            if isinstance(statement, s.Ask | s.Tell):
                rests = self.layer_call(at, statement)
            else:
                self.statement(at, statement)
            if rests:
                mine = Rest.of(at, behind)
                return (*rests, mine) if behind else rests
        return ()

    def block(self, at: Place, body: s.Block) -> None:
        """Runs a block inside of a handler; its names are its own."""
        inner = Place(self, at.me, at.path, dict(at.names), at)
        for statement in body:
            self.statement(inner, statement)

    def layer_call(self, at: Place, statement: s.Ask | s.Tell) -> Rests:
        values = tuple(a.value(at) for a in statement.arguments)
        if isinstance(statement, s.Tell):
            return self.indicate(at.me, at.path, statement.indication, values)
        index = None if statement.index is None else statement.index.value(at)
        below = (*at.path, (statement.layer, index))
        return self.request(at.me, below, statement.request, values)

    def statement(self, at: Place, statement: s.Statement) -> None:
        match statement:
            case s.Assign():
                self.assign(at, statement)
            case s.Send(content, receivers):
                self.send(at, content.value(at), receivers.value(at))
            case s.Ask() | s.Tell():
                assert not self.layer_call(at, statement), "such a call stands at the top level"
            case s.If(condition, then, other):
                self.block(at, then if condition.value(at) else other)
            case s.Flip(then, other):
                self.block(at, then if self.pick((True, False)) else other)
            case s.For(name, domain, body):
                self.loop(at, name, domain.value(at), body)
            case s.While(name, domain, body):
                while members := domain.value(at):
                    at.names[name] = self.pick(in_order(members))
                    self.block(at, body)
                    del at.names[name]
            case s.Weigh(name, values):
                possible = [value for value, weight in values if weight != "0"]
                at.names[name] = self.pick(list(dict.fromkeys(v.value(at) for v in possible)))
            case s.Choose(name, domain):
                at.names[name] = self.pick(in_order(domain.value(at)))
            case s.Either():
                self.block(at, self.alternative(at, statement))
            case s.Require(condition):
                if not condition.value(at):
                    raise NoWay
            case s.Perform(act, idempotent):
                done = ("idempotent" if idempotent else "plain", act.value(at))
                self.effect(at.me, lambda: self.happened("performed", "", done))
            case s.Timer(name, starts, units, key):
                which = () if key is None else (key.value(at),)
                self.pauses.may_stop(at.me)
                self.state["timer", at.path, name, *which, at.me] = units if starts else None
            case s.Ghost(body):
                for each in body:
                    self.statement(at, each)
            case s.Sync(names, other):
                self.sync(at, names, other or ())
            case s.Atomic(body):
                self.uninterrupted(at.me, body, at)
            case s.Let(name, value):
                at.names[name] = value.value(at)
            case s.Var(name, value):
                at.declared.add(name)
                at.names[name] = value.value(at)
            case s.SetVar(name, value):
                at.set(name, value.value(at))
            case s.Run(_, parameters, body, arguments):
                values = [a.value(at) for a in arguments]
                names = dict(zip(parameters, values, strict=True))
                self.block(Place(self, at.me, at.path, names), body)
            case _:
                assert isinstance(statement, s.Skip), statement

    def alternative(self, at: Place, either: s.Either) -> s.Block:
        """The body of one that is there; that it is taken is seen by all, as what they share is."""
        budgets = {name: (most, each) for name, most, each in self.model.world.taken}

        def key(name: str) -> tuple[str, str, str]:
            return ("taken", name, at.me if budgets[name][1] else "")

        def is_there(name: str, guard: s.Expr | None) -> bool:
            if name in budgets and self.state.get(key(name), 0) >= budgets[name][0]:
                return False
            return guard is None or bool(guard.value(at))

        there = [(name, body) for name, guard, body in either.named if is_there(name, guard)]
        name, body = self.pick(there)

        def takes() -> None:
            self.state[key(name)] = self.state.get(key(name), 0) + 1

        if name in budgets:
            self.effect(at.me, takes)
        return body

    def loop(self, at: Place, name: str, domain: Any, body: s.Block) -> None:
        """Numbers from the smallest to the largest, a sequence in its order, a set in any."""
        ordered = isinstance(domain, tuple) or all(type(x) is int for x in domain)
        left = list(domain) if isinstance(domain, tuple) else in_order(domain)
        while left:
            at.names[name] = left.pop(0 if ordered else self.pick(range(len(left))))
            self.block(at, body)
            del at.names[name]

    def assign(self, at: Place, statement: s.Assign) -> None:
        key = self.model.key(at.path, statement.variable, at.me)
        place = [part if isinstance(part, str) else part.value(at) for part in statement.place]
        new = statement.value.value(at)
        value = changed(self.state[key], place, new, statement.sign)
        at_key = bool(place) and not isinstance(statement.place[0], str)
        first = place[:1] if at_key and isinstance(place[0], str) else []

        def written(old: Any) -> Any:
            """What is on disk is replaced, or of a map what it has for one key."""
            return changed(old, first, dict(value)[first[0]], ":=") if first else value

        def does() -> None:
            self.state[key] = value
            if self.model.variable(at.path, statement.variable, at.me).kind not in disks.STABLE:
                return
            if self.kept_together:
                self.written.append((key, written))
            else:
                disks.writes(self, [(key, written)])

        if self.model.is_effect(at.path, statement.variable, at.me):
            self.effect(at.me, does)
        else:
            does()
        if self.model.is_synced(at.path, statement.variable, at.me) and not self.kept_together:
            self.sync(at, (statement.variable,), ())

    def sync(self, at: Place, names: tuple[str, ...], other: s.Block) -> None:
        """What is stable is on disk; where that fails, ``other`` is done instead."""
        model = self.model
        mine = model.layers[at.path].variables(model.role[at.me])
        names = names or tuple(v.name for v in mine if v.kind in disks.STABLE)
        if not model.world.power or not names:
            return
        done = [True]
        keys = [model.key(at.path, name, at.me) for name in names]
        self.effect(at.me, lambda: done.append(disks.sync(self, keys)))
        if not done[-1]:
            self.block(at, other)

    def send(self, at: Place, content: Any, receivers: frozenset[str]) -> None:
        """To all ``receivers``; if a crash falls here, to any part of them."""
        wanted = sorted(receivers)
        if not wanted:
            return
        self.before_an_effect()
        self.pauses.may_stop(at.me)
        if self.stopped is not None:
            return
        some = None
        if self.may_cut(at.me):
            some = self.pick_fault((None, *subsets(wanted)))
        for receiver in wanted if some is None else some:
            self.model.links.put(self, at.me, receiver, (at.path, content))
        self.effects += bool(some is None or some)
        if some:
            self.cut_behind()
        elif some is not None:
            self.cut()


COUNTS = {"crash": "crashes", "power": "power failures", "wipe": "wipes"}


def may_have_effects(model: Model, at: Place, body: s.Block) -> bool:
    """Whether something in ``body`` may be an effect; of what a layer is asked to do, anything."""
    return any(
        isinstance(each, s.Send | s.Ask | s.Tell | s.Perform | s.Sync)
        or (isinstance(each, s.Assign) and model.is_effect(at.path, each.variable, at.me))
        or (isinstance(each, s.Either) and {*each.names} & {n for n, *_ in model.world.taken})
        for each in inside(body)
    )


def inside(body: s.Block) -> Iterator[s.Statement]:
    """All statements of ``body``."""
    for each in body:
        yield each
        for name in ("then", "other", "body"):
            yield from inside(getattr(each, name, ()))
        for _, block in getattr(each, "alternatives", ()):
            yield from inside(block)


def changed(old: Any, place: Sequence[Any], value: Any, sign: str) -> Any:
    """``old`` after an assignment to all of it, or to what is at a key or in a field of it."""
    if place:
        first, *inner = place
        if isinstance(first, int):  # of a sequence; the keys of maps are processes
            return (*old[:first], changed(old[first], inner, value, sign), *old[first + 1 :])
        return tuple((k, changed(v, inner, value, sign) if k == first else v) for k, v in old)
    if sign == ":=":
        return value
    if isinstance(old, frozenset):
        return old | {value} if sign == "+=" else old - {value}
    return with_one(old, value) if sign == "+=" else without_one(old, value)


HISTORIES = {"deliver": "delivered"}
"""What histories are called, where not like the request or the indication."""


def entry_of(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values


def _matches(at: Place, pattern: s.Pattern | None, value: Any) -> bool:
    """Whether ``value`` fits; names that are new are bound."""
    match pattern:
        case None | s.Bind("_"):
            return True
        case s.Bind(text):
            at.names[text] = value
            return True
        case s.Shape(kind, parts):
            return value[0] == kind and all(
                _matches(at, part, each) for part, each in zip(parts, value[1:], strict=True)
            )
        case s.Parts(parts):
            return all(_matches(at, part, each) for part, each in zip(parts, value, strict=True))
        case _:
            return bool(pattern.value(at) == value)


def ways(
    model: Model, state: State, step: Callable[[Way], None], which: Which | None = None
) -> Iterator[Way]:
    """All ways of making ``step`` from ``state``, which is ``which`` there; those with pauses only
    where that is said."""
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        script = scripts.pop()
        way = Way(model, state, script, which)
        exists = True
        try:
            step(way)
        except NoWay:
            exists = False
        chosen = [*script, *[0] * (len(way.offered) - len(script))]
        for position in range(len(script), len(way.offered)):
            for other in range(1, way.offered[position]):
                scripts.append((*chosen[:position], other))
        if exists:
            yield way


__all__ = ["Layer", "NoWay", "Place", "Rest", "Way", "ways"]
