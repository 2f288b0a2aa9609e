"""Random implementations of a register: what is said of their operations is what trying all orders
of each history of each execution gives, by every engine and with every reduction."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.language.syntax import typed
from checker.model.interpreter import Event, State, initial_events, successors
from checker.model.ir import MarkKind, TransitionSystem
from checker.properties.formula import ask
from checker.session.pipeline import Options, run_check
from tests.world.orders import (
    Operation,
    is_linearizable,
    is_regular,
    is_sequentially_consistent,
)

MOST = 2_500
"""Executions with more histories than this are left to other seeds."""

PROTOCOL = """
protocol Random implements Register {
  message STORE(v: Msg)
  message STORED
  message ASK
  message TOLD(v: option<Msg>)
  STABLEstate value : option<Msg> = none
  state busy : enum { no, reads, writes } = no

  upon request write(v) { WRITE }
  upon request read() { READ }
  upon receive STORE(v) from p { KEEP  ANSWER }
  upon receive STORED when busy == writes { busy := no  write_return() }
  upon receive ASK from p { send TOLD(value) to p }
  upon receive TOLD(v) when busy == reads { busy := no  LEARN  read_return(v) }
}
check c of Random {
  n = 2
  FAULTS
  links LINKS
  clients { CLIENTS }
  prove linearizable as Register, sequentially_consistent as Register MORE
  allow unused
}
"""
WRITES = (
    "value := some(v)  send STORE(v) to all  write_return()",
    "value := some(v)  busy := writes  send STORE(v) to all",
    "busy := writes  send STORE(v) to all",
    "write_return()  send STORE(v) to all",
    "busy := writes  choose p in Proc when p != self  send STORE(v) to p",
    "value := some(v)  write_return()",
)
READS = (
    "read_return(value)",
    "busy := reads  send ASK to all",
    "busy := reads  choose p in Proc when p != self  send ASK to p",
)
FAULTS = ("", "", "faults crash <= 1", "faults crash <= 1, recover")
LINKS = ("perfect", "perfect", "fifo", "lossy", "duplicating")


def spec_of(draw: random.Random) -> str:
    faults = draw.choice(FAULTS)
    writers = draw.choice((["p1"], ["p1", "p2"]))
    clients = []
    for number in range(draw.choice((3, 3, 4))):
        process = draw.choice(("p1", "p2"))
        writes = process in writers and draw.random() < 0.5
        clients.append(f"{process} writes {'ab'[number % 2]}" if writes else f"{process} reads")
    if not any("writes" in one for one in clients):
        clients[0] = "p1 writes a"
    if not any("reads" in one for one in clients):
        clients.append("p2 reads")
    of_one = len({one.split()[0] for one in clients if "writes" in one}) == 1
    parts = {
        "STABLE": draw.choice(("", "stable ")) if "recover" in faults else "",
        "WRITE": draw.choice(WRITES),
        "READ": draw.choice(READS),
        "KEEP": draw.choice(("value := some(v)", "if value == none { value := some(v) }")),
        "ANSWER": draw.choice(("send STORED to p", "if p != self { send STORED to p }")),
        "LEARN": draw.choice(("skip", "value := v")),
        "FAULTS": faults,
        "LINKS": draw.choice(LINKS),
        "CLIENTS": "  ".join(clients),
        "MORE": ", regular as Register, safe as Register" if of_one else "",
    }
    text = PROTOCOL
    if not parts["STABLE"] and draw.random() < 0.25:
        text = text.replace("STABLEstate value", "shared state value")
    for name, said in parts.items():
        text = text.replace(name, said, 1)
    return text


class TooSmall(Exception):
    """A capacity that was guessed."""


def all_histories(check: typed.Check) -> set[tuple[tuple[object, ...], ...]] | None:
    capacities: dict[str, int] = {}
    while True:
        made = instantiate(check, {}, lambda world, _: ask(world, ()), capacities=capacities)
        try:
            return every_history(made.system)
        except TooSmall as small:
            (name,) = small.args
            capacities = {**made.capacities, name: 2 * made.capacities[name]}


def every_history(system: TransitionSystem) -> set[tuple[tuple[object, ...], ...]] | None:
    """All histories of calls and returns of all executions; ``None`` where they are too many."""
    todo: list[tuple[State, tuple[tuple[object, ...], ...]]] = []
    for state, events in initial_events(system):
        todo.append((state, history_of(system, events)))
    seen = set(todo)
    while todo:
        state, history = todo.pop()
        for transition in successors(system, state):
            if transition.fault is not None:
                assert transition.fault.grows is not None, transition.fault
                raise TooSmall(transition.fault.grows)
            assert transition.successor is not None
            now = (transition.successor, history + history_of(system, transition.events))
            if now not in seen:
                seen.add(now)
                todo.append(now)
                if len(seen) > MOST:
                    return None
    return {history for _, history in seen}


def history_of(
    system: TransitionSystem, events: tuple[Event, ...]
) -> tuple[tuple[object, ...], ...]:
    found: list[tuple[object, ...]] = []
    for event in events:
        info = system.marks[event.mark]
        if info.kind is MarkKind.REQUEST:
            found.append(("call", event.args[0], info.text, event.args[1:]))
        elif info.kind is MarkKind.INDICATION:
            result = event.args[1] if len(event.args) > 1 else None
            found.append(("return", event.args[0], info.text, result))
    return tuple(found)


def judged(histories: set[tuple[tuple[object, ...], ...]]) -> dict[str, str]:
    found = dict.fromkeys(("linearizable", "sequentially_consistent", "regular", "safe"), "holds")
    for raw in histories:
        operations: list[Operation] = []
        latest: dict[object, int] = {}
        history: list[tuple[object, ...]] = []
        for what, process, op, more in raw:
            if what == "call":
                latest[process] = len(operations)
                operations.append(Operation(process, op, more))  # type: ignore[arg-type]
                history.append(("call", latest[process]))
            else:
                history.append(("return", latest[process], more))
        if not is_linearizable("Register", operations, history):
            found["linearizable"] = "violated"
        if not is_sequentially_consistent("Register", operations, history):
            found["sequentially_consistent"] = "violated"
        for kind in ("regular", "safe"):
            if not is_regular(operations, history, kind == "safe"):
                found[kind] = "violated"
    return found


SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 80))]
"""The default run has a few; all of them are in the full run."""
WAYS = (
    Options(engine="reference", reduce="none"),
    Options(engine="reference"),
    Options(engine="native", reduce="none"),
    Options(engine="native"),
    Options(engine="native", fine_steps=True),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_histories(seed: int, tmp_path: Path) -> None:
    text = spec_of(random.Random(seed))
    (check,) = load_text(text, "spec.bcast").checks
    histories = all_histories(check)
    if histories is None:
        pytest.skip("too many histories")
    expected = judged(histories)
    path = tmp_path / "spec.bcast"
    path.write_text(text)
    for options in WAYS:
        report = run_check(str(path), None, options)
        found = {v.property.split()[0]: v.word for v in report.verdicts}
        if set(found.values()) == {"vacuous"}:
            assert not any(event[0] == "return" for history in histories for event in history)
            continue
        assert found == {kind: expected[kind] for kind in found}, (options, text)


SHARED = """
protocol Shared implements Register {
  shared state value : option<Msg> = none
  upon request write(v) { value := some(v)  write_return() }
  upon request read() { read_return(value) }
}
check c of Shared {
  n = 2
  clients { p1 writes a  p2 reads  p2 reads }
  prove linearizable as Register, sequentially_consistent as Register, regular as Register
}
"""


def test_an_operation_is_called_when_its_handler_begins(tmp_path: Path) -> None:
    """A read has seen the value before the other process writes, also where effects are steps."""
    path = tmp_path / "spec.bcast"
    path.write_text(SHARED)
    for options in WAYS:
        report = run_check(str(path), None, options)
        assert {v.word.value for v in report.verdicts} == {"holds"}, options
