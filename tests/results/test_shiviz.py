"""Logs for ShiViz are read as ShiViz reads them, and say what happened before what."""

from __future__ import annotations

import json
import re

import pytest

from checker.formats.shiviz import EXPRESSION, trace_to_shiviz
from checker.resources import specs
from checker.results.causality import causality, lane_of
from checker.results.events import Healed, Partitioned, RoundEnded
from checker.results.trace import Trace
from checker.session.pipeline import Options, run_check
from tests.results.by_hand import (
    crash,
    deliver,
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

Clock = dict[str, int]

BY_HAND = {
    "nothing is ordered": trace(step(1, request("p1", "a")), step(2, request("p2", "b"))),
    "messages": trace(
        step(1, request("p1", "a"), send("p1", "A", "p2", "p3")),
        step(2, request("p3", "b"), send("p3", "B", "p2")),
        step(3, receive("p2", "B", "p3")),
        step(4, receive("p2", "A", "p1"), send("p2", "C", "p1"), deliver("p2", "a")),
        step(5, receive("p1", "C", "p2")),
        step(6, receive("p3", "A", "p1")),
    ),
    "losses": trace(
        step(1, send("p1", "A", "p2")),
        step(2, send("p1", "A", "p2")),
        step(3, lose("p1", "A", "p2")),
        step(4, send("p3", "B", "p2")),
        step(5, lose("p3", "B", "p2")),
        step(6, receive("p2", "A", "p1")),
    ),
    "the world": trace(
        step(1, send("p1", "A", "p2")),
        step(2, Partitioned(("p2",))),
        step(3, crash("p1")),
        step(4, Healed()),
        step(5, suspect("p2", "p1")),
        step(6, receive("p2", "A", "p1")),
    ),
    "what all write": trace(
        step(1, request("p1", "a"), changes=(wrote("x"),)),
        step(2, request("p2", "b")),
        step(3, request("p3", "c"), changes=(wrote("x"),)),
    ),
    "lies": trace(step(1, forge("p3", "LIE", "p1")), step(2, forge("p3", "LIE", "p2"))),
    "forever": trace(
        step(1, send("p1", "A", "p2")),
        step(2, receive("p2", "A", "p1"), send("p2", "A", "p1")),
        loop=1,
        closing=step(3, receive("p1", "A", "p2"), send("p1", "A", "p2")),
    ),
}


def parsed(log: str) -> list[tuple[str, str, Clock]]:
    """What ShiViz makes of a file: the first line is the expression, the second one a delimiter,
    and each match of the expression in the rest is an event of a host, with its clock."""
    expression, delimiter, rest = log.split("\n", 2)
    assert delimiter == ""
    pattern = re.compile(expression.replace("(?<", "(?P<"))
    found = [(m["event"], m["host"], json.loads(m["clock"])) for m in pattern.finditer(rest)]
    assert 2 * len(found) == rest.count("\n")
    return found


def before(one: Clock, other: Clock) -> bool:
    """Mattern's order of vectors."""
    return one != other and all(count <= other.get(host, 0) for host, count in one.items())


def agrees(made: Trace) -> None:
    """The log's clocks are right for ShiViz, and give the happened-before relation of ``made``."""
    order = causality(made)
    logged = [s for s in order.steps if s.number and s.kind != "lose"]
    entries = parsed(trace_to_shiviz(made))
    assert [int(event.split(":")[0]) for event, _, _ in entries] == [s.number for s in logged]
    counts: dict[str, int] = {}
    for (_, host, clock), at in zip(entries, logged, strict=True):
        assert host == (lane_of(at) or "world")
        counts[host] = counts.get(host, 0) + 1
        assert clock[host] == counts[host]
        assert all(count > 0 for count in clock.values())
    for i, (_, _, one) in enumerate(entries):
        past = order.past({logged[i].number})
        for j, (_, _, other) in enumerate(entries):
            assert before(other, one) == (i != j and logged[j].number in past)


@pytest.mark.parametrize("name", BY_HAND)
def test_clocks_say_what_happened_before_what(name: str) -> None:
    agrees(BY_HAND[name])


def test_the_expression_is_shivizs_default() -> None:
    log = trace_to_shiviz(BY_HAND["messages"])
    assert log.startswith("(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})\n\n1: ")
    assert log.partition("\n")[0] == EXPRESSION


def test_the_order_of_steps_is_not_taken_for_causality() -> None:
    (_, _, one), (_, _, other) = parsed(trace_to_shiviz(BY_HAND["nothing is ordered"]))
    assert one == {"p1": 1}
    assert other == {"p2": 1}


def test_a_host_for_the_world_only_where_it_does_something() -> None:
    assert '"world"' not in trace_to_shiviz(BY_HAND["messages"])
    hosts = [host for _, host, _ in parsed(trace_to_shiviz(BY_HAND["the world"]))]
    assert hosts.count("world") == 2
    named = trace(step(1, request("world", "a")), step(2, RoundEnded()), processes=("world",))
    assert [host for _, host, _ in parsed(trace_to_shiviz(named))] == ["world", "world_"]


def test_a_loss_is_told_where_the_message_is_sent() -> None:
    events = [event for event, _, _ in parsed(trace_to_shiviz(BY_HAND["losses"]))]
    assert len(events) == 4
    assert "A to p2 is lost (step 3)" in events[0]
    assert "B to p2 is lost (step 5)" in events[2]


@pytest.mark.parametrize(
    ("file", "check"),
    [
        ("broadcast/eager_reliable_without_relay.bcast", "crash_one"),
        ("total_order/sequencer_takeover.bcast", "crash_one"),
        ("consensus/paxos.bcast", "duel"),
        ("exactly_once/winch.bcast", "lower_then_log"),
    ],
)
def test_runs_of_the_library(file: str, check: str) -> None:
    report = run_check(str(specs() / file), check, Options())
    traces = [verdict.trace for verdict in report.verdicts if verdict.trace is not None]
    assert traces
    for made in traces:
        agrees(made)
