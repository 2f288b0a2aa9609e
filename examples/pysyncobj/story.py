"""Three servers of PySyncObj; the leader is killed, and another one elected: held to specs.

`python examples/pysyncobj/story.py` prints a line; `python examples/pysyncobj/story.py leader_dies`
prints whole reports, with the run that explains the logs.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.telling import Story, tell  # noqa: E402

NAMES = ("p1", "p2", "p3")
MOST = 20.0
"""Seconds that an election may take."""


def free_addresses() -> dict[str, str]:
    """Returns an address on loopback for each server, by its name."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in NAMES]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return {name: f"127.0.0.1:{port}" for name, port in zip(NAMES, ports, strict=True)}


def leaders(folder: Path) -> list[str]:
    """Returns the servers whose last line says that they lead."""
    found = []
    for name in NAMES:
        path = folder / f"{name}.ndjson"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        states = [row["state"] for row in map(json.loads, lines) if "state" in row]
        if states and states[-1]["phase"] == "leader":
            found.append(name)
    return found


def wait_for_leader(folder: Path, without: str = "") -> str:
    """Waits until a server other than ``without`` leads, and returns it."""
    began = time.monotonic()
    while time.monotonic() - began < MOST:
        found = [name for name in leaders(folder) if name != without]
        if found:
            return found[0]
        time.sleep(0.1)
    raise TimeoutError(f"no server was elected within {MOST} seconds")


def run(folder: Path, seconds: float) -> str:
    """Makes the run; returns the server that was killed."""
    folder.mkdir(parents=True, exist_ok=True)
    addresses = free_addresses()
    names = json.dumps({address: name for name, address in addresses.items()})
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, address in addresses.items():
            command = [sys.executable, str(HERE / "node.py"), address]
            command += [str(folder / f"{name}.ndjson"), "--names", names, "--adds", "5"]
            servers[name] = subprocess.Popen(command)
        killed = wait_for_leader(folder)
        time.sleep(seconds)
        servers[killed].kill()
        wait_for_leader(folder, without=killed)
        time.sleep(seconds)
    finally:
        for server in servers.values():
            server.send_signal(signal.SIGTERM)
        for server in servers.values():
            server.wait(timeout=MOST)
    return killed


def play(_name: str, folder: Path) -> None:
    """Plays the scene."""
    run(folder / "logs", 1.0)


ELECTIONS = f"{HERE / 'election.bcast'}::long"
KEEPS_ITS_TERM = f"{HERE / 'election.bcast'}::keeps_its_term"
SCENES = ("leader_dies",)
STORY = Story(SCENES, play, specs=(ELECTIONS, KEEPS_ITS_TERM))

if __name__ == "__main__":
    sys.exit(tell(STORY))
