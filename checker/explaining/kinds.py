"""Which runs are of one kind: the same causal shape, whoever plays which part in it.

Two runs are of one kind where their steps, those that the violation depends on, can be matched so
that kinds of steps, names of handlers and types of messages agree and the one depends on what the
other depends on.  Names of processes, payloads and numbers make no difference, nor does the order
of steps that do not depend on one another (Mazurkiewicz: Trace Theory, 1987).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import permutations

from checker.witness.causality import NOBODY, Causality, causality, lane_of
from checker.witness.trace import Event, Step, Trace

Kind = tuple[object, ...]
"""What runs of one kind have in common; equal for them and for no others."""

MOST_LANES = 7
"""Beyond so many lanes they are told apart by what happens in them, not by trying all orders."""

_WORD = re.compile(r"[A-Za-z_]\w*")


def kind_of(trace: Trace) -> Kind:
    """The kind of run that ``trace`` is."""
    order = causality(trace)
    left_out = set(trace.explanation.context) if trace.explanation is not None else set()
    steps = [step for step in order.steps[1:] if step.number not in left_out]
    lanes: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        lanes[lane_of(step)].append(step)
    known = set(trace.processes)
    labels = {step.number: _label(step, known) for step in steps}
    loop = () if trace.loop is None else tuple(s.number > trace.loop for s in steps)
    repeats = {step.number: bool(loop) and step.number > (trace.loop or 0) for step in steps}
    places = {
        step.number: (lane, position)
        for lane, found in lanes.items()
        for position, step in enumerate(found)
    }

    def shape(lanes_in_order: tuple[str, ...]) -> Kind:
        rank = {lane: index for index, lane in enumerate(lanes_in_order)}
        return tuple(
            tuple(
                (
                    labels[step.number],
                    repeats[step.number],
                    _causes(order, step, places, rank),
                )
                for step in lanes[lane]
            )
            for lane in lanes_in_order
        )

    return min((shape(lanes_in_order) for lanes_in_order in _orders(lanes, labels)), key=repr)


def _orders(
    lanes: dict[str, list[Step]], labels: dict[int, tuple[object, ...]]
) -> Iterable[tuple[str, ...]]:
    """Orders of the lanes, one of which gives the least shape.

    Lanes in which different things happen are sorted by these; those in which the same happens are
    tried in every order.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for lane, steps in lanes.items():
        nobodys = lane == NOBODY
        alike[repr((nobodys, [labels[step.number] for step in steps]))].append(lane)
    found: list[tuple[str, ...]] = [()]
    for key in sorted(alike):
        group = sorted(alike[key])
        ways = permutations(group) if len(group) <= MOST_LANES else [tuple(group)]
        found = [(*before, *way) for way in ways for before in found]
    return found


def _causes(
    order: Causality, step: Step, places: dict[int, tuple[str, int]], rank: dict[str, int]
) -> tuple[tuple[int, int], ...]:
    """Where in which lane the steps are on which ``step`` depends directly."""
    causes = (places[cause] for cause in order.causes[step.number] if cause in places)
    return tuple(sorted((rank[lane], position) for lane, position in causes))


def _label(step: Step, processes: set[str]) -> tuple[object, ...]:
    """What happens in a step, without names of processes, payloads and numbers."""
    return (step.kind, *(_of_event(event, processes) for event in step.events))


def _of_event(event: Event, processes: set[str]) -> tuple[object, ...]:
    values = processes | {text for _, text in event.arguments}
    return (event.kind, _types(event.name, values), _types(event.message, values), len(event.peers))


def _types(text: str, values: set[str]) -> tuple[str, ...]:
    """The names in ``text`` that are neither processes nor payloads: those of types begin with a
    capital letter, those of handlers and operators stand before anything in parentheses."""
    head, _, rest = text.partition("(")
    inside = (word for word in _WORD.findall(rest) if word[0].isupper())
    return tuple(word for word in (*_WORD.findall(head), *inside) if word not in values)
