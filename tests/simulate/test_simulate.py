"""Random walks are runs, the same for the same seed whoever makes them, and prove nothing."""

from __future__ import annotations

import pytest

from checker.engines.walks import WalkBlock
from checker.extensions.tables import DEFAULT, DEFINITION
from checker.language.typecheck.scenarios import scenario_in
from checker.model import interpreter
from checker.records import replace
from checker.results.answer import Progress
from checker.results.replay import replay
from checker.session.pipeline import Options, open_check, read_spec
from checker.simulate import simulation
from checker.simulate.draws import Hashes, WalkDraws
from checker.simulate.random_walks import ReferenceWalker
from checker.simulate.simulation import WalkPlan, Walks, simulate
from tests.simulate.opening import library, spec
from tests.simulate.walked_blocks import replay_walk, task_of, walked

EAGER = "broadcast/eager_reliable.bcast::crash_one"
WITHOUT_RELAY = "broadcast/eager_reliable_without_relay.bcast::crash_one"

COUNTS = """
protocol Counts {
  state x : Nat = 0
  upon condition x < 100 { x += 1 }
  property small: always forall p in Proc: p.x < 100
}
check one of Counts { n = 1  prove small }
"""


def seen(walks: Walks) -> tuple[object, ...]:
    """All that must not depend on who made the walks."""
    return walks.seen, walks.finding, walks.found, walks.outgrown


def test_a_violation_is_found_and_replayed() -> None:
    opened = library(WITHOUT_RELAY)
    walks = simulate(opened, WalkPlan(1))
    assert walks.found == walks.seen.walks
    path = walks.finding.violations["agreement"]
    prop = next(p for p in opened.system.properties if p.name == "agreement")
    assert replay(opened.system, path, prop).word == "violated"
    starts = tuple(interpreter.initial_states(opened.system))
    assert replay_walk(opened.system, 1, walks.found, 200, starts) == path.states


@pytest.mark.parametrize("name", [EAGER, WITHOUT_RELAY])
def test_walks_do_not_depend_on_threads_ranges_or_the_engine(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = WalkPlan(5, 40, 30, engine=DEFAULT)
    one = simulate(library(name), replace(plan, threads=1))
    assert seen(simulate(library(name), replace(plan, threads=3))) == seen(one)
    assert seen(simulate(library(name), replace(plan, engine=DEFINITION))) == seen(one)
    monkeypatch.setattr(simulation, "RANGE_STEPS", 1)
    assert seen(simulate(library(name), replace(plan, threads=2))) == seen(one)
    assert seen(simulate(library(name), replace(plan, seed=6))) != seen(one)


def test_what_holds_is_not_found_to_be_violated() -> None:
    narrow = read_spec("specs/broadcast/eager_reliable.bcast").only(
        ["agreement", "validity", "no_creation"]
    )
    opened = open_check(narrow, "crash_one", Options())
    walks = simulate(opened, WalkPlan(2, 2000))
    assert not walks.finding.violations
    assert walks.finding.fault is None
    assert walks.seen.walks == 2000
    summary = walks.summary(opened.system)
    assert dict(summary.faults)["crash"] > 0
    assert summary.ends > 0
    assert not walks.answer(opened.system).exhaustive


def test_walks_see_states_that_can_be_reached() -> None:
    system = library("exactly_once/winch.bcast::lower_then_log").system
    todo = interpreter.initial_states(system)
    starts = tuple(todo)
    reachable = set(todo)
    for state in todo:
        for transition in interpreter.successors(system, state):
            if transition.successor is not None and transition.successor not in reachable:
                reachable.add(transition.successor)
                todo.append(transition.successor)
    for number in range(1, 60):
        assert set(replay_walk(system, 3, number, 50, starts)) <= reachable


def test_walks_end_after_so_many_steps() -> None:
    assert simulate(library(EAGER), WalkPlan(2, 20, 3)).seen.longest == 3


def test_the_time_is_limited() -> None:
    walks = simulate(library(EAGER), WalkPlan(2, None, timeout=0.5, engine=DEFINITION))
    assert walks.found or walks.stopped == "the time limit of 0.5 s was reached"


@pytest.mark.parametrize("engine", [DEFAULT, DEFINITION])
def test_somebody_wants_it_to_end(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "EVERY", 0.0)

    def enough(progress: Progress) -> None:
        raise KeyboardInterrupt

    plan = WalkPlan(2, 500, engine=engine)
    walks = simulate(spec(COUNTS.replace("p.x < 100\n", "p.x < 200\n")), plan, enough)
    assert walks.stopped == "interrupted"
    assert walks.found is None


def test_an_error_of_the_run_is_found() -> None:
    opened = spec(
        """
protocol Fails {
  state x : 0..3 = 0
  upon condition true { x += 1 }
}
check one of Fails { n = 1 }
"""
    )
    fault = simulate(opened, WalkPlan(1, 1)).finding.fault
    assert fault is not None
    assert fault.then_fault
    assert len(fault.states) == 4


@pytest.mark.parametrize("engine", [DEFAULT, DEFINITION])
def test_capacities_grow(engine: str) -> None:
    walks = simulate(spec(COUNTS), WalkPlan(1, 2, engine=engine))
    assert len(walks.finding.violations["small"].states) == 101
    assert (walks.seen.walks, walks.outgrown) == (1, 0)


def test_what_grows_without_a_bound_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.simulate.prepared_check.maximum_bound", lambda capacity: 31)
    walks = simulate(spec(COUNTS), WalkPlan(1, 3))
    assert not walks.finding.violations
    assert (walks.seen.walks, walks.outgrown) == (3, 3)


# ---- what is drawn ----------------------------------------------------------------------------


def test_every_enabled_step_can_be_chosen() -> None:
    """All successors of a state are taken by some walk: they are enumerated."""
    system = library(EAGER).system
    starts = tuple(interpreter.initial_states(system))
    firsts = {t.successor for t in interpreter.successors(system, starts[0])} - {starts[0]}
    walker, task = ReferenceWalker(system), task_of(system, 4, 400, 1)
    taken = {walker.walk(task, n, WalkBlock(n))[0][-1] for n in range(1, 400)}
    assert taken - {starts[0]} == firsts


def test_each_successor_of_an_action_is_as_likely() -> None:
    """Of 4 successors each is the candidate in about a quarter of 4000 draws: five standard
    deviations are 137."""
    among = dict(enumerate([3, 17, 2**63, 2**64 - 1]))
    counts = dict.fromkeys(among, 0)
    for number in range(4000):
        counts[WalkDraws.of(9, number).successor(0, among)] += 1  # type: ignore[index, arg-type]
    assert all(863 < times < 1137 for times in counts.values())


def test_actions_are_drawn_by_their_weights() -> None:
    draws = WalkDraws.of(1, 1)
    weights = [draws.weight(k) for k in range(3)]
    total, times = sum(weights), 6000
    counts = [0, 0, 0]
    for step in range(times):
        chosen = draws.action(step, [0, 1, 2], [False] * 3)
        assert chosen is not None
        counts[chosen] += 1
    for weight, counted in zip(weights, counts, strict=True):
        share = weight / total
        assert abs(counted - times * share) <= 5 * (times * share * (1 - share)) ** 0.5 + 1


def test_faults_have_a_rate() -> None:
    rates = {WalkDraws.of(3, number).rate for number in range(100)}
    assert rates == {0, 3277, 13107, 32768}
    for number in range(20):
        draws = WalkDraws.of(3, number)
        drawn = [draws.action(step, [0, 1], [True, False]) for step in range(2000)]
        assert abs(drawn.count(0) - 2000 * draws.rate / 65536) <= 5 * 500**0.5
        assert draws.action(0, [], [True, False]) is None
    never = next(d for d in map(lambda n: WalkDraws.of(3, n), range(100)) if d.rate == 0)
    assert never.action(0, [0], [True]) is None


def test_the_hash_is_that_of_machine_code() -> None:
    """The words of a state and its hash are part of what a seed means."""
    system = library(EAGER).system
    state = interpreter.initial_states(system)[0]
    assert Hashes(system).of(state) == Hashes(system).of(state)
    native, reference = walked(system, task_of(system, 3, 20, 20))
    assert native.taken == reference.taken


# ---- behind a scenario ------------------------------------------------------------------------


def test_walks_start_where_a_scenario_ends() -> None:
    opened = library(EAGER)
    text = "scenario dies {\n  p1 broadcasts a\n  p1 receives COPY(DATA(p1, a)) from p1\n"
    scenario = scenario_in(text + "  p1 crashes\n}\n", "x.scenario", frozenset())
    assert scenario is not None
    plan = WalkPlan(1, 50, after=scenario)
    walks = simulate(opened, plan)
    assert walks.found is not None
    path = walks.finding.violations["uniform_agreement"]
    first = simulate(library(EAGER), replace(plan, engine=DEFINITION))
    assert seen(first) == seen(walks)
    assert len(path.states) >= 4
    prop = next(p for p in opened.system.properties if p.name == "uniform_agreement")
    assert replay(opened.system, path, prop).word == "violated"


# ---- within bounds ----------------------------------------------------------------------------

BOUNDED = """
protocol Counts {
  state x : 0..9 = 0
  upon condition x < 9 { x += 1 }
  property small : always forall p in Proc: p.x <= 3
  property high : forall p in Proc: eventually p.x == 9
}
check one of Counts { n = 1  prove small, high  BOUND }
"""


@pytest.mark.parametrize("engine", [DEFAULT, DEFINITION])
def test_walks_stay_within_the_bounds_of_the_check(engine: str) -> None:
    """To leave a bound violates nothing, and a run that would end beyond it ends nowhere."""
    within = BOUNDED.replace("BOUND", "bound forall p in Proc: p.x <= 2")
    walks = simulate(spec(within), WalkPlan(1, 20, engine=engine))
    assert (walks.seen.walks, walks.seen.longest, walks.seen.ends) == (20, 3, 0)
    assert not walks.finding.violations
    free = simulate(spec(BOUNDED.replace("BOUND", "")), WalkPlan(1, 20, engine=engine))
    assert list(free.finding.violations) == ["small"]
