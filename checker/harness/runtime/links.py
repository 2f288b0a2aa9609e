"""A proxy for each link: what a node sends to another one is held until it is released.

Each node is told another port for each of the others, so that it is known who dials.  Where the
hook ``dialer`` reads that from the first bytes, all are told the same port.  A connection has two
streams, one for each direction; what is in them are frames: messages, where the hook ``frames``
tells them apart, or else whatever bytes came together.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from .acts import Message
from .failures import AnotherWay, CannotRun
from .hook_process import Hooks
from .node_logs import agree, said

LINGER = 0.2
"""Seconds between the last message on a connection and its end: some programs forget what they have
not read when they learn of the end."""
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
        return str(Message(self.name, {key: said(v) or "…" for key, v in self.fields.items()}))

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
        self.writing = asyncio.Lock()
        self._rest = b""

    @property
    def held(self) -> list[Frame]:
        """What is not released yet."""
        return [frame for frame in self.frames if not frame.released]

    @property
    def is_over(self) -> bool:
        """Whether its receiver is to learn that the sender has closed it."""
        return self.ended and not self.held and not self.links.is_cut(self.sender, self.receiver)

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
        before it; all, where no message is held or an end is none of the nodes."""
        async with self.writing:
            for frame in self.held:
                if self.links.holds(self) and (frame.name or not self.links.hooks.level):
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
        asyncio.get_running_loop().call_later(LINGER, self.connection.end_where_all_is_released)


class Connection:
    """A connection that ``dialer`` has made to ``acceptor``, through its proxy; ``dialer`` is empty
    where that is none of the nodes."""

    def __init__(
        self, links: Links, dialer: str, acceptor: str, writer: asyncio.StreamWriter
    ) -> None:
        self.links, self.dialer, self.acceptor = links, dialer, acceptor
        self._to_dialer = writer
        self._to_acceptor: asyncio.StreamWriter | None = None
        self.forward = Stream(links, dialer, acceptor, self)
        self.backward = Stream(links, acceptor, dialer, self)
        self._reading: asyncio.Task[None] | None = None
        self._dialing = asyncio.Lock()

    async def towards(self, node: str) -> asyncio.StreamWriter:
        """Returns the end that leads to ``node``; dials the acceptor where that is needed."""
        if node == self.dialer and node != self.acceptor:
            return self._to_dialer
        if self.backward.ended and self.links.hooks.level < 2:
            raise AnotherWay(f"{self.acceptor} has closed the connection")
        async with self._dialing:
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

    async def serve(self, reader: asyncio.StreamReader, first: bytes) -> None:
        """Takes what the dialer sends, ``first`` before all, until it closes the connection."""
        if self.links.hooks.level < 2:  # the acceptor may speak first
            with contextlib.suppress(AnotherWay):
                await self.towards(self.acceptor)
        await self._read(reader, self.forward, first)

    async def _read(self, reader: asyncio.StreamReader, stream: Stream, first: bytes = b"") -> None:
        with contextlib.suppress(OSError):
            while data := first or await reader.read(CHUNK):
                first = b""
                try:
                    stream.take(data)
                    with contextlib.suppress(AnotherWay):  # its receiver is down: it waits
                        await stream.pass_on()
                except Exception as problem:  # a hook fails: the run ends with it
                    self.links.problem = self.links.problem or problem
                    return
        if stream is self.backward and self.links.hooks.level == 2:
            self._close_acceptor()  # another one is made for what comes next
            return
        stream.ended = True
        if stream is self.backward:
            for frame in self.forward.held:  # nobody takes it any more
                frame.lost = True
        self.end_where_all_is_released()

    def end_where_all_is_released(self) -> None:
        """Closes the end of whoever has been sent all that the other one had sent before it closed
        its own."""
        if self.links.hooks.level < 2:
            if self.forward.is_over:
                self._close_acceptor()
            if self.backward.is_over:
                self.close()

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
    listens.

    ``names``: of the nodes, by process; ``known_at``: where all reach a node, by process, if
    the hook ``dialer`` says who dials.
    """

    def __init__(
        self,
        hooks: Hooks,
        names: Mapping[str, str],
        listening: Mapping[str, int],
        known_at: Mapping[str, int],
    ) -> None:
        self.hooks, self.names, self.listening, self.known_at = hooks, names, listening, known_at
        self.nodes = list(names)
        self.ports: dict[str, dict[str, int]] = {node: {} for node in self.nodes}
        self.connections: list[Connection] = []
        self.crashes: dict[str, int] = {}
        self.cut: set[tuple[str, str]] = set()
        self.activity = 0
        self.problem: Exception | None = None
        self._servers: list[asyncio.Server] = []
        self._accepted: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> None:
        """Opens the proxies, each on a port that it keeps.  Raises :class:`CannotRun` (E138) where
        somebody has it by now."""
        for acceptor in self.nodes:
            if self.known_at:
                port = await self._proxy(None, acceptor, self.known_at[acceptor])
                for dialer in self.nodes:
                    self.ports[dialer][acceptor] = port
                continue
            for dialer in self.nodes:
                self.ports[dialer][acceptor] = await self._proxy(dialer, acceptor, 0)

    async def _proxy(self, dialer: str | None, acceptor: str, port: int) -> int:
        # no coroutine: asyncio prints a traceback for one that is cancelled before it begins
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            serving = asyncio.create_task(self._accept(dialer, acceptor, reader, writer))
            self._accepted[serving] = writer

        try:
            listener = socket.create_server(("127.0.0.1", port))
        except OSError as problem:
            raise CannotRun("E138", f"port {port} of 127.0.0.1: {problem.strerror}") from None
        self._servers.append(await asyncio.start_server(accept, sock=listener))
        return int(listener.getsockname()[1])

    async def _accept(
        self,
        dialer: str | None,
        acceptor: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Serves a connection; its origin is read from its first bytes, if it is not
        known."""
        first = b""
        while dialer is None:
            try:
                data = await reader.read(CHUNK)
                first += data
                name = self.hooks.dialer(first, list(self.names.values())) if data else ""
            except OSError:
                name = ""
            except CannotRun as problem:
                self.problem = self.problem or problem
                return
            if name is not None:
                by_name = {name: process for process, name in self.names.items()}
                dialer = by_name.get(name, "")
        connection = Connection(self, dialer, acceptor, writer)
        self.connections.append(connection)
        await connection.serve(reader, first)

    def stop(self) -> None:
        """Closes all connections and proxies."""
        for connection in self.connections:
            connection.close()
        for writer in self._accepted.values():
            writer.close()
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

    def holds(self, stream: Stream) -> bool:
        """Whether messages of a stream wait until the run has them arrive."""
        return self.hooks.held and "" not in (stream.sender, stream.receiver)

    async def pass_on(self) -> None:
        """Releases what need not be held any more: after a cut, or once a node is up again."""
        for stream in self.streams():
            with contextlib.suppress(AnotherWay):
                await stream.pass_on()
            stream.connection.end_where_all_is_released()

    def is_cut(self, sender: str, receiver: str) -> bool:
        """Whether nothing may pass from ``sender`` to ``receiver``."""
        return (sender, receiver) in self.cut

    async def release(self, frame: Frame) -> None:
        """Releases a frame.  Where messages do not stand alone, what came before it on the
        connection goes first."""
        if self.hooks.level == 2:
            await frame.stream.write(frame)
            return
        async with frame.stream.writing:
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
