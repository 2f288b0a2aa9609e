"""At most once, at least once, exactly once, by a real broker: what Mosquitto did, audited.

`python examples/mosquitto/story.py` plays all scenes and prints a line for each;
`python examples/mosquitto/story.py qos1` plays one and prints the whole report, with pictures.
Everything is on the loopback interface, on ports of its own, and ends by itself.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.loopback import PATIENCE, Server, free_ports, wait  # noqa: E402
from examples.telling import Story, tell  # noqa: E402

TOPIC = "work"
FATAL = "m9"
"""The message at which the subscriber dies, between processing and acknowledging it."""


@dataclass(frozen=True)
class Scene:
    """``qos``: of publications and the subscription; ``broker_dies``: with -9, while messages wait
    for the subscriber; ``persistent``: whether it writes them to its disk."""

    qos: int
    broker_dies: bool = False
    persistent: bool = True


SCENES = {
    "qos0": Scene(0),
    "qos1": Scene(1),
    "qos2": Scene(2),
    "broker_dies": Scene(1, broker_dies=True),
    "broker_dies_forgetful": Scene(1, broker_dies=True, persistent=False),
}


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs of publisher and subscriber are in ``folder/logs`` then.

    Ten messages are handed on, and the subscriber dies while it has the last of them.  Ten are
    published while it is away, ten when it is back.
    """
    scene = SCENES[name]
    (port,) = free_ports(1)
    log = folder / "logs" / "subscriber.ndjson"
    with (
        broker_of(folder, port, scene.persistent) as broker,
        Recorder(folder / "logs" / "publisher.ndjson", "publisher") as recorder,
    ):
        subscriber = subscribe(port, scene.qos, log)
        publish(port, scene.qos, recorder, range(10))
        wait(lambda: subscriber.poll() is not None, "the subscriber does not die")
        publish(port, scene.qos, recorder, range(10, 20))
        if scene.broker_dies:
            if scene.persistent:
                wait_for_the_file(folder)
            broker.kill()
            broker.start()
        subscriber = subscribe(port, scene.qos, log)
        try:
            publish(port, scene.qos, recorder, range(20, 30))
            # the broker keeps the order of what it hands on, so that the last one comes last
            wait(lambda: '"m29"' in log.read_text(), "the last message does not arrive")
        finally:
            subscriber.send_signal(signal.SIGTERM)
            subscriber.wait(PATIENCE)


def broker_of(folder: Path, port: int, persistent: bool) -> Server:
    """Returns a Mosquitto of our own on ``port``, which keeps its state in ``folder``."""
    config = folder / "mosquitto.conf"
    kept = f"persistence true\npersistence_location {folder}/\nautosave_on_changes true\n"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nuser {owner()}\n"
        + (f"{kept}autosave_interval 1\n" if persistent else "persistence false\n"),
        encoding="utf-8",
    )
    return Server([mosquitto() or "mosquitto", "-c", str(config)], port, folder / "mosquitto.out")


def wait_for_the_file(folder: Path) -> None:
    """Waits until what the broker has acknowledged is in its file."""
    file = folder / "mosquitto.db"
    wait(lambda: file.exists() and b"m19" in file.read_bytes(), "nothing is written")


def publish(port: int, qos: int, log: Recorder, numbers: range) -> None:
    """Publishes messages, and waits until the broker has acknowledged each (but for QoS 0)."""
    import paho.mqtt.client as mqtt

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"publisher{numbers.start}")
    client.connect("127.0.0.1", port)
    client.loop_start()
    for number in numbers:
        log.request("submit", f"m{number}")
        client.publish(TOPIC, f"m{number}", qos).wait_for_publish(PATIENCE)
    client.disconnect()
    client.loop_stop()


def subscribe(port: int, qos: int, log: Path) -> subprocess.Popen[bytes]:
    """Starts the subscriber, and waits until the broker knows it."""
    ready = log.with_suffix(".ready")
    ready.unlink(missing_ok=True)
    command = [sys.executable, str(HERE / "subscriber.py"), str(port), str(qos), str(log), FATAL]
    process = subprocess.Popen(command)
    wait(ready.exists, "the subscriber does not subscribe")
    ready.unlink()
    return process


def mosquitto() -> str | None:
    """Returns the broker's program, if there is one."""
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")


def owner() -> str:
    """Returns who runs this: the broker would give up the rights of root otherwise, and could not
    write its file."""
    import getpass

    return getpass.getuser()


STORY = Story(
    tuple(SCENES),
    play,
    "Queue",
    clients=("publisher",),
    over=("at_most_once over deliveries", "at_least_once over deliveries"),
)

if __name__ == "__main__":
    sys.exit(tell(STORY))
