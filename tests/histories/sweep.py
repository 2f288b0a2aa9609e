"""Judges many random histories and compares each verdict with all orders:
``python -m tests.histories.sweep --histories 100000 --objects Queue,Lock``.

Histories have operations that fail, that are indeterminate and that never return, and processes
that crash.  Many are judged at a time, each as one key of a larger history.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checker.histories.linearizability import decide, parts_of
from checker.histories.objects import Machines, find_object
from checker.histories.pairing import Shape, operations_of, with_keys
from checker.histories.reading import read_history
from checker.histories.steps import bind
from tests.histories.drawing import CALLS, Event, draw_history, rows_of
from tests.world.orders import OBJECTS, Operation

OWN = """
object Loose<V> {
  state seen : set<V> = {}
  state last : option<Proc> = none
  operation write(v: V) {
    either { seen += v } or { seen := {v} }
    last := some(self)
  }
  operation read(): option<V> {
    if seen == {} { return none } else {
      choose v in seen
      return some(v)
    }
  }
  operation undo() {
    require last == some(self)
    seen := {}
    last := none
  }
}
"""
"""An object whose operations have choices, a caller, and a state in which one is not enabled."""


def loose(state: Any, one: Operation) -> list[tuple[Any, Any]]:
    """What the object above does, written once more."""
    seen, last = state
    if one.op == "write":
        both = {seen | {one.args[0]}, frozenset(one.args)}
        return [((after, (one.process,)), None) for after in sorted(both, key=sorted)]
    if one.op == "undo":
        return [((frozenset(), None), None)] if last == (one.process,) else []
    return [(state, (each,)) for each in sorted(seen)] or [(state, None)]


KNOWN = {**OBJECTS, "Loose": ((frozenset(), None), loose)}
ALL_CALLS = {**CALLS, "Loose": {"write": 1, "read": 0, "undo": 0}}


def has_order(
    name: str, operations: Sequence[Operation], history: Sequence[Event], failed: frozenset[int]
) -> bool:
    """Whether some order of the operations explains the results; of one that has returned before
    another one is called, the first comes first.  All are tried, one operation after the other."""
    calls = {event[1]: at for at, event in enumerate(history) if event[0] == "call"}
    ends = {event[1]: at for at, event in enumerate(history) if event[0] == "return"}
    results = {event[1]: event[2] for event in history if event[0] == "return"}
    first, step = KNOWN[name]

    def goes_on(state: Any, done: frozenset[int]) -> bool:
        if ends.keys() <= done:
            return True
        for one, called in calls.items():
            if one in done or one in failed:
                continue
            if any(end < called and other not in done for other, end in ends.items()):
                continue
            for after, result in step(state, operations[one]):
                if one not in ends or result == results[one]:
                    if goes_on(after, done | {one}):
                        return True
        return False

    return goes_on(first, frozenset())


Case = tuple[list[Operation], list[Event], frozenset[int]]


def draw_case(draw: random.Random, name: str) -> Case:
    """Operations, a history, and those that failed: some of those that do not return."""
    operations, history = draw_history(
        draw, name, 5, draw.choice([2, 4]), calls=ALL_CALLS, objects=KNOWN
    )
    returned = {event[1] for event in history if event[0] == "return"}
    called = {event[1] for event in history if event[0] == "call"}
    failed = frozenset(each for each in called - returned if draw.random() < 0.2)
    return operations, history, failed


def rows_with_ends(draw: random.Random, name: str, case: Case, key: int) -> list[dict[str, Any]]:
    """The rows of the case as those of a key: operations that do not return end in some way."""
    operations, history, failed = case
    rows = rows_of(name, operations, history)
    returned = {event[1] for event in history if event[0] == "return"}
    lost = sorted(event[1] for event in history if event[0] == "call" and event[1] not in returned)
    for number in lost:
        row: dict[str, Any] = {
            "process": f"c{operations[number].process}",
            "arguments": [],
            "name": "",
        }
        row |= {"kind": "indicate", "outcome": "fail" if number in failed else "info"}
        if number not in failed and draw.random() < 0.5:
            row |= {"kind": draw.choice(["crash", "nothing"])}
        at = draw.randint(history.index(("call", number)) + 1, len(history))
        rows.insert(at, row) if at == len(history) else rows.append(row)
    for row in rows:
        row["process"] = f"{key}.{row['process']}"
        if row["kind"] == "request":
            row["arguments"] = [key, *row["arguments"]]
    return rows


def compared(name: str, cases: Sequence[Case], draw: random.Random, folder: Path) -> Counter[bool]:
    """How often each verdict is that of all orders; raises where one is not."""
    file = folder / "history.ndjson"
    rows = [row for key, case in enumerate(cases) for row in rows_with_ends(draw, name, case, key)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if name == "Loose":
        (folder / "loose.bcast").write_text(OWN, encoding="utf-8")
    found = find_object(f"{folder}/loose.bcast::Loose" if name == "Loose" else name)
    operations = operations_of(read_history(str(file))).found
    with_keys(operations)
    seen: Counter[bool] = Counter()
    for part in parts_of(Machines(found), bind(found, operations, Shape(by_key=True)), True):
        case = cases[part.key]
        verdict = decide([part]) is None
        assert verdict is has_order(name, *case), (name, verdict, case)
        seen[verdict] += 1
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1000, help="of each object")
    parser.add_argument(
        "--objects", default=",".join(sorted(ALL_CALLS)), help="separated by commas"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name in args.objects.split(","):
            seen: Counter[bool] = Counter()
            draw = random.Random(f"{name} {args.seed}")
            began = time.process_time()
            while sum(seen.values()) < args.histories and time.monotonic() - start < args.seconds:
                many = min(500, args.histories)
                cases = [draw_case(draw, name) for _ in range(many)]
                seen += compared(name, cases, draw, Path(folder))
            took = time.process_time() - began
            print(f"{name}: {seen[True]} linearizable, {seen[False]} not; {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
