"""Steps of a process: its handlers as steps from one local state to another.

A condition whose handler changes nothing can be taken infinitely often: then the process need not
take any other condition (``resting``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import FALSE, TRUE
from checker.parametric.automaton.automaton import Condition, Group, Linear, Mode
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.parametric.extract.local_states import (
    ExtractionContext,
    History,
    LocalState,
    Step,
    Wanted,
    sent_after,
)
from checker.parametric.extract.numbers import both, comparison, lasting, simplify_under, without
from checker.parametric.extract.operations import fits
from checker.parametric.extract.paths import (
    Effect,
    Entering,
    Path,
    Sending,
    Telling,
    begin_path,
    handler_guard,
)
from checker.parametric.extract.receptions import Reception, Receptions
from checker.parametric.extract.start import initial_values
from checker.parametric.extract.values import OTHERS, Scene, members, value_text
from checker.parametric.extract.world import Settings, taking
from checker.records import replace


class Steps(ExtractionContext):
    """The steps of all processes of a check; what leaves the fragment is added to ``found``.

    ``sees_crashes``: a property reads which processes have crashed.
    """

    def __init__(
        self,
        settings: Settings,
        histories: tuple[History, ...],
        sees_crashes: bool,
        found: FragmentErrors,
    ) -> None:
        super().__init__(settings, histories, found)
        self.sees_crashes = sees_crashes
        self.receptions = Receptions(self)
        self.interrupted = settings.check.crash_points == "inside"
        self._open: dict[tuple[int, tuple[object, ...]], list[tuple[int, Path]]] = {}

    # ---- the start ----------------------------------------------------------------------------

    def initial(self) -> Iterator[dict[str, object]]:
        """Yields the initial values of the variables of some process."""
        try:
            yield from initial_values(
                self.role, Scene(self.settings.scale, self.settings.who(self.settings.groups[0]))
            )
        except Leaves as leaves:
            self.found.add(leaves)

    def starts(self) -> Iterator[LocalState]:
        """Yields the local states in which processes of each group begin."""
        for number, group in enumerate(self.settings.groups):
            try:
                yield from self._starts(number, group)
            except Leaves as leaves:
                self.found.add(leaves)

    def _starts(self, number: int, group: Group) -> Iterator[LocalState]:
        scale, who = self.settings.scale, self.settings.who(group)
        for values in initial_values(self.role, Scene(scale, who)):
            spot = LocalState(
                number, tuple(values[n] for n in self.states), ((),) * len(self.histories)
            )
            open_ = [Path(TRUE, dict(values), {})]
            for handler in self.role.handlers:
                if isinstance(handler.event, typed.OnInit):
                    open_ = [
                        found
                        for path in open_
                        for found in self._initial_paths(handler, path, group)
                    ]
            for path in open_:
                for cut, effects, left in self._cuts(group, path, dict(values), True):
                    told = self.extend_histories(spot.told, effects)
                    after = tuple(left[name] for name in self.states)
                    sends = tuple(e for e in effects if isinstance(e, Sending))
                    begun = replace(spot, values=after, told=told, pending=sends, crashed=cut)
                    yield from self.receptions.fork(begun)

    def _initial_paths(self, handler: typed.Handler, path: Path, group: Group) -> Iterator[Path]:
        walker = self.walker(group)
        guard, possible = handler_guard(handler, None, walker.scene(path))
        if not possible:
            yield path
            return
        for after in walker.paths(handler.body, path.where(guard)):
            yield replace(after, names={})

    # ---- one local state ----------------------------------------------------------------------

    def steps(self, spot: LocalState) -> list[Step]:
        """Returns the steps of a process in ``spot``."""
        if spot.ahead:
            return []
        if spot.pending:
            return [
                step
                for step in self._step_variants(spot, Path(TRUE, {}, {}, spot.pending), "upon init")
            ]
        if spot.crashed:
            return []
        found: list[Step] = []
        receptions = self.receptions.at(spot)
        for reception in receptions:
            if reception.wanted not in spot.missed:
                found += self._reception_steps(spot, reception, receptions)
        found += self._request_steps(spot, receptions)
        if not spot.resting:
            found += self._conditions(spot, receptions)
        if self.sees_crashes and self.group(spot).mode is Mode.CRASHING:
            gone = replace(spot, crashed=True, own=frozenset(), soiled=frozenset())
            found.append(Step(gone, TRUE, (), frozenset(), "crash"))
        return found

    def _conditions(self, spot: LocalState, receptions: list[Reception]) -> list[Step]:
        moving: list[Step] = []
        idle: list[Condition] = []
        for number, path in self._open_paths(spot):
            label = self.role.handlers[number].label
            steps = self._steps_of_path(spot, path, label, number, None, receptions)
            is_fair = self.role.handlers[number].is_fair
            moving += [replace(step, is_fair=is_fair) for step in steps]
            if not steps and is_fair:
                idle.append(path.guard)
        if moving:
            for guard in idle:
                rest = replace(spot, resting=True, known=spot.known | lasting(guard))
                moving.append(Step(rest, guard, (), frozenset(), "goes on doing nothing"))
        return moving

    def _open_paths(self, spot: LocalState) -> list[tuple[int, Path]]:
        """Returns the paths of conditions, with the numbers of their handlers."""
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
        self, spot: LocalState, handler: typed.Handler, event: typed.OnCondition
    ) -> Iterator[Path]:
        scene = self.scene(spot)
        domains = [members(type_, scene, handler.span) for _, type_ in event.free]
        for values in itertools.product(*domains):
            names = {n: v for (n, _), v in zip(event.free, values, strict=True)}
            inner = scene.bound(names)
            guard, possible = handler_guard(handler, event.condition, inner)
            if possible:
                walker = self.walker(self.group(spot))
                yield from walker.paths(handler.body, begin_path(inner, guard))

    def _request_steps(self, spot: LocalState, receptions: list[Reception]) -> list[Step]:
        requests = self.settings.requests[self.group(spot).process or OTHERS]
        if spot.turn >= len(requests):
            return []
        asked = requests[spot.turn]
        entry = asked.args[0] if len(asked.args) == 1 else asked.args
        found: list[Step] = []
        try:
            for handler, scene, fits in taking(self.role, asked, self.scene(spot)):
                guard, possible = handler_guard(handler, None, scene)
                if not possible:
                    continue
                start = begin_path(scene, both(fits, guard)).does(
                    Telling("request", asked.op, entry)
                )
                number = self.role.handlers.index(handler)
                after = replace(spot, turn=spot.turn + 1)
                for path in self.walker(self.group(spot)).paths(handler.body, start):
                    found += self._steps_of_path(
                        after, path, handler.label, number, None, receptions
                    )
        except Leaves as leaves:
            self.found.add(leaves)
        return found

    # ---- messages -----------------------------------------------------------------------------

    def _reception_steps(
        self, spot: LocalState, reception: Reception, receptions: list[Reception]
    ) -> list[Step]:
        number, name = reception.wanted
        arrived = comparison(">=", Linear(((name, 1),)), Linear((), 1))
        label = self.role.handlers[number].label
        found: list[Step] = []
        for path in reception.paths:
            path = replace(path, guard=both(arrived, path.guard))
            found += self._steps_of_path(spot, path, label, number, reception.wanted, receptions)
        return found

    # ---- between local states -----------------------------------------------------------------

    def _steps_of_path(
        self,
        spot: LocalState,
        path: Path,
        label: str,
        number: int,
        wanted: Wanted | None,
        receptions: list[Reception],
    ) -> list[Step]:
        """Returns the steps of ``path``, none where it changes nothing."""
        request = any(isinstance(e, Telling) and e.kind == "request" for e in path.effects)
        path = replace(path, guard=self._simplify_guard(spot, path.guard))
        if path.guard == FALSE or (not request and self.stays(spot, path)):
            return []
        soiled = set(spot.soiled)
        for reception in receptions:
            if reception.wanted == wanted or self.receptions.tight(spot, reception, receptions) < 2:
                soiled.add(reception.wanted)
        here = {r.wanted for r in receptions}
        soiled |= self.receptions.wanted_messages() - here
        spot = replace(spot, soiled=frozenset() if self.receptions.again else frozenset(soiled))
        return self._step_variants(spot, path, label, number, wanted)

    def _simplify_guard(self, spot: LocalState, guard: Condition) -> Condition:
        """Returns what is left of ``guard`` by what is known: what has been received, and that a
        process with a name has not received from itself what it has not sent."""
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
        return simplify_under(guard, spot.known)

    def _step_variants(
        self,
        spot: LocalState,
        path: Path,
        label: str,
        number: int = -1,
        wanted: Wanted | None = None,
    ) -> list[Step]:
        before = dict(zip(self.states, spot.values, strict=True))
        found: list[Step] = []
        for cut, effects, left in self._cuts(self.group(spot), path, before, not path.values):
            here, later = _split(effects)
            values = tuple(left[name] for name in self.states)
            sent, own = sent_after(spot, here)
            target = replace(
                spot,
                values=values,
                told=self.extend_histories(spot.told, effects),
                sent=sent,
                own=own,
                known=spot.known | lasting(path.guard),
                resting=False,
                crashed=cut or spot.crashed,
                pending=tuple(e for e in later if isinstance(e, Sending)),
                ahead=bool(later),
            )
            fresh = tuple(dict.fromkeys(e.made for e in here if isinstance(e, Sending)))
            sends = tuple(made for made in fresh if made not in spot.sent)
            said = tuple(
                f"{e.op}{_entry_text(e.entry)}"
                for e in effects
                if isinstance(e, Telling) and e.kind == "indication"
            )
            told = f"{label} (crashes inside)" if cut else label
            attempts = frozenset(e.made for e in _split(path.effects)[0] if isinstance(e, Sending))
            for each in [target] if cut or later else self.receptions.fork(target):
                found.append(Step(each, path.guard, sends, attempts, told, number, wanted, said))
        return found

    def _cuts(
        self, group: Group, path: Path, before: dict[str, object], begun: bool
    ) -> Iterator[tuple[bool, tuple[Effect, ...], dict[str, object]]]:
        """Yields the effects, with the final values; and (of a process that crashes) the effects
        before the crash, with the values that it has assigned by then.

        ``before``: the values before the handler; ``begun``: that it has begun changes nothing.
        What is sent may never be received, so a crash before it is left out.
        """
        last = path.values or before
        yield False, path.effects, last
        if group.mode is not Mode.CRASHING or not self.interrupted:
            return
        for position, effect in enumerate(path.effects):
            if isinstance(effect, Entering):
                continue
            here = path.at[position] if path.at else before
            changed = any(here[name] != before[name] for name in self.states)
            if isinstance(effect, Telling) and (position or changed or not begun):
                yield True, path.effects[:position], here
            if any(here[name] != last[name] for name in self.states):
                yield True, path.effects[: position + 1], here


def _split(effects: tuple[Effect, ...]) -> tuple[tuple[Effect, ...], tuple[Effect, ...]]:
    """Returns the effects in this round, and those from where the next one is entered."""
    at = next((at for at, e in enumerate(effects) if isinstance(e, Entering)), len(effects))
    return effects[:at], effects[at:]


def _entry_text(entry: object) -> str:
    if isinstance(entry, tuple) and len(entry) != 1:
        return value_text(entry)
    return f"({value_text(entry)})"
