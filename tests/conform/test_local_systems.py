"""A window is red where no local step explains it: against an enumeration of local steps that knows
nothing of unknown values, and against a plain search over all runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.conform.explain_events import Observation
from checker.conform.lines import Logged, Resolver
from checker.conform.local_log import LocalLog
from checker.conform.local_system import NotLocal
from checker.conform.local_windows import LocalWindows, Window
from checker.conform.read_log import read_log
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import NO_MAPPING
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import MarkKind, TransitionSystem, VariableKind
from checker.model.types import BagT, TupleT, universe
from checker.session import pipeline
from checker.simulate.prepared_check import PreparedCheck
from tests.conform.projection import (
    KINDS,
    Row,
    draw_run,
    is_log_of_a_run,
    logs_of,
    rows_of,
    says,
    variables_of,
    write,
)
from tests.conform.test_random_logs import Case, change, forget

EVERY = ("request", "indicate", "send", "receive", "handler")

STATEMENTS = {
    "always": (
        "if x < 3 { x += 1 }",
        "flag := not flag",
        "if flag { x := 0 }",
        "send TWO(x) to all",
        "if x == 2 { send TWO(0) to all }",
        "choose y in (0..1)  x := y",
    ),
    "of ONE": (
        "seen += m",
        "if m in seen { send ONE(m) to p }",
        "if m not in seen { deliver(p, m) }",
    ),
    "of TWO": ("x := k", "if k > x { x := k  send TWO(k) to p }", "if flag { x := k }"),
}

SMALL = """
protocol Small implements BestEffortBroadcast {{
  message ONE(m: Msg)
  message TWO(k: 0..3)
  state x : 0..3 = 0
  state flag = false
  state seen : set<Msg> = {{}}
  upon request broadcast(m) {{ send ONE(m) to all  {0} }}
  upon receive ONE(m) from p {{ {1} }}
  upon receive TWO(k) from p when {2} {{ {3} }}
  upon condition flag and x > 0 as rests {{ {4} x := 0 }}
}}
check c of Small {{
  n = 2
  allow unused
  clients {{ p1 broadcasts a  p2 broadcasts b }}
  prove no_creation
}}
"""


def small_spec(draw: random.Random) -> str:
    """A spec with handlers of a few statements."""

    def some(*tables: str) -> str:
        known = [s for table in ("always", *tables) for s in STATEMENTS[table]]
        return " ".join(draw.sample(known, draw.randrange(3)))

    guard = draw.choice(("true", "k > 0", "not flag", "x < 3"))
    return SMALL.format(some(), some("of ONE"), guard, some("of TWO"), some())


def small(seed: int, folder: Path) -> PreparedCheck:
    draw = random.Random(seed)
    path = folder / "small.bcast"
    path.write_text(small_spec(draw), encoding="utf-8")
    return pipeline.open_check(str(path), None, Options())


class Enumeration:
    """The local steps of a process: those of the whole system from states with one message in
    flight, whichever it is."""

    def __init__(self, system: TransitionSystem, process: str) -> None:
        self.system, self.process = system, process
        self.rank = system.processes.index(process)
        (self.start,) = interpreter.initial_states(system)
        self.network = next(
            n for n, v in enumerate(system.variables) if v.kind is VariableKind.LINK
        )
        type_ = system.variables[self.network].type
        assert isinstance(type_, BagT)
        assert isinstance(type_.item, TupleT)
        message = type_.item.items[2]
        others = range(len(system.processes))
        self.flights: list[Any] = [()]
        self.flights += [((q, self.rank, m),) for q in others for m in universe(message)]
        self._known: dict[State, list[tuple[State, list[Row]]]] = {}

    def alone(self, state: State) -> State:
        """A state with the process's own variables, and all others as at the start."""
        mixed = []
        for number, (now, first) in enumerate(zip(state, self.start, strict=True)):
            if number == self.network:
                mixed.append(())
            else:
                assert isinstance(now, tuple)
                assert isinstance(first, tuple)
                mixed.append((*first[: self.rank], now[self.rank], *first[self.rank + 1 :]))
        return tuple(mixed)

    def steps(self, state: State) -> list[tuple[State, list[Row]]]:
        """The local states after each step, with the lines that it writes."""
        if state not in self._known:
            self._known[state] = list(self._steps(state))
        return self._known[state]

    def _steps(self, state: State) -> Iterator[tuple[State, list[Row]]]:
        for flight in self.flights:
            with_it = (*state[: self.network], flight, *state[self.network + 1 :])
            for transition in interpreter.successors(self.system, with_it):
                after = transition.successor
                rows = rows_of(self.system, transition, EVERY)
                if after is None or any(row["process"] != self.process for row in rows):
                    continue
                own = self.alone(after)
                if own != state or rows:
                    said = variables_of(self.system, after, self.process)
                    yield own, [{**row, "state": said} for row in rows]

    def explains(self, log: list[Row]) -> bool:
        """Whether local steps write a log that begins with this one."""
        todo = [(self.alone(self.start), 0)]
        seen = set(todo)
        while todo:
            state, at = todo.pop()
            if at >= len(log):
                return True
            for after, rows in self.steps(state):
                said = zip(log[at:], rows, strict=False)
                new = (after, at + len(rows))
                if all(says(line, row) for line, row in said) and new not in seen:
                    seen.add(new)
                    todo.append(new)
        return False


def windows(system: TransitionSystem, paths: list[str], process: str) -> list[Window]:
    log = read_log(paths, NO_MAPPING)
    timelines = Resolver(system, NO_MAPPING).timelines(log)
    kinds = frozenset(Logged(kind) for kind, name in KINDS.items() if name in EVERY)
    logged = (kinds | {Logged(MarkKind.CRASH)},) * len(system.processes)
    number = [timeline.process for timeline in timelines].index(process)
    return list(LocalWindows(LocalLog(Observation(system, timelines, logged), number)))


@pytest.mark.parametrize("seed", range(12))
def test_windows_are_what_an_enumeration_of_local_steps_explains(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    system = small(seed, tmp_path).system
    _, run = draw_run(system, draw, 10)
    logs = logs_of(system, run, EVERY)
    process = max(logs, key=lambda name: len(logs[name]))
    plain = Enumeration(system, process)
    for _ in range(6):
        rows = list(logs[process])
        if draw.random() < 0.8:
            at = draw.randrange(len(rows))
            rows[at] = changed_value(rows[at], draw)
        rows = [forget(row, draw) if draw.random() < 0.3 else row for row in rows]
        found = windows(system, write(tmp_path, {process: rows}), process)
        assert all(window.asked for window in found)
        assert any(window.is_red for window in found) != plain.explains(rows), rows


def changed_value(row: Row, draw: random.Random) -> Row:
    """A line that says another number, truth value or set of a variable."""
    if "state" not in row:
        return row
    state = dict(row["state"])
    name = draw.choice(sorted(state))
    value = state[name]
    if isinstance(value, bool):
        state[name] = not value
    elif isinstance(value, int):
        state[name] = (value + 1) % 4
    else:
        state[name] = {"#set": []} if value["#set"] else {"#set": ["a"]}
    return {**row, "state": state}


def has_red(case: Case, logs: dict[str, list[Row]]) -> bool:
    log = read_log(write(case.folder, logs), NO_MAPPING)
    system = case.opened.system
    timelines = Resolver(system, NO_MAPPING).timelines(log)
    kinds = frozenset(Logged(kind) for kind, name in KINDS.items() if name in case.kinds)
    observation = Observation(system, timelines, (kinds,) * len(system.processes))
    for number in range(len(timelines)):
        try:
            if any(window.is_red for window in LocalWindows(LocalLog(observation, number))):
                return True
        except NotLocal:
            continue
    return False


@pytest.mark.parametrize("seed", range(2000, 2006))
def test_a_red_window_means_that_no_run_has_the_log(seed: int, tmp_path: Path) -> None:
    case = Case(seed, tmp_path)
    lines = list(case.lines())
    if not lines:
        return
    assert not has_red(case, case.logs)
    gone = {
        p: [r if case.draw.random() < 0.6 else None for r in rows] for p, rows in case.logs.items()
    }
    some: Any = {p: [*rows, {"process": p, "kind": "gap"}] for p, rows in gone.items()}
    assert not has_red(case, some)
    for _ in range(4):
        logs = {p: list(rows) for p, rows in case.logs.items()}
        process = case.draw.choice([p for p, rows in logs.items() if rows])
        at = case.draw.randrange(len(logs[process]))
        logs[process][at] = change(logs[process][at], case.draw.choice(lines), case.draw)
        try:
            red = has_red(case, logs)
        except SpecError:
            continue
        if red:
            assert not is_log_of_a_run(case.opened.system, logs, case.kinds, 1_000)
