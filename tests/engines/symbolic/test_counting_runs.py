"""Questions about threshold automata for all sizes: verdicts that theory knows."""

from __future__ import annotations

import pytest
import z3

from checker.parametric.automaton.arithmetic import TRUE, linear, plus, times
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Automaton,
    Burst,
    Group,
    Kind,
    Linear,
    Location,
    Mode,
    Outcome,
    Question,
    Quotient,
    Receipt,
    Rule,
)
from checker.parametric.automaton.execution import NotARun, configurations, require_run
from checker.parametric.symbolic.decide import ParametricChecker
from checker.parametric.symbolic.queries import SolverQueries, Unanswered
from checker.parametric.symbolic.recheck import plain
from checker.parametric.symbolic.refinement import Refining
from checker.parametric.symbolic.segments import accelerate
from checker.parametric.symbolic.synthesis import Proposal, conditions, thresholds
from checker.parametric.symbolic.tightness import tightness
from checker.records import replace
from tests.parametric.by_hand import (
    ACCEPTED,
    AGREEMENT,
    CORRECTNESS,
    FOLKLORE_RELAY,
    FOLKLORE_UNFORGEABILITY,
    FOLKLORE_UNIFORM,
    IDLE,
    MORE_THAN_THREE,
    ONE,
    RELAY,
    UNFORGEABILITY,
    F,
    N,
    T,
    at_least,
    echo_broadcast,
    folklore_broadcast,
    naive_voting,
    somebody,
)
from tests.parametric.by_search import Search
from tests.parametric.tracked import everything

ECHO = (UNFORGEABILITY, CORRECTNESS, RELAY)
ONE_SHORT = And((at_least(N, times(T, 3)), at_least(T, F)))
ONE_MORE = And((at_least(N, plus(times(T, 3), ONE)), at_least(plus(T, ONE), F)))


@pytest.mark.parametrize("question", ECHO, ids=lambda question: question.property)
def test_echo_broadcast_is_right_for_every_n(question: Question) -> None:
    """Srikanth and Toueg 1987."""
    decision = ParametricChecker(echo_broadcast()).decide(question)
    assert decision.outcome is Outcome.PROVED
    assert decision.certificate and decision.queries >= 3


def test_relay_needs_more_than_three_times_as_many() -> None:
    counting = ParametricChecker(echo_broadcast(), resilience=ONE_SHORT)
    assert counting.decide(CORRECTNESS).outcome is Outcome.PROVED
    decision = counting.decide(RELAY)
    assert decision.outcome is Outcome.VIOLATED and decision.run is not None
    least = counting.smallest(RELAY, decision.run)
    numbers = dict(least.values)
    assert (numbers["n"], numbers["T"], numbers["f"]) == (3, 1, 1)
    require_run(echo_broadcast(), least, RELAY, ONE_SHORT)


def test_one_liar_more_forges() -> None:
    decision = ParametricChecker(echo_broadcast(), resilience=ONE_MORE).decide(UNFORGEABILITY)
    assert decision.outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("t", "f", "violated"),
    [
        (1, 0, ""),
        (1, 1, ""),
        (1, 2, "UCR"),
        (2, 0, ""),
        (2, 1, "R"),
        (2, 2, "UR"),
        (2, 3, "UCR"),
    ],
)
def test_echo_broadcast_of_four(t: int, f: int, violated: str) -> None:
    """The table of `verdicts.md` for N = 4."""
    counting = ParametricChecker(echo_broadcast(), fixed={"n": 4, "T": t, "f": f}, resilience=TRUE)
    found = "".join(
        question.property[0].upper()
        for question in ECHO
        if counting.decide(question).outcome is Outcome.VIOLATED
    )
    assert found == violated


def test_folklore_broadcast_is_right_whoever_crashes() -> None:
    counting = ParametricChecker(folklore_broadcast())
    assert counting.decide(FOLKLORE_RELAY).outcome is Outcome.PROVED
    assert counting.decide(FOLKLORE_UNFORGEABILITY).outcome is Outcome.PROVED
    decision = counting.decide(FOLKLORE_UNIFORM)  # who accepts and crashes may take it along
    assert decision.run is not None
    numbers = dict(counting.smallest(FOLKLORE_UNIFORM, decision.run).values)
    assert (numbers["n"], numbers["f"], numbers["faulty"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("n", "outcome"), [(4, Outcome.PROVED), (5, Outcome.VIOLATED), (6, Outcome.PROVED)]
)
def test_naive_voting_agrees_by_parity(n: int, outcome: Outcome) -> None:
    fixed = {"n": n, "T": 1, "f": 1}
    assert ParametricChecker(naive_voting(), fixed=fixed).decide(AGREEMENT).outcome is outcome
    assert Search(naive_voting(), fixed).violates(AGREEMENT) is (outcome is Outcome.VIOLATED)


def test_the_smallest_run_has_the_fewest_steps() -> None:
    """With 3 processes, one of them a liar: one wishes, echoes, and accepts with the lie."""
    decision = ParametricChecker(echo_broadcast(), resilience=ONE_SHORT).decide(RELAY)
    assert decision.run is not None
    run = ParametricChecker(echo_broadcast(), resilience=ONE_SHORT).smallest(RELAY, decision.run)
    assert sum(burst.times for segment in run.segments for burst in segment) == 2


# ---- nothing is proved by there being nothing ----------------------------------------------


def test_a_condition_that_nothing_satisfies_is_vacuous() -> None:
    nothing = And((at_least(N, plus(N, ONE)),))
    decision = ParametricChecker(echo_broadcast(), resilience=nothing).decide(RELAY)
    assert decision.outcome is Outcome.VACUOUS and decision.reason


def test_a_premise_that_never_holds_is_vacuous() -> None:
    automaton = echo_broadcast()
    nobody_accepts = replace(automaton, rules=automaton.rules[:2])
    decision = ParametricChecker(nobody_accepts).decide(RELAY)
    assert decision.outcome is Outcome.VACUOUS
    assert decision.reason == "its premise never holds"


def test_where_z3_gives_up_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = ParametricChecker(echo_broadcast())
    monkeypatch.setattr(SolverQueries, "ask", lambda *_, **__: Unanswered("z3 gave up: so"))
    decision = counting.decide(RELAY)
    assert decision.outcome is Outcome.UNKNOWN and decision.reason == "z3 gave up: so"


def test_where_the_second_form_is_not_answered_it_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = ParametricChecker(echo_broadcast())
    monkeypatch.setattr(counting, "_again", lambda *_: (Unanswered("z3 gave up: so"), ""))
    assert counting.decide(RELAY).outcome is Outcome.UNKNOWN


def test_what_is_no_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a parameter"):
        ParametricChecker(echo_broadcast(), fixed={"m": 3})


def test_cycles_are_refused() -> None:
    automaton = echo_broadcast()
    back = Rule(ACCEPTED, IDLE, TRUE, (), "forget")
    with pytest.raises(ValueError, match="cycle"):
        ParametricChecker(replace(automaton, rules=(*automaton.rules, back)))


# ---- executing ------------------------------------------------------------------------------


def test_what_is_no_run_is_not_executed() -> None:
    automaton = echo_broadcast()
    decision = ParametricChecker(automaton, resilience=ONE_SHORT).decide(RELAY)
    assert decision.run is not None
    run = ParametricChecker(automaton, resilience=ONE_SHORT).smallest(RELAY, decision.run)
    assert sum(list(configurations(automaton, run))[-1].where) == 2
    with pytest.raises(NotARun, match="outside the query"):
        require_run(automaton, run, RELAY)
    with pytest.raises(NotARun, match="does not violate"):
        require_run(automaton, run, Question("other", somebody(ACCEPTED), False), ONE_SHORT)
    early = replace(run, segments=((Burst(2, 1),), *run.segments))
    with pytest.raises(NotARun, match="can't leave"):
        list(configurations(automaton, early))
    more = replace(run, begin=(run.begin[0] + 1, *run.begin[1:]))
    with pytest.raises(NotARun, match="size"):
        list(configurations(automaton, more))
    lonely = replace(run, segments=((Burst(1, 1),),))
    with pytest.raises(NotARun, match="can have received"):
        list(configurations(automaton, lonely))
    unfinished = replace(run, segments=())
    with pytest.raises(NotARun, match="must move on"):
        require_run(automaton, unfinished, Question("all", somebody(IDLE), True), ONE_SHORT)


# ---- what is needed ---------------------------------------------------------------------------


def test_the_condition_of_echo_broadcast_is_tight() -> None:
    counting = ParametricChecker(echo_broadcast())
    found = list(tightness(counting, ECHO))
    assert [(each.dropped, each.question and each.question.property) for each in found] == [
        (False, "relay"),
        (False, "unforgeability"),
    ]
    assert found[0].run is not None
    numbers = dict(found[0].run.values)
    assert (numbers["n"], numbers["T"], numbers["f"]) == (3, 1, 1)


def test_a_condition_that_nobody_needs_is_dropped() -> None:
    """Folklore broadcast is right even where all crash: nobody is left to accept."""
    found = list(tightness(ParametricChecker(folklore_broadcast()), [FOLKLORE_RELAY]))
    assert [(each.dropped, each.question) for each in found] == [(False, None), (True, None)]


def test_the_weakest_condition_of_echo_broadcast() -> None:
    """n - T echoes have n - T - f that are true, which must be T + 1: n > 2 * T + f."""
    found = list(conditions(ParametricChecker(echo_broadcast()), ECHO, largest=3))
    parts = [each.part for each in found if isinstance(each, Proposal)]
    assert len(parts) == len(found)
    assert at_least(N, plus(times(T, 2), F, ONE)) in parts
    assert at_least(N, plus(times(T, 3), ONE)) not in parts  # it follows


def test_thresholds_of_echo_broadcast() -> None:
    """To accept takes at least 2 * T + 1 echoes for relay, and at most n - T for correctness."""
    counting = ParametricChecker(echo_broadcast(linear({"accepts": 1})), resilience=MORE_THAN_THREE)
    found = list(thresholds(counting, ECHO, "accepts", sizes=("n", "T"), divisors=(1,)))
    proposed = {each.threshold for each in found if isinstance(each, Proposal)}
    assert len(proposed) == len(found)
    assert proposed == {
        Quotient("accepts", linear({"n": 1, "T": -1}), 1),
        Quotient("accepts", linear({"T": 2}, 1), 1),
    }


# ---- all in order -------------------------------------------------------------------------------


def chain(length: int) -> Automaton:
    """Each message is sent by whoever has the one before."""
    begin = Location("begin", 0, (), initial=True)
    places = tuple(Location(f"sent {kind}", 0, ()) for kind in range(length))
    rules = []
    for kind in range(length):
        before = linear({f"#M{kind - 1}": 1}, -1)
        guard = AtLeast(before) if kind else TRUE
        rules.append(Rule(0, 1 + kind, guard, (kind,), f"send {kind}"))
    return Automaton(
        name="chain",
        parameters=("n",),
        hidden=(),
        quotients=(),
        constraints=(),
        resilience=TRUE,
        groups=(Group("correct", N, Mode.CORRECT),),
        locations=(begin, *places),
        kinds=tuple(Kind(f"M{kind}", "M", (kind,), None, Linear()) for kind in range(length)),
        receipts=tuple(Receipt(f"#M{kind}", (kind,)) for kind in range(length)),
        rules=tuple(rules),
    )


@pytest.mark.parametrize(("n", "found"), [(3, False), (4, True)])
def test_there_are_as_many_segments_as_it_takes(n: int, found: bool) -> None:
    """Where everything is tracked, each link of the chain takes a segment of its own; one link left
    out, none is taken after it."""
    automaton = chain(4)
    refining = Refining(automaton)
    every = frozenset(range(4))
    tracked = everything(refining)
    for runs in (accelerate(automaton, refining.guards, tracked), plain(automaton, every)):
        assert len(runs.taken) == 4
        solver = z3.Solver()
        solver.add(*runs.assertions, runs.numbers["n"] == n, runs.moments[-1].where[4] >= 1)
        assert (solver.check() == z3.sat) is found


def test_what_only_supports_itself_does_not_happen() -> None:
    """Each of two messages is sent by whoever has the other."""
    automaton = chain(2)
    mutual = replace(automaton.rules[0], guard=AtLeast(linear({"#M1": 1}, -1)))
    automaton = replace(automaton, rules=(mutual, automaton.rules[1]))
    question = Question("silence", somebody(1, 2), at_end=False)
    assert ParametricChecker(automaton).decide(question).outcome is Outcome.PROVED
