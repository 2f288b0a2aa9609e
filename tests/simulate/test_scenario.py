"""Runs become words, and words the same runs."""

from __future__ import annotations

import pytest

from checker.engines.options import Options
from checker.language.syntax import typed
from checker.language.typecheck.scenarios import scenario_in
from checker.results.answer import Limits
from checker.results.replay import path_of
from checker.session.pipeline import open_again, run_check
from checker.simulate.prepared_check import PreparedCheck
from checker.simulate.scenario import Played, as_choices, claims_of, clause, judge_scenario, play
from checker.simulate.scenario_files import read_saved, scenario_text
from checker.simulate.session import trace_of_choices
from tests.simulate.opening import library, spec

QUICK = (
    ("broadcast/eager_reliable.bcast", "crash_one", False),
    ("broadcast/eager_reliable.bcast", "any_layer", False),
    ("broadcast/eager_reliable.bcast", "crash_one", True),
    ("broadcast/eager_reliable_without_relay.bcast", "crash_one", False),
    ("broadcast/causal_past.bcast", "no_fault", False),
    ("total_order/sequencer_takeover.bcast", "crash_one", False),
    ("commit/two_phase_commit.bcast", "crash_one", False),
    ("commit/two_phase_commit.bcast", "crash_any", False),
    ("exactly_once/winch.bcast", "lower_then_log", False),
    ("exactly_once/winch.bcast", "log_then_lower", False),
    ("consensus/paxos.bcast", "duel", False),
    ("consensus/paxos.bcast", "quorums_that_miss_each_other", False),
    ("links/stubborn.bcast", "sent_once", False),
    ("replication/disks.bcast", "cached", False),
    ("replication/disks.bcast", "retried", True),
    ("replication/disks.bcast", "disk_lost", False),
    ("incidents/vote_before_sync.bcast", "sent_first", False),
    ("incidents/vote_before_sync.bcast", "sent_first", True),
    ("incidents/offset_before_rows.bcast", "commits_first", False),
    ("incidents/offset_before_rows.bcast", "in_the_cache", True),
    ("time/activities.bcast", "taken_twice", False),
    ("time/activities.bcast", "read_behind_the_flush", True),
    ("time/activities.bcast", "stable_lock", False),
)


@pytest.mark.parametrize(("file", "check", "fine"), QUICK)
def test_counterexamples_become_scenarios_and_the_same_runs(
    file: str, check: str, fine: bool
) -> None:
    options = Options(fine_steps=fine, limits=Limits(max_states=100_000))
    report = run_check(f"specs/{file}", check, options)
    traces = [v.trace for v in report.verdicts if v.trace is not None]
    assert traces
    for trace in traces:
        opened = open_again(trace)
        path = path_of(opened.system, trace)
        text = clause("again", as_choices(opened, path), path.loop, claims_of(trace))
        played = play(opened, _parsed(text, trace.property_name))
        assert played.problem is None, text
        assert played.states == path.states
        again = trace_of_choices(opened, played.taken, played.loop, trace.property_name)
        assert (again.property_name, again.length) == (trace.property_name, trace.length)
        assert [step.state for step in again.steps] == [step.state for step in trace.steps]


def _parsed(text: str, *properties: str) -> typed.Scenario:
    found = scenario_in(f"\n{text}\n", "again.scenario", set(properties))
    assert found is not None
    return found


LIBRARY = (
    "broadcast/eager_reliable.bcast::crash_one",
    "total_order/sequencer_takeover.bcast::crash_one",
    "exactly_once/winch.bcast::lower_then_log",
    "exactly_once/winch.bcast::lower_to_height",
    "consensus/paxos.bcast::duel",
)


@pytest.mark.parametrize("name", LIBRARY)
def test_scenarios_of_the_library_are_as_told(name: str) -> None:
    opened = library(name)
    assert opened.check.scenarios
    for scenario in opened.check.scenarios:
        verdict = judge_scenario(opened, scenario)
        assert verdict.met, verdict
        assert verdict.steps >= len(scenario.steps)


# ---- what is not as it is told -----------------------------------------------------------------

EAGER = "broadcast/eager_reliable.bcast::crash_one"


def _played(opened: PreparedCheck, *lines: str) -> Played:
    names = [prop.name for prop in opened.check.prove]
    return play(opened, _parsed("\n".join(["scenario x {", *lines, "}"]), *names))


def _problem(opened: PreparedCheck, *lines: str) -> tuple[str, int]:
    problem = _played(opened, *lines).problem
    assert problem is not None
    return problem.message, problem.span.line


def test_a_step_that_can_not_happen_says_what_can() -> None:
    played = _played(library(EAGER), "p1 broadcasts a", "p2 receives COPY from p3")
    assert played.problem is not None
    assert played.problem.message == (
        "`p2 receives COPY from p3` can't happen here:"
        " no COPY from p3 is on its way to p2: none has been sent"
    )
    assert played.problem.span.line == 4
    assert played.problem.possible[0] == "p2 receives COPY(DATA(p1, a)) from p1"
    assert len(played.taken) == 2


def test_a_step_that_could_be_several_is_refused() -> None:
    message, line = _problem(library(EAGER), "p1")
    assert (message, line) == ("`p1` can mean 2 different steps", 3)


VIOLATED = "uniform_agreement is violated with p = p1, q = p2, s = p1, m = a in this run"
HOLDS = (
    "holds in this run: p1 indicated deliver(p1, a), and crashed; p2 indicated nothing;"
    " p3 indicated nothing"
)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("uniform_agreement violated", ""),
        ("uniform_agreement holds", VIOLATED),
        ("agreement violated", f"agreement {HOLDS}"),
        ("no_creation holds", ""),
        ("no_creation violated", f"no_creation {HOLDS}"),
        ("it ends", ""),
        ("it continues", "it ends: no fairness assumption requires another step"),
        ("it fails", "no possible next step meets an error"),
    ],
)
def test_claims(claim: str, message: str) -> None:
    steps = ("p1 broadcasts a", "p1 receives COPY", "p1 crashes", f"then {claim}")
    problem = _played(library(EAGER), *steps).problem
    assert ("" if problem is None else problem.message) == message


def test_a_run_that_can_not_end_says_nothing_of_whole_runs() -> None:
    message, line = _problem(library(EAGER), "p1 broadcasts a", "then agreement holds")
    assert message.startswith("agreement is a liveness property, and this run can't end here: COPY")
    assert line == 4
    message, _ = _problem(library(EAGER), "p1 broadcasts a", "then it ends")
    assert message.startswith("it does not end: fairness requires more (COPY")


def test_what_is_repeated_for_ever_must_come_round_and_be_fair() -> None:
    duel = library("consensus/paxos.bcast::duel")
    start = ("p1 proposes 0", "p2 proposes 1", "a1 receives PREPARE from p1")
    message, line = _problem(duel, *start, "forever {", "p1 receives PROMISE", "}")
    assert message == "the steps of `forever` do not return to the state before them"
    assert line == 7


def test_an_unfair_loop_is_refused() -> None:
    opened = spec(
        """
protocol Blinks {
  state on = false
  state seen = false
  upon condition not on { on := true }
  upon condition on { on := false }
  upon condition not seen { seen := true }
}
check one of Blinks { n = 2 }
"""
    )
    steps = ("forever {", "p1: upon condition not on", "p1: upon condition on", "}")
    message, _ = _problem(opened, *steps)
    assert message.startswith("this can't continue forever: ")


FAILS = """
protocol Fails {
  state x : 0..1 = 0
  upon condition true { x += 1 }
}
check one of Fails { n = 1 }
"""


def test_a_run_that_meets_an_error() -> None:
    step = "p1: upon condition true"
    assert _played(spec(FAILS), step, "then it fails").problem is None
    message, _ = _problem(spec(FAILS), "then it fails")
    assert message == "no possible next step meets an error"


SEVERAL = """
protocol Starts {
  state y : 0..1
  init choose y
  upon condition y == 0 { y := 1 }
}
check one of Starts { n = 1 }
"""


def test_where_a_run_can_start_in_several_ways_it_is_said() -> None:
    step = "p1: upon condition y == 0"
    assert _played(spec(SEVERAL), "the run starts with y = {p1: 0}", step).problem is None
    message, _ = _problem(spec(SEVERAL), step)
    assert message == f"`{step}` can't happen here"
    message, _ = _problem(spec(SEVERAL))
    assert message == "the first step must choose one of several initial states"


def test_saved_scenarios_are_read_as_they_were_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = str(tmp_path / "x.scenario")
    text = "scenario x {\n  p1 crashes\n}\n"
    path = "specs/broadcast/eager_reliable.bcast"
    document = scenario_text(path, "crash_one", [("n", "2")], True, text, file)
    saved = read_saved(document, file)
    assert (saved.check, saved.settings, saved.fine) == ("crash_one", {"n": "2"}, True)
    assert saved.path.endswith(path)
    scenario = saved.scenario(library(EAGER).check)
    assert [step.text for step in scenario.steps] == ["p1 crashes"]
    assert scenario.steps[0].span.line == 6


def test_a_false_claim_says_what_happened_instead() -> None:
    heard = ("p1 broadcasts a", "p1 receives COPY(DATA(p1, a)) from p1")
    message, line = _problem(library(EAGER), *heard, "then no_duplication violated")
    assert (message, line) == (
        "no_duplication holds in this run: p1 indicated deliver(p1, a); p2 indicated nothing;"
        " p3 indicated nothing",
        5,
    )
    crash = ("p1 broadcasts a", "p1 receives COPY(DATA(p1, a)) from p1", "p1 crashes")
    message, _ = _problem(library(EAGER), *crash, "then uniform_agreement holds")
    assert message == (
        "uniform_agreement is violated with p = p1, q = p2, s = p1, m = a in this run"
    )


def test_a_run_that_violates_two_properties_is_about_the_one_that_is_claimed() -> None:
    """Its last state violates `still`, and the whole run `set_up`."""
    opened = spec(
        "protocol P {\n  state x = 0\n  upon condition x == 0 { x := 1 }\n"
        "  property still : always forall p in Proc: p.x == 0\n"
        "  property set_up : eventually forall p in Proc: p.x == 2\n}\n"
        "check c of P { n = 1  prove still, set_up }\n"
    )
    for claim in ("still", "set_up"):
        played = _played(opened, "p1: upon condition x == 0", f"then {claim} violated")
        assert played.problem is None, played.problem
        trace = trace_of_choices(opened, played.taken, played.loop, claim)
        assert trace.property_name == claim
    message, _ = _problem(opened, "p1: upon condition x == 0", "then set_up holds")
    assert message == "set_up is violated with p = p1 in this run"


def test_a_step_that_can_not_happen_says_why() -> None:
    message, line = _problem(library(EAGER), "p1 crashes", "p2 crashes")
    assert line == 4
    assert message == (
        "`p2 crashes` can't happen here: the fault budget is used up (at most 1 process crashed:"
        " p1)"
    )
