"""Which step depends on which, and what became of messages, in runs written down by hand."""

from __future__ import annotations

from checker.model.ir import VariableKind
from checker.records import replace
from checker.results.causality import NOBODY, CopyOutcome, causality
from checker.results.events import ClockTicked, Healed, Partitioned, RoundEnded
from checker.results.trace import Change
from tests.results.by_hand import (
    copy,
    crash,
    forge,
    lose,
    receive,
    request,
    send,
    step,
    suspect,
    trace,
    wrote,
)

NAMES = ("p1", "p2", "p3")


def test_a_receipt_depends_on_its_send_and_not_on_what_happened_before_it_elsewhere() -> None:
    run = trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "M(a)", "p2", "p3")),
        step(2, request("p3", "broadcast(b)")),
        step(3, receive("p2", "M(a)", "p1")),
    )
    order = causality(run)
    assert order.causes == (frozenset(), {0}, {0}, {1})
    assert order.ranks == (0, 1, 1, 2)
    assert order.clocks[3] == {"p1": 1, "p2": 1}
    assert order.past({3}) == {0, 1, 3}
    assert [a.how for a in order.arrows] == [CopyOutcome.RECEIVED, CopyOutcome.UNDER_WAY]
    assert {a.multicast for a in order.arrows} == {1}


def test_of_two_equal_messages_the_first_is_received_first() -> None:
    run = trace(
        step(1, send("p1", "M", "p2")),
        step(2, send("p1", "M", "p2")),
        step(3, receive("p2", "M", "p1")),
    )
    assert [(a.sent, a.ended) for a in causality(run).arrows] == [(1, 3), (2, None)]


def test_messages_that_are_only_counted_are_received_as_they_are_sent() -> None:
    noted = [
        Change("@received.M", "received M", p, "{}", "{p1}", VariableKind.LOCAL, True)
        for p in NAMES
    ]
    run = trace(
        step(1, send("p1", "M(a)", *NAMES), changes=noted),
        step(2, request("p2", "x()")),
    )
    arrows = [(a.receiver, a.how, a.ended) for a in causality(run).arrows]
    assert arrows == [
        ("p1", CopyOutcome.COUNTED, None),
        ("p2", CopyOutcome.RECEIVED, 2),
        ("p3", CopyOutcome.COUNTED, None),
    ]
    assert causality(run).causes[2] == {1}


def test_a_message_that_is_received_again_comes_from_the_same_send() -> None:
    run = trace(
        step(1, send("p1", "M", "p2")),
        step(2, receive("p2", "M", "p1")),
        step(3, receive("p2", "M", "p1")),
    )
    assert [(a.sent, a.ended) for a in causality(run).arrows] == [(1, 2), (1, 3)]
    assert causality(run).causes[3] == {1, 2}


def test_in_fine_steps_a_message_leaves_with_its_copy() -> None:
    run = trace(step(1, send("p1", "M", "p2", "p3")), step(2, copy("p1", "M", "p2")), fine=True)
    (arrow,) = causality(run).arrows
    assert (arrow.sent, arrow.receiver) == (2, "p2")


def test_in_fine_steps_copies_that_are_caught_up_with_leave_then() -> None:
    caught_up = replace(
        step(3, receive("p1", "N", "p3")), action="receive, after what was still to come(p3, p1)"
    )
    run = trace(
        step(1, send("p1", "M", "p2", "p3")),
        step(2, copy("p1", "M", "p2")),
        caught_up,
        step(4, receive("p3", "M", "p1")),
        fine=True,
    )
    arrows = [(a.receiver, a.sent, a.ended) for a in causality(run).arrows if a.message == "M"]
    assert arrows == [("p2", 2, None), ("p3", 3, 4)]
    assert 3 in causality(run).causes[4]


def test_what_a_crash_left_of_a_plan_never_leaves() -> None:
    caught_up = replace(
        step(3, receive("p1", "N", "p3")), action="receive, after what was still to come(p3, p1)"
    )
    run = trace(step(1, send("p1", "M", "p2")), step(2, crash("p1")), caught_up, fine=True)
    assert not [a for a in causality(run).arrows if a.message == "M"]


def test_losses_are_nobodys_and_hinder_nobody() -> None:
    run = trace(
        step(1, send("p1", "M", "p2")),
        step(2, lose("p1", "M", "p2")),
        step(3, request("p1", "x()")),
    )
    order = causality(run)
    assert order.arrows[0].how is CopyOutcome.LOST and order.arrows[0].ended == 2
    assert order.causes[3] == {1}
    assert order.lanes == ("p1", "p2", "p3", NOBODY)


def test_what_a_crash_cut_off_or_left_behind_is_missed() -> None:
    cut = (send("p1", "N", "p3"),)
    run = trace(
        step(1, send("p1", "M", "p2", "p3"), crash("p1"), cut=cut),
        step(2, receive("p2", "M", "p1")),
        crashed=("p1",),
        ends=True,
    )
    arrows = [(a.receiver, a.message, a.how) for a in causality(run).arrows]
    assert arrows == [
        ("p2", "M", CopyOutcome.RECEIVED),
        ("p3", "M", CopyOutcome.MISSED),
        ("p3", "N", CopyOutcome.MISSED),
    ]


def test_while_a_run_may_go_on_a_message_of_a_crashed_process_may_still_arrive() -> None:
    run = trace(step(1, send("p1", "M", "p2")), step(2, crash("p1")), crashed=("p1",))
    assert causality(run).arrows[0].how is CopyOutcome.UNDER_WAY


def test_what_is_made_up_happens_at_its_receiver() -> None:
    run = trace(step(1, forge("p3", "M", "p2")), step(2, request("p3", "x()")))
    order = causality(run)
    assert order.causes == (frozenset(), {0}, {0})
    assert order.arrows[0].how is CopyOutcome.FORGED


def test_a_suspicion_depends_on_the_crash() -> None:
    run = trace(step(1, crash("p1")), step(2, suspect("p3", "p1")), step(3, suspect("p2", "p3")))
    assert causality(run).causes[2:] == ({1}, {0})


def test_shared_variables_put_their_writers_in_order() -> None:
    run = trace(
        step(1, request("p1", "x()"), changes=[wrote("shared")]),
        step(2, request("p2", "x()")),
        step(3, request("p3", "x()"), changes=[wrote("shared")]),
    )
    assert causality(run).causes == (frozenset(), {0}, {0}, {1})


def test_steps_of_the_world_are_in_order() -> None:
    run = trace(step(1, Partitioned(("p2",))), step(2, Healed()))
    assert causality(run).causes[2] == {1}


def test_a_tick_of_a_clock_is_a_step_of_its_process_and_of_no_other() -> None:
    tick = ClockTicked("p2")
    run = trace(
        step(1, request("p2", "x()")),
        step(2, request("p1", "x()")),
        step(3, tick),
        step(4, request("p2", "y()")),
        step(5, request("p1", "y()")),
    )
    assert causality(run).causes[3:] == ({1}, {3}, {2})


def test_the_end_of_a_round_concerns_those_for_which_it_changes_something() -> None:
    timers = [
        Change("@timer", "timer", p, "1", "0", VariableKind.WORLD, True) for p in ("p1", "p2")
    ]
    run = trace(
        step(1, request("p1", "x()")),
        step(2, request("p3", "x()")),
        step(3, RoundEnded(), changes=timers),
        step(4, request("p2", "x()")),
        step(5, request("p3", "y()")),
    )
    assert causality(run).causes[3:] == ({1}, {3}, {2})


def test_the_step_that_closes_a_loop_is_one_of_them() -> None:
    run = trace(step(1, send("p1", "M", "p2")), loop=0, closing=step(2, receive("p2", "M", "p1")))
    assert causality(run).causes[2] == {1}
