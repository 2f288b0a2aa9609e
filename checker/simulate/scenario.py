"""Runs scenarios: executions in words, step by step, with claims that are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.diagnostics.english import listing
from checker.language.syntax import typed
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import PropertyKind
from checker.results.answer import Path
from checker.results.trace import ProcessOutcome, Trace
from checker.results.verdict import ScenarioVerdict
from checker.results.violation_witnesses import violated_text
from checker.simulate.choices import START, Choice, choices, starts
from checker.simulate.judging import (
    Truths,
    is_bad,
    violated_properties,
    why_not_admitted,
)
from checker.simulate.phrase_matching import Unclear
from checker.simulate.prepared_check import PreparedCheck
from checker.simulate.session import NotPossible, SteppingSession, trace_of_choices
from checker.simulate.why_not import why_not

MOST = 12
"""The largest number of alternatives that are listed."""


class Problem(Struct, frozen=True):
    """A deviation from the scenario, at the line of ``span``; ``possible``: the steps that are
    enabled instead.
    """

    message: str
    span: Span
    possible: tuple[str, ...] = ()


class Played(Struct, frozen=True):
    """The result of a scenario: the steps taken, from the start, and the first problem.

    ``loop``: the start of the lasso's cycle, as in :class:`checker.results.answer.Path`.
    """

    scenario: typed.Scenario
    taken: tuple[Choice, ...]
    loop: int | None = None
    problem: Problem | None = None

    @property
    def states(self) -> tuple[State, ...]:
        """The states of the execution."""
        return tuple(choice.successor for choice in self.taken)


def play(opened: PreparedCheck, scenario: typed.Scenario) -> Played:
    """Runs ``scenario`` from the start, and checks its claims where it is possible."""
    try:
        session = SteppingSession(opened)
    except RunFault as fault:
        message = f"no run can start: {fault.message}"
        return Played(scenario, (), problem=Problem(message, scenario.span))
    problem = _follow(session, scenario.steps)
    if problem is None and session.state is None:
        ways = tuple(way.text for way in session.choices.ways)
        message = "the first step must choose one of several initial states"
        problem = Problem(message, scenario.span, ways[:MOST])
    before = len(session.steps_taken) - 1
    if problem is None and scenario.again:
        problem = _follow(session, scenario.again) or _loop_problem(session, scenario, before)
    if problem is not None:
        return Played(scenario, session.steps_taken, problem=problem)
    loop = before if scenario.again else None
    played = Played(
        scenario, session.steps_taken[:-1] if scenario.again else session.steps_taken, loop
    )
    for claim in scenario.claims:
        said = _false(session, played, claim)
        if said:
            return Played(scenario, played.taken, loop, Problem(said, claim.span))
    return played


def prefix_of(opened: PreparedCheck, scenario: typed.Scenario) -> tuple[State, ...]:
    """Returns the states of the steps of ``scenario``, without those of its ``forever``.

    Raises ``RunFault`` where no run can start, and :class:`SpecError` (E048) at the step that is
    not possible.
    """
    session = SteppingSession(opened)
    problem = _follow(session, scenario.steps)
    if problem is None and session.state is None:
        problem = Problem("the first step must choose an initial state", scenario.span)
    if problem is not None:
        hint = f"possible steps: {'; '.join(problem.possible)}" if problem.possible else ""
        raise SpecError((Diagnostic("E048", problem.message, problem.span, hint=hint),))
    return session.states


def _follow(session: SteppingSession, steps: Iterable[typed.Happening]) -> Problem | None:
    for step in steps:
        try:
            found = session.say(step.text)
        except (RunFault, NotPossible) as problem:
            return Problem(str(problem), step.span)
        if isinstance(found, Unclear):
            message = found.message + _reason(session, step.text, found)
            if " then " in step.text:
                message += " (write each step and each `then` on a separate line)"
            possible = found.choices or tuple(way.text for way in session.choices.ways)
            return Problem(message, step.span, possible[:MOST])
    return None


def _reason(session: SteppingSession, words: str, found: Unclear) -> str:
    """Returns why the step ``words`` is not enabled, where that is known."""
    if session.state is None or not found.disabled:
        return ""
    first = why_not(words, session.system, session.state, session.trace())[0]
    return f": {first.text}" if first.explains else ""


def _loop_problem(
    session: SteppingSession, scenario: typed.Scenario, before: int
) -> Problem | None:
    """Explains what is wrong with the cycle of the scenario."""
    states = session.states
    at = scenario.again[-1].span
    if states[-1] != states[before]:
        return Problem("the steps of `forever` do not return to the state before them", at)
    why = why_not_admitted(session.system, states[:-1], before)
    return None if why is None else Problem(f"this can't continue forever: {why}", at)


def _false(session: SteppingSession, played: Played, claim: typed.Claim) -> str:
    """Explains why ``claim`` is false of the execution; empty where it is true."""
    if claim.what == "it":
        return _why_false_of_run(session, played, claim.word)
    system, states = session.system, played.states
    parts = system.parts_of(claim.what)
    safe = [prop for prop in parts if prop.kind is PropertyKind.INVARIANT]
    bad = any(is_bad(system, prop, state) for prop in safe for state in states)
    if bad or (safe and len(safe) == len(parts)):
        return _mismatch_text(session, played, claim, bad)
    end = len(states) - 1 if played.loop is None else played.loop
    why = why_not_admitted(system, states, end)
    if beyond := session.beyond():
        return f"{claim.what} is a liveness property: {beyond}"
    if why is not None:
        pending = "; ".join(session.enabled_fairness()[:3])
        return f"{claim.what} is a liveness property, and this run can't end here: {pending or why}"
    return _mismatch_text(
        session,
        played,
        claim,
        claim.what in {b.property.asked for b in violated_properties(Truths(system), states, end)},
    )


def _mismatch_text(session: SteppingSession, played: Played, claim: typed.Claim, bad: bool) -> str:
    """Returns what happened in place of what ``claim`` says; empty where that is so."""
    if claim.word == ("violated" if bad else "holds"):
        return ""
    last = next((n for n, s in enumerate(played.states) if _is_violated(session, claim, s)), None)
    taken = played.taken if last is None else played.taken[: last + 1]
    loop = played.loop if last is None else None
    trace = trace_of_choices(session.prepared, taken, loop, claim.what)
    if bad:
        return f"{violated_text(trace.property_name, trace.witness)} {_after(last)}"
    outcomes = "; ".join(_outcome_text(fate) for fate in trace.fates)
    return f"{claim.what} holds in this run: {outcomes}"


def _is_violated(session: SteppingSession, claim: typed.Claim, state: State) -> bool:
    """Returns whether ``state`` alone violates the property of ``claim``."""
    parts = session.system.parts_of(claim.what)
    safe = [prop for prop in parts if prop.kind is PropertyKind.INVARIANT]
    return any(is_bad(session.system, prop, state) for prop in safe)


def _after(number: int | None) -> str:
    return "in this run" if not number else f"after step {number} of this run"


def _outcome_text(fate: ProcessOutcome) -> str:
    """Returns what a process has indicated, in a few words."""
    down = ", and crashed" if fate.crashed else ""
    return f"{fate.process} indicated {listing(fate.deliveries) or 'nothing'}{down}"


def _why_false_of_run(session: SteppingSession, played: Played, word: str) -> str:
    """Returns why ``it WORD`` is false of the run; empty where it is true."""
    ends = played.loop is None and session.ends()
    if word == "fails":
        return "" if session.faults() else "no possible next step meets an error"
    if beyond := session.beyond():
        return f"undecided for this run: {beyond}"
    if word == "ends" and not ends:
        pending = "; ".join(session.enabled_fairness()[:3])
        more = f": fairness requires more ({pending})" if pending else ""
        return f"it does not end{more}"
    if word == "continues" and ends:
        return "it ends: no fairness assumption requires another step"
    return ""


# executions into words


def as_choices(opened: PreparedCheck, path: Path) -> tuple[Choice, ...]:
    """Converts the steps of ``path`` into choices, including the one that closes its cycle, if any.

    Raises :class:`NotPossible` where it is no execution of the system.
    """
    system = opened.system
    taken = [_leading(starts(system), path.states[0], 0)]
    states = list(path.states[1:])
    if path.loop is not None and path.loop < len(path.states) - 1:
        states.append(path.states[path.loop])
    for number, state in enumerate(states, start=1):
        taken.append(_leading(choices(system, taken[-1].successor).ways, state, number))
    return tuple(taken)


def _leading(among: Sequence[Choice], state: State, number: int) -> Choice:
    for choice in among:
        if choice.successor == state:
            return choice
    raise NotPossible(f"no transition leads to the state of step {number}")


def clause(name: str, taken: Sequence[Choice], loop: int | None, claims: Iterable[str]) -> str:
    """Returns the text of the clause ``scenario name { … }``.

    ``taken``: as :func:`as_choices` gives them; ``claims``: such as ``agreement violated``.
    """
    texts = [choice.text for choice in taken]
    if texts[0] == START:
        texts[0] = ""
    lines = [f"scenario {name} {{"]
    closes = loop is not None and loop < len(texts) - 1
    head, again = (
        (texts[: loop + 1], texts[loop + 1 :]) if closes and loop is not None else (texts, [])
    )
    lines += [f"  {text}" for text in head if text]
    if again:
        lines += ["  forever {", *(f"    {text}" for text in again), "  }"]
    lines += [f"  then {claim}" for claim in claims]
    return "\n".join([*lines, "}"]) + "\n"


def claims_of(trace: Trace) -> tuple[str, ...]:
    """Returns the claims of a scenario that records the execution of ``trace``."""
    if trace.failure is not None:
        return ("it fails",)
    claims = (f"{trace.property_name} violated",) if trace.word == "violated" else ()
    return (*claims, "it ends") if trace.ends and trace.loop is None else claims


def judge_scenario(opened: PreparedCheck, scenario: typed.Scenario) -> ScenarioVerdict:
    """Judges whether ``scenario`` is possible as it is written, and whether its claims are true."""
    return verdict_of(play(opened, scenario))


def verdict_of(played: Played) -> ScenarioVerdict:
    """Returns the verdict on a scenario that was run."""
    name, problem, steps = played.scenario.name, played.problem, max(len(played.taken) - 1, 0)
    if problem is None:
        span = played.scenario.span
        reason = "it runs as written, and its claims are true"
        return ScenarioVerdict(name, True, reason, span.file, span.line, span.column, steps)
    span = problem.span
    return ScenarioVerdict(
        name, False, problem.message, span.file, span.line, span.column, steps, problem.possible
    )
