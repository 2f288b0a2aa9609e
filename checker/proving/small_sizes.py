"""Searches an exact automaton at all small sizes by an engine, and replays runs of it by the
interpreter: verdicts for every size are compared with what the definition of the language says of
a few."""

from __future__ import annotations

from msgspec import Struct

from checker.engines.exploration import explore
from checker.engines.options import Options
from checker.engines.search_engine import SearchProblem
from checker.extensions.tables import DEFAULT
from checker.parametric.automaton.automaton import (
    AcceleratedRun,
    AllOf,
    Automaton,
    Decision,
    Outcome,
    Question,
)
from checker.parametric.automaton.counters import CounterSystem
from checker.parametric.automaton.execution import NotARun
from checker.parametric.symbolic.decide import ParametricChecker
from checker.records import replace
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import rerun

LARGEST = 4
"""Parameters up to this number are searched, or up to one more than the smallest ones that the
condition allows."""

MOST_SENT = 40
"""How often each kind of message is sent, at most."""


def compared(
    decision: Decision, automaton: Automaton, question: Question, options: Options
) -> Decision:
    """Returns ``decision`` about ``question``, with what confirms it: a search of small sizes
    (``options.limits``) that finds no violation, or the interpreter that accepts its run.  It
    becomes unknown where either contradicts it.
    """
    try:
        if decision.run is not None:
            replay_at_its_sizes(automaton, question, decision.run)
            return replace(decision, certificate="replayed by the interpreter")
        found = search_small_sizes(automaton, question, options)
    except (NotARun, ReplayMismatch) as failure:
        reason = f"the interpreter refuses a run: {failure}"
        return Decision(question, Outcome.UNKNOWN, reason=reason)
    if found.run is not None:
        reason = f"{decision.outcome.value}, but a run of small sizes violates it"
        return Decision(question, Outcome.UNKNOWN, reason=reason)
    said = (decision.certificate, found.text)
    return replace(decision, certificate="; ".join(part for part in said if part))


class Searched(Struct, frozen=True):
    """How many ``states`` of sizes up to ``largest`` were searched, and whether these are ``all``;
    ``run``: a shortest one that violates the question."""

    states: int
    largest: int
    all: bool
    run: AcceleratedRun | None

    @property
    def text(self) -> str:
        """In words."""
        if not self.states:
            return f"there are no sizes up to {self.largest}"
        first = "all" if self.all else "the first"
        return f"searched {first} {self.states:,} states of sizes up to {self.largest}"


def search_small_sizes(
    automaton: Automaton, question: Question, options: Options, engine: str = DEFAULT
) -> Searched:
    """Searches ``automaton`` for a violation of ``question``, within ``options.limits``.

    Raises :class:`ReplayMismatch` where the interpreter refuses the run
    that was found.
    """
    largest = max(LARGEST, *(number + 1 for number in _smallest(automaton, question)))
    counters = CounterSystem(automaton, question, largest, MOST_SENT)
    limits = replace(options.limits, until_decided=True)
    problem = SearchProblem(counters.system, replace(options, limits=limits))
    answer = explore(engine, problem, None)
    path = answer.violations.get(question.property)
    run = None
    if path is not None:
        (asked,) = counters.system.properties
        moments = rerun(counters.system, path, asked).moments
        steps = [one.transition.action.name for one in moments if one.transition is not None]
        run = counters.run(path.states[0], steps)
    return Searched(answer.distinct_states, largest, answer.exhaustive, run)


def _smallest(automaton: Automaton, question: Question) -> list[int]:
    """Returns the smallest numbers of parameters with which a run can begin as ``question`` says,
    or 0 where none can."""
    begins = Question("", AllOf(), False, begins=question.begins)
    counting = ParametricChecker(automaton)
    run, _ = counting.find(begins)
    if not isinstance(run, AcceleratedRun):
        return [0]
    return [number for _, number in counting.smallest(begins, run, steps=False).values]


def replay_at_its_sizes(automaton: Automaton, question: Question, run: AcceleratedRun) -> None:
    """Replays ``run`` by the interpreter in the system of its sizes.

    Raises :class:`ReplayMismatch` where that refuses it, or it does not violate ``question``, and
    ``NotARun`` where it is no run of ``automaton``.
    """
    begin = {each.name: run.begin[at] for at, each in enumerate(automaton.locations)}
    fixed = {**dict(run.values), **begin}
    steps = sum(burst.times for segment in run.segments for burst in segment)
    most = max((len(rule.sends) for rule in automaton.rules), default=0) * steps
    counters = CounterSystem(automaton, question, max(fixed.values()), most, fixed)
    (asked,) = counters.system.properties
    rerun(counters.system, counters.path(run), asked)
