"""Eager reliable broadcast against a model of it that shares nothing with the tool.

The model is the textbook's picture: p1 broadcasts one message; whoever gets it for the first time
runs a list of effects, each single copy of a multicast among them; a crash cuts the list anywhere,
and leaves any subset of the copies of the multicast in which it falls.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.instantiate.tables import run

DELIVER, SEND = "deliver", "send"


class World(NamedTuple):
    asked: bool
    seen: frozenset[int]
    delivered: frozenset[int]
    crashed: frozenset[int]
    copies: tuple[tuple[int, int], ...]  # sender, receiver; sorted


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(n + 1):
        yield from combinations(range(n), size)


def played(world: World, p: int, effects: tuple[str, ...], n: int) -> World:
    for effect in effects:
        if effect == DELIVER:
            world = world._replace(delivered=world.delivered | {p})
        else:
            more = tuple((p, q) for q in range(n))
            world = world._replace(copies=tuple(sorted(world.copies + more)))
    return world


def handled(
    world: World, p: int, effects: tuple[str, ...], n: int, f: int
) -> Iterator[tuple[int, World]]:
    """Every way for ``p`` to run ``effects``, with the steps it takes: a crash is one, too."""
    yield 1, played(world, p, effects, n)
    if len(world.crashed) == f:
        return
    dead = world._replace(crashed=world.crashed | {p})
    for cut, effect in enumerate(effects):
        before = played(dead, p, effects[:cut], n)
        for part in subsets(n) if effect == SEND else ((),):
            copies = before.copies + tuple((p, q) for q in part)
            yield 2, before._replace(copies=tuple(sorted(copies)))


def after(
    world: World, effects: tuple[str, ...], n: int, f: int
) -> Iterator[tuple[int, bool, World]]:
    """Steps, whether the world promises it, and the next world."""
    if not world.asked and 0 not in world.crashed:
        for steps, new in handled(world._replace(asked=True), 0, (SEND,), n, f):
            yield steps, True, new
    for copy in set(world.copies):
        source, to = copy
        if to in world.crashed:
            continue
        left = list(world.copies)
        left.remove(copy)
        taken = world._replace(copies=tuple(left))
        promised = source not in world.crashed
        if to in world.seen:
            yield 1, promised, taken
            continue
        for steps, new in handled(taken._replace(seen=taken.seen | {to}), to, effects, n, f):
            yield steps, promised, new
    if len(world.crashed) < f:
        for p in set(range(n)) - world.crashed:
            yield 1, False, world._replace(crashed=world.crashed | {p})


def violations(effects: tuple[str, ...], n: int, f: int) -> dict[str, int]:
    """The properties that some run violates, with the steps of a shortest such run."""
    start = World(False, frozenset(), frozenset(), frozenset(), ())
    queue, done, found = [(0, start)], set(), dict[str, int]()
    while queue:
        steps, world = heapq.heappop(queue)
        if world in done:
            continue
        done.add(world)
        moves = list(after(world, effects, n, f))
        if not any(promised for _, promised, _ in moves):
            correct = set(range(n)) - world.crashed
            bad = {
                "validity": world.asked and 0 in correct - world.delivered,
                "agreement": bool(correct & world.delivered and correct - world.delivered),
                "uniform_agreement": bool(world.delivered and correct - world.delivered),
            }
            for name in (name for name, is_bad in bad.items() if is_bad):
                found.setdefault(name, steps)
        for more, _, new in moves:
            heapq.heappush(queue, (steps + more, new))
    return found


SPEC = """
protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state seen = false
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) when not seen { seen := true  EFFECTS }
}
check c of P {
  n = SIZE  faults crash <= BOUND  clients { p1 broadcasts a }
  prove validity, agreement, uniform_agreement
}
"""
WRITTEN = {DELIVER: "deliver(origin, m)", SEND: "send DATA(m) to all"}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("f", [0, 1])
@pytest.mark.parametrize(
    "effects",
    [(DELIVER,), (DELIVER, SEND), (SEND, DELIVER)],
    ids=["without relay", "deliver, then relay", "relay, then deliver"],
)
@pytest.mark.parametrize("fine", [False, True])
def test_the_same_properties_fail(
    effects: tuple[str, ...], f: int, n: int, fine: bool, tmp_path: Path
) -> None:
    text = SPEC.replace("EFFECTS", "  ".join(WRITTEN[e] for e in effects))
    text = text.replace("DATA(m: Msg)", "DATA(origin: Proc, m: Msg)")
    text = text.replace("broadcast(m) { send DATA(m)", "broadcast(m) { send DATA(self, m)")
    text = text.replace("receive DATA(m)", "receive DATA(origin, m)")
    text = text.replace("send DATA(m)", "send DATA(origin, m)")
    text = text.replace("SIZE", str(n)).replace("BOUND", str(f))
    report = run(tmp_path, text, fine=fine)
    expected = violations(effects, n, f)
    found = {v.property: v.trace for v in report.verdicts if v.trace is not None}
    assert {v.word.value for v in report.verdicts} <= {"holds", "violated"}
    assert found.keys() == expected.keys()
    if not fine:
        assert {name: trace.length for name, trace in found.items()} == expected
