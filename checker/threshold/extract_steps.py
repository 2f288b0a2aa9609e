"""What a process can do where it is: its handlers as steps from one spot to another.

A spot is a place in the control of a process with everything that its future can depend on.

Messages with a handler of their own (``upon receive``) are taken when they arrive, and are gone
where no handler takes them.  So what has been received may have been missed: where that is
possible the way forks, and one branch never takes that message (``missed``).  That says no less
than what can happen, and just that where a handler takes its message wherever it comes.  A
condition whose handler changes nothing can be taken for ever: then the process need not do anything
else (``resting``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from checker.lang import typed
from checker.threshold.arithmetic import FALSE, TRUE
from checker.threshold.automaton import Condition, Group, Linear, Mode
from checker.threshold.extract_numbers import (
    both,
    compared,
    given,
    lasting,
    receipts_in,
    rises,
    without,
)
from checker.threshold.extract_paths import Effect, Path, Sending, Telling, Walker, started, tested
from checker.threshold.extract_start import initial_values, senders
from checker.threshold.extract_values import (
    OTHERS,
    PEER,
    Count,
    Made,
    Scene,
    Who,
    condition,
    fits,
    matched,
    matched_all,
    members,
    shown,
)
from checker.threshold.extract_world import Settings, taking
from checker.threshold.fragment import Found, Leaves

Wanted = tuple[int, str]
"""A handler, by its number, and the name of the count that it waits for."""

History = tuple[str, str]
"""``request`` or ``indication``, and the operator."""


@dataclass(frozen=True, slots=True)
class Spot:
    """``values``: of the variables, ``told``: of the histories, in order; ``turn``: requests that
    were made; ``sent``: messages, ``own``: those of them never sent to itself; ``known``:
    conditions that hold for ever; ``soiled``: what may have been received without being taken;
    ``pending``: what is still sent at the start."""

    group: int
    values: tuple[object, ...]
    told: tuple[tuple[object, ...], ...]
    turn: int = 0
    sent: frozenset[Made] = frozenset()
    own: frozenset[Made] = frozenset()
    known: frozenset[Condition] = frozenset()
    soiled: frozenset[Wanted] = frozenset()
    missed: frozenset[Wanted] = frozenset()
    resting: bool = False
    crashed: bool = False
    pending: tuple[Sending, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """``sends``: for the first time; ``attempts``: all that the handler sends; ``wanted``: the
    message that it takes; ``handler``: its number, or -1."""

    target: Spot
    guard: Condition
    sends: tuple[Made, ...]
    attempts: frozenset[Made]
    label: str
    handler: int = -1
    wanted: Wanted | None = None
    indications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reception:
    """What one handler does with one message at a spot: it takes it where ``guard`` holds."""

    wanted: Wanted
    message: Made
    paths: tuple[Path, ...]
    guard: Condition


class Steps:
    """The steps of all processes of a check; what leaves the fragment goes to ``found``."""

    def __init__(
        self, settings: Settings, histories: tuple[History, ...], sees_crashes: bool, found: Found
    ) -> None:
        self.settings, self.histories, self.found = settings, histories, found
        self.sees_crashes = sees_crashes
        self.role = settings.check.protocol.roles[0]
        self.states = tuple(decl.name for decl in self.role.states)
        self.types = {decl.name: decl.type for decl in self.role.states}
        self.again = "stubborn" in settings.check.links
        self.interrupted = settings.check.crash_points == "inside"
        self._messages: dict[str, tuple[Made, ...]] = {}
        self._wanted: set[Wanted] | None = None
        self._at: dict[tuple[int, tuple[object, ...]], list[_Reception]] = {}
        self._open: dict[tuple[int, tuple[object, ...]], list[tuple[int, Path]]] = {}

    # ---- scenes -------------------------------------------------------------------------------

    def group(self, spot: Spot) -> Group:
        return self.settings.groups[spot.group]

    def walker(self, group: Group) -> Walker:
        keeps = frozenset(op for kind, op in self.histories if kind == "indication")
        return Walker(self.settings.scale, self.settings.who(group), self.types, keeps)

    def scene(self, spot: Spot) -> Scene:
        who = self.settings.who(self.group(spot))
        values = dict(zip(self.states, spot.values, strict=True))
        return Scene(self.settings.scale, who, values)

    # ---- the start ----------------------------------------------------------------------------

    def initial(self) -> Iterator[dict[str, object]]:
        """What the variables of some process may start as."""
        try:
            yield from initial_values(
                self.role, Scene(self.settings.scale, self.settings.who(self.settings.groups[0]))
            )
        except Leaves as leaves:
            self.found.add(leaves)

    def starts(self) -> Iterator[Spot]:
        """Where processes of each group begin."""
        for number, group in enumerate(self.settings.groups):
            try:
                yield from self._starts(number, group)
            except Leaves as leaves:
                self.found.add(leaves)

    def _starts(self, number: int, group: Group) -> Iterator[Spot]:
        scale, who = self.settings.scale, self.settings.who(group)
        for values in initial_values(self.role, Scene(scale, who)):
            spot = Spot(number, tuple(values[n] for n in self.states), ((),) * len(self.histories))
            open_ = [Path(TRUE, dict(values), {})]
            for handler in self.role.handlers:
                if isinstance(handler.event, typed.OnInit):
                    open_ = [found for path in open_ for found in self._begun(handler, path, group)]
            for path in open_:
                for cut, effects in self._cuts(group, path.effects, True):
                    told = self._heard(spot.told, effects)
                    after = tuple(path.values[name] for name in self.states)
                    sends = tuple(e for e in effects if isinstance(e, Sending))
                    begun = replace(spot, values=after, told=told, pending=sends, crashed=cut)
                    yield from self._forked(begun)

    def _begun(self, handler: typed.Handler, path: Path, group: Group) -> Iterator[Path]:
        walker = self.walker(group)
        guard, possible = tested(handler, None, walker.scene(path))
        if not possible:
            yield path
            return
        for after in walker.paths(handler.body, path.where(guard)):
            yield replace(after, names={})

    # ---- one spot -----------------------------------------------------------------------------

    def steps(self, spot: Spot) -> list[Step]:
        """What a process at ``spot`` can do."""
        if spot.crashed:
            return []
        found: list[Step] = []
        if spot.pending:
            return [
                step for step in self._taken(spot, Path(TRUE, {}, {}, spot.pending), "upon init")
            ]
        receptions = self._receptions(spot)
        for reception in receptions:
            if reception.wanted not in spot.missed:
                found += self._received(spot, reception, receptions)
        found += self._asked(spot, receptions)
        if not spot.resting:
            found += self._conditions(spot, receptions)
        if self.sees_crashes and self.group(spot).mode is Mode.CRASHING:
            gone = replace(spot, crashed=True, own=frozenset(), soiled=frozenset())
            found.append(Step(gone, TRUE, (), frozenset(), "crash"))
        return found

    def _conditions(self, spot: Spot, receptions: list[_Reception]) -> list[Step]:
        moving: list[Step] = []
        idle: list[Condition] = []
        for number, path in self._open_paths(spot):
            label = self.role.handlers[number].label
            steps = self._moved(spot, path, label, number, None, receptions)
            moving += steps
            if not steps:
                idle.append(path.guard)
        if moving:
            for guard in idle:
                rest = replace(spot, resting=True, known=spot.known | lasting(guard))
                moving.append(Step(rest, guard, (), frozenset(), "goes on doing nothing"))
        return moving

    def _open_paths(self, spot: Spot) -> list[tuple[int, Path]]:
        """What conditions may do, with the numbers of their handlers."""
        key = (spot.group, spot.values)
        if key not in self._open:
            found = self._open[key] = []
            for number, handler in enumerate(self.role.handlers):
                if isinstance(handler.event, typed.OnCondition):
                    try:
                        paths = self._paths_of_condition(spot, handler, handler.event)
                        found += [(number, path) for path in paths]
                    except Leaves as leaves:
                        self.found.add(leaves)
        return self._open[key]

    def _paths_of_condition(
        self, spot: Spot, handler: typed.Handler, event: typed.OnCondition
    ) -> Iterator[Path]:
        scene = self.scene(spot)
        domains = [members(type_, scene, handler.span) for _, type_ in event.free]
        for values in itertools.product(*domains):
            names = {n: v for (n, _), v in zip(event.free, values, strict=True)}
            inner = scene.bound(names)
            guard, possible = tested(handler, event.condition, inner)
            if possible:
                walker = self.walker(self.group(spot))
                yield from walker.paths(handler.body, started(inner, guard))

    def _asked(self, spot: Spot, receptions: list[_Reception]) -> list[Step]:
        requests = self.settings.requests[self.group(spot).process or OTHERS]
        if spot.turn >= len(requests):
            return []
        asked = requests[spot.turn]
        entry = asked.args[0] if len(asked.args) == 1 else asked.args
        found: list[Step] = []
        try:
            for handler, scene, fits in taking(self.role, asked, self.scene(spot)):
                guard, possible = tested(handler, None, scene)
                if not possible:
                    continue
                start = started(scene, both(fits, guard)).does(Telling("request", asked.op, entry))
                number = self.role.handlers.index(handler)
                after = replace(spot, turn=spot.turn + 1)
                for path in self.walker(self.group(spot)).paths(handler.body, start):
                    found += self._moved(after, path, handler.label, number, None, receptions)
        except Leaves as leaves:
            self.found.add(leaves)
        return found

    # ---- messages -----------------------------------------------------------------------------

    def _receptions(self, spot: Spot) -> list[_Reception]:
        key = (spot.group, spot.values)
        if key not in self._at:
            found = self._at[key] = []
            for number, handler in enumerate(self.role.handlers):
                if isinstance(handler.event, typed.OnReceive):
                    try:
                        found += self._of_handler(spot, number, handler, handler.event)
                    except Leaves as leaves:
                        self.found.add(leaves)
        return self._at[key]

    def _of_handler(
        self, spot: Spot, number: int, handler: typed.Handler, event: typed.OnReceive
    ) -> Iterator[_Reception]:
        scene = self.scene(spot)
        walker = self.walker(self.group(spot))
        for made in self.messages(event.message):
            fields = matched_all(event.patterns, made.fields, scene)
            if fields is None:
                continue
            for sender in senders(handler, event, self.settings.scale):
                inner = scene.bound(fields[1])
                also: object = True
                if sender is not None:
                    one = matched(event.sender, Who(sender) if sender else PEER, inner)
                    if one is None:
                        continue
                    also, inner = one[0], inner.bound(one[1])
                guard, possible = tested(handler, None, inner)
                guard = both(condition(fields[0]), condition(also), guard)
                if not possible or guard == FALSE:
                    continue
                paths = tuple(walker.paths(handler.body, started(inner, guard)))
                name = self.settings.scale.counted(Count(made.message, made.fields, sender))
                yield _Reception((number, name.terms[0][0]), made, paths, guard)

    def messages(self, name: str) -> tuple[Made, ...]:
        """All messages of a name that there can be."""
        if name not in self._messages:
            decl = next(d for d in self.settings.check.protocol.messages if d.name == name)
            scene = Scene(self.settings.scale)
            self._messages[name] = ()
            fields = [members(type_, scene, decl.span) for _, type_ in decl.fields]
            found = tuple(Made(name, values) for values in itertools.product(*fields))
            self._messages[name] = found
        return self._messages[name]

    def _received(
        self, spot: Spot, reception: _Reception, receptions: list[_Reception]
    ) -> list[Step]:
        number, name = reception.wanted
        arrived = compared(">=", Linear(((name, 1),)), Linear((), 1))
        label = self.role.handlers[number].label
        found: list[Step] = []
        for path in reception.paths:
            path = replace(path, guard=both(arrived, path.guard))
            found += self._moved(spot, path, label, number, reception.wanted, receptions)
        return found

    def _tight(self, spot: Spot, reception: _Reception, all_: list[_Reception]) -> int:
        """2: no such message is gone here without its handler having done something; 1: some may
        be, but then the last one does; 0: any may be gone."""
        rivals = [r for r in all_ if r.message == reception.message and r is not reception]
        if any(rival.paths for rival in rivals):
            return 0
        loops = [path for path in reception.paths if self._stays(spot, path)]
        if not loops and reception.guard == TRUE:
            return 2
        if any(path.chosen for path in reception.paths):
            return 0
        mine = Count(reception.message.message, reception.message.fields).name
        own = {n for n in self.settings.scale.counts if n.split(" from ")[0] == mine}
        moves = [path.guard for path in reception.paths if path not in loops]
        if self.again:
            return 1 if all(rises(guard) for guard in moves) else 0
        return 1 if all(rises(g) and receipts_in(g) <= own for g in moves) else 0

    def _live(self, spot: Spot, reception: _Reception) -> bool:
        return any(not self._stays(spot, path) for path in reception.paths)

    def _stays(self, spot: Spot, path: Path) -> bool:
        """Whether nothing is different behind ``path``."""
        if any(isinstance(e, Telling) and self._kept(e) for e in path.effects):
            return False
        sends = {e.made for e in path.effects if isinstance(e, Sending)}
        own = spot.own - {e.made for e in path.effects if isinstance(e, Sending) and e.to_self}
        same = tuple(path.values[name] for name in self.states) == spot.values
        return same and sends <= spot.sent and own == spot.own

    def _kept(self, telling: Telling) -> bool:
        return (telling.kind, telling.op) in self.histories

    # ---- from spot to spot --------------------------------------------------------------------

    def _moved(
        self,
        spot: Spot,
        path: Path,
        label: str,
        number: int,
        wanted: Wanted | None,
        receptions: list[_Reception],
    ) -> list[Step]:
        """The steps that ``path`` is, none where it changes nothing."""
        request = any(isinstance(e, Telling) and e.kind == "request" for e in path.effects)
        path = replace(path, guard=self._left(spot, path.guard))
        if path.guard == FALSE or (not request and self._stays(spot, path)):
            return []
        soiled = set(spot.soiled)
        for reception in receptions:
            if reception.wanted == wanted or self._tight(spot, reception, receptions) < 2:
                soiled.add(reception.wanted)
        here = {r.wanted for r in receptions}
        soiled |= self._all_wanted() - here
        spot = replace(spot, soiled=frozenset() if self.again else frozenset(soiled))
        return self._taken(spot, path, label, number, wanted)

    def _left(self, spot: Spot, guard: Condition) -> Condition:
        """What is left of ``guard`` by what is known: what has been received, and that a process
        with a name has not received from itself what it has not sent."""
        process = self.group(spot).process
        if process is not None:
            counts = self.settings.scale.counts
            mine = {name for name, count in counts.items() if count.sender == process}
            heard = {
                name
                for name in mine
                for made in spot.sent - spot.own
                if counts[name].message == made.message and fits(counts[name].patterns, made.fields)
            }
            guard = without(guard, frozenset(mine - heard))
        return given(guard, spot.known)

    def _all_wanted(self) -> set[Wanted]:
        """All messages with their handlers."""
        if self._wanted is not None:
            return self._wanted
        found: set[Wanted] = set()
        for number, handler in enumerate(self.role.handlers):
            event = handler.event
            if isinstance(event, typed.OnReceive):
                for made in self.messages(event.message):
                    for sender in senders(handler, event, self.settings.scale):
                        found.add((number, Count(made.message, made.fields, sender).name))
        self._wanted = found
        return found

    def _taken(
        self,
        spot: Spot,
        path: Path,
        label: str,
        number: int = -1,
        wanted: Wanted | None = None,
    ) -> list[Step]:
        values = tuple(path.values[name] for name in self.states) if path.values else spot.values
        attempts = frozenset(e.made for e in path.effects if isinstance(e, Sending))
        found: list[Step] = []
        for cut, effects in self._cuts(self.group(spot), path.effects, not path.values):
            sent, own = _sent(spot, effects)
            target = replace(
                spot,
                values=values,
                told=self._heard(spot.told, effects),
                sent=sent,
                own=own,
                known=spot.known | lasting(path.guard),
                resting=False,
                crashed=cut,
                pending=(),
            )
            fresh = tuple(dict.fromkeys(e.made for e in effects if isinstance(e, Sending)))
            sends = tuple(made for made in fresh if made not in spot.sent)
            said = tuple(
                f"{e.op}{_written(e.entry)}"
                for e in effects
                if isinstance(e, Telling) and e.kind == "indication"
            )
            told = f"{label} (crashes inside)" if cut else label
            for each in [target] if cut else self._forked(target):
                found.append(Step(each, path.guard, sends, attempts, told, number, wanted, said))
        return found

    def _cuts(
        self, group: Group, effects: tuple[Effect, ...], begun: bool
    ) -> Iterator[tuple[bool, tuple[Effect, ...]]]:
        """The effects, and (of a process that crashes) what of them it lives to do."""
        yield False, effects
        if group.mode is not Mode.CRASHING or not self.interrupted:
            return
        for position, effect in enumerate(effects):
            if isinstance(effect, Telling) and (position or not begun):
                yield True, effects[:position]

    def _heard(
        self, told: tuple[tuple[object, ...], ...], effects: tuple[Effect, ...]
    ) -> tuple[tuple[object, ...], ...]:
        histories = list(told)
        for effect in effects:
            if isinstance(effect, Telling) and self._kept(effect):
                number = self.histories.index((effect.kind, effect.op))
                histories[number] = (*histories[number], effect.entry)
        return tuple(histories)

    def _forked(self, spot: Spot) -> Iterator[Spot]:
        """``spot``, and what it is where messages that may have been missed were."""
        if spot.pending or spot.crashed:
            yield spot
            return
        receptions = self._receptions(spot)
        risky = [
            r.wanted
            for r in receptions
            if self._live(spot, r)
            and r.wanted not in spot.missed
            and (r.wanted in spot.soiled or self._tight(spot, r, receptions) == 0)
        ]
        for size in range(len(risky) + 1):
            for gone in itertools.combinations(risky, size):
                yield replace(spot, missed=spot.missed | frozenset(gone))


def _sent(spot: Spot, effects: tuple[Effect, ...]) -> tuple[frozenset[Made], frozenset[Made]]:
    """What has been sent behind ``effects``, and what of it never to itself."""
    sent, own = set(spot.sent), set(spot.own)
    for effect in effects:
        if isinstance(effect, Sending):
            if effect.to_self:
                own.discard(effect.made)
            elif effect.made not in sent:
                own.add(effect.made)
            sent.add(effect.made)
    return frozenset(sent), frozenset(own)


def _written(entry: object) -> str:
    if isinstance(entry, tuple) and len(entry) != 1:
        return shown(entry)
    return f"({shown(entry)})"
