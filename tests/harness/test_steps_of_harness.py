"""What a try holds, releases, repeats and waits for: p1 and p2 are sockets of the test."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from checker.harness.runtime import processes
from checker.harness.runtime.acts import Act, Await, Crash, Cut, Line, Lose, Message, Receive, Sends
from checker.harness.runtime.drive import Outcome, Try
from checker.harness.runtime.hook_process import Hooks
from checker.harness.runtime.links import Frame, Stream
from checker.harness.runtime.plan import plan

A, B = Message("M", {"text": "a"}), Message("M", {"text": "b"})


class Texts:
    """Hooks of two nodes whose messages are lines of text."""

    level, ports, held = 2, 1, True
    has = frozenset[str]()
    file = Path("hooks.py")

    def __init__(self, own_copies: bool) -> None:
        self.settings = {"OWN_COPIES": own_copies, "LOGGED": list[str]()}

    def nodes(self) -> list[str]:
        return ["p1", "p2"]

    def log(self, node: str) -> str:
        return f"{node}.ndjson"

    def frames(self, data: bytes) -> list[tuple[int, str, dict[str, Any]]]:
        whole = data.rpartition(b"\n")[0].splitlines()
        return [(len(line) + 1, "M", {"text": line.decode()}) for line in whole]


async def play(one: Try, sent: str) -> str:
    """Takes the steps of a try in which p1 has sent ``sent`` to p2; then all is released that a
    fair network delivers.  Returns what p2 got."""
    got = list[bytes]()
    over = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.read())
        writer.close()
        over.set()

    await one.links.start()
    server = await asyncio.start_server(take, "127.0.0.1", one.listening["p2"])
    _, writer = await asyncio.open_connection("127.0.0.1", one.links.ports["p1"]["p2"])
    writer.write(sent.encode())
    while sum(len(stream.frames) for stream in one.links.streams()) < sent.count("\n"):
        await asyncio.sleep(0.001)
    await one.steps()
    for frame in one.links.rest():
        await one.links.release(frame)
    one.links.stop()
    if any(frame.released for stream in one.links.streams() for frame in stream.frames):
        await over.wait()
    writer.close()
    server.close()
    return b"".join(got).decode()


def played(
    acts: Sequence[Act], folder: Path, sent: str = "a\nb\n", own_copies: bool = True
) -> tuple[str, Outcome]:
    """Returns what p2 got, and how far the try came."""
    hooks = cast("Hooks", Texts(own_copies))
    one = Try(acts, ["p1", "p2"], [], hooks, folder, 0.05, True)
    got = asyncio.run(asyncio.wait_for(play(one, sent), 60))
    return got, one.outcome


def test_messages_go_in_the_order_of_the_trace(tmp_path: Path) -> None:
    acts = [Receive(1, "p2", message=B, sender="p1"), Receive(2, "p2", message=A, sender="p1")]
    assert played(acts, tmp_path)[0] == "b\na\n"


def test_what_is_lost_is_not_released(tmp_path: Path) -> None:
    got, outcome = played([Lose(1, "", message=A, sender="p1", receiver="p2")], tmp_path)
    assert (got, outcome.steps) == ("b\n", 1)


def test_a_link_that_is_cut_delivers_nothing(tmp_path: Path) -> None:
    assert played([Cut(1, "", apart=["p2"], others=["p1"])], tmp_path)[0] == ""
    one_way = Cut(1, "", apart=["p2"], others=["p1"], one_way=True)
    assert played([one_way], tmp_path)[0] == "a\nb\n"


def test_a_duplicate_is_sent_again(tmp_path: Path) -> None:
    first = Receive(1, "p2", message=A, sender="p1")
    again = Receive(2, "p2", message=A, sender="p1", again=True)
    assert played([first, again], tmp_path)[0] == "a\na\nb\n"


def test_a_message_is_received_once_unless_it_is_a_duplicate(tmp_path: Path) -> None:
    twice = [Receive(number, "p2", message=A, sender="p1") for number in (1, 2)]
    got, outcome = played(twice, tmp_path)
    assert (got, outcome.steps) == ("a\nb\n", 1)
    assert "p1 has not sent M(a) to p2" in outcome.another_way


def test_own_copies_are_waited_for_where_they_are_on_the_wire(tmp_path: Path) -> None:
    acts = [
        Await(1, "p1", sends=[Sends(A, ["p1", "p2"])]),
        Receive(2, "p1", message=A, sender="p1", taken=False),
    ]
    assert played(acts, tmp_path, own_copies=False)[1].steps == 2
    _, outcome = played(acts, tmp_path, own_copies=True)
    assert outcome.steps == 0
    assert "p1 has not sent M(a) to p1" in outcome.another_way


def test_nobody_is_killed_before_its_copies_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = list[str]()

    async def kill(self: Try, process: str) -> None:
        assert self.links.frames("p1", "p2", B)
        killed.append(process)

    monkeypatch.setattr(Try, "kill", kill)
    acts = [Await(1, "p1", sends=[Sends(A, ["p2"]), Sends(B, ["p2"])]), Crash(1, "p1")]
    assert played(acts, tmp_path)[1].another_way == ""
    assert killed == ["p1"]
    _, outcome = played(acts, tmp_path, sent="a\n")
    assert "p1 has not sent M(b) to p2" in outcome.another_way
    assert killed == ["p1"], "the second copy never came"


def test_a_connection_that_comes_at_the_very_end_says_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks, ended = cast("Hooks", Texts(True)), list[str]()
    one = Try([], ["p1", "p2"], [], hooks, tmp_path, 0.05, True)

    def begun(
        loop: asyncio.AbstractEventLoop, body: Coroutine[Any, Any, Any], **more: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(body, loop=loop, **more)
        name = getattr(body, "__qualname__", "")
        if name.startswith(("Connection.", "Links.")) and ended == ["now"]:
            ended.append(name)
            task.cancel()  # before it begins
        return task

    async def scene() -> None:
        await one.links.start()
        asyncio.get_running_loop().set_task_factory(begun)
        ended.append("now")
        _, writer = await asyncio.open_connection("127.0.0.1", one.links.ports["p1"]["p2"])
        while len(ended) < 2:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.001)
        writer.close()
        one.links.stop()

    asyncio.run(asyncio.wait_for(scene(), 60))
    assert caplog.text == ""


def test_steps_of_the_system_are_never_said_to_be_forced() -> None:
    logs = Await(1, "p1", lines=[Line("indicate", "deliver")])
    acts = [logs, Await(2, "p1", sends=[Sends(A, ["p2"])]), Await(3, "p1")]
    found = [line[3:15].strip() for line in plan(acts, 2, True, True)]
    assert found == ["awaited", "awaited", "beyond reach"]


DEAF = """\
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["setsid", "sleep", "90"])
print(child.pid, flush=True)
time.sleep(90)
"""


def test_a_node_that_ignores_the_end_is_killed_with_what_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.05)
    said = tmp_path / "out"
    program = processes.Program("p1", [sys.executable, "-c", DEAF], tmp_path, said)
    while not said.read_text().endswith("\n"):
        assert not program.ended()
        time.sleep(0.005)
    program.stop()
    assert program.ended().startswith("SIGKILL")
    child = Path(f"/proc/{int(said.read_text())}/stat")
    until = time.monotonic() + 30
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until, "what the node has started still runs"
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("fields", "text"), [({}, "ACK"), ({"number": 1}, "ACK(1)"), ({"list": [1]}, "ACK(…)")]
)
def test_a_message_on_its_way_is_printed_like_one_of_the_trace(
    fields: dict[str, Any], text: str
) -> None:
    assert Frame(cast(Stream, None), b"", "ACK", fields).text == text
    assert str(Message("ACK", {name: str(value) for name, value in fields.items()})) == (
        text if text != "ACK(…)" else "ACK([1])"
    )
