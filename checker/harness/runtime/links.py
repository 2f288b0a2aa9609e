"""A proxy for each link: what a node sends to another one is held until it is released.

Each node is told another port for each of the others, so that it is known who dials.  A connection
has two streams, one for each direction; what is in them are frames: messages, where the hook
``frames`` tells them apart, or else whatever bytes came together.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .acts import Message
from .failures import AnotherWay
from .hook_process import Hooks
from .node_logs import agree, said

CHUNK = 1 << 16
"""Bytes that are read at a time."""


class Frame:
    """A message on its way, and the stream that it is in.

    ``name`` is empty where it is none of the spec's.  ``lost``: it is never released.
    """

    def __init__(self, stream: Stream, data: bytes, name: str, fields: Mapping[str, Any]) -> None:
        self.stream, self.data, self.name, self.fields = stream, data, name, fields
        self.released = self.lost = False

    @property
    def text(self) -> str:
        """The message in words: ``DATA(p1, a)``."""
        return f"{self.name}({', '.join(said(value) or '…' for value in self.fields.values())})"

    def is_of(self, message: Message) -> bool:
        """Whether it is ``message``; bytes that nobody tells apart may be any."""
        if not self.stream.links.hooks.level:
            return True
        return self.name == message.name and agree(message.fields, self.fields)


class Stream:
    """What one end of a connection has sent, in order, and where it goes.

    ``life``: how often its sender had crashed when the connection was made; ``ended``: whether the
    sender has closed it.
    """

    def __init__(self, links: Links, sender: str, receiver: str, connection: Connection) -> None:
        self.links, self.sender, self.receiver = links, sender, receiver
        self.connection = connection
        self.life = links.crashes.get(sender, 0)
        self.frames: list[Frame] = []
        self.ended = False
        self._rest = b""

    @property
    def held(self) -> list[Frame]:
        """What is not released yet."""
        return [frame for frame in self.frames if not frame.released]

    def take(self, data: bytes) -> None:
        """Takes what has come."""
        self.links.activity += 1
        if self.links.hooks.level == 0:
            self.frames.append(Frame(self, data, "", {}))
            return
        self._rest += data
        for size, name, fields in self.links.hooks.frames(self._rest):
            self.frames.append(Frame(self, self._rest[:size], name, fields))
            self._rest = self._rest[size:]

    async def pass_on(self) -> None:
        """Releases what need not be held: what is no message of the spec, and has nothing held
        before it."""
        for frame in self.held:
            if frame.name or not self.links.hooks.level:
                break
            if frame.lost or self.links.is_cut(self.sender, self.receiver):
                break
            await self.write(frame)

    async def write(self, frame: Frame) -> None:
        """Releases a frame.  Raises :class:`AnotherWay` where its receiver can't be reached."""
        writer = await self.connection.towards(self.receiver)
        try:
            writer.write(frame.data)
            await writer.drain()
        except OSError as problem:
            raise AnotherWay(f"{self.receiver} has closed the connection: {problem}") from None
        frame.released = True
        self.links.activity += 1
        self.connection.end_with_dialer()


class Connection:
    """A connection that ``dialer`` has made to ``acceptor``, through its proxy."""

    def __init__(
        self, links: Links, dialer: str, acceptor: str, writer: asyncio.StreamWriter
    ) -> None:
        self.links, self.dialer, self.acceptor = links, dialer, acceptor
        self._to_dialer = writer
        self._to_acceptor: asyncio.StreamWriter | None = None
        self.forward = Stream(links, dialer, acceptor, self)
        self.backward = Stream(links, acceptor, dialer, self)
        self.serving: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def towards(self, node: str) -> asyncio.StreamWriter:
        """Returns the end that leads to ``node``; dials the acceptor where that is needed."""
        if node == self.dialer and node != self.acceptor:
            return self._to_dialer
        if self._to_acceptor is None or self._to_acceptor.is_closing():
            port = self.links.listening[self.acceptor]
            try:
                reader, self._to_acceptor = await asyncio.open_connection("127.0.0.1", port)
            except OSError as problem:
                why = problem.strerror or problem
                raise AnotherWay(f"{self.acceptor} does not listen: {why}") from None
            self.backward.life = self.links.crashes.get(self.acceptor, 0)
            self._reading = asyncio.create_task(self._read(reader, self.backward))
        return self._to_acceptor

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Takes what the dialer sends until it closes the connection."""
        if self.links.hooks.level < 2:  # the acceptor may speak first
            with contextlib.suppress(AnotherWay):
                await self.towards(self.acceptor)
        await self._read(reader, self.forward)
        self.forward.ended = True
        self.end_with_dialer()

    async def _read(self, reader: asyncio.StreamReader, stream: Stream) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                try:
                    stream.take(data)
                    await stream.pass_on()
                except AnotherWay:
                    break
                except Exception as problem:  # a hook fails: the run ends with it
                    self.links.problem = self.links.problem or problem
                    return
        if stream is self.backward:
            self._close_acceptor()
            if self.links.hooks.level < 2:
                self.close()

    def end_with_dialer(self) -> None:
        """Closes the acceptor's end once the dialer has closed its own and all that it had sent is
        released."""
        if self.links.hooks.level < 2 and self.forward.ended and not self.forward.held:
            self._close_acceptor()

    def _close_acceptor(self) -> None:
        if self._to_acceptor is not None:
            self._to_acceptor.close()
            self._to_acceptor = None

    def close(self) -> None:
        """Closes both ends: what is held of it can't be released any more."""
        for stream in (self.forward, self.backward):
            for frame in stream.held:
                frame.lost = True
        self._close_acceptor()
        self._to_dialer.close()


class Links:
    """All links between ``nodes``: ``ports[p][q]`` is where p reaches q, ``listening[q]`` where q
    listens."""

    def __init__(self, hooks: Hooks, nodes: Sequence[str], listening: Mapping[str, int]) -> None:
        self.hooks, self.nodes, self.listening = hooks, nodes, listening
        self.ports: dict[str, dict[str, int]] = {node: {} for node in nodes}
        self.connections: list[Connection] = []
        self.crashes: dict[str, int] = {}
        self.cut: set[tuple[str, str]] = set()
        self.activity = 0
        self.problem: Exception | None = None
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Opens the proxies, each on a port that the system gives it and that it keeps."""
        for dialer in self.nodes:
            for acceptor in self.nodes:
                await self._proxy(dialer, acceptor)

    async def _proxy(self, dialer: str, acceptor: str) -> None:
        # no coroutine: asyncio prints a traceback for one that is cancelled before it begins
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = Connection(self, dialer, acceptor, writer)
            self.connections.append(connection)
            connection.serving = asyncio.create_task(connection.serve(reader))

        listener = socket.create_server(("127.0.0.1", 0))
        self.ports[dialer][acceptor] = listener.getsockname()[1]
        self._servers.append(await asyncio.start_server(accept, sock=listener))

    def stop(self) -> None:
        """Closes all connections and proxies."""
        for connection in self.connections:
            connection.close()
        for server in self._servers:
            server.close()

    def streams(self, sender: str = "", receiver: str = "") -> Iterator[Stream]:
        """Yields the streams of a link, or of all."""
        for connection in self.connections:
            for stream in (connection.forward, connection.backward):
                if sender in ("", stream.sender) and receiver in ("", stream.receiver):
                    yield stream

    def frames(self, sender: str, receiver: str, message: Message) -> list[Frame]:
        """Returns what ever came of ``message`` on a link, in order."""
        return [
            frame
            for stream in self.streams(sender, receiver)
            for frame in stream.frames
            if frame.is_of(message)
        ]

    def is_cut(self, sender: str, receiver: str) -> bool:
        """Whether nothing may pass from ``sender`` to ``receiver``."""
        return (sender, receiver) in self.cut

    async def release(self, frame: Frame) -> None:
        """Releases a frame.  Where messages do not stand alone, what came before it on the
        connection goes first."""
        if self.hooks.level == 2:
            await frame.stream.write(frame)
            return
        for each in frame.stream.held:
            await frame.stream.write(each)
            if each is frame and self.hooks.level == 1:
                break

    async def forge(self, sender: str, receiver: str, data: bytes) -> None:
        """Makes ``receiver`` receive bytes in the name of ``sender``, on a connection of their
        own."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.listening[receiver])
            writer.write(data)
            await writer.drain()
        except OSError as problem:
            why = problem.strerror or problem
            raise AnotherWay(f"{receiver} does not take what is forged: {why}") from None
        self.connections.append(Connection(self, sender, receiver, writer))

    def break_between(self, first: str, second: str) -> None:
        """Breaks the connections between two nodes; both are told, as the system tells them."""
        for connection in self.connections:
            if {connection.dialer, connection.acceptor} == {first, second}:
                connection.close()

    def rest(self) -> list[Frame]:
        """Returns what a fair run still delivers: all that is held, but for what is lost, what is
        on a link that is cut, and what was sent by a process that has crashed since.  Where
        messages do not stand alone, what is behind a lost one is lost with it."""
        found: list[Frame] = []
        for stream in sorted(self.streams(), key=lambda each: (each.sender, each.receiver)):
            if self.is_cut(stream.sender, stream.receiver):
                continue
            if stream.life != self.crashes.get(stream.sender, 0):
                continue
            for frame in stream.held:
                if not frame.lost:
                    found.append(frame)
                elif self.hooks.level < 2:
                    break
        return found
