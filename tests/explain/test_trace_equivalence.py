"""Runs of one kind, and runs that are not."""

from __future__ import annotations

from checker.explain.trace_equivalence import kind_of
from checker.records import replace
from tests.results.by_hand import crash, deliver, receive, request, send, step, trace


def relayed(first: str, second: str, payload: str) -> object:
    return kind_of(
        trace(
            step(1, request(first, f"broadcast({payload})"), send(first, f"M({payload})", second)),
            step(2, crash(first)),
            step(
                3, receive(second, f"M({payload})", first), deliver(second, f"deliver({payload})")
            ),
        )
    )


def test_who_plays_which_part_and_with_what_payload_makes_no_difference() -> None:
    assert relayed("p1", "p2", "a") == relayed("p3", "p1", "b")


def test_steps_that_do_not_depend_on_one_another_may_come_in_any_order() -> None:
    send_, got = send("p1", "M", "p2"), receive("p2", "M", "p1")
    one = trace(step(1, request("p1", "x()"), send_), step(2, crash("p1")), step(3, got))
    other = trace(step(1, request("p1", "x()"), send_), step(2, got), step(3, crash("p1")))
    assert kind_of(one) == kind_of(other)


def test_what_depends_on_what_makes_the_difference() -> None:
    both = send("p1", "M", "p2", "p3")
    two, three = receive("p2", "M", "p1"), receive("p3", "M", "p1")
    star = trace(step(1, both), step(2, two), step(3, three))
    relay = trace(
        step(1, both), step(2, two, send("p2", "M", "p3")), step(3, receive("p3", "M", "p2"))
    )
    assert kind_of(star) != kind_of(relay)


def test_the_order_of_a_processs_own_steps_makes_none_but_that_of_deliveries_does() -> None:
    first, second = request("p1", "x()"), request("p1", "y()")
    there = trace(step(1, first), step(2, second))
    assert kind_of(there) == kind_of(trace(step(1, second), step(2, first)))
    seen, other = deliver("p1", "deliver(a)"), deliver("p1", "learn(b)")
    there = trace(step(1, seen), step(2, other))
    assert kind_of(there) != kind_of(trace(step(1, other), step(2, seen)))


def test_types_of_messages_and_names_of_handlers_make_a_difference() -> None:
    assert kind_of(trace(step(1, send("p1", "M(a)", "p2")))) != kind_of(
        trace(step(1, send("p1", "N(a)", "p2")))
    )


def test_steps_that_the_violation_does_not_depend_on_are_left_out() -> None:
    short = trace(step(1, request("p1", "x()")))
    long = trace(step(1, request("p1", "x()")), step(2, crash("p3")), context=(2,))
    assert kind_of(short) == kind_of(long)


def test_where_a_run_begins_to_repeat_makes_a_difference() -> None:
    steps = (step(1, request("p1", "x()")), step(2, request("p1", "x()")))
    assert kind_of(trace(*steps, loop=1)) != kind_of(trace(*steps, loop=2))


def test_a_trace_without_an_explanation_has_a_kind() -> None:
    run = trace(step(1, crash("p1")))
    assert kind_of(replace(run, explanation=None)) == kind_of(run)
