"""Random threshold automata: what one formula says of all runs is what a search finds."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from checker.parametric.automaton.automaton import And, Outcome, Question
from checker.parametric.automaton.execution import require_run
from checker.parametric.symbolic.decide import ParametricChecker
from tests.parametric.by_search import Search
from tests.parametric.random_automata import automata, questions
from tests.parametric.tracked import everything
from tests.selection import some


@settings(max_examples=some(80), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_formula_says_what_a_search_finds(data: st.DataObject) -> None:
    automaton = data.draw(automata())
    numbers = {"n": data.draw(st.integers(1, 3)), "f": data.draw(st.integers(0, 2))}
    counting = ParametricChecker(automaton, fixed=numbers, resilience=And())
    for _ in range(3):
        question = data.draw(questions(automaton))
        decision = counting.decide(question)
        violated = Search(automaton, numbers).violates(question)
        event(f"violated: {violated}, at_end: {question.at_end}")
        assert decision.outcome is (Outcome.VIOLATED if violated else Outcome.PROVED), decision
        assert _in_order(counting, question) is violated  # without refinement
        if decision.run is not None:
            require_run(automaton, decision.run, question, And())


def _in_order(counting: ParametricChecker, question: Question) -> bool:
    """The same asked of the formula in which everything is tracked."""
    refining = counting.refining
    runs, solver = refining.formula(counting.asking, everything(refining))
    wanted = [runs.condition(counting.assumed), runs.state(question.violated, runs.moments[-1])]
    if question.at_end:
        wanted.append(runs.end(runs.moments[-1], counting.resting))
    return counting.asking.ask(solver, *wanted) is not None
