"""A log whose leader is killed: what etcd acknowledged and its watchers saw, audited.

`python examples/etcd/story.py` plays all scenes and prints a line for each;
`python examples/etcd/story.py retried` plays one and prints the whole report, with pictures.
Everything is on the loopback interface, on ports of its own, and ends by itself.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.etcd import client  # noqa: E402
from examples.loopback import Server, first, free_ports, wait  # noqa: E402
from examples.telling import Story, tell  # noqa: E402

MEMBERS = ("e1", "e2", "e3")
WRITERS, EACH = ("c1", "c2"), 60
FIRST = 2
"""The revision of the first write: an empty store has revision 1.  It is offset 0 in the logs."""
LAST = "end"
UNHEARD = 20
"""The number of the write to whose answer the first writer does not listen."""


@dataclass(frozen=True)
class Scene:
    """``leader_dies``: with -9, in the midst of the writes; ``retry``: how the first writer writes
    once more that of which it has not heard (nothing: it hears of all)."""

    leader_dies: bool = False
    retry: Callable[[int, str, str], int] | None = None


SCENES = {
    "leader_dies": Scene(leader_dies=True),
    "retried": Scene(retry=client.put),
    "retried_if_new": Scene(retry=client.put_if_new),
}


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs of writers and watchers are in ``folder/logs`` then.

    Each of two writers writes to a member of its own, and each of three watchers watches one; where
    a member is down they go on with the next.
    """
    scene = SCENES[name]
    with running_members(folder) as members, contextlib.ExitStack() as recorders:
        ports = [member.port for member in members]
        logs = {
            name: recorders.enter_context(Recorder(folder / "logs" / f"{name}.ndjson", name))
            for name in (*WRITERS, "w1", "w2", "w3")
        }
        watchers = [Watcher(logs[f"w{i + 1}"], ports[i:] + ports[:i]) for i in range(3)]
        writers = [
            threading.Thread(
                target=write, args=(logs[WRITERS[i]], ports[i:] + ports[:i], scene, watchers[0])
            )
            for i in range(2)
        ]
        for each in (*watchers, *writers):
            each.start()
        if scene.leader_dies:
            wait(lambda: len(watchers[0].seen) >= EACH // 2, "nothing is written")
            leader_of(members).kill()
        for each in writers:
            each.join()
        write_the_last(logs["c1"], ports)
        for each in watchers:
            each.join()


class Watcher(threading.Thread):
    """Records what is written, from the first revision on; ``seen``: the values so far."""

    def __init__(self, log: Recorder, ports: list[int]) -> None:
        super().__init__(daemon=True)
        self.log, self.ports = log, ports
        self.seen: list[str] = []

    def run(self) -> None:
        """Watches until it has seen the last write."""
        revision = FIRST
        while LAST not in self.seen:
            with contextlib.suppress(*client.UNREACHABLE):
                for at, value in client.watch(self.ports[0], revision):
                    self.log.record("deliver", msg=value, offset=at - FIRST)
                    self.seen.append(value)
                    revision = at + 1
                    if value == LAST:
                        return
            self.ports.append(self.ports.pop(0))

    def has_seen(self, value: str) -> bool:
        return value in self.seen


def write(log: Recorder, ports: list[int], scene: Scene, watcher: Watcher) -> None:
    """Writes values one after another; of one that was not acknowledged it may be so or not."""
    for number in range(EACH):
        value = f"{log.process}.{number}"
        if scene.retry is not None and log.process == WRITERS[0] and number == UNHEARD:
            with client.unheard_put(ports[0], value, value):
                wait(functools.partial(watcher.has_seen, value), "the write is not seen")
            log.record("request", msg=value, offset=scene.retry(ports[0], value, value) - FIRST)
            continue
        acknowledged(log, ports, value)


def write_the_last(log: Recorder, ports: list[int]) -> None:
    """Writes the value with which watchers end, until that is acknowledged."""

    def is_written() -> bool:
        try:
            offset = client.put_if_new(ports[0], LAST, LAST) - FIRST
        except client.UNREACHABLE:
            ports.append(ports.pop(0))
            return False
        log.record("request", msg=LAST, offset=offset)
        return True

    wait(is_written, "the last value is not written")


def acknowledged(log: Recorder, ports: list[int], value: str) -> bool:
    """Writes a value once; returns whether that was acknowledged.  The next member is asked next
    where it was not."""
    try:
        offset = client.put(ports[0], value, value) - FIRST
    except client.UNREACHABLE:
        log.record("request", msg=value, status="maybe")
        ports.append(ports.pop(0))
        time.sleep(0.1)
        return False
    log.record("request", msg=value, offset=offset)
    return True


@contextlib.contextmanager
def running_members(folder: Path) -> Iterator[list[Server]]:
    """Runs three members of a cluster, which keep their state in ``folder``."""
    ports = free_ports(2 * len(MEMBERS))
    clients, peers = ports[: len(MEMBERS)], ports[len(MEMBERS) :]
    pairs = zip(MEMBERS, peers, strict=True)
    cluster = ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in pairs)
    members = []
    for name, port, peer in zip(MEMBERS, clients, peers, strict=True):
        own, others = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
        command = ["etcd", "--name", name, "--data-dir", str(folder / name)]
        command += ["--listen-client-urls", own, "--advertise-client-urls", own]
        command += ["--listen-peer-urls", others, "--initial-advertise-peer-urls", others]
        command += ["--initial-cluster", cluster]
        members.append(Server(command, port, folder / f"{name}.out"))
    with contextlib.ExitStack() as running:
        for member in members:
            running.callback(member.kill)
            member.start(until_it_listens=False)
        for member in members:
            member.wait_until_it_listens()
        yield members


def leader_of(members: list[Server]) -> Server:
    """Returns the member that says that it leads."""
    return first(members, lambda member: client.leads(member.port), "nobody leads")


def etcd() -> bool:
    """Returns whether etcd is installed."""
    return shutil.which("etcd") is not None


STORY = Story(
    tuple(SCENES),
    play,
    "ReplicatedLog",
    over=("at_most_once over deliveries",),
    clients=WRITERS,
)

if __name__ == "__main__":
    sys.exit(tell(STORY))
