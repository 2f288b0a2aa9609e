"""Messages with a handler of their own (``upon receive``).

They are taken when they arrive, and are dropped where no handler takes them.  So what has been
received may have been missed: where that is possible the path forks, and one branch never takes
that message (``missed``).  That over-approximates what can happen, and is exact where a handler
takes its message wherever it arrives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from msgspec import Struct

from checker.language.link_kinds import Delivery
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import FALSE, TRUE
from checker.parametric.automaton.automaton import Condition
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.binders import match_pattern, match_patterns
from checker.parametric.extract.local_states import ExtractionContext, LocalState, Wanted
from checker.parametric.extract.numbers import both, receipts_in, rises
from checker.parametric.extract.paths import Path, begin_path, handler_guard
from checker.parametric.extract.start import senders
from checker.parametric.extract.values import PEER, Count, Made, Scene, Who, condition, members
from checker.records import replace


class Reception(Struct, frozen=True):
    """The reaction of one handler to one message in a local state: it takes it where ``guard``
    holds."""

    wanted: Wanted
    message: Made
    paths: tuple[Path, ...]
    guard: Condition


class Receptions:
    """Messages with a handler of their own: what takes them, and whether they may be missed."""

    def __init__(self, ground: ExtractionContext) -> None:
        self.ground, self.settings = ground, ground.settings
        faulty = self.settings.faulty
        nobody = not faulty.terms and faulty.constant == 0
        # Stubborn links need not deliver messages of a faulty process again.
        self.again = nobody and any(
            kind.delivery is Delivery.STUBBORN for kind in ground.settings.check.links
        )
        self._messages: dict[str, tuple[Made, ...]] = {}
        self._wanted: set[Wanted] | None = None
        self._at: dict[tuple[int, tuple[object, ...]], list[Reception]] = {}

    def at(self, spot: LocalState) -> list[Reception]:
        key = (spot.group, spot.values)
        if key not in self._at:
            found = self._at[key] = []
            for number, handler in enumerate(self.ground.role.handlers):
                if isinstance(handler.event, typed.OnReceive):
                    try:
                        found += self._of_handler(spot, number, handler, handler.event)
                    except Leaves as leaves:
                        self.ground.found.add(leaves)
        return self._at[key]

    def _of_handler(
        self, spot: LocalState, number: int, handler: typed.Handler, event: typed.OnReceive
    ) -> Iterator[Reception]:
        scene = self.ground.scene(spot)
        walker = self.ground.walker(self.ground.group(spot))
        for made in self.messages(event.message):
            fields = match_patterns(event.patterns, made.fields, scene)
            if fields is None:
                continue
            for sender in senders(handler, event, self.settings.scale):
                inner = scene.bound(fields[1])
                also: object = True
                if sender is not None:
                    one = match_pattern(event.sender, Who(sender) if sender else PEER, inner)
                    if one is None:
                        continue
                    also, inner = one[0], inner.bound(one[1])
                guard, possible = handler_guard(handler, None, inner)
                guard = both(condition(fields[0]), condition(also), guard)
                if not possible or guard == FALSE:
                    continue
                paths = tuple(walker.paths(handler.body, begin_path(inner, guard)))
                name = self.settings.scale.count_term(Count(made.message, made.fields, sender))
                yield Reception((number, name.terms[0][0]), made, paths, guard)

    def messages(self, name: str) -> tuple[Made, ...]:
        """Returns all possible messages of a name."""
        if name not in self._messages:
            decl = next(d for d in self.settings.check.protocol.messages if d.name == name)
            scene = Scene(self.settings.scale)
            self._messages[name] = ()
            fields = [members(type_, scene, decl.span) for _, type_ in decl.fields]
            found = tuple(Made(name, values) for values in itertools.product(*fields))
            self._messages[name] = found
        return self._messages[name]

    def tight(self, spot: LocalState, reception: Reception, all_: list[Reception]) -> int:
        """Returns 2 where no such message is dropped here without its handler having done
        something; 1 where some may be, but then the last one has an effect; 0 where any may be
        dropped."""
        rivals = [r for r in all_ if r.message == reception.message and r is not reception]
        if any(rival.paths for rival in rivals):
            return 0
        loops = [path for path in reception.paths if self.ground.stays(spot, path)]
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

    def _live(self, spot: LocalState, reception: Reception) -> bool:
        return any(not self.ground.stays(spot, path) for path in reception.paths)

    def wanted_messages(self) -> set[Wanted]:
        """Returns all messages with their handlers."""
        if self._wanted is not None:
            return self._wanted
        found: set[Wanted] = set()
        for number, handler in enumerate(self.ground.role.handlers):
            event = handler.event
            if isinstance(event, typed.OnReceive):
                for made in self.messages(event.message):
                    for sender in senders(handler, event, self.settings.scale):
                        found.add((number, Count(made.message, made.fields, sender).name))
        self._wanted = found
        return found

    def fork(self, spot: LocalState) -> Iterator[LocalState]:
        """Yields ``spot``, and its variants in which messages that may have been missed were
        missed."""
        if spot.pending or spot.crashed:
            yield spot
            return
        receptions = self.at(spot)
        risky = [
            r.wanted
            for r in receptions
            if self._live(spot, r)
            and r.wanted not in spot.missed
            and (r.wanted in spot.soiled or self.tight(spot, r, receptions) == 0)
        ]
        for size in range(len(risky) + 1):
            for gone in itertools.combinations(risky, size):
                yield replace(spot, missed=spot.missed | frozenset(gone))
