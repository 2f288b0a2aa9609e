"""Random decision processes: everything is what going through all schedulers says."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.chance import reference
from checker.chance.decision_process import DecisionProcess
from checker.chance.exact import exact_probability
from checker.chance.fair_components import fair_components
from checker.chance.graph import ProcessGraph
from checker.chance.native_graph import INSIDE, KEPT, OUT
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.chance.targets import almost_surely, target_of
from tests.chance import brute


@st.composite
def questions(draw: st.DrawFn, constraints: int = 0) -> tuple[DecisionProcess, set[int]]:
    process = draw(brute.processes(constraints=constraints))
    return process, draw(st.sets(st.integers(0, process.states - 1)))


@settings(deadline=None, max_examples=60)
@given(questions())
def test_reaching_is_what_the_best_and_the_worst_scheduler_attain(
    question: tuple[DecisionProcess, set[int]],
) -> None:
    process, goal = question
    values = [brute.reached(process, chosen, goal)[0] for chosen in brute.schedulers(process)]
    objective, graph = Objective(Kind.EVENTUALLY, goal), ProcessGraph(process)
    for largest, value in ((True, max(values)), (False, min(values))):
        found = probability(graph, objective, largest=largest)
        assert found.interval.lower <= value <= found.interval.upper
        assert found.interval.width <= Fraction(1, 10**6)
        exact = exact_probability(found, objective)
        assert exact.value == value
        attained = [max(choice, -1) for choice in exact.scheduler.choices]
        if largest:
            assert brute.reached(process, _total(process, attained), goal)[0] == value
    assert almost_surely(graph, objective)[0] == (min(values) == 1)


def _total(process: DecisionProcess, choices: list[int]) -> list[int]:
    """A scheduler that takes the first choice where anything may be done."""
    return [
        choice if choice >= 0 or not process.choices_of(s) else process.choices_of(s)[0]
        for s, choice in enumerate(choices)
    ]


@settings(deadline=None, max_examples=60)
@given(questions(constraints=2), st.sampled_from(Kind), st.booleans())
def test_fair_adversaries_stay_in_fair_end_components(
    question: tuple[DecisionProcess, set[int]], kind: Kind, largest: bool
) -> None:
    process, states = question
    objective, graph = Objective(kind, states), ProcessGraph(process)
    fair = [one for one in brute.end_components(process) if brute.is_fair(process, *one)]
    sought = objective if largest else objective.negation(process.states)
    good = _met_in(sought, fair)
    absorbing = set(range(process.states)) - sought.states if sought.kind is Kind.ALWAYS else set()
    best = Fraction(0)
    for chosen in brute.schedulers(process):
        stopped = [-1 if s in absorbing else choice for s, choice in enumerate(chosen)]
        best = max(best, brute.reached(process, stopped, good)[0])
    value = best if largest else 1 - best
    found = probability(graph, objective, largest=largest)
    assert found.interval.lower <= value <= found.interval.upper
    assert exact_probability(found, objective).value == value
    if not largest:
        surely, witness = almost_surely(graph, objective)
        assert surely == (value == 1)
        if witness is not None and witness.component is not None:
            states_of, choices_of = witness.component.states, witness.component.choices
            assert (frozenset(states_of), frozenset(choices_of)) in fair
            assert witness.state in states_of
        if witness is not None:
            states = [*(step.state for step in witness.route), witness.state]
            assert states[0] in process.initial
            for step, there in zip(witness.route, states[1:], strict=True):
                assert step.choice in process.choices_of(step.state)
                assert step.branch in process.branches_of(step.choice)
                assert process.target[step.branch] == there


def _met_in(sought: Objective, fair: list[tuple[frozenset[int], frozenset[int]]]) -> set[int]:
    match sought.kind:
        case Kind.EVENTUALLY:
            return set(sought.states)
        case Kind.INFINITELY_OFTEN:
            return {s for states, _ in fair if states & sought.states for s in states}
        case Kind.PERSISTENTLY | Kind.ALWAYS:
            return {s for states, _ in fair if states <= sought.states for s in states}


@settings(deadline=None, max_examples=60)
@given(questions(constraints=3))
def test_graphs_are_what_plain_definitions_say(question: tuple[DecisionProcess, set[int]]) -> None:
    process, goal = question
    graph, everything = ProcessGraph(process), reference.all_choices(process)
    whole = graph.whole()
    closure = graph.reaching(goal, whole)
    found = {s for s, status in enumerate(closure.status) if status == KEPT}
    assert found == reference.reaching(process, everything, goal)
    sure, part = graph.almost_surely_reaching(goal, whole)
    wanted = reference.surely_reaching(process, everything, goal)
    assert set(sure.queue) == wanted.keys()
    left = graph.without(goal, whole)
    inner = {s: c for s, c in everything.items() if s not in goal}
    assert {s for s in range(process.states) if left.states[s] != OUT} == reference.closed(
        process, inner
    ).keys()
    ends = {
        frozenset(one) for one in reference.end_components(process, everything) if any(one.values())
    }
    part, components = graph.end_components(whole)
    groups: dict[int, set[int]] = {}
    for state in graph.having(part.states, INSIDE):
        groups.setdefault(components.of[state], set()).add(state)
    assert {frozenset(one) for one in groups.values()} == ends
    fair = fair_components(graph, whole)
    assert set(fair.states) == {
        s for one in reference.fair_components(process, everything) for s in one
    }


@settings(deadline=None, max_examples=40)
@given(questions(constraints=2))
def test_maximal_fair_components_are_the_union_of_all_fair_ones(
    question: tuple[DecisionProcess, set[int]],
) -> None:
    process, visited = question
    fair = [one for one in brute.end_components(process) if brute.is_fair(process, *one)]
    graph = ProcessGraph(process)
    target = target_of(graph, Objective(Kind.INFINITELY_OFTEN, visited))
    wanted = {s for states, _ in fair if states & visited for s in states}
    assert set(target.states) == wanted
