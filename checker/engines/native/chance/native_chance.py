"""The steps of a native search with their probabilities.

The edges of a state whose labels are the same but for what chance has chosen are one choice.  What
the choices of a state are follows from the labels of its edges alone, and many states have the
same.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from itertools import product
from math import gcd, lcm, prod

from msgspec import Struct

from checker.engines import budgets
from checker.engines.chance import NONE, STAY, ChanceGraph, ChanceProblem, Steps, TooFine
from checker.engines.native.chance.labelled_system import Label, LabelledSystem
from checker.engines.native.codegen.letters import FEW
from checker.engines.native.liveness.graph import Graph, Numbers, build_graph
from checker.engines.native.search.explored import Explored, Undecided
from checker.engines.native.search.states import States, Unevaluable
from checker.model import interpreter
from checker.model.distributions import RULES, ImproperChance
from checker.model.interpreter import Constraint
from checker.model.ir import FALSE, TRUE, Property, PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.polling import poll
from checker.records import replace
from checker.results.answer import Answer, Path, State, stop_reason


def searched_system(problem: ChanceProblem, labels: LabelledSystem) -> TransitionSystem:
    """Returns the labelled system with properties whose propositions are the conditions."""
    conditions = problem.conditions or (TRUE,)
    groups = [conditions[i : i + FEW] for i in range(0, len(conditions), FEW)]
    properties = tuple(
        Property(f"@{i}", PropertyKind.LIVENESS, FALSE, TRUE, "", propositions=group)
        for i, group in enumerate(groups)
    )
    return replace(labels.system, properties=properties)


NOTHING = frozenset[int]()


class _Choice(Struct, frozen=True):
    """A choice: which edges of a state are its branches, and their weights."""

    action: int
    constraint: int
    edges: Sequence[int]
    weights: Sequence[int]


class _Rule(Struct, frozen=True):
    """An option of the adversary: its edges with their weights, which depend on coins, and the sum
    of the weights."""

    edges: Sequence[int]
    weights: Sequence[int]
    total: int


class NativeChance(ChanceGraph):
    """The graph of the states of a search that is over."""

    def __init__(
        self, problem: ChanceProblem, labels: LabelledSystem, search: Explored, answer: Answer
    ) -> None:
        self.system, self.answer = problem.system, answer
        self._problem, self._by, self._search = problem, labels, search
        if not answer.exhaustive or answer.fault is not None:
            return
        started = time.monotonic()
        try:
            error = budgets.ended(self._build)
            self.missing = "" if error is None else stop_reason(error)
        except (Undecided, TooFine, MemoryError) as problem:
            self.missing = str(problem) or "out of memory"
        self.seconds = time.monotonic() - started

    def _build(self) -> None:
        search = self._search
        search.tell("probabilities: state graph")
        self._numbers = Numbers(search.whole())
        self._states = States(search, self._numbers, build_graph(search, self._numbers))
        graph = self._states.graph
        plan = search.kernel.image.plan
        assert plan is not None
        decoded = (self._by.label(plan.decode(row)) for row in graph.constraints)
        self._labels = [Label(0, None), *decoded]
        self._known: dict[Constraint | int, int] = {}
        self._strong: set[int] = set()
        self._sets: dict[frozenset[int], int] = {frozenset(): 0}
        self._templates: dict[bytes, tuple[list[_Choice], frozenset[int]]] = {}
        search.tell("chance: distributions")
        self.steps = self._steps(graph)

    # -- numbers: without those that denote no state ---------------------------------------------

    def _dense(self, number: int) -> int:
        """Returns the number here of a state of the search."""
        who = next(i for i, (_, end) in enumerate(self._states.graph.stretches) if number < end)
        return number - who

    def _number(self, state: State) -> int:
        """Returns the number here of a reachable state."""
        words = self._search.kernel.image.layout.pack(state)
        return self._dense(self._numbers.find(words))

    def _sparse(self, number: int) -> int:
        """Returns the number in the search of a state here."""
        for i, (_, end) in enumerate(self._states.graph.stretches):
            if number + i < end:
                return number + i
        raise IndexError(number)

    # -- steps ----------------------------------------------------------------------------------

    def _steps(self, graph: Graph) -> Steps:
        steps = Steps()
        start, targets, labels = graph.start.words(), graph.targets.halves(), graph.labels.halves()
        for i, (begin, end) in enumerate(graph.stretches):
            for number in range(begin, end):
                poll()
                first, last = start[number], start[number + 1]
                there = targets[first:last].tolist()
                if len(graph.stretches) > 1:
                    there = [self._dense(t) for t in there]
                choices, enabled = self._template(labels[first:last].tobytes())
                self._write(steps, number - i, there, choices, enabled | self._lacking(number))
        initial = (self._number(state) for state in interpreter.initial_states(self.system))
        steps.initial = tuple(initial)
        steps.constraint_sets, steps.strong = tuple(self._sets), frozenset(self._strong)
        return steps

    def _lacking(self, number: int) -> frozenset[int]:
        """Returns the constraints of the conditions of justice that a state does not satisfy."""
        bits = self._states.justice_bits
        if bits is None:
            return NOTHING
        lacking = self._states.full & ~int(bits.words()[number])
        every = range(len(self.system.justice))
        return frozenset(self._constraint(i, False) for i in every if lacking >> i & 1)

    def _write(
        self,
        steps: Steps,
        here: int,
        there: list[int],
        choices: list[_Choice],
        enabled: frozenset[int],
    ) -> None:
        """Writes the choices of a state whose edges lead ``there``."""
        before = len(steps.constraint)
        for choice in choices:
            if len(choice.edges) == 1:
                target = there[choice.edges[0]]
                if target != here or choice.constraint != NONE:
                    steps.add(choice.action, choice.constraint, (target,), (1,))
                continue
            shares: dict[int, int] = {}
            for edge, weight in zip(choice.edges, choice.weights, strict=True):
                shares[there[edge]] = shares.get(there[edge], 0) + weight
            if choice.constraint != NONE or len(shares) > 1 or here not in shares:
                steps.add(choice.action, choice.constraint, [*shares], [*shares.values()])
        if bool(enabled) != (len(steps.constraint) > before):
            steps.add(STAY, NONE, (here,), (1,))
        steps.end_state(self._sets.setdefault(enabled, len(self._sets)))

    def _template(self, labels: bytes) -> tuple[list[_Choice], frozenset[int]]:
        """Returns the choices of a state with such edges, and the constraints enabled there."""
        if labels not in self._templates:
            self._templates[labels] = self._made(array("I", labels))
        return self._templates[labels]

    def _made(self, labels: Sequence[int]) -> tuple[list[_Choice], frozenset[int]]:
        found, enabled = list[_Choice](), set[int]()
        groups: dict[tuple[int, tuple[Value, ...]], list[int]] = {}
        for edge, number in enumerate(labels):
            label = self._labels[number]
            if label.constraint is not None:
                enabled.add(self._constraint(*label.constraint))
            if label.picks is None:
                found.append(_Choice(label.action, self._taken(label), (edge,), (1,)))
            else:
                groups.setdefault((label.action, label.instance), []).append(edge)
        for edges in groups.values():
            found += self._choices(edges, labels)
        return found, frozenset(enabled)

    def _taken(self, label: Label) -> int:
        return NONE if label.constraint is None else self._constraint(*label.constraint)

    def _constraint(self, constraint: Constraint | int, strong: bool) -> int:
        number = self._known.setdefault(constraint, len(self._known))
        if strong:
            self._strong.add(number)
        return number

    def _choices(self, edges: list[int], labels: Sequence[int]) -> list[_Choice]:
        """Returns the choices of one instance: see :mod:`checker.model.distributions`."""
        rows = [(self._labels[labels[edge]].picks or (), edge) for edge in edges]
        label = self._labels[labels[edges[0]]]
        taken, found = self._taken(label), []
        for rule in self._rules(label.action, rows, 0):
            common = gcd(*rule.weights)
            weights = tuple(weight // common for weight in rule.weights)
            found.append(_Choice(label.action, taken, array("I", rule.edges), weights))
        return found

    def _rules(
        self, action: int, rows: list[tuple[tuple[Value, ...], int]], depth: int
    ) -> list[_Rule]:
        """Returns the rules by which the adversary may pick where the first ``depth`` picks are the
        same."""
        if depth == len(rows[0][0]):
            return [_Rule((rows[0][1],), (1,), 1)]
        below: dict[Value, list[tuple[tuple[Value, ...], int]]] = {}
        for row in rows:
            below.setdefault(row[0][depth], []).append(row)
        if len(below) == 1:
            return self._rules(action, rows, depth + 1)
        weights = [self._by.weight(action, depth, value) for value in below]
        by_chance = all(weights)
        if by_chance and len(below) == len(rows) and depth + 1 == len(rows[0][0]):
            return [_Rule([edge for _, edge in rows], weights, sum(weights))]
        parts = [self._rules(action, part, depth + 1) for part in below.values()]
        if not by_chance:
            return [rule for part in parts for rule in part]
        if prod(map(len, parts)) > RULES:
            why = f"the adversary has more than {RULES:,} strategies after its coins"
            raise ImproperChance(why, self._by.hoisted[action].choices[depth].place)
        return [_mixed(weights, rules) for rules in product(*parts)]

    # -- queries --------------------------------------------------------------------------------

    def state(self, number: int) -> State:
        """Unpacks it."""
        return self._states.state(self._sparse(number))

    def satisfying(self, condition: int) -> set[int]:
        """Asks every state, in native code."""
        group, bit = divmod(condition, FEW)
        prop = self._search.system.properties[group]
        try:
            letters = self._states.letters(group, None, prop, ())
        except Unevaluable as lost:
            state = self._search.kernel.image.layout.unpack(lost.words)
            for expr in self._problem.conditions:
                interpreter.holds(self.system, expr, state)
            raise AssertionError("a condition has a run-time error in native code only") from lost
        bits, found = letters.buffer.bytes().cast("H"), set[int]()
        for i, (begin, end) in enumerate(self._states.graph.stretches):
            found.update(n - i for n in range(begin, end) if bits[n] >> bit & 1)
        return found

    def path_to(self, number: int) -> Path:
        """Has the search rebuild it."""
        sparse = self._sparse(number)
        words = self._numbers.words(sparse)
        return self._search.path_to(self._numbers.depth(sparse), (0, words))


def _mixed(weights: Sequence[int], rules: Sequence[_Rule]) -> _Rule:
    """Returns the rule by which chance takes one of ``rules``, by its weight."""
    whole = lcm(*(rule.total for rule in rules))
    edges, found = list[int](), list[int]()
    for weight, rule in zip(weights, rules, strict=True):
        factor = weight * (whole // rule.total)
        edges += rule.edges
        found += [factor * each for each in rule.weights]
    return _Rule(edges, found, whole * sum(weights))
