"""Traces as Mermaid sequence diagrams."""

from __future__ import annotations

import re

import pytest

from checker.api import check
from checker.render.diagram.mermaid import escape, mermaid_of
from checker.resources import specs
from checker.results.trace import Trace
from tests.render.runs import (
    busy,
    cut_off,
    disconnected,
    disks,
    everything,
    half_heard,
    round_and_round,
    together,
)

RUNS = {
    "half heard": half_heard(),
    "everything": everything(),
    "cut off": cut_off(),
    "disks": disks(),
    "disconnected": disconnected(),
    "together": together(),
    "round and round": round_and_round(),
    "busy": busy(60),
}

TEXT = r"(?:#\w+;|[^#;:<>&\"%{}\\])*"

LINES = (
    re.compile(rf"    participant P\d+ as {TEXT}"),
    re.compile(rf" +P\d+(?:-\)|--\)|-x)P\d+: {TEXT}"),
    re.compile(rf" +Note over P\d+(?:,P\d+)?: {TEXT}"),
    re.compile(r" +(?:de)?activate P\d+"),
    re.compile(r"    loop [\w ]+"),
    re.compile(r"    end"),
)
"""All that is used of Mermaid; a text has no character that it takes for its own."""


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_line_is_one_that_mermaid_knows(run: Trace) -> None:
    first, *rest = mermaid_of(run).splitlines()
    assert first == "sequenceDiagram"
    for line in rest:
        assert any(known.fullmatch(line) for known in LINES), line


def test_messages_and_notes() -> None:
    assert mermaid_of(half_heard()).splitlines() == [
        "sequenceDiagram",
        "    participant P0 as p1",
        "    participant P1 as p2",
        "    participant P2 as p3",
        "    Note over P0: broadcast(a)",
        "    Note over P0: crashes",
        "    Note over P0: cut off#58; DATA(a) to p3, deliver(p1, a)",
        "    Note over P0: DATA(a) never reaches p3",
        "    P0-)P1: DATA(a)",
        "    Note over P1: deliver(p1, a)",
        "    Note over P0,P2: agreement is violated. (the system is quiescent)",
    ]


def test_lost_and_forged_messages_differ() -> None:
    lines = mermaid_of(everything()).splitlines()
    assert sum("-x" in line for line in lines) == 1
    assert "    P2--)P1: ACK(b), forged" in lines
    assert any("still in transit" in line for line in lines)
    assert "    Note over P0: performs print" in lines
    assert "    Note over P0: comes back up" in lines
    assert "    Note over P1: the detector tells p2 that it suspects p1" in lines


def test_a_loop_is_a_block() -> None:
    lines = mermaid_of(round_and_round()).splitlines()
    start, end = lines.index("    loop repeats forever"), lines.index("    end")
    assert [line.strip() for line in lines[start + 1 : end]] == ["P0-)P1: PING", "P1-)P0: PONG"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a;b#c:d", "a#59;b#35;c#58;d"),
        ('<&">', "#lt;#amp;#quot;#gt;"),
        ("{p1}%%", "#123;p1#125;#37;#37;"),
        ("the end of it", "the e#110;d of it"),
        ("ends\nhere", "ends here"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_operations_are_activations_from_call_to_return() -> None:
    """As many as the trace has, nested as Mermaid wants them, and the result beside the end."""
    report = check(str(specs() / "registers" / "single_copy.bcast"), "two_servers")
    traces = [verdict.trace for verdict in report.verdicts if verdict.trace is not None]
    trace = next(one for one in traces if one.operations)
    lines = [line.strip() for line in mermaid_of(trace).splitlines()]
    begun = [line for line in lines if line.startswith("activate ")]
    ended = [line for line in lines if line.startswith("deactivate ")]
    assert len(begun) == len(trace.operations) >= 2
    assert len(ended) == sum(o.returned is not None for o in trace.operations) >= 1
    active = 0
    for line in lines:
        active += line.startswith("activate ") - line.startswith("deactivate ")
        assert active >= 0
    assert sum(" returns" in line for line in lines) == len(ended)
