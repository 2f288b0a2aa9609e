"""Computes the state graph of a check, with the valence of its states."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.registry import engine_of, resolved_name
from checker.engines.valence import ValenceGraph, ValenceProblem, WordLayout
from checker.extensions.tables import DEFINITION
from checker.instantiate.assemble import Instantiated
from checker.model.evaluate import RunFault
from checker.results.answer import Listener, State, Unsupported
from checker.results.unjudged import diagnosed
from checker.session.attempts import enlarge_capacities, too_small_capacities, why_not_larger
from checker.session.run_engine import remaining_time
from checker.valence.question import Decisions, Question, decisions_of


@dataclass(frozen=True)
class Computed:
    """The graph of the system ``made``; ``stopped``: why it is not known, or ``None``."""

    question: Question
    made: Instantiated
    decisions: Decisions
    graph: ValenceGraph
    stopped: str | None

    @property
    def layout(self) -> WordLayout:
        """The bits of words."""
        return WordLayout(len(self.decisions.names), len(self.made.system.processes))

    def word(self, state: State) -> int:
        """Returns the word of a reachable state."""
        found = self.graph.word(state)
        assert found is not None, "the state was reached"
        return found

    def shown(self, bits: int) -> tuple[str, ...]:
        """Returns a set of values, as shown."""
        return tuple(name for i, name in enumerate(self.decisions.names) if bits >> i & 1)

    def open(self, state: State) -> tuple[str, ...]:
        """Returns what can still be decided in a reachable state, as shown."""
        return self.shown(self.layout.open(self.word(state)))


def compute(question: Question, listener: Listener | None) -> Computed:
    """Returns the valence of the states of a check, in the smallest system whose guessed capacities
    are large enough; a view of the check hides nothing here.

    Raises :class:`SpecError` where the engine can't take the check, and ``KeyboardInterrupt`` where
    nothing at all is known.
    """
    options, started = question.options, time.monotonic()
    engine = engine_of(resolved_name(options.engine))
    with budgets.raising_when_exhausted():
        made = question.first()
    while True:
        with budgets.raising_when_exhausted():
            decisions = decisions_of(made, question)
        left = remaining_time(options, started)
        whole = replace(made.system, view=None)
        problem = ValenceProblem(whole, left, decisions.conditions)
        try:
            graph = engine.valence(problem, listener)
        except Unsupported as why:
            message = f"the {engine.name} engine can't take this check: {why}"
            hint = f"try --engine {DEFINITION}"
            raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
        except RunFault as fault:
            if fault.grows is None:
                raise diagnosed(made.system, fault) from None
            small: tuple[str, ...] = (fault.grows,)
        else:
            small = too_small_capacities(made.system, graph.answer)
            why_not = why_not_larger(made, graph.answer, small, options) if small else None
            if not small or why_not:
                return Computed(question, made, decisions, graph, why_not or _stopped(graph))
        with budgets.raising_when_exhausted():
            larger = enlarge_capacities(question.make, dict(made.capacities), small, 0)
            made = question.make(larger)


def _stopped(graph: ValenceGraph) -> str | None:
    """Returns why the valence is not known; ``None`` where it is."""
    if graph.answer.fault is not None:
        return "a run meets an error: `bivalence check` shows it"
    return graph.answer.stopped or graph.missing or None
