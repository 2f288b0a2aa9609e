"""Why a step can't be taken: what is said of it, and that it is said of such steps only."""

from __future__ import annotations

import pytest

from checker.model import interpreter
from checker.simulate.false_conditions import false_conditions
from checker.simulate.session import SteppingSession
from checker.simulate.why_not import instances_of_all, why_not
from tests.simulate.opening import library, spec

SPECS = (
    "broadcast/eager_reliable.bcast::crash_one",
    "broadcast/lazy_reliable.bcast::wrong_suspicions",
    "byzantine/echo.bcast::built_for_one_with_one",
    "commit/three_phase_commit.bcast::timeouts_in_rounds",
    "consensus/rotating_coordinator.bcast::any_detector",
    "detectors/increasing_timeout.bcast::partly_synchronous",
    "exactly_once/partitioned_queue.bcast::majority_split",
    "exactly_once/connector.bcast::place_at_connector",
    "links/alternating_bit.bcast::lossy_fifo",
    "links/connections.bcast::lock_of_a_connection",
    "oracles/tcommit.bcast::three",
    "time/leases.bcast::within_the_bound",
    "time/activities.bcast::locked",
)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("name", SPECS)
def test_exactly_what_is_not_enabled_has_a_false_condition(name: str, fine: bool) -> None:
    system = library(name, fine).system
    state = next(iter(interpreter.starts(system)))[0]
    asked = 0
    for number in range(5):
        for each in instances_of_all(system, state):
            enabled = {
                tuple(scope.names[param.name] for param in each.action.params)
                for scope in interpreter.instances(system, each.action, state)
            }
            false = false_conditions(system, state, each.action, each.transition)
            assert (each.transition.params in enabled) == (not false), (each.action.name, false)
            asked += 1
        ways = interpreter.successors(system, state)
        later = [t.successor for t in ways if t.successor not in (None, state)]
        if not later:
            break
        state = later[number % len(later)]
        assert state is not None
    assert asked > 3


def told(name: str, *steps: str, asked: str, fine: bool = False) -> tuple[str, ...]:
    """What is said of the step ``asked`` after these."""
    session = SteppingSession(library(name, fine))
    for words in steps:
        session.say(words)
        assert session.steps_taken[-1].text.startswith(words.partition(" ")[0]), words
    assert session.state is not None
    reasons = why_not(asked, session.system, session.state, session.trace())
    return tuple(reason.text for reason in reasons)


EAGER, SUSPECTING, ECHO = SPECS[:3]
FLUSHES = "time/activities.bcast::read_behind_the_flush"
FLUSHING = ("s1: upon condition sent < rows", "c1 receives", "c1: flushes")
ORDERED = "total_order/fixed_sequencer.bcast::no_fault"

SAID = [
    (EAGER, ("p1 crashes",), "p2 crashes",
     "the fault budget is used up (at most 1 process crashed: p1)"),
    (EAGER, ("p1 crashes",), "p1 broadcasts a", "p1 has crashed in step 1"),
    (EAGER, ("p1 broadcasts a",), "p1 broadcasts a", "p1 has made this request already"),
    (EAGER, ("p1 broadcasts a", "p2 receives COPY"), "p2 receives COPY(DATA(p1, a)) from p1",
     "COPY(DATA(p1, a)) from p1 to p2 was received in step 2"),
    (EAGER, (), "p2 receives DATA", "no DATA is on its way to p2: none has been sent"),
    (EAGER, (), "p2 receives DATA from p1, and crashes",
     "no DATA from p1 is on its way to p2: none has been sent"),
    (EAGER, ("p1 broadcasts a",), "p2 receives DATA",
     "it can: p2 receives COPY(DATA(p1, a)) from p1"),
    (EAGER, ("p1 broadcasts a",), "p2 delivers a",
     "it can: `p2 receives COPY(DATA(p1, a)) from p1` does it"),
    (EAGER, ("p1 broadcasts a", "p2 receives COPY"), "p2 delivers a",
     "p2 did that in step 2: deliver(p1, a)"),
    (EAGER, (), "p2 delivers a",
     "not now: p2 delivers in `upon beb.deliver(p, DATA(s, m))`, and no message for that is on its"
     " way to p2"),
    (ORDERED, ("p2 broadcasts a",), "p3 delivers a",
     "not now: p3 delivers in `upon receive ORDERED(number, s, m)`, and no message for that is on"
     " its way to p3"),
    (ORDERED, ("p2 broadcasts a", "p1 receives PUT(a)"), "p3 delivers (p1, b)",
     "not now: p3 delivers in `upon receive ORDERED(number, s, m)`, and what is on its way to p3"
     " (ORDERED(1, p2, a)) does not bring that about"),
    (EAGER, (), "p2 flies", "no step of this check reads like `p2 flies`"),
    (SUSPECTING, (), "p2 suspects p2", "that never happens in this check"),
    (FLUSHES, FLUSHING[:2], "c1 goes on with flushes",
     "c1 has no activity of `flushes` under way"),
    (FLUSHES, FLUSHING, "c1: flushes", "c1 has an activity of this handler under way"),
    (FLUSHES, (*FLUSHING, "c1 goes on with flushes"), "c1 goes on with flushes",
     "c1 has no activity of `flushes` under way"),
    ("time/leases.bcast::counted_from_the_answer", (), "h1 receives", "no message is on its way"),
]  # fmt: skip


TICK, AGAIN = "the clock of c1 ticks", "the clock of c2 ticks"


@pytest.mark.parametrize(
    ("world", "steps", "asked", "said"),
    [
        ("drift 1", (TICK,), TICK, "the clocks would drift too far apart"),
        ("drift 1 until 3", (TICK,), TICK, "the clocks would drift too far apart"),
        ("drift 1 until 1", (TICK,), TICK,
         "time ends here: the clock has reached the `until` of the check"),
        ("drift 1 until 1", (TICK, AGAIN), "c1: upon condition now == 0",
         "`now == 0` is false: now = 1"),
    ],
)  # fmt: skip
def test_what_is_said_of_clocks(world: str, steps: tuple[str, ...], asked: str, said: str) -> None:
    code = "upon condition now == 0 { done := true }" if "until" in world else ""
    session = SteppingSession(
        spec(
            "protocol P { role c(2) { state done = false  upon init { start t after 3 }"
            f" upon timeout t {{ done := true }} {code} }}"
            " property safe : always forall p in c: p.done or not p.done }"
            f" check c of P {{ timing clocks {world} }}"
        )
    )
    for words in steps:
        session.say(words)
    assert session.state is not None
    reasons = why_not(asked, session.system, session.state, session.trace())
    assert any(said in reason.text for reason in reasons)


@pytest.mark.parametrize(("name", "steps", "asked", "said"), SAID)
def test_what_is_said(name: str, steps: tuple[str, ...], asked: str, said: str) -> None:
    assert told(name, *steps, asked=asked)[0].startswith(said)


def test_a_condition_is_told_in_the_words_of_the_spec_with_values() -> None:
    opened = library(ECHO)
    session = SteppingSession(opened)
    quiet = next(way for way in session.choices.ways if "true" not in way.text)
    session.pick(quiet)
    assert session.state is not None
    said = why_not(
        "p2: upon condition #received(ECHO) >= T", session.system, session.state, session.trace()
    )
    false = "`#received(ECHO) >= T + 1` is false: #received(ECHO) = 0, T = 1"
    assert [reason.text for reason in said] == [false]


def test_what_an_activity_waits_for_is_told() -> None:
    """The lock is on disk, and whoever took it has crashed."""
    steps = ("p1: works", "p1 goes on with works", "p1 crashes", "p1 recovers", "p1: works")
    said = told("time/activities.bcast::stable_lock", *steps, asked="p1 goes on with works")
    assert said == ("`not busy` is false: busy = true",)


def test_effects_come_one_after_another_with_fine_steps() -> None:
    steps = ("p1 broadcasts a", "p1 goes on with request.broadcast")
    said = told(EAGER, *steps[:1], asked="p1 receives", fine=True)
    assert said[0] == "no message is on its way to p1: none has been sent"
    said = told(EAGER, *steps[:1], asked="p1 goes on with send", fine=True)
    assert said == ("the handler that p1 is in does something else next",)
