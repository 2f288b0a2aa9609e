"""Computes the state graph of a check, with the valence of its states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from checker.engines import budgets
from checker.engines.options import Options
from checker.engines.registry import engine_of, resolved_name
from checker.engines.valence import ValenceGraph, ValenceProblem, WordLayout
from checker.instantiate.instantiated import Instantiated
from checker.records import replace
from checker.results.answer import Listener, State
from checker.results.trace import Header
from checker.session.state_graphs import graph_of_check
from checker.session.trace_header import header_of
from checker.valence.question import Decisions, Question, decisions_of


@dataclass(frozen=True)
class Computed:
    """The graph of the system ``made``; ``stopped``: why it is not known, or ``None``."""

    question: Question
    made: Instantiated
    decisions: Decisions
    graph: ValenceGraph
    stopped: str | None

    @cached_property
    def header(self) -> Header:
        """The header of traces of the check."""
        question = self.question
        return header_of(question.path, question.check, self.made, question.options)

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
    options = question.options
    engine = engine_of(resolved_name(options.engine))

    def graph_of(made: Instantiated, left: Options) -> ValenceGraph:
        with budgets.raising_when_exhausted():
            decisions = decisions_of(made, question)
        whole = replace(made.system, view=None)
        return engine.valence(ValenceProblem(whole, left, decisions.conditions), listener)

    made, graph, stopped = graph_of_check(question.make, engine.name, graph_of, options)
    with budgets.raising_when_exhausted():
        return Computed(question, made, decisions_of(made, question), graph, stopped)
