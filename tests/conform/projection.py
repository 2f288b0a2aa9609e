"""Logs of runs, as an implementation would have written them; and a plain search for a run of a
log, which shares no code with the tool's."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import MarkKind, TransitionSystem
from checker.model.types import MapT, universe
from checker.results.show_values import encode, show

KINDS = {
    MarkKind.REQUEST: "request",
    MarkKind.INDICATION: "indicate",
    MarkKind.SEND: "send",
    MarkKind.RECEIVE: "receive",
    MarkKind.FORGE: "receive",
    MarkKind.HANDLER: "handler",
    MarkKind.TIMEOUT: "timeout",
    MarkKind.CRASH: "crash",
    MarkKind.POWER: "crash",
    MarkKind.WIPE: "crash",
    MarkKind.RECOVER: "recover",
}

Row = dict[str, Any]


def rows_of(system: TransitionSystem, transition: Transition, kinds: Iterable[str]) -> list[Row]:
    """The lines that the process of a step writes, complete; the last one has its variables."""
    wanted, found = set(kinds), []
    for event in transition.events:
        info = system.marks[event.mark]
        kind = KINDS.get(info.kind)
        if kind not in wanted or (kind == "handler" and "upon " in info.text):
            continue
        args = [encode(type_, arg) for type_, arg in zip(info.types, event.args, strict=True)]
        if info.kind is MarkKind.FORGE:  # the liar, the receiver, the message, whose name it uses
            args = [args[1], args[-1] if len(args) == 4 else args[0], args[2]]
        row: Row = {"process": args[0], "kind": kind}
        if kind in ("send", "receive"):
            message: Any = args[2]
            row |= {"message": message["tag"], "fields": message["value"]}
            other: Any = args[1]
            row |= {"to": other["#set"]} if kind == "send" else {"from": other}
        elif kind not in ("crash", "recover"):
            row |= {"name": info.text, "arguments": args[1:]}
        found.append(row)
    if found and transition.successor is not None:
        found[-1]["state"] = variables_of(system, transition.successor, found[-1]["process"])
    return found


def variables_of(system: TransitionSystem, state: State, process: str) -> Row:
    """The local variables of a process."""
    found = {}
    for variable, value in zip(system.variables, state, strict=True):
        type_ = variable.type
        if variable.kind.value != "local" or variable.name.startswith("@"):
            continue
        assert isinstance(type_, MapT)
        assert isinstance(value, tuple)
        for key, held in zip(universe(type_.key), value, strict=True):
            if show(type_.key, key) == process:
                found[variable.title or variable.name] = encode(type_.value, held)
    return found


def draw_run(
    system: TransitionSystem, draw: random.Random, steps: int
) -> tuple[State, list[Transition]]:
    """A random run of the interpreter."""
    start = state = draw.choice(interpreter.initial_states(system))
    run: list[Transition] = []
    while len(run) < steps:
        ways = [t for t in interpreter.successors(system, state) if t.successor is not None]
        if not ways:
            break
        run.append(draw.choice(ways))
        assert run[-1].successor is not None
        state = run[-1].successor
    return start, run


def logs_of(
    system: TransitionSystem, run: Sequence[Transition], kinds: Iterable[str]
) -> dict[str, list[Row]]:
    """The log of each process of a run."""
    logs: dict[str, list[Row]] = {name: [] for name in system.processes}
    for transition in run:
        for row in rows_of(system, transition, kinds):
            logs[row["process"]].append(row)
    return logs


def write(folder: Path, logs: dict[str, list[Row]]) -> list[str]:
    """Writes the logs, a file for each process; rows that are ``None`` are missing lines."""
    paths = []
    for process, rows in logs.items():
        lines = [
            json.dumps({"pos": number, **row})
            for number, row in enumerate(rows, 1)
            if row is not None
        ]
        path = folder / f"{process}.ndjson"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        paths.append(str(path))
    return paths


def says(logged: Any, whole: Any) -> bool:
    """Whether what is logged is true of the whole row: it may leave out what objects have."""
    if logged == "_":
        return True
    if isinstance(logged, dict) and isinstance(whole, dict):
        return all(name in whole and says(value, whole[name]) for name, value in logged.items())
    return bool(logged == whole)


def is_log_of_a_run(
    system: TransitionSystem, logs: dict[str, list[Row]], kinds: Iterable[str], limit: int
) -> bool | None:
    """Whether some run writes logs that begin with these, by trying all; ``None``: more than
    ``limit`` are to be tried."""
    kinds = list(kinds)
    processes = list(logs)
    goal = tuple(len(logs[p]) for p in processes)
    begin = [(state, (0,) * len(goal)) for state in interpreter.initial_states(system)]
    seen, waiting = set(begin), deque(begin)
    known: dict[State, list[tuple[State, list[Row]]]] = {}
    while waiting:
        state, written = waiting.popleft()
        if written == goal:
            return True
        if state not in known:
            known[state] = list(_steps(system, state, kinds))
        for successor, rows in known[state]:
            after = _written(logs, processes, written, rows)
            if after is not None and (successor, after) not in seen:
                seen.add((successor, after))
                waiting.append((successor, after))
        if len(seen) > limit:
            return None
    return False


def _steps(
    system: TransitionSystem, state: State, kinds: list[str]
) -> Iterator[tuple[State, list[Row]]]:
    for transition in interpreter.successors(system, state):
        if transition.successor is not None:
            rows = rows_of(system, transition, kinds)
            process = {row["process"] for row in rows}
            states = {p: variables_of(system, transition.successor, p) for p in process}
            yield transition.successor, [{**r, "state": states[r["process"]]} for r in rows]


def _written(
    logs: dict[str, list[Row]], processes: list[str], written: tuple[int, ...], rows: list[Row]
) -> tuple[int, ...] | None:
    now = list(written)
    for row in rows:
        number = processes.index(row["process"])
        log = logs[row["process"]]
        if now[number] == len(log):
            continue  # behind the end of the log anything may happen
        if not says(log[now[number]], row):
            return None
        now[number] += 1
    return tuple(now)
