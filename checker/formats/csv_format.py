"""Traces as comma-separated values (RFC 4180): a row for each step, for sheets and scripts."""

from __future__ import annotations

import csv
import io

from checker.results.causality import causality
from checker.results.events import CopyLeft, Forged, Lost, Received, Sent, message_of, peers_of
from checker.results.trace import Step, Trace
from checker.words.steps import headline

COLUMNS = (
    "step",
    "process",
    "kind",
    "headline",
    "message",
    "peers",
    "causes",
    "clock",
    "changes",
    "context",
)
"""The header.

``message`` and ``peers``: of what the step receives, loses or forges, or else of what it sends.
``causes``: the steps on which it depends directly.  ``clock``: how many steps of each process it
depends on, ``world`` for those of no process.  ``changes``: what the step changes, without what
events report already.  ``context``: ``yes`` where the violation does not depend on the step, empty
where that was not computed.  Several values in a cell have ``; `` between them.
"""

ABOUT = ((Received, Lost, Forged), (Sent, CopyLeft))


def trace_to_csv(trace: Trace) -> str:
    """Returns the steps of ``trace`` as rows under a header, from the start, which is step 0, to
    the one that closes a loop, if there is one; each row is one line."""
    order = causality(trace)
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(COLUMNS)
    for step, causes, clock in zip(order.steps, order.causes, order.clocks, strict=True):
        message, peers = _about(step)
        writer.writerow(
            " ".join(str(cell).splitlines())
            for cell in (
                step.number,
                step.process,
                step.kind,
                headline(step),
                message,
                peers,
                "; ".join(str(cause) for cause in sorted(causes)),
                "; ".join(f"{lane or 'world'}={count}" for lane, count in sorted(clock.items())),
                "; ".join(_changes(step)),
                _context(trace, step),
            )
        )
    return page.getvalue()


def _about(step: Step) -> tuple[str, str]:
    for kinds in ABOUT:
        found = [event for event in step.events if isinstance(event, kinds)]
        if found:
            messages = dict.fromkeys(map(message_of, found))
            peers = dict.fromkeys(peer for event in found for peer in peers_of(event))
            return "; ".join(messages), "; ".join(peers)
    return "", ""


def _changes(step: Step) -> list[str]:
    return [
        f"{f'{c.process}.' if c.process else ''}{c.title}: {c.before} -> {c.after}"
        for c in step.changes
        if not c.quiet
    ]


def _context(trace: Trace, step: Step) -> str:
    if trace.explanation is None:
        return ""
    return "yes" if step.number in trace.explanation.context else "no"
