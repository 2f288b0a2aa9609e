"""What is said not to matter is left out, and the rest is still a run that violates its property.

The judge here is a second definition: it goes through all states that the remaining steps can lead
to, and knows neither :mod:`checker.explain.leave_out` nor :mod:`checker.results.fair_lasso`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.explain import counterfactual_queries
from checker.explain.costs import cost_of
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.explain import explain
from checker.explain.leave_out import irrelevant, is_irrelevant, remove_unneeded
from checker.explain.slice import context
from checker.instantiate.assemble import instantiate
from checker.instantiate.faults.fault_marks import faults_of
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.formula import ask
from checker.records import replace
from checker.reductions.registry import modes
from checker.resources import specs
from checker.results.answer import Path as Execution
from checker.results.fair_lasso import truth
from checker.results.replay import path_of, replay
from checker.results.rerun import Moment, rerun
from checker.results.trace import Cost, Trace
from checker.session.pipeline import is_parametric, load_check, run_check
from checker.session.trace_header import settings_of
from tests.explain.random_protocols import draw
from tests.explain.violations import Violation
from tests.selection import first_by_default


def violated_checks() -> list[str]:
    """The checks of the library that violate something."""
    files = json.loads((specs() / "manifest.json").read_text())["files"]
    return [
        f"{file}::{name}"
        for file, about in files.items()
        for name, check in about["checks"].items()
        if "violated" in check["verdicts"].values()
    ]


def violations(path: Path, check: str | None, reduce: str = "auto") -> Iterator[Violation]:
    """The violations that ``check`` shows, with these reductions."""
    report = run_check(str(path), check, Options(reduce=reduce))
    for verdict in report.verdicts:
        trace = verdict.trace
        if trace is not None and trace.word == "violated":
            system = system_of(path, check, trace)
            prop = system.violated_part(verdict.property, lasso=trace.loop is not None)
            assert prop is not None
            yield Violation(system, prop, rerun(system, path_of(system, trace), prop), trace)


def system_of(path: Path, check: str | None, trace: Trace) -> TransitionSystem:
    settings, grown = settings_of(trace.header)
    return instantiate(
        load_check(str(path), check, settings), settings, ask, capacities=grown
    ).system


def only(path: Path, text: str, reduce: str = "auto") -> Violation:
    path = path / "spec.bcast"
    path.write_text(text)
    (found,) = violations(path, None, reduce)
    return found


def claimed(found: Violation) -> tuple[int, ...]:
    steps = context(found.system, found.prop, found.run, found.trace)
    return irrelevant(found.system, found.prop, found.run, steps)


# ---- the second definition --------------------------------------------------------------------


def remains_violated(found: Violation, left_out: set[int], optional: set[int]) -> bool:
    """Whether the run without ``left_out``, and without those of ``optional`` that can't be taken
    then, is one that violates the property and owes nothing but what was left out."""
    run, system = found.run, found.system
    moments: list[Moment] = list(run.moments)
    if run.closing is not None and run.loop != len(run.moments) - 1:
        moments.append(run.closing)
    runs: list[tuple[list[State], list[int]]] = [([run.moments[0].state], [])]
    for number, moment in enumerate(moments[1:], start=1):
        longer = []
        for states, without in runs:
            ways = [] if number in left_out else list(same_steps(system, moment, states[-1]))
            longer += [([*states, way], without) for way in ways]
            if number in left_out or (not ways and number in optional):
                longer.append((states, [*without, number]))
        runs = longer
    return any(violates(found, moments, states, without) for states, without in runs)


def same_steps(system: TransitionSystem, moment: Moment, state: State) -> Iterator[State]:
    assert moment.transition is not None
    for way in interpreter.successors(system, state):
        like = (way.action.name, way.params, way.events)
        taken = moment.transition.action.name, moment.transition.params, moment.events
        if way.successor is not None and like == taken:
            yield way.successor


def violates(
    found: Violation, moments: list[Moment], states: list[State], without: list[int]
) -> bool:
    system, prop, run = found.system, found.prop, found.run
    if prop.kind is not PropertyKind.LIVENESS:
        return interpreter.holds(system, prop.bad, states[-1])
    assert run.loop is not None and prop.formula is not None
    first = run.loop - sum(number <= run.loop for number in without)
    cycle = states[first:] if len(states) - 1 > first else [states[first], states[first]]
    if cycle[0] != cycle[-1]:
        return False
    whole = [*states[:first], *cycle[:-1]]
    names = {p.name: v for p, v in zip(prop.params, run.values, strict=True)}
    rows = [[interpreter.holds(system, p, s, names) for s in whole] for p in prop.propositions]
    if truth(prop.formula, rows, len(whole), first)[0]:
        return False
    taken = [moments[number].transition for number in without]
    return due(system, cycle) <= {(t.action.name, t.params) for t in taken if t is not None}


def due(system: TransitionSystem, cycle: list[State]) -> set[tuple[str, tuple[object, ...]]]:
    """The steps by which what is due in a cycle forever could be done."""
    enabled: list[dict[object, set[tuple[str, tuple[object, ...]]]]] = []
    taken: set[object] = set()
    strong: set[object] = set()
    for state, after in pairwise(cycle):
        moves = interpreter.moves(system, state)
        taken |= moves.steps.get(after, frozenset())
        strong |= {c for c, fairness in moves.enabled.items() if fairness.kind.value == "strong"}
        here: dict[object, set[tuple[str, tuple[object, ...]]]] = {c: set() for c in moves.enabled}
        for way in interpreter.successors(system, state):
            constraint = interpreter.taken_constraint(system, state, way)
            if constraint is not None:
                here[constraint].add((way.action.name, way.params))
        enabled.append(here)
    assert all(
        any(interpreter.holds(system, justice.holds, state) for state in cycle)
        for justice in system.justice
    )
    found: set[tuple[str, tuple[object, ...]]] = set()
    for constraint in set().union(*enabled) - taken:
        if constraint in strong or all(constraint in here for here in enabled):
            found |= set().union(*(here.get(constraint, set()) for here in enabled))
    return found


def hold_claims(found: Violation, steps: tuple[int, ...]) -> None:
    """Each step that is said not to matter, and all of them together, may be left out."""
    if steps:
        every = set(steps)
        assert remains_violated(found, every, every), steps
        for step in steps:
            assert remains_violated(found, {step}, every), (step, steps)


# ---- what is said -----------------------------------------------------------------------------

HIDDEN = {
    "a ghost": (
        """protocol P {
  ghost shared state entered : 0..2 = 0
  state inside = false
  upon condition not inside as enters { inside := true  entered := entered + 1 }
  property alone : always entered <= 1
}
check c of P { n = 2 expect alone violated }""",
        set(),
    ),
    "who was first": (
        """protocol P {
  state inside = false
  ghost shared state first : option<Proc> = none
  upon condition not inside as enters { inside := true  if first == none { first := some(self) } }
  property second_is_first : always forall p in Proc: p.inside and rank(p) == 2 => first == some(p)
}
check c of P { n = 2 expect second_is_first violated }""",
        set(),
    ),
    "acts": (
        """protocol P {
  state inside = false
  upon condition not inside as enters { inside := true  perform rank(self) }
  property in_turn : always performed != [2, 1]
}
check c of P { n = 2 expect in_turn violated }""",
        set(),
    ),
    "a budget used up": (
        """protocol P {
  state inside = false
  state looked = false
  upon condition not inside as enters { inside := true }
  upon condition not looked as looks { looked := true }
  property second_enters : forall p in Proc: rank(p) == 2 => eventually p.inside
}
check c of P { n = 2 at most 1 enters expect second_enters violated }""",
        {"looks"},
    ),
    "a guard made false": (
        """protocol P {
  shared state free = true
  state inside = false
  state looked = false
  may upon condition free and rank(self) == 1 as shuts { free := false }
  upon condition free and rank(self) == 2 as enters { free := false  inside := true }
  upon condition not looked as looks { looked := true }
  property second_enters : forall p in Proc: rank(p) == 2 => eventually p.inside
}
check c of P { n = 2 allow unused expect second_enters violated }""",
        {"looks"},
    ),
}
"""By what a violation depends on, without a message: a spec, and the handlers that don't matter."""


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.every
def test_a_violation_depends_on(tmp_path: Path, name: str) -> None:
    text, others = HIDDEN[name]
    found = only(tmp_path, text)
    steps = claimed(found)
    hold_claims(found, steps)
    names = {s.number: s.action.partition("(")[0] for s in found.trace.steps[1:]}
    assert {names[step] for step in steps} <= others
    acting = [number for number, name in names.items() if name not in others]
    for step in acting:
        assert not is_irrelevant(found.system, found.prop, found.run, (step,))


CHECKS = (
    "consensus/paxos.bcast::outvoted",
    "consensus/wait_for_all.bcast::crash_one",
    "broadcast/eager_reliable.bcast::crash_one",
)


@pytest.mark.parametrize("name", first_by_default(dict.fromkeys((*CHECKS, *violated_checks())), 3))
@pytest.mark.every
def test_claims_about_the_library(name: str) -> None:
    file, _, check = name.partition("::")
    if is_parametric(str(specs() / file), check, {}):
        pytest.skip("it is about every size, and has no finite system")
    for found in violations(specs() / file, check):
        hold_claims(found, claimed(found))


@pytest.mark.parametrize("seeds", first_by_default([range(6), range(6, 200)], 1), ids=str)
def test_claims_about_random_protocols(tmp_path: Path, seeds: range) -> None:
    path = tmp_path / "spec.bcast"
    for seed in seeds:
        draw(seed).write(path)
        for found in violations(path, None):
            hold_claims(found, claimed(found))


# ---- what is left out -------------------------------------------------------------------------

CRASHES = """protocol P {
  message PING
  message PONG
  state answered : set<Proc> = {}
  may upon condition rank(self) == 1 as asks { send PING to all }
  upon receive PING from p { send PONG to p }
  upon receive PONG from p { answered += p }
  property few : always forall p in Proc: #p.answered < 2
}
check c of P { n = 3  faults crash <= 1  expect few violated }
"""


def with_a_crash(found: Violation) -> Iterator[Execution]:
    """The run with a crash more, at each place where its steps can be taken all the same."""
    states = [moment.state for moment in found.run.moments]
    for at, state in enumerate(states):
        for way in interpreter.successors(found.system, state):
            if way.successor is None or not any(faults_of(found.system, (way.events,))):
                continue
            longer = [*states[: at + 1], way.successor]
            for moment in found.run.moments[at + 1 :]:
                longer += list(same_steps(found.system, moment, longer[-1]))[:1]
            last = longer[-1]
            if len(longer) == len(states) + 1 and interpreter.holds(
                found.system, found.prop.bad, last
            ):
                yield Execution(tuple(longer))


def test_a_fault_that_does_not_matter_is_left_out_without_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash of a process that is not needed any more, wherever it is in the run."""
    monkeypatch.setattr(counterfactual_queries, "explore_in_time", lambda *_: "no search")
    found = only(tmp_path, CRASHES, "none")
    start = path_of(found.system, found.trace)
    _, run = remove_unneeded(found.system, found.prop, start, found.run, lambda: False)
    assert cost_of(found.system, run).faults == 0
    found = replace(found, run=run)
    longer = list(with_a_crash(found))
    assert longer
    for path in longer:
        trace = replay(found.system, path, found.prop, found.trace.header)
        said = explain(found.system, trace, ExplainingBudget(600), strict=True).explanation
        assert said is not None and said.before is not None and said.after is not None
        assert said.before.faults == 1
        assert said.after == cost_of(found.system, found.run)
        assert not said.least  # nothing was searched, so nothing is known of other runs


def test_no_step_of_what_remains_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    for seed in range(6):
        draw(seed).write(path)
        for found in violations(path, None):
            start = path_of(found.system, found.trace)
            _, run = remove_unneeded(found.system, found.prop, start, found.run, lambda: False)
            least = Violation(found.system, found.prop, run, found.trace)
            assert cost_of(found.system, run).steps <= cost_of(found.system, found.run).steps
            if found.prop.kind is not PropertyKind.LIVENESS:
                for step in range(1, len(run.moments)):
                    assert not remains_violated(least, {step}, set(range(step, len(run.moments))))


# ---- the shortest -----------------------------------------------------------------------------


def least_costs(path: Path, check: str | None, reduce: str) -> dict[str, tuple[bool, Cost]]:
    """For each violated property, whether the run that is shown is said to be minimal, and its
    cost."""
    report = run_check(str(path), check, Options(reduce=reduce, explain=600.0))
    found = {}
    for verdict in report.verdicts:
        trace = verdict.trace
        if trace is not None and trace.explanation is not None and trace.explanation.after:
            found[verdict.property] = trace.explanation.least, trace.explanation.after
    return found


MODES = [mode for mode in modes() if mode != "none"]


@pytest.mark.parametrize("reduce", MODES)
@pytest.mark.parametrize("seeds", first_by_default([range(3), range(3, 60)], 1), ids=str)
@pytest.mark.every
def test_what_is_said_to_be_minimal_is_so(tmp_path: Path, reduce: str, seeds: range) -> None:
    path = tmp_path / "spec.bcast"
    for seed in seeds:
        draw(seed).write(path)
        whole = least_costs(path, None, "none")
        for name, (least, cost) in least_costs(path, None, reduce).items():
            known, wanted = whole[name]
            if least and known:
                assert cost == wanted, seed


HEARTBEATS = """protocol P {
  message BEAT
  message GO
  state heard : set<Proc> = {}
  state gone = false
  upon condition not gone and rank(self) == 1 as beats { send BEAT to all }
  upon receive BEAT from p { heard += p }
  may upon condition not gone and rank(self) == 1 as goes { gone := true  send GO to all }
  upon receive GO from p { gone := true }
  property stays : always forall p in Proc: rank(p) == 2 => not p.gone
}
check c of P { n = 2  links persistent  expect stays violated }
"""


@pytest.mark.parametrize("reduce", MODES)
def test_what_goes_first_in_a_reduction_is_not_in_the_run_that_is_shown(
    tmp_path: Path, reduce: str
) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(HEARTBEATS)
    assert least_costs(path, None, reduce) == {"stays": (True, Cost(0, 1, 2))}


def test_a_run_from_elsewhere_is_not_believed_to_be_a_shortest_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no fault and no message, so that nothing is left to minimise but its steps."""
    text = """protocol P {
  state a : 0..3 = 0
  state b = false
  upon condition a < 3 as slow { a := a + 1 }
  upon condition a == 0 as fast { b := true }
  property never : always forall p in Proc: p.a < 3 and not p.b
}
check c of P { n = 1 expect never violated }"""
    found = only(tmp_path, text, "none")
    state, states = found.run.moments[0].state, [found.run.moments[0].state]
    while not interpreter.holds(found.system, found.prop.bad, state):
        state = next(
            way.successor
            for way in interpreter.successors(found.system, state)
            if way.action.name == "slow" and way.successor is not None
        )
        states.append(state)
    trace = replay(found.system, Execution(tuple(states)), found.prop, found.trace.header)
    said = explain(found.system, trace, ExplainingBudget(600), strict=True).explanation
    assert said is not None and said.least and said.after == Cost(0, 0, 1)
    monkeypatch.setattr(counterfactual_queries, "explore_in_time", lambda *_: "no search")
    said = explain(found.system, trace, ExplainingBudget(600), strict=True).explanation
    assert said is not None and not said.least and said.after == Cost(0, 0, 3)
    assert "whether fewer steps suffice is not determined: no search" in said.note
