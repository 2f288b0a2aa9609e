"""Watches as a broadcast, the leader killed: the orders that ZooKeeper shows, audited.

`python examples/zookeeper/story.py` plays all scenes and prints a line for each;
`python examples/zookeeper/story.py value` plays one and prints the whole report, with pictures.
Everything is on the loopback interface, on ports of its own, and ends by itself.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.loopback import Server, first, free_ports, wait  # noqa: E402
from examples.telling import Story, tell  # noqa: E402
from examples.zookeeper.server import configured, mode_of  # noqa: E402

CLIENTS = ("p1", "p2", "p3")
EACH = 30
PLACE = "/story"

SCENES = ("children", "leader_dies", "value")


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs of three clients, each of a server of its own, are in ``folder/logs``
    then.

    Each client broadcasts by writing, and delivers what its watch shows it.
    """
    broadcast = {"value": OneValue}.get(name, Children)
    with running_servers(folder) as servers, contextlib.ExitStack() as stack:
        ports = [server.port for server in servers]
        clients = []
        for i, process in enumerate(CLIENTS):
            log = stack.enter_context(Recorder(folder / "logs" / f"{process}.ndjson", process))
            clients.append(broadcast(log, ports[i:] + ports[:i]))
            stack.callback(clients[-1].close)
        clients[0].prepare()
        for client in clients:
            client.watch()
        writers = [threading.Thread(target=client.write) for client in clients]
        for writer in writers:
            writer.start()
        if name == "leader_dies":
            wait(lambda: len(clients[0].delivered) >= EACH, "nothing is delivered")
            leader_of(servers).kill()
        for writer in writers:
            writer.join()
        clients[0].broadcast(LAST)
        wait(lambda: all(LAST in c.delivered for c in clients), "the last write is not seen")


LAST = "p1.last"
"""The last message; where all have seen it, the scene is over."""


class Client:
    """A client of one server; it goes to the next one where its own is down."""

    def __init__(self, log: Recorder, ports: list[int]) -> None:
        import logging

        from kazoo.client import KazooClient

        logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # it says that a server is down
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        self.log, self.delivered, self.asked = log, set[str](), ""
        self.zoo = KazooClient(hosts, randomize_hosts=False, timeout=4.0)
        self.zoo.start(timeout=30)

    def close(self) -> None:
        """Ends its session."""
        self.zoo.stop()
        self.zoo.close()

    def deliver(self, message: str) -> None:
        """Records that it has seen ``message``."""
        self.log.deliver(message, sender=message.partition(".")[0])
        self.delivered.add(message)

    def write(self) -> None:
        """Broadcasts one message after another."""
        for number in range(EACH):
            self.broadcast(f"{self.log.process}.{number}")

    def broadcast(self, message: str) -> None:
        """Broadcasts ``message``: asks until it is written, once."""
        from kazoo.exceptions import KazooException

        def is_written() -> bool:
            if not self.zoo.connected:
                return False
            try:
                if not self.has_written(message):
                    self.put(message)
            except KazooException:
                return False
            return True

        self.log.broadcast(message)
        wait(is_written, f"{message} can't be written")

    def prepare(self) -> None:
        """Makes what is written to."""
        self.zoo.create(PLACE)

    def watch(self) -> None:
        """Begins to deliver."""

    def put(self, message: str) -> None:
        """Writes ``message``."""

    def has_written(self, message: str) -> bool:
        """Returns whether an earlier request to write ``message`` was done."""
        return False


class Children(Client):
    """Each message is a node of its own, and ZooKeeper numbers them."""

    def watch(self) -> None:
        self.zoo.ChildrenWatch(PLACE, self._changed)

    def put(self, message: str) -> None:
        self.asked = message
        self.zoo.create(f"{PLACE}/{message}-", sequence=True)

    def has_written(self, message: str) -> bool:
        if self.asked != message:
            return False
        self.zoo.sync(PLACE)
        return any(child.startswith(f"{message}-") for child in self.zoo.get_children(PLACE))

    def _changed(self, children: list[str]) -> None:
        for child in sorted(children, key=lambda name: name.rpartition("-")[2]):
            message = child.rpartition("-")[0]
            if message not in self.delivered:
                self.deliver(message)


class OneValue(Client):
    """All messages are values of one node, one after another."""

    def watch(self) -> None:
        self.zoo.DataWatch(PLACE, self._changed)

    def put(self, message: str) -> None:
        self.zoo.set(PLACE, message.encode())

    def _changed(self, value: bytes | None, _stat: object) -> None:
        if value:
            self.deliver(value.decode())


@contextlib.contextmanager
def running_servers(folder: Path) -> Iterator[list[Server]]:
    """Runs three servers, which keep their state in ``folder``."""
    ports = free_ports(3 * len(CLIENTS))
    members = list(zip(ports[::3], ports[1::3], ports[2::3], strict=True))
    ensemble = {i: (leader, election) for i, (_, leader, election) in enumerate(members, 1)}
    servers = []
    for i, (port, _, _) in enumerate(members, 1):
        command = configured(folder / f"server{i}", i, port, ensemble, "tickTime=500\n")
        servers.append(Server(command, port, folder / f"server{i}.out"))
    with contextlib.ExitStack() as running:
        for server in servers:
            running.callback(server.kill)
            server.start(until_it_listens=False)
        for server in servers:
            wait(functools.partial(mode_of, server.port), "a server does not serve")
        yield servers


def leader_of(servers: list[Server]) -> Server:
    """Returns the server that says that it leads."""
    return first(servers, lambda server: mode_of(server.port) == "leader", "nobody leads")


STORY = Story(SCENES, play, "UniformTotalOrderBroadcast")

if __name__ == "__main__":
    sys.exit(tell(STORY))
