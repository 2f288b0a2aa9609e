"""Random histories of the library's objects, as files."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.world.orders import OBJECTS, Operation, Step

CALLS = {
    "Register": {"read": 0, "write": 1},
    "CompareAndSwap": {"read": 0, "write": 1, "cas": 2},
    "Queue": {"enqueue": 1, "dequeue": 0},
    "Log": {"append": 1, "entries": 0},
    "KeyValueMap": {"get": 1, "put": 2, "remove": 1},
    "Set": {"add": 1, "remove": 1, "contains": 1},
    "Lock": {"acquire": 0, "release": 0},
}
"""The operations of each object, and how many arguments they take."""

Event = tuple[Any, ...]


def draw_history(
    draw: random.Random,
    name: str,
    most: int,
    values: int = 2,
    calls: Mapping[str, Mapping[str, int]] = CALLS,
    objects: Mapping[str, tuple[Any, Step]] = OBJECTS,
) -> tuple[list[Operation], list[Event]]:
    """Operations, and a history of them as in `tests.world.orders`: results are mostly those of a
    run in which each operation takes effect at a random place, and sometimes any.

    An operation may never return; its process then does not call again.
    """
    first, step = objects[name]
    state = first
    operations: list[Operation] = []
    history: list[Event] = []
    outstanding: dict[int, tuple[int, Any]] = {}
    dead: set[int] = set()
    mutated = draw.random() < 0.5
    for _ in range(6 * most):
        process = draw.randrange(5)
        if process in dead:
            continue
        if process not in outstanding:
            if len(operations) == most:
                continue
            op = draw.choice(sorted(calls[name]))
            args = tuple(draw.randrange(values) for _ in range(calls[name][op]))
            operations.append(Operation(process, op, args))
            number = len(operations) - 1
            outstanding[process] = (number, None)
            history.append(("call", number))
        elif outstanding[process][1] is None:
            number = outstanding[process][0]
            if draw.random() < 0.2:
                dead.add(process)
                if draw.random() < 0.5:
                    continue
            outcomes = step(state, operations[number])
            if outcomes:
                state, result = draw.choice(outcomes)
                outstanding[process] = (number, (result,))
            elif mutated and draw.random() < 0.3:
                outstanding[process] = (number, (None,))
        else:
            number, (result,) = outstanding.pop(process)
            if mutated and draw.random() < 0.3:
                result = _other(draw, name, operations[number].op, result)
            history.append(("return", number, result))
    return operations, history


def _other(draw: random.Random, name: str, op: str, result: Any) -> Any:
    if isinstance(result, bool):
        return not result
    if isinstance(result, int):
        return draw.randrange(3)
    if name == "Log" and isinstance(result, tuple):
        return tuple(draw.sample(result, len(result))) or (0,)
    if isinstance(result, tuple) or op in ("read", "dequeue", "get"):
        return draw.choice([None, (0,), (1,)])
    return result


def recorded(name: str, op: str, result: Any) -> Any:
    """The result as a recorder has it: an option without its brackets."""
    is_option = op in ("read", "dequeue", "get")
    return result[0] if is_option and result is not None else result


def edn_of(name: str, operations: list[Operation], history: list[Event]) -> str:
    """The history in EDN; results are in a form of their own, so that none is an echo."""
    lines = []
    for what, number, *result in history:
        one = operations[number]
        value: Any = list(one.args)
        if len(value) < 2:
            value = value[0] if value else None
        if what == "return":
            said = recorded(name, one.op, result[0])
            value = said if said is not None or not one.args else value
        kind = "invoke" if what == "call" else "ok"
        f = f":process {one.process}, :type :{kind}, :f :{one.op}, :value {edn(value)}"
        lines.append(f"{{{f}}}")
    return "\n".join(lines)


def edn(value: Any) -> str:
    """A value in EDN."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(map(edn, value))}]"
    return str(value)


def rows_of(name: str, operations: list[Operation], history: list[Event]) -> list[dict[str, Any]]:
    """The history as the recorder of the tool writes it: arguments and results are apart."""
    rows = []
    for at, (what, number, *result) in enumerate(history, start=1):
        one = operations[number]
        row: dict[str, Any] = {"process": f"c{one.process}", "pos": at}
        if what == "call":
            row |= {"kind": "request", "name": one.op, "arguments": list(one.args)}
        else:
            said = recorded(name, one.op, result[0])
            has_result = said is not None or one.op in ("read", "dequeue", "get")
            row |= {"kind": "indicate", "name": f"{one.op}_return"}
            row["arguments"] = [said] if has_result else []
        rows.append(row)
    return rows
