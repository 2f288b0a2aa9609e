"""Pairwise connections between the tasks of one run.

A connection is TCP, on the executor's own address, and carries messages with their length, as
:mod:`multiprocessing.connection` does.  Before that both sides have to prove that they belong to
the run (:mod:`checker.engines.spark.handshake`), within a time limit, so that a stranger neither
gets in nor delays any task.  Each message follows its signature, and is not read before that was
verified: what a task unpickles was sent by another task of the run, to it, in this session.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from types import TracebackType

from checker.engines.spark.handshake import PROOF, Handshake, MessageAuthenticators, UnknownPeer

JOIN_SECONDS = 30.0
"""The seconds in which all tasks of a run have to find one another."""
AGAIN = 0.05
"""Seconds until a task that did not answer is called again."""
GUESTS = 64
"""The largest number of unauthenticated connections at a time."""
PATIENCE = 0.2
"""Seconds after which a thread checks whether it is to end."""
FLUSH_SECONDS = 30.0
"""The seconds in which sent messages have to leave when a task is done."""

GOODBYE = b""
"""The last message: nothing is missing if the connection ends after it."""

Address = tuple[str, int]


class Unmeshed(Exception):
    """The tasks can't reach one another; the message names them, and the reason."""


class ConnectionLost(Exception):
    """A connection to another task is lost."""


class Mesh:
    """Task ``index``'s connections to all others of ``size`` tasks; a context, at the end of which
    it says goodbye, or hangs up after an error.

    ``token``: a secret of the tasks of this run; ``host``: of this executor, as the others know it;
    ``meet``: returns the addresses of all tasks for one's own (all tasks call it at once).  Raises
    :class:`Unmeshed`.
    """

    def __init__(
        self,
        index: int,
        size: int,
        token: bytes,
        host: str,
        meet: Callable[[Address], list[Address]],
    ) -> None:
        self.index, self.size = index, size
        self._links: dict[int, Connection] = {}
        self._seals: dict[int, MessageAuthenticators] = {}
        self._ready = threading.Condition()
        self._joined = self._over = False
        self._guests = threading.Semaphore(GUESTS)
        self._failed: str | None = None
        self._inbox: deque[tuple[int, bytes]] = deque()
        self._arrived = threading.Condition()
        self._outbox: deque[tuple[int, bytes]] = deque()
        self._waiting = 0
        self._leaving = threading.Condition()
        self.sent = self.received = 0
        self._receiver = threading.Thread(target=self._receive, daemon=True)
        self._sender = threading.Thread(target=self._send, daemon=True)
        if size == 1:
            meet(("", 0))
        else:
            with socket.create_server((_own_address(host), 0), backlog=GUESTS + size) as door:
                addresses = meet((host, int(door.getsockname()[1])))
                self._greeting = Handshake.among(token, index, addresses)
                self._gather(door, addresses)
        self._sender.start()
        if size > 1:
            self._receiver.start()  # it ends after the other thread

    def __enter__(self) -> Mesh:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.hang_up()

    # -- joining --------------------------------------------------------------------------------

    def _gather(self, door: socket.socket, addresses: list[Address]) -> None:
        """Connects to all others."""
        door.settimeout(PATIENCE)
        welcome = threading.Thread(target=self._welcome, args=(door,), daemon=True)
        welcome.start()
        try:
            self._join(addresses)
        except BaseException:
            self.hang_up()
            raise
        finally:
            self._joined = True
            welcome.join()

    def _join(self, addresses: list[Address]) -> None:
        """Calls all tasks with a smaller number, and waits for the calls of the others."""
        until = time.monotonic() + JOIN_SECONDS
        for other in range(self.index):
            self._keep(other, *self._call(other, addresses[other], until))
        with self._ready:
            there = self._ready.wait_for(
                lambda: len(self._links) == self.size - 1, max(0.0, until - time.monotonic())
            )
        if not there:
            missing = sorted(set(range(self.size)) - set(self._links) - {self.index})
            names = ", ".join(f"task {i} ({addresses[i][0]})" for i in missing[:3])
            where = f"task {self.index} ({addresses[self.index][0]})"
            raise Unmeshed(f"{where} got no connection from {names} within {JOIN_SECONDS:g} s")

    def _call(
        self, other: int, address: Address, until: float
    ) -> tuple[socket.socket, MessageAuthenticators]:
        while True:
            line = None
            try:
                line = socket.create_connection(address, max(until - time.monotonic(), 0.001))
                return line, self._greeting.call(line, other)
            except (OSError, UnknownPeer) as problem:
                why = str(problem)
                if line is not None:
                    line.close()
            if time.monotonic() > until:
                where = "{}:{}".format(*address)
                raise Unmeshed(f"task {self.index} can't reach task {other} at {where}: {why}")
            time.sleep(AGAIN)

    def _welcome(self, door: socket.socket) -> None:
        while not self._joined:
            try:
                line, _ = door.accept()
            except OSError:  # no caller for a while, or none any more
                continue
            if self._guests.acquire(blocking=False):
                threading.Thread(target=self._examine, args=(line,), daemon=True).start()
            else:
                line.close()

    def _examine(self, line: socket.socket) -> None:
        """Accepts a caller that belongs to the run."""
        try:
            who, seals = self._greeting.answer(line)
        except (OSError, UnknownPeer):
            line.close()
        else:
            self._keep(who, line, seals)
        finally:
            self._guests.release()

    def _keep(self, other: int, line: socket.socket, seals: MessageAuthenticators) -> None:
        """Registers a connection; its messages take the time they need from now on."""
        line.settimeout(None)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._ready:
            if self._joined or not 0 <= other < self.size or other == self.index:
                line.close()
                return
            before = self._links.pop(other, None)  # it has not noticed that it was accepted
            if before is not None:
                before.close()
            self._links[other], self._seals[other] = Connection(line.detach()), seals
            self._ready.notify()

    # -- messages -------------------------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """The bytes that are still to be sent."""
        return self._waiting

    def send(self, other: int, message: bytes) -> None:
        """Sends a message asynchronously; messages to one task arrive in order.  Raises
        :class:`ConnectionLost`.
        """
        self._check()
        with self._leaving:
            self._outbox.append((other, message))
            self._waiting += len(message)
            self.sent += len(message)
            self._leaving.notify()

    def receive(self, seconds: float = 0.0) -> tuple[int, bytes] | None:
        """Returns the next message and its sender, waiting up to ``seconds``.  Raises
        :class:`ConnectionLost`.
        """
        if not self._inbox:
            self._check()
            if seconds:
                with self._arrived:
                    self._arrived.wait_for(lambda: self._inbox or self._failed, seconds)
        try:
            return self._inbox.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """Sends what is still to be sent, and a goodbye; does not wait for the others'."""
        with self._leaving:
            self._over = True
            self._outbox.extend((other, GOODBYE) for other in self._links)
            self._leaving.notify()
        self._sender.join(FLUSH_SECONDS)

    def hang_up(self) -> None:
        """Ends all connections without a goodbye: the others notice that this task is gone."""
        with self._leaving:
            self._over = True
            self._outbox.clear()
            self._leaving.notify()
        for link in self._links.values():
            if self._receiver.ident is None:
                link.close()
            else:  # it closes them
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(link.fileno())) as s:
                    s.shutdown(socket.SHUT_RDWR)

    def _check(self) -> None:
        if self._failed:
            raise ConnectionLost(self._failed)

    def _fail(self, why: str) -> None:
        self._failed = self._failed or why
        with self._arrived:
            self._arrived.notify()

    def _receive(self) -> None:
        who = {link: other for other, link in self._links.items()}
        while who:
            for link in wait(list(who), PATIENCE):
                assert isinstance(link, Connection)
                try:
                    signature, message = link.recv_bytes(PROOF), link.recv_bytes()
                except (OSError, EOFError):
                    if not self._over:
                        self._fail(f"task {who[link]} is gone")
                    del who[link]
                    continue
                except MemoryError:
                    self._fail(f"not enough memory for data from task {who[link]}")
                    return
                if not self._seals[who[link]].received.fits(signature, message):
                    self._fail(f"another process uses the connection to task {who[link]}")
                    del who[link]
                    continue
                if message == GOODBYE:
                    del who[link]
                    continue
                self.received += len(message)
                with self._arrived:
                    self._inbox.append((who[link], message))
                    self._arrived.notify()
        self._sender.join()
        for link in self._links.values():
            link.close()

    def _send(self) -> None:
        while True:
            with self._leaving:
                self._leaving.wait_for(lambda: self._outbox or self._over)
                if not self._outbox:
                    return
                other, message = self._outbox.popleft()
            try:
                self._links[other].send_bytes(self._seals[other].sent.next(message))
                self._links[other].send_bytes(message)
            except (OSError, ValueError):
                if message != GOODBYE:
                    self._fail(f"task {other} is gone")
                    return
            with self._leaving:
                self._waiting -= len(message)


def _own_address(host: str) -> str:
    """Returns the address to listen on: this executor's as the others know it, and no other."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"
