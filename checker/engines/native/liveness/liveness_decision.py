"""Decides liveness: finds the properties that some fair execution violates, and such an execution
for each.

The cheap part comes first: the search itself finds bad ends of persistence properties.  A system
whose steps all lead to the next level has no cycles.  Otherwise the graph of its steps is kept, and
reduced to its *core*: the states of fair components.  Every fair execution eventually stays there,
so that most properties are decided by checking a few states or none.

An automaton that is not of a persistence property is followed through the whole graph, from the
initial states to ends or cycles.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct, field

from checker.engines import budgets
from checker.engines.native.codegen.letters import MAX_JUSTICE
from checker.engines.native.liveness.automaton_tables import AutomatonTable
from checker.engines.native.liveness.buchi_product import PropertyAutomaton
from checker.engines.native.liveness.cycle_detection import has_cycle
from checker.engines.native.liveness.graph import Numbers, build_graph
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.lasso import shortest
from checker.engines.native.liveness.unfolding import part_of, some_run_is_fair
from checker.engines.native.search.explored import Explored, GraphStates, Undecided
from checker.engines.native.search.memory import MemoryBudget
from checker.engines.native.search.states import Core, States, core_of
from checker.engines.native.search.store import Store
from checker.engines.search_engine import Cyclic
from checker.model import interpreter
from checker.model.ir import Automaton, Given, Property, PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.properties.persistence import needs_automaton, persistence
from checker.results.answer import Path, State, stop_reason, without_run

Numbered = tuple[int, Property]
"""A property and its number."""


class Verdicts(Struct):
    """The verdicts on liveness; the fields are those of ``Answer``.

    ``unfolded``: for properties whose violation was found without symmetry, what makes an execution
    of the system of it; ``part``: the number of states in which that was looked for.
    """

    violations: dict[str, Path] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    unmet: set[str] = field(default_factory=set)
    fair: bool | None = None
    edges: int = 0
    bytes_per_edge: float = 0.0
    seconds: float = 0.0
    unfolded: dict[str, Callable[[str, Path], Path]] = field(default_factory=dict)
    part: int = 0


def decide(search: Explored) -> Verdicts:
    """The verdicts on the ``LIVENESS`` properties of a finished search.

    Where it is not exhaustive only bad ends that it met are reported.  Raises
    :class:`checker.engines.native.search.states.Unevaluable` where a property can't be evaluated.
    """
    started, found = time.monotonic(), verdicts_of_ends(search)
    properties = search.system.properties
    if search.exhaustive and any(p.kind is PropertyKind.LIVENESS for p in properties):
        left = open_ones(search)
        _Decision(search, found, [(i, p) for i, p in enumerate(properties) if p in left]).run()
    found.seconds = time.monotonic() - started
    return found


def open_ones(search: Explored) -> list[Property]:
    """The ``LIVENESS`` properties that no bad end violates."""
    left = search.system.open_properties(search.found.violating)
    return [prop for prop in left if prop.kind is PropertyKind.LIVENESS]


def verdicts_of_ends(search: Explored) -> Verdicts:
    """The verdicts on the ``LIVENESS`` properties that are violated by bad ends of the search."""
    found = Verdicts()
    for prop in search.system.properties:
        if prop.kind is PropertyKind.LIVENESS and prop.name in search.found.violating:
            try:
                with budgets.raising_when_exhausted(late=True):
                    found.violations[prop.name] = _bad_end(search, prop)
            except KeyboardInterrupt as error:
                found.undecided[prop.name] = without_run(error)
    return found


def _bad_end(search: Explored, prop: Property) -> Path:
    """The execution to a bad end that the search has found, for the first assignment that it
    fits.
    """
    path = search.path_to(*search.found.violating[prop.name])
    values = bad_for(search.system, prop, path.states[-1])
    return Path(path.states, loop=len(path.states) - 1, values=values)


def bad_for(system: TransitionSystem, prop: Property, state: State) -> tuple[Value, ...]:
    """The first assignment of a persistence property's parameters for which ``state`` is bad."""
    condition = persistence(prop)
    assert condition is not None, "the search looks at the ends of steady properties only"
    for values in interpreter.assignments(prop.params):
        names = dict(zip((p.name for p in prop.params), values, strict=True))
        if interpreter.holds(system, condition, state, names):
            return values
    raise AssertionError("native code has found an assignment")


class _Decision:
    """The properties ``left`` after the search, and the data for deciding them."""

    def __init__(self, search: Explored, found: Verdicts, left: list[Numbered]) -> None:
        self.search, self.found, self.left = search, found, left
        self.justice = len(search.system.justice)
        self.ends = search.found.ends
        self.by_ends = frozenset(found.violations)
        self.core: Core | None = None
        self.store: Store | None = None

    def run(self) -> None:
        """Fills in the verdicts.

        Only properties with an automaton need the whole graph; where that is too large, the states
        that may lie on cycles may still suffice for the others.
        """
        with MemoryBudget(self.search.limits.memory, self._bytes_of_states).enforced():
            error = budgets.ended(self._run)
        if error is not None:
            self._give_up([each for each in self.left if self._open(each)], error)
            self.found.fair = True if self.ends else None

    def _bytes_of_states(self) -> int:
        return 0 if self.store is None else self.store.used_bytes

    def _run(self) -> None:
        search = self.search
        if search.kernel.image.reductions.acyclic and search.found.maybe_cyclic:
            if search.unfolds:
                self._unfold()
                return
            if not self._acyclic():
                return
        odd = [each for each in self.left if needs_automaton(each[1])]
        if odd and search.cycles is not None:
            if self._has_graph(search.whole, odd):
                self._decide(self.left)
                return
            self.left = [each for each in self.left if each[1].name not in self.found.undecided]
            odd = []
        cyclic = search.found.maybe_cyclic and bool(self.left or not self.ends)
        if not odd and not cyclic:
            self.found.fair = self.ends > 0
        elif self._has_graph(search.cycles or search.whole, self.left):
            self._decide(self.left)

    def _open(self, each: Numbered) -> bool:
        """Whether a property has no verdict yet."""
        name = each[1].name
        return name not in self.found.violations and name not in self.found.undecided

    def _acyclic(self) -> bool:
        """Whether the system is known to be acyclic; raises :class:`Cyclic` where it has a
        cycle.
        """
        search = self.search
        if not self.left and self.ends:
            self.found.fair = True
            return False
        try:
            search.tell("liveness: looking for cycles")
            search.require_states()
            store = search.cycles().store if search.cycles else search.load()
            if has_cycle(search.kernel, store, search.limits, search.check_time):
                raise Cyclic(search.states)
        except (Undecided, MemoryError) as error:
            self._give_up(self.left, error)
            self.found.fair = True if self.ends else None
            return False
        search.found.maybe_cyclic = False
        return True

    def _unfold(self) -> None:
        """Fills in the verdicts on persistence properties by the cycles without symmetry."""
        search, found = self.search, self.found
        if not self.left and self.ends:
            found.fair = True
            return
        try:
            search.tell("liveness: cycles without symmetry")
            self.store = search.load()
            part = part_of(search, [number for number, _ in self.left])
            inner = None if part is None else _Decision(part.explored, found, self.left)
            if part is not None and inner is not None:
                found.part = part.ground.store.states
                inner._prepare(part.ground)
        except (Undecided, MemoryError) as error:
            self._give_up(self.left, error)
            found.fair = True if self.ends else None
            return
        found.fair = self.ends > 0 or some_run_is_fair(search) or found.fair is True
        if part is not None and inner is not None:
            inner._decide(self.left)
            found.unfolded = dict.fromkeys(found.violations.keys() - self.by_ends, part.run)

    def _has_graph(self, load: Callable[[], GraphStates], needed: list[Numbered]) -> bool:
        """Whether the graph of what ``load`` gives was built; ``needed``: by these properties."""
        try:
            self.search.tell("liveness: state graph")
            self._prepare(load())
        except (Undecided, MemoryError) as error:
            self._give_up(needed, error)
            self.found.fair = True if self.ends else None
            return False
        return True

    def _decide(self, props: list[Numbered]) -> None:
        """Fills in the verdicts on ``props``, once there is a graph."""
        for at, (number, prop) in enumerate(props):
            try:
                self.search.tell(f"liveness: {prop.asked}")
                path = self._violation(number, prop)
                if path is None and prop.given is not None:
                    self.search.tell(f"liveness: the premise of {prop.asked}")
                    if self._run_with(number, prop, prop.given) is None:
                        self.found.unmet.add(prop.name)
            except KeyboardInterrupt as error:
                self._give_up(props[at:], error)
                return
            except (Undecided, MemoryError) as error:
                self._give_up([(number, prop)], error)
                continue
            if path is not None:
                self.found.violations[prop.name] = path

    def _give_up(self, props: list[Numbered], error: BaseException) -> None:
        why = str(error) or "out of memory"
        if isinstance(error, KeyboardInterrupt):
            why = stop_reason(error)
        for _, prop in props:
            self.found.undecided[prop.name] = why

    def _prepare(self, ground: GraphStates) -> None:
        """Builds the graph and its core."""
        if self.justice > MAX_JUSTICE:
            raise Undecided("there are too many justice constraints")
        self.store, numbers = ground.store, Numbers(ground)
        graph = build_graph(self.search, numbers)
        self.found.edges = graph.edges
        self.found.bytes_per_edge = graph.bytes / max(1, graph.edges)
        self.states = States(self.search, numbers, graph)
        if self.search.found.maybe_cyclic:
            self.search.tell("liveness: fair cycles")
            self.core = core_of(self.states)
        self.found.fair = self.ends > 0 or self.core is not None

    def _violation(self, number: int, prop: Property) -> Path | None:
        assert prop.automaton is not None
        reader = self._reader(prop.automaton)
        if persistence(prop) is None:
            return PropertyAutomaton(self.states, self.core, number, prop, reader).violation()
        return None if self.core is None else self._steady(self.core, number, prop, reader)

    def _run_with(self, number: int, prop: Property, given: Given) -> Path | None:
        """A fair execution that satisfies the premise of ``prop``."""
        reader = self._reader(given.automaton)
        return PropertyAutomaton(self.states, self.core, number, prop, reader).violation()

    def _reader(self, automaton: Automaton) -> AutomatonTable:
        if len(automaton.accepting) + self.justice > MAX_JUSTICE:
            raise Undecided("its automaton has too many accepting sets")
        return AutomatonTable(automaton)

    def _steady(
        self, core: Core, number: int, prop: Property, reader: AutomatonTable
    ) -> Path | None:
        """A lasso whose cycle satisfies the condition of a persistence property throughout."""
        states, assignments = self.states, interpreter.assignments(prop.params)
        question = GraphQuery(core.graph, justice_bits=core.justice_bits, full=states.full)
        left = core.nodes()
        if len(assignments) > 1:
            some = states.some(number, core.numbers_of(left))
            if not question.fair(left.select(some, b"\0\1")):
                return None
            left = Nodes.of(question.fair_nodes(0, question.size))
        whole = core.numbers_of(left)
        for values in assignments:
            self.search.check_time()
            letters = states.letters(number, whole, prop, values)
            roots = left.select(letters.buffer, reader.lasting(letters))
            question.forget()
            if question.fair(roots):
                return self._lasso(core, question, values)
        return None

    def _lasso(self, core: Core, question: GraphQuery, values: tuple[Value, ...]) -> Path:
        """A lasso: the execution to the nearest fair state, and a cycle from there."""
        numbers = self.states.numbers
        nearest = core.nearest(question, numbers)
        loop = shortest(question, nearest, self.states.key(core.states))
        number = core.states[loop[0]]
        stem = self.search.path_to(numbers.depth(number), (0, numbers.words(number)))
        more = tuple(self.states.state(core.states[node]) for node in loop[1:])
        return Path((*stem.states, *more), loop=len(stem.states) - 1, values=values)
