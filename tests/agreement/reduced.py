"""What a plan of reductions leaves of a system, by the plain interpreter: the definition that the
kernels are held to, and fast on small systems, where compiling takes longer than exploring.

Liveness is decided by the reference engine's code on the graph in normal form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.engines.reference.liveness import Graph, counterexample, some_fair_run
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.interpreter import Constraint, State, Transition
from checker.model.ir import PropertyKind, TransitionSystem
from checker.model.types import sort_key
from checker.reductions.reduction_plan import ReductionPlan
from checker.reductions.symmetry.renaming import Renaming


class GoesRound(Exception):
    """Some step does not lead on, where the plan is not proven for that."""


class TooMany(Exception):
    """There are more states than the test wants to see."""


@dataclass
class Left:
    """What is left, level by level, and what was seen in it."""

    levels: list[list[State]] = field(default_factory=list)
    violated: set[str] = field(default_factory=set)
    premises: set[str] = field(default_factory=set)
    marks: set[int] = field(default_factory=set)
    fault: bool = False
    fair: bool | None = None
    depths: dict[str, int] = field(default_factory=dict)

    @property
    def states(self) -> int:
        """How many states were explored."""
        return sum(len(level) for level in self.levels)


class Reduced:
    """Explores ``system`` under ``plan``, up to ``most`` states."""

    def __init__(self, system: TransitionSystem, plan: ReductionPlan, most: int) -> None:
        self.system, self.plan, self.most = system, plan, most
        self.types = [v.type for v in system.variables]
        self.renamings: list[Renaming] = []
        if plan.symmetry is not None:
            found = plan.symmetry
            self.renamings = [Renaming(found.sorts, images) for images in found.elements()]
        self.found = Left()
        self.level_of: dict[State, int] = {}
        self._rested: dict[State, State] = {}

    # -- normal forms ---------------------------------------------------------------------------

    def rest(self, state: State) -> State:
        """``state`` with its dead parts at rest; resting twice is resting once."""
        known = self._rested.get(state)
        if known is None:
            known = self._rest(state)
            assert self._rest(known) == known, "resting twice is more than resting once"
            self._rested[state] = known
        return known

    def _rest(self, state: State) -> State:
        if not self.plan.resets:
            return state
        scope = interpreter.scope_of(self.system, state)
        ways = list(interpreter._ways(self.plan.resets, scope))
        assert len(ways) == 1, "what rests has a choice"
        way = ways[0]
        assert not isinstance(way, RunFault), "a run-time error where something rests"
        return interpreter.state_of(self.system, way[0])

    def least(self, state: State) -> State:
        """The one that stands for ``state`` and what it is renamed to."""
        if not self.renamings:
            return state
        return min((r.state(self.types, state) for r in self.renamings), key=sort_key)

    # -- exploring ------------------------------------------------------------------------------

    def run(self) -> Left:
        """Raises :class:`GoesRound` where the plan asks for it."""
        found = self.found
        for state, events in interpreter.initial_events(self.system):
            found.marks.update(event.mark for event in events)
            self._add(self.least(self.rest(state)), 0)
        depth = 0
        while depth < len(found.levels) and not found.fault:
            for state in found.levels[depth]:
                self._judge(state, depth)
            for state in found.levels[depth]:
                self._expand(state, depth)
            depth += 1
        if not found.fault:
            self._liveness()
        return found

    def _add(self, state: State, depth: int) -> None:
        known = self.level_of.get(state)
        if known is None:
            if len(self.level_of) >= self.most:
                raise TooMany
            self.level_of[state] = depth
            if depth == len(self.found.levels):
                self.found.levels.append([])
            self.found.levels[depth].append(state)
        elif known < depth and self.plan.acyclic:
            raise GoesRound

    def _judge(self, state: State, depth: int) -> None:
        for prop in self.system.properties:
            if interpreter.holds(self.system, prop.premise, state):
                self.found.premises.add(prop.name)
            if prop.kind is PropertyKind.INVARIANT:
                if interpreter.holds(self.system, prop.bad, state):
                    self.found.violated.add(prop.name)
                    self.found.depths.setdefault(prop.name, depth)

    def _expand(self, state: State, depth: int) -> None:
        for step in self._ample(state) or interpreter.successors(self.system, state):
            if step.successor is None:
                self.found.fault = True
                continue
            self.found.marks.update(event.mark for event in step.events)
            after = self.rest(step.successor)
            if after != state:
                self._add(self.least(after), depth + 1)

    def _ample(self, state: State) -> list[Transition]:
        """The steps of the first eager instance that leads elsewhere."""
        for eager in self.plan.ample_actions:
            action = self.system.actions[eager.action]
            try:
                scopes = list(interpreter.instances(self.system, action, state))
            except RunFault:
                continue
            for scope in scopes:
                if not _true(eager.when, scope):
                    continue
                params = tuple(scope.names[p.name] for p in action.params)
                steps = []
                for way in interpreter._ways(action.body + self.system.monitor, scope):
                    if isinstance(way, RunFault):
                        self.found.fault = True
                        continue
                    after = interpreter.state_of(self.system, way[0])
                    steps.append(Transition(action, params, after, way[1]))
                steps = self._dominating(state, steps, eager.adds) if eager.adds else steps
                if any(self.rest(s.successor) != state for s in steps if s.successor):
                    return steps
        return []

    def _dominating(
        self, state: State, steps: list[Transition], adds: tuple[str, ...]
    ) -> list[Transition]:
        """The first of ``steps`` that leads elsewhere and changes nothing but ``adds``."""
        for step in steps:
            assert step.successor is not None
            pairs = zip(self.system.variables, state, step.successor, strict=True)
            if any(v.name not in adds and a != b for v, a, b in pairs):
                continue
            if self.rest(step.successor) != state:
                return [step]
        return []

    # -- liveness -------------------------------------------------------------------------------

    def _liveness(self) -> None:
        asked = [p for p in self.system.properties if p.kind is PropertyKind.LIVENESS]
        if not asked:
            return
        graph = self.graph()
        for prop in asked:
            path = counterexample(graph, prop, lambda: None)
            if path is not None:
                self.found.violated.add(prop.name)
                if path.loop == len(path.states) - 1:
                    self.found.depths[prop.name] = path.loop
        self.found.fair = some_fair_run(graph)

    def graph(self) -> Graph:
        """The explored states with all their steps in normal form, as liveness is asked of them."""
        system, known = self.system, self.level_of
        graph = Graph(system, [s for s in self.found.levels[0]] if self.found.levels else [])
        for state in known:
            steps: dict[State, frozenset[Constraint]] = {}
            enabled: set[Constraint] = set()
            for action in system.actions:
                for scope in interpreter.instances(system, action, state):
                    owed = interpreter.constraint(action, scope)
                    kind = ir.fairness_of(action).kind
                    for way in interpreter._ways(action.body + system.monitor, scope):
                        assert not isinstance(way, RunFault)
                        after = self.rest(interpreter.state_of(system, way[0]))
                        if after == state:
                            continue
                        after = self.least(after)
                        taken = frozenset() if owed is None else frozenset({owed})
                        if owed is not None:
                            enabled.add(owed)
                            if kind is ir.FairnessKind.STRONG:
                                graph.strong.add(owed)
                        if after in known:
                            steps[after] = steps.get(after, frozenset()) | taken
            graph.steps[state], graph.enabled[state] = steps, frozenset(enabled)
            graph.just[state] = frozenset(
                i
                for i, justice in enumerate(system.justice)
                if interpreter.holds(system, justice.holds, state)
            )
        return graph


def _true(expr: ir.Expr, scope: Scope) -> bool:
    try:
        return bool(evaluate(expr, scope))
    except RunFault:
        return False


def explored(
    system: TransitionSystem, plan: ReductionPlan, most: int
) -> tuple[Left, ReductionPlan]:
    """What is left of ``system``, and the plan that was finally used."""
    while True:
        try:
            return Reduced(system, plan, most).run(), plan
        except GoesRound:
            assert plan.fallback is not None
            plan = plan.fallback
