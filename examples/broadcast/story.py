"""A broadcast of our own, whose sender is killed in the midst of its multicast: held to two specs.

`python examples/broadcast/story.py` plays both scenes and prints a line for each;
`python examples/broadcast/story.py without_relay` plays one and prints its reports, with pictures.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from examples.telling import Story, tell  # noqa: E402

NAMES = ("p1", "p2", "p3")
QUIET, MOST = 0.7, 20.0
"""Seconds without a new line after which it is over, and seconds at most."""
WITHOUT = f"{HERE / 'without_relay.bcast'}::killed"
EAGER = f"{ROOT / 'specs' / 'broadcast' / 'eager_reliable.bcast'}::crash_one"
SCENES = ("without_relay", "relay")


def play(name: str, folder: Path) -> None:
    """Plays a scene: p1 broadcasts, and kills itself when one copy is out."""
    run(folder / "logs", relay=name == "relay", die_after=1)


def run(folder: Path, *, relay: bool, die_after: int | None) -> None:
    """Makes the run: p1 broadcasts a, and the others do what they do."""
    folder.mkdir(parents=True, exist_ok=True)
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in NAMES}
    ports = json.dumps({name: each.getsockname()[1] for name, each in sockets.items()})
    nodes: list[subprocess.Popen[bytes]] = []
    try:
        for name in reversed(NAMES):  # the sender last
            command = [sys.executable, str(HERE / "node.py"), name]
            command += [str(folder / f"{name}.ndjson"), "--ports", ports]
            command += ["--listening", str(sockets[name].fileno())]
            command += ["--relay"] if relay else []
            command += ["--broadcast", "a"] if name == "p1" else []
            command += ["--die-after", str(die_after)] if die_after is not None else []
            nodes.append(subprocess.Popen(command, pass_fds=[sockets[name].fileno()]))
        _wait_until_quiet([folder / f"{name}.ndjson" for name in NAMES])
    finally:
        for node in nodes:
            node.send_signal(signal.SIGTERM)
        for node in nodes:
            node.wait(timeout=MOST)
        for each in sockets.values():
            each.close()


def _wait_until_quiet(logs: Sequence[Path]) -> None:
    began = changed = time.monotonic()
    size = -1
    while time.monotonic() - began < MOST:
        now = sum(log.stat().st_size for log in logs if log.exists())
        if now != size or not all(log.exists() for log in logs):
            size, changed = now, time.monotonic()
        elif time.monotonic() - changed > QUIET:
            return
        time.sleep(0.05)


STORY = Story(SCENES, play, "ReliableBroadcast", crashed=("p1",), specs=(WITHOUT, EAGER))

if __name__ == "__main__":
    sys.exit(tell(STORY))
