"""What is told of the copies of a crashed process's messages is what their arrows show."""

from __future__ import annotations

import pytest

from checker.resources import specs
from checker.results.causality import CopyOutcome, causality
from checker.session.pipeline import Options, run_check

CHECKS = (
    "broadcast/eager_reliable.bcast::crash_one",
    "broadcast/eager_reliable_without_relay.bcast::crash_one",
    "total_order/sequencer_takeover.bcast::crash_one",
)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("name", CHECKS)
def test_who_received_what(name: str, fine: bool) -> None:
    path, _, check = name.partition("::")
    report = run_check(str(specs() / path), check, Options(fine_steps=fine))
    traces = [v.trace for v in report.verdicts if v.trace is not None and v.trace.copies]
    assert traces
    for trace in traces:
        arrows = [a for a in causality(trace).arrows if a.how is CopyOutcome.RECEIVED]
        for copies in trace.copies:  # in fine steps a copy leaves later than it is sent
            received = {
                a.receiver
                for a in arrows
                if (a.sender, a.message) == (copies.sender, copies.message)
                and a.sent is not None
                and (a.sent >= copies.step if fine else a.sent == copies.step)
            }
            assert received - {copies.sender} == set(copies.received)
            assert not received & set(copies.missing)
