"""One process of a reliable broadcast: asyncio, real sockets on loopback, and a log.

It delivers a message that it gets for the first time, and with ``--relay`` passes it on to
everybody.  ``--majority``: it delivers a message once a majority has it, instead.
``--disk FILE``: what it has seen survives a crash.  ``--die-after K``: it kills itself (SIGKILL)
when K copies of its own broadcast are out.  ``--fault NAME``: one line of it is wrong (``FAULTS``).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import Mapping
from pathlib import Path

from checker.record import Recorder

FAULTS = {
    "no_relay": "it relays nothing",
    "relay_in_own_name": "it relays a message as its own",
    "seen_not_asked": "it does not look whether it has seen a message",
    "seen_lost": "after a crash it has forgotten what it had seen",
    "no_lock": "it begins with a message while it writes that it has seen another one",
    "majority_off_by_one": "it counts one process too many",
}


class Node:
    """A process with its connections to the others (``ports`` by their names).

    ``relay``, ``majority``, ``disk`` and ``fault``: as on the command line.
    """

    def __init__(
        self,
        name: str,
        ports: Mapping[str, int],
        log: Recorder,
        relay: bool,
        majority: bool = False,
        disk: Path | None = None,
        fault: str = "",
    ) -> None:
        self.name, self.ports, self.log, self.relay = name, ports, log, relay
        self.majority, self.disk, self.fault = majority, disk, fault
        self.seen: set[tuple[str, str]] = set()
        self.relayed: set[tuple[str, str]] = set()
        self.have: dict[tuple[str, str], set[str]] = {}
        self.to: dict[str, asyncio.StreamWriter] = {}
        self.one_at_a_time = asyncio.Lock()
        self.own: set[asyncio.Task[None]] = set()
        if disk is not None and disk.exists() and fault != "seen_lost":
            lines = disk.read_text(encoding="utf-8").splitlines()
            self.seen = {(origin, m) for origin, m in map(json.loads, lines)}

    async def serve(self, listening: socket.socket) -> None:
        """Accepts the connections of the others."""
        await asyncio.start_server(self.receive_from, sock=listening)

    async def receive_from(
        self, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> None:
        """Begins to handle what comes on one connection: messages, and requests of clients."""
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                if "broadcast" in message:
                    step = self.broadcast(message["broadcast"], None)
                else:
                    step = self.handle(message["from"], message["origin"], message["m"])
                self.own.add(asyncio.create_task(step))

    async def broadcast(self, m: str, die_after: int | None) -> None:
        """Sends ``m`` to all, oneself included."""
        async with self.one_at_a_time:
            self.log.broadcast(m)
            self.relayed.add((self.name, m))
            await self.send_to_all(self.name, m, die_after)

    async def handle(self, sender: str, origin: str, m: str) -> None:
        """What is done with a message: a step of the spec, so one at a time."""
        async with self.one_at_a_time:
            self.log.receive("DATA", sender, {"origin": origin, "m": m})
            if self.majority:
                await self.count(sender, origin, m)
                return
            asks = self.relay and self.fault != "seen_not_asked"
            if asks and (origin, m) in self.seen:
                return
            await self.remember(origin, m)
            self.log.deliver(m, sender=origin)
            if self.relay and self.fault != "no_relay":
                own = self.fault == "relay_in_own_name"
                await self.send_to_all(self.name if own else origin, m, None)

    async def count(self, sender: str, origin: str, m: str) -> None:
        """Relays a message once, and delivers it once a majority has it."""
        have = self.have.setdefault((origin, m), set())
        have.add(sender)
        if (origin, m) not in self.relayed:
            self.relayed.add((origin, m))
            await self.send_to_all(origin, m, None)
        many = len(have) + (self.fault == "majority_off_by_one")
        if 2 * many > len(self.ports) and (origin, m) not in self.seen:
            await self.remember(origin, m)
            self.log.deliver(m, sender=origin)

    async def remember(self, origin: str, m: str) -> None:
        """Notes that it has seen a message, on disk first."""
        if self.disk is not None:
            if self.fault == "no_lock":
                self.one_at_a_time.release()
            await asyncio.to_thread(_append, self.disk, json.dumps([origin, m]))
            if self.fault == "no_lock":
                await self.one_at_a_time.acquire()
        self.seen.add((origin, m))

    async def send_to_all(self, origin: str, m: str, die_after: int | None) -> None:
        """Sends to each of the others, then to oneself, which makes a step of its own."""
        fields = {"origin": origin, "m": m}
        others = [name for name in self.ports if name != self.name]
        for number, name in enumerate([*others, self.name]):
            if number == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
            if name != self.name:
                self.log.send("DATA", name, fields)
            writer = await self.connection(name)
            if writer is not None:
                writer.write(json.dumps({"from": self.name, **fields}).encode() + b"\n")
                await writer.drain()

    async def connection(self, name: str) -> asyncio.StreamWriter | None:
        """Returns the connection to a process; ``None`` where it is down."""
        if name not in self.to:
            try:
                _, self.to[name] = await asyncio.open_connection("127.0.0.1", self.ports[name])
            except OSError:
                return None
        return self.to[name]


def _append(file: Path, line: str) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(line + "\n")
        out.flush()
        os.fsync(out.fileno())


async def main() -> None:
    """Runs until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("log")
    parser.add_argument("--ports", type=json.loads, required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--listening", type=int, help="the descriptor of a socket")
    where.add_argument("--port", type=int)
    parser.add_argument("--relay", action="store_true")
    parser.add_argument("--majority", action="store_true")
    parser.add_argument("--disk", type=Path)
    parser.add_argument("--fault", choices=FAULTS, default="")
    parser.add_argument("--broadcast")
    parser.add_argument("--die-after", type=int)
    asked = parser.parse_args()
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    with Recorder(asked.log, asked.name) as log:
        node = Node(
            asked.name, asked.ports, log, asked.relay, asked.majority, asked.disk, asked.fault
        )
        if asked.port is None:
            await node.serve(socket.socket(fileno=asked.listening))
        else:
            await node.serve(socket.create_server(("127.0.0.1", asked.port)))
        if asked.broadcast is not None:
            await node.broadcast(asked.broadcast, asked.die_after)
        await over.wait()


if __name__ == "__main__":
    asyncio.run(main())
