"""Random logs of few processes and messages: with gaps, crashes, events that may have happened."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from tests.audit.brute_force import Event, Process, Run

MANIFEST = """
[processes."client*"]
delivers = false
"""


def random_run(draw: random.Random, named: bool, grace: int, offsets: bool = False) -> Run:
    """Returns a run: most are nearly right, so that small deviations are seen alone."""
    number = draw.randint(2, 4)
    processes = [Process(f"p{i}") for i in range(1, number + 1)]
    if draw.random() < 0.2:
        processes.append(Process("client1", delivers=False))
    names = [p.name for p in processes]
    messages = [f"m{i}" for i in range(draw.randint(1, 5))]
    owner = {m: draw.choice(names) for m in messages}
    wild = draw.random() < 0.4
    cyclic = draw.random() < 0.15 and number >= 3 and len(messages) >= 3
    for at, process in enumerate(processes):
        events = [
            Event("request", m, status=_status(draw, 0.1))
            for m in messages
            if owner[m] == process.name
        ]
        mine = list(messages)
        if cyclic and at < 3:
            mine = [messages[at], messages[(at + 1) % 3]]
        elif wild:
            draw.shuffle(mine)
            mine = mine[: draw.randint(0, len(mine))]
        if process.delivers:
            events += [_delivery(draw, m, owner[m] if named else None) for m in mine]
            _disturb(draw, events, messages, owner, named, wild)
        if not wild and draw.random() < 0.5:
            _interleave(draw, events)
        events += [Event("perform", m, effect=draw.random() < 0.8) for m in _few(draw, messages)]
        _number(draw, process, events, offsets)
    return Run(processes, named, grace)


def _delivery(draw: random.Random, m: str, sender: str | None) -> Event:
    return Event("deliver", m, sender, "ok" if draw.random() > 0.02 else "maybe")


def _status(draw: random.Random, odd: float) -> str:
    return draw.choice(["maybe", "fail"]) if draw.random() < odd else "ok"


def _few(draw: random.Random, messages: list[str]) -> list[str]:
    return [m for m in messages if draw.random() < 0.3]


def _disturb(
    draw: random.Random,
    events: list[Event],
    messages: list[str],
    owner: dict[str, str],
    named: bool,
    wild: bool,
) -> None:
    if events and draw.random() < 0.1:
        events.append(draw.choice([e for e in events]))
    if draw.random() < 0.05:
        events.append(
            Event("deliver", "made-up", draw.choice([*owner.values()]) if named else None)
        )
    if len(events) > 1 and draw.random() < (0.5 if wild else 0.1):
        i, j = draw.sample(range(len(events)), 2)
        events[i], events[j] = events[j], events[i]
    if len(events) > 1 and draw.random() < 0.15:
        events.pop(draw.randrange(len(events)))


def _interleave(draw: random.Random, events: list[Event]) -> None:
    """Moves requests among deliveries, in their order."""
    requests = [e for e in events if e.kind == "request"]
    for request in requests:
        events.remove(request)
    at = 0
    for request in requests:
        at = draw.randint(at, len(events))
        events.insert(at, request)
        at += 1


def _number(draw: random.Random, process: Process, events: list[Event], offsets: bool) -> None:
    if draw.random() < 0.12:
        events.insert(draw.randint(0, len(events)), Event("gap", ""))
        process.complete = False
    if draw.random() < 0.15:
        events.append(Event("crash", ""))
        process.crashed = True
    events.insert(0, Event("start", ""))  # a process without a row is not known
    pos, offset = draw.randint(0, 3), 0
    for event in events:
        process.events.append((pos, event))
        pos += draw.choice([1, 1, 1, 2, 7])
        if offsets and event.kind == "deliver":
            event.offset = offset if draw.random() < 0.9 else draw.randint(0, 4)
            offset += 1
        if offsets and event.kind == "request" and draw.random() < 0.7:
            event.offset = draw.choice([draw.randint(0, 3), sum(map(ord, event.msg)) % 4])


def rows_of(run: Run, name: str) -> list[dict[str, object]]:
    """Returns the rows of the log of a run."""
    rows: list[dict[str, object]] = []
    for process in run.processes:
        for pos, event in process.events:
            row: dict[str, object] = {
                "run": name,
                "process": process.name,
                "pos": pos,
                "kind": event.kind,
            }
            if event.msg:
                row |= {"msg": event.msg, "status": event.status}
            if event.sender is not None:
                row["sender"] = event.sender
            if event.offset is not None:
                row["offset"] = event.offset
            if event.kind == "perform":
                row["effect"] = event.effect
            rows.append(row)
    return rows


def write_runs(runs: Sequence[Run], folder: Path) -> Path:
    """Writes the logs of all runs into one file, and returns its name."""
    file = folder / "log.ndjson"
    with file.open("w", encoding="utf-8") as out:
        for number, run in enumerate(runs):
            for row in rows_of(run, f"r{number}"):
                out.write(json.dumps(row) + "\n")
    return file
