r"""Traces as logs for ShiViz, which draws space-time diagrams from vector clocks.

I. Beschastnikh, P. Wang, Y. Brun, M. D. Ernst: Debugging Distributed Systems, CACM 2016.
https://bestchai.bitbucket.io/shiviz

A log is what ShiViz loads from a file: the first line is the expression by which entries are
parsed, and here it is ShiViz's default, ``(?<event>.*)\n(?<host>\S*) (?<clock>{.*})``; the second
one would separate several executions, and is empty.  Then come two lines for each step: what
happens, and the host with its vector clock in JSON.

An entry's clock has the steps on which it depends, and no others: the order of the lines has no
meaning.  Three things are no entries of their own.  The start: everything depends on it.  The loss
of a message: nothing depends on it, and it belongs to no process; it is reported where the message
is sent.  And what a step of one process does at another one, such as a message that takes no time.
"""

from __future__ import annotations

import json

from checker.diagnostics.visible import visible
from checker.results.causality import Causality, CopyOutcome, causality, lane_of
from checker.results.events import Crashed, Indicated, Performed, Sent
from checker.results.trace import Step, Trace
from checker.words.events import sentence
from checker.words.steps import headline, is_led_by

EXPRESSION = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
"""ShiViz's default expression for an entry, as JavaScript writes it."""

WORLD = "world"
"""The host of steps of no process; present only where the execution has such steps."""


def trace_to_shiviz(trace: Trace) -> str:
    """Returns the log of ``trace``'s steps, with the one that closes its loop."""
    order = causality(trace)
    world = WORLD
    while world in trace.processes:
        world += "_"
    lines = [EXPRESSION, ""]
    for step, clock in zip(order.steps, order.clocks, strict=True):
        if step.number == 0 or step.kind == "lose":
            continue
        host = visible(lane_of(step)) or world
        named = {visible(lane) or world: count for lane, count in clock.items()}
        first = {host: named.pop(host)}
        lines.append(" ".join(f"{step.number}: {_event_text(step, order)}".split()))
        lines.append(f"{host} {json.dumps(first | named, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _event_text(step: Step, order: Causality) -> str:
    """Returns the headline, and what else a diagram with nothing but events would not show."""
    more = [
        sentence(event)
        for event in step.events
        if isinstance(event, Sent | Indicated | Performed | Crashed) and not is_led_by(step, event)
    ]
    more += [
        f"{arrow.message} to {arrow.receiver} is lost (step {arrow.ended})"
        for arrow in order.arrows
        if arrow.how is CopyOutcome.LOST and arrow.sent == step.number
    ]
    missed = [a for a in order.arrows if a.how is CopyOutcome.MISSED and a.sent == step.number]
    more += [f"{a.message} never reaches {a.receiver}" for a in missed if a.sender != a.receiver]
    return "; ".join([headline(step), *more])
