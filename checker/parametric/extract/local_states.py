"""Local states of a process, with everything on which its future can depend, and single steps."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.parametric.automaton.automaton import Condition, Group
from checker.parametric.automaton.fragment import FragmentErrors
from checker.parametric.extract.paths import Effect, Path, Sending, Telling, Walker
from checker.parametric.extract.values import Made, Scene
from checker.parametric.extract.world import Settings
from checker.records import replace

Wanted = tuple[int, str]
"""A handler, by its number, and the name of the count for which it waits."""

History = tuple[str, str]
"""``request`` or ``indication``, and the operator."""


class LocalState(Struct, frozen=True):
    """A local state of a process.

    ``values``: of the variables, ``told``: of the histories, in order; ``turn``: requests that were
    made; ``sent``: messages, ``own``: those of them never sent to itself; ``known``: conditions
    that stay true forever; ``soiled``: what may have been received without being taken;
    ``pending``: what is still to be sent at the start, of the execution or of a round; ``ahead``:
    that is the next round, and this one is over for the process; ``variant``: distinguishes local
    states that record the same and have different futures.
    """

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
    ahead: bool = False
    variant: int = 0

    def in_next_round(self) -> LocalState:
        """Returns the local state of a process that is ahead when its round begins: nothing of that
        has been sent or received."""
        none: frozenset[Any] = frozenset()
        return replace(self, ahead=False, sent=none, own=none, known=none, soiled=none, missed=none)


class Step(Struct, frozen=True):
    """A step to another local state.

    ``sends``: for the first time; ``attempts``: all that the handler sends; ``wanted``: the message
    that it takes; ``handler``: its number, or -1; ``is_fair``: see :class:`Rule`.
    """

    target: LocalState
    guard: Condition
    sends: tuple[Made, ...]
    attempts: frozenset[Made]
    label: str
    handler: int = -1
    wanted: Wanted | None = None
    indications: tuple[str, ...] = ()
    is_fair: bool = True


class ExtractionContext:
    """The context of all local states: variables, histories, and their owners."""

    def __init__(
        self, settings: Settings, histories: tuple[History, ...], found: FragmentErrors
    ) -> None:
        self.settings, self.histories, self.found = settings, histories, found
        self.role = settings.check.protocol.roles[0]
        self.states = tuple(decl.name for decl in self.role.states)
        self.types = {decl.name: decl.type for decl in self.role.states}
        protocol = settings.check.protocol
        told = protocol.implements.indications if protocol.implements else ()
        self.messages = {m.name: tuple(t for _, t in m.fields) for m in protocol.messages}
        self.indications = {o.name: tuple(t for _, t in o.fields) for o in told}
        self.counts_all = _counts_all(settings.check)

    def group(self, spot: LocalState) -> Group:
        return self.settings.groups[spot.group]

    def walker(self, group: Group) -> Walker:
        keeps = frozenset(op for kind, op in self.histories if kind == "indication")
        who, scale = self.settings.who(group), self.settings.scale
        return Walker(scale, who, self.types, self.messages, self.indications, keeps)

    def scene(self, spot: LocalState) -> Scene:
        who = self.settings.who(self.group(spot))
        values = dict(zip(self.states, spot.values, strict=True))
        return Scene(self.settings.scale, who, values)

    def stays(self, spot: LocalState, path: Path) -> bool:
        """Returns whether ``path`` leaves the local state as it is."""
        if self.extend_histories(spot.told, path.effects) != spot.told:
            return False
        if path.enters:
            return False
        sends = {e.made for e in path.effects if isinstance(e, Sending)}
        own = spot.own - {e.made for e in path.effects if isinstance(e, Sending) and e.to_self}
        same = tuple(path.values[name] for name in self.states) == spot.values
        return same and sends <= spot.sent and own == spot.own

    def is_tracked(self, telling: Telling) -> bool:
        return (telling.kind, telling.op) in self.histories

    def extend_histories(
        self, told: tuple[tuple[object, ...], ...], effects: tuple[Effect, ...]
    ) -> tuple[tuple[object, ...], ...]:
        histories = list(told)
        for effect in effects:
            if isinstance(effect, Telling) and self.is_tracked(effect):
                number = self.histories.index((effect.kind, effect.op))
                if self.counts_all or histories[number].count(effect.entry) < 2:
                    histories[number] = (*histories[number], effect.entry)
        return tuple(histories)


def _counts_all(check: typed.Check) -> bool:
    """Returns whether a property depends on how often something is in a history: otherwise two
    entries suffice to distinguish one from several, and what came first from what came later."""
    for node in nodes(tuple(p.formula for p in check.prove)):
        if isinstance(node, typed.Operation) and node.op not in ("in", "not in"):
            if any(isinstance(arg, typed.History) for arg in node.args):
                return True
    return False


def sent_after(
    spot: LocalState, effects: tuple[Effect, ...]
) -> tuple[frozenset[Made], frozenset[Made]]:
    """Returns what has been sent after ``effects``, and what of it never to itself."""
    sent, own = set(spot.sent), set(spot.own)
    for effect in effects:
        if isinstance(effect, Sending):
            if effect.to_self:
                own.discard(effect.made)
            elif effect.made not in sent:
                own.add(effect.made)
            sent.add(effect.made)
    return frozenset(sent), frozenset(own)
