"""Crash recovery against a model of it that shares nothing with the tool.

One process, p1, runs a list of effects as long as a stable flag is not set: acts, writes, a message
to p2, which acts when it gets it.  Effects are played one by one; those in brackets happen
together.  A crash cuts the list anywhere; what was written stays.  While an end of the link is
down, the message may get lost.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.instantiate.tables import run
from tests.selection import first_by_default

P1, P2 = 0, 1


class World(NamedTuple):
    flag: bool
    note: bool
    acts: tuple[int, ...]
    copies: int
    down: frozenset[int]
    crashes: int


Group = tuple[str, ...]


def played(world: World, groups: tuple[Group, ...]) -> World:
    for effect in (e for group in groups for e in group):
        match effect:
            case "flag":
                world = world._replace(flag=True)
            case "note":
                world = world._replace(note=True)
            case "send":
                world = world._replace(copies=world.copies + 1)
            case number:
                world = world._replace(acts=tuple(sorted((*world.acts, int(number)))))
    return world


def after(world: World, groups: tuple[Group, ...], most: int) -> Iterator[tuple[bool, World]]:
    """Whether the world promises it, and the next world."""
    room = world.crashes < most
    if P1 not in world.down and not world.flag:
        yield True, played(world, groups)
        if room:
            for cut in range(len(groups)):
                dead = played(world, groups[:cut])
                yield False, dead._replace(down=world.down | {P1}, crashes=world.crashes + 1)
    if world.copies and P2 not in world.down:
        got = world._replace(copies=world.copies - 1)
        yield P1 not in world.down, played(got, (("3",),))
        if room:
            yield False, got._replace(down=world.down | {P2}, crashes=world.crashes + 1)
    if world.copies and world.down:
        yield False, world._replace(copies=world.copies - 1)
    for p in (P1, P2):
        if p in world.down:
            yield False, world._replace(down=world.down - {p})
        elif room:
            yield False, world._replace(down=world.down | {p}, crashes=world.crashes + 1)


def violated(groups: tuple[Group, ...], most: int) -> set[str]:
    start = World(False, False, (), 0, frozenset(), 0)
    queue, done, found = [(0, start)], set(), set[str]()
    while queue:
        depth, world = heapq.heappop(queue)
        if world in done:
            continue
        done.add(world)
        times = Counter(world.acts)
        found |= {f"once{k}" for k in (1, 2, 3) if times[k] > 1}
        if times[2] and not times[1]:
            found.add("order")
        if times[1] and P1 not in world.down and not world.note:
            found.add("noted")
        moves = list(after(world, groups, most))
        if not any(promised for promised, _ in moves):
            if P1 not in world.down:
                found |= {f"arrives{k}" for k in (1, 2) if not times[k]}
            if not world.down and not times[3]:
                found.add("arrives3")
        for _, new in moves:
            heapq.heappush(queue, (depth + 1, new))
    return found


SPEC = """
protocol P(a: Proc, b: Proc) {
  message M
  stable state flag = false
  stable state note = false
  upon condition not flag at a { EFFECTS }
  upon receive M { perform 3 }
  property once1: always not repeated(performed, 1)
  property once2: always not repeated(performed, 2)
  property once3: always not repeated(performed, 3)
  property order: always 2 in performed => 1 in performed
  property noted: always 1 in performed and not crashed(a) => a.note
  property arrives1: correct(a) ~> 1 in performed
  property arrives2: correct(a) ~> 2 in performed
  property arrives3: correct(a) and correct(b) ~> 3 in performed
}
check c of P {
  n = 2  a = p1  b = p2  faults crash <= MOST, recover
  prove once1, once2, once3, order, noted, arrives1, arrives2, arrives3
}
"""
WRITTEN = {
    "flag": "flag := true",
    "note": "note := true",
    "send": "send M to b",
    "1": "perform 1",
    "2": "perform 2",
}


def _ways() -> list[tuple[Group, ...]]:
    """Orders of the five effects, and brackets around two neighbours."""
    orders = list(permutations(("flag", "note", "send", "1", "2")))[::7]
    found: list[tuple[Group, ...]] = []
    for number, order in enumerate(orders):
        found.append(tuple((e,) for e in order))
        at = number % 4
        rest = [(e,) for e in order]
        found.append((*rest[:at], (order[at], order[at + 1]), *rest[at + 2 :]))
    return found


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    "groups",
    first_by_default(_ways(), len(_ways()) // 2),
    ids=lambda g: " ".join("+".join(x) for x in g),
)
def test_the_same_properties_fail(groups: tuple[Group, ...], fine: bool, tmp_path: Path) -> None:
    parts = []
    for group in groups:
        inner = "  ".join(WRITTEN[e] for e in group)
        parts.append(f"atomic {{ {inner} }}" if len(group) > 1 else inner)
    most = 1 if fine else 2
    text = SPEC.replace("EFFECTS", "  ".join(parts)).replace("MOST", str(most))
    report = run(tmp_path, text, fine=fine)
    words = {v.property: v.word.value for v in report.verdicts}
    assert set(words.values()) <= {"holds", "violated"}
    assert {name for name, word in words.items() if word == "violated"} == violated(groups, most)
