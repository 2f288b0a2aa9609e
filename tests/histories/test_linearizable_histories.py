"""Linearizability of recorded histories, against all orders tried one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.histories.events import events_of
from checker.histories.just_in_time import JustInTime
from checker.histories.linearizability import Part, decide, parts_of
from checker.histories.objects import Machines, find_object
from checker.histories.pairing import Shape, operations_of
from checker.histories.reading import read_history
from checker.histories.refutations import explain
from checker.histories.steps import bind
from checker.histories.wing_gong_lowe import WingGongLowe
from tests.histories.drawing import CALLS, Event, draw_history, rows_of
from tests.world.orders import Operation, is_linearizable

CASES = 25
Drawn = dict[str, list[tuple[Part, list[Operation], list[Event]]]]
PARTS: Drawn = {}


def part_of(file: Path, name: str) -> Part:
    history = read_history(str(file))
    found = find_object(name)
    bound = bind(found, operations_of(history).found, Shape())
    (part,) = parts_of(Machines(found), bound, False)
    return part


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """For each object some random histories with their parts."""
    folder = tmp_path_factory.mktemp("histories")
    for name in CALLS if not PARTS else ():
        draw = random.Random(name)
        PARTS[name] = []
        while len(PARTS[name]) < CASES:
            operations, history = draw_history(draw, name, 5)
            if not any(event[0] == "return" for event in history):
                continue
            file = folder / "history.ndjson"
            rows = rows_of(name, operations, history)
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            PARTS[name].append((part_of(file, name), operations, history))
    return PARTS


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(CALLS))
def test_both_searches_find_what_all_orders_say(name: str, drawn: Drawn) -> None:
    seen = set()
    for part, operations, history in drawn[name]:
        expected = is_linearizable(name, operations, history)
        events = events_of(part.bound)
        for search in (JustInTime(part.steps, events), WingGongLowe(part.steps, events)):
            search.advance(1 << 40)
            assert search.verdict is expected, (type(search), operations, history)
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_refuted_prefix_is_the_smallest_one(name: str, drawn: Drawn) -> None:
    for part, operations, history in drawn[name]:
        if decide([part]) is None:
            continue
        found = explain(part)
        end = part.bound[found.last].recorded.returned
        assert end is not None
        assert not is_linearizable(name, operations, history[: end + 1])
        assert is_linearizable(name, operations, history[:end])


@pytest.mark.parametrize("name", ["CompareAndSwap", "Queue", "Set"])
def test_what_is_left_out_makes_no_difference(name: str, drawn: Drawn) -> None:
    """However the operations that were left out are removed, the others have no order."""
    draw = random.Random(7)
    checked = 0
    for part, operations, history in drawn[name]:
        if decide([part]) is None:
            continue
        found = explain(part)
        end = part.bound[found.last].recorded.returned or 0
        kept = set(found.chosen)
        called = {number for number in range(len(operations)) if ("call", number) in history[:end]}
        for _ in range(6):
            dropped = {number for number in called - kept if draw.random() < 0.5}
            rest = [event for event in history[: end + 1] if event[1] not in dropped]
            checked += bool(dropped)
            assert not is_linearizable(name, operations, rest), (operations, history, kept)
    assert checked > 5


def test_a_long_search_and_a_short_one_agree_on_mutated_histories(tmp_path: Path) -> None:
    """Larger histories, of which both searches decide the original and mutated ones."""
    draw = random.Random(3)
    verdicts = []
    for number in range(12):
        operations, history = draw_history(draw, "CompareAndSwap", 40, values=3)
        file = tmp_path / f"{number}.ndjson"
        rows = rows_of("CompareAndSwap", operations, history)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        part = part_of(file, "CompareAndSwap")
        events = events_of(part.bound)
        searches = JustInTime(part.steps, events), WingGongLowe(part.steps, events)
        for search in searches:
            search.advance(1 << 40)
        assert searches[0].verdict is searches[1].verdict
        verdicts.append(searches[0].verdict)
    assert {*verdicts} == {True, False}
