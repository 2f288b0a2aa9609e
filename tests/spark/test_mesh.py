"""Connections between tasks: who belongs to the run gets in whatever a stranger does, and a
stranger gets nothing."""

from __future__ import annotations

import contextlib
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from checker.engines.spark import handshake, mesh
from checker.engines.spark.handshake import NONCE, NUMBER, PROOF, Handshake, UnknownPeer
from checker.engines.spark.mesh import Address, ConnectionLost, Mesh, Unmeshed
from tests.spark.gang import gather

HOST = "127.0.0.1"
TOKEN = secrets.token_bytes(32)

Visit = Callable[[Address], None]
"""What somebody does who knows an address."""


def joined(size: int, visit: Visit | None = None, tokens: list[bytes] | None = None) -> list[Mesh]:
    """So many tasks with connections to one another.

    ``visit`` is done before any of them calls another.
    """
    known, gone = gather(size), threading.Event()

    def meet_of(index: int) -> Callable[[Address], list[Address]]:
        def meet(mine: Address) -> list[Address]:
            addresses = known(index)(mine)
            if visit is not None and index == 0:
                for address in addresses:
                    visit(address)
                gone.set()
            elif visit is not None:
                gone.wait(30)
            return addresses

        return meet

    with ThreadPoolExecutor(size) as pool:
        tasks = [
            pool.submit(Mesh, i, size, tokens[i] if tokens else TOKEN, HOST, meet_of(i))
            for i in range(size)
        ]
        return [task.result(60) for task in tasks]


def close(tasks: list[Mesh]) -> None:
    for task in tasks:
        task.close()


def heard(task: Mesh, count: int) -> list[tuple[int, bytes]]:
    """The next messages."""
    messages: list[tuple[int, bytes]] = []
    until = time.monotonic() + 60
    while len(messages) < count and time.monotonic() < until:
        message = task.receive(1.0)
        if message is not None:
            messages.append(message)
    return messages


def all_talk(tasks: list[Mesh]) -> None:
    """Each says something to each."""
    pairs = [(a, b) for a in tasks for b in tasks if a is not b]
    for a, b in pairs:
        a.send(b.index, b"%d to %d" % (a.index, b.index))
    for b in tasks:
        others = [a.index for a in tasks if a is not b]
        assert sorted(heard(b, len(others))) == [(a, b"%d to %d" % (a, b.index)) for a in others]


# ---- among themselves -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_each_can_talk_to_each(size: int) -> None:
    tasks = joined(size)
    all_talk(tasks)
    close(tasks)


def test_messages_of_any_size_come_whole_and_in_order() -> None:
    tasks = joined(3)
    sizes = [1, 70_000, 2, 20_000_000, 3, 1 << 16, (1 << 16) + 1, 4]
    with ThreadPoolExecutor(3) as pool:
        for task in tasks:
            for other in tasks:
                if other is not task:
                    for n, size in enumerate(sizes):
                        message = bytes([16 * task.index + n]) * size
                        pool.submit(task.send, other.index, message).result()
    for task in tasks:
        found = heard(task, 2 * len(sizes))
        for other in tasks:
            if other is not task:
                mine = [(m[:1], len(m)) for who, m in found if who == other.index]
                assert mine == [(bytes([16 * other.index + n]), s) for n, s in enumerate(sizes)]
    assert all(task.sent == task.received == 2 * sum(sizes) for task in tasks)
    until = time.monotonic() + 60
    while any(task.backlog for task in tasks) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(task.backlog for task in tasks)
    close(tasks)


def test_who_is_done_leaves_and_the_others_talk_on() -> None:
    first, second, third = joined(3)
    first.send(1, b"x" * 5_000_000)
    first.close()
    assert heard(second, 1) == [(0, b"x" * 5_000_000)]
    for _ in range(3):
        second.send(2, b"still here")
        third.send(1, b"so am I")
        assert heard(third, 1) == [(1, b"still here")]
        assert heard(second, 1) == [(2, b"so am I")]
        assert third.receive(0.3) is None
    second.close()
    assert third.receive(0.3) is None
    third.close()


def test_one_that_is_lost_is_noticed_by_all_others() -> None:
    first, second, third = joined(3)
    second.send(0, b"my last word")
    assert heard(first, 1) == [(1, b"my last word")]
    second.hang_up()
    for task in (first, third):
        with pytest.raises(ConnectionLost, match="task 1 is gone"):
            heard(task, 1)
        with pytest.raises(ConnectionLost, match="task 1 is gone"):
            task.send(0 if task is third else 2, b"?")
    first.hang_up()
    third.hang_up()


def test_one_that_fails_takes_the_others_along() -> None:
    first, second = joined(2)
    with pytest.raises(ZeroDivisionError), first:
        raise ZeroDivisionError
    with pytest.raises(ConnectionLost, match="task 0 is gone"), second:
        heard(second, 1)


def test_one_that_fails_at_once_takes_the_others_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has hung up before the other one's threads are all there."""
    meet, start, known = gather(2), threading.Thread.start, list[Mesh]()

    def slow(thread: threading.Thread) -> None:
        start(thread)
        if "_receive" in thread.name and threading.current_thread().name.endswith("second"):
            thread.join(1.0)

    def second() -> None:
        known.append(Mesh(1, 2, TOKEN, HOST, meet(1)))

    monkeypatch.setattr(threading.Thread, "start", slow)
    late = threading.Thread(target=second, name="second")
    late.start()
    Mesh(0, 2, TOKEN, HOST, meet(0)).hang_up()
    late.join(60)
    with pytest.raises(ConnectionLost, match="task 0 is gone"), known[0]:
        heard(known[0], 1)


def test_threads_end_with_the_connections() -> None:
    before = threading.active_count()
    for end in (Mesh.close, Mesh.hang_up):
        for task in joined(3):
            end(task)
    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert threading.active_count() <= before


# ---- a stranger -------------------------------------------------------------------------------


@pytest.fixture
def lines() -> Iterator[list[socket.socket]]:
    """The connections of a stranger."""
    opened: list[socket.socket] = []
    yield opened
    for line in opened:
        line.close()


def says(words: bytes, lines: list[socket.socket]) -> Visit:
    def visit(address: Address) -> None:
        line = socket.create_connection(address, 5)
        lines.append(line)
        line.sendall(words)

    return visit


def got(line: socket.socket) -> bytes:
    """All that a stranger is ever told."""
    line.settimeout(60)
    answer = b""
    with contextlib.suppress(ConnectionError):
        while more := line.recv(1 << 16):
            answer += more
    return answer


WORDS = {
    "nothing": b"",
    "one byte": b"\0",
    "a web browser": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "noise": bytes(range(256)) * 40,
    "a huge length": struct.pack("!i", -1) + struct.pack("!Q", 1 << 62) + b"x" * 100,
    "a wrong proof": bytes(NONCE) + (1).to_bytes(NUMBER, "big") + bytes(PROOF),
    "half of one": bytes(NONCE + 3),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_whatever_a_stranger_says_it_is_not_let_in(
    words: bytes, lines: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "SECONDS", 2.0)
    tasks = joined(3, says(words, lines))
    all_talk(tasks)
    assert all(task.receive(0.05) is None for task in tasks)
    for line in lines:
        assert len(got(line)) in (0, NONCE), "a challenge, and cut off"
    all_talk(tasks)
    close(tasks)


def test_many_that_say_nothing_hold_nobody_up(
    lines: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "SECONDS", 2.0)

    def visit(address: Address) -> None:
        for _ in range(2 * mesh.GUESTS if address == first else 1):
            line = socket.socket()
            lines.append(line)
            line.setblocking(False)
            line.connect_ex(address)

    first: Address = ("", 0)

    def crowd(address: Address) -> None:
        nonlocal first
        first = address if first == ("", 0) else first
        visit(address)

    tasks = joined(2, crowd)
    all_talk(tasks)
    close(tasks)


def test_a_word_now_and_then_does_not_lengthen_the_greeting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handshake, "SECONDS", 0.5)
    mine, theirs = socket.socketpair()
    over = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            while not over.wait(0.02):
                theirs.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(UnknownPeer):  # after 68 bytes or half a second, whichever is first
        Handshake.among(TOKEN, 0, "room").answer(mine)
    over.set()
    thread.join()
    mine.close()
    theirs.close()


def answer(called: Handshake, line: socket.socket) -> int:
    """As a task answers that hangs up where it does not know the caller."""
    try:
        return called.answer(line)[0]
    except UnknownPeer:
        line.shutdown(socket.SHUT_RDWR)
        raise


def conversation(caller: Handshake, called: Handshake, calls: int) -> tuple[bytes, bytes]:
    """What both say when ``caller`` calls the one it takes for task ``calls``."""
    one, other = socket.socketpair()
    heard_by_called = bytearray()
    middle, end = socket.socketpair()

    def carry(source: socket.socket, target: socket.socket, copy: bytearray | None) -> None:
        with contextlib.suppress(OSError):
            while more := source.recv(4096):
                if copy is not None:
                    copy.extend(more)
                target.sendall(more)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    heard_by_caller = bytearray()
    with one, other, middle, end, ThreadPoolExecutor(4) as pool:
        pool.submit(carry, other, middle, heard_by_called)
        pool.submit(carry, middle, other, heard_by_caller)
        answered = pool.submit(answer, called, end)
        try:
            caller.call(one, calls)
            assert answered.result(30) == caller.index
        finally:
            for line in (one, end):
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
    return bytes(heard_by_called), bytes(heard_by_caller)


def test_what_was_overheard_proves_nothing() -> None:
    """The whole of a greeting, said again to the same task."""
    caller, called = (Handshake.among(TOKEN, i, "room") for i in (1, 0))
    said, _ = conversation(caller, called, 0)
    assert len(said) == NONCE + NUMBER + PROOF
    mine, theirs = socket.socketpair()
    with mine, theirs:
        theirs.sendall(said)
        with pytest.raises(UnknownPeer, match="does not know this run's token"):
            called.answer(mine)


OTHERS = {
    "another token": Handshake.among(secrets.token_bytes(32), 0, "room"),
    "an earlier attempt": Handshake.among(TOKEN, 0, "the room before"),
    "another task": Handshake.among(TOKEN, 2, "room"),
}


@pytest.mark.parametrize("called", OTHERS.values(), ids=OTHERS)
def test_only_whom_one_calls_takes_the_call(called: Handshake) -> None:
    """So nobody in between can have a task's proof for one task and show it to another."""
    caller = Handshake.among(TOKEN, 1, "room")
    with pytest.raises(UnknownPeer, match="rejects this run's token"):
        conversation(caller, called, 0)


def test_a_mirror_is_not_let_in() -> None:
    """One that gives back what it hears."""
    called = Handshake.among(TOKEN, 0, "room")
    one, other = socket.socketpair()

    def mirrored() -> None:
        with contextlib.suppress(OSError):
            while more := other.recv(4096):
                other.sendall(more * 3)

    thread = threading.Thread(target=mirrored)
    thread.start()
    with pytest.raises(UnknownPeer):
        called.answer(one)
    one.close()
    thread.join()
    other.close()


# ---- somebody in between ----------------------------------------------------------------------

Message = tuple[bytes, bytes]
"""A signature, and what was said, as they travel."""
Meddling = Callable[[int, Message], list[Message]]
"""What somebody in between makes of a message, given its number."""


def exactly(line: socket.socket, size: int) -> bytes:
    heard = b""
    while len(heard) < size:
        more = line.recv(size - len(heard))
        if not more:
            raise EOFError
        heard += more
    return heard


def frame(line: socket.socket) -> bytes:
    """A message as :mod:`multiprocessing.connection` sends it, if it is a small one."""
    return exactly(line, *struct.unpack("!i", exactly(line, 4)))


def between(door: socket.socket, real: Address, meddling: Meddling) -> None:
    """Takes a call for ``real``, and carries everything; what the caller says after the greeting
    goes through ``meddling``."""
    caller, called = door.accept()[0], socket.create_connection(real, 30)

    def back() -> None:
        with contextlib.suppress(OSError):
            while more := called.recv(1 << 16):
                caller.sendall(more)

    with caller, called, contextlib.suppress(OSError, EOFError):
        answers = threading.Thread(target=back, daemon=True)
        answers.start()
        called.sendall(exactly(caller, NONCE + NUMBER + PROOF))
        for number in range(1 << 30):
            for message in meddling(number, (frame(caller), frame(caller))):
                for part in message:
                    called.sendall(struct.pack("!i", len(part)) + part)


@contextlib.contextmanager
def meddled(meddling: Meddling) -> Iterator[list[Mesh]]:
    """Two tasks, the second of which reaches the first through somebody in between."""
    with socket.create_server((HOST, 0)) as door:
        real, known = gather(2), (HOST, int(door.getsockname()[1]))

        def meet_of(index: int) -> Callable[[Address], list[Address]]:
            def meet(mine: Address) -> list[Address]:
                addresses = real(index)(mine)
                if index == 1:
                    args = (door, addresses[0], meddling)
                    threading.Thread(target=between, args=args, daemon=True).start()
                return [known, addresses[1]]

            return meet

        with ThreadPoolExecutor(2) as pool:
            tasks = [pool.submit(Mesh, i, 2, TOKEN, HOST, meet_of(i)) for i in range(2)]
            both = [task.result(60) for task in tasks]
        yield both
        for task in both:
            task.hang_up()


def test_somebody_in_between_who_changes_nothing_changes_nothing() -> None:
    with meddled(lambda number, message: [message]) as (first, second):
        for word in (b"one", b"two", b"three"):
            second.send(0, word)
        assert heard(first, 3) == [(1, b"one"), (1, b"two"), (1, b"three")]


FORGED: dict[str, Meddling] = {
    "changed": lambda n, m: [(m[0], m[1][:-1] + b"!")],
    "signed by another": lambda n, m: [(secrets.token_bytes(PROOF), m[1])],
    "said twice": lambda n, m: [m, m],
    "left out": lambda n, m: [] if n == 0 else [m],
    "in another order": lambda n, m: [(m[0], b"two"), (m[0], b"one")],
    "a goodbye": lambda n, m: [(m[0], b"")],
    "one more": lambda n, m: [m, (m[0], b"one more")],
}


@pytest.mark.parametrize("meddling", FORGED.values(), ids=FORGED)
def test_what_somebody_in_between_says_is_not_heard(meddling: Meddling) -> None:
    words: list[tuple[int, bytes]] = []

    def listen(task: Mesh) -> None:
        while True:
            words.extend(heard(task, 1))

    with meddled(meddling) as (first, second):
        second.send(0, b"one")
        second.send(0, b"two")
        with pytest.raises(ConnectionLost, match="another process uses the connection to task 1"):
            listen(first)
    assert words in ([], [(1, b"one")])


def test_what_a_task_says_can_not_be_said_back_to_it() -> None:
    """Each direction has a key of its own."""
    token = Handshake.among(TOKEN, 1, "room"), Handshake.among(TOKEN, 0, "room")
    one, other = socket.socketpair()
    with one, other, ThreadPoolExecutor(1) as pool:
        answered = pool.submit(token[1].answer, other)
        caller = token[0].call(one, 0)
        who, called = answered.result(30)
    assert who == 1
    signature = caller.sent.next(b"word")
    assert not caller.received.fits(signature, b"word")
    assert called.received.fits(signature, b"word")


# ---- who can't join ---------------------------------------------------------------------------


def test_a_wrong_token_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "JOIN_SECONDS", 2.0)
    with pytest.raises(Unmeshed) as error:
        joined(2, tokens=[TOKEN, secrets.token_bytes(32)])
    assert "task 0 (127.0.0.1) got no connection from task 1 (127.0.0.1)" in str(error.value)
    with pytest.raises(
        Unmeshed, match=r"task 1 can't reach task 0 at 127\.0\.0\.1:\d+: it .* token"
    ):
        joined_as_last(TOKEN)


def joined_as_last(token: bytes) -> None:
    """A task that calls one which belongs to another run."""
    with socket.create_server((HOST, 0)) as door:
        other = Handshake.among(secrets.token_bytes(32), 0, "room")
        over = threading.Event()

        def serve() -> None:
            door.settimeout(0.2)
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    line, _ = door.accept()
                    with line, contextlib.suppress(UnknownPeer, OSError):
                        other.answer(line)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            Mesh(1, 2, token, HOST, lambda mine: [(HOST, door.getsockname()[1]), mine])
        finally:
            over.set()
            thread.join()


def test_nobody_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "JOIN_SECONDS", 1.0)
    with socket.create_server((HOST, 0)) as door:
        empty = (HOST, int(door.getsockname()[1]))
    with pytest.raises(Unmeshed, match=r"can't reach task 0 at .*refused"):
        Mesh(1, 2, TOKEN, HOST, lambda mine: [empty, mine])


def test_tasks_that_can_not_meet_leave_nothing_open() -> None:
    def meet(mine: Address) -> list[Address]:
        raise RuntimeError("the stage is over")

    with pytest.raises(RuntimeError, match="the stage is over"):
        Mesh(0, 2, TOKEN, HOST, meet)
