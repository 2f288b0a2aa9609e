"""Converts the alternatives to the steps of an execution into JSON for the script of its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from checker.render.html.state import States
from checker.results.alternatives import UNTOLD, Alternative, Alternatives
from checker.results.trace import Step

STANDING = ("crash", "recover")
"""Kinds of events after which a process is down, or up again."""


def alternatives_data(found: tuple[Alternatives, ...], states: States) -> dict[str, Any]:
    """Returns ``others``, the different alternatives that there are, and ``instead``: for each step
    the numbers of those to it, and how many more there are.

    An alternative has the keys of a step: ``h`` its phrase, ``p`` process, ``e`` events (sentence
    and kind), ``d`` changes of cells; besides ``s`` messages that it sends and ``r`` those that are
    in transit no more (message, sender, receiver), ``f`` processes that crash (1) or come back up
    (0), and ``x`` where it leads to the same state.
    """
    numbers: dict[str, int] = {}
    others: list[dict[str, Any]] = []
    instead: list[list[Any]] = []
    for each in found:
        own = []
        for way in each.ways:
            data = _alternative(way, states)
            key = json.dumps(data)
            if key not in numbers:
                numbers[key] = len(others)
                others.append(data)
            own.append(numbers[key])
        instead.append([own, each.more])
    return {"others": others, "instead": instead}


def _alternative(way: Alternative, states: States) -> dict[str, Any]:
    step = way.step
    events = (e for e in step.events if e.kind not in UNTOLD and e.sentence != step.headline)
    told = [[e.sentence, e.kind, e.process] for e in events]
    cut = [[f"it crashed before this: {e.sentence}", "cut", e.process] for e in step.cut]
    data: dict[str, Any] = {
        "h": way.text,
        "p": step.process,
        "e": [*(event for event in told if event[0] != way.text), *cut],
        "d": [[d.cell, d.before, d.after, *[1] * d.forgotten] for d in states.deltas_of(step)],
        "s": list(_sent(step)),
        "r": list(_gone(step)),
        "f": [[e.process, int(e.kind == "crash")] for e in step.events if e.kind in STANDING],
    }
    return {**data, "x": 1} if way.same else data


def _sent(step: Step) -> Iterator[list[str]]:
    for event in step.events:
        if event.kind in ("send", "copy"):
            yield from ([event.message, event.process, peer] for peer in event.peers)


def _gone(step: Step) -> Iterator[list[str]]:
    for event in step.events:
        for peer in event.peers:
            if event.kind == "receive":
                yield [event.message, peer, event.process]
            if event.kind == "lose":
                yield [event.message, event.process, peer]
