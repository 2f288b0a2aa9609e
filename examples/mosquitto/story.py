"""At most once, at least once, exactly once, by a real broker: what Mosquitto did, audited.

`python examples/mosquitto/story.py` plays all scenes and prints a line for each;
`python examples/mosquitto/story.py qos1` plays one and prints the whole report, with pictures.
Everything is on the loopback interface, on ports of its own, and ends by itself.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402

TOPIC = "work"
FATAL = "m9"
"""The message at which the subscriber dies, between processing and acknowledging it."""
PATIENCE = 60.0
"""Seconds after which the scene is given up."""


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


def main(names: list[str]) -> int:
    """Plays the scenes, and audits what happened; returns the exit code of the last audit."""
    code = 0
    for name in names or SCENES:
        with tempfile.TemporaryDirectory() as folder:
            play(SCENES[name], Path(folder))
            code = audit(Path(folder), name, whole=bool(names))
    return code


def audit(folder: Path, name: str, whole: bool) -> int:
    """Asks the properties of a queue of the logs in ``folder``."""
    from checker.audit.audit import Request
    from checker.audit.audit import audit as ask
    from checker.cli.main import main as command

    over = ("at_most_once over deliveries", "at_least_once over deliveries")
    logs = str(folder / "logs")
    if whole:
        return command(["audit", logs, "--as", "Queue", *(f"--over={each}" for each in over)])
    found = ask(Request((logs,), "Queue", over)).report
    said = ", ".join(f"{v.property} {v.label()}" for v in found.verdicts)
    print(f"{name}: {said}")
    return found.exit_code


def play(scene: Scene, folder: Path) -> None:
    """Plays a scene; the logs of publisher and subscriber are in ``folder/logs`` then.

    Ten messages are handed on, and the subscriber dies while it has the last of them.  Ten are
    published while it is away, ten when it is back.
    """
    (folder / "logs").mkdir()
    port = free_port()
    log = folder / "logs" / "subscriber.ndjson"
    with (
        Broker(folder, port, scene.persistent) as broker,
        Recorder(folder / "logs" / "publisher.ndjson", "publisher") as recorder,
    ):
        subscriber = subscribe(port, scene.qos, log)
        publish(port, scene.qos, recorder, range(10))
        wait(lambda: subscriber.poll() is not None, "the subscriber does not die")
        publish(port, scene.qos, recorder, range(10, 20))
        if scene.broker_dies:
            broker.settle()
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


class Broker:
    """A Mosquitto of our own on ``port``, which keeps its state in ``folder``."""

    def __init__(self, folder: Path, port: int, persistent: bool) -> None:
        self._port, self._folder = port, folder
        self._config = folder / "mosquitto.conf"
        kept = f"persistence true\npersistence_location {folder}/\nautosave_on_changes true\n"
        self._config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\nuser {owner()}\n"
            + (f"{kept}autosave_interval 1\n" if persistent else "persistence false\n"),
            encoding="utf-8",
        )
        self._persistent = persistent
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Starts it, and waits until it listens."""
        command = [mosquitto() or "mosquitto", "-c", str(self._config)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait(lambda: listens(self._port), "the broker does not listen")

    def settle(self) -> None:
        """Waits until what it has acknowledged is in its file, where it has one."""
        file = self._folder / "mosquitto.db"
        if self._persistent:
            wait(lambda: file.exists() and b"m19" in file.read_bytes(), "nothing is written")

    def kill(self) -> None:
        """Kills it with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


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


def free_port() -> int:
    """Returns a port of the loopback interface that nobody has."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Returns whether somebody listens on ``port``."""
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait(condition: Callable[[], bool], otherwise: str) -> None:
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
