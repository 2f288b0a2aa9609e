"""Converts the alternatives to the steps of an execution into JSON for the script of its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from checker.render.html.state import States
from checker.results import events as ev
from checker.results.alternatives import Alternative, Alternatives
from checker.results.trace import Step
from checker.words.events import sentence
from checker.words.steps import beside_headline, cut_text


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
    told = [[sentence(e), kind_in_script(e), e.process] for e in beside_headline(step)]
    cut = [[cut_text(e), "cut", e.process] for e in step.cut]
    data: dict[str, Any] = {
        "h": way.text,
        "p": step.process,
        "e": [*(event for event in told if event[0] != way.text), *cut],
        "d": [[d.cell, d.before, d.after, *[1] * d.forgotten] for d in states.deltas_of(step)],
        "s": list(_sent(step)),
        "r": list(_gone(step)),
        "f": [
            [e.process, int(isinstance(e, ev.Crashed))]
            for e in step.events
            if isinstance(e, ev.Crashed | ev.Recovered)
        ],
    }
    return {**data, "x": 1} if way.same else data


def kind_in_script(event: ev.Event) -> str:
    """Returns the word by which the script of a page distinguishes events."""
    return "world" if isinstance(event, ev.World) else ev.kind_name(event)


def _sent(step: Step) -> Iterator[list[str]]:
    for event in step.events:
        if isinstance(event, ev.Sent | ev.CopyLeft):
            yield from ([event.message, event.process, to] for to in ev.peers_of(event))


def _gone(step: Step) -> Iterator[list[str]]:
    for event in step.events:
        match event:
            case ev.Received(message, sender):
                yield [message, sender, event.process]
            case ev.Lost(message, receiver):
                yield [message, event.process, receiver]
