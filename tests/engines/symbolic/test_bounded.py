"""Bounded model checking against the engines that look at states: the same shortest
counterexamples, the same run-time errors, and nothing said that was not looked at."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.engines.symbolic import bounded
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget, ask
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.formula import ask as asked
from checker.resources import specs
from checker.results.answer import Answer, Limits
from checker.results.rerun import rerun
from checker.results.verdict import Word
from checker.session.load import load_check
from checker.session.pipeline import run_check
from tests.agreement.test_random_systems import system_of

LIBRARY = (
    ("broadcast/best_effort", "crash_one", 5),
    ("broadcast/eager_reliable", "crash_one", 4),
    ("broadcast/thrifty_reliable", "crash_two_of_four", 4),
    ("byzantine/echo", "built_for_one_with_two", 5),
    ("links/perfect", "without_memory", 5),
    ("links/crash_and_recovery", "receiver_forgets", 6),
    ("exactly_once/one_process", "act_then_log", 7),
    ("oracles/two_phase", "three", 4),
    ("oracles/ewd840", "three", 5),
    ("replication/disks", "cached", 5),
    ("replication/disks", "transaction", 5),
    ("replication/disks", "retried", 6),
    ("incidents/offset_before_rows", "in_the_cache", 5),
)
"""Small checks, and the depth to which they are compared."""


def library(spec: str, name: str) -> TransitionSystem:
    check = load_check(str(specs() / f"{spec}.bcast"), name, {})
    return estimate_capacities(lambda sizes: instantiate(check, {}, asked, capacities=sizes)).system


def lengths(system: TransitionSystem, answer: Answer) -> dict[str, int]:
    """Steps of the run to each violated invariant property."""
    invariant = {p.name for p in system.properties if p.kind is PropertyKind.INVARIANT}
    found = answer.violations.items()
    return {name: len(path.states) - 1 for name, path in found if name in invariant}


def compare(system: TransitionSystem, found: Answer, expected: Answer) -> None:
    """To the depth that ``found`` is about."""
    assert lengths(system, found) == lengths(system, expected)
    assert (found.fault is None) == (expected.fault is None)
    if found.fault is not None and expected.fault is not None:
        assert len(found.fault.states) == len(expected.fault.states)
    for prop in system.properties:
        if prop.name in found.violations:
            rerun(system, found.violations[prop.name], prop)


@pytest.mark.parametrize(("spec", "name", "depth"), LIBRARY)
def test_the_library_has_the_same_shortest_counterexamples(
    spec: str, name: str, depth: int
) -> None:
    system = library(spec, name)
    expected = native.explore(system, Limits(max_depth=depth), threads=1)
    found = bounded.explore(system, Limits(), depth=depth)
    compare(system, found, expected)
    if found.fault is None and found.stopped != bounded.NOTHING_LEFT:
        assert found.up_to == depth or found.stopped == bounded.NO_LONGER
        assert found.depth == found.up_to


@pytest.mark.parametrize("shard", range(3))
def test_random_systems_have_the_same_shortest_counterexamples(shard: int) -> None:
    depth, compared = 3, 0
    for number in range(12):
        system = system_of(5000 * (shard + 1) + number)
        try:
            expected = reference.explore(system, Limits(max_depth=depth, max_states=3000))
        except RunFault:  # also in a promise, at which formulas do not look
            continue
        if expected.stopped is not None and "depth" not in expected.stopped:
            continue
        found = bounded.explore(system, Limits(), depth=depth)
        if found.stopped == bounded.NOTHING_LEFT:  # an error may come later
            assert lengths(system, found) == lengths(system, expected)
        else:
            compare(system, found, expected)
        compared += 1
    assert compared > 3


FROM_NOTHING = """\
protocol Successor {{
  message NEXT(chosen: {item}, round: 0..2)
  state left : set<{item}> = {{}}
  state round : 0..2 = 0
  state chosen : option<{item}> = none
  upon condition round < 2 as moves_on {{
    round := round + 1
    if round == 2 {{
      choose next in left
      chosen := some(next)
      send NEXT(next, round) to all
    }}
  }}
  upon receive NEXT(v, r) from q {{ chosen := some(v) }}
  property unchosen "Nothing is chosen." : always forall p in Proc: p.chosen == none
  property early "No process is in round 1." : always forall p in Proc: p.round < 1
}}
check one of Successor {{ n = 2 prove unchosen expect early violated allow unused }}
"""


@pytest.mark.every
@pytest.mark.parametrize("item", ["Proc", "0..2", "bool", "(Proc, 0..1)", "option<Proc>"])
def test_a_choice_from_a_set_that_is_surely_empty_is_no_step(item: str, tmp_path: Path) -> None:
    (tmp_path / "nothing.bcast").write_text(FROM_NOTHING.format(item=item), "utf-8")
    check = load_check(str(tmp_path / "nothing.bcast"), "one", {})
    system = estimate_capacities(lambda s: instantiate(check, {}, asked, capacities=s)).system
    found = bounded.explore(system, Limits(), depth=4)
    compare(system, found, reference.explore(system, Limits(max_depth=4)))
    assert list(lengths(system, found).values()) == [1]


def test_a_bound_is_said_and_liveness_is_left_unknown() -> None:
    spec = str(specs() / "broadcast" / "best_effort.bcast")
    options = Options(engine="symbolic", limits=Limits(max_depth=2))
    report = run_check(spec, "no_fault", options)
    words = {v.property: v.word for v in report.verdicts}
    assert words["no_duplication"] is Word.BOUNDED
    assert words["validity"] is Word.UNKNOWN
    bound = {v.property: v.up_to for v in report.verdicts}
    assert bound["no_duplication"] == 2
    assert not report.exhaustive


def test_runs_that_end_are_all_runs() -> None:
    """Three messages are received in three steps, and nothing else happens after the request."""
    system = library("broadcast/best_effort", "no_fault")
    answer = bounded.explore(system, Limits(), depth=20)
    assert answer.stopped == bounded.NO_LONGER
    assert answer.up_to == reference.explore(system, Limits()).depth


def test_a_query_without_an_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    system = library("oracles/ewd840", "three")
    (prop,) = (p.name for p in system.properties)

    def tired(solver: z3.Solver, clock: QueryBudget, *assumptions: z3.ExprRef) -> bool:
        if any(str(a) == "bad 0 2" for a in assumptions):
            raise GaveUp("z3 gave up: timeout")
        return ask(solver, clock, *assumptions)

    monkeypatch.setattr(bounded, "ask", tired)
    answer = bounded.explore(system, Limits(), depth=3, query_seconds=bounded.FIRST)
    why = f"whether `{prop}` fails after 2 steps: z3 gave up: timeout; it holds up to 1 step"
    assert answer.undecided == {prop: why}


def test_an_error_that_is_not_decided_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    system = library("oracles/ewd840", "three")

    def tired(solver: z3.Solver, clock: QueryBudget, *assumptions: z3.ExprRef) -> bool:
        if any(str(a) == "wrong 2" for a in assumptions):
            raise GaveUp("z3 gave up: timeout")
        return ask(solver, clock, *assumptions)

    monkeypatch.setattr(bounded, "ask", tired)
    answer = bounded.explore(system, Limits(), depth=3, query_seconds=bounded.FIRST)
    assert answer.up_to == 1
    assert answer.stopped == "whether a run meets an error after 2 steps: z3 gave up: timeout"


def test_what_takes_long_is_asked_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query that has an assumption: the second solver has none."""
    system = library("links/perfect", "without_memory")
    expected = native.explore(system, Limits(max_depth=4), threads=1)

    def tired(solver: z3.Solver, clock: QueryBudget, *assumptions: z3.ExprRef) -> bool:
        if assumptions and not z3.is_true(assumptions[0]):
            raise GaveUp("z3 gave up: timeout")
        return ask(solver, clock, *assumptions)

    monkeypatch.setattr(bounded, "ask", tired)
    found = bounded.explore(system, Limits(), depth=4)
    compare(system, found, expected)
    assert found.violations
    assert found.up_to == 4


def test_no_time_is_no_answer() -> None:
    system = library("oracles/ewd840", "three")
    answer = bounded.explore(system, Limits(timeout=1e-9), depth=3)
    assert answer.up_to is None
    assert answer.stopped == "the time limit of 1e-09 s was reached"
    assert not answer.exhaustive


def test_the_solver_is_not_loaded_for_other_engines() -> None:
    code = "import sys, checker.cli.main, checker.session.pipeline; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_and_tells_what_was_found(number: signal.Signals, tmp_path: Path) -> None:
    spec = str(specs() / "byzantine" / "consistent_echo.bcast")
    call = ["check", "--engine", "symbolic", "--depth", "500", f"{spec}::three"]
    with subprocess.Popen(
        [sys.executable, "-m", "checker.cli", *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        for line in process.stderr:
            if "fails" in line or "errors" in line or "length" in line:
                break
        process.send_signal(number)
        said = process.stdout.read()
        assert process.wait(timeout=60) == 3
    assert "interrupted" in said
    assert "internal error" not in said


def test_a_solver_that_gave_up_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 that is ended while it takes assertions in forgets some, and then finds models of less."""
    solver = z3.SolverFor("QF_BV")
    x = z3.BitVec("x", 8)
    solver.add(x < 3, x > 1)
    begun: list[str] = []
    reset = z3.Solver.reset
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda _: "timeout")
    monkeypatch.setattr(z3.Solver, "reset", lambda s: (begun.append("anew"), reset(s)))
    with pytest.raises(GaveUp):
        ask(solver, QueryBudget(None))
    monkeypatch.undo()
    assert begun == ["anew"]
    assert [str(a) for a in solver.assertions()] == ["x < 3", "x > 1"]
    assert ask(solver, QueryBudget(None)) and solver.model()[x] == 2
