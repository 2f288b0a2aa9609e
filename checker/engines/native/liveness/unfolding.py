"""Unfolding: the cycles of a search under symmetry, followed in the system without symmetry.

A search under symmetry has a graph N of representatives, and its cycles do not show what is fair:
a cycle may come back with other names.  Let G be the graph without symmetry, and C a strongly
connected component of N, or of the part of N in which the violation of a property can last for some
values of its parameters; a single state is one if a step leads to another member of its orbit.
The states of G whose representatives are in C form strongly connected components that are
renamings of one another, and each of them has a member of every orbit of C; and every component of
G that has a cycle is one of these, for some C.  (Follow a cycle of N in G again and again: there
are finitely many renamings, so it returns to where it began.)

So a fair cycle is looked for in G, from one state of each C, among the states whose representatives
are in any of these components.  All steps of such a state are known, so what is found is a fair
cycle of G.

Emerson and Sistla, *Utilizing Symmetry when Model-Checking under Fairness Assumptions* (TOPLAS 19,
1997), annotate the steps of N with renamings in place of a second search.
"""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Kernel, graph_kernel
from checker.engines.native.codegen.row_selection import Code
from checker.engines.native.liveness.graph import Numbers
from checker.engines.native.liveness.graph_query import GraphQuery, Nodes
from checker.engines.native.liveness.selection import Selection
from checker.engines.native.search.explored import Explored, GraphStates, Undecided
from checker.engines.native.search.lift_trace import Normalizer, TraceLifter
from checker.engines.native.search.memory import Buffer, address_of
from checker.engines.native.search.search import Search
from checker.engines.native.search.states import Propositions
from checker.engines.native.search.store import OutOfMemory, Store
from checker.engines.native.search.tiered_jit import PendingOptimisation, first_kernel
from checker.engines.search_engine import Cyclic
from checker.model.interpreter import State
from checker.model.ir import domain_item
from checker.records import replace
from checker.reductions.reduction_plan import ReductionPlan
from checker.reductions.symmetry.renaming import Renaming
from checker.results.answer import Path

MANY, MOST = 4096, 0.5
"""All is searched without symmetry if there are at least ``MANY`` states, and more than the share
``MOST`` of them is on such cycles: both searches together would save little or nothing."""

ALIVE = re.compile(b"%c+" % Code.ALIVE)
"""Rows that follow one another and belong to the part."""


class Part(Struct, frozen=True):
    """A part of the graph without symmetry that has all its cycles that matter.

    ``explored``: the search as if it had found this part; ``ground``: its states; ``run``: makes an
    execution of the system of one whose cycle lies in it.
    """

    explored: Explored
    ground: GraphStates
    run: Unfolder


class Unfolder:
    """Makes executions of the system.  It is given paths whose cycle is one of the system, and
    whose states before it are representatives."""

    def __init__(self, search: Explored, kernel: Kernel) -> None:
        self.search, self.kernel = search, kernel
        self._normal = Normalizer(search.kernel)

    def stem(self, numbers: Numbers, words: Sequence[int]) -> Path:
        """An execution to the state with these words; the states before it are representatives."""
        there = self._normal.words(words)
        depth = numbers.depth(numbers.find(there))
        path = self.search.path_to(depth, (0, tuple(there)))
        state = self.kernel.image.layout.unpack(words)
        return Path((*path.states[:-1], state))

    def __call__(self, name: str, path: Path) -> Path:
        """The execution of the system that violates the property ``name``.  Raises what
        :meth:`TraceLifter.path` raises."""
        search, at = self.search, path.loop
        assert at is not None
        system, plan = search.system, search.kernel.image.reductions
        here = path.states[at]
        stem = Path((*path.states[:at], self._normal.state(here)))
        begun = self._at_rest(TraceLifter(system, search.kernel).path(stem).states)
        symmetry, types = plan.symmetry, [v.type for v in system.variables]
        assert symmetry is not None
        renamings = (Renaming(symmetry.sorts, images) for images in symmetry.elements())
        renaming = next(r for r in renamings if r.state(types, here) == begun[-1])
        cycle = [renaming.state(types, state) for state in path.states[at + 1 :]]
        params = next(prop.params for prop in system.properties if prop.name == name)
        values = tuple(
            renaming.value(domain_item(param.domain), value)
            for param, value in zip(params, path.values, strict=True)
        )
        found = Path((*begun, *cycle), loop=len(begun) - 1, values=values)
        if not self.kernel.image.reductions.used:
            return found
        return TraceLifter(system, self.kernel).path(found)

    def _at_rest(self, states: Sequence[State]) -> list[State]:
        """The states of an execution of the system, with their dead parts reset."""
        rest, found = Normalizer(self.kernel), list[State]()
        for state in map(rest.state, states):
            if not found or found[-1] != state:
                found.append(state)
        return found


def part_of(search: Explored, needed: Sequence[int]) -> Part | None:
    """The part of the graph without symmetry that has all cycles, up to renaming, that may violate
    the persistence properties with the numbers ``needed``; all cycles, where it is not known
    otherwise whether any run is fair.  ``None``: there are none.

    Raises :class:`Undecided` and ``MemoryError`` where there is no room or no time, and
    :class:`Cyclic` where it is better to search without symmetry.
    """
    numbers = Numbers(search.whole())
    every = not (search.found.ends or some_run_is_fair(search))
    alive, starts = _on_cycles(search, numbers, None if every else needed)
    if not starts:
        return None
    share = bytes(alive.bytes()).count(Code.ALIVE) / search.states
    if search.states >= MANY and share > MOST:
        raise Cyclic(search.states)
    return _Unfolding(search, numbers, alive).part([numbers.words(one) for one in starts])


def some_run_is_fair(search: Explored) -> bool:
    """Whether the search shows that a run is fair: where there is no justice condition, a component
    that no step leaves is fair, or an end.
    """
    return not search.system.justice and not search.found.beyond


def _on_cycles(
    search: Explored, numbers: Numbers, needed: Sequence[int] | None
) -> tuple[Buffer, list[int]]:
    """A byte for each state, ALIVE on cycles among the states in which a violation can last; and a
    state of each component, the first one of the search.

    ``needed``: the numbers of the properties; ``None``: all cycles are meant.
    """
    holds = Propositions(search, numbers)
    some = Selection(numbers, _where_it_can_last(holds, needed))
    alive, starts = Buffer(numbers.count), dict[int, None]()
    if not some.states:
        return alive, []
    graph = some.graph(search)
    graph.labels.clear()
    search.check_time()
    question = GraphQuery(replace(graph, kinds=b"\0"))
    key = holds.key(range(numbers.count))

    def first(state: int) -> tuple[int, object]:
        return numbers.depth(state), key(state)

    turning = _turning(question)
    for roots in _candidates(holds, some, needed):
        question.forget()
        question.fair(roots)
        best: dict[int, int] = {}
        for own in question.fair_nodes(0, some.count):
            state, component = some.number(own), question.component(own)
            alive.bytes()[state] = Code.ALIVE
            old = best.get(component)
            if old is None or first(state) < first(old):
                best[component] = state
        starts |= dict.fromkeys(best.values())
        lasting = Buffer(some.count)
        question.code.mark(lasting.address, roots.buffer.address, roots.count)
        for own in turning:
            if lasting.bytes()[own] == Code.ALIVE and not question.is_fair(own):
                state = some.number(own)
                alive.bytes()[state] = Code.ALIVE
                starts[state] = None
    return alive, sorted(starts, key=first)


def _where_it_can_last(holds: Propositions, needed: Sequence[int] | None) -> Buffer:
    """A byte for each state, ALIVE where the violation of some property can last for some values of
    its parameters; for all states where ``needed`` is ``None``."""
    numbers, code = holds.numbers, graph_kernel()
    found = Buffer(numbers.count)
    for begin, end in numbers.stretches if needed is None else ():
        ctypes.memset(found.address + begin, Code.ALIVE, end - begin)
    for number in needed or ():
        letters = holds.some(number, None)
        code.merge(letters.address, numbers.count, found.address)
    return found


def _candidates(
    holds: Propositions, some: Selection, needed: Sequence[int] | None
) -> Iterator[Nodes]:
    """For each property, by their own numbers, the states in which its violation can last; once all
    states where ``needed`` is ``None``."""
    every = Nodes.of(some.own())
    if needed is None:
        yield every
        return
    for number in needed:
        yield every.select(holds.some(number, some.states), b"\0\1")


def _turning(question: GraphQuery) -> array[int]:
    """The states with a step to another member of their orbit."""
    out, found = Buffer(4 * question.size), array("I")
    count = question.code.turning(question.task, out.address)
    found.frombytes(out.bytes()[: 4 * count])
    return found


class _Unfolding:
    """The search without symmetry, from some representatives, of the orbits of ``alive`` ones."""

    def __init__(self, search: Explored, numbers: Numbers, alive: Buffer) -> None:
        self.search, self.numbers, self.alive = search, numbers, alive
        plan, limits = search.kernel.image.reductions.careful, search.limits
        # the same layout as under symmetry: rows are looked up there
        image = build(search.system, ReductionPlan(plan.parts, acyclic=True))
        kernel, improvable = first_kernel(image)
        self.words = image.layout.words
        upgrade = PendingOptimisation(image, limits.timeout) if improvable else None
        left = limits
        if limits.max_states is not None:
            left = replace(left, max_states=max(0, limits.max_states - search.states))
        if limits.memory is not None:
            left = replace(left, memory=max(0, limits.memory - search.used))
        self.by = Search(search.system, kernel, upgrade, left, 1, None)
        self.by.begun, self.by.asks_ends = search.started, False

    def part(self, starts: Sequence[Sequence[int]]) -> Part:
        """The part that is reached from ``starts``, rows of words."""
        try:
            store, steps = self._reached(starts)
        except OutOfMemory as why:
            raise Undecided(str(why)) from why
        finally:
            self.by.close()
        run = Unfolder(self.search, self.by.kernel)
        explored = replace(
            self.search,
            kernel=self.by.kernel,
            load=lambda: store,
            depth=store.deepest(),
            states=store.states,
            path_to=lambda depth, best: run.stem(self.numbers, best[1]),
        )
        return Part(explored, GraphStates(store, steps), run)

    def _reached(self, starts: Sequence[Sequence[int]]) -> tuple[Store, int]:
        """The states of the part, by their distance from ``starts``, and the number of their
        steps."""
        by, steps = self.by, 0
        for words in starts:
            by.store.add(words)
        part = Store(by.kernel, 1, by.limits.memory)
        while True:
            self.search.check_time()
            begin = by.store.workers[0].starts[by.depth]
            if by.depth:
                part.open_level(by.depth)
            codes = b"".join(self._take(part, rows) for rows in by.store.blocks(by.depth))
            if Code.ALIVE not in codes:
                part.kernel = by.kernel
                return part, steps
            by.expand((begin + m.start(), begin + m.end()) for m in re.finditer(ALIVE, codes))
            if by.stopped is not None:
                raise Undecided(self._why(by.stopped))
            report = by.store.report()
            assert report.fault is None, "an error without symmetry that symmetry has not shown"
            steps += report.transitions

    def _take(self, part: Store, given: memoryview) -> bytes:
        """Adds those of the rows to ``part`` that belong to it; a code for each, ALIVE where its
        representative is."""
        width, other, source = 8 * self.words, self.numbers.store, address_of(given)
        count = given.nbytes // width
        rows, found, codes = Buffer(given.nbytes), Buffer(4 * count), Buffer(count)
        ctypes.memmove(rows.address, source, given.nbytes)
        kernel, code = other.kernel, graph_kernel()
        assert kernel.normals is not None and kernel.locate is not None
        kernel.normals(other.workers[0].address, rows.address, count)
        kernel.locate(other.context_address, rows.address, count, found.address)
        code.sort(found.address, count, 0, self.alive.address, codes.address)
        good = 1 << Code.ALIVE
        chosen = code.pick(source, self.words, codes.address, count, good, rows.address)
        part.take(rows.bytes()[: width * chosen])
        return bytes(codes.bytes()[:count])

    def _why(self, stopped: str) -> str:
        """The reason to stop, with the limit that the user has given."""
        limits = self.search.limits
        return limits.no_more_states if stopped == self.by.limits.no_more_states else stopped
