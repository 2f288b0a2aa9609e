"""Checks liveness explicitly: the whole graph, a product with the Büchi automaton, fair strongly
connected components.

The states that a fair execution visits infinitely often are a strongly connected set that satisfies
every fairness constraint: Lichtenstein and Pnueli 1985 for the search, Emerson and Lei 1985 for
what to remove from a set that is unfair (strong fairness), Vardi and Wolper 1986 for the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from itertools import pairwise

from msgspec import Struct, field

from checker.graphs import cycles, reached, route
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Constraint, Moves, State
from checker.model.ir import Automaton, Fairness, FairnessKind, Property, TransitionSystem
from checker.model.types import Value
from checker.results.answer import Path

Node = tuple[State, int]
"""A state of the system and one of the automaton."""

Label = frozenset[Constraint]

STARTS = 12
"""A cycle is searched from so many nodes of a fair set; the shortest one is shown."""

ANY = Automaton(1, (), ())
"""Stands for the automaton that accepts every execution: see :func:`_reads`."""


class Graph(Struct):
    """The states that were found, the steps between them, and the fairness constraints enabled in
    each.

    ``edges``: how many there are, as :class:`interpreter.Moves` counts ``ways``.
    """

    system: TransitionSystem
    initial: list[State]
    steps: dict[State, dict[State, Label]] = field(default_factory=dict)
    enabled: dict[State, Label] = field(default_factory=dict)
    strong: set[Constraint] = field(default_factory=set)
    just: dict[State, frozenset[int]] = field(default_factory=dict)
    edges: int = 0

    def is_end(self, state: State) -> bool:
        """Returns whether an execution may stay in ``state`` forever."""
        kept = self.enabled[state] <= self.steps[state].get(state, frozenset())
        return kept and len(self.just[state]) == len(self.system.justice)


def graph_of(
    system: TransitionSystem,
    states: Iterable[State],
    check: Callable[[], None],
    *,
    failing: bool = False,
    moves_of: Callable[[TransitionSystem, State], Moves] = interpreter.moves,
) -> Graph:
    """Builds the graph on ``states``, steps out of it left out; ``moves_of`` gives the moves.

    ``check`` is called for every state and may raise to end the work.  ``failing``: there may be
    states in which an expression can't be evaluated; elsewhere :class:`RunFault` is raised there.
    """
    known = dict.fromkeys(states)
    graph = Graph(system, [s for s in interpreter.initial_states(system) if s in known])
    for state in known:
        check()
        try:
            moves = moves_of(system, state)
        except RunFault:
            if not failing:
                raise
            moves = _in_part(system, state)
        graph.steps[state] = {t: taken for t, taken in moves.steps.items() if t in known}
        graph.enabled[state] = frozenset(moves.enabled)
        graph.edges += moves.ways
        for constraint, fairness in moves.enabled.items():
            if fairness.kind is FairnessKind.STRONG:
                graph.strong.add(constraint)
        graph.just[state] = frozenset(
            i
            for i, justice in enumerate(system.justice)
            if interpreter.holds(system, justice.holds, state)
        )
    return graph


def _in_part(system: TransitionSystem, state: State) -> Moves:
    """Returns the moves of a state with a runtime error: no execution may stay there."""
    steps: dict[State, Label] = {
        t.successor: frozenset()
        for t in interpreter.successors(system, state)
        if t.successor is not None and t.successor != state
    }
    return Moves(steps, {Constraint("error", ()): Fairness("error")}, len(steps))


# ---- the product ------------------------------------------------------------------------------


class Product(Struct):
    """The product of the graph with a Büchi automaton that reads each state when it is entered."""

    graph: Graph
    automaton: Automaton
    truths: Mapping[State, frozenset[int]]

    def reads(self, state: int, read: State) -> list[int]:
        """Returns the automaton's successors of state ``state`` on reading ``read``."""
        return _reads(self.automaton, state, self.truths.get(read, frozenset()))

    def starts(self) -> list[Node]:
        return [(s, q) for s in self.graph.initial for q in self.reads(0, s)]

    def after(self, node: Node) -> list[Node]:
        state, q = node
        return [(t, r) for t in self.graph.steps[state] for r in self.reads(q, t)]

    def ends_badly(self, node: Node) -> bool:
        """Returns whether the execution may stay here forever, and the automaton then accepts."""
        state, q = node
        if not self.graph.is_end(state):
            return False

        def stay(at: int) -> list[int]:
            return self.reads(at, state)

        return any(
            all(one & accepting for accepting in self.automaton.accepting)
            for one in cycles(reached([q], stay), stay)
        )

    def fair_sets(self, nodes: Iterable[Node]) -> list[set[Node]]:
        """Returns the largest strongly connected sets in which a fair accepted run can stay."""
        found = []
        for one in cycles(nodes, self.after):
            states = {state for state, _ in one}
            taken = self.taken_constraints(one)
            always = frozenset.intersection(*(self.graph.enabled[s] for s in states))
            if any(c not in taken and c not in self.graph.strong for c in always):
                continue
            if not all(
                any(i in self.graph.just[s] for s in states)
                for i in range(len(self.graph.system.justice))
            ):
                continue
            if not all(any(q in acc for _, q in one) for acc in self.automaton.accepting):
                continue
            starved = {
                s
                for s in states
                if any(c in self.graph.strong and c not in taken for c in self.graph.enabled[s])
            }
            if starved:
                found.extend(self.fair_sets([n for n in one if n[0] not in starved]))
            else:
                found.append(one)
        return found

    def taken_constraints(self, inside: set[Node]) -> set[Constraint]:
        """Returns the constraints that steps between nodes of ``inside`` take."""
        taken: set[Constraint] = set()
        for state, q in inside:
            for target, label in self.graph.steps[state].items():
                if any((target, r) in inside for r in self.reads(q, target)):
                    taken |= label
        return taken


def _reads(automaton: Automaton, state: int, truths: frozenset[int]) -> list[int]:
    if automaton is ANY:
        return [0]
    found = [
        edge.target
        for edge in automaton.edges
        if edge.source == state and edge.yes <= truths and not edge.no & truths
    ]
    return list(dict.fromkeys(found))


# ---- the cycle --------------------------------------------------------------------------------


def _loop_from(product: Product, inside: set[Node], start: Node) -> list[Node]:
    """Returns a cycle within the fair set ``inside`` through ``start`` that is fair to every
    constraint.

    The first node is not repeated at the end.  Constraints that are not satisfied yet are satisfied
    one by one, the nearest first; the path back may visit states in which further constraints are
    enabled.
    """

    def after(node: Node) -> list[Node]:
        return [t for t in product.after(node) if t in inside]

    walk = [start]
    while True:
        unmet = _unmet_constraint(product, walk, inside)
        if unmet is None:
            if len(walk) > 1 and walk[-1] == start:
                return walk[:-1]
            home = route(after(walk[-1]), after, lambda node: node == start)
            assert home is not None
            closed = [*walk, *home]
            unmet = _unmet_constraint(product, closed, inside)
            if unmet is None:
                return closed[:-1]
            walk = closed
        walk.extend(_payment(product, walk[-1], inside, *unmet)[1:])


def _payment(
    product: Product,
    here: Node,
    inside: set[Node],
    constraint: Constraint | None,
    places: frozenset[Node],
) -> list[Node]:
    """Returns the shortest path from ``here`` that takes ``constraint`` or visits ``places``."""
    steps: dict[Node, Node] = {}
    for node in inside:
        for target in product.after(node):
            if target in inside and constraint in product.graph.steps[node[0]][target[0]]:
                steps.setdefault(node, target)

    def after(node: Node) -> list[Node]:
        return [t for t in product.after(node) if t in inside]

    visit = route([here], after, lambda node: node in places)
    way = route([here], after, lambda node: node in steps)
    take = None if way is None else [*way, steps[way[-1]]]
    found = [walk for walk in (visit, take) if walk is not None]
    assert found, "a fair set has to take what it can't"
    return min(found, key=len)


def _unmet_constraint(
    product: Product, walk: list[Node], inside: set[Node]
) -> tuple[Constraint | None, frozenset[Node]] | None:
    """Returns what ``walk`` lacks to be fair: a constraint to take, or nodes to visit one of."""
    graph = product.graph
    taken: set[Constraint] = set()
    for (a, _), (b, _) in pairwise(walk):
        taken |= graph.steps[a][b]
    seen = {state for state, _ in walk}
    sets: list[frozenset[Constraint]] = [graph.enabled[s] for s in seen]
    for c in sorted(frozenset.union(*sets) & graph.strong - taken, key=repr):
        return c, frozenset()
    for c in sorted(frozenset.intersection(*sets) - graph.strong - taken, key=repr):
        return c, frozenset(n for n in inside if c not in graph.enabled[n[0]])
    for i in range(len(graph.system.justice)):
        if not any(i in graph.just[s] for s in seen):
            return None, frozenset(n for n in inside if i in graph.just[n[0]])
    for accepting in product.automaton.accepting:
        if not any(q in accepting for _, q in walk):
            return None, frozenset(n for n in inside if n[1] in accepting)
    return None


# ---- answers ----------------------------------------------------------------------------------


def some_fair_run(graph: Graph) -> bool:
    """Returns whether the system has any fair execution."""
    if any(graph.is_end(state) for state in graph.steps):
        return True
    product = Product(graph, ANY, {})
    return bool(product.fair_sets((state, 0) for state in graph.steps))


def counterexample(graph: Graph, prop: Property, check: Callable[[], None]) -> Path | None:
    """Returns a fair execution that violates ``prop``: the shortest finite one, if any."""
    best: Path | None = None
    products = []
    for values in interpreter.assignments(prop.params):
        check()
        product = Product(graph, _automaton(prop), _truths(graph, prop, values))
        products.append((product, values))
        way = route(product.starts(), product.after, product.ends_badly)
        if way is not None and (best is None or len(way) < len(best.states)):
            best = Path(tuple(s for s, _ in way), loop=len(way) - 1, values=values)
    if best is not None:
        return best
    for product, values in products:
        check()
        path = _lasso(product, values)
        if path is not None and (best is None or len(path.states) < len(best.states)):
            best = path
    return best


def _automaton(prop: Property) -> Automaton:
    assert prop.automaton is not None
    return prop.automaton


def _truths(graph: Graph, prop: Property, values: tuple[Value, ...]) -> dict[State, frozenset[int]]:
    names = {p.name: v for p, v in zip(prop.params, values, strict=True)}
    return {
        state: frozenset(
            i
            for i, proposition in enumerate(prop.propositions)
            if interpreter.holds(graph.system, proposition, state, names)
        )
        for state in graph.steps
    }


def _way_to(product: Product, node: Node) -> list[Node]:
    way = route(product.starts(), product.after, lambda found: found == node)
    assert way is not None
    return way


def fair_lasso(graph: Graph, inside: Set[State]) -> Path | None:
    """Returns a fair lasso whose cycle has states of ``inside`` only; ``None``: there is none."""
    return _lasso(Product(graph, ANY, {}), (), inside)


def _lasso(
    product: Product, values: tuple[Value, ...], within: Set[State] | None = None
) -> Path | None:
    """Returns a lasso whose cycle is in a fair set (``within``: of these states)."""
    found = reached(product.starts(), product.after)
    best: Path | None = None
    among = found if within is None else [node for node in found if node[0] in within]
    for inside in product.fair_sets(among):
        for start in [node for node in found if node in inside][:STARTS]:
            stem = _way_to(product, start)
            loop = _loop_from(product, inside, start)
            states = tuple(s for s, _ in [*stem[:-1], *loop])
            if best is None or len(states) < len(best.states):
                best = Path(states, loop=len(stem) - 1, values=values)
    return best
