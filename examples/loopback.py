"""Servers of a story: programs on ports of the loopback interface, killed with -9, and waited for.

What a story starts ends with it: each server is the leader of a process group of its own, and the
whole group is killed.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds after which a story is given up."""
PORTS = range(20_000, 32_000)
"""Ports for servers."""


class Server:
    """A program that listens on ``port`` of the loopback interface.

    ``said``: the file to which its output goes, behind what is there already.
    """

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        said: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command, self.port = list(command), port
        self._said, self.environment = said, {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, until_it_listens: bool = True) -> None:
        """Starts it, and waits until it listens."""
        with self._said.open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if until_it_listens:
            self.wait_until_it_listens()

    def wait_until_it_listens(self) -> None:
        """Raises ``TimeoutError`` where it does not, with the last of what it has said."""

        def ready() -> bool:
            if self._process is not None and self._process.poll() is not None:
                raise TimeoutError(f"{self.command[0]} has ended: {self._last_words()}")
            return listens(self.port)

        wait(ready, f"{self.command[0]} does not listen")

    def _last_words(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace")[-2000:]

    def stop(self) -> None:
        """Ends it with SIGTERM, and waits until it has ended."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kills it with SIGKILL, and what it has started."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, how)
            self._process.wait(PATIENCE)
            self._process = None


def free_ports(count: int) -> list[int]:
    """Returns ``count`` different ports of the loopback interface that nobody has: below those that
    the system gives to connections, so that nobody is given one while its server is down."""
    with contextlib.ExitStack() as probes:
        found: list[int] = []
        for port in random.sample(PORTS, len(PORTS)):
            probe = probes.enter_context(contextlib.closing(socket.socket()))
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise OSError("no free ports")


def listens(port: int) -> bool:
    """Returns whether somebody listens on ``port``."""
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def first(servers: Sequence[T], fits: Callable[[T], object], otherwise: str) -> T:
    """Waits until one of ``servers`` fits, and returns it; raises ``TimeoutError`` after
    ``PATIENCE``."""
    for _ in ticks():
        for server in servers:
            if fits(server):
                return server
    raise TimeoutError(otherwise)


def wait(condition: Callable[[], object], otherwise: str) -> None:
    """Waits until ``condition`` is true; raises ``TimeoutError`` after ``PATIENCE``."""
    for _ in ticks():
        if condition():
            return
    raise TimeoutError(otherwise)


def ticks() -> Iterator[None]:
    """Yields every now and then, as long as there is patience."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        yield
        time.sleep(0.02)
