"""The score by windows names the handler in which a node of our own is wrong.

`examples/broadcast` with one fault at a time, in memory; and the other way round, specs with one
fault and right logs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.record import Recorder
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from examples.broadcast.node import Node

ROOT = Path(__file__).resolve().parents[2]
EAGER = ROOT / "specs" / "broadcast" / "eager_reliable.bcast"
NAMES = ("p1", "p2", "p3")


class Wire:
    """Takes a node's frames to another node, in memory."""

    def __init__(self, to: Node) -> None:
        self.to, self.pauses = to, 1

    def write(self, frame: bytes) -> None:
        message = json.loads(frame)
        arrival = self.to.handle(message["from"], message["origin"], message["m"])
        self.to.own.add(asyncio.create_task(arrival))

    async def drain(self) -> None:
        for _ in range(self.pauses):
            await asyncio.sleep(0)


class Forgetful(set[Any]):
    """What has been seen, by a node that does not look."""

    def __contains__(self, _: object) -> bool:
        return False


class NoLock:
    """What a node holds that holds no lock."""

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass


def no_fault(node: Node) -> None:
    pass


def no_relay(node: Node) -> None:
    node.relay = False


def relays_in_its_own_name(node: Node) -> None:
    send = node.send_to_all

    async def wrong(_origin: str, m: str, die_after: int | None) -> None:
        await send(node.name, m, die_after)

    node.send_to_all = wrong  # type: ignore[method-assign]


def does_not_ask_what_it_has_seen(node: Node) -> None:
    node.seen = Forgetful()


def no_lock(node: Node) -> None:
    node.one_at_a_time = NoLock()  # type: ignore[assignment]
    for wire in node.to.values():  # there is time for another message
        wire.pauses = 20  # type: ignore[attr-defined]


async def _play(folder: Path, fault: Callable[[Node], None], most: int) -> None:
    with contextlib.ExitStack() as stack:
        nodes = {
            name: Node(
                name,
                dict.fromkeys(NAMES, 0),
                stack.enter_context(Recorder(str(folder / f"{name}.ndjson"), name)),
                True,
            )
            for name in NAMES
        }
        for node in nodes.values():
            node.to = {name: Wire(other) for name, other in nodes.items()}  # type: ignore[misc]
        fault(nodes["p2"])
        await nodes["p1"].broadcast("a", None)
        for _ in range(most):
            await asyncio.sleep(0)
        for node in nodes.values():
            for task in node.own:
                task.cancel()


def logs(folder: Path, fault: Callable[[Node], None], most: int = 200) -> list[str]:
    """The logs of a run in which p2 has a fault."""
    asyncio.run(_play(folder, fault, most))
    return [str(folder / f"{name}.ndjson") for name in NAMES]


def judged(spec: Path, files: list[str]) -> Conformance:
    return conform(Asked(str(spec), "crash_one", Options(), windows=True, proposals=True), files)


def reds(report: Conformance) -> Iterator[str]:
    assert report.windows is not None
    yield from (each.name for each in report.windows.handlers if each.red)


def test_right_logs_have_no_red_window(tmp_path: Path) -> None:
    report = judged(EAGER, logs(tmp_path, no_fault))
    assert report.windows is not None
    assert not list(reds(report))
    assert not report.windows.aside
    assert all(each.explained == each.windows > each.weak for each in report.windows.handlers)
    assert report.word is Word.HOLDS
    assert report.exit_code == 0


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (no_relay, "the log should have `p2 sends"),
        (relays_in_its_own_name, "the log should have `p2 sends"),
        (no_lock, "the log should have `p2 sends"),
    ],
)
def test_the_handler_with_the_fault_is_named(
    fault: Callable[[Node], None], said: str, tmp_path: Path
) -> None:
    report = judged(EAGER, logs(tmp_path, fault))
    assert list(reds(report)) == ["receive DATA"]
    assert report.windows is not None
    (first,) = (each.first for each in report.windows.handlers if each.first)
    assert first.line.process == "p2"
    assert said in " ".join(first.reasons)
    assert not report.proposals  # no way of writing lines explains the fault away
    assert report.word is Word.VIOLATED
    assert report.exit_code == 1


def test_a_node_that_does_not_ask_what_it_has_seen_is_named(tmp_path: Path) -> None:
    report = judged(EAGER, logs(tmp_path, does_not_ask_what_it_has_seen, 30))
    assert list(reds(report)) == ["receive DATA"]
    assert report.windows is not None
    (score,) = (each for each in report.windows.handlers if each.red)
    assert score.first is not None
    assert score.first.line.process == "p2"
    assert not report.proposals
    assert score.explained  # the first delivery is right


MUTANTS = {
    "seen is not asked": ("when (s, m) not in seen", ""),
    "seen is not kept": ("    seen += (s, m)", "    skip"),
    "no relay": ("    beb.broadcast(DATA(s, m))", "    skip"),
    "delivers as its own": ("    deliver(s, m)", "    deliver(self, m)"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_spec_with_a_fault_has_red_windows_with_right_logs(name: str, tmp_path: Path) -> None:
    text = EAGER.read_text(encoding="utf-8")
    before, after = MUTANTS[name]
    assert text.count(before) == 1, text
    spec = tmp_path / "mutant.bcast"
    spec.write_text(text.replace(before, after), encoding="utf-8")
    report = judged(spec, logs(tmp_path, no_fault))
    assert list(reds(report)) == ["receive DATA"], report.windows
    assert report.word is Word.VIOLATED
