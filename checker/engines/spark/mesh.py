"""Connections between the tasks of one run, each with each.

A connection is that of :mod:`multiprocessing.connection` over TCP (messages with their length), on
the executor's own address.  Whoever connects has to prove that it knows the run's token, and so has
whoever is connected to (a challenge each, answered with HMAC-SHA-256); both within a time limit, so
that a stranger neither gets in nor holds anybody up.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, wait

JOIN_SECONDS = 30.0
"""So long all tasks of a run have to find one another."""
HANDSHAKE_SECONDS = 5.0
CHALLENGE, ANSWER = 32, 32
"""Bytes."""
PATIENCE = 0.2
"""Seconds after which a thread looks whether it is to end."""

GOODBYE = b""
"""The last message: nothing is missing if the connection ends after it."""

Address = tuple[str, int]


class Unmeshed(Exception):
    """The tasks can't reach one another; the message says who whom."""


class Broken(Exception):
    """A connection to another task is gone."""


class Mesh:
    """Task ``index``'s connections to all others of ``size`` tasks.

    ``host``: of this executor, as the others know it; ``meet``: gives the addresses of all tasks
    for one's own (all tasks call it at once).  Raises :class:`Unmeshed`.
    """

    def __init__(
        self,
        index: int,
        size: int,
        token: bytes,
        host: str,
        meet: Callable[[Address], list[Address]],
    ) -> None:
        self.index, self.size, self._token = index, size, token
        self._links: dict[int, Connection] = {}
        self._ready = threading.Condition()
        self._joined = self._over = False
        self._failed: str | None = None
        self._inbox: deque[tuple[int, bytes]] = deque()
        self._arrived = threading.Condition()
        self._outbox: deque[tuple[int, bytes]] = deque()
        self._waiting = 0
        self._leaving = threading.Condition()
        self.sent = self.received = 0
        if size == 1:
            meet(("", 0))
            return
        with socket.create_server((_own_address(host), 0), backlog=2 * size) as door:
            door.settimeout(PATIENCE)
            welcome = threading.Thread(target=self._welcome, args=(door,), daemon=True)
            welcome.start()
            try:
                self._join(meet((host, int(door.getsockname()[1]))))
            finally:
                self._joined = True
                welcome.join()
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._send, daemon=True).start()

    # -- joining --------------------------------------------------------------------------------

    def _join(self, addresses: list[Address]) -> None:
        """Calls all tasks of a smaller number, and waits for the calls of the others."""
        until = time.monotonic() + JOIN_SECONDS
        for other in range(self.index):
            self._links[other] = self._call(other, addresses[other], until)
        with self._ready:
            there = self._ready.wait_for(
                lambda: len(self._links) == self.size - 1, until - time.monotonic()
            )
        if not there:
            missing = sorted(set(range(self.size)) - set(self._links) - {self.index})
            names = ", ".join(f"task {i} ({addresses[i][0]})" for i in missing[:3])
            raise Unmeshed(f"task {self.index} ({addresses[self.index][0]}) waits for {names}")

    def _call(self, other: int, address: Address, until: float) -> Connection:
        while True:
            try:
                link = Client(address)
                _in_time(link)
                if self._prove(link) and self._challenge(link):
                    link.send_bytes(self.index.to_bytes(4, "big"))
                    _at_once(link)
                    return link
                link.close()
            except (OSError, EOFError):
                pass
            if time.monotonic() > until:
                where = "{}:{}".format(*address)
                raise Unmeshed(f"task {self.index} can't reach task {other} at {where}")
            time.sleep(0.05)

    def _welcome(self, door: socket.socket) -> None:
        while not self._joined:
            try:
                caller, _ = door.accept()
            except TimeoutError:
                continue
            caller.setblocking(True)
            link = Connection(caller.detach())
            threading.Thread(target=self._examine, args=(link,), daemon=True).start()

    def _examine(self, link: Connection) -> None:
        """Lets a caller in that knows the token."""
        try:
            _in_time(link)
            if self._challenge(link) and self._prove(link):
                who = int.from_bytes(_heard(link, 4), "big")
                if self.index < who < self.size:
                    _at_once(link)
                    with self._ready:
                        if who not in self._links:
                            self._links[who] = link
                            self._ready.notify()
                            return
            link.close()
        except (OSError, EOFError):
            link.close()

    def _challenge(self, link: Connection) -> bool:
        challenge = secrets.token_bytes(CHALLENGE)
        link.send_bytes(challenge)
        answer = _heard(link, ANSWER)
        return hmac.compare_digest(answer, self._answer(challenge))

    def _prove(self, link: Connection) -> bool:
        link.send_bytes(self._answer(_heard(link, CHALLENGE)))
        return True

    def _answer(self, challenge: bytes) -> bytes:
        return hmac.digest(self._token, challenge, "sha256")

    # -- messages -------------------------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """Bytes that are still to be sent."""
        return self._waiting

    def send(self, other: int, message: bytes) -> None:
        """Sends a message soon; messages to one task arrive in order.  Raises :class:`Broken`."""
        self._check()
        with self._leaving:
            self._outbox.append((other, message))
            self._waiting += len(message)
            self.sent += len(message)
            self._leaving.notify()

    def receive(self, seconds: float = 0.0) -> tuple[int, bytes] | None:
        """The next message and who sent it, waiting at most so long.  Raises :class:`Broken`."""
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
        """Sends what is still to be sent, and hangs up."""
        self._over = True
        with self._leaving:
            self._outbox.extend((other, GOODBYE) for other in self._links)
            self._leaving.notify()

    def _check(self) -> None:
        if self._failed:
            raise Broken(self._failed)

    def _fail(self, why: str) -> None:
        self._failed = why
        with self._arrived:
            self._arrived.notify()

    def _receive(self) -> None:
        who = {link: other for other, link in self._links.items()}
        while who and not self._over:
            for link in wait(list(who), PATIENCE):
                assert isinstance(link, Connection)
                try:
                    message = link.recv_bytes()
                except (OSError, EOFError):
                    if not self._over:
                        self._fail(f"task {who[link]} is gone")
                    del who[link]
                    continue
                if message == GOODBYE:
                    del who[link]
                    link.close()
                    continue
                self.received += len(message)
                with self._arrived:
                    self._inbox.append((who[link], message))
                    self._arrived.notify()

    def _send(self) -> None:
        while True:
            with self._leaving:
                self._leaving.wait_for(lambda: self._outbox or self._over)
                if not self._outbox:
                    return
                other, message = self._outbox.popleft()
            try:
                self._links[other].send_bytes(message)
            except (OSError, ValueError):
                if message != GOODBYE:
                    self._fail(f"task {other} is gone")
                    return
            with self._leaving:
                self._waiting -= len(message)


def _own_address(host: str) -> str:
    """What to listen on: this executor's address as the others know it, and no other."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"


def _at_once(link: Connection) -> None:
    """From now on small messages do not wait for more, and large ones take the time they need."""
    with socket.socket(fileno=socket.dup(link.fileno())) as handle:
        handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))


def _in_time(link: Connection) -> None:
    """Until :func:`_at_once`, nobody is waited for longer than a handshake may take."""
    limit = struct.pack("ll", int(HANDSHAKE_SECONDS), 0)
    with socket.socket(fileno=socket.dup(link.fileno())) as handle:
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)


def _heard(link: Connection, size: int) -> bytes:
    """A message of exactly ``size`` bytes; raises ``OSError`` where it is another or too late."""
    message = link.recv_bytes(size)
    if len(message) != size:
        raise OSError("a message of another length")
    return message
