"""What processes look like in a finite system and in its threshold automaton, in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.instantiate.assemble import instantiate
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.model.types import AtomT, MapT, OptionT, SeqT, SetT, TupleT, Type
from checker.parametric.automaton.automaton import Automaton, Mode
from checker.parametric.extract.extract import extract
from checker.properties.formula import ask
from tests.parametric.by_search import Search

Member = tuple[str, str, tuple[tuple[str, object], ...]]
"""The name of a process (empty: it has none), whether it is correct, and what is seen of it."""

Crowd = tuple[Member, ...]
"""All processes that follow their protocol, sorted; the others are Byzantine."""


def _plain(type_: Type, value: object) -> object:
    match type_:
        case AtomT(labels=labels, first=first):
            assert isinstance(value, int)
            return labels[value - first]
        case OptionT(item):
            return None if value is None else (_plain(item, value[0]),)  # type: ignore[index]
        case TupleT(items):
            assert isinstance(value, tuple)
            return tuple(_plain(t, v) for t, v in zip(items, value, strict=True))
        case SetT(item):
            assert isinstance(value, frozenset)
            return _as_set(_plain(item, v) for v in value)
        case SeqT(item):
            assert isinstance(value, tuple)
            return _as_set(_plain(item, v) for v in value)
        case _:
            return value


def _crowd(members: Iterable[Member]) -> Crowd:
    return tuple(sorted(members, key=repr))


def _as_set(values: Iterable[object]) -> tuple[object, ...]:
    return tuple(sorted(set(values), key=repr))


class TooLarge(Exception):
    """There are more states than are to be explored."""


class Finite:
    """The finite system of ``check`` at ``settings``; raises :class:`TooLarge` where it has more
    than ``most`` states."""

    def __init__(
        self,
        check: typed.Check,
        settings: Mapping[str, str],
        named: tuple[str, ...],
        most: int = 1_000_000,
    ) -> None:
        self.named, self.most = named, most
        capacities: dict[str, int] = {}
        while True:
            made = instantiate(check, settings, ask, capacities=capacities)
            self.system: TransitionSystem = made.system
            grows = self._explored()
            if grows is None:
                break
            capacities = {**made.capacities, grows: 2 * made.capacities[grows]}
        self.titles = {v.title or v.name: n for n, v in enumerate(self.system.variables)}
        for number, variable in enumerate(self.system.variables):
            self.titles[variable.name] = number

    def crowds(self, names: frozenset[str], histories: Mapping[str, str]) -> set[Crowd]:
        """What can be reached, where it is not told apart who crashes later."""
        return {
            _crowd((name, "", seen) for name, _, seen in self._crowd(s, names, histories))
            for s in self.states
        }

    def ends(self, names: frozenset[str], histories: Mapping[str, str]) -> set[Crowd]:
        """What can be so forever."""
        return {
            _crowd(self._crowd(state, names, histories))
            for state in self.states
            if interpreter.is_admissible_end(self.system, state)
        }

    def _explored(self) -> str | None:
        """Explores all states; the name of a capacity that is too small for that."""
        todo = list(interpreter.initial_states(self.system))
        self.states = set(todo)
        while todo:
            for transition in interpreter.successors(self.system, todo.pop()):
                if transition.fault is not None:
                    assert transition.fault.grows is not None
                    return transition.fault.grows
                assert transition.successor is not None
                if transition.successor not in self.states:
                    self.states.add(transition.successor)
                    if len(self.states) > self.most:
                        raise TooLarge
                    todo.append(transition.successor)
        return None

    def _crowd(
        self, state: interpreter.State, names: frozenset[str], histories: Mapping[str, str]
    ) -> Iterator[Member]:
        system = self.system
        byzantine = self._set(state, "@byzantine")
        crashed = self._set(state, "@crashed")
        for process, label in enumerate(system.processes):
            if process in byzantine:
                continue
            mode = "crashing" if process in crashed else "correct"
            seen = []
            for name in sorted(names):
                number = self.titles[histories.get(name, name)]
                type_ = system.variables[number].type
                assert isinstance(type_, MapT)
                value = state[number][process]  # type: ignore[index]
                seen.append((name, _plain(type_.value, value)))
            yield label if label in self.named else "", mode, tuple(seen)

    def _set(self, state: interpreter.State, name: str) -> frozenset[int]:
        value = state[self.titles[name]] if name in self.titles else frozenset()
        assert isinstance(value, frozenset)
        return value


class Abstract:
    """The automaton of ``check`` at ``numbers``."""

    def __init__(self, check: typed.Check, numbers: Mapping[str, int]) -> None:
        self.automaton: Automaton = extract(check)
        self.search = Search(self.automaton, numbers, most=max(numbers.values()))
        self.named = tuple({g.process for g in self.automaton.groups if g.process is not None})

    def both(self, names: frozenset[str]) -> tuple[set[Crowd], set[Crowd]]:
        """What can be reached, and what can be so forever."""
        reached: set[Crowd] = set()
        ends: set[Crowd] = set()
        for world in self.search.worlds():
            for found in self.search.reached(world):
                crowd = _crowd(self._crowd(found[0], names))
                reached.add(_crowd((name, "", seen) for name, _, seen in crowd))
                if self.search.rests(world, found):
                    ends.add(crowd)
        return reached, ends

    def _crowd(self, where: tuple[int, ...], names: frozenset[str]) -> Iterator[Member]:
        for number, location in zip(where, self.automaton.locations, strict=True):
            group = self.automaton.groups[location.group]
            mode = "correct" if group.mode is Mode.CORRECT else "crashing"
            values = dict(location.values)
            seen = []
            for name in sorted(names):
                value = values[name]
                if name in ("delivered", "decided", "broadcast", "proposed"):
                    assert isinstance(value, tuple)
                    value = _as_set(value)
                seen.append((name, value))
            for _ in range(number):
                yield group.process or "", mode, tuple(seen)
