"""A worker killed between processing and acknowledging: what RabbitMQ does, audited.

`python examples/rabbitmq/story.py` plays all scenes and prints a line for each;
`python examples/rabbitmq/story.py after` plays one and prints the whole report, with pictures.
Everything is on the loopback interface, on ports of its own, and ends by itself.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.loopback import PATIENCE, Server, free_ports, wait  # noqa: E402
from examples.telling import Story, tell  # noqa: E402

QUEUE = "work"
FATAL = "m9"
"""The message at which the worker dies, between processing and acknowledging it."""
PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""The broker itself: what is in the path wants to be root, and runs the system's broker."""


@dataclass(frozen=True)
class Scene:
    """``early``: the worker acknowledges before it processes; ``remember``: it recognises what it
    has processed; ``quorum``: the queue is a Raft group (of one member, as there is one broker);
    ``persistent``: the publisher asks that messages be written to disk; ``broker_dies``: with -9,
    while messages wait that it has confirmed; ``settled``: it was stopped in an orderly way after
    the queue was declared."""

    early: bool = False
    remember: bool = False
    quorum: bool = False
    persistent: bool = True
    broker_dies: bool = False
    settled: bool = False


SCENES = {
    "before": Scene(early=True),
    "after": Scene(),
    "remembered": Scene(remember=True),
    "before_quorum": Scene(early=True, quorum=True),
    "after_quorum": Scene(quorum=True),
    "remembered_quorum": Scene(remember=True, quorum=True),
    "broker_dies": Scene(remember=True, broker_dies=True),
    "broker_dies_transient": Scene(remember=True, broker_dies=True, persistent=False),
    "broker_dies_quorum": Scene(remember=True, broker_dies=True, quorum=True),
    "broker_dies_quorum_settled": Scene(remember=True, broker_dies=True, quorum=True, settled=True),
}


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs of publisher and worker are in ``folder/logs`` then.

    Of ten messages the worker has the last one when it dies.  Ten are published while it is away,
    ten when it is back.
    """
    scene = SCENES[name]
    log = folder / "logs" / "worker.ndjson"
    with (
        running_broker(folder) as broker,
        Recorder(folder / "logs" / "publisher.ndjson", "publisher") as recorder,
    ):
        wait(lambda: answers(broker.port), "the broker does not answer")
        if scene.settled:
            with queue(broker.port, scene):
                pass
            broker.stop()
            start_again(broker, scene)
        publish(broker.port, scene, recorder, range(10))
        worker = start_worker(broker.port, scene, log)
        wait(lambda: worker.poll() is not None, "the worker does not die")
        publish(broker.port, scene, recorder, range(10, 20))
        if scene.broker_dies:
            broker.kill()
            start_again(broker, scene)
        publish(broker.port, scene, recorder, range(20, 30))
        worker = start_worker(broker.port, scene, log)
        try:
            wait(lambda: is_through(broker.port, scene, log), "the queue does not get empty")
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(PATIENCE)


@contextlib.contextmanager
def running_broker(folder: Path) -> Iterator[Server]:
    """Runs a RabbitMQ of our own, which keeps its state in ``folder``, and Erlang's port mapper."""
    port, distribution, mapper = free_ports(3)
    (folder / "plugins").write_text("[].\n", encoding="utf-8")
    (folder / "rabbitmq.conf").write_text("raft.wal_max_size_bytes = 4194304\n", encoding="utf-8")
    environment = {
        "HOME": str(folder),  # of the cookie
        "ERL_CRASH_DUMP": str(folder / "erl_crash.dump"),
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": "story@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_MNESIA_BASE": str(folder / "state"),
        "RABBITMQ_LOG_BASE": str(folder / "said"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
            "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}"
        ),
    }
    with (
        Server(["epmd"], mapper, folder / "epmd.out", environment),
        Server([str(PROGRAM)], port, folder / "rabbitmq.out", environment) as broker,
    ):
        yield broker


def start_again(broker: Server, scene: Scene) -> None:
    """Starts the broker, and waits until it does its work again."""
    broker.start()
    wait(lambda: answers(broker.port), "the broker does not come back")
    if scene.quorum:
        call_for_an_election(broker)


def call_for_an_election(broker: Server) -> None:
    """Tells the one member of the queue's Raft group to stand for election.

    Restarted alone, it may not by itself (RabbitMQ's issue 10070): what is published then is not
    confirmed, and after a minute refused.
    """
    member = f'{{list_to_atom("%2F_{QUEUE}"), node()}}'
    command = [str(PROGRAM.with_name("rabbitmqctl")), "eval", f"ra:trigger_election({member})."]
    environment = broker.environment
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=PATIENCE)


def rabbitmq() -> bool:
    """Returns whether the broker is installed."""
    return PROGRAM.exists() and shutil.which("epmd") is not None


def answers(port: int) -> bool:
    """Returns whether the broker takes connections: it listens before it does."""
    import pika

    try:
        pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)).close()
    except pika.exceptions.AMQPError:
        return False
    return True


@contextlib.contextmanager
def queue(port: int, scene: Scene) -> Iterator[tuple[Any, Any]]:
    """Yields a channel to the broker, on which the queue is declared, and what is known of it."""
    import pika

    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port))
    channel = connection.channel()
    kind = {"x-queue-type": "quorum" if scene.quorum else "classic"}
    declared = channel.queue_declare(QUEUE, durable=True, arguments=kind)
    try:
        yield channel, declared.method
    finally:
        connection.close()


def publish(port: int, scene: Scene, log: Recorder, numbers: range) -> None:
    """Publishes messages, and waits until the broker has confirmed each."""
    import pika

    mode = pika.DeliveryMode.Persistent if scene.persistent else pika.DeliveryMode.Transient
    with queue(port, scene) as (channel, _):
        channel.confirm_delivery()
        for number in numbers:
            log.request("submit", f"m{number}")
            properties = pika.BasicProperties(delivery_mode=mode)
            channel.basic_publish("", QUEUE, f"m{number}".encode(), properties, mandatory=True)


def is_through(port: int, scene: Scene, log: Path) -> bool:
    """Returns whether the last message is processed, and none waits."""
    if '"perform","msg":"m29"' not in log.read_text(encoding="utf-8"):
        return False
    with queue(port, scene) as (_, declared):
        return declared.message_count == 0


def start_worker(port: int, scene: Scene, log: Path) -> subprocess.Popen[bytes]:
    """Starts the worker."""
    command = [sys.executable, str(HERE / "worker.py"), str(port), QUEUE, str(log)]
    command += ["--early"] if scene.early else []
    command += ["--remember"] if scene.remember else []
    return subprocess.Popen([*command, "--die-at", FATAL])


STORY = Story(
    tuple(SCENES),
    play,
    "Queue",
    clients=("publisher",),
    over=(
        "at_most_once over deliveries",
        "at_least_once over effects",
        "at_most_once over effects",
        "exactly_once over effects",
    ),
)

if __name__ == "__main__":
    sys.exit(tell(STORY))
