"""One process of a reliable broadcast: asyncio, real sockets on loopback, and a log.

It delivers a message that it gets for the first time, and with ``--relay`` passes it on to
everybody.  ``--die-after K``: it kills itself (SIGKILL) when K copies of its own broadcast are out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket

from checker.record import Recorder


class Node:
    """A process with its connections to the others (``ports`` by their names)."""

    def __init__(self, name: str, ports: dict[str, int], log: Recorder, relay: bool) -> None:
        self.name, self.ports, self.log, self.relay = name, ports, log, relay
        self.seen: set[tuple[str, str]] = set()
        self.to: dict[str, asyncio.StreamWriter] = {}
        self.one_at_a_time = asyncio.Lock()
        self.own: set[asyncio.Task[None]] = set()

    async def serve(self, listening: socket.socket) -> None:
        """Accepts the connections of the others."""
        await asyncio.start_server(self.receive_from, sock=listening)

    async def receive_from(
        self, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> None:
        """Handles what comes on one connection, line by line."""
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                await self.handle(message["from"], message["origin"], message["m"])

    async def broadcast(self, m: str, die_after: int | None) -> None:
        """Sends ``m`` to all, oneself included."""
        async with self.one_at_a_time:
            self.log.broadcast(m)
            await self.send_to_all(self.name, m, die_after)

    async def handle(self, sender: str, origin: str, m: str) -> None:
        """What is done with a message: a step of the spec, so one at a time."""
        async with self.one_at_a_time:
            self.log.receive("DATA", sender, {"origin": origin, "m": m})
            if self.relay and (origin, m) in self.seen:
                return
            self.seen.add((origin, m))
            self.log.deliver(m, sender=origin)
            if self.relay:
                await self.send_to_all(origin, m, None)

    async def send_to_all(self, origin: str, m: str, die_after: int | None) -> None:
        """Sends to each of the others, then handles one's own copy, as a step of its own."""
        fields = {"origin": origin, "m": m}
        others = [name for name in self.ports if name != self.name]
        for number, name in enumerate(others):
            if number == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
            self.log.send("DATA", name, fields)
            writer = await self.connection(name)
            if writer is not None:
                writer.write(json.dumps({"from": self.name, **fields}).encode() + b"\n")
                await writer.drain()
        self.own.add(asyncio.create_task(self.handle(self.name, origin, m)))

    async def connection(self, name: str) -> asyncio.StreamWriter | None:
        """Returns the connection to a process; ``None`` where it is down."""
        if name not in self.to:
            try:
                _, self.to[name] = await asyncio.open_connection("127.0.0.1", self.ports[name])
            except OSError:
                return None
        return self.to[name]


async def main() -> None:
    """Runs until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("log")
    parser.add_argument("--ports", type=json.loads, required=True)
    parser.add_argument("--listening", type=int, required=True, help="the descriptor of a socket")
    parser.add_argument("--relay", action="store_true")
    parser.add_argument("--broadcast")
    parser.add_argument("--die-after", type=int)
    asked = parser.parse_args()
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    with Recorder(asked.log, asked.name) as log:
        node = Node(asked.name, asked.ports, log, asked.relay)
        await node.serve(socket.socket(fileno=asked.listening))
        if asked.broadcast is not None:
            await node.broadcast(asked.broadcast, asked.die_after)
        await over.wait()


if __name__ == "__main__":
    asyncio.run(main())
